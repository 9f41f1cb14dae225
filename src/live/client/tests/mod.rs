//! The client without sockets: recordings of every protocol are replayed against their own other side and against other
//! peers.
//!
//! The recorded peer is the other side of a recording: it sends the recorded messages as soon as it has received the earlier
//! ones, with its own ids and sessions. It checks that the client uses these ids instead of the recorded ones.

// Long: tests that share their recordings and handlers.

mod answers;
mod changes;
mod http_sessions;
mod memory;
mod numbers;
pub mod recorded_peer;
mod time_limits;
mod waits;
mod websocket;

use self::recorded_peer::{MILLI, NOW, RecordedPeer, TestPeer, all, chosen, plan, play, settings};
use crate::diff::Ignore;
use crate::framing::Limits;
use crate::live::plan::Plan;
use crate::protocol::registry;
use crate::select::Select;
use std::path::{Path, PathBuf};

/// Returns a recording of one connection over lines. `>` and `<` give the direction.
fn recorded(protocol: &str, lines: &str) -> Vec<u8> {
    recorded_as(protocol, lines, |text| format!("{text}\n"))
}

/// Returns the same with other frames.
fn recorded_as(protocol: &str, lines: &str, frame: impl Fn(&str) -> String) -> Vec<u8> {
    let mut out = format!(
        "{{\"wiretool\":1,\"protocol\":\"{protocol}\",\"started\":\"2026-01-01T00:00:00Z\",\"transport\":\"stdio\"}}\n"
    );
    let mut chunks = 0;
    for (t, connection) in (0..).zip(
        lines
            .lines()
            .filter(|connection| !connection.trim().is_empty()),
    ) {
        let (direction, text) = connection.trim().split_once(' ').unwrap();
        let dir = if direction == ">" { "c2s" } else { "s2c" };
        let text = serde_json::to_string(&frame(text)).unwrap();
        let t = t * 100 * MILLI;
        out += &format!("{{\"t\":{t},\"conn\":1,\"dir\":\"{dir}\",\"text\":{text}}}\n");
        chunks += 1;
    }
    out += &format!(
        "{{\"t\":{},\"event\":\"end\",\"chunks\":{chunks},\"bytes\":{{}}}}\n",
        100 * MILLI
    );
    out.into_bytes()
}

/// Two concurrent calls, the first with a value of the greeting; a callback, and a push that is optional.
const CALLS: &str = r#"
    > {"jsonrpc":"2.0","id":"5f6e7d8c-0000-4000-8000-000000000001","method":"initialize","params":{"runtimeProtocolVersion":1}}
    < {"jsonrpc":"2.0","id":"5f6e7d8c-0000-4000-8000-000000000001","result":{"serverProtocolVersion":1}}
    > {"jsonrpc":"2.0","method":"initialized","params":{}}
    > {"jsonrpc":"2.0","id":"5f6e7d8c-0000-4000-8000-000000000002","method":"components/execute","params":{"component":"/a","input":{"n":1}}}
    > {"jsonrpc":"2.0","id":"5f6e7d8c-0000-4000-8000-000000000003","method":"components/execute","params":{"component":"/b","input":{"n":2}}}
    < {"jsonrpc":"2.0","method":"log","params":{"text":"at work"}}
    < {"jsonrpc":"2.0","id":"cb-00000001","method":"runs/submit","params":{"flowId":"f"}}
    > {"jsonrpc":"2.0","id":"cb-00000001","result":{"runId":"6f6e7d8c-0000-4000-8000-000000000009"}}
    < {"jsonrpc":"2.0","id":"5f6e7d8c-0000-4000-8000-000000000003","result":{"output":2}}
    < {"jsonrpc":"2.0","id":"5f6e7d8c-0000-4000-8000-000000000002","result":{"output":{"of":"6f6e7d8c-0000-4000-8000-000000000009","n":1}}}
"#;

fn files() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let mut files = Vec::new();
    for protocol in registry::all() {
        for folder in [
            root.join(protocol.name()),
            root.join(protocol.name()).join("rules"),
        ] {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                let name = path.to_string_lossy();
                if name.ends_with(".jsonl") && !name.ends_with(".fires.jsonl") {
                    files.push(path);
                }
            }
        }
    }
    files.sort();
    files
}

