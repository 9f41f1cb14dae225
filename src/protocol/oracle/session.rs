//! An oracle conversation, over time: one child process a connection.
//!
//! ```text
//!   Silent --ready--> Announced --ack--> Serving --shutdown--> told --EOF--> ended
//!      |                  '---error ack--> Refused: must exit
//!      '--anything else--> Spoiled: the executor kills it
//!
//!   Serving    executor   invoke 0   invoke 1   invoke 2        one at a time, each reads exactly one line
//!              oracle     line 0     line 1     line 2          a line too many: 1 reads it, 2 reads the answer to 1
//! ```
//!
//! Answers are told by their ids. Which invoke *reads* a line is another matter: the executor takes the next line,
//! whatever it is, so counting both is enough to see what a line too many does.

mod child;
mod counts;
mod executor;
mod felts;
mod link;
mod oracle;
mod shape;
#[cfg(test)]
mod tests;

use super::cairo_serde::Signature;
use crate::protocol::correlation::{Asked, Open, Scoped};
use crate::protocol::jsonrpc::Call;
use crate::protocol::session::memory::Connections;
use crate::protocol::session::text::short;
use crate::protocol::session::{
    Happened, Need, Place, Report, Seen, Session, SessionConfig, Waiting,
};
use crate::protocol::{Direction, Origin, Role};
use crate::tape::Node;
use child::{Child, Id, Invoke, Stage};
use counts::Counts;

/// Children that have ended and are remembered, so that last words are not taken for first ones.
const GONE: usize = 1 << 10;
/// Lines by which an answer may be late and still be found.
const LAG: u64 = 64;
/// Why both sides may wait without end.
const NO_TIME_OUT: &str = "no time-out: the executor waits for ever";

/// Whose request, and its id.
type Key = (Option<u32>, Id);

impl Scoped for Key {
    type Scope = Option<u32>;

    fn scope(&self) -> Self::Scope {
        self.0
    }
}

/// What was said so far.
pub(super) struct Conduct<'a> {
    signatures: &'a [Signature],
    /// The command; none once it is judged.
    argv: Option<Vec<String>>,
    has_argv: bool,
    /// Requests of the executor.
    open: Open<Key, Invoke>,
    children: Connections<Child>,
    /// Where it is not known which of two lines came first.
    counts: Option<Counts>,
    last: Place,
}

impl<'a> Conduct<'a> {
    pub(super) fn new(config: &SessionConfig, signatures: &'a [Signature]) -> Self {
        let argv = Some(config.argv.clone()).filter(|argv| !argv.is_empty());
        Self {
            signatures,
            has_argv: argv.is_some(),
            argv,
            open: Open::with_room(config.most_open),
            children: Connections::with_room(config.most_open, GONE),
            counts: (!config.order).then(|| Counts::with_room(config.most_open)),
            last: Place::default(),
        }
    }

    fn connection(&mut self, place: Place, report: &mut Report) {
        if let Some(argv) = self.argv.take() {
            link::check(&argv, place, report);
        }
    }

    /// The child of a connection; `None` where too many are followed.
    fn child(&mut self, conn: Option<u32>) -> Option<&mut Child> {
        if self.children.is_full(conn) {
            return None;
        }
        Some(self.children.entry(conn, Child::default))
    }
}

impl Session for Conduct<'_> {
    fn message(&mut self, seen: &Seen<'_>, report: &mut Report) {
        self.last = seen.whole();
        self.connection(self.last, report);
        let conn = seen.origin.conn;
        let Some(child) = self.child(conn) else {
            return;
        };
        let side = child.side(seen);
        let line = Line {
            seen,
            call: seen.root().map(Call::of).unwrap_or_default(),
            faulty: seen.frame.fault.is_some() || !seen.message.faults.is_empty(),
            side,
        };
        shape::line(&line, child, report);
        if let (Some(counts), Some(id)) = (&mut self.counts, line.id()) {
            match side {
                Some(Direction::ToServer) if line.role() == Some(Role::Request) => {
                    counts.asked((conn, id));
                }
                Some(Direction::ToClient) if line.is_answer() => {
                    counts.answered((conn, id), line.id_place());
                }
                _ => {}
            }
        }
        match side {
            Some(Direction::ToServer) => self.executor_says(&line, report),
            Some(Direction::ToClient) => self.oracle_says(&line, report),
            None => {}
        }
    }

    fn happened(&mut self, origin: Origin, what: Happened, report: &mut Report) {
        let conn = origin.conn;
        let place = Place {
            index: Place::NO_MESSAGE,
            origin,
            offset: 0,
            len: 0,
        };
        self.connection(place, report);
        let Some(child) = self.child(conn) else {
            return;
        };
        match what {
            Happened::Opened => {
                *child = Child::spawned(place);
                self.children.resume(conn);
                self.open.end(conn);
            }
            Happened::Lost => {
                child.rejoin();
                self.open.end(conn);
            }
            Happened::Ended if origin.direction == Some(Direction::ToServer) => {
                child.ends.deaf = true;
                child.ends.closed = origin.time;
                child.unacknowledged(report);
                if child.could_shut_down() && !child.ends.mute {
                    let text = "the executor closes the oracle's input, shutdown should come first";
                    report.broken("no-shutdown", child.last_asked.unwrap_or(place), text);
                }
            }
            Happened::Ended | Happened::Exited | Happened::Reset | Happened::Closed => {
                self.ended(place, what, report);
            }
        }
    }

    fn finish(&mut self, report: &mut Report) {
        self.connection(self.last, report);
        let children = &self.children;
        // What was said before the beginning of a capture may be answered in it.
        let began = |key: &Key| {
            let child = children.get(key.0);
            child.is_some_and(|c| c.announced && matches!(c.stage, Stage::Serving))
        };
        if let Some(counts) = &mut self.counts {
            counts.finish(began, report);
        }
        let mut said = None;
        for (key, asked, invoke) in self.open.sorted() {
            let Some(child) = self.children.get(key.0) else {
                continue;
            };
            if let Some(told) = child.told
                && asked.place.index < told
                && invoke.is_due(child)
                && matches!(child.stage, Stage::Serving)
                && said.replace(key.0) != Some(key.0)
            {
                let text = format!(
                    "{} has no answer, and shutdown (#{told}) came",
                    asked.what()
                );
                report.broken_by("unanswered", asked.place, told, text);
            }
        }
    }

    fn waiting(&self) -> Vec<Waiting> {
        let mut all: Vec<Waiting> = self.children.values().filter_map(Child::waiting).collect();
        for (key, asked, invoke) in self.open.sorted() {
            if self.is_owed(key, invoke) {
                all.push(Waiting {
                    owes: Some(Direction::ToClient),
                    ..asked.waiting(Some(NO_TIME_OUT.into()))
                });
            }
        }
        all.sort_by_key(|w| (w.place.index, w.place.origin.time, w.place.origin.conn));
        all
    }

    fn is_open(&self, index: u64) -> bool {
        let mut children = self.children.values().filter_map(Child::waiting);
        let invoke = self.open.at(index);
        invoke.is_some_and(|(key, _, invoke)| self.is_owed(key, invoke))
            || children.any(|waiting| waiting.place.index == index)
    }

    fn has(&self, need: Need) -> bool {
        match need {
            Need::Signature => !self.signatures.is_empty(),
            Need::Connection => self.has_argv,
            _ => false,
        }
    }

    fn refused(&self) -> u64 {
        self.open.refused()
    }
}

