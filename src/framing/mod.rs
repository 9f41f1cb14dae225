//! Finds the end of each message in a stream.
//!
//! A [`Framer`] gets a window of one direction's byte stream, never a socket, and returns a
//! [`BufferStep`]: more bytes are needed, bytes were consumed, or a [`Frame`] is complete. The result
//! depends only on the bytes, so any split of a stream into reads gives the same frames. An error
//! of a frame is part of the frame; no byte is lost.
//!
//! ```text
//!   window   00 00 00 03 93 01 02 | 00 00 ...
//!            '- head --' '-body-'
//!   view     the same seven bytes, body at 4..7: spans in it are stream places by adding one number
//! ```
//!
//! A body that is not one run of the stream (masked, fragmented, inflated, split over HTTP chunks)
//! is assembled in a buffer that the framer reuses, with a map back to the stream.

mod assembly;
mod backlog;
mod content_length;
mod custom;
mod describe;
pub(crate) mod fields;
mod first_line;
pub use fields::{ENDINGS as SECRET_ENDINGS, NAMES as SECRET_NAMES};
mod frame;
mod framer;
mod frames;
mod http;
mod http3;
mod input;
pub mod layout;
mod lines;
mod method;
mod prefix;
mod resync;
mod state;
mod values;
mod websocket;
mod wire;
mod write;

pub(crate) use backlog::Backlog;
pub(crate) use content_length::{FrameStart, frame_start, header_length, starts_block};
pub use custom::{CustomFraming, FramingName, FramingReader};
pub(crate) use first_line::header_framings;
#[cfg(feature = "diff")]
pub(crate) use frame::OwnedPlaces;
pub use frame::{Fault, Frame, Head, LengthMode, Piece, Places, Step, View};
pub use framer::Framer;
pub use frames::{BufferFrame, BufferStep, Frames, frames};
pub(crate) use http::head::is_start_line;
#[cfg(feature = "cli")]
pub(crate) use http::{BodyDelimiter, BodyPart, websocket_accept};
pub(crate) use http::{EventStream, MAX_HEAD as MAX_HTTP_HEAD};
pub(crate) use http3::{STARTS as HTTP3_STARTS, starts as starts_http3};
pub use input::Buffer;
pub use method::Measured;
pub(crate) use state::FramerState;
pub(crate) use websocket::{WebSocketHeader, unmask};
pub use wire::Wire;
pub(crate) use write::{FrameJoiner, FrameWriter, write};

/// The fault codes of framing, each with its meaning.
pub const FAULTS: &[(&str, &str)] = &[
    ("truncated", "the stream ends inside a frame"),
    ("gap", "bytes of the stream are missing in the capture"),
    ("over-limit", "a message is longer than the limit"),
    ("bad-length", "a length that no frame can have"),
    (
        "missing-header",
        "bytes where a header block with Content-Length is expected",
    ),
    ("bad-websocket", "a WebSocket frame that RFC 6455 forbids"),
    ("bad-deflate", "a compressed message that does not inflate"),
    (
        "compressed",
        "an HTTP body with a content coding other than gzip, deflate and br",
    ),
    (
        "bad-http",
        "an HTTP head, chunk or length that RFC 9112 forbids",
    ),
    (
        "bad-magic",
        "a header that does not start with its magic bytes",
    ),
    ("bad-checksum", "a checksum that is not that of the frame"),
];

/// The way in which messages are delimited.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Framing {
    /// One message on each line; LF, or CR LF, after each.
    Lines,
    /// A big-endian u32, the length of the body, before each.
    Prefix,
    /// A little-endian u32 length and a little-endian u32 method id before each; the length has two
    /// modes.
    Method,
    /// Serde envelopes one after another, without separators.
    Bare,
    /// A header block with Content-Length before each, as in the Language Server Protocol.
    ContentLength,
    /// RFC 6455 frames, without the upgrade before them.
    WebSocket,
    /// HTTP/1.1 exchanges, server-sent events, and WebSocket after an upgrade.
    Http,
    /// A stream of HTTP/3, or of WebTransport over it, in which messages are delimited as in [`Framing::Method`].
    Http3,
    /// JSON, `MessagePack` or CBOR values one after another, without separators.
    Values,
    /// A version byte and three letters, then JSON or nothing, one after another.
    Header,
    /// The whole input is one message.
    Message,
    /// A framing from outside this crate: a [`CustomFraming`] with this name.
    Custom(FramingName),
}

impl Framing {
    /// Every framing of this crate, in the order help lists them.
    pub const ALL: [Self; 11] = [
        Self::Lines,
        Self::Prefix,
        Self::Method,
        Self::Bare,
        Self::ContentLength,
        Self::WebSocket,
        Self::Http,
        Self::Http3,
        Self::Values,
        Self::Header,
        Self::Message,
    ];

    /// Returns the framing from outside this crate with this name; `None` if it cannot be a name.
    pub const fn custom(name: &str) -> Option<Self> {
        match FramingName::new(name) {
            Some(name) => Some(Self::Custom(name)),
            None => None,
        }
    }

    /// The name in flags and output.
    pub fn name(&self) -> &str {
        match self {
            Self::Lines => "lines",
            Self::Prefix => "prefix",
            Self::Method => "method",
            Self::Bare => "bare",
            Self::ContentLength => "content-length",
            Self::WebSocket => "websocket",
            Self::Http => "http",
            Self::Http3 => "http3",
            Self::Values => "values",
            Self::Header => "header",
            Self::Message => "message",
            Self::Custom(name) => name.as_str(),
        }
    }

    /// Returns the framing of this crate with this name. [`framing_named`](crate::protocol::registry::framing_named) also
    /// knows those of protocols.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|f| f.name() == name)
    }
}

/// The limits of messages.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The maximum length of a message, also after inflation; below 4 GiB.
    pub message: u32,
    /// The maximum nesting depth of a message.
    pub depth: u32,
}

impl Default for Limits {
    /// 16 MiB and 128 levels.
    fn default() -> Self {
        Self {
            message: 16 << 20,
            depth: 128,
        }
    }
}

/// Measures the frame that starts with these bytes.
pub type Measure = fn(&[u8], Framing, LengthMode) -> Measured;

/// Functions of a protocol that help framing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Hints {
    /// For [`Framing::Method`] and [`Framing::Bare`]: measures the frame that starts here.
    pub measure: Option<Measure>,
    /// For framings with a length: returns `true` if a frame can start here. Called with at least
    /// [`PLAUSIBLE`] bytes.
    pub plausible: Option<fn(&[u8]) -> bool>,
    /// For [`Framing::Values`]: values that are not JSON are CBOR, otherwise `MessagePack`.
    pub is_cbor: bool,
}

impl Hints {
    /// No hints: the framing needs none.
    pub const NONE: Self = Self {
        measure: None,
        plausible: None,
        is_cbor: false,
    };
}

/// The minimum number of bytes for [`Hints::plausible`]; fewer only at the end of the stream.
pub const PLAUSIBLE: usize = 16;
