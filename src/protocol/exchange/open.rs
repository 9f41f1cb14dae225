//! Open requests: requests without an answer so far, by their key.
//!
//! ```text
//!   scope { key -> first request, later requests with the same key }        add: the new one replaces the old
//!                                                                           queue: the first is answered first
//! ```
//!
//! The table is bounded. A request for which it has no space is not tracked, and the session reports that once.

use super::Key;
use super::request::OpenRequest;
use super::slots::{MAX_KEPT, Slot, Slots};
use crate::protocol::Direction;
use foldhash::HashMap;
use foldhash::fast::RandomState;
use std::cell::OnceCell;
use std::fmt::Debug;
use std::hash::Hash;

/// The largest number of requests that are tracked at a time.
pub const MAX_ENTRIES: usize = 1 << 16;

/// The result of adding a request.
#[derive(Debug)]
pub enum Added<T> {
    /// It is tracked.
    New,
    /// It is tracked, and replaces the open request with this key.
    Replaced(OpenRequest, T),
    /// It is tracked, behind the open requests with this key.
    Queued,
    /// There is no space.
    Untracked,
}

/// Requests by key, each with the state that a session stores for it. They are grouped by scope, so that the end of one
/// scope does not search the requests of other scopes.
#[derive(Debug)]
pub struct OpenRequests<S, I, T> {
    scopes: HashMap<S, Slots<Key<S, I>, T>>,
    /// The keys by the index of the message. It is filled at the first lookup by index, because most sessions have
    /// none.
    indexes: OnceCell<HashMap<u64, Key<S, I>>>,
    /// The hashes of all tables.
    state: RandomState,
    len: usize,
    capacity: usize,
    /// The number of requests for which there was no space.
    untracked: u64,
}

