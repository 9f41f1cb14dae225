//! The parts of a recording that can be left out, and the recording without some of them.

use crate::capture::EventKind;
use crate::capture::recording::{Header, Record, RecordingWriter};
use crate::conversation::{Output, RuleSettings, Run};
use crate::decoder::{DecodeOptions, Decoded};
use crate::framing::Framing;
use crate::protocol::Lane;
use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::ops::{ControlFlow, Range};

/// A message or a control frame.
#[derive(Clone, Debug)]
pub(super) struct Part {
    pub(super) lane: Lane,
    /// Its bytes in the stream of its direction.
    pub(super) range: Range<u64>,
    /// The index of the first message of its operation; its own if it belongs to none.
    pub(super) operation: u64,
    /// It opens its connection or session, so it stays as long as that.
    pub(super) opens: bool,
    /// It cannot be decoded.
    pub(super) is_faulty: bool,
    pub(super) protocol: String,
    /// What it is: kind, id, subject.
    pub(super) identity: String,
    /// Its line of `decode -f json --exact`, if it is asked for.
    pub(super) line: Vec<u8>,
}

/// The messages of a recording.
#[derive(Clone, Debug, Default)]
pub(super) struct Parts {
    pub(super) all: Vec<Part>,
}

/// A range of a stream, and the bytes that replace it.
type Replacement = (Range<u64>, Vec<u8>);

/// What changes in a recording.
#[derive(Default)]
pub(super) struct Edits {
    /// Connections that are left out.
    pub(super) dropped: BTreeSet<u32>,
    /// The changes of each stream.
    pub(super) ranges: BTreeMap<Lane, Vec<Replacement>>,
}

impl Parts {
    /// Decodes the recording. `line` writes the line of a message, if lines are needed.
    pub(super) fn read(
        records: &[Record],
        options: DecodeOptions<'_>,
        line: &dyn Fn(&Decoded<'_>, &mut Vec<u8>),
    ) -> Self {
        let rules = RuleSettings {
            operations: true,
            ..RuleSettings::default()
        };
        let mut run = Run::of_items(options, Some(rules));
        let mut reader = PartReader::default();
        let mut sink = |output: Output<'_>| -> ControlFlow<Infallible> {
            if let Output::Message(decoded, verdict) = output {
                let verdict = verdict.unwrap_or_default();
                let operation = verdict.operation.map(|operation| operation.index);
                let answers = verdict.answer.map(|answer| answer.to);
                reader.see(decoded, operation, answers, line);
            }
            ControlFlow::Continue(())
        };
        for record in records {
            let ControlFlow::Continue(()) = run.item(&record.item(), &mut sink);
        }
        let ControlFlow::Continue(()) = run.finish(&mut sink);
        reader.parts
    }

    /// Returns those that stay.
    pub(super) fn only(&self, stays: &[bool]) -> Self {
        let all = self.all.iter().zip(stays).filter(|(_, stays)| **stays);
        let all = all.map(|(part, _)| part.clone()).collect();
        Self { all }
    }

    /// Returns true if each stream has the wanted messages, with no fault that these do not have. The order between streams
    /// may follow from the messages themselves.
    pub(super) fn fits(&self, wanted: &Self) -> bool {
        let same = |(own, wanted): (&&Part, &&Part)| {
            own.identity == wanted.identity
                && own.protocol == wanted.protocol
                && (wanted.is_faulty || !own.is_faulty)
        };
        let (own, wanted) = (self.by_lane(), wanted.by_lane());
        own.len() == wanted.len()
            && own
                .iter()
                .zip(&wanted)
                .all(|((lane, own), (wanted_lane, wanted))| {
                    lane == wanted_lane
                        && own.len() == wanted.len()
                        && own.iter().zip(wanted).all(same)
                })
    }

    fn by_lane(&self) -> BTreeMap<Lane, Vec<&Part>> {
        let mut lanes: BTreeMap<Lane, Vec<&Part>> = BTreeMap::new();
        for part in &self.all {
            lanes.entry(part.lane).or_default().push(part);
        }
        lanes
    }
}

#[derive(Default)]
struct PartReader {
    parts: Parts,
    /// The indexes of messages that open a session.
    hellos: BTreeSet<u64>,
}

impl PartReader {
    fn see(
        &mut self,
        decoded: &Decoded<'_>,
        operation: Option<u64>,
        answers: Option<u64>,
        line: &dyn Fn(&Decoded<'_>, &mut Vec<u8>),
    ) {
        let (frame, message) = (decoded.frame, decoded.message);
        let is_hello = decoded.protocol.is_hello(message);
        if is_hello {
            self.hellos.insert(decoded.index);
        }
        let answers_hello = answers.is_some_and(|to| self.hellos.contains(&to));
        // The upgrade of a WebSocket: its connection cannot be read without.
        let is_upgrade = frame.framing == Framing::WebSocket
            && matches!(frame.control, Some("http-request" | "http-response"));
        let mut text = Vec::new();
        line(decoded, &mut text);
        let is_faulty = decoded.is_faulty();
        self.parts.all.push(Part {
            lane: decoded.origin.lane(),
            // With the line end, which is in no frame.
            range: frame.offset..decoded.next.max(frame.offset + frame.len),
            operation: operation.unwrap_or(decoded.index),
            opens: is_hello || answers_hello || is_upgrade,
            is_faulty,
            protocol: decoded.protocol.name().to_owned(),
            identity: format!("{} {:?} {:?}", message.kind, message.id, message.subject),
            line: text,
        });
    }
}

impl Edits {
    /// Leaves out the bytes of a part, or replaces them.
    pub(super) fn replace(&mut self, part: &Part, new: Vec<u8>) {
        let ranges = self.ranges.entry(part.lane).or_default();
        ranges.push((part.range.clone(), new));
    }

