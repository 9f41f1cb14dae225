//! Requests that a recording has, and similar ones.

mod http;

use super::*;
use crate::live::speed::Speed;
use serde_json::{Value as Json, json};

/// A call that carries these params.
fn call(id: u32, params: &Json) -> String {
    json!({"jsonrpc": "2.0", "id": id, "method": "components/info", "params": params}).to_string()
}

/// A recording in which each of these was asked, and answered with how many came before it.
fn recording(all: &[Json]) -> String {
    let chunk = |dir: &str, text: String| {
        json!({"t": 1, "conn": 0, "dir": dir, "text": format!("{text}\n")}).to_string()
    };
    let head = json!({"wiretool": 1, "protocol": "stepflow", "started": "2026-01-01T00:00:00Z", "transport": "stdio"});
    let mut lines = vec![head.to_string()];
    for (n, params) in (0..).zip(all) {
        let answer = json!({"jsonrpc": "2.0", "id": n, "result": n});
        lines.push(chunk("c2s", call(n, params)));
        lines.push(chunk("s2c", answer.to_string()));
    }
    lines.join("\n")
}

fn compiled(all: &[Json]) -> Script {
    let (side, limits) = (Direction::ToClient, Limits::default());
    let recording = recording(all);
    let script = compile(
        recording.as_bytes(),
        known("stepflow"),
        side,
        limits,
        Speed::default(),
    );
    script.unwrap()
}

/// Returns the answer to a call.
fn asked(stub_test: &mut StubTest<'_>, params: &Json) -> Json {
    let output = stub_test.receive(&format!("{}\n", call(77, params)));
    let line = output.lines().find(|line| line.starts_with('{'));
    serde_json::from_str(line.unwrap_or_else(|| panic!("{output}"))).unwrap()
}

#[test]
fn different_nesting_is_a_miss() {
    for (recorded, other) in [
        (
            json!({"a": {"b": 1}, "c": 2}),
            json!({"a": {"b": 1, "c": 2}}),
        ),
        (json!([{"a": 1}, {"b": 2}]), json!([{"a": 1, "b": 2}])),
    ] {
        let [recorded, other] =
            [recorded, other].map(|args| json!({"component": "/a", "args": args}));
        let script = compiled(std::slice::from_ref(&recorded));
        let mut stub_test = StubTest::made(known("stepflow"), script, OnMiss::Error, false);
        stub_test.open();
        assert_eq!(asked(&mut stub_test, &recorded)["result"], 0);
        let answer = asked(&mut stub_test, &other);
        let why = answer["error"]["message"].as_str().unwrap_or_default();
        assert!(why.contains("was not recorded in this form"), "{answer}");
    }
}

/// Clients differ in remarks, and in empty objects; recorded requests that differ only there keep their own answers.
#[test]
fn remarks_and_empty_objects_do_not_make_a_miss() {
    let none = json!({"component": "/a"});
    let with = |token: u32| json!({"component": "/b", "_meta": {"progressToken": token}});
    let all = [
        none,
        with(1),
        with(2),
        json!({"component": "/c", "args": [1]}),
    ];
    let script = compiled(&all);
    let mut stub_test = StubTest::made(known("stepflow"), script, OnMiss::Error, false);
    stub_test.open();
    for (asked_for, answer) in [
        (
            json!({"component": "/a", "_meta": {"x": 1}, "args": {}}),
            json!(0),
        ),
        (json!({"component": "/a", "args": {"_meta": {}}}), json!(0)),
        (with(2), json!(2)),
        (json!({"component": "/b"}), json!(1)),
        (with(1), json!(1)),
        (with(9), json!(2)),
    ] {
        let answered = asked(&mut stub_test, &asked_for);
        assert_eq!(answered["result"], answer, "{asked_for}: {answered}");
    }
    for (asked_for, wanted) in [
        (
            json!({"component": "/a", "args": {"b": 1}}),
            "params.args.b is 1, recorded absent",
        ),
        (
            json!({"component": "/c", "args": {"b": 1, "c": 2}}),
            "params.args is an object with 2 members, recorded an array with 1 element",
        ),
    ] {
        let answered = asked(&mut stub_test, &asked_for);
        let why = answered["error"]["message"].as_str().unwrap_or_default();
        assert!(why.contains(wanted), "{answered}");
    }
}

