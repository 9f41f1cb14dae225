//! The state of streams where a recording is continued in another file.

use super::chunk::Stream;
use super::idle::IdleStream;
use super::{Decoder, FrameSink, Origin};
use crate::framing::{FramerState, Framing};
use crate::protocol::Lane;

/// The maximum number of bytes of an incomplete message that are handed on.
const MAX_BYTES: usize = 64 << 10;

/// A stream amid its bytes.
#[derive(Debug)]
pub(crate) struct StreamState {
    pub(crate) lane: Lane,
    /// The name of its protocol and its framing, if they are known.
    pub(crate) known: Option<(String, Framing)>,
    /// The offset of the first byte that belongs to no message so far.
    pub(crate) offset: u64,
    /// The state of its framer; `None`: only a search finds the next message.
    pub(crate) framer: Option<FramerState>,
    /// The bytes from there on.
    pub(crate) bytes: Vec<u8>,
}

impl Stream<'_> {
    fn state(&self, lane: Lane) -> StreamState {
        let bytes = self.buffer.bytes();
        let is_short = bytes.len() <= MAX_BYTES && !self.recovery.seeking;
        let (framing, framer) = match self.framer.restart_framing().filter(|_| is_short) {
            Some(framing) => (framing, self.framer.restart_state()),
            None => (self.framer.framing(), None),
        };
        let is_kept = framer.is_some();
        StreamState {
            lane,
            known: Some((self.protocol.name().to_owned(), framing)),
            offset: self.base + if is_kept { 0 } else { bytes.len() as u64 },
            framer,
            bytes: if is_kept { bytes.to_vec() } else { Vec::new() },
        }
    }
}

impl Decoder<'_> {
    /// Returns the state of at most so many streams that have not ended.
    pub(crate) fn stream_states(&self, most: usize) -> Vec<StreamState> {
        let live = self.streams.iter().filter(|(_, stream)| !stream.ended);
        let live = live.map(|(lane, stream)| stream.state(*lane));
        let idle = self
            .idle
            .each()
            .map(|(lane, idle)| self.idle_state(lane, idle));
        let waiting = self.detecting.iter().map(|(lane, detector)| StreamState {
            lane: *lane,
            known: None,
            offset: 0,
            framer: None,
            bytes: detector
                .bytes
                .get(..MAX_BYTES)
                .unwrap_or(&detector.bytes)
                .to_vec(),
        });
        live.chain(idle.flatten())
            .chain(waiting)
            .take(most)
            .collect()
    }

    fn idle_state(&self, lane: Lane, idle: &IdleStream) -> Option<StreamState> {
        let (protocol, framing, offset, framer) = self.idle.state(idle)?;
        let framing = match framer {
            FramerState::WebSocket(_) => Framing::WebSocket,
            _ => framing,
        };
        Some(StreamState {
            lane,
            known: Some((protocol.to_owned(), framing)),
            offset,
            framer: Some(framer),
            bytes: Vec::new(),
        })
    }

    /// Goes on with a stream of an earlier decoder.
    pub(crate) fn resume(&mut self, state: &StreamState, sink: &mut FrameSink<'_>) {
        let origin: Origin = state.lane.at(None);
        if let Some((protocol, framing)) = &state.known {
            self.expect(protocol);
            let mut protocols = self.options.protocols.iter();
            let Some(protocol) = protocols.find(|one| one.name() == protocol).copied() else {
                return;
            };
            let mut stream = self.new_stream(protocol, *framing);
            stream.framer.set_stream(state.lane.stream);
            stream.base = state.offset;
            if let Some(framer) = state.framer {
                stream.framer.set_state(framer);
            } else {
                stream.framer.seek();
                stream.recovery.seeking = true;
            }
            self.streams.insert(state.lane, Box::new(stream));
            self.add_live(state.lane);
        }
        if !state.bytes.is_empty() {
            self.push(origin, &state.bytes, sink);
        }
    }

    /// Sets the number of the next frame, if it is higher.
    pub(crate) fn continue_at(&mut self, index: u64) {
        self.index = self.index.max(index);
    }
}
