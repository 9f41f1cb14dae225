//! Compiles a recording to a script.

mod exchanges;
mod messages;
mod parts;
mod unread;

use super::request::{RequestPattern, SharedForms};
use super::template::ValueSource;
use super::value::OpenValue;
use super::{
    AwaitedMessage, HelloReply, RuleCondition, RulePlace, Script, ScriptAction, ScriptRule,
};
use crate::capture::{CaptureInput, Form};
use crate::conversation::{Output, RuleSettings, Run};
use crate::decoder::{DecodeOptions, Decoded};
use crate::framing::{Framing, Limits};
use crate::live::names::{Binding, Names, ValuePlace};
use crate::live::plan::check;
use crate::live::speed::Speed;
use crate::protocol::{Direction, Protocol, Role};
use exchanges::Exchanges;
use messages::{SeenMessage, id_path};
use parts::{
    CompiledRequest, Holders, Opening, SharedPaths, StoredValue, StoredValues, Timeline, Undecided,
    name_at, recorded, replies_to, send_action,
};
use std::collections::{BTreeMap, HashMap};
use std::ops::ControlFlow;
use std::sync::Arc;
use unread::UnreadMessages;

/// The number of bytes of a recording that are read at once.
const PART_BYTES: usize = 64 << 10;

/// Compiles a recording to the script that gives the same answers. `side` is the side that the stub plays; recorded
/// pauses are scaled by `speed`.
///
/// The recording is read twice: first for the pairs, and then, without their state, for the requests.
pub fn compile(
    recording: impl Into<Vec<u8>>,
    protocol: &dyn Protocol,
    side: Direction,
    limits: Limits,
    speed: Speed,
) -> Result<Script, String> {
    let recording = recording.into();
    check(&recording, protocol)?;
    let options = DecodeOptions {
        limits,
        ..DecodeOptions::new(vec![protocol])
    };
    let mut reader = CompileState {
        protocol,
        pairs: pairs(&recording, options.clone()),
        side,
        speed,
        names: Names::new(protocol),
        entries: Vec::new(),
        holders: Holders::default(),
        forms: SharedForms::default(),
        paths: SharedPaths::default(),
        open_hellos: HashMap::new(),
        ours: HashMap::new(),
        opening: Opening::default(),
        undecided: Vec::new(),
        unread: UnreadMessages::default(),
        directions: Vec::new(),
        exchanges: Exchanges::default(),
        framing: None,
        failed: None,
    };
    let input = CaptureInput::new(Form::Recording);
    let mut run = Run::new(input, options, None);
    let mut sink = |output: Output<'_>| -> ControlFlow<()> {
        match output {
            Output::Message(decoded, _) => reader.see(decoded),
            Output::Event(event, _) => reader.exchanges.see(event, side),
            _ => {}
        }
        ControlFlow::Continue(())
    };
    // What is read is not needed again.
    let parts = recording.chunks(PART_BYTES).map(<[u8]>::to_vec);
    let parts: Vec<Vec<u8>> = parts.collect();
    drop(recording);
    for part in parts {
        let _ = run.read(&mut part.as_slice(), &mut sink);
    }
    let _ = run.finish(&mut sink);
    reader.decide(None);
    // The script needs neither the state of the connections nor that of the values.
    drop(run);
    let (mut entries, script) = reader.finish()?;
    let hellos = entries
        .extract_if(.., |entry| entry.hello.is_some())
        .collect();
    // Notifications have no answer.
    let entries = entries.into_iter();
    let entries = entries.filter(|entry| entry.is_request || !entry.timeline.actions().is_empty());
    let mut all = Vec::with_capacity(entries.size_hint().1.unwrap_or_default());
    all.extend(entries.map(|entry| ScriptRule {
        place: RulePlace::Recorded(entry.index),
        condition: RuleCondition::Request(entry.pattern),
        times: None,
        answers: true,
        goes_on: false,
        actions: entry.timeline.into_actions(),
    }));
    let script = Script {
        rules: all,
        hellos: replies_to(hellos, protocol, side),
        ..script
    };
    if script.rules.is_empty() && script.hellos.is_empty() && script.opening.is_empty() {
        return Err(nothing_to_answer(protocol, side));
    }
    Ok(script)
}

fn nothing_to_answer(protocol: &dyn Protocol, side: Direction) -> String {
    let [client, server] = protocol.descriptor().sides;
    let is_server = side == Direction::ToClient;
    let from = if is_server { client } else { server };
    format!("no request of a {from} is recorded: there is nothing to answer")
}

