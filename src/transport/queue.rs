//! What stands between the pump and the tap: a batch of bounded size, swapped for an empty one.
//!
//! ```text
//!   pump --offer--> [ bytes | items ]  <--swap--> [ bytes | items ] --> tap
//! ```
//!
//! The pump copies what it has forwarded into the batch and goes on. A batch that is full means that the tap is behind.
//! Then, under [`Policy::Drop`], the pump waits for a tap that is at work, but no longer than [`PATIENCE`] for any
//! room; it does not wait for one that hangs in a write. What finds no room is counted, and goes into the batch as
//! [`What::Lost`] as soon as there is some. Under [`Policy::Wait`] it waits as long as it takes: then nothing is lost,
//! and who sends is held back.

use crate::capture::{EventRecord, Stream};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::Notify;

/// How long the pump waits for a tap that is at work: far longer than one batch takes it.
pub const PATIENCE: Duration = Duration::from_secs(1);
/// How long a write may take before it counts as hanging.
pub const HANGS: Duration = Duration::from_millis(50);
/// Bytes of one batch; there are two.
pub const CAPACITY: usize = 2 << 20;
/// What an item costs beside its bytes.
const ITEM: usize = 64;

/// What happens when the tap is behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// Traffic goes on; what the tap cannot take is lost to it, and counted.
    Drop,
    /// Traffic waits.
    Wait,
}

/// What the pump saw.
#[derive(Debug)]
pub enum What {
    /// Bytes, as one read returned them.
    Chunk(Stream),
    /// So many bytes went by untold.
    Lost(Stream, u64),
    /// Anything else.
    Event(Box<EventRecord>),
}

/// One thing that the pump saw.
#[derive(Debug)]
pub struct Item {
    /// Nanoseconds since the start.
    pub t: i64,
    /// Which connection.
    pub conn: u32,
    /// What it is.
    pub what: What,
    len: usize,
}

/// Items in order, their bytes one after another.
#[derive(Default)]
pub struct Batch {
    bytes: Vec<u8>,
    items: Vec<Item>,
}

impl Batch {
    /// What it costs.
    fn size(&self) -> usize {
        self.bytes.len() + self.items.len() * ITEM
    }

    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Everything in it, in order, with the bytes of chunks.
    pub fn items(&self) -> impl Iterator<Item = (&Item, &[u8])> {
        let mut rest = self.bytes.as_slice();
        self.items.iter().map(move |item| {
            let (mine, after) = rest.split_at_checked(item.len).unwrap_or((rest, &[]));
            rest = after;
            (item, mine)
        })
    }

    /// Empties it; what it took to hold them stays, unless it was unusually much.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.items.clear();
        self.bytes.shrink_to(CAPACITY);
    }
}

#[derive(Default)]
struct State {
    batch: Batch,
    lost: BTreeMap<(u32, Stream), u64>,
    /// Items that were ever put into a batch.
    given: u64,
    /// How many wait for room.
    waiting: u32,
    /// The tap waits to be told that there is something.
    parked: bool,
    /// The tap takes a break, which ends early when the batch is half full.
    resting: bool,
    closed: bool,
}

/// Whether an item found room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offer {
    /// It is in the batch, or lost and counted.
    Done,
    /// There is no room; it is worth waiting for.
    Full,
}

