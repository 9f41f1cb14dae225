//! The stub of every protocol except oracle, with hand-written clients.

use super::{file, folder, signal};
use crate::common;
use futures_util::{SinkExt as _, StreamExt as _};
use rmpv::Value as Pack;
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::process::{Child, Stdio};
use std::time::Duration;
use tokio_tungstenite::tungstenite::Message;

/// A stub that listens.
pub(super) struct Server {
    child: Child,
    stderr: BufReader<std::process::ChildStderr>,
    /// `HOST:PORT`, or a path.
    at: String,
    _folder: tempfile::TempDir,
}

impl Server {
    pub(super) fn new(protocol: &str, script: &str, args: &[&str]) -> Self {
        let folder = folder();
        let script = file(folder.path(), "my.toml", script);
        let mut child = common::wiretool()
            .args(["stub", protocol, "--script", &script])
            .args(args)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        stderr.read_line(&mut line).unwrap();
        let at = line.trim().strip_prefix("wiretool: listening on ");
        let at = at
            .unwrap_or_else(|| panic!("{line}"))
            .split(',')
            .next()
            .unwrap();
        let at = at
            .split_once("://")
            .map_or(at, |(_, at)| at)
            .trim_start_matches("unix:");
        Self {
            at: at.to_owned(),
            child,
            stderr,
            _folder: folder,
        }
    }

