//! The ids of traces and spans.

use crate::protocol::session::memory::RecentEntries;
use sha2::{Digest as _, Sha256};

/// The lengths of ids in hex.
pub(super) const TRACE: usize = 32;
pub(super) const SPAN: usize = 16;

/// Returns the id that a message states, in hex: as it is if it has the form of one, otherwise derived from it.
pub(super) fn stated(id: &str, len: usize) -> String {
    let plain: String = id.chars().filter(|c| *c != '-').collect();
    let is_hex = plain.len() == len && plain.bytes().all(|byte| byte.is_ascii_hexdigit());
    if is_hex && plain.bytes().any(|byte| byte != b'0') {
        plain.to_ascii_lowercase()
    } else {
        derived(&[id.as_bytes()], len)
    }
}

/// The recent traces and spans that requests state as their own.
#[derive(Default)]
pub(super) struct StatedSpans(RecentEntries<(String, String), ()>);

impl StatedSpans {
    /// Returns true if no earlier request states this span. Otherwise two captures have the request, or its sender repeats ids.
    pub(super) fn is_new(&mut self, trace: &str, span: &str) -> bool {
        let place = (trace.to_owned(), span.to_owned());
        let is_new = self.0.get(&place).is_none();
        self.0.insert(place, ());
        is_new
    }
}

/// Returns an id that is the same in each run.
pub(super) fn derived(parts: &[&[u8]], len: usize) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part);
    }
    let mut id = hex::encode(hash.finalize());
    id.truncate(len);
    id
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_hex_and_never_zero() {
        let trace = "0AF7651916CD43DD8448EB211C80319C";
        assert_eq!(stated(trace, TRACE), trace.to_ascii_lowercase());
        let uuid = "0af76519-16cd-43dd-8448-eb211c80319c";
        assert_eq!(stated(uuid, TRACE), trace.to_ascii_lowercase());
        for (id, len) in [("0000000000000000", SPAN), ("call 7", SPAN), ("", TRACE)] {
            let id = stated(id, len);
            assert_eq!(id.len(), len);
            assert!(id.bytes().any(|byte| byte != b'0'));
        }
        assert_ne!(derived(&[b"a", b"b"], SPAN), derived(&[b"ab", b""], SPAN));
    }
}
