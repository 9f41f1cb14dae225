//! The exchange engine: which request a message answers. All sessions use it.
//!
//! A protocol reads facts from a message, and asks the engine what they mean:
//!
//! ```text
//!   the message           the protocol calls         the result
//!   is a request          add(key), queue(key)       Added: New, Replaced, Queued, Untracked
//!   is an answer          find(key)                  Found: Open, Ended, Untracked, Never
//!     or an item          open.get_mut(key)          the request stays open, with its state
//!     or the last one     open.close(key)            the request; the session notes how it ended
//!     about something     open.close_matching(key)   the request about it; the oldest, if none is
//!   cancels a request     find(key)                  the state of the request says that it is cancelled
//!   is missing            lose(scope, way)           later answers are Untracked, not Never
//!   is the last one       open.end_side(scope, way)  the requests that get no answer
//!
//!            scope                requester        id
//!   key    { where ids are known, which side asks, what the answer repeats }
//!            one connection       one of two       a number, a text:   by id
//!            a session, a stream  None: unknown,   a method:           by order, for each method
//!            all connections      or only one      nothing, `()`:      by order
//!
//!            .-- open ----------------------.            .-- ended -----.
//!   add ---> | key -> request, state        | -- close ->| key -> end   | ---> forgotten, the oldest first
//!   queue -> |     -> later ones, in order  |            '--------------'
//!            '------------------------------'
//! ```
//!
//! The engine reports nothing: each protocol has its own rules and texts. Keys and states are types of the session, so
//! that a session can also read them from a description.

mod open;
pub(super) mod pairs;
mod request;
mod short_text;
mod slots;

pub(crate) use open::{Added, MAX_ENTRIES, OpenRequests, work};
pub use request::OpenRequest;
pub(crate) use request::{SharedRequestTexts, SharedTexts};

use super::Direction;
use super::session::memory::RecentEntries;
use std::fmt::Debug;
use std::hash::Hash;

/// The largest number of stored gaps.
const MAX_GAPS: usize = 1 << 13;

/// What a request and its answers share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Key<S, I> {
    /// Where the id is known: a connection, a stream, a session.
    pub(crate) scope: S,
    /// The direction of the request, if it is known and each side has its own ids.
    pub(crate) requester: Option<Direction>,
    /// What the answer repeats.
    pub(crate) id: I,
}

impl<S: Copy, I: Clone> Key<S, I> {
    /// Returns the key of a request if only one side asks, or if both share their ids.
    pub(crate) const fn one_way(scope: S, id: I) -> Self {
        Self {
            scope,
            requester: None,
            id,
        }
    }

    /// Returns the same id in another scope.
    pub(crate) fn at(&self, scope: S) -> Self {
        Self {
            scope,
            ..self.clone()
        }
    }

    /// Returns the same id of the other side.
    pub(crate) fn reversed(&self) -> Self {
        Self {
            requester: self.requester.map(Direction::other),
            ..self.clone()
        }
    }
}

/// What is known about the request with a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// It waits for an answer.
    Open,
    /// It has ended.
    Ended,
    /// There may be one: messages are missing, or there was no space for it.
    Untracked,
    /// There is none.
    Never,
}

/// How a protocol chooses ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ids {
    /// Each id is used once: an id that has ended stays so.
    Once,
    /// An id may be used again after its answer.
    Again,
}

/// The requests of a conversation: open ones, and recent ones that have ended.
#[derive(Debug)]
pub(crate) struct Exchange<S, I, T, E = u64> {
    pub(crate) open: OpenRequests<S, I, T>,
    pub(crate) ended: RecentEntries<Key<S, I>, E>,
    /// Answers without a request: if the order of the directions is not known, the request may come later.
    pub(crate) early: RecentEntries<Key<S, I>, ()>,
    ids: Ids,
    /// Scopes and directions with missing messages.
    gaps: RecentEntries<(S, Direction), ()>,
}

impl<S, I, T, E> Exchange<S, I, T, E>
where
    S: Copy + Eq + Hash + Debug,
    I: Clone + Eq + Hash,
{
    /// Creates an engine for at most `open` open requests. It stores the ends of the last `ended`.
    pub(crate) fn new(ids: Ids, open: usize, ended: usize) -> Self {
        Self {
            open: OpenRequests::with_capacity(open),
            ended: RecentEntries::with_capacity(ended),
            early: RecentEntries::with_capacity(ended),
            ids,
            gaps: RecentEntries::with_capacity(MAX_GAPS),
        }
    }

    /// Returns what is known about the request with a key.
    pub(crate) fn find(&self, key: &Key<S, I>) -> Found {
        if self.open.get(key).is_some() {
            return Found::Open;
        }
        let lacks = self.may_lack(key.scope, key.requester);
        // A later request with the id may be missing.
        if lacks && self.ids == Ids::Again {
            Found::Untracked
        } else if self.ended.get(key).is_some() {
            Found::Ended
        } else if lacks {
            Found::Untracked
        } else {
            Found::Never
        }
    }

    /// Returns true if requests of a side may be missing in the table, of any if it is not known.
    pub(crate) fn may_lack(&self, scope: S, requester: Option<Direction>) -> bool {
        self.open.untracked() > 0 || self.has_gap(scope, requester)
    }

    /// Handles lost bytes: messages of this direction may be missing, of both if it is not known.
    pub(crate) fn lose(&mut self, scope: S, way: Option<Direction>) {
        for way in ways(way) {
            self.gaps.insert((scope, way), ());
        }
    }

    /// Handles a scope that begins anew: none of its messages is missing.
    pub(crate) fn reopen(&mut self, scope: S) {
        for way in ways(None) {
            self.gaps.remove(&(scope, way));
        }
    }

    /// Returns true if messages of this direction are missing, of any if it is not known.
    pub(crate) fn has_gap(&self, scope: S, way: Option<Direction>) -> bool {
        self.gaps.len() > 0 && ways(way).any(|way| self.gaps.get(&(scope, way)).is_some())
    }
}

/// Returns the directions that an unknown one may be.
fn ways(way: Option<Direction>) -> impl Iterator<Item = Direction> {
    let both = [Direction::ToServer, Direction::ToClient];
    both.into_iter()
        .filter(move |one| way.is_none_or(|way| way == *one))
}

#[cfg(test)]
mod tests;
