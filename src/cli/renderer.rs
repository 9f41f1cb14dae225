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
