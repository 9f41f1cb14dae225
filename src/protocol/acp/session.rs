//! The session of an acp conversation.
//!
//! ```text
//!   stdio, WebSocket   a connection has its own sessions
//!   HTTP               POST initialize -> 200, Acp-Connection-Id: later requests repeat it, on any TCP connection;
//!                      answers and updates are events of GET
//! ```

mod needs;
mod turns;

use super::schema::{self, DIALECT};
use crate::framing::Head;
use crate::protocol::correlation::OpenRequest;
use crate::protocol::rpc::capabilities::Capabilities;
use crate::protocol::rpc::dialect::Dialect;
use crate::protocol::rpc::extension::{Extension, RpcMessage};
use crate::protocol::rpc::pairing::SentRequest;
use crate::protocol::rpc::session::RpcSession;
use crate::protocol::session::memory::{Connections, PerDirection};
use crate::protocol::session::text::quote;
use crate::protocol::session::{ConnectionChange, Report, Seen, Session, SessionConfig, http};
use crate::protocol::{Direction, Origin};
use crate::tape::Node;
use turns::{TurnRequest, Turns};

/// The largest number of connections.
const MAX_CONNECTIONS: usize = 1 << 10;

/// Creates the session of a conversation.
pub(super) fn session(config: &SessionConfig) -> impl Session + use<> {
    let rules = AcpRules {
        agents: Connections::with_capacity(MAX_CONNECTIONS, 0),
        gives_names: false,
    };
    RpcSession::new(rules, config)
}

/// The rules that only this protocol has.
struct AcpRules {
    /// Connections; all of HTTP are one.
    agents: Connections<Agent>,
    /// The agent names its connections over HTTP.
    gives_names: bool,
}

/// The state of a connection.
#[derive(Default)]
struct Agent {
    /// The index of `initialize`; or the start was not seen.
    opened: Option<u64>,
    /// The capabilities that the sender of a direction declared.
    capabilities: PerDirection<Capabilities>,
    turns: Turns,
}

/// The stored part of a request, until its answer.
#[derive(Debug, Default)]
struct RequestContext {
    /// The offered version of `initialize`.
    version: Option<i128>,
    turn: TurnRequest,
}

impl AcpRules {
    fn agent(&mut self, seen: &Seen<'_>) -> &mut Agent {
        let http = matches!(seen.frame.head, Head::Http { .. });
        let conn = seen.origin.conn.filter(|_| !http);
        self.agents.entry_or_evict(conn, Agent::default)
    }

    /// Checks the field that names the connection.
    fn check_head(&self, message: &RpcMessage<'_, '_>, report: &mut Report) {
        let seen = message.seen;
        let Some(head) = http::head(seen).filter(|_| self.gives_names && !message.is("initialize"))
        else {
            return;
        };
        if let (None, place) = http::field(head, schema::HTTP.name) {
            let text = "Acp-Connection-Id is not there; the agent gave one";
            report.broken("connection-missing", seen.span(place), text);
        }
    }
}

/// Returns `true` if the head of a message names its connection.
fn names_connection(seen: &Seen<'_>) -> bool {
    http::head(seen).is_some_and(|head| http::field(head, schema::HTTP.name).0.is_some())
}

impl Agent {
    fn check_handshake(&mut self, message: &RpcMessage<'_, '_>, report: &mut Report) {
        let index = message.seen.index;
        if message.is("initialize") {
            if let Some(first) = self.opened.filter(|first| *first != u64::MAX) {
                let text = "initialize is sent again; once a connection is enough";
                report.broken_by("second-initialize", message.seen.whole(), first, text);
            }
            self.opened = Some(index);
        } else if self.opened.is_none() && names_connection(message.seen) {
            // It was opened before the capture began.
            self.opened = Some(u64::MAX);
        } else if self.opened.is_none() {
            let name = message.method.map_or("this", |method| method.name);
            let text = format!("{name} is sent before initialize, which should come first");
            report.broken("before-initialize", message.seen.whole(), text);
            self.opened = Some(u64::MAX);
        }
    }

