//! A proxied connection, over sockets and over QUIC: the recorder and the faults that it shares with others.

use super::faults::Faults;
use super::recorder::{MessagePrinter, Recorder};
use crate::capture::{ChunkSource, EventKind, EventRecord};
use crate::conversation::tap::event;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

/// The number of a proxied connection, and what all of them share.
pub(super) struct Proxied {
    pub(super) recorder: Arc<Recorder>,
    pub(super) conn: u32,
    /// Time of the last transfer, in nanoseconds since the start.
    pub(super) last_transfer: Arc<AtomicI64>,
    pub(super) print: MessagePrinter,
    pub(super) faults: Option<Arc<Faults>>,
}

impl Proxied {
    /// Returns the time, which is that of a transfer.
    pub(super) fn now(&self) -> i64 {
        let now = self.recorder.queue.now();
        self.last_transfer.store(now, Ordering::Relaxed);
        now
    }

    pub(super) fn event(&self, what: EventKind<'_>, dir: ChunkSource) -> EventRecord {
        let mut event = event(what, self.now(), self.conn);
        event.more.insert("dir".into(), dir.name().into());
        event
    }

    /// Creates an event of one stream, with its error code.
    pub(super) fn stream_event(
        &self,
        what: EventKind<'_>,
        dir: ChunkSource,
        stream: Option<u64>,
        code: impl Into<u64>,
    ) -> EventRecord {
        let mut event = self.event(what, dir);
        event.stream = stream;
        event.more.insert("code".into(), code.into().into());
        event
    }

    pub(super) fn record(&self, event: EventRecord) {
        self.recorder.queue.event(self.conn, event);
    }
}
