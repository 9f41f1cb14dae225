//! Escapes text from the wire and adds color. No other file writes color codes.

pub use crate::escape::{escape, escape_json, is_active, shorten};

/// The meaning of a piece of text, from which its color follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
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
    pub fn push(self, out: &mut String, tone: Tone, text: &str) {
        if self.color {
            paint(out, tone, text);
        } else {
            out.push_str(text);
        }
    }

    /// Adds text from the wire, escaped, in its color.
    pub fn push_wire(self, out: &mut String, tone: Tone, text: &str) {
        self.push(out, tone, &escape(text));
    }
}

#[cfg(feature = "cli")]
fn paint(out: &mut String, tone: Tone, text: &str) {
    use colored::Colorize as _;
    use std::fmt::Write as _;
    // The caller has decided about color, from the flag, the environment and the terminal.
    colored::control::set_override(true);
    let painted = match tone {
        Tone::Plain => text.normal(),
        Tone::Dim => text.dimmed(),
        Tone::Kind => text.bold(),
        Tone::Key => text.cyan(),
        Tone::Text => text.green(),
        Tone::Number => text.yellow(),
        Tone::Error => text.red().bold(),
        Tone::Note => text.magenta(),
        Tone::ToServer => text.blue(),
        Tone::ToClient => text.green(),
    };
    let _ = write!(out, "{painted}");
}

#[cfg(not(feature = "cli"))]
fn paint(out: &mut String, _: Tone, text: &str) {
    out.push_str(text);
}
