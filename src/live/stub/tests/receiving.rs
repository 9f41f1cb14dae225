//! Received messages that are early, joined, too frequent, or of another protocol.

use super::*;
use crate::decoder::{DecodeOptions, Origin};
use crate::encoding::Want;
use crate::framing::LengthMode;
use crate::live::codec::Codec;
use serde_json::{Value as Json, json};

/// A stub over some framing, and its output as messages.
struct Wire<'p> {
    stub_test: StubTest<'p>,
    framing: Framing,
    client: Codec<'p>,
}

impl Wire<'_> {
    fn new(name: &str, framing: Framing, script: &str) -> Self {
        let protocol = known(name);
        let script = Script::read("my.toml", script, protocol).unwrap_or_else(|e| panic!("{e}"));
        let config = ConnectionConfig::new(protocol, framing, Direction::ToServer);
        Self {
            stub_test: StubTest::over(framing, protocol, script),
            framing,
            client: Codec::new(config, 1, 1),
        }
    }

    fn bytes(&mut self, messages: &[Json]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for message in messages {
            self.client
                .write_message(&message.to_string(), None, None, &mut bytes)
                .unwrap();
        }
        bytes
    }

    /// Messages, and log lines in brackets.
    fn shown(&self, commands: &[Command]) -> Vec<String> {
        let mut shown = Vec::new();
        let mut decoder = crate::decoder::Decoder::new(DecodeOptions {
            protocols: vec![self.stub_test.stub.endpoint.protocol()],
            framing: Some(self.framing),
            length_mode: LengthMode::Auto,
            limits: Limits::default(),
            resync: true,
            want: Want::Places,
            flags: false,
            lookup: None,
        });
        let origin = Origin {
            conn: Some(1),
            direction: Some(Direction::ToClient),
            ..Origin::default()
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
        self.stub_test.stub.opened(1, 0, &mut commands);
        self.shown(&commands)
    }

    /// Receives messages in one chunk.
    fn receive(&mut self, messages: &[Json]) -> Vec<String> {
        let bytes = self.bytes(messages);
        let mut commands = Vec::new();
        self.stub_test
            .stub
            .received(1.into(), &bytes, self.stub_test.now, &mut commands);
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

/// A call in a batch gets the same answer as a single call, with any other members.
#[test]
fn batch_calls_get_the_same_answers_as_single_calls() {
    let targets = ["math.add", "math.no", "math.odd"];
    let mut alone = Wire::new("saikuro", Framing::Prefix, CALLS);
    alone.open();
    let values: Vec<Json> = (0..9)
        .map(|n| {
            let output = alone.receive(&[call(n, targets[n as usize % 3])]);
            let answer: Json = serde_json::from_str(output.last().unwrap()).unwrap();
            // Runtimes give null for a call that fails.
            answer.get("result").cloned().unwrap_or(Json::Null)
        })
        .collect();
    let mut together = Wire::new("saikuro", Framing::Prefix, CALLS);
    together.open();
    let calls: Vec<Json> = (0..9).map(|n| call(n, targets[n as usize % 3])).collect();
    let output = together.receive(&[batch(&calls)]);
    let answer: Json = serde_json::from_str(output.last().unwrap()).unwrap();
    assert_eq!(answer["result"], json!(values), "{output:?}");
    assert_eq!(values[0], json!(1));
    let (one, other) = (
        alone.stub_test.stub.report(),
        together.stub_test.stub.report(),
    );
    assert_eq!((one.requests, one.missed, one.answered), (9, 3, 6));
    assert_eq!((other.requests, other.missed, other.answered), (9, 3, 6));
}

#[test]
fn batch_is_answered_after_its_last_call() {
    let mut wire = Wire::new("saikuro", Framing::Prefix, CALLS);
    wire.open();
    let inner = batch(&[call(4, "math.late"), call(5, "math.add")]);
    let all = [call(1, "math.late"), call(2, "math.add"), inner];
    assert_eq!(wire.receive(&[batch(&all)]), Vec::<String>::new());
    wire.stub_test.now += 1_000_000_000;
    let mut commands = Vec::new();
    wire.stub_test.stub.tick(wire.stub_test.now, &mut commands);
    let output = wire.shown(&commands);
    let answer: Json = serde_json::from_str(&output[0]).unwrap();
    assert_eq!(answer["result"], json!(["late", 1, ["late", 2]]));
    // A rule that is about the batch answers it as a whole.
    let whole = "[[on]]\nmatch = 'kind=batch'\nresult = [7]\n";
    let mut wire = Wire::new("saikuro", Framing::Prefix, &format!("{whole}{CALLS}"));
    wire.open();
    let output = wire.receive(&[batch(&[call(1, "math.add")])]);
    let answer: Json = serde_json::from_str(&output[0]).unwrap();
    assert_eq!(answer["result"], json!([7]));
}

#[test]
fn first_is_sent_when_calls_are_possible() {
    let script = r#"
        role = "provider"
        offers = ["math.add"]
        first = { version = 1, type = "log", id = "00000000-0000-4000-8000-000000000001", target = "$log", args = [{ level = "info", name = "n", msg = "up" }] }
    "#;
    let mut wire = Wire::new("saikuro", Framing::Prefix, script);
    let output = wire.open();
    assert_eq!(output.len(), 1, "{output:?}");
    let announce: Json = serde_json::from_str(&output[0]).unwrap();
    assert_eq!(announce["type"], "announce");
    let output = wire.receive(&[json!({"id": announce["id"], "ok": true})]);
    let log: Json = serde_json::from_str(&output[0]).unwrap();
    assert_eq!((output.len(), &log["type"]), (1, &json!("log")));
    // If the peer refuses, the stub logs that and does not send `first`.
    let mut wire = Wire::new("saikuro", Framing::Prefix, script);
    let announce: Json = serde_json::from_str(&wire.open()[0]).unwrap();
    let no = json!({"code": "Internal", "message": "frozen"});
    let output = wire.receive(&[json!({"id": announce["id"], "ok": false, "error": no})]);
    assert_eq!(
        output,
        ["(#1: announce was answered with Internal: frozen)"]
    );
    assert!(wire.stub_test.stub.refused().is_some());
    // The same if the peer ends before.
    let mut wire = Wire::new("saikuro", Framing::Prefix, script);
    wire.open();
    let mut commands = Vec::new();
    wire.stub_test
        .stub
        .ended(1.into(), &Ended::Closed, 0, &mut commands);
    assert_eq!(
        wire.shown(&commands),
        ["(#1: ended before `first` could be sent)"]
    );
}

#[test]
fn topic_without_notifications_is_a_miss() {
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
        let mut stub_test = StubTest::with(known("sael"), script, OnMiss::Error, false);
        stub_test.open();
        let hey = r#"{"v":1,"kind":"HEY","agent":{"id":"a"}}"#;
        let hello = stub_test.receive(&format!("{hey}\n"));
        let hello: Json = serde_json::from_str(&hello).unwrap();
        assert!(
            hello["supports"]
                .as_array()
                .unwrap()
                .contains(&json!("heartbeat"))
        );
        let sub = json!({"v": 1, "kind": "SUB", "seq": 1, "topic": topic});
        let output = stub_test.receive(&format!("{sub}\n"));
        let kind = |line: &str| match serde_json::from_str::<Json>(line) {
            Ok(message) => message["kind"].as_str().unwrap().to_owned(),
            Err(_) => line.to_owned(),
        };
        let kinds: Vec<String> = output.lines().map(kind).collect();
        assert_eq!(kinds, want, "{topic}: {output}");
        let missed = u64::from(topic == "other");
        assert_eq!(stub_test.stub.report().missed, missed);
        assert_eq!(output.contains("TOPIC_NOT_FOUND"), missed == 1, "{output}");
    }
}

/// Each first line of an oracle is answered, or a log line gives the reason why not.
#[test]
fn oracle_stub_answers_every_request() {
    for (first, reported) in [
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
            let mut stub_test = StubTest::with(oracle(), rule, OnMiss::Error, true);
            stub_test.open();
            let output = stub_test.receive(&first);
            let log = stub_test.log.lock().unwrap().clone();
            assert!(
                output.contains(&format!("(#1: {reported}: closed)")),
                "{first}{output}"
            );
            assert!(output.contains("[Close(1)]"), "{first}{output}");
            assert!(stub_test.stub.refused().is_some());
            let is_request = u64::from(first.contains("invoke"));
            let report = stub_test.stub.report();
            assert_eq!((report.requests, report.missed), (is_request, is_request));
            // Later messages are not reported as answered.
            assert_eq!(stub_test.receive(&invoke(6, "f", "0x1")), "");
            assert_eq!(stub_test.stub.report().requests, is_request, "{log:?}");
        }
    }
    let mut stub_test = StubTest::<'static>::serving("");
    stub_test.receive("hello\n");
    let log = stub_test.log.lock().unwrap().clone();
    assert!(
        log.iter().any(|line| line.contains("UnansweredRequest")),
        "{log:?}"
    );
}

