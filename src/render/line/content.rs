//! Writes arguments, results and texts of errors in brief: `{path: "/tmp/x", mode: {…}}`; and the text of a message as screens
//! show it, for searches.

use super::super::{findings, kind_text, push_short_id, subject};
use super::columns::width;
use crate::conversation::Verdict;
use crate::decoder::Decoded;
use crate::escape::{escape, shorten};
#[cfg(feature = "cli")]
use crate::protocol::session::Answer;
use crate::protocol::{Notes, Role, annotate};
use crate::span::Span;
use crate::tape::{Node, Scalar, Value};
use std::borrow::Cow;
use std::fmt::Write as _;

/// The maximum number of characters of a text; texts of errors are not limited.
pub(super) const MAX_TEXT: usize = 32;
/// The maximum number of characters of a key.
const MAX_KEY: usize = 48;
/// The minimum number of letters and digits without a space that form an id.
const MIN_ID: usize = 24;
/// The maximum number of bytes of a blob.
const MAX_BYTES: usize = 8;

/// Options for the content of a cell.
pub(super) struct Content {
    pub show_secrets: bool,
    /// The width of the cell, including the text before the content.
    pub space: usize,
    /// The maximum number of characters of a text, usually [`MAX_TEXT`].
    pub text: usize,
    /// Quotes and backslashes in texts are escaped.
    pub escapes: bool,
}

impl Content {
    /// Adds the content of a message as [`Content::push`] does. Longer texts fill what is `free` of the line, if it is cut.
    pub fn fill(
        mut self,
        decoded: &Decoded<'_>,
        free: Option<usize>,
        notes: &mut Notes,
        out: &mut String,
    ) {
        let start = out.len();
        self.push(decoded, notes, out);
        let Some(free) = free.filter(|_| !out.is_ascii()) else {
            return;
        };
        let cut = out.matches('…').count();
        let free = free.saturating_sub(width(out));
        if cut > 0 && free > 0 {
            self.text += free / cut;
            out.truncate(start);
            self.push(decoded, notes, out);
        }
    }

    /// Adds the content of a message to the text in the cell. The result may be longer than the cell.
    pub fn push(&self, decoded: &Decoded<'_>, notes: &mut Notes, out: &mut String) {
        let message = decoded.message;
        if decoded.frame.control == Some("datagram") {
            let bytes = decoded.frame.view.body();
            return match std::str::from_utf8(bytes) {
                Ok(text) => self.push_text(text, self.text, out),
                Err(_) => push_blob(bytes, out),
            };
        }
        let Some(root) = decoded.root() else {
            return;
        };
        let is_batch = message.kind == "batch";
        let content = match decoded.protocol.content(root, message) {
            Some(content) => content,
            None if is_batch => root,
            None => return,
        };
        if is_batch && content.is_array() {
            if !out.is_empty() {
                out.push_str(": ");
            }
            return push_batch(content, self.space, out);
        }
        let is_error = message.is_error();
        let known = message.secrets.filter(|_| !self.show_secrets);
        let notes = known.unwrap_or_else(|| {
            notes.clear();
            if !self.show_secrets {
                annotate(decoded.protocol, root, message, notes);
            }
            notes
        });
        let text = content.text().filter(|_| content.is_string());
        let outcome = message.outcome.as_deref().filter(|_| message.failed);
        if let Some(mark) = outcome.and_then(|outcome| out.strip_suffix(outcome))
            && text.is_some()
        {
            // The text says more than the value.
            out.truncate(mark.len());
        } else if !out.is_empty() {
            out.push_str(if is_error { ": " } else { " " });
        }
        let name = message.name.as_ref().and_then(|name| name.span);
        match (text, name) {
            (Some(_), _) if notes.is_secret(content) => out.push_str("(secret)"),
            (Some(text), _) if is_error => {
                let text = notes.masked(content).map_or(text, Cow::Owned);
                out.push_str(start(&text, self.space));
            }
            (Some(text), _) if message.role == Some(Role::Response) => {
                let text = notes.masked(content).map_or(text, Cow::Owned);
                self.push_text(&text, self.space.max(self.text), out);
            }
            (None, Some(name)) if content.is_map() && holds(content, name) => {
                self.push_without_name(content, name, notes, out);
            }
            _ => self.push_value(content, notes, out),
        }
    }

    /// Adds all values of a message.
    pub fn push_whole(&self, decoded: &Decoded<'_>, notes: &mut Notes, out: &mut String) {
        if let Some(root) = decoded.root() {
            notes.clear();
            annotate(decoded.protocol, root, decoded.message, notes);
            self.push_value(root, notes, out);
        }
    }

