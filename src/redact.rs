//! A recording that can be shown to others: what is secret in it has stand-ins, everything else is as it was.
//!
//! ```text
//!   recording -decode-> secrets      what protocols, headers, and the user's patterns say
//!   recording -decode-> changes      where they stand, here and wherever else: place in the stream, old xor new
//!   chunks    -change-> chunks       as many, as long; a masked byte takes the same change as a plain one
//! ```
//!
//! Stand-ins are as long as what they stand for, so that every length, place and time stays true; see [`stand_in`].

mod lines;
mod places;
pub mod stand_in;

use crate::capture::{Header, Record, Stream, What};
use crate::decoder::{Decoded, Decoder, Options, Origin};
use crate::encoding::Want;
use crate::protocol::{Direction, Notes};
use crate::select::glob;
use crate::tape::Node;
use base64::Engine;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use lines::{direction, read, write};
use places::{Changes, Head};
use regex::Regex;
use stand_in::{StandIn, claims_of, leaves};
use std::collections::{BTreeMap, BTreeSet};

/// Secrets of at least so many bytes are looked for inside other values.
const INSIDE: usize = 8;
/// Values of at least so many bytes are secret wherever they stand alone.
const ALONE: usize = 4;
/// Runs of so many characters may be secrets where nothing says what they are.
const LONG: usize = 16;

/// What is secret, beside what protocols say.
pub struct Settings<'p> {
    /// How the recording is understood.
    pub decode: Options<'p>,
    /// Values under keys that match one of these; `*` stands for any run of characters.
    pub keys: Vec<String>,
    /// What matches one of these in any text.
    pub values: Vec<Regex>,
    /// From where stand-ins follow.
    pub key: [u8; 32],
}

/// What came of it.
#[derive(Debug)]
pub struct Redacted {
    /// The recording.
    pub out: Vec<u8>,
    /// How many different secrets there were, argv and stderr apart.
    pub secrets: usize,
    /// What is worth knowing.
    pub notes: Vec<String>,
}

/// Why it was not done, in a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    /// It is no recording, or nobody knows what passed.
    Unreadable(String),
    /// It has a secret where none can be replaced.
    Compressed(String),
}

/// Redacts a whole recording.
pub fn redact(recording: &[u8], settings: &Settings<'_>) -> Result<Redacted, Refused> {
    let mut notes = Vec::new();
    let mut records = read(recording, &mut notes).map_err(Refused::Unreadable)?;
    let mut work = Work {
        settings,
        stand_in: StandIn::new(settings.key),
        notes: Notes::default(),
        texts: BTreeSet::new(),
        bytes: BTreeSet::new(),
        inside: Vec::new(),
        changes: Changes::default(),
        seen: BTreeSet::new(),
        refused: None,
    };
    let known = work.decode(&records, &mut |work, decoded| work.collect(decoded));
    let traffic = records
        .iter()
        .any(|r| matches!(r, Record::Chunk { stream, .. } if *stream != Stream::Stderr));
    if !known && traffic {
        let text = "no protocol recognises what passed: name it with -p";
        return Err(Refused::Unreadable(text.into()));
    }
    work.derive();
    work.decode(&records, &mut |work, decoded| work.change(decoded));
    work.outside(&records);
    if let Some(refused) = work.refused {
        return Err(Refused::Compressed(refused));
    }
    let secrets = work.texts.len() + work.bytes.len();
    let out = write(&mut records, &work.changes, &work.stand_in);
    Ok(Redacted {
        out,
        secrets,
        notes,
    })
}

struct Work<'s, 'p> {
    settings: &'s Settings<'p>,
    stand_in: StandIn,
    notes: Notes,
    /// Secrets that are text, and those that are bytes.
    texts: BTreeSet<String>,
    bytes: BTreeSet<Vec<u8>>,
    /// What is looked for inside everything else: long secrets, and how others may have written them.
    inside: Vec<Vec<u8>>,
    changes: Changes,
    /// Streams of which anything was understood.
    seen: BTreeSet<(u32, Direction)>,
    /// Why it cannot be done.
    refused: Option<String>,
}

