//! Recorded sessions over HTTP: cancelled calls, the older transport, and several sessions.

use super::super::*;
use crate::live::script::compile::compile;
use crate::live::speed::Speed;
use serde_json::{Value as Json, json};

/// A call that the recorded client cancelled is not answered before it is cancelled: by a message on another connection,
/// or by the end of its own.
#[test]
fn cancelled_calls_over_http_wait_for_their_cancellation() {
    let post = |message: &Json| {
        let text = message.to_string();
        format!(
            "POST /mcp HTTP/1.1\r\nhost: h\r\ncontent-length: {}\r\n\r\n{text}",
            text.len()
        )
    };
    let call = |id: u32, name: &str| json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": name, "arguments": {}}});
    let cancel = |id: u32| json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id, "reason": "stop"}});
    let chunk = |conn: u32, dir: &str, text: String| json!({"t": 1, "conn": conn, "dir": dir, "text": text});
    let events = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n: ok\n\n";
    let accepted = "HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n";
    let eof = |conn: u32| json!({"t": 1, "conn": conn, "event": "eof", "dir": "c2s"});
    let head = json!({"wiretool": 1, "protocol": "mcp", "started": "2026-01-01T00:00:00Z", "transport": "tcp"});
    let lines = [
        head,
        chunk(1, "c2s", post(&call(26, "slow"))),
        chunk(1, "s2c", events.to_owned()),
        chunk(2, "c2s", post(&cancel(26))),
        chunk(2, "s2c", accepted.to_owned()),
        chunk(3, "c2s", post(&call(27, "slower"))),
        chunk(3, "s2c", events.to_owned()),
        eof(3),
    ];
    let recording: Vec<String> = lines.iter().map(Json::to_string).collect();
    let script = compile(
        recording.join("\n").as_bytes(),
        known("mcp"),
        Direction::ToClient,
        Limits::default(),
        Speed::default(),
    );
    let mut stub_test = StubTest::over(Framing::Http, known("mcp"), script.unwrap());
    for conn in 1..=3 {
        stub_test.did(|stub, now, commands| stub.opened(conn, now, commands));
    }
    let mut receive = |conn: u32, message: &Json| {
        let text = post(message);
        stub_test.did(|stub, now, commands| {
            stub.received(conn.into(), text.as_bytes(), now, commands);
        })
    };
    assert_eq!(receive(1, &call(7, "slow")), "");
    let output = receive(2, &cancel(7));
    assert!(
        output.starts_with("HTTP/1.1 202 ") && !output.contains("error"),
        "{output}"
    );
    assert_eq!(receive(3, &call(8, "slower")), "");
    let output = stub_test.did(|stub, now, commands| {
        stub.ended(3.into(), &Ended::Eof, now, commands);
    });
    assert!(!output.contains("HTTP/1.1"), "{output}");
    for conn in [1, 3] {
        assert!(!stub_test.stub.waiting.has(conn.into()));
    }
    assert_eq!(stub_test.stub.report().missed, 0);
}

