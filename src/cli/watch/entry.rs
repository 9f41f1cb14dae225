//! The index of messages: 24 bytes for each, in blocks that never move.

use crate::decoder::Origin;
use crate::protocol::session::Severity;
use crate::protocol::{Direction, Role};

/// The number of entries of a block.
const BLOCK: usize = 1 << 12;
/// The number of bits of the marks; the place in the store has the other bits.
const MARK_BITS: u32 = 16;
/// No time, no connection, no other message.
const NO_TIME: i64 = i64::MIN;
const NONE: u32 = u32::MAX;

const ROLE: u64 = 0xf;
const DIRECTION_SHIFT: u32 = 4;
const SEVERITY_SHIFT: u32 = 6;
const TWO_BITS: u64 = 3;
/// It waits for an answer.
const OPEN: u64 = 1 << 8;
/// The id of an answer is that of its request in another form.
const OTHER_FORM: u64 = 1 << 9;

/// It answers another message.
const ANSWER: u64 = 1 << 10;

/// The position of a message and what lists need of its head.
#[derive(Clone, Copy)]
pub struct Entry {
    /// The position of the stored message, and marks.
    at_and_marks: u64,
    time: i64,
    conn: u32,
    /// Of an answer the request; of a request its last answer so far.
    other: u32,
}

impl Entry {
    /// Creates the entry of a message that is stored at a position below 2^48.
    pub fn new(
        at: u64,
        role: Option<Role>,
        direction: Option<Direction>,
        time: Option<i64>,
        conn: Option<u32>,
    ) -> Self {
        let role = role.and_then(|role| Role::ALL.iter().position(|r| *r == role));
        let direction = match direction {
            None => 0,
            Some(Direction::ToServer) => 1,
            Some(Direction::ToClient) => 2,
        };
        let marks = role.map_or(0, |n| n as u64 + 1) | direction << DIRECTION_SHIFT;
        Self {
            at_and_marks: at << MARK_BITS | marks,
            time: time.unwrap_or(NO_TIME),
            conn: conn.unwrap_or(NONE),
            other: NONE,
        }
    }

    /// Returns the entry with another position.
    pub fn moved_to(mut self, at: u64) -> Self {
        let marks = self.at_and_marks & ((1 << MARK_BITS) - 1);
        self.at_and_marks = at << MARK_BITS | marks;
        self
    }

    /// The position of the stored message.
    pub fn at(&self) -> u64 {
        self.at_and_marks >> MARK_BITS
    }

    pub fn role(&self) -> Option<Role> {
        let number = (self.at_and_marks & ROLE) as usize;
        Role::ALL.get(number.checked_sub(1)?).copied()
    }

    pub fn direction(&self) -> Option<Direction> {
        match self.at_and_marks >> DIRECTION_SHIFT & TWO_BITS {
            1 => Some(Direction::ToServer),
            2 => Some(Direction::ToClient),
            _ => None,
        }
    }

    pub fn time(&self) -> Option<i64> {
        (self.time != NO_TIME).then_some(self.time)
    }

    pub fn conn(&self) -> Option<u32> {
        (self.conn != NONE).then_some(self.conn)
    }

    /// Returns the connection, direction and time.
    pub fn origin(&self) -> Origin {
        Origin {
            conn: self.conn(),
            stream: None,
            direction: self.direction(),
            time: self.time(),
        }
    }

    /// The severity of its worst finding.
    pub fn severity(&self) -> Option<Severity> {
        match self.at_and_marks >> SEVERITY_SHIFT & TWO_BITS {
            1 => Some(Severity::Info),
            2 => Some(Severity::Warning),
            3 => Some(Severity::Error),
            _ => None,
        }
    }

    /// Of an answer the request; of a request its last answer so far.
    pub fn other(&self) -> Option<usize> {
        (self.other != NONE).then_some(self.other as usize)
    }

    /// Returns true for the message that others answer.
    pub fn is_request(&self) -> bool {
        self.role() == Some(Role::Request)
    }

    /// Returns true for a message that answers another.
    pub fn is_answer(&self) -> bool {
        self.at_and_marks & ANSWER != 0
    }

    /// Returns true for a message that waits for an answer.
    pub fn is_open(&self) -> bool {
        self.at_and_marks & OPEN != 0
    }

    /// Marks a message that waits for an answer, or does not any more. Returns true if that changes it.
    pub fn set_open(&mut self, is_open: bool) -> bool {
        let changes = self.is_open() != is_open;
        self.at_and_marks ^= if changes { OPEN } else { 0 };
        changes
    }

