//! Measures latencies if no conversation does: stores requests by connection, direction and id.

use crate::decoder::Decoded;
use crate::protocol::{Direction, Id, Role};
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

/// The maximum number of stored requests.
const MAX_REQUESTS: usize = 1 << 12;

/// Requests without an answer, with their times.
#[derive(Default)]
pub(super) struct Pairs {
    open: HashMap<u64, i64>,
}

impl Pairs {
    /// Stores a request. For an answer, returns the latency in nanoseconds.
    pub fn latency(&mut self, decoded: &Decoded<'_>) -> Option<i64> {
        let (origin, message) = (decoded.origin, decoded.message);
        let (time, direction) = origin.time.zip(origin.direction)?;
        match message.role? {
            Role::Request => {
                if self.open.len() >= MAX_REQUESTS {
                    self.open.clear();
                }
                self.open
                    .insert(pair_key(origin.conn, direction, &message.id)?, time);
                None
            }
            Role::Response | Role::Error | Role::End => {
                let key = pair_key(origin.conn, direction.other(), &message.id)?;
                Some(time.saturating_sub(self.open.remove(&key)?))
            }
            Role::Item => {
                let key = pair_key(origin.conn, direction.other(), &message.id)?;
                Some(time.saturating_sub(*self.open.get(&key)?))
            }
            _ => None,
        }
    }
}

/// Returns a key that a request and its answer share; `None` without an id.
fn pair_key(conn: Option<u32>, asked: Direction, id: &Id<'_>) -> Option<u64> {
    let mut hasher = DefaultHasher::new();
    (conn, asked).hash(&mut hasher);
    match id {
        Id::None => return None,
        Id::Json(text) => text.hash(&mut hasher),
        Id::Text(text) => text.hash(&mut hasher),
        Id::Uuid(uuid) => uuid.hash(&mut hasher),
        Id::Number(number) => number.hash(&mut hasher),
    }
    Some(hasher.finish())
}
