//! Reads a recording into a plan, message by message, beside what its calling side knew at each.

mod finish;

use super::parts::{NO_RECORDING, fields, id_of, is_of};
use super::{Expected, MOST, PlanError, PlannedConnection, Selection, Step};
use crate::capture::{Event, Form, Header, Input, Item, Problem, Severity, What};
use crate::conversation::pipeline::{Pipeline, Sink};
use crate::conversation::{Conversation, Finding, Judge, Verdict};
use crate::decoder::{Decoded, Decoder, Options, Origin};
use crate::diff::Kept;
use crate::framing::{Framing, Head};
use crate::live::names::{Binding, MessageInfo, Names};
use crate::protocol::peer::{Peer, PeerConfig, Readiness};
use crate::protocol::session::SessionConfig;
use crate::protocol::{Direction, Protocol, Role};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// A recorded message, until it is known what becomes of it.
enum Said {
    Step(usize, Direction),
    Left(Direction),
    Expected(usize, Direction),
}

impl Said {
    fn direction(&self) -> Direction {
        match self {
            Self::Step(_, direction) | Self::Left(direction) | Self::Expected(_, direction) => {
                *direction
            }
        }
    }
}

pub(super) struct Reader<'p> {
    choice: Selection,
    scratch: Vec<u8>,
    protocol: Option<&'p dyn Protocol>,
    /// The calling side, which only listens.
    peer: Option<Box<dyn Peer + 'p>>,
    greeted: BTreeSet<u32>,
    protocols: Vec<&'p dyn Protocol>,
    names: Option<Names>,
    framing: Option<Framing>,
    path: Option<String>,
    fields: Vec<(String, String)>,
    header: Option<Header>,
    steps: Vec<Step>,
    expected: Vec<Expected>,
    connections: BTreeMap<u32, PlannedConnection>,
    ended: Vec<u32>,
    over: BTreeSet<u32>,
    said: HashMap<u64, Said>,
    /// The last step that went by an id, of the ids of steps.
    ids: HashMap<usize, usize>,
    notes: Vec<String>,
    weight: usize,
    /// Messages of both sides, those that were chosen, and those among them that are said.
    read: u64,
    matched: u64,
    chosen: u64,
    /// Connections on which any of those is said.
    chosen_on: BTreeSet<u32>,
    /// Messages of the calling side that were left out, and those at fault.
    left: usize,
    broken: usize,
    torn: bool,
    unfit: Option<PlanError>,
}

impl<'p> Reader<'p> {
    pub(super) fn new(protocols: &[&'p dyn Protocol], choice: Selection) -> Self {
        Self {
            choice,
            scratch: Vec::new(),
            protocol: None,
            peer: None,
            greeted: BTreeSet::new(),
            protocols: protocols.to_vec(),
            names: None,
            framing: None,
            path: None,
            fields: Vec::new(),
            header: None,
            steps: Vec::new(),
            expected: Vec::new(),
            connections: BTreeMap::new(),
            ended: Vec::new(),
            over: BTreeSet::new(),
            said: HashMap::new(),
            ids: HashMap::new(),
            notes: Vec::new(),
            weight: 0,
            read: 0,
            matched: 0,
            chosen: 0,
            chosen_on: BTreeSet::new(),
            left: 0,
            broken: 0,
            torn: true,
            unfit: None,
        }
    }

    pub(super) fn read(&mut self, recording: &[u8], options: Options<'p>) -> Result<(), PlanError> {
        let protocols = options.protocols.clone();
        let config = SessionConfig::default();
        let conversation = Conversation::new(&protocols, &Judge::default(), config, true);
        let mut pipeline = Pipeline::new(Decoder::new(options), Some(conversation));
        pipeline.is_recording = true;
        let mut input = Input::new(Form::Recording);
        let mut result = Ok(());
        let mut item = |item: Item<'_>| {
            if result.is_ok() {
                result = pipeline.item(&item, self).and_then(|()| self.is_fit());
            }
        };
        input.push(recording, &mut item);
        input.finish(&mut item);
        if self.header.is_none() {
            return Err(NO_RECORDING.into());
        }
        result?;
        pipeline.finish(true, self)?;
        self.protocol = pipeline.conversation.and_then(|c| c.protocol());
        self.is_fit()
    }

