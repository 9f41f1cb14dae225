//! telequick over time: its rules, and both halves of a conversation.

use super::{Telequick, peer, session};
use crate::protocol::Direction;
use crate::protocol::peer::{Peer, PeerConfig};
use crate::protocol::rules::{self, Rule};
use crate::protocol::session::{Behavior, Session, SessionConfig};
use include_dir::{Dir, include_dir};
use std::sync::LazyLock;

static EXAMPLES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/fixtures/telequick/rules");
static RULES: LazyLock<Vec<Rule>> =
    LazyLock::new(|| rules::parse(include_str!("rules.md"), Some(&EXAMPLES)));

impl Behavior for Telequick {
    fn rules(&self) -> &'static [Rule] {
        &RULES
    }

    fn session<'a>(&'a self, config: &SessionConfig) -> Box<dyn Session + 'a> {
        Box::new(session::Conduct::new(self.schema(), config))
    }

    fn peer<'a>(&'a self, _: Direction, _: &PeerConfig) -> Box<dyn Peer + 'a> {
        Box::new(peer::Side::new(self.schema()))
    }
}
