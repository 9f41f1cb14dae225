//! The pump: one connection's bytes, both ways.
//!
//! ```text
//!   client --read--> write --> server        then, and only then, into the queue
//!   client <-- write <--read-- server
//! ```
//!
//! The end of one direction is passed on and the other goes on; a reset ends both. What could not be written is held
//! before anything more is read, so that a slow reader slows its sender and nobody else.

use super::faults::{Cut, Faults, injected};
use super::recorder::Recorder;
use super::socket::{Reader, Socket, Writer};
use crate::capture::Stream;
use crate::conversation::tap::eof;
use crate::inject::Out;
use std::cell::RefCell;
use std::future::poll_fn;
use std::io;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicI64, Ordering};
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead as _, AsyncWrite as _, ReadBuf};

/// Bytes of one read.
pub(super) const READ: usize = 64 << 10;

thread_local! {
    /// One for all connections: it is in use only while bytes go from one socket to the other.
    pub(super) static BUFFER: RefCell<Vec<u8>> = RefCell::new(vec![0; READ]);
}

/// How a connection ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    /// Both sides had said all.
    Close,
    /// It was cut; the side whose bytes go this way did it.
    Reset(Stream),
    /// A fault asked for it.
    Fault(Cut),
}

/// How one direction ended.
enum End<'s> {
    /// No more bytes came.
    Eof(Reader<'s>),
    /// The side that is read from cut it.
    Cut,
    /// The side that is written to takes no more.
    Refused,
    /// A fault ends the connection.
    Fault(Cut),
}

/// What one read brought.
enum Step {
    Eof,
    /// Nothing yet: there is no room in the queue.
    Full,
    Bytes {
        /// What could not be written at once.
        rest: Vec<u8>,
    },
    /// What faults make of it.
    Faulted(Vec<Out>),
}

/// What the pump knows of its connection.
pub(super) struct Link<'b> {
    pub(super) recorder: &'b Recorder,
    pub(super) conn: u32,
    /// When bytes last passed, in nanoseconds since the start.
    pub(super) pulse: &'b AtomicI64,
    pub(super) faults: Option<&'b Faults>,
}

/// Pumps until the connection has ended, and passes the end on.
pub(super) async fn relay(mut client: Socket, mut server: Socket, link: &Link<'_>) -> Ended {
    let ended = both(&mut client, &mut server, link).await;
    match ended {
        Ended::Reset(_) | Ended::Fault(Cut::Reset) => {
            client.reset();
            server.reset();
        }
        Ended::Fault(Cut::Close) => {
            // Apart, as every connection has room for the largest thing that may happen to it.
            Box::pin(async { tokio::join!(client.finish(), server.finish()) }).await;
        }
        Ended::Close => {}
    }
    if let Some(faults) = link.faults {
        faults.close(link.conn);
    }
    ended
}

async fn both(client: &mut Socket, server: &mut Socket, link: &Link<'_>) -> Ended {
    let (client_reader, client_writer) = client.split();
    let (server_reader, server_writer) = server.split();
    let mut up = pin!(one_way(client_reader, server_writer, Stream::C2s, link));
    let mut down = pin!(one_way(server_reader, client_writer, Stream::S2c, link));
    // How each direction has ended, and who is to blame for an end that was none.
    let (mut up_is, mut down_is, mut cut) = (Side::Open, Side::Open, None);
    loop {
        tokio::select! {
            biased;
            end = &mut up, if up_is.is_open() => match end {
                End::Eof(reader) => up_is = Side::Ended(reader),
                End::Cut => return Ended::Reset(Stream::C2s),
                End::Fault(cut) => return Ended::Fault(cut),
                End::Refused => {
                    up_is = Side::Refused;
                    cut = cut.or(Some(Stream::S2c));
                }
            },
            end = &mut down, if down_is.is_open() => match end {
                End::Eof(reader) => down_is = Side::Ended(reader),
                End::Cut => return Ended::Reset(Stream::S2c),
                End::Fault(cut) => return Ended::Fault(cut),
                End::Refused => {
                    down_is = Side::Refused;
                    cut = cut.or(Some(Stream::C2s));
                }
            },
            // Nobody reads any more from a side that has said all: that it breaks must be watched for.
            () = up_is.broken() => return Ended::Reset(Stream::C2s),
            () = down_is.broken() => return Ended::Reset(Stream::S2c),
        }
        if !up_is.is_open() && !down_is.is_open() {
            return cut.map_or(Ended::Close, Ended::Reset);
        }
    }
}

/// A side, as far as reading from it goes.
enum Side<'s> {
    Open,
    Ended(Reader<'s>),
    Refused,
}

impl Side<'_> {
    fn is_open(&self) -> bool {
        matches!(self, Self::Open)
    }

    async fn broken(&self) {
        match self {
            Self::Ended(reader) => reader.broken().await,
            _ => std::future::pending().await,
        }
    }
}

