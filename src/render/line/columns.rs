//! Selects the columns of a line, keeps their widths, and lays out their cells.
//!
//! ```text
//!   120 and more   index offset conn who time kind subject id latency detail
//!   100 to 119     index conn time kind subject id latency detail
//!    76 to 99      index conn kind subject id latency detail
//!    64 to 75      index kind subject id latency detail, narrower
//!   under 64       index kind subject id outcome, all narrower
//! ```
//!
//! `who` is the client, if its messages name it and rules are checked. If several captures are one conversation, the name of the capture is before the connection.
//!
//! Widths grow with what is shown. A subject that is too long continues in blank columns after it. Output to a file or pipe has
//! the columns of 120, and only arguments and results are cut.

use super::super::DisplayOptions;
use super::super::style::{Highlight, Style, escape};
use super::super::wrap::columns;
use std::borrow::Cow;
use unicode_width::UnicodeWidthChar as _;

/// The number of columns of output that does not go to a terminal.
const PIPE_WIDTH: usize = 120;
/// The minimum width for arguments and results if nothing is cut.
const MIN_CONTENT: usize = 40;
/// The maximum width for the text of an error in that case.
const MAX_ERROR: usize = 160;
/// Precedes each cell of a line that is written without a layout. Text from the wire cannot contain it.
#[cfg(feature = "cli")]
const MARK: char = '\u{1}';

/// The columns before arguments and results.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Column {
    Index,
    Offset,
    Source,
    Conn,
    Who,
    Time,
    Arrow,
    Kind,
    Subject,
    Id,
    Latency,
}

impl Column {
    pub const ALL: [Self; 11] = [
        Self::Index,
        Self::Offset,
        Self::Source,
        Self::Conn,
        Self::Who,
        Self::Time,
        Self::Arrow,
        Self::Kind,
        Self::Subject,
        Self::Id,
        Self::Latency,
    ];

    /// Returns true if the column can have text from the wire.
    pub const fn has_wire_text(self) -> bool {
        matches!(
            self,
            Self::Source | Self::Who | Self::Kind | Self::Subject | Self::Id
        )
    }

    const fn is_right_aligned(self) -> bool {
        matches!(
            self,
            Self::Index | Self::Offset | Self::Time | Self::Latency
        )
    }
}

/// A value for each column.
pub(super) type Widths = [usize; Column::ALL.len()];
/// The text of each column with its width.
pub(super) type Cells<'t> = [(&'t str, usize); Column::ALL.len()];

/// The first widths if the next messages are not known. They fit most lines.
pub(super) const USUAL: Widths = [5, 8, 0, 0, 0, 0, 1, 4, 12, 4, 0];
/// The first widths if the first lines are known.
#[cfg(feature = "cli")]
pub(super) const LEAST: Widths = [3, 1, 0, 2, 0, 0, 1, 4, 0, 0, 0];

/// The columns that fit an output.
pub(super) struct Columns {
    /// The maximum widths; 0: the column is not shown.
    pub most: Widths,
    /// Arguments and results are shown.
    pub content: bool,
    /// The minimum width for the text of an error.
    pub error: usize,
    /// Text that is too long for its column is cut.
    pub cuts: bool,
    /// Long subjects do not widen their column, so that other lines stay as they are.
    is_stable: bool,
    width: usize,
    least: usize,
}

impl Columns {
    /// Returns the columns that fit.
    pub fn new(display: DisplayOptions) -> Self {
        let cuts = display.width.is_some();
        let width = display.width.unwrap_or(PIPE_WIDTH);
        let (kind, subject, id) = match width {
            0..48 => (8, 8, 6),
            48..64 => (10, 12, 8),
            64..76 => (12, 16, 8),
            76..100 => (13, 24, 12),
            100..160 => (16, width * 7 / 20, 12),
            _ => (26, width * 7 / 20, 12),
        };
        let source = match width {
            0..76 => 6,
            76..120 => 10,
            _ => 16,
        };
        let from = |least: usize, most: usize| if width >= least { most } else { 0 };
        let offset = if display.without_positions { 0 } else { 20 };
        Self {
            most: [
                20,
                from(120, offset),
                if display.sources.is_some() { source } else { 0 },
                from(76, 12),
                from(120, if display.without_positions { 0 } else { 16 }),
                from(100, 12),
                1,
                if cuts { kind } else { 26 },
                subject,
                id,
                from(64, 8),
            ],
            content: width >= 64 && !display.without_positions,
            error: if cuts { 0 } else { MAX_ERROR },
            cuts,
            is_stable: display.without_positions,
            width,
            least: if cuts { 0 } else { MIN_CONTENT },
        }
    }

    pub fn shows(&self, column: Column) -> bool {
        self.most[column as usize] > 0
    }

    /// Returns the width that is left after `used` columns.
    pub fn detail_width(&self, used: usize) -> usize {
        self.width.saturating_sub(used).max(self.least)
    }

    /// Widens columns for a line.
    pub fn widen(&self, cells: &Cells<'_>, widths: &mut Widths) {
        for column in Column::ALL {
            let (at, (_, wide)) = (column as usize, cells[column as usize]);
            if wide == 0 || column == Column::Subject && self.is_stable {
                continue;
            }
            let free = self.free(column, cells, widths);
            widths[at] = widths[at].max(wide.saturating_sub(free).min(self.most[at]));
        }
    }

