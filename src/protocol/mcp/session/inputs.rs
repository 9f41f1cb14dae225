//! Requests that a client sends once more, because their answer asks for input.
//!
//! ```text
//!   tools/call #3 -> {resultType: input_required, inputRequests: {a}, requestState: "s"}
//!   tools/call #5 {inputResponses: {a}, requestState: "s"}    part of #3: the same requestState (recorded)
//!   tools/call #7 -> error -32042, elicitations: a person opens a URL
//!   tools/call #9                                             part of #7: the same content (inferred)
//! ```

use crate::protocol::exchange::OpenRequest;
use crate::protocol::rpc::extension::RpcMessage;
use crate::protocol::rpc::spelling;
use crate::protocol::rule_names::mcp as rule;
use crate::protocol::schema::check::number;
use crate::protocol::session::http;
use crate::protocol::session::memory::RecentEntries;
use crate::protocol::session::stored::to_stored;
use crate::protocol::session::text::quote;
use crate::protocol::session::{Link, Owner, broken};
use crate::tape::Node;
use foldhash::fast::RandomState;
use std::collections::VecDeque;
use std::hash::BuildHasher;
use std::sync::Arc;

/// The largest number of answers that are stored.
const MAX_WAITING: usize = 1 << 8;
/// The largest number of stored inputs of an answer.
const MAX_INPUTS: usize = 1 << 6;
/// The code of an error by which a person must open a URL first.
const URL_REQUIRED: i128 = -32042;

/// The parts of a request by which its repetition is recognised.
#[derive(Debug, Default)]
pub(super) struct Repeatable {
    /// The index of the first request, if this one repeats it.
    first: Option<u64>,
    /// A hash of the arguments.
    arguments: u64,
    /// A hash of their values, if the request names its version.
    values: Option<u64>,
}

/// An answer that asks for input.
struct Waiting {
    /// The index of the first request.
    first: u64,
    answer: u64,
    subject: Option<Arc<str>>,
    name: Option<Arc<str>>,
    arguments: u64,
    values: Option<u64>,
    /// A hash of `requestState`, which may be long.
    state: Option<u64>,
    /// The inputs; `None` if there are too many.
    inputs: Option<Vec<Box<str>>>,
    /// A person opens a URL.
    url: Option<Box<[Box<str>]>>,
}

impl Waiting {
    fn has_content_of(&self, message: &RpcMessage<'_, '_>, arguments: u64) -> bool {
        self.subject.as_deref() == Some(&*message.name())
            && self.name.as_deref() == message.seen.message.name.as_deref()
            && self.arguments == arguments
    }
}

/// The answers of a session that ask for input, the oldest first.
#[derive(Default)]
pub(super) struct Inputs {
    waiting: VecDeque<Waiting>,
    hash: RandomState,
    /// The requests that open a URL, by the id that both sides use; `None` if several have it.
    opened: RecentEntries<Box<str>, Option<u64>>,
    /// Some answers are not stored.
    incomplete: bool,
}

impl Inputs {
    /// Messages may have been missed.
    pub(super) fn missed(&mut self) {
        self.incomplete = true;
    }

    /// Handles a request. Returns what its answer needs.
    pub(super) fn ask(&mut self, message: &RpcMessage<'_, '_>, stateless: bool) -> Repeatable {
        let node = message.param("arguments");
        let arguments = self.hash.hash_one(node.map(spelling));
        let values = stateless.then(|| node.map_or(0, |node| self.hash_values(node)));
        let first = (!self.waiting.is_empty())
            .then(|| self.find(message, arguments, values))
            .flatten();
        if let Some((first, link)) = first {
            message.part_of(first, link);
        } else {
            self.check_unasked(message);
        }
        Repeatable {
            first: first.map(|(first, _)| first),
            arguments,
            values,
        }
    }

    /// Returns a hash of a value that is the same for any spelling and any order of members.
    fn hash_values(&self, node: Node<'_>) -> u64 {
        if node.is_map() {
            let members = node.members().map(|(key, value)| {
                let value = self.hash_values(value);
                self.hash.hash_one((&*key.key_bytes(), value))
            });
            return members.fold(1, u64::wrapping_add);
        }
        if node.is_array() {
            let values = node.children().map(|value| self.hash_values(value));
            return values.fold(2, |all, value| self.hash.hash_one((all, value)));
        }
        let text = node.text().filter(|_| node.is_string());
        let number = number(node).map(f64::to_bits);
        match (text, number) {
            (Some(text), _) => self.hash.hash_one(&*text),
            (None, Some(number)) => self.hash.hash_one(number),
            (None, None) => self.hash.hash_one(spelling(node)),
        }
    }

