//! Whoever waits is not kept waiting by what nobody waits for: time passes, and something else comes all the while.

use super::echo::{MILLI, NOW, plan, settings};
use super::recorded;
use crate::framing::Framing;
use crate::live::client::{Client, Event, Input, Observer, Settings};
use crate::live::codec::ConnectionConfig;
use crate::live::handler::{Command, Ended, Handler};
use crate::live::plan::Plan;
use crate::protocol::peer::PeerConfig;
use crate::protocol::{Direction, registry};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// The time after which a run that does not end is given up, in milliseconds.
const LONG: i64 = 60_000;

/// What was told: notes, and hangs.
type Told = Arc<Mutex<Vec<String>>>;

fn teller<'t>(told: &Told) -> Observer<'t> {
    let told = Arc::clone(told);
    Box::new(move |tell, _| {
        let text = match tell {
            Event::Received(..) => return,
            Event::Note(text) => text,
            Event::Hangs(hang) => {
                format!("hangs for {} ms, other {}", hang.silent / MILLI, hang.other)
            }
            Event::Diverged(divergence) => format!("{divergence:?}"),
        };
        told.lock().unwrap().push(text);
    })
}

/// Runs a handler against one that says `noise` so often, and to what it hears what `answer` has; when it ended, in
/// milliseconds.
fn run(
    handler: &mut dyn Handler,
    noise: &str,
    every: i64,
    mut answer: impl FnMut(&str) -> String,
) -> i64 {
    let (mut now, mut commands, mut open) = (NOW, Vec::new(), None);
    let mut next = NOW;
    handler.begin(now, &mut commands);
    while now < NOW + LONG * MILLI {
        for command in std::mem::take(&mut commands) {
            match command {
                Command::Connect(conn) => {
                    open = Some(conn);
                    handler.opened(conn, now, &mut commands);
                }
                Command::Send(conn, bytes) => {
                    for line in String::from_utf8_lossy(&bytes).lines() {
                        let answer = answer(line);
                        if !answer.is_empty() {
                            handler.received(conn, answer.as_bytes(), now, &mut commands);
                        }
                    }
                }
                Command::Stop => return (now - NOW) / MILLI,
                _ => {}
            }
        }
        if !commands.is_empty() {
            continue;
        }
        let due = handler.due().unwrap_or(i64::MAX);
        if let Some(conn) = open.filter(|_| next <= due) {
            now = next.max(now);
            next = now + every * MILLI;
            handler.received(conn, noise.as_bytes(), now, &mut commands);
        } else {
            now = due.max(now);
            handler.tick(now, &mut commands);
        }
    }
    LONG
}

/// A push that comes, when others do.
const PUSH: &str = r#"
    > {"jsonrpc":"2.0","id":"5f6e7d8c-0000-4000-8000-000000000001","method":"initialize","params":{"runtimeProtocolVersion":1}}
    < {"jsonrpc":"2.0","id":"5f6e7d8c-0000-4000-8000-000000000001","result":{"serverProtocolVersion":1}}
    > {"jsonrpc":"2.0","method":"initialized","params":{}}
    < {"jsonrpc":"2.0","method":"log","params":{"text":"at work"}}
"#;

/// An oracle that has said that it is ready.
const ORACLE: &str = r#"
    < {"jsonrpc":"2.0","id":0,"method":"ready"}
    > {"jsonrpc":"2.0","id":0,"result":{}}
    > {"jsonrpc":"2.0","id":0,"method":"invoke","params":{"selector":"f","calldata":["0x1"]}}
    < {"jsonrpc":"2.0","id":0,"result":["0x2"]}
"#;

fn greets(line: &str) -> String {
    let message: serde_json::Value = serde_json::from_str(line).unwrap();
    match message.get("id") {
        Some(id) => format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"serverProtocolVersion\":1}}}}\n"
        ),
        None => String::new(),
    }
}

const NOISE: &str = "{\"jsonrpc\":\"2.0\",\"method\":\"noise\",\"params\":{}}\n";
const READY: &str = "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"ready\"}\n";

