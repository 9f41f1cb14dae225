//! Reads a frame as JSON-RPC, for the protocols that take it as the specification has it.
//!
//! ```text
//!   {method, id}          request           {id, result}     response       [ … ]    batch
//!   {method}              notification      {id?, error}     error
//! ```
//!
//! Over HTTP a body that is not a message is no fault: it belongs to the exchange.

use super::dialect::Dialect;
use super::{Call, outcome};
use crate::encoding::{Encoding, Parsed};
use crate::error::DecodeError;
use crate::framing::fields::fields;
use crate::framing::{Frame, Framing, Head, Places};
use crate::protocol::json_body::{empty, not_an_object, parse};
use crate::protocol::{Context, Evidence, Id, Kind, Message, Notes, PartName, Role};
use crate::span::SpannedText;
use crate::tape::Node;
use std::sync::LazyLock;

/// The fault codes of all of these protocols.
pub(in crate::protocol) const FAULTS: &[(&str, &str)] = &[
    ("not-an-object", "JSON, but not an object or a batch"),
    (
        "not-a-message",
        "an object without method, result and error",
    ),
];

const KINDS: [(&str, Option<Role>, &str); 9] = [
    ("request", Some(Role::Request), "asks for an answer"),
    ("notification", Some(Role::Notification), "needs no answer"),
    ("response", Some(Role::Response), "an answer"),
    ("error", Some(Role::Error), "an answer with an error"),
    ("batch", None, "several messages as an array"),
    (
        "blank-line",
        Some(Role::Control),
        "a line without a message",
    ),
    (
        "http-request",
        Some(Role::Control),
        "an HTTP request without a message",
    ),
    (
        "http-response",
        Some(Role::Control),
        "an HTTP response without a message",
    ),
    (
        "sse-event",
        Some(Role::Control),
        "a server-sent event without a message",
    ),
];

/// The kinds of messages that all of these protocols have.
pub(in crate::protocol) static ALL_KINDS: LazyLock<Vec<Kind>> = LazyLock::new(kinds);

/// Returns the kinds of messages that all of these protocols have.
pub(in crate::protocol) fn kinds() -> Vec<Kind> {
    let kind = |(name, role, about)| Kind::new(name, role, about);
    KINDS.into_iter().map(kind).collect()
}

/// The largest number of members of a batch that are examined for the protocol.
const MAX_EXAMINED: usize = 64;

/// Finds the evidence that a message of this role belongs to a protocol.
pub(in crate::protocol) type Judge = fn(&Call<'_>, Role) -> Evidence;

/// Names of error codes that only one protocol has.
pub(in crate::protocol) type Codes = &'static [(i128, &'static str)];

/// Names that only one protocol has.
pub(in crate::protocol) struct Signs {
    /// Starts of methods.
    pub(in crate::protocol) methods: &'static [&'static str],
    /// Members of results.
    pub(in crate::protocol) results: &'static [&'static str],
}

impl Signs {
    /// Returns the evidence of a message. `is_own` finds other signs, such as those of the handshake, which has the
    /// same name in several protocols.
    pub(in crate::protocol) fn judge(
        &self,
        dialect: &Dialect,
        call: &Call<'_>,
        role: Role,
        is_own: impl Fn() -> bool,
    ) -> Evidence {
        if matches!(role, Role::Request | Role::Notification) {
            let name = call.method.and_then(Node::text).unwrap_or_default();
            let is_sign = self.methods.iter().any(|own| name.starts_with(own));
            return if is_sign || is_own() {
                Evidence::Certain
            } else if name != "initialize" && dialect.find(&name).is_some() {
                Evidence::Possible
            } else {
                Evidence::None
            };
        }
        let result = call.result.filter(|result| result.is_map());
        let result = result.filter(|_| role == Role::Response);
        let has = |result: Node<'_>| self.results.iter().any(|name| result.get(name).is_some());
        if result.is_some_and(|result| has(result) || is_own()) {
            Evidence::Certain
        } else {
            Evidence::Possible
        }
    }
}

/// The code of an error in a batch is one level deeper than that of a message alone.
const BATCH_LEVELS: u32 = 3;

/// Reads a frame.
pub(in crate::protocol) fn read<'a>(
    frame: &Frame<'a>,
    context: &Context,
    parsed: &'a mut Parsed,
    dialect: &Dialect,
    judge: Judge,
) -> Message<'a> {
    let view = frame.view;
    let mut message = Message {
        valid: true,
        ..Message::new(view.body)
    };
    let text = view.body().trim_ascii();
    let exchange = Exchange::of(frame);
    if let Some(exchange) = exchange.filter(|exchange| !exchange.is_json(frame, text)) {
        message.valid = text.is_empty();
        exchange.control(&mut message);
        return message;
    }
    if text.is_empty() {
        if frame.framing == Framing::Lines {
            (message.kind, message.role) = ("blank-line".into(), Some(Role::Control));
            return message;
        }
        message.valid = false;
        message.faults.push(empty(frame));
        return message;
    }
    let is_batch = text.starts_with(b"[");
    parsed.set_head(if is_batch {
        BATCH_LEVELS
    } else {
        dialect.head_levels
    });
    if let Some(root) = parse(frame, context, parsed, &mut message) {
        interpret(root, exchange, dialect, judge, &mut message);
    }
    message
}