#[test]
fn every_valid_recording_replays_with_generated_values_on_both_sides() {
    let (mut played, mut compared) = (0, 0);
    let mut failed = Vec::new();
    for path in files() {
        let name = path.display();
        let recording = std::fs::read(&path).unwrap();
        let plan = match chosen(&recording, all()) {
            Ok(plan) => plan,
            Err(unfit) => {
                let known = [
                    "it has only answers",
                    "only receives messages",
                    "it has streams of HTTP/3",
                ];
                let is_known = known.iter().any(|reason| unfit.contains(reason));
                assert!(is_known, "{name}: {unfit}");
                continue;
            }
        };
        // The recorded peer has no event streams; `http_sessions` has a server for them.
        if plan.has_event_streams() {
            continue;
        }
        let mut peer = RecordedPeer::of(&plan);
        let run = play(&plan, &settings(plan.protocol), &mut peer);
        let outcome = &run.outcome;
        let messages = plan.steps.iter().filter(|step| !step.is_deletion).count();
        if !outcome.is_clean() || outcome.sent != messages as u64 || !peer.wrong.is_empty() {
            failed.push(format!(
                "{name}: {outcome:?} {:?} {:?}",
                run.reported, peer.wrong
            ));
        }
        played += 1;
        compared += outcome.compared;
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
    assert!(played > 300 && compared > 500, "{played} {compared}");
}

/// Real sessions without errors, or with an error answer to every faulty request.
const REAL: &[&str] = &[
    "oracle-real-executor-ok",
    "oracle-real-executor-sdk_errors",
    "oracle-real-executor-sdk_happy",
    "saikuro-01-runtime-client-ts.1",
    "saikuro-01-runtime-provider-py.1",
    "saikuro-05-raw-provider-py.1",
    "saikuro-09-direct-py-py.1",
    "saikuro-10-ws-client-ts.1",
    "saikuro-11-doc-shaped.1",
    "sael-py-invoke-errors",
    "sael-py-pipeline",
    "sael-py-stream",
    "sael-py-subscribe",
    "sael-py-window-400-outstanding",
    "sael-raw-fragments",
    "sael-synthetic-delta-stream",
    "sael-synthetic-msgpack-x-quark",
    "stepflow-http-runtime-0.9.0",
    "stepflow-http-sdk-0.3.0",
    "stepflow-http-sdk-0.9.2",
    "stepflow-stdio-sdk-0.3.0",
];

/// Reads the captures at `WIRETOOL_CAPTURES` as recordings. Prints a note if there are none.
#[test]
fn real_sessions_replay() {
    let Some(captures) = std::env::var_os("WIRETOOL_CAPTURES").map(PathBuf::from) else {
        eprintln!("not run: WIRETOOL_CAPTURES names no captures");
        return;
    };
    let folder = crate::common::temporary().join("player-recordings");
    std::fs::create_dir_all(&folder).unwrap();
    let made = std::process::Command::new("python3")
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recordings.py"))
        .args([&captures, &folder])
        .status()
        .unwrap();
    assert!(made.success());
    for name in REAL {
        let path = folder.join(format!("{name}.jsonl"));
        let plan = plan(&std::fs::read(&path).unwrap());
        let mut peer = RecordedPeer::of(&plan);
        let run = play(&plan, &settings(plan.protocol), &mut peer);
        let outcome = &run.outcome;
        assert!(outcome.is_clean(), "{name}: {outcome:?} {:?}", run.reported);
        assert_eq!(outcome.sent, plan.steps.len() as u64, "{name}");
        assert_eq!(outcome.compared, plan.expected.len() as u64, "{name}");
        assert!(peer.wrong.is_empty(), "{name}: {:?}", peer.wrong);
    }
}

#[test]
fn answers_may_arrive_in_another_order() {
    let recording = recorded("stepflow", CALLS);
    let plan = plan(&recording);
    for reversed in [false, true] {
        let mut peer = RecordedPeer::of(&plan);
        peer.reversed = reversed;
        let run = play(&plan, &settings(plan.protocol), &mut peer);
        assert!(run.outcome.is_clean(), "{reversed}: {:?}", run.reported);
        assert_eq!((run.outcome.sent, run.outcome.compared), (5, 5));
        assert_eq!(run.reported, Vec::<String>::new());
        assert!(peer.wrong.is_empty(), "{:?}", peer.wrong);
        let sent = String::from_utf8(run.sent[&1].clone()).unwrap();
        assert!(!sent.contains("5f6e7d8c"), "own ids are fresh: {sent}");
        assert!(
            !sent.contains("cb-00000001"),
            "the peer's ids are its own: {sent}"
        );
    }
}

#[test]
fn a_different_field_is_reported_with_both_values_and_their_bytes() {
    let recording = recorded("stepflow", CALLS);
    let plan = plan(&recording);
    let mut peer = RecordedPeer::of(&plan);
    peer.last = Some(("\"n\":1", "\"n\":7"));
    let run = play(&plan, &settings(plan.protocol), &mut peer);
    assert_eq!((run.outcome.differ, run.outcome.is_clean()), (1, false));
    let reported = run.reported.join("\n");
    assert!(
        reported.contains(r#"path: "result.output.n""#),
        "{reported}"
    );
    assert!(
        reported.contains(r#"text: "1""#) && reported.contains(r#"text: "7""#),
        "{reported}"
    );
    assert!(
        reported.contains("bytes: [49]") && reported.contains("bytes: [55]"),
        "{reported}"
    );
    assert!(
        reported.contains(r#"["response:result.output.n"]"#),
        "{reported}"
    );
    // An ignored path is not compared.
    let mut settings = settings(plan.protocol);
    settings.ignore = Ignore::new(["response:result.output.n"]).and_generated(plan.protocol, true);
    let mut peer = RecordedPeer::of(&plan);
    peer.last = Some(("\"n\":1", "\"n\":7"));
    assert!(play(&plan, &settings, &mut peer).outcome.is_clean());
}

#[test]
fn repeated_ids_are_compared_by_their_name() {
    let recording = recorded("stepflow", CALLS);
    let plan = plan(&recording);
    let mut peer = RecordedPeer::of(&plan);
    // A run that has not started.
    peer.last = Some(("\"of\":\"", "\"of\":\"x"));
    let run = play(&plan, &settings(plan.protocol), &mut peer);
    let reported = run.reported.join("\n");
    assert!(
        reported.contains(r#"path: "result.output.of""#),
        "{reported}"
    );
}

#[test]
fn a_missing_answer_is_a_hang() {
    let recording = recorded("stepflow", CALLS);
    let plan = plan(&recording);
    for (until, pending, sent) in [
        (0, "request initialize", 1),
        (1, "request components/execute", 4),
        (3, "request components/execute", 5),
    ] {
        let mut peer = RecordedPeer::of(&plan);
        peer.until = until;
        let run = play(&plan, &settings(plan.protocol), &mut peer);
        assert!(run.outcome.hangs, "{until}: {:?}", run.reported);
        assert_eq!(run.outcome.sent, sent, "{until}");
        let reported = run.reported.join("\n");
        assert!(reported.contains(pending), "{until}: {reported}");
    }
}

#[test]
fn keep_going_reports_every_difference() {
    let lines = r#"
        < {"jsonrpc":"2.0","id":0,"method":"ready"}
        > {"jsonrpc":"2.0","id":0,"result":{}}
        > {"jsonrpc":"2.0","id":0,"method":"invoke","params":{"selector":"f","calldata":["0x1"]}}
        < {"jsonrpc":"2.0","id":0,"result":["0x2"]}
        > {"jsonrpc":"2.0","id":1,"method":"invoke","params":{"selector":"f","calldata":["0x2"]}}
        < {"jsonrpc":"2.0","id":1,"result":["0x3"]}
        > {"jsonrpc":"2.0","method":"shutdown"}
    "#;
    let recording = recorded("oracle", lines);
    let plan = plan(&recording);
    for (keep_going, differ, sent) in [(false, 1, 2), (true, 2, 4)] {
        struct Wrong(bool);
        impl TestPeer for Wrong {
            fn opened(&mut self, conn: u32) -> Vec<(u32, Vec<u8>)> {
                let ready = br#"{"jsonrpc":"2.0","id":7,"method":"ready"}"#;
                vec![(conn, [&ready[..], b"\n"].concat())]
            }
            fn receive(&mut self, conn: u32, bytes: &[u8]) -> Vec<(u32, Vec<u8>)> {
                let text = String::from_utf8_lossy(bytes).into_owned();
                self.0 |= text.contains("\"id\":7");
                let lines = text
                    .lines()
                    .filter(|connection| connection.contains("invoke"));
                let answer = |connection: &str| {
                    let id = i32::from(!connection.contains("\"id\":0"));
                    let connection =
                        format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":[\"0x9\"]}}\n");
                    (conn, connection.into_bytes())
                };
                lines.map(answer).collect()
            }
        }
        let mut other = Wrong(false);
        let mut settings = settings(plan.protocol);
        settings.keep_going = keep_going;
        settings.in_order = true;
        let run = play(&plan, &settings, &mut other);
        assert_eq!(run.outcome.differ, differ, "{:?}", run.reported);
        assert_eq!(run.outcome.sent, sent, "{keep_going}");
        assert!(other.0, "the acknowledgement goes by the live id");
    }
}

#[test]
fn intervals_are_kept_at_the_given_speed() {
    let recording = recorded("stepflow", CALLS);
    let plan = plan(&recording);
    for (speed, last) in [("max", 0), ("1", 700), ("2x", 350)] {
        assert_eq!(duration(&plan, speed), last, "{speed}");
    }
}

/// Replays a plan. Returns the time of the last message that the peer received, in milliseconds.
fn duration(plan: &Plan<'static>, speed: &str) -> i64 {
    struct Clocked<'e>(RecordedPeer<'e>, i64);
    impl TestPeer for Clocked<'_> {
        fn opened(&mut self, conn: u32) -> Vec<(u32, Vec<u8>)> {
            self.0.opened(conn)
        }
        fn receive(&mut self, conn: u32, bytes: &[u8]) -> Vec<(u32, Vec<u8>)> {
            self.0.receive(conn, bytes)
        }
        fn set_time(&mut self, now: i64) {
            self.1 = now;
        }
    }
    let mut other = Clocked(RecordedPeer::of(plan), 0);
    let mut settings = settings(plan.protocol);
    settings.speed = speed.parse().unwrap();
    let run = play(plan, &settings, &mut other);
    assert!(run.outcome.is_clean(), "{:?}", run.reported);
    (other.1 - NOW) / MILLI
}

/// A peer that handles messages at the same time could read the cancellation first.
#[test]
fn a_cancellation_keeps_its_distance_until_the_request_has_begun() {
    const BEGIN: &str = r#"
        > {"v":1,"kind":"HEY","agent":{"id":"a","kind":"agent"}}
        < {"v":1,"kind":"HEY","session_id":"ses_0123456789abcdef","session_ttl":3600}
        > {"v":1,"kind":"INV","seq":1,"tool":"t","args":{}}
    "#;
    const BEGUN: &str = r#"
        < {"v":1,"kind":"STR","seq":1,"item":1}
    "#;
    const END: &str = r#"
        > {"v":1,"kind":"CAN","seq":1}
        < {"v":1,"kind":"ERR","seq":1,"code":"CANCELLED","message":"ended"}
    "#;
    for (messages, last) in [
        ([BEGIN, END].concat(), 100),
        ([BEGIN, BEGUN, END].concat(), 0),
    ] {
        let recording = recorded("sael", &messages);
        assert_eq!(duration(&plan(&recording), "max"), last, "{messages}");
    }
}

#[test]
fn hellos_are_sent_with_any_selection() {
    let recording = recorded("stepflow", CALLS);
    let select = Select {
        conditions: vec!["index=4".parse().unwrap()],
        ..Select::default()
    };
    let plan = chosen(&recording, select.filter()).unwrap();
    let whats: Vec<&str> = plan
        .steps
        .iter()
        .map(|step| step.description.what.as_str())
        .collect();
    assert_eq!(
        whats,
        [
            "request initialize",
            "notification initialized",
            "request components/execute /b",
            "response"
        ]
    );
}

#[test]
fn selected_messages_are_counted_separately_from_required_ones() {
    let recording = recorded("stepflow", CALLS);
    for (first, last, kind, subject, want, matched) in [
        (None, None, "", "", 5, 10),
        (Some(4), Some(4), "", "", 1, 1),
        (Some(99), None, "", "", 0, 0),
        // Hellos and answers count if they are selected.
        (Some(0), Some(0), "", "", 1, 1),
        (None, None, "", "initialize", 1, 1),
        (None, None, "nonsense", "", 0, 0),
        // Only messages of the peer are selected.
        (None, None, "", "log", 0, 1),
    ] {
        let some = |text: &str| {
            let text = Some(text.to_owned()).filter(|text| !text.is_empty());
            text.into_iter().collect::<Vec<String>>()
        };
        let select = Select {
            kinds: some(kind),
            subjects: some(subject),
            conditions: [("index>=", first), ("index<=", last)]
                .into_iter()
                .filter_map(|(test, n)| Some(format!("{test}{}", n?).parse().unwrap()))
                .collect(),
            ..Select::default()
        };
        let plan = chosen(&recording, select.filter()).unwrap();
        assert_eq!(
            (plan.chosen, plan.matched, plan.read),
            (want, matched, 10),
            "{first:?} {last:?} {kind} {subject}"
        );
    }
}

/// The cost of a connection does not depend on the number of connections.
#[test]
fn twenty_thousand_connections_are_replayed() {
    const CONNS: usize = 20_000;
    /// Answers every message that has an id.
    struct Yes;
    impl TestPeer for Yes {
        fn receive(&mut self, conn: u32, bytes: &[u8]) -> Vec<(u32, Vec<u8>)> {
            let message: serde_json::Value = serde_json::from_slice(bytes).unwrap();
            let Some(id) = message.get("id") else {
                return Vec::new();
            };
            let answer = format!(
                "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"serverProtocolVersion\":1}}}}\n"
            );
            vec![(conn, answer.into_bytes())]
        }
    }
    let recording = many(CONNS);
    let plan = plan(&recording);
    assert_eq!((plan.steps.len(), plan.connections.len()), (CONNS, CONNS));
    assert_eq!(plan.ended.len(), CONNS);
    let run = play(&plan, &settings(plan.protocol), &mut Yes);
    assert!(
        run.outcome.is_clean(),
        "{:?} {:?}",
        run.outcome,
        run.reported
    );
    assert_eq!(run.outcome.compared, CONNS as u64);
}

/// Returns a recording of consecutive connections with one request and one answer each.
fn many(conns: usize) -> Vec<u8> {
    let mut out = "{\"wiretool\":1,\"protocol\":\"stepflow\",\"started\":\"2026-01-01T00:00:00Z\",\"transport\":\"tcp\"}\n".to_owned();
    for conn in 1..=conns {
        let id = format!("5f6e7d8c-0000-4000-8000-{conn:012}");
        let request = format!(
            r#"{{"jsonrpc":"2.0","id":"{id}","method":"initialize","params":{{"runtimeProtocolVersion":1}}}}"#
        );
        let reported =
            format!(r#"{{"jsonrpc":"2.0","id":"{id}","result":{{"serverProtocolVersion":1}}}}"#);
        for (dir, connection) in [("c2s", request), ("s2c", reported)] {
            let text = serde_json::to_string(&format!("{connection}\n")).unwrap();
            out += &format!("{{\"t\":{conn},\"conn\":{conn},\"dir\":\"{dir}\",\"text\":{text}}}\n");
        }
        out += &format!("{{\"t\":{conn},\"conn\":{conn},\"event\":\"close\"}}\n");
    }
    out += &format!(
        "{{\"t\":{conns},\"event\":\"end\",\"chunks\":{},\"bytes\":{{}}}}\n",
        2 * conns
    );
    out.into_bytes()
}

#[test]
fn an_unusable_recording_is_refused_with_a_sentence() {
    let only = recorded("oracle", r#"< {"jsonrpc":"2.0","id":0,"method":"ready"}"#);
    let none = recorded("oracle", "");
    let oracle = [registry::find("oracle").unwrap()];
    for (recording, wanted) in [
        (&only[..], "it has only answers"),
        (&none[..], "it has no message"),
        (b"{\"jsonrpc\":\"2.0\"}\n", "not a recording"),
        (
            b"{\"wiretool\":1}\n{\"t\":0,\"conn\":1,\"dir\":\"c2s\",\"text\":\"*1\\r\\n$4\\r\\nPING\\r\\n\"}\n",
            "no protocol recognises these bytes, which look like Redis (RESP): name it with -p",
        ),
        (
            b"{\"wiretool\":1,\"protocol\":\"sael\"}\n",
            "it is a recording of sael, not of oracle",
        ),
    ] {
        let protocols = if wanted.contains("Redis") { registry::all() } else { &oracle[..] };
        let unfit = Plan::of(recording, protocols, None, Limits::default(), all());
        let unfit = unfit.err().unwrap();
        assert!(unfit.contains(wanted), "{unfit}");
    }
    // A recording without answers, and a truncated one, are replayed with a note.
    let ours = recorded(
        "stepflow",
        CALLS
            .lines()
            .find(|connection| connection.contains("initialize\""))
            .unwrap(),
    );
    assert!(plan(&ours).notes[0].contains("only requests, and no answer"));
    // A text without directions is recorded as one side.
    let both = CALLS.replace("\n    <", "\n    >");
    let unfit = Plan::of(
        &recorded("stepflow", &both),
        registry::all(),
        None,
        Limits::default(),
        all(),
    );
    let unfit = unfit.err().unwrap_or_default();
    assert!(unfit.contains("in one direction"), "{unfit}");
    let mut torn = recorded("stepflow", CALLS);
    torn.truncate(torn.len() - 300);
    assert!(
        plan(&torn).notes[0].contains("no end line"),
        "{:?}",
        plan(&torn).notes
    );
}

/// Returns a recording of a sael session whose server sends this number of events before the client unsubscribes.
fn subscribed() -> Vec<u8> {
    recorded(
        "sael",
        r#"
        > {"v":1,"kind":"HEY","agent":{"id":"a"}}
        < {"v":1,"kind":"HEY","server":{"id":"s","name":"S","version":"1"},"session_id":"ses_0123456789"}
        > {"v":1,"kind":"SUB","seq":1,"topic":"t"}
        < {"v":1,"kind":"RES","seq":1,"subscriptionId":1}
        < {"v":1,"kind":"EVT","seq":1,"data":{"n":1}}
        < {"v":1,"kind":"EVT","seq":1,"data":{"n":2}}
        > {"v":1,"kind":"UNS","seq":1}
        < {"v":1,"kind":"EVT","seq":1,"data":{"n":3}}
        > {"v":1,"kind":"BYE"}
    "#,
    )
}

/// A message that ends a stream waits for the items that precede it in the recording. Later items are optional.
#[test]
fn the_end_of_a_stream_waits_for_its_items() {
    let recording = subscribed();
    let plan = plan(&recording);
    for (until, sent, clean) in [
        (usize::MAX, 4, true),
        (4, 4, true),
        (3, 2, false),
        (2, 2, false),
    ] {
        let mut peer = RecordedPeer::of(&plan);
        peer.until = until;
        let run = play(&plan, &settings(plan.protocol), &mut peer);
        let outcome = &run.outcome;
        assert_eq!(
            (outcome.sent, outcome.is_clean()),
            (sent, clean),
            "{until}: {:?}",
            run.reported
        );
    }
}

#[test]
fn an_unordered_list_may_arrive_in_any_order() {
    let list = |a: &str, b: &str| {
        format!(
            r#"
        > {{"v":1,"kind":"HEY","agent":{{"id":"a"}}}}
        < {{"v":1,"kind":"HEY","server":{{"id":"s","name":"S","version":"1"}},"session_id":"ses_0123456789","granted_capabilities":["a","b"]}}
        > {{"v":1,"kind":"LST","seq":1}}
        < {{"v":1,"kind":"LST","seq":1,"tools":[{{"name":"{a}","streaming":false}},{{"name":"{b}","streaming":false}}]}}
    "#
        )
    };
    let recording = recorded("sael", &list("x", "y"));
    let plan = plan(&recording);
    for (tools, clean) in [(["y", "x"], true), (["y", "z"], false), (["x", "x"], false)] {
        let mut peer = RecordedPeer::of(&plan);
        let tools = tools.map(|name| serde_json::json!({"name": name, "streaming": false}));
        peer.change = Some((
            1,
            recorded_peer::MessageChange::At("/tools".into(), Some(tools.to_vec().into())),
        ));
        let run = play(&plan, &settings(plan.protocol), &mut peer);
        assert_eq!(
            run.outcome.is_clean(),
            clean,
            "{tools:?}: {:?}",
            run.reported
        );
    }
}

/// The client does not wait for a connection without messages to send.
#[test]
fn the_client_does_not_wait_for_an_unselected_connection() {
    let hello = |conn: u32| {
        let chunk = |direction: &str, text: &str| {
            let text = serde_json::to_string(&format!("{text}\n")).unwrap();
            format!("{{\"t\":1,\"conn\":{conn},\"dir\":\"{direction}\",\"text\":{text}}}\n")
        };
        chunk("s2c", r#"{"jsonrpc":"2.0","id":0,"method":"ready"}"#)
            + &chunk("c2s", r#"{"jsonrpc":"2.0","id":0,"result":{}}"#)
            + &chunk(
                "c2s",
                r#"{"jsonrpc":"2.0","id":0,"method":"invoke","params":{"selector":"f","calldata":[]}}"#,
            )
            + &chunk("s2c", r#"{"jsonrpc":"2.0","id":0,"result":[]}"#)
            + &chunk("s2c", r#"{"jsonrpc":"2.0","method":"log","params":{}}"#)
    };
    let head = "{\"wiretool\":1,\"protocol\":\"oracle\",\"started\":\"2026-01-01T00:00:00Z\",\"transport\":\"stdio\"}\n";
    let recording = format!("{head}{}{}", hello(1), hello(2)).into_bytes();
    let filter = Select {
        conditions: vec!["conn=2".parse().unwrap()],
        ..Select::default()
    };
    let plan = chosen(&recording, filter.filter()).unwrap();
    let run = play(
        &plan,
        &settings(plan.protocol),
        &mut RecordedPeer::of(&plan),
    );
    assert!(run.outcome.is_clean(), "{:?}", run.reported);
    assert_eq!(run.sent.keys().copied().collect::<Vec<_>>(), [2]);
}

fn content_length(text: &str) -> String {
    format!("Content-Length: {}\r\n\r\n{text}", text.len())
}

/// A language server that answers a cancelled request in its own way, and sends its log in another order.
#[test]
fn what_depends_on_timing_is_no_difference() {
    const LINES: &str = r#"
        > {"jsonrpc":"2.0","id":0,"method":"initialize","params":{"processId":null,"rootUri":null,"capabilities":{}}}
        < {"jsonrpc":"2.0","id":0,"result":{"capabilities":{"hoverProvider":true}}}
        > {"jsonrpc":"2.0","method":"initialized","params":{}}
        < {"jsonrpc":"2.0","method":"window/logMessage","params":{"type":3,"message":"one"}}
        < {"jsonrpc":"2.0","method":"window/logMessage","params":{"type":3,"message":"two"}}
        < {"jsonrpc":"2.0","method":"window/logMessage","params":{"type":3,"message":"three"}}
        > {"jsonrpc":"2.0","id":1,"method":"textDocument/hover","params":{"textDocument":{"uri":"file:///a"},"position":{"line":0,"character":0}}}
        > {"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":1}}
        < {"jsonrpc":"2.0","id":1,"error":{"code":-32800,"message":"Request cancelled"}}
        > {"jsonrpc":"2.0","id":2,"method":"shutdown"}
        < {"jsonrpc":"2.0","id":2,"result":null}
        > {"jsonrpc":"2.0","method":"exit"}
    "#;
    const CANCELLED: &str = r#""error":{"code":-32800,"message":"Request cancelled"}"#;
    const HOVER: &str = r#""result":{"contents":"x"}"#;
    let log = |text: &str| LINES.lines().find(|line| line.contains(text)).unwrap();
    let moved = LINES
        .replace(&format!("{}\n", log("one")), "")
        .replace(log("three"), &format!("{}\n{}", log("three"), log("one")));
    let uncancelled = LINES.replace(log("cancelRequest"), "");
    for (recorded, live, differ) in [
        (LINES, &LINES.replace(CANCELLED, HOVER), 0),
        (&LINES.replace(CANCELLED, HOVER), &LINES.to_owned(), 0),
        (&uncancelled, &uncancelled.replace(CANCELLED, HOVER), 1),
        (LINES, &moved, 0),
        (LINES, &LINES.replace("one", "four"), 1),
    ] {
        let framed = |lines: &str| recorded_as("lsp", lines, content_length);
        let (recording, other) = (framed(recorded), framed(live));
        let (plan, other) = (plan(&recording), plan(&other));
        let mut settings = settings(plan.protocol);
        settings.keep_going = true;
        settings.in_order = true;
        let run = play(&plan, &settings, &mut RecordedPeer::of(&other));
        assert_eq!(run.outcome.differ, differ, "{live}: {:?}", run.reported);
        let sides = [&recording, &framed(live)].map(|recording| changes::side(recording));
        let found = changes::differences(plan.protocol, &sides[0], &sides[1]);
        assert_eq!(found.len() as u64, differ, "{live}: {found:?}");
    }
}

/// Returns a recording of an HTTP client that opens a connection for each request, and closes it before the next one.
fn recorded_exchanges(count: usize) -> Vec<u8> {
    let mut lines =
        vec![r#"{"wiretool":1,"started":"2026-01-01T00:00:00Z","transport":"http"}"#.to_owned()];
    for conn in 1..=count {
        let ask = format!(r#"{{"jsonrpc":"2.0","id":{conn},"method":"get","params":[{conn}]}}"#);
        let answer = format!(r#"{{"jsonrpc":"2.0","id":{conn},"result":{conn}}}"#);
        let head = "content-type: application/json\r\ncontent-length";
        let ask = format!("POST / HTTP/1.1\r\n{head}: {}\r\n\r\n{ask}", ask.len());
        let answer = format!(
            "HTTP/1.1 200 OK\r\n{head}: {}\r\n\r\n{answer}",
            answer.len()
        );
        let text = |text: &str| serde_json::to_string(text).unwrap();
        lines.extend([
            format!(r#"{{"t":{conn}0,"conn":{conn},"event":"open"}}"#),
            format!(
                r#"{{"t":{conn}1,"conn":{conn},"dir":"c2s","text":{}}}"#,
                text(&ask)
            ),
            format!(
                r#"{{"t":{conn}2,"conn":{conn},"dir":"s2c","text":{}}}"#,
                text(&answer)
            ),
            format!(r#"{{"t":{conn}3,"conn":{conn},"event":"close"}}"#),
        ]);
    }
    lines.join("\n").into_bytes()
}

/// JSON-RPC is recognised after three requests: until then the messages wait.
#[test]
fn connections_keep_their_order_if_the_recording_does_not_name_the_protocol() {
    for count in [2, 6] {
        let recording = recorded_exchanges(count);
        let plan = plan(&recording);
        let before: Vec<(usize, usize)> = (plan.connections.values())
            .map(|planned| (planned.received_before, planned.ended_before))
            .collect();
        let wanted: Vec<(usize, usize)> = (0..count).map(|n| (n, n)).collect();
        assert_eq!(before, wanted);
    }
}
