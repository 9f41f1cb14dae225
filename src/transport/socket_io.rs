//! A connection of a handler over a socket.
//!
//! ```text
//!   reader --> recording --> events          at most one read is buffered, none while much waits to be written
//!   writer <-- parts, then shut, close or cut
//! ```

use super::connection::{Connection, ConnectionEvent, WriteEnd};
use super::pump::{BUFFER, READ_SIZE};
use super::socket::{CLOSE_TIMEOUT, Reader, Socket, Writer};
use crate::live::handler::Ended;
use std::future::poll_fn;
use std::io;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Waker, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Instant;

/// The end of a connection.
enum SocketEnd {
    /// A regular end; `true` if we did not wait for the end of the peer.
    Closed(bool),
    /// The peer reset the connection.
    ResetByPeer,
    /// The handler reset the connection.
    ResetByUs,
    /// The peer does not read.
    Stalled,
}

/// Reads and writes until the connection ends. Records and reports the end.
pub(super) async fn serve_socket(mut socket: Socket, connection: &Arc<Connection>) {
    let how = {
        let (mut reader, mut writer) = socket.split();
        let how = read_and_write(&mut reader, &mut writer, connection).await;
        if let SocketEnd::ResetByUs = how {
            write_available(&mut writer, connection);
        }
        how
    };
    let ended = match how {
        SocketEnd::Closed(ours) => {
            drop(socket);
            connection.closed(ours);
            Ended::Closed
        }
        SocketEnd::ResetByPeer => {
            drop(socket);
            connection.reset(false);
            Ended::Reset
        }
        SocketEnd::ResetByUs => {
            if connection.is_stopped() {
                connection.discard_as_lost();
                drop(socket);
            } else {
                socket.reset();
            }
            connection.end_by_us()
        }
        SocketEnd::Stalled => {
            socket.reset();
            let conn = connection.conn;
            connection.print(&format!(
                "connection {conn}: the other side does not read its data: closed"
            ));
            connection.discard_as_lost();
            connection.reset(true);
            Ended::Reset
        }
    };
    connection.report_end(ended).await;
}

/// The state of the writing.
#[derive(Clone, Copy, PartialEq, Eq)]
enum WriteProgress {
    Partial,
    /// Everything is written, and our direction has ended.
    Complete,
    /// The peer takes no more.
    Refused,
}

async fn read_and_write(
    reader: &mut Reader<'_>,
    writer: &mut Writer<'_>,
    connection: &Arc<Connection>,
) -> SocketEnd {
    let mut reading = pin!(async {
        read_until_end(reader, connection).await?;
        connection.eof(connection.theirs, reader.is_truncated());
        connection.emit(ConnectionEvent::Eof).await;
        io::Result::Ok(reader)
    });
    let mut writing = pin!(async {
        write_parts(writer, connection).await?;
        // A failure matters only to the reading side, which reports it.
        let _ = poll_fn(|context| Pin::new(&mut *writer).poll_shutdown(context)).await;
        connection.eof(connection.ours, false);
        io::Result::Ok(())
    });
    let mut read_ended: Option<&mut Reader<'_>> = None;
    let (mut progress, mut until) = (WriteProgress::Partial, None);
    loop {
        tokio::select! {
            biased;
            () = connection.wait_for_reset() => return SocketEnd::ResetByUs,
            all_written = &mut writing, if progress == WriteProgress::Partial => {
                progress = if all_written.is_ok() { WriteProgress::Complete } else { WriteProgress::Refused };
                if progress == WriteProgress::Refused {
                    connection.discard_unsent();
                    until = Some(Instant::now() + CLOSE_TIMEOUT);
                }
            }
            all = &mut reading, if read_ended.is_none() => match all {
                Ok(reader) => read_ended = Some(reader),
                Err(_) => return SocketEnd::ResetByPeer,
            },
            // Without this wait, bytes of the peer that are on their way cause a reset.
            () = connection.wait_for(|s| (s.end >= Some(WriteEnd::Close)).then_some(())), if progress == WriteProgress::Complete && until.is_none() => {
                until = Some(Instant::now() + CLOSE_TIMEOUT);
            }
            () = wait_until(until) => return match progress {
                WriteProgress::Refused => SocketEnd::ResetByPeer,
                WriteProgress::Partial | WriteProgress::Complete => SocketEnd::Closed(true),
            },
            () = connection.wait_for_stall(), if progress == WriteProgress::Partial => return SocketEnd::Stalled,
            () = wait_for_error(read_ended.as_deref()) => return SocketEnd::ResetByPeer,
        }
        match progress {
            WriteProgress::Complete if read_ended.is_some() => return SocketEnd::Closed(false),
            WriteProgress::Refused if read_ended.is_some() => return SocketEnd::ResetByPeer,
            _ => {}
        }
    }
}

