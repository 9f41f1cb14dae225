//! What the streams of a proxied connection share: the recorder, the faults, the end.

use crate::capture::{ChunkSource, EventKind, EventRecord};
use crate::conversation::tap::event;
use crate::live::handler::Channel;
use crate::transport::faults::Faults;
use crate::transport::recorder::{MessagePrinter, Recorder};
use quinn::VarInt;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use tokio::sync::watch;

/// The context of a relay.
pub(in crate::transport) struct Link {
    pub(in crate::transport) recorder: Arc<Recorder>,
    pub(in crate::transport) conn: u32,
    /// Time of the last transfer, in nanoseconds since the start.
    pub(in crate::transport) last_transfer: Arc<AtomicI64>,
    pub(in crate::transport) print: MessagePrinter,
    pub(in crate::transport) faults: Option<Arc<Faults>>,
    /// The code with which a fault closes the connection.
    pub(in crate::transport) fault_close: watch::Sender<Option<VarInt>>,
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

    /// Creates an event of one stream, with its error code if it has one.
    pub(super) fn stream_event(
        &self,
        what: EventKind<'_>,
        dir: ChunkSource,
        stream: Option<u64>,
        code: Option<VarInt>,
    ) -> EventRecord {
        let mut event = self.event(what, dir);
        event.stream = stream;
        if let Some(code) = code {
            event.more.insert("code".into(), code.into_inner().into());
        }
        event
    }

    /// Records an event of one stream.
    pub(super) fn record(
        &self,
        what: EventKind<'_>,
        dir: ChunkSource,
        channel: Channel,
        code: Option<VarInt>,
    ) {
        let event = self.stream_event(what, dir, channel.stream, code);
        self.recorder.queue.event(self.conn, event);
    }

    /// Closes the connection because of a fault. The first code counts.
    pub(super) fn close(&self, code: VarInt) {
        self.fault_close.send_if_modified(|close| {
            let is_first = close.is_none();
            close.get_or_insert(code);
            is_first
        });
    }

    /// Waits for [`Link::close`].
    pub(super) async fn wait_for_fault(&self) -> VarInt {
        let mut close = self.fault_close.subscribe();
        let closed = close.wait_for(Option::is_some).await;
        closed.ok().and_then(|code| *code).unwrap_or_default()
    }
}
