//! What is heard before its turn, in one piece, too often, or that nobody understands.

use super::*;
use crate::decoder::{Options, Origin};
use crate::encoding::Want;
use crate::framing::LengthMode;
use crate::live::codec::Codec;
use serde_json::{Value as Json, json};

/// A stub over some framing, and what it says as messages.
struct Wire<'p> {
    bench: Bench<'p>,
    framing: Framing,
    client: Codec<'p>,
}

impl Wire<'_> {
    fn new(name: &str, framing: Framing, script: &str) -> Self {
        let protocol = known(name);
        let script = Script::read("my.toml", script, protocol).unwrap_or_else(|e| panic!("{e}"));
        let config = ConnectionConfig::new(protocol, framing, Direction::ToServer);
        Self {
            bench: Bench::over(framing, protocol, script),
            framing,
            client: Codec::new(config, 1),
        }
    }

    fn bytes(&mut self, messages: &[Json]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for message in messages {
            self.client
                .say(&message.to_string(), None, None, &mut bytes)
                .unwrap();
        }
        bytes
    }

    /// Messages, and what is told in brackets.
    fn shown(&self, commands: &[Command]) -> Vec<String> {
        let mut shown = Vec::new();
        let mut decoder = crate::decoder::Decoder::new(Options {
            protocols: vec![self.bench.stub.endpoint.protocol()],
            framing: Some(self.framing),
            length_mode: LengthMode::Auto,
            limits: Limits::default(),
            resync: true,
            want: Want::Places,
        });
        let origin = Origin {
            conn: Some(1),
            direction: Some(Direction::ToClient),
            time: None,
        };
        for command in commands {
            match command {
                Command::Send(_, bytes) => decoder.push(origin, bytes, &mut |decoded| {
                    let mut text = Vec::new();
                    decoded.write_message(&mut text);
                    shown.push(String::from_utf8(text).unwrap());
                }),
                Command::Log(text) => shown.push(format!("({text})")),
                other => shown.push(format!("[{other:?}]")),
            }
        }
        shown
    }

    fn open(&mut self) -> Vec<String> {
        let mut commands = Vec::new();
        self.bench.stub.opened(1, 0, &mut commands);
        self.shown(&commands)
    }

    /// All of it in one piece.
    fn hear(&mut self, messages: &[Json]) -> Vec<String> {
        let bytes = self.bytes(messages);
        let mut commands = Vec::new();
        self.bench
            .stub
            .received(1, &bytes, self.bench.now, &mut commands);
        self.shown(&commands)
    }
}

fn call(id: u32, target: &str) -> Json {
    let id = format!("00000000-0000-4000-8000-0000000000{id:02}");
    json!({"version": 1, "type": "call", "id": id, "target": target, "args": [id.len()]})
}

fn batch(items: &[Json]) -> Json {
    let id = "11111111-0000-4000-8000-000000000000";
    json!({"version": 1, "type": "batch", "id": id, "target": "", "args": [], "batch_items": items})
}

const CALLS: &str = r#"
    [[on]]
    match = 'subject="math.add"'
    result = "{{count}}"
    [[on]]
    match = 'subject="math.no"'
    error = { code = "InvalidArguments", message = "no" }
    [[on]]
    match = 'subject="math.late"'
    delay = "1s"
    result = "late"
"#;

/// A call in a batch is answered as it is alone, whatever stands beside it.
#[test]
fn calls_of_a_batch_are_answered_as_they_are_alone() {
    let targets = ["math.add", "math.no", "math.odd"];
    let mut alone = Wire::new("saikuro", Framing::Prefix, CALLS);
    alone.open();
    let values: Vec<Json> = (0..9)
        .map(|n| {
            let said = alone.hear(&[call(n, targets[n as usize % 3])]);
            let answer: Json = serde_json::from_str(said.last().unwrap()).unwrap();
            // Runtimes give null for a call that fails.
            answer.get("result").cloned().unwrap_or(Json::Null)
        })
        .collect();
    let mut together = Wire::new("saikuro", Framing::Prefix, CALLS);
    together.open();
    let calls: Vec<Json> = (0..9).map(|n| call(n, targets[n as usize % 3])).collect();
    let said = together.hear(&[batch(&calls)]);
    let answer: Json = serde_json::from_str(said.last().unwrap()).unwrap();
    assert_eq!(answer["result"], json!(values), "{said:?}");
    assert_eq!(values[0], json!(1));
    let (one, other) = (alone.bench.stub.report(), together.bench.stub.report());
    assert_eq!((one.requests, one.missed, one.answered), (9, 3, 6));
    assert_eq!((other.requests, other.missed, other.answered), (9, 3, 6));
}

