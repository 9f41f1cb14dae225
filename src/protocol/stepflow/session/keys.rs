//! What ties an answer to its request.
//!
//! ```text
//!   reach    one child's pipes            or   all connections to one HTTP server: answers take another one
//!   asker    the runtime                  or   the server: each side has ids of its own
//!   id       by JSON type and value: 7 is not "7", "a\u0041" is "aA"
//! ```

use crate::protocol::correlation::{Asked, Scoped};
use crate::protocol::jsonrpc;
use crate::protocol::schema::Message;
use crate::protocol::{Direction, Origin};
use crate::tape::Node;

/// How far an id reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Reach {
    /// All connections of the conversation.
    Http,
    /// One connection.
    Pipe(Option<u32>),
}

impl Reach {
    pub(super) fn of(http: bool, origin: Origin) -> Self {
        if http {
            Self::Http
        } else {
            Self::Pipe(origin.conn)
        }
    }
}

/// What an answer must repeat of its request.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key {
    pub(super) reach: Reach,
    /// The way that the request went.
    pub(super) asker: Direction,
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
    pub(super) fn of(reach: Reach, asker: Direction, id: Node<'_>) -> Option<Self> {
        if id.is_null() {
            return None;
        }
        let spelled = || jsonrpc::spelling(id);
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
    pub(super) fn retyped(&self) -> Option<Self> {
        let id = match &self.id {
            Ident::Whole(n) => Ident::Text(n.to_string().into()),
            Ident::Text(text) => Ident::Whole(text.parse().ok()?),
            Ident::Other(_) => return None,
        };
        Some(Self { id, ..*self })
    }

    /// The same id, asked by the other side.
    pub(super) fn turned(&self) -> Self {
        Self {
            asker: self.asker.other(),
            ..self.clone()
        }
    }
}

/// What is kept of a request beside its place.
#[derive(Debug, Default)]
pub(super) struct Want {
    pub(super) method: Option<&'static Message>,
    /// The version that an `initialize` names.
    pub(super) version: Option<i128>,
    /// Which execute it was asked in: the index of that.
    pub(super) within: Option<u64>,
    /// Something is wrong with it: peers may well not answer.
    pub(super) blamed: bool,
    /// Its answer may have gone by unseen.
    pub(super) excused: bool,
    /// Requests that took the same id while it was open.
    pub(super) twins: Vec<Asked>,
    /// There was one at least.
    pub(super) doubled: bool,
}

impl Want {
    /// Whether it is worth a word that it has no answer.
    pub(super) fn is_owed(&self) -> bool {
        !self.blamed && !self.excused && !self.doubled
    }
}
