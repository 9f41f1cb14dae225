//! Finds the rule whose recorded request a message repeats.
//!
//! ```text
//!   #4 invoke pow [0x2]  -> result [0x4]     repeated: the answer of #4, then that of #8 each time
//!   #8 invoke pow [0x2]  -> result [0x5]
//!   invoke pow {}        -> that of a recorded request without parameters
//!   invoke pow [0x3]     -> not recorded; the nearest is #4: params.calldata[0] is "0x3", recorded "0x2"
//! ```
//!
//! Values that every run generates are not compared, nor are secrets: the same request with another token matches. If no
//! recorded request is equal, remarks about a request and empty objects do not count: clients differ in them.

use crate::diff::{Compare, DiffValue, FieldDifference, Ignore, StoredMessage, Val, generalized};
use crate::encoding::{Parsed, Want};
use crate::framing::fields::masked;
use crate::framing::{Framing, Limits};
use crate::live::names::ignored_paths;
use crate::live::script::request::{RequestForm, RequestPattern};
use crate::live::script::{RuleCondition, RulePlace, ScriptRule, requests};
use crate::path::Path;
use crate::protocol::{Direction, HIDDEN, Protocol};
use crate::render::style::shorten;
use crate::tape::Node;
use crate::words::nearest;
use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;

/// The member with remarks about a request, which a server may ignore.
const REMARKS: &str = "**._meta";
/// The maximum number of recorded requests that a request without a match is compared with.
const MAX_COMPARED: usize = 256;
/// The maximum number of differences of the nearest request that are shown.
const SHOWN_FIELDS: usize = 4;
/// The maximum length in characters of each name and value in the text of a miss.
pub(super) const MAX_NAME_LENGTH: usize = 200;

/// The recorded request of a rule. Its message is in the rule, and is read again for a comparison: there can be many.
#[derive(Debug)]
struct RecordedRequest {
    /// The number of the rule.
    rule: u32,
    /// The number of its name.
    name: u32,
    /// The digest of its values.
    digest: u64,
    /// The digest of its values without those that may differ.
    loose_digest: u64,
    is_used: bool,
}

/// The name of recorded requests.
#[derive(Debug, PartialEq, Eq, Hash)]
struct RequestName {
    kind: Arc<str>,
    subject: Option<Arc<str>>,
    /// `invoke pow`.
    what: Arc<str>,
}

impl RequestName {
    fn of(stored: &StoredMessage) -> Self {
        Self {
            kind: Arc::clone(&stored.kind),
            subject: stored.subject.clone(),
            what: stored.what().into(),
        }
    }
}

/// A recorded request, read for a comparison.
struct ReadRequest {
    stored: StoredMessage,
    /// Positions in its tape of values that every run generates, sorted.
    generated: Vec<usize>,
    /// Positions in its tape of secrets, sorted.
    secret: Vec<usize>,
}

impl ReadRequest {
    fn new(protocol: &dyn Protocol, stored: StoredMessage, form: &RequestForm) -> Self {
        let mut parsed = Parsed::new(Want::Places, Limits::default().depth);
        let places = stored.read(protocol, &mut parsed, |message| {
            let root = message.value?.root(stored.view().bytes)?;
            let sorted = |paths: &[Path]| {
                let places = paths.iter().filter_map(|path| path.find(root));
                let mut places: Vec<usize> = places.map(Node::index).collect();
                places.sort_unstable();
                places
            };
            Some((sorted(&form.generated), sorted(&form.secret)))
        });
        let (generated, secret) = places.unwrap_or_default();
        Self {
            stored,
            generated,
            secret,
        }
    }

    /// Returns `true` if a received value need not equal the recorded one.
    fn may_differ(&self, recorded: Node<'_>, received: Node<'_>) -> bool {
        let at = recorded.index();
        let is_in = |places: &[usize]| places.binary_search(&at).is_ok();
        is_in(&self.secret) || is_in(&self.generated) && Val::of(received).is_some()
    }
}

/// Requests in the order of a digest.
type Digests = Box<[u32]>;

/// The uses of equal requests, in order.
#[derive(Debug, Default)]
struct GroupUse {
    next: usize,
    /// The session that used it last.
    session: u32,
}

