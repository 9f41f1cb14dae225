//! Time limits count from expected messages: unrelated traffic does not extend them.

use super::recorded;
use super::recorded_peer::{MILLI, NOW, plan, settings};
use crate::framing::Framing;
use crate::live::client::{Client, ClientConfig, ClientEvent, ClientObserver, FeedInput};
use crate::live::codec::ConnectionConfig;
use crate::live::handler::{Command, Ended, Handler};
use crate::live::plan::Plan;
use crate::protocol::peer::PeerConfig;
use crate::protocol::{Direction, registry};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// The time limit of a run in these tests, in milliseconds.
pub const RUN_LIMIT: i64 = 60_000;

/// Reported notes and hangs.
pub type Messages = Arc<Mutex<Vec<String>>>;

pub fn observer<'t>(log: &Messages) -> ClientObserver<'t> {
    let log = Arc::clone(log);
    Box::new(move |event, _| {
        let text = match event {
            ClientEvent::Received(..) | ClientEvent::Handshake(..) => return,
            ClientEvent::Note(text) => text,
            ClientEvent::Hangs(hang) => {
                format!(
                    "hangs for {} ms, other {}",
                    hang.silence / MILLI,
                    hang.other_traffic
                )
            }
            ClientEvent::Diverged(divergence) => format!("{divergence:?}"),
        };
        log.lock().unwrap().push(text);
    })
}

