//! The one pipe: chunks in, understood frames out.
//!
//! ```text
//!   push(conn, direction, time, bytes)
//!      -> detect    which protocol, which framing; chunks are held until the bytes decide
//!      -> framing   one framer a connection and direction
//!      -> protocol  kind, role, id, subject, faults
//!      -> doctor    the likely cause of a bad frame
//!      -> Decoded   borrowed; gone when the next one comes
//! ```
//!
//! Any split of a stream into chunks gives the same frames. A frame that lies whole in a chunk is borrowed from it. Bytes
//! that no protocol recognises are held up to a limit, and then only counted.

mod beside;
mod control;
mod detect;
mod doctor;
mod ends;
mod gap;
mod half;
mod heads;
mod interleave;
mod mend;
mod open;
mod recovery;
mod run;
mod stops;
mod streams;
mod trial;
mod untold;

use crate::encoding::{Parsed, Want, lossless};
use crate::error::DecodeError;
use crate::framing::{Frame, Framing, LengthMode, Limits};
pub use crate::protocol::Origin;
use crate::protocol::{Direction, Message, Notes, Protocol, Seen, annotate, hide};
use crate::tape::Node;
pub(crate) use beside::{Beside, Says};
pub use detect::Guess;
use detect::{Detector, Verdict};
pub(crate) use half::Half;
pub(crate) use interleave::interleave;
use run::Stream;
use std::borrow::Cow;
use std::collections::BTreeMap;
pub use untold::Raw;

/// What the user chose; what is left open is detected.
#[derive(Clone)]
#[non_exhaustive]
pub struct Options<'p> {
    /// The protocols that may be, in the order in which a tie is decided; one where it is known.
    pub protocols: Vec<&'p dyn Protocol>,
    /// How messages are delimited, where known.
    pub framing: Option<Framing>,
    /// How telequick's lengths count.
    pub length_mode: LengthMode,
    /// What is bounded.
    pub limits: Limits,
    /// Whether to look for the next frame after a bad one.
    pub resync: bool,
    /// What the output will need.
    pub want: Want,
}

impl<'p> Options<'p> {
    /// Everything but the protocols left open, the usual limits, and every place told.
    pub fn new(protocols: Vec<&'p dyn Protocol>) -> Self {
        Self {
            protocols,
            framing: None,
            length_mode: LengthMode::Auto,
            limits: Limits::default(),
            resync: true,
            want: Want::Places,
        }
    }
}

/// A frame, understood. Borrowed from the decoder: use it or lose it.
#[non_exhaustive]
pub struct Decoded<'a> {
    /// Counts all frames of the run, from 0.
    pub index: u64,
    /// Where it came from.
    pub origin: Origin,
    /// Whose message it is.
    pub protocol: &'a dyn Protocol,
    /// Its bytes and how they were delimited.
    pub frame: &'a Frame<'a>,
    /// What it means.
    pub message: &'a Message<'a>,
    /// Stream offset up to which the stream is done with once this frame is.
    pub next: u64,
    /// What a hex dump said beside it, and is not so.
    pub remarks: &'a [String],
    /// What wiretool did to it on its way, as a recording says: `drop`.
    pub injected: Option<&'a str>,
    /// Its bytes as they stood in the stream, where [`Want::Exact`] was asked for.
    pub raw: Option<Raw<'a>>,
}

impl<'a> Decoded<'a> {
    /// What is wrong with it, framing first, each with its absolute offset. What only follows from an earlier fault
    /// is left out.
    pub fn faults(&self) -> impl Iterator<Item = (u64, &'a DecodeError)> {
        let (frame, message) = (self.frame, self.message);
        let own = frame.fault.as_ref().map(|f| (f.offset, &*f.error));
        own.into_iter()
            .chain(message.faults.iter().filter_map(move |error| {
                let follows = own.is_some_and(|(_, own)| {
                    matches!(own.code, "bad-deflate" | "gap" | "compressed")
                        || own.code == error.code
                        || matches!(
                            error.code,
                            "ends-early" | "empty" | "bad-json" | "trailing-bytes"
                        )
                });
                (!follows).then(|| (frame.view.locate(error.span.at()), error))
            }))
    }

    /// Whether anything is wrong with it.
    pub fn is_faulty(&self) -> bool {
        self.faults().next().is_some()
    }

