//! Reads bytes of a frame as a message, as an attempt.

use crate::encoding::{self, Parsed, Want};
use crate::framing::{Frame, Head, Limits, Places, View};
use crate::protocol::{Context, Evidence, Protocol};
use crate::span::Span;

/// Returns `true` if a part of the frame's bytes is a message of the protocol.
pub(super) fn is_message(frame: &Frame<'_>, body: Span, protocol: &dyn Protocol) -> bool {
    if body.end() > frame.view.bytes.len() || body.len == 0 {
        return false;
    }
    let view = View {
        bytes: frame.view.bytes,
        body,
        places: Places::Run(0),
    };
    let trial = Frame {
        view,
        head: Head::None,
        fault: None,
        control: None,
        ..frame.clone()
    };
    let mut parsed = Parsed::new(Want::Head, Limits::default().depth);
    let message = protocol.read(&trial, &Context::default(), &mut parsed);
    message.faults.is_empty() && message.evidence > Evidence::None
}

/// Returns `true` if a message of the protocol starts at `at`, with any bytes after it.
pub(super) fn starts_with_message(frame: &Frame<'_>, at: usize, protocol: &dyn Protocol) -> bool {
    let rest = frame.view.bytes.get(at..).unwrap_or_default();
    match encoding::measure(rest, Limits::default().depth) {
        Ok(Some(len)) => is_message(frame, Span::new(at, at + len), protocol),
        _ => false,
    }
}
