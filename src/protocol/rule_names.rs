//! The names of rules as constants, which `build.rs` makes of the files of rules.
//!
//! ```text
//!   ## seq-gap in saikuro/rules.md      saikuro::SEQ_GAP
//! ```
//!
//! `common` are those that every protocol has, `rpc` those that protocols on JSON-RPC share. `all` are those of all files, for
//! code that protocols share while each of them has its own rule of a name.

#![allow(dead_code)] // rules of faults are not named

use std::fmt;

include!(concat!(env!("OUT_DIR"), "/rules.rs"));

/// The number of the name of a rule. Each protocol has its own rule of that name.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct RuleId(u16);

impl RuleId {
    /// The rule under this heading, counted from 0, of a file that is not in this crate.
    pub const fn own(heading: u16) -> Self {
        Self((NAMES.len() as u16).saturating_add(heading))
    }

    /// A rule of the project, after those of any protocol.
    pub(crate) const fn of_project(heading: u16) -> Self {
        Self::own(heading.saturating_add(1 << 12))
    }

    /// A rule of a file of tests, after those of the project.
    pub(crate) const fn of_tests(heading: u16) -> Self {
        Self::of_project(heading.saturating_add(1 << 12))
    }

    /// Returns the number of a name in the files of this crate.
    pub(crate) fn of(name: &str) -> Option<Self> {
        let at = NAMES.binary_search(&name).ok()?;
        u16::try_from(at).ok().map(Self)
    }

    /// Returns the name; empty if it is not in the files of this crate.
    pub(crate) fn name(self) -> &'static str {
        NAMES.get(usize::from(self.0)).copied().unwrap_or_default()
    }
}

impl fmt::Debug for RuleId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {:?}", self.0, self.name())
    }
}

/// A set of rules.
#[derive(Clone, Debug, Default)]
pub struct RuleSet(Vec<bool>);

impl RuleSet {
    /// Returns true if a rule is in the set.
    pub fn contains(&self, rule: RuleId) -> bool {
        self.0.get(usize::from(rule.0)).is_some_and(|is_in| *is_in)
    }
}

impl FromIterator<RuleId> for RuleSet {
    fn from_iter<I: IntoIterator<Item = RuleId>>(rules: I) -> Self {
        let mut set = Vec::new();
        for rule in rules {
            let at = usize::from(rule.0);
            set.resize(set.len().max(at + 1), false);
            if let Some(is_in) = set.get_mut(at) {
                *is_in = true;
            }
        }
        Self(set)
    }
}
