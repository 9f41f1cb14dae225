//! Reads a `text/event-stream` body with a content coding: its events, after its end.
//!
//! ```text
//!   HTTP/1.1 200 OK ... content-encoding: gzip CR LF CR LF   1f 8b 08 ...
//!   '- a separate frame -------------------------------'     '- inflated: the first event has all bytes -'
//! ```

use super::events::{EventLines, FeedResult};
use super::{
    BodyEnd, FrameParts, HttpAction, HttpFraming, HttpHead, HttpState, bounds, over_limit,
};
use crate::error::DecodeError;
use crate::framing::{Buffer, Fault};
use crate::span::Span;

/// An inflated stream of events.
pub(super) struct PackedEvents {
    status: u16,
    /// The length of the body in the stream, until its first event is emitted.
    len: u64,
    inflated: Vec<u8>,
    /// The number of inflated bytes that were read.
    read: usize,
    lines: EventLines,
}

impl HttpFraming {
    /// Emits the head, and then the events of the inflated body, which ends at `end`.
    pub(super) fn start_packed_events(
        &mut self,
        input: Buffer<'_>,
        head: &HttpHead,
        end: u64,
    ) -> HttpAction {
        let body = input.base + head.len as u64;
        let mut parts = FrameParts::message(input, head, body);
        parts.control = Some(head.kind());
        self.event_fields.restart();
        self.body.clear();
        self.state = HttpState::PackedEvents(Box::new(PackedEvents {
            status: head.status,
            len: end.saturating_sub(body),
            inflated: std::mem::take(&mut self.inflated),
            read: 0,
            lines: EventLines::new(),
        }));
        HttpAction::Emit(parts)
    }

    /// Emits the next event.
    pub(super) fn packed_events(&mut self, input: Buffer<'_>) -> HttpAction {
        let HttpState::PackedEvents(events) = &mut self.state else {
            return HttpAction::Again;
        };
        let (limit, _) = bounds(input);
        let rest = events.inflated.get(events.read..).unwrap_or_default();
        let fields = &mut self.event_fields;
        let offset = events.read as u64;
        let fed = events
            .lines
            .feed(rest, offset, &mut self.body, fields, limit);
        let (taken, how) = match fed {
            FeedResult::Event(n) => (n, BodyEnd::Whole),
            FeedResult::Full(n) => (n, BodyEnd::Over),
            FeedResult::All if events.lines.event.is_some() => (rest.len(), BodyEnd::Cut),
            FeedResult::All => {
                let len = events.len as usize;
                self.state = HttpState::default();
                return if len > 0 {
                    HttpAction::Took(len)
                } else {
                    HttpAction::Again
                };
            }
        };
        events.read += taken;
        self.body.copy_runs(&events.inflated, 0);
        self.inflated.clear();
        self.inflated.extend_from_slice(self.body.bytes());
        let len = std::mem::take(&mut events.len);
        let error = match how {
            BodyEnd::Over => {
                events.lines.drop_event();
                Some(over_limit(input, "event", len as usize, None))
            }
            BodyEnd::Cut => {
                events.lines = EventLines::new();
                let got = "the end of the body";
                let span = Span::new(0, len as usize);
                let wanted = "an empty line after it";
                Some(DecodeError::new("truncated", span, "event", wanted, got))
            }
            BodyEnd::Whole | BodyEnd::Bad(_) => {
                events.lines.reset();
                None
            }
        };
        HttpAction::Emit(FrameParts {
            start: input.base,
            end: input.base + len,
            took: len as usize,
            line: 0,
            status: events.status,
            head: 0,
            event: true,
            closes: false,
            value: input.base,
            control: None,
            inflated: true,
            fault: error.map(|error| Fault::new(input.base, error)),
        })
    }
}
