//! How long a run waits: for the recorded distance of a message, for what the peer may still send, before it leaves.

use super::{ClientRun, PlanStep};
use crate::live::endpoint::Endpoint;
use crate::protocol::Role;

/// Maximum time, in nanoseconds, for a request to begin before a message that ends or changes it, and for a notification
/// that came before a request.
const MAX_HEAD_START: i64 = 1_000_000_000;

/// The number of requests of the peer that are looked at for one that came early.
const MAX_ASKED: usize = 64;

impl ClientRun<'_> {
    /// Returns the earliest time at which a step is sent, if pauses are kept: that after the step before it, so that a late
    /// answer shortens no pause.
    pub(super) fn send_time(&self, number: usize, step: &PlanStep) -> Option<i64> {
        let earlier = self.plan.steps.iter().zip(&self.steps).take(number);
        let sent = earlier
            .rev()
            .find_map(|(before, progress)| Some((before.time?, progress.sent?)));
        let first = || Some((self.plan.steps.first()?.time?, self.started));
        let (recorded, sent) = sent.or_else(first)?;
        let pause = step.time?.saturating_sub(recorded);
        Some(sent.saturating_add(self.settings.speed.scale(pause)?))
    }

    /// Returns the time until which a message that ends or changes an open request waits. A peer that handles messages
    /// at the same time may read it first, so it keeps its recorded distance until an answer shows that the request has
    /// begun.
    pub(super) fn head_start_end(&self, step: &PlanStep) -> Option<i64> {
        let refers_to = match step.role {
            Some(Role::Request) => &[][..],
            _ => &step.refers_to,
        };
        let ends = refers_to.iter().chain(&step.part_of).filter_map(|number| {
            let request = self.plan.steps.get(*number)?;
            let distance = step.time?.saturating_sub(request.time?);
            self.head_start_of(*number, request, distance)
        });
        ends.max()
    }

    /// Returns the time until which a request or a notification waits for the notifications before it: they may be the
    /// reason for it, and it may prevent them. One that does not come delays the run once.
    pub(super) fn notified_end(&self, step: &PlanStep) -> Option<i64> {
        let asks = matches!(step.role, Some(Role::Request | Role::Notification));
        let waits = asks && self.notified < step.received_before;
        let most = MAX_HEAD_START.min(self.settings.timeout / 2);
        waits.then(|| self.last_progress.saturating_add(most))
    }

    /// Returns the time until which the messages at the end of the run wait that end open requests: the recording has no
    /// distance for them.
    pub(super) fn last_head_start_end(&self, endpoint: &Endpoint<'_>) -> Option<i64> {
        let conns = self.open_connections();
        let conns = conns.filter(|conn| endpoint.has_open_calls(*conn));
        let planned = conns.filter_map(|conn| self.plan.connections.get(&conn));
        let ends = planned.flat_map(|planned| &planned.steps);
        let ends = ends.filter_map(|number| {
            self.head_start_of(*number, self.plan.steps.get(*number)?, i64::MAX)
        });
        ends.max()
    }

    /// Returns the time until which a request may begin that has no answer so far.
    fn head_start_of(&self, number: usize, request: &PlanStep, distance: i64) -> Option<i64> {
        let progress = self.steps.get(number)?;
        let is_open = !progress.done && !progress.has_begun;
        let most = MAX_HEAD_START.min(self.settings.timeout / 2);
        let end = progress.sent?.saturating_add(distance.clamp(0, most));
        (is_open && request.role == Some(Role::Request)).then_some(end)
    }

    /// Returns the time until which the run waits for messages without a request: longer if the recorded peer made a pause
    /// before the next one.
    pub(super) fn linger_end(&self) -> i64 {
        let next = self.plan.expected.get(self.notified);
        let pause = next.map_or(0, |next| next.pause);
        let pause = pause.min(self.settings.timeout / 2);
        let end = self.last_progress.saturating_add(self.settings.linger);
        end.saturating_add(pause)
    }

    /// Returns the time until which a connection stays open whose last request is left without an answer: its distance in
    /// the recording, unless all that came there is here.
    pub(super) fn leave_time(&self, conn: u32) -> Option<i64> {
        let planned = self.plan.connections.get(&conn)?;
        let distance = planned.leaves_after?;
        let number = *planned.steps.last()?;
        let before = self.plan.steps.get(number)?.received_before;
        let last = planned
            .received
            .checked_sub(1)
            .filter(|last| *last >= before);
        if last.is_some_and(|last| self.is_received.get(last) == Some(&true)) {
            return None;
        }
        let most = MAX_HEAD_START.min(self.settings.timeout / 2);
        let sent = self.steps.get(number)?.sent?;
        Some(sent.saturating_add(distance.clamp(0, most)))
    }

    /// Returns the first answer to a request of the peer that came earlier than in the recording, and the time at which it is
    /// sent if nothing else goes on.
    pub(super) fn early_answer(&self, endpoint: &Endpoint<'_>) -> Option<(i64, usize)> {
        if self.settings.in_order {
            return None;
        }
        let mut asked = self.asked.iter().copied().take(MAX_ASKED);
        let number = asked.find(|number| {
            let step = self.plan.steps.get(*number);
            step.is_some_and(|step| {
                let is_next = self
                    .next_step(step.conn)
                    .is_none_or(|(next, _)| next == *number);
                let has_values = || step.needs.iter().all(|n| self.values.value(*n).is_some());
                !is_next && endpoint.can_send(step.conn) && has_values()
            })
        })?;
        let wait = self.settings.timeout / 2;
        Some((self.last_progress.saturating_add(wait), number))
    }
}
