//! The terminal: the whole screen, raw keys and the mouse, until the end, a panic or a suspension.

use crate::cli::terminal_input::has_event;
use anyhow::{Context as _, Result};
use crossterm::cursor::{Hide, Show};
use crossterm::event::{DisableMouseCapture, EnableMouseCapture};
use crossterm::execute;
use crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use ratatui::backend::CrosstermBackend;
use ratatui::{Frame, Terminal};
use std::fs::File;
use std::io::{self, BufWriter, Write as _};
use std::mem::ManuallyDrop;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The number of bytes of a redraw that are written at once: a write for each cell takes most of the time.
const DRAW_SIZE: usize = 64 << 10;

/// The full screen of the terminal, until it is dropped.
pub(super) struct FullScreen {
    /// Not dropped at the end: it would show the cursor once more, and panic if the terminal is gone.
    terminal: ManuallyDrop<Terminal<CrosstermBackend<BufWriter<File>>>>,
    out: File,
    /// Set by SIGTSTP.
    suspended: Arc<AtomicBool>,
}

impl FullScreen {
    /// Takes the terminal over. A panic gives it back before it prints.
    pub fn begin(out: File) -> Result<Self> {
        let context = "cannot use the terminal";
        let suspended = Arc::<AtomicBool>::default();
        #[cfg(unix)]
        signal_hook::flag::register(signal_hook::consts::SIGTSTP, Arc::clone(&suspended))
            .context(context)?;
        let hook_out = out.try_clone().context(context)?;
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            leave(&hook_out);
            before(info);
        }));
        enter(&out).context(context)?;
        let screen = Self {
            terminal: ManuallyDrop::new(new_terminal(&out).context(context)?),
            out,
            suspended,
        };
        Ok(screen)
    }

    pub fn draw(&mut self, draw: impl FnOnce(&mut Frame<'_>)) -> Result<()> {
        let drawn = self.terminal.draw(draw);
        drawn.context("cannot write to the terminal")?;
        Ok(())
    }

    /// Waits for a key, the mouse or a new size. Fails if the terminal is gone.
    pub fn has_event(&self, within: Duration) -> Result<bool> {
        has_event(&self.out, within)
    }

    /// Asks the terminal to put a text on the clipboard (OSC 52).
    pub fn copy(&mut self, text: &str) -> Result<()> {
        use base64::Engine as _;
        let text = base64::engine::general_purpose::STANDARD.encode(text);
        let written = write!(self.out, "\u{1b}]52;c;{text}\u{7}").and_then(|()| self.out.flush());
        written.context("cannot write to the terminal")
    }

    /// Returns true after SIGTSTP.
    pub fn is_suspended(&self) -> bool {
        self.suspended.swap(false, Ordering::Relaxed)
    }

    /// Gives the terminal back, stops the process, and takes the terminal over again when it continues.
    pub fn suspend(&mut self) -> Result<()> {
        #[cfg(unix)]
        {
            use signal_hook::low_level::emulate_default_handler;
            let stop = |_: &File| emulate_default_handler(signal_hook::consts::SIGTSTP);
            self.outside(stop)?.context("cannot suspend")?;
        }
        Ok(())
    }

    /// Gives the terminal to a function, and takes it over again.
    pub fn outside<T>(&mut self, run: impl FnOnce(&File) -> T) -> Result<T> {
        leave(&self.out);
        let result = run(&self.out);
        enter(&self.out).context("cannot use the terminal")?;
        // A new one draws all cells. To clear the old one, it would ask the terminal for its cursor, and take keys as answers.
        *self.terminal = new_terminal(&self.out).context("cannot use the terminal")?;
        Ok(result)
    }
}

impl Drop for FullScreen {
    fn drop(&mut self) {
        leave(&self.out);
    }
}

fn new_terminal(out: &File) -> io::Result<Terminal<CrosstermBackend<BufWriter<File>>>> {
    let cells = BufWriter::with_capacity(DRAW_SIZE, out.try_clone()?);
    Terminal::new(CrosstermBackend::new(cells))
}

fn enter(mut out: &File) -> io::Result<()> {
    enable_raw_mode()?;
    let entered = execute!(out, EnterAlternateScreen, EnableMouseCapture, Hide);
    if entered.is_err() {
        leave(out);
    }
    entered
}

fn leave(mut out: &File) {
    let _ = execute!(out, Show, DisableMouseCapture, LeaveAlternateScreen);
    let _ = disable_raw_mode();
}

#[cfg(all(test, target_os = "linux"))]
mod tests;
