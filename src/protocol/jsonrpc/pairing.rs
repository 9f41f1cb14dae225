//! Requests and their answers, by id.
//!
//! ```text
//!   reach    one child's pipes            or   all connections to one HTTP server: answers take another one
//!   asker    the runtime                  or   the server: each side has ids of its own
//!   id       by JSON type and value: 7 is not "7", "a\u0041" is "aA"
//! ```

use super::shape::{Flaw, Shape};
use super::spelling;
use crate::protocol::correlation::{Asked, Open, Scoped};
use crate::protocol::schema::Message;
use crate::protocol::session::memory::Recent;
use crate::protocol::session::text::short;
use crate::protocol::session::{Report, Seen};
use crate::protocol::{Direction, Origin};
use crate::tape::Node;

/// Answered ids, and ids that nothing asked, that are remembered.
const MOST_ENDED: usize = 1 << 8;
/// Most requests with one id that are followed at a time.
const MOST_TWINS: usize = 8;

/// How far an id reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(in crate::protocol) enum Reach {
    /// All connections of the conversation.
    Http,
    /// One connection.
    Pipe(Option<u32>),
}

impl Reach {
    pub(in crate::protocol) fn of(http: bool, origin: Origin) -> Self {
        if http {
            Self::Http
        } else {
            Self::Pipe(origin.conn)
        }
    }
}

/// What an answer must repeat of its request.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(in crate::protocol) struct Key {
    pub(in crate::protocol) reach: Reach,
    /// The way that the request went.
    pub(in crate::protocol) asker: Direction,
    id: Ident,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Ident {
    Whole(i64),
    Text(Box<str>),
    /// What no id may be, as it is spelled.
    Other(Box<str>),
}

impl Scoped for Key {
    type Scope = Reach;

    fn scope(&self) -> Self::Scope {
        self.reach
    }
}

impl Key {
    /// The key of a message's id; null is none.
    pub(in crate::protocol) fn of(reach: Reach, asker: Direction, id: Node<'_>) -> Option<Self> {
        if id.is_null() {
            return None;
        }
        let spelled = || spelling(id);
        let id = if id.is_string() {
            Ident::Text(id.text()?.into())
        } else if let Ok(whole) = spelled().parse() {
            Ident::Whole(whole)
        } else {
            Ident::Other(spelled().into())
        };
        Some(Self { reach, asker, id })
    }

    /// The same value, as another type.
    pub(in crate::protocol) fn retyped(&self) -> Option<Self> {
        let id = match &self.id {
            Ident::Whole(n) => Ident::Text(n.to_string().into()),
            Ident::Text(text) => Ident::Whole(text.parse().ok()?),
            Ident::Other(_) => return None,
        };
        Some(Self { id, ..*self })
    }

    /// The same id, asked by the other side.
    pub(in crate::protocol) fn turned(&self) -> Self {
        Self {
            asker: self.asker.other(),
            ..self.clone()
        }
    }
}

/// What is kept of a request beside its place; `own` is what only the protocol keeps.
#[derive(Debug, Default)]
pub(in crate::protocol) struct Request<S> {
    pub(in crate::protocol) method: Option<&'static Message>,
    /// Something is wrong with it: peers may well not answer.
    pub(in crate::protocol) blamed: bool,
    /// Its answer may have gone by unseen.
    pub(in crate::protocol) excused: bool,
    /// Requests that took the same id while it was open.
    twins: Vec<Asked>,
    /// There was one at least.
    doubled: bool,
    pub(in crate::protocol) own: S,
}

impl<S: Default> Request<S> {
    pub(in crate::protocol) fn new(method: Option<&'static Message>, blamed: bool, own: S) -> Self {
        Self {
            method,
            blamed,
            own,
            ..Self::default()
        }
    }
}

impl<S> Request<S> {
    /// Whether a missing answer is worth a word.
    pub(in crate::protocol) fn is_owed(&self) -> bool {
        !self.blamed && !self.excused && !self.doubled
    }
}

/// What an answer belongs to.
pub(in crate::protocol) enum Found {
    /// It has no id.
    NoId,
    Open(Key),
    /// A request with the same id as another type, which is reported.
    Retyped(Key),
    /// No open request has its id; one with this key would.
    Nothing(Key),
}

/// How an answer ends a request.
pub(in crate::protocol) enum Closed<S> {
    /// There was none.
    Nothing,
    /// Another one with the same id is open.
    Twin,
    Last(Asked, Request<S>),
}