#[test]
fn a_batch_is_answered_once_all_its_calls_are() {
    let mut wire = Wire::new("saikuro", Framing::Prefix, CALLS);
    wire.open();
    let inner = batch(&[call(4, "math.late"), call(5, "math.add")]);
    let all = [call(1, "math.late"), call(2, "math.add"), inner];
    assert_eq!(wire.hear(&[batch(&all)]), Vec::<String>::new());
    wire.bench.now += 1_000_000_000;
    let mut commands = Vec::new();
    wire.bench.stub.tick(wire.bench.now, &mut commands);
    let said = wire.shown(&commands);
    let answer: Json = serde_json::from_str(&said[0]).unwrap();
    assert_eq!(answer["result"], json!(["late", 1, ["late", 2]]));
    // A rule that is about the batch answers it as a whole.
    let whole = "[[on]]\nmatch = 'kind=batch'\nresult = [7]\n";
    let mut wire = Wire::new("saikuro", Framing::Prefix, &format!("{whole}{CALLS}"));
    wire.open();
    let said = wire.hear(&[batch(&[call(1, "math.add")])]);
    let answer: Json = serde_json::from_str(&said[0]).unwrap();
    assert_eq!(answer["result"], json!([7]));
}

#[test]
fn first_is_said_once_calls_may_be_made() {
    let script = r#"
        role = "provider"
        offers = ["math.add"]
        first = { version = 1, type = "log", id = "00000000-0000-4000-8000-000000000001", target = "$log", args = [{ level = "info", name = "n", msg = "up" }] }
    "#;
    let mut wire = Wire::new("saikuro", Framing::Prefix, script);
    let said = wire.open();
    assert_eq!(said.len(), 1, "{said:?}");
    let announce: Json = serde_json::from_str(&said[0]).unwrap();
    assert_eq!(announce["type"], "announce");
    let said = wire.hear(&[json!({"id": announce["id"], "ok": true})]);
    let log: Json = serde_json::from_str(&said[0]).unwrap();
    assert_eq!((said.len(), &log["type"]), (1, &json!("log")));
    // Where the other side refuses, that is told, and it is not said.
    let mut wire = Wire::new("saikuro", Framing::Prefix, script);
    let announce: Json = serde_json::from_str(&wire.open()[0]).unwrap();
    let no = json!({"code": "Internal", "message": "frozen"});
    let said = wire.hear(&[json!({"id": announce["id"], "ok": false, "error": no})]);
    assert_eq!(said, ["(#1: announce was answered with Internal: frozen)"]);
    assert!(wire.bench.stub.refused().is_some());
    // Nor where it goes before.
    let mut wire = Wire::new("saikuro", Framing::Prefix, script);
    wire.open();
    let mut commands = Vec::new();
    wire.bench.stub.ended(1, &Ended::Closed, 0, &mut commands);
    assert_eq!(
        wire.shown(&commands),
        ["(#1: ended before `first` could be said)"]
    );
}

#[test]
fn a_topic_that_nothing_is_told_of_is_a_miss() {
    let script = r#"
        [[on]]
        match = 'kind=SUB subject=news'
        items = [1]
        [[on]]
        match = 'subject=work'
        result = 1
        then = { method = "told", params = 5 }
    "#;
    for (topic, want) in [
        ("news", vec!["RES", "EVT"]),
        ("told", vec!["RES"]),
        ("other", vec!["(SUB other has no rule)", "ERR"]),
    ] {
        let mut bench = Bench::with(known("sael"), script, OnMiss::Error, false);
        bench.open();
        let hey = r#"{"v":1,"kind":"HEY","agent":{"id":"a"}}"#;
        let hello = bench.hear(&format!("{hey}\n"));
        let hello: Json = serde_json::from_str(&hello).unwrap();
        assert!(
            hello["supports"]
                .as_array()
                .unwrap()
                .contains(&json!("heartbeat"))
        );
        let sub = json!({"v": 1, "kind": "SUB", "seq": 1, "topic": topic});
        let said = bench.hear(&format!("{sub}\n"));
        let kind = |line: &str| match serde_json::from_str::<Json>(line) {
            Ok(message) => message["kind"].as_str().unwrap().to_owned(),
            Err(_) => line.to_owned(),
        };
        let kinds: Vec<String> = said.lines().map(kind).collect();
        assert_eq!(kinds, want, "{topic}: {said}");
        let missed = u64::from(topic == "other");
        assert_eq!(bench.stub.report().missed, missed);
        assert_eq!(said.contains("TOPIC_NOT_FOUND"), missed == 1, "{said}");
    }
}

