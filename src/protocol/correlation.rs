//! What was asked and is not answered yet: shared by all sessions.
//!
//! ```text
//!   ask(key, asked)  ->  [ key -> asked, state ]  ->  answer(key)
//! ```
//!
//! The table is bounded. What finds no room is not followed, and the session says so once.

use super::Origin;
use super::session::{Place, Seen, Waiting};
use std::cell::OnceCell;
use std::collections::HashMap;
use std::hash::Hash;

/// Most requests that are followed at a time.
pub const MOST: usize = 1 << 16;

/// A message that is owed an answer.
#[derive(Clone, Debug)]
pub struct Asked {
    /// Where it is.
    pub place: Place,
    /// Its kind.
    pub kind: Box<str>,
    /// What it is about.
    pub subject: Option<Box<str>>,
    /// Its id, as shown.
    pub id: Box<str>,
}

impl Asked {
    /// What is kept of a message.
    pub fn of(seen: &Seen<'_>) -> Self {
        let message = seen.message;
        Self {
            place: seen.whole(),
            kind: message.kind.as_ref().into(),
            subject: message.subject.as_deref().map(Into::into),
            id: message.id.text().as_ref().into(),
        }
    }

    /// Where it came from.
    pub fn origin(&self) -> Origin {
        self.place.origin
    }

    /// `call math.add`, for texts; long subjects are shortened.
    pub fn what(&self) -> String {
        const LONGEST: usize = 60;
        match self.subject.as_deref().filter(|s| !s.is_empty()) {
            Some(subject) if subject.chars().nth(LONGEST).is_some() => {
                let start: String = subject.chars().take(LONGEST).collect();
                format!("{} {start}…", self.kind)
            }
            Some(subject) => format!("{} {subject}", self.kind),
            None => self.kind.to_string(),
        }
    }

    /// That it waits for the other side.
    pub fn waiting(&self, why: Option<String>) -> Waiting {
        Waiting {
            place: self.place,
            what: self.what(),
            id: self.id.to_string(),
            owes: self.origin().direction.map(super::Direction::other),
            side: None,
            why,
        }
    }
}

/// A key that belongs to something that ends as a whole: a connection, a session.
pub trait Scoped: Clone + Hash + Eq {
    /// What it belongs to.
    type Scope: Copy + Hash + Eq + std::fmt::Debug;

    /// What this key belongs to.
    fn scope(&self) -> Self::Scope;
}

type Entries<K, S> = HashMap<K, (Asked, S)>;

/// Requests by key, each with what a session keeps of it beside. They are grouped by scope, so that the end of one scope
/// costs no look at the requests of the others.
#[derive(Debug)]
pub struct Open<K: Scoped, S = ()> {
    scopes: HashMap<K::Scope, Entries<K, S>>,
    /// Keys by the index of the message, from the first time that anybody asks by it: most sessions never do.
    indexes: OnceCell<HashMap<u64, K>>,
    len: usize,
    most: usize,
    /// How many found no room.
    refused: u64,
}

impl<K: Scoped, S> Open<K, S> {
    /// A table with room for so many.
    pub fn with_room(most: usize) -> Self {
        Self {
            scopes: HashMap::new(),
            indexes: OnceCell::new(),
            len: 0,
            most,
            refused: 0,
        }
    }

    /// Follows a request. Gives back the one that had this key and is not answered.
    pub fn ask(&mut self, key: K, asked: Asked, state: S) -> Option<(Asked, S)> {
        if self.is_full() && self.get(&key).is_none() {
            self.refused += 1;
            return None;
        }
        let added = self
            .indexes
            .get_mut()
            .map(|_| (asked.place.index, key.clone()));
        let entries = self.scopes.entry(key.scope()).or_default();
        let before = entries.insert(key, (asked, state));
        if let Some((asked, _)) = &before {
            forget(&mut self.indexes, asked);
        }
        if let Some((indexes, (index, key))) = self.indexes.get_mut().zip(added) {
            indexes.insert(index, key);
        }
        self.len += usize::from(before.is_none());
        before
    }

    /// The request of this key.
    pub fn get(&self, key: &K) -> Option<&(Asked, S)> {
        self.scopes.get(&key.scope())?.get(key)
    }

    /// The request that is the message of this index.
    pub fn at(&self, index: u64) -> Option<(&K, &Asked, &S)> {
        let indexes = self.indexes.get_or_init(|| {
            let all = self.scopes.values().flatten();
            all.map(|(key, (asked, _))| (asked.place.index, key.clone()))
                .collect()
        });
        let key = indexes.get(&index)?;
        let (asked, state) = self.get(key)?;
        Some((key, asked, state))
    }

    /// The request of this key, and what is kept of it.
    pub fn get_mut(&mut self, key: &K) -> Option<&mut (Asked, S)> {
        self.scopes.get_mut(&key.scope())?.get_mut(key)
    }

