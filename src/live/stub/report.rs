//! Counts the requests that a stub received, and those that it did not.

use super::matcher::RequestMatcher;
use crate::live::script::{RuleCondition, RulePlace, ScriptRule};
use serde::{Serialize, Serializer};
use std::sync::Arc;

/// The maximum number of misses in a report; further ones are only counted.
const MAX_MISSES: usize = 1000;
/// The maximum number of messages per second; further ones are only counted.
const MAX_PER_SECOND: u32 = 100;
const SECOND: i64 = 1_000_000_000;

/// The source of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnswerSource<'f> {
    /// A rule of the script: its position.
    Rule(&'f str),
    /// A recorded request: its index.
    Recorded(u64),
    /// The protocol itself.
    Protocol,
    /// There is no answer: the reason.
    UnansweredRequest(&'f str),
}

/// Limits the messages about wrong requests.
#[derive(Debug, Default)]
pub(super) struct RateLimit {
    since: Option<i64>,
    reported: u32,
    suppressed: u64,
}

impl RateLimit {
    /// Returns `true` if one more message is allowed now.
    pub(super) fn allows(&mut self, now: i64) -> bool {
        let is_over = |since: i64| !(since..since.saturating_add(SECOND)).contains(&now);
        if self.since.is_none_or(is_over) {
            (self.since, self.reported) = (Some(now), 0);
        }
        let allows = self.reported < MAX_PER_SECOND;
        if allows {
            self.reported += 1;
        } else {
            self.suppressed += 1;
        }
        allows
    }

    /// Returns a note about suppressed messages once their second is over.
    pub(super) fn suppressed_note(&mut self, now: Option<i64>) -> Option<String> {
        let due = self.due();
        if due.is_none() || now.zip(due).is_some_and(|(now, due)| now < due) {
            return None;
        }
        let count = std::mem::take(&mut self.suppressed);
        Some(format!(
            "{count} more messages of this second are not shown"
        ))
    }

    /// Returns the end of that second.
    pub(super) fn due(&self) -> Option<i64> {
        let since = self.since.filter(|_| self.suppressed > 0)?;
        Some(since.saturating_add(SECOND))
    }
}

/// The requests so far.
#[derive(Clone, Debug, Default, Serialize)]
pub struct StubReport {
    /// The protocol.
    pub protocol: String,
    /// The number of requests that the script must answer.
    pub requests: u64,
    /// The number of these with an answer.
    pub answered: u64,
    /// The number of these without an answer.
    pub missed: u64,
    /// The first 1000 of them.
    pub misses: Vec<UnansweredRequest>,
    /// The number of further requests that open a session.
    #[serde(skip)]
    pub hellos: u64,
    /// The rules of the script.
    pub rules: Vec<Usage>,
    /// The rules with a recorded request.
    pub recorded: Vec<Usage>,
    /// Rules and recorded requests that were not requested.
    pub never: u64,
    /// For each rule, `true` if its uses are in `recorded`, and its position there.
    #[serde(skip)]
    positions: Box<[(bool, u32)]>,
}

/// A request without an answer.
#[derive(Clone, Debug, Serialize)]
pub struct UnansweredRequest {
    /// The index among all messages of both sides.
    pub index: u64,
    /// The connection.
    pub conn: u32,
    /// `invoke pow`.
    pub what: String,
    /// The reason.
    pub why: String,
}

fn write_text<S: Serializer>(text: &str, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(text)
}

/// The number of uses of a rule.
#[derive(Clone, Debug, Serialize)]
pub struct Usage {
    /// Its position.
    pub place: RulePlace,
    /// Its condition.
    #[serde(rename = "match", serialize_with = "write_text")]
    pub about: Arc<str>,
    /// The number of uses.
    pub asked: u64,
}

impl StubReport {
    pub(super) fn new(protocol: &str, rules: &[ScriptRule], matcher: &RequestMatcher) -> Self {
        // Lists that grow have unused space.
        let is_recorded = |rule: &&ScriptRule| matches!(rule.place, RulePlace::Recorded(_));
        let recorded = rules.iter().filter(is_recorded).count();
        let mut report = Self {
            protocol: protocol.to_owned(),
            rules: Vec::with_capacity(rules.len() - recorded),
            recorded: Vec::with_capacity(recorded),
            ..Self::default()
        };
        let mut positions = Vec::with_capacity(rules.len());
        for (at, rule) in rules.iter().enumerate() {
            let about = match &rule.condition {
                RuleCondition::Unanswered => Arc::default(),
                RuleCondition::Expr(when) => when.to_string().into(),
                RuleCondition::Request(_) => matcher.what(at).unwrap_or_default(),
            };
            let is_recorded = is_recorded(&rule);
            let list = if is_recorded {
                &mut report.recorded
            } else {
                &mut report.rules
            };
            positions.push((is_recorded, list.len() as u32));
            list.push(Usage {
                place: rule.place.clone(),
                about,
                asked: 0,
            });
        }
        report.positions = positions.into();
        report
    }

    /// Returns the uses of a rule, given its number.
    pub(super) fn usage(&mut self, rule: usize) -> Option<&mut Usage> {
        let (is_recorded, at) = *self.positions.get(rule)?;
        let list = if is_recorded {
            &mut self.recorded
        } else {
            &mut self.rules
        };
        list.get_mut(at as usize)
    }

    pub(super) fn miss(&mut self, index: u64, conn: u32, what: &str, why: &str) {
        self.missed += 1;
        if self.misses.len() < MAX_MISSES {
            self.misses.push(UnansweredRequest {
                index,
                conn,
                what: what.to_owned(),
                why: why.to_owned(),
            });
        }
    }

    /// Returns the rules that were not used.
    pub fn never(&self) -> impl Iterator<Item = &Usage> {
        let all = self.rules.iter().chain(&self.recorded);
        all.filter(|usage| usage.asked == 0)
    }

    /// Returns the report as JSON over several lines.
    pub fn to_json(&self) -> String {
        let report = Self {
            never: self.never().count() as u64,
            ..self.clone()
        };
        let mut text = serde_json::to_string_pretty(&report).unwrap_or_default();
        text.push('\n');
        text
    }
}
