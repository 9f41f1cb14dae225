//! The cells of a line before they are laid out.

use super::super::style::{Highlight, Style, escape};
use super::columns::{Cells, Column, width};
use std::borrow::Cow;

/// Precedes each cell of a line that is written without a layout. Text from the wire cannot contain it.
#[cfg(feature = "cli")]
const MARK: char = '\u{1}';

/// The escaped and colored text of each column.
#[derive(Default)]
pub(super) struct CellText {
    text: String,
    /// The end of each cell in the text, and its width.
    ends: [(usize, usize); Column::ALL.len()],
    count: usize,
}

impl CellText {
    pub fn clear(&mut self) {
        self.text.clear();
        self.count = 0;
    }

    /// Adds the text of a column. Columns are added in their order; those that are left out are blank.
    pub fn push(&mut self, column: Column, style: Style, highlight: Highlight, text: &str) {
        self.skip_to(column as usize);
        if text.is_empty() {
            return;
        }
        let text = if column.has_wire_text() {
            escape(text)
        } else {
            Cow::Borrowed(text)
        };
        style.push(&mut self.text, highlight, &text);
        self.add(width(&text));
    }

    fn skip_to(&mut self, column: usize) {
        while self.count < column {
            self.add(0);
        }
    }

    fn add(&mut self, wide: usize) {
        if let Some(end) = self.ends.get_mut(self.count) {
            *end = (self.text.len(), wide);
        }
        self.count += 1;
    }

    /// Returns the cells of a complete line.
    pub fn finish(&mut self) -> Cells<'_> {
        self.skip_to(Column::ALL.len());
        let mut start = 0;
        self.ends.map(|(end, wide)| {
            let text = self.text.get(start..end).unwrap_or_default();
            start = end;
            (text, wide)
        })
    }
}

/// Adds a line with marks. [`split`] reads it.
#[cfg(feature = "cli")]
pub(super) fn write_marked(cells: &Cells<'_>, detail: &str, out: &mut String) {
    for (text, _) in cells {
        out.push(MARK);
        out.push_str(text);
    }
    out.push(MARK);
    out.push_str(detail);
    out.push('\n');
}

/// Returns the cells of a line with marks, and its arguments or results; of another line nothing.
#[cfg(feature = "cli")]
pub(super) fn split(line: &str) -> Option<(Cells<'_>, &str)> {
    let mut parts = line.strip_prefix(MARK)?.splitn(Column::ALL.len() + 1, MARK);
    let cells = Column::ALL.map(|_| {
        let text = parts.next().unwrap_or_default();
        (text, super::super::wrap::columns(text))
    });
    Some((cells, parts.next().unwrap_or_default()))
}
