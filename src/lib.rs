//! Wire debugging for five protocols: what two programs said, where each field lies, the byte that is wrong, and why.
//!
//! ```text
//! chunks -framing-> frame -encoding-> tape -protocol-> message -session-> findings
//!                                                         '---------> render
//! ```
//!
//! In reading order:
//!
//! - a place in the input, and an error there: [`span`], [`error`];
//! - the values of a body, and how its bytes are written: [`tape`], [`encoding`] (JSON, `MessagePack`, serde envelopes);
//! - where a message ends: [`framing`];
//! - what a message means, one folder for each protocol: [`protocol`];
//! - bytes to messages, and back: [`decoder`], [`encode`];
//! - files, dumps and recordings: [`capture`];
//! - messages over time, and findings: [`conversation`];
//! - which frames, and how they look: [`select`], [`render`];
//! - two recordings compared, and one compared with its earlier self: [`diff`], [`snapshot`].
//!
//! The feature `cli` adds the command line. Nothing of it is part of this interface.
//!
//! What holds for all of it: no `unsafe`, no panic and no unbounded memory on any input, no allocation by a number from
//! the wire, integers exact, unknown things kept and shown. Time is an argument.
//!
//! # Decoding
//!
//! Bytes in, understood messages out; no protocol named, no framing chosen, any split of the input gives the same:
//!
//! ```
//! use wiretool::decoder::{Decoded, Decoder, Options, Origin};
//! use wiretool::protocol::registry;
//!
//! let mut decoder = Decoder::new(Options::new(registry::all().to_vec()));
//! let mut seen = Vec::new();
//! let mut sink = |decoded: &Decoded<'_>| {
//!     let root = decoded.root().unwrap();
//!     let selector = root.get("params").and_then(|p| p.get("selector")).unwrap();
//!     seen.push(format!("{} {:?} at {:?}", decoded.message.kind, decoded.message.subject, selector.span()));
//! };
//! let line = br#"{"jsonrpc":"2.0","id":0,"method":"invoke","params":{"selector":"f","calldata":["0x2710"]}}"#;
//! decoder.push(Origin::default(), &line[..30], &mut sink);
//! decoder.push(Origin::default(), &line[30..], &mut sink);
//! decoder.finish(&mut sink);
//!
//! assert_eq!(seen, [r#"invoke Some("f") at Span { start: 63, len: 3 }"#]);
//! ```
//!
//! Each protocol also has typed views of its messages, such as [`protocol::oracle::invoke`]:
//!
//! ```
//! use wiretool::encoding::json;
//! use wiretool::protocol::oracle;
//! use wiretool::span::Span;
//! use wiretool::tape::Tape;
//!
//! let line = br#"{"jsonrpc":"2.0","id":0,"method":"invoke","params":{"selector":"f","calldata":["0x2710"]}}"#;
//! let mut tape = Tape::new();
//! json::parse(line, Span::new(0, line.len()), 128, &mut tape)?;
//! let invoke = tape.root(line).and_then(oracle::invoke).unwrap();
//! assert_eq!((invoke.selector.as_ref(), invoke.calldata.len()), ("f", 1));
//! # Ok::<(), wiretool::error::DecodeError>(())
//! ```
//!
//! # Checking
//!
//! A recording, or any frames in order, held to the rules of its protocol:
//!
//! ```
//! use std::convert::Infallible;
//! use wiretool::conversation::{Judge, find_rule, follow};
//! use wiretool::decoder::Options;
//! use wiretool::protocol::registry;
//! use wiretool::protocol::session::Aids;
//!
//! let (_, rule) = find_rule("saikuro/seq-gap").unwrap();
//! let recording = rule.example.unwrap().fires;
//! let options = Options::new(registry::all().to_vec());
//! let mut found = Vec::new();
//! let Ok(summary) = follow::<Infallible>(recording.as_bytes(), &options, &Judge::default(), Aids::default(), &mut |_, verdict| {
//!     found.extend(verdict.findings.iter().map(|f| format!("{}: {}", f.name(), f.text)));
//!     Ok(())
//! });
//! assert!(summary.is_whole());
//! assert_eq!(found, ["saikuro/seq-gap: seq is 2, 1 should follow #1"]);
//! ```
//!
//! # Writing
//!
//! A message from a few words, framed; what is none of the protocol's messages is refused:
//!
//! ```
//! use wiretool::encode::{Encoder, Options};
//! use wiretool::protocol::make::{Mint, Words};
//! use wiretool::protocol::{peer, registry};
//!
//! let telequick = registry::find("telequick").unwrap();
//! let words = ["call_sid=abc".to_owned()];
//! let mut words = Words::new(&words, |key| key == "call_sid");
//! let made = telequick.make("Barge", &mut words, &mut Mint::new(1))?;
//!
//! let options = Options { protocol: Some(telequick), ..Options::default() };
//! let mut encoder = Encoder::new(options, Mint::new(1));
//! let frame = peer::look(&made.message, |message| encoder.encode(message)).unwrap()?;
//! assert_eq!(hex::encode(frame.bytes), "1100000012fabbe500000700000003000000616263");
//! # Ok::<(), wiretool::error::Refusal>(())
//! ```
//!
//! # A protocol of one's own
//!
//! Implement [`protocol::Protocol`] and hand it to [`decoder::Decoder`], [`encode::Encoder`], [`conversation::Conversation`],
//! [`diff::Diff`] and the renderers; nothing in them knows which protocols there are. `tests/sixth.rs` does so.

#![forbid(unsafe_code)]

#[cfg(all(test, feature = "cli"))]
extern crate self as wiretool; // the tests below tests/integration/common name it so

pub mod capture;
#[cfg(feature = "cli")]
mod cli;
#[cfg(all(test, feature = "cli"))]
#[allow(dead_code)] // integration tests use the rest
#[path = "../tests/integration/common/mod.rs"]
mod common;
pub mod conversation;
pub mod decoder;
pub mod diff;
pub mod encode;
pub mod encoding;
pub mod error;
pub mod framing;
#[cfg(feature = "cli")]
mod inject;
#[cfg(feature = "cli")]
mod live;
mod path;
pub mod protocol;
#[cfg(feature = "cli")]
mod redact;
pub mod render;
pub mod select;
pub mod snapshot;
pub mod span;
#[cfg(feature = "cli")]
mod stat;
pub mod tape;
#[cfg(feature = "cli")]
mod transport;
#[cfg(feature = "cli")]
mod verify;
mod words;

#[cfg(feature = "cli")]
#[doc(hidden)]
pub use cli::main;