impl<S, I, T> OpenRequests<S, I, T>
where
    S: Copy + Eq + Hash + Debug,
    I: Clone + Eq + Hash,
{
    /// Creates a table for at most `capacity` requests.
    pub fn with_capacity(capacity: usize) -> Self {
        Self {
            scopes: HashMap::default(),
            indexes: OnceCell::new(),
            state: RandomState::default(),
            len: 0,
            capacity,
            untracked: 0,
        }
    }

    /// Adds a request. It replaces an open one with this key.
    pub fn add(&mut self, key: Key<S, I>, asked: OpenRequest, state: T) -> Added<T> {
        if self.is_full() && self.get(&key).is_none() {
            self.untracked += 1;
            return Added::Untracked;
        }
        self.index(&key, &asked);
        let index = asked.index();
        let slots = self.scopes.entry(key.scope).or_insert(Slots::Empty);
        let slot = Box::new(Slot::of(key, (asked, state)));
        let before = slots.insert(slot, &self.state);
        self.len += 1;
        let Some(before) = before else {
            return Added::New;
        };
        self.len -= before.len();
        for (asked, _) in before.iter().filter(|(old, _)| old.index() != index) {
            forget(&mut self.indexes, asked);
        }
        let (asked, state) = before.first;
        Added::Replaced(asked, state)
    }

    /// Adds a request behind those that have this key: they are answered first.
    pub fn queue(&mut self, key: Key<S, I>, asked: OpenRequest, state: T) -> Added<T> {
        if self.get(&key).is_none() {
            return self.add(key, asked, state);
        }
        if self.is_full() {
            self.untracked += 1;
            return Added::Untracked;
        }
        self.index(&key, &asked);
        let slots = self.scopes.get_mut(&key.scope);
        if let Some(slot) = slots.and_then(|slots| slots.get_mut(&key, &self.state)) {
            slot.push((asked, state));
            self.len += 1;
        }
        Added::Queued
    }

    fn index(&mut self, key: &Key<S, I>, asked: &OpenRequest) {
        if let Some(indexes) = self.indexes.get_mut() {
            indexes.insert(asked.index(), key.clone());
        }
    }

    fn slot(&self, key: &Key<S, I>) -> Option<&Slot<Key<S, I>, T>> {
        self.scopes.get(&key.scope)?.get(key, &self.state)
    }

    /// Returns the first request with this key, and its state.
    pub fn get(&self, key: &Key<S, I>) -> Option<&(OpenRequest, T)> {
        Some(&self.slot(key)?.first)
    }

    /// Returns the request that is the message with this index.
    pub fn at(&self, index: u64) -> Option<(&Key<S, I>, &OpenRequest, &T)> {
        let indexes = self.indexes.get_or_init(|| {
            let slots = self.scopes.values().flat_map(Slots::iter);
            slots
                .flat_map(|slot| {
                    slot.iter()
                        .map(|(asked, _)| (asked.index(), slot.key.clone()))
                })
                .collect()
        });
        let key = indexes.get(&index)?;
        let (asked, state) = self.slot(key)?.at(index)?;
        Some((key, asked, state))
    }

    /// Returns the first request with this key, and its state.
    pub fn get_mut(&mut self, key: &Key<S, I>) -> Option<&mut (OpenRequest, T)> {
        let slot = self.scopes.get_mut(&key.scope)?.get_mut(key, &self.state)?;
        Some(&mut slot.first)
    }

    /// Removes the first request with this key: no further answer comes.
    pub fn close(&mut self, key: &Key<S, I>) -> Option<(OpenRequest, T)> {
        let slots = self.scopes.get_mut(&key.scope)?;
        let mut slot = slots.remove(key, &self.state)?;
        let closed = if let Some(first) = slot.pop() {
            slots.insert(slot, &self.state);
            first
        } else {
            slot.first
        };
        let (is_empty, is_large) = (slots.len() == 0, slots.is_large());
        if is_empty && (is_large || self.scopes.len() > MAX_KEPT) {
            self.scopes.remove(&key.scope);
        }
        forget(&mut self.indexes, &closed.0);
        self.len -= 1;
        Some(closed)
    }

    /// Removes the oldest request with this key whose state satisfies a condition; the oldest of all, if none does.
    pub fn close_matching(
        &mut self,
        key: &Key<S, I>,
        is_it: impl Fn(&T) -> bool,
    ) -> Option<(OpenRequest, T)> {
        let slot = self.scopes.get_mut(&key.scope)?.get_mut(key, &self.state)?;
        let Some(closed) = slot.take_later(is_it) else {
            return self.close(key);
        };
        forget(&mut self.indexes, &closed.0);
        self.len -= 1;
        Some(closed)
    }

    /// Visits the requests of a scope.
    pub fn each(&mut self, scope: S, mut visit: impl FnMut(&Key<S, I>, &mut T)) {
        let Some(slots) = self.scopes.get_mut(&scope) else {
            return;
        };
        work::count_visits(slots.len());
        for slot in slots.iter_mut() {
            slot.each(&mut visit);
        }
    }

    /// Removes the requests of a scope that a side will not answer, because it sends nothing more, the oldest first.
    pub fn end_side(
        &mut self,
        scope: S,
        ended: Option<Direction>,
    ) -> Vec<(Key<S, I>, OpenRequest, T)> {
        let requester = ended.map(Direction::other);
        self.end_where(scope, |key, _| key.requester == requester)
    }

    /// Removes the requests of a scope whose key or first state satisfies a condition, the oldest first.
    pub fn end_where(
        &mut self,
        scope: S,
        ends: impl FnMut(&Key<S, I>, &T) -> bool,
    ) -> Vec<(Key<S, I>, OpenRequest, T)> {
        let Some(slots) = self.scopes.get_mut(&scope) else {
            return Vec::new();
        };
        work::count_visits(slots.len());
        let gone = slots.extract_if(ends);
        if slots.len() == 0 {
            self.scopes.remove(&scope);
        }
        self.removed(gone)
    }

    /// Removes all requests of a scope, the oldest first.
    pub fn end(&mut self, scope: S) -> Vec<(Key<S, I>, OpenRequest, T)> {
        let slots = self.scopes.remove(&scope).unwrap_or(Slots::Empty);
        work::count_visits(slots.len());
        self.removed(slots.take_all())
    }

    /// Returns removed requests, the oldest first.
    fn removed(
        &mut self,
        slots: impl IntoIterator<Item = Box<Slot<Key<S, I>, T>>>,
    ) -> Vec<(Key<S, I>, OpenRequest, T)> {
        let mut all = Vec::new();
        for slot in slots {
            let (key, entries) = slot.into_parts();
            for (asked, state) in entries {
                forget(&mut self.indexes, &asked);
                all.push((key.clone(), asked, state));
            }
        }
        self.len -= all.len();
        sort_by_age(&mut all, |(_, asked, _)| asked);
        all
    }

    /// Returns true if no request is open.
    #[cfg(test)]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the number of open requests.
    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns true if there is no space for another request.
    pub fn is_full(&self) -> bool {
        self.len >= self.capacity
    }

    /// Returns the number of requests that were not tracked because there was no space.
    pub fn untracked(&self) -> u64 {
        self.untracked
    }

    /// Returns the keys of a scope, each with its first request.
    pub fn in_scope(&self, scope: S) -> impl Iterator<Item = (&Key<S, I>, &OpenRequest)> {
        let slots = self.scopes.get(&scope).into_iter().flat_map(Slots::iter);
        slots.map(|slot| (&slot.key, &slot.first.0))
    }

    /// Returns the key of the only open request of a scope.
    pub fn only(&self, scope: S) -> Option<&Key<S, I>> {
        let mut slots = self.scopes.get(&scope)?.iter();
        let slot = slots.next()?;
        (slot.len() == 1 && slots.next().is_none()).then_some(&slot.key)
    }

    /// Returns the only open request of a side in a scope, apart from those that do not count; `None` also if there are too
    /// many requests to look at each.
    pub fn only_of(
        &self,
        scope: S,
        requester: Direction,
        counts: impl Fn(&T) -> bool,
    ) -> Option<&(OpenRequest, T)> {
        let slots = self.scopes.get(&scope).filter(|slots| !slots.is_large())?;
        work::count_visits(slots.len());
        let mut own = slots
            .iter()
            .filter(|slot| slot.key.requester == Some(requester))
            .filter(|slot| slot.len() > 1 || counts(&slot.first.1));
        let slot = own.next()?;
        (slot.len() == 1 && own.next().is_none()).then_some(&slot.first)
    }

    /// Returns the requests of a scope, the oldest first.
    pub fn sorted_in(&self, scope: S) -> Vec<(&Key<S, I>, &OpenRequest, &T)> {
        by_age(self.scopes.get(&scope).into_iter().flat_map(Slots::iter))
    }

    /// Returns all requests, the oldest first.
    pub fn sorted(&self) -> Vec<(&Key<S, I>, &OpenRequest, &T)> {
        by_age(self.scopes.values().flat_map(Slots::iter))
    }
}

