//! The open requests of a stream whose frames do not say which way they went.

use crate::framing::Head;
use crate::protocol::{Message, Role};

/// Requests without an answer, of a stream whose frames do not say which way they went: how many have a method id, and
/// whether the kind of one of them is a guess.
#[derive(Default)]
pub(super) struct Open(Vec<(u32, u32, bool)>);

impl Open {
    pub(super) fn of(&self, head: Head<'_>) -> Option<bool> {
        let Head::Method { id: wanted, .. } = head else {
            return None;
        };
        let found = self
            .0
            .iter()
            .find(|(id, count, _)| *id == wanted && *count > 0);
        found.map(|(.., guess)| *guess)
    }

    /// There are as many entries as methods that the protocol knows: other frames have no role.
    pub(super) fn see(&mut self, head: Head<'_>, message: &Message<'_>) {
        let (Head::Method { id: wanted, .. }, Some(role)) = (head, message.role) else {
            return;
        };
        match (self.0.iter_mut().find(|(id, ..)| *id == wanted), role) {
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
