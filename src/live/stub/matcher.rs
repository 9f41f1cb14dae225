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
use crate::live::script::request::RequestPattern;
use crate::live::script::{ScriptRule, requests};
use crate::path::Path;
use crate::protocol::{Direction, HIDDEN, Protocol};
use crate::render::style::shorten;
use crate::tape::Node;
use crate::words::nearest;
use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

/// The member with remarks about a request, which a server may ignore.
const REMARKS: &str = "**._meta";
/// The maximum number of recorded requests that a request without a match is compared with.
const MAX_COMPARED: usize = 256;
/// The maximum number of differences of the nearest request that are shown.
const SHOWN_FIELDS: usize = 4;
/// The maximum length in characters of each name and value in the text of a miss.
pub(super) const MAX_NAME_LENGTH: usize = 200;

/// The recorded request of a rule.
#[derive(Debug)]
struct RecordedRequest {
    /// The number of the rule.
    rule: usize,
    /// The name of the rule in reports: `#4`.
    place: String,
    /// `invoke pow`.
    what: String,
    stored: StoredMessage,
    /// Positions in its tape of values that every run generates, sorted.
    generated: Box<[usize]>,
    /// Positions in its tape of secrets, sorted.
    secret: Box<[usize]>,
    has_answer: bool,
    is_used: bool,
}

impl RecordedRequest {
    fn new(
        protocol: &dyn Protocol,
        stored: StoredMessage,
        rule: (usize, &ScriptRule),
        pattern: &RequestPattern,
    ) -> Self {
        let mut request = Self {
            rule: rule.0,
            place: rule.1.place.clone(),
            what: stored.what(),
            generated: Box::default(),
            secret: Box::default(),
            has_answer: !rule.1.actions.is_empty(),
            is_used: false,
            stored,
        };
        let mut parsed = Parsed::new(Want::Places, Limits::default().depth);
        let stored = &request.stored;
        let (generated, secret) = (&mut request.generated, &mut request.secret);
        stored.read(protocol, &mut parsed, |message| {
            let bytes = stored.view().bytes;
            let Some(root) = message.value.and_then(|parsed| parsed.root(bytes)) else {
                return;
            };
            let find = |path: &Path| path.find(root).map(Node::index);
            let sorted = |paths: &[Path]| {
                let mut places: Vec<usize> = paths.iter().filter_map(find).collect();
                places.sort_unstable();
                places.into_boxed_slice()
            };
            (*generated, *secret) = (sorted(&pattern.generated), sorted(&pattern.secret));
        });
        request
    }

    /// Returns `true` if a received value need not equal the recorded one.
    fn may_differ(&self, recorded: Node<'_>, received: Node<'_>) -> bool {
        let at = recorded.index();
        let is_in = |places: &[usize]| places.binary_search(&at).is_ok();
        is_in(&self.secret) || is_in(&self.generated) && Val::of(received).is_some()
    }
}

/// Equal requests, in order.
#[derive(Debug, Default)]
struct RequestGroup {
    entries: Vec<usize>,
    next: usize,
    /// The session that used it last.
    session: u32,
}

impl RequestGroup {
    /// Returns `true` if a session uses it for the first time, and no request of it is left: the session begins again.
    fn begins_again(&mut self, session: u32) -> bool {
        let is_new = std::mem::replace(&mut self.session, session) != session;
        let begins = is_new && self.next >= self.entries.len();
        if begins {
            self.next = 0;
        }
        begins
    }
}

