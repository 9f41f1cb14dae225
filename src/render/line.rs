//! One aligned line a frame.
//!
//! ```text
//!     0 →        0     69 B  call            math.add                            4dd08780-4146-1567-2ff4-a479a95fbaff
//! ```

mod fit;

use super::style::Tone;
use super::{Look, arrow, findings};
use crate::conversation::Verdict;
use crate::decoder::Decoded;
use crate::protocol::session::Answer;
use crate::protocol::{Direction, Protocol, Role};
use fit::{Cells, push_fitted};

/// Writes one line, its line end included, and one more a fault; with a verdict also what it answers, and a line a
/// finding: faults are among them.
pub fn write(decoded: &Decoded<'_>, verdict: Option<Verdict<'_>>, look: Look, out: &mut String) {
    write_in(decoded, verdict, true, look, out);
}

/// Writes a line as [`write()`] does; `tells_answer`: also which message it answers, and how long that took.
pub(super) fn write_in(
    decoded: &Decoded<'_>,
    verdict: Option<Verdict<'_>>,
    tells_answer: bool,
    look: Look,
    out: &mut String,
) {
    row(
        decoded,
        verdict.and_then(|v| v.answer),
        tells_answer,
        look,
        out,
    );
    for finding in verdict.map_or(&[][..], |v| v.findings) {
        findings::below(finding, Some(decoded.index), look, out);
    }
    let faults = decoded.faults().filter(|_| verdict.is_none());
    for (offset, fault) in faults {
        let mut line = String::new();
        let style = look.style;
        style.put(&mut line, Tone::Bad, "      ✗ ");
        let place = if look.unplaced {
            String::new()
        } else {
            format!("offset {offset}: ")
        };
        let text = format!("{}: {place}{fault}", fault.code);
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

fn row(
    decoded: &Decoded<'_>,
    answer: Option<&Answer>,
    tells_answer: bool,
    look: Look,
    out: &mut String,
) {
    let mut line = String::new();
    let (message, frame, style) = (decoded.message, decoded.frame, look.style);
    let tone = match decoded.origin.direction {
        Some(Direction::ToServer) => Tone::Out,
        Some(Direction::ToClient) => Tone::Back,
        None => Tone::Dim,
    };
    let cells = Cells::of(decoded, answer, tells_answer, look);
    let (columns, pad) = (&cells.columns, |text, column| cells.pad(text, column));
    let (index, conn) = (columns.index, columns.conn);
    style.put(&mut line, Tone::Dim, &format!("{:>index$} ", decoded.index));
    if !cells.conn.is_empty() {
        style.put(&mut line, Tone::Dim, &format!("{:<conn$} ", cells.conn));
    }
    style.put(&mut line, tone, arrow(decoded.origin.direction));
    let place = match (columns.offset, columns.size) {
        (Some(wide), Some(size)) => format!(" {:>wide$} {:>size$} B  ", frame.offset, frame.len),
        (Some(wide), None) => format!(" {:>wide$}  ", frame.offset),
        (None, _) => " ".to_owned(),
    };
    style.put(&mut line, Tone::Dim, &place);
    let kind_tone = match message.role {
        Some(Role::Error) => Tone::Bad,
        Some(Role::Control | Role::Heartbeat) => Tone::Dim,
        _ => Tone::Kind,
    };
    let text = format!("{}  ", pad(&cells.kind, columns.kind));
    style.wire(&mut line, kind_tone, &text);
    let text = format!("{} ", pad(&cells.subject, columns.subject));
    style.wire(&mut line, Tone::Plain, &text);
    let outcome_tone = if message.role == Some(Role::Error) {
        Tone::Bad
    } else {
        Tone::Plain
    };
    let text = format!("{} ", pad(&cells.outcome, columns.outcome));
    style.wire(&mut line, outcome_tone, &text);
    style.wire(&mut line, Tone::Dim, &cells.id);
    if !cells.answer.is_empty() {
        style.put(&mut line, Tone::Dim, &format!("  {}", cells.answer));
    }
    push_fitted(&line, look, out);
}

/// Room for a kind: as wide as the protocol's kinds are, within reason.
fn kind_column(protocol: &dyn Protocol) -> usize {
    protocol
        .descriptor()
        .kinds
        .iter()
        .map(|k| k.name.len())
        .max()
        .unwrap_or_default()
        .clamp(4, 20)
}

#[cfg(test)]
mod tests;
