//! Streams that end one by one, as recordings tell it; a line without its line end is a message all the same.

use super::{Decoder, Key, Sink};
use crate::protocol::{Direction, Origin};

impl Decoder<'_> {
    /// No more bytes will come from here, where no direction is named from either; half frames are told as such.
    pub fn end(&mut self, origin: Origin, sink: &mut Sink<'_>) {
        for direction in [None, Some(Direction::ToServer), Some(Direction::ToClient)] {
            if origin.direction.is_none() || origin.direction == direction {
                self.feed_end((origin.conn, direction), origin.time, sink);
            }
        }
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
