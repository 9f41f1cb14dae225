//! Every leaf with its byte range, and what a number stands for.
//!
//! ```text
//! #0 → call math.add  id 4dd0…  (saikuro, prefix, 69 bytes at 0)
//!      0..4    length   65
//!      4..69   {5}
//!     13..14     version   1
//! ```

use super::fields::{Field, ROWS, brief, fields, subject};
use super::style::{Tone, shorten};
use super::{Look, arrow, findings, kind};
use crate::conversation::Verdict;
use crate::decoder::Decoded;
use crate::framing::Places;
use crate::protocol::Notes;
use crate::tape::{Scalar, Value};
use std::ops::Range;

/// Text longer than this is shortened; json output has all of it.
const TEXT: usize = 100;
/// Characters of text that are looked at: more than are shown.
const LONG: usize = 1000;

/// What is shown of values, beside what is shown always.
#[derive(Clone, Copy)]
pub struct Detail<'d> {
    /// Whether something else stands in for the value at a path, and for all below it.
    pub hidden: &'d dyn Fn(&str) -> bool,
    /// Fields of HTTP heads for which it stands in as well, in lower case.
    pub hidden_heads: &'d [&'d str],
    /// What stands in for it.
    pub stand_in: &'d str,
    /// A value that is shortened has a checksum of its bytes, so that no change of it goes unseen.
    pub checksums: bool,
}

impl Default for Detail<'_> {
    fn default() -> Self {
        Self {
            hidden: &|_| false,
            hidden_heads: &[],
            stand_in: "",
            checksums: false,
        }
    }
}

/// Writes one frame; with a verdict also what it answers and which rules it breaks.
pub fn write(
    decoded: &Decoded<'_>,
    verdict: Option<Verdict<'_>>,
    look: Look,
    notes: &mut Notes,
    out: &mut String,
) {
    write_in_detail(decoded, verdict, look, Detail::default(), notes, out);
}

/// Writes one frame as [`write()`] does, values as is said.
pub fn write_in_detail(
    decoded: &Decoded<'_>,
    verdict: Option<Verdict<'_>>,
    look: Look,
    detail: Detail<'_>,
    notes: &mut Notes,
    out: &mut String,
) {
    title(decoded, verdict, look, out);
    decoded.annotate(notes);
    let fields = fields(decoded, ROWS);
    let width = (decoded.frame.offset + decoded.frame.len).to_string().len();
    // Below a value that is hidden, everything is.
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
        lead(decoded, field, look, width, out);
        if hidden {
            look.style.put(out, Tone::Note, detail.stand_in);
            out.push('\n');
        } else {
            row(decoded, field, look, detail.checksums, notes, out);
        }
    }
    trouble(decoded, verdict, look, out);
}

/// The line that begins a frame.
pub(super) fn title(
    decoded: &Decoded<'_>,
    verdict: Option<Verdict<'_>>,
    look: Look,
    out: &mut String,
) {
    let (message, frame, style) = (decoded.message, decoded.frame, look.style);
    style.put(out, Tone::Dim, &format!("#{} ", decoded.index));
    if let Some(conn) = decoded.origin.conn {
        style.put(out, Tone::Dim, &format!("conn {conn} "));
    }
    style.put(out, Tone::Plain, arrow(decoded.origin.direction));
    out.push(' ');
    style.wire(out, Tone::Kind, &kind(message, "no message"));
    if let Some(subject) = subject(decoded, look.show_secrets) {
        out.push(' ');
        style.wire(out, Tone::Kind, &subject);
    }
    let id = message.id.text();
    if !id.is_empty() {
        style.wire(out, Tone::Plain, &format!("  id {}", shorten(&id, 80)));
    }
    let outcome = findings::outcome(decoded, verdict.and_then(|v| v.answer));
    if !outcome.is_empty() {
        style.wire(out, Tone::Plain, &format!("  {}", shorten(&outcome, TEXT)));
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
    if !look.unplaced {
        about.push_str(&format!(", {} bytes at {}", frame.len, frame.offset));
    }
    about.push_str(packed);
    style.put(out, Tone::Dim, &format!("  ({about})"));
    if let Some(answer) = verdict.and_then(|v| v.answer) {
        style.wire(out, Tone::Plain, &format!("  {}", findings::answer(answer)));
    }
    out.push('\n');
}

/// Where a field lies and what it is called.
fn lead(decoded: &Decoded<'_>, field: &Field<'_>, look: Look, width: usize, out: &mut String) {
    let style = look.style;
    let Range { start, end } = decoded.frame.view.range(field.span);
    let range = if field.span.len == 0 {
        String::new()
    } else {
        format!("{start:>width$}..{end}")
    };
    let place = if look.unplaced {
        "  ".to_owned()
    } else {
        format!("  {range:<pad$}  ", pad = 2 * width + 2)
    };
    style.put(out, Tone::Dim, &place);
    out.push_str(&"  ".repeat(field.depth));
    if !field.label.is_empty() {
        style.wire(out, Tone::Key, &shorten(&field.label, TEXT));
        out.push_str("  ");
    }
}

/// What a field holds.
fn row(
    decoded: &Decoded<'_>,
    field: &Field<'_>,
    look: Look,
    checksums: bool,
    notes: &Notes,
    out: &mut String,
) {
    let style = look.style;
    let (tone, text) = shown(field, look);
    if field.is_secret(notes, look) {
        style.put(out, Tone::Note, &field.stand_in(look));
        out.push('\n');
        return;
    }
    style.wire(out, tone, &shorten(&text, TEXT));
    let shortened = text.chars().nth(TEXT).is_some();
    if shortened {
        style.put(out, Tone::Dim, &format!(" ({} bytes)", field.span.len));
    }
    // Bytes that are many were shortened where they became text.
    if checksums && (shortened || text.contains('…')) {
        let bytes = field.span.of(decoded.frame.view.bytes);
        let sum = crc32fast::hash(bytes);
        style.put(out, Tone::Dim, &format!(" crc32 {sum:08x}"));
    }
    for remark in field.node.into_iter().flat_map(|node| notes.remarks(node)) {
        style.wire(out, Tone::Note, &format!("  = {remark}"));
    }
    out.push('\n');
}

/// A field's value and its tone.
pub(super) fn shown(field: &Field<'_>, look: Look) -> (Tone, String) {
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
    let long = node.raw_text().len() > LONG;
    let text = match node.text().filter(|_| long) {
        Some(text) => format!("\"{}", text.chars().take(LONG).collect::<String>()),
        None => brief(node),
    };
    (tone, text)
}

/// What is wrong, one line each, hints below. Where there is a verdict, faults are among its findings.
pub(super) fn trouble(
    decoded: &Decoded<'_>,
    verdict: Option<Verdict<'_>>,
    look: Look,
    out: &mut String,
) {
    let style = look.style;
    for finding in verdict.map_or(&[][..], |v| v.findings) {
        findings::below(finding, Some(decoded.index), look, out);
    }
    let faults = decoded.faults().filter(|_| verdict.is_none());
    for (offset, fault) in faults {
        let place = if look.unplaced {
            String::new()
        } else {
            format!("offset {offset}: ")
        };
        let text = format!("  ✗ {}: {place}{fault}", fault.code);
        style.wire(out, Tone::Bad, &text);
        out.push('\n');
        if let Some(hint) = &fault.hint {
            style.wire(out, Tone::Note, &format!("    {hint}"));
            out.push('\n');
        }
    }
    for remark in decoded.remarks {
        style.wire(out, Tone::Note, &format!("  ! {remark}"));
        out.push('\n');
    }
}
