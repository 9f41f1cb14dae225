//! The batch of a queue: what the pump has seen, in order.

use super::CAPACITY;
use crate::capture::{ChunkSource, EventRecord};
use crate::live::handler::Channel;

/// Cost of an item in bytes, in addition to its data.
pub(super) const ITEM_COST: usize = 64;

/// The content of an item.
#[derive(Debug)]
pub enum PumpItemKind {
    /// Bytes of one read.
    Chunk(ChunkSource),
    /// A datagram.
    Datagram(ChunkSource),
    /// This many bytes passed without being recorded.
    Lost(ChunkSource, u64),
    /// The end of one direction of a stream.
    Fin(u64, ChunkSource),
    /// Any other event.
    Event(Box<EventRecord>),
}

/// One observation of the pump.
#[derive(Debug)]
pub struct PumpItem {
    /// Nanoseconds since the start.
    pub t: i64,
    /// The connection, or one of its streams.
    pub channel: Channel,
    /// The content.
    pub what: PumpItemKind,
    pub(super) len: usize,
}

/// Items in order, and their bytes one after another.
#[derive(Default)]
pub struct ItemBatch {
    pub(super) bytes: Vec<u8>,
    pub(super) items: Vec<PumpItem>,
}

impl ItemBatch {
    /// The cost in bytes.
    pub(super) fn size(&self) -> usize {
        self.bytes.len() + self.items.len() * ITEM_COST
    }

    /// Returns `true` if there are no items.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// The items in order, with their bytes.
    pub fn items(&self) -> impl Iterator<Item = (&PumpItem, &[u8])> {
        let mut rest = self.bytes.as_slice();
        self.items.iter().map(move |item| {
            let (mine, after) = rest.split_at_checked(item.len).unwrap_or((rest, &[]));
            rest = after;
            (item, mine)
        })
    }

    /// Removes all items. Keeps at most [`CAPACITY`] bytes of memory.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.items.clear();
        self.bytes.shrink_to(CAPACITY);
    }
}
