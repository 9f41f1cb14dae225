//! The phases of calls, on any connection.
//!
//! ```text
//!   OriginateRequest -> OriginateResponse -> CREATE --> ANSWER -> (HOLD, RESUME)* -> HANGUP_COMPLETE
//!   Announced           Made                 Created    Answered                     Over
//! ```

use super::recent::RecentTable;
use super::shape::quote_text;
use crate::encoding::serde_envelope::FIELDS;
use crate::protocol::rule_names::telequick as rule;
use crate::protocol::session::memory::RecentEntries;
use crate::protocol::session::{Current, Link, broken};
use crate::protocol::telequick::schema::{FieldMark, Schema, member, name};
use crate::protocol::{Direction, Role};
use crate::tape::Node;

/// All tracked calls.
pub(super) struct PhoneCalls<'s> {
    schema: &'s Schema,
    /// Fields that are zero until a call is over.
    at_end: Vec<&'s str>,
    by_sid: RecentTable<PhoneCall>,
    /// The events of a call that each connection received.
    reported: RecentTable<ReportedEvents>,
    /// Messages that may have created calls are missing.
    pub partial: bool,
    /// Requests that belong to a call.
    requests: RecentEntries<u64, ()>,
}

#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd)]
enum CallPhase {
    #[default]
    Announced,
    Made,
    Created,
    Answered,
    Over,
}

struct PhoneCall {
    phase: CallPhase,
    /// The message that caused the phase.
    by: u64,
    /// The message that begins the operation, if there is one.
    first: Option<u64>,
}

/// The events of one call so far.
#[derive(Default)]
struct ReportedEvents {
    phase: CallPhase,
    held: Option<bool>,
    last: u64,
}

impl<'s> PhoneCalls<'s> {
    pub fn new(schema: &'s Schema, capacity: usize) -> Self {
        Self {
            schema,
            at_end: schema.marked(&FieldMark::Final).collect(),
            by_sid: RecentTable::with_capacity(capacity),
            reported: RecentTable::with_capacity(capacity),
            partial: false,
            requests: RecentEntries::default(),
        }
    }

    /// Records calls of a message, and checks that it may refer to them; `opened` is set if its connection is known
    /// from the start.
    pub fn record(&mut self, fields: Node<'_>, opened: bool, seen: Current<'_, '_>) {
        let index = seen.index;
        let sid = fields.get(name::CALL);
        match (seen.message.kind.as_ref(), sid) {
            (name::EVENT, Some(sid)) => self.event(sid, fields, seen),
            (name::AUDIO, Some(sid)) if seen.origin.direction == Some(Direction::ToServer) => {
                self.report_early(sid, opened, seen);
            }
            // These name calls that other peers may have made.
            (
                name::AUDIO
                | "AnswerIncomingCallRequest"
                | "SuperviseSubscribeRequest"
                | "AllocateWtRequest",
                Some(sid),
            ) => {
                self.record_call(sid.raw_text(), CallPhase::Made, index);
            }
            ("OriginateRequest", Some(sid)) if !sid.raw_text().is_empty() => {
                self.record_call(sid.raw_text(), CallPhase::Announced, index);
            }
            ("OriginateResponse", Some(sid)) => {
                let code = fields.get(name::ERROR).and_then(Node::as_i128);
                self.originated(sid.raw_text(), code, index);
            }
            ("GetIncomingCallsResponse", _) => {
                let calls = fields.get("calls");
                for call in calls.into_iter().flat_map(Node::children) {
                    let call = member(call, FIELDS).unwrap_or(call);
                    if let Some(sid) = call.get(name::CALL) {
                        self.record_call(sid.raw_text(), CallPhase::Made, index);
                    }
                }
            }
            ("BucketCallList", _) => {
                // One string; no document defines the separator of several ids.
                let list = fields.get("call_sids").map_or(&b""[..], Node::raw_text);
                for sid in list.split(|b| matches!(b, b',' | b';' | b' ' | b'\n')) {
                    if !sid.is_empty() {
                        self.record_call(sid, CallPhase::Made, index);
                    }
                }
            }
            (kind @ ("BargeRequest" | "TerminateRequest" | name::DIALPLAN), Some(sid)) => {
                self.report_early(sid, opened, seen);
                self.check_phase(sid, kind, fields, seen);
            }
            _ => {}
        }
        self.link(sid, seen);
    }

