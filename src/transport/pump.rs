//! The pump of one connection between two sockets.
//!
//! ```text
//!   client --read--> write --> server        a copy goes into the queue; without faults, after the write
//!   client <-- write <--read-- server
//! ```
//!
//! The end of one direction is passed on, and the other direction continues; a reset ends both. Bytes that could not be
//! written are written before the next read, so that a slow reader slows only its sender.

use super::inserts::Insert;
use super::recorder::Proxied;
use super::socket::{Reader, Socket, Writer};
use crate::capture::{ChunkSource, EventRecord};
use crate::inject::Out;
use crate::relay::{ConnectionEnd, DirectionEnd, Ends, FaultEnd, Relayed};
use std::cell::RefCell;
use std::future::poll_fn;
use std::io;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead as _, AsyncWrite as _, ReadBuf};

/// Maximum number of bytes of one read.
pub(super) const READ_SIZE: usize = 64 << 10;

thread_local! {
    /// One buffer for all connections. It is in use only between a read and the write that follows it.
    pub(super) static BUFFER: RefCell<Vec<u8>> = RefCell::new(vec![0; READ_SIZE]);
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
    /// What faults made of the bytes.
    Relayed(Relayed),
    /// A message to add.
    Insert(Insert),
}

/// Pumps until the connection has ended, and passes the end on.
pub(super) async fn relay(
    mut client: Socket,
    mut server: Socket,
    proxied: &Proxied,
) -> ConnectionEnd {
    let ended = pump_both(&mut client, &mut server, proxied).await;
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
    if let Some(faults) = &proxied.faults {
        faults.close(proxied.conn);
    }
    ended
}

async fn pump_both(client: &mut Socket, server: &mut Socket, proxied: &Proxied) -> ConnectionEnd {
    let (client_reader, client_writer) = client.split();
    let (server_reader, server_writer) = server.split();
    let mut up = pin!(pump_direction(
        client_reader,
        server_writer,
        ChunkSource::C2s,
        proxied
    ));
    let mut down = pin!(pump_direction(
        server_reader,
        client_writer,
        ChunkSource::S2c,
        proxied
    ));
    let (mut ends, mut ended) = (Ends::default(), [None, None]);
    loop {
        let (dir, (end, reader)) = tokio::select! {
            biased;
            end = &mut up, if ends.is_open(ChunkSource::C2s) => (ChunkSource::C2s, end),
            end = &mut down, if ends.is_open(ChunkSource::S2c) => (ChunkSource::S2c, end),
            // A direction that has ended is no longer read, so its errors must be watched for.
            () = wait_for_error(ended[0].as_ref()) => return ConnectionEnd::Reset(ChunkSource::C2s),
            () = wait_for_error(ended[1].as_ref()) => return ConnectionEnd::Reset(ChunkSource::S2c),
        };
        if let Some(end) = ends.end(dir, end) {
            return end;
        }
        if end == DirectionEnd::Eof {
            ended[usize::from(dir == ChunkSource::S2c)] = Some(reader);
        }
    }
}

async fn wait_for_error(ended: Option<&Reader<'_>>) {
    match ended {
        Some(reader) => reader.wait_for_error().await,
        None => std::future::pending().await,
    }
}

/// Pumps one direction until it has ended.
async fn pump_direction<'s>(
    mut from: Reader<'s>,
    mut to: Writer<'_>,
    dir: ChunkSource,
    proxied: &Proxied,
) -> (DirectionEnd, Reader<'s>) {
    let end = pump_until_end(&mut from, &mut to, dir, proxied).await;
    if end == DirectionEnd::Refused {
        from.shut_down_reading();
    }
    (end, from)
}

