//! The rules for conversations. Each protocol lists its rules in `rules.md`; sessions name them.
//!
//! ```text
//!   # A group of rules
//!
//!   ## the-name
//!
//!   - document: warning           severity by the document: off, info, warning or error
//!   - peers: error                severity for real peers
//!   - clause: section 4.2         the source of the rule
//!   - implies: other, another     rules that are always broken with it
//!   - needs: order, times         input without which it cannot be judged
//!   - faults: bad-json            faults of decode that break this rule
//!   - unanswered: true            it reports a missing answer
//!   - harmless: true              no peer fails
//!
//!   One paragraph on one line: the consequence if it is broken.
//! ```
//!
//! Its examples are `fixtures/PROTOCOL/rules/NAME.fires.jsonl` and `NAME.passes.jsonl`.

use include_dir::Dir;
use std::collections::HashMap;
use std::sync::LazyLock;

/// The severity of a broken rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// The rule is off.
    Off,
    /// The user may want to know.
    Info,
    /// It is likely to cause a problem, or it breaks an agreement.
    Warning,
    /// A peer fails, or a document forbids it.
    Error,
}

impl Severity {
    /// All severities, the lowest first.
    pub const ALL: [Self; 4] = [Self::Off, Self::Info, Self::Warning, Self::Error];

    /// The name in output and in settings.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }

    /// Returns the severity with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|s| s.name() == name)
    }
}

/// Input that a rule needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Need {
    /// Messages of both directions.
    BothWays,
    /// The order of two messages of different directions.
    Order,
    /// The times of messages.
    Times,
    /// The times when connections opened and ended.
    Ends,
    /// The secret that tokens are signed with.
    Secret,
    /// The argument and result types of a selector.
    Signature,
    /// The address or command of the peer, from the head of a recording.
    Connection,
}

impl Need {
    /// All needs.
    const ALL: [Self; 7] = [
        Self::BothWays,
        Self::Order,
        Self::Times,
        Self::Ends,
        Self::Secret,
        Self::Signature,
        Self::Connection,
    ];

    /// The name in files of rules.
    const fn name(self) -> &'static str {
        match self {
            Self::BothWays => "both-ways",
            Self::Order => "order",
            Self::Times => "times",
            Self::Ends => "ends",
            Self::Secret => "secret",
            Self::Signature => "signature",
            Self::Connection => "connection",
        }
    }

    /// Describes the missing input.
    pub const fn about(self) -> &'static str {
        match self {
            Self::BothWays => "messages of both directions",
            Self::Order => "the order of the two directions",
            Self::Times => "times",
            Self::Ends => "the ends of connections",
            Self::Secret => "a secret (--secret-file)",
            Self::Signature => "a signature (--signature)",
            Self::Connection => "the address or the command (header of a recording)",
        }
    }
}

/// Two recordings in the fixtures: one breaks a rule, the other is similar and does not.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Example {
    /// Breaks the rule, and no other rules except those it implies.
    pub fires: &'static str,
    /// Breaks no rule.
    pub passes: &'static str,
}

/// A rule for conversations.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Rule {
    /// The name after that of the protocol: `seq-gap` of `saikuro/seq-gap`. It never changes.
    pub name: &'static str,
    /// The severity by the document alone.
    pub document: Severity,
    /// The severity for real peers alone.
    pub peers: Severity,
    /// The source: a section of the document, or "real peers" and their behaviour.
    pub clause: &'static str,
    /// One paragraph: the consequence if it is broken.
    pub why: &'static str,
    /// Rules that are always broken with it.
    pub implies: Vec<&'static str>,
    /// Input without which it cannot be judged.
    pub needs: Vec<Need>,
    /// Faults of single messages that break this rule; the session does not check for them.
    pub faults: Vec<&'static str>,
    /// The rule reports a missing answer. The answer may still come while the connection is open, so the rule is at
    /// most a warning there.
    pub unanswered: bool,
    /// No peer fails: if both dialects apply, the rule is only an info.
    pub harmless: bool,
    /// The recordings; only the rules that every protocol has are without.
    pub example: Option<Example>,
}

impl Rule {
    /// The values that most rules have: name, severities, clause, why and example are still to be set.
    pub const PLAIN: Self = Self {
        name: "",
        document: Severity::Off,
        peers: Severity::Off,
        clause: "",
        why: "",
        implies: Vec::new(),
        needs: Vec::new(),
        faults: Vec::new(),
        unanswered: false,
        harmless: false,
        example: None,
    };

