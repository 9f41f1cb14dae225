//! What earlier requests say about a message: the open ones of a stream, for protocols whose answers do not name their request,
//! and the names of the latest ones, which answers inherit.
//!
//! ```text
//!   without direction   counts by method: a frame of a method with an open request may be its answer
//!   with directions     methods in order: an answer without a method id is that of an open request
//! ```

use crate::framing::Head;
use crate::protocol::{Context, Direction, Message, Origin, Role};
use foldhash::HashMap;
use std::collections::VecDeque;

/// The largest number of requests of one stream whose order is kept.
const MAX_ORDERED: usize = 1 << 10;
/// The maximum number of stored names; then the oldest is removed.
const MAX_NAMES: usize = 1 << 12;
/// The maximum length of a stored name, in bytes.
const MAX_NAME_LEN: usize = 1 << 10;

/// Requests without a response.
#[derive(Clone, Default)]
pub(super) struct OpenRequests {
    /// In a stream without directions: for each method id, their number, and `true` if the kind of one of them is a
    /// guess.
    counts: Vec<(u32, u32, bool)>,
    /// In a stream with directions: their method ids, the oldest first.
    methods: Vec<u32>,
}

/// The open requests of a stream with directions, in few bytes: most have none or one.
#[derive(Debug, Default)]
pub(super) enum OpenMethods {
    #[default]
    None,
    One(u32),
    // A thin box: there are many streams with one.
    Several(Box<Box<[u32]>>),
}

impl From<OpenMethods> for OpenRequests {
    fn from(open: OpenMethods) -> Self {
        let methods = match open {
            OpenMethods::None => Vec::new(),
            OpenMethods::One(id) => vec![id],
            OpenMethods::Several(ids) => Vec::from(*ids),
        };
        Self {
            methods,
            ..Self::default()
        }
    }
}

impl OpenRequests {
    /// Returns the open requests in few bytes, if the stream has a direction.
    pub(super) fn compact(&self) -> Option<OpenMethods> {
        self.counts
            .is_empty()
            .then(|| match self.methods.as_slice() {
                [] => OpenMethods::None,
                [id] => OpenMethods::One(*id),
                ids => OpenMethods::Several(Box::new(ids.into())),
            })
    }

    /// Returns `true` if no request waits for an answer without a method id.
    pub(super) fn is_without_order(&self) -> bool {
        self.methods.is_empty()
    }

    /// Returns the context of a frame for the protocol, and the entry of its method.
    pub(super) fn context(
        &self,
        direction: Option<Direction>,
        head: Head<'_>,
    ) -> (Context<'_>, Option<usize>) {
        let entry = match (direction, head) {
            (None, Head::Method { id: wanted, .. }) => {
                self.counts.iter().position(|(id, ..)| *id == wanted)
            }
            _ => None,
        };
        let count = entry.and_then(|entry| self.counts.get(entry));
        let open = count.filter(|(_, count, _)| *count > 0);
        let context = Context {
            direction,
            open: open.map(|(.., guess)| *guess),
            open_methods: &self.methods,
        };
        (context, entry)
    }

    /// Counts a message.
    pub(super) fn observe(
        &mut self,
        direction: Option<Direction>,
        head: Head<'_>,
        entry: Option<usize>,
        message: &Message<'_>,
    ) {
        let id = match head {
            Head::Method { id, .. } => Some(id),
            _ => message.answered_method,
        };
        let (Some(id), Some(role)) = (id, message.role) else {
            return;
        };
        if direction.is_some() {
            return self.observe_in_order(id, role);
        }
        // The number of entries is at most that of the protocol's methods: other frames have no role.
        match (entry.and_then(|entry| self.counts.get_mut(entry)), role) {
            (Some((_, count, guess)), Role::Request) => {
                *guess = message.guess || (*guess && *count > 0);
                *count = count.saturating_add(1);
            }
            (None, Role::Request) => self.counts.push((id, 1, message.guess)),
            (Some((_, count, _)), Role::Response) => *count = count.saturating_sub(1),
            _ => {}
        }
    }

    fn observe_in_order(&mut self, id: u32, role: Role) {
        match role {
            Role::Request if self.methods.len() < MAX_ORDERED => self.methods.push(id),
            Role::Response => {
                if let Some(at) = self.methods.iter().position(|open| *open == id) {
                    self.methods.remove(at);
                }
            }
            _ => {}
        }
    }
}

/// Names of requests, by connection, direction and id. They stay after the answer: items of a stream may follow it.
#[derive(Default)]
pub(super) struct OpenNames {
    names: HashMap<u64, String>,
    /// The keys in the order in which they were added.
    order: VecDeque<u64>,
}

impl OpenNames {
    /// Stores the name of a request. For an answer without a name, returns that of its request.
    pub(super) fn observe(&mut self, origin: Origin, message: &Message<'_>) -> Option<&str> {
        match message.role? {
            Role::Request => {
                self.ask(origin, message);
                None
            }
            Role::Response | Role::Error | Role::Item | Role::End
                if !self.names.is_empty() && message.name.is_none() =>
            {
                let asked = (origin.conn, origin.direction.map(Direction::other));
                let key = message.id.pair_key(asked, self.names.hasher())?;
                self.names.get(&key).map(String::as_str)
            }
            _ => None,
        }
    }

    fn ask(&mut self, origin: Origin, message: &Message<'_>) {
        let name = message
            .name
            .as_deref()
            .filter(|name| name.len() <= MAX_NAME_LEN);
        if self.names.is_empty() && name.is_none() {
            return;
        }
        let asked = (origin.conn, origin.direction);
        let Some(key) = message.id.pair_key(asked, self.names.hasher()) else {
            return;
        };
        let Some(name) = name else {
            self.names.remove(&key);
            return;
        };
        if let Some(stored) = self.names.get_mut(&key) {
            stored.clear();
            stored.push_str(name);
            return;
        }
        let is_full = self.order.len() >= MAX_NAMES;
        let oldest = if is_full {
            self.order.pop_front()
        } else {
            None
        };
        let removed = oldest.and_then(|oldest| self.names.remove(&oldest));
        let mut stored = removed.unwrap_or_default();
        stored.clear();
        stored.push_str(name);
        self.names.insert(key, stored);
        self.order.push_back(key);
    }
}
