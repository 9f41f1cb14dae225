//! The queue between the pump and the recorder: a [`Journal`] that threads share, and the waiting for it.
//!
//! With [`Policy::Drop`], a pump waits at most [`RECORDER_TIMEOUT`] for space if the recorder is active, and not at all if it
//! hangs in a write. With [`Policy::Wait`], it waits without a limit: nothing is lost, and the sender is slowed down.

use crate::capture::{ChunkSource, EventRecord, Time};
use crate::protocol::Channel;
use crate::relay::{EntryBatch, Journal, OfferResult, Policy};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::Notify;

/// Time limit for an active recorder: much longer than it needs for one batch.
pub const RECORDER_TIMEOUT: Duration = Duration::from_secs(1);
/// A write that takes longer than this counts as hanging.
pub const HANG_TIMEOUT: Duration = Duration::from_millis(50);

struct QueueState {
    journal: Journal,
    /// Number of tasks that wait for space.
    waiting: u32,
    /// The recorder waits for a notification.
    parked: bool,
    /// The recorder pauses until the batch is half full or the pause ends.
    pausing: bool,
    closed: bool,
}

/// The queue between pump and recorder.
pub struct Queue {
    state: Mutex<QueueState>,
    filled: Condvar,
    space: Condvar,
    /// [`Queue::space`] for async code.
    space_async: Notify,
    policy: Policy,
    start: Instant,
    /// Start of the current write of the recorder, in nanoseconds since the start; 0 while it does not write.
    writing: AtomicU64,
    /// Time of the close, in nanoseconds since the start; 0 before.
    closed: AtomicU64,
}

/// The longest time between the header of a recording and its queue: beyond, the clock was set.
const MAX_SETUP: Duration = Duration::from_secs(10);

