//! Where the bytes of an HTTP body lie, as they come.
//!
//! ```text
//!   5 ; name=value CR LF   hello CR LF   0 CR LF   Trailer: x CR LF   CR LF
//!   '- framing ---------'  data  '- framing -----------------------------'
//! ```

use crate::error::{DecodeError, show_byte};
use crate::span::Span;

/// Longest line that holds a chunk's size, or a trailer.
const MAX_LINE: usize = 4 << 10;

/// What delimits a body (RFC 9112 section 6.3), and how far it was read.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Source {
    /// So many bytes are still to come.
    Length(u64),
    /// It ends with the stream.
    Close,
    /// RFC 9112 section 7.1.
    Chunked(Phase),
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Phase {
    /// The line with a chunk's size; whether a chunk went before.
    Size(bool),
    /// So many bytes of the chunk are still to come.
    Data(u64),
    /// The line end after the chunk's data.
    AfterData,
    /// Trailer fields, up to the empty line.
    Trailers,
    Done,
}

/// What comes next.
pub(crate) enum Bit {
    /// The bytes there do not suffice.
    More,
    /// So many bytes are none of the body.
    Framing(usize),
    /// So many bytes are the body's; say with [`Source::took`] how many were taken.
    Data(usize),
    End,
    Bad(DecodeError),
}

impl Source {
    pub(crate) const CHUNKED: Self = Self::Chunked(Phase::Size(false));

    /// What the bytes at `rest` are.
    pub(crate) fn next(&mut self, rest: &[u8]) -> Bit {
        match self {
            Self::Length(0) => Bit::End,
            Self::Length(_) | Self::Close if rest.is_empty() => Bit::More,
            Self::Length(left) => Bit::Data((rest.len() as u64).min(*left) as usize),
            Self::Close => Bit::Data(rest.len()),
            Self::Chunked(phase) => phase.next(rest),
        }
    }

    pub(crate) fn took(&mut self, n: usize) {
        match self {
            Self::Length(left) | Self::Chunked(Phase::Data(left)) => {
                *left = left.saturating_sub(n as u64);
            }
            _ => {}
        }
    }

    /// Whether a chunk can begin here.
    #[cfg(feature = "cli")]
    pub(crate) fn is_between(&self) -> bool {
        matches!(self, Self::Chunked(Phase::Size(_)))
    }

    /// How many bytes are missing at least.
    pub(super) fn missing(&self) -> Option<u64> {
        match self {
            Self::Length(left) => Some(*left),
            Self::Chunked(Phase::Data(left)) => Some(left.saturating_add(2)),
            _ => None,
        }
    }

    /// What is missing, for an error.
    pub(super) fn wanted(&self) -> String {
        match self {
            Self::Length(left) => format!("{left} bytes more, by Content-Length"),
            Self::Close => "the end".into(),
            Self::Chunked(Phase::Data(left)) => format!("{left} bytes more of the chunk"),
            Self::Chunked(Phase::AfterData) => "the line end after the chunk".into(),
            Self::Chunked(Phase::Size(_)) => "a chunk size, 0 for the last".into(),
            Self::Chunked(_) => "the empty line after the last chunk".into(),
        }
    }
}

impl Phase {
    fn next(&mut self, rest: &[u8]) -> Bit {
        match self {
            Self::Size(later) => match (rest, line(rest)) {
                // Said at once, not when the line ends, which may be never.
                ([first, ..], _) if !first.is_ascii_hexdigit() => {
                    Bit::Bad(bad_size(1, show_byte(*first), *later))
                }
                ([], _) | (_, Line::More) => Bit::More,
                (_, Line::Long) => {
                    let got = format!("a line of more than {MAX_LINE} bytes");
                    Bit::Bad(bad_size(MAX_LINE, got, *later))
                }
                (_, Line::Is(text, n)) => match size(text) {
                    Some(0) => self.go(Self::Trailers, n),
                    Some(size) => self.go(Self::Data(size), n),
                    None => {
                        let shown = text.get(..32).unwrap_or(text);
                        let got = format!("\"{}\"", shown.escape_ascii());
                        Bit::Bad(bad_size(text.len(), got, *later))
                    }
                },
            },
            Self::Data(0) => {
                *self = Self::AfterData;
                self.next(rest)
            }
            Self::Data(_) if rest.is_empty() => Bit::More,
            Self::Data(left) => Bit::Data((rest.len() as u64).min(*left) as usize),
            Self::AfterData => match rest {
                [b'\r', b'\n', ..] => self.go(Self::Size(true), 2),
                [b'\n', ..] => self.go(Self::Size(true), 1),
                [] | [b'\r'] => Bit::More,
                [first, ..] => Bit::Bad(
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
                Line::More => Bit::More,
                Line::Is([], n) => self.go(Self::Done, n),
                Line::Is(_, n) => Bit::Framing(n),
                Line::Long => Bit::Bad(DecodeError::new(
                    "bad-http",
                    Span::new(0, MAX_LINE),
                    "trailer",
                    format!("a line of at most {MAX_LINE} bytes"),
                    "a longer one",
                )),
            },
            Self::Done => Bit::End,
        }
    }

    fn go(&mut self, phase: Self, n: usize) -> Bit {
        *self = phase;
        Bit::Framing(n)
    }
}

enum Line<'a> {
    More,
    Long,
    /// Its text, and its length with the line end.
    Is(&'a [u8], usize),
}

/// A line; a lone LF ends it too (RFC 9112 section 2.2: "a recipient MAY recognize a single LF as a line terminator").
fn line(rest: &[u8]) -> Line<'_> {
    let head = rest.get(..MAX_LINE).unwrap_or(rest);
    match memchr::memchr(b'\n', head) {
        Some(at) => {
            let text = head.get(..at).unwrap_or_default();
            Line::Is(text.strip_suffix(b"\r").unwrap_or(text), at + 1)
        }
        None if head.len() == MAX_LINE => Line::Long,
        None => Line::More,
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
