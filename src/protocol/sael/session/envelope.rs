//! What every message has: kind, version, seq, trace.

use super::state::{Agreed, Conn};
use super::{Report, Turn, short};
use crate::framing::Head;
use crate::protocol::Direction::{self, ToClient, ToServer};
use crate::protocol::sael::schema::{self, KINDS};
use crate::protocol::sael::token::is_token;
use crate::protocol::schema::check::{At, Wrong, check as compare};
use crate::protocol::schema::{Presence, members_of};
use crate::protocol::session::Place;
use crate::tape::{Node, Scalar, Value};

/// The largest whole number that every peer reads as it is written.
const LARGEST: i128 = (1 << 53) - 1;

/// Error codes of the document.
const CODES: [&str; 15] = [
    "AUTH_INVALID",
    "AUTH_EXPIRED",
    "MISSING_CAPABILITY",
    "TOOL_NOT_FOUND",
    "INVALID_INPUT",
    "TIMEOUT",
    "INTERNAL",
    "BACKPRESSURE",
    "RATE_LIMITED",
    "CANCELLED",
    "SESSION_EXPIRED",
    "COST_LIMIT",
    "UNSUPPORTED_VERSION",
    "FEDERATION_DENIED",
    "FEDERATION_UNREACHABLE",
];

/// Error codes that the reference server has beside them.
const EXTRAS: [&str; 4] = [
    "INVALID_FRAME",
    "UNKNOWN_KIND",
    "TOPIC_NOT_FOUND",
    "PIPELINE_STAGE_FAILED",
];

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
    /// What is wrong with it.
    pub(super) wrong: Option<&'static str>,
}

pub(super) fn seq<'a>(turn: Turn<'_, 'a>) -> Seq<'a> {
    let node = turn.get("seq");
    let (key, wrong) = match node {
        None => (0, None),
        Some(node) => match node.as_i128() {
            Some(n @ 1..=LARGEST) => (n, None),
            Some(0) => (0, Some("0, which is the connection's own")),
            Some(n) if (-LARGEST..0).contains(&n) => (n, Some("below zero")),
            #[allow(clippy::cast_precision_loss)] // that loss is what the server suffers
            Some(n) => (n as f64 as i128, Some("beyond 2^53 - 1")),
            None => fraction(node).map_or((0, Some("no number")), |f| {
                (f.trunc() as i128, Some("a fraction"))
            }),
        },
    };
    Seq { node, key, wrong }
}

pub(super) fn fraction(node: Node<'_>) -> Option<f64> {
    match node.value() {
        Value::Scalar(Scalar::F64(bits)) => Some(f64::from_bits(bits)),
        Value::Scalar(Scalar::F32(bits)) => Some(f64::from(f32::from_bits(bits))),
        #[allow(clippy::cast_precision_loss)] // sums of money, compared roughly
        Value::Scalar(Scalar::Uint(n)) => Some(n as f64),
        #[allow(clippy::cast_precision_loss)]
        Value::Scalar(Scalar::Int(n)) => Some(n as f64),
        _ => node.number_text()?.parse().ok(),
    }
}

/// Checks what does not depend on what was said before; false where the message means nothing more.
pub(super) fn check(turn: Turn<'_, '_>, conn: &mut Conn, report: &mut Report) -> bool {
    let side = turn.side.map_or(0, |side| usize::from(side == ToClient));
    if let Some(Some(bye)) = conn.bye.get(side).copied()
        && turn.kind != "BYE"
        && conn
            .told
            .first(["after-bye", "after-bye/server"][side.min(1)])
    {
        let text = format!("{} comes after BYE of the same side", turn.kind);
        report.broken_by("after-bye", turn.seen.whole(), bye, text);
    }
    if !known(turn, conn, report) {
        return false;
    }
    form(turn, conn, report);
    version(turn, report);
    exposed(turn, report);
    if turn.side != Some(ToClient) {
        traces(turn, report);
    }
    fields(turn, conn, report);
    numbered(turn, report);
    true
}

