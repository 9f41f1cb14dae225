//! Sessions over HTTP: a field of each head, or a part of its path, names the session.
//!
//! ```text
//!   POST initialize -> 200, Mcp-Session-Id: a session; later requests repeat it, on any connection
//!   DELETE -> 200: the session has ended, and later requests are answered with 404
//!   GET -> event `endpoint` with ?sessionId=…: messages are posted there, and all answers are events
//! ```

use super::extension::{Extension, SentRequest, SessionField};
use super::posts::Posts;
use crate::framing::Head;
use crate::protocol::Role;
use crate::protocol::exchange::OpenRequest;
use crate::protocol::exchange::pairs::PairKey;
use crate::protocol::rule_names::rpc as rule;
use crate::protocol::session::memory::{ConnId, Connections, PerDirection, RecentEntries};
use crate::protocol::session::stored::stored;
use crate::protocol::session::text::short;
use crate::protocol::session::{Current, Report, Seen, Severity, broken, http};
use std::sync::Arc;

/// The largest number of open connections.
pub(super) const MAX_CONNECTIONS: usize = 1 << 12;
/// The number of stored connections that ended.
pub(super) const MAX_ENDED: usize = 1 << 8;

/// A connection.
#[derive(Default)]
#[allow(clippy::struct_excessive_bools)] // each is a fact of its own
pub(super) struct Connection {
    pub(super) http: bool,
    pub(super) posts: Posts<Post>,
    /// The index of the request whose answer is the current event stream.
    pub(super) streamed: Option<u64>,
    /// The request of the last response has no message.
    pub(super) is_unasked: bool,
    /// The current event stream goes on with an earlier one, or has the answers to all requests of its session.
    pub(super) is_shared: bool,
    /// The current event stream goes on with an earlier one.
    pub(super) resumes: bool,
    /// The direction of the server ended.
    pub(super) server_left: bool,
    /// A missing version was reported, for each direction.
    pub(super) lacks_version: PerDirection<bool>,
}

/// The content of an HTTP request.
#[derive(Default)]
pub(super) enum Post {
    /// No message, or an unreadable one.
    #[default]
    Nothing,
    /// The key of a request, its index, and `true` if its answer is an event of another stream.
    Request(PairKey, u64, bool),
    Notification(OpenRequest),
}

/// The owner of a session.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum SessionKey {
    Connection(ConnId),
    /// The name that the server gave; empty if a request has none.
    Named(Arc<str>),
}

/// A session.
#[derive(Default)]
struct State<E> {
    own: E,
    /// Its end was handled.
    is_ended: bool,
    /// The index of the request that deleted it.
    deleted: Option<u64>,
}

/// The exchanges of a connection.
#[derive(Default)]
struct Exchanges {
    /// The name of the session, or an empty text if the last request had none.
    name: Option<Arc<str>>,
    /// The last request deletes the session; its index.
    deletes: Option<u64>,
}

/// All sessions of a conversation.
pub(super) struct Sessions<E> {
    states: RecentEntries<SessionKey, State<E>>,
    connections: Connections<Exchanges>,
    /// The server names sessions.
    gives_names: bool,
}

impl<E: Extension> Sessions<E> {
    pub(super) fn new() -> Self {
        Self {
            states: RecentEntries::default(),
            connections: Connections::with_capacity(MAX_CONNECTIONS, MAX_ENDED),
            gives_names: false,
        }
    }

    /// Returns the name of the session in the last exchange of a connection: empty if the request had none.
    pub(super) fn name(&self, conn: ConnId) -> Option<&str> {
        self.connections.get(conn)?.name.as_deref()
    }

    /// Returns the name of the session of a connection, if it has one.
    pub(super) fn session(&self, conn: ConnId) -> Option<Arc<str>> {
        let name = self.connections.get(conn).and_then(|c| c.name.clone());
        name.filter(|name| !name.is_empty())
    }

