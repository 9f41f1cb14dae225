//! Recordings: what went over the wire, as read, with times.
//!
//! JSON Lines, made to be read, searched and compared by hand:
//!
//! ```text
//!   {"wiretool":1,"protocol":"oracle","started":"2026-11-21T10:00:00.000000000Z","transport":"stdio","argv":["./oracle"]}
//!   {"t":0,"conn":1,"event":"open"}
//!   {"t":120000,"conn":1,"dir":"c2s","text":"{\"jsonrpc\":\"2.0\",\"id\":0}\n"}
//!   {"t":450000,"conn":1,"dir":"s2c","b64":"AAAABYGh/w=="}
//!   {"t":460000,"conn":1,"dir":"stderr","text":"\u001b[31mlate\n"}
//!   {"t":900000,"conn":1,"event":"close"}
//!   {"t":900100,"event":"end","chunks":3,"bytes":{"c2s":25,"s2c":7,"stderr":10}}
//! ```
//!
//! - The first line, and only it, has `wiretool`: the version of the format. The other keys of a header may be absent.
//! - `t` is nanoseconds since `started`. `conn` tells connections apart; absent means 0.
//! - A line with `dir` is a chunk, exactly as one read returned it. `text` is for bytes that are valid UTF-8, where
//!   control and bidi characters are `\u`-escaped; `b64` (standard alphabet, padded) for all others.
//! - A line with `event` is an event: open, eof, close, reset, exit, lost, inject, and last end, which counts chunks and
//!   bytes. Events may have more keys. An eof has `dir`, and `"close_notify":false` where TLS ended without saying so:
//!   whether all has come nobody knows then.
//! - Readers pass over events and keys they do not know. A torn last line, or no end line, is how a recording looks
//!   whose writer was killed; it loads.
//!
//! [`RecordingWriter`] writes it, [`super::Input`] reads it as a stream, [`Record`] is one line of it for programs.

mod reader;
mod writer;

pub(super) use reader::RecordingReader as Reader;
pub use writer::RecordingWriter;

use super::time::{self, Time};
use crate::protocol::Direction;
use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The version of the format that is written here.
pub const VERSION: u32 = 1;

/// A recording's first line.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Header {
    /// The version of the format.
    #[serde(rename = "wiretool")]
    pub version: u32,
    /// What was spoken, where it was told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub protocol: Option<String>,
    /// When `t` was 0.
    #[serde(with = "time", skip_serializing_if = "Option::is_none")]
    pub started: Option<Time>,
    /// `tcp`, `unix`, `websocket`, `http`, `stdio`, ...
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transport: Option<String>,
    /// Where the recorder listened.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub listen: Option<String>,
    /// Where it connected to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connect: Option<String>,
    /// What it spawned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub argv: Option<Vec<String>>,
    /// All other keys.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

impl Header {
    /// A header of this version that says nothing but when the recording started.
    pub fn new(started: Time) -> Self {
        Self {
            version: VERSION,
            started: Some(started),
            ..Self::default()
        }
    }
}

/// Where a chunk was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Stream {
    /// From the side that dialled or spawned.
    C2s,
    /// To the side that dialled or spawned.
    S2c,
    /// What a child wrote to stderr.
    Stderr,
}

impl Stream {
    /// `c2s`, `s2c` or `stderr`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::C2s => "c2s",
            Self::S2c => "s2c",
            Self::Stderr => "stderr",
        }
    }

    /// The stream of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::C2s, Self::S2c, Self::Stderr]
            .into_iter()
            .find(|s| s.name() == name)
    }
}

impl From<Direction> for Stream {
    fn from(direction: Direction) -> Self {
        match direction {
            Direction::ToServer => Self::C2s,
            Direction::ToClient => Self::S2c,
        }
    }
}

