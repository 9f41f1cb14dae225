//! What a recording says beside the traffic: its header and its events; and what of the traffic nobody understood.

use super::places::all;
use super::regions::Key;
use super::{Streams, Work};
use crate::capture::{Record, Stream};
use crate::decoder::Decoded;
use crate::framing::fields::{self, is_secret_name};
use crate::tape::{Scalar, Value as Read};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// The texts and members of a header or an event that may have secrets, by the number of the record.
pub(super) struct Aside {
    record: usize,
    listen: Option<String>,
    connect: Option<String>,
    more: Map<String, Value>,
}

/// Those of all records.
pub(super) fn of(records: &[Record]) -> Vec<Aside> {
    let asides = records.iter().enumerate().filter_map(|(record, what)| {
        let (listen, connect, more) = match what {
            Record::Header(header) => (&header.listen, &header.connect, &header.more),
            Record::Event(event) => (&None, &None, &event.more),
            Record::Chunk { .. } => return None,
        };
        Some(Aside {
            record,
            listen: listen.clone(),
            connect: connect.clone(),
            more: more.clone(),
        })
    });
    asides.collect()
}

/// Their secrets are known from here on.
pub(super) fn collect(work: &mut Work<'_, '_>, records: &[Record]) {
    for aside in of(records) {
        for text in [&aside.listen, &aside.connect].into_iter().flatten() {
            work.head(text.as_bytes());
            work.search(text);
        }
        for (name, value) in &aside.more {
            gather(work, is_secret(work, name), value);
        }
    }
}

fn is_secret(work: &Work<'_, '_>, name: &str) -> bool {
    is_secret_name(name.as_bytes()) || work.is_named(name.as_bytes())
}

fn gather(work: &mut Work<'_, '_>, secret: bool, value: &Value) {
    match value {
        Value::String(text) if secret => work.text(text),
        Value::String(text) => {
            work.head(text.as_bytes());
            work.search(text);
        }
        Value::Array(items) => items.iter().for_each(|item| gather(work, secret, item)),
        Value::Object(members) => {
            for (name, value) in members {
                gather(work, secret || is_secret(work, name), value);
            }
        }
        _ => {}
    }
}

/// Puts stand-ins into them. After the first time, only what the finder finds is left.
pub(super) fn change(work: &Work<'_, '_>, asides: &mut [Aside], is_first: bool) {
    for aside in asides {
        let addresses = [&mut aside.listen, &mut aside.connect];
        for text in addresses.into_iter().flatten() {
            line(work, is_first, text);
        }
        for (name, value) in &mut aside.more {
            let secret = is_first && is_secret(work, name);
            member(work, is_first, secret, value);
        }
    }
}

fn member(work: &Work<'_, '_>, is_first: bool, secret: bool, value: &mut Value) {
    match value {
        Value::String(text) => {
            let known = is_first && text.len() >= super::ALONE && work.texts.contains(text);
            if secret || known {
                *text = work.stand_in.text(text);
            } else {
                line(work, is_first, text);
            }
        }
        Value::Number(number) if secret => {
            let made = work.stand_in.number(&number.to_string());
            if let Ok(Value::Number(made)) = serde_json::from_str(&made) {
                *number = made;
            }
        }
        Value::Array(items) => {
            for item in items {
                member(work, is_first, secret, item);
            }
        }
        Value::Object(members) => {
            for (name, value) in members {
                let secret = secret || is_first && is_secret(work, name);
                member(work, is_first, secret, value);
            }
        }
        _ => {}
    }
}

/// Stand-ins for the secrets in some text.
fn line(work: &Work<'_, '_>, is_first: bool, text: &mut String) {
    let old = text.as_bytes();
    let mut places = work.finder.find(old);
    if is_first {
        let also = |name: &str| work.is_named(name.as_bytes());
        places.extend(fields::secrets(old, &also).into_iter().map(|s| s.range));
        let values = work.settings.values.iter();
        places.extend(values.flat_map(|value| value.find_iter(text).map(|found| found.range())));
    }
    let mut bytes = old.to_vec();
    for at in places {
        let made = all(old.get(at.clone()).unwrap_or_default(), &work.stand_in);
        if let Some(place) = bytes.get_mut(at) {
            place.copy_from_slice(&made);
        }
    }
    *text = String::from_utf8(bytes).unwrap_or_default();
}

