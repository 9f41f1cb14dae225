//! The open requests of one scope, by their key.
//!
//! ```text
//!   slots   none | one key, as most connections have | a table
//!   slot    the first request with a key, and later ones in order
//! ```

use super::request::OpenRequest;
use foldhash::HashMap;
use std::collections::VecDeque;
use std::hash::Hash;

/// A table with more space is not kept when it is empty.
pub(super) const MAX_KEPT: usize = 1 << 8;

/// A request and its state.
pub(super) type Entry<T> = (OpenRequest, T);

/// The open requests with one key, the oldest first.
#[derive(Debug)]
pub(super) struct Slot<T> {
    pub(super) first: Entry<T>,
    #[allow(clippy::box_collection)] // almost no slot has one
    later: Option<Box<VecDeque<Entry<T>>>>,
}

impl<T> Slot<T> {
    pub(super) fn of(first: Entry<T>) -> Self {
        Self { first, later: None }
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

    pub(super) fn len(&self) -> usize {
        1 + self.later.as_ref().map_or(0, |later| later.len())
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Entry<T>> {
        std::iter::once(&self.first).chain(self.later.iter().flat_map(|later| later.iter()))
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Entry<T>> {
        let later = self.later.iter_mut().flat_map(|later| later.iter_mut());
        std::iter::once(&mut self.first).chain(later)
    }

    pub(super) fn into_iter(self) -> impl Iterator<Item = Entry<T>> {
        std::iter::once(self.first).chain(self.later.into_iter().flat_map(|later| *later))
    }

    /// Returns the request that is the message with this index.
    pub(super) fn at(&self, index: u64) -> Option<&Entry<T>> {
        if self.first.0.place.index == index {
            return Some(&self.first);
        }
        let later = self.later.as_ref()?;
        let at = later.binary_search_by_key(&index, |(asked, _)| asked.place.index);
        later.get(at.ok()?)
    }
}

/// The open requests of one scope. Most connections have one, which needs no table. Boxed, because a table has unused space.
#[derive(Debug)]
pub(super) enum Slots<K, T> {
    Empty,
    One(K, Box<Slot<T>>),
    Table(HashMap<K, Box<Slot<T>>>),
}

impl<K: Hash + Eq, T> Slots<K, T> {
    pub(super) fn get(&self, key: &K) -> Option<&Slot<T>> {
        match self {
            Self::Empty => None,
            Self::One(own, slot) => (own == key).then_some(slot.as_ref()),
            Self::Table(table) => table.get(key).map(Box::as_ref),
        }
    }

    pub(super) fn get_mut(&mut self, key: &K) -> Option<&mut Slot<T>> {
        match self {
            Self::Empty => None,
            Self::One(own, slot) => (own == key).then_some(slot.as_mut()),
            Self::Table(table) => table.get_mut(key).map(Box::as_mut),
        }
    }

    pub(super) fn insert(&mut self, key: K, slot: Box<Slot<T>>) -> Option<Box<Slot<T>>> {
        match self {
            Self::Empty => *self = Self::One(key, slot),
            Self::One(own, before) if *own == key => return Some(std::mem::replace(before, slot)),
            Self::One(..) => {
                let mut table = HashMap::from_iter([(key, slot)]);
                table.extend(std::mem::replace(self, Self::Empty).take_all());
                *self = Self::Table(table);
            }
            Self::Table(table) => return table.insert(key, slot),
        }
        None
    }

    pub(super) fn remove(&mut self, key: &K) -> Option<(K, Box<Slot<T>>)> {
        match self {
            Self::Table(table) => table.remove_entry(key),
            Self::One(own, _) if own == key => {
                std::mem::replace(self, Self::Empty).take_all().next()
            }
            _ => None,
        }
    }

    /// Removes the slots that satisfy a condition.
    pub(super) fn extract_if(
        &mut self,
        mut ends: impl FnMut(&K, &T) -> bool,
    ) -> Vec<(K, Box<Slot<T>>)> {
        match self {
            Self::One(key, slot) if ends(key, &slot.first.1) => {
                std::mem::replace(self, Self::Empty).take_all().collect()
            }
            Self::Empty | Self::One(..) => Vec::new(),
            Self::Table(table) => {
                let gone = table.extract_if(|key, slot| ends(key, &slot.first.1));
                gone.collect()
            }
        }
    }

    pub(super) fn take_all(self) -> impl Iterator<Item = (K, Box<Slot<T>>)> {
        let (one, table) = match self {
            Self::Empty => (None, None),
            Self::One(key, slot) => (Some((key, slot)), None),
            Self::Table(table) => (None, Some(table)),
        };
        one.into_iter().chain(table.into_iter().flatten())
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&K, &Slot<T>)> {
        let (one, table) = match self {
            Self::Empty => (None, None),
            Self::One(key, slot) => (Some((key, slot)), None),
            Self::Table(table) => (None, Some(table)),
        };
        let all = one.into_iter().chain(table.into_iter().flatten());
        all.map(|(key, slot)| (key, slot.as_ref()))
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = (&K, &mut Slot<T>)> {
        let (one, table) = match self {
            Self::Empty => (None, None),
            Self::One(key, slot) => (Some((&*key, slot)), None),
            Self::Table(table) => (None, Some(table)),
        };
        let all = one.into_iter().chain(table.into_iter().flatten());
        all.map(|(key, slot)| (key, slot.as_mut()))
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Self::Empty => 0,
            Self::One(..) => 1,
            Self::Table(table) => table.len(),
        }
    }

    /// Returns true for a table that takes much memory even if it is empty.
    pub(super) fn is_large(&self) -> bool {
        matches!(self, Self::Table(table) if table.capacity() > MAX_KEPT)
    }
}
