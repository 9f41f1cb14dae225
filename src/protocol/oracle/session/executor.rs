//! What the executor says: one acknowledgement, then invokes, then shutdown.

use super::child::{Child, Invoke, Stage};
use super::{Conduct, LAG, Line, close, felts, shape};
use crate::protocol::Role;
use crate::protocol::correlation::Asked;
use crate::protocol::session::Report;

impl Conduct<'_> {
    pub(super) fn executor_says(&mut self, line: &Line<'_, '_>, report: &mut Report) {
        let (seen, conn) = (line.seen, line.seen.origin.conn);
        let refused = self.open.refused() > 0;
        let Some(child) = self.child(conn) else {
            return;
        };
        // MUST (Initialisation, rule 4): not a byte before ready.
        if matches!(child.stage, Stage::Silent) && !child.ends.mute && !child.spoke {
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
        let Some(child) = self.children.get_mut(conn) else {
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
        let Some(child) = self.children.get_mut(conn) else {
            return;
        };
        if let Some(told) = child.told
            && child.reported.first("invoke-after-shutdown")
        {
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
        if child.ends.mute {
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
        child.garbled = None;
        let number = child.asked;
        child.asked += 1;
        child.last_asked = Some(seen.whole());
        if child.read > number && child.in_step && !child.is_late && !refused {
            child.is_late = true;
            let text = format!(
                "the executor reads {} as the answer to id {}, and from here on each answer is one invoke late",
                child.cause(),
                line.id_text()
            );
            child.blame("desync", line.id_place(), text, report);
        }
        // What was read for long ago will not be answered any more.
        let long_ago = child.read.saturating_sub(LAG);
        while let Some((number, id)) = child.pop_below(long_ago) {
            close(&mut self.open, &(conn, id), number);
        }
        let selector = shape::selector(line, self.signatures);
        let signature = selector.and_then(|n| self.signatures.get(n));
        felts::calldata(line, signature, report);
        let invoke = Invoke {
            number: Some(number),
            selector,
        };
        let refused = self.open.refused();
        let before = self.open.ask((conn, id.clone()), Asked::of(seen), invoke);
        if self.open.refused() == refused {
            // Of two requests with one id, only the later can still be answered.
            let before = before.and_then(|(_, invoke)| invoke.number);
            before.map(|number| child.queue.remove(&number));
            child.queue.insert(number, id);
        }
    }
}

/// An answer of the executor: that to ready.
fn acknowledge(child: &mut Child, line: &Line<'_, '_>, report: &mut Report) {
    let seen = line.seen;
    let ack = Asked {
        place: line.id_place(),
        ..Asked::of(seen)
    };
    match std::mem::take(&mut child.stage) {
        Stage::Announced(ready, id) => {
            report.answers(&ready, seen, true);
            child.acknowledge(&ready, &id, &ack, line.id().as_ref(), report);
        }
        Stage::Silent => {
            child.acknowledged = Some((ack, line.id()));
        }
        stage => {
            child.stage = stage;
            if child.in_step {
                let text = format!(
                    "id {} answers nothing that the oracle asked",
                    line.id_text()
                );
                report.broken("stray-ack", ack.place, text);
            }
        }
    }
}
