//! Recordings, read whole and written with changes.

use super::Streams;
use super::places::{Changes, all};
use super::stand_in::StandIn;
use crate::capture::{LINE_LIMIT, Record, Stream, recording};
use crate::protocol::Direction;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// All lines; what is worth knowing of them goes to `notes`.
pub(super) fn read(text: &[u8], notes: &mut Vec<String>) -> Result<Vec<Record>, String> {
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
            Ok(Record::Header(header)) if header.version != recording::VERSION => {
                return Err(format!(
                    "version {} of the recording format is not read",
                    header.version
                ));
            }
            Ok(record) => records.push(record),
            Err(_) if !line.ends_with(b"\n") => {
                notes.push("the last line is torn and left out".into());
            }
            Err(_) if records.is_empty() => break,
            Err(error) => return Err(format!("line {}: {error}", n + 1)),
        }
    }
    match records.first() {
        Some(Record::Header(_)) => Ok(records),
        _ => Err("it is no recording: its first line is not a recording's".into()),
    }
}

/// Which way a stream goes.
pub(super) fn direction(stream: Stream) -> Option<Direction> {
    match stream {
        Stream::C2s => Some(Direction::ToServer),
        Stream::S2c => Some(Direction::ToClient),
        Stream::Stderr => None,
    }
}

/// All bytes of each stream.
pub(super) fn streams(records: &[Record]) -> Streams<'_> {
    let mut streams = Streams::new();
    for record in records {
        if let Record::Chunk {
            conn,
            stream,
            bytes,
            ..
        } = record
            && let Some(direction) = direction(*stream)
        {
            streams
                .entry((*conn, direction))
                .and_modify(|all| all.to_mut().extend_from_slice(bytes))
                .or_insert(Cow::Borrowed(bytes));
        }
    }
    streams
}

/// The recording with all changes made.
pub(super) fn write(
    records: &mut [Record],
    changes: &Changes,
    stand_in: &StandIn,
    out: &mut Vec<u8>,
) {
    let mut places: BTreeMap<(u32, Stream), u64> = BTreeMap::new();
    let mut errors: BTreeMap<u32, Vec<u8>> = BTreeMap::new();
    for record in records.iter() {
        if let Record::Chunk {
            conn,
            stream: Stream::Stderr,
            bytes,
            ..
        } = record
        {
            errors.entry(*conn).or_default().extend(bytes);
        }
    }
    for text in errors.values_mut() {
        *text = all(text, stand_in);
    }
    for record in records {
        match record {
            Record::Header(header) => {
                for word in header.argv.iter_mut().flatten() {
                    *word = stand_in.text(word);
                }
            }
            Record::Chunk {
                conn,
                stream,
                bytes,
                ..
            } => {
                let place = places.entry((*conn, *stream)).or_default();
                match (direction(*stream), errors.get(conn)) {
                    (Some(direction), _) => changes.apply(*conn, direction, *place, bytes),
                    (None, Some(text)) => {
                        let start = *place as usize;
                        let made = text.get(start..).unwrap_or_default();
                        bytes
                            .iter_mut()
                            .zip(made)
                            .for_each(|(byte, made)| *byte = *made);
                    }
                    (None, None) => {}
                }
                *place += bytes.len() as u64;
            }
            Record::Event(_) => {}
        }
        record.write(out);
    }
}
