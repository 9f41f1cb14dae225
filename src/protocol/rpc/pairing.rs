//! Matches requests and answers by id.
//!
//! ```text
//!   space     the pipes of one child   or   all connections to one HTTP server: an answer may use another one
//!   requester the runtime              or   the server: each side has its own ids
//!   id        by JSON type and value: 7 is 7.0 but not "7", "a\u0041" is "aA"
//! ```

use super::shape::CallShape;
use super::spelling;
use crate::protocol::exchange::{Added, Exchange, Ids, Key, OpenRequest};
use crate::protocol::rule_names::all as rule;
use crate::protocol::schema::MessageSchema;
use crate::protocol::schema::check::number;
use crate::protocol::session::text::{quote, short};
use crate::protocol::session::{Current, broken};
use crate::protocol::{Direction, Origin};
use crate::tape::Node;

/// The number of stored ids of answers.
const MAX_ENDED: usize = 1 << 8;

/// The range in which an id is unique.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(in crate::protocol) enum IdSpace {
    /// All connections of the conversation.
    Http,
    /// One connection.
    Pipe(Option<u32>),
}

impl IdSpace {
    pub(in crate::protocol) fn of(http: bool, origin: Origin) -> Self {
        if http {
            Self::Http
        } else {
            Self::Pipe(origin.conn)
        }
    }
}

/// The parts of a request that its answer repeats.
pub(in crate::protocol) type PairKey = Key<IdSpace, Ident>;

/// An id.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(in crate::protocol) enum Ident {
    Whole(i64),
    Text(Box<str>),
    /// A value that is not allowed as an id, as it is spelled.
    Other(Box<str>),
}

impl PairKey {
    /// Returns the key of a message's id; `None` if the id is null.
    pub(in crate::protocol) fn of(
        scope: IdSpace,
        requester: Direction,
        id: Node<'_>,
    ) -> Option<Self> {
        if id.is_null() {
            return None;
        }
        let spelled = || spelling(id);
        let id = if id.is_string() {
            Ident::Text(id.text()?.into())
        } else if let Some(whole) = spelled().parse().ok().or_else(|| whole(id)) {
            Ident::Whole(whole)
        } else {
            Ident::Other(spelled().into())
        };
        Some(Self {
            scope,
            requester: Some(requester),
            id,
        })
    }

    /// Returns the same value as another type.
    pub(in crate::protocol) fn retyped(&self) -> Option<Self> {
        let id = match &self.id {
            Ident::Whole(n) => Ident::Text(n.to_string().into()),
            Ident::Text(text) => Ident::Whole(text.parse().ok()?),
            Ident::Other(_) => return None,
        };
        Some(Self { id, ..*self })
    }
}

/// Returns the integer that a number such as `1.0` or `1e3` equals: peers compare the values.
fn whole(id: Node<'_>) -> Option<i64> {
    /// 2^53: up to here each integer has a value of its own.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let value = number(id).filter(|value| value.fract() == 0.0 && value.abs() <= EXACT)?;
    #[allow(clippy::cast_possible_truncation)] // it is an integer in range
    Some(value as i64)
}

/// The state of an open request; `own` is the part that only the protocol uses.
#[derive(Debug, Default)]
#[allow(clippy::struct_excessive_bools)] // each is a fact of its own
pub(in crate::protocol) struct SentRequest<S> {
    pub(in crate::protocol) method: Option<&'static MessageSchema>,
    /// The request has an error: peers may leave it unanswered.
    pub(in crate::protocol) breaks_rule: bool,
    /// The answer may have been missed.
    pub(in crate::protocol) may_be_missed: bool,
    /// The index and the time of the message that cancelled it.
    pub(in crate::protocol) cancelled: Option<(u64, Option<i64>)>,
    /// The client ended its direction of the HTTP connection before the server did.
    pub(in crate::protocol) client_left: bool,
    /// Another request used the same id while this one was open.
    is_duplicate: bool,
    pub(in crate::protocol) own: S,
}

impl<S: Default> SentRequest<S> {
    pub(in crate::protocol) fn new(
        method: Option<&'static MessageSchema>,
        breaks_rule: bool,
        own: S,
    ) -> Self {
        Self {
            method,
            breaks_rule,
            own,
            ..Self::default()
        }
    }
}

impl<S> SentRequest<S> {
    /// Returns true if a missing answer is reported.
    pub(in crate::protocol) fn needs_answer(&self) -> bool {
        !self.breaks_rule && !self.may_be_missed && !self.is_duplicate
    }
}

