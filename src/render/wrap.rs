//! Wraps lines at words to the width of the terminal.

use super::DisplayOptions;
use unicode_width::UnicodeWidthChar as _;

/// Adds the text that `write` writes as a line, with its line end. On a terminal, further lines are indented by `indent`
/// columns. In a file it stays one line.
pub fn write_wrapped(
    display: DisplayOptions,
    indent: usize,
    out: &mut String,
    write: impl FnOnce(&mut String),
) {
    let Some(width) = display.width else {
        write(out);
        out.push('\n');
        return;
    };
    let mut line = String::new();
    write(&mut line);
    // On a very narrow terminal, words need the full width.
    let indent = if width < 3 * indent { 0 } else { indent };
    let mut column = 0;
    let mut is_first = true;
    for word in line.split_inclusive(' ') {
        let wide = columns(word.trim_end_matches(' '));
        if column + wide > width && !is_first {
            let end = out.trim_end_matches(' ').len();
            out.truncate(end);
            out.push('\n');
            out.extend(std::iter::repeat_n(' ', indent));
            column = indent;
        }
        out.push_str(word);
        column += columns(word);
        is_first &= wide == 0;
    }
    out.push('\n');
}

/// Returns the number of columns of a text; color codes take none.
pub fn columns(text: &str) -> usize {
    let mut code = false;
    let wide = text.chars().map(|c| {
        code |= c == '\u{1b}';
        let wide = if code { 0 } else { c.width().unwrap_or(0) };
        code &= c != 'm';
        wide
    });
    wide.sum()
}
