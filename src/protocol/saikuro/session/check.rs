//! What an envelope shows by itself: its fields, its values.
//!
//! ```text
//!   {version, type, id, target, args, ...}     envelope()   each item of a batch like a message
//!   any value of any message                   values()     repeated keys, what a runtime cannot hold
//! ```

use super::super::message::{field, id};
use super::super::schema;
use super::state::Name;
use crate::protocol::Id;
use crate::protocol::schema::check::{At, Wrong, check};
use crate::protocol::session::{Place, Report, Seen};
use crate::tape::{Node, Scalar, Value};
use std::collections::HashSet;

/// Findings about parts of one message, after which no more parts are looked at.
pub(super) const MOST: usize = 16;
/// Characters of a text that are quoted.
const QUOTED: usize = 60;

/// What a value says, for a sentence.
pub(super) fn said(node: Node<'_>) -> String {
    match node.value() {
        Value::Scalar(Scalar::Uint(n)) => n.to_string(),
        Value::Scalar(Scalar::Int(n)) => n.to_string(),
        Value::Scalar(Scalar::Bool(b)) => b.to_string(),
        _ => node
            .text()
            .map_or_else(|| node.describe().to_owned(), |text| quoted(&text)),
    }
}

/// A text in quotes; long ones are shortened.
pub(super) fn quoted(text: &str) -> String {
    match text.char_indices().nth(QUOTED) {
        Some((at, _)) => format!("{:?}…", text.get(..at).unwrap_or_default()),
        None => format!("{text:?}"),
    }
}

/// A whole number in an integer's encoding: a runtime takes no float for one.
pub(super) fn whole(node: Node<'_>) -> Option<u64> {
    match node.value() {
        Value::Scalar(Scalar::Uint(n)) => Some(n),
        _ => None,
    }
}

/// A field, nil included.
fn raw<'a>(root: Node<'a>, name: &str) -> Option<Node<'a>> {
    if root.is_map() {
        root.get(name)
    } else {
        field(root, name)
    }
}

/// Where something is missing from.
pub(super) fn place(seen: &Seen<'_>, root: Node<'_>, nested: bool) -> Place {
    if nested { seen.at(root) } else { seen.whole() }
}

/// Checks all values; says whether a runtime cannot read one.
pub(super) fn values(seen: &Seen<'_>, root: Node<'_>, report: &mut Report) -> bool {
    let [mut repeats, mut extension, mut odd_key, mut bad_text] = [false; 4];
    root.each(&mut |node| match node.value() {
        Value::Map if !repeats || !odd_key => {
            let (repeat, odd) = keys(node);
            if let Some(key) = repeat.filter(|_| !repeats) {
                repeats = true;
                let text = format!("the key {} stands twice in one map", said(key));
                report.broken("duplicate-key", seen.at(key), text);
            }
            if let Some(key) = odd.filter(|_| !odd_key) {
                odd_key = true;
                let text = format!("a map has {} as a key; keys are strings", said(key));
                report.broken("non-string-key", seen.at(key), text);
            }
        }
        Value::Scalar(Scalar::Ext(kind, bytes)) if !extension => {
            extension = true;
            let text = format!(
                "an extension value of type {kind} and {} bytes, which a runtime has no room for",
                bytes.len()
            );
            report.broken("extension-value", seen.at(node), text);
        }
        Value::Scalar(Scalar::Str(text)) if !bad_text => {
            // Nearly all is ASCII, which is quickly seen.
            if !text.is_ascii()
                && let Err(error) = std::str::from_utf8(text)
            {
                bad_text = true;
                let at = error.valid_up_to();
                let text = format!("text that is no UTF-8 from its byte {at} on");
                report.broken("bad-text", seen.at(node), text);
            }
        }
        _ => {}
    });
    repeats || extension || odd_key || bad_text
}

/// The first key that a map has twice, and the first that is no string.
fn keys(map: Node<'_>) -> (Option<Node<'_>>, Option<Node<'_>>) {
    const FEW: usize = 16;
    let mut few: [(bool, &[u8]); FEW] = [(false, &[]); FEW];
    let mut many = HashSet::new();
    let (mut repeat, mut odd) = (None, None);
    for (n, (key, _)) in map.members().enumerate() {
        let text = key.raw_text();
        // Only text has text, but for the empty one.
        let this = if !text.is_empty() || key.is_string() {
            (true, text)
        } else {
            odd = odd.or(Some(key));
            (false, key.span().of(key.bytes()))
        };
        if repeat.is_some() {
            continue;
        }
        let again = if let Some(room) = few.get_mut(n) {
            *room = this;
            few.iter().take(n).any(|other| *other == this)
        } else {
            if many.is_empty() {
                many.extend(few);
            }
            !many.insert(this)
        };
        if again {
            repeat = Some(key);
        }
    }
    (repeat, odd)
}

