//! Checks of single lines.

use super::child::ChildSession;
use super::{OracleLine, felts, rule};
use crate::protocol::oracle::cairo_serde::Signature;
use crate::protocol::oracle::schema;
use crate::protocol::rpc::lone_cr;
use crate::protocol::schema::check::{At, TypeProblem};
use crate::protocol::schema::lint::{lint, repeated_key};
use crate::protocol::schema::{OBJECT, Type};
use crate::protocol::session::text::quote;
use crate::protocol::session::{Place, RuleId, broken};
use crate::protocol::{Direction, Role, rpc};
use crate::tape::Node;

/// The capacity of a pipe, in bytes.
const PIPE: u64 = 64 << 10;

/// Checks a line of either side.
pub(super) fn line(line: &OracleLine<'_, '_>, child: &mut ChildSession) {
    check_line_end(line, child);
    let seen = line.seen;
    let Some(root) = seen.root().filter(|r| seen.message.valid && r.is_map()) else {
        return;
    };
    check_members(line, root);
    let from_oracle = line.side == Some(Direction::ToClient);
    // If the start is wrong, that is the only finding.
    if line.faulty || (from_oracle && child.begins_with(line) && !line.is("ready")) {
        return;
    }
    match seen.message.kind.as_ref() {
        "result" => result(line),
        "error" => error(line),
        "invoke" if !from_oracle => params(line),
        "notification" if !from_oracle && is_invoke(line) => params(line),
        "ready" if from_oracle => ready(line),
        "shutdown" if !from_oracle => {
            if let Some(params) = line.call.params.filter(|p| !p.is_null()) {
                broken!(line, rule::SHUTDOWN_PARAMS, seen.at(params);
                    "shutdown has params; it should have none");
            }
        }
        _ => {}
    }
    if line.role() == Some(Role::Request)
        && let Some(id) = line.call.id.filter(|id| id.is_null())
    {
        broken!(line, rule::NULL_ID, seen.at(id); "id is null; it should be a number or text");
    }
}

/// Checks line end and length.
fn check_line_end(line: &OracleLine<'_, '_>, child: &mut ChildSession) {
    let seen = line.seen;
    let view = seen.frame.view;
    let has_cr = view.bytes.get(view.body.end()) == Some(&b'\r');
    if has_cr && child.reported.first_of(line.side, rule::CRLF) {
        let place = Place {
            offset: seen.frame.offset + u64::from(view.body.len),
            len: 1,
            ..seen.whole()
        };
        broken!(line, rule::CRLF, place; "the line ends with CR LF; LF alone is usual");
    }
    if let Some(place) = lone_cr(&seen) {
        broken!(line, rule::LONE_CR, place;
            "the last line ends with a CR without LF: its reader waits for the LF");
    }
    if seen.frame.len > PIPE && seen.frame.fault.is_none() {
        broken!(line, rule::LONG_LINE, seen.whole();
            "the line has {} bytes; a pipe buffer has {PIPE}", seen.frame.len);
    }
}

/// Checks for repeated and unknown keys.
fn check_members(line: &OracleLine<'_, '_>, root: Node<'_>) {
    let seen = line.seen;
    let call = &line.call;
    let own = Some(root).filter(|_| call.repeats || call.has_others);
    let mut objects = [own, call.params, call.error].into_iter().flatten();
    let repeated = objects.find_map(repeated_key);
    // A repeated key for which peers refuse the line has its own fault.
    let refused = seen
        .message
        .faults
        .iter()
        .any(|f| f.code == "not-a-message");
    if let Some(key) = repeated.filter(|_| !refused) {
        let why = match line.call.method {
            Some(_) if repeats(line, "id") => {
                "real peers take it for a notification and never answer"
            }
            Some(_)
                if line.call.id.is_some()
                    && (repeats(line, "method") || repeats(line, "params")) =>
            {
                "real peers take it for an answer"
            }
            _ => "it should be there once",
        };
        broken!(line, rule::REPEATED_KEY, seen.at(key); "{} is repeated: {why}", quote(key));
    }
    let keys = || root.members().map(|(key, _)| key);
    let asks = call.method.is_some() && line.side == Some(Direction::ToServer);
    let answers = |key: &Node<'_>| key.is_text("result") || key.is_text("error");
    if asks
        && call.result.or(call.error).is_some()
        && let Some(key) = keys().find(answers)
    {
        broken!(line, rule::UNKNOWN_MEMBER, seen.at(key);
            "{} is for answers; requests do not have it", quote(key));
    }
    let is_unknown = |key: &Node<'_>| !rpc::MEMBERS.iter().any(|name| key.is_text(name));
    let mut unknown = keys().filter(|key| call.has_others && is_unknown(key));
    if let Some(first) = unknown.next() {
        let more = match unknown.count() {
            0 => String::new(),
            n => format!(" and {n} more"),
        };
        broken!(line, rule::UNKNOWN_MEMBER, seen.at(first);
            "no message has the member {}{more}", quote(first));
    }
}

/// Returns true if a member is repeated.
pub(super) fn repeats(line: &OracleLine<'_, '_>, name: &str) -> bool {
    let root = line.root();
    root.is_some_and(|r| {
        r.members()
            .filter(|(key, _)| key.is_text(name))
            .nth(1)
            .is_some()
    })
}

