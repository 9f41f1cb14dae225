//! Streams between two messages, in few bytes: a capture may have any number of connections that stay open.
//!
//! ```text
//!   open, open, ...   the last 1024 streams have their whole state
//!   older, idle       protocol, framing, offset, open methods        restore: the whole state again
//! ```
//!
//! The two directions of a stream are compacted and restored together: each may need the requests of the other.

use super::Decoder;
use super::chunk::Stream;
use super::open_requests::OpenMethods;
use crate::framing::{FramerState, Framing};
use crate::protocol::per_direction::PerDirection;
use crate::protocol::{Direction, Lane, Protocol};
use foldhash::HashMap;
use std::collections::VecDeque;

/// The number of streams that keep their whole state even if they are idle.
const MAX_LIVE: usize = 1 << 10;
const DIRECTIONS: [Option<Direction>; 3] =
    [None, Some(Direction::ToServer), Some(Direction::ToClient)];

/// A stream between two messages.
pub(super) struct IdleStream {
    base: u64,
    open: OpenMethods,
    framer: FramerState,
    /// The index of the protocol and the framing in [`IdleStreams::forms`].
    form: u16,
    tie: bool,
    ended: bool,
}

/// The streams of connections that are between two messages.
#[derive(Default)]
pub(super) struct IdleStreams<'p> {
    all: PerDirection<HashMap<Option<u32>, IdleStream>>,
    /// Those of connections with several streams: by connection, then by the number of the stream.
    numbered: HashMap<Option<u32>, PerDirection<HashMap<u64, IdleStream>>>,
    /// The protocols and framings of the streams: a few for any number of them.
    forms: Vec<(&'p dyn Protocol, Framing)>,
    /// Streams with their whole state, in the order in which they were opened or restored.
    live: VecDeque<Lane>,
}

impl<'p> IdleStreams<'p> {
    /// Returns the index of a protocol and a framing, if there is space for it.
    fn form(&mut self, protocol: &'p dyn Protocol, framing: Framing) -> Option<u16> {
        let is_it = |(other, form): &(&dyn Protocol, Framing)| {
            *form == framing && other.name() == protocol.name()
        };
        let known = self.forms.iter().position(is_it);
        if known.is_none() {
            self.forms.push((protocol, framing));
        }
        u16::try_from(known.unwrap_or(self.forms.len() - 1)).ok()
    }

    fn is_empty(&self) -> bool {
        self.numbered.is_empty() && self.all.iter().all(HashMap::is_empty)
    }

    fn insert(&mut self, lane: Lane, idle: IdleStream) {
        match lane.stream {
            None => {
                let streams = self.all.get_mut(lane.direction);
                streams.insert(lane.conn, idle);
            }
            Some(stream) => {
                let streams = self.numbered.entry(lane.conn).or_default();
                streams.get_mut(lane.direction).insert(stream, idle);
            }
        }
    }

    fn get(&self, lane: Lane) -> Option<&IdleStream> {
        match lane.stream {
            None => self.all.get(lane.direction).get(&lane.conn),
            Some(stream) => {
                let streams = self.numbered.get(&lane.conn)?;
                streams.get(lane.direction).get(&stream)
            }
        }
    }

    fn remove(&mut self, lane: Lane) -> Option<IdleStream> {
        match lane.stream {
            None => self.all.get_mut(lane.direction).remove(&lane.conn),
            Some(stream) => {
                let streams = self.numbered.get_mut(&lane.conn)?;
                let idle = streams.get_mut(lane.direction).remove(&stream);
                if streams.iter().all(HashMap::is_empty) {
                    self.numbered.remove(&lane.conn);
                }
                idle
            }
        }
    }

    /// Returns all streams that have not ended.
    #[cfg(feature = "cli")]
    pub(super) fn each(&self) -> impl Iterator<Item = (Lane, &IdleStream)> {
        let lane = |conn, stream, direction| Lane {
            conn,
            stream,
            direction,
        };
        let plain = DIRECTIONS.into_iter().flat_map(move |direction| {
            let all = self.all.get(direction).iter();
            all.map(move |(conn, idle)| (lane(*conn, None, direction), idle))
        });
        let numbered = self.numbered.iter().flat_map(move |(conn, streams)| {
            DIRECTIONS.into_iter().flat_map(move |direction| {
                let all = streams.get(direction).iter();
                all.map(move |(stream, idle)| (lane(*conn, Some(*stream), direction), idle))
            })
        });
        plain.chain(numbered).filter(|(_, idle)| !idle.ended)
    }

    /// Returns the protocol, the framing, the offset and the state of the framer of a stream.
    #[cfg(feature = "cli")]
    pub(super) fn state(&self, idle: &IdleStream) -> Option<(&str, Framing, u64, FramerState)> {
        let (protocol, framing) = self.forms.get(usize::from(idle.form))?;
        Some((protocol.name(), *framing, idle.base, idle.framer))
    }

    /// Drops the numbered streams of a connection: nothing follows, and their last messages are complete.
    pub(super) fn close(&mut self, conn: Option<u32>) {
        self.numbered.remove(&conn);
    }

    /// Returns the numbered streams of a connection.
    fn numbers(&self, conn: Option<u32>) -> Vec<u64> {
        let streams = self.numbered.get(&conn).into_iter();
        let streams = streams.flat_map(PerDirection::iter);
        streams.flat_map(HashMap::keys).copied().collect()
    }
}

impl Stream<'_> {
    /// Returns the state of the framer and the open methods if a few bytes hold all that is known about the stream.
    fn compact(&self) -> Option<(FramerState, OpenMethods)> {
        let is_idle = self.buffer.is_empty()
            && self.metadata.is_empty()
            && !self.stopped
            && self.wrong.is_none()
            && self.coverage.is_none()
            && self.times.is_empty()
            && self.recovery.is_idle();
        Some((
            self.framer.state().filter(|_| is_idle)?,
            self.open.compact()?,
        ))
    }
}

