//! Waits until an input is readable.

use super::FOLLOW_INTERVAL;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::fs::File;
use std::time::Duration;

/// Returns true if the file is readable or at its end within some time.
pub(super) fn wait_readable(file: &File, within: Duration) -> bool {
    let mut fds = [PollFd::new(file, PollFlags::IN)];
    let timeout = Timespec {
        tv_sec: within.as_secs().try_into().unwrap_or(i64::MAX),
        tv_nsec: within.subsec_nanos().into(),
    };
    poll(&mut fds, Some(&timeout)).is_ok_and(|ready| ready > 0)
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
