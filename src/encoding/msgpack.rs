//! `MessagePack`, as in <https://github.com/msgpack/msgpack/blob/master/spec.md>.
//!
//! Any width is read and shown as its number; maps retain order and repeated keys; text need not be
//! UTF-8. No allocation depends on a count from the wire: a count that exceeds the bytes ends at
//! their end.
//!
//! The output is canonical: the shortest form of all values, and floats in 64 bits, unless
//! `{"$as":["u32",5]}` requests another width.

mod write;

use crate::error::{DecodeError, show_byte};
use crate::span::Span;
use crate::tape::{Node, Scalar, Shape, Sink, Tape};
pub(crate) use write::write_plain;
pub use write::{MAX_DEPTH, write};
pub(super) use write::{shortest, width_name};

/// Parses one value that fills `span` of `bytes`, at most `depth` levels deep.
pub fn parse<S: Sink>(
    bytes: &[u8],
    span: Span,
    depth: u32,
    sink: &mut S,
) -> Result<(), DecodeError> {
    let end = span.end().min(bytes.len());
    let mut parser = MsgpackParser {
        bytes: bytes.get(..end).unwrap_or_default(),
        at: span.at(),
        depth,
    };
    if parser.at >= end {
        return Err(DecodeError::new(
            "empty",
            span,
            "message",
            "a MessagePack value",
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
    let mut parser = MsgpackParser {
        bytes,
        at: 0,
        depth,
    };
    match parser.value(&mut super::Nothing) {
        Ok(()) => Ok(Some(parser.at)),
        Err(violation) if matches!(*violation, MsgpackError::Ends { .. }) => Ok(None),
        Err(violation) => Err(explain(*violation, bytes, Span::new(0, bytes.len()), depth)),
    }
}

/// A parse error; [`explain`] converts it. Functions return it boxed, so that a result fits in one
/// register.
#[derive(Clone, Copy)]
enum MsgpackError {
    Ends {
        at: usize,
        need: u64,
        what: &'static str,
    },
    Marker {
        at: usize,
    },
    Deep {
        at: usize,
    },
}

#[cold]
fn explain(violation: MsgpackError, bytes: &[u8], span: Span, depth: u32) -> DecodeError {
    match violation {
        MsgpackError::Ends { at, need, what } => {
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
        MsgpackError::Marker { at } => {
            let got = show_byte(bytes.get(at).copied().unwrap_or(0xc1));
            DecodeError::new(
                "bad-msgpack",
                Span::new(at, at + 1),
                "marker",
                "a MessagePack type byte",
                got,
            )
        }
        MsgpackError::Deep { at } => super::too_deep(at, depth),
    }
}

struct MsgpackParser<'a> {
    bytes: &'a [u8],
    at: usize,
    depth: u32,
}

impl<'a> MsgpackParser<'a> {
    /// Boxed, so that a result takes one register.
    #[cold]
    #[allow(clippy::unnecessary_box_returns)]
    fn ends(&self, need: u64, what: &'static str) -> Box<MsgpackError> {
        let at = self.at;
        MsgpackError::Ends { at, need, what }.into()
    }

    #[inline]
    fn take<const N: usize>(&mut self, what: &'static str) -> Result<[u8; N], Box<MsgpackError>> {
        match self.bytes.get(self.at..).and_then(|b| b.first_chunk::<N>()) {
            Some(chunk) => {
                self.at += N;
                Ok(*chunk)
            }
            None => Err(self.ends(N as u64, what)),
        }
    }

    #[inline]
    fn run(&mut self, len: u32, what: &'static str) -> Result<&'a [u8], Box<MsgpackError>> {
        match self
            .bytes
            .get(self.at..)
            .and_then(|b| b.get(..len as usize))
        {
            Some(run) => {
                self.at += len as usize;
                Ok(run)
            }
            None => Err(self.ends(len as u64, what)),
        }
    }

    #[inline]
    fn len8(&mut self) -> Result<u32, Box<MsgpackError>> {
        Ok(self.take::<1>("length")?[0] as u32)
    }

    #[inline]
    fn len16(&mut self) -> Result<u32, Box<MsgpackError>> {
        Ok(u16::from_be_bytes(self.take("length")?) as u32)
    }

    #[inline]
    fn len32(&mut self) -> Result<u32, Box<MsgpackError>> {
        Ok(u32::from_be_bytes(self.take("length")?))
    }

    fn value<S: Sink>(&mut self, sink: &mut S) -> Result<(), Box<MsgpackError>> {
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
            0xa0..=0xbf => Scalar::Str(self.run((marker & 31) as u32, "str")?),
            0xc0 => Scalar::Null,
            0xc1 => return Err(MsgpackError::Marker { at: start }.into()),
            0xc2 => Scalar::Bool(false),
            0xc3 => Scalar::Bool(true),
            0xc4..=0xc6 => {
                let len = self.length(marker - 0xc4)?;
                Scalar::Bin(self.run(len, "bin")?)
            }
            0xc7..=0xc9 => {
                let len = self.length(marker - 0xc7)?;
                let [kind] = self.take::<1>("ext type")?;
                Scalar::Ext(kind.cast_signed(), self.run(len, "ext")?)
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
                Scalar::Str(self.run(len, "str")?)
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
    fn length(&mut self, width: u8) -> Result<u32, Box<MsgpackError>> {
        match width {
            0 => self.len8(),
            1 => self.len16(),
            _ => self.len32(),
        }
    }

    /// Reads text whose length is in a fixstr marker.
    #[inline(always)]
    fn short_text<S: Sink>(
        &mut self,
        start: usize,
        marker: u8,
        sink: &mut S,
    ) -> Result<(), Box<MsgpackError>> {
        let text = self.run((marker & 31) as u32, "str")?;
        sink.scalar(Span::new(start, self.at), Scalar::Str(text));
        Ok(())
    }

    /// Reads a key: nearly always a fixstr, which is not worth a call.
    #[inline(always)]
    fn key<S: Sink>(&mut self, sink: &mut S) -> Result<(), Box<MsgpackError>> {
        sink.key();
        match self.bytes.get(self.at) {
            Some(&marker @ 0xa0..=0xbf) => {
                self.at += 1;
                self.short_text(self.at - 1, marker, sink)
            }
            _ => self.value(sink),
        }
    }

    fn descend(&mut self, start: usize) -> Result<(), Box<MsgpackError>> {
        match self.depth.checked_sub(1) {
            Some(left) => {
                self.depth = left;
                Ok(())
            }
            None => Err(MsgpackError::Deep { at: start }.into()),
        }
    }

    fn array<S: Sink>(
        &mut self,
        start: usize,
        count: u32,
        sink: &mut S,
    ) -> Result<(), Box<MsgpackError>> {
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

    fn map<S: Sink>(
        &mut self,
        start: usize,
        count: u32,
        sink: &mut S,
    ) -> Result<(), Box<MsgpackError>> {
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
