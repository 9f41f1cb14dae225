//! Reads a recording into a plan, message by message, with the state of the calling side at each message.

mod finish;
mod http;

use super::parts::{NOT_A_RECORDING, check_protocol, id_of};
use super::{Expected, MAX_BYTES, PlanError, PlanStep, PlannedConnection};
use crate::capture::lookalike::unrecognised;
use crate::capture::{CaptureInput, Event, EventKind, Form, Header, Item, ProblemSeverity};
use crate::conversation::{Conversation, Output, RuleSettings, Run, Sink, Verdict};
use crate::decoder::{DecodeOptions, Decoded};
use crate::diff::StoredMessage;
use crate::framing::Framing;
use crate::live::codec::EventStreams;
use crate::live::endpoint::http_session::peer_conn;
use crate::live::names::{Binding, Names, ValuePlace};
use crate::protocol::peer::{Peer, PeerConfig, Readiness};
use crate::protocol::session::Answer;
use crate::protocol::{Direction, Protocol, Role};
use crate::select::Filter;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::ControlFlow;

const HTTP3: &str =
    "it has streams of HTTP/3 (WebTransport), and replay cannot open such a session";

/// A recorded message: of the calling side, or of its peer.
#[derive(Clone, Copy)]
enum RecordedMessage {
    Step(usize),
    Unselected,
    Expected(usize),
}

impl RecordedMessage {
    fn direction(self) -> Direction {
        match self {
            Self::Step(_) | Self::Unselected => Direction::ToServer,
            Self::Expected(_) => Direction::ToClient,
        }
    }
}

#[derive(Default)]
pub(super) struct PlanReader<'p> {
    choice: Filter,
    scratch: Vec<u8>,
    protocol: Option<&'p dyn Protocol>,
    /// The calling side; it only observes.
    peer: Option<Box<dyn Peer + 'p>>,
    opened: BTreeSet<u32>,
    protocols: Vec<&'p dyn Protocol>,
    names: Option<Names>,
    framing: Option<Framing>,
    path: Option<String>,
    fields: Option<Vec<(String, String)>>,
    events: EventStreams,
    /// The target of the first GET.
    stream_target: Option<String>,
    /// The connections with a GET.
    streams: BTreeSet<u32>,
    header: Option<Header>,
    steps: Vec<PlanStep>,
    expected: Vec<Expected>,
    connections: BTreeMap<u32, PlannedConnection>,
    ended: Vec<u32>,
    ended_conns: BTreeSet<u32>,
    classified: HashMap<u64, RecordedMessage>,
    /// The last step of each connection or stream.
    last_steps: HashMap<(u32, Option<u64>), usize>,
    /// The last step that refers to an id, by the name of the id.
    ids: HashMap<usize, usize>,
    notes: Vec<String>,
    size: usize,
    /// Messages in both directions, the selected ones, and the selected ones that are sent.
    read: u64,
    matched: u64,
    chosen: u64,
    /// Connections on which selected messages are sent.
    chosen_on: BTreeSet<u32>,
    /// Messages of the calling side that were not selected, and unreadable ones.
    unselected: usize,
    unreadable: usize,
    is_truncated: bool,
    /// The time of the last message.
    last_time: Option<i64>,
}

/// Returns the protocol of a recording that does not name it, if all messages are of one.
pub(super) fn detected_protocol<'p>(
    recording: &[u8],
    options: DecodeOptions<'p>,
) -> Option<&'p dyn Protocol> {
    let protocols = options.protocols.clone();
    if protocols.len() < 2 {
        return None;
    }
    let mut names = BTreeSet::new();
    let mut run = Run::new(CaptureInput::new(Form::Recording), options, None);
    let read = run.read_all(recording, &mut |output: Output<'_>| match output {
        Output::Item(Item::Header(header), _) if header.protocol.is_some() => {
            ControlFlow::Break(())
        }
        Output::Message(decoded, _) => {
            names.insert(decoded.protocol.name().to_owned());
            ControlFlow::Continue(())
        }
        _ => ControlFlow::Continue(()),
    });
    let name = names
        .first()
        .filter(|_| names.len() == 1 && read.is_continue())?;
    protocols.into_iter().find(|one| one.name() == name)
}

