//! Findings, and the verdict about a message.

use super::{MessageOperation, Operation, full_name};
use crate::protocol::session::{Answer, Place, Rule, Severity, SubscriptionChange};
use std::sync::Arc;

/// A broken rule with its severity.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Finding {
    /// The protocol of the rule.
    pub protocol: Arc<str>,
    /// The rule.
    pub rule: Arc<Rule>,
    /// The severity, as set by the user.
    pub severity: Severity,
    /// The position.
    pub place: Place,
    /// One sentence: the actual and the expected state.
    pub text: String,
    /// Another message that is involved.
    pub related: Option<u64>,
}

impl Finding {
    /// `saikuro/seq-gap`.
    pub fn name(&self) -> String {
        full_name(&self.protocol, &self.rule)
    }
}

/// The result of the checks of a message.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct Verdict<'a> {
    /// Broken rules. Most are about this message; delayed ones name their message by their place.
    pub findings: &'a [Finding],
    /// The request that it answers.
    pub answer: Option<&'a Answer>,
    /// The request that it asks to cancel.
    pub cancels: Option<u64>,
    /// The earlier message that it repeats, since its client resumes an event stream.
    pub(crate) repeats: Option<u64>,
    /// A number of its session over HTTP.
    pub(crate) session: Option<u64>,
    /// The subscriptions that begin or end.
    pub subscriptions: &'a [SubscriptionChange],
    /// The operation of the message, if operations are asked for.
    pub operation: Option<MessageOperation>,
    /// The operations that end.
    pub ended: &'a [Operation],
    /// The client of its connection, as it names itself.
    pub client: Option<&'a str>,
    /// The short name of its capture, if several are one conversation.
    pub source: Option<&'a str>,
    /// The findings are left out, so faults are shown by themselves.
    pub(crate) without_findings: bool,
}

impl Verdict<'_> {
    /// Returns only what it says about the request.
    #[cfg(feature = "cli")]
    pub(crate) fn without_findings(self) -> Self {
        Self {
            findings: &[],
            without_findings: true,
            ..self
        }
    }
}
