//! A connection: what stands between a handler and one of its connections.
//!
//! ```text
//!   driver --send, shut, close, cut--> [ parts | end ] --> whoever writes to the socket or the pipe
//!   driver <-------- events <------------------------------- whoever reads from it
//! ```
//!
//! Answers that wait to be written hold up the reading: who does not take them can ask no more. That is a server's rule. A
//! client that kept it, too, would wait for a server that waits for it; it takes what comes, up to a large limit. What is
//! sent unasked holds up no reading, but timers.

mod record;

use super::recorder::{Recorder, Say};
use crate::capture::Stream;
use crate::live::handler::Ended;
use rustix::process::{Pid, Signal};
use std::collections::VecDeque;
use std::io;
use std::sync::atomic::{AtomicI32, AtomicI64, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::Poll;
use std::time::Duration;
use tokio::sync::{Notify, mpsc};
use tokio::time::Instant;

/// Bytes of answers that may wait on a connection that a server reads from.
const CALM: usize = 1 << 20;
/// Bytes of answers that may wait on any connection of a server while it reads at all.
const CLOG: usize = 8 << 20;
/// The same for a client.
const CLOG_CLIENT: usize = 64 << 20;
/// Bytes that whoever leaves need not have taken: a farewell.
const LAST_WORD: usize = 4096;
/// How long a peer that takes nothing more, or a child that lives on, holds up the end.
pub(super) const GRACE: Duration = Duration::from_secs(5);

/// Bytes that may wait on any connection, or for the screen, while timers are kept.
pub(super) const FLOOD: usize = 8 << 20;

/// What a connection has to tell.
#[derive(Debug)]
pub(super) enum ConnectionEvent {
    /// It is open.
    Opened,
    /// Bytes of the other side.
    Received(Vec<u8>),
    /// The other side says no more.
    Eof,
    /// It is over.
    Over(Ended),
    /// There was none that a handler should hear of.
    Failed,
}

/// What follows once all parts are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum End {
    /// Nothing more is said.
    Shut,
    /// It is closed both ways.
    Close,
    /// It is cut.
    Cut,
}

/// What all connections have in common.
pub(super) struct Common {
    pub(super) recorder: Arc<Recorder>,
    pub(super) say: Say,
    /// Lines on which more waits than [`FLOOD`].
    pub(super) floods: AtomicUsize,
    /// Lines on which more answers wait than is good.
    pub(super) clogs: AtomicUsize,
    /// Called when there is one fewer of either, and when the screen has moved.
    pub(super) room: Notify,
    /// When bytes last passed, in nanoseconds since the start.
    pub(super) pulse: AtomicI64,
    /// Bytes that were to be sent and that nobody took.
    pub(super) untaken: AtomicU64,
    pub(super) events: mpsc::Sender<(Arc<Connection>, ConnectionEvent)>,
}

#[allow(clippy::struct_excessive_bools)] // each is a fact of its own
pub(super) struct State {
    /// With whether they are answers.
    parts: VecDeque<(Vec<u8>, bool)>,
    /// Bytes of the first part that are written.
    done: usize,
    /// Bytes that are not written, in all.
    waiting: usize,
    /// How much of that answers what was heard.
    answers: usize,
    pub(super) end: Option<End>,
    /// We close it, whatever the other side does.
    stopped: bool,
    /// Nothing that is sent can be written any more.
    gone: bool,
    /// When something was last written, or ordered.
    moved: Instant,
    /// That it ended was recorded.
    ended: bool,
    /// There is nobody to tell any more.
    over: bool,
    /// Of a pipe: the other side says no more.
    pub(super) heard_all: bool,
    /// Of a pipe: everything was written, or cannot be.
    pub(super) said_all: Option<bool>,
}

/// One connection.
pub(super) struct Connection {
    pub(super) conn: u32,
    /// What we say.
    pub(super) ours: Stream,
    /// What we hear.
    pub(super) theirs: Stream,
    pub(super) common: Arc<Common>,
    state: Mutex<State>,
    changed: Condvar,
    /// The same for those who must not block.
    changed_async: Notify,
    /// Of a child: the group of processes that it leads, while it is not waited for; otherwise 0.
    pub(super) group: AtomicI32,
}