    fn is_fit(&mut self) -> Result<(), PlanError> {
        self.unfit.take().map_or(Ok(()), Err)
    }

    /// A connection ends once, where it ever began.
    fn over(&mut self, conn: u32) {
        if self.connections.contains_key(&conn) && self.over.insert(conn) {
            self.ended.push(conn);
        }
    }

    /// A connection begins with whatever is first heard of it.
    fn line(&mut self, conn: u32) {
        if self.connections.contains_key(&conn) {
            return;
        }
        let line = PlannedConnection {
            heard: self.expected.len(),
            after: self.ended.len(),
            ..PlannedConnection::default()
        };
        self.connections.insert(conn, line);
    }

    fn see(&mut self, decoded: &Decoded<'_>, verdict: Verdict<'_>) -> Result<(), PlanError> {
        let name = decoded.protocol.name();
        let Some(protocol) = self.protocols.iter().copied().find(|p| p.name() == name) else {
            return Ok(());
        };
        let chosen = self.choice.first.is_none_or(|n| decoded.index >= n)
            && self.choice.last.is_none_or(|n| decoded.index <= n);
        let chosen =
            chosen && (self.choice.filter).matches(decoded, Some(verdict), &mut self.scratch);
        self.read += 1;
        self.matched += u64::from(chosen);
        let answer = verdict.answer.cloned();
        let role = decoded.message.role;
        let Some(direction) = decoded.origin.direction else {
            return Ok(());
        };
        if decoded.frame.control.is_some() {
            self.upgrade(decoded);
            return Ok(());
        }
        self.framing.get_or_insert(decoded.frame.framing);
        if decoded.frame.framing == Framing::Http {
            self.upgrade(decoded);
        }
        if matches!(role, Some(Role::Heartbeat | Role::Control)) {
            return Ok(());
        }
        let was_ready = self.shadow(protocol, decoded);
        let asked = answer.as_ref().and_then(|a| self.said.get(&a.to));
        let about = MessageInfo {
            kind: &decoded.message.kind,
            role,
            direction,
            asked: asked.map(Said::direction),
        };
        let mut message = Vec::new();
        if decoded.message.valid {
            decoded.write_message(&mut message);
        }
        let message = String::from_utf8(message).unwrap_or_default();
        let book = self.names.get_or_insert_with(|| Names::new(protocol));
        let places = book.read(&message, &about);
        let kept = Kept::of(decoded, answer.as_ref());
        self.weight += kept.weight() + message.len() + places.len() * 128;
        if self.weight > MOST {
            return Err(format!(
                "it holds more than {} MiB of messages: cut it down with --first and --last",
                MOST >> 20
            ));
        }
        let index = decoded.index;
        match direction {
            Direction::ToServer => {
                let replies_to = match asked {
                    Some(Said::Expected(told, _)) => Some(*told),
                    _ => None,
                };
                let hello = protocol.is_hello(decoded.message);
                if !(chosen || hello || replies_to.is_some()) {
                    self.left += 1;
                    self.said.insert(index, Said::Left(direction));
                    return Ok(());
                }
                let mut step = Step {
                    is_hello: hello,
                    was_ready,
                    message,
                    places,
                    replies_to,
                    ..Step::of(decoded, &kept)
                };
                step.heard = self.expected.len();
                let conn = step.conn;
                if self.step(decoded, step) && chosen {
                    self.chosen += 1;
                    self.chosen_on.insert(conn);
                }
            }
            Direction::ToClient => {
                let step = match asked {
                    Some(Said::Step(step, _)) => Some(*step),
                    _ => None,
                };
                let is_orphan = matches!(asked, Some(Said::Left(_)));
                let told = self.expected.len();
                if let Some(step) = step.and_then(|step| self.steps.get_mut(step)) {
                    step.answers.push(told);
                    if role != Some(Role::Item) {
                        step.owed = step.answers.len();
                    }
                    step.is_complete |= answer.is_some_and(|a| a.last);
                }
                self.said.insert(index, Said::Expected(told, direction));
                self.expected.push(Expected {
                    kept,
                    places,
                    answers: step,
                    is_orphan,
                    // What nobody asked for may have to do with what is left out.
                    is_due: chosen || role == Some(Role::Request),
                    is_answered: false,
                });
            }
        }
        Ok(())
    }

