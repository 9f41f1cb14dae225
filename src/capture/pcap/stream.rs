//! One direction of a TCP connection: puts the bytes of segments into order.
//!
//! ```text
//!   passed on .......... next      waiting: [....]   [..]   fin
//!                            hole            hole
//! ```
//!
//! The first segment that has a byte decides it. Bytes in order are passed on without a copy.

use super::super::time::Time;
use std::collections::BTreeMap;
use std::ops::Bound;

/// The memory that a waiting segment takes beside its bytes.
const OVERHEAD: usize = 96;

/// The packet with which bytes were captured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct CapturedAt {
    /// The number of the packet in the file.
    pub packet: u64,
    pub time: Option<Time>,
}

struct WaitingSegment {
    at: CapturedAt,
    bytes: Box<[u8]>,
}

/// Receives bytes in order, or the length of a gap.
pub(super) type StreamSink<'s> = dyn FnMut(CapturedAt, StreamPart<'_>) + 's;

/// The output of a stream.
#[derive(Clone, Copy)]
pub(super) enum StreamPart<'a> {
    Bytes(&'a [u8]),
    Gap(u64),
}

/// The bytes of one direction.
#[derive(Default)]
pub(super) struct SegmentStream {
    /// The sequence number of offset 0.
    base: Option<u32>,
    /// A SYN gave the base.
    has_syn: bool,
    /// The offset of the next byte to pass on.
    next: u64,
    waiting: BTreeMap<u64, WaitingSegment>,
    /// The memory that waiting segments take.
    pub held: usize,
    /// The offset of the end, if a FIN gave it.
    fin: Option<u64>,
    /// The first packet behind the current hole.
    pub hole_since: u64,
}

impl SegmentStream {
    /// Reads the sequence number of a SYN. Returns false if it belongs to another connection.
    pub(super) fn syn(&mut self, sequence: u32) -> bool {
        let base = sequence.wrapping_add(1);
        match self.base {
            None => {
                self.base = Some(base);
                self.has_syn = true;
            }
            Some(known) if self.has_syn => return known == base,
            Some(known) => {
                // Data was captured before the SYN: the same connection if nothing or little lies between.
                let between = known.wrapping_sub(base);
                if between > 1 << 20 {
                    return false;
                }
                self.has_syn = between == 0;
                if self.next == 0 && self.waiting.is_empty() {
                    (self.base, self.has_syn) = (Some(base), true);
                }
            }
        }
        true
    }

    pub(super) fn has_start(&self) -> bool {
        self.has_syn
    }

