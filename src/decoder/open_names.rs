//! The names of requests without an answer, so that answers have the names of their requests.

use crate::protocol::{Direction, Message, Origin, Role};
use foldhash::HashMap;

/// The maximum number of stored names.
const MAX_NAMES: usize = 1 << 12;

/// Names of requests, by connection, direction and id.
#[derive(Default)]
pub(super) struct OpenNames {
    open: HashMap<u64, String>,
    /// The name of the last answer; its memory is used for the next request.
    answered: String,
}

impl OpenNames {
    /// Stores the name of a request. For an answer without a name, returns that of its request.
    pub(super) fn observe(&mut self, origin: Origin, message: &Message<'_>) -> Option<&str> {
        let role = message.role?;
        if role == Role::Request {
            self.ask(origin, message);
            return None;
        }
        if self.open.is_empty() || message.name.is_some() {
            return None;
        }
        let asked = (origin.conn, origin.direction.map(Direction::other));
        let key = message.id.pair_key(asked)?;
        match role {
            Role::Response | Role::Error | Role::End => {
                self.answered = self.open.remove(&key)?;
                Some(&self.answered)
            }
            Role::Item => self.open.get(&key).map(String::as_str),
            _ => None,
        }
    }

    fn ask(&mut self, origin: Origin, message: &Message<'_>) {
        if self.open.is_empty() && message.name.is_none() {
            return;
        }
        let Some(key) = message.id.pair_key((origin.conn, origin.direction)) else {
            return;
        };
        let Some(name) = &message.name else {
            self.open.remove(&key);
            return;
        };
        if self.open.len() >= MAX_NAMES {
            self.open.clear();
        }
        let mut stored = std::mem::take(&mut self.answered);
        stored.clear();
        stored.push_str(name);
        self.open.insert(key, stored);
    }
}
