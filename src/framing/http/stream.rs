//! Reads a `text/event-stream` body event by event.

use super::chunked::{BodyDelimiter, BodyPart, CHUNK_PROBE, starts_chunk};
use super::events::{EventLines, FeedResult};
use super::{
    BodyEnd, FrameParts, HttpAction, HttpFraming, HttpResync, HttpState, bounds, over_limit, took,
    window_from,
};
use crate::error::DecodeError;
use crate::framing::{Buffer, Fault};
use crate::span::Span;

/// The maximum length of a run of skipped bytes.
const RUN: usize = 64 << 10;
/// A stream of events.
pub(super) struct Events {
    pub(super) status: u16,
    pub(super) source: BodyDelimiter,
    /// The stream offset up to which it was read.
    pub(super) at: u64,
    pub(super) lines: EventLines,
}

/// The state of a stream of events.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct EventStream<'a> {
    /// Its number on the connection, from 1; 0 if there was none.
    pub(crate) number: u64,
    /// Its end was not read yet.
    pub(crate) is_open: bool,
    /// The id of the last event.
    pub(crate) last_id: Option<&'a str>,
    /// The time after which a client may connect again, in milliseconds.
    pub(crate) retry: Option<i64>,
}

impl HttpFraming {
    /// Returns the state of the last stream of events.
    pub(in crate::framing) fn event_stream(&self) -> EventStream<'_> {
        EventStream {
            number: self.event_fields.number,
            is_open: matches!(self.state, HttpState::Events(_)),
            last_id: self.event_fields.last_id.as_deref(),
            retry: self.event_fields.retry,
        }
    }

    /// Reads a stream of events.
    pub(super) fn events(&mut self, input: Buffer<'_>) -> HttpAction {
        let HttpState::Events(events) = &mut self.state else {
            return HttpAction::Again;
        };
        let Events {
            source, at, lines, ..
        } = &mut **events;
        let Buffer {
            window, base, eof, ..
        } = input;
        let (limit, most) = bounds(input);
        // Missing bytes were part of the body.
        if let Some(missing) = base.checked_sub(*at) {
            source.took(missing as usize);
            *at = base;
        }
        loop {
            let event_start = lines.pending_start();
            let end = event_start.map_or(window.len(), |b| (b - base) as usize + most);
            let seen = window.get(..end).unwrap_or(window);
            let rest = window_from(seen, *at - base);
            let passed = (*at - base) as usize;
            match (source.next(rest), event_start) {
                (BodyPart::Framing(n), _) => *at += n as u64,
                (BodyPart::Data(n), _) => {
                    let data = rest.get(..n).unwrap_or(rest);
                    let fed = lines.feed(data, *at, &mut self.body, &mut self.event_fields, limit);
                    let (taken, end) = match fed {
                        FeedResult::All => (n, None),
                        FeedResult::Event(n) => (n, Some(BodyEnd::Whole)),
                        FeedResult::Full(n) => (n, Some(BodyEnd::Over)),
                    };
                    source.took(taken);
                    *at += taken as u64;
                    if let Some(end) = end {
                        return self.emit_event(input, end);
                    }
                }
                (BodyPart::Bad(error), Some(_)) => {
                    return self.emit_event(input, BodyEnd::Bad(error));
                }
                (BodyPart::End, Some(_)) => return self.emit_event(input, BodyEnd::Cut),
                (BodyPart::More, Some(_)) if seen.len() == end => {
                    return self.emit_event(input, BodyEnd::Over);
                }
                (BodyPart::More, Some(_)) if eof => return self.emit_event(input, BodyEnd::Cut),
                // A missing last chunk is not a fault: some servers just close.
                (BodyPart::More, _) if eof => {
                    *at = base + window.len() as u64;
                    return took(window.len());
                }
                (BodyPart::More, Some(event_start)) => return took((event_start - base) as usize),
                (_, None) if passed > 0 => return HttpAction::Took(passed),
                (BodyPart::More, None) => return HttpAction::Incomplete(None),
                (BodyPart::End, None) => return self.enter(HttpState::default()),
                (BodyPart::Bad(error), None) => {
                    return self.enter(HttpState::Resync(HttpResync::new(0), Some(error)));
                }
            }
        }
    }

    /// Handles missing bytes between chunks: skips to the next chunk that starts an event, the last
    /// chunk, or the next message.
    pub(super) fn resume(&mut self, input: Buffer<'_>) -> HttpAction {
        let HttpState::Resume(status, searched) = &mut self.state else {
            return HttpAction::Again;
        };
        let Buffer {
            window, base, eof, ..
        } = input;
        let mut found = None;
        while *searched < RUN {
            let rest = window_from(window, *searched as u64);
            if rest.is_empty() || (rest.len() < CHUNK_PROBE && !eof) {
                break;
            }
            let is_line = *searched == 0 || window.get(*searched - 1) == Some(&b'\n');
            if is_line && (starts_chunk(rest) || rest.starts_with(b"HTTP/1.")) {
                found = Some(*searched);
                break;
            }
            *searched += 1;
        }
        let n = match found {
            Some(at) => at,
            None if *searched >= RUN => RUN,
            None if eof => window.len(),
            None => return HttpAction::Incomplete(None),
        };
        *searched = 0;
        if found.is_some() {
            self.state = if window_from(window, n as u64).starts_with(b"HTTP/1.") {
                HttpState::default()
            } else {
                HttpState::Events(Box::new(Events {
                    status: *status,
                    source: BodyDelimiter::CHUNKED,
                    at: base + n as u64,
                    lines: EventLines::new(),
                }))
            };
        }
        match n {
            0 if found.is_some() => HttpAction::Again,
            0 => HttpAction::Incomplete(None),
            n => HttpAction::Skipped(n, None),
        }
    }

    /// Continues with a chunk of events, `at` bytes after the start of the window. The head is not known.
    pub(super) fn continue_events(&mut self, input: Buffer<'_>, at: usize) -> HttpAction {
        self.event_fields.restart();
        self.state = HttpState::Events(Box::new(Events {
            status: 200,
            source: BodyDelimiter::CHUNKED,
            at: input.base + at as u64,
            lines: EventLines::new(),
        }));
        match at {
            0 => HttpAction::Again,
            _ => HttpAction::Skipped(at, None),
        }
    }

    /// Emits an event.
    fn emit_event(&mut self, input: Buffer<'_>, how: BodyEnd) -> HttpAction {
        let HttpState::Events(events) = &mut self.state else {
            return HttpAction::Again;
        };
        let (at, lines) = (events.at, &mut events.lines);
        let start = lines.start();
        if lines.event.is_none() {
            self.body.clear();
        }
        let mut parts = FrameParts {
            start,
            end: at,
            took: (at - input.base) as usize,
            line: 0,
            status: events.status,
            head: 0,
            event: true,
            closes: false,
            value: if lines.event.is_some() {
                lines.value
            } else {
                at
            },
            control: None,
            inflated: false,
            fault: None,
        };
        let error = match how {
            BodyEnd::Whole => {
                lines.reset();
                return HttpAction::Emit(parts);
            }
            BodyEnd::Over => {
                lines.drop_event();
                parts.end = self.body.end().unwrap_or(at);
                let runs = self.body.max_pieces(bounds(input).0);
                over_limit(input, "event", (parts.end - start) as usize, runs)
            }
            BodyEnd::Cut => {
                let span = Span::new(0, (at - start) as usize);
                let got = "the end of the body";
                DecodeError::new("truncated", span, "event", "an empty line after it", got)
            }
            BodyEnd::Bad(error) => {
                parts.fault = Some(Fault::new(at, error));
                self.state = HttpState::Resync(HttpResync::new(0), None);
                return HttpAction::Emit(parts);
            }
        };
        if error.code == "truncated" {
            *lines = EventLines::new();
        }
        parts.fault = Some(Fault::new(start, error));
        HttpAction::Emit(parts)
    }
}