    pub(super) fn has_hole(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Returns true if everything up to the FIN was passed on.
    pub(super) fn is_complete(&self) -> bool {
        self.fin.is_some_and(|fin| fin <= self.next)
    }

    /// Adds the bytes of a segment; `fin` if its end is the end of the stream.
    pub(super) fn segment(
        &mut self,
        sequence: u32,
        bytes: &[u8],
        fin: Option<u32>,
        at: CapturedAt,
        sink: &mut StreamSink<'_>,
    ) {
        if bytes.is_empty() && fin.is_none() {
            return;
        }
        let base = *self.base.get_or_insert(sequence);
        let expected = base.wrapping_add(self.next as u32);
        let distance = i64::from(sequence.wrapping_sub(expected).cast_signed());
        let start = self.next.cast_signed().saturating_add(distance);
        if let Some(len) = fin {
            let end = start.saturating_add(i64::from(len));
            if let Ok(end) = u64::try_from(end) {
                self.fin.get_or_insert(end);
            }
        }
        // A byte before the start, or one that was passed on: known.
        let known =
            usize::try_from(self.next.cast_signed().saturating_sub(start)).unwrap_or_default();
        let Some(bytes) = bytes.get(known..).filter(|bytes| !bytes.is_empty()) else {
            return;
        };
        let Ok(start) = u64::try_from(start.saturating_add_unsigned(known as u64)) else {
            return;
        };
        if self.waiting.is_empty() {
            if start == self.next {
                return self.pass(bytes, at, sink);
            }
            self.hole_since = at.packet;
        }
        self.insert(start, bytes, at);
        self.drain(sink);
    }

    fn pass(&mut self, bytes: &[u8], at: CapturedAt, sink: &mut StreamSink<'_>) {
        self.next += bytes.len() as u64;
        sink(at, StreamPart::Bytes(bytes));
    }

    /// Stores the bytes that no waiting segment has.
    fn insert(&mut self, start: u64, bytes: &[u8], at: CapturedAt) {
        let before = self.waiting.range(..=start).next_back();
        let known = before.map_or(start, |(from, s)| from + s.bytes.len() as u64);
        let mut from = start.max(known);
        let end = start + bytes.len() as u64;
        while from < end {
            let next = self
                .waiting
                .range((Bound::Excluded(from), Bound::Unbounded));
            let next = self
                .waiting
                .get_key_value(&from)
                .or(next.into_iter().next());
            let (until, then) = match next {
                Some((&next, s)) if next < end => (next, next + s.bytes.len() as u64),
                _ => (end, end),
            };
            let piece = bytes.get((from - start) as usize..(until - start) as usize);
            if let Some(piece) = piece.filter(|piece| !piece.is_empty()) {
                let bytes = piece.into();
                self.held += piece.len() + OVERHEAD;
                self.waiting.insert(from, WaitingSegment { at, bytes });
            }
            from = then;
        }
    }

    /// Passes on what follows without a hole.
    fn drain(&mut self, sink: &mut StreamSink<'_>) {
        while let Some(first) = self.waiting.first_entry() {
            if *first.key() != self.next {
                self.hole_since = first.get().at.packet;
                return;
            }
            let WaitingSegment { at, bytes } = first.remove();
            self.held -= bytes.len() + OVERHEAD;
            self.pass(&bytes, at, sink);
        }
    }

    /// Gives up the first hole: its bytes are missing.
    pub(super) fn give_up_hole(&mut self, sink: &mut StreamSink<'_>) {
        if let Some(first) = self.waiting.first_entry() {
            let len = first.key() - self.next;
            let at = first.get().at;
            self.next = *first.key();
            sink(at, StreamPart::Gap(len));
            self.drain(sink);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Puts segments into a stream that starts with this sequence number; returns its bytes, gaps as dots.
    fn joined(initial: u32, segments: &[(u32, &str)]) -> String {
        let mut text = String::new();
        let mut stream = SegmentStream::default();
        let mut sink = |_: CapturedAt, part: StreamPart<'_>| match part {
            StreamPart::Bytes(bytes) => text.push_str(std::str::from_utf8(bytes).unwrap()),
            StreamPart::Gap(len) => text.extend(std::iter::repeat_n('.', len as usize)),
        };
        assert!(stream.syn(initial.wrapping_sub(1)));
        for (packet, (offset, bytes)) in segments.iter().enumerate() {
            let at = CapturedAt {
                packet: packet as u64,
                time: None,
            };
            let sequence = initial.wrapping_add(*offset);
            stream.segment(sequence, bytes.as_bytes(), None, at, &mut sink);
        }
        while stream.has_hole() {
            stream.give_up_hole(&mut sink);
        }
        assert_eq!(stream.held, 0);
        text
    }

    #[test]
    fn segments_in_any_order_give_the_same_stream() {
        for initial in [0, 5, u32::MAX, u32::MAX - 3, 1 << 31] {
            for (segments, wanted) in [
                (&[(0, "abc"), (3, "def")][..], "abcdef"),
                (&[(3, "def"), (0, "abc")], "abcdef"),
                (&[(0, "abc"), (0, "abc"), (2, "cd")], "abcd"),
                // The first that came counts.
                (&[(2, "CD"), (0, "abcdef")], "abCDef"),
                (&[(2, "CD"), (6, "G"), (0, "abcdefghi")], "abCDefGhi"),
                (&[(1, "B"), (3, "DE"), (2, "cdef"), (0, "a")], "aBcDEf"),
                // A keep-alive with a byte.
                (&[(0, "abc"), (2, "\0"), (3, "d")], "abcd"),
                // A zero window probe with a new byte.
                (&[(0, "abc"), (3, "d"), (3, "def")], "abcdef"),
                (&[(0, "ab"), (4, "ef"), (7, "h")], "ab..ef.h"),
                (&[(0, "ab"), (4, "ef"), (3, "d")], "ab.def"),
            ] {
                assert_eq!(joined(initial, segments), wanted, "{segments:?}");
            }
        }
    }

    #[test]
    fn syn_with_another_number_is_another_connection() {
        let mut stream = SegmentStream::default();
        assert!(stream.syn(7));
        assert!(stream.syn(7));
        assert!(!stream.syn(8));
        let mut late = SegmentStream::default();
        late.segment(8, b"x", None, CapturedAt::default(), &mut |_, _| {});
        assert!(late.syn(7), "captured after the data");
        assert!(!late.syn(1 << 30));
    }

    #[test]
    fn stream_is_complete_when_all_bytes_before_its_fin_came() {
        let mut stream = SegmentStream::default();
        let sink: &mut StreamSink<'_> = &mut |_, _| {};
        stream.syn(0);
        stream.segment(4, b"", Some(0), CapturedAt::default(), sink);
        assert!(!stream.is_complete());
        stream.segment(1, b"abc", None, CapturedAt::default(), sink);
        assert!(stream.is_complete());
    }
}
