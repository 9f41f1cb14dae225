//! What becomes of calls, whichever connection speaks of them.
//!
//! ```text
//!   OriginateRequest -> OriginateResponse -> CREATE --> ANSWER -> (HOLD, RESUME)* -> HANGUP_COMPLETE
//!   Announced           Made                 Created    Answered                     Over
//! ```

use super::recent::Recent;
use super::single::shown;
use crate::protocol::Direction;
use crate::protocol::session::{Report, Seen};
use crate::protocol::telequick::schema::{Mark, Schema, name};
use crate::tape::Node;

/// All calls that are spoken of.
pub(super) struct Calls<'s> {
    schema: &'s Schema,
    /// Fields that are zero until a call is over.
    at_end: Vec<&'s str>,
    by_sid: Recent<Call>,
    /// What each connection was told of a call.
    told: Recent<Told>,
    /// Whether messages are missing that may have made calls.
    pub partial: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    Announced,
    Made,
    Created,
    Answered,
    Over,
}

struct Call {
    phase: Phase,
    /// The message that brought it there.
    by: u64,
}

/// Events of one call so far.
#[derive(Default)]
struct Told {
    stage: Stage,
    held: Option<bool>,
    last: u64,
}

#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd)]
enum Stage {
    #[default]
    Unknown,
    Created,
    Answered,
    Over,
}

/// What an event tells.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Event {
    Nothing,
    Create,
    Answer,
    Over,
    Hold,
    Resume,
}

impl Event {
    fn of(kind: Node<'_>) -> Option<Self> {
        Some(match kind.text()?.as_ref() {
            "UNKNOWN" => Self::Nothing,
            "CHANNEL_CREATE" => Self::Create,
            "CHANNEL_ANSWER" => Self::Answer,
            "CHANNEL_HANGUP_COMPLETE" => Self::Over,
            "CHANNEL_HOLD" => Self::Hold,
            "CHANNEL_RESUME" => Self::Resume,
            _ => return None,
        })
    }
}

impl<'s> Calls<'s> {
    pub fn new(schema: &'s Schema, most: usize) -> Self {
        Self {
            schema,
            at_end: schema.marked(&Mark::Final).collect(),
            by_sid: Recent::with_room(most),
            told: Recent::with_room(most),
            partial: false,
        }
    }

    /// Learns of calls from a message, and looks whether it may speak of them; `opened` where its connection is known
    /// from the beginning.
    pub fn learn(&mut self, fields: Node<'_>, opened: bool, seen: &Seen<'_>, report: &mut Report) {
        let index = seen.index;
        let sid = fields.get(name::CALL);
        match (seen.message.kind.as_ref(), sid) {
            (name::EVENT, Some(sid)) => self.event(sid, fields, seen, report),
            (name::AUDIO, Some(sid)) if seen.origin.direction == Some(Direction::ToServer) => {
                self.early(sid, opened, seen, report);
            }
            // These name calls that others may have made.
            (
                name::AUDIO
                | "AnswerIncomingCallRequest"
                | "SuperviseSubscribeRequest"
                | "AllocateWtRequest",
                Some(sid),
            ) => {
                self.note(sid.raw_text(), Phase::Made, index);
            }
            ("OriginateRequest", Some(sid)) if !sid.raw_text().is_empty() => {
                self.note(sid.raw_text(), Phase::Announced, index);
            }
            ("OriginateResponse", Some(sid)) => {
                let code = fields.get(name::ERROR).and_then(Node::as_i128);
                self.originated(sid.raw_text(), code, index);
            }
            ("GetIncomingCallsResponse", _) => {
                let calls = fields.get("calls");
                for call in calls.into_iter().flat_map(Node::children) {
                    let call = call.get("fields").unwrap_or(call);
                    if let Some(sid) = call.get(name::CALL) {
                        self.note(sid.raw_text(), Phase::Made, index);
                    }
                }
            }
            ("BucketCallList", _) => {
                // One string; nobody says what stands between several.
                let list = fields.get("call_sids").map_or(&b""[..], Node::raw_text);
                for sid in list.split(|b| matches!(b, b',' | b';' | b' ' | b'\n')) {
                    if !sid.is_empty() {
                        self.note(sid, Phase::Made, index);
                    }
                }
            }
            (kind @ ("BargeRequest" | "TerminateRequest" | name::DIALPLAN), Some(sid)) => {
                self.early(sid, opened, seen, report);
                self.named(sid, kind, fields, seen, report);
            }
            _ => {}
        }
    }

    /// A call is heard of that may be known already.
    fn note(&mut self, sid: &[u8], phase: Phase, by: u64) {
        match self.by_sid.get(sid) {
            Some(call) if call.phase == Phase::Announced && phase != Phase::Announced => {
                *call = Call { phase, by };
            }
            Some(call) if call.phase != Phase::Over || phase != Phase::Announced => {}
            _ => self.by_sid.put(sid, Call { phase, by }),
        }
    }

    fn originated(&mut self, sid: &[u8], code: Option<i128>, by: u64) {
        match code {
            Some(0) | None => self.note(sid, Phase::Made, by),
            Some(_) => {
                let phase = Phase::Over;
                self.by_sid.put(sid, Call { phase, by });
                self.by_sid.done(sid);
            }
        }
    }

