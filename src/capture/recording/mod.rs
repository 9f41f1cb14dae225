//! Recordings: the bytes of connections as they were read, with times.
//!
//! The format is JSON Lines, so that recordings can be read, searched and compared by hand:
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
//! - Only the first line has `wiretool`: the version of the format. The other keys of a header may be absent.
//! - `t` is nanoseconds since `started`. `conn` is the number of the connection; absent means 0. `stream` is the number of
//!   the stream in a connection with several streams; events without it concern the whole connection.
//! - A line with `dir` is a chunk, exactly as one read returned it. `text` holds bytes that are valid UTF-8, with
//!   control, bidi and invisible characters `\u`-escaped; `b64` (standard alphabet, padded) holds all others.
//! - A chunk with `"datagram":true` is one QUIC datagram.
//! - A line with `event` is an event: open, eof, close, reset, exit, lost, inject, and at the end `end`, which counts chunks
//!   and bytes. Events may have more keys. An eof has `dir`, and `"close_notify":false` if TLS ended without `close_notify`:
//!   then the stream may be truncated.
//! - A recording in several files has `part` in their headers, the number of the file, and the same `started`, `host` and
//!   `pid`. All but the last end with an `end` that has `"continued":true`. Each later one has `continued` as second line:
//!   what a reader of this file alone needs.
//! - If a file describes the protocol, the header has `"description":{"name":…,"sha256":…,"file":…}`: the hash of its text,
//!   in hex, and the name of the file without its folder.
//! - In a recording that was made from the capture of another program, the header has `captured`, and an `open` has the
//!   addresses `peer` and `server`. A `lost` with `len` 0 says that the following bytes may begin amid a message.
//! - Readers ignore unknown events and keys. If the writer was killed, the last line is incomplete, or the end line is
//!   missing; such a recording loads.
//!
//! [`RecordingWriter`] writes it, [`super::CaptureInput`] reads it as a stream, [`Record`] is one line of it for programs.

pub(crate) mod continued;
mod convert;
mod reader;
mod writer;

pub use convert::ItemRecorder;
pub(crate) use reader::RecordingPart;
pub(super) use reader::{RecordingReader as Reader, detect};
#[cfg(feature = "cli")]
pub(crate) use reader::{chunk_item, datagram_item, fin_item, read_records};
pub use writer::RecordingWriter;

use super::time::{self, Time};
use crate::protocol::Direction;
use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::fmt;

/// The version of the format that this module writes.
pub const VERSION: u32 = 1;

/// The first line of a recording.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Header {
    /// The version of the format.
    #[serde(rename = "wiretool")]
    pub version: u32,
    /// The name of the protocol, if it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub protocol: Option<String>,
    /// The time at `t` = 0.
    #[serde(with = "time", skip_serializing_if = "time::is_left_out")]
    pub started: Option<Time>,
    /// `tcp`, `unix`, `websocket`, `http`, `stdio`, ...
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transport: Option<String>,
    /// The address that the recorder listened on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub listen: Option<String>,
    /// The address that it connected to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connect: Option<String>,
    /// The command that it started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub argv: Option<Vec<String>>,
    /// All other keys.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

impl Header {
    /// The key of a recording that was made from the capture of another program, with the form of that capture. Its
    /// connections may be of different servers and protocols.
    pub const CAPTURED: &str = "captured";

    /// The key of the description of the protocol: its name, and the SHA-256 of its text.
    pub const DESCRIPTION: &str = "description";

    /// Returns the form of the capture from which the recording was made.
    pub fn captured(&self) -> Option<&str> {
        self.more.get(Self::CAPTURED).and_then(Value::as_str)
    }

    /// Creates a header of this version that holds only the start time.
    pub fn new(started: Time) -> Self {
        Self {
            version: VERSION,
            started: Some(started),
            ..Self::default()
        }
    }
}

/// The source of a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ChunkSource {
    /// The peer that connected, or the parent of the child.
    C2s,
    /// The peer that accepted the connection, or the stdout of the child.
    S2c,
    /// The stderr of a child.
    Stderr,
}

impl ChunkSource {
    /// Returns `c2s`, `s2c` or `stderr`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::C2s => "c2s",
            Self::S2c => "s2c",
            Self::Stderr => "stderr",
        }
    }

    /// Returns the source with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::C2s, Self::S2c, Self::Stderr]
            .into_iter()
            .find(|s| s.name() == name)
    }
}

impl ChunkSource {
    /// Returns the direction; `None` for the stderr of a child.
    pub const fn direction(self) -> Option<Direction> {
        match self {
            Self::C2s => Some(Direction::ToServer),
            Self::S2c => Some(Direction::ToClient),
            Self::Stderr => None,
        }
    }
}

impl From<Direction> for ChunkSource {
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
    /// The first line.
    Header(Header),
    /// Bytes.
    Chunk {
        /// Nanoseconds since the start.
        t: i64,
        /// The connection.
        conn: u32,
        /// The stream, if the connection has several.
        stream: Option<u64>,
        /// The source of the bytes.
        dir: ChunkSource,
        /// `true` for a datagram of QUIC, which belongs to no stream.
        datagram: bool,
        /// The bytes.
        bytes: Vec<u8>,
    },
    /// Any other line.
    Event(EventRecord),
}

/// A line with `event`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EventRecord {
    /// Nanoseconds since the start.
    #[serde(default)]
    pub t: i64,
    /// The connection.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conn: Option<u32>,
    /// The stream, if the event concerns one of several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stream: Option<u64>,
    /// The name of the event; see [`super::EventKind`].
    pub event: String,
    /// All other keys.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

