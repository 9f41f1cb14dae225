//! The state of a conversation.
//!
//! ```text
//!   Key { connection, requester, id }  ->  open: Single | Batch | Stream | Channel
//!                                      ->  past: its end, for the last few thousand
//!   connection                         ->  two sides: the requests of each, and its messages that may be refused
//! ```

use crate::protocol::exchange::{Key, OpenRequest};
use crate::protocol::session::Current;
use crate::protocol::session::memory::{Blank, BoxedPerDirection, Lazy, Reported};
use crate::protocol::session::stored::to_stored;
use crate::protocol::{Direction, Id};
use crate::tape::{Node, Scalar, Value};
use std::collections::{BTreeMap, VecDeque};

/// The number of ended ids that are stored.
pub(super) const PAST: usize = 1 << 12;
/// The number of messages of one side that may be refused.
const DOUBTS: usize = 1 << 6;
/// The number of stored failed streams of one side.
pub(super) const FAILED: usize = 1 << 6;
/// The time without an acknowledgement after which a channel has stalled, in nanoseconds.
const STALL: i64 = 1_000_000_000;
/// The number of stored items of a batch.
const ITEMS: usize = 1 << 8;

/// The id that links answers and requests.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum CallId {
    /// A UUID in any of its forms.
    Uuid([u8; 16]),
    Text(Box<str>),
    Number(i128),
    /// An announce in the document's form has no id.
    Namespace(Box<str>),
}

impl CallId {
    pub(super) fn of(id: &Id<'_>) -> Option<Self> {
        match id {
            Id::None | Id::Json(_) => None,
            Id::Uuid(uuid) => Some(Self::Uuid(*uuid)),
            Id::Text(text) => Some(Self::Text(to_stored(text))),
            Id::Number(number) => Some(Self::Number(*number)),
        }
    }
}

/// The form of an id.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum IdForm {
    Text,
    Bytes,
    #[default]
    Other,
}

impl IdForm {
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

/// Both sides may use the same id: a runtime forwards a call under its original id.
pub(super) type CallKey = Key<Option<u32>, CallId>;

/// Numbered frames in one direction.
#[derive(Debug)]
pub(super) struct Flow {
    /// The next expected number; `None` after lost bytes.
    pub(super) next: Option<u64>,
    /// The message with the last number.
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
pub(super) struct SeqStream {
    pub(super) flow: Flow,
    /// It was answered like a call, by a message that ended nothing.
    pub(super) acknowledged: bool,
    /// Its start was not seen.
    pub(super) orphan: bool,
    /// A frame of its opener was reported.
    pub(super) reported: bool,
}

/// An open channel.
#[derive(Debug, Default)]
pub(super) struct Channel {
    /// The frames of the opener, and of the other side.
    pub(super) flows: [Flow; 2],
    /// The number of envelopes of the opener that a runtime may still answer.
    pub(super) pending: u32,
    /// It was answered like a call.
    pub(super) acknowledged: bool,
    /// The last acknowledgement of an item, and the time of the first item after it.
    pub(super) last_acknowledged: Option<u64>,
    pub(super) waits_since: Option<i64>,
    /// Its frames are those of real peers, most of which never close a channel.
    pub(super) peers: bool,
}

impl Channel {
    /// Handles lost bytes, which may contain frames of the channel.
    pub(super) fn record_loss(&mut self) {
        for flow in &mut self.flows {
            flow.next = None;
        }
        self.last_acknowledged = None;
    }

    /// Returns true if items wait for their acknowledgement longer than usual, although earlier ones were acknowledged.
    pub(super) fn is_stalled(&self, now: Option<i64>) -> bool {
        let times = self.waits_since.zip(now);
        let waits_long = times.is_some_and(|(from, to)| to.saturating_sub(from) >= STALL);
        waits_long && self.last_acknowledged.is_some() && self.pending > 0
    }

