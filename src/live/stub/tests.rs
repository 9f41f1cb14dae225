mod recorded;

use super::*;
use crate::diff::MessageName;
use crate::live::script::compile::compile;
use crate::live::script::print::script;
use crate::protocol::{Direction, Protocol, registry};
use std::sync::{Arc, Mutex};

mod limits;
mod memory;
mod printed;
mod receiving;

fn known(name: &str) -> &'static dyn Protocol {
    registry::find(name).unwrap()
}

fn oracle() -> &'static dyn Protocol {
    known("oracle")
}

/// The events of a stub as text.
#[derive(Default)]
struct Log(Arc<Mutex<Vec<String>>>);

impl StubObserver for Log {
    fn received(&mut self, decoded: &Decoded<'_>, _: Verdict<'_>, outcome: AnswerSource<'_>) {
        let text = format!("{} {outcome:?}", MessageName::of(decoded.message));
        self.0.lock().unwrap().push(text);
    }

    fn changed(&mut self, report: &StubReport) {
        let text = format!("report {}", report.answered);
        self.0.lock().unwrap().push(text);
    }

    fn exits(&mut self, status: u8) {
        self.0.lock().unwrap().push(format!("exits {status}"));
    }
}

struct StubTest<'p> {
    stub: Stub<'p>,
    log: Arc<Mutex<Vec<String>>>,
    now: i64,
}

impl<'p> StubTest<'p> {
    fn new(protocol: &'p dyn Protocol, script: &str) -> Self {
        Self::with(protocol, script, OnMiss::Error, true)
    }

    fn with(protocol: &'p dyn Protocol, script: &str, on_miss: OnMiss, stdio: bool) -> Self {
        let script = Script::read("my.toml", script, protocol).unwrap_or_else(|e| panic!("{e}"));
        Self::made(protocol, script, on_miss, stdio)
    }

    fn made(protocol: &'p dyn Protocol, script: Script, on_miss: OnMiss, stdio: bool) -> Self {
        Self::on(Framing::Lines, protocol, script, on_miss, stdio)
    }

    fn over(framing: Framing, protocol: &'p dyn Protocol, script: Script) -> Self {
        Self::on(framing, protocol, script, OnMiss::Error, false)
    }

    fn on(
        framing: Framing,
        protocol: &'p dyn Protocol,
        script: Script,
        on_miss: OnMiss,
        stdio: bool,
    ) -> Self {
        let mut config = ConnectionConfig::new(protocol, framing, Direction::ToClient);
        config.older_path = Some("/sse".into());
        config.sessions.clone_from(&script.sessions);
        let log = Log::default();
        let seen = Arc::clone(&log.0);
        let settings = StubConfig {
            script,
            on_miss,
            stdio,
            dials: false,
            peer_config: PeerConfig::default(),
            limits: Limits::default(),
        };
        Self {
            stub: Stub::new(config, settings, Box::new(log)),
            log: seen,
            now: 0,
        }
    }

    /// Runs one step. Returns sent bytes as text and other commands by name.
    fn did(&mut self, step: impl FnOnce(&mut Stub<'p>, i64, &mut Vec<Command>)) -> String {
        let mut commands = Vec::new();
        step(&mut self.stub, self.now, &mut commands);
        let show = |command: &Command| match command {
            Command::Send(_, bytes) => String::from_utf8_lossy(bytes).into_owned(),
            Command::Log(text) => format!("({text})\n"),
            other => format!("[{other:?}]\n"),
        };
        commands.iter().map(show).collect()
    }

    fn open(&mut self) -> String {
        self.did(|stub, now, commands| stub.opened(1, now, commands))
    }

    fn receive(&mut self, text: &str) -> String {
        self.did(|stub, now, commands| stub.received(1.into(), text.as_bytes(), now, commands))
    }

    fn wait(&mut self, ms: i64) -> String {
        self.now += ms * 1_000_000;
        self.did(Stub::tick)
    }

    /// An oracle that was acknowledged.
    fn serving(script: &str) -> StubTest<'static> {
        let mut stub_test = StubTest::new(oracle(), script);
        stub_test.open();
        assert_eq!(stub_test.receive(ACK), "");
        stub_test
    }
}

const READY: &str = "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"ready\"}\n";
const ACK: &str = "{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{}}\n";

fn invoke(id: u32, selector: &str, felt: &str) -> String {
    format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"invoke\",\"params\":{{\"selector\":\"{selector}\",\"calldata\":[\"{felt}\"]}}}}\n"
    )
}

