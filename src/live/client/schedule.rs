//! The order of the messages to send, and the pending answers.

use super::feed::MessageFeed;
use super::{
    ClientRun, ConnectionStage, ConnectionState, PlanStep, RunDifference, RunOutcome, Speed,
};
use crate::diff::DiffMessage;
use crate::live::endpoint::Endpoint;
use crate::live::handler::Command;
use crate::protocol::Role;
use crate::protocol::peer::Readiness;

/// The reason why a step is not sent yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum StepWait {
    /// It is not sent before this time.
    Until(i64),
    /// It waits for this message or value.
    For(String),
    /// It will never be sent, with the reason.
    Never(String),
}

impl<'p> ClientRun<'p> {
    /// Returns the open connections.
    pub(super) fn open_connections(&self) -> impl Iterator<Item = u32> {
        let open = |(_, state): &(&u32, &ConnectionState)| state.stage == ConnectionStage::Open;
        self.states.iter().filter(open).map(|(conn, _)| *conn)
    }

    /// Returns the next step of an open connection.
    pub(super) fn next_step(&self, conn: u32) -> Option<(usize, &'p PlanStep)> {
        let state = self
            .states
            .get(&conn)
            .filter(|state| state.stage == ConnectionStage::Open)?;
        let number = *self.plan.connections.get(&conn)?.steps.get(state.next)?;
        Some((number, self.plan.steps.get(number)?))
    }

    /// Records progress: a message was sent, or an expected one was received.
    pub(super) fn record_progress(&mut self, now: i64) {
        self.last_traffic = now;
        self.last_progress = now;
    }

    /// Records a new state of the handshake as progress, once.
    pub(super) fn record_handshake(&mut self, endpoint: &Endpoint<'_>, conn: u32, now: i64) {
        let upto = match endpoint.readiness(conn) {
            Readiness::Waits(what) => what,
            Readiness::Ready => "".into(),
            Readiness::Refused(_) => return,
        };
        if self.states.contains_key(&conn) && self.handshakes.insert((conn, upto)) {
            self.record_progress(now);
        }
    }

    /// Advances `self.answered` and `self.notified`.
    pub(super) fn advance_answered(&mut self) {
        while let Some((expected, is_received)) =
            (self.plan.expected.get(self.notified)).zip(self.is_received.get(self.notified))
        {
            let is_needed = expected.is_required && expected.is_push();
            if is_needed && !is_received && self.notified >= self.given_up {
                break;
            }
            self.notified += 1;
        }
        for (all, with_items) in [false, true].into_iter().enumerate() {
            let mut upto = self.answered.get(all).copied().unwrap_or_default();
            while let Some((expected, is_received)) =
                self.plan.expected.get(upto).zip(self.is_received.get(upto))
            {
                let waits = expected.answers.is_some_and(|step| !self.is_done(step));
                if waits && !is_received && (with_items || expected.stored.role != Some(Role::Item))
                {
                    break;
                }
                upto += 1;
            }
            if let Some(slot) = self.answered.get_mut(all) {
                *slot = upto;
            }
        }
    }

    /// Removes the ends of sessions whose exchange is over from `self.deletions`.
    pub(super) fn advance_deletions(&mut self, endpoint: &Endpoint<'_>) {
        while let Some(number) = self.deletions.front().copied()
            && self.is_sent(number)
            && !(self.plan.steps.get(number)).is_some_and(|step| endpoint.is_busy(step.conn))
        {
            self.deletions.pop_front();
        }
    }

    /// Returns `true` for a step that is sent or skipped.
    fn is_sent(&self, number: usize) -> bool {
        let progress = self.steps.get(number);
        progress.is_some_and(|progress| progress.sent.is_some() || progress.done)
    }

    /// Returns `true` for an answer to a callback: it uses another connection if its own is busy with the stream that has the
    /// callback.
    fn is_postable(&self, step: &PlanStep) -> bool {
        let is_message = step.role != Some(Role::Request) && !step.is_deletion;
        is_message && self.plan.has_event_streams()
    }

    /// Checks the order of a step and the ends of sessions, which may be on other connections.
    fn check_deletions(&self, number: usize) -> Result<(), StepWait> {
        match self.deletions.front() {
            Some(deletion) if *deletion < number => {
                Err(StepWait::For("the end of the session".into()))
            }
            Some(deletion) if *deletion == number && !(0..number).all(|n| self.is_sent(n)) => {
                Err(StepWait::For("the messages before it".into()))
            }
            _ => Ok(()),
        }
    }

