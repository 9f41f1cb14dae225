//! From what was decided to the frame that is given out.

use super::{Body, Head, Http, Source, from};
use crate::error::DecodeError;
use crate::framing::{self, Fault, Frame, Framing, Input, Places, Step, View};
use crate::span::Span;

/// A frame to be given out, in offsets of the stream.
pub(super) struct Give {
    pub(super) start: u64,
    pub(super) end: u64,
    /// What is done with, from the start of the window.
    pub(super) took: usize,
    /// Bytes of the start line; 0 for an event.
    pub(super) line: usize,
    pub(super) status: u16,
    pub(super) head: u32,
    pub(super) event: bool,
    pub(super) closes: bool,
    /// Where the body would be if it is empty.
    pub(super) value: u64,
    pub(super) control: Option<&'static str>,
    pub(super) fault: Option<Fault>,
}

impl Give {
    /// The message at the start of the window, up to `end`.
    pub(super) fn message(input: Input<'_>, head: &Head, end: u64) -> Self {
        Self {
            start: input.base,
            end,
            took: (end - input.base) as usize,
            line: head.start,
            status: head.status,
            head: head.len as u32,
            event: false,
            closes: head.closes || matches!(head.body, Body::Is(Source::Close)),
            value: input.base + head.len as u64,
            control: None,
            fault: None,
        }
    }
}

impl Http {
    /// Makes the frame: a body of one run is borrowed from the window.
    pub(super) fn give<'a>(&'a mut self, input: Input<'a>, give: Give) -> Step<'a> {
        let bytes = from(input.window, give.start.saturating_sub(input.base));
        let len = give.end.saturating_sub(give.start);
        let bytes = bytes.get(..len as usize).unwrap_or(bytes);
        let single = match self.body.single() {
            None if self.body.is_empty() => Some(give.value),
            single => single,
        };
        let view = if let Some(offset) = single {
            let at = offset.saturating_sub(give.start) as usize;
            View {
                bytes,
                body: Span::new(at, at + self.body.len()),
                places: Places::Run(give.start),
            }
        } else {
            self.body.fill(input.window, input.base);
            self.body.view(give.end)
        };
        let head = framing::Head::Http {
            start: text(bytes.get(..give.line).unwrap_or_default()),
            status: give.status,
            len: give.head,
            event: give.event,
            closes: give.closes,
        };
        let frame = Frame {
            offset: give.start,
            len,
            framing: Framing::Http,
            head,
            view,
            control: give.control,
            fault: give.fault,
        };
        Step::Frame(frame, give.took)
    }
}

/// As much of a start line as is text; a reason phrase may be any bytes.
fn text(bytes: &[u8]) -> &str {
    match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(e) => bytes
            .get(..e.valid_up_to())
            .and_then(|b| std::str::from_utf8(b).ok())
            .unwrap_or_default(),
    }
}

pub(super) fn passed_over(input: Input<'_>, n: usize, fault: Option<Fault>) -> Step<'_> {
    let mut frame = input.frame(Framing::Http, framing::Head::None, Span::new(0, n), n);
    frame.control = fault.is_none().then_some("skipped");
    frame.fault = fault;
    Step::Frame(frame, n)
}

/// `runs`: the most chunks or lines that a body may have, where it has them.
pub(super) fn over_limit(
    input: Input<'_>,
    field: &'static str,
    len: usize,
    runs: Option<usize>,
) -> DecodeError {
    let limit = input.limits.message;
    let (wanted, hint) = match runs {
        Some(most) => (
            format!("at most {most} pieces"),
            "the rest is passed over; raise the limit with --max-message: one piece for 64 bytes is allowed",
        ),
        None => (
            format!("at most {limit} bytes"),
            "the rest is passed over; raise the limit with --max-message",
        ),
    };
    DecodeError::new("over-limit", Span::new(0, len), field, wanted, "more").hint(hint)
}
