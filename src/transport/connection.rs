//! A connection of a handler, or one of its streams: the queue of bytes to send and the events for the driver.
//!
//! ```text
//!   driver --send, shut, close, cut--> [ parts | end ] --> task that writes to the socket or the pipe
//!   driver <-------- events <------------------------------ task that reads from it
//! ```
//!
//! Back-pressure: while more than [`MAX_CONNECTION_ANSWERS`] bytes of answers wait to be written, a server does not read from that
//! connection. A client keeps reading up to [`MAX_CLIENT_ANSWERS`], because two sides that both stop reading block each other.
//! Unsolicited bytes do not stop the reading, but delay timers.

mod record;
mod write_queue;

use super::recorder::{MessagePrinter, Recorder};
use crate::capture::ChunkSource;
use crate::live::handler::Ended;
use crate::protocol::Channel;
use crate::system::{self, Signal};
use std::collections::VecDeque;
use std::io;
use std::sync::atomic::{AtomicI64, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::task::Poll;
use std::time::Duration;
use tokio::sync::{Notify, mpsc};
use tokio::time::Instant;

/// A server does not read from a connection while more bytes of answers than this wait there.
const MAX_CONNECTION_ANSWERS: usize = 1 << 20;
/// A server reads from no connection while more bytes of answers than this wait on any of them.
const MAX_ANSWERS: usize = 8 << 20;
/// [`MAX_ANSWERS`] for a client.
const MAX_CLIENT_ANSWERS: usize = 64 << 20;
/// A peer that closes its connection may leave this many bytes unread without a loss being reported.
const MAX_IGNORED_LOSS: usize = 4096;
/// Time limit for a peer that stops reading, and for a child that does not exit.
pub(super) const STALL_TIMEOUT: Duration = Duration::from_secs(5);

/// Timers are delayed while more bytes than this wait on a connection or for the screen.
pub(super) const MAX_WAITING: usize = 8 << 20;

/// Timers are delayed while more streams than this wait for the peer to allow them.
const MAX_UNOPENED: usize = 1 << 10;

/// An event of a connection, for the driver.
#[derive(Debug)]
pub(super) enum ConnectionEvent {
    /// The connection is open.
    Opened,
    /// The peer has opened this stream.
    Accepted,
    /// Bytes of the peer.
    Received(Vec<u8>),
    /// The peer has ended its direction.
    Eof,
    /// The connection has ended.
    Ended(Ended),
    /// The connection failed before the handler knew of it.
    Failed,
}

/// The action after all parts are written. A later variant overrides an earlier one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum WriteEnd {
    /// End our direction.
    Finish,
    /// Close both directions.
    Close,
    /// Reset the connection.
    Reset,
}

/// State that all connections share.
pub(super) struct Common {
    pub(super) recorder: Arc<Recorder>,
    pub(super) print: MessagePrinter,
    /// Number of connections on which more than [`MAX_WAITING`] bytes or [`MAX_UNOPENED`] streams wait.
    pub(super) full_queues: AtomicUsize,
    /// Number of connections on which too many bytes of answers wait.
    pub(super) full_answers: AtomicUsize,
    /// Notified when `full_queues` or `full_answers` decreases, and when the screen has written something.
    pub(super) space_freed: Notify,
    /// Time of the last transfer, in nanoseconds since the start.
    pub(super) last_transfer: AtomicI64,
    /// Number of bytes that were queued and that the peer did not take.
    pub(super) undelivered: AtomicU64,
    pub(super) events: mpsc::Sender<(Arc<Connection>, ConnectionEvent)>,
}

#[allow(clippy::struct_excessive_bools)] // each is a fact of its own
pub(super) struct WriteQueue {
    /// Bytes to write, and `true` if they answer a request.
    parts: VecDeque<(Vec<u8>, bool)>,
    /// Number of bytes of the first part that are written.
    done: usize,
    /// Number of bytes that are not written yet.
    waiting: usize,
    /// Number of bytes of answers that are not written yet.
    answers: usize,
    /// Number of streams of this connection that are not open yet.
    unopened: usize,
    pub(super) end: Option<WriteEnd>,
    /// Streams only: our direction ends after the last part. A close of the connection alone does not end it.
    finishes: bool,
    /// We close the connection, even if the peer continues.
    stopped: bool,
    /// Nothing more can be written.
    failed: bool,
    /// Time of the last write or command.
    last_progress: Instant,
    /// The end of the connection is recorded.
    ended: bool,
    /// The driver needs no more events.
    finished: bool,
    /// Pipes only: the peer has ended its direction.
    pub(super) read_ended: bool,
    /// Pipes only: `true` after everything was written, `false` after a write failed.
    pub(super) all_written: Option<bool>,
}

/// One connection, or one of its streams.
pub(super) struct Connection {
    pub(super) conn: u32,
    pub(super) stream: Option<u64>,
    /// Receives the streams of this connection that the handler opens.
    pub(super) opener: OnceLock<mpsc::UnboundedSender<Arc<Connection>>>,
    /// The direction that we write.
    pub(super) ours: ChunkSource,
    /// The direction that we read.
    pub(super) theirs: ChunkSource,
    pub(super) common: Arc<Common>,
    state: Mutex<WriteQueue>,
    changed: Condvar,
    /// [`Connection::changed`] for async code.
    changed_async: Notify,
    /// The process group that a child leads, until the child was waited for; otherwise 0.
    pub(super) group: AtomicU32,
}

