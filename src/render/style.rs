//! The one door to a screen: what comes from the wire is escaped here, and colour is put on here, nowhere else.

use std::borrow::Cow;
use std::fmt::Write as _;

/// What a piece of text is; the only thing a renderer says about looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// As it is.
    Plain,
    /// Offsets, punctuation, what one reads past.
    Dim,
    /// A kind or a method.
    Kind,
    /// A key or a field's name.
    Key,
    /// Text.
    Text,
    /// A number, a bool, null.
    Number,
    /// What is wrong.
    Bad,
    /// What is noteworthy.
    Note,
    /// What went to the server.
    Out,
    /// What came back.
    Back,
}

/// Whether colours are put on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Style {
    /// Colours on.
    pub color: bool,
}

impl Style {
    /// Text of ours, in its tone.
    pub fn put(self, out: &mut String, tone: Tone, text: &str) {
        if self.color {
            paint(out, tone, text);
        } else {
            out.push_str(text);
        }
    }

    /// Text from the wire, escaped, in its tone.
    pub fn wire(self, out: &mut String, tone: Tone, text: &str) {
        self.put(out, tone, &escape(text));
    }
}

#[cfg(feature = "cli")]
fn paint(out: &mut String, tone: Tone, text: &str) {
    use colored::Colorize as _;
    // Whether there is colour at all was decided by our caller, from the flag, the environment and the terminal.
    colored::control::set_override(true);
    let painted = match tone {
        Tone::Plain => text.normal(),
        Tone::Dim => text.dimmed(),
        Tone::Kind => text.bold(),
        Tone::Key => text.cyan(),
        Tone::Text => text.green(),
        Tone::Number => text.yellow(),
        Tone::Bad => text.red().bold(),
        Tone::Note => text.magenta(),
        Tone::Out => text.blue(),
        Tone::Back => text.green(),
    };
    let _ = write!(out, "{painted}");
}

#[cfg(not(feature = "cli"))]
fn paint(out: &mut String, _: Tone, text: &str) {
    out.push_str(text);
}

/// Whether a character may do something to a terminal, or to the order in which text is read.
pub fn is_active(c: char) -> bool {
    // C0, DEL, C1; bidi marks, embeddings, isolates; line and paragraph separators; the byte order mark.
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

/// Makes active characters visible: `\n`, `\u{1b}`.
pub fn escape(text: &str) -> Cow<'_, str> {
    if !text.contains(is_active) {
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

/// Makes active characters in JSON text visible, as JSON spells them. None of them can stand outside a string.
pub fn escape_json(text: &str) -> Cow<'_, str> {
    if !text.contains(is_active) {
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

/// At most `max` characters, with an ellipsis where some were left out.
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
    fn nothing_active_gets_through() {
        let hostile = "a\u{1b}[31m\u{9b}b\u{202e}c\r\n\u{7f}\u{feff}";
        assert_eq!(
            escape(hostile),
            r"a\u{1b}[31m\u{9b}b\u{202e}c\r\n\u{7f}\u{feff}"
        );
        assert_eq!(escape_json("\u{7f}\u{85}é"), r"\u007f\u0085é");
        assert!(!escape(hostile).contains(is_active));
    }

    #[test]
    fn shortened_by_characters() {
        assert_eq!(shorten("héllo", 5), "héllo");
        assert_eq!(shorten("héllo!", 5), "héll…");
    }
}
