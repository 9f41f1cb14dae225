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
mod felts;
mod link;
mod shape;
#[cfg(test)]
mod tests;

use super::cairo_serde::Signature;
use crate::protocol::correlation::{Asked, Open};
use crate::protocol::jsonrpc::Call;
use crate::protocol::session::{Aids, Happened, Need, Place, Report, Seen, Session, Waiting};
use crate::protocol::{Direction, Origin, Role};
use crate::tape::Node;
use child::{Child, Id, Invoke, Stage};
use std::collections::HashMap;

/// Children that have ended and are remembered, so that last words are not taken for first ones.
const GONE: usize = 1 << 10;
/// Lines by which an answer may be late and still be found.
const LAG: u64 = 64;
/// Why both sides may wait without end.
const NO_TIME_OUT: &str = "no time-out: the executor waits for ever";

/// Whose request, and its id.
type Key = (Option<u32>, Id);

/// What was said so far.
pub(super) struct Conduct<'a> {
    signatures: &'a [Signature],
    /// Until it is judged.
    connect: Option<String>,
    has_connect: bool,
    /// Requests of the executor.
    open: Open<Key, Invoke>,
    children: HashMap<Option<u32>, Child>,
    most: usize,
    last: Place,
}

impl<'a> Conduct<'a> {
    pub(super) fn new(aids: &Aids, signatures: &'a [Signature]) -> Self {
        let connect = aids.connect.clone().filter(|c| !link::is_address(c));
        Self {
            signatures,
            has_connect: connect.is_some(),
            connect,
            open: Open::with_room(aids.most_open),
            children: HashMap::new(),
            most: aids.most_open,
            last: Place::default(),
        }
    }

    fn connection(&mut self, place: Place, report: &mut Report) {
        if let Some(connect) = self.connect.take() {
            link::check(&connect, place, report);
        }
    }

    /// The child of a connection; `None` where too many are followed.
    fn child(&mut self, conn: Option<u32>) -> Option<&mut Child> {
        if !self.children.contains_key(&conn) {
            if self.children.len() >= GONE {
                self.children.retain(|_, child| !child.gone);
            }
            if self.children.len() >= self.most.max(1) {
                return None;
            }
        }
        Some(self.children.entry(conn).or_default())
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
        match side {
            Some(Direction::ToServer) => self.from_executor(&line, report),
            Some(Direction::ToClient) => self.from_oracle(&line, report),
            None => {}
        }
    }

