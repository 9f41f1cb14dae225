//! Values that one peer generates and both then use: the recorded value, and the value of this run.
//!
//! ```text
//!   recorded   → id "a1…"       ← session_id "ses_x"      → session_id "ses_x"
//!   Names       ours: name 0     theirs: name 1            name 1
//!   Values       0 = "c7…" made   1 = "ses_k" stored      "ses_k" is sent
//! ```
//!
//! The peer that sends a value first is its owner. Long text and bytes are the same value at every position; short text
//! and numbers only at paths of one group, where each peer counts separately.

mod generate;
mod values;

use crate::decoder::Decoded;
use crate::diff::{Ignore, MessageName, PathPattern, Val, WalkedValue, walk};
use crate::path::Path;
use crate::protocol::schema::marks::Generated;
use crate::protocol::schema::{Fresh, Maker};
use crate::protocol::{Direction, Protocol, Role};
pub use generate::write;
use std::collections::HashMap;
use std::hash::{BuildHasher as _, RandomState};
pub use values::RunValues;

/// A generated value.
#[derive(Clone, Debug)]
pub struct Name {
    /// The number of its group: the kind of object that it names.
    pub group: u32,
    /// The peer that generated it.
    pub owner: Direction,
    /// The value in the recording.
    pub recorded: Val,
    fresh: Fresh,
    /// The name before it with the same digest.
    before: Option<u32>,
}

/// The meaning of a value in a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binding {
    /// A name, by its number.
    Name(usize),
    /// The time at which the message is sent.
    Time,
    /// The number of the process that sends the message.
    Process,
    /// A value that the user of the run supplies, such as a token.
    Given,
}

/// A value with a meaning.
#[derive(Clone, Debug)]
pub struct ValuePlace {
    /// The path of the value.
    pub path: Path,
    /// The span and the form of the value.
    pub spot: WalkedValue,
    /// The meaning of the value.
    pub binding: Binding,
}

/// The facts about a message that are known before its values are read.
#[derive(Clone, Copy)]
pub struct MessageInfo<'a> {
    /// The kind and the subject.
    pub name: MessageName<'a>,
    /// The role.
    pub role: Option<Role>,
    /// The direction of the message.
    pub direction: Direction,
    /// The direction of the message that it answers.
    pub request_direction: Option<Direction>,
}

/// The paths of generated values.
struct GeneratedPath {
    pattern: PathPattern,
    group: u32,
    fresh: Fresh,
    maker: Option<Maker>,
}

/// All names of a recording.
pub struct Names {
    generated: Vec<GeneratedPath>,
    groups: Vec<String>,
    all: Vec<Name>,
    unique: HashMap<Val, usize>,
    /// Names of text and bytes that are too short to be unique, by recorded value.
    short: HashMap<Val, Vec<usize>>,
    /// The last name with each digest of group, owner and value. There can be as many as messages.
    by_digest: HashMap<u32, u32>,
    digests: RandomState,
}

impl Names {
    /// Returns an empty table for a protocol.
    pub fn new(protocol: &dyn Protocol) -> Self {
        let marks = &protocol.marks().generated;
        let mut groups: Vec<String> = marks.iter().map(|m| m.group.to_string()).collect();
        groups.sort_unstable();
        groups.dedup();
        let generated = marks.iter().filter_map(|m| {
            Some(GeneratedPath {
                pattern: PathPattern::new(&m.path),
                group: u32::try_from(groups.iter().position(|group| *group == m.group)?).ok()?,
                fresh: m.fresh?,
                maker: m.maker,
            })
        });
        Self {
            generated: generated.collect(),
            groups,
            all: Vec::new(),
            unique: HashMap::new(),
            short: HashMap::new(),
            by_digest: HashMap::new(),
            digests: RandomState::new(),
        }
    }

    /// Returns a name by its number.
    pub fn name(&self, number: usize) -> Option<&Name> {
        self.all.get(number)
    }

    /// Returns the kind of object that a name is of.
    pub fn group_of(&self, number: usize) -> Option<&str> {
        self.groups
            .get(self.name(number)?.group as usize)
            .map(String::as_str)
    }

    /// Reads the next message of the recording. Returns its text, if it is valid, and its values that have a meaning.
    /// `asked`, `request_direction`: the subject and the direction of the request that it answers.
    pub fn read_decoded(
        &mut self,
        decoded: &Decoded<'_>,
        asked: Option<&str>,
        request_direction: Option<Direction>,
    ) -> (String, Vec<ValuePlace>) {
        let Some(direction) = decoded.origin.direction.filter(|_| decoded.message.valid) else {
            return (String::new(), Vec::new());
        };
        let root = decoded.root();
        let parts = root.map_or(Vec::new(), |root| decoded.protocol.part_names(root));
        let about = MessageInfo {
            name: MessageName {
                parts: &parts,
                ..MessageName::in_pair(decoded.message, asked)
            },
            role: decoded.message.role,
            direction,
            request_direction,
        };
        let message = decoded.message_text();
        let places = self.read(&message, &about);
        (message, places)
    }

