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
        let parts = notes.secret_parts(node);
        let content = node.raw_content().unwrap_or_default();
        // The quote of JSON is after the content.
        let tail = usize::from(matches!(node.value(), Value::Scalar(Scalar::Json(..))));
        let start = node.span().end().saturating_sub(tail + content.len());
        if content.contains(&b'\\') && !parts.is_empty() {
            // The places of the parts differ by the escapes before them.
            return vec![Span::new(start, start + content.len())];
        }
        let span =
            |part: &HeaderSecret| Span::new(start + part.range.start, start + part.range.end);
        parts.iter().map(span).collect()
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
