//! Messages of the oracle: ready, then one line for each invoke.

use super::child::{ChildSession, PeerId, ReadyStage, invokes};
use super::{OracleLine, OracleSession, broken, close, felts, rule, shape};
use crate::protocol::exchange::{Key, OpenRequest};
use crate::protocol::session::text::short;
use crate::protocol::{Role, rpc};

impl OracleSession<'_> {
    pub(super) fn oracle_message(&mut self, line: &OracleLine<'_, '_>) {
        let (seen, conn) = (line.seen, line.origin.conn);
        if self
            .children
            .get(conn)
            .is_some_and(|child| child.ends.output_ended)
        {
            self.children.resume(conn);
        }
        let Some(child) = self.child(conn) else {
            return;
        };
        let is_ready = line.is("ready") && line.role() == Some(Role::Request);
        if child.ends.output_ended {
            // It has not ended, or another child replaced it without an event.
            *child = ChildSession::default();
            if !is_ready {
                child.continue_from_unknown();
            }
        }
        let due = match child.stage {
            ReadyStage::Silent => child.opened,
            _ => child.last_asked.filter(|_| child.read < child.asked),
        };
        let due = due.and_then(|place| place.origin.time);
        if let Some(text) = rpc::unflushed(&seen, due, child.ends.closed)
            && child.reported.first(rule::ANSWER_AFTER_EOF)
        {
            broken!(line, rule::ANSWER_AFTER_EOF, seen.whole(); "{text}");
        }
        if matches!(child.stage, ReadyStage::Silent) && handle_first_line(child, line, is_ready) {
            // The line is wrong, but its request is still recorded.
            let key = line
                .id()
                .filter(|_| line.is_answer())
                .map(|id| Key::one_way(conn, id));
            if let Some((asked, _)) = key.and_then(|key| self.open.close(&key)) {
                line.answers(&asked, true);
            }
            return;
        }
        match &child.stage {
            // A peer with a longer timeout than the executor may continue.
            ReadyStage::Failed if is_ready && !line.faulty => return child.announce(line),
            ReadyStage::Refused(by) if child.reported.first(rule::ALIVE_AFTER_REFUSAL) => {
                broken!(line, rule::ALIVE_AFTER_REFUSAL, seen.whole(), by.index;
                    "the executor refused ready (#{}): the oracle should have ended", by.index);
            }
            _ => {}
        }
        if let Some(shut_down) = child.shut_down
            && !child.is_late
            && child.reported.first(rule::OUTPUT_AFTER_SHUTDOWN)
        {
            broken!(line, rule::OUTPUT_AFTER_SHUTDOWN, seen.whole(), shut_down;
                "this is after shutdown (#{shut_down}): no more output is allowed");
        }
        if line.is_answer() {
            return self.answer(line);
        }
        if !line.faulty {
            if is_ready {
                broken!(line, rule::READY_TWICE, seen.whole();
                    "ready was sent before: the executor takes this for an answer");
            } else {
                let answers = line.call.result.or(line.call.error).is_some();
                broken!(line, rule::ORACLE_ASKS, line.place(line.call.method);
                    "{} makes this a {}; {}",
                    shape::method(line), line.role().map_or("message", Role::name),
                    if answers { "an answer should have no method" } else { "the oracle should only answer" });
            }
        }
        child.record_extra_line(seen.index);
    }

    /// Handles a line that answers a request, correctly or not.
    fn answer(&mut self, line: &OracleLine<'_, '_>) {
        let (seen, conn) = (line.seen, line.origin.conn);
        let full = self.open.untracked() > 0;
        let Some(child) = self.children.get_mut(conn) else {
            return;
        };
        let key = line.id().map(|id| Key::one_way(conn, id));
        if let Some((asked, invoke)) = key.as_ref().and_then(|key| self.open.close(key)) {
            line.answers(&asked, true);
            if !line.faulty {
                felts::result(line, invoke.signature(self.signatures));
            }
            if let Some(number) = invoke.number {
                self.check_reader(number, line);
            }
            return;
        }
        if line.faulty {
            return child.record_extra_line(seen.index);
        }
        if line.id() == Some(PeerId::Null)
            && let Some(asked) = child.unreadable.take()
        {
            return line.answers(&asked, true);
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
            && let Some((asked, invoke)) = self.open.close(&Key::one_way(conn, id))
        {
            let index = asked.index();
            broken!(line, rule::ANSWER_ID, line.id_place(), index;
                "id is {}; it should be {}, as in #{index}", line.id_text(), short(asked.id()));
            line.answers(&asked, true);
            felts::result(line, invoke.signature(self.signatures));
            child.restart_at(number);
            child.count_line(line.index);
            return;
        }
        let place = line.id_place();
        if self.counts.is_some() {
            return child.record_extra_line(seen.index);
        }
        if let Some((_, by)) = &again {
            broken!(line, rule::EXTRA_LINE, place, *by;
                "id {} was answered by #{by}", line.id_text());
        } else {
            broken!(line, rule::EXTRA_LINE, place;
                "id {} belongs to no open request", line.id_text());
        }
        child.record_extra_line(seen.index);
        if let Some((_, id)) = due
            && !child.is_late
        {
            child.is_late = true;
            let reader = self.open.get(&Key::one_way(conn, id));
            broken!(line, rule::DESYNC, place, seen.index;
                "id is {}, but {} reads this, and from here on each answer is one invoke late",
                line.id_text(),
                reader.map(|(asked, _)| describe_invoke(asked)).unwrap_or_default());
        }
    }

    /// Checks that an answer is read by the invoke with its id.
    fn check_reader(&mut self, number: u64, line: &OracleLine<'_, '_>) {
        let conn = line.origin.conn;
        self.report_skipped(number, line);
        let Some(child) = self.children.get_mut(conn) else {
            return;
        };
        child.answered = line.id().map(|id| (id, line.index));
        let in_step = std::mem::replace(&mut child.in_step, true);
        if in_step && number < child.read {
            if child.read < child.asked && !child.is_late {
                child.is_late = true;
                let reader = child
                    .due(&self.open, conn)
                    .map(|(_, id)| Key::one_way(conn, id));
                let reader = reader.and_then(|key| self.open.get(&key));
                let reader = reader.map_or("an invoke".into(), |(asked, _)| describe_invoke(asked));
                let lag = child.read - number;
                broken!(line, rule::DESYNC, line.id_place(), child.cause;
                    "id is {}, but {reader} reads this: {} came between, and each answer is {} \
                    late", line.id_text(), child.cause(), invokes(lag));
            }
        } else {
            child.restart_at(number);
            child.is_late = false;
            child.cause = None;
        }
        child.count_line(line.index);
    }

    /// Reports earlier invokes for which no line was read: the oracle skipped them.
    fn report_skipped(&mut self, number: u64, line: &OracleLine<'_, '_>) {
        let conn = line.origin.conn;
        let Some(child) = self.children.get_mut(conn) else {
            return;
        };
        while let Some((before, id)) = child.pop_below(number.saturating_add(1)) {
            let Some(asked) = close(&mut self.open, &Key::one_way(conn, id), before) else {
                continue;
            };
            if before >= child.read && child.in_step {
                broken!(line, rule::UNANSWERED, asked.place(), line.index;
                    "{} has no answer, and #{} answers a later one", asked.describe(), line.index);
            }
        }
    }
}

/// Handles the first line of the oracle; returns true if no further checks apply.
fn handle_first_line(child: &mut ChildSession, line: &OracleLine<'_, '_>, is_ready: bool) -> bool {
    if is_ready && !line.faulty {
        child.announce(line);
        return true;
    }
    let seen = line.seen;
    if !child.begins_with(line) {
        child.continue_from_unknown();
        return false;
    }
    child.record_failure();
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
        broken!(line, rule::FIRST_NOT_READY, line.place(line.call.method);
            "the oracle starts with {kind}; it should start with the request ready");
    }
    true
}

/// Describes the invoke that reads a line.
fn describe_invoke(asked: &OpenRequest) -> String {
    format!(
        "the invoke with id {} (#{})",
        short(asked.id()),
        asked.index()
    )
}
