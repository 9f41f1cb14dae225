//! The pump of one connection between two sockets.
//!
//! ```text
//!   client --read--> write --> server        a copy goes into the queue after the write
//!   client <-- write <--read-- server
//! ```
//!
//! The end of one direction is passed on, and the other direction continues; a reset ends both. Bytes that could not be
//! written are written before the next read, so that a slow reader slows only its sender.

use super::faults::{FaultEnd, Faults, record_faults};
use super::inserts::Insert;
use super::recorder::Recorder;
use super::socket::{Reader, Socket, Writer};
use crate::capture::ChunkSource;
use crate::conversation::tap::eof;
use crate::inject::Out;
use std::cell::RefCell;
use std::future::poll_fn;
use std::io;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicI64, Ordering};
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead as _, AsyncWrite as _, ReadBuf};

/// Maximum number of bytes of one read.
pub(super) const READ_SIZE: usize = 64 << 10;

thread_local! {
    /// One buffer for all connections. It is in use only between a read and the write that follows it.
    pub(super) static BUFFER: RefCell<Vec<u8>> = RefCell::new(vec![0; READ_SIZE]);
}

/// The end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ConnectionEnd {
    /// Both directions have ended.
    Close,
    /// The sender of this direction reset the connection.
    Reset(ChunkSource),
    /// A fault ended the connection.
    Fault(FaultEnd),
}

/// The end of one direction.
enum DirectionEnd<'s> {
    /// The sender has ended it.
    Eof(Reader<'s>),
    /// The sender reset the connection.
    Reset,
    /// The receiver takes no more.
    Refused,
    /// A fault ends the connection.
    Fault(FaultEnd),
}

/// The result of one read.
enum ReadStep {
    Eof,
    /// Nothing was read, because the queue is full.
    Full,
    Bytes {
        /// The bytes that were not written immediately.
        rest: Vec<u8>,
    },
    /// The actions of the injector.
    Injected(Vec<Out>),
    /// A message to add.
    Insert(Insert),
}

/// The context of a pump.
pub(super) struct Link<'b> {
    pub(super) recorder: &'b Recorder,
    pub(super) conn: u32,
    /// Time of the last transfer, in nanoseconds since the start.
    pub(super) last_transfer: &'b AtomicI64,
    pub(super) faults: Option<&'b Faults>,
}

/// Pumps until the connection has ended, and passes the end on.
pub(super) async fn relay(
    mut client: Socket,
    mut server: Socket,
    link: &Link<'_>,
) -> ConnectionEnd {
    let ended = pump_both(&mut client, &mut server, link).await;
    match ended {
        ConnectionEnd::Reset(_) | ConnectionEnd::Fault(FaultEnd::Reset) => {
            client.reset();
            server.reset();
        }
        ConnectionEnd::Fault(FaultEnd::Close) => {
            // Boxed, because this rare future is large and part of the future of each connection.
            Box::pin(async { tokio::join!(client.finish(), server.finish()) }).await;
        }
        ConnectionEnd::Close => {}
    }
    if let Some(faults) = link.faults {
        faults.close(link.conn);
    }
    ended
}

async fn pump_both(client: &mut Socket, server: &mut Socket, link: &Link<'_>) -> ConnectionEnd {
    let (client_reader, client_writer) = client.split();
    let (server_reader, server_writer) = server.split();
    let mut up = pin!(pump_direction(
        client_reader,
        server_writer,
        ChunkSource::C2s,
        link
    ));
    let mut down = pin!(pump_direction(
        server_reader,
        client_writer,
        ChunkSource::S2c,
        link
    ));
    // The state of each direction, and the sender that a reset is attributed to.
    let (mut up_is, mut down_is, mut reset_by) = (PumpSide::Open, PumpSide::Open, None);
    loop {
        tokio::select! {
            biased;
            end = &mut up, if up_is.is_open() => match end {
                DirectionEnd::Eof(reader) => up_is = PumpSide::Ended(reader),
                DirectionEnd::Reset => return ConnectionEnd::Reset(ChunkSource::C2s),
                DirectionEnd::Fault(reset_by) => return ConnectionEnd::Fault(reset_by),
                DirectionEnd::Refused => {
                    up_is = PumpSide::Refused;
                    reset_by = reset_by.or(Some(ChunkSource::S2c));
                }
            },
            end = &mut down, if down_is.is_open() => match end {
                DirectionEnd::Eof(reader) => down_is = PumpSide::Ended(reader),
                DirectionEnd::Reset => return ConnectionEnd::Reset(ChunkSource::S2c),
                DirectionEnd::Fault(reset_by) => return ConnectionEnd::Fault(reset_by),
                DirectionEnd::Refused => {
                    down_is = PumpSide::Refused;
                    reset_by = reset_by.or(Some(ChunkSource::C2s));
                }
            },
            // A direction that has ended is no longer read, so its errors must be watched for.
            () = up_is.wait_for_error() => return ConnectionEnd::Reset(ChunkSource::C2s),
            () = down_is.wait_for_error() => return ConnectionEnd::Reset(ChunkSource::S2c),
        }
        if !up_is.is_open() && !down_is.is_open() {
            return reset_by.map_or(ConnectionEnd::Close, ConnectionEnd::Reset);
        }
    }
}

