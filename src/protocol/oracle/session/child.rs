//! The state of one child process.

use super::{LAG, NO_TIMEOUT, OpenInvokes, OracleLine, rule};
use crate::protocol::exchange::{Key, OpenRequest};
use crate::protocol::oracle::cairo_serde::Signature;
use crate::protocol::oracle::schema::DIALECT;
use crate::protocol::rpc::lone_cr;
use crate::protocol::session::memory::Reported;
use crate::protocol::session::stored::to_stored;
use crate::protocol::session::text::short;
use crate::protocol::session::{Place, Report, Seen, Waiting, broken};
use crate::protocol::{Direction, rpc};
use crate::tape::{Node, Scalar, Value};
use std::collections::VecDeque;

/// An id as peers compare it: 0 is not "0".
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum PeerId {
    Null,
    Number(u64),
    Text(Box<str>),
}

impl PeerId {
    /// Returns `None` if the peers' parser refuses the id.
    pub(super) fn of(node: Node<'_>) -> Option<Self> {
        match node.value() {
            Value::Scalar(Scalar::Null) => Some(Self::Null),
            Value::Scalar(Scalar::Number(_)) => rpc::spelling(node).parse().ok().map(Self::Number),
            Value::Scalar(Scalar::Json(..)) => Some(Self::Text(to_stored(&node.text()?))),
            _ => None,
        }
    }
}

/// The state of a request of the executor.
#[derive(Clone, Copy, Debug)]
pub(super) struct PendingInvoke {
    /// The number of requests before it; `None` if the peer drops it unread.
    pub(super) number: Option<u64>,
    /// The index of its selector's signature.
    pub(super) selector: Option<usize>,
}

impl PendingInvoke {
    pub(super) const DROPPED: Self = Self {
        number: None,
        selector: None,
    };

    /// Returns the types of its selector, if they are known.
    pub(super) fn signature<'s>(&self, signatures: &'s [Signature]) -> Option<&'s Signature> {
        signatures.get(self.selector?)
    }

    /// Returns true if the executor still waits for it.
    pub(super) fn is_due(&self, child: &ChildSession) -> bool {
        let is_lost = child.ends.output_ended || matches!(child.stage, ReadyStage::Failed);
        !is_lost && self.number.is_some_and(|number| number >= child.read)
    }
}

/// Describes the delay of answers.
pub(super) fn invokes(count: u64) -> String {
    match count {
        1 => "one invoke".into(),
        _ => format!("{count} invokes"),
    }
}

/// The state of the handshake.
#[derive(Debug, Default)]
pub(super) enum ReadyStage {
    /// The oracle has sent nothing.
    #[default]
    Silent,
    /// Ready was sent, and must be acknowledged.
    Announced(OpenRequest, PeerId),
    /// It was acknowledged, or the start was not seen.
    Serving,
    /// It was answered with an error, at this position: the oracle must exit.
    Refused(Place),
    /// It failed, and that was reported.
    Failed,
}

/// The ends of an oracle.
#[derive(Debug, Default)]
pub(super) struct ChildEnds {
    /// Its input has ended.
    pub(super) input_ended: bool,
    /// The time at which its input ended.
    pub(super) closed: Option<i64>,
    /// Its output has ended.
    pub(super) output_ended: bool,
}

/// A child process.
#[allow(clippy::struct_excessive_bools)] // independent facts
#[derive(Debug, Default)]
pub(super) struct ChildSession {
    pub(super) stage: ReadyStage,
    /// It sent ready, and no message was missed since.
    pub(super) announced: bool,
    /// The executor cannot have read that ready.
    pub(super) ready_unread: bool,
    /// The position of its start.
    pub(super) opened: Option<Place>,
    /// The executor has sent a message.
    pub(super) executor_sent: bool,
    /// An acknowledgement that came before ready, in input without order.
    pub(super) acknowledged: Option<Box<(OpenRequest, Option<PeerId>)>>,
    /// The number of invokes.
    pub(super) asked: u64,
    /// The number of lines that were read for them: the next line is for the invoke with this number.
    pub(super) read: u64,
    /// Invokes that may be answered, in the order of their numbers; some are already answered.
    pub(super) queue: VecDeque<(u64, PeerId)>,
    /// The newest invoke.
    pub(super) last_asked: Option<Place>,
    /// The newest id that is a number, and its message.
    last_id: Option<(PeerId, u64)>,
    /// The last answered id, and its message.
    pub(super) answered: Option<(PeerId, u64)>,
    /// The next expected answer is known.
    pub(super) in_step: bool,
    /// The last of these lines, by index.
    pub(super) lines: VecDeque<u64>,
    /// The last line that was out of turn.
    pub(super) cause: Option<u64>,
    /// The last line of the executor without a readable id.
    pub(super) unreadable: Option<Box<OpenRequest>>,
    /// The id of the last request that the oracle drops unread.
    pub(super) dropped: Option<PeerId>,
    /// The message with shutdown.
    pub(super) shut_down: Option<u64>,
    /// Late answers were reported.
    pub(super) is_late: bool,
    pub(super) reported: Reported,
    pub(super) ends: ChildEnds,
}

