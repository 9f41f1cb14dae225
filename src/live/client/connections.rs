//! The order in which connections are opened and closed.
//!
//! ```text
//!   order   | 1 | 2 | 3 | 4 | 5 |      in the order of the recording, with what was answered and ended before
//!                     ^ allowed ^ ...  for all before, the earlier answers are there
//!             ^ opened                 all before are opened
//!   ended   | 1 | 2 | 4 |              in the order in which they ended
//!                 ^ finished           all before have ended
//! ```
//!
//! The preconditions of a connection only grow from one to the next, so positions that only advance are enough: a
//! recording may have very many connections.

use super::{Client, ClientRun, Plan, PlannedConnection};
use crate::live::handler::Command;
use std::collections::{BTreeSet, HashMap};
use std::ops::Bound;

/// The state of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ConnectionStage {
    Waiting,
    Connecting,
    Open,
    /// It has ended without loss over HTTP. Another one is opened if there are further messages.
    Reopenable,
    /// Nothing more is sent on it.
    Closing,
    Ended,
}

/// The progress of the steps of a connection.
pub(super) struct ConnectionState {
    pub(super) stage: ConnectionStage,
    /// The number of its steps that are sent or skipped.
    pub(super) next: usize,
}

/// Positions in the order of connections.
#[derive(Default)]
pub(super) struct ConnectionOrder {
    /// Connections with steps, in the order in which they started.
    order: Vec<u32>,
    /// The number of leading entries of `order` whose earlier answers were received.
    allowed: usize,
    /// The number of leading entries of `order` that were opened.
    opened: usize,
    /// The positions in [`Plan::ended`].
    ended: HashMap<u32, usize>,
    /// The number of leading entries of [`Plan::ended`] that have ended in this run.
    finished: usize,
    /// The number of leading entries of [`Plan::ended`] that must end before a connection that may be opened.
    required: usize,
    /// Connections without further steps that must end.
    closing: Vec<u32>,
    /// Open connections with steps to send.
    sending: BTreeSet<u32>,
    /// The number of connections with steps to send.
    unfinished: usize,
    /// Connections whose peer answers only after the end of the own direction, until that is sent.
    finishing: Vec<u32>,
}

impl ConnectionOrder {
    pub(super) fn of(plan: &Plan<'_>) -> Self {
        let all = plan
            .connections
            .iter()
            .filter(|(_, planned)| !planned.steps.is_empty());
        let mut order: Vec<(&u32, &PlannedConnection)> = all.collect();
        order
            .sort_by_key(|(conn, planned)| (planned.received_before, planned.ended_before, **conn));
        Self {
            unfinished: order.len(),
            order: order.into_iter().map(|(conn, _)| *conn).collect(),
            ended: (plan.ended.iter().copied()).zip(0..).collect(),
            finishing: plan
                .connections
                .iter()
                .filter(|(_, planned)| planned.received_before_eof.is_some())
                .map(|(conn, _)| *conn)
                .collect(),
            ..Self::default()
        }
    }

    /// Returns the next open connection with steps to send.
    pub(super) fn next_sending(&self, conn: Option<u32>) -> Option<u32> {
        let from = conn.map_or(Bound::Unbounded, Bound::Excluded);
        self.sending.range((from, Bound::Unbounded)).next().copied()
    }

    /// Returns all open connections with steps to send.
    pub(super) fn sending(&self) -> impl Iterator<Item = u32> {
        self.sending.iter().copied()
    }

    /// Returns `true` if no connection has steps to send.
    pub(super) fn all_sent(&self) -> bool {
        self.unfinished == 0
    }
}

impl Client<'_> {
    /// Closes connections that had ended by now in the recording, and opens those that are due.
    pub(super) fn update_connections(&mut self, now: i64, commands: &mut Vec<Command>) -> bool {
        let mut moved = false;
        for conn in self.run.due_to_close(now) {
            self.run.set_stage(conn, ConnectionStage::Closing);
            self.endpoint.close(conn, now, commands);
            moved = true;
        }
        for conn in self.run.due_to_finish() {
            self.run.record_progress(now);
            commands.push(Command::Finish(conn.into()));
        }
        while let Some(conn) = self.run.next_to_open() {
            self.run.set_stage(conn, ConnectionStage::Connecting);
            commands.push(Command::Connect(conn));
            moved = true;
        }
        moved
    }
}

