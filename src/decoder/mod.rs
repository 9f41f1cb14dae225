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

// Long: the one pipe, to be read from top to bottom.

mod detect;
mod doctor;
mod interleave;
mod untold;

use crate::encoding::{Parsed, Want};
use crate::error::DecodeError;
use crate::framing::{Frame, Framer, Framing, Head, LengthMode, Limits, Places, Step, View};
pub use crate::protocol::Origin;
use crate::protocol::session::Seen;
use crate::protocol::{Context, Direction, Evidence, Id, Message, Notes, Protocol, Role};
use crate::span::Span;
use crate::tape::Node;
pub use detect::Guess;
use detect::{Detector, Verdict};
pub use interleave::{Piece, interleave};
use std::collections::BTreeMap;
pub use untold::Raw;
use untold::{Untold, Whose};

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

/// Told of every frame.
pub type Sink<'s> = dyn FnMut(&Decoded<'_>) + 's;

type Key = (Option<u32>, Option<Direction>);

/// One direction of one connection.
struct Stream {
    framer: Framer,
    /// Bytes that are no whole frame yet.
    buffer: Vec<u8>,
    /// Stream offset of the first byte that is not done with.
    base: u64,
    beside: Vec<Beside>,
    /// Stops at the first bad frame.
    stopped: bool,
    /// Its end was told, and nothing came after it.
    ended: bool,
    /// Kept only where frames tell their own bytes.
    untold: Option<Untold>,
}

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

    /// No more bytes will come from here, where no direction is named from either; half frames are told as such.
    pub fn end(&mut self, origin: Origin, sink: &mut Sink<'_>) {
        let ends = |key: &Key| {
            key.0 == origin.conn && (origin.direction.is_none() || key.1 == origin.direction)
        };
        let keys: Vec<Key> = self.streams.keys().copied().filter(ends).collect();
        for key in keys {
            self.feed_end(key, origin.time, sink);
        }
    }

    /// No more bytes will come at all; half frames are told as such.
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
            self.feed_end(key, None, sink);
        }
    }

    fn feed_end(&mut self, key: Key, time: Option<i64>, sink: &mut Sink<'_>) {
        if self.streams.get(&key).is_none_or(|stream| stream.ended) {
            return;
        }
        let origin = Origin {
            conn: key.0,
            direction: key.1,
            time,
        };
        self.feed(key, origin, &[], true, sink);
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

    fn open(&mut self, key: Key, framing: Framing) {
        let hints = self.protocol.map(Protocol::hints).unwrap_or_default();
        let Options {
            limits,
            length_mode,
            resync,
            ..
        } = self.options;
        let framer = Framer::new(framing, limits, hints, length_mode, resync);
        let (mine, others) = std::mem::take(&mut self.held_beside)
            .into_iter()
            .partition(|(k, _)| *k == key);
        self.held_beside = others;
        let mine: Vec<(Key, Beside)> = mine;
        let beside = mine.into_iter().map(|(_, b)| b).collect();
        let stream = Stream {
            framer,
            buffer: Vec::new(),
            base: 0,
            beside,
            stopped: false,
            ended: false,
            untold: (self.options.want == Want::Exact).then(|| Untold::new(limits)),
        };
        self.streams.insert(key, stream);
    }

    fn feed(&mut self, key: Key, origin: Origin, bytes: &[u8], eof: bool, sink: &mut Sink<'_>) {
        let (Some(stream), Some(protocol)) = (self.streams.get_mut(&key), self.protocol) else {
            return;
        };
        stream.ended = eof;
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

/// What framing and understanding one chunk needs.
struct Run<'r, 'p, 's, 't> {
    protocol: &'p dyn Protocol,
    origin: Origin,
    parsed: &'r mut Parsed,
    index: &'r mut u64,
    resync: bool,
    sink: &'s mut Sink<'t>,
}

impl Run<'_, '_, '_, '_> {
    /// Frames as much of the window as is complete; returns how much of it is done with.
    fn drain(&mut self, stream: &mut Stream, window: &[u8], eof: bool) -> usize {
        let Stream {
            framer,
            beside,
            stopped,
            untold,
            ..
        } = stream;
        let base = stream.base;
        let mut at = 0;
        while !*stopped {
            let rest = window.get(at..).unwrap_or_default();
            let here = base + at as u64;
            let begun = untold.as_ref().and_then(|_| framer.begun());
            match framer.next(rest, here, eof) {
                Step::Incomplete(_) | Step::Took(0) => break,
                Step::Took(n) => {
                    at += n;
                    if let Some(untold) = untold {
                        untold.take(rest.get(..n).unwrap_or(rest), here);
                        let whose = match framer.begun() {
                            Some(_) => Whose::Messages,
                            None => Whose::Nobodys,
                        };
                        self.skipped(untold, framer.framing(), whose);
                    }
                }
                Step::Frame(ref frame, n) => {
                    at += n;
                    let next = base + at as u64;
                    let bad = match untold {
                        None => self.emit(frame, next, beside, None),
                        Some(untold) => {
                            let taken = rest.get(..n).unwrap_or(rest);
                            self.exact(untold, frame, begun, taken, here, beside)
                        }
                    };
                    *stopped = bad && !self.resync;
                }
            }
        }
        if let Some(untold) = untold
            && (*stopped || eof)
        {
            untold.take(window.get(at..).unwrap_or_default(), base + at as u64);
            let whose = if eof { Whose::Ended } else { Whose::Nobodys };
            self.skipped(untold, framer.framing(), whose);
        }
        if *stopped {
            at = window.len();
        }
        stream.base = base + at as u64;
        at
    }

    /// Hands on a frame with its own bytes.
    fn exact(
        &mut self,
        untold: &mut Untold,
        frame: &Frame<'_>,
        begun: Option<u64>,
        taken: &[u8],
        here: u64,
        beside: &mut Vec<Beside>,
    ) -> bool {
        let next = here + taken.len() as u64;
        if begun.is_some_and(|begun| begun != frame.offset) {
            let bad = self.emit(frame, next, beside, Some(untold.inside(taken)));
            self.skipped(untold, frame.framing, Whose::Messages);
            return bad;
        }
        untold.before(frame.offset, taken, here);
        self.skipped(untold, frame.framing, Whose::Frames);
        let bad = self.emit(frame, next, beside, Some(untold.frame(taken)));
        untold.told();
        bad
    }

    /// Bytes that belong to no frame, where they are too many to wait for the next.
    fn skipped(&mut self, untold: &mut Untold, framing: Framing, whose: Whose) {
        while let Some((offset, raw)) = untold.surplus(whose) {
            let len = raw.bytes.len();
            let frame = Frame {
                offset,
                len: len as u64,
                framing,
                head: Head::None,
                view: View {
                    bytes: raw.bytes,
                    body: Span::new(0, len),
                    places: Places::Run(offset),
                },
                control: Some("skipped"),
                fault: None,
            };
            self.emit(&frame, offset + len as u64, &mut Vec::new(), Some(raw));
            untold.passed();
        }
    }

    /// Understands a frame and hands it on; says whether framing found it bad.
    fn emit(
        &mut self,
        frame: &Frame<'_>,
        next: u64,
        beside: &mut Vec<Beside>,
        raw: Option<Raw<'_>>,
    ) -> bool {
        let context = Context {
            direction: self.origin.direction,
        };
        let mut remarks = Vec::new();
        // Doctored only where something is wrong: the good path pays nothing.
        let doctored = frame.fault.as_ref().and_then(|fault| {
            let cause = doctor::diagnose(frame, fault.error.code, self.protocol);
            let hint = match (cause, fault.error.hint.as_deref()) {
                (Some(cause), Some(hint)) => format!("{cause}; {hint}"),
                (Some(cause), None) => cause,
                (None, None) if fault.error.code == "over-limit" => {
                    "if the length is right, raise the limit with --max-message".into()
                }
                (None, _) => return None,
            };
            let mut frame = frame.clone();
            frame.fault.as_mut()?.error.hint = Some(hint.into());
            Some(frame)
        });
        let frame = doctored.as_ref().unwrap_or(frame);
        let mut message = match frame.control {
            Some(kind) => control(kind, frame),
            None => self.protocol.read(frame, &context, self.parsed),
        };
        // Bytes behind a length that cannot be right are a message only where they look like one.
        let bad_length = frame
            .fault
            .as_ref()
            .is_some_and(|f| matches!(f.error.code, "bad-length" | "over-limit"));
        if bad_length && message.evidence == Evidence::None && frame.control.is_none() {
            message = Message {
                valid: false,
                role: None,
                ..control("skipped", frame)
            };
        }
        if let Some(first) = message.faults.first_mut()
            && frame.fault.is_none()
        {
            let cause = match doctor::sight(frame) {
                None if first.hint.is_none() => {
                    doctor::diagnose(frame, first.code, self.protocol).map(Into::into)
                }
                cause => cause.map(Into::into),
            };
            first.hint = cause.or(first.hint.take());
        }
        if !beside.is_empty() {
            let root = message
                .value
                .and_then(|parsed| parsed.root(frame.view.bytes));
            let end = frame.offset + frame.len;
            let (mine, rest) = std::mem::take(beside)
                .into_iter()
                .partition(|b| b.offset < end);
            *beside = rest;
            remarks = doctor::compare(&mine, frame, root);
        }
        let decoded = Decoded {
            index: *self.index,
            origin: self.origin,
            protocol: self.protocol,
            frame,
            message: &message,
            next,
            remarks: &remarks,
            raw,
        };
        *self.index += 1;
        (self.sink)(&decoded);
        frame.fault.is_some()
    }
}

/// A frame that is no message: what HTTP and WebSocket say between messages, and bytes passed over.
fn control<'a>(kind: &'static str, frame: &Frame<'a>) -> Message<'a> {
    let mut message = Message {
        kind: kind.into(),
        role: Some(Role::Control),
        id: Id::None,
        body: frame.view.body,
        valid: kind != "skipped",
        ..Message::default()
    };
    match frame.head {
        Head::Http { start, status, .. } => {
            let mut words = start.splitn(3, ' ');
            let (first, second) = (
                words.next().unwrap_or_default(),
                words.next().unwrap_or_default(),
            );
            if status == 0 {
                message.subject = Some(format!("{first} {second}").into());
            } else {
                message.outcome = Some(status.to_string().into());
            }
        }
        Head::WebSocket { opcode: 8, .. } => {
            // MUST (RFC 6455 section 5.5.1): a body, if there is one, begins with a status code.
            message.outcome = frame
                .view
                .body()
                .first_chunk::<2>()
                .map(|c| u16::from_be_bytes(*c).to_string().into());
        }
        _ => {}
    }
    message
}
