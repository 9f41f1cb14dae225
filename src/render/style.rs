//! Escapes text from the wire and adds color. No other file writes color codes.

use colored::Color;

pub use crate::escape::{escape, escape_json, is_active, shorten};

/// The meaning of a piece of text, from which its color follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Highlight {
    /// Default color.
    Plain,
    /// Offsets, punctuation, and other secondary text.
    Dim,
    /// A kind or a method.
    Kind,
    /// A key or the name of a field.
    Key,
    /// Text.
    Text,
    /// A number, a bool, or null.
    Number,
    /// An error.
    Error,
    /// A warning or a note.
    Note,
    /// A message to the server.
    ToServer,
    /// A message to the client.
    ToClient,
}

/// The color mode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Style {
    /// Color is on.
    pub color: bool,
}

impl Style {
    /// Adds text of wiretool in its color.
    pub fn push(self, out: &mut String, highlight: Highlight, text: &str) {
        if self.color {
            paint(out, highlight, text);
        } else {
            out.push_str(text);
        }
    }

    /// Adds text from the wire, escaped, in its color.
    pub fn push_wire(self, out: &mut String, highlight: Highlight, text: &str) {
        self.push(out, highlight, &escape(text));
    }
}

impl Highlight {
    /// Returns the attribute and the color, as parameters of a control sequence (ECMA-48, SGR).
    fn code(self) -> (&'static str, Option<Color>) {
        match self {
            Self::Plain => ("", None),
            Self::Dim => ("2", None),
            Self::Kind => ("1", None),
            Self::Key => ("", Some(Color::Cyan)),
            Self::Text | Self::ToClient => ("", Some(Color::Green)),
            Self::Number => ("", Some(Color::Yellow)),
            Self::Error => ("1", Some(Color::Red)),
            Self::Note => ("", Some(Color::Magenta)),
            Self::ToServer => ("", Some(Color::Blue)),
        }
    }

    /// Adds the control sequence that switches it on. The one of `colored` depends on a switch of the whole process.
    fn push_code(self, out: &mut String) {
        let (attribute, color) = self.code();
        let color = color.map(|color| color.to_fg_str());
        let separator = match color {
            Some(_) if !attribute.is_empty() => ";",
            _ => "",
        };
        let color = color.as_deref().unwrap_or_default();
        for part in ["\u{1b}[", attribute, separator, color, "m"] {
            out.push_str(part);
        }
    }
}

fn paint(out: &mut String, highlight: Highlight, text: &str) {
    if highlight == Highlight::Plain {
        return out.push_str(text);
    }
    highlight.push_code(out);
    out.push_str(text);
    out.push_str("\u{1b}[0m");
}

/// Splits text that [`Style::push`] has written with color into its parts: for a screen that draws colors itself. Text
/// from the wire cannot contain color codes, because it is escaped.
#[cfg(feature = "cli")]
pub(crate) fn split(text: &str) -> Vec<(Highlight, &str)> {
    let (mut parts, mut highlight, mut rest) = (Vec::new(), Highlight::Plain, text);
    while !rest.is_empty() {
        let end = rest.find('\u{1b}').unwrap_or(rest.len());
        let (part, after) = rest.split_at(end);
        if !part.is_empty() {
            parts.push((highlight, part));
        }
        let code = after.find('m').map_or(after.len(), |at| at + 1);
        let (code, after) = after.split_at(code);
        let known = ALL_TONES.into_iter().find(|highlight| {
            let mut own = String::new();
            highlight.push_code(&mut own);
            code == own
        });
        highlight = known.unwrap_or(Highlight::Plain);
        rest = after;
    }
    parts
}

#[cfg(feature = "cli")]
const ALL_TONES: [Highlight; 10] = [
    Highlight::Plain,
    Highlight::Dim,
    Highlight::Kind,
    Highlight::Key,
    Highlight::Text,
    Highlight::Number,
    Highlight::Error,
    Highlight::Note,
    Highlight::ToServer,
    Highlight::ToClient,
];

#[cfg(all(test, feature = "cli"))]
mod tests {
    use super::*;

    #[test]
    fn color_is_a_property_of_the_style_alone() {
        let painted = |color, highlight| {
            let mut text = String::new();
            Style { color }.push(&mut text, highlight, "x");
            text
        };
        assert_eq!(painted(true, Highlight::Error), "\u{1b}[1;31mx\u{1b}[0m");
        assert_eq!(painted(true, Highlight::Key), "\u{1b}[36mx\u{1b}[0m");
        assert_eq!(painted(false, Highlight::Error), "x");
        assert_eq!(painted(true, Highlight::Plain), "x");
    }

    #[test]
    fn written_text_splits_into_its_tones() {
        let style = Style { color: true };
        let mut text = String::from("a ");
        for highlight in ALL_TONES {
            style.push(&mut text, highlight, tone_name(highlight));
            text.push(' ');
        }
        // Tones of the same color are the first of them.
        let parts: Vec<_> = split(&text)
            .into_iter()
            .filter(|(_, part)| *part != " ")
            .collect();
        for highlight in ALL_TONES.into_iter().skip(1) {
            let found = parts.iter().find(|(_, part)| *part == tone_name(highlight));
            let found = found.expect("each part is found").0;
            let same = [found, highlight]
                .iter()
                .all(|t| matches!(t, Highlight::Text | Highlight::ToClient));
            assert!(found == highlight || same, "{found:?} {highlight:?}");
        }
        style.push_wire(&mut text, Highlight::Kind, "\u{1b}[31m");
        assert_eq!(split(&text).last(), Some(&(Highlight::Kind, r"\u{1b}[31m")));
    }

    fn tone_name(highlight: Highlight) -> &'static str {
        [
            "plain", "dim", "kind", "key", "text", "number", "error", "note", "to", "from",
        ][highlight as usize]
    }
}
