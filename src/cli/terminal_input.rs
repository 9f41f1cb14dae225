//! Waits for the input of a terminal. A read of crossterm never returns once the terminal is gone, so this looks first.

use super::poll::{PollFlags, poll};
use crate::system::AsFile;
use anyhow::{Context as _, Result};
use crossterm::event::{self, Event, KeyCode, KeyEventKind, KeyModifiers};
use crossterm::terminal::{disable_raw_mode, enable_raw_mode};
use std::time::Duration;

/// What a key asks for, or that none was pressed.
pub enum Answer {
    Next,
    Quit,
    Interrupt,
}

/// Raw mode of the terminal, until it is dropped.
pub struct RawMode;

impl RawMode {
    pub fn begin() -> Result<Self> {
        enable_raw_mode().context("cannot read single keys from this terminal")?;
        Ok(Self)
    }
}

impl Drop for RawMode {
    fn drop(&mut self) {
        let _ = disable_raw_mode();
    }
}

/// Waits for a key for some time.
///
/// # Errors
///
/// Fails as [`has_event`] does.
pub fn wait_for_key(terminal: &impl AsFile, within: Duration) -> Result<Answer> {
    let _raw = RawMode::begin()?;
    if !has_event(terminal, within)? {
        return Ok(Answer::Next);
    }
    let Event::Key(key) = event::read().context("cannot read from the terminal")? else {
        return Ok(Answer::Next);
    };
    let has_control = key.modifiers.contains(KeyModifiers::CONTROL);
    Ok(match key.code {
        KeyCode::Char('c') if has_control => Answer::Interrupt,
        KeyCode::Char('q') | KeyCode::Esc if key.kind != KeyEventKind::Release => Answer::Quit,
        _ => Answer::Next,
    })
}

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
