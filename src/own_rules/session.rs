//! Judges messages by own rules, after the session of their protocol.
//!
//! ```text
//!   Seen --> session of the protocol --> each rule: when? --> its form, for the messages with the same Key --> Report
//! ```

use super::template::shown;
use super::{Form, OwnRule, Scope};
use crate::decoder::Decoded;
use crate::path::Path;
use crate::protocol::session::{
    Answer, ConnectionChange, Place, Report, Seen, Session, Severity, broken, forward_to_inner,
};
use crate::protocol::{Direction, Origin, Protocol, Role};
use crate::select::{Decimal, Expr, with_number};
use sha2::{Digest as _, Sha256};
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

/// The maximum number of values that a rule stores: keys, waiting messages and times.
const MAX_STORED: usize = 1 << 16;
/// The maximum number of connections whose sessions are counted, and of those with lost bytes.
const MAX_CONNECTIONS: usize = 1 << 16;
/// Longer texts are stored as their hash.
const MAX_TEXT: usize = 64;

/// Returns a session that judges own rules, too; the session itself if there are none.
pub(crate) fn wrap_with_rules<'d>(
    inner: Box<dyn Session + 'd>,
    protocol: &'d dyn Protocol,
    rules: impl IntoIterator<Item = &'d OwnRule>,
) -> Box<dyn Session + 'd> {
    let rules = rules.into_iter().map(|rule| (rule, State::default()));
    let rules: Vec<_> = rules.collect();
    if rules.is_empty() {
        return inner;
    }
    Box::new(Judged {
        inner,
        protocol,
        rules,
        connections: Connections::default(),
        scratch: Vec::new(),
    })
}

struct Judged<'d> {
    inner: Box<dyn Session + 'd>,
    protocol: &'d dyn Protocol,
    rules: Vec<(&'d OwnRule, State)>,
    connections: Connections,
    scratch: Vec<u8>,
}

#[derive(Default)]
struct Connections {
    /// The number of sessions that began.
    sessions: HashMap<Option<u32>, u64>,
    /// Bytes are missing: earlier and later messages may be among them.
    lost: HashSet<Option<u32>>,
}

/// What a rule compares a message with.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Key {
    conn: Option<u32>,
    /// The session or the request.
    part: u64,
    same: Option<Box<str>>,
    direction: Option<Direction>,
}

/// What a rule has seen.
#[derive(Default)]
struct State {
    /// The first message that matched, or the one before.
    first: HashMap<Key, u64>,
    numbers: HashMap<Key, (Box<str>, u64)>,
    counts: HashMap<Key, Count>,
    /// The messages that wait for a later one, by their index.
    waiting: BTreeMap<u64, WaitingMessage>,
    waiting_of: HashMap<Key, VecDeque<u64>>,
    stored: usize,
    is_full: bool,
}

#[derive(Default)]
struct Count {
    number: usize,
    /// The times of the last ones, and their indexes.
    times: VecDeque<(i64, u64)>,
    is_over: bool,
}

struct WaitingMessage {
    key: Key,
    place: Place,
    deadline: Option<i64>,
    text: String,
}

/// A message with what the session of its protocol knows about it.
struct Case<'c, 'a> {
    decoded: Decoded<'a>,
    place: Place,
    answer: Option<&'c Answer>,
}

impl Case<'_, '_> {
    /// Returns the text of a finding: that of the rule, or the usual one.
    fn text(&self, rule: &OwnRule, usual: impl FnOnce() -> String) -> String {
        if let Some(text) = &rule.text {
            return text.fill(&self.decoded, self.answer);
        }
        let same = rule.same.as_ref();
        let same =
            same.map(|key| format!(" ({key} is {})", shown(key, &self.decoded, self.answer)));
        usual() + &same.unwrap_or_default()
    }
}