    /// A call is named that has to be there already.
    fn early(&mut self, sid: Node<'_>, opened: bool, seen: &Seen<'_>, report: &mut Report) {
        let kind = &seen.message.kind;
        let by = seen.index;
        let phase = Phase::Made;
        match self.by_sid.get(sid.raw_text()) {
            Some(call) if call.phase == Phase::Announced => {
                let asked = call.by;
                *call = Call { phase, by };
                let text = format!(
                    "{kind} names call {}, which #{asked} asks for and nothing says was made",
                    shown(sid)
                );
                report.broken_by("call-too-early", seen.at(sid), asked, text);
            }
            Some(_) => {}
            None => {
                self.by_sid.put(sid.raw_text(), Call { phase, by });
                if opened && !self.partial && !self.by_sid.forgot {
                    let text = format!("{kind} names call {}, which nothing here made", shown(sid));
                    report.broken("unknown-call", seen.at(sid), text);
                }
            }
        }
    }

    /// A request is about a call: is it in a phase for that?
    fn named(
        &mut self,
        sid: Node<'_>,
        kind: &str,
        fields: Node<'_>,
        seen: &Seen<'_>,
        report: &mut Report,
    ) {
        let Some(&mut Call { phase, by }) = self.by_sid.get(sid.raw_text()) else {
            return;
        };
        let action = fields.get(name::ACTION);
        let verb = action.filter(|action| {
            let word = action.text().unwrap_or_default();
            self.schema.is_marked("", &word, &Mark::Answered)
        });
        match (phase, verb) {
            (Phase::Over, _) => {
                let text = format!("{kind} names call {}, which #{by} ended", shown(sid));
                report.broken_by("call-over", seen.at(sid), by, text);
            }
            (Phase::Created, Some(verb)) => {
                let name = verb.text().unwrap_or_default();
                let text = format!(
                    "{name} needs an answered call, {} was only created, by #{by}",
                    shown(sid)
                );
                report.broken_by("verb-too-early", seen.at(verb), by, text);
            }
            _ => {}
        }
    }

    fn event(&mut self, sid: Node<'_>, fields: Node<'_>, seen: &Seen<'_>, report: &mut Report) {
        let Some(kind) = fields.get("event_type") else {
            return;
        };
        let event = Event::of(kind);
        times(fields, seen, report);
        if matches!(
            event,
            Some(Event::Create | Event::Answer | Event::Hold | Event::Resume)
        ) && let Some((name, early)) = self.at_end.iter().find_map(|name| {
            let value = fields.get(name)?;
            // A faulty double has a finding of its own.
            let set = value.as_i128().is_none_or(|n| n != 0);
            set.then_some((name, value))
        }) {
            let text = format!("{name} is set, though the call is not over");
            report.broken("early-statistics", seen.at(early), text);
        }
        let Some(event) = event else {
            return;
        };
        let phase = match event {
            Event::Nothing => {
                let text = "event_type is 0, UNKNOWN: no event has it";
                report.broken("unknown-event", seen.at(kind), text);
                return;
            }
            Event::Create => Phase::Created,
            Event::Answer | Event::Hold | Event::Resume => Phase::Answered,
            Event::Over => Phase::Over,
        };
        let by = seen.index;
        let known = self.by_sid.get(sid.raw_text()).map(|call| call.phase);
        // A CREATE that comes late makes no answered call a new one; one behind the hang-up does.
        let late = event == Event::Create && known == Some(Phase::Answered);
        if !late && (known != Some(Phase::Over) || event == Event::Create) {
            self.by_sid.put(sid.raw_text(), Call { phase, by });
        }
        let name = (seen.origin.conn, sid.raw_text());
        if self.told.get(name).is_none() {
            self.told.put(name, Told::default());
        }
        if let Some(told) = self.told.get(name) {
            told.next(event, kind, seen, report);
        }
        if phase == Phase::Over {
            self.by_sid.done(sid.raw_text());
            self.told.done(name);
        }
    }

    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.by_sid.len().max(self.told.len())
    }
}

impl Told {
    /// The next event of the call.
    fn next(&mut self, event: Event, kind: Node<'_>, seen: &Seen<'_>, report: &mut Report) {
        let last = self.last;
        let name = kind.text().unwrap_or_default();
        let place = seen.at(kind);
        let stage = match event {
            Event::Create => Stage::Created,
            Event::Answer => Stage::Answered,
            Event::Over => Stage::Over,
            _ => self.stage,
        };
        if self.stage == Stage::Over {
            let text = format!("{name} comes after #{last} told that the call is over");
            report.broken_by("event-after-hangup", place, last, text);
            // Only a call that is made anew goes on.
            if event == Event::Create {
                *self = Self {
                    stage,
                    held: None,
                    last: seen.index,
                };
            }
            return;
        }
        let turn = match event {
            Event::Hold => Some(true),
            Event::Resume => Some(false),
            _ => None,
        };
        if matches!(event, Event::Create | Event::Answer) && stage <= self.stage {
            let now = if self.stage == Stage::Created {
                "created"
            } else {
                "answered"
            };
            let text = format!("{name} comes after #{last}, when the call is {now} already");
            report.broken_by("event-order", place, last, text);
        } else if turn.is_some() && self.held.or(self.fresh()) == turn {
            let now = if turn == Some(true) { "is" } else { "is not" };
            let text = format!("{name} comes after #{last}, when the call {now} on hold");
            report.broken_by("hold-order", place, last, text);
        }
        self.held = turn.or(self.held);
        if stage > self.stage {
            self.stage = stage;
        }
        self.last = seen.index;
    }

    /// A call whose beginning was seen is not on hold.
    fn fresh(&self) -> Option<bool> {
        (self.stage != Stage::Unknown).then_some(false)
    }
}

/// Whether a call starts, is answered and ends in this order; 0 is not yet.
fn times(fields: Node<'_>, seen: &Seen<'_>, report: &mut Report) {
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
            let text = format!("{name} is {time}, before {earlier}, {from}");
            report.broken("time-order", seen.at(node), text);
            return;
        }
        before = Some((name, time));
    }
}