/// The recorded requests of a script, and their uses.
#[derive(Debug)]
pub(super) struct RequestMatcher {
    ignore: Ignore,
    limits: Limits,
    entries: Vec<RecordedRequest>,
    groups: HashMap<u64, RequestGroup>,
    /// `ignore`, and the values that may differ.
    loose: Ignore,
    /// Requests that are equal except for values that may differ.
    loose_groups: HashMap<u64, RequestGroup>,
    /// `ignore`, and remarks.
    essential: Ignore,
    /// The number of the session.
    session: u32,
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
        // A list that grows has unused space.
        let mut entries = Vec::with_capacity(requests(rules).count());
        let mut patterns = HashSet::new();
        for (at, rule, pattern) in requests(rules) {
            // A message that cannot be written was refused when the script was read.
            let Ok(stored) = pattern.stored(protocol, framing, Some(direction)) else {
                continue;
            };
            for path in pattern.generated.iter().chain(&pattern.secret) {
                let path = generalized(&path.to_string());
                patterns.insert(format!("{}:{path}", stored.kind));
            }
            entries.push(RecordedRequest::new(protocol, stored, (at, rule), pattern));
        }
        let mut matcher = Self {
            loose: ignored_paths(protocol, false, patterns.iter().map(String::as_str)),
            ignore: ignored_paths(protocol, false, []),
            essential: ignored_paths(protocol, false, [REMARKS]),
            limits,
            entries,
            groups: HashMap::new(),
            loose_groups: HashMap::new(),
            session: 0,
        };
        for (at, entry) in matcher.entries.iter().enumerate() {
            let [group, loose] = [&matcher.ignore, &matcher.loose]
                .map(|ignore| matcher.digest(protocol, &entry.stored, ignore));
            matcher.groups.entry(group).or_default().entries.push(at);
            let loose = matcher.loose_groups.entry(loose).or_default();
            loose.entries.push(at);
        }
        matcher
    }

    /// Returns `true` if no rule has a recorded request.
    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns the kind and the subject of a rule's request: `invoke pow`.
    pub(super) fn what(&self, rule: usize) -> Option<&str> {
        let at = self.entries.binary_search_by_key(&rule, |entry| entry.rule);
        self.entries.get(at.ok()?).map(|entry| entry.what.as_str())
    }

    /// Returns `true` if a recorded request has this subject.
    pub(super) fn knows(&self, subject: Option<&str>) -> bool {
        let mut recorded = self.entries.iter();
        recorded.any(|entry| entry.stored.subject.as_deref() == subject)
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
    fn is_known(&self, protocol: &dyn Protocol, digest: u64, request: &StoredMessage) -> bool {
        let group = self.groups.get(&digest);
        let first = group.and_then(|group| self.entries.get(*group.entries.first()?));
        first.is_some_and(|entry| {
            let mut compare = self.compare(protocol);
            let fields = compare.fields(&entry.stored, request, &mut |_, _| false);
            fields.is_empty()
        })
    }

    /// Returns the rule that answers a request, or the reason why there is none. Equal requests use their rules in
    /// order, then the last one each time.
    pub(super) fn find(
        &mut self,
        protocol: &dyn Protocol,
        request: &StoredMessage,
    ) -> Result<usize, String> {
        let mut digest = self.digest(protocol, request, &self.ignore);
        // Secrets and generated values change the digest.
        if !self.is_known(protocol, digest, request) {
            let loose = self.find_loose(protocol, request);
            let loose = match loose {
                Some(loose) => loose,
                None => self.find_essential(protocol, request)?,
            };
            let recorded = self
                .entries
                .get(loose)
                .map(|entry| self.digest(protocol, &entry.stored, &self.ignore));
            digest = recorded.unwrap_or_default();
        }
        let group = self.groups.get_mut(&digest);
        let group = group.ok_or("no such request was recorded")?;
        group.begins_again(self.session);
        let next = group.next.min(group.entries.len().saturating_sub(1));
        group.next += 1;
        let at = group.entries.get(next).copied().unwrap_or_default();
        if let Some(entry) = self.entries.get_mut(at) {
            entry.is_used = true;
        }
        match self.entries.get(at) {
            Some(entry) if entry.has_answer => Ok(entry.rule),
            entry => Err(format!(
                "{} was recorded, as {}, but never answered there",
                shorten(&request.what(), MAX_NAME_LENGTH),
                entry.map_or("#0", |entry| &entry.place)
            )),
        }
    }

    /// Returns a recorded request that differs only in values that may differ: the first unused one, otherwise the last.
    fn find_loose(&mut self, protocol: &dyn Protocol, request: &StoredMessage) -> Option<usize> {
        let digest = self.digest(protocol, request, &self.loose);
        let mut group = self.loose_groups.remove(&digest)?;
        // Those before it are used.
        while let Some(at) = group.entries.get(group.next)
            && self.entries.get(*at).is_some_and(|entry| entry.is_used)
        {
            group.next += 1;
        }
        if group.begins_again(self.session) {
            for at in &group.entries {
                if let Some(entry) = self.entries.get_mut(*at) {
                    entry.is_used = false;
                }
            }
        }
        let first = group.next.min(group.entries.len().saturating_sub(1));
        let new = group.entries.get(first..).unwrap_or_default().iter();
        let used = group.entries.get(..first).unwrap_or_default().iter().rev();
        let mut compare = self.compare(protocol);
        let mut last = None;
        let mut found = None;
        for at in new.chain(used.take(MAX_COMPARED)) {
            let Some(entry) = self.entries.get(*at) else {
                continue;
            };
            let fields = compare.fields(&entry.stored, request, &mut |recorded, received| {
                entry.may_differ(recorded, received)
            });
            match fields.is_empty() {
                true if !entry.is_used => {
                    found = Some(*at);
                    break;
                }
                true => last = last.or(Some(*at)),
                false => {}
            }
        }
        drop(compare);
        self.loose_groups.insert(digest, group);
        found.or(last)
    }

    /// Returns a recorded request that differs only in remarks, and in members that are empty or absent: the first unused
    /// one, otherwise the last. The error describes how the request differs from the most similar recorded one. If no
    /// recorded request has its name, such as the name of a tool, its values are not compared.
    fn find_essential(
        &self,
        protocol: &dyn Protocol,
        request: &StoredMessage,
    ) -> Result<usize, String> {
        let what = request.what();
        let shown = shown_name(&what);
        let mut compare =
            Compare::new(protocol, &self.essential, self.limits.depth).without_empty();
        let mut closest: Option<(&RecordedRequest, Vec<FieldDifference>)> = None;
        let mut last = None;
        let candidates = self.entries.iter().enumerate();
        let candidates = candidates.filter(|(_, entry)| entry.what == what);
        for (at, entry) in candidates.take(MAX_COMPARED) {
            let fields = compare.fields(&entry.stored, request, &mut |recorded, received| {
                entry.may_differ(recorded, received)
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
            let fields: Vec<String> = fields.iter().take(SHOWN_FIELDS).map(described).collect();
            return Err(format!(
                "{shown} was not recorded in this form; the nearest is {}: {}{more}",
                entry.place,
                fields.join("; ")
            ));
        }
        let hint = self.similar(&what, request);
        Err(format!("{shown} was not recorded; {hint}"))
    }

    /// Returns the recorded request that was probably meant, or what was recorded: of this kind and subject, if any.
    fn similar(&self, what: &str, request: &StoredMessage) -> String {
        let is_sibling = |entry: &&RecordedRequest| {
            let stored = &entry.stored;
            (&stored.kind, &stored.subject) == (&request.kind, &request.subject)
        };
        let has_siblings = self.entries.iter().any(|entry| is_sibling(&entry));
        let known = self.entries.iter();
        let known = known.filter(|entry| !has_siblings || is_sibling(entry));
        // Only names are compared if the rest is equal.
        let start = if has_siblings {
            request.name().to_string()
        } else {
            String::new()
        };
        let end = |what: &str| what.strip_prefix(&*start).unwrap_or(what).to_owned();
        let mut known: Vec<(String, &str)> = known
            .map(|entry| (end(&entry.what), &*entry.what))
            .collect();
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
