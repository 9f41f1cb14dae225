//! What a conversation remembers.
//!
//! ```text
//!   Key { connection, who asked, id }  ->  open: Single | Batch | Stream | Channel
//!                                      ->  past: how it ended, for the last few thousand
//!   connection                         ->  two sides: what each asked, and what it sent that may not be understood
//! ```

use crate::protocol::correlation::{Asked, Scoped};
use crate::protocol::session::memory::{PerDirection, Reported};
use crate::protocol::{Direction, Id};
use crate::tape::{Node, Scalar, Value};
use std::collections::{BTreeMap, VecDeque};

/// Ids that are remembered after their end.
pub(super) const PAST: usize = 1 << 12;
/// Messages of one side that may come to be refused.
const DOUBTS: usize = 1 << 6;
/// Failed streams of one side that are remembered.
pub(super) const FAILED: usize = 1 << 6;
/// Items of a batch that are remembered.
const ITEMS: usize = 1 << 8;

/// What ties answers to questions.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Name {
    /// In whichever of its forms.
    Uuid([u8; 16]),
    Text(Box<str>),
    Number(i128),
    /// An announce in the document's form has no id.
    Namespace(Box<str>),
}

impl Name {
    pub(super) fn of(id: &Id<'_>) -> Option<Self> {
        match id {
            Id::None | Id::Json(_) => None,
            Id::Uuid(uuid) => Some(Self::Uuid(*uuid)),
            Id::Text(text) => Some(Self::Text(text.as_ref().into())),
            Id::Number(number) => Some(Self::Number(*number)),
        }
    }
}

/// The form in which an id is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Form {
    Text,
    Bytes,
    #[default]
    Other,
}

impl Form {
    pub(super) fn of(id: Node<'_>) -> Self {
        match id.value() {
            _ if id.is_string() => Self::Text,
            Value::Scalar(Scalar::Bin(_)) => Self::Bytes,
            _ => Self::Other,
        }
    }

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Bytes => "binary",
            Self::Other => "another form",
        }
    }
}

/// Both sides may ask under the same id: a runtime hands on a call under the id it came with.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key {
    pub(super) conn: Option<u32>,
    pub(super) asker: Option<Direction>,
    pub(super) name: Name,
}

impl Scoped for Key {
    type Scope = Option<u32>;

    fn scope(&self) -> Self::Scope {
        self.conn
    }
}

/// Numbered frames in one direction.
#[derive(Debug)]
pub(super) struct Flow {
    /// The number that must come next; none where bytes were lost.
    pub(super) next: Option<u64>,
    /// The message that had the last number.
    pub(super) last: Option<u64>,
    /// The message that ended it.
    pub(super) done: Option<u64>,
}

impl Default for Flow {
    fn default() -> Self {
        Self {
            next: Some(0),
            last: None,
            done: None,
        }
    }
}

/// An open stream.
#[derive(Debug, Default)]
pub(super) struct Stream {
    pub(super) flow: Flow,
    /// It was answered like a call, and by a message that ended nothing.
    pub(super) acknowledged: bool,
    /// Its beginning was not seen.
    pub(super) orphan: bool,
    /// That its opener sends was said.
    pub(super) told: bool,
}

/// An open channel.
#[derive(Debug, Default)]
pub(super) struct Channel {
    /// What its opener sends, and what the other side does.
    pub(super) flows: [Flow; 2],
    /// Items of the opener that are envelopes, and that a runtime may yet answer.
    pub(super) pending: u32,
    /// It was answered like a call.
    pub(super) acknowledged: bool,
    /// Its frames are those of real peers, most of which never close one.
    pub(super) peers: bool,
}

impl Channel {
    /// Frames of it may have gone by unread.
    pub(super) fn lose(&mut self) {
        for flow in &mut self.flows {
            flow.next = None;
        }
    }
}

/// A batch: how many calls, and the ids of the first of them.
#[derive(Debug, Default)]
pub(super) struct Batch {
    pub(super) count: usize,
    pub(super) ids: Vec<Option<Name>>,
    /// The connection that asks owes an answer to one of them.
    pub(super) own: bool,
    pub(super) form: Form,
}

