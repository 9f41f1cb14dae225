//! The common parts of the requests of a client over HTTP, and the event streams that it opens with GET.
//!
//! ```text
//!   POST hello           <-- 200, name of the session, version: later requests repeat both
//!   GET                  <-- 200 text/event-stream: messages that are in no response; 405: there are none
//!
//!   GET, Last-Event-ID   <-- what follows an event stream that ended early
//!   DELETE               <-- 200: the session has ended; 405, 501: it ends by itself
//!
//!   GET                  <-- event with a path: messages are posted there; all answers are events (the older transport)
//! ```
//!
//! Such a session does not depend on connections. The [`Peer`](crate::protocol::peer::Peer) sees a single one. A recording
//! may hold several sessions: each hello begins one, and a message belongs to the session whose recorded name it has.

use crate::decoder::Decoded;
use crate::framing::{EventStream, Framing, Head};
use crate::live::codec::{ConnectionConfig, EventStreams, FieldsOfRequest, head};
use crate::protocol::HttpSession;
use crate::protocol::{Direction, Id, Message, Protocol, Role};
use crate::tape::Node;
use std::collections::BTreeMap;

/// The connection that the peer sees.
const CONN: u32 = 1;
/// The largest number of sessions.
const MAX_SESSIONS: usize = 1 << 10;
/// The largest number of event streams.
const MAX_STREAMS: usize = 64;

/// The time before a stream is requested again if the server names none, in ms.
const USUAL_RETRY: i64 = 1000;
/// The longest such time, in ms.
const MAX_RETRY: i64 = 60_000;

/// Returns `true` for a head or an event without a message.
fn is_control(decoded: &Decoded<'_>) -> bool {
    decoded.frame.control.is_some() || decoded.message.role == Some(Role::Control)
}

/// Returns the path in an event without a message: in the older transport, messages are posted there.
pub(in crate::live) fn message_path(decoded: &Decoded<'_>) -> Option<String> {
    if !is_control(decoded) {
        return None;
    }
    let data = std::str::from_utf8(decoded.frame.view.body()).unwrap_or_default();
    // The frame of an event without a message is not split further.
    let data = data.strip_prefix("data:").unwrap_or(data).trim();
    let after_scheme = data.split_once("://").map(|(_, rest)| rest);
    let path = match after_scheme {
        Some(rest) => rest.find('/').and_then(|at| rest.get(at..)),
        None => Some(data).filter(|data| data.starts_with('/')),
    };
    let is_path = |path: &&str| path.bytes().all(|b| b.is_ascii_graphic());
    path.filter(is_path).map(str::to_owned)
}

/// Returns the connection to which a message belongs for the peer of the protocol.
pub(in crate::live) fn peer_conn(protocol: &dyn Protocol, framing: Framing, conn: u32) -> u32 {
    let is_session = framing == Framing::Http && protocol.descriptor().http.is_some();
    if is_session { CONN } else { conn }
}

/// The owner of an event stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum StreamOf {
    /// A session, by its number.
    Session(usize),
    /// A part of a session, which a field names.
    Part(usize, String),
}

impl StreamOf {
    /// Returns the number of the session.
    pub(super) fn session(&self) -> usize {
        match self {
            Self::Session(number) | Self::Part(number, _) => *number,
        }
    }
}

/// A session that begins.
struct NextSession {
    /// Its name in the recording, if it has one.
    recorded: Option<String>,
}

/// One session with the server.
#[derive(Default)]
struct NamedSession<'p> {
    /// Its name in the recording.
    recorded: Option<String>,
    /// The repeated fields.
    fields: Vec<(&'p str, String)>,
    /// Its stream was opened.
    is_streaming: bool,
    /// The connection on which DELETE was sent.
    deleted_on: Option<u32>,
    /// The part that a request named last.
    part: Option<String>,
}

/// An event stream that is open, or the response of one.
#[derive(Debug, Default)]
struct StreamState {
    /// Its number on the connection.
    number: u64,
    is_open: bool,
    last_id: Option<String>,
    retry: Option<i64>,
}

/// An event stream that will be continued.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Continuation {
    /// The time of the next request, in ns.
    due: i64,
    of: StreamOf,
    last_id: String,
}

/// The effect of a frame.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Effect {
    /// An event stream is to be opened.
    pub(super) opens: Option<StreamOf>,
    /// Messages can be posted from now on.
    pub(super) is_ready: bool,
    /// No message can be posted, for this reason.
    pub(super) refused: Option<String>,
    /// The frame is about an event stream only.
    pub(super) is_internal: bool,
}

