//! Shows every leaf with its byte range, and the meaning of numbers.
//!
//! ```text
//! #0 → call math.add  id 4dd0…  (saikuro, prefix, 69 bytes at 0)
//!      0..4    length   65
//!      4..69   {5}
//!     13..14     version   1
//! ```

use super::fields::{FrameField, MAX_FIELDS, brief, fields, subject};
use super::style::{Tone, shorten};
use super::{Look, arrow, findings, kind_text};
use crate::conversation::Verdict;
use crate::decoder::Decoded;
use crate::framing::Places;
use crate::protocol::Notes;
use crate::tape::{Scalar, Value};
use std::ops::Range;

/// The maximum number of characters of a text; the JSON output has all of it.
const MAX_TEXT: usize = 100;
/// The number of characters that are read to shorten a text; more than are shown.
const MAX_READ: usize = 1000;

/// Options for the values.
#[derive(Clone, Copy)]
pub struct Detail<'d> {
    /// Returns true if a replacement is shown for the value at a path and for all values below it.
    pub hidden: &'d dyn Fn(&str) -> bool,
    /// The fields of HTTP heads, in lower case, whose values are replaced too.
    pub hidden_heads: &'d [&'d str],
    /// The replacement.
    pub replacement: &'d str,
    /// A shortened value is shown with a checksum of its bytes, so that every change is visible.
    pub checksums: bool,
}

impl Default for Detail<'_> {
    fn default() -> Self {
        Self {
            hidden: &|_| false,
            hidden_heads: &[],
            replacement: "",
            checksums: false,
        }
    }
}

/// Writes one frame; a verdict adds the request that it answers and its findings.
pub fn write(
    decoded: &Decoded<'_>,
    verdict: Option<Verdict<'_>>,
    look: Look,
    notes: &mut Notes,
    out: &mut String,
) {
    write_with_detail(decoded, verdict, look, Detail::default(), notes, out);
}

/// Writes one frame as [`write()`] does, with these options for values.
pub fn write_with_detail(
    decoded: &Decoded<'_>,
    verdict: Option<Verdict<'_>>,
    look: Look,
    detail: Detail<'_>,
    notes: &mut Notes,
    out: &mut String,
) {
    write_title(decoded, verdict, look, out);
    decoded.annotate(notes);
    let fields = fields(decoded, MAX_FIELDS);
    let width = (decoded.frame.offset + decoded.frame.len).to_string().len();
    // Everything below a hidden value is hidden.
    let mut hidden_below = None;
    for field in &fields {
        if hidden_below.is_some_and(|depth| field.depth > depth) {
            continue;
        }
        let is_field = |name: &&str| field.label.eq_ignore_ascii_case(name);
        let hidden = (detail.hidden)(&field.path)
            || (field.node.is_none() && detail.hidden_heads.iter().any(is_field));
        let secret = field.is_secret(notes, look);
        hidden_below = (hidden || secret).then_some(field.depth);
        write_position(decoded, field, look, width, out);
        if hidden {
            look.style.push(out, Tone::Note, detail.replacement);
            out.push('\n');
        } else {
            write_value(decoded, field, look, detail.checksums, notes, out);
        }
    }
    write_faults(decoded, verdict, look, out);
}

/// Writes the first line of a frame.
pub(super) fn write_title(
    decoded: &Decoded<'_>,
    verdict: Option<Verdict<'_>>,
    look: Look,
    out: &mut String,
) {
    let (message, frame, style) = (decoded.message, decoded.frame, look.style);
    style.push(out, Tone::Dim, &format!("#{} ", decoded.index));
    style.push(out, Tone::Dim, &findings::connection_prefix(decoded.origin));
    style.push(out, Tone::Plain, arrow(decoded.origin.direction));
    out.push(' ');
    style.push_wire(out, Tone::Kind, &kind_text(message, "no message"));
    if let Some(subject) = subject(decoded, look.show_secrets) {
        out.push(' ');
        style.push_wire(out, Tone::Kind, &subject);
    }
    let id = message.id.text();
    if !id.is_empty() {
        style.push_wire(out, Tone::Plain, &format!("  id {}", shorten(&id, 80)));
    }
    let outcome = findings::outcome(decoded, verdict.and_then(|v| v.answer));
    if !outcome.is_empty() {
        style.push_wire(
            out,
            Tone::Plain,
            &format!("  {}", shorten(&outcome, MAX_TEXT)),
        );
    }
    let mut about = format!("{}, {}", decoded.protocol.name(), frame.framing.name());
    if let Some(dialect) = message.dialect {
        about.push_str(&format!(", dialect {dialect}"));
    }
    if let Some(role) = message.role {
        about.push_str(&format!(", {}", role.name()));
    }
    let packed = if matches!(frame.view.places, Places::Packed(_)) {
        ", inflated"
    } else {
        ""
    };
    if !look.without_positions {
        about.push_str(&format!(", {} bytes at {}", frame.len, frame.offset));
    }
    about.push_str(packed);
    style.push(out, Tone::Dim, &format!("  ({about})"));
    if let Some(answer) = verdict.and_then(|v| v.answer) {
        style.push_wire(out, Tone::Plain, &format!("  {}", findings::answer(answer)));
    }
    out.push('\n');
}

