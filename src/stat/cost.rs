//! What a conversation costs: bytes by subject, stated costs, definitions, and the bytes that other forms would save.
//!
//! ```text
//!   message  -> by subject: messages, bytes of requests, bytes of answers
//!            -> its costs, by tool; its definitions, by name
//!            -> encoded once more: MessagePack, permessage-deflate, a merge patch to the one before
//!   request  -> does it take an output of the answer before it?  then a pipeline may save a round trip
//! ```
//!
//! Memory is bounded: names by [`MAX_NAMES`], compressors by [`MAX_CONTEXTS`], stored states by number and size.

use super::{Count, MAX_NAMES, entry};
use crate::conversation::Verdict;
use crate::decoder::Decoded;
use crate::encoding::{json, lossless, msgpack};
use crate::protocol::{Definitions, Direction, Role, with_name};
use crate::tape::{Node, Tape};
use flate2::{Compress, Compression, FlushCompress, Status};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashSet, VecDeque};
use std::hash::{BuildHasher, RandomState};

/// The number of connections whose compressors are kept, one for each direction; the oldest is removed first.
const MAX_CONTEXTS: usize = 32;
/// The number of states that later ones are compared with; the oldest is removed first.
const MAX_STATES: usize = 256;
/// The largest state that is stored, in bytes.
const MAX_STATE: usize = 1 << 18;
/// The number of values of an answer that a request may repeat.
const MAX_VALUES: usize = 256;
/// The number of requests without an answer whose arguments are known; the oldest is removed first.
const MAX_REQUESTS: usize = 1 << 12;
/// The number of values of requests that are known, for each connection. If there are more, no further call is compared.
const MAX_ASKED: usize = 1 << 14;
/// The least length of such a value, in bytes of JSON: shorter ones are often equal by chance.
const MIN_VALUE: usize = 10;
/// The number of levels of an answer and of a request whose values are compared.
const MAX_LEVELS: usize = 6;
/// The nesting depth of a stored state.
const DEPTH: u32 = 128;
/// The end of each compressed message, which is not sent (RFC 7692, section 7.2.1).
const FLUSHED: [u8; 4] = [0, 0, 0xff, 0xff];

/// Bytes as they are, and in another form.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OtherForm {
    /// The number of messages that have it.
    pub messages: u64,
    /// Their bytes, without framing.
    pub bytes: u64,
    /// Their bytes in the other form.
    pub other: u64,
}

impl OtherForm {
    fn add(&mut self, bytes: usize, other: usize) {
        self.messages += 1;
        self.bytes += bytes as u64;
        self.other += other as u64;
    }

    /// Returns the part that the other form saves in percent; it is negative if the other form is larger.
    pub fn saved(&self) -> f64 {
        if self.bytes == 0 {
            return 0.0;
        }
        100.0 - self.other as f64 * 100.0 / self.bytes as f64
    }
}

/// The messages of a subject.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SubjectCost {
    /// Requests and other messages that answer nothing.
    pub asked: Count,
    /// Answers, with their items.
    pub answered: Count,
}

/// A sum of numbers that answers state.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StatedCost {
    /// The number of answers.
    pub answers: u64,
    /// The sum.
    pub sum: f64,
}

/// What a conversation costs.
#[derive(Default)]
pub struct Cost {
    /// Messages by subject, or by kind if they have none; answers have the subject of their request. Those without both
    /// are under the empty name.
    pub subjects: BTreeMap<String, SubjectCost>,
    /// What answers state, by client and subject; for each member.
    pub stated: BTreeMap<String, BTreeMap<String, StatedCost>>,
    /// The bytes of definitions, by name, each as it was last listed.
    pub definitions: BTreeMap<String, u64>,
    /// The number of lists with definitions, and their bytes.
    pub lists: Count,
    /// Text as `MessagePack`.
    pub msgpack: OtherForm,
    /// permessage-deflate, with context takeover.
    pub deflate: OtherForm,
    /// permessage-deflate without context takeover.
    pub deflate_each: OtherForm,
    /// States of something of which an earlier state is known, with a JSON merge patch in their place.
    pub delta: OtherForm,
    /// The number of answered requests.
    pub calls: u64,
    /// Those whose request takes an output of the answer before it. Some of them may have waited for a person.
    pub chained: u64,
    contexts: VecDeque<(Stream, Box<Compress>)>,
    each: Option<Box<Compress>>,
    states: VecDeque<(State, Vec<u8>)>,
    values: VecDeque<Values>,
    requests: BTreeMap<u64, AskedRequest>,
    hasher: RandomState,
    scratch: Vec<u8>,
}

