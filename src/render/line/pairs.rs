//! Measures latencies if no conversation does: stores requests by connection, direction and id.

use crate::decoder::Decoded;
use crate::protocol::Role;
use foldhash::HashMap;

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
        let hashes = self.open.hasher().clone();
        let key = |asked| message.id.pair_key((origin.conn, asked), &hashes);
        match message.role? {
            Role::Request => {
                if self.open.len() >= MAX_REQUESTS {
                    self.open.clear();
                }
                self.open.insert(key(direction)?, time);
                None
            }
            Role::Response | Role::Error | Role::End => {
                let key = key(direction.other())?;
                Some(time.saturating_sub(self.open.remove(&key)?))
            }
            Role::Item => {
                let key = key(direction.other())?;
                Some(time.saturating_sub(*self.open.get(&key)?))
            }
            _ => None,
        }
    }
}
