//! The value of a stream after each STR.
//!
//! The first delta of a call is its snapshot; each later one is a merge patch (RFC 7386): null removes a member, an
//! object is merged into the present one, any other value replaces the present one.
//!
//! Values keep their own JSON text, except the objects around them, so that numbers stay exact and members keep their
//! order. A null in the snapshot is kept; no patch can add one.

use super::Sael;
use super::token::is_token;
use crate::encoding::json::write_str;
use crate::encoding::lossless;
use crate::framing::fields::is_secret_name;
use crate::protocol::secrets::{SecretNames, holds_secret, text_parts};
use crate::protocol::{Message, Role};
use crate::tape::Node;
use std::collections::{BTreeMap, VecDeque};

/// The largest number of streams. One more replaces the stream that was patched longest ago.
pub const STREAMS: usize = 1024;
/// The largest size of the value of one stream, in bytes.
pub const VALUE: usize = 16 << 20;
/// The largest size of all values, in bytes.
pub const TOTAL: usize = 64 << 20;

/// A value that accepts merge patches.
#[derive(Clone, Debug)]
pub enum Folded {
    /// An object.
    Object(Members),
    /// An array, which is only replaced as a whole.
    Array(Vec<Folded>),
    /// Any other value, as JSON.
    Leaf(String),
    /// Text that looks like a capability token or holds JSON with a secret, as JSON.
    Secret(String),
}

/// The members of an object, found by key and kept in order of insertion.
#[derive(Clone, Debug, Default)]
pub struct Members {
    map: BTreeMap<String, (u64, Folded)>,
    next: u64,
}

impl Members {
    /// Returns each key with its value, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Folded)> {
        let mut all: Vec<_> = self.map.iter().collect();
        all.sort_unstable_by_key(|(_, (place, _))| *place);
        all.into_iter()
            .map(|(key, (_, value))| (key.as_str(), value))
    }

    /// Replaces a value, or appends it. Returns the growth of the object in bytes.
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

/// The approximate memory of a value besides its text, in bytes.
const NODE: usize = 64;

/// Memory is bounded far below the sizes at which these casts wrap.
#[allow(clippy::cast_possible_wrap)]
fn difference(after: usize, before: usize) -> isize {
    after as isize - before as isize
}

impl Folded {
    /// Converts a value of a message. If a key is repeated, the last one counts.
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
        let names = SecretNames::of(&Sael);
        if is_token || holds_secret(node, &names) || !text_parts(node).is_empty() {
            Self::Secret(json)
        } else {
            Self::Leaf(json)
        }
    }

    /// Merges a patch (RFC 7386, section 2). Returns the growth in bytes.
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

    /// Writes the value as JSON on one line, and stops soon after `most` bytes. Tokens are masked unless `show_secrets`
    /// is set.
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

    /// Returns the whole value as JSON on one line, with secrets.
    #[cfg(test)]
    pub fn json(&self) -> String {
        let mut out = String::new();
        self.write(true, usize::MAX, &mut out);
        out
    }

    /// Returns the approximate memory in bytes.
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

/// Returns true if no part of a member may be shown.
pub fn is_secret_member(key: &str, value: &Folded) -> bool {
    let is_constant =
        matches!(value, Folded::Leaf(json) if matches!(json.as_str(), "null" | "true" | "false"));
    is_secret_name(key.as_bytes()) && !is_constant
}

/// Writes a key as JSON.
pub fn key_json(key: &str) -> String {
    let mut out = Vec::new();
    write_str(key, &mut out);
    String::from_utf8(out).unwrap_or_default()
}

/// Returns the members of an object if all keys are text; other maps are replaced as a whole.
fn members(node: Node<'_>) -> Option<Vec<(String, Node<'_>)>> {
    if !node.is_map() {
        return None;
    }
    let members = node.members();
    members
        .map(|(key, value)| Some((key.text()?.into_owned(), value)))
        .collect()
}

/// The effect of a message on its stream.
#[derive(Clone, Copy, Debug)]
pub enum DeltaStep<'s> {
    /// The new value.
    Now(&'s Folded),
    /// The value has exceeded the limit, and is not tracked any more.
    TooLarge,
}

type StreamKey = (Option<u32>, String);

/// The value of a stream, and its size.
struct FoldedStream {
    /// `None` after the value grew too large. The stream stays in the table, so that its next patch is not read as a
    /// snapshot.
    value: Option<Folded>,
    size: usize,
}

/// The values of all open streams, one for each connection and seq, bounded in number and size. A stream that was
/// removed for lack of space starts again with its next delta.
#[derive(Default)]
pub struct States {
    open: BTreeMap<StreamKey, FoldedStream>,
    /// The stream that was patched longest ago comes first.
    order: VecDeque<StreamKey>,
    total: usize,
}

impl States {
    /// Handles a message; `root` is its whole value. Returns the new value after a STR with a delta. A message that
    /// ends a call or starts it again drops its value.
    pub fn see(
        &mut self,
        conn: Option<u32>,
        message: &Message<'_>,
        root: Option<Node<'_>>,
    ) -> Option<DeltaStep<'_>> {
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
            self.open.insert(key.clone(), FoldedStream { value, size });
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
            Some(value) => Some(DeltaStep::Now(value)),
            None => Some(DeltaStep::TooLarge),
        }
    }

    fn drop(&mut self, key: &StreamKey) {
        if let Some(state) = self.open.remove(key) {
            self.total = self.total.saturating_sub(state.size);
            self.order.retain(|k| k != key);
        }
    }

    /// Returns the number of streams.
    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.open.len()
    }
}

#[cfg(test)]
mod tests;
