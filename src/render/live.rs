//! A frame as it passes: when, how long the answer took, and the line.
//!
//! ```text
//!   10:00:00.000120              0 #1  →        0     84 B  invoke    pow              1
//!   10:00:00.000731    611 µs    1 #1  ←        0     41 B  result    pow     ok       1
//! ```

use super::style::Tone;
use super::{Look, json, line};
use crate::decoder::Decoded;

/// Columns before the line.
const BEFORE: usize = 27;

/// Writes the line, its line end included, and one more a fault. The time is of UTC.
pub fn line(decoded: &Decoded<'_>, latency: Option<i64>, look: Look, out: &mut String) {
    let time = decoded
        .origin
        .time
        .map(|t| t.rem_euclid(86_400_000_000_000) / 1000)
        .map_or(" ".repeat(15), |us| {
            let (s, us) = (us / 1_000_000, us % 1_000_000);
            format!("{:02}:{:02}:{:02}.{us:06}", s / 3600, s / 60 % 60, s % 60)
        });
    let took = latency.map_or_else(String::new, span);
    look.style.put(out, Tone::Dim, &time);
    look.style.put(out, Tone::Note, &format!(" {took:>10} "));
    let look = Look {
        width: look.width.map(|width| width.saturating_sub(BEFORE)),
        ..look
    };
    line::write(decoded, None, look, out);
}

/// Writes the JSON object, with `latency_ms` where it answers another.
pub fn json(decoded: &Decoded<'_>, latency: Option<i64>, look: Look, out: &mut Vec<u8>) {
    json::write(decoded, None, look, out);
    if let Some(latency) = latency
        && out.ends_with(b"}\n")
    {
        out.truncate(out.len() - 2);
        let (ms, ns) = (latency / 1_000_000, latency.rem_euclid(1_000_000));
        out.extend_from_slice(format!(",\"latency_ms\":{ms}.{ns:06}}}\n").as_bytes());
    }
}

/// A span of time in three digits or so.
fn span(ns: i64) -> String {
    match ns {
        ns if ns < 1_000 => format!("{ns} ns"),
        ns if ns < 1_000_000 => format!("{} µs", ns / 1000),
        ns if ns < 1_000_000_000 => format!("{}.{} ms", ns / 1_000_000, ns / 100_000 % 10),
        ns => format!("{}.{:02} s", ns / 1_000_000_000, ns / 10_000_000 % 100),
    }
}

#[cfg(test)]
mod tests {
    use super::span;

    #[test]
    fn spans() {
        let cases = [
            (0, "0 ns"),
            (999, "999 ns"),
            (611_999, "611 µs"),
            (1_250_000, "1.2 ms"),
            (999_900_000, "999.9 ms"),
            (61_000_000_000, "61.00 s"),
        ];
        for (ns, want) in cases {
            assert_eq!(span(ns), want);
        }
    }
}
