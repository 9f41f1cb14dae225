//! What is stored of a request until its answer.

use super::short_text::ShortText;
use crate::escape::shorten;
use crate::framing::fields::{text_secrets, without};
use crate::protocol::session::stored::{stored, to_stored};
use crate::protocol::session::{Place, Seen, Waiting};
use crate::protocol::{Direction, Origin, with_name};
use foldhash::HashSet;
use foldhash::fast::FixedState;
use hashbrown::HashTable;
use std::hash::BuildHasher as _;
use std::sync::Arc;

/// The largest number of different texts that open requests share.
const MAX_TEXTS: usize = 1 << 8;

/// A message that needs an answer. A conversation may have many of them, so it is small.
#[derive(Clone, Debug)]
pub struct OpenRequest {
    place: SmallPlace,
    texts: Arc<RequestTexts>,
    id: ShortText,
}

/// The texts that many requests have in common.
#[derive(Clone, Debug)]
pub(crate) struct RequestTexts {
    pub(crate) kind: Arc<str>,
    pub(crate) subject: Option<Arc<str>>,
    pub(crate) name: Option<Arc<str>>,
}

impl RequestTexts {
    fn parts(&self) -> TextParts<'_> {
        (&self.kind, self.subject.as_deref(), self.name.as_deref())
    }
}

impl OpenRequest {
    /// Copies the parts of a message that the table stores.
    pub fn of(seen: &Seen<'_>) -> Self {
        Self::sharing(seen, &mut SharedRequestTexts::default())
    }

    /// Copies the parts of a message that the table stores, except for texts that earlier requests have.
    pub(crate) fn sharing(seen: &Seen<'_>, texts: &mut SharedRequestTexts) -> Self {
        let message = seen.message;
        let (subject, name) = (message.subject.as_deref(), message.name.as_deref());
        let texts = texts.get((&message.kind, subject, name));
        Self {
            place: seen.whole().into(),
            texts,
            id: to_stored(&message.id.text()),
        }
    }

    /// Creates a request without a subject.
    #[cfg(test)]
    pub(super) fn call(place: Place, id: &str) -> Self {
        let texts = RequestTexts {
            kind: "call".into(),
            subject: None,
            name: None,
        };
        Self {
            place: place.into(),
            texts: Arc::new(texts),
            id: id.into(),
        }
    }

    /// Returns the same request at another position.
    pub(crate) fn at(self, place: Place) -> Self {
        let place = place.into();
        Self { place, ..self }
    }

    /// Returns a member of the batch that a message is.
    pub(crate) fn member(
        seen: &Seen<'_>,
        texts: &mut SharedRequestTexts,
        (subject, id): (Option<&str>, &str),
    ) -> Self {
        let texts = texts.get((&seen.message.kind, subject, None));
        Self {
            place: seen.whole().into(),
            texts,
            id: to_stored(id),
        }
    }

    /// Returns the position.
    pub fn place(&self) -> Place {
        self.place.into()
    }

    /// Returns the index of the message.
    pub fn index(&self) -> u64 {
        self.place.index
    }

    /// Returns the origin of the message.
    pub fn origin(&self) -> Origin {
        self.place.origin()
    }

    /// Returns the kind.
    pub fn kind(&self) -> &str {
        &self.texts.kind
    }

    /// Returns the subject.
    pub fn subject(&self) -> Option<&str> {
        self.texts.subject.as_deref()
    }

    /// Returns the name within the subject.
    pub fn name(&self) -> Option<&str> {
        self.texts.name.as_deref()
    }

    /// Returns the id for display.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns `call math.add` or `request tools/call echo`, for texts. Secrets are removed, and long subjects are shortened.
    pub fn describe(&self) -> String {
        const LONGEST: usize = 60;
        let about = with_name(self.subject(), self.name());
        // Findings about other messages show it: they mask only their own values.
        let about = without(&about, &text_secrets(about.as_bytes()));
        match about.as_ref() {
            "" => self.kind().to_string(),
            about => format!("{} {}", self.kind(), shorten(about, LONGEST + 1)),
        }
    }

