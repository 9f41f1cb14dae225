//! What messages change for whoever asks: what is owed, since when, and what was bad.

use super::{Asked, CONN};
use crate::conversation::Finding;
use crate::decoder::Decoded;
use crate::framing::Head;
use crate::live::client::{Event, Observer};
use crate::live::endpoint::{Endpoint, Received};
use crate::live::handler::Command;
use crate::protocol::Role;
use crate::protocol::peer::Readiness;
use crate::protocol::session::Severity;
use std::collections::{BTreeMap, BTreeSet};

/// What a message of the other side changes.
pub(super) struct State<'p> {
    pub(super) teller: Observer<'p>,
    pub(super) asked: Asked,
    /// Messages that are not answered for good, and when that last went on.
    pub(super) owed: BTreeMap<u64, i64>,
    /// The same, the one that waits the longest first.
    pub(super) oldest: BTreeSet<(i64, u64)>,
    /// The connection ends: what the session closes with it stays owed.
    pub(super) ends: bool,
    /// Messages that were said here, not by the protocol itself.
    pub(super) own: BTreeSet<u64>,
    /// When anything last passed: for the eye.
    pub(super) last: i64,
    /// When it last went on: something was said, or came that was waited for. Whoever waits, waits by this.
    pub(super) progressed: i64,
    /// How far the handshake has been, so that each step of it counts but once.
    pub(super) greeted: BTreeSet<&'static str>,
}

impl State<'_> {
    /// Something was said, or came that was waited for.
    pub(super) fn goes_on(&mut self, now: i64) {
        self.last = now;
        self.progressed = now;
    }

    /// A message is owed an answer since then, or no more.
    pub(super) fn owes(&mut self, index: u64, since: Option<i64>) {
        let before = match since {
            Some(since) => self.owed.insert(index, since),
            None => self.owed.remove(&index),
        };
        if let Some(before) = before {
            self.oldest.remove(&(before, index));
        }
        if let Some(since) = since {
            self.oldest.insert((since, index));
        }
    }

    /// A step of the handshake is something that was waited for, once.
    pub(super) fn greets(&mut self, endpoint: &Endpoint<'_>, now: i64) {
        let upto = match endpoint.readiness(CONN) {
            Readiness::Waits(what) => what,
            Readiness::Ready => "",
            Readiness::Refused(_) => return,
        };
        if self.greeted.insert(upto) {
            self.goes_on(now);
        }
    }

    pub(super) fn hear(&mut self, heard: &Received<'_>, now: i64, commands: &mut Vec<Command>) {
        let decoded = heard.decoded;
        let role = decoded.message.role;
        let passive = matches!(role, Some(Role::Heartbeat | Role::Control));
        if passive && is_refusal(decoded) {
            self.asked.bad += 1;
            (self.teller)(Event::Received(decoded, heard.verdict), commands);
        }
        if decoded.frame.control.is_some() || passive {
            return;
        }
        self.last = now;
        let mut findings = heard.verdict.findings.iter();
        let is_error = |finding: &Finding| finding.severity == Severity::Error;
        if role == Some(Role::Error) || decoded.is_faulty() || findings.any(is_error) {
            self.asked.bad += 1;
        }
        let answer = heard.verdict.answer;
        if let Some(answer) = answer
            && self.owed.contains_key(&answer.to)
        {
            self.progressed = now;
            self.owes(answer.to, (!answer.last).then_some(now));
        }
        // What the protocol says of its own is nobody's answer, unless it is a no.
        let own = answer.is_some_and(|answer| self.own.contains(&answer.to));
        let push = answer.is_none() && heard.replies.is_empty() && role != Some(Role::Hello);
        if own || push || role == Some(Role::Error) {
            (self.teller)(Event::Received(decoded, heard.verdict), commands);
        }
    }
}

/// Whether HTTP itself says no: to a message that nobody reads there is no other answer.
fn is_refusal(decoded: &Decoded<'_>) -> bool {
    matches!(
        decoded.frame.head,
        Head::Http {
            status: 400..,
            event: false,
            ..
        }
    )
}
