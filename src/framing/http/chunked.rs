//! Finds the bytes of an HTTP body as they arrive.
//!
//! ```text
//!   5 ; name=value CR LF   hello CR LF   0 CR LF   Trailer: x CR LF   CR LF
//!   '- framing ---------'  data  '- framing -----------------------------'
//! ```

use crate::error::{DecodeError, show_byte};
use crate::span::Span;

/// The maximum length of a line with a chunk size or a trailer.
const MAX_LINE: usize = 4 << 10;

/// The rule that delimits a body (RFC 9112 section 6.3), and the position in the body.
#[derive(Clone, Copy, Debug)]
pub(crate) enum BodyDelimiter {
    /// This many bytes follow.
    Length(u64),
    /// The body ends with the stream.
    Close,
    /// RFC 9112 section 7.1.
    Chunked(ChunkPhase),
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum ChunkPhase {
    /// The line with a chunk size; `true` after the first chunk.
    Size(bool),
    /// This many bytes of the chunk follow.
    Data(u64),
    /// The line end after the chunk's data.
    AfterData,
    /// Trailer fields, up to the empty line.
    Trailers,
    Done,
}

/// The next part of a body.
pub(crate) enum BodyPart {
    /// More bytes are needed.
    More,
    /// This many bytes do not belong to the body.
    Framing(usize),
    /// This many bytes belong to the body; call [`BodyDelimiter::took`] with the number of bytes taken.
    Data(usize),
    End,
    Bad(DecodeError),
}

impl BodyDelimiter {
    pub(crate) const CHUNKED: Self = Self::Chunked(ChunkPhase::Size(false));

    /// Classifies the bytes at `rest`.
    pub(crate) fn next(&mut self, rest: &[u8]) -> BodyPart {
        match self {
            Self::Length(0) => BodyPart::End,
            Self::Length(_) | Self::Close if rest.is_empty() => BodyPart::More,
            Self::Length(left) => BodyPart::Data((rest.len() as u64).min(*left) as usize),
            Self::Close => BodyPart::Data(rest.len()),
            Self::Chunked(phase) => phase.next(rest),
        }
    }

    pub(crate) fn took(&mut self, n: usize) {
        match self {
            Self::Length(left) | Self::Chunked(ChunkPhase::Data(left)) => {
                *left = left.saturating_sub(n as u64);
            }
            _ => {}
        }
    }

    /// Returns `true` if a chunk can start here.
    #[cfg(feature = "cli")]
    pub(crate) fn is_between(&self) -> bool {
        matches!(self, Self::Chunked(ChunkPhase::Size(_)))
    }

    /// Returns the minimum number of missing bytes.
    pub(super) fn missing(&self) -> Option<u64> {
        match self {
            Self::Length(left) => Some(*left),
            Self::Chunked(ChunkPhase::Data(left)) => Some(left.saturating_add(2)),
            _ => None,
        }
    }