impl GroupUse {
    /// Returns `true` if a session uses the group for the first time, and no request of it is left: the session begins
    /// again.
    fn begins_again(&mut self, session: u32, len: usize) -> bool {
        let is_new = std::mem::replace(&mut self.session, session) != session;
        let begins = is_new && self.next >= len;
        if begins {
            self.next = 0;
        }
        begins
    }
}

/// The recorded requests of a script, and their uses.
#[derive(Debug)]
pub(super) struct RequestMatcher {
    direction: Direction,
    framing: Framing,
    ignore: Ignore,
    limits: Limits,
    entries: Box<[RecordedRequest]>,
    names: Vec<RequestName>,
    /// Equal requests are neighbours.
    by_digest: Digests,
    uses: HashMap<u64, GroupUse>,
    /// `ignore`, and the values that may differ.
    loose: Ignore,
    /// Requests that are equal except for values that may differ are neighbours.
    by_loose_digest: Digests,
    loose_uses: HashMap<u64, GroupUse>,
    /// `ignore`, and remarks.
    essential: Ignore,
    /// The number of the session.
    session: u32,
}

/// Returns the patterns of the values that differ in each run: `KIND:PATH`.
fn changing_paths(
    rules: &[ScriptRule],
    stored: &dyn Fn(&RequestPattern) -> Option<StoredMessage>,
) -> HashSet<String> {
    let (mut forms, mut patterns) = (HashSet::new(), HashSet::new());
    for (.., pattern) in requests(rules) {
        // Requests of one form can be of several kinds.
        let paths = [&pattern.form.generated, &pattern.form.secret];
        if paths.iter().all(|paths| paths.is_empty()) {
            continue;
        }
        let Some(stored) = stored(pattern) else {
            continue;
        };
        if forms.insert((Arc::as_ptr(&pattern.form), Arc::clone(&stored.kind))) {
            for path in paths.into_iter().flatten() {
                let path = generalized(&path.to_string());
                patterns.insert(format!("{}:{path}", stored.kind));
            }
        }
    }
    patterns
}

impl RequestMatcher {
    /// Begins another session: it gets the recorded answers from the first one on, if the sessions before it have used
    /// all of them.
    pub(super) fn begin_session(&mut self) {
        self.session = self.session.wrapping_add(1);
    }

    /// Collects the recorded requests of rules, as if they had been received in this direction and framing.
    pub(super) fn new(
        protocol: &dyn Protocol,
        direction: Direction,
        framing: Framing,
        limits: Limits,
        rules: &[ScriptRule],
    ) -> Self {
        // A message that cannot be written was refused when the script was read.
        let stored = |pattern: &RequestPattern| {
            let stored = pattern.stored(protocol, framing, Some(direction));
            stored.ok()
        };
        let patterns = changing_paths(rules, &stored);
        let mut matcher = Self {
            direction,
            framing,
            loose: ignored_paths(protocol, false, patterns.iter().map(String::as_str)),
            ignore: ignored_paths(protocol, false, []),
            essential: ignored_paths(protocol, false, [REMARKS]),
            limits,
            entries: Box::default(),
            names: Vec::new(),
            by_digest: Box::default(),
            uses: HashMap::new(),
            by_loose_digest: Box::default(),
            loose_uses: HashMap::new(),
            session: 0,
        };
        let mut known = HashMap::new();
        // A list that grows has unused space.
        let mut entries = Vec::with_capacity(requests(rules).count());
        for (rule, _, pattern) in requests(rules) {
            let Some(stored) = stored(pattern) else {
                continue;
            };
            let next = known.len() as u32;
            entries.push(RecordedRequest {
                rule: rule as u32,
                name: *known.entry(RequestName::of(&stored)).or_insert(next),
                digest: matcher.digest(protocol, &stored, &matcher.ignore),
                loose_digest: matcher.digest(protocol, &stored, &matcher.loose),
                is_used: false,
            });
        }
        matcher.entries = entries.into();
        let mut names: Vec<(RequestName, u32)> = known.into_iter().collect();
        names.sort_unstable_by_key(|(_, number)| *number);
        matcher.names = names.into_iter().map(|(name, _)| name).collect();
        let sorted = |digest: fn(&RecordedRequest) -> u64| {
            let mut all: Digests = (0..matcher.entries.len() as u32).collect();
            all.sort_unstable_by_key(|at| {
                let entry = matcher.entries.get(*at as usize);
                (entry.map(digest), *at)
            });
            all
        };
        let (by_digest, by_loose_digest) = (
            sorted(|entry| entry.digest),
            sorted(|entry| entry.loose_digest),
        );
        Self {
            by_digest,
            by_loose_digest,
            ..matcher
        }
    }

