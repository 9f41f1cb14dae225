//! A side that waits for the other.

use crate::protocol::{Direction, Place};

/// Something that one side waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// The message that waits to be answered, or after which nothing came.
    pub place: Place,
    /// What waits, in words: `call math.add`, `the executor, for ready`.
    pub what: String,
    /// Its id, as shown.
    pub id: String,
    /// The side that must speak; `None` where directions are not known.
    pub owes: Option<Direction>,
    /// The name of that side on this connection, if it is not the protocol's usual one.
    pub side: Option<&'static str>,
    /// The protocol's own reason to wait, where there is one.
    pub why: Option<String>,
}

impl Waiting {
    /// The name of the side that must speak; `sides` are the protocol's usual names.
    pub fn debtor(&self, sides: [&'static str; 2]) -> Option<&'static str> {
        let [to_server, to_client] = sides;
        let usual = match self.owes? {
            Direction::ToServer => to_server,
            Direction::ToClient => to_client,
        };
        Some(self.side.unwrap_or(usual))
    }
}
