//! The session of an oracle conversation: one child process for each connection.
//!
//! ```text
//!   Silent --ready--> Announced --ack--> Serving --shutdown--> shut down --EOF--> ended
//!      |                  '---error ack--> Refused: must exit
//!      '--any other message--> Failed: the executor kills it
//!
//!   Serving    executor   invoke 0   invoke 1   invoke 2        one at a time, each reads exactly one line
//!              oracle     line 0     line 1     line 2          an extra line: 1 reads it, 2 reads the answer to 1
//! ```
//!
//! Answers are matched by their ids. The invoke that *reads* a line may be another: the executor takes the next line,
//! whatever it contains. So the session counts both, to find the effect of an extra line.

mod child;
mod command;
mod counts;
mod executor;
mod felts;
mod oracle;
mod shape;
#[cfg(test)]
mod tests;

use super::cairo_serde::Signature;
use crate::protocol::exchange::{Key, OpenRequest, OpenRequests};
use crate::protocol::rpc::Call;
use crate::protocol::rule_names::oracle as rule;
use crate::protocol::session::memory::Connections;
use crate::protocol::session::text::short;
use crate::protocol::session::{
    ConnectionChange, Current, Need, Place, Report, Seen, Session, SessionConfig, Waiting, broken,
};
use crate::protocol::{Direction, Origin, Role};
use child::{ChildSession, PeerId, PendingInvoke, ReadyStage};
use counts::IdCounts;
use std::ops::Deref;

/// The number of ended children that are stored, so that late messages are not treated as first ones.
const GONE: usize = 1 << 10;
/// The largest delay of an answer that can still be matched, in lines.
const LAG: u64 = 64;
/// The reason why both sides may wait without end.
const NO_TIMEOUT: &str = "no timeout: the executor waits forever";

/// The connection and id of a request of the executor.
type OracleKey = Key<Option<u32>, PeerId>;

/// The open requests of the executor.
type OpenInvokes = OpenRequests<Option<u32>, PeerId, PendingInvoke>;

/// The state of the conversation.
pub(super) struct OracleSession<'a> {
    signatures: &'a [Signature],
    /// The command; `None` after its check.
    argv: Option<Vec<String>>,
    has_argv: bool,
    /// The requests of the executor.
    open: OpenInvokes,
    children: Connections<ChildSession>,
    /// The counts, if the order of the two directions is not known.
    counts: Option<IdCounts>,
    last: Place,
}

impl<'a> OracleSession<'a> {
    pub(super) fn new(config: &SessionConfig, signatures: &'a [Signature]) -> Self {
        let argv = Some(config.argv.clone()).filter(|argv| !argv.is_empty());
        Self {
            signatures,
            has_argv: argv.is_some(),
            argv,
            open: OpenRequests::with_capacity(config.max_open),
            children: Connections::with_capacity(config.max_open, GONE),
            counts: (!config.order).then(|| IdCounts::with_capacity(config.max_open)),
            last: Place::default(),
        }
    }

    fn connection(&mut self, place: Place, report: &mut Report) {
        if let Some(argv) = self.argv.take() {
            command::check(&argv, place, report);
        }
    }

    /// Returns the child of a connection; `None` if there are too many.
    fn child(&mut self, conn: Option<u32>) -> Option<&mut ChildSession> {
        if self.children.is_full(conn) {
            return None;
        }
        Some(self.children.entry(conn, ChildSession::default))
    }
}

