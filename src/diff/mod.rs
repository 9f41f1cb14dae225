//! Two conversations compared message by message: by what was asked and what that was answered, not by position.
//!
//! ```text
//!   A:  call add #0   call sub #1   ↩ #1   ↩ #0          B:  call sub #0   ↩ #0   call add #1   ↩ #1
//!
//!   lanes      c2s call add: A [0], B [1]        c2s call sub: A [1], B [0]
//!   pairs      by likeness within a lane; answers with the request that they answer
//! ```
//!
//! Values are compared by what they mean (widths and key order do not count), but for what is to be ignored: ids, which
//! every run makes anew, and whatever [`Ignore`] says. Messages that belong to no call, such as pings, are left out.

mod compare;
mod ignore;
mod kept;
#[cfg(test)]
mod tests;
mod values;

use crate::conversation::Verdict;
use crate::decoder::Decoded;
use crate::protocol::{Direction, Protocol, Role};
pub use compare::{Compare, Field, Value};
pub use ignore::{Ignore, Pattern, general};
pub use kept::Kept;
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::hash::{DefaultHasher, Hasher as _};

/// Longer lanes are not searched for the best likeness: the n-th message is compared with the n-th.
const SEARCHED: usize = 1 << 13;

/// One of the two conversations.
#[derive(Default)]
pub struct Side {
    messages: Vec<Kept>,
    weight: usize,
}