impl Connection {
    pub(super) fn new(
        channel: impl Into<Channel>,
        ours: ChunkSource,
        common: &Arc<Common>,
    ) -> Arc<Self> {
        let Channel { conn, stream } = channel.into();
        let theirs = match ours {
            ChunkSource::C2s => ChunkSource::S2c,
            ChunkSource::S2c | ChunkSource::Stderr => ChunkSource::C2s,
        };
        Arc::new(Self {
            conn,
            stream,
            opener: OnceLock::new(),
            ours,
            theirs,
            common: Arc::clone(common),
            state: Mutex::new(WriteQueue {
                parts: VecDeque::new(),
                done: 0,
                waiting: 0,
                answers: 0,
                unopened: 0,
                end: None,
                finishes: false,
                stopped: false,
                failed: false,
                ended: false,
                finished: false,
                last_progress: Instant::now(),
                read_ended: false,
                all_written: None,
            }),
            changed: Condvar::new(),
            changed_async: Notify::new(),
            group: AtomicU32::new(0),
        })
    }

    pub(super) fn channel(&self) -> Channel {
        Channel {
            conn: self.conn,
            stream: self.stream,
        }
    }

    fn lock(&self) -> MutexGuard<'_, WriteQueue> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Limit of waiting answers, above which nothing is read from any connection.
    fn max_answers(&self) -> usize {
        match self.ours {
            ChunkSource::C2s => MAX_CLIENT_ANSWERS,
            ChunkSource::S2c | ChunkSource::Stderr => MAX_ANSWERS,
        }
    }

    /// Limit of waiting answers, above which nothing is read from this connection.
    fn max_connection_answers(&self) -> usize {
        match self.ours {
            ChunkSource::C2s => MAX_CLIENT_ANSWERS,
            ChunkSource::S2c | ChunkSource::Stderr => MAX_CONNECTION_ANSWERS,
        }
    }

    /// Changes the state and wakes all waiters.
    pub(super) fn change<T>(&self, change: impl FnOnce(&mut WriteQueue) -> T) -> T {
        let mut state = self.lock();
        let max_answers = self.max_answers();
        let is_much = |state: &WriteQueue| {
            let is_full = state.waiting > MAX_WAITING || state.unopened > MAX_UNOPENED;
            [is_full, state.answers > max_answers]
        };
        let before = is_much(&state);
        let changed = change(&mut state);
        let after = is_much(&state);
        drop(state);
        let counts = [&self.common.full_queues, &self.common.full_answers];
        for (count, pair) in counts.into_iter().zip(before.into_iter().zip(after)) {
            match pair {
                (false, true) => {
                    count.fetch_add(1, Ordering::Relaxed);
                }
                (true, false) => {
                    count.fetch_sub(1, Ordering::Relaxed);
                    self.common.space_freed.notify_one();
                }
                _ => {}
            }
        }
        self.changed.notify_all();
        self.changed_async.notify_waiters();
        changed
    }

    /// Waits until `condition` returns a value. Does not block the thread.
    pub(super) async fn wait_for<T>(
        &self,
        mut condition: impl FnMut(&WriteQueue) -> Option<T>,
    ) -> T {
        loop {
            let changed = self.changed_async.notified();
            tokio::pin!(changed);
            // From here on, no notification is lost.
            changed.as_mut().enable();
            let found = condition(&self.lock());
            if let Some(found) = found {
                return found;
            }
            changed.await;
        }
    }

