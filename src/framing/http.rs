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

mod asked;
mod body;
mod chunked;
mod events;
mod give;
mod head;
mod lost;
mod stream;
mod write;

use super::assembly::Assembly;
use super::fields::fields;
use super::websocket::WebSocket;
use super::{Fault, Input, Step};
use crate::error::DecodeError;
use crate::span::Span;
use asked::{Asked, Method};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
pub(crate) use chunked::{Bit, Source};
use events::Lines;
use give::{Give, over_limit, passed_over};
use head::{Body, Dry, Head, Look, Search};
use lost::{Found, Lost};
use sha1_smol::Sha1;
use stream::Events;
pub(super) use write::{describe, response, write};

/// RFC 6455 section 1.3.
const GUID: &str = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
/// Most bytes of start line and fields.
const MAX_HEAD: usize = 1 << 20;
/// Most fields of a head.
const MAX_FIELDS: usize = 128;
/// Start lines that are tried before one empty line: where so many come to nothing, none does.
const TRIES: u32 = 16;

/// What is remembered between steps.
#[derive(Default)]
pub(super) struct Http {
    state: State,
    /// A request asked for WebSocket; whether it was granted the other direction knows.
    asked: bool,
    /// A tunnel was asked for, or granted.
    tunnel: bool,
    /// The connection's requests: as read here, or as heard of from the other direction.
    requests: Asked,
    dry: Dry,
    /// Where the head ends that was refused last, and how often one that ends there was.
    refused: (u64, u32),
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
    /// Bytes are missing amid the chunks of events with this status; so much was searched for the next chunk.
    Resume(u16, usize),
    /// The rest of a body over the limit.
    Skip(Source),
    /// No HTTP; what to say of it.
    Lost(Lost, Option<DecodeError>),
    WebSocket,
    /// Somebody else's bytes, up to the end.
    Tunnel,
}

impl Default for State {
    fn default() -> Self {
        Self::Start(Search::default())
    }
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

impl Http {
    pub(super) fn next<'a>(&'a mut self, input: Input<'a>) -> Step<'a> {
        loop {
            let act = match &mut self.state {
                State::Start(_) => self.start(input),
                State::Body(..) => self.body(input),
                State::Events(_) => self.events(input),
                State::Resume(..) => self.resume(input),
                State::Skip(_) => self.skip(input),
                State::Lost(..) => self.lost(input),
                State::WebSocket => Act::WebSocket,
                State::Tunnel => took(input.window.len()),
            };
            return match act {
                Act::Again => continue,
                Act::Incomplete(missing) => Step::Incomplete(missing),
                Act::Took(n) => Step::Took(n),
                Act::Give(give) => self.give(input, give),
                Act::Lost(n, fault) => {
                    self.requests.lose();
                    passed_over(input, n, fault)
                }
                Act::WebSocket => self.websocket.next(input),
            };
        }
    }

    /// Hears what the connection's requests say of the responses here.
    pub(super) fn hear(&mut self, asking: &mut Self) {
        self.requests.hear(&mut asking.requests);
    }

    /// Bytes are missing: looks for the next start line, frame or event.
    pub(super) fn seek(&mut self) {
        self.requests.lose();
        self.body.clear();
        let websocket = self.asked || self.is_upgraded();
        match &mut self.state {
            State::Tunnel => {}
            State::Events(events) => {
                events.lines = Lines::new();
                if matches!(events.source, Source::Chunked(_)) {
                    self.state = State::Resume(events.status, 0);
                }
            }
            _ if websocket => {
                self.state = State::WebSocket;
                self.websocket.seek();
            }
            _ => self.state = State::Lost(Lost::new(0), None),
        }
    }

    /// Whether what comes is no message, as far as anybody can tell.
    pub(super) fn is_lost(&self) -> bool {
        matches!(self.state, State::Lost(..) | State::Tunnel)
    }

    /// Whether a message, or a frame after an upgrade, begins at the start of the window.
    pub(super) fn is_between(&self) -> bool {
        match self.state {
            State::Start(_) => !self.asked && !self.tunnel,
            // Nothing of it was given out yet.
            State::Body(..) | State::Lost(_, Some(_)) => true,
            State::WebSocket => self.websocket.is_between(),
            State::Events(_)
            | State::Resume(..)
            | State::Skip(_)
            | State::Lost(_, None)
            | State::Tunnel => false,
        }
    }

    /// Whether an upgrade was granted, so that no HTTP follows.
    pub(super) fn is_upgraded(&self) -> bool {
        matches!(self.state, State::WebSocket)
    }

