//! The common parts of the requests of a client over HTTP, and the event streams that it opens with GET.
//!
//! ```text
//!   POST hello           <-- 200, name of the session, version: later requests repeat both
//!   GET                  <-- 200 text/event-stream: messages that are in no response; 405: there are none
//!
//!   GET                  <-- event with a path: messages are posted there; all answers are events (the older transport)
//! ```
//!
//! Such a session does not depend on connections. The [`Peer`](crate::protocol::peer::Peer) sees a single one.

use crate::decoder::Decoded;
use crate::framing::{Framing, Head};
use crate::live::codec::{ConnectionConfig, EventStreams, FieldsOfRequest, head};
use crate::protocol::HttpSession;
use crate::protocol::{Direction, Protocol, Role};
use crate::tape::Node;
use std::collections::BTreeMap;

/// The connection that the peer sees.
const CONN: u32 = 1;
/// The largest number of event streams.
const MAX_STREAMS: usize = 64;

/// Returns `true` for a head or an event without a message.
fn is_control(decoded: &Decoded<'_>) -> bool {
    decoded.frame.control.is_some() || decoded.message.role == Some(Role::Control)
}

/// Returns the connection to which a message belongs for the peer of the protocol.
pub(in crate::live) fn peer_conn(protocol: &dyn Protocol, framing: Framing, conn: u32) -> u32 {
    let is_session = framing == Framing::Http && protocol.descriptor().http.is_some();
    if is_session { CONN } else { conn }
}

/// The owner of an event stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum StreamOf {
    Session,
    /// A part of the session, which a field names.
    Part(&'static str, String),
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
pub(super) struct ClientSession {
    http: HttpSession,
    events: EventStreams,
    /// The repeated fields.
    fields: Vec<(&'static str, String)>,
    /// The path of the older transport.
    path: Option<String>,
    /// The part of the session that a request named last.
    part: Option<String>,
    /// Connections with event streams.
    streams: BTreeMap<u32, StreamOf>,
    /// The stream of the whole session was opened.
    is_streaming: bool,
    /// A first message was sent.
    pub(super) is_started: bool,
}

impl ClientSession {
    /// Returns the state for a client of a protocol with such sessions.
    pub(super) fn of(config: &ConnectionConfig<'_>) -> Option<Self> {
        let is_client = config.side == Direction::ToServer && config.framing == Framing::Http;
        let http = config.protocol.descriptor().http.filter(|_| is_client)?;
        Some(Self {
            http,
            events: config.events,
            fields: Vec::new(),
            path: None,
            part: None,
            streams: BTreeMap::new(),
            is_streaming: false,
            is_started: false,
        })
    }

    /// Returns `true` if a connection has an event stream.
    pub(super) fn is_stream(&self, conn: u32) -> bool {
        self.streams.contains_key(&conn)
    }

    /// Returns `true` if answers may be events of a stream.
    pub(super) fn has_streams(&self) -> bool {
        !self.streams.is_empty()
    }

    /// Returns `true` if messages can be posted.
    pub(super) fn is_ready(&self) -> bool {
        self.events != EventStreams::First || self.path.is_some()
    }

    /// The stream of the whole session is to be opened. Returns `false` if it was opened before, or is not wanted.
    pub(super) fn start_stream(&mut self) -> bool {
        self.events != EventStreams::None && !std::mem::replace(&mut self.is_streaming, true)
    }

    /// A connection will have an event stream.
    pub(super) fn add_stream(&mut self, conn: u32, of: StreamOf) {
        self.streams.insert(conn, of);
    }

    /// A connection has ended. Returns an error if it had all answers.
    pub(super) fn remove(&mut self, conn: u32) -> Option<String> {
        self.streams.remove(&conn)?;
        let is_lost = self.events == EventStreams::First && self.streams.is_empty();
        is_lost.then(|| "the server ended the event stream, which has all answers".to_owned())
    }

    /// Returns what a request of this session has: on the connection of an event stream, GET.
    pub(super) fn request(&mut self, conn: u32, message: Option<Node<'_>>) -> FieldsOfRequest {
        let mut fields = self.fields.clone();
        let mut removed = None;
        if let Some(of) = self.streams.get(&conn) {
            if let StreamOf::Part(name, part) = of {
                fields.push((name, part.clone()));
            }
        } else if let (Some((name, member)), Some(message)) = (self.http.part, message) {
            let params = message.get("params").and_then(|params| params.get(member));
            if let Some(part) = params.and_then(Node::text) {
                self.part = Some(part.into_owned());
            }
            let is_about = params.is_some() || message.get("method").is_none();
            let part = self.part.clone().filter(|_| is_about);
            fields.extend(part.map(|part| (name, part)));
            removed = Some(name);
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
        let mut effect = Effect {
            is_internal: self.is_stream(conn) && is_control(decoded),
            ..Effect::default()
        };
        if let Head::Http { status, event, .. } = decoded.frame.head {
            if event {
                self.read_event(conn, decoded, &mut effect);
            } else if let Some(value) = head::field(decoded, self.http.name) {
                self.set(self.http.name, value);
            }
            if self.is_stream(conn) {
                let is_refused = status >= 400 && self.events == EventStreams::First;
                let why = format!("the server refuses the event stream with status {status}");
                effect.refused = is_refused.then_some(why);
            } else if matches!(status, 400 | 404 | 405) && self.falls_back() {
                self.events = EventStreams::First;
                self.is_streaming = true;
                effect.is_internal = true;
                effect.opens = Some(StreamOf::Session);
            }
        }
        let member = |name: &str| {
            let result = decoded.root()?.get("result")?;
            result.get(name)?.text().map(std::borrow::Cow::into_owned)
        };
        if let Some((name, version)) = self.http.version
            && let Some(version) = member(version)
        {
            self.set(name, version);
        }
        if let Some((name, part)) = self.http.part
            && let Some(part) = member(part)
            && self.events != EventStreams::None
            && self.streams.len() < MAX_STREAMS
        {
            effect.opens = Some(StreamOf::Part(name, part));
        }
        effect
    }

    /// Handles an event that may name the path of the older transport.
    fn read_event(&mut self, conn: u32, decoded: &Decoded<'_>, effect: &mut Effect) {
        let data = std::str::from_utf8(decoded.frame.view.body()).unwrap_or_default();
        if self.is_ready() || !self.is_stream(conn) || !is_control(decoded) {
            return;
        }
        // The frame of an event without a message is not split further.
        let data = data.strip_prefix("data:").unwrap_or(data).trim();
        let after_scheme = data.split_once("://").map(|(_, rest)| rest);
        let path = match after_scheme {
            Some(rest) => rest.find('/').and_then(|at| rest.get(at..)),
            None => Some(data).filter(|data| data.starts_with('/')),
        };
        let is_path = |path: &&str| path.bytes().all(|b| b.is_ascii_graphic());
        self.path = path.filter(is_path).map(str::to_owned);
        effect.is_ready = self.path.is_some();
    }

    /// Returns `true` if a refused first message means that the server may have the older transport.
    fn falls_back(&self) -> bool {
        self.events == EventStreams::Negotiated && self.fields.is_empty() && !self.is_streaming
    }

    fn set(&mut self, name: &'static str, value: String) {
        self.fields.retain(|(known, _)| *known != name);
        self.fields.push((name, value));
    }
}
