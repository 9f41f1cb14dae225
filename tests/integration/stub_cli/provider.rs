//! A stub that connects: it joins a runtime as a provider.

use super::protocols::{call, send, shown};
use super::{file, folder};
use crate::common;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use rmpv::Value as Pack;
use serde_json::{Value, json};
use std::io::Read as _;
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

const SCRIPT: &str = r#"
offers = ["math.add"]
first = { version = 1, type = "log", id = "00000000-0000-4000-8000-000000000001", target = "$log", args = [{ level = "info", name = "n", msg = "up" }] }
[[on]]
match = 'subject="math.add"'
result = "{{args[0]}}"
"#;

/// Accepts within some seconds.
fn accept(listener: &TcpListener) -> TcpStream {
    listener.set_nonblocking(true).unwrap();
    let began = Instant::now();
    loop {
        match listener.accept() {
            Ok((stream, _)) => {
                stream.set_nonblocking(false).unwrap();
                let most = Some(Duration::from_secs(20));
                stream.set_read_timeout(most).unwrap();
                return stream;
            }
            Err(error) => assert!(began.elapsed() < Duration::from_secs(20), "{error}"),
        }
        std::thread::yield_now();
    }
}

fn start_stub(args: &[&str]) -> (Child, TcpListener) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("tcp://{}", listener.local_addr().unwrap());
    let child = common::wiretool()
        .args(["stub", "saikuro", "--connect", &address])
        .args(args)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    (child, listener)
}

/// The exit code and stderr.
fn end_of(mut child: Child) -> (Option<i32>, String) {
    let mut sent = String::new();
    child
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut sent)
        .unwrap();
    (child.wait().unwrap().code(), sent)
}

/// Answers an announce in the binary form, as the runtime does.
fn acknowledge(stream: &mut TcpStream, announce: &Value, ok: bool) {
    let id = hex::decode(announce["id"].as_str().unwrap().replace('-', "")).unwrap();
    let mut ack = vec![("id".into(), Pack::Binary(id)), ("ok".into(), ok.into())];
    if !ok {
        let error = vec![
            ("code".into(), "Internal".into()),
            ("message".into(), "frozen".into()),
        ];
        ack.push(("error".into(), Pack::Map(error)));
    }
    send(stream, &Pack::Map(ack));
}

#[test]
fn stub_joins_runtime_as_provider() {
    let folder = folder();
    let script = file(folder.path(), "my.toml", SCRIPT);
    let recording = folder.path().join("joined.jsonl");
    let recording = recording.to_str().unwrap();
    let (child, listener) = start_stub(&["--script", &script, "-w", recording]);
    let mut runtime = accept(&listener);
    let announce = shown(&mut runtime);
    assert_eq!(announce["type"], "announce");
    // It takes up to 16 values of any type.
    let function = &announce["args"][0]["namespaces"]["math"]["functions"]["add"];
    let arguments = function["args"].as_array().unwrap();
    assert_eq!(arguments.len(), 16);
    for argument in arguments {
        assert_eq!(
            argument["type"],
            json!({"kind": "primitive", "type": "any"})
        );
        assert_eq!(argument["optional"], true);
    }
    acknowledge(&mut runtime, &announce, true);
    // The first message of the script is received now, not earlier.
    assert_eq!(shown(&mut runtime)["type"], "log");
    for n in 0..3u8 {
        send(&mut runtime, &call("call", n + 1, "math.add", &[n.into()]));
        let answer = shown(&mut runtime);
        assert_eq!(
            (&answer["ok"], &answer["result"]),
            (&json!(true), &json!(n))
        );
    }
    send(&mut runtime, &call("call", 9, "math.no", &[]));
    assert_eq!(shown(&mut runtime)["error"]["code"], "FunctionNotFound");
    drop(runtime);
    let (code, sent) = end_of(child);
    // Without its runtime a provider gets no calls.
    assert_eq!(code, Some(1), "{sent}");
    assert!(
        sent.contains("the runtime has ended the connection\n"),
        "{sent}"
    );
    assert!(sent.contains("connecting to tcp://127.0.0.1:"), "{sent}");
    assert!(sent.contains("3 requests\n"), "{sent}");
    // Its recording is from the provider's side, and gives the same answers.
    let head = std::fs::read_to_string(recording).unwrap();
    assert!(
        head.lines()
            .next()
            .unwrap()
            .contains("\"connect\":\"tcp://"),
        "{head}"
    );
    let (child, listener) = start_stub(&["--from-recording", recording, "-q"]);
    let mut runtime = accept(&listener);
    let announce = shown(&mut runtime);
    acknowledge(&mut runtime, &announce, true);
    for n in [2u8, 0] {
        send(&mut runtime, &call("call", 7, "math.add", &[n.into()]));
        assert_eq!(shown(&mut runtime)["result"], json!(n));
    }
    drop(runtime);
    assert_eq!(end_of(child).0, Some(1));
}

