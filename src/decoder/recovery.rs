//! Handles missing bytes and lost positions: each is reported once, and errors that only follow
//! from it are skipped.
//!
//! ```text
//!   {"id":1,"met     40 bytes missing     ":2} LF     {"id":3} LF
//!   cut: the gap is its fault             skipped     read on
//! ```

use super::message::is_message;
use crate::encoding::json;
use crate::error::DecodeError;
use crate::framing::{Fault, Frame, Framing, Head, Limits, Places, View};
use crate::protocol::{Message, Protocol};
use crate::span::Span;

/// The maximum length of lines that are examined as one message.
const LINES: usize = 64 << 10;

/// The gap before a stream whose first bytes may be amid a message.
pub(super) const START_UNKNOWN: (u64, u64) = (0, 0);

/// The recovery state of one stream.
#[derive(Default)]
pub(super) struct Recovery {
    /// Missing bytes that are not reported yet: offset and number.
    pub(super) gap: Option<(u64, u64)>,
    /// The stream may begin amid a message.
    is_torn: bool,
    /// The start of the next frame is not certain.
    pub(super) seeking: bool,
    /// Bad lines that may be one message.
    pub(super) lines: Vec<u8>,
    count: u32,
}

impl Recovery {
    /// Creates the state of a stream that starts after a gap.
    pub(super) fn after(gap: Option<(u64, u64)>) -> Self {
        Self {
            gap: gap.filter(|gap| *gap != START_UNKNOWN),
            is_torn: gap == Some(START_UNKNOWN),
            seeking: gap.is_some(),
            ..Self::default()
        }
    }

    /// Returns `true` if a good frame does not change the state.
    pub(super) fn is_idle(&self) -> bool {
        self.gap.is_none() && !self.is_torn && !self.seeking && self.lines.is_empty()
    }

    /// Handles the first frame of a stream that may begin amid a message: returns the fault if it does, and the number of
    /// bytes before the frame that are part of it.
    pub(super) fn torn_start(
        &mut self,
        frame: &Frame<'_>,
        message: &Message<'_>,
    ) -> Option<(Fault, u64)> {
        if !std::mem::take(&mut self.is_torn) {
            return None;
        }
        let is_good =
            frame.fault.is_none() && message.faults.is_empty() && frame.control != Some("skipped");
        if is_good && frame.offset == 0 {
            self.seeking = false;
            return None;
        }
        let error = DecodeError::new(
            "gap",
            Span::new(0, 0),
            "stream",
            "the start of a message",
            "a later part: the capture begins amid a message",
        );
        let fault = Fault {
            offset: 0,
            error: error.hint("decoding continues at the next frame").into(),
        };
        Some((fault, if is_good { frame.offset } else { 0 }))
    }

    /// Returns the fault for a frame that is bad because bytes are missing.
    pub(super) fn gap_fault(&mut self, frame: &Frame<'_>, message: &Message<'_>) -> Option<Fault> {
        if self.gap.is_none() || (frame.fault.is_none() && message.faults.is_empty()) {
            return None;
        }
        self.gap.take().map(gap_error)
    }

    /// Returns `true` if a frame is bad only because its assumed start is not the start of a frame.
    pub(super) fn is_skipped(&mut self, frame: &Frame<'_>, message: &Message<'_>) -> bool {
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

    /// Returns a hint for a bad line if it ends a message that was written in several lines.
    pub(super) fn line_hint(
        &mut self,
        frame: &Frame<'_>,
        message: &Message<'_>,
        protocol: &dyn Protocol,
    ) -> Option<String> {
        if frame.framing != Framing::Lines {
            return None;
        }
        let first = message.faults.first().map(|fault| fault.code);
        let has_lines = !self.lines.is_empty();
        if first.is_none() || (!has_lines && first != Some("ends-early")) {
            self.lines.clear();
            return None;
        }
        let body = frame.view.body();
        if self.lines.len() + body.len() > LINES {
            self.lines.clear();
            return None;
        }
        self.count = if has_lines { self.count + 1 } else { 1 };
        self.lines.extend_from_slice(body);
        self.lines.push(b'\n');
        // Only these can end a message.
        let ends = has_lines && matches!(body.first(), Some(b'}' | b']'));
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
        is_message(&whole, body, protocol).then(|| {
            format!(
                "pretty-printed JSON: {count} lines are one message, which `framing values` reads"
            )
        })
    }
}

/// Builds the fault for missing bytes.
pub(super) fn gap_error((at, len): (u64, u64)) -> Fault {
    let got = match len {
        0 => "a gap".into(),
        1 => "a gap of 1 byte".into(),
        _ => format!("a gap of {len} bytes"),
    };
    let error = DecodeError::new("gap", Span::new(0, 0), "stream", "every byte", got);
    Fault {
        offset: at,
        error: error.hint("decoding continues at the next frame").into(),
    }
}
