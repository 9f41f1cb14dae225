//! What was asked and is not answered yet: shared by all sessions.
//!
//! ```text
//!   ask(key, asked)  ->  [ key -> asked, state ]  ->  answer(key)
//! ```
//!
//! The table is bounded. What finds no room is not followed, and the session says so once.

use super::Origin;
use super::session::{Place, Seen, Waiting};
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

/// Requests by key, each with what a session keeps of it beside.
#[derive(Debug)]
pub struct Open<K, S = ()> {
    entries: HashMap<K, (Asked, S)>,
    most: usize,
    /// How many found no room.
    refused: u64,
}

impl<K: Hash + Eq, S> Open<K, S> {
    /// A table with room for so many.
    pub fn with_room(most: usize) -> Self {
        Self {
            entries: HashMap::new(),
            most,
            refused: 0,
        }
    }

    /// Follows a request. Gives back the one that had this key and is not answered.
    pub fn ask(&mut self, key: K, asked: Asked, state: S) -> Option<(Asked, S)> {
        if self.entries.len() >= self.most && !self.entries.contains_key(&key) {
            self.refused += 1;
            return None;
        }
        self.entries.insert(key, (asked, state))
    }

    /// The request of this key.
    pub fn get(&self, key: &K) -> Option<&(Asked, S)> {
        self.entries.get(key)
    }

    /// The request of this key, and what is kept of it.
    pub fn get_mut(&mut self, key: &K) -> Option<&mut (Asked, S)> {
        self.entries.get_mut(key)
    }

    /// The request of this key is answered for good.
    pub fn close(&mut self, key: &K) -> Option<(Asked, S)> {
        self.entries.remove(key)
    }

    /// Keeps those that satisfy a condition.
    pub fn retain(&mut self, mut keep: impl FnMut(&K, &Asked, &mut S) -> bool) {
        self.entries
            .retain(|key, (asked, state)| keep(key, asked, state));
    }

    /// How many are open.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether none is open.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Whether there is no room for one more.
    pub fn is_full(&self) -> bool {
        self.entries.len() >= self.most
    }

    /// How many were not followed for want of room.
    pub fn refused(&self) -> u64 {
        self.refused
    }

    /// All of them, the oldest first.
    pub fn sorted(&self) -> Vec<(&K, &Asked, &S)> {
        let entries = self.entries.iter();
        let mut all: Vec<_> = entries
            .map(|(k, (asked, state))| (k, asked, state))
            .collect();
        all.sort_by_key(|(_, asked, _)| asked.place.index);
        all
    }
}
