//! Writes the items of any input as a recording.

use super::super::chunk::{Event, EventKind, Item};
use super::super::time::Time;
use super::{ChunkSource, EventRecord, Header, RecordingWriter};
use crate::protocol::Direction;
use serde_json::json;

/// Converts items to the lines of a recording. Decoding it gives the messages of the input again.
#[derive(Debug, Default)]
pub struct ItemRecorder {
    writer: Option<RecordingWriter>,
    started: Option<Time>,
    /// The time of the last line, in nanoseconds since the start.
    t: i64,
    /// The direction of bytes whose direction the input does not give; `None` is client to server.
    pub direction: Option<Direction>,
    /// The highest number of a connection so far.
    highest: u32,
    /// What is added to the numbers of connections of this input; `None` until its first bytes.
    added: Option<u32>,
    /// It is not the first input.
    is_later: bool,
}

impl ItemRecorder {
    /// Begins another input: its connections get numbers of their own.
    pub fn begin_input(&mut self) {
        self.is_later |= self.added.take().is_some();
    }

    /// Returns the number of a connection in the recording.
    fn conn(&mut self, conn: u32) -> u32 {
        let highest = self.is_later.then_some(self.highest);
        let added = *self.added.get_or_insert(match (highest, conn) {
            (None, _) => 0,
            (Some(highest), 0) => highest.saturating_add(1),
            (Some(highest), _) => highest,
        });
        let conn = conn.saturating_add(added);
        self.highest = self.highest.max(conn);
        conn
    }

    /// Appends the lines of an item to `out`.
    pub fn item(&mut self, item: &Item<'_>, out: &mut Vec<u8>) {
        match item {
            Item::Header(header) if self.writer.is_none() => self.begin(header, out),
            Item::Chunk(chunk) => {
                let source = self.source(chunk.direction);
                let conn = self.conn(chunk.conn);
                let t = self.time(chunk.time, out);
                if let Some(writer) = &mut self.writer {
                    writer.chunk(t, conn, chunk.stream, source, chunk.bytes, out);
                }
            }
            Item::Event(event) => self.event(event, out),
            Item::Gap(gap) => {
                let more = [
                    ("dir", json!(self.source(gap.direction).name())),
                    ("len", json!(gap.to.saturating_sub(gap.from))),
                ];
                let lost = EventRecord {
                    conn: Some(self.conn(0)),
                    t: self.time(None, out),
                    event: "lost".into(),
                    more: more
                        .map(|(key, value)| (key.to_owned(), value))
                        .into_iter()
                        .collect(),
                    ..EventRecord::default()
                };
                if let Some(writer) = &mut self.writer {
                    writer.event(&lost, out);
                }
            }
            _ => {}
        }
    }

    /// Appends the last line.
    pub fn finish(mut self, out: &mut Vec<u8>) {
        let t = self.time(None, out);
        if let Some(writer) = self.writer {
            writer.end(t, out);
        }
    }

    fn begin(&mut self, header: &Header, out: &mut Vec<u8>) {
        self.started = header.started;
        self.writer = Some(RecordingWriter::new(header, out));
    }

    fn source(&self, direction: Option<Direction>) -> ChunkSource {
        let direction = direction.or(self.direction);
        direction.unwrap_or(Direction::ToServer).into()
    }

    /// Returns the time of a line; writes the header before the first one.
    fn time(&mut self, time: Option<Time>, out: &mut Vec<u8>) -> i64 {
        if self.writer.is_none() {
            let header = Header {
                started: time,
                ..Header::new(0)
            };
            self.begin(&header, out);
        }
        if let (Some(time), Some(started)) = (time, self.started) {
            self.t = i64::try_from(time - started).unwrap_or(self.t);
        }
        self.t
    }

    fn event(&mut self, event: &Event<'_>, out: &mut Vec<u8>) {
        let conn = self.conn(event.conn);
        let event = Event { conn, ..*event };
        let t = self.time(event.time, out);
        let Some(writer) = &mut self.writer else {
            return;
        };
        match event.what {
            EventKind::Stderr(bytes) => {
                writer.chunk(t, event.conn, event.stream, ChunkSource::Stderr, bytes, out);
            }
            EventKind::Datagram(bytes) => {
                let source = ChunkSource::from(event.direction.unwrap_or(Direction::ToServer));
                writer.datagram(t, event.conn, source, bytes, out);
            }
            EventKind::End => {}
            _ => writer.event(&event.record(t), out),
        }
    }
}