/// The state of a session.
pub(super) struct ClientSession<'p> {
    http: HttpSession<'p>,
    events: EventStreams,
    /// The sessions, in the order in which they began; the first one exists from the start.
    sessions: Vec<NamedSession<'p>>,
    /// The session of the last request on each connection.
    current: BTreeMap<u32, usize>,
    /// The next message begins this session.
    next: Option<NextSession>,
    /// A session has begun so.
    has_begun: bool,
    /// The path of the older transport.
    path: Option<String>,
    /// Connections with event streams.
    streams: BTreeMap<u32, StreamOf>,
    /// The events on each connection.
    states: BTreeMap<u32, StreamState>,
    /// The id after which the stream of a connection continues.
    continued: BTreeMap<u32, String>,
    continuations: Vec<Continuation>,
    /// The connection of the last message of the opening, until its response begins.
    opening: Option<u32>,
    /// A first message was sent.
    pub(super) is_started: bool,
}

impl<'p> ClientSession<'p> {
    /// Returns the state for a client of a protocol with such sessions.
    pub(super) fn of(config: &ConnectionConfig<'p>) -> Option<Self> {
        let is_client = config.side == Direction::ToServer && config.framing == Framing::Http;
        let http = config.protocol.descriptor().http.filter(|_| is_client)?;
        Some(Self {
            http,
            events: config.events,
            sessions: vec![NamedSession::default()],
            current: BTreeMap::new(),
            next: None,
            has_begun: false,
            path: None,
            streams: BTreeMap::new(),
            states: BTreeMap::new(),
            continued: BTreeMap::new(),
            continuations: Vec::new(),
            opening: None,
            is_started: false,
        })
    }

    /// Returns `true` if a connection has an event stream.
    pub(super) fn is_stream(&self, conn: u32) -> bool {
        self.streams.contains_key(&conn)
    }

    /// Returns `true` if answers may be events of a stream.
    pub(super) fn has_streams(&self) -> bool {
        !self.streams.is_empty() || !self.continuations.is_empty()
    }

    /// Returns `true` if messages can be posted.
    pub(super) fn is_ready(&self) -> bool {
        self.events != EventStreams::First || self.path.is_some()
    }

    /// Notes a sent message: calls on other connections could overtake the one that ends the opening.
    pub(super) fn sent(&mut self, conn: u32, message: &Message<'_>, protocol: &dyn Protocol) {
        if message.role == Some(Role::Notification) && protocol.is_hello(message) {
            self.opening = Some(conn);
        }
    }

    /// Returns `true` if the last message of the opening has no response yet.
    pub(super) fn is_opening(&self) -> bool {
        self.opening.is_some()
    }

    /// Returns a session whose stream is to be opened, once for each: one that has begun, if streams are wanted.
    pub(super) fn start_stream(&mut self) -> Option<StreamOf> {
        if self.events == EventStreams::None {
            return None;
        }
        // The older transport has one stream, and no names.
        let is_first = |at: usize| at == 0 && self.sessions.len() == 1;
        let at = (self.sessions.iter().enumerate()).position(|(at, session)| {
            !session.is_streaming && (is_first(at) || !session.fields.is_empty())
        })?;
        self.sessions.get_mut(at)?.is_streaming = true;
        Some(StreamOf::Session(at))
    }

    /// Returns the session of a connection, or the one that began last.
    fn session_on(&self, conn: u32) -> usize {
        let last = self.sessions.len().saturating_sub(1);
        self.current.get(&conn).copied().unwrap_or(last)
    }

    /// The next message begins a session, which has this name in the recording.
    pub(super) fn begin(&mut self, recorded: Option<String>) {
        self.next = Some(NextSession { recorded });
    }

    /// Returns the session of a message: one that it begins, otherwise that of the name in its recorded head; and `true` if
    /// the head names no session of the recording, although these have names: the message is sent so.
    fn session_of(&mut self, head: Option<&[u8]>) -> (usize, bool) {
        if let Some(NextSession { recorded }) = self.next.take() {
            let is_other = std::mem::replace(&mut self.has_begun, true);
            if is_other && self.sessions.len() < MAX_SESSIONS {
                self.sessions.push(NamedSession::default());
            }
            let last = self.sessions.len().saturating_sub(1);
            if let Some(session) = self.sessions.get_mut(last) {
                session.recorded = recorded;
            }
            return (last, false);
        }
        let last = self.sessions.len().saturating_sub(1);
        let Some(head) = head else {
            return (last, false);
        };
        let name = head::field_of(head, self.http.name);
        let mut all = self.sessions.iter();
        let known = all.rposition(|session| session.recorded.is_some() && session.recorded == name);
        let last_is_named = (self.sessions.last()).is_some_and(|last| last.recorded.is_some());
        (known.unwrap_or(last), known.is_none() && last_is_named)
    }

