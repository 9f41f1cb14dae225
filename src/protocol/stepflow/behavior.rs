//! stepflow over time: its rules, and both halves of a conversation.

use super::{Stepflow, peer, session};
use crate::protocol::Direction;
use crate::protocol::peer::{Peer, PeerConfig};
use crate::protocol::rules::{self, Rule};
use crate::protocol::session::{Behavior, Session, SessionConfig};
use include_dir::{Dir, include_dir};
use std::sync::LazyLock;

static EXAMPLES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/fixtures/stepflow/rules");
static RULES: LazyLock<Vec<Rule>> =
    LazyLock::new(|| rules::parse(include_str!("rules.md"), Some(&EXAMPLES)));

impl Behavior for Stepflow {
    fn rules(&self) -> &'static [Rule] {
        &RULES
    }

    fn session<'a>(&'a self, config: &SessionConfig) -> Box<dyn Session + 'a> {
        Box::new(session::Conduct::new(config))
    }

    fn peer<'a>(&'a self, side: Direction, config: &PeerConfig) -> Box<dyn Peer + 'a> {
        peer::peer(side, config)
    }
}