fn ready(line: &OracleLine<'_, '_>) {
    if let Some(params) = line.call.params.filter(|p| !p.is_null()) {
        fits(line, params, (&OBJECT, "params"), rule::READY_PARAMS);
    }
}

/// Compares a value with a type and reports problems; returns true if it fits. [`felts`] checks felts.
fn fits(line: &OracleLine<'_, '_>, node: Node<'_>, what: (&Type, &str), rule: RuleId) -> bool {
    let before = line.findings();
    let not_a_felt = |problem: &TypeProblem<'_, '_>| !matches!(problem.at, At::Item(..));
    let rule = |problem: &TypeProblem<'_, '_>| not_a_felt(problem).then_some(rule);
    lint(&line.seen, node, what, &rule, &mut line.report());
    line.findings() == before
}

fn is_invoke(line: &OracleLine<'_, '_>) -> bool {
    line.call.method.is_some_and(|m| m.is_text("invoke"))
}

fn params(line: &OracleLine<'_, '_>) {
    let (rule, ty) = (rule::INVOKE_PARAMS, &schema::INVOKE_PARAMS);
    let Some(params) = line.call.params else {
        return broken!(line, rule, line.whole(); "params is nothing; it should be {ty}");
    };
    if !fits(line, params, (ty, "params"), rule) {
        return;
    }
    if params.is_array() {
        broken!(line, rule::POSITIONAL_PARAMS, line.at(params);
            "params is an array; it should be an object with selector and calldata");
    }
    if let Some(calldata) = params.at(1).or_else(|| params.get("calldata")) {
        felts::list(line, calldata);
    }
}

/// Returns the index of the signature of a call.
pub(super) fn selector(line: &OracleLine<'_, '_>, signatures: &[Signature]) -> Option<usize> {
    let subject = line.seen.message.subject.as_deref()?;
    signatures.iter().position(|s| s.name == subject)
}

fn result(line: &OracleLine<'_, '_>) {
    let seen = line.seen;
    let call = &line.call;
    match call.result.filter(|r| !r.is_null()) {
        None => {
            let got = call.result.map_or("not there", |_| "null");
            broken!(line, rule::NO_RESULT, line.place(call.result);
                "result is {got}; it should be an array of felts");
        }
        Some(list) => {
            if fits(line, list, (&schema::FELTS, "result"), rule::RESULT_SHAPE) {
                felts::list(line, list);
            }
        }
    }
    // A null error next to a result has no other effect.
    if let (Some(error), Some(_)) = (call.error, call.result) {
        broken!(line, rule::RESULT_AND_ERROR, seen.at(error);
            "error is null beside a result; it should be absent");
    }
}

fn error(line: &OracleLine<'_, '_>) {
    let seen = line.seen;
    if let Some(result) = line.call.result {
        broken!(line, rule::RESULT_AND_ERROR, seen.at(result);
            "result and error are both present; only one should be, and error counts");
    }
    let Some(error) = line.call.error() else {
        return;
    };
    if let Some(node) = error.get("code")
        && let Ok(code) = rpc::spelling(node).parse::<i64>()
    {
        if i32::try_from(code).is_err() {
            broken!(line, rule::ERROR_CODE_RANGE, seen.at(node);
                "code is {code}; it should fit into 32 bits");
        } else if !is_usual(code, line.side) {
            broken!(line, rule::ERROR_CODE, seen.at(node);
                "code is {code}; it should be a code of JSON-RPC, such as -32603");
        }
    }
    if let Some(node) = error.get("message")
        && node.text().is_some_and(|t| t.contains("Stack backtrace:"))
    {
        broken!(line, rule::BACKTRACE, seen.at(node);
            "the message contains a backtrace; the program sees all of it");
    }
}

/// Returns true for codes of JSON-RPC 2.0 section 5.1; and for 0, with which real executors refuse: authors of oracles
/// cannot change that.
fn is_usual(code: i64, side: Option<Direction>) -> bool {
    let is_refusal = code == 0 && side == Some(Direction::ToServer);
    is_refusal || matches!(code, -32700 | -32603..=-32600 | -32099..=-32000)
}

/// Reports a method that the executor must not call, or not in this way.
pub(super) fn unknown(line: &OracleLine<'_, '_>) {
    let seen = line.seen;
    let Some(method) = line.call.method else {
        return;
    };
    if is_invoke(line) {
        broken!(line, rule::INVOKE_NO_ID, seen.at(method);
            "invoke has no id: it is a notification, and nobody answers it");
    } else if method.is_text("shutdown") {
        broken!(line, rule::SHUTDOWN_ID, line.id_place();
            "shutdown has the id {}; it should have none", line.id_text());
    } else {
        broken!(line, rule::UNKNOWN_METHOD, seen.at(method);
            "the method is {}; it should be invoke or shutdown", self::method(line));
    }
}

/// Describes the method.
pub(super) fn method(line: &OracleLine<'_, '_>) -> String {
    line.call.method.map_or_else(|| "no method".into(), quote)
}