    pub(super) fn dial(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.at).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(10)))
            .unwrap();
        stream
    }

    /// Terminates it. Returns the status and the rest of its stderr.
    pub(super) fn end(mut self) -> (Option<i32>, String) {
        signal(self.child.id(), "TERM");
        let mut rest = String::new();
        self.stderr.read_to_string(&mut rest).unwrap();
        (self.child.wait().unwrap().code(), rest)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// An envelope as real peers send it.
pub(super) fn call(kind: &str, id: u8, target: &str, args: &[i64]) -> Pack {
    let args = args.iter().map(|n| Pack::from(*n)).collect();
    Pack::Map(vec![
        ("version".into(), 1.into()),
        ("type".into(), kind.into()),
        ("id".into(), Pack::Binary([id; 16].to_vec())),
        ("target".into(), target.into()),
        ("args".into(), Pack::Array(args)),
    ])
}

fn pack(value: &Pack) -> Vec<u8> {
    let mut body = Vec::new();
    rmpv::encode::write_value(&mut body, value).unwrap();
    body
}

pub(super) fn send(stream: &mut impl Write, value: &Pack) {
    let body = pack(value);
    let mut frame = u32::try_from(body.len()).unwrap().to_be_bytes().to_vec();
    frame.extend_from_slice(&body);
    stream.write_all(&frame).unwrap();
}

pub(super) fn shown(stream: &mut impl Read) -> Value {
    let mut length = [0; 4];
    stream.read_exact(&mut length).unwrap();
    let mut body = vec![0; u32::from_be_bytes(length) as usize];
    stream.read_exact(&mut body).unwrap();
    plain(&rmpv::decode::read_value(&mut body.as_slice()).unwrap())
}

/// Shows bytes as hex, and other values unchanged.
fn plain(value: &Pack) -> Value {
    match value {
        Pack::Binary(bytes) => json!(hex::encode(bytes)),
        Pack::Array(items) => items.iter().map(plain).collect(),
        Pack::Map(members) => {
            let members = members
                .iter()
                .map(|(key, value)| (key.as_str().unwrap().to_owned(), plain(value)));
            Value::Object(members.collect())
        }
        Pack::Nil => Value::Null,
        Pack::Boolean(yes) => json!(yes),
        Pack::Integer(n) => json!(n.as_i64()),
        Pack::String(text) => json!(text.as_str()),
        other => panic!("{other}"),
    }
}

const CALLS: &str = r#"
[[on]]
match = 'subject="math.add"'
result = "{{args[0]}}"
[[on]]
match = 'subject="math.no"'
error = { code = "NotFound", message = "no {{target}}" }
[[on]]
match = 'kind=stream'
items = [1, { value = 2, after = "20ms" }]
"#;

fn saikuro(stream: &mut (impl Read + Write)) {
    send(stream, &call("call", 1, "math.add", &[41]));
    assert_eq!(
        shown(stream),
        json!({"id": hex::encode([1; 16]), "ok": true, "result": 41})
    );
    send(stream, &call("call", 2, "math.no", &[]));
    let no = shown(stream);
    assert_eq!(
        (&no["ok"], &no["error"]["message"]),
        (&json!(false), &json!("no math.no"))
    );
    send(stream, &call("stream", 3, "math.count", &[]));
    let items: Vec<Value> = (0..3).map(|_| shown(stream)).collect();
    let seqs: Vec<&Value> = items.iter().map(|item| &item["seq"]).collect();
    assert_eq!(seqs, [0, 1, 2], "{items:?}");
    assert_eq!(
        (&items[0]["result"], &items[1]["result"]),
        (&json!(1), &json!(2)),
        "{items:?}"
    );
}

#[test]
fn saikuro_works_over_tcp_and_unix() {
    let server = Server::new("saikuro", CALLS, &["--listen", "tcp://127.0.0.1:0"]);
    saikuro(&mut server.dial());
    let (status, log) = server.end();
    assert_eq!(status, Some(143), "{log}");
    assert!(log.contains("3 requests"), "{log}");
    let folder = folder();
    let path = folder.path().join("s");
    let address = format!("unix:{}", path.display());
    let server = Server::new("saikuro", CALLS, &["--listen", &address]);
    saikuro(&mut UnixStream::connect(&server.at).unwrap());
}

#[test]
fn provider_announces_itself() {
    let script = format!("role = \"provider\"\noffers = [\"math.add\"]\n{CALLS}");
    let server = Server::new("saikuro", &script, &["--listen", "tcp://127.0.0.1:0"]);
    let mut stream = server.dial();
    let hello = shown(&mut stream);
    assert_eq!(hello["type"], "announce");
    assert!(
        hello["args"][0]["namespaces"]["math"]["functions"]["add"].is_object(),
        "{hello}"
    );
    send(&mut stream, &call("call", 1, "math.add", &[7]));
    assert_eq!(shown(&mut stream)["result"], 7);
}

#[test]
fn concurrent_connections_are_served() {
    let server = Server::new("saikuro", CALLS, &["-q", "--listen", "tcp://127.0.0.1:0"]);
    let mut streams: Vec<TcpStream> = (0..64).map(|_| server.dial()).collect();
    for round in 0..20 {
        for (n, stream) in (0u8..).zip(&mut streams) {
            send(
                stream,
                &call("call", n, "math.add", &[round * 100 + i64::from(n)]),
            );
        }
        for (n, stream) in (0u8..).zip(&mut streams) {
            let answer = shown(stream);
            assert_eq!(answer["result"], json!(round * 100 + i64::from(n)));
            assert_eq!(answer["id"], hex::encode([n; 16]));
        }
    }
}

#[test]
fn wrong_framing_is_reported() {
    let server = Server::new("saikuro", CALLS, &["--listen", "tcp://127.0.0.1:0"]);
    let mut stream = server.dial();
    stream
        .write_all(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n")
        .unwrap();
    let mut rest = Vec::new();
    stream.read_to_end(&mut rest).unwrap();
    assert_eq!(rest, b"");
    // Other connections are served nevertheless.
    saikuro(&mut server.dial());
    let (_, log) = server.end();
    assert!(
        log.contains(
            "wanted at most 16777216 bytes, got 1195725856: not a message of saikuro: closed"
        ),
        "{log}"
    );
}

type Socket = tokio_tungstenite::WebSocketStream<tokio::net::TcpStream>;

/// Runs a WebSocket client of a stub.
fn websocket<T>(server: &Server, talk: impl AsyncFnOnce(Socket) -> T) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let stream = tokio::net::TcpStream::connect(&server.at).await.unwrap();
        let url = format!("ws://{}/sael/ws", server.at);
        let (socket, _) = tokio_tungstenite::client_async(url, stream).await.unwrap();
        let talk = talk(socket);
        tokio::time::timeout(Duration::from_secs(20), talk)
            .await
            .unwrap()
    })
}

async fn send_text(socket: &mut Socket, message: Value) {
    socket
        .send(Message::text(message.to_string()))
        .await
        .unwrap();
}

