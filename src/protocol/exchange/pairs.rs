//! Requests and answers that have the same id: a number, a text or any other value.
//!
//! ```text
//!   space     one connection   or   all connections: an answer may use another one
//!   requester each side has its own ids
//!   id        by type and value: 7 is 7.0 but not "7", "a\u0041" is "aA"
//!
//!   add_request     a second open request with an id is reported; they are answered in order
//!   find_request    of the other side; if the direction is not known, of either; as another type, which is reported
//!   report_unmatched, cancel                     no open request has the id
//! ```

use super::{Added, Exchange, Found, Ids, Key, OpenRequest};
use crate::protocol::Direction;
use crate::protocol::rule_names::all as rule;
use crate::protocol::session::memory::ConnId;
use crate::protocol::session::stored::{stored_bytes, to_stored};
use crate::protocol::session::text::{quote, short};
use crate::protocol::session::{Current, broken};
use crate::tape::Node;
use std::ops::{Deref, DerefMut};

/// The number of stored ids of answers.
const MAX_ENDED: usize = 1 << 8;

/// The range in which an id is unique.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(in crate::protocol) enum IdSpace {
    /// All connections of the conversation.
    All,
    One(ConnId),
}

/// An id as peers compare it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(in crate::protocol) enum Ident {
    Whole(i64),
    Text(Box<str>),
    /// Another value, as it is written; of a long one, what is stored.
    Other(Box<[u8]>),
}

/// The parts of a request that its answer repeats.
pub(in crate::protocol) type PairKey = Key<IdSpace, Ident>;

impl PairKey {
    /// Returns the key of a request with an id; `None` if the id is null.
    pub(in crate::protocol) fn of(
        scope: IdSpace,
        requester: Direction,
        id: Node<'_>,
    ) -> Option<Self> {
        if id.is_null() {
            return None;
        }
        let whole = || i64::try_from(id.as_i128()?).ok();
        let id = if id.is_string() {
            Ident::Text(to_stored(&id.text()?))
        } else if let Some(whole) = whole() {
            Ident::Whole(whole)
        } else {
            Ident::Other(stored_bytes(id.span().of(id.bytes())))
        };
        Some(Self {
            scope,
            requester: Some(requester),
            id,
        })
    }

    /// Returns the same value as another type.
    fn retyped(&self) -> Option<Self> {
        let id = match &self.id {
            Ident::Whole(n) => Ident::Text(n.to_string().into()),
            Ident::Text(text) => Ident::Whole(text.parse().ok()?),
            Ident::Other(_) => return None,
        };
        Some(Self { id, ..*self })
    }
}

/// The facts about a message that its pairing needs.
#[derive(Clone, Copy)]
pub(in crate::protocol) struct Facts<'s, 'a> {
    pub(in crate::protocol) seen: Current<'s, 'a>,
    /// Its id, or in an answer that of the request.
    pub(in crate::protocol) id: Option<Node<'a>>,
    pub(in crate::protocol) space: IdSpace,
    pub(in crate::protocol) direction: Option<Direction>,
}

impl Facts<'_, '_> {
    /// Returns the key of the request that an answer means; if the direction is not known, of the client.
    pub(in crate::protocol) fn answered_key(&self) -> Option<PairKey> {
        let requester = self.direction.map_or(Direction::ToServer, Direction::other);
        PairKey::of(self.space, requester, self.id?)
    }
}

/// What keeps a requester from receiving an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::protocol) enum Unread {
    Malformed,
    Truncated,
    /// A line without a line end.
    Unended,
    /// Its id has another type, which has its own finding.
    Retyped,
    /// Its id is another one.
    Renamed,
    /// An HTTP response with this status and without a message.
    Empty(u16),
}

/// An answer that the requester does not receive.
#[derive(Debug)]
struct UnreadAnswer {
    index: u64,
    why: Unread,
}

/// An open request; `own` is what only the protocol stores.
#[derive(Debug, Default)]
#[allow(clippy::struct_excessive_bools)] // each is a fact of its own
pub(in crate::protocol) struct Sent<T> {
    /// The request has an error: peers may leave it unanswered.
    pub(in crate::protocol) breaks_rule: bool,
    /// The answer may have been missed.
    pub(in crate::protocol) may_be_missed: bool,
    /// The index and the time of the message that cancelled it.
    pub(in crate::protocol) cancelled: Option<Box<(u64, Option<i64>)>>,
    /// The client ended its direction of the HTTP connection before the server did.
    pub(in crate::protocol) client_left: bool,
    /// The first answer that the requester does not receive as one.
    unread: Option<Box<UnreadAnswer>>,
    /// Another request used the same id while this one was open.
    is_duplicate: bool,
    own: T,
}