async fn pump_until_end(
    from: &mut Reader<'_>,
    to: &mut Writer<'_>,
    dir: ChunkSource,
    proxied: &Proxied,
) -> DirectionEnd {
    // Set after the queue stayed full: the next read passes without being recorded.
    let mut unrecorded = false;
    let inserts = proxied
        .faults
        .as_deref()
        .and_then(|faults| faults.inserts.as_ref());
    let mut inserts = inserts.map(|inserts| inserts.accept(proxied.conn.into(), dir));
    loop {
        let queue = &proxied.recorder.queue;
        let step = poll_fn(|context| {
            if !unrecorded && !queue.has_space(proxied.conn, dir, READ_SIZE) {
                return Poll::Ready(Ok(Ok(ReadStep::Full)));
            }
            if let Some(inserts) = &mut inserts
                && let Poll::Ready(Some(insert)) = inserts.receiver.poll_recv(context)
            {
                return Poll::Ready(Ok(Ok(ReadStep::Insert(insert))));
            }
            step(from, to, dir, proxied, context)
        });
        let step = step.await;
        unrecorded = false;
        match step {
            // Bytes are read only when the queue has space or gives up.
            Ok(Ok(ReadStep::Full)) => {
                unrecorded = !queue.wait_for_space(proxied.conn, dir, READ_SIZE).await;
            }
            Ok(Ok(ReadStep::Eof)) => {
                let faults = proxied.faults.as_deref().filter(|f| f.is_affected(dir));
                let last = faults.map(|faults| faults.end(proxied.conn, dir, queue));
                let last = last.unwrap_or_default();
                let eof = EventRecord::eof(queue.now(), proxied.conn, dir, from.is_truncated());
                queue.event(proxied.conn, eof);
                if let Some(end) = send(last.sends, to).await {
                    return end;
                }
                if !last.hides_end {
                    let _ = poll_fn(|context| Pin::new(&mut *to).poll_shutdown(context)).await;
                }
                return DirectionEnd::Eof;
            }
            Ok(Ok(ReadStep::Bytes { rest })) => {
                if !rest.is_empty() && write(to, &rest).await.is_err()
                    || to.needs_flush() && flush(to).await.is_err()
                {
                    return DirectionEnd::Refused;
                }
            }
            Ok(Ok(ReadStep::Relayed(relayed))) => {
                if let Some(end) = send(relayed.sends, to).await {
                    return end;
                }
            }
            Ok(Ok(ReadStep::Insert(insert))) => {
                // Boxed, because this rare future is part of the future of each connection.
                let added = Box::pin(add(insert, dir, proxied)).await;
                if let Some(end) = send(added.sends, to).await {
                    return end;
                }
            }
            Ok(Err(_)) => return DirectionEnd::Refused,
            Err(_) => return DirectionEnd::Reset,
        }
    }
}

/// Reads once and writes the bytes. The outer error belongs to the sender, the inner one to the receiver.
fn step(
    from: &mut Reader<'_>,
    to: &mut Writer<'_>,
    dir: ChunkSource,
    proxied: &Proxied,
    context: &mut Context<'_>,
) -> Poll<io::Result<io::Result<ReadStep>>> {
    BUFFER.with_borrow_mut(|buffer| {
        let mut space = ReadBuf::new(buffer);
        ready!(Pin::new(from).poll_read(context, &mut space))?;
        let bytes = space.filled();
        if bytes.is_empty() {
            return Poll::Ready(Ok(Ok(ReadStep::Eof)));
        }
        let queue = &proxied.recorder.queue;
        if let Some(faults) = proxied
            .faults
            .as_deref()
            .filter(|faults| faults.is_affected(dir))
        {
            let t = proxied.now();
            let relayed = faults.read(t, proxied.conn, dir, bytes, queue);
            queue.offer(t, proxied.conn, dir, bytes, true);
            return Poll::Ready(Ok(Ok(ReadStep::Relayed(relayed))));
        }
        // The time of the read: behind it, the next relay may have the bytes before the write returns.
        let t = proxied.now();
        let sent = match Pin::new(to).poll_write(context, bytes) {
            Poll::Ready(Ok(sent)) => Ok(sent),
            Poll::Pending => Ok(0),
            Poll::Ready(Err(error)) => Err(error),
        };
        // The queue has space, or `unrecorded` is set.
        queue.offer(t, proxied.conn, dir, bytes, true);
        Poll::Ready(Ok(sent.map(|sent| ReadStep::Bytes {
            rest: bytes.get(sent..).unwrap_or_default().to_vec(),
        })))
    })
}

/// Sends what the receiver gets. Returns the end of the direction if a fault or the receiver ends it.
async fn send(outs: Vec<Out>, to: &mut Writer<'_>) -> Option<DirectionEnd> {
    for out in outs {
        match out {
            Out::Bytes(bytes) => {
                if write(to, &bytes).await.is_err() {
                    return Some(DirectionEnd::Refused);
                }
            }
            Out::Wait(ns) => {
                // Bytes before the wait are not delayed.
                let _ = flush(to).await;
                tokio::time::sleep(std::time::Duration::from_nanos(ns)).await;
            }
            Out::Close(_) => return Some(DirectionEnd::Fault(FaultEnd::Close)),
            Out::Reset(_) => return Some(DirectionEnd::Fault(FaultEnd::Reset)),
            Out::Event(_) | Out::Stall => {}
        }
    }
    if to.needs_flush() && flush(to).await.is_err() {
        return Some(DirectionEnd::Refused);
    }
    None
}

/// Records a message that is added. Returns what sends it.
async fn add(insert: Insert, dir: ChunkSource, proxied: &Proxied) -> Relayed {
    let (queue, bytes) = (&proxied.recorder.queue, &insert.bytes);
    let Some(faults) = &proxied.faults else {
        return Relayed::default();
    };
    match faults.insert(proxied.conn, dir, bytes, queue) {
        Ok(added) => {
            let now = queue.now();
            queue.offer_async(now, proxied.conn, dir, bytes).await;
            insert.reply(Ok(()));
            added
        }
        Err(error) => {
            insert.reply(Err(error));
            Relayed::default()
        }
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
