//! Faults in one direction of a stream.
//!
//! ```text
//!   read --> Faults --> bytes, waits --> write     reset: RESET_STREAM to the receiver, STOP_SENDING to the sender
//!                          '-- close: of the whole connection
//! ```

use super::delivery::delivered;
use super::sides::Sides;
use crate::capture::{ChunkSource, EventKind};
use crate::inject::Out;
use crate::protocol::Channel;
use crate::relay::Relayed;
use crate::transport::faults::Faults;
use crate::transport::inserts::{Insert, InsertReceiver};
use quinn::{RecvStream, SendStream, VarInt, WriteError};
use std::time::Duration;

/// Time limit for the delivery of what precedes a reset or a close, which discard everything that is still on its way.
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

/// The code of a QUIC frame. Codes of faults are checked when they are parsed.
fn var_int(code: Option<u64>) -> VarInt {
    let code = code.and_then(|code| VarInt::from_u64(code).ok());
    code.unwrap_or_default()
}

/// Waits for a message to add to a direction.
pub(super) async fn next_insert(inserts: &mut Option<InsertReceiver>) -> Insert {
    let next = match inserts {
        Some(inserts) => inserts.receiver.recv().await,
        None => None,
    };
    match next {
        Some(insert) => insert,
        None => std::future::pending().await,
    }
}

/// One direction of a stream, from one side to the other.
pub(super) struct Forwarding<'s> {
    pub(super) from: RecvStream,
    pub(super) to: SendStream,
    pub(super) dir: ChunkSource,
    pub(super) channel: Channel,
    pub(super) sides: &'s Sides,
}

impl Forwarding<'_> {
    /// Adds a message.
    pub(super) async fn add(&mut self, insert: Insert, faults: &Faults) -> Result<(), ForwardEnd> {
        let queue = &self.sides.proxied.recorder.queue;
        let (channel, dir) = (self.channel, self.dir);
        let added = match faults.insert(channel, dir, &insert.bytes, queue) {
            Ok(added) => added,
            Err(error) => {
                insert.reply(Err(error));
                return Ok(());
            }
        };
        queue
            .offer_async(queue.now(), channel, dir, &insert.bytes)
            .await;
        insert.reply(Ok(()));
        self.send(added).await
    }

    /// Sends what the receiver gets.
    pub(super) async fn send(&mut self, relayed: Relayed) -> Result<(), ForwardEnd> {
        let Self {
            from,
            to,
            dir,
            sides,
            ..
        } = self;
        let proxied = &sides.proxied;
        for out in relayed.sends {
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
                Out::Close(code) => {
                    let code = *sides.fault.get_or_init(|| var_int(code));
                    tokio::join!(
                        delivered(&sides.client, DELIVERY),
                        delivered(&sides.server, DELIVERY)
                    );
                    for side in [&sides.client, &sides.server] {
                        side.close(code, b"");
                    }
                    return Err(ForwardEnd::Kept);
                }
                Out::Reset(code) => {
                    delivered(sides.of(*dir).1, DELIVERY).await;
                    let code = var_int(code);
                    let _ = to.reset(code);
                    let _ = from.stop(code);
                    let mut reset =
                        proxied.stream_event(EventKind::Reset, *dir, self.channel.stream, code);
                    reset.more.insert("by".into(), "wiretool".into());
                    proxied.record(reset);
                    return Err(ForwardEnd::Ended);
                }
                Out::Event(_) | Out::Stall => {}
            }
        }
        Ok(())
    }
}