/// Runs a handler against a peer that sends `noise` periodically and answers according to `answer`. Returns the time of
/// the end, in milliseconds.
pub fn run(
    handler: &mut dyn Handler,
    noise: &str,
    every: i64,
    mut answer: impl FnMut(&str) -> String,
) -> i64 {
    let (mut now, mut commands, mut open) = (NOW, Vec::new(), None);
    let mut next = NOW;
    handler.begin(now, &mut commands);
    while now < NOW + RUN_LIMIT * MILLI {
        for command in std::mem::take(&mut commands) {
            match command {
                Command::Connect(conn) => {
                    open = Some(conn);
                    handler.opened(conn, now, &mut commands);
                }
                Command::Send(conn, bytes) => {
                    for connection in String::from_utf8_lossy(&bytes).lines() {
                        let answer = answer(connection);
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
            handler.received(conn.into(), noise.as_bytes(), now, &mut commands);
        } else {
            now = due.max(now);
            handler.tick(now, &mut commands);
        }
    }
    RUN_LIMIT
}

/// A recorded push after a call.
pub const PUSH: &str = r#"
    > {"jsonrpc":"2.0","id":"5f6e7d8c-0000-4000-8000-000000000001","method":"initialize","params":{"runtimeProtocolVersion":1}}
    < {"jsonrpc":"2.0","id":"5f6e7d8c-0000-4000-8000-000000000001","result":{"serverProtocolVersion":1}}
    > {"jsonrpc":"2.0","method":"initialized","params":{}}
    < {"jsonrpc":"2.0","method":"log","params":{"text":"at work"}}
"#;

/// An oracle that has sent ready.
const ORACLE: &str = r#"
    < {"jsonrpc":"2.0","id":0,"method":"ready"}
    > {"jsonrpc":"2.0","id":0,"result":{}}
    > {"jsonrpc":"2.0","id":0,"method":"invoke","params":{"selector":"f","calldata":["0x1"]}}
    < {"jsonrpc":"2.0","id":0,"result":["0x2"]}
"#;

pub fn answer_initialize(connection: &str) -> String {
    let message: serde_json::Value = serde_json::from_str(connection).unwrap();
    match message.get("id") {
        Some(id) => format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"serverProtocolVersion\":1}}}}\n"
        ),
        None => String::new(),
    }
}

pub const NOISE: &str = "{\"jsonrpc\":\"2.0\",\"method\":\"noise\",\"params\":{}}\n";
const READY: &str = "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"ready\"}\n";

#[test]
fn unrecorded_traffic_does_not_extend_a_replay() {
    let silent = |_: &str| String::new();
    for (protocol, recording, noise, every, answer, ends, log) in [
        // Everything is answered, and one push is missing: the client waits for half a second after its recorded pause.
        (
            "stepflow",
            PUSH,
            NOISE,
            100,
            &answer_initialize as &dyn Fn(&str) -> String,
            600,
            "how: Missing([DiffMessage { index: 3, conn: Some(1), direction: Some(ToClient), what: \"notification log\"",
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
        // A blank line is no message of the protocol.
        ("oracle", ORACLE, "\n", 100, &silent, 0, "Extra("),
        // An unrecorded message is repeated.
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
            READY,
            RUN_LIMIT,
            &silent,
            1000,
            "hangs for 1000 ms, other false",
        ),
    ] {
        let recording = recorded(protocol, recording);
        let plan = plan(&recording);
        let settings = settings(plan.protocol);
        let all = Messages::default();
        let config = ConnectionConfig::new(plan.protocol, plan.framing, Direction::ToServer);
        let mut client = Client::replaying(&plan, config, &settings, observer(&all));
        let ended = run(&mut client, noise, every, answer);
        let all = all.lock().unwrap().join("\n");
        assert_eq!(ended, ends, "{noise}: {all}");
        assert!(all.contains(log), "{noise}: {all}");
    }
}

/// A notification may be the reason for the request after it. One that does not come delays the request by half the time
/// limit.
#[test]
fn requests_wait_for_the_notifications_before_them() {
    let call = r#"
    > {"jsonrpc":"2.0","id":"5f6e7d8c-0000-4000-8000-000000000002","method":"components/list","params":{}}
    < {"jsonrpc":"2.0","id":"5f6e7d8c-0000-4000-8000-000000000002","result":{"serverProtocolVersion":1}}
"#;
    let pushed = "{\"jsonrpc\":\"2.0\",\"method\":\"log\",\"params\":{\"text\":\"at work\"}}\n";
    let recording = recorded("stepflow", &[PUSH, call].concat());
    let plan = plan(&recording);
    for (noise, in_order, sent, ends) in [
        (pushed, false, 1, 0),
        (pushed, true, 1, 0),
        // It does not come. The run waits for it once more at its end.
        (NOISE, false, 1, 1000),
        // In the order of the recording, nothing is sent before it.
        (NOISE, true, 0, 1000),
    ] {
        let mut settings = settings(plan.protocol);
        settings.in_order = in_order;
        let all = Messages::default();
        let config = ConnectionConfig::new(plan.protocol, plan.framing, Direction::ToServer);
        let mut client = Client::replaying(&plan, config, &settings, observer(&all));
        let mut calls = 0;
        let ended = run(&mut client, noise, 300, |message| {
            calls += usize::from(message.contains("components/list"));
            answer_initialize(message)
        });
        assert_eq!(ended, ends, "{noise} {in_order}: {:?}", all.lock().unwrap());
        assert_eq!(calls, sent, "{noise} {in_order}");
    }
}

/// A notification of the client may prevent what the peer sent before it: it waits for that as a request does.
#[test]
fn notifications_wait_for_the_notifications_before_them() {
    let closed = r#"
    > {"jsonrpc":"2.0","method":"closed","params":{}}
"#;
    let pushed = "{\"jsonrpc\":\"2.0\",\"method\":\"log\",\"params\":{\"text\":\"at work\"}}\n";
    let recording = recorded("stepflow", &[PUSH, closed].concat());
    let plan = plan(&recording);
    // It does not come: the notification waits for it, and the run once more at its end.
    for (noise, ends) in [(pushed, 0), (NOISE, 1000)] {
        let settings = settings(plan.protocol);
        let all = Messages::default();
        let config = ConnectionConfig::new(plan.protocol, plan.framing, Direction::ToServer);
        let mut client = Client::replaying(&plan, config, &settings, observer(&all));
        let mut closed = 0;
        let ended = run(&mut client, noise, 300, |message| {
            closed += usize::from(message.contains("\"closed\""));
            answer_initialize(message)
        });
        assert_eq!(
            (ended, closed),
            (ends, 1),
            "{noise}: {:?}",
            all.lock().unwrap()
        );
    }
}

#[test]
fn repeated_unexpected_messages_are_reported_up_to_a_limit() {
    let recording = recorded("stepflow", PUSH);
    let plan = plan(&recording);
    let settings = settings(plan.protocol);
    let all = Messages::default();
    let config = ConnectionConfig::new(plan.protocol, plan.framing, Direction::ToServer);
    let mut client = Client::replaying(&plan, config, &settings, observer(&all));
    run(&mut client, NOISE, 1, answer_initialize);
    let log = all.lock().unwrap();
    let one = "notification noise came, but is not in the recording";
    assert_eq!(log.iter().filter(|text| *text == one).count(), 20);
    let more = log.iter().find(|text| text.contains(" more messages came"));
    let more = more.unwrap().split(' ').next().unwrap();
    assert!(more.parse::<u64>().unwrap() > 400, "{more}");
    assert!(log.len() < 30, "{}", log.len());
}

fn client_of(protocol: &str, messages: &[&str], linger: i64, log: &Messages) -> Client<'static> {
    let protocol = registry::find(protocol).unwrap();
    let messages: Vec<String> = messages.iter().rev().map(|m| (*m).to_owned()).collect();
    client_with_input(
        ConnectionConfig::new(protocol, Framing::Lines, Direction::ToServer),
        ClientConfig {
            timeout: 1000 * MILLI,
            linger: linger * MILLI,
            in_order: true,
            ..ClientConfig::default()
        },
        messages,
        log,
    )
}

fn client_with_input<'p>(
    config: ConnectionConfig<'p>,
    settings: ClientConfig,
    mut messages: Vec<String>,
    log: &Messages,
) -> Client<'p> {
    let plan = Box::leak(Box::new(Plan::empty(config.protocol, config.framing)));
    Client::sending(
        plan,
        config,
        Box::leak(Box::new(settings)),
        Box::new(move || messages.pop().map_or(FeedInput::End, FeedInput::Message)),
        observer(log),
    )
}