impl Side {
    /// Takes a message up, unless it belongs to the transport or only shows that a side lives.
    pub fn see(&mut self, decoded: &Decoded<'_>, verdict: Verdict<'_>) {
        if !matches!(decoded.message.role, Some(Role::Control | Role::Heartbeat)) {
            let kept = Kept::of(decoded, verdict.answer);
            self.weight += kept.weight();
            self.messages.push(kept);
        }
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
    left: &'d Side,
    right: &'d Side,
    /// Messages by what they answer.
    answers: [HashMap<u64, Vec<usize>>; 2],
}

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
            let known: HashSet<u64> = side.messages.iter().map(|m| m.index).collect();
            let mut answers: HashMap<u64, Vec<usize>> = HashMap::new();
            for (at, message) in side.messages.iter().enumerate() {
                if let Some(to) = message.reply_to.filter(|to| known.contains(to)) {
                    answers.entry(to).or_default().push(at);
                }
            }
            answers
        });
        Self {
            compare: Compare::new(protocol, ignore, depth),
            left,
            right,
            answers,
        }
    }

    /// Tells every difference, in the order of A's requests; each followed by those of its answers.
    pub fn run(&mut self, tell: &mut dyn FnMut(Difference)) {
        // Whoever answers something is compared with it; all others stand in lanes.
        // Directions count only where both sides have them: on two legs of a relay, the same call goes the other way.
        let mut lanes: BTreeMap<String, [Vec<usize>; 2]> = BTreeMap::new();
        for (which, side) in [self.left, self.right].into_iter().enumerate() {
            for (at, message) in side.messages.iter().enumerate() {
                let is_answer = message
                    .reply_to
                    .is_some_and(|to| self.answers[which].contains_key(&to));
                if !is_answer {
                    let lane = lanes.entry(message.what()).or_default();
                    lane[which].push(at);
                }
            }
        }
        let mut pairs = Vec::new();
        for [left, right] in lanes.into_values() {
            let ways = [(self.left, &left), (self.right, &right)].map(|(side, lane)| {
                let messages = lane.iter().filter_map(|at| side.messages.get(*at));
                messages.map(|m| m.direction).collect::<HashSet<_>>()
            });
            let [here, there] = ways;
            // What goes both ways on both sides passed a relay there and here: each way is a lane of its own.
            if here != there {
                self.align(&left, &right, &mut pairs);
                continue;
            }
            for way in here {
                let of = |side: &Side, lane: &[usize]| -> Vec<usize> {
                    let goes = |at: &&usize| {
                        let message = side.messages.get(**at);
                        message.is_some_and(|m| m.direction == way)
                    };
                    lane.iter().filter(goes).copied().collect()
                };
                let (left, right) = (of(self.left, &left), of(self.right, &right));
                self.align(&left, &right, &mut pairs);
            }
        }
        pairs.sort_by_key(|(left, right)| match (left, right) {
            (Some(left), _) => (*left, 0),
            (None, right) => (right.unwrap_or_default(), 1),
        });
        for (left, right) in pairs {
            self.pair(left, right, tell);
        }
    }

    /// Pairs the messages of one lane by likeness: in order as far as that goes, then wherever they stand, since what is
    /// asked at the same time passes in any order.
    fn align(
        &mut self,
        left: &[usize],
        right: &[usize],
        pairs: &mut Vec<(Option<usize>, Option<usize>)>,
    ) {
        use similar::{Algorithm, DiffOp, capture_diff_slices};
        if left.len().max(right.len()) > SEARCHED {
            let all = 0..left.len().max(right.len());
            pairs.extend(all.map(|n| (left.get(n).copied(), right.get(n).copied())));
            return;
        }
        let (left_side, right_side) = (self.left, self.right);
        let mut digests = |side: &Side, lane: &[usize]| -> Vec<u64> {
            let messages = lane.iter().filter_map(|at| side.messages.get(*at));
            messages.map(|m| self.digest(m)).collect()
        };
        let a = digests(left_side, left);
        let b = digests(right_side, right);
        let ops = capture_diff_slices(Algorithm::Myers, &a, &b);
        let moved = |op: &&DiffOp| !matches!(op, DiffOp::Equal { .. });
        let mut elsewhere: HashMap<u64, VecDeque<usize>> = HashMap::new();
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
        for op in ops {
            let old = op.old_range().filter(|at| !used.contains(at));
            let new = op.new_range().filter(|at| !found.contains(at));
            let old: Vec<usize> = old.filter_map(|at| left.get(at).copied()).collect();
            let new: Vec<usize> = new.filter_map(|at| right.get(at).copied()).collect();
            let count = old.len().max(new.len());
            pairs.extend((0..count).map(|n| (old.get(n).copied(), new.get(n).copied())));
        }
    }

    fn digest(&mut self, message: &Kept) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.compare.digest(message, &mut hasher);
        hasher.finish()
    }

    /// Compares two messages that belong together, then their answers, one by one.
    fn pair(
        &mut self,
        left: Option<usize>,
        right: Option<usize>,
        tell: &mut dyn FnMut(Difference),
    ) {
        let mut waiting = vec![(left, right)];
        while let Some((left, right)) = waiting.pop() {
            let a = left.and_then(|at| self.left.messages.get(at));
            let b = right.and_then(|at| self.right.messages.get(at));
            match (a, b) {
                (Some(a), Some(b)) => {
                    let fields = self.fields(a, b);
                    if !fields.is_empty() {
                        tell(Difference::Fields(which(a), which(b), fields));
                    }
                    let (lefts, rights) = (self.answers(0, a), self.answers(1, b));
                    let most = lefts.len().max(rights.len());
                    let answers =
                        (0..most).map(|n| (lefts.get(n).copied(), rights.get(n).copied()));
                    waiting.extend(answers.rev());
                }
                (Some(a), None) => tell(Difference::OnlyLeft(which(a), self.answers(0, a).len())),
                (None, Some(b)) => tell(Difference::OnlyRight(which(b), self.answers(1, b).len())),
                (None, None) => {}
            }
        }
    }

    /// Whether an answer goes by another id than the request that it is taken to answer.
    fn is_misnamed(&self, side: usize, message: &Kept) -> bool {
        let messages = [&self.left.messages, &self.right.messages];
        let (Some(to), Some(messages)) = (message.reply_to, messages.get(side)) else {
            return false;
        };
        let at = messages.binary_search_by_key(&to, |m| m.index);
        let asked = at.ok().and_then(|at| messages.get(at));
        asked.is_some_and(|asked| asked.id != message.id)
    }

    fn answers(&self, side: usize, message: &Kept) -> &[usize] {
        let found = self.answers.get(side).and_then(|m| m.get(&message.index));
        found.map_or(&[], Vec::as_slice)
    }

    fn fields(&mut self, a: &Kept, b: &Kept) -> Vec<Field> {
        let misnamed = [self.is_misnamed(0, a), self.is_misnamed(1, b)];
        self.compare.fields(a, b, misnamed, &mut |_, _| false)
    }
}

/// One message, for people.
pub fn which(kept: &Kept) -> Which {
    Which {
        index: kept.index,
        conn: kept.conn,
        direction: kept.direction,
        what: kept.what(),
    }
}