/// GET opens the event stream of the older transport. Messages that are posted to its path are answered there.
#[test]
fn older_http_transport_answers_on_its_event_stream() {
    let chunk =
        |conn: u32, dir: &str, text: &str| json!({"t": 1, "conn": conn, "dir": dir, "text": text});
    let post = |path: &str, message: &Json| {
        let text = message.to_string();
        let len = text.len();
        format!("POST {path} HTTP/1.1\r\nhost: h\r\ncontent-length: {len}\r\n\r\n{text}")
    };
    let call = |id: u32| json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": "x", "arguments": {}}});
    let get = "GET /events HTTP/1.1\r\nhost: h\r\naccept: text/event-stream\r\n\r\n";
    let events = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";
    let endpoint = "event: endpoint\ndata: /post?sessionId=a\n\n";
    let answer = json!({"jsonrpc": "2.0", "id": 1, "result": {"content": []}});
    let head = json!({"wiretool": 1, "protocol": "mcp", "started": "2026-01-01T00:00:00Z", "transport": "tcp"});
    let lines = [
        head,
        chunk(1, "c2s", get),
        chunk(1, "s2c", events),
        chunk(1, "s2c", endpoint),
        chunk(2, "c2s", &post("/post?sessionId=a", &call(1))),
        chunk(
            2,
            "s2c",
            "HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n",
        ),
        chunk(1, "s2c", &format!("event: message\ndata: {answer}\n\n")),
    ];
    let recording: Vec<String> = lines.iter().map(Json::to_string).collect();
    let script = compile(
        recording.join("\n").as_bytes(),
        known("mcp"),
        Direction::ToClient,
        Limits::default(),
        Speed::default(),
    );
    let script = script.unwrap();
    assert_eq!(script.older_path.as_deref(), Some("/events"));
    let mut stub_test = StubTest::over(Framing::Http, known("mcp"), script);
    for conn in [5, 6] {
        stub_test.did(|stub, now, commands| stub.opened(conn, now, commands));
    }
    // The bytes that each connection gets.
    let mut receive = |conn: u32, text: &str| {
        let mut commands = Vec::new();
        let now = stub_test.now;
        (stub_test.stub).received(conn.into(), text.as_bytes(), now, &mut commands);
        let sent = commands.iter().filter_map(|command| match command {
            Command::Send(channel, bytes) => {
                Some((channel.conn, String::from_utf8_lossy(bytes).into_owned()))
            }
            _ => None,
        });
        sent.collect::<Vec<_>>()
    };
    let opened = receive(5, &get.replace("/events", "/sse"));
    let text: String = opened.iter().map(|(_, text)| text.as_str()).collect();
    assert!(
        text.contains("event: endpoint\ndata: /messages?sessionId=5\n\n"),
        "{text}"
    );
    let posted = receive(6, &post("/messages?sessionId=5", &call(9)));
    let [(6, accepted), (5, event)] = posted.as_slice() else {
        panic!("{posted:?}");
    };
    assert!(accepted.starts_with("HTTP/1.1 202 "), "{accepted}");
    assert!(
        event.contains("data: {") && event.contains("\"id\":9"),
        "{event}"
    );
    // Streamable HTTP is served beside it.
    let posted = receive(6, &post("/mcp", &call(10)));
    let [(6, answer)] = posted.as_slice() else {
        panic!("{posted:?}");
    };
    assert!(
        answer.starts_with("HTTP/1.1 200 ") && answer.contains("\"id\":10"),
        "{answer}"
    );
}

