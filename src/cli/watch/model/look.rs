//! Switches of the screen that select no message.

use crate::cli::watch::command::Command;

/// The number of columns of a horizontal step.
const STEP: usize = 8;

/// The way panes show their text.
#[allow(clippy::struct_excessive_bools)] // each is a switch of its own
pub(in crate::cli::watch) struct Look {
    /// Long lines of the tree continue on the next row.
    pub wraps: bool,
    /// Only the pane with the focus shows.
    pub zooms: bool,
    /// The number of columns that are scrolled out on the left.
    pub column: usize,
    /// Times are relative to the line before.
    pub shows_delta: bool,
    /// Lines of stderr show between the messages.
    pub shows_stderr: bool,
}

impl Look {
    pub const fn new() -> Self {
        Self {
            wraps: false,
            zooms: false,
            column: 0,
            shows_delta: true,
            shows_stderr: false,
        }
    }

    /// Carries out a command about the look.
    pub fn apply(&mut self, command: Command) {
        match command {
            Command::Wrap => (self.wraps, self.column) = (!self.wraps, 0),
            Command::Zoom => self.zooms = !self.zooms,
            Command::Scroll { right: true } => self.column = self.column.saturating_add(STEP),
            Command::Scroll { right: false } => self.column = self.column.saturating_sub(STEP),
            Command::Stderr => self.shows_stderr = !self.shows_stderr,
            Command::Delta => self.shows_delta = !self.shows_delta,
            _ => {}
        }
    }
}