    /// Changes the progress of a step, and updates the pending answers.
    pub(super) fn update_step(
        &mut self,
        number: usize,
        change: impl FnOnce(&mut super::StepProgress),
    ) {
        let Some(progress) = self.steps.get_mut(number) else {
            return;
        };
        self.pending.remove(&(progress.last, number));
        change(progress);
        let key = (progress.last, number);
        if self.is_pending(number) {
            self.pending.insert(key);
        }
    }

    fn is_done(&self, step: usize) -> bool {
        self.steps.get(step).is_some_and(|step| step.done)
    }

    /// Checks if a step can be sent now.
    pub(super) fn check_ready(
        &self,
        endpoint: &Endpoint<'_>,
        number: usize,
        step: &PlanStep,
        now: i64,
    ) -> Result<(), StepWait> {
        if !endpoint.can_send(step.conn) {
            match endpoint.readiness(step.conn) {
                Readiness::Waits(what) => return Err(StepWait::For(what.into_owned())),
                _ if self.is_postable(step) => {}
                _ => return Err(StepWait::For("the exchange before it".into())),
            }
        }
        match step
            .replies_to
            .map(|expected| (expected, self.is_received.get(expected)))
        {
            Some((_, Some(true))) => {}
            Some((expected, _)) => {
                let what = self
                    .plan
                    .expected
                    .get(expected)
                    .map(|expected| expected.stored.what());
                return Err(StepWait::For(what.unwrap_or_default()));
            }
            None => self.check_handshake(endpoint, number, step)?,
        }
        self.check_deletions(number)?;
        self.check_references(step)?;
        let names = &self.plan.names;
        if let Some(name) = step.needs.iter().find(|n| self.values.value(**n).is_none()) {
            let group = names.group_of(*name).unwrap_or("value");
            return Err(StepWait::For(format!("the {group} in it")));
        }
        // An earlier answer may be the reason for the message.
        let answered = self.answered[usize::from(self.settings.in_order)];
        if answered < step.received_before {
            let expected = self.plan.expected.get(answered);
            let request = expected.and_then(|expected| self.plan.steps.get(expected.answers?));
            return Err(StepWait::For(match (expected, request) {
                (Some(expected), Some(request)) if expected.stored.role != Some(Role::Item) => {
                    format!("the answer to {}", request.description.what)
                }
                (expected, _) => expected
                    .map(|expected| expected.stored.what())
                    .unwrap_or_default(),
            }));
        }
        if self.settings.in_order && self.notified < step.received_before {
            let expected = self.plan.expected.get(self.notified);
            let what = expected.map(|expected| expected.stored.what());
            return Err(StepWait::For(what.unwrap_or_default()));
        }
        if self.plan.protocol.descriptor().is_sequential {
            let mut before = self.pending.iter().filter(|(_, n)| *n < number);
            let before = before.find_map(|(_, n)| {
                let before = self.plan.steps.get(*n)?;
                let is_same = (before.conn, before.stream) == (step.conn, step.stream);
                is_same.then_some(before)
            });
            if let Some(before) = before {
                return Err(StepWait::For(format!(
                    "the answer to {}",
                    before.description.what
                )));
            }
        }
        let times = [
            self.send_time(number, step),
            self.head_start_end(step),
            self.notified_end(step),
        ];
        match times.into_iter().max().flatten() {
            Some(time) if time > now => Err(StepWait::Until(time)),
            _ => Ok(()),
        }
    }

    /// Checks the handshake: the answers to earlier hellos, and if calls are possible.
    fn check_handshake(
        &self,
        endpoint: &Endpoint<'_>,
        number: usize,
        step: &PlanStep,
    ) -> Result<(), StepWait> {
        let planned = self.plan.connections.get(&step.conn);
        let hellos = planned.map(|planned| &planned.hellos);
        for n in hellos.into_iter().flatten().take_while(|n| **n < number) {
            let Some(hello) = self.plan.steps.get(*n) else {
                continue;
            };
            let answered = hello
                .answers
                .iter()
                .take_while(|expected| **expected < step.received_before);
            let answered = answered.count();
            if self
                .steps
                .get(*n)
                .is_some_and(|p| !p.done && p.got < answered)
            {
                return Err(StepWait::For(format!(
                    "the answer to {}",
                    hello.description.what
                )));
            }
        }
        // A request that did not wait for the handshake in the recording does not wait now. A recording that starts
        // after the handshake waits.
        let first = planned.and_then(|planned| planned.steps.first()) == Some(&number);
        let gates = step.was_ready || (first && !self.plan.has_hello);
        if step.is_hello || !gates || step.role != Some(Role::Request) {
            return Ok(());
        }
        match endpoint.readiness(step.conn) {
            Readiness::Ready => Ok(()),
            Readiness::Waits(what) => Err(StepWait::For(what.into_owned())),
            Readiness::Refused(why) => Err(StepWait::Never(why)),
        }
    }

