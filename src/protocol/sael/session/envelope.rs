//! The members of every message: kind, version, seq, trace.

use super::state::{Agreed, SaelConnection};
use super::{SaelMessage, rule};
use crate::framing::Head;
use crate::protocol::Direction::{self, ToClient, ToServer};
use crate::protocol::sael::message::role;
use crate::protocol::sael::schema::{self, EXTRA_CODES};
use crate::protocol::sael::token::is_token;
use crate::protocol::schema::Type;
use crate::protocol::schema::check::{At, TypeProblem, Wrong, number};
use crate::protocol::schema::lint::{lint, lint_nothing};
use crate::protocol::session::text::quote;
use crate::protocol::session::{RuleId, broken};
use crate::tape::Node;
use memchr::memmem::Finder;
use std::sync::LazyLock;

/// Returns the direction of a message if only the message shows it.
pub(super) fn sender(message: &SaelMessage<'_, '_>) -> Option<Direction> {
    schema::direction(message.forms, message.root)
}

/// `seq`, as the reference server reads it.
#[derive(Clone, Copy)]
pub(super) struct Seq<'a> {
    pub(super) node: Option<Node<'a>>,
    /// The key for requests and answers: 0 if it is missing or not a number; as a double, without its fraction.
    pub(super) key: i128,
    /// A request may have this number.
    pub(super) good: bool,
}

pub(super) fn seq(root: Option<Node<'_>>) -> Seq<'_> {
    let node = root.and_then(|root| root.get("seq"));
    let integer = node.and_then(Node::as_i128);
    let key = match integer {
        Some(n) if (-schema::MAX_EXACT..=schema::MAX_EXACT).contains(&n) => n,
        #[allow(clippy::cast_precision_loss)] // the server has the same loss
        Some(n) => n as f64 as i128,
        None => node.and_then(number).map_or(0, |f| f.trunc() as i128),
    };
    let good = integer.is_some_and(|n| (1..=schema::MAX_EXACT).contains(&n));
    Seq { node, key, good }
}

/// Checks the parts that do not depend on earlier messages. Returns false if no further checks apply.
pub(super) fn check(message: &SaelMessage<'_, '_>, conn: &mut SaelConnection) -> bool {
    let [client_bye, server_bye] = conn.rare.bye;
    let is_server = message.side == Some(ToClient);
    let bye = if is_server { server_bye } else { client_bye };
    if let Some(bye) = bye
        && message.kind != "BYE"
        && conn.reported.first_of(message.side, rule::AFTER_BYE)
    {
        broken!(message, rule::AFTER_BYE, message.whole(), bye;
            "{} comes after BYE of the same side", message.kind);
    }
    if !check_kind(message, conn) {
        return false;
    }
    form(message, conn);
    if matches!(message.kind, "HEY" | "RSM") && !message.header && message.get("v").is_none() {
        broken!(message, rule::VERSION_MISSING, message.whole();
            "{} has no version: v should be 1", message.kind);
    }
    report_exposed_token(message);
    shape(message);
    if message.kind == "ERR"
        && let Some(code) = message.get("code")
        && let Some(extra) = EXTRA_CODES.into_iter().find(|extra| code.is_text(extra))
        && conn.rare.reported_codes.insert(extra)
    {
        broken!(message, rule::ERROR_CODE_EXTRA, message.at(code);
            "{extra} is a code of the reference server, not of the document");
    }
    true
}

/// Checks the kind and its direction.
fn check_kind(message: &SaelMessage<'_, '_>, conn: &mut SaelConnection) -> bool {
    let node = || message.get("kind");
    if role(message.kind).is_none() {
        let place = message.place(node());
        match node() {
            _ if message.header => broken!(message, rule::KIND_UNKNOWN, place;
                "kind {} is not one of the 17 kinds of frames", message.kind),
            Some(node) => broken!(message, rule::KIND_UNKNOWN, place;
                "kind is {}, which is not one of the 17 kinds of frames", quote(node)),
            None => broken!(message, rule::KIND_UNKNOWN, place; "there is no kind"),
        }
        conn.rare.odd = Some(message.seq.key);
        return false;
    }
    if let (Some(wanted), Some(side)) = (schema::fixed_direction(message.forms), message.side)
        && wanted != side
    {
        let name = |side| if side == ToServer { "client" } else { "server" };
        broken!(message, rule::KIND_DIRECTION, message.place(node());
            "{} comes from the {}, but only the {} may send it",
            message.kind, name(side), name(wanted));
        conn.rare.odd = Some(message.seq.key);
        return false;
    }
    true
}

/// Checks the form: JSON or `MessagePack`, text or binary, with or without a header.
fn form(message: &SaelMessage<'_, '_>, conn: &mut SaelConnection) {
    if message.header && conn.reported.first_of(message.side, rule::HEADER_FORM) {
        broken!(message, rule::HEADER_FORM, message.whole();
            "the frame begins with a version byte and its kind, which no peer reads");
    }
    if let Some(text) = message.wrong_mask()
        && conn.reported.first_of(message.side, rule::MASK)
    {
        broken!(message, rule::MASK, message.whole(); "{text}");
    }
    let Head::WebSocket { opcode, .. } = message.frame.head else {
        return;
    };
    let body = message.seen.message.body.of(message.frame.view.bytes);
    let packed = matches!(body.first(), Some(0x80..=0x8f | 0xde | 0xdf));
    let (rule, text) = match (conn.agreed, opcode, packed) {
        (Agreed::Json, _, true) => (
            rule::MSGPACK_UNAGREED,
            "the body is MessagePack, but the upgrade selected no subprotocol for it",
        ),
        (Agreed::Json, 2, false) if !message.header => (
            rule::JSON_IN_BINARY,
            "JSON is in a binary message; it should be in a text message",
        ),
        (Agreed::MessagePack, 1, _) => (
            rule::TEXT_DESPITE_MSGPACK,
            "this is a text message, but the upgrade selected MessagePack in binary messages",
        ),
        _ => return,
    };
    if conn.reported.first_of(message.side, rule) {
        broken!(message, rule, message.whole(); "{text}");
    }
}

/// Returns the version of a message.
pub(super) fn version_of(message: &SaelMessage<'_, '_>) -> Option<i128> {
    message.get("v").and_then(Node::as_i128).or_else(|| {
        let first = message.header.then(|| message.frame.view.body().first());
        first.flatten().map(|byte| i128::from(*byte))
    })
}

/// Reports a token outside the `auth` of HEY.
fn report_exposed_token(message: &SaelMessage<'_, '_>) {
    static TOKEN: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new("qct.v"));
    let body = message.seen.message.body.of(message.frame.view.bytes);
    if TOKEN.find(body).is_none() {
        return;
    }
    let Some(root) = message.root else { return };
    let own = message
        .get("auth")
        .filter(|_| message.kind == "HEY")
        .and_then(|auth| auth.get("token"))
        .map(Node::index);
    let mut place = None;
    root.each(&mut |node| {
        if place.is_none()
            && Some(node.index()) != own
            && node.is_string()
            && node.text().is_some_and(|text| is_token(&text))
        {
            place = Some(message.at(node));
        }
    });
    if let Some(place) = place {
        broken!(message, rule::TOKEN_EXPOSED, place;
            "{} has a token; only HEY should have one", message.kind);
    }
}

