//! What a framer is shown, and the frames it makes of that.

use super::{Fault, Frame, Framing, Head, Limits, Places, View};
use crate::error::DecodeError;
use crate::span::Span;

/// What every framer looks at.
#[derive(Clone, Copy)]
pub(super) struct Input<'a> {
    pub(super) window: &'a [u8],
    pub(super) base: u64,
    pub(super) eof: bool,
    pub(super) limits: Limits,
    pub(super) resync: bool,
}

impl<'a> Input<'a> {
    /// A plain frame: the first `len` bytes of the window, with its body at `body..end`.
    pub(super) fn frame(
        &self,
        framing: Framing,
        head: Head<'a>,
        body: Span,
        len: usize,
    ) -> Frame<'a> {
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
    pub(super) fn fault(&self, at: usize, error: DecodeError) -> Fault {
        Fault::new(self.base + at as u64, error)
    }

    /// A fault over the rest of the window: the stream ends before `wanted`.
    pub(super) fn truncated(&self, field: &'static str, wanted: String, got: usize) -> Fault {
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