/// The kind, and who says it.
fn known(turn: Turn<'_, '_>, conn: &mut Conn, report: &mut Report) -> bool {
    let node = turn.get("kind");
    if !KINDS.iter().any(|kind| kind.name == turn.kind) {
        let text = match node {
            _ if turn.header => format!("kind {} is none of the seventeen", turn.kind),
            Some(node) if node.is_string() => {
                format!("kind `{}` is none of the seventeen", short(turn.kind))
            }
            Some(node) => format!(
                "kind is {}, and must be three capital letters",
                node.describe()
            ),
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
    let server = turn.side == Some(ToClient);
    if turn.header
        && conn
            .told
            .first(["header-form", "header-form/server"][usize::from(server)])
    {
        let text = "the frame begins with a version byte and its kind, which no peer reads";
        report.broken("header-form", turn.seen.whole(), text);
    }
    if let Some(text) = turn.seen.wrong_mask()
        && conn
            .told
            .first(["mask", "mask/server"][usize::from(server)])
    {
        report.broken("mask", turn.seen.whole(), text);
    }
    let Head::WebSocket { opcode, .. } = turn.seen.frame.head else {
        return;
    };
    let body = turn.seen.message.body.of(turn.seen.frame.view.bytes);
    let packed = matches!(body.first(), Some(0x80..=0x8f | 0xde | 0xdf));
    let (rule, slot, text) = match (conn.agreed, opcode, packed) {
        (Agreed::Json, _, true) => (
            "msgpack-unagreed",
            ["msgpack-unagreed", "msgpack-unagreed/server"],
            "the body is MessagePack, and the upgrade agreed on no subprotocol for it",
        ),
        (Agreed::Json, 2, false) if !turn.header => (
            "json-in-binary",
            ["json-in-binary", "json-in-binary/server"],
            "JSON goes in a binary message, and text messages are agreed on",
        ),
        (Agreed::MessagePack, 1, _) => (
            "text-despite-msgpack",
            ["text-despite-msgpack", "text-despite-msgpack/server"],
            "this is a text message, and the upgrade agreed on MessagePack in binary ones",
        ),
        _ => return,
    };
    if conn.told.first(slot[usize::from(server)]) {
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

fn version(turn: Turn<'_, '_>, report: &mut Report) {
    match turn.get("v") {
        Some(v) if !matches!(v.as_i128(), Some(1 | 2)) => {
            let got = v
                .as_i128()
                .map_or(v.describe().to_owned(), |n| n.to_string());
            let text = format!("v is {got}, and must be 1 or 2");
            report.broken("version-unknown", turn.seen.at(v), text);
        }
        None if !turn.header && matches!(turn.kind, "HEY" | "RSM") => {
            let text = format!("{} says no version: v should be 1", turn.kind);
            report.broken("version-missing", turn.seen.whole(), text);
        }
        _ => {}
    }
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

/// The ids of the trace, each of so many hex digits and not all zero.
pub(super) fn traces(turn: Turn<'_, '_>, report: &mut Report) {
    for (name, digits, rule) in [
        ("trace_id", 32, "trace-id"),
        ("span_id", 16, "span-id"),
        ("parent_span_id", 16, "span-id"),
    ] {
        let Some(node) = turn.get(name) else { continue };
        let text = node.text();
        let odd = match text.as_deref() {
            None => Some(node.describe().to_owned()),
            Some(id) if id.len() != digits => Some(format!("`{}`", short(id))),
            Some(id) if !id.bytes().all(|b| b.is_ascii_hexdigit()) => Some(format!("`{id}`")),
            Some(id) if id.bytes().all(|b| b == b'0') => Some("all zero".to_owned()),
            Some(_) => None,
        };
        if let Some(odd) = odd {
            let text = format!("{name} is {odd}, and must be {digits} hex digits, not all zero");
            report.broken(rule, turn.seen.at(node), text);
        }
    }
}

/// Members that a kind cannot do without.
fn fields(turn: Turn<'_, '_>, conn: &mut Conn, report: &mut Report) {
    let Some(form) = schema::find(turn.kind, turn.side, turn.root) else {
        return;
    };
    let mut lacks = |at: String, place: Place| {
        let rule = match (at.as_str(), turn.kind) {
            // An error without a number is the connection's, and what a call calls is told with the call.
            ("seq", "ERR") | ("tool" | "pipeline", _) => return,
            ("seq", _) => "seq-missing",
            (_, "HEY" | "RSM" | "SUB" | "ERR") => "field-missing",
            // Peers go on without what else is missing.
            _ => return,
        };
        report.broken(rule, place, format!("{} has no {at}", turn.kind));
    };
    if let Some(root) = turn.root {
        compare(root, &form.ty, &At::Root, &mut |problem| {
            let at = problem.at.to_string();
            match problem.wrong {
                Wrong::Missing(member) if matches!(member.name, "agent" | "server") => {
                    lacks(format!("{at}.id"), turn.seen.whole());
                }
                Wrong::Missing(_) if problem.node.index() == root.index() => {
                    lacks(at, turn.seen.whole());
                }
                Wrong::Missing(_) => lacks(at, turn.seen.at(problem.node)),
                Wrong::Type(_) if matches!(at.as_str(), "agent" | "server") => {
                    lacks(format!("{at}.id"), turn.seen.at(problem.node));
                }
                _ => {}
            }
        });
    } else {
        let members = members_of(&form.ty).iter();
        for member in members.filter(|m| m.presence == Presence::Required) {
            lacks(member.name.to_owned(), turn.seen.whole());
        }
    }
    if turn.kind == "ERR"
        && let Some(code) = turn.get("code")
    {
        error_code(turn, code, conn, report);
    }
}

fn error_code(turn: Turn<'_, '_>, node: Node<'_>, conn: &mut Conn, report: &mut Report) {
    let text = node.text();
    let code = text.as_deref().unwrap_or_default();
    if CODES.contains(&code) {
        return;
    }
    if let Some(extra) = EXTRAS.into_iter().find(|extra| *extra == code) {
        if conn.told.first(extra) {
            let text = format!("{code} is a code of the reference server, not of the document");
            report.broken("error-code-extra", turn.seen.at(node), text);
        }
        return;
    }
    let got = match &text {
        Some(code) => format!("`{}`", short(code)),
        None => node.describe().to_owned(),
    };
    let text = format!("code is {got}, which is none of the fifteen");
    report.broken("error-code", turn.seen.at(node), text);
}

/// The value of `seq`, where a kind has one.
fn numbered(turn: Turn<'_, '_>, report: &mut Report) {
    let form = schema::find(turn.kind, turn.side, turn.root);
    let mut members = form.map_or(&[][..], |form| members_of(&form.ty)).iter();
    let is_numbered = members.any(|m| m.name == "seq" && m.presence == Presence::Required);
    let seq = seq(turn);
    let Some(node) = seq.node.filter(|_| is_numbered) else {
        return;
    };
    // Whether a number of the server's is right is seen when it is paired: it can only repeat what it was given.
    let number = fraction(node).is_some();
    if let Some(wrong) = seq.wrong
        && (turn.side == Some(ToServer) || !number)
    {
        let shown = node
            .number_text()
            .map_or(String::new(), |n| format!(" {}", short(n)));
        let text = format!("seq{shown} is {wrong}; whole numbers from 1 on pair calls and answers");
        report.broken("seq-value", turn.seen.at(node), text);
    }
}
