//! Streams between two messages, in few bytes: a capture may have any number of connections that stay open.
//!
//! ```text
//!   open, open, ...   the last 4096 streams have their whole state
//!   older, at rest    protocol, framing and offset        wake: the whole state again
//! ```

use super::Decoder;
use super::run::Stream;
use crate::framing::Framing;
use crate::protocol::{Direction, Lane, Protocol};
use foldhash::HashMap;
use std::collections::VecDeque;

/// The number of streams that keep their whole state even if they are at rest.
const MAX_LIVE: usize = 1 << 12;

/// A stream between two messages.
#[derive(Clone, Copy)]
struct IdleStream {
    base: u64,
    /// The index of the protocol and the framing in [`IdleStreams::forms`].
    form: u16,
    tie: bool,
    ended: bool,
}

/// The streams of connections that are between two messages.
#[derive(Default)]
pub(super) struct IdleStreams<'p> {
    all: HashMap<(Option<u32>, Option<Direction>), IdleStream>,
    /// The protocols and framings of the streams: a few for any number of them.
    forms: Vec<(&'p dyn Protocol, Framing)>,
    /// Streams with their whole state, in the order in which they were opened or woken.
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
}

impl Stream<'_> {
    /// Returns true if a few bytes hold all that is known about the stream.
    fn is_at_rest(&self) -> bool {
        self.framer.is_at_rest()
            && self.buffer.is_empty()
            && self.metadata.is_empty()
            && !self.stopped
            && self.wrong.is_none()
            && self.coverage.is_none()
            && self.times.is_empty()
            && self.open.is_empty()
            && self.recovery.is_idle()
    }
}

impl Decoder<'_> {
    /// Notes a new stream. The oldest one is made small if it is at rest; streams of connections with several are not,
    /// because they end soon.
    pub(super) fn rest_oldest(&mut self, new: Lane) {
        if new.stream.is_some() {
            return;
        }
        self.idle.live.push_back(new);
        if self.idle.live.len() <= MAX_LIVE {
            return;
        }
        let Some(oldest) = self.idle.live.pop_front() else {
            return;
        };
        let Some(stream) = self.streams.get(&oldest) else {
            return;
        };
        let (protocol, framing) = (stream.protocol, stream.framer.framing());
        let form = stream
            .is_at_rest()
            .then(|| self.idle.form(protocol, framing));
        match form.flatten() {
            Some(form) => {
                let idle = IdleStream {
                    base: stream.base,
                    form,
                    tie: stream.tie,
                    ended: stream.ended,
                };
                self.streams.remove(&oldest);
                let key = (oldest.conn, oldest.direction);
                self.idle.all.insert(key, idle);
            }
            None => self.idle.live.push_back(oldest),
        }
    }

    /// Gives the streams of a connection their whole state again.
    pub(super) fn wake(&mut self, conn: Option<u32>) {
        if self.idle.all.is_empty() {
            return;
        }
        for direction in [None, Some(Direction::ToServer), Some(Direction::ToClient)] {
            let Some(idle) = self.idle.all.remove(&(conn, direction)) else {
                continue;
            };
            let Some((protocol, framing)) = self.idle.forms.get(usize::from(idle.form)).copied()
            else {
                continue;
            };
            let lane = Lane {
                conn,
                direction,
                ..Lane::default()
            };
            let stream = Stream {
                tie: idle.tie,
                base: idle.base,
                ended: idle.ended,
                ..self.new_stream(protocol, framing)
            };
            self.streams.insert(lane, Box::new(stream));
            self.rest_oldest(lane);
        }
    }

    /// Returns the offset up to which a stream at rest was read.
    pub(super) fn idle_offset(&self, lane: Lane) -> Option<u64> {
        let idle = self.idle.all.get(&(lane.conn, lane.direction))?;
        lane.stream.is_none().then_some(idle.base)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decoder::{DecodeOptions, Origin};
    use crate::protocol::registry;

    /// Streams at rest go on where they were, also after an end and in parts of a message.
    #[test]
    fn streams_at_rest_are_small_and_go_on() {
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
