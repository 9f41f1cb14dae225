//! The severity of broken rules, as set by the user.

use crate::protocol::rule_names::RuleSet;
use crate::protocol::rules::{COMMON, Rule, Severity};
use crate::protocol::{Protocol, registry};
use crate::words::glob;
use std::sync::Arc;

/// The rules that apply.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RuleDialect {
    /// The rules of the protocol's document.
    Document,
    /// The behaviour of real peers.
    Peers,
    /// Both: an error if real peers fail, otherwise at most a warning.
    #[default]
    Both,
}

impl RuleDialect {
    /// Every dialect.
    pub const ALL: [Self; 3] = [Self::Document, Self::Peers, Self::Both];

    /// The name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Document => "document",
            Self::Peers => "peers",
            Self::Both => "both",
        }
    }

    /// Finds a dialect by its name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|d| d.name() == name)
    }
}

/// Severities of rules.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Judge {
    /// The rules that apply.
    pub dialect: RuleDialect,
    /// Names of rules with or without the protocol before them, `*` for any characters, and their severity. The last match
    /// applies.
    pub levels: Vec<(String, Severity)>,
}

impl Judge {
    /// Returns the severity of a broken rule.
    pub fn severity(&self, protocol: &str, rule: &Rule) -> Severity {
        self.limited_severity(protocol, rule, Severity::Error)
    }

    /// Returns the rules of a protocol that are off.
    pub(super) fn off(&self, protocol: &dyn Protocol) -> RuleSet {
        let is_off = |rule: &&Arc<Rule>| self.severity(protocol.name(), rule) == Severity::Off;
        rules_of(protocol).filter(is_off).map(|r| r.id).collect()
    }

    /// Returns the severity of a broken rule, at most `at_most` unless the user sets it.
    pub(crate) fn limited_severity(
        &self,
        protocol: &str,
        rule: &Rule,
        at_most: Severity,
    ) -> Severity {
        if !self.levels.is_empty() {
            let name = full_name(protocol, rule);
            let own = self.levels.iter().rev().find(|(p, _)| names_rule(p, &name));
            if let Some((_, severity)) = own {
                return *severity;
            }
        }
        let severity = match self.dialect {
            RuleDialect::Document => rule.document,
            RuleDialect::Peers => rule.peers,
            RuleDialect::Both => rule.both(),
        };
        severity.min(at_most)
    }
}

/// Returns `true` if a pattern matches the full name of a rule, or its part after the protocol; `*` matches any run of
/// characters.
pub(crate) fn names_rule(pattern: &str, full_name: &str) -> bool {
    let rule = full_name.split_once('/').map_or("", |(_, rule)| rule);
    glob(pattern, full_name) || glob(pattern, rule)
}

/// Returns a name such as `saikuro/seq-gap`.
pub fn full_name(protocol: &str, rule: &Rule) -> String {
    format!("{protocol}/{}", rule.name)
}

/// Returns all rules of a protocol: its own, those of the project, and the common ones.
pub fn rules_of(protocol: &dyn Protocol) -> impl Iterator<Item = &Arc<Rule>> {
    #[cfg(feature = "described")]
    let project = crate::own_rules::of_project(protocol.name()).map(|own| &own.rule);
    #[cfg(not(feature = "described"))]
    let project = std::iter::empty();
    let own = protocol.behavior().rules().iter();
    own.chain(project).chain(COMMON.iter())
}

/// Returns the rules with a name that is not their full one.
pub fn rules_called(name: &str) -> impl Iterator<Item = (&'static str, &'static Rule)> {
    let own = registry::all().iter().flat_map(|protocol| {
        let rules = protocol.behavior().rules().iter();
        rules.map(|rule| (protocol.name(), &**rule))
    });
    let common = COMMON.iter().map(|rule| ("http", &**rule));
    own.chain(common).filter(move |(_, rule)| rule.name == name)
}

/// Finds a rule by its full name.
pub fn find_rule(name: &str) -> Option<(&'static str, &'static Rule)> {
    let (protocol, rule) = name.split_once('/')?;
    if protocol == "http" {
        let rule = COMMON.iter().find(|r| r.name == rule)?;
        return Some(("http", rule));
    }
    let protocol = registry::find(protocol)?;
    let rule = rules_of(protocol).find(|r| r.name == rule)?;
    Some((protocol.name(), rule))
}
