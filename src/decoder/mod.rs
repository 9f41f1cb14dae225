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
//! Any split of a stream into chunks gives the same frames. Bytes are borrowed from the chunk where a frame lies in it
//! whole; only what is unfinished at its end is copied.

mod detect;
mod doctor;
mod interleave;
mod run;
mod untold;

use crate::encoding::{Parsed, Want};
use crate::error::DecodeError;
use crate::framing::{Frame, Framer, Framing, LengthMode, Limits, Step};
pub use crate::protocol::Origin;
use crate::protocol::session::Seen;
use crate::protocol::{Direction, Message, Notes, Protocol};
use crate::tape::Node;
pub use detect::Guess;
use detect::{Detector, Verdict};
pub use interleave::{Piece, interleave};
use run::{Run, Stream};
use std::collections::BTreeMap;
pub use untold::Raw;
use untold::Untold;

/// What the user chose; what is left open is detected.
#[derive(Clone)]
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

/// A remark that stands beside bytes of a hex dump: `length = 14`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Beside {
    /// First byte of the bytes it stands beside, in the direction's stream.
    pub offset: u64,
    /// How many bytes those are.
    pub len: u64,
    /// What it says the field is called.
    pub name: String,
    /// What it says the field is.
    pub number: u64,
}

/// A frame, understood. Borrowed from the decoder: use it or lose it.
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
                    own.code == "bad-deflate"
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

    /// What is worth saying of its values.
    pub fn annotate(&self, notes: &mut Notes) {
        notes.clear();
        if let Some(root) = self.root() {
            self.protocol.annotate(root, self.message, notes);
        }
    }
}

/// A frame of which the beginning is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Half {
    /// Its connection and direction.
    pub origin: Origin,
    /// First byte, from the start of the direction's stream.
    pub offset: u64,
    /// How many bytes are there.
    pub have: u64,
    /// What would be said of it if nothing more came: what is missing, and the likely cause.
    pub fault: Option<DecodeError>,
}

/// Told of every frame.
pub type Sink<'s> = dyn FnMut(&Decoded<'_>) + 's;

type Key = (Option<u32>, Option<Direction>);

/// A chunk that waits for the protocol to be known.
struct Held {
    origin: Origin,
    bytes: Vec<u8>,
}

