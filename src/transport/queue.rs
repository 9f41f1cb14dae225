//! The queue between the pump and the recorder: a batch of bounded size that is swapped for an empty one.
//!
//! ```text
//!   pump --offer--> [ bytes | items ]  <--swap--> [ bytes | items ] --> recorder
//! ```
//!
//! The pump copies forwarded bytes into the batch. A full batch means that the recorder is too slow. With
//! [`Policy::Drop`], the pump then waits at most [`RECORDER_TIMEOUT`] for an active recorder, and not at all for one that hangs in a
//! write. Bytes that find no space are counted, and recorded as [`PumpItemKind::Lost`] as soon as there is space. With
//! [`Policy::Wait`], the pump waits without a limit: nothing is lost, and the sender is
//! slowed down.

mod batch;

pub use batch::{ItemBatch, PumpItem, PumpItemKind};

use crate::capture::{ChunkSource, EventRecord};
use crate::live::handler::Channel;
use batch::ITEM_COST;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::Notify;

/// Time limit for an active recorder: much longer than it needs for one batch.
pub const RECORDER_TIMEOUT: Duration = Duration::from_secs(1);
/// A write that takes longer than this counts as hanging.
pub const HANG_TIMEOUT: Duration = Duration::from_millis(50);
/// Size of one batch in bytes; there are two batches.
pub const CAPACITY: usize = 2 << 20;

/// The behavior while the recorder is too slow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// Traffic continues. Bytes that find no space are lost to the recording and counted.
    Drop,
    /// Traffic waits.
    Wait,
}

#[derive(Default)]
struct QueueState {
    batch: ItemBatch,
    lost: BTreeMap<(Channel, ChunkSource), u64>,
    /// Number of items that were ever added.
    added: u64,
    /// Number of tasks that wait for space.
    waiting: u32,
    /// The recorder waits for a notification.
    parked: bool,
    /// The recorder pauses until the batch is half full or the pause ends.
    pausing: bool,
    closed: bool,
}

/// The result of an offer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OfferResult {
    /// The bytes are in the batch, or lost and counted.
    Done,
    /// There is no space, and waiting is worthwhile.
    Full,
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
    /// Number of lost bytes and events.
    lost: AtomicU64,
    /// Time of the close, in nanoseconds since the start; 0 before.
    closed: AtomicU64,
}

