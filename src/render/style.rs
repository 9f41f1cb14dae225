//! The one door to a screen: what comes from the wire is escaped, and colour is put on here, nowhere else.

pub use crate::escape::{escape, escape_json, is_active, shorten};

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
    use std::fmt::Write as _;
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
