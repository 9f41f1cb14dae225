//! Waits for the input of a terminal. A read of crossterm never returns once the terminal is gone, so this looks first.

use anyhow::{Context as _, Result};
use crossterm::event;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::os::fd::AsFd;
use std::time::Duration;

/// Waits for a key, the mouse or a new size.
///
/// # Errors
///
/// Fails if the terminal is gone, or cannot be read.
pub fn has_event(terminal: impl AsFd, within: Duration) -> Result<bool> {
    let context = "cannot read from the terminal";
    wait_readable(&terminal, Duration::ZERO)?;
    if event::poll(Duration::ZERO).context(context)? {
        return Ok(true);
    }
    let rest = wait_readable(&terminal, within)?;
    event::poll(rest).context(context)
}

/// Waits until the terminal is readable. Returns the time to wait if the system cannot do that.
fn wait_readable(terminal: impl AsFd, within: Duration) -> Result<Duration> {
    let mut fds = [PollFd::new(&terminal, PollFlags::IN)];
    let timeout = Timespec {
        tv_sec: within.as_secs().try_into().unwrap_or(i64::MAX),
        tv_nsec: within.subsec_nanos().into(),
    };
    // A signal, such as that of a new size, ends the wait.
    let ready = poll(&mut fds, Some(&timeout)).is_ok_and(|ready| ready > 0);
    let [fd] = &fds;
    let found = fd.revents();
    anyhow::ensure!(
        !ready || !found.intersects(PollFlags::HUP | PollFlags::ERR),
        "the terminal is gone"
    );
    Ok(if ready && found.contains(PollFlags::NVAL) {
        within
    } else {
        Duration::ZERO
    })
}