/// Sets kind, role, id, subject, name, outcome and evidence.
fn interpret<'a>(
    root: Node<'a>,
    exchange: Option<Exchange>,
    dialect: &Dialect,
    judge: Judge,
    message: &mut Message<'a>,
) {
    if root.is_array() {
        if !message.valid && root.children().next().is_none() {
            // Text that begins with a bracket.
            return;
        }
        message.kind = "batch".into();
        let calls = members(root).map(Call::of);
        let roles = calls.filter_map(|call| Some((role(&call)?, call)));
        for (role, call) in roles.take(MAX_EXAMINED) {
            message.evidence = message.evidence.max(judge(&call, role));
            let first = message.role.is_none_or(|had| rank(role) < rank(had));
            message.role = if first { Some(role) } else { message.role };
            // One error in a batch makes it an error.
            if message.outcome.is_none() {
                message.outcome = match role {
                    Role::Error => call.error().and_then(outcome),
                    Role::Response => dialect.failure(&call),
                    _ => None,
                };
            }
        }
        message.failed = message.outcome.is_some() && message.role != Some(Role::Error);
        return;
    }
    let call = Call::of(root);
    let Some(role) = role(&call) else {
        if !message.valid {
            // Too little was read for a decision.
        } else if let Some(exchange) = exchange {
            exchange.control(message);
        } else {
            (message.id, message.id_span) = (call.id(), call.id.map(Node::span));
            message.faults.push(not_a_message(root));
        }
        return;
    };
    (message.id, message.id_span) = (call.id(), call.id.map(Node::span));
    message.role = Some(role);
    message.kind = role.name().into();
    message.evidence = judge(&call, role);
    match role {
        Role::Error => message.outcome = call.error().and_then(outcome),
        Role::Request | Role::Notification => {
            message.subject = call.method.and_then(Node::spanned_text);
            dialect.describe(&call, message);
        }
        _ => dialect.describe(&call, message),
    }
}

