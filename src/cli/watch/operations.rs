//! The operations of the stored messages: 4 bytes for each message, and the summaries of those that have ended.
//!
//! ```text
//!   begins  link  index: of the operation; of the first message of one, the operation that contains it, or its own
//!   1 bit   2     29
//! ```

use crate::conversation::{MessageOperation, Operation};
use crate::protocol::session::Link;
use std::collections::HashMap;

/// It is the first message of an operation.
const BEGINS: u32 = 1 << 31;
const LINK_SHIFT: u32 = 29;
/// No operation. Messages from this index on have none.
const NONE: u32 = (1 << LINK_SHIFT) - 1;
/// The number of ended operations whose summaries are kept.
const MAX_ENDED: usize = 1 << 14;
/// The number of operations inside of each other that are followed.
const MAX_DEPTH: usize = 32;

/// The operations of the messages so far.
#[derive(Default)]
pub struct StoredOperations {
    of: Vec<u32>,
    ended: HashMap<u64, Operation>,
    /// The numbers of items that are not acknowledged: the message, its operation, the number.
    unacknowledged: Vec<(u32, u32, u32)>,
}

impl StoredOperations {
    pub fn set(&mut self, message: usize, operation: MessageOperation) {
        if let (Some(count), Ok(index)) = (operation.unacknowledged, u32::try_from(operation.index))
            && self.unacknowledged.len() < MAX_ENDED
        {
            let message = u32::try_from(message).unwrap_or(u32::MAX);
            self.unacknowledged.push((message, index, count));
        }
        let begins = operation.index == message as u64;
        let index = match operation.parent {
            Some(parent) if begins => parent,
            _ => operation.index,
        };
        let Some(index) = u32::try_from(index).ok().filter(|index| *index < NONE) else {
            return;
        };
        let link = match operation.link {
            None => 0,
            Some(Link::Recorded) => 1,
            Some(Link::Inferred) => 2,
        };
        if self.of.len() <= message {
            self.of.resize(message + 1, NONE);
        }
        if let Some(place) = self.of.get_mut(message) {
            *place = index | link << LINK_SHIFT | if begins { BEGINS } else { 0 };
        }
    }

    /// Keeps the summary of an operation that has ended.
    pub fn end(&mut self, operation: Operation) {
        if self.ended.len() < MAX_ENDED {
            self.ended.insert(operation.index, operation);
        }
    }

    /// Returns the summary of an operation that has ended, if it is kept.
    pub fn ended(&self, operation: usize) -> Option<&Operation> {
        self.ended.get(&(operation as u64))
    }

    fn value(&self, message: usize) -> Option<(usize, u32)> {
        let value = *self.of.get(message)?;
        let index = value & NONE;
        (index != NONE).then_some((index as usize, value))
    }

    /// Returns the first message of the operation of a message.
    pub fn first(&self, message: usize) -> Option<usize> {
        let (index, value) = self.value(message)?;
        Some(if value & BEGINS != 0 { message } else { index })
    }

    /// Returns the operation that contains another one.
    pub fn parent(&self, operation: usize) -> Option<usize> {
        let (index, value) = self.value(operation)?;
        (value & BEGINS != 0 && index < operation).then_some(index)
    }

    /// Returns the number of items of an operation that are not acknowledged after a message, if that is known.
    pub fn unacknowledged(&self, operation: usize, message: usize) -> Option<u32> {
        let after = self
            .unacknowledged
            .partition_point(|one| one.0 as usize <= message);
        let before = self.unacknowledged.get(..after)?.iter().rev();
        let mut own = before.filter(|one| one.1 as usize == operation);
        own.next().map(|one| one.2)
    }

    /// Returns an operation and those that contain it, the outermost last.
    pub fn around(&self, operation: usize) -> impl Iterator<Item = usize> + '_ {
        let next = |operation: &usize| self.parent(*operation);
        std::iter::successors(Some(operation), next).take(MAX_DEPTH)
    }

    /// Returns the operation of a message that is inside of no other one.
    pub fn outermost(&self, message: usize) -> Option<usize> {
        self.around(self.first(message)?).last()
    }

    /// Returns what a verdict says about the operation of a message.
    pub fn of_message(&self, message: usize) -> Option<MessageOperation> {
        let (_, value) = self.value(message)?;
        let first = self.first(message)?;
        let parent = self.parent(first).map(|parent| parent as u64);
        let link = match value >> LINK_SHIFT & 3 {
            1 => Some(Link::Recorded),
            2 => Some(Link::Inferred),
            _ => None,
        };
        Some(MessageOperation::new(first as u64, parent, link))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_operation_is_stored_in_four_bytes() {
        let mut stored = StoredOperations::default();
        let all = [
            (0, MessageOperation::new(0, None, None)),
            (2, MessageOperation::new(2, Some(0), Some(Link::Inferred))),
            (3, MessageOperation::new(3, Some(2), Some(Link::Recorded))),
            (4, MessageOperation::new(3, Some(2), Some(Link::Recorded))),
            (6, MessageOperation::new(0, None, None)),
        ];
        for (message, operation) in all {
            stored.set(message, operation);
        }
        for (message, operation) in all {
            assert_eq!(stored.of_message(message), Some(operation), "{message}");
        }
        assert_eq!(stored.of_message(1), None);
        assert_eq!(stored.of_message(7), None);
        let outermost = [0, 1, 2, 3, 4, 5, 6].map(|message| stored.outermost(message));
        let none = None;
        let wanted = [Some(0), none, Some(0), Some(0), Some(0), none, Some(0)];
        assert_eq!(outermost, wanted);
        // An index that does not fit is no operation.
        let large = MessageOperation::new(u64::from(NONE), None, None);
        stored.set(8, large);
        assert_eq!(stored.of_message(8), None);
    }
}