#[test]
fn rules_answer_requests_in_order() {
    let mut stub_test = StubTest::new(
        oracle(),
        r#"
        [[on]]
        match = 'subject=echo'
        result = ["{{params.calldata[0]}}", "0x{{count}}"]
        [[on]]
        match = 'subject=pow'
        times = 1
        result = { type = "(u256,)", value = [5] }
        [[on]]
        match = 'subject=pow'
        error = { code = -32000, message = "no more for {{params.selector}}", data = { n = 1.50 } }
        "#,
    );
    assert_eq!(stub_test.open(), READY);
    assert_eq!(stub_test.receive(ACK), "");
    for (request, want) in [
        (
            invoke(0, "echo", "0x7"),
            r#"{"jsonrpc":"2.0","id":0,"result":["0x7","0x1"]}"#,
        ),
        (
            invoke(1, "echo", "0x8"),
            r#"{"jsonrpc":"2.0","id":1,"result":["0x8","0x2"]}"#,
        ),
        (
            invoke(2, "pow", "0x1"),
            r#"{"jsonrpc":"2.0","id":2,"result":["0x5","0x0"]}"#,
        ),
        (
            invoke(3, "pow", "0x1"),
            r#"{"jsonrpc":"2.0","id":3,"error":{"code":-32000,"message":"no more for pow","data":{"n":1.50}}}"#,
        ),
    ] {
        assert_eq!(stub_test.receive(&request), format!("{want}\n"));
    }
    let shutdown = "{\"jsonrpc\":\"2.0\",\"method\":\"shutdown\"}\n";
    assert_eq!(stub_test.receive(shutdown), "[Close(1)]\n");
    assert_eq!(stub_test.stub.report().answered, 4);
    let log = stub_test.log.lock().unwrap();
    assert_eq!(log.last().unwrap(), "shutdown Protocol");
    let mut awaited = log.iter().filter(|line| !line.starts_with("report"));
    assert_eq!(awaited.nth(2).unwrap(), "invoke echo Rule(\"my.toml:2\")");
}

#[test]
fn request_without_rule_is_a_miss() {
    let script = "[[on]]\nmatch = 'subject=f'\ntimes = 1\nresult = []\n";
    let mut stub_test = StubTest::<'static>::serving(script);
    stub_test.receive(&invoke(0, "f", "0x1"));
    let spent = stub_test.receive(&invoke(1, "f", "0x1"));
    assert_eq!(
        spent,
        "(invoke f is used up: my.toml:1 answers it 1×)\n\
         {\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32603,\"message\":\"invoke f is used up: my.toml:1 answers it 1×\"}}\n"
    );
    assert!(
        stub_test
            .receive(&invoke(2, "g", "0x1"))
            .starts_with("(invoke g has no rule)\n")
    );
    assert_eq!(stub_test.stub.report().missed, 2);
    for (on_miss, want) in [
        (OnMiss::Close, "(invoke f has no rule)\n[Close(1)]\n"),
        (OnMiss::Hang, "(invoke f has no rule)\n"),
        (
            OnMiss::Answer(OpenValue::json("[\"0x9\"]").unwrap()),
            "(invoke f has no rule)\n{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":[\"0x9\"]}\n",
        ),
    ] {
        let mut stub_test = StubTest::with(oracle(), "", on_miss, true);
        stub_test.open();
        stub_test.receive(ACK);
        assert_eq!(stub_test.receive(&invoke(0, "f", "0x1")), want);
    }
}

#[test]
fn an_answer_that_cannot_be_written_is_a_miss() {
    let description = "name = \"tx\"\nframings = [\"lines\"]\nencodings = [\"text\"]\n\
        text = [\"{code:int} {text...}\", \"{verb}\"]\npair = \"order\"\n\
        [[message]]\nwhen = \".verb\"\nrole = \"request\"\nsubject = \".verb\"\n\
        [[message]]\nrole = \"response\"\nerror = \".code>=400\"\noutcome = \".code\"\n";
    let protocol = crate::protocol::described::Described::from_toml(description).unwrap();
    let script = "[[on]]\nmatch = 'subject=GET'\nmessage = { text = \"ok\" }\n";
    let mut stub_test = StubTest::new(&protocol, script);
    stub_test.open();
    assert!(
        stub_test
            .receive("GET\n")
            .starts_with("(my.toml:1: message: wanted ")
    );
    let report = stub_test.stub.report();
    let misses: Vec<_> = report.misses.iter().map(|one| one.what.as_str()).collect();
    assert_eq!(
        (report.requests, report.answered, misses),
        (1, 0, vec!["request GET"])
    );
}

#[test]
fn script_mutations_reach_the_wire() {
    let answer = |id: u32| format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":[]}}\n");
    for (script, want) in [
        ("twice = true\nresult = []", answer(0).repeat(2)),
        ("id = 7\nresult = []", answer(7)),
        (
            "id = \"{{params.selector}}\"\nresult = []",
            answer(0).replace(":0,", ":\"f\","),
        ),
        (
            "garbage = \"cargo: warning\"\nresult = []",
            format!("cargo: warning\n{}", answer(0)),
        ),
        ("raw = { hex = \"ff 0a\" }", "\u{fffd}\n".into()),
        ("raw = \"{{id}} no line\"", "0 no line".into()),
        ("hang = true", String::new()),
        ("exit = 3", "[Stop]\n".into()),
        ("close = true", "[Close(1)]\n".into()),
        (
            "reset = true\nresult = []",
            format!("{}[Reset(1)]\n", answer(0)),
        ),
        (
            "pretty = true\nresult = [\"0x1\"]",
            "{\n  \"jsonrpc\": \"2.0\",\n  \"id\": 0,\n  \"result\": [\n    \"0x1\"\n  ]\n}\n"
                .into(),
        ),
        (
            "message = { result = [], id = \"{{id}}\" }",
            "{\"result\":[],\"id\":0}\n".into(),
        ),
    ] {
        let mut stub_test = StubTest::<'static>::serving(&format!("[[on]]\n{script}\n"));
        assert_eq!(stub_test.receive(&invoke(0, "f", "0x1")), want, "{script}");
    }
}

