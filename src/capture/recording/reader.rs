//! Reads a recording as it arrives, or whole; see [`super`] for the format. Its lines become items of an input.

use super::super::chunk::{Chunk, Event, EventKind, InputPlace, Item, ItemSink, Problem};
use super::super::form::{FormVerdict, InputEnd};
use super::super::lines::{Line, LineForm};
use super::super::readable::{first_key, first_object, starts};
use super::super::time::Time;
use super::continued::{CONTINUED, PART};
use super::{
    ChunkSource, EventRecord, Header, RawLine, Record, RecordingLineKind, VERSION, parse_line,
};
#[cfg(feature = "cli")]
use crate::capture::LINE_LIMIT;
use crate::protocol::Direction;
use serde::Deserialize;
use serde_json::Value;

/// Keys that may come first in a header whose keys are sorted.
const SORTED_KEYS: [&[u8]; 6] = [
    b"argv\"",
    b"captured\"",
    b"connect\"",
    b"listen\"",
    b"protocol\"",
    b"started\"",
];

/// Says if text is a recording.
pub(in crate::capture) fn detect(text: &[u8], end: InputEnd) -> FormVerdict {
    #[derive(Deserialize)]
    struct FirstLine {
        #[allow(dead_code)]
        wiretool: u32,
    }
    match first_key(text).map(|key| starts(key, b"wiretool\"")) {
        Ok(FormVerdict::No) | Err(FormVerdict::No) => {}
        Ok(verdict) | Err(verdict) => {
            return verdict.map(|()| "its first key is wiretool".into());
        }
    }
    match first_object(text, &SORTED_KEYS, end) {
        Ok(line) if serde_json::from_slice::<FirstLine>(line).is_ok() => {
            FormVerdict::Yes("its first line has the key wiretool".into())
        }
        Ok(_) => FormVerdict::No,
        Err(verdict) => verdict,
    }
}

/// A file of a recording that may have several.
pub(crate) struct RecordingPart {
    /// Start, host and process of the recorder.
    recorder: (Option<Time>, [Option<Value>; 2]),
    number: u64,
}

impl RecordingPart {
    /// Returns what a header says; `None` if the recording has only this file.
    pub(crate) fn of(header: &Header) -> Option<Self> {
        let recorder = ["host", "pid"].map(|key| header.more.get(key).cloned());
        Some(Self {
            recorder: (header.started, recorder),
            number: header.more.get(PART)?.as_u64()?,
        })
    }

    /// Returns true if both are files of one recording.
    pub(crate) fn is_of_same_recording(&self, other: &Self) -> bool {
        self.recorder == other.recorder
    }

    /// Returns the number of the file in its recording.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// Returns true if it is the next file after another one.
    pub(crate) fn follows(&self, before: &Self) -> bool {
        self.is_of_same_recording(before) && before.number.checked_add(1) == Some(self.number)
    }
}

#[derive(Default)]
pub(in crate::capture) struct RecordingReader {
    started: Option<Time>,
    chunks: u64,
    /// True if a line follows the last end line.
    open: bool,
    /// What the header says about the file.
    part: Option<RecordingPart>,
    /// The header was that of the next file of the same recording; the event about earlier files is left out.
    continues: bool,
    /// The end line of a file that another one continues, until that one begins.
    end: Option<EventRecord>,
    bytes: Vec<u8>,
}

impl RecordingReader {
    fn header(&mut self, line: Line<'_>, sink: &mut ItemSink<'_>) -> Result<(), String> {
        self.chunks = 0;
        self.started = None;
        let header: Header = parse_line(line.text)?;
        self.started = header.started;
        let part = RecordingPart::of(&header);
        self.continues = self.end.is_some()
            && part
                .as_ref()
                .zip(self.part.as_ref())
                .is_some_and(|(part, before)| part.follows(before));
        self.part = part;
        if self.continues {
            self.end = None;
            return Ok(());
        }
        self.pass_end(sink);
        let place = InputPlace::Line(line.number);
        if header.version != VERSION {
            Problem::error(
                place,
                format!(
                    "version {} of the recording format; this wiretool reads version {VERSION}",
                    header.version
                ),
            )
            .report(sink);
        }
        if line.number > 1 {
            Problem::note(place, "another recording begins here").report(sink);
        }
        sink(Item::Header(&header));
        Ok(())
    }