    /// Links a message to the call that it names. An answer to a request about the call does not end it.
    fn link(&mut self, sid: Option<Node<'_>>, seen: Current<'_, '_>) {
        let answered = seen.report().answer.as_ref().map(|answer| answer.to);
        let is_about = answered.is_some_and(|request| self.requests.remove(&request).is_some());
        let sid = sid.map(Node::raw_text).filter(|sid| !sid.is_empty());
        let Some(call) = sid.and_then(|sid| self.by_sid.get(sid)) else {
            if is_about {
                seen.operation().ends = Some(false);
            }
            return;
        };
        let is_request = seen.message.role == Some(Role::Request);
        match (call.first, answered) {
            (Some(first), _) => seen.part_of(first, Link::Recorded),
            // The request did not know the id of its call.
            (None, Some(request)) if seen.message.role == Some(Role::Response) => {
                call.first = Some(request);
            }
            // An event belongs to its subscription.
            (None, Some(_)) => return,
            (None, None) => call.first = Some(seen.index),
        }
        let is_hangup = call.phase == CallPhase::Over && call.by == seen.index;
        if is_request {
            self.requests.insert(seen.index, ());
        } else if is_hangup {
            seen.operation().ends = Some(true);
        } else if call.phase != CallPhase::Over
            && (is_about || answered.is_none() || call.first == answered)
        {
            seen.operation().ends = Some(false);
        }
    }

    /// Records a call that may be known already.
    fn record_call(&mut self, sid: &[u8], phase: CallPhase, by: u64) {
        match self.by_sid.get(sid) {
            Some(call) if call.phase == CallPhase::Announced && phase != CallPhase::Announced => {
                *call = PhoneCall { phase, by, ..*call };
            }
            Some(call) if call.phase != CallPhase::Over || phase != CallPhase::Announced => {}
            _ => self.begin_call(sid, phase, by),
        }
    }

    /// Stores a call, in place of an earlier one with this id.
    fn begin_call(&mut self, sid: &[u8], phase: CallPhase, by: u64) {
        let first = None;
        self.by_sid.put(sid, PhoneCall { phase, by, first });
    }

    /// Stores the phase of the call with this id.
    fn set_phase(&mut self, sid: &[u8], phase: CallPhase, by: u64) {
        let first = self.by_sid.get(sid).and_then(|call| call.first);
        self.by_sid.put(sid, PhoneCall { phase, by, first });
    }

    fn originated(&mut self, sid: &[u8], code: Option<i128>, by: u64) {
        match code {
            Some(0) | None => self.record_call(sid, CallPhase::Made, by),
            Some(_) => {
                self.set_phase(sid, CallPhase::Over, by);
                self.by_sid.finish_entry(sid);
            }
        }
    }

    /// Reports a call that should exist before this message.
    fn report_early(&mut self, sid: Node<'_>, opened: bool, seen: Current<'_, '_>) {
        let kind = &seen.message.kind;
        let by = seen.index;
        let phase = CallPhase::Made;
        match self.by_sid.get(sid.raw_text()) {
            Some(call) if call.phase == CallPhase::Announced => {
                let asked = call.by;
                *call = PhoneCall { phase, by, ..*call };
                broken!(seen, rule::CALL_TOO_EARLY, seen.at(sid), asked;
                    "{kind} names call {}; #{asked} requests it, but no message confirms it",
                    quote_text(sid));
            }
            Some(_) => {}
            None => {
                self.begin_call(sid.raw_text(), phase, by);
                if opened && !self.partial && !self.by_sid.dropped_unfinished {
                    broken!(seen, rule::UNKNOWN_CALL, seen.at(sid);
                        "{kind} names call {}, but no message creates it", quote_text(sid));
                }
            }
        }
    }

    /// Checks that the phase of a call allows the request.
    fn check_phase(&mut self, sid: Node<'_>, kind: &str, fields: Node<'_>, seen: Current<'_, '_>) {
        let Some(&mut PhoneCall { phase, by, .. }) = self.by_sid.get(sid.raw_text()) else {
            return;
        };
        let action = fields.get(name::ACTION);
        let verb = action.filter(|action| {
            let word = action.text().unwrap_or_default();
            self.schema.is_marked("", &word, &FieldMark::Answered)
        });
        match (phase, verb) {
            (CallPhase::Over, _) => {
                broken!(seen, rule::CALL_OVER, seen.at(sid), by;
                    "{kind} names call {}, which #{by} ended", quote_text(sid));
            }
            (CallPhase::Created, Some(verb)) => {
                let name = verb.text().unwrap_or_default();
                broken!(seen, rule::VERB_TOO_EARLY, seen.at(verb), by;
                    "{name} needs an answered call, but {} was only created, by #{by}",
                    quote_text(sid));
            }
            _ => {}
        }
    }

