//! A peer that plays the other side of a recording, and a driver for the client.

use crate::conversation::Judge;
use crate::diff::Ignore;
use crate::encoding::{Parsed, Want};
use crate::framing::Limits;
use crate::live::client::{Client, ClientConfig, ClientEvent, ClientObserver, RunOutcome};
use crate::live::codec::ConnectionConfig;
use crate::live::endpoint::Endpoint;
use crate::live::handler::{Command, Ended, Handler};
use crate::live::names::RunValues;
use crate::live::plan::{Expected, Plan};
use crate::live::speed::Speed;
use crate::protocol::Channel;
use crate::protocol::peer::{Outgoing, PeerConfig};
use crate::protocol::{Direction, Protocol, Role, registry};
use crate::select::Filter;
use base64::prelude::{BASE64_STANDARD, Engine as _};
use serde_json::Value;
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex};

pub const MILLI: i64 = 1_000_000;
pub const NOW: i64 = 1_800_000_000_000_000_000;

/// A peer of the client: bytes by connection.
pub trait TestPeer {
    fn opened(&mut self, _: u32) -> Vec<(u32, Vec<u8>)> {
        Vec::new()
    }
    fn receive(&mut self, conn: u32, bytes: &[u8]) -> Vec<(u32, Vec<u8>)>;
    /// The client has ended its direction.
    fn finished(&mut self, _: u32) -> Vec<(u32, Vec<u8>)> {
        Vec::new()
    }
    /// The time of the next call.
    fn set_time(&mut self, _: i64) {}
}

/// A change of a message.
#[derive(Clone, Debug)]
pub enum MessageChange {
    /// The message is not sent.
    Dropped,
    /// The value at a JSON pointer is replaced or removed.
    At(String, Option<Value>),
}

/// The other side of a recording. It generates its own values, and expects those of this run.
pub struct RecordedPeer<'p> {
    plan: &'p Plan<'static>,
    endpoint: Endpoint<'static>,
    live: RunValues,
    /// The number of received messages of each connection, and the received steps.
    received: BTreeMap<u32, usize>,
    steps: Vec<bool>,
    /// The number of sent messages.
    sent: usize,
    /// Answers that are due at the same time are sent in reverse order.
    pub reversed: bool,
    /// Nothing is sent from this message on.
    pub until: usize,
    /// The replacement of the last message.
    pub last: Option<(&'static str, &'static str)>,
    /// A message that is changed or not sent.
    pub change: Option<(usize, MessageChange)>,
    /// The received and the expected message.
    pub wrong: Vec<(String, String)>,
}

impl<'p> RecordedPeer<'p> {
    pub fn of(plan: &'p Plan<'static>) -> Self {
        let side = Direction::ToClient;
        // Unselected messages are not expected.
        let mut steps = vec![true; plan.steps.len()];
        for number in plan
            .connections
            .values()
            .flat_map(|connection| &connection.steps)
        {
            steps[*number] = false;
        }
        let peer_config = PeerConfig {
            seed: 99,
            no_hello: true,
            ..PeerConfig::default()
        };
        let config = ConnectionConfig::new(plan.protocol, plan.framing, side);
        Self {
            plan,
            endpoint: Endpoint::new(config, &peer_config, Limits::default(), &Judge::default()),
            live: RunValues::new(side, false, None, 99),
            received: BTreeMap::new(),
            steps,
            sent: 0,
            reversed: false,
            until: usize::MAX,
            last: None,
            change: None,
            wrong: Vec::new(),
        }
    }

    /// Sends the recorded messages up to the first missing message of the client.
    fn send_due(&mut self, commands: &mut Vec<Command>) {
        let steps = self.plan.steps.iter().zip(&self.steps);
        let next = steps
            .filter(|(_, received)| !**received)
            .map(|(step, _)| step.received_before);
        let until = next
            .min()
            .unwrap_or(self.plan.expected.len())
            .min(self.until);
        let mut due: Vec<usize> = (self.sent.min(until)..until).collect();
        if self.reversed {
            due.reverse();
        }
        self.sent = until.max(self.sent);
        for at in due {
            let expected = &self.plan.expected[at];
            // Answers to a message that is not sent are left out.
            if expected.is_orphan {
                continue;
            }
            let message = exact(self.plan.protocol, expected);
            let mut message = self
                .live
                .rewrite(&self.plan.names, &message, &expected.places, NOW);
            if let Some((from, to)) = self.last.filter(|_| at + 1 == self.plan.expected.len()) {
                assert!(message.contains(from), "{message}");
                message = message.replace(from, to);
            }
            let changed = match &self.change {
                Some((number, change)) if *number == at => change.apply(&message),
                _ => Some(message.clone()),
            };
            let conn = expected.stored.conn.unwrap_or_default();
            if let Some(changed) = changed {
                let result =
                    self.endpoint
                        .send_message(&Outgoing::new(conn, changed), None, NOW, commands);
                // A message that cannot be encoded is sent as recorded.
                if self.change.is_some() && result.is_err() {
                    let message = MessageChange::none().apply(&message).unwrap();
                    self.endpoint
                        .send_message(&Outgoing::new(conn, message), None, NOW, commands)
                        .unwrap_or_else(|error| panic!("{}: {error:?}", expected.stored.what()));
                } else {
                    result.unwrap_or_else(|error| panic!("{}: {error:?}", expected.stored.what()));
                }
            }
        }
    }
}

