//! QUIC connections of a handler: each stream is a connection of its own, with the queue and the pumps of a socket.
//!
//! ```text
//!   handler --Send(stream 4)--> opener --> open 0, 4 --> write_parts     streams are opened in the order of their ids
//!   handler <--Accepted, Received, Eof-- read_until_end <-- accept
//! ```

use super::QUIC_CLOSE_TIMEOUT;
use super::config::{Grant, QuicClient, QuicServer, dialer};
use super::delivery::delivered;
use super::errors::{add_close, code_of};
use crate::capture::{ChunkSource, EventKind};
use crate::live::handler::Ended;
use crate::protocol::Channel;
use crate::transport::address::Address;
use crate::transport::connection::{
    Connection, ConnectionEvent, STALL_TIMEOUT, WriteEnd, WriteQueue,
};
use crate::transport::socket_io::{read_until_end, write_parts};
use quinn::{ConnectionError, Dir, RecvStream, SendStream, VarInt};
use std::io;
use std::sync::Arc;
use tokio::sync::mpsc::{Receiver, Sender, UnboundedReceiver, channel, unbounded_channel};
use tokio::task::JoinSet;

/// The handles of a stream. One that is dropped before its connection ends sends a FIN or `STOP_SENDING`.
type Handles = (Option<SendStream>, Option<RecvStream>);
/// A stream with its handles, open in QUIC.
type Opened = (Arc<Connection>, Handles);

/// Number of streams that may be open before they are served.
const MAX_UNSERVED: usize = 32;

/// Performs the handshake with a client, and serves it.
pub(in crate::transport) async fn accept(
    incoming: quinn::Incoming,
    server: &QuicServer,
    connection: &Arc<Connection>,
) {
    let accepted = tokio::select! {
        biased;
        () = connection.wait_for_abandonment() => return connection.end_unopened().await,
        accepted = server.accept(incoming) => accepted,
    };
    match accepted {
        Ok((quic, _)) => serve(&quic, server.limits.streams, connection).await,
        Err(why) => connection.fail(&why).await,
    }
}

/// Connects to a server, and serves the connection.
pub(in crate::transport) async fn connect(
    to: &Address,
    client: &QuicClient,
    alpn: &[String],
    connection: &Arc<Connection>,
) {
    connection.record_event(connection.event(EventKind::Open));
    let dialer = match dialer() {
        Ok(dialer) => dialer,
        Err(error) => return connection.refuse(to, &error.to_string()).await,
    };
    let connected = tokio::select! {
        biased;
        () = connection.wait_for_abandonment() => return connection.end_unopened().await,
        connected = client.connect(&dialer, to, alpn) => connected,
    };
    match connected {
        Ok(quic) => serve(&quic, client.limits.streams, connection).await,
        Err(why) => connection.refuse(to, &why).await,
    }
    let _ = tokio::time::timeout(QUIC_CLOSE_TIMEOUT, dialer.wait_idle()).await;
}

/// Serves the streams of a connection until it ends. Records and reports the end.
async fn serve(quic: &quinn::Connection, max_streams: u32, connection: &Arc<Connection>) {
    // The driver cannot wait, so it is slowed down instead: by the number of streams that wait here.
    let (opener, wanted) = unbounded_channel();
    let (opened_streams, mut ready) = channel(MAX_UNSERVED);
    let _ = connection.opener.set(opener);
    connection.emit(ConnectionEvent::Opened).await;
    let mut streams = JoinSet::new();
    let opening = open_streams(quic.clone(), Arc::clone(connection), wanted, opened_streams);
    let opening = tokio::spawn(opening);
    let closing = async {
        tokio::select! {
            end = connection.wait_for(WriteQueue::close_requested) => end,
            () = connection.wait_for_stall() => WriteEnd::Close,
        }
    };
    tokio::pin!(closing);
    let mut skipped = Vec::new();
    let mut grants = [Dir::Bi, Dir::Uni].map(|kind| Grant::new(kind, max_streams));
    let end = loop {
        let (stream, handles) = tokio::select! {
            biased;
            Some(stream) = ready.recv() => stream,
            Ok((send, receive)) = quic.accept_bi() => accepted(connection, (Some(send), Some(receive))).await,
            Ok(receive) = quic.accept_uni() => accepted(connection, (None, Some(receive))).await,
            end = &mut closing => break Some(end),
            _ = quic.closed() => break None,
            Some(ended) = streams.join_next() => {
                skipped.extend(ended.ok().flatten());
                continue;
            }
        };
        for grant in &mut grants {
            grant.extend(quic, streams.len());
        }
        let quic = quic.clone();
        streams.spawn(async move { serve_stream(&quic, &stream, handles).await });
    };
    if end == Some(WriteEnd::Reset) {
        quic.close(VarInt::from_u32(0), b"");
    }
    // A handle that is dropped before the close sends `STOP_SENDING`, which nobody wanted.
    let finishing = async {
        while let Some(ended) = streams.join_next().await {
            skipped.extend(ended.ok().flatten());
        }
    };
    if tokio::time::timeout(STALL_TIMEOUT, finishing)
        .await
        .is_err()
    {
        let conn = connection.conn;
        connection.print(&format!(
            "connection {conn}: the other side does not take what it was sent: cut"
        ));
    }
    if end == Some(WriteEnd::Close) {
        delivered(quic, STALL_TIMEOUT).await;
    }
    let ended = record_end(quic, connection);
    drop((streams, skipped));
    abandon_unserved(ready).await;
    let _ = opening.await;
    connection.report_end(ended).await;
}

