//! Messages that a side waits for.

use crate::protocol::{Direction, Place};
use std::collections::HashMap;

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
    /// Sorts messages in the order of the input.
    pub(crate) fn sort(all: &mut [Self]) {
        all.sort_by_key(|waiting| waiting.place.index);
    }

    /// Stores the name of the side that must send next; `sides` are the usual names.
    pub(crate) fn name_side(&mut self, sides: [&str; 2]) {
        self.side = self.expected_sender(sides).map(str::to_owned);
    }

    /// Finds the requests whose receiver itself waits for an answer of the other side, on the same connection.
    pub(crate) fn find_blocked(all: &mut [Self]) {
        Self::sort(all);
        // The first request after a position, by connection and by the side that must answer it.
        let mut nested = HashMap::new();
        for waiting in all.iter_mut().rev() {
            let Some(owes) = waiting.owes else {
                continue;
            };
            let conn = waiting.place.origin.conn;
            waiting.blocked_by = nested.get(&(conn, owes.other())).copied();
            if waiting.nests {
                nested.insert((conn, owes), waiting.place.index);
            }
        }
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
