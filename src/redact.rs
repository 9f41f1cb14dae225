//! A recording that can be shown to others: what is secret in it has stand-ins, everything else is as it was.
//!
//! ```text
//!   recording -decode-> secrets      what protocols, heads of HTTP, and the user's patterns say
//!   recording -decode-> changes      where they stand, here and wherever else: place in the stream, old xor new
//!   chunks    -change-> chunks       as many, as long; a masked byte takes the same change as a plain one
//! ```
//!
//! Stand-ins are as long as the secrets, so that lengths and places stay true; see [`stand_in`].

mod aside;
mod changes;
mod finder;
mod lines;
mod nested;
mod places;
mod regions;
pub mod stand_in;

use crate::capture::{Header, Record, Stream, What};
use crate::decoder::{Decoded, Decoder, Options, Origin};
use crate::encoding::Want;
use crate::framing::fields;
use crate::protocol::{Direction, Notes, each_secret};
use crate::select::glob;
use crate::tape::Node;
use aside::Unexamined;
use finder::Finder;
use lines::{direction, read, streams, write};
use nested::{Nested, nested};
use places::Changes;
use regex::Regex;
use regions::{Key, Regions, is_compressed, is_unknown, origin};
use stand_in::{StandIn, claims_of, leaves};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

/// Values of at least so many bytes are secret wherever they stand alone.
const ALONE: usize = 4;
const LONG: usize = 16;

/// What is secret beside general names.
pub struct Settings<'p> {
    /// How the recording is understood.
    pub decode: Options<'p>,
    /// Values under keys that match one of these, in fields of HTTP heads and under keys of queries whatever the case;
    /// `*` stands for any run of characters.
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
    /// How many different secrets there were.
    pub secrets: usize,
    /// What was replaced beside them, in words: arguments, stderr.
    pub beside: Vec<String>,
    /// What is worth knowing.
    pub notes: Vec<String>,
}

/// All bytes of each stream.
type Streams<'r> = BTreeMap<Key, Cow<'r, [u8]>>;

/// The secrets of a message.
#[derive(Default)]
struct Secret<'a> {
    whole: Vec<Node<'a>>,
    /// Text that holds JSON with secrets.
    parts: Vec<(Node<'a>, Nested)>,
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
        names: settings.keys.iter().map(|k| k.to_lowercase()).collect(),
        texts: BTreeSet::new(),
        bytes: BTreeSet::new(),
        spelled: BTreeSet::new(),
        regions: Regions::default(),
        finder: Finder::default(),
        changes: Changes::default(),
        seen: BTreeSet::new(),
        unexamined: Unexamined::default(),
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
    aside::collect(&mut work, &records);
    let streams = streams(&records);
    work.scan(&streams);
    let mut asides = aside::of(&records);
    for (n, batch) in finder::batches(work.inside()).into_iter().enumerate() {
        work.finder = Finder::new(&batch);
        work.decode(&records, &mut |work, decoded| work.change(decoded));
        work.outside(&streams);
        aside::change(&work, &mut asides, n == 0);
    }
    work.unexamined.streams(&streams, &work.seen);
    drop(streams);
    if let Some(refused) = work.refused {
        return Err(Refused::Compressed(refused));
    }
    let secrets = work.texts.len() + work.bytes.len();
    notes.extend(work.unexamined.told());
    let beside = aside::replaced(&records);
    aside::put(asides, &mut records);
    let mut out = Vec::with_capacity(recording.len());
    write(&mut records, &work.changes, &work.stand_in, &mut out);
    Ok(Redacted {
        out,
        secrets,
        beside,
        notes,
    })
}