/// Returns the members of a batch; the message itself if it is none.
pub(in crate::protocol) fn members(root: Node<'_>) -> impl Iterator<Item = Node<'_>> {
    let batch = root.is_array();
    let single = (!batch).then_some(root);
    single
        .into_iter()
        .chain(root.children().filter(move |_| batch))
}

/// Returns the requests of a batch.
pub(in crate::protocol) fn parts<'n>(root: Node<'n>, message: &Message<'_>) -> Vec<Node<'n>> {
    let batch = root.is_array() && message.role == Some(Role::Request);
    let parts = root.children().filter(|_| batch);
    parts.filter(|part| is_request(*part)).collect()
}

/// Returns the names of the members of a batch.
pub(in crate::protocol) fn part_names(root: Node<'_>) -> Vec<PartName> {
    let parts = root.children().filter(|_| root.is_array()).map(Call::of);
    let names = parts.map(|call| PartName {
        kind: role(&call).map_or("", Role::name),
        subject: call.method.and_then(Node::text).map(Into::into),
    });
    names.collect()
}

/// Returns true for a request, also in a batch.
pub(in crate::protocol) fn is_request(root: Node<'_>) -> bool {
    role(&Call::of(root)) == Some(Role::Request)
}

/// The order of roles that decides the role of a batch.
fn rank(role: Role) -> u8 {
    match role {
        Role::Request => 0,
        Role::Error => 2,
        Role::Notification => 3,
        _ => 1,
    }
}

/// Returns the role of an object; `None` if it is not a message.
pub(in crate::protocol) fn role(call: &Call<'_>) -> Option<Role> {
    // In JSON-RPC 1.0 a notification has a null id.
    let asks = |id: Node<'_>| !id.is_null() || call.version.is_some();
    if call.method.is_some() {
        return Some(if call.id.is_some_and(asks) {
            Role::Request
        } else {
            Role::Notification
        });
    }
    let answers = call.id.is_some() || call.version.is_some();
    match (call.error().filter(|_| answers), call.result) {
        (Some(_), _) => Some(Role::Error),
        (None, Some(_)) if answers => Some(Role::Response),
        _ => None,
    }
}

/// Returns true for a message of the Debug Adapter Protocol, which has the framing of protocols on JSON-RPC.
fn is_debug_adapter(root: Node<'_>) -> bool {
    let is = |word| root.get("type").is_some_and(|node| node.is_text(word));
    root.get("seq").is_some() && ["request", "response", "event"].into_iter().any(is)
}

/// Describes a value that is not a message.
fn not_a_message(root: Node<'_>) -> DecodeError {
    let at = root.span();
    if !root.is_map() {
        return not_an_object(root);
    }
    let wanted = "a method, a result or an error";
    if is_debug_adapter(root) {
        let got = "a message of the Debug Adapter Protocol";
        let error = DecodeError::new("not-a-message", at, "message", wanted, got);
        return error.hint("`protocol dap` reads it");
    }
    DecodeError::new("not-a-message", at, "message", wanted, "none of them")
}

/// The part of an HTTP exchange.
#[derive(Clone, Copy)]
pub(in crate::protocol) struct Exchange {
    kind: &'static str,
    status: u16,
}

impl Exchange {
    /// Returns the part that a frame of HTTP is.
    pub(in crate::protocol) fn of(frame: &Frame<'_>) -> Option<Self> {
        let Head::Http {
            start,
            status,
            event,
            ..
        } = frame.head
        else {
            return None;
        };
        let kind = match event {
            true => "sse-event",
            false if start.starts_with("HTTP/") => "http-response",
            false => "http-request",
        };
        Some(Self { kind, status })
    }

    /// Returns true if a body may be JSON, by its type and its first byte.
    pub(in crate::protocol) fn is_json(self, frame: &Frame<'_>, text: &[u8]) -> bool {
        let Some(first) = text.first() else {
            return false;
        };
        let kind = header(frame, "content-type").unwrap_or_default();
        let kind = kind.to_ascii_lowercase();
        let typed = memchr::memmem::find(&kind, b"json").is_some();
        matches!(first, b'{' | b'[') || (typed && self.kind != "sse-event")
    }

    /// Returns true if a body may be a message in another encoding than JSON, by its type.
    #[cfg(feature = "described")]
    pub(in crate::protocol) fn may_be(self, encoding: Encoding, frame: &Frame<'_>) -> bool {
        if frame.view.body().is_empty() {
            return false;
        }
        let kind = header(frame, "content-type").unwrap_or_default();
        let kind = kind.to_ascii_lowercase();
        let is_text = kind.starts_with(b"text/");
        match encoding {
            Encoding::Text => !kind.starts_with(b"text/html") && !kind.starts_with(b"image/"),
            _ => !is_text && self.kind != "sse-event",
        }
    }

    /// Returns true for a response that refuses its request.
    #[cfg(feature = "described")]
    pub(in crate::protocol) fn is_refusal(self) -> bool {
        self.status >= 300
    }

    /// Sets the message to a part of the exchange.
    pub(in crate::protocol) fn control(self, message: &mut Message<'_>) {
        (message.kind, message.role) = (self.kind.into(), Some(Role::Control));
        (message.id, message.id_span) = (Id::None, None);
        if self.status > 0 && self.kind != "sse-event" {
            message.outcome = Some(SpannedText::without_span(self.status.to_string()));
        }
    }
}

/// Returns a field of the head of a frame, if the frame is one run of the stream.
pub(in crate::protocol) fn header<'a>(frame: &Frame<'a>, name: &str) -> Option<&'a [u8]> {
    let (Head::Http { len, .. }, Places::Run(_)) = (frame.head, frame.view.places) else {
        return None;
    };
    let head = frame.view.bytes.get(..len as usize)?;
    let found = fields(head).find(|field| field.is(name))?;
    head.get(found.value)
}

/// Adds the meaning of error codes.
pub(in crate::protocol) fn annotate(root: Node<'_>, notes: &mut Notes, codes: Codes) {
    if !notes.has_remarks() {
        return;
    }
    let own = |number| codes.iter().find(|(code, _)| *code == number);
    let own = |number| own(number).map(|(_, name)| *name);
    for node in members(root).take(MAX_EXAMINED) {
        let code = Call::of(node).error().and_then(|error| error.get("code"));
        if let Some(code) = code
            && let Some(number) = code.as_i128()
            && let Some(name) = own(number).or_else(|| code_name(number))
        {
            notes.remark(code, name);
        }
    }
}

/// Returns the name of a code of JSON-RPC 2.0 section 5.1.
pub(in crate::protocol) fn code_name(code: i128) -> Option<&'static str> {
    Some(match code {
        -32700 => "parse error",
        -32600 => "invalid request",
        -32601 => "method not found",
        -32602 => "invalid params",
        -32603 => "internal error",
        -32099..=-32000 => "server error",
        _ => return None,
    })
}
