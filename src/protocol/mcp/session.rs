//! The session of an mcp conversation.
//!
//! ```text
//!   stdio   a process is a session
//!   HTTP    POST initialize -> 200, Mcp-Session-Id: a session; later requests repeat it, on any connection
//!   SSE     GET -> event `endpoint` with ?sessionId=…; messages are posted there, and all answers are events
//! ```

mod needs;
mod state;
mod tools;

use super::schema::{self, DIALECT};
use crate::framing::Head;
use crate::protocol::correlation::OpenRequest;
use crate::protocol::rpc::dialect::Dialect;
use crate::protocol::rpc::extension::{Extension, RpcMessage};
use crate::protocol::rpc::pairing::SentRequest;
use crate::protocol::rpc::session::RpcSession;
use crate::protocol::rpc::shape::{ShapeViolation, usual_rule};
use crate::protocol::session::memory::{Connections, RecentEntries};
use crate::protocol::session::text::{quote, short};
use crate::protocol::session::{
    ConnectionChange, Report, Seen, Session, SessionConfig, Severity, http,
};
use crate::protocol::{Direction, Origin, Role};
use state::{RequestContext, SessionState, Stage, own_version};

/// The largest numbers of sessions, of connections and of cancellations.
const MAX_SESSIONS: usize = 1 << 10;
/// A result that comes this much after a cancellation, in ns, does not cross it.
const CROSSING: i64 = 500_000_000;

/// Creates the session of a conversation.
pub(super) fn session(config: &SessionConfig) -> impl Session + use<> {
    let rules = McpRules {
        sessions: RecentEntries::with_capacity(MAX_SESSIONS),
        connections: Connections::with_capacity(MAX_SESSIONS, 0),
        cancellations: RecentEntries::with_capacity(MAX_SESSIONS),
        gives_names: false,
    };
    RpcSession::new(rules, config)
}

/// The rules that only this protocol has.
struct McpRules {
    sessions: RecentEntries<SessionKey, SessionState>,
    /// The session of each connection, if it is not the connection's own.
    connections: Connections<Option<SessionKey>>,
    /// The times of cancellations by index.
    cancellations: RecentEntries<u64, i64>,
    /// The server names sessions.
    gives_names: bool,
}

/// The owner of a session.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum SessionKey {
    Connection(Option<u32>),
    /// The name that the server gave; empty if it gives none.
    Named(Box<str>),
}

impl McpRules {
    fn key(&self, origin: Origin) -> SessionKey {
        let named = self.connections.get(origin.conn).cloned().flatten();
        named.unwrap_or(SessionKey::Connection(origin.conn))
    }

    fn state(&mut self, key: &SessionKey) -> Option<&mut SessionState> {
        if self.sessions.get(key).is_none() {
            self.sessions.insert(key.clone(), SessionState::default());
        }
        self.sessions.get_mut(key)
    }

    /// Notes to which session the exchange on a connection belongs.
    fn read_head(&mut self, seen: &Seen<'_>) {
        let Head::Http {
            start,
            status,
            event,
            ..
        } = seen.frame.head
        else {
            return;
        };
        let conn = seen.origin.conn;
        let own = SessionKey::Connection(conn);
        let (name, answers) = if event {
            let body = seen.frame.view.body();
            let path = std::str::from_utf8(body).unwrap_or_default();
            (query_session(path), true)
        } else {
            let name = http::head(seen).and_then(|head| http::field(head, schema::HTTP.name).0);
            let path = start.split(' ').nth(1).unwrap_or_default();
            (name.or_else(|| query_session(path)), status > 0)
        };
        let entry = self.connections.entry_or_evict(conn, || None);
        match name {
            Some(name) => {
                let named = SessionKey::Named(name.into());
                *entry = Some(named.clone());
                if answers && !event {
                    self.gives_names = true;
                }
                if answers && let Some(state) = self.sessions.remove(&own) {
                    self.sessions.insert(named, state);
                } else if self.sessions.get(&named).is_none() {
                    let mut state = SessionState::default();
                    if !answers {
                        // It was opened before the capture began.
                        state.stage = Stage::Assumed;
                    }
                    self.sessions.insert(named, state);
                }
            }
            // A request that opens a session, or of a server without sessions.
            None if !answers && seen.message.subject.as_deref() == Some("initialize") => {
                *entry = None;
            }
            None if !answers => *entry = Some(SessionKey::Named("".into())),
            None => {}
        }
    }

