//! `wiretool send` and `wiretool replay` with HTTP servers that close the connection after each answer.

use crate::common::{self, Ran};
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};

use std::sync::{Arc, Mutex};
use std::time::Duration;

/// The way in which an answer announces the close.
#[derive(Clone, Copy, Debug)]
enum CloseMark {
    /// The answer has version HTTP/1.0.
    Http10,
    /// The answer has `Connection: close`.
    CloseOption,
    /// The answer has `Connection: close`, but the client must close.
    CloseOptionOnly,
    /// The answer has no length: the body ends with the connection.
    NoLength,
    /// The answer is an event stream.
    EventStream,
    /// The answer announces nothing, and the server does not close.
    Unmarked,
}

/// A server that answers everything. Returns its address and the methods of the requests on each connection.
fn serve(last: CloseMark) -> (String, Arc<Mutex<Vec<Vec<String>>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let asked = Arc::new(Mutex::new(Vec::new()));
    let asks = Arc::clone(&asked);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let n = {
                let mut all = asks.lock().unwrap();
                all.push(Vec::new());
                all.len() - 1
            };
            let asks = Arc::clone(&asks);
            std::thread::spawn(move || {
                let mut stream = stream.unwrap();
                stream
                    .set_read_timeout(Some(Duration::from_secs(10)))
                    .unwrap();
                let mut reader = BufReader::new(stream.try_clone().unwrap());
                while let Some(message) = posted(&mut reader) {
                    let method = message["method"].as_str().unwrap_or("?").to_owned();
                    asks.lock().unwrap()[n].push(method);
                    answer(&mut stream, &message, last);
                    if matches!(
                        last,
                        CloseMark::Http10
                            | CloseMark::CloseOption
                            | CloseMark::NoLength
                            | CloseMark::EventStream
                    ) {
                        return;
                    }
                }
            });
        }
    });
    (address, asked)
}

/// Reads the message of the next request, if there is one.
fn posted(reader: &mut BufReader<TcpStream>) -> Option<Value> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        if let Some(n) = line.strip_prefix("content-length: ") {
            length = n.trim().parse().unwrap();
        }
        if line == "\r\n" {
            let mut body = vec![0; length];
            reader.read_exact(&mut body).ok()?;
            return Some(serde_json::from_slice(&body).unwrap());
        }
    }
}

fn answer(stream: &mut TcpStream, message: &Value, last: CloseMark) {
    let result = match message["method"].as_str() {
        Some("initialize") => json!({"server_protocol_version": 1}),
        _ => json!({"components": []}),
    };
    let is_request = message["id"].is_string();
    let (status, mut body) = if is_request {
        let answer = json!({"jsonrpc": "2.0", "id": message["id"], "result": result});
        ("200 OK", answer.to_string())
    } else {
        ("202 Accepted", "\"\"".to_owned())
    };
    let length = format!("content-length: {}\r\n", body.len());
    let kind = "content-type: application/json\r\n";
    let (version, fields) = match last {
        CloseMark::Http10 => ("1.0", format!("{kind}{length}")),
        CloseMark::CloseOption | CloseMark::CloseOptionOnly => {
            ("1.1", format!("{kind}{length}Connection: Close\r\n"))
        }
        CloseMark::EventStream if is_request => {
            body = format!("data: {body}\n\n");
            let kind = "content-type: Text/Event-Stream; charset=utf-8\r\n";
            ("1.1", kind.to_owned())
        }
        CloseMark::NoLength | CloseMark::EventStream => ("1.1", kind.to_owned()),
        CloseMark::Unmarked => ("1.1", format!("{kind}{length}")),
    };
    write!(stream, "HTTP/{version} {status}\r\n{fields}\r\n{body}").unwrap();
}

fn run(args: &[&str], stdin: &str) -> Ran {
    common::run(common::wiretool().args(args), stdin)
}

const ALL_MARKS: [CloseMark; 6] = [
    CloseMark::Http10,
    CloseMark::CloseOption,
    CloseMark::CloseOptionOnly,
    CloseMark::NoLength,
    CloseMark::EventStream,
    CloseMark::Unmarked,
];

