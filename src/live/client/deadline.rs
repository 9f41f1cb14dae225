//! How long anything is waited for, and how a run ends.

use super::{Client, Hang, LEAVE, Stage};
use crate::live::handler::Command;

impl Client<'_> {
    /// Looks at what is waited for: is it late, or is there nothing left?
    pub(super) fn wait(&mut self, now: i64, commands: &mut Vec<Command>) {
        let run = &self.run;
        let is_done = run.all_said() && !run.owes_any();
        let is_over = || run.feed.is_none() && run.missing().is_empty();
        if is_done && (now >= run.lingers_until() || is_over()) {
            self.run.tell_missing(commands);
            self.run.stops = true;
        } else if self.deadline().is_some_and(|deadline| now >= deadline) {
            let hang = Hang {
                silent: now.saturating_sub(run.progressed),
                other: run.last > run.progressed,
                dials: run.is_dialling(),
                now,
                owed: run.owed().map(|step| step.which.clone()).collect(),
                held: run.held(&self.endpoint, now),
                waiting: self.endpoint.waiting(),
                halves: self.endpoint.halves(),
            };
            self.run.hangs(&hang, commands);
        }
    }

    /// When something that is waited for is late.
    pub(super) fn deadline(&self) -> Option<i64> {
        let run = &self.run;
        let is_held = match &run.feed {
            Some(feed) => feed.next.is_some() || run.is_dialling(),
            // Nothing is owed, and yet something cannot be said.
            None => !run.all_said() && run.next_time(&self.endpoint).is_none(),
        };
        let since = run.oldest_owed().or(is_held.then_some(run.progressed))?;
        Some(since.saturating_add(run.settings.timeout))
    }

    /// Ends all connections in order.
    pub(super) fn end(&mut self, now: i64, commands: &mut Vec<Command>) {
        // Where all went as it went then, nothing more was said.
        let as_then = self.run.plan.has_end && self.run.went_well();
        let until = self.leaves.unwrap_or_else(|| {
            self.run.tell_strange(commands);
            now.saturating_add(LEAVE)
        });
        self.leaves = Some(until);
        // What was refused or cannot be asked takes no leave.
        let takes_leave = self.run.feed.is_none() || self.run.outcome.trouble.is_none();
        let open: Vec<u32> = self.run.open().filter(|_| takes_leave).collect();
        for conn in open {
            if as_then {
                self.endpoint.close(conn, now, commands);
            } else if !self.endpoint.bye(conn, now >= until, now, commands) {
                continue;
            }
            self.run.set(conn, Stage::Closing);
        }
        if !takes_leave || self.run.open().next().is_none() {
            self.run.outcome.is_over = true;
            commands.push(Command::Stop);
        }
    }
}
