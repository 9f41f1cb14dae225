//! Bytes that are missing, and places that were lost: each is told once, and what only follows from it is passed over.
//!
//! ```text
//!   {"id":1,"met     40 bytes missing     ":2} LF     {"id":3} LF
//!   cut: the gap is its fault             skipped     read on
//! ```

use super::trial::reads;
use crate::encoding::json;
use crate::error::DecodeError;
use crate::framing::{Fault, Frame, Framing, Head, Limits, Places, View};
use crate::protocol::{Message, Protocol};
use crate::span::Span;

/// Longest run of lines that is looked at as one message.
const LINES: usize = 64 << 10;

/// What is remembered of one stream.
#[derive(Default)]
pub(super) struct Recovery {
    /// Bytes that are missing, and were not told yet: where, and how many.
    pub(super) gap: Option<(u64, u64)>,
    /// Where the next frame begins is not certain.
    pub(super) seeking: bool,
    /// Lines at fault that may be one message.
    pub(super) lines: Vec<u8>,
    count: u32,
}

impl Recovery {
    /// Of a stream that begins behind a gap.
    pub(super) fn after(gap: Option<(u64, u64)>) -> Self {
        Self {
            gap,
            seeking: gap.is_some(),
            ..Self::default()
        }
    }

    /// Whether a good frame means nothing to it.
    pub(super) fn is_idle(&self) -> bool {
        self.gap.is_none() && !self.seeking && self.lines.is_empty()
    }

    /// What to say of a frame that is bad because bytes are missing.
    pub(super) fn cut(&mut self, frame: &Frame<'_>, message: &Message<'_>) -> Option<Fault> {
        if self.gap.is_none() || (frame.fault.is_none() && message.faults.is_empty()) {
            return None;
        }
        self.gap.take().map(missing)
    }

    /// Whether a frame is bad only because it was looked for in a place where none begins.
    pub(super) fn passes(&mut self, frame: &Frame<'_>, message: &Message<'_>) -> bool {
        let fault = frame.fault.as_ref().map(|fault| fault.error.code);
        if fault == Some("gap") || frame.control == Some("skipped") {
            return false;
        }
        let placed = !matches!(frame.head, Head::None);
        if !self.seeking {
            let streams = matches!(frame.framing, Framing::Http | Framing::WebSocket);
            let lost = matches!(fault, Some("bad-http" | "bad-websocket" | "bad-length"));
            self.seeking = lost && streams && !placed;
            return false;
        }
        let passes = !placed && (fault.is_some() || !message.faults.is_empty());
        self.seeking = passes;
        passes
    }

    /// What to say of a line at fault, where it ends a message that was written in several lines.
    pub(super) fn line(
        &mut self,
        frame: &Frame<'_>,
        message: &Message<'_>,
        protocol: &dyn Protocol,
    ) -> Option<String> {
        if frame.framing != Framing::Lines {
            return None;
        }
        let first = message.faults.first().map(|fault| fault.code);
        let begun = !self.lines.is_empty();
        if first.is_none() || (!begun && first != Some("ends-early")) {
            self.lines.clear();
            return None;
        }
        let body = frame.view.body();
        if self.lines.len() + body.len() > LINES {
            self.lines.clear();
            return None;
        }
        self.count = if begun { self.count + 1 } else { 1 };
        self.lines.extend_from_slice(body);
        self.lines.push(b'\n');
        // Nothing else can end it.
        let ends = begun && matches!(body.first(), Some(b'}' | b']'));
        let depth = Limits::default().depth;
        let text = || self.lines.trim_ascii_end().len();
        if !ends || json::measure(&self.lines, depth, true) != Ok(Some(text())) {
            return None;
        }
        let body = Span::new(0, self.lines.len());
        let bytes = std::mem::take(&mut self.lines);
        let whole = Frame {
            framing: Framing::Values,
            view: View {
                bytes: &bytes,
                body,
                places: Places::Run(0),
            },
            ..frame.clone()
        };
        let count = self.count;
        reads(&whole, body, protocol).then(|| {
            format!(
                "pretty-printed JSON: {count} lines are one message, which --framing values reads"
            )
        })
    }
}

/// What is wrong where bytes are missing.
pub(super) fn missing((at, len): (u64, u64)) -> Fault {
    let got = match len {
        0 => "a gap".into(),
        1 => "a gap of 1 byte".into(),
        _ => format!("a gap of {len} bytes"),
    };
    let error = DecodeError::new("gap", Span::new(0, 0), "stream", "every byte", got);
    Fault {
        offset: at,
        error: error.hint("reading goes on at the next frame").into(),
    }
}
