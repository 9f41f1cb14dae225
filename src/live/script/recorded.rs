//! Requests of a recording and what they were answered, found again by what they mean.
//!
//! ```text
//!   #4 invoke pow [0x2]  -> #5 result [0x4]         asked again: #9, then #9 for ever
//!   #8 invoke pow [0x2]  -> #9 result [0x5]
//!   invoke pow [0x3]     -> never recorded; closest is #4: params.calldata[0] is "0x3", recorded "0x2"
//! ```
//!
//! What every run makes anew does not count, nor do secrets: another token, or a stand-in for one, asks the same.

use super::Action;
use super::template::Template;
use super::value::{Fill, Value};
use crate::diff::Val;
use crate::diff::{Compare, Ignore, Kept};
use crate::framing::Limits;
use crate::live::names::{Place, passed_over};
use crate::protocol::Protocol;
use crate::protocol::peer::Offer;
use crate::render::style::shorten;
use crate::tape::Node;
use crate::words::nearest;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;

/// Recorded requests that a miss is compared with, to tell the closest.
const COMPARED: usize = 256;
/// Fields of the closest one that are told.
const TOLD: usize = 4;
/// Characters of each thing that is told of a miss.
pub const WIDE: usize = 200;

/// One recorded request.
#[derive(Clone, Debug)]
pub struct RecordedRequest {
    /// Its index in the recording.
    pub index: u64,
    /// `invoke pow`.
    pub what: String,
    /// What it was answered.
    pub actions: Arc<[Action]>,
    /// As `decode -f json` shows it.
    pub message: String,
    pub kept: Kept,
    pub places: Vec<Place>,
    /// Places in its tape of values that differ from run to run.
    pub made: HashSet<usize>,
    /// Places in its tape of what is secret.
    pub secret: HashSet<usize>,
    pub is_done: bool,
    pub is_used: bool,
}

impl RecordedRequest {
    /// Whether a value need not be the same when it is asked again.
    fn is_loose(&self, recorded: Node<'_>, asked: Node<'_>) -> bool {
        let at = recorded.index();
        self.secret.contains(&at) || self.made.contains(&at) && Val::of(asked).is_some()
    }
}

/// Requests that ask the same.
#[derive(Clone, Debug, Default)]
struct Group {
    entries: Vec<usize>,
    next: usize,
}

/// The requests of a recording.
#[derive(Clone, Debug)]
pub struct Exchanges {
    ignore: Ignore,
    limits: Limits,
    /// In order.
    pub entries: Vec<RecordedRequest>,
    /// What hellos were answered, by kind and subject.
    hellos: HashMap<String, Template>,
    /// What the side said first of all, without being asked.
    opening: Option<String>,
    groups: HashMap<u64, Group>,
    /// Requests that ask the same but for what is secret or made anew.
    loose: Ignore,
    alike: HashMap<u64, Group>,
}

impl Exchanges {
    /// Requests with what they were answered, in order; and those paths of theirs that differ from run to run.
    pub fn new(
        protocol: &dyn Protocol,
        limits: Limits,
        entries: Vec<RecordedRequest>,
        hellos: HashMap<String, Template>,
        opening: Option<String>,
        loose: &BTreeSet<String>,
    ) -> Self {
        let loose = loose.iter().map(String::as_str);
        let mut exchanges = Self {
            loose: passed_over(protocol, false, loose),
            ignore: passed_over(protocol, false, []),
            limits,
            entries,
            hellos,
            opening,
            groups: HashMap::new(),
            alike: HashMap::new(),
        };
        for at in 0..exchanges.entries.len() {
            let Some(entry) = exchanges.entries.get(at) else {
                continue;
            };
            let digests = [&exchanges.ignore, &exchanges.loose]
                .map(|ignore| exchanges.digest(protocol, &entry.kept, ignore));
            let [group, alike] = digests;
            exchanges.groups.entry(group).or_default().entries.push(at);
            exchanges.alike.entry(alike).or_default().entries.push(at);
        }
        exchanges
    }

