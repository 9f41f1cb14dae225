//! Time limits, and the end of a run.

use super::{Client, ClientEvent, ConnectionStage, Hang, LAST_MESSAGE_TIMEOUT};
use crate::live::handler::Command;

impl Client<'_> {
    /// Stops the run if it waits for nothing more, and reports a hang if it waits too long.
    pub(super) fn stop_or_report_hang(&mut self, now: i64, commands: &mut Vec<Command>) {
        let run = &self.run;
        let is_done = run.all_sent() && !run.has_pending();
        let is_over = || run.feed.is_none() && run.missing().is_empty();
        if is_done && (now >= run.linger_end() || is_over()) {
            self.run.report_missing(commands);
            self.run.is_stopping = true;
            return;
        }
        if self.deadline().is_none_or(|deadline| now < deadline) {
            return;
        }
        if self.run.skip_missing_request(now, commands) {
            return self.advance(now, commands);
        }
        let run = &self.run;
        if run.feed.is_some() && run.all_sent() && self.endpoint.has_streams() {
            // Clients do not read answers on streams, so that many servers send none.
            let n = run.pending.len();
            let requests = if n == 1 { "request" } else { "requests" };
            let text = format!("{n} {requests} without an answer");
            (self.run.observer)(ClientEvent::Note(text), commands);
            self.run.is_stopping = true;
        } else {
            let hang = Hang {
                silence: now.saturating_sub(run.last_progress),
                other_traffic: run.last_traffic > run.last_progress,
                is_connecting: run.is_connecting(),
                now,
                pending: run
                    .pending_steps()
                    .map(|step| step.description.clone())
                    .collect(),
                blocked: run.blocked_step(&self.endpoint, now),
                waiting: self.endpoint.waiting(),
                partials: self.endpoint.partials(),
            };
            self.run.report_hang(&hang, commands);
        }
    }

    /// Returns the time at which a pending answer is late.
    pub(super) fn deadline(&self) -> Option<i64> {
        let run = &self.run;
        let is_held = match &run.feed {
            Some(feed) => feed.next.is_some() || run.is_connecting(),
            // No answer is pending, but a message cannot be sent.
            None => !run.all_sent() && run.next_time(&self.endpoint).is_none(),
        };
        let since = run
            .oldest_pending()
            .or(is_held.then_some(run.last_progress))?;
        Some(since.saturating_add(run.settings.timeout))
    }

    /// Ends all connections in order.
    pub(super) fn end(&mut self, now: i64, commands: &mut Vec<Command>) {
        // The recorded run ended without further messages, so a run without differences does the same.
        let is_like_recording = self.run.plan.has_end && self.run.is_successful();
        // A refused connection or an invalid message gets no orderly close.
        let closes_in_order = self.run.feed.is_none() || self.run.outcome.failure.is_none();
        let begins = self.run.last_head_start_end(&self.endpoint);
        let begins = begins.filter(|begins| closes_in_order && *begins > now);
        let until = self.close_by.unwrap_or_else(|| {
            self.run.report_further_unexpected(commands);
            begins.unwrap_or(now).saturating_add(LAST_MESSAGE_TIMEOUT)
        });
        self.close_by = Some(until);
        self.close_from = begins.filter(|_| now < until);
        if self.close_from.is_some() {
            return;
        }
        let ends_session = self.run.feed.is_some() && closes_in_order;
        if ends_session && !self.endpoint.end_session(now, commands) && now < until {
            return;
        }
        let open: Vec<u32> = self
            .run
            .open_connections()
            .filter(|_| closes_in_order)
            .collect();
        for conn in open {
            // A client that was killed leaves calls and subscriptions open. Some servers crash on that.
            if is_like_recording && !self.endpoint.has_open_calls(conn) {
                self.endpoint.close(conn, now, commands);
            } else if !self
                .endpoint
                .prepare_close(conn, now >= until, now, commands)
            {
                continue;
            }
            self.run.set_stage(conn, ConnectionStage::Closing);
        }
        if !closes_in_order || self.run.open_connections().next().is_none() {
            self.run.outcome.is_over = true;
            commands.push(Command::Stop);
        }
    }
}
