//! Replaces the secrets in a recording, so that it can be shared; all other bytes stay unchanged.
//!
//! ```text
//!   recording -decode-> secrets      from the protocols, HTTP heads, and patterns of the user
//!   recording -decode-> changes      all positions of secrets: offset in the stream, old xor new
//!   chunks    -change-> chunks       same number and lengths; xor also works for masked bytes
//! ```
//!
//! Finally, the result is read and searched for each secret ([`left`]), so that an error of any step is refused.
//! A replacement is as long as its secret, so that lengths and offsets stay valid; see [`replacement`].

mod changes;
mod compressed;
mod events;
mod finder;
mod left;
mod lines;
mod matches;
mod metadata;
mod nested;
mod positions;
mod regions;
pub mod replacement;

use crate::capture::lookalike::unrecognised;
use crate::capture::recording::read_records;
use crate::capture::{ChunkSource, EventKind, Item, Record};
use crate::conversation::{Output, Run};
use crate::decoder::{DecodeOptions, Decoded};
use crate::encoding::Want;
use crate::framing::{Framing, Head, Places, fields};
use crate::protocol::secrets::{Extent, SecretNames, for_each_secret};
use crate::protocol::{Lane, Notes};
use crate::select::glob;
use crate::tape::{Node, Scalar, Value};
use compressed::CompressedBody;
use events::PackedEvents;
use finder::SecretFinder;
use lines::{stream_bytes, write_records};
use metadata::Unexamined;
use nested::{Nested, find_nested, replace_parts};
use positions::Changes;
use regex::Regex;
use regions::{Regions, http3_content, is_compressed, is_unknown};
use replacement::{Replacer, claim_texts, leaves};
use std::borrow::Cow;
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::ops::ControlFlow;

/// The minimum length of a value, in bytes, that is secret wherever it occurs as a separate value.
const MIN_SEPARATE: usize = 4;
/// The minimum length of a token in undecoded bytes that may be a secret, in bytes.
const MIN_TOKEN: usize = 16;

/// The secrets in addition to the built-in names.
pub struct RedactConfig<'p> {
    /// Options of the decoder.
    pub decode: DecodeOptions<'p>,
    /// Values under keys that match one of these are secret. In HTTP heads and query strings, case is ignored;
    /// `*` matches any run of characters.
    pub keys: Vec<String>,
    /// Matches of these expressions in any text are secret.
    pub values: Vec<Regex>,
    /// The key from which replacements are derived.
    pub key: [u8; 32],
    /// Is told how many bytes of the traffic were read, and how many there are. It is read several times.
    pub progress: &'p dyn Fn(u64, u64),
}

/// The result of a redaction.
#[derive(Debug)]
pub struct Redacted {
    /// The recording.
    pub out: Vec<u8>,
    /// The number of different secrets.
    pub secrets: usize,
    /// Other replaced items, in words: arguments, stderr.
    pub also_replaced: Vec<String>,
    /// Notes for the user.
    pub notes: Vec<String>,
}

/// All bytes of each stream.
type StreamBytes<'r> = BTreeMap<Lane, Cow<'r, [u8]>>;

/// The secrets of a message.
#[derive(Default)]
struct MessageSecrets<'a> {
    whole: Vec<Node<'a>>,
    /// Text that contains secrets.
    parts: Vec<(Node<'a>, Nested)>,
}

/// The reason why a recording was not redacted, as a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RedactError {
    /// It is not a recording, or its protocol is unknown.
    Unreadable(String),
    /// It has a secret that cannot be replaced.
    Compressed(String),
    /// A secret is left in the result.
    Left(String),
}