impl Session for Judged<'_> {
    fn message(&mut self, seen: &Seen<'_>, report: &mut Report) {
        self.inner.message(seen, report);
        if seen.message.role == Some(Role::Control) || !seen.message.valid {
            return;
        }
        if self.protocol.is_hello(seen.message)
            && (self.connections.sessions.len() < MAX_CONNECTIONS)
        {
            let sessions = &mut self.connections.sessions;
            *sessions.entry(seen.origin.conn).or_default() += 1;
        }
        let answer = report.answer.take();
        let case = Case {
            decoded: Decoded {
                index: seen.index,
                origin: seen.origin,
                protocol: self.protocol,
                frame: seen.frame,
                message: seen.message,
                next: 0,
                remarks: &[],
                injected: None,
                raw: None,
            },
            place: seen.whole(),
            answer: answer.as_ref(),
        };
        for (rule, state) in &mut self.rules {
            state.expire(rule, seen.origin.time, report);
            state.message(rule, &case, &self.connections, &mut self.scratch, report);
        }
        if let Some(last) = answer.as_ref().filter(|answer| answer.last) {
            let of_requests = self.rules.iter_mut();
            for (rule, state) in of_requests.filter(|(rule, _)| rule.scope == Scope::Request) {
                state.end_request(rule, seen.origin.conn, last.to, report);
            }
        }
        report.answer = answer;
    }

    fn event(&mut self, origin: Origin, what: ConnectionChange, report: &mut Report) {
        self.inner.event(origin, what, report);
        let is_lost = what == ConnectionChange::Lost;
        if is_lost && self.connections.lost.len() < MAX_CONNECTIONS {
            self.connections.lost.insert(origin.conn);
        }
        let is_end = matches!(
            what,
            ConnectionChange::Closed | ConnectionChange::Reset | ConnectionChange::Exited
        );
        for (rule, state) in &mut self.rules {
            state.expire(rule, origin.time, report);
            if is_lost {
                state.forget_waiting(origin.conn);
            } else if is_end && rule.scope != Scope::Capture {
                state.end(rule, &|key| key.conn == origin.conn, report);
            }
        }
        if is_end {
            self.connections.sessions.remove(&origin.conn);
            self.connections.lost.remove(&origin.conn);
        }
    }

    fn finish(&mut self, report: &mut Report) {
        self.inner.finish(report);
        for (rule, state) in &mut self.rules {
            // The time for the others is not over.
            state.waiting.retain(|_, one| one.deadline.is_none());
            state.end(rule, &|_| true, report);
        }
    }

    forward_to_inner!();
}

impl Connections {
    /// Returns `true` if a message before another in a group may be lost.
    fn may_lack(&self, scope: Scope, key: &Key) -> bool {
        match scope {
            Scope::Capture => !self.lost.is_empty(),
            _ => self.lost.contains(&key.conn),
        }
    }
}

impl OwnRule {
    /// Returns what a message is compared with; `None` if it is in no such group.
    fn key(&self, case: &Case<'_, '_>, connections: &Connections) -> Option<Key> {
        let decoded = &case.decoded;
        let conn = decoded.origin.conn;
        let (conn, part) = match self.scope {
            Scope::Capture => (None, 0),
            Scope::Connection => (conn, 0),
            Scope::Session => (
                conn,
                connections.sessions.get(&conn).copied().unwrap_or_default(),
            ),
            Scope::Request if decoded.message.role == Some(Role::Request) => (conn, decoded.index),
            Scope::Request => (conn, case.answer?.to),
        };
        let same = match &self.same {
            None => None,
            Some(same) => Some(short(&same.text(decoded, case.answer)?)),
        };
        let direction = matches!(self.form, Form::Increases(_)).then_some(decoded.origin.direction);
        Some(Key {
            conn,
            part,
            same,
            direction: direction.flatten(),
        })
    }
}

/// Returns a span of time: `2 s`, `500 ms`.
fn span_text(nanoseconds: i64) -> String {
    match nanoseconds {
        whole if whole % 1_000_000_000 == 0 => format!("{} s", whole / 1_000_000_000),
        whole if whole % 1_000_000 == 0 => format!("{} ms", whole / 1_000_000),
        whole if whole % 1_000 == 0 => format!("{} µs", whole / 1_000),
        other => format!("{other} ns"),
    }
}

/// Returns a text in a form of limited length that only equal texts have.
fn short(text: &str) -> Box<str> {
    if text.len() <= MAX_TEXT {
        return text.into();
    }
    format!("sha256 {}", hex::encode(Sha256::digest(text))).into()
}

impl State {
    /// Returns true if one more value can be stored. The first that cannot is reported.
    fn has_room(&mut self, rule: &OwnRule, place: Place, report: &mut Report) -> bool {
        if self.stored < MAX_STORED {
            self.stored += 1;
            return true;
        }
        if !std::mem::replace(&mut self.is_full, true) {
            broken!(report, rule.rule.id, place;
                "the rule stores {MAX_STORED} values: it does not check further ones");
            report.at_most(Severity::Info);
        }
        false
    }

