//! The errors of the JSON parser.

use super::measure;
use crate::error::{DecodeError, show_byte};
use crate::span::Span;

fn bad_utf8(text: &[u8], base: usize, at: usize) -> DecodeError {
    let got = show_byte(text.get(at).copied().unwrap_or_default());
    let span = Span::new(base + at, base + at + 1);
    DecodeError::new("bad-utf8", span, "message", "UTF-8", got)
}

/// A parse error; [`explain`] converts it. Functions return it boxed, so that a result fits in one
/// register.
#[derive(Clone, Copy)]
pub(super) enum JsonError {
    Want { at: usize, wanted: &'static str },
    Deep { at: usize },
    Trailing { at: usize },
    Utf8 { at: usize },
}

impl JsonError {
    pub(super) fn at(self) -> usize {
        match self {
            Self::Want { at, .. }
            | Self::Deep { at }
            | Self::Trailing { at }
            | Self::Utf8 { at } => at,
        }
    }
}

#[cold]
pub(super) fn explain(violation: JsonError, text: &[u8], base: usize, depth: u32) -> DecodeError {
    let place = base + violation.at();
    // MUST (RFC 8259 section 8.1): UTF-8. This error is more precise than the expected token.
    if let Err(e) = std::str::from_utf8(text) {
        return bad_utf8(text, base, e.valid_up_to());
    }
    match violation {
        JsonError::Utf8 { at } => bad_utf8(text, base, at),
        JsonError::Want { at, wanted } => match text.get(at) {
            None => DecodeError::new(
                "ends-early",
                Span::new(place, place),
                "message",
                wanted,
                "the end",
            ),
            Some(&byte) => DecodeError::new(
                "bad-json",
                Span::new(place, place + 1),
                "message",
                wanted,
                show_byte(byte),
            ),
        },
        JsonError::Deep { .. } => crate::encoding::too_deep(place, depth),
        JsonError::Trailing { at } => {
            let rest = Span::new(place, base + text.len());
            let error = DecodeError::new(
                "trailing-bytes",
                rest,
                "message",
                "the end",
                format!("{} more bytes", rest.len),
            );
            match measure(text.get(at..).unwrap_or_default(), depth, true) {
                Ok(Some(_)) => error.hint("two values without a separator"),
                _ => error,
            }
        }
    }
}