/// A message, with what is looked at more than once.
struct Line<'s, 'a> {
    seen: &'s Seen<'a>,
    call: Call<'a>,
    /// Decode found something wrong with it: peers refuse it, and that was said.
    faulty: bool,
    side: Option<Direction>,
}

impl Line<'_, '_> {
    fn role(&self) -> Option<Role> {
        self.seen.message.role
    }

    fn is(&self, kind: &str) -> bool {
        self.seen.message.kind == kind
    }

    fn is_answer(&self) -> bool {
        matches!(self.role(), Some(Role::Response | Role::Error))
    }

    fn id(&self) -> Option<Id> {
        self.call.id.and_then(Id::of)
    }

    /// The place of the id, or of all where there is none.
    fn id_place(&self) -> Place {
        self.place(self.call.id)
    }

    fn place(&self, node: Option<Node<'_>>) -> Place {
        node.map_or_else(|| self.seen.whole(), |node| self.seen.at(node))
    }

    /// The id in words.
    fn id_text(&self) -> String {
        id(&self.seen.message.id.text())
    }
}

impl Conduct<'_> {
    /// Whether an invoke is still answered.
    fn is_owed(&self, key: &Key, invoke: &Invoke) -> bool {
        let child = self.children.get(key.0);
        child.is_some_and(|c| c.told.is_none() && invoke.is_due(c))
    }

    /// A direction of the oracle, or all of it, has ended.
    fn ended(&mut self, place: Place, what: Happened, report: &mut Report) {
        let conn = place.origin.conn;
        let Some(child) = self.children.get_mut(conn) else {
            return;
        };
        let was_mute = std::mem::replace(&mut child.ends.mute, true);
        if !was_mute {
            self.silent(place, what, report);
        }
        if what != Happened::Ended {
            self.children.end(conn);
        }
    }

    /// The oracle writes nothing more, which was not known before.
    fn silent(&mut self, place: Place, what: Happened, report: &mut Report) {
        let conn = place.origin.conn;
        let Some(child) = self.children.get_mut(conn) else {
            return;
        };
        let due = child.due(&self.open, conn);
        let due = due.and_then(|(_, id)| self.open.close(&(conn, id)));
        // What the executor waits for may be no invoke that a line was due to: one that could not be read, or one that
        // read a line too many. That was told.
        let mut waits = child.garbled.is_some();
        waits |= !self.open.end(conn).is_empty();
        child.unacknowledged(report);
        let ends = if what == Happened::Exited {
            "the oracle exits"
        } else {
            "the oracle's output ends"
        };
        if matches!(child.stage, Stage::Silent) {
            let text = format!("{ends}, ready should come first");
            report.broken("no-ready", child.opened.unwrap_or(place), text);
        } else if let Some((asked, _)) = due {
            if child.told.is_none() && !child.ends.deaf && matches!(child.stage, Stage::Serving) {
                let text = format!("{ends}: {} has no answer", asked.what());
                report.broken("died-in-invoke", asked.place, text);
            }
        } else if child.could_shut_down() && !child.ends.deaf && !waits {
            let place = child.last_asked.unwrap_or(place);
            if what == Happened::Closed {
                let text = "the connection closes, shutdown should come first";
                report.broken("no-shutdown", place, text);
            } else {
                let text = format!("{ends} while nothing is asked, it should wait for shutdown");
                report.broken("left-idle", place, text);
            }
        }
        child.queue.clear();
    }
}

/// Forgets a request, unless its id is another's by now.
fn close(open: &mut Open<Key, Invoke>, key: &Key, number: u64) -> Option<Asked> {
    let (_, invoke) = open.get(key)?;
    (invoke.number == Some(number)).then_some(())?;
    open.close(key).map(|(asked, _)| asked)
}

/// An id in words.
fn id(text: &str) -> String {
    if text.is_empty() {
        "none".into()
    } else {
        short(text)
    }
}