    /// Returns the width of the blank columns in which a cell can continue.
    fn free(&self, column: Column, cells: &Cells<'_>, widths: &Widths) -> usize {
        if column != Column::Subject {
            return 0;
        }
        let next = Column::ALL.iter().skip(column as usize + 1);
        let blank = next.take_while(|next| cells[**next as usize].1 == 0);
        blank.map(|next| self.step(*next, widths)).sum()
    }

    /// Returns the width of a column with the blank after it.
    fn step(&self, column: Column, widths: &Widths) -> usize {
        match widths[column as usize].min(self.most[column as usize]) {
            0 => 0,
            wide => wide + 1,
        }
    }

    /// Adds the cells of a line. Returns the column where arguments and results begin; if they are blank, a subject
    /// continues there, too.
    pub fn place(
        &self,
        cells: &Cells<'_>,
        widths: &Widths,
        is_blank: bool,
        out: &mut String,
    ) -> usize {
        let (mut start, mut used) = (0, 0);
        for column in Column::ALL {
            let (text, wide) = cells[column as usize];
            let step = self.step(column, widths);
            if wide > 0 && step > 0 {
                let space = if is_blank && column == Column::Subject && continues(cells) {
                    wide
                } else {
                    step - 1 + self.free(column, cells, widths)
                };
                let shown = if self.cuts { wide.min(space) } else { wide };
                let shift = if column.is_right_aligned() {
                    (step - 1).saturating_sub(shown)
                } else {
                    0
                };
                let begin = used.max(start + shift);
                push_blank(begin - used, out);
                let shown = if shown < wide {
                    cut(text, shown, out)
                } else {
                    out.push_str(text);
                    wide
                };
                out.push(' ');
                used = begin + shown + 1;
            }
            start += step;
        }
        push_blank(start.saturating_sub(used), out);
        used.max(start)
    }
}

/// Returns true if the subject of a line can continue in blank columns after it.
pub(super) fn continues(cells: &Cells<'_>) -> bool {
    let is_blank = |column: Column| cells[column as usize].1 == 0;
    !is_blank(Column::Subject) && is_blank(Column::Id) && is_blank(Column::Latency)
}

pub(in crate::render) fn push_blank(columns: usize, out: &mut String) {
    const BLANK: &str = "                                ";
    let mut left = columns;
    while left > 0 {
        let some = BLANK.get(..left).unwrap_or(BLANK);
        out.push_str(some);
        left -= some.len();
    }
}

/// Returns the number of columns of a text without color codes.
pub(super) fn width(text: &str) -> usize {
    let (mut rest, mut wide) = (text, 0);
    while let Some(at) = rest.bytes().position(|b| !b.is_ascii()) {
        let mut chars = rest.get(at..).unwrap_or_default().chars();
        wide += at + chars.next().map_or(0, char_width);
        rest = chars.as_str();
    }
    wide + rest.len()
}

fn char_width(c: char) -> usize {
    if c.is_ascii() {
        1
    } else {
        c.width().unwrap_or(0)
    }
}

/// Returns the start of a text that fits the width, with an ellipsis if the text is cut.
pub(in crate::render) fn fit(text: &str, space: usize) -> Cow<'_, str> {
    if text.len() <= space {
        return Cow::Borrowed(text);
    }
    // ASCII text has a column for each byte: only what follows it is measured.
    let start = text.as_bytes().get(..space).unwrap_or_default();
    let plain = if start.is_ascii() {
        space
    } else {
        start.iter().take_while(|b| b.is_ascii()).count()
    };
    let plain = plain.saturating_sub(1);
    let (mut used, mut end) = (plain, plain);
    for (at, c) in text.get(plain..).unwrap_or_default().char_indices() {
        if used < space {
            end = plain + at;
        }
        used += char_width(c);
        if used > space {
            return match text.get(..end).unwrap_or_default() {
                _ if space == 0 => Cow::Borrowed(""),
                start if start.ends_with('…') => Cow::Borrowed(start),
                start => Cow::Owned([start, "…"].concat()),
            };
        }
    }
    Cow::Borrowed(text)
}

/// Adds a line, cut with an ellipsis at the width of the terminal.
pub(in crate::render) fn push_cut(line: &str, display: DisplayOptions, out: &mut String) {
    match display.width.filter(|width| columns(line) > *width) {
        None => out.push_str(line),
        Some(width) => {
            cut(line, width, out);
        }
    }
    out.push('\n');
}

/// Adds the start of a line that is longer than the space, an ellipsis, and all color codes, so that no color stays on.
/// Returns the number of columns that it adds.
pub(super) fn cut(line: &str, space: usize, out: &mut String) -> usize {
    let (mut code, mut full, mut used) = (false, false, 0);
    for c in line.chars() {
        code |= c == '\u{1b}';
        if code {
            out.push(c);
            code = c != 'm';
            continue;
        }
        let wide = char_width(c);
        if !full && used + wide >= space {
            if !out.ends_with('…') && space > 0 {
                out.push('…');
                used += 1;
            }
            full = true;
        }
        if !full {
            used += wide;
            out.push(c);
        }
    }
    used
}

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
        (text, columns(text))
    });
    Some((cells, parts.next().unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::fit;

    #[test]
    fn a_text_is_cut_at_its_column() {
        for (text, space, want) in [
            ("abc", 3, "abc"),
            ("abcd", 3, "ab…"),
            ("abcd", 0, ""),
            ("aécd", 3, "aé…"),
            ("ab長d", 4, "ab…"),
            ("ab長", 4, "ab長"),
            ("abc…def", 4, "abc…"),
            ("長長長", 3, "長…"),
        ] {
            assert_eq!(fit(text, space), want, "{text} {space}");
        }
    }
}
