//! The open requests of one scope, by their key.
//!
//! ```text
//!   slots   none | one key, as most connections have | a table
//!   slot    the first request with a key, and later ones in order
//! ```

use super::request::OpenRequest;
use foldhash::fast::RandomState;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry as TableEntry;
use std::collections::VecDeque;
use std::hash::{BuildHasher, Hash};

/// A table with more space is not kept when it is empty.
pub(super) const MAX_KEPT: usize = 1 << 8;

/// The number of later requests of a key whose states are compared.
const MAX_COMPARED: usize = 1 << 8;

/// A request and its state.
pub(super) type Entry<T> = (OpenRequest, T);

/// The open requests with one key, the oldest first.
#[derive(Debug)]
pub(super) struct Slot<K, T> {
    pub(super) key: K,
    pub(super) first: Entry<T>,
    #[allow(clippy::box_collection)] // almost no slot has one
    later: Option<Box<VecDeque<Entry<T>>>>,
}

impl<K, T> Slot<K, T> {
    pub(super) fn of(key: K, first: Entry<T>) -> Self {
        Self {
            key,
            first,
            later: None,
        }
    }

    /// Adds a request behind the others.
    pub(super) fn push(&mut self, entry: Entry<T>) {
        self.later.get_or_insert_default().push_back(entry);
    }

    /// Removes the first request, if there is a later one.
    pub(super) fn pop(&mut self) -> Option<Entry<T>> {
        let next = self.later.as_mut()?.pop_front()?;
        Some(std::mem::replace(&mut self.first, next))
    }

    /// Removes the oldest later request whose state satisfies a condition, unless that of the first one does.
    pub(super) fn take_later(&mut self, is_it: impl Fn(&T) -> bool) -> Option<Entry<T>> {
        let later = self.later.as_mut().filter(|_| !is_it(&self.first.1))?;
        let mut near = later.iter().take(MAX_COMPARED);
        let place = near.position(|(_, state)| is_it(state))?;
        later.remove(place)
    }

    pub(super) fn len(&self) -> usize {
        1 + self.later.as_ref().map_or(0, |later| later.len())
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Entry<T>> {
        std::iter::once(&self.first).chain(self.later.iter().flat_map(|later| later.iter()))
    }

    /// Visits the state of each request.
    pub(super) fn each(&mut self, visit: &mut impl FnMut(&K, &mut T)) {
        visit(&self.key, &mut self.first.1);
        for (_, state) in self.later.iter_mut().flat_map(|later| later.iter_mut()) {
            visit(&self.key, state);
        }
    }

    /// Takes the requests apart from their key.
    pub(super) fn into_parts(self) -> (K, impl Iterator<Item = Entry<T>>) {
        let later = self.later.into_iter().flat_map(|later| *later);
        (self.key, std::iter::once(self.first).chain(later))
    }

    /// Returns the request that is the message with this index.
    pub(super) fn at(&self, index: u64) -> Option<&Entry<T>> {
        if self.first.0.index() == index {
            return Some(&self.first);
        }
        let later = self.later.as_ref()?;
        let at = later.binary_search_by_key(&index, |(asked, _)| asked.index());
        later.get(at.ok()?)
    }
}

/// The open requests of one scope. Most connections have one, which needs no table. Boxed, because a table has unused space.
#[derive(Debug)]
pub(super) enum Slots<K, T> {
    Empty,
    One(Box<Slot<K, T>>),
    Table(Box<HashTable<Box<Slot<K, T>>>>),
}

impl<K: Hash + Eq, T> Slots<K, T> {
    pub(super) fn get(&self, key: &K, state: &RandomState) -> Option<&Slot<K, T>> {
        match self {
            Self::Empty => None,
            Self::One(slot) => (slot.key == *key).then_some(slot.as_ref()),
            Self::Table(table) => {
                let slot = table.find(state.hash_one(key), |slot| slot.key == *key);
                slot.map(Box::as_ref)
            }
        }
    }