async fn one_way<'s>(
    mut from: Reader<'s>,
    mut to: Writer<'_>,
    stream: Stream,
    link: &Link<'_>,
) -> End<'s> {
    // Whether what is read next goes on though nobody will see it.
    let mut unseen = false;
    let mut way = Way::default();
    loop {
        let queue = &link.recorder.queue;
        let step = poll_fn(|context| {
            if !unseen && !queue.is_open(link.conn, stream, READ) {
                return Poll::Ready(Ok(Ok(Step::Full)));
            }
            step(&mut from, &mut to, stream, link, context)
        });
        let step = step.await;
        unseen = false;
        match step {
            // What nobody has read need not be held.
            Ok(Ok(Step::Full)) => unseen = !queue.open(link.conn, stream, READ).await,
            Ok(Ok(Step::Eof)) => {
                let faults = link.faults.filter(|f| f.watch(stream));
                let last = faults.map(|faults| tell(faults.end(link.conn, stream), link));
                let eof = eof(link.recorder.queue.now(), link.conn, stream, from.is_torn());
                link.recorder.queue.event(link.conn, eof);
                if let Some(last) = last
                    && let Some(end) = way.go(last, &mut from, &mut to).await
                {
                    return end;
                }
                if !way.stalled {
                    let _ = poll_fn(|context| Pin::new(&mut to).poll_shutdown(context)).await;
                }
                return End::Eof(from);
            }
            Ok(Ok(Step::Bytes { rest })) => {
                if !rest.is_empty() && write(&mut to, &rest).await.is_err()
                    || to.keeps() && flush(&mut to).await.is_err()
                {
                    from.refuse();
                    return End::Refused;
                }
            }
            Ok(Ok(Step::Faulted(out))) => {
                if let Some(end) = way.go(out, &mut from, &mut to).await {
                    return end;
                }
            }
            Ok(Err(_)) => {
                from.refuse();
                return End::Refused;
            }
            Err(_) => return End::Cut,
        }
    }
}

/// One read, and the write that belongs to it. The outer error is of the side that is read from.
fn step(
    from: &mut Reader<'_>,
    to: &mut Writer<'_>,
    stream: Stream,
    link: &Link<'_>,
    context: &mut Context<'_>,
) -> Poll<io::Result<io::Result<Step>>> {
    BUFFER.with_borrow_mut(|buffer| {
        let mut room = ReadBuf::new(buffer);
        ready!(Pin::new(from).poll_read(context, &mut room))?;
        let bytes = room.filled();
        if bytes.is_empty() {
            return Poll::Ready(Ok(Ok(Step::Eof)));
        }
        let queue = &link.recorder.queue;
        if let Some(faults) = link.faults.filter(|faults| faults.watch(stream)) {
            let t = queue.now();
            link.pulse.store(t, Ordering::Relaxed);
            let out = tell(faults.push(t, link.conn, stream, bytes), link);
            queue.offer(t, link.conn, stream, bytes, true);
            return Poll::Ready(Ok(Ok(Step::Faulted(out))));
        }
        let sent = match Pin::new(to).poll_write(context, bytes) {
            Poll::Ready(Ok(sent)) => Ok(sent),
            Poll::Pending => Ok(0),
            Poll::Ready(Err(error)) => Err(error),
        };
        let t = queue.now();
        link.pulse.store(t, Ordering::Relaxed);
        // There is room, or there is to be none.
        queue.offer(t, link.conn, stream, bytes, true);
        Poll::Ready(Ok(sent.map(|sent| Step::Bytes {
            rest: bytes.get(sent..).unwrap_or_default().to_vec(),
        })))
    })
}

/// A direction in which things go wrong on purpose.
#[derive(Default)]
struct Way {
    /// Nothing goes out any more, not even the end.
    stalled: bool,
}

impl Way {
    /// Does what faults ask for; says how the direction ends, where it does.
    async fn go<'s>(
        &mut self,
        outs: Vec<Out>,
        from: &mut Reader<'s>,
        to: &mut Writer<'_>,
    ) -> Option<End<'s>> {
        for out in outs {
            match out {
                Out::Bytes(bytes) => {
                    if write(to, &bytes).await.is_err() {
                        from.refuse();
                        return Some(End::Refused);
                    }
                }
                Out::Wait(ns) => {
                    // What was written before the wait is not to wait.
                    let _ = flush(to).await;
                    tokio::time::sleep(std::time::Duration::from_nanos(ns)).await;
                }
                // It was told before the bytes.
                Out::Told(_) => {}
                Out::Close => return Some(End::Fault(Cut::Close)),
                Out::Reset => return Some(End::Fault(Cut::Reset)),
                Out::Stall => self.stalled = true,
            }
        }
        if to.keeps() && flush(to).await.is_err() {
            from.refuse();
            return Some(End::Refused);
        }
        None
    }
}

/// Records what is done to messages before the bytes that complete them: whoever reads the recording knows it in time.
fn tell(outs: Vec<Out>, link: &Link<'_>) -> Vec<Out> {
    let queue = &link.recorder.queue;
    let tell = |out| match out {
        Out::Told(more) => {
            queue.event(link.conn, injected(queue.now(), link.conn, more));
            None
        }
        out => Some(out),
    };
    outs.into_iter().filter_map(tell).collect()
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
