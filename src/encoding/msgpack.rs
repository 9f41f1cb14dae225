//! `MessagePack`, as in <https://github.com/msgpack/msgpack/blob/master/spec.md>.
//!
//! Any width is read and shown as its number; maps retain order and repeated keys; text need not be
//! UTF-8. No allocation depends on a count from the wire: a count that exceeds the bytes ends at
//! their end.
//!
//! The output is canonical: the shortest form of all values, and floats in 64 bits, unless
//! `{"$as":["u32",5]}` requests another width.

mod write;

use super::packed::{self, Packed, PackedError, Parser, Read};
use crate::error::DecodeError;
use crate::span::Span;
use crate::tape::{Node, Scalar, Shape, Sink, Tape};
pub use write::write;
pub(crate) use write::write_plain;
pub(super) use write::{shortest, width_name};

/// The maximum nesting depth of written values.
pub const MAX_DEPTH: u32 = packed::MAX_DEPTH;

/// The encoding.
pub(super) enum Msgpack {}

impl Packed for Msgpack {
    const VALUE: &'static str = "a MessagePack value";
    const FAULT: &'static str = "bad-msgpack";

    fn value<S: Sink>(parser: &mut Parser<'_, Self>, sink: &mut S) -> Read {
        parser.value(sink)
    }
}

/// Parses one value that fills `span` of `bytes`, at most `depth` levels deep.
pub fn parse<S: Sink>(
    bytes: &[u8],
    span: Span,
    depth: u32,
    sink: &mut S,
) -> Result<(), DecodeError> {
    packed::parse::<Msgpack, S>(bytes, span, depth, sink)
}

/// Returns the value with its direct children, stored in `tape`. If only a message's head is
/// needed, the original tape may be too shallow, and the value looks empty.
pub fn reach<'a>(node: Node<'a>, tape: &'a mut Tape) -> Node<'a> {
    if node.children().next().is_some() {
        return node;
    }
    tape.clear(1);
    match parse(node.bytes(), node.span(), MAX_DEPTH, tape) {
        Ok(()) => tape.root(node.bytes()).unwrap_or(node),
        Err(_) => node,
    }
}

/// Returns the length of the value at the start of `bytes`; `None` if it is not complete.
pub fn measure(bytes: &[u8], depth: u32) -> Result<Option<usize>, DecodeError> {
    packed::measure::<Msgpack>(bytes, depth)
}

