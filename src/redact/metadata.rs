//! Redacts the header and the events of a recording, and counts the bytes that were not decoded.

use super::finder::SecretFinder;
use super::positions::replace_alphanumerics;
use super::{Redactor, StreamBytes};
use crate::capture::{ChunkSource, Record};
use crate::decoder::Decoded;
use crate::framing::Framing;
use crate::framing::fields::{self, is_secret_name};
use crate::protocol::{Direction, Lane};
use crate::tape::{Scalar, Value as Read};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// The texts and members of a header or an event that can contain secrets, with the number of the record.
pub(super) struct RecordMetadata {
    record: usize,
    listen: Option<String>,
    connect: Option<String>,
    more: Map<String, Value>,
}

/// Returns those of all records.
pub(super) fn collect(records: &[Record]) -> Vec<RecordMetadata> {
    let metadata = records.iter().enumerate().filter_map(|(record, what)| {
        let (listen, connect, more) = match what {
            Record::Header(header) => (&header.listen, &header.connect, &header.more),
            Record::Event(event) => (&None, &None, &event.more),
            Record::Chunk { .. } => return None,
        };
        Some(RecordMetadata {
            record,
            listen: listen.clone(),
            connect: connect.clone(),
            more: more.clone(),
        })
    });
    metadata.collect()
}

/// Stores their secrets.
pub(super) fn find_secrets(redactor: &mut Redactor<'_, '_>, records: &[Record]) {
    for entry in collect(records) {
        for text in [&entry.listen, &entry.connect].into_iter().flatten() {
            redactor.head_secrets(text.as_bytes());
            redactor.search(text);
        }
        for (name, value) in &entry.more {
            find_in_value(redactor, is_secret(redactor, name), value);
        }
    }
}

fn is_secret(redactor: &Redactor<'_, '_>, name: &str) -> bool {
    redactor.is_named(name.as_bytes()) || is_secret_name(name.as_bytes())
}

fn find_in_value(redactor: &mut Redactor<'_, '_>, secret: bool, value: &Value) {
    match value {
        Value::String(text) if secret => redactor.add_text(text),
        Value::String(text) => {
            redactor.head_secrets(text.as_bytes());
            redactor.search(text);
        }
        Value::Array(items) => items
            .iter()
            .for_each(|item| find_in_value(redactor, secret, item)),
        Value::Object(members) => {
            for (name, value) in members {
                find_in_value(redactor, secret || is_secret(redactor, name), value);
            }
        }
        _ => {}
    }
}

/// Replaces the secrets. After the first pass, only those that the finder finds are left.
pub(super) fn replace_secrets(
    redactor: &Redactor<'_, '_>,
    metadata: &mut [RecordMetadata],
    is_first: bool,
) {
    for entry in metadata {
        let addresses = [&mut entry.listen, &mut entry.connect];
        for text in addresses.into_iter().flatten() {
            replace_in_text(redactor, is_first, text);
        }
        for (name, value) in &mut entry.more {
            let secret = is_first && is_secret(redactor, name);
            replace_in_value(redactor, is_first, secret, value);
        }
    }
}

fn replace_in_value(redactor: &Redactor<'_, '_>, is_first: bool, secret: bool, value: &mut Value) {
    match value {
        Value::String(text) => {
            let known =
                is_first && text.len() >= super::MIN_SEPARATE && redactor.texts.contains(text);
            if secret || known {
                *text = redactor.replacer.replace_text(text);
            } else {
                replace_in_text(redactor, is_first, text);
            }
        }
        Value::Number(number) if secret => {
            let new = redactor.replacer.replace_number(&number.to_string());
            if let Ok(Value::Number(new)) = serde_json::from_str(&new) {
                *number = new;
            }
        }
        Value::Array(items) => {
            for item in items {
                replace_in_value(redactor, is_first, secret, item);
            }
        }
        Value::Object(members) => {
            for (name, value) in members {
                let secret = secret || is_first && is_secret(redactor, name);
                replace_in_value(redactor, is_first, secret, value);
            }
        }
        _ => {}
    }
}

/// Replaces the secrets in a text.
fn replace_in_text(redactor: &Redactor<'_, '_>, is_first: bool, text: &mut String) {
    let old = text.as_bytes();
    let mut ranges = redactor.finder.find(old);
    if is_first {
        let also = |name: &str| redactor.is_named(name.as_bytes());
        ranges.extend(fields::secrets(old, &also).into_iter().map(|s| s.range));
        let values = redactor.config.values.iter();
        ranges.extend(values.flat_map(|value| value.find_iter(text).map(|found| found.range())));
    }
    let mut bytes = old.to_vec();
    for at in ranges {
        let new =
            replace_alphanumerics(old.get(at.clone()).unwrap_or_default(), &redactor.replacer);
        if let Some(target) = bytes.get_mut(at) {
            target.copy_from_slice(&new);
        }
    }
    *text = String::from_utf8(bytes).unwrap_or_default();
}

