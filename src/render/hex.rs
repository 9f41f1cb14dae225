//! Shows bytes next to the fields that contain them, and also the bytes outside all fields.
//!
//! ```text
//! 00000000  00 00 00 41                                      length 65
//! 00000004  85                                               {5}
//! 00000005  a7 76 65 72 73 69 6f 6e                          version
//! 0000000d  01                                                 1
//! ```

use super::DisplayOptions;
#[cfg(feature = "cli")]
use super::fields::FrameField;
use super::fields::{MAX_FIELDS, fields};
use super::style::{Highlight, escape, shorten};
use super::tree::{MAX_READ, shown_value, write_faults, write_title};
use crate::conversation::Verdict;
use crate::decoder::Decoded;
use crate::protocol::Notes;
use crate::span::Span;

/// The number of bytes on a row.
const ROW_BYTES: usize = 16;
/// The maximum number of rows of one field; the rest are counted.
const MAX_ROWS: usize = 16;

/// The minimum length of undecoded bytes that may contain a secret.
const MIN_SECRET: usize = 4;

/// A run of bytes and its description.
struct HexRun {
    span: Span,
    text: String,
    highlight: Highlight,
    secret: bool,
    /// The secret parts of bytes that are not secret as a whole.
    hidden: Vec<Span>,
}

/// Writes one frame.
pub fn write(
    decoded: &Decoded<'_>,
    verdict: Option<Verdict<'_>>,
    display: DisplayOptions,
    notes: &mut Notes,
    out: &mut String,
) {
    write_title(decoded, verdict, display, out);
    decoded.annotate(notes);
    let bytes = decoded.frame.view.bytes;
    let mut at = 0;
    let mut runs = runs(decoded, notes, display);
    runs.sort_by_key(|run| run.span);
    let mut runs = runs.into_iter().peekable();
    while let Some(run) = runs.next() {
        if run.span.at() > at {
            write_rows(decoded, &gap(Span::new(at, run.span.at())), display, out);
        }
        let next = runs.peek().map_or(bytes.len(), |next| next.span.at());
        let run = HexRun {
            span: Span::new(run.span.at().max(at), run.span.end().min(bytes.len())),
            ..run
        };
        if run.span.len > 0 {
            let tail = row_end(&run, next, bytes);
            let whole = HexRun {
                span: Span::new(run.span.at(), tail),
                ..run
            };
            write_rows(decoded, &whole, display, out);
            at = tail;
        }
    }
    if at < bytes.len() {
        let rest = gap(Span::new(at, bytes.len()));
        let secret = is_secret_rest(decoded, rest.span, display);
        write_rows(decoded, &HexRun { secret, ..rest }, display, out);
    }
    write_faults(decoded, verdict, display, out);
}

/// Returns the spans of the view that must not be shown.
#[cfg(feature = "cli")]
pub(crate) fn secret_spans(
    decoded: &Decoded<'_>,
    display: DisplayOptions,
    notes: &mut Notes,
) -> Vec<Span> {
    if display.show_secrets {
        return Vec::new();
    }
    decoded.annotate(notes);
    secret_spans_of(decoded, &fields(decoded, MAX_FIELDS), display, notes)
}