impl<'p> Work<'_, 'p> {
    /// Shows every frame to `see`; says whether a protocol was recognised.
    fn decode(&mut self, records: &[Record], see: &mut dyn FnMut(&mut Self, &Decoded<'_>)) -> bool {
        let mut options: Options<'p> = self.settings.decode.clone();
        options.want = Want::Exact;
        let mut decoder = Decoder::new(options);
        for record in records {
            let mut sink = |decoded: &Decoded<'_>| see(self, decoded);
            match record {
                Record::Header(Header { protocol, .. }) => {
                    if let Some(protocol) = protocol {
                        decoder.expect(protocol);
                    }
                }
                Record::Chunk {
                    conn,
                    stream,
                    bytes,
                    ..
                } => {
                    let direction = direction(*stream);
                    let origin = Origin {
                        conn: Some(*conn),
                        direction,
                        time: None,
                    };
                    if direction.is_some() {
                        decoder.push(origin, bytes, &mut sink);
                    }
                }
                Record::Event(event) => {
                    if let What::Close | What::Reset | What::Exit = What::from_name(&event.event) {
                        decoder.close(event.conn, &mut sink);
                    }
                }
            }
        }
        decoder.finish(&mut |decoded| see(self, decoded));
        decoder.protocol().is_some()
    }

    fn collect(&mut self, decoded: &Decoded<'_>) {
        for leaf in self.secret(decoded) {
            match (leaf.text(), leaf.raw_content()) {
                (Some(text), _) => self.text(&text),
                (None, Some(bytes)) => _ = self.bytes.insert(bytes.to_vec()),
                (None, None) => {}
            }
        }
        for (_, value) in Head::of(decoded).secrets() {
            self.text(&value);
        }
        let mut found = Vec::new();
        let mut search = |text: &str| {
            for pattern in &self.settings.values {
                found.extend(pattern.find_iter(text).map(|m| m.as_str().to_owned()));
            }
        };
        match decoded.root() {
            Some(root) => root.each(&mut |node| {
                if let Some(text) = node.text() {
                    search(&text);
                }
            }),
            None => search(&String::from_utf8_lossy(decoded.frame.view.bytes)),
        }
        for text in found {
            self.text(&text);
        }
    }

    fn text(&mut self, text: &str) {
        for claim in claims_of(text) {
            self.texts.insert(claim);
        }
        if !text.is_empty() {
            self.texts.insert(text.to_owned());
        }
    }

    /// The values that are secret where they stand.
    fn secret<'a>(&mut self, decoded: &Decoded<'a>) -> Vec<Node<'a>> {
        let mut secret = Vec::new();
        let Some(root) = decoded.root() else {
            return secret;
        };
        decoded.annotate(&mut self.notes);
        root.each(&mut |node| {
            if self.notes.is_secret(node) {
                secret.extend(leaves(node));
            }
            for (key, value) in node.members().filter(|_| node.is_map()) {
                let name = key.key_bytes();
                let name = String::from_utf8_lossy(&name);
                if self
                    .settings
                    .keys
                    .iter()
                    .any(|pattern| glob(pattern, &name))
                {
                    secret.extend(leaves(value));
                }
            }
        });
        secret
    }

    /// How secrets may stand inside other values: as they are, in base64, in hex.
    fn derive(&mut self) {
        let texts = self.texts.iter().map(String::as_bytes);
        let all = texts.chain(self.bytes.iter().map(Vec::as_slice));
        let mut inside: BTreeSet<Vec<u8>> = BTreeSet::new();
        for secret in all.filter(|secret| secret.len() >= INSIDE) {
            inside.insert(secret.to_vec());
            inside.insert(hex::encode(secret).into_bytes());
            for shift in 0..3 {
                let shifted = [&[0; 2][..shift], secret].concat();
                for text in [
                    STANDARD_NO_PAD.encode(&shifted),
                    URL_SAFE_NO_PAD.encode(&shifted),
                ] {
                    // Characters at both ends also hold bits of what stands beside it.
                    let first = (shift * 8).div_ceil(6);
                    let last = shifted.len() * 8 / 6;
                    inside.extend(text.get(first..last).map(|core| core.as_bytes().to_vec()));
                }
            }
        }
        // The longest first: what is changed is not changed again.
        self.inside = inside.into_iter().collect();
        self.inside
            .sort_by_key(|secret| std::cmp::Reverse(secret.len()));
    }

    fn change(&mut self, decoded: &Decoded<'_>) {
        let (frame, message) = (decoded.frame, decoded.message);
        if let (Some(conn), Some(direction)) = (decoded.origin.conn, decoded.origin.direction) {
            self.seen.insert((conn, direction));
        }
        let head = Head::of(decoded);
        if head.is_compressed() && frame.view.body.len > 0 {
            self.refuse(
                decoded,
                "is compressed, so that what is secret in it cannot be seen",
            );
        }
        for node in self.secret(decoded) {
            self.node(decoded, node);
        }
        for (offset, value) in head.secrets() {
            let made = self.stand_in.text(&value);
            self.changes
                .stream(decoded.origin, offset, value.as_bytes(), made.as_bytes());
        }
        let mut alone = Vec::new();
        if let Some(root) = decoded.root() {
            root.each(&mut |node| {
                let text = node.text().filter(|text| text.len() >= ALONE);
                if text.is_some_and(|text| self.texts.contains(text.as_ref())) {
                    alone.push(node);
                }
            });
        }
        for node in alone {
            self.node(decoded, node);
        }
        let bytes = frame.view.bytes;
        for at in self.found(bytes) {
            let old = at
                .clone()
                .filter_map(|i| bytes.get(i).copied())
                .collect::<Vec<_>>();
            let made = self.made(&old);
            self.view(decoded, at.start, &old, &made);
        }
        let text = message.valid && decoded.root().is_some();
        if !text && (frame.control.is_none() || frame.control == Some("skipped")) {
            self.unknown(decoded, bytes);
        }
    }

    /// Where what is looked for stands in some bytes.
    fn found(&self, bytes: &[u8]) -> Vec<std::ops::Range<usize>> {
        let mut found = Vec::new();
        for secret in &self.inside {
            let places = memchr::memmem::find_iter(bytes, secret);
            found.extend(places.map(|at| at..at + secret.len()));
        }
        found
    }

    fn made(&self, old: &[u8]) -> Vec<u8> {
        match std::str::from_utf8(old) {
            Ok(text) => self.stand_in.text(text).into_bytes(),
            Err(_) => self.stand_in.bytes(old),
        }
    }

    fn refuse(&mut self, decoded: &Decoded<'_>, why: &str) {
        let direction = decoded.origin.direction.map_or("", Direction::name);
        let text = format!(
            "connection {} {direction}, offset {}: the body {why}",
            decoded.origin.conn.unwrap_or_default(),
            decoded.frame.offset
        );
        self.refused.get_or_insert(text);
    }

    /// One value gets its stand-in.
    fn node(&mut self, decoded: &Decoded<'_>, node: Node<'_>) {
        if let Some((at, old, made)) = places::replace(node, &self.stand_in) {
            self.view(decoded, at, old, &made);
        }
    }

    fn view(&mut self, decoded: &Decoded<'_>, at: usize, old: &[u8], made: &[u8]) {
        if !self.changes.view(decoded, at, old, made) {
            self.refuse(
                decoded,
                "is compressed and has a secret, which cannot be replaced in it",
            );
        }
    }

    /// Bytes of which nobody knows what they are: long words in them may be secret.
    fn unknown(&mut self, decoded: &Decoded<'_>, bytes: &[u8]) {
        for at in words(bytes) {
            let old = bytes.get(at.clone()).unwrap_or_default();
            let made = self.made(old);
            self.view(decoded, at.start, old, &made);
        }
    }

    /// What stands in no frame.
    fn outside(&mut self, records: &[Record]) {
        let mut streams: BTreeMap<(u32, Direction), Vec<u8>> = BTreeMap::new();
        for record in records {
            if let Record::Chunk {
                conn,
                stream,
                bytes,
                ..
            } = record
                && let Some(direction) = direction(*stream)
            {
                streams.entry((*conn, direction)).or_default().extend(bytes);
            }
        }
        for ((conn, direction), bytes) in streams {
            let mut places = self.found(&bytes);
            if !self.seen.contains(&(conn, direction)) {
                places.extend(words(&bytes));
            }
            let origin = Origin {
                conn: Some(conn),
                direction: Some(direction),
                time: None,
            };
            for at in places {
                let old = bytes.get(at.clone()).unwrap_or_default();
                let made = self.made(old);
                self.changes.stream(origin, at.start as u64, old, &made);
            }
        }
    }
}

/// Long runs of characters of which tokens are made.
fn words(bytes: &[u8]) -> Vec<std::ops::Range<usize>> {
    let mut words = Vec::new();
    let mut start = 0;
    let is_word = |b: &u8| b.is_ascii_alphanumeric() || b"-_.~+/=".contains(b);
    for (at, byte) in bytes.iter().chain([&b' ']).enumerate() {
        if !is_word(byte) {
            if at - start >= LONG {
                words.push(start..at);
            }
            start = at + 1;
        }
    }
    words
}
