//! Reads a recording as it arrives; see [`super`] for what one looks like.

use super::super::chunk::{Chunk, Event, Item, Place, Problem, Sink, What};
use super::super::lines::{Line, LineForm};
use super::super::time::Time;
use super::{EventRecord, Header, Kind, RawLine, Stream, VERSION, from_line};
use crate::protocol::Direction;
use serde_json::Value;

#[derive(Default)]
pub(in crate::capture) struct RecordingReader {
    started: Option<Time>,
    chunks: u64,
    /// Whether anything was read after the last end line.
    open: bool,
    bytes: Vec<u8>,
}

impl RecordingReader {
    fn time(&self, t: i64) -> Option<Time> {
        self.started.map(|started| started + t as Time)
    }

    fn header(&mut self, line: Line<'_>, sink: &mut Sink<'_>) -> Result<(), String> {
        self.chunks = 0;
        self.started = None;
        let header: Header = from_line(line.text)?;
        self.started = header.started;
        let place = Place::Line(line.number);
        if header.version != VERSION {
            sink(Item::Problem(Problem::error(
                place,
                format!(
                    "version {} of the recording format; this wiretool reads version {VERSION}",
                    header.version
                ),
            )));
        }
        if line.number > 1 {
            sink(Item::Problem(Problem::note(
                place,
                "another recording begins here",
            )));
        }
        sink(Item::Header(&header));
        Ok(())
    }

    fn event(&mut self, line: Line<'_>, sink: &mut Sink<'_>) -> Result<(), String> {
        let event: EventRecord = from_line(line.text)?;
        let what = What::from_name(&event.event);
        if what == What::End {
            self.open = false;
            let told = event.more.get("chunks").and_then(Value::as_u64);
            if let Some(told) = told.filter(|&told| told != self.chunks) {
                sink(Item::Problem(Problem::note(
                    Place::Line(line.number),
                    format!(
                        "the end line counts {told} chunks, {} are here",
                        self.chunks
                    ),
                )));
            }
        }
        sink(Item::Event(Event {
            conn: event.conn.unwrap_or(0),
            direction: event
                .more
                .get("dir")
                .and_then(Value::as_str)
                .and_then(Direction::from_name),
            time: self.time(event.t),
            what,
            more: Some(&event.more),
        }));
        Ok(())
    }

    fn read(&mut self, line: Line<'_>, sink: &mut Sink<'_>) -> Result<(), String> {
        let raw = RawLine::parse(line.text)?;
        self.bytes.clear();
        let kind = raw.read(&mut self.bytes)?;
        self.open = true;
        let stream = match kind {
            Kind::Header => return self.header(line, sink),
            Kind::Event => return self.event(line, sink),
            Kind::Chunk(stream) => stream,
        };
        self.chunks += 1;
        let direction = match stream {
            Stream::C2s => Some(Direction::ToServer),
            Stream::S2c => Some(Direction::ToClient),
            Stream::Stderr => None,
        };
        let (conn, time, bytes) = (raw.conn, self.time(raw.t), self.bytes.as_slice());
        sink(match stream {
            Stream::Stderr => Item::Event(Event {
                conn,
                direction,
                time,
                what: What::Stderr(bytes),
                more: None,
            }),
            _ => Item::Chunk(Chunk {
                conn,
                direction,
                time,
                bytes,
            }),
        });
        Ok(())
    }
}

impl LineForm for RecordingReader {
    fn line(&mut self, line: Line<'_>, sink: &mut Sink<'_>) {
        if line.text.trim_ascii().is_empty() {
            return;
        }
        if let Err(text) = self.read(line, sink) {
            let place = Place::Line(line.number);
            self.open = true;
            sink(Item::Problem(if line.ended {
                Problem::error(place, text)
            } else {
                Problem::note(place, "the last line is torn and left out")
            }));
        }
    }

    fn finish(&mut self, sink: &mut Sink<'_>) {
        if self.open {
            sink(Item::Problem(Problem::note(
                Place::End,
                "the recording has no end line: its writer was stopped",
            )));
        }
    }

    fn ignored(&self) -> u64 {
        0
    }
}
