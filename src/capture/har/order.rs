//! The order of items by time: entries of a HAR file are whole exchanges, and exchanges overlap.

use super::super::chunk::{Item, ItemSink};
use super::super::kept::KeptItem;
use super::super::time::Time;
use super::super::traffic::MAX_CONNECTIONS;
use crate::protocol::Direction;
use std::collections::{BTreeMap, HashMap};

/// The maximum number of bytes that wait for earlier items.
const MAX_BYTES: usize = 16 << 20;

/// The bytes that an item needs beside its content.
const ITEM_SIZE: usize = 512;

/// Passes items on in the order of their times. Each direction of a connection keeps its own order, and a response stands after its
/// request.
#[derive(Default)]
pub(super) struct TimeOrder {
    /// The items that wait, by time and number.
    waiting: BTreeMap<(Option<Time>, u64), KeptItem>,
    bytes: usize,
    number: u64,
    /// The time of the last item.
    last: Option<Time>,
    /// The time of the last item of each connection: from the client, from the server.
    conns: HashMap<u32, [Option<Time>; 2]>,
}

impl TimeOrder {
    pub fn push(&mut self, item: &Item<'_>, sink: &mut ItemSink<'_>) {
        let time = self.time_of(item);
        self.last = time;
        self.bytes += size_of(item);
        self.waiting.insert((time, self.number), KeptItem::of(item));
        self.number += 1;
        while self.bytes > MAX_BYTES {
            self.pass_first(sink);
        }
        if self.conns.len() > MAX_CONNECTIONS {
            self.finish(sink);
            self.conns.clear();
        }
    }

    pub fn finish(&mut self, sink: &mut ItemSink<'_>) {
        while !self.waiting.is_empty() {
            self.pass_first(sink);
        }
    }

    /// Returns the time that orders an item: its own, but not before that of what it follows.
    fn time_of(&mut self, item: &Item<'_>) -> Option<Time> {
        let (conn, direction, time) = match item {
            Item::Chunk(chunk) => (chunk.conn, chunk.direction, chunk.time),
            Item::Event(event) => (event.conn, event.direction, event.time),
            _ => return self.last,
        };
        let [sent, received] = self.conns.entry(conn).or_default();
        let time = time.or(self.last).max(*sent);
        if direction == Some(Direction::ToServer) {
            *sent = time;
            return time;
        }
        *received = time.max(*received);
        *received
    }

    fn pass_first(&mut self, sink: &mut ItemSink<'_>) {
        if let Some((_, kept)) = self.waiting.pop_first() {
            let item = kept.item();
            self.bytes -= size_of(&item);
            sink(item);
        }
    }
}

fn size_of(item: &Item<'_>) -> usize {
    let bytes = match item {
        Item::Chunk(chunk) => chunk.bytes.len(),
        _ => 0,
    };
    ITEM_SIZE + bytes
}
