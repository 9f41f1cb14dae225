//! Joins operations of several captures.
//!
//! ```text
//!   agent.jsonl   #3 session/prompt                  begins operation 3
//!   tools.jsonl   #5 tools/call, the same trace      begins operation 5, inside of 3 (recorded)
//!   after.jsonl   #6 tools/call, the same bytes      begins operation 6, inside of 5 (inferred: the next leg of a relay)
//!   other.jsonl   #7 call, the same UUID, subject    begins operation 7, inside of the call that has them (recorded)
//! ```
//!
//! A span that a request names as its parent states it. If one other operation names a request as its start, the request is
//! inside of it. Ids of traces and equal bytes show it if headers say which process called which: one program sends the same
//! trace and the same bytes to several servers. Servers that pass on a session over HTTP, too, need no headers. A process that
//! wiretool started makes the calls of the recordings that begin below it. If several operations fit, no link is made, unless
//! one of them contains all others.
//!
//! Memory is bounded by the open operations.

use crate::capture::{Relation, Sources};
use crate::decoder::Decoded;
use crate::protocol::session::Link;
use crate::protocol::session::http;
use crate::protocol::{Direction, Id, TraceMember};
use crate::tape::Node;
use foldhash::HashMap;
use std::hash::{BuildHasher, RandomState};

/// Maximum length of an id of a trace or a span, in bytes.
const MAX_ID: usize = 64;
/// The number of open operations that are compared with a request. If more fit, there is no link.
const MAX_COMPARED: usize = 64;
/// The number of operations inside of each other that are followed.
const MAX_DEPTH: usize = 64;

/// The trace of a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Trace {
    id: Option<Box<str>>,
    span: Option<Box<str>>,
    parent: Option<Box<str>>,
    /// It was read from a trace context.
    is_context: bool,
    /// What it starts, and what it is a part of.
    starts: Option<Box<str>>,
    started: Option<Box<str>>,
}

/// An open operation that requests of other captures may belong to.
struct Open {
    source: u16,
    conn: Option<u32>,
    direction: Option<Direction>,
    trace: Trace,
    content: u64,
    /// The hash of its protocol, its UUID and its subject; 0 without a UUID.
    id: u64,
    /// The session that the head of an HTTP request names.
    session: Option<Box<str>>,
    parent: Option<u64>,
    /// The captures that have its next leg.
    relayed: Vec<u16>,
}

/// The open operations of several captures.
pub(super) struct Joins {
    pub sources: &'static Sources,
    open: HashMap<u64, Open>,
    by_trace: HashMap<Box<str>, Vec<u64>>,
    by_content: HashMap<u64, Vec<u64>>,
    by_id: HashMap<u64, Vec<u64>>,
    by_start: HashMap<Box<str>, Vec<u64>>,
    /// Those that clients began, by connection.
    by_conn: HashMap<Option<u32>, Vec<u64>>,
    hasher: RandomState,
    /// The last request.
    seen: Option<Open>,
}

impl Joins {
    pub fn new(sources: &'static Sources) -> Self {
        Self {
            sources,
            open: HashMap::default(),
            by_trace: HashMap::default(),
            by_content: HashMap::default(),
            by_id: HashMap::default(),
            by_start: HashMap::default(),
            by_conn: HashMap::default(),
            hasher: RandomState::new(),
            seen: None,
        }
    }

    /// Returns the operation of another capture that a request belongs to.
    pub fn find(&mut self, decoded: &Decoded<'_>) -> Option<(u64, Link)> {
        let origin = decoded.origin;
        let source = self.sources.number_of(origin.conn)?;
        let seen = Open {
            source,
            conn: origin.conn,
            direction: origin.direction,
            trace: trace_of(decoded),
            content: self.content(decoded),
            id: self.id(decoded),
            session: session_of(decoded),
            parent: None,
            relayed: Vec::new(),
        };
        let by_trace = self.by_trace(&seen).or_else(|| self.by_id(&seen));
        let by_trace = by_trace.map(|found| (found, Link::Recorded));
        let inferred = |found| (found, Link::Inferred);
        let found = by_trace
            .or_else(|| self.by_start(&seen).map(inferred))
            .or_else(|| self.by_content(&seen).map(inferred))
            .or_else(|| self.by_process(&seen).map(inferred));
        self.seen = Some(seen);
        found
    }

