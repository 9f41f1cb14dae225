//! What happens on a connection, as the recording has it.

use super::Connection;
use crate::capture::{EventRecord, Stream, What};
use crate::conversation::tap::{eof, event};
use crate::live::handler::Ended;
use crate::transport::queue::Offer;
use std::sync::atomic::Ordering;

impl Connection {
    /// Bytes were read or written.
    pub(in crate::transport) fn touch(&self) -> i64 {
        let now = self.common.recorder.queue.now();
        self.common.pulse.store(now, Ordering::Relaxed);
        now
    }

    /// Puts down bytes that were read, or loses them as the queue's policy has it.
    pub(in crate::transport) async fn record(&self, stream: Stream, bytes: &[u8]) {
        let (queue, t) = (&self.common.recorder.queue, self.touch());
        let mut last = false;
        while queue.offer(t, self.conn, stream, bytes, last) == Offer::Full {
            last = !queue.open(self.conn, stream, bytes.len()).await;
        }
    }

    /// Puts down what happened.
    pub(in crate::transport) fn happened(&self, event: EventRecord) {
        self.common.recorder.queue.event(self.conn, event);
    }

    /// An event of now.
    pub(in crate::transport) fn event(&self, what: What<'_>) -> EventRecord {
        event(what, self.touch(), self.conn)
    }

    /// One direction has ended; nothing where all has: a thread that reads may hear of it late.
    pub(in crate::transport) fn eof(&self, stream: Stream, torn: bool) {
        let eof = eof(self.touch(), self.conn, stream, torn);
        let state = self.lock();
        if !state.ended {
            self.happened(eof);
        }
    }

    /// The last that happens to it.
    pub(in crate::transport) fn ended(&self, event: EventRecord) {
        let mut state = self.lock();
        state.ended = true;
        self.happened(event);
    }

    /// It is closed; `ours` when the other side had not said that it has said all.
    pub(in crate::transport) fn closed(&self, ours: bool) {
        let mut close = self.event(What::Close);
        if ours || self.is_stopped() {
            close.more.insert("by".into(), "wiretool".into());
        }
        self.ended(close);
    }

    /// It is cut, by the other side unless `ours`.
    pub(in crate::transport) fn reset(&self, ours: bool) {
        let mut reset = self.event(What::Reset);
        if ours {
            reset.more.insert("by".into(), "wiretool".into());
        } else {
            let dir = self.theirs.name();
            reset.more.insert("dir".into(), dir.into());
        }
        self.ended(reset);
    }

    /// There is none.
    pub(in crate::transport) fn refused(&self, what: What<'_>, why: &str) {
        let mut refused = self.event(what);
        refused.more.insert("error".into(), why.into());
        self.ended(refused);
    }

    pub(in crate::transport) fn say(&self, text: &str) {
        (self.common.say)(text);
    }

    /// It was cut by us: because that was ordered, or because everything ends at once.
    pub(in crate::transport) fn cut_off(&self) -> Ended {
        if self.is_stopped() {
            self.closed(true);
            return Ended::Closed;
        }
        self.reset(true);
        Ended::Reset
    }
}
