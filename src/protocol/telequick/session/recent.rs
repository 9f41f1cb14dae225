//! What is kept of things that have names: calls, voices.
//!
//! ```text
//!   group, name -> hash -> [ what is kept ]      done with: goes after a while
//!                                                no room: what was longest not heard of goes
//!                                                a group can be taken out as a whole
//! ```
//!
//! Names are kept as hashes, so that a table is bounded however long they are.

use crate::protocol::correlation::work;
use std::collections::{BTreeMap, VecDeque};
use std::hash::{BuildHasher, Hash, RandomState};

/// So many that are done with are kept, for what comes late.
const DONE: usize = 1 << 10;

/// A bounded table by name, or by group and name.
pub(super) struct Recent<V, G = ()> {
    entries: BTreeMap<(G, u64), Entry<V>>,
    names: RandomState,
    done: VecDeque<(G, u64)>,
    most: usize,
    clock: u64,
    /// Whether something was dropped that was not done with.
    pub forgot: bool,
}

struct Entry<V> {
    heard: u64,
    done: bool,
    value: V,
}

impl<V, G: Copy + Ord> Recent<V, G> {
    pub fn with_room(most: usize) -> Self {
        Self {
            entries: BTreeMap::new(),
            names: RandomState::new(),
            done: VecDeque::new(),
            most: most.max(1),
            clock: 0,
            forgot: false,
        }
    }

    /// What is kept under a name in a group.
    pub fn get_in(&mut self, group: G, name: impl Hash) -> Option<&mut V> {
        self.clock += 1;
        let entry = self.entries.get_mut(&(group, self.names.hash_one(name)))?;
        entry.heard = self.clock;
        Some(&mut entry.value)
    }

    /// Keeps it, in place of what was kept before.
    pub fn put_in(&mut self, group: G, name: impl Hash, value: V) {
        let key = (group, self.names.hash_one(name));
        if self.entries.len() >= self.most && !self.entries.contains_key(&key) {
            self.make_room();
        }
        self.clock += 1;
        let entry = Entry {
            heard: self.clock,
            done: false,
            value,
        };
        self.entries.insert(key, entry);
    }

    /// No more is expected under a name in a group.
    pub fn done_in(&mut self, group: G, name: impl Hash) {
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

    /// Takes out those of a group that satisfy a condition.
    pub fn take(&mut self, group: G, mut goes: impl FnMut(&V) -> bool) -> Vec<V> {
        let keys = self.entries.range((group, 0)..=(group, u64::MAX));
        let keys: Vec<_> = keys
            .filter(|(_, e)| goes(&e.value))
            .map(|(k, _)| *k)
            .collect();
        work::did(keys.len());
        let taken = keys.into_iter().filter_map(|key| self.entries.remove(&key));
        taken.map(|entry| entry.value).collect()
    }

    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// An eighth goes at a time, so that a full table is not searched for each new name.
    fn make_room(&mut self) {
        let mut heard: Vec<_> = self.entries.values().map(|e| e.heard).collect();
        let nth = heard.len() / 8;
        let (_, limit, _) = heard.select_nth_unstable(nth);
        let limit = *limit;
        let forgot = &mut self.forgot;
        self.entries.retain(|_, entry| {
            let stays = entry.heard > limit;
            *forgot |= !stays && !entry.done;
            stays
        });
    }
}

/// Where all are in one group.
impl<V> Recent<V> {
    /// What is kept under a name.
    pub fn get(&mut self, name: impl Hash) -> Option<&mut V> {
        self.get_in((), name)
    }

    /// Keeps it, in place of what was kept before.
    pub fn put(&mut self, name: impl Hash, value: V) {
        self.put_in((), name, value);
    }

    /// No more is expected under a name.
    pub fn done(&mut self, name: impl Hash) {
        self.done_in((), name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_unheard_goes() {
        let mut table = Recent::with_room(8);
        for n in 0..8 {
            table.put(n, n);
        }
        assert!(table.get(0).is_some());
        table.put(8, 8);
        assert_eq!((table.len(), table.forgot), (7, true));
        let kept: Vec<_> = (0..9).filter(|n| table.get(*n).is_some()).collect();
        assert_eq!(kept, [0, 3, 4, 5, 6, 7, 8]);
    }

    #[test]
    fn what_is_done_with_goes_in_the_end() {
        let mut table = Recent::with_room(1 << 20);
        for n in 0..2 * DONE {
            table.put(n, n);
            table.done(n);
            table.done(n);
        }
        assert_eq!((table.len(), table.forgot), (DONE, false));
        assert_eq!(table.get(0), None);
        assert_eq!(table.get(2 * DONE - 1), Some(&mut (2 * DONE - 1)));
    }

    #[test]
    fn what_is_put_anew_is_not_done_with() {
        let mut table = Recent::with_room(1 << 20);
        table.put(0, 0);
        table.done(0);
        table.put(0, 1);
        for n in 1..=DONE {
            table.put(n, n);
            table.done(n);
        }
        assert_eq!(table.get(0), Some(&mut 1));
        assert_eq!(table.take((), |v| *v < 3).len(), 3);
    }
}