/// Checks an envelope; says whether a runtime cannot read it.
pub(super) fn envelope(
    seen: &Seen<'_>,
    root: Node<'_>,
    kind: &str,
    nested: bool,
    report: &mut Report,
) -> bool {
    let here = place(seen, root, nested);
    let mut refused = members(seen, root, kind, here, report);
    refused |= envelope_id(seen, root, here, report);
    let is_free = matches!(kind, "batch" | "log" | "announce");
    if !is_free && raw(root, "args").is_none() {
        report.broken("missing-args", here, "there are no args, [] should be");
    }
    if kind == "batch" && field(root, "target").is_none() {
        let text = "there is no target, which a runtime wants in a batch, too";
        report.broken("batch-without-target", here, text);
        refused = true;
    }
    for (name, rule, whose) in [
        ("cap", "document-capability", "a runtime reads capability"),
        ("capability", "peers-capability", "the document has cap"),
    ] {
        if let Some(node) = field(root, name) {
            let text = format!("the capability stands under {name}; {whose}");
            report.broken(rule, seen.at(node), text);
        }
    }
    if kind == "batch" {
        refused |= items(seen, root, report);
    }
    if matches!(kind, "resource" | "log") {
        let text = format!("type is {kind:?}, which the document does not have");
        let node = raw(root, "type").unwrap_or(root);
        report.broken("peers-type", seen.at(node), text);
    }
    refused
}

/// Members that the schema does not allow; says whether a runtime cannot read one.
fn members(seen: &Seen<'_>, root: Node<'_>, kind: &str, here: Place, report: &mut Report) -> bool {
    let message = schema::find(kind);
    let mut refused = false;
    check(root, &message.ty, &At::Root, &mut |problem| {
        // What is inside of args belongs to announces and log records.
        let At::Member(At::Root, name, _) = problem.at else {
            return;
        };
        let node = problem.node;
        let is_missing = match problem.wrong {
            Wrong::Missing(_) => true,
            _ => node.is_null() && !matches!(name, "args" | "meta"),
        };
        let (rule, is_refused) = match name {
            // An id has a form of its own, and positions hold no meta.
            "id" | "type" => return,
            "meta" if root.is_array() => return,
            "args" if is_missing => return,
            // MUST (Invocation Envelope): the version is 1.
            "version" => {
                let is_number = !is_missing && whole(node).is_some();
                let is_unread = is_number && matches!(kind, "log" | "announce");
                let rule = ["bad-version", "unread-version"][usize::from(is_unread)];
                (rule, !is_number)
            }
            "target" if is_missing && kind == "batch" => return,
            "target" if is_missing => ("bad-target", true),
            // Text that is no UTF-8 is told as such.
            "target" if node.is_string() && node.text().is_none() => return,
            "target" if node.is_string() => ("bad-target", false),
            "batch_items" if is_missing || node.is_array() => ("empty-batch", false),
            _ => ("bad-field", true),
        };
        refused |= is_refused;
        if is_missing {
            let text = format!("there is no {name}");
            report.broken(rule, here, text);
        } else {
            let wanted = match problem.wrong {
                Wrong::Type(ty) => ty.to_string(),
                Wrong::Form(form) => form.wanted.to_owned(),
                _ => return,
            };
            let text = format!("{name} is {}; it should be {wanted}", said(node));
            report.broken(rule, seen.at(node), text);
        }
    });
    refused
}

fn envelope_id(seen: &Seen<'_>, root: Node<'_>, here: Place, report: &mut Report) -> bool {
    let Some(node) = field(root, "id") else {
        report.broken("missing-id", here, "there is no id to answer to");
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
            let text = format!("the sixteen bytes of the id are the text {}", quoted(text));
            report.broken("ambiguous-id", seen.at(node), text);
        }
        Id::Text(text) => {
            let text = format!("id is {}, a UUID should be", quoted(&text));
            report.broken("bad-id", seen.at(node), text);
        }
        _ => {
            let text = format!("id is {}, a UUID should be", said(node));
            report.broken("bad-field", seen.at(node), text);
        }
    }
    true
}

/// The items of a batch.
fn items(seen: &Seen<'_>, root: Node<'_>, report: &mut Report) -> bool {
    let list = field(root, "batch_items").into_iter();
    let before = report.broken.len();
    let mut refused = false;
    let mut names = HashSet::new();
    for (n, item) in list.flat_map(Node::children).enumerate() {
        if report.broken.len() >= before + MOST {
            break;
        }
        let kind = field(item, "type").and_then(Node::text);
        let Some(kind) = kind.filter(|kind| schema::is_invocation(kind)) else {
            let what =
                field(item, "type").map_or("no type".into(), |t| format!("type {}", said(t)));
            let text = format!("item {n} of the batch has {what}, call should be");
            report.broken("unknown-type", seen.at(item), text);
            refused = true;
            continue;
        };
        refused |= envelope(seen, item, &kind, true, report);
        if let Some(node) = field(item, "id")
            && let Some(name) = Name::of(&id(node))
            && !names.insert(name)
        {
            let text = format!(
                "item {n} has the id of an item before it, {}",
                id(node).text()
            );
            report.broken("batch-duplicate-id", seen.at(node), text);
        }
    }
    refused
}

/// A message that is neither an envelope nor an answer.
pub(super) fn unknown(seen: &Seen<'_>, root: Node<'_>, report: &mut Report) {
    if let Some(node) = field(root, "type") {
        let text = format!("type is {}, which no envelope has", said(node));
        report.broken("unknown-type", seen.at(node), text);
    } else if let Some(node) = field(root, "ok").filter(|node| node.as_bool().is_none()) {
        let text = format!("ok is {}, true or false should be", said(node));
        report.broken("bad-field", seen.at(node), text);
    } else {
        let text =
            "a map with neither the type of an envelope nor the ok, seq or close of an answer";
        report.broken("unknown-message", seen.whole(), text);
    }
}