impl ChildSession {
    pub(super) fn spawned(place: Place) -> Self {
        Self {
            opened: Some(place),
            ..Self::default()
        }
    }

    /// Returns the direction of a line; if it is unknown, that of its kind.
    pub(super) fn side(&self, seen: &Seen<'_>) -> Option<Direction> {
        let announced = matches!(self.stage, ReadyStage::Announced(..));
        seen.origin.direction.or(match seen.message.kind.as_ref() {
            "error" if announced => Some(Direction::ToServer),
            "request" => Some(Direction::ToServer),
            kind => {
                let mut known = DIALECT.methods.iter().chain(DIALECT.answers);
                known.find(|m| m.name == kind).map(|m| m.direction)
            }
        })
    }

    /// Returns true if this is known to be the first line of its oracle.
    pub(super) fn begins_with(&self, line: &OracleLine<'_, '_>) -> bool {
        let seen = line.seen;
        let is_first = seen.origin.direction.is_some() && seen.frame.offset == 0;
        is_first && matches!(self.stage, ReadyStage::Silent)
    }

    /// Continues without the earlier state.
    pub(super) fn continue_from_unknown(&mut self) {
        *self = Self {
            stage: ReadyStage::Serving,
            opened: self.opened,
            shut_down: self.shut_down,
            reported: std::mem::take(&mut self.reported),
            ..Self::default()
        };
    }

    /// Handles ready.
    pub(super) fn announce(&mut self, line: &OracleLine<'_, '_>) {
        self.in_step = true;
        self.announced = true;
        self.ready_unread = self.ends.input_ended || lone_cr(&line.seen).is_some();
        let (ready, id) = (
            line.seen.stored_request(),
            line.id().unwrap_or(PeerId::Null),
        );
        match self.acknowledged.take() {
            Some(first) => self.acknowledge(&ready, &id, &first.0, first.1.as_ref(), line),
            None => self.stage = ReadyStage::Announced(ready, id),
        }
    }

    /// Handles the answer to ready.
    pub(super) fn acknowledge(
        &mut self,
        ready: &OpenRequest,
        id: &PeerId,
        ack: &OpenRequest,
        by: Option<&PeerId>,
        line: &OracleLine<'_, '_>,
    ) {
        if by == Some(id) {
            self.stage = match ack.kind() {
                "error" => ReadyStage::Refused(ack.place()),
                _ => ReadyStage::Serving,
            };
            return;
        }
        let index = ready.index();
        broken!(line, rule::ACK_ID, ack.place(), index;
            "id is {}; it should be {}, as in ready (#{index})",
            super::id(ack.id()), super::id(ready.id()));
        self.record_failure();
    }

    /// Reports a connection that ends before ready is answered.
    pub(super) fn report_unacknowledged(&mut self, report: &mut Report) {
        if let ReadyStage::Announced(ready, _) = &self.stage {
            if !self.ready_unread {
                broken!(report, rule::UNANSWERED, ready.place();
                    "ready is not acknowledged, and the connection is closed");
            }
            self.record_failure();
        }
    }

    /// Records that the handshake failed: later messages cause no findings.
    pub(super) fn record_failure(&mut self) {
        self.stage = ReadyStage::Failed;
        self.in_step = false;
    }

    /// Records a line that is out of turn; the next invoke reads it.
    pub(super) fn record_extra_line(&mut self, index: u64) {
        if !matches!(self.stage, ReadyStage::Failed) {
            self.cause = Some(index);
            self.count_line(index);
        }
    }

    /// The next line is for the invoke with this number.
    pub(super) fn restart_at(&mut self, number: u64) {
        self.read = number;
        self.lines.clear();
    }

