//! Checks an envelope: its fields and its values.
//!
//! ```text
//!   {version, type, id, target, args, ...}     envelope()   also for each item of a batch
//!   any value of any message                   values()     repeated keys, values that a runtime cannot hold
//! ```

use super::super::message::{field, id};
use super::super::schema;
use super::state::CallId;
use crate::protocol::Id;
use crate::protocol::rule_names::saikuro as rule;
use crate::protocol::schema::check::{At, TypeProblem, Wrong};
use crate::protocol::schema::lint::{lint, repeated_key};
use crate::protocol::session::text::{quote, quote_text};
use crate::protocol::session::{Current, Place, RuleId, broken};
use crate::tape::{Node, Scalar, Value};
use std::cell::Cell;
use std::collections::HashSet;

/// The number of findings about parts of one message after which no further parts are checked.
pub(super) const MAX_ENTRIES: usize = 16;

/// Returns an integer in an integer encoding: a runtime does not accept a float.
pub(super) fn whole(node: Node<'_>) -> Option<u64> {
    match node.value() {
        Value::Scalar(Scalar::Uint(n)) => Some(n),
        _ => None,
    }
}

/// Returns a field; nil is included.
fn raw<'a>(root: Node<'a>, name: &str) -> Option<Node<'a>> {
    if root.is_map() {
        root.get(name)
    } else {
        field(root, name)
    }
}

/// Returns the position for a missing member.
pub(super) fn place(seen: Current<'_, '_>, root: Node<'_>, nested: bool) -> Place {
    if nested { seen.at(root) } else { seen.whole() }
}

/// Checks all values. Returns true if a runtime cannot read one. Each rule is reported once.
pub(super) fn values(seen: Current<'_, '_>, root: Node<'_>) -> bool {
    let before = seen.findings();
    let mut reported: Vec<RuleId> = Vec::new();
    let mut report_once = |rule: RuleId, node: Node<'_>, text: &dyn Fn() -> String| {
        if !reported.contains(&rule) {
            reported.push(rule);
            broken!(seen, rule, seen.at(node); "{}", text());
        }
    };
    root.each(&mut |node| match node.value() {
        // Most maps have a few different keys of text.
        Value::Map if node.has_unique_keys() == Some(true) => {}
        Value::Map => {
            if let Some(key) = repeated_key(node) {
                let text = || format!("the key {} is repeated in one map", quote(key));
                report_once(rule::DUPLICATE_KEY, key, &text);
            }
            let mut keys = node.members().map(|(key, _)| key);
            if let Some(key) = keys.find(|key| !key.is_string()) {
                let text = || format!("a map has {} as a key; keys are strings", quote(key));
                report_once(rule::NON_STRING_KEY, key, &text);
            }
        }
        Value::Scalar(Scalar::Ext(kind, bytes)) => report_once(rule::EXTENSION_VALUE, node, &|| {
            let len = bytes.len();
            format!(
                "the value is an extension of type {kind} and {len} bytes; no runtime supports it"
            )
        }),
        // Most text is ASCII, which is quickly checked.
        Value::Scalar(Scalar::Str(text)) if !text.is_ascii() => {
            if let Err(error) = std::str::from_utf8(text) {
                let at = error.valid_up_to();
                report_once(rule::BAD_TEXT, node, &|| {
                    format!("a text is not UTF-8 from byte {at}")
                });
            }
        }
        _ => {}
    });
    seen.findings() > before
}

/// Why a runtime refuses an envelope.
#[derive(Clone, Copy, Default)]
pub(super) struct Refused {
    /// It cannot use an id, of the envelope or of an item.
    pub(super) by_id: bool,
    /// It cannot read another member.
    pub(super) by_member: bool,
}

/// Checks an envelope. Returns why a runtime cannot read it.
pub(super) fn envelope(seen: Current<'_, '_>, root: Node<'_>, kind: &str, nested: bool) -> Refused {
    let here = place(seen, root, nested);
    let mut refused = Refused {
        by_member: members(seen, root, kind),
        by_id: envelope_id(seen, root, here),
    };
    let is_free = matches!(kind, "batch" | "log" | "announce");
    if !is_free && raw(root, "args").is_none() {
        broken!(seen, rule::MISSING_ARGS, here; "args is missing; it should be []");
    }
    if kind == "batch" && field(root, "target").is_none() {
        broken!(seen, rule::BATCH_WITHOUT_TARGET, here;
            "target is missing; a runtime requires it in a batch, too");
        refused.by_member = true;
    }
    for (name, rule, whose) in [
        (
            "cap",
            rule::DOCUMENT_CAPABILITY,
            "a runtime reads capability",
        ),
        ("capability", rule::PEERS_CAPABILITY, "the document has cap"),
    ] {
        if let Some(node) = field(root, name) {
            broken!(seen, rule, seen.at(node); "the capability is in the field {name}; {whose}");
        }
    }
    if kind == "batch" {
        items(seen, root, &mut refused);
    }
    if matches!(kind, "resource" | "log") {
        let node = raw(root, "type").unwrap_or(root);
        broken!(seen, rule::PEERS_TYPE, seen.at(node);
            "type is {kind:?}, which the document does not have");
    }
    refused
}

