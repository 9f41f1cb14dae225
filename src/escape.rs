//! Escapes text from the wire for a screen.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Returns `true` if a character can control a terminal, or change the reading order of text.
pub fn is_active(c: char) -> bool {
    // C0, DEL, C1; bidi marks, embeddings, isolates; line and paragraph separators; the byte order mark.
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
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
            let _ = write!(out, "\\u{:04x}", c as u32);
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

/// Returns at most `max` characters, with an ellipsis if some were left out.
pub fn shorten(text: &str, max: usize) -> Cow<'_, str> {
    if text.char_indices().nth(max).is_none() {
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
        assert!(!escape(hostile).contains(is_active));
    }

    #[test]
    fn text_is_shortened_by_characters() {
        assert_eq!(shorten("héllo", 5), "héllo");
        assert_eq!(shorten("héllo!", 5), "héll…");
    }
}
