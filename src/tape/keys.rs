//! The keys of an object, for code that reads many of its members.

use super::{EntryKind, Node};

/// The maximum number of stored keys; a larger object is searched for each key.
const MAX_KEYS: usize = 16;

/// The keys of an object, each read once.
pub(crate) struct MemberKeys<'a> {
    object: Node<'a>,
    /// Keys without escapes, each with the index of its value.
    plain: [(&'a [u8], u32); MAX_KEYS],
    /// The number of stored keys; `None` if some have escapes, or there are too many.
    len: Option<usize>,
}

impl<'a> MemberKeys<'a> {
    /// Returns the same as [`Node::get`].
    pub(crate) fn get(&self, key: &str) -> Option<Node<'a>> {
        let Some(plain) = self.stored() else {
            return self.object.get(key);
        };
        let (_, index) = plain.iter().rfind(|(name, _)| *name == key.as_bytes())?;
        let end = self.object.tape.entry(self.object.index).next;
        (*index < end).then_some(Node {
            index: *index,
            ..self.object
        })
    }

    fn stored(&self) -> Option<&[(&'a [u8], u32)]> {
        self.plain.get(..self.len?)
    }

    /// Returns `true` if no key is repeated; `None` if the keys are not stored.
    pub(crate) fn are_unique(&self) -> Option<bool> {
        let plain = self.stored()?;
        let is_new = |(n, (key, _)): (usize, &(&[u8], u32))| {
            let before = plain.get(..n).unwrap_or_default();
            before.iter().all(|(other, _)| other != key)
        };
        Some(plain.iter().enumerate().all(is_new))
    }
}

impl<'a> Node<'a> {
    /// Reads the keys of an object, for many lookups.
    pub(crate) fn keys(self) -> MemberKeys<'a> {
        let mut keys = MemberKeys {
            object: self,
            plain: [(b"", 0); MAX_KEYS],
            len: None,
        };
        let mut len = 0;
        let e = self.tape.entry(self.index);
        let mut index = self.index + 1;
        while e.kind == EntryKind::Map && index < e.next {
            let name = self.tape.entry(index);
            let is_plain = matches!(name.kind, EntryKind::Str | EntryKind::Json);
            let Some(slot) = keys.plain.get_mut(len).filter(|_| is_plain) else {
                return keys;
            };
            *slot = (Node { index, ..self }.raw_text(), index + 1);
            len += 1;
            index = self.tape.entry(index + 1).after(index as usize + 1) as u32;
        }
        keys.len = Some(len);
        keys
    }
}
