//! Messages that end before their end: the next bytes show whether their length is the cause.
//!
//! ```text
//!   Content-Length: 216  {... 216 bytes   wanted a closing quote, got the end      held
//!   7 bytes ...}                          these bytes end the previous message     its cause
//! ```
//!
//! The finding about the message waits for the next bytes of its direction, and gets the cause from them: the first
//! finding names it.

use super::{Finding, MAX_HELD};
use crate::decoder::{Decoded, REST_OF_PREVIOUS};
use crate::framing::Head;
use crate::protocol::{Lane, Origin};
use std::collections::BTreeMap;

/// Findings about messages that end early, by their stream and direction.
#[derive(Default)]
pub(super) struct ShortMessages(BTreeMap<Lane, Vec<Finding>>);

impl ShortMessages {
    /// Holds the findings about a message that ends early, and releases those about the message before it.
    pub(super) fn exchange(&mut self, decoded: &Decoded<'_>, findings: &mut Vec<Finding>) {
        let before = self.release_before(decoded);
        let code = decoded.message.faults.first().map(|fault| fault.code);
        // A character may be cut in two.
        let ends_early = matches!(decoded.frame.head, Head::Length(_))
            && decoded.frame.fault.is_none()
            && matches!(code, Some("ends-early" | "bad-utf8"));
        if ends_early && self.0.len() < MAX_HELD {
            let own = |finding: &mut Finding| finding.place.index == decoded.index;
            let own = findings.extract_if(.., own).collect();
            self.0.insert(decoded.origin.lane(), own);
        }
        if !before.is_empty() {
            findings.splice(0..0, before);
        }
    }

    /// Returns the findings about the message before this one, with their cause if this one shows it.
    fn release_before(&mut self, decoded: &Decoded<'_>) -> Vec<Finding> {
        if self.0.is_empty() {
            return Vec::new();
        }
        let mut before = self.0.remove(&decoded.origin.lane()).unwrap_or_default();
        let fault = decoded.frame.fault.as_ref();
        let hint = fault.and_then(|fault| fault.error.hint.as_deref());
        if let Some(cause) = hint.and_then(|hint| hint.strip_prefix(REST_OF_PREVIOUS))
            && let Some(first) = before.first_mut()
        {
            first.text.push_str(&format!(" ({cause})"));
        }
        before
    }

    /// Returns the findings about messages of a connection after which nothing comes.
    pub(super) fn end(&mut self, origin: Origin) -> Vec<Finding> {
        let lanes: Vec<Lane> = self.0.keys().copied().collect();
        let ended = lanes.iter().filter(|lane| lane.conn == origin.conn);
        ended
            .filter_map(|lane| self.0.remove(lane))
            .flatten()
            .collect()
    }

    /// Returns all findings.
    pub(super) fn finish(&mut self) -> Vec<Finding> {
        let held = std::mem::take(&mut self.0);
        held.into_values().flatten().collect()
    }
}
