//! CBOR, as in RFC 8949.
//!
//! ```text
//!   initial byte   major type in the upper 3 bits, additional information in the lower 5
//!   0..=23         the argument itself      24..=27   an argument of 1, 2, 4, 8 bytes
//!   31             no argument: strings, arrays and maps that end with ff
//!
//!   a2 61 69 07 61 75 d8 20 62 75 3a     {"i": 7, "u": {"$tag": [32, "u:"]}}
//! ```
//!
//! Any well-formed value is read. Maps retain order and repeated keys; text need not be UTF-8; a float of any width
//! is one of 64 bits. Values that JSON lacks have the form of [`lossless`](super::lossless) on the tape too: a tag is
//! an object with the key `$tag`, a simple value (such as undefined) one with `$simple`, and a string in chunks one with
//! `$str` or `$bin`. No allocation depends on a count from the wire.
//!
//! The output is that of section 4.1, preferred serialization: the shortest form of all values, unless
//! `{"$as":["_1",5]}` requests another one.

mod float;
mod head;
mod write;

use crate::error::{DecodeError, show_byte};
use crate::span::Span;
use crate::tape::{FormKey, Scalar, Shape, Sink};
use float::{of_half, of_single};
use head::Head;
pub(crate) use head::{Inside, head_size};
pub(super) use write::width;
pub use write::{MAX_DEPTH, write};

/// The byte that ends a value without a length.
const BREAK: u8 = 0xff;

/// Parses one value that fills `span` of `bytes`, at most `depth` levels deep; a tag is a level.
pub fn parse<S: Sink>(
    bytes: &[u8],
    span: Span,
    depth: u32,
    sink: &mut S,
) -> Result<(), DecodeError> {
    let end = span.end().min(bytes.len());
    let mut parser = CborParser {
        bytes: bytes.get(..end).unwrap_or_default(),
        at: span.at(),
        depth,
    };
    if parser.at >= end {
        return Err(DecodeError::new(
            "empty",
            span,
            "message",
            "a CBOR value",
            "nothing",
        ));
    }
    parser
        .value(sink)
        .map_err(|violation| explain(*violation, bytes, span, depth))?;
    if parser.at < end {
        let rest = Span::new(parser.at, end);
        let is_value = measure(rest.of(bytes), depth).ok().flatten() == Some(end - parser.at);
        return Err(super::trailing(rest, is_value));
    }
    Ok(())
}

/// Returns the length of the value at the start of `bytes`; `None` if it is not complete.
pub fn measure(bytes: &[u8], depth: u32) -> Result<Option<usize>, DecodeError> {
    let mut parser = CborParser {
        bytes,
        at: 0,
        depth,
    };
    match parser.value(&mut super::Nothing) {
        Ok(()) => Ok(Some(parser.at)),
        Err(violation) if matches!(*violation, CborError::Ends { .. }) => Ok(None),
        Err(violation) => Err(explain(*violation, bytes, Span::new(0, bytes.len()), depth)),
    }
}

/// A parse error; [`explain`] converts it. Functions return it boxed, so that a result fits in one
/// register.
#[derive(Clone, Copy)]
enum CborError {
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

#[cold]
fn explain(violation: CborError, bytes: &[u8], span: Span, depth: u32) -> DecodeError {
    match violation {
        CborError::Ends { at, need, what } => {
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
        CborError::Byte { at, field, wanted } => {
            let got = show_byte(bytes.get(at).copied().unwrap_or(BREAK));
            DecodeError::new("bad-cbor", Span::new(at, at + 1), field, wanted, got)
        }
        CborError::Deep { at } => super::too_deep(at, depth),
    }
}

struct CborParser<'a> {
    bytes: &'a [u8],
    at: usize,
    depth: u32,
}

impl<'a> CborParser<'a> {
    /// Boxed, so that a result takes one register.
    #[cold]
    #[allow(clippy::unnecessary_box_returns)]
    fn ends(&self, need: u64, what: &'static str) -> Box<CborError> {
        let at = self.at;
        CborError::Ends { at, need, what }.into()
    }

    /// Reads an initial byte and its argument.
    #[inline]
    fn head(&mut self) -> Result<Head, Box<CborError>> {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        match Head::read(rest) {
            Some((head, size)) => {
                self.at += size;
                Ok(head)
            }
            None => self.no_head(rest.first().copied()),
        }
    }

    #[cold]
    fn no_head<T>(&mut self, initial: Option<u8>) -> Result<T, Box<CborError>> {
        let at = self.at;
        match initial.map(|byte| byte & 31) {
            None => Err(self.ends(1, "value")),
            Some(28..) => Err(CborError::Byte {
                at,
                field: "initial byte",
                wanted: "additional information of 0 to 27 (or 31 for strings, arrays and maps)",
            }
            .into()),
            Some(info) => {
                self.at += 1;
                Err(self.ends(1 << info.saturating_sub(24), "argument"))
            }
        }
    }

