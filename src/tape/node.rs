//! Values of a tape: kind, position and children.

use super::{EntryKind, FormKey, KeyName, Scalar, Tape, TapeEntry};
use crate::span::{Span, SpannedText};
use std::borrow::Cow;

/// A value in a tape, with the bytes that it refers to. `Copy`: pass it by value.
#[derive(Clone, Copy)]
pub struct Node<'a> {
    pub(super) tape: &'a Tape,
    pub(super) bytes: &'a [u8],
    pub(super) index: u32,
}

impl std::fmt::Debug for Node<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut fields = f.debug_struct("Node");
        fields.field("span", &self.span());
        fields.field("value", &self.value()).finish_non_exhaustive()
    }
}

/// The kind of a node.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Value<'a> {
    /// A value without children.
    Scalar(Scalar<'a>),
    /// A key from a schema.
    Label(&'a str),
    /// Values in order.
    Array,
    /// Keys and values.
    Map,
}

impl<'a> Node<'a> {
    /// Returns its index in the tape, for tables by node.
    pub fn index(self) -> usize {
        self.index as usize
    }

    /// Returns the index after it and everything below it.
    pub fn end(self) -> usize {
        self.tape.after(self.tape.entry(self.index), self.index())
    }

    /// Returns the bytes that its spans refer to.
    pub fn bytes(self) -> &'a [u8] {
        self.bytes
    }

    /// Returns the span of its whole encoding, header included.
    pub fn span(self) -> Span {
        let e = self.tape.entry(self.index);
        Span {
            start: e.start,
            len: e.len,
        }
    }

    /// Returns the content of text or bytes: the end of the encoding, without its last `tail`
    /// bytes.
    #[inline]
    fn content(self, e: &TapeEntry, tail: usize) -> &'a [u8] {
        let end = (e.start as usize + e.len as usize).saturating_sub(tail);
        let start = end.saturating_sub(e.bits as usize);
        self.bytes.get(start..end).unwrap_or_default()
    }

    /// Returns the name of a name or label.
    #[inline]
    fn name(self, e: &TapeEntry) -> &'a str {
        let index = if e.is_wide {
            self.tape.wide(e).next
        } else {
            e.bits
        };
        let name = self.tape.names.get(index as usize);
        name.or_else(|| FormKey::named(index))
            .map_or("", KeyName::as_str)
    }

    /// Returns the value.
    pub fn value(self) -> Value<'a> {
        let e = self.tape.entry(self.index);
        let wide = || self.tape.wide(e);
        Value::Scalar(match e.kind {
            EntryKind::Null => Scalar::Null,
            EntryKind::Bool => Scalar::Bool(e.bits != 0),
            EntryKind::BoolByte => Scalar::BoolByte(e.bits as u8),
            EntryKind::Uint => Scalar::Uint(if e.is_wide {
                wide().bits
            } else {
                e.bits.into()
            }),
            EntryKind::Int if e.is_wide => Scalar::Int(wide().bits.cast_signed()),
            EntryKind::Int => Scalar::Int(e.bits.cast_signed().into()),
            EntryKind::Negative => Scalar::Negative(wide().bits),
            EntryKind::F32 => Scalar::F32(e.bits),
            EntryKind::F64 => Scalar::F64(wide().bits),
            EntryKind::Number => Scalar::Number(self.span().of(self.bytes)),
            EntryKind::Str => Scalar::Str(self.content(e, 0)),
            EntryKind::Json => Scalar::Json(self.content(e, 1), false),
            EntryKind::JsonEscaped => Scalar::Json(self.content(e, 1), true),
            EntryKind::Bin => Scalar::Bin(self.content(e, 0)),
            EntryKind::Ext => Scalar::Ext(e.ext, self.content(e, 0)),
            EntryKind::Name => Scalar::Name(wide().bits.cast_signed(), wide().next, self.name(e)),
            EntryKind::Label => return Value::Label(self.name(e)),
            EntryKind::Array => return Value::Array,
            EntryKind::Map => return Value::Map,
        })
    }

    /// Returns `true` for a map.
    pub fn is_map(self) -> bool {
        self.tape.entry(self.index).kind == EntryKind::Map
    }

    /// Returns `true` for an array.
    pub fn is_array(self) -> bool {
        self.tape.entry(self.index).kind == EntryKind::Array
    }

    /// Returns `true` for null.
    pub fn is_null(self) -> bool {
        self.tape.entry(self.index).kind == EntryKind::Null
    }

    /// Returns its children in order; for a map, keys and values alternate.
    #[inline]
    pub fn children(self) -> Children<'a> {
        let e = self.tape.entry(self.index);
        let end = if matches!(e.kind, EntryKind::Array | EntryKind::Map) {
            self.tape.end(e)
        } else {
            0
        };
        Children {
            node: Node {
                index: self.index + 1,
                ..self
            },
            end,
        }
    }

    /// Returns the number of children that the tape omitted; keys and values count separately.
    pub fn omitted(self) -> usize {
        let e = self.tape.entry(self.index);
        match e.kind {
            EntryKind::Array | EntryKind::Map if e.is_wide => self.tape.wide(e).bits as usize,
            _ => 0,
        }
    }

    /// Returns the number of elements before this one that a lookup omitted, if it is the first one after such elements.
    pub(crate) fn omitted_before(self) -> Option<usize> {
        self.tape.focus.as_ref()?.omitted_before(self.index)
    }

    /// Returns the number of members or elements, stored or omitted.
    pub fn count(self) -> usize {
        let all = self.children().count() + self.omitted();
        if self.is_map() { all / 2 } else { all }
    }

    /// Returns a map's keys and values; for an array, its elements in pairs.
    #[inline]
    pub fn members(self) -> impl Iterator<Item = (Node<'a>, Node<'a>)> {
        Members(self.children())
    }

    /// Calls `visit` with this node and every one below it, in order.
    pub fn each(self, visit: &mut dyn FnMut(Node<'a>)) {
        let mut index = self.index();
        let end = self.tape.after(self.tape.entry(self.index), index);
        while index < end {
            visit(Node {
                index: index as u32,
                ..self
            });
            index += 1;
        }
    }

    /// Returns the value of a text key; the last one if the key is repeated, as in most peers.
    pub fn get(self, key: &str) -> Option<Node<'a>> {
        let e = self.tape.entry(self.index);
        if e.kind != EntryKind::Map {
            return None;
        }
        let end = self.tape.end(e) as usize;
        let entries = self.tape.entries.get(..end).unwrap_or_default();
        let (mut at, mut found) = (self.index() + 1, None);
        while let Some(name) = entries.get(at) {
            let value = entries.get(at + 1);
            if self.is_text_of(name, key) {
                let index = at as u32 + 1;
                found = value.map(|_| Node { index, ..self });
            }
            at = value.map_or(end, |value| self.tape.after(value, at + 1));
        }
        found
    }

    /// Returns the `n`th element of an array.
    pub fn at(self, n: usize) -> Option<Node<'a>> {
        if self.is_array() {
            self.children().nth(n)
        } else {
            None
        }
    }

    /// Returns the bytes of its text with unresolved escapes; empty if it is not text.
    #[inline]
    pub(crate) fn raw_text(self) -> &'a [u8] {
        let e = self.tape.entry(self.index);
        match e.kind {
            EntryKind::Str => self.content(e, 0),
            EntryKind::Json | EntryKind::JsonEscaped => self.content(e, 1),
            _ => b"",
        }
    }

    /// Returns the raw bytes of text or of bytes.
    #[inline]
    pub(crate) fn raw_content(self) -> Option<&'a [u8]> {
        let e = self.tape.entry(self.index);
        match e.kind {
            EntryKind::Str | EntryKind::Bin | EntryKind::Ext => Some(self.content(e, 0)),
            EntryKind::Json | EntryKind::JsonEscaped => Some(self.content(e, 1)),
            _ => None,
        }
    }

    /// Returns the bytes of a key of text or of bytes, escapes resolved; empty if it is another value.
    #[inline]
    pub(crate) fn key_content(self) -> Cow<'a, [u8]> {
        let e = self.tape.entry(self.index);
        match e.kind {
            EntryKind::Bin => Cow::Borrowed(self.content(e, 0)),
            _ => self.key_bytes(),
        }
    }

    /// Returns the bytes of a key, escapes resolved; empty if it is not text.
    #[inline]
    pub(crate) fn key_bytes(self) -> Cow<'a, [u8]> {
        let e = self.tape.entry(self.index);
        match e.kind {
            EntryKind::JsonEscaped => self.resolved(),
            EntryKind::Label => Cow::Borrowed(self.name(e).as_bytes()),
            _ => Cow::Borrowed(self.raw_text()),
        }
    }

    #[cold]
    fn resolved(self) -> Cow<'a, [u8]> {
        match self.text() {
            Some(Cow::Owned(text)) => Cow::Owned(text.into_bytes()),
            Some(Cow::Borrowed(text)) => Cow::Borrowed(text.as_bytes()),
            None => Cow::Borrowed(b""),
        }
    }

    /// Returns `true` if it is exactly this text.
    #[inline]
    pub fn is_text(self, text: &str) -> bool {
        self.is_text_of(self.tape.entry(self.index), text)
    }

    /// Returns `true` if an entry of its tape is exactly this text. Rules look up many keys of each message, and most
    /// keys already differ in length.
    #[inline(always)]
    pub(super) fn is_text_of(self, e: &TapeEntry, text: &str) -> bool {
        match e.kind {
            EntryKind::Str | EntryKind::Json if e.bits as usize != text.len() => false,
            EntryKind::Str => self.content(e, 0) == text.as_bytes(),
            EntryKind::Json => self.content(e, 1) == text.as_bytes(),
            EntryKind::JsonEscaped => self.is_escaped_text(e, text),
            EntryKind::Label => self.name(e) == text,
            _ => false,
        }
    }

    #[cold]
    fn is_escaped_text(self, e: &TapeEntry, text: &str) -> bool {
        let raw = std::str::from_utf8(self.content(e, 1));
        raw.is_ok_and(|raw| unescape(raw) == text)
    }

    /// Returns its text, escapes resolved; `None` if it is not text or not UTF-8.
    pub fn text(self) -> Option<Cow<'a, str>> {
        let e = self.tape.entry(self.index);
        let text = |tail| std::str::from_utf8(self.content(e, tail)).ok();
        match e.kind {
            EntryKind::Str => text(0).map(Cow::Borrowed),
            EntryKind::Json => text(1).map(Cow::Borrowed),
            EntryKind::JsonEscaped => text(1).map(unescape),
            EntryKind::Name | EntryKind::Label => Some(Cow::Borrowed(self.name(e))),
            _ => None,
        }
    }

    /// Returns its text and position; `None` if it is not text or not UTF-8.
    pub fn spanned_text(self) -> Option<SpannedText<'a>> {
        Some(SpannedText::new(self.text()?, self.span()))
    }

    /// Returns a number as written in JSON.
    pub(crate) fn number_text(self) -> Option<&'a str> {
        match self.value() {
            Value::Scalar(Scalar::Number(s)) => std::str::from_utf8(s).ok(),
            _ => None,
        }
    }

    /// Returns `true` for text of any kind.
    pub fn is_string(self) -> bool {
        let kind = self.tape.entry(self.index).kind;
        matches!(
            kind,
            EntryKind::Str | EntryKind::Json | EntryKind::JsonEscaped
        )
    }

    /// Returns `true` for text without escapes.
    #[inline]
    pub(crate) fn is_plain_text(self) -> bool {
        let kind = self.tape.entry(self.index).kind;
        matches!(kind, EntryKind::Str | EntryKind::Json)
    }

    /// Returns `true` for a string of JSON, which is always UTF-8.
    pub(crate) fn is_json_string(self) -> bool {
        let kind = self.tape.entry(self.index).kind;
        matches!(kind, EntryKind::Json | EntryKind::JsonEscaped)
    }

    /// Returns its truth value.
    pub fn as_bool(self) -> Option<bool> {
        match self.value() {
            Value::Scalar(Scalar::Bool(v)) => Some(v),
            _ => None,
        }
    }

    /// Returns its whole number; also for a float without fraction (some peers write all numbers as
    /// floats).
    pub fn as_i128(self) -> Option<i128> {
        let whole =
            |f: f64| (f.fract() == 0.0 && f.abs() < 9_007_199_254_740_992.0).then_some(f as i128);
        match self.value() {
            Value::Scalar(Scalar::Uint(v)) => Some(v as i128),
            Value::Scalar(Scalar::Int(v) | Scalar::Name(v, ..)) => Some(v as i128),
            Value::Scalar(Scalar::Negative(v)) => Some(-1 - v as i128),
            Value::Scalar(Scalar::F64(v)) => whole(f64::from_bits(v)),
            Value::Scalar(Scalar::F32(v)) => whole(f32::from_bits(v) as f64),
            Value::Scalar(Scalar::Number(_)) => {
                let text = self.number_text()?;
                text.parse()
                    .ok()
                    .or_else(|| text.parse().ok().and_then(whole))
            }
            _ => None,
        }
    }

    /// Describes the kind of the value for an error message.
    pub fn describe(self) -> &'static str {
        match self.value() {
            Value::Scalar(s) => match s {
                Scalar::Null => "null",
                Scalar::Bool(_) | Scalar::BoolByte(_) => "a bool",
                Scalar::Uint(_) | Scalar::Int(_) | Scalar::Negative(_) | Scalar::Name(..) => {
                    "an integer"
                }
                Scalar::F32(_) | Scalar::F64(_) => "a float",
                Scalar::Number(s) if s.iter().any(|b| matches!(b, b'.' | b'e' | b'E')) => {
                    "a fraction"
                }
                Scalar::Number(_) => "an integer",
                Scalar::Str(_) | Scalar::Json(..) => "a string",
                Scalar::Bin(_) => "bytes",
                Scalar::Ext(..) => "an extension value",
            },
            Value::Label(_) => "a field name",
            Value::Array => "an array",
            Value::Map => "a map",
        }
    }
}

