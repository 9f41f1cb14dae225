//! The window that a framer looks at, and frames made of it.

use super::{Fault, Frame, Framing, Head, Limits, Places, View};
use crate::error::DecodeError;
use crate::span::Span;

/// Bytes of one direction that are not done with.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct Input<'a> {
    /// The bytes.
    pub window: &'a [u8],
    /// Stream offset of the first of them.
    pub base: u64,
    /// No more bytes will come.
    pub eof: bool,
    /// What is bounded.
    pub limits: Limits,
    /// Whether to look for the next frame after a bad one.
    pub resync: bool,
}

impl<'a> Input<'a> {
    /// A plain frame: the first `len` bytes of the window, with its body at `body..end`.
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

    /// A fault at byte `at` of the window, `len` bytes long.
    pub fn fault(&self, at: usize, error: DecodeError) -> Fault {
        Fault::new(self.base + at as u64, error)
    }

    /// A fault over the rest of the window: the stream ends before `wanted`.
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
    /// A fault at an offset of the stream.
    pub(super) fn new(offset: u64, error: DecodeError) -> Self {
        Self {
            offset,
            error: error.into(),
        }
    }
}
