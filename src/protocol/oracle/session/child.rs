//! What is known of one child process.

use super::{Key, LAG, Line, NO_TIME_OUT};
use crate::protocol::correlation::{Asked, Open};
use crate::protocol::jsonrpc::lone_cr;
use crate::protocol::oracle::cairo_serde::Signature;
use crate::protocol::oracle::schema::DIALECT;
use crate::protocol::session::memory::Reported;
use crate::protocol::session::text::short;
use crate::protocol::session::{Place, Report, Seen, Waiting};
use crate::protocol::{Direction, jsonrpc};
use crate::tape::{Node, Scalar, Value};
use std::collections::BTreeMap;

/// An id as peers compare it: 0 is not "0".
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Id {
    Null,
    Number(u64),
    Text(Box<str>),
}

impl Id {
    /// `None` where the peers' parser has no such id.
    pub(super) fn of(node: Node<'_>) -> Option<Self> {
        match node.value() {
            Value::Scalar(Scalar::Null) => Some(Self::Null),
            Value::Scalar(Scalar::Number(_)) => {
                jsonrpc::spelling(node).parse().ok().map(Self::Number)
            }
            Value::Scalar(Scalar::Json(..)) => Some(Self::Text(node.text()?.into())),
            _ => None,
        }
    }
}

/// What is kept of a request of the executor.
#[derive(Clone, Copy, Debug)]
pub(super) struct Invoke {
    /// How many were sent before it; none where the peer drops it unread.
    pub(super) number: Option<u64>,
    /// Which of the signatures is its selector's.
    pub(super) selector: Option<usize>,
}

impl Invoke {
    pub(super) const DROPPED: Self = Self {
        number: None,
        selector: None,
    };

    /// What its selector takes and gives, where that is known.
    pub(super) fn signature<'s>(&self, signatures: &'s [Signature]) -> Option<&'s Signature> {
        signatures.get(self.selector?)
    }

    /// Whether the executor still waits for it.
    pub(super) fn is_due(&self, child: &Child) -> bool {
        let is_lost = child.ends.mute || matches!(child.stage, Stage::Spoiled);
        !is_lost && self.number.is_some_and(|number| number >= child.read)
    }
}

/// How far the handshake is.
#[derive(Debug, Default)]
pub(super) enum Stage {
    /// The oracle has said nothing.
    #[default]
    Silent,
    /// Ready was said, and is to be acknowledged.
    Announced(Asked, Id),
    /// It was acknowledged, or the beginning is not known.
    Serving,
    /// It was answered with an error, here: the oracle must end.
    Refused(Place),
    /// It failed, and that was said.
    Spoiled,
}

/// What has ended.
#[derive(Debug, Default)]
pub(super) struct Ends {
    /// Its input.
    pub(super) deaf: bool,
    /// When its input did.
    pub(super) closed: Option<i64>,
    /// Its output.
    pub(super) mute: bool,
}

/// One child process.
#[allow(clippy::struct_excessive_bools)] // facts that do not exclude each other
#[derive(Debug, Default)]
pub(super) struct Child {
    pub(super) stage: Stage,
    /// It said ready, and nothing is missing since.
    pub(super) announced: bool,
    /// The executor cannot have read that ready.
    pub(super) unheard: bool,
    /// When it was spawned.
    pub(super) opened: Option<Place>,
    /// The executor has said something.
    pub(super) spoke: bool,
    /// An acknowledgement came before what it answers, as in input without order.
    pub(super) acknowledged: Option<(Asked, Option<Id>)>,
    /// How many invokes there were.
    pub(super) asked: u64,
    /// How many lines were read for them: what comes next is for the invoke of this number.
    pub(super) read: u64,
    /// Invokes that may be answered, by number; some of them are.
    pub(super) queue: BTreeMap<u64, Id>,
    /// The newest of them.
    pub(super) last_asked: Option<Place>,
    /// The newest number that was an id, and where.
    last_id: Option<(Id, u64)>,
    /// What was answered last, and where.
    pub(super) answered: Option<(Id, u64)>,
    /// It is known which answer is to come next.
    pub(super) in_step: bool,
    /// The last line that was no answer in its turn.
    pub(super) cause: Option<u64>,
    /// The last line of the executor that tells no id.
    pub(super) garbled: Option<Asked>,
    /// The id of the last request that the oracle drops unread.
    pub(super) dropped: Option<Id>,
    /// Shutdown was said, here.
    pub(super) told: Option<u64>,
    /// That answers come late was reported.
    pub(super) is_late: bool,
    pub(super) reported: Reported,
    pub(super) ends: Ends,
}

impl Child {
    pub(super) fn spawned(place: Place) -> Self {
        Self {
            opened: Some(place),
            ..Self::default()
        }
    }

    /// Which way a line goes: as told, else by its kind.
    pub(super) fn side(&self, seen: &Seen<'_>) -> Option<Direction> {
        let announced = matches!(self.stage, Stage::Announced(..));
        seen.origin.direction.or(match seen.message.kind.as_ref() {
            "error" if announced => Some(Direction::ToServer),
            "request" => Some(Direction::ToServer),
            kind => {
                let mut known = DIALECT.methods.iter().chain(DIALECT.answers);
                known.find(|m| m.name == kind).map(|m| m.direction)
            }
        })
    }

    /// Whether this is the first line of its oracle, and known to be.
    pub(super) fn begins_with(&self, line: &Line<'_, '_>) -> bool {
        let seen = line.seen;
        let is_first = seen.origin.direction.is_some() && seen.frame.offset == 0;
        is_first && matches!(self.stage, Stage::Silent)
    }

