//! Shows the progress of reading as a line on stderr, if that is a terminal and the work takes some time.
//!
//! ```text
//!    43 %  118 MB/s  12 s left
//! ```
//!
//! Other output to the terminal removes the line first, and so does the end.

use crate::capture::Time;
use crate::transport::now;
use std::io::{IsTerminal as _, Write as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The time in nanoseconds before the line is shown.
const DELAY: Time = 1_000_000_000;

/// The width of the line.
const WIDTH: usize = 38;

/// True if the line is on the terminal.
static SHOWN: AtomicBool = AtomicBool::new(false);

/// Is told the number of bytes that were read, and that of all, instead of the terminal.
pub type ProgressSink = Arc<dyn Fn(u64, u64) + Send + Sync>;

/// The progress of an input.
pub struct ReadProgress {
    start: Time,
    total: u64,
    /// The clock is not read before this number of bytes.
    next: u64,
    sink: Option<ProgressSink>,
}

impl ReadProgress {
    /// Creates the progress of `total` bytes; `None` if it is not wanted or stderr is not a terminal.
    pub fn new(total: u64, is_wanted: bool) -> Option<Self> {
        let seen = is_wanted && total > 0 && std::io::stderr().is_terminal();
        seen.then(|| Self {
            start: now(),
            total,
            next: 0,
            sink: None,
        })
    }

    /// Creates the progress of `total` bytes for a sink, which is told each step.
    pub fn for_sink(total: u64, sink: ProgressSink) -> Self {
        Self {
            start: now(),
            total,
            next: 0,
            sink: Some(sink),
        }
    }

    /// Sets the number of bytes that were read.
    pub fn set_done(&mut self, done: u64) {
        if let Some(sink) = &self.sink {
            return sink(done, self.total);
        }
        if done < self.next {
            return;
        }
        let start = self.start;
        let elapsed = now().saturating_sub(start);
        if let Some(percent) = self.next_percent(done, || elapsed) {
            let speed = speed(done, self.total, elapsed);
            let line = format!("\r{:WIDTH$}", format!("{percent:3} %{speed}"));
            SHOWN.store(true, Ordering::Relaxed);
            let _ = std::io::stderr().write_all(line.as_bytes());
        }
    }

    fn next_percent(&mut self, done: u64, elapsed: impl Fn() -> Time) -> Option<u64> {
        if done < self.next {
            return None;
        }
        self.next = done + (self.total / 100).max(1);
        let percent = u128::from(done) * 100 / u128::from(self.total.max(1));
        // The file may have grown.
        (elapsed() >= DELAY).then_some(percent.min(100) as u64)
    }
}

/// Returns the rate, and how long the rest takes at this rate: `  118 MB/s  12 s left`.
#[allow(clippy::cast_precision_loss, clippy::cast_sign_loss)] // the line has three digits
fn speed(done: u64, total: u64, elapsed: Time) -> String {
    let seconds = elapsed as f64 / 1e9;
    let rate = done as f64 / seconds;
    if !rate.is_finite() || rate < 1.0 {
        return String::new();
    }
    let rest = total.saturating_sub(done) as f64 / rate;
    let rest = match rest.ceil() as u64 {
        seconds @ 0..120 => format!("{seconds} s"),
        seconds @ 120..7200 => format!("{} min", seconds.div_ceil(60)),
        seconds => format!("{} h", seconds.div_ceil(3600)),
    };
    let (rate, unit) = match rate {
        1e6.. => (rate / 1e6, "MB/s"),
        1e3.. => (rate / 1e3, "kB/s"),
        _ => (rate, "B/s"),
    };
    let digits = usize::from(rate < 10.0);
    format!("  {rate:.digits$} {unit}  {rest} left")
}

impl Drop for ReadProgress {
    fn drop(&mut self) {
        clear();
    }
}

/// Shows a line of progress on a terminal; a later one replaces it.
pub fn show(text: &str) {
    if std::io::stderr().is_terminal() {
        clear();
        SHOWN.store(true, Ordering::Relaxed);
        let _ = std::io::stderr().write_all(format!("\r{text}").as_bytes());
    }
}

/// Removes the line, if it is shown.
pub fn clear() {
    if SHOWN.swap(false, Ordering::Relaxed) {
        let _ = std::io::stderr().write_all(b"\r\x1b[K");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rate_and_rest_have_usual_units() {
        const SECOND: Time = 1_000_000_000;
        for (done, total, elapsed, wanted) in [
            (0, 100, SECOND, ""),
            (100, 0, 0, ""),
            (500, 1000, SECOND, "  500 B/s  1 s left"),
            (3_000, 6_001, SECOND, "  3.0 kB/s  2 s left"),
            (
                236_000_000,
                3_000_000_000,
                2 * SECOND,
                "  118 MB/s  24 s left",
            ),
            (
                236_000_000,
                100_000_000_000,
                2 * SECOND,
                "  118 MB/s  15 min left",
            ),
            (2_000_000, 1 << 40, SECOND, "  2.0 MB/s  153 h left"),
            (7_000_000, 6_000_000, SECOND, "  7.0 MB/s  0 s left"),
        ] {
            let text = speed(done, total, elapsed);
            assert_eq!(text, wanted, "{done} of {total}");
            assert!(text.len() + 5 <= WIDTH);
        }
    }

    #[test]
    fn progress_is_shown_after_a_second_and_for_each_percent() {
        let (soon, late) = (|| DELAY - 1, || DELAY);
        let of = |total| ReadProgress {
            start: 0,
            total,
            next: 0,
            sink: None,
        };
        let mut steps = of(1000);
        assert_eq!(steps.next_percent(0, soon), None);
        assert_eq!(steps.next_percent(100, soon), None);
        assert_eq!(steps.next_percent(105, late), None);
        assert_eq!(steps.next_percent(110, late), Some(11));
        assert_eq!(steps.next_percent(119, late), None);
        assert_eq!(steps.next_percent(1000, late), Some(100));
        assert_eq!(steps.next_percent(5000, late), Some(100));
        let mut steps = of(u64::MAX);
        assert_eq!(steps.next_percent(u64::MAX / 2, late), Some(49));
    }
}
