//! Compares the messages of the peer with the recorded ones.

use super::{
    Binding, ClientEvent, ClientRun, ConnectionStage, Divergence, Expected, Hang, PlanStep,
    RunDifference, describe_step,
};
use crate::diff::{
    DiffMessage, FieldDifference, IdForm, IdScope, StoredMessage, Val, generalized, id_form,
};
use crate::live::endpoint::Received;
use crate::live::handler::{Command, Ended};
use crate::live::plan::id_of;
use crate::path::Path;
use crate::protocol::peer::Readiness;
use crate::protocol::schema::Fresh;
use crate::protocol::{Protocol, Role};
use crate::tape::Node;
use std::cell::OnceCell;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hasher as _};

/// Notes of one kind that are reported one by one.
const MAX_NOTES: u64 = 20;
/// The index of unexpected messages in the counts.
const PUSHES: usize = 0;
/// The index of unanswered requests in the counts.
const REQUESTS: usize = 1;
/// The index of answers to requests without a recorded answer in the counts.
const ANSWERS: usize = 2;

/// The number of recorded messages with which a message of the peer is compared.
const MAX_SIMILAR: usize = 32;

impl ClientRun<'_> {
    /// Handles a message of the peer.
    pub(super) fn receive(
        &mut self,
        received: &mut Received<'_>,
        now: i64,
        commands: &mut Vec<Command>,
    ) {
        if self.feed.is_some() {
            return self.show(received, now, commands);
        }
        let decoded = received.decoded;
        (self.observer)(ClientEvent::Received(decoded, received.verdict), commands);
        if let Some(answer) = received.verdict.answer
            && let Some(number) = self.step_by_index.get(&answer.to).copied()
        {
            self.update_step(number, |progress| progress.has_begun = true);
        }
        let answer = received.verdict.answer;
        let passive = matches!(decoded.message.role, Some(Role::Heartbeat | Role::Control));
        let step = answer.and_then(|answer| self.step_by_index.get(&answer.to));
        let step = step.and_then(|number| self.plan.steps.get(*number));
        let is_of_step = step.is_some_and(|step| !step.is_hello);
        let is_refusal = is_of_step && decoded.refusal_status().is_some();
        let is_ignored = (decoded.frame.control.is_some() || passive) && !is_refusal;
        if self.is_stopping || is_ignored {
            return;
        }
        self.last_traffic = now;
        let stored = StoredMessage::of(decoded, answer);
        let expected = match answer.map(|answer| (answer, self.step_by_index.get(&answer.to))) {
            Some((answer, Some(number))) => {
                let (number, last) = (*number, answer.last);
                self.match_answer(number, last, &stored, now, commands)
            }
            // It answers a message of the protocol itself.
            Some((_, None)) => return,
            None => {
                let id = id_of(&decoded.message.id);
                self.match_push(&stored, id.as_ref(), received.replies.is_empty(), commands)
            }
        };
        let Some(expected) = expected else {
            return;
        };
        self.record_progress(now);
        if let Some(is_received) = self.is_received.get_mut(expected) {
            *is_received = true;
        }
        let plan = self.plan;
        let Some(recorded) = plan.expected.get(expected) else {
            return;
        };
        if let Some(step) = recorded.answered_by {
            received.replies.clear();
            self.asked.insert(step);
        }
        let message = decoded.message_text();
        (self.values).receive(&plan.names, &recorded.places, stored.conn, &message);
        let request = recorded.answers.and_then(|step| plan.steps.get(step));
        let is_cancelled = request.is_some_and(|step| {
            self.is_cancelled(step) || self.was_cancelled_before(step, expected)
        });
        if !(is_cancelled && crate::diff::is_untimely(&recorded.stored, &stored)) {
            self.report_differing(recorded, &stored, commands);
        }
    }

    /// Compares a message with the recorded one, and reports the fields that differ.
    fn report_differing(
        &mut self,
        recorded: &Expected,
        stored: &StoredMessage,
        commands: &mut Vec<Command>,
    ) {
        let plan = self.plan;
        self.outcome.compared += 1;
        let (values, ids) = (&self.values, &mut self.ids);
        let scope = |stored: &StoredMessage| IdScope {
            conn: stored.conn,
            session: None,
            direction: stored.direction,
        };
        let scopes = [scope(&recorded.stored), scope(stored)];
        let places = OnceCell::new();
        let mut same = |used, path: &Path, recorded_is: Node<'_>, here: Node<'_>| {
            // Own ids have the form of the recorded ones.
            let forms = [recorded_is, here].map(id_form);
            let Some((one, other)) = Val::of(recorded_is).zip(Val::of(here)) else {
                return Err(None);
            };
            let Some(used) = used else {
                // An id that was made here for this run is no difference of the peer.
                let places = places.get_or_init(|| names_by_path(recorded));
                let own = places.get(path).copied();
                let own = own.filter(|number| values.is_own(&plan.names, *number));
                let is_same = values.corresponds(&plan.names, &one, &other)
                    || own.is_some_and(|number| values.check(number, &other).is_ok());
                return if is_same { Ok(()) } else { Err(None) };
            };
            let places = places.get_or_init(|| names_by_path(recorded));
            match places.get(path) {
                Some(number) => values.check(*number, &other)?,
                None => ids.pair(used, (scopes[0], &one), (scopes[1], &other), forms)?,
            }
            let is_uuid = |val: &Val| matches!(val, Val::Uuid(_));
            let has_forms = is_uuid(&one) && is_uuid(&other) || forms.contains(&IdForm::Fraction);
            if has_forms && forms[0] != forms[1] {
                return Err(None);
            }
            Ok(())
        };
        let fields = (self.compare).fields_with(&recorded.stored, stored, &mut same);
        self.outcome.ignored = self.compare.ignored;
        if !fields.is_empty() {
            let flags = ignored_flags(&recorded.stored.kind, &fields);
            let recorded_is = crate::diff::describe(&recorded.stored);
            let how =
                RunDifference::Differs(recorded_is, crate::diff::describe(stored), fields, flags);
            let request = recorded.answers.and_then(|step| plan.steps.get(step));
            self.report_difference(request, how, commands);
        }
    }

    /// Matches an answer to a step with a recorded answer.
    fn match_answer(
        &mut self,
        number: usize,
        last: bool,
        stored: &StoredMessage,
        now: i64,
        commands: &mut Vec<Command>,
    ) -> Option<usize> {
        let plan = self.plan;
        let step = plan.steps.get(number)?;
        let got = self.steps.get(number)?.got;
        let role = |expected: &usize| {
            plan.expected
                .get(*expected)
                .and_then(|expected| expected.stored.role)
        };
        let is_item = stored.role == Some(Role::Item);
        let mut left = step.answers.iter().enumerate().skip(got);
        let found = if is_item {
            left.next()
                .filter(|(_, expected)| role(expected) == Some(Role::Item))
        } else {
            // A stream that is ended here may have had more items in the recording.
            let other = left
                .clone()
                .find(|(_, expected)| role(expected) != Some(Role::Item));
            other.or_else(|| left.next())
        };
        let upto = found.map_or(got, |(at, _)| at + 1);
        let all = step.is_complete && upto == step.answers.len();
        self.update_step(number, |progress| {
            // Unrecorded answers could arrive without end, so they do not extend the time limit.
            if found.is_some() {
                progress.last = now;
            }
            progress.got = upto;
            progress.done |= last || (all && found.is_some());
        });
        let Some((at, expected)) = found else {
            if step.is_complete && !self.is_cancelled(step) {
                self.report_difference(
                    Some(step),
                    RunDifference::Extra(crate::diff::describe(stored)),
                    commands,
                );
            } else if step.answers.is_empty() && plan.ended.contains(&step.conn) {
                let what = &step.description.what;
                let index = step.description.index;
                let text = format!(
                    "#{index} {what} is answered; in the recording the connection ended without an answer"
                );
                self.note_unexpected(ANSWERS, text, commands);
            }
            return None;
        };
        let skipped = step.answers.get(got..at).unwrap_or_default();
        if !skipped.is_empty() && !self.is_cancelled(step) {
            let missing = skipped
                .iter()
                .filter_map(|expected| plan.expected.get(*expected));
            let missing = missing
                .map(|expected| crate::diff::describe(&expected.stored))
                .collect();
            self.report_difference(Some(step), RunDifference::Missing(missing), commands);
        }
        self.mark_received(skipped);
        Some(*expected)
    }

    /// Returns `true` if a later notification of this run refers to this step: then the number of answers depends on
    /// timing.
    fn is_cancelled(&self, step: &PlanStep) -> bool {
        step.referenced_by.iter().any(|later| {
            let later = self.plan.steps.get(*later).zip(self.steps.get(*later));
            later.is_some_and(|(later, progress)| {
                later.role == Some(Role::Notification) && progress.sent.is_some()
            })
        })
    }

    /// Returns `true` if the message with this id was cancelled.
    fn was_cancelled(&self, id: Option<&Val>) -> bool {
        let is_now = |number: usize| id.is_some_and(|id| self.values.value(number) == Some(id));
        let named = self
            .plan
            .steps
            .iter()
            .filter(|step| step.id.is_some_and(is_now));
        let mut named = named;
        named.any(|step| self.is_cancelled(step))
    }

    /// Matches a message without a request with a recorded one.
    fn match_push(
        &mut self,
        stored: &StoredMessage,
        id: Option<&Val>,
        unanswered: bool,
        commands: &mut Vec<Command>,
    ) -> Option<usize> {
        let key = self.plan.push_key(stored);
        let expected = self.next_push(&key, stored);
        if expected.is_none() {
            let what = &key.1;
            let answers = [Role::Response, Role::Error, Role::Item, Role::End];
            let is_answer = stored.role.is_none_or(|role| answers.contains(&role));
            // A cancelled request may still be answered, even twice.
            if stored.fault.is_some() || is_answer && !self.was_cancelled(id) {
                self.report_difference(
                    None,
                    RunDifference::Extra(crate::diff::describe(stored)),
                    commands,
                );
            } else if stored.role != Some(Role::Request) {
                let text = format!("{what} came, but is not in the recording");
                self.note_unexpected(PUSHES, text, commands);
            } else if unanswered {
                let text =
                    format!("the other side requests {what}, but the recording has no answer");
                self.note_unexpected(REQUESTS, text, commands);
            }
        }
        expected
    }

    /// Returns the recorded message for a message of the peer: of those that precede the next step, the first one
    /// without differences, otherwise the next one.
    fn next_push(&mut self, key: &(u32, String), stored: &StoredMessage) -> Option<usize> {
        let (plan, compare) = (self.plan, &mut self.compare);
        let waiting = self.pushes.get_mut(key)?;
        let first = *waiting.front()?;
        let conn = plan.expected.get(first)?.stored.conn.unwrap_or_default();
        let next = self.states.get(&conn).map_or(0, |state| state.next);
        let next = plan.connections.get(&conn).and_then(|c| c.steps.get(next));
        let next = next.and_then(|step| plan.steps.get(*step));
        let upto = next.map_or(usize::MAX, |step| step.received_before);
        let candidates = waiting.iter().take(MAX_SIMILAR);
        let candidates = candidates.take_while(|expected| **expected < upto);
        let mut at = 0;
        if candidates.clone().count() > 1 {
            let mut digest = |stored: &StoredMessage| {
                let mut hasher = DefaultHasher::new();
                compare.digest(stored, &mut hasher);
                hasher.finish()
            };
            let wanted = digest(stored);
            let mut candidates = candidates.filter_map(|at| plan.expected.get(*at));
            let equal = candidates.position(|expected| digest(&expected.stored) == wanted);
            at = equal.unwrap_or_default();
        }
        waiting.remove(at)
    }

    /// Counts a message that the recording does not have, and reports the first ones.
    fn note_unexpected(&mut self, kind: usize, text: String, commands: &mut Vec<Command>) {
        let Some(count) = self.unexpected.get_mut(kind) else {
            return;
        };
        *count += 1;
        if *count <= MAX_NOTES {
            (self.observer)(ClientEvent::Note(text), commands);
        }
    }

    /// Reports the number of further unrecorded messages.
    pub(super) fn report_further_unexpected(&mut self, commands: &mut Vec<Command>) {
        for (kind, count) in self.unexpected.into_iter().enumerate() {
            let more = count.saturating_sub(MAX_NOTES);
            let messages = if more == 1 { "message" } else { "messages" };
            let requests = if more == 1 { "request" } else { "requests" };
            let text = match kind {
                _ if more == 0 => continue,
                PUSHES => format!("{more} more {messages} came, but not in the recording"),
                ANSWERS => {
                    format!("{more} more {requests} have an answer, but not in the recording")
                }
                _ => format!("{more} more {requests} came, but the recording has no answer"),
            };
            (self.observer)(ClientEvent::Note(text), commands);
        }
    }

    /// Reports a difference. Without `--keep-going` the run ends.
    pub(super) fn report_difference(
        &mut self,
        request: Option<&PlanStep>,
        how: RunDifference,
        commands: &mut Vec<Command>,
    ) {
        if self.is_stopping {
            return;
        }
        self.outcome.differ += 1;
        let request = describe_step(request);
        let divergence = Divergence { request, how };
        (self.observer)(ClientEvent::Diverged(&divergence), commands);
        self.is_stopping |= !self.settings.keep_going;
    }

    pub(super) fn report_hang(&mut self, hang: &Hang, commands: &mut Vec<Command>) {
        self.outcome.hangs = true;
        self.is_stopping = true;
        (self.observer)(ClientEvent::Hangs(hang), commands);
    }

    pub(super) fn fail(&mut self, why: String) {
        self.outcome.failure.get_or_insert(why);
        self.is_stopping = true;
    }

    /// Reports the recorded messages that were not received although nothing prevented them.
    pub(super) fn report_missing(&mut self, commands: &mut Vec<Command>) {
        let missing = self.missing().into_iter();
        let missing = missing.filter_map(|expected| self.plan.expected.get(expected));
        let missing: Vec<DiffMessage> = missing
            .map(|expected| crate::diff::describe(&expected.stored))
            .collect();
        if !missing.is_empty() {
            self.report_difference(None, RunDifference::Missing(missing), commands);
        }
    }

    /// Returns `true` if there are further messages for a connection that has ended without loss.
    pub(super) fn has_more_steps(&self, conn: u32) -> bool {
        !self.is_stopping && self.stage(conn) == ConnectionStage::Open && !self.all_sent_on(conn)
    }

    /// Handles the end of a connection.
    pub(super) fn ended(
        &mut self,
        conn: u32,
        how: &Ended,
        again: bool,
        readiness: &Readiness,
        commands: &mut Vec<Command>,
    ) {
        let text = match how {
            // Nothing more is received, so nothing waits any longer.
            Ended::Eof => {
                let steps = self
                    .plan
                    .connections
                    .get(&conn)
                    .map(|planned| &planned.steps);
                let waits = steps.into_iter().flatten().any(|n| self.is_pending(*n));
                if !self.is_stopping && (waits || !self.all_sent_on(conn)) {
                    commands.push(Command::Close(conn));
                }
                return;
            }
            Ended::Refused(why) => {
                self.set_stage(conn, ConnectionStage::Ended);
                self.fail(why.clone());
                return;
            }
            Ended::Closed => "was closed".to_owned(),
            Ended::Reset => "was cut".to_owned(),
            Ended::Exited(status) => format!("ended: its child exited with status {status}"),
        };
        let stage = self.stage(conn);
        self.set_stage(conn, ConnectionStage::Ended);
        // A connection that this side closes was closed in the recording too. Its answers may arrive on another one.
        if self.is_stopping || matches!(stage, ConnectionStage::Closing | ConnectionStage::Ended) {
            return;
        }
        let plan = self.plan;
        let steps = plan.connections.get(&conn).map(|planned| &planned.steps);
        // Over HTTP an exchange may end without the answer, which is then an event of another connection.
        let is_lost = |n: &&usize| self.is_pending(**n) && !(again && plan.has_event_streams());
        let pending = steps.into_iter().flatten().filter(is_lost);
        let pending = pending.filter_map(|n| plan.steps.get(*n));
        let pending: Vec<DiffMessage> = pending.map(|step| step.description.clone()).collect();
        let unsent = self.skip(conn);
        if !pending.is_empty() || unsent > 0 {
            let is_ready = self.handshakes.contains(&(conn, "".into()));
            let text = if is_ready || *readiness == Readiness::Ready {
                text
            } else {
                format!(
                    "{text} {}",
                    describe_missing_handshake(plan.protocol, readiness)
                )
            };
            self.report_difference(
                None,
                RunDifference::Ended(conn, text, pending, unsent),
                commands,
            );
        }
    }
}

