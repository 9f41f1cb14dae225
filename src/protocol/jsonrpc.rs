//! JSON-RPC 2.0, as the protocols that ride on it share it.

pub(super) mod dialect;
#[cfg(feature = "rules")]
pub(super) mod pairing;
#[cfg(feature = "rules")]
pub(super) mod say;
#[cfg(feature = "rules")]
pub(super) mod shape;

use super::{Direction, Id, Place, Seen};
use crate::encoding::{Nothing, json};
use crate::error::DecodeError;
use crate::framing::Framing;
use crate::span::{Span, SpannedText};
use crate::tape::Node;

/// The members of a message.
pub(super) const MEMBERS: [&str; 6] = ["jsonrpc", "id", "method", "params", "result", "error"];

/// The members of a JSON-RPC object. A repeated key: the last one counts.
#[derive(Clone, Copy, Default)]
pub(super) struct Call<'a> {
    pub(super) version: Option<Node<'a>>,
    pub(super) id: Option<Node<'a>>,
    pub(super) method: Option<Node<'a>>,
    pub(super) params: Option<Node<'a>>,
    pub(super) result: Option<Node<'a>>,
    pub(super) error: Option<Node<'a>>,
    /// One of these is there more than once; the last counts.
    pub(super) repeats: bool,
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
                _ => continue,
            };
            let again = member.replace(value).is_some();
            call.repeats |= again;
        }
        call
    }

    /// An error that is there: `"error":null` is none.
    pub(super) fn error(&self) -> Option<Node<'a>> {
        self.error.filter(|e| !e.is_null())
    }

    pub(super) fn id(&self) -> Id<'a> {
        let whole = self.id.filter(|id| is_whole(*id));
        match whole.map_or("", spelling) {
            "" => Id::None,
            id => Id::Json(id),
        }
    }
}

/// A value as it is spelled.
pub(super) fn spelling(node: Node<'_>) -> &str {
    std::str::from_utf8(node.span().of(node.bytes())).unwrap_or_default()
}

/// Whether a value is there to its end: an array or object that an error cut off is not.
fn is_whole(node: Node<'_>) -> bool {
    // As deep as anything is read.
    const DEPTH: u32 = 1000;
    let container = node.is_map() || node.is_array();
    !container || json::parse(node.bytes(), node.span(), DEPTH, &mut Nothing).is_ok()
}

/// Whether a number is spelled without a fraction and an exponent.
pub(super) fn is_integer(node: Node<'_>) -> bool {
    node.number_text()
        .is_some_and(|s| !s.contains(['.', 'e', 'E']))
}

/// Members that `error` must have (JSON-RPC 2.0 section 5.1): an integer `code`, a string `message`.
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

/// What an error message calls an error's outcome: its code.
pub(super) fn outcome(error: Node<'_>) -> Option<SpannedText<'_>> {
    let code = error.get("code")?;
    Some(SpannedText::new(spelling(code), code.span()))
}

/// A whole line's worth of likely causes, for a line that is no JSON object; more to the point than what the parser says.
pub(super) fn line_hint(
    line: &[u8],
    error: &DecodeError,
    direction: Option<Direction>,
) -> Option<&'static str> {
    let text = line.trim_ascii();
    let first = text.first().copied().unwrap_or_default();
    Some(match (first, error.code) {
        (0xef, _) if text.starts_with(b"\xef\xbb\xbf") => {
            "a byte order mark: write UTF-8 without one"
        }
        (b'{', "trailing-bytes") if follows_cr(line, error.span) => {
            "a lone CR is no line end: end each message with LF"
        }
        (b'{', "trailing-bytes") if error.span.of(line).first() == Some(&b'{') => {
            "two messages on one line: each needs a line of its own"
        }
        (b'{', "ends-early") if text.len() == 1 => {
            "pretty-printed JSON: a message must be one line"
        }
        (b'{', "ends-early") => {
            "the line ends inside the message: pretty-printed JSON, or a write that was cut short"
        }
        (b'}' | b']', _) => "pretty-printed JSON: a message must be one line",
        (b'"', "trailing-bytes") if memchr::memchr(b':', text).is_some() => {
            "pretty-printed JSON: a message must be one line"
        }
        (b'{', _) => return None,
        (b' '..=b'~', "bad-json" | "trailing-bytes" | "bad-utf8")
            if direction != Some(Direction::ToServer) =>
        {
            "a log line on stdout? Only messages may go there, logs belong on stderr"
        }
        _ => return None,
    })
}

/// What is said of an answer that comes only once the child's stdin was closed, where its side was waited for: a writer
/// that does not flush writes when it ends. `due`, `closed`, `now` are times.
pub(super) fn unflushed(seen: &Seen<'_>, due: Option<i64>, closed: Option<i64>) -> Option<String> {
    /// Who closes stdin sooner does not wait for answers: 500 ms.
    const PATIENCE: i64 = 500_000_000;
    let (due, closed) = (due?, closed?);
    let took = seen.origin.time?.saturating_sub(closed);
    let waited = closed.saturating_sub(due);
    // A line that no LF ends is read at the end, whenever it was written.
    if lone_cr(seen).is_some() {
        return None;
    }
    // What takes as long again may as well be slow.
    (waited >= PATIENCE && (0..waited).contains(&took)).then(|| {
        let tenths = waited / 100_000_000;
        format!(
            "this comes only after stdin was closed, which waited {}.{} s for it: is stdout flushed?",
            tenths / 10,
            tenths % 10
        )
    })
}

/// The place of a CR at the end of a line that no LF ends: of the last line of a stream.
pub(super) fn lone_cr(seen: &Seen<'_>) -> Option<Place> {
    let body = seen.frame.view.body;
    let is_line = seen.frame.framing == Framing::Lines && seen.frame.fault.is_none();
    // What was read up to a CR LF has the CR behind its body.
    let is_last = seen.frame.len == u64::from(body.len);
    let ends = is_line && is_last && seen.frame.view.body().ends_with(b"\r");
    ends.then(|| Place {
        offset: seen.frame.offset + seen.frame.len - 1,
        len: 1,
        ..seen.whole()
    })
}

/// Whether a CR stands between what was read of a line and the rest.
fn follows_cr(line: &[u8], rest: Span) -> bool {
    let before = line.get(..rest.at()).unwrap_or_default();
    let gap = before.get(before.trim_ascii_end().len()..);
    gap.is_some_and(|gap| gap.contains(&b'\r'))
}

/// Why a value that is JSON, but no object, is no message.
pub(super) fn not_an_object(root: Node<'_>) -> DecodeError {
    let error = DecodeError::new(
        "not-an-object",
        root.span(),
        "message",
        "a JSON object",
        root.describe(),
    );
    if root.is_array() {
        error.hint("a batch: no peer takes one, send the messages one by one")
    } else {
        error
    }
}

/// A line without anything on it.
pub(super) fn blank_line(body: Span) -> DecodeError {
    DecodeError::new(
        "blank-line",
        body,
        "message",
        "a JSON object",
        "a blank line",
    )
}
