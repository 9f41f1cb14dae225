//! Compares two conversations message by message: by requests and their responses, not by position.
//!
//! ```text
//!   A:  call add #0   call sub #1   ↩ #1   ↩ #0          B:  call sub #0   ↩ #0   call add #1   ↩ #1
//!
//!   groups    c2s call add: A [0], B [1]        c2s call sub: A [1], B [0]
//!   pairs     by similarity within a group; responses with their requests
//! ```
//!
//! Values are compared by meaning: widths and key order are ignored. Ids, which every run
//! generates, correspond one to one; of times, only the presence is compared; [`Ignore`] lists
//! further exceptions. Messages without a call, such as pings, are left out.

mod compare;
mod ids;
mod ignore;
mod stored_message;
#[cfg(test)]
mod tests;
mod values;
mod walk;

use crate::conversation::Verdict;
use crate::decoder::Decoded;
use crate::protocol::{Direction, Protocol, Role};
pub(crate) use compare::Compare;
pub use compare::{DiffValue, FieldDifference};
use ids::OpaqueValues;
pub(crate) use ids::{IdScope, Ids};
pub use ignore::{CompareDepth, IdUse, Ignore, MessageName};
pub(crate) use ignore::{PathPattern, generalized};
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::hash::{DefaultHasher, Hasher as _};
pub use stored_message::StoredMessage;
pub(crate) use walk::{IdForm, SpellingForm, Val, WalkedValue, id_form, uuid_like, walk};

/// In longer groups, messages are paired by position instead of similarity.
const MAX_COMPARED: usize = 1 << 13;

/// One of the two conversations.
#[derive(Default)]
pub struct DiffSide {
    messages: Vec<StoredMessage>,
    names: stored_message::SharedNames,
    /// The requests that the client asks to cancel, and the index of the message that asks.
    cancelled: HashMap<u64, u64>,
    weight: usize,
}

impl std::fmt::Debug for DiffSide {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut fields = f.debug_struct("DiffSide");
        fields.field("messages", &self.messages.len());
        fields.finish_non_exhaustive()
    }
}

impl DiffSide {
    /// Adds a message, unless it belongs to the transport or is a heartbeat. A response of HTTP that refuses a request is an
    /// answer.
    pub fn see(&mut self, decoded: &Decoded<'_>, verdict: Verdict<'_>) {
        if let Some(request) = verdict.cancels {
            self.cancelled.entry(request).or_insert(decoded.index);
        }
        let passive = matches!(decoded.message.role, Some(Role::Control | Role::Heartbeat));
        let is_refusal = verdict.answer.is_some() && decoded.refusal_status().is_some();
        if !passive || is_refusal {
            let mut stored = StoredMessage::of(decoded, verdict.answer);
            stored.set_session(verdict.session);
            stored.share(&mut self.names);
            self.weight += stored.weight();
            self.messages.push(stored);
        }
    }

    /// Returns the message with an index.
    fn find(&self, index: u64) -> Option<&StoredMessage> {
        let at = self.messages.binary_search_by_key(&index, |m| m.index);
        self.messages.get(at.ok()?)
    }

    /// Returns `true` if a message answers a request after it was cancelled.
    fn answers_cancelled(&self, message: &StoredMessage) -> bool {
        let by = message.reply_to.and_then(|to| self.cancelled.get(&to));
        by.is_some_and(|by| *by < message.index)
    }

    /// Returns the number of messages to compare.
    pub fn len(&self) -> usize {
        self.messages.len()
    }

    /// Returns `true` if there are none.
    pub fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    /// Returns the number of bytes that it stores.
    pub fn weight(&self) -> usize {
        self.weight
    }
}

/// A message of one side, for display.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct DiffMessage {
    /// The number of the message in its input.
    pub index: u64,
    /// The connection, if there are several.
    pub conn: Option<u32>,
    /// The direction, if known.
    pub direction: Option<Direction>,
    /// Kind and subject.
    pub what: String,
}

/// One difference between the two conversations.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Difference {
    /// Two corresponding messages differ.
    Fields(DiffMessage, DiffMessage, Vec<FieldDifference>),
    /// Only A has it, with this number of responses.
    OnlyLeft(DiffMessage, usize),
    /// Only B has it, with this number of responses.
    OnlyRight(DiffMessage, usize),
}

