//! Errors of an envelope.

use super::HEADER;
use crate::error::DecodeError;
use crate::span::Span;

/// An error, small enough to return from the innermost function.
#[derive(Clone, Copy, Debug)]
pub(super) struct EnvelopeError {
    pub at: usize,
    pub what: EnvelopeErrorKind,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum EnvelopeErrorKind {
    NegativeSize(i32),
    /// `payload_size`, and the number of bytes present.
    Overrun(i32, u32),
    /// The number of bytes of a header that are present.
    NoHeader(usize),
    /// `compat_version`, and the described version.
    Unreadable(u8, u8),
    /// The length, and the number of bytes present.
    StringLength(i32, usize),
    /// The count, the bytes left, and the minimum length of an element.
    Count(i32, usize, usize),
    /// The count, and the limit.
    Elements(i32, u32),
    /// The length of a value, and the bytes left.
    Field(usize, usize),
    TooDeep(u32),
}

impl EnvelopeError {
    #[cold]
    pub fn explain(self, path: String) -> DecodeError {
        let at = self.at;
        let inside = |name: &str| match path.as_str() {
            "" => name.to_owned(),
            path => format!("{path}.{name}"),
        };
        match self.what {
            EnvelopeErrorKind::NegativeSize(size) => DecodeError::new(
                "negative-size",
                Span::new(at, at + 4),
                inside("payload_size"),
                "0 or more",
                size.to_string(),
            ),
            EnvelopeErrorKind::Overrun(size, available) => DecodeError::new(
                "envelope-overrun",
                Span::new(at, at + 4),
                inside("payload_size"),
                format!("at most {available}, the bytes that are left"),
                size.to_string(),
            ),
            EnvelopeErrorKind::NoHeader(left) => DecodeError::new(
                "envelope-overrun",
                Span::new(at, at + left),
                inside("envelope"),
                "6 bytes of envelope header",
                format!("{left} bytes"),
            ),
            EnvelopeErrorKind::Unreadable(compat, version) => DecodeError::new(
                "unreadable-version",
                Span::new(at, at + 1),
                inside("compat_version"),
                format!("at most {version}, the version that the schema describes"),
                compat.to_string(),
            )
            .hint("the writer says that older readers cannot read this; a newer schema is needed"),
            EnvelopeErrorKind::StringLength(len, left) => DecodeError::new(
                "string-length",
                Span::new(at, at + 4),
                path,
                format!("a length of 0 to {left}, the bytes left in the envelope"),
                len.to_string(),
            ),
            EnvelopeErrorKind::Count(count, left, least) => DecodeError::new(
                "vector-count",
                Span::new(at, at + 4),
                path,
                format!(
                    "at most {}: {left} bytes are left, and an element takes {least} or more",
                    left / least.max(1)
                ),
                count.to_string(),
            ),
            EnvelopeErrorKind::Elements(count, limit) => DecodeError::new(
                "vector-count",
                Span::new(at, at + 4),
                path,
                format!("at most {limit}, the schema's limit"),
                count.to_string(),
            ),
            EnvelopeErrorKind::Field(size, left) => DecodeError::new(
                "field-overrun",
                Span::new(at, at + left),
                path,
                format!("{size} bytes"),
                format!("{left} left in the envelope"),
            ),
            EnvelopeErrorKind::TooDeep(limit) => DecodeError::new(
                "too-deep",
                Span::new(at, at + HEADER),
                path,
                format!("at most {limit} levels of envelopes"),
                format!("level {}", limit + 1),
            ),
        }
    }
}
