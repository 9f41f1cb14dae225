//! The peers of mcp. The client opens a session; the server answers the handshake and lists its tools.
//!
//! ```text
//!   client   initialize --> answer --> notifications/initialized: calls are possible
//!            ping, roots/list, elicitation/create <-- answered here
//!   server   initialize, server/discover, ping, lists, logging/setLevel <-- answered here
//! ```

use super::schema::{self, DIALECT};
use crate::protocol::Direction;
use crate::protocol::make::{Object, array};
use crate::protocol::peer::{Offer, Peer, PeerConfig, shorten, with_about, with_json};
use crate::protocol::rpc::build::INVALID_PARAMS;
use crate::protocol::rpc::peer::{Opening, PeerAnswer, RpcPeer, method_not_found};
use crate::tape::Node;

/// The client's part of the handshake.
const OPENING: Opening = Opening {
    method: "initialize",
    params: |config| {
        let name = config.name.as_deref().unwrap_or("wiretool");
        let params = Object::default().text("protocolVersion", schema::NEWEST_SESSION);
        let params = params.json("capabilities", "{}");
        params.json("clientInfo", &info(name)).finish()
    },
    done: "notifications/initialized",
};
/// The code of an error about a resource (2025-11-25, Resources, Error Handling).
const RESOURCE_NOT_FOUND: i32 = -32002;
/// The capabilities of the server.
const CAPABILITIES: &str = r#"{"tools":{},"prompts":{},"resources":{},"logging":{}}"#;

/// Creates the peer that sends in direction `side`.
pub(super) fn peer(side: Direction, config: &PeerConfig) -> Box<dyn Peer> {
    let offers = config.offers.clone();
    let peer = RpcPeer::new(&DIALECT, side, Some(OPENING), config);
    let peer = peer.answering(move |method, params| match side {
        Direction::ToServer => Some(answer_server(method)),
        Direction::ToClient => answer_client(&offers, method, params),
    });
    let peer = peer.failing("resources/read", RESOURCE_NOT_FOUND);
    Box::new(peer.building(schema::CALL, tool_result))
}

/// Answers a request of the server.
fn answer_server(method: &str) -> PeerAnswer {
    let result = match method {
        "ping" => "{}",
        "roots/list" => r#"{"roots":[]}"#,
        "elicitation/create" => r#"{"action":"cancel"}"#,
        _ => return method_not_found(method),
    };
    Ok(result.into())
}

/// Answers a request of the client; `None` if the script must answer.
fn answer_client(offers: &[Offer], method: &str, params: Option<Node<'_>>) -> Option<PeerAnswer> {
    let param = |name: &str| params?.get(name);
    let result = match method {
        "initialize" => {
            let known = param("protocolVersion").filter(|offered| {
                schema::version(*offered).is_some_and(|v| v != schema::STATELESS)
            });
            let version = known.and_then(Node::text);
            let version = version.as_deref().unwrap_or(schema::NEWEST_SESSION);
            let result = Object::default().text("protocolVersion", version);
            let result = result.json("capabilities", CAPABILITIES);
            result.json("serverInfo", &info("wiretool"))
        }
        "server/discover" => {
            let versions = schema::VERSIONS.map(|(name, _)| format!("\"{name}\""));
            let result = Object::default().text("resultType", "complete");
            let result = result.json("supportedVersions", &array(&versions));
            let result = result.json("capabilities", CAPABILITIES).json("ttlMs", "0");
            result.text("cacheScope", "private")
        }
        "ping" | "logging/setLevel" => Object::default(),
        // The capabilities announce them; a script has its own.
        "prompts/list" => empty_list("prompts"),
        "resources/list" => empty_list("resources"),
        "resources/templates/list" => empty_list("resourceTemplates"),
        "tools/list" if !offers.is_empty() => {
            let tools: Vec<String> = offers.iter().map(entry).collect();
            let result = Object::default().json("tools", &array(&tools));
            result.text("resultType", "complete")
        }
        schema::CALL if !offers.is_empty() => {
            let name = param("name").and_then(Node::text).unwrap_or_default();
            let is_known = offers.iter().any(|offer| offer.name == name);
            let why = format!("Unknown tool: {}", shorten(&name));
            return (!is_known).then_some(Err((INVALID_PARAMS, why)));
        }
        _ => return None,
    };
    Some(Ok(result.finish()))
}

/// Returns the result of a list without entries.
fn empty_list(name: &str) -> Object {
    let result = Object::default().json(name, "[]");
    result.text("resultType", "complete")
}

/// Returns the name and version of a side.
fn info(name: &str) -> String {
    let info = Object::default().text("name", name);
    info.text("version", "0").finish()
}

/// Builds the list entry of a tool.
fn entry(offer: &Offer) -> String {
    let entry = Object::default().text("name", &offer.name);
    let about = offer.about.as_deref();
    let has_schema = |about| with_json(about, |root| root.get("inputSchema").is_some());
    let entry = match about.and_then(has_schema) {
        Some(true) => entry,
        _ => entry.json("inputSchema", r#"{"type":"object"}"#),
    };
    with_about(entry, &["name"], about).finish()
}

/// Returns the result of a tool for a value: the value itself if it is one, otherwise its content.
fn tool_result(value: &str) -> String {
    let built = with_json(value, |root| {
        if root.get("content").is_some() {
            return None;
        }
        let text = root.text().filter(|_| root.is_string());
        let block = Object::default().text("type", "text");
        let block = block.text("text", text.as_deref().unwrap_or(value));
        let result = Object::default().json("content", &array(&[block.finish()]));
        let content = root.is_map().then(|| value.to_owned());
        Some(result.optional("structuredContent", content).finish())
    });
    built.flatten().unwrap_or_else(|| value.to_owned())
}
