//! The session of an mcp conversation.
//!
//! ```text
//!   stdio   a process is a session
//!   HTTP    POST initialize -> 200, Mcp-Session-Id: a session; later requests repeat it, on any connection
//!   SSE     GET -> event `endpoint` with ?sessionId=…; messages are posted there, and all answers are events
//! ```

mod asked_input;
mod content;
mod handshake;
mod head;
mod inputs;
mod progress;
mod requested;
mod tasks;
mod tools;

use super::DESCRIPTOR;
use super::schema::{self, DIALECT};
use crate::protocol::Direction::{ToClient, ToServer};
use crate::protocol::Role;
use crate::protocol::exchange::OpenRequest;
use crate::protocol::rpc::capabilities::Capabilities;
use crate::protocol::rpc::dialect::Dialect;
use crate::protocol::rpc::extension::{Extension, Nested, RpcMessage, SentRequest, SessionField};
use crate::protocol::rpc::http::is_answered_in_stream;
use crate::protocol::rule_names::all::RESULT_TYPE;
use crate::protocol::rule_names::mcp as rule;
use crate::protocol::session::stored::to_stored;
use crate::protocol::session::text::short;
use crate::protocol::session::{Current, Severity, broken, http};
use crate::tape::Node;
use asked_input::Supported;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use handshake::{Handshake, own_version};
use inputs::{Inputs, Repeatable};
use progress::{Key, Tokens};
use requested::Requested;
use std::borrow::Cow;
use tasks::{OfTask, TaskCall, Tasks};
use tools::Tools;

/// A result that comes this much after a cancellation, in ns, does not cross it.
const CROSSING: i64 = 500_000_000;

/// Asks a person.
const ELICITATION: &str = "elicitation/create";
/// Asks a model.
const SAMPLING: &str = "sampling/createMessage";
/// The requests during which a server asks.
const ASKERS: &[&str] = &[schema::CALL, "prompts/get", "resources/read"];

/// The state of a session.
#[derive(Default)]
pub(super) struct McpSession {
    handshake: Handshake,
    capabilities: Capabilities,
    tools: Tools,
    tokens: Tokens,
    inputs: Inputs,
    requested: Requested,
    tasks: Tasks,
}

/// The stored part of a request, until its answer.
#[derive(Debug, Default)]
pub(super) struct RequestContext {
    /// The offered version of `initialize`.
    version: Option<Box<str>>,
    /// The name of the tool.
    tool: Option<Box<str>>,
    /// The list starts with a cursor.
    paged: bool,
    /// The key of its progress token.
    progress: Option<Key>,
    /// It named its version itself.
    stateless: bool,
    /// The kinds of input that its client supports, if it names them itself.
    supported: Option<Box<Supported>>,
    repeatable: Repeatable,
    /// The task that it is about.
    task: Option<OfTask>,
}

impl McpSession {
    /// Checks the fields of the head of a posted message.
    fn check_head(&self, message: &RpcMessage<'_, '_>) {
        let seen = message.seen;
        if own_version(message).is_none() && message.check_session_field() {
            return;
        }
        // The older transport does not have the fields.
        let has_fields = !message.is("initialize") && !is_answered_in_stream(&seen);
        let Some(head) = http::head(&seen).filter(|_| has_fields) else {
            return;
        };
        let check = |rule, name: &str, wanted: &str, is_number| {
            let (value, place) = http::field(head, name);
            let value = value.map(decoded_field);
            let number = |text: &str| text.parse::<f64>().ok();
            let is_equal = |value: &str| {
                value == wanted
                    || is_number && number(value).is_some_and(|n| Some(n) == number(wanted))
            };
            if !value.as_deref().is_some_and(is_equal) {
                let value = value.map_or("missing".into(), |value| short(&value));
                broken!(message, rule, seen.span(place);
                    "{name} is {value}; it should be {}", short(wanted));
            }
        };
        if own_version(message).is_some() {
            let name = message.param("name").or(message.param("uri"));
            for (field, node) in [("Mcp-Method", message.call.method), ("Mcp-Name", name)] {
                if let Some(wanted) = node.and_then(Node::text) {
                    check(rule::HEADER_MISMATCH, field, &wanted, false);
                }
            }
            let tool = message.param("name").filter(|_| message.is(schema::CALL));
            let tool = tool.and_then(Node::text).unwrap_or_default();
            for repeated in self.tools.repeated_arguments(&tool) {
                let path = repeated.path.iter();
                let argument = path.fold(message.param("arguments"), |node, name| node?.get(name));
                let Some(wanted) = argument.and_then(field_text) else {
                    continue;
                };
                let field = format!("Mcp-Param-{}", repeated.field);
                check(rule::HEADER_MISMATCH, &field, &wanted, repeated.is_number);
            }
            return;
        }
        let version = self.handshake.version;
        if let Some(version) = version.filter(|version| version.0 >= schema::HEADER_SINCE.0) {
            check(
                rule::VERSION_HEADER,
                "MCP-Protocol-Version",
                schema::name(version),
                false,
            );
        }
    }

