//! The streams of a conversation: opened once their framing is known, and fed.

use super::open::Open;
use super::recovery::Recovery;
use super::run::{Run, Stream};
use super::untold::Untold;
use super::{Beside, Decoder, Key, Options, Origin, Sink};
use crate::encoding::Want;
use crate::framing::{Backlog, Framer, Framing};
use crate::protocol::Direction;

impl Decoder<'_> {
    pub(super) fn framer(&self, framing: Framing, resync: bool) -> Framer {
        let hints = self
            .protocol
            .map(|p| p.descriptor().hints)
            .unwrap_or_default();
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
        let gap = self.gaps.remove(&key);
        let mut framer = self.framer(framing, self.options.resync);
        if gap.is_some() {
            framer.seek();
        }
        let stream = Stream {
            framer,
            buffer: Backlog::default(),
            base: gap.map_or(0, |(at, len)| at.saturating_add(len)),
            beside,
            stopped: false,
            ended: false,
            early: None,
            open: Open::default(),
            untold: (self.options.want == Want::Exact).then(|| Untold::new(self.options.limits)),
            recovery: Recovery::after(gap),
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
        self.run(key, origin, sink, |run, stream| {
            stream.ended = eof;
            run.feed(stream, bytes, eof);
        });
    }

    fn run(
        &mut self,
        key: Key,
        origin: Origin,
        sink: &mut Sink<'_>,
        act: impl FnOnce(&mut Run<'_, '_, '_, '_>, &mut Stream),
    ) {
        self.hear(key);
        let (Some(stream), Some(protocol)) = (self.streams.get_mut(&key), self.protocol) else {
            return;
        };
        let mut run = Run {
            protocol,
            tie: self.guess.as_ref().is_some_and(|guess| guess.tie),
            open: std::mem::take(&mut stream.open),
            origin,
            parsed: &mut self.parsed,
            index: &mut self.index,
            resync: self.options.resync,
            recovery: std::mem::take(&mut stream.recovery),
            sink,
        };
        act(&mut run, stream);
        stream.open = run.open;
        stream.recovery = run.recovery;
    }

    /// So many bytes went by that are not there: what has begun ends, and reading goes on at the next frame. Offsets
    /// count what is missing.
    pub fn gap(&mut self, origin: Origin, len: u64, sink: &mut Sink<'_>) {
        for direction in [None, Some(Direction::ToServer), Some(Direction::ToClient)] {
            let key = (origin.conn, direction);
            if origin.direction.is_some() && origin.direction != direction {
                continue;
            }
            // What comes behind it must not be read as one with what came before.
            if let Some(detector) = self.detecting.get_mut(&key) {
                let verdict = detector.settle(true);
                self.decide(key, verdict, sink);
            }
            if self.streams.contains_key(&key) {
                self.run(key, origin, sink, |run, stream| run.gap(stream, len));
            } else if self.detecting.contains_key(&key) || origin.direction == direction {
                let gone = self.detecting.remove(&key).map_or(0, |d| d.bytes.len());
                self.held
                    .retain(|held| (held.origin.conn, held.origin.direction) != key);
                let (at, before) = self.gaps.get(&key).copied().unwrap_or_default();
                let at = at.saturating_add(before).saturating_add(gone as u64);
                self.gaps.insert(key, (at, len));
            }
        }
    }
}
