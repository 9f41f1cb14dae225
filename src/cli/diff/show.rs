//! How a difference is shown.

use super::super::output::present;
use crate::diff::{Difference, Field, Value, Which};
use crate::framing::fields::masked;
use crate::protocol::Direction;
use crate::render::style::{Tone, shorten};
use crate::render::{Look, arrow};
use serde_json::{Value as Json, json};
use std::borrow::Cow;

/// Characters of a value that are shown.
const SHOWN: usize = 60;

/// One difference, for people.
pub fn block(difference: &Difference, look: Look, out: &mut String) {
    let style = look.style;
    let head = |which: &Which, out: &mut String| {
        let conn = which.conn.map(|c| format!(" conn {c}"));
        let what = if look.show_secrets {
            Cow::Borrowed(which.what.as_str())
        } else {
            masked(&which.what)
        };
        let text = format!("{} {}", arrow(which.direction), shorten(&what, SHOWN));
        style.wire(out, Tone::Kind, &text);
        let place = format!("  #{}{}", which.index, conn.unwrap_or_default());
        style.put(out, Tone::Dim, &place);
    };
    match difference {
        Difference::Fields(left, right, fields) => {
            style.put(out, Tone::Note, "~ ");
            head(left, out);
            style.put(out, Tone::Dim, &format!(" against #{}\n", right.index));
            for field in fields {
                row(field, false, look, out);
            }
        }
        Difference::OnlyLeft(which, answers) | Difference::OnlyRight(which, answers) => {
            let right = matches!(difference, Difference::OnlyRight(..));
            let (sign, tone) = if right {
                ("+ ", Tone::Back)
            } else {
                ("- ", Tone::Bad)
            };
            style.put(out, tone, sign);
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

/// One field: its path, both values, and where they lie; with their bytes where those are wanted.
pub fn row(field: &Field, with_bytes: bool, look: Look, out: &mut String) {
    let style = look.style;
    let path = match field.path.as_str() {
        "" => "message",
        path => path,
    };
    style.wire(out, Tone::Key, &format!("    {path}  "));
    let value = |value: &Option<Value>, tone: Tone, out: &mut String| match value {
        Some(value) if value.secret && !look.show_secrets => {
            style.put(out, Tone::Note, "(secret)");
        }
        Some(value) => style.wire(out, tone, &shorten(&value.text, SHOWN)),
        None => style.put(out, Tone::Dim, "absent"),
    };
    value(&field.left, Tone::Bad, out);
    out.push_str(" → ");
    value(&field.right, Tone::Back, out);
    if let Some(wanted) = &field.wanted {
        style.wire(
            out,
            Tone::Note,
            &format!(" (wanted {})", shorten(wanted, SHOWN)),
        );
    }
    let place = |value: &Option<Value>| {
        let Some(Value {
            range,
            bytes,
            secret,
            ..
        }) = value
        else {
            return "-".to_owned();
        };
        let place = format!("{}..{}", range.start, range.end);
        if !with_bytes || bytes.is_empty() || *secret && !look.show_secrets {
            return place;
        }
        let more = (range.end - range.start) > bytes.len() as u64;
        let more = if more { "…" } else { "" };
        format!("{place}: {}{more}", hex::encode(bytes))
    };
    let (left, right) = (place(&field.left), place(&field.right));
    let ranges = format!("  (bytes {left} and {right})\n");
    style.put(out, Tone::Dim, &ranges);
}

/// One difference, for programs.
pub fn object(difference: &Difference) -> Json {
    let which = |which: &Which| {
        json!({
            "index": which.index,
            "conn": which.conn,
            "dir": which.direction.map(Direction::name),
            "what": which.what,
        })
    };
    let value = |value: &Option<Value>| {
        value.as_ref().map(|v| {
            json!({ "value": v.text, "offset": v.range.start, "len": v.range.end - v.range.start })
        })
    };
    present(match difference {
        Difference::Fields(left, right, fields) => json!({
            "v": 1,
            "a": which(left),
            "b": which(right),
            "fields": fields.iter().map(|field| json!({
                "path": field.path,
                "a": value(&field.left),
                "b": value(&field.right),
            })).collect::<Vec<_>>(),
        }),
        Difference::OnlyLeft(left, answers) => json!({
            "v": 1, "a": which(left), "answers": answers,
        }),
        Difference::OnlyRight(right, answers) => json!({
            "v": 1, "b": which(right), "answers": answers,
        }),
    })
}
