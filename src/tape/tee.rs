//! Two sinks for one pass.

use super::{KeyName, Scalar, Shape, Sink};
use crate::span::Span;

/// Two sinks that receive the same values.
#[derive(Debug)]
pub struct Tee<'a, A, B>(pub &'a mut A, pub &'a mut B);

impl<A: Sink, B: Sink> Sink for Tee<'_, A, B> {
    #[inline]
    fn key(&mut self) {
        self.0.key();
        self.1.key();
    }
    #[inline]
    fn value(&mut self) {
        self.0.value();
        self.1.value();
    }
    #[inline]
    fn item(&mut self) {
        self.0.item();
        self.1.item();
    }
    #[inline(always)]
    fn scalar(&mut self, at: Span, value: Scalar<'_>) {
        self.0.scalar(at, value);
        self.1.scalar(at, value);
    }
    #[inline]
    fn open(&mut self, start: usize, shape: Shape) {
        self.0.open(start, shape);
        self.1.open(start, shape);
    }
    #[inline]
    fn close(&mut self, end: usize) {
        self.0.close(end);
        self.1.close(end);
    }
    #[inline]
    fn label(&mut self, at: usize, id: u32, name: &KeyName) {
        self.0.label(at, id, name);
        self.1.label(at, id, name);
    }
}