#[test]
fn printed_script_keeps_unusual_names() {
    let names = [
        "a b", "a.b", "a\"b", "a\\b", "[0]", "*", "", "a}}b", "a\nb", "it's", "plain",
    ];
    for name in names {
        let [one, two] = [1, 2].map(|n| json!({"args": {name: n}}));
        let all = [one, two];
        let script = script(&compiled(&all), known("stepflow"));
        assert!(!script.contains("times"), "{name:?}\n{script}");
        let mut stub_test = StubTest::with(known("stepflow"), &script, OnMiss::Error, false);
        stub_test.open();
        for n in [1, 0, 1] {
            let answer = asked(&mut stub_test, &all[n]);
            assert_eq!(answer["result"], json!(n), "{name:?}\n{script}");
        }
    }
}

#[test]
fn unanswered_recorded_call_is_dropped() {
    let ask =
        json!({"jsonrpc": "2.0", "id": "q", "method": "blobs/get", "params": {"blob_id": "b"}});
    let ask = json!({"t": 1, "conn": 0, "dir": "s2c", "text": format!("{ask}\n")}).to_string();
    let params = json!({"component": "/a"});
    let recording = recording(std::slice::from_ref(&params));
    let mut lines: Vec<&str> = recording.lines().collect();
    lines.insert(2, &ask);
    let (side, limits) = (Direction::ToClient, Limits::default());
    let recording = lines.join("\n");
    let protocol = known("stepflow");
    let script = compile(
        recording.as_bytes(),
        protocol,
        side,
        limits,
        Speed::default(),
    );
    let mut stub_test = StubTest::made(protocol, script.unwrap(), OnMiss::Error, false);
    stub_test.open();
    for _ in 0..3 {
        let output = stub_test.receive(&format!("{}\n", call(77, &params)));
        assert!(
            output.contains("blobs/get") && output.contains("\"id\":77"),
            "{output}"
        );
        assert!(stub_test.stub.dispatcher.jobs_by_request.is_empty());
    }
    // Its answer comes late; no request is open.
    let asked = stub_test.receive(&format!("{}\n", call(78, &params)));
    let asked: Json = serde_json::from_str(asked.lines().next().unwrap()).unwrap();
    let answer = json!({"jsonrpc": "2.0", "id": asked["id"], "result": {"data": 1}});
    assert_eq!(stub_test.receive(&format!("{answer}\n")), "");
}

/// A call of a run whose id every run makes anew.
fn of_run(run: u128, input: usize) -> Json {
    let run = format!("{run:032x}");
    let run = format!(
        "{}-{}-4{}-8{}-{}",
        &run[..8],
        &run[8..12],
        &run[13..16],
        &run[17..20],
        &run[20..]
    );
    json!({"component": "/a", "run_id": run, "input": input})
}

/// Recorded requests get their recorded answers, at any position, from any client, in any order.
#[test]
fn every_recorded_request_is_answered_in_any_order() {
    const ALL: usize = 700;
    let recorded: Vec<Json> = (0..ALL).map(|n| of_run(7_000_000 + n as u128, n)).collect();
    let mut stub_test =
        StubTest::made(known("stepflow"), compiled(&recorded), OnMiss::Error, false);
    stub_test.open();
    for n in (0..ALL).rev() {
        let again = of_run(900_000_000 + n as u128, n);
        assert_eq!(asked(&mut stub_test, &again)["result"], json!(n));
        assert_eq!(asked(&mut stub_test, &recorded[n])["result"], json!(n));
    }
    assert_eq!(stub_test.stub.report().missed, 0);
    // A number is not the id of a request because it is the same.
    let other = asked(&mut stub_test, &of_run(1, ALL + 5));
    assert!(other["error"].is_object(), "{other}");
    // The same several times over: in order, then the last forever.
    let recorded: Vec<Json> = (0..600).map(|n| of_run(n, 1)).collect();
    let mut stub_test =
        StubTest::made(known("stepflow"), compiled(&recorded), OnMiss::Error, false);
    stub_test.open();
    for n in 0..605 {
        let again = of_run(900_000_000 + n, 1);
        assert_eq!(asked(&mut stub_test, &again)["result"], json!(n.min(599)));
    }
}

