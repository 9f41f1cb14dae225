//! Converts lines of a recording to items of an input.

use super::super::chunk::{Chunk, Event, EventKind, Item};
use super::super::time::Time;
use super::{ChunkSource, EventRecord, Record};
use crate::protocol::Direction;
use serde_json::Value;

impl EventRecord {
    /// Returns the event as an item of an input; `started` is the time at `t` = 0.
    pub(crate) fn event(&self, started: Option<Time>) -> Event<'_> {
        Event {
            stream: self.stream,
            direction: self
                .more
                .get("dir")
                .and_then(Value::as_str)
                .and_then(Direction::from_name),
            time: started.map(|started| started + Time::from(self.t)),
            more: Some(&self.more),
            ..Event::new(
                self.conn.unwrap_or_default(),
                EventKind::from_name(&self.event),
            )
        }
    }
}

impl Event<'_> {
    /// Returns the event as a line of a recording; `t` is its time there.
    pub(crate) fn record(&self, t: i64) -> EventRecord {
        let mut more = self.more.cloned().unwrap_or_default();
        if let Some(direction) = self.direction {
            more.insert("dir".into(), ChunkSource::from(direction).name().into());
        }
        EventRecord {
            t,
            conn: Some(self.conn),
            stream: self.stream,
            event: self.what.name().to_owned(),
            more,
        }
    }
}

impl Record {
    /// Returns the line as an item of an input, without its time.
    pub(crate) fn item(&self) -> Item<'_> {
        match self {
            Self::Header(header) => Item::Header(header),
            Self::Event(event) => Item::Event(event.event(None)),
            Self::Chunk {
                conn,
                dir,
                datagram: true,
                bytes,
                ..
            } => datagram_item(*conn, *dir, None, bytes),
            Self::Chunk {
                conn,
                stream,
                dir,
                bytes,
                ..
            } => chunk_item(*conn, *stream, *dir, None, bytes),
        }
    }
}

/// Returns bytes as an item of an input; those of stderr become an event.
pub(crate) fn chunk_item(
    conn: u32,
    stream: Option<u64>,
    dir: ChunkSource,
    time: Option<Time>,
    bytes: &[u8],
) -> Item<'_> {
    let direction = dir.direction();
    if direction.is_none() {
        return Item::Event(Event {
            stream,
            time,
            ..Event::new(conn, EventKind::Stderr(bytes))
        });
    }
    Item::Chunk(Chunk {
        line: None,
        conn,
        stream,
        direction,
        time,
        bytes,
    })
}

/// A datagram, as an event of its connection.
pub(crate) fn datagram_item(
    conn: u32,
    dir: ChunkSource,
    time: Option<Time>,
    bytes: &[u8],
) -> Item<'_> {
    Item::Event(Event {
        direction: dir.direction(),
        time,
        ..Event::new(conn, EventKind::Datagram(bytes))
    })
}

/// The end of one direction of a stream.
pub(crate) fn fin_item(
    conn: u32,
    stream: u64,
    dir: ChunkSource,
    time: Option<Time>,
) -> Item<'static> {
    Item::Event(Event {
        stream: Some(stream),
        direction: dir.direction(),
        time,
        ..Event::new(conn, EventKind::Fin)
    })
}
