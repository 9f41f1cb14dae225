//! HTTP/1.1 exchanges, server-sent events, and WebSocket after an upgrade.
//!
//! ```text
//!   POST / HTTP/1.1 CR LF content-length: 46 CR LF CR LF {"jsonrpc":"2.0",...}
//!   '- start line -'                                     '- body ------------'
//!   '- head -------------------------------------------'
//!   '- one frame -------------------------------------------------------------'
//!
//!   HTTP/1.1 200 OK ... text/event-stream ... CR LF CR LF   a3 CR LF data: {...} LF LF CR LF  0 CR LF CR LF
//!   '- a frame of its own ------------------------------'            '- a frame -----'
//! ```
//!
//! Where a body ends is decided by RFC 9112 section 6.3, in [`head`]; which bytes are the body's, in [`chunked`];
//! which of those are an event's data, in [`events`]. What is no HTTP is passed over in [`lost`].

mod chunked;
mod events;
mod head;
mod lost;

use super::assembly::Assembly;
use super::websocket::WebSocket;
use super::{Fault, Frame, Framing, Input, Places, Step, View};
use crate::error::DecodeError;
use crate::span::Span;
use chunked::{Bit, Source};
use events::{Fed, Lines};
use head::{Head, Look, Search};
use lost::{Found, Lost};

/// Most bytes of start line and fields.
const MAX_HEAD: usize = 1 << 20;
/// Most fields of a head.
const MAX_FIELDS: usize = 128;

/// What is remembered between steps.
#[derive(Default)]
pub(super) struct Http {
    state: State,
    /// A request asked for WebSocket; whether it was granted the other direction knows.
    asked: bool,
    /// The body of the message or event at hand.
    body: Assembly,
    websocket: WebSocket,
}

enum State {
    /// Where a message begins.
    Start(Search),
    /// The head, at the start of the window, was read; the body up to an offset of the stream.
    Body(Box<Head>, Source, u64),
    Events(Box<Events>),
    /// The rest of a body over the limit.
    Skip(Source),
    /// No HTTP; what to say of it.
    Lost(Lost, Option<DecodeError>),
    WebSocket,
}

impl Default for State {
    fn default() -> Self {
        Self::Start(Search::default())
    }
}

/// A stream of events.
struct Events {
    status: u16,
    source: Source,
    /// How much of the stream was looked at.
    at: u64,
    lines: Lines,
}

/// What to do; decided with the state at hand, done without it.
enum Act {
    /// Look again, in the state that was gone to.
    Again,
    Incomplete(Option<u64>),
    Took(usize),
    Give(Give),
    /// So many bytes are no HTTP.
    Lost(usize, Option<Fault>),
    WebSocket,
}

/// How a body, or an event, came to its end.
enum End {
    Whole,
    /// The stream, or for an event the body, ends first.
    Cut,
    /// The limit was passed.
    Over,
    /// The chunks are broken.
    Bad(DecodeError),
}

/// A frame to be given out, in offsets of the stream.
struct Give {
    start: u64,
    end: u64,
    /// What is done with, from the start of the window.
    took: usize,
    /// Bytes of the start line; 0 for an event.
    line: usize,
    status: u16,
    head: u32,
    event: bool,
    /// Where the body would be if it is empty.
    value: u64,
    control: Option<&'static str>,
    fault: Option<Fault>,
}

impl Http {
    pub(super) fn next<'a>(&'a mut self, input: Input<'a>) -> Step<'a> {
        loop {
            let act = match &mut self.state {
                State::Start(_) => self.start(input),
                State::Body(..) => self.body(input),
                State::Events(_) => self.events(input),
                State::Skip(_) => self.skip(input),
                State::Lost(..) => self.lost(input),
                State::WebSocket => Act::WebSocket,
            };
            return match act {
                Act::Again => continue,
                Act::Incomplete(missing) => Step::Incomplete(missing),
                Act::Took(n) => Step::Took(n),
                Act::Give(give) => self.give(input, give),
                Act::Lost(n, fault) => passed_over(input, n, fault),
                Act::WebSocket => self.websocket.next(input),
            };
        }
    }

    fn go(&mut self, state: State) -> Act {
        self.state = state;
        Act::Again
    }

