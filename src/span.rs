//! A position in a body, and text with its position.

use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;

/// A run of bytes in the view that is decoded (see [`crate::framing::View`]).
///
/// Both numbers are in bytes. A view is smaller than 4 GiB (16 MiB by default), so 32 bits suffice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// Number of bytes.
    pub len: u32,
}

impl Span {
    /// Creates the span `start..end`; empty if `end < start`.
    #[inline]
    pub const fn new(start: usize, end: usize) -> Self {
        Self {
            start: start as u32,
            len: end.saturating_sub(start) as u32,
        }
    }

    /// Returns the position after the last byte.
    #[inline]
    pub const fn end(self) -> usize {
        self.start as usize + self.len as usize
    }

    /// Returns the first byte, as an index.
    #[inline]
    pub const fn at(self) -> usize {
        self.start as usize
    }

    /// Returns the bytes of the span; only those present if it exceeds `bytes`.
    #[inline]
    pub fn of(self, bytes: &[u8]) -> &[u8] {
        let end = self.end().min(bytes.len());
        bytes.get(self.at().min(end)..end).unwrap_or_default()
    }

    /// Returns `true` if `offset` is in the span.
    #[inline]
    pub const fn contains(self, offset: usize) -> bool {
        self.at() <= offset && offset < self.end()
    }
}

/// Text of a message, with its position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpannedText<'a> {
    /// The text, escapes resolved.
    pub text: Cow<'a, str>,
    /// Its position in the view; `None` if the view does not hold it, as for the head of HTTP.
    pub span: Option<Span>,
}

impl<'a> SpannedText<'a> {
    /// Creates text at a position of the view.
    pub fn new(text: impl Into<Cow<'a, str>>, span: Span) -> Self {
        Self {
            text: text.into(),
            span: Some(span),
        }
    }

    /// Copies the text.
    pub fn into_owned(self) -> SpannedText<'static> {
        SpannedText {
            text: Cow::Owned(self.text.into_owned()),
            span: self.span,
        }
    }

    /// Creates text that is not in the view.
    pub(crate) fn without_span(text: impl Into<Cow<'a, str>>) -> Self {
        Self {
            text: text.into(),
            span: None,
        }
    }
}

impl Deref for SpannedText<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        &self.text
    }
}

impl fmt::Display for SpannedText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