/// What one side of a connection asked, and was answered.
#[derive(Default)]
struct Values {
    side: Stream,
    /// The values of all requests: a value that a client knew before is no output.
    asked: HashSet<u64>,
    /// The values of the last answer.
    answered: HashSet<u64>,
    /// The operation of the last answer.
    operation: Option<u64>,
}

/// A request without its last answer.
#[derive(Clone, Copy)]
struct AskedRequest {
    /// The hash of its arguments.
    arguments: u64,
    /// It takes an output of the answer before it.
    takes_output: bool,
}

/// A direction of a connection.
type Stream = (Option<u32>, Option<Direction>);

/// A direction, a kind, a subject with its name, and the hash of the arguments or the operation: what has a state.
type State = (Stream, String, String, u64);

fn number_of(value: Node<'_>) -> Option<f64> {
    let text = json_text(value);
    str::from_utf8(&text).ok()?.parse().ok()
}

/// Returns the members that are numbers.
fn numbers_of(stated: Node<'_>) -> impl Iterator<Item = (Cow<'_, str>, f64)> {
    let members = stated.members().take(MAX_VALUES);
    members.filter_map(|(key, value)| Some((key.text()?, number_of(value)?)))
}

impl Cost {
    /// Adds a message.
    pub fn add_message(&mut self, decoded: &Decoded<'_>, verdict: Verdict<'_>) {
        let (message, origin) = (decoded.message, decoded.origin);
        let descriptor = decoded.protocol.descriptor();
        let (about, name) = match verdict.answer {
            Some(answer) => (answer.subject.as_deref(), answer.name.as_deref()),
            None => (message.subject.as_deref(), message.name.as_deref()),
        };
        let what = with_name(about, name.filter(|_| !descriptor.has_unique_names));
        let what = match what.as_ref() {
            "" => message.kind.as_ref(),
            what => what,
        };
        let subject = entry(&mut self.subjects, what);
        match verdict.answer {
            Some(_) => subject.answered.add(decoded.frame.len),
            None => subject.asked.add(decoded.frame.len),
        }
        if decoded.is_dropped() || decoded.is_faulty() {
            return;
        }
        let body = message.body.of(decoded.frame.view.bytes);
        let Some(root) = decoded.root().filter(|_| !body.is_empty()) else {
            return;
        };
        self.measure_forms(body, root, (origin.conn, origin.direction));
        if let Some(answer) = verdict.answer {
            self.add_stated(what, verdict.client, root, descriptor.costs);
            let of = answer.subject.as_deref().unwrap_or(&answer.kind);
            let list = descriptor.definitions.iter().find(|list| list.of == of);
            if let Some(list) = list {
                self.add_definitions(list, root);
            }
        }
        let content = decoded.protocol.content(root, message);
        if let Some(content) = content {
            self.measure_delta(decoded, verdict, &with_name(about, name), content);
        }
        self.follow_chain(decoded, verdict, content);
    }

    /// Encodes a message once more in each form.
    fn measure_forms(&mut self, body: &[u8], root: Node<'_>, stream: Stream) {
        if body.trim_ascii_start().starts_with(b"{") || body.trim_ascii_start().starts_with(b"[") {
            self.scratch.clear();
            if msgpack::write_plain(root, &mut self.scratch).is_ok() {
                self.msgpack.add(body.len(), self.scratch.len());
            }
        }
        let own = self.contexts.iter().position(|(of, _)| *of == stream);
        let own = own.unwrap_or_else(|| {
            if self.contexts.len() >= 2 * MAX_CONTEXTS {
                self.contexts.pop_front();
            }
            self.contexts.push_back((stream, Box::new(compressor())));
            self.contexts.len() - 1
        });
        if let Some((_, context)) = self.contexts.get_mut(own) {
            let len = compressed_len(context, body, &mut self.scratch);
            self.deflate.add(body.len(), len);
        }
        let each = self.each.get_or_insert_with(|| Box::new(compressor()));
        each.reset();
        let len = compressed_len(each, body, &mut self.scratch);
        self.deflate_each.add(body.len(), len);
    }

    /// Adds the numbers that an answer states.
    fn add_stated(&mut self, what: &str, client: Option<&str>, root: Node<'_>, members: &[&str]) {
        let mut stated = members
            .iter()
            .filter_map(|member| Some((*member, root.get(member)?)));
        let Some((_, first)) = stated.next() else {
            return;
        };
        let what = match client {
            Some(client) => &format!("{client}: {what}"),
            None => what,
        };
        for (key, number) in numbers_of(first) {
            self.add_number(what, &key, number);
        }
        for (member, other) in stated {
            for (key, number) in numbers_of(other) {
                let same = first.get(&key).and_then(number_of);
                if same != Some(number) {
                    self.add_number(what, &format!("{key} ({member})"), number);
                }
            }
        }
    }

