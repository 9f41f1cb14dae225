//! The relay: two connections with the same streams.
//!
//! ```text
//!   client  open 0, 4, 8 -->  accept in order  --> open 0, 4, 8  server
//!           FIN, RESET_STREAM, STOP_SENDING, datagrams, close: passed on with their codes
//! ```
//!
//! Streams are opened on the other side in the order of their ids, so that each keeps its id; a stream that was skipped is
//! opened, too, and stays unused. A stream reads only what the other side takes, and no stream waits for another one.
//!
//! After a close, the relay first delivers what was received, then closes the other side, and drops the stream handles last:
//! a handle that is dropped earlier sends a FIN or `STOP_SENDING` that no peer has sent. So each stream is a task that keeps
//! its handles until both connections have ended.

use super::config::Grant;
use super::delivery::delivered;
use super::errors::{add_close, closed, forwarded_as};
use super::faults::{ForwardEnd, Forwarding, next_insert};
use super::sides::Sides;
use crate::capture::{ChunkSource, EventKind, EventRecord};
use crate::protocol::Channel;
use crate::relay::OfferResult;

use quinn::{ConnectionError, Dir, ReadError, RecvStream, SendStream};
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;

/// Maximum number of bytes of one read.
const READ: usize = 64 << 10;
/// Time limit for the delivery of what was received before a close.
const DELIVERY: Duration = Duration::from_secs(5);
/// Interval at which the address of a peer is compared with the last one.
const MIGRATION: Duration = Duration::from_millis(250);

/// A task holds a clone of it as long as it has something to deliver.
type Running = Arc<mpsc::Sender<Infallible>>;

/// Relays until one side closes; passes the close on. Returns the event that ends the recording of the connection.
pub(super) async fn relay(sides: Arc<Sides>) -> EventRecord {
    let proxied = &sides.proxied;
    let (running, mut delivering) = mpsc::channel(1);
    for dir in [ChunkSource::C2s, ChunkSource::S2c] {
        for kind in [Dir::Bi, Dir::Uni] {
            tokio::spawn(streams(
                kind,
                dir,
                Arc::clone(&sides),
                running.clone().into(),
            ));
        }
        tokio::spawn(datagrams(dir, Arc::clone(&sides), running.clone()));
    }
    drop(running);
    let (dir, reason) = tokio::select! {
        biased;
        reason = sides.client.closed() => (ChunkSource::C2s, reason),
        reason = sides.server.closed() => (ChunkSource::S2c, reason),
        never = migrations(&sides) => match never {},
    };
    // Streams first deliver what they have received.
    let delivered_all = tokio::time::timeout(DELIVERY, delivering.recv()).await;
    let other = sides.of(dir).1;
    delivered(other, DELIVERY).await;
    let (code, text) = closed(&reason);
    other.close(code, text.as_bytes());
    if let ConnectionError::LocallyClosed = reason {
        let mut close = EventRecord::new(EventKind::Close, proxied.now(), proxied.conn);
        close.more.insert("by".into(), "wiretool".into());
        if let Some(code) = sides.fault.get() {
            close.more.insert("code".into(), code.into_inner().into());
        }
        return close;
    }
    let mut close = proxied.event(EventKind::Close, dir);
    if let (Some(error), Some(as_what)) = (add_close(&mut close, &reason), forwarded_as(&reason)) {
        let conn = proxied.conn;
        (proxied.print)(&format!(
            "connection {conn}: {error}; the other side gets {as_what}"
        ));
        close.more.insert("forwarded".into(), as_what.into());
    }
    if delivered_all.is_err() {
        (proxied.print)(&format!(
            "connection {}: the peer did not read the last data within {} s",
            proxied.conn,
            DELIVERY.as_secs()
        ));
    }
    close
}

/// Mirrors the streams of one kind that the sender of a direction opens.
async fn streams(kind: Dir, dir: ChunkSource, sides: Arc<Sides>, running: Running) {
    let (from, to) = sides.of(dir);
    let back = if dir == ChunkSource::C2s {
        ChunkSource::S2c
    } else {
        ChunkSource::C2s
    };
    let mut grant = Grant::new(kind, sides.max_streams);
    loop {
        let accepting = async {
            Ok(match kind {
                Dir::Bi => from
                    .accept_bi()
                    .await
                    .map(|(send, receive)| (Some(send), receive))?,
                Dir::Uni => (None, from.accept_uni().await?),
            })
        };
        // Streams that arrived before the end are still accepted.
        let accepted: Result<_, ConnectionError> = tokio::select! {
            biased;
            accepted = accepting => accepted,
            reason = to.closed() => Err(reason),
        };
        let Ok((answer, request)) = accepted else {
            return;
        };
        // Waits while the other side allows no more streams.
        let opened = match kind {
            Dir::Bi => to
                .open_bi()
                .await
                .map(|(send, receive)| (send, Some(receive))),
            Dir::Uni => to.open_uni().await.map(|send| (send, None)),
        };
        let Ok((forward, reply)) = opened else {
            drop(running);
            return sides.closed().await;
        };
        tokio::spawn(pump(
            request,
            forward,
            dir,
            Arc::clone(&sides),
            Arc::clone(&running),
        ));
        if let (Some(reply), Some(answer)) = (reply, answer) {
            tokio::spawn(pump(
                reply,
                answer,
                back,
                Arc::clone(&sides),
                Arc::clone(&running),
            ));
        }
        grant.extend(from, Arc::strong_count(&running));
    }
}