#[test]
fn a_replay_is_not_kept_by_what_the_recording_does_not_have() {
    let silent = |_: &str| String::new();
    for (protocol, recording, noise, every, answer, ends, told) in [
        // All is answered, and one push is missing: it lingers for half a second.
        (
            "stepflow",
            PUSH,
            NOISE,
            100,
            &greets as &dyn Fn(&str) -> String,
            500,
            "how: Missing([Which { index: 3, conn: Some(1), direction: Some(ToClient), what: \"notification log\"",
        ),
        // Nothing is answered.
        (
            "stepflow",
            PUSH,
            NOISE,
            100,
            &silent,
            1000,
            "hangs for 1000 ms, other true",
        ),
        // The greeting never comes, and blank lines do.
        (
            "oracle",
            ORACLE,
            "\n",
            100,
            &silent,
            1000,
            "hangs for 1000 ms, other true",
        ),
        // It comes again and again.
        (
            "oracle",
            ORACLE,
            READY,
            100,
            &silent,
            1000,
            "hangs for 1000 ms, other true",
        ),
        (
            "oracle",
            ORACLE,
            "\n",
            LONG,
            &silent,
            1000,
            "hangs for 1000 ms, other false",
        ),
    ] {
        let recording = recorded(protocol, recording);
        let plan = plan(&recording);
        let settings = settings(plan.protocol);
        let all = Told::default();
        let config = ConnectionConfig::new(plan.protocol, plan.framing, Direction::ToServer);
        let mut client = Client::replaying(&plan, config, &settings, teller(&all));
        let ended = run(&mut client, noise, every, answer);
        let all = all.lock().unwrap().join("\n");
        assert_eq!(ended, ends, "{noise}: {all}");
        assert!(all.contains(told), "{noise}: {all}");
    }
}

#[test]
fn what_comes_too_often_is_told_so_often_and_counted() {
    let recording = recorded("stepflow", PUSH);
    let plan = plan(&recording);
    let settings = settings(plan.protocol);
    let all = Told::default();
    let config = ConnectionConfig::new(plan.protocol, plan.framing, Direction::ToServer);
    let mut client = Client::replaying(&plan, config, &settings, teller(&all));
    run(&mut client, NOISE, 1, greets);
    let told = all.lock().unwrap();
    let one = "notification noise came, which the recording does not have";
    assert_eq!(told.iter().filter(|text| *text == one).count(), 20);
    let more = told
        .iter()
        .find(|text| text.contains(" more messages came"));
    let more = more.unwrap().split(' ').next().unwrap();
    assert!(more.parse::<u64>().unwrap() > 400, "{more}");
    assert!(told.len() < 30, "{}", told.len());
}

fn asks(protocol: &str, messages: &[&str], linger: i64, told: &Told) -> Client<'static> {
    let protocol = registry::find(protocol).unwrap();
    let messages: Vec<String> = messages.iter().rev().map(|m| (*m).to_owned()).collect();
    sends(
        ConnectionConfig::new(protocol, Framing::Lines, Direction::ToServer),
        Settings {
            timeout: 1000 * MILLI,
            linger: linger * MILLI,
            in_order: true,
            ..Settings::default()
        },
        messages,
        told,
    )
}

fn sends<'p>(
    config: ConnectionConfig<'p>,
    settings: Settings,
    mut messages: Vec<String>,
    told: &Told,
) -> Client<'p> {
    let plan = Box::leak(Box::new(Plan::empty(config.protocol, config.framing)));
    Client::sending(
        plan,
        config,
        Box::leak(Box::new(settings)),
        Box::new(move || messages.pop().map_or(Input::End, Input::Message)),
        teller(told),
    )
}

