//! Reports messages that cannot be read, and calls that failed.

use super::of_protocol::ProtocolConversation;
use crate::decoder::Decoded;
use crate::escape::shorten;
use crate::framing::fields::{text_secrets, without};
use crate::protocol::rule_names::common as rule;
use crate::protocol::session::{Place, RuleId, broken, name_of};
use crate::protocol::{Role, with_name};
use crate::tape::Node;

/// The maximum length of the text of a failure, in characters. Lines show less of it.
const MAX_TEXT: usize = 4096;

impl ProtocolConversation<'_> {
    /// Returns the rule that covers a fault.
    pub(super) fn rule_of_fault(&self, code: &str) -> RuleId {
        let rules = self.protocol.map_or(&[][..], |p| p.behavior().rules());
        let own = rules
            .iter()
            .find(|r| r.faults.iter().any(|own| own == code));
        own.map_or(rule::MALFORMED, |r| r.id)
    }

    /// Reports a message that says that its call failed.
    pub(super) fn report_failure(&mut self, decoded: &Decoded<'_>) {
        let message = decoded.message;
        let Some(outcome) = message.outcome.as_ref().filter(|_| message.failed) else {
            return;
        };
        // Errors in a batch are answers of their own.
        if message.kind == "batch" {
            return;
        }
        // Without error answers, this is how the protocol reports errors.
        let kinds = decoded.protocol.kinds();
        if !kinds.iter().any(|kind| kind.role == Some(Role::Error)) {
            return;
        }
        let answer = self.report.answer.as_ref();
        let subject = answer.map_or(message.subject.as_deref(), |answer| {
            answer.subject.as_deref()
        });
        let about = with_name(subject, name_of(message, answer));
        // The name of a request, such as a URI, is not masked with the values of its answer.
        let about = without(&about, &text_secrets(about.as_bytes()));
        let what = if about.is_empty() { "the call" } else { &about };
        let root = decoded.root();
        let content = root.and_then(|root| decoded.protocol.content(root, message));
        let text = content.and_then(Node::text);
        let why = text.map(|text| format!(": {}", shorten(&text, MAX_TEXT)));
        let text = format!("{what} failed ({outcome}){}", why.unwrap_or_default());
        let whole = decoded.seen().whole();
        let place = outcome.span.map_or(whole, |span| Place {
            offset: decoded.frame.view.locate(span.at()),
            len: u64::from(span.len),
            ..whole
        });
        broken!(self.report, rule::CALL_FAILED, place; "{text}");
    }
}
