//! Messages that a side waits for.

use crate::protocol::{Direction, Place};

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
