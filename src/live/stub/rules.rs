//! Finds the rule that answers a message.
//!
//! ```text
//!   message --> rules in order: `match` is true, or nothing else answers it
//!           --> rules with a `request` that the message repeats
//! ```

use super::AnswerSource;
use super::dispatch::{Decision, Dispatcher, Job};
use super::sender::Sender;
use crate::conversation::Verdict;
use crate::decoder::Decoded;
use crate::diff::StoredMessage;
use crate::live::script::value::OpenValue;
use crate::live::script::{Reply, RuleCondition, RulePlace, ScriptAction, ScriptRule, value};
use crate::protocol::Role;
use crate::protocol::peer::{Outgoing, Request};
use std::collections::BTreeSet;
use std::sync::Arc;

impl Dispatcher {
    /// Returns the number of the rule that answers a message; otherwise the rule that is used up, and the reason why no
    /// recorded request matches.
    pub(super) fn choose(
        &mut self,
        decoded: &Decoded<'_>,
        verdict: Verdict<'_>,
        is_unanswered: bool,
    ) -> Result<usize, (Option<usize>, Option<String>)> {
        let mut spent = None;
        for (at, rule) in self.rules.iter().enumerate() {
            let fits = match &rule.condition {
                RuleCondition::Unanswered => is_unanswered,
                RuleCondition::Expr(when) => when.holds(decoded, Some(verdict), &mut self.scratch),
                RuleCondition::Request(_) => false,
            };
            if !fits {
                continue;
            }
            let asked = self.report.usage(at).map_or(0, |usage| usage.asked);
            if rule.times.is_some_and(|times| asked >= times) {
                spent = Some(at);
                continue;
            }
            return Ok(at);
        }
        let role = decoded.message.role;
        let asks = matches!(role, Some(Role::Request | Role::Notification));
        if !asks || decoded.protocol.is_hello(decoded.message) || self.matcher.is_empty() {
            return Err((spent, None));
        }
        let request = StoredMessage::of(decoded, None);
        let found = self.matcher.find(decoded.protocol, &self.rules, &request);
        found.map_err(|why| (spent, Some(why).filter(|_| role == Some(Role::Request))))
    }

    /// Replaces the protocol's answer to a hello by that of the script.
    pub(super) fn replace_hello(
        &self,
        what: &str,
        decoded: &Decoded<'_>,
        replies: &mut Vec<Outgoing>,
    ) {
        let hello = self.hellos.iter().find(|hello| hello.to == what);
        let Some((hello, message)) = hello.and_then(|hello| Some((hello, hello.message.as_ref()?)))
        else {
            return;
        };
        let sender = Sender::to(decoded);
        let is_error = |outgoing: &Outgoing| sender.is_error(&outgoing.message);
        let fill = |message: &OpenValue, request: &str| {
            message.fill(&value::Fill {
                request,
                ..value::Fill::default()
            })
        };
        let reply = replies
            .iter_mut()
            .find(|outgoing| !outgoing.is_fixed && !is_error(outgoing));
        if let Some(reply) = reply {
            if let Ok(message) = fill(message, &reply.message) {
                let to = sender.exchange_of(&message, &reply.message);
                reply.to = to.or_else(|| reply.to.take());
                reply.message = message;
            }
            return;
        }
        // A recorded session goes on, or is refused, as it was recorded, whatever this side knows of it.
        let is_unknown = replies.iter().any(|outgoing| outgoing.is_unknown);
        let is_known = !replies.is_empty() && replies.iter().all(|outgoing| outgoing.is_fixed);
        let request = decoded.message_text();
        let conn = decoded.origin.conn.unwrap_or_default();
        let Ok(reply) = fill(message, &request) else {
            return;
        };
        let mut reply = Outgoing::new(conn, reply);
        let refuses = is_error(&reply);
        if is_unknown || is_known && refuses {
            reply.closes = refuses && is_unknown;
            let before = hello.before.iter().filter(|_| !refuses);
            let before = before.filter_map(|message| fill(message, &request).ok());
            let before = before.map(|message| Outgoing::new(conn, message));
            *replies = before.chain([reply]).collect();
        }
    }

    /// Returns the job that follows the answer to a hello.
    pub(super) fn after_hello(&self, what: &str, decoded: &Decoded<'_>) -> Option<Job> {
        let hello = self.hellos.iter().find(|hello| hello.to == what)?;
        (!hello.then.is_empty()).then(|| Job {
            actions: Arc::clone(&hello.then),
            place: what.into(),
            is_hello: true,
            ..Job::of(Request::of(&decoded.seen()))
        })
    }

    /// Decides that a rule answers a message.
    pub(super) fn answer_by_rule(
        &mut self,
        at: usize,
        decoded: &Decoded<'_>,
        verdict: Verdict<'_>,
        mut replies: Vec<Outgoing>,
    ) -> Decision {
        let mut job = Job::of(Request::of(&decoded.seen()));
        let Some((rule, usage)) = self.rules.get(at).zip(self.report.usage(at)) else {
            return Decision::Replies(replies);
        };
        usage.asked += 1;
        job.count = usage.asked;
        job.actions = Arc::clone(&rule.actions);
        self.report.requests += 1;
        let mut before = Vec::new();
        let is_recorded = matches!(rule.condition, RuleCondition::Request(_));
        let is_end = |outgoing: &Outgoing| outgoing.closes && outgoing.message.is_empty();
        if is_recorded && decoded.message.role != Some(Role::Request) && replies.iter().any(is_end)
        {
            // The messages that were recorded after this one are still sent.
            let actions = rule.actions.iter().cloned();
            job.actions = actions.chain([ScriptAction::Close]).collect();
        }
        if !rule.answers {
            // An acknowledgement goes before the rule's messages; a refusal is dropped.
            let sender = Sender::to(decoded);
            replies.retain(|outgoing| !rule.goes_on || !sender.is_error(&outgoing.message));
            before = replies;
        }
        let source = match &rule.place {
            RulePlace::Recorded(index) => {
                job.recorded = Some(*index);
                job.place = format!("recorded #{index}").into();
                AnswerSource::Recorded(*index)
            }
            RulePlace::Script(place) => {
                job.place = Arc::clone(place);
                AnswerSource::Rule(place)
            }
        };
        self.watch.received(decoded, verdict, source);
        Decision::Start(before, Box::new(job))
    }

    /// Returns `true` if a rule sends a notification about a topic, or may do so.
    pub(super) fn may_notify(&self, topic: &str) -> bool {
        let actions = self.rules.iter().flat_map(|rule| rule.actions.iter());
        let mut topics = actions.filter_map(|action| match action {
            ScriptAction::SendReply(Reply::Tell(topic, _), _) => Some(topic),
            _ => None,
        });
        topics.any(|sent| match sent.fill_text(&value::Fill::default()) {
            Ok(sent) => sent == topic,
            // It depends on the request.
            Err(_) => true,
        })
    }
}

/// Returns `true` if a rule waits for a message about its request.
pub(super) fn reads_more(rules: &[ScriptRule]) -> bool {
    let mut actions = rules.iter().flat_map(|rule| rule.actions.iter());
    actions.any(|action| matches!(action, ScriptAction::AwaitMessage(_)))
}

/// Returns the recorded requests that rules wait for.
pub(super) fn awaited_requests(rules: &[ScriptRule]) -> BTreeSet<u64> {
    let actions = rules.iter().flat_map(|rule| rule.actions.iter());
    let awaited = actions.filter_map(|action| match action {
        ScriptAction::AwaitRequest(awaited) => Some(awaited.index),
        _ => None,
    });
    awaited.collect()
}
