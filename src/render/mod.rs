//! Frames for people and for programs. Renderers know messages, never protocols.

pub mod fields;
pub mod hex;
pub mod json;
pub mod line;
pub mod style;
pub mod tree;

use crate::encoding::lossless::hex16;
use crate::protocol::{Direction, Id};
use std::borrow::Cow;
use style::Style;

/// How things are shown; the same for every renderer.
#[derive(Clone, Copy, Debug, Default)]
pub struct Look {
    /// Colours.
    pub style: Style,
    /// Secrets in clear.
    pub show_secrets: bool,
    /// Columns, where lines must fit a terminal.
    pub width: Option<usize>,
    /// Whether a terminal shows it.
    pub terminal: bool,
}

/// An id as people read it: JSON ids as spelled, so that `7` and `"7"` differ.
pub fn id_text<'a>(id: &'a Id<'_>) -> Cow<'a, str> {
    match id {
        Id::None => Cow::Borrowed(""),
        Id::Json(text) => Cow::Borrowed(text),
        Id::Text(text) => Cow::Borrowed(text),
        Id::Number(n) => Cow::Owned(n.to_string()),
        Id::Uuid(uuid) => {
            let mut out = Vec::with_capacity(36);
            write_uuid(uuid, &mut out);
            Cow::Owned(String::from_utf8(out).unwrap_or_default())
        }
    }
}

/// Lower-case and hyphenated.
fn write_uuid(uuid: &[u8; 16], out: &mut Vec<u8>) {
    let digits = hex16(uuid);
    let mut text = [b'-'; 36];
    for (to, from) in [
        (0..8, 0..8),
        (9..13, 8..12),
        (14..18, 12..16),
        (19..23, 16..20),
        (24..36, 20..32),
    ] {
        text[to].copy_from_slice(&digits[from]);
    }
    out.extend_from_slice(&text);
}

/// An arrow for a direction; a dot where none is known.
pub const fn arrow(direction: Option<Direction>) -> &'static str {
    match direction {
        Some(Direction::ToServer) => "→",
        Some(Direction::ToClient) => "←",
        None => "·",
    }
}