    /// Checks the form that a request shows to a person, in versions that have it.
    fn check_elicitation(&self, message: &RpcMessage<'_, '_>) {
        let first = schema::FIRST_ELICITATION;
        let version = self.handshake.version;
        let params = message.call.params.filter(|_| message.is(ELICITATION));
        if let Some(params) = params
            && version.is_none_or(|version| version.0 >= first.0)
        {
            asked_input::check_form(message, params, version != Some(first));
        }
    }

    /// Reports a method or a member that the negotiated version does not have.
    fn check_release(&self, message: &RpcMessage<'_, '_>) {
        let own = own_version(message).map(|_| schema::STATELESS);
        let (Some(version), Some(method), Some(node)) = (
            self.handshake.version.or(own),
            message.method,
            message.call.method,
        ) else {
            return;
        };
        let (name, what) = (schema::name(version), method.name);
        let of_params = method.releases_of(message.call.params, None);
        if method.releases.and(version).is_empty() {
            broken!(message, rule::NOT_IN_VERSION, message.at(node);
                "version {name}, which was agreed on, has no {what}");
        } else if of_params.and(version).is_empty() {
            broken!(message, rule::NOT_IN_VERSION, message.at(node);
                "version {name}, which was agreed on, has {what} without some of these params");
            message.report().at_most(Severity::Info);
        }
    }
}

/// Returns the value of a field, decoded if it has the form `=?base64?…?=`.
fn decoded_field(value: String) -> String {
    let encoded = value.strip_prefix("=?base64?");
    let encoded = encoded.and_then(|value| value.strip_suffix("?="));
    let bytes = encoded.and_then(|text| STANDARD.decode(text).ok());
    let decoded = bytes.and_then(|bytes| String::from_utf8(bytes).ok());
    decoded.unwrap_or(value)
}

/// Returns the text with which a field repeats an argument; `None` for null, objects and lists, which none repeats.
fn field_text(argument: Node<'_>) -> Option<String> {
    if let Some(flag) = argument.as_bool() {
        return Some(flag.to_string());
    }
    let number = argument.number_text().map(str::to_owned);
    let number = number.or_else(|| argument.as_i128().map(|number| number.to_string()));
    let text = argument.text().filter(|_| argument.is_string());
    number.or_else(|| text.map(Cow::into_owned))
}

impl Extension for McpSession {
    type Own = RequestContext;
    const DIALECT: &'static Dialect = &DIALECT;
    const SIDES: [&'static str; 2] = DESCRIPTOR.sides;
    const SESSION_FIELD: Option<SessionField> = Some(SessionField {
        name: "Mcp-Session-Id",
        rule: rule::SESSION_MISSING,
    });
    const NEEDS_LINE_END: bool = true;
    const COMPARES_ID_TYPES: bool = false;
    const CANCELS: &'static [(&'static str, &'static str)] =
        &[("notifications/cancelled", "requestId")];
    const PERSON: &'static [&'static str] = &[ELICITATION];
    const NESTED: Nested = Nested(&[(ELICITATION, ASKERS), (SAMPLING, ASKERS)]);
    const NEEDS: &'static [(&'static str, &'static str)] = schema::NEEDS;

    fn frame(&mut self, seen: Current<'_, '_>) {
        head::check_response(seen);
        if let Some(version) = self.handshake.version
            && seen.message.kind == "batch"
            && version != schema::BATCHES
        {
            broken!(seen, rule::BATCH, seen.whole();
                "the message is a batch; version {} has none, only 2025-03-26 has",
                schema::name(version));
        }
    }

    fn asks(&mut self, message: &RpcMessage<'_, '_>) -> RequestContext {
        if message.is_from_client() {
            self.check_head(message);
        }
        // Without a name several clients look like one session.
        if message.unnamed {
            self.handshake.assume();
        }
        let before = message.findings();
        self.handshake.check_era(message, &mut self.capabilities);
        if message.is_from_client() {
            self.handshake.check_order(message);
        }
        let text = |name: &str| Some(to_stored(&message.param(name)?.text()?));
        let mut context = RequestContext {
            stateless: own_version(message).is_some(),
            paged: message.param("cursor").is_some(),
            progress: self.tokens.ask(message),
            task: self.tasks.ask(message),
            ..RequestContext::default()
        };
        match &*message.name() {
            "initialize" => {
                let declared = message.param("capabilities");
                self.capabilities.read(ToServer, declared);
                context.version = text("protocolVersion");
            }
            schema::CALL => {
                context.tool = text("name");
                self.tools.check_call(message);
            }
            ELICITATION => self.inputs.open(message),
            "notifications/elicitation/complete" => self.inputs.complete(message),
            "notifications/tools/list_changed" => self.tools.change_announced = true,
            _ => {}
        }
        if message.role == Role::Request && message.is_from_client() {
            context.repeatable = self.inputs.ask(message, context.stateless);
            context.supported = Supported::of(message).map(Box::new);
            self.requested.ask(message, context.stateless);
        }
        self.requested.check(message, self.handshake.is_stateless());
        if message.findings() == before {
            self.check_release(message);
            // The first version had no capability for it.
            let is_first = self.handshake.version == Some(schema::FIRST);
            if !is_first || !message.name().starts_with("completion/") {
                self.capabilities.check_method::<Self>(message);
            }
        }
        self.check_elicitation(message);
        context
    }