/// Recorded messages after a cancellation are sent after it, earlier ones immediately.
#[test]
fn recorded_stream_waits_for_its_cancellation() {
    let head = json!({"wiretool": 1, "protocol": "sael", "started": "2026-01-01T00:00:00Z", "transport": "tcp"});
    let chunk = |dir: &str, message: Json| json!({"t": 1, "conn": 0, "dir": dir, "text": format!("{message}\n")});
    let str = |seq: u32, n: u32| json!({"v": 1, "kind": "STR", "seq": seq, "data": n});
    let inv = |seq: u32| json!({"v": 1, "kind": "INV", "seq": seq, "tool": "count", "input": {}});
    let can = |seq: u32| json!({"v": 1, "kind": "CAN", "seq": seq});
    let err =
        json!({"v": 1, "kind": "ERR", "seq": 1, "code": "INTERNAL", "message": "context canceled"});
    let lines = [
        head,
        chunk("c2s", json!({"v": 1, "kind": "HEY", "agent": {"id": "a"}})),
        chunk(
            "s2c",
            json!({"v": 1, "kind": "HEY", "server": {"id": "s", "name": "s", "version": "1"}, "session_id": "ses_abcdefghijklmnop"}),
        ),
        chunk("c2s", inv(1)),
        chunk("s2c", str(1, 1)),
        chunk("s2c", str(1, 2)),
        chunk("c2s", can(1)),
        chunk("s2c", err),
    ];
    let recording: Vec<String> = lines.iter().map(Json::to_string).collect();
    let protocol = known("sael");
    let (side, limits) = (Direction::ToClient, Limits::default());
    let recording = recording.join("\n");
    let script = compile(
        recording.as_bytes(),
        protocol,
        side,
        limits,
        Speed::default(),
    );
    let mut stub_test = StubTest::made(protocol, script.unwrap(), OnMiss::Error, false);
    stub_test.open();
    stub_test.receive(&format!(
        "{}\n",
        json!({"v": 1, "kind": "HEY", "agent": {"id": "b"}})
    ));
    let kinds = |output: String| -> Vec<String> {
        let kind = |line: &str| serde_json::from_str::<Json>(line).unwrap();
        let kinds = output.lines().map(kind);
        kinds
            .map(|m| format!("{} {}", m["kind"].as_str().unwrap(), m["seq"]))
            .collect()
    };
    assert_eq!(
        kinds(stub_test.receive(&format!("{}\n", inv(3)))),
        ["STR 3", "STR 3"]
    );
    // Another call is none of its business.
    assert_eq!(
        kinds(stub_test.receive(&format!("{}\n", can(9)))),
        Vec::<String>::new()
    );
    let output = stub_test.receive(&format!("{}\n", can(3)));
    assert!(output.contains("context canceled"), "{output}");
    assert_eq!(kinds(output), ["ERR 3"]);
    assert!(!stub_test.stub.waiting.has(1.into()));
}

/// A client that was refused has tried again: the stub accepts its hello at once.
#[test]
fn a_hello_is_answered_as_after_its_refusal() {
    let head = json!({"wiretool": 1, "protocol": "sael", "started": "2026-01-01T00:00:00Z", "transport": "tcp"});
    let chunk = |conn: u32, dir: &str, message: Json| json!({"t": 1, "conn": conn, "dir": dir, "text": format!("{message}\n")});
    let hello = || json!({"v": 1, "kind": "HEY", "agent": {"id": "a"}});
    let lines = [
        head,
        chunk(1, "c2s", hello()),
        chunk(
            1,
            "s2c",
            json!({"v": 1, "kind": "ERR", "seq": 0, "code": "UNAVAILABLE", "message": "later"}),
        ),
        chunk(2, "c2s", hello()),
        chunk(
            2,
            "s2c",
            json!({"v": 1, "kind": "HEY", "server": {"id": "s", "name": "recorded", "version": "1"}, "session_id": "ses_abcdefghijklmnop"}),
        ),
    ];
    let recording: Vec<String> = lines.iter().map(Json::to_string).collect();
    let (side, limits) = (Direction::ToClient, Limits::default());
    let (recording, protocol) = (recording.join("\n"), known("sael"));
    let script = compile(recording, protocol, side, limits, Speed::default());
    let mut stub_test = StubTest::made(protocol, script.unwrap(), OnMiss::Error, false);
    stub_test.open();
    let output = stub_test.receive(&format!("{}\n", hello()));
    assert!(output.contains("\"recorded\""), "{output}");
}

