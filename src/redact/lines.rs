//! Reads all lines of a recording, and writes them with changes.

use super::StreamBytes;
use super::positions::{Changes, replace_alphanumerics};
use super::replacement::Replacer;
use crate::capture::{ChunkSource, Item, LINE_LIMIT, Record, recording};
use crate::protocol::Lane;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Reads all lines; notes for the user go to `notes`.
pub(super) fn read_records(text: &[u8], notes: &mut Vec<String>) -> Result<Vec<Record>, String> {
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

/// Returns all bytes of each stream.
pub(super) fn stream_bytes(records: &[Record]) -> StreamBytes<'_> {
    let mut streams = StreamBytes::new();
    for record in records {
        if let Item::Chunk(chunk) = record.item() {
            let bytes = chunk.bytes;
            streams
                .entry(chunk.origin().lane())
                .and_modify(|all| all.to_mut().extend_from_slice(bytes))
                .or_insert(Cow::Borrowed(bytes));
        }
    }
    streams
}

/// Writes the recording with all changes.
pub(super) fn write_records(
    records: &mut [Record],
    changes: &Changes,
    replacer: &Replacer,
    out: &mut Vec<u8>,
) {
    let mut offsets: BTreeMap<Lane, u64> = BTreeMap::new();
    let mut errors: BTreeMap<u32, Vec<u8>> = BTreeMap::new();
    for record in records.iter() {
        if let Record::Chunk {
            conn,
            dir: ChunkSource::Stderr,
            bytes,
            ..
        } = record
        {
            errors.entry(*conn).or_default().extend(bytes);
        }
    }
    for text in errors.values_mut() {
        *text = replace_alphanumerics(text, replacer);
    }
    for record in records {
        match record {
            Record::Header(header) => {
                for argument in header.argv.iter_mut().flatten() {
                    *argument = replacer.replace_text(argument);
                }
            }
            // No protocol reads datagrams.
            Record::Chunk {
                datagram: true,
                bytes,
                ..
            } => bytes.fill(0),
            Record::Chunk {
                conn,
                stream,
                dir,
                bytes,
                ..
            } => {
                let lane = Lane {
                    conn: Some(*conn),
                    stream: *stream,
                    direction: dir.direction(),
                };
                let offset = offsets.entry(lane).or_default();
                match (lane.direction, errors.get(conn)) {
                    (Some(_), _) => changes.apply(lane, *offset, bytes),
                    (None, Some(text)) => {
                        let start = *offset as usize;
                        let new = text.get(start..).unwrap_or_default();
                        bytes
                            .iter_mut()
                            .zip(new)
                            .for_each(|(byte, new)| *byte = *new);
                    }
                    (None, None) => {}
                }
                *offset += bytes.len() as u64;
            }
            Record::Event(_) => {}
        }
        record.write(out);
    }
}
