//! Recordings of a terminal by asciinema: events with parts of texts, which end anywhere.
//!
//! ```text
//!   {"version":2,"width":80,"height":24,"timestamp":1773453780}
//!   [0.11,"o","{\"jsonrpc\":\"2.0\",\"id\":1,\"met"]
//!   [0.12,"o","hod\":\"ping\"}\r\n"]
//! ```

use crate::capture::time::Time;
use serde::Deserialize;

/// The most bytes of a line that is held.
const MAX_HELD: usize = 16 << 20;
/// A second, in nanoseconds.
const SECOND: f64 = 1e9;

/// A line that was on the terminal, and when its end was written.
pub(super) type ShownLine = (Vec<u8>, Option<Time>);

#[derive(Default)]
pub(super) struct Cast {
    /// The text is such a recording.
    is_found: bool,
    /// When it began.
    started: Option<Time>,
    /// The times of events count from the event before, as since version 3.
    is_relative: bool,
    now: f64,
    /// The starts of lines, of the input and of the output.
    open: [Vec<u8>; 2],
}

#[derive(Deserialize)]
struct Header {
    version: u8,
    width: Option<u32>,
    term: Option<serde::de::IgnoredAny>,
    timestamp: Option<f64>,
}

impl Cast {
    /// Reads a line of the file; returns the lines that it ends, or `None` if it is no recording.
    pub(super) fn add(&mut self, line: &[u8], number: u64) -> Option<Vec<ShownLine>> {
        if number == 1 && line.starts_with(b"{\"version\"") {
            let header: Header = serde_json::from_slice(line).ok()?;
            self.is_found = header.width.is_some() || header.term.is_some();
            self.is_relative = header.version >= 3;
            self.started = header.timestamp.map(|seconds| (seconds * SECOND) as Time);
            return self.is_found.then(Vec::new);
        }
        if !self.is_found {
            return None;
        }
        let Ok((time, kind, text)) = serde_json::from_slice::<(f64, String, String)>(line) else {
            return Some(Vec::new());
        };
        self.now = if self.is_relative {
            self.now + time
        } else {
            time
        };
        let time = self
            .started
            .map(|start| start.saturating_add((self.now * SECOND) as Time));
        let is_output = match &*kind {
            "o" => true,
            "i" => false,
            _ => return Some(Vec::new()),
        };
        let mut ended = Vec::new();
        let open = &mut self.open[usize::from(is_output)];
        for part in text.as_bytes().split_inclusive(|&c| c == b'\n') {
            open.extend_from_slice(part);
            if part.ends_with(b"\n") || open.len() > MAX_HELD {
                ended.push((std::mem::take(open), time));
            }
        }
        Some(ended)
    }

    /// Returns the lines that have no end.
    pub(super) fn finish(&mut self) -> Vec<ShownLine> {
        let open = std::mem::take(&mut self.open).into_iter();
        open.filter(|line| !line.is_empty())
            .map(|line| (line, None))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_lines_are_joined() {
        for (lines, want) in [
            (
                &[
                    "{\"version\":2,\"width\":80,\"height\":24,\"timestamp\":10}",
                    "[0.5,\"o\",\"a\"]",
                    "[1,\"i\",\"x\\r\\n\"]",
                    "[2,\"o\",\"b\\r\\nc\"]",
                ][..],
                &[("x\r\n", Some(11)), ("ab\r\n", Some(12)), ("c", None)][..],
            ),
            (
                &[
                    "{\"version\":3,\"term\":{\"cols\":80}}",
                    "[1,\"o\",\"a\\n\"]",
                    "[1,\"r\",\"80x24\"]",
                ],
                &[("a\n", None)],
            ),
            // Any number is a time.
            (
                &[
                    "{\"version\":2,\"width\":80,\"timestamp\":1e300}",
                    "[1e300,\"o\",\"a\\n\"]",
                ],
                &[("a\n", Some(Time::MAX / 1_000_000_000))],
            ),
            (
                &["{\"version\":\"1.0\",\"log\":{}}", "[1,\"o\",\"a\\n\"]"],
                &[],
            ),
        ] {
            let mut cast = Cast::default();
            let mut found = Vec::new();
            for (line, number) in lines.iter().zip(1..) {
                found.extend(cast.add(line.as_bytes(), number).unwrap_or_default());
            }
            found.extend(cast.finish());
            let found: Vec<_> = found
                .iter()
                .map(|(line, time)| {
                    (
                        std::str::from_utf8(line).unwrap(),
                        time.map(|t| t / 1_000_000_000),
                    )
                })
                .collect();
            assert_eq!(found, want, "{lines:?}");
        }
    }
}
