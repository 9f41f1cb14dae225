//! What is changed, and what cannot be.

use super::regions::{origin, words};
use super::{Streams, Work, places};
use crate::decoder::Decoded;
use crate::protocol::Direction;
use crate::tape::Node;

impl Work<'_, '_> {
    pub(super) fn refuse(&mut self, decoded: &Decoded<'_>, why: &str) {
        let direction = decoded.origin.direction.map_or("", Direction::name);
        let text = format!(
            "connection {} {direction}, offset {}: the body {why}",
            decoded.origin.conn.unwrap_or_default(),
            decoded.frame.offset
        );
        self.refused.get_or_insert(text);
    }

    /// One value gets its stand-in.
    pub(super) fn node(&mut self, decoded: &Decoded<'_>, node: Node<'_>) {
        if let Some((at, old, made)) = places::replace(node, &self.stand_in) {
            self.view(decoded, at, old, &made);
        }
    }

    pub(super) fn view(&mut self, decoded: &Decoded<'_>, at: usize, old: &[u8], made: &[u8]) {
        if !self.changes.view(decoded, at, old, made) {
            self.refuse(
                decoded,
                "is compressed and has a secret, which cannot be replaced in it",
            );
        }
    }

    /// Bytes of which nobody knows what they are: long words in them may be secret.
    pub(super) fn unknown(&mut self, decoded: &Decoded<'_>, bytes: &[u8]) {
        for at in words(bytes) {
            let old = bytes.get(at.clone()).unwrap_or_default();
            let made = self.made(old);
            self.view(decoded, at.start, old, &made);
        }
    }

    /// What stands in no frame.
    pub(super) fn outside(&mut self, streams: &Streams<'_>) {
        for (key, bytes) in streams {
            let mut places = self.finder.find(bytes);
            if !self.seen.contains(key) {
                places.extend(words(bytes));
            }
            for at in places {
                let old = bytes.get(at.clone()).unwrap_or_default();
                let made = self.made(old);
                self.changes
                    .stream(origin(*key), at.start as u64, old, &made);
            }
        }
    }
}
