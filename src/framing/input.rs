//! The window that a framer reads, and frames made of it.

use super::{Fault, Frame, Framing, Head, Limits, Places, View};
use crate::error::DecodeError;
use crate::span::Span;

/// Bytes of one direction that are not consumed.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Buffer<'a> {
    /// The bytes.
    pub window: &'a [u8],
    /// The stream offset of the first byte.
    pub base: u64,
    /// No more bytes follow.
    pub eof: bool,
    /// The limits of a message.
    pub limits: Limits,
    /// `true` to search for the next frame after a bad one.
    pub resync: bool,
}

impl<'a> Buffer<'a> {
    /// Builds a plain frame: the first `len` bytes of the window, with the given span as its body.
    pub fn frame(&self, framing: Framing, head: Head<'a>, body: Span, len: usize) -> Frame<'a> {
        let bytes = self.window.get(..len).unwrap_or(self.window);
        Frame {
            offset: self.base,
            len: bytes.len() as u64,
            framing,
            head,
            view: View {
                bytes,
                body,
                places: Places::Run(self.base),
            },
            control: None,
            fault: None,
        }
    }

    /// Builds a fault at byte `at` of the window.
    pub fn fault(&self, at: usize, error: DecodeError) -> Fault {
        Fault::new(self.base + at as u64, error)
    }

    /// Builds a fault over the rest of the window: the stream ends before `wanted`.
    pub fn truncated(&self, field: &'static str, wanted: String, got: usize) -> Fault {
        let span = Span::new(0, self.window.len());
        self.fault(
            0,
            DecodeError::new(
                "truncated",
                span,
                field,
                wanted,
                format!("{got} before the end of the stream"),
            ),
        )
    }
}

impl Fault {
    /// Builds a fault at a stream offset.
    pub(super) fn new(offset: u64, error: DecodeError) -> Self {
        Self {
            offset,
            error: error.into(),
        }
    }
}