impl Batch {
    pub(super) fn push(&mut self, id: Option<Name>) {
        self.count += 1;
        if self.ids.len() < ITEMS {
            self.ids.push(id);
        }
    }
}

/// What is open.
#[derive(Debug)]
pub(super) enum State {
    /// One answer is owed.
    Single {
        /// By the connection that asks.
        own: bool,
        form: Form,
    },
    Batch(Batch),
    Stream(Stream),
    Channel(Channel),
}

/// How something came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum How {
    Answered,
    /// Nothing is owed.
    Cast,
    /// Nothing is owed, and an answer is hardly worth a word.
    Told,
    /// It could not be read; whatever answers it is fine.
    HalfRead,
    Ended,
    /// Its opener aborted it; what the other side sent before it read that may yet come, and its own end.
    Aborted,
    /// Ended by an error, behind which an abort with this number may stand.
    Failed(Option<u64>),
    /// Both sides closed it; so many items may yet be refused.
    Closed(u32),
}

/// What is over.
#[derive(Debug)]
pub(super) struct Ended {
    pub(super) asked: Asked,
    pub(super) how: How,
    /// The message that ended it.
    pub(super) by: u64,
}

/// A message that a runtime may refuse under an id of its own making.
#[derive(Debug)]
pub(super) struct Doubt {
    pub(super) index: u64,
    /// What it asked, where it did.
    pub(super) key: Option<Key>,
}

/// One side of a connection.
#[derive(Debug, Default)]
pub(super) struct Side {
    /// Its direction ended.
    pub(super) ended: bool,
    /// What it asked and has no answer to, oldest first.
    pub(super) order: BTreeMap<u64, Key>,
    /// The oldest of those that a later one was answered before.
    pub(super) overtaken: Option<u64>,
    doubts: VecDeque<Doubt>,
    /// The first message it sent.
    pub(super) first: Option<u64>,
    pub(super) announced: bool,
    pub(super) reported: Reported,
    /// Streams that ended by an error, behind which an abort is to come.
    pub(super) unaborted: Vec<(Name, Asked)>,
    pub(super) codes: Codes,
}

/// Which vocabularies one side takes its error codes from.
#[derive(Debug, Default)]
pub(super) struct Codes {
    pub(super) document: Option<u64>,
    pub(super) peers: Option<u64>,
    /// That they mix was reported.
    pub(super) told: bool,
}

impl Side {
    /// A message that may be refused.
    pub(super) fn doubt(&mut self, index: u64, key: Option<Key>) {
        if self.doubts.len() >= DOUBTS {
            self.doubts.pop_front();
        }
        self.doubts.push_back(Doubt { index, key });
    }

    /// The oldest message that may be refused, which it now is.
    pub(super) fn refused(&mut self) -> Option<Doubt> {
        self.doubts.pop_front()
    }

    /// A runtime takes one message at a time: what came before an answered one was not refused.
    pub(super) fn settle(&mut self, index: u64) {
        self.order.remove(&index);
        while self.doubts.front().is_some_and(|d| d.index <= index) {
            self.doubts.pop_front();
        }
    }
}

/// One connection.
#[derive(Debug, Default)]
pub(super) struct Conn {
    pub(super) sides: PerDirection<Side>,
    /// Bytes of it went by unseen.
    pub(super) lost: bool,
}

impl Conn {
    /// Streams that failed and were not aborted.
    pub(super) fn unaborted(&mut self) -> impl Iterator<Item = (Name, Asked)> {
        let sides = self.sides.iter_mut();
        sides.flat_map(|side| side.unaborted.drain(..))
    }

    /// What its sides are called: a side that announced something is a provider.
    pub(super) fn names(&self) -> Option<[&'static str; 2]> {
        let is_provider = |way| self.sides.get(Some(way)).announced;
        if is_provider(Direction::ToServer) {
            Some(["provider", "runtime"])
        } else if is_provider(Direction::ToClient) {
            Some(["client", "provider"])
        } else {
            None
        }
    }
}
