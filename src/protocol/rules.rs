//! Rules: what a conversation is held to. Each protocol has a file of them, `rules.md`; sessions name them.
//!
//! ```text
//!   # A group of rules
//!
//!   ## the-name
//!
//!   - document: warning           how bad it is by the document: off, info, warning or error
//!   - peers: error                how bad it is for real peers
//!   - clause: section 4.2         what it follows
//!   - implies: other, another     rules that cannot but be broken with it
//!   - needs: order, times         what it cannot be judged without
//!   - faults: bad-json            faults of decode that are this rule broken
//!   - unanswered: true            it reports a missing answer
//!   - harmless: true              no peer fails
//!
//!   One paragraph on one line: what goes wrong where it is broken.
//! ```
//!
//! Its examples are `fixtures/PROTOCOL/rules/NAME.fires.jsonl` and `NAME.passes.jsonl`.

use include_dir::Dir;
use std::sync::LazyLock;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Not at all.
    Off,
    /// Worth knowing.
    Info,
    /// Likely to cause trouble, or not what was agreed.
    Warning,
    /// A peer fails, or a document forbids it.
    Error,
}

impl Severity {
    /// Every severity, the mildest first.
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

    /// The severity of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|s| s.name() == name)
    }
}

/// What a rule cannot be judged without.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Need {
    /// Messages of both directions.
    BothWays,
    /// Which of two messages of different directions came first.
    Order,
    /// When messages went by.
    Times,
    /// When connections opened and ended.
    Ends,
    /// The secret that tokens are signed with.
    Secret,
    /// What a selector takes and gives.
    Signature,
    /// How the peer was reached, as a recording's head says.
    Connection,
}

impl Need {
    /// Every need.
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

    /// What is missing, in words.
    pub const fn about(self) -> &'static str {
        match self {
            Self::BothWays => "messages of both directions",
            Self::Order => "the order of the two directions",
            Self::Times => "times",
            Self::Ends => "the ends of connections",
            Self::Secret => "a secret (--secret-file)",
            Self::Signature => "a signature (--signature)",
            Self::Connection => "the address or the command (a recording's head)",
        }
    }
}

/// Two recordings, kept as fixtures: one that breaks a rule, and one close to it that does not.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Example {
    /// Breaks it, and besides only what it implies.
    pub fires: &'static str,
    /// Breaks nothing.
    pub passes: &'static str,
}

/// A rule that conversations are held to.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Rule {
    /// The name behind the protocol's: `seq-gap` of `saikuro/seq-gap`. It never changes.
    pub name: &'static str,
    /// How bad it is by the documents alone.
    pub document: Severity,
    /// How bad it is for the real peers alone.
    pub peers: Severity,
    /// What it follows: a section of the document, or "real peers" and what they do.
    pub clause: &'static str,
    /// One paragraph: what goes wrong where it is broken.
    pub why: &'static str,
    /// Rules that cannot but be broken with it.
    pub implies: Vec<&'static str>,
    /// What it cannot be judged without.
    pub needs: Vec<Need>,
    /// Faults of single messages that are this rule broken; the session need not look for them.
    pub faults: Vec<&'static str>,
    /// It reports a missing answer. The answer may still come while the connection is open, so it is at most a warning
    /// there.
    pub unanswered: bool,
    /// No peer fails: with both dialects it is only an info.
    pub harmless: bool,
    /// How it looks; only the rules that every protocol has are without.
    pub example: Option<Example>,
}

impl Rule {
    /// What most rules have: to be completed by name, severities, clause, why and example.
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

    /// How bad it is where both count: an error if a real peer fails, otherwise at most a warning.
    pub fn both(&self) -> Severity {
        let most = match self.peers {
            Severity::Error => return Severity::Error,
            _ if self.harmless => Severity::Info,
            _ => Severity::Warning,
        };
        self.document.max(self.peers).min(most)
    }
}

/// Rules that every protocol has.
pub static COMMON: LazyLock<Vec<Rule>> = LazyLock::new(|| parse(include_str!("rules.md"), None));

/// Reads a file of rules, whose examples are in a folder. Lines of another form are passed over: a test holds the files of
/// this crate to theirs.
pub fn parse(text: &'static str, examples: Option<&Dir<'static>>) -> Vec<Rule> {
    let mut rules: Vec<Rule> = Vec::new();
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("## ") {
            let file = |end: &str| {
                examples?
                    .get_file(format!("{name}.{end}.jsonl"))?
                    .contents_utf8()
            };
            let example = || {
                let (fires, passes) = (file("fires")?, file("passes")?);
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

    /// A rule as its file has it.
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
    fn files_of_rules_have_no_line_that_is_not_read() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/protocol");
        let of_protocols = registry::all()
            .iter()
            .map(|p| (p.name(), p.behavior().rules()));
        for (folder, rules) in of_protocols.chain([("", &COMMON[..])]) {
            let text = std::fs::read_to_string(root.join(folder).join("rules.md")).unwrap();
            let mut blocks: Vec<String> = Vec::new();
            for line in text.lines().filter(|line| !line.starts_with("# ")) {
                match blocks.last_mut() {
                    _ if line.starts_with("## ") => blocks.push(format!("{line}\n")),
                    Some(block) => *block += &format!("{line}\n"),
                    None => assert_eq!(line, "", "{folder}"),
                }
            }
            assert_eq!(blocks.len(), rules.len(), "{folder}");
            for (block, rule) in blocks.iter().zip(rules) {
                assert_eq!(format!("{}\n", block.trim_end()), written(rule), "{folder}");
                let alone = rules.iter().filter(|other| other.name == rule.name).count();
                assert_eq!(alone, 1, "{folder}/{}", rule.name);
            }
        }
    }
}