/// Writes the position and the name of a field.
fn write_position(
    decoded: &Decoded<'_>,
    field: &FrameField<'_>,
    look: Look,
    width: usize,
    out: &mut String,
) {
    let style = look.style;
    let Range { start, end } = decoded.frame.view.range(field.span);
    let range = if field.span.len == 0 {
        String::new()
    } else {
        format!("{start:>width$}..{end}")
    };
    let place = if look.without_positions {
        "  ".to_owned()
    } else {
        format!("  {range:<pad$}  ", pad = 2 * width + 2)
    };
    style.push(out, Tone::Dim, &place);
    out.push_str(&"  ".repeat(field.depth));
    if !field.label.is_empty() {
        style.push_wire(out, Tone::Key, &shorten(&field.label, MAX_TEXT));
        out.push_str("  ");
    }
}

/// Writes the value of a field.
fn write_value(
    decoded: &Decoded<'_>,
    field: &FrameField<'_>,
    look: Look,
    checksums: bool,
    notes: &Notes,
    out: &mut String,
) {
    let style = look.style;
    let (tone, text) = shown_value(field, look);
    if field.is_secret(notes, look) {
        style.push(out, Tone::Note, &field.replacement(look));
        out.push('\n');
        return;
    }
    style.push_wire(out, tone, &shorten(&text, MAX_TEXT));
    let shortened = text.chars().nth(MAX_TEXT).is_some();
    if shortened {
        style.push(out, Tone::Dim, &format!(" ({} bytes)", field.span.len));
    }
    // Long bytes were already shortened when they became text.
    if checksums && (shortened || text.contains('…')) {
        let bytes = field.span.of(decoded.frame.view.bytes);
        let sum = crc32fast::hash(bytes);
        style.push(out, Tone::Dim, &format!(" crc32 {sum:08x}"));
    }
    for remark in field.node.into_iter().flat_map(|node| notes.remarks(node)) {
        style.push_wire(out, Tone::Note, &format!("  = {remark}"));
    }
    out.push('\n');
}

/// Returns the value of a field and its color.
pub(super) fn shown_value(field: &FrameField<'_>, look: Look) -> (Tone, String) {
    let Some(node) = field.node else {
        let masked = field.masked.clone().filter(|_| !look.show_secrets);
        let text = masked.unwrap_or_else(|| field.text.clone().into_owned());
        return (Tone::Plain, text);
    };
    let tone = match node.value() {
        Value::Map | Value::Array | Value::Label(_) => Tone::Dim,
        Value::Scalar(Scalar::Str(_) | Scalar::Json(..) | Scalar::Bin(_) | Scalar::Ext(..)) => {
            Tone::Text
        }
        Value::Scalar(_) => Tone::Number,
    };
    let long = node.raw_text().len() > MAX_READ;
    let text = match node.text().filter(|_| long) {
        Some(text) => format!("\"{}", text.chars().take(MAX_READ).collect::<String>()),
        None => brief(node),
    };
    (tone, text)
}

/// Writes faults, one per line, with hints below. With a verdict, the findings include the faults.
pub(super) fn write_faults(
    decoded: &Decoded<'_>,
    verdict: Option<Verdict<'_>>,
    look: Look,
    out: &mut String,
) {
    let style = look.style;
    for finding in verdict.map_or(&[][..], |v| v.findings) {
        findings::write_below(finding, Some(decoded.index), look, out);
    }
    let faults = decoded.faults().filter(|_| verdict.is_none());
    for (offset, fault) in faults {
        let place = if look.without_positions {
            String::new()
        } else {
            format!("offset {offset}: ")
        };
        let text = format!("  ✗ {}: {place}{fault}", fault.code);
        style.push_wire(out, Tone::Error, &text);
        out.push('\n');
        if let Some(hint) = &fault.hint {
            style.push_wire(out, Tone::Note, &format!("    {hint}"));
            out.push('\n');
        }
    }
    for remark in decoded.remarks {
        style.push_wire(out, Tone::Note, &format!("  ! {remark}"));
        out.push('\n');
    }
}