/// The children of a node; see [`Node::children`].
#[derive(Debug)]
pub struct Children<'a> {
    node: Node<'a>,
    end: u32,
}

impl<'a> Iterator for Children<'a> {
    type Item = Node<'a>;

    #[inline]
    fn next(&mut self) -> Option<Node<'a>> {
        if self.node.index >= self.end {
            return None;
        }
        let here = self.node;
        self.node.index = here.tape.after(here.tape.entry(here.index), here.index()) as u32;
        Some(here)
    }
}

/// The keys and values of a map.
struct Members<'a>(Children<'a>);

impl<'a> Iterator for Members<'a> {
    type Item = (Node<'a>, Node<'a>);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        Some((self.0.next()?, self.0.next()?))
    }
}

/// Resolves the escapes of valid JSON text. A lone surrogate becomes U+FFFD.
pub(crate) fn unescape(text: &str) -> Cow<'_, str> {
    let (mut out, mut rest) = (String::new(), text);
    while let Some(at) = memchr::memchr(b'\\', rest.as_bytes()) {
        out.reserve(rest.len());
        out.push_str(&rest[..at]);
        let escape = rest.as_bytes().get(at + 1).copied().unwrap_or(b'\\');
        rest = rest.get(at + 2..).unwrap_or_default();
        out.push(match escape {
            b'n' => '\n',
            b't' => '\t',
            b'r' => '\r',
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'u' => {
                let (c, used) = unicode_escape(rest);
                rest = rest.get(used..).unwrap_or_default();
                c
            }
            c => c as char,
        });
    }
    if rest.len() == text.len() {
        return Cow::Borrowed(text);
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// Returns the character of the text after `\u`, and the length of that text.
fn unicode_escape(text: &str) -> (char, usize) {
    let unit = |at: usize| {
        text.get(at..at + 4)
            .and_then(|h| u32::from_str_radix(h, 16).ok())
    };
    match unit(0) {
        Some(high @ 0xd800..=0xdbff) if text.get(4..6) == Some("\\u") => match unit(6) {
            Some(low @ 0xdc00..=0xdfff) => (
                char::from_u32(0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00))
                    .unwrap_or('\u{fffd}'),
                10,
            ),
            _ => ('\u{fffd}', 4),
        },
        Some(code) => (char::from_u32(code).unwrap_or('\u{fffd}'), 4),
        None => ('\u{fffd}', 0),
    }
}
