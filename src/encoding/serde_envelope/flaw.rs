//! What is wrong with an envelope.

use super::HEADER;
use crate::error::DecodeError;
use crate::span::Span;

/// What went wrong, small enough to return from the innermost step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flaw {
    pub at: usize,
    pub what: What,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum What {
    NegativeSize(i32),
    /// `payload_size`, and the bytes there are.
    Overrun(i32, u32),
    /// Bytes of a header that are there.
    NoHeader(usize),
    /// `compat_version`, and the version that is described.
    Unreadable(u8, u8),
    /// Length, and the bytes there are.
    StringLength(i32, usize),
    /// Count, bytes left, least bytes of an element.
    Count(i32, usize, usize),
    /// Count, and the limit.
    Elements(i32, u32),
    /// Bytes of a value, and the bytes left.
    Field(usize, usize),
    TooDeep(u32),
}

impl Flaw {
    #[cold]
    pub fn explain(self, path: String) -> DecodeError {
        let at = self.at;
        let inside = |name: &str| match path.as_str() {
            "" => name.to_owned(),
            path => format!("{path}.{name}"),
        };
        match self.what {
            What::NegativeSize(size) => DecodeError::new(
                "negative-size",
                Span::new(at, at + 4),
                inside("payload_size"),
                "0 or more",
                size.to_string(),
            ),
            What::Overrun(size, room) => DecodeError::new(
                "envelope-overrun",
                Span::new(at, at + 4),
                inside("payload_size"),
                format!("at most {room}, the bytes that are left"),
                size.to_string(),
            ),
            What::NoHeader(left) => DecodeError::new(
                "envelope-overrun",
                Span::new(at, at + left),
                inside("envelope"),
                "6 bytes of envelope header",
                format!("{left} bytes"),
            ),
            What::Unreadable(compat, version) => DecodeError::new(
                "unreadable-version",
                Span::new(at, at + 1),
                inside("compat_version"),
                format!("at most {version}, the version that the schema describes"),
                compat.to_string(),
            )
            .hint("the writer says that older readers cannot read this; a newer schema is needed"),
            What::StringLength(len, left) => DecodeError::new(
                "string-length",
                Span::new(at, at + 4),
                path,
                format!("a length of 0 to {left}, the bytes left in the envelope"),
                len.to_string(),
            ),
            What::Count(count, left, least) => DecodeError::new(
                "vector-count",
                Span::new(at, at + 4),
                path,
                format!(
                    "at most {}: {left} bytes are left, and an element takes {least} or more",
                    left / least.max(1)
                ),
                count.to_string(),
            ),
            What::Elements(count, limit) => DecodeError::new(
                "vector-count",
                Span::new(at, at + 4),
                path,
                format!("at most {limit}, the schema's limit"),
                count.to_string(),
            ),
            What::Field(size, left) => DecodeError::new(
                "field-overrun",
                Span::new(at, at + left),
                path,
                format!("{size} bytes"),
                format!("{left} left in the envelope"),
            ),
            What::TooDeep(limit) => DecodeError::new(
                "too-deep",
                Span::new(at, at + HEADER),
                path,
                format!("at most {limit} levels of envelopes"),
                format!("level {}", limit + 1),
            ),
        }
    }
}
