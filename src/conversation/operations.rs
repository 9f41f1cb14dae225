//! Operations: what belongs together beyond a request and its answer, over all connections and protocols of a run.
//!
//! ```text
//!   facts of the session --> message belongs to #3, inside of #1 --> Operation { state, duration, shares, ... } at its end
//! ```
//!
//! The time of an operation is divided: each instant belongs to one party. It is that of the operation inside which began
//! last and is open; without one, that which the session named; without one, the receiver of the open request. An operation
//! that failed and may be retried is held: it ends as it was, unless a retry comes, for which it then waited.
//!
//! Memory is bounded by [`MAX_ENTRIES`] open operations. Recent messages are kept, so that late parts are assigned.

mod retries;

use super::joins::Joins;
use super::operation::{MessageOperation, Operation, OperationState, joined};
use crate::capture::Sources;
use crate::decoder::Decoded;
use crate::protocol::exchange::{MAX_ENTRIES, SharedTexts};
use crate::protocol::session::{Answer, Link, OperationFacts, Owner};
use crate::protocol::{Direction, Origin, Role};
use foldhash::HashMap;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

/// The number of recent messages whose operation is known, also after its end.
const MAX_RECENT: usize = 1 << 12;
/// The number of earlier requests of an operation that facts can name, apart from its first message.
const MAX_KNOWN: usize = 16;
/// The number of operations inside of each other whose time is divided.
const MAX_DEPTH: usize = 64;
/// The kind of all other parts.
const OTHERS: &str = "others";
/// The kind of requests that repeat the first one.
const RETRY: &str = "retry";

/// An operation that has not ended.
struct OpenOperation {
    operation: Operation,
    /// The evidence for its parent.
    parent_link: Option<Link>,
    /// Its capture, if several are one conversation.
    source: Option<u16>,
    /// The time up to which its time is divided.
    since: Option<i64>,
    /// The party that the session named.
    owner: Option<Owner>,
    /// The open requests, each with its receiver.
    requests: BTreeMap<u64, Owner>,
    /// The latest messages that facts can name, apart from the first one and open requests.
    known: VecDeque<u64>,
    /// The open operations inside.
    inside: BTreeSet<u64>,
    is_cancelled: bool,
    may_retry: bool,
    /// The connection of its last request.
    conn: Option<u32>,
    /// How it ends, unless it is retried.
    held: Option<OperationState>,
}

impl OpenOperation {
    /// Returns the party that it waits for, apart from operations inside.
    fn own_owner(&self) -> Owner {
        let receiver = self
            .requests
            .last_key_value()
            .map(|(_, receiver)| *receiver);
        self.owner.or(receiver).unwrap_or(Owner::Unknown)
    }

    /// Divides its time up to a time. `source`: the name of the capture of the owner, if there are several.
    fn charge(&mut self, owner: Owner, source: Option<&Arc<str>>, now: Option<i64>) {
        let Some((since, now)) = self.since.zip(now).filter(|(since, now)| now > since) else {
            return;
        };
        self.since = Some(now);
        let total = self.operation.duration.unwrap_or_default();
        // Times that no clock gives cannot overflow the sum.
        let part = now.saturating_sub(since).min(i64::MAX - total);
        self.operation.duration = Some(total + part);
        if let Some(source) = source {
            return self.operation.add_share(source, owner, part);
        }
        if let Some(share) = self.operation.shares.get_mut(owner as usize) {
            *share += part;
        }
    }
}

/// A message of an operation.
#[derive(Clone, Copy)]
struct Member {
    message: u64,
    operation: u64,
    /// The evidence, if it belongs there by more than its pair.
    link: Option<Link>,
    parent: Option<u64>,
    parent_link: Option<Link>,
}

/// What a conversation knows of a message.
pub(super) struct Judged<'a> {
    pub decoded: &'a Decoded<'a>,
    pub answer: Option<&'a Answer>,
    pub facts: OperationFacts,
    /// Other parts of the request that it answers are open.
    pub is_partial: bool,
}