    /// Returns true if a connection may belong to the session of a request on another one. `session`: the session of the
    /// request when it was sent.
    pub(super) fn may_share(&self, one: ConnId, other: ConnId, session: Option<&str>) -> bool {
        let named = |conn| self.name(conn).filter(|name| !name.is_empty());
        // The server names the session of its first request in the answer.
        let session = session.or_else(|| named(other));
        let one = named(one);
        one.is_none() || session.is_none() || one == session
    }

    fn key(&self, conn: ConnId) -> SessionKey {
        let name = self.connections.get(conn).and_then(|c| c.name.clone());
        name.map_or(SessionKey::Connection(conn), SessionKey::Named)
    }

    /// Returns the state of the session that a connection belongs to.
    pub(super) fn state(&mut self, conn: ConnId) -> &mut E {
        &mut self.states.entry(self.key(conn)).own
    }

    /// Returns the field that a request on a connection should have, because the server has named the session in it.
    pub(super) fn lacks(&self, conn: ConnId) -> Option<SessionField> {
        E::SESSION_FIELD.filter(|_| self.gives_names && self.name(conn) == Some(""))
    }

    /// Returns the index of the request that deleted the session of a connection.
    pub(super) fn deleted(&self, conn: ConnId) -> Option<u64> {
        self.states.get(&self.key(conn))?.deleted
    }

    /// Notes to which session the exchange on a connection belongs. `asks`: it is a request.
    pub(super) fn read(&mut self, seen: &Seen<'_>, asks: bool) {
        let Some(field) = E::SESSION_FIELD else {
            return;
        };
        let conn = seen.origin.conn;
        let connection = self.connections.entry_or_evict(conn, Exchanges::default);
        let name = session_name(seen, field.name);
        if let Some(name) = name.as_deref().map(stored) {
            let known = connection.name.take().filter(|known| **known == *name);
            let name = connection.name.insert(known.unwrap_or_else(|| name.into()));
            let key = SessionKey::Named(Arc::clone(name));
            let is_head = matches!(seen.frame.head, Head::Http { event: false, .. });
            self.gives_names |= !asks && is_head;
            let own = (!asks).then(|| self.states.remove(&SessionKey::Connection(conn)));
            if let Some(state) = own.flatten() {
                self.states.insert(key, state);
            } else if asks && self.states.get(&key).is_none() {
                // It was opened before the capture began.
                self.state(conn).missed();
            }
        } else if asks {
            // A request that opens a session, or of a server without sessions.
            let is_opening = seen.message.subject.as_deref() == Some("initialize");
            connection.name = (!is_opening).then(Arc::default);
            if self.gives_names && !is_opening {
                self.state(conn).missed();
            }
        }
        self.read_deletion(seen);
    }

    /// Handles a request that deletes a session, and the response to it.
    fn read_deletion(&mut self, seen: &Seen<'_>) {
        let (
            Head::Http {
                start,
                status,
                event: false,
                ..
            },
            conn,
        ) = (seen.frame.head, seen.origin.conn)
        else {
            return;
        };
        let Some(connection) = self.connections.get_mut(conn) else {
            return;
        };
        let deletes = connection.deletes.take();
        if status == 0 {
            connection.deletes = start.starts_with("DELETE ").then_some(seen.index);
        } else if let Some(index) = deletes.filter(|_| (200..300).contains(&status)) {
            let key = self.key(conn);
            self.states.entry(key).deleted = Some(index);
        }
    }

    /// Handles a connection that opens.
    pub(super) fn open(&mut self, conn: ConnId) {
        self.connections.remove(conn);
        self.states.remove(&SessionKey::Connection(conn));
    }

    /// Handles the end of an HTTP connection: the session goes on.
    pub(super) fn close(&mut self, conn: ConnId) {
        if self.connections.get(conn).is_some() {
            self.connections.end(conn);
        }
    }

