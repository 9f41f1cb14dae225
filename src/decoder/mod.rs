//! The decoder: takes chunks, and passes on messages.
//!
//! ```text
//!   push(origin, bytes)     origin: connection, stream, direction, time
//!      -> detect    which protocol, which framing; chunks are held until the bytes decide
//!      -> framing   one framer for each lane: connection, stream, direction
//!      -> protocol  kind, role, id, subject, faults
//!      -> diagnose  the likely cause of a bad frame
//!      -> Decoded   borrowed; gone when the next one comes
//! ```
//!
//! Any split of a stream into chunks gives the same frames. A frame that lies whole in a chunk is borrowed from it.
//! Bytes that no protocol recognises are held up to a limit, and then only counted.

mod chunk;
mod chunk_times;
#[cfg(feature = "cli")]
mod continued;
mod coverage;
mod datagram;
mod detect;
mod diagnose;
mod fallible;
mod gap;
mod held;
mod http_heads;
mod idle;
mod interleave;
mod kept;
mod length_repair;
mod message;
mod metadata;
mod open_requests;
mod options;
mod partial;
mod recovery;
#[cfg(feature = "cli")]
mod sections;
mod separate;
#[cfg(feature = "cli")]
mod stored;
mod stream_end;

use self::open_requests::{OpenNames, OpenRequests};
use crate::encoding::{Parsed, Want};
use crate::framing::{Backlog, Framer, Framing};
pub use crate::protocol::Origin;
use crate::protocol::{ConnStream, Direction, Lane, Protocol};
use chunk::Stream;
use chunk_times::ChunkTimes;
#[cfg(feature = "cli")]
pub(crate) use continued::StreamState;
use coverage::Coverage;
pub use coverage::RawFrame;
use datagram::HeldDatagrams;
pub use detect::Guess;
use detect::{Detector, ProtocolVerdict};
use fallible::unbroken;
use held::Held;
use idle::IdleStreams;
pub(crate) use interleave::{OneWay, interleave};
pub use kept::KeptMessage;
pub(crate) use length_repair::REST_OF_PREVIOUS;
pub use message::Decoded;
pub use metadata::{Metadata, SideEvent};
pub use options::DecodeOptions;
use options::new_parsed;
pub(crate) use partial::Partial;
use recovery::Recovery;
#[cfg(feature = "cli")]
pub(crate) use sections::{Section, SectionMemory, SectionMessage, SectionReader, Splitter};
#[cfg(feature = "rules")]
pub(crate) use separate::LateGuess;
use separate::SeparateDetection;
use std::collections::{BTreeMap, VecDeque};
use std::ops::ControlFlow;
#[cfg(feature = "cli")]
pub(crate) use stored::{RareParts, StoredFrames};

/// Receives every message. A closure in a variable needs the type of its argument: `|decoded: &Decoded<'_>|`; one that is
/// written in the call does not.
pub type FrameSink<'s> = dyn FnMut(&Decoded<'_>) + 's;
/// Receives every message. After a break, the decoder reads no further bytes if it can; the rest of a frame that is read
/// already, and of bytes that waited for the protocol, still follows.
pub(crate) type FlowSink<'s> = dyn FnMut(&Decoded<'_>) -> ControlFlow<()> + 's;

/// The maximum number of waiting remarks.
const MAX_REMARKS: usize = 1 << 16;

/// The bytes of each direction whose framing is known now, and how many of them are no message.
type KnownBytes = BTreeMap<Lane, (Vec<u8>, usize)>;

