//! Operations as outputs show them.

use crate::protocol::Origin;
use crate::protocol::session::{Link, Owner};
use std::borrow::Cow;
use std::sync::Arc;

/// The number of kinds of parts that are counted separately.
const MAX_PARTS: usize = 8;

/// The operation of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MessageOperation {
    /// The index of its first message.
    pub index: u64,
    /// The operation that contains it.
    pub parent: Option<u64>,
    /// The evidence, if the message or its operation belongs there by more than its pair.
    pub link: Option<Link>,
    /// The operation ended before the message.
    pub is_late: bool,
    /// The number of its items that are not acknowledged after the message, if their receiver acknowledges items.
    pub unacknowledged: Option<u32>,
}

impl MessageOperation {
    /// Returns the operation of a message that came before its end.
    #[cfg(feature = "cli")]
    pub(crate) const fn new(index: u64, parent: Option<u64>, link: Option<Link>) -> Self {
        Self {
            index,
            parent,
            link,
            is_late: false,
            unacknowledged: None,
        }
    }
}

/// How an operation ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum OperationState {
    /// It has no end.
    Open,
    /// It ended without an error.
    Answered,
    /// It ended with an error.
    Failed,
    /// It was cancelled, and then ended without an answer or with an error.
    Cancelled,
}

impl OperationState {
    /// Returns its name in outputs.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Answered => "answered",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }
}

/// An operation that has ended, or is open at the end of its connection or of the input.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Operation {
    /// The index of its first message.
    pub index: u64,
    /// The operation that contains it.
    pub parent: Option<u64>,
    /// The evidence, if it has a parent, or messages by more than their pair. One inferred part makes it inferred.
    pub link: Option<Link>,
    /// The protocol of its first message.
    pub protocol: Arc<str>,
    /// The connection, the direction and the time of its first message.
    pub origin: Origin,
    /// The kind of its first message.
    pub kind: Arc<str>,
    /// The subject.
    pub subject: Option<Arc<str>>,
    /// The name within the subject.
    pub name: Option<Arc<str>>,
    /// How it ended.
    pub state: OperationState,
    /// Nanoseconds from its first message to its end, if times are known.
    pub duration: Option<i64>,
    /// The part of each [`Owner`] in the duration, in the order of [`Owner::ALL`]. With `by_source`, the sum is the duration.
    pub shares: [i64; Owner::ALL.len()],
    /// If several captures are one conversation, the parts of owners that belong to one of them.
    pub by_source: Vec<SourceShare>,
    /// The number of its messages, with those of the operations inside.
    pub messages: u64,
    /// The number of bytes of their frames.
    pub bytes: u64,
    /// Its parts: operations inside, and messages apart from the first one and from answers.
    pub parts: Vec<OperationPart>,
    /// The items that were not acknowledged, if their receiver acknowledges items.
    pub unacknowledged: Option<Unacknowledged>,
}

/// The number of items of an operation that their receiver had not acknowledged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Unacknowledged {
    /// The largest number at a time.
    pub most: u32,
    /// The number at the end.
    pub last: u32,
}

impl Unacknowledged {
    /// Adds a later number.
    pub(super) fn add(&mut self, now: u32) {
        *self = Self {
            most: self.most.max(now),
            last: now,
        };
    }
}

/// The part of an owner in one of several captures in the duration of an operation.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SourceShare {
    /// The short name of the capture.
    pub source: Arc<str>,
    /// The owner there.
    pub owner: Owner,
    /// Nanoseconds.
    pub ns: i64,
}

/// Parts of one kind.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct OperationPart {
    /// The subject; the kind of a message without one; `retry` for a request that repeats the first one.
    pub kind: Arc<str>,
    /// The number of parts.
    pub count: u64,
    /// Order or content of the messages suggests one of them.
    pub is_inferred: bool,
}

impl Operation {
    /// Returns the owners with their parts of the duration, without those that have none.
    pub fn shares(&self) -> impl Iterator<Item = (Owner, i64)> + '_ {
        let all = Owner::ALL.into_iter().zip(self.shares);
        all.filter(|(_, ns)| self.duration.is_some() && *ns > 0)
    }

    /// Returns the owners, each with its name and its part of the duration. If there are several captures, the name of the
    /// capture is before that of the owner, and those with the largest parts are first.
    pub(crate) fn named_shares(&self) -> Vec<(Cow<'static, str>, i64)> {
        let own = self.shares();
        let own = own.map(|(owner, ns)| (Cow::Borrowed(owner.name()), ns));
        let mut all: Vec<_> = own.collect();
        if !self.by_source.is_empty() {
            all.extend(self.by_source.iter().map(|share| {
                let name = format!("{} {}", share.source, share.owner.name());
                (Cow::Owned(name), share.ns)
            }));
            all.sort_by_key(|(_, ns)| std::cmp::Reverse(*ns));
        }
        all
    }

    /// Adds time of an owner in one of several captures.
    pub(super) fn add_share(&mut self, source: &Arc<str>, owner: Owner, ns: i64) {
        let is_it = |share: &&mut SourceShare| share.source == *source && share.owner == owner;
        match self.by_source.iter_mut().find(is_it) {
            Some(share) => share.ns += ns,
            None => self.by_source.push(SourceShare {
                source: Arc::clone(source),
                owner,
                ns,
            }),
        }
    }

    /// Counts a part.
    pub(super) fn add_part(&mut self, kind: &Arc<str>, link: Option<Link>, others: &Arc<str>) {
        let is_known = self.parts.iter().any(|part| part.kind == *kind);
        let has_space = is_known || self.parts.len() < MAX_PARTS;
        let kind = if has_space { kind } else { others };
        let is_inferred = link == Some(Link::Inferred);
        match self.parts.iter_mut().find(|part| part.kind == *kind) {
            Some(part) => {
                part.count += 1;
                part.is_inferred |= is_inferred;
            }
            None => self.parts.push(OperationPart {
                kind: Arc::clone(kind),
                count: 1,
                is_inferred,
            }),
        }
    }

    pub(super) fn add_link(&mut self, link: Option<Link>) {
        self.link = joined(self.link, link);
    }
}

/// Returns the evidence for two links: the weaker one.
pub(super) fn joined(one: Option<Link>, other: Option<Link>) -> Option<Link> {
    match (one, other) {
        (Some(Link::Inferred), _) | (_, Some(Link::Inferred)) => Some(Link::Inferred),
        (one, other) => one.or(other),
    }
}
