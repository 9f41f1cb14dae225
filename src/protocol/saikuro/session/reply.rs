//! Checks an answer, alone and against the batch that it answers.
//!
//! ```text
//!   {id, ok, result | error: {code, message}}    reply()          also for each of the document's results
//!   {id, ok, results: [...]}                     batch_answer()   the document's form
//!   {id, ok, result: [...]}                                       the form of real peers
//! ```

use super::super::message::{Vocabulary, field, id, vocabulary};
use super::super::schema::{ERROR, FRAME};
use super::check::{MAX_ENTRIES, place};
use super::state::{Batch, CallId, Codes};
use crate::protocol::rule_names::saikuro as rule;
use crate::protocol::schema::check::TypeProblem;
use crate::protocol::schema::lint::lint;
use crate::protocol::session::memory::Lazy;
use crate::protocol::session::text::{quote, quote_text};
use crate::protocol::session::{Current, broken};
use crate::tape::Node;

/// Checks an answer, or a frame of a stream or channel.
pub(super) fn reply(
    seen: Current<'_, '_>,
    root: Node<'_>,
    wants_result: bool,
    codes: &mut Lazy<Codes>,
) {
    let kind = seen.message.kind.as_ref();
    let free = matches!(kind, "abort" | "batch-response" | "announce_ack");
    answer(seen, root, (wants_result, !free), false, codes);
    lint(
        &seen,
        root,
        (&FRAME, kind),
        &|p| p.rule(),
        &mut seen.report(),
    );
    let before = seen.findings();
    for result in field(root, "results").into_iter().flat_map(Node::children) {
        if seen.findings() >= before + MAX_ENTRIES {
            break;
        }
        answer(seen, result, (true, true), true, codes);
    }
}

/// Checks `ok`, and that the result or error matches it.
fn answer(
    seen: Current<'_, '_>,
    root: Node<'_>,
    (wants_result, wants_error): (bool, bool),
    nested: bool,
    codes: &mut Lazy<Codes>,
) {
    let here = place(seen, root, nested);
    let error = field(root, "error");
    match (root.get("ok").and_then(Node::as_bool), error) {
        (Some(true), Some(node)) => {
            broken!(seen, rule::OK_WITH_ERROR, seen.at(node); "ok is true, but there is an error");
        }
        (Some(false), None) if wants_error => {
            broken!(seen, rule::ERROR_MISSING, here; "ok is false, but there is no error");
        }
        (Some(true), None)
            if wants_result && root.get("result").or(root.get("results")).is_none() =>
        {
            broken!(seen, rule::RESULT_MISSING, here;
                "ok is true without a result; for no value it should be null");
        }
        _ => {}
    }
    if let Some(error) = error {
        self::error(seen, error, codes);
    }
}

fn error(seen: Current<'_, '_>, error: Node<'_>, codes: &mut Lazy<Codes>) {
    let rule = &|p: &TypeProblem<'_, '_>| p.rule().or(Some(rule::BAD_ERROR));
    lint(
        &seen,
        error,
        (&ERROR, "the error"),
        rule,
        &mut seen.report(),
    );
    let is_whole = error.get("message").is_some_and(Node::is_string);
    let node = error.get("code").filter(|_| is_whole);
    let Some((node, code)) = node.and_then(|n| Some((n, n.text()?))) else {
        return;
    };
    let place = seen.at(node);
    let code = quote_text(&code);
    match vocabulary(&node.text().unwrap_or_default()) {
        Vocabulary::Shared => return,
        Vocabulary::Document => {
            broken!(seen, rule::DOCUMENT_ERROR_CODE, place;
                "{code} is a code of the document, which a runtime cannot decode");
            codes.document = Some(seen.index);
        }
        Vocabulary::Peers => {
            // Once for each side: the code shows the kind of peer, not an error of this message.
            if codes.peers.is_none() {
                broken!(seen, rule::PEERS_ERROR_CODE, place;
                    "{code} is a code of real peers, which the document does not have");
            }
            codes.peers = Some(seen.index);
        }
        Vocabulary::Nobody => {
            broken!(seen, rule::UNKNOWN_ERROR_CODE, place;
                "{code} is an error code of neither the document nor real peers");
            return;
        }
    }
    if let (Some(document), Some(peers)) = (codes.document, codes.peers)
        && !codes.reported
    {
        codes.reported = true;
        broken!(seen, rule::MIXED_ERROR_CODES, place, document.min(peers);
            "the code is {code}, but earlier codes are of the other vocabulary");
    }
}

/// Checks the answer to a batch, in either dialect.
pub(super) fn batch_answer(seen: Current<'_, '_>, root: Node<'_>, batch: &Batch) {
    let (list, is_document) = match (field(root, "results"), field(root, "result")) {
        (Some(list), _) => (list, true),
        (None, Some(list)) => (list, false),
        (None, None) => return,
    };
    let count = list.children().count();
    if !list.is_array() || count != batch.count {
        broken!(seen, rule::BATCH_COUNT, seen.at(list);
            "the answer has {}, but the batch has {} calls",
            if list.is_array() { format!("{count} results") } else { quote(list) }, batch.count);
    } else if is_document {
        batch_order(seen, list, batch);
    }
    let Some(ok) = root.get("ok").filter(|_| is_document) else {
        return;
    };
    // MUST (Batch Response): ok is false if one item failed.
    let mut oks = list.children().map(|r| r.get("ok").and_then(Node::as_bool));
    let failed = oks.position(|ok| ok == Some(false));
    match (ok.as_bool(), failed) {
        (Some(true), Some(n)) => broken!(seen, rule::BATCH_OK, seen.at(ok);
            "ok is true, but result {n} failed"),
        (Some(false), None) if field(root, "error").is_none() => {
            broken!(seen, rule::BATCH_OK, seen.at(ok); "ok is false, but no result failed");
        }
        _ => {}
    }
}

/// MUST (Batch Response): results have the order of the calls.
fn batch_order(seen: Current<'_, '_>, list: Node<'_>, batch: &Batch) {
    for (n, (result, wanted)) in list.children().zip(&batch.ids).enumerate() {
        let Some(node) = field(result, "id") else {
            broken!(seen, rule::MISSING_ID, seen.at(result); "result {n} has no id");
            return;
        };
        let got = id(node);
        if wanted.is_some() && CallId::of(&got) != *wanted {
            broken!(seen, rule::BATCH_ORDER, seen.at(node);
                "result {n} is for {}, not for call {n}", quote_text(&got.text()));
            return;
        }
    }
}
