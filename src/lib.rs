//! Wire debugging for five protocols: what two programs said, where each field lies, the byte that is wrong, and why.
//!
//! ```text
//! chunks -framing-> frame -encoding-> tape -protocol-> message -session-> findings
//!                                                         '---------> render
//! ```
//!
//! In reading order:
//!
//! - a place, what is wrong there, and what was meant: [`span`], [`error`], [`words`];
//! - what a body holds, flat, a place in it as people write it, and how its bytes are written: [`tape`], [`path`],
//!   [`encoding`] (JSON, `MessagePack`, serde envelopes);
//! - where a message ends: [`framing`];
//! - what it means, one folder a protocol: [`protocol`];
//! - the one pipe through all of these, and the way back: [`decoder`], [`encode`];
//! - files, dumps and recordings as chunks: [`capture`];
//! - what was said over time, and was it allowed; one party of a live one: [`conversation`];
//! - who plays a party: [`player`] (a recording's calling side, again), [`stub`] (a peer that answers by a script);
//! - which frames, and how they look: [`select`], [`render`];
//! - one capability each: [`stat`] (how much, how fast), [`diff`] (what is different this time), [`verify`] (do they give
//!   the same bytes again), [`redact`] (what of it others may not see), [`inject`] (what goes wrong on purpose),
//!   [`snapshot`] (is it still understood as it was);
//! - sockets and children, behind the feature `net`: [`transport`], the only part that touches the world.
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
//! use wiretool::conversation::{Judge, find_rule, follow};
//! use wiretool::decoder::Options;
//! use wiretool::protocol::registry;
//! use wiretool::protocol::session::Aids;
//!
//! let (_, rule) = find_rule("saikuro/seq-gap").unwrap();
//! let recording = rule.example.unwrap().fires;
//! let options = Options::new(registry::all().to_vec());
//! let mut found = Vec::new();
//! follow(recording.as_bytes(), &options, &Judge::default(), Aids::default(), &mut |_, verdict| {
//!     found.extend(verdict.findings.iter().map(|f| format!("{}: {}", f.name(), f.text)));
//! });
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

pub mod capture;
pub mod conversation;
pub mod decoder;
pub mod diff;
pub mod encode;
pub mod encoding;
pub mod error;
pub mod framing;
pub mod inject;
pub mod path;
pub mod player;
pub mod protocol;
pub mod redact;
pub mod render;
pub mod select;
pub mod snapshot;
pub mod span;
pub mod stat;
pub mod stub;
pub mod tape;
#[cfg(feature = "net")]
pub mod transport;
pub mod verify;
pub mod words;
