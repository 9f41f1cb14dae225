//! Frames for people and for programs. Renderers know messages, never protocols.

pub(crate) mod fields;
pub(crate) mod findings;
pub mod hex;
pub mod json;
pub mod line;
pub(crate) mod live;
pub mod style;
pub mod tree;

use crate::protocol::{Direction, Message};
use std::borrow::Cow;
use style::Style;

/// How things are shown; the same for every renderer.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct Look {
    /// Colours.
    pub style: Style,
    /// Secrets in clear.
    pub show_secrets: bool,
    /// Columns, where lines must fit a terminal.
    pub width: Option<usize>,
    /// Whether a terminal shows it.
    pub terminal: bool,
    /// Without offsets and lengths, which differ where values are left out.
    pub unplaced: bool,
}

/// The kind of a message, with `?` where it is a guess; `none` where it has no kind.
fn kind<'a>(message: &'a Message<'_>, none: &'a str) -> Cow<'a, str> {
    match message.kind.as_ref() {
        "" => none.into(),
        kind if message.guess => format!("{kind}?").into(),
        kind => kind.into(),
    }
}

/// An arrow for a direction; a dot where none is known.
pub(crate) const fn arrow(direction: Option<Direction>) -> &'static str {
    match direction {
        Some(Direction::ToServer) => "→",
        Some(Direction::ToClient) => "←",
        None => "·",
    }
}
