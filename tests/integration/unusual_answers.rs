//! Answers that do not fit their request: over HTTP, after a WebSocket that was closed, and to `send --lint`.

use crate::common::{self, file, temporary};
use serde_json::json;
use std::path::PathBuf;

fn folder(name: &str) -> PathBuf {
    let folder = temporary().join(name);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// Returns the path of a recording of these bytes: connection, direction and text.
fn recording(name: &str, protocol: Option<&str>, said: &[(u32, &str, String)]) -> String {
    let mut head = json!({"wiretool": 1, "started": "2026-01-01T00:00:00Z", "transport": "tcp"});
    if let Some(protocol) = protocol {
        head["protocol"] = protocol.into();
    }
    let mut lines = format!("{head}\n");
    for (conn, dir, text) in said {
        let line = json!({"t": 1, "conn": conn, "dir": dir, "text": text});
        lines += &format!("{line}\n");
    }
    let end = json!({"t": 2, "event": "end", "chunks": said.len(), "bytes": {}});
    file(&folder("unusual-answers"), name, format!("{lines}{end}\n"))
}

fn http(start: &str, body: &str) -> String {
    let len = body.len();
    format!("{start}\r\ncontent-type: application/json\r\ncontent-length: {len}\r\n\r\n{body}")
}

fn ran(args: &[&str]) -> (i32, String, String) {
    common::run(common::wiretool().args(args), "")
}

/// An answer in the response of a request without a message is no defect of the server; one with another id than the
/// request of its exchange names that.
#[test]
fn answers_over_http_name_the_request_of_their_exchange() {
    let ok = "HTTP/1.1 200 OK";
    let get = "GET /jsonrpc?method=a&id=foo HTTP/1.1\r\nhost: h\r\n\r\n";
    let said = [
        (1, "c2s", get.to_owned()),
        (
            1,
            "s2c",
            http(ok, r#"{"jsonrpc":"2.0","id":"foo","result":1}"#),
        ),
        (
            2,
            "c2s",
            http(
                "POST /jsonrpc HTTP/1.1",
                r#"{"jsonrpc":"2.0","id":2.5,"method":"a"}"#,
            ),
        ),
        (2, "s2c", http(ok, r#"{"jsonrpc":"2.0","id":2,"result":1}"#)),
    ];
    let path = recording("get.jsonl", Some("jsonrpc"), &said);
    let (code, out, err) = ran(&["lint", &path]);
    assert_eq!(code, 0, "{out}{err}");
    for text in [
        r#"info jsonrpc/orphan: #1 c1 ← the id "foo" is that of no request: the HTTP request of this response has no message in its body"#,
        "orphan: #3 c2 ← the id is 2; the request of this HTTP response, request a, has the id 2.5 (see #2)",
    ] {
        assert!(out.contains(text), "{out}");
    }
    assert!(!out.contains("jsonrpc/unanswered"), "{out}{err}");
}

#[test]
fn bodies_of_another_rpc_over_http_are_named() {
    let asked = r#"{"method":"session-get","arguments":{"fields":["version"]},"tag":4}"#;
    let answer = r#"{"arguments":{"version":"4"},"result":"success","tag":4}"#;
    let said = [
        (1, "c2s", http("POST /transmission/rpc HTTP/1.1", asked)),
        (1, "s2c", http("HTTP/1.1 200 OK", answer)),
    ];
    let path = recording("transmission.jsonl", None, &said);
    let (_, _, err) = ran(&["decode", &path]);
    let text =
        "HTTP whose bodies are JSON that is no message (its keys are arguments, method, tag)";
    assert!(err.contains(text), "{err}");
}

#[test]
fn batches_in_bodies_of_http_have_their_kind() {
    let batch = r#"[{"jsonrpc":"2.0","id":1,"method":"a"}]"#;
    let input = http("POST / HTTP/1.1", batch);
    let mut command = common::wiretool();
    command.args(["decode", "-p", "stepflow", "-f", "json"]);
    let (_, out, _) = common::run(&mut command, input);
    let line: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(line["kind"], "batch", "{line}");
    assert!(line["fault"].is_object(), "{line}");
}

/// The upgrade and the frames of a WebSocket: two calls, the answer to one of them, and the end that the server chose
/// instead of the other.
fn closed_websocket() -> Vec<(u32, &'static str, String)> {
    let key = "dGhlIHNhbXBsZSBub25jZQ==";
    let request = format!(
        "GET / HTTP/1.1\r\nhost: h\r\nupgrade: websocket\r\nconnection: Upgrade\r\nsec-websocket-version: 13\r\nsec-websocket-key: {key}\r\n\r\n"
    );
    let response = "HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: Upgrade\r\nsec-websocket-accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n";
    let call = |id: u32, method: &str| {
        let text = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}"}}"#);
        // Masked with zeros.
        let head = [0x81, 0x80 | u8::try_from(text.len()).unwrap(), 0, 0, 0, 0];
        base64(&[&head[..], text.as_bytes()].concat())
    };
    let answer = br#"{"jsonrpc":"2.0","id":2,"result":1}"#;
    let answer = [&[0x81, u8::try_from(answer.len()).unwrap()][..], answer].concat();
    let close = [&[0x88, 16, 0x03, 0xf3][..], b"internal error"].concat();
    vec![
        (1, "c2s", request),
        (1, "s2c", response.to_owned()),
        (1, "c2s", call(1, "a")),
        (1, "c2s", call(2, "b")),
        (1, "s2c", base64(&answer)),
        (1, "s2c", base64(&close)),
    ]
}

fn base64(bytes: &[u8]) -> String {
    use base64::Engine as _;
    format!("base64:{}", base64::prelude::BASE64_STANDARD.encode(bytes))
}

/// Returns the path of a recording of [`closed_websocket`], with the end of its connection.
fn closed_recording() -> String {
    let mut lines = json!({"wiretool": 1, "protocol": "jsonrpc", "started": "2026-01-01T00:00:00Z", "transport": "ws"}).to_string();
    for (conn, dir, text) in closed_websocket() {
        let mut line = json!({"t": 1, "conn": conn, "dir": dir});
        match text.strip_prefix("base64:") {
            Some(bytes) => line["b64"] = bytes.into(),
            None => line["text"] = text.into(),
        }
        lines += &format!("\n{line}");
    }
    for line in [
        json!({"t": 2, "conn": 1, "event": "eof", "dir": "s2c"}),
        json!({"t": 2, "conn": 1, "event": "close"}),
        json!({"t": 2, "event": "end", "chunks": 6, "bytes": {}}),
    ] {
        lines += &format!("\n{line}");
    }
    file(&folder("unusual-answers"), "closed.jsonl", lines + "\n")
}

#[test]
fn status_and_reason_of_a_closed_websocket_are_in_its_line() {
    let (_, out, err) = ran(&["decode", "-f", "line", &closed_recording()]);
    let close = out
        .lines()
        .find(|line| line.contains("close"))
        .unwrap_or_default();
    assert!(close.ends_with("1011 internal error"), "{out}{err}");
}

/// The recorded server closed its WebSocket instead of an answer, and the stub answers.
#[test]
fn replay_names_answers_that_the_recording_lacks() {
    let path = closed_recording();
    let script = "[[on]]\nresult = 1\n";
    let script = file(&folder("unusual-answers"), "answers.toml", script);
    let mut stub = common::wiretool();
    stub.args(["stub", "jsonrpc", "--listen", "ws://127.0.0.1:0", "--once"]);
    stub.args(["--script", &script]);
    stub.stderr(std::process::Stdio::piped());
    let mut stub = stub.spawn().unwrap();
    let mut line = String::new();
    let mut err = std::io::BufReader::new(stub.stderr.take().unwrap());
    std::io::BufRead::read_line(&mut err, &mut line).unwrap();
    let at = line.find("ws://").unwrap_or_else(|| panic!("{line}"));
    let address = line[at..].split([',', ' ', '\n']).next().unwrap();
    let (_, out, err) = ran(&["replay", &path, "--connect", address, "--timeout", "5s"]);
    let text = "request a is answered; in the recording the connection ended without an answer";
    assert!(format!("{out}{err}").contains(text), "{out}{err}");
    let _ = stub.wait();
}

/// The answer has a member of the wrong type.
#[test]
fn send_checks_the_rules_with_lint() {
    let answer = r#"{"jsonrpc":"2.0","id":1,"result":1,"error":{"code":1,"message":"m"}}"#;
    let script = format!("read line; printf '%s\\n' '{answer}'; sleep 0.2");
    let args = |lint: &[&str]| {
        let mut command = common::wiretool();
        command.args([
            "send",
            "jsonrpc",
            "--json",
            r#"{"jsonrpc":"2.0","id":1,"method":"a"}"#,
            "-f",
            "line",
        ]);
        command.args(lint).args(["--", "sh", "-c", &script]);
        common::run(&mut command, "")
    };
    let (_, out, err) = args(&[]);
    assert!(
        out.contains("jsonrpc/") && !err.contains("jsonrpc/"),
        "{out}{err}"
    );
    let (code, out, err) = args(&["--lint"]);
    // Each finding is shown once.
    assert!(!out.contains("jsonrpc/"), "{out}");
    assert!(err.contains("jsonrpc/") && err.contains("#1"), "{out}{err}");
    assert_eq!(code, 1, "{err}");
    let (strict, _, _) = args(&["--lint", "--fail-on", "info"]);
    assert_eq!(strict, 1);
}

/// A proxy of an HTTP address reads HTTP only, so protocols that never use it are not detected.
#[test]
fn protocols_without_http_are_not_detected_in_it() {
    let ask = r#"{"jsonrpc":"2.0","id":1,"method":"eth_accounts","params":[]}"#;
    let answer =
        r#"{"id":1,"jsonrpc":"2.0","result":["0x90f8bf6a479f320ead074411a4b0e7944ea8c9c1"]}"#;
    let said = [
        (1, "c2s", http("POST / HTTP/1.1", ask)),
        (1, "s2c", http("HTTP/1.1 200 OK", answer)),
    ];
    let path = recording("accounts.jsonl", None, &said);
    for args in [&["lint", &path][..], &["lint", "--framing", "http", &path]] {
        let (code, out, err) = ran(args);
        assert_eq!((code, out.as_str()), (0, ""), "{err}");
    }
}

/// Two sessions over HTTP, each with its own ids from 1, whose requests use these connections.
fn two_sessions(name: &str, conns: [u32; 2]) -> String {
    let initialize = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#;
    let begun = r#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}"#;
    let mut said = Vec::new();
    for (session, conn) in ["one", "two"].into_iter().zip(conns) {
        let field = format!("\r\nmcp-session-id: {session}");
        let post = format!("POST /mcp HTTP/1.1{field}\r\nmcp-protocol-version: 2025-11-25");
        said.push((conn, "c2s", http("POST /mcp HTTP/1.1", initialize)));
        said.push((conn, "s2c", http(&format!("HTTP/1.1 200 OK{field}"), begun)));
        for id in 1..3 {
            let ask = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/list"}}"#);
            let answer = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"tools":[]}}}}"#);
            // Sessions share a connection.
            let conn = if id == 2 { conns[0] } else { conn };
            said.push((conn, "c2s", http(&post, &ask)));
            said.push((conn, "s2c", http("HTTP/1.1 200 OK", &answer)));
        }
    }
    recording(name, Some("mcp"), &said)
}

#[test]
fn connections_of_sessions_over_http_are_no_difference() {
    let paths = [[1, 1], [1, 2], [3, 1]].map(|conns| {
        let [a, b] = conns;
        two_sessions(&format!("sessions-{a}-{b}.jsonl"), conns)
    });
    for other in &paths {
        let (code, out, err) = ran(&["diff", &paths[0], other]);
        assert_eq!((code, out.as_str()), (0, ""), "{err}");
    }
}