impl Judged<'_> {
    /// Returns true for a request that waits for an answer of its own.
    fn is_request(&self) -> bool {
        self.decoded.message.role == Some(Role::Request) && !self.facts.is_item
    }

    /// Returns the request that the message answers for the last time. A dropped message is no answer to its receiver.
    fn last_answer(&self) -> Option<u64> {
        let answer = self.answer.filter(|answer| answer.last);
        let answer = answer.filter(|_| !self.is_partial && !self.decoded.is_dropped());
        answer.map(|answer| answer.to)
    }
}

/// The operations of a run.
pub(super) struct Operations {
    open: HashMap<u64, Box<OpenOperation>>,
    /// The operations of messages that facts can name, apart from first messages.
    members: HashMap<u64, (u64, Option<Link>)>,
    /// The last messages with an operation, by index.
    recent: VecDeque<Member>,
    /// The operations that ended with the last message, event or end.
    ended: Vec<Operation>,
    texts: SharedTexts,
    others: Arc<str>,
    retry: Arc<str>,
    /// The time of the last message or event. Messages of one connection can wait for their protocol until after the
    /// events of another one.
    now: Option<i64>,
    /// The latest time of all.
    latest: Option<i64>,
    untracked: u64,
    /// Operations that were held, the oldest first.
    held: VecDeque<u64>,
    /// Those that may be retried, and are not held.
    may_retry: BTreeSet<u64>,
    /// Present if several captures are one conversation.
    joins: Option<Box<Joins>>,
}

impl Operations {
    pub fn new(sources: Option<&'static Sources>) -> Self {
        Self {
            joins: sources.map(|sources| Box::new(Joins::new(sources))),
            open: HashMap::default(),
            members: HashMap::default(),
            recent: VecDeque::new(),
            ended: Vec::new(),
            texts: SharedTexts::default(),
            others: OTHERS.into(),
            retry: RETRY.into(),
            now: None,
            latest: None,
            untracked: 0,
            held: VecDeque::new(),
            may_retry: BTreeSet::new(),
        }
    }

    /// Returns the operations that ended with the last message, event or end.
    pub fn ended(&self) -> &[Operation] {
        &self.ended
    }

    /// Returns the number of operations that are not tracked, because too many were open.
    pub fn untracked(&self) -> u64 {
        self.untracked
    }

    /// Assigns a message to its operation.
    pub fn see(&mut self, judged: &Judged<'_>) -> Option<MessageOperation> {
        self.ended.clear();
        let (index, facts) = (judged.decoded.index, judged.facts);
        self.pass(judged.decoded.origin.time);
        let answered = judged.answer.and_then(|answer| self.find(answer.to, index));
        let part_of = facts.part_of.and_then(|(message, link)| {
            let found = self.find(message, index)?;
            let link = joined(found.link, Some(link));
            Some(Member { link, ..found })
        });
        let inside = facts
            .inside
            .and_then(|(message, link)| Some((self.find(message, index)?, link)));
        let is_request = judged.is_request();
        let begins = is_request || facts.ends == Some(false) && inside.is_none();
        let is_new = is_request && part_of.or(answered).is_none();
        let inside = match &mut self.joins {
            Some(joins) if is_new => {
                // The session knows more than the captures.
                let joined = joins.find(judged.decoded).filter(|_| inside.is_none());
                let found =
                    joined.and_then(|(message, link)| Some((self.find(message, index)?, link)));
                inside.or(found)
            }
            _ => inside,
        };
        let member = match part_of.or(answered) {
            Some(member) => member,
            None if begins => self.begin(judged, inside)?,
            None => {
                let (found, link) = inside?;
                let link = joined(found.link, Some(link));
                Member { link, ..found }
            }
        };
        let member = Member {
            message: index,
            ..member
        };
        if member.operation != index {
            if is_request {
                self.resume(member.operation, judged.decoded);
            }
            self.add(judged, member);
        }
        let is_late = member.operation != index && !self.open.contains_key(&member.operation);
        if let Some(other) = answered.filter(|other| other.operation != member.operation) {
            self.charge(other.operation, self.now);
            self.close(other.operation, judged, OperationFacts::default());
        }
        self.close(member.operation, judged, facts);
        if self.recent.len() >= MAX_RECENT {
            self.recent.pop_front();
        }
        self.recent.push_back(member);
        Some(MessageOperation {
            index: member.operation,
            parent: member.parent,
            link: joined(member.link, member.parent_link),
            is_late,
            unacknowledged: facts.unacknowledged,
        })
    }