#[test]
fn send_reaches_servers_that_close() {
    let list = r#"{"jsonrpc":"2.0","id":"N","method":"components/list","params":{}}"#;
    let two = format!("{}\n{}\n", list.replace('N', "a"), list.replace('N', "b"));
    for last in ALL_MARKS {
        let (to, asked) = serve(last);
        let (code, out, err) = run(
            &["send", "stepflow", "-f", "json", "--connect", &to, "-"],
            &two,
        );
        assert_eq!((code, err.as_str()), (0, ""), "{last:?}: {out}");
        let ids: Vec<Value> = out
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap()["id"].clone())
            .collect();
        assert_eq!(ids, [json!("a"), json!("b")], "{last:?}: {out}");
        let asked = asked.lock().unwrap().clone();
        let all = [
            "initialize",
            "initialized",
            "components/list",
            "components/list",
        ];
        assert_eq!(asked.concat(), all, "{last:?}");
        let connections = if matches!(last, CloseMark::Unmarked) {
            1
        } else {
            4
        };
        let used = asked.iter().filter(|methods| !methods.is_empty());
        assert_eq!(used.count(), connections, "{last:?}");
    }
}

/// A server that names its session, and answers the closing DELETE with `status`.
fn serve_sessions(status: &'static str, failed: bool) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/mcp", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            std::thread::spawn(move || {
                let timeout = Some(Duration::from_secs(10));
                stream.set_read_timeout(timeout).unwrap();
                let mut reader = BufReader::new(stream.try_clone().unwrap());
                let mut start = String::new();
                while reader.read_line(&mut start).unwrap_or(0) > 0 {
                    let (status, body) = match &*start {
                        // The head has no body.
                        line if line.starts_with("DELETE") || line.starts_with("GET") => {
                            while reader.read_line(&mut start).unwrap_or(0) > 2 {}
                            (status, String::new())
                        }
                        _ => {
                            let message = posted(&mut reader).unwrap();
                            let result = match message["method"].as_str() {
                                Some("initialize") => {
                                    json!({"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}})
                                }
                                _ => {
                                    json!({"content": [{"type": "text", "text": "no"}], "isError": failed})
                                }
                            };
                            let answer =
                                json!({"jsonrpc": "2.0", "id": message["id"], "result": result});
                            if message["id"].is_null() {
                                ("202 Accepted", String::new())
                            } else {
                                ("200 OK", answer.to_string())
                            }
                        }
                    };
                    let length = body.len();
                    write!(stream, "HTTP/1.1 {status}\r\ncontent-type: application/json\r\nmcp-session-id: s1\r\ncontent-length: {length}\r\n\r\n{body}").unwrap();
                    start.clear();
                }
            });
        }
    });
    address
}

#[test]
fn servers_may_refuse_the_end_of_a_session() {
    for (status, failed, wanted) in [
        ("200 OK", false, 0),
        ("405 Method Not Allowed", false, 0),
        ("501 Not Implemented", false, 0),
        ("500 Internal Server Error", false, 1),
        ("405 Method Not Allowed", true, 1),
    ] {
        let to = serve_sessions(status, failed);
        let args = ["send", "mcp", "tools/call", "t", "--connect", &to];
        let (code, out, err) = run(&[&args[..], &["-f", "json"]].concat(), "");
        assert_eq!(code, wanted, "{status}, {failed}: {out}{err}");
        if status != "500 Internal Server Error" {
            assert_eq!(out.lines().count(), 1, "{out}");
        }
    }
}

#[test]
fn replay_reaches_servers_that_close() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let file = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let recording = file("one.jsonl");
    let (to, _) = serve(CloseMark::Unmarked);
    let (code, _, err) = run(
        &[
            "send",
            "stepflow",
            "components/list",
            "--connect",
            &to,
            "-w",
            &recording,
        ],
        "",
    );
    assert_eq!(code, 0, "{err}");
    for last in ALL_MARKS {
        let (to, asked) = serve(last);
        let again = file(&format!("{last:?}.jsonl"));
        let (code, out, err) = run(&["replay", &recording, "--connect", &to, "-w", &again], "");
        assert_eq!(code, 0, "{last:?}: {out}{err}");
        assert!(
            err.ends_with("3 sent, 2 answers compared, 0 differ\n"),
            "{last:?}: {err}"
        );
        let asked = asked.lock().unwrap().concat();
        assert_eq!(asked, ["initialize", "initialized", "components/list"]);
        // The recording is read again with the same result.
        let (code, out, err) = run(&["lint", &again], "");
        assert_eq!(code, 0, "{last:?}: {out}{err}");
        let (_, out, _) = run(&["decode", "-f", "json", &again], "");
        assert!(!out.contains("\"fault\""), "{last:?}: {out}");
        assert_eq!(
            out.matches("\"role\":\"response\"").count(),
            2,
            "{last:?}: {out}"
        );
    }
}

/// Connecting stops if the server never answers.
#[test]
fn close_without_answer_is_reported() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let to = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            drop(stream);
        }
    });
    for method in ["components/list", "initialize"] {
        let (code, _, err) = run(&["send", "stepflow", method, "--connect", &to], "");
        assert_eq!(code, 1, "{err}");
        assert!(err.contains("wiretool: the connection was "), "{err}");
    }
}
