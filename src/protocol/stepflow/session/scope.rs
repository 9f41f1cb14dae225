//! What is known of one server: the handshake, and what runs.
//!
//! ```text
//!   New -- initialize --> Asked -- result --> Answered -- initialized --> Ready
//!    '-- anything else, told once ----------------------------------------^
//! ```

use super::super::schema;
use crate::protocol::Direction;
use crate::protocol::jsonrpc::Call;
use crate::protocol::jsonrpc::pairing::Key;
use crate::protocol::schema::{Message, Releases};
use crate::protocol::session::memory::PerDirection;
use crate::protocol::session::{Place, Report, Seen};
use std::collections::{BTreeMap, BTreeSet};

/// How far the handshake is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Handshake {
    #[default]
    New,
    /// `initialize` was sent: its index.
    Asked(u64),
    /// It was answered there; `initialized` is to follow.
    Answered(Place),
    Ready,
    /// Nothing is known of it, or what is wrong with it was told.
    Assumed,
}

/// One server, as far as ids reach.
#[derive(Debug)]
pub(super) struct Scope {
    pub(super) handshake: Handshake,
    /// Executes that run, by index, with the callbacks that each waits for, also by index.
    pub(super) executes: BTreeMap<u64, BTreeMap<u64, Key>>,
    /// Open requests of each side by index, where answers share one pipe.
    pub(super) order: PerDirection<BTreeSet<u64>>,
    /// Messages of a direction went by unseen.
    pub(super) lost: PerDirection<bool>,
    /// When the server's stdin was closed.
    pub(super) closed: Option<i64>,
    /// That it writes only when it ends was told.
    pub(super) unflushed: bool,
    /// The releases that all that was said so far can be of; none once it was told that there is none.
    releases: Releases,
}

impl Default for Scope {
    fn default() -> Self {
        Self {
            handshake: Handshake::New,
            executes: BTreeMap::new(),
            order: PerDirection::default(),
            lost: PerDirection::default(),
            closed: None,
            unflushed: false,
            releases: Releases::ALL,
        }
    }
}

impl Scope {
    pub(super) fn has_lost(&self, way: Direction) -> bool {
        *self.lost.get(Some(way))
    }

    /// Bytes went by unseen; they may have held anything.
    pub(super) fn lose(&mut self, way: Option<Direction>) {
        for direction in [Direction::ToServer, Direction::ToClient] {
            *self.lost.get_mut(Some(direction)) |= way.is_none_or(|way| way == direction);
        }
        if self.handshake != Handshake::Ready {
            self.handshake = Handshake::Assumed;
        }
        for callbacks in self.executes.values_mut() {
            callbacks.clear();
        }
    }

    /// The runtime sends a request or a notification; `again`: to a child that it started again.
    pub(super) fn shake(
        &mut self,
        seen: &Seen<'_>,
        method: Option<&Message>,
        again: bool,
        report: &mut Report,
    ) {
        let place = seen.whole();
        let name = method.map_or("this", |m| m.name);
        let opens = method.is_some_and(schema::opens);
        let confirms = method.is_some_and(|m| !m.answered);
        self.handshake = match self.handshake {
            Handshake::New | Handshake::Assumed if opens => Handshake::Asked(seen.index),
            _ if opens => {
                let text = "initialize is sent again; once a session is enough";
                report.broken("second-initialize", place, text);
                Handshake::Asked(seen.index)
            }
            Handshake::New if confirms => {
                let text = "initialized is sent, but initialize was not; that comes first";
                report.broken("initialized-early", place, text);
                Handshake::Assumed
            }
            // A runtime of 0.5 to 0.7 does not initialize the child that it starts after a crash.
            Handshake::New if again => Handshake::Assumed,
            Handshake::New => {
                let text = format!("{name} is sent before initialize, which should come first");
                report.broken("before-initialize", place, text);
                Handshake::Assumed
            }
            Handshake::Asked(asked) if confirms => {
                let text = format!("initialized is sent before #{asked} is answered");
                report.broken_by("initialized-early", place, asked, text);
                Handshake::Assumed
            }
            Handshake::Asked(asked) => {
                let text = format!("{name} is sent before initialize, #{asked}, is answered");
                report.broken_by("before-initialized", place, asked, text);
                Handshake::Assumed
            }
            Handshake::Answered(_) if confirms => Handshake::Ready,
            Handshake::Answered(answer) => {
                let text = format!("{name} is sent before initialized, which should come first");
                report.broken_by("before-initialized", place, answer.index, text);
                Handshake::Assumed
            }
            done => done,
        };
    }

    /// An `initialize` is answered.
    pub(super) fn opened(&mut self, asked: u64, seen: &Seen<'_>, well: bool) {
        if self.handshake == Handshake::Asked(asked) {
            self.handshake = if well {
                Handshake::Answered(seen.whole())
            } else {
                Handshake::New
            };
        }
    }

    /// One conversation is of one release.
    pub(super) fn release(
        &mut self,
        seen: &Seen<'_>,
        method: &Message,
        call: &Call<'_>,
        report: &mut Report,
    ) {
        let releases = method.releases_of(call.params, call.result);
        if !self.releases.is_empty() && self.releases.and(releases).is_empty() {
            let text = format!(
                "this {} is of releases {}; what was said before is of {}",
                method.name,
                schema::names(releases),
                schema::names(self.releases)
            );
            let place = call.method.map_or(seen.whole(), |m| seen.at(m));
            report.broken("mixed-releases", place, text);
        }
        self.releases = self.releases.and(releases);
    }
}