    /// Returns a hash of the bytes of a message.
    fn content(&self, decoded: &Decoded<'_>) -> u64 {
        let body = decoded.message.body.of(decoded.frame.view.bytes);
        let (protocol, direction) = (decoded.protocol.name(), decoded.origin.direction);
        self.hasher.hash_one((protocol, direction, body))
    }

    /// Returns a hash of a UUID, which no other call has, with the protocol and the subject; 0 without one.
    fn id(&self, decoded: &Decoded<'_>) -> u64 {
        let message = decoded.message;
        match &message.id {
            Id::Uuid(id) => {
                let subject = message.subject.as_deref();
                self.hasher.hash_one((decoded.protocol.name(), id, subject))
            }
            _ => 0,
        }
    }

    /// Adds the operation that the last request begins.
    pub fn begin(&mut self, index: u64, parent: Option<u64>) {
        let Some(seen) = self.seen.take() else {
            return;
        };
        if let Some(id) = &seen.trace.id {
            self.by_trace.entry(id.clone()).or_default().push(index);
        }
        if let Some(started) = &seen.trace.starts {
            self.by_start
                .entry(started.clone())
                .or_default()
                .push(index);
        }
        self.by_content.entry(seen.content).or_default().push(index);
        if seen.id != 0 {
            self.by_id.entry(seen.id).or_default().push(index);
        }
        if seen.direction == Some(Direction::ToServer) {
            self.by_conn.entry(seen.conn).or_default().push(index);
        }
        self.open.insert(index, Open { parent, ..seen });
    }

    /// Removes an operation that ends.
    pub fn end(&mut self, index: u64) {
        let Some(open) = self.open.remove(&index) else {
            return;
        };
        if let Some(id) = &open.trace.id {
            remove(&mut self.by_trace, id, index);
        }
        if let Some(started) = &open.trace.starts {
            remove(&mut self.by_start, started, index);
        }
        remove(&mut self.by_content, &open.content, index);
        remove(&mut self.by_id, &open.id, index);
        remove(&mut self.by_conn, &open.conn, index);
    }

    /// Returns the capture whose server made the calls of a capture.
    pub fn caller(&self, source: u16) -> Option<u16> {
        self.sources.number_of(self.sources.caller(source))
    }

    /// Returns what headers say about a capture whose operation contains a request.
    fn relation(&self, outer: &Open, inner: &Open) -> Relation {
        match inner.direction {
            // The server sends it: the leg at the server has it first.
            Some(Direction::ToClient) => self.sources.relation(inner.source, outer.source),
            _ => self.sources.relation(outer.source, inner.source),
        }
    }

    /// Finds the operation that the trace of a request names.
    fn by_trace(&self, seen: &Open) -> Option<u64> {
        let all = self.by_trace.get(seen.trace.id.as_ref()?)?;
        let all = self.of_other_sources(all, seen)?;
        let has_span = |index: &u64| {
            let span = self
                .open
                .get(index)
                .and_then(|open| open.trace.span.as_ref());
            span.is_some() && span == seen.trace.parent.as_ref()
        };
        let mut parents = all.iter().copied().filter(has_span);
        if let (Some(parent), None) = (parents.next(), parents.next()) {
            return Some(parent);
        }
        // One trace may have several calls of one process: only its server calls further ones.
        let is_called = |index: &u64| {
            let open = self.open.get(index);
            open.is_some_and(|open| self.relation(open, seen) != Relation::Unknown)
        };
        let called: Vec<u64> = all.into_iter().filter(is_called).collect();
        self.outermost(&called)
    }

    /// Finds the call that a runtime forwards with its UUID: the last one of them.
    fn by_id(&self, seen: &Open) -> Option<u64> {
        let all = self.by_id.get(&seen.id)?;
        self.innermost(&self.of_other_sources(all, seen)?)
    }

