//! State by name: of calls and voices.
//!
//! ```text
//!   group, name -> hash -> [ state ]             finished: removed after a while
//!                                                no space: the least recently used is removed
//!                                                a group can be removed as a whole
//! ```
//!
//! Names are stored as hashes, so that a table is bounded regardless of their length.

use crate::protocol::exchange::work;
use std::collections::{BTreeMap, VecDeque};
use std::hash::{BuildHasher, Hash, RandomState};

/// The number of finished entries that are kept for late messages.
const DONE: usize = 1 << 10;

/// A bounded table by name, or by group and name.
pub(super) struct RecentTable<V, G = ()> {
    entries: BTreeMap<(G, u64), RecentEntry<V>>,
    names: RandomState,
    done: VecDeque<(G, u64)>,
    capacity: usize,
    clock: u64,
    /// An unfinished entry was removed.
    pub dropped_unfinished: bool,
}

struct RecentEntry<V> {
    last_used: u64,
    done: bool,
    value: V,
}

impl<V, G: Copy + Ord> RecentTable<V, G> {
    pub fn with_capacity(capacity: usize) -> Self {
        Self {
            entries: BTreeMap::new(),
            names: RandomState::new(),
            done: VecDeque::new(),
            capacity: capacity.max(1),
            clock: 0,
            dropped_unfinished: false,
        }
    }

    /// Returns the state of a name in a group.
    pub fn get_in(&mut self, group: G, name: impl Hash) -> Option<&mut V> {
        self.clock += 1;
        let entry = self.entries.get_mut(&(group, self.names.hash_one(name)))?;
        entry.last_used = self.clock;
        Some(&mut entry.value)
    }

    /// Returns the state of a name in a group; creates it if there is none.
    pub fn entry_in(&mut self, group: G, name: impl Hash, new: impl FnOnce() -> V) -> &mut V {
        let key = (group, self.names.hash_one(name));
        if self.entries.len() >= self.capacity && !self.entries.contains_key(&key) {
            self.evict();
        }
        self.clock += 1;
        let entry = self.entries.entry(key).or_insert_with(|| RecentEntry {
            last_used: 0,
            done: false,
            value: new(),
        });
        entry.last_used = self.clock;
        &mut entry.value
    }

    /// Stores the state of a name, and replaces the one before.
    pub fn put_in(&mut self, group: G, name: impl Hash, value: V) {
        let key = (group, self.names.hash_one(name));
        if self.entries.len() >= self.capacity && !self.entries.contains_key(&key) {
            self.evict();
        }
        self.clock += 1;
        let entry = RecentEntry {
            last_used: self.clock,
            done: false,
            value,
        };
        self.entries.insert(key, entry);
    }

    /// Marks a name in a group as finished.
    pub fn finish_in(&mut self, group: G, name: impl Hash) {
        let key = (group, self.names.hash_one(name));
        match self.entries.get_mut(&key) {
            Some(entry) if !entry.done => entry.done = true,
            _ => return,
        }
        self.done.push_back(key);
        if self.done.len() > DONE
            && let Some(oldest) = self.done.pop_front()
            && self.entries.get(&oldest).is_some_and(|e| e.done)
        {
            self.entries.remove(&oldest);
        }
    }

    /// Removes the entries of a group that satisfy a condition.
    pub fn take(&mut self, group: G, mut goes: impl FnMut(&V) -> bool) -> Vec<V> {
        let keys = self.entries.range((group, 0)..=(group, u64::MAX));
        let keys: Vec<_> = keys
            .filter(|(_, e)| goes(&e.value))
            .map(|(k, _)| *k)
            .collect();
        work::count_visits(keys.len());
        let taken = keys.into_iter().filter_map(|key| self.entries.remove(&key));
        taken.map(|entry| entry.value).collect()
    }

    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Removes an eighth of the entries at a time, so that a full table is not searched for each new name.
    fn evict(&mut self) {
        let mut last_used: Vec<_> = self.entries.values().map(|e| e.last_used).collect();
        let nth = last_used.len() / 8;
        let (_, limit, _) = last_used.select_nth_unstable(nth);
        let limit = *limit;
        let dropped_unfinished = &mut self.dropped_unfinished;
        self.entries.retain(|_, entry| {
            let stays = entry.last_used > limit;
            *dropped_unfinished |= !stays && !entry.done;
            stays
        });
    }
}

/// Methods for a single group.
impl<V> RecentTable<V> {
    /// Returns the state of a name.
    pub fn get(&mut self, name: impl Hash) -> Option<&mut V> {
        self.get_in((), name)
    }

    /// Stores the state of a name, and replaces the one before.
    pub fn put(&mut self, name: impl Hash, value: V) {
        self.put_in((), name, value);
    }

    /// Marks a name as finished.
    pub fn finish_entry(&mut self, name: impl Hash) {
        self.finish_in((), name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_recently_used_entry_is_removed() {
        let mut table = RecentTable::with_capacity(8);
        for n in 0..8 {
            table.put(n, n);
        }
        assert!(table.get(0).is_some());
        table.put(8, 8);
        assert_eq!((table.len(), table.dropped_unfinished), (7, true));
        let kept: Vec<_> = (0..9).filter(|n| table.get(*n).is_some()).collect();
        assert_eq!(kept, [0, 3, 4, 5, 6, 7, 8]);
    }

    #[test]
    fn finished_entries_are_removed_later() {
        let mut table = RecentTable::with_capacity(1 << 20);
        for n in 0..2 * DONE {
            table.put(n, n);
            table.finish_entry(n);
            table.finish_entry(n);
        }
        assert_eq!((table.len(), table.dropped_unfinished), (DONE, false));
        assert_eq!(table.get(0), None);
        assert_eq!(table.get(2 * DONE - 1), Some(&mut (2 * DONE - 1)));
    }

    #[test]
    fn a_replaced_entry_is_unfinished() {
        let mut table = RecentTable::with_capacity(1 << 20);
        table.put(0, 0);
        table.finish_entry(0);
        table.put(0, 1);
        for n in 1..=DONE {
            table.put(n, n);
            table.finish_entry(n);
        }
        assert_eq!(table.get(0), Some(&mut 1));
        assert_eq!(table.take((), |v| *v < 3).len(), 3);
    }
}