/// A recording of one or several sessions over HTTP, each with these polls and their answers.
fn polled(sessions: &[&[&str]]) -> Script {
    let post = |message: &Json| {
        let text = message.to_string();
        let len = text.len();
        format!("POST /mcp HTTP/1.1\r\nhost: h\r\ncontent-length: {len}\r\n\r\n{text}")
    };
    let response = |body: &Json| {
        let text = body.to_string();
        let len = text.len();
        format!(
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {len}\r\n\r\n{text}"
        )
    };
    let head = json!({"wiretool": 1, "protocol": "mcp", "started": "2026-01-01T00:00:00Z", "transport": "tcp"});
    let mut lines = vec![head.to_string()];
    for (conn, states) in (1..).zip(sessions) {
        let mut say = |dir: &str, text: String| {
            lines.push(json!({"t": 1, "conn": conn, "dir": dir, "text": text}).to_string());
        };
        say("c2s", post(&initialize()));
        say(
            "s2c",
            response(&json!({"jsonrpc": "2.0", "id": 0, "result": {
            "protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {"name": "s", "version": "1"}}})),
        );
        for (id, state) in (1..).zip(*states) {
            say("c2s", post(&poll(id)));
            let result = json!({"jsonrpc": "2.0", "id": id, "result": {"content": [{"type": "text", "text": state}]}});
            say("s2c", response(&result));
        }
    }
    let script = compile(
        lines.join("\n").as_bytes(),
        known("mcp"),
        Direction::ToClient,
        Limits::default(),
        Speed::default(),
    );
    script.unwrap()
}

fn initialize() -> Json {
    json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}})
}

fn poll(id: u32) -> Json {
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": "state", "arguments": {}}})
}

/// A new session over HTTP begins the recorded answers again, whatever the ids of its requests are; sessions of one
/// recording follow each other.
#[test]
fn new_sessions_over_http_begin_the_recorded_answers_again() {
    let once: &[&[&str]] = &[&["working", "done"]];
    let twice: &[&[&str]] = &[&["working", "done"], &["failing", "failed"]];
    for (recorded, first_id) in [(once, 1), (once, 50), (twice, 1), (twice, 50)] {
        let mut stub_test = StubTest::over(Framing::Http, known("mcp"), polled(recorded));
        stub_test.did(|stub, now, commands| stub.opened(1, now, commands));
        let mut ask = |message: &Json| {
            let text = message.to_string();
            let len = text.len();
            stub_test.receive(&format!(
                "POST /mcp HTTP/1.1\r\nhost: h\r\ncontent-length: {len}\r\n\r\n{text}"
            ))
        };
        for session in 0..4 {
            ask(&initialize());
            let states = recorded[session % recorded.len()];
            // The last answer is repeated.
            for (n, state) in states.iter().chain(states.last()).enumerate() {
                if n == states.len() && session % recorded.len() + 1 < recorded.len() {
                    continue;
                }
                let answer = ask(&poll(first_id + n as u32));
                assert!(
                    answer.contains(state),
                    "{first_id}, {session}, {n}: {answer}"
                );
            }
        }
    }
}

/// Only the second session of a recording has a request of the server after its opening.
#[test]
fn messages_after_the_opening_of_a_later_session_are_kept() {
    let chunk = |dir: &str, message: &Json| {
        json!({"t": 1, "conn": 1, "dir": dir, "text": format!("{message}\n")}).to_string()
    };
    let result = json!({"jsonrpc": "2.0", "id": 0, "result": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {"name": "s", "version": "1"}}});
    let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    let roots = json!({"jsonrpc": "2.0", "id": 9, "method": "roots/list"});
    let opening = [
        chunk("c2s", &initialize()),
        chunk("s2c", &result),
        chunk("c2s", &initialized),
    ];
    let head = json!({"wiretool": 1, "protocol": "mcp", "started": "2026-01-01T00:00:00Z", "transport": "stdio"});
    let mut lines = vec![head.to_string()];
    lines.extend(opening.iter().chain(&opening).cloned());
    lines.push(chunk("s2c", &roots));
    let script = compile(
        lines.join("\n").as_bytes(),
        known("mcp"),
        Direction::ToClient,
        Limits::default(),
        Speed::default(),
    );
    let hellos = script.unwrap().hellos;
    assert!(
        hellos.iter().any(|hello| !hello.then.is_empty()),
        "{hellos:?}"
    );
}