    /// Handles the end of a connection.
    pub(super) fn end(&mut self, conn: ConnId, report: &mut Report) {
        let state = self.states.get_mut(&SessionKey::Connection(conn));
        if let Some(state) = state.filter(|state| !state.is_ended) {
            state.own.end(report);
            state.is_ended = true;
        }
    }

    /// Gives back the memory of the session of a connection from which no further message comes.
    pub(super) fn forget(&mut self, conn: ConnId) {
        if let Some(state) = self.states.get_mut(&SessionKey::Connection(conn)) {
            state.own = E::default();
            state.own.missed();
        }
    }

    /// Handles the end of the input.
    pub(super) fn finish(&self, report: &mut Report) {
        for state in self.states.values().filter(|state| !state.is_ended) {
            state.own.end(report);
        }
    }

    /// Returns the reason why a request of a connection waits.
    pub(super) fn waits(&self, conn: ConnId, request: &SentRequest<E::Own>) -> Option<String> {
        let own = self.states.get(&self.key(conn));
        own.or_else(|| self.states.values().next())?
            .own
            .waits(request)
    }
}

/// Returns the name of the session in a head, or in the event that starts the older transport.
fn session_name(seen: &Seen<'_>, field: &str) -> Option<String> {
    let Head::Http { start, event, .. } = seen.frame.head else {
        return None;
    };
    if event {
        let is_message = seen.message.role != Some(Role::Control);
        let path = std::str::from_utf8(seen.frame.view.body()).ok();
        return query_session(path.filter(|_| !is_message)?);
    }
    let name = http::head(seen).and_then(|head| http::field(head, field).0);
    name.or_else(|| query_session(start.split(' ').nth(1)?))
}

/// Returns true for the request of an event stream that goes on with an earlier one.
pub(super) fn resumes_stream(seen: &Seen<'_>) -> bool {
    let Head::Http { start, .. } = seen.frame.head else {
        return false;
    };
    let head = http::head(seen).filter(|_| start.starts_with("GET "));
    head.is_some_and(|head| http::field(head, "last-event-id").0.is_some())
}

/// Returns true for the event of the older transport that says where messages are posted.
pub(super) fn is_endpoint(seen: &Seen<'_>) -> bool {
    let is_event = matches!(seen.frame.head, Head::Http { event: true, .. });
    is_event && session_name(seen, "").is_some()
}

/// Returns true for a message that is posted in the older transport.
pub(in crate::protocol) fn is_answered_in_stream(seen: &Seen<'_>) -> bool {
    let Head::Http { start, .. } = seen.frame.head else {
        return false;
    };
    start.split(' ').nth(1).and_then(query_session).is_some()
}

/// Returns the session in a path of the older transport.
fn query_session(path: &str) -> Option<String> {
    let (_, query) = path.split_once('?')?;
    let mut pairs = query
        .split(['&', ' '])
        .filter_map(|pair| pair.split_once('='));
    let found = pairs.find(|(name, _)| matches!(*name, "sessionId" | "session_id"));
    found.map(|(_, value)| value.trim().to_owned())
}

/// Reports a request that an HTTP response refuses.
pub(super) fn report_refusal(seen: Current<'_, '_>, asked: &OpenRequest, status: u16) {
    let (request, why) = (asked.describe(), refusal_text(&seen));
    broken!(seen, rule::REFUSED, seen.whole(), asked.index();
        "{request} is refused with status {status}{why}");
    if status < 500 {
        seen.report().at_most(Severity::Info);
    }
}

/// Returns the text of an error in an HTTP response as ` (text)`; empty if there is none.
fn refusal_text(seen: &Seen<'_>) -> String {
    let error = seen.root().and_then(|root| root.get("error"));
    let text = error.and_then(|error| error.get("message").unwrap_or(error).text());
    text.map_or(String::new(), |text| format!(" ({})", short(&text)))
}
