//! What an envelope shows by itself: its fields, its values.
//!
//! ```text
//!   {version, type, id, target, args, ...}     envelope()   each item of a batch like a message
//!   any value of any message                   values()     repeated keys, what a runtime cannot hold
//! ```

use super::super::message::{field, id};
use super::super::schema::{self, CONTROLS};
use super::state::Name;
use crate::protocol::Id;
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
    let mut refused = version(seen, root, kind, here, report);
    refused |= envelope_id(seen, root, here, report);
    refused |= target(seen, root, kind, here, report);
    refused |= fields(seen, root, kind, here, report);
    if kind == "batch" {
        refused |= items(seen, root, here, report);
    }
    if matches!(kind, "resource" | "log") {
        let text = format!("type is {kind:?}, which the document does not have");
        let node = raw(root, "type").unwrap_or(root);
        report.broken("peers-type", seen.at(node), text);
    }
    refused
}

fn version(seen: &Seen<'_>, root: Node<'_>, kind: &str, here: Place, report: &mut Report) -> bool {
    let Some(node) = field(root, "version") else {
        report.broken("bad-version", here, "there is no version, 1 should be");
        return true;
    };
    let value = whole(node);
    // MUST (Invocation Envelope): the version is 1.
    if value != Some(1) {
        let text = format!("version is {}, 1 should be", said(node));
        let rule = match kind {
            "log" | "announce" if value.is_some() => "unread-version",
            _ => "bad-version",
        };
        report.broken(rule, seen.at(node), text);
    }
    value.is_none()
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

fn target(seen: &Seen<'_>, root: Node<'_>, kind: &str, here: Place, report: &mut Report) -> bool {
    let Some(node) = field(root, "target") else {
        if kind == "batch" {
            let text = "there is no target, which a runtime wants in a batch, too";
            report.broken("batch-without-target", here, text);
        } else {
            let text = "there is no target, namespace.function should be";
            report.broken("bad-target", here, text);
        }
        return true;
    };
    if !node.is_string() {
        let text = format!("target is {}, text should be", said(node));
        report.broken("bad-field", seen.at(node), text);
        return true;
    }
    let free = matches!(kind, "batch" | "log" | "announce");
    if let Some(text) = node.text()
        && !free
        && !(kind == "channel" && text.is_empty())
        && !text
            .rsplit_once('.')
            .is_some_and(|(namespace, function)| !namespace.is_empty() && !function.is_empty())
    {
        let text = format!("target is {}, namespace.function should be", quoted(&text));
        report.broken("bad-target", seen.at(node), text);
    }
    false
}

/// Fields that may be left out.
fn fields(seen: &Seen<'_>, root: Node<'_>, kind: &str, here: Place, report: &mut Report) -> bool {
    let mut refused = false;
    match raw(root, "args") {
        Some(node) if node.is_array() => {}
        Some(node) => {
            let text = format!("args is {}, an array should be", said(node));
            report.broken("bad-field", seen.at(node), text);
            refused = true;
        }
        None if matches!(kind, "batch" | "log" | "announce") => {}
        None => report.broken("missing-args", here, "there are no args, [] should be"),
    }
    let mut check = |name: &str, wanted: &str, fits: &dyn Fn(Node<'_>) -> bool| {
        if let Some(node) = field(root, name).filter(|node| !fits(*node)) {
            let text = format!("{name} is {}, {wanted} should be", said(node));
            report.broken("bad-field", seen.at(node), text);
            refused = true;
        }
    };
    check("capability", "text", &|n| n.is_string());
    check("cap", "text", &|n| n.is_string());
    check("seq", "a number from 0 up", &|n| whole(n).is_some());
    check("stream_control", "end, abort, pause or resume", &|n| {
        CONTROLS.iter().any(|word| n.is_text(word))
    });
    if let Some(node) = raw(root, "meta").filter(|node| !node.is_map() && root.is_map()) {
        let text = format!("meta is {}, a map should be", said(node));
        report.broken("bad-field", seen.at(node), text);
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
    refused
}

/// The items of a batch.
fn items(seen: &Seen<'_>, root: Node<'_>, here: Place, report: &mut Report) -> bool {
    let Some(list) = field(root, "batch_items") else {
        report.broken("empty-batch", here, "the batch has no batch_items");
        return false;
    };
    if !list.is_array() {
        let text = format!("batch_items is {}, an array should be", said(list));
        report.broken("bad-field", seen.at(list), text);
        return true;
    }
    if list.at(0).is_none() {
        report.broken("empty-batch", seen.at(list), "batch_items has no item");
        return false;
    }
    let before = report.broken.len();
    let mut refused = false;
    let mut names = HashSet::new();
    for (n, item) in list.children().enumerate() {
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
