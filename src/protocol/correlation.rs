//! Open requests: requests without an answer so far. All sessions share this.
//!
//! ```text
//!   ask(key, asked)  ->  [ key -> asked, state ]  ->  answer(key)
//! ```
//!
//! The table is bounded. A request for which it has no space is not tracked, and the session reports that once.

use super::session::{Place, Seen, Waiting};
use super::{Origin, with_name};
use crate::escape::shorten;
use crate::framing::fields::{text_secrets, without};
use foldhash::{HashMap, HashSet};
use std::cell::OnceCell;
use std::hash::Hash;
use std::sync::Arc;

/// The largest number of requests that are tracked at a time.
pub const MAX_ENTRIES: usize = 1 << 16;

/// Up to this number of scopes, a table of at most this capacity is kept when its last request is closed.
const MAX_KEPT: usize = 1 << 8;

/// The largest number of texts that open requests share.
const MAX_TEXTS: usize = 1 << 8;

/// A message that needs an answer.
#[derive(Clone, Debug)]
pub struct OpenRequest {
    /// The position.
    pub place: Place,
    /// The kind.
    pub kind: Arc<str>,
    /// The subject.
    pub subject: Option<Arc<str>>,
    /// The name within the subject.
    pub name: Option<Arc<str>>,
    /// The id for display.
    pub id: Box<str>,
}

impl OpenRequest {
    /// Copies the parts of a message that the table stores.
    pub fn of(seen: &Seen<'_>) -> Self {
        let message = seen.message;
        Self {
            place: seen.whole(),
            kind: message.kind.as_ref().into(),
            subject: message.subject.as_deref().map(Into::into),
            name: message.name.as_deref().map(Into::into),
            id: message.id.text().as_ref().into(),
        }
    }

    /// Returns the origin of the message.
    pub fn origin(&self) -> Origin {
        self.place.origin
    }

    /// Returns `call math.add` or `request tools/call echo`, for texts. Secrets are removed, and long subjects are shortened.
    pub fn describe(&self) -> String {
        const LONGEST: usize = 60;
        let about = with_name(self.subject.as_deref(), self.name.as_deref());
        // Findings about other messages show it: they mask only their own values.
        let about = without(&about, &text_secrets(about.as_bytes()));
        match about.as_ref() {
            "" => self.kind.to_string(),
            about => format!("{} {}", self.kind, shorten(about, LONGEST + 1)),
        }
    }

    /// Returns that the request waits for the peer.
    pub fn waiting(&self, why: Option<String>) -> Waiting {
        Waiting {
            place: self.place,
            what: self.describe(),
            id: self.id.to_string(),
            owes: self.origin().direction.map(super::Direction::other),
            side: None,
            why,
            nests: false,
            blocked_by: None,
        }
    }
}

/// Kinds, subjects and names that many requests have: each is stored once.
#[derive(Debug, Default)]
struct SharedTexts(HashSet<Arc<str>>);

impl SharedTexts {
    fn share(&mut self, asked: &mut OpenRequest) {
        let OpenRequest {
            kind,
            subject,
            name,
            ..
        } = asked;
        for text in [Some(kind), subject.as_mut(), name.as_mut()] {
            let Some(text) = text else {
                continue;
            };
            if let Some(known) = self.0.get(text) {
                *text = Arc::clone(known);
            } else if self.0.len() < MAX_TEXTS {
                self.0.insert(Arc::clone(text));
            }
        }
    }
}

/// A key that belongs to a connection or a session, and ends with it.
pub trait Scoped: Clone + Hash + Eq {
    /// The connection or session.
    type Scope: Copy + Hash + Eq + std::fmt::Debug;

    /// Returns the connection or session of this key.
    fn scope(&self) -> Self::Scope;
}

/// The open requests of one scope. Most connections have one, which needs no table. Boxed, because a table has unused space.
#[derive(Debug)]
enum Entries<K, S> {
    Empty,
    One(K, Box<(OpenRequest, S)>),
    Table(HashMap<K, Box<(OpenRequest, S)>>),
}

