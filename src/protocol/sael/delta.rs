//! Deltas folded: what a stream's value is after each STR.
//!
//! The first delta of a call is its snapshot; each later one is a merge patch (RFC 7386): null removes a member, an
//! object goes into what is there, anything else takes its place.
//!
//! Values are kept as their own JSON text but for the objects around them, so that numbers stay exact and members in
//! order. A null in the snapshot is kept; no patch can bring one in.

use super::token::is_token;
use crate::encoding::json::write_str;
use crate::encoding::lossless;
use crate::framing::fields::is_secret_name;
use crate::protocol::{Message, Role, holds_secret};
use crate::tape::Node;
use std::collections::{BTreeMap, VecDeque};

/// Streams that are held at a time; the one that was patched longest ago goes first.
pub const STREAMS: usize = 1024;
/// Bytes that one stream's value may take.
pub const VALUE: usize = 16 << 20;
/// Bytes that all of them may take.
pub const TOTAL: usize = 64 << 20;

/// A value that patches can be merged into.
#[derive(Clone, Debug)]
pub enum Folded {
    /// An object.
    Object(Members),
    /// A list: replaced whole.
    Array(Vec<Folded>),
    /// Anything else, as JSON.
    Leaf(String),
    /// Text that looks like a capability token or holds JSON with a secret, as JSON.
    Secret(String),
}

/// The members of an object, found by key and kept in the order in which they came.
#[derive(Clone, Debug, Default)]
pub struct Members {
    map: BTreeMap<String, (u64, Folded)>,
    next: u64,
}

impl Members {
    /// Each key with its value, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Folded)> {
        let mut all: Vec<_> = self.map.iter().collect();
        all.sort_unstable_by_key(|(_, (place, _))| *place);
        all.into_iter()
            .map(|(key, (_, value))| (key.as_str(), value))
    }

    /// Puts a value in its place, or at the end; gives the bytes by which the object grew.
    fn put(&mut self, key: String, value: Folded) -> isize {
        let size = value.size();
        if let Some((_, old)) = self.map.get_mut(&key) {
            let before = old.size();
            *old = value;
            return difference(size, before);
        }
        let grown = difference(NODE + key.len() + size, 0);
        self.map.insert(key, (self.next, value));
        self.next += 1;
        grown
    }
}

/// Bytes of a value beside its text, roughly.
const NODE: usize = 64;

/// Memory is bounded far below where these would wrap.
#[allow(clippy::cast_possible_wrap)]
fn difference(after: usize, before: usize) -> isize {
    after as isize - before as isize
}

impl Folded {
    /// A value of a message. Where a key is there twice, the last one counts.
    pub fn new(node: Node<'_>) -> Self {
        if node.is_array() {
            return Self::Array(node.children().map(Self::new).collect());
        }
        if let Some(members) = members(node) {
            let mut object = Members::default();
            for (key, value) in members {
                object.put(key, Self::new(value));
            }
            return Self::Object(object);
        }
        let mut json = Vec::new();
        lossless::write(node, &mut json);
        let json = String::from_utf8_lossy(&json).into_owned();
        let is_token = node.is_string() && node.text().is_some_and(|text| is_token(&text));
        if is_token || holds_secret(node) {
            Self::Secret(json)
        } else {
            Self::Leaf(json)
        }
    }

    /// Merges a patch into it (RFC 7386, section 2); gives the bytes by which it grew.
    pub fn merge(&mut self, patch: Node<'_>) -> isize {
        let Some(members) = members(patch) else {
            let before = self.size();
            *self = Self::new(patch);
            return difference(self.size(), before);
        };
        let mut grown = 0;
        if !matches!(self, Self::Object(_)) {
            grown -= difference(self.size(), NODE);
            *self = Self::Object(Members::default());
        }
        let Self::Object(object) = self else {
            return grown;
        };
        for (key, value) in members {
            if value.is_null() {
                if let Some((_, old)) = object.map.remove(&key) {
                    grown -= difference(NODE + key.len() + old.size(), 0);
                }
            } else if let Some((_, old)) = object.map.get_mut(&key) {
                grown += old.merge(value);
            } else {
                let mut new = Self::Object(Members::default());
                new.merge(value);
                grown += object.put(key, new);
            }
        }
        grown
    }

    /// Writes it as JSON on one line, and stops soon after `most` bytes; tokens are masked unless `show_secrets`.
    pub fn write(&self, show_secrets: bool, most: usize, out: &mut String) {
        match self {
            Self::Leaf(json) => out.push_str(json),
            Self::Secret(json) if show_secrets => out.push_str(json),
            Self::Secret(_) => out.push_str("\"(secret)\""),
            Self::Array(items) => {
                out.push('[');
                for (i, item) in items.iter().enumerate() {
                    if i > 0 {
                        out.push(',');
                    }
                    if out.len() > most {
                        return;
                    }
                    item.write(show_secrets, most, out);
                }
                out.push(']');
            }
            Self::Object(members) => {
                out.push('{');
                for (i, (key, value)) in members.iter().enumerate() {
                    if i > 0 {
                        out.push(',');
                    }
                    if out.len() > most {
                        return;
                    }
                    out.push_str(&key_json(key));
                    out.push(':');
                    if !show_secrets && is_secret_member(key, value) {
                        out.push_str("\"(secret)\"");
                    } else {
                        value.write(show_secrets, most, out);
                    }
                }
                out.push('}');
            }
        }
    }

