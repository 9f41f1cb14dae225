//! The bytes that wait to be written.

use super::{Connection, WriteEnd, WriteQueue};
use std::sync::Arc;
use tokio::time::Instant;

impl Connection {
    /// Opens a stream of this connection. Returns `false` if the connection has no streams.
    pub(in crate::transport) fn open_stream(&self, stream: &Arc<Self>) -> bool {
        let Some(opener) = self.opener.get() else {
            return false;
        };
        self.change(|state| state.unopened += 1);
        opener.send(Arc::clone(stream)).is_ok()
    }
}

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

    /// A stream was opened, or cannot be opened any more.
    pub(in crate::transport) fn stream_opened(&mut self) {
        self.unopened = self.unopened.saturating_sub(1);
        self.last_progress = Instant::now();
    }

    /// The way in which to close the connection, as soon as nothing prevents that: all streams must be open, unless the
    /// connection is reset.
    pub(in crate::transport) fn close_requested(&self) -> Option<WriteEnd> {
        let all_open = self.unopened == 0;
        self.end.filter(|end| match end {
            WriteEnd::Finish => false,
            WriteEnd::Close => all_open,
            WriteEnd::Reset => true,
        })
    }

    /// Restarts the time limit of [`Connection::wait_for_stall`].
    pub(in crate::transport) fn restart_timeout(&mut self) {
        self.last_progress = Instant::now();
    }
}
