//! A gap in a stream: the frame that it cuts ends there, and reading goes on behind it.

use super::Raw;
use super::recovery::missing;
use super::run::{Run, Stream};
use crate::framing::{Frame, Head, Places, View};
use crate::span::Span;

impl Run<'_, '_, '_, '_> {
    /// So many bytes are missing: what has begun ends before them.
    pub(super) fn gap(&mut self, stream: &mut Stream, len: u64) {
        self.tell_gap(stream);
        let at = stream.base + stream.buffer.len() as u64;
        self.recovery.gap = Some((at, len));
        self.feed(stream, &[], true);
        self.tell_gap(stream);
        stream.base = at.saturating_add(len);
        stream.early = None;
        stream.framer.seek();
        self.recovery.seeking = true;
        self.recovery.lines.clear();
    }

    /// A line of its own for a gap that no frame has told.
    pub(super) fn tell_gap(&mut self, stream: &Stream) {
        let Some((at, len)) = self.recovery.gap.take() else {
            return;
        };
        let frame = Frame {
            offset: at,
            len,
            framing: stream.framer.framing(),
            head: Head::None,
            view: View {
                bytes: &[],
                body: Span::new(0, 0),
                places: Places::Run(at),
            },
            control: Some("gap"),
            fault: Some(missing((at, len))),
        };
        let raw = stream.untold.as_ref().map(|_| Raw::NOTHING);
        self.emit(&frame, at.saturating_add(len), &mut Vec::new(), raw, None);
    }
}
