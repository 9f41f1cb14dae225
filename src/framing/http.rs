//! HTTP/1.1 exchanges, server-sent events, and WebSocket after an upgrade.
//!
//! ```text
//!   POST / HTTP/1.1 CR LF content-length: 46 CR LF CR LF {"jsonrpc":"2.0",...}
//!   '- start line -'                                     '- body ------------'
//!   '- head -------------------------------------------'
//!   '- one frame -------------------------------------------------------------'
//!
//!   HTTP/1.1 200 OK ... text/event-stream ... CR LF CR LF   a3 CR LF data: {...} LF LF CR LF  0 CR LF CR LF
//!   '- a separate frame --------------------------------'            '- a frame -----'
//! ```
//!
//! RFC 9112 section 6.3 decides the end of a body, in [`head`]; [`chunked`] finds the bytes of the
//! body, [`events`] the data of an event in it, and [`resync`] skips bytes that are not HTTP.

mod body;
mod chunked;
mod emit;
mod events;
pub(super) mod head;
mod inflate;
mod packed;
mod requests;
mod resync;
mod stream;
mod write;

use super::assembly::Assembly;
use super::backlog::release;
use super::fields::fields;
use super::state::FramerState;
use super::websocket::WebSocketFraming;
use super::{Buffer, Fault, Step};
use crate::error::DecodeError;
use crate::span::Span;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
pub(crate) use chunked::{BodyDelimiter, BodyPart};
use emit::{FrameParts, over_limit, skipped_frame};
use events::{EventFields, EventLines};
use head::{BodyPresence, HttpHead, PREFACE, Search, SearchMemo, StartLine, preface};
use packed::PackedEvents;
use requests::{PendingRequests, RequestMethod};
use resync::{HttpResync, ResyncResult};
use sha1_smol::Sha1;
pub(crate) use stream::EventStream;
use stream::Events;
pub(super) use write::{describe, response, write};

/// RFC 6455 section 1.3.
const GUID: &str = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
/// The maximum length of start line and fields.
pub(crate) const MAX_HEAD: usize = 1 << 20;
/// The maximum number of fields of a head.
const MAX_FIELDS: usize = 128;
/// The maximum number of start lines that are tried before one empty line.
const MAX_TRIES: u32 = 16;

/// The state between steps.
#[derive(Default)]
pub(super) struct HttpFraming {
    state: HttpState,
    /// A request asks for WebSocket; only the other direction knows the answer.
    asked: bool,
    /// A request asks for a tunnel, or a response grants one.
    tunnel: bool,
    /// The requests of the connection, read here or taken over from the other direction.
    requests: PendingRequests,
    memo: SearchMemo,
    /// The end of the last refused head, and the number of refused heads with this end.
    refused: (u64, u32),
    /// The body of the current message or event.
    body: Assembly,
    event_fields: EventFields,
    /// The body after inflation.
    inflated: Vec<u8>,
    websocket: WebSocketFraming,
}

enum HttpState {
    /// At the start of a message.
    Start(Search),
    /// The head, at the start of the window, is read; the body is read up to this stream offset.
    Body(Box<HttpHead>, BodyDelimiter, u64),
    Events(Box<Events>),
    PackedEvents(Box<PackedEvents>),
    /// Bytes are missing between the chunks of events with this status; this many bytes were
    /// searched for the next chunk.
    Resume(u16, usize),
    /// The rest of a body over the limit.
    Skip(BodyDelimiter),
    /// Not HTTP; the error to report.
    Resync(HttpResync, Option<DecodeError>),
    WebSocket,
    /// Bytes of another protocol, up to the end.
    Tunnel,
}

impl Default for HttpState {
    fn default() -> Self {
        Self::Start(Search::default())
    }
}

/// The next action. It is decided while the state is borrowed and performed afterwards.
enum HttpAction {
    /// Look again, in the new state.
    Again,
    Incomplete(Option<u64>),
    Took(usize),
    Emit(FrameParts),
    /// This many bytes are not HTTP.
    Skipped(usize, Option<Fault>),
    WebSocket,
}

