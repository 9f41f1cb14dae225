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
//! a handle that is dropped earlier sends a FIN or `STOP_SENDING` that no peer has sent.

use super::delivery::delivered;
use super::errors::{add_close, closed};
use super::faults::{ForwardEnd, StreamFaults};
use super::link::Link;
use crate::capture::{ChunkSource, EventKind, EventRecord};
use crate::conversation::tap::event;
use crate::live::handler::Channel;
use crate::transport::inserts::Insert;
use quinn::{Connection, ReadError, RecvStream, SendStream, VarInt};
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;

/// Maximum number of bytes of one read.
const READ: usize = 64 << 10;
/// Time limit for the delivery of what was received before a close.
const DELIVERY: Duration = Duration::from_secs(5);
/// Interval at which the address of a peer is compared with the last one.
const MIGRATION: Duration = Duration::from_millis(250);

/// One of the two connections.
#[derive(Clone)]
struct Side {
    connection: Connection,
    /// The direction of the bytes that its peer sends.
    dir: ChunkSource,
}

/// Stream handles that must outlive the close of their connections.
type Handles = Vec<(Option<SendStream>, Option<RecvStream>)>;

/// Relays until one side closes or `stop` returns; passes the close on. Returns the event that ends the recording of the
/// connection.
pub(in crate::transport) async fn relay(
    client: Connection,
    server: Connection,
    link: Arc<Link>,
    stop: impl Future<Output = ()>,
) -> EventRecord {
    let client = Side {
        connection: client,
        dir: ChunkSource::C2s,
    };
    let server = Side {
        connection: server,
        dir: ChunkSource::S2c,
    };
    let mut tasks = JoinSet::new();
    for (from, to) in [(&client, &server), (&server, &client)] {
        tasks.spawn(bidirectional(from.clone(), to.clone(), Arc::clone(&link)));
        tasks.spawn(unidirectional(from.clone(), to.clone(), Arc::clone(&link)));
        tasks.spawn(datagrams(from.clone(), to.clone(), Arc::clone(&link)));
    }
    let watch = migrations(&client, &link);
    let (ended, other, reason) = tokio::select! {
        biased;
        reason = client.connection.closed() => (&client, &server, reason),
        reason = server.connection.closed() => (&server, &client, reason),
        () = watch => return link.event(EventKind::Close, ChunkSource::C2s),
        () = stop => {
            for side in [&client, &server] {
                side.connection.close(VarInt::from_u32(0), b"");
            }
            let mut close = event(EventKind::Close, link.now(), link.conn);
            close.more.insert("by".into(), "wiretool".into());
            return close;
        }
        code = link.wait_for_fault() => {
            // What precedes the message is delivered.
            tokio::join!(
                delivered(&client.connection, DELIVERY),
                delivered(&server.connection, DELIVERY)
            );
            for side in [&client, &server] {
                side.connection.close(code, b"");
            }
            let mut close = event(EventKind::Close, link.now(), link.conn);
            close.more.insert("by".into(), "wiretool".into());
            close.more.insert("code".into(), code.into_inner().into());
            return close;
        }
    };
    // Streams first deliver what they have received.
    let mut handles: Handles = Vec::new();
    let all = async {
        while let Some(done) = tasks.join_next().await {
            handles.extend(done.unwrap_or_default());
        }
    };
    let is_late = tokio::time::timeout(DELIVERY, all).await.is_err();
    delivered(&other.connection, DELIVERY).await;
    let (code, text) = closed(&reason);
    other.connection.close(code, text.as_bytes());
    // A task that is late drops its handles here, after the close.
    drop(tasks);
    drop(handles);
    let mut close = link.event(EventKind::Close, ended.dir);
    if let Some(error) = add_close(&mut close, &reason) {
        (link.print)(&format!("connection {}: {error}", link.conn));
    }
    if is_late {
        (link.print)(&format!(
            "connection {}: the peer did not read the last data within {} s",
            link.conn,
            DELIVERY.as_secs()
        ));
    }
    close
}

