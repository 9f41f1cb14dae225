//! The rules for conversations. Each protocol lists its rules in `rules.md`; sessions name them by the constants that
//! `build.rs` makes of their names: `rule::SEQ_GAP`.
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

use super::rule_names::RuleId;
use std::borrow::Cow;
use std::fmt;
use std::sync::{Arc, LazyLock};

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
    /// The order of all messages.
    Sequence,
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
    const ALL: [Self; 8] = [
        Self::BothWays,
        Self::Order,
        Self::Sequence,
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
            Self::Sequence => "sequence",
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
            Self::Order | Self::Sequence => "the order of the two directions",
            Self::Times => "times",
            Self::Ends => "the ends of connections",
            Self::Secret => "a secret (`secret-file`)",
            Self::Signature => "a signature (`signature`)",
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

/// Returns the example of the rule with this name.
pub type FindExample = fn(&str) -> Option<Example>;

/// A rule for conversations.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Rule {
    /// The name after that of the protocol: `seq-gap` of `saikuro/seq-gap`. It never changes.
    pub name: Cow<'static, str>,
    /// The number of the name.
    pub id: RuleId,
    /// The severity by the document alone.
    pub document: Severity,
    /// The severity for real peers alone.
    pub peers: Severity,
    /// The source: a section of the document, or "real peers" and their behaviour.
    pub clause: Cow<'static, str>,
    /// One paragraph: the consequence if it is broken.
    pub why: Cow<'static, str>,
    /// Rules that are always broken with it.
    pub implies: Vec<Cow<'static, str>>,
    /// Input without which it cannot be judged.
    pub needs: Vec<Need>,
    /// Faults of single messages that break this rule; the session does not check for them.
    pub faults: Vec<Cow<'static, str>>,
    /// The rule reports a missing answer. The answer may still come while the connection is open, so the rule is at
    /// most a warning there.
    pub unanswered: bool,
    /// No peer fails: if both dialects apply, the rule is only an info.
    pub harmless: bool,
    /// Finds its recordings; only the rules that every protocol has are without.
    pub examples: Option<FindExample>,
}

impl Rule {
    /// The values that most rules have: name, severities, clause and why are still to be set.
    pub const PLAIN: Self = Self {
        name: Cow::Borrowed(""),
        id: RuleId::own(0),
        document: Severity::Off,
        peers: Severity::Off,
        clause: Cow::Borrowed(""),
        why: Cow::Borrowed(""),
        implies: Vec::new(),
        needs: Vec::new(),
        faults: Vec::new(),
        unanswered: false,
        harmless: false,
        examples: None,
    };

    /// Returns its recordings.
    pub fn example(&self) -> Option<Example> {
        self.examples?(&self.name)
    }

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
pub static COMMON: LazyLock<Vec<Arc<Rule>>> =
    LazyLock::new(|| built_in(include_str!("rules.md"), None));

/// A line of a file of rules that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RulesError {
    /// The line, counted from 1.
    pub line: usize,
    /// The key of the line, or the part of the rule that is incorrect.
    pub field: String,
    /// The expected value.
    pub wanted: String,
    /// The actual value.
    pub got: String,
}

impl fmt::Display for RulesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (line, field) = (self.line, &self.field);
        write!(
            f,
            "line {line}: {field}: wanted {}, got {}",
            self.wanted, self.got
        )
    }
}

impl std::error::Error for RulesError {}

/// An error of a line whose number the caller adds.
fn wrong(field: &str, wanted: impl Into<String>, got: impl Into<String>) -> RulesError {
    RulesError {
        line: 0,
        field: field.to_owned(),
        wanted: wanted.into(),
        got: got.into(),
    }
}

/// Reads a file of rules of this crate; a test reads all of them.
pub(crate) fn built_in(text: &'static str, examples: Option<FindExample>) -> Vec<Arc<Rule>> {
    let rules = read(text, Cow::Borrowed, examples);
    let mut rules = rules.unwrap_or_else(|error| unreachable!("{error}"));
    for rule in &mut rules {
        rule.id = RuleId::of(&rule.name).unwrap_or(rule.id);
    }
    rules.into_iter().map(Arc::new).collect()
}