    /// Ends the operations of requests that get no answer. `abandoned`: those that are cancelled.
    pub fn leave(&mut self, requests: &[u64], abandoned: &[u64], origin: Origin) {
        self.ended.clear();
        self.pass(origin.time);
        let left = requests.iter().map(|request| (request, false));
        for (request, is_cancelled) in left.chain(abandoned.iter().map(|request| (request, true))) {
            let Some(member) = self.find(*request, u64::MAX) else {
                continue;
            };
            self.charge(member.operation, self.now);
            let Some(open) = self.open.get_mut(&member.operation) else {
                continue;
            };
            open.requests.remove(request);
            open.is_cancelled |= is_cancelled;
            if open.requests.is_empty() && open.held.is_none() {
                self.end_or_hold(member.operation, OperationState::Open);
            }
        }
    }

    /// Ends all operations.
    pub fn finish(&mut self) {
        self.ended.clear();
        self.now = self.latest;
        let mut all: Vec<u64> = self.open.keys().copied().collect();
        all.sort_unstable();
        for operation in &all {
            self.charge(*operation, self.latest);
        }
        for operation in all {
            self.end(operation, OperationState::Open);
        }
    }

    /// Records the time of a message or an event.
    fn pass(&mut self, time: Option<i64>) {
        self.now = time.or(self.now);
        self.latest = self.latest.max(time);
    }

    /// Returns the operation of an earlier message than `before`.
    fn find(&self, message: u64, before: u64) -> Option<Member> {
        if message >= before {
            return None;
        }
        let member = |operation: u64, link| {
            let open = self.open.get(&operation)?;
            Some(Member {
                message,
                operation,
                link,
                parent: open.operation.parent,
                parent_link: open.parent_link,
            })
        };
        if let Some(found) = member(message, None) {
            return Some(found);
        }
        if let Some((operation, link)) = self.members.get(&message) {
            return member(*operation, *link);
        }
        let place = self.recent.binary_search_by_key(&message, |m| m.message);
        self.recent.get(place.ok()?).copied()
    }

    /// Returns the name of a message. Equal names are one text, unless a protocol has few equal ones.
    fn name_of(&mut self, decoded: &Decoded<'_>) -> Option<Arc<str>> {
        let name = decoded.message.name.as_deref()?;
        Some(if decoded.protocol.descriptor().has_unique_names {
            name.into()
        } else {
            self.texts.get(name)
        })
    }

    /// Begins an operation.
    fn begin(&mut self, judged: &Judged<'_>, inside: Option<(Member, Link)>) -> Option<Member> {
        if self.open.len() >= MAX_ENTRIES {
            self.untracked += 1;
            return None;
        }
        let (decoded, facts) = (judged.decoded, judged.facts);
        let message = decoded.message;
        let parent = inside.map(|(found, _)| found.operation);
        let parent_link = inside.map(|(_, link)| link);
        let kind = self.texts.get(&message.kind);
        let subject = message.subject.as_deref().map(|text| self.texts.get(text));
        let name = self.name_of(decoded);
        if let Some(parent) = parent {
            self.charge(parent, self.now);
            let part = subject.as_ref().filter(|text| !text.is_empty());
            let part = part.unwrap_or(&kind);
            self.count(parent, decoded.frame.len, Some((part, parent_link)));
            if let Some(open) = self.open.get_mut(&parent) {
                open.inside.insert(decoded.index);
            }
        }
        let is_request = judged.is_request();
        let request = is_request.then(|| (decoded.index, receiver(decoded.origin.direction)));
        // Where times step back, what is inside begins with what is around it.
        let around = parent.and_then(|parent| self.open.get(&parent)?.since);
        let time = (decoded.origin.time).map(|time| time.max(around.unwrap_or(time)));
        let source = match &mut self.joins {
            Some(joins) => {
                joins.begin(decoded.index, parent);
                joins.sources.number_of(decoded.origin.conn)
            }
            None => None,
        };
        let open = OpenOperation {
            source,
            operation: Operation {
                index: decoded.index,
                parent,
                link: parent_link,
                protocol: self.texts.get(decoded.protocol.name()),
                origin: decoded.origin,
                kind,
                subject,
                name,
                state: OperationState::Open,
                duration: time.map(|_| 0),
                shares: [0; Owner::ALL.len()],
                by_source: Vec::new(),
                messages: 1,
                bytes: decoded.frame.len,
                parts: Vec::new(),
                unacknowledged: None,
            },
            parent_link,
            since: time,
            owner: facts.owner,
            requests: request.into_iter().collect(),
            known: VecDeque::new(),
            inside: BTreeSet::new(),
            is_cancelled: facts.cancels,
            may_retry: facts.may_retry,
            conn: decoded.origin.conn,
            held: None,
        };
        self.may_retry
            .extend(facts.may_retry.then_some(decoded.index));
        self.open.insert(decoded.index, Box::new(open));
        Some(Member {
            message: decoded.index,
            operation: decoded.index,
            link: None,
            parent,
            parent_link,
        })
    }

