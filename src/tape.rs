//! The tape: a flat, reusable list of the values of a body, with their positions.
//!
//! ```text
//!   bytes   82 a2 6f 6b c3 a3 73 65 71 07          {"ok": true, "seq": 7}
//!   tape    Map 0..10 ┬ Str 1..4 "ok"  ─ Bool 4..5 true
//!                     └ Str 5..9 "seq" ─ Uint 9..10 7
//! ```
//!
//! An encoding reads bytes once and reports each value to a [`Sink`]; [`Tape`] is the sink that
//! stores them. It holds no bytes, only spans, kinds and the values of numbers, so it can be reused
//! for each message without allocation. [`Node`] is a position in it: `Copy`, borrowed, cheap.

mod focus;
mod key_name;
mod keys;
mod node;
mod tee;
#[cfg(test)]
mod tests;

use crate::span::Span;
use focus::{Child, Focus};
pub(crate) use focus::{Lookup, LookupStep};
pub use key_name::{FormKey, KeyName};
pub(crate) use node::unescape;
pub use node::{Children, Node, Value};
use std::sync::Arc;
pub use tee::Tee;

/// A value without children, as in the encoding.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Scalar<'a> {
    /// JSON `null`, `MessagePack` nil.
    Null,
    /// A truth value.
    Bool(bool),
    /// A bool byte other than 0 and 1.
    BoolByte(u8),
    /// A whole number, zero or positive.
    Uint(u64),
    /// A negative whole number.
    Int(i64),
    /// A whole number below those of [`Scalar::Int`]: minus one minus this number.
    Negative(u64),
    /// Bits of a 32-bit float.
    F32(u32),
    /// Bits of a 64-bit float.
    F64(u64),
    /// A JSON number, with its original digits.
    Number(&'a [u8]),
    /// Text; possibly invalid UTF-8 if the encoding allows that.
    Str(&'a [u8]),
    /// JSON text without its quotes; `true` if it has escapes.
    Json(&'a [u8], bool),
    /// Bytes.
    Bin(&'a [u8]),
    /// An extension type and its bytes.
    Ext(i8, &'a [u8]),
    /// A number that a schema names: the number, the index of the name in the tape's names, the
    /// name.
    Name(i64, u32, &'a str),
}

/// A value with children.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Shape {
    /// Values in order.
    Array,
    /// Keys and values, alternating.
    Map,
}

/// Receives the values of an encoding in order. [`Sink::key`] comes before every key of a map,
/// [`Sink::value`] before every value of a map, and [`Sink::item`] before every element of an
/// array. All spans are in the view's coordinates.
pub trait Sink {
    /// Announces a key of the open map.
    fn key(&mut self) {}
    /// Announces the value of that key.
    fn value(&mut self) {}
    /// Announces an element of the open array.
    fn item(&mut self) {}
    /// Reports a value without children; `at` covers its whole encoding. The content of a string or
    /// byte run is at its end (JSON text: before the closing quote).
    fn scalar(&mut self, at: Span, value: Scalar<'_>);
    /// Reports a map or an array that starts at byte `start`.
    fn open(&mut self, start: usize, shape: Shape);
    /// Ends the innermost open map or array before byte `end`.
    fn close(&mut self, end: usize);
    /// Returns `true` if the content of the open map or array is not stored; then it need not be
    /// reported.
    fn skips(&self) -> bool {
        false
    }
    /// Reports a key from a schema, or of a [`FormKey`], which is not in the bytes; its value follows. `names[id]` is
    /// `name`, at byte `at`. [`Sink::key`] and [`Sink::value`] are not called for it.
    fn label(&mut self, at: usize, id: u32, name: &KeyName);
    /// Reports keys and values of the open map through `tell`. All of them are determined by `key`:
    /// a sink without positions can store its output for a key.
    fn repeated(&mut self, _key: u128, tell: impl FnOnce(&mut Self))
    where
        Self: Sized,
    {
        tell(self);
    }
}

/// The maximum number of entries of a message after [`Tape::set_few`], without the members of its
/// outermost map.
const MAX_ENTRIES: usize = 1 << 16;
/// The number of unused entries of which the memory is kept for the next message.
const SPARE_ENTRIES: usize = 1 << 18;
/// The maximum number of entries after [`Tape::set_fewest`], without the members of the two outermost levels.
const FEWEST: usize = 1 << 7;
/// The number of levels from which heads are usually read.
const HEAD_LEVELS: u32 = 2;
/// The maximum number of members of the two outermost levels, from which heads are read.
const MAX_TOP_ENTRIES: usize = 1 << 20;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EntryKind {
    Null,
    Bool,
    BoolByte,
    Uint,
    Int,
    Negative,
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

/// An entry of 16 bytes: a message can have a value for each of its bytes.
#[derive(Clone, Copy, Debug)]
struct TapeEntry {
    start: u32,
    len: u32,
    /// A number of 32 bits, the length of a content, the index of a label in `names`, or the entry after a container and
    /// all entries below it; if `is_wide`, the index in `wide`.
    bits: u32,
    kind: EntryKind,
    ext: i8,
    is_wide: bool,
}

/// The part of an entry that its 32 bits do not hold.
#[derive(Clone, Copy, Debug)]
struct WideValue {
    /// The number, or the number of omitted children.
    bits: u64,
    /// The index of a name in `names`, or the entry after a container and all entries below it.
    next: u32,
}

/// A flat list of the values of a body. Reuse one for many messages: [`Tape::clear`] retains its
/// memory.
#[derive(Clone, Debug)]
pub struct Tape {
    entries: Vec<TapeEntry>,
    wide: Vec<WideValue>,
    open: Vec<u32>,
    /// The maximum depth of stored entries; below it only the depth is counted.
    keep: u32,
    /// The number of open containers, stored or not.
    level: u32,
    /// The number of entries from which on values are omitted; see [`Tape::set_few`].
    most: usize,
    /// The number of levels whose values are not omitted so soon.
    head: u32,
    names: Arc<Vec<KeyName>>,
    /// What a lookup needs of a long message.
    focus: Option<Box<Focus>>,
}

impl Default for Tape {
    fn default() -> Self {
        Self {
            entries: Vec::new(),
            wide: Vec::new(),
            open: Vec::new(),
            keep: u32::MAX,
            level: 0,
            most: usize::MAX,
            head: HEAD_LEVELS,
            names: Arc::default(),
            focus: None,
        }
    }
}

impl Tape {
    /// Creates an empty tape that stores everything.
    pub fn new() -> Self {
        Self::default()
    }

    /// Stores the values of a long message only in part if `few` is set, so that the tape stays
    /// small; [`Node::omitted`] returns the number of omitted ones.
    pub fn set_few(&mut self, few: bool) {
        self.most = match &self.focus {
            _ if !few => usize::MAX,
            None => MAX_ENTRIES,
            // It follows all containers.
            Some(_) => 0,
        };
    }

    /// Stores of a long message what a lookup needs, if [`Tape::set_few`] is set.
    pub(crate) fn set_lookup(&mut self, lookup: Lookup) {
        self.focus = Some(Box::new(Focus::new(lookup)));
    }

    /// Returns the stream offset that is looked up.
    pub(crate) fn looked_up(&self) -> Option<u64> {
        self.focus.as_ref()?.offset()
    }

    /// Sets the position of that offset in the next message.
    pub(crate) fn look_at(&mut self, at: Option<usize>) {
        if let Some(focus) = &mut self.focus {
            focus.look_at(at);
        }
    }

    /// Stores only the values of a long message that a line shows.
    pub fn set_fewest(&mut self) {
        self.most = FEWEST;
    }

    /// Sets the number of levels from which heads are read.
    pub(crate) fn set_head(&mut self, levels: u32) {
        self.head = levels.max(HEAD_LEVELS);
    }

    /// Returns the number of bytes that entries can take without new memory.
    #[cfg(feature = "cli")]
    pub(crate) fn capacity(&self) -> usize {
        self.entries.capacity() * size_of::<TapeEntry>()
    }

    /// Gives back unused memory, if that is more than the few entries that are stored of a long message.
    pub(crate) fn shrink(&mut self) {
        if self.entries.capacity() - self.entries.len() > SPARE_ENTRIES {
            self.entries.shrink_to_fit();
            self.wide.shrink_to_fit();
        }
    }

    /// Takes the memory for as many entries as another tape has: a list that grows has unused memory.
    pub(crate) fn reserve_as(&mut self, other: &Self) {
        if other.entries.len() > SPARE_ENTRIES {
            self.entries.reserve_exact(other.entries.len());
            self.wide.reserve_exact(other.wide.len());
        }
    }

    /// Removes all entries and retains the memory. Containers deeper than `keep` levels appear
    /// empty: enough to read the head of a message, and cheap.
    pub fn clear(&mut self, keep: u32) {
        self.entries.clear();
        self.wide.clear();
        self.open.clear();
        self.keep = keep;
        self.level = 0;
        if let Some(focus) = &mut self.focus {
            focus.clear();
        }
    }

    /// Sets the names that labels and named numbers refer to. Returns `true` if they changed.
    pub(crate) fn set_names(&mut self, names: &Arc<Vec<KeyName>>) -> bool {
        let others = !Arc::ptr_eq(&self.names, names);
        if others {
            self.names = Arc::clone(names);
        }
        others
    }

    /// Returns `true` if there are no entries.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns the number of entries.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns the outermost value, over the bytes that the spans refer to.
    pub fn root<'a>(&'a self, bytes: &'a [u8]) -> Option<Node<'a>> {
        (!self.entries.is_empty()).then_some(Node {
            tape: self,
            bytes,
            index: 0,
        })
    }

    /// Returns the value at an index from [`Node::index`].
    pub fn node<'a>(&'a self, bytes: &'a [u8], index: usize) -> Option<Node<'a>> {
        (index < self.entries.len()).then_some(Node {
            tape: self,
            bytes,
            index: index as u32,
        })
    }

    /// Closes the containers that an error left open, before byte `end`; removes a key without
    /// value.
    pub(crate) fn close_containers(&mut self, end: usize) {
        self.level = self.open.len() as u32;
        while let Some(&index) = self.open.last() {
            if let Some(entry) = self.entries.get(index as usize)
                && entry.kind == EntryKind::Map
            {
                let (mut child, mut count, mut last) = (index as usize + 1, 0, 0);
                while let Some(e) = self.entries.get(child) {
                    last = child;
                    count += 1;
                    child = self.after(e, child);
                }
                if count % 2 == 1 {
                    self.entries.truncate(last);
                }
            }
            self.close(end);
        }
    }

    #[inline(always)]
    fn push(&mut self, at: Span, kind: EntryKind, bits: u32, ext: i8) {
        self.entries.push(TapeEntry {
            start: at.start,
            len: at.len,
            bits,
            kind,
            ext,
            is_wide: false,
        });
    }

    fn push_wide(&mut self, at: Span, kind: EntryKind, bits: u64, next: u32) {
        self.entries.push(TapeEntry {
            start: at.start,
            len: at.len,
            bits: self.wide.len() as u32,
            kind,
            ext: 0,
            is_wide: true,
        });
        self.wide.push(WideValue { bits, next });
    }

    /// Returns `true`, and counts the child, if a child of a container at this level is omitted, or if a lookup has stored it.
    #[cold]
    #[inline(never)]
    fn omit_child(&mut self, level: u32, child: Child<'_>) -> bool {
        if let Some(mut focus) = self.focus.take() {
            let is_done = level > self.open.len() as u32 || self.see_in_focus(&mut focus, child);
            self.focus = Some(focus);
            return is_done;
        }
        let len = self.entries.len();
        let omits = level > self.head || len >= MAX_ENTRIES && level > 1 || len >= MAX_TOP_ENTRIES;
        if omits
            && level == self.open.len() as u32
            && let Some(parent) = self.open.last()
            && let Some(entry) = self.entries.get_mut(*parent as usize)
        {
            if !std::mem::replace(&mut entry.is_wide, true) {
                entry.bits = self.wide.len() as u32;
                self.wide.push(WideValue { bits: 0, next: 0 });
            }
            if let Some(wide) = self.wide.get_mut(entry.bits as usize) {
                wide.bits += 1;
            }
        }
        omits
    }

    /// Ends a container that a lookup has stored. Apart from the usual path, so that this stays short.
    #[cold]
    #[inline(never)]
    fn close_looked_up(&mut self, end: usize) {
        if let Some(mut focus) = self.focus.take() {
            self.close_in_focus(&mut focus, end);
            self.focus = Some(focus);
        }
    }

    #[inline]
    fn entry(&self, index: u32) -> &TapeEntry {
        self.entries
            .get(index as usize)
            .unwrap_or(&TapeEntry::NOTHING)
    }

    #[inline]
    fn wide(&self, entry: &TapeEntry) -> WideValue {
        let wide = self.wide.get(entry.bits as usize).copied();
        wide.unwrap_or(WideValue { bits: 0, next: 0 })
    }

    /// Returns the entry after a container and all entries below it; 0 if the container is open.
    #[inline]
    fn end(&self, entry: &TapeEntry) -> u32 {
        if entry.is_wide {
            self.wide(entry).next
        } else {
            entry.bits
        }
    }

    /// Returns the entry after this one and all entries below it.
    #[inline]
    fn after(&self, entry: &TapeEntry, index: usize) -> usize {
        if matches!(entry.kind, EntryKind::Array | EntryKind::Map) {
            (self.end(entry) as usize).max(index + 1)
        } else {
            index + 1
        }
    }
}

impl TapeEntry {
    const NOTHING: Self = Self {
        start: 0,
        len: 0,
        bits: 0,
        kind: EntryKind::Null,
        ext: 0,
        is_wide: false,
    };
}

impl Sink for Tape {
    #[inline(always)]
    fn scalar(&mut self, at: Span, value: Scalar<'_>) {
        if self.level > self.keep
            || (self.entries.len() >= self.most
                && self.omit_child(self.level, Child::Scalar(at, value)))
        {
            return;
        }
        let (kind, bits, ext) = match value {
            Scalar::Null => (EntryKind::Null, 0, 0),
            Scalar::Bool(v) => (EntryKind::Bool, v as u32, 0),
            Scalar::BoolByte(v) => (EntryKind::BoolByte, v as u32, 0),
            Scalar::Uint(v) => match u32::try_from(v) {
                Ok(v) => (EntryKind::Uint, v, 0),
                Err(_) => return self.push_wide(at, EntryKind::Uint, v, 0),
            },
            Scalar::Int(v) => match i32::try_from(v) {
                Ok(v) => (EntryKind::Int, v.cast_unsigned(), 0),
                Err(_) => return self.push_wide(at, EntryKind::Int, v.cast_unsigned(), 0),
            },
            Scalar::Negative(v) => return self.push_wide(at, EntryKind::Negative, v, 0),
            Scalar::F32(v) => (EntryKind::F32, v, 0),
            Scalar::F64(v) => return self.push_wide(at, EntryKind::F64, v, 0),
            Scalar::Number(_) => (EntryKind::Number, 0, 0),
            Scalar::Str(v) => (EntryKind::Str, v.len() as u32, 0),
            Scalar::Json(v, false) => (EntryKind::Json, v.len() as u32, 0),
            Scalar::Json(v, true) => (EntryKind::JsonEscaped, v.len() as u32, 0),
            Scalar::Bin(v) => (EntryKind::Bin, v.len() as u32, 0),
            Scalar::Ext(t, v) => (EntryKind::Ext, v.len() as u32, t),
            Scalar::Name(v, id, _) => {
                return self.push_wide(at, EntryKind::Name, v.cast_unsigned(), id);
            }
        };
        self.push(at, kind, bits, ext);
    }

    #[inline]
    fn open(&mut self, start: usize, shape: Shape) {
        self.level += 1;
        if self.level > self.keep.saturating_add(1)
            || (self.entries.len() >= self.most
                && self.omit_child(self.level - 1, Child::Container(start, shape)))
        {
            return;
        }
        self.open.push(self.entries.len() as u32);
        let kind = if shape == Shape::Map {
            EntryKind::Map
        } else {
            EntryKind::Array
        };
        self.push(Span::new(start, start), kind, 0, 0);
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
            if !entry.is_wide {
                entry.bits = next;
            } else if let Some(wide) = self.wide.get_mut(entry.bits as usize) {
                wide.next = next;
                self.close_looked_up(end);
            }
        }
    }

    #[inline]
    fn skips(&self) -> bool {
        self.level > self.keep || self.level > self.open.len() as u32
    }

    #[inline]
    fn label(&mut self, at: usize, id: u32, name: &KeyName) {
        if self.level <= self.keep
            && !(self.entries.len() >= self.most
                && self.omit_child(self.level, Child::Label(at, name.as_str())))
        {
            self.push(Span::new(at, at), EntryKind::Label, id, 0);
        }
    }
}
