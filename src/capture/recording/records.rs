//! Reads a whole recording.

use super::{Record, VERSION};
use crate::capture::LINE_LIMIT;

/// Reads all lines; notes for the user go to `notes`.
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