    /// Adds a message to an operation.
    fn add(&mut self, judged: &Judged<'_>, member: Member) {
        let (decoded, facts) = (judged.decoded, judged.facts);
        let message = decoded.message;
        self.charge(member.operation, self.now);
        let is_request = judged.is_request();
        let repeats = |open: &OpenOperation| {
            let first = &open.operation;
            is_request
                && first.subject.as_deref() == message.subject.as_deref()
                && first.kind.as_ref() == message.kind
        };
        let is_answer = !is_request && judged.last_answer().is_some();
        let open = (!is_answer).then(|| self.open.get(&member.operation));
        let part = match open.flatten() {
            Some(first) if repeats(first) => Some(Arc::clone(&self.retry)),
            Some(_) if judged.last_answer().is_none() => {
                let subject = message.subject.as_deref().filter(|text| !text.is_empty());
                let text = subject.unwrap_or(&message.kind);
                Some(self.texts.get(text))
            }
            _ => None,
        };
        let part = part.as_ref().map(|part| (part, member.link));
        self.count(member.operation, decoded.frame.len, part);
        let has_space = self.members.len() < MAX_ENTRIES;
        let Some(open) = self.open.get_mut(&member.operation) else {
            return;
        };
        open.operation.add_link(member.link);
        if let Some(now) = facts.unacknowledged {
            open.operation
                .unacknowledged
                .get_or_insert_default()
                .add(now);
        }
        open.is_cancelled |= facts.cancels;
        if is_request {
            open.owner = None;
            if has_space {
                open.requests
                    .insert(decoded.index, receiver(decoded.origin.direction));
                self.members
                    .insert(decoded.index, (member.operation, member.link));
            }
        } else if facts.ends == Some(false) && has_space {
            self.remember(member.operation, decoded.index, member.link);
        }
        if let Some(owner) = facts.owner
            && let Some(open) = self.open.get_mut(&member.operation)
        {
            open.owner = Some(owner);
        }
    }

    /// Lets facts name a message that is no open request.
    fn remember(&mut self, operation: u64, message: u64, link: Option<Link>) {
        let Some(open) = self.open.get_mut(&operation) else {
            return;
        };
        open.known.push_back(message);
        self.members.insert(message, (operation, link));
        if open.known.len() > MAX_KNOWN
            && let Some(oldest) = open.known.pop_front()
        {
            self.members.remove(&oldest);
        }
    }

    /// Counts a message in its operation and in those around it. `part`: its kind and its link as a part.
    fn count(&mut self, operation: u64, bytes: u64, part: Option<(&Arc<str>, Option<Link>)>) {
        let mut next = Some(operation);
        for depth in 0..MAX_DEPTH {
            let Some(open) = next.and_then(|operation| self.open.get_mut(&operation)) else {
                return;
            };
            let operation = &mut open.operation;
            operation.messages += 1;
            operation.bytes += bytes;
            if let Some((part, link)) = part.filter(|_| depth == 0) {
                operation.add_part(part, link, &self.others);
            }
            next = operation.parent;
        }
    }