impl Parser<'_, Msgpack> {
    #[inline]
    fn take<const N: usize>(&mut self, what: &'static str) -> Read<[u8; N]> {
        match self.bytes.get(self.at..).and_then(|b| b.first_chunk::<N>()) {
            Some(chunk) => {
                self.at += N;
                Ok(*chunk)
            }
            None => self.ends(N as u64, what),
        }
    }

    fn value<S: Sink>(&mut self, sink: &mut S) -> Read {
        let start = self.at;
        let [marker] = self.take::<1>("value")?;
        let signed = |v: i64| {
            if v < 0 {
                Scalar::Int(v)
            } else {
                Scalar::Uint(v.cast_unsigned())
            }
        };
        // The two most frequent kinds, separate from the rest so that their code stays short.
        if let 0xa0..=0xbf = marker {
            return self.short_text(start, marker, sink);
        }
        if let 0x00..=0x7f = marker {
            sink.scalar(Span::new(start, self.at), Scalar::Uint(marker as u64));
            return Ok(());
        }
        let scalar = match marker {
            0x00..=0x7f => Scalar::Uint(marker as u64),
            0x80..=0x8f => return self.map(start, (marker & 15) as u32, sink),
            0x90..=0x9f => return self.array(start, (marker & 15) as u32, sink),
            0xa0..=0xbf => Scalar::Str(self.run((marker & 31).into(), "str")?),
            0xc0 => Scalar::Null,
            0xc1 => {
                return Err(PackedError::Byte {
                    at: start,
                    field: "marker",
                    wanted: "a MessagePack type byte",
                }
                .into());
            }
            0xc2 => Scalar::Bool(false),
            0xc3 => Scalar::Bool(true),
            0xc4..=0xc6 => {
                let len = self.length(marker - 0xc4)?;
                Scalar::Bin(self.run(len.into(), "bin")?)
            }
            0xc7..=0xc9 => {
                let len = self.length(marker - 0xc7)?;
                let [kind] = self.take::<1>("ext type")?;
                Scalar::Ext(kind.cast_signed(), self.run(len.into(), "ext")?)
            }
            0xca => Scalar::F32(u32::from_be_bytes(self.take("float 32")?)),
            0xcb => Scalar::F64(u64::from_be_bytes(self.take("float 64")?)),
            0xcc => Scalar::Uint(self.take::<1>("uint 8")?[0] as u64),
            0xcd => Scalar::Uint(u16::from_be_bytes(self.take("uint 16")?) as u64),
            0xce => Scalar::Uint(u32::from_be_bytes(self.take("uint 32")?) as u64),
            0xcf => Scalar::Uint(u64::from_be_bytes(self.take("uint 64")?)),
            0xd0 => signed(i8::from_be_bytes(self.take("int 8")?) as i64),
            0xd1 => signed(i16::from_be_bytes(self.take("int 16")?) as i64),
            0xd2 => signed(i32::from_be_bytes(self.take("int 32")?) as i64),
            0xd3 => signed(i64::from_be_bytes(self.take("int 64")?)),
            0xd4..=0xd8 => {
                let [kind] = self.take::<1>("ext type")?;
                Scalar::Ext(kind.cast_signed(), self.run(1 << (marker - 0xd4), "ext")?)
            }
            0xd9..=0xdb => {
                let len = self.length(marker - 0xd9)?;
                Scalar::Str(self.run(len.into(), "str")?)
            }
            0xdc | 0xdd => {
                let len = self.length(marker - 0xdb)?;
                return self.array(start, len, sink);
            }
            0xde | 0xdf => {
                let len = self.length(marker - 0xdd)?;
                return self.map(start, len, sink);
            }
            0xe0..=0xff => Scalar::Int(marker.cast_signed() as i64),
        };
        sink.scalar(Span::new(start, self.at), scalar);
        Ok(())
    }

    /// Reads a length of 1, 2 or 4 bytes.
    #[inline]
    fn length(&mut self, width: u8) -> Read<u32> {
        Ok(match width {
            0 => self.take::<1>("length")?[0].into(),
            1 => u16::from_be_bytes(self.take("length")?).into(),
            _ => u32::from_be_bytes(self.take("length")?),
        })
    }

    /// Reads text whose length is in a fixstr marker.
    #[inline(always)]
    fn short_text<S: Sink>(&mut self, start: usize, marker: u8, sink: &mut S) -> Read {
        let text = self.run((marker & 31).into(), "str")?;
        sink.scalar(Span::new(start, self.at), Scalar::Str(text));
        Ok(())
    }

    /// Reads a key: nearly always a fixstr, which is not worth a call.
    #[inline(always)]
    fn key<S: Sink>(&mut self, sink: &mut S) -> Read {
        sink.key();
        match self.bytes.get(self.at) {
            Some(&marker @ 0xa0..=0xbf) => {
                self.at += 1;
                self.short_text(self.at - 1, marker, sink)
            }
            _ => self.value(sink),
        }
    }

    fn array<S: Sink>(&mut self, start: usize, count: u32, sink: &mut S) -> Read {
        self.descend(start)?;
        sink.open(start, Shape::Array);
        for _ in 0..count {
            sink.item();
            self.value(sink)?;
        }
        sink.close(self.at);
        self.depth += 1;
        Ok(())
    }

    fn map<S: Sink>(&mut self, start: usize, count: u32, sink: &mut S) -> Read {
        self.descend(start)?;
        sink.open(start, Shape::Map);
        for _ in 0..count {
            self.key(sink)?;
            sink.value();
            self.value(sink)?;
        }
        sink.close(self.at);
        self.depth += 1;
        Ok(())
    }
}

#[cfg(test)]
mod tests;
