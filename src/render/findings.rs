//! Findings: rules that were broken, who answers whom, and who owes the next message.

use super::style::{Tone, shorten};
use super::{Look, arrow};
use crate::conversation::{Consequences, Finding};
use crate::decoder::{Decoded, Half};
use crate::encoding::json::write_str;
use crate::encoding::lossless::write_int;
use crate::protocol::session::{Answer, Place, Severity, Waiting};
use std::borrow::Cow;

/// Longest text of a finding in a line; json has all of it.
const TEXT: usize = 300;

/// How a severity is coloured.
pub const fn tone(severity: Severity) -> Tone {
    match severity {
        Severity::Error => Tone::Bad,
        Severity::Warning => Tone::Note,
        Severity::Info | Severity::Off => Tone::Dim,
    }
}

/// A finding below the message it is about: rule and sentence. `own` is the message at hand; another one is named.
pub fn below(finding: &Finding, own: Option<u64>, look: Look, out: &mut String) {
    let style = look.style;
    let sign = match finding.severity {
        Severity::Error => "✗",
        Severity::Warning => "!",
        Severity::Info | Severity::Off => "i",
    };
    let tone = tone(finding.severity);
    style.wire(out, tone, &format!("      {sign} {}: ", finding.name()));
    if own != Some(finding.place.index) && finding.place.index != Place::NO_MESSAGE {
        style.wire(out, tone, &format!("#{}: ", finding.place.index));
    }
    say(finding, look, out);
}

/// A finding on a line of its own: `FILE:OFFSET: error saikuro/seq-gap: #12 ← seq is 5, 4 should follow`.
pub fn line(finding: &Finding, file: &str, look: Look, out: &mut String) {
    let (style, place) = (look.style, finding.place);
    style.wire(out, Tone::Plain, &format!("{file}:{}: ", place.offset));
    style.put(out, tone(finding.severity), finding.severity.name());
    style.wire(out, Tone::Kind, &format!(" {}: ", finding.name()));
    let index = (place.index != Place::NO_MESSAGE).then(|| format!("#{} ", place.index));
    let conn = place.origin.conn.map(|c| format!("conn {c} "));
    let whose = format!(
        "{}{}{} ",
        index.unwrap_or_default(),
        conn.unwrap_or_default(),
        arrow(place.origin.direction)
    );
    style.put(out, Tone::Dim, &whose);
    say(finding, look, out);
}

/// The number of findings that only follow from a message: `3 more findings follow from #12`.
pub fn consequences(one: Consequences) -> String {
    match one.count {
        1 => format!("1 more finding follows from #{}", one.index),
        n => format!("{n} more findings follow from #{}", one.index),
    }
}

/// The sentence, the message that it has to do with, and the line end.
fn say(finding: &Finding, look: Look, out: &mut String) {
    look.style
        .wire(out, Tone::Plain, &shorten(&finding.text, TEXT));
    if let Some(related) = finding.related {
        look.style
            .put(out, Tone::Dim, &format!(" (see #{related})"));
    }
    out.push('\n');
}

/// A finding as a JSON object; `own` is the message whose line it stands in, which then need not be named.
pub fn json(finding: &Finding, own: Option<u64>, out: &mut Vec<u8>) {
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

/// What a message comes to, as one that reads the list must know it.
pub(super) fn outcome<'a>(decoded: &Decoded<'a>, answer: Option<&Answer>) -> Cow<'a, str> {
    if let Some(fault) = decoded.injected {
        // The receiver did not get it as it stands here.
        return format!("by wiretool: {fault}").into();
    }
    let outcome = decoded.message.outcome.as_deref().unwrap_or_default();
    match answer {
        Some(answer) if answer.id_form_differs && outcome.is_empty() => "id form differs".into(),
        Some(answer) if answer.id_form_differs => format!("{outcome}, id form differs").into(),
        _ => outcome.into(),
    }
}

/// `↩ #12 3.4 ms`.
pub fn answer(answer: &Answer) -> String {
    let latency = answer.latency.map(|ns| format!(" {}", duration(ns)));
    format!("↩ #{}{}", answer.to, latency.unwrap_or_default())
}

