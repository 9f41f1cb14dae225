//! The state of one server: the handshake, and the running requests.
//!
//! ```text
//!   New -- initialize --> Requested -- result --> Answered -- initialized --> Ready
//!    '-- any other message, reported once --------------------------------^
//! ```

use super::super::schema;
use crate::protocol::exchange::pairs::PairKey;
use crate::protocol::rpc::Call;
use crate::protocol::rule_names::stepflow as rule;
use crate::protocol::schema::{MessageSchema, Releases};
use crate::protocol::session::memory::PerDirection;
use crate::protocol::session::{Current, Place, broken};
use std::collections::{BTreeMap, BTreeSet};

/// The state of the handshake.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Handshake {
    #[default]
    New,
    /// `initialize` was sent, with this index.
    Requested(u64),
    /// It was answered at this position; `initialized` must follow.
    Answered(Place),
    Ready,
    /// The handshake was not seen, or its error was reported.
    Assumed,
}

/// The state of one server: the range in which ids are unique.
#[derive(Debug)]
pub(super) struct ServerScope {
    pub(super) handshake: Handshake,
    /// Running executes by index, each with the callbacks for which it waits, also by index.
    pub(super) executes: BTreeMap<u64, BTreeMap<u64, PairKey>>,
    /// Open requests of each side by index, if answers share one pipe.
    pub(super) order: PerDirection<BTreeSet<u64>>,
    /// The time at which the server's stdin was closed.
    pub(super) closed: Option<i64>,
    /// Unflushed output was reported.
    pub(super) unflushed: bool,
    /// The releases that fit all messages so far; empty after a mismatch was reported.
    releases: Releases,
}

impl Default for ServerScope {
    fn default() -> Self {
        Self {
            handshake: Handshake::New,
            executes: BTreeMap::new(),
            order: PerDirection::default(),
            closed: None,
            unflushed: false,
            releases: Releases::ALL,
        }
    }
}

impl ServerScope {
    /// Returns true if the start of the session was seen.
    pub(super) fn has_begun(&self) -> bool {
        !matches!(self.handshake, Handshake::New | Handshake::Assumed)
    }

    /// Handles lost bytes, which may have contained any message.
    pub(super) fn record_loss(&mut self) {
        if self.handshake != Handshake::Ready {
            self.handshake = Handshake::Assumed;
        }
        for callbacks in self.executes.values_mut() {
            callbacks.clear();
        }
    }

    /// Handles a request or a notification of the runtime; `again` is set for a restarted child.
    pub(super) fn check_handshake(
        &mut self,
        seen: Current<'_, '_>,
        method: Option<&MessageSchema>,
        again: bool,
    ) {
        let place = seen.whole();
        let name = method.map_or("this", |m| m.name);
        let opens_session = method.is_some_and(schema::opens_session);
        let confirms = method.is_some_and(|m| !m.answered);
        self.handshake = match self.handshake {
            Handshake::New | Handshake::Assumed if opens_session => {
                Handshake::Requested(seen.index)
            }
            _ if opens_session => {
                broken!(seen, rule::SECOND_INITIALIZE, place;
                    "initialize is sent again; it should be sent once for each session");
                Handshake::Requested(seen.index)
            }
            Handshake::New if confirms => {
                broken!(seen, rule::INITIALIZED_EARLY, place;
                    "initialized is sent, but initialize was not; it should come first");
                Handshake::Assumed
            }
            // A runtime of 0.5 to 0.7 does not initialize the child that it starts after a crash.
            Handshake::New if again => Handshake::Assumed,
            Handshake::New => {
                broken!(seen, rule::BEFORE_INITIALIZE, place;
                    "{name} is sent before initialize, which should come first");
                Handshake::Assumed
            }
            Handshake::Requested(asked) if confirms => {
                broken!(seen, rule::INITIALIZED_EARLY, place, asked;
                    "initialized is sent before #{asked} is answered");
                Handshake::Assumed
            }
            Handshake::Requested(asked) => {
                broken!(seen, rule::BEFORE_INITIALIZED, place, asked;
                    "{name} is sent before initialize, #{asked}, is answered");
                Handshake::Assumed
            }
            Handshake::Answered(_) if confirms => Handshake::Ready,
            Handshake::Answered(answer) => {
                broken!(seen, rule::BEFORE_INITIALIZED, place, answer.index;
                    "{name} is sent before initialized, which should come first");
                Handshake::Assumed
            }
            done => done,
        };
    }

    /// Handles the answer to `initialize`.
    pub(super) fn opened(&mut self, asked: u64, seen: Current<'_, '_>, well: bool) {
        if self.handshake == Handshake::Requested(asked) {
            self.handshake = if well {
                Handshake::Answered(seen.whole())
            } else {
                Handshake::New
            };
        }
    }

    /// Checks that all messages fit one release.
    pub(super) fn check_release(
        &mut self,
        seen: Current<'_, '_>,
        method: &MessageSchema,
        call: &Call<'_>,
    ) {
        let releases = method.releases_of(call.params, call.result);
        if !self.releases.is_empty() && self.releases.and(releases).is_empty() {
            let place = call.method.map_or(seen.whole(), |m| seen.at(m));
            broken!(seen, rule::MIXED_RELEASES, place;
                "this {} is of releases {}; earlier messages are of {}",
                method.name, schema::names(releases), schema::names(self.releases));
        }
        self.releases = self.releases.and(releases);
    }
}
