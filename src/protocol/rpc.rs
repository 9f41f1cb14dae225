//! JSON-RPC 2.0, for the protocols that use it.

#[cfg(feature = "rules")]
pub(super) mod build;
#[cfg(feature = "rules")]
mod cancel;
#[cfg(feature = "rules")]
pub(super) mod capabilities;
pub(super) mod dialect;
#[cfg(feature = "rules")]
pub(super) mod extension;
#[cfg(feature = "rules")]
pub(super) mod handshake;
#[cfg(feature = "rules")]
pub(super) mod http;
#[cfg(feature = "rules")]
pub(super) mod peer;
#[cfg(feature = "rules")]
pub(super) mod posts;
pub(super) mod read;
#[cfg(feature = "rules")]
pub(super) mod session;
#[cfg(feature = "rules")]
pub(super) mod shape;

use super::{Id, Message, Place, Seen};
use crate::encoding::{Nothing, json};
use crate::error::DecodeError;
use crate::framing::Framing;
use crate::span::SpannedText;
use crate::tape::Node;

/// Implements the methods of [`Protocol`](super::Protocol) in mcp, lsp, acp and jsonrpc with functions that read a frame and
/// that add remarks; `schema::DIALECT` and `DESCRIPTOR` of the folder do the rest.
macro_rules! family_methods {
    ($read:expr, $annotate:expr $(,)?) => {
        $crate::protocol::rpc::family_methods!($read, $annotate, $crate::protocol::rpc::content);
    };
    ($read:expr, $annotate:expr, $content:expr $(,)?) => {
        $crate::protocol::methods::methods! {
            descriptor: DESCRIPTOR,
            kinds: schema::KINDS,
            recipes: schema::RECIPES,
            marks: schema::MARKS,
            shapes: || schema::DIALECT.shapes(),
            read: $read,
            write: |message, options, out| schema::DIALECT.write(message, options, out),
            make: |kind, words, id_gen| schema::DIALECT.make(kind, words, id_gen),
            content: $content,
            annotate: |root, _, notes| ($annotate)(root, notes),
            fixed_direction: |message| schema::DIALECT.fixed_direction(message),
            parts: $crate::protocol::rpc::read::parts,
            part_names: $crate::protocol::rpc::read::part_names,
        }
    };
}
pub(super) use family_methods;

/// The members of a message.
pub(super) const MEMBERS: [&str; 6] = ["jsonrpc", "id", "method", "params", "result", "error"];

/// The members of a JSON-RPC object. If a key is repeated, the last one counts.
#[derive(Clone, Copy, Default)]
pub(super) struct Call<'a> {
    pub(super) version: Option<Node<'a>>,
    pub(super) id: Option<Node<'a>>,
    pub(super) method: Option<Node<'a>>,
    pub(super) params: Option<Node<'a>>,
    pub(super) result: Option<Node<'a>>,
    pub(super) error: Option<Node<'a>>,
    /// A member is present more than once.
    pub(super) repeats: bool,
    /// It has other members.
    pub(super) has_others: bool,
}

impl<'a> Call<'a> {
    pub(super) fn of(root: Node<'a>) -> Self {
        let mut call = Self::default();
        if !root.is_map() {
            return call;
        }
        for (key, value) in root.members() {
            let member = match key.key_bytes().as_ref() {
                b"jsonrpc" => &mut call.version,
                b"id" => &mut call.id,
                b"method" => &mut call.method,
                b"params" => &mut call.params,
                b"result" => &mut call.result,
                b"error" => &mut call.error,
                _ => {
                    call.has_others = true;
                    continue;
                }
            };
            let again = member.replace(value).is_some();
            call.repeats |= again;
        }
        call
    }

    /// Returns the error. `"error":null` is no error.
    pub(super) fn error(&self) -> Option<Node<'a>> {
        self.error.filter(|e| !e.is_null())
    }

    /// The text of the error, the result or the params. `failed`: the result says that the call failed.
    pub(super) fn content(&self, failed: bool) -> Option<Node<'a>> {
        let text = self.error().and_then(|error| error.get("message"));
        let result = self.result.filter(|_| failed);
        text.or_else(|| failure_text(result?))
            .or(self.result)
            .or(self.params)
    }

    pub(super) fn id(&self) -> Id<'a> {
        let whole = self.id.filter(|id| is_complete(*id));
        match whole.map_or("", spelling) {
            "" => Id::None,
            id => Id::Json(id.into()),
        }
    }
}

