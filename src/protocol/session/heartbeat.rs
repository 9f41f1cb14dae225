//! Heartbeats of one connection: those that wait for their answers.
//!
//! ```text
//!   heartbeat "5"   heartbeat "6"   heartbeat "7"        open: 5 6 7
//!   answer "6"                                           5 is passed over, 6 is answered; open: 7
//! ```

use super::Asked;
use std::collections::VecDeque;

/// Heartbeats that wait; of more than these, the oldest are forgotten.
const MOST: usize = 64;

/// Heartbeats without an answer, the oldest first, each with what its answer repeats.
#[derive(Debug, Default)]
pub struct Heartbeats(VecDeque<(Asked, String)>);

/// What an answer to heartbeats is.
pub enum Echo {
    /// It answers one; those before it have no answer.
    Of(Asked, Vec<Asked>),
    /// It repeats what no heartbeat has; the oldest one, and what that has.
    Other(Asked, String),
    /// None waits.
    Nothing,
}

impl Heartbeats {
    /// A heartbeat is sent.
    pub fn sent(&mut self, asked: Asked, stamp: String) {
        if self.0.len() >= MOST {
            self.0.pop_front();
        }
        self.0.push_back((asked, stamp));
    }

    /// An answer comes.
    pub fn answered(&mut self, stamp: &str) -> Echo {
        let at = self.0.iter().position(|(_, sent)| sent == stamp);
        let passed_over = self.0.drain(..at.unwrap_or(0));
        let passed_over = passed_over.map(|(asked, _)| asked).collect();
        match self.0.pop_front() {
            Some((asked, _)) if at.is_some() => Echo::Of(asked, passed_over),
            Some((asked, sent)) => Echo::Other(asked, sent),
            None => Echo::Nothing,
        }
    }

    /// Takes out the newest one.
    pub fn newest(&mut self) -> Option<Asked> {
        self.0.pop_back().map(|(asked, _)| asked)
    }

    /// Takes out the oldest one, where it has waited for longer than this, in nanoseconds.
    pub fn overdue(&mut self, now: i64, limit: i64) -> Option<Asked> {
        let (asked, _) = self.0.front()?;
        let waited = now.saturating_sub(asked.origin().time?);
        let oldest = if waited > limit {
            self.0.pop_front()
        } else {
            None
        };
        oldest.map(|(asked, _)| asked)
    }

    /// Those that wait.
    pub fn open(&self) -> impl Iterator<Item = &Asked> {
        self.0.iter().map(|(asked, _)| asked)
    }
}
