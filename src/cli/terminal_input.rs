//! Waits for the input of a terminal. A read of crossterm never returns once the terminal is gone, so this looks first.

use super::poll::{PollFlags, poll};
use crate::system::AsFile;
use anyhow::{Context as _, Result};
use crossterm::event;
use std::time::Duration;

/// Waits for a key, the mouse or a new size.
///
/// # Errors
///
/// Fails if the terminal is gone, or cannot be read.
pub fn has_event(terminal: &impl AsFile, within: Duration) -> Result<bool> {
    let context = "cannot read from the terminal";
    wait_for_terminal(terminal, Duration::ZERO)?;
    if event::poll(Duration::ZERO).context(context)? {
        return Ok(true);
    }
    let rest = wait_for_terminal(terminal, within)?;
    event::poll(rest).context(context)
}

/// Waits until the terminal is readable. Returns the time to wait if the system cannot do that.
fn wait_for_terminal(terminal: &impl AsFile, within: Duration) -> Result<Duration> {
    // A signal, such as that of a new size, ends the wait.
    let found = poll(terminal, PollFlags::IN, within);
    anyhow::ensure!(
        !found.intersects(PollFlags::HUP | PollFlags::ERR),
        "the terminal is gone"
    );
    let is_refused = found.contains(PollFlags::NVAL);
    Ok(if is_refused { within } else { Duration::ZERO })
}
