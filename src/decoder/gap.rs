//! A gap in a stream: the frame at the gap ends there, and reading continues after it.

use super::chunk::{ChunkDecoder, Stream};
use super::fallible::unbroken;
use super::recovery::gap_error;
use super::{Decoder, FlowSink, FrameSink, Origin, RawFrame};
use crate::framing::{Fault, Frame, Framing, Head, Places, View};
use crate::protocol::Lane;
use crate::span::Span;

/// The largest offset after missing bytes. A capture may state any number of them; offsets of later bytes still fit.
const MAX_OFFSET: u64 = 1 << 62;

impl Decoder<'_> {
    /// Handles `len` missing bytes: a partial message ends, and reading continues at the next
    /// frame. Offsets include the missing bytes.
    pub fn gap(&mut self, origin: Origin, len: u64, sink: &mut FrameSink<'_>) {
        let sink = &mut unbroken(sink);
        let _ = self.pass_waiting(sink);
        let own = origin.lane();
        match own.stream {
            Some(_) => self.restore(own),
            None => self.restore_all(own.conn),
        }
        let mut keys = self.lanes(own);
        if !keys.contains(&own) {
            keys.push(own);
        }
        for key in keys {
            // If the protocol is known, only the framing is undecided, and bytes after the gap do not
            // decide about those before it.
            if self.protocol_of(key).is_some() {
                self.settle_one(key, sink);
            } else if let Some(detector) = self.detecting.get_mut(&key) {
                let verdict = detector.gap();
                self.decide(key, verdict, sink);
            }
            if self.streams.contains_key(&key) {
                self.feed_gap(key, origin, len, sink);
            } else if self.detecting.contains_key(&key) {
                self.held.push_gap(origin, len);
            } else {
                let (at, before) = self.gaps.get(&key).copied().unwrap_or_default();
                self.gaps.insert(key, (at.saturating_add(before), len));
            }
        }
    }

    /// Passes over bytes before a gap that are no message.
    pub(super) fn skip(
        &mut self,
        key: Lane,
        origin: Origin,
        bytes: &[u8],
        sink: &mut FlowSink<'_>,
    ) {
        self.run(key, origin, sink, |run, stream| run.skip(stream, bytes));
    }

    pub(super) fn feed_gap(
        &mut self,
        key: Lane,
        origin: Origin,
        len: u64,
        sink: &mut FlowSink<'_>,
    ) {
        self.run(key, origin, sink, |run, stream| run.gap(stream, len));
    }
}

impl ChunkDecoder<'_, '_, '_, '_> {
    /// Handles `len` missing bytes: a partial message ends before them.
    pub(super) fn gap(&mut self, stream: &mut Stream<'_>, len: u64) {
        self.emit_gap(stream);
        let at = stream.base + stream.buffer.len() as u64;
        let len = len.min(MAX_OFFSET.saturating_sub(at));
        self.recovery.gap = Some((at, len));
        self.feed(stream, &[], true);
        self.emit_gap(stream);
        stream.base = at + len;
        stream.wrong = None;
        stream.framer.seek();
        self.recovery.seeking = true;
        self.recovery.lines.clear();
    }

    /// Emits bytes that are no message.
    pub(super) fn skip(&mut self, stream: &mut Stream<'_>, bytes: &[u8]) {
        self.emit_gap(stream);
        if bytes.is_empty() {
            return;
        }
        let (offset, len) = (stream.base, bytes.len());
        stream.base += len as u64;
        let frame = Frame {
            offset,
            len: len as u64,
            framing: stream.framer.framing(),
            head: Head::None,
            view: View {
                bytes,
                body: Span::new(0, len),
                places: Places::Run(offset),
            },
            control: Some("skipped"),
            fault: None,
        };
        let whole = RawFrame {
            bytes,
            ..RawFrame::NOTHING
        };
        let raw = stream.coverage.as_ref().map(|_| whole);
        self.emit(&frame, stream.base, &mut Vec::new(), raw, None);
    }

    /// Emits a separate line for a gap that no frame has reported.
    pub(super) fn emit_gap(&mut self, stream: &Stream<'_>) {
        let Some((at, len)) = self.recovery.gap.take() else {
            return;
        };
        let raw = stream.coverage.as_ref().map(|_| RawFrame::NOTHING);
        let fault = gap_error((at, len));
        self.emit_gap_line((at, len), stream.framer.framing(), fault, raw);
    }

    /// Emits a line for missing or torn bytes.
    pub(super) fn emit_gap_line(
        &mut self,
        (at, len): (u64, u64),
        framing: Framing,
        fault: Fault,
        raw: Option<RawFrame<'_>>,
    ) {
        let frame = Frame {
            offset: at,
            len,
            framing,
            head: Head::None,
            view: View {
                bytes: &[],
                body: Span::new(0, 0),
                places: Places::Run(at),
            },
            control: Some("gap"),
            fault: Some(fault),
        };
        self.emit(&frame, at.saturating_add(len), &mut Vec::new(), raw, None);
    }
}