/// A line whose kind is not yet known. Texts are borrowed where possible, because recordings are long.
#[derive(Deserialize)]
#[serde(expecting = "an object")]
pub(super) struct RawLine<'a> {
    wiretool: Option<serde::de::IgnoredAny>,
    #[serde(default)]
    pub t: i64,
    #[serde(default)]
    pub conn: u32,
    pub stream: Option<u64>,
    #[serde(borrow)]
    dir: Option<LineText<'a>>,
    #[serde(borrow)]
    text: Option<LineText<'a>>,
    #[serde(borrow)]
    b64: Option<LineText<'a>>,
    #[serde(default)]
    pub datagram: bool,
    #[serde(borrow)]
    event: Option<LineText<'a>>,
}

#[derive(Deserialize)]
struct LineText<'a>(#[serde(borrow)] std::borrow::Cow<'a, str>);

/// The kind of a line.
pub(super) enum RecordingLineKind {
    Header,
    Chunk(ChunkSource),
    Event,
}

impl<'a> RawLine<'a> {
    pub(super) fn parse(line: &'a [u8]) -> Result<Self, String> {
        serde_json::from_slice(line).map_err(|error| describe_json_error(&error))
    }

    /// Returns the kind of the line; appends the bytes of a chunk to `out`.
    pub(super) fn read_into(&self, out: &mut Vec<u8>) -> Result<RecordingLineKind, String> {
        if self.wiretool.is_some() {
            return Ok(RecordingLineKind::Header);
        }
        let Some(LineText(dir)) = &self.dir else {
            return self.event();
        };
        if self.event.is_some() {
            return Ok(RecordingLineKind::Event);
        }
        let dir = ChunkSource::from_name(dir)
            .ok_or_else(|| format!("dir: wanted c2s, s2c or stderr, got {dir:?}"))?;
        match (&self.text, &self.b64) {
            (Some(LineText(text)), None) => out.extend_from_slice(text.as_bytes()),
            (None, Some(LineText(b64))) => read_base64(b64.as_bytes(), out)?,
            _ => return Err("a chunk has either text or b64".into()),
        }
        Ok(RecordingLineKind::Chunk(dir))
    }

    fn event(&self) -> Result<RecordingLineKind, String> {
        match self.event {
            Some(_) => Ok(RecordingLineKind::Event),
            None => Err("neither a chunk (dir) nor an event".into()),
        }
    }
}

/// Appends the bytes of a text in base64.
fn read_base64(text: &[u8], out: &mut Vec<u8>) -> Result<(), String> {
    match base64_simd::STANDARD.decode_append(text, out) {
        Ok(()) => Ok(()),
        // The slower decoder describes the error.
        Err(_) => (BASE64.decode_vec(text, out)).map_err(|error| format!("b64: {error}")),
    }
}

/// The reason why a line is not a line of a recording, in one sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordError {
    text: String,
}

impl fmt::Display for RecordError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for RecordError {}

impl Record {
    /// Parses one line.
    pub fn parse(line: &[u8]) -> Result<Self, RecordError> {
        Self::read(line).map_err(|text| RecordError { text })
    }

    fn read(line: &[u8]) -> Result<Self, String> {
        let raw = RawLine::parse(line)?;
        let mut bytes = Vec::new();
        Ok(match raw.read_into(&mut bytes)? {
            RecordingLineKind::Header => Self::Header(parse_line(line)?),
            RecordingLineKind::Event => Self::Event(parse_line(line)?),
            RecordingLineKind::Chunk(dir) => Self::Chunk {
                t: raw.t,
                conn: raw.conn,
                stream: raw.stream,
                dir,
                datagram: raw.datagram,
                bytes,
            },
        })
    }

    /// Appends the line to `out`, with its line end.
    pub fn write(&self, out: &mut Vec<u8>) {
        match self {
            Self::Header(header) => writer::write_value(header, out),
            Self::Event(event) => writer::write_value(event, out),
            Self::Chunk {
                t,
                conn,
                stream,
                dir,
                datagram,
                bytes,
            } => writer::write_chunk(*t, (*conn, *stream), *dir, *datagram, bytes, out),
        }
    }
}

pub(super) fn parse_line<T: for<'a> Deserialize<'a>>(line: &[u8]) -> Result<T, String> {
    serde_json::from_slice(line).map_err(|error| describe_json_error(&error))
}

/// Describes an error of a line: its column and the problem.
fn describe_json_error(error: &serde_json::Error) -> String {
    let (line, column) = (error.line(), error.column());
    let text = error.to_string();
    let place = format!(" at line {line} column {column}");
    format!(
        "column {column}: {}",
        text.strip_suffix(&place).unwrap_or(&text)
    )
}

#[cfg(test)]
mod tests {
    use super::{BASE64, Engine};

    #[test]
    fn both_decoders_of_base64_agree() {
        let before = "QUJD".repeat(24);
        for text in [
            "", "QQ==", "QR==", "QQ=", "QQ", "Q", "QQ=A", "Q===", "====", "QUI=", "QUJ=", "QUJD",
            "QUJD\n", "QU-_", "QU+/", "QQ==QQ==", "QU D", "QUé",
        ] {
            for text in [
                text.to_owned(),
                format!("{before}{text}"),
                format!("{text}{before}"),
            ] {
                let (mut fast, mut slow) = (vec![7], vec![7]);
                let is_read = base64_simd::STANDARD
                    .decode_append(&text, &mut fast)
                    .is_ok();
                let result = BASE64.decode_vec(&text, &mut slow);
                assert_eq!(is_read, result.is_ok(), "{text:?}");
                assert!(!is_read || fast == slow, "{text:?}");
                assert!(is_read || fast == [7], "{text:?}");
            }
        }
    }
}
