//! Waits of a replay: for what comes as slowly as in the recording, and for what does not come at all.

use super::recorded;
use super::recorded_peer::{MILLI, NOW, plan, settings};
use super::time_limits::{Messages, NOISE, PUSH, RUN_LIMIT, answer_initialize, observer, run};
use crate::live::client::Client;
use crate::live::codec::ConnectionConfig;
use crate::live::handler::{Command, Handler as _};
use crate::protocol::Direction;

/// The recorded opening of a session, without the push after it.
fn opening() -> String {
    let lines: Vec<&str> = PUSH.lines().take(4).collect();
    lines.join("\n")
}

/// A request of the peer that does not come holds the run up to the time limit; then what follows its answer is sent.
#[test]
fn a_missing_request_of_the_peer_is_skipped() {
    let rest = r#"
    < {"jsonrpc":"2.0","id":"cb-00000001","method":"runs/submit","params":{"flowId":"f"}}
    > {"jsonrpc":"2.0","id":"cb-00000001","result":{"runId":"6f6e7d8c-0000-4000-8000-000000000009"}}
    > {"jsonrpc":"2.0","id":"5f6e7d8c-0000-4000-8000-000000000002","method":"components/list","params":{}}
    < {"jsonrpc":"2.0","id":"5f6e7d8c-0000-4000-8000-000000000002","result":{"serverProtocolVersion":1}}
"#;
    let recording = recorded("stepflow", &(opening() + rest));
    let plan = plan(&recording);
    for (keep_going, sent, wanted) in [(true, 3, "runs/submit"), (false, 2, "hangs for 1000 ms")] {
        let mut settings = settings(plan.protocol);
        settings.keep_going = keep_going;
        let all = Messages::default();
        let config = ConnectionConfig::new(plan.protocol, plan.framing, Direction::ToServer);
        let mut client = Client::replaying(&plan, config, &settings, observer(&all));
        let mut count = 0;
        run(&mut client, NOISE, RUN_LIMIT, |message| {
            count += 1;
            answer_initialize(message)
        });
        let all = all.lock().unwrap().join("\n");
        assert!(all.contains(wanted), "{all}");
        assert_eq!((count, all.contains("hangs")), (sent, !keep_going), "{all}");
    }
}

/// Notifications at the end that come as slowly as in the recording are not missing.
#[test]
fn the_end_waits_for_notifications_as_in_the_recording() {
    let more = r#"
    < {"jsonrpc":"2.0","method":"log","params":{"text":"at work"}}
    < {"jsonrpc":"2.0","method":"log","params":{"text":"at work"}}
"#;
    let pushed = "{\"jsonrpc\":\"2.0\",\"method\":\"log\",\"params\":{\"text\":\"at work\"}}\n";
    let recording = recorded("stepflow", &[PUSH, more].concat());
    let plan = plan(&recording);
    let all = Messages::default();
    let settings = settings(plan.protocol);
    let config = ConnectionConfig::new(plan.protocol, plan.framing, Direction::ToServer);
    let mut client = Client::replaying(&plan, config, &settings, observer(&all));
    let ended = run(&mut client, pushed, 550, answer_initialize);
    assert_eq!((ended, all.lock().unwrap().len()), (1100, 0));
}