/// Closes the connection if it is open, and records its end.
fn record_end(quic: &quinn::Connection, connection: &Connection) -> Ended {
    match quic.close_reason() {
        None => {
            quic.close(VarInt::from_u32(0), b"");
            connection.closed(true);
            Ended::Closed
        }
        Some(ConnectionError::LocallyClosed) => connection.end_by_us(),
        Some(reason) => {
            let mut close = connection.stream_event(EventKind::Close, connection.theirs);
            if let Some(error) = add_close(&mut close, &reason) {
                connection.print(&format!("connection {}: {error}", connection.conn));
            }
            connection.ended(close);
            match reason {
                ConnectionError::ApplicationClosed(_) => Ended::Closed,
                _ => Ended::Reset,
            }
        }
    }
}

/// Opens streams in the order of their ids until the connection has ended.
async fn open_streams(
    quic: quinn::Connection,
    connection: Arc<Connection>,
    mut wanted: UnboundedReceiver<Arc<Connection>>,
    opened: Sender<Opened>,
) {
    // The handles of skipped streams stay until the connection has ended.
    let mut skipped = Vec::new();
    loop {
        let stream = tokio::select! {
            biased;
            _ = quic.closed() => break,
            Some(stream) = wanted.recv() => stream,
            else => break,
        };
        let handles = open(&quic, stream.stream, &mut skipped).await;
        connection.change(WriteQueue::stream_opened);
        let unserved = match handles {
            Some(handles) => match opened.send((stream, handles)).await {
                Ok(()) => continue,
                Err(unserved) => unserved.0.0,
            },
            None => stream,
        };
        abandon(&unserved).await;
    }
    wanted.close();
    while let Some(stream) = wanted.recv().await {
        abandon(&stream).await;
    }
}

/// Opens the stream with this id. One that is skipped is opened, too, and stays unused. Returns `None` if the connection
/// has ended.
async fn open(
    quic: &quinn::Connection,
    id: Option<u64>,
    skipped: &mut Vec<Handles>,
) -> Option<Handles> {
    let id = id?;
    loop {
        // Waits while the peer allows no more streams.
        let handles: Handles = if id & 2 == 0 {
            let (send, receive) = quic.open_bi().await.ok()?;
            (Some(send), Some(receive))
        } else {
            (Some(quic.open_uni().await.ok()?), None)
        };
        let next: u64 = handles.0.as_ref()?.id().into();
        if next >= id {
            return Some(handles);
        }
        skipped.push(handles);
    }
}

/// Reports streams that were opened too late to be served.
async fn abandon_unserved(mut ready: Receiver<Opened>) {
    ready.close();
    while let Some((stream, _)) = ready.recv().await {
        abandon(&stream).await;
    }
}

/// Reports a stream that the connection did not outlive.
async fn abandon(stream: &Arc<Connection>) {
    stream.discard_as_lost();
    stream.report_end(Ended::Closed).await;
}

/// Announces a stream that the peer has opened.
async fn accepted(connection: &Arc<Connection>, handles: Handles) -> Opened {
    let id = handles.1.as_ref().map(|receive| receive.id().into());
    let channel = Channel {
        conn: connection.conn,
        stream: id,
    };
    let stream = Connection::new(channel, connection.ours, &connection.common);
    stream.emit(ConnectionEvent::Accepted).await;
    (stream, handles)
}

/// Reads and writes until both directions or the connection have ended. Returns the handles that are still needed.
async fn serve_stream(
    quic: &quinn::Connection,
    stream: &Arc<Connection>,
    (mut send, mut receive): Handles,
) -> Option<Handles> {
    let reading = async {
        let Some(from) = &mut receive else { return };
        match read_until_end(from, stream).await {
            Ok(()) => {
                stream.eof(stream.theirs, false);
                stream.emit(ConnectionEvent::Eof).await;
                receive = None;
            }
            Err(error) => record_code(EventKind::Reset, stream.theirs, &error, stream),
        }
    };
    let writing = async {
        let Some(to) = &mut send else { return };
        let written = tokio::select! {
            written = write_parts(to, stream) => written,
            _ = quic.closed() => Err(io::ErrorKind::ConnectionAborted.into()),
        };
        match written {
            // A close of the connection sends no FIN.
            Ok(()) if stream.finishes() => {
                let _ = to.finish();
                stream.eof(stream.ours, false);
                send = None;
            }
            Ok(()) => {}
            Err(error) => {
                record_code(EventKind::Stop, stream.ours, &error, stream);
                stream.discard_unsent();
            }
        }
    };
    let closing = stream.wait_for(|s| {
        let is_written = !s.has_parts() && s.end >= Some(WriteEnd::Close);
        is_written.then_some(())
    });
    tokio::select! {
        biased;
        ((), ()) = async { tokio::join!(reading, writing) } => {}
        () = closing => {}
    }
    stream.report_end(Ended::Closed).await;
    (send.is_some() || receive.is_some()).then_some((send, receive))
}

/// Records the code with which the peer has ended one direction of a stream.
fn record_code(what: EventKind<'_>, dir: ChunkSource, error: &io::Error, stream: &Connection) {
    if let Some(code) = code_of(error) {
        let mut event = stream.stream_event(what, dir);
        event.more.insert("code".into(), code.into());
        stream.record_event(event);
    }
}