/// The comparison of two sides.
pub struct Diff<'d> {
    compare: Compare<'d>,
    sides: [&'d DiffSide; 2],
    /// The responses: the index of the request, and their position; in order.
    answers: [Vec<(u64, usize)>; 2],
    ids: Ids,
    opaque: OpaqueValues,
}

/// Two corresponding messages, or one without counterpart.
type Pair = (Option<usize>, Option<usize>);

impl std::fmt::Debug for Diff<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut fields = f.debug_struct("Diff");
        fields.field("sides", &self.sides);
        fields.finish_non_exhaustive()
    }
}

impl<'d> Diff<'d> {
    /// Creates a comparison of two sides in a protocol.
    pub fn new(
        protocol: &'d dyn Protocol,
        ignore: &'d Ignore,
        left: &'d DiffSide,
        right: &'d DiffSide,
        depth: u32,
    ) -> Self {
        let answers = [left, right].map(|side| {
            let messages = (side.messages.iter()).enumerate();
            let answers = messages.filter_map(|(at, message)| {
                let to = message.reply_to?;
                side.find(to).map(|_| (to, at))
            });
            let mut answers: Vec<(u64, usize)> = answers.collect();
            answers.sort_unstable();
            answers
        });
        Self {
            compare: Compare::new(protocol, ignore, depth),
            sides: [left, right],
            answers,
            ids: Ids::default(),
            opaque: OpaqueValues::default(),
        }
    }

    /// Returns the number of fields that the project's settings ignored.
    pub fn ignored(&self) -> u64 {
        self.compare.ignored
    }

    /// Reports every difference, in the order of A's requests, each followed by those of its
    /// responses.
    pub fn run(&mut self, tell: &mut dyn FnMut(Difference)) {
        let mut pairs = Vec::new();
        for [left, right] in self.groups() {
            for (left, right) in self.align(&left, &right) {
                let differs = self.pair(left, right, &mut |_| {});
                pairs.push((left, right, differs));
            }
        }
        let ignored = self.compare.ignored;
        pairs.sort_by_key(|(left, right, _)| match (left, right) {
            (Some(left), _) => (*left, 0),
            (None, right) => (right.unwrap_or_default(), 1),
        });
        for (left, right, _) in pairs.into_iter().filter(|(.., differs)| *differs) {
            self.pair(left, right, tell);
        }
        // Pairs were compared twice; ignored fields count once.
        self.compare.ignored = ignored;
    }

    /// Groups messages that are not responses by kind, subject and direction. Requests come first,
    /// because other messages refer to them.
    fn groups(&self) -> Vec<[Vec<usize>; 2]> {
        let mut groups: BTreeMap<String, [Vec<usize>; 2]> = BTreeMap::new();
        for (which, side) in self.sides.into_iter().enumerate() {
            for (at, message) in side.messages.iter().enumerate() {
                if message.reply_to.and_then(|to| side.find(to)).is_none() {
                    let group = groups.entry(message.name().to_string()).or_default();
                    group[which].push(at);
                }
            }
        }
        let mut all = Vec::new();
        for group in groups.into_values() {
            let way = |side: usize, at: usize| self.message(side, at).and_then(|m| m.direction);
            let ways = [0, 1].map(|side| {
                let ways = group[side].iter().map(|at| way(side, *at));
                ways.collect::<HashSet<_>>()
            });
            // Directions separate groups only if both sides have the same ones: on two legs of a
            // relay, the same call has different directions. Calls in both directions on both sides
            // passed a relay in both recordings: each direction is a separate group.
            if ways[0] != ways[1] {
                all.push(group);
                continue;
            }
            for goes in [None, Some(Direction::ToServer), Some(Direction::ToClient)] {
                if ways[0].contains(&goes) {
                    all.push([0, 1].map(|side| {
                        let on_it = group[side].iter().filter(|at| way(side, **at) == goes);
                        on_it.copied().collect()
                    }));
                }
            }
        }
        all.sort_by_cached_key(|group| {
            let firsts = [0, 1].map(|side| group[side].first().copied());
            let roles = [0, 1].map(|side| self.message(side, firsts[side]?)?.role);
            let asks = |role: &Option<Role>| matches!(role, Some(Role::Request | Role::Hello));
            // Independent of the order of the sides.
            let mut firsts = firsts.map(|at| at.unwrap_or(usize::MAX));
            firsts.sort_unstable();
            (!roles.iter().any(asks), firsts)
        });
        all
    }