    /// Returns `true` if no rule has a recorded request.
    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns the kind and the subject of a rule's request: `invoke pow`.
    pub(super) fn what(&self, rule: usize) -> Option<Arc<str>> {
        let at = (self.entries).binary_search_by_key(&rule, |entry| entry.rule as usize);
        Some(Arc::clone(&self.name(self.entries.get(at.ok()?)?)?.what))
    }

    /// Returns `true` if a recorded request has this subject.
    pub(super) fn knows(&self, subject: Option<&str>) -> bool {
        let mut names = self.names.iter();
        names.any(|name| name.subject.as_deref() == subject)
    }

    fn name(&self, entry: &RecordedRequest) -> Option<&RequestName> {
        self.names.get(entry.name as usize)
    }

    /// Reads a recorded request for a comparison.
    fn read(
        &self,
        protocol: &dyn Protocol,
        rules: &[ScriptRule],
        at: usize,
    ) -> Option<ReadRequest> {
        let rule = rules.get(self.entries.get(at)?.rule as usize)?;
        let RuleCondition::Request(pattern) = &rule.condition else {
            return None;
        };
        let stored = pattern.stored(protocol, self.framing, Some(self.direction));
        Some(ReadRequest::new(protocol, stored.ok()?, &pattern.form))
    }

    fn equal_requests(&self, digest: u64) -> &[u32] {
        let of = |entry: &RecordedRequest| entry.digest;
        group(&self.by_digest, &self.entries, digest, of)
    }

    fn compare<'c>(&'c self, protocol: &'c dyn Protocol) -> Compare<'c> {
        Compare::new(protocol, &self.ignore, self.limits.depth)
    }

    fn digest(&self, protocol: &dyn Protocol, stored: &StoredMessage, ignore: &Ignore) -> u64 {
        let mut hasher = DefaultHasher::new();
        stored.kind.hash(&mut hasher);
        stored.subject.hash(&mut hasher);
        let mut compare = Compare::new(protocol, ignore, self.limits.depth);
        compare.digest(stored, &mut hasher);
        hasher.finish()
    }

    /// Returns `true` if the recorded request with this digest equals a request. The values are compared too, because
    /// digests of 64 bits can collide; the requests of one group are not compared with each other.
    fn is_known(
        &self,
        protocol: &dyn Protocol,
        rules: &[ScriptRule],
        digest: u64,
        request: &StoredMessage,
    ) -> bool {
        let first = self.equal_requests(digest).first();
        let first = first.and_then(|at| self.read(protocol, rules, *at as usize));
        first.is_some_and(|recorded| {
            let mut compare = self.compare(protocol);
            let fields = compare.fields(&recorded.stored, request, &mut |_, _| false);
            fields.is_empty()
        })
    }

    /// Returns the rule that answers a request, or the reason why there is none. Equal requests use their rules in
    /// order, then the last one each time.
    pub(super) fn find(
        &mut self,
        protocol: &dyn Protocol,
        rules: &[ScriptRule],
        request: &StoredMessage,
    ) -> Result<usize, String> {
        let mut digest = self.digest(protocol, request, &self.ignore);
        // Secrets and generated values change the digest.
        if !self.is_known(protocol, rules, digest, request) {
            let loose = self.find_loose(protocol, rules, request);
            let loose = match loose {
                Some(loose) => loose,
                None => self.find_essential(protocol, rules, request)?,
            };
            let recorded = self.entries.get(loose).map(|entry| entry.digest);
            digest = recorded.unwrap_or_default();
        }
        let mut group = self.uses.remove(&digest).unwrap_or_default();
        let entries = self.equal_requests(digest);
        group.begins_again(self.session, entries.len());
        let next = group.next.min(entries.len().saturating_sub(1));
        group.next += 1;
        let at = *entries.get(next).ok_or("no such request was recorded")?;
        self.uses.insert(digest, group);
        let entry = self.entries.get_mut(at as usize);
        let rule = entry.map(|entry| {
            entry.is_used = true;
            entry.rule as usize
        });
        match rule.and_then(|rule| Some((rule, rules.get(rule)?))) {
            Some((number, rule)) if !rule.actions.is_empty() => Ok(number),
            rule => Err(format!(
                "{} was recorded, as {}, but never answered there",
                shorten(&request.what(), MAX_NAME_LENGTH),
                rule.map_or("#0".to_owned(), |(_, rule)| rule.place.to_string())
            )),
        }
    }