/// The reason why a body, or an event, ends.
enum BodyEnd {
    Whole,
    /// The stream ends first; for an event, the body.
    Cut,
    /// The limit is exceeded.
    Over,
    /// The chunks are malformed.
    Bad(DecodeError),
}

impl HttpFraming {
    pub(super) fn next<'a>(&'a mut self, input: Buffer<'a>) -> Step<'a> {
        loop {
            let act = match &mut self.state {
                HttpState::Start(_) => self.start(input),
                HttpState::Body(..) => self.body(input),
                HttpState::Events(_) => self.events(input),
                HttpState::PackedEvents(_) => self.packed_events(input),
                HttpState::Resume(..) => self.resume(input),
                HttpState::Skip(_) => self.skip(input),
                HttpState::Resync(..) => self.resync(input),
                HttpState::WebSocket => HttpAction::WebSocket,
                HttpState::Tunnel => took(input.window.len()),
            };
            return match act {
                HttpAction::Again => continue,
                HttpAction::Incomplete(missing) => Step::Incomplete(missing),
                HttpAction::Took(n) => Step::Took(n),
                HttpAction::Emit(parts) => self.emit(input, parts),
                HttpAction::Skipped(n, fault) => {
                    self.requests.invalidate();
                    skipped_frame(input, n, fault)
                }
                HttpAction::WebSocket => self.websocket.next(input),
            };
        }
    }

    /// Takes over the requests of the other direction.
    pub(super) fn observe_requests(&mut self, asking: &mut Self) {
        self.requests.observe_requests(&mut asking.requests);
    }

    /// Handles missing bytes: searches for the next start line, frame or event.
    pub(super) fn seek(&mut self) {
        self.requests.invalidate();
        self.body.clear();
        let websocket = self.asked || self.is_upgraded();
        match &mut self.state {
            HttpState::Tunnel => {}
            HttpState::Events(events) => {
                events.lines = EventLines::new();
                if matches!(events.source, BodyDelimiter::Chunked(_)) {
                    self.state = HttpState::Resume(events.status, 0);
                }
            }
            _ if websocket => {
                self.state = HttpState::WebSocket;
                self.websocket.seek();
            }
            _ => self.state = HttpState::Resync(HttpResync::after_gap(), None),
        }
    }

    /// Returns `true` while the bytes are no messages.
    pub(super) fn is_skipping(&self) -> bool {
        matches!(self.state, HttpState::Resync(..) | HttpState::Tunnel)
    }

    /// Returns `true` if a message, or a frame after an upgrade, starts at the start of the window.
    pub(super) fn is_between(&self) -> bool {
        match self.state {
            HttpState::Start(_) => !self.asked && !self.tunnel,
            // No byte of it was emitted yet.
            HttpState::Body(..) | HttpState::Resync(_, Some(_)) => true,
            HttpState::WebSocket => self.websocket.is_between(),
            HttpState::Events(_)
            | HttpState::PackedEvents(_)
            | HttpState::Resume(..)
            | HttpState::Skip(_)
            | HttpState::Resync(_, None)
            | HttpState::Tunnel => false,
        }
    }

    /// Returns the state between two messages, or two frames after an upgrade, if it is a few bytes.
    pub(super) fn state(&self) -> Option<FramerState> {
        let is_plain = !self.tunnel && self.event_fields.number == 0;
        match &self.state {
            HttpState::Start(search) if is_plain && search.is_new() => {
                self.requests.state(self.asked)
            }
            HttpState::WebSocket if is_plain => self.websocket.state(),
            _ => None,
        }
    }

    /// Returns the state for a new framer that reads the current message from its start.
    #[cfg(feature = "cli")]
    pub(super) fn restart_state(&self) -> Option<FramerState> {
        match &self.state {
            HttpState::WebSocket => self.websocket.restart_state(),
            _ => self.requests.state(self.asked).or(Some(FramerState::New)),
        }
    }

    /// Continues between two messages, or two frames after an upgrade.
    pub(super) fn set_state(&mut self, state: FramerState) {
        if let FramerState::Http { asked, .. } = state {
            self.asked = asked;
        }
        if let FramerState::WebSocket(_) = state {
            self.state = HttpState::WebSocket;
        }
        self.requests.set_state(state);
        self.websocket.set_state(state);
    }

