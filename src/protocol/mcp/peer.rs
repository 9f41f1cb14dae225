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
use crate::protocol::peer::{
    Offer, Peer, PeerConfig, Request, json_of, shorten, with_about, with_json,
};
use crate::protocol::rpc::build::INVALID_PARAMS;
use crate::protocol::rpc::build::METHOD_NOT_FOUND;
use crate::protocol::rpc::peer::{Opening, PeerAnswer, RpcPeer, Sessionless, method_not_found};
use crate::protocol::schema::Type;
use crate::tape::Node;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

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
/// The calls of the version without sessions.
const SESSIONLESS: Sessionless = Sessionless {
    is_meant: |error| {
        let code = error.get("code").and_then(Node::as_i128);
        code == Some(UNSUPPORTED_VERSION.into()) && supports_stateless(error)
            || code == Some(METHOD_NOT_FOUND.into())
    },
    complete: with_version,
    fields: repeated_fields,
};
/// The code of an error about the version (2026-07-28, `UnsupportedProtocolVersionError`).
const UNSUPPORTED_VERSION: i32 = -32022;
/// The request that opens a version without sessions.
const DISCOVER: &str = "server/discover";
/// The code of an error about a resource (2025-11-25, Resources, Error Handling).
const RESOURCE_NOT_FOUND: i32 = -32002;
/// The capabilities of the server.
const CAPABILITIES: &str = r#"{"tools":{},"prompts":{},"resources":{},"logging":{}}"#;
/// The beginnings of methods that need other capabilities of it.
const ABSENT: &[&str] = &[
    "completion/",
    "resources/subscribe",
    "resources/unsubscribe",
    "tasks/",
];

/// Creates the peer that sends in direction `side`.
pub(super) fn peer(side: Direction, config: &PeerConfig) -> Box<dyn Peer> {
    let (offers, hellos) = (config.offers.clone(), config.hellos.clone());
    let about = config.about.clone();
    let peer = RpcPeer::new(&DIALECT, side, Some(OPENING), config);
    let peer = peer.answering(move |method, params| match side {
        Direction::ToServer => Some(answer_server(method)),
        // A client that tries another version first opens the session as the script has it.
        Direction::ToClient if is_other_hello(&hellos, method) => Some(method_not_found(method)),
        // A recorded session has its own list, unless the server did not answer.
        Direction::ToClient
            if method == "tools/list" && offers.is_empty() && !hellos.is_empty() =>
        {
            None
        }
        Direction::ToClient => answer_client(&offers, about.as_deref(), method, params),
    });
    let peer = peer
        .failing("resources/read", RESOURCE_NOT_FOUND)
        .without(ABSENT)
        .or_without_session(SESSIONLESS);
    Box::new(peer.building(result))
}

