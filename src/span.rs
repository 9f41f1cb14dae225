//! A place in a body, and text with its place.

use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;

/// A run of bytes in the view that is being decoded (see [`crate::framing::View`]): where it starts and how long it is.
///
/// Both are in bytes. A view is bounded below 4 GiB (16 MiB unless told otherwise), so 32 bits do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// Number of bytes.
    pub len: u32,
}

impl Span {
    /// The run from `start` up to, not including, `end`; empty where `end` lies before `start`.
    #[inline]
    pub const fn new(start: usize, end: usize) -> Self {
        Self {
            start: start as u32,
            len: end.saturating_sub(start) as u32,
        }
    }

    /// One past the last byte.
    #[inline]
    pub const fn end(self) -> usize {
        self.start as usize + self.len as usize
    }

    /// The first byte, as an index.
    #[inline]
    pub const fn at(self) -> usize {
        self.start as usize
    }

    /// The bytes it covers; those that are there where it runs past the end.
    #[inline]
    pub fn of(self, bytes: &[u8]) -> &[u8] {
        let end = self.end().min(bytes.len());
        bytes.get(self.at().min(end)..end).unwrap_or_default()
    }

    /// Whether the byte at `offset` is one of its own.
    #[inline]
    pub const fn contains(self, offset: usize) -> bool {
        self.at() <= offset && offset < self.end()
    }
}

/// Text of a message, and where it lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpannedText<'a> {
    /// The text, escapes resolved.
    pub text: Cow<'a, str>,
    /// Its place in the view; `None` where the view does not hold it, as with what the head of HTTP says.
    pub span: Option<Span>,
}

impl<'a> SpannedText<'a> {
    /// Text at a place of the view.
    pub fn new(text: impl Into<Cow<'a, str>>, span: Span) -> Self {
        Self {
            text: text.into(),
            span: Some(span),
        }
    }

    /// Text that is not in the view.
    pub fn elsewhere(text: impl Into<Cow<'a, str>>) -> Self {
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
