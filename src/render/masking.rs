//! Masks the secret parts of values, and counts the secrets of a frame.
//!
//! ```text
//!   "see https://me:Zx81@host"    ->    "see https://me:(secret)@host"
//! ```

use super::DisplayOptions;
use super::fields::{FrameField, brief};
#[cfg(feature = "snapshot")]
use super::fields::{push_header, push_trailer};
#[cfg(feature = "snapshot")]
use crate::decoder::Decoded;
use crate::framing::fields::HeaderSecret;
#[cfg(feature = "cli")]
use crate::framing::fields::{HeaderField, fields, secrets};
use crate::protocol::Notes;
use crate::span::Span;
use crate::tape::{Node, Scalar, Value};

impl FrameField<'_> {
    /// Returns the text of its value without the secret parts, if it has any that must not be shown.
    pub(crate) fn masked_value(&self, notes: &Notes, display: DisplayOptions) -> Option<String> {
        let node = self.node.filter(|_| !display.show_secrets)?;
        notes.masked(node)
    }

    /// Returns its value in brief, without secret parts.
    pub fn brief(&self, node: Node<'_>, notes: &Notes, display: DisplayOptions) -> String {
        match self.masked_value(notes, display) {
            Some(text) => format!("\"{text}\""),
            None => brief(node),
        }
    }

    /// Returns the spans of its bytes that must not be shown, if it is not secret as a whole.
    pub(super) fn hidden_spans(&self, notes: &Notes) -> Vec<Span> {
        let Some(node) = self.node else {
            return self.hidden.clone();
        };
        hidden_parts(node, notes)
    }
}

/// Returns the number of values and parts of a head that are not shown, as a whole or in part.
#[cfg(feature = "snapshot")]
pub(crate) fn count_secrets(decoded: &Decoded<'_>, notes: &mut Notes) -> usize {
    decoded.annotate(notes);
    let mut parts = Vec::new();
    push_header(decoded, &mut parts);
    push_trailer(decoded, &mut parts);
    let parts = parts.iter().map(|part| match part.hidden.len() {
        0 => usize::from(part.secret),
        hidden => hidden,
    });
    parts.sum::<usize>() + notes.hidden_values()
}

/// Returns the bytes of secrets that can be replaced by as many others, so that the frame stays readable: the content of
/// texts without their quotes, digits of numbers, values of fields in a head. In view coordinates.
#[cfg(feature = "cli")]
pub(crate) fn replaceable_secrets(decoded: &Decoded<'_>, notes: &mut Notes) -> Vec<Span> {
    decoded.annotate(notes);
    let mut spans = Vec::new();
    if let Some(root) = decoded.root() {
        root.each(&mut |node| {
            let is_secret = notes.is_secret(node);
            if (node.is_map() || node.is_array()) && is_secret {
                return;
            }
            match node.raw_content() {
                Some(content) if is_secret => {
                    let end = content_end(node);
                    spans.push(Span::new(end.saturating_sub(content.len()), end));
                }
                None if is_secret => spans.push(node.span()),
                Some(_) => spans.extend(hidden_parts(node, notes)),
                None => {}
            }
        });
        spans.extend(unread_end(decoded, root));
    }
    let mut parts = Vec::new();
    push_header(decoded, &mut parts);
    push_trailer(decoded, &mut parts);
    let bytes = decoded.frame.view.bytes;
    for part in parts {
        if part.secret && part.hidden.is_empty() {
            push_values(part.span, bytes, &mut spans);
        }
        spans.extend(part.hidden);
    }
    spans
}

/// Returns the bytes after the last value of a message that ends early: they may be the beginning of a secret.
#[cfg(feature = "cli")]
fn unread_end(decoded: &Decoded<'_>, root: Node<'_>) -> Option<Span> {
    if decoded.message.valid {
        return None;
    }
    let mut start = root.span().at();
    root.each(&mut |node| {
        if !node.is_map() && !node.is_array() {
            start = start.max(node.span().end());
        }
    });
    let end = decoded.frame.view.body.end();
    (start < end).then(|| Span::new(start, end))
}

/// Returns what replaces each byte of a secret, so that the message stays readable.
#[cfg(feature = "cli")]
pub(crate) fn replacement(secret: &[u8]) -> impl Fn(u8) -> u8 + use<> {
    let is_number = secret.iter().all(|byte| b"0123456789+-.eE".contains(byte));
    move |byte| match byte {
        b'0'..=b'9' if is_number => b'1',
        _ if is_number => byte,
        _ => b'*',
    }
}

/// Replaces secrets in bytes.
#[cfg(feature = "cli")]
pub(crate) fn mask(bytes: &mut [u8], secrets: &[Span]) {
    for secret in secrets {
        let bytes = bytes.get_mut(secret.at()..secret.end());
        let bytes = bytes.unwrap_or_default();
        let replacement = replacement(bytes);
        for byte in bytes {
            *byte = replacement(*byte);
        }
    }
}

/// Returns the secrets of a head of HTTP: those in its start line and the values of its fields.
#[cfg(feature = "cli")]
pub(crate) fn head_secrets(head: &[u8]) -> Vec<Span> {
    let parts = secrets(head, &|_| false).into_iter();
    let mut spans: Vec<_> = parts
        .map(|secret| Span::new(secret.range.start, secret.range.end))
        .collect();
    for field in fields(head).skip(1).filter(HeaderField::is_secret) {
        push_values(
            Span::new(field.range.start, field.range.end),
            head,
            &mut spans,
        );
    }
    spans
}

/// Adds the values of fields in these lines, without names and line ends; a folded value is several spans.
#[cfg(feature = "cli")]
fn push_values(lines: Span, bytes: &[u8], spans: &mut Vec<Span>) {
    let text = lines.of(bytes);
    for field in fields(text) {
        let value = text.get(field.value.clone()).unwrap_or_default();
        let mut at = lines.at() + field.value.start;
        for line in value.split_inclusive(|byte| *byte == b'\n') {
            let blanks = line.len() - line.trim_ascii_start().len();
            let start = at + blanks;
            spans.push(Span::new(start, start + line.trim_ascii().len()));
            at += line.len();
        }
    }
}

/// Returns the end of the content of a text: the quote of JSON is after it.
fn content_end(node: Node<'_>) -> usize {
    let tail = usize::from(matches!(node.value(), Value::Scalar(Scalar::Json(..))));
    node.span().end().saturating_sub(tail)
}

/// Returns the spans of the secret parts of a text.
fn hidden_parts(node: Node<'_>, notes: &Notes) -> Vec<Span> {
    let parts = notes.secret_parts(node);
    let content = node.raw_content().unwrap_or_default();
    let start = content_end(node).saturating_sub(content.len());
    if content.contains(&b'\\') && !parts.is_empty() {
        // The places of the parts differ by the escapes before them.
        return vec![Span::new(start, start + content.len())];
    }
    let span = |part: &HeaderSecret| Span::new(start + part.range.start, start + part.range.end);
    parts.iter().map(span).collect()
}