struct Work<'s, 'p> {
    settings: &'s Settings<'p>,
    stand_in: StandIn,
    notes: Notes,
    /// The user's keys in lower case, as heads are asked for them.
    names: Vec<String>,
    /// Secrets that are text, and those that are bytes.
    texts: BTreeSet<String>,
    bytes: BTreeSet<Vec<u8>>,
    /// Secrets as they were escaped in URLs.
    spelled: BTreeSet<Vec<u8>>,
    /// What is read like a head.
    regions: Regions,
    /// Looks for secrets inside everything else.
    finder: Finder,
    changes: Changes,
    /// Streams of which anything was understood.
    seen: BTreeSet<Key>,
    /// What was not understood.
    unexamined: Unexamined,
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
                    // Places count the bytes that are there.
                    if What::from_name(&event.event) == What::Lost {
                        let origin = Origin {
                            conn: event.conn,
                            direction: event
                                .more
                                .get("dir")
                                .and_then(|dir| Direction::from_name(dir.as_str()?)),
                            time: None,
                        };
                        decoder.gap(origin, 0, &mut sink);
                    }
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
        if let (Some(conn), Some(direction)) = (decoded.origin.conn, decoded.origin.direction) {
            self.seen.insert((conn, direction));
        }
        let secret = self.secret(decoded);
        for leaf in secret.whole {
            match (leaf.text(), leaf.raw_content()) {
                (Some(text), _) => self.text(&text),
                (None, Some(bytes)) => _ = self.bytes.insert(bytes.to_vec()),
                (None, None) => {}
            }
        }
        for text in secret.parts.iter().flat_map(|(_, nested)| &nested.texts) {
            self.text(text);
        }
        let bytes = decoded.frame.view.bytes;
        let unknown = is_unknown(decoded);
        self.unexamined.note(decoded, unknown);
        if self.regions.note(decoded, unknown) || unknown {
            for (at, old, made) in self.head(bytes) {
                self.view(decoded, at, &old, &made);
            }
        }
        match decoded.root() {
            Some(root) => root.each(&mut |node| {
                if let Some(text) = node.text() {
                    self.search(&text);
                }
            }),
            None => self.search(&String::from_utf8_lossy(bytes)),
        }
    }

    /// What the user's patterns find in some text.
    fn search(&mut self, text: &str) {
        let settings = self.settings;
        for pattern in &settings.values {
            for found in pattern.find_iter(text) {
                self.text(found.as_str());
            }
        }
    }

    /// The secrets of heads, and of what may be one: they are known from here on, and changed where they stand.
    fn scan(&mut self, streams: &Streams<'_>) {
        for (key, bytes) in streams {
            let whole = 0..bytes.len() as u64;
            let runs = if self.seen.contains(key) {
                self.regions.of(*key).to_vec()
            } else {
                Vec::from([whole])
            };
            for run in runs {
                let part = bytes.get(run.start as usize..run.end as usize);
                let part = part.unwrap_or_default();
                for (at, old, made) in self.head(part) {
                    let offset = run.start + at as u64;
                    self.changes.stream(origin(*key), offset, &old, &made);
                }
                for chunk in part.utf8_chunks() {
                    self.search(chunk.valid());
                }
            }
        }
    }

    /// What is secret in bytes that may be a head: its place, itself, and its stand-in.
    fn head(&mut self, bytes: &[u8]) -> Vec<(usize, Vec<u8>, Vec<u8>)> {
        let also = |name: &str| self.is_named(name.as_bytes());
        let secrets = fields::secrets(bytes, &also);
        let mut changes = Vec::with_capacity(secrets.len());
        for secret in secrets {
            let old = bytes.get(secret.range.clone()).unwrap_or_default();
            let read = if secret.escaped {
                fields::unescaped(old)
            } else {
                old.to_vec()
            };
            let made = if read == old {
                places::all(old, &self.stand_in)
            } else {
                self.spelled.insert(old.to_vec());
                places::escaped(old, &self.stand_in)
            };
            match String::from_utf8(read) {
                Ok(text) => self.text(&text),
                Err(error) => _ = self.bytes.insert(error.into_bytes()),
            }
            changes.push((secret.range.start, old.to_vec(), made));
        }
        changes
    }

    fn text(&mut self, text: &str) {
        for claim in claims_of(text) {
            self.texts.insert(claim);
        }
        if !text.is_empty() {
            self.texts.insert(text.to_owned());
        }
    }

    /// Whether the user calls a name secret.
    fn is_named(&self, name: &[u8]) -> bool {
        let name = String::from_utf8_lossy(name).to_lowercase();
        self.names.iter().any(|pattern| glob(pattern, &name))
    }

    /// The values that are secret where they stand.
    fn secret<'a>(&mut self, decoded: &Decoded<'a>) -> Secret<'a> {
        let mut secret = Secret::default();
        let Some(root) = decoded.root() else {
            return secret;
        };
        decoded.annotate(&mut self.notes);
        let also = |name: &[u8]| {
            let mut own = decoded.protocol.descriptor().marks.secrets.iter();
            own.any(|own| name.eq_ignore_ascii_case(own.as_bytes())) || self.is_named(name)
        };
        let mut done = 0;
        root.each(&mut |node| {
            if node.index() < done {
                return;
            }
            if self.notes.is_whole(node) {
                done = node.end();
                secret.whole.extend(leaves(node));
            } else if let Some(nested) = nested(node, &also, &self.stand_in) {
                secret.parts.push((node, nested));
            }
        });
        if !self.names.is_empty() {
            each_secret(root, &also, &mut |node| secret.whole.extend(leaves(node)));
        }
        secret
    }

    /// All secrets, in whatever spelling.
    fn inside(&self) -> Vec<Vec<u8>> {
        let texts = self.texts.iter().map(|text| text.as_bytes().to_vec());
        let others = self.bytes.iter().chain(&self.spelled).cloned();
        texts.chain(others).collect()
    }

    fn change(&mut self, decoded: &Decoded<'_>) {
        let frame = decoded.frame;
        if is_compressed(decoded) && frame.view.body.len > 0 {
            self.refuse(
                decoded,
                "is compressed, so that what is secret in it cannot be seen",
            );
        }
        let secret = self.secret(decoded);
        for node in secret.whole {
            self.node(decoded, node);
        }
        for (node, nested) in &secret.parts {
            if let Some((at, old, made)) = places::rewrite(*node, &nested.made) {
                self.view(decoded, at, old, &made);
            }
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
        for at in self.finder.find(bytes) {
            let old = bytes.get(at.clone()).unwrap_or_default();
            let made = self.made(old);
            self.view(decoded, at.start, old, &made);
        }
        if is_unknown(decoded) {
            self.unknown(decoded, bytes);
        }
    }

    fn made(&self, old: &[u8]) -> Vec<u8> {
        match std::str::from_utf8(old) {
            Ok(text) => self.stand_in.text(text).into_bytes(),
            // Text in another encoding stays text, so that a head stays one.
            Err(_) if !old.iter().any(u8::is_ascii_control) => places::all(old, &self.stand_in),
            Err(_) => self.stand_in.bytes(old),
        }
    }
}
