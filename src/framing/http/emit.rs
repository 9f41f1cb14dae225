//! Builds the frame that is emitted.

use super::{BodyDelimiter, BodyPresence, HttpFraming, HttpHead, window_from};
use crate::error::DecodeError;
use crate::framing::{self, Buffer, Fault, Frame, Framing, Places, Step, View};
use crate::span::Span;

/// A frame to emit, in stream offsets.
pub(super) struct FrameParts {
    pub(super) start: u64,
    pub(super) end: u64,
    /// The number of consumed bytes, from the start of the window.
    pub(super) took: usize,
    /// The length of the start line; 0 for an event.
    pub(super) line: usize,
    pub(super) status: u16,
    pub(super) head: u32,
    pub(super) event: bool,
    pub(super) closes: bool,
    /// The position of the body if it is empty.
    pub(super) value: u64,
    pub(super) control: Option<&'static str>,
    /// The body was inflated.
    pub(super) inflated: bool,
    pub(super) fault: Option<Fault>,
}

impl FrameParts {
    /// The message at the start of the window, up to `end`.
    pub(super) fn message(input: Buffer<'_>, head: &HttpHead, end: u64) -> Self {
        Self {
            start: input.base,
            end,
            took: (end - input.base) as usize,
            line: head.start,
            status: head.status,
            head: head.len as u32,
            event: false,
            closes: head.closes || matches!(head.body, BodyPresence::Is(BodyDelimiter::Close)),
            value: input.base + head.len as u64,
            control: None,
            inflated: false,
            fault: None,
        }
    }
}

impl HttpFraming {
    /// Builds the frame. A body of one run is borrowed from the window.
    pub(super) fn emit<'a>(&'a mut self, input: Buffer<'a>, parts: FrameParts) -> Step<'a> {
        let bytes = window_from(input.window, parts.start.saturating_sub(input.base));
        let len = parts.end.saturating_sub(parts.start);
        let bytes = bytes.get(..len as usize).unwrap_or(bytes);
        let single = match self.body.single_run() {
            None if self.body.is_empty() => Some(parts.value),
            single => single,
        };
        let view = if parts.inflated {
            View {
                bytes: &self.inflated,
                body: Span::new(0, self.inflated.len()),
                places: Places::Packed(parts.start),
            }
        } else if let Some(offset) = single {
            let at = offset.saturating_sub(parts.start) as usize;
            View {
                bytes,
                body: Span::new(at, at + self.body.len()),
                places: Places::Run(parts.start),
            }
        } else {
            self.body.copy_runs(input.window, input.base);
            self.body.view(parts.end)
        };
        let head = framing::Head::Http {
            start: text(bytes.get(..parts.line).unwrap_or_default()),
            status: parts.status,
            len: parts.head,
            event: parts.event,
            closes: parts.closes,
        };
        let frame = Frame {
            offset: parts.start,
            len,
            framing: Framing::Http,
            head,
            view,
            control: parts.control,
            fault: parts.fault,
        };
        Step::Frame(frame, parts.took)
    }
}

/// Returns the part of a start line that is text; a reason phrase can hold any bytes.
fn text(bytes: &[u8]) -> &str {
    match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(e) => bytes
            .get(..e.valid_up_to())
            .and_then(|b| std::str::from_utf8(b).ok())
            .unwrap_or_default(),
    }
}

pub(super) fn skipped_frame(input: Buffer<'_>, n: usize, fault: Option<Fault>) -> Step<'_> {
    let mut frame = input.frame(Framing::Http, framing::Head::None, Span::new(0, n), n);
    frame.control = fault.is_none().then_some("skipped");
    frame.fault = fault;
    Step::Frame(frame, n)
}

/// Builds the error of a body over a limit. `runs` is the maximum number of pieces, if that is the
/// limit that was reached.
pub(super) fn over_limit(
    input: Buffer<'_>,
    field: &'static str,
    len: usize,
    runs: Option<usize>,
) -> DecodeError {
    let limit = input.limits.message;
    let (wanted, hint) = match runs {
        Some(most) => (
            format!("at most {most} pieces"),
            "the rest is skipped; raise the limit with `max-message`: one piece for 64 bytes is allowed",
        ),
        None => (
            format!("at most {limit} bytes"),
            "the rest is skipped; raise the limit with `max-message`",
        ),
    };
    DecodeError::new("over-limit", Span::new(0, len), field, wanted, "more").hint(hint)
}
