//! Records the replacements, and refuses those that are impossible.

use super::regions::long_tokens;
use super::{Redactor, StreamBytes, positions};
use crate::decoder::Decoded;
use crate::protocol::Direction;
use crate::tape::Node;

impl Redactor<'_, '_> {
    pub(super) fn refuse(&mut self, decoded: &Decoded<'_>, reason: &str) {
        let direction = decoded.origin.direction.map_or("", Direction::name);
        let text = format!(
            "connection {} {direction}, offset {}: the body {reason}",
            decoded.origin.conn.unwrap_or_default(),
            decoded.frame.offset
        );
        self.refused.get_or_insert(text);
    }

    /// Replaces one value.
    pub(super) fn change_node(&mut self, decoded: &Decoded<'_>, node: Node<'_>) {
        if let Some((at, old, new)) = positions::replace_value(node, &self.replacer) {
            self.change_view(decoded, at, old, &new);
        }
    }

    pub(super) fn change_view(&mut self, decoded: &Decoded<'_>, at: usize, old: &[u8], new: &[u8]) {
        if !self.changes.change_view(decoded, at, old, new) {
            self.refuse(
                decoded,
                "is compressed and has a secret, which cannot be replaced in it",
            );
        }
    }

    /// Searches undecoded bytes: long tokens in them may be secrets.
    pub(super) fn change_unknown(&mut self, decoded: &Decoded<'_>, bytes: &[u8]) {
        for at in long_tokens(bytes) {
            let old = bytes.get(at.clone()).unwrap_or_default();
            let new = self.replace_bytes(old);
            self.change_view(decoded, at.start, old, &new);
        }
    }

    /// Searches the bytes outside all frames.
    pub(super) fn change_outside(&mut self, streams: &StreamBytes<'_>) {
        for (key, bytes) in streams {
            let mut ranges = self.finder.find(bytes);
            if !self.seen.contains(key) {
                ranges.extend(long_tokens(bytes));
            }
            for at in ranges {
                let old = bytes.get(at.clone()).unwrap_or_default();
                let new = self.replace_bytes(old);
                self.changes
                    .change_stream(key.at(None), at.start as u64, old, &new);
            }
        }
    }
}