/// Returns true for a request that opens sessions of other versions than those of the script.
fn is_other_hello(hellos: &[String], method: &str) -> bool {
    let is = |of: &str| {
        hellos
            .iter()
            .any(|hello| hello.strip_prefix("request ") == Some(of))
    };
    [OPENING.method, DISCOVER].contains(&method)
        && (is(OPENING.method) || is(DISCOVER))
        && !is(method)
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
fn answer_client(
    offers: &[Offer],
    about: Option<&str>,
    method: &str,
    params: Option<Node<'_>>,
) -> Option<PeerAnswer> {
    let param = |name: &str| params?.get(name);
    let result = match method {
        "initialize" => {
            let known = param("protocolVersion").filter(|offered| {
                schema::version(*offered).is_some_and(|v| v != schema::STATELESS)
            });
            let version = known.and_then(Node::text);
            let version = version.as_deref().unwrap_or(schema::NEWEST_SESSION);
            let result = Object::default().text("protocolVersion", version);
            let result = with_usual(result, "capabilities", CAPABILITIES, about);
            let result = with_usual(result, "serverInfo", &info("wiretool"), about);
            with_about(result, &["protocolVersion"], about)
        }
        DISCOVER => {
            let versions = schema::VERSIONS.map(|(name, _)| format!("\"{name}\""));
            let result = Object::default().json("supportedVersions", &array(&versions));
            let result = with_usual(result, "capabilities", CAPABILITIES, about);
            with_about(result, &["supportedVersions", "serverInfo"], about)
        }
        "ping" | "logging/setLevel" => Object::default(),
        // The capabilities announce them; a script has its own.
        "prompts/list" => Object::default().json("prompts", "[]"),
        "resources/list" => Object::default().json("resources", "[]"),
        "resources/templates/list" => Object::default().json("resourceTemplates", "[]"),
        "tools/list" => {
            let tools: Vec<String> = offers.iter().map(entry).collect();
            Object::default().json("tools", &array(&tools))
        }
        schema::CALL if !offers.is_empty() => {
            let name = param("name").and_then(Node::text).unwrap_or_default();
            let is_known = offers.iter().any(|offer| offer.name == name);
            let why = format!("Unknown tool: {}", shorten(&name));
            return (!is_known).then_some(Err((INVALID_PARAMS, why)));
        }
        _ => return None,
    };
    let result = result.finish();
    let is_stateless = method == DISCOVER || is_stateless(params);
    Some(Ok(if is_stateless {
        complete(method, &result)
    } else {
        result
    }))
}

/// Adds the usual value of a member, unless the side has its own.
fn with_usual(result: Object, key: &str, usual: &str, about: Option<&str>) -> Object {
    let own = about.and_then(|about| with_json(about, |about| about.get(key).is_some()));
    match own {
        Some(true) => result,
        _ => result.json(key, usual),
    }
}

/// Returns `true` for an error that names the version without sessions as supported.
fn supports_stateless(error: Node<'_>) -> bool {
    let supported = error.get("data").and_then(|data| data.get("supported"));
    supported.is_some_and(|all| {
        all.children()
            .any(|version| version.is_text(schema::name(schema::STATELESS)))
    })
}

/// Adds version, name and capabilities of the client to a request (2026-07-28, `RequestMetaObject`).
fn with_version(message: &str) -> Option<String> {
    let completed = with_json(message, |root| {
        let params = root.get("params");
        if root.get("id").is_none() || root.get("method").is_none() || is_stateless(params) {
            return None;
        }
        let meta = params.and_then(|params| params.get("_meta"));
        let usual: Vec<(String, String)> = with_json(schema::REQUEST_META, |usual| {
            own_members(Some(usual)).collect()
        })?;
        let meta = with_members(meta, usual);
        let params = with_members(params, [("_meta".to_owned(), meta)]);
        Some(with_members(Some(root), [("params".to_owned(), params)]))
    });
    completed.flatten()
}

/// Returns the names and JSON texts of the members of an object.
fn own_members(object: Option<Node<'_>>) -> impl Iterator<Item = (String, String)> + '_ {
    let members = object.into_iter().flat_map(Node::members);
    members.map(|(key, value)| (key.text().unwrap_or_default().into_owned(), json_of(value)))
}

/// Returns the object with these members at its end; they replace its own.
fn with_members(
    object: Option<Node<'_>>,
    members: impl IntoIterator<Item = (String, String)>,
) -> String {
    let mut all: Vec<(String, String)> = own_members(object).collect();
    for member in members {
        all.retain(|(key, _)| *key != member.0);
        all.push(member);
    }
    let all = all.iter();
    all.fold(Object::default(), |object, (key, value)| {
        object.json(key, value)
    })
    .finish()
}

/// Returns the HTTP fields that repeat parts of a request (2026-07-28, Transports, Standard Request Headers).
fn repeated_fields(message: Node<'_>) -> Vec<(&'static str, String)> {
    let params = message.get("params");
    let Some(version) = schema::own_version(params) else {
        return Vec::new();
    };
    let param = |name: &str| params.and_then(|params| params.get(name));
    let name = param("name").or_else(|| param("uri"));
    let fields = [
        (schema::VERSION_FIELD, Some(version)),
        ("mcp-method", message.get("method")),
        ("mcp-name", name),
    ];
    let fields = fields.into_iter();
    fields
        .filter_map(|(field, value)| Some((field, field_value(&value?.text()?))))
        .collect()
}

/// Returns the value of a field for a text: Base64 if it is not plain.
fn field_value(text: &str) -> String {
    let is_plain = text
        .bytes()
        .all(|byte| byte == b' ' || byte.is_ascii_graphic());
    if is_plain && text.trim() == text {
        return text.to_owned();
    }
    format!("=?base64?{}?=", STANDARD.encode(text))
}

/// Returns true for the params of a request of a version without sessions.
fn is_stateless(params: Option<Node<'_>>) -> bool {
    schema::own_version(params).is_some()
}

/// Adds the members that each result must have in a version without sessions (2026-07-28, Result, `CacheableResult`).
fn complete(method: &str, result: &str) -> String {
    let is_cached = schema::DIALECT.find(method).is_some_and(|method| {
        matches!(method.result, Type::Object(members) if members.iter().any(|one| one.name == schema::CACHE_KEY))
    });
    let members = [
        ("resultType", r#""complete""#, true),
        ("ttlMs", "0", is_cached),
        (schema::CACHE_KEY, r#""private""#, is_cached),
    ];
    let completed = with_json(result, |root| {
        let lacking = members
            .into_iter()
            .filter(|(key, _, is_needed)| *is_needed && root.get(key).is_none());
        let lacking = lacking.map(|(key, value, _)| (key.to_owned(), value.to_owned()));
        root.is_map().then(|| with_members(Some(root), lacking))
    });
    completed.flatten().unwrap_or_else(|| result.to_owned())
}

/// Builds the result of a request from a value of the script.
fn result(to: &Request, value: &str) -> String {
    let method = to.subject.as_deref().unwrap_or_default();
    let built = match method {
        schema::CALL => tool_result(value),
        _ => value.to_owned(),
    };
    let is_stateless = with_json(&to.message, |root| is_stateless(root.get("params")));
    match is_stateless {
        Some(true) => complete(method, &built),
        _ => built,
    }
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