    fn hash_of(&self, state: Option<Node<'_>>) -> Option<u64> {
        let text = state.and_then(Node::text)?;
        Some(self.hash.hash_one(&*text))
    }

    /// Returns the first request that a message repeats.
    fn find(
        &mut self,
        message: &RpcMessage<'_, '_>,
        arguments: u64,
        values: Option<u64>,
    ) -> Option<(u64, Link)> {
        let responses = message.param("inputResponses");
        let state = message.param("requestState");
        let hash = self.hash_of(state);
        if responses.is_none() && state.is_none() {
            let is_same = |w: &Waiting| w.url.is_some() && w.has_content_of(message, arguments);
            let at = only(&self.waiting, is_same).filter(|_| !self.incomplete)?;
            return self.waiting.remove(at).map(|w| (w.first, Link::Inferred));
        }
        let asks = |w: &Waiting| w.url.is_none() && w.subject.as_deref() == Some(&*message.name());
        let is_of =
            |w: &Waiting| asks(w) && w.name.as_deref() == message.seen.message.name.as_deref();
        let has_state = |w: &Waiting| asks(w) && w.state == hash;
        let is_same = |w: &Waiting| has_state(w) && w.has_content_of(message, arguments);
        let by_state = only(&self.waiting, has_state)
            .filter(|at| state.is_some() && self.waiting.get(*at).is_some_and(is_of));
        let (at, link) = if let Some(at) = by_state {
            (at, Link::Recorded)
        } else if let Some(at) = only(&self.waiting, is_same).filter(|_| !self.incomplete) {
            (at, Link::Inferred)
        } else {
            let of_other = |w: &Waiting| w.url.is_none() && w.state == hash && !is_of(w);
            let is_own = |w: &Waiting| is_of(w) && w.state == hash;
            let of_other = only(&self.waiting, of_other)
                .filter(|_| !self.waiting.iter().any(is_own))
                .and_then(|at| self.waiting.get(at));
            if let Some((state, of_other)) = state.zip(of_other) {
                broken!(message, rule::REQUEST_STATE, message.at(state), of_other.answer;
                    "the requestState is that of #{}, which asks for the input of another request",
                    of_other.answer);
                return None;
            }
            let asked = |w: &Waiting| asks(w) && w.has_content_of(message, arguments);
            self.check_state(message, state, asked, has_state);
            return None;
        };
        let waiting = self.waiting.get(at)?;
        waiting.check_responses(message, responses);
        waiting.check_values(message, values);
        Some((waiting.first, link))
    }

    /// Reports a repeated request with another state than the answer that asked for input.
    fn check_state(
        &self,
        message: &RpcMessage<'_, '_>,
        state: Option<Node<'_>>,
        asked: impl Fn(&Waiting) -> bool,
        has_state: impl Fn(&Waiting) -> bool,
    ) {
        if self.incomplete || self.waiting.iter().any(has_state) {
            return;
        }
        let Some(waiting) = only(&self.waiting, asked).and_then(|at| self.waiting.get(at)) else {
            return;
        };
        let (place, got) = match state {
            Some(state) => (message.at(state), "another requestState than"),
            None => (message.whole(), "no requestState, unlike"),
        };
        broken!(message, rule::REQUEST_STATE, place, waiting.answer;
            "the repeated request has {got} #{}, which asks for input", waiting.answer);
    }

    /// Reports input although no answer of the session asks for any. Over HTTP, another server may have asked.
    fn check_unasked(&self, message: &RpcMessage<'_, '_>) {
        let Some(responses) = message.param("inputResponses") else {
            return;
        };
        let is_alone = http::head(&message.seen).is_none() && !self.incomplete;
        let asks = |w: &Waiting| w.subject.as_deref() == Some(&*message.name());
        if let Some((key, value)) = responses.members().next()
            && is_alone
            && !self.waiting.iter().any(asks)
        {
            broken!(message, rule::INPUT_NOT_ASKED, message.at(value);
                "no answer asks for the input {}", quote(key));
        }
    }