/// A message continues the request whose id it has, wherever the protocol has that.
#[test]
fn recorded_items_wait_for_a_message_with_the_id_of_their_request() {
    let description = "name = \"lists\"\nframings = [\"lines\"]\n\
        [[message]]\nwhen = \".[0]=0\"\nrole = \"request\"\nid = \".[1]\"\nsubject = \".[2]\"\n\
        [[message]]\nwhen = \".[0]=1\"\nrole = \"response\"\nid = \".[1]\"\ncontent = \".[2]\"\n\
        [[message]]\nwhen = \".[0]=2\"\nrole = \"item\"\nid = \".[1]\"\ncontent = \".[2]\"\n\
        [[message]]\nwhen = \".[0]=3\"\nrole = \"notification\"\nkind = \"stop\"\ncancels = \".[1]\"\n";
    let lists = crate::protocol::described::Described::from_toml(description).unwrap();
    let head = json!({"wiretool": 1, "protocol": "lists", "started": "2026-01-01T00:00:00Z", "transport": "tcp"});
    let chunk = |dir: &str, message: Json| json!({"t": 1, "conn": 0, "dir": dir, "text": format!("{message}\n")});
    let lines = [
        head,
        chunk("c2s", json!([0, 1, "count"])),
        chunk("s2c", json!([2, 1, "first"])),
        chunk("c2s", json!([3, 1])),
        chunk("s2c", json!([1, 1, "stopped"])),
    ];
    let recording: Vec<String> = lines.iter().map(Json::to_string).collect();
    let (side, limits) = (Direction::ToClient, Limits::default());
    let recording = recording.join("\n");
    let script = compile(recording, &lists, side, limits, Speed::default());
    let mut stub_test = StubTest::made(&lists, script.unwrap(), OnMiss::Error, false);
    stub_test.open();
    assert_eq!(stub_test.receive("[0,8,\"count\"]\n"), "[2,8,\"first\"]\n");
    assert_eq!(stub_test.receive("[3,9]\n"), "");
    assert_eq!(stub_test.receive("[3,8]\n"), "[1,8,\"stopped\"]\n");
}

/// A notification that may belong to several open requests is sent before the answer that followed it, as recorded.
#[test]
fn notifications_keep_their_place_before_answers() {
    let ask = |id: u32| call(id, &json!({ "component": format!("/{id}") }));
    let answer = |id: u32| json!({"jsonrpc": "2.0", "id": id, "result": id}).to_string();
    let log = |text: &str| {
        json!({"jsonrpc": "2.0", "method": "log", "params": {"text": text}}).to_string()
    };
    let messages = [
        ("c2s", ask(1)),
        ("c2s", ask(2)),
        ("s2c", log("a")),
        ("s2c", answer(1)),
        ("s2c", log("b")),
        ("s2c", answer(2)),
        // Answered in the reverse order.
        ("c2s", ask(3)),
        ("c2s", ask(4)),
        ("s2c", log("c")),
        ("s2c", answer(4)),
        ("s2c", answer(3)),
    ];
    let head = json!({"wiretool": 1, "protocol": "stepflow", "started": "2026-01-01T00:00:00Z", "transport": "stdio"});
    let chunks = messages.iter().map(|(dir, text)| {
        json!({"t": 1, "conn": 0, "dir": dir, "text": format!("{text}\n")}).to_string()
    });
    let recording: Vec<String> = [head.to_string()].into_iter().chain(chunks).collect();
    let script = compile(
        recording.join("\n").as_bytes(),
        known("stepflow"),
        Direction::ToClient,
        Limits::default(),
        Speed::default(),
    );
    let mut stub_test = StubTest::made(known("stepflow"), script.unwrap(), OnMiss::Error, false);
    stub_test.open();
    let sent = [1, 2, 3, 4].map(|id| {
        let output = stub_test.receive(&format!("{}\n", ask(id)));
        // A client reads a notification before the answer after it.
        assert_eq!(
            output.contains("result"),
            !output.contains("log"),
            "{output}"
        );
        let output = output + &stub_test.wait(1);
        let lines = output
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok());
        let name = |line: Json| {
            let text = line.pointer("/params/text").cloned();
            text.unwrap_or(line["result"].clone())
        };
        lines.map(name).collect::<Vec<Json>>()
    });
    let wanted = [
        vec![json!("a"), json!(1)],
        vec![json!("b"), json!(2)],
        vec![json!(3)],
        vec![json!("c"), json!(4)],
    ];
    assert_eq!(sent, wanted);
}

