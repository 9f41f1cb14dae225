//! The members of every message: kind, version, seq, trace.

use super::state::{Agreed, SaelConnection};
use super::{Report, Turn};
use crate::framing::Head;
use crate::protocol::Direction::{self, ToClient, ToServer};
use crate::protocol::sael::message::role;
use crate::protocol::sael::schema::{self, EXTRA_CODES};
use crate::protocol::sael::token::is_token;
use crate::protocol::schema::Type;
use crate::protocol::schema::check::{At, TypeProblem, Wrong, number};
use crate::protocol::schema::lint::{lint, lint_nothing};
use crate::protocol::session::text::quote;
use crate::tape::Node;

/// The largest integer that every peer reads exactly.
const LARGEST: i128 = (1 << 53) - 1;

/// Returns the direction of a message if only the message shows it.
pub(super) fn sender(turn: Turn<'_, '_>) -> Option<Direction> {
    schema::direction(turn.kind, turn.root)
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

pub(super) fn seq<'a>(turn: Turn<'_, 'a>) -> Seq<'a> {
    let node = turn.get("seq");
    let key = node.map_or(0, |node| match node.as_i128() {
        Some(n) if (-LARGEST..=LARGEST).contains(&n) => n,
        #[allow(clippy::cast_precision_loss)] // the server has the same loss
        Some(n) => n as f64 as i128,
        None => number(node).map_or(0, |f| f.trunc() as i128),
    });
    let good = node.and_then(Node::as_i128);
    let good = good.is_some_and(|n| (1..=LARGEST).contains(&n));
    Seq { node, key, good }
}

/// Checks the parts that do not depend on earlier messages. Returns false if no further checks apply.
pub(super) fn check(turn: Turn<'_, '_>, conn: &mut SaelConnection, report: &mut Report) -> bool {
    let [client_bye, server_bye] = conn.bye;
    let is_server = turn.side == Some(ToClient);
    let bye = if is_server { server_bye } else { client_bye };
    if let Some(bye) = bye
        && turn.kind != "BYE"
        && conn.reported.first_of(turn.side, "after-bye")
    {
        let text = format!("{} comes after BYE of the same side", turn.kind);
        report.broken_by("after-bye", turn.seen.whole(), bye, text);
    }
    if !check_kind(turn, conn, report) {
        return false;
    }
    form(turn, conn, report);
    if turn.get("v").is_none() && !turn.header && matches!(turn.kind, "HEY" | "RSM") {
        let text = format!("{} has no version: v should be 1", turn.kind);
        report.broken("version-missing", turn.seen.whole(), text);
    }
    report_exposed_token(turn, report);
    shape(turn, report);
    if turn.kind == "ERR"
        && let Some(code) = turn.get("code")
        && let Some(extra) = EXTRA_CODES.into_iter().find(|extra| code.is_text(extra))
        && conn.reported.first(extra)
    {
        let text = format!("{extra} is a code of the reference server, not of the document");
        report.broken("error-code-extra", turn.seen.at(code), text);
    }
    true
}

/// Checks the kind and its direction.
fn check_kind(turn: Turn<'_, '_>, conn: &mut SaelConnection, report: &mut Report) -> bool {
    let node = turn.get("kind");
    if role(turn.kind).is_none() {
        let text = match node {
            _ if turn.header => format!("kind {} is not one of the seventeen", turn.kind),
            Some(node) => format!("kind is {}, which is not one of the seventeen", quote(node)),
            None => "there is no kind".to_owned(),
        };
        report.broken("kind-unknown", turn.place(node), text);
        conn.odd = Some(seq(turn).key);
        return false;
    }
    if let (Some(wanted), Some(side)) = (schema::fixed_direction(turn.kind), turn.side)
        && wanted != side
    {
        let (who, whose) = match side {
            ToServer => ("client", "server"),
            ToClient => ("server", "client"),
        };
        let text = format!(
            "{} comes from the {who}, but only the {whose} may send it",
            turn.kind
        );
        report.broken("kind-direction", turn.place(node), text);
        conn.odd = Some(seq(turn).key);
        return false;
    }
    true
}

/// Checks the form: JSON or `MessagePack`, text or binary, with or without a header.
fn form(turn: Turn<'_, '_>, conn: &mut SaelConnection, report: &mut Report) {
    if turn.header && conn.reported.first_of(turn.side, "header-form") {
        let text = "the frame begins with a version byte and its kind, which no peer reads";
        report.broken("header-form", turn.seen.whole(), text);
    }
    if let Some(text) = turn.seen.wrong_mask()
        && conn.reported.first_of(turn.side, "mask")
    {
        report.broken("mask", turn.seen.whole(), text);
    }
    let Head::WebSocket { opcode, .. } = turn.seen.frame.head else {
        return;
    };
    let body = turn.seen.message.body.of(turn.seen.frame.view.bytes);
    let packed = matches!(body.first(), Some(0x80..=0x8f | 0xde | 0xdf));
    let (rule, text) = match (conn.agreed, opcode, packed) {
        (Agreed::Json, _, true) => (
            "msgpack-unagreed",
            "the body is MessagePack, but the upgrade selected no subprotocol for it",
        ),
        (Agreed::Json, 2, false) if !turn.header => (
            "json-in-binary",
            "JSON is in a binary message; it should be in a text message",
        ),
        (Agreed::MessagePack, 1, _) => (
            "text-despite-msgpack",
            "this is a text message, but the upgrade selected MessagePack in binary messages",
        ),
        _ => return,
    };
    if conn.reported.first_of(turn.side, rule) {
        report.broken(rule, turn.seen.whole(), text);
    }
}

/// Returns the version of a message.
pub(super) fn version_of(turn: Turn<'_, '_>) -> Option<i128> {
    turn.get("v").and_then(Node::as_i128).or_else(|| {
        let first = turn.header.then(|| turn.seen.frame.view.body().first());
        first.flatten().map(|byte| i128::from(*byte))
    })
}

/// Reports a token outside the `auth` of HEY.
fn report_exposed_token(turn: Turn<'_, '_>, report: &mut Report) {
    let body = turn.seen.message.body.of(turn.seen.frame.view.bytes);
    if memchr::memmem::find(body, b"qct.v").is_none() {
        return;
    }
    let Some(root) = turn.root else { return };
    let own = turn
        .get("auth")
        .filter(|_| turn.kind == "HEY")
        .and_then(|auth| auth.get("token"))
        .map(Node::index);
    let mut place = None;
    root.each(&mut |node| {
        if place.is_none()
            && Some(node.index()) != own
            && node.is_string()
            && node.text().is_some_and(|text| is_token(&text))
        {
            place = Some(turn.seen.at(node));
        }
    });
    if let Some(place) = place {
        let text = format!("{} has a token; only HEY should have one", turn.kind);
        report.broken("token-exposed", place, text);
    }
}

/// Checks the members of the schema.
fn shape(turn: Turn<'_, '_>, report: &mut Report) {
    let Some(form) = schema::find(turn.kind, turn.side, turn.root) else {
        return;
    };
    let what = (&form.ty, turn.kind);
    let Some(root) = turn.root else {
        return lint_nothing(turn.seen, what, report);
    };
    let rule = |problem: &TypeProblem<'_, '_>| match (problem.at, problem.wrong) {
        (At::Item(..), Wrong::Type(Type::Object(_))) => Some("stage-kind"),
        _ => problem.rule().filter(|rule| match *rule {
            // A number of the server can only repeat that of a request: it is checked when they are matched.
            "seq-value" => turn.side == Some(ToServer) || number(problem.node).is_none(),
            // Traces of answers are compared with those of requests.
            "trace-id" | "span-id" => turn.side != Some(ToClient),
            _ => true,
        }),
    };
    lint(turn.seen, root, what, &rule, report);
}

/// Checks the trace ids.
pub(super) fn check_traces(turn: Turn<'_, '_>, report: &mut Report) {
    if let Some((form, root)) = schema::find(turn.kind, turn.side, turn.root).zip(turn.root) {
        let is_trace = |rule: &&str| matches!(*rule, "trace-id" | "span-id");
        let rule = |problem: &TypeProblem<'_, '_>| problem.rule().filter(is_trace);
        lint(turn.seen, root, (&form.ty, turn.kind), &rule, report);
    }
}