async fn next(socket: &mut Socket) -> Value {
    loop {
        match socket.next().await.unwrap().unwrap() {
            Message::Text(text) => return serde_json::from_str(&text).unwrap(),
            Message::Ping(_) | Message::Pong(_) => {}
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn saikuro_works_over_websocket() {
    let server = Server::new("saikuro", CALLS, &["--listen", "ws://127.0.0.1:0"]);
    websocket(&server, async |mut socket| {
        let body = pack(&call("call", 1, "math.add", &[5]));
        socket.send(Message::binary(body)).await.unwrap();
        let Message::Binary(answer) = socket.next().await.unwrap().unwrap() else {
            panic!("no binary message");
        };
        let answer = plain(&rmpv::decode::read_value(&mut &answer[..]).unwrap());
        assert_eq!(answer["result"], 5);
    });
}

const TOOLS: &str = r#"
name = "stub"
offers = ["echo.upper", { name = "demo.counter", streams = true, about = { description = "counts" } }, "slow"]
[[on]]
match = 'subject="echo.upper"'
result = "HELLO {{input.text}}"
[[on]]
match = 'subject="demo.counter"'
items = [{ value = 1 }, { value = 2 }]
[[on]]
match = 'subject="demo.delta"'
items = [{ delta = { a = 1 } }, { delta = { b = 2 } }]
[[on]]
match = 'kind=SUB'
items = [{ n = 1 }, { n = 2 }]
end = false
[[on]]
match = 'subject="slow"'
delay = "1h"
result = 1
[[on]]
match = 'kind=INV .pipeline'
result = ["piped"]
"#;

async fn hello(socket: &mut Socket) -> Value {
    send_text(
        socket,
        json!({"v": 1, "kind": "HEY", "agent": {"id": "t"}, "supports": ["resume"]}),
    )
    .await;
    next(socket).await
}

#[test]
fn sael_works_over_websocket() {
    let server = Server::new("sael", TOOLS, &["--listen", "ws://127.0.0.1:0"]);
    let session = websocket(&server, async |mut socket| {
        let socket = &mut socket;
        let hello = hello(socket).await;
        assert_eq!(
            (&hello["kind"], &hello["tools"]),
            (&json!("HEY"), &json!(3)),
            "{hello}"
        );
        send_text(socket, json!({"v": 1, "kind": "LST", "seq": 1})).await;
        let list = next(socket).await;
        let names: Vec<&Value> = list["tools"]
            .as_array()
            .unwrap()
            .iter()
            .map(|tool| &tool["name"])
            .collect();
        assert_eq!(names, ["echo.upper", "demo.counter", "slow"]);
        assert_eq!(list["tools"][1]["description"], "counts");
        send_text(
            socket,
            json!({"v": 1, "kind": "INV", "seq": 2, "tool": "echo.upper", "input": {"text": "x"}}),
        )
        .await;
        let answer = next(socket).await;
        assert_eq!(
            (&answer["kind"], &answer["seq"], &answer["output"]),
            (&json!("RES"), &json!(2), &json!("HELLO x"))
        );
        send_text(
            socket,
            json!({"v": 1, "kind": "INV", "seq": 3, "tool": "demo.counter"}),
        )
        .await;
        let kinds =
            [next(socket).await, next(socket).await, next(socket).await].map(|m| m["kind"].clone());
        assert_eq!(kinds, ["STR", "STR", "END"]);
        send_text(
            socket,
            json!({"v": 1, "kind": "INV", "seq": 4, "tool": "demo.delta"}),
        )
        .await;
        let deltas = [next(socket).await, next(socket).await, next(socket).await];
        assert_eq!(
            (&deltas[0]["delta"], &deltas[2]["kind"]),
            (&json!({"a": 1}), &json!("END")),
            "{deltas:?}"
        );
        send_text(
            socket,
            json!({"v": 1, "kind": "SUB", "seq": 5, "topic": "news"}),
        )
        .await;
        let events = [next(socket).await, next(socket).await, next(socket).await];
        assert_eq!(
            events.each_ref().map(|m| m["kind"].clone()),
            ["RES", "EVT", "EVT"]
        );
        assert_eq!(
            (&events[2]["seq"], &events[2]["data"]["n"]),
            (&json!(5), &json!(2))
        );
        send_text(socket, json!({"v": 1, "kind": "UNS", "seq": 5})).await;
        send_text(socket, json!({"v": 1, "kind": "HBT", "ts": 1})).await;
        assert_eq!(next(socket).await["kind"], "HBA");
        send_text(
            socket,
            json!({"v": 1, "kind": "INV", "seq": 6, "tool": "slow"}),
        )
        .await;
        send_text(socket, json!({"v": 1, "kind": "CAN", "seq": 6})).await;
        let cancelled = next(socket).await;
        assert_eq!(
            (&cancelled["kind"], &cancelled["code"]),
            (&json!("ERR"), &json!("CANCELLED"))
        );
        send_text(
            socket,
            json!({"v": 1, "kind": "INV", "seq": 7, "pipeline": [{"tool": "a"}, {"tool": "b"}]}),
        )
        .await;
        assert_eq!(next(socket).await["output"], json!(["piped"]));
        send_text(
            socket,
            json!({"v": 1, "kind": "INV", "seq": 8, "tool": "nobody"}),
        )
        .await;
        assert_eq!(next(socket).await["kind"], "ERR");
        hello["session_id"].as_str().unwrap().to_owned()
    });
    // The connection is lost; the events after the third one are sent again.
    websocket(&server, async |mut socket| {
        send_text(
            &mut socket,
            json!({"v": 1, "kind": "RSM", "session_id": session, "last_seq_received": 6}),
        )
        .await;
        let again = [
            next(&mut socket).await,
            next(&mut socket).await,
            next(&mut socket).await,
        ];
        let kinds = again
            .each_ref()
            .map(|m| format!("{} {}", m["kind"].as_str().unwrap(), m["seq"]));
        assert_eq!(kinds, ["RES 7", "ERR 8", "HEY null"]);
    });
    websocket(&server, async |mut socket| {
        send_text(
            &mut socket,
            json!({"v": 1, "kind": "RSM", "session_id": "ses_none", "last_seq_received": 0}),
        )
        .await;
        assert_eq!(next(&mut socket).await["code"], "SESSION_EXPIRED");
    });
}

#[test]
fn tokens_are_checked_with_a_secret() {
    let folder = folder();
    let secret = file(folder.path(), "secret", "correct horse battery staple\n");
    let server = Server::new(
        "sael",
        TOOLS,
        &["--listen", "ws://127.0.0.1:0", "--secret-file", &secret],
    );
    websocket(&server, async |mut socket| {
        let auth = json!({"type": "bearer", "token": "qct.v1.eyJpc3MiOiJzYWVsIn0.jMSua7H16b0"});
        send_text(
            &mut socket,
            json!({"v": 1, "kind": "HEY", "agent": {"id": "t"}, "auth": auth}),
        )
        .await;
        assert_eq!(next(&mut socket).await["code"], "AUTH_INVALID");
    });
    let server = Server::new("sael", TOOLS, &["--listen", "ws://127.0.0.1:0"]);
    websocket(&server, async |mut socket| {
        assert_eq!(hello(&mut socket).await["kind"], "HEY");
    });
}

const FLOW: &str = r#"
offers = [{ name = "/upper", about = { description = "shouts" } }]
[[on]]
match = 'subject="components/execute" .params.component="/upper"'
result = { text = "{{params.input.text}}!" }
[[on]]
match = 'subject="components/execute" .params.component="/store"'
ask = { method = "blobs/put", params = { data = "{{params.input}}", blob_type = "data" } }
result = { blob = "{{answer.result.blob_id}}" }
"#;

/// One POST: returns the body of the answer.
fn post(stream: &mut TcpStream, message: &Value) -> (String, BufReader<TcpStream>) {
    let body = message.to_string();
    let head = format!(
        "POST / HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\naccept: application/json, text/event-stream\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        assert!(reader.read_line(&mut head).unwrap() > 0, "{head}");
    }
    (head.to_ascii_lowercase(), reader)
}

fn read_body(head: &str, reader: &mut impl Read) -> Value {
    let length = head
        .split("content-length: ")
        .nth(1)
        .unwrap()
        .split("\r\n")
        .next()
        .unwrap();
    let mut body = vec![0; length.parse().unwrap()];
    reader.read_exact(&mut body).unwrap();
    serde_json::from_slice(&body).unwrap()
}

fn request(id: u64, method: &str, params: impl Into<Value>) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params.into()})
}

