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

use super::packed::{self, Packed, PackedError, Parser, Read};
use crate::error::DecodeError;
use crate::span::Span;
use crate::tape::{FormKey, Scalar, Shape, Sink};
use float::{of_half, of_single};
use head::Head;
pub(crate) use head::{Inside, head_size};
pub(super) use write::width;
pub use write::write;

/// The byte that ends a value without a length.
const BREAK: u8 = 0xff;

/// The maximum nesting depth of written values.
pub const MAX_DEPTH: u32 = packed::MAX_DEPTH;

/// The encoding.
pub(super) enum Cbor {}

impl Packed for Cbor {
    const VALUE: &'static str = "a CBOR value";
    const FAULT: &'static str = "bad-cbor";

    fn value<S: Sink>(parser: &mut Parser<'_, Self>, sink: &mut S) -> Read {
        parser.value(sink)
    }
}

/// Parses one value that fills `span` of `bytes`, at most `depth` levels deep; a tag is a level.
pub fn parse<S: Sink>(
    bytes: &[u8],
    span: Span,
    depth: u32,
    sink: &mut S,
) -> Result<(), DecodeError> {
    packed::parse::<Cbor, S>(bytes, span, depth, sink)
}

/// Returns the length of the value at the start of `bytes`; `None` if it is not complete.
pub fn measure(bytes: &[u8], depth: u32) -> Result<Option<usize>, DecodeError> {
    packed::measure::<Cbor>(bytes, depth)
}

impl Parser<'_, Cbor> {
    /// Reads an initial byte and its argument.
    #[inline]
    fn head(&mut self) -> Read<Head> {
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
    fn no_head<T>(&mut self, initial: Option<u8>) -> Read<T> {
        let at = self.at;
        match initial.map(|byte| byte & 31) {
            None => self.ends(1, "value"),
            Some(28..) => Err(PackedError::Byte {
                at,
                field: "initial byte",
                wanted: "additional information of 0 to 27 (or 31 for strings, arrays and maps)",
            }
            .into()),
            Some(info) => {
                self.at += 1;
                self.ends(1 << info.saturating_sub(24), "argument")
            }
        }
    }

    /// Consumes the end of a value without a length, if it is here.
    fn is_break(&mut self) -> bool {
        let found = self.bytes.get(self.at) == Some(&BREAK);
        self.at += usize::from(found);
        found
    }

    fn value<S: Sink>(&mut self, sink: &mut S) -> Read {
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
                    return Err(PackedError::Byte {
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
                return Err(PackedError::Byte {
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

    fn array<S: Sink>(&mut self, start: usize, count: Option<u64>, sink: &mut S) -> Read {
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

    fn map<S: Sink>(&mut self, start: usize, count: Option<u64>, sink: &mut S) -> Read {
        self.descend(start)?;
        sink.open(start, Shape::Map);
        let mut left = count;
        while !self.is_end(&mut left) {
            sink.key();
            self.value(sink)?;
            sink.value();
            if self.bytes.get(self.at) == Some(&BREAK) {
                return Err(PackedError::Byte {
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
    fn tag<S: Sink>(&mut self, start: usize, number: u64, sink: &mut S) -> Read {
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
    fn simple<S: Sink>(&mut self, start: usize, number: u64, sink: &mut S) -> Read {
        Self::open_form(start, FormKey::Simple, sink);
        sink.scalar(Span::new(start, self.at), Scalar::Uint(number));
        sink.close(self.at);
        Ok(())
    }

    /// Reports the chunks of a string: `{"$str":["a","b"]}`.
    fn chunks<S: Sink>(&mut self, start: usize, major: u8, sink: &mut S) -> Read {
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
                return Err(PackedError::Byte {
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