    /// Returns a recorded request that differs only in values that may differ: the first unused one, otherwise the last.
    fn find_loose(
        &mut self,
        protocol: &dyn Protocol,
        rules: &[ScriptRule],
        request: &StoredMessage,
    ) -> Option<usize> {
        let digest = self.digest(protocol, request, &self.loose);
        let of = |entry: &RecordedRequest| entry.loose_digest;
        let entries = group(&self.by_loose_digest, &self.entries, digest, of);
        if entries.is_empty() {
            return None;
        }
        let mut group = self.loose_uses.remove(&digest).unwrap_or_default();
        // Those before it are used.
        while let Some(at) = entries.get(group.next)
            && self.is_used(*at)
        {
            group.next += 1;
        }
        if group.begins_again(self.session, entries.len()) {
            for at in entries {
                if let Some(entry) = self.entries.get_mut(*at as usize) {
                    entry.is_used = false;
                }
            }
        }
        let first = group.next.min(entries.len().saturating_sub(1));
        let (used, new) = entries.split_at(first);
        let mut compare = self.compare(protocol);
        let mut is_equal = |at: u32| {
            let recorded = self.read(protocol, rules, at as usize)?;
            let fields = compare.fields(&recorded.stored, request, &mut |own, received| {
                recorded.may_differ(own, received)
            });
            fields.is_empty().then_some(at as usize)
        };
        let mut last = None;
        let mut found = None;
        for at in new {
            if self.is_used(*at) {
                // One of those that are used is enough.
                last = last.or_else(|| is_equal(*at));
            } else {
                found = is_equal(*at);
            }
            if found.is_some() {
                break;
            }
        }
        let mut used = used.iter().rev().take(MAX_COMPARED);
        let found = found.or(last).or_else(|| used.find_map(|at| is_equal(*at)));
        drop(compare);
        self.loose_uses.insert(digest, group);
        found
    }

    fn is_used(&self, at: u32) -> bool {
        let entry = self.entries.get(at as usize);
        entry.is_some_and(|entry| entry.is_used)
    }

    /// Returns a recorded request that differs only in remarks, and in members that are empty or absent: the first unused
    /// one, otherwise the last. The error describes how the request differs from the most similar recorded one. If no
    /// recorded request has its name, such as the name of a tool, its values are not compared.
    fn find_essential(
        &self,
        protocol: &dyn Protocol,
        rules: &[ScriptRule],
        request: &StoredMessage,
    ) -> Result<usize, String> {
        let what = request.what();
        let shown = shown_name(&what);
        let mut compare =
            Compare::new(protocol, &self.essential, self.limits.depth).without_empty();
        let mut closest: Option<(&RecordedRequest, Vec<FieldDifference>)> = None;
        let mut last = None;
        let candidates = self.entries.iter().enumerate();
        let is_named = |entry| (self.name(entry)).is_some_and(|name| *name.what == *what);
        let candidates = candidates.filter(|(_, entry)| is_named(entry));
        for (at, entry) in candidates.take(MAX_COMPARED) {
            let Some(recorded) = self.read(protocol, rules, at) else {
                continue;
            };
            let fields = compare.fields(&recorded.stored, request, &mut |own, received| {
                recorded.may_differ(own, received)
            });
            match fields.is_empty() {
                true if !entry.is_used => return Ok(at),
                true => last = Some(at),
                false => {}
            }
            if closest
                .as_ref()
                .is_none_or(|(_, before)| fields.len() < before.len())
            {
                closest = Some((entry, fields));
            }
        }
        if let Some(last) = last {
            return Ok(last);
        }
        if let Some((entry, fields)) = closest {
            let more = match fields.len().saturating_sub(SHOWN_FIELDS) {
                0 => String::new(),
                n => format!(", and {n} more"),
            };
            let place = rules.get(entry.rule as usize).map(|rule| &rule.place);
            let fields: Vec<String> = fields.iter().take(SHOWN_FIELDS).map(described).collect();
            return Err(format!(
                "{shown} was not recorded in this form; the nearest is {}: {}{more}",
                place.map_or(String::new(), RulePlace::to_string),
                fields.join("; ")
            ));
        }
        let hint = self.similar(&what, request);
        Err(format!("{shown} was not recorded; {hint}"))
    }

