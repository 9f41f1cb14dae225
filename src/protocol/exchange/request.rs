//! What is stored of a request until its answer.

use crate::escape::shorten;
use crate::framing::fields::{text_secrets, without};
use crate::protocol::session::{Place, Seen, Waiting};
use crate::protocol::{Direction, Origin, with_name};
use foldhash::HashSet;
use std::sync::Arc;

/// The largest number of texts that open requests share.
const MAX_TEXTS: usize = 1 << 8;

/// A message that needs an answer.
#[derive(Clone, Debug)]
pub struct OpenRequest {
    /// The position.
    pub place: Place,
    /// The kind.
    pub kind: Arc<str>,
    /// The subject.
    pub subject: Option<Arc<str>>,
    /// The name within the subject.
    pub name: Option<Arc<str>>,
    /// The id for display.
    pub id: Box<str>,
}

impl OpenRequest {
    /// Copies the parts of a message that the table stores.
    pub fn of(seen: &Seen<'_>) -> Self {
        let message = seen.message;
        Self {
            place: seen.whole(),
            kind: message.kind.as_ref().into(),
            subject: message.subject.as_deref().map(Into::into),
            name: message.name.as_deref().map(Into::into),
            id: message.id.text().as_ref().into(),
        }
    }

    /// Returns the origin of the message.
    pub fn origin(&self) -> Origin {
        self.place.origin
    }

    /// Returns `call math.add` or `request tools/call echo`, for texts. Secrets are removed, and long subjects are shortened.
    pub fn describe(&self) -> String {
        const LONGEST: usize = 60;
        let about = with_name(self.subject.as_deref(), self.name.as_deref());
        // Findings about other messages show it: they mask only their own values.
        let about = without(&about, &text_secrets(about.as_bytes()));
        match about.as_ref() {
            "" => self.kind.to_string(),
            about => format!("{} {}", self.kind, shorten(about, LONGEST + 1)),
        }
    }

    /// Returns that the request waits for the peer.
    pub fn waiting(&self, why: Option<String>) -> Waiting {
        Waiting {
            place: self.place,
            what: self.describe(),
            id: self.id.to_string(),
            owes: self.origin().direction.map(Direction::other),
            side: None,
            why,
            nests: false,
            blocked_by: None,
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

    pub(super) fn share(&mut self, asked: &mut OpenRequest) {
        let OpenRequest {
            kind,
            subject,
            name,
            ..
        } = asked;
        for text in [Some(kind), subject.as_mut(), name.as_mut()] {
            let Some(text) = text else {
                continue;
            };
            if let Some(known) = self.0.get(text) {
                *text = Arc::clone(known);
            } else if self.0.len() < MAX_TEXTS {
                self.0.insert(Arc::clone(text));
            }
        }
    }
}