    /// Checks that the messages to which a step refers were answered as far as in the recording, including items: the
    /// step may end them.
    fn check_references(&self, step: &PlanStep) -> Result<(), StepWait> {
        let referenced = step.refers_to.iter().filter(|n| !self.is_done(**n));
        for request in referenced.filter_map(|n| self.plan.steps.get(*n)) {
            let upto = request
                .answers
                .partition_point(|expected| *expected < step.received_before);
            let before = request.answers.get(..upto).unwrap_or_default();
            let mut late = before
                .iter()
                .filter(|expected| self.is_received.get(**expected) == Some(&false));
            if let Some(expected) = late
                .next()
                .and_then(|expected| self.plan.expected.get(*expected))
            {
                return Err(StepWait::For(match expected.stored.role {
                    Some(Role::Item) => expected.stored.what(),
                    _ => format!("the answer to {}", request.description.what),
                }));
            }
        }
        Ok(())
    }

    /// Returns the time of the next step that waits only for its time.
    pub(super) fn next_time(&self, endpoint: &Endpoint<'_>) -> Option<i64> {
        let is_notified = self.notified >= self.plan.expected.len();
        if self.settings.speed == Speed::MAX && !self.has_references && is_notified {
            return None;
        }
        let waits = self.conns.sending().filter_map(|conn| {
            let (number, step) = self.next_step(conn)?;
            match self.check_ready(endpoint, number, step, i64::MIN) {
                Err(StepWait::Until(time)) => Some(time),
                _ => None,
            }
        });
        waits.min()
    }

    /// Returns `true` if an answer to a step is pending. Items of a stream without an end are optional.
    pub(super) fn is_pending(&self, number: usize) -> bool {
        let Some(progress) = self.steps.get(number) else {
            return false;
        };
        let step = self.plan.steps.get(number);
        let is_answered = step.is_some_and(|step| progress.got >= step.required_answers);
        progress.sent.is_some() && !progress.done && !is_answered
    }

