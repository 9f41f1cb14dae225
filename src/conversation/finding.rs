//! A rule that was broken, with its severity.

use super::full_name;
use crate::protocol::session::{Place, Rule, Severity};

/// A rule that was broken, judged.
#[derive(Clone, Debug)]
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
