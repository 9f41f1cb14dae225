//! Shows the progress of reading as a line on stderr, if that is a terminal and the work takes some time.
//!
//! ```text
//!    43 %
//! ```
//!
//! Other output to the terminal removes the line first, and so does the end.

use crate::capture::Time;
use crate::transport::now;
use std::io::{IsTerminal as _, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};

/// The time in nanoseconds before the line is shown.
const DELAY: Time = 1_000_000_000;

/// True if the line is on the terminal.
static SHOWN: AtomicBool = AtomicBool::new(false);

/// The progress of an input.
pub struct ReadProgress {
    start: Time,
    total: u64,
    /// The clock is not read before this number of bytes.
    next: u64,
}

impl ReadProgress {
    /// Creates the progress of `total` bytes; `None` if it is not wanted or stderr is not a terminal.
    pub fn new(total: u64, is_wanted: bool) -> Option<Self> {
        let seen = is_wanted && total > 0 && std::io::stderr().is_terminal();
        seen.then(|| Self {
            start: now(),
            total,
            next: 0,
        })
    }

    /// Sets the number of bytes that were read.
    pub fn set_done(&mut self, done: u64) {
        let start = self.start;
        if let Some(percent) = self.next_percent(done, || now().saturating_sub(start)) {
            let line = format!("\r{percent:3} %");
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
    fn progress_is_shown_after_a_second_and_for_each_percent() {
        let (soon, late) = (|| DELAY - 1, || DELAY);
        let of = |total| ReadProgress {
            start: 0,
            total,
            next: 0,
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
