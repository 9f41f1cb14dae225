//! Shows messages in any format.

use crate::conversation::Verdict;
use crate::decoder::Decoded;
use crate::protocol::Notes;
use crate::render::format::Format;
use crate::render::line::Lines;
use crate::render::{DisplayOptions, hex, json, tree};

/// Renders the messages of a run.
#[derive(Default)]
pub struct Renderer {
    notes: Notes,
    lines: Lines,
    text: String,
}

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
