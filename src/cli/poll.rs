//! Waits for an event of a file, a pipe or a terminal.

use rustix::event::{PollFd, PollFlags, Timespec};
use std::os::fd::AsFd;
use std::time::Duration;

/// Returns the events that are there within some time, errors included; none after this time or a signal.
pub fn poll(file: &impl AsFd, events: PollFlags, within: Duration) -> PollFlags {
    let mut fds = [PollFd::new(file, events)];
    let timeout = Timespec {
        tv_sec: within.as_secs().try_into().unwrap_or(i64::MAX),
        tv_nsec: within.subsec_nanos().into(),
    };
    let polled = rustix::event::poll(&mut fds, Some(&timeout));
    let [fd] = &fds;
    polled.map_or(PollFlags::empty(), |_| fd.revents())
}
