//! A frame as it passes: when, how long the answer took, and the line.
//!
//! ```text
//!   10:00:00.000120              0 #1  →        0     84 B  invoke    pow              1
//!   10:00:00.000731    611 µs    1 #1  ←        0     41 B  result    pow     ok       1
//! ```

use super::style::Tone;
use super::{Look, findings, line};
use crate::conversation::Verdict;
use crate::decoder::Decoded;

/// Writes the line, its line end included, and one more a finding or fault. The time is of UTC; on a narrow terminal it
/// is told less exactly, and on a very narrow one not at all, so that there is room for the message.
pub fn line(decoded: &Decoded<'_>, verdict: Option<Verdict<'_>>, look: Look, out: &mut String) {
    let (clock, column) = match look.width.unwrap_or(usize::MAX) {
        0..48 => (0, 8),
        48..100 => (12, 8),
        _ => (15, 10),
    };
    let time = decoded
        .origin
        .time
        .map(|t| t.rem_euclid(86_400_000_000_000) / 1000)
        .map_or(" ".repeat(15), |us| {
            let (s, us) = (us / 1_000_000, us % 1_000_000);
            format!("{:02}:{:02}:{:02}.{us:06}", s / 3600, s / 60 % 60, s % 60)
        });
    let time = time.get(..clock).unwrap_or_default();
    let latency = verdict.and_then(|v| v.answer).and_then(|a| a.latency);
    let took = latency.map_or_else(String::new, findings::duration);
    look.style.put(out, Tone::Dim, time);
    look.style
        .put(out, Tone::Note, &format!(" {took:>column$} "));
    let before = clock + column.max(took.chars().count()) + 2;
    let look = Look {
        width: look.width.map(|width| width.saturating_sub(before)),
        ..look
    };
    // How long the answer took has a column of its own.
    line::write_in(decoded, verdict, false, look, out);
}
