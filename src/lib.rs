//! Wire debugging for five protocols: zero-copy frame parsers and pretty-printers. Sockets stand apart, in the module
//! `transport`, behind the feature `net`.
//!
//! ```text
//! chunks -framing-> frame -encoding-> tape -protocol-> message ---> render
//! ```
//!
//! In reading order: [`span`], [`error`] and [`words`] (a place, what is wrong there, and what was meant); [`tape`]
//! (what a body holds, flat); [`encoding`] (JSON, `MessagePack`, serde envelopes); [`framing`] (where a message ends); [`protocol`] (what it means,
//! one folder each); [`decoder`] (the one pipe through all of them); [`capture`] (files, dumps and recordings as
//! chunks); [`conversation`] (what was said over time, and was it allowed; what passes between two programs, as it passes);
//! [`select`] and [`render`] (which frames, and how they look); [`stat`] (how much, how fast), [`diff`] (what is different
//! this time), [`verify`] (do they give the same bytes again), [`redact`] (what of it others may not see), [`inject`] (what
//! goes wrong on purpose), [`snapshot`] (is it still understood as it was), [`player`] (one side of it, played again), [`stub`] (the
//! other side, stood in for).
//!
//! Bytes in, understood messages out; no protocol named, no framing chosen, any split of the input gives the same:
//!
//! ```
//! use wiretool::decoder::{Decoder, Options, Origin};
//! use wiretool::encoding::Want;
//! use wiretool::framing::{LengthMode, Limits};
//! use wiretool::protocol::registry;
//!
//! let mut decoder = Decoder::new(Options {
//!     protocols: registry::all().to_vec(),
//!     framing: None,
//!     length_mode: LengthMode::Auto,
//!     limits: Limits::default(),
//!     resync: true,
//!     want: Want::Places,
//! });
//!
//! let mut seen = Vec::new();
//! let mut sink = |decoded: &wiretool::decoder::Decoded<'_>| {
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
//! What holds for all of it: no `unsafe`, no panic and no unbounded memory on any input, no allocation by a number from
//! the wire, integers exact, unknown things kept and shown.

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