    /// Reads a message. Returns its values that have a meaning.
    fn read(&mut self, message: &str, about: &MessageInfo<'_>) -> Vec<ValuePlace> {
        let mut places = Vec::new();
        walk(message, &mut |path, spot| {
            let binding = self.binding(path, &spot, about);
            places.extend(binding.map(|binding| ValuePlace {
                path: path.clone(),
                spot,
                binding,
            }));
        });
        // They are stored for each message.
        places.shrink_to_fit();
        places
    }

    fn binding(
        &mut self,
        path: &Path,
        spot: &WalkedValue,
        about: &MessageInfo<'_>,
    ) -> Option<Binding> {
        let generated = self.generated.iter();
        let generated = generated
            .filter(|_| !spot.is_key)
            .find(|one| one.pattern.fits(about.name, path));
        let Some(&GeneratedPath {
            group,
            fresh,
            maker,
            ..
        }) = generated
        else {
            return self.unique.get(&spot.val).copied().map(Binding::Name);
        };
        match fresh {
            Fresh::Time => return Some(Binding::Time),
            Fresh::Process => return Some(Binding::Process),
            Fresh::Given => return Some(Binding::Given),
            Fresh::Id | Fresh::Same => {}
        }
        let found = self.find(group, (fresh, maker), &spot.val, about);
        Some(Binding::Name(found.unwrap_or_else(|| {
            self.add(Name {
                group,
                owner: about.direction,
                recorded: spot.val.clone(),
                fresh,
                before: None,
            })
        })))
    }

    /// Returns the name that a value at a path of a group has, if an earlier message contains it.
    fn find(
        &self,
        group: u32,
        (fresh, maker): (Fresh, Option<Maker>),
        val: &Val,
        about: &MessageInfo<'_>,
    ) -> Option<usize> {
        if let Some(number) = self.unique.get(val) {
            return Some(*number);
        }
        let of = |owner: Direction| self.in_group(group, owner, val);
        let (own, other) = (about.direction, about.direction.other());
        match maker {
            Some(Maker::Sender) => return of(own).or_else(|| of(other)),
            Some(Maker::Receiver) => return of(other).or_else(|| of(own)),
            None => {}
        }
        match (about.request_direction, about.role) {
            // An answer uses the values of its request.
            (Some(request_direction), _) => {
                of(request_direction).or_else(|| of(request_direction.other()))
            }
            // Each peer counts its requests from its own start. Text may be an id that the peer assigned.
            (None, Some(Role::Request | Role::Hello)) if val.is_number() && fresh == Fresh::Id => {
                of(own)
            }
            (None, _) => of(own).or_else(|| of(other)),
        }
    }

    /// Returns `true` if the recording has this value in this group.
    fn is_recorded(&self, group: u32, val: &Val) -> bool {
        let mut sides = [Direction::ToServer, Direction::ToClient].into_iter();
        self.unique.contains_key(val) || sides.any(|side| self.in_group(group, side, val).is_some())
    }

    /// Returns the name of a value that one side generated in a group.
    fn in_group(&self, group: u32, owner: Direction, val: &Val) -> Option<usize> {
        let mut number = *self.by_digest.get(&self.digest(group, owner, val))?;
        loop {
            let name = self.all.get(number as usize)?;
            if (name.group, name.owner, &name.recorded) == (group, owner, val) {
                return Some(number as usize);
            }
            number = name.before?;
        }
    }

    fn digest(&self, group: u32, owner: Direction, val: &Val) -> u32 {
        self.digests.hash_one((group, owner, val)) as u32
    }

    fn add(&mut self, mut name: Name) -> usize {
        let number = self.all.len();
        if name.recorded.is_unique() {
            self.unique.insert(name.recorded.clone(), number);
        } else if !name.recorded.is_number() {
            let short = self.short.entry(name.recorded.clone());
            short.or_default().push(number);
        }
        let digest = self.digest(name.group, name.owner, &name.recorded);
        if let Ok(number) = u32::try_from(number) {
            name.before = self.by_digest.insert(digest, number);
        }
        self.all.push(name);
        number
    }
}

/// Returns the paths that are not compared: `requested`, and unless `strict`, values that differ in each run of the
/// protocol.
pub fn ignored_paths<'a>(
    protocol: &'a dyn Protocol,
    strict: bool,
    requested: impl IntoIterator<Item = &'a str>,
) -> Ignore {
    let hidden = |one: &&Generated| {
        one.volatile || matches!(one.fresh, Some(Fresh::Time | Fresh::Process | Fresh::Given))
    };
    let own = protocol.marks().generated.iter().filter(hidden);
    let own = own.map(|one| one.path.as_ref()).filter(|_| !strict);
    Ignore::new(own.chain(requested))
}

#[cfg(test)]
mod tests;
