//! Renders messages for people and for programs. Renderers know messages, not protocols.

pub(crate) mod fields;
pub(crate) mod findings;
#[cfg(feature = "snapshot")]
pub(crate) mod format;
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
use crate::protocol::{Direction, Message};
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
