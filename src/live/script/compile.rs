//! Compiles a recording to a script.

use super::request::RequestPattern;
use super::template::{Replacement, Template, ValueSource};
use super::value::OpenValue;
use super::{AwaitedMessage, HelloReply, Reply, RuleCondition, Script, ScriptAction, ScriptRule};
use crate::conversation::{Judge, Verdict, follow};
use crate::decoder::{DecodeOptions, Decoded};
use crate::diff::StoredMessage;
use crate::framing::Limits;
use crate::live::names::{Binding, MessageInfo, Names, ValuePlace};
use crate::live::plan::check;
use crate::live::speed::Speed;
use crate::path::{Path, PathStep};
use crate::protocol::session::SessionConfig;
use crate::protocol::{Direction, Protocol, Role};
use std::collections::{BTreeSet, HashMap};
use std::convert::Infallible;
use std::sync::Arc;

/// Compiles a recording to the script that gives the same answers. `side` is the side that the stub plays; recorded
/// pauses are scaled by `speed`.
pub fn compile(
    recording: &[u8],
    protocol: &dyn Protocol,
    side: Direction,
    limits: Limits,
    speed: Speed,
) -> Result<Script, String> {
    check(recording, protocol)?;
    let options = DecodeOptions {
        limits,
        ..DecodeOptions::new(vec![protocol])
    };
    let mut reader = CompileState {
        protocol,
        side,
        speed,
        names: Names::new(protocol),
        entries: Vec::new(),
        hellos: Vec::new(),
        greeted: HashMap::new(),
        requests: HashMap::new(),
        ours: HashMap::new(),
        opening: Opening::default(),
        directions: HashMap::new(),
        failed: None,
    };
    let Ok(_) = follow::<Infallible>(
        recording,
        &options,
        &Judge::default(),
        SessionConfig::default(),
        &mut |decoded, verdict| {
            if let Some(decoded) = decoded {
                reader.see(decoded, verdict);
            }
            Ok(())
        },
    );
    if let Some(why) = reader.failed {
        return Err(why);
    }
    // Notifications have no answer.
    let entries = reader.entries.into_iter();
    let entries = entries.filter(|entry| entry.is_request || !entry.timeline.actions.is_empty());
    let rules = entries.map(|entry| ScriptRule {
        place: format!("#{}", entry.index),
        condition: RuleCondition::Request(entry.pattern),
        times: None,
        answers: true,
        goes_on: false,
        actions: entry.timeline.actions.into(),
    });
    let script = Script {
        rules: rules.collect(),
        hellos: reader.hellos,
        opening: reader
            .opening
            .messages
            .into_iter()
            .map(OpenValue::Json)
            .collect(),
        ..Script::default()
    };
    if script.rules.is_empty() && script.hellos.is_empty() && script.opening.is_empty() {
        let [client, server] = protocol.descriptor().sides;
        let from = if side == Direction::ToClient {
            client
        } else {
            server
        };
        return Err(format!(
            "no request of a {from} is recorded: there is nothing to answer"
        ));
    }
    Ok(script)
}

/// The first messages of the connections that the simulated side has opened.
#[derive(Default)]
struct Opening {
    kind: String,
    conns: BTreeSet<Option<u32>>,
    messages: Vec<String>,
}

impl Opening {
    /// Returns true for the message of another connection that corresponds to the first one.
    fn begins(&self, conn: Option<u32>, kind: &str) -> bool {
        self.kind == kind && !self.conns.contains(&conn)
    }

    fn add(&mut self, conn: Option<u32>, kind: &str, message: String, side: Direction) {
        // A side that listens has the same hello for each connection.
        if self.conns.is_empty() || side == Direction::ToServer && self.begins(conn, kind) {
            kind.clone_into(&mut self.kind);
            self.messages.push(message);
        }
        self.conns.insert(conn);
    }
}

/// A recorded request, while the recording is read.
struct CompiledRequest {
    index: u64,
    conn: Option<u32>,
    is_request: bool,
    /// Its last answer is read.
    is_done: bool,
    pattern: RequestPattern,
    places: Vec<ValuePlace>,
    timeline: Timeline,
}

/// The actions that answer a request, with their times.
struct Timeline {
    actions: Vec<ScriptAction>,
    /// The time of the last action.
    time: Option<i64>,
    speed: Speed,
    /// The answered calls: their numbers, and the values of the answers that stand for something.
    answers: Vec<(usize, Vec<ValuePlace>)>,
}

impl Timeline {
    fn new(speed: Speed, time: Option<i64>) -> Self {
        Self {
            actions: Vec::new(),
            time,
            speed,
            answers: Vec::new(),
        }
    }

    /// Adds a wait for an event of the peer.
    fn received(&mut self, action: ScriptAction, time: Option<i64>) {
        self.time = time.or(self.time);
        self.actions.push(action);
    }

