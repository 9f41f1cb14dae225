//! Renders findings, responses, and messages that are awaited.

use super::style::{Highlight, shorten};
use super::subject::masked_subject;
use super::wrap::write_wrapped;
use super::{DisplayOptions, arrow, short_id};
use crate::conversation::{Consequences, Finding};
use crate::decoder::{Decoded, Partial};
use crate::encoding::json::write_str;
use crate::encoding::lossless::write_int;
use crate::framing::Head;
use crate::protocol::Origin;
use crate::protocol::session::{Answer, Place, Severity, Waiting, WaitingList};
use std::borrow::Cow;

/// The maximum length of a finding in a line, in characters; the JSON output has all of it.
pub(crate) const MAX_TEXT: usize = 300;

/// The maximum number of messages without an answer that are listed.
pub(crate) const MAX_WAITING: usize = 20;

/// Returns the color of a severity.
pub const fn highlight(severity: Severity) -> Highlight {
    match severity {
        Severity::Error => Highlight::Error,
        Severity::Warning => Highlight::Note,
        Severity::Info | Severity::Off => Highlight::Dim,
    }
}

/// Writes a finding below its message: rule and sentence. `own` is the index of this message; any other message is named.
pub fn write_below(finding: &Finding, own: Option<u64>, display: DisplayOptions, out: &mut String) {
    let style = display.style;
    let sign = match finding.severity {
        Severity::Error => "✗",
        Severity::Warning => "!",
        Severity::Info | Severity::Off => "i",
    };
    let highlight = highlight(finding.severity);
    write_wrapped(display, 8, out, |out| {
        style.push_wire(
            out,
            highlight,
            &format!("      {sign} {}: ", finding.name()),
        );
        if own != Some(finding.place.index) && finding.place.index != Place::NO_MESSAGE {
            style.push_wire(out, highlight, &format!("#{}: ", finding.place.index));
        }
        write_sentence(finding, display, out);
    });
}

/// Returns the connection and stream of a message, as texts start with it: `c1 stream 4 `.
pub(super) fn connection_prefix(origin: Origin) -> String {
    let conn = origin.conn.map(|conn| format!("c{conn} "));
    let stream = origin.stream.map(|stream| format!("stream {stream} "));
    [conn, stream].into_iter().flatten().collect()
}

/// Writes a finding as a line: `FILE: offset 87: error saikuro/seq-gap: #12 ← seq is 5, 4 should follow`. `at`: file and
/// offset, or file, line and column.
/// `all`: the messages with this finding, if there are several.
pub fn write_line(
    finding: &Finding,
    all: &[u64],
    at: &str,
    display: DisplayOptions,
    out: &mut String,
) {
    let (style, place) = (display.style, finding.place);
    let index = (place.index != Place::NO_MESSAGE).then(|| format!("#{} ", place.index));
    let whose = format!(
        "{}{}{} ",
        index.unwrap_or_default(),
        connection_prefix(place.origin),
        arrow(place.origin.direction)
    );
    write_wrapped(display, 4, out, |out| {
        style.push_wire(out, Highlight::Plain, &format!("{at}: "));
        style.push(out, highlight(finding.severity), finding.severity.name());
        style.push_wire(out, Highlight::Kind, &format!(" {}: ", finding.name()));
        style.push(out, Highlight::Dim, &whose);
        write_sentence(finding, display, out);
        if all.len() > 1 {
            let numbers: Vec<_> = all.iter().map(|index| format!("#{index}")).collect();
            let text = format!(" ({} times: {})", all.len(), numbers.join(", "));
            style.push(out, Highlight::Dim, &text);
        }
    });
}

/// Returns the number of findings that only follow from a message: `3 more findings follow from #12`.
pub fn consequences(one: Consequences) -> String {
    match one.count {
        1 => format!("1 more finding follows from #{}", one.index),
        n => format!("{n} more findings follow from #{}", one.index),
    }
}

/// Returns true if a text names the message with this index.
fn names(text: &str, index: u64) -> bool {
    let name = format!("#{index}");
    let mut found = text.match_indices(&name);
    found.any(|(at, _)| {
        let rest = text.get(at + name.len()..).unwrap_or_default();
        !rest.starts_with(|c: char| c.is_ascii_digit())
    })
}

