//! Writes the lines of a recording with changes.

use super::StreamBytes;
use super::positions::{Changes, replace_alphanumerics};
use super::replacement::Replacer;
use crate::capture::{ChunkSource, Item, Record};
use crate::protocol::Lane;
use std::borrow::Cow;
use std::collections::BTreeMap;

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
                    (Some(_), _) => changes.xor(lane, *offset, bytes),
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