    /// What a session is told of it.
    pub fn seen(&self) -> Seen<'a> {
        Seen {
            index: self.index,
            origin: self.origin,
            frame: self.frame,
            message: self.message,
        }
    }

    /// The value, for outputs that need places; whole only where [`Want::Places`] was asked for.
    pub fn root(&self) -> Option<Node<'a>> {
        self.message
            .value
            .and_then(|parsed| parsed.root(self.frame.view.bytes))
    }

    /// Writes the message as lossless JSON, on one line.
    pub fn write_message(&self, out: &mut Vec<u8>) {
        if let Some(parsed) = self.message.value {
            parsed.write_message(self.frame.view.bytes, out);
        }
    }

    /// Writes the message as lossless JSON; `full` may empty `out` meanwhile.
    pub fn pass_message(&self, out: &mut Vec<u8>, full: &mut dyn FnMut(&mut Vec<u8>)) {
        if let Some(parsed) = self.message.value {
            parsed.pass_message(self.frame.view.bytes, out, full);
        }
    }

    /// What is worth saying of its values.
    pub fn annotate(&self, notes: &mut Notes) {
        notes.clear();
        if let Some(root) = self.root() {
            annotate(self.protocol, root, self.message, notes);
        }
    }

    /// Replaces the secrets of this message in texts about it.
    pub fn hide_secrets(&self, texts: &mut dyn Iterator<Item = &mut String>) {
        let mut notes = Notes::default();
        self.annotate(&mut notes);
        let Some(root) = self.root() else {
            return;
        };
        let mut secrets = Vec::new();
        root.each(&mut |node| {
            let mut json = Vec::new();
            if notes.is_secret(node) && !node.is_map() && !node.is_array() {
                lossless::write(node, &mut json);
                secrets.extend(node.text().map(Cow::into_owned));
                secrets.extend(node.raw_content().map(hex::encode));
                secrets.push(String::from_utf8_lossy(&json).into_owned());
            }
        });
        for text in texts {
            for secret in &secrets {
                hide(secret, text);
            }
        }
    }
}

/// Told of every frame.
pub type Sink<'s> = dyn FnMut(&Decoded<'_>) + 's;

type Key = (Option<u32>, Option<Direction>);

/// The longest head that a message has before it: HTTP's.
const HEAD: usize = 1 << 20;
/// Remarks that wait at most.
const REMARKS: usize = 1 << 16;

/// Bytes that wait for the protocol to be known, told apart by where they came from; their direction's detector has
/// them.
struct Held {
    origin: Origin,
    len: usize,
}

/// Turns chunks into understood frames.
pub struct Decoder<'p> {
    options: Options<'p>,
    streams: BTreeMap<Key, Stream>,
    /// Connections whose framing is not known yet.
    detecting: BTreeMap<Key, Detector<'p>>,
    /// What the detectors hold, in the order in which it came.
    held: Vec<Held>,
    held_beside: Vec<(Key, Beside)>,
    /// Directions that begin behind a gap: where it is, and how long.
    gaps: BTreeMap<Key, (u64, u64)>,
    protocol: Option<&'p dyn Protocol>,
    guess: Option<Guess>,
    /// Bytes that are held, or that came by and were only counted.
    undetected: usize,
    /// Whether detection gave up.
    given_up: bool,
    parsed: Parsed,
    index: u64,
}

impl<'p> Decoder<'p> {
    /// A decoder that has seen nothing.
    pub fn new(options: Options<'p>) -> Self {
        let protocol = match options.protocols.as_slice() {
            [only] => Some(*only),
            _ => None,
        };
        let parsed = Parsed::new(options.want, options.limits.depth);
        Self {
            options,
            streams: BTreeMap::new(),
            detecting: BTreeMap::new(),
            held: Vec::new(),
            held_beside: Vec::new(),
            gaps: BTreeMap::new(),
            protocol,
            guess: None,
            undetected: 0,
            given_up: false,
            parsed,
            index: 0,
        }
    }

