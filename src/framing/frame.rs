//! Frames: bytes, and where they lie in the stream.

use super::Framing;
use crate::error::DecodeError;
use crate::span::Span;

/// A run of a view's bytes and the stream offset it came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Piece {
    /// First byte in the view.
    pub at: u32,
    /// Its place in the stream.
    pub offset: u64,
}

/// How the bytes of a view lie in the stream.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
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
#[non_exhaustive]
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

/// [`Places`] that outlive their frame.
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

/// How a telequick length counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum LengthMode {
    /// Told from each frame's bytes.
    #[default]
    Auto,
    /// Method id and body.
    Exclusive,
    /// The whole frame, itself included.
    Inclusive,
}

impl LengthMode {
    /// Every mode, in the order help lists them.
    pub const ALL: [Self; 3] = [Self::Auto, Self::Exclusive, Self::Inclusive];

    /// The name users write.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Exclusive => "exclusive",
            Self::Inclusive => "inclusive",
        }
    }

    /// The mode of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|m| m.name() == name)
    }
}

/// What framing read before the body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
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

impl<'a> Head<'a> {
    /// The head without its start line, so that it borrows nothing, and the start line: empty unless it is HTTP.
    pub(crate) fn detached(self) -> (Head<'static>, &'a str) {
        let head = match self {
            Self::None => Head::None,
            Self::Length(length) => Head::Length(length),
            Self::Method { length, id, mode } => Head::Method { length, id, mode },
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

    /// The head with this start line, where it is HTTP.
    pub(crate) fn with_start(mut self, line: &'a str) -> Self {
        if let Self::Http { start, .. } = &mut self {
            *start = line;
        }
        self
    }
}

/// What is wrong with a frame as such, at an absolute place in the stream (`error.span.len` bytes from `offset`).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Fault {
    /// First byte, from the start of this direction's stream.
    pub offset: u64,
    /// What. Boxed: frames are handed on often, and seldom have one.
    pub error: Box<DecodeError>,
}

/// One message's bytes, or something between messages.
#[derive(Clone, Debug)]
#[non_exhaustive]
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
#[non_exhaustive]
pub enum Step<'a> {
    /// More bytes are needed: how many at least, where that is known. Never given at the end of the stream unless the
    /// window is empty.
    Incomplete(Option<u64>),
    /// So many bytes were taken in; nothing is complete yet.
    Took(usize),
    /// A frame, and how many bytes of the window are done with.
    Frame(Frame<'a>, usize),
}
