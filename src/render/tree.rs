//! Shows every leaf with its byte range, and the meaning of numbers.
//!
//! ```text
//! #0 → call math.add  id 4dd0…  (saikuro, prefix, 69 bytes at 0)
//!      0..4    length   65
//!      4..69   {5}
//!     13..14     version   1
//! ```

use super::fields::{FrameField, MAX_FIELDS, fields};
use super::style::{Highlight, shorten};
use super::subject::subject;
use super::wrap::write_wrapped;
use super::{DisplayOptions, arrow, context_sign, findings, kind_text};
use crate::conversation::Verdict;
use crate::decoder::Decoded;
use crate::framing::Places;
use crate::protocol::Notes;
#[cfg(feature = "cli")]
use crate::span::Span;
use crate::tape::{Scalar, Value};
use std::borrow::Cow;
use std::ops::Range;

/// The maximum number of characters of a text; the JSON output has all of it.
const MAX_TEXT: usize = 100;
/// The maximum number of characters of a text in [`lines`].
#[cfg(feature = "cli")]
const MAX_WHOLE: usize = 1 << 16;
/// The number of characters that are read to shorten a text; more than are shown.
pub(super) const MAX_READ: usize = 1000;

/// Options for the values.
#[derive(Clone, Copy)]
pub(crate) struct Detail<'d> {
    /// Returns true if a replacement is shown for the value at a path and for all values below it.
    pub(crate) hidden: &'d dyn Fn(&str) -> bool,
    /// The fields of HTTP heads, in lower case, whose values are replaced too.
    pub(crate) hidden_heads: &'d [&'d str],
    /// The replacement.
    pub(crate) replacement: &'d str,
    /// The maximum number of characters of a text.
    pub(crate) most: usize,
    /// A shortened value is shown with a checksum of its bytes, so that every change is visible.
    pub(crate) checksums: bool,
}

impl std::fmt::Debug for Detail<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut fields = f.debug_struct("Detail");
        fields.field("hidden_heads", &self.hidden_heads);
        fields.field("replacement", &self.replacement);
        fields.field("checksums", &self.checksums);
        fields.finish_non_exhaustive()
    }
}

impl Default for Detail<'_> {
    fn default() -> Self {
        Self {
            hidden: &|_| false,
            hidden_heads: &[],
            replacement: "",
            most: MAX_TEXT,
            checksums: false,
        }
    }
}

/// Writes one frame; a verdict adds the request that it answers and its findings.
pub fn write(
    decoded: &Decoded<'_>,
    verdict: Option<Verdict<'_>>,
    display: DisplayOptions,
    notes: &mut Notes,
    out: &mut String,
) {
    write_with_detail(decoded, verdict, display, Detail::default(), notes, out);
}

/// Writes one frame as [`write()`] does, with these options for values.
pub(crate) fn write_with_detail(
    decoded: &Decoded<'_>,
    verdict: Option<Verdict<'_>>,
    display: DisplayOptions,
    detail: Detail<'_>,
    notes: &mut Notes,
    out: &mut String,
) {
    write_marked(
        decoded,
        verdict,
        display,
        detail,
        notes,
        out,
        &mut |_, _| {},
    );
}

/// A line of a tree.
#[cfg(feature = "cli")]
pub(crate) struct TreeLine {
    /// The bytes of its field, in view coordinates; empty for the title and for errors.
    pub span: Span,
    /// The text, without line end.
    pub text: String,
}