impl<K: Hash + Eq, S> Entries<K, S> {
    fn get(&self, key: &K) -> Option<&(OpenRequest, S)> {
        match self {
            Self::Empty => None,
            Self::One(own, entry) => (own == key).then_some(entry.as_ref()),
            Self::Table(table) => table.get(key).map(Box::as_ref),
        }
    }

    fn get_mut(&mut self, key: &K) -> Option<&mut (OpenRequest, S)> {
        match self {
            Self::Empty => None,
            Self::One(own, entry) => (own == key).then_some(entry.as_mut()),
            Self::Table(table) => table.get_mut(key).map(Box::as_mut),
        }
    }

    fn insert(&mut self, key: K, entry: (OpenRequest, S)) -> Option<(OpenRequest, S)> {
        let entry = Box::new(entry);
        match self {
            Self::Empty => *self = Self::One(key, entry),
            Self::One(own, before) if *own == key => {
                return Some(*std::mem::replace(before, entry));
            }
            Self::One(..) => {
                let mut table = HashMap::from_iter([(key, entry)]);
                table.extend(std::mem::replace(self, Self::Empty).take_all());
                *self = Self::Table(table);
            }
            Self::Table(table) => return table.insert(key, entry).map(|before| *before),
        }
        None
    }

    fn remove(&mut self, key: &K) -> Option<(OpenRequest, S)> {
        match self {
            Self::Table(table) => table.remove(key).map(|entry| *entry),
            Self::One(own, _) if own == key => {
                let one = std::mem::replace(self, Self::Empty).take_all().next();
                one.map(|(_, entry)| *entry)
            }
            _ => None,
        }
    }

    /// Retains the entries that satisfy a condition. Removed ones are returned.
    fn extract_if(
        &mut self,
        mut ends: impl FnMut(&K, &mut (OpenRequest, S)) -> bool,
    ) -> Vec<(K, OpenRequest, S)> {
        match self {
            Self::Empty => Vec::new(),
            Self::One(key, entry) => {
                if !ends(key, entry) {
                    return Vec::new();
                }
                let one = std::mem::replace(self, Self::Empty).take_all();
                one.map(owned).collect()
            }
            Self::Table(table) => table
                .extract_if(|key, entry| ends(key, entry))
                .map(owned)
                .collect(),
        }
    }

    fn take_all(self) -> impl Iterator<Item = (K, Box<(OpenRequest, S)>)> {
        let (one, table) = match self {
            Self::Empty => (None, None),
            Self::One(key, entry) => (Some((key, entry)), None),
            Self::Table(table) => (None, Some(table)),
        };
        one.into_iter().chain(table.into_iter().flatten())
    }

    fn iter(&self) -> impl Iterator<Item = (&K, &(OpenRequest, S))> {
        let (one, table) = match self {
            Self::Empty => (None, None),
            Self::One(key, entry) => (Some((key, entry)), None),
            Self::Table(table) => (None, Some(table)),
        };
        let all = one.into_iter().chain(table.into_iter().flatten());
        all.map(|(key, entry)| (key, entry.as_ref()))
    }

    fn len(&self) -> usize {
        match self {
            Self::Empty => 0,
            Self::One(..) => 1,
            Self::Table(table) => table.len(),
        }
    }

    /// Returns true for a table that takes much memory even if it is empty.
    fn is_large(&self) -> bool {
        matches!(self, Self::Table(table) if table.capacity() > MAX_KEPT)
    }
}

/// Requests by key, each with the state that a session stores for it. They are grouped by scope, so that the end of one
/// scope does not search the requests of other scopes.
#[derive(Debug)]
pub struct OpenRequests<K: Scoped, S = ()> {
    scopes: HashMap<K::Scope, Entries<K, S>>,
    /// The keys by the index of the message. It is filled at the first lookup by index, because most sessions have
    /// none.
    indexes: OnceCell<HashMap<u64, K>>,
    texts: SharedTexts,
    len: usize,
    capacity: usize,
    /// The number of requests for which there was no space.
    refused: u64,
}

