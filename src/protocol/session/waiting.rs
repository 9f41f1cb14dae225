//! Messages that a side waits for.

use crate::protocol::{Direction, Place};
use std::collections::{HashMap, HashSet};

/// A message that one side waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// The message that waits for an answer, or after which nothing came.
    pub place: Place,
    /// A description: `call math.add`, `the executor, for ready`.
    pub what: String,
    /// The id for display.
    pub id: String,
    /// The direction of the side that must send next; `None` if directions are not known.
    pub owes: Option<Direction>,
    /// The name of that side on this connection, if it is not the usual one of the protocol.
    pub side: Option<String>,
    /// The protocol's own reason to wait, if there is one.
    pub why: Option<String>,
    /// `true` for a request that its side may send to complete an earlier one of the other side.
    pub nests: bool,
    /// The index of the later request that the side that must send next waits for itself.
    pub blocked_by: Option<u64>,
}

impl Waiting {
    /// Stores the name of the side that must send next; `sides` are the usual names.
    pub(crate) fn name_side(&mut self, sides: [&str; 2]) {
        self.side = self.expected_sender(sides).map(str::to_owned);
    }

    /// Returns it with the name of the side that must send next.
    pub(crate) fn with_side(mut self, sides: [&str; 2]) -> Self {
        self.name_side(sides);
        self
    }

    /// Returns the name of the side that must send next; `sides` are the usual names of the protocol.
    pub(crate) fn expected_sender<'a>(&'a self, sides: [&'a str; 2]) -> Option<&'a str> {
        let [to_server, to_client] = sides;
        let usual = match self.owes? {
            Direction::ToServer => to_server,
            Direction::ToClient => to_client,
        };
        Some(self.side.as_deref().unwrap_or(usual))
    }
}

/// Messages that a side waits for, of which only the first are stored: there can be many.
#[derive(Debug, Default)]
pub(crate) struct WaitingList {
    /// The first ones, the oldest first.
    pub(crate) first: Vec<Waiting>,
    /// The number of all.
    pub(crate) count: usize,
    /// The maximum number of stored ones.
    most: usize,
    /// The requests that may complete earlier ones of the other side.
    nested: Vec<(u64, ConnectionSide)>,
}

/// A connection, and the side that must send next.
type ConnectionSide = (Option<u32>, Direction);

impl WaitingList {
    /// Creates a list that stores the first `most` messages.
    pub(crate) fn new(most: usize) -> Self {
        Self {
            most,
            ..Self::default()
        }
    }

    /// Adds a message.
    pub(crate) fn add(&mut self, waiting: Waiting) {
        let index = waiting.place.index;
        self.count += 1;
        if let Some(owes) = waiting.owes.filter(|_| waiting.nests) {
            self.nested.push((index, (waiting.place.origin.conn, owes)));
        }
        let at = self.first.partition_point(|one| one.place.index <= index);
        if at < self.most {
            self.first.insert(at, waiting);
            self.first.truncate(self.most);
        }
    }

    /// Finds the requests whose receiver itself waits for an answer of the other side, on the same connection.
    pub(crate) fn finish(mut self) -> Self {
        let mut nested = std::mem::take(&mut self.nested);
        let conns: HashSet<_> = self.first.iter().map(|one| one.place.origin.conn).collect();
        nested.retain(|(_, (conn, _))| conns.contains(conn));
        nested.sort_unstable();
        // The first request after a position, by connection and by the side that must answer it.
        let mut next = HashMap::new();
        for waiting in self.first.iter_mut().rev() {
            while let Some((index, side)) = nested.pop_if(|(n, _)| *n > waiting.place.index) {
                next.insert(side, index);
            }
            let conn = waiting.place.origin.conn;
            let other = waiting.owes.map(Direction::other);
            waiting.blocked_by = other.and_then(|other| next.get(&(conn, other)).copied());
        }
        self
    }
}

#[cfg(test)]
impl Waiting {
    /// Returns the messages that wait in a session, the oldest first.
    pub(crate) fn all_of(session: &dyn super::Session) -> Vec<Self> {
        let mut list = WaitingList::new(usize::MAX);
        session.waiting(&mut |one| list.add(one));
        list.first
    }
}
