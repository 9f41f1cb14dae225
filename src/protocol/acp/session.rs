//! The session of an acp conversation.
//!
//! ```text
//!   stdio, WebSocket   a connection has its own sessions
//!   HTTP               POST initialize -> 200, Acp-Connection-Id: later requests repeat it, on any TCP connection;
//!                      answers and updates are events of GET
//! ```

mod turns;

use super::DESCRIPTOR;
use super::schema::{self, DIALECT};
use crate::protocol::Direction::{ToClient, ToServer};
use crate::protocol::Role;
use crate::protocol::exchange::OpenRequest;
use crate::protocol::rpc::capabilities::Capabilities;
use crate::protocol::rpc::dialect::Dialect;
use crate::protocol::rpc::extension::{Extension, Nested, RpcMessage, SentRequest, SessionField};
use crate::protocol::rpc::handshake::{Disorder, Stage};
use crate::protocol::rule_names::acp as rule;
use crate::protocol::session::memory::RecentEntries;
use crate::protocol::session::stored::to_stored;
use crate::protocol::session::text::quote;
use crate::protocol::session::{Link, broken};
use crate::tape::Node;
use turns::{TurnRequest, Turns};

/// The state of a connection to an agent.
#[derive(Default)]
pub(super) struct AcpSession {
    stage: Stage,
    capabilities: Capabilities,
    /// The two sides speak a version that is not known.
    other_version: bool,
    turns: Turns,
    /// The requests that carry another one, by the id of that.
    carried: RecentEntries<Box<str>, u64>,
}

/// The stored part of a request, until its answer.
#[derive(Debug, Default)]
pub(super) struct RequestContext {
    /// The offered version of `initialize`.
    version: Option<i128>,
    turn: TurnRequest,
}

impl AcpSession {
    fn check_order(&mut self, message: &RpcMessage<'_, '_>) {
        let Some((disorder, cause, text)) = self.stage.asks(message, "") else {
            return;
        };
        let rule = match disorder {
            Disorder::Again => rule::SECOND_INITIALIZE,
            Disorder::BeforeRequest => {
                self.stage = Stage::Assumed;
                rule::BEFORE_INITIALIZE
            }
            _ => return,
        };
        broken!(message, rule, message.whole(), cause; "{text}");
    }

    /// Reads the answer to `initialize`, which decides the version.
    fn read_version(
        &mut self,
        message: &RpcMessage<'_, '_>,
        asked: &OpenRequest,
        offered: Option<i128>,
    ) {
        self.other_version = false;
        let Some(result) = message.result() else {
            return;
        };
        let declared = result.get("agentCapabilities");
        self.capabilities.read(ToClient, declared);
        let node = result.get("protocolVersion");
        let Some((node, got)) = node.and_then(|node| Some((node, node.as_i128()?))) else {
            return;
        };
        if let Some(offered) = offered
            && got > offered.max(schema::VERSION)
        {
            broken!(message, rule::VERSION_RAISED, message.at(node), asked.index();
                "the agent answers version {}; the client offered {offered}", quote(node));
        }
        self.other_version = got != schema::VERSION;
        if self.other_version {
            broken!(message, rule::UNKNOWN_VERSION, message.at(node);
                "version {} is not known, only {}: its methods, sessions and capabilities are not checked",
                quote(node), schema::VERSION);
        }
    }

    /// Links the notifications of a carried request to it.
    fn link_carried(&mut self, message: &RpcMessage<'_, '_>) {
        let Some(id) = message.param("requestId").and_then(Node::text) else {
            return;
        };
        let id = to_stored(&id);
        if message.role == Role::Request {
            self.carried.insert(id, message.index);
        } else if let Some(request) = self.carried.get(&id) {
            message.part_of(*request, Link::Recorded);
        }
    }

    /// Reports what the other side did not declare: for the method, or for a part of the params.
    fn check_capabilities(&self, message: &RpcMessage<'_, '_>, name: &str) {
        let capabilities = &self.capabilities;
        capabilities.check_method::<Self>(message);
        for (start, list, needs) in schema::PART_NEEDS {
            let list = message.param(list).filter(|list| list.is_array());
            let list = list.filter(|_| name.starts_with(start));
            for part in list.into_iter().flat_map(Node::children) {
                let need = |kind: &Node<'_>| needs.iter().find(|(name, _)| kind.is_text(name));
                if let Some(kind) = part.get("type")
                    && let Some((_, path)) = need(&kind)
                {
                    let owner = message.requester().other();
                    capabilities.check::<Self>((owner, path), kind, message);
                }
            }
        }
    }
}

impl Extension for AcpSession {
    type Own = RequestContext;
    const DIALECT: &'static Dialect = &DIALECT;
    const SIDES: [&'static str; 2] = DESCRIPTOR.sides;
    const SESSION_FIELD: Option<SessionField> = Some(SessionField {
        name: "Acp-Connection-Id",
        rule: rule::CONNECTION_MISSING,
    });
    const NEEDS_LINE_END: bool = true;
    const HAS_OTHER_VERSIONS: bool = true;
    const CANCELS: &'static [(&'static str, &'static str)] = &[("$/cancel_request", "requestId")];
    const PERSON: &'static [&'static str] = &[schema::PERMISSION, "elicitation/create"];
    const NESTED: Nested = Nested(&[(schema::CARRIER, &[schema::PROMPT])]);
    // The session that a request names shows it.
    const NEEDS: &'static [(&'static str, &'static str)] = schema::NEEDS;

    fn has_other_version(&self) -> bool {
        self.other_version
    }

    fn asks(&mut self, message: &RpcMessage<'_, '_>) -> RequestContext {
        let before = message.findings();
        let name = message.name();
        if message.is_from_client() {
            message.check_session_field();
            self.check_order(message);
        }
        let mut version = None;
        if name == "initialize" {
            let declared = message.param("clientCapabilities");
            self.capabilities.read(ToServer, declared);
            version = message.param("protocolVersion").and_then(Node::as_i128);
            // The answer decides.
            self.other_version = version.is_some_and(|version| version != schema::VERSION);
        } else if message.findings() == before && message.method.is_some() {
            self.check_capabilities(message, &name);
        }
        if self.other_version {
            return RequestContext {
                version,
                ..RequestContext::default()
            };
        }
        if name == schema::CARRIER {
            self.link_carried(message);
        }
        let is_whole = matches!(self.stage, Stage::Answered(_));
        RequestContext {
            version,
            turn: self.turns.check_request(message, &name, is_whole),
        }
    }

    fn answers(
        &mut self,
        message: &RpcMessage<'_, '_>,
        asked: &OpenRequest,
        request: &SentRequest<RequestContext>,
    ) {
        let (result, index) = (message.result(), asked.index());
        self.stage.answered(index, message);
        let name = request.method.map_or("", |method| method.name);
        if asked.subject() == Some("initialize") {
            self.read_version(message, asked, request.own.version);
        }
        if self.other_version {
            return;
        }
        let turn = &request.own.turn;
        self.turns
            .check_answer(turn, name, index, message.seen, result);
    }

    fn refused(&mut self, asked: &OpenRequest) {
        self.stage.refused(asked.index());
    }

    fn missed(&mut self) {
        self.stage = Stage::Assumed;
    }

    fn waits(&self, request: &SentRequest<RequestContext>) -> Option<String> {
        let session = request.own.turn.session.as_deref()?;
        request
            .method
            .filter(|method| method.name == schema::PROMPT)?;
        let open = self.turns.open_permission(session)?;
        Some(format!(
            "the permission that #{open} asks for is not answered"
        ))
    }
}