#[test]
fn stepflow_works_over_http() {
    let server = Server::new("stepflow", FLOW, &["--listen", "http://127.0.0.1:0"]);
    let mut stream = server.dial();
    let (head, mut reader) = post(
        &mut stream,
        &request(1, "initialize", json!({"runtime_protocol_version": 1})),
    );
    assert!(read_body(&head, &mut reader)["result"].is_object());
    let (head, mut reader) = post(&mut stream, &request(2, "components/list", json!({})));
    let list = read_body(&head, &mut reader);
    assert_eq!(
        list["result"]["components"][0]["component"], "/upper",
        "{list}"
    );
    let input = json!({"component": "/upper", "input": {"text": "a"}});
    let (head, mut reader) = post(&mut stream, &request(3, "components/execute", input));
    assert_eq!(
        read_body(&head, &mut reader)["result"]["output"],
        json!({"text": "a!"})
    );
}

#[test]
fn stepflow_callback_works_over_http() {
    let server = Server::new("stepflow", FLOW, &["--listen", "http://127.0.0.1:0"]);
    let mut stream = server.dial();
    let input = json!({"component": "/store", "input": {"a": 1}});
    let (head, mut reader) = post(&mut stream, &request(3, "components/execute", input));
    assert!(head.contains("text/event-stream"), "{head}");
    let mut event = || {
        let mut line = String::new();
        while !line.starts_with("data:") {
            line.clear();
            assert!(reader.read_line(&mut line).unwrap() > 0);
        }
        serde_json::from_str::<Value>(line["data:".len()..].trim()).unwrap()
    };
    let asked = event();
    assert_eq!(
        (&asked["method"], &asked["params"]["data"]),
        (&json!("blobs/put"), &json!({"a": 1})),
        "{asked}"
    );
    let mut other = server.dial();
    let answer = json!({"jsonrpc": "2.0", "id": asked["id"], "result": {"blob_id": "b7"}});
    let (head, _) = post(&mut other, &answer);
    assert!(head.starts_with("http/1.1 2"), "{head}");
    assert_eq!(event()["result"]["output"], json!({"blob": "b7"}));
}

