//! What passed and is not recorded yet: a batch of bounded size that the recorder swaps for an empty one.
//!
//! ```text
//!   pump --offer--> [ bytes | entries ]  <--swap--> [ bytes | entries ] --> recorder
//! ```
//!
//! A full batch means that the recorder is too slow. Bytes that find no space in it are counted, and recorded as
//! [`PassedKind::Lost`] as soon as there is space.

use super::RelayLane;
use crate::capture::{ChunkSource, EventRecord};
use crate::conversation::tap::{Passed, PassedKind};
use crate::protocol::Channel;
use std::collections::BTreeMap;

/// Size of one batch in bytes; there are two batches.
pub(super) const CAPACITY: usize = 2 << 20;
/// Cost of an entry in bytes, in addition to its data.
const ENTRY_COST: usize = 64;

/// The behavior while the recorder is too slow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// Traffic continues. Bytes that find no space are lost to the recording and counted.
    Drop,
    /// Traffic waits.
    Wait,
}

/// The result of an offer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OfferResult {
    /// The bytes are in the batch, or lost and counted.
    Done,
    /// There is no space, and waiting is worthwhile.
    Full,
}

/// A [`Passed`] whose bytes are in the batch.
struct JournalEntry {
    t: i64,
    channel: Channel,
    what: PassedKind,
    /// The number of its bytes.
    len: usize,
}

/// Entries in order, and their bytes one after another.
#[derive(Default)]
pub struct EntryBatch {
    bytes: Vec<u8>,
    entries: Vec<JournalEntry>,
}

impl EntryBatch {
    /// The cost in bytes.
    fn size(&self) -> usize {
        self.bytes.len() + self.entries.len() * ENTRY_COST
    }

    /// Returns what passed, in order.
    pub fn entries(&self) -> impl Iterator<Item = Passed<'_>> {
        let mut rest = self.bytes.as_slice();
        self.entries.iter().map(move |entry| {
            let (mine, after) = rest.split_at_checked(entry.len).unwrap_or((rest, &[]));
            rest = after;
            Passed {
                t: entry.t,
                channel: entry.channel,
                what: &entry.what,
                bytes: mine,
            }
        })
    }

    /// Removes all entries. Keeps the memory of one batch at most.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.entries.clear();
        self.bytes.shrink_to(CAPACITY);
    }
}

/// What passed, in order, until the recorder takes it.
pub struct Journal {
    policy: Policy,
    batch: EntryBatch,
    /// Losses that are not recorded yet.
    losses: BTreeMap<RelayLane, u64>,
    /// Number of entries that were ever added.
    added: u64,
    /// Number of lost bytes and events.
    lost: u64,
}

impl Journal {
    /// Creates an empty journal.
    pub fn new(policy: Policy) -> Self {
        Self {
            policy,
            batch: EntryBatch::default(),
            losses: BTreeMap::new(),
            added: 0,
            lost: 0,
        }
    }

    /// Returns `true` if there are no entries.
    pub fn is_empty(&self) -> bool {
        self.batch.entries.is_empty()
    }

    /// Returns `true` if more than half of the space is used.
    pub fn is_half_full(&self) -> bool {
        self.batch.size() > CAPACITY / 2
    }

    /// Returns the number of entries that were ever added.
    pub fn added(&self) -> u64 {
        self.added
    }

    /// Returns the number of bytes and events that were lost so far.
    pub fn lost(&self) -> u64 {
        self.lost
    }

    fn is_full(&self, bytes: usize) -> bool {
        self.batch.size() + bytes + ENTRY_COST > CAPACITY && !self.is_empty()
    }

    /// Returns `true` if there is space for `bytes`, or if they are to be lost without waiting.
    pub fn has_space(
        &self,
        lane: RelayLane,
        bytes: usize,
        gives_up: impl FnOnce() -> bool,
    ) -> bool {
        !self.is_full(bytes)
            || self.policy == Policy::Drop && (self.losses.contains_key(&lane) || gives_up())
    }

    /// Adds the bytes of one read. Bytes without space are lost if `gives_up` says so, or if bytes before them are lost.
    pub fn offer(
        &mut self,
        t: i64,
        lane: RelayLane,
        bytes: &[u8],
        gives_up: impl FnOnce() -> bool,
    ) -> OfferResult {
        if !self.has_space(lane, bytes.len(), gives_up) {
            return OfferResult::Full;
        }
        if self.is_full(bytes.len()) {
            *self.losses.entry(lane).or_default() += bytes.len() as u64;
            self.lost += bytes.len() as u64;
            return OfferResult::Done;
        }
        self.record_loss(t, lane);
        self.push(t, lane.0, PassedKind::Chunk(lane.1), bytes);
        OfferResult::Done
    }

    /// Adds a datagram. One without space is lost.
    pub fn datagram(&mut self, t: i64, conn: u32, dir: ChunkSource, bytes: &[u8]) {
        if self.batch.size() > CAPACITY {
            self.lost += bytes.len() as u64;
            return;
        }
        self.push(t, conn.into(), PassedKind::Datagram(dir), bytes);
    }

    /// Adds an event. Events have twice the space of bytes, and no task waits for it: one without space is lost.
    pub fn event(&mut self, conn: u32, event: EventRecord) {
        let channel = Channel {
            conn,
            stream: event.stream,
        };
        self.push_event(event.t, channel, PassedKind::Event(Box::new(event)));
    }

    /// Adds the end of one direction of a stream. Streams are many, so this event costs no allocation.
    pub fn fin(&mut self, t: i64, conn: u32, stream: u64, dir: ChunkSource) {
        let channel = Channel {
            conn,
            stream: Some(stream),
        };
        self.push_event(t, channel, PassedKind::Fin(dir));
    }

    fn push_event(&mut self, t: i64, channel: Channel, what: PassedKind) {
        if self.batch.size() > 2 * CAPACITY {
            self.lost += 1;
            return;
        }
        // The known loss of a connection precedes its events.
        let mine = |(other, _): &&RelayLane| {
            other.conn == channel.conn && (channel.stream.is_none() || *other == channel)
        };
        let known: Vec<_> = self.losses.keys().filter(mine).copied().collect();
        for lane in known {
            self.record_loss(t, lane);
        }
        self.push(t, channel, what, &[]);
    }

    fn push(&mut self, t: i64, channel: Channel, what: PassedKind, bytes: &[u8]) {
        self.batch.bytes.extend_from_slice(bytes);
        self.batch.entries.push(JournalEntry {
            t,
            channel,
            what,
            len: bytes.len(),
        });
        self.added += 1;
    }

    /// Marks the bytes of a direction as missing from here on. The number of known missing bytes is `bytes`.
    pub fn add_loss(&mut self, t: i64, lane: RelayLane, bytes: u64) {
        *self.losses.entry(lane).or_default() += bytes;
        self.record_loss(t, lane);
    }

    /// Adds all known losses, at the end.
    pub fn record_losses(&mut self, t: i64) {
        while let Some(lane) = self.losses.keys().next().copied() {
            self.record_loss(t, lane);
        }
    }

    /// Adds the known loss of a direction.
    fn record_loss(&mut self, t: i64, lane: RelayLane) {
        if let Some(bytes) = self.losses.remove(&lane) {
            self.push(t, lane.0, PassedKind::Lost(lane.1, bytes), &[]);
        }
    }

    /// Swaps the batch for an empty one. Returns `false` if it was empty.
    pub fn swap(&mut self, batch: &mut EntryBatch) -> bool {
        if self.is_empty() {
            return false;
        }
        std::mem::swap(&mut self.batch, batch);
        true
    }
}