/// The name of a session, its event stream with a notification and a request of the server, and its end are those of the
/// recording; events wait for the stream, also if the connection of their request has ended.
#[test]
fn sessions_over_http_have_their_name_stream_and_end() {
    let post = |message: &Json| {
        let text = message.to_string();
        let len = text.len();
        format!(
            "POST /mcp HTTP/1.1\r\nhost: h\r\nmcp-session-id: NAME\r\ncontent-length: {len}\r\n\r\n{text}"
        )
    };
    let chunk = |conn: u32, dir: &str, text: &str| {
        json!({"t": 1, "conn": conn, "dir": dir, "text": text}).to_string()
    };
    let accepted = "HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n";
    let events =
        "HTTP/1.1 200 OK\r\nmcp-session-id: one\r\ncontent-type: text/event-stream\r\n\r\n";
    let event = |message: &Json| format!("event: message\ndata: {message}\n\n");
    let result = json!({"jsonrpc": "2.0", "id": 0, "result": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {"name": "s", "version": "1"}}});
    let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    let changed = json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"});
    let roots = json!({"jsonrpc": "2.0", "id": 0, "method": "roots/list"});
    let get =
        "GET /mcp HTTP/1.1\r\nhost: h\r\nmcp-session-id: one\r\naccept: text/event-stream\r\n\r\n";
    let delete = "DELETE /mcp HTTP/1.1\r\nhost: h\r\nmcp-session-id: one\r\n\r\n";
    let ended = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";
    let head = json!({"wiretool": 1, "protocol": "mcp", "started": "2026-01-01T00:00:00Z", "transport": "tcp"});
    let lines = [
        head.to_string(),
        chunk(1, "c2s", &post(&initialize())),
        chunk(1, "s2c", &format!("{events}{}", event(&result))),
        chunk(2, "c2s", &post(&initialized)),
        chunk(2, "s2c", accepted),
        chunk(3, "c2s", get),
        chunk(
            3,
            "s2c",
            &events.replace("\r\n\r\n", "\r\ntransfer-encoding: chunked\r\n\r\n"),
        ),
        chunk(
            3,
            "s2c",
            &format!("{:x}\r\n{}\r\n", event(&roots).len(), event(&roots)),
        ),
        chunk(
            2,
            "c2s",
            &post(&json!({"jsonrpc": "2.0", "id": 0, "result": {"roots": []}})),
        ),
        chunk(2, "s2c", accepted),
        chunk(
            3,
            "s2c",
            &format!("{:x}\r\n{}\r\n", event(&changed).len(), event(&changed)),
        ),
        chunk(2, "c2s", delete),
        chunk(2, "s2c", ended),
    ];
    let script = compile(
        lines.join("\n").replace("NAME", "one").as_bytes(),
        known("mcp"),
        Direction::ToClient,
        Limits::default(),
        Speed::default(),
    );
    let script = script.unwrap();
    // The printed script is the same one.
    let printed = crate::live::script::print::script(&script, known("mcp"));
    assert_eq!(
        Script::read("printed.toml", &printed, known("mcp"))
            .unwrap()
            .sessions,
        script.sessions,
        "{printed}"
    );
    for is_late in [false, true] {
        let mut stub_test = StubTest::over(Framing::Http, known("mcp"), script.clone());
        for conn in 1..=4 {
            stub_test.did(|stub, now, commands| stub.opened(conn, now, commands));
        }
        let mut receive = |conn: u32, text: &str| {
            stub_test.did(|stub, now, commands| {
                stub.received(conn.into(), text.as_bytes(), now, commands);
            })
        };
        let hello = receive(1, &post(&initialize()));
        assert!(hello.contains("\r\nmcp-session-id: one\r\n"), "{hello}");
        let mut opened = String::new();
        if !is_late {
            opened = receive(3, get);
        }
        let posted = receive(2, &post(&initialized).replace("NAME", "one"));
        if is_late {
            assert!(!posted.contains("roots/list"), "{posted}");
            opened = receive(3, get);
        } else {
            opened.push_str(&posted);
        }
        assert!(
            opened.contains("content-type: text/event-stream"),
            "{opened}"
        );
        assert!(opened.contains("roots/list"), "{opened}");
        let id: Json = serde_json::from_str(
            opened
                .lines()
                .find_map(|l| l.strip_prefix("data: "))
                .unwrap(),
        )
        .unwrap();
        let answer = json!({"jsonrpc": "2.0", "id": id["id"], "result": {"roots": []}});
        let answered = receive(4, &post(&answer).replace("NAME", "one"));
        assert!(answered.contains("list_changed"), "{is_late}: {answered}");
        let deleted = receive(4, delete);
        assert!(deleted.contains("HTTP/1.1 200 "), "{deleted}");
        assert!(deleted.starts_with("0\r\n\r\n"), "{deleted}");
        // A second client has a session of its own.
        let hello = receive(1, &post(&initialize()));
        assert!(hello.contains("\r\nmcp-session-id: one-2\r\n"), "{hello}");
    }
}