impl<'p> PlanReader<'p> {
    pub(super) fn new(protocols: &[&'p dyn Protocol], choice: Filter) -> Self {
        Self {
            choice,
            protocols: protocols.to_vec(),
            is_truncated: true,
            ..Self::default()
        }
    }

    pub(super) fn read(
        &mut self,
        recording: &[u8],
        options: DecodeOptions<'p>,
    ) -> Result<(), PlanError> {
        let input = CaptureInput::new(Form::Recording);
        let rules = RuleSettings {
            operations: true,
            ..RuleSettings::default()
        };
        let mut run = Run::new(input, options, Some(rules));
        let read = run.read_all(recording, self);
        if self.header.is_none() {
            return Err(NOT_A_RECORDING.into());
        }
        self.protocol = run.conversation().and_then(Conversation::protocol);
        if let Some(error) = read.break_value() {
            return Err(error);
        }
        if run.is_unrecognised() {
            return Err(unrecognised(run.decoder().start_of_undetected()));
        }
        Ok(())
    }

    /// Records the end of a connection that was opened. Later ends of it are ignored.
    fn end_connection(&mut self, conn: u32) {
        if self.connections.contains_key(&conn) && self.ended_conns.insert(conn) {
            self.ended.push(conn);
        }
    }

    /// A connection starts with its first event or message.
    fn start_connection(&mut self, conn: u32) {
        if self.connections.contains_key(&conn) {
            return;
        }
        let connection = PlannedConnection {
            received_before: self.expected.len(),
            ended_before: self.ended.len(),
            ..PlannedConnection::default()
        };
        self.connections.insert(conn, connection);
    }

    /// Returns `true` if a message is a response of HTTP that refuses a request. Whether a hello is accepted is not compared:
    /// both sides answer it by themselves.
    fn is_refusal(&self, decoded: &Decoded<'_>, answer: Option<&Answer>) -> bool {
        let asked = answer.and_then(|answer| self.classified.get(&answer.to));
        let is_of_step = asked.is_some_and(|asked| match asked {
            RecordedMessage::Step(step) => self.steps.get(*step).is_some_and(|step| !step.is_hello),
            _ => false,
        });
        is_of_step && decoded.refusal_status().is_some()
    }

    fn add_message(
        &mut self,
        decoded: &Decoded<'_>,
        verdict: Verdict<'_>,
    ) -> Result<(), PlanError> {
        let name = decoded.protocol.name();
        let Some(protocol) = self.protocols.iter().copied().find(|p| p.name() == name) else {
            return Ok(());
        };
        let chosen = self
            .choice
            .matches(decoded, Some(verdict), &mut self.scratch);
        self.read += 1;
        self.matched += u64::from(chosen);
        let answer = verdict.answer.cloned();
        let role = decoded.message.role;
        let Some(direction) = decoded.origin.direction else {
            return Ok(());
        };
        if decoded.frame.framing == Framing::Http3 {
            return Err(HTTP3.into());
        }
        let is_control = decoded.frame.control.is_some();
        if !is_control {
            self.check_framing(decoded.frame.framing)?;
        }
        if is_control || decoded.frame.framing == Framing::Http {
            self.read_http_head(decoded, chosen);
        }
        let is_refusal = self.is_refusal(decoded, answer.as_ref());
        let passive = is_control || matches!(role, Some(Role::Heartbeat | Role::Control));
        // The run has its own interruptions.
        if passive && !is_refusal || verdict.repeats.is_some() {
            return Ok(());
        }
        let was_ready = self.follow(protocol, decoded);
        let pause = self.pause_before(decoded);
        let asked = answer.as_ref();
        let request = asked.and_then(|a| self.classified.get(&a.to)).copied();
        let (message, places) = self.read_values(protocol, decoded, asked, request);
        let stored = StoredMessage::of(decoded, answer.as_ref());
        self.add_size(stored.weight() + message.len() + places.len() * 128)?;
        match direction {
            Direction::ToServer => {
                let replies_to = match request {
                    Some(RecordedMessage::Expected(expected)) => Some(expected),
                    _ => None,
                };
                let step = PlanStep {
                    part_of: self.first_of_operation(decoded.index, verdict),
                    is_hello: protocol.is_hello(decoded.message),
                    was_ready,
                    message,
                    places,
                    replies_to,
                    received_before: self.expected.len(),
                    ..PlanStep::of(decoded, &stored)
                };
                self.add_selected(decoded, step, chosen);
            }
            Direction::ToClient => {
                // Over HTTP, an error to no message refuses an exchange without one, such as an event stream.
                let is_refusal = role == Some(Role::Error)
                    && answer.is_none()
                    && decoded.frame.framing == Framing::Http;
                let message = Expected {
                    stored,
                    places,
                    answers: None,
                    is_orphan: matches!(request, Some(RecordedMessage::Unselected)),
                    pause,
                    // A message without a request may depend on messages that are not selected.
                    is_required: chosen && !is_refusal || role == Some(Role::Request),
                    answered_by: None,
                };
                self.add_expected(decoded, answer.as_ref(), request, message);
            }
        }
        Ok(())
    }

    /// Returns the time between the message before and this one.
    fn pause_before(&mut self, decoded: &Decoded<'_>) -> i64 {
        let time = decoded.origin.time;
        let before = std::mem::replace(&mut self.last_time, time);
        let times = time.zip(before);
        times.map_or(0, |(time, before)| time.saturating_sub(before).max(0))
    }

    /// Returns the text of a message and its values that have a meaning.
    fn read_values(
        &mut self,
        protocol: &'p dyn Protocol,
        decoded: &Decoded<'_>,
        asked: Option<&Answer>,
        request: Option<RecordedMessage>,
    ) -> (String, Vec<ValuePlace>) {
        let names = self.names.get_or_insert_with(|| Names::new(protocol));
        let subject = asked.and_then(|answer| answer.subject.as_deref());
        let of_request = request.map(RecordedMessage::direction);
        names.read_decoded(decoded, subject, of_request)
    }

    /// Returns the first step of the operation that contains a later message.
    fn first_of_operation(&self, index: u64, verdict: Verdict<'_>) -> Option<usize> {
        let operation = verdict.operation.filter(|one| one.index != index)?;
        match self.classified.get(&operation.index)? {
            RecordedMessage::Step(step) => Some(*step),
            _ => None,
        }
    }

    fn add_size(&mut self, size: usize) -> Result<(), PlanError> {
        self.size += size;
        if self.size > MAX_BYTES {
            return Err(format!(
                "it holds more than {} MiB of messages: choose fewer with --where 'index<N'",
                MAX_BYTES >> 20
            ));
        }
        Ok(())
    }

    /// Refuses messages that cannot be sent on one connection.
    fn check_framing(&mut self, of_message: Framing) -> Result<(), PlanError> {
        let framing = *self.framing.get_or_insert(of_message);
        if framing != of_message && [framing, of_message].contains(&Framing::WebSocket) {
            return Err(
                "it has messages over WebSocket and others without it, and replay sends all in one way"
                    .into(),
            );
        }
        Ok(())
    }

    /// Adds a message of the calling side, if it is sent.
    fn add_selected(&mut self, decoded: &Decoded<'_>, step: PlanStep, chosen: bool) {
        if !(chosen || step.is_hello || step.replies_to.is_some()) {
            self.unselected += 1;
            self.classified
                .insert(decoded.index, RecordedMessage::Unselected);
            return;
        }
        let conn = step.conn;
        if self.add_step(decoded, step) && chosen {
            self.chosen += 1;
            self.chosen_on.insert(conn);
        }
    }

    /// Adds a message of the peer.
    fn add_expected(
        &mut self,
        decoded: &Decoded<'_>,
        answer: Option<&Answer>,
        request: Option<RecordedMessage>,
        mut message: Expected,
    ) {
        let role = decoded.message.role;
        let expected = self.expected.len();
        if let Some(RecordedMessage::Step(step)) = request {
            message.answers = Some(step);
            if let Some(step) = self.steps.get_mut(step) {
                step.answers.push(expected);
                if role != Some(Role::Item) {
                    step.required_answers = step.answers.len();
                }
                step.is_complete |= answer.is_some_and(|a| a.last);
            }
        }
        self.classified
            .insert(decoded.index, RecordedMessage::Expected(expected));
        let connection = message
            .stored
            .conn
            .and_then(|conn| self.connections.get_mut(&conn));
        if let Some(connection) = connection {
            connection.received = expected + 1;
        }
        self.expected.push(message);
    }

    /// Follows the recording as the calling side did. Returns `true` if calls were possible before this message.
    fn follow(&mut self, protocol: &'p dyn Protocol, decoded: &Decoded<'_>) -> bool {
        let peer = self.peer.get_or_insert_with(|| {
            let peer_config = PeerConfig {
                no_hello: true,
                ..PeerConfig::default()
            };
            protocol.behavior().peer(Direction::ToServer, &peer_config)
        });
        let conn = decoded.origin.conn.unwrap_or_default();
        let conn = peer_conn(protocol, decoded.frame.framing, conn);
        let (mut seen, mut outgoing) = (decoded.seen(), Vec::new());
        seen.origin.conn = Some(conn);
        let now = decoded.origin.time.unwrap_or_default();
        if self.opened.insert(conn) {
            peer.opened(conn, now, &mut outgoing);
        }
        let was_ready = peer.readiness(conn) == Readiness::Ready;
        match decoded.origin.direction {
            Some(Direction::ToServer) => peer.sent(&seen, now),
            _ => peer.received(&seen, now, &mut outgoing),
        }
        was_ready
    }

    /// Adds a step. Returns `false` if the message cannot be sent.
    fn add_step(&mut self, decoded: &Decoded<'_>, mut step: PlanStep) -> bool {
        // A partial message at the end of a truncated recording cannot be sent.
        let is_cut = decoded.faults().any(|(_, fault)| fault.code == "truncated");
        let is_empty = step.message.is_empty() && step.verbatim.is_none();
        if is_cut || is_empty && !step.is_deletion {
            self.unreadable += 1;
            self.classified
                .insert(decoded.index, RecordedMessage::Unselected);
            return false;
        }
        let number = self.steps.len();
        self.start_connection(step.conn);
        if let Some(connection) = self.connections.get_mut(&step.conn) {
            connection.steps.push(number);
            if step.is_hello {
                connection.hellos.push(number);
            }
        }
        if let Some(expected) = step
            .replies_to
            .and_then(|expected| self.expected.get_mut(expected))
        {
            expected.answered_by = Some(number);
        }
        self.classified
            .insert(decoded.index, RecordedMessage::Step(number));
        let names = self.names.as_ref();
        let theirs = |number: &usize| {
            let name = names.and_then(|names| names.name(*number));
            name.is_some_and(|name| name.owner == Direction::ToClient)
        };
        let needs = step.places.iter().filter_map(|place| match place.binding {
            Binding::Name(number) => Some(number).filter(theirs),
            _ => None,
        });
        step.needs = needs.collect();
        let id = id_of(&decoded.message.id);
        for place in &step.places {
            let Binding::Name(name) = place.binding else {
                continue;
            };
            // A token may equal the id.
            let is_id = place.path.len() == 1 && Some(&place.spot.val) == id.as_ref();
            if is_id {
                step.id.get_or_insert(name);
            }
            match self.ids.get_mut(&name) {
                Some(earlier) => {
                    step.refers_to.push(*earlier);
                    if let Some(earlier) = self.steps.get_mut(*earlier) {
                        earlier.referenced_by.push(number);
                    }
                    *earlier = number;
                }
                None if is_id => {
                    self.ids.insert(name, number);
                }
                None => {}
            }
        }
        self.last_steps.insert((step.conn, step.stream), number);
        self.steps.push(step);
        true
    }
}

impl PlanReader<'_> {
    fn read_header(&mut self, header: &Header) -> Result<(), PlanError> {
        self.header = Some(header.clone());
        if header.protocol.is_some() {
            check_protocol(header, &self.protocols)?;
        }
        Ok(())
    }

