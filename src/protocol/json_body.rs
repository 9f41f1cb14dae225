//! Bodies that are JSON objects.

use super::{Context, Direction, Message};
use crate::encoding::Parsed;
use crate::error::DecodeError;
use crate::framing::{Frame, Framing};
use crate::span::Span;
use crate::tape::Node;

/// Reads the body of a frame as JSON and adds its value, or its fault, to the message. Returns the root, if there is
/// one.
pub(super) fn parse<'a>(
    frame: &Frame<'a>,
    context: &Context,
    parsed: &'a mut Parsed,
    message: &mut Message<'a>,
) -> Option<Node<'a>> {
    let view = frame.view;
    if let Err(mut error) = parsed.json(view.bytes, view.body) {
        let is_line = frame.framing == Framing::Lines;
        let hint = line_hint(frame, &error, context.direction).filter(|_| is_line);
        error.hint = hint.map(Into::into).or(error.hint);
        message.valid = false;
        message.faults.push(error);
    }
    let parsed = &*parsed;
    let root = parsed.root(view.bytes)?;
    message.value = Some(parsed);
    Some(root)
}

/// The fault of a body without content.
pub(super) fn empty(frame: &Frame<'_>) -> DecodeError {
    let body = frame.view.body;
    match frame.framing {
        Framing::Lines => blank_line(body),
        _ => DecodeError::new("empty", body, "message", "a JSON object", "nothing"),
    }
}

/// The fault of a blank line.
pub(super) fn blank_line(body: Span) -> DecodeError {
    DecodeError::new(
        "blank-line",
        body,
        "message",
        "a JSON object",
        "a blank line",
    )
}

/// Describes the fault of a value that is JSON but not an object.
pub(super) fn not_an_object(root: Node<'_>) -> DecodeError {
    let error = DecodeError::new(
        "not-an-object",
        root.span(),
        "message",
        "a JSON object",
        root.describe(),
    );
    if root.is_array() {
        error.hint("a batch: no peer supports batches; send the messages one by one")
    } else {
        error
    }
}

/// Returns the likely cause why a line is not a JSON object. It is more specific than the error of the parser.
fn line_hint(
    frame: &Frame<'_>,
    error: &DecodeError,
    direction: Option<Direction>,
) -> Option<&'static str> {
    let line = frame.view.body();
    let text = line.trim_ascii();
    let start = error.span.at().saturating_sub(frame.view.body.at());
    let span = Span::new(start, start + error.span.len as usize);
    let first = text.first().copied().unwrap_or_default();
    Some(match (first, error.code) {
        (0xef, _) if text.starts_with(b"\xef\xbb\xbf") => {
            "a byte order mark: write UTF-8 without one"
        }
        (b'{', "trailing-bytes") if follows_cr(line, span) => {
            "a single CR does not end a line: end each message with LF"
        }
        (b'{', "trailing-bytes") if span.of(line).first() == Some(&b'{') => {
            "two messages on one line: each needs its own line; `framing values` reads both"
        }
        (b'{', "trailing-bytes") if is_next_column(line, span) => {
            "a row of a table, as a browser's developer tools copy it: cut -f1 FILE takes the messages"
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

/// Returns true if a tab and a number follow the part of a line that was read.
fn is_next_column(line: &[u8], rest: Span) -> bool {
    let before = line.get(..rest.at()).unwrap_or_default();
    before.ends_with(b"\t") && rest.of(line).first().is_some_and(u8::is_ascii_digit)
}

/// Returns true if a CR is between the part of a line that was read and the rest.
fn follows_cr(line: &[u8], rest: Span) -> bool {
    let before = line.get(..rest.at()).unwrap_or_default();
    let gap = before.get(before.trim_ascii_end().len()..);
    gap.is_some_and(|gap| gap.contains(&b'\r'))
}
