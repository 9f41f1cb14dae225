//! Streams that end one by one, as recordings tell it; a line without its line end is a message all the same.

use super::{Decoder, Key, Sink};
use crate::protocol::{Direction, Origin};

impl Decoder<'_> {
    /// No more bytes will come from here, where no direction is named from either; half frames are told as such.
    pub fn end(&mut self, origin: Origin, sink: &mut Sink<'_>) {
        for direction in [None, Some(Direction::ToServer), Some(Direction::ToClient)] {
            if origin.direction.is_none() || origin.direction == direction {
                // With the protocol known only the framing is open, and nothing more will tell it.
                let key = (origin.conn, direction);
                if self.protocol.is_some()
                    && let Some(detector) = self.detecting.get_mut(&key)
                {
                    let verdict = detector.settle(true);
                    self.decide(key, verdict, sink);
                }
                self.feed_end((origin.conn, direction), origin.time, sink);
            }
        }
    }

    /// One connection is over: half frames of it are told as such, and it is forgotten. Where its bytes told neither
    /// protocol nor framing, they are let go.
    pub fn close(&mut self, conn: Option<u32>, sink: &mut Sink<'_>) {
        for direction in [None, Some(Direction::ToServer), Some(Direction::ToClient)] {
            let key = (conn, direction);
            if let Some(detector) = self.detecting.get_mut(&key) {
                let verdict = detector.settle(true);
                self.decide(key, verdict, sink);
            }
            self.feed_end(key, None, sink);
            self.streams.remove(&key);
            self.detecting.remove(&key);
        }
        let undetected = &mut self.undetected;
        self.held.retain(|held| {
            let stays = held.origin.conn != conn;
            *undetected -= if stays { 0 } else { held.len };
            stays
        });
    }

    /// How far one direction's stream has come: up to where its frames were told, and up to where its bytes were taken
    /// in, or belong to none. `None` while its framing is not known.
    pub fn progress(&self, conn: Option<u32>, direction: Option<Direction>) -> Option<(u64, u64)> {
        let stream = self.streams.get(&(conn, direction))?;
        let taken = if stream.stopped || stream.framer.is_lost() {
            u64::MAX
        } else {
            stream.base
        };
        Some((stream.framer.begun().unwrap_or(taken), taken))
    }

    /// Whether one direction is WebSocket by now.
    pub fn is_websocket(&self, conn: Option<u32>, direction: Option<Direction>) -> bool {
        let stream = self.streams.get(&(conn, direction));
        stream.is_some_and(|stream| stream.framer.is_websocket())
    }

    /// The end of one stream, which is told once.
    pub(super) fn feed_end(&mut self, key: Key, time: Option<i64>, sink: &mut Sink<'_>) {
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
}

#[cfg(test)]
mod tests {
    use crate::decoder::{Decoder, Options};
    use crate::encoding::Want;

    use crate::protocol::{Direction, Origin, registry};

    #[test]
    fn a_stream_ends_once_and_may_go_on() {
        let protocol = registry::find("oracle").expect("oracle");
        let mut decoder = Decoder::new(Options {
            want: Want::Head,
            ..Options::new(vec![protocol])
        });
        let from = |conn, direction| Origin {
            conn: Some(conn),
            direction,
            time: Some(5),
        };
        let (there, back) = (Some(Direction::ToServer), Some(Direction::ToClient));
        let mut told = Vec::new();
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
                told.push((
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
        assert_eq!(told, [(Some(1), Some(5), 0), (Some(1), Some(5), 41)]);
        told.clear();
        decoder.finish(&mut |decoded| told.push((decoded.origin.conn, None, decoded.frame.offset)));
        assert_eq!(told, [(Some(2), None, 0)]);
    }
}