    fn event(&mut self, line: Line<'_>, sink: &mut ItemSink<'_>) -> Result<(), String> {
        let event: EventRecord = parse_line(line.text)?;
        let what = EventKind::from_name(&event.event);
        if what == EventKind::End {
            self.open = false;
            let counted = event.more.get("chunks").and_then(Value::as_u64);
            if let Some(counted) = counted.filter(|&counted| counted != self.chunks) {
                Problem::note(
                    InputPlace::Line(line.number),
                    format!(
                        "the end line counts {counted} chunks, but the file has {}",
                        self.chunks
                    ),
                )
                .report(sink);
            }
            if event.more.contains_key(CONTINUED) {
                self.end = Some(event);
                return Ok(());
            }
        }
        if what == EventKind::Continued && std::mem::take(&mut self.continues) {
            return Ok(());
        }
        sink(Item::Event(event.event(self.started)));
        Ok(())
    }

    /// Passes on the end of a file that no other one continues here.
    fn pass_end(&mut self, sink: &mut ItemSink<'_>) {
        if let Some(end) = self.end.take() {
            sink(Item::Event(end.event(self.started)));
        }
    }

    fn read(&mut self, line: Line<'_>, sink: &mut ItemSink<'_>) -> Result<(), String> {
        let raw = RawLine::parse(line.text)?;
        self.bytes.clear();
        let kind = raw.read_into(&mut self.bytes)?;
        self.open = true;
        let dir = match kind {
            RecordingLineKind::Header => return self.header(line, sink),
            RecordingLineKind::Event => return self.event(line, sink),
            RecordingLineKind::Chunk(dir) => dir,
        };
        self.chunks += 1;
        let time = self.started.map(|started| started + Time::from(raw.t));
        sink(if raw.datagram {
            datagram_item(raw.conn, dir, time, &self.bytes)
        } else {
            chunk_item(raw.conn, raw.stream, dir, time, &self.bytes)
        });
        Ok(())
    }
}

impl LineForm for RecordingReader {
    fn line(&mut self, line: Line<'_>, sink: &mut ItemSink<'_>) {
        if line.text.trim_ascii().is_empty() {
            return;
        }
        if let Err(text) = self.read(line, sink) {
            let place = InputPlace::Line(line.number);
            self.open = true;
            sink(Item::Problem(if line.ended {
                Problem::error(place, text)
            } else {
                Problem::note(place, "the last line is incomplete and was ignored")
            }));
        }
    }

    fn finish(&mut self, sink: &mut ItemSink<'_>) {
        self.pass_end(sink);
        if self.open {
            Problem::note(
                InputPlace::End,
                "the recording has no end line: its writer was stopped, or still runs",
            )
            .report(sink);
        }
    }

    fn ignored(&self) -> u64 {
        0
    }
}

/// Reads all lines of a whole recording; notes for the user go to `notes`.
#[cfg(feature = "cli")]
pub(crate) fn read_records(text: &[u8], notes: &mut Vec<String>) -> Result<Vec<Record>, String> {
    let mut records = Vec::new();
    for (n, line) in text.split_inclusive(|b| *b == b'\n').enumerate() {
        if line.len() > LINE_LIMIT {
            return Err(format!(
                "line {}: longer than the limit of {LINE_LIMIT} bytes",
                n + 1
            ));
        }
        let line_text = line.trim_ascii();
        if line_text.is_empty() {
            continue;
        }
        match Record::parse(line_text) {
            Ok(Record::Header(header)) if header.version != VERSION => {
                return Err(format!(
                    "version {} of the recording format is not read",
                    header.version
                ));
            }
            Ok(record) => records.push(record),
            Err(_) if !line.ends_with(b"\n") => {
                notes.push("the last line is incomplete and was ignored".into());
            }
            Err(_) if records.is_empty() => break,
            Err(error) => return Err(format!("line {}: {error}", n + 1)),
        }
    }
    match records.first() {
        Some(Record::Header(_)) => Ok(records),
        _ => Err("not a recording: its first line is not the header of one".into()),
    }
}

impl EventRecord {
    /// Returns an event of one connection without further keys.
    pub(crate) fn new(what: EventKind<'_>, t: i64, conn: u32) -> Self {
        Self {
            t,
            conn: Some(conn),
            event: what.name().to_owned(),
            ..Self::default()
        }
    }

    /// Returns the end of one direction. `is_truncated`: TLS ended without `close_notify`, so bytes may be missing.
    pub(crate) fn eof(t: i64, conn: u32, dir: ChunkSource, is_truncated: bool) -> Self {
        let mut eof = Self::new(EventKind::Eof, t, conn);
        eof.more.insert("dir".into(), dir.name().into());
        if is_truncated {
            eof.more.insert("close_notify".into(), false.into());
        }
        eof
    }

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
