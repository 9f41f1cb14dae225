//! One aligned line a frame.
//!
//! ```text
//!     0 →        0     69 B  call            math.add                            4dd08780-4146-1567-2ff4-a479a95fbaff
//! ```

use super::fields::subject;
use super::style::{Tone, shorten};
use super::{Look, arrow, findings};
use crate::conversation::Verdict;
use crate::decoder::Decoded;
use crate::protocol::session::Answer;
use crate::protocol::{Direction, Protocol, Role};

/// Writes one line, its line end included, and one more a fault; with a verdict also what it answers, and a line a
/// finding: faults are among them.
pub fn write(decoded: &Decoded<'_>, verdict: Option<Verdict<'_>>, look: Look, out: &mut String) {
    row(decoded, verdict.and_then(|v| v.answer), look, out);
    for finding in verdict.map_or(&[][..], |v| v.findings) {
        findings::below(finding, Some(decoded.index), look, out);
    }
    let faults = decoded.faults().filter(|_| verdict.is_none());
    for (offset, fault) in faults {
        let mut line = String::new();
        let style = look.style;
        style.put(&mut line, Tone::Bad, "      ✗ ");
        let text = format!("{}: offset {offset}: {fault}", fault.code);
        style.wire(&mut line, Tone::Bad, &text);
        if let Some(hint) = &fault.hint {
            style.wire(&mut line, Tone::Note, &format!(" — {hint}"));
        }
        out.push_str(&line);
        out.push('\n');
    }
    remarks(decoded, look, out);
}

fn remarks(decoded: &Decoded<'_>, look: Look, out: &mut String) {
    for remark in decoded.remarks {
        look.style
            .wire(out, Tone::Note, &format!("      ! {remark}"));
        out.push('\n');
    }
}

fn row(decoded: &Decoded<'_>, answer: Option<&Answer>, look: Look, out: &mut String) {
    let mut line = String::new();
    let (message, frame, style) = (decoded.message, decoded.frame, look.style);
    let tone = match decoded.origin.direction {
        Some(Direction::ToServer) => Tone::Out,
        Some(Direction::ToClient) => Tone::Back,
        None => Tone::Dim,
    };
    style.put(&mut line, Tone::Dim, &format!("{:>5} ", decoded.index));
    if let Some(conn) = decoded.origin.conn {
        style.put(&mut line, Tone::Dim, &format!("#{conn:<2} "));
    }
    style.put(&mut line, tone, arrow(decoded.origin.direction));
    style.put(
        &mut line,
        Tone::Dim,
        &format!(" {:>8} {:>6} B  ", frame.offset, frame.len),
    );
    let kind = if message.kind.is_empty() {
        "-"
    } else {
        message.kind.as_ref()
    };
    let kind_tone = match message.role {
        Some(Role::Error) => Tone::Bad,
        Some(Role::Control | Role::Heartbeat) => Tone::Dim,
        _ => Tone::Kind,
    };
    let column = kind_column(decoded.protocol);
    style.wire(
        &mut line,
        kind_tone,
        &format!("{:<column$}  ", shorten(kind, 40)),
    );
    let subject = subject(decoded, look.show_secrets).unwrap_or_default();
    style.wire(
        &mut line,
        Tone::Plain,
        &format!("{:<24} ", shorten(&subject, 60)),
    );
    let outcome = message.outcome.as_deref().unwrap_or_default();
    let outcome_tone = if message.role == Some(Role::Error) {
        Tone::Bad
    } else {
        Tone::Plain
    };
    style.wire(
        &mut line,
        outcome_tone,
        &format!("{:<10} ", shorten(outcome, 40)),
    );
    style.wire(&mut line, Tone::Dim, &shorten(&message.id.text(), 60));
    if let Some(answer) = answer {
        let text = findings::answer(answer);
        style.put(&mut line, Tone::Dim, &format!("  {text}"));
    }
    push_fitted(&line, look, out);
}

/// Room for a kind: as wide as the protocol's kinds are, within reason.
fn kind_column(protocol: &dyn Protocol) -> usize {
    protocol
        .kinds()
        .iter()
        .map(|k| k.name.len())
        .max()
        .unwrap_or_default()
        .clamp(4, 20)
}

/// A line, cut where a terminal ends; colour codes take no room.
fn push_fitted(line: &str, look: Look, out: &mut String) {
    let line = line.trim_end();
    let Some(width) = look.width else {
        out.push_str(line);
        out.push('\n');
        return;
    };
    let (mut room, mut code) = (width, false);
    for c in line.chars() {
        if c == '\u{1b}' {
            code = true;
        }
        if !code {
            if room == 0 {
                continue;
            }
            room -= 1;
        }
        out.push(c);
        if code && c == 'm' {
            code = false;
        }
    }
    out.push('\n');
}