impl Connection {
    pub(super) fn new(conn: u32, ours: Stream, common: &Arc<Common>) -> Arc<Self> {
        let theirs = match ours {
            Stream::C2s => Stream::S2c,
            Stream::S2c | Stream::Stderr => Stream::C2s,
        };
        Arc::new(Self {
            conn,
            ours,
            theirs,
            common: Arc::clone(common),
            state: Mutex::new(State {
                parts: VecDeque::new(),
                done: 0,
                waiting: 0,
                answers: 0,
                end: None,
                stopped: false,
                gone: false,
                ended: false,
                over: false,
                moved: Instant::now(),
                heard_all: false,
                said_all: None,
            }),
            changed: Condvar::new(),
            changed_async: Notify::new(),
            group: AtomicI32::new(0),
        })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Bytes of answers that are too many to hear more, on any connection.
    fn clog(&self) -> usize {
        match self.ours {
            Stream::C2s => CLOG_CLIENT,
            Stream::S2c | Stream::Stderr => CLOG,
        }
    }

    /// Bytes of answers that are too many to read more from this one.
    fn calm_most(&self) -> usize {
        match self.ours {
            Stream::C2s => CLOG_CLIENT,
            Stream::S2c | Stream::Stderr => CALM,
        }
    }

    /// Changes something, and calls whoever waits for that.
    pub(super) fn change<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        let mut state = self.lock();
        let clog = self.clog();
        let is_much = |state: &State| [state.waiting > FLOOD, state.answers > clog];
        let before = is_much(&state);
        let changed = change(&mut state);
        let after = is_much(&state);
        drop(state);
        let counts = [&self.common.floods, &self.common.clogs];
        for (count, pair) in counts.into_iter().zip(before.into_iter().zip(after)) {
            match pair {
                (false, true) => {
                    count.fetch_add(1, Ordering::Relaxed);
                }
                (true, false) => {
                    count.fetch_sub(1, Ordering::Relaxed);
                    self.common.room.notify_one();
                }
                _ => {}
            }
        }
        self.changed.notify_all();
        self.changed_async.notify_waiters();
        changed
    }

    /// Waits, without blocking the thread, until something is found.
    pub(super) async fn until<T>(&self, mut look: impl FnMut(&State) -> Option<T>) -> T {
        loop {
            let changed = self.changed_async.notified();
            tokio::pin!(changed);
            // From here on no call is missed.
            changed.as_mut().enable();
            let found = look(&self.lock());
            if let Some(found) = found {
                return found;
            }
            changed.await;
        }
    }

