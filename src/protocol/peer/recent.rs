//! A bounded map: a new entry replaces the oldest.

use foldhash::HashMap;
use std::collections::BTreeMap;
use std::hash::Hash;

/// The capacity if none is given.
const USUAL: usize = 1 << 12;

/// Values by key. If there is no space, the entry that was inserted first is removed.
#[derive(Debug)]
pub struct RecentEntries<K, V> {
    entries: HashMap<K, (u64, V)>,
    order: BTreeMap<u64, K>,
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
            order: BTreeMap::new(),
            next: 0,
            capacity: capacity.max(1),
        }
    }

    /// Inserts a value as the newest. Returns the value that had this key.
    pub fn insert(&mut self, key: K, value: V) -> Option<V> {
        let before = self.remove(&key);
        let age = self.add_key(&key);
        self.entries.insert(key, (age, value));
        before
    }

    /// Records the age of a new key. If there is no space, the oldest entry is removed.
    fn add_key(&mut self, key: &K) -> u64 {
        if self.is_full()
            && let Some((_, oldest)) = self.order.pop_first()
        {
            self.entries.remove(&oldest);
        }
        let age = self.next;
        self.order.insert(age, key.clone());
        self.next += 1;
        age
    }

    /// Removes a value.
    pub fn remove(&mut self, key: &K) -> Option<V> {
        let (age, value) = self.entries.remove(key)?;
        self.order.remove(&age);
        Some(value)
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
        let age = known.unwrap_or_else(|| self.add_key(&key));
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
        self.order
            .values()
            .filter_map(|key| Some((key, self.get(key)?)))
    }

    /// Returns the values, the oldest first.
    pub fn values(&self) -> impl Iterator<Item = &V> {
        self.iter().map(|(_, value)| value)
    }

    /// Returns the keys, the oldest first.
    pub fn keys(&self) -> Vec<K> {
        self.order.values().cloned().collect()
    }

    /// Retains the entries that satisfy a condition.
    pub fn retain(&mut self, mut keep: impl FnMut(&K, &mut V) -> bool) {
        let order = &mut self.order;
        self.entries.retain(|key, (age, value)| {
            let keeps = keep(key, value);
            if !keeps {
                order.remove(age);
            }
            keeps
        });
    }

    /// Returns the number of entries.
    pub fn len(&self) -> usize {
        self.entries.len()
    }
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
}
