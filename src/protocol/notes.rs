//! What is worth saying of the values of a message, and which of them are secret.

use super::{Message, Protocol};
use crate::encoding::json;
use crate::framing::fields::is_secret_name;
use crate::span::Span;
use crate::tape::{Node, Scalar, Tape, Value};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::Range;

/// Levels of JSON in text of JSON in text that are looked into.
const LEVELS: usize = 4;
/// Deepest value of JSON in text.
const DEPTH: u32 = 128;

/// Notes on the values of one message; reuse one for all of a run.
#[derive(Default)]
pub struct Notes {
    /// Remarks by the places of their values in the tape.
    remarks: Vec<(usize, Cow<'static, str>)>,
    /// Places of secret values and of all below them; once [`annotate()`] is done, in order and apart from each other.
    secrets: Vec<Range<usize>>,
    /// Places of text that holds JSON with a secret.
    texts: Vec<usize>,
}

impl Notes {
    /// Forgets all.
    pub fn clear(&mut self) {
        self.remarks.clear();
        self.secrets.clear();
        self.texts.clear();
    }

    /// A remark on a value.
    pub fn remark(&mut self, node: Node<'_>, text: impl Into<Cow<'static, str>>) {
        let index = node.index();
        let at = self.remarks.partition_point(|(i, _)| *i <= index);
        self.remarks.insert(at, (index, text.into()));
    }

    /// Marks a value as secret, whatever its type, with all that is below it.
    pub fn secret(&mut self, node: Node<'_>) {
        let empty = || node.raw_content().is_some_and(<[u8]>::is_empty);
        if !node.is_null() && node.as_bool().is_none() && !empty() {
            self.secrets.push(node.index()..node.end());
        }
    }

    fn put_in_order(&mut self) {
        self.secrets.sort_unstable_by_key(|s| s.start);
        self.secrets.dedup_by(|next, before| {
            let joins = next.start < before.end;
            if joins {
                before.end = before.end.max(next.end);
            }
            joins
        });
    }

    /// The remarks on a value: what a number stands for, what a felt spells, a time in words.
    pub fn remarks(&self, node: Node<'_>) -> impl Iterator<Item = &str> {
        let index = node.index();
        let first = self.remarks.partition_point(|(i, _)| *i < index);
        let remarks = self.remarks.get(first..).unwrap_or_default().iter();
        remarks
            .take_while(move |(i, _)| *i == index)
            .map(|(_, remark)| remark.as_ref())
    }

    /// Whether a value must not be shown: it is secret, or text that holds JSON with a secret.
    pub fn is_secret(&self, node: Node<'_>) -> bool {
        self.is_whole(node) || self.texts.binary_search(&node.index()).is_ok()
    }

    /// Whether a value is secret as a whole, or part of one that is.
    pub fn is_whole(&self, node: Node<'_>) -> bool {
        let index = node.index();
        let next = self.secrets.partition_point(|s| s.start <= index);
        let last = next.checked_sub(1).and_then(|at| self.secrets.get(at));
        last.is_some_and(|s| s.contains(&index))
    }
}

/// Notes on the values of a message. This decides which of them are secret, for all that shows or redacts messages.
pub fn annotate(protocol: &dyn Protocol, root: Node<'_>, message: &Message<'_>, notes: &mut Notes) {
    notes.clear();
    let own = &protocol.descriptor().marks.secrets;
    let also = |name: &[u8]| {
        own.iter()
            .any(|own| name.eq_ignore_ascii_case(own.as_bytes()))
    };
    each_secret(root, &also, &mut |node| notes.secret(node));
    root.each(&mut |node| {
        if inside(node, LEVELS, &also) {
            notes.texts.push(node.index());
        }
    });
    protocol.annotate(root, message, notes);
    notes.put_in_order();
}

/// Tells of each value under a secret name; of an object, its members but for `type` and `scheme`. `also` is asked which names are secret beside the general ones.
pub fn each_secret<'a>(
    root: Node<'a>,
    also: &dyn Fn(&[u8]) -> bool,
    tell: &mut dyn FnMut(Node<'a>),
) {
    // In a JSON Schema, what is under the name of a property describes it.
    let mut schemas = BTreeSet::new();
    root.each(&mut |node| {
        if !node.is_map() {
            return;
        }
        let is_schema = schemas.contains(&node.index());
        for (key, value) in node.members() {
            let name = key.key_bytes();
            let name = match key.value() {
                Value::Scalar(Scalar::Bin(bytes)) => bytes,
                _ => name.as_ref(),
            };
            if name == b"properties" && value.is_map() {
                schemas.insert(value.index());
            }
            let describes = is_schema && value.is_map();
            if describes || !is_secret_name(name) && !also(name) {
                continue;
            }
            if !value.is_map() {
                tell(value);
                continue;
            }
            for (key, value) in value.members() {
                let tells_kind = key.is_text("type") || key.is_text("scheme");
                if !tells_kind || !value.is_string() {
                    tell(value);
                }
            }
        }
    });
}

/// Whether a value is text, or bytes, that may hold JSON.
pub fn is_json(node: Node<'_>) -> bool {
    let content = node.raw_content().unwrap_or_default();
    let first = content.iter().find(|b| !b.is_ascii_whitespace());
    matches!(first, Some(b'{' | b'[' | b'"' | b'\\'))
}

/// The JSON that a value holds.
pub fn json_in(node: Node<'_>) -> Option<Cow<'_, str>> {
    match node.value() {
        Value::Scalar(Scalar::Bin(bytes)) => std::str::from_utf8(bytes).ok().map(Cow::Borrowed),
        _ => node.text(),
    }
}

/// Reads JSON that a value holds.
pub fn look<T>(text: &str, see: impl FnOnce(Node<'_>) -> T) -> Option<T> {
    let mut tape = Tape::new();
    let bytes = text.as_bytes();
    json::parse(bytes, Span::new(0, bytes.len()), DEPTH, &mut tape).ok()?;
    tape.root(bytes).map(see)
}

/// Whether a value is text that holds JSON with a secret.
pub fn holds_secret(node: Node<'_>) -> bool {
    inside(node, LEVELS, &|_| false)
}

fn inside(node: Node<'_>, levels: usize, also: &dyn Fn(&[u8]) -> bool) -> bool {
    let text = json_in(node).filter(|_| levels > 0 && is_json(node));
    let Some(text) = text else {
        return false;
    };
    let found = look(&text, |root| {
        let mut found = false;
        each_secret(root, also, &mut |value| found |= !value.is_null());
        root.each(&mut |node| found = found || inside(node, levels - 1, also));
        found
    });
    found.unwrap_or_default()
}

/// Replaces a secret in a text, where it may be cut short.
pub fn hide(secret: &str, text: &mut String) {
    let cut = secret.char_indices().nth(16);
    let end = cut.map_or(secret.len(), |(at, _)| at);
    let Some(first) = secret.get(..end).filter(|first| first.len() >= 4) else {
        return;
    };
    while let Some(at) = text.find(first) {
        let rest = text.get(at..).unwrap_or_default();
        let same = rest.char_indices().zip(secret.chars());
        let same = same.take_while(|((_, a), b)| a == b);
        let len = same.last().map_or(0, |((at, c), _)| at + c.len_utf8());
        text.replace_range(at..at + len, "(secret)");
    }
}
