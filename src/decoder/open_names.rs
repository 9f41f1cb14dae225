//! The names of the latest requests, so that answers have the names of their requests.

use crate::protocol::{Direction, Message, Origin, Role};

use foldhash::HashMap;
use std::collections::VecDeque;

/// The maximum number of stored names; then the oldest is removed.
const MAX_NAMES: usize = 1 << 12;
/// The maximum length of a stored name, in bytes.
const MAX_LEN: usize = 1 << 10;

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
        let name = message.name.as_deref().filter(|name| name.len() <= MAX_LEN);
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
