//! Text of a long message, handed on while it is written, so that it never stands in memory whole.

use super::JsonText;
use crate::span::Span;
use crate::tape::{Name, Scalar, Shape, Sink};

/// Bytes of text that wait.
const FULL: usize = 64 << 10;

/// A [`JsonText`] that empties itself.
pub struct Passing<'f> {
    text: JsonText,
    full: &'f mut dyn FnMut(&mut Vec<u8>),
}

impl<'f> Passing<'f> {
    /// Writes behind what stands in `out`; `full` empties it.
    pub fn new(out: Vec<u8>, full: &'f mut dyn FnMut(&mut Vec<u8>)) -> Self {
        let text = JsonText {
            out,
            ..JsonText::default()
        };
        Self { text, full }
    }

    /// Whether the text says all.
    pub fn is_plain(&self) -> bool {
        self.text.is_plain()
    }

    /// The end of the text.
    pub fn finish(mut self) -> Vec<u8> {
        if self.text.out.last() == Some(&b',') {
            self.text.out.pop();
        }
        self.text.out
    }

    #[inline]
    fn pass(&mut self) {
        if self.text.out.len() < FULL {
            return;
        }
        // Where a map or an array ends, the comma before goes.
        let last = self.text.out.pop();
        (self.full)(&mut self.text.out);
        self.text.out.extend(last);
    }
}

impl Sink for Passing<'_> {
    fn key(&mut self) {
        self.text.key();
    }

    fn value(&mut self) {
        self.text.value();
    }

    fn scalar(&mut self, at: Span, value: Scalar<'_>) {
        self.text.scalar(at, value);
        self.pass();
    }

    fn open(&mut self, start: usize, shape: Shape) {
        self.text.open(start, shape);
    }

    fn close(&mut self, end: usize) {
        self.text.close(end);
        self.pass();
    }

    fn label(&mut self, at: usize, id: u32, name: &Name) {
        self.text.label(at, id, name);
    }
}