#[test]
fn hostile_input_logs_few_lines() {
    let zap = |n: u32| invoke(n, "f", "0x1");
    for one in [&|_| "garbage\n".to_owned(), &zap as &dyn Fn(u32) -> String] {
        let mut stub_test = StubTest::<'static>::serving("");
        let mut output = String::new();
        for n in 0..20_000 {
            output += &stub_test.receive(&one(n));
        }
        let reported = output.lines().filter(|line| line.starts_with('(')).count();
        let log = stub_test.log.lock().unwrap().clone();
        let shown = log
            .iter()
            .filter(|line| line.contains("UnansweredRequest"))
            .count();
        assert!(
            (1..=100).contains(&shown) && reported <= 100,
            "{reported} {shown}"
        );
        assert_eq!(
            stub_test.stub.dispatcher.rate_limit.due(),
            Some(1_000_000_000)
        );
        let rest = stub_test.wait(1000);
        assert!(
            rest.contains("(19900 more messages of this second are not shown)\n"),
            "{rest}"
        );
        assert_eq!(stub_test.stub.suppressed_note(), None);
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

/// All accepted requests of a burst are answered; one log line counts the others.
#[test]
fn requests_in_one_chunk_are_all_answered() {
    for (count, delay) in [(1, ""), (100, ""), (1000, "delay = \"1s\"\n"), (5000, "")] {
        let script = format!("[[on]]\n{delay}result = 1\n");
        let protocol = known("stepflow");
        let script = Script::read("my.toml", &script, protocol).unwrap();
        let mut stub_test = StubTest::over(Framing::Http, protocol, script);
        stub_test.open();
        let all: String = (1..=count).map(|id| post(id, 0)).collect();
        let mut output = stub_test.receive(&all);
        output += &stub_test.wait(1000);
        let answers = output.matches("\"result\":1").count();
        assert_eq!(answers, count.min(4096), "{count}");
        let reported: Vec<&str> = output
            .lines()
            .filter(|line| line.contains("closed"))
            .collect();
        let want = usize::from(count > 4096);
        assert_eq!(
            (reported.len(), output.matches("[Close(1)]").count()),
            (want, want),
            "{reported:?}"
        );
    }
}

#[test]
fn unreadable_http_body_gets_400_and_the_next_request_an_answer() {
    let protocol = known("stepflow");
    let script = Script::read("my.toml", "[[on]]\nresult = 1\n", protocol).unwrap();
    for first in [true, false] {
        let mut stub_test = StubTest::over(Framing::Http, protocol, script.clone());
        stub_test.open();
        if !first {
            stub_test.receive(&post(1, 0));
        }
        let output = stub_test.receive(&format!("{}zz", post(2, 2)));
        assert!(
            output.starts_with("HTTP/1.1 400 Bad Request\r\n"),
            "{output}"
        );
        assert!(
            output.contains(r#"{"error":{"code":-32600,"message":"#),
            "{output}"
        );
        assert!(!output.contains("[Close"), "{output}");
        let log = stub_test.log.lock().unwrap().clone();
        assert!(
            log.iter().any(|line| line.contains("UnansweredRequest")),
            "{log:?}"
        );
        assert!(stub_test.receive(&post(3, 0)).contains("\"result\":1"));
    }
}

/// JSON-RPC 2.0 section 6, and the codes of errors for which there is no rule.
#[test]
fn requests_without_a_rule_have_the_codes_of_their_errors() {
    let error = |id: &str, code: i32| {
        format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":{{\"code\":{code},")
    };
    let ask =
        |id: u32, method: &str| json!({"jsonrpc": "2.0", "id": id, "method": method}).to_string();
    let rule = "[[on]]\nmatch = 'subject=echo'\nerror = 'no'\n";
    let both = format!("[{},{}]", ask(1, "echo"), ask(2, "other"));
    for (protocol, received, wanted) in [
        ("jsonrpc", "[]".to_owned(), vec![error("null", -32600)]),
        (
            "jsonrpc",
            "[1,2]".to_owned(),
            vec![error("null", -32600); 2],
        ),
        ("jsonrpc", ask(1, "other"), vec![error("1", -32601)]),
        ("jsonrpc", ask(1, "echo"), vec![error("1", -32000)]),
        (
            "jsonrpc",
            both,
            vec![error("1", -32000), error("2", -32601)],
        ),
        ("mcp", ask(1, "resources/read"), vec![error("1", -32002)]),
        ("mcp", ask(1, "other"), vec![error("1", -32601)]),
        ("lsp", ask(1, "workspace/symbol"), vec![error("1", -32000)]),
    ] {
        let mut stub_test = StubTest::new(known(protocol), rule);
        stub_test.open();
        let output = stub_test.receive(&format!("{received}\n"));
        let line = output.lines().find(|line| line.starts_with(['{', '[']));
        let line = line.unwrap_or_else(|| panic!("{protocol} {received}: {output}"));
        assert_eq!(line.matches("\"error\"").count(), wanted.len(), "{line}");
        assert_eq!(
            line.starts_with('['),
            received.starts_with('[') && received != "[]",
            "{line}"
        );
        for error in wanted {
            assert!(line.contains(&error), "{protocol} {received}: {line}");
        }
    }
}