/// The request that an answer belongs to.
pub(in crate::protocol) enum PairedRequest {
    /// The answer has no id.
    NoId,
    Open(PairKey),
    /// A request with the same id as another type, which is reported.
    Retyped(PairKey),
    /// No open request has the id. The key is that of the missing request.
    Nothing(PairKey),
}

/// Open requests and recent answers.
pub(in crate::protocol) type Pairing<S> = Exchange<IdSpace, Ident, SentRequest<S>>;

/// Creates an engine for at most `capacity` open requests.
pub(in crate::protocol) fn pairing<S>(capacity: usize) -> Pairing<S> {
    Exchange::new(Ids::Again, capacity, MAX_ENDED)
}

impl<S> Pairing<S> {
    /// Adds a request. If its id is that of an open request, both are tracked.
    pub(in crate::protocol) fn add_request(
        &mut self,
        key: PairKey,
        shape: &CallShape<'_, '_>,
        mut request: SentRequest<S>,
    ) -> Added<SentRequest<S>> {
        let before = self.open.get_mut(&key);
        if let Some((asked, first)) = before.filter(|(_, first)| !first.may_be_missed) {
            if let Some(id) = shape.call.id {
                broken!(shape, rule::DUPLICATE_ID, shape.seen.at(id), asked.place.index;
                    "the id {} belongs to {}, which is not answered yet",
                    quote(id), asked.describe());
            }
            first.is_duplicate = true;
            request.is_duplicate = true;
            return self.open.queue(key, shape.asked(), request);
        }
        // An answer that came earlier counts once.
        request.may_be_missed |= self.early.remove(&key).is_some();
        self.open.add(key, shape.asked(), request)
    }

    /// Finds the request of an answer that is sent in this direction.
    pub(in crate::protocol) fn find_request(
        &self,
        id_space: IdSpace,
        direction: Option<Direction>,
        shape: &CallShape<'_, '_>,
    ) -> PairedRequest {
        let requester = direction.map_or(Direction::ToServer, Direction::other);
        let id = shape.call.id;
        let key = id.and_then(|id| PairKey::of(id_space, requester, id));
        let Some((id, key)) = id.zip(key) else {
            return PairedRequest::NoId;
        };
        // If the direction is not known, either side may have sent the request.
        let other = direction.is_none().then(|| key.reversed());
        let is_open = |key: &PairKey| self.open.get(key).is_some();
        if is_open(&key) {
            return PairedRequest::Open(key);
        }
        if let Some(other) = other.as_ref().filter(|key| is_open(key)) {
            return PairedRequest::Open(other.clone());
        }
        let retyped = [Some(&key), other.as_ref()]
            .into_iter()
            .flatten()
            .filter_map(PairKey::retyped)
            .find(is_open);
        if let Some(key) = retyped
            && let Some((asked, _)) = self.open.get(&key)
        {
            broken!(shape, rule::ID_TYPE_CHANGED, shape.seen.at(id), asked.place.index;
                "the id is {}, but the request has {}", quote(id), short(&asked.id));
            return PairedRequest::Retyped(key);
        }
        PairedRequest::Nothing(key)
    }

    /// Reports an answer without a request.
    pub(in crate::protocol) fn report_unmatched(
        &mut self,
        key: &PairKey,
        shape: &CallShape<'_, '_>,
    ) {
        self.early.insert(key.clone(), ());
        let Some(id) = shape.call.id else {
            return;
        };
        let place = shape.seen.at(id);
        if let Some(answer) = self.ended.get(key) {
            broken!(shape, rule::ANSWERED_TWICE, place, *answer;
                "the request with the id {} was answered before, by #{answer}", quote(id));
        } else if let Some((asked, _)) = self.open.get(&key.reversed()) {
            broken!(shape, rule::ORPHAN, place;
                "the id {} belongs to {}, #{}, a request of the same side",
                quote(id), asked.describe(), asked.place.index);
        } else {
            broken!(shape, rule::ORPHAN, place; "no open request has the id {}", quote(id));
        }
    }

    /// Closes a request that is answered. Returns `None` if another request with its id is open: it is not known which of
    /// them the answer is for.
    pub(in crate::protocol) fn close_answered(
        &mut self,
        key: &PairKey,
        seen: Current<'_, '_>,
    ) -> Option<(OpenRequest, SentRequest<S>)> {
        let (asked, request) = self.open.close(key)?;
        seen.answers(&asked, true);
        if self.open.get(key).is_some() {
            return None;
        }
        self.ended.insert(key.clone(), seen.index);
        Some((asked, request))
    }
}
