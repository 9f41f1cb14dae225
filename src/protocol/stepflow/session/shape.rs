//! What can be said of one message alone: its members, by kind and by method.

use super::super::schema;
use crate::protocol::jsonrpc::{self, Call};
use crate::protocol::schema::check::{self, At, Wrong};
use crate::protocol::schema::{Message, Type};
use crate::protocol::session::{Report, Seen};
use crate::protocol::{Direction, Role};
use crate::tape::Node;

/// Longest id, method or text that a finding quotes.
const QUOTED: usize = 80;

/// Checks a message that decodes; gives back its method, where it is a known one.
pub(super) fn check(
    seen: &Seen<'_>,
    root: Node<'_>,
    call: &Call<'_>,
    way: Option<Direction>,
    report: &mut Report,
) -> Option<&'static Message> {
    let role = seen.message.role;
    // What HTTP and the worker's port line say is no message.
    if role.is_none_or(|role| role == Role::Control) {
        return None;
    }
    repeated(seen, root, report);
    version(seen, root, call, report);
    match role {
        Some(Role::Request | Role::Notification) => asks(seen, call, way, report),
        Some(Role::Response | Role::Error) => {
            answers(seen, root, call, report);
            None
        }
        _ => None,
    }
}

/// As text in a finding: a value as it is spelled, shortened.
pub(super) fn quote(node: Node<'_>) -> String {
    short(jsonrpc::spelling(node))
}

/// A text for a finding, shortened.
pub(super) fn short(text: &str) -> String {
    match text.char_indices().nth(QUOTED) {
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or_default()),
        None => text.to_owned(),
    }
}

fn repeated(seen: &Seen<'_>, root: Node<'_>, report: &mut Report) {
    let mut had = [false; jsonrpc::MEMBERS.len()];
    for (key, _) in root.members() {
        let name = key.key_bytes();
        let flags = jsonrpc::MEMBERS.iter().zip(&mut had);
        for (_, had) in flags.filter(|(k, _)| k.as_bytes() == name.as_ref()) {
            if std::mem::replace(had, true) {
                let text = format!("{} is there twice; it should be there once", quote(key));
                report.broken("duplicate-key", seen.at(key), text);
            }
        }
    }
}

fn version(seen: &Seen<'_>, root: Node<'_>, call: &Call<'_>, report: &mut Report) {
    match call.version {
        None => report.broken(
            "version-missing",
            seen.at(root),
            "there is no jsonrpc; it should be \"2.0\"",
        ),
        // MUST (JSON-RPC 2.0 section 4): "A String specifying the version of the JSON-RPC protocol."
        Some(version) if !version.is_text("2.0") => {
            let text = format!("jsonrpc is {}; it should be \"2.0\"", quote(version));
            report.broken("version-wrong", seen.at(version), text);
        }
        Some(_) => {}
    }
}

/// A request or a notification.
fn asks(
    seen: &Seen<'_>,
    call: &Call<'_>,
    way: Option<Direction>,
    report: &mut Report,
) -> Option<&'static Message> {
    for (name, node) in [("result", call.result), ("error", call.error)] {
        if let Some(node) = node {
            let text = format!("a message with a method has no {name}; that belongs to the answer");
            report.broken("result-beside-method", seen.at(node), text);
        }
    }
    if let Some(id) = call.id {
        check_id(seen, id, report);
        if id.is_null() {
            let text = "the id is null: both peers take this for a notification and answer nothing";
            report.broken("null-id", seen.at(id), text);
            return None;
        }
    }
    let name = call.method?.text()?;
    let Some(method) = schema::find(&name) else {
        unknown(seen, call, &name, report);
        return None;
    };
    if let Some(way) = way.filter(|way| *way != method.direction) {
        let (sends, other) = match way {
            Direction::ToServer => ("runtime", "server"),
            Direction::ToClient => ("server", "runtime"),
        };
        let text = format!("the {sends} sends {name}, which only the {other} sends");
        report.broken("wrong-direction", seen.at(call.method?), text);
        return None;
    }
    match (method.answered, call.id) {
        (true, None) => {
            let text = format!("{name} is a request: without an id it is never answered");
            report.broken("request-without-id", seen.whole(), text);
        }
        (false, Some(id)) => {
            let text = format!("{name} is a notification: it should have no id");
            report.broken("notification-with-id", seen.at(id), text);
        }
        _ => params(seen, call, method, report),
    }
    Some(method)
}

fn unknown(seen: &Seen<'_>, call: &Call<'_>, name: &str, report: &mut Report) {
    let place = call.method.map_or(seen.whole(), |m| seen.at(m));
    let name = short(name);
    if call.id.is_some() {
        let text = format!("no release has a method {name}");
        report.broken("unknown-method", place, text);
    } else {
        let text = format!("{name} is no notification of any release; only initialized is");
        report.broken("unknown-notification", place, text);
    }
}

fn check_id(seen: &Seen<'_>, id: Node<'_>, report: &mut Report) {
    if id.is_string() || id.is_null() {
        return;
    }
    if !jsonrpc::is_integer(id) {
        let text = format!(
            "the id {} is {}; it should be a string or an integer",
            quote(id),
            id.describe()
        );
        report.broken("id-type", seen.at(id), text);
    } else if jsonrpc::spelling(id).parse::<i64>().is_err() {
        let text = format!("the id {} does not fit in 64 bits with a sign", quote(id));
        report.broken("id-range", seen.at(id), text);
    }
}

