//! The bytes that wait to be written.

use super::WriteQueue;
use tokio::time::Instant;

impl WriteQueue {
    /// Returns `true` if bytes wait to be written.
    pub(in crate::transport) fn has_parts(&self) -> bool {
        !self.parts.is_empty()
    }

    /// The next bytes to write, at most `most`.
    pub(in crate::transport) fn front(&self, most: usize) -> &[u8] {
        let front = self.parts.front();
        let rest = front.and_then(|(part, _)| part.get(self.done..));
        let rest = rest.unwrap_or_default();
        rest.get(..most).unwrap_or(rest)
    }

    /// Removes `bytes` written bytes from the front.
    pub(in crate::transport) fn consume(&mut self, bytes: usize) {
        self.last_progress = Instant::now();
        let Some((part, answer)) = self.parts.front() else {
            return;
        };
        self.done += bytes;
        self.waiting = self.waiting.saturating_sub(bytes);
        if *answer {
            self.answers = self.answers.saturating_sub(bytes);
        }
        if part.len() <= self.done {
            self.parts.pop_front();
            self.done = 0;
        }
    }

    /// Returns `true` if nothing more will be written.
    pub(in crate::transport) fn is_done(&self) -> bool {
        self.parts.is_empty() && (self.failed || self.end.is_some())
    }

    /// Restarts the time limit of [`Connection::wait_for_stall`].
    pub(in crate::transport) fn restart_timeout(&mut self) {
        self.last_progress = Instant::now();
    }
}