#[test]
fn stepflow_works_on_stdio() {
    let folder = folder();
    let script = file(folder.path(), "my.toml", FLOW);
    let mut child = common::wiretool()
        .args(["stub", "stepflow", "--script", &script])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut ask = |message: Value| -> Value {
        writeln!(stdin, "{message}").unwrap();
        serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap()
    };
    assert!(
        ask(request(
            1,
            "initialize",
            json!({"runtime_protocol_version": 1})
        ))["result"]
            .is_object()
    );
    let input = json!({"component": "/store", "input": {"a": 1}});
    let asked = ask(request(2, "components/execute", input));
    assert_eq!(asked["method"], "blobs/put");
    let last = ask(json!({"jsonrpc": "2.0", "id": asked["id"], "result": {"blob_id": "b7"}}));
    assert_eq!(
        (&last["id"], &last["result"]["output"]),
        (&json!(2), &json!({"blob": "b7"}))
    );
    drop(stdin);
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

/// The output of `make` for some words, or of `decode` for some bytes.
fn tool(args: &[&str], input: &[u8]) -> Vec<u8> {
    let mut child = common::wiretool()
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    child.wait_with_output().unwrap().stdout
}

/// Ends two calls and returns the results.
fn telequick(server: &Server, mode: &str, sids: [&str; 2]) -> Vec<Value> {
    let mut stream = server.dial();
    let mut answers = Vec::new();
    for sid in sids {
        let sid = format!("call_sid={sid}");
        let ask = tool(
            &[
                "make",
                "telequick",
                "Terminate",
                &sid,
                "--length-mode",
                mode,
            ],
            b"",
        );
        stream.write_all(&ask).unwrap();
        let mut head = [0; 4];
        stream.read_exact(&mut head).unwrap();
        let own = if mode == "inclusive" { 4 } else { 0 };
        let mut rest = vec![0; u32::from_le_bytes(head) as usize - own];
        stream.read_exact(&mut rest).unwrap();
        answers.extend_from_slice(&head);
        answers.extend_from_slice(&rest);
    }
    let args = [
        "decode",
        "-p",
        "telequick",
        "-f",
        "json",
        "--length-mode",
        mode,
        "--dir",
        "s2c",
    ];
    let shown = String::from_utf8(tool(&args, &answers)).unwrap();
    let fields = |line: &str| {
        let line: Value = serde_json::from_str(line).unwrap();
        json!([
            line["message"]["fields"]["call_sid"],
            line["message"]["fields"]["status"]
        ])
    };
    shown.lines().map(fields).collect()
}

#[test]
fn telequick_works_in_both_length_modes() {
    let script = r#"
        [[on]]
        match = 'subject=Terminate'
        result = { status = "done {{fields.call_sid}}" }
    "#;
    let folder = folder();
    for mode in ["exclusive", "inclusive"] {
        let recording = folder.path().join(mode);
        let recording = recording.to_str().unwrap();
        let listen = ["--listen", "tcp://127.0.0.1:0"];
        let server = Server::new(
            "telequick",
            script,
            &[&listen[..], &["-w", recording]].concat(),
        );
        let output = telequick(&server, mode, ["abc", "de"]);
        assert_eq!(
            output,
            [json!(["abc", "done abc"]), json!(["de", "done de"])],
            "{mode}"
        );
        server.end();
        // Other calls: generated names of a client are matched to the recorded requests in order.
        let again = Server::new(
            "telequick",
            "",
            &[&listen[..], &["--from-recording", recording]].concat(),
        );
        let output = telequick(&again, mode, ["new-1", "new-2"]);
        assert_eq!(
            output,
            [json!(["new-1", "done abc"]), json!(["new-2", "done de"])],
            "{mode}"
        );
    }
}

/// A stub that has only the recording gives the same answers as the scripted stub.
#[test]
fn recording_answers_like_script() {
    let folder = folder();
    let recording = folder.path().join("calls.jsonl");
    let recording = recording.to_str().unwrap();
    let listen = ["--listen", "tcp://127.0.0.1:0"];
    let server = Server::new(
        "saikuro",
        CALLS,
        &[&listen[..], &["-w", recording]].concat(),
    );
    saikuro(&mut server.dial());
    server.end();
    let again = Server::new(
        "saikuro",
        "",
        &[
            &listen[..],
            &["--from-recording", recording, "--require-all"],
        ]
        .concat(),
    );
    for _ in 0..2 {
        saikuro(&mut again.dial());
    }
    let (_, log) = again.end();
    assert!(log.ends_with("wiretool: 6 requests\n"), "{log}");
    // The printed script gives the same answers.
    let script = tool(
        &[
            "stub",
            "saikuro",
            "--from-recording",
            recording,
            "--print-script",
        ],
        b"",
    );
    let script = String::from_utf8(script).unwrap();
    assert!(script.contains("message = [\n  { json = "), "{script}");
    saikuro(&mut Server::new("saikuro", &script, &listen).dial());
}

#[test]
fn redacted_recording_answers() {
    let folder = folder();
    let [plain, redacted] = ["plain.jsonl", "redacted.jsonl"].map(|name| folder.path().join(name));
    let [plain, redacted] = [plain.to_str().unwrap(), redacted.to_str().unwrap()];
    let server = Server::new(
        "saikuro",
        CALLS,
        &["--listen", "tcp://127.0.0.1:0", "-w", plain],
    );
    let ask = |server: &Server, token: &str| {
        let mut stream = server.dial();
        let Pack::Map(mut members) = call("call", 9, "math.add", &[3]) else {
            unreachable!();
        };
        members.push(("capability".into(), token.into()));
        send(&mut stream, &Pack::Map(members));
        shown(&mut stream)["result"].clone()
    };
    assert_eq!(ask(&server, "secret-token-of-mine"), 3);
    server.end();
    let out = tool(&["redact", plain, "-o", redacted], b"");
    assert_eq!(String::from_utf8(out).unwrap(), "");
    let text = std::fs::read_to_string(redacted).unwrap();
    assert!(!text.contains("secret-token"), "{text}");
    let again = Server::new(
        "saikuro",
        "",
        &[
            "--listen",
            "tcp://127.0.0.1:0",
            "--from-recording",
            redacted,
        ],
    );
    assert_eq!(ask(&again, "secret-token-of-mine"), 3);
    assert_eq!(ask(&again, "another"), 3);
}