/// Redacts a whole recording.
pub fn redact(recording: &[u8], config: &RedactConfig<'_>) -> Result<Redacted, RedactError> {
    let mut notes = Vec::new();
    let mut records = read_records(recording, &mut notes).map_err(RedactError::Unreadable)?;
    let mut redactor = Redactor {
        config,
        replacer: Replacer::new(config.key),
        notes: Notes::default(),
        names: config.keys.iter().map(|key| OwnName::new(key)).collect(),
        texts: BTreeSet::new(),
        bytes: BTreeSet::new(),
        escaped_secrets: BTreeSet::new(),
        open_names: OpenNames::default(),
        regions: Regions::default(),
        finder: SecretFinder::default(),
        changes: Changes::default(),
        compressed: BTreeMap::new(),
        events: PackedEvents::default(),
        seen: BTreeSet::new(),
        unexamined: Unexamined::default(),
        has_headers: false,
        refused: None,
    };
    let known = redactor.decode(&records, &mut |redactor, decoded| redactor.collect(decoded));
    let traffic = records.iter().find_map(|record| match record {
        Record::Chunk { dir, bytes, .. } if *dir != ChunkSource::Stderr => Some(&bytes[..]),
        _ => None,
    });
    if let Some(first) = traffic.filter(|_| !known) {
        return Err(RedactError::Unreadable(unrecognised(first)));
    }
    metadata::find_secrets(&mut redactor, &records);
    let streams = stream_bytes(&records);
    redactor.scan(&streams);
    let mut metadata = metadata::collect(&records);
    for (n, batch) in finder::batches(redactor.all_secrets())
        .into_iter()
        .enumerate()
    {
        redactor.finder = SecretFinder::new(&batch);
        redactor.decode(&records, &mut |redactor, decoded| {
            redactor.change_message(decoded);
        });
        redactor.change_outside(&streams);
        metadata::replace_secrets(&redactor, &mut metadata, n == 0);
    }
    redactor.change_compressed();
    if redactor.has_headers {
        redactor.decode(&records, &mut |redactor, decoded| {
            redactor.change_checksum(decoded);
        });
    }
    redactor.unexamined.count_streams(&streams, &redactor.seen);
    drop(streams);
    if let Some(refused) = redactor.refused {
        return Err(RedactError::Compressed(refused));
    }
    let secrets = redactor.texts.len() + redactor.bytes.len();
    notes.extend(redactor.unexamined.describe());
    let also_replaced = metadata::describe_replaced(&records);
    metadata::write_back(metadata, &mut records);
    let mut out = Vec::with_capacity(recording.len());
    write_records(
        &mut records,
        &redactor.changes,
        &redactor.replacer,
        &mut out,
    );
    if let Some(left) = redactor.find_left(&records) {
        return Err(RedactError::Left(left));
    }
    notes.extend(redactor.describe_short());
    notes.extend(redactor.names.iter().filter_map(OwnName::describe_absent));
    Ok(Redacted {
        out,
        secrets,
        also_replaced,
        notes,
    })
}

struct Redactor<'s, 'p> {
    config: &'s RedactConfig<'p>,
    replacer: Replacer,
    notes: Notes,
    /// The names of the user.
    names: Vec<OwnName>,
    /// The secrets that are text, and those that are bytes.
    texts: BTreeSet<String>,
    bytes: BTreeSet<Vec<u8>>,
    /// The secrets as they were escaped in URLs.
    escaped_secrets: BTreeSet<Vec<u8>>,
    open_names: OpenNames,
    /// The parts of streams that are read as HTTP heads.
    regions: Regions,
    /// Finds secrets inside all other bytes.
    finder: SecretFinder,
    changes: Changes,
    /// The compressed bodies with secrets, by stream and offset.
    compressed: BTreeMap<(Lane, u64), CompressedBody>,
    /// The compressed bodies whose events are being decoded.
    events: PackedEvents,
    /// The streams in which at least one frame was decoded.
    seen: BTreeSet<Lane>,
    /// The bytes that were not decoded.
    unexamined: Unexamined,
    /// A frame has a header that a description or a crate defines, perhaps with a checksum.
    has_headers: bool,
    refused: Option<String>,
}

/// Names that are replaced only where they are secrets: functions keep their names.
#[derive(Default)]
struct OpenNames {
    /// The subjects of messages that are no secret of their message.
    subjects: BTreeSet<String>,
    /// The secrets that the user chose, which are replaced everywhere.
    chosen: BTreeSet<String>,
}

impl OpenNames {
    fn has(&self, text: &str) -> bool {
        self.subjects.contains(text) && !self.chosen.contains(text)
    }
}