    /// Handles an answer.
    pub(super) fn answer(
        &mut self,
        message: &RpcMessage<'_, '_>,
        asked: &OpenRequest,
        request: &Repeatable,
    ) {
        let result = message.result();
        let member = |name| result.and_then(|result| result.get(name));
        let (inputs, state) = (member("inputRequests"), member("requestState"));
        let asks = member("resultType").is_some_and(|of| of.is_text("input_required"));
        let url = url_elicitations(message);
        let first = request.first.unwrap_or(asked.index());
        if request.first.is_some() {
            self.waiting.retain(|waiting| waiting.first != first);
        }
        if !asks && inputs.is_none() && state.is_none() && url.is_none() {
            return;
        }
        let names = inputs.map(|inputs| {
            let names = inputs.members().map(|(key, _)| text(key));
            names.take(MAX_INPUTS + 1).collect::<Vec<_>>()
        });
        let asks_person = |(_, input): (Node<'_>, Node<'_>)| {
            let method = input.get("method");
            method.is_some_and(|method| method.is_text(super::ELICITATION))
        };
        let mut asked_for = inputs.into_iter().flat_map(Node::members).take(MAX_INPUTS);
        let waits_for_person = url.is_some() || asked_for.any(asks_person);
        {
            let mut facts = message.operation();
            facts.ends = Some(false);
            facts.owner = Some(if waits_for_person {
                Owner::Person
            } else {
                Owner::Retry
            });
        }
        if self.waiting.len() >= MAX_WAITING {
            self.waiting.pop_front();
            self.incomplete = true;
        }
        self.waiting.push_back(Waiting {
            first,
            answer: message.index,
            subject: asked.subject().map(Into::into),
            name: asked.name().map(Into::into),
            arguments: request.arguments,
            values: request.values,
            state: self.hash_of(state),
            inputs: Some(names.unwrap_or_default()).filter(|names| names.len() <= MAX_INPUTS),
            url,
        });
    }

    /// Handles a request to open a URL, which may have an id.
    pub(super) fn open(&mut self, message: &RpcMessage<'_, '_>) {
        if let Some(id) = message.param("elicitationId").and_then(Node::text) {
            let id: Box<str> = to_stored(&id);
            let index = self.opened.get(&id).is_none().then_some(message.index);
            self.opened.insert(id, index);
        }
    }

    /// Handles the news that a person has finished with a URL.
    pub(super) fn complete(&self, message: &RpcMessage<'_, '_>) {
        let Some(id) = message.param("elicitationId").and_then(Node::text) else {
            return;
        };
        let id: Box<str> = to_stored(&id);
        let waits = |w: &Waiting| {
            let ids = w.url.as_deref().unwrap_or_default();
            ids.contains(&id)
        };
        if let Some(waiting) = only(&self.waiting, waits).and_then(|at| self.waiting.get(at)) {
            message.part_of(waiting.first, Link::Recorded);
            message.operation().owner = Some(Owner::Retry);
        } else if let Some(Some(index)) = self.opened.get(&id) {
            message.part_of(*index, Link::Recorded);
        }
    }
}

impl Waiting {
    /// Reports a repeated request whose arguments have other values.
    fn check_values(&self, message: &RpcMessage<'_, '_>, values: Option<u64>) {
        let differs = self.values.zip(values).is_some_and(|(of, new)| of != new);
        if differs {
            let place = message.param("arguments").map(|node| message.at(node));
            broken!(message, rule::REQUEST_STATE, place.unwrap_or(message.whole()), self.first;
                "the arguments differ from those of #{}, whose requestState this has: it is another request",
                self.first);
        }
    }

    /// Reports input that the answer did not ask for.
    fn check_responses(&self, message: &RpcMessage<'_, '_>, responses: Option<Node<'_>>) {
        let Some((responses, inputs)) = responses.zip(self.inputs.as_ref()) else {
            return;
        };
        for (key, value) in responses.members() {
            if !inputs.contains(&text(key)) {
                broken!(message, rule::INPUT_NOT_ASKED, message.at(value), self.answer;
                    "#{} does not ask for the input {}", self.answer, quote(key));
                return;
            }
        }
    }
}

/// Returns the position of the only entry that satisfies a condition.
fn only(waiting: &VecDeque<Waiting>, fits: impl Fn(&Waiting) -> bool) -> Option<usize> {
    let mut found = waiting.iter().enumerate().filter(|(_, w)| fits(w));
    let (at, _) = found.next()?;
    found.next().is_none().then_some(at)
}

fn text(key: Node<'_>) -> Box<str> {
    to_stored(&String::from_utf8_lossy(&key.key_bytes()))
}

/// Returns the ids of the URLs that a person must open before the request is sent once more.
fn url_elicitations(message: &RpcMessage<'_, '_>) -> Option<Box<[Box<str>]>> {
    let error = message.call.error()?;
    let code = error.get("code")?.as_i128()?;
    let list = error.get("data")?.get("elicitations")?;
    (code == URL_REQUIRED && list.is_array()).then(|| {
        let ids = list.children().filter_map(|one| one.get("elicitationId"));
        let ids = ids.filter_map(|id| Some(to_stored(&id.text()?)));
        ids.take(MAX_INPUTS).collect()
    })
}
