//! A bounded memory: what is new takes the place of what is oldest.

use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;

/// Values by key, of which the one that was put in longest ago is forgotten when there is no room.
#[derive(Debug)]
pub struct Recent<K, V> {
    entries: HashMap<K, (u64, V)>,
    order: BTreeMap<u64, K>,
    next: u64,
    most: usize,
}

impl<K: Hash + Eq + Clone, V> Recent<K, V> {
    /// With room for so many.
    pub fn with_room(most: usize) -> Self {
        Self {
            entries: HashMap::new(),
            order: BTreeMap::new(),
            next: 0,
            most: most.max(1),
        }
    }

    /// Puts a value in, as the newest. Gives back the one that had this key.
    pub fn put(&mut self, key: K, value: V) -> Option<V> {
        let before = self.take(&key);
        if self.entries.len() >= self.most
            && let Some((_, oldest)) = self.order.pop_first()
        {
            self.entries.remove(&oldest);
        }
        self.order.insert(self.next, key.clone());
        self.entries.insert(key, (self.next, value));
        self.next += 1;
        before
    }

    /// Takes a value out.
    pub fn take(&mut self, key: &K) -> Option<V> {
        let (age, value) = self.entries.remove(key)?;
        self.order.remove(&age);
        Some(value)
    }

    /// The value of this key.
    pub fn get(&self, key: &K) -> Option<&V> {
        self.entries.get(key).map(|(_, value)| value)
    }

    /// The value of this key.
    pub fn get_mut(&mut self, key: &K) -> Option<&mut V> {
        self.entries.get_mut(key).map(|(_, value)| value)
    }

    /// The value of a key, made where there is none.
    pub fn entry(&mut self, key: K) -> &mut V
    where
        V: Default,
    {
        if !self.entries.contains_key(&key) {
            self.put(key.clone(), V::default());
        }
        &mut self.entries.entry(key).or_default().1
    }

    /// Keys and values, the oldest first.
    pub fn iter(&self) -> impl Iterator<Item = (&K, &V)> {
        self.order
            .values()
            .filter_map(|key| Some((key, self.get(key)?)))
    }

    /// Keys, the oldest first.
    pub fn keys(&self) -> Vec<K> {
        self.order.values().cloned().collect()
    }

    /// Keeps those that satisfy a condition.
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

    /// How many there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_makes_room() {
        let mut recent = Recent::with_room(2);
        for (key, value) in [("a", 1), ("b", 2), ("a", 3), ("c", 4)] {
            recent.put(key, value);
        }
        let left: Vec<_> = recent.iter().map(|(k, v)| (*k, *v)).collect();
        assert_eq!(left, [("a", 3), ("c", 4)]);
        recent.retain(|_, value| *value == 4);
        assert_eq!((recent.len(), recent.order.len()), (1, 1));
        *recent.entry("d") += 5;
        assert_eq!(recent.get(&"d"), Some(&5));
        assert_eq!(recent.take(&"a"), None);
    }
}
