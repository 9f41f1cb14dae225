//! The player without sockets: recordings of every protocol played against their own other side, and against others.
//!
//! The echo is a recording's other side: it says what was said then, as soon as it has heard what was heard then, with ids
//! and sessions of its own; and it checks that the player speaks of those, not of the recorded ones.

// Long: tests that share their recordings and handlers.

pub mod echo;
mod memory;
mod twists;
mod waits;

use self::echo::{Echo, MILLI, NOW, Other, all, chosen, plan, play, settings};
use crate::diff::Ignore;
use crate::framing::Limits;
use crate::live::plan::{Plan, Selection};
use crate::protocol::registry;
use crate::select::{Filter, Select};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// A recording of one connection over lines: who says it (`>` or `<`), and what.
fn recorded(protocol: &str, lines: &str) -> Vec<u8> {
    let mut out = format!(
        "{{\"wiretool\":1,\"protocol\":\"{protocol}\",\"started\":\"2026-01-01T00:00:00Z\",\"transport\":\"stdio\"}}\n"
    );
    let mut chunks = 0;
    for (t, line) in (0..).zip(lines.lines().filter(|line| !line.trim().is_empty())) {
        let (way, text) = line.trim().split_once(' ').unwrap();
        let dir = if way == ">" { "c2s" } else { "s2c" };
        let text = serde_json::to_string(&format!("{text}\n")).unwrap();
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

/// Two calls at a time, of which the first needs what the greeting told; a callback, and a push that nobody waits for.
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
fn every_healthy_recording_replays_with_fresh_values_on_both_sides() {
    let (mut played, mut compared) = (0, 0);
    let mut failed = Vec::new();
    for path in files() {
        let name = path.display();
        let recording = std::fs::read(&path).unwrap();
        let plan = match chosen(&recording, all()) {
            Ok(plan) => plan,
            Err(unfit) => {
                assert!(unfit.starts_with("only the answers"), "{name}: {unfit}");
                continue;
            }
        };
        let mut echo = Echo::of(&plan);
        let ran = play(&plan, &settings(plan.protocol), &mut echo);
        let outcome = &ran.outcome;
        if !outcome.is_clean() || outcome.sent != plan.steps.len() as u64 || !echo.wrong.is_empty()
        {
            failed.push(format!(
                "{name}: {outcome:?} {:?} {:?}",
                ran.told, echo.wrong
            ));
        }
        played += 1;
        compared += outcome.compared;
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
    assert!(played > 300 && compared > 500, "{played} {compared}");
}

/// Real sessions that are healthy, or at least answer each question with its own answer.
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

/// Reads the captures where `WIRETOOL_CAPTURES` points, as recordings; says so where there are none.
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
        let mut echo = Echo::of(&plan);
        let ran = play(&plan, &settings(plan.protocol), &mut echo);
        let outcome = &ran.outcome;
        assert!(outcome.is_clean(), "{name}: {outcome:?} {:?}", ran.told);
        assert_eq!(outcome.sent, plan.steps.len() as u64, "{name}");
        assert_eq!(outcome.compared, plan.expected.len() as u64, "{name}");
        assert!(echo.wrong.is_empty(), "{name}: {:?}", echo.wrong);
    }
}

#[test]
fn answers_may_come_in_another_order() {
    let recording = recorded("stepflow", CALLS);
    let plan = plan(&recording);
    for reversed in [false, true] {
        let mut echo = Echo::of(&plan);
        echo.reversed = reversed;
        let ran = play(&plan, &settings(plan.protocol), &mut echo);
        assert!(ran.outcome.is_clean(), "{reversed}: {:?}", ran.told);
        assert_eq!((ran.outcome.sent, ran.outcome.compared), (5, 5));
        assert_eq!(ran.told, Vec::<String>::new());
        assert!(echo.wrong.is_empty(), "{:?}", echo.wrong);
        let said = String::from_utf8(ran.said[&1].clone()).unwrap();
        assert!(!said.contains("5f6e7d8c"), "own ids are fresh: {said}");
        assert!(
            !said.contains("cb-00000001"),
            "the peer's ids are its own: {said}"
        );
    }
}

#[test]
fn a_field_that_differs_is_named_with_both_values_and_their_bytes() {
    let recording = recorded("stepflow", CALLS);
    let plan = plan(&recording);
    let mut echo = Echo::of(&plan);
    echo.last = Some(("\"n\":1", "\"n\":7"));
    let ran = play(&plan, &settings(plan.protocol), &mut echo);
    assert_eq!((ran.outcome.differ, ran.outcome.is_clean()), (1, false));
    let told = ran.told.join("\n");
    assert!(told.contains(r#"path: "result.output.n""#), "{told}");
    assert!(
        told.contains(r#"text: "1""#) && told.contains(r#"text: "7""#),
        "{told}"
    );
    assert!(
        told.contains("bytes: [49]") && told.contains("bytes: [55]"),
        "{told}"
    );
    assert!(told.contains(r#"["response:result.output.n"]"#), "{told}");
    // What was said to be passed over is.
    let mut settings = settings(plan.protocol);
    settings.ignore = Ignore::new(["response:result.output.n"]).and_anew(plan.protocol, true);
    let mut echo = Echo::of(&plan);
    echo.last = Some(("\"n\":1", "\"n\":7"));
    assert!(play(&plan, &settings, &mut echo).outcome.is_clean());
}

#[test]
fn what_recurs_is_compared_by_what_it_names() {
    let recording = recorded("stepflow", CALLS);
    let plan = plan(&recording);
    let mut echo = Echo::of(&plan);
    // A run that nobody started.
    echo.last = Some(("\"of\":\"", "\"of\":\"x"));
    let ran = play(&plan, &settings(plan.protocol), &mut echo);
    let told = ran.told.join("\n");
    assert!(told.contains(r#"path: "result.output.of""#), "{told}");
}

#[test]
fn an_answer_that_never_comes_is_a_hang() {
    let recording = recorded("stepflow", CALLS);
    let plan = plan(&recording);
    for (until, owed, sent) in [
        (0, "request initialize", 1),
        (1, "request components/execute", 4),
        (3, "request components/execute", 5),
    ] {
        let mut echo = Echo::of(&plan);
        echo.until = until;
        let ran = play(&plan, &settings(plan.protocol), &mut echo);
        assert!(ran.outcome.hangs, "{until}: {:?}", ran.told);
        assert_eq!(ran.outcome.sent, sent, "{until}");
        let told = ran.told.join("\n");
        assert!(told.contains(owed), "{until}: {told}");
    }
}

#[test]
fn with_keep_going_everything_that_differs_is_told() {
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
        impl Other for Wrong {
            fn opened(&mut self, conn: u32) -> Vec<(u32, Vec<u8>)> {
                let ready = br#"{"jsonrpc":"2.0","id":7,"method":"ready"}"#;
                vec![(conn, [&ready[..], b"\n"].concat())]
            }
            fn hears(&mut self, conn: u32, bytes: &[u8]) -> Vec<(u32, Vec<u8>)> {
                let text = String::from_utf8_lossy(bytes).into_owned();
                self.0 |= text.contains("\"id\":7");
                let lines = text.lines().filter(|line| line.contains("invoke"));
                let answer = |line: &str| {
                    let id = i32::from(!line.contains("\"id\":0"));
                    let line =
                        format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":[\"0x9\"]}}\n");
                    (conn, line.into_bytes())
                };
                lines.map(answer).collect()
            }
        }
        let mut other = Wrong(false);
        let mut settings = settings(plan.protocol);
        settings.keep_going = keep_going;
        settings.in_order = true;
        let ran = play(&plan, &settings, &mut other);
        assert_eq!(ran.outcome.differ, differ, "{:?}", ran.told);
        assert_eq!(ran.outcome.sent, sent, "{keep_going}");
        assert!(other.0, "the acknowledgement goes by the live id");
    }
}

#[test]
fn distances_are_kept_where_that_is_asked_for() {
    let recording = recorded("stepflow", CALLS);
    let plan = plan(&recording);
    for (speed, last) in [("max", 0), ("1", 700), ("2x", 350)] {
        struct Clocked<'e>(Echo<'e>, Arc<Mutex<i64>>);
        impl Other for Clocked<'_> {
            fn opened(&mut self, conn: u32) -> Vec<(u32, Vec<u8>)> {
                self.0.opened(conn)
            }
            fn hears(&mut self, conn: u32, bytes: &[u8]) -> Vec<(u32, Vec<u8>)> {
                self.0.hears(conn, bytes)
            }
            fn at(&mut self, now: i64) {
                *self.1.lock().unwrap() = now;
            }
        }
        let clock = Arc::new(Mutex::new(0));
        let mut other = Clocked(Echo::of(&plan), Arc::clone(&clock));
        let mut settings = settings(plan.protocol);
        settings.speed = speed.parse().unwrap();
        let ran = play(&plan, &settings, &mut other);
        assert!(ran.outcome.is_clean(), "{:?}", ran.told);
        let after = (*clock.lock().unwrap() - NOW) / MILLI;
        assert_eq!(after, last, "{speed}");
    }
}

#[test]
fn hellos_are_said_whatever_is_chosen() {
    let recording = recorded("stepflow", CALLS);
    let choice = Selection {
        first: Some(4),
        last: Some(4),
        filter: Filter::default(),
    };
    let plan = chosen(&recording, choice).unwrap();
    let whats: Vec<&str> = plan
        .steps
        .iter()
        .map(|step| step.which.what.as_str())
        .collect();
    assert_eq!(
        whats,
        [
            "request initialize",
            "notification initialized",
            "request components/execute",
            "response"
        ]
    );
}

#[test]
fn what_is_chosen_is_counted_apart_from_what_is_said_all_the_same() {
    let recording = recorded("stepflow", CALLS);
    for (first, last, kind, subject, want, matched) in [
        (None, None, "", "", 5, 10),
        (Some(4), Some(4), "", "", 1, 1),
        (Some(99), None, "", "", 0, 0),
        // Hellos and answers count where they are asked for.
        (Some(0), Some(0), "", "", 1, 1),
        (None, None, "", "initialize", 1, 1),
        (None, None, "nonsense", "", 0, 0),
        // What matches is the other side's.
        (None, None, "", "log", 0, 1),
    ] {
        let some = |text: &str| {
            let text = Some(text.to_owned()).filter(|text| !text.is_empty());
            text.into_iter().collect::<Vec<String>>()
        };
        let select = Select {
            kinds: some(kind),
            subjects: some(subject),
            ..Select::default()
        };
        let choice = Selection {
            first,
            last,
            filter: select.filter(),
        };
        let plan = chosen(&recording, choice).unwrap();
        assert_eq!(
            (plan.chosen, plan.matched, plan.read),
            (want, matched, 10),
            "{first:?} {last:?} {kind} {subject}"
        );
    }
}

/// As many connections as a server sees in a day: what is kept and done for each does not grow with their number.
#[test]
fn twenty_thousand_connections_are_played() {
    const CONNS: usize = 20_000;
    /// Answers whatever has an id.
    struct Yes;
    impl Other for Yes {
        fn hears(&mut self, conn: u32, bytes: &[u8]) -> Vec<(u32, Vec<u8>)> {
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
    let ran = play(&plan, &settings(plan.protocol), &mut Yes);
    assert!(ran.outcome.is_clean(), "{:?} {:?}", ran.outcome, ran.told);
    assert_eq!(ran.outcome.compared, CONNS as u64);
}

/// One connection after another, each with a question and its answer.
fn many(conns: usize) -> Vec<u8> {
    let mut out = "{\"wiretool\":1,\"protocol\":\"stepflow\",\"started\":\"2026-01-01T00:00:00Z\",\"transport\":\"tcp\"}\n".to_owned();
    for conn in 1..=conns {
        let id = format!("5f6e7d8c-0000-4000-8000-{conn:012}");
        let asked = format!(
            r#"{{"jsonrpc":"2.0","id":"{id}","method":"initialize","params":{{"runtimeProtocolVersion":1}}}}"#
        );
        let told =
            format!(r#"{{"jsonrpc":"2.0","id":"{id}","result":{{"serverProtocolVersion":1}}}}"#);
        for (dir, line) in [("c2s", asked), ("s2c", told)] {
            let text = serde_json::to_string(&format!("{line}\n")).unwrap();
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
fn what_cannot_be_played_is_told_in_a_sentence() {
    let only = recorded("oracle", r#"< {"jsonrpc":"2.0","id":0,"method":"ready"}"#);
    let none = recorded("oracle", "");
    let oracle = [registry::find("oracle").unwrap()];
    for (recording, wanted) in [
        (&only[..], "only the answers are in it"),
        (&none[..], "there is no message in it"),
        (b"{\"jsonrpc\":\"2.0\"}\n", "this is no recording"),
        (
            b"{\"wiretool\":1,\"protocol\":\"sael\"}\n",
            "it is a recording of sael, and oracle was asked for",
        ),
    ] {
        let unfit = Plan::of(recording, &oracle, None, Limits::default(), all());
        let unfit = unfit.err().unwrap();
        assert!(unfit.contains(wanted), "{unfit}");
    }
    // One way of it, and a torn one, are played with a note.
    let ours = recorded(
        "stepflow",
        CALLS
            .lines()
            .find(|line| line.contains("initialize\""))
            .unwrap(),
    );
    assert!(plan(&ours).notes[0].contains("only the calling side"));
    let mut torn = recorded("stepflow", CALLS);
    torn.truncate(torn.len() - 300);
    assert!(
        plan(&torn).notes[0].contains("no end line"),
        "{:?}",
        plan(&torn).notes
    );
}

/// A recording of a sael session, whose server says so many events before the client unsubscribes.
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

/// What ends a stream goes out when all came that had come before; what came after it may as well not.
#[test]
fn what_ends_a_stream_waits_for_its_items() {
    let recording = subscribed();
    let plan = plan(&recording);
    for (until, sent, clean) in [
        (usize::MAX, 4, true),
        (4, 4, true),
        (3, 2, false),
        (2, 2, false),
    ] {
        let mut echo = Echo::of(&plan);
        echo.until = until;
        let ran = play(&plan, &settings(plan.protocol), &mut echo);
        let outcome = &ran.outcome;
        assert_eq!(
            (outcome.sent, outcome.is_clean()),
            (sent, clean),
            "{until}: {:?}",
            ran.told
        );
    }
}

#[test]
fn a_list_without_an_order_may_come_in_another() {
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
        let mut echo = Echo::of(&plan);
        let tools = tools.map(|name| serde_json::json!({"name": name, "streaming": false}));
        echo.twist = Some((
            1,
            echo::Twist::At("/tools".into(), Some(tools.to_vec().into())),
        ));
        let ran = play(&plan, &settings(plan.protocol), &mut echo);
        assert_eq!(ran.outcome.is_clean(), clean, "{tools:?}: {:?}", ran.told);
    }
}

/// Nothing is waited for on a connection on which nothing is said.
#[test]
fn a_connection_that_is_left_out_is_not_waited_for() {
    let hello = |conn: u32| {
        let chunk = |way: &str, text: &str| {
            let text = serde_json::to_string(&format!("{text}\n")).unwrap();
            format!("{{\"t\":1,\"conn\":{conn},\"dir\":\"{way}\",\"text\":{text}}}\n")
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
    let choice = Selection {
        filter: filter.filter(),
        ..all()
    };
    let plan = chosen(&recording, choice).unwrap();
    let ran = play(&plan, &settings(plan.protocol), &mut Echo::of(&plan));
    assert!(ran.outcome.is_clean(), "{:?}", ran.told);
    assert_eq!(ran.said.keys().copied().collect::<Vec<_>>(), [2]);
}
