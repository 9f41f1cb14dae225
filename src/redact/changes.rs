//! Records the replacements, and refuses those that are impossible.

use super::compressed::CompressedBody;
use super::regions::long_tokens;
use super::{Redactor, StreamBytes, positions};
use crate::decoder::{Decoded, Origin};
use crate::framing::{Framing, Places, Wire};
use crate::protocol::Direction;
use crate::tape::Node;

/// The reason why a compressed body is refused.
const IRREPLACEABLE: &str = "is compressed and has a secret, which cannot be replaced in it";

impl Redactor<'_, '_> {
    pub(super) fn refuse(&mut self, decoded: &Decoded<'_>, reason: &str) {
        self.refuse_at(decoded.origin, decoded.frame.offset, reason);
    }

    fn refuse_at(&mut self, origin: Origin, offset: u64, reason: &str) {
        let direction = origin.direction.map_or("", Direction::name);
        let conn = origin.conn.unwrap_or_default();
        let text = format!("connection {conn} {direction}, offset {offset}: the body {reason}");
        self.refused.get_or_insert(text);
    }

    /// Replaces one value.
    pub(super) fn change_node(&mut self, decoded: &Decoded<'_>, node: Node<'_>) {
        if let Some((at, old, new)) = positions::replace_value(node, &self.replacer) {
            self.change_view(decoded, at, old, &new);
        }
    }

    pub(super) fn change_view(&mut self, decoded: &Decoded<'_>, at: usize, old: &[u8], new: &[u8]) {
        if self.changes.change_view(decoded, at, old, new) {
            return;
        }
        let mut place = (decoded.origin.lane(), decoded.frame.offset);
        if let Some(event) = self.events.of(decoded) {
            place.1 = event.body.offset;
            let body = self.compressed.entry(place);
            let body = body.or_insert_with(|| event.body.clone());
            for (at, new) in event.changes(at, new) {
                body.change(at, new);
            }
            return;
        }
        if !self.compressed.contains_key(&place) {
            let Some(body) = CompressedBody::new(decoded) else {
                return self.refuse(decoded, IRREPLACEABLE);
            };
            self.compressed.insert(place, body);
        }
        if let Some(body) = self.compressed.get_mut(&place) {
            body.change(at, new);
        }
    }

    /// Writes the checksum of a frame whose bytes are changed.
    pub(super) fn change_checksum(&mut self, decoded: &Decoded<'_>) {
        let (frame, lane) = (decoded.frame, decoded.origin.lane());
        let (Framing::Custom(name), Places::Run(offset)) = (frame.framing, frame.view.places)
        else {
            return;
        };
        let Some(framing) = decoded.protocol.custom_framing(name) else {
            return;
        };
        let body = frame.view.body;
        let written = |bytes: &[u8]| {
            let mut out = Vec::new();
            let wire = Wire {
                header: bytes.get(..body.at()).unwrap_or_default().to_vec(),
                ..Wire::default()
            };
            framing.write(body.of(bytes), &wire, &mut out);
            out
        };
        let old = frame.view.bytes;
        let mut new = old.to_vec();
        self.changes.xor(lane, offset, &mut new);
        // A frame that is written in another way, or was wrong before, stays.
        if new == old || written(old) != old {
            return;
        }
        let right = written(&new);
        for (at, (old, new)) in old.iter().zip(&right).enumerate() {
            self.changes
                .change_stream(decoded.origin, offset + at as u64, &[*old], &[*new]);
        }
    }

    /// Replaces the compressed bodies with secrets.
    pub(super) fn change_compressed(&mut self) {
        for body in std::mem::take(&mut self.compressed).into_values() {
            match body.stream_changes() {
                Some(changes) => changes.iter().for_each(|(offset, old, new)| {
                    self.changes.change_stream(body.origin, *offset, old, new);
                }),
                None => self.refuse_at(body.origin, body.offset, IRREPLACEABLE),
            }
        }
    }

    /// Searches undecoded bytes, which begin at `start` in the view: long tokens in them may be secrets.
    pub(super) fn change_unknown(&mut self, decoded: &Decoded<'_>, start: usize, bytes: &[u8]) {
        let subject = decoded.message.subject.as_deref().map(str::as_bytes);
        for at in long_tokens(bytes) {
            let old = bytes.get(at.clone()).unwrap_or_default();
            // The name of a method is read even if the rest is not.
            if subject == Some(old) && !old.iter().any(u8::is_ascii_digit) {
                continue;
            }
            let new = self.replace_bytes(old);
            self.change_view(decoded, start + at.start, old, &new);
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
