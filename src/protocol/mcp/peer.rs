//! The peers of mcp. The client opens a session; the server answers the handshake and lists its tools.
//!
//! ```text
//!   client   initialize --> answer --> notifications/initialized: calls are possible
//!            ping, roots/list, elicitation/create <-- answered here
//!   server   initialize, server/discover, ping, tools/list, logging/setLevel <-- answered here
//! ```

use super::schema;
use crate::error::Refusal;
use crate::protocol::make::{Object, array};
use crate::protocol::peer::{
    Offer, Outgoing, Peer, PeerConfig, PeerReply, Readiness, Request, as_json, with_about,
    with_json,
};
use crate::protocol::rpc::build::{self, INVALID_PARAMS, METHOD_NOT_FOUND};
use crate::protocol::rpc::peer::{Opening, RpcPeer};
use crate::protocol::rpc::{Call, spelling};
use crate::protocol::session::Seen;
use crate::protocol::{Direction, Role};
use crate::tape::Node;
use std::borrow::Cow;

/// The client's part of the handshake.
const OPENING: Opening = Opening {
    method: "initialize",
    params: |config| {
        let name = config.name.as_deref().unwrap_or("wiretool");
        let info = Object::default().text("name", name).text("version", "0");
        let params = Object::default().text("protocolVersion", schema::NEWEST_SESSION);
        let params = params.json("capabilities", "{}");
        params.json("clientInfo", &info.finish()).finish()
    },
    done: "notifications/initialized",
};
/// The capabilities of the server.
const CAPABILITIES: &str = r#"{"tools":{},"prompts":{},"resources":{},"logging":{}}"#;

/// Creates the peer that sends in direction `side`.
pub(super) fn peer(side: Direction, config: &PeerConfig) -> Box<dyn Peer> {
    Box::new(McpPeer {
        side,
        inner: RpcPeer::new(side, Some(OPENING), config),
        offers: config.offers.clone(),
    })
}

struct McpPeer {
    side: Direction,
    inner: RpcPeer,
    offers: Vec<Offer>,
}

/// An answer: a result, or a code and a text.
type PeerAnswer = Result<String, (i32, String)>;

