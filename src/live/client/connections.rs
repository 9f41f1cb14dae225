//! Which connections are opened, spoken on and closed next.
//!
//! ```text
//!   begun   | 1 | 2 | 3 | 4 | 5 |      in the order of the recording, with how much was answered and over before
//!                     ^ asked  ^ ...   up to here all was answered that had been answered before
//!             ^ dialled                up to here they were opened
//!   ended   | 1 | 2 | 4 |              in the order in which they ended
//!                 ^ over               up to here they are over
//! ```
//!
//! What was there before a connection only grows from one to the next, so that marks which only move on are enough: a
//! recording may have very many connections.

use super::{Plan, PlannedConnection, Run};
use std::collections::{BTreeSet, HashMap};
use std::ops::Bound;

/// How far a connection is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    Waits,
    Dialled,
    Open,
    /// Over HTTP it has ended with nothing half done: another is dialled when there is more to say.
    Rests,
    /// Nothing more is said on it.
    Closing,
    Over,
}

/// How far the steps of a connection are.
pub(super) struct ConnectionState {
    pub(super) stage: Stage,
    /// How many of its steps were said, or never will be.
    pub(super) next: usize,
}

/// Where things are in the order of connections.
pub(super) struct ConnectionOrder {
    /// Connections on which something is said, in the order in which they began.
    begun: Vec<u32>,
    /// How many of those may be opened as far as answers go.
    asked: usize,
    /// How many were opened.
    dialled: usize,
    /// Places among the connections that ended.
    ended: HashMap<u32, usize>,
    /// How many of those are over.
    over: usize,
    /// How many of those must be over for one that may be opened.
    wanted: usize,
    /// Those on which all was said, and that must be over.
    closing: Vec<u32>,
    /// Those that are open, with something left to say.
    speaks: BTreeSet<u32>,
    /// How many have something left to say.
    unsaid: usize,
}

impl ConnectionOrder {
    pub(super) fn of(plan: &Plan<'_>) -> Self {
        let lines = plan
            .connections
            .iter()
            .filter(|(_, line)| !line.steps.is_empty());
        let mut begun: Vec<(&u32, &PlannedConnection)> = lines.collect();
        begun.sort_by_key(|(conn, line)| (line.heard, line.after, **conn));
        Self {
            unsaid: begun.len(),
            begun: begun.into_iter().map(|(conn, _)| *conn).collect(),
            asked: 0,
            dialled: 0,
            ended: (plan.ended.iter().copied()).zip(0..).collect(),
            over: 0,
            wanted: 0,
            closing: Vec::new(),
            speaks: BTreeSet::new(),
        }
    }

    /// The next connection that is open and has something left to say.
    pub(super) fn speaks_after(&self, conn: Option<u32>) -> Option<u32> {
        let from = conn.map_or(Bound::Unbounded, Bound::Excluded);
        self.speaks.range((from, Bound::Unbounded)).next().copied()
    }

    /// All of those.
    pub(super) fn speaks(&self) -> impl Iterator<Item = u32> {
        self.speaks.iter().copied()
    }

    /// Whether all is said on all of them.
    pub(super) fn all_said(&self) -> bool {
        self.unsaid == 0
    }
}

impl<'p> Run<'p> {
    pub(super) fn stage(&self, conn: u32) -> Stage {
        self.ways.get(&conn).map_or(Stage::Over, |way| way.stage)
    }

    pub(super) fn set(&mut self, conn: u32, stage: Stage) {
        if let Some(way) = self.ways.get_mut(&conn) {
            way.stage = stage;
        }
        if stage == Stage::Open && !self.is_said(conn) {
            self.conns.speaks.insert(conn);
        } else {
            self.conns.speaks.remove(&conn);
        }
    }

    /// Nothing is left to be said on a connection, where something was.
    pub(super) fn is_now_said(&mut self, conn: u32) {
        let conns = &mut self.conns;
        conns.unsaid = conns.unsaid.saturating_sub(1);
        conns.speaks.remove(&conn);
        if conns.ended.get(&conn).is_some_and(|at| *at < conns.wanted) {
            conns.closing.push(conn);
        }
    }

    fn line(&self, conn: Option<&u32>) -> Option<&'p PlannedConnection> {
        self.plan.connections.get(conn?)
    }

    /// Connections that are to be closed, since they were over before another that may be opened now.
    pub(super) fn over_by_now(&mut self) -> Vec<u32> {
        while let Some(line) = self.line(self.conns.begun.get(self.conns.asked))
            && line.heard <= self.answered[0]
        {
            self.conns.asked += 1;
            let known = self.conns.wanted;
            self.conns.wanted = line.after.max(known);
            let new = self.plan.ended.get(known..self.conns.wanted);
            let new = new.unwrap_or_default().iter().copied();
            let said = new.filter(|conn| self.is_said(*conn));
            let said: Vec<u32> = said.collect();
            self.conns.closing.extend(said);
        }
        let mut closing = std::mem::take(&mut self.conns.closing);
        closing.retain(|conn| self.stage(*conn) == Stage::Open);
        closing
    }

    /// The next connection whose turn it is: all before it was answered, and those are over that were over then.
    pub(super) fn next_dialled(&mut self) -> Option<u32> {
        while let Some(conn) = self.plan.ended.get(self.conns.over)
            && (self
                .line(Some(conn))
                .is_none_or(|line| line.steps.is_empty())
                || self.stage(*conn) == Stage::Over)
        {
            self.conns.over += 1;
        }
        let at = self.conns.dialled;
        let conn = *self.conns.begun.get(at).filter(|_| at < self.conns.asked)?;
        let line = self.line(Some(&conn))?;
        if line.after > self.conns.over {
            return None;
        }
        self.conns.dialled += 1;
        Some(conn)
    }
}