    /// Adds an action of the stub's side, after the recorded pause.
    fn did(&mut self, action: ScriptAction, time: Option<i64>) {
        let since = time
            .zip(self.time)
            .map(|(now, last)| now.saturating_sub(last));
        let wait = since.and_then(|since| self.speed.scale(since));
        self.actions
            .extend(wait.filter(|ns| *ns > 0).map(ScriptAction::Wait));
        self.received(action, time);
    }

    fn calls(&self) -> usize {
        let calls = self
            .actions
            .iter()
            .filter(|action| matches!(action, ScriptAction::Call(_)));
        calls.count()
    }
}

/// The state while a recording is read.
struct CompileState<'p> {
    protocol: &'p dyn Protocol,
    side: Direction,
    names: Names,
    speed: Speed,
    entries: Vec<CompiledRequest>,
    hellos: Vec<HelloReply>,
    /// The hellos without an answer, by index.
    greeted: HashMap<u64, String>,
    /// The requests, by index.
    requests: HashMap<u64, usize>,
    /// The calls of the stub's side, by index: the request during which each was sent, and its number there.
    ours: HashMap<u64, (usize, usize)>,
    /// The first message of the stub's side, if no request came before it.
    opening: Opening,
    directions: HashMap<u64, Direction>,
    /// Why a request cannot be a rule.
    failed: Option<String>,
}

impl CompileState<'_> {
    /// Returns the open request that a notification continues or ends: the one with the same id.
    fn goes_on(&self, conn: Option<u32>, places: &[ValuePlace]) -> Option<usize> {
        let id = places.iter().find(|place| is_id(&place.path))?;
        let name = name_at(id)?;
        self.entries.iter().rposition(|entry| {
            let same = |place: &ValuePlace| place.path == id.path && name_at(place) == Some(name);
            !entry.is_done && entry.conn == conn && entry.places.iter().any(same)
        })
    }

    /// Makes a message that answers a request. Values that the peer generated come from the request or from the answers
    /// to calls.
    fn message(&self, at: usize, text: String, places: Vec<ValuePlace>) -> OpenValue {
        let of = |number: usize| {
            self.names
                .name(number)
                .filter(|name| name.owner != self.side)?;
            let entry = self.entries.get(at)?;
            let find = |places: &[ValuePlace]| {
                let place = places.iter().find(|place| name_at(place) == Some(number));
                place.map(|place| place.path.clone())
            };
            find(&entry.places).map(ValueSource::Request).or_else(|| {
                let mut answers = entry.timeline.answers.iter();
                answers.find_map(|(call, places)| Some(ValueSource::Call(*call, find(places)?)))
            })
        };
        let source = |place: &ValuePlace| match place.binding {
            Binding::Name(number) => of(number),
            Binding::Time | Binding::Given => None,
        };
        recorded(text, places, source)
    }

    /// Returns the paths of the id in a message of the peer and in its request.
    fn named(&self, at: usize, kind: String, places: &[ValuePlace]) -> Option<AwaitedMessage> {
        let id = places.iter().find(|place| is_id(&place.path))?;
        let entry = self.entries.get(at)?;
        let mut own = entry.places.iter();
        let own = own.find(|place| name_at(place).is_some() && name_at(place) == name_at(id))?;
        Some(AwaitedMessage {
            kind,
            path: id.path.clone(),
            request: own.path.clone(),
        })
    }

    /// Returns the request to which a message without a pair belongs: the last open one on its connection, otherwise the
    /// last one on it, otherwise the last open one.
    fn course(&self, conn: Option<u32>) -> Option<usize> {
        let last = |fits: &dyn Fn(&CompiledRequest) -> bool| {
            let mut entries = self.entries.iter();
            entries.rposition(fits)
        };
        last(&|entry| entry.conn == conn && !entry.is_done)
            .or_else(|| last(&|entry| entry.conn == conn))
            .or_else(|| last(&|entry| !entry.is_done))
    }

    fn see(&mut self, decoded: &Decoded<'_>, verdict: Verdict<'_>) {
        let Some(direction) = decoded.origin.direction else {
            return;
        };
        let role = decoded.message.role;
        if decoded.frame.control.is_some() || !decoded.message.valid {
            return;
        }
        if matches!(role, Some(Role::Heartbeat | Role::Control) | None) {
            return;
        }
        let answer = verdict.answer;
        let about = MessageInfo {
            kind: &decoded.message.kind,
            role,
            direction,
            request_direction: answer.and_then(|a| self.directions.get(&a.to).copied()),
        };
        let message = decoded.message_text();
        let places = self.names.read(&message, &about);
        let index = decoded.index;
        let time = decoded.origin.time;
        self.directions.insert(index, direction);
        let is_ours = direction == self.side;
        let of = answer.map(|a| a.to);
        let last = answer.is_some_and(|a| a.last);
        let kind = decoded.message.kind.to_string();
        let request = of.and_then(|to| self.requests.get(&to)).copied();
        let greeted = of
            .filter(|_| is_ours)
            .and_then(|to| self.greeted.remove(&to));
        let conn = decoded.origin.conn;
        // Each provider of a recording announces its functions on its own connection.
        let is_announced = self.opening.begins(conn, &kind);
        // A message of the peer that continues an earlier request, such as an item that it sends.
        let continued = match role {
            Some(Role::Notification | Role::Item | Role::End) if !is_ours && request.is_none() => {
                self.goes_on(decoded.origin.conn, &places)
            }
            _ => None,
        };
        match (is_ours, request, greeted, role) {
            (true, Some(at), ..) => {
                let reply = self.message(at, message, places);
                if let Some(entry) = self.entries.get_mut(at) {
                    entry.is_done |= last;
                    entry.timeline.did(send_action(reply), time);
                }
            }
            (true, None, Some(what), _) => {
                // The answer of the protocol itself has the values of this run at the same paths.
                let own = |place: &ValuePlace| match place.binding {
                    Binding::Name(_) => Some(ValueSource::Request(place.path.clone())),
                    Binding::Time | Binding::Given => None,
                };
                if self.hellos.iter().all(|hello| hello.to != what) {
                    let message = recorded(message, places, own);
                    self.hellos.push(HelloReply { to: what, message });
                }
            }
            (true, None, None, _)
                if self.entries.is_empty() && self.greeted.is_empty() || is_announced =>
            {
                self.opening.add(conn, &kind, message, self.side);
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
            ) => {
                let Some(at) = self.course(decoded.origin.conn) else {
                    return;
                };
                let message = self.message(at, message, places);
                if let Some(entry) = self.entries.get_mut(at) {
                    let timeline = &mut entry.timeline;
                    if role == Role::Request {
                        self.ours.insert(index, (at, timeline.calls()));
                        timeline.did(ScriptAction::Call(message), time);
                    } else {
                        timeline.did(send_action(message), time);
                    }
                }
            }
            (false, ..) if self.protocol.is_hello(decoded.message) => {
                self.greeted
                    .insert(index, StoredMessage::of(decoded, None).what());
            }
            (false, None, ..) if continued.is_some() => {
                let awaited = continued.and_then(|at| Some((at, self.named(at, kind, &places)?)));
                if let Some((at, awaited)) = awaited
                    && let Some(entry) = self.entries.get_mut(at)
                {
                    entry
                        .timeline
                        .received(ScriptAction::AwaitMessage(awaited), time);
                }
            }
            (false, None, _, Some(Role::Request | Role::Notification)) => {
                self.requests.insert(index, self.entries.len());
                let generated = places.iter().filter(|place| name_at(place).is_some());
                let generated = generated.map(|place| &place.path).collect();
                match RequestPattern::of(decoded, message, &generated) {
                    Ok(pattern) => self.entries.push(CompiledRequest {
                        index,
                        conn: decoded.origin.conn,
                        is_request: role == Some(Role::Request),
                        is_done: false,
                        pattern,
                        places,
                        timeline: Timeline::new(self.speed, time),
                    }),
                    Err(why) => {
                        let why = format!("#{index} cannot be a rule: {why}");
                        self.failed.get_or_insert(why);
                    }
                }
            }
            (false, None, ..) => {
                if let Some((at, call)) = of.and_then(|to| self.ours.get(&to)).copied()
                    && let Some(entry) = self.entries.get_mut(at)
                {
                    let timeline = &mut entry.timeline;
                    timeline.received(ScriptAction::Await(call), time);
                    timeline.answers.push((call, places));
                }
            }
            _ => {}
        }
    }
}

