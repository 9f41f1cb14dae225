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
//! # Features
//!
//! Without features there are frames, messages, decode and encode, with 20 dependencies. Each feature brings those that it
//! needs:
//!
//! | feature | what it adds | needs |
//! |---|---|---|
//! | `capture` | `capture` | |
//! | `rules` | `conversation`; in [`protocol`]: sessions, peers, rules; tokens and filters of sael | `capture` |
//! | `render` | `render` | `rules` |
//! | `select` | `select` | `rules` |
//! | `diff` | `diff` | `render`, `select` |
//! | `snapshot` | `snapshot` | `diff` |
//! | `rmpv` | values of the tape as `rmpv::Value` | |
//! | `cli` (default) | the command line, which is no part of this interface | all but `rmpv` |
//!
//! # Guarantees
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
//!     seen.push(format!("{} {:?} at {:?}", decoded.message.kind, decoded.message.subject.as_deref(), selector.span()));
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
//! assert_eq!(&*invoke.selector, "f");
//! assert_eq!(invoke.selector.span, Some(Span::new(63, 66)));
//! # Ok::<(), wiretool::error::DecodeError>(())
//! ```
//!
//! # Writing
//!
//! A message is any value that serde writes, such as a struct of one's own; what is none of the protocol's messages is
//! refused:
//!
//! ```
//! use wiretool::encode::{Encoder, Options};
//! use wiretool::protocol::make::Mint;
//! use wiretool::protocol::registry;
//!
//! let telequick = registry::find("telequick").unwrap();
//! let mut encoder = Encoder::new(Options::new(telequick), Mint::new(1));
//! let barge = serde_json::json!({"method": "Barge", "fields": {"call_sid": "abc"}});
//! let mut frame = Vec::new();
//! encoder.write(&barge, None, &mut frame)?;
//! assert_eq!(hex::encode(frame), "1100000012fabbe500000700000003000000616263");
//! # Ok::<(), wiretool::error::Refusal>(())
//! ```
//!
//! # Examples
//!
//! `cargo run --example NAME` runs one of `tests/examples`:
//!
//! | example | what it does |
//! |---|---|
//! | `split_buffer` | splits a buffer into frames |
//! | `read_stream` | decodes a stream as it arrives |
//! | `read_field` | reads one field, with its place |
//! | `build_message` | writes a message from a struct |
//! | `lint_recording` | holds a recording to the rules |
//! | `print_tree` | prints messages as trees |
//!
//! # A protocol of one's own
//!
//! Implement [`protocol::Protocol`] and hand it to [`decoder::Decoder`], [`encode::Encoder`], `conversation::Conversation`,
//! `diff::Diff` and the renderers; nothing in them knows which protocols there are. `tests/sixth.rs` does so.

#![forbid(unsafe_code)]
// What only the features that are off use, and links to them.
#![cfg_attr(
    not(feature = "cli"),
    allow(dead_code, unused_imports, rustdoc::broken_intra_doc_links)
)]

#[cfg(all(test, feature = "cli"))]
extern crate self as wiretool; // the tests below tests/integration/common name it so

#[cfg(feature = "capture")]
pub mod capture;
#[cfg(feature = "cli")]
mod cli;
#[cfg(all(test, feature = "cli"))]
#[allow(dead_code)] // integration tests use the rest
#[path = "../tests/integration/common/mod.rs"]
mod common;
#[cfg(feature = "rules")]
pub mod conversation;
pub mod decoder;
#[cfg(feature = "diff")]
pub mod diff;
pub mod encode;
pub mod encoding;
pub mod error;
mod escape;
pub mod framing;
#[cfg(feature = "cli")]
mod inject;
#[cfg(feature = "cli")]
mod live;
mod path;
pub mod protocol;
#[cfg(feature = "cli")]
mod redact;
#[cfg(feature = "render")]
pub mod render;
#[cfg(feature = "select")]
pub mod select;
#[cfg(feature = "snapshot")]
pub mod snapshot;
pub mod span;
#[cfg(feature = "cli")]
mod stat;
pub mod tape;
#[cfg(feature = "cli")]
mod transport;
#[cfg(feature = "cli")]
mod verify;
#[cfg(feature = "rules")]
mod words;

#[cfg(feature = "cli")]
#[doc(hidden)]
pub use cli::main;
