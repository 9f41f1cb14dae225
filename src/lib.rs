//! Wire debugging for several protocols: the messages of two programs, the position of each field,
//! the incorrect byte, and the reason.
//!
//! ```text
//! chunks -framing-> frame -encoding-> tape -protocol-> message -session-> findings
//!                                                         '---------> render
//! ```
//!
//! In reading order:
//!
//! - a position in the input, and an error there: [`span`], [`error`];
//! - the values of a body, and the reading and writing of its bytes: [`tape`], [`encoding`] (JSON,
//!   `MessagePack`, serde envelopes);
//! - the end of a message: [`framing`];
//! - the meaning of a message, one folder for each protocol: [`protocol`];
//! - from bytes to messages, and back: [`decoder`], [`encode`];
#![cfg_attr(
    feature = "capture",
    doc = " - files, dumps and recordings: [`capture`];"
)]
#![cfg_attr(
    feature = "rules",
    doc = " - messages over time, and findings: [`conversation`];"
)]
#![cfg_attr(feature = "select", doc = " - selection: [`select`];")]
#![cfg_attr(feature = "render", doc = " - output: [`render`];")]
#![cfg_attr(feature = "diff", doc = " - comparison of two recordings: [`diff`];")]
#![cfg_attr(
    feature = "snapshot",
    doc = " - comparison of one recording with its stored form: [`snapshot`];"
)]
#![cfg_attr(
    feature = "cli",
    doc = " - the commands, also with your own protocols: [`cli`]."
)]
//!
//! # Features
//!
//! Without features, the library has frames, messages, decoding and encoding, with 19 dependencies.
//! Each feature adds its own dependencies:
//!
//! | feature | what it adds | needs |
//! |---|---|---|
//! | `capture` | `capture` | |
//! | `pcap` | packet captures in `capture` | `capture` |
//! | `rules` | `conversation`; in [`protocol`]: sessions, peers, rules; tokens and filters of sael | `capture` |
//! | `render` | `render` | `rules` |
//! | `select` | `select` | `render` |
//! | `diff` | `diff` | `select` |
//! | `described` | `protocol::described`: protocols that TOML files describe | `diff` |
//! | `snapshot` | `snapshot` | `described` |
//! | `rmpv` | values of the tape as `rmpv::Value` | |
//! | `cli` (default) | the command line, also with your own protocols: `cli::run` | all but `rmpv` |
//!
//! # Guarantees
//!
//! No `unsafe`, no panic and no unbounded memory on any input, no allocation of a size from the
//! wire, exact integers; unknown data is retained and shown. Time is an argument.
//!
//! Memory grows with the number of connections: a decoder has about one KiB for each until
//! [`decoder::Decoder::close`].
//!
//! # Decoding
//!
//! The decoder takes bytes and emits messages. Protocol and framing are detected; any split of the
//! input gives the same result:
//!
//! ```
//! use wiretool::decoder::{DecodeOptions, Decoded, Decoder, Origin};
//! use wiretool::protocol::registry;
//!
//! let mut decoder = Decoder::new(DecodeOptions::new(registry::all().to_vec()));
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
//! # Writing
//!
//! A message is any value that serde can write, such as your own struct. A value that is not a
//! message of the protocol is refused:
//!
//! ```
//! use wiretool::encode::{EncodeOptions, Encoder};
//! use wiretool::protocol::make::IdGen;
//! use wiretool::protocol::registry;
//!
//! let telequick = registry::find("telequick").unwrap();
//! let mut encoder = Encoder::new(EncodeOptions::new(telequick), IdGen::new(1));
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
//! | `read_field` | reads one field, with its position |
//! | `build_message` | writes a message from a struct |
//! | `lint_recording` | checks a recording against the rules |
//! | `print_tree` | prints messages as trees |
//!
//! # Keeping messages
//!
//! A message borrows from the decoder until the sink returns. [`decoder::Decoded::keep`] copies it:
//!
//! ```
//! use wiretool::decoder::{DecodeOptions, Decoder, KeptMessage, Origin};
//! use wiretool::protocol::registry;
//!
//! let mut decoder = Decoder::new(DecodeOptions::new(registry::all().to_vec()));
//! let mut kept: Vec<KeptMessage> = Vec::new();
//! let line = br#"{"jsonrpc":"2.0","id":0,"method":"invoke","params":{"selector":"f","calldata":[]}}"#;
//! decoder.push(Origin::default(), line, &mut |decoded| kept.push(decoded.keep()));
//! decoder.finish(&mut |decoded| kept.push(decoded.keep()));
//!
//! let handle = std::thread::spawn(move || kept[0].root()?.get("method")?.text().map(String::from));
//! assert_eq!(handle.join().unwrap().as_deref(), Some("invoke"));
//! ```
//!
//! # Asynchronous code
//!
//! The library does no input and output. Read with any runtime, and decode up to the next message with
//! [`decoder::Decoder::try_push`], which stops there and goes on later; `conversation::Run` does the same for captures
//! of any form:
//!
//! ```
//! use tokio::io::{AsyncRead, AsyncReadExt as _};
//! use wiretool::decoder::{DecodeOptions, Decoded, Decoder, Origin};
//! use wiretool::protocol::registry;
//!
//! async fn methods(mut input: impl AsyncRead + Unpin, out: tokio::sync::mpsc::Sender<String>) {
//!     let oracle = registry::find("oracle").unwrap();
//!     let mut decoder = Decoder::new(DecodeOptions::new(vec![oracle]));
//!     let mut buffer = vec![0; 4096];
//!     // Each message ends the call with the part of it that is needed.
//!     let mut sink = |decoded: &Decoded<'_>| Err(decoded.message.kind.to_string());
//!     loop {
//!         let read = input.read(&mut buffer).await.unwrap();
//!         let mut rest = &buffer[..read];
//!         while let Err(kind) = decoder.try_push(Origin::default(), &mut rest, &mut sink) {
//!             out.send(kind).await.unwrap();
//!         }
//!         if read == 0 {
//!             break;
//!         }
//!     }
//!     while let Err(kind) = decoder.try_finish(&mut sink) {
//!         out.send(kind).await.unwrap();
//!     }
//! }
//!
//! let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
//! let kinds = runtime.block_on(async {
//!     let text = "{\"jsonrpc\":\"2.0\",\"method\":\"shutdown\"}\n".repeat(2);
//!     let (sender, mut receiver) = tokio::sync::mpsc::channel(1);
//!     let reader = methods(text.as_bytes(), sender);
//!     let taker = async {
//!         let mut kinds = Vec::new();
//!         while let Some(kind) = receiver.recv().await {
//!             kinds.push(kind);
//!         }
//!         kinds
//!     };
//!     tokio::join!(reader, taker).1
//! });
//! assert_eq!(kinds, ["shutdown", "shutdown"]);
//! ```
//!
//! # Your own framing
//!
//! [`framing::CustomFraming`] has an example with parameters, which goes on after bytes that are no frame.
//!
//! # Your own protocol
//!
//! A TOML text may describe it: `protocol::described::Described::from_toml` gives a protocol for all that follows. In Rust,
//! implement [`protocol::Protocol`] and pass it to [`decoder::Decoder`], [`encode::Encoder`],
//! `conversation::Conversation`, `diff::Diff` and the renderers, which work with any protocol.
//! `tests/sixth/quiz.rs` is an example, and `tests/sixth.rs` uses it. `cli::run` makes a binary of it, with every
//! command: `tests/sixth_cli.rs`.

