//! Selects the columns of a line and their widths.
//!
//! ```text
//!   120 and more   index offset conn time kind subject id latency detail
//!   100 to 119     conn time kind subject id latency detail
//!    76 to 99      conn kind subject id latency detail
//!    64 to 75      conn kind subject id detail
//!   under 64       conn kind subject id outcome, all narrower
//! ```
//!
//! Output to a file or pipe has the columns of 120, and only arguments and results are cut.

use super::super::DisplayOptions;
use super::super::wrap::columns;
use std::borrow::Cow;
use unicode_width::UnicodeWidthChar as _;

/// The number of columns of output that does not go to a terminal.
const PIPE_WIDTH: usize = 120;
/// The width of `10:00:00.120`.
pub(super) const TIME_WIDTH: usize = 12;
/// The width of `999.9 ms`.
pub(super) const LATENCY_WIDTH: usize = 8;
/// The minimum width for arguments and results if nothing is cut.
const MIN_CONTENT: usize = 40;
/// The maximum width for the text of an error in that case.
const MAX_ERROR: usize = 160;

/// The columns of a line.
pub(super) struct Columns {
    pub index: Option<usize>,
    pub offset: Option<usize>,
    pub time: bool,
    pub kind: usize,
    pub subject: usize,
    pub id: usize,
    pub latency: bool,
    /// Arguments and results are shown.
    pub content: bool,
    /// The minimum width for the text of an error.
    pub error: usize,
    width: usize,
    least: usize,
}

impl Columns {
    /// Returns the columns that fit. `kinds` is the length of the longest kind, `ids` of the longest id.
    pub fn new(display: DisplayOptions, kinds: usize, ids: usize, time: bool) -> Self {
        let width = display.width.unwrap_or(PIPE_WIDTH);
        let (kind, subject, id) = match width {
            0..48 => (8, 8, 6),
            48..64 => (10, 12, 8),
            64..100 => (13, 18, 12),
            100..160 => (16, 20, 12),
            _ => (26, 32, 12),
        };
        let kind = match display.width {
            None => kinds.clamp(4, 26),
            Some(_) => kinds.clamp(4, kind),
        };
        Self {
            index: (width >= 120).then_some(5),
            offset: (width >= 120 && !display.without_positions).then_some(8),
            time: time && width >= 100,
            kind,
            subject,
            id: id.min(ids),
            latency: time && width >= 76,
            content: width >= 64 && !display.without_positions,
            error: if display.width.is_some() {
                0
            } else {
                MAX_ERROR
            },
            width,
            least: if display.width.is_some() {
                0
            } else {
                MIN_CONTENT
            },
        }
    }

    /// Returns the width that is left after `used` columns.
    pub fn detail_width(&self, used: usize) -> usize {
        self.width.saturating_sub(used).max(self.least)
    }
}

/// Returns the number of columns of a text without color codes.
pub(super) fn width(text: &str) -> usize {
    if text.is_ascii() {
        return text.len();
    }
    text.chars().map(char_width).sum()
}

fn char_width(c: char) -> usize {
    if c.is_ascii() {
        1
    } else {
        c.width().unwrap_or(0)
    }
}

/// Returns the start of a text that fits the width, with an ellipsis if the text is cut.
pub(super) fn fit(text: &str, space: usize) -> Cow<'_, str> {
    if text.len() <= space {
        return Cow::Borrowed(text);
    }
    // ASCII text has a column for each byte: only what follows it is measured.
    let plain = text.bytes().take(space).position(|b| !b.is_ascii());
    let plain = plain.unwrap_or(space).saturating_sub(1);
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
pub(super) fn push_cut(line: &str, display: DisplayOptions, out: &mut String) {
    match display.width.filter(|width| columns(line) > *width) {
        None => out.push_str(line),
        Some(width) => cut(line, width.saturating_sub(1), out),
    }
    out.push('\n');
}

/// Adds the start of a line that fits the width, an ellipsis, and all color codes, so that no color stays on.
fn cut(line: &str, mut space: usize, out: &mut String) {
    let (mut code, mut full) = (false, false);
    for c in line.chars() {
        code |= c == '\u{1b}';
        if code {
            out.push(c);
            code = c != 'm';
            continue;
        }
        let wide = c.width().unwrap_or(0);
        if !full && wide > space {
            if !out.ends_with('…') {
                out.push('…');
            }
            full = true;
        }
        if !full {
            space -= wide;
            out.push(c);
        }
    }
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
