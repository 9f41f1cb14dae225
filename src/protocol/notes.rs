//! Notes on the values of a message, and the values that are secret.

use super::{Message, Protocol};
use crate::encoding::json;
use crate::framing::fields::is_secret_name;
use crate::span::Span;
use crate::tape::{Node, Scalar, Tape, Value};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::Range;

/// The depth to which JSON in text of JSON in text is searched.
const LEVELS: usize = 4;
/// The deepest nesting of JSON in text.
const DEPTH: u32 = 128;

/// A remark on a value, which output shows beside it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Remark {
    /// Text: the name of a number, the text in a felt.
    Text(Cow<'static, str>),
    /// The value is a time: milliseconds since 1970.
    Time(i64),
}

/// Notes on the values of one message. Reuse one object for a whole run.
#[derive(Debug, Default)]
pub struct Notes {
    /// Remarks by the index of their value in the tape.
    remarks: Vec<(usize, Remark)>,
    /// Index ranges of secret values and of all values below them. After [`annotate()`] they are sorted and do not
    /// overlap.
    secrets: Vec<Range<usize>>,
    /// Indexes of text that holds JSON with a secret.
    texts: Vec<usize>,
    /// Nobody reads the remarks.
    only_secrets: bool,
}

impl Notes {
    /// Notes on which values are secret, without remarks.
    pub fn of_secrets() -> Self {
        Self {
            only_secrets: true,
            ..Self::default()
        }
    }

    /// Returns `false` if remarks are not read, so that they need not be written.
    pub fn has_remarks(&self) -> bool {
        !self.only_secrets
    }

    /// Removes all notes.
    pub fn clear(&mut self) {
        self.remarks.clear();
        self.secrets.clear();
        self.texts.clear();
    }

    /// Adds text on a value.
    pub fn remark(&mut self, node: Node<'_>, text: impl Into<Cow<'static, str>>) {
        self.add(node, Remark::Text(text.into()));
    }

    /// Notes that a value is a time, in milliseconds since 1970.
    pub fn remark_time(&mut self, node: Node<'_>, ms: i64) {
        self.add(node, Remark::Time(ms));
    }

    fn add(&mut self, node: Node<'_>, remark: Remark) {
        if self.only_secrets {
            return;
        }
        let index = node.index();
        let at = self.remarks.partition_point(|(i, _)| *i <= index);
        self.remarks.insert(at, (index, remark));
    }

    /// Marks a value of any type as secret, with all values below it.
    pub fn secret(&mut self, node: Node<'_>) {
        let empty = || node.raw_content().is_some_and(<[u8]>::is_empty);
        if !node.is_null() && node.as_bool().is_none() && !empty() {
            self.secrets.push(node.index()..node.end());
        }
    }

    fn sort_and_merge(&mut self) {
        self.secrets.sort_unstable_by_key(|s| s.start);
        self.secrets.dedup_by(|next, before| {
            let joins = next.start < before.end;
            if joins {
                before.end = before.end.max(next.end);
            }
            joins
        });
    }

    /// Returns the remarks on a value.
    pub fn remarks(&self, node: Node<'_>) -> impl Iterator<Item = &Remark> {
        let index = node.index();
        let first = self.remarks.partition_point(|(i, _)| *i < index);
        let remarks = self.remarks.get(first..).unwrap_or_default().iter();
        remarks
            .take_while(move |(i, _)| *i == index)
            .map(|(_, remark)| remark)
    }

    /// Returns true if a value must not be shown: it is secret, or it is text that holds JSON with a secret.
    pub fn is_secret(&self, node: Node<'_>) -> bool {
        self.is_wholly_secret(node) || self.texts.binary_search(&node.index()).is_ok()
    }