    /// Handles the answer of a runtime to an item.
    pub(super) fn item_acknowledged(&mut self, seen: Current<'_, '_>) {
        self.pending -= 1;
        self.last_acknowledged = Some(seen.index);
        self.waits_since = None;
        seen.operation().unacknowledged = Some(self.pending);
    }
}

/// A batch: the number of its calls, and the ids of the first ones.
#[derive(Debug, Default)]
pub(super) struct Batch {
    pub(super) count: usize,
    pub(super) ids: Vec<Option<CallId>>,
    /// The connection that sent the batch must itself answer one of its calls.
    pub(super) own: bool,
    pub(super) form: IdForm,
}

impl Batch {
    pub(super) fn push(&mut self, id: Option<CallId>) {
        self.count += 1;
        if self.ids.len() < ITEMS {
            self.ids.push(id);
        }
    }
}

/// The state of an open request.
#[derive(Debug)]
pub(super) enum OpenKind {
    /// One answer is required.
    Single {
        /// The connection that sent the request must itself answer it.
        own: bool,
        form: IdForm,
    },
    Batch(Batch),
    Stream(SeqStream),
    Channel(Channel),
}

/// The end of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    Answered,
    /// No answer is required.
    Cast,
    /// No answer is required, and an answer is hardly a problem.
    NoAnswer,
    /// The message could not be read; any answer is allowed.
    Unreadable,
    Ended,
    /// Its opener aborted it. Frames that the other side sent before it read the abort may still come, and its own end.
    Aborted,
    /// It ended with an error; an abort with this number may follow.
    Failed(Option<u64>),
    /// Both sides closed it; this number of items may still be refused.
    Closed(u32),
}

/// A request that has ended.
#[derive(Debug)]
pub(super) struct EndedRequest {
    pub(super) asked: OpenRequest,
    pub(super) how: Ending,
    /// The message that ended it.
    pub(super) by: u64,
}

/// A message that a runtime may refuse under a generated id.
#[derive(Debug)]
pub(super) struct RefusableMessage {
    pub(super) index: u64,
    /// The key of the request, if it is one.
    pub(super) key: Option<CallKey>,
}

/// One side of a connection.
#[derive(Debug, Default)]
pub(super) struct OneWay {
    /// Its direction ended.
    pub(super) ended: bool,
    /// Its requests without an answer, the oldest first. Boxed: a node of the map has space for eleven.
    pub(super) order: BTreeMap<u64, Box<CallKey>>,
    /// The oldest request that is unanswered while a later one was answered.
    pub(super) overtaken: Option<u64>,
    /// The first message that it sent.
    pub(super) first: Option<u64>,
    pub(super) announced: bool,
    pub(super) codes: Lazy<Codes>,
    pub(super) rare: Lazy<RareFacts>,
}

/// What few sides have.
#[derive(Debug, Default)]
pub(super) struct RareFacts {
    refusable: VecDeque<RefusableMessage>,
    pub(super) reported: Reported,
    /// Streams that ended with an error; an abort should follow.
    pub(super) unaborted: Vec<(CallId, OpenRequest)>,
}

impl Blank for RareFacts {
    const BLANK: &'static Self = &Self {
        refusable: VecDeque::new(),
        reported: Reported::NONE,
        unaborted: Vec::new(),
    };
}

/// The vocabularies of one side's error codes.
#[derive(Debug, Default)]
pub(super) struct Codes {
    pub(super) document: Option<u64>,
    pub(super) peers: Option<u64>,
    /// A mixture was reported.
    pub(super) reported: bool,
}

impl Blank for Codes {
    const BLANK: &'static Self = &Self {
        document: None,
        peers: None,
        reported: false,
    };
}

impl OneWay {
    /// Adds a message that may be refused.
    pub(super) fn add_refusable(&mut self, index: u64, key: Option<CallKey>) {
        let refusable = &mut self.rare.refusable;
        if refusable.len() >= DOUBTS {
            refusable.pop_front();
        }
        refusable.push_back(RefusableMessage { index, key });
    }

    /// Removes the oldest message that may be refused, because it is refused now.
    pub(super) fn refused(&mut self) -> Option<RefusableMessage> {
        self.rare.made()?.refusable.pop_front()
    }

    /// Removes earlier messages: a runtime handles one message at a time, so those before an answered one were not
    /// refused.
    pub(super) fn handle_answered(&mut self, index: u64) {
        self.order.remove(&index);
        let Some(rare) = self.rare.made() else {
            return;
        };
        while rare.refusable.front().is_some_and(|d| d.index <= index) {
            rare.refusable.pop_front();
        }
    }
}

/// A connection.
#[derive(Debug, Default)]
pub(super) struct Conn {
    pub(super) sides: BoxedPerDirection<OneWay>,
}

impl Conn {
    /// Removes and returns failed streams that were not aborted.
    pub(super) fn unaborted(&mut self) -> impl Iterator<Item = (CallId, OpenRequest)> {
        let sides = self.sides.iter_mut();
        let made = sides.filter_map(|side| side.rare.made());
        made.flat_map(|rare| rare.unaborted.drain(..))
    }

    /// Returns the names of its sides: a side that announced functions is a provider.
    pub(super) fn names(&self) -> Option<[&'static str; 2]> {
        let is_provider = |way| {
            let side = self.sides.get(Some(way));
            side.is_some_and(|side| side.announced)
        };
        if is_provider(Direction::ToServer) {
            Some(["provider", "runtime"])
        } else if is_provider(Direction::ToClient) {
            Some(["client", "provider"])
        } else {
            None
        }
    }
}