/// Reads a file of rules. A line that is not in the form of the file, and a rule without severities, clause or
/// consequence, are errors, because the rule would be off without a word.
pub fn parse(text: &str, examples: Option<FindExample>) -> Result<Vec<Arc<Rule>>, RulesError> {
    let rules = read(text, |part| Cow::Owned(part.to_owned()), examples)?;
    Ok(rules.into_iter().map(Arc::new).collect())
}

/// Reads a file of rules, with the form in which its texts are stored.
fn read<'t>(
    text: &'t str,
    store: fn(&'t str) -> Cow<'static, str>,
    examples: Option<FindExample>,
) -> Result<Vec<Rule>, RulesError> {
    let mut rules: Vec<Rule> = Vec::new();
    let mut draft: Option<Draft<'t>> = None;
    for (line, text) in (1..).zip(text.lines()) {
        let at_line = |error| RulesError { line, ..error };
        if let Some(name) = text.strip_prefix("## ") {
            rules.extend(draft.take().map(Draft::finish).transpose()?);
            if rules.iter().any(|rule| rule.name == name) {
                return Err(at_line(wrong("name", "a new name", name)));
            }
            let rule = Rule {
                name: store(name),
                id: RuleId::own(u16::try_from(rules.len()).unwrap_or(u16::MAX)),
                examples,
                ..Rule::PLAIN
            };
            draft = Some(Draft {
                rule,
                line,
                keys: Vec::new(),
            });
        } else if !text.is_empty() && !text.starts_with("# ") {
            let draft = draft
                .as_mut()
                .ok_or_else(|| at_line(wrong("rule", "## and the name of the rule", text)))?;
            draft.line(text, store).map_err(at_line)?;
        }
    }
    rules.extend(draft.map(Draft::finish).transpose()?);
    Ok(rules)
}

/// A rule whose lines are being read.
struct Draft<'t> {
    rule: Rule,
    /// The line of the name.
    line: usize,
    /// The keys so far, and `consequence` for the paragraph.
    keys: Vec<&'t str>,
}

impl<'t> Draft<'t> {
    fn line(
        &mut self,
        text: &'t str,
        store: fn(&'t str) -> Cow<'static, str>,
    ) -> Result<(), RulesError> {
        let (key, value) = match text.strip_prefix("- ") {
            Some(item) => item
                .split_once(": ")
                .ok_or_else(|| wrong("item", "a key, a colon and a value", item))?,
            None => ("consequence", text),
        };
        if self.keys.contains(&key) {
            return Err(wrong(key, "it once", "it again"));
        }
        self.keys.push(key);
        set(&mut self.rule, key, value, store)
    }

    fn finish(self) -> Result<Rule, RulesError> {
        let required = ["document", "peers", "clause", "consequence"];
        match required.into_iter().find(|key| !self.keys.contains(key)) {
            Some(key) => Err(RulesError {
                line: self.line,
                ..wrong(key, format!("it in the rule {}", self.rule.name), "nothing")
            }),
            None => Ok(self.rule),
        }
    }
}

fn set<'t>(
    rule: &mut Rule,
    key: &str,
    value: &'t str,
    store: fn(&'t str) -> Cow<'static, str>,
) -> Result<(), RulesError> {
    let list = || value.split(", ");
    let severity = || {
        Severity::from_name(value)
            .ok_or_else(|| wrong(key, Severity::ALL.map(Severity::name).join(" or "), value))
    };
    let flag = || match value {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => Err(wrong(key, "true or false", value)),
    };
    let need = |name: &str| {
        let known = Need::ALL.into_iter().find(|need| need.name() == name);
        known.ok_or_else(|| wrong(key, Need::ALL.map(Need::name).join(" or "), name))
    };
    match key {
        "document" => rule.document = severity()?,
        "peers" => rule.peers = severity()?,
        "clause" => rule.clause = store(value),
        "implies" => rule.implies = list().map(store).collect(),
        "needs" => rule.needs = list().map(need).collect::<Result<_, _>>()?,
        "faults" => rule.faults = list().map(store).collect(),
        "unanswered" => rule.unanswered = flag()?,
        "harmless" => rule.harmless = flag()?,
        "consequence" => rule.why = store(value),
        _ => {
            let known = "document, peers, clause, implies, needs, faults, unanswered or harmless";
            return Err(wrong("key", known, key));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