/// Writes the sentence of a finding, and the message that it refers to, unless the sentence names it.
fn write_sentence(finding: &Finding, display: DisplayOptions, out: &mut String) {
    display
        .style
        .push_wire(out, Highlight::Plain, &shorten(&finding.text, MAX_TEXT));
    let is_named = |related: &u64| !names(&finding.text, *related);
    if let Some(related) = finding.related.filter(is_named) {
        display
            .style
            .push(out, Highlight::Dim, &format!(" (see #{related})"));
    }
}

/// Writes a finding as a JSON object. `own` is the index of the message of the line, which is then not named.
pub fn write_json(finding: &Finding, own: Option<u64>, out: &mut Vec<u8>) {
    out.extend_from_slice(b"{\"rule\":");
    write_str(&finding.name(), out);
    out.extend_from_slice(b",\"severity\":");
    write_str(finding.severity.name(), out);
    let place = finding.place;
    if own != Some(place.index) {
        if place.index != Place::NO_MESSAGE {
            out.extend_from_slice(b",\"index\":");
            write_int(place.index, out);
        }
        if let Some(conn) = place.origin.conn {
            out.extend_from_slice(b",\"conn\":");
            write_int(conn, out);
        }
        if let Some(stream) = place.origin.stream {
            out.extend_from_slice(b",\"stream\":");
            write_int(stream, out);
        }
        if let Some(direction) = place.origin.direction {
            out.extend_from_slice(b",\"dir\":");
            write_str(direction.name(), out);
        }
    }
    out.extend_from_slice(b",\"offset\":");
    write_int(place.offset, out);
    out.extend_from_slice(b",\"len\":");
    write_int(place.len, out);
    out.extend_from_slice(b",\"text\":");
    write_str(&finding.text, out);
    if let Some(related) = finding.related {
        out.extend_from_slice(b",\"related\":");
        write_int(related, out);
    }
    out.push(b'}');
}

/// Returns the outcome of a message in brief.
pub(super) fn outcome<'a>(
    decoded: &Decoded<'a>,
    answer: Option<&Answer>,
    show_secrets: bool,
) -> Cow<'a, str> {
    if let Some(fault) = decoded.injected {
        // The reader must see that the receiver did not get this message.
        return format!("by wiretool: {fault}").into();
    }
    if let Some(closing) = closing(decoded, show_secrets) {
        return closing.into();
    }
    let mut outcome = Cow::Borrowed(decoded.message.outcome.as_deref().unwrap_or_default());
    if decoded.message.failed {
        outcome = format!("✗ {outcome}").into();
    }
    match answer {
        Some(answer) if answer.id_form_differs && outcome.is_empty() => "id form differs".into(),
        Some(answer) if answer.id_form_differs => format!("{outcome}, id form differs").into(),
        _ => outcome,
    }
}

/// Returns status and reason of a WebSocket that is closed (RFC 6455 section 5.5.1): `1011 internal error`.
fn closing(decoded: &Decoded<'_>, show_secrets: bool) -> Option<String> {
    let frame = decoded.frame;
    let is_close = frame.control == Some("close") && matches!(frame.head, Head::WebSocket { .. });
    let (status, reason) = frame.view.body().split_first_chunk().filter(|_| is_close)?;
    let status = u16::from_be_bytes(*status);
    let reason = String::from_utf8_lossy(reason);
    let reason = masked_subject(&reason, show_secrets);
    Some(format!("{status} {reason}").trim_end().to_owned())
}

/// Returns `↩ #12 3.4 ms`.
pub fn answer(answer: &Answer) -> String {
    let latency = answer.latency.map(|ns| format!(" {}", duration(ns)));
    format!("↩ #{}{}", answer.to, latency.unwrap_or_default())
}

/// Returns a duration in a suitable unit: `850 ns`, `3.4 ms`, `2 min 5 s`.
pub fn duration(ns: i64) -> String {
    let mut out = String::new();
    push_duration(ns, &mut out);
    out
}

/// Adds a [`duration`]. Lines have two of them.
pub fn push_duration(ns: i64, out: &mut String) {
    if ns < 0 {
        out.push('-');
    }
    let n = ns.unsigned_abs();
    let mut push = |number: u64, after: &str| {
        out.push_str(itoa::Buffer::new().format(number));
        out.push_str(after);
    };
    let (unit, name) = match n {
        0..1_000 => return push(n, " ns"),
        1_000..999_950 => (1_000, " µs"),
        999_950..999_950_000 => (1_000_000, " ms"),
        999_950_000..60_000_000_000 => (1_000_000_000, " s"),
        _ => {
            let s = n / 1_000_000_000;
            push(s / 60, " min ");
            return push(s % 60, " s");
        }
    };
    let tenths = (n + unit / 20) / (unit / 10);
    match tenths % 10 {
        0 => push(tenths / 10, name),
        part => {
            push(tenths / 10, ".");
            push(part, name);
        }
    }
}

