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

/// Returns messages in the order of their names. The forms of one name keep their order.
pub(crate) fn by_name(messages: &'static [MessageSchema]) -> Vec<&'static MessageSchema> {
    let mut all: Vec<_> = messages.iter().collect();
    all.sort_by_key(|message| message.name);
    all
}

/// Returns the forms of one name, of messages in the order of their names.
pub(crate) fn forms_of<'m>(
    by_name: &'m [&'static MessageSchema],
    name: &str,
) -> &'m [&'static MessageSchema] {
    let start = by_name.partition_point(|message| message.name < name);
    let rest = by_name.get(start..).unwrap_or_default();
    let len = rest.iter().take_while(|message| message.name == name);
    rest.get(..len.count()).unwrap_or_default()
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
    #[must_use]
    pub const fn both_ways(self) -> Self {
        Self {
            both_ways: true,
            ..self
        }
    }
}