/// Returns the names in a recorded message by path.
fn names_by_path(expected: &Expected) -> HashMap<&Path, usize> {
    let places = expected.places.iter().filter(|place| !place.spot.is_key);
    let names = places.filter_map(|place| match place.binding {
        Binding::Name(number) => Some((&place.path, number)),
        Binding::Time | Binding::Process | Binding::Given => None,
    });
    names.collect()
}

/// Returns the paths that `--ignore` would need, with the kind of the message.
fn ignored_flags(kind: &str, fields: &[FieldDifference]) -> Vec<String> {
    // A difference without a path cannot be ignored.
    if fields
        .iter()
        .any(|field| field.path.is_empty() || field.path.starts_with('('))
    {
        return Vec::new();
    }
    let mut flags: Vec<String> = fields
        .iter()
        .map(|field| format!("{kind}:{}", generalized(&field.path)))
        .collect();
    flags.sort();
    flags.dedup();
    flags
}

/// Describes a connection that ended before calls were possible.
pub(super) fn describe_missing_handshake(protocol: &dyn Protocol, readiness: &Readiness) -> String {
    // A hello with a value that the user supplies is a login.
    let is_hello = |kind: &str| {
        let mut kinds = protocol.kinds().iter();
        kinds.any(|k| k.name == kind && k.role == Some(Role::Hello))
    };
    let given = (protocol.marks().generated.iter()).filter(|m| m.fresh == Some(Fresh::Given));
    let mut kinds = given.filter_map(|m| Some(m.path.split_once(':')?.0));
    match readiness {
        Readiness::Refused(why) => format!("after it was refused: {why}"),
        Readiness::Waits(what) if kinds.any(is_hello) => {
            format!("before {what} came: it may have refused the login")
        }
        Readiness::Waits(what) => format!("before {what} came"),
        Readiness::Ready => "before all messages were sent".to_owned(),
    }
}