impl<T> Deref for Sent<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.own
    }
}

impl<T> DerefMut for Sent<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.own
    }
}

impl<T> Sent<T> {
    /// Creates the state of a new request.
    pub(in crate::protocol) fn new(breaks_rule: bool, own: T) -> Self {
        Self {
            breaks_rule,
            may_be_missed: false,
            cancelled: None,
            client_left: false,
            unread: None,
            is_duplicate: false,
            own,
        }
    }

    /// Returns the reason why an answer that came is none for its requester.
    pub(in crate::protocol) fn unread(&self) -> Option<String> {
        let UnreadAnswer { index, why } = self.unread.as_deref()?;
        let why = match why {
            Unread::Malformed => "cannot be read",
            Unread::Truncated => "ends too early",
            Unread::Unended => "has no line end (send 0x0a after it)",
            Unread::Retyped => "has its id as another type",
            Unread::Renamed => "has another id",
            Unread::Empty(status) => {
                return Some(format!(
                    "its response, #{index}, has status {status} and no message"
                ));
            }
        };
        Some(format!("its answer, #{index}, {why}"))
    }

    /// Returns true if a missing answer is reported.
    pub(in crate::protocol) fn needs_answer(&self) -> bool {
        let is_reported = |unread: &UnreadAnswer| unread.why == Unread::Retyped;
        !self.breaks_rule
            && !self.may_be_missed
            && !self.is_duplicate
            && !self.unread.as_deref().is_some_and(is_reported)
    }
}

/// The request that an answer belongs to.
pub(in crate::protocol) enum Paired {
    /// The answer has no id.
    NoId,
    Open(PairKey),
    /// A request with the same id as another type, which is reported.
    Retyped(PairKey),
    /// No open request has the id. The key is that of the missing request.
    Nothing(PairKey),
}

/// The indexes of an answered request.
#[derive(Clone, Copy, Debug)]
pub(in crate::protocol) struct Answered {
    request: u64,
    answer: u64,
}

/// Requests and answers with ids.
pub(in crate::protocol) type Pairs<T> = Exchange<IdSpace, Ident, Sent<T>, Answered>;

/// Creates the engine of a protocol with ids, for at most `capacity` open requests.
pub(in crate::protocol) fn pairs<T>(capacity: usize) -> Pairs<T> {
    Exchange::new(Ids::Again, capacity, MAX_ENDED)
}

impl<T> Pairs<T> {
    /// Adds a request. If its id is that of an open request, both are tracked.
    pub(in crate::protocol) fn add_request(
        &mut self,
        key: PairKey,
        facts: &Facts<'_, '_>,
        asked: OpenRequest,
        mut sent: Sent<T>,
    ) -> Added<Sent<T>> {
        let before = self.open.get_mut(&key);
        if let Some((first, of_first)) = before.filter(|(_, first)| !first.may_be_missed) {
            if let Some(id) = facts.id {
                broken!(facts.seen, rule::DUPLICATE_ID, facts.seen.at(id), first.index();
                    "the id {} belongs to {}, which is not answered yet",
                    quote(id), first.describe());
            }
            of_first.is_duplicate = true;
            sent.is_duplicate = true;
            return self.open.queue(key, asked, sent);
        }
        // An answer that came earlier counts once.
        sent.may_be_missed |= self.early.remove(&key).is_some();
        self.open.add(key, asked, sent)
    }