/// The reading state of a direction.
enum PumpSide<'s> {
    Open,
    Ended(Reader<'s>),
    Refused,
}

impl PumpSide<'_> {
    fn is_open(&self) -> bool {
        matches!(self, Self::Open)
    }

    async fn wait_for_error(&self) {
        match self {
            Self::Ended(reader) => reader.wait_for_error().await,
            _ => std::future::pending().await,
        }
    }
}

async fn pump_direction<'s>(
    mut from: Reader<'s>,
    mut to: Writer<'_>,
    source: ChunkSource,
    link: &Link<'_>,
) -> DirectionEnd<'s> {
    // Set after the queue stayed full: the next read passes without being recorded.
    let mut unrecorded = false;
    let mut fault_lane = FaultLane::default();
    let inserts = link.faults.and_then(|faults| faults.inserts.as_ref());
    let mut inserts = inserts.map(|inserts| inserts.accept(link.conn.into(), source));
    loop {
        let queue = &link.recorder.queue;
        let step = poll_fn(|context| {
            if !unrecorded && !queue.has_space(link.conn, source, READ_SIZE) {
                return Poll::Ready(Ok(Ok(ReadStep::Full)));
            }
            if let Some(inserts) = &mut inserts
                && let Poll::Ready(Some(insert)) = inserts.receiver.poll_recv(context)
            {
                return Poll::Ready(Ok(Ok(ReadStep::Insert(insert))));
            }
            step(&mut from, &mut to, source, link, context)
        });
        let step = step.await;
        unrecorded = false;
        match step {
            // Bytes are read only when the queue has space or gives up.
            Ok(Ok(ReadStep::Full)) => {
                unrecorded = !queue.wait_for_space(link.conn, source, READ_SIZE).await;
            }
            Ok(Ok(ReadStep::Eof)) => {
                let faults = link.faults.filter(|f| f.is_affected(source));
                let last = faults
                    .map(|faults| record_faults(faults.end(link.conn, source), link.conn, queue));
                let eof = eof(
                    link.recorder.queue.now(),
                    link.conn,
                    source,
                    from.is_truncated(),
                );
                link.recorder.queue.event(link.conn, eof);
                if let Some(last) = last
                    && let Some(end) = fault_lane.execute(last, &mut from, &mut to).await
                {
                    return end;
                }
                if !fault_lane.stalled {
                    let _ = poll_fn(|context| Pin::new(&mut to).poll_shutdown(context)).await;
                }
                return DirectionEnd::Eof(from);
            }
            Ok(Ok(ReadStep::Bytes { rest })) => {
                if !rest.is_empty() && write(&mut to, &rest).await.is_err()
                    || to.needs_flush() && flush(&mut to).await.is_err()
                {
                    from.shut_down_reading();
                    return DirectionEnd::Refused;
                }
            }
            Ok(Ok(ReadStep::Injected(out))) => {
                if let Some(end) = fault_lane.execute(out, &mut from, &mut to).await {
                    return end;
                }
            }
            Ok(Ok(ReadStep::Insert(insert))) => {
                // Boxed, because this rare future is part of the future of each connection.
                let out = Box::pin(add(insert, source, link)).await;
                if let Some(end) = fault_lane.execute(out, &mut from, &mut to).await {
                    return end;
                }
            }
            Ok(Err(_)) => {
                from.shut_down_reading();
                return DirectionEnd::Refused;
            }
            Err(_) => return DirectionEnd::Reset,
        }
    }
}