    /// [`Connection::wait_for`] for a thread that may block.
    pub(super) fn wait_for_blocking<T>(
        &self,
        mut condition: impl FnMut(&mut WriteQueue) -> Option<T>,
    ) -> T {
        let mut state = self.lock();
        loop {
            if let Some(found) = condition(&mut state) {
                return found;
            }
            let waited = self.changed.wait(state);
            state = waited.unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Number of bytes that wait to be written.
    pub(super) fn waiting(&self) -> usize {
        self.lock().waiting
    }

    /// Returns `true` if the connection is to be reset, so that unread events no longer matter.
    pub(super) fn is_reset_requested(&self) -> bool {
        self.lock().end == Some(WriteEnd::Reset)
    }

    /// Returns `true` if our direction of a stream ends after the last part.
    pub(super) fn finishes(&self) -> bool {
        self.lock().finishes
    }

    /// Sends a signal to the process group of the child.
    pub(super) fn signal(&self, signal: Signal) {
        system::kill_group(self.group.load(Ordering::Relaxed), signal);
    }

    /// Queues bytes to send. Has no effect after an end.
    pub(super) fn send(&self, bytes: Vec<u8>, answer: bool) {
        self.change(|state| {
            if state.end.is_none() && !state.failed && !bytes.is_empty() {
                state.waiting += bytes.len();
                state.answers += if answer { bytes.len() } else { 0 };
                state.parts.push_back((bytes, answer));
            }
        });
    }

    /// Sets the action after the last part. The stronger action wins.
    pub(super) fn end(&self, end: WriteEnd) {
        self.change(|state| {
            state.finishes |= end == WriteEnd::Finish;
            if state.end < Some(end) {
                state.end = Some(end);
                state.last_progress = Instant::now();
            }
        });
    }

    /// Closes the connection because the whole run ends.
    pub(super) fn stop(&self) {
        self.change(|state| state.stopped = true);
        self.end(WriteEnd::Close);
    }

    /// Writes a piece of what waits; `write` returns the number of bytes that were written.
    pub(super) fn try_write(
        &self,
        most: usize,
        write: impl FnOnce(&[u8]) -> Poll<io::Result<usize>>,
    ) -> Poll<io::Result<()>> {
        let done = write(self.lock().front(most));
        if let Poll::Ready(Ok(bytes @ 1..)) = done {
            self.change(|state| state.consume(bytes));
        }
        done.map_ok(|_| ())
    }

    /// Drops what waits, because the peer has closed or we reset the connection.
    pub(super) fn discard_unsent(&self) {
        // A peer that closes may miss a short last part, but not the rest of a part. A deliberate reset is no loss.
        self.discard(|state| {
            let is_much = state.done > 0 || state.waiting > MAX_IGNORED_LOSS;
            is_much && state.end != Some(WriteEnd::Reset)
        });
    }

    /// Drops what waits, because the peer does not take it, and counts it as a loss.
    pub(super) fn discard_as_lost(&self) {
        self.discard(|_| true);
    }

    /// Drops what waits; `counts` decides if it is a loss.
    fn discard(&self, counts: impl FnOnce(&WriteQueue) -> bool) {
        self.change(|state| {
            if counts(state) {
                let waiting = state.waiting as u64;
                self.common
                    .undelivered
                    .fetch_add(waiting, Ordering::Relaxed);
            }
            state.failed = true;
            state.parts.clear();
            state.done = 0;
            state.waiting = 0;
            state.answers = 0;
            state.unopened = 0;
        });
    }

    /// Waits until reading from this connection is allowed.
    pub(super) async fn wait_until_readable(&self) {
        let most = self.max_connection_answers();
        self.wait_for(|state| (state.answers <= most).then_some(()))
            .await;
    }

    /// [`Connection::wait_until_readable`] for a thread that may block.
    pub(super) fn wait_until_readable_blocking(&self) {
        let most = self.max_connection_answers();
        self.wait_for_blocking(|state| (state.answers <= most).then_some(()));
    }

    /// Waits until the connection is to be reset.
    pub(super) async fn wait_for_reset(&self) {
        self.wait_for(|state| (state.end == Some(WriteEnd::Reset)).then_some(()))
            .await;
    }

    /// Waits until the connection is closing and nothing has moved for [`STALL_TIMEOUT`].
    pub(super) async fn wait_for_stall(&self) {
        let condition = |state: &WriteQueue| {
            (state.end >= Some(WriteEnd::Close)).then_some(state.last_progress)
        };
        loop {
            let until = self.wait_for(condition).await + STALL_TIMEOUT;
            if Instant::now() >= until {
                return;
            }
            tokio::time::sleep_until(until).await;
        }
    }

    /// Waits until opening the connection has no purpose: it is to be reset, or the run ends and nothing is to be sent.
    pub(super) async fn wait_for_abandonment(&self) {
        self.wait_for(|state| {
            let finished = state.stopped && state.parts.is_empty();
            (finished || state.end == Some(WriteEnd::Reset)).then_some(())
        })
        .await;
    }

    /// Sends an event to the driver. A full channel stops the reading.
    pub(super) async fn emit(self: &Arc<Self>, events: ConnectionEvent) {
        // Fails only if the driver has ended.
        let _ = self.common.events.send((Arc::clone(self), events)).await;
    }

    /// [`Connection::emit`] for a thread that may block. Returns `false` if the driver needs no more events.
    pub(super) fn emit_blocking(self: &Arc<Self>, events: ConnectionEvent) -> bool {
        let sent = self.common.events.blocking_send((Arc::clone(self), events));
        sent.is_ok() && !self.lock().finished
    }

    /// Reports the end of the connection. No event follows it.
    pub(super) async fn report_end(self: &Arc<Self>, ended: Ended) {
        self.discard_unsent();
        self.change(|state| state.finished = true);
        self.emit(ConnectionEvent::Ended(ended)).await;
    }

    /// Ends a connection that was not opened.
    pub(super) async fn end_unopened(self: &Arc<Self>) {
        let ended = self.end_by_us();
        self.report_end(ended).await;
    }

    /// Returns `true` after [`Connection::report_end`].
    pub(super) fn is_finished(&self) -> bool {
        self.lock().finished
    }

    /// Returns `true` after [`Connection::stop`].
    pub(super) fn is_stopped(&self) -> bool {
        self.lock().stopped
    }
}
