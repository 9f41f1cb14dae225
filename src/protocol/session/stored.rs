//! Texts of the wire that sessions store: ids, tokens, names.
//!
//! ```text
//!   "get"               as it is
//!   "iiii… (1 MB)"      the start, the end, the length, and a hash of all
//! ```

use foldhash::fast::FixedState;
use std::borrow::Cow;
use std::hash::BuildHasher as _;

/// The length of a text that is stored whole, in bytes.
pub(crate) const LONGEST: usize = 1 << 10;
/// The number of bytes at the start and at the end of a longer one that are stored.
const ENDS: usize = 256;

/// Returns a text as sessions store and compare it, so that a peer cannot fill the memory with it. Long texts that differ
/// are stored as texts that differ.
pub(crate) fn stored(text: &str) -> Cow<'_, str> {
    if text.len() <= LONGEST {
        return Cow::Borrowed(text);
    }
    let hash = FixedState::default().hash_one(text);
    // A character has at most four bytes.
    let start = (ENDS..ENDS + 4).find_map(|at| text.get(..at));
    let end = (ENDS..ENDS + 4).find_map(|at| text.get(text.len() - at..));
    let (start, end) = (start.unwrap_or_default(), end.unwrap_or_default());
    Cow::Owned(format!("{start}…{end} ({} bytes, {hash:016x})", text.len()))
}

/// Returns a stored text in memory of its own.
pub(crate) fn to_stored<T: for<'t> From<&'t str>>(text: &str) -> T {
    T::from(&stored(text))
}

/// Returns bytes as sessions store and compare them.
pub(crate) fn stored_bytes(bytes: &[u8]) -> Box<[u8]> {
    if bytes.len() <= LONGEST {
        return bytes.into();
    }
    let hash = FixedState::default().hash_one(bytes);
    let (start, end) = (bytes.get(..ENDS), bytes.get(bytes.len() - ENDS..));
    let (start, end) = (start.unwrap_or_default(), end.unwrap_or_default());
    let about = format!(" ({} bytes, {hash:016x})", bytes.len());
    [start, "…".as_bytes(), end, about.as_bytes()]
        .concat()
        .into()
}

#[cfg(test)]
mod tests {
    use super::{LONGEST, stored, stored_bytes};

    #[test]
    fn long_bytes_that_differ_are_stored_as_bytes_that_differ() {
        let bytes = vec![0x80; LONGEST + 1];
        // No text has these bytes.
        let mut other = bytes.clone();
        other[LONGEST / 2] = 0x81;
        assert!(stored_bytes(&bytes).len() < 600);
        assert_ne!(stored_bytes(&bytes), stored_bytes(&other));
        assert_eq!(*stored_bytes(&bytes[1..]), bytes[1..]);
    }

    #[test]
    fn long_texts_are_stored_in_part() {
        for len in [0, 1, LONGEST] {
            let text = "a".repeat(len);
            assert_eq!(stored(&text), text);
        }
        for unit in ["a", "é", "€", "𝄞"] {
            for more in 0..4 {
                let text = "b".repeat(more) + &unit.repeat(LONGEST + 1);
                let other =
                    "b".repeat(more) + &unit.repeat(LONGEST - 499) + "c" + &unit.repeat(499);
                let shown = stored(&text);
                assert!(shown.len() < 600, "{shown}");
                assert!(shown.contains(&format!("({} bytes, ", text.len())));
                assert_ne!(shown, stored(&other));
                assert_eq!(shown, stored(&text.clone()));
            }
        }
    }
}