impl MessageChange {
    /// Returns a change that only rewrites the message.
    pub fn none() -> Self {
        Self::At("/-".into(), None)
    }

    fn apply(&self, message: &str) -> Option<String> {
        let Self::At(pointer, value) = self else {
            return None;
        };
        let mut all: Value = serde_json::from_str(message).unwrap();
        let (parent, key) = pointer.rsplit_once('/').unwrap();
        let key = key.replace("~1", "/").replace("~0", "~");
        match (all.pointer_mut(parent), value) {
            (Some(Value::Object(map)), None) => drop(map.remove(&key)),
            (Some(Value::Array(items)), None) => {
                drop(key.parse().map(|at: usize| items.remove(at)));
            }
            (Some(_), Some(value)) => *all.pointer_mut(pointer).unwrap() = value.clone(),
            _ => {}
        }
        Some(all.to_string())
    }
}

/// Returns a recorded message in the exact form that its plan read.
pub fn exact(protocol: &dyn Protocol, expected: &Expected) -> String {
    let mut parsed = Parsed::new(Want::Exact, 128);
    let mut text = Vec::new();
    let bytes = expected.stored.view().bytes.to_vec();
    expected.stored.read(protocol, &mut parsed, |message| {
        if let Some(value) = message.value {
            value.write_message(&bytes, &mut text);
        }
    });
    String::from_utf8(text).unwrap()
}

impl TestPeer for RecordedPeer<'_> {
    fn opened(&mut self, conn: u32) -> Vec<(u32, Vec<u8>)> {
        let mut commands = Vec::new();
        self.endpoint.opened(conn, NOW, &mut commands);
        self.send_due(&mut commands);
        sent_bytes(commands)
    }

    fn receive(&mut self, conn: u32, bytes: &[u8]) -> Vec<(u32, Vec<u8>)> {
        let mut commands = Vec::new();
        let mut received = Vec::new();
        let plan = self.plan;
        self.endpoint
            .received(conn, bytes, NOW, &mut commands, &mut |message| {
                // This side answers messages of the client that the recording does not start with.
                if !plan.has_hello && plan.protocol.is_hello(message.decoded.message) {
                    return;
                }
                message.replies.clear();
                let passive = matches!(
                    message.decoded.message.role,
                    Some(Role::Heartbeat | Role::Control)
                );
                if message.decoded.frame.control.is_none() && !passive {
                    let mut text = Vec::new();
                    message.decoded.write_message(&mut text);
                    received.push(String::from_utf8(text).unwrap());
                }
            });
        for text in received {
            let count = self.received.entry(conn).or_default();
            let steps = self
                .plan
                .connections
                .get(&conn)
                .map(|connection| &connection.steps);
            let Some(number) = steps.and_then(|steps| steps.get(*count)).copied() else {
                // The last messages of the protocol.
                continue;
            };
            *count += 1;
            self.steps[number] = true;
            let step = &self.plan.steps[number];
            self.live
                .receive(&self.plan.names, &step.places, None, &text);
            let wanted = self
                .live
                .rewrite(&self.plan.names, &step.message, &step.places, NOW);
            if step.verbatim.is_none() && !is_equal(&text, &wanted) {
                self.wrong.push((text, wanted));
            }
        }
        self.send_due(&mut commands);
        sent_bytes(commands)
    }
}

/// Returns `true` if two messages are equal, apart from times and spelling.
fn is_equal(a: &str, b: &str) -> bool {
    let read = |text: &str| normalize(serde_json::from_str(text).unwrap_or_default());
    read(a) == read(b)
}

/// Returns a value without widths and times.
fn normalize(value: Value) -> Value {
    match value {
        Value::Object(map) => match map.get("$as").and_then(|v| v.get(1)) {
            Some(inner) => normalize(inner.clone()),
            None => Value::Object(map.into_iter().map(|(k, v)| (k, normalize(v))).collect()),
        },
        Value::Array(all) => Value::Array(all.into_iter().map(normalize).collect()),
        Value::Number(n) if n.as_f64().is_some_and(|n| n > 1e9) => Value::from(0),
        other => other,
    }
}

