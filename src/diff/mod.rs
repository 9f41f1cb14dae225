//! Two conversations compared message by message: by what was asked and what that was answered, not by position.
//!
//! ```text
//!   A:  call add #0   call sub #1   ↩ #1   ↩ #0          B:  call sub #0   ↩ #0   call add #1   ↩ #1
//!
//!   lanes      c2s call add: A [0], B [1]        c2s call sub: A [1], B [0]
//!   pairs      by likeness within a lane; answers with the request that they answer
//! ```
//!
//! Values are compared by what they mean: widths and key order do not count. Ids, which every run makes anew, correspond
//! one to one; of times, only the presence counts; and [`Ignore`] says what else is not compared. Messages that
//! belong to no call, such as pings, are left out.

mod compare;
mod ids;
mod ignore;
mod kept;
#[cfg(test)]
mod tests;
mod values;
mod walk;

use crate::conversation::Verdict;
use crate::decoder::Decoded;
use crate::protocol::{Direction, Protocol, Role};
pub(crate) use compare::Compare;
pub use compare::{Field, Value};
pub(crate) use ids::{Ids, Scope};
pub use ignore::Ignore;
pub(crate) use ignore::{Counts, Pattern, general};
pub use kept::Kept;
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::hash::{DefaultHasher, Hasher as _};
pub(crate) use walk::{Form, Spot, Val, uuid_like, walk};

/// Longer lanes are not searched for the best likeness: the n-th message is compared with the n-th.
const SEARCHED: usize = 1 << 13;

/// One of the two conversations.
#[derive(Default)]
pub struct Side {
    messages: Vec<Kept>,
    names: kept::Names,
    weight: usize,
}

impl Side {
    /// Takes a message up, unless it belongs to the transport or only shows that a side lives.
    pub fn see(&mut self, decoded: &Decoded<'_>, verdict: Verdict<'_>) {
        if !matches!(decoded.message.role, Some(Role::Control | Role::Heartbeat)) {
            let mut kept = Kept::of(decoded, verdict.answer);
            kept.share(&mut self.names);
            self.weight += kept.weight();
            self.messages.push(kept);
        }
    }

    /// The message of an index.
    fn find(&self, index: u64) -> Option<&Kept> {
        let at = self.messages.binary_search_by_key(&index, |m| m.index);
        self.messages.get(at.ok()?)
    }

    /// How many messages there are to compare.
    pub fn len(&self) -> usize {
        self.messages.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    /// Bytes that are held for it.
    pub fn weight(&self) -> usize {
        self.weight
    }
}

/// One message of one side, for people.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Which {
    /// Counts all messages of its input.
    pub index: u64,
    /// Which connection, where there are several.
    pub conn: Option<u32>,
    /// Which way, where known.
    pub direction: Option<Direction>,
    /// Kind and subject.
    pub what: String,
}

/// One difference between the two conversations.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Difference {
    /// Two messages that belong together differ.
    Fields(Which, Which, Vec<Field>),
    /// A alone has it, with so many answers.
    OnlyLeft(Which, usize),
    /// B alone has it, with so many answers.
    OnlyRight(Which, usize),
}

/// The comparison of two sides.
pub struct Diff<'d> {
    compare: Compare<'d>,
    sides: [&'d Side; 2],
    /// Messages that answer others: the index of what they answer, and their place; in order.
    answers: [Vec<(u64, usize)>; 2],
    ids: Ids,
}

/// Two messages that belong together, or one that stands alone.
type Pair = (Option<usize>, Option<usize>);

