//! The open heartbeats of one connection.
//!
//! ```text
//!   heartbeat "5"   heartbeat "6"   heartbeat "7"        open: 5 6 7
//!   answer "6"                                           5 is skipped, 6 is answered; open: 7
//! ```

use super::OpenRequest;
use std::collections::VecDeque;

/// The largest number of open heartbeats; one more removes the oldest.
const MAX_ENTRIES: usize = 64;

/// Heartbeats without an answer, the oldest first, each with the value that its answer repeats.
#[derive(Debug, Default)]
pub struct Heartbeats(VecDeque<(OpenRequest, String)>);

/// The meaning of an answer.
pub enum Echo {
    /// It answers one heartbeat; those before it stay unanswered.
    Of(OpenRequest, Vec<OpenRequest>),
    /// It repeats a value that no heartbeat has. The fields are the oldest heartbeat and its value.
    Other(OpenRequest, String),
    /// No heartbeat is open.
    Nothing,
}

impl Heartbeats {
    /// No heartbeat is open.
    pub const NONE: Self = Self(VecDeque::new());

    /// Adds a heartbeat that was sent.
    pub fn sent(&mut self, asked: OpenRequest, stamp: String) {
        if self.0.len() >= MAX_ENTRIES {
            self.0.pop_front();
        }
        self.0.push_back((asked, stamp));
    }

    /// Handles an answer.
    pub fn answered(&mut self, stamp: &str) -> Echo {
        let at = self.0.iter().position(|(_, sent)| sent == stamp);
        let skipped = self.0.drain(..at.unwrap_or(0));
        let skipped = skipped.map(|(asked, _)| asked).collect();
        match self.0.pop_front() {
            Some((asked, _)) if at.is_some() => Echo::Of(asked, skipped),
            Some((asked, sent)) => Echo::Other(asked, sent),
            None => Echo::Nothing,
        }
    }

    /// Removes the newest heartbeat.
    pub fn newest(&mut self) -> Option<OpenRequest> {
        self.0.pop_back().map(|(asked, _)| asked)
    }

    /// Removes the oldest heartbeat if it waits for longer than `limit` nanoseconds.
    pub fn overdue(&mut self, now: i64, limit: i64) -> Option<OpenRequest> {
        let (asked, _) = self.0.front()?;
        let waited = now.saturating_sub(asked.origin().time?);
        let oldest = if waited > limit {
            self.0.pop_front()
        } else {
            None
        };
        oldest.map(|(asked, _)| asked)
    }

    /// Returns the open heartbeats.
    pub fn open(&self) -> impl Iterator<Item = &OpenRequest> {
        self.0.iter().map(|(asked, _)| asked)
    }
}