/// Writes the texts back to the records.
pub(super) fn write_back(metadata: Vec<RecordMetadata>, records: &mut [Record]) {
    for entry in metadata {
        match records.get_mut(entry.record) {
            Some(Record::Header(header)) => {
                (header.listen, header.connect) = (entry.listen, entry.connect);
                header.more = entry.more;
            }
            Some(Record::Event(event)) => event.more = entry.more,
            _ => {}
        }
    }
}

/// Returns the place of a secret that is left in the header or an event.
pub(super) fn find_left(records: &[Record], finder: &SecretFinder) -> Option<String> {
    let mut all = collect(records).into_iter();
    all.find_map(|entry| {
        let addresses = [entry.listen, entry.connect].into_iter().flatten();
        let members = entry.more.values().map(Value::to_string);
        let spelling = addresses
            .chain(members)
            .find_map(|text| finder.spelling_in(text.as_bytes()))?;
        let line = entry.record + 1;
        Some(format!("line {line}: a secret is left, {spelling}"))
    })
}

/// Returns the names of items that are always replaced.
pub(super) fn describe_replaced(records: &[Record]) -> Vec<String> {
    let (mut arguments, mut stderr, mut datagrams) = (0, 0, 0);
    for record in records {
        match record {
            Record::Header(header) => arguments += header.argv.as_ref().map_or(0, Vec::len),
            Record::Chunk {
                dir: ChunkSource::Stderr,
                bytes,
                ..
            } => stderr += bytes.len(),
            Record::Chunk {
                datagram: true,
                bytes,
                ..
            } => datagrams += bytes.len(),
            _ => {}
        }
    }
    let mut notes = Vec::new();
    if arguments > 0 {
        notes.push(format!("and {arguments} arguments of the command"));
    }
    if stderr > 0 {
        notes.push(format!("and {stderr} bytes of stderr"));
    }
    if datagrams > 0 {
        notes.push(format!("and {datagrams} bytes of datagrams"));
    }
    notes
}

/// The parts of the traffic that were not read as messages.
#[derive(Default)]
pub(super) struct Unexamined {
    /// The number of bytes outside messages, by stream.
    bytes: BTreeMap<Lane, u64>,
    /// The number of binary values, and of their bytes.
    binary: (u64, u64),
    /// The number of HTTP bodies that are not messages, and of their bytes.
    bodies: (u64, u64),
}

impl Unexamined {
    pub(super) fn count(&mut self, decoded: &Decoded<'_>, is_unknown: bool) {
        let (frame, origin) = (decoded.frame, decoded.origin);
        let body = frame.view.body.len as u64;
        match decoded.root() {
            Some(root) => root.each(&mut |node| {
                if let Read::Scalar(Scalar::Bin(bytes) | Scalar::Ext(_, bytes)) = node.value()
                    && std::str::from_utf8(bytes).is_err()
                    // Ids are not longer.
                    && bytes.len() > 16
                {
                    self.binary.0 += 1;
                    self.binary.1 += bytes.len() as u64;
                }
            }),
            None if is_unknown => {
                *self.bytes.entry(origin.lane()).or_default() += frame.len;
            }
            // Compressed headers of HTTP/3 are removed.
            None if body > 0 && frame.framing != Framing::Http3 => {
                self.bodies.0 += 1;
                self.bodies.1 += body;
            }
            _ => {}
        }
    }

    /// Counts the streams in which no frame was decoded.
    pub(super) fn count_streams(&mut self, streams: &StreamBytes<'_>, seen: &BTreeSet<Lane>) {
        for (key, bytes) in streams.iter().filter(|(key, _)| !seen.contains(key)) {
            *self.bytes.entry(*key).or_default() += bytes.len() as u64;
        }
    }

    /// Returns the counts as sentences.
    pub(super) fn describe(&self) -> Vec<String> {
        let mut notes = Vec::new();
        let bytes: u64 = self.bytes.values().sum();
        if let Some((lane, _)) = self.bytes.first_key_value() {
            let conn = lane.conn.unwrap_or_default();
            let stream = lane
                .stream
                .map_or(String::new(), |n| format!(" stream {n}"));
            let way = lane.direction.map_or("", Direction::name);
            let first = format!("connection {conn}{stream} {way}");
            notes.push(format!(
                "not examined: {bytes} bytes that are not a message, first on {first}; they were only searched for names of secrets, known secrets and words of {} characters",
                super::MIN_TOKEN
            ));
        }
        for ((n, bytes), what) in [
            (self.binary, "binary values"),
            (self.bodies, "bodies that are not a message"),
        ] {
            if n > 0 {
                notes.push(format!(
                    "not examined: {n} {what} ({bytes} bytes); only known secrets were looked for in them"
                ));
            }
        }
        notes
    }
}
