//! Shows differences.

use super::super::output::without_nulls;
use crate::diff::{DiffMessage, DiffValue, Difference, FieldDifference};
use crate::framing::fields::masked;
use crate::protocol::Direction;
use crate::render::style::{Highlight, shorten};
use crate::render::wrap::write_wrapped;
use crate::render::{DisplayOptions, arrow};
use serde_json::{Value as Json, json};
use std::borrow::Cow;

/// The maximum number of characters of a value.
const MAX_SHOWN: usize = 60;

/// Writes a difference as text.
pub fn write_difference(difference: &Difference, display: DisplayOptions, out: &mut String) {
    let style = display.style;
    let head = |which: &DiffMessage, out: &mut String| {
        let conn = which.conn.map(|c| format!(" c{c}"));
        let what = if display.show_secrets {
            Cow::Borrowed(which.what.as_str())
        } else {
            masked(&which.what)
        };
        let text = format!("{} {}", arrow(which.direction), shorten(&what, MAX_SHOWN));
        style.push_wire(out, Highlight::Kind, &text);
        let place = format!("  #{}{}", which.index, conn.unwrap_or_default());
        style.push(out, Highlight::Dim, &place);
    };
    match difference {
        Difference::Fields(left, right, fields) => {
            style.push(out, Highlight::Note, "~ ");
            head(left, out);
            style.push(out, Highlight::Dim, &format!(" against #{}\n", right.index));
            for field in fields {
                write_field(field, false, display, out);
            }
        }
        Difference::OnlyLeft(which, answers) | Difference::OnlyRight(which, answers) => {
            let right = matches!(difference, Difference::OnlyRight(..));
            let (sign, highlight) = if right {
                ("+ ", Highlight::ToClient)
            } else {
                ("- ", Highlight::Error)
            };
            style.push(out, highlight, sign);
            head(which, out);
            out.push_str(if right { "  only in B" } else { "  only in A" });
            match answers {
                0 => {}
                1 => out.push_str(", with its answer"),
                n => out.push_str(&format!(", with {n} answers")),
            }
            out.push('\n');
        }
    }
}

/// Writes a field: its path, both values and their positions, with bytes if `with_bytes`.
pub fn write_field(
    field: &FieldDifference,
    with_bytes: bool,
    display: DisplayOptions,
    out: &mut String,
) {
    write_wrapped(display, 8, out, |out| {
        write_unwrapped(field, with_bytes, display, out);
    });
}

fn write_unwrapped(
    field: &FieldDifference,
    with_bytes: bool,
    display: DisplayOptions,
    out: &mut String,
) {
    let style = display.style;
    let path = match field.path.as_str() {
        "" => "message",
        path => path,
    };
    style.push_wire(out, Highlight::Key, &format!("    {path}  "));
    let value = |value: &Option<DiffValue>, highlight: Highlight, out: &mut String| match value {
        Some(value) if value.secret && !display.show_secrets => {
            style.push(out, Highlight::Note, "(secret)");
        }
        Some(value) => style.push_wire(out, highlight, &shorten(&value.text, MAX_SHOWN)),
        None => style.push(out, Highlight::Dim, "absent"),
    };
    value(&field.left, Highlight::Error, out);
    out.push_str(" → ");
    value(&field.right, Highlight::ToClient, out);
    let mut values = [&field.left, &field.right].into_iter().flatten();
    let is_hidden = !display.show_secrets && values.any(|value| value.secret);
    if let Some(wanted) = field.wanted.as_ref().filter(|_| !is_hidden) {
        style.push_wire(
            out,
            Highlight::Note,
            &format!(" (wanted {})", shorten(wanted, MAX_SHOWN)),
        );
    }
    let place = |value: &Option<DiffValue>| {
        let Some(DiffValue {
            range,
            bytes,
            secret,
            ..
        }) = value
        else {
            return "-".to_owned();
        };
        let place = format!("{}..{}", range.start, range.end);
        if !with_bytes || bytes.is_empty() || *secret && !display.show_secrets {
            return place;
        }
        let more = (range.end - range.start) > bytes.len() as u64;
        let more = if more { "…" } else { "" };
        format!("{place}: {}{more}", hex::encode(bytes))
    };
    let (left, right) = (place(&field.left), place(&field.right));
    let ranges = format!("  (bytes {left} and {right})");
    style.push(out, Highlight::Dim, &ranges);
}

pub fn message_json(which: &DiffMessage) -> Json {
    json!({
        "index": which.index,
        "conn": which.conn,
        "dir": which.direction.map(Direction::name),
        "what": which.what,
    })
}

/// Returns the fields that differ as JSON.
pub fn fields_json(fields: &[FieldDifference]) -> Json {
    let value = |value: &Option<DiffValue>| {
        value.as_ref().map(|v| {
            json!({ "value": v.text, "offset": v.range.start, "len": v.range.end - v.range.start })
        })
    };
    let fields = fields.iter().map(|field| {
        json!({
            "path": field.path,
            "a": value(&field.left),
            "b": value(&field.right),
        })
    });
    fields.collect()
}

pub fn difference_json(difference: &Difference, protocol: Option<&str>) -> Json {
    let (a, b, answers, fields) = match difference {
        Difference::Fields(left, right, fields) => (Some(left), Some(right), None, Some(fields)),
        Difference::OnlyLeft(left, answers) => (Some(left), None, Some(answers), None),
        Difference::OnlyRight(right, answers) => (None, Some(right), Some(answers), None),
    };
    without_nulls(json!({
        "v": 1,
        "protocol": protocol,
        "a": a.map(message_json),
        "b": b.map(message_json),
        "answers": answers,
        "fields": fields.map(|fields| fields_json(fields)),
    }))
}