/// Decodes chunks into frames.
pub struct Decoder<'p> {
    options: DecodeOptions<'p>,
    streams: BTreeMap<Lane, Box<Stream<'p>>>,
    idle: IdleStreams<'p>,
    /// Connections whose framing is not known yet.
    detecting: BTreeMap<Lane, Detector<'p>>,
    /// The bytes that the detectors store, in the order of arrival.
    held: Held,
    held_metadata: Vec<(Lane, Metadata)>,
    /// Streams of which only this direction has ended.
    half_ended: BTreeMap<ConnStream, Direction>,
    /// Directions that start after a gap: its offset and length.
    gaps: BTreeMap<Lane, (u64, u64)>,
    protocol: Option<&'p dyn Protocol>,
    /// The name of a protocol that is not among the options.
    unknown: Option<String>,
    guess: Option<Guess>,
    /// The number of bytes that are held, or were only counted.
    undetected: usize,
    /// `true` if detection failed.
    given_up: bool,
    /// The first bytes when detection failed.
    undetected_start: Vec<u8>,
    datagrams: HeldDatagrams,
    /// What the bytes looked like when detection failed.
    resembles: Option<String>,
    /// Present if each connection has its own protocol.
    separate: Option<SeparateDetection<'p>>,
    parsed: Parsed,
    names: OpenNames,
    index: u64,
    /// The latest time of all bytes.
    latest: Option<i64>,
    /// Messages that were read after a sink failed; the next call passes them on first.
    waiting: VecDeque<KeptMessage>,
}

impl<'p> Decoder<'p> {
    /// Creates a decoder at the start of its streams.
    pub fn new(options: DecodeOptions<'p>) -> Self {
        let protocol = match options.protocols.as_slice() {
            [only] => Some(*only),
            _ => None,
        };
        let parsed = new_parsed(options.want, options.limits.depth, options.lookup.as_ref());
        Self {
            options,
            streams: BTreeMap::new(),
            idle: IdleStreams::default(),
            detecting: BTreeMap::new(),
            held: Held::default(),
            held_metadata: Vec::new(),
            half_ended: BTreeMap::new(),
            gaps: BTreeMap::new(),
            protocol,
            unknown: None,
            guess: None,
            undetected: 0,
            given_up: false,
            undetected_start: Vec::new(),
            datagrams: HeldDatagrams::default(),
            resembles: None,
            separate: None,
            names: OpenNames::default(),
            parsed,
            index: 0,
            latest: None,
            waiting: VecDeque::new(),
        }
    }