#[test]
fn refused_join_is_reported() {
    let folder = folder();
    let script = file(folder.path(), "my.toml", SCRIPT);
    let (child, listener) = start_stub(&["--script", &script]);
    let mut runtime = accept(&listener);
    let announce = shown(&mut runtime);
    acknowledge(&mut runtime, &announce, false);
    drop(runtime);
    let (code, sent) = end_of(child);
    assert_eq!(code, Some(1), "{sent}");
    assert!(
        sent.contains("announce was answered with Internal: frozen"),
        "{sent}"
    );
    // There is no server.
    let (child, listener) = start_stub(&["--script", &script]);
    drop(listener);
    let (code, sent) = end_of(child);
    // The stub may have connected before the port was closed.
    assert!(
        code == Some(2) || sent.contains("ended before `first`"),
        "{code:?} {sent}"
    );
    for (args, want) in [
        (
            &["saikuro", "--connect", "tcp://127.0.0.1:1"][..],
            "has no offers",
        ),
        (
            &["sael", "--connect", "ws://127.0.0.1:1"],
            "--connect is for saikuro",
        ),
        (
            &[
                "saikuro",
                "--connect",
                "tcp://127.0.0.1:1",
                "--listen",
                "tcp://127.0.0.1:0",
            ],
            "cannot be used with",
        ),
    ] {
        let output = common::wiretool()
            .arg("stub")
            .args(args)
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let sent = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{sent}");
        assert!(sent.contains(want), "{sent}");
    }
}

#[test]
fn every_recorded_provider_is_announced() {
    let folder = folder();
    let id = |n: u32| format!("00000000-0000-4000-8000-00000000000{n}");
    let chunk = |conn: u32, dir: &str, message: Value| {
        let packed = rmp_serde::to_vec_named(&message).unwrap();
        let frame = [&(packed.len() as u32).to_be_bytes()[..], &packed].concat();
        json!({"t": conn, "conn": conn, "dir": dir, "b64": BASE64.encode(frame)}).to_string()
    };
    let mut lines = vec![
        json!({"wiretool": 1, "protocol": "saikuro", "started": "2026-11-24T00:00:00Z", "transport": "tcp"}).to_string(),
    ];
    for conn in 1..=3 {
        let any = json!({"kind": "primitive", "type": "any"});
        let functions = json!({"functions": {"f": {"args": [], "returns": any}}});
        let schema =
            json!({"version": 1, "namespaces": {format!("space{conn}"): functions}, "types": {}});
        let announce = json!({"version": 1, "type": "announce", "id": id(conn), "target": "$saikuro.announce", "args": [schema]});
        lines.push(json!({"t": conn, "conn": conn, "event": "open"}).to_string());
        lines.push(chunk(conn, "c2s", announce));
    }
    let call = json!({"version": 1, "type": "call", "id": id(9), "target": "space2.f", "args": []});
    lines.push(chunk(2, "s2c", call));
    lines.push(chunk(
        2,
        "c2s",
        json!({"id": id(9), "ok": true, "result": 7}),
    ));
    let recording = file(folder.path(), "three.jsonl", lines.join("\n") + "\n");
    let (child, listener) = start_stub(&["--from-recording", &recording]);
    let mut runtime = accept(&listener);
    let mut spaces = Vec::new();
    for _ in 0..3 {
        let announce = shown(&mut runtime);
        acknowledge(&mut runtime, &announce, true);
        let named = announce["args"][0]["namespaces"].as_object().unwrap();
        spaces.extend(named.keys().cloned());
    }
    assert_eq!(spaces, ["space1", "space2", "space3"]);
    drop(runtime);
    let (code, sent) = end_of(child);
    assert_eq!(code, Some(1), "{sent}");
}