/// Whatever an oracle's first line is: it is answered, or a line tells why nothing is.
#[test]
fn an_oracle_is_never_silent() {
    for (first, told) in [
        (
            invoke(5, "f", "0x1"),
            "the first message is not the answer to ready",
        ),
        (
            "hello\n".into(),
            "the first message is not the answer to ready",
        ),
        (
            ACK.replace(":0", ":7"),
            "the first message is not the answer to ready",
        ),
        (
            ACK.replace("\"result\":{}", "\"error\":{\"code\":0,\"message\":\"no\"}"),
            "ready was answered with an error",
        ),
    ] {
        for rule in ["", "[[on]]\nresult = []\n"] {
            let mut bench = Bench::with(oracle(), rule, OnMiss::Error, true);
            bench.open();
            let said = bench.hear(&first);
            let log = bench.log.lock().unwrap().clone();
            assert!(
                said.contains(&format!("(#1: {told}: closed)")),
                "{first}{said}"
            );
            assert!(said.contains("[Close(1)]"), "{first}{said}");
            assert!(bench.stub.refused().is_some());
            let is_request = u64::from(first.contains("invoke"));
            let report = bench.stub.report();
            assert_eq!((report.requests, report.missed), (is_request, is_request));
            // What comes later is not said to be answered.
            assert_eq!(bench.hear(&invoke(6, "f", "0x1")), "");
            assert_eq!(bench.stub.report().requests, is_request, "{log:?}");
        }
    }
    let mut bench = Bench::<'static>::serving("");
    bench.hear("hello\n");
    let log = bench.log.lock().unwrap().clone();
    assert!(log.iter().any(|line| line.contains("Missed")), "{log:?}");
}

#[test]
fn what_is_hostile_is_told_in_few_lines() {
    let zap = |n: u32| invoke(n, "f", "0x1");
    for one in [&|_| "garbage\n".to_owned(), &zap as &dyn Fn(u32) -> String] {
        let mut bench = Bench::<'static>::serving("");
        let mut said = String::new();
        for n in 0..20_000 {
            said += &bench.hear(&one(n));
        }
        let told = said.lines().filter(|line| line.starts_with('(')).count();
        let log = bench.log.lock().unwrap().clone();
        let shown = log.iter().filter(|line| line.contains("Missed")).count();
        assert!((1..=100).contains(&shown) && told <= 100, "{told} {shown}");
        assert_eq!(bench.stub.dispatcher.rate_limit.due(), Some(1_000_000_000));
        let rest = bench.wait(1000);
        assert!(
            rest.contains("(19900 more complaints in that second are not shown)\n"),
            "{rest}"
        );
        assert_eq!(bench.stub.untold(), None);
    }
}

fn post(id: usize, length: usize) -> String {
    let body = format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"components/infer_schema","params":{{}}}}"#
    );
    let length = body.len() + length;
    format!(
        "POST / HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
    )
}

/// However many requests come at once, all that are taken are answered, and no more than one line tells of the others.
#[test]
fn requests_at_once_are_all_answered() {
    for (count, delay) in [(1, ""), (100, ""), (1000, "delay = \"1s\"\n"), (5000, "")] {
        let script = format!("[[on]]\n{delay}result = 1\n");
        let protocol = known("stepflow");
        let script = Script::read("my.toml", &script, protocol).unwrap();
        let mut bench = Bench::over(Framing::Http, protocol, script);
        bench.open();
        let all: String = (1..=count).map(|id| post(id, 0)).collect();
        let mut said = bench.hear(&all);
        said += &bench.wait(1000);
        let answers = said.matches("\"result\":1").count();
        assert_eq!(answers, count.min(4096), "{count}");
        let told: Vec<&str> = said
            .lines()
            .filter(|line| line.contains("closed"))
            .collect();
        let want = usize::from(count > 4096);
        assert_eq!(
            (told.len(), said.matches("[Close(1)]").count()),
            (want, want),
            "{told:?}"
        );
    }
}

#[test]
fn a_body_that_cannot_be_read_is_answered_and_the_next_one_served() {
    let protocol = known("stepflow");
    let script = Script::read("my.toml", "[[on]]\nresult = 1\n", protocol).unwrap();
    for first in [true, false] {
        let mut bench = Bench::over(Framing::Http, protocol, script.clone());
        bench.open();
        if !first {
            bench.hear(&post(1, 0));
        }
        let said = bench.hear(&format!("{}zz", post(2, 2)));
        assert!(said.starts_with("HTTP/1.1 400 Bad Request\r\n"), "{said}");
        assert!(
            said.contains(r#"{"error":{"code":-32600,"message":"#),
            "{said}"
        );
        assert!(!said.contains("[Close"), "{said}");
        let log = bench.log.lock().unwrap().clone();
        assert!(log.iter().any(|line| line.contains("Missed")), "{log:?}");
        assert!(bench.hear(&post(3, 0)).contains("\"result\":1"));
    }
}
