//! Escapes text from the wire and adds color. No other file writes color codes.

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

#[cfg(feature = "cli")]
fn paint(out: &mut String, highlight: Highlight, text: &str) {
    use colored::Colorize as _;
    use std::fmt::Write as _;
    // The caller has decided about color, from the flag, the environment and the terminal.
    colored::control::set_override(true);
    let painted = match highlight {
        Highlight::Plain => text.normal(),
        Highlight::Dim => text.dimmed(),
        Highlight::Kind => text.bold(),
        Highlight::Key => text.cyan(),
        Highlight::Text => text.green(),
        Highlight::Number => text.yellow(),
        Highlight::Error => text.red().bold(),
        Highlight::Note => text.magenta(),
        Highlight::ToServer => text.blue(),
        Highlight::ToClient => text.green(),
    };
    let _ = write!(out, "{painted}");
}

#[cfg(not(feature = "cli"))]
fn paint(out: &mut String, _: Highlight, text: &str) {
    out.push_str(text);
}
