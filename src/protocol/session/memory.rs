//! The bounded tables of all sessions, except open requests ([`OpenRequests`](crate::protocol::exchange::OpenRequests)).
//!
//! ```text
//!   Reported          rules that are reported once
//!   BoxedPerDirection a large value for each direction of a connection that has one
//!   Lazy              a value that is made when it is changed first
//!   RecentEntries     by key, recent entries: answers that are late or repeated
//!   Connections       by number, open connections and recently ended ones
//! ```

use crate::protocol::Direction;
pub(crate) use crate::protocol::peer::RecentEntries;
pub use crate::protocol::per_direction::PerDirection;
use crate::protocol::rule_names::RuleId;
use std::collections::{BTreeMap, VecDeque};
use std::ops::{Deref, DerefMut};

/// A connection, if there are several.
pub type ConnId = Option<u32>;

/// Rules that are reported once, either for both directions together or for each direction.
#[derive(Debug, Default)]
pub struct Reported(Vec<(RuleId, Option<Direction>)>);

impl Reported {
    /// No rule was reported.
    pub const NONE: Self = Self(Vec::new());

    /// Returns true at the first call for a rule.
    pub fn first(&mut self, rule: RuleId) -> bool {
        self.first_of(None, rule)
    }

    /// Returns true at the first call for a rule in this direction.
    pub fn first_of(&mut self, direction: Option<Direction>, rule: RuleId) -> bool {
        let is_first = !self.0.contains(&(rule, direction));
        if is_first {
            self.0.push((rule, direction));
        }
        is_first
    }

    /// Allows a rule to be reported again.
    pub fn reset(&mut self, rule: RuleId) {
        self.0.retain(|(reported, _)| *reported != rule);
    }
}

/// A value for each direction that has one, and for messages of unknown direction: most connections have few.
#[derive(Debug)]
pub struct BoxedPerDirection<T>(PerDirection<Option<Box<T>>>);

impl<T> Default for BoxedPerDirection<T> {
    fn default() -> Self {
        Self(PerDirection::default())
    }
}

impl<T: Default> BoxedPerDirection<T> {
    /// Returns the value of a direction, if it has one.
    pub fn get(&self, direction: Option<Direction>) -> Option<&T> {
        self.0.get(direction).as_deref()
    }

    /// Returns the value of a direction; creates it if there is none.
    pub fn get_mut(&mut self, direction: Option<Direction>) -> &mut T {
        self.0.get_mut(direction).get_or_insert_default()
    }

    /// Returns all values.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.0.iter().filter_map(Option::as_deref)
    }

    /// Returns all values.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.0.iter_mut().filter_map(Option::as_deref_mut)
    }
}

/// A value that most connections do not have: it is made when it is changed first.
#[derive(Debug)]
pub struct Lazy<T>(Option<Box<T>>);

/// What a value is before it is made.
pub trait Blank: Default + 'static {
    /// The same value as that of `default`.
    const BLANK: &'static Self;
}

impl<T> Default for Lazy<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<T: Blank> Lazy<T> {
    /// Returns the value if it was made.
    pub fn made(&mut self) -> Option<&mut T> {
        self.0.as_deref_mut()
    }

    /// Removes the value.
    pub fn take(&mut self) -> T {
        self.0.take().map(|value| *value).unwrap_or_default()
    }
}

impl<T: Blank> Deref for Lazy<T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.0.as_deref().unwrap_or(T::BLANK)
    }
}

impl<T: Blank> DerefMut for Lazy<T> {
    fn deref_mut(&mut self) -> &mut T {
        self.0.get_or_insert_default()
    }
}

/// Connections, by number.
#[derive(Debug)]
pub struct Connections<T> {
    /// Boxed: a node of the map has space for eleven values, of which about half are used.
    all: BTreeMap<ConnId, Box<T>>,
    /// Connections that ended, the oldest first.
    ended: VecDeque<ConnId>,
    /// The largest numbers of open and of ended connections.
    capacity: [usize; 2],
}

impl<T> Connections<T> {
    /// Creates tables for at most `open` open connections and `ended` ended ones.
    pub fn with_capacity(open: usize, ended: usize) -> Self {
        Self {
            all: BTreeMap::new(),
            ended: VecDeque::new(),
            capacity: [open.max(1), ended],
        }
    }

    /// Returns a connection.
    pub fn get(&self, conn: ConnId) -> Option<&T> {
        self.all.get(&conn).map(Box::as_ref)
    }

    /// Returns a connection.
    pub fn get_mut(&mut self, conn: ConnId) -> Option<&mut T> {
        self.all.get_mut(&conn).map(Box::as_mut)
    }

    /// Returns true if there is no space for a new connection.
    pub fn is_full(&self, conn: ConnId) -> bool {
        let open = self.all.len().saturating_sub(self.ended.len());
        open >= self.capacity[0] && !self.all.contains_key(&conn)
    }

    /// Returns a connection; creates it if it is unknown.
    pub fn entry(&mut self, conn: ConnId, new: impl FnOnce() -> T) -> &mut T {
        self.all.entry(conn).or_insert_with(|| Box::new(new()))
    }

    /// Like [`Self::entry`], but removes another connection if there is no space.
    pub fn entry_or_evict(&mut self, conn: ConnId, new: impl FnOnce() -> T) -> &mut T {
        if self.is_full(conn) {
            self.evict();
        }
        self.entry(conn, new)
    }

    /// Removes the connection with the lowest number.
    pub fn evict(&mut self) -> Option<T> {
        let (conn, gone) = self.all.pop_first()?;
        self.ended.retain(|ended| *ended != conn);
        Some(*gone)
    }

    /// Returns true if a connection has ended.
    pub fn has_ended(&self, conn: ConnId) -> bool {
        self.ended.contains(&conn)
    }

    /// Marks a connection as ended. If there is no space, the one that ended first is removed.
    pub fn end(&mut self, conn: ConnId) {
        if self.has_ended(conn) {
            return;
        }
        self.ended.push_back(conn);
        if self.ended.len() > self.capacity[1]
            && let Some(oldest) = self.ended.pop_front()
        {
            self.all.remove(&oldest);
        }
    }

    /// Marks an ended connection as open again.
    pub fn resume(&mut self, conn: ConnId) {
        self.ended.retain(|ended| *ended != conn);
    }

    /// Removes a connection.
    pub fn remove(&mut self, conn: ConnId) -> Option<T> {
        self.resume(conn);
        self.all.remove(&conn).map(|gone| *gone)
    }

    /// Returns all connections, by number.
    pub fn values(&self) -> impl DoubleEndedIterator<Item = &T> {
        self.all.values().map(Box::as_ref)
    }

    /// Returns all connections, by number.
    pub fn values_mut(&mut self) -> impl DoubleEndedIterator<Item = &mut T> {
        self.all.values_mut().map(Box::as_mut)
    }

    /// Returns the number of stored connections.
    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.all.len()
    }
}