impl McpPeer {
    /// Answers a request of the server.
    fn answer_server(method: &str) -> PeerAnswer {
        match method {
            "ping" => Ok("{}".into()),
            "roots/list" => Ok(r#"{"roots":[]}"#.into()),
            "elicitation/create" => Ok(r#"{"action":"cancel"}"#.into()),
            _ => Err((
                METHOD_NOT_FOUND,
                format!("Method not found: {}", short(method)),
            )),
        }
    }

    /// Answers a request of the client; `None` if the script must answer.
    fn answer_client(&self, method: &str, params: Option<Node<'_>>) -> Option<PeerAnswer> {
        let param = |name: &str| params?.get(name)?.text();
        match method {
            "initialize" => {
                let offered = params.and_then(|params| params.get("protocolVersion"));
                let known = offered.filter(|offered| {
                    schema::version(*offered).is_some_and(|v| v != schema::STATELESS)
                });
                let version = known.and_then(Node::text);
                let version = version.as_deref().unwrap_or(schema::NEWEST_SESSION);
                let info = Object::default()
                    .text("name", "wiretool")
                    .text("version", "0");
                let result = Object::default().text("protocolVersion", version);
                let result = result.json("capabilities", CAPABILITIES);
                Some(Ok(result.json("serverInfo", &info.finish()).finish()))
            }
            "server/discover" => {
                let result = Object::default().text("resultType", "complete");
                let versions = schema::VERSIONS.map(|(name, _)| format!("\"{name}\""));
                let result = result.json("supportedVersions", &array(&versions));
                let result = result.json("capabilities", CAPABILITIES).json("ttlMs", "0");
                Some(Ok(result.text("cacheScope", "private").finish()))
            }
            "ping" | "logging/setLevel" => Some(Ok("{}".into())),
            "tools/list" if !self.offers.is_empty() => {
                let tools: Vec<String> = self.offers.iter().map(entry).collect();
                let result = Object::default().json("tools", &array(&tools));
                Some(Ok(result.text("resultType", "complete").finish()))
            }
            schema::CALL if !self.offers.is_empty() => {
                let name = param("name").unwrap_or_default();
                let is_known = self.offers.iter().any(|offer| offer.name == name);
                let why = || format!("Unknown tool: {}", short(&name));
                (!is_known).then(|| Err((INVALID_PARAMS, why())))
            }
            _ => None,
        }
    }
}

/// Builds the list entry of a tool.
fn entry(offer: &Offer) -> String {
    let own = ["name", "inputSchema"];
    let entry = Object::default().text("name", &offer.name);
    let about = offer.about.as_deref();
    let schema = about.and_then(|about| {
        with_json(about, |root| {
            Some(spelling(root.get("inputSchema")?).to_owned())
        })
        .flatten()
    });
    let schema = schema.unwrap_or_else(|| r#"{"type":"object"}"#.into());
    with_about(entry.json("inputSchema", &schema), &own, about).finish()
}

fn short(text: &str) -> String {
    text.chars().take(80).collect()
}

/// Returns the result of a tool for a value: the value itself if it is one, otherwise its content.
fn tool_result(value: &str) -> String {
    let whole = with_json(value, |root| root.is_map() && root.get("content").is_some());
    if whole == Some(true) {
        return value.to_owned();
    }
    let text = with_json(value, |root| {
        let text = root.text().filter(|_| root.is_string());
        text.map_or_else(|| value.to_owned(), Cow::into_owned)
    });
    let text = text.unwrap_or_else(|| value.to_owned());
    let block = Object::default().text("type", "text").text("text", &text);
    let result = Object::default().json("content", &array(&[block.finish()]));
    let is_object = value.trim_start().starts_with('{');
    let content = is_object.then(|| value.to_owned());
    result.optional("structuredContent", content).finish()
}

impl Peer for McpPeer {
    fn opened(&mut self, conn: u32, now: i64, outgoing: &mut Vec<Outgoing>) {
        self.inner.opened(conn, now, outgoing);
    }

    fn received(&mut self, seen: &Seen<'_>, now: i64, outgoing: &mut Vec<Outgoing>) {
        self.inner.received(seen, now, outgoing);
        let call = seen.root().map(Call::of).unwrap_or_default();
        let id = call.id.map(spelling).filter(|id| *id != "null");
        let Some(id) = id.filter(|_| seen.message.role == Some(Role::Request)) else {
            return;
        };
        let method = call.method.and_then(Node::text).unwrap_or_default();
        let answer = match self.side {
            Direction::ToServer => Some(Self::answer_server(&method)),
            Direction::ToClient => self.answer_client(&method, call.params),
        };
        let message = match answer {
            None => return,
            Some(Ok(result)) => build::result(id, &result),
            Some(Err((code, why))) => build::error(id, &code.to_string(), &why, None),
        };
        outgoing.push(Outgoing::new(seen.origin.conn.unwrap_or_default(), message));
    }

    fn sent(&mut self, seen: &Seen<'_>, now: i64) {
        self.inner.sent(seen, now);
    }

    fn closed(&mut self, conn: u32, now: i64) {
        self.inner.closed(conn, now);
    }

    fn readiness(&self, conn: u32) -> Readiness {
        self.inner.readiness(conn)
    }

    fn encode_reply(
        &mut self,
        to: &Request,
        reply: PeerReply<'_>,
        now: i64,
    ) -> Result<Outgoing, Refusal> {
        match reply {
            PeerReply::Result(value) if to.subject.as_deref() == Some(schema::CALL) => {
                let result = tool_result(as_json(value, "result")?);
                self.inner.encode_reply(to, PeerReply::Result(&result), now)
            }
            _ => self.inner.encode_reply(to, reply, now),
        }
    }
}