    /// The severity if document and peers both count: an error if a real peer fails, otherwise at most a warning.
    pub fn both(&self) -> Severity {
        let most = match self.peers {
            Severity::Error => return Severity::Error,
            _ if self.harmless => Severity::Info,
            _ => Severity::Warning,
        };
        self.document.max(self.peers).min(most)
    }
}

/// The rules that every protocol has.
pub static COMMON: LazyLock<Vec<Rule>> = LazyLock::new(|| parse(include_str!("rules.md"), None));

/// Reads a file of rules; `examples` is the folder of their examples. Other lines are ignored: a test checks that the
/// files of this crate have none.
pub fn parse(text: &'static str, examples: Option<&Dir<'static>>) -> Vec<Rule> {
    let mut rules: Vec<Rule> = Vec::new();
    let all = examples.into_iter().flat_map(Dir::files);
    let by_name: HashMap<_, _> = all
        .filter_map(|file| Some((file.path().to_str()?, file)))
        .collect();
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("## ") {
            let text_of = |end: &str| {
                by_name
                    .get(format!("{name}.{end}.jsonl").as_str())?
                    .contents_utf8()
            };
            let example = || {
                let (fires, passes) = (text_of("fires")?, text_of("passes")?);
                Some(Example { fires, passes })
            };
            rules.push(Rule {
                name,
                example: example(),
                ..Rule::PLAIN
            });
            continue;
        }
        let Some(rule) = rules.last_mut() else {
            continue;
        };
        match line
            .strip_prefix("- ")
            .and_then(|item| item.split_once(": "))
        {
            Some((key, value)) => set(rule, key, value),
            None if !line.is_empty() && !line.starts_with('#') => rule.why = line,
            None => {}
        }
    }
    rules
}

fn set(rule: &mut Rule, key: &str, value: &'static str) {
    let list = || value.split(", ");
    let severity = || Severity::from_name(value).unwrap_or(Severity::Off);
    match key {
        "document" => rule.document = severity(),
        "peers" => rule.peers = severity(),
        "clause" => rule.clause = value,
        "implies" => rule.implies = list().collect(),
        "needs" => {
            let need = |name| Need::ALL.into_iter().find(|need| need.name() == name);
            rule.needs = list().filter_map(need).collect();
        }
        "faults" => rule.faults = list().collect(),
        "unanswered" => rule.unanswered = value == "true",
        "harmless" => rule.harmless = value == "true",
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::registry;

    /// Writes a rule in the form of its file.
    fn written(rule: &Rule) -> String {
        let mut text = format!("## {}\n\n", rule.name);
        let mut item = |key: &str, value: &str| text += &format!("- {key}: {value}\n");
        item("document", rule.document.name());
        item("peers", rule.peers.name());
        item("clause", rule.clause);
        let needs: Vec<_> = rule.needs.iter().map(|need| need.name()).collect();
        for (key, list) in [
            ("implies", &rule.implies),
            ("needs", &needs),
            ("faults", &rule.faults),
        ] {
            if !list.is_empty() {
                item(key, &list.join(", "));
            }
        }
        for (key, is_set) in [("unanswered", rule.unanswered), ("harmless", rule.harmless)] {
            if is_set {
                item(key, "true");
            }
        }
        text + &format!("\n{}\n", rule.why)
    }

    #[test]
    fn every_line_of_a_rules_file_is_read() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/protocol");
        let of_protocols = registry::all()
            .iter()
            .map(|p| (p.name(), p.behavior().rules()));
        let family = parse(include_str!("rpc/rules.md"), None);
        for (folder, rules) in of_protocols.chain([("", &COMMON[..]), ("rpc", &family)]) {
            let text = std::fs::read_to_string(root.join(folder).join("rules.md")).unwrap();
            let mut blocks: Vec<String> = Vec::new();
            for line in text.lines().filter(|line| !line.starts_with("# ")) {
                match blocks.last_mut() {
                    _ if line.starts_with("## ") => blocks.push(format!("{line}\n")),
                    Some(block) => *block += &format!("{line}\n"),
                    None => assert_eq!(line, "", "{folder}"),
                }
            }
            // Rules that several protocols have come before a protocol's own.
            let rules = &rules[rules.len().saturating_sub(blocks.len())..];
            assert_eq!(blocks.len(), rules.len(), "{folder}");
            for (block, rule) in blocks.iter().zip(rules) {
                assert_eq!(format!("{}\n", block.trim_end()), written(rule), "{folder}");
                let alone = rules.iter().filter(|other| other.name == rule.name).count();
                assert_eq!(alone, 1, "{folder}/{}", rule.name);
            }
        }
    }
}