    /// Finds the only operation that started what a request is a part of.
    fn by_start(&self, request: &Open) -> Option<u64> {
        let all = self.by_start.get(request.trace.started.as_ref()?)?;
        match self.of_other_sources(all, request)?.as_slice() {
            [only] => Some(*only),
            _ => None,
        }
    }

    /// Finds the operation whose process made a request.
    fn by_process(&self, request: &Open) -> Option<u64> {
        if request.direction != Some(Direction::ToServer) {
            return None;
        }
        let caller = self.sources.caller(request.source)?;
        let all = self.of_other_sources(self.by_conn.get(&Some(caller))?, request)?;
        self.outermost(&all)
    }

    /// Finds the operation that a relay has passed on.
    fn by_content(&mut self, seen: &Open) -> Option<u64> {
        let all = self.of_other_sources(self.by_content.get(&seen.content)?, seen)?;
        let fits = |index: &u64, is_it: &dyn Fn(&Open) -> bool| {
            let open = self.open.get(index);
            open.is_some_and(|open| !open.relayed.contains(&seen.source) && is_it(open))
        };
        let is_related = |open: &Open| self.relation(open, seen) != Relation::Unknown;
        let related: Vec<u64> = (all.iter().copied())
            .filter(|index| fits(index, &is_related))
            .collect();
        let found = match *related.as_slice() {
            [only] => only,
            // Servers that pass on the session and the bytes: the last one of them.
            [] => {
                let shares = |open: &Open| open.session.is_some() && open.session == seen.session;
                let legs = all.into_iter().filter(|index| fits(index, &shares));
                self.innermost(&legs.collect::<Vec<_>>())?
            }
            _ => return None,
        };
        self.open.get_mut(&found)?.relayed.push(seen.source);
        Some(found)
    }

    /// Returns the operations of other captures that a request may be inside of, unless there are too many.
    fn of_other_sources(&self, all: &[u64], seen: &Open) -> Option<Vec<u64>> {
        let is_other = |index: &&u64| {
            let open = self.open.get(index);
            // Different traces say that it is another operation.
            let of_other = |open: &Open| {
                let traces = open.trace.id.as_ref().zip(seen.trace.id.as_ref());
                traces.is_some_and(|(one, other)| one != other)
            };
            open.is_some_and(|open| open.source != seen.source && !of_other(open))
        };
        (all.len() <= MAX_COMPARED).then(|| all.iter().filter(is_other).copied().collect())
    }

    /// Returns the operation that contains all others of these.
    fn outermost(&self, all: &[u64]) -> Option<u64> {
        let first = *all.iter().min()?;
        let is_inside = |index: &u64| self.is_inside(*index, first);
        all.iter().all(is_inside).then_some(first)
    }

    /// Returns the operation that all others of these contain.
    fn innermost(&self, all: &[u64]) -> Option<u64> {
        let last = *all.iter().max()?;
        let contains = |index: &u64| self.is_inside(last, *index);
        all.iter().all(contains).then_some(last)
    }

    /// Returns true if an operation is another one, or inside of it.
    fn is_inside(&self, index: u64, outer: u64) -> bool {
        let next = |index: &u64| self.open.get(index)?.parent;
        let mut around = std::iter::successors(Some(index), next).take(MAX_DEPTH);
        around.any(|index| index == outer)
    }
}

/// Removes an operation from a list, and the list if it is empty.
fn remove<K: Eq + std::hash::Hash>(lists: &mut HashMap<K, Vec<u64>>, key: &K, index: u64) {
    if let Some(list) = lists.get_mut(key) {
        list.retain(|one| *one != index);
        if list.is_empty() {
            lists.remove(key);
        }
    }
}

/// The ids with which a request names its place in a trace.
#[derive(Clone, Debug, Default)]
pub(crate) struct TraceIds {
    /// The trace.
    pub trace: Option<Box<str>>,
    /// The span of the request itself, if it names that.
    pub own: Option<Box<str>>,
    /// The span that contains it.
    pub parent: Option<Box<str>>,
}