    /// It as JSON on one line, whole, secrets included.
    #[cfg(test)]
    pub fn json(&self) -> String {
        let mut out = String::new();
        self.write(true, usize::MAX, &mut out);
        out
    }

    /// Bytes of memory, roughly.
    fn size(&self) -> usize {
        match self {
            Self::Leaf(json) | Self::Secret(json) => NODE + json.len(),
            Self::Array(items) => NODE + items.iter().map(Self::size).sum::<usize>(),
            Self::Object(members) => {
                let each = members.map.iter();
                let each = each.map(|(key, (_, value))| NODE + key.len() + value.size());
                NODE + each.sum::<usize>()
            }
        }
    }
}

/// Whether nothing of a member may be shown.
pub fn is_secret_member(key: &str, value: &Folded) -> bool {
    let is_constant =
        matches!(value, Folded::Leaf(json) if matches!(json.as_str(), "null" | "true" | "false"));
    is_secret_name(key.as_bytes()) && !is_constant
}

/// A key as JSON.
pub fn key_json(key: &str) -> String {
    let mut out = Vec::new();
    write_str(key, &mut out);
    String::from_utf8(out).unwrap_or_default()
}

/// The members of an object whose keys are all text; other maps are replaced whole.
fn members(node: Node<'_>) -> Option<Vec<(String, Node<'_>)>> {
    if !node.is_map() {
        return None;
    }
    let members = node.members();
    members
        .map(|(key, value)| Some((key.text()?.into_owned(), value)))
        .collect()
}

/// What a message did to the stream that it belongs to.
#[derive(Clone, Copy, Debug)]
pub enum Step<'s> {
    /// The value it has come to.
    Now(&'s Folded),
    /// It has outgrown the limit, and is not followed any more.
    TooLarge,
}

type Key = (Option<u32>, String);

/// A stream's value, and the room it takes.
struct State {
    /// None once it grew too large: it stays known, lest its next patch be taken for a snapshot.
    value: Option<Folded>,
    size: usize,
}

/// The values of all streams that are open: one a connection and seq, bounded in number and size. One that had to make
/// room begins anew with its next delta.
#[derive(Default)]
pub struct States {
    open: BTreeMap<Key, State>,
    /// From the one that was patched longest ago.
    order: VecDeque<Key>,
    total: usize,
}

impl States {
    /// Takes note of a message, of which `root` is the whole value. A STR with a delta gives the value it leads to; what
    /// ends a call, or begins one anew, drops its value.
    pub fn see(
        &mut self,
        conn: Option<u32>,
        message: &Message<'_>,
        root: Option<Node<'_>>,
    ) -> Option<Step<'_>> {
        if matches!(
            message.role,
            Some(Role::End | Role::Error | Role::Response | Role::Request)
        ) {
            self.drop(&(conn, message.id.text().into_owned()));
            return None;
        }
        if message.kind != "STR" {
            return None;
        }
        let delta = root?.get("delta")?;
        let key = (conn, message.id.text().into_owned());
        if let Some(state) = self.open.get_mut(&key) {
            let grown = state.value.as_mut()?.merge(delta);
            state.size = state.size.saturating_add_signed(grown);
            self.total = self.total.saturating_add_signed(grown);
        } else {
            let value = Folded::new(delta);
            let size = value.size();
            self.total += size;
            let value = Some(value);
            self.open.insert(key.clone(), State { value, size });
        }
        self.order.retain(|k| *k != key);
        self.order.push_back(key.clone());
        if let Some(state) = self.open.get_mut(&key)
            && state.size > VALUE
        {
            self.total = self.total.saturating_sub(state.size);
            (state.value, state.size) = (None, 0);
        }
        while self.order.len() > STREAMS || self.total > TOTAL {
            let Some(oldest) = self.order.front().cloned() else {
                break;
            };
            self.drop(&oldest);
        }
        match self.open.get(&key)?.value.as_ref() {
            Some(value) => Some(Step::Now(value)),
            None => Some(Step::TooLarge),
        }
    }

    fn drop(&mut self, key: &Key) {
        if let Some(state) = self.open.remove(key) {
            self.total = self.total.saturating_sub(state.size);
            self.order.retain(|k| k != key);
        }
    }

    /// Streams that are held.
    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.open.len()
    }
}

#[cfg(test)]
mod tests;
