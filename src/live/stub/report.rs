//! What a stub was asked, and what it never was.

use crate::live::script::Rule;
use crate::live::script::recorded::Exchanges;
use serde::Serialize;

/// Misses that are told one by one; more are counted.
const MISSES: usize = 1000;
/// Complaints that are told in a second; more are counted.
const COMPLAINTS: u32 = 100;
const SECOND: i64 = 1_000_000_000;

/// Bounds what is told of other sides that ask for nothing sensible.
#[derive(Debug, Default)]
pub(super) struct RateLimit {
    since: Option<i64>,
    told: u32,
    untold: u64,
}

impl RateLimit {
    /// Whether one more may be told now.
    pub(super) fn allows(&mut self, now: i64) -> bool {
        let is_over = |since: i64| !(since..since.saturating_add(SECOND)).contains(&now);
        if self.since.is_none_or(is_over) {
            (self.since, self.told) = (Some(now), 0);
        }
        let allows = self.told < COMPLAINTS;
        if allows {
            self.told += 1;
        } else {
            self.untold += 1;
        }
        allows
    }

    /// How many were not told, in words, where the second in which that was is over.
    pub(super) fn untold(&mut self, now: Option<i64>) -> Option<String> {
        let due = self.due();
        if due.is_none() || now.zip(due).is_some_and(|(now, due)| now < due) {
            return None;
        }
        let count = std::mem::take(&mut self.untold);
        Some(format!(
            "{count} more complaints in that second are not shown"
        ))
    }

    /// When that second is over.
    pub(super) fn due(&self) -> Option<i64> {
        let since = self.since.filter(|_| self.untold > 0)?;
        Some(since.saturating_add(SECOND))
    }
}

/// What was asked so far.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Report {
    /// The protocol that was spoken.
    pub protocol: &'static str,
    /// Requests that were for the script or the recording to answer.
    pub requests: u64,
    /// Of these, answered.
    pub answered: u64,
    /// Of these, without an answer.
    pub missed: u64,
    /// Each of them, up to a thousand.
    pub misses: Vec<Missed>,
    /// The rules of the script.
    pub rules: Vec<Usage>,
    /// The requests of the recording.
    pub recorded: Vec<Usage>,
    /// Rules and recorded requests that were never asked for.
    pub never: u64,
}

/// A request that nobody had an answer for.
#[derive(Clone, Debug, Serialize)]
pub struct Missed {
    /// Counts all messages of both sides.
    pub index: u64,
    /// On which connection.
    pub conn: u32,
    /// `invoke pow`.
    pub what: String,
    /// In words.
    pub why: String,
}

/// How often something was asked for.
#[derive(Clone, Debug, Serialize)]
pub struct Usage {
    /// Where it stands.
    pub place: String,
    /// What it is about.
    #[serde(rename = "match")]
    pub about: String,
    /// How often.
    pub asked: u64,
}

impl Report {
    pub(super) fn new(
        protocol: &'static str,
        rules: &[Rule],
        exchanges: Option<&Exchanges>,
    ) -> Self {
        let usage = |rule: &Rule| Usage {
            place: rule.place.clone(),
            about: rule
                .when
                .as_ref()
                .map_or_else(String::new, ToString::to_string),
            asked: 0,
        };
        let recorded = exchanges
            .map_or(&[][..], |exchanges| &exchanges.entries)
            .iter();
        let recorded = recorded.map(|entry| Usage {
            place: format!("#{}", entry.index),
            about: entry.what.clone(),
            asked: 0,
        });
        Self {
            protocol,
            recorded: recorded.collect(),
            rules: rules.iter().map(usage).collect(),
            ..Self::default()
        }
    }

    pub(super) fn miss(&mut self, index: u64, conn: u32, what: &str, why: &str) {
        self.missed += 1;
        if self.misses.len() < MISSES {
            self.misses.push(Missed {
                index,
                conn,
                what: what.to_owned(),
                why: why.to_owned(),
            });
        }
    }

    /// What was never asked for.
    pub fn never(&self) -> impl Iterator<Item = &Usage> {
        let all = self.rules.iter().chain(&self.recorded);
        all.filter(|usage| usage.asked == 0)
    }

    /// As JSON, over several lines.
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
