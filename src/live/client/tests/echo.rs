//! The other side of a recording, and a client that is driven by hand.

use crate::conversation::Judge;
use crate::diff::Ignore;
use crate::encoding::{Parsed, Want};
use crate::framing::Limits;
use crate::live::client::{Client, Event, Observer, Outcome, Settings};
use crate::live::codec::ConnectionConfig;
use crate::live::endpoint::Endpoint;
use crate::live::handler::{Command, Ended, Handler};
use crate::live::names::Values;
use crate::live::plan::{Expected, Plan, Selection};
use crate::live::speed::Speed;
use crate::protocol::peer::{PeerConfig, Says};
use crate::protocol::{Direction, Protocol, Role, registry};
use crate::select::Filter;
use base64::prelude::{BASE64_STANDARD, Engine as _};
use serde_json::Value;
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex};

pub const MILLI: i64 = 1_000_000;
pub const NOW: i64 = 1_800_000_000_000_000_000;

/// What answers a client: bytes by connection.
pub trait Other {
    fn opened(&mut self, _: u32) -> Vec<(u32, Vec<u8>)> {
        Vec::new()
    }
    fn hears(&mut self, conn: u32, bytes: &[u8]) -> Vec<(u32, Vec<u8>)>;
    /// When it last heard something.
    fn at(&mut self, _: i64) {}
}

/// What becomes of a message.
#[derive(Clone, Debug)]
pub enum Twist {
    /// It is not said.
    Dropped,
    /// Another value stands at a JSON pointer, or none.
    At(String, Option<Value>),
}

/// The other side of a recording, which makes its values anew, and wants to hear those of this run.
pub struct Echo<'p> {
    plan: &'p Plan<'static>,
    endpoint: Endpoint<'static>,
    live: Values,
    /// How many messages were heard of each connection, and which steps.
    heard: BTreeMap<u32, usize>,
    steps: Vec<bool>,
    /// How many were said.
    said: usize,
    /// Swapped answers: as many as are due at a time go out in reverse.
    pub reversed: bool,
    /// Nothing is said from this message on.
    pub until: usize,
    /// The last message is said so instead.
    pub last: Option<(&'static str, &'static str)>,
    /// A message that is said otherwise, or not at all.
    pub twist: Option<(usize, Twist)>,
    /// What was heard, and what should have been.
    pub wrong: Vec<(String, String)>,
}

impl<'p> Echo<'p> {
    pub fn of(plan: &'p Plan<'static>) -> Self {
        let side = Direction::ToClient;
        // What is left out is not waited for.
        let mut steps = vec![true; plan.steps.len()];
        for number in plan.connections.values().flat_map(|line| &line.steps) {
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
            live: Values::new(side, false, None, 99),
            heard: BTreeMap::new(),
            steps,
            said: 0,
            reversed: false,
            until: usize::MAX,
            last: None,
            twist: None,
            wrong: Vec::new(),
        }
    }

    /// Says all that was said before a message that is not there yet.
    fn say(&mut self, commands: &mut Vec<Command>) {
        let steps = self.plan.steps.iter().zip(&self.steps);
        let next = steps
            .filter(|(_, heard)| !**heard)
            .map(|(step, _)| step.heard);
        let until = next
            .min()
            .unwrap_or(self.plan.expected.len())
            .min(self.until);
        let mut due: Vec<usize> = (self.said.min(until)..until).collect();
        if self.reversed {
            due.reverse();
        }
        self.said = until.max(self.said);
        for at in due {
            let told = &self.plan.expected[at];
            // What answers a message that is not said does not come.
            if told.is_orphan {
                continue;
            }
            let message = exact(self.plan.protocol, told);
            let mut message = self
                .live
                .rewrite(&self.plan.names, &message, &told.places, NOW);
            if let Some((from, to)) = self.last.filter(|_| at + 1 == self.plan.expected.len()) {
                assert!(message.contains(from), "{message}");
                message = message.replace(from, to);
            }
            let twisted = match &self.twist {
                Some((number, twist)) if *number == at => twist.of(&message),
                _ => Some(message.clone()),
            };
            let conn = told.kept.conn.unwrap_or_default();
            if let Some(twisted) = twisted {
                let said = self
                    .endpoint
                    .say(&Says::new(conn, twisted), None, NOW, commands);
                // What cannot be written is said as it was.
                if self.twist.is_some() && said.is_err() {
                    let message = Twist::none().of(&message).unwrap();
                    self.endpoint
                        .say(&Says::new(conn, message), None, NOW, commands)
                        .unwrap();
                } else {
                    said.unwrap();
                }
            }
        }
    }
}

impl Twist {
    /// Nothing is another, and it is written as after a twist.
    pub fn none() -> Self {
        Self::At("/-".into(), None)
    }