    /// Pairs the messages of one group by similarity: first in order, then at any position, because
    /// concurrent requests arrive in any order.
    fn align(&mut self, left: &[usize], right: &[usize]) -> Vec<Pair> {
        use similar::{Algorithm, DiffOp, capture_diff_slices};
        let zip = |left: &[usize], right: &[usize]| {
            let all = 0..left.len().max(right.len());
            let pair = |n| (left.get(n).copied(), right.get(n).copied());
            all.map(pair).collect::<Vec<Pair>>()
        };
        if left.len().max(right.len()) > MAX_COMPARED {
            return zip(left, right);
        }
        let mut digests = |side: usize, group: &[usize]| -> Vec<u64> {
            group.iter().map(|at| self.digest(side, *at)).collect()
        };
        let (a, b) = (digests(0, left), digests(1, right));
        if a == b {
            return zip(left, right);
        }
        // The pairs are independent of the order of the sides.
        let swapped = b < a;
        let (a, b) = if swapped { (b, a) } else { (a, b) };
        let (left, right) = if swapped {
            (right, left)
        } else {
            (left, right)
        };
        let ops = capture_diff_slices(Algorithm::Myers, &a, &b);
        let mut pairs = Vec::new();
        let mut elsewhere: HashMap<u64, VecDeque<usize>> = HashMap::new();
        let moved = |op: &&DiffOp| !matches!(op, DiffOp::Equal { .. });
        for at in ops.iter().filter(moved).flat_map(DiffOp::new_range) {
            let digest = b.get(at).copied().unwrap_or_default();
            elsewhere.entry(digest).or_default().push_back(at);
        }
        let (mut used, mut found) = (HashSet::new(), HashSet::new());
        for at in ops.iter().filter(moved).flat_map(DiffOp::old_range) {
            let equal = a.get(at).and_then(|digest| elsewhere.get_mut(digest));
            if let Some(other) = equal.and_then(VecDeque::pop_front) {
                used.insert(at);
                found.insert(other);
                pairs.push((left.get(at).copied(), right.get(other).copied()));
            }
        }
        // A message without an equal one is compared with the one at its position, otherwise with a
        // remaining one.
        let mut rest = (Vec::new(), Vec::new());
        for op in ops {
            let old = op.old_range().filter(|at| !used.contains(at));
            let new = op.new_range().filter(|at| !found.contains(at));
            let old: Vec<usize> = old.filter_map(|at| left.get(at).copied()).collect();
            let new: Vec<usize> = new.filter_map(|at| right.get(at).copied()).collect();
            let both = old.len().min(new.len());
            pairs.extend(old.iter().zip(&new).map(|(a, b)| (Some(*a), Some(*b))));
            rest.0.extend(old.into_iter().skip(both));
            rest.1.extend(new.into_iter().skip(both));
        }
        pairs.extend(zip(&rest.0, &rest.1));
        if swapped {
            for (a, b) in &mut pairs {
                std::mem::swap(a, b);
            }
        }
        pairs
    }

    fn digest(&mut self, side: usize, at: usize) -> u64 {
        let mut hasher = DefaultHasher::new();
        if let Some(message) = self.sides.get(side).and_then(|s| s.messages.get(at)) {
            let scope = self.scope(side, message);
            let ids = &self.ids;
            let number = |used, val: &Val| ids.number(side, used, scope, val);
            self.compare.digest_with(message, &number, &mut hasher);
        }
        hasher.finish()
    }