    fn message(
        &mut self,
        rule: &OwnRule,
        case: &Case<'_, '_>,
        connections: &Connections,
        scratch: &mut Vec<u8>,
        report: &mut Report,
    ) {
        let mut holds =
            |condition: &Expr| condition.holds_with(&case.decoded, case.answer, scratch);
        let is_about = rule.when.as_ref().is_none_or(&mut holds);
        if !is_about && !rule.form.is_pair() {
            return;
        }
        let mut tell = |report: &mut Report, related: Option<u64>, usual: &dyn Fn() -> String| {
            report.add(rule.rule.id, case.place, related, &|| {
                case.text(rule, usual)
            });
        };
        if let Form::Must(condition) | Form::Never(condition) = &rule.form {
            let is_wanted = matches!(rule.form, Form::Must(_));
            let verb = if is_wanted {
                "does not match"
            } else {
                "matches"
            };
            if holds(condition) != is_wanted {
                tell(report, None, &|| format!("the message {verb} {condition}"));
            }
            return;
        }
        let matches = rule.form.condition().is_some_and(&mut holds);
        if !is_about && !matches {
            return;
        }
        let Some(key) = rule.key(case, connections) else {
            return;
        };
        match &rule.form {
            Form::Once(once) if matches => self.once(rule, once, key, case, &mut tell, report),
            Form::Once(_) | Form::Must(_) | Form::Never(_) => {}
            Form::After(after) => {
                let is_known = self.first.contains_key(&key);
                if is_about && !is_known && !connections.may_lack(rule.scope, &key) {
                    tell(report, None, &|| {
                        format!("no earlier message matches {after}")
                    });
                }
                if matches && !is_known {
                    self.store_first(rule, key, case, report);
                }
            }
            Form::NotAfter(before) => {
                let first = self.first.get(&key).copied();
                if let Some(first) = first.filter(|_| is_about) {
                    tell(report, Some(first), &|| {
                        format!("#{first} before it matches {before}")
                    });
                }
                if matches && first.is_none() {
                    self.store_first(rule, key, case, report);
                }
            }
            Form::Then(then, within) => {
                if matches {
                    self.satisfy(&key);
                }
                if is_about {
                    self.wait(rule, key, case, (then, *within), report);
                }
            }
            Form::Increases(path) => self.increases(rule, path, key, case, &mut tell, report),
            Form::AtMost(most, per) => {
                self.count(rule, (*most, *per), key, case, &mut tell, report);
            }
        }
    }

    fn store_first(&mut self, rule: &OwnRule, key: Key, case: &Case<'_, '_>, report: &mut Report) {
        if self.has_room(rule, case.place, report) {
            self.first.insert(key, case.place.index);
        }
    }

    /// Ends the wait of the messages with this key.
    fn satisfy(&mut self, key: &Key) {
        for index in self.waiting_of.remove(key).unwrap_or_default() {
            self.waiting.remove(&index);
            self.stored = self.stored.saturating_sub(1);
        }
    }

    /// Stores a message that waits for another.
    fn wait(
        &mut self,
        rule: &OwnRule,
        key: Key,
        case: &Case<'_, '_>,
        (then, within): (&Expr, Option<i64>),
        report: &mut Report,
    ) {
        let time = case.place.origin.time;
        let deadline = within
            .zip(time)
            .map(|(within, time)| time.saturating_add(within));
        // Without a time, there is no verdict.
        if within.is_some() && deadline.is_none() || !self.has_room(rule, case.place, report) {
            return;
        }
        let mut text = case.text(rule, || match within {
            Some(within) => {
                format!("no message within {} matches {then}", span_text(within))
            }
            None => format!("no later message matches {then}"),
        });
        // The finding comes with another message, whose secrets are not in it.
        case.decoded.hide_secrets(&mut std::iter::once(&mut text));
        let of = self.waiting_of.entry(key.clone()).or_default();
        of.push_back(case.place.index);
        let one = WaitingMessage {
            key,
            place: case.place,
            deadline,
            text,
        };
        self.waiting.insert(case.place.index, one);
    }

    /// Reports the messages whose time is over.
    fn expire(&mut self, rule: &OwnRule, now: Option<i64>, report: &mut Report) {
        let Some(now) = now.filter(|_| !self.waiting.is_empty()) else {
            return;
        };
        while let Some(first) = self.waiting.first_entry()
            && first.get().deadline.is_some_and(|deadline| deadline < now)
        {
            let (index, one) = first.remove_entry();
            if let Some(of) = self.waiting_of.get_mut(&one.key) {
                of.retain(|waiting| *waiting != index);
            }
            self.stored = self.stored.saturating_sub(1);
            broken!(report, rule.rule.id, one.place; "{}", one.text);
        }
    }

    /// Ends the groups with these keys: messages that wait there wait in vain.
    fn end(&mut self, rule: &OwnRule, is_ended: &dyn Fn(&Key) -> bool, report: &mut Report) {
        for one in self.waiting.values().filter(|one| is_ended(&one.key)) {
            broken!(report, rule.rule.id, one.place; "{}", one.text);
        }
        self.first.retain(|key, _| !is_ended(key));
        self.numbers.retain(|key, _| !is_ended(key));
        self.counts.retain(|key, _| !is_ended(key));
        self.remove_waiting(is_ended);
    }