    /// Where a message of several frames begins that is not complete.
    pub(super) fn begun(&self) -> Option<u64> {
        match self.state {
            State::WebSocket => self.websocket.begun(),
            _ => None,
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
        if self.tunnel && !b"GPHDOTC".contains(first) {
            return self.go(State::Tunnel);
        }
        match preface(window) {
            Some(true) => {
                let fault = input.fault(0, head::no_start(window));
                self.state = State::Lost(Lost::new(0), None);
                return Act::Lost(PREFACE.len(), Some(fault));
            }
            Some(false) => {}
            None if eof => {}
            None => return Act::Incomplete(None),
        }
        // No WebSocket frame begins like a method that could come instead.
        if self.asked && !b"GPHDOTC".contains(first) {
            return self.go(State::WebSocket);
        }
        // RFC 9112 section 2.2: "a server [...] SHOULD ignore at least one empty line (CRLF) received prior to the
        // request-line".
        let blank = window.iter().take_while(|b| matches!(b, b'\r' | b'\n'));
        match (
            blank.count(),
            search.look(window, input.base, &mut self.dry),
        ) {
            (n @ 1.., _) => {
                *search = Search::default();
                Act::Took(n)
            }
            (_, Look::No(error)) => self.go(State::Lost(Lost::new(1), Some(error))),
            (_, Look::More) if eof => self.half_head(input),
            (_, Look::More) => Act::Incomplete(None),
            (_, Look::Head(len, line)) => {
                #[cfg(test)]
                {
                    self.dry.looked += len as u64;
                }
                match Head::read(window.get(..len).unwrap_or_default(), line) {
                    Ok(head) => self.head(input, head),
                    Err(error) => {
                        let from = self.retry(input.base, len);
                        self.go(State::Lost(Lost::new(from), Some(error)))
                    }
                }
            }
        }
    }

    /// A head of so many bytes was refused: from where on a start line may be tried instead.
    fn retry(&mut self, base: u64, len: usize) -> usize {
        let end = base + len as u64;
        let times = match self.refused {
            (last, times) if last == end => times + 1,
            _ => 1,
        };
        self.refused = (end, times);
        if times < TRIES { 1 } else { len }
    }

    /// A head was read: with a body it waits for that, otherwise it is given out.
    fn head(&mut self, input: Input<'_>, mut head: Head) -> Act {
        let end = input.base + head.len as u64;
        let bytes = input.window.get(..head.len).unwrap_or_default();
        if head.request {
            self.requests.note(bytes);
            if head.upgrade {
                self.requests.ask(field(bytes, "sec-websocket-key"));
            }
        } else {
            if head.upgrade
                && let Some(wanted) = self.requests.accept()
            {
                let got = field(bytes, "sec-websocket-accept");
                head.fault = head.fault.or(not_accepted(head.len, wanted, got));
            }
            match self.requests.answer(head.status) {
                Some(Method::Head) => head.no_body(),
                Some(Method::Connect) if matches!(head.status, 200..=299) => {
                    head.no_body();
                    head.tunnel = true;
                }
                _ => {}
            }
        }
        self.asked |= head.upgrade && head.request;
        self.tunnel |= head.tunnel;
        self.body.clear();
        if let (Body::Is(source), false) = (head.body, head.events) {
            return self.go(State::Body(Box::new(head), source, end));
        }
        let mut give = Give::message(input, &head, end);
        give.control = Some(head.kind());
        give.fault = head.fault.take().map(|e| input.fault(0, e));
        self.state = match head.body {
            Body::Is(source) => State::Events(Box::new(Events {
                status: head.status,
                source,
                at: end,
                lines: Lines::new(),
            })),
            Body::Unknown => State::Lost(Lost::new(0), None),
            Body::None if head.upgrade && !head.request => State::WebSocket,
            Body::None => State::default(),
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
                    None => Some(format!("no start line in these {n} bytes")),
                };
                let error = match hint {
                    Some(hint) => error.hint(hint),
                    None => error,
                };
                Act::Lost(n, Some(input.fault(0, error)))
            }
        }
    }
}

/// The value of a head's field, where it is text.
fn field<'a>(head: &'a [u8], name: &str) -> Option<&'a str> {
    let found = fields(head).find(|field| field.is(name))?;
    std::str::from_utf8(head.get(found.value)?).ok()
}

/// What a server answers to the key of a request for WebSocket.
pub(crate) fn accept(key: &str) -> String {
    let digest = Sha1::from(format!("{key}{GUID}")).digest();
    BASE64.encode(digest.bytes())
}

/// RFC 6455 section 4.1: with any other value, "the client MUST _Fail the WebSocket Connection_".
fn not_accepted(len: usize, wanted: String, got: Option<&str>) -> Option<DecodeError> {
    if got == Some(&wanted) {
        return None;
    }
    let got = got.map_or("none".into(), |got| format!("\"{}\"", got.escape_debug()));
    let span = Span::new(0, len);
    let error = DecodeError::new("bad-websocket", span, "Sec-WebSocket-Accept", wanted, got);
    Some(error.hint("it does not follow from the request's key: a client ends the connection"))
}

/// RFC 9113 section 3.4: what a client of HTTP/2 says first.
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// Whether the window begins with it; `None` where more bytes would tell.
fn preface(window: &[u8]) -> Option<bool> {
    let seen = window.get(..PREFACE.len()).unwrap_or(window);
    match PREFACE.starts_with(seen) {
        // `P` and `PR` also begin what HTTP/1.1 has.
        true if seen.len() < PREFACE.len() => (seen.len() < 3).then_some(false),
        same => Some(same),
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

#[cfg(test)]
mod tests;
