// Long: the types that every framing shares, and the one place that dispatches to each.
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
pub mod fields;
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

use crate::error::DecodeError;
use crate::span::Span;
pub(crate) use backlog::Backlog;
pub(crate) use http::{Bit, Source, accept};
use input::Input;
pub use method::{LengthMode, Measured};
pub(crate) use websocket::{Header as WebSocketHeader, unmask};
pub use wire::Wire;
pub use write::{Weave, write};

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
}

impl Framing {
    /// Every framing, in the order help lists them.
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
    pub const fn name(self) -> &'static str {
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

/// A run of a view's bytes and the stream offset it came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// First byte in the view.
    pub at: u32,
    /// Its place in the stream.
    pub offset: u64,
}

/// How the bytes of a view lie in the stream.
#[derive(Clone, Copy, Debug)]
pub enum Places<'a> {
    /// In one run whose first byte is here.
    Run(u64),
    /// In several runs, by rising `at`.
    Pieces(&'a [Piece]),
    /// Nowhere: they were compressed. The frame begins here.
    Packed(u64),
}

/// Bytes to decode, and where they came from.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// The whole frame where it is one plain run of the stream; otherwise the assembled body.
    pub bytes: &'a [u8],
    /// Where the encoded message lies in `bytes`.
    pub body: Span,
    /// Where `bytes` lie in the stream.
    pub places: Places<'a>,
}

impl<'a> View<'a> {
    /// The encoded message.
    pub fn body(&self) -> &'a [u8] {
        self.body.of(self.bytes)
    }

    /// The stream offset of a byte of the view. In a compressed body: the frame's offset plus the place in the body.
    pub fn locate(&self, at: usize) -> u64 {
        match self.places {
            Places::Run(offset) | Places::Packed(offset) => offset + at as u64,
            Places::Pieces(pieces) => {
                let after = pieces.partition_point(|p| p.at as usize <= at);
                let piece = pieces.get(after.saturating_sub(1));
                piece.map_or(0, |p| p.offset + (at as u64).saturating_sub(p.at as u64))
            }
        }
    }

    /// From where to where a span lies in the stream, with what lies between its pieces there.
    pub fn range(&self, span: Span) -> std::ops::Range<u64> {
        let start = self.locate(span.at());
        let end = match span.len {
            0 => start,
            _ => self.locate(span.end() - 1) + 1,
        };
        start..end
    }

    /// The byte of the view that came from a stream offset.
    pub fn index_of(&self, offset: u64) -> Option<usize> {
        let at = match self.places {
            Places::Run(base) => offset.checked_sub(base)?,
            Places::Packed(_) => return None,
            Places::Pieces(pieces) => {
                let after = pieces.partition_point(|p| p.offset <= offset);
                let piece = pieces.get(after.checked_sub(1)?)?;
                let end = pieces
                    .get(after)
                    .map_or(self.bytes.len(), |p| p.at as usize);
                let at = piece.at as u64 + (offset - piece.offset);
                (at < end as u64).then_some(at)?
            }
        };
        usize::try_from(at).ok().filter(|at| *at < self.bytes.len())
    }

    /// The stream offset of a span that is one run there.
    pub fn run(&self, span: Span) -> Option<u64> {
        match self.places {
            Places::Run(offset) => Some(offset + span.start as u64),
            Places::Packed(_) => None,
            Places::Pieces(_) => {
                let (first, last) = (
                    self.locate(span.at()),
                    self.locate(span.end().saturating_sub(1)),
                );
                (span.len == 0 || last + 1 - first == span.len as u64).then_some(first)
            }
        }
    }
}

/// What framing read before the body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Head<'a> {
    /// Nothing.
    None,
    /// A big-endian length: the number as written.
    Length(u32),
    /// A little-endian length and a method id.
    Method {
        /// The number as written.
        length: u32,
        /// The method id.
        id: u32,
        /// How `length` counts; `None` where the bytes do not say and none was chosen.
        mode: Option<LengthMode>,
    },
    /// An HTTP/1.1 start line, without its line end, and what matters of the fields.
    Http {
        /// `POST / HTTP/1.1` or `HTTP/1.1 200 OK`.
        start: &'a str,
        /// The status code of a response; 0 for a request.
        status: u16,
        /// Bytes of start line, fields and the blank line; 0 for an event of a stream.
        len: u32,
        /// Whether this is one server-sent event.
        event: bool,
        /// Whether the connection ends with this exchange: RFC 9112 section 9.3.
        closes: bool,
    },
    /// RFC 6455 section 5.2.
    WebSocket {
        /// 1 text, 2 binary, 8 close, 9 ping, 10 pong.
        opcode: u8,
        /// Whether the sender masked it.
        masked: bool,
        /// Whether it was compressed (RSV1).
        compressed: bool,
        /// How many frames made it up.
        fragments: u32,
    },
}

/// What is wrong with a frame as such, at an absolute place in the stream (`error.span.len` bytes from `offset`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// First byte, from the start of this direction's stream.
    pub offset: u64,
    /// What. Boxed: frames are handed on often, and seldom have one.
    pub error: Box<DecodeError>,
}