fn lock(state: &Mutex<QueueState>) -> MutexGuard<'_, QueueState> {
    // No code that can panic runs under the lock in an inconsistent state.
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Queue {
    /// Creates an empty queue. Times count from now.
    pub fn new(policy: Policy) -> Self {
        Self {
            state: Mutex::default(),
            filled: Condvar::new(),
            space: Condvar::new(),
            space_async: Notify::new(),
            policy,
            start: Instant::now(),
            writing: AtomicU64::new(0),
            lost: AtomicU64::new(0),
            closed: AtomicU64::new(0),
        }
    }

    /// Nanoseconds since the start.
    pub fn now(&self) -> i64 {
        i64::try_from(self.start.elapsed().as_nanos()).unwrap_or(i64::MAX)
    }

    /// Number of bytes and events that were lost so far.
    pub fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }

    /// Marks the start or the end of a write of the recorder.
    pub fn writing(&self, begins: bool) {
        let now = if begins { self.now().max(1) } else { 0 };
        self.writing.store(now.unsigned_abs(), Ordering::Relaxed);
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
        let channel = channel.into();
        let mut state = lock(&self.state);
        let known_loss = state.lost.get(&(channel, dir)).copied().unwrap_or_default();
        let full =
            state.batch.size() + bytes.len() + ITEM_COST > CAPACITY && !state.batch.is_empty();
        if full {
            if self.policy == Policy::Wait || !(last || known_loss > 0 || self.is_hanging()) {
                return OfferResult::Full;
            }
            *state.lost.entry((channel, dir)).or_default() += bytes.len() as u64;
            self.lost.fetch_add(bytes.len() as u64, Ordering::Relaxed);
            return OfferResult::Done;
        }
        if known_loss > 0 {
            record_loss(&mut state, t, (channel, dir));
        }
        self.push(state, t, channel, PumpItemKind::Chunk(dir), bytes);
        OfferResult::Done
    }

    /// Adds a datagram. One without space is lost.
    pub fn datagram(&self, t: i64, conn: u32, dir: ChunkSource, bytes: &[u8]) {
        let state = lock(&self.state);
        if state.batch.size() > CAPACITY {
            self.lost.fetch_add(bytes.len() as u64, Ordering::Relaxed);
            return;
        }
        self.push(state, t, conn.into(), PumpItemKind::Datagram(dir), bytes);
    }

    fn push(
        &self,
        mut state: MutexGuard<'_, QueueState>,
        t: i64,
        channel: Channel,
        what: PumpItemKind,
        bytes: &[u8],
    ) {
        state.batch.bytes.extend_from_slice(bytes);
        state.batch.items.push(PumpItem {
            t,
            channel,
            what,
            len: bytes.len(),
        });
        self.notify(state);
    }

    /// Returns `true` if the batch has space for `bytes`, or if they are to be lost without waiting.
    pub fn has_space(&self, channel: impl Into<Channel>, dir: ChunkSource, bytes: usize) -> bool {
        let channel = channel.into();
        let state = lock(&self.state);
        let full = state.batch.size() + bytes + ITEM_COST > CAPACITY && !state.batch.is_empty();
        !full
            || self.policy == Policy::Drop
                && (state.lost.contains_key(&(channel, dir)) || self.is_hanging())
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
            if state.batch.is_empty() {
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

    /// Adds an event. There is always space for events, for which no task waits.
    pub fn event(&self, conn: u32, event: EventRecord) {
        let channel = Channel {
            conn,
            stream: event.stream,
        };
        self.push_event(event.t, channel, PumpItemKind::Event(Box::new(event)));
    }

    /// Adds the end of one direction of a stream. Streams are many, so this event costs no allocation.
    pub fn fin(&self, t: i64, conn: u32, stream: u64, dir: ChunkSource) {
        let channel = Channel {
            conn,
            stream: Some(stream),
        };
        self.push_event(t, channel, PumpItemKind::Fin(stream, dir));
    }

    fn push_event(&self, t: i64, channel: Channel, what: PumpItemKind) {
        let mut state = lock(&self.state);
        if state.batch.size() > 2 * CAPACITY {
            self.lost.fetch_add(1, Ordering::Relaxed);
            return;
        }
        // The known loss of a connection precedes its events.
        let mine = |(other, _): &&(Channel, ChunkSource)| {
            other.conn == channel.conn && (channel.stream.is_none() || *other == channel)
        };
        let known: Vec<_> = state.lost.keys().filter(mine).copied().collect();
        for key in known {
            record_loss(&mut state, t, key);
        }
        self.push(state, t, channel, what, &[]);
    }

    /// Marks the bytes of a stream as missing from here on. The number of known missing bytes is `bytes`.
    pub fn add_loss(&self, channel: impl Into<Channel>, dir: ChunkSource, bytes: u64) {
        let channel = channel.into();
        let mut state = lock(&self.state);
        let t = self.now();
        *state.lost.entry((channel, dir)).or_default() += bytes;
        record_loss(&mut state, t, (channel, dir));
        self.notify(state);
    }

    fn notify(&self, mut state: MutexGuard<'_, QueueState>) {
        state.added += 1;
        let wake = state.parked || (state.pausing && state.batch.size() > CAPACITY / 2);
        drop(state);
        if wake {
            self.filled.notify_one();
        }
    }

    /// Swaps the batch for an empty one. Returns `false` if it was empty.
    pub fn swap(&self, batch: &mut ItemBatch) -> bool {
        let mut state = lock(&self.state);
        if state.batch.is_empty() {
            return false;
        }
        std::mem::swap(&mut state.batch, batch);
        let waiting = state.waiting > 0;
        drop(state);
        // A notification costs time even without a waiter.
        if waiting {
            self.space.notify_all();
        }
        self.space_async.notify_waiters();
        true
    }

    /// Waits for items. Returns `false` when the queue is closed and empty.
    pub fn wait(&self) -> bool {
        let mut state = lock(&self.state);
        while state.batch.is_empty() && !state.closed {
            state.parked = true;
            state = self
                .filled
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
            state.parked = false;
        }
        !state.closed
    }

    /// Waits for `time`, or until more than `known` items were ever added. Returns `false` when the queue is closed
    /// and empty.
    pub fn wait_for_change(&self, known: &mut u64, time: Duration) -> bool {
        let mut state = lock(&self.state);
        if state.added == *known && !state.closed {
            state.parked = true;
            let waited = self.filled.wait_timeout(state, time);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
            state.parked = false;
        }
        *known = state.added;
        !state.closed
    }

    /// Returns `true` if there are items.
    pub fn has_items(&self) -> bool {
        !lock(&self.state).batch.is_empty()
    }

    /// Pauses between two batches, so that a busy pump need not notify for each item.
    pub fn pause(&self, time: Duration) {
        let mut state = lock(&self.state);
        if state.closed || state.batch.size() > CAPACITY / 2 {
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
        while let Some(key) = state.lost.keys().next().copied() {
            record_loss(&mut state, t, key);
        }
        state.closed = true;
        drop(state);
        self.closed
            .store(t.unsigned_abs().max(1), Ordering::Relaxed);
        self.filled.notify_all();
    }
}

/// Adds the known loss of a stream.
fn record_loss(state: &mut QueueState, t: i64, key: (Channel, ChunkSource)) {
    let (channel, dir) = key;
    if let Some(bytes) = state.lost.remove(&key) {
        state.batch.items.push(PumpItem {
            t,
            channel,
            what: PumpItemKind::Lost(dir, bytes),
            len: 0,
        });
    }
}

#[cfg(test)]
mod tests;
