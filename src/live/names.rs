//! Values that one side makes up and both then use: what they were in the recording, and what they are this time.
//!
//! ```text
//!   recorded   → id "a1…"       ← session_id "ses_x"      → session_id "ses_x"
//!   Names       ours: name 0     theirs: name 1            name 1
//!   Values       0 = "c7…" made   1 = "ses_k" learnt        "ses_k" goes out
//! ```
//!
//! Whoever says a value first made it. Text and bytes that tell are the same thing wherever they stand; short text and
//! numbers only at paths of one group, and there each side counts for itself.

mod fresh;
mod values;

use crate::diff::{Ignore, Pattern, Spot, Val, walk};
use crate::path::Path;
use crate::protocol::schema::Fresh;
use crate::protocol::schema::marks::Generated;
use crate::protocol::{Direction, Protocol, Role};
pub use fresh::write;
use std::collections::HashMap;
pub use values::Values;

/// A value that was made up.
#[derive(Clone, Debug)]
pub struct Name {
    /// What sort of thing it names.
    pub group: &'static str,
    /// Who made it.
    pub owner: Direction,
    /// What it was.
    pub recorded: Val,
    fresh: Fresh,
}

/// What a value in a message stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binding {
    /// A name, by its number.
    Name(usize),
    /// The time at which it is said.
    Time,
    /// What whoever plays is given for it.
    Given,
}

/// A value that stands for something.
#[derive(Clone, Debug)]
pub struct Place {
    /// Where it stands.
    pub path: Path,
    /// Where and how it is written.
    pub spot: Spot,
    /// What it stands for.
    pub binding: Binding,
}

/// What there is to know of a message before its values are read.
#[derive(Clone, Copy)]
pub struct MessageInfo<'a> {
    /// Its kind.
    pub kind: &'a str,
    /// Its role.
    pub role: Option<Role>,
    /// Which way it went.
    pub direction: Direction,
    /// Which way the message went that it answers.
    pub asked: Option<Direction>,
}

/// Every name of a recording.
pub struct Names {
    minted: Vec<(Pattern, &'static str, Fresh)>,
    all: Vec<Name>,
    anywhere: HashMap<Val, usize>,
    /// Those of text and bytes that do not tell, by what they were.
    short: HashMap<Val, Vec<usize>>,
    placed: HashMap<(&'static str, Direction, Val), usize>,
}

impl Names {
    /// A book without a name, for a protocol.
    pub fn new(protocol: &dyn Protocol) -> Self {
        let minted = protocol.descriptor().marks.generated.iter();
        let minted = minted.filter_map(|m| Some((Pattern::new(&m.path), m.group, m.fresh?)));
        Self {
            minted: minted.collect(),
            all: Vec::new(),
            anywhere: HashMap::new(),
            short: HashMap::new(),
            placed: HashMap::new(),
        }
    }

    /// A name by its number.
    pub fn name(&self, number: usize) -> Option<&Name> {
        self.all.get(number)
    }

    /// Reads the next message of the recording: its values that stand for something.
    pub fn read(&mut self, message: &str, about: &MessageInfo<'_>) -> Vec<Place> {
        let mut places = Vec::new();
        walk(message, &mut |path, spot| {
            let binding = self.binding(path, &spot, about);
            places.extend(binding.map(|binding| Place {
                path: path.clone(),
                spot,
                binding,
            }));
        });
        places
    }

    fn binding(&mut self, path: &Path, spot: &Spot, about: &MessageInfo<'_>) -> Option<Binding> {
        let minted = self.minted.iter();
        let minted = minted
            .filter(|_| !spot.is_key)
            .find(|(pattern, ..)| pattern.fits(about.kind, path));
        let Some(&(_, group, fresh)) = minted else {
            return self.anywhere.get(&spot.val).copied().map(Binding::Name);
        };
        match fresh {
            Fresh::Time => return Some(Binding::Time),
            Fresh::Given => return Some(Binding::Given),
            Fresh::Id | Fresh::Same => {}
        }
        let known = self.known(group, &spot.val, about);
        Some(Binding::Name(known.unwrap_or_else(|| {
            self.add(Name {
                group,
                owner: about.direction,
                recorded: spot.val.clone(),
                fresh,
            })
        })))
    }

    /// The name that a value at a path of a group is, if it was said before.
    fn known(&self, group: &'static str, val: &Val, about: &MessageInfo<'_>) -> Option<usize> {
        if let Some(number) = self.anywhere.get(val) {
            return Some(*number);
        }
        let of = |owner: Direction| self.placed.get(&(group, owner, val.clone())).copied();
        let (own, other) = (about.direction, about.direction.other());
        match (about.asked, about.role) {
            // An answer goes by what its request said.
            (Some(asked), _) => of(asked).or_else(|| of(asked.other())),
            // Both sides count their requests, each from its own beginning. Text may be what the other side gave out.
            (None, Some(Role::Request | Role::Hello)) if matches!(val, Val::Number(_)) => of(own),
            (None, _) => of(own).or_else(|| of(other)),
        }
    }

    /// Whether the recording has a value for something of that group.
    fn is_recorded(&self, group: &'static str, val: &Val) -> bool {
        let sides = [Direction::ToServer, Direction::ToClient];
        let mut placed = sides.map(|side| (group, side, val.clone())).into_iter();
        self.anywhere.contains_key(val) || placed.any(|key| self.placed.contains_key(&key))
    }

    fn add(&mut self, name: Name) -> usize {
        let number = self.all.len();
        if name.recorded.is_telling() {
            self.anywhere.insert(name.recorded.clone(), number);
        } else if !matches!(name.recorded, Val::Number(_)) {
            let short = self.short.entry(name.recorded.clone());
            short.or_default().push(number);
        }
        let key = (name.group, name.owner, name.recorded.clone());
        self.placed.insert(key, number);
        self.all.push(name);
        number
    }
}

/// What is not compared where ids need not correspond: what every run of a protocol makes anew, and what was asked for.
pub fn passed_over<'a>(
    protocol: &'a dyn Protocol,
    strict: bool,
    asked: impl IntoIterator<Item = &'a str>,
) -> Ignore {
    let hidden =
        |one: &&Generated| one.volatile || matches!(one.fresh, Some(Fresh::Time | Fresh::Given));
    let own = protocol.descriptor().marks.generated.iter().filter(hidden);
    let own = own.map(|one| one.path.as_ref()).filter(|_| !strict);
    Ignore::new(own.chain(asked))
}

#[cfg(test)]
mod tests;