    /// A connection will have an event stream.
    pub(super) fn add_stream(&mut self, conn: u32, of: StreamOf) {
        self.streams.insert(conn, of);
    }

    /// Notes the events of a connection. Returns `true` if its stream has ended, and can be continued.
    pub(super) fn note_events(&mut self, conn: u32, events: EventStream<'_>) -> bool {
        let state = self.states.entry(conn).or_default();
        if events.number > state.number {
            *state = StreamState {
                number: events.number,
                is_open: true,
                ..StreamState::default()
            };
        }
        if events.last_id.is_some() {
            state.last_id = events.last_id.map(str::to_owned);
            state.retry = events.retry;
        }
        let has_ended = std::mem::replace(&mut state.is_open, events.is_open) && !events.is_open;
        has_ended && state.last_id.is_some() && self.events != EventStreams::First
    }

    /// Continues the stream of a connection later. A stream of its own answers whatever the old one would have.
    pub(super) fn continue_later(&mut self, conn: u32, now: i64) {
        let session = self.session_on(conn);
        let of = self
            .streams
            .remove(&conn)
            .unwrap_or(StreamOf::Session(session));
        self.continued.remove(&conn);
        let Some(StreamState {
            last_id: Some(last_id),
            retry,
            ..
        }) = self.states.remove(&conn)
        else {
            return;
        };
        let session = self.sessions.get(of.session());
        if session.is_some_and(|one| one.deleted_on.is_some())
            || self.continuations.len() >= MAX_STREAMS
        {
            return;
        }
        let wait = retry.unwrap_or(USUAL_RETRY).min(MAX_RETRY) * 1_000_000;
        let due = now.saturating_add(wait);
        self.continuations.push(Continuation { due, of, last_id });
    }

    /// The time at which a stream is to be continued, in ns.
    pub(super) fn due(&self) -> Option<i64> {
        self.continuations.iter().map(|one| one.due).min()
    }

    /// Returns a stream that is to be continued now, and the id after which it continues.
    pub(super) fn next_due(&mut self, now: i64) -> Option<(StreamOf, String)> {
        let at = self.continuations.iter().position(|one| one.due <= now)?;
        let one = self.continuations.swap_remove(at);
        Some((one.of, one.last_id))
    }

    /// A connection will have the continuation of an event stream.
    pub(super) fn continue_on(&mut self, conn: u32, of: StreamOf, last_id: String) {
        self.continued.insert(conn, last_id);
        self.add_stream(conn, of);
    }