/// Mirrors the bidirectional streams that the peer of `from` opens.
async fn bidirectional(from: Side, to: Side, link: Arc<Link>) -> Handles {
    let mut pumps = Pumps::default();
    loop {
        let accepted = pumps
            .accept(from.connection.accept_bi(), &to.connection)
            .await;
        let Some((answer, request)) = accepted else {
            break;
        };
        // Waits while the other side allows no more streams.
        let Ok((forward, reply)) = to.connection.open_bi().await else {
            pumps.handles.push((Some(answer), Some(request)));
            break;
        };
        let stream = forward.id().into();
        pumps.spawn(pump(request, forward, from.dir, stream, &to, &link));
        pumps.spawn(pump(reply, answer, to.dir, stream, &from, &link));
    }
    pumps.finish().await
}

/// Mirrors the unidirectional streams that the peer of `from` opens.
async fn unidirectional(from: Side, to: Side, link: Arc<Link>) -> Handles {
    let mut pumps = Pumps::default();
    loop {
        let accepted = pumps
            .accept(from.connection.accept_uni(), &to.connection)
            .await;
        let Some(request) = accepted else {
            break;
        };
        let Ok(forward) = to.connection.open_uni().await else {
            pumps.handles.push((None, Some(request)));
            break;
        };
        let stream = forward.id().into();
        pumps.spawn(pump(request, forward, from.dir, stream, &to, &link));
    }
    pumps.finish().await
}

/// The running pumps of one kind of stream, and the handles that must outlive them.
#[derive(Default)]
struct Pumps {
    running: JoinSet<Option<(SendStream, RecvStream)>>,
    handles: Handles,
}

impl Pumps {
    fn spawn(
        &mut self,
        pump: impl Future<Output = Option<(SendStream, RecvStream)>> + Send + 'static,
    ) {
        self.running.spawn(pump);
    }

    fn ended(&mut self, handles: Option<(SendStream, RecvStream)>) {
        if let Some((send, receive)) = handles {
            self.handles.push((Some(send), Some(receive)));
        }
    }

    /// The next stream; `None` after the end of either connection. Streams that arrived before the end are still returned.
    async fn accept<T>(
        &mut self,
        next: impl Future<Output = Result<T, quinn::ConnectionError>>,
        to: &Connection,
    ) -> Option<T> {
        tokio::pin!(next);
        loop {
            tokio::select! {
                biased;
                Some(ended) = self.running.join_next() => self.ended(ended.ok().flatten()),
                accepted = &mut next => return accepted.ok(),
                _ = to.closed() => return None,
            }
        }
    }

    async fn finish(mut self) -> Handles {
        while let Some(ended) = self.running.join_next().await {
            self.ended(ended.ok().flatten());
        }
        self.handles
    }
}

/// Forwards one direction of a stream to the peer of `side`. Returns the handles if a connection ended before the stream.
fn pump(
    mut from: RecvStream,
    mut to: SendStream,
    dir: ChunkSource,
    stream: u64,
    side: &Side,
    link: &Arc<Link>,
) -> impl Future<Output = Option<(SendStream, RecvStream)>> + Send + 'static {
    let (link, side) = (Arc::clone(link), side.connection.clone());
    let channel = Channel {
        conn: link.conn,
        stream: Some(stream),
    };
    async move {
        let mut faults = StreamFaults::new(&link, channel, dir, side);
        let ended = forward(&mut from, &mut to, dir, channel, &link, faults.as_mut()).await;
        if let Some(faults) = faults {
            faults.end();
        }
        match ended {
            ForwardEnd::Ended => None,
            ForwardEnd::Kept => Some((to, from)),
            ForwardEnd::Stopped(code) => {
                link.record(EventKind::Stop, dir, channel, Some(code));
                let _ = from.stop(code);
                None
            }
        }
    }
}

