//! Jobs that wait: their times and their limits.

use super::*;

#[test]
fn script_delays_are_exact() {
    let mut stub_test = StubTest::<'static>::serving("[[on]]\ndelay = \"100ms\"\nresult = []\n");
    assert_eq!(stub_test.receive(&invoke(0, "f", "0x1")), "");
    assert_eq!(stub_test.stub.due(), Some(100_000_000));
    assert_eq!(stub_test.wait(99), "");
    assert_eq!(
        stub_test.wait(1),
        "{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":[]}\n"
    );
    assert_eq!(stub_test.stub.due(), None);
    // Requests are answered after the end of stdin, too.
    stub_test.receive(&invoke(1, "f", "0x1"));
    let ended =
        stub_test.did(|stub, now, commands| stub.ended(1.into(), &Ended::Eof, now, commands));
    assert_eq!(ended, "");
    assert_eq!(
        stub_test.wait(100),
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":[]}\n[Close(1)]\n"
    );
}

#[test]
fn half_closed_socket_still_gets_answers() {
    let script = "ready = false\n[[on]]\ndelay = \"1s\"\nresult = []\n";
    let mut stub_test = StubTest::with(oracle(), script, OnMiss::Error, false);
    stub_test.open();
    stub_test.receive(&invoke(0, "f", "0x1"));
    let ended =
        stub_test.did(|stub, now, commands| stub.ended(1.into(), &Ended::Eof, now, commands));
    assert_eq!(ended, "");
    assert_eq!(
        stub_test.wait(1000),
        "{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":[]}\n[Close(1)]\n"
    );
}

const ASKS: &str = r#"
    [[on]]
    match = 'subject="components/execute" .params.component="/late"'
    delay = "1s"
    result = 7
    [[on]]
    match = 'subject="components/execute" .params.component="/both"'
    ask = [{ method = "blobs/get" }, { method = "blobs/get", after = "1s" }]
    result = 8
    [[on]]
    match = 'subject="components/execute"'
    ask = { method = "blobs/get", params = { blob_id = "b" } }
    result = 9
"#;

fn execute(id: u32, component: &str) -> String {
    format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"components/execute\",\"params\":{{\"component\":\"{component}\",\"input\":1}}}}\n"
    )
}

/// The id of a request that was asked, and what came before and after it.
fn asked(text: &str) -> String {
    let request: serde_json::Value = serde_json::from_str(text).expect(text);
    assert_eq!(request["method"], "blobs/get", "{text}");
    request["id"].to_string()
}

fn eof(stub_test: &mut StubTest<'_>) -> String {
    stub_test.did(|stub, now, commands| stub.ended(1.into(), &Ended::Eof, now, commands))
}

fn gone(id: u32) -> String {
    let why = "the other side sends nothing more: requests to it get no answer";
    let place = match id {
        2 => "my.toml:10",
        _ => "my.toml:6",
    };
    format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":{{\"code\":-32000,\"message\":\"{place}: {why}\"}}}}\n({place}: {why})\n"
    )
}

#[test]
fn jobs_of_a_half_closed_peer_end() {
    let mut stub_test = StubTest::with(known("stepflow"), ASKS, OnMiss::Error, false);
    stub_test.open();
    asked(&stub_test.receive(&execute(2, "/x")));
    assert_eq!(stub_test.receive(&execute(3, "/late")), "");
    let id = asked(&stub_test.receive(&execute(4, "/both")));
    let answer = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{}}}}\n");
    assert_eq!(stub_test.receive(&answer), "");
    // A job that waits for a time continues; a request that it then sends gets no answer either.
    assert_eq!(eof(&mut stub_test), gone(2));
    let output = stub_test.wait(1000);
    let (result, rest) = output.split_once('\n').unwrap();
    assert_eq!(result, r#"{"jsonrpc":"2.0","id":3,"result":{"output":7}}"#);
    let (again, rest) = rest.split_once('\n').unwrap();
    asked(again);
    assert_eq!(rest, format!("{}[Close(1)]\n", gone(4)));
    assert_eq!(stub_test.stub.due(), None);
}