fn params(seen: &Seen<'_>, call: &Call<'_>, method: &Message, report: &mut Report) {
    match call.params {
        Some(params) if params.is_map() => {
            let in_what = In {
                what: "params",
                method: method.name,
                missing: "missing-param",
                wrong: "param-type",
            };
            problems(seen, params, &method.ty, &in_what, report);
        }
        Some(params) if !params.is_null() => {
            let text = format!("params are {}; they should be an object", params.describe());
            report.broken("params-type", seen.at(params), text);
        }
        _ => {
            let text = format!(
                "{} has no params; at least {{}} should be there",
                method.name
            );
            let place = call.params.map_or(seen.whole(), |p| seen.at(p));
            report.broken("params-missing", place, text);
        }
    }
}

/// A response or an error.
fn answers(seen: &Seen<'_>, root: Node<'_>, call: &Call<'_>, report: &mut Report) {
    match (call.id, call.error()) {
        (None, _) => {
            let text = "an answer without an id: which request it answers cannot be told";
            report.broken("missing-id", seen.at(root), text);
        }
        (Some(id), None) if id.is_null() => {
            let text = "the id of a result is null; it should be the request's";
            report.broken("null-id", seen.at(id), text);
        }
        (Some(id), Some(_)) if id.is_null() => {
            let text = "the id of an error is null: the runtime refuses to read it";
            report.broken("null-id-error", seen.at(id), text);
        }
        (Some(id), _) => check_id(seen, id, report),
    }
    match (call.result, call.error) {
        (Some(result), Some(error)) if result.is_null() || error.is_null() => {
            let (name, node) = if error.is_null() {
                ("error", error)
            } else {
                ("result", result)
            };
            let text = format!("{name} is null; it should not be there at all");
            report.broken("null-beside", seen.at(node), text);
        }
        (Some(_), Some(error)) => {
            let text = "result and error are both there; an answer has one of them";
            report.broken("result-and-error", seen.at(error), text);
        }
        (Some(result), None) if result.is_null() => {
            let text = "result is null: the runtime takes it for absent and refuses the message";
            report.broken("null-result", seen.at(result), text);
        }
        _ => {}
    }
    if let Some(error) = call.error() {
        check_error(seen, error, report);
    }
}

fn check_error(seen: &Seen<'_>, error: Node<'_>, report: &mut Report) {
    if !error.is_map() {
        let text = format!("error is {}; it should be an object", error.describe());
        return report.broken("error-shape", seen.at(error), text);
    }
    let code = error.get("code");
    let whole = |c: Node<'_>| jsonrpc::is_integer(c) && jsonrpc::spelling(c).parse::<i64>().is_ok();
    if !code.is_some_and(whole) {
        let text = match code {
            Some(code) => format!("error.code is {}; it should be an integer", quote(code)),
            None => "there is no error.code; it should be an integer".into(),
        };
        report.broken("error-code", seen.at(code.unwrap_or(error)), text);
    }
    let message = error.get("message");
    if !message.is_some_and(Node::is_string) {
        let text = match message {
            Some(m) => format!("error.message is {}; it should be a string", quote(m)),
            None => "there is no error.message; it should be a string".into(),
        };
        report.broken("error-message", seen.at(message.unwrap_or(error)), text);
    }
}

/// The result of a known method.
pub(super) fn result(seen: &Seen<'_>, call: &Call<'_>, method: &Message, report: &mut Report) {
    let Some(result) = call.result.filter(|r| !r.is_null()) else {
        return;
    };
    if call.error().is_some() {
        return;
    }
    if !result.is_map() {
        let text = format!(
            "the result of {} is {}; it should be an object",
            method.name,
            result.describe()
        );
        return report.broken("result-type", seen.at(result), text);
    }
    let in_what = In {
        what: "result",
        method: method.name,
        missing: "missing-result",
        wrong: "result-type",
    };
    problems(seen, result, &method.result, &in_what, report);
}

/// Where members are, and which rules they break.
struct In {
    what: &'static str,
    method: &'static str,
    missing: &'static str,
    wrong: &'static str,
}

fn problems(seen: &Seen<'_>, node: Node<'_>, ty: &Type, of: &In, report: &mut Report) {
    let In { what, method, .. } = of;
    check::check(node, ty, &At::Root, &mut |problem| {
        let (at, value) = (problem.at, quote(problem.node));
        let (rule, text) = match problem.wrong {
            Wrong::Missing(_) => (
                of.missing,
                format!("the {what} of {method} should have {at}; it is not there"),
            ),
            Wrong::Form(form) => (
                form.rule,
                format!("{at} is {value}; it should be {}", form.wanted),
            ),
            Wrong::Type(ty) => (
                of.wrong,
                format!("{at} in the {what} of {method} is {value}; it should be {ty}"),
            ),
            // No method has members that exclude each other.
            Wrong::None(..) | Wrong::Beside(_) => return,
        };
        report.broken(rule, seen.at(problem.node), text);
    });
}