    /// Returns `true` if an upgrade was granted, so that no HTTP follows.
    pub(super) fn is_upgraded(&self) -> bool {
        matches!(self.state, HttpState::WebSocket)
    }

    /// Returns the offset of a message of several frames that is not complete.
    pub(super) fn pending_start(&self) -> Option<u64> {
        match self.state {
            HttpState::WebSocket => self.websocket.pending_start(),
            _ => None,
        }
    }

    fn enter(&mut self, state: HttpState) -> HttpAction {
        self.state = state;
        HttpAction::Again
    }

    /// Handles the start of a message.
    fn start(&mut self, input: Buffer<'_>) -> HttpAction {
        let HttpState::Start(search) = &mut self.state else {
            return HttpAction::Again;
        };
        let Buffer { window, eof, .. } = input;
        let Some(first) = window.first() else {
            self.body.release();
            release(&mut self.inflated);
            return HttpAction::Incomplete(None);
        };
        if self.tunnel && !b"GPHDOTC".contains(first) {
            return self.enter(HttpState::Tunnel);
        }
        match preface(window) {
            Some(true) => {
                let fault = input.fault(0, head::not_http(window));
                self.state = HttpState::Resync(HttpResync::new(0), None);
                return HttpAction::Skipped(PREFACE.len(), Some(fault));
            }
            Some(false) => {}
            None if eof => {}
            None => return HttpAction::Incomplete(None),
        }
        // No WebSocket frame starts like a method that could follow instead.
        if self.asked && !b"GPHDOTC".contains(first) {
            return self.enter(HttpState::WebSocket);
        }
        // RFC 9112 section 2.2: "a server [...] SHOULD ignore at least one empty line (CRLF) received prior to the
        // request-line".
        let blank = window.iter().take_while(|b| matches!(b, b'\r' | b'\n'));
        match (
            blank.count(),
            search.look(window, input.base, &mut self.memo),
        ) {
            (n @ 1.., _) => {
                *search = Search::default();
                HttpAction::Took(n)
            }
            (_, StartLine::No(error)) => {
                self.enter(HttpState::Resync(HttpResync::new(1), Some(error)))
            }
            (_, StartLine::More) if eof => self.partial_head(input),
            (_, StartLine::More) => HttpAction::Incomplete(None),
            (_, StartLine::Head(len, line)) => {
                #[cfg(test)]
                {
                    self.memo.looked += len as u64;
                }
                match HttpHead::read(window.get(..len).unwrap_or_default(), line) {
                    Ok(head) => self.head(input, head),
                    Err(error) => {
                        let from = self.retry(input.base, len);
                        self.enter(HttpState::Resync(HttpResync::new(from), Some(error)))
                    }
                }
            }
        }
    }

    /// Returns the position from which a start line is tried after a head of `len` bytes was
    /// refused.
    fn retry(&mut self, base: u64, len: usize) -> usize {
        let end = base + len as u64;
        let times = match self.refused {
            (last, times) if last == end => times + 1,
            _ => 1,
        };
        self.refused = (end, times);
        if times < MAX_TRIES { 1 } else { len }
    }

    /// Handles a complete head: with a body it waits for that, otherwise it is emitted.
    fn head(&mut self, input: Buffer<'_>, mut head: HttpHead) -> HttpAction {
        let end = input.base + head.len as u64;
        let bytes = input.window.get(..head.len).unwrap_or_default();
        if head.request {
            self.requests.record(bytes);
            if head.upgrade {
                self.requests
                    .record_upgrade(field(bytes, "sec-websocket-key"));
            }
        } else {
            if head.upgrade
                && let Some(wanted) = self.requests.expected_accept()
            {
                let got = field(bytes, "sec-websocket-accept");
                head.fault = head.fault.or(not_accepted(head.len, wanted, got));
            }
            match self.requests.answer(head.status) {
                Some(RequestMethod::Head) => head.remove_body(),
                Some(RequestMethod::Connect) if matches!(head.status, 200..=299) => {
                    head.remove_body();
                    head.tunnel = true;
                }
                _ => {}
            }
        }
        self.asked |= head.upgrade && head.request;
        self.tunnel |= head.tunnel;
        self.body.clear();
        if let (BodyPresence::Is(source), false) = (head.body, head.events) {
            return self.enter(HttpState::Body(Box::new(head), source, end));
        }
        let mut parts = FrameParts::message(input, &head, end);
        parts.control = Some(head.kind());
        parts.fault = head.fault.take().map(|e| input.fault(0, e));
        self.state = match head.body {
            BodyPresence::Is(source) => {
                self.event_fields.restart();
                HttpState::Events(Box::new(Events {
                    status: head.status,
                    source,
                    at: end,
                    lines: EventLines::new(),
                }))
            }
            BodyPresence::Unknown => HttpState::Resync(HttpResync::new(0), None),
            BodyPresence::None if head.upgrade && !head.request => HttpState::WebSocket,
            BodyPresence::None => HttpState::default(),
        };
        HttpAction::Emit(parts)
    }