    /// A session that has a name and is not deleted is to be deleted on this connection: the one with this name in the
    /// recording, if it is given. Returns `false` if there is none.
    pub(super) fn start_deletion(&mut self, conn: u32, recorded: Option<&str>) -> bool {
        let name = self.http.name;
        let is_named = |one: &NamedSession<'_>| one.fields.iter().any(|(known, _)| *known == name);
        let is_meant = |one: &NamedSession<'_>| {
            recorded.is_none_or(|name| one.recorded.as_deref() == Some(name))
                && is_named(one)
                && one.deleted_on.is_none()
        };
        let mut all = self.sessions.iter_mut().enumerate();
        let Some((at, session)) = all.find(|(_, one)| is_meant(one)) else {
            return false;
        };
        session.deleted_on = Some(conn);
        self.current.insert(conn, at);
        true
    }

    /// A connection has ended. Returns an error if it had all answers.
    pub(super) fn remove(&mut self, conn: u32) -> Option<String> {
        self.states.remove(&conn);
        self.current.remove(&conn);
        self.opening.take_if(|opening| *opening == conn);
        self.continued.remove(&conn);
        self.streams.remove(&conn)?;
        let is_lost = self.events == EventStreams::First && self.streams.is_empty();
        is_lost.then(|| "the server ended the event stream, which has all answers".to_owned())
    }

    /// Returns what a request without a message has: GET on the connection of an event stream, otherwise DELETE.
    pub(super) fn request_without_message(&mut self, conn: u32) -> FieldsOfRequest<'p> {
        let number = match self.streams.get(&conn) {
            Some(of) => of.session(),
            None => self.session_on(conn),
        };
        self.request(conn, number, None)
    }

    /// Returns what the request for a message has.
    pub(super) fn request_for(
        &mut self,
        conn: u32,
        message: Node<'_>,
        head: Option<&[u8]>,
    ) -> FieldsOfRequest<'p> {
        let is_first = self.next.is_some() && self.has_begun;
        let (number, is_foreign) = self.session_of(head);
        self.current.insert(conn, number);
        let mut request = self.request(conn, number, Some(message));
        request
            .fields
            .retain(|(name, _)| !is_foreign || *name != self.http.name);
        // A message that begins another session has no name.
        request.removed.extend(is_first.then_some(self.http.name));
        request
    }

    fn request(
        &mut self,
        conn: u32,
        number: usize,
        message: Option<Node<'_>>,
    ) -> FieldsOfRequest<'p> {
        let Some(session) = self.sessions.get_mut(number) else {
            return FieldsOfRequest::default();
        };
        let mut fields = session.fields.clone();
        let mut removed = Vec::new();
        if let Some(of) = self.streams.get(&conn) {
            if let (StreamOf::Part(_, part), Some((name, _))) = (of, self.http.part) {
                fields.push((name, part.clone()));
            }
            let last_id = self.continued.get(&conn);
            fields.extend(last_id.map(|id| ("last-event-id", id.clone())));
        } else if let (Some((name, member)), Some(message)) = (self.http.part, message) {
            let params = message.get("params").and_then(|params| params.get(member));
            if let Some(part) = params.and_then(Node::text) {
                session.part = Some(part.into_owned());
            }
            let is_about = params.is_some() || message.get("method").is_none();
            let part = session.part.clone().filter(|_| is_about);
            fields.extend(part.map(|part| (name, part)));
            removed.push(name);
        }
        let path = self.path.clone().filter(|_| !self.is_stream(conn));
        FieldsOfRequest {
            path,
            fields,
            removed,
        }
    }

    /// Handles a frame of the server.
    pub(super) fn received(&mut self, conn: u32, decoded: &Decoded<'_>) -> Effect {
        self.opening.take_if(|opening| *opening == conn);
        let mut effect = Effect {
            is_internal: self.is_stream(conn) && is_control(decoded),
            ..Effect::default()
        };
        let number = match self.streams.get(&conn) {
            Some(of) => of.session(),
            None => self.session_on(conn),
        };
        if let Head::Http { status, event, .. } = decoded.frame.head {
            if event {
                self.read_event(conn, decoded, &mut effect);
            } else if let Some(value) = head::field(decoded, self.http.name)
                && status < 300
            {
                self.set(number, self.http.name, value);
            }
            // A server need not let clients end sessions.
            let is_deletion = |one: &NamedSession<'_>| one.deleted_on == Some(conn);
            let is_deletion = self.sessions.get(number).is_some_and(is_deletion);
            if is_deletion && !event && matches!(status, 405 | 501) {
                effect.is_internal = true;
            }
            if self.is_stream(conn) {
                let is_refused = status >= 400 && self.events == EventStreams::First;
                let why = format!("the server refuses the event stream with status {status}");
                effect.refused = is_refused.then_some(why);
            } else if matches!(status, 400 | 404 | 405)
                && decoded.message.id == Id::None
                && self.falls_back()
            {
                self.events = EventStreams::First;
                if let Some(session) = self.sessions.get_mut(number) {
                    session.is_streaming = true;
                }
                effect.is_internal = true;
                effect.opens = Some(StreamOf::Session(number));
            }
        }
        let member = |name: &str| {
            let result = decoded.root()?.get("result")?;
            result.get(name)?.text().map(std::borrow::Cow::into_owned)
        };
        if let Some((name, version)) = self.http.version
            && let Some(version) = member(version)
        {
            self.set(number, name, version);
        }
        if let Some((_, part)) = self.http.part
            && let Some(part) = member(part)
            && self.events != EventStreams::None
            && self.streams.len() < MAX_STREAMS
        {
            effect.opens = Some(StreamOf::Part(number, part));
        }
        effect
    }

    /// Handles an event that may name the path of the older transport.
    fn read_event(&mut self, conn: u32, decoded: &Decoded<'_>, effect: &mut Effect) {
        if self.is_ready() || !self.is_stream(conn) {
            return;
        }
        self.path = message_path(decoded);
        effect.is_ready = self.path.is_some();
    }

    /// Returns `true` if a refused first message means that the server may have the older transport.
    fn falls_back(&self) -> bool {
        let is_new = |one: &NamedSession<'_>| one.fields.is_empty() && !one.is_streaming;
        self.events == EventStreams::Negotiated && self.sessions.iter().all(is_new)
    }

    fn set(&mut self, number: usize, name: &'p str, value: String) {
        if let Some(session) = self.sessions.get_mut(number) {
            session.fields.retain(|(known, _)| *known != name);
            session.fields.push((name, value));
        }
    }
}