fn sent_bytes(commands: Vec<Command>) -> Vec<(u32, Vec<u8>)> {
    let sends = commands.into_iter().filter_map(|command| match command {
        Command::Send(channel, bytes) => Some((channel.conn, bytes)),
        _ => None,
    });
    sends.collect()
}

/// The result and the events of a run.
pub struct FinishedRun {
    pub outcome: RunOutcome,
    pub reported: Vec<String>,
    /// The messages of the client, by connection.
    pub sent: BTreeMap<u32, Vec<u8>>,
    /// All messages, as a recording.
    pub recording: String,
}

pub fn settings(protocol: &dyn Protocol) -> ClientConfig {
    ClientConfig {
        peer_config: PeerConfig {
            seed: 7,
            ..PeerConfig::default()
        },
        keep_ids: false,
        in_order: false,
        speed: Speed::MAX,
        timeout: 1000 * MILLI,
        linger: 500 * MILLI,
        keep_going: false,
        ignore: Ignore::default().and_generated(protocol, true),
        limits: Limits::default(),
    }
}

pub fn all() -> Filter {
    Filter::default()
}

/// Runs a plan to its end. Time passes only while there is nothing else to do.
pub fn play(
    plan: &Plan<'static>,
    settings: &ClientConfig,
    other: &mut dyn TestPeer,
) -> FinishedRun {
    let reported = Arc::new(Mutex::new(Vec::new()));
    let observer: ClientObserver<'_> = {
        let reported = Arc::clone(&reported);
        Box::new(move |event, _| {
            let text = match event {
                ClientEvent::Received(..) | ClientEvent::Handshake(..) => return,
                ClientEvent::Note(text) => text,
                ClientEvent::Hangs(hang) => {
                    format!("hangs: {:?}, owed {:?}", hang.blocked, hang.pending)
                }
                ClientEvent::Diverged(divergence) => format!("{divergence:?}"),
            };
            reported.lock().unwrap().push(text);
        })
    };
    let mut config = ConnectionConfig::new(plan.protocol, plan.framing, Direction::ToServer);
    config.path = plan.path.clone().unwrap_or(config.path);
    config.recorded.clone_from(&plan.fields);
    config.events = plan.events;
    let mut client = Client::replaying(plan, config, settings, observer);
    let (mut now, mut sent) = (1_800_000_000_000_000_000, BTreeMap::<u32, Vec<u8>>::new());
    let name = plan.protocol.name();
    let mut recording = format!(
        "{{\"wiretool\":1,\"protocol\":\"{name}\",\"started\":\"2026-01-01T00:00:00Z\",\"transport\":\"tcp\"}}\n"
    );
    let mut record = |conn: u32, direction: &str, bytes: &[u8]| {
        let bytes = BASE64_STANDARD.encode(bytes);
        recording +=
            &format!("{{\"t\":1,\"conn\":{conn},\"dir\":\"{direction}\",\"b64\":\"{bytes}\"}}\n");
    };
    let mut commands = Vec::new();
    client.begin(now, &mut commands);
    let mut queue: VecDeque<Command> = commands.drain(..).collect();
    for _ in 0..100_000 {
        let Some(command) = queue.pop_front() else {
            let Some(due) = client.due() else {
                break;
            };
            now = due.max(now + 1);
            client.tick(now, &mut commands);
            queue.extend(commands.drain(..));
            continue;
        };
        let mut received = Vec::new();
        match command {
            Command::Connect(conn) => {
                client.opened(conn, now, &mut commands);
                received = other.opened(conn);
            }
            Command::Send(Channel { conn, .. }, bytes) => {
                sent.entry(conn).or_default().extend_from_slice(&bytes);
                record(conn, "c2s", &bytes);
                other.set_time(now);
                received = other.receive(conn, &bytes);
            }
            Command::Finish(channel) => received = other.finished(channel.conn),
            Command::Close(conn) => client.ended(conn.into(), &Ended::Closed, now, &mut commands),
            Command::Stop => break,
            _ => {}
        }
        for (conn, bytes) in received {
            record(conn, "s2c", &bytes);
            client.received(conn.into(), &bytes, now, &mut commands);
        }
        queue.extend(commands.drain(..));
    }
    let reported = reported.lock().unwrap().clone();
    FinishedRun {
        outcome: client.outcome().clone(),
        reported,
        sent,
        recording,
    }
}

pub fn plan(recording: &[u8]) -> Plan<'static> {
    chosen(recording, all()).unwrap()
}

pub fn chosen(recording: &[u8], choice: Filter) -> Result<Plan<'static>, String> {
    Plan::of(recording, registry::all(), None, Limits::default(), choice)
}
