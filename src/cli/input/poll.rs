//! Waits until an input is readable.

use super::FOLLOW_INTERVAL;
use crate::cli::poll::poll;
use rustix::event::PollFlags;
use std::fs::File;
use std::time::Duration;

/// Returns true if the file is readable or at its end within some time.
pub(super) fn wait_readable(file: &File, within: Duration) -> bool {
    !poll(file, PollFlags::IN, within).is_empty()
}

/// Waits as [`wait_readable`] does, without a time limit if `within` is `None`, until `stop` is set.
pub(super) fn wait_readable_unless(
    file: &File,
    within: Option<Duration>,
    is_stopped: &dyn Fn() -> bool,
) -> bool {
    let mut waited = Duration::ZERO;
    while !is_stopped() && within.is_none_or(|within| waited < within) {
        // A signal just before a wait does not end it: each wait is short.
        let step = within.map_or(FOLLOW_INTERVAL, |within| {
            FOLLOW_INTERVAL.min(within.saturating_sub(waited))
        });
        if wait_readable(file, step) {
            return true;
        }
        waited += step;
    }
    false
}
