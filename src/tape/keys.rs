//! The keys of an object, for code that reads many of its members.

use super::{Node, Scalar, Value};

/// The largest number of keys that are compared with one another without a table.
const MAX_KEYS: usize = 16;

/// The values of an object for a list of keys.
pub(crate) struct MemberValues<'a, const N: usize> {
    object: Node<'a>,
    /// The index of each value; 0 if the object does not have the key.
    indexes: [u32; N],
}

impl<'a, const N: usize> MemberValues<'a, N> {
    /// Returns the value of the `n`th key: the same as [`Node::get`].
    #[inline]
    pub(crate) fn get(&self, n: usize) -> Option<Node<'a>> {
        let index = self.indexes.get(n).copied().filter(|index| *index > 0)?;
        Some(Node {
            index,
            ..self.object
        })
    }
}

impl<'a> Node<'a> {
    /// Finds the values of at most `N` different keys of an object in one pass.
    pub(crate) fn get_each<const N: usize, T>(
        self,
        keys: &[T],
        name: impl Fn(&T) -> &str,
    ) -> MemberValues<'a, N> {
        let mut values = MemberValues {
            object: self,
            indexes: [0; N],
        };
        if !self.is_map() {
            return values;
        }
        let mut next = 0;
        for (key, value) in self.members() {
            let key = self.tape.entry(key.index);
            let is = |wanted: &T| self.is_text_of(key, name(wanted));
            // Most peers write members in a similar order: the search begins after the key that was found last.
            let (before, after) = keys.split_at_checked(next).unwrap_or((keys, &[]));
            let later = after.iter().position(&is).map(|at| before.len() + at);
            if let Some(at) = later.or_else(|| before.iter().position(&is)) {
                next = at + 1;
                if let Some(index) = values.indexes.get_mut(at) {
                    *index = value.index;
                }
            }
        }
        values
    }

    /// Returns `true` if no key of an object is repeated; `None` if it has too many to tell, or keys other than plain
    /// text.
    pub(crate) fn has_unique_keys(self) -> Option<bool> {
        let mut known: [&[u8]; MAX_KEYS] = [b""; MAX_KEYS];
        for (n, (key, _)) in self.members().enumerate() {
            let Value::Scalar(Scalar::Str(name) | Scalar::Json(name, false)) = key.value() else {
                return None;
            };
            let (before, free) = known.split_at_mut_checked(n)?;
            if before.contains(&name) {
                return Some(false);
            }
            *free.first_mut()? = name;
        }
        Some(true)
    }
}
