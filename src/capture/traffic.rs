//! Items of captures that other programs made: their connections, with addresses, times and missing bytes.
//!
//! ```text
//!   header                          connections are numbered from 0
//!   open   conn 0  from .. to ..
//!   chunk  conn 0  c2s  bytes
//!   lost   conn 0  c2s  len         bytes that the capture does not hold
//! ```

use super::chunk::{Chunk, Event, EventKind, Item, ItemSink};
use super::form::Form;
use super::recording::{ChunkSource, Header, VERSION};
use super::time::Time;
use crate::protocol::Direction;
use serde_json::{Map, Value};

/// The maximum number of connections whose names are known.
pub(super) const MAX_CONNECTIONS: usize = 1 << 16;

/// Emits the items of numbered connections; a header comes before the first.
#[derive(Default)]
pub(super) struct Traffic {
    /// The number of connections.
    conns: u32,
}

impl Traffic {
    /// Returns true before the first connection.
    pub(super) fn is_empty(&self) -> bool {
        self.conns == 0
    }

    /// Opens the next connection of a capture of this form and returns its number. `keys` describe it: addresses, a
    /// process, a file descriptor.
    pub(super) fn open(
        &mut self,
        form: Form,
        time: Option<Time>,
        keys: &[(&str, Option<&str>)],
        sink: &mut ItemSink<'_>,
    ) -> u32 {
        if self.conns == 0 {
            sink(Item::Header(&Header {
                version: VERSION,
                started: time,
                more: Map::from_iter([(Header::CAPTURED.to_owned(), form.name().into())]),
                ..Header::default()
            }));
        }
        let conn = self.conns;
        self.conns = self.conns.saturating_add(1);
        let known = keys
            .iter()
            .filter_map(|(key, value)| Some(((*key).to_owned(), Value::from((*value)?))));
        let more: Map<String, Value> = known.collect();
        emit_event(conn, None, time, EventKind::Open, Some(&more), sink);
        conn
    }
}

/// Emits bytes of one direction of a connection.
pub(super) fn emit_chunk(
    conn: u32,
    direction: Direction,
    time: Option<Time>,
    bytes: &[u8],
    sink: &mut ItemSink<'_>,
) {
    if bytes.is_empty() {
        return;
    }
    sink(Item::Chunk(Chunk {
        conn,
        time,
        ..Chunk::of(Some(direction), bytes)
    }));
}

/// Emits that `len` bytes of one direction of a connection are missing.
pub(super) fn emit_lost(
    conn: u32,
    direction: Direction,
    time: Option<Time>,
    len: u64,
    sink: &mut ItemSink<'_>,
) {
    if len == 0 {
        return;
    }
    let more = Map::from_iter([
        ("dir".to_owned(), ChunkSource::from(direction).name().into()),
        ("len".to_owned(), len.into()),
    ]);
    let lost = EventKind::Lost;
    emit_event(conn, Some(direction), time, lost, Some(&more), sink);
}

/// Emits that the order of the messages is not known from here on.
pub(super) fn emit_unordered(conn: u32, time: Option<Time>, sink: &mut ItemSink<'_>) {
    emit_event(conn, None, time, EventKind::Unordered, None, sink);
}

/// Emits the end of one direction of a connection, or of the whole connection.
pub(super) fn emit_end(
    conn: u32,
    direction: Option<Direction>,
    time: Option<Time>,
    sink: &mut ItemSink<'_>,
) {
    let what = match direction {
        Some(_) => EventKind::Eof,
        None => EventKind::Close,
    };
    emit_event(conn, direction, time, what, None, sink);
}

fn emit_event(
    conn: u32,
    direction: Option<Direction>,
    time: Option<Time>,
    what: EventKind<'_>,
    more: Option<&Map<String, Value>>,
    sink: &mut ItemSink<'_>,
) {
    sink(Item::Event(Event {
        direction,
        time,
        more,
        ..Event::new(conn, what)
    }));
}
