//! The tape: a flat, reusable list of what a body holds and where.
//!
//! ```text
//!   bytes   82 a2 6f 6b c3 a3 73 65 71 07          {"ok": true, "seq": 7}
//!   tape    Map 0..10 ┬ Str 1..4 "ok"  ─ Bool 4..5 true
//!                     └ Str 5..9 "seq" ─ Uint 9..10 7
//! ```
//!
//! An encoding walks bytes once and tells a [`Sink`] what it meets; [`Tape`] is the sink that remembers. It holds no
//! bytes, only spans, kinds and the values of numbers, so it can be kept and reused from message to message without
//! allocating. [`Node`] is a place in it: `Copy`, borrowed, cheap.

// Long: the tape, what writes it and what reads it share its private parts.

use crate::span::{Span, SpannedText};
use std::borrow::Cow;
use std::sync::Arc;

/// A value that has no children, as an encoding met it.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Scalar<'a> {
    /// Nothing: JSON `null`, `MessagePack` nil.
    Null,
    /// A truth value.
    Bool(bool),
    /// A bool byte other than 0 and 1.
    OddBool(u8),
    /// A whole number, zero or above.
    Uint(u64),
    /// A whole number below zero.
    Int(i64),
    /// Bits of a 32-bit float.
    F32(u32),
    /// Bits of a 64-bit float.
    F64(u64),
    /// A number spelled in JSON, exactly as spelled.
    Number(&'a [u8]),
    /// Text; may be invalid UTF-8 where the encoding does not promise it.
    Str(&'a [u8]),
    /// Text spelled in JSON, without its quotes; `true` where it has escapes.
    Json(&'a [u8], bool),
    /// Bytes.
    Bin(&'a [u8]),
    /// An extension type and its bytes.
    Ext(i8, &'a [u8]),
    /// A number that a schema has a name for: the number, the name's place in the tape's names, the name.
    Name(i64, u32, &'a str),
}

/// What has children.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Shape {
    /// Values in order.
    Array,
    /// Keys and values in turn.
    Map,
}

/// Told what an encoding meets, in order. Every key of a map is announced by [`Sink::key`], every value of a map by
/// [`Sink::value`], every element of an array by [`Sink::item`]. All spans are in the view's coordinates.
pub trait Sink {
    /// What comes next is a key of the open map.
    fn key(&mut self) {}
    /// What comes next is the value of that key.
    fn value(&mut self) {}
    /// What comes next is an element of the open array.
    fn item(&mut self) {}
    /// A value without children; `at` covers its whole encoding. A string's or byte run's content is the end of it
    /// (JSON text: without the closing quote).
    fn scalar(&mut self, at: Span, value: Scalar<'_>);
    /// A map or an array begins at byte `start`.
    fn open(&mut self, start: usize, shape: Shape);
    /// The innermost open map or array ends before byte `end`.
    fn close(&mut self, end: usize);
    /// Whether nothing is remembered of what is in the open map or array: then it need not be told.
    fn skips(&self) -> bool {
        false
    }
    /// A key that stands in a schema, not in the bytes, and what comes next is its value: `names[id]` is `name`, at byte
    /// `at`. Neither [`Sink::key`] nor [`Sink::value`] is told beside it.
    fn label(&mut self, at: usize, id: u32, name: &Name);
    /// Keys and values of the open map that `tell` tells, all of which follow from `key`: a sink that keeps no places may
    /// remember what they came to.
    fn repeated(&mut self, _key: u128, tell: impl FnOnce(&mut Self))
    where
        Self: Sized,
    {
        tell(self);
    }
}

/// Room for a name as a key of JSON, in a size that is copied without a call.
const SPELLED: usize = 32;

/// A name of a schema, and how it is spelled as a key of JSON: with quotes and colon.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    text: String,
    spelled: [u8; SPELLED],
    len: u8,
}

impl Name {
    /// The name of what has none.
    pub const NONE: &'static Self = &Self {
        text: String::new(),
        spelled: [0; SPELLED],
        len: 0,
    };

    /// A name; where it is a long one, or no plain word, it has no ready spelling.
    pub fn new(text: impl Into<String>) -> Self {
        let text = text.into();
        let plain = text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
        let mut spelled = [0; SPELLED];
        let mut len = 0;
        if plain && text.len() + 3 <= SPELLED {
            for (to, from) in spelled.iter_mut().zip(format!("\"{text}\":").bytes()) {
                *to = from;
                len += 1;
            }
        }
        Self { text, spelled, len }
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Writes it as a key of JSON, colon included, where it has a ready spelling.
    #[inline]
    pub fn write_key(&self, out: &mut Vec<u8>) -> bool {
        out.extend_from_slice(&self.spelled);
        out.truncate(out.len() - SPELLED + self.len as usize);
        self.len > 0
    }
}

/// Two sinks told the same.
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
    fn label(&mut self, at: usize, id: u32, name: &Name) {
        self.0.label(at, id, name);
        self.1.label(at, id, name);
    }
}

/// Entries that [`Tape::set_few`] leaves a message, but for the members of its outermost map.
const FEW: usize = 1 << 16;
/// Entries that it leaves those, which heads are read from.
const FEW_ON_TOP: usize = 1 << 20;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Null,
    Bool,
    OddBool,
    Uint,
    Int,
    F32,
    F64,
    Number,
    Str,
    Json,
    JsonEscaped,
    Bin,
    Ext,
    Name,
    Label,
    Array,
    Map,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    /// The number itself, or the length of the content, or the number of children that are left out.
    bits: u64,
    start: u32,
    len: u32,
    /// The entry after this one and all below it; for a name or label its place in `names`.
    next: u32,
    kind: Kind,
    ext: i8,
}

/// A flat list of what a body holds. Reuse one for many messages: [`Tape::clear`] keeps its memory.
#[derive(Debug)]
pub struct Tape {
    entries: Vec<Entry>,
    open: Vec<u32>,
    /// How deep entries are kept; below it only the depth is counted.
    keep: u32,
    /// Containers that are open, kept or not.
    level: u32,
    /// Entries from which on values are left out; see [`Tape::set_few`].
    most: usize,
    names: Arc<Vec<Name>>,
}

impl Default for Tape {
    fn default() -> Self {
        Self {
            entries: Vec::new(),
            open: Vec::new(),
            keep: u32::MAX,
            level: 0,
            most: usize::MAX,
            names: Arc::default(),
        }
    }
}

impl Tape {
    /// An empty tape that keeps everything.
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether the values of a long message are kept only in part, so that the tape stays small; [`Node::omitted`] says how
    /// many are not.
    pub fn set_few(&mut self, few: bool) {
        self.most = if few { FEW } else { usize::MAX };
    }

    /// Forgets everything but its memory. Containers deeper than `keep` levels will show as empty: enough to read a
    /// message's head from, and cheap.
    pub fn clear(&mut self, keep: u32) {
        self.entries.clear();
        self.open.clear();
        self.keep = keep;
        self.level = 0;
    }

    /// The names that labels and named numbers refer to; says whether there were others before.
    pub fn set_names(&mut self, names: &Arc<Vec<Name>>) -> bool {
        let others = !Arc::ptr_eq(&self.names, names);
        if others {
            self.names = Arc::clone(names);
        }
        others
    }

    /// Whether nothing has been met.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// The outermost value, over the bytes that the spans speak of.
    pub fn root<'a>(&'a self, bytes: &'a [u8]) -> Option<Node<'a>> {
        (!self.entries.is_empty()).then_some(Node {
            tape: self,
            bytes,
            index: 0,
        })
    }

    /// The value at an index that [`Node::index`] gave.
    pub fn node<'a>(&'a self, bytes: &'a [u8], index: usize) -> Option<Node<'a>> {
        (index < self.entries.len()).then_some(Node {
            tape: self,
            bytes,
            index: index as u32,
        })
    }

    /// Closes what an error left open, before byte `end`; a key that still waits for its value goes.
    pub fn mend(&mut self, end: usize) {
        self.level = self.open.len() as u32;
        while let Some(&index) = self.open.last() {
            if let Some(entry) = self.entries.get(index as usize)
                && entry.kind == Kind::Map
            {
                let (mut child, mut count, mut last) = (index as usize + 1, 0, 0);
                while let Some(e) = self.entries.get(child) {
                    last = child;
                    count += 1;
                    child = e.after(child);
                }
                if count % 2 == 1 {
                    self.entries.truncate(last);
                }
            }
            self.close(end);
        }
    }

    fn push(&mut self, at: Span, kind: Kind, bits: u64, next: u32, ext: i8) {
        self.entries.push(Entry {
            bits,
            start: at.start,
            len: at.len,
            next,
            kind,
            ext,
        });
    }

    /// Whether a child of a container at this level is left out; it is counted then.
    #[cold]
    fn omits(&mut self, level: u32) -> bool {
        let omits = level > 1 || self.entries.len() >= FEW_ON_TOP;
        if omits
            && level == self.open.len() as u32
            && let Some(parent) = self.open.last()
            && let Some(entry) = self.entries.get_mut(*parent as usize)
        {
            entry.bits += 1;
        }
        omits
    }

    #[inline]
    fn entry(&self, index: u32) -> &Entry {
        self.entries.get(index as usize).unwrap_or(&Entry::NOTHING)
    }
}

impl Entry {
    const NOTHING: Self = Self {
        bits: 0,
        start: 0,
        len: 0,
        next: 0,
        kind: Kind::Null,
        ext: 0,
    };

    #[inline]
    fn after(&self, index: usize) -> usize {
        if matches!(self.kind, Kind::Array | Kind::Map) {
            (self.next as usize).max(index + 1)
        } else {
            index + 1
        }
    }
}

impl Sink for Tape {
    #[inline(always)]
    fn scalar(&mut self, at: Span, value: Scalar<'_>) {
        if self.level > self.keep || (self.entries.len() >= self.most && self.omits(self.level)) {
            return;
        }
        let (kind, bits, next, ext) = match value {
            Scalar::Null => (Kind::Null, 0, 0, 0),
            Scalar::Bool(v) => (Kind::Bool, v as u64, 0, 0),
            Scalar::OddBool(v) => (Kind::OddBool, v as u64, 0, 0),
            Scalar::Uint(v) => (Kind::Uint, v, 0, 0),
            Scalar::Int(v) => (Kind::Int, v.cast_unsigned(), 0, 0),
            Scalar::F32(v) => (Kind::F32, v as u64, 0, 0),
            Scalar::F64(v) => (Kind::F64, v, 0, 0),
            Scalar::Number(_) => (Kind::Number, 0, 0, 0),
            Scalar::Str(v) => (Kind::Str, v.len() as u64, 0, 0),
            Scalar::Json(v, escaped) => (
                if escaped {
                    Kind::JsonEscaped
                } else {
                    Kind::Json
                },
                v.len() as u64,
                0,
                0,
            ),
            Scalar::Bin(v) => (Kind::Bin, v.len() as u64, 0, 0),
            Scalar::Ext(t, v) => (Kind::Ext, v.len() as u64, 0, t),
            Scalar::Name(v, id, _) => (Kind::Name, v.cast_unsigned(), id, 0),
        };
        self.push(at, kind, bits, next, ext);
    }

    #[inline]
    fn open(&mut self, start: usize, shape: Shape) {
        self.level += 1;
        if self.level > self.keep.saturating_add(1)
            || (self.entries.len() >= self.most && self.omits(self.level - 1))
        {
            return;
        }
        self.open.push(self.entries.len() as u32);
        let kind = if shape == Shape::Map {
            Kind::Map
        } else {
            Kind::Array
        };
        self.push(Span::new(start, start), kind, 0, 0, 0);
    }

    #[inline]
    fn close(&mut self, end: usize) {
        let shown = self.level == self.open.len() as u32;
        self.level = self.level.saturating_sub(1);
        if !shown {
            return;
        }
        let next = self.entries.len() as u32;
        if let Some(index) = self.open.pop()
            && let Some(entry) = self.entries.get_mut(index as usize)
        {
            entry.len = (end as u32).saturating_sub(entry.start);
            entry.next = next;
        }
    }

    #[inline]
    fn skips(&self) -> bool {
        self.level > self.keep || self.level > self.open.len() as u32
    }

    #[inline]
    fn label(&mut self, at: usize, id: u32, _: &Name) {
        if self.level <= self.keep && !(self.entries.len() >= self.most && self.omits(self.level)) {
            self.push(Span::new(at, at), Kind::Label, 0, id, 0);
        }
    }
}

/// A value in a tape, with the bytes it speaks of. `Copy`: pass it around freely.
#[derive(Clone, Copy)]
pub struct Node<'a> {
    tape: &'a Tape,
    bytes: &'a [u8],
    index: u32,
}

/// What a node is.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Value<'a> {
    /// A value without children.
    Scalar(Scalar<'a>),
    /// A key that stands in a schema.
    Label(&'a str),
    /// Values in order.
    Array,
    /// Keys and values.
    Map,
}

/// Keys of an object that are held; a larger object is searched anew for each.
const FEW_KEYS: usize = 16;

/// The keys of an object, each read once.
pub(crate) struct Keys<'a> {
    object: Node<'a>,
    /// Keys without escapes, each with the index of its value.
    plain: [(&'a [u8], u32); FEW_KEYS],
    /// How many keys are held; `None` where some have escapes, or there are too many.
    len: Option<usize>,
}

impl<'a> Keys<'a> {
    /// What [`Node::get`] gives.
    pub(crate) fn get(&self, key: &str) -> Option<Node<'a>> {
        let Some(plain) = self.held() else {
            return self.object.get(key);
        };
        let (_, index) = plain.iter().rfind(|(name, _)| *name == key.as_bytes())?;
        let end = self.object.tape.entry(self.object.index).next;
        (*index < end).then_some(Node {
            index: *index,
            ..self.object
        })
    }

    fn held(&self) -> Option<&[(&'a [u8], u32)]> {
        self.plain.get(..self.len?)
    }

    /// Whether no key is there twice; `None` where the keys are not held.
    pub(crate) fn are_unique(&self) -> Option<bool> {
        let plain = self.held()?;
        let is_new = |(n, (key, _)): (usize, &(&[u8], u32))| {
            let before = plain.get(..n).unwrap_or_default();
            before.iter().all(|(other, _)| other != key)
        };
        Some(plain.iter().enumerate().all(is_new))
    }
}

impl<'a> Node<'a> {
    /// Its place in the tape, for tables kept beside it.
    pub fn index(self) -> usize {
        self.index as usize
    }

    /// The place after it and everything below it.
    pub fn end(self) -> usize {
        self.tape.entry(self.index).after(self.index())
    }

    /// The bytes that its spans speak of.
    pub fn bytes(self) -> &'a [u8] {
        self.bytes
    }

    /// Its whole encoding, header included.
    pub fn span(self) -> Span {
        let e = self.tape.entry(self.index);
        Span {
            start: e.start,
            len: e.len,
        }
    }

    /// The content of text or bytes: the end of the encoding, but for its last `tail` bytes.
    #[inline]
    fn content(self, e: &Entry, tail: usize) -> &'a [u8] {
        let end = (e.start as usize + e.len as usize).saturating_sub(tail);
        let start = end.saturating_sub(e.bits as usize);
        self.bytes.get(start..end).unwrap_or_default()
    }

    /// The name of what has one.
    fn name(self) -> &'a str {
        let id = self.tape.entry(self.index).next as usize;
        self.tape.names.get(id).map_or("", Name::as_str)
    }

    /// What it is.
    pub fn value(self) -> Value<'a> {
        let e = self.tape.entry(self.index);
        Value::Scalar(match e.kind {
            Kind::Null => Scalar::Null,
            Kind::Bool => Scalar::Bool(e.bits != 0),
            Kind::OddBool => Scalar::OddBool(e.bits as u8),
            Kind::Uint => Scalar::Uint(e.bits),
            Kind::Int => Scalar::Int(e.bits.cast_signed()),
            Kind::F32 => Scalar::F32(e.bits as u32),
            Kind::F64 => Scalar::F64(e.bits),
            Kind::Number => Scalar::Number(self.span().of(self.bytes)),
            Kind::Str => Scalar::Str(self.content(e, 0)),
            Kind::Json => Scalar::Json(self.content(e, 1), false),
            Kind::JsonEscaped => Scalar::Json(self.content(e, 1), true),
            Kind::Bin => Scalar::Bin(self.content(e, 0)),
            Kind::Ext => Scalar::Ext(e.ext, self.content(e, 0)),
            Kind::Name => Scalar::Name(e.bits.cast_signed(), e.next, self.name()),
            Kind::Label => return Value::Label(self.name()),
            Kind::Array => return Value::Array,
            Kind::Map => return Value::Map,
        })
    }

    /// Whether it is a map.
    pub fn is_map(self) -> bool {
        self.tape.entry(self.index).kind == Kind::Map
    }

    /// Whether it is an array.
    pub fn is_array(self) -> bool {
        self.tape.entry(self.index).kind == Kind::Array
    }

    /// Whether it is nothing.
    pub fn is_null(self) -> bool {
        self.tape.entry(self.index).kind == Kind::Null
    }

    /// What is directly below it, in order; keys and values in turn for a map.
    #[inline]
    pub fn children(self) -> Children<'a> {
        let e = self.tape.entry(self.index);
        let end = if matches!(e.kind, Kind::Array | Kind::Map) {
            e.next
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

    /// Of what is directly below it, how much the tape left out, keys and values each counted.
    pub fn omitted(self) -> usize {
        let e = self.tape.entry(self.index);
        match e.kind {
            Kind::Array | Kind::Map => e.bits as usize,
            _ => 0,
        }
    }

    /// How many members or elements it has, told or left out.
    pub fn count(self) -> usize {
        let all = self.children().count() + self.omitted();
        if self.is_map() { all / 2 } else { all }
    }

    /// A map's keys and values; an array's elements in pairs.
    #[inline]
    pub fn members(self) -> impl Iterator<Item = (Node<'a>, Node<'a>)> {
        let mut children = self.children();
        std::iter::from_fn(move || Some((children.next()?, children.next()?)))
    }

    /// Calls `visit` with this node and every one below it, in order.
    pub fn each(self, visit: &mut dyn FnMut(Node<'a>)) {
        let mut index = self.index();
        let end = self.tape.entry(self.index).after(index);
        while index < end {
            visit(Node {
                index: index as u32,
                ..self
            });
            index += 1;
        }
    }

    /// The value under a key of text; the last one where the key is repeated, as most peers read it.
    pub fn get(self, key: &str) -> Option<Node<'a>> {
        let e = self.tape.entry(self.index);
        if e.kind != Kind::Map {
            return None;
        }
        // Rules ask for many keys of each message: one step an entry, and most keys differ in length already.
        let (mut index, mut found) = (self.index + 1, None);
        while index < e.next {
            let name = self.tape.entry(index);
            let differs =
                matches!(name.kind, Kind::Str | Kind::Json) && name.bits != key.len() as u64;
            let value = index + 1;
            if !differs && (Node { index, ..self }).is_text(key) {
                found = (value < e.next).then_some(Node {
                    index: value,
                    ..self
                });
            }
            index = self.tape.entry(value).after(value as usize) as u32;
        }
        found
    }

    /// The `n`th element of an array.
    pub fn at(self, n: usize) -> Option<Node<'a>> {
        if self.is_array() {
            self.children().nth(n)
        } else {
            None
        }
    }

    /// The bytes of its text as they stand, escapes unresolved; empty where it is none.
    #[inline]
    pub fn raw_text(self) -> &'a [u8] {
        let e = self.tape.entry(self.index);
        match e.kind {
            Kind::Str => self.content(e, 0),
            Kind::Json | Kind::JsonEscaped => self.content(e, 1),
            _ => b"",
        }
    }

    /// The bytes of text or of bytes as they stand.
    pub fn raw_content(self) -> Option<&'a [u8]> {
        match self.value() {
            Value::Scalar(
                Scalar::Json(raw, _) | Scalar::Str(raw) | Scalar::Bin(raw) | Scalar::Ext(_, raw),
            ) => Some(raw),
            _ => None,
        }
    }

    /// The keys of an object, to ask for many of them.
    pub(crate) fn keys(self) -> Keys<'a> {
        let mut keys = Keys {
            object: self,
            plain: [(b"", 0); FEW_KEYS],
            len: None,
        };
        let mut len = 0;
        let e = self.tape.entry(self.index);
        let mut index = self.index + 1;
        while e.kind == Kind::Map && index < e.next {
            let name = self.tape.entry(index);
            let is_plain = matches!(name.kind, Kind::Str | Kind::Json);
            let Some(slot) = keys.plain.get_mut(len).filter(|_| is_plain) else {
                return keys;
            };
            *slot = (Node { index, ..self }.raw_text(), index + 1);
            len += 1;
            index = self.tape.entry(index + 1).after(index as usize + 1) as u32;
        }
        keys.len = Some(len);
        keys
    }

    /// The bytes of a key, escapes resolved; empty where it is no text.
    #[inline]
    pub fn key_bytes(self) -> Cow<'a, [u8]> {
        match self.tape.entry(self.index).kind {
            Kind::JsonEscaped | Kind::Label => self.resolved(),
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

    /// Whether it is exactly this text.
    #[inline]
    pub fn is_text(self, text: &str) -> bool {
        let e = self.tape.entry(self.index);
        let tail = match e.kind {
            Kind::Str => 0,
            Kind::Json => 1,
            Kind::JsonEscaped | Kind::Label => return self.text().is_some_and(|t| t == text),
            _ => return false,
        };
        e.bits == text.len() as u64 && self.content(e, tail) == text.as_bytes()
    }

    /// Its text, escapes resolved; `None` where it is none or not UTF-8.
    pub fn text(self) -> Option<Cow<'a, str>> {
        let text = |bytes| std::str::from_utf8(bytes).ok();
        match self.tape.entry(self.index).kind {
            Kind::Str | Kind::Json => text(self.raw_text()).map(Cow::Borrowed),
            Kind::JsonEscaped => text(self.raw_text()).map(unescape),
            Kind::Name | Kind::Label => Some(Cow::Borrowed(self.name())),
            _ => None,
        }
    }

    /// Its text and place; `None` where it is no text or not UTF-8.
    pub fn spanned_text(self) -> Option<SpannedText<'a>> {
        Some(SpannedText::new(self.text()?, self.span()))
    }

    /// A number as JSON spells it.
    pub fn number_text(self) -> Option<&'a str> {
        match self.value() {
            Value::Scalar(Scalar::Number(s)) => std::str::from_utf8(s).ok(),
            _ => None,
        }
    }

    /// Whether it is text of any kind.
    pub fn is_string(self) -> bool {
        let kind = self.tape.entry(self.index).kind;
        matches!(kind, Kind::Str | Kind::Json | Kind::JsonEscaped)
    }

    /// Its truth value.
    pub fn as_bool(self) -> Option<bool> {
        match self.value() {
            Value::Scalar(Scalar::Bool(v)) => Some(v),
            _ => None,
        }
    }

    /// Its whole number; a float that is one counts (some peers write all numbers as floats).
    pub fn as_i128(self) -> Option<i128> {
        let whole =
            |f: f64| (f.fract() == 0.0 && f.abs() < 9_007_199_254_740_992.0).then_some(f as i128);
        match self.value() {
            Value::Scalar(Scalar::Uint(v)) => Some(v as i128),
            Value::Scalar(Scalar::Int(v) | Scalar::Name(v, ..)) => Some(v as i128),
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

    /// What sort of value it is, in the words of an error message.
    pub fn describe(self) -> &'static str {
        match self.value() {
            Value::Scalar(s) => match s {
                Scalar::Null => "null",
                Scalar::Bool(_) | Scalar::OddBool(_) => "a bool",
                Scalar::Uint(_) | Scalar::Int(_) | Scalar::Name(..) => "an integer",
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

/// What is directly below a node; see [`Node::children`].
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
        self.node.index = here.tape.entry(here.index).after(here.index()) as u32;
        Some(here)
    }
}

/// Resolves the escapes of JSON text that was checked before. A lone surrogate becomes U+FFFD.
pub fn unescape(text: &str) -> Cow<'_, str> {
    if !text.contains('\\') {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
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
    out.push_str(rest);
    Cow::Owned(out)
}

/// The character of what follows `\u`, and how much text it took.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_resolve() {
        for (text, want) in [
            ("plain", "plain"),
            (r"a\n\t\\\/", "a\n\t\\/"),
            (r"\u0041\ud83d\ude00", "A😀"),
            (r"\ud83dx", "\u{fffd}x"),
            (r"\ude00", "\u{fffd}"),
        ] {
            assert_eq!(unescape(text), want, "{text}");
        }
    }

    #[test]
    fn keys_read_once_give_what_get_gives() {
        let many: Vec<String> = (0..40).map(|n| format!("\"k{n}\":{n}")).collect();
        for (text, unique) in [
            ("{}", Some(true)),
            ("[1]", Some(true)),
            (r#"{"k1":1,"k2":[{"k3":1}],"k3":2}"#, Some(true)),
            (r#"{"k1":1,"k2":2,"k1":3}"#, Some(false)),
            (r#"{"k1":1,"\u006b2":2}"#, None),
            (&format!("{{{}}}", many.join(",")), None),
        ] {
            let mut tape = Tape::new();
            let span = Span::new(0, text.len());
            crate::encoding::json::parse(text.as_bytes(), span, 9, &mut tape).unwrap();
            let root = tape.root(text.as_bytes()).unwrap();
            let keys = root.keys();
            assert_eq!(keys.are_unique(), unique, "{text}");
            for key in ["k1", "k2", "k3", "k39", "", "k"] {
                let [once, again] = [keys.get(key), root.get(key)];
                assert_eq!(
                    once.map(Node::index),
                    again.map(Node::index),
                    "{key} of {text}"
                );
            }
        }
    }

    #[test]
    fn a_dangling_key_goes_when_mended() {
        let mut tape = Tape::new();
        tape.open(0, Shape::Map);
        tape.scalar(Span::new(1, 3), Scalar::Str(b"k"));
        tape.scalar(Span::new(3, 4), Scalar::Uint(1));
        tape.scalar(Span::new(4, 6), Scalar::Str(b"l"));
        tape.mend(6);
        let bytes = b"\x82\xa1k\x01\xa1l";
        let root = tape.root(bytes).unwrap();
        assert_eq!(root.children().count(), 2);
        assert_eq!(root.get("k").unwrap().as_i128(), Some(1));
        assert_eq!(root.span(), Span::new(0, 6));
    }
}
