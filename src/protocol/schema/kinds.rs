//! The kinds of messages, for completions and output.

use super::MessageSchema;
use super::head::HeadPlaces;
use crate::protocol::Kind;

/// Returns the kinds of messages, each once. A kind has no role if its forms have several.
pub fn kinds<'m>(messages: impl IntoIterator<Item = &'m MessageSchema>) -> Vec<Kind> {
    let mut kinds: Vec<Kind> = Vec::new();
    for message in messages {
        let &MessageSchema {
            name, role, about, ..
        } = message;
        let Some(kind) = kinds.iter_mut().find(|kind| kind.name == name) else {
            kinds.push(Kind::new(name, role, about));
            continue;
        };
        kind.role = kind.role.filter(|_| kind.role == role);
        if kind.about.is_empty() {
            kind.about = about.into();
        }
    }
    kinds
}

/// Messages by name, for a lookup in each message. It compares numbers, which is faster than comparing texts.
pub(crate) struct MessageIndex(Vec<IndexEntry>);

/// The forms of one name, and the places of marked values in their content.
struct IndexEntry {
    key: u32,
    forms: Vec<&'static MessageSchema>,
    head: HeadPlaces,
}

impl MessageIndex {
    pub(crate) fn new(messages: &'static [MessageSchema]) -> Self {
        let mut all: Vec<_> = messages.iter().collect();
        all.sort_by_key(|message| (Self::key(message.name), message.name));
        let forms = all.chunk_by(|one, next| one.name == next.name);
        let entries = forms.filter_map(|forms| {
            let mut head = HeadPlaces::default();
            for form in forms {
                head.add(&form.ty);
            }
            Some(IndexEntry {
                key: Self::key(forms.first()?.name),
                forms: forms.into(),
                head,
            })
        });
        Self(entries.collect())
    }

    /// Returns the forms of one name, in the order of the schema.
    pub(crate) fn forms(&self, name: &str) -> &[&'static MessageSchema] {
        self.entry(name).map_or(&[], |entry| &entry.forms)
    }

    /// Returns the places of marked values in the content of messages with this name.
    pub(crate) fn head(&self, name: &str) -> Option<&HeadPlaces> {
        self.entry(name).map(|entry| &entry.head)
    }

    fn entry(&self, name: &str) -> Option<&IndexEntry> {
        let key = Self::key(name);
        let start = self.0.partition_point(|entry| entry.key < key);
        let rest = self.0.get(start..).unwrap_or_default();
        let mut same = rest.iter().take_while(|entry| entry.key == key);
        same.find(|entry| entry.forms.first().is_some_and(|form| form.name == name))
    }

    /// Returns the length, the first and the last byte: few names have the same.
    fn key(name: &str) -> u32 {
        let bytes = name.as_bytes();
        let byte = |byte: Option<&u8>| u32::from(byte.copied().unwrap_or_default());
        (bytes.len() as u32) << 16 | byte(bytes.first()) << 8 | byte(bytes.last())
    }
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

    /// Without an id, the message is a notification.
    pub const fn or_notification(mut self) -> Self {
        self.may_notify = true;
        self
    }
}