/// Returns the text of the error, the result or the params of a message.
pub(super) fn content<'n>(root: Node<'n>, message: &Message<'_>) -> Option<Node<'n>> {
    Call::of(root).content(message.failed)
}

/// Returns the text of a result that says that the call failed.
fn failure_text(result: Node<'_>) -> Option<Node<'_>> {
    let error = result.get("error");
    let inner = error.and_then(|error| error.get("message"));
    let found = [inner, error, result.get("message")];
    found.into_iter().flatten().find(|node| node.is_string())
}

/// Returns the source text of a value.
pub(super) fn spelling(node: Node<'_>) -> &str {
    std::str::from_utf8(node.span().of(node.bytes())).unwrap_or_default()
}

/// Returns false for an array or object that an error cut off.
fn is_complete(node: Node<'_>) -> bool {
    // The greatest depth of any reader.
    const DEPTH: u32 = 1000;
    let container = node.is_map() || node.is_array();
    !container || json::parse(node.bytes(), node.span(), DEPTH, &mut Nothing).is_ok()
}

/// Returns true if a number is spelled without a fraction and an exponent.
pub(super) fn is_integer(node: Node<'_>) -> bool {
    node.number_text()
        .is_some_and(|s| !s.contains(['.', 'e', 'E']))
}

/// Checks the members that `error` must have (JSON-RPC 2.0 section 5.1): an integer `code`, a string `message`.
pub(super) fn check_error(error: Node<'_>, faults: &mut Vec<DecodeError>) {
    let mut bad = |field: &'static str, node: Option<Node<'_>>, wanted: &'static str| {
        let span = node.map_or(error.span(), Node::span);
        let got = node.map_or("nothing", Node::describe);
        faults.push(DecodeError::new("bad-error", span, field, wanted, got));
    };
    if !error.is_map() {
        return bad("error", Some(error), "an object");
    }
    let (code, message) = (error.get("code"), error.get("message"));
    if !code.is_some_and(|c| is_integer(c) && spelling(c).parse::<i64>().is_ok()) {
        bad("error.code", code, "an integer");
    }
    if !message.is_some_and(Node::is_string) {
        bad("error.message", message, "a string");
    }
}

/// Returns the outcome of an error: its code.
pub(super) fn outcome(error: Node<'_>) -> Option<SpannedText<'_>> {
    let code = error.get("code")?;
    Some(SpannedText::new(spelling(code), code.span()))
}

/// Returns the finding for an answer that comes only after the child's stdin was closed, although its side waited for
/// it: a writer that does not flush writes when it exits. `due`, `closed` and `now` are times.
pub(super) fn unflushed(seen: &Seen<'_>, due: Option<i64>, closed: Option<i64>) -> Option<String> {
    /// A side that closes stdin sooner does not wait for answers: 500 ms.
    const PATIENCE: i64 = 500_000_000;
    let (due, closed) = (due?, closed?);
    let took = seen.origin.time?.saturating_sub(closed);
    let waited = closed.saturating_sub(due);
    // A line without LF is read only at the end, regardless of when it was written.
    if lone_cr(seen).is_some() {
        return None;
    }
    // An answer that takes as long again may just be slow.
    (waited >= PATIENCE && (0..waited).contains(&took)).then(|| {
        let tenths = waited / 100_000_000;
        format!(
            "this comes only after stdin was closed, which waited {}.{} s for it: is stdout flushed?",
            tenths / 10,
            tenths % 10
        )
    })
}

/// Returns the position of a CR at the end of the last line of a stream, if no LF follows.
pub(super) fn lone_cr(seen: &Seen<'_>) -> Option<Place> {
    let body = seen.frame.view.body;
    let is_line = seen.frame.framing == Framing::Lines && seen.frame.fault.is_none();
    // A line that ends with CR LF has the CR after its body.
    let is_last = seen.frame.len == u64::from(body.len);
    let ends_with_cr = is_line && is_last && seen.frame.view.body().ends_with(b"\r");
    ends_with_cr.then(|| Place {
        offset: seen.frame.offset + seen.frame.len - 1,
        len: 1,
        ..seen.whole()
    })
}