/// Removes a closed request from the index.
fn forget<K>(indexes: &mut OnceCell<HashMap<u64, K>>, asked: &OpenRequest) {
    if let Some(indexes) = indexes.get_mut() {
        indexes.remove(&asked.index());
    }
}

/// Returns the order of a request: that of the messages, and in a batch that of the ids.
fn age(asked: &OpenRequest) -> (u64, &str) {
    (asked.index(), asked.id())
}

/// Sorts entries, the oldest first. The sort is compiled once, not for each table: it is the largest part.
fn sort_by_age<T>(all: &mut [T], asked: impl Fn(&T) -> &OpenRequest) {
    let mut order = order(all.len(), &|at| {
        all.get(at).map_or((0, ""), |entry| age(asked(entry)))
    });
    for start in 0..order.len() {
        let mut at = start;
        // Each place gets the entry that belongs there, until the first entry of the cycle has its own.
        while let Some(from) = order
            .get_mut(at)
            .map(|from| std::mem::replace(from, at as u32))
            && let from = from as usize
            && from != start
            && from != at
        {
            all.swap(at, from);
            at = from;
        }
    }
}

/// Returns the indexes of `len` entries, the oldest first; of equal ones, the one that comes first.
fn order<'a>(len: usize, age: &dyn Fn(usize) -> (u64, &'a str)) -> Vec<u32> {
    let mut order: Vec<u32> = (0..len as u32).collect();
    order.sort_unstable_by_key(|at| (age(*at as usize), *at));
    order
}

fn by_age<'o, K: 'o, T: 'o>(
    slots: impl Iterator<Item = &'o Slot<K, T>>,
) -> Vec<(&'o K, &'o OpenRequest, &'o T)> {
    let entries =
        slots.flat_map(|slot| slot.iter().map(|(asked, state)| (&slot.key, asked, state)));
    let mut all: Vec<_> = entries.collect();
    work::count_visits(all.len());
    sort_by_age(&mut all, |(_, asked, _)| asked);
    all
}

/// Counts the entries that are visited one after another, so that tests can see how the cost of a conversation grows.
pub(crate) mod work {
    #[cfg(test)]
    thread_local! {
        static DONE: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
    }

    #[cfg(not(test))]
    pub(crate) fn count_visits(_: usize) {}

    #[cfg(test)]
    pub(crate) fn count_visits(entries: usize) {
        DONE.set(DONE.get() + entries as u64);
    }

    /// Returns the count since the last call.
    #[cfg(test)]
    pub(crate) fn take() -> u64 {
        DONE.take()
    }
}

#[cfg(test)]
mod tests {
    use super::{OpenRequest, sort_by_age};
    use crate::protocol::session::Place;

    #[test]
    fn entries_are_sorted_by_index_and_id() {
        let mut entries = Vec::new();
        for (index, id) in [
            (4, "b"),
            (0, ""),
            (4, "a"),
            (3, ""),
            (9, ""),
            (1, ""),
            (4, "a"),
        ] {
            let place = Place {
                index,
                ..Place::default()
            };
            entries.push((entries.len(), OpenRequest::call(place, id)));
        }
        sort_by_age(&mut entries, |(_, asked)| asked);
        let places: Vec<usize> = entries.iter().map(|(n, _)| *n).collect();
        assert_eq!(places, [1, 5, 3, 2, 6, 0, 4]);
    }
}
