//! The streams of a conversation: opened once their framing is known, and fed.

use super::run::{Open, Run, Stream};
use super::untold::Untold;
use super::{Beside, Decoder, Key, Options, Origin, Sink};
use crate::encoding::Want;
use crate::framing::{Backlog, Framer, Framing};
use crate::protocol::{Direction, Protocol};

impl Decoder<'_> {
    pub(super) fn framer(&self, framing: Framing, resync: bool) -> Framer {
        let hints = self.protocol.map(Protocol::hints).unwrap_or_default();
        let Options {
            limits,
            length_mode,
            ..
        } = self.options;
        Framer::new(framing, limits, hints, length_mode, resync)
    }

    pub(super) fn open(&mut self, key: Key, framing: Framing) {
        let (mine, others) = std::mem::take(&mut self.held_beside)
            .into_iter()
            .partition(|(k, _)| *k == key);
        self.held_beside = others;
        let mine: Vec<(Key, Beside)> = mine;
        let beside = mine.into_iter().map(|(_, b)| b).collect();
        let stream = Stream {
            framer: self.framer(framing, self.options.resync),
            buffer: Backlog::default(),
            base: 0,
            beside,
            stopped: false,
            ended: false,
            early: None,
            open: Open::default(),
            untold: (self.options.want == Want::Exact).then(|| Untold::new(self.options.limits)),
        };
        self.streams.insert(key, stream);
    }

    /// Tells the framer of a connection's answers what was asked.
    fn hear(&mut self, (conn, direction): Key) {
        if direction != Some(Direction::ToClient) {
            return;
        }
        // They stand beside each other: what goes to the server comes first in the order of keys.
        let asking = (conn, Some(Direction::ToServer));
        let mut both = self.streams.range_mut(asking..=(conn, direction));
        if let (Some((_, asking)), Some((_, answering))) = (both.next(), both.next()) {
            answering.framer.hear(&mut asking.framer);
        }
    }

    pub(super) fn feed(
        &mut self,
        key: Key,
        origin: Origin,
        bytes: &[u8],
        eof: bool,
        sink: &mut Sink<'_>,
    ) {
        self.hear(key);
        let (Some(stream), Some(protocol)) = (self.streams.get_mut(&key), self.protocol) else {
            return;
        };
        stream.ended = eof;
        let mut run = Run {
            protocol,
            tie: self.guess.as_ref().is_some_and(|guess| guess.tie),
            open: std::mem::take(&mut stream.open),
            origin,
            parsed: &mut self.parsed,
            index: &mut self.index,
            resync: self.options.resync,
            sink,
        };
        run.feed(stream, bytes, eof);
        stream.open = run.open;
    }
}
