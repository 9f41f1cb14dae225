//! The keys of an object, for code that reads many of its members.

use super::Node;

/// The largest number of keys that are compared without a table.
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
        // A bit for each key: few keys have that of an earlier one, and only those are compared.
        let mut known = 0u64;
        for (n, (key, _)) in self.members().enumerate() {
            let name = key.plain_text().filter(|_| n < MAX_KEYS)?;
            let bit = 1 << (fingerprint(name) % u64::BITS);
            if known & bit != 0 {
                let mut before = self.members().take(n);
                if before.any(|(key, _)| key.plain_text() == Some(name)) {
                    return Some(false);
                }
            }
            known |= bit;
        }
        Some(true)
    }

    /// Returns its bytes if it is text without escapes.
    fn plain_text(self) -> Option<&'a [u8]> {
        self.is_plain_text().then(|| self.raw_text())
    }
}

/// Returns a number that is the same for equal keys and often differs otherwise: from the length and both ends.
fn fingerprint(key: &[u8]) -> u32 {
    let ends = [key.first(), key.last()].map(|byte| byte.map_or(0, |byte| u32::from(*byte)));
    ends[0] * 5 + ends[1] * 11 + u32::from(key.len() as u8)
}