    /// At the start of a message.
    fn start(&mut self, input: Input<'_>) -> Act {
        let State::Start(search) = &mut self.state else {
            return Act::Again;
        };
        let Input { window, eof, .. } = input;
        let Some(first) = window.first() else {
            return Act::Incomplete(None);
        };
        // No WebSocket frame begins like a method that could come instead.
        if self.asked && !b"GPHDOTC".contains(first) {
            return self.go(State::WebSocket);
        }
        // RFC 9112 section 2.2: "a server [...] SHOULD ignore at least one empty line (CRLF) received prior to the
        // request-line".
        let blank = window.iter().take_while(|b| matches!(b, b'\r' | b'\n'));
        match (blank.count(), search.look(window)) {
            (n @ 1.., _) => {
                *search = Search::default();
                Act::Took(n)
            }
            (_, Look::No(error)) => self.go(State::Lost(Lost::new(1), Some(error))),
            (_, Look::More) if eof => self.half_head(input),
            (_, Look::More) => Act::Incomplete(None),
            (_, Look::Head(len, line)) => {
                match Head::read(window.get(..len).unwrap_or_default(), line) {
                    Ok(head) => self.head(input, head),
                    Err(error) => self.go(State::Lost(Lost::new(1), Some(error))),
                }
            }
        }
    }

    /// A head was read: with a body it waits for that, otherwise it is given out.
    fn head(&mut self, input: Input<'_>, mut head: Head) -> Act {
        let end = input.base + head.len as u64;
        self.asked |= head.upgrade && head.request;
        self.body.clear();
        if let (Some(source), false) = (head.body, head.events) {
            return self.go(State::Body(Box::new(head), source, end));
        }
        let mut give = Give::message(input, &head, end);
        give.control = Some(head.kind());
        give.fault = head.fault.take().map(|e| input.fault(0, e));
        self.state = match head.body {
            Some(source) => State::Events(Box::new(Events {
                status: head.status,
                source,
                at: end,
                lines: Lines::new(),
            })),
            None if head.endless => State::Lost(Lost::new(0), None),
            None if head.upgrade && !head.request => State::WebSocket,
            None => State::default(),
        };
        Act::Give(give)
    }

    /// The stream ends inside a head.
    fn half_head(&mut self, input: Input<'_>) -> Act {
        let State::Start(search) = std::mem::take(&mut self.state) else {
            return Act::Again;
        };
        let window = input.window;
        let head = Head {
            start: search.start(),
            ..Head::half(window)
        };
        self.body.clear();
        let mut give = Give::message(input, &head, input.base + window.len() as u64);
        give.control = Some(head.kind());
        let wanted = "an empty line after the fields".into();
        give.fault = Some(input.truncated("head", wanted, window.len()));
        Act::Give(give)
    }

    /// A body in the window, after its head.
    fn body(&mut self, input: Input<'_>) -> Act {
        let State::Body(head, source, at) = &mut self.state else {
            return Act::Again;
        };
        let (limit, most) = bounds(input);
        let seen = input.window.get(..head.len + most).unwrap_or(input.window);
        loop {
            let rest = from(seen, *at - input.base);
            match source.next(rest) {
                Bit::Framing(n) => *at += n as u64,
                Bit::Data(n) => {
                    let taken = n.min(self.body.room(*at, limit));
                    self.body.note(*at, taken);
                    source.took(taken);
                    *at += taken as u64;
                    if taken < n {
                        return self.body_ends(input, End::Over);
                    }
                }
                Bit::End => return self.body_ends(input, End::Whole),
                Bit::Bad(error) => return self.body_ends(input, End::Bad(error)),
                Bit::More if seen.len() == head.len + most => {
                    return self.body_ends(input, End::Over);
                }
                Bit::More if !input.eof => {
                    let missing = source.missing().map(|n| n.min(most as u64));
                    return Act::Incomplete(missing);
                }
                // RFC 9112 section 6.3: the length is "the number of octets received prior to the server closing
                // the connection".
                Bit::More if matches!(source, Source::Close) => {
                    return self.body_ends(input, End::Whole);
                }
                Bit::More => return self.body_ends(input, End::Cut),
            }
        }
    }

    /// Gives out a message with its body.
    fn body_ends(&mut self, input: Input<'_>, how: End) -> Act {
        let State::Body(mut head, source, at) = std::mem::take(&mut self.state) else {
            return Act::Again;
        };
        let mut give = Give::message(input, &head, at);
        let place = (at - input.base) as usize;
        let fault = match how {
            End::Whole => {
                give.control = self.body.is_empty().then_some(head.kind());
                None
            }
            End::Cut => {
                give.end = input.base + input.window.len() as u64;
                give.took = input.window.len();
                Some(input.truncated("body", source.wanted(), self.body.len()))
            }
            End::Over => {
                self.state = State::Skip(source);
                Some(input.fault(0, over_limit(input, "body", place)))
            }
            End::Bad(error) => {
                self.state = State::Lost(Lost::new(0), None);
                Some(input.fault(place, error))
            }
        };
        give.fault = fault.or(head.fault.take().map(|e| input.fault(0, e)));
        Act::Give(give)
    }

