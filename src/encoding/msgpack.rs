//! `MessagePack`, as <https://github.com/msgpack/msgpack/blob/master/spec.md> has it.
//!
//! Any width is read and shown as the number it stands for; maps keep order and repeated keys; text need not be
//! UTF-8. Nothing is allocated by a count from the wire: a count that the bytes cannot hold runs into their end.
//!
//! What is written is canonical, the shortest form of everything and floats in 64 bits, unless it is told otherwise by
//! `{"$as":["u32",5]}`.

// Long: parser, measure and writer side by side, as in every encoding.

use super::lossless::{Form, form, quote, text};
use crate::error::{DecodeError, Refusal, show_byte};
use crate::span::Span;
use crate::tape::{Node, Scalar, Shape, Sink, Tape, Value};

/// Parses one value that fills `span` of `bytes`, at most `depth` levels deep.
pub fn parse<S: Sink>(
    bytes: &[u8],
    span: Span,
    depth: u32,
    sink: &mut S,
) -> Result<(), DecodeError> {
    let end = span.end().min(bytes.len());
    let mut parser = Parser {
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
        .map_err(|flaw| explain(*flaw, bytes, span, depth))?;
    if parser.at < end {
        return Err(trailing(bytes, Span::new(parser.at, end), depth));
    }
    Ok(())
}

/// The same value with what is directly in it, which `tape` takes: where only a message's head was wanted, the tape that a
/// value stands in may not reach so far, and the value looks empty.
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

/// How many bytes the value at the start of `bytes` takes; `None` where it is not complete.
pub fn measure(bytes: &[u8], depth: u32) -> Result<Option<usize>, DecodeError> {
    let mut parser = Parser {
        bytes,
        at: 0,
        depth,
    };
    match parser.value(&mut super::Nothing) {
        Ok(()) => Ok(Some(parser.at)),
        Err(flaw) if matches!(*flaw, Flaw::Ends { .. }) => Ok(None),
        Err(flaw) => Err(explain(*flaw, bytes, Span::new(0, bytes.len()), depth)),
    }
}

fn trailing(bytes: &[u8], rest: Span, depth: u32) -> DecodeError {
    let error = DecodeError::new(
        "trailing-bytes",
        rest,
        "message",
        "the end",
        format!("{} more bytes", rest.len),
    );
    match measure(rest.of(bytes), depth) {
        Ok(Some(n)) if n == rest.len as usize => error.hint("two values are glued into one frame"),
        _ => error,
    }
}

/// What went wrong; [`explain`] turns it into an error. Steps return it boxed: all is well in one register.
#[derive(Clone, Copy)]
enum Flaw {
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
fn explain(flaw: Flaw, bytes: &[u8], span: Span, depth: u32) -> DecodeError {
    match flaw {
        Flaw::Ends { at, need, what } => {
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
        Flaw::Marker { at } => {
            let got = show_byte(bytes.get(at).copied().unwrap_or(0xc1));
            DecodeError::new(
                "bad-msgpack",
                Span::new(at, at + 1),
                "marker",
                "a MessagePack type byte",
                got,
            )
        }
        Flaw::Deep { at } => super::too_deep(at, depth),
    }
}

struct Parser<'a> {
    bytes: &'a [u8],
    at: usize,
    depth: u32,
}

impl<'a> Parser<'a> {
    /// Boxed, so that a result takes one register.
    #[cold]
    #[allow(clippy::unnecessary_box_returns)]
    fn ends(&self, need: u64, what: &'static str) -> Box<Flaw> {
        let at = self.at;
        Flaw::Ends { at, need, what }.into()
    }

    #[inline]
    fn take<const N: usize>(&mut self, what: &'static str) -> Result<[u8; N], Box<Flaw>> {
        match self.bytes.get(self.at..).and_then(|b| b.first_chunk::<N>()) {
            Some(chunk) => {
                self.at += N;
                Ok(*chunk)
            }
            None => Err(self.ends(N as u64, what)),
        }
    }

    #[inline]
    fn run(&mut self, len: u32, what: &'static str) -> Result<&'a [u8], Box<Flaw>> {
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
    fn len8(&mut self) -> Result<u32, Box<Flaw>> {
        Ok(self.take::<1>("length")?[0] as u32)
    }

    #[inline]
    fn len16(&mut self) -> Result<u32, Box<Flaw>> {
        Ok(u16::from_be_bytes(self.take("length")?) as u32)
    }

    #[inline]
    fn len32(&mut self) -> Result<u32, Box<Flaw>> {
        Ok(u32::from_be_bytes(self.take("length")?))
    }

    fn value<S: Sink>(&mut self, sink: &mut S) -> Result<(), Box<Flaw>> {
        let start = self.at;
        let [marker] = self.take::<1>("value")?;
        let signed = |v: i64| {
            if v < 0 {
                Scalar::Int(v)
            } else {
                Scalar::Uint(v.cast_unsigned())
            }
        };
        // The two that nearly every message is made of, apart from the rest so that they stay short.
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
            0xc1 => return Err(Flaw::Marker { at: start }.into()),
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

    /// A length of 1, 2 or 4 bytes.
    #[inline]
    fn length(&mut self, width: u8) -> Result<u32, Box<Flaw>> {
        match width {
            0 => self.len8(),
            1 => self.len16(),
            _ => self.len32(),
        }
    }

    /// What a fixstr marker before it says the length of.
    #[inline(always)]
    fn short_text<S: Sink>(
        &mut self,
        start: usize,
        marker: u8,
        sink: &mut S,
    ) -> Result<(), Box<Flaw>> {
        let text = self.run((marker & 31) as u32, "str")?;
        sink.scalar(Span::new(start, self.at), Scalar::Str(text));
        Ok(())
    }

    /// A key: nearly always a fixstr, which is not worth a call.
    #[inline(always)]
    fn key<S: Sink>(&mut self, sink: &mut S) -> Result<(), Box<Flaw>> {
        sink.key();
        match self.bytes.get(self.at) {
            Some(&marker @ 0xa0..=0xbf) => {
                self.at += 1;
                self.short_text(self.at - 1, marker, sink)
            }
            _ => self.value(sink),
        }
    }

    fn descend(&mut self, start: usize) -> Result<(), Box<Flaw>> {
        match self.depth.checked_sub(1) {
            Some(left) => {
                self.depth = left;
                Ok(())
            }
            None => Err(Flaw::Deep { at: start }.into()),
        }
    }

    fn array<S: Sink>(&mut self, start: usize, count: u32, sink: &mut S) -> Result<(), Box<Flaw>> {
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

    fn map<S: Sink>(&mut self, start: usize, count: u32, sink: &mut S) -> Result<(), Box<Flaw>> {
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

/// Levels of nesting that are written.
pub const MAX_DEPTH: u32 = 1000;

/// Names of the widths that a value may be asked to have, and the type byte of each.
const WIDTHS: &[(&str, u8)] = &[
    ("bin8", 0xc4),
    ("bin16", 0xc5),
    ("bin32", 0xc6),
    ("ext8", 0xc7),
    ("ext16", 0xc8),
    ("ext32", 0xc9),
    ("f32", 0xca),
    ("f64", 0xcb),
    ("u8", 0xcc),
    ("u16", 0xcd),
    ("u32", 0xce),
    ("u64", 0xcf),
    ("i8", 0xd0),
    ("i16", 0xd1),
    ("i32", 0xd2),
    ("i64", 0xd3),
    ("str8", 0xd9),
    ("str16", 0xda),
    ("str32", 0xdb),
    ("array16", 0xdc),
    ("array32", 0xdd),
    ("map16", 0xde),
    ("map32", 0xdf),
];

/// The name of the width that a type byte stands for; none where the value is all there is to say.
pub(super) fn width_name(marker: u8) -> Option<&'static str> {
    let found = WIDTHS.iter().find(|(_, m)| *m == marker);
    found.map(|(name, _)| *name)
}

/// The type byte of a value in its shortest form.
pub(super) fn shortest(node: Node<'_>) -> Option<u8> {
    Some(match node.value() {
        Value::Scalar(Scalar::Null) => 0xc0,
        Value::Scalar(Scalar::Bool(value)) => 0xc2 + u8::from(value),
        Value::Scalar(Scalar::Uint(value)) => int_marker(value.into())?,
        Value::Scalar(Scalar::Int(value)) => int_marker(value.into())?,
        Value::Scalar(Scalar::F64(_)) => 0xcb,
        Value::Scalar(Scalar::Str(text)) => STR.marker(text.len())?,
        Value::Scalar(Scalar::Bin(bytes)) => BIN.marker(bytes.len())?,
        Value::Scalar(Scalar::Ext(_, bytes)) => ext_marker(bytes.len())?,
        Value::Array => ARRAY.marker(node.children().count())?,
        Value::Map => MAP.marker(node.members().count())?,
        _ => return None,
    })
}

fn int_marker(value: i128) -> Option<u8> {
    let [low, ..] = value.to_le_bytes();
    Some(match value {
        -32..=0x7f => low,
        0x80..=0xff => 0xcc,
        0x100..=0xffff => 0xcd,
        0x1_0000..=0xffff_ffff => 0xce,
        0x1_0000_0000..=0xffff_ffff_ffff_ffff => 0xcf,
        -0x80..=-33 => 0xd0,
        -0x8000..=-0x81 => 0xd1,
        -0x8000_0000..=-0x8001 => 0xd2,
        -0x8000_0000_0000_0000..=-0x8000_0001 => 0xd3,
        _ => return None,
    })
}

fn ext_marker(len: usize) -> Option<u8> {
    match len {
        1 | 2 | 4 | 8 | 16 => Some(0xd4 + len.trailing_zeros() as u8),
        _ => EXT.marker(len),
    }
}

/// What begins with a length.
struct Run {
    noun: &'static str,
    /// The type byte that holds the length itself, and the least length that it cannot hold.
    fixed: (u8, usize),
    /// The type byte of the least width, and the bytes of that.
    least: (u8, u32),
}

const STR: Run = Run {
    noun: "a string",
    fixed: (0xa0, 32),
    least: (0xd9, 1),
};
const BIN: Run = Run {
    noun: "bytes",
    fixed: (0, 0),
    least: (0xc4, 1),
};
const EXT: Run = Run {
    noun: "an extension value",
    fixed: (0, 0),
    least: (0xc7, 1),
};
const ARRAY: Run = Run {
    noun: "an array",
    fixed: (0x90, 16),
    least: (0xdc, 2),
};
const MAP: Run = Run {
    noun: "a map",
    fixed: (0x80, 16),
    least: (0xde, 2),
};

impl Run {
    /// Every width: the type byte and the bytes of the length.
    fn widths(&self) -> impl Iterator<Item = (u8, u32)> {
        let (marker, least) = self.least;
        [1, 2, 4]
            .into_iter()
            .filter(move |bytes| *bytes >= least)
            .zip(marker..)
            .map(|(bytes, marker)| (marker, bytes))
    }

    fn marker(&self, len: usize) -> Option<u8> {
        let (fixed, end) = self.fixed;
        if len < end {
            return Some(fixed | len as u8);
        }
        let mut widths = self.widths();
        let found = widths.find(|(_, bytes)| len as u64 >> (8 * bytes) == 0);
        found.map(|(marker, _)| marker)
    }

    /// Writes the type byte and the length.
    fn write(&self, len: usize, asked: Asked<'_>, out: &mut Vec<u8>) -> Result<(), Refusal> {
        let too_long = |most: u64| {
            let wanted = format!("{} of length {most} or less", self.noun);
            Refusal::whole(wanted, format!("length {len}"))
        };
        let marker = match asked {
            Some((_, marker)) => marker,
            None => self.marker(len).ok_or_else(|| too_long(u32::MAX.into()))?,
        };
        out.push(marker);
        if let Some((_, bytes)) = self.widths().find(|(m, _)| *m == marker) {
            let most = u64::MAX >> (64 - 8 * bytes);
            if len as u64 > most {
                return Err(too_long(most));
            }
            push_be(len as i128, bytes, out);
        }
        Ok(())
    }

    /// A refusal where another sort of value was asked for.
    fn expects(&self, asked: Asked<'_>, node: Node<'_>) -> Result<(), Refusal> {
        match asked {
            Some((name, marker)) if !self.widths().any(|(m, _)| m == marker) => {
                Err(misfit(name, marker, node))
            }
            _ => Ok(()),
        }
    }
}

/// The last so many bytes of a number.
fn push_be(value: i128, bytes: u32, out: &mut Vec<u8>) {
    let all = value.to_be_bytes();
    out.extend_from_slice(all.get(all.len() - bytes as usize..).unwrap_or_default());
}

/// The name of a width, and its type byte.
type Asked<'a> = Option<(&'a str, u8)>;

#[cold]
fn misfit(name: &str, marker: u8, node: Node<'_>) -> Refusal {
    let runs = [STR, BIN, EXT, ARRAY, MAP];
    let run = runs
        .into_iter()
        .find(|run| run.widths().any(|(m, _)| m == marker));
    let noun = match (run, marker) {
        (Some(run), _) => run.noun,
        (None, 0xca | 0xcb) => "a number",
        _ => "an integer",
    };
    Refusal::whole(format!("{noun}, as {name} asks for"), quote(node))
}

/// Writes one value: JSON with the forms of [`lossless`](super::lossless), or what came as `MessagePack`.
pub fn write(node: Node<'_>, out: &mut Vec<u8>) -> Result<(), Refusal> {
    write_value(node, None, MAX_DEPTH, out)
}

fn write_value(
    node: Node<'_>,
    asked: Asked<'_>,
    depth: u32,
    out: &mut Vec<u8>,
) -> Result<(), Refusal> {
    match node.value() {
        Value::Scalar(Scalar::Number(_)) => write_number(node, asked, out),
        Value::Scalar(Scalar::Uint(value)) => write_int(value.into(), asked, node, out),
        Value::Scalar(Scalar::Int(value) | Scalar::Name(value, ..)) => {
            write_int(value.into(), asked, node, out)
        }
        Value::Scalar(Scalar::Json(..)) | Value::Label(_) => {
            STR.expects(asked, node)?;
            let text = text(node)?;
            write_run(&STR, text.as_bytes(), asked, out)
        }
        Value::Scalar(Scalar::Str(text)) => {
            STR.expects(asked, node)?;
            write_run(&STR, text, asked, out)
        }
        Value::Scalar(Scalar::Bin(bytes)) => {
            BIN.expects(asked, node)?;
            write_run(&BIN, bytes, asked, out)
        }
        Value::Scalar(Scalar::Ext(kind, bytes)) => {
            EXT.expects(asked, node)?;
            write_ext(kind, bytes, asked, out)
        }
        Value::Scalar(Scalar::F32(bits)) => write_f32(bits, asked, node, out),
        Value::Scalar(Scalar::F64(bits)) => write_f64(bits, asked, node, out),
        Value::Scalar(Scalar::OddBool(_)) => Err(no_odd_bool()),
        Value::Scalar(scalar @ (Scalar::Null | Scalar::Bool(_))) => {
            if let Some((name, marker)) = asked {
                return Err(misfit(name, marker, node));
            }
            out.push(match scalar {
                Scalar::Bool(false) => 0xc2,
                Scalar::Bool(true) => 0xc3,
                _ => 0xc0,
            });
            Ok(())
        }
        Value::Array => {
            ARRAY.expects(asked, node)?;
            ARRAY.write(node.children().count(), asked, out)?;
            let depth = level(depth)?;
            for (n, item) in node.children().enumerate() {
                write_value(item, None, depth, out).map_err(|r| r.at(n))?;
            }
            Ok(())
        }
        Value::Map => write_object(node, asked, depth, out),
    }
}

/// A map, or what an object stands for.
fn write_object(
    node: Node<'_>,
    asked: Asked<'_>,
    depth: u32,
    out: &mut Vec<u8>,
) -> Result<(), Refusal> {
    let is_json = |key: Node<'_>| matches!(key.value(), Value::Scalar(Scalar::Json(..)));
    let found = match node.members().next() {
        Some((key, _)) if is_json(key) => form(node)?,
        _ => Form::Object,
    };
    match found {
        Form::Object => {
            MAP.expects(asked, node)?;
            MAP.write(node.members().count(), asked, out)?;
            let depth = level(depth)?;
            for (key, value) in node.members() {
                let place = |r: Refusal| r.inside(&String::from_utf8_lossy(&key.key_bytes()));
                write_value(key, None, depth, out).map_err(place)?;
                write_value(value, None, depth, out).map_err(place)?;
            }
            Ok(())
        }
        Form::Map(pairs) => {
            MAP.expects(asked, node)?;
            let place = |r: Refusal| r.inside("$map");
            MAP.write(pairs.len(), asked, out).map_err(place)?;
            let depth = level(depth)?;
            for (n, (key, value)) in pairs.into_iter().enumerate() {
                let both = [key, value].into_iter().enumerate();
                for (side, value) in both {
                    let place = |r: Refusal| place(r.at(side).at(n));
                    write_value(value, None, depth, out).map_err(place)?;
                }
            }
            Ok(())
        }
        Form::As(name, value) => {
            let place = |r: Refusal| r.inside("$as");
            let known = WIDTHS.iter().find(|(n, _)| *n == name);
            let Some(&(name, marker)) = known.filter(|_| asked.is_none()) else {
                let names: Vec<_> = WIDTHS.iter().map(|(name, _)| *name).collect();
                let wanted = format!("one width, of {}", names.join(" "));
                return Err(place(Refusal::whole(wanted, format!("\"{name}\"")).at(0)));
            };
            write_value(value, Some((name, marker)), depth, out).map_err(|r| place(r.at(1)))
        }
        Form::Bin(bytes) => {
            BIN.expects(asked, node)?;
            write_run(&BIN, &bytes, asked, out)
        }
        Form::Str(text) => {
            STR.expects(asked, node)?;
            write_run(&STR, &text, asked, out)
        }
        Form::Ext(kind, bytes) => {
            EXT.expects(asked, node)?;
            write_ext(kind, &bytes, asked, out)
        }
        Form::F32(bits) => write_f32(bits, asked, node, out),
        Form::F64(bits) => write_f64(bits, asked, node, out),
        Form::Bool(_) => Err(no_odd_bool()),
    }
}

fn no_odd_bool() -> Refusal {
    Refusal::whole("true or false: MessagePack has no other bools", "$bool")
}

/// One level further in.
fn level(depth: u32) -> Result<u32, Refusal> {
    let wanted = || format!("at most {MAX_DEPTH} levels of nesting");
    let left = depth.checked_sub(1);
    left.ok_or_else(|| Refusal::whole(wanted(), format!("level {}", MAX_DEPTH + 1)))
}

fn write_number(node: Node<'_>, asked: Asked<'_>, out: &mut Vec<u8>) -> Result<(), Refusal> {
    let spelled = node.number_text().unwrap_or_default();
    let fraction = spelled.contains(['.', 'e', 'E']);
    match asked {
        Some((_, 0xca)) => {
            let value = spelled.parse().unwrap_or(f32::INFINITY);
            finite(value.is_finite(), node)?;
            write_f32(value.to_bits(), asked, node, out)
        }
        Some((_, 0xcb)) | None if fraction || asked.is_some() => {
            let value = spelled.parse().unwrap_or(f64::INFINITY);
            finite(value.is_finite(), node)?;
            write_f64(value.to_bits(), asked, node, out)
        }
        Some((name, marker)) if fraction => Err(misfit(name, marker, node)),
        _ => match spelled.parse() {
            Ok(value) => write_int(value, asked, node, out),
            Err(_) => Err(no_int(node)),
        },
    }
}

fn finite(is: bool, node: Node<'_>) -> Result<(), Refusal> {
    let wanted = "a number that a float can hold, or {\"$float\":\"hex bits\"}";
    is.then_some(())
        .ok_or_else(|| Refusal::whole(wanted, quote(node)))
}

fn no_int(node: Node<'_>) -> Refusal {
    Refusal::whole("an integer of -2^63 to 2^64-1", quote(node))
}

fn write_int(
    value: i128,
    asked: Asked<'_>,
    node: Node<'_>,
    out: &mut Vec<u8>,
) -> Result<(), Refusal> {
    let marker = int_marker(value).ok_or_else(|| no_int(node))?;
    let (name, marker) = asked.unwrap_or(("", marker));
    let bytes = match marker {
        0xcc..=0xcf => 1 << (marker - 0xcc),
        0xd0..=0xd3 => 1 << (marker - 0xd0),
        _ if asked.is_some() => return Err(misfit(name, marker, node)),
        _ => {
            out.push(marker);
            return Ok(());
        }
    };
    let bits = 8 * bytes;
    let (least, most) = if marker < 0xd0 {
        (0, u64::MAX as i128 >> (64 - bits))
    } else {
        (-1 << (bits - 1), (1 << (bits - 1)) - 1)
    };
    if !(least..=most).contains(&value) {
        let wanted = format!("an integer of {least} to {most}, as {name} asks for");
        return Err(Refusal::whole(wanted, quote(node)));
    }
    out.push(marker);
    push_be(value, bytes, out);
    Ok(())
}

fn write_f32(
    bits: u32,
    asked: Asked<'_>,
    node: Node<'_>,
    out: &mut Vec<u8>,
) -> Result<(), Refusal> {
    match asked {
        Some((name, marker)) if marker != 0xca => Err(misfit(name, marker, node)),
        _ => {
            out.push(0xca);
            out.extend_from_slice(&bits.to_be_bytes());
            Ok(())
        }
    }
}

fn write_f64(
    bits: u64,
    asked: Asked<'_>,
    node: Node<'_>,
    out: &mut Vec<u8>,
) -> Result<(), Refusal> {
    match asked {
        Some((name, marker)) if marker != 0xcb => Err(misfit(name, marker, node)),
        _ => {
            out.push(0xcb);
            out.extend_from_slice(&bits.to_be_bytes());
            Ok(())
        }
    }
}

fn write_run(run: &Run, bytes: &[u8], asked: Asked<'_>, out: &mut Vec<u8>) -> Result<(), Refusal> {
    run.write(bytes.len(), asked, out)?;
    out.extend_from_slice(bytes);
    Ok(())
}

fn write_ext(kind: i8, bytes: &[u8], asked: Asked<'_>, out: &mut Vec<u8>) -> Result<(), Refusal> {
    match ext_marker(bytes.len()) {
        Some(marker @ 0xd4..=0xd8) if asked.is_none() => out.push(marker),
        _ => EXT.write(bytes.len(), asked, out)?,
    }
    out.push(kind.cast_unsigned());
    out.extend_from_slice(bytes);
    Ok(())
}

#[cfg(test)]
mod tests;
