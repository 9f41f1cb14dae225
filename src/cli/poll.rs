//! Waits for a file or a pipe.

use super::print_message;
pub use crate::system::PollFlags;
use crate::system::{self, AsFile};
use std::io::Write as _;
use std::time::Duration;

/// The maximum time between two looks at a flag that ends a wait.
const MAX_WAIT: Duration = Duration::from_millis(50);

/// Returns the events that are there within some time, errors included; none after this time or a signal.
pub fn poll(file: &impl AsFile, events: PollFlags, within: Duration) -> PollFlags {
    system::poll(file, events, Some(within)).unwrap_or(PollFlags::empty())
}

/// Returns true if the file is readable or at its end within some time.
pub fn wait_readable(file: &impl AsFile, within: Duration) -> bool {
    !poll(file, PollFlags::IN, within).is_empty()
}

/// Waits as [`wait_readable`] does, without a time limit if `within` is `None`, until `stop` is set.
pub fn wait_readable_unless(
    file: &impl AsFile,
    within: Option<Duration>,
    is_stopped: &dyn Fn() -> bool,
) -> bool {
    let mut waited = Duration::ZERO;
    while !is_stopped() && within.is_none_or(|within| waited < within) {
        // A signal just before a wait does not end it: each wait is short.
        let step = within.map_or(MAX_WAIT, |within| {
            MAX_WAIT.min(within.saturating_sub(waited))
        });
        if wait_readable(file, step) {
            return true;
        }
        waited += step;
    }
    false
}

/// Prints a text, or drops it if the write would block: the parent process may read our stderr late or never.
pub fn print_nonblocking(text: &str) {
    if stderr_has_room() {
        print_message(text);
    }
}

/// Prints a text that is already escaped.
pub fn print_escaped_nonblocking(text: &str) {
    if stderr_has_room() {
        let _ = std::io::stderr().write_all(text.as_bytes());
    }
}

fn stderr_has_room() -> bool {
    !poll(&std::io::stderr(), PollFlags::OUT, Duration::ZERO).is_empty()
}