    fn of(&self, message: &str) -> Option<String> {
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

/// A recorded message as its plan read it.
pub fn exact(protocol: &dyn Protocol, told: &Expected) -> String {
    let mut parsed = Parsed::new(Want::Exact, 128);
    let mut text = Vec::new();
    let bytes = told.kept.view().bytes.to_vec();
    told.kept.read(protocol, &mut parsed, |message| {
        if let Some(value) = message.value {
            value.write_message(&bytes, &mut text);
        }
    });
    String::from_utf8(text).unwrap()
}

impl Other for Echo<'_> {
    fn opened(&mut self, conn: u32) -> Vec<(u32, Vec<u8>)> {
        let mut commands = Vec::new();
        self.endpoint.opened(conn, NOW, &mut commands);
        self.say(&mut commands);
        sent(commands)
    }

    fn hears(&mut self, conn: u32, bytes: &[u8]) -> Vec<(u32, Vec<u8>)> {
        let mut commands = Vec::new();
        let mut heard = Vec::new();
        let plan = self.plan;
        self.endpoint
            .received(conn, bytes, NOW, &mut commands, &mut |message| {
                // What the recording does not open with, this side answers on its own.
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
                    heard.push(String::from_utf8(text).unwrap());
                }
            });
        for text in heard {
            let count = self.heard.entry(conn).or_default();
            let steps = self.plan.connections.get(&conn).map(|line| &line.steps);
            let Some(number) = steps.and_then(|steps| steps.get(*count)).copied() else {
                // What the protocol says last.
                continue;
            };
            *count += 1;
            self.steps[number] = true;
            let step = &self.plan.steps[number];
            self.live.hear(&self.plan.names, &step.places, None, &text);
            let wanted = self
                .live
                .rewrite(&self.plan.names, &step.message, &step.places, NOW);
            if step.verbatim.is_none() && !alike(&text, &wanted) {
                self.wrong.push((text, wanted));
            }
        }
        self.say(&mut commands);
        sent(commands)
    }
}

/// Whether two messages are the same but for times and for how they are written.
fn alike(a: &str, b: &str) -> bool {
    let read = |text: &str| plain(serde_json::from_str(text).unwrap_or_default());
    read(a) == read(b)
}

/// A value without widths and times.
fn plain(value: Value) -> Value {
    match value {
        Value::Object(map) => match map.get("$as").and_then(|v| v.get(1)) {
            Some(inner) => plain(inner.clone()),
            None => Value::Object(map.into_iter().map(|(k, v)| (k, plain(v))).collect()),
        },
        Value::Array(all) => Value::Array(all.into_iter().map(plain).collect()),
        Value::Number(n) if n.as_f64().is_some_and(|n| n > 1e9) => Value::from(0),
        other => other,
    }
}

fn sent(commands: Vec<Command>) -> Vec<(u32, Vec<u8>)> {
    let sends = commands.into_iter().filter_map(|command| match command {
        Command::Send(conn, bytes) => Some((conn, bytes)),
        _ => None,
    });
    sends.collect()
}

/// What came of a run, and what was told.
pub struct Ran {
    pub outcome: Outcome,
    pub told: Vec<String>,
    /// What the client said, by connection.
    pub said: BTreeMap<u32, Vec<u8>>,
    /// All that was said, as a recording.
    pub recording: String,
}

pub fn settings(protocol: &dyn Protocol) -> Settings {
    Settings {
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
        ignore: Ignore::default().and_anew(protocol, true),
        limits: Limits::default(),
    }
}

pub fn all() -> Selection {
    Selection {
        first: None,
        last: None,
        filter: Filter::default(),
    }
}

/// Plays a plan until it is over; time passes only where nothing else happens.
pub fn play(plan: &Plan<'static>, settings: &Settings, other: &mut dyn Other) -> Ran {
    let told = Arc::new(Mutex::new(Vec::new()));
    let teller: Observer<'_> = {
        let told = Arc::clone(&told);
        Box::new(move |tell, _| {
            let text = match tell {
                Event::Received(..) => return,
                Event::Note(text) => text,
                Event::Hangs(hang) => format!("hangs: {:?}, owed {:?}", hang.held, hang.owed),
                Event::Diverged(divergence) => format!("{divergence:?}"),
            };
            told.lock().unwrap().push(text);
        })
    };
    let config = ConnectionConfig::new(plan.protocol, plan.framing, Direction::ToServer);
    let mut client = Client::replaying(plan, config, settings, teller);
    let (mut now, mut said) = (1_800_000_000_000_000_000, BTreeMap::<u32, Vec<u8>>::new());
    let name = plan.protocol.name();
    let mut recording = format!(
        "{{\"wiretool\":1,\"protocol\":\"{name}\",\"started\":\"2026-01-01T00:00:00Z\",\"transport\":\"tcp\"}}\n"
    );
    let mut record = |conn: u32, way: &str, bytes: &[u8]| {
        let bytes = BASE64_STANDARD.encode(bytes);
        recording +=
            &format!("{{\"t\":1,\"conn\":{conn},\"dir\":\"{way}\",\"b64\":\"{bytes}\"}}\n");
    };
    let mut commands = Vec::new();
    client.begin(now, &mut commands);
    let mut todo: VecDeque<Command> = commands.drain(..).collect();
    for _ in 0..100_000 {
        let Some(command) = todo.pop_front() else {
            let Some(due) = client.due() else {
                break;
            };
            now = due.max(now + 1);
            client.tick(now, &mut commands);
            todo.extend(commands.drain(..));
            continue;
        };
        let mut heard = Vec::new();
        match command {
            Command::Connect(conn) => {
                client.opened(conn, now, &mut commands);
                heard = other.opened(conn);
            }
            Command::Send(conn, bytes) => {
                said.entry(conn).or_default().extend_from_slice(&bytes);
                record(conn, "c2s", &bytes);
                other.at(now);
                heard = other.hears(conn, &bytes);
            }
            Command::Close(conn) => client.ended(conn, &Ended::Closed, now, &mut commands),
            Command::Stop => break,
            _ => {}
        }
        for (conn, bytes) in heard {
            record(conn, "s2c", &bytes);
            client.received(conn, &bytes, now, &mut commands);
        }
        todo.extend(commands.drain(..));
    }
    let told = told.lock().unwrap().clone();
    Ran {
        outcome: client.outcome().clone(),
        told,
        said,
        recording,
    }
}

pub fn plan(recording: &[u8]) -> Plan<'static> {
    chosen(recording, all()).unwrap()
}

pub fn chosen(recording: &[u8], choice: Selection) -> Result<Plan<'static>, String> {
    Plan::of(recording, registry::all(), None, Limits::default(), choice)
}