    fn answers(
        &mut self,
        message: &RpcMessage<'_, '_>,
        asked: &OpenRequest,
        request: &SentRequest<RequestContext>,
    ) {
        let (seen, own) = (message.seen, &request.own);
        if let Some(&(cancel, time)) = request
            .cancelled
            .as_deref()
            .filter(|_| message.role == Role::Response)
        {
            broken!(message, rule::ANSWER_AFTER_CANCEL, seen.whole(), cancel;
                "the request was cancelled by #{cancel}, and still has a result");
            let late = time.zip(seen.origin.time);
            if late.is_none_or(|(from, to)| to.saturating_sub(from) < CROSSING) {
                message.report().at_most(Severity::Info);
            }
        }
        self.handshake
            .answers(message, asked, own.version.as_deref());
        self.tokens.answer(message, own.progress.as_ref());
        self.inputs.answer(message, asked, &own.repeatable);
        let of_task = self.tasks.call_of(own.task.as_ref()).cloned();
        let name = request.method.map_or("", |method| method.name);
        let call = || TaskCall {
            method: name,
            tool: own.tool.clone(),
        };
        self.tasks.answer(message, asked, own.task.as_ref(), call);
        let name = of_task.as_ref().map_or(name, |call| call.method);
        let tool = of_task.as_ref().map_or(&own.tool, |call| &call.tool);
        let Some(result) = message.result() else {
            return;
        };
        let asks = check_result_type(message, result, name, own.stateless);
        if own.stateless {
            self.requested.answer(message);
            asked_input::check(message, name, result, own.supported.as_deref());
        }
        let content = match name {
            "initialize" | "server/discover" => {
                let declared = result.get("capabilities");
                return self.capabilities.read(ToClient, declared);
            }
            "tools/list" => return self.tools.read(message, own.paged),
            schema::CALL => "content",
            "prompts/get" => "messages",
            "resources/read" => "contents",
            _ => return,
        };
        if let Some(tool) = tool.as_ref().filter(|_| name == schema::CALL) {
            self.tools.check_result(tool, message, result);
        }
        if let Some(node) = result.get(content) {
            content::check(message, node, content);
        }
        content::check_structured(
            message,
            result.get("structuredContent").filter(|_| !own.stateless),
        );
        let has_other = asks || result.get("task").is_some();
        if result.is_map() && !has_other && result.get(content).is_none() {
            broken!(message, rule::MISSING_CONTENT, seen.at(result);
                "the result of {name} has no {content}");
        }
    }

    fn refused(&mut self, asked: &OpenRequest) {
        self.handshake.refused(asked);
    }

    fn cancelled(&mut self, message: &RpcMessage<'_, '_>, asked: &OpenRequest) {
        if asked.subject() == Some("initialize") {
            broken!(message, rule::CANCEL_INITIALIZE, message.whole(), asked.index();
                "initialize is cancelled; a client that gives up closes the connection");
        }
    }

    fn missed(&mut self) {
        self.handshake.assume();
        self.tokens.missed();
        self.inputs.missed();
        self.requested.missed();
    }

    fn is_cancelled(request: &SentRequest<RequestContext>) -> bool {
        // Over HTTP, a client without a session cancels a request by closing the connection.
        request.cancelled.is_some() || request.own.stateless && request.client_left
    }

    fn needs_answer(request: &SentRequest<RequestContext>) -> bool {
        let method = request.method.map_or("", |method| method.name);
        !Self::is_cancelled(request) && method != "subscriptions/listen"
    }
}

/// Checks the members of a result that say what it is. Returns true if it asks for input.
fn check_result_type(
    message: &RpcMessage<'_, '_>,
    result: Node<'_>,
    name: &str,
    stateless: bool,
) -> bool {
    let kind = result.get("resultType");
    if stateless && kind.is_none() {
        broken!(message, rule::RESULT_TYPE_MISSING, message.at(result);
            "resultType is missing; version {} requires it, and its clients refuse the result",
            schema::name(schema::STATELESS));
    }
    let input = ["inputRequests", "requestState"];
    let has_input = input.iter().any(|name| result.get(name).is_some());
    let is_input = kind.is_some_and(|kind| kind.is_text("input_required"));
    if is_input && !has_input {
        broken!(message, RESULT_TYPE, message.at(result);
            "the result asks for input, but inputRequests and requestState are missing");
    }
    let is_complete = !is_input && result.get("inputRequests").is_none();
    if stateless && is_complete && schema::CACHEABLE.contains(&name) {
        for need in ["ttlMs", "cacheScope"] {
            if result.get(need).is_none() {
                broken!(message, RESULT_TYPE, message.at(result);
                    "{need} of the result of {name} is missing; version {} requires it",
                    schema::name(schema::STATELESS));
            }
        }
    }
    is_input || has_input
}
