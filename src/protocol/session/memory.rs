//! What the sessions of all protocols remember beside open requests ([`Open`](crate::protocol::correlation::Open)):
//! each table is bounded.
//!
//! ```text
//!   Reported          rules that are reported once
//!   PerDirection      one value for each direction of a connection, and one for messages of unknown direction
//!   Recent            by key, the last of what ended: answers that are late or come twice
//!   Connections       by number, those that are open and the last that ended
//! ```

use crate::protocol::Direction;
use std::collections::btree_map::{BTreeMap, Values, ValuesMut};
use std::collections::{HashMap, VecDeque};
use std::hash::Hash;

/// A connection, where there are several.
pub type ConnId = Option<u32>;

/// Rules that are reported once, each for both directions or for each of them.
#[derive(Debug, Default)]
pub struct Reported(Vec<(&'static str, Option<Direction>)>);

impl Reported {
    /// Whether this is the first time.
    pub fn first(&mut self, rule: &'static str) -> bool {
        self.first_of(None, rule)
    }

    /// Whether this is the first time in this direction.
    pub fn first_of(&mut self, direction: Option<Direction>, rule: &'static str) -> bool {
        let is_first = !self.0.contains(&(rule, direction));
        if is_first {
            self.0.push((rule, direction));
        }
        is_first
    }

    /// The rule may be reported again.
    pub fn again(&mut self, rule: &'static str) {
        self.0.retain(|(reported, _)| *reported != rule);
    }
}

/// A value for each direction, and for messages of unknown direction.
#[derive(Debug, Default)]
pub struct PerDirection<T>([T; 3]);

impl<T> PerDirection<T> {
    /// That of a direction.
    pub fn get(&self, direction: Option<Direction>) -> &T {
        let [to_server, to_client, unknown] = &self.0;
        match direction {
            Some(Direction::ToServer) => to_server,
            Some(Direction::ToClient) => to_client,
            None => unknown,
        }
    }

    /// That of a direction.
    pub fn get_mut(&mut self, direction: Option<Direction>) -> &mut T {
        let [to_server, to_client, unknown] = &mut self.0;
        match direction {
            Some(Direction::ToServer) => to_server,
            Some(Direction::ToClient) => to_client,
            None => unknown,
        }
    }

    /// All of them.
    #[cfg(test)]
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.0.iter()
    }

    /// All of them.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.0.iter_mut()
    }
}

/// The last entries, by key: the oldest goes where there is no room.
#[derive(Debug)]
pub struct Recent<K, V> {
    entries: HashMap<K, (u64, V)>,
    /// Keys as they came, each with its number; an entry may have been replaced since.
    order: VecDeque<(K, u64)>,
    count: u64,
    most: usize,
}

impl<K: Clone + Eq + Hash, V> Recent<K, V> {
    /// A table of so many.
    pub fn with_room(most: usize) -> Self {
        Self {
            entries: HashMap::new(),
            order: VecDeque::new(),
            count: 0,
            most,
        }
    }

    /// Adds an entry, in place of that of the same key.
    pub fn insert(&mut self, key: K, value: V) {
        if self.order.len() >= self.most
            && let Some((oldest, number)) = self.order.pop_front()
            && self.entries.get(&oldest).is_some_and(|(n, _)| *n == number)
        {
            self.entries.remove(&oldest);
        }
        self.count += 1;
        self.order.push_back((key.clone(), self.count));
        self.entries.insert(key, (self.count, value));
    }

    /// The entry of a key.
    pub fn get(&self, key: &K) -> Option<&V> {
        self.entries.get(key).map(|(_, value)| value)
    }

    /// The entry of a key.
    pub fn get_mut(&mut self, key: &K) -> Option<&mut V> {
        self.entries.get_mut(key).map(|(_, value)| value)
    }

    /// Takes the entry of a key out.
    pub fn remove(&mut self, key: &K) -> Option<V> {
        self.entries.remove(key).map(|(_, value)| value)
    }

    /// How many are kept.
    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.entries.len().max(self.order.len())
    }
}

/// Connections, by number.
#[derive(Debug)]
pub struct Connections<T> {
    all: BTreeMap<ConnId, T>,
    /// Those that ended, from the oldest.
    ended: VecDeque<ConnId>,
    /// Most that are open, and most that have ended.
    most: [usize; 2],
}

impl<T> Connections<T> {
    /// Tables of so many open connections, and of so many that have ended.
    pub fn with_room(open: usize, ended: usize) -> Self {
        Self {
            all: BTreeMap::new(),
            ended: VecDeque::new(),
            most: [open.max(1), ended],
        }
    }

    /// A connection.
    pub fn get(&self, conn: ConnId) -> Option<&T> {
        self.all.get(&conn)
    }

    /// A connection.
    pub fn get_mut(&mut self, conn: ConnId) -> Option<&mut T> {
        self.all.get_mut(&conn)
    }

    /// Whether there is no room for a new one.
    pub fn is_full(&self, conn: ConnId) -> bool {
        let open = self.all.len().saturating_sub(self.ended.len());
        open >= self.most[0] && !self.all.contains_key(&conn)
    }

    /// A connection; a new one where it is not known.
    pub fn entry(&mut self, conn: ConnId, new: impl FnOnce() -> T) -> &mut T {
        self.all.entry(conn).or_insert_with(new)
    }

    /// The same; where there is no room, another one goes.
    pub fn entry_or_evict(&mut self, conn: ConnId, new: impl FnOnce() -> T) -> &mut T {
        if self.is_full(conn) {
            self.evict();
        }
        self.entry(conn, new)
    }

    /// Takes out the one with the lowest number.
    pub fn evict(&mut self) -> Option<T> {
        let (conn, gone) = self.all.pop_first()?;
        self.ended.retain(|ended| *ended != conn);
        Some(gone)
    }

    /// Whether a connection has ended.
    pub fn has_ended(&self, conn: ConnId) -> bool {
        self.ended.contains(&conn)
    }

    /// A connection has ended; the one that ended first is forgotten where there is no room.
    pub fn end(&mut self, conn: ConnId) {
        if self.has_ended(conn) {
            return;
        }
        self.ended.push_back(conn);
        if self.ended.len() > self.most[1]
            && let Some(oldest) = self.ended.pop_front()
        {
            self.all.remove(&oldest);
        }
    }

    /// A connection has not ended after all.
    pub fn resume(&mut self, conn: ConnId) {
        self.ended.retain(|ended| *ended != conn);
    }

    /// Takes a connection out.
    pub fn remove(&mut self, conn: ConnId) -> Option<T> {
        self.resume(conn);
        self.all.remove(&conn)
    }

    /// All of them, by number.
    pub fn values(&self) -> Values<'_, ConnId, T> {
        self.all.values()
    }

    /// All of them, by number.
    pub fn values_mut(&mut self) -> ValuesMut<'_, ConnId, T> {
        self.all.values_mut()
    }

    /// How many are kept.
    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.all.len()
    }
}
