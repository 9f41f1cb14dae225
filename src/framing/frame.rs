//! Frames: bytes, and their offsets in the stream.

use super::Framing;
use crate::error::DecodeError;
use crate::span::Span;

/// A run of a view's bytes and the stream offset it came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Piece {
    /// The first byte in the view.
    pub at: u32,
    /// Its stream offset.
    pub offset: u64,
}

/// The stream offsets of the bytes of a view.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Places<'a> {
    /// One run; the offset of its first byte.
    Run(u64),
    /// Several runs, in ascending order of `at`.
    Pieces(&'a [Piece]),
    /// None, because the bytes were compressed; the offset of the frame.
    Packed(u64),
}

/// Bytes to decode, and their stream offsets.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct View<'a> {
    /// The whole frame if it is one plain run of the stream; otherwise the assembled body.
    pub bytes: &'a [u8],
    /// The span of the encoded message in `bytes`.
    pub body: Span,
    /// The stream offsets of `bytes`.
    pub places: Places<'a>,
}

impl<'a> View<'a> {
    /// The encoded message.
    pub fn body(&self) -> &'a [u8] {
        self.body.of(self.bytes)
    }

    /// Returns the stream offset of a byte of the view. In a compressed body: the frame's offset
    /// plus the position in the body.
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

    /// Returns the stream range of a span, including other bytes between its pieces.
    pub fn range(&self, span: Span) -> std::ops::Range<u64> {
        let start = self.locate(span.at());
        let end = match span.len {
            0 => start,
            _ => self.locate(span.end() - 1) + 1,
        };
        start..end
    }

    /// Returns the position in the view of a byte at a stream offset.
    pub(crate) fn index_of(&self, offset: u64) -> Option<usize> {
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

    /// Returns the stream offset of a span that is one run there.
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

/// [`Places`] that can outlive their frame.
#[derive(Clone, Debug)]
pub(crate) enum OwnedPlaces {
    Run(u64),
    Pieces(Box<[Piece]>),
    Packed(u64),
}

impl OwnedPlaces {
    pub(crate) fn of(places: Places<'_>) -> Self {
        match places {
            Places::Run(at) => Self::Run(at),
            Places::Pieces(pieces) => Self::Pieces(pieces.into()),
            Places::Packed(at) => Self::Packed(at),
        }
    }

    pub(crate) fn borrow(&self) -> Places<'_> {
        match self {
            Self::Run(at) => Places::Run(*at),
            Self::Pieces(pieces) => Places::Pieces(pieces),
            Self::Packed(at) => Places::Packed(*at),
        }
    }
}

/// The bytes that the length of a frame with a method id counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum LengthMode {
    /// Detected from the bytes of each frame.
    #[default]
    Auto,
    /// Method id and body.
    Exclusive,
    /// The whole frame, the length itself included.
    Inclusive,
}

impl LengthMode {
    /// Every mode, in the order help lists them.
    pub const ALL: [Self; 3] = [Self::Auto, Self::Exclusive, Self::Inclusive];

    /// The name in flags and output.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Exclusive => "exclusive",
            Self::Inclusive => "inclusive",
        }
    }

    /// Returns the mode with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|m| m.name() == name)
    }
}

/// The header that framing read before the body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Head<'a> {
    /// Nothing.
    None,
    /// A length: the number as written.
    Length(u32),
    /// A little-endian length and a method id.
    Method {
        /// The number as written.
        length: u32,
        /// The method id.
        id: u32,
        /// The bytes that `length` counts; `None` if the bytes do not show it and no mode was
        /// chosen.
        mode: Option<LengthMode>,
    },
    /// An HTTP/1.1 start line, without its line end, and properties of the fields.
    Http {
        /// `POST / HTTP/1.1` or `HTTP/1.1 200 OK`.
        start: &'a str,
        /// The status code of a response; 0 for a request.
        status: u16,
        /// Bytes of start line, fields and the blank line; 0 for an event of a stream.
        len: u32,
        /// `true` for a server-sent event.
        event: bool,
        /// `true` if the connection ends with this exchange: RFC 9112 section 9.3.
        closes: bool,
    },
    /// The first bytes of a stream of HTTP/3, or of a frame there.
    Http3 {
        /// The type of the stream or the frame.
        number: u64,
        /// The session of a WebTransport stream.
        session: Option<u64>,
        /// The method of a request, or the status of a response, if it comes first and uncompressed.
        start: &'static str,
    },
    /// RFC 6455 section 5.2.
    WebSocket {
        /// 1 text, 2 binary, 8 close, 9 ping, 10 pong.
        opcode: u8,
        /// `true` if the sender masked it.
        masked: bool,
        /// `true` if it was compressed (RSV1).
        compressed: bool,
        /// The number of frames of the message.
        fragments: u32,
    },
}

impl<'a> Head<'a> {
    /// Splits the head into a part that borrows nothing and the start line, which is empty unless
    /// this is HTTP.
    pub(crate) fn detached(self) -> (Head<'static>, &'a str) {
        let head = match self {
            Self::None => Head::None,
            Self::Length(length) => Head::Length(length),
            Self::Method { length, id, mode } => Head::Method { length, id, mode },
            Self::Http3 {
                number,
                session,
                start,
            } => Head::Http3 {
                number,
                session,
                start,
            },
            Self::WebSocket {
                opcode,
                masked,
                compressed,
                fragments,
            } => Head::WebSocket {
                opcode,
                masked,
                compressed,
                fragments,
            },
            Self::Http {
                start,
                status,
                len,
                event,
                closes,
            } => {
                let head = Head::Http {
                    start: "",
                    status,
                    len,
                    event,
                    closes,
                };
                return (head, start);
            }
        };
        (head, "")
    }

    /// Sets the start line of an HTTP head.
    pub(crate) fn with_start(mut self, line: &'a str) -> Self {
        if let Self::Http { start, .. } = &mut self {
            *start = line;
        }
        self
    }
}

/// An error of the frame itself, at an absolute stream offset (`error.span.len` bytes from
/// `offset`).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Fault {
    /// The first byte, from the start of this direction's stream.
    pub offset: u64,
    /// The error. Boxed, because frames are passed on often and seldom have one.
    pub error: Box<DecodeError>,
}

/// The bytes of one message, or bytes between messages.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Frame<'a> {
    /// The first byte, header included, from the start of this direction's stream.
    pub offset: u64,
    /// The length, header included; the bytes present if the frame is truncated.
    pub len: u64,
    /// The framing of the stream.
    pub framing: Framing,
    /// The header before the body.
    pub head: Head<'a>,
    /// The body and its surroundings.
    pub view: View<'a>,
    /// The control kind if this is not a message: `ping`, `http-response`, `skipped`.
    pub control: Option<&'static str>,
    /// The error of the frame.
    pub fault: Option<Fault>,
}

/// The result of one step of a framer.
#[derive(Debug)]
#[non_exhaustive]
pub enum Step<'a> {
    /// More bytes are needed: at least this many, if known. At the end of the stream only for an
    /// empty window.
    Incomplete(Option<u64>),
    /// This many bytes were consumed; no frame is complete yet.
    Took(usize),
    /// A frame, and the number of bytes of the window that are consumed.
    Frame(Frame<'a>, usize),
}
