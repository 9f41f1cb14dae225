//! Records the events of a connection.

use super::{Connection, ConnectionEvent};
use crate::capture::{ChunkSource, EventKind, EventRecord};
use crate::live::handler::Ended;
use crate::transport::address::Address;
use std::sync::Arc;
use std::sync::atomic::Ordering;

impl Connection {
    /// Updates the time of the last transfer.
    pub(in crate::transport) fn touch(&self) -> i64 {
        let now = self.common.recorder.queue.now();
        self.common.last_transfer.store(now, Ordering::Relaxed);
        now
    }

    /// Records bytes, or loses them according to the policy of the queue.
    pub(in crate::transport) async fn record(&self, dir: ChunkSource, bytes: &[u8]) {
        let queue = &self.common.recorder.queue;
        queue
            .offer_async(self.touch(), self.channel(), dir, bytes)
            .await;
    }

    pub(in crate::transport) fn record_event(&self, event: EventRecord) {
        self.common.recorder.queue.event(self.conn, event);
    }

    /// Creates an event with the current time.
    pub(in crate::transport) fn event(&self, what: EventKind<'_>) -> EventRecord {
        let mut event = EventRecord::new(what, self.touch(), self.conn);
        event.stream = self.stream;
        event
    }

    /// Creates an event of one direction.
    pub(in crate::transport) fn stream_event(
        &self,
        what: EventKind<'_>,
        dir: ChunkSource,
    ) -> EventRecord {
        let mut event = self.event(what);
        event.more.insert("dir".into(), dir.name().into());
        event
    }

    /// Records the end of a direction, unless the connection has ended: a reading thread may be late.
    pub(in crate::transport) fn eof(&self, dir: ChunkSource, truncated: bool) {
        let eof = match self.stream {
            None => EventRecord::eof(self.touch(), self.conn, dir, truncated),
            Some(_) => self.stream_event(EventKind::Fin, dir),
        };
        let state = self.lock();
        if !state.ended {
            self.record_event(eof);
        }
    }

    /// Records the last event.
    pub(in crate::transport) fn ended(&self, event: EventRecord) {
        let mut state = self.lock();
        state.ended = true;
        self.record_event(event);
    }

    /// Records the close; `ours` if the peer had not ended its direction.
    pub(in crate::transport) fn closed(&self, ours: bool) {
        let mut close = self.event(EventKind::Close);
        if ours || self.is_stopped() {
            close.more.insert("by".into(), "wiretool".into());
        }
        self.ended(close);
    }

    /// Records a reset by the peer, or by us if `ours`.
    pub(in crate::transport) fn reset(&self, ours: bool) {
        let mut reset = self.event(EventKind::Reset);
        if ours {
            reset.more.insert("by".into(), "wiretool".into());
        } else {
            let dir = self.theirs.name();
            reset.more.insert("dir".into(), dir.into());
        }
        self.ended(reset);
    }

    /// Records that the connection could not be opened.
    pub(in crate::transport) fn refused(&self, what: EventKind<'_>, why: &str) {
        let mut refused = self.event(what);
        refused.more.insert("error".into(), why.into());
        self.ended(refused);
    }

    pub(in crate::transport) fn print(&self, text: &str) {
        (self.common.print)(text);
    }

    /// Records that we ended the connection: by a command, or because the whole run ends.
    pub(in crate::transport) fn end_by_us(&self) -> Ended {
        if self.is_stopped() {
            self.closed(true);
            return Ended::Closed;
        }
        self.reset(true);
        Ended::Reset
    }

    /// Ends an accepted connection whose handshake failed.
    pub(in crate::transport) async fn fail(self: &Arc<Self>, why: &str) {
        self.print(&format!("connection {}: {why}", self.conn));
        self.refused(EventKind::Close, why);
        self.emit(ConnectionEvent::Failed).await;
    }

    /// Ends a connection that could not be opened.
    pub(in crate::transport) async fn refuse(self: &Arc<Self>, to: &Address, why: &str) {
        self.refused(EventKind::Reset, why);
        let why = format!("cannot connect to {to}: {why}");
        self.report_end(Ended::Refused(why)).await;
    }
}