    /// What it was told.
    pub fn options(&self) -> &Options<'p> {
        &self.options
    }

    /// The first frame will be counted so.
    #[must_use]
    pub fn starting_at(mut self, index: u64) -> Self {
        self.index = index;
        self
    }

    /// What the next frame will be counted as.
    pub fn index(&self) -> u64 {
        self.index
    }

    /// From the next frame on, the output needs this.
    pub fn set_want(&mut self, want: Want) {
        self.parsed.set_want(want);
    }

    /// Where the protocol is open: it is the one of that name, as a recording says.
    pub fn expect(&mut self, name: &str) {
        if self.protocol.is_none()
            && !self.given_up
            && let Some(protocol) = self.options.protocols.iter().find(|p| p.name() == name)
        {
            self.protocol = Some(*protocol);
        }
    }

    /// The protocol, once it is known.
    pub fn protocol(&self) -> Option<&'p dyn Protocol> {
        self.protocol
    }

    /// How the protocol was found out, where it was not given.
    pub fn guess(&self) -> Option<&Guess> {
        self.guess.as_ref()
    }

    /// A remark of a hex dump; to be told before the bytes it stands beside.
    pub(crate) fn beside(&mut self, origin: Origin, beside: Beside) {
        let key = (origin.conn, origin.direction);
        match self.streams.get_mut(&key) {
            Some(stream) => stream.beside.push(beside),
            None if self.given_up || self.held_beside.len() >= REMARKS => {}
            None => self.held_beside.push((key, beside)),
        }
    }

    /// Bytes as they came; every frame that they complete goes to `sink`.
    pub fn push(&mut self, origin: Origin, bytes: &[u8], sink: &mut Sink<'_>) {
        let key = (origin.conn, origin.direction);
        if self.streams.contains_key(&key) {
            return self.feed(key, origin, bytes, false, sink);
        }
        if self.given_up {
            self.undetected += bytes.len();
            return;
        }
        let (bytes, rest) = bytes.split_at(self.room(origin).min(bytes.len()));
        let options = &self.options;
        let detector = self
            .detecting
            .entry(key)
            .or_insert_with(|| match self.protocol {
                Some(protocol) => Detector::new(&[protocol], options, key, true),
                None => Detector::new(&options.protocols, options, key, false),
            });
        let verdict = detector.push(bytes);
        self.undetected += bytes.len();
        match self.held.last_mut() {
            Some(last) if last.origin == origin => last.len += bytes.len(),
            _ => self.held.push(Held {
                origin,
                len: bytes.len(),
            }),
        }
        self.decide(key, verdict, sink);
        if rest.is_empty() {
            return;
        }
        if self.protocol.is_none() {
            self.settle(false, sink);
        }
        if self.protocol.is_none() {
            self.given_up = true;
            self.held = Vec::new();
            self.held_beside = Vec::new();
            self.detecting.clear();
        }
        self.push(origin, rest, sink);
    }

    /// How many more bytes may wait for the protocol to be known. Both directions of a conversation may begin with a
    /// message as long as the limit.
    fn room(&self, origin: Origin) -> usize {
        if self.protocol.is_some() {
            return usize::MAX;
        }
        let limit = self.options.limits.message as usize;
        let pieces = match self.held.last() {
            Some(last) if last.origin == origin => self.held.len(),
            _ => self.held.len() + 1,
        };
        let taken = self.undetected + pieces * size_of::<Held>();
        (2 * (limit + HEAD)).saturating_sub(taken)
    }

    /// No more bytes will come at all; half frames are told as such.
    pub fn finish(&mut self, sink: &mut Sink<'_>) {
        self.settle(true, sink);
        let keys: Vec<Key> = self.streams.keys().copied().collect();
        for key in keys {
            self.feed_end(key, None, sink);
        }
    }

    /// The likeliest is chosen for every direction that waits, if one of them tells anything at all.
    fn settle(&mut self, eof: bool, sink: &mut Sink<'_>) {
        while let Some((key, verdict)) = self.detecting.iter_mut().find_map(|(key, detector)| {
            let verdict = detector.settle(eof);
            matches!(verdict, Verdict::Decided(..)).then_some((*key, verdict))
        }) {
            self.decide(key, verdict, sink);
        }
    }

    /// The protocol or a stream's framing is known: what was held goes its way, in the order in which it came.
    fn decide(&mut self, key: Key, verdict: Verdict<'p>, sink: &mut Sink<'_>) {
        let Verdict::Decided(protocol, framing, guess) = verdict else {
            return;
        };
        // The bytes of each direction whose framing is known now.
        let mut known = BTreeMap::new();
        known.extend(self.detecting.remove(&key).map(|d| (key, d.bytes)));
        if self.protocol.is_none() {
            self.protocol = Some(protocol);
            self.guess = Some(guess);
        }
        self.open(key, framing);
        // With the protocol known, other directions have only their framing left to find.
        for (other, waiting) in std::mem::take(&mut self.detecting) {
            // Both directions of a connection are delimited alike. A first frame that is bad must not keep one of them
            // waiting while the other goes on: what was said first would then be told last.
            if other.0.is_some() && other.0 == key.0 {
                known.insert(other, waiting.bytes);
                self.open(other, framing);
                continue;
            }
            let mut detector = Detector::new(&[protocol], &self.options, other, true);
            detector.bytes = waiting.bytes;
            match detector.push(&[]) {
                Verdict::Decided(_, framing, _) => {
                    known.insert(other, detector.bytes);
                    self.open(other, framing);
                }
                _ => {
                    self.detecting.insert(other, detector);
                }
            }
        }
        let mut fed = BTreeMap::new();
        for held in std::mem::take(&mut self.held) {
            let key = (held.origin.conn, held.origin.direction);
            let Some(bytes) = known.get(&key) else {
                self.held.push(held);
                continue;
            };
            let from: &mut usize = fed.entry(key).or_default();
            let to = *from + held.len;
            let bytes = bytes.get(*from..to).unwrap_or_default();
            *from = to;
            self.undetected -= held.len;
            self.feed(key, held.origin, bytes, false, sink);
        }
    }
}