impl Session for OracleSession<'_> {
    fn message(&mut self, seen: &Seen<'_>, report: &mut Report) {
        Current::handle(seen, report, |seen| self.handle(seen));
    }

    fn event(&mut self, origin: Origin, what: ConnectionChange, report: &mut Report) {
        let conn = origin.conn;
        let place = Place {
            origin,
            ..Place::default()
        };
        self.connection(place, report);
        let Some(child) = self.child(conn) else {
            return;
        };
        match what {
            ConnectionChange::Opened => {
                *child = ChildSession::spawned(place);
                self.children.resume(conn);
                self.open.end(conn);
            }
            ConnectionChange::Lost => {
                child.continue_from_unknown();
                self.open.end(conn);
            }
            ConnectionChange::Ended if origin.direction == Some(Direction::ToServer) => {
                child.ends.input_ended = true;
                child.ends.closed = origin.time;
                child.report_unacknowledged(report);
                if child.could_shut_down() && !child.ends.output_ended {
                    broken!(report, rule::NO_SHUTDOWN, child.last_asked.unwrap_or(place);
                        "the executor closes the oracle's input before shutdown");
                }
            }
            ConnectionChange::Ended
            | ConnectionChange::Exited
            | ConnectionChange::Reset
            | ConnectionChange::Closed => {
                self.handle_end(place, what, report);
            }
        }
    }

    fn finish(&mut self, report: &mut Report) {
        self.connection(self.last, report);
        let children = &self.children;
        // Requests before the start of a capture may be answered in it.
        let began = |key: &OracleKey| {
            let child = children.get(key.scope);
            child.is_some_and(|c| c.announced && matches!(c.stage, ReadyStage::Serving))
        };
        if let Some(counts) = &mut self.counts {
            counts.finish(began, report);
        }
        let mut output = None;
        for (key, asked, invoke) in self.open.sorted() {
            let Some(child) = self.children.get(key.scope) else {
                continue;
            };
            if let Some(shut_down) = child.shut_down
                && asked.index() < shut_down
                && invoke.is_due(child)
                && matches!(child.stage, ReadyStage::Serving)
                && output.replace(key.scope) != Some(key.scope)
            {
                broken!(report, rule::UNANSWERED, asked.place(), shut_down;
                    "{} has no answer, and shutdown (#{shut_down}) was sent", asked.describe());
            }
        }
    }

    fn waiting(&self, visit: &mut dyn FnMut(Waiting)) {
        let children = self.children.values();
        let mut all: Vec<Waiting> = children.filter_map(ChildSession::waiting).collect();
        all.extend(self.waiting_invokes(self.open.sorted()));
        all.sort_by_key(|w| (w.place.index, w.place.origin.time, w.place.origin.conn));
        all.into_iter().for_each(visit);
    }

    fn is_open(&self, index: u64) -> bool {
        let mut children = self.children.values().filter_map(ChildSession::waiting);
        let invoke = self.open.at(index);
        invoke.is_some_and(|(key, _, invoke)| self.needs_answer(key, invoke))
            || children.any(|waiting| waiting.place.index == index)
    }

    fn has(&self, need: Need) -> bool {
        match need {
            Need::Signature => !self.signatures.is_empty(),
            Need::Connection => self.has_argv,
            _ => false,
        }
    }

    fn untracked(&self) -> u64 {
        self.open.untracked()
    }
}

/// A message, with values that are used more than once.
struct OracleLine<'s, 'a> {
    seen: Current<'s, 'a>,
    call: Call<'a>,
    /// The message has a fault: peers refuse it, and it was reported.
    faulty: bool,
    side: Option<Direction>,
}

impl<'s, 'a> Deref for OracleLine<'s, 'a> {
    type Target = Current<'s, 'a>;

    fn deref(&self) -> &Current<'s, 'a> {
        &self.seen
    }
}

impl OracleLine<'_, '_> {
    fn role(&self) -> Option<Role> {
        self.seen.message.role
    }

    fn is(&self, kind: &str) -> bool {
        self.seen.message.kind == kind
    }

    fn is_answer(&self) -> bool {
        matches!(self.role(), Some(Role::Response | Role::Error))
    }

    fn id(&self) -> Option<PeerId> {
        self.call.id.and_then(PeerId::of)
    }

    /// Returns the position of the id, or of the whole message if it has none.
    fn id_place(&self) -> Place {
        self.place(self.call.id)
    }

    /// Formats the id.
    fn id_text(&self) -> String {
        id(&self.seen.message.id.text())
    }
}

