//! A handler's connection over a socket.
//!
//! ```text
//!   reader --> recording --> events          at most one read is held, and none while much waits to be written
//!   writer <-- parts, then shut, close or cut
//! ```

use super::connection::{Connection, ConnectionEvent, End};
use super::pump::{BUFFER, READ};
use super::socket::{MOMENT, Reader, Socket, Writer};
use crate::live::handler::Ended;
use std::future::poll_fn;
use std::io;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Waker, ready};
use tokio::io::{AsyncRead as _, AsyncWrite as _, ReadBuf};
use tokio::time::Instant;

/// How it came to its end.
enum How {
    /// In order; whether we did not wait for the other side's end.
    Closed(bool),
    /// The other side cut it.
    Broken,
    /// We were told to cut it.
    Cut,
    /// The other side does not take what it was sent.
    Stuck,
}

/// Reads and writes until it is over; records and tells how.
pub(super) async fn serve_socket(mut socket: Socket, connection: &Arc<Connection>) {
    let how = {
        let (mut reader, mut writer) = socket.split();
        let how = both(&mut reader, &mut writer, connection).await;
        if let How::Cut = how {
            spill(&mut writer, connection);
        }
        how
    };
    let ended = match how {
        How::Closed(ours) => {
            drop(socket);
            connection.closed(ours);
            Ended::Closed
        }
        How::Broken => {
            drop(socket);
            connection.reset(false);
            Ended::Reset
        }
        How::Cut => {
            if connection.is_stopped() {
                connection.give_up();
                drop(socket);
            } else {
                socket.reset();
            }
            connection.cut_off()
        }
        How::Stuck => {
            socket.reset();
            let conn = connection.conn;
            connection.say(&format!(
                "connection {conn}: the other side does not take what it was sent: cut"
            ));
            connection.give_up();
            connection.reset(true);
            Ended::Reset
        }
    };
    connection.over(ended).await;
}

/// How far writing has come.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Said {
    Some,
    /// All, and the other side was told so.
    All,
    /// It takes no more.
    Refused,
}

async fn both(
    reader: &mut Reader<'_>,
    writer: &mut Writer<'_>,
    connection: &Arc<Connection>,
) -> How {
    let mut hearing = pin!(hear(reader, connection));
    let mut speaking = pin!(speak(writer, connection));
    let mut heard: Option<&mut Reader<'_>> = None;
    let (mut said, mut until) = (Said::Some, None);
    loop {
        tokio::select! {
            biased;
            () = connection.cut() => return How::Cut,
            said_all = &mut speaking, if said == Said::Some => {
                said = if said_all.is_ok() { Said::All } else { Said::Refused };
                if said == Said::Refused {
                    connection.lose();
                    until = Some(Instant::now() + MOMENT);
                }
            }
            all = &mut hearing, if heard.is_none() => match all {
                Ok(reader) => heard = Some(reader),
                Err(_) => return How::Broken,
            },
            // What the other side had on its way would otherwise come back to it as a reset.
            () = connection.until(|s| (s.end >= Some(End::Close)).then_some(())), if said == Said::All && until.is_none() => {
                until = Some(Instant::now() + MOMENT);
            }
            () = passed(until) => return match said {
                Said::Refused => How::Broken,
                Said::Some | Said::All => How::Closed(true),
            },
            () = connection.patience(), if said == Said::Some => return How::Stuck,
            () = broken(heard.as_deref()) => return How::Broken,
        }
        match said {
            Said::All if heard.is_some() => return How::Closed(false),
            Said::Refused if heard.is_some() => return How::Broken,
            _ => {}
        }
    }
}

async fn broken(reader: Option<&Reader<'_>>) {
    match reader {
        Some(reader) => reader.broken().await,
        None => std::future::pending().await,
    }
}

async fn passed(until: Option<Instant>) {
    match until {
        Some(until) => tokio::time::sleep_until(until).await,
        None => std::future::pending().await,
    }
}

/// Hears until the other side says no more.
async fn hear<'r, 's>(
    from: &'r mut Reader<'s>,
    connection: &Arc<Connection>,
) -> io::Result<&'r mut Reader<'s>> {
    loop {
        connection.calm().await;
        let bytes = poll_fn(|context| {
            BUFFER.with_borrow_mut(|buffer| {
                let mut room = ReadBuf::new(buffer);
                ready!(Pin::new(&mut *from).poll_read(context, &mut room))?;
                Poll::Ready(io::Result::Ok(room.filled().to_vec()))
            })
        });
        let bytes = bytes.await?;
        if bytes.is_empty() {
            connection.eof(connection.theirs, from.is_torn());
            connection.tell(ConnectionEvent::Eof).await;
            return Ok(from);
        }
        connection.record(connection.theirs, &bytes).await;
        connection.tell(ConnectionEvent::Received(bytes)).await;
    }
}

/// Writes what is given, until nothing more will be; then says so.
async fn speak(to: &mut Writer<'_>, connection: &Connection) -> io::Result<()> {
    let queue = &connection.common.recorder.queue;
    let next = || connection.until(|s| (s.has_parts() || s.end.is_some()).then(|| s.has_parts()));
    while next().await {
        queue.open(connection.conn, connection.ours, READ).await;
        poll_fn(|context| write(to, connection, context)).await?;
        if to.keeps() {
            poll_fn(|context| Pin::new(&mut *to).poll_flush(context)).await?;
        }
    }
    // That it cannot be said any more shows elsewhere, where it matters.
    let _ = poll_fn(|context| Pin::new(&mut *to).poll_shutdown(context)).await;
    connection.eof(connection.ours, false);
    Ok(())
}

/// Writes something, and puts it down before anything else can happen; nothing where that has no room.
fn write(
    to: &mut Writer<'_>,
    connection: &Connection,
    context: &mut Context<'_>,
) -> Poll<io::Result<()>> {
    let (conn, queue) = (connection.conn, &connection.common.recorder.queue);
    connection.try_write(READ, |bytes| {
        if !queue.is_open(conn, connection.ours, bytes.len()) {
            return Poll::Ready(Ok(0));
        }
        let sent = ready!(Pin::new(to).poll_write(context, bytes))?;
        if sent == 0 {
            return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
        }
        let bytes = bytes.get(..sent).unwrap_or_default();
        // There is room, unless a child's stderr has just taken it.
        queue.give_blocking(connection.touch(), conn, connection.ours, bytes);
        Poll::Ready(Ok(sent))
    })
}

/// Before it is cut: what is taken without waiting.
fn spill(to: &mut Writer<'_>, connection: &Connection) {
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
