//! The kinds of messages, for completions and output.

use super::MessageSchema;
use crate::protocol::Kind;

/// Returns the kinds of messages, each once. A kind has no role if its forms have several.
pub fn kinds<'m>(messages: impl IntoIterator<Item = &'m MessageSchema>) -> Vec<Kind> {
    let mut kinds: Vec<Kind> = Vec::new();
    for message in messages {
        let &MessageSchema {
            name, role, about, ..
        } = message;
        let Some(kind) = kinds.iter_mut().find(|kind| kind.name == name) else {
            kinds.push(Kind { name, role, about });
            continue;
        };
        kind.role = kind.role.filter(|_| kind.role == role);
        if kind.about.is_empty() {
            kind.about = about;
        }
    }
    kinds
}

impl MessageSchema {
    /// Returns true if this is the name. It compares the first and the last byte first: most names differ there, and
    /// the comparison of whole texts is a call.
    pub(crate) fn is_named(&self, name: &str) -> bool {
        let ends = |text: &str| {
            (
                text.as_bytes().first().copied(),
                text.as_bytes().last().copied(),
            )
        };
        ends(self.name) == ends(name) && self.name == name
    }

    /// Both sides send the message; the direction is that of `make`.
    pub const fn both_ways(mut self) -> Self {
        self.both_ways = true;
        self
    }
}