    /// Emits the head that the end of the stream cuts off.
    fn partial_head(&mut self, input: Buffer<'_>) -> HttpAction {
        let HttpState::Start(search) = std::mem::take(&mut self.state) else {
            return HttpAction::Again;
        };
        let window = input.window;
        let head = HttpHead {
            start: search.start(),
            ..HttpHead::partial(window)
        };
        self.body.clear();
        let mut parts = FrameParts::message(input, &head, input.base + window.len() as u64);
        parts.control = Some(head.kind());
        let wanted = "an empty line after the fields".into();
        parts.fault = Some(input.truncated("head", wanted, window.len()));
        HttpAction::Emit(parts)
    }

    /// Skips bytes that are not HTTP.
    fn resync(&mut self, input: Buffer<'_>) -> HttpAction {
        let HttpState::Resync(lost, error) = &mut self.state else {
            return HttpAction::Again;
        };
        if input.window.is_empty() {
            return HttpAction::Incomplete(None);
        }
        let (n, found) = match lost.next(input) {
            ResyncResult::More => return HttpAction::Incomplete(None),
            ResyncResult::Events(at) => return self.continue_events(input, at),
            ResyncResult::WebSocket(at) => {
                self.state = HttpState::WebSocket;
                return match at {
                    0 => HttpAction::Again,
                    at => HttpAction::Skipped(at, None),
                };
            }
            ResyncResult::Run(n, found) => (n, found),
        };
        let next = lost.restart();
        let error = error.take();
        self.state = HttpState::Resync(next, None);
        if found {
            self.state = HttpState::default();
        }
        match error {
            None if n == 0 => HttpAction::Again,
            None => HttpAction::Skipped(n, None),
            Some(error) => {
                let hint = match error.hint {
                    Some(_) => None,
                    None if found => {
                        Some(format!("{n} bytes are skipped; a start line follows them"))
                    }
                    None => Some(format!("no start line in these {n} bytes")),
                };
                let error = match hint {
                    Some(hint) => error.hint(hint),
                    None => error,
                };
                HttpAction::Skipped(n, Some(input.fault(0, error)))
            }
        }
    }
}

/// Returns the value of a field, if it is text.
fn field<'a>(head: &'a [u8], name: &str) -> Option<&'a str> {
    let found = fields(head).find(|field| field.is(name))?;
    std::str::from_utf8(head.get(found.value)?).ok()
}

/// Computes `Sec-WebSocket-Accept` for the key of an upgrade request.
pub(crate) fn websocket_accept(key: &str) -> String {
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
    Some(error.hint("it does not match the request's key: a client closes the connection"))
}

/// Returns the limit of a body, and the limit of its bytes in the stream with the framing between
/// them.
fn bounds(input: Buffer<'_>) -> (usize, usize) {
    let limit = (input.limits.message as usize).min(1 << 31);
    (limit, limit + limit / 4 + (64 << 10))
}

/// Returns the window from a position on.
fn window_from(window: &[u8], at: u64) -> &[u8] {
    window.get(at as usize..).unwrap_or_default()
}

fn took(n: usize) -> HttpAction {
    match n {
        0 => HttpAction::Incomplete(None),
        n => HttpAction::Took(n),
    }
}

#[cfg(test)]
mod tests;