/// Checks members against the schema. Returns true if a runtime cannot read one.
fn members(seen: Current<'_, '_>, root: Node<'_>, kind: &str) -> bool {
    let refused = Cell::new(false);
    let rule = |problem: &TypeProblem<'_, '_>| {
        // Members inside args belong to announces and log records.
        let At::Member(At::Root, name, _) = problem.at else {
            return None;
        };
        let node = problem.node;
        let is_missing = matches!(problem.wrong, Wrong::Missing(_));
        let is_nil = node.is_null() && !is_missing;
        let (rule, is_refused) = match (problem.rule()?, name) {
            // The array form has no meta.
            (_, "meta") if root.is_array() => return None,
            (_, "args") if is_missing => return None,
            (rule::BAD_VERSION, _) => {
                let is_number = !is_missing && whole(node).is_some();
                let is_unread = is_number && matches!(kind, "log" | "announce");
                (
                    [rule::BAD_VERSION, rule::UNREAD_VERSION][usize::from(is_unread)],
                    !is_number,
                )
            }
            (_, "target") if kind == "batch" && (is_missing || is_nil) => return None,
            // Text that is not UTF-8 has its own finding.
            (_, "target") if node.is_string() && node.text().is_none() => return None,
            (rule::BAD_TARGET, _) if is_missing || is_nil => (rule::BAD_TARGET, true),
            (rule::BAD_TARGET, _) if node.is_string() => (rule::BAD_TARGET, false),
            (rule::EMPTY_BATCH, _) if is_missing || is_nil || node.is_array() => {
                (rule::EMPTY_BATCH, false)
            }
            _ => (rule::BAD_FIELD, true),
        };
        refused.set(refused.get() || is_refused);
        Some(rule)
    };
    let ty = &schema::find(kind).ty;
    lint(
        &seen,
        root,
        (ty, &format!("the {kind}")),
        &rule,
        &mut seen.report(),
    );
    refused.get()
}

fn envelope_id(seen: Current<'_, '_>, root: Node<'_>, here: Place) -> bool {
    let Some(node) = field(root, "id") else {
        broken!(seen, rule::MISSING_ID, here; "id is missing, so no answer is possible");
        return true;
    };
    match id(node) {
        Id::Uuid(bytes) => {
            let text = match node.value() {
                Value::Scalar(Scalar::Bin(_)) => std::str::from_utf8(&bytes).ok(),
                _ => None,
            };
            let Some(text) = text else {
                return false;
            };
            broken!(seen, rule::AMBIGUOUS_ID, seen.at(node);
                "the sixteen bytes of the id are the text {}", quote_text(text));
        }
        Id::Text(text) => {
            broken!(seen, rule::BAD_ID, seen.at(node);
                "id is {}; it should be a UUID", quote_text(&text));
        }
        _ => {
            broken!(seen, rule::BAD_FIELD, seen.at(node);
                "id is {}; it should be a UUID", quote(node));
        }
    }
    true
}

/// Checks the items of a batch.
fn items(seen: Current<'_, '_>, root: Node<'_>, refused: &mut Refused) {
    let list = field(root, "batch_items").into_iter();
    let before = seen.findings();
    let mut names = HashSet::new();
    for (n, item) in list.flat_map(Node::children).enumerate() {
        if seen.findings() >= before + MAX_ENTRIES {
            break;
        }
        let kind = field(item, "type").and_then(Node::text);
        let Some(kind) = kind.filter(|kind| schema::is_invocation(kind)) else {
            let what =
                field(item, "type").map_or("no type".into(), |t| format!("type {}", quote(t)));
            broken!(seen, rule::UNKNOWN_TYPE, seen.at(item);
                "item {n} of the batch has {what}; it should be call");
            refused.by_member = true;
            continue;
        };
        let item_refused = envelope(seen, item, &kind, true);
        refused.by_id |= item_refused.by_id;
        refused.by_member |= item_refused.by_member;
        if let Some(node) = field(item, "id")
            && let Some(name) = CallId::of(&id(node))
            && !names.insert(name)
        {
            broken!(seen, rule::BATCH_DUPLICATE_ID, seen.at(node);
                "item {n} has the id of an earlier item, {}", id(node).text());
        }
    }
}

/// Reports a message that is neither an envelope nor an answer.
pub(super) fn unknown(seen: Current<'_, '_>, root: Node<'_>) {
    if let Some(node) = field(root, "type") {
        broken!(seen, rule::UNKNOWN_TYPE, seen.at(node);
            "type is {}, but no envelope has this type", quote(node));
    } else if let Some(node) = field(root, "ok").filter(|node| node.as_bool().is_none()) {
        broken!(seen, rule::BAD_FIELD, seen.at(node);
            "ok is {}; it should be true or false", quote(node));
    } else {
        broken!(seen, rule::UNKNOWN_MESSAGE, seen.whole();
            "the map has none of type, ok, seq and close");
    }
}