/// Returns the spans of the view that must not be shown, of a message with these fields and these notes.
#[cfg(feature = "cli")]
pub(crate) fn secret_spans_of(
    decoded: &Decoded<'_>,
    fields: &[FrameField<'_>],
    display: DisplayOptions,
    notes: &Notes,
) -> Vec<Span> {
    if display.show_secrets {
        return Vec::new();
    }
    let (mut spans, mut end, mut secret_below) = (Vec::new(), 0, None);
    let is_cut = decoded.faults().next().is_some();
    for (i, field) in fields.iter().enumerate() {
        if secret_below.is_some_and(|depth| field.depth > depth) {
            continue;
        }
        let secret = field.is_secret(notes, display);
        secret_below = secret.then_some(field.depth);
        let container = field.node.is_some_and(|n| n.is_map() || n.is_array());
        let next = fields.get(i + 1);
        if secret {
            spans.push(field.span);
        } else {
            spans.extend(field.hidden_spans(notes));
        }
        end = match next {
            _ if !container || secret => end.max(field.span.end()),
            Some(next) if next.depth > field.depth => end,
            // It ends with the bytes, and not where it would have been closed.
            None if is_cut => end.max(field.span.at() + 1),
            _ => end.max(field.span.end()),
        };
        end = end.max(field.key.map_or(0, Span::end));
    }
    let rest = Span::new(end, decoded.frame.view.bytes.len());
    spans.extend(is_secret_rest(decoded, rest, display).then_some(rest));
    spans
}

/// Returns true if bytes after all fields may hold a secret: nothing marks the secrets there.
fn is_secret_rest(decoded: &Decoded<'_>, rest: Span, display: DisplayOptions) -> bool {
    let is_long = rest.start > 0 && rest.len as usize >= MIN_SECRET;
    is_long && !display.show_secrets && decoded.faults().next().is_some()
}

/// Returns the end of a row that includes the punctuation after its field, if it fits.
fn row_end(run: &HexRun, next: usize, bytes: &[u8]) -> usize {
    let after = Span::new(run.span.end(), next).of(bytes);
    let short = run.span.len as usize + after.len() <= ROW_BYTES;
    let only = after.iter().all(|b| b" \t\r\n,:]}".contains(b));
    if short && only && !run.secret {
        run.span.end() + after.len()
    } else {
        run.span.end()
    }
}

/// Returns a run for bytes outside all fields: punctuation, space, and bytes after a message.
fn gap(span: Span) -> HexRun {
    HexRun {
        span,
        text: String::new(),
        highlight: Highlight::Dim,
        secret: false,
        hidden: Vec::new(),
    }
}

/// Returns the runs of all fields: whole keys and leaves, and the headers of containers.
fn runs(decoded: &Decoded<'_>, notes: &Notes, display: DisplayOptions) -> Vec<HexRun> {
    let fields = fields(decoded, MAX_FIELDS);
    // The last container ends with the bytes, and not where it would have been closed.
    let is_cut = decoded.faults().next().is_some();
    let mut runs = Vec::new();
    let mut secret_below = None;
    for (i, field) in fields.iter().enumerate() {
        if secret_below.is_some_and(|depth| field.depth > depth) {
            continue;
        }
        let indent = "  ".repeat(field.depth);
        let secret = field.is_secret(notes, display);
        secret_below = secret.then_some(field.depth);
        if let Some(key) = field.key.filter(|k| k.len > 0) {
            runs.push(HexRun {
                span: key,
                text: format!("{indent}{}", field.label),
                highlight: Highlight::Key,
                secret: false,
                hidden: Vec::new(),
            });
        }
        let (highlight, mut text) = shown_value(field, notes, display, MAX_READ);
        for remark in field.remarks(notes) {
            text.push_str(&format!("  = {remark}"));
        }
        // A key without bytes is shown with its value.
        if field.key.is_none_or(|k| k.len == 0) && !field.label.is_empty() {
            text = format!("{} {text}", field.label);
        }
        let container = field.node.is_some_and(|n| n.is_map() || n.is_array());
        let span = if container && !secret {
            let inside = fields.get(i + 1..).unwrap_or_default().iter();
            let inside = inside.take_while(|f| f.depth > field.depth);
            let first = inside
                .flat_map(|f| [f.key.unwrap_or(f.span), f.span])
                .filter(|s| s.len > 0)
                .map(Span::at)
                .min();
            let is_open = is_cut && i + 1 == fields.len();
            let end = if is_open {
                field.span.at() + 1
            } else {
                field.span.end()
            };
            Span::new(field.span.at(), first.unwrap_or(end))
        } else {
            field.span
        };
        if span.len > 0 {
            runs.push(HexRun {
                span,
                text: format!("{indent}{text}"),
                highlight,
                secret,
                hidden: if display.show_secrets {
                    Vec::new()
                } else {
                    field.hidden_spans(notes)
                },
            });
        }
    }
    runs
}

fn write_rows(decoded: &Decoded<'_>, run: &HexRun, display: DisplayOptions, out: &mut String) {
    let (view, style) = (decoded.frame.view, display.style);
    let bytes = run.span.of(view.bytes);
    for (i, row) in bytes.chunks(ROW_BYTES).take(MAX_ROWS).enumerate() {
        let offset = view.locate(run.span.at() + i * ROW_BYTES);
        style.push(out, Highlight::Dim, &format!("{offset:08x}  "));
        let mut hex = String::new();
        for (at, byte) in (run.span.at() + i * ROW_BYTES..).zip(row) {
            if run.secret || run.hidden.iter().any(|span| span.contains(at)) {
                hex.push_str("** ");
            } else {
                hex.push_str(&format!("{byte:02x} "));
            }
        }
        let label = if i > 0 {
            String::new()
        } else if run.secret {
            if run.text.is_empty() {
                "(not decoded: it may be secret)".into()
            } else {
                "(secret)".into()
            }
        } else {
            run.text.clone()
        };
        style.push(
            out,
            if run.text.is_empty() {
                Highlight::Dim
            } else {
                Highlight::Plain
            },
            &format!("{hex:<49}"),
        );
        let text = escape(&label);
        style.push(out, run.highlight, &shorten(&text, 80));
        while out.ends_with(' ') {
            out.pop();
        }
        out.push('\n');
    }
    if bytes.len() > ROW_BYTES * MAX_ROWS {
        style.push(
            out,
            Highlight::Dim,
            &format!(
                "          … {} more bytes\n",
                bytes.len() - ROW_BYTES * MAX_ROWS
            ),
        );
    }
}