#![forbid(unsafe_code)]
// Unit tests read fixtures, which the published package does not have, and run commands.
#![cfg(not(all(test, any(is_package, not(feature = "cli")))))]
// Private items that only the command line or a disabled feature uses: an attribute on each of them would be noise.
#![cfg_attr(not(feature = "cli"), allow(dead_code, unused_imports))]

#[cfg(all(test, feature = "cli"))]
extern crate self as wiretool; // for the tests below tests/integration/common

#[cfg(feature = "capture")]
pub mod capture;
#[cfg(feature = "cli")]
pub mod cli;
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
#[cfg(feature = "cli")]
mod export;
pub mod framing;
#[cfg(feature = "cli")]
mod inject;
#[cfg(feature = "cli")]
mod live;
#[cfg(feature = "described")]
mod own_rules;
mod path;
pub mod protocol;
#[cfg(feature = "cli")]
mod redact;
#[cfg(feature = "cli")]
mod relay;
#[cfg(feature = "render")]
pub mod render;
#[cfg(feature = "select")]
pub mod select;
#[cfg(feature = "snapshot")]
mod settings;
#[cfg(feature = "cli")]
mod shrink;
#[cfg(feature = "snapshot")]
pub mod snapshot;
pub mod span;
#[cfg(feature = "cli")]
mod stat;
#[cfg(feature = "cli")]
mod system;
pub mod tape;
#[cfg(feature = "described")]
mod toml_text;
#[cfg(feature = "cli")]
mod transport;
#[cfg(feature = "cli")]
mod verify;
#[cfg(feature = "rules")]
mod words;
