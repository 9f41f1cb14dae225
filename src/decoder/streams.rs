//! The streams of a conversation, created when their framing is known.

use super::chunk::Stream;
use super::chunk_times::ChunkTimes;
use super::coverage::Coverage;
use super::open_requests::OpenRequests;
use super::recovery::Recovery;
use super::{DecodeOptions, Decoder, Metadata};
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
        self.add_live(key);
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
    pub(super) fn share_requests(&mut self, key: Lane) {
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