/// One line of a recording.
#[derive(Clone, Debug, PartialEq)]
pub enum Record {
    /// The first.
    Header(Header),
    /// Bytes.
    Chunk {
        /// Nanoseconds since the start.
        t: i64,
        /// Which connection.
        conn: u32,
        /// Where they were read.
        stream: Stream,
        /// The bytes.
        bytes: Vec<u8>,
    },
    /// Anything else.
    Event(EventRecord),
}

/// A line with `event`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EventRecord {
    /// Nanoseconds since the start.
    #[serde(default)]
    pub t: i64,
    /// Which connection.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conn: Option<u32>,
    /// What happened; see [`super::What`].
    pub event: String,
    /// All other keys.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

/// A line before it is known what it is. Borrows what it can: recordings are long.
#[derive(Deserialize)]
#[serde(expecting = "an object")]
pub(super) struct RawLine<'a> {
    wiretool: Option<serde::de::IgnoredAny>,
    #[serde(default)]
    pub t: i64,
    #[serde(default)]
    pub conn: u32,
    #[serde(borrow)]
    dir: Option<Text<'a>>,
    #[serde(borrow)]
    text: Option<Text<'a>>,
    #[serde(borrow)]
    b64: Option<Text<'a>>,
    #[serde(borrow)]
    event: Option<Text<'a>>,
}

#[derive(Deserialize)]
struct Text<'a>(#[serde(borrow)] std::borrow::Cow<'a, str>);

/// What a line turned out to be.
pub(super) enum Kind {
    Header,
    Chunk(Stream),
    Event,
}

impl<'a> RawLine<'a> {
    pub(super) fn parse(line: &'a [u8]) -> Result<Self, String> {
        serde_json::from_slice(line).map_err(|error| error.to_string())
    }

    /// What the line is; the bytes of a chunk go to the end of `out`.
    pub(super) fn read(&self, out: &mut Vec<u8>) -> Result<Kind, String> {
        if self.wiretool.is_some() {
            return Ok(Kind::Header);
        }
        let Some(Text(dir)) = &self.dir else {
            return self.event();
        };
        if self.event.is_some() {
            return Ok(Kind::Event);
        }
        let stream = Stream::from_name(dir)
            .ok_or_else(|| format!("dir: wanted c2s, s2c or stderr, got {dir:?}"))?;
        match (&self.text, &self.b64) {
            (Some(Text(text)), None) => out.extend_from_slice(text.as_bytes()),
            (None, Some(Text(b64))) => BASE64
                .decode_vec(b64.as_bytes(), out)
                .map_err(|error| format!("b64: {error}"))?,
            _ => return Err("a chunk has either text or b64".into()),
        }
        Ok(Kind::Chunk(stream))
    }

    fn event(&self) -> Result<Kind, String> {
        match self.event {
            Some(_) => Ok(Kind::Event),
            None => Err("neither a chunk (dir) nor an event".into()),
        }
    }
}

impl Record {
    /// Reads one line.
    ///
    /// # Errors
    ///
    /// A sentence on what is wrong with it.
    pub fn parse(line: &[u8]) -> Result<Self, String> {
        let raw = RawLine::parse(line)?;
        let mut bytes = Vec::new();
        Ok(match raw.read(&mut bytes)? {
            Kind::Header => Self::Header(from_line(line)?),
            Kind::Event => Self::Event(from_line(line)?),
            Kind::Chunk(stream) => Self::Chunk {
                t: raw.t,
                conn: raw.conn,
                stream,
                bytes,
            },
        })
    }

    /// Appends it to `out`, line break included.
    pub fn write(&self, out: &mut Vec<u8>) {
        match self {
            Self::Header(header) => writer::value(header, out),
            Self::Event(event) => writer::value(event, out),
            Self::Chunk {
                t,
                conn,
                stream,
                bytes,
            } => writer::chunk(*t, *conn, *stream, bytes, out),
        }
    }
}

pub(super) fn from_line<T: for<'a> Deserialize<'a>>(line: &[u8]) -> Result<T, String> {
    serde_json::from_slice(line).map_err(|error| error.to_string())
}