/// Requests that are open, and what was answered of late.
pub(in crate::protocol) struct Pairing<S> {
    pub(in crate::protocol) open: Open<Key, Request<S>>,
    /// The index of each answer.
    pub(in crate::protocol) answered: Recent<Key, u64>,
    /// Answers to nothing: where the order is not known, what they answer may come yet.
    unasked: Recent<Key, ()>,
}

impl<S> Pairing<S> {
    pub(in crate::protocol) fn with_room(most: usize) -> Self {
        Self {
            open: Open::with_room(most),
            answered: Recent::with_room(MOST_ENDED),
            unasked: Recent::with_room(MOST_ENDED),
        }
    }

    /// Whether a request takes the id of one that is open; both are followed.
    pub(in crate::protocol) fn is_duplicate(
        &mut self,
        key: &Key,
        shape: &Shape<'_, '_>,
        report: &mut Report,
    ) -> bool {
        let open = self.open.get_mut(key);
        let Some((asked, request)) = open.filter(|(_, request)| !request.excused) else {
            return false;
        };
        let what = asked.what();
        let text = |id: &str| format!("the id {id} is that of {what}, which is not answered yet");
        shape.tell_of_id(Flaw::DuplicateId, Some(asked.place.index), text, report);
        request.doubled = true;
        if request.twins.len() < MOST_TWINS {
            request.twins.push(Asked::of(shape.seen));
        }
        true
    }

    /// Follows a request. Gives back the one that had its id.
    pub(in crate::protocol) fn ask(
        &mut self,
        key: Key,
        seen: &Seen<'_>,
        mut request: Request<S>,
    ) -> Option<(Asked, Request<S>)> {
        // An answer that came before it counts once.
        request.excused |= self.unasked.remove(&key).is_some();
        self.open.ask(key, Asked::of(seen), request)
    }

    /// What an answer belongs to that goes this way.
    pub(in crate::protocol) fn find(
        &self,
        reach: Reach,
        way: Option<Direction>,
        shape: &Shape<'_, '_>,
        report: &mut Report,
    ) -> Found {
        let asker = way.map_or(Direction::ToServer, Direction::other);
        let key = shape.call.id.and_then(|id| Key::of(reach, asker, id));
        let Some(key) = key else {
            return Found::NoId;
        };
        // Where the way is not known, either side may have asked.
        let other = way.is_none().then(|| key.turned());
        let is_open = |key: &Key| self.open.get(key).is_some();
        if is_open(&key) {
            return Found::Open(key);
        }
        if let Some(other) = other.as_ref().filter(|key| is_open(key)) {
            return Found::Open(other.clone());
        }
        let retyped = [Some(&key), other.as_ref()]
            .into_iter()
            .flatten()
            .filter_map(Key::retyped)
            .find(is_open);
        if let Some(key) = retyped
            && let Some((asked, _)) = self.open.get(&key)
        {
            let asked_id = short(&asked.id);
            let text = |id: &str| format!("the id is {id}; the request's is {asked_id}");
            shape.tell_of_id(Flaw::IdTypeChanged, Some(asked.place.index), text, report);
            return Found::Retyped(key);
        }
        Found::Nothing(key)
    }

    /// An answer to nothing.
    pub(in crate::protocol) fn orphan(
        &mut self,
        key: &Key,
        shape: &Shape<'_, '_>,
        report: &mut Report,
    ) {
        self.unasked.insert(key.clone(), ());
        if let Some(answer) = self.answered.get(key) {
            let text = |id: &str| {
                format!("the request with the id {id} was answered before, by #{answer}")
            };
            return shape.tell_of_id(Flaw::AnsweredTwice, Some(*answer), text, report);
        }
        let own = self.open.get(&key.turned());
        let own = own.map(|(asked, _)| (asked.what(), asked.place.index));
        let text = |id: &str| match &own {
            Some((what, index)) => {
                format!("the id {id} is that of {what}, #{index}, which the same side asked")
            }
            None => format!("no open request has the id {id}"),
        };
        shape.tell_of_id(Flaw::Orphan, None, text, report);
    }

    /// A request is answered.
    pub(in crate::protocol) fn close(
        &mut self,
        key: &Key,
        seen: &Seen<'_>,
        report: &mut Report,
    ) -> Closed<S> {
        if let Some((asked, request)) = self.open.get_mut(key)
            && !request.twins.is_empty()
        {
            let first = std::mem::replace(asked, request.twins.remove(0));
            report.answers(&first, seen, true);
            return Closed::Twin;
        }
        let Some((asked, request)) = self.open.close(key) else {
            return Closed::Nothing;
        };
        report.answers(&asked, seen, true);
        self.answered.insert(key.clone(), seen.index);
        Closed::Last(asked, request)
    }
}
