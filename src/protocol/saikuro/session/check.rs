//! What one message shows by itself: its fields, its values, its error codes.
//!
//! ```text
//!   {version, type, id, target, args, ...}     envelope()   each item of a batch like a message
//!   {id, ok, result | error, ...}              reply()      each of the document's results like a message
//!   any value                                  values()     repeated keys, what a runtime cannot hold
//! ```

use super::super::message::{Vocabulary, field, id, vocabulary};
use super::state::{Batch, Codes, Name};
use crate::protocol::Id;
use crate::protocol::session::{Place, Report, Seen};
use crate::tape::{Node, Scalar, Value};
use std::collections::HashSet;

/// Findings about parts of one message, after which no more parts are looked at.
const MOST: usize = 16;
/// Characters of a text that are quoted.
const QUOTED: usize = 60;

/// Types of envelopes.
const TYPES: [&str; 8] = [
    "call", "cast", "stream", "channel", "batch", "resource", "log", "announce",
];
/// Words of `stream_control`.
const CONTROLS: [&str; 4] = ["end", "pause", "resume", "abort"];

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
fn place(seen: &Seen<'_>, root: Node<'_>, nested: bool) -> Place {
    if nested { seen.at(root) } else { seen.whole() }
}

/// Checks all values; says whether a runtime cannot read one.
pub(super) fn values(seen: &Seen<'_>, root: Node<'_>, report: &mut Report) -> bool {
    let [mut repeats, mut extension, mut odd_key, mut bad_text] = [false; 4];
    root.each(&mut |node| match node.value() {
        Value::Map => {
            if !repeats && let Some(key) = repeated(node) {
                repeats = true;
                let text = format!("the key {} stands twice in one map", said(key));
                report.broken("duplicate-key", seen.at(key), text);
            }
            if !odd_key && let Some((key, _)) = node.members().find(|(key, _)| !key.is_string()) {
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
            if let Err(error) = std::str::from_utf8(text) {
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

/// The first key that a map has twice.
fn repeated(map: Node<'_>) -> Option<Node<'_>> {
    const FEW: usize = 16;
    let mut few: [(bool, &[u8]); FEW] = [(false, &[]); FEW];
    let mut many = HashSet::new();
    for (n, (key, _)) in map.members().enumerate() {
        let is_text = key.is_string();
        let bytes = if is_text {
            key.raw_text()
        } else {
            key.span().of(key.bytes())
        };
        let this = (is_text, bytes);
        if let Some(room) = few.get_mut(n) {
            *room = this;
            if few.iter().take(n).any(|other| *other == this) {
                return Some(key);
            }
            continue;
        }
        if many.is_empty() {
            many.extend(few);
        }
        if !many.insert(this) {
            return Some(key);
        }
    }
    None
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
        let Some(kind) = kind.filter(|kind| TYPES.contains(&kind.as_ref())) else {
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
    match field(root, "type") {
        Some(node) => {
            let text = format!("type is {}, which no envelope has", said(node));
            report.broken("unknown-type", seen.at(node), text);
        }
        None => {
            let text =
                "a map with neither the type of an envelope nor the ok, seq or close of an answer";
            report.broken("unknown-message", seen.whole(), text);
        }
    }
}

/// Checks an answer, or a frame of a stream or channel.
pub(super) fn reply(
    seen: &Seen<'_>,
    root: Node<'_>,
    wants_result: bool,
    codes: &mut Codes,
    report: &mut Report,
) {
    let kind = seen.message.kind.as_ref();
    let free = matches!(kind, "abort" | "batch-response" | "announce_ack");
    answer(seen, root, (wants_result, !free), false, codes, report);
    if let Some(node) = field(root, "seq").filter(|node| whole(*node).is_none()) {
        let text = format!("seq is {}, a number from 0 up should be", said(node));
        report.broken("bad-field", seen.at(node), text);
    }
    if let Some(node) = field(root, "stream_control")
        && !CONTROLS.iter().any(|word| node.is_text(word))
    {
        let text = format!(
            "stream_control is {}, end, abort, pause or resume should be",
            said(node)
        );
        report.broken("bad-field", seen.at(node), text);
    }
    let before = report.broken.len();
    for result in field(root, "results").into_iter().flat_map(Node::children) {
        if report.broken.len() >= before + MOST {
            break;
        }
        answer(seen, result, (true, true), true, codes, report);
    }
}

/// `ok`, and what it promises: a result, an error.
fn answer(
    seen: &Seen<'_>,
    root: Node<'_>,
    (wants_result, wants_error): (bool, bool),
    nested: bool,
    codes: &mut Codes,
    report: &mut Report,
) {
    let here = place(seen, root, nested);
    let error = field(root, "error");
    match (root.get("ok").and_then(Node::as_bool), error) {
        (Some(true), Some(node)) => {
            let text = "ok is true, and there is an error";
            report.broken("ok-with-error", seen.at(node), text);
        }
        (Some(false), None) if wants_error => {
            report.broken("error-missing", here, "ok is false, and no error says why");
        }
        (Some(true), None) if wants_result && root.get("result").is_none() => {
            if root.get("results").is_none() {
                let text = "ok is true without a result; null should be where there is none";
                report.broken("result-missing", here, text);
            }
        }
        _ => {}
    }
    if let Some(error) = error {
        self::error(seen, error, codes, report);
    }
}

fn error(seen: &Seen<'_>, error: Node<'_>, codes: &mut Codes, report: &mut Report) {
    for name in ["code", "message"] {
        let value = error.get(name);
        if !value.is_some_and(Node::is_string) {
            let got = value.map_or_else(|| "missing".to_owned(), said);
            let text = format!("the {name} of the error is {got}, text should be");
            report.broken("bad-error", seen.at(value.unwrap_or(error)), text);
            return;
        }
    }
    if let Some(details) = error.get("details").filter(|d| !d.is_map() && !d.is_null()) {
        let text = format!(
            "the details of the error are {}, a map should be",
            said(details)
        );
        report.broken("bad-error", seen.at(details), text);
    }
    let Some((node, code)) = error.get("code").and_then(|n| Some((n, n.text()?))) else {
        return;
    };
    let place = seen.at(node);
    let code = quoted(&code);
    match vocabulary(&node.text().unwrap_or_default()) {
        Vocabulary::Shared => return,
        Vocabulary::Document => {
            let text = format!("{code} is a code of the document, which a runtime cannot decode");
            report.broken("document-error-code", place, text);
            codes.document = Some(seen.index);
        }
        Vocabulary::Peers => {
            // Once a side: it is a matter of which peer this is, not of the single error.
            if codes.peers.is_none() {
                let text =
                    format!("{code} is a code of real peers, which the document does not have");
                report.broken("peers-error-code", place, text);
            }
            codes.peers = Some(seen.index);
        }
        Vocabulary::Nobody => {
            let text = format!("{code} is an error code of neither the document nor real peers");
            report.broken("unknown-error-code", place, text);
            return;
        }
    }
    if let (Some(document), Some(peers)) = (codes.document, codes.peers)
        && !codes.told
    {
        codes.told = true;
        let text = format!("{code}, after codes of the other vocabulary: one side speaks both");
        report.broken_by("mixed-error-codes", place, document.min(peers), text);
    }
}

/// Checks the answer to a batch, in either dialect.
pub(super) fn batch_answer(seen: &Seen<'_>, root: Node<'_>, batch: &Batch, report: &mut Report) {
    let (list, is_document) = match (field(root, "results"), field(root, "result")) {
        (Some(list), _) => (list, true),
        (None, Some(list)) => (list, false),
        (None, None) => return,
    };
    let count = list.children().count();
    if !list.is_array() || count != batch.count {
        let got = if list.is_array() {
            format!("{count} results")
        } else {
            said(list)
        };
        let text = format!(
            "{got} to a batch of {}: one for each should be",
            batch.count
        );
        report.broken("batch-count", seen.at(list), text);
    } else if is_document {
        batch_order(seen, list, batch, report);
    }
    let Some(ok) = root.get("ok").filter(|_| is_document) else {
        return;
    };
    // MUST (Batch Response): ok is false where one item's is.
    let mut oks = list.children().map(|r| r.get("ok").and_then(Node::as_bool));
    let failed = oks.position(|ok| ok == Some(false));
    let text = match (ok.as_bool(), failed) {
        (Some(true), Some(n)) => format!("ok is true, and result {n} failed"),
        (Some(false), None) if field(root, "error").is_none() => {
            "ok is false, and no result failed".to_owned()
        }
        _ => return,
    };
    report.broken("batch-ok", seen.at(ok), text);
}

/// MUST (Batch Response): results stand in the order of the calls.
fn batch_order(seen: &Seen<'_>, list: Node<'_>, batch: &Batch, report: &mut Report) {
    for (n, (result, wanted)) in list.children().zip(&batch.ids).enumerate() {
        let Some(node) = field(result, "id") else {
            report.broken(
                "missing-id",
                seen.at(result),
                format!("result {n} has no id"),
            );
            return;
        };
        let got = id(node);
        if wanted.is_some() && Name::of(&got) != *wanted {
            let text = format!(
                "result {n} is for {}, not for call {n}",
                quoted(&got.text())
            );
            report.broken("batch-order", seen.at(node), text);
            return;
        }
    }
}
