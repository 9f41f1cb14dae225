//! Faults in one direction of a stream.
//!
//! ```text
//!   read --> Faults --> bytes, waits --> write     reset: RESET_STREAM to the receiver, STOP_SENDING to the sender
//!                          '-- close: of the whole connection, by the relay
//! ```

use super::delivery::delivered;
use super::link::Link;
use crate::capture::{ChunkSource, EventKind};
use crate::inject::Out;
use crate::live::handler::Channel;
use crate::transport::faults::{Faults, injected};
use crate::transport::inserts::{Insert, InsertReceiver};
use quinn::{Connection, RecvStream, SendStream, VarInt, WriteError};
use std::time::Duration;

/// Time limit for the delivery of what precedes a reset, which discards everything that is still on its way.
const DELIVERY: Duration = Duration::from_secs(1);

/// The end of the forwarding of one direction.
pub(super) enum ForwardEnd {
    /// Both sides know it.
    Ended,
    /// The handles must outlive the connection.
    Kept,
    /// The receiver wants no more, with its code.
    Stopped(VarInt),
}

impl From<WriteError> for ForwardEnd {
    fn from(error: WriteError) -> Self {
        match error {
            WriteError::Stopped(code) => Self::Stopped(code),
            _ => Self::Kept,
        }
    }
}

/// One direction of a stream that faults can affect.
pub(super) struct StreamFaults<'l> {
    faults: &'l Faults,
    link: &'l Link,
    channel: Channel,
    dir: ChunkSource,
    /// The receiving side.
    to: Connection,
    /// Messages to add.
    inserts: Option<InsertReceiver>,
    /// Nothing is sent any more, not even the end.
    pub(super) stalled: bool,
}

/// The code of a QUIC frame. Codes of faults are checked when they are parsed.
fn var_int(code: Option<u64>) -> VarInt {
    let code = code.and_then(|code| VarInt::from_u64(code).ok());
    code.unwrap_or_default()
}

impl<'l> StreamFaults<'l> {
    /// Returns `None` if no fault can affect this direction.
    pub(super) fn new(
        link: &'l Link,
        channel: Channel,
        dir: ChunkSource,
        to: Connection,
    ) -> Option<Self> {
        let faults = link.faults.as_deref().filter(|f| f.is_affected(dir))?;
        Some(Self {
            faults,
            link,
            channel,
            dir,
            to,
            inserts: faults
                .inserts
                .as_ref()
                .map(|inserts| inserts.accept(channel, dir)),
            stalled: false,
        })
    }

    /// Returns the actions for bytes that were read at `t`.
    pub(super) fn push(&self, t: i64, bytes: &[u8]) -> Vec<Out> {
        self.record(self.faults.push(t, self.channel, self.dir, bytes))
    }

    /// Waits for a message to add.
    pub(super) async fn next_insert(&mut self) -> Insert {
        match &mut self.inserts {
            Some(inserts) => match inserts.receiver.recv().await {
                Some(insert) => insert,
                None => std::future::pending().await,
            },
            None => std::future::pending().await,
        }
    }

    /// Adds a message.
    pub(super) async fn insert(
        &mut self,
        t: i64,
        insert: Insert,
        from: &mut RecvStream,
        to: &mut SendStream,
    ) -> Result<(), ForwardEnd> {
        let outs = match self.faults.insert(t, self.channel, self.dir, &insert.bytes) {
            Ok(outs) => self.record(outs),
            Err(error) => {
                insert.reply(Err(error));
                return Ok(());
            }
        };
        let queue = &self.link.recorder.queue;
        queue
            .offer_async(queue.now(), self.channel, self.dir, &insert.bytes)
            .await;
        insert.reply(Ok(()));
        self.execute(outs, from, to).await
    }

    /// Returns the actions for the end of this direction, and releases its state.
    pub(super) fn end(&self) -> Vec<Out> {
        self.record(self.faults.end(self.channel, self.dir))
    }

    /// Records the faults before the bytes of their messages, so that a reader of the recording knows of them in time.
    fn record(&self, outs: Vec<Out>) -> Vec<Out> {
        let queue = &self.link.recorder.queue;
        let record = |out| match out {
            Out::Event(more) => {
                queue.event(self.link.conn, injected(queue.now(), self.channel, more));
                None
            }
            out => Some(out),
        };
        outs.into_iter().filter_map(record).collect()
    }

    /// Executes the actions.
    pub(super) async fn execute(
        &mut self,
        outs: Vec<Out>,
        from: &mut RecvStream,
        to: &mut SendStream,
    ) -> Result<(), ForwardEnd> {
        for out in outs {
            match out {
                Out::Bytes(bytes) => to.write_all(&bytes).await?,
                Out::Wait(ns) => tokio::select! {
                    biased;
                    stopped = to.stopped() => return Err(match stopped {
                        Ok(Some(code)) => ForwardEnd::Stopped(code),
                        _ => ForwardEnd::Kept,
                    }),
                    () = tokio::time::sleep(Duration::from_nanos(ns)) => {}
                },
                // Recorded before the bytes.
                Out::Event(_) => {}
                Out::Close(code) => {
                    self.link.close(var_int(code));
                    return Err(ForwardEnd::Kept);
                }
                Out::Reset(code) => {
                    delivered(&self.to, DELIVERY).await;
                    let code = var_int(code);
                    let _ = to.reset(code);
                    let _ = from.stop(code);
                    let stream = self.channel.stream;
                    let link = self.link;
                    let mut reset =
                        link.stream_event(EventKind::Reset, self.dir, stream, Some(code));
                    reset.more.insert("by".into(), "wiretool".into());
                    link.recorder.queue.event(link.conn, reset);
                    return Err(ForwardEnd::Ended);
                }
                Out::Stall => self.stalled = true,
            }
        }
        Ok(())
    }
}