    fn event(&mut self, sid: Node<'_>, fields: Node<'_>, seen: Current<'_, '_>) {
        let Some(kind) = fields.get("event_type") else {
            return;
        };
        let event = kind.text().unwrap_or_default();
        check_times(fields, seen);
        let (phase, turn) = match event.as_ref() {
            "CHANNEL_CREATE" => (CallPhase::Created, None),
            "CHANNEL_ANSWER" => (CallPhase::Answered, None),
            "CHANNEL_HOLD" => (CallPhase::Answered, Some(true)),
            "CHANNEL_RESUME" => (CallPhase::Answered, Some(false)),
            "CHANNEL_HANGUP_COMPLETE" => (CallPhase::Over, None),
            "UNKNOWN" => {
                return broken!(seen, rule::UNKNOWN_EVENT, seen.at(kind);
                    "event_type is 0, UNKNOWN: no event has it");
            }
            _ => return,
        };
        if phase != CallPhase::Over
            && let Some((name, early)) = self.at_end.iter().find_map(|name| {
                let value = fields.get(name)?;
                // An invalid double has its own finding.
                let set = value.as_i128().is_none_or(|n| n != 0);
                set.then_some((name, value))
            })
        {
            broken!(seen, rule::EARLY_STATISTICS, seen.at(early);
                "{name} is set, though the call is not over");
        }
        let by = seen.index;
        let known = self.by_sid.get(sid.raw_text()).map(|call| call.phase);
        // A late CREATE does not renew an answered call; one after the hang-up does.
        let late = phase == CallPhase::Created && known == Some(CallPhase::Answered);
        if !late && (known != Some(CallPhase::Over) || phase == CallPhase::Created) {
            if known == Some(CallPhase::Over) {
                self.begin_call(sid.raw_text(), phase, by);
            } else {
                self.set_phase(sid.raw_text(), phase, by);
            }
        }
        let name = (seen.origin.conn, sid.raw_text());
        let reported = self.reported.entry_in((), name, ReportedEvents::default);
        reported.next(phase, turn, kind, seen);
        if phase == CallPhase::Over {
            self.by_sid.finish_entry(sid.raw_text());
            self.reported.finish_entry(name);
        }
    }

    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.by_sid.len().max(self.reported.len())
    }
}

impl ReportedEvents {
    /// Handles the next event of the call: a phase, and `turn` if the call is put on hold or resumed.
    fn next(
        &mut self,
        phase: CallPhase,
        turn: Option<bool>,
        kind: Node<'_>,
        seen: Current<'_, '_>,
    ) {
        let last = self.last;
        let name = kind.text().unwrap_or_default();
        let place = seen.at(kind);
        // An event about holding does not show that the call was answered before.
        let phase = if turn.is_some() { self.phase } else { phase };
        if self.phase == CallPhase::Over {
            broken!(seen, rule::EVENT_AFTER_HANGUP, place, last;
                "{name} is after #{last}, which ended the call");
            // Only a new call continues.
            if phase == CallPhase::Created {
                *self = Self {
                    phase,
                    held: None,
                    last: seen.index,
                };
            }
            return;
        }
        // A call that was created is not on hold.
        let held = self
            .held
            .or((self.phase >= CallPhase::Created).then_some(false));
        if turn.is_some() && held == turn {
            broken!(seen, rule::HOLD_ORDER, place, last;
                "{name} comes after #{last}: the call {} on hold",
                if turn == Some(true) { "is" } else { "is not" });
        } else if turn.is_none() && phase != CallPhase::Over && phase <= self.phase {
            broken!(seen, rule::EVENT_ORDER, place, last;
                "{name} comes after #{last}: the call is already {}",
                if self.phase == CallPhase::Created { "created" } else { "answered" });
        }
        self.held = turn.or(self.held);
        if phase > self.phase {
            self.phase = phase;
        }
        self.last = seen.index;
    }
}

/// Checks that start, answer and end are in this order; 0 means not yet.
fn check_times(fields: Node<'_>, seen: Current<'_, '_>) {
    let names = [
        "start_timestamp_ms",
        "answer_timestamp_ms",
        "end_timestamp_ms",
    ];
    let mut before: Option<(&str, i128)> = None;
    for name in names {
        let node = fields.get(name);
        let Some((node, time)) = node.and_then(|n| Some((n, n.as_i128()?))) else {
            continue;
        };
        if time == 0 {
            continue;
        }
        if let Some((earlier, from)) = before
            && time < from
        {
            broken!(seen, rule::TIME_ORDER, seen.at(node);
                "{name} is {time}, before {earlier}, {from}");
            return;
        }
        before = Some((name, time));
    }
}