    fn add_item(&mut self, item: &Item<'_>, conn: Option<u32>) -> Result<(), PlanError> {
        match item {
            Item::Header(header) => self.read_header(header)?,
            Item::Chunk(_) => conn.map_or((), |conn| self.start_connection(conn)),
            Item::Problem(problem) if problem.severity == ProblemSeverity::Error => {
                return Err(problem.to_string());
            }
            _ => {}
        }
        Ok(())
    }

    /// Records that this side may have left a connection before the answer to its last request.
    fn leave(&mut self, event: &Event<'_>) {
        let Some(connection) = self.connections.get_mut(&event.conn) else {
            return;
        };
        let last = connection
            .steps
            .last()
            .and_then(|step| self.steps.get(*step));
        let last = last.filter(|step| step.role == Some(Role::Request) && !step.is_complete);
        let left = event.time.and_then(|time| i64::try_from(time).ok());
        let times = last.and_then(|step| step.time).zip(left);
        if let Some((sent, left)) = times.filter(|_| connection.leaves_after.is_none()) {
            connection.leaves_after = Some(left.saturating_sub(sent));
        }
    }

    fn add_event(&mut self, event: &Event<'_>) {
        match event.what {
            EventKind::Open => self.start_connection(event.conn),
            EventKind::Reset if event.stream.is_some() => {}
            EventKind::Close | EventKind::Reset | EventKind::Exit => {
                self.leave(event);
                self.end_connection(event.conn);
            }
            EventKind::Fin if event.direction == Some(Direction::ToServer) => {
                let last = self.last_steps.remove(&(event.conn, event.stream));
                if let Some(step) = last.and_then(|last| self.steps.get_mut(last)) {
                    step.is_last = true;
                }
            }
            EventKind::Eof if event.direction == Some(Direction::ToServer) => {
                self.leave(event);
                if let Some(connection) = self.connections.get_mut(&event.conn) {
                    connection.received_before_eof = Some(self.expected.len());
                }
            }
            EventKind::Lost => self
                .notes
                .push("bytes were not recorded: the missing messages are not sent".into()),
            EventKind::End => self.is_truncated = false,
            _ => {}
        }
    }
}

impl Sink for PlanReader<'_> {
    type Break = PlanError;

    fn take(&mut self, output: Output<'_>) -> ControlFlow<PlanError> {
        let taken = match output {
            Output::Item(item, origin) => self.add_item(item, origin.conn),
            Output::Message(decoded, verdict) => {
                self.add_message(decoded, verdict.unwrap_or_default())
            }
            Output::Event(event, _) => {
                self.add_event(event);
                Ok(())
            }
            _ => Ok(()),
        };
        taken.map_or_else(ControlFlow::Break, ControlFlow::Continue)
    }
}