    /// What came before is not known.
    pub(super) fn rejoin(&mut self) {
        *self = Self {
            stage: Stage::Serving,
            opened: self.opened,
            told: self.told,
            reported: std::mem::take(&mut self.reported),
            ..Self::default()
        };
    }

    /// Ready was said.
    pub(super) fn announce(&mut self, line: &Line<'_, '_>, report: &mut Report) {
        self.in_step = true;
        self.announced = true;
        self.unheard = self.ends.deaf || lone_cr(line.seen).is_some();
        let (ready, id) = (Asked::of(line.seen), line.id().unwrap_or(Id::Null));
        match self.acknowledged.take() {
            Some((ack, by)) => self.acknowledge(&ready, &id, &ack, by.as_ref(), report),
            None => self.stage = Stage::Announced(ready, id),
        }
    }

    /// Ready is answered, well or badly.
    pub(super) fn acknowledge(
        &mut self,
        ready: &Asked,
        id: &Id,
        ack: &Asked,
        by: Option<&Id>,
        report: &mut Report,
    ) {
        if by == Some(id) {
            self.stage = match ack.kind.as_ref() {
                "error" => Stage::Refused(ack.place),
                _ => Stage::Serving,
            };
            return;
        }
        let index = ready.place.index;
        let text = format!(
            "id is {}, {} should answer ready (#{index})",
            super::id(&ack.id),
            super::id(&ready.id)
        );
        self.spoil();
        report.broken_by("ack-id", ack.place, index, text);
    }

    /// The connection ends before ready is answered.
    pub(super) fn unacknowledged(&mut self, report: &mut Report) {
        if let Stage::Announced(ready, _) = &self.stage {
            if !self.unheard {
                let text = "ready is not acknowledged, and the connection is closed";
                report.broken("unanswered", ready.place, text);
            }
            self.spoil();
        }
    }

    /// The handshake failed: what follows is not held against anyone.
    pub(super) fn spoil(&mut self) {
        self.stage = Stage::Spoiled;
        self.in_step = false;
    }

    /// The oracle wrote a line that is no answer in its turn; whichever invoke comes next reads it.
    pub(super) fn extra(&mut self, index: u64) {
        if !matches!(self.stage, Stage::Spoiled) {
            self.cause = Some(index);
            self.read += 1;
        }
    }

    /// The line that is to blame, in words.
    pub(super) fn cause(&self) -> String {
        self.cause.map_or("a line too many".into(), |index| {
            format!("the line #{index}")
        })
    }

    /// Reports a rule that is broken because of that line.
    pub(super) fn blame(
        &self,
        rule: &'static str,
        place: Place,
        text: String,
        report: &mut Report,
    ) {
        match self.cause {
            Some(cause) => report.broken_by(rule, place, cause, text),
            None => report.broken(rule, place, text),
        }
    }

    /// The first invoke of the queue, where its number is below this.
    pub(super) fn pop_below(&mut self, number: u64) -> Option<(u64, Id)> {
        let first = self.queue.first_entry()?;
        (*first.key() < number).then(|| first.remove_entry())
    }

    /// The invoke that reads the next line.
    pub(super) fn due(&self, open: &Open<Key, Invoke>, conn: Option<u32>) -> Option<(u64, Id)> {
        // Those that were answered before their turn are few.
        let mut due = self.queue.range(self.read..).take(LAG as usize);
        let is_open = |(number, id): &(&u64, &Id)| {
            let asked = open.get(&(conn, (*id).clone()));
            asked.is_some_and(|(_, invoke)| invoke.number == Some(**number))
        };
        due.find(is_open).map(|(number, id)| (*number, id.clone()))
    }

    /// The executor's ids rise by rights.
    pub(super) fn id_order(&mut self, line: &Line<'_, '_>, report: &mut Report) {
        let Some(id) = line.id() else {
            return;
        };
        let seen = line.seen;
        if let Some((last, index)) = &self.last_id {
            let text = match (last, &id) {
                _ if *last == id => Some(format!("id {} was used for #{index}", line.id_text())),
                (Id::Number(last), Id::Number(now)) if now < last => Some(format!(
                    "id is {now}, more than {last} should follow #{index}"
                )),
                _ => None,
            };
            if let Some(text) = text {
                report.broken_by("id-order", line.id_place(), *index, text);
            }
        }
        self.last_id = Some((id, seen.index));
    }

    /// Whether the executor could have said shutdown, and has not.
    pub(super) fn could_shut_down(&self) -> bool {
        matches!(self.stage, Stage::Serving) && self.in_step && self.told.is_none()
    }

    /// What its handshake waits for.
    pub(super) fn waiting(&self) -> Option<Waiting> {
        let waiting = |place, what: &str, owes, why: String| Waiting {
            place,
            what: what.into(),
            id: String::new(),
            owes: Some(owes),
            side: None,
            why: Some(why),
        };
        // After shutdown nobody waits any more.
        if self.ends.mute || self.told.is_some() {
            return None;
        }
        match &self.stage {
            Stage::Silent => self.opened.map(|place| {
                waiting(
                    place,
                    "the executor, for ready",
                    Direction::ToClient,
                    NO_TIME_OUT.into(),
                )
            }),
            Stage::Announced(ready, _) => Some(Waiting {
                what: "the oracle, for ready to be acknowledged".into(),
                id: short(&ready.id),
                ..waiting(
                    ready.place,
                    "",
                    Direction::ToServer,
                    "the oracle serves nothing before that".into(),
                )
            }),
            Stage::Refused(by) => Some(waiting(
                *by,
                "the executor, for the oracle to exit",
                Direction::ToClient,
                "ready was answered with an error: the oracle must terminate".into(),
            )),
            Stage::Serving | Stage::Spoiled => None,
        }
    }
}