/// A message that answers another one, by their indices.
struct KnownAnswer {
    index: u64,
    to: u64,
    /// The subject of the request.
    asked: Option<Arc<str>>,
    /// No further message answers the request.
    is_last: bool,
}

/// What the session says about the messages of a recording.
struct RecordedPairs {
    /// The messages that answer others, in order.
    answers: Vec<KnownAnswer>,
    /// The messages that a resumed event stream repeats, in order.
    repeated: Vec<u64>,
}

/// Reads a recording for the messages that answer or repeat others.
fn pairs(recording: &[u8], options: DecodeOptions<'_>) -> RecordedPairs {
    let (mut answers, mut repeated) = (Vec::new(), Vec::new());
    let input = CaptureInput::new(Form::Recording);
    let mut run = Run::new(input, options, Some(RuleSettings::default()));
    let mut sink = |output: Output<'_>| match output {
        Output::Message(decoded, verdict) => {
            let is_repeated = verdict.is_some_and(|verdict| verdict.repeats.is_some());
            repeated.extend(is_repeated.then_some(decoded.index));
            let answer = verdict.and_then(|verdict| verdict.answer);
            answers.extend(answer.map(|answer| KnownAnswer {
                index: decoded.index,
                to: answer.to,
                asked: answer.subject.clone(),
                is_last: answer.last,
            }));
            ControlFlow::Continue(())
        }
        // The rest is findings.
        Output::BeforeEnd(_) => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    };
    let _ = run.read_all(recording, &mut sink);
    RecordedPairs { answers, repeated }
}

/// Recorded requests. A list that grows has unused space, and there can be many.
#[allow(clippy::vec_box)]
type CompiledRequests = Vec<Box<CompiledRequest>>;

/// The state while a recording is read.
struct CompileState<'p> {
    protocol: &'p dyn Protocol,
    pairs: RecordedPairs,
    side: Direction,
    names: Names,
    speed: Speed,
    entries: CompiledRequests,
    holders: Holders,
    forms: SharedForms,
    paths: SharedPaths,
    /// The hellos without an answer, by index.
    open_hellos: HashMap<u64, usize>,
    /// The calls of the stub's side, by index: the request during which each was sent, and its number there.
    ours: HashMap<u64, (usize, usize)>,
    /// The first message of the stub's side, if no request came before it.
    opening: Opening,
    /// Notifications of the stub's side during open requests.
    undecided: Vec<Undecided>,
    unread: UnreadMessages,
    /// The directions of messages with their indices, in order.
    directions: Vec<(u64, Direction)>,
    exchanges: Exchanges,
    /// The framing of the first request.
    framing: Option<Framing>,
    /// Why a request cannot be a rule.
    failed: Option<String>,
}