/// Returns nanoseconds as milliseconds, exactly, as a JSON number: `3.41`.
pub fn millis(ns: i64) -> String {
    let sign = if ns < 0 { "-" } else { "" };
    let n = ns.unsigned_abs();
    let text = format!("{sign}{}.{:06}", n / 1_000_000, n % 1_000_000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Returns who must send a message that is awaited.
pub fn expected_text(side: &str) -> String {
    format!("the {side} must send it")
}

/// Writes a message that is awaited, as a line. `now` is the last known time.
pub fn write_waiting(
    waiting: &Waiting,
    now: Option<i64>,
    sides: [&str; 2],
    display: DisplayOptions,
    out: &mut String,
) {
    let (style, place) = (display.style, waiting.place);
    // A wait since the start of the connection follows no message.
    let index = (place.len > 0).then(|| format!("#{} ", place.index));
    let whose = format!(
        "  {}{}{} ",
        index.unwrap_or_default(),
        connection_prefix(place.origin),
        arrow(place.origin.direction)
    );
    write_wrapped(display, 4, out, |out| {
        style.push(out, Highlight::Dim, &whose);
        style.push_wire(out, Highlight::Kind, &waiting.what);
        if !waiting.id.is_empty() {
            style.push_wire(
                out,
                Highlight::Plain,
                &format!("  id {}", short_id(&waiting.id)),
            );
        }
        let times = place.origin.time.zip(now);
        if let Some((from, to)) = times.filter(|(from, to)| from < to) {
            let age = duration(to.saturating_sub(from));
            style.push(out, Highlight::Plain, &format!("  for {age}"));
        }
        let owes = match waiting.expected_sender(sides) {
            Some(side) => {
                let first = waiting.blocked_by;
                let first = first.map(|by| format!(", and may wait for #{by} first"));
                format!("  {}{}", expected_text(side), first.unwrap_or_default())
            }
            None => "  no answer was seen".to_owned(),
        };
        style.push(out, Highlight::Plain, &owes);
        if let Some(why) = &waiting.why {
            style.push_wire(out, Highlight::Note, &format!(" — {why}"));
        }
    });
}

/// Writes messages that are awaited, with a heading.
pub(crate) fn write_waiting_list(
    (file, waiting): (&str, &WaitingList),
    now: Option<i64>,
    sides: [&str; 2],
    display: DisplayOptions,
    out: &mut String,
) {
    let title = match waiting.count {
        1 => "1 message waits for an answer:".to_owned(),
        n => format!("{n} messages wait for an answer:"),
    };
    display
        .style
        .push_wire(out, Highlight::Key, &format!("{file}: {title}"));
    out.push('\n');
    for one in &waiting.first {
        write_waiting(one, now, sides, display, out);
    }
    let more = waiting.count - waiting.first.len();
    if more > 0 {
        out.push_str(&format!("  and {more} more\n"));
    }
}

/// Writes an incomplete frame as a line.
pub fn write_partial(partial: &Partial, file: &str, display: DisplayOptions, out: &mut String) {
    let style = display.style;
    style.push_wire(
        out,
        Highlight::Plain,
        &format!("{file}: offset {}: ", partial.offset),
    );
    let whose = format!(
        "{}{} ",
        connection_prefix(partial.origin),
        arrow(partial.origin.direction)
    );
    style.push(out, Highlight::Dim, &whose);
    let text = match (partial.have, partial.held) {
        (1, false) => "1 byte of a frame was read".to_owned(),
        (n, false) => format!("{n} bytes of a frame were read"),
        (n, true) => {
            format!("{n} bytes wait until protocol and framing are known: name them")
        }
    };
    style.push(out, Highlight::Plain, &text);
    if let Some(missing) = partial.missing {
        style.push(out, Highlight::Plain, &format!(", {missing} are missing"));
    }
    if let Some(fault) = &partial.fault {
        style.push_wire(out, Highlight::Error, &format!("; {fault}"));
        if let Some(hint) = &fault.hint {
            style.push_wire(out, Highlight::Note, &format!(" — {hint}"));
        }
    }
    out.push('\n');
}
