//! A stub that dials: it joins a runtime as a provider.

use super::others::{call, heard, say};
use super::{file, folder};
use crate::common;
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
fn accepted(listener: &TcpListener) -> TcpStream {
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

fn joins(args: &[&str]) -> (Child, TcpListener) {
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

/// The exit code, and stderr.
fn ended(mut child: Child) -> (Option<i32>, String) {
    let mut said = String::new();
    child
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut said)
        .unwrap();
    (child.wait().unwrap().code(), said)
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
    say(stream, &Pack::Map(ack));
}

#[test]
fn a_stub_joins_a_runtime_as_a_provider() {
    let folder = folder();
    let script = file(folder.path(), "my.toml", SCRIPT);
    let recording = folder.path().join("joined.jsonl");
    let recording = recording.to_str().unwrap();
    let (child, listener) = joins(&["--script", &script, "-w", recording]);
    let mut runtime = accepted(&listener);
    let announce = heard(&mut runtime);
    assert_eq!(announce["type"], "announce");
    assert!(announce["args"][0]["namespaces"]["math"]["functions"]["add"].is_object());
    acknowledge(&mut runtime, &announce, true);
    // What the script says first comes now, and not before.
    assert_eq!(heard(&mut runtime)["type"], "log");
    for n in 0..3u8 {
        say(&mut runtime, &call("call", n + 1, "math.add", &[n.into()]));
        let answer = heard(&mut runtime);
        assert_eq!(
            (&answer["ok"], &answer["result"]),
            (&json!(true), &json!(n))
        );
    }
    say(&mut runtime, &call("call", 9, "math.no", &[]));
    assert_eq!(heard(&mut runtime)["error"]["code"], "FunctionNotFound");
    drop(runtime);
    let (code, said) = ended(child);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("connecting to tcp://127.0.0.1:"), "{said}");
    assert!(said.contains("3 requests\n"), "{said}");
    // What it recorded is the provider's own side, and answers the same again.
    let head = std::fs::read_to_string(recording).unwrap();
    assert!(
        head.lines()
            .next()
            .unwrap()
            .contains("\"connect\":\"tcp://"),
        "{head}"
    );
    let (child, listener) = joins(&["--from-recording", recording, "-q"]);
    let mut runtime = accepted(&listener);
    let announce = heard(&mut runtime);
    acknowledge(&mut runtime, &announce, true);
    for n in [2u8, 0] {
        say(&mut runtime, &call("call", 7, "math.add", &[n.into()]));
        assert_eq!(heard(&mut runtime)["result"], json!(n));
    }
    drop(runtime);
    assert_eq!(ended(child).0, Some(0));
}

#[test]
fn who_is_not_let_in_says_so() {
    let folder = folder();
    let script = file(folder.path(), "my.toml", SCRIPT);
    let (child, listener) = joins(&["--script", &script]);
    let mut runtime = accepted(&listener);
    let announce = heard(&mut runtime);
    acknowledge(&mut runtime, &announce, false);
    drop(runtime);
    let (code, said) = ended(child);
    assert_eq!(code, Some(1), "{said}");
    assert!(
        said.contains("announce was answered with Internal: frozen"),
        "{said}"
    );
    // Nobody listens.
    let (child, listener) = joins(&["--script", &script]);
    drop(listener);
    let (code, said) = ended(child);
    // The port may have been dialled before it was closed.
    assert!(
        code == Some(2) || said.contains("ended before `first`"),
        "{code:?} {said}"
    );
    for (args, want) in [
        (
            &["saikuro", "--connect", "tcp://127.0.0.1:1"][..],
            "nothing is offered",
        ),
        (
            &["sael", "--connect", "ws://127.0.0.1:1"],
            "--connect is saikuro's",
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
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(want), "{said}");
    }
}