/// Returns the lines of one frame, as [`write()`] writes them.
#[cfg(feature = "cli")]
pub(crate) fn lines(
    decoded: &Decoded<'_>,
    verdict: Option<Verdict<'_>>,
    display: DisplayOptions,
    notes: &mut Notes,
) -> Vec<TreeLine> {
    let (mut out, mut marks) = (String::new(), Vec::new());
    let mut mark = |field: &FrameField<'_>, start| marks.push((start, field.span));
    let detail = Detail {
        most: MAX_WHOLE,
        ..Detail::default()
    };
    write_marked(
        decoded, verdict, display, detail, notes, &mut out, &mut mark,
    );
    let mut marks = marks.into_iter().peekable();
    let mut at = 0;
    let lines = out.split_inclusive('\n').map(|text| {
        let field = marks.next_if(|(start, _)| *start == at);
        at += text.len();
        TreeLine {
            span: field.map_or_else(Span::default, |(_, span)| span),
            text: text.trim_end_matches('\n').to_owned(),
        }
    });
    lines.collect()
}

/// Writes one frame, and passes each field with the position of its line to `mark`.
fn write_marked(
    decoded: &Decoded<'_>,
    verdict: Option<Verdict<'_>>,
    display: DisplayOptions,
    detail: Detail<'_>,
    notes: &mut Notes,
    out: &mut String,
    mark: &mut dyn FnMut(&FrameField<'_>, usize),
) {
    write_title(decoded, verdict, display, out);
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
        let secret = field.is_secret(notes, display);
        hidden_below = (hidden || secret).then_some(field.depth);
        mark(field, out.len());
        write_position(decoded, field, display, width, out);
        if hidden {
            display.style.push(out, Highlight::Note, detail.replacement);
            out.push('\n');
        } else {
            write_value(decoded, field, display, detail, notes, out);
        }
    }
    write_faults(decoded, verdict, display, out);
}