/// Puts them back where they were.
pub(super) fn put(asides: Vec<Aside>, records: &mut [Record]) {
    for aside in asides {
        match records.get_mut(aside.record) {
            Some(Record::Header(header)) => {
                (header.listen, header.connect) = (aside.listen, aside.connect);
                header.more = aside.more;
            }
            Some(Record::Event(event)) => event.more = aside.more,
            _ => {}
        }
    }
}

/// What is replaced whatever it says, in words.
pub(super) fn replaced(records: &[Record]) -> Vec<String> {
    let (mut arguments, mut stderr) = (0, 0);
    for record in records {
        match record {
            Record::Header(header) => arguments += header.argv.as_ref().map_or(0, Vec::len),
            Record::Chunk {
                stream: Stream::Stderr,
                bytes,
                ..
            } => stderr += bytes.len(),
            _ => {}
        }
    }
    let mut told = Vec::new();
    if arguments > 0 {
        told.push(format!("and {arguments} words of argv"));
    }
    if stderr > 0 {
        told.push(format!("and {stderr} bytes of stderr"));
    }
    told
}

/// What was not read as messages.
#[derive(Default)]
pub(super) struct Unexamined {
    /// Bytes that are no message, by stream.
    bytes: BTreeMap<Key, u64>,
    /// Values that are bytes, and how many bytes they have.
    binary: (u64, u64),
    /// Bodies of HTTP that are no message.
    bodies: (u64, u64),
}

impl Unexamined {
    pub(super) fn note(&mut self, decoded: &Decoded<'_>, is_unknown: bool) {
        let (frame, origin) = (decoded.frame, decoded.origin);
        let body = frame.view.body.len as u64;
        match (decoded.root(), origin.conn.zip(origin.direction)) {
            (Some(root), _) => root.each(&mut |node| {
                if let Read::Scalar(Scalar::Bin(bytes) | Scalar::Ext(_, bytes)) = node.value()
                    && std::str::from_utf8(bytes).is_err()
                    // Ids have no more.
                    && bytes.len() > 16
                {
                    self.binary.0 += 1;
                    self.binary.1 += bytes.len() as u64;
                }
            }),
            (None, Some(key)) if is_unknown => {
                *self.bytes.entry(key).or_default() += frame.len;
            }
            (None, _) if body > 0 => {
                self.bodies.0 += 1;
                self.bodies.1 += body;
            }
            _ => {}
        }
    }

    /// Streams of which nothing was understood.
    pub(super) fn streams(&mut self, streams: &Streams<'_>, seen: &BTreeSet<Key>) {
        for (key, bytes) in streams.iter().filter(|(key, _)| !seen.contains(key)) {
            *self.bytes.entry(*key).or_default() += bytes.len() as u64;
        }
    }

    /// In words.
    pub(super) fn told(&self) -> Vec<String> {
        let mut told = Vec::new();
        let bytes: u64 = self.bytes.values().sum();
        if let Some(((conn, direction), _)) = self.bytes.first_key_value() {
            let first = format!("connection {conn} {}", direction.name());
            told.push(format!(
                "not examined: {bytes} bytes that are no message, first on {first}; only names of secrets, known secrets and words of {} characters were looked for in them",
                super::LONG
            ));
        }
        for ((n, bytes), what) in [
            (self.binary, "binary values"),
            (self.bodies, "bodies that are no message"),
        ] {
            if n > 0 {
                told.push(format!(
                    "not examined: {n} {what} ({bytes} bytes); only known secrets were looked for in them"
                ));
            }
        }
        told
    }
}