/// Reads once and writes the bytes. The outer error belongs to the sender, the inner one to the receiver.
fn step(
    from: &mut Reader<'_>,
    to: &mut Writer<'_>,
    source: ChunkSource,
    link: &Link<'_>,
    context: &mut Context<'_>,
) -> Poll<io::Result<io::Result<ReadStep>>> {
    BUFFER.with_borrow_mut(|buffer| {
        let mut space = ReadBuf::new(buffer);
        ready!(Pin::new(from).poll_read(context, &mut space))?;
        let bytes = space.filled();
        if bytes.is_empty() {
            return Poll::Ready(Ok(Ok(ReadStep::Eof)));
        }
        let queue = &link.recorder.queue;
        if let Some(faults) = link.faults.filter(|faults| faults.is_affected(source)) {
            let t = queue.now();
            link.last_transfer.store(t, Ordering::Relaxed);
            let out = record_faults(faults.push(t, link.conn, source, bytes), link.conn, queue);
            queue.offer(t, link.conn, source, bytes, true);
            return Poll::Ready(Ok(Ok(ReadStep::Injected(out))));
        }
        let sent = match Pin::new(to).poll_write(context, bytes) {
            Poll::Ready(Ok(sent)) => Ok(sent),
            Poll::Pending => Ok(0),
            Poll::Ready(Err(error)) => Err(error),
        };
        let t = queue.now();
        link.last_transfer.store(t, Ordering::Relaxed);
        // The queue has space, or `unrecorded` is set.
        queue.offer(t, link.conn, source, bytes, true);
        Poll::Ready(Ok(sent.map(|sent| ReadStep::Bytes {
            rest: bytes.get(sent..).unwrap_or_default().to_vec(),
        })))
    })
}

/// The state of a direction with faults.
#[derive(Default)]
struct FaultLane {
    /// Nothing is sent any more, not even the end.
    stalled: bool,
}

impl FaultLane {
    /// Executes the actions of the injector. Returns the end of the direction if a fault ends it.
    async fn execute<'s>(
        &mut self,
        outs: Vec<Out>,
        from: &mut Reader<'s>,
        to: &mut Writer<'_>,
    ) -> Option<DirectionEnd<'s>> {
        for out in outs {
            match out {
                Out::Bytes(bytes) => {
                    if write(to, &bytes).await.is_err() {
                        from.shut_down_reading();
                        return Some(DirectionEnd::Refused);
                    }
                }
                Out::Wait(ns) => {
                    // Bytes before the wait are not delayed.
                    let _ = flush(to).await;
                    tokio::time::sleep(std::time::Duration::from_nanos(ns)).await;
                }
                // Recorded before the bytes.
                Out::Event(_) => {}
                Out::Close(_) => return Some(DirectionEnd::Fault(FaultEnd::Close)),
                Out::Reset(_) => return Some(DirectionEnd::Fault(FaultEnd::Reset)),
                Out::Stall => self.stalled = true,
            }
        }
        if to.needs_flush() && flush(to).await.is_err() {
            from.shut_down_reading();
            return Some(DirectionEnd::Refused);
        }
        None
    }
}

/// Records a message that is added. Returns the actions that send it.
async fn add(insert: Insert, source: ChunkSource, link: &Link<'_>) -> Vec<Out> {
    let (queue, bytes) = (&link.recorder.queue, &insert.bytes);
    let out = link
        .faults
        .map(|faults| faults.insert(queue.now(), link.conn, source, bytes));
    match out {
        Some(Ok(out)) => {
            let out = record_faults(out, link.conn, queue);
            let now = queue.now();
            queue.offer_async(now, link.conn, source, bytes).await;
            insert.reply(Ok(()));
            out
        }
        Some(Err(error)) => {
            insert.reply(Err(error));
            Vec::new()
        }
        None => Vec::new(),
    }
}

async fn flush(to: &mut Writer<'_>) -> io::Result<()> {
    poll_fn(|context| Pin::new(&mut *to).poll_flush(context)).await
}

async fn write(to: &mut Writer<'_>, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        let sent = poll_fn(|context| Pin::new(&mut *to).poll_write(context, bytes)).await?;
        if sent == 0 {
            return Err(io::ErrorKind::WriteZero.into());
        }
        bytes = bytes.get(sent..).unwrap_or_default();
    }
    Ok(())
}
