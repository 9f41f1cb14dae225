//! The facts about the input that rules need.

use crate::protocol::Direction;
use crate::protocol::session::ConnectionChange;

/// The facts that the input has shown so far.
#[derive(Default)]
#[allow(clippy::struct_excessive_bools)] // each is a thing of its own
pub(super) struct InputFacts {
    /// A direction was opened or closed, even if it carried nothing.
    pub to_server: bool,
    pub to_client: bool,
    /// Messages to the server, and to the client, were seen.
    pub has_messages: [bool; 2],
    pub order: bool,
    pub times: bool,
    pub ends: bool,
    pub answers: bool,
}

impl InputFacts {
    pub fn has_both_directions(&self) -> bool {
        self.to_server && self.to_client
    }

    /// Records a direction whose start or end is known, even if it carried nothing.
    pub fn record_direction(&mut self, what: ConnectionChange, direction: Option<Direction>) {
        if what != ConnectionChange::Lost {
            self.to_server |= direction != Some(Direction::ToClient);
            self.to_client |= direction != Some(Direction::ToServer);
        }
    }
}
