//! Objects of a log that may be no messages.
//!
//! ```text
//!   INFO app: {'user': 3, 'id': 7}          part of the log, beside messages with a method or a result
//!   DEBUG client: recv {'id': 7}            a broken message: the log says that it was received
//! ```

use super::directions::find_direction;
use super::found::Found;
use super::marks::Mark;

/// The most objects that wait for a certain message.
const MAX_HELD: usize = 16;

/// Objects that other objects look like, such as `{'id': 7}`, in lines that say no direction. Where a message is certain, they
/// are parts of the log.
#[derive(Default)]
pub(super) struct Doubtful {
    /// Those before the first certain message.
    held: Vec<(Mark, Vec<u8>)>,
    /// A message is certain.
    are_none: bool,
    /// There are many of them, and no certain message.
    are_messages: bool,
}

impl Doubtful {
    /// Returns true if a message is not passed on now.
    pub(super) fn holds(&mut self, found: &Found, mark: Mark, message: &[u8]) -> bool {
        if found.is_certain {
            self.are_none = true;
            self.held.clear();
        }
        let is_doubted = !found.is_certain && !self.are_messages && !found.is_alone();
        if !is_doubted || find_direction(&found.before, &found.after).is_some() {
            return false;
        }
        if !self.are_none {
            self.held.push((mark, message.to_vec()));
            self.are_messages = self.held.len() >= MAX_HELD;
        }
        true
    }

    /// Returns those that are messages after all, once that is known.
    pub(super) fn release(&mut self, is_end: bool) -> Vec<(Mark, Vec<u8>)> {
        if is_end || self.are_messages {
            std::mem::take(&mut self.held)
        } else {
            Vec::new()
        }
    }
}
