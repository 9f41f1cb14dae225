//! The kinds of messages, for completions and output.

use super::Message;
use crate::protocol::Kind;

/// The kinds of messages, each once. A kind has no role where its forms have several.
pub fn kinds<'m>(messages: impl IntoIterator<Item = &'m Message>) -> Vec<Kind> {
    let mut kinds: Vec<Kind> = Vec::new();
    for message in messages {
        let &Message {
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