fn lock(state: &Mutex<QueueState>) -> MutexGuard<'_, QueueState> {
    // No code that can panic runs under the lock in an inconsistent state.
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Queue {
    /// Creates an empty queue. Times count from `started`, the time in the header of the recording: processes on one host have
    /// one clock.
    pub fn new(policy: Policy, started: Option<Time>) -> Self {
        let passed = started.map_or(0, |started| super::now().saturating_sub(started));
        let passed = u64::try_from(passed).unwrap_or_default();
        let passed = Duration::from_nanos(passed).min(MAX_SETUP);
        let now = Instant::now();
        Self {
            state: Mutex::new(QueueState {
                journal: Journal::new(policy),
                waiting: 0,
                parked: false,
                pausing: false,
                closed: false,
            }),
            filled: Condvar::new(),
            space: Condvar::new(),
            space_async: Notify::new(),
            policy,
            start: now.checked_sub(passed).unwrap_or(now),
            writing: AtomicU64::new(0),
            closed: AtomicU64::new(0),
        }
    }

    /// Nanoseconds since the start.
    pub fn now(&self) -> i64 {
        i64::try_from(self.start.elapsed().as_nanos()).unwrap_or(i64::MAX)
    }

    /// Number of bytes and events that were lost so far.
    pub fn lost(&self) -> u64 {
        lock(&self.state).journal.lost()
    }

    /// Marks the start of a write of the recorder.
    pub fn begin_write(&self) {
        let now = self.now().max(1).unsigned_abs();
        self.writing.store(now, Ordering::Relaxed);
    }

    /// Marks its end.
    pub fn end_write(&self) {
        self.writing.store(0, Ordering::Relaxed);
    }

    /// Returns `true` if the current write has taken at least `time`.
    pub fn is_writing_for(&self, time: Duration) -> bool {
        let since = self.writing.load(Ordering::Relaxed);
        since != 0 && self.now().unsigned_abs().saturating_sub(since) > time.as_nanos() as u64
    }

    /// Returns `true` if the current write has taken longer than [`HANG_TIMEOUT`].
    pub fn is_hanging(&self) -> bool {
        self.is_writing_for(HANG_TIMEOUT)
    }

    /// Adds the bytes of one read. With `last`, bytes without space are lost.
    pub fn offer(
        &self,
        t: i64,
        channel: impl Into<Channel>,
        dir: ChunkSource,
        bytes: &[u8],
        last: bool,
    ) -> OfferResult {
        let mut state = lock(&self.state);
        let lane = (channel.into(), dir);
        let gives_up = || last || self.is_hanging();
        let result = state.journal.offer(t, lane, bytes, gives_up);
        if result == OfferResult::Done {
            self.notify(state);
        }
        result
    }

    /// Adds a datagram. One without space is lost.
    pub fn datagram(&self, t: i64, conn: u32, dir: ChunkSource, bytes: &[u8]) {
        self.change(|journal| journal.datagram(t, conn, dir, bytes));
    }

    fn change(&self, change: impl FnOnce(&mut Journal)) {
        let mut state = lock(&self.state);
        change(&mut state.journal);
        self.notify(state);
    }

    /// Returns `true` if the batch has space for `bytes`, or if they are to be lost without waiting.
    pub fn has_space(&self, channel: impl Into<Channel>, dir: ChunkSource, bytes: usize) -> bool {
        let lane = (channel.into(), dir);
        let state = lock(&self.state);
        state.journal.has_space(lane, bytes, || self.is_hanging())
    }

    /// Waits until [`Queue::has_space`]. Returns `false` if there is none at the end of the wait. Does not block the thread.
    pub async fn wait_for_space(
        &self,
        channel: impl Into<Channel>,
        dir: ChunkSource,
        bytes: usize,
    ) -> bool {
        let channel = channel.into();
        let mut until = Instant::now() + RECORDER_TIMEOUT;
        while self.policy == Policy::Wait || Instant::now() < until {
            let space = self.space_async.notified();
            tokio::pin!(space);
            // From here on, no notification is lost.
            space.as_mut().enable();
            if self.has_space(channel, dir, bytes) {
                return true;
            }
            // A recorder that makes space for others does not hang.
            if tokio::time::timeout(HANG_TIMEOUT / 5, space).await.is_ok() {
                until = Instant::now() + RECORDER_TIMEOUT;
            }
        }
        false
    }

    /// Adds bytes, and waits until they are taken or lost. Does not block the thread.
    pub async fn offer_async(
        &self,
        t: i64,
        channel: impl Into<Channel>,
        dir: ChunkSource,
        bytes: &[u8],
    ) {
        let channel = channel.into();
        let mut last = false;
        while self.offer(t, channel, dir, bytes, last) == OfferResult::Full {
            last = !self.wait_for_space(channel, dir, bytes.len()).await;
        }
    }

    /// [`Queue::offer_async`] for a thread that may block.
    pub fn offer_blocking(
        &self,
        t: i64,
        channel: impl Into<Channel>,
        dir: ChunkSource,
        bytes: &[u8],
    ) {
        let channel = channel.into();
        let mut until = None;
        loop {
            let last = until.is_some_and(|until| Instant::now() >= until);
            if self.offer(t, channel, dir, bytes, last) == OfferResult::Done {
                return;
            }
            let mut state = lock(&self.state);
            if state.journal.is_empty() {
                continue;
            }
            state.waiting += 1;
            let waited = self.space.wait_timeout(state, HANG_TIMEOUT / 5);
            let mut waited = waited.unwrap_or_else(PoisonError::into_inner);
            waited.0.waiting -= 1;
            if until.is_none() || !waited.1.timed_out() {
                until = Some(Instant::now() + RECORDER_TIMEOUT);
            }
        }
    }

    /// Adds an event. Events have twice the space of bytes, and no task waits for it: one without space is lost.
    pub fn event(&self, conn: u32, event: EventRecord) {
        self.change(|journal| journal.event(conn, event));
    }

    /// Adds the end of one direction of a stream.
    pub fn fin(&self, t: i64, conn: u32, stream: u64, dir: ChunkSource) {
        self.change(|journal| journal.fin(t, conn, stream, dir));
    }

    /// Marks the bytes of a stream as missing from here on. The number of known missing bytes is `bytes`.
    pub fn add_loss(&self, channel: impl Into<Channel>, dir: ChunkSource, bytes: u64) {
        let lane = (channel.into(), dir);
        self.change(|journal| journal.add_loss(self.now(), lane, bytes));
    }

    fn notify(&self, state: MutexGuard<'_, QueueState>) {
        let wake = state.parked || (state.pausing && state.journal.is_half_full());
        drop(state);
        if wake {
            self.filled.notify_one();
        }
    }

    /// Swaps the batch for an empty one. Returns `false` if it was empty.
    pub fn swap(&self, batch: &mut EntryBatch) -> bool {
        let mut state = lock(&self.state);
        if !state.journal.swap(batch) {
            return false;
        }
        let waiting = state.waiting > 0;
        drop(state);
        // A notification costs time even without a waiter.
        if waiting {
            self.space.notify_all();
        }
        self.space_async.notify_waiters();
        true
    }

    /// Waits for items. Returns `false` when the queue is closed; it may still have some.
    pub fn wait(&self) -> bool {
        let mut state = lock(&self.state);
        while state.journal.is_empty() && !state.closed {
            state.parked = true;
            state = self
                .filled
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
            state.parked = false;
        }
        !state.closed
    }

    /// Waits for `time`, or until more than `known` items were ever added. Returns `false` when the queue is closed;
    /// it may still have some.
    pub fn wait_for_change(&self, known: &mut u64, time: Duration) -> bool {
        let mut state = lock(&self.state);
        if state.journal.added() == *known && !state.closed {
            state.parked = true;
            let waited = self.filled.wait_timeout(state, time);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
            state.parked = false;
        }
        *known = state.journal.added();
        !state.closed
    }

    /// Returns `true` if there are items.
    pub fn has_items(&self) -> bool {
        !lock(&self.state).journal.is_empty()
    }

    /// Pauses between two batches, so that a busy pump need not notify for each item.
    pub fn pause(&self, time: Duration) {
        let mut state = lock(&self.state);
        if state.closed || state.journal.is_half_full() {
            return;
        }
        state.pausing = true;
        let waited = self.filled.wait_timeout(state, time);
        let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        state.pausing = false;
    }

    /// Returns `true` if the queue was closed at least `time` ago.
    pub fn closed_for(&self, time: Duration) -> bool {
        let since = self.closed.load(Ordering::Relaxed);
        let now = self.now().unsigned_abs();
        since != 0 && now.saturating_sub(since) > time.as_nanos() as u64
    }

    /// Closes the queue and adds the known losses.
    pub fn close(&self) {
        let t = self.now();
        let mut state = lock(&self.state);
        state.journal.record_losses(t);
        state.closed = true;
        drop(state);
        self.closed
            .store(t.unsigned_abs().max(1), Ordering::Relaxed);
        self.filled.notify_all();
    }
}

#[cfg(test)]
mod tests;