    fn add_number(&mut self, what: &str, key: &str, number: f64) {
        let sum = entry(entry(&mut self.stated, what), key);
        sum.answers += 1;
        sum.sum += f64::max(number, 0.0);
    }

    /// Adds the definitions of a list.
    fn add_definitions(&mut self, list: &Definitions<'_>, root: Node<'_>) {
        let found = list.path.iter().try_fold(root, |node, key| node.get(key));
        let Some(found) = found.filter(|found| found.is_array()) else {
            return;
        };
        self.lists.add(found.span().len.into());
        for one in found.children().take(MAX_NAMES) {
            let name = one.get("name").or(one.get("uri")).and_then(Node::text);
            let name = name.as_deref().unwrap_or("(no name)");
            *entry(&mut self.definitions, name) = one.span().len as usize as u64;
        }
    }

    /// Compares a state with the one before it: an item or an answer of a server with that of the same arguments, another
    /// message with that of its operation.
    fn measure_delta(
        &mut self,
        decoded: &Decoded<'_>,
        verdict: Verdict<'_>,
        what: &str,
        content: Node<'_>,
    ) {
        let (message, origin) = (decoded.message, decoded.origin);
        let thing = match (message.role, verdict.answer) {
            (Some(Role::Item), Some(answer)) => self.arguments_of(answer.to),
            (Some(Role::Response), Some(answer))
                if origin.direction != Some(Direction::ToServer) =>
            {
                self.arguments_of(answer.to)
            }
            (Some(Role::Item | Role::Notification), None) => {
                Some(verdict.operation.map_or(0, |one| one.index))
            }
            _ => None,
        };
        let size = content.span().len as usize;
        let Some(thing) = thing.filter(|_| content.is_map() && size <= MAX_STATE) else {
            return;
        };
        let stream = (origin.conn, origin.direction);
        let text = json_text(content);
        let is_it = |(state, _): &(State, Vec<u8>)| {
            (state.0, state.3) == (stream, thing) && state.1 == message.kind && state.2 == what
        };
        let Some(place) = self.states.iter().position(is_it) else {
            if self.states.len() >= MAX_STATES {
                self.states.pop_front();
            }
            let state = (stream, message.kind.to_string(), what.to_owned(), thing);
            self.states.push_back((state, text));
            return;
        };
        let Some((_, before)) = self.states.get_mut(place) else {
            return;
        };
        if let Some(patch) = merge_patch(before, &text) {
            let len = message.body.of(decoded.frame.view.bytes).len();
            // A sender chooses the shorter one.
            self.delta
                .add(len, len.saturating_sub(size) + patch.len().min(size));
        }
        *before = text;
    }

    fn arguments_of(&self, request: u64) -> Option<u64> {
        Some(self.requests.get(&request)?.arguments)
    }

    /// Returns what a side of a connection asked, and was answered.
    fn values_of(&mut self, side: Stream) -> Option<&mut Values> {
        let place = self.values.iter().position(|one| one.side == side);
        let place = place.unwrap_or_else(|| {
            if self.values.len() >= 2 * MAX_CONTEXTS {
                self.values.pop_front();
            }
            let values = Values {
                side,
                ..Values::default()
            };
            self.values.push_back(values);
            self.values.len() - 1
        });
        self.values.get_mut(place)
    }

    /// Counts a call, and compares its arguments with the output before it.
    fn follow_chain(
        &mut self,
        decoded: &Decoded<'_>,
        verdict: Verdict<'_>,
        content: Option<Node<'_>>,
    ) {
        let (origin, role) = (decoded.origin, decoded.message.role);
        let operation = verdict.operation.map(|one| one.index);
        let is_answer = matches!(role, Some(Role::Response | Role::Error));
        let mut values = HashSet::new();
        if let Some(content) = content {
            collect_values(content, MAX_LEVELS, &self.hasher, &mut values);
        }
        // The name of what is called is no argument.
        if let Some(name) = decoded.message.name.as_deref() {
            let mut text = Vec::new();
            json::write_str(name, &mut text);
            values.remove(&self.hasher.hash_one(text));
        }
        let Some(own) = self.values_of((origin.conn, origin.direction)) else {
            return;
        };
        if role == Some(Role::Request) && verdict.answer.is_none() {
            // A poll or a retry belongs to the call before.
            let is_next = operation.is_none() || own.operation != operation;
            let is_full = own.asked.len() >= MAX_ASKED;
            let mut taken = own.answered.intersection(&values);
            let takes_output = is_next && !is_full && taken.any(|value| !own.asked.contains(value));
            if !is_full {
                own.asked.extend(values);
            }
            let arguments = self.hasher.hash_one(content.map(json_text));
            let request = AskedRequest {
                arguments,
                takes_output,
            };
            self.requests.insert(decoded.index, request);
            if self.requests.len() > MAX_REQUESTS {
                self.requests.pop_first();
            }
            return;
        }
        let Some(answer) = verdict.answer.filter(|one| is_answer && one.last) else {
            return;
        };
        // The side was asked itself, perhaps a person: its next request may depend on that.
        own.answered.clear();
        let asker = (origin.conn, origin.direction.map(Direction::other));
        if let Some(asker) = self.values_of(asker) {
            asker.operation = operation;
            asker.answered = if decoded.message.is_error() {
                HashSet::new()
            } else {
                values
            };
        }
        let request = self.requests.remove(&answer.to);
        if role == Some(Role::Response) {
            self.calls += 1;
            self.chained += u64::from(request.is_some_and(|one| one.takes_output));
        }
    }
}

