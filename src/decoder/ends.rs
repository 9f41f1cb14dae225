//! How far streams have come, and what becomes of them when they end one by one.

use super::{Decoder, Origin, Sink};
use crate::protocol::Direction;

impl Decoder<'_> {
    /// One connection is over: half frames of it are told as such, and it is forgotten. Where its bytes told neither
    /// protocol nor framing, they are let go.
    pub fn close(&mut self, conn: Option<u32>, sink: &mut Sink<'_>) {
        for direction in [None, Some(Direction::ToServer), Some(Direction::ToClient)] {
            let key = (conn, direction);
            if let Some(detector) = self.detecting.get_mut(&key) {
                let verdict = detector.finish();
                self.decide(key, verdict, sink);
            }
            let origin = Origin {
                conn,
                direction,
                time: None,
            };
            self.feed(key, origin, &[], true, sink);
            self.streams.remove(&key);
            self.detecting.remove(&key);
        }
        self.held.retain(|held| held.origin.conn != conn);
    }

    /// One direction of a connection has ended, and the other goes on: its half frame is told as such.
    pub fn end(&mut self, conn: Option<u32>, direction: Option<Direction>, sink: &mut Sink<'_>) {
        let key = (conn, direction);
        if let Some(detector) = self.detecting.get_mut(&key) {
            let verdict = detector.finish();
            self.decide(key, verdict, sink);
        }
        let origin = Origin {
            conn,
            direction,
            time: None,
        };
        self.feed(key, origin, &[], true, sink);
    }

    /// How far one direction's stream has come: up to where its frames were told, and up to where its bytes were taken
    /// in. `None` while its framing is not known.
    pub fn progress(&self, conn: Option<u32>, direction: Option<Direction>) -> Option<(u64, u64)> {
        let stream = self.streams.get(&(conn, direction))?;
        let taken = if stream.stopped || stream.framer.is_lost() {
            u64::MAX
        } else {
            stream.base
        };
        Some((stream.framer.begun().unwrap_or(taken), taken))
    }
}