    /// Adds the members of a value without the name of the message. If only one object is left, it comes without its key.
    fn push_without_name(&self, node: Node<'_>, name: Span, notes: &Notes, out: &mut String) {
        let is_name = |value: Node<'_>| {
            holds(value, name) && (value.is_string() || value.is_map() && value.count() == 1)
        };
        let rest = || node.members().filter(|(_, value)| !is_name(*value));
        let mut plain = rest().filter(|(key, _)| !key.key_bytes().starts_with(b"_"));
        let only = plain
            .next()
            .filter(|(_, value)| value.is_map() && plain.next().is_none());
        if rest().next().is_none() {
            return;
        }
        match only {
            Some((_, value)) => self.push_part(value, name, notes, out),
            None => out.push('{'),
        }
        let mut first = only.is_none();
        for (key, value) in rest() {
            if only.is_some_and(|(_, only)| only.index() == value.index()) {
                continue;
            }
            if !std::mem::take(&mut first) {
                out.push_str(", ");
            }
            if out.len() > self.space {
                out.push('…');
                break;
            }
            push_key(key, out);
            self.push_part(value, name, notes, out);
        }
        if only.is_none() {
            out.push('}');
        }
    }

    /// Adds a value that may hold the name of the message.
    fn push_part(&self, value: Node<'_>, name: Span, notes: &Notes, out: &mut String) {
        if value.is_map() && holds(value, name) {
            self.push_without_name(value, name, notes, out);
        } else {
            self.push_value(value, notes, out);
        }
    }

    fn push_value(&self, node: Node<'_>, notes: &Notes, out: &mut String) {
        if notes.is_secret(node) {
            return out.push_str("(secret)");
        }
        if let Some(text) = notes.masked(node) {
            return self.push_text(&text, self.text, out);
        }
        match node.value() {
            Value::Map => self.push_list(node, notes, ['{', '}'], out),
            Value::Array => self.push_list(node, notes, ['[', ']'], out),
            Value::Scalar(Scalar::Bin(bytes) | Scalar::Ext(_, bytes)) => push_blob(bytes, out),
            Value::Scalar(Scalar::Str(bytes)) => match std::str::from_utf8(bytes) {
                Ok(text) => self.push_text(text, self.text, out),
                Err(_) => push_blob(bytes, out),
            },
            Value::Scalar(Scalar::Json(..)) => {
                self.push_text(&node.text().unwrap_or_default(), self.text, out);
            }
            Value::Scalar(Scalar::Name(_, _, name)) | Value::Label(name) => out.push_str(name),
            Value::Scalar(Scalar::Uint(number)) => {
                let _ = write!(out, "{number}");
            }
            Value::Scalar(Scalar::Null) => out.push_str("null"),
            Value::Scalar(Scalar::Bool(value)) => {
                out.push_str(if value { "true" } else { "false" });
            }
            Value::Scalar(_) => match node.number_text() {
                Some(number) => out.push_str(start(number, self.text)),
                None => push_lossless(node, out),
            },
        }
    }

    /// Adds the members or elements of a value while they fit. If the tape does not hold them, an ellipsis stands for them.
    fn push_list(&self, node: Node<'_>, notes: &Notes, [open, close]: [char; 2], out: &mut String) {
        out.push(open);
        let mut members = node.members();
        let mut children = node.children();
        let mut first = true;
        loop {
            let member = if node.is_map() {
                members.next().map(|(key, value)| (Some(key), value))
            } else {
                children.next().map(|value| (None, value))
            };
            let Some((key, value)) = member else {
                break;
            };
            if !first {
                out.push_str(", ");
            }
            first = false;
            if out.len() > self.space {
                out.push('…');
                break;
            }
            if let Some(key) = key {
                push_key(key, out);
            }
            self.push_value(value, notes, out);
        }
        if first && (node.omitted() > 0 || has_content(node)) {
            out.push('…');
        } else if !first && node.omitted() > 0 {
            out.push_str(", …");
        }
        out.push(close);
    }

    fn push_text(&self, text: &str, max: usize, out: &mut String) {
        let is_id = |b: u8| b.is_ascii_alphanumeric() || b == b'-';
        out.push('"');
        if text.len() >= MIN_ID && text.bytes().all(is_id) {
            push_short_id(text, out);
        } else {
            let start = start(text, max);
            if self.escapes {
                push_escaped(start, out);
            } else {
                out.push_str(start);
            }
            if start.len() < text.len() {
                out.push('…');
            }
        }
        out.push('"');
    }
}

/// Adds the content of a batch: `2 messages: math.add, math.sub`.
fn push_batch(messages: Node<'_>, space: usize, out: &mut String) {
    let count = messages.count();
    let _ = write!(out, "{count} message{}", if count == 1 { "" } else { "s" });
    let names = messages.children().filter_map(|message| {
        let names = ["method", "target", "tool"];
        names.into_iter().find_map(|name| message.get(name)?.text())
    });
    for (n, name) in names.enumerate() {
        if out.len() > space {
            break;
        }
        out.push_str(if n == 0 { ": " } else { ", " });
        out.push_str(start(&name, MAX_TEXT));
    }
}

/// Returns true if the name of a message is in a value.
fn holds(value: Node<'_>, name: Span) -> bool {
    let span = value.span();
    span.at() <= name.at() && name.end() <= span.end()
}

fn push_key(key: Node<'_>, out: &mut String) {
    let name = key.key_bytes();
    let name = String::from_utf8_lossy(&name);
    out.push_str(&shorten(&name, MAX_KEY));
    out.push_str(": ");
}

