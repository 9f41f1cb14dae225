//! A gap in a stream: the frame at the gap ends there, and reading continues after it.

use super::RawFrame;
use super::chunk::{ChunkDecoder, Stream};
use super::recovery::gap_error;
use crate::framing::{Fault, Frame, Framing, Head, Places, View};
use crate::span::Span;

/// The largest offset after missing bytes. A capture may state any number of them; offsets of later bytes still fit.
const MAX_OFFSET: u64 = 1 << 62;

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