/// `--linger` counts from the last answer, not from events.
#[test]
fn events_do_not_extend_the_linger_time() {
    let log = Messages::default();
    let mut client = client_of(
        "sael",
        &[r#"{"kind":"SUB","seq":1,"topic":"news"}"#],
        1000,
        &log,
    );
    let event = "{\"v\":1,\"kind\":\"EVT\",\"seq\":1,\"data\":{}}\n";
    let ended = run(&mut client, event, 100, |connection| {
        if connection.contains("HEY") {
            HEY.to_owned()
        } else if connection.contains("SUB") {
            "{\"v\":1,\"kind\":\"RES\",\"seq\":1,\"subscriptionId\":1}\n".into()
        } else {
            String::new()
        }
    });
    let outcome = client.outcome();
    assert_eq!((outcome.sent, outcome.differ), (1, 0), "{log:?}");
    // Half a second is added for the server to end the subscription before the connection closes.
    assert_eq!(ended, 1500, "{log:?}");
}

#[test]
fn unrelated_traffic_does_not_extend_a_request() {
    let execute = r#"{"jsonrpc":"2.0","id":"7f6e7d8c-0000-4000-8000-000000000001","method":"components/execute","params":{"component":"/a","input":{}}}"#;
    let call = r#"{"kind":"INV","seq":1,"tool":"f","input":{}}"#;
    let event = "{\"kind\":\"EVT\",\"topic\":\"news\",\"data\":{}}\n";
    for (protocol, message, noise, sent) in [
        // The peer is ready, but does not answer.
        ("stepflow", execute, NOISE, 1),
        // The handshake does not finish.
        ("sael", call, event, 0),
        ("sael", call, "\n", 0),
    ] {
        let log = Messages::default();
        let mut client = client_of(protocol, &[message], 0, &log);
        let ended = run(&mut client, noise, 100, |connection| {
            let is_hello = connection.contains(r#""method":"initialize""#);
            if is_hello {
                answer_initialize(connection)
            } else {
                String::new()
            }
        });
        assert_eq!(client.outcome().sent, sent, "{noise}: {log:?}");
        assert_eq!(ended, 1000, "{noise}: {log:?}");
        let log = log.lock().unwrap().join("\n");
        assert!(log.contains("hangs for 1000 ms, other true"), "{log}");
    }
}

const HEY: &str = "{\"kind\":\"HEY\",\"server\":{\"id\":\"s\",\"name\":\"S\",\"version\":\"1\"},\"session_id\":\"s-1\"}\n";

/// A real server crashes if the connection ends before it has answered CAN.
#[test]
fn the_end_waits_for_the_answer_to_a_cancelled_call() {
    let call = r#"{"kind":"INV","seq":1,"tool":"f","input":{}}"#;
    for (answers, want) in [(true, 1000), (false, 1500)] {
        let log = Messages::default();
        let mut client = client_of("sael", &[call], 0, &log);
        let mut sent = Vec::new();
        let ended = run(&mut client, "", RUN_LIMIT, |connection| {
            sent.extend(
                ["HEY", "INV", "CAN", "BYE"]
                    .iter()
                    .find(|k| connection.contains(**k))
                    .copied(),
            );
            if connection.contains("HEY") {
                HEY.to_owned()
            } else if answers && connection.contains("CAN") {
                "{\"v\":1,\"kind\":\"ERR\",\"seq\":1,\"code\":\"INTERNAL\",\"message\":\"x\"}\n"
                    .into()
            } else {
                String::new()
            }
        });
        assert_eq!(sent, ["HEY", "INV", "CAN", "BYE"], "{log:?}");
        assert_eq!(ended, want, "{log:?}");
    }
}

/// A server that handles calls at the same time misses a CAN that comes before the call has begun.
#[test]
fn the_end_of_a_replay_cancels_a_call_after_it_has_begun() {
    let hello = r#"{"v":1,"kind":"HEY","agent":{"id":"a","kind":"agent"}}"#;
    let call = r#"{"v":1,"kind":"INV","seq":1,"tool":"t","args":{}}"#;
    let recording = recorded("sael", &format!("> {hello}\n< {HEY}\n> {call}"));
    let plan = plan(&recording);
    let item = "{\"v\":1,\"kind\":\"STR\",\"seq\":1,\"item\":1}\n";
    let result = "{\"v\":1,\"kind\":\"RES\",\"seq\":1,\"result\":1}\n";
    for (noise, kinds, want) in [
        // The time limit of an answer is a second, and a call begins within half of it.
        ("", &["HEY", "INV", "CAN"][..], 500),
        // It begins, or it is answered, while the end waits.
        (item, &["HEY", "INV", "CAN"], 0),
        (result, &["HEY", "INV"], 0),
    ] {
        let settings = settings(plan.protocol);
        let log = Messages::default();
        let config = ConnectionConfig::new(plan.protocol, plan.framing, Direction::ToServer);
        let mut client = Client::replaying(&plan, config, &settings, observer(&log));
        let mut sent = Vec::new();
        let ended = run(&mut client, noise, 100, |connection| {
            let kinds = ["HEY", "INV", "CAN", "BYE"];
            let kind = kinds.into_iter().find(|k| connection.contains(k));
            sent.extend(kind);
            match kind {
                Some("HEY") => HEY.to_owned(),
                Some("CAN") => {
                    "{\"v\":1,\"kind\":\"ERR\",\"seq\":1,\"code\":\"CANCELLED\",\"message\":\"x\"}\n".into()
                }
                _ => String::new(),
            }
        });
        assert_eq!((&sent[..], ended), (kinds, want), "{noise}: {log:?}");
        assert!(client.outcome().is_clean(), "{log:?}");
    }
}

#[test]
fn a_login_refused_by_closing_is_reported() {
    let log = Messages::default();
    let mut client = client_of("sael", &[r#"{"kind":"LST","seq":1}"#], 0, &log);
    let mut commands = Vec::new();
    client.begin(NOW, &mut commands);
    client.opened(1, NOW, &mut commands);
    client.ended(1.into(), &Ended::Closed, NOW, &mut commands);
    assert_eq!(client.outcome().differ, 1);
    assert_eq!(
        log.lock().unwrap().join("\n"),
        "the connection was closed before HEY of the server came: it may have refused the login"
    );
}

#[test]
fn an_answer_that_breaks_a_rule_is_a_difference() {
    let log = Messages::default();
    let mut client = client_of(
        "sael",
        &[r#"{"v":1,"kind":"INV","seq":1,"tool":"f","input":{}}"#],
        100,
        &log,
    );
    run(&mut client, "", RUN_LIMIT, |connection| {
        if connection.contains("HEY") {
            HEY.to_owned()
        } else if connection.contains("INV") {
            "{\"v\":1,\"kind\":\"RES\",\"seq\":1,\"output\":1}\n{\"v\":1,\"kind\":\"RES\",\"seq\":1,\"output\":1}\n".into()
        } else {
            String::new()
        }
    });
    assert_eq!(
        (client.outcome().sent, client.outcome().differ),
        (1, 1),
        "{log:?}"
    );
}

/// In every protocol with pipelining, the time is linear in the number of concurrent messages.
#[test]
fn concurrent_messages_take_linear_time() {
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
        let log = Messages::default();
        let config = ConnectionConfig::new(
            registry::find(protocol).unwrap(),
            framing,
            Direction::ToServer,
        );
        let settings = ClientConfig {
            peer_config: PeerConfig {
                no_hello: true,
                ..PeerConfig::default()
            },
            timeout: 1000 * MILLI,
            ..ClientConfig::default()
        };
        let mut client = client_with_input(config, settings, messages, &log);
        let began = Instant::now();
        run(&mut client, "", RUN_LIMIT, |_| String::new());
        let log = log.lock().unwrap();
        assert_eq!(client.outcome().sent, u64::from(MANY), "{log:?}");
        let text = log.join("\n");
        assert!(text.contains("hangs for 1000 ms"), "{protocol}: {text}");
        let took = began.elapsed();
        assert!(took < Duration::from_secs(10), "{protocol}: {took:?}");
    }
}

/// An answered message leaves no data.
#[test]
fn answered_messages_are_removed() {
    const MANY: usize = 10_000;
    let ask = |n: usize| {
        format!(
            r#"{{"jsonrpc":"2.0","id":"00000000-0000-4000-8000-{n:012x}","method":"components/list","params":{{}}}}"#
        )
    };
    let log = Messages::default();
    let protocol = registry::find("stepflow").unwrap();
    let config = ConnectionConfig::new(protocol, Framing::Lines, Direction::ToServer);
    let settings = ClientConfig {
        peer_config: PeerConfig {
            no_hello: true,
            ..PeerConfig::default()
        },
        timeout: 1000 * MILLI,
        in_order: true,
        ..ClientConfig::default()
    };
    let mut client = client_with_input(config, settings, (0..MANY).map(ask).collect(), &log);
    run(&mut client, "", RUN_LIMIT, |connection| {
        let request: serde_json::Value = serde_json::from_str(connection).unwrap();
        let id = &request["id"];
        format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"components\":[]}}}}\n")
    });
    let outcome = client.outcome();
    assert_eq!(
        (outcome.sent, outcome.differ, outcome.hangs),
        (MANY as u64, 0, false)
    );
    let kept = (client.run.steps.len(), client.run.step_by_index.len());
    assert!(kept.0 < MANY / 2 && kept.1 < MANY / 2, "{kept:?}");
}