#[test]
fn an_id_of_a_script_is_where_the_protocol_has_the_one_of_the_request() {
    let lists = "name = \"lists\"\nframings = [\"lines\"]\n\
        [[message]]\nwhen = \".[0]=0\"\nrole = \"request\"\nid = \".[1]\"\nsubject = \".[2]\"\n\
        [[message]]\nrole = \"response\"\nid = \".[1]\"\ncontent = \".[2]\"\n";
    let lists = crate::protocol::described::Described::from_toml(lists).unwrap();
    for (protocol, framing, request, want) in [
        (
            crate::protocol::described::embedded()[0],
            Framing::ContentLength,
            "Content-Length: 44\r\n\r\n{\"seq\":5,\"type\":\"request\",\"command\":\"asked\"}",
            "\"seq\":1,\"request_seq\":7,",
        ),
        (
            known("sael"),
            Framing::Lines,
            "{\"v\":1,\"kind\":\"INV\",\"seq\":5,\"tool\":\"asked\",\"input\":{}}\n",
            "\"seq\":7,",
        ),
        (&lists, Framing::Lines, "[0,5,\"asked\"]\n", ",7,{}]"),
    ] {
        let text = "[[on]]\nmatch = 'subject=asked'\nid = 7\nresult = {}\n";
        let script = Script::read("my.toml", text, protocol).unwrap();
        let mut stub_test = StubTest::over(framing, protocol, script);
        stub_test.open();
        let output = stub_test.receive(request);
        assert!(output.contains(want), "{}: {output}", protocol.name());
    }
}

#[test]
fn script_keys_control_the_first_bytes() {
    let compiling = "   Compiling oracle\n";
    for (script, want) in [
        (
            "before = \"   Compiling oracle\\n\"",
            format!("{compiling}{READY}"),
        ),
        ("ready = false", String::new()),
        ("before = \"\\uFEFF\"\nready = false", "\u{feff}".into()),
        ("exit = 4", format!("{READY}[Stop]\n")),
    ] {
        let mut stub_test = StubTest::new(oracle(), script);
        assert_eq!(stub_test.open(), want, "{script}");
    }
}

