//! The open requests of a stream without directions.

use crate::framing::Head;
use crate::protocol::{Message, Role};

/// Requests without a response, in a stream without directions: for each method id, their number,
/// and `true` if the kind of one of them is a guess.
#[derive(Default)]
pub(super) struct OpenCounts(Vec<(u32, u32, bool)>);

impl OpenCounts {
    /// Returns the entry of a frame's method, if there is one.
    pub(super) fn entry(&self, head: Head<'_>) -> Option<usize> {
        let Head::Method { id: wanted, .. } = head else {
            return None;
        };
        self.0.iter().position(|(id, ..)| *id == wanted)
    }

    /// Returns `true` if the kind of an open request of an entry is a guess; `None` if no request
    /// is open.
    pub(super) fn guess(&self, entry: Option<usize>) -> Option<bool> {
        let (_, count, guess) = self.0.get(entry?)?;
        (*count > 0).then_some(*guess)
    }

    /// Counts a message. The number of entries is at most that of the protocol's methods: other
    /// frames have no role.
    pub(super) fn observe(&mut self, head: Head<'_>, entry: Option<usize>, message: &Message<'_>) {
        let (Head::Method { id: wanted, .. }, Some(role)) = (head, message.role) else {
            return;
        };
        match (entry.and_then(|entry| self.0.get_mut(entry)), role) {
            (Some((_, count, guess)), Role::Request) => {
                *guess = message.guess || (*guess && *count > 0);
                *count = count.saturating_add(1);
            }
            (None, Role::Request) => self.0.push((wanted, 1, message.guess)),
            (Some((_, count, _)), Role::Response) => *count = count.saturating_sub(1),
            _ => {}
        }
    }
}
