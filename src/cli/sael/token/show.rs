//! Shows tokens line by line.

use crate::protocol::sael::capability::{Grant, Ruling};
use crate::protocol::sael::token::{Check, CheckOutcome, Checked, Token};
use crate::render::DisplayOptions;
use crate::render::style::Highlight;
use jiff::Timestamp;
use serde_json::Value;

/// The width of names of claims.
const COLUMN: usize = 12;

pub(super) fn write_row(
    display: DisplayOptions,
    highlight: Highlight,
    name: &str,
    text: &str,
    remark: &str,
    out: &mut String,
) {
    display
        .style
        .push_wire(out, Highlight::Key, &format!("{name:<COLUMN$}  "));
    display.style.push_wire(out, highlight, text);
    if !remark.is_empty() {
        display
            .style
            .push_wire(out, Highlight::Note, &format!("  {remark}"));
    }
    out.push('\n');
}

/// Writes a claim on a line; a list has a line per element.
pub(super) fn write_claim(
    display: DisplayOptions,
    name: &str,
    value: &Value,
    now: i64,
    out: &mut String,
) {
    match value {
        Value::Array(items) if !items.is_empty() => {
            for (i, item) in items.iter().enumerate() {
                let name = if i == 0 { name } else { "" };
                write_row(display, Highlight::Text, name, &plain(item), "", out);
            }
        }
        value => {
            let is_time = matches!(name, "iat" | "nbf" | "exp");
            let remark = value.as_f64().filter(|_| is_time);
            let remark = remark.map(|t| describe_time(t, now)).unwrap_or_default();
            let highlight = if value.is_number() {
                Highlight::Number
            } else {
                Highlight::Text
            };
            write_row(display, highlight, name, &plain(value), &remark, out);
        }
    }
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Returns a time with the distance from now.
fn describe_time(time: f64, now: i64) -> String {
    let seconds = time as i64;
    let Ok(when) = Timestamp::from_second(seconds) else {
        return "not within the years 1 to 9999".to_owned();
    };
    let distance = seconds.saturating_sub(now);
    let far = format_distance(distance.unsigned_abs());
    match distance {
        0 => format!("{when}, now"),
        1.. => format!("{when}, in {far}"),
        _ => format!("{when}, {far} ago"),
    }
}

/// Returns a duration in its two largest units.
fn format_distance(seconds: u64) -> String {
    let units = [
        (365 * 86400, "year"),
        (86400, "day"),
        (3600, "hour"),
        (60, "minute"),
        (1, "second"),
    ];
    let mut rest = seconds;
    let mut words = Vec::new();
    for (size, name) in units {
        let count = rest / size;
        rest %= size;
        if count > 0 {
            let s = if count == 1 { "" } else { "s" };
            words.push(format!("{count} {name}{s}"));
        }
        if !words.is_empty() && (words.len() == 2 || count == 0) {
            break;
        }
    }
    words.join(" ")
}

pub(super) fn write_check(
    display: DisplayOptions,
    check: &Checked,
    token: &Token<'_>,
    now: i64,
    out: &mut String,
) {
    let (mark, highlight) = match check.outcome {
        CheckOutcome::Passed => ("✓", Highlight::Plain),
        CheckOutcome::Failed => ("✗", Highlight::Error),
        CheckOutcome::Skipped => ("·", Highlight::Dim),
    };
    display.style.push(out, highlight, mark);
    display.style.push(
        out,
        Highlight::Key,
        &format!(" {:<COLUMN$}  ", check.check.name()),
    );
    display.style.push_wire(out, highlight, &check.text);
    let claim = match check.check {
        Check::IssuedAt => Some("iat"),
        Check::NotBefore => Some("nbf"),
        Check::NotExpired => Some("exp"),
        _ => None,
    };
    let value = claim.and_then(|name| token.claims()?.get(name)?.as_f64());
    if let Some(time) = value {
        display.style.push(
            out,
            Highlight::Note,
            &format!("  {}", describe_time(time, now)),
        );
    }
    if let Some(text) = check.references {
        display
            .style
            .push(out, Highlight::Note, &format!("  ({text})"));
    }
    out.push('\n');
}

pub(super) fn write_ruling(
    display: DisplayOptions,
    name: &str,
    ruling: &Ruling<'_>,
    out: &mut String,
) {
    let highlight = match ruling.verdict {
        Grant::Yes => Highlight::Plain,
        Grant::No => Highlight::Error,
        Grant::Open => Highlight::Note,
    };
    display
        .style
        .push(out, Highlight::Key, &format!("{name:<COLUMN$}  "));
    display
        .style
        .push(out, highlight, &format!("{:<4}", ruling.verdict.name()));
    let text = match (ruling.grant, ruling.why) {
        (Some(grant), Some(why)) => format!("  {grant}: {why}"),
        (Some(grant), None) => format!("  {grant}"),
        (None, Some(why)) => format!("  {why}"),
        (None, None) => "  no granted capability includes it".to_owned(),
    };
    display.style.push_wire(out, Highlight::Plain, &text);
    out.push('\n');
}
