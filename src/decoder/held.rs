//! The origins of bytes that wait for their protocol, by connection; the detectors of their directions store the bytes.

use crate::protocol::{Lane, Origin};
use std::collections::{BTreeMap, BTreeSet};

/// Bytes of one origin that wait.
pub(super) struct HeldBytes {
    pub(super) origin: Origin,
    pub(super) len: usize,
    /// The number of bytes that are missing after them.
    pub(super) missing: u64,
    /// The position in the order of arrival.
    number: u64,
}

/// All bytes that wait.
#[derive(Default)]
pub(super) struct Held {
    by_connection: BTreeMap<Option<u32>, Vec<HeldBytes>>,
    /// The number of pieces so far.
    count: u64,
    /// The number of pieces that wait.
    len: usize,
}

impl Held {
    /// Adds bytes.
    pub(super) fn push(&mut self, origin: Origin, len: usize) {
        if self.continues(origin) {
            let pieces = self.by_connection.get_mut(&origin.conn);
            if let Some(last) = pieces.and_then(|pieces| pieces.last_mut()) {
                last.len += len;
            }
        } else {
            self.add(origin, len, 0);
        }
    }

    /// Adds missing bytes after those of a lane.
    pub(super) fn push_gap(&mut self, origin: Origin, missing: u64) {
        let lane = origin.lane();
        let pieces = self.by_connection.get_mut(&origin.conn);
        match pieces.and_then(|all| all.iter_mut().rfind(|held| held.origin.lane() == lane)) {
            Some(last) => last.missing = last.missing.saturating_add(missing),
            None => self.add(origin, 0, missing),
        }
    }

    fn add(&mut self, origin: Origin, len: usize, missing: u64) {
        let held = HeldBytes {
            origin,
            len,
            missing,
            number: self.count,
        };
        self.by_connection
            .entry(origin.conn)
            .or_default()
            .push(held);
        self.count += 1;
        self.len += 1;
    }

    /// Returns `true` if bytes of an origin need no further piece: it was the last one.
    pub(super) fn continues(&self, origin: Origin) -> bool {
        let pieces = self.by_connection.get(&origin.conn);
        pieces.and_then(|pieces| pieces.last()).is_some_and(|last| {
            last.origin == origin && last.missing == 0 && last.number + 1 == self.count
        })
    }

    /// The number of pieces.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Removes the pieces of lanes and returns them in the order of arrival.
    pub(super) fn take<'l>(&mut self, lanes: impl Iterator<Item = &'l Lane>) -> Vec<HeldBytes> {
        let lanes: BTreeSet<Lane> = lanes.copied().collect();
        let connections: BTreeSet<_> = lanes.iter().map(|lane| lane.conn).collect();
        let mut taken = Vec::new();
        for conn in connections {
            let pieces = self.by_connection.remove(&conn).unwrap_or_default();
            let is_taken = |held: &HeldBytes| lanes.contains(&held.origin.lane());
            let (mine, others): (Vec<_>, Vec<_>) = pieces.into_iter().partition(is_taken);
            taken.extend(mine);
            if !others.is_empty() {
                self.by_connection.insert(conn, others);
            }
        }
        taken.sort_unstable_by_key(|held| held.number);
        self.len -= taken.len();
        taken
    }

    /// Removes the pieces of a connection; returns the number of their bytes.
    pub(super) fn drop_connection(&mut self, conn: Option<u32>) -> usize {
        let pieces = self.by_connection.remove(&conn).unwrap_or_default();
        self.len -= pieces.len();
        pieces.iter().map(|held| held.len).sum()
    }
}
