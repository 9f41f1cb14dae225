//! The formats in which messages are shown, and the writer of all of them.

#[cfg(feature = "cli")]
use super::{DisplayOptions, hex, json, line::Lines, tree};
#[cfg(feature = "cli")]
use crate::conversation::Verdict;
#[cfg(feature = "cli")]
use crate::decoder::Decoded;
#[cfg(feature = "cli")]
use crate::protocol::Notes;

/// A format of messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// Every field with its byte range.
    #[default]
    Tree,
    /// One line for each message.
    Line,
    /// One JSON object for each message.
    Json,
    /// Bytes next to their fields.
    Hex,
}

impl Format {
    /// All formats.
    pub const ALL: [Self; 4] = [Self::Tree, Self::Line, Self::Json, Self::Hex];

    /// The name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tree => "tree",
            Self::Line => "line",
            Self::Json => "json",
            Self::Hex => "hex",
        }
    }

    /// Returns the format with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.name() == name)
    }
}

/// Writes the messages of a run in a format.
#[cfg(feature = "cli")]
#[derive(Default)]
pub struct Renderer {
    notes: Notes,
    lines: Lines,
    text: String,
}

#[cfg(feature = "cli")]
impl Renderer {
    /// Holds back the layout of the next lines, until [`Renderer::lay_out`].
    pub fn hold(&mut self) {
        self.lines.hold();
    }

    /// Lays out the lines that were written since [`Renderer::hold`].
    pub fn lay_out(&mut self, held: &[u8], display: DisplayOptions, out: &mut Vec<u8>) {
        self.text.clear();
        let held = String::from_utf8_lossy(held);
        self.lines.lay_out(&held, display, &mut self.text);
        out.extend_from_slice(self.text.as_bytes());
    }

    /// Stores the request of later answers, from a message that is not shown.
    pub fn skip(&mut self, decoded: &Decoded<'_>) {
        self.lines.skip(decoded);
    }

    /// Lets the next line show the time of day.
    pub fn restart_times(&mut self) {
        self.lines.set_last_time(None);
    }

    /// Writes a message, with its line end.
    pub fn write(
        &mut self,
        format: Format,
        decoded: &Decoded<'_>,
        verdict: Option<Verdict<'_>>,
        display: DisplayOptions,
        out: &mut Vec<u8>,
    ) {
        let Self { notes, lines, text } = self;
        text.clear();
        match format {
            Format::Json => json::write(decoded, verdict, display, out),
            Format::Line => lines.write(decoded, verdict, display, text),
            Format::Tree => tree::write(decoded, verdict, display, notes, text),
            Format::Hex => hex::write(decoded, verdict, display, notes, text),
        }
        out.extend_from_slice(text.as_bytes());
    }
}