async fn wait_for_error(reader: Option<&Reader<'_>>) {
    match reader {
        Some(reader) => reader.wait_for_error().await,
        None => std::future::pending().await,
    }
}

async fn wait_until(until: Option<Instant>) {
    match until {
        Some(until) => tokio::time::sleep_until(until).await,
        None => std::future::pending().await,
    }
}

/// Reads until the peer ends its direction.
pub(super) async fn read_until_end(
    from: &mut (impl AsyncRead + Unpin),
    connection: &Arc<Connection>,
) -> io::Result<()> {
    loop {
        connection.wait_until_readable().await;
        let bytes = poll_fn(|context| {
            BUFFER.with_borrow_mut(|buffer| {
                let mut space = ReadBuf::new(buffer);
                ready!(Pin::new(&mut *from).poll_read(context, &mut space))?;
                Poll::Ready(io::Result::Ok(space.filled().to_vec()))
            })
        });
        let bytes = bytes.await?;
        if bytes.is_empty() {
            return Ok(());
        }
        connection.record(connection.theirs, &bytes).await;
        connection.emit(ConnectionEvent::Received(bytes)).await;
    }
}

/// Writes the parts until their end.
pub(super) async fn write_parts(
    to: &mut (impl AsyncWrite + Unpin),
    connection: &Connection,
) -> io::Result<()> {
    let queue = &connection.common.recorder.queue;
    let next =
        || connection.wait_for(|s| (s.has_parts() || s.end.is_some()).then(|| s.has_parts()));
    while next().await {
        queue
            .wait_for_space(connection.channel(), connection.ours, READ_SIZE)
            .await;
        poll_fn(|context| write(to, connection, context)).await?;
        poll_fn(|context| Pin::new(&mut *to).poll_flush(context)).await?;
    }
    Ok(())
}

/// Writes a piece and records it before any other event. Writes nothing while the queue is full.
fn write(
    to: &mut (impl AsyncWrite + Unpin),
    connection: &Connection,
    context: &mut Context<'_>,
) -> Poll<io::Result<()>> {
    let (channel, queue) = (connection.channel(), &connection.common.recorder.queue);
    connection.try_write(READ_SIZE, |bytes| {
        if !queue.has_space(channel, connection.ours, bytes.len()) {
            return Poll::Ready(Ok(0));
        }
        let sent = ready!(Pin::new(to).poll_write(context, bytes))?;
        if sent == 0 {
            return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
        }
        let bytes = bytes.get(..sent).unwrap_or_default();
        // The queue has space, unless the stderr of a child has just taken it.
        queue.offer_blocking(connection.touch(), channel, connection.ours, bytes);
        Poll::Ready(Ok(sent))
    })
}

/// Before a reset: writes what the peer takes without waiting.
fn write_available(to: &mut Writer<'_>, connection: &Connection) {
    let mut context = Context::from_waker(Waker::noop());
    let mut before = usize::MAX;
    while connection.waiting() > 0 && connection.waiting() < before {
        before = connection.waiting();
        if !matches!(write(to, connection, &mut context), Poll::Ready(Ok(()))) {
            break;
        }
    }
    let _ = Pin::new(to).poll_flush(&mut context);
}