#[test]
fn http_answers_arrive_on_other_connections() {
    let script = Script::read("my.toml", ASKS, known("stepflow")).unwrap();
    let mut stub_test = StubTest::over(Framing::Http, known("stepflow"), script);
    let post = |body: &str| {
        let body = body.trim_end();
        format!(
            "POST / HTTP/1.1\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        )
    };
    stub_test.open();
    let output = stub_test.receive(&post(&execute(2, "/x")));
    let event = output.split("data: ").nth(1).unwrap();
    let id = asked(event.lines().next().unwrap());
    assert_eq!(eof(&mut stub_test), "");
    let answer = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{}}}}");
    let output = stub_test.did(|stub, now, commands| {
        stub.opened(2, now, commands);
        stub.received(2.into(), post(&answer).as_bytes(), now, commands);
    });
    assert!(output.contains(r#"{"output":9}"#), "{output}");
    assert!(output.ends_with("[Close(1)]\n"), "{output}");
}

#[test]
fn number_of_waiting_jobs_is_limited() {
    let script = "[[on]]\ndelay = \"1h\"\nresult = []\n";
    let many = 1 << 14;
    let big = "f".repeat(1 << 20);
    for (selector, fits, why) in [
        ("f", many, "16384 answers wait already"),
        // A request holds its selector twice: as the subject, and in the message.
        (big.as_str(), 31, "64 MiB of requests wait already"),
    ] {
        let mut stub_test = StubTest::<'static>::serving(script);
        for id in 0..fits {
            assert_eq!(stub_test.receive(&invoke(id, selector, "0x1")), "", "{id}");
        }
        let refused = stub_test.receive(&invoke(7, selector, "0x1"));
        assert_eq!(
            refused,
            format!(
                "{{\"jsonrpc\":\"2.0\",\"id\":7,\"error\":{{\"code\":-32603,\"message\":\"my.toml:1: {why}\"}}}}\n(my.toml:1: {why})\n"
            )
        );
        // Those before it are answered, and then there is room again.
        let output = stub_test.wait(3_600_000);
        assert_eq!(output.matches("\"result\":[]").count(), fits as usize);
        assert_eq!(stub_test.receive(&invoke(0, selector, "0x1")), "");
    }
}

#[test]
fn miss_text_is_shortened() {
    let mut stub_test = StubTest::<'static>::serving("");
    let output = stub_test.receive(&invoke(0, &"é".repeat(1 << 20), "0x1"));
    let reported = format!("invoke {}… has no rule", "é".repeat(192));
    assert_eq!(
        output,
        format!(
            "({reported})\n{{\"jsonrpc\":\"2.0\",\"id\":0,\"error\":{{\"code\":-32603,\"message\":\"{reported}\"}}}}\n"
        )
    );
    let json = stub_test.stub.report().to_json();
    assert!(json.len() < 2000, "{}", json.len());
}

#[test]
fn report_is_emitted_at_most_every_100_ms() {
    let mut stub_test = StubTest::<'static>::serving("[[on]]\nresult = []\n");
    let reported = |stub_test: &StubTest<'_>| {
        let log = stub_test.log.lock().unwrap();
        let reported = log.iter().filter(|line| line.starts_with("report"));
        reported.cloned().collect::<Vec<_>>()
    };
    stub_test.receive(&invoke(0, "f", "0x1"));
    assert_eq!(reported(&stub_test), ["report 1"]);
    stub_test.wait(30);
    stub_test.receive(&invoke(1, "f", "0x1"));
    stub_test.wait(30);
    stub_test.receive(&invoke(2, "f", "0x1"));
    assert_eq!(reported(&stub_test), ["report 1"]);
    assert_eq!(stub_test.stub.due(), Some(100_000_000));
    stub_test.wait(40);
    assert_eq!(reported(&stub_test), ["report 1", "report 3"]);
    assert_eq!(stub_test.stub.due(), None);
    stub_test.wait(100);
    stub_test.receive(&invoke(3, "f", "0x1"));
    assert_eq!(reported(&stub_test), ["report 1", "report 3", "report 4"]);
}