/// Forwards one direction of a stream. Keeps the handles if a connection ended before the stream.
async fn pump(
    from: RecvStream,
    to: SendStream,
    dir: ChunkSource,
    sides: Arc<Sides>,
    running: Running,
) {
    let proxied = &sides.proxied;
    let channel = Channel {
        conn: proxied.conn,
        stream: Some(to.id().into()),
    };
    let mut forwarding = Forwarding {
        from,
        to,
        dir,
        channel,
        sides: &sides,
    };
    let ended = forward(&mut forwarding).await;
    if let Some(faults) = proxied.faults.as_ref().filter(|f| f.is_affected(dir)) {
        faults.end(channel, dir, &proxied.recorder.queue);
    }
    match ended {
        ForwardEnd::Ended => {}
        ForwardEnd::Kept => {
            drop(running);
            sides.closed().await;
        }
        ForwardEnd::Stopped(code) => {
            proxied.record(proxied.stream_event(EventKind::Stop, dir, channel.stream, code));
            let _ = forwarding.from.stop(code);
        }
    }
}

async fn forward(stream: &mut Forwarding<'_>) -> ForwardEnd {
    let (dir, channel, proxied) = (stream.dir, stream.channel, &stream.sides.proxied);
    let queue = &proxied.recorder.queue;
    let faults = proxied.faults.as_ref().filter(|f| f.is_affected(dir));
    let accepted = faults.and_then(|faults| faults.inserts.as_ref());
    let mut inserts = accepted.map(|inserts| inserts.accept(channel, dir));
    let stopped = stream.to.stopped();
    tokio::pin!(stopped);
    loop {
        let read = tokio::select! {
            biased;
            insert = next_insert(&mut inserts) => {
                let Some(faults) = faults else { continue };
                if let Err(end) = Box::pin(stream.add(insert, faults)).await {
                    return end;
                }
                continue;
            }
            read = stream.from.read_chunk(READ, true) => read,
            stopped = &mut stopped => {
                return match stopped {
                    Ok(Some(code)) => ForwardEnd::Stopped(code),
                    _ => ForwardEnd::Kept,
                };
            }
        };
        let t = proxied.now();
        let chunk = match read {
            Ok(chunk) => chunk,
            Err(ReadError::Reset(code)) => {
                proxied.record(proxied.stream_event(EventKind::Reset, dir, channel.stream, code));
                let _ = stream.to.reset(code);
                return ForwardEnd::Ended;
            }
            Err(_) => return ForwardEnd::Kept,
        };
        let relayed = faults.map(|faults| match &chunk {
            Some(chunk) => faults.read(t, channel, dir, &chunk.bytes, queue),
            None => faults.end(channel, dir, queue),
        });
        // Recorded before the write, so that an answer never precedes its request.
        match &chunk {
            Some(chunk) => {
                // Rare and large futures are in boxes, because each stream has this one.
                if queue.offer(t, channel, dir, &chunk.bytes, false) == OfferResult::Full {
                    Box::pin(queue.offer_async(t, channel, dir, &chunk.bytes)).await;
                }
            }
            None => queue.fin(t, proxied.conn, stream.to.id().into(), dir),
        }
        let is_end = chunk.is_none();
        let hides_end = relayed.as_ref().is_some_and(|relayed| relayed.hides_end);
        let written = match (relayed, chunk) {
            (Some(relayed), _) => Box::pin(stream.send(relayed)).await,
            (None, Some(chunk)) => {
                let written = stream.to.write_chunk(chunk.bytes).await;
                written.map_err(Into::into)
            }
            (None, None) => Ok(()),
        };
        match written {
            Err(end) => return end,
            Ok(()) if is_end && hides_end => return ForwardEnd::Kept,
            Ok(()) if is_end => {
                let _ = stream.to.finish();
                // Returns after the delivery.
                let _ = stopped.await;
                return ForwardEnd::Ended;
            }
            Ok(()) => {}
        }
    }
}

/// Forwards datagrams. One that the other side does not accept is recorded as lost.
async fn datagrams(dir: ChunkSource, sides: Arc<Sides>, _running: mpsc::Sender<Infallible>) {
    let (proxied, (from, to)) = (&sides.proxied, sides.of(dir));
    loop {
        let datagram = tokio::select! {
            biased;
            datagram = from.read_datagram() => datagram,
            _ = to.closed() => return,
        };
        let Ok(datagram) = datagram else { return };
        if to.send_datagram(datagram.clone()).is_ok() {
            let queue = &proxied.recorder.queue;
            queue.datagram(proxied.now(), proxied.conn, dir, &datagram);
        } else {
            let mut lost = proxied.event(EventKind::Lost, dir);
            lost.more.insert("datagram".into(), true.into());
            lost.more.insert("len".into(), datagram.len().into());
            proxied.record(lost);
        }
    }
}

/// Records changes of the client's address.
async fn migrations(sides: &Sides) -> Infallible {
    let mut address = sides.client.remote_address();
    loop {
        tokio::time::sleep(MIGRATION).await;
        let now = sides.client.remote_address();
        if now != address {
            address = now;
            let mut event = sides.proxied.event(EventKind::Migrate, ChunkSource::C2s);
            event.more.insert("peer".into(), now.to_string().into());
            sides.proxied.record(event);
        }
    }
}