    /// Returns true if its id is that of its request in another form.
    pub fn has_other_form(&self) -> bool {
        self.at_and_marks & OTHER_FORM != 0
    }

    /// Marks a request as answered by a message.
    pub fn set_answer(&mut self, by: usize) {
        if !self.is_answer() {
            self.other = by as u32;
        }
    }

    /// Marks a message as the answer to another.
    pub fn set_request(&mut self, to: u64, other_form: bool) {
        self.other = u32::try_from(to).unwrap_or(NONE);
        self.at_and_marks |= ANSWER | if other_form { OTHER_FORM } else { 0 };
    }

    /// Marks a message with a finding.
    pub fn add_severity(&mut self, severity: Severity) {
        let new = match severity {
            Severity::Off => 0,
            Severity::Info => 1,
            Severity::Warning => 2,
            Severity::Error => 3,
        };
        let old = self.at_and_marks >> SEVERITY_SHIFT & TWO_BITS;
        self.at_and_marks &= !(TWO_BITS << SEVERITY_SHIFT);
        self.at_and_marks |= old.max(new) << SEVERITY_SHIFT;
    }
}

/// All entries, in the order of the messages.
#[derive(Default)]
pub struct Entries {
    blocks: Vec<Vec<Entry>>,
}

impl Entries {
    pub fn len(&self) -> usize {
        let full = self.blocks.len().saturating_sub(1) * BLOCK;
        full + self.blocks.last().map_or(0, Vec::len)
    }

    pub fn push(&mut self, entry: Entry) {
        match self.blocks.last_mut() {
            Some(block) if block.len() < BLOCK => block.push(entry),
            _ => {
                let mut block = Vec::with_capacity(BLOCK);
                block.push(entry);
                self.blocks.push(block);
            }
        }
    }

    pub fn get(&self, index: usize) -> Option<&Entry> {
        self.blocks.get(index / BLOCK)?.get(index % BLOCK)
    }

    pub fn get_mut(&mut self, index: usize) -> Option<&mut Entry> {
        self.blocks.get_mut(index / BLOCK)?.get_mut(index % BLOCK)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_takes_24_bytes_and_keeps_its_values() {
        assert_eq!(size_of::<Entry>(), 24);
        let mut entry = Entry::new(
            (1 << 48) - 1,
            Some(Role::Control),
            Some(Direction::ToClient),
            Some(-5),
            Some(7),
        );
        entry.add_severity(Severity::Warning);
        entry.add_severity(Severity::Info);
        entry.set_request(12, true);
        assert_eq!(entry.at(), (1 << 48) - 1);
        assert_eq!(entry.role(), Some(Role::Control));
        assert_eq!(entry.direction(), Some(Direction::ToClient));
        assert_eq!((entry.time(), entry.conn()), (Some(-5), Some(7)));
        assert_eq!(entry.severity(), Some(Severity::Warning));
        assert_eq!((entry.other(), entry.has_other_form()), (Some(12), true));
        let none = Entry::new(0, None, None, None, None);
        assert_eq!((none.role(), none.direction()), (None, None));
        assert_eq!((none.time(), none.conn(), none.other()), (None, None, None));
        assert_eq!(none.severity(), None);
    }

    #[test]
    fn a_request_is_open_until_that_is_changed() {
        let mut request = Entry::new(0, Some(Role::Request), None, None, None);
        assert!(!request.is_open());
        assert!(request.set_open(true) && !request.set_open(true));
        request.set_answer(3);
        assert!(request.is_open());
        request.set_answer(4);
        assert!(request.set_open(false) && !request.is_open());
        assert_eq!((request.other(), request.is_answer()), (Some(4), false));
        let mut both = Entry::new(0, Some(Role::Hello), None, None, None);
        both.set_request(1, false);
        both.set_answer(5);
        assert_eq!((both.other(), both.is_answer()), (Some(1), true));
    }

    #[test]
    fn entries_keep_their_order_over_blocks() {
        let mut entries = Entries::default();
        for at in 0..2 * BLOCK as u64 + 3 {
            entries.push(Entry::new(at, None, None, None, None));
        }
        assert_eq!(entries.len(), 2 * BLOCK + 3);
        for at in [0, BLOCK - 1, BLOCK, 2 * BLOCK + 2] {
            assert_eq!(entries.get(at).map(Entry::at), Some(at as u64));
        }
        assert!(entries.get(2 * BLOCK + 3).is_none());
    }
}