    /// Returns the options.
    pub fn options(&self) -> &DecodeOptions<'p> {
        &self.options
    }

    /// Sets the number of the first frame.
    #[must_use]
    pub fn starting_at(mut self, index: u64) -> Self {
        self.index = index;
        self
    }

    /// Returns the number of the next frame.
    pub fn index(&self) -> u64 {
        self.index
    }

    /// Changes the required details from the next frame on.
    pub fn set_want(&mut self, want: Want) {
        self.parsed.set_want(want);
    }

    /// Sets the protocol by its name, as in a recording, if it is not known.
    pub fn expect(&mut self, name: &str) {
        if self.protocol.is_some() || self.given_up {
            return;
        }
        self.protocol = self
            .options
            .protocols
            .iter()
            .find(|p| p.name() == name)
            .copied();
        self.unknown = self.protocol.is_none().then(|| name.to_owned());
    }

    /// Returns the name of the protocol that a recording names, if the options have no such protocol.
    #[cfg(feature = "cli")]
    pub(crate) fn unknown_protocol(&self) -> Option<&str> {
        self.unknown.as_deref()
    }

    /// Returns the protocol, once it is known.
    pub fn protocol(&self) -> Option<&'p dyn Protocol> {
        self.protocol
    }

    /// Returns the evidence for the protocol if it was detected.
    pub fn guess(&self) -> Option<&Guess> {
        self.guess.as_ref()
    }

    /// Adds metadata; call it before the bytes to which it belongs.
    pub fn add_metadata(&mut self, origin: Origin, metadata: Metadata) {
        let key = origin.lane();
        self.restore(key);
        match self.streams.get_mut(&key) {
            Some(stream) => stream.metadata.push(metadata),
            None if self.given_up || self.held_metadata.len() >= MAX_REMARKS => {}
            None => self.held_metadata.push((key, metadata)),
        }
    }

    /// Decodes bytes of one origin. Each completed frame goes to `sink`.
    ///
    /// Each connection has a state of its own until [`Decoder::close`], of 100 bytes to one KiB: a program that decodes many
    /// connections must close them.
    pub fn push(&mut self, origin: Origin, bytes: &[u8], sink: &mut FrameSink<'_>) {
        self.push_until(origin, bytes, &mut unbroken(sink));
    }

    /// [`Decoder::push`] with a sink that can break. Returns the number of consumed bytes. After a break, the decoder can
    /// hold further messages, even if it has consumed all bytes: push the rest, until no break occurs.
    pub(crate) fn push_until(
        &mut self,
        origin: Origin,
        bytes: &[u8],
        sink: &mut FlowSink<'_>,
    ) -> usize {
        if !self.waiting.is_empty() && self.pass_waiting(sink).is_break() {
            return 0;
        }
        let key = origin.lane();
        self.latest = self.latest.max(origin.time);
        if !self.streams.contains_key(&key) {
            self.restore(key);
        }
        if self.streams.contains_key(&key) {
            return self.feed_until(key, origin, bytes, sink);
        }
        if self.given_up {
            self.undetected += bytes.len();
        }
        if self.given_up || self.is_ignored(key, bytes.len()) {
            return bytes.len();
        }
        let mut flow = ControlFlow::Continue(());
        let rest = self.detect(origin, bytes, &mut |decoded| {
            let next = sink(decoded);
            if next.is_break() {
                flow = next;
            }
            next
        });
        let taken = bytes.len() - rest.len();
        if rest.is_empty() || flow.is_break() {
            return taken;
        }
        taken + self.push_until(origin, rest, sink)
    }

    /// Adds bytes to the detection of their direction. Returns the bytes for which it has no space.
    fn detect<'b>(&mut self, origin: Origin, bytes: &'b [u8], sink: &mut FlowSink<'_>) -> &'b [u8] {
        let key = origin.lane();
        if self.separate.is_some() {
            self.make_space(bytes.len());
        }
        let (bytes, rest) = bytes.split_at(self.space(origin).min(bytes.len()));
        let known = self.protocol_of(key);
        let beside = self.framing_beside(key);
        let (options, gap) = (&self.options, self.gaps.get(&key));
        let detector = self.detecting.entry(key).or_insert_with(|| match known {
            Some(protocol) => Detector::new(&[protocol], options, key, true).after(gap),
            None => Detector::new(&options.protocols, options, key, false).after(gap),
        });
        // A log line before the first message must not hold this direction back while the other continues.
        let verdict = match (known, beside) {
            (Some(protocol), Some(framing)) if key.conn.is_some() => {
                detector.push_beside(bytes, protocol, framing)
            }
            (Some(protocol), Some(framing)) => match detector.push(bytes) {
                ProtocolVerdict::Wait if detector.fits(protocol, framing) => {
                    detector.push_beside(&[], protocol, framing)
                }
                verdict => verdict,
            },
            _ => detector.push(bytes),
        };
        self.undetected += bytes.len();
        self.held.push(origin, bytes.len());
        self.decide(key, verdict, sink);
        if rest.is_empty() {
            return rest;
        }
        if self.separate.is_some() {
            self.give_up_connection(key, sink);
        } else if self.protocol.is_none() {
            self.settle(false, sink);
        }
        if self.protocol.is_none() && self.separate.is_none() {
            self.give_up();
        }
        rest
    }

    /// Returns the framing of the other direction if it is one of text, which both directions share.
    fn framing_beside(&self, key: Lane) -> Option<Framing> {
        let other = self.streams.get(&key.back())?.framer.framing();
        let is_text = matches!(other, Framing::Lines | Framing::ContentLength);
        (is_text && !self.gaps.contains_key(&key)).then_some(other)
    }

    /// Ends all streams; partial frames are reported.
    pub fn finish(&mut self, sink: &mut FrameSink<'_>) {
        self.end_detection(sink);
        let sink = &mut unbroken(sink);
        let keys: Vec<Lane> = self.streams.keys().copied().collect();
        for key in keys {
            self.feed_end(key.at(None), self.latest, sink);
        }
    }

    /// Decides what waits for its protocol, because no more bytes come.
    pub(crate) fn end_detection(&mut self, sink: &mut FrameSink<'_>) {
        let sink = &mut unbroken(sink);
        let _ = self.pass_waiting(sink);
        if self.separate.is_some() {
            self.settle_separately(sink);
        } else {
            self.settle(true, sink);
        }
    }

    /// Chooses the most likely protocol and framing for every waiting direction, if one of them has
    /// evidence.
    fn settle(&mut self, eof: bool, sink: &mut FlowSink<'_>) {
        // Another connection may show a protocol that comes before the fallback.
        for fallback in [false, true] {
            let lanes: Vec<Lane> = self.detecting.keys().copied().collect();
            for lane in lanes {
                self.join_directions(lane);
            }
            while let Some((key, verdict)) =
                self.detecting.iter_mut().find_map(|(key, detector)| {
                    let verdict = detector.settle(eof);
                    let counts = match &verdict {
                        ProtocolVerdict::Decided(protocol, ..) => {
                            fallback || !protocol.descriptor().is_fallback
                        }
                        _ => false,
                    };
                    counts.then_some((*key, verdict))
                })
            {
                self.decide(key, verdict, sink);
            }
        }
    }

    /// Applies a decision about the protocol or a stream's framing: decodes the held bytes in the
    /// order of arrival.
    fn decide(&mut self, key: Lane, verdict: ProtocolVerdict<'p>, sink: &mut FlowSink<'_>) {
        let ProtocolVerdict::Decided(protocol, framing, guess) = verdict else {
            return;
        };
        let mut known = KnownBytes::new();
        if let Some(detector) = self.detecting.remove(&key) {
            let unread = detector.unread(protocol, framing);
            known.insert(key, (detector.bytes, unread));
        }
        let guess = self.expected_guess(key.conn).unwrap_or(guess);
        if let Some(separate) = &mut self.separate {
            separate.set(key.conn, protocol, guess.tie);
        }
        let is_new = self.protocol.is_none();
        if is_new {
            self.protocol = Some(protocol);
            self.guess = Some(guess);
        }
        self.open_stream(key, framing);
        self.open_beside(key, framing, &mut known);
        // If the protocol is new, other directions only need their framing; otherwise those of other connections know it.
        let is_of_all = is_new && self.separate.is_none();
        let others = if is_of_all {
            self.detecting.keys().copied().collect()
        } else {
            self.waiting_lanes(key.conn)
        };
        for other in others {
            let Some(waiting) = self.detecting.remove(&other) else {
                continue;
            };
            let detector = Detector::new(&[protocol], &self.options, other, true);
            let mut detector = detector.after(self.gaps.get(&other));
            detector.bytes = waiting.bytes;
            match detector.push(&[]) {
                ProtocolVerdict::Decided(_, framing, _) => {
                    known.insert(other, (detector.bytes, 0));
                    self.open_stream(other, framing);
                    self.open_beside(other, framing, &mut known);
                }
                _ => {
                    self.detecting.insert(other, detector);
                }
            }
        }
        let mut fed = BTreeMap::new();
        for held in self.held.take(known.keys()) {
            let key = held.origin.lane();
            let Some((bytes, unread)) = known.get(&key) else {
                continue;
            };
            let from: &mut usize = fed.entry(key).or_default();
            let to = *from + held.len;
            let bytes = bytes.get(*from..to).unwrap_or_default();
            *from = to;
            self.undetected -= held.len;
            if to <= *unread {
                self.skip(key, held.origin, bytes, sink);
            } else {
                self.feed(key, held.origin, bytes, false, sink);
            }
            if held.missing > 0 {
                self.feed_gap(key, held.origin, held.missing, sink);
            }
        }
        self.emit_datagrams(sink);
    }
}