fn push_lossless(node: Node<'_>, out: &mut String) {
    let mut bytes = Vec::new();
    crate::encoding::lossless::write(node, &mut bytes);
    out.push_str(&String::from_utf8_lossy(&bytes));
}

/// Adds a part of a string with its quotes and backslashes escaped.
fn push_escaped(text: &str, out: &mut String) {
    if memchr::memchr2(b'"', b'\\', text.as_bytes()).is_none() {
        return out.push_str(text);
    }
    for c in text.chars() {
        if matches!(c, '"' | '\\') {
            out.push('\\');
        }
        out.push(c);
    }
}

/// Returns at most the first `max` characters.
fn start(text: &str, max: usize) -> &str {
    if text.len() <= max {
        return text;
    }
    let end = text
        .char_indices()
        .nth(max)
        .map_or(text.len(), |(at, _)| at);
    text.get(..end).unwrap_or_default()
}

/// Adds bytes as hex, at most the first [`MAX_BYTES`].
fn push_blob(bytes: &[u8], out: &mut String) {
    out.push_str("0x");
    let start = bytes.get(..MAX_BYTES).unwrap_or(bytes);
    let mut digits = [0; 2 * MAX_BYTES];
    if let Some(digits) = digits.get_mut(..2 * start.len())
        && ::hex::encode_to_slice(start, digits).is_ok()
    {
        out.push_str(std::str::from_utf8(digits).unwrap_or_default());
    }
    if bytes.len() > MAX_BYTES {
        let _ = write!(out, "… ({} bytes)", bytes.len());
    }
}

/// Returns what lines show of a message, without columns and without limits of length, and all its values in the same
/// notation: `{content: [], isError: true}`.
pub(crate) fn shown(decoded: &Decoded<'_>, verdict: Option<Verdict<'_>>) -> String {
    let answer = verdict.and_then(|verdict| verdict.answer);
    let mut all = shown_names(decoded, verdict);
    let mut notes = Notes::of_secrets();
    let content = Content {
        show_secrets: false,
        space: usize::MAX,
        text: usize::MAX,
        escapes: false,
    };
    let mut detail = findings::outcome(decoded, answer, false).into_owned();
    content.push(decoded, &mut notes, &mut detail);
    detail.push('\n');
    content.push_whole(decoded, &mut notes, &mut detail);
    for line in detail.split('\n') {
        all.push(' ');
        all.push_str(&escape(line));
    }
    all
}

/// Returns kind, subject and name of a message, as lines show them.
#[cfg(feature = "cli")]
pub(crate) fn names(decoded: &Decoded<'_>, answer: Option<&Answer>, show_secrets: bool) -> String {
    let mut all = kind_text(decoded.message, "-").into_owned();
    let own = subject::subject(decoded, answer, show_secrets);
    let asked = answer.and_then(|answer| answer.subject.as_deref());
    let asked = asked.map(|asked| subject::masked_subject(asked, show_secrets));
    if let Some(what) = subject::of_answer(decoded, own, asked) {
        all.push(' ');
        all.push_str(&what);
    }
    all
}

/// Returns the content of a message, as lines show it, without limits of length.
#[cfg(feature = "cli")]
pub(crate) fn content(decoded: &Decoded<'_>, show_secrets: bool) -> String {
    let content = Content {
        show_secrets,
        space: usize::MAX,
        text: usize::MAX,
        escapes: true,
    };
    let mut text = String::new();
    content.push(decoded, &mut Notes::of_secrets(), &mut text);
    text
}

/// Returns what lines show of a message except its values: kind, subject, name and id.
pub(crate) fn shown_names(decoded: &Decoded<'_>, verdict: Option<Verdict<'_>>) -> String {
    let answer = verdict.and_then(|verdict| verdict.answer);
    let mut all = kind_text(decoded.message, "-").into_owned();
    let own = subject::subject(decoded, answer, false);
    let asked = answer.and_then(|answer| answer.subject.as_deref());
    let asked = asked.map(|asked| subject::masked_subject(asked, false));
    let what = subject::of_answer(decoded, own, asked);
    for part in [what, Some(decoded.message.id.text())] {
        all.push(' ');
        all.push_str(&part.unwrap_or_default());
    }
    all
}

/// Returns the outcome of a message and its content in brief, as lines show them in this space.
#[cfg(feature = "cli")]
pub(crate) fn content_text(
    decoded: &Decoded<'_>,
    answer: Option<&Answer>,
    show_secrets: bool,
    space: usize,
    notes: &mut Notes,
) -> String {
    let content = Content {
        show_secrets,
        space,
        text: MAX_TEXT,
        escapes: true,
    };
    let mut text = findings::outcome(decoded, answer, show_secrets).into_owned();
    content.push(decoded, notes, &mut text);
    text
}

/// Returns true unless a list consists of two brackets with blanks between them, or of one byte.
fn has_content(node: Node<'_>) -> bool {
    let bytes = node.span().of(node.bytes());
    let inner = bytes.get(1..bytes.len().saturating_sub(1));
    bytes.len() > 2 && !inner.unwrap_or_default().trim_ascii().is_empty()
}