    /// Divides the time of an operation and of those around it, before its owner changes.
    fn charge(&mut self, operation: u64, now: Option<i64>) {
        let mut next = Some(operation).filter(|_| now.is_some());
        for _ in 0..MAX_DEPTH {
            let Some((owner, source)) = next.and_then(|operation| self.owner(operation)) else {
                return;
            };
            let Some(open) = next.and_then(|operation| self.open.get_mut(&operation)) else {
                return;
            };
            let source = self.joins.as_ref().zip(source);
            let source = source.map(|(joins, source)| self.texts.get(joins.sources.short(source)));
            if open.held.is_none() {
                open.charge(owner, source.as_ref(), now);
            }
            next = open.operation.parent;
        }
    }

    /// Returns the party that an operation waits for, and the capture in which it is.
    fn owner(&self, operation: u64) -> Option<(Owner, Option<u16>)> {
        let mut open = self.open.get(&operation)?;
        for _ in 0..MAX_DEPTH {
            let inside = open.inside.last().and_then(|inside| self.open.get(inside));
            let Some(inside) = inside else {
                break;
            };
            open = inside;
        }
        let (owner, source) = (open.own_owner(), open.source);
        let caller = || self.joins.as_ref()?.caller(source?);
        Some(match owner {
            // Nobody else in any capture.
            Owner::Person | Owner::Unknown => (owner, None),
            // The client of a capture can be the server of another one.
            Owner::Client | Owner::Retry => match caller() {
                Some(caller) if owner == Owner::Client => (Owner::Server, Some(caller)),
                _ => (owner, source),
            },
            Owner::Server => (owner, source),
        })
    }

    /// Closes the request that a message answers, and the operation, if it ends with it.
    fn close(&mut self, operation: u64, judged: &Judged<'_>, facts: OperationFacts) {
        let answered = judged.last_answer().or(facts.leaves);
        if answered.is_none() && facts.ends != Some(true) {
            return;
        }
        let Some(open) = self.open.get_mut(&operation) else {
            return;
        };
        let closed = answered.filter(|request| open.requests.remove(request).is_some());
        if closed.is_some() {
            open.owner = facts.owner;
        }
        let (is_last, is_cancelled) = (open.requests.is_empty(), open.is_cancelled);
        if let Some(request) = closed.filter(|request| *request != operation) {
            let link = self.members.get(&request).and_then(|(_, link)| *link);
            self.remember(operation, request, link);
        }
        if facts.ends.unwrap_or(closed.is_some() && is_last) {
            let is_error = judged.decoded.message.is_error();
            let is_error = is_error || facts.fails;
            let state = match (is_error, is_cancelled, closed) {
                _ if facts.cancels => OperationState::Cancelled,
                (true, true, _) | (false, true, None) => OperationState::Cancelled,
                (true, false, _) => OperationState::Failed,
                (false, _, _) => OperationState::Answered,
            };
            self.end_or_hold(operation, state);
        }
    }

    /// Does what an end means to other operations.
    fn leave_outer(&mut self, operation: u64, parent: Option<u64>) {
        if let Some(joins) = &mut self.joins {
            joins.end(operation);
        }
        if let Some(around) = parent.and_then(|parent| self.open.get_mut(&parent)) {
            around.inside.remove(&operation);
        }
    }

    /// Ends an operation whose time is divided up to its end.
    fn end(&mut self, operation: u64, state: OperationState) {
        let Some(open) = self.open.remove(&operation) else {
            return;
        };
        self.may_retry.remove(&operation);
        let named = open.requests.keys().chain(&open.known);
        for message in named {
            self.members.remove(message);
        }
        let state = match open.held.unwrap_or(state) {
            OperationState::Open if open.is_cancelled => OperationState::Cancelled,
            state => state,
        };
        let operation = open.operation;
        self.leave_outer(operation.index, operation.parent);
        self.ended.push(Operation { state, ..operation });
    }
}

/// Returns who receives a message of a direction.
fn receiver(direction: Option<Direction>) -> Owner {
    match direction {
        Some(Direction::ToServer) => Owner::Server,
        Some(Direction::ToClient) => Owner::Client,
        None => Owner::Unknown,
    }
}
