//! Whether an input has something to be read.

use super::FOLLOW;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::fs::File;
use std::time::Duration;

/// Whether there is something to read, or the end, within some time.
pub(super) fn readable(file: &File, within: Duration) -> bool {
    let mut fds = [PollFd::new(file, PollFlags::IN)];
    let timeout = Timespec {
        tv_sec: within.as_secs().try_into().unwrap_or(i64::MAX),
        tv_nsec: within.subsec_nanos().into(),
    };
    poll(&mut fds, Some(&timeout)).is_ok_and(|ready| ready > 0)
}

/// The same, without a limit if there is none, unless it is time to stop.
pub(super) fn readable_unless(
    file: &File,
    within: Option<Duration>,
    is_stopped: &dyn Fn() -> bool,
) -> bool {
    let mut waited = Duration::ZERO;
    while !is_stopped() && within.is_none_or(|within| waited < within) {
        // A signal that comes just before a wait does not end it: no wait is long.
        let step = within.map_or(FOLLOW, |within| FOLLOW.min(within.saturating_sub(waited)));
        if readable(file, step) {
            return true;
        }
        waited += step;
    }
    false
}
