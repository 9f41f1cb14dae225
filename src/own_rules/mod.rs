//! Rules that a file states: `[[rule]]` in the description of a protocol, or in `wiretool.toml`.
//!
//! ```text
//!   [[rule]]  name = "approval"  when = "name~delete_*"  after = "subject=approve"
//!       |
//!     read --> OwnRule --> Judged: the protocol's session, and these rules after it --> Report
//! ```
//!
//! The forms are the patterns of Dwyer, Avrunin and Corbett (Patterns in Property Specifications for Finite-State
//! Verification, 1999): absence, universality, existence, precedence, response, and bounds on them.

mod read;
mod session;
mod template;
#[cfg(test)]
mod tests;

use crate::path::Path;
use crate::protocol::session::{Need, Rule};
use crate::select::{Expr, Key, KeyTest};
pub(crate) use read::{read, read_rules};
pub(crate) use session::wrap_with_rules;
use std::sync::{Arc, RwLock};
use template::Template;

/// A rule that a file states.
#[derive(Debug)]
pub(crate) struct OwnRule {
    /// Its name, severity and meaning, as those of other rules.
    pub rule: Arc<Rule>,
    /// The protocol of its messages; `None`: any.
    pub protocol: Option<String>,
    /// The messages that it is about; `None`: all.
    when: Option<Expr>,
    form: Form,
    /// Only messages with an equal value are compared.
    same: Option<Key>,
    scope: Scope,
    text: Option<Template>,
}

/// What holds for the messages of a rule. Times are in nanoseconds.
#[derive(Debug)]
enum Form {
    /// Each matches.
    Must(Expr),
    /// None matches.
    Never(Expr),
    /// At most one matches.
    Once(Expr),
    /// An earlier message matches.
    After(Expr),
    /// No earlier message matches.
    NotAfter(Expr),
    /// A later message matches, within this time.
    Then(Expr, Option<i64>),
    /// This number is greater than in the message before, of the same direction.
    Increases(Path),
    /// There are at most so many, in each span of this time.
    AtMost(usize, Option<i64>),
}

impl Form {
    /// Returns the condition on a message.
    fn condition(&self) -> Option<&Expr> {
        match self {
            Self::Must(one) | Self::Never(one) | Self::Once(one) => Some(one),
            Self::After(one) | Self::NotAfter(one) | Self::Then(one, _) => Some(one),
            Self::Increases(_) | Self::AtMost(..) => None,
        }
    }

    /// Returns its key in a rule.
    fn name(&self) -> &'static str {
        match self {
            Self::Must(_) => "must",
            Self::Never(_) => "never",
            Self::Once(_) => "once",
            Self::After(_) => "after",
            Self::NotAfter(_) => "not-after",
            Self::Then(..) => "then",
            Self::Increases(_) => "increases",
            Self::AtMost(..) => "at-most",
        }
    }

    /// Returns true if it compares each message with others that match the condition.
    fn is_pair(&self) -> bool {
        matches!(self, Self::After(_) | Self::NotAfter(_) | Self::Then(..))
    }

    /// Returns the input without which it cannot be judged.
    fn needs(&self, when: Option<&Expr>) -> Vec<Need> {
        use crate::protocol::Direction::{ToClient, ToServer};
        let mut needs = Vec::new();
        let conditions = || when.into_iter().chain(self.condition());
        let uses_direction = || conditions().any(|one| one.uses(&Key::Dir));
        let allows = |way| self.condition().is_some_and(|one| one.allows(way));
        let is_one_way = [ToServer, ToClient]
            .into_iter()
            .any(|way| !allows(way) && when.is_some_and(|when| !when.allows(way)));
        if self.is_pair() && !is_one_way {
            needs.push(Need::Sequence);
            if uses_direction() {
                needs.push(Need::BothWays);
            }
        }
        if matches!(self, Self::Then(_, Some(_)) | Self::AtMost(_, Some(_))) {
            needs.push(Need::Times);
        }
        needs
    }
}

/// The messages among which a rule compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scope {
    /// Those of a connection.
    Connection,
    /// Those of a connection, from one message that opens a session to the next.
    Session,
    /// A request and its answers.
    Request,
    /// All of them.
    Capture,
}

impl Scope {
    const ALL: [Self; 4] = [
        Self::Connection,
        Self::Session,
        Self::Request,
        Self::Capture,
    ];

    const fn name(self) -> &'static str {
        match self {
            Self::Connection => "connection",
            Self::Session => "session",
            Self::Request => "request",
            Self::Capture => "capture",
        }
    }
}

impl OwnRule {
    /// Visits each path of the rule with its key, and what a condition compares it with.
    pub(crate) fn each_path(&self, visit: &mut dyn FnMut(&'static str, &Path, Option<&KeyTest>)) {
        let conditions = [
            ("when", self.when.as_ref()),
            (self.form.name(), self.form.condition()),
        ];
        for (key, condition) in conditions {
            let Some(condition) = condition else {
                continue;
            };
            condition.each_test(&mut |test| {
                if let Key::Message(path) = &test.key {
                    visit(key, path, Some(&test.what));
                }
            });
        }
        if let Form::Increases(path) = &self.form {
            visit(self.form.name(), path, None);
        }
        let texts = self.text.iter().flat_map(Template::keys);
        let keys = texts.map(|key| ("text", key));
        for (name, key) in keys.chain(self.same.iter().map(|key| ("same", key))) {
            if let Key::Message(path) = key {
                visit(name, path, None);
            }
        }
    }
}

/// The rules of the project. They are used until the process ends.
static PROJECT: RwLock<&'static [OwnRule]> = RwLock::new(&[]);
/// The rules of the file of tests that runs.
static TESTS: RwLock<&'static [OwnRule]> = RwLock::new(&[]);

/// Sets the rules of the project.
#[cfg(feature = "cli")]
pub(crate) fn set_project(rules: Vec<OwnRule>) {
    if let Ok(mut list) = PROJECT.write() {
        *list = rules.leak();
    }
}

/// Sets the rules of a file of tests, until those of the next one are set.
#[cfg(feature = "cli")]
pub(crate) fn set_tests(rules: Vec<OwnRule>) {
    if let Ok(mut list) = TESTS.write() {
        *list = rules.leak();
    }
}

/// Returns the rules of the project for a protocol, and those of the tests that run.
pub(crate) fn of_project(protocol: &str) -> impl Iterator<Item = &'static OwnRule> {
    let rules = |list: &RwLock<&'static [OwnRule]>| list.read().map_or(&[][..], |list| *list);
    let is_for = move |rule: &&OwnRule| rule.protocol.as_deref().is_none_or(|one| one == protocol);
    rules(&PROJECT).iter().chain(rules(&TESTS)).filter(is_for)
}