    /// Reads the content of a string.
    #[inline]
    fn run(&mut self, len: u64, what: &'static str) -> Result<&'a [u8], Box<CborError>> {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let run = usize::try_from(len).ok().and_then(|len| rest.get(..len));
        match run {
            Some(run) => {
                self.at += run.len();
                Ok(run)
            }
            None => Err(self.ends(len, what)),
        }
    }

    /// Consumes the end of a value without a length, if it is here.
    fn is_break(&mut self) -> bool {
        let found = self.bytes.get(self.at) == Some(&BREAK);
        self.at += usize::from(found);
        found
    }

    fn value<S: Sink>(&mut self, sink: &mut S) -> Result<(), Box<CborError>> {
        let start = self.at;
        let head = self.head()?;
        let scalar = match (head.major, head.argument) {
            (0, Some(n)) => Scalar::Uint(n),
            (1, Some(n)) => match i64::try_from(n) {
                Ok(n) => Scalar::Int(-1 - n),
                Err(_) => Scalar::Negative(n),
            },
            (2, Some(len)) => Scalar::Bin(self.run(len, "byte string")?),
            (3, Some(len)) => Scalar::Str(self.run(len, "text string")?),
            (2 | 3, None) => return self.chunks(start, head.major, sink),
            (4, count) => return self.array(start, count, sink),
            (5, count) => return self.map(start, count, sink),
            (6, Some(number)) => return self.tag(start, number, sink),
            (7, Some(n)) => match (head.info, n) {
                (25, n) => Scalar::F64(of_half(n as u16)),
                (26, n) => Scalar::F64(of_single(n as u32)),
                (27, n) => Scalar::F64(n),
                (24, 0..=31) => {
                    return Err(CborError::Byte {
                        at: self.at - 1,
                        field: "simple value",
                        wanted: "32 to 255 in the second byte",
                    }
                    .into());
                }
                (_, 20) => Scalar::Bool(false),
                (_, 21) => Scalar::Bool(true),
                (_, 22) => Scalar::Null,
                (_, n) => return self.simple(start, n, sink),
            },
            _ => {
                return Err(CborError::Byte {
                    at: start,
                    field: "initial byte",
                    wanted: "a value",
                }
                .into());
            }
        };
        sink.scalar(Span::new(start, self.at), scalar);
        Ok(())
    }

    fn descend(&mut self, start: usize) -> Result<(), Box<CborError>> {
        match self.depth.checked_sub(1) {
            Some(left) => {
                self.depth = left;
                Ok(())
            }
            None => Err(CborError::Deep { at: start }.into()),
        }
    }

    fn array<S: Sink>(
        &mut self,
        start: usize,
        count: Option<u64>,
        sink: &mut S,
    ) -> Result<(), Box<CborError>> {
        self.descend(start)?;
        sink.open(start, Shape::Array);
        let mut left = count;
        while !self.is_end(&mut left) {
            sink.item();
            self.value(sink)?;
        }
        sink.close(self.at);
        self.depth += 1;
        Ok(())
    }

    fn map<S: Sink>(
        &mut self,
        start: usize,
        count: Option<u64>,
        sink: &mut S,
    ) -> Result<(), Box<CborError>> {
        self.descend(start)?;
        sink.open(start, Shape::Map);
        let mut left = count;
        while !self.is_end(&mut left) {
            sink.key();
            self.value(sink)?;
            sink.value();
            if self.bytes.get(self.at) == Some(&BREAK) {
                return Err(CborError::Byte {
                    at: self.at,
                    field: "map",
                    wanted: "a value for the last key",
                }
                .into());
            }
            self.value(sink)?;
        }
        sink.close(self.at);
        self.depth += 1;
        Ok(())
    }

    /// Counts an element of an array or a map. Returns `true` after the last one.
    #[inline]
    fn is_end(&mut self, left: &mut Option<u64>) -> bool {
        match left {
            None => self.is_break(),
            Some(0) => true,
            Some(left) => {
                *left -= 1;
                false
            }
        }
    }

    /// Opens an object with one key.
    fn open_form<S: Sink>(start: usize, key: FormKey, sink: &mut S) {
        sink.open(start, Shape::Map);
        sink.label(start, key.id(), key.name());
    }

    /// Reports `{"$tag":[number,value]}`.
    fn tag<S: Sink>(
        &mut self,
        start: usize,
        number: u64,
        sink: &mut S,
    ) -> Result<(), Box<CborError>> {
        self.descend(start)?;
        Self::open_form(start, FormKey::Tag, sink);
        sink.open(start, Shape::Array);
        sink.item();
        sink.scalar(Span::new(start, self.at), Scalar::Uint(number));
        sink.item();
        self.value(sink)?;
        sink.close(self.at);
        sink.close(self.at);
        self.depth += 1;
        Ok(())
    }

    /// Reports `{"$simple":number}`.
    #[allow(clippy::unnecessary_wraps)] // as its siblings
    fn simple<S: Sink>(
        &mut self,
        start: usize,
        number: u64,
        sink: &mut S,
    ) -> Result<(), Box<CborError>> {
        Self::open_form(start, FormKey::Simple, sink);
        sink.scalar(Span::new(start, self.at), Scalar::Uint(number));
        sink.close(self.at);
        Ok(())
    }

    /// Reports the chunks of a string: `{"$str":["a","b"]}`.
    fn chunks<S: Sink>(
        &mut self,
        start: usize,
        major: u8,
        sink: &mut S,
    ) -> Result<(), Box<CborError>> {
        let is_text = major == 3;
        let key = if is_text {
            FormKey::Text
        } else {
            FormKey::Bytes
        };
        Self::open_form(start, key, sink);
        sink.open(start, Shape::Array);
        while !self.is_break() {
            let at = self.at;
            let chunk = self.head()?;
            // RFC 8949 section 3.2.3: chunks MUST be definite-length strings of the same major type.
            let (true, Some(len)) = (chunk.major == major, chunk.argument) else {
                return Err(CborError::Byte {
                    at,
                    field: "chunk",
                    wanted: if is_text {
                        "a text string with a length"
                    } else {
                        "a byte string with a length"
                    },
                }
                .into());
            };
            let content = self.run(len, "chunk")?;
            sink.item();
            let value = if is_text {
                Scalar::Str(content)
            } else {
                Scalar::Bin(content)
            };
            sink.scalar(Span::new(at, self.at), value);
        }
        sink.close(self.at);
        sink.close(self.at);
        Ok(())
    }
}

#[cfg(test)]
mod tests;