impl<K: Scoped, S> OpenRequests<K, S> {
    /// Creates a table for at most `capacity` requests.
    pub fn with_capacity(capacity: usize) -> Self {
        Self {
            scopes: HashMap::default(),
            indexes: OnceCell::new(),
            texts: SharedTexts::default(),
            len: 0,
            capacity,
            refused: 0,
        }
    }

    /// Adds a request. Returns the open request that had this key.
    pub fn add_request(
        &mut self,
        key: K,
        mut asked: OpenRequest,
        state: S,
    ) -> Option<(OpenRequest, S)> {
        if self.is_full() && self.get(&key).is_none() {
            self.refused += 1;
            return None;
        }
        self.texts.share(&mut asked);
        let added = self
            .indexes
            .get_mut()
            .map(|_| (asked.place.index, key.clone()));
        let scope = self.scopes.entry(key.scope());
        let entries = scope.or_insert(Entries::Empty);
        let before = entries.insert(key, (asked, state));
        if let Some(before) = &before {
            forget(&mut self.indexes, &before.0);
        }
        if let Some((indexes, (index, key))) = self.indexes.get_mut().zip(added) {
            indexes.insert(index, key);
        }
        self.len += usize::from(before.is_none());
        before
    }

    /// Returns the request with this key.
    pub fn get(&self, key: &K) -> Option<&(OpenRequest, S)> {
        self.scopes.get(&key.scope())?.get(key)
    }

    /// Returns the request that is the message with this index.
    pub fn at(&self, index: u64) -> Option<(&K, &OpenRequest, &S)> {
        let indexes = self.indexes.get_or_init(|| {
            let all = self.scopes.values().flat_map(Entries::iter);
            all.map(|(key, entry)| (entry.0.place.index, key.clone()))
                .collect()
        });
        let key = indexes.get(&index)?;
        let (asked, state) = self.get(key)?;
        Some((key, asked, state))
    }

    /// Returns the request with this key, and its state.
    pub fn get_mut(&mut self, key: &K) -> Option<&mut (OpenRequest, S)> {
        let entries = self.scopes.get_mut(&key.scope())?;
        entries.get_mut(key)
    }

    /// Removes the request with this key: no further answer comes.
    pub fn close(&mut self, key: &K) -> Option<(OpenRequest, S)> {
        let scope = key.scope();
        let entries = self.scopes.get_mut(&scope)?;
        let closed = entries.remove(key);
        let (is_empty, is_large) = (entries.len() == 0, entries.is_large());
        if is_empty && (is_large || self.scopes.len() > MAX_KEPT) {
            self.scopes.remove(&scope);
        }
        if let Some((asked, _)) = &closed {
            forget(&mut self.indexes, asked);
        }
        self.len -= usize::from(closed.is_some());
        closed
    }

    /// Retains the requests of a scope that satisfy a condition.
    pub fn retain(
        &mut self,
        scope: K::Scope,
        mut keep: impl FnMut(&K, &OpenRequest, &mut S) -> bool,
    ) {
        self.remove_where(scope, |key, (asked, state)| !keep(key, asked, state));
    }

    /// Removes the requests of a scope that satisfy a condition, the oldest first.
    pub fn end_where(
        &mut self,
        scope: K::Scope,
        mut ends: impl FnMut(&K) -> bool,
    ) -> Vec<(K, OpenRequest, S)> {
        let mut all = self.remove_where(scope, |key, _| ends(key));
        sort_by_age(&mut all, |(_, asked, _)| asked);
        all
    }