    /// Reports what the other side did not declare.
    fn check_capabilities(&self, message: &RpcMessage<'_, '_>, report: &mut Report) {
        let direction = message.requester();
        let declared = self.capabilities.get(Some(direction.other()));
        needs::each(message, &mut |node: Node<'_>, path: &str| {
            if !declared.allow(path) {
                let [client, agent] = AcpRules::SIDES;
                let side = if direction == Direction::ToServer {
                    agent
                } else {
                    client
                };
                let what = node.text().unwrap_or_default();
                let text =
                    format!("the {side} did not declare the capability {path}, which {what} needs");
                report.broken("capability-missing", message.seen.at(node), text);
            }
        });
    }
}

impl Extension for AcpRules {
    type Own = RequestContext;
    const DIALECT: &'static Dialect = &DIALECT;
    const SIDES: [&'static str; 2] = ["client", "agent"];
    const SESSION_FIELD: Option<&'static str> = Some(schema::HTTP.name);
    const CANCELS: &'static [(&'static str, &'static str)] = &[("$/cancel_request", "requestId")];

    fn frame(&mut self, seen: &Seen<'_>, _: &mut Report) {
        if matches!(seen.frame.head, Head::Http { status: 1.., .. }) && names_connection(seen) {
            self.gives_names = true;
        }
    }

    fn asks(&mut self, message: &RpcMessage<'_, '_>, report: &mut Report) -> RequestContext {
        let before = report.broken.len();
        let name = message.call.method.and_then(Node::text).unwrap_or_default();
        let is_client = message.requester() == Direction::ToServer;
        if is_client {
            self.check_head(message, report);
        }
        let agent = self.agent(message.seen);
        if is_client {
            agent.check_handshake(message, report);
        }
        let mut version = None;
        if name == "initialize" {
            let capabilities = message.param("clientCapabilities");
            agent
                .capabilities
                .get_mut(Some(Direction::ToServer))
                .read(capabilities);
            version = message.param("protocolVersion").and_then(Node::as_i128);
        } else if report.broken.len() == before && message.method.is_some() {
            agent.check_capabilities(message, report);
        }
        if let Some(method) = message.call.method.filter(|method| method.is_string())
            && !schema::is_known(&name)
        {
            let text = format!(
                "no version has {}; names of extensions start with _",
                quote(method)
            );
            report.broken("unknown-method", message.seen.at(method), text);
        }
        RequestContext {
            version,
            turn: agent.turns.check_request(message, &name, report),
        }
    }

    fn answers(
        &mut self,
        message: &RpcMessage<'_, '_>,
        asked: &OpenRequest,
        request: &SentRequest<RequestContext>,
        report: &mut Report,
    ) {
        let result = message
            .call
            .result
            .filter(|_| message.call.error().is_none());
        let name = request.method.map_or("", |method| method.name);
        let index = asked.place.index;
        let agent = self.agent(message.seen);
        if let Some(result) = result.filter(|_| name == "initialize") {
            let capabilities = result.get("agentCapabilities");
            agent
                .capabilities
                .get_mut(Some(Direction::ToClient))
                .read(capabilities);
            let version = result.get("protocolVersion");
            if let Some(node) = version
                && let (Some(got), Some(asked)) = (node.as_i128(), request.own.version)
                && got > asked.max(1)
            {
                let text = format!(
                    "the agent answers version {}; the client offered {asked}",
                    quote(node)
                );
                report.broken_by("version-raised", message.seen.at(node), index, text);
            }
        }
        agent
            .turns
            .check_answer(&request.own.turn, name, index, message.seen, result, report);
    }

    fn event(&mut self, origin: Origin, what: ConnectionChange, _: &mut Report) {
        match what {
            ConnectionChange::Opened => {
                self.agents.remove(origin.conn);
            }
            ConnectionChange::Lost => {
                let agent = self.agents.entry_or_evict(origin.conn, Agent::default);
                agent.opened.get_or_insert(u64::MAX);
            }
            _ => {}
        }
    }

    fn waits(&self, request: &SentRequest<RequestContext>) -> Option<String> {
        let session = request.own.turn.session.as_deref()?;
        let is_prompt = request
            .method
            .is_some_and(|method| method.name == schema::PROMPT);
        let mut agents = self.agents.values().filter(|_| is_prompt);
        let open = agents.find_map(|agent| agent.turns.open_permission(session))?;
        Some(format!("permission is asked by #{open}, and not answered"))
    }
}
