//! Ends streams one by one, as in recordings. A last line without a line end is a message too.

use super::fallible::unbroken;
use super::{Decoder, FlowSink, FrameSink};
use crate::protocol::{Lane, Origin, is_unidirectional};

impl Decoder<'_> {
    /// Ends the streams of an origin, or of both directions if it has none; partial frames are
    /// reported.
    pub fn end(&mut self, origin: Origin, sink: &mut FrameSink<'_>) {
        let sink = &mut unbroken(sink);
        let _ = self.pass_waiting(sink);
        self.restore(origin.lane());
        for key in self.lanes(origin.lane()) {
            // If the protocol is known, only the framing is undecided, and no more bytes can
            // decide it.
            if self.protocol_of(key).is_some() {
                self.settle_one(key, sink);
            }
            self.feed_end(key.at(origin.time), Some(i64::MAX), sink);
        }
        self.free_stream(origin);
    }

    /// Drops the state of a stream after the end of both its directions: a connection can have any number of streams.
    fn free_stream(&mut self, origin: Origin) {
        let Some(stream) = origin.stream else {
            return;
        };
        let is_over = match origin.direction {
            Some(direction) if !is_unidirectional(stream) => {
                let first = self
                    .half_ended
                    .entry(origin.conn_stream())
                    .or_insert(direction);
                *first != direction
            }
            _ => true,
        };
        if is_over {
            self.half_ended.remove(&origin.conn_stream());
            for lane in self.lanes(Lane {
                direction: None,
                ..origin.lane()
            }) {
                self.streams.remove(&lane);
            }
            self.gaps
                .retain(|lane, _| (lane.conn, lane.stream) != origin.conn_stream());
        }
    }

    /// The lanes of which something came, that are part of this one.
    pub(super) fn lanes(&self, of: Lane) -> Vec<Lane> {
        let first = Lane {
            direction: None,
            ..of
        };
        let is_part = |lane: &Lane| of.stream.is_none() || lane.stream == of.stream;
        let from = |lane: &&Lane| lane.conn == of.conn && is_part(lane);
        let known = self.streams.range(first..).map(|(lane, _)| lane);
        let waiting = self.detecting.range(first..).map(|(lane, _)| lane);
        let all = known.take_while(from).chain(waiting.take_while(from));
        let mut all: Vec<Lane> = all.copied().filter(|lane| of.covers(*lane)).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// The lanes of a connection whose framing is not known yet.
    pub(super) fn waiting_lanes(&self, conn: Option<u32>) -> Vec<Lane> {
        let first = Lane {
            conn,
            ..Lane::default()
        };
        let waiting = self.detecting.range(first..).map(|(lane, _)| *lane);
        waiting.take_while(|lane| lane.conn == conn).collect()
    }

    /// Lets a waiting lane count the messages of the other direction that are evidence only together with its own.
    pub(super) fn join_directions(&mut self, lane: Lane) {
        let other = Some(lane.back()).filter(|other| *other != lane);
        let beside = other.and_then(|other| Some(self.detecting.get(&other)?.weak()));
        let beside = beside.filter(|beside| !beside.is_empty());
        if let Some((beside, detector)) = beside.zip(self.detecting.get_mut(&lane)) {
            detector.add_weak(&beside);
        }
    }

    /// Nothing more will tell how a lane is delimited: the likeliest is chosen.
    pub(super) fn settle_one(&mut self, key: Lane, sink: &mut FlowSink<'_>) {
        self.join_directions(key);
        if let Some(detector) = self.detecting.get_mut(&key) {
            let verdict = detector.settle(true);
            self.decide(key, verdict, sink);
        }
    }

    /// Closes one connection: partial frames are reported, and its state is dropped. If neither
    /// protocol nor framing was detected, its bytes are dropped too.
    pub fn close(&mut self, conn: Option<u32>, sink: &mut FrameSink<'_>) {
        let sink = &mut unbroken(sink);
        let _ = self.pass_waiting(sink);
        let all = Lane {
            conn,
            ..Lane::default()
        };
        self.restore(all);
        self.idle.close(conn);
        if !self.close_separately(conn, sink) {
            return;
        }
        for key in self.lanes(all) {
            self.settle_one(key, sink);
            self.feed_end(key.at(None), Some(i64::MAX), sink);
            self.streams.remove(&key);
            self.detecting.remove(&key);
        }
        self.half_ended.retain(|link, _| link.0 != conn);
        self.forget_connection(conn);
    }

    /// Returns the progress of one direction's stream: the offset up to which frames were emitted,
    /// and the offset up to which bytes were consumed or belong to no frame. `None` while its
    /// framing is not known.
    pub fn progress(&self, origin: Origin) -> Option<(u64, u64)> {
        if let Some(taken) = self.idle_offset(origin.lane()) {
            return Some((taken, taken));
        }
        let stream = self.streams.get(&origin.lane())?;
        let taken = if stream.stopped || stream.framer.is_skipping() {
            u64::MAX
        } else {
            stream.base
        };
        Some((stream.framer.pending_start().unwrap_or(taken), taken))
    }

    /// Returns `true` if one direction is WebSocket now.
    pub(crate) fn is_websocket(&self, origin: Origin) -> bool {
        let stream = self.streams.get(&origin.lane());
        match stream {
            Some(stream) => stream.framer.is_websocket(),
            None => self.is_idle_websocket(origin.lane()),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::decoder::{DecodeOptions, Decoder};
    use crate::encoding::Want;

    use crate::protocol::{Direction, Origin, registry};

    #[test]
    fn ended_streams_leave_no_state() {
        let protocol = registry::find("telequick").expect("telequick");
        let mut decoder = Decoder::new(DecodeOptions::new(vec![protocol]));
        let frame = b"\x0a\0\0\0\x12\xfa\xbb\xe5\0\0\0\0\0\0";
        let mut frames = 0;
        let origin = |stream, direction| Origin {
            conn: Some(1),
            stream: Some(stream),
            direction: Some(direction),
            time: None,
        };
        let both = [Direction::ToServer, Direction::ToClient];
        for n in 0..10_000 {
            for direction in both {
                decoder.push(origin(4 * n, direction), frame, &mut |_| frames += 1);
            }
            let push = origin(4 * n + 3, Direction::ToClient);
            decoder.push(push, frame, &mut |_| frames += 1);
            for end in [origin(4 * n, both[0]), origin(4 * n, both[1]), push] {
                decoder.end(end, &mut |_| frames += 1);
            }
            assert!(decoder.streams.is_empty() && decoder.detecting.is_empty());
            assert!(decoder.half_ended.is_empty());
        }
        assert_eq!(frames, 30_000);
        decoder.end(origin(40_000, both[0]), &mut |_| {});
        assert_eq!(decoder.half_ended.len(), 1);
        decoder.close(Some(1), &mut |_| {});
        assert!(decoder.half_ended.is_empty());
    }

    #[test]
    fn stream_ends_once_and_can_continue() {
        let protocol = registry::find("oracle").expect("oracle");
        let mut decoder = Decoder::new(DecodeOptions {
            want: Want::Head,
            ..DecodeOptions::new(vec![protocol])
        });
        let from = |conn, direction| Origin {
            conn: Some(conn),
            direction,
            time: Some(5),
            ..Origin::default()
        };
        let (there, back) = (Some(Direction::ToServer), Some(Direction::ToClient));
        let mut emitted = Vec::new();
        let half = br#"{"jsonrpc":"2.0","id":0,"method":"ready"}"#;
        for (origin, bytes) in [
            (from(1, back), Some(&half[..])),
            (from(2, back), Some(half)),
            (from(1, there), None),
            (from(1, back), None),
            (from(1, None), None),
            (from(1, back), Some(half)),
            (from(1, None), None),
        ] {
            let mut sink = |decoded: &crate::decoder::Decoded<'_>| {
                emitted.push((
                    decoded.origin.conn,
                    decoded.origin.time,
                    decoded.frame.offset,
                ));
            };
            match bytes {
                Some(bytes) => decoder.push(origin, bytes, &mut sink),
                None => decoder.end(origin, &mut sink),
            }
        }
        assert_eq!(emitted, [(Some(1), Some(5), 0), (Some(1), Some(5), 41)]);
        emitted.clear();
        decoder
            .finish(&mut |decoded| emitted.push((decoded.origin.conn, None, decoded.frame.offset)));
        assert_eq!(emitted, [(Some(2), None, 0)]);
    }
}
