//! Finds the places of events in compressed bodies of HTTP, so that they can be changed there.
//!
//! ```text
//!   event: message LF data: {"token": LF data: "Zx81"} LF LF      the inflated body
//!                           '-------'          '-----'            the lines of one event, with LF between them in its view
//! ```

use super::compressed::CompressedBody;
use super::regions::is_compressed;
use crate::decoder::Decoded;
use crate::framing::{Head, Places};
use crate::protocol::Lane;
use std::collections::BTreeMap;
use std::ops::Range;

/// The compressed body whose events are being decoded, and the heads of those that come, by stream.
#[derive(Default)]
pub(super) struct PackedEvents {
    heads: BTreeMap<Lane, Vec<u8>>,
    /// The events of a body come one after the other, without those of other streams between them.
    body: Option<(Lane, EventBody)>,
}

/// A compressed body, and the event that was decoded last.
pub(super) struct EventBody {
    pub body: CompressedBody,
    /// The end of the event in the inflated body.
    read: usize,
    /// Its lines: their offsets in its view, and their ranges in the inflated body.
    lines: Vec<(usize, Range<usize>)>,
}

impl PackedEvents {
    /// Reads the next frame. `limit`: the maximum size of an inflated body.
    pub(super) fn see(&mut self, decoded: &Decoded<'_>, limit: usize) {
        let (frame, lane) = (decoded.frame, decoded.origin.lane());
        match (frame.head, decoded.raw) {
            (Head::Http { event: true, .. }, _) => {}
            (Head::Http { len, .. }, Some(raw)) if is_compressed(decoded) => {
                let head = raw.bytes.get(..len as usize).unwrap_or_default();
                self.heads.insert(lane, head.to_vec());
                return;
            }
            _ => return,
        }
        if !matches!(frame.view.places, Places::Packed(_)) {
            return;
        }
        // The first event has all bytes of the body.
        if frame.len > 0 {
            let head = self.heads.remove(&lane);
            let body = head.and_then(|head| CompressedBody::of_events(decoded, &head, limit));
            self.body = body.map(|body| (lane, EventBody::new(body)));
        }
        if let Some((_, body)) = self.body.as_mut().filter(|(of, _)| *of == lane) {
            body.read_event(frame.view.bytes);
        }
    }

    /// Returns the body of an event that was just read.
    pub(super) fn of(&self, decoded: &Decoded<'_>) -> Option<&EventBody> {
        let is_event = matches!(decoded.frame.head, Head::Http { event: true, .. });
        let (lane, body) = self.body.as_ref()?;
        let is_of_body = is_event && *lane == decoded.origin.lane();
        (is_of_body && !body.lines.is_empty()).then_some(body)
    }
}

impl EventBody {
    fn new(body: CompressedBody) -> Self {
        Self {
            body,
            read: 0,
            lines: Vec::new(),
        }
    }

    /// Finds the lines of the next event. If one is not found, none are.
    fn read_event(&mut self, view: &[u8]) {
        self.lines.clear();
        let mut at = 0;
        for line in view.split(|b| *b == b'\n') {
            let Some(range) = find_line(self.body.old(), self.read, line) else {
                return self.lines.clear();
            };
            self.read = range.end;
            self.lines.push((at, range));
            at += line.len() + 1;
        }
    }

    /// Returns the changes of the inflated body for a change of the event: offsets and new bytes.
    pub(super) fn changes<'n>(&self, at: usize, new: &'n [u8]) -> Vec<(usize, &'n [u8])> {
        let change = |(start, range): &(usize, Range<usize>)| {
            let first = at.max(*start);
            let end = (at + new.len()).min(start + range.len());
            let new = new.get(first.checked_sub(at)?..end.checked_sub(at)?)?;
            (!new.is_empty()).then_some((range.start + (first - start), new))
        };
        self.lines.iter().filter_map(change).collect()
    }
}

/// Returns the range of the value of the next field `data` with this value.
fn find_line(body: &[u8], mut at: usize, wanted: &[u8]) -> Option<Range<usize>> {
    loop {
        let rest = body.get(at..)?;
        let len = memchr::memchr2(b'\n', b'\r', rest).unwrap_or(rest.len());
        let line = rest.get(..len)?;
        if let Some(value) = line.strip_prefix(b"data:") {
            let value = value.strip_prefix(b" ").unwrap_or(value);
            if value == wanted {
                return Some(at + len - value.len()..at + len);
            }
        } else if line == b"data" && wanted.is_empty() {
            return Some(at + len..at + len);
        }
        if len == rest.len() {
            return None;
        }
        at += len + 1;
    }
}

#[cfg(test)]
mod tests {
    use super::find_line;

    #[test]
    fn lines_of_events_are_found() {
        let body = b"id: 1\r\ndata: a\r\ndata:b\n\ndata\ndata: a";
        let mut at = 0;
        for (wanted, range) in [
            (&b"a"[..], Some(13..14)),
            (b"b", Some(21..22)),
            (b"", Some(28..28)),
            (b"a", Some(35..36)),
            (b"a", None),
        ] {
            let found = find_line(body, at, wanted);
            at = found.as_ref().map_or(at, |range| range.end);
            assert_eq!(found, range);
        }
    }
}
