//! A bounded map: a new entry replaces the oldest.

use foldhash::HashMap;
use std::collections::VecDeque;
use std::hash::Hash;

/// The capacity if none is given.
const USUAL: usize = 1 << 12;

/// The number of keys of removed entries that an empty map may store.
const SPARE: usize = 32;

/// Values by key. If there is no space, the entry that was inserted first is removed.
#[derive(Debug)]
pub struct RecentEntries<K, V> {
    entries: HashMap<K, (u64, V)>,
    /// The keys by age, the oldest first. Those of removed entries stay until they are the oldest, or the most.
    order: VecDeque<(u64, K)>,
    next: u64,
    capacity: usize,
}

impl<K: Hash + Eq + Clone, V> Default for RecentEntries<K, V> {
    fn default() -> Self {
        Self::with_capacity(USUAL)
    }
}

impl<K: Hash + Eq + Clone, V> RecentEntries<K, V> {
    /// Creates a map for at most `capacity` entries.
    pub fn with_capacity(capacity: usize) -> Self {
        Self {
            entries: HashMap::default(),
            order: VecDeque::new(),
            next: 0,
            capacity: capacity.max(1),
        }
    }

    /// Inserts a value as the newest. Returns the value that had this key.
    pub fn insert(&mut self, key: K, value: V) -> Option<V> {
        let age = self.add_key(&key);
        let before = self.entries.insert(key, (age, value));
        if self.entries.len() > self.capacity {
            self.remove_oldest();
        }
        before.map(|(_, value)| value)
    }

    /// Records the age of a new key.
    fn add_key(&mut self, key: &K) -> u64 {
        if self.order.len() > 2 * self.entries.len() + SPARE {
            self.forget_removed();
        }
        let age = self.next;
        self.order.push_back((age, key.clone()));
        self.next += 1;
        age
    }

    /// Removes the oldest entry.
    fn remove_oldest(&mut self) {
        while let Some(oldest) = self.order.pop_front() {
            if is_current(&self.entries, &oldest) {
                self.entries.remove(&oldest.1);
                return;
            }
        }
    }

    /// Removes the keys of removed entries.
    fn forget_removed(&mut self) {
        let entries = &self.entries;
        self.order.retain(|one| is_current(entries, one));
    }

    /// Removes a value.
    pub fn remove(&mut self, key: &K) -> Option<V> {
        // A map that is usually empty needs no hash of the key.
        let removed = (!self.entries.is_empty()).then(|| self.entries.remove(key));
        removed.flatten().map(|(_, value)| value)
    }

    /// Returns the value of this key.
    pub fn get(&self, key: &K) -> Option<&V> {
        self.entries.get(key).map(|(_, value)| value)
    }

    /// Returns the value of this key.
    pub fn get_mut(&mut self, key: &K) -> Option<&mut V> {
        self.entries.get_mut(key).map(|(_, value)| value)
    }

    /// Returns the value of a key; inserts a default if there is none.
    pub fn entry(&mut self, key: K) -> &mut V
    where
        V: Default,
    {
        let known = self.entries.get(&key).map(|(age, _)| *age);
        let age = known.unwrap_or_else(|| {
            if self.is_full() {
                self.remove_oldest();
            }
            self.add_key(&key)
        });
        &mut self
            .entries
            .entry(key)
            .or_insert_with(|| (age, V::default()))
            .1
    }

    /// Returns true if the next new key replaces another.
    pub fn is_full(&self) -> bool {
        self.entries.len() >= self.capacity
    }

    /// Returns keys and values, the oldest first.
    pub fn iter(&self) -> impl Iterator<Item = (&K, &V)> {
        self.order.iter().filter_map(|(age, key)| {
            let (current, value) = self.entries.get(key)?;
            (age == current).then_some((key, value))
        })
    }

    /// Returns the values, the oldest first.
    pub fn values(&self) -> impl Iterator<Item = &V> {
        self.iter().map(|(_, value)| value)
    }

    /// Returns the keys, the oldest first.
    pub fn keys(&self) -> Vec<K> {
        self.iter().map(|(key, _)| key.clone()).collect()
    }

    /// Retains the entries that satisfy a condition.
    pub fn retain(&mut self, mut keep: impl FnMut(&K, &mut V) -> bool) {
        self.entries.retain(|key, (_, value)| keep(key, value));
        self.forget_removed();
    }

    /// Returns the number of entries.
    pub fn len(&self) -> usize {
        self.entries.len()
    }
}

/// Returns true if the entry of a key still has this age.
fn is_current<K: Hash + Eq, V>(entries: &HashMap<K, (u64, V)>, (age, key): &(u64, K)) -> bool {
    entries.get(key).is_some_and(|(current, _)| current == age)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_map_removes_the_oldest_entry() {
        let mut recent = RecentEntries::with_capacity(2);
        for (key, value) in [("a", 1), ("b", 2), ("a", 3), ("c", 4)] {
            recent.insert(key, value);
        }
        let left: Vec<_> = recent.iter().map(|(k, v)| (*k, *v)).collect();
        assert_eq!(left, [("a", 3), ("c", 4)]);
        recent.retain(|_, value| *value == 4);
        assert_eq!((recent.len(), recent.order.len()), (1, 1));
        *recent.entry("d") += 5;
        assert_eq!(recent.get(&"d"), Some(&5));
        assert_eq!(recent.remove(&"a"), None);
    }

    #[test]
    fn keys_of_removed_entries_are_forgotten() {
        let mut recent = RecentEntries::with_capacity(4);
        recent.insert(0, 0);
        for n in 1..1_000 {
            recent.insert(n, n);
            recent.insert(n, n + 1);
            assert_eq!(recent.remove(&n), Some(n + 1));
            assert!(recent.order.len() <= 2 * recent.len() + SPARE + 1);
        }
        assert_eq!(recent.keys(), [0]);
        for n in 1..=4 {
            recent.insert(n, n);
        }
        assert_eq!(recent.keys(), [1, 2, 3, 4]);
    }
}