    pub(super) fn pending_steps(&self) -> impl Iterator<Item = &'p PlanStep> {
        let mut numbers: Vec<usize> = self.pending.iter().map(|(_, number)| *number).collect();
        numbers.sort_unstable();
        let plan = self.plan;
        (numbers.into_iter()).filter_map(|number| plan.steps.get(number))
    }

    pub(super) fn has_pending(&self) -> bool {
        !self.pending.is_empty()
    }

    /// Returns the time at which the oldest pending step was sent or last answered.
    pub(super) fn oldest_pending(&self) -> Option<i64> {
        self.pending.first().map(|(last, _)| *last)
    }

    pub(super) fn all_sent(&self) -> bool {
        self.conns.all_sent() && self.feed.as_ref().is_none_or(MessageFeed::is_done)
    }

    /// Returns `true` if everything is sent and answered without an error.
    pub(super) fn is_successful(&self) -> bool {
        let RunOutcome {
            differ,
            hangs,
            failure,
            ..
        } = &self.outcome;
        let is_clean = *differ == 0 && !hangs && failure.is_none();
        is_clean && self.all_sent() && !self.has_pending()
    }

    /// Returns `true` if all steps of a connection are sent or skipped.
    pub(super) fn all_sent_on(&self, conn: u32) -> bool {
        let planned = self.plan.connections.get(&conn).zip(self.states.get(&conn));
        planned.is_none_or(|(planned, state)| state.next >= planned.steps.len())
    }

    /// Returns the first step that cannot be sent, with the reason.
    pub(super) fn blocked_step(
        &self,
        endpoint: &Endpoint<'_>,
        now: i64,
    ) -> Option<(DiffMessage, String)> {
        if self.feed.is_some() {
            return self.blocked_input(endpoint);
        }
        let blocked = self.plan.connections.iter().filter_map(|(conn, planned)| {
            let state = self.states.get(conn)?;
            let number = *planned.steps.get(state.next)?;
            let step = self.plan.steps.get(number)?;
            let why = match state.stage {
                ConnectionStage::Open => match self.check_ready(endpoint, number, step, now) {
                    Err(StepWait::For(what) | StepWait::Never(what)) => what,
                    Ok(()) | Err(StepWait::Until(_)) => return None,
                },
                ConnectionStage::Connecting => "the connection".into(),
                _ => "what was answered before its connection was opened".into(),
            };
            Some((number, (step.description.clone(), why)))
        });
        blocked
            .min_by_key(|(number, _)| *number)
            .map(|(_, blocked)| blocked)
    }

    /// Returns the expected messages that were not received although nothing else is pending.
    pub(super) fn missing(&self) -> Vec<usize> {
        let expected = self.plan.expected.iter().zip(&self.is_received).enumerate();
        let missing = expected.filter(|(at, (expected, is_received))| {
            let over = expected.answers.is_some_and(|number| {
                let request = self.plan.steps.get(number);
                let is_sent = self.steps.get(number).is_some_and(|p| p.sent.is_some());
                let is_item = expected.stored.role == Some(Role::Item);
                !is_sent
                    || is_item && request.is_some_and(|step| self.was_cancelled_before(step, *at))
            });
            let is_required = expected.is_required || expected.answers.is_some();
            !**is_received && !expected.is_orphan && is_required && !over
        });
        missing.map(|(at, _)| at).collect()
    }

    /// Returns `true` if a message was received after its request was cancelled in the recording: such messages depend
    /// on timing.
    pub(super) fn was_cancelled_before(&self, request: &PlanStep, expected: usize) -> bool {
        let later = request
            .referenced_by
            .iter()
            .filter_map(|n| self.plan.steps.get(*n));
        let mut ends = later.filter(|later| later.role == Some(Role::Notification));
        ends.any(|later| later.received_before <= expected)
    }

    pub(super) fn record_sent(&mut self, number: usize, index: Option<u64>, now: i64) {
        self.record_progress(now);
        let is_deletion = |step: &PlanStep| step.is_deletion;
        let is_message = !self.plan.steps.get(number).is_some_and(is_deletion);
        self.outcome.sent += u64::from(is_message);
        self.update_step(number, |progress| {
            progress.sent = Some(now);
            progress.last = now;
        });
        if let Some(index) = index {
            self.step_by_index.insert(index, number);
        }
        let Some(step) = self.plan.steps.get(number) else {
            return;
        };
        self.asked.remove(&number);
        if matches!(step.role, Some(Role::Request | Role::Notification)) {
            self.given_up = self.given_up.max(step.received_before);
        }
        self.pass_sent(step.conn);
    }

    /// Goes on to the next step of a connection that is not sent.
    fn pass_sent(&mut self, conn: u32) {
        let Some(planned) = self.plan.connections.get(&conn) else {
            return;
        };
        let next = self.states.get(&conn).map_or(0, |state| state.next);
        let left = planned.steps.get(next..).unwrap_or_default();
        let sent = left.iter().take_while(|number| self.is_sent(**number));
        let next = next + sent.count();
        if let Some(state) = self.states.get_mut(&conn) {
            state.next = next;
        }
        if next >= planned.steps.len() {
            self.finish_steps(conn);
        }
    }

    /// Marks messages as received, because they were reported as missing or depend on timing.
    pub(super) fn mark_received<'n>(&mut self, expected: impl IntoIterator<Item = &'n usize>) {
        for expected in expected {
            if let Some(is_received) = self.is_received.get_mut(*expected) {
                *is_received = true;
            }
        }
    }

    /// If the run goes on after a difference: reports a request of the peer that did not come, and skips the recorded answer
    /// to it. Returns `true` if there was one, and nothing else is waited for.
    pub(super) fn skip_missing_request(&mut self, now: i64, commands: &mut Vec<Command>) -> bool {
        if !self.settings.keep_going || self.has_pending() {
            return false;
        }
        let next = |conn| self.next_step(conn);
        let is_received = |expected: usize| self.is_received.get(expected) == Some(&true);
        let answers = self.open_connections().filter_map(|conn| {
            let (number, step) = next(conn)?;
            let asked = step.replies_to.filter(|asked| !is_received(*asked))?;
            Some((conn, number, asked))
        });
        let Some((conn, number, asked)) = answers.min_by_key(|(_, number, _)| *number) else {
            return false;
        };
        let request = self.plan.expected.get(asked);
        let missing = request.map(|request| crate::diff::describe(&request.stored));
        let missing = RunDifference::Missing(missing.into_iter().collect());
        self.report_difference(None, missing, commands);
        self.mark_received(&[asked]);
        self.update_step(number, |progress| progress.done = true);
        self.pass_sent(conn);
        self.record_progress(now);
        true
    }

    /// Skips the remaining steps of a connection. Returns their number.
    pub(super) fn skip(&mut self, conn: u32) -> usize {
        let Some((planned, state)) = self
            .plan
            .connections
            .get(&conn)
            .zip(self.states.get_mut(&conn))
        else {
            return 0;
        };
        let left = planned.steps.len().saturating_sub(state.next);
        state.next = planned.steps.len();
        for number in &planned.steps {
            self.update_step(*number, |progress| progress.done = true);
            let answers = self.plan.steps.get(*number).map(|step| &step.answers);
            self.mark_received(answers.into_iter().flatten());
        }
        if left > 0 {
            self.finish_steps(conn);
        }
        left
    }
}
