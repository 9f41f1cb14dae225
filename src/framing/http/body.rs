//! Reads the body of a message, after its head.

use super::inflate::inflate;
use super::{
    BodyDelimiter, BodyEnd, BodyPart, FrameParts, HttpAction, HttpFraming, HttpResync, HttpState,
    bounds, over_limit, took, window_from,
};
use crate::framing::Buffer;
use crate::span::Span;

impl HttpFraming {
    /// Reads a body in the window, after its head.
    pub(super) fn body(&mut self, input: Buffer<'_>) -> HttpAction {
        let HttpState::Body(head, source, at) = &mut self.state else {
            return HttpAction::Again;
        };
        let (limit, most) = bounds(input);
        let seen = input.window.get(..head.len + most).unwrap_or(input.window);
        loop {
            let rest = window_from(seen, *at - input.base);
            match source.next(rest) {
                BodyPart::Framing(n) => *at += n as u64,
                BodyPart::Data(n) => {
                    let taken = n.min(self.body.space(*at, limit));
                    self.body.record(*at, taken);
                    source.took(taken);
                    *at += taken as u64;
                    if taken < n {
                        return self.emit_body(input, BodyEnd::Over);
                    }
                }
                BodyPart::End => return self.emit_body(input, BodyEnd::Whole),
                BodyPart::Bad(error) => return self.emit_body(input, BodyEnd::Bad(error)),
                BodyPart::More if seen.len() == head.len + most => {
                    return self.emit_body(input, BodyEnd::Over);
                }
                BodyPart::More if !input.eof => {
                    let missing = source.missing().map(|n| n.min(most as u64));
                    return HttpAction::Incomplete(missing);
                }
                // RFC 9112 section 6.3: the length is "the number of octets received prior to the server closing
                // the connection".
                BodyPart::More if matches!(source, BodyDelimiter::Close) => {
                    return self.emit_body(input, BodyEnd::Whole);
                }
                BodyPart::More => return self.emit_body(input, BodyEnd::Cut),
            }
        }
    }

    /// Emits a message with its body.
    fn emit_body(&mut self, input: Buffer<'_>, how: BodyEnd) -> HttpAction {
        let HttpState::Body(mut head, source, at) = std::mem::take(&mut self.state) else {
            return HttpAction::Again;
        };
        let mut parts = FrameParts::message(input, &head, at);
        let position = (at - input.base) as usize;
        let fault = match how {
            BodyEnd::Whole => {
                parts.control = self.body.is_empty().then_some(head.kind());
                let coding = head.coding.take().filter(|_| !self.body.is_empty());
                let fault = coding.and_then(|coding| {
                    let (limit, head) = (bounds(input).0, Span::new(0, head.len));
                    self.body.copy_runs(input.window, input.base);
                    let body = self.body.bytes();
                    let result = inflate(&coding, body, limit, head, &mut self.inflated);
                    parts.inflated = result.is_ok() || !self.inflated.is_empty();
                    result.err().map(|error| input.fault(0, error))
                });
                if parts.inflated && head.packed_events {
                    return self.start_packed_events(input, &head, at);
                }
                fault
            }
            BodyEnd::Cut => {
                parts.end = input.base + input.window.len() as u64;
                parts.took = input.window.len();
                Some(input.truncated("body", source.wanted(), self.body.len()))
            }
            BodyEnd::Over => {
                self.state = HttpState::Skip(source);
                let (limit, _) = bounds(input);
                let runs = self.body.max_pieces(limit);
                Some(input.fault(0, over_limit(input, "body", position, runs)))
            }
            BodyEnd::Bad(error) => {
                self.state = HttpState::Resync(HttpResync::new(0), None);
                Some(input.fault(position, error))
            }
        };
        parts.fault = fault.or(head.fault.take().map(|e| input.fault(0, e)));
        HttpAction::Emit(parts)
    }

    /// Skips the rest of a body over the limit: only its end matters.
    pub(super) fn skip(&mut self, input: Buffer<'_>) -> HttpAction {
        let HttpState::Skip(source) = &mut self.state else {
            return HttpAction::Again;
        };
        let mut n = 0;
        loop {
            match source.next(window_from(input.window, n as u64)) {
                BodyPart::Framing(more) => n += more,
                BodyPart::Data(more) => {
                    source.took(more);
                    n += more;
                }
                BodyPart::More if input.eof => return took(input.window.len()),
                _ if n > 0 => return HttpAction::Took(n),
                BodyPart::More => return HttpAction::Incomplete(None),
                BodyPart::End => return self.enter(HttpState::default()),
                BodyPart::Bad(error) => {
                    return self.enter(HttpState::Resync(HttpResync::new(0), Some(error)));
                }
            }
        }
    }
}