/// Returns true if a subject is no secret of its message, or stands beside a secret with the same text.
fn is_open(subject: &str, secret: &[Node<'_>], root: Option<Node<'_>>) -> bool {
    let is_subject = |node: Node<'_>| node.text().is_some_and(|text| text == subject);
    if !secret.iter().any(|leaf| is_subject(*leaf)) {
        return true;
    }
    let is_secret = |node: Node<'_>| secret.iter().any(|leaf| leaf.index() == node.index());
    let mut is_open = false;
    if let Some(root) = root {
        root.each(&mut |node| is_open |= is_subject(node) && !is_secret(node));
    }
    is_open
}

/// A name of secrets that the user gives.
struct OwnName {
    /// In lower case: names of HTTP fields have any case.
    pattern: String,
    /// A value has this name.
    occurs: Cell<bool>,
}

impl OwnName {
    fn new(key: &str) -> Self {
        Self {
            pattern: key.to_lowercase(),
            occurs: Cell::new(false),
        }
    }

    /// Returns a note if no value has the name, so that a misspelled name is noticed.
    fn describe_absent(&self) -> Option<String> {
        let pattern = &self.pattern;
        let last = pattern.rsplit('.').next().filter(|last| *last != pattern);
        let tip = last.map_or(String::new(), |last| {
            format!("; it is a name, not a path: {last}")
        });
        (!self.occurs.get()).then(|| format!("no value has the name {pattern}{tip}"))
    }
}

impl<'p> Redactor<'_, 'p> {
    /// Passes every frame to `see`. Returns true if a protocol was recognized.
    fn decode(&mut self, records: &[Record], see: &mut dyn FnMut(&mut Self, &Decoded<'_>)) -> bool {
        let mut options: DecodeOptions<'p> = self.config.decode.clone();
        options.want = Want::Exact;
        let limit = options.limits.message as usize;
        let mut run = Run::of_items(options, None);
        let progress = self.config.progress;
        let mut sink = |output: Output<'_>| -> ControlFlow<Infallible> {
            if let Output::Message(decoded, _) = output {
                self.events.see(decoded, limit);
                see(self, decoded);
            }
            ControlFlow::Continue(())
        };
        let len = |record: &Record| match record {
            Record::Chunk { bytes, .. } => bytes.len() as u64,
            _ => 0,
        };
        let (mut done, all) = (0, records.iter().map(len).sum());
        for record in records {
            progress(done, all);
            done += len(record);
            let mut item = record.item();
            // Offsets count only recorded bytes.
            if let Item::Event(event) = &mut item
                && event.what == EventKind::Lost
            {
                event.more = None;
            }
            let ControlFlow::Continue(()) = run.item(&item, &mut sink);
        }
        let ControlFlow::Continue(()) = run.finish(&mut sink);
        run.decoder().protocol().is_some()
    }

    fn collect(&mut self, decoded: &Decoded<'_>) {
        self.seen.insert(decoded.origin.lane());
        self.has_headers |= matches!(decoded.frame.framing, Framing::Custom(_));
        let secret = self.message_secrets(decoded);
        if let Some(subject) = decoded.message.subject.as_deref() {
            let subjects = &mut self.open_names.subjects;
            if !subjects.contains(subject) && is_open(subject, &secret.whole, decoded.root()) {
                subjects.insert(subject.to_owned());
            }
        }
        for leaf in secret.whole {
            match (leaf.text(), leaf.raw_content()) {
                (Some(text), _) => self.add_text(&text),
                (None, Some(bytes)) => _ = self.bytes.insert(bytes.to_vec()),
                (None, None) => {}
            }
        }
        for (_, nested) in &secret.parts {
            nested.texts.iter().for_each(|text| self.add_text(text));
            let escaped = nested.escaped.iter().cloned();
            self.escaped_secrets.extend(escaped);
        }
        let bytes = decoded.frame.view.bytes;
        let unknown = is_unknown(decoded);
        self.unexamined.count(decoded, unknown);
        if self.regions.add_frame(decoded, unknown) || unknown {
            for (at, old, new) in self.head_secrets(bytes) {
                self.change_view(decoded, at, &old, &new);
            }
        }
        match decoded.root() {
            Some(root) => root.each(&mut |node| {
                if let Some(text) = node.text() {
                    self.search(&text);
                } else if let (Value::Scalar(Scalar::Bin(_)), Some(bytes)) =
                    (node.value(), node.raw_content())
                {
                    for (at, old, new) in self.search_bytes(bytes) {
                        let start = node.span().end().saturating_sub(bytes.len());
                        self.change_view(decoded, start + at, &old, &new);
                    }
                }
            }),
            None => {
                for (at, old, new) in self.search_bytes(bytes) {
                    self.change_view(decoded, at, &old, &new);
                }
            }
        }
    }

    /// Stores the secrets of HTTP heads, and of bytes that may be heads, and replaces them there.
    fn scan(&mut self, streams: &StreamBytes<'_>) {
        for (key, bytes) in streams {
            let whole = 0..bytes.len() as u64;
            let runs = if self.seen.contains(key) {
                self.regions.runs(*key).to_vec()
            } else {
                Vec::from([whole])
            };
            for run in runs {
                let part = bytes.get(run.start as usize..run.end as usize);
                let part = part.unwrap_or_default();
                for (at, old, new) in self.head_secrets(part) {
                    let offset = run.start + at as u64;
                    self.changes.change_stream(key.at(None), offset, &old, &new);
                }
                for (at, old, new) in self.search_bytes(part) {
                    let offset = run.start + at as u64;
                    self.changes.change_stream(key.at(None), offset, &old, &new);
                }
            }
        }
    }

    /// Returns the secrets in bytes that may be a head: offset, old bytes, and replacement.
    fn head_secrets(&mut self, bytes: &[u8]) -> Vec<(usize, Vec<u8>, Vec<u8>)> {
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
            let new = if read == old {
                positions::replace_alphanumerics(old, &self.replacer)
            } else {
                self.escaped_secrets.insert(old.to_vec());
                positions::replace_escaped(old, &self.replacer)
            };
            match String::from_utf8(read) {
                Ok(text) => self.add_text(&text),
                Err(error) => _ = self.bytes.insert(error.into_bytes()),
            }
            changes.push((secret.range.start, old.to_vec(), new));
        }
        changes
    }

    fn add_text(&mut self, text: &str) {
        for claim in claim_texts(text) {
            self.texts.insert(claim);
        }
        if !text.is_empty() {
            self.texts.insert(text.to_owned());
        }
    }

    /// Returns true if the user's keys match a name.
    fn is_named(&self, name: &[u8]) -> bool {
        let name = String::from_utf8_lossy(name).to_lowercase();
        let mut names = self.names.iter();
        let found = names.find(|own| glob(&own.pattern, &name));
        if let Some(own) = found {
            own.occurs.set(true);
        }
        found.is_some()
    }

    /// Returns the secret values of a message.
    fn message_secrets<'a>(&mut self, decoded: &Decoded<'a>) -> MessageSecrets<'a> {
        let mut secret = MessageSecrets::default();
        let Some(root) = decoded.root() else {
            return secret;
        };
        decoded.annotate(&mut self.notes);
        let also = |name: &[u8]| self.is_named(name);
        let names = SecretNames {
            marks: decoded.protocol.marks(),
            also: &also,
        };
        let mut done = 0;
        root.each(&mut |node| {
            if node.index() < done {
                return;
            }
            if self.notes.is_wholly_secret(node) {
                done = node.end();
                secret.whole.extend(leaves(node));
                return;
            }
            let nested = find_nested(node, &names, &self.replacer).or_else(|| {
                let parts = self.notes.secret_parts(node);
                replace_parts(node, parts, &self.replacer)
            });
            let nested = self.with_matches(node, nested);
            secret.parts.extend(nested.map(|nested| (node, nested)));
        });
        if !self.names.is_empty() {
            let mut chosen = Vec::new();
            for_each_secret(root, &names, &mut |node, extent| {
                if matches!(extent, Extent::Whole) {
                    chosen.extend(leaves(node));
                }
            });
            let texts = chosen.iter().filter_map(|leaf| leaf.text());
            self.open_names.chosen.extend(texts.map(Cow::into_owned));
            secret.whole.extend(chosen);
        }
        secret
    }

    /// Returns a note about secrets that are not searched inside other text.
    fn describe_short(&self) -> Option<String> {
        let all = self.all_secrets();
        let short = all.iter().filter(|s| s.len() < finder::MIN_SECRET).count();
        (short > 0).then(|| {
            format!(
                "secrets shorter than {} bytes: {short}; further copies of them inside other text were not searched",
                finder::MIN_SECRET
            )
        })
    }

    /// Returns all secrets that are replaced everywhere, in all their spellings.
    fn all_secrets(&self) -> Vec<Vec<u8>> {
        let texts = self.texts.iter().filter(|text| !self.open_names.has(text));
        let texts = texts.map(|text| text.as_bytes().to_vec());
        let others = self.bytes.iter().chain(&self.escaped_secrets).cloned();
        texts.chain(others).collect()
    }

    fn change_message(&mut self, decoded: &Decoded<'_>) {
        let frame = decoded.frame;
        let is_inflated = matches!(frame.view.places, Places::Packed(_)) && frame.fault.is_none();
        if is_compressed(decoded) && frame.view.body.len > 0 && !is_inflated {
            self.refuse(decoded, "is compressed, so secrets in it cannot be found");
        }
        if let (Framing::Http3, Some(content)) = (frame.framing, http3_content(frame)) {
            let old = content.of(frame.view.bytes);
            // A stream of zeros could be of another framing.
            let filler = if frame.head == Head::None { 0xff } else { 0 };
            let new = vec![filler; old.len()];
            return self.change_view(decoded, content.at(), old, &new);
        }
        let secret = self.message_secrets(decoded);
        for node in secret.whole {
            self.change_node(decoded, node);
        }
        for (node, nested) in &secret.parts {
            if let Some((at, old, new)) = positions::rewrite_value(*node, &nested.text) {
                self.change_view(decoded, at, old, &new);
            }
        }
        self.change_copies(decoded);
        let bytes = frame.view.bytes;
        for at in self.finder.find(bytes) {
            let old = bytes.get(at.clone()).unwrap_or_default();
            let new = self.replace_bytes(old);
            self.change_view(decoded, at.start, old, &new);
        }
        if is_unknown(decoded) {
            // The fields of a head were read.
            let start = match frame.head {
                Head::Http { .. } => frame.view.body.at(),
                _ => 0,
            };
            self.change_unknown(decoded, start, bytes.get(start..).unwrap_or_default());
        }
    }

    /// Replaces values that are a secret, and secrets in values whose characters are escaped.
    fn change_copies(&mut self, decoded: &Decoded<'_>) {
        let (mut separate, mut escaped) = (Vec::new(), Vec::new());
        if let Some(root) = decoded.root() {
            root.each(&mut |node| {
                let Some(text) = node.text().filter(|text| text.len() >= MIN_SEPARATE) else {
                    return;
                };
                if self.texts.contains(text.as_ref()) && !self.open_names.has(&text) {
                    separate.push(node);
                } else if node.raw_content().is_some_and(|raw| raw.contains(&b'\\')) {
                    escaped.extend(self.without_secrets(&text).map(|text| (node, text)));
                }
            });
        }
        for node in separate {
            self.change_node(decoded, node);
        }
        for (node, text) in escaped {
            if let Some((at, old, new)) = positions::rewrite_value(node, &text) {
                self.change_view(decoded, at, old, &new);
            }
        }
    }

    /// Returns a text with its secrets replaced, if it contains any.
    fn without_secrets(&self, text: &str) -> Option<String> {
        let found = self.finder.find(text.as_bytes());
        let mut bytes = text.as_bytes().to_vec();
        for at in found.iter().cloned() {
            let target = bytes.get_mut(at)?;
            let new = self.replace_bytes(target);
            target.copy_from_slice(&new);
        }
        let text = String::from_utf8(bytes).ok();
        text.filter(|_| !found.is_empty())
    }

    fn replace_bytes(&self, old: &[u8]) -> Vec<u8> {
        match std::str::from_utf8(old) {
            Ok(text) => self.replacer.replace_text(text).into_bytes(),
            // Text in another encoding stays text, so that a head stays valid.
            Err(_) if !old.iter().any(u8::is_ascii_control) => {
                positions::replace_alphanumerics(old, &self.replacer)
            }
            Err(_) => self.replacer.replace_bytes(old),
        }
    }
}