/// The batch between pump and tap.
pub struct Queue {
    state: Mutex<State>,
    filled: Condvar,
    room: Condvar,
    /// The same for those who must not block.
    room_async: Notify,
    policy: Policy,
    start: Instant,
    /// When the tap began the write it is in, in nanoseconds since the start; 0 where it is in none.
    writing: AtomicU64,
    /// Bytes that were lost in all, and events.
    lost: AtomicU64,
    /// When it was closed, in nanoseconds since the start; 0 before.
    closed: AtomicU64,
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    // Nothing that runs under the lock can leave it half done.
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Queue {
    /// An empty one. Times count from now.
    pub fn new(policy: Policy) -> Self {
        Self {
            state: Mutex::default(),
            filled: Condvar::new(),
            room: Condvar::new(),
            room_async: Notify::new(),
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

    /// How much was lost so far: bytes, and events.
    pub fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }

    /// The tap begins a write that may take its time, or is done with it.
    pub fn writing(&self, begins: bool) {
        let now = if begins { self.now().max(1) } else { 0 };
        self.writing.store(now.unsigned_abs(), Ordering::Relaxed);
    }

    /// Whether the tap has been in one write for so long.
    pub fn writes_for(&self, time: Duration) -> bool {
        let since = self.writing.load(Ordering::Relaxed);
        since != 0 && self.now().unsigned_abs().saturating_sub(since) > time.as_nanos() as u64
    }

    /// Whether the tap has been in one write for longer than [`HANGS`].
    pub fn hangs(&self) -> bool {
        self.writes_for(HANGS)
    }

    /// Bytes as one read returned them.
    pub fn offer(&self, t: i64, conn: u32, stream: Stream, bytes: &[u8], last: bool) -> Offer {
        let mut state = lock(&self.state);
        let owed = state.lost.get(&(conn, stream)).copied().unwrap_or_default();
        let full = state.batch.size() + bytes.len() + ITEM > CAPACITY && !state.batch.is_empty();
        if full {
            if self.policy == Policy::Wait || !(last || owed > 0 || self.hangs()) {
                return Offer::Full;
            }
            *state.lost.entry((conn, stream)).or_default() += bytes.len() as u64;
            self.lost.fetch_add(bytes.len() as u64, Ordering::Relaxed);
            return Offer::Done;
        }
        if owed > 0 {
            settle(&mut state, t, (conn, stream));
        }
        state.batch.bytes.extend_from_slice(bytes);
        state.batch.items.push(Item {
            t,
            conn,
            what: What::Chunk(stream),
            len: bytes.len(),
        });
        self.tell(state);
        Offer::Done
    }

    /// Whether so many bytes have room, or are to be lost for want of it without waiting.
    pub fn is_open(&self, conn: u32, stream: Stream, bytes: usize) -> bool {
        let state = lock(&self.state);
        let full = state.batch.size() + bytes + ITEM > CAPACITY && !state.batch.is_empty();
        !full
            || self.policy == Policy::Drop
                && (state.lost.contains_key(&(conn, stream)) || self.hangs())
    }

    /// Waits, without blocking the thread, until [`Queue::is_open`]; says whether it is, or was waited for in vain.
    pub async fn open(&self, conn: u32, stream: Stream, bytes: usize) -> bool {
        let mut until = Instant::now() + PATIENCE;
        while self.policy == Policy::Wait || Instant::now() < until {
            let room = self.room_async.notified();
            tokio::pin!(room);
            // From here on no call is missed.
            room.as_mut().enable();
            if self.is_open(conn, stream, bytes) {
                return true;
            }
            // Whether it hangs shows while it is waited for; while it makes room for others, it does not.
            if tokio::time::timeout(HANGS / 5, room).await.is_ok() {
                until = Instant::now() + PATIENCE;
            }
        }
        false
    }

    /// Offers until it is taken or lost.
    pub fn give_blocking(&self, t: i64, conn: u32, stream: Stream, bytes: &[u8]) {
        let mut until = None;
        loop {
            let last = until.is_some_and(|until| Instant::now() >= until);
            if self.offer(t, conn, stream, bytes, last) == Offer::Done {
                return;
            }
            let mut state = lock(&self.state);
            if state.batch.is_empty() {
                continue;
            }
            state.waiting += 1;
            let waited = self.room.wait_timeout(state, HANGS / 5);
            let mut waited = waited.unwrap_or_else(PoisonError::into_inner);
            waited.0.waiting -= 1;
            if until.is_none() || !waited.1.timed_out() {
                until = Some(Instant::now() + PATIENCE);
            }
        }
    }

    /// Something that is no bytes. Nobody waits to tell it, and there is room for it where there is none for bytes.
    pub fn event(&self, conn: u32, event: EventRecord) {
        let mut state = lock(&self.state);
        if state.batch.size() > 2 * CAPACITY {
            self.lost.fetch_add(1, Ordering::Relaxed);
            return;
        }
        // What happened to a connection stands after what is known to be missing of it.
        for stream in [Stream::C2s, Stream::S2c, Stream::Stderr] {
            settle(&mut state, event.t, (conn, stream));
        }
        state.batch.items.push(Item {
            t: event.t,
            conn,
            what: What::Event(Box::new(event)),
            len: 0,
        });
        self.tell(state);
    }

    /// From here on bytes of a stream are missing, of which so many are known.
    pub fn missing(&self, conn: u32, stream: Stream, bytes: u64) {
        let mut state = lock(&self.state);
        let t = self.now();
        *state.lost.entry((conn, stream)).or_default() += bytes;
        settle(&mut state, t, (conn, stream));
        self.tell(state);
    }

    fn tell(&self, mut state: MutexGuard<'_, State>) {
        state.given += 1;
        let wake = state.parked || (state.resting && state.batch.size() > CAPACITY / 2);
        drop(state);
        if wake {
            self.filled.notify_one();
        }
    }

    /// Swaps what is there for an empty batch; says whether there was anything.
    pub fn swap(&self, batch: &mut Batch) -> bool {
        let mut state = lock(&self.state);
        if state.batch.is_empty() {
            return false;
        }
        std::mem::swap(&mut state.batch, batch);
        let waiting = state.waiting > 0;
        drop(state);
        // Calling out costs, also where nobody listens.
        if waiting {
            self.room.notify_all();
        }
        self.room_async.notify_waiters();
        true
    }

    /// Waits until there is something, or nothing will come any more. Says whether more may come.
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

    /// Waits for a while, or until something was put in that is not `known`, whoever takes it out. Says whether more may
    /// come.
    pub fn changed(&self, known: &mut u64, time: Duration) -> bool {
        let mut state = lock(&self.state);
        if state.given == *known && !state.closed {
            state.parked = true;
            let waited = self.filled.wait_timeout(state, time);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
            state.parked = false;
        }
        *known = state.given;
        !state.closed
    }

    /// Whether there is something.
    pub fn waits(&self) -> bool {
        !lock(&self.state).batch.is_empty()
    }

    /// A break between two batches, so that a busy pump need not call for each item; short when there is much to do.
    pub fn rest(&self, time: Duration) {
        let mut state = lock(&self.state);
        if state.closed || state.batch.size() > CAPACITY / 2 {
            return;
        }
        state.resting = true;
        let waited = self.filled.wait_timeout(state, time);
        let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        state.resting = false;
    }

    /// Whether it was closed so long ago.
    pub fn closed_for(&self, time: Duration) -> bool {
        let since = self.closed.load(Ordering::Relaxed);
        let now = self.now().unsigned_abs();
        since != 0 && now.saturating_sub(since) > time.as_nanos() as u64
    }

    /// Nothing more will come; what is still known to be missing is told.
    pub fn close(&self) {
        let t = self.now();
        let mut state = lock(&self.state);
        while let Some(key) = state.lost.keys().next().copied() {
            settle(&mut state, t, key);
        }
        state.closed = true;
        drop(state);
        self.closed
            .store(t.unsigned_abs().max(1), Ordering::Relaxed);
        self.filled.notify_all();
    }
}

/// Tells what is missing of a stream, where something is.
fn settle(state: &mut State, t: i64, key: (u32, Stream)) {
    let (conn, stream) = key;
    if let Some(bytes) = state.lost.remove(&key) {
        state.batch.items.push(Item {
            t,
            conn,
            what: What::Lost(stream, bytes),
            len: 0,
        });
    }
}

#[cfg(test)]
mod tests;
