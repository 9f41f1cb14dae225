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
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        return text.len();
    }
    let mut code = false;
    let wide = text.chars().map(|c| {
        code |= c == '\u{1b}';
        let wide = if code { 0 } else { c.width().unwrap_or(0) };
        code &= c != 'm';
        wide
    });
    wide.sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decoder::{DecodeOptions, Decoder};
    use crate::protocol::session::{Place, Waiting};
    use crate::protocol::{Direction, Notes, Origin, registry};
    use crate::render::{findings, tree};

    #[test]
    fn faults_and_open_requests_wrap() {
        const WIDTH: usize = 50;
        let waiting = Waiting {
            place: Place {
                index: 7,
                len: 20,
                ..Place::default()
            },
            what: "call math.add".to_owned(),
            id: "12".to_owned(),
            owes: Some(Direction::ToClient),
            side: None,
            nests: false,
            blocked_by: None,
            why: Some("the connection is closed (the process has exited)".to_owned()),
        };
        let wide = DisplayOptions::default();
        let narrow = DisplayOptions {
            width: Some(WIDTH),
            ..wide
        };
        let write = |display| {
            let mut out = String::new();
            let sides = ["client", "server"];
            findings::write_waiting(&waiting, None, sides, display, &mut out);
            let lsp = registry::find("lsp").unwrap();
            let mut decoder = Decoder::new(DecodeOptions::new(vec![lsp]));
            let mut sink = |decoded: &crate::decoder::Decoded<'_>| {
                tree::write(decoded, None, display, &mut Notes::default(), &mut out);
            };
            decoder.push(Origin::default(), b"[info] ready\n", &mut sink);
            decoder.finish(&mut sink);
            out
        };
        // A file has one line for each.
        let (wide, narrow) = (write(wide), write(narrow));
        assert!(wide.lines().any(|line| columns(line) > WIDTH), "{wide}");
        let words =
            |text: &str| -> Vec<String> { text.split_whitespace().map(Into::into).collect() };
        assert_eq!(words(&wide), words(&narrow));
        let of_text = narrow.lines().filter(|line| !line.starts_with('#'));
        assert!(
            of_text.clone().all(|line| columns(line) <= WIDTH),
            "{narrow}"
        );
        assert!(of_text.count() > 5, "{narrow}");
    }
}