impl Decoder<'_> {
    /// Adds a new stream with its whole state. The oldest one is made idle if it is between two messages in both directions.
    pub(super) fn add_live(&mut self, new: Lane) {
        self.idle.live.push_back(new);
        while self.idle.live.len() > MAX_LIVE
            && let Some(oldest) = self.idle.live.pop_front()
        {
            // It is idle since the other direction was the oldest.
            if !self.streams.contains_key(&oldest) {
                continue;
            }
            if !self.make_idle(oldest) {
                self.idle.live.push_back(oldest);
            }
            return;
        }
    }

    /// Makes both directions of a stream idle. Returns `false` if one of them is amid a message.
    fn make_idle(&mut self, lane: Lane) -> bool {
        let mut small = [const { None }; 3];
        for (direction, small) in DIRECTIONS.into_iter().zip(&mut small) {
            let lane = Lane { direction, ..lane };
            let Some(stream) = self.streams.get(&lane) else {
                continue;
            };
            let Some((framer, open)) = stream.compact() else {
                return false;
            };
            let (base, tie, ended) = (stream.base, stream.tie, stream.ended);
            let (protocol, framing) = (stream.protocol, stream.framer.framing());
            let Some(form) = self.idle.form(protocol, framing) else {
                return false;
            };
            let idle = IdleStream {
                base,
                open,
                framer,
                form,
                tie,
                ended,
            };
            *small = Some((lane, idle));
        }
        for (lane, idle) in small.into_iter().flatten() {
            self.streams.remove(&lane);
            self.idle.insert(lane, idle);
        }
        true
    }

    /// Gives a stream its whole state again, and that of its connection.
    pub(super) fn restore(&mut self, lane: Lane) {
        if self.idle.is_empty() {
            return;
        }
        let own = lane.stream.map(Some);
        for stream in [None].into_iter().chain(own) {
            for direction in DIRECTIONS {
                self.restore_one(Lane {
                    stream,
                    direction,
                    ..lane
                });
            }
        }
    }

    /// Gives all streams of a connection their whole state again.
    pub(super) fn restore_all(&mut self, conn: Option<u32>) {
        let lane = Lane {
            conn,
            ..Lane::default()
        };
        self.restore(lane);
        for stream in self.idle.numbers(conn) {
            self.restore(Lane {
                stream: Some(stream),
                ..lane
            });
        }
    }

    fn restore_one(&mut self, lane: Lane) {
        let Some(idle) = self.idle.remove(lane) else {
            return;
        };
        let Some((protocol, framing)) = self.idle.forms.get(usize::from(idle.form)).copied() else {
            return;
        };
        let mut stream = Stream {
            tie: idle.tie,
            base: idle.base,
            ended: idle.ended,
            open: idle.open.into(),
            ..self.new_stream(protocol, framing)
        };
        stream.framer.set_state(idle.framer);
        self.streams.insert(lane, Box::new(stream));
        self.add_live(lane);
    }

    /// Returns the offset up to which an idle stream was read.
    pub(super) fn idle_offset(&self, lane: Lane) -> Option<u64> {
        Some(self.idle.get(lane)?.base)
    }

    /// Returns `true` if an idle stream is WebSocket.
    pub(super) fn is_idle_websocket(&self, lane: Lane) -> bool {
        let idle = self.idle.get(lane);
        idle.is_some_and(|idle| matches!(idle.framer, FramerState::WebSocket(_)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decoder::{DecodeOptions, Origin};
    use crate::protocol::registry;

    /// Idle streams go on where they were, also after an end and in parts of a message.
    #[test]
    fn idle_streams_are_small_and_go_on() {
        const COUNT: u32 = 3 * MAX_LIVE as u32;
        let protocol = registry::find("jsonrpc").expect("jsonrpc");
        let mut decoder = Decoder::new(DecodeOptions::new(vec![protocol]));
        let mut found = Vec::new();
        let line = b"{\"jsonrpc\":\"2.0\",\"method\":\"a\"}\n";
        let origin = |conn: u32| Origin {
            conn: Some(conn),
            direction: Some(Direction::ToServer),
            ..Origin::default()
        };
        let mut push = |decoder: &mut Decoder<'_>, conn, bytes: &[u8]| {
            decoder.push(origin(conn), bytes, &mut |decoded| {
                assert!(!decoded.is_faulty(), "{conn}");
                found.push((conn, decoded.frame.offset));
            });
        };
        for conn in 0..COUNT {
            // One of them is amid a message.
            let bytes = if conn == 7 { &line[..9] } else { &line[..] };
            push(&mut decoder, conn, bytes);
        }
        assert!(decoder.streams.len() <= MAX_LIVE + 1);
        assert_eq!(decoder.progress(origin(3)), Some((31, 31)));
        push(&mut decoder, 3, line);
        push(&mut decoder, 7, &line[9..]);
        assert_eq!(found.len(), COUNT as usize + 1);
        assert_eq!(found.split_off(COUNT as usize - 1), [(3, 31), (7, 0)]);
        decoder.gap(origin(4), 5, &mut |_| {});
        decoder.close(Some(3), &mut |_| {});
        let mut offsets = Vec::new();
        for conn in [3, 4] {
            decoder.push(origin(conn), line, &mut |decoded| {
                offsets.push((conn, decoded.frame.offset));
            });
        }
        assert_eq!(offsets.first(), Some(&(3, 0)));
        assert_eq!(offsets.last(), Some(&(4, 36)));
        decoder.finish(&mut |_| {});
    }
}