impl OracleSession<'_> {
    /// Handles a message.
    fn handle(&mut self, seen: Current<'_, '_>) {
        self.last = seen.whole();
        self.connection(self.last, &mut seen.report());
        let conn = seen.origin.conn;
        let Some(child) = self.child(conn) else {
            return;
        };
        let side = child.side(&seen);
        let line = OracleLine {
            seen,
            call: seen.root().map(Call::of).unwrap_or_default(),
            faulty: seen.frame.fault.is_some() || !seen.message.faults.is_empty(),
            side,
        };
        shape::line(&line, child);
        if let (Some(counts), Some(id)) = (&mut self.counts, line.id()) {
            match side {
                Some(Direction::ToServer) if line.role() == Some(Role::Request) => {
                    counts.asked(Key::one_way(conn, id));
                }
                Some(Direction::ToClient) if line.is_answer() => {
                    counts.answered(Key::one_way(conn, id), line.id_place());
                }
                _ => {}
            }
        }
        match side {
            Some(Direction::ToServer) => self.executor_message(&line),
            Some(Direction::ToClient) => self.oracle_message(&line),
            None => {}
        }
    }

    /// Returns true if an invoke will still be answered.
    fn needs_answer(&self, key: &OracleKey, invoke: &PendingInvoke) -> bool {
        let child = self.children.get(key.scope);
        child.is_some_and(|c| c.shut_down.is_none() && invoke.is_due(c))
    }

    /// Returns the expected answers to invokes.
    fn waiting_invokes(
        &self,
        open: Vec<(&OracleKey, &OpenRequest, &PendingInvoke)>,
    ) -> impl Iterator<Item = Waiting> {
        let open = open.into_iter();
        open.filter(|(key, _, invoke)| self.needs_answer(key, invoke))
            .map(|(_, asked, _)| Waiting {
                owes: Some(Direction::ToClient),
                ..asked.waiting(Some(NO_TIMEOUT.into()))
            })
    }

    /// Handles the end of a direction of the oracle, or of the whole connection.
    fn handle_end(&mut self, place: Place, what: ConnectionChange, report: &mut Report) {
        let conn = place.origin.conn;
        let child = self.children.get(conn).and_then(ChildSession::waiting);
        let invokes = self.waiting_invokes(self.open.sorted_in(conn));
        for waiting in child.into_iter().chain(invokes) {
            report.leave(waiting);
        }
        let Some(child) = self.children.get_mut(conn) else {
            return;
        };
        let had_ended = std::mem::replace(&mut child.ends.output_ended, true);
        if !had_ended {
            self.handle_output_end(place, what, report);
        }
        if what != ConnectionChange::Ended {
            self.children.end(conn);
        }
    }

    /// Handles the end of the oracle's output.
    fn handle_output_end(&mut self, place: Place, what: ConnectionChange, report: &mut Report) {
        let conn = place.origin.conn;
        let Some(child) = self.children.get_mut(conn) else {
            return;
        };
        let due = child.due(&self.open, conn);
        let due = due.and_then(|(_, id)| self.open.close(&Key::one_way(conn, id)));
        // The executor may wait for a request that no line was due to: an unreadable one, or one that read an extra
        // line. That was reported.
        let mut waits = child.unreadable.is_some();
        waits |= !self.open.end(conn).is_empty();
        child.report_unacknowledged(report);
        let ends = if what == ConnectionChange::Exited {
            "the oracle exits"
        } else {
            "the oracle's output ends"
        };
        if matches!(child.stage, ReadyStage::Silent) {
            broken!(report, rule::NO_READY, child.opened.unwrap_or(place); "{ends} before ready");
        } else if let Some((asked, _)) = due {
            if child.shut_down.is_none()
                && !child.ends.input_ended
                && matches!(child.stage, ReadyStage::Serving)
            {
                broken!(report, rule::DIED_IN_INVOKE, asked.place();
                    "{ends}: {} has no answer", asked.describe());
            }
        } else if child.could_shut_down() && !child.ends.input_ended && !waits {
            let place = child.last_asked.unwrap_or(place);
            if what == ConnectionChange::Closed {
                broken!(report, rule::NO_SHUTDOWN, place; "the connection closes before shutdown");
            } else {
                broken!(report, rule::LEFT_IDLE, place;
                    "{ends} without an open request; it should wait for shutdown");
            }
        }
        child.queue.clear();
    }
}

/// Removes a request, unless its id was used again.
fn close(open: &mut OpenInvokes, key: &OracleKey, number: u64) -> Option<OpenRequest> {
    let (_, invoke) = open.get(key)?;
    (invoke.number == Some(number)).then_some(())?;
    open.close(key).map(|(asked, _)| asked)
}

/// Formats an id.
fn id(text: &str) -> String {
    if text.is_empty() {
        "none".into()
    } else {
        short(text)
    }
}
