//! What `MessagePack` and CBOR share: a value that fills a span, its errors, and the limit of nesting.

use crate::error::{DecodeError, Refusal, show_byte};
use crate::span::Span;
use crate::tape::Sink;
use std::marker::PhantomData;

/// The maximum nesting depth of written values.
pub const MAX_DEPTH: u32 = 1000;

/// An encoding whose values start with a byte that tells their type.
pub(super) trait Packed: Sized {
    /// A value, in errors.
    const VALUE: &'static str;
    /// The fault of a byte that cannot be there.
    const FAULT: &'static str;

    /// Parses one value.
    fn value<S: Sink>(parser: &mut Parser<'_, Self>, sink: &mut S) -> Read;
}

/// The result of reading. The error is boxed, so that a result fits in one register.
pub(super) type Read<T = ()> = Result<T, Box<PackedError>>;

/// A parse error; [`PackedError::explain`] converts it.
#[derive(Clone, Copy)]
pub(super) enum PackedError {
    Ends {
        at: usize,
        need: u64,
        what: &'static str,
    },
    /// A byte that cannot be there.
    Byte {
        at: usize,
        field: &'static str,
        wanted: &'static str,
    },
    Deep {
        at: usize,
    },
}

impl PackedError {
    #[cold]
    fn explain<E: Packed>(self, bytes: &[u8], span: Span, depth: u32) -> DecodeError {
        match self {
            Self::Ends { at, need, what } => {
                let got = span.end().saturating_sub(at);
                let place = Span::new(at.min(span.end()), span.end());
                DecodeError::new(
                    "ends-early",
                    place,
                    what,
                    format!("{need} bytes"),
                    format!("{got} left in the body"),
                )
            }
            Self::Byte { at, field, wanted } => {
                let got = show_byte(bytes.get(at).copied().unwrap_or_default());
                DecodeError::new(E::FAULT, Span::new(at, at + 1), field, wanted, got)
            }
            Self::Deep { at } => super::too_deep(at, depth),
        }
    }
}

/// Reads values of an encoding.
pub(super) struct Parser<'a, E> {
    pub bytes: &'a [u8],
    pub at: usize,
    /// The number of levels that may follow.
    pub depth: u32,
    encoding: PhantomData<E>,
}

impl<'a, E: Packed> Parser<'a, E> {
    fn new(bytes: &'a [u8], at: usize, depth: u32) -> Self {
        Self {
            bytes,
            at,
            depth,
            encoding: PhantomData,
        }
    }

    #[cold]
    pub fn ends<T>(&self, need: u64, what: &'static str) -> Read<T> {
        let at = self.at;
        Err(PackedError::Ends { at, need, what }.into())
    }

    /// Reads the content of a string.
    #[inline]
    pub fn run(&mut self, len: u64, what: &'static str) -> Read<&'a [u8]> {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let run = usize::try_from(len).ok().and_then(|len| rest.get(..len));
        match run {
            Some(run) => {
                self.at += run.len();
                Ok(run)
            }
            None => self.ends(len, what),
        }
    }

    /// Enters one level.
    pub fn descend(&mut self, start: usize) -> Read {
        match self.depth.checked_sub(1) {
            Some(left) => {
                self.depth = left;
                Ok(())
            }
            None => Err(PackedError::Deep { at: start }.into()),
        }
    }
}

/// Parses one value that fills `span` of `bytes`, at most `depth` levels deep.
pub(super) fn parse<E: Packed, S: Sink>(
    bytes: &[u8],
    span: Span,
    depth: u32,
    sink: &mut S,
) -> Result<(), DecodeError> {
    let end = span.end().min(bytes.len());
    let body = bytes.get(..end).unwrap_or_default();
    let mut parser = Parser::<E>::new(body, span.at(), depth);
    if parser.at >= end {
        return Err(DecodeError::new(
            "empty",
            span,
            "message",
            E::VALUE,
            "nothing",
        ));
    }
    E::value(&mut parser, sink).map_err(|error| error.explain::<E>(bytes, span, depth))?;
    if parser.at < end {
        let rest = Span::new(parser.at, end);
        let len = measure::<E>(rest.of(bytes), depth).ok().flatten();
        return Err(super::trailing(rest, len == Some(end - parser.at)));
    }
    Ok(())
}

/// Returns the length of the value at the start of `bytes`; `None` if it is not complete.
pub(super) fn measure<E: Packed>(bytes: &[u8], depth: u32) -> Result<Option<usize>, DecodeError> {
    let mut parser = Parser::<E>::new(bytes, 0, depth);
    match E::value(&mut parser, &mut super::Nothing) {
        Ok(()) => Ok(Some(parser.at)),
        Err(error) if matches!(*error, PackedError::Ends { .. }) => Ok(None),
        Err(error) => Err(error.explain::<E>(bytes, Span::new(0, bytes.len()), depth)),
    }
}

/// Enters one level of a written value.
pub(super) fn level(depth: u32) -> Result<u32, Refusal> {
    let wanted = || format!("at most {MAX_DEPTH} levels of nesting");
    let left = depth.checked_sub(1);
    left.ok_or_else(|| Refusal::whole(wanted(), format!("level {}", MAX_DEPTH + 1)))
}