    /// [`Connection::until`], on a thread of its own.
    pub(super) fn until_blocking<T>(&self, mut look: impl FnMut(&mut State) -> Option<T>) -> T {
        let mut state = self.lock();
        loop {
            if let Some(found) = look(&mut state) {
                return found;
            }
            let waited = self.changed.wait(state);
            state = waited.unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Bytes that wait to be written.
    pub(super) fn waiting(&self) -> usize {
        self.lock().waiting
    }

    /// Whether it is cut: then nothing that was heard before matters.
    pub(super) fn is_cut(&self) -> bool {
        self.lock().end == Some(End::Cut)
    }

    /// Passes a signal on to a child and those that it has started.
    pub(super) fn signal(&self, signal: Signal) {
        let group = Pid::from_raw(self.group.load(Ordering::Relaxed));
        if let Some(group) = group {
            let _ = rustix::process::kill_process_group(group, signal);
        }
    }

    /// Bytes to be sent; none after an end.
    pub(super) fn send(&self, bytes: Vec<u8>, answer: bool) {
        self.change(|state| {
            if state.end.is_none() && !state.gone && !bytes.is_empty() {
                state.waiting += bytes.len();
                state.answers += if answer { bytes.len() } else { 0 };
                state.parts.push_back((bytes, answer));
            }
        });
    }

    /// What follows then; the stronger end holds.
    pub(super) fn end(&self, end: End) {
        self.change(|state| {
            if state.end < Some(end) {
                state.end = Some(end);
                state.moved = Instant::now();
            }
        });
    }

    /// It is closed because everything ends.
    pub(super) fn stop(&self) {
        self.change(|state| state.stopped = true);
        self.end(End::Close);
    }

    /// Writes something of what waits; `write` says how much it was.
    pub(super) fn try_write(
        &self,
        most: usize,
        write: impl FnOnce(&[u8]) -> Poll<io::Result<usize>>,
    ) -> Poll<io::Result<()>> {
        let done = write(self.lock().front(most));
        if let Poll::Ready(Ok(bytes @ 1..)) = done {
            self.change(|state| state.wrote(bytes));
        }
        done.map_ok(|_| ())
    }

    /// Nothing can be written any more: the other side has left, or we cut it.
    pub(super) fn lose(&self) {
        // Whoever leaves may miss a last word, but not the rest of one; what is cut on purpose is nobody's loss.
        self.let_go(|state| {
            let is_much = state.done > 0 || state.waiting > LAST_WORD;
            is_much && state.end != Some(End::Cut)
        });
    }

    /// It is cut since what was sent on it is not taken.
    pub(super) fn give_up(&self) {
        self.let_go(|_| true);
    }

    /// What waits is not sent any more, and counts where it should have been.
    fn let_go(&self, counts: impl FnOnce(&State) -> bool) {
        self.change(|state| {
            if counts(state) {
                let waiting = state.waiting as u64;
                self.common.untaken.fetch_add(waiting, Ordering::Relaxed);
            }
            state.gone = true;
            state.parts.clear();
            state.done = 0;
            state.waiting = 0;
            state.answers = 0;
        });
    }

    /// Waits until it may be read from.
    pub(super) async fn calm(&self) {
        let most = self.calm_most();
        self.until(|state| (state.answers <= most).then_some(()))
            .await;
    }

    /// [`Connection::calm`], on a thread of its own.
    pub(super) fn calm_blocking(&self) {
        let most = self.calm_most();
        self.until_blocking(|state| (state.answers <= most).then_some(()));
    }

    /// Waits until it is cut.
    pub(super) async fn cut(&self) {
        self.until(|state| (state.end == Some(End::Cut)).then_some(()))
            .await;
    }

    /// Waits until it is being closed and nothing has moved for too long.
    pub(super) async fn patience(&self) {
        let look = |state: &State| (state.end >= Some(End::Close)).then_some(state.moved);
        loop {
            let until = self.until(look).await + GRACE;
            if Instant::now() >= until {
                return;
            }
            tokio::time::sleep_until(until).await;
        }
    }

    /// Waits until it need not be opened any more: it is cut, or everything ends and nothing is to be sent.
    pub(super) async fn abandoned(&self) {
        self.until(|state| {
            let over = state.stopped && state.parts.is_empty();
            (over || state.end == Some(End::Cut)).then_some(())
        })
        .await;
    }

    /// Tells the driver; its being full holds up the reading.
    pub(super) async fn tell(self: &Arc<Self>, events: ConnectionEvent) {
        // Without a driver there is nobody to care.
        let _ = self.common.events.send((Arc::clone(self), events)).await;
    }

    /// [`Connection::tell`], on a thread of its own; says whether more need be told.
    pub(super) fn tell_blocking(self: &Arc<Self>, events: ConnectionEvent) -> bool {
        let told = self.common.events.blocking_send((Arc::clone(self), events));
        told.is_ok() && !self.lock().over
    }

    /// Tells that it is over: the last that is told.
    pub(super) async fn over(self: &Arc<Self>, ended: Ended) {
        self.lose();
        self.change(|state| state.over = true);
        self.tell(ConnectionEvent::Over(ended)).await;
    }

    /// It was not opened, since it need not be.
    pub(super) async fn abandon(self: &Arc<Self>) {
        let ended = self.cut_off();
        self.over(ended).await;
    }

    /// Whether there is nobody to tell any more.
    pub(super) fn is_over(&self) -> bool {
        self.lock().over
    }

    /// Whether it is closed because everything ends.
    pub(super) fn is_stopped(&self) -> bool {
        self.lock().stopped
    }
}

impl State {
    /// Whether something is to be written.
    pub(super) fn has_parts(&self) -> bool {
        !self.parts.is_empty()
    }

    /// What is to be written next, at most so many bytes of it.
    pub(super) fn front(&self, most: usize) -> &[u8] {
        let front = self.parts.front();
        let rest = front.and_then(|(part, _)| part.get(self.done..));
        let rest = rest.unwrap_or_default();
        rest.get(..most).unwrap_or(rest)
    }

    /// So much of it was written.
    pub(super) fn wrote(&mut self, bytes: usize) {
        self.moved = Instant::now();
        let Some((part, answer)) = self.parts.front() else {
            return;
        };
        self.done += bytes;
        self.waiting = self.waiting.saturating_sub(bytes);
        if *answer {
            self.answers = self.answers.saturating_sub(bytes);
        }
        if part.len() <= self.done {
            self.parts.pop_front();
            self.done = 0;
        }
    }

    /// Whether nothing more will be written.
    pub(super) fn is_done(&self) -> bool {
        self.parts.is_empty() && (self.gone || self.end.is_some())
    }

    /// Something else went on.
    pub(super) fn stirs(&mut self) {
        self.moved = Instant::now();
    }
}
