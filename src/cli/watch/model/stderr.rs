//! Lines of stderr between the messages on the screen.

use super::Model;
use crate::cli::watch::command::Command;
use std::ops::Range;

/// A line of the messages on the screen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScreenLine {
    /// A message, by its row.
    Message(usize),
    /// A line of stderr, by its place among those of the store.
    Stderr(usize),
    /// So many further lines of stderr.
    More(usize),
}

impl Model {
    /// Shows lines of stderr between the messages, or no longer.
    pub(super) fn toggle_stderr(&mut self) {
        if self.shared.store().stderr.is_empty() && !self.look.shows_stderr {
            "no line of stderr is recorded so far".clone_into(&mut self.answer);
            return;
        }
        self.look.apply(Command::Stderr);
    }

    /// Returns the lines of the screen, with the selected message among them: moves the first row for that.
    pub fn screen_lines(&mut self) -> Vec<ScreenLine> {
        let row = self.selected_row();
        loop {
            let lines = self.lines_from(self.top);
            if self.top >= row || lines.contains(&ScreenLine::Message(row)) {
                return lines;
            }
            self.top += 1;
        }
    }

    /// Returns the lines of the screen from a row on.
    fn lines_from(&self, top: usize) -> Vec<ScreenLine> {
        let mut lines = Vec::new();
        // Half of the screen is for messages.
        let most = match self.message_at(top) {
            Some(_) => (self.height / 2).max(2),
            None => self.height,
        };
        if self.look.shows_stderr && top == 0 {
            let end = self.message_at(0).unwrap_or(usize::MAX);
            self.push_stderr(0..end.saturating_add(1), most, &mut lines);
        }
        let mut row = top;
        while lines.len() < self.height
            && let Some(index) = self.message_at(row)
        {
            lines.push(ScreenLine::Message(row));
            if self.look.shows_stderr {
                let next = self.message_at(row + 1);
                // Rows of a tree are in another order: only what follows the message itself.
                let end = match next {
                    _ if self.tree.is_some() => index + 1,
                    Some(next) => next,
                    None => self.message_count(),
                };
                self.push_stderr(index + 1..end + 1, most, &mut lines);
            }
            row += 1;
        }
        lines.truncate(self.height);
        lines
    }

    /// Adds lines of stderr that have so many messages before them, at most `most`.
    fn push_stderr(&self, after: Range<usize>, most: usize, lines: &mut Vec<ScreenLine>) {
        let store = self.shared.store();
        let all = &store.stderr;
        let first = all.partition_point(|line| line.after < after.start);
        let of_range = all.iter().enumerate().skip(first);
        let of_range = of_range.take_while(|(_, line)| line.after < after.end);
        let is_shown = |conn| self.only.is_none_or(|only| only.conn == Some(conn));
        let shown = of_range.filter(|(_, line)| is_shown(line.line().conn));
        let (mut count, start) = (0, lines.len());
        for (place, _) in shown {
            count += 1;
            if count <= most {
                lines.push(ScreenLine::Stderr(place));
            }
        }
        if count > most {
            lines.truncate(start + most - 1);
            lines.push(ScreenLine::More(count + 1 - most));
        }
    }
}
