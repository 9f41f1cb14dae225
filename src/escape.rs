//! Escapes text from the wire for a screen.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Returns `true` if a character can control a terminal, change the reading order of text, or is invisible: terminals
/// disagree about the width of invisible characters.
pub fn is_active(c: char) -> bool {
    // C0, DEL, C1; bidi marks, embeddings, isolates; line and paragraph separators.
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
        || matches!(c, '\u{ad}' | '\u{34f}' | '\u{180e}' | '\u{200b}'..='\u{200d}' | '\u{2060}'..='\u{2065}'
            | '\u{206a}'..='\u{206f}' | '\u{3164}' | '\u{ffa0}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
}

/// Returns `true` if a text has active characters. Only those that are not printable ASCII are read.
fn has_active(mut text: &str) -> bool {
    let is_printable = |b: u8| matches!(b, b' '..=b'~');
    // Most texts have no others, which one pass without branches decides.
    let others = |text: &str| text.bytes().fold(0, |n, b| n | u8::from(!is_printable(b)));
    if others(text) == 0 {
        return false;
    }
    while let Some(at) = text.bytes().position(|b| !is_printable(b)) {
        let mut rest = text.get(at..).unwrap_or_default().chars();
        if rest.next().is_none_or(is_active) {
            return true;
        }
        text = rest.as_str();
    }
    false
}

/// Makes active characters visible: `\n`, `\u{1b}`.
pub fn escape(text: &str) -> Cow<'_, str> {
    if !has_active(text) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if is_active(c) => {
                let _ = write!(out, "\\u{{{:x}}}", c as u32);
            }
            c => out.push(c),
        }
    }
    Cow::Owned(out)
}

/// Makes active characters in JSON text visible, with JSON escapes. None of them can be outside a
/// string.
pub fn escape_json(text: &str) -> Cow<'_, str> {
    if !has_active(text) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        if is_active(c) && c != '\n' {
            for unit in c.encode_utf16(&mut [0; 2]) {
                let _ = write!(out, "\\u{unit:04x}");
            }
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

/// Returns at most `max` characters, with an ellipsis if some were left out.
pub fn shorten(text: &str, max: usize) -> Cow<'_, str> {
    if text.len() <= max || text.char_indices().nth(max).is_none() {
        Cow::Borrowed(text)
    } else {
        let cut = text
            .char_indices()
            .nth(max.saturating_sub(1))
            .map_or(0, |(at, _)| at);
        Cow::Owned(format!("{}…", text.get(..cut).unwrap_or_default()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn active_characters_are_escaped() {
        let hostile = "a\u{1b}[31m\u{9b}b\u{202e}c\r\n\u{7f}\u{feff}";
        assert_eq!(
            escape(hostile),
            r"a\u{1b}[31m\u{9b}b\u{202e}c\r\n\u{7f}\u{feff}"
        );
        assert_eq!(escape_json("\u{7f}\u{85}é"), r"\u007f\u0085é");
        assert_eq!(escape_json("\u{e0041}"), r"\udb40\udc41");
        assert!(!escape(hostile).contains(is_active));
    }

    #[test]
    fn invisible_characters_are_escaped() {
        for c in "\u{200b}\u{200c}\u{200d}\u{2060}\u{feff}\u{ad}\u{180e}\u{e0041}".chars() {
            let wanted = format!("a\\u{{{:x}}}b", c as u32);
            assert_eq!(escape(&format!("a{c}b")), wanted);
        }
        // Combining marks and variants of emoji are shown.
        assert_eq!(escape("e\u{301} ❤\u{fe0f}"), "e\u{301} ❤\u{fe0f}");
    }

    #[test]
    fn text_is_shortened_by_characters() {
        assert_eq!(shorten("héllo", 5), "héllo");
        assert_eq!(shorten("héllo!", 5), "héll…");
    }
}