    /// Returns the recording with the changes. Chunks without bytes, and connections without chunks, are left out.
    pub(super) fn apply(mut self, records: &[Record]) -> Vec<Record> {
        for ranges in self.ranges.values_mut() {
            ranges.sort_by_key(|(range, _)| range.start);
        }
        let mut offsets: BTreeMap<Lane, u64> = BTreeMap::new();
        let mut changed = Vec::with_capacity(records.len());
        for record in records {
            match record {
                Record::Chunk { conn, .. } if self.dropped.contains(conn) => {}
                Record::Event(event) if event.conn.is_some_and(|c| self.dropped.contains(&c)) => {}
                Record::Chunk {
                    conn,
                    stream,
                    dir,
                    bytes,
                    datagram: false,
                    ..
                } => {
                    let lane = Lane {
                        conn: Some(*conn),
                        stream: *stream,
                        direction: dir.direction(),
                    };
                    let offset = offsets.entry(lane).or_default();
                    let ranges = self.ranges.get(&lane).filter(|_| lane.direction.is_some());
                    let new = ranges.map(|ranges| changed_bytes(bytes, *offset, ranges));
                    *offset += bytes.len() as u64;
                    let mut record = record.clone();
                    if let (Some(new), Record::Chunk { bytes, .. }) = (new, &mut record) {
                        *bytes = new;
                    }
                    if matches!(&record, Record::Chunk { bytes, .. } if !bytes.is_empty()) {
                        changed.push(record);
                    }
                }
                _ => changed.push(record.clone()),
            }
        }
        changed
    }
}

/// Returns the bytes of a chunk at an offset, with the changes.
fn changed_bytes(bytes: &[u8], offset: u64, ranges: &[Replacement]) -> Vec<u8> {
    let end = offset + bytes.len() as u64;
    let mut new = Vec::with_capacity(bytes.len());
    let mut at = offset;
    let part = |from: u64, to: u64| {
        let range = (from - offset) as usize..(to - offset) as usize;
        bytes.get(range).unwrap_or_default()
    };
    let first = ranges.partition_point(|(range, _)| range.end <= offset);
    for (range, replacement) in ranges.get(first..).unwrap_or_default() {
        if range.start >= end {
            break;
        }
        if range.start >= at {
            new.extend_from_slice(part(at, range.start));
            new.extend_from_slice(replacement);
        }
        at = at.max(range.end.min(end));
    }
    new.extend_from_slice(part(at, end));
    new
}

/// Returns the connections of records, in order.
pub(super) fn connections(records: &[Record]) -> Vec<u32> {
    let conns = records.iter().filter_map(|record| match record {
        Record::Chunk { conn, .. } => Some(*conn),
        Record::Event(event) => event.conn,
        Record::Header(_) => None,
    });
    conns.collect::<BTreeSet<u32>>().into_iter().collect()
}

/// Writes records as a recording; the last line counts what is there.
pub(super) fn write(records: &[Record]) -> Vec<u8> {
    let mut out = Vec::new();
    let header = records.iter().find_map(|record| match record {
        Record::Header(header) => Some(header.clone()),
        _ => None,
    });
    let mut writer = RecordingWriter::new(&header.unwrap_or_else(|| Header::new(0)), &mut out);
    let mut last = 0;
    let mut end = None;
    for record in records {
        match record {
            Record::Header(_) => {}
            Record::Chunk {
                t,
                conn,
                stream,
                dir,
                datagram,
                bytes,
            } => {
                last = *t;
                if *datagram {
                    writer.datagram(*t, *conn, *dir, bytes, &mut out);
                } else {
                    writer.chunk(*t, *conn, *stream, *dir, bytes, &mut out);
                }
            }
            Record::Event(event) if event.event == EventKind::End.name() => end = Some(event.t),
            Record::Event(event) => {
                last = event.t;
                writer.event(event, &mut out);
            }
        }
    }
    // A recording that was cut stays one.
    if let Some(end) = end {
        writer.end(end.max(last), &mut out);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_leave_the_chunks_that_they_are_in() {
        let ranges = [(2..4, Vec::new()), (5..9, b"XY".to_vec())];
        let chunks: [(u64, &[u8], &[u8]); 4] = [
            (0, b"0123456789", b"014XY9"),
            (3, b"3456", b"4XY"),
            (6, b"6789", b"9"),
            (9, b"9", b"9"),
        ];
        for (offset, bytes, wanted) in chunks {
            assert_eq!(changed_bytes(bytes, offset, &ranges), wanted, "{offset}");
        }
    }
}
