//! A `text/event-stream` body, event by event.

use super::chunked::{Bit, Source};
use super::events::{Fed, Lines};
use super::{Act, End, Give, Http, Lost, State, bounds, from, over_limit, took};
use crate::error::DecodeError;
use crate::framing::{Fault, Input};
use crate::span::Span;

/// Passed-over bytes are given out in runs of at most this many.
const RUN: usize = 64 << 10;
/// Bytes that tell whether a chunk of events begins.
const CHUNK: usize = 18;

/// Whether the head of a chunk, and a field of an event or nothing in it, begins here.
fn begins_chunk(rest: &[u8]) -> bool {
    let digits = rest.iter().take_while(|b| b.is_ascii_hexdigit()).count();
    let (size, rest) = rest.split_at_checked(digits).unwrap_or_default();
    let Some(data) = rest.strip_prefix(b"\r\n") else {
        return false;
    };
    let fields: [&[u8]; 5] = [b"data:", b"event:", b"id:", b"retry:", b":"];
    match size {
        [b'0'] => data.starts_with(b"\r\n"),
        _ => (1..=8).contains(&digits) && fields.iter().any(|field| data.starts_with(field)),
    }
}

/// A stream of events.
pub(super) struct Events {
    pub(super) status: u16,
    pub(super) source: Source,
    /// How much of the stream was looked at.
    pub(super) at: u64,
    pub(super) lines: Lines,
}

impl Http {
    /// A stream of events.
    pub(super) fn events(&mut self, input: Input<'_>) -> Act {
        let State::Events(events) = &mut self.state else {
            return Act::Again;
        };
        let Events {
            source, at, lines, ..
        } = &mut **events;
        let Input {
            window, base, eof, ..
        } = input;
        let (limit, most) = bounds(input);
        loop {
            let begun = lines.begun();
            let end = begun.map_or(window.len(), |b| (b - base) as usize + most);
            let seen = window.get(..end).unwrap_or(window);
            let rest = from(seen, *at - base);
            let passed = (*at - base) as usize;
            match (source.next(rest), begun) {
                (Bit::Framing(n), _) => *at += n as u64,
                (Bit::Data(n), _) => {
                    let data = rest.get(..n).unwrap_or(rest);
                    let fed = lines.feed(data, *at, &mut self.body, limit);
                    let (taken, end) = match fed {
                        Fed::All => (n, None),
                        Fed::Event(n) => (n, Some(End::Whole)),
                        Fed::Full(n) => (n, Some(End::Over)),
                    };
                    source.took(taken);
                    *at += taken as u64;
                    if let Some(end) = end {
                        return self.event(input, end);
                    }
                }
                (Bit::Bad(error), Some(_)) => return self.event(input, End::Bad(error)),
                (Bit::End, Some(_)) => return self.event(input, End::Cut),
                (Bit::More, Some(_)) if seen.len() == end => return self.event(input, End::Over),
                (Bit::More, Some(_)) if eof => return self.event(input, End::Cut),
                // That the last chunk is missing is no fault: some servers just close.
                (Bit::More, _) if eof => {
                    *at = base + window.len() as u64;
                    return took(window.len());
                }
                (Bit::More, Some(begun)) => return took((begun - base) as usize),
                (_, None) if passed > 0 => return Act::Took(passed),
                (Bit::More, None) => return Act::Incomplete(None),
                (Bit::End, None) => return self.go(State::default()),
                (Bit::Bad(error), None) => return self.go(State::Lost(Lost::new(0), Some(error))),
            }
        }
    }

    /// Bytes are missing amid the chunks: passes over what stands before the next chunk that begins an event, the last
    /// chunk, or the next message.
    pub(super) fn resume(&mut self, input: Input<'_>) -> Act {
        let State::Resume(status, searched) = &mut self.state else {
            return Act::Again;
        };
        let Input {
            window, base, eof, ..
        } = input;
        let mut found = None;
        while *searched < RUN {
            let rest = from(window, *searched as u64);
            if rest.is_empty() || (rest.len() < CHUNK && !eof) {
                break;
            }
            let is_line = *searched == 0 || window.get(*searched - 1) == Some(&b'\n');
            if is_line && (begins_chunk(rest) || rest.starts_with(b"HTTP/1.")) {
                found = Some(*searched);
                break;
            }
            *searched += 1;
        }
        let n = match found {
            Some(at) => at,
            None if *searched >= RUN => RUN,
            None if eof => window.len(),
            None => return Act::Incomplete(None),
        };
        *searched = 0;
        if found.is_some() {
            self.state = if from(window, n as u64).starts_with(b"HTTP/1.") {
                State::default()
            } else {
                State::Events(Box::new(Events {
                    status: *status,
                    source: Source::CHUNKED,
                    at: base + n as u64,
                    lines: Lines::new(),
                }))
            };
        }
        match n {
            0 if found.is_some() => Act::Again,
            0 => Act::Incomplete(None),
            n => Act::Lost(n, None),
        }
    }

    /// Gives out an event.
    fn event(&mut self, input: Input<'_>, how: End) -> Act {
        let State::Events(events) = &mut self.state else {
            return Act::Again;
        };
        let (at, lines) = (events.at, &mut events.lines);
        let start = lines.start();
        if lines.event.is_none() {
            self.body.clear();
        }
        let mut give = Give {
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
            fault: None,
        };
        let error = match how {
            End::Whole => {
                lines.reset();
                return Act::Give(give);
            }
            End::Over => {
                lines.drop_event();
                give.end = self.body.end().unwrap_or(at);
                let runs = self.body.full(bounds(input).0);
                over_limit(input, "event", (give.end - start) as usize, runs)
            }
            End::Cut => {
                let span = Span::new(0, (at - start) as usize);
                let got = "the end of the body";
                DecodeError::new("truncated", span, "event", "an empty line after it", got)
            }
            End::Bad(error) => {
                give.fault = Some(Fault::new(at, error));
                self.state = State::Lost(Lost::new(0), None);
                return Act::Give(give);
            }
        };
        if error.code == "truncated" {
            *lines = Lines::new();
        }
        give.fault = Some(Fault::new(start, error));
        Act::Give(give)
    }
}
