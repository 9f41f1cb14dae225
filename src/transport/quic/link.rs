//! Shared parts of the streams of a proxied connection: both sides, the recorder, the faults.

use crate::capture::{ChunkSource, EventKind, EventRecord};
use crate::conversation::tap::event;
use crate::transport::faults::Faults;
use crate::transport::recorder::{MessagePrinter, Recorder};
use quinn::{Connection, VarInt};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, OnceLock};

/// The context of a connection.
pub(in crate::transport) struct Link {
    pub(in crate::transport) recorder: Arc<Recorder>,
    pub(in crate::transport) conn: u32,
    /// Time of the last transfer, in nanoseconds since the start.
    pub(in crate::transport) last_transfer: Arc<AtomicI64>,
    pub(in crate::transport) print: MessagePrinter,
    pub(in crate::transport) faults: Option<Arc<Faults>>,
}

impl Link {
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
        code: VarInt,
    ) -> EventRecord {
        let mut event = self.event(what, dir);
        event.stream = stream;
        event.more.insert("code".into(), code.into_inner().into());
        event
    }

    pub(super) fn record(&self, event: EventRecord) {
        self.recorder.queue.event(self.conn, event);
    }
}

/// Both sides of a proxied connection.
pub(in crate::transport) struct Sides {
    pub(in crate::transport) client: Connection,
    pub(in crate::transport) server: Connection,
    pub(in crate::transport) link: Link,
    /// Streams of each kind that a peer may have open.
    pub(in crate::transport) max_streams: u32,
    /// The code with which a fault has closed the connection. The first code counts.
    pub(in crate::transport) fault: OnceLock<VarInt>,
}

impl Sides {
    /// The connection from which bytes of this direction come, and the one to which they go.
    pub(super) fn of(&self, dir: ChunkSource) -> (&Connection, &Connection) {
        match dir {
            ChunkSource::S2c => (&self.server, &self.client),
            ChunkSource::C2s | ChunkSource::Stderr => (&self.client, &self.server),
        }
    }

    /// Waits until both connections have ended. Stream handles that are dropped earlier send a FIN or `STOP_SENDING`.
    pub(super) async fn closed(&self) {
        tokio::join!(self.client.closed(), self.server.closed());
    }
}