    /// Compares two corresponding messages, then their responses, one by one. Returns `true` if
    /// there is a difference.
    fn pair(
        &mut self,
        left: Option<usize>,
        right: Option<usize>,
        tell: &mut dyn FnMut(Difference),
    ) -> bool {
        let mut differs = false;
        let mut waiting = vec![(left, right)];
        while let Some((left, right)) = waiting.pop() {
            let a = left.and_then(|at| self.message(0, at));
            let b = right.and_then(|at| self.message(1, at));
            let difference = match (a, b) {
                (Some(a), Some(b)) => {
                    let (lefts, rights) = (self.answers(0, a), self.answers(1, b));
                    let at = |answers: &[(u64, usize)], n: usize| answers.get(n).map(|a| a.1);
                    let most = lefts.len().max(rights.len());
                    let answers = (0..most).map(|n| (at(lefts, n), at(rights, n)));
                    waiting.extend(answers.rev());
                    let is_cancelled = [(0, a), (1, b)].into_iter().any(|(side, message)| {
                        (self.sides.get(side)).is_some_and(|s| s.answers_cancelled(message))
                    });
                    if is_cancelled && is_untimely(a, b) {
                        continue;
                    }
                    let fields = self.fields(a, b);
                    if fields.is_empty() {
                        continue;
                    }
                    Difference::Fields(describe(a), describe(b), fields)
                }
                (Some(a), None) => Difference::OnlyLeft(describe(a), self.answers(0, a).len()),
                (None, Some(b)) => Difference::OnlyRight(describe(b), self.answers(1, b).len()),
                (None, None) => continue,
            };
            differs = true;
            tell(difference);
        }
        differs
    }

    fn message(&self, side: usize, at: usize) -> Option<&'d StoredMessage> {
        self.sides.get(side)?.messages.get(at)
    }

    fn answers(&self, side: usize, message: &StoredMessage) -> &[(u64, usize)] {
        let answers = self.answers.get(side).map_or(&[][..], Vec::as_slice);
        let from = answers.partition_point(|(to, _)| *to < message.index);
        let upto = answers.partition_point(|(to, _)| *to <= message.index);
        answers.get(from..upto).unwrap_or_default()
    }

    /// Returns the scope of a message's ids: a response has that of its request.
    fn scope(&self, side: usize, message: &StoredMessage) -> IdScope {
        let of = |message: &StoredMessage| IdScope {
            conn: message.conn,
            session: message.session(),
            direction: message.direction,
        };
        let asked = self.sides.get(side).zip(message.reply_to);
        let asked = asked.and_then(|(side, to)| side.find(to));
        let scope = of(asked.unwrap_or(message));
        let answers = matches!(
            message.role,
            Some(Role::Response | Role::Error | Role::Item | Role::End)
        );
        IdScope {
            direction: match asked {
                None if answers => scope.direction.map(Direction::other),
                _ => scope.direction,
            },
            ..scope
        }
    }

    fn fields(&mut self, a: &StoredMessage, b: &StoredMessage) -> Vec<FieldDifference> {
        let scopes = [self.scope(0, a), self.scope(1, b)];
        let (ids, opaque) = (&mut self.ids, &mut self.opaque);
        (self.compare).fields_with(a, b, &mut |used, _, one, other| {
            if let Some(used) = used.filter(|used| used.is_opaque) {
                return opaque.pair(used, [one, other].map(compare::digest_of));
            }
            let forms = [one, other].map(id_form);
            let Some((one, other)) = Val::of(one).zip(Val::of(other)) else {
                return Err(None);
            };
            match used {
                Some(used) => ids.pair(used, (scopes[0], &one), (scopes[1], &other), forms),
                None if ids.are_paired(&one, &other) => Ok(()),
                None => Err(None),
            }
        })
    }
}

/// Returns `true` if two answers depend on when a request was cancelled: before its end there is an error instead of
/// the result.
pub(crate) fn is_untimely(a: &StoredMessage, b: &StoredMessage) -> bool {
    let [a, b] = [a, b].map(|one| one.role == Some(Role::Error));
    a != b
}

/// Describes a message for display.
pub(crate) fn describe(stored: &StoredMessage) -> DiffMessage {
    DiffMessage {
        index: stored.index,
        conn: stored.conn,
        direction: stored.direction,
        what: stored.what(),
    }
}