    /// Returns true if a value is wholly secret, or part of a secret value.
    pub fn is_wholly_secret(&self, node: Node<'_>) -> bool {
        let index = node.index();
        let next = self.secrets.partition_point(|s| s.start <= index);
        let last = next.checked_sub(1).and_then(|at| self.secrets.get(at));
        last.is_some_and(|s| s.contains(&index))
    }
}

/// Adds the notes on the values of a message. It decides which values are secret, for all output and for redact.
pub fn annotate(protocol: &dyn Protocol, root: Node<'_>, message: &Message<'_>, notes: &mut Notes) {
    notes.clear();
    let own = &protocol.descriptor().marks.secrets;
    let also = |name: &[u8]| {
        own.iter()
            .any(|own| name.eq_ignore_ascii_case(own.as_bytes()))
    };
    for_each_secret(root, &also, &mut |node| notes.secret(node));
    root.each(&mut |node| {
        if holds_secret_within(node, LEVELS, &also) {
            notes.texts.push(node.index());
        }
    });
    protocol.annotate(root, message, notes);
    notes.sort_and_merge();
}

/// Calls `visit` for each value with a secret name; for an object, for its members except `type` and `scheme`. `also`
/// accepts further secret names.
pub fn for_each_secret<'a>(
    root: Node<'a>,
    also: &dyn Fn(&[u8]) -> bool,
    visit: &mut dyn FnMut(Node<'a>),
) {
    // In a JSON Schema, the value of a property name describes the property.
    let mut schemas = BTreeSet::new();
    root.each(&mut |node| {
        if !node.is_map() {
            return;
        }
        let is_schema = schemas.contains(&node.index());
        for (key, value) in node.members() {
            let name = key.key_content();
            let name = name.as_ref();
            if name == b"properties" && value.is_map() {
                schemas.insert(value.index());
            }
            let describes = is_schema && value.is_map();
            if describes || !is_secret_name(name) && !also(name) {
                continue;
            }
            if !value.is_map() {
                visit(value);
                continue;
            }
            for (key, value) in value.members() {
                let names_kind = key.is_text("type") || key.is_text("scheme");
                if !names_kind || !value.is_string() {
                    visit(value);
                }
            }
        }
    });
}

/// Returns true if a value is text or bytes that may hold JSON.
pub fn may_hold_json(node: Node<'_>) -> bool {
    let content = node.raw_content().unwrap_or_default();
    let first = content.iter().find(|b| !b.is_ascii_whitespace());
    matches!(first, Some(b'{' | b'[' | b'"' | b'\\'))
}

/// Returns the JSON text that a value holds.
pub fn embedded_json(node: Node<'_>) -> Option<Cow<'_, str>> {
    match node.value() {
        Value::Scalar(Scalar::Bin(bytes)) => std::str::from_utf8(bytes).ok().map(Cow::Borrowed),
        _ => node.text(),
    }
}

/// Parses JSON text and visits its root.
pub fn with_json<T>(text: &str, see: impl FnOnce(Node<'_>) -> T) -> Option<T> {
    let mut tape = Tape::new();
    let bytes = text.as_bytes();
    json::parse(bytes, Span::new(0, bytes.len()), DEPTH, &mut tape).ok()?;
    tape.root(bytes).map(see)
}

/// Returns true if a value is text that holds JSON with a secret.
pub fn holds_secret(node: Node<'_>) -> bool {
    holds_secret_within(node, LEVELS, &|_| false)
}

fn holds_secret_within(node: Node<'_>, levels: usize, also: &dyn Fn(&[u8]) -> bool) -> bool {
    if levels == 0 || !may_hold_json(node) {
        return false;
    }
    let Some(text) = embedded_json(node) else {
        return false;
    };
    let found = with_json(&text, |root| {
        let mut found = false;
        for_each_secret(root, also, &mut |value| found |= !value.is_null());
        root.each(&mut |node| found = found || holds_secret_within(node, levels - 1, also));
        found
    });
    found.unwrap_or_default()
}

/// Replaces a secret in a text, even if the text holds only its start.
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