impl CompileState<'_> {
    /// Returns the requests, and the script without their rules.
    fn finish(mut self) -> Result<(CompiledRequests, Script), String> {
        self.unread.decide(&mut self.entries, self.speed);
        self.exchanges.decide(&mut self.entries, self.speed);
        let opening = self.opening.messages.into_iter().map(OpenValue::Json);
        let script = Script {
            opening: opening.collect(),
            unreadable: self.unread.answers,
            sessions: self.exchanges.sessions(self.protocol),
            framing: self
                .framing
                .filter(|framing| exchanges::is_unusual(*framing, self.protocol)),
            older_path: self.exchanges.older_path,
            ..Script::default()
        };
        self.failed.map_or(Ok((self.entries, script)), Err)
    }

    /// Returns the open request that a message of the peer continues or ends: the one whose id it has. Over HTTP, such a
    /// message uses another connection.
    fn goes_on(&self, decoded: &Decoded<'_>, places: &[ValuePlace]) -> Option<usize> {
        let conn = decoded.origin.conn;
        let is_http = decoded.frame.framing == Framing::Http;
        let names: Vec<usize> = places.iter().filter_map(name_at).collect();
        self.entries.iter().rposition(|entry| {
            let is_named = |name| names.contains(&name);
            let id = entry.id().and_then(StoredValue::name);
            !entry.is_done && (is_http || entry.conn == conn) && id.is_some_and(is_named)
        })
    }

    /// Returns `true` if the stub's side makes this value.
    fn is_ours(&self, name: usize) -> bool {
        (self.names.name(name)).is_some_and(|name| name.owner == self.side)
    }

    /// Makes a message that answers a request. Values that differ in each run come from the request, or from the calls
    /// and their answers.
    fn message(&self, at: usize, text: String, places: Vec<ValuePlace>) -> OpenValue {
        let entry = self.entries.get(at);
        let source = |place: &ValuePlace| match place.binding {
            Binding::Name(number) => {
                let entry = entry?;
                (entry.timeline).source(&entry.values, number, self.is_ours(number))
            }
            Binding::Time | Binding::Process | Binding::Given => None,
        };
        recorded(text, places, source)
    }

    /// Returns the paths of the id in a message of the peer and in its request.
    fn named(&self, at: usize, kind: String, places: &[ValuePlace]) -> Option<AwaitedMessage> {
        let id = self.entries.get(at)?.id()?;
        let mut places = places.iter();
        let place = places.find(|place| name_at(place).is_some() && name_at(place) == id.name())?;
        Some(AwaitedMessage {
            kind,
            path: place.path.clone(),
            request: (*id.path).clone(),
        })
    }

    /// Returns the request to which a message without a pair belongs, of the holders of its values, otherwise of all: an
    /// open one on its connection, otherwise any on it, otherwise any open one. Of several, it is the last one
    /// that holds most values.
    fn course(&self, conn: Option<u32>, holders: &BTreeMap<usize, usize>) -> Option<usize> {
        let last = |fits: &dyn Fn(&CompiledRequest) -> bool| {
            let fits_at = |at: &usize| self.entries.get(*at).is_some_and(|entry| fits(entry));
            if holders.is_empty() {
                return self.entries.iter().rposition(|entry| fits(entry));
            }
            let fitting = holders.iter().filter(|(at, _)| fits_at(at));
            fitting.max_by_key(|(_, count)| **count).map(|(at, _)| *at)
        };
        last(&|entry| entry.conn == conn && !entry.is_done)
            .or_else(|| last(&|entry| entry.conn == conn))
            .or_else(|| last(&|entry| !entry.is_done))
            .or_else(|| last(&|_| true))
    }

    /// Returns the message of the peer to which a notification belongs. Values that the stub's side makes are the recorded
    /// ones in each run, so they need no request that has ended: such a notification belongs to an open request, otherwise
    /// to what the peer sent last.
    fn course_of_notification(
        &self,
        conn: Option<u32>,
        places: &[ValuePlace],
        holders: &mut BTreeMap<usize, usize>,
    ) -> Option<usize> {
        let mut names = places.iter().filter_map(name_at);
        if names.any(|name| !self.is_ours(name)) {
            return self.course(conn, holders);
        }
        let is_open = |entry: &CompiledRequest| entry.is_open_on(conn);
        holders.retain(|at, _| self.entries.get(*at).is_some_and(|e| is_open(e)));
        let mut last = self.entries.iter().rev().take(Holders::MAX);
        let sent_last = if last.any(|entry| is_open(entry)) {
            None
        } else {
            (self.entries.iter()).rposition(|entry| entry.conn == conn)
        };
        sent_last.or_else(|| self.course(conn, holders))
    }

    /// Adds the notifications that may belong to a request to its actions, before another action; at the end, each that is
    /// left to the last request to which it may belong.
    fn decide(&mut self, request: Option<usize>) {
        let belongs = |one: &mut Undecided| {
            let Some(at) = request else {
                return true;
            };
            let conn_of = |at: usize| self.entries.get(at).map(|entry| entry.conn);
            let most = one.holders.values().max();
            at <= one.last
                && conn_of(at) == conn_of(one.last)
                && (most.is_none() || one.holders.get(&at) == most)
        };
        let decided: Vec<Undecided> = self.undecided.extract_if(.., belongs).collect();
        for one in decided {
            self.add_notification(
                request.unwrap_or(one.last),
                one.message,
                one.places,
                one.time,
                one.is_event,
            );
        }
    }

    /// Adds a notification of the stub's side to the actions of a request.
    fn add_notification(
        &mut self,
        at: usize,
        message: String,
        places: Vec<ValuePlace>,
        time: Option<i64>,
        is_event: bool,
    ) {
        self.holders.add(at, &places);
        let mut message = self.message(at, message, places);
        if is_event {
            message = message.into_event();
        }
        if let Some(course) = self.course_mut(at) {
            course.notified(send_action(message), time);
        }
    }

    /// Lets the next event of a request wait for the last request before it: the events of several requests share one
    /// stream, in an order.
    fn keep_order(&mut self, at: usize) {
        let speed = self.speed;
        let Some((entry, later)) = self
            .entries
            .split_at_mut_checked(at + 1)
            .and_then(|(all, later)| Some((all.last_mut()?, later)))
        else {
            return;
        };
        let mut later = later.iter().rev();
        let last =
            later.find(|last| last.conn == entry.conn && last.is_request && last.hello.is_none());
        if let Some(last) = last {
            let course = entry.timeline.course(speed);
            course.received_request(last.index, last.timeline.time);
        }
    }

    /// Returns `true` for the last answer of a request that comes once more on another connection: a peer that resumes a
    /// session repeats by itself what it has sent.
    fn is_repeated(&self, at: usize, conn: Option<u32>, role: Role, message: &OpenValue) -> bool {
        let entry = self
            .entries
            .get(at)
            .filter(|_| matches!(role, Role::Error | Role::End));
        entry.is_some_and(|entry| {
            let sent = send_action(message.clone());
            entry.is_done && entry.conn != conn && entry.timeline.actions().contains(&sent)
        })
    }

    /// Returns the hello of a connection that is not answered yet, if nothing else was asked on it.
    fn open_hello(&self, conn: Option<u32>) -> Option<usize> {
        let mut own = self.entries.iter().enumerate().rev();
        let (at, last) = own.find(|(_, entry)| entry.conn == conn)?;
        (last.hello.as_ref()?.message.is_none()).then_some(at)
    }

    /// Makes a message that answers a hello. The answer of the protocol itself has the values of this run at the same
    /// paths; if it refuses, only what the hello has.
    fn hello_answer(
        &self,
        at: usize,
        text: String,
        places: Vec<ValuePlace>,
        role: Option<Role>,
    ) -> OpenValue {
        let asked = self.entries.get(at).map(|entry| &entry.values);
        let is_known = |place: &ValuePlace| {
            let mut asked = asked.into_iter().flat_map(StoredValues::iter);
            role != Some(Role::Error) || asked.any(|own| *own.path == place.path)
        };
        recorded(text, places, |place| match place.binding {
            Binding::Name(_) if is_known(place) => {
                Some((ValueSource::Request(place.path.clone()), place.spot.form))
            }
            _ => None,
        })
    }

    /// Adds a request, a notification or a hello of the peer.
    fn add_entry(&mut self, seen: SeenMessage<'_>, hello: Option<HelloReply>) {
        let SeenMessage {
            decoded,
            message,
            places,
            ..
        } = seen;
        let index = decoded.index;
        let id = id_path(decoded, &places);
        let generated = places.iter().filter(|place| name_at(place).is_some());
        let generated = generated.map(|place| &place.path).collect();
        let pattern = match &hello {
            Some(_) => Ok(RequestPattern::default()),
            None => RequestPattern::of(decoded, message, &generated, &mut self.forms),
        };
        let pattern = match pattern {
            Ok(pattern) => pattern,
            Err(why) => {
                let why = format!("#{index} cannot be a rule: {why}");
                self.failed.get_or_insert(why);
                return;
            }
        };
        let at = self.entries.len();
        self.framing.get_or_insert(decoded.frame.framing);
        if decoded.frame.framing == Framing::Http {
            self.exchanges.add(decoded.origin.conn, at);
        }
        if hello.is_some() {
            self.open_hellos.insert(index, at);
        }
        let is_request = decoded.message.role == Some(Role::Request);
        // A notification about an earlier request causes nothing itself.
        let is_about = !is_request && !self.holders.find(&places, None).is_empty();
        self.holders.add(at, &places);
        self.entries.push(Box::new(CompiledRequest {
            index,
            conn: decoded.origin.conn,
            is_request,
            is_done: hello.is_some() || is_about,
            hello: hello.map(Box::new),
            pattern,
            values: StoredValues::of(&places, id, &mut self.paths),
            timeline: Timeline::new(decoded.origin.time),
        }));
    }

    /// Returns `true` if a message adds nothing to the script.
    fn passes_over(&mut self, decoded: &Decoded<'_>, is_ours: bool, is_answer: bool) -> bool {
        let role = decoded.message.role;
        let passive = matches!(role, Some(Role::Heartbeat | Role::Control) | None)
            || self.pairs.repeated.binary_search(&decoded.index).is_ok();
        if !is_ours && (!decoded.message.valid || role.is_none()) {
            self.unread.add(decoded.origin.conn);
        }
        if !decoded.message.valid || passive {
            return true;
        }
        if !is_ours || is_answer {
            return false;
        }
        // An HTTP server sends nothing without a request: such an answer belongs to a request that is no message.
        let is_http = decoded.frame.framing == Framing::Http && self.side == Direction::ToClient;
        let answers = matches!(role, Some(Role::Response | Role::Error));
        is_http && (answers || self.is_empty()) || self.unread.refuses(decoded)
    }

    fn is_empty(&self) -> bool {
        self.entries.is_empty() && self.open_hellos.is_empty()
    }

    /// Returns the request with this index.
    fn request_at(&self, index: u64) -> Option<usize> {
        let at = self
            .entries
            .binary_search_by_key(&index, |entry| entry.index);
        at.ok().filter(|at| {
            self.entries
                .get(*at)
                .is_some_and(|entry| entry.hello.is_none())
        })
    }

    /// Returns the request that a message answers.
    fn answer(&self, index: u64) -> Option<&KnownAnswer> {
        let answers = &self.pairs.answers;
        let at = answers.binary_search_by_key(&index, |answer| answer.index);
        answers.get(at.ok()?)
    }

    fn direction_of(&self, index: u64) -> Option<Direction> {
        let at = self.directions.binary_search_by_key(&index, |(at, _)| *at);
        Some(self.directions.get(at.ok()?)?.1)
    }

    fn set_direction(&mut self, index: u64, direction: Direction) {
        // A recording states the index of its first message.
        self.directions.push((index, direction));
    }

    fn see(&mut self, decoded: &Decoded<'_>) {
        let Some(direction) = decoded.origin.direction else {
            return;
        };
        self.exchanges.see_head(decoded, self.protocol);
        let is_ours = direction == self.side;
        let answer = self.answer(decoded.index);
        let (of, last) = (
            answer.map(|answer| answer.to),
            answer.is_some_and(|answer| answer.is_last),
        );
        let asked = answer.and_then(|answer| answer.asked.clone());
        if self.refuses(of.filter(|_| is_ours), decoded)
            || decoded.frame.control.is_some()
            || self.passes_over(decoded, is_ours, of.is_some())
        {
            return;
        }
        let role = decoded.message.role;
        let request_direction = of.and_then(|to| self.direction_of(to));
        let read = (self.names).read_decoded(decoded, asked.as_deref(), request_direction);
        let seen = SeenMessage::new(decoded, read);
        let (conn, kind) = (seen.conn, decoded.message.kind.to_string());
        self.set_direction(decoded.index, direction);
        let mut request = of.and_then(|to| self.request_at(to));
        let answered_hello = of
            .filter(|_| is_ours)
            .and_then(|to| self.open_hellos.remove(&to));
        if let Some(at) = request.filter(|_| is_ours && role == Some(Role::Item)) {
            request = Some(self.request_of_item(at, &seen));
        }
        // Each provider of a recording announces its functions on its own connection.
        let is_announced = self.opening.begins(conn, &kind);
        let open_hello = self.open_hello(conn).filter(|_| is_ours);
        // A message of the peer that continues an earlier request, such as an item that it sends.
        let continued = match role {
            Some(Role::Notification | Role::Item | Role::End) if !is_ours && request.is_none() => {
                self.goes_on(decoded, &seen.places)
            }
            _ => None,
        };
        match (is_ours, request, answered_hello, role) {
            (true, Some(at), ..) => self.add_reply(at, seen, last, open_hello.is_some()),
            (true, None, Some(at), _) => self.add_hello_answer(at, seen),
            (true, None, None, Some(Role::Response | Role::Error | Role::Item | Role::End))
                if open_hello.is_some() =>
            {
                self.add_missed(open_hello.unwrap_or_default(), seen);
            }
            (true, None, None, _) if self.is_empty() || is_announced => {
                self.opening.add(conn, &kind, seen.message, self.side);
            }
            // A runtime also refuses messages of a provider with an unpaired error. Items that belong to no request, such as
            // audio, go with the request before them.
            (
                true,
                None,
                None,
                Some(
                    role @ (Role::Request
                    | Role::Notification
                    | Role::Error
                    | Role::Item
                    | Role::End),
                ),
            ) => self.add_unasked(role, seen),
            (false, ..) if self.protocol.is_hello(decoded.message) => self.add_hello(seen),
            (false, None, ..) if continued.is_some() => self.await_message(continued, kind, &seen),
            (false, None, _, Some(Role::Request | Role::Notification)) => {
                self.add_entry(seen, None);
            }
            (false, None, ..) => {
                if let Some(call) = of.and_then(|to| self.ours.get(&to)).copied() {
                    self.await_answer(call, &seen);
                }
            }
            _ => {}
        }
    }
}