    /// Whether there is nothing to answer.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty() && self.hellos.is_empty() && self.opening.is_none()
    }

    fn compare<'c>(&'c self, protocol: &'c dyn Protocol) -> Compare<'c> {
        Compare::new(protocol, &self.ignore, self.limits.depth)
    }

    fn digest(&self, protocol: &dyn Protocol, kept: &Kept, ignore: &Ignore) -> u64 {
        let mut hasher = DefaultHasher::new();
        kept.kind.hash(&mut hasher);
        kept.subject.hash(&mut hasher);
        let mut compare = Compare::new(protocol, ignore, self.limits.depth);
        compare.digest(kept, &mut hasher);
        hasher.finish()
    }

    /// Whether a digest is that of a recorded request which asks the same. Nobody should be given another's answer because
    /// 64 bits happened to agree; requests of one group were all recorded, and are not looked at again.
    fn is_known(&self, protocol: &dyn Protocol, digest: u64, request: &Kept) -> bool {
        let group = self.groups.get(&digest);
        let first = group.and_then(|group| self.entries.get(*group.entries.first()?));
        first.is_some_and(|entry| {
            let mut compare = self.compare(protocol);
            let fields = compare.fields(&entry.kept, request, &mut |_, _| false);
            fields.is_empty()
        })
    }

    /// The recorded request whose answer comes next for this one; or why there is none.
    pub fn find(&mut self, protocol: &dyn Protocol, request: &Kept) -> Result<usize, String> {
        let mut digest = self.digest(protocol, request, &self.ignore);
        // What is secret or made anew differs already in the digest.
        if !self.is_known(protocol, digest, request) {
            let Some(alike) = self.alike(protocol, request) else {
                return Err(self.closest(protocol, request));
            };
            let recorded = self
                .entries
                .get(alike)
                .map(|entry| self.digest(protocol, &entry.kept, &self.ignore));
            digest = recorded.unwrap_or_default();
        }
        let group = self.groups.get_mut(&digest);
        let group = group.ok_or("no such request was recorded")?;
        let next = group.next.min(group.entries.len().saturating_sub(1));
        group.next += 1;
        let at = group.entries.get(next).copied().unwrap_or_default();
        if let Some(entry) = self.entries.get_mut(at) {
            entry.is_used = true;
        }
        match self.entries.get(at) {
            Some(entry) if !entry.actions.is_empty() => Ok(at),
            _ => {
                let index = self.entries.get(at).map_or(0, |entry| entry.index);
                Err(format!(
                    "{} was recorded, as #{index}, but never answered there",
                    shorten(&request.what(), WIDE)
                ))
            }
        }
    }

    /// A recorded request that differs in nothing that counts: the first that was not asked yet, or else the last.
    fn alike(&mut self, protocol: &dyn Protocol, request: &Kept) -> Option<usize> {
        let digest = self.digest(protocol, request, &self.loose);
        let mut group = self.alike.remove(&digest)?;
        // Those before were asked already.
        while let Some(at) = group.entries.get(group.next)
            && self.entries.get(*at).is_some_and(|entry| entry.is_used)
        {
            group.next += 1;
        }
        let first = group.next.min(group.entries.len().saturating_sub(1));
        let new = group.entries.get(first..).unwrap_or_default().iter();
        let used = group.entries.get(..first).unwrap_or_default().iter().rev();
        let mut compare = self.compare(protocol);
        let mut last = None;
        let mut found = None;
        for at in new.chain(used.take(COMPARED)) {
            let Some(entry) = self.entries.get(*at) else {
                continue;
            };
            let fields = compare.fields(&entry.kept, request, &mut |recorded, asked| {
                entry.is_loose(recorded, asked)
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
        self.alike.insert(digest, group);
        found.or(last)
    }

    /// What the recorded request differs in that is most like this one.
    fn closest(&self, protocol: &dyn Protocol, request: &Kept) -> String {
        let what = request.what();
        let shown = shorten(&what, WIDE);
        let mut compare = self.compare(protocol);
        let mut closest: Option<(usize, Vec<String>)> = None;
        let same_sort = |entry: &RecordedRequest| entry.what == what;
        let candidates = self
            .entries
            .iter()
            .enumerate()
            .filter(|(_, entry)| same_sort(entry));
        for (at, entry) in candidates.take(COMPARED) {
            let fields = compare.fields(&entry.kept, request, &mut |recorded, asked| {
                entry.is_loose(recorded, asked)
            });
            if closest
                .as_ref()
                .is_none_or(|(_, before)| fields.len() < before.len())
            {
                let text = |value: &Option<crate::diff::Value>| {
                    let text = value.as_ref().map_or("absent", |value| &value.text);
                    shorten(text, WIDE).into_owned()
                };
                let fields = fields.iter().map(|field| {
                    let path = if field.path.is_empty() {
                        "it"
                    } else {
                        &shorten(&field.path, WIDE)
                    };
                    format!(
                        "{path} is {}, recorded {}",
                        text(&field.right),
                        text(&field.left)
                    )
                });
                closest = Some((at, fields.collect()));
            }
        }
        if let Some((entry, fields)) = closest.and_then(|(at, f)| self.entries.get(at).zip(Some(f)))
        {
            let more = match fields.len().saturating_sub(TOLD) {
                0 => String::new(),
                n => format!(", and {n} more"),
            };
            let fields = fields
                .get(..TOLD.min(fields.len()))
                .unwrap_or_default()
                .join("; ");
            return format!(
                "{shown} was never recorded so; closest is #{}: {fields}{more}",
                entry.index
            );
        }
        let names = || self.entries.iter().map(|entry| entry.what.as_str());
        let hint = if let Some(near) = nearest(&what, names()) {
            format!("did it mean {}?", shorten(near, WIDE))
        } else {
            let mut known: Vec<&str> = names().collect();
            known.sort_unstable();
            known.dedup();
            let more = if known.len() > 8 { ", …" } else { "" };
            known.truncate(8);
            let known: Vec<_> = known.iter().map(|one| shorten(one, WIDE)).collect();
            format!("recorded are {}{more}", known.join(", "))
        };
        format!("{shown} was never recorded; {hint}")
    }

    /// What was asked for: what a side offers that answers as recorded.
    pub fn offers(&self) -> Vec<Offer> {
        let mut offers: Vec<Offer> = Vec::new();
        let mut known = HashSet::new();
        for entry in &self.entries {
            let name = entry.kept.subject.as_deref().unwrap_or_default().to_owned();
            if !name.is_empty() && known.insert(name.clone()) {
                let streams = entry.actions.len() > 1;
                offers.push(Offer {
                    name,
                    streams,
                    ..Offer::default()
                });
            }
        }
        offers
    }

    /// Whether the side said something first, without being asked.
    pub fn opens(&self) -> bool {
        self.opening.is_some()
    }

    /// What is said first, without being asked.
    pub fn opening(&self) -> Option<Value> {
        self.opening.clone().map(Value::Json)
    }

    /// The answer to a hello as it was recorded, with what this run made anew: what is answered otherwise than usual, a
    /// refusal perhaps, is answered so again.
    pub fn hello(&self, what: &str, reply: &str) -> Option<String> {
        let recorded = self.hellos.get(what)?;
        Some(recorded.fill(&Fill {
            request: reply,
            ..Fill::default()
        }))
    }
}