/// Checks the members of the schema.
fn shape(message: &SaelMessage<'_, '_>) {
    let Some(form) = schema::find(message.forms, message.side, message.root) else {
        return;
    };
    let what = (&form.ty, message.kind);
    let Some(root) = message.root else {
        return lint_nothing(&message.seen, what, &mut message.report());
    };
    let rule = |problem: &TypeProblem<'_, '_>| match (problem.at, problem.wrong) {
        (At::Item(..), Wrong::Type(Type::Object(_))) => Some(rule::STAGE_KIND),
        _ => problem.rule().filter(|rule| match *rule {
            // A number of the server can only repeat that of a request: it is checked when they are matched.
            rule::SEQ_VALUE => message.side == Some(ToServer) || number(problem.node).is_none(),
            // Traces of answers are compared with those of requests.
            rule::TRACE_ID | rule::SPAN_ID => message.side != Some(ToClient),
            _ => true,
        }),
    };
    lint(&message.seen, root, what, &rule, &mut message.report());
}

/// Checks the trace ids.
pub(super) fn check_traces(message: &SaelMessage<'_, '_>) {
    if let Some((form, root)) =
        schema::find(message.forms, message.side, message.root).zip(message.root)
    {
        let is_trace = |rule: &RuleId| matches!(*rule, rule::TRACE_ID | rule::SPAN_ID);
        let rule = |problem: &TypeProblem<'_, '_>| problem.rule().filter(is_trace);
        let what = (&form.ty, message.kind);
        lint(&message.seen, root, what, &rule, &mut message.report());
    }
}