impl Decoder<'_> {
    /// Opens the other direction of a lane, which has the same framing; without a connection, if it fits: a file may hold
    /// each direction in a layout of its own. A bad first frame must not hold it back while this
    /// direction continues: the earlier messages would be emitted last.
    fn open_beside(&mut self, key: Lane, framing: Framing, known: &mut KnownBytes) {
        // Only the opener of a stream of HTTP/3 says what kind of stream it is.
        if framing == Framing::Http3 {
            return;
        }
        for direction in [None, Some(Direction::ToServer), Some(Direction::ToClient)] {
            let other = Lane { direction, ..key };
            let Some(mut waiting) = self.detecting.remove(&other) else {
                continue;
            };
            let protocol = self.protocol_of(key);
            let fits = |protocol| waiting.fits(protocol, framing);
            if key.conn.is_none() && !protocol.is_some_and(fits) {
                self.detecting.insert(other, waiting);
                continue;
            }
            let is_start = !self.gaps.contains_key(&other);
            let own = waiting.framing_beside(framing).filter(|_| is_start);
            let framing = own.unwrap_or(framing);
            let unread = match self.protocol_of(other) {
                Some(protocol) => waiting.unread(protocol, framing),
                None => 0,
            };
            known.insert(other, (waiting.bytes, unread));
            self.open_stream(other, framing);
        }
    }
}

