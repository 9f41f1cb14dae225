//! Findings, and what there is to say of a message.

use super::full_name;
use crate::protocol::session::{Answer, Place, Rule, Severity};

/// A rule that was broken, judged.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Finding {
    /// Whose rule it is.
    pub protocol: &'static str,
    /// The rule.
    pub rule: &'static Rule,
    /// How bad that is, for this user.
    pub severity: Severity,
    /// Where.
    pub place: Place,
    /// One sentence: what is there, and what should be.
    pub text: String,
    /// Another message that it has to do with.
    pub related: Option<u64>,
}

impl Finding {
    /// `saikuro/seq-gap`.
    pub fn name(&self) -> String {
        full_name(self.protocol, self.rule)
    }
}

/// What there is to say of a message, beside what it holds.
#[derive(Clone, Copy, Default)]
#[non_exhaustive]
pub struct Verdict<'a> {
    /// Rules that were broken. Most are about this message; those that had to wait say by their place which they mean.
    pub findings: &'a [Finding],
    /// What it answers.
    pub answer: Option<&'a Answer>,
}