/// `--linger` counts from the last answer, and events are none.
#[test]
fn events_do_not_prolong_a_stay() {
    let told = Told::default();
    let mut client = asks(
        "sael",
        &[r#"{"kind":"SUB","seq":1,"topic":"news"}"#],
        1000,
        &told,
    );
    let event = "{\"v\":1,\"kind\":\"EVT\",\"seq\":1,\"data\":{}}\n";
    let ended = run(&mut client, event, 100, |line| {
        if line.contains("HEY") {
            HEY.to_owned()
        } else if line.contains("SUB") {
            "{\"v\":1,\"kind\":\"RES\",\"seq\":1,\"subscriptionId\":1}\n".into()
        } else {
            String::new()
        }
    });
    let outcome = client.outcome();
    assert_eq!((outcome.sent, outcome.differ), (1, 0), "{told:?}");
    // And half a second for the server to end the subscription before the connection closes.
    assert_eq!(ended, 1500, "{told:?}");
}

#[test]
fn a_question_is_not_kept_by_what_nobody_waits_for() {
    let execute = r#"{"jsonrpc":"2.0","id":"7f6e7d8c-0000-4000-8000-000000000001","method":"components/execute","params":{"component":"/a","input":{}}}"#;
    let call = r#"{"kind":"INV","seq":1,"tool":"f","input":{}}"#;
    let event = "{\"kind\":\"EVT\",\"topic\":\"news\",\"data\":{}}\n";
    for (protocol, message, noise, sent) in [
        // It is ready, and never answers.
        ("stepflow", execute, NOISE, 1),
        // Its handshake never comes to an end.
        ("sael", call, event, 0),
        ("sael", call, "\n", 0),
    ] {
        let told = Told::default();
        let mut client = asks(protocol, &[message], 0, &told);
        let ended = run(&mut client, noise, 100, |line| {
            let is_hello = line.contains(r#""method":"initialize""#);
            if is_hello {
                greets(line)
            } else {
                String::new()
            }
        });
        assert_eq!(client.outcome().sent, sent, "{noise}: {told:?}");
        assert_eq!(ended, 1000, "{noise}: {told:?}");
        let told = told.lock().unwrap().join("\n");
        assert!(told.contains("hangs for 1000 ms, other true"), "{told}");
    }
}

const HEY: &str = "{\"kind\":\"HEY\",\"server\":{\"id\":\"s\",\"name\":\"S\",\"version\":\"1\"},\"session_id\":\"s-1\"}\n";

/// A real server crashes where the connection is gone before it has answered CAN.
#[test]
fn the_end_waits_for_what_a_cancelled_call_is_answered() {
    let call = r#"{"kind":"INV","seq":1,"tool":"f","input":{}}"#;
    for (answers, want) in [(true, 1000), (false, 1500)] {
        let told = Told::default();
        let mut client = asks("sael", &[call], 0, &told);
        let mut said = Vec::new();
        let ended = run(&mut client, "", LONG, |line| {
            said.extend(
                ["HEY", "INV", "CAN", "BYE"]
                    .iter()
                    .find(|k| line.contains(**k))
                    .copied(),
            );
            if line.contains("HEY") {
                HEY.to_owned()
            } else if answers && line.contains("CAN") {
                "{\"v\":1,\"kind\":\"ERR\",\"seq\":1,\"code\":\"INTERNAL\",\"message\":\"x\"}\n"
                    .into()
            } else {
                String::new()
            }
        });
        assert_eq!(said, ["HEY", "INV", "CAN", "BYE"], "{told:?}");
        assert_eq!(ended, want, "{told:?}");
    }
}

#[test]
fn a_login_that_is_refused_without_a_word_is_named() {
    let told = Told::default();
    let mut client = asks("sael", &[r#"{"kind":"LST","seq":1}"#], 0, &told);
    let mut commands = Vec::new();
    client.begin(NOW, &mut commands);
    client.opened(1, NOW, &mut commands);
    client.ended(1, &Ended::Closed, NOW, &mut commands);
    assert_eq!(client.outcome().differ, 1);
    assert_eq!(
        told.lock().unwrap().join("\n"),
        "the connection was closed before HEY of the server came: it may have refused the login"
    );
}

#[test]
fn an_answer_that_breaks_a_rule_is_not_good() {
    let told = Told::default();
    let mut client = asks(
        "sael",
        &[r#"{"v":1,"kind":"INV","seq":1,"tool":"f","input":{}}"#],
        100,
        &told,
    );
    run(&mut client, "", LONG, |line| {
        if line.contains("HEY") {
            HEY.to_owned()
        } else if line.contains("INV") {
            "{\"v\":1,\"kind\":\"RES\",\"seq\":1,\"output\":1}\n{\"v\":1,\"kind\":\"RES\",\"seq\":1,\"output\":1}\n".into()
        } else {
            String::new()
        }
    });
    assert_eq!(
        (client.outcome().sent, client.outcome().differ),
        (1, 1),
        "{told:?}"
    );
}

/// Many messages at a time take time in proportion, in every protocol that pipelines.
#[test]
fn many_messages_at_a_time_take_their_time_and_no_more() {
    const MANY: u32 = 10_000;
    let saikuro = |n: u32| {
        format!(
            r#"{{"version":1,"type":"call","id":"00000000-0000-4000-8000-{n:012x}","target":"a.b","args":[]}}"#
        )
    };
    let sael = |n: u32| format!(r#"{{"v":1,"kind":"INV","seq":{n},"tool":"f","input":{{}}}}"#);
    let stepflow = |n: u32| {
        format!(
            r#"{{"jsonrpc":"2.0","id":"00000000-0000-4000-8000-{n:012x}","method":"components/list","params":{{}}}}"#
        )
    };
    for (protocol, framing, message) in [
        (
            "saikuro",
            Framing::Prefix,
            &saikuro as &dyn Fn(u32) -> String,
        ),
        ("sael", Framing::Lines, &sael),
        ("stepflow", Framing::Lines, &stepflow),
    ] {
        let messages: Vec<String> = (1..=MANY).rev().map(message).collect();
        let told = Told::default();
        let config = ConnectionConfig::new(
            registry::find(protocol).unwrap(),
            framing,
            Direction::ToServer,
        );
        let settings = Settings {
            peer_config: PeerConfig {
                no_hello: true,
                ..PeerConfig::default()
            },
            timeout: 1000 * MILLI,
            ..Settings::default()
        };
        let mut client = sends(config, settings, messages, &told);
        let began = Instant::now();
        run(&mut client, "", LONG, |_| String::new());
        let told = told.lock().unwrap();
        assert_eq!(client.outcome().sent, u64::from(MANY), "{told:?}");
        let text = told.join("\n");
        assert!(text.contains("hangs for 1000 ms"), "{protocol}: {text}");
        let took = began.elapsed();
        assert!(took < Duration::from_secs(10), "{protocol}: {took:?}");
    }
}