/// A client that leaves without an answer: the connection stays open as long as in the recording, or until all that came
/// there is here.
#[test]
fn a_connection_that_is_left_without_an_answer_keeps_its_distance() {
    let recording = br#"{"wiretool":1,"protocol":"jsonrpc","started":"2026-01-01T00:00:00Z"}
{"t":0,"conn":1,"dir":"c2s","text":"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"slow\"}\n"}
{"t":200000000,"conn":1,"dir":"s2c","text":"{\"jsonrpc\":\"2.0\",\"method\":\"progress\"}\n"}
{"t":300000000,"conn":1,"event":"eof","dir":"c2s"}
{"t":300000000,"conn":1,"event":"close"}
{"t":400000000,"conn":2,"dir":"c2s","text":"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"next\"}\n"}
{"t":400000000,"conn":2,"dir":"s2c","text":"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":2}\n"}
{"t":500000000,"event":"end"}
"#;
    let plan = plan(recording);
    let settings = settings(plan.protocol);
    for (progress, wanted) in [(None, 300), (Some(120), 120)] {
        let config = ConnectionConfig::new(plan.protocol, plan.framing, Direction::ToServer);
        let all = Messages::default();
        let mut client = Client::replaying(&plan, config, &settings, observer(&all));
        let (mut now, mut commands, mut left) = (NOW, Vec::new(), None);
        let mut progress = progress.map(|at| NOW + at * MILLI);
        client.begin(now, &mut commands);
        while left.is_none() && now < NOW + RUN_LIMIT * MILLI {
            for command in std::mem::take(&mut commands) {
                match command {
                    Command::Connect(conn) => client.opened(conn, now, &mut commands),
                    Command::Close(1) => left = Some((now - NOW) / MILLI),
                    Command::Finish(channel) if channel.conn == 1 => {
                        left = Some((now - NOW) / MILLI);
                    }
                    _ => {}
                }
            }
            if !commands.is_empty() {
                continue;
            }
            let due = client.due().unwrap_or(i64::MAX);
            if let Some(at) = progress.take_if(|at| *at <= due) {
                now = at;
                let text = b"{\"jsonrpc\":\"2.0\",\"method\":\"progress\"}\n";
                client.received(1.into(), text, now, &mut commands);
            } else {
                now = due.max(now);
                client.tick(now, &mut commands);
            }
        }
        assert_eq!(left, Some(wanted), "{:?}", all.lock().unwrap());
    }
}

/// A request of the peer that comes before the call during which it was recorded: it is answered, since the peer may wait
/// for the answer.
#[test]
fn an_early_request_of_the_peer_is_answered() {
    let rest = r#"
    > {"jsonrpc":"2.0","id":"5f6e7d8c-0000-4000-8000-000000000002","method":"components/list","params":{}}
    < {"jsonrpc":"2.0","id":"5f6e7d8c-0000-4000-8000-000000000002","result":{"serverProtocolVersion":1}}
    > {"jsonrpc":"2.0","id":"5f6e7d8c-0000-4000-8000-000000000003","method":"components/list","params":{}}
    < {"jsonrpc":"2.0","id":"cb-00000001","method":"runs/submit","params":{"flowId":"f"}}
    > {"jsonrpc":"2.0","id":"cb-00000001","result":{"runId":"6f6e7d8c-0000-4000-8000-000000000009"}}
    < {"jsonrpc":"2.0","id":"5f6e7d8c-0000-4000-8000-000000000003","result":{"serverProtocolVersion":1}}
"#;
    let recording = recorded("stepflow", &(opening() + rest));
    let plan = plan(&recording);
    let settings = settings(plan.protocol);
    let all = Messages::default();
    let config = ConnectionConfig::new(plan.protocol, plan.framing, Direction::ToServer);
    let mut client = Client::replaying(&plan, config, &settings, observer(&all));
    let asks = "{\"jsonrpc\":\"2.0\",\"id\":\"cb-00000001\",\"method\":\"runs/submit\",\"params\":{\"flowId\":\"f\"}}\n";
    let (mut waiting, mut asked) = (None, false);
    let ended = run(&mut client, NOISE, RUN_LIMIT, |message| {
        if message.contains("runId") {
            // The peer answers the call that waited for this.
            return waiting
                .take()
                .map(|call: String| answer_initialize(&call))
                .unwrap_or_default();
        }
        if message.contains("components/list") && !std::mem::replace(&mut asked, true) {
            waiting = Some(message.to_owned());
            return asks.to_owned();
        }
        answer_initialize(message)
    });
    let all = all.lock().unwrap().join("\n");
    let noise = "notification noise came, but is not in the recording";
    assert_eq!((ended, all.as_str()), (500, noise));
}