    /// The request of this key is answered for good.
    pub fn close(&mut self, key: &K) -> Option<(Asked, S)> {
        let scope = key.scope();
        let entries = self.scopes.get_mut(&scope)?;
        let closed = entries.remove(key);
        if entries.is_empty() {
            self.scopes.remove(&scope);
        }
        if let Some((asked, _)) = &closed {
            forget(&mut self.indexes, asked);
        }
        self.len -= usize::from(closed.is_some());
        closed
    }

    /// Keeps those of a scope that satisfy a condition.
    pub fn retain(&mut self, scope: K::Scope, mut keep: impl FnMut(&K, &Asked, &mut S) -> bool) {
        let Some(entries) = self.scopes.get_mut(&scope) else {
            return;
        };
        work::did(entries.len());
        let before = entries.len();
        entries.retain(|key, (asked, state)| {
            let keeps = keep(key, asked, state);
            if !keeps {
                forget(&mut self.indexes, asked);
            }
            keeps
        });
        self.len -= before - entries.len();
        if entries.is_empty() {
            self.scopes.remove(&scope);
        }
    }

    /// Takes out those of a scope that satisfy a condition, the oldest first.
    pub fn end_where(
        &mut self,
        scope: K::Scope,
        mut ends: impl FnMut(&K) -> bool,
    ) -> Vec<(K, Asked, S)> {
        let Some(entries) = self.scopes.get_mut(&scope) else {
            return Vec::new();
        };
        work::did(entries.len());
        let gone = entries.extract_if(|key, _| ends(key));
        let mut all: Vec<_> = gone.map(|(k, (a, s))| (k, a, s)).collect();
        for (_, asked, _) in &all {
            forget(&mut self.indexes, asked);
        }
        self.len -= all.len();
        if entries.is_empty() {
            self.scopes.remove(&scope);
        }
        all.sort_by_key(|(_, asked, _)| asked.place.index);
        all
    }

    /// Takes out all those of a scope, the oldest first.
    pub fn end(&mut self, scope: K::Scope) -> Vec<(K, Asked, S)> {
        let entries = self.scopes.remove(&scope).unwrap_or_default();
        work::did(entries.len());
        self.len -= entries.len();
        let mut all: Vec<_> = entries.into_iter().map(|(k, (a, s))| (k, a, s)).collect();
        for (_, asked, _) in &all {
            forget(&mut self.indexes, asked);
        }
        all.sort_by_key(|(_, asked, _)| asked.place.index);
        all
    }

    /// Takes out all, the oldest first.
    pub fn end_all(&mut self) -> Vec<(K, Asked, S)> {
        let scopes: Vec<_> = self.scopes.keys().copied().collect();
        let mut all: Vec<_> = scopes.into_iter().flat_map(|s| self.end(s)).collect();
        all.sort_by_key(|(_, asked, _)| asked.place.index);
        all
    }

    /// Whether none is open.
    #[cfg(test)]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// How many are open.
    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no room for one more.
    pub fn is_full(&self) -> bool {
        self.len >= self.most
    }

    /// How many were not followed for want of room.
    pub fn refused(&self) -> u64 {
        self.refused
    }

    /// Those of a scope, the oldest first.
    pub fn sorted_in(&self, scope: K::Scope) -> Vec<(&K, &Asked, &S)> {
        by_age(self.scopes.get(&scope).into_iter().flatten())
    }

    /// All of them, the oldest first.
    pub fn sorted(&self) -> Vec<(&K, &Asked, &S)> {
        by_age(self.scopes.values().flatten())
    }
}

/// A request is open no more.
fn forget<K>(indexes: &mut OnceCell<HashMap<u64, K>>, asked: &Asked) {
    if let Some(indexes) = indexes.get_mut() {
        indexes.remove(&asked.place.index);
    }
}

fn by_age<'o, K, S>(
    entries: impl Iterator<Item = (&'o K, &'o (Asked, S))>,
) -> Vec<(&'o K, &'o Asked, &'o S)> {
    let mut all: Vec<_> = entries
        .map(|(k, (asked, state))| (k, asked, state))
        .collect();
    work::did(all.len());
    all.sort_by_key(|(_, asked, _)| asked.place.index);
    all
}

/// Counts entries that are looked at one after another, so that tests can see how the cost of a conversation grows.
pub(crate) mod work {
    #[cfg(test)]
    thread_local! {
        static DONE: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
    }

    #[cfg(not(test))]
    pub(crate) fn did(_: usize) {}

    #[cfg(test)]
    pub(crate) fn did(entries: usize) {
        DONE.set(DONE.get() + entries as u64);
    }

    /// What was done since the last call.
    #[cfg(test)]
    pub(crate) fn take() -> u64 {
        DONE.take()
    }
}
