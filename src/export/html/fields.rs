//! Writes the fields and the bytes of a message for the page.
//!
//! ```text
//!   "f":[[depth,label,start,len,type,value,remark,key start,key length,shortened],...]
//!   "b":"bytes in base64","h":[[start,len],...],"places":[[start,offset],...],"size":bytes in all
//! ```
//!
//! Positions are those of the view. Trailing members of a field that are empty are left out.

use super::write_text;
use crate::decoder::Decoded;
use crate::encoding::lossless::write_int;
use crate::framing::Places;
use crate::protocol::Notes;
use crate::render::fields::{FrameField, fields};
use crate::render::{DisplayOptions, hex};
use crate::span::Span;
use crate::tape::{Scalar, Value};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use std::borrow::Cow;

/// The maximum number of fields of a message.
const MAX_FIELDS: usize = 1_000;
/// The maximum number of bytes of a message.
const MAX_BYTES: usize = 8 << 10;
/// The maximum number of characters of a value, and of a label.
const MAX_VALUE: usize = 2_000;
const MAX_LABEL: usize = 200;
/// The maximum number of runs of the stream that a message consists of.
const MAX_PLACES: usize = 64;
/// The place of a secret byte.
const HIDDEN: u8 = b'*';

/// Writes the fields and the bytes of a message.
pub(super) fn write(
    decoded: &Decoded<'_>,
    display: DisplayOptions,
    notes: &mut Notes,
    out: &mut Vec<u8>,
) {
    decoded.annotate(notes);
    out.extend_from_slice(b",\"f\":[");
    let (mut first, mut secret_below) = (true, None);
    let all = fields(decoded, MAX_FIELDS);
    for field in &all {
        if secret_below.is_some_and(|depth| field.depth > depth) {
            continue;
        }
        let is_secret = field.is_secret(notes, display);
        secret_below = is_secret.then_some(field.depth);
        if !std::mem::take(&mut first) {
            out.push(b',');
        }
        write_field(field, is_secret, notes, display, out);
    }
    out.push(b']');
    let hidden = hex::secret_spans_of(decoded, &all, display, notes);
    write_bytes(decoded, hidden, out);
}

fn write_field(
    field: &FrameField<'_>,
    is_secret: bool,
    notes: &Notes,
    display: DisplayOptions,
    out: &mut Vec<u8>,
) {
    let (kind, value, is_cut) = value_of(field, is_secret, notes, display);
    out.push(b'[');
    write_int(field.depth as u64, out);
    out.push(b',');
    write_text(&field.label, MAX_LABEL, out);
    for number in [field.span.start, field.span.len] {
        out.push(b',');
        write_int(number, out);
    }
    out.extend_from_slice(b",\"");
    out.extend_from_slice(kind.as_bytes());
    out.extend_from_slice(b"\",");
    write_text(&value, MAX_VALUE + 1, out);
    let remarks: Vec<_> = field.remarks(notes).filter(|_| !is_secret).collect();
    let key = field.key.unwrap_or_default();
    if is_cut || key.len > 0 || !remarks.is_empty() {
        out.push(b',');
        write_text(&remarks.join(", "), MAX_LABEL, out);
        for number in [key.start, key.len, u32::from(is_cut)] {
            out.push(b',');
            write_int(number, out);
        }
    }
    out.push(b']');
}

/// Returns the type of a value, its text, and whether the text is shortened.
fn value_of<'f>(
    field: &'f FrameField<'_>,
    is_secret: bool,
    notes: &Notes,
    display: DisplayOptions,
) -> (&'static str, Cow<'f, str>, bool) {
    if is_secret {
        return ("x", field.replacement(display).into(), false);
    }
    let Some(node) = field.node else {
        let masked = field.masked.as_deref().filter(|_| !display.show_secrets);
        let (text, is_cut) = start(Cow::Borrowed(masked.unwrap_or(&field.text)));
        return ("p", text, is_cut);
    };
    let kind = match node.value() {
        Value::Map | Value::Array | Value::Label(_) => "c",
        Value::Scalar(Scalar::Str(bytes)) if std::str::from_utf8(bytes).is_err() => "b",
        Value::Scalar(Scalar::Str(_) | Scalar::Json(..)) => "s",
        Value::Scalar(Scalar::Bin(_) | Scalar::Ext(..)) => "b",
        Value::Scalar(_) => "n",
    };
    let text = match (kind, field.masked_value(notes, display)) {
        ("s", Some(masked)) => Cow::Owned(masked),
        ("s", None) => node.text().unwrap_or_default(),
        _ => Cow::Owned(field.brief(node, notes, display)),
    };
    let (text, is_cut) = start(text);
    (kind, text, is_cut)
}

/// Returns the start of a text with a mark, and whether anything is left out.
fn start(text: Cow<'_, str>) -> (Cow<'_, str>, bool) {
    match text.char_indices().nth(MAX_VALUE) {
        Some((end, _)) => {
            let start = text.get(..end).unwrap_or_default();
            (Cow::Owned(format!("{start}…")), true)
        }
        None => (text, false),
    }
}

fn write_bytes(decoded: &Decoded<'_>, mut hidden: Vec<Span>, out: &mut Vec<u8>) {
    let view = decoded.frame.view;
    let shown = view.bytes.get(..MAX_BYTES).unwrap_or(view.bytes);
    let mut bytes = shown.to_vec();
    hidden.retain(|span| span.at() < bytes.len());
    for span in &mut hidden {
        *span = Span::new(span.at(), span.end().min(bytes.len()));
        bytes
            .get_mut(span.at()..span.end())
            .unwrap_or_default()
            .fill(HIDDEN);
    }
    out.extend_from_slice(b",\"b\":\"");
    out.extend_from_slice(STANDARD.encode(&bytes).as_bytes());
    out.extend_from_slice(b"\",\"size\":");
    write_int(view.bytes.len() as u64, out);
    let pairs = hidden
        .iter()
        .map(|span| (span.at() as u64, u64::from(span.len)));
    write_pairs(",\"h\":", pairs, out);
    let pieces = match view.places {
        Places::Run(offset) | Places::Packed(offset) => vec![(0, offset)],
        Places::Pieces(pieces) => {
            let first = pieces.iter().take(MAX_PLACES);
            first
                .map(|piece| (u64::from(piece.at), piece.offset))
                .collect()
        }
    };
    write_pairs(",\"places\":", pieces.into_iter(), out);
    if matches!(view.places, Places::Packed(_)) {
        out.extend_from_slice(b",\"packed\":true");
    }
}

/// Writes pairs of numbers, if there are any.
fn write_pairs(key: &str, pairs: impl Iterator<Item = (u64, u64)>, out: &mut Vec<u8>) {
    let mut lead = key;
    let mut open = "[";
    for (one, other) in pairs {
        out.extend_from_slice(lead.as_bytes());
        out.extend_from_slice(open.as_bytes());
        out.push(b'[');
        write_int(one, out);
        out.push(b',');
        write_int(other, out);
        out.push(b']');
        (lead, open) = (",", "");
    }
    if open.is_empty() {
        out.push(b']');
    }
}
