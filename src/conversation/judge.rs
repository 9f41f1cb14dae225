//! How severe a broken rule is, for this user.

use crate::protocol::rules::{COMMON, Rule, Severity};
use crate::protocol::{Protocol, registry};
use crate::words::glob;

/// Whose rules count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dialect {
    /// The protocol's document.
    Document,
    /// What real peers do and refuse.
    Peers,
    /// Both: an error if real peers fail, otherwise at most a warning.
    #[default]
    Both,
}

impl Dialect {
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

    /// The dialect of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|d| d.name() == name)
    }
}

/// Severities of rules.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Judge {
    /// Whose rules count.
    pub dialect: Dialect,
    /// Names of rules, `*` for any run of characters, and how severe those are instead; the last that fits counts.
    pub levels: Vec<(String, Severity)>,
}

impl Judge {
    /// How severe it is to break this rule of a protocol.
    pub fn severity(&self, protocol: &str, rule: &Rule) -> Severity {
        self.here(protocol, rule, Severity::Error)
    }

    /// How severe it is where it is at most this bad, unless the user says otherwise.
    pub fn here(&self, protocol: &str, rule: &Rule, at_most: Severity) -> Severity {
        if !self.levels.is_empty() {
            let name = full_name(protocol, rule);
            let own = self.levels.iter().rev().find(|(p, _)| glob(p, &name));
            if let Some((_, severity)) = own {
                return *severity;
            }
        }
        let severity = match self.dialect {
            Dialect::Document => rule.document,
            Dialect::Peers => rule.peers,
            Dialect::Both => rule.both(),
        };
        severity.min(at_most)
    }
}

/// `saikuro/seq-gap`.
pub fn full_name(protocol: &str, rule: &Rule) -> String {
    format!("{protocol}/{}", rule.name)
}

/// All rules of a protocol, those that every protocol has last.
pub fn rules_of(protocol: &dyn Protocol) -> impl Iterator<Item = &'static Rule> {
    protocol.behavior().rules().iter().chain(COMMON.iter())
}

/// The rule of that full name.
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