/// Returns a compressor as permessage-deflate has it: raw, with a window of 32 KiB.
fn compressor() -> Compress {
    Compress::new(Compression::default(), false)
}

/// Compresses a message, and returns its length without the end that is not sent.
fn compressed_len(context: &mut Compress, body: &[u8], out: &mut Vec<u8>) -> usize {
    out.clear();
    let before = context.total_in();
    loop {
        out.reserve(body.len() / 2 + 64);
        let done = usize::try_from(context.total_in() - before).unwrap_or(usize::MAX);
        let rest = body.get(done..).unwrap_or_default();
        let status = context.compress_vec(rest, out, FlushCompress::Sync);
        let is_done = out.len() < out.capacity();
        if is_done || !matches!(status, Ok(Status::Ok)) {
            break;
        }
    }
    let len = out.len();
    len - if out.ends_with(&FLUSHED) {
        FLUSHED.len()
    } else {
        0
    }
}

/// Returns a value as compact JSON.
fn json_text(node: Node<'_>) -> Vec<u8> {
    let mut text = Vec::new();
    lossless::write(node, &mut text);
    text
}

/// Returns the JSON merge patch (RFC 7386) from one object to another; `None` if there is none, or if they have other members.
fn merge_patch(before: &[u8], after: &[u8]) -> Option<Vec<u8>> {
    let (mut first, mut second) = (Tape::new(), Tape::new());
    let mut out = Vec::new();
    let before = read(before, &mut first)?;
    let after = read(after, &mut second)?;
    let names = |node: Node<'_>| -> BTreeSet<Vec<u8>> {
        let names = node.members();
        names.map(|(key, _)| key.key_bytes().to_vec()).collect()
    };
    if names(before) != names(after) {
        return None;
    }
    write_patch(before, after, DEPTH, &mut out).then_some(out)
}

fn read<'a>(text: &'a [u8], tape: &'a mut Tape) -> Option<Node<'a>> {
    tape.clear(DEPTH);
    json::root(text, DEPTH, tape).ok()
}

/// Writes a patch. Returns false if a patch cannot say it: null removes a member.
fn write_patch(before: Node<'_>, after: Node<'_>, depth: u32, out: &mut Vec<u8>) -> bool {
    let separate = |out: &mut Vec<u8>, key: Node<'_>| {
        if out.last() != Some(&b'{') {
            out.push(b',');
        }
        lossless::write(key, out);
        out.push(b':');
    };
    out.push(b'{');
    for (key, value) in after.members() {
        let Some(name) = key.text().filter(|_| !value.is_null() && depth > 0) else {
            return false;
        };
        let old = before.get(&name);
        let text = value.span().of(value.bytes());
        match old {
            Some(old) if old.span().of(old.bytes()) == text => {}
            Some(old) if old.is_map() && value.is_map() => {
                separate(out, key);
                if !write_patch(old, value, depth - 1, out) {
                    return false;
                }
            }
            _ => {
                separate(out, key);
                out.extend_from_slice(text);
            }
        }
    }
    for (key, _) in before.members() {
        if key.text().is_some_and(|name| after.get(&name).is_none()) {
            separate(out, key);
            out.extend_from_slice(b"null");
        }
    }
    out.push(b'}');
    true
}

/// Collects the hashes of values that are long enough to be recognised.
fn collect_values(node: Node<'_>, levels: usize, hasher: &RandomState, all: &mut HashSet<u64>) {
    if all.len() >= MAX_VALUES {
        return;
    }
    let text = json_text(node);
    if text.len() < MIN_VALUE {
        return;
    }
    all.insert(hasher.hash_one(&text));
    if levels > 0 && (node.is_map() || node.is_array()) {
        let step = if node.is_map() { 2 } else { 1 };
        let values = node.children().skip(step - 1).step_by(step);
        for value in values.take(MAX_VALUES) {
            collect_values(value, levels - 1, hasher, all);
        }
    }
}