impl<'p> ClientRun<'p> {
    pub(super) fn stage(&self, conn: u32) -> ConnectionStage {
        self.states
            .get(&conn)
            .map_or(ConnectionStage::Ended, |state| state.stage)
    }

    pub(super) fn set_stage(&mut self, conn: u32, stage: ConnectionStage) {
        if let Some(state) = self.states.get_mut(&conn) {
            state.stage = stage;
        }
        if stage == ConnectionStage::Open && !self.all_sent_on(conn) {
            self.conns.sending.insert(conn);
        } else {
            self.conns.sending.remove(&conn);
        }
    }

    /// Records that a connection has no further steps.
    pub(super) fn finish_steps(&mut self, conn: u32) {
        let conns = &mut self.conns;
        conns.unfinished = conns.unfinished.saturating_sub(1);
        conns.sending.remove(&conn);
        if conns
            .ended
            .get(&conn)
            .is_some_and(|at| *at < conns.required)
        {
            conns.closing.push(conn);
        }
    }

    fn planned(&self, conn: Option<&u32>) -> Option<&'p PlannedConnection> {
        self.plan.connections.get(conn?)
    }

    /// Returns the connections to close, because in the recording they had ended before another that may be opened now.
    pub(super) fn due_to_close(&mut self, now: i64) -> Vec<u32> {
        while let Some(planned) = self.planned(self.conns.order.get(self.conns.allowed))
            && planned.received_before <= self.answered[0]
        {
            self.conns.allowed += 1;
            let known = self.conns.required;
            self.conns.required = planned.ended_before.max(known);
            let new = self.plan.ended.get(known..self.conns.required);
            let new = new.unwrap_or_default().iter().copied();
            let sent = new.filter(|conn| self.all_sent_on(*conn));
            let sent: Vec<u32> = sent.collect();
            self.conns.closing.extend(sent);
        }
        let mut closing = std::mem::take(&mut self.conns.closing);
        closing.retain(|conn| self.stage(*conn) == ConnectionStage::Open);
        let waits = |conn: &u32| self.leave_time(*conn).is_some_and(|time| time > now);
        let (waiting, closing) = closing.into_iter().partition(waits);
        self.conns.closing = waiting;
        closing
    }

    /// Returns the time at which the next connection closes that is left without an answer.
    pub(super) fn next_leave(&self) -> Option<i64> {
        let closing = self.conns.closing.iter();
        closing.filter_map(|conn| self.leave_time(*conn)).min()
    }

    /// Returns the connections whose own direction ends now, as in the recording: everything is sent, and what preceded the
    /// end is answered.
    fn due_to_finish(&mut self) -> Vec<u32> {
        let mut waiting = std::mem::take(&mut self.conns.finishing);
        let is_due = |conn: &u32| {
            let planned = self.planned(Some(conn));
            let before = planned.and_then(|planned| planned.received_before_eof);
            let is_open = self.stage(*conn) == ConnectionStage::Open;
            is_open && self.all_sent_on(*conn) && before.is_some_and(|n| n <= self.answered[0])
        };
        let due = waiting.iter().copied().filter(is_due).collect();
        waiting.retain(|conn| !is_due(conn));
        self.conns.finishing = waiting;
        due
    }

    /// Returns the next connection to open: earlier messages are answered, and the connections that had ended before it
    /// have ended.
    pub(super) fn next_to_open(&mut self) -> Option<u32> {
        while let Some(conn) = self.plan.ended.get(self.conns.finished)
            && (self
                .planned(Some(conn))
                .is_none_or(|planned| planned.steps.is_empty())
                || self.stage(*conn) == ConnectionStage::Ended)
        {
            self.conns.finished += 1;
        }
        let at = self.conns.opened;
        let conn = *self
            .conns
            .order
            .get(at)
            .filter(|_| at < self.conns.allowed)?;
        let planned = self.planned(Some(&conn))?;
        if planned.ended_before > self.conns.finished {
            return None;
        }
        self.conns.opened += 1;
        Some(conn)
    }
}