/// Turns chunks into understood frames.
pub struct Decoder<'p> {
    options: Options<'p>,
    streams: BTreeMap<Key, Stream>,
    /// Connections whose framing is not known yet.
    detecting: BTreeMap<Key, Detector<'p>>,
    held: Vec<Held>,
    held_beside: Vec<(Key, Beside)>,
    protocol: Option<&'p dyn Protocol>,
    guess: Option<Guess>,
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
            protocol,
            guess: None,
            parsed,
            index: 0,
        }
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
    pub fn beside(&mut self, origin: Origin, beside: Beside) {
        let key = (origin.conn, origin.direction);
        match self.streams.get_mut(&key) {
            Some(stream) => stream.beside.push(beside),
            None => self.held_beside.push((key, beside)),
        }
    }

    /// Bytes as they came; every frame that they complete goes to `sink`.
    pub fn push(&mut self, origin: Origin, bytes: &[u8], sink: &mut Sink<'_>) {
        let key = (origin.conn, origin.direction);
        if self.streams.contains_key(&key) {
            return self.feed(key, origin, bytes, false, sink);
        }
        let options = &self.options;
        let detector = self
            .detecting
            .entry(key)
            .or_insert_with(|| match self.protocol {
                Some(protocol) => Detector::new(&[protocol], options, origin.direction, true),
                None => Detector::new(&options.protocols, options, origin.direction, false),
            });
        let verdict = detector.push(bytes);
        self.held.push(Held {
            origin,
            bytes: bytes.to_vec(),
        });
        self.decide(key, verdict, sink);
    }

    /// No more bytes will come; half frames are told as such.
    pub fn finish(&mut self, sink: &mut Sink<'_>) {
        while let Some(key) = self.detecting.keys().next().copied() {
            let Some(detector) = self.detecting.get_mut(&key) else {
                break;
            };
            let verdict = detector.finish();
            if matches!(verdict, Verdict::Nothing)
                && self.detecting.len() > 1
                && self.protocol.is_none()
            {
                // Another direction may still tell.
                let detector = self.detecting.remove(&key);
                let later = self.detecting.keys().next().copied();
                if let (Some(detector), Some(later)) = (detector, later) {
                    let verdict = self
                        .detecting
                        .get_mut(&later)
                        .map_or(Verdict::Nothing, Detector::finish);
                    self.detecting.insert(key, detector);
                    if !matches!(verdict, Verdict::Nothing) {
                        self.decide(later, verdict, sink);
                        continue;
                    }
                }
            }
            if matches!(verdict, Verdict::Nothing | Verdict::Wait) {
                break;
            }
            self.decide(key, verdict, sink);
        }
        let keys: Vec<Key> = self.streams.keys().copied().collect();
        for key in keys {
            let origin = Origin {
                conn: key.0,
                direction: key.1,
                time: None,
            };
            self.feed(key, origin, &[], true, sink);
        }
    }

    /// Frames of which only the beginning is there: what each direction is in the middle of.
    pub fn halves(&self) -> Vec<Half> {
        let half = |(key, stream): (&Key, &Stream)| {
            let offset = stream.framer.begun().unwrap_or(stream.base);
            let have = stream.base + stream.buffer.len() as u64 - offset;
            // Looked at with a framer of its own, so that the stream can go on.
            let mut framer = self.framer(stream.framer.framing());
            let fault = match framer.next(&stream.buffer, stream.base, true) {
                Step::Frame(frame, _) => frame.fault.as_ref().map(|fault| {
                    let mut error = (*fault.error).clone();
                    if let Some(protocol) = self.protocol {
                        let cause = doctor::diagnose(&frame, error.code, protocol);
                        error.hint = cause.map(Into::into).or(error.hint);
                    }
                    error
                }),
                _ => None,
            };
            let origin = Origin {
                conn: key.0,
                direction: key.1,
                time: None,
            };
            (have > 0 && !stream.stopped).then_some(Half {
                origin,
                offset,
                have,
                fault,
            })
        };
        self.streams.iter().filter_map(half).collect()
    }

    /// Bytes that no protocol recognises, once all has come.
    pub fn undetected(&self) -> usize {
        self.held.iter().map(|h| h.bytes.len()).sum()
    }

    /// The protocol or a stream's framing is known: what was held goes its way, in the order in which it came.
    fn decide(&mut self, key: Key, verdict: Verdict<'p>, sink: &mut Sink<'_>) {
        let Verdict::Decided(protocol, framing, guess) = verdict else {
            return;
        };
        self.detecting.remove(&key);
        if self.protocol.is_none() {
            self.protocol = Some(protocol);
            self.guess = Some(guess);
        }
        self.open(key, framing);
        // With the protocol known, other directions have only their framing left to find.
        let waiting: Vec<Key> = self.detecting.keys().copied().collect();
        for other in waiting {
            let mut detector = Detector::new(&[protocol], &self.options, other.1, true);
            let mut verdict = Verdict::Wait;
            for held in self
                .held
                .iter()
                .filter(|h| (h.origin.conn, h.origin.direction) == other)
            {
                verdict = detector.push(&held.bytes);
            }
            match verdict {
                Verdict::Decided(_, framing, _) => {
                    self.detecting.remove(&other);
                    self.open(other, framing);
                }
                _ => {
                    self.detecting.insert(other, detector);
                }
            }
        }
        let held = std::mem::take(&mut self.held);
        for chunk in held {
            let key = (chunk.origin.conn, chunk.origin.direction);
            if self.streams.contains_key(&key) {
                self.feed(key, chunk.origin, &chunk.bytes, false, sink);
            } else {
                self.held.push(chunk);
            }
        }
    }

    fn framer(&self, framing: Framing) -> Framer {
        let hints = self.protocol.map(Protocol::hints).unwrap_or_default();
        let Options {
            limits,
            length_mode,
            resync,
            ..
        } = self.options;
        Framer::new(framing, limits, hints, length_mode, resync)
    }

    fn open(&mut self, key: Key, framing: Framing) {
        let (mine, others) = std::mem::take(&mut self.held_beside)
            .into_iter()
            .partition(|(k, _)| *k == key);
        self.held_beside = others;
        let mine: Vec<(Key, Beside)> = mine;
        let beside = mine.into_iter().map(|(_, b)| b).collect();
        let stream = Stream {
            framer: self.framer(framing),
            buffer: Vec::new(),
            base: 0,
            beside,
            stopped: false,
            untold: (self.options.want == Want::Exact).then(|| Untold::new(self.options.limits)),
        };
        self.streams.insert(key, stream);
    }

    fn feed(&mut self, key: Key, origin: Origin, bytes: &[u8], eof: bool, sink: &mut Sink<'_>) {
        let (Some(stream), Some(protocol)) = (self.streams.get_mut(&key), self.protocol) else {
            return;
        };
        let mut run = Run {
            protocol,
            origin,
            parsed: &mut self.parsed,
            index: &mut self.index,
            resync: self.options.resync,
            sink,
        };
        let mut buffer = std::mem::take(&mut stream.buffer);
        if buffer.is_empty() {
            let done = run.drain(stream, bytes, eof);
            buffer.extend_from_slice(bytes.get(done..).unwrap_or_default());
        } else {
            buffer.extend_from_slice(bytes);
            let done = run.drain(stream, &buffer, eof);
            buffer.drain(..done.min(buffer.len()));
        }
        stream.buffer = buffer;
    }
}
