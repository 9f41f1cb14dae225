//! Renders messages for people and for programs. Renderers know messages, not protocols.

pub(crate) mod fields;
pub(crate) mod findings;
pub mod hex;
pub mod json;
pub mod line;
pub(crate) mod masking;
#[cfg(feature = "cli")]
pub(crate) mod operation;
pub mod style;
pub mod subject;
pub mod tree;
pub(crate) mod wrap;

use crate::capture::Sources;
#[cfg(feature = "cli")]
use crate::conversation::Verdict;
#[cfg(feature = "cli")]
use crate::decoder::Decoded;
#[cfg(feature = "cli")]
use crate::protocol::Notes;
use crate::protocol::{Direction, Message};
#[cfg(feature = "cli")]
use line::Lines;
use std::borrow::Cow;
use style::Style;

/// Options of all renderers.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
#[allow(clippy::struct_excessive_bools)] // each is an option of its own
pub struct DisplayOptions {
    /// The color mode.
    pub style: Style,
    /// Secrets are shown.
    pub show_secrets: bool,
    /// The width of the terminal in columns, if lines must fit it.
    pub width: Option<usize>,
    /// The output goes to a terminal.
    pub terminal: bool,
    /// Offsets and lengths are left out, because they differ if values are left out.
    pub without_positions: bool,
    /// The message is not selected itself: it is near one that is, or of its pair.
    pub context: bool,
    /// The captures, if several are one conversation: messages show theirs.
    pub(crate) sources: Option<&'static Sources>,
    /// The name of the capture, if there are several and each is read alone.
    pub(crate) source: Option<&'static str>,
}

/// A format of messages.
#[cfg(feature = "snapshot")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Format {
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

#[cfg(feature = "snapshot")]
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
pub(crate) struct Renderer {
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

/// Returns the kind of a message, with `?` if it is a guess, or `none` if it has no kind.
fn kind_text<'a>(message: &'a Message<'_>, none: &'a str) -> Cow<'a, str> {
    match message.kind.as_ref() {
        "" => none.into(),
        kind if message.guess => format!("{kind}?").into(),
        kind => kind.into(),
    }
}

/// Returns an id as all outputs for people show it: of a long id its two ends, which differ from those of nearby ids.
pub(crate) fn short_id(id: &str) -> Cow<'_, str> {
    match ends_of_long_id(id) {
        None => Cow::Borrowed(id),
        Some([first, last]) => Cow::Owned([first, "…", last].concat()),
    }
}

/// Adds an id as [`short_id`] returns it.
fn push_short_id(id: &str, out: &mut String) {
    match ends_of_long_id(id) {
        None => out.push_str(id),
        Some([first, last]) => {
            out.push_str(first);
            out.push('…');
            out.push_str(last);
        }
    }
}

fn ends_of_long_id(id: &str) -> Option<[&str; 2]> {
    const ENDS: (usize, usize) = (5, 6);
    const MOST: usize = ENDS.0 + ENDS.1 + 1;
    // Most ids are ASCII, which has a character in each byte.
    let (first, last) = if id.len() <= MOST {
        return None;
    } else if id.is_ascii() {
        (ENDS.0, id.len() - ENDS.1)
    } else {
        let mut chars = id.char_indices();
        chars.clone().nth(MOST)?;
        (chars.clone().nth(ENDS.0)?.0, chars.nth_back(ENDS.1 - 1)?.0)
    };
    Some([id.get(..first)?, id.get(last..)?])
}

/// Returns the sign before the number of a message that is not selected itself, as grep marks such lines.
const fn context_sign(display: DisplayOptions) -> &'static str {
    if display.context { "-" } else { "" }
}

/// Returns an arrow for a direction, or a dot if it is unknown.
pub(crate) const fn arrow(direction: Option<Direction>) -> &'static str {
    match direction {
        Some(Direction::ToServer) => "→",
        Some(Direction::ToClient) => "←",
        None => "·",
    }
}
