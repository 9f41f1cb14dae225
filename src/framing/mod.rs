//! Where does a message end?
//!
//! A [`Framer`] is handed a window on one direction's byte stream, never a socket, and answers with a [`Step`]: more
//! bytes are needed, bytes were taken in, or here is a [`Frame`]. It looks at bytes only, so any split of a stream
//! into reads gives the same frames. What is wrong with a frame travels in the frame; nothing is lost.
//!
//! ```text
//!   window   00 00 00 03 93 01 02 | 00 00 ...
//!            '- head --' '-body-'
//!   view     the same seven bytes, body at 4..7: spans in it are stream places by adding one number
//! ```
//!
//! A body that is not one run of the stream (masked, fragmented, inflated, split over HTTP chunks) is assembled once
//! in a buffer that the framer keeps, with a map back to the stream.

mod assembly;
mod backlog;
mod custom;
mod describe;
pub(crate) mod fields;
pub use fields::{ENDINGS as SECRET_ENDINGS, NAMES as SECRET_NAMES};
mod frame;
mod framer;
mod frames;
mod http;
mod input;
mod lines;
mod method;
mod prefix;
mod resync;
mod values;
mod websocket;
mod wire;
mod write;

pub(crate) use backlog::Backlog;
pub use custom::{CustomFraming, Reader};
#[cfg(feature = "diff")]
pub(crate) use frame::OwnedPlaces;
pub use frame::{Fault, Frame, Head, LengthMode, Piece, Places, Step, View};
pub use framer::Framer;
pub use frames::{BufferFrame, Frames, frames};
#[cfg(feature = "cli")]
pub(crate) use http::{Bit, Source, accept};
pub use input::Input;
pub use method::Measured;
pub(crate) use websocket::{Header as WebSocketHeader, unmask};
pub use wire::Wire;
pub(crate) use write::{Weave, write};

/// Fault codes that framing gives, each with what it means.
pub const FAULTS: &[(&str, &str)] = &[
    ("truncated", "the stream ends inside a frame"),
    ("gap", "bytes of the stream are missing in the capture"),
    ("over-limit", "a message is longer than the limit"),
    ("bad-length", "a length that no frame can have"),
    ("bad-websocket", "a WebSocket frame that RFC 6455 forbids"),
    ("bad-deflate", "a compressed message that does not inflate"),
    (
        "compressed",
        "an HTTP body in a content coding, which is not read",
    ),
    (
        "bad-http",
        "an HTTP head, chunk or length that RFC 9112 forbids",
    ),
];

/// How messages are delimited.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Framing {
    /// One message a line; LF, or CR LF, after each.
    Lines,
    /// A big-endian u32, the length of the body, before each.
    Prefix,
    /// A little-endian u32 length and a little-endian u32 method id before each; two length flavours.
    Method,
    /// Serde envelopes one after another, nothing between.
    Bare,
    /// RFC 6455 frames, without the upgrade before them.
    WebSocket,
    /// HTTP/1.1 exchanges, server-sent events, and WebSocket after an upgrade.
    Http,
    /// JSON or `MessagePack` values one after another, nothing between.
    Values,
    /// A version byte and three letters, then JSON or nothing, one after another.
    Header,
    /// The whole input is one message.
    Message,
    /// A framing from outside this crate, which a protocol brings.
    Custom(&'static CustomFraming),
}

impl Framing {
    /// Every framing of this crate, in the order help lists them.
    pub const ALL: [Self; 9] = [
        Self::Lines,
        Self::Prefix,
        Self::Method,
        Self::Bare,
        Self::WebSocket,
        Self::Http,
        Self::Values,
        Self::Header,
        Self::Message,
    ];

    /// The name users write.
    pub fn name(self) -> &'static str {
        match self {
            Self::Lines => "lines",
            Self::Prefix => "prefix",
            Self::Method => "method",
            Self::Bare => "bare",
            Self::WebSocket => "websocket",
            Self::Http => "http",
            Self::Values => "values",
            Self::Header => "header",
            Self::Message => "message",
            Self::Custom(framing) => framing.name,
        }
    }

    /// The framing of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|f| f.name() == name)
    }
}

/// What is bounded, and how.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Bytes of one message, inflated size included; below 4 GiB.
    pub message: u32,
    /// Levels of nesting inside a message.
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

/// How long the frame is that begins with these bytes.
pub type Measure = fn(&[u8], Framing, LengthMode) -> Measured;

/// What a protocol tells framing about its bytes.
#[derive(Clone, Copy, Default)]
pub struct Hints {
    /// For [`Framing::Method`] and [`Framing::Bare`]: how long is the frame that begins here?
    pub measure: Option<Measure>,
    /// For length-framed streams: does a frame plausibly begin here? Asked with at least [`PLAUSIBLE`] bytes.
    pub plausible: Option<fn(&[u8]) -> bool>,
}

/// Bytes that [`Hints::plausible`] is shown at least; fewer only where the stream ends.
pub const PLAUSIBLE: usize = 16;