    pub(super) fn get_mut(&mut self, key: &K, state: &RandomState) -> Option<&mut Slot<K, T>> {
        match self {
            Self::Empty => None,
            Self::One(slot) => (slot.key == *key).then_some(slot.as_mut()),
            Self::Table(table) => {
                let slot = table.find_mut(state.hash_one(key), |slot| slot.key == *key);
                slot.map(Box::as_mut)
            }
        }
    }

    /// Adds a slot. Returns the one that had its key.
    pub(super) fn insert(
        &mut self,
        slot: Box<Slot<K, T>>,
        state: &RandomState,
    ) -> Option<Box<Slot<K, T>>> {
        match self {
            Self::Empty => *self = Self::One(slot),
            Self::One(before) if before.key == slot.key => {
                return Some(std::mem::replace(before, slot));
            }
            Self::One(_) => {
                let before = std::mem::replace(self, Self::Table(Box::default()));
                for slot in before.take_all().chain([slot]) {
                    self.insert(slot, state);
                }
            }
            Self::Table(table) => {
                let hash = state.hash_one(&slot.key);
                let entry = table.entry(
                    hash,
                    |other| other.key == slot.key,
                    |other| state.hash_one(&other.key),
                );
                match entry {
                    TableEntry::Occupied(mut entry) => {
                        return Some(std::mem::replace(entry.get_mut(), slot));
                    }
                    TableEntry::Vacant(entry) => _ = entry.insert(slot),
                }
            }
        }
        None
    }

    pub(super) fn remove(&mut self, key: &K, state: &RandomState) -> Option<Box<Slot<K, T>>> {
        match self {
            Self::Table(table) => {
                let entry = table.find_entry(state.hash_one(key), |slot| slot.key == *key);
                Some(entry.ok()?.remove().0)
            }
            Self::One(slot) if slot.key == *key => {
                std::mem::replace(self, Self::Empty).take_all().next()
            }
            _ => None,
        }
    }

    /// Removes the slots that satisfy a condition.
    pub(super) fn extract_if(
        &mut self,
        mut ends: impl FnMut(&K, &T) -> bool,
    ) -> Vec<Box<Slot<K, T>>> {
        match self {
            Self::One(slot) if ends(&slot.key, &slot.first.1) => {
                std::mem::replace(self, Self::Empty).take_all().collect()
            }
            Self::Empty | Self::One(_) => Vec::new(),
            Self::Table(table) => {
                let gone = table.extract_if(|slot| ends(&slot.key, &slot.first.1));
                gone.collect()
            }
        }
    }

    pub(super) fn take_all(self) -> impl Iterator<Item = Box<Slot<K, T>>> {
        let (one, table) = match self {
            Self::Empty => (None, None),
            Self::One(slot) => (Some(slot), None),
            Self::Table(table) => (None, Some(*table)),
        };
        one.into_iter().chain(table.into_iter().flatten())
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Slot<K, T>> {
        let (one, table) = match self {
            Self::Empty => (None, None),
            Self::One(slot) => (Some(slot), None),
            Self::Table(table) => (None, Some(table)),
        };
        let table = table.into_iter().flat_map(|table| table.iter());
        one.into_iter().chain(table).map(Box::as_ref)
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Slot<K, T>> {
        let (one, table) = match self {
            Self::Empty => (None, None),
            Self::One(slot) => (Some(slot), None),
            Self::Table(table) => (None, Some(table)),
        };
        let table = table.into_iter().flat_map(|table| table.iter_mut());
        one.into_iter().chain(table).map(Box::as_mut)
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Self::Empty => 0,
            Self::One(_) => 1,
            Self::Table(table) => table.len(),
        }
    }

    /// Returns true for a table that takes much memory even if it is empty.
    pub(super) fn is_large(&self) -> bool {
        matches!(self, Self::Table(table) if table.capacity() > MAX_KEPT)
    }
}