/// One message's bytes, or something between messages.
#[derive(Clone, Debug)]
pub struct Frame<'a> {
    /// First byte, header included, from the start of this direction's stream.
    pub offset: u64,
    /// Bytes, header included; what is there where the frame is truncated.
    pub len: u64,
    /// How it was delimited.
    pub framing: Framing,
    /// What was read before the body.
    pub head: Head<'a>,
    /// The body and its surroundings.
    pub view: View<'a>,
    /// The kind of line where this is no message: `ping`, `http-response`, `skipped`.
    pub control: Option<&'static str>,
    /// What is wrong with the frame.
    pub fault: Option<Fault>,
}

/// A framer's answer.
#[derive(Debug)]
pub enum Step<'a> {
    /// More bytes are needed: how many at least, where that is known. Never given at the end of the stream unless the
    /// window is empty.
    Incomplete(Option<u64>),
    /// So many bytes were taken in; nothing is complete yet.
    Took(usize),
    /// A frame, and how many bytes of the window are done with.
    Frame(Frame<'a>, usize),
}

/// One direction's framing: what was read so far of a message that is not complete.
///
/// [`Framer::next`] is called with the window of unconsumed bytes until it answers [`Step::Incomplete`]; then again
/// when the window has grown, or when the stream has ended.
pub struct Framer {
    framing: Framing,
    limits: Limits,
    /// Whether to look for the next frame after a bad one.
    resync: bool,
    kind: Inner,
}

enum Inner {
    Lines(lines::Lines),
    Prefix(prefix::Prefix),
    Method(method::Method),
    WebSocket(Box<websocket::WebSocket>),
    Http(Box<http::Http>),
    Values(values::Values),
}

impl Framer {
    /// A framer at the start of a stream.
    pub fn new(
        framing: Framing,
        limits: Limits,
        hints: Hints,
        mode: LengthMode,
        resync: bool,
    ) -> Self {
        let kind = match framing {
            Framing::Lines => Inner::Lines(lines::Lines::default()),
            Framing::Prefix => Inner::Prefix(prefix::Prefix::new(hints)),
            Framing::Method | Framing::Bare => {
                Inner::Method(method::Method::new(framing, hints, mode))
            }
            Framing::WebSocket => Inner::WebSocket(Box::default()),
            Framing::Http => Inner::Http(Box::default()),
            Framing::Values | Framing::Header | Framing::Message => {
                Inner::Values(values::Values::new(framing))
            }
        };
        Self {
            framing,
            limits,
            resync,
            kind,
        }
    }

    /// How this stream is delimited.
    pub fn framing(&self) -> Framing {
        self.framing
    }

    /// Where a message begins whose bytes were taken in so far without it being complete.
    pub fn begun(&self) -> Option<u64> {
        match &self.kind {
            Inner::WebSocket(f) => f.begun(),
            Inner::Http(f) => f.begun(),
            _ => None,
        }
    }

    /// Whether what comes is no message, as far as anybody can tell: it is passed over, and nobody need wait for it.
    pub fn is_lost(&self) -> bool {
        match &self.kind {
            Inner::Http(f) => f.is_lost(),
            _ => false,
        }
    }

    /// Hears what the other direction of the connection asked for: in HTTP the method of a request decides whether its
    /// response has a body. To be called before bytes are looked at that may answer.
    pub fn hear(&mut self, asking: &mut Self) {
        if let (Inner::Http(f), Inner::Http(asking)) = (&mut self.kind, &mut asking.kind) {
            f.hear(asking);
        }
    }

    /// Bytes are missing: forgets what has begun, and looks for where the next frame begins.
    pub fn seek(&mut self) {
        match &mut self.kind {
            Inner::Lines(f) => *f = lines::Lines::default(),
            Inner::Prefix(f) => f.seek(),
            Inner::Method(f) => f.seek(),
            Inner::WebSocket(f) => f.seek(),
            Inner::Http(f) => f.seek(),
            Inner::Values(f) => *f = values::Values::new(self.framing),
        }
    }

    /// How a framer that has seen nothing would read on from where the next frame begins; `None` in the middle of
    /// something that only this one knows.
    pub fn anew(&self) -> Option<Framing> {
        let is_between = match &self.kind {
            Inner::Lines(f) => f.is_between(),
            Inner::Prefix(f) => f.is_between(),
            Inner::Method(f) => f.is_between(),
            Inner::WebSocket(f) => f.is_between(),
            Inner::Http(f) => f.is_between(),
            Inner::Values(f) => f.is_between(),
        };
        let framing = if self.is_websocket() {
            Framing::WebSocket
        } else {
            self.framing
        };
        is_between.then_some(framing)
    }

    /// Whether this is WebSocket, from the start or by now.
    pub fn is_websocket(&self) -> bool {
        match &self.kind {
            Inner::Http(f) => f.is_upgraded(),
            Inner::WebSocket(_) => true,
            _ => false,
        }
    }

    /// Looks at the window, whose first byte is `base` bytes into the stream; `eof` says that no more will come.
    pub fn next<'a>(&'a mut self, window: &'a [u8], base: u64, eof: bool) -> Step<'a> {
        let input = Input {
            window,
            base,
            eof,
            limits: self.limits,
            resync: self.resync,
        };
        match &mut self.kind {
            Inner::Lines(f) => f.next(input),
            Inner::Prefix(f) => f.next(input),
            Inner::Method(f) => f.next(input),
            Inner::WebSocket(f) => f.next(input),
            Inner::Http(f) => f.next(input),
            Inner::Values(f) => f.next(input),
        }
    }
}