    /// Returns that the request waits for the peer.
    pub fn waiting(&self, why: Option<String>) -> Waiting {
        Waiting {
            place: self.place(),
            what: self.describe(),
            id: self.id.to_string(),
            owes: self.origin().direction.map(Direction::other),
            side: None,
            why,
            nests: false,
            blocked_by: None,
        }
    }

    /// Returns its kind, subject and name.
    pub(crate) fn texts(&self) -> &RequestTexts {
        &self.texts
    }
}

/// A [`Place`] in little memory: an option of it takes no word of its own.
#[derive(Clone, Copy, Debug)]
struct SmallPlace {
    index: u64,
    offset: u64,
    time: i64,
    stream: u64,
    conn: u32,
    /// A message has at most 4 GiB.
    len: u32,
    direction: Option<Direction>,
    has_time: bool,
    has_stream: bool,
    has_conn: bool,
}

impl SmallPlace {
    fn origin(&self) -> Origin {
        Origin {
            conn: self.has_conn.then_some(self.conn),
            stream: self.has_stream.then_some(self.stream),
            direction: self.direction,
            time: self.has_time.then_some(self.time),
        }
    }
}

impl From<Place> for SmallPlace {
    fn from(place: Place) -> Self {
        let origin = place.origin;
        Self {
            index: place.index,
            offset: place.offset,
            time: origin.time.unwrap_or_default(),
            stream: origin.stream.unwrap_or_default(),
            conn: origin.conn.unwrap_or_default(),
            len: u32::try_from(place.len).unwrap_or(u32::MAX),
            direction: origin.direction,
            has_time: origin.time.is_some(),
            has_stream: origin.stream.is_some(),
            has_conn: origin.conn.is_some(),
        }
    }
}

impl From<SmallPlace> for Place {
    fn from(small: SmallPlace) -> Self {
        Self {
            index: small.index,
            origin: small.origin(),
            offset: small.offset,
            len: small.len.into(),
        }
    }
}

/// Kinds, subjects and names that many requests have: each is stored once.
#[derive(Debug, Default)]
pub(crate) struct SharedTexts(HashSet<Arc<str>>);

impl SharedTexts {
    /// Returns a text as it is stored.
    pub(crate) fn get(&mut self, text: &str) -> Arc<str> {
        if let Some(known) = self.0.get(text) {
            return Arc::clone(known);
        }
        let new = Arc::from(text);
        if self.0.len() < MAX_TEXTS {
            self.0.insert(Arc::clone(&new));
        }
        new
    }
}

/// Kinds, subjects and names that many requests have: each combination is stored once.
#[derive(Debug, Default)]
pub(crate) struct SharedRequestTexts(HashTable<Arc<RequestTexts>>);

/// Kind, subject and name of a request.
type TextParts<'t> = (&'t str, Option<&'t str>, Option<&'t str>);

impl SharedRequestTexts {
    /// Returns texts as they are stored.
    fn get(&mut self, (kind, subject, name): TextParts<'_>) -> Arc<RequestTexts> {
        let (kind, subject, name) = (stored(kind), subject.map(stored), name.map(stored));
        let parts = (&*kind, subject.as_deref(), name.as_deref());
        // The table is small, whatever the hashes are.
        let hash = |parts: TextParts<'_>| FixedState::default().hash_one(parts);
        if let Some(known) = self.0.find(hash(parts), |known| known.parts() == parts) {
            return Arc::clone(known);
        }
        let new = Arc::new(RequestTexts {
            kind: parts.0.into(),
            subject: parts.1.map(Arc::from),
            name: parts.2.map(Arc::from),
        });
        if self.0.len() < MAX_TEXTS {
            let known = Arc::clone(&new);
            self.0
                .insert_unique(hash(parts), known, |known| hash(known.parts()));
        }
        new
    }
}