    /// Counts a line that an invoke reads.
    pub(super) fn count_line(&mut self, index: u64) {
        if self.lines.len() >= LAG as usize {
            self.lines.pop_front();
        }
        self.lines.push_back(index);
        self.read += 1;
    }

    /// Describes the line that the invoke with this number reads, if it came before that invoke.
    pub(super) fn line_for(&self, number: u64) -> String {
        let back = usize::try_from(self.read.saturating_sub(number)).ok();
        let at = back.and_then(|back| self.lines.len().checked_sub(back));
        let line = at.and_then(|at| self.lines.get(at));
        line.map_or("an extra line".into(), |index| format!("the line #{index}"))
    }

    /// Describes the line that caused the problem.
    pub(super) fn cause(&self) -> String {
        self.cause
            .map_or("an extra line".into(), |index| format!("the line #{index}"))
    }

    /// Removes and returns the first invoke of the queue if its number is below `number`.
    pub(super) fn pop_below(&mut self, number: u64) -> Option<(u64, PeerId)> {
        let is_below = self.queue.front().is_some_and(|(first, _)| *first < number);
        is_below.then(|| self.queue.pop_front())?
    }

    /// Removes the invoke with a number from the queue.
    pub(super) fn remove(&mut self, number: u64) {
        if let Ok(at) = self
            .queue
            .binary_search_by_key(&number, |(number, _)| *number)
        {
            self.queue.remove(at);
        }
    }

    /// Returns the invoke that reads the next line.
    pub(super) fn due(&self, open: &OpenInvokes, conn: Option<u32>) -> Option<(u64, PeerId)> {
        // Few invokes are answered before their turn.
        let first = self
            .queue
            .partition_point(|(number, _)| *number < self.read);
        let mut due = self.queue.range(first..).take(LAG as usize);
        let is_open = |(number, id): &&(u64, PeerId)| {
            let asked = open.get(&Key::one_way(conn, id.clone()));
            asked.is_some_and(|(_, invoke)| invoke.number == Some(*number))
        };
        due.find(is_open).cloned()
    }

    /// Checks that the executor's ids increase.
    pub(super) fn check_id_order(&mut self, line: &OracleLine<'_, '_>) {
        let Some(id) = line.id() else {
            return;
        };
        let seen = line.seen;
        if let Some((last, index)) = &self.last_id {
            match (last, &id) {
                _ if *last == id => broken!(line, rule::ID_ORDER, line.id_place(), *index;
                    "id {} was already used for #{index}", line.id_text()),
                (PeerId::Number(last), PeerId::Number(now)) if now < last => {
                    broken!(line, rule::ID_ORDER, line.id_place(), *index;
                        "id is {now}; it should be above {last}, the id of #{index}");
                }
                _ => {}
            }
        }
        self.last_id = Some((id, seen.index));
    }

    /// Returns true if the executor could have sent shutdown, and has not.
    pub(super) fn could_shut_down(&self) -> bool {
        matches!(self.stage, ReadyStage::Serving) && self.in_step && self.shut_down.is_none()
    }

    /// Returns the message for which the handshake waits.
    pub(super) fn waiting(&self) -> Option<Waiting> {
        let waiting = |place, what: &str, owes, why: String| Waiting {
            place,
            what: what.into(),
            id: String::new(),
            owes: Some(owes),
            side: None,
            nests: false,
            blocked_by: None,
            why: Some(why),
        };
        // After shutdown nobody waits any more.
        if self.ends.output_ended || self.shut_down.is_some() {
            return None;
        }
        match &self.stage {
            ReadyStage::Silent => self.opened.map(|place| {
                waiting(
                    place,
                    "the executor, for ready",
                    Direction::ToClient,
                    NO_TIMEOUT.into(),
                )
            }),
            ReadyStage::Announced(ready, _) => Some(Waiting {
                what: "the oracle, for ready to be acknowledged".into(),
                id: short(ready.id()),
                ..waiting(
                    ready.place(),
                    "",
                    Direction::ToServer,
                    "the oracle serves nothing before that".into(),
                )
            }),
            ReadyStage::Refused(by) => Some(waiting(
                *by,
                "the executor, for the oracle to exit",
                Direction::ToClient,
                "ready was answered with an error: the oracle must terminate".into(),
            )),
            ReadyStage::Serving | ReadyStage::Failed => None,
        }
    }
}