    /// What a client asks for before the first message says where the messages go.
    fn upgrade(&mut self, decoded: &Decoded<'_>) {
        if decoded.origin.direction == Some(Direction::ToServer)
            && let Head::Http {
                start,
                event: false,
                ..
            } = decoded.frame.head
        {
            let path = start.split(' ').nth(1).map(str::to_owned);
            self.path = self.path.take().or(path);
            let raw = decoded.raw.as_ref().map_or(&[][..], |raw| raw.bytes);
            if self.fields.is_empty() {
                self.fields = fields(raw);
            }
        }
    }

    /// Follows the recording as the calling side did: whether it could make calls before this message.
    fn shadow(&mut self, protocol: &'p dyn Protocol, decoded: &Decoded<'_>) -> bool {
        let peer = self.peer.get_or_insert_with(|| {
            let peer_config = PeerConfig {
                no_hello: true,
                ..PeerConfig::default()
            };
            protocol.behavior().peer(Direction::ToServer, &peer_config)
        });
        let (conn, mut says) = (decoded.origin.conn.unwrap_or_default(), Vec::new());
        let now = decoded.origin.time.unwrap_or_default();
        if self.greeted.insert(conn) {
            peer.opened(conn, now, &mut says);
        }
        let was_ready = peer.readiness(conn) == Readiness::Ready;
        match decoded.origin.direction {
            Some(Direction::ToServer) => peer.said(&decoded.seen(), now),
            _ => peer.heard(&decoded.seen(), now, &mut says),
        }
        was_ready
    }

    /// A message to be said; whether it can be.
    fn step(&mut self, decoded: &Decoded<'_>, mut step: Step) -> bool {
        // Half a message at the end of a torn recording is none.
        let is_cut = decoded.faults().any(|(_, fault)| fault.code == "truncated");
        if is_cut || (step.message.is_empty() && step.verbatim.is_none()) {
            self.broken += 1;
            self.said
                .insert(decoded.index, Said::Left(Direction::ToServer));
            return false;
        }
        let number = self.steps.len();
        self.line(step.conn);
        if let Some(line) = self.connections.get_mut(&step.conn) {
            line.steps.push(number);
            if step.is_hello {
                line.hellos.push(number);
            }
        }
        if let Some(told) = step.replies_to.and_then(|told| self.expected.get_mut(told)) {
            told.is_answered = true;
        }
        self.said
            .insert(decoded.index, Said::Step(number, Direction::ToServer));
        let book = self.names.as_ref();
        let theirs = |number: &usize| {
            let name = book.and_then(|book| book.name(*number));
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
            if Some(&place.spot.val) == id.as_ref() {
                step.id.get_or_insert(name);
            }
            match self.ids.get_mut(&name) {
                Some(earlier) => {
                    step.about.push(*earlier);
                    if let Some(earlier) = self.steps.get_mut(*earlier) {
                        earlier.spoken_of.push(number);
                    }
                    *earlier = number;
                }
                None if Some(&place.spot.val) == id.as_ref() => {
                    self.ids.insert(name, number);
                }
                None => {}
            }
        }
        self.steps.push(step);
        true
    }
}

impl Sink for Reader<'_> {
    type Error = PlanError;

    fn message(
        &mut self,
        decoded: &Decoded<'_>,
        verdict: Option<Verdict<'_>>,
    ) -> Result<(), PlanError> {
        self.see(decoded, verdict.unwrap_or_default())
    }

    fn header(&mut self, header: &Header) {
        if header.protocol.is_some() {
            self.unfit = is_of(header, &self.protocols).err();
        }
        self.header = Some(header.clone());
    }

    fn bytes(&mut self, origin: Origin, _: &[u8]) {
        if let Some(conn) = origin.conn {
            self.line(conn);
        }
    }

    fn event(&mut self, event: &Event<'_>, _: &[Finding]) -> Result<(), PlanError> {
        match event.what {
            What::Open => self.line(event.conn),
            What::Close | What::Reset | What::Exit => self.over(event.conn),
            What::Lost => self
                .notes
                .push("bytes went by unrecorded: what is missing is not said".into()),
            What::End => self.torn = false,
            _ => {}
        }
        Ok(())
    }

    fn problem(&mut self, problem: &Problem) {
        if problem.severity == Severity::Error {
            self.unfit = Some(problem.to_string());
        }
    }
}
