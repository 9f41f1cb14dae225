//! How far reading has come: a line on stderr where that is a terminal and the work takes its time.
//!
//! ```text
//!    43 %
//! ```
//!
//! Whoever writes to the terminal clears it first, and so does its end.

use crate::capture::Time;
use crate::transport::now;
use std::io::{IsTerminal as _, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};

/// What is over sooner needs no line.
const PATIENCE: Time = 1_000_000_000;

/// Whether the line stands on the terminal.
static SHOWN: AtomicBool = AtomicBool::new(false);

/// How far the reading of an input has come.
pub struct Progress {
    start: Time,
    steps: Steps,
}

/// When there is something new to tell.
struct Steps {
    total: u64,
    /// So much must be done before the clock is looked at again.
    next: u64,
}

impl Progress {
    /// Of so many bytes; `None` where nobody wants to see it, or can.
    pub fn of(total: u64, is_wanted: bool) -> Option<Self> {
        let steps = Steps { total, next: 0 };
        let start = now();
        let seen = is_wanted && total > 0 && std::io::stderr().is_terminal();
        seen.then_some(Self { start, steps })
    }

    /// So many bytes were read.
    pub fn at(&mut self, done: u64) {
        let start = self.start;
        if let Some(percent) = self.steps.at(done, || now().saturating_sub(start)) {
            let line = format!("\r{percent:3} %");
            SHOWN.store(true, Ordering::Relaxed);
            let _ = std::io::stderr().write_all(line.as_bytes());
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        clear();
    }
}

impl Steps {
    fn at(&mut self, done: u64, elapsed: impl Fn() -> Time) -> Option<u64> {
        if done < self.next {
            return None;
        }
        self.next = done + (self.total / 100).max(1);
        let percent = u128::from(done) * 100 / u128::from(self.total.max(1));
        // More than all of it: the file grows.
        (elapsed() >= PATIENCE).then_some(percent.min(100) as u64)
    }
}

/// Takes the line away, where there is one.
pub fn clear() {
    if SHOWN.swap(false, Ordering::Relaxed) {
        let _ = std::io::stderr().write_all(b"\r     \r");
    }
}

#[test]
fn it_is_told_after_a_second_and_a_hundredth_at_a_time() {
    let (soon, late) = (|| PATIENCE - 1, || PATIENCE);
    let mut steps = Steps {
        total: 1000,
        next: 0,
    };
    assert_eq!(steps.at(0, soon), None);
    assert_eq!(steps.at(100, soon), None);
    assert_eq!(steps.at(105, late), None);
    assert_eq!(steps.at(110, late), Some(11));
    assert_eq!(steps.at(119, late), None);
    assert_eq!(steps.at(1000, late), Some(100));
    assert_eq!(steps.at(5000, late), Some(100));
    let mut steps = Steps {
        total: u64::MAX,
        next: 0,
    };
    assert_eq!(steps.at(u64::MAX / 2, late), Some(49));
}