    fn remove_where(
        &mut self,
        scope: K::Scope,
        ends: impl FnMut(&K, &mut (OpenRequest, S)) -> bool,
    ) -> Vec<(K, OpenRequest, S)> {
        let Some(entries) = self.scopes.get_mut(&scope) else {
            return Vec::new();
        };
        work::count_visits(entries.len());
        let all = entries.extract_if(ends);
        if entries.len() == 0 {
            self.scopes.remove(&scope);
        }
        for (_, asked, _) in &all {
            forget(&mut self.indexes, asked);
        }
        self.len -= all.len();
        all
    }

    /// Removes all requests of a scope, the oldest first.
    pub fn end(&mut self, scope: K::Scope) -> Vec<(K, OpenRequest, S)> {
        let mut all = self.remove_where(scope, |_, _| true);
        sort_by_age(&mut all, |(_, asked, _)| asked);
        all
    }

    /// Removes all requests, the oldest first.
    pub fn end_all(&mut self) -> Vec<(K, OpenRequest, S)> {
        let scopes: Vec<_> = self.scopes.keys().copied().collect();
        let mut all: Vec<_> = scopes.into_iter().flat_map(|s| self.end(s)).collect();
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
    pub fn refused(&self) -> u64 {
        self.refused
    }

    /// Returns the requests of a scope, the oldest first.
    pub fn sorted_in(&self, scope: K::Scope) -> Vec<(&K, &OpenRequest, &S)> {
        by_age(self.scopes.get(&scope).into_iter().flat_map(Entries::iter))
    }

    /// Returns all requests, the oldest first.
    pub fn sorted(&self) -> Vec<(&K, &OpenRequest, &S)> {
        by_age(self.scopes.values().flat_map(Entries::iter))
    }
}

/// Removes a closed request from the index.
fn forget<K>(indexes: &mut OnceCell<HashMap<u64, K>>, asked: &OpenRequest) {
    if let Some(indexes) = indexes.get_mut() {
        indexes.remove(&asked.place.index);
    }
}

/// Returns the parts of an entry.
fn owned<K, S>((key, entry): (K, Box<(OpenRequest, S)>)) -> (K, OpenRequest, S) {
    let (asked, state) = *entry;
    (key, asked, state)
}

/// Returns the order of a request: that of the messages, and in a batch that of the ids.
fn age(asked: &OpenRequest) -> (u64, &str) {
    (asked.place.index, &asked.id)
}

/// Sorts entries, the oldest first. The sort is compiled once, not for each table: it is the largest part.
fn sort_by_age<T>(all: &mut [T], asked: impl Fn(&T) -> &OpenRequest) {
    let ages: Vec<_> = all.iter().map(|entry| age(asked(entry))).collect();
    let mut order = order(&ages);
    for start in 0..order.len() {
        let mut at = start;
        // Each place gets the entry that belongs there, until the first entry of the cycle has its own.
        while let Some(from) = order.get_mut(at).map(|from| std::mem::replace(from, at))
            && from != start
            && from != at
        {
            all.swap(at, from);
            at = from;
        }
    }
}

/// Returns the indexes of the ages, the oldest first.
fn order(ages: &[(u64, &str)]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..ages.len()).collect();
    order.sort_by_key(|at| ages.get(*at));
    order
}

fn by_age<'o, K, S>(
    entries: impl Iterator<Item = (&'o K, &'o (OpenRequest, S))>,
) -> Vec<(&'o K, &'o OpenRequest, &'o S)> {
    let mut all: Vec<_> = entries
        .map(|(k, (asked, state))| (k, asked, state))
        .collect();
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
            let asked = OpenRequest {
                place,
                kind: "call".into(),
                subject: None,
                name: None,
                id: id.into(),
            };
            entries.push((entries.len(), asked));
        }
        sort_by_age(&mut entries, |(_, asked)| asked);
        let places: Vec<usize> = entries.iter().map(|(n, _)| *n).collect();
        assert_eq!(places, [1, 5, 3, 2, 6, 0, 4]);
    }
}