/// Returns the number of the name that a value stands for.
fn name_at(place: &ValuePlace) -> Option<usize> {
    match place.binding {
        Binding::Name(number) if !place.spot.is_key => Some(number),
        _ => None,
    }
}

/// Returns `true` if this is the path of an id.
fn is_id(path: &Path) -> bool {
    matches!(&path[..], [PathStep::Member(key)] if matches!(key.as_str(), "id" | "seq"))
}

fn send_action(message: OpenValue) -> ScriptAction {
    ScriptAction::SendReply(Reply::Message(message), Arc::default())
}

/// Makes a message of which some values are replaced.
fn recorded(
    text: String,
    places: Vec<ValuePlace>,
    source: impl Fn(&ValuePlace) -> Option<ValueSource>,
) -> OpenValue {
    let replaced = places.into_iter().filter_map(|place| {
        let source = source(&place)?;
        let span = place.spot.span;
        let key = text
            .get(span.at()..span.end())
            .filter(|_| place.spot.is_key);
        Some((place.path, key.map(str::to_owned), source))
    });
    let replaced: Vec<Replacement> = replaced.collect();
    if replaced.is_empty() {
        return OpenValue::Json(text);
    }
    match Template::new(text.clone(), replaced) {
        Ok(template) => OpenValue::Recorded(Arc::new(template)),
        Err(_) => OpenValue::Json(text),
    }
}