    fn happened(&mut self, origin: Origin, what: Happened, report: &mut Report) {
        let conn = origin.conn;
        let place = Place {
            origin,
            offset: 0,
            len: 0,
            ..self.last
        };
        self.connection(place, report);
        let Some(child) = self.child(conn) else {
            return;
        };
        match what {
            Happened::Opened => {
                *child = Child::spawned(place);
                self.open.retain(|key, _, _| key.0 != conn);
            }
            Happened::Lost => {
                child.rejoin();
                self.open.retain(|key, _, _| key.0 != conn);
            }
            Happened::Ended if origin.direction == Some(Direction::ToServer) => {
                child.deaf = true;
                if child.could_shut_down() && !child.mute {
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
    }

    fn waiting(&self) -> Vec<Waiting> {
        let mut all: Vec<Waiting> = Vec::new();
        for child in self.children.values().filter(|c| !c.mute) {
            all.extend(child.waiting());
        }
        for (key, asked, invoke) in self.open.sorted() {
            let child = self.children.get(&key.0);
            if child.is_some_and(|c| !c.mute && invoke.is_due(c)) {
                all.push(Waiting {
                    owes: Some(Direction::ToClient),
                    ..asked.waiting(Some(NO_TIME_OUT.into()))
                });
            }
        }
        all.sort_by_key(|w| w.place.index);
        all
    }

    fn has(&self, need: Need) -> bool {
        match need {
            Need::Signature => !self.signatures.is_empty(),
            Need::Connection => self.has_connect,
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
        match self.seen.message.id.text() {
            text if text.is_empty() => "none".into(),
            text => shape::short(&text),
        }
    }
}

/// What the executor says.
impl Conduct<'_> {
    fn from_executor(&mut self, line: &Line<'_, '_>, report: &mut Report) {
        let (seen, conn) = (line.seen, line.seen.origin.conn);
        let refused = self.open.refused() > 0;
        let Some(child) = self.child(conn) else {
            return;
        };
        // MUST (Initialisation, rule 4): not a byte before ready.
        if matches!(child.stage, Stage::Silent) && !child.mute && !child.spoke {
            let kind = &seen.message.kind;
            let what = if kind.is_empty() { "something" } else { kind };
            let text = format!("the executor says {what} first, it should wait for ready");
            report.broken("speaks-before-ready", seen.whole(), text);
        }
        child.spoke = true;
        if line.faulty {
            self.garbled(line, report);
        } else if line.is_answer() {
            acknowledge(child, line, report);
        } else if line.role() == Some(Role::Request) && !line.is("ready") {
            let known = line.is("invoke");
            if !known {
                shape::unknown(line, report);
            }
            self.ask(line, refused, report);
        } else if line.is("shutdown") {
            child.told = Some(seen.index);
        } else {
            shape::unknown(line, report);
        }
    }

    /// A line that the oracle cannot read: it may be answered all the same, or not.
    fn garbled(&mut self, line: &Line<'_, '_>, report: &mut Report) {
        let (seen, conn) = (line.seen, line.seen.origin.conn);
        let Some(child) = self.children.get_mut(&conn) else {
            return;
        };
        if let Stage::Announced(ready, id) = &child.stage {
            if line.is_answer() && line.id().as_ref() == Some(id) {
                report.answers(ready, seen, true);
            }
            child.spoil();
        }
        let id = line.id().filter(|_| line.role() == Some(Role::Request));
        let Some(id) = id else {
            child.garbled = Some(Asked::of(seen));
            return;
        };
        let before = child.dropped.replace(id.clone());
        if let Some(before) = before.map(|id| (conn, id))
            && self
                .open
                .get(&before)
                .is_some_and(|(_, i)| i.number.is_none())
        {
            self.open.close(&before);
        }
        self.open.ask((conn, id), Asked::of(seen), Invoke::DROPPED);
    }

    fn ask(&mut self, line: &Line<'_, '_>, refused: bool, report: &mut Report) {
        let (seen, conn) = (line.seen, line.seen.origin.conn);
        let Some(child) = self.children.get_mut(&conn) else {
            return;
        };
        if let Some(told) = child.told {
            let text = format!(
                "{} comes after shutdown (#{told}): nobody should be asked any more",
                seen.message.kind
            );
            report.broken_by("invoke-after-shutdown", seen.whole(), told, text);
        }
        if let Stage::Announced(ready, _) = &child.stage {
            let ready = ready.place.index;
            let text = format!("ready (#{ready}) is not acknowledged, that should come first");
            report.broken_by("invoke-unacknowledged", seen.whole(), ready, text);
            child.spoil();
        }
        let Some(id) = line.id() else {
            return;
        };
        // With its id there twice it is read as a notification, and owed no answer.
        if child.mute || shape::repeats(line, "id") {
            return;
        }
        child.id_order(line, report);
        if child.read < child.asked
            && let Some(before) = child.last_asked
            && matches!(child.stage, Stage::Serving)
        {
            let before = before.index;
            let text =
                format!("#{before} is not answered yet: one invoke should end before the next");
            report.broken_by("overlap", seen.whole(), before, text);
        }
        let number = child.asked;
        child.asked += 1;
        child.last_asked = Some(seen.whole());
        if child.read > number && child.in_step && !child.late && !refused {
            child.late = true;
            let text = format!(
                "the answer that is read for id {} is {}, and from here on each is read one invoke late",
                line.id_text(),
                child.cause()
            );
            child.blame("desync", line.id_place(), text, report);
        }
        // What was read for long ago will not be answered any more.
        let long_ago = child.read.saturating_sub(LAG);
        while let Some((number, id)) = child.pop_below(long_ago) {
            close(&mut self.open, (conn, id), number);
        }
        let selector = shape::selector(line, self.signatures);
        let signature = selector.and_then(|n| self.signatures.get(n));
        felts::calldata(line, signature, report);
        let invoke = Invoke {
            number: Some(number),
            selector,
        };
        if !self.open.is_full() {
            child.queue.push_back((number, id.clone()));
        }
        self.open.ask((conn, id), Asked::of(seen), invoke);
    }
}

/// Forgets a request, unless its id is another's by now.
fn close(open: &mut Open<Key, Invoke>, key: Key, number: u64) -> Option<Asked> {
    let (_, invoke) = open.get(&key)?;
    (invoke.number == Some(number)).then_some(())?;
    open.close(&key).map(|(asked, _)| asked)
}

/// The executor's answer to ready.
fn acknowledge(child: &mut Child, line: &Line<'_, '_>, report: &mut Report) {
    let seen = line.seen;
    let Stage::Announced(ready, id) = &child.stage else {
        if matches!(child.stage, Stage::Silent) {
            child.acknowledged = true;
        } else if child.in_step {
            let text = format!(
                "id {} answers nothing that the oracle asked",
                line.id_text()
            );
            report.broken("stray-ack", line.id_place(), text);
        }
        return;
    };
    report.answers(ready, seen, true);
    if line.id().as_ref() == Some(id) {
        child.stage = if line.role() == Some(Role::Error) {
            Stage::Refused(seen.whole())
        } else {
            Stage::Serving
        };
        return;
    }
    let (place, index) = (line.id_place(), ready.place.index);
    let text = format!(
        "id is {}, {} should answer ready (#{index})",
        line.id_text(),
        shape::short(&ready.id)
    );
    child.spoil();
    report.broken_by("ack-id", place, index, text);
}

/// What the oracle says.
impl Conduct<'_> {
    fn from_oracle(&mut self, line: &Line<'_, '_>, report: &mut Report) {
        let (seen, conn) = (line.seen, line.seen.origin.conn);
        let Some(child) = self.child(conn) else {
            return;
        };
        let is_ready = line.is("ready") && line.role() == Some(Role::Request);
        match &child.stage {
            Stage::Silent => {
                if first(child, line, is_ready, report) {
                    return;
                }
            }
            // A peer that is more patient than the executor may go on.
            Stage::Spoiled if is_ready && !line.faulty => return child.announce(line),
            Stage::Refused(by) if !child.defied => {
                let by = by.index;
                child.defied = true;
                let text =
                    format!("the executor refused ready (#{by}): the oracle should have ended");
                report.broken_by("alive-after-refusal", seen.whole(), by, text);
            }
            _ => {}
        }
        if let Some(told) = child.told
            && !child.late
            && !child.wordy
        {
            child.wordy = true;
            let text =
                format!("this comes after shutdown (#{told}): nothing more should be written");
            report.broken_by("output-after-shutdown", seen.whole(), told, text);
        }
        if line.is_answer() {
            return self.answer(line, report);
        }
        if !line.faulty {
            if is_ready {
                let text = "ready was said before: the executor takes this for an answer";
                report.broken("ready-twice", seen.whole(), text);
            } else {
                let text = format!(
                    "the oracle sends a {} ({}), it should only answer",
                    line.role().map_or("message", Role::name),
                    shape::method(line)
                );
                report.broken("oracle-asks", line.place(line.call.method), text);
            }
        }
        child.extra(seen.index);
    }

    /// A line that answers, well or badly.
    fn answer(&mut self, line: &Line<'_, '_>, report: &mut Report) {
        let (seen, conn) = (line.seen, line.seen.origin.conn);
        let full = self.open.refused() > 0;
        let Some(child) = self.children.get_mut(&conn) else {
            return;
        };
        let key = line.id().map(|id| (conn, id));
        if let Some((asked, invoke)) = key.as_ref().and_then(|key| self.open.close(key)) {
            report.answers(&asked, seen, true);
            if !line.faulty {
                felts::result(line, invoke.signature(self.signatures), report);
            }
            if let Some(number) = invoke.number {
                self.in_turn(number, line, report);
            }
            return;
        }
        if line.faulty {
            return child.extra(seen.index);
        }
        if line.id() == Some(Id::Null)
            && let Some(asked) = child.garbled.take()
        {
            return report.answers(&asked, seen, true);
        }
        if !child.in_step || full {
            return;
        }
        let again = child
            .answered
            .clone()
            .filter(|(id, _)| Some(id) == line.id().as_ref());
        let due = child.due(&self.open, conn);
        if let (Some((number, id)), None) = (due.clone(), &again)
            && let Some((asked, invoke)) = self.open.close(&(conn, id))
        {
            let index = asked.place.index;
            let text = format!(
                "id is {}, {} should answer #{index}",
                line.id_text(),
                shape::short(&asked.id)
            );
            report.broken_by("answer-id", line.id_place(), index, text);
            report.answers(&asked, seen, true);
            felts::result(line, invoke.signature(self.signatures), report);
            child.read = number + 1;
            return;
        }
        let place = line.id_place();
        match &again {
            Some((_, by)) => {
                let text = format!("id {} was answered by #{by}", line.id_text());
                report.broken_by("extra-line", place, *by, text);
            }
            None => {
                let text = format!("id {} answers nothing that is open", line.id_text());
                report.broken("extra-line", place, text);
            }
        }
        child.extra(seen.index);
        if due.is_some() && !child.late {
            child.late = true;
            let waits = child.last_asked.map_or(0, |place| place.index);
            let text = format!(
                "id is {}: the executor takes this for the answer to #{waits}, and from here on each answer is one invoke late",
                line.id_text()
            );
            report.broken_by("desync", place, seen.index, text);
        }
    }

    /// An answer by its id: does the invoke that it answers read it?
    fn in_turn(&mut self, number: u64, line: &Line<'_, '_>, report: &mut Report) {
        let conn = line.seen.origin.conn;
        self.passed_over(number, line, report);
        let Some(child) = self.children.get_mut(&conn) else {
            return;
        };
        child.answered = line.id().map(|id| (id, line.seen.index));
        child.in_step = true;
        if number < child.read {
            if child.read < child.asked && !child.late {
                child.late = true;
                let waits = child.last_asked.map_or(0, |place| place.index);
                let lag = child.read - number;
                let text = format!(
                    "id is {}, but #{waits} reads this: {} came between, and each answer is {lag} invoke{} late",
                    line.id_text(),
                    child.cause(),
                    if lag == 1 { "" } else { "s" }
                );
                child.blame("desync", line.id_place(), text, report);
            }
        } else {
            child.read = number;
            child.late = false;
            child.cause = None;
        }
        child.read += 1;
    }

    /// Invokes before this one: those that no line was read for, the oracle passed over.
    fn passed_over(&mut self, number: u64, line: &Line<'_, '_>, report: &mut Report) {
        let conn = line.seen.origin.conn;
        let Some(child) = self.children.get_mut(&conn) else {
            return;
        };
        while let Some((before, id)) = child.pop_below(number.saturating_add(1)) {
            let Some(asked) = close(&mut self.open, (conn, id), before) else {
                continue;
            };
            if before >= child.read && child.in_step {
                let by = line.seen.index;
                let text = format!(
                    "{} has no answer, and #{by} answers a later one",
                    asked.what()
                );
                report.broken_by("unanswered", asked.place, by, text);
            }
        }
    }

    /// The oracle writes nothing more.
    fn ended(&mut self, place: Place, what: Happened, report: &mut Report) {
        let conn = place.origin.conn;
        let Some(child) = self.children.get_mut(&conn) else {
            return;
        };
        let was_mute = std::mem::replace(&mut child.mute, true);
        child.gone |= what != Happened::Ended;
        if was_mute {
            return;
        }
        let due = child.due(&self.open, conn);
        let ends = if what == Happened::Exited {
            "the oracle exits"
        } else {
            "the oracle's output ends"
        };
        if matches!(child.stage, Stage::Silent) {
            let text = format!("{ends}, ready should come first");
            report.broken("no-ready", child.opened.unwrap_or(place), text);
        } else if let Some((_, id)) = due {
            if let Some((asked, _)) = self.open.close(&(conn, id))
                && child.told.is_none()
                && matches!(child.stage, Stage::Serving)
            {
                let text = format!("{ends} before {} is answered", asked.what());
                report.broken("died-in-invoke", asked.place, text);
            }
        } else if child.could_shut_down() && !child.deaf {
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
        self.open.retain(|key, _, _| key.0 != conn);
    }
}

/// The oracle's first line; says whether that is all there is to say of it.
fn first(child: &mut Child, line: &Line<'_, '_>, is_ready: bool, report: &mut Report) -> bool {
    if is_ready && !line.faulty {
        child.announce(line);
        return true;
    }
    let seen = line.seen;
    if seen.origin.direction.is_none() || seen.frame.offset > 0 {
        child.rejoin();
        return false;
    }
    child.spoil();
    // MUST (Initialisation): the oracle announces that it is ready.
    if !line.faulty {
        let kind = match (seen.message.kind.as_ref(), seen.message.role) {
            ("notification", _) if line.call.method.is_some_and(|m| m.is_text("ready")) => {
                "ready without an id".to_owned()
            }
            ("request" | "notification", _) => shape::method(line),
            ("", _) => "no message".to_owned(),
            (kind, _) => kind.to_owned(),
        };
        let text = format!("the oracle begins with {kind}, the request ready should come first");
        report.broken("first-not-ready", line.place(line.call.method), text);
    }
    true
}
