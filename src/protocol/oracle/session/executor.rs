//! Messages of the executor: one acknowledgement, then invokes, then shutdown.

use super::child::{ChildSession, PendingInvoke, ReadyStage, invokes};
use super::{LAG, OracleLine, OracleSession, broken, close, felts, rule, shape};
use crate::protocol::Role;
use crate::protocol::exchange::{Added, Key};

impl OracleSession<'_> {
    pub(super) fn executor_message(&mut self, line: &OracleLine<'_, '_>) {
        let (seen, conn) = (line.seen, line.origin.conn);
        let has_untracked = self.open.untracked() > 0;
        let Some(child) = self.child(conn) else {
            return;
        };
        // MUST (Initialisation, rule 4): no byte before ready.
        if matches!(child.stage, ReadyStage::Silent)
            && !child.ends.output_ended
            && !child.executor_sent
        {
            let kind = &seen.message.kind;
            broken!(line, rule::SPEAKS_BEFORE_READY, seen.whole();
                "the executor sends {} first; it should wait for ready",
                if kind.is_empty() { "something" } else { kind });
        }
        child.executor_sent = true;
        if line.faulty {
            self.handle_unreadable(line);
        } else if line.is_answer() {
            acknowledge(child, line);
        } else if line.role() == Some(Role::Request) && !line.is("ready") {
            let known = line.is("invoke");
            if !known {
                shape::unknown(line);
            }
            self.add_request(line, has_untracked);
        } else if line.is("shutdown") {
            child.shut_down = Some(seen.index);
        } else {
            shape::unknown(line);
        }
    }

    /// Handles a line that the oracle cannot read; it may still answer it.
    fn handle_unreadable(&mut self, line: &OracleLine<'_, '_>) {
        let (seen, conn) = (line.seen, line.origin.conn);
        let Some(child) = self.children.get_mut(conn) else {
            return;
        };
        if let ReadyStage::Announced(ready, id) = &child.stage {
            if line.is_answer() && line.id().as_ref() == Some(id) {
                line.answers(ready, true);
            }
            child.record_failure();
        }
        let id = line.id().filter(|_| line.role() == Some(Role::Request));
        let Some(id) = id else {
            child.unreadable = Some(Box::new(seen.stored_request()));
            return;
        };
        let before = child.dropped.replace(id.clone());
        if let Some(before) = before.map(|id| Key::one_way(conn, id))
            && self
                .open
                .get(&before)
                .is_some_and(|(_, i)| i.number.is_none())
        {
            self.open.close(&before);
        }
        self.open.add(
            Key::one_way(conn, id),
            seen.stored_request(),
            PendingInvoke::DROPPED,
        );
    }

    fn add_request(&mut self, line: &OracleLine<'_, '_>, has_untracked: bool) {
        let (seen, conn) = (line.seen, line.origin.conn);
        let Some(child) = self.children.get_mut(conn) else {
            return;
        };
        if let Some(shut_down) = child.shut_down
            && child.reported.first(rule::INVOKE_AFTER_SHUTDOWN)
        {
            broken!(line, rule::INVOKE_AFTER_SHUTDOWN, seen.whole(), shut_down;
                "{} is after shutdown (#{shut_down}): no more requests are allowed",
                seen.message.kind);
        }
        if let ReadyStage::Announced(ready, _) = &child.stage {
            broken!(line, rule::INVOKE_UNACKNOWLEDGED, seen.whole(), ready.index();
                "ready (#{}) is not acknowledged yet; this should come first", ready.index());
            child.record_failure();
        }
        let Some(id) = line.id() else {
            return;
        };
        if child.ends.output_ended {
            return;
        }
        child.check_id_order(line);
        if child.read < child.asked
            && let Some(before) = child.last_asked
            && matches!(child.stage, ReadyStage::Serving)
        {
            broken!(line, rule::OVERLAP, seen.whole(), before.index;
                "#{} is not answered yet: one invoke should end before the next", before.index);
        }
        child.unreadable = None;
        let number = child.asked;
        child.asked += 1;
        child.last_asked = Some(seen.whole());
        if child.read > number && child.in_step && !child.is_late && !has_untracked {
            child.is_late = true;
            let lag = child.read - number;
            broken!(line, rule::DESYNC, line.id_place(), child.cause;
                "the executor reads {} as the answer to id {}, and from here on each answer is {} \
                late", child.line_for(number), line.id_text(), invokes(lag));
        }
        // Old requests will not be answered any more.
        let long_ago = child.read.saturating_sub(LAG);
        while let Some((number, id)) = child.pop_below(long_ago) {
            close(&mut self.open, &Key::one_way(conn, id), number);
        }
        let selector = shape::selector(line, self.signatures);
        let signature = selector.and_then(|n| self.signatures.get(n));
        felts::calldata(line, signature);
        let invoke = PendingInvoke {
            number: Some(number),
            selector,
        };
        let key = Key::one_way(conn, id.clone());
        match self.open.add(key, seen.stored_request(), invoke) {
            Added::Untracked => return,
            // Of two requests with one id, only the later can still be answered.
            Added::Replaced(_, before) => {
                if let Some(number) = before.number {
                    child.remove(number);
                }
            }
            _ => {}
        }
        child.queue.push_back((number, id));
    }
}

/// Handles an answer of the executor: that to ready.
fn acknowledge(child: &mut ChildSession, line: &OracleLine<'_, '_>) {
    let seen = line.seen;
    let ack = seen.stored_request().at(line.id_place());
    match std::mem::take(&mut child.stage) {
        ReadyStage::Announced(ready, id) => {
            line.answers(&ready, true);
            child.acknowledge(&ready, &id, &ack, line.id().as_ref(), line);
        }
        ReadyStage::Silent => {
            child.acknowledged = Some(Box::new((ack, line.id())));
        }
        stage => {
            child.stage = stage;
            if child.in_step {
                broken!(line, rule::STRAY_ACK, ack.place();
                    "id {} belongs to no request of the oracle", line.id_text());
            }
        }
    }
}