impl Decoder<'_> {
    fn framer(&self, protocol: &dyn Protocol, framing: Framing, resync: bool) -> Framer {
        let DecodeOptions {
            limits,
            length_mode,
            ..
        } = self.options;
        protocol.framer(framing, limits, length_mode, resync)
    }

    fn open_stream(&mut self, key: Lane, framing: Framing) {
        let Some(protocol) = self.protocol_of(key) else {
            return;
        };
        let (mine, others) = std::mem::take(&mut self.held_metadata)
            .into_iter()
            .partition(|(k, _)| *k == key);
        self.held_metadata = others;
        let mine: Vec<(Lane, Metadata)> = mine;
        let metadata = mine.into_iter().map(|(_, b)| b).collect();
        let gap = self.gaps.remove(&key);
        let mut stream = self.new_stream(protocol, framing);
        stream.framer.set_stream(key.stream);
        if gap.is_some() {
            stream.framer.seek();
        }
        stream.tie = self.is_tie(key);
        stream.base = gap.map_or(0, |(at, len)| at.saturating_add(len));
        stream.metadata = metadata;
        stream.recovery = Recovery::after(gap);
        self.streams.insert(key, Box::new(stream));
        self.add_live(key);
    }

    /// Returns a stream at its start.
    fn new_stream<'p>(&self, protocol: &'p dyn Protocol, framing: Framing) -> Stream<'p> {
        let options = &self.options;
        Stream {
            protocol,
            tie: false,
            framer: self.framer(protocol, framing, options.resync),
            buffer: Backlog::default(),
            base: 0,
            metadata: Vec::new(),
            stopped: false,
            ended: false,
            wrong: None,
            times: ChunkTimes::default(),
            open: OpenRequests::default(),
            coverage: (options.want.is_exact()).then(|| Coverage::new(options.limits).into()),
            recovery: Recovery::default(),
        }
    }

    /// Shows the requests of a connection to the framer of its responses.
    fn share_requests(&mut self, key: Lane) {
        if key.direction != Some(Direction::ToClient) {
            return;
        }
        // The two keys are adjacent: the direction to the server comes first.
        let mut both = self.streams.range_mut(key.back()..=key);
        if let (Some((_, asking)), Some((_, answering))) = (both.next(), both.next()) {
            answering.framer.observe_requests(&mut asking.framer);
        }
    }
}