    /// Ends the group of a request. Those of several values end with their connection.
    fn end_request(&mut self, rule: &OwnRule, conn: Option<u32>, part: u64, report: &mut Report) {
        for direction in [None, Some(Direction::ToServer), Some(Direction::ToClient)] {
            let key = Key {
                conn,
                part,
                same: None,
                direction,
            };
            for index in self.waiting_of.remove(&key).unwrap_or_default() {
                self.stored = self.stored.saturating_sub(1);
                if let Some(one) = self.waiting.remove(&index) {
                    broken!(report, rule.rule.id, one.place; "{}", one.text);
                }
            }
            let count = self.counts.remove(&key);
            let stored = usize::from(self.first.remove(&key).is_some())
                + usize::from(self.numbers.remove(&key).is_some())
                + count.map_or(0, |count| count.times.len().max(1));
            self.stored = self.stored.saturating_sub(stored);
        }
    }

    /// Forgets what waits on a connection whose bytes are missing.
    fn forget_waiting(&mut self, conn: Option<u32>) {
        self.remove_waiting(&|key| key.conn == conn || key.conn.is_none());
    }

    fn remove_waiting(&mut self, is_ended: &dyn Fn(&Key) -> bool) {
        self.waiting.retain(|_, one| !is_ended(&one.key));
        self.waiting_of.retain(|key, _| !is_ended(key));
        let times = self.counts.values().map(|count| count.times.len().max(1));
        self.stored =
            self.first.len() + self.numbers.len() + times.sum::<usize>() + self.waiting.len();
    }

    fn once(
        &mut self,
        rule: &OwnRule,
        once: &Expr,
        key: Key,
        case: &Case<'_, '_>,
        tell: &mut Tell<'_>,
        report: &mut Report,
    ) {
        match self.first.get(&key) {
            Some(first) => tell(report, Some(*first), &|| {
                format!("a message before, #{first}, matches {once}, too")
            }),
            None => self.store_first(rule, key, case, report),
        }
    }

    fn increases(
        &mut self,
        rule: &OwnRule,
        path: &Path,
        key: Key,
        case: &Case<'_, '_>,
        tell: &mut Tell<'_>,
        report: &mut Report,
    ) {
        let node = case.decoded.root().and_then(|root| path.find(root));
        let number = node.and_then(|node| with_number(node, str::to_owned));
        let Some(number) = number.filter(|number| number.len() <= MAX_TEXT) else {
            return;
        };
        if let Some((last, index)) = self.numbers.get(&key) {
            let order = Decimal::parse(last).zip(Decimal::parse(&number));
            if order.is_some_and(|(last, number)| number.compare(last).is_le()) {
                tell(report, Some(*index), &|| {
                    format!(".{path} is {number}, and was {last} in #{index}")
                });
            }
        } else if !self.has_room(rule, case.place, report) {
            return;
        }
        self.numbers.insert(key, (number.into(), case.place.index));
    }

    fn count(
        &mut self,
        rule: &OwnRule,
        (most, per): (usize, Option<i64>),
        key: Key,
        case: &Case<'_, '_>,
        tell: &mut Tell<'_>,
        report: &mut Report,
    ) {
        let time = case.place.origin.time;
        let span = per.zip(time);
        // Without a time, there is no verdict.
        if per.is_some() && span.is_none() {
            return;
        }
        let needs_room = span.is_some() || !self.counts.contains_key(&key);
        if needs_room && !self.has_room(rule, case.place, report) {
            return;
        }
        let count = self.counts.entry(key).or_default();
        count.number += 1;
        if let Some((per, time)) = span {
            count.times.push_back((time, case.place.index));
            let earliest = time.saturating_sub(per);
            while count.times.len() > most + 1
                || count
                    .times
                    .front()
                    .is_some_and(|(first, _)| *first <= earliest)
            {
                count.times.pop_front();
                self.stored = self.stored.saturating_sub(1);
            }
            count.number = count.times.len();
        }
        let is_over = count.number > most;
        let first = count.times.front().map(|(_, index)| *index);
        if is_over && !count.is_over {
            tell(report, first, &|| match per {
                Some(per) => format!("more than {most} messages in {}", span_text(per)),
                None => format!("more than {most} messages"),
            });
        }
        count.is_over = is_over;
    }
}

/// Reports that the message breaks the rule: the message before that is involved, and the usual text.
type Tell<'t> = dyn FnMut(&mut Report, Option<u64>, &dyn Fn() -> String) + 't;