/// Writes the first line of a frame.
pub(super) fn write_title(
    decoded: &Decoded<'_>,
    verdict: Option<Verdict<'_>>,
    display: DisplayOptions,
    out: &mut String,
) {
    let (message, frame, style) = (decoded.message, decoded.frame, display.style);
    let sign = context_sign(display);
    style.push(out, Highlight::Dim, &format!("{sign}#{} ", decoded.index));
    style.push(
        out,
        Highlight::Dim,
        &findings::connection_prefix(decoded.origin),
    );
    style.push(out, Highlight::Plain, arrow(decoded.origin.direction));
    out.push(' ');
    style.push_wire(out, Highlight::Kind, &kind_text(message, "no message"));
    let answer = verdict.and_then(|v| v.answer);
    if let Some(subject) = subject(decoded, answer, display.show_secrets) {
        out.push(' ');
        style.push_wire(out, Highlight::Kind, &subject);
    }
    let id = message.id.text();
    if !id.is_empty() {
        style.push_wire(out, Highlight::Plain, &format!("  id {}", shorten(&id, 80)));
    }
    let outcome = findings::outcome(decoded, answer, display.show_secrets);
    if !outcome.is_empty() {
        style.push_wire(
            out,
            if message.failed {
                Highlight::Error
            } else {
                Highlight::Plain
            },
            &format!("  {}", shorten(&outcome, MAX_TEXT)),
        );
    }
    let mut about = format!("{}, {}", decoded.protocol.name(), frame.framing.name());
    if let Some(dialect) = &message.dialect {
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
    if !display.without_positions {
        about.push_str(&format!(", {} bytes at {}", frame.len, frame.offset));
    }
    about.push_str(packed);
    style.push(out, Highlight::Dim, &format!("  ({about})"));
    if let Some(answer) = answer {
        style.push_wire(
            out,
            Highlight::Plain,
            &format!("  {}", findings::answer(answer)),
        );
    }
    out.push('\n');
}

/// Writes the position and the name of a field.
fn write_position(
    decoded: &Decoded<'_>,
    field: &FrameField<'_>,
    display: DisplayOptions,
    width: usize,
    out: &mut String,
) {
    let style = display.style;
    let Range { start, end } = decoded.frame.view.range(field.span);
    let range = if field.span.len == 0 {
        String::new()
    } else {
        format!("{start:>width$}..{end}")
    };
    let place = if display.without_positions {
        "  ".to_owned()
    } else {
        format!("  {range:<pad$}  ", pad = 2 * width + 2)
    };
    style.push(out, Highlight::Dim, &place);
    out.push_str(&"  ".repeat(field.depth));
    if !field.label.is_empty() {
        style.push_wire(out, Highlight::Key, &shorten(&field.label, MAX_TEXT));
        out.push_str("  ");
    }
}

/// Writes the value of a field.
fn write_value(
    decoded: &Decoded<'_>,
    field: &FrameField<'_>,
    display: DisplayOptions,
    detail: Detail<'_>,
    notes: &Notes,
    out: &mut String,
) {
    let style = display.style;
    let most = detail.most;
    let (highlight, text) = shown_value(field, notes, display, most.max(MAX_READ));
    if field.is_secret(notes, display) {
        style.push(out, Highlight::Note, &field.replacement(display));
        out.push('\n');
        return;
    }
    style.push_wire(out, highlight, &shorten(&text, most));
    let shortened = text.chars().nth(most).is_some();
    if shortened {
        style.push(out, Highlight::Dim, &format!(" ({} bytes)", field.span.len));
    }
    // Long bytes were already shortened when they became text.
    if detail.checksums && (shortened || text.contains('…')) {
        let mut crc = flate2::Crc::new();
        crc.update(field.span.of(decoded.frame.view.bytes));
        let sum = crc.sum();
        style.push(out, Highlight::Dim, &format!(" crc32 {sum:08x}"));
    }
    for remark in field.remarks(notes) {
        style.push_wire(out, Highlight::Note, &format!("  = {remark}"));
    }
    out.push('\n');
}

/// Returns the value of a field and its color.
pub(super) fn shown_value(
    field: &FrameField<'_>,
    notes: &Notes,
    display: DisplayOptions,
    most: usize,
) -> (Highlight, String) {
    let Some(node) = field.node else {
        let masked = field.masked.clone().filter(|_| !display.show_secrets);
        let text = masked.unwrap_or_else(|| field.text.clone().into_owned());
        return (Highlight::Plain, text);
    };
    let highlight = match node.value() {
        Value::Map | Value::Array | Value::Label(_) => Highlight::Dim,
        Value::Scalar(Scalar::Str(_) | Scalar::Json(..) | Scalar::Bin(_) | Scalar::Ext(..)) => {
            Highlight::Text
        }
        Value::Scalar(_) => Highlight::Number,
    };
    let long = node.raw_text().len() > most;
    let text = match node.text().filter(|_| long) {
        Some(text) => {
            let text = field.masked_value(notes, display).map_or(text, Cow::Owned);
            format!("\"{}", text.chars().take(most).collect::<String>())
        }
        None => field.brief(node, notes, display),
    };
    (highlight, text)
}

/// Writes faults, one per line, with hints below. With a verdict, the findings include the faults.
pub(super) fn write_faults(
    decoded: &Decoded<'_>,
    verdict: Option<Verdict<'_>>,
    display: DisplayOptions,
    out: &mut String,
) {
    let style = display.style;
    for finding in verdict.map_or(&[][..], |v| v.findings) {
        findings::write_below(finding, Some(decoded.index), display, out);
    }
    let by_themselves = verdict.is_none_or(|v| v.without_findings);
    for (offset, fault) in decoded.faults().filter(|_| by_themselves) {
        let place = if display.without_positions {
            String::new()
        } else {
            format!("offset {offset}: ")
        };
        let text = format!("  ✗ {}: {place}{fault}", fault.code);
        write_wrapped(display, 4, out, |out| {
            style.push_wire(out, Highlight::Error, &text);
        });
        if let Some(hint) = &fault.hint {
            write_wrapped(display, 4, out, |out| {
                style.push_wire(out, Highlight::Note, &format!("    {hint}"));
            });
        }
    }
    for remark in decoded.remarks {
        write_wrapped(display, 4, out, |out| {
            style.push_wire(out, Highlight::Note, &format!("  ! {remark}"));
        });
    }
}