    /// Describes the missing part, for an error.
    pub(super) fn wanted(&self) -> String {
        match self {
            Self::Length(left) => format!("{left} bytes more, by Content-Length"),
            Self::Close => "the end".into(),
            Self::Chunked(ChunkPhase::Data(left)) => format!("{left} bytes more of the chunk"),
            Self::Chunked(ChunkPhase::AfterData) => "the line end after the chunk".into(),
            Self::Chunked(ChunkPhase::Size(_)) => "a chunk size, 0 for the last".into(),
            Self::Chunked(_) => "the empty line after the last chunk".into(),
        }
    }
}

impl ChunkPhase {
    fn next(&mut self, rest: &[u8]) -> BodyPart {
        match self {
            Self::Size(later) => match (rest, line(rest)) {
                // Reported at once: the end of the line may never come.
                ([first, ..], _) if !first.is_ascii_hexdigit() => {
                    BodyPart::Bad(bad_size(1, show_byte(*first), *later))
                }
                ([], _) | (_, ChunkLine::More) => BodyPart::More,
                (_, ChunkLine::Long) => {
                    let got = format!("a line of more than {MAX_LINE} bytes");
                    BodyPart::Bad(bad_size(MAX_LINE, got, *later))
                }
                (_, ChunkLine::Is(text, n)) => match size(text) {
                    Some(0) => self.enter(Self::Trailers, n),
                    Some(size) => self.enter(Self::Data(size), n),
                    None => {
                        let shown = text.get(..32).unwrap_or(text);
                        let got = format!("\"{}\"", shown.escape_ascii());
                        BodyPart::Bad(bad_size(text.len(), got, *later))
                    }
                },
            },
            Self::Data(0) => {
                *self = Self::AfterData;
                self.next(rest)
            }
            Self::Data(_) if rest.is_empty() => BodyPart::More,
            Self::Data(left) => BodyPart::Data((rest.len() as u64).min(*left) as usize),
            Self::AfterData => match rest {
                [b'\r', b'\n', ..] => self.enter(Self::Size(true), 2),
                [b'\n', ..] => self.enter(Self::Size(true), 1),
                [] | [b'\r'] => BodyPart::More,
                [first, ..] => BodyPart::Bad(
                    DecodeError::new(
                        "bad-http",
                        Span::new(0, 1),
                        "chunk",
                        "CR LF after the data",
                        show_byte(*first),
                    )
                    .hint("the chunk is longer than its size says"),
                ),
            },
            Self::Trailers => match line(rest) {
                ChunkLine::More => BodyPart::More,
                ChunkLine::Is([], n) => self.enter(Self::Done, n),
                ChunkLine::Is(_, n) => BodyPart::Framing(n),
                ChunkLine::Long => BodyPart::Bad(DecodeError::new(
                    "bad-http",
                    Span::new(0, MAX_LINE),
                    "trailer",
                    format!("a line of at most {MAX_LINE} bytes"),
                    "a longer one",
                )),
            },
            Self::Done => BodyPart::End,
        }
    }

    fn enter(&mut self, phase: Self, n: usize) -> BodyPart {
        *self = phase;
        BodyPart::Framing(n)
    }
}

enum ChunkLine<'a> {
    More,
    Long,
    /// The text, and its length with the line end.
    Is(&'a [u8], usize),
}

/// Reads a line. A lone LF ends it too (RFC 9112 section 2.2: "a recipient MAY recognize a single
/// LF as a line terminator").
fn line(rest: &[u8]) -> ChunkLine<'_> {
    let head = rest.get(..MAX_LINE).unwrap_or(rest);
    match memchr::memchr(b'\n', head) {
        Some(at) => {
            let text = head.get(..at).unwrap_or_default();
            ChunkLine::Is(text.strip_suffix(b"\r").unwrap_or(text), at + 1)
        }
        None if head.len() == MAX_LINE => ChunkLine::Long,
        None => ChunkLine::More,
    }
}

/// RFC 9112 section 7.1: chunk-size = 1*HEXDIG; extensions after it are ignored.
fn size(text: &[u8]) -> Option<u64> {
    let end = text.iter().position(|b| *b == b';').unwrap_or(text.len());
    let digits = text.get(..end)?.trim_ascii_end();
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    u64::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

fn bad_size(len: usize, got: String, later: bool) -> DecodeError {
    let span = Span::new(0, len);
    let error = DecodeError::new("bad-http", span, "chunk size", "a hexadecimal number", got);
    if later {
        error.hint(
            "the last chunk (0) is missing, or the chunk before is not as long as its size says",
        )
    } else {
        error.hint("the body is not chunked as Transfer-Encoding says")
    }
}

/// The number of bytes needed to recognise the start of a chunk of events.
pub(super) const CHUNK_PROBE: usize = 18;

/// Returns `true` if a chunk starts here whose data is a field of an event, or the last chunk.
pub(super) fn starts_chunk(rest: &[u8]) -> bool {
    let digits = rest.iter().take_while(|b| b.is_ascii_hexdigit()).count();
    let (size, rest) = rest.split_at_checked(digits).unwrap_or_default();
    let Some(data) = rest.strip_prefix(b"\r\n") else {
        return false;
    };
    let fields: [&[u8]; 5] = [b"data:", b"event:", b"id:", b"retry:", b":"];
    match size {
        [b'0'] => data.starts_with(b"\r\n"),
        _ => (1..=8).contains(&digits) && fields.iter().any(|field| data.starts_with(field)),
    }
}
