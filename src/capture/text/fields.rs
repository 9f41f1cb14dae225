//! Directions in fields that stand after the message of their record.
//!
//! ```text
//!   msg | {"id":1}
//!   dir | out                 the direction of the message before it
//!   -[ RECORD 2 ]------       the record ends
//! ```
//!
//! The first message of a text tells the order of the fields. If nothing before it gives its direction, and a field of its
//! record after it does, directions stand after their messages throughout.

use super::directions::find_direction;
use super::marks::{Mark, indent};
use crate::protocol::Direction;

/// Where records have their directions.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum FieldOrder {
    #[default]
    Unknown,
    /// Before the message, or nowhere.
    DirectionFirst,
    MessageFirst,
}

/// A message whose direction may follow.
pub(super) struct HeldMessage {
    pub mark: Mark,
    pub message: Vec<u8>,
    /// The line that ends it.
    pub line: u64,
    /// The blanks before its first line.
    pub indent: usize,
}

/// The fields of the records of a text.
#[derive(Default)]
pub(super) struct Fields {
    order: FieldOrder,
    held: Option<HeldMessage>,
    /// Nothing that follows describes the held message.
    is_complete: bool,
}

impl Fields {
    /// Returns true if the direction of a message may follow.
    pub(super) fn may_follow(&mut self, mark: Mark) -> bool {
        if self.order == FieldOrder::Unknown && mark.direction.is_some() {
            self.order = FieldOrder::DirectionFirst;
        }
        self.order != FieldOrder::DirectionFirst && mark.direction.is_none()
    }

    pub(super) fn hold(&mut self, message: HeldMessage) {
        self.held = Some(message);
        self.is_complete = false;
    }

    /// Returns the held message.
    pub(super) fn release(&mut self) -> Option<HeldMessage> {
        let held = self.held.take()?;
        if self.order == FieldOrder::Unknown {
            self.order = FieldOrder::DirectionFirst;
        }
        Some(held)
    }

    /// Returns the held message if nothing that follows describes it.
    pub(super) fn release_complete(&mut self) -> Option<HeldMessage> {
        self.is_complete.then(|| self.release()).flatten()
    }

    /// Reads a line without a message; returns true if it is the direction of a message before it.
    pub(super) fn read(&mut self, line: &[u8]) -> bool {
        let direction = direction_field(line).filter(|_| self.order != FieldOrder::DirectionFirst);
        let Some(held) = &mut self.held else {
            return direction.is_some() && self.order == FieldOrder::MessageFirst;
        };
        if direction.is_some() {
            held.mark.direction = direction;
            self.order = FieldOrder::MessageFirst;
            self.is_complete = true;
        } else {
            self.is_complete |= ends_record(line, held.indent);
        }
        direction.is_some()
    }
}

/// Returns true if a line stands between two records.
fn ends_record(line: &[u8], message_indent: usize) -> bool {
    let is_outer = indent(line) == 0 && message_indent > 0;
    let first = line.trim_ascii().first();
    is_outer || first.is_none_or(|c| b"-*=+".contains(c))
}

/// The direction of a line that has nothing else: `dir | out`, `DIRECTION=send`, `direction: "recv"`, `^ sent to server`.
fn direction_field(line: &[u8]) -> Option<Direction> {
    let text = line.trim_ascii();
    if let Some(sentence) = text.strip_prefix(b"^ ") {
        return find_direction(sentence, b"");
    }
    let is_quote = |c: &u8| b"\"'".contains(c);
    // A logger writes its own columns before the field.
    let mut starts = text
        .iter()
        .enumerate()
        .filter(|(at, _)| *at == 0 || text.get(at - 1).is_some_and(u8::is_ascii_whitespace));
    let rest = starts.find_map(|(at, _)| after_name(text.get(at..)?))?;
    let rest = rest.strip_prefix(b"\"").unwrap_or(rest).trim_ascii();
    let (mark, value) = rest.split_first()?;
    let value = value.trim_ascii();
    let value = value.strip_suffix(b",").unwrap_or(value);
    let start = usize::from(value.first().is_some_and(is_quote));
    let value = value.get(start..)?;
    let value = value.get(..value.len() - usize::from(value.last().is_some_and(is_quote)))?;
    b":=|".contains(mark).then(|| find_direction(value, b""))?
}

/// Returns the text behind the name of a direction.
fn after_name(text: &[u8]) -> Option<&[u8]> {
    let text = text.strip_prefix(b"\"").unwrap_or(text);
    let len = text.iter().take_while(|c| c.is_ascii_alphabetic()).count();
    let (name, rest) = text.split_at_checked(len)?;
    let mut names = ["dir", "direction"].iter();
    names
        .any(|one| name.eq_ignore_ascii_case(one.as_bytes()))
        .then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use Direction::{ToClient, ToServer};

    #[test]
    fn lines_that_are_directions() {
        for (line, want) in [
            ("dir | out", Some(ToServer)),
            ("    DIRECTION=recv", Some(ToClient)),
            ("Direction : Receive", Some(ToClient)),
            ("    dir: \"send\"", Some(ToServer)),
            ("\"dir\": \"in\",", Some(ToClient)),
            ("^ sent to server", Some(ToServer)),
            ("dir", None),
            ("dir: /tmp", None),
            ("the dir is out", None),
            ("12:33:10 DEBUG rpc direction: out", Some(ToServer)),
            ("12:33:10 DEBUG rpc dir=in size=9", None),
            ("directory: in", None),
        ] {
            assert_eq!(direction_field(line.as_bytes()), want, "{line}");
        }
    }
}