#[test]
fn foreign_protocol_is_logged_and_closed() {
    let mut stub_test = StubTest::with(oracle(), "", OnMiss::Error, false);
    stub_test.open();
    let output = stub_test.receive("GET / HTTP/1.1\r\n");
    assert!(
        output.ends_with("not a message of oracle (this looks like HTTP): closed)\n[Close(1)]\n"),
        "{output}"
    );
    let mut stub_test = StubTest::with(known("stepflow"), "", OnMiss::Error, false);
    stub_test.open();
    let output = stub_test.receive("POST / HTTP/1.1\r\n");
    let tip = "(this looks like HTTP, which `--listen http://HOST:PORT` reads): closed";
    assert!(output.contains(tip), "{output}");
    for (bytes, name) in [
        ("PRI * HTTP/2.0\r\n\r\n", "HTTP"),
        ("\u{16}\u{3}\u{1}\u{0}\u{5}\u{1}\n", "TLS"),
        ("SSH-2.0-OpenSSH_9.6\r\n", "SSH"),
    ] {
        let mut stub_test = StubTest::with(oracle(), "", OnMiss::Error, false);
        stub_test.open();
        let output = stub_test.receive(bytes);
        let text = format!("(this looks like {name}): closed");
        assert!(output.contains(&text), "{name}: {output}");
    }
    // On stdio there is no other to wait for, and a bad line can be skipped.
    let mut stub_test = StubTest::<'static>::serving("[[on]]\nresult = []\n");
    assert_eq!(stub_test.receive("hello\n"), "");
    assert_eq!(
        stub_test.receive(&invoke(0, "f", "0x1")),
        "{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":[]}\n"
    );
}

#[test]
fn answer_to_ask_fills_the_result() {
    let script = r#"
        [[on]]
        match = 'subject="components/execute"'
        ask = { method = "blobs/get", params = { blob_id = "{{params.input.blob}}" } }
        result = "{{answer.result.data}}"
    "#;
    let mut stub_test = StubTest::new(known("stepflow"), script);
    stub_test.open();
    let hello = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"runtime_protocol_version\":1}}\n";
    assert!(stub_test.receive(hello).contains("\"result\""));
    stub_test.receive("{\"jsonrpc\":\"2.0\",\"method\":\"initialized\",\"params\":{}}\n");
    let asked = stub_test.receive(
        "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"components/execute\",\"params\":{\"component\":\"/x\",\"input\":{\"blob\":\"b1\"}}}\n",
    );
    let request: serde_json::Value = serde_json::from_str(&asked).unwrap();
    assert_eq!(request["method"], "blobs/get");
    assert_eq!(request["params"]["blob_id"], "b1");
    let answer = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":{},\"result\":{{\"data\":[1,2]}}}}\n",
        request["id"]
    );
    assert_eq!(
        stub_test.receive(&answer),
        "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"output\":[1,2]}}\n"
    );
}

#[test]
fn wrong_script_names_position_and_correction() {
    for (script, want) in [
        (
            "[[on]]\nmatch = 'subject=f'\nresutl = []",
            "my.toml:3:1: unknown key resutl: did you mean result?\n  resutl = []\n  ^^^^^^",
        ),
        (
            "[[on]]\nmatch = 'subjcet=f'\nresult = []",
            "my.toml:2:9: match: wanted a key, got subjcet: did you mean subject?\n  match = 'subjcet=f'\n          ^^^^^^^^^^^",
        ),
        (
            "[[on]\n",
            "my.toml:1:6: unclosed array table, expected `]`\n  [[on]\n       ^",
        ),
        (
            "[[on]]\nresult = []\nerror = 'no'",
            "my.toml:3:1: result and error: a rule has one answer; use `then` for messages after it\n  error = 'no'\n  ^^^^^",
        ),
        (
            "[[on]]\nresult = '{{params.x'",
            "my.toml:2:10: {{ without }}\n  result = '{{params.x'\n           ^^^^^^^^^^^^",
        ),
        (
            "[[on]]\nresult = { type = \"(u8,)\", value = [256] }",
            "my.toml:2:10: ",
        ),
        (
            "[[on]]\ndelay = 5\nresult = []",
            "my.toml:2:9: delay: wanted a time such as \"100ms\" or \"2s\", got 5",
        ),
        (
            "[[on]]\nmatch = 'kind=invoke'",
            "my.toml:1:1: this rule does nothing",
        ),
        (
            "protocol = \"sael\"",
            "my.toml:1:12: this script is for sael, not for oracle",
        ),
        (
            "[[on]]\nend = 5\nresult = []",
            "my.toml:2:1: end: only items have an end",
        ),
        (
            "on = 5",
            "my.toml:1:6: on: wanted tables, each below [[on]], got 5",
        ),
        (
            "exit = 256",
            "my.toml:1:8: exit: wanted an exit status, 0 to 255, got 256",
        ),
    ] {
        let fail = Script::read("my.toml", script, oracle()).unwrap_err();
        let text = fail.to_string();
        assert!(text.starts_with(want), "{script}\n{text}");
    }
}