/// An error with id null answers a message that could not be read, so no rule of another message sends it.
#[test]
fn errors_without_an_id_answer_no_other_request() {
    let refusal =
        |code: i32| json!({"jsonrpc": "2.0", "error": {"code": code, "message": "no"}, "id": null});
    let ask = |id: u32, n: u32| json!({"jsonrpc": "2.0", "id": id, "method": "add", "params": [n]});
    let told = json!({"jsonrpc": "2.0", "method": "add", "params": [1]});
    let answer = |id: u32| json!({"jsonrpc": "2.0", "id": id, "result": id});
    let messages = [
        ("c2s", told.to_string()),
        ("c2s", ask(9, 9).to_string()),
        ("c2s", "{bad".to_owned()),
        ("s2c", refusal(-32700).to_string()),
        ("c2s", ask(1, 1).to_string()),
        ("c2s", "[]".to_owned()),
        ("s2c", refusal(-32600).to_string()),
        ("s2c", answer(1).to_string()),
        ("c2s", ask(2, 2).to_string()),
        // Its id could not be read: nothing else answers the request.
        ("s2c", refusal(-32000).to_string()),
        ("s2c", answer(2).to_string()),
    ];
    for framing in [Framing::Lines, Framing::ContentLength] {
        let framed = |text: &str| match framing {
            Framing::Lines => format!("{text}\n"),
            _ => format!("Content-Length: {}\r\n\r\n{text}", text.len()),
        };
        let head = json!({"wiretool": 1, "protocol": "jsonrpc", "started": "2026-01-01T00:00:00Z", "transport": "stdio"});
        let chunks = messages.iter().map(|(dir, text)| {
            json!({"t": 1, "conn": 0, "dir": dir, "text": framed(text)}).to_string()
        });
        let recording: Vec<String> = [head.to_string()].into_iter().chain(chunks).collect();
        let script = compile(
            recording.join("\n").as_bytes(),
            known("jsonrpc"),
            Direction::ToClient,
            Limits::default(),
            Speed::default(),
        );
        let mut stub_test = StubTest::over(framing, known("jsonrpc"), script.unwrap());
        stub_test.open();
        let mut answers = |message: &str| stub_test.receive(&framed(message));
        assert_eq!(answers(&told.to_string()), "", "{framing:?}");
        for n in [1, 2] {
            let answered = answers(&ask(n, n).to_string());
            assert!(answered.contains("\"result\""), "{framing:?}: {answered}");
            assert!(!answered.contains("error"), "{framing:?}: {answered}");
        }
        let refused = answers(&ask(9, 9).to_string());
        assert!(refused.contains("-32000"), "{framing:?}: {refused}");
        for (unreadable, code) in [("{bad", "-32700"), ("[]", "-32600"), ("{}", "-32600")] {
            let refused = answers(unreadable);
            assert!(refused.contains(code), "{framing:?}: {refused}");
        }
    }
}