async fn forward(
    from: &mut RecvStream,
    to: &mut SendStream,
    dir: ChunkSource,
    channel: Channel,
    link: &Link,
    mut faults: Option<&mut StreamFaults<'_>>,
) -> ForwardEnd {
    let queue = &link.recorder.queue;
    let stopped = to.stopped();
    tokio::pin!(stopped);
    loop {
        let read = tokio::select! {
            biased;
            insert = next_insert(&mut faults) => {
                if let Some(faults) = &mut faults
                    && let Err(end) = faults.insert(link.now(), insert, from, to).await
                {
                    return end;
                }
                continue;
            }
            read = from.read_chunk(READ, true) => read,
            stopped = &mut stopped => {
                return match stopped {
                    Ok(Some(code)) => ForwardEnd::Stopped(code),
                    _ => ForwardEnd::Kept,
                };
            }
        };
        let t = link.now();
        let written = match read {
            Ok(Some(chunk)) => {
                // Recorded before the write, so that an answer never precedes its request.
                let outs = faults.as_ref().map(|faults| faults.push(t, &chunk.bytes));
                queue.offer_async(t, channel, dir, &chunk.bytes).await;
                match (&mut faults, outs) {
                    (Some(faults), Some(outs)) => faults.execute(outs, from, to).await,
                    _ => to.write_chunk(chunk.bytes).await.map_err(Into::into),
                }
            }
            Ok(None) => {
                let outs = faults.as_ref().map(|faults| faults.end());
                link.record(EventKind::Fin, dir, channel, None);
                if let (Some(faults), Some(outs)) = (&mut faults, outs) {
                    if let Err(end) = faults.execute(outs, from, to).await {
                        return end;
                    }
                    if faults.stalled {
                        return ForwardEnd::Kept;
                    }
                }
                let _ = to.finish();
                // Returns after the delivery.
                let _ = to.stopped().await;
                return ForwardEnd::Ended;
            }
            Err(ReadError::Reset(code)) => {
                link.record(EventKind::Reset, dir, channel, Some(code));
                let _ = to.reset(code);
                return ForwardEnd::Ended;
            }
            Err(_) => return ForwardEnd::Kept,
        };
        if let Err(end) = written {
            return end;
        }
    }
}

/// Waits for a message to add to this direction.
async fn next_insert(faults: &mut Option<&mut StreamFaults<'_>>) -> Insert {
    match faults {
        Some(faults) => faults.next_insert().await,
        None => std::future::pending().await,
    }
}

/// Forwards datagrams. One that the other side does not accept is recorded as lost.
async fn datagrams(from: Side, to: Side, link: Arc<Link>) -> Handles {
    loop {
        let datagram = tokio::select! {
            biased;
            datagram = from.connection.read_datagram() => datagram,
            _ = to.connection.closed() => break,
        };
        let Ok(datagram) = datagram else {
            break;
        };
        let len = datagram.len();
        if to.connection.send_datagram(datagram.clone()).is_ok() {
            let t = link.now();
            link.recorder
                .queue
                .datagram(t, link.conn, from.dir, &datagram);
        } else {
            let mut lost = link.event(EventKind::Lost, from.dir);
            lost.more.insert("datagram".into(), true.into());
            lost.more.insert("len".into(), len.into());
            link.recorder.queue.event(link.conn, lost);
        }
    }
    Handles::new()
}

/// Records changes of the client's address. Never returns.
async fn migrations(client: &Side, link: &Link) {
    let mut address = client.connection.remote_address();
    loop {
        tokio::time::sleep(MIGRATION).await;
        let now = client.connection.remote_address();
        if now != address {
            address = now;
            let mut event = link.event(EventKind::Migrate, ChunkSource::C2s);
            event.more.insert("peer".into(), now.to_string().into());
            link.recorder.queue.event(link.conn, event);
        }
    }
}