impl<'d> Diff<'d> {
    /// Will compare two sides in a protocol.
    pub fn new(
        protocol: &'d dyn Protocol,
        ignore: &'d Ignore,
        left: &'d Side,
        right: &'d Side,
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
        }
    }

    /// Fields that the settings of the project ignored.
    pub fn ignored(&self) -> u64 {
        self.compare.ignored
    }

    /// Tells every difference, in the order of A's requests; each followed by those of its answers.
    pub fn run(&mut self, tell: &mut dyn FnMut(Difference)) {
        let mut pairs = Vec::new();
        for [left, right] in self.lanes() {
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
        // What was compared twice was ignored but once.
        self.compare.ignored = ignored;
    }

    /// Messages that answer nothing, by what they are. Requests come first: others speak of them.
    fn lanes(&self) -> Vec<[Vec<usize>; 2]> {
        let mut lanes: BTreeMap<String, [Vec<usize>; 2]> = BTreeMap::new();
        for (which, side) in self.sides.into_iter().enumerate() {
            for (at, message) in side.messages.iter().enumerate() {
                if message.reply_to.and_then(|to| side.find(to)).is_none() {
                    let lane = lanes.entry(message.what()).or_default();
                    lane[which].push(at);
                }
            }
        }
        let mut all = Vec::new();
        for lane in lanes.into_values() {
            let way = |side: usize, at: usize| self.message(side, at).and_then(|m| m.direction);
            let ways = [0, 1].map(|side| {
                let ways = lane[side].iter().map(|at| way(side, *at));
                ways.collect::<HashSet<_>>()
            });
            // Directions count only where both sides have them: on two legs of a relay, the same call goes the other way.
            // What goes both ways on both sides passed a relay there and here: each way is a lane of its own.
            if ways[0] != ways[1] {
                all.push(lane);
                continue;
            }
            for goes in [None, Some(Direction::ToServer), Some(Direction::ToClient)] {
                if ways[0].contains(&goes) {
                    all.push([0, 1].map(|side| {
                        let on_it = lane[side].iter().filter(|at| way(side, **at) == goes);
                        on_it.copied().collect()
                    }));
                }
            }
        }
        all.sort_by_cached_key(|lane| {
            let firsts = [0, 1].map(|side| lane[side].first().copied());
            let roles = [0, 1].map(|side| self.message(side, firsts[side]?)?.role);
            let asks = |role: &Option<Role>| matches!(role, Some(Role::Request | Role::Hello));
            // The same whichever side is A.
            let mut firsts = firsts.map(|at| at.unwrap_or(usize::MAX));
            firsts.sort_unstable();
            (!roles.iter().any(asks), firsts)
        });
        all
    }

    /// Pairs the messages of one lane by likeness: in order as far as that goes, then wherever they stand, since what is
    /// asked at the same time passes in any order.
    fn align(&mut self, left: &[usize], right: &[usize]) -> Vec<Pair> {
        use similar::{Algorithm, DiffOp, capture_diff_slices};
        let zip = |left: &[usize], right: &[usize]| {
            let all = 0..left.len().max(right.len());
            let pair = |n| (left.get(n).copied(), right.get(n).copied());
            all.map(pair).collect::<Vec<Pair>>()
        };
        if left.len().max(right.len()) > SEARCHED {
            return zip(left, right);
        }
        let mut digests = |side: usize, lane: &[usize]| -> Vec<u64> {
            lane.iter().map(|at| self.digest(side, *at)).collect()
        };
        let (a, b) = (digests(0, left), digests(1, right));
        if a == b {
            return zip(left, right);
        }
        // The same pairs whichever side is A.
        let turned = b < a;
        let (a, b) = if turned { (b, a) } else { (a, b) };
        let (left, right) = if turned { (right, left) } else { (left, right) };
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
            let alike = a.get(at).and_then(|digest| elsewhere.get_mut(digest));
            if let Some(other) = alike.and_then(VecDeque::pop_front) {
                used.insert(at);
                found.insert(other);
                pairs.push((left.get(at).copied(), right.get(other).copied()));
            }
        }
        // What is like nothing is compared with what stands in its place, else with what else is left.
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
        if turned {
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
            let number = |group, val: &Val| ids.number(side, group, scope, val);
            self.compare.digest_with(message, &number, &mut hasher);
        }
        hasher.finish()
    }

    /// Compares two messages that belong together, then their answers, one by one. Whether anything differs.
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
                    let fields = self.fields(a, b);
                    if fields.is_empty() {
                        continue;
                    }
                    Difference::Fields(which(a), which(b), fields)
                }
                (Some(a), None) => Difference::OnlyLeft(which(a), self.answers(0, a).len()),
                (None, Some(b)) => Difference::OnlyRight(which(b), self.answers(1, b).len()),
                (None, None) => continue,
            };
            differs = true;
            tell(difference);
        }
        differs
    }

    fn message(&self, side: usize, at: usize) -> Option<&'d Kept> {
        self.sides.get(side)?.messages.get(at)
    }

    fn answers(&self, side: usize, message: &Kept) -> &[(u64, usize)] {
        let answers = self.answers.get(side).map_or(&[][..], Vec::as_slice);
        let from = answers.partition_point(|(to, _)| *to < message.index);
        let upto = answers.partition_point(|(to, _)| *to <= message.index);
        answers.get(from..upto).unwrap_or_default()
    }

    /// Where the ids of a message count: an answer goes by its request's.
    fn scope(&self, side: usize, message: &Kept) -> Scope {
        let of = |message: &Kept| Scope {
            conn: message.conn,
            direction: message.direction,
        };
        let asked = self.sides.get(side).zip(message.reply_to);
        let asked = asked.and_then(|(side, to)| side.find(to));
        let scope = of(asked.unwrap_or(message));
        let answers = matches!(
            message.role,
            Some(Role::Response | Role::Error | Role::Item | Role::End)
        );
        Scope {
            direction: match asked {
                None if answers => scope.direction.map(Direction::other),
                _ => scope.direction,
            },
            ..scope
        }
    }

    fn fields(&mut self, a: &Kept, b: &Kept) -> Vec<Field> {
        let scopes = [self.scope(0, a), self.scope(1, b)];
        let ids = &mut self.ids;
        (self.compare).fields_with(a, b, &mut |group, _, one, other| {
            let Some((one, other)) = Val::of(one).zip(Val::of(other)) else {
                return Err(None);
            };
            match group {
                Some(group) => ids.pair(group, (scopes[0], &one), (scopes[1], &other)),
                None if ids.are_paired(&one, &other) => Ok(()),
                None => Err(None),
            }
        })
    }
}

/// One message, for people.
pub(crate) fn which(kept: &Kept) -> Which {
    Which {
        index: kept.index,
        conn: kept.conn,
        direction: kept.direction,
        what: kept.what(),
    }
}