    /// Returns the recorded request that was probably meant, or what was recorded: of this kind and subject, if any.
    fn similar(&self, what: &str, request: &StoredMessage) -> String {
        let is_sibling =
            |name: &&RequestName| (&name.kind, &name.subject) == (&request.kind, &request.subject);
        let has_siblings = self.names.iter().any(|name| is_sibling(&name));
        let known = self.names.iter();
        let known = known.filter(|name| !has_siblings || is_sibling(name));
        // Only names are compared if the rest is equal.
        let start = if has_siblings {
            request.name().to_string()
        } else {
            String::new()
        };
        let end = |what: &str| what.strip_prefix(&*start).unwrap_or(what).to_owned();
        let mut known: Vec<(String, &str)> =
            known.map(|name| (end(&name.what), &*name.what)).collect();
        known.sort_unstable();
        known.dedup();
        let near = nearest(&end(what), known.iter().map(|(end, _)| end.as_str()));
        if let Some(near) = near {
            return format!("did it mean {}?", shown_name(&format!("{start}{near}")));
        }
        let more = if known.len() > 8 { ", …" } else { "" };
        known.truncate(8);
        let known: Vec<String> = known.iter().map(|(_, what)| shown_name(what)).collect();
        format!("recorded are {}{more}", known.join(", "))
    }
}

/// Returns the requests with a digest.
fn group<'d>(
    sorted: &'d [u32],
    entries: &[RecordedRequest],
    digest: u64,
    of: fn(&RecordedRequest) -> u64,
) -> &'d [u32] {
    let digest_at = |at: &u32| entries.get(*at as usize).map(of);
    let start = sorted.partition_point(|at| digest_at(at) < Some(digest));
    let rest = sorted.get(start..).unwrap_or_default();
    let len = rest.partition_point(|at| digest_at(at) == Some(digest));
    rest.get(..len).unwrap_or_default()
}

/// Returns a name for the text of a miss.
fn shown_name(name: &str) -> String {
    shorten(&masked(name), MAX_NAME_LENGTH).into_owned()
}

/// Describes a difference without secrets: the text is also sent and written to the report.
fn described(field: &FieldDifference) -> String {
    let text = |value: &Option<DiffValue>| match value {
        None => "absent".to_owned(),
        Some(value) if value.secret => HIDDEN.to_owned(),
        Some(value) => container(&value.text)
            .unwrap_or_else(|| shorten(&value.text, MAX_NAME_LENGTH).into_owned()),
    };
    let path = match field.path.as_str() {
        "" => "it".into(),
        path => shorten(path, MAX_NAME_LENGTH),
    };
    format!(
        "{path} is {}, recorded {}",
        text(&field.right),
        text(&field.left)
    )
}

/// Describes an object or an array, of which a difference has only the number of members: `{2}`.
fn container(text: &str) -> Option<String> {
    let inside = |start, end| text.strip_prefix(start)?.strip_suffix(end)?.parse().ok();
    let count = |n: u64, one: &str| format!("{n} {one}{}", if n == 1 { "" } else { "s" });
    let object = inside('{', '}').map(|n| format!("an object with {}", count(n, "member")));
    object.or_else(|| inside('[', ']').map(|n| format!("an array with {}", count(n, "element"))))
}
