//! Messages in `MessagePack` that a program unpacked and then printed. Each becomes a body with its length before it.
//!
//! ```text
//!   {'type': 'call', 'id': b'\xee\xf7c', 'args': [1, 2]}       Python
//!   { type: 'call', id: <Buffer ee f7 63>, args: [ 1, 2 ] }    Node
//!   {"type"=>"call", "id"=>"\xEE\xF7c", "args"=>[1, 2]}        Ruby
//!   %{"type" => "call", "id" => <<238, 247, 99>>}              Elixir
//! ```
//!
//! Objects in JSON are read only behind one with bytes: JSON has none.

use super::finder::is_json;
use super::line::Common;
use super::literal::{self, Literal, Lost};
use crate::capture::chunk::ItemSink;
use crate::capture::lines::{Line, LineForm};
use crate::encoding::{json, msgpack};
use crate::framing::{self, Framing, Wire};
use crate::span::Span;
use crate::tape::Tape;

/// The most bytes of lines that are held until an object ends.
const MAX_HELD: usize = 1 << 20;
const MAX_DEPTH: u32 = 128;

pub(super) struct Unpacked {
    common: Common,
    /// The lines since the beginning of an object.
    held: Vec<u8>,
    has_bytes: bool,
}

impl Unpacked {
    pub(super) fn new(quoted: bool) -> Self {
        Self {
            common: Common::new(quoted),
            held: Vec::new(),
            has_bytes: false,
        }
    }

    /// Emits the objects of a text; returns where one begins that does not end.
    fn objects(&mut self, text: &[u8], sink: &mut ItemSink<'_>) -> Option<usize> {
        let (mut at, mut found) = (0, false);
        while let Some(next) = memchr::memchr(b'{', text.get(at..).unwrap_or_default()) {
            at += next;
            let (before, rest) = text.split_at_checked(at).unwrap_or_default();
            let mut value = Vec::new();
            match literal::read_with_bytes(rest, &mut value) {
                Literal::Value {
                    len,
                    lost: Lost { parts: false, .. },
                } => {
                    at += len;
                    self.has_bytes |= memchr::memmem::find(&value, b"{\"$bin\":").is_some();
                    let is_read = self.has_bytes || !is_json(rest);
                    if let Some(body) = packed(&value).filter(|_| is_read) {
                        let after = text.get(at..).unwrap_or_default();
                        let mark = self.common.marks.of(text, before, after);
                        let mut frame = Vec::new();
                        framing::write(Framing::Prefix, &body, &Wire::default(), &mut frame);
                        self.common.emit(mark, &frame, sink);
                        found = true;
                    }
                }
                Literal::Value { len, .. } => at += len,
                Literal::Open => return Some(at),
                Literal::None => at += 1,
            }
        }
        if !found {
            self.common.other(text);
        }
        None
    }
}

/// Returns an object in `MessagePack`.
fn packed(value: &[u8]) -> Option<Vec<u8>> {
    let mut tape = Tape::new();
    json::parse(value, Span::new(0, value.len()), MAX_DEPTH, &mut tape).ok()?;
    let root = tape.root(value)?;
    let mut body = Vec::new();
    msgpack::write(root, &mut body).ok()?;
    root.is_map().then_some(body)
}

/// Returns true if a text begins with an object that has bytes, as a program prints it.
pub(super) fn begins_with_bytes(text: &[u8]) -> bool {
    let Some(at) = memchr::memchr(b'{', text.get(..256).unwrap_or(text)) else {
        return false;
    };
    let mut value = Vec::new();
    let read = literal::read_with_bytes(text.get(at..).unwrap_or_default(), &mut value);
    !matches!(read, Literal::None) && memchr::memmem::find(&value, b"{\"$bin\":").is_some()
}

impl LineForm for Unpacked {
    fn line(&mut self, line: Line<'_>, sink: &mut ItemSink<'_>) {
        let text = self.common.uncoloured(line.text).into_owned();
        let mut held = std::mem::take(&mut self.held);
        if held.is_empty() {
            held = text;
        } else {
            held.push(b'\n');
            held.extend_from_slice(&text);
        }
        if self.objects(&held, sink).is_some() && held.len() <= MAX_HELD {
            self.held = held;
        }
    }

    fn ignored(&self) -> u64 {
        self.common.ignored
    }
}