/// Returns the ids with which a request names its place in a trace.
#[cfg(feature = "cli")]
pub(crate) fn trace_ids(decoded: &Decoded<'_>) -> TraceIds {
    let all = trace_of(decoded);
    // A trace context names the span of the sender.
    let (own, parent) = if all.is_context {
        (None, all.span)
    } else {
        (all.span, all.parent)
    };
    TraceIds {
        trace: all.id,
        own,
        parent,
    }
}

/// Returns the id of the trace of a request.
#[cfg(feature = "cli")]
pub(crate) fn trace_id(decoded: &Decoded<'_>) -> Option<Box<str>> {
    trace_of(decoded).id
}

/// Returns the session that the head of an HTTP request names.
fn session_of(decoded: &Decoded<'_>) -> Option<Box<str>> {
    let field = decoded.protocol.descriptor().http?.name;
    let (name, _) = http::field(http::head(&decoded.seen())?, field);
    name.filter(|name| !name.is_empty()).map(Into::into)
}

/// Reads the trace of a request from its members, or from its head.
fn trace_of(decoded: &Decoded<'_>) -> Trace {
    let mut trace = Trace::default();
    let root = decoded.root();
    for (path, member) in decoded.protocol.descriptor().traces {
        let node = path
            .iter()
            .try_fold(root, |node, key| Some(node?.get(key)))
            .flatten();
        let Some(text) = node.and_then(Node::text) else {
            continue;
        };
        match member {
            TraceMember::Context => trace.read_context(&text),
            TraceMember::Trace => trace.id = kept(&text),
            TraceMember::Span => trace.span = kept(&text),
            TraceMember::ParentSpan => trace.parent = kept(&text),
            TraceMember::Starts => trace.starts = kept(&text),
            TraceMember::Started => trace.started = kept(&text),
        }
    }
    if trace.id.is_none()
        && let Some(head) = http::head(&decoded.seen())
        && let (Some(text), _) = http::field(head, "traceparent")
    {
        trace.read_context(&text);
    }
    trace
}

impl Trace {
    /// Reads `00-` trace `-` span `-` flags. W3C Trace Context, sections 2.2.2 and 2.2.3: digits are of lower case, zeros and
    /// the version ff are invalid, and only later versions have further parts.
    fn read_context(&mut self, text: &str) {
        let mut parts = text.split('-');
        let mut part = |len| {
            let part = parts.next().unwrap_or_default();
            let is_digits = part
                .bytes()
                .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
            Some(part).filter(|part| part.len() == len && is_digits)
        };
        let (Some(version), Some(id), Some(span), Some(_)) = (part(2), part(32), part(16), part(2))
        else {
            return;
        };
        let is_valid = version != "ff" && (version != "00" || parts.next().is_none());
        let is_id = |id: &str| id.bytes().any(|byte| byte != b'0');
        if is_valid && is_id(id) && is_id(span) {
            (self.id, self.span) = (kept(id), kept(span));
            self.is_context = true;
        }
    }
}

/// Returns an id to be compared.
fn kept(id: &str) -> Option<Box<str>> {
    let is_id = (1..=MAX_ID).contains(&id.len());
    is_id.then(|| id.to_ascii_lowercase().into())
}

#[cfg(test)]
mod tests {
    use super::Trace;

    #[test]
    fn only_valid_trace_contexts_are_read() {
        const ID: &str = "0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7";
        let zeros = "0".repeat(32);
        for (text, is_valid) in [
            (format!("00-{ID}-01"), true),
            (format!("00-{ID}-01-x"), false),
            (format!("01-{ID}-01-x"), true),
            (format!("ff-{ID}-01"), false),
            (format!("00-{}-01", ID.to_uppercase()), false),
            (format!("00-{ID}"), false),
            (format!("00-{ID}-1"), false),
            (format!("0-{ID}-01"), false),
            (format!("00-{zeros}-00f067aa0ba902b7-01"), false),
        ] {
            let mut trace = Trace::default();
            trace.read_context(&text);
            assert_eq!(trace.id.is_some(), is_valid, "{text}");
        }
    }
}