/// A duration in the unit that suits it: `850 ns`, `3.4 ms`, `2 min 5 s`.
pub fn duration(ns: i64) -> String {
    let sign = if ns < 0 { "-" } else { "" };
    let n = ns.unsigned_abs();
    let tenths = |unit: u64, name: &str| {
        let t = (n + unit / 20) / (unit / 10);
        match (t / 10, t % 10) {
            (whole, 0) => format!("{sign}{whole} {name}"),
            (whole, part) => format!("{sign}{whole}.{part} {name}"),
        }
    };
    match n {
        0..1_000 => format!("{sign}{n} ns"),
        1_000..999_950 => tenths(1_000, "µs"),
        999_950..999_950_000 => tenths(1_000_000, "ms"),
        999_950_000..60_000_000_000 => tenths(1_000_000_000, "s"),
        _ => {
            let s = n / 1_000_000_000;
            format!("{sign}{} min {} s", s / 60, s % 60)
        }
    }
}

/// Nanoseconds as milliseconds, exactly, as a JSON number: `3.41`.
pub fn millis(ns: i64) -> String {
    let sign = if ns < 0 { "-" } else { "" };
    let n = ns.unsigned_abs();
    let text = format!("{sign}{}.{:06}", n / 1_000_000, n % 1_000_000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Something that is waited for, on a line of its own. `now` is the last time that is known.
pub fn waiting(
    waiting: &Waiting,
    now: Option<i64>,
    sides: [&'static str; 2],
    look: Look,
    out: &mut String,
) {
    let (style, place) = (look.style, waiting.place);
    let conn = place.origin.conn.map(|c| format!(" conn {c}"));
    // What waits since a connection began waits after no message.
    let index = (place.len > 0).then(|| format!(" #{}", place.index));
    let whose = format!(
        " {}{} {} ",
        index.unwrap_or_default(),
        conn.unwrap_or_default(),
        arrow(place.origin.direction)
    );
    style.put(out, Tone::Dim, &whose);
    style.wire(out, Tone::Kind, &waiting.what);
    if !waiting.id.is_empty() {
        style.wire(
            out,
            Tone::Plain,
            &format!("  id {}", shorten(&waiting.id, 60)),
        );
    }
    if let Some((from, to)) = place.origin.time.zip(now) {
        let age = duration(to.saturating_sub(from));
        style.put(out, Tone::Plain, &format!("  for {age}"));
    }
    let owes = match waiting.debtor(sides) {
        Some(side) => format!("  the {side} owes it"),
        None => "  no answer was seen".to_owned(),
    };
    style.put(out, Tone::Plain, &owes);
    if let Some(why) = &waiting.why {
        style.wire(out, Tone::Note, &format!(" — {why}"));
    }
    out.push('\n');
}

/// A frame of which only the beginning came, on a line of its own.
pub fn half(half: &Half, file: &str, look: Look, out: &mut String) {
    let style = look.style;
    style.wire(out, Tone::Plain, &format!("{file}:{}: ", half.offset));
    let conn = half.origin.conn.map(|c| format!("conn {c} "));
    let whose = format!(
        "{}{} ",
        conn.unwrap_or_default(),
        arrow(half.origin.direction)
    );
    style.put(out, Tone::Dim, &whose);
    let text = match (half.have, half.held) {
        (1, false) => "1 byte of a frame is here".to_owned(),
        (n, false) => format!("{n} bytes of a frame are here"),
        (n, true) => format!(
            "{n} bytes are held until it is certain how they are to be read: -p and --framing say so"
        ),
    };
    style.put(out, Tone::Plain, &text);
    if let Some(missing) = half.missing {
        style.put(out, Tone::Plain, &format!(", {missing} are missing"));
    }
    if let Some(fault) = &half.fault {
        style.wire(out, Tone::Bad, &format!("; {fault}"));
        if let Some(hint) = &fault.hint {
            style.wire(out, Tone::Note, &format!(" — {hint}"));
        }
    }
    out.push('\n');
}