    /// Finds the request of an answer.
    pub(in crate::protocol) fn find_request(&self, facts: &Facts<'_, '_>) -> Paired {
        let Some((id, key)) = facts.id.zip(facts.answered_key()) else {
            return Paired::NoId;
        };
        let is_open = |key: &PairKey| self.open.get(key).is_some();
        if is_open(&key) {
            return Paired::Open(key);
        }
        // If the direction is not known, either side may have sent the request.
        let other = facts.direction.is_none().then(|| key.reversed());
        if let Some(other) = other.as_ref().filter(|key| is_open(key)) {
            return Paired::Open(other.clone());
        }
        let keys = [Some(&key), other.as_ref()].into_iter().flatten();
        if let Some(key) = keys.filter_map(PairKey::retyped).find(is_open)
            && let Some((asked, _)) = self.open.get(&key)
        {
            broken!(facts.seen, rule::ID_TYPE_CHANGED, facts.seen.at(id), asked.index();
                "the id is {}, but the request has {}", quote(id), short(asked.id()));
            return Paired::Retyped(key);
        }
        Paired::Nothing(key)
    }

    /// Reports an answer without an open request, unless the request may be missing.
    pub(in crate::protocol) fn report_unmatched(&mut self, key: &PairKey, facts: &Facts<'_, '_>) {
        if self.find(key) == Found::Untracked {
            return;
        }
        self.early.insert(key.clone(), ());
        let (seen, Some(id)) = (facts.seen, facts.id) else {
            return;
        };
        let place = seen.at(id);
        if let Some(Answered { answer, .. }) = self.ended.get(key) {
            broken!(seen, rule::ANSWERED_TWICE, place, *answer;
                "the request with the id {} was answered before, by #{answer}", quote(id));
        } else if let Some((asked, _)) = self.open.get(&key.reversed()) {
            broken!(seen, rule::ORPHAN, place;
                "the id {} belongs to {}, #{}, a request of the same side",
                quote(id), asked.describe(), asked.index());
        } else {
            broken!(seen, rule::ORPHAN, place; "no open request has the id {}", quote(id));
        }
    }

    /// Closes a request that is answered. Returns `None` if another request with its id is open: it is not known which of
    /// them the answer is for.
    pub(in crate::protocol) fn close_answered(
        &mut self,
        key: &PairKey,
        seen: Current<'_, '_>,
    ) -> Option<(OpenRequest, Sent<T>)> {
        let (asked, sent) = self.open.close(key)?;
        seen.answers(&asked, true);
        if self.open.get(key).is_some() {
            return None;
        }
        let ended = Answered {
            request: asked.index(),
            answer: seen.index,
        };
        self.ended.insert(key.clone(), ended);
        Some((asked, sent))
    }

    /// Handles an answer that the requester does not receive as one: the request stays open.
    pub(in crate::protocol) fn leave_open(
        &mut self,
        key: &PairKey,
        seen: Current<'_, '_>,
        why: Unread,
    ) {
        if let Some((asked, _)) = self.open.get(key) {
            seen.answers(asked, true);
            self.note_unread(key, seen.index, why);
        }
    }

    /// Records that the message with an index is no answer to an open request.
    pub(in crate::protocol) fn note_unread(&mut self, key: &PairKey, index: u64, why: Unread) {
        if let Some((_, sent)) = self.open.get_mut(key) {
            let unread = &mut sent.unread;
            unread.get_or_insert_with(|| Box::new(UnreadAnswer { index, why }));
        }
    }

    /// Cancels a request. Returns it; reports an id that no request has, unless `lacks`: it may be missing.
    pub(in crate::protocol) fn cancel(
        &mut self,
        (key, id): (&PairKey, Node<'_>),
        seen: Current<'_, '_>,
        lacks: bool,
    ) -> Option<&OpenRequest> {
        let found = self.find(key);
        if !lacks && found == Found::Never {
            broken!(seen, rule::CANCEL_UNKNOWN, seen.at(id);
                "no open request has the id {}", quote(id));
        }
        let Some((asked, sent)) = self.open.get_mut(key) else {
            if let Some(ended) = self.ended.get(key).filter(|_| found == Found::Ended) {
                seen.cancels(ended.request);
            }
            return None;
        };
        sent.cancelled = Some(Box::new((seen.index, seen.origin.time)));
        if !sent.is_duplicate && !sent.may_be_missed {
            seen.cancels(asked.index());
        }
        Some(asked)
    }

    /// Records that answers to the open requests of a side may be missing, of both if it is not known.
    pub(in crate::protocol) fn miss_answers(
        &mut self,
        space: IdSpace,
        requester: Option<Direction>,
    ) {
        self.open.each(space, |key, sent| {
            sent.may_be_missed |= requester.is_none() || key.requester == requester;
        });
    }
}
