//! The streams of a conversation: created when their framing is known, and fed with bytes.

use super::chunk::{ChunkDecoder, Stream};
use super::chunk_times::ChunkTimes;
use super::coverage::Coverage;
use super::emit::Emitter;
use super::fallible::unbroken;
use super::open_requests::OpenRequests;
use super::recovery::Recovery;
use super::{DecodeOptions, Decoder, FlowSink, FrameSink, Metadata, Origin};
use crate::framing::{Backlog, Framer, Framing};
use crate::protocol::{Direction, Lane, Protocol};

impl Decoder<'_> {
    pub(super) fn framer(&self, protocol: &dyn Protocol, framing: Framing, resync: bool) -> Framer {
        let DecodeOptions {
            limits,
            length_mode,
            ..
        } = self.options;
        protocol.framer(framing, limits, length_mode, resync)
    }

    pub(super) fn open_stream(&mut self, key: Lane, framing: Framing) {
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
        self.rest_oldest(key);
    }

    /// Returns a stream at its start.
    pub(super) fn new_stream<'p>(
        &self,
        protocol: &'p dyn Protocol,
        framing: Framing,
    ) -> Stream<'p> {
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

    pub(super) fn feed(
        &mut self,
        key: Lane,
        origin: Origin,
        bytes: &[u8],
        eof: bool,
        sink: &mut FlowSink<'_>,
    ) {
        self.run(key, origin, sink, |run, stream| {
            stream.ended = eof;
            run.feed(stream, bytes, eof);
        });
    }

    /// Ends one stream, once. `silent_until`: the recording shows that nothing follows up to then.
    pub(super) fn feed_end(
        &mut self,
        origin: Origin,
        silent_until: Option<i64>,
        sink: &mut FlowSink<'_>,
    ) {
        let key = origin.lane();
        if self.streams.get(&key).is_none_or(|stream| stream.ended) {
            return;
        }
        self.run(key, origin, sink, |run, stream| {
            stream.ended = true;
            run.out.silent_until = silent_until;
            run.feed(stream, &[], true);
        });
    }

    /// Decodes bytes until the sink breaks. Returns the number of consumed bytes.
    pub(super) fn feed_until(
        &mut self,
        key: Lane,
        origin: Origin,
        bytes: &[u8],
        sink: &mut FlowSink<'_>,
    ) -> usize {
        let mut taken = bytes.len();
        self.run(key, origin, sink, |run, stream| {
            stream.ended = false;
            run.out.can_halt = true;
            taken = run.feed(stream, bytes, false);
        });
        taken
    }

    pub(super) fn run(
        &mut self,
        key: Lane,
        origin: Origin,
        sink: &mut FlowSink<'_>,
        act: impl FnOnce(&mut ChunkDecoder<'_, '_, '_, '_>, &mut Stream<'_>),
    ) {
        self.share_requests(key);
        let asking = (key.direction == Some(Direction::ToClient)).then(|| key.back());
        let asking_stream = asking.and_then(|asking| self.streams.get_mut(&asking));
        let asked = asking_stream.map(|asking| std::mem::take(&mut asking.open));
        let Some(stream) = self.streams.get_mut(&key) else {
            return;
        };
        let open = match asking {
            Some(_) => asked.unwrap_or_default(),
            None => std::mem::take(&mut stream.open),
        };
        let mut times = std::mem::take(&mut stream.times);
        let end = stream.base + stream.buffer.len() as u64;
        times.begin(end, origin.time);
        let mut run = ChunkDecoder {
            times,
            parsed: &mut self.parsed,
            resync: self.options.resync,
            flags: self.options.flags,
            recovery: std::mem::take(&mut stream.recovery),
            out: Emitter {
                protocol: stream.protocol,
                tie: stream.tie,
                open,
                origin,
                names: &mut self.names,
                index: &mut self.index,
                silent_until: None,
                sink,
                can_halt: false,
                is_halted: false,
            },
        };
        act(&mut run, stream);
        let open = run.out.open;
        stream.recovery = run.recovery;
        stream.times = run.times;
        match asking {
            None => stream.open = open,
            Some(asking) => {
                if let Some(asking) = self.streams.get_mut(&asking) {
                    asking.open = open;
                }
            }
        }
    }

    /// Handles `len` missing bytes: a partial message ends, and reading continues at the next
    /// frame. Offsets include the missing bytes.
    pub fn gap(&mut self, origin: Origin, len: u64, sink: &mut FrameSink<'_>) {
        let sink = &mut unbroken(sink);
        let _ = self.pass_waiting(sink);
        let own = origin.lane();
        match own.stream {
            Some(_) => self.wake(own),
            None => self.wake_all(own.conn),
        }
        let mut keys = self.lanes(own);
        if !keys.contains(&own) {
            keys.push(own);
        }
        for key in keys {
            // If the protocol is known, only the framing is undecided, and bytes after the gap do not
            // decide about those before it.
            if self.protocol_of(key).is_some() {
                self.settle_one(key, sink);
            } else if let Some(detector) = self.detecting.get_mut(&key) {
                let verdict = detector.gap();
                self.decide(key, verdict, sink);
            }
            if self.streams.contains_key(&key) {
                self.feed_gap(key, origin, len, sink);
            } else if self.detecting.contains_key(&key) {
                self.held.push_gap(origin, len);
            } else {
                let (at, before) = self.gaps.get(&key).copied().unwrap_or_default();
                self.gaps.insert(key, (at.saturating_add(before), len));
            }
        }
    }

    /// Passes over bytes before a gap that are no message.
    pub(super) fn skip(
        &mut self,
        key: Lane,
        origin: Origin,
        bytes: &[u8],
        sink: &mut FlowSink<'_>,
    ) {
        self.run(key, origin, sink, |run, stream| run.skip(stream, bytes));
    }

    pub(super) fn feed_gap(
        &mut self,
        key: Lane,
        origin: Origin,
        len: u64,
        sink: &mut FlowSink<'_>,
    ) {
        self.run(key, origin, sink, |run, stream| run.gap(stream, len));
    }
}
