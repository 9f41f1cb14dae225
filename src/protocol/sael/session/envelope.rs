//! What every message has: kind, version, seq, trace.

use super::state::{Agreed, Conn};
use super::{Report, Turn};
use crate::framing::Head;
use crate::protocol::Direction::{self, ToClient, ToServer};
use crate::protocol::sael::message::role;
use crate::protocol::sael::schema::{self, EXTRA_CODES};
use crate::protocol::sael::token::is_token;
use crate::protocol::schema::Type;
use crate::protocol::schema::check::{At, Problem, Wrong, number};
use crate::protocol::schema::lint::{lint, lint_nothing};
use crate::protocol::session::text::quote;
use crate::tape::Node;

/// The largest whole number that every peer reads as it is written.
const LARGEST: i128 = (1 << 53) - 1;

/// Who speaks, where only the message tells.
pub(super) fn speaker(turn: Turn<'_, '_>) -> Option<Direction> {
    schema::direction(turn.kind, turn.root)
}

/// `seq`, and how the reference server reads it.
#[derive(Clone, Copy)]
pub(super) struct Seq<'a> {
    pub(super) node: Option<Node<'a>>,
    /// What requests and answers are paired by: 0 where it is missing or no number; as a double, without its fraction.
    pub(super) key: i128,
    /// Whether it is a number that a request may have.
    pub(super) good: bool,
}

pub(super) fn seq<'a>(turn: Turn<'_, 'a>) -> Seq<'a> {
    let node = turn.get("seq");
    let key = node.map_or(0, |node| match node.as_i128() {
        Some(n) if (-LARGEST..=LARGEST).contains(&n) => n,
        #[allow(clippy::cast_precision_loss)] // that loss is what the server suffers
        Some(n) => n as f64 as i128,
        None => number(node).map_or(0, |f| f.trunc() as i128),
    });
    let good = node.and_then(Node::as_i128);
    let good = good.is_some_and(|n| (1..=LARGEST).contains(&n));
    Seq { node, key, good }
}

/// Checks what does not depend on what was said before; false where the message means nothing more.
pub(super) fn check(turn: Turn<'_, '_>, conn: &mut Conn, report: &mut Report) -> bool {
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
    if !known(turn, conn, report) {
        return false;
    }
    form(turn, conn, report);
    if turn.get("v").is_none() && !turn.header && matches!(turn.kind, "HEY" | "RSM") {
        let text = format!("{} says no version: v should be 1", turn.kind);
        report.broken("version-missing", turn.seen.whole(), text);
    }
    exposed(turn, report);
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

/// The kind, and who says it.
fn known(turn: Turn<'_, '_>, conn: &mut Conn, report: &mut Report) -> bool {
    let node = turn.get("kind");
    if role(turn.kind).is_none() {
        let text = match node {
            _ if turn.header => format!("kind {} is none of the seventeen", turn.kind),
            Some(node) => format!("kind is {}, which is none of the seventeen", quote(node)),
            None => "there is no kind".to_owned(),
        };
        report.broken("kind-unknown", turn.place(node), text);
        conn.odd = Some(seq(turn).key);
        return false;
    }
    if let (Some(wanted), Some(side)) = (schema::goes(turn.kind), turn.side)
        && wanted != side
    {
        let (who, whose) = match side {
            ToServer => ("client", "server"),
            ToClient => ("server", "client"),
        };
        let text = format!("{} comes from the {who}, and is the {whose}'s", turn.kind);
        report.broken("kind-direction", turn.place(node), text);
        conn.odd = Some(seq(turn).key);
        return false;
    }
    true
}

/// JSON or `MessagePack`, text or binary, header or none.
fn form(turn: Turn<'_, '_>, conn: &mut Conn, report: &mut Report) {
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
            "the body is MessagePack, and the upgrade agreed on no subprotocol for it",
        ),
        (Agreed::Json, 2, false) if !turn.header => (
            "json-in-binary",
            "JSON goes in a binary message, and text messages are agreed on",
        ),
        (Agreed::MessagePack, 1, _) => (
            "text-despite-msgpack",
            "this is a text message, and the upgrade agreed on MessagePack in binary ones",
        ),
        _ => return,
    };
    if conn.reported.first_of(turn.side, rule) {
        report.broken(rule, turn.seen.whole(), text);
    }
}

/// What is said of the version.
pub(super) fn version_of(turn: Turn<'_, '_>) -> Option<i128> {
    turn.get("v").and_then(Node::as_i128).or_else(|| {
        let first = turn.header.then(|| turn.seen.frame.view.body().first());
        first.flatten().map(|byte| i128::from(*byte))
    })
}

/// A token anywhere but in HEY's auth.
fn exposed(turn: Turn<'_, '_>, report: &mut Report) {
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
        let text = format!("{} has a token where none belongs", turn.kind);
        report.broken("token-exposed", place, text);
    }
}

/// The members that the schema has.
fn shape(turn: Turn<'_, '_>, report: &mut Report) {
    let Some(form) = schema::find(turn.kind, turn.side, turn.root) else {
        return;
    };
    let what = (&form.ty, turn.kind);
    let Some(root) = turn.root else {
        return lint_nothing(turn.seen, what, report);
    };
    let rule = |problem: &Problem<'_, '_>| match (problem.at, problem.wrong) {
        (At::Item(..), Wrong::Type(Type::Object(_))) => Some("stage-kind"),
        _ => problem.rule().filter(|rule| match *rule {
            // A number of the server's can only repeat what it was given: that is seen when it is paired.
            "seq-value" => turn.side == Some(ToServer) || number(problem.node).is_none(),
            // Those of answers are compared with those of requests.
            "trace-id" | "span-id" => turn.side != Some(ToClient),
            _ => true,
        }),
    };
    lint(turn.seen, root, what, &rule, report);
}

/// The ids of the trace.
pub(super) fn traces(turn: Turn<'_, '_>, report: &mut Report) {
    if let Some((form, root)) = schema::find(turn.kind, turn.side, turn.root).zip(turn.root) {
        let is_trace = |rule: &&str| matches!(*rule, "trace-id" | "span-id");
        let rule = |problem: &Problem<'_, '_>| problem.rule().filter(is_trace);
        lint(turn.seen, root, (&form.ty, turn.kind), &rule, report);
    }
}