pub(super) const HEADER: &str =
    r#"{"wiretool":1,"protocol":"stepflow","started":"2026-01-01T00:00:00Z","transport":"stdio"}"#;

fn call(id: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":"{id}","method":"components/info","params":{{"component":"/a"}}}}"#
    )
}

fn answer(id: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":"{id}","result":{{"info":{{}}}}}}"#)
}

fn ask(id: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":"{id}","method":"blobs/get","params":{{"blob_id":"b"}}}}"#)
}

pub(super) fn chunk(ms: u32, dir: &str, text: &str) -> String {
    let text = serde_json::json!(format!("{text}\n"));
    format!("{{\"t\":{ms}000000,\"conn\":0,\"dir\":\"{dir}\",\"text\":{text}}}")
}

fn played(recording: &str, speed: &str) -> StubTest<'static> {
    let protocol = known("stepflow");
    let (side, limits) = (Direction::ToClient, Limits::default());
    let speed = speed.parse().unwrap();
    let script = compile(recording.as_bytes(), protocol, side, limits, speed);
    let mut stub_test = StubTest::made(protocol, script.unwrap(), OnMiss::Error, false);
    stub_test.open();
    stub_test
}

/// With recorded timing, answers and other messages of a recording are sent at their times.
#[test]
fn recorded_pauses_are_scaled_by_speed() {
    let recording = [
        HEADER.to_owned(),
        chunk(100, "c2s", &call("1")),
        chunk(140, "s2c", &ask("9")),
        chunk(
            200,
            "c2s",
            r#"{"jsonrpc":"2.0","id":"9","result":{"data":1}}"#,
        ),
        chunk(260, "s2c", &answer("1")),
    ]
    .join("\n");
    for (speed, first, second) in [("1", 40, 60), ("2x", 20, 30), ("max", 0, 0)] {
        let mut stub_test = played(&recording, speed);
        let mut output = stub_test.receive(&format!("{}\n", call("5")));
        if first > 0 {
            assert_eq!(output + &stub_test.wait(first - 1), "", "{speed}");
            output = stub_test.wait(1);
        }
        let asked: serde_json::Value = serde_json::from_str(&output).expect(&output);
        assert_eq!(asked["method"], "blobs/get", "{speed}");
        let id = &asked["id"];
        stub_test.now += 7_000_000_000;
        output = stub_test.receive(&format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"data\":1}}}}\n"
        ));
        if second > 0 {
            assert_eq!(output + &stub_test.wait(second - 1), "", "{speed}");
            output = stub_test.wait(1);
        }
        assert_eq!(output.trim_end(), answer("5"), "{speed}");
    }
}

/// A message that the recording has before an answer is sent after its recorded pause, even if the answer comes earlier.
#[test]
fn early_answer_does_not_shorten_a_pause() {
    let reported = r#"{"jsonrpc":"2.0","method":"told","params":{"n":1}}"#;
    let data = r#"{"jsonrpc":"2.0","id":"9","result":{"data":1}}"#;
    let recording = [
        HEADER.to_owned(),
        chunk(100, "c2s", &call("1")),
        chunk(100, "s2c", &ask("9")),
        chunk(150, "s2c", reported),
        chunk(200, "c2s", data),
        chunk(200, "s2c", &answer("1")),
    ];
    let mut stub_test = played(&recording.join("\n"), "1");
    let id = asked(&stub_test.receive(&format!("{}\n", call("5"))));
    let soon = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{}}}}\n");
    assert_eq!(stub_test.receive(&soon), "");
    assert_eq!(stub_test.wait(49), "");
    assert_eq!(stub_test.wait(1), format!("{reported}\n{}\n", answer("5")));
}