    /// Checks the fields of the head of a posted message.
    fn check_head(&mut self, message: &RpcMessage<'_, '_>, report: &mut Report) {
        let seen = message.seen;
        let Some(head) = http::head(seen).filter(|_| !message.is("initialize")) else {
            return;
        };
        let field = |name| http::field(head, name);
        if own_version(message).is_some() {
            let method = message.call.method;
            let name = message.param("name").or(message.param("uri"));
            for (field_name, node) in [("Mcp-Method", method), ("Mcp-Name", name)] {
                let (value, place) = field(field_name);
                let is_encoded = value.as_ref().is_some_and(|value| value.starts_with("=?"));
                if let Some(node) = node
                    .filter(|node| !is_encoded && node.text() != value.as_deref().map(Into::into))
                {
                    let value = value.map_or("not there".into(), |value| short(&value));
                    let text = format!("{field_name} is {value}; it should be {}", quote(node));
                    report.broken("header-mismatch", seen.span(place), text);
                }
            }
            return;
        }
        if self.gives_names && field(schema::HTTP.name).0.is_none() {
            let text = "Mcp-Session-Id is not there; the server gave one";
            return report.broken(
                "session-missing",
                seen.span(field(schema::HTTP.name).1),
                text,
            );
        }
        let key = self.key(seen.origin);
        let version = self.state(&key).and_then(|state| state.version);
        let (value, place) = field(schema::VERSION_FIELD);
        if let Some(version) = version.filter(|version| version.0 >= schema::HEADER_SINCE.0)
            && value.as_deref() != Some(schema::name(version))
        {
            let value = value.map_or("not there".into(), |value| short(&value));
            let name = schema::name(version);
            let text = format!("MCP-Protocol-Version is {value}; it should be {name}");
            report.broken("version-header", seen.span(place), text);
        }
    }
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

impl Extension for McpRules {
    type Own = RequestContext;
    const DIALECT: &'static Dialect = &DIALECT;
    const SIDES: [&'static str; 2] = ["client", "server"];
    const SESSION_FIELD: Option<&'static str> = Some(schema::HTTP.name);
    const CANCELS: &'static [(&'static str, &'static str)] =
        &[("notifications/cancelled", "requestId")];

    fn rule(violation: ShapeViolation) -> &'static str {
        match violation {
            ShapeViolation::UnknownMethod | ShapeViolation::UnknownNotification => "unknown-method",
            violation => usual_rule(violation),
        }
    }

    fn frame(&mut self, seen: &Seen<'_>, report: &mut Report) {
        self.read_head(seen);
        let key = self.key(seen.origin);
        if seen.message.kind == "batch"
            && let Some(version) = self.state(&key).and_then(|state| state.version)
            && version != schema::BATCHES
        {
            let name = schema::name(version);
            let text = format!("a batch; version {name} has none, only 2025-03-26 has");
            report.broken("batch", seen.whole(), text);
        }
    }

    fn asks(&mut self, message: &RpcMessage<'_, '_>, report: &mut Report) -> RequestContext {
        if message.requester() == Direction::ToServer {
            self.check_head(message, report);
        }
        if message.is("notifications/cancelled")
            && let Some(time) = message.seen.origin.time
        {
            self.cancellations.insert(message.seen.index, time);
        }
        let key = self.key(message.seen.origin);
        let unnamed = key == SessionKey::Named("".into());
        let Some(state) = self.state(&key) else {
            return RequestContext::default();
        };
        // Without a name several clients look like one session.
        if unnamed {
            state.stage = Stage::Assumed;
        }
        state.asks(message, report)
    }

    fn answers(
        &mut self,
        message: &RpcMessage<'_, '_>,
        asked: &OpenRequest,
        request: &SentRequest<RequestContext>,
        report: &mut Report,
    ) {
        if let Some(cancel) = request.cancelled.filter(|_| message.role == Role::Response) {
            let text = format!("the request was cancelled by #{cancel}, and still has a result");
            report.broken_by("answer-after-cancel", message.seen.whole(), cancel, text);
            let time = self.cancellations.get(&cancel);
            let late = time.zip(message.seen.origin.time);
            if late.is_none_or(|(from, to)| to.saturating_sub(*from) < CROSSING) {
                report.at_most(Severity::Info);
            }
        }
        let key = self.key(message.seen.origin);
        if let Some(state) = self.state(&key) {
            state.answers(message, asked, request, report);
        }
    }

    fn event(&mut self, origin: Origin, what: ConnectionChange, _: &mut Report) {
        match what {
            ConnectionChange::Opened => {
                self.connections.remove(origin.conn);
            }
            ConnectionChange::Lost => {
                let key = self.key(origin);
                if let Some(state) = self.state(&key) {
                    state.stage = Stage::Assumed;
                }
            }
            _ => {}
        }
    }

    fn waits(&self, request: &SentRequest<RequestContext>) -> Option<String> {
        let cancel = request.cancelled?;
        Some(format!(
            "it is cancelled by #{cancel}: no answer should follow"
        ))
    }

    fn needs_answer(request: &SentRequest<RequestContext>) -> bool {
        let stays_open = request
            .method
            .is_some_and(|m| m.name == "subscriptions/listen");
        request.cancelled.is_none() && !stays_open
    }
}