    /// A stream of events.
    fn events(&mut self, input: Input<'_>) -> Act {
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
                over_limit(input, "event", (give.end - start) as usize)
            }
            End::Cut => {
                let span = Span::new(0, (at - start) as usize);
                let got = "the end of the stream".to_owned();
                DecodeError::new("truncated", span, "event", "an empty line after it", got)
            }
            End::Bad(error) => {
                give.fault = Some(Fault { offset: at, error });
                self.state = State::Lost(Lost::new(0), None);
                return Act::Give(give);
            }
        };
        if error.code == "truncated" {
            *lines = Lines::new();
        }
        give.fault = Some(Fault {
            offset: start,
            error,
        });
        Act::Give(give)
    }

    /// The rest of a body over the limit: where it ends matters, its bytes do not.
    fn skip(&mut self, input: Input<'_>) -> Act {
        let State::Skip(source) = &mut self.state else {
            return Act::Again;
        };
        let mut n = 0;
        loop {
            match source.next(from(input.window, n as u64)) {
                Bit::Framing(more) => n += more,
                Bit::Data(more) => {
                    source.took(more);
                    n += more;
                }
                Bit::More if input.eof => return took(input.window.len()),
                _ if n > 0 => return Act::Took(n),
                Bit::More => return Act::Incomplete(None),
                Bit::End => return self.go(State::default()),
                Bit::Bad(error) => return self.go(State::Lost(Lost::new(0), Some(error))),
            }
        }
    }

    /// Bytes that are no HTTP.
    fn lost(&mut self, input: Input<'_>) -> Act {
        let State::Lost(lost, error) = &mut self.state else {
            return Act::Again;
        };
        if input.window.is_empty() {
            return Act::Incomplete(None);
        }
        let (n, found) = match lost.next(input) {
            Found::More => return Act::Incomplete(None),
            Found::Run(n, found) => (n, found),
        };
        let error = error.take();
        self.state = if found {
            State::default()
        } else {
            State::Lost(Lost::new(0), None)
        };
        match error {
            None if n == 0 => Act::Again,
            None => Act::Lost(n, None),
            Some(error) => {
                let hint = match error.hint {
                    Some(_) => None,
                    None if found => Some(format!(
                        "{n} bytes are passed over; a start line follows them"
                    )),
                    None => Some("no start line follows".into()),
                };
                let error = match hint {
                    Some(hint) => error.hint(hint),
                    None => error,
                };
                Act::Lost(n, Some(input.fault(0, error)))
            }
        }
    }

    /// Makes the frame: a body of one run is borrowed from the window.
    fn give<'a>(&'a mut self, input: Input<'a>, give: Give) -> Step<'a> {
        let bytes = from(input.window, give.start.saturating_sub(input.base));
        let len = give.end.saturating_sub(give.start);
        let bytes = bytes.get(..len as usize).unwrap_or(bytes);
        let single = match self.body.single() {
            None if self.body.is_empty() => Some(give.value),
            single => single,
        };
        let view = match single {
            Some(offset) => {
                let at = offset.saturating_sub(give.start) as usize;
                View {
                    bytes,
                    body: Span::new(at, at + self.body.len()),
                    places: Places::Run(give.start),
                }
            }
            None => {
                self.body.fill(input.window, input.base);
                self.body.view(give.end)
            }
        };
        let head = super::Head::Http {
            start: text(bytes.get(..give.line).unwrap_or_default()),
            status: give.status,
            len: give.head,
            event: give.event,
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

impl Give {
    /// The message at the start of the window, up to `end`.
    fn message(input: Input<'_>, head: &Head, end: u64) -> Self {
        Self {
            start: input.base,
            end,
            took: (end - input.base) as usize,
            line: head.start,
            status: head.status,
            head: head.len as u32,
            event: false,
            value: input.base + head.len as u64,
            control: None,
            fault: None,
        }
    }
}

/// The limit of a body, and of the bytes that it takes with all that stands between its own.
fn bounds(input: Input<'_>) -> (usize, usize) {
    let limit = (input.limits.message as usize).min(1 << 31);
    (limit, limit + limit / 4 + (64 << 10))
}

/// The window from a place in it on.
fn from(window: &[u8], at: u64) -> &[u8] {
    window.get(at as usize..).unwrap_or_default()
}

fn took(n: usize) -> Act {
    match n {
        0 => Act::Incomplete(None),
        n => Act::Took(n),
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

fn passed_over(input: Input<'_>, n: usize, fault: Option<Fault>) -> Step<'_> {
    let mut frame = input.frame(Framing::Http, super::Head::None, Span::new(0, n), n);
    frame.control = fault.is_none().then_some("skipped");
    frame.fault = fault;
    Step::Frame(frame, n)
}

fn over_limit(input: Input<'_>, field: &'static str, len: usize) -> DecodeError {
    let limit = input.limits.message;
    let wanted = format!("at most {limit} bytes");
    DecodeError::new("over-limit", Span::new(0, len), field, wanted, "more")
        .hint("the rest is passed over; raise the limit with --max-message")
}

#[cfg(test)]
mod tests;
