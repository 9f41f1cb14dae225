//! Answers that come, but that their requester does not receive: the request has no answer, and lint names the cause.

use crate::common;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::process::Stdio;

/// A recording, and what lint says about it. Each line of the script is a direction (`>` to the server) and bytes, with
/// `$` for a line end and `|` for that of a header, or `end` for the end of a direction. `code` and `signal` end the process,
/// and `wait` is two seconds.
struct Session {
    name: &'static str,
    protocol: &'static str,
    script: &'static str,
    /// Parts of the output.
    says: &'static [&'static str],
    /// No part of the output.
    omits: &'static [&'static str],
}

const SESSIONS: &[Session] = &[
    Session {
        name: "an answer without line end, and the end of its direction",
        protocol: "mcp",
        script: r#"
> {"jsonrpc":"2.0","id":1,"method":"ping"}$
< {"jsonrpc":"2.0","id":1,"result":{}}
> {"jsonrpc":"2.0","method":"notifications/initialized"}$
< end"#,
        says: &[
            "ping (1) has no answer: its answer, #2, has no line end (send 0x0a after it)",
            "the server must send it",
            "1 unanswered",
        ],
        omits: &[],
    },
    Session {
        name: "an answer without line end, and the other direction goes on",
        protocol: "acp",
        script: r#"
> {"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/","mcpServers":[]}}$
< {"jsonrpc":"2.0","id":1,"result":{"sessionId":"s"}}
> {"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s"}}$"#,
        says: &["its answer, #2, has no line end"],
        omits: &[],
    },
    Session {
        name: "the recording ends with an answer without line end",
        protocol: "mcp",
        script: r#"
> {"jsonrpc":"2.0","id":1,"method":"ping"}$
< {"jsonrpc":"2.0","id":1,"result":{}}"#,
        says: &["nothing found"],
        omits: &["no answer", "line end"],
    },
    Session {
        name: "an answer with a header to a client that sends lines",
        protocol: "mcp",
        script: r#"
> {"jsonrpc":"2.0","id":1,"method":"ping"}$
< Content-Length: 36||{"jsonrpc":"2.0","id":1,"result":{}}
> {"jsonrpc":"2.0","method":"notifications/initialized"}$
< end"#,
        says: &[
            "this is a Content-Length header",
            "its answer, #4, has no line end",
        ],
        omits: &[],
    },
    Session {
        name: "text behind an answer",
        protocol: "mcp",
        script: r#"
> {"jsonrpc":"2.0","id":1,"method":"ping"}$
< {"jsonrpc":"2.0","id":1,"result":{}} done$
> {"jsonrpc":"2.0","method":"notifications/initialized"}$"#,
        says: &[
            "ping (1) has no answer: its answer, #1, cannot be read",
            "the server must send it — its answer, #1, cannot be read",
        ],
        omits: &[],
    },
    Session {
        name: "the recording ends inside an answer",
        protocol: "mcp",
        script: r#"
> {"jsonrpc":"2.0","id":1,"method":"ping"}$
< {"jsonrpc":"2.0","id":1,"result":{"#,
        says: &["got the end"],
        omits: &["no answer", "1 unanswered"],
    },
    Session {
        name: "two messages on one line",
        protocol: "jsonrpc",
        script: r#"
> {"jsonrpc":"2.0","id":1,"method":"a"}$
> {"jsonrpc":"2.0","id":2,"method":"a"}$
< {"jsonrpc":"2.0","id":1,"result":1}{"jsonrpc":"2.0","id":2,"result":1}$
> {"jsonrpc":"2.0","id":3,"method":"a"}$
< {"jsonrpc":"2.0","id":3,"result":1}$"#,
        says: &[
            "a (1) has no answer: its answer, #2, cannot be read",
            "2 unanswered",
        ],
        omits: &[],
    },
    Session {
        name: "a client that gives up because its answer cannot be read",
        protocol: "acp",
        script: r#"
> {"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/","mcpServers":[]}}$
< {"jsonrpc":"2.0","id":1,"result":{"sessionId":"s"},}$
wait
> {"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":1}}$"#,
        says: &["is cancelled by #2 after 2.0 s; its answer, #1, cannot be read"],
        omits: &[],
    },
    Session {
        name: "a server that dies inside its answer",
        protocol: "lsp",
        script: r#"
> Content-Length: 44||{"jsonrpc":"2.0","id":1,"method":"shutdown"}
< Content-Length: 60||{"jsonrpc":"2.0","id":1,"result":[1
< end"#,
        says: &["its answer, #1, ends too early", "1 unanswered"],
        omits: &[],
    },
    Session {
        name: "a body that is cut, and the next header inside of its length",
        protocol: "lsp",
        script: r#"
> Content-Length: 44||{"jsonrpc":"2.0","id":1,"method":"shutdown"}
> Content-Length: 44||{"jsonrpc":"2.0","id":2,"method":"shutdown"}
< Content-Length: 60||{"jsonrpc":"2.0","id":1,"result":["aContent-Length: 38||{"jsonrpc":"2.0","id":2,"result":null}
> Content-Length: 33||{"jsonrpc":"2.0","method":"exit"}
< end"#,
        says: &[
            "wanted 60 bytes after the header, got 36 bytes before the next header",
            "a header begins inside of it, at offset 58",
            "#0 c1 → request shutdown  id 1",
            "its answer, #2, cannot be read",
            "1 unanswered",
        ],
        omits: &["id 2 "],
    },
    Session {
        name: "requests after a frame of the client with a wrong length",
        protocol: "lsp",
        script: r#"
> Content-Length: 44||{"jsonrpc":"2.0","id":1,"method":"shutdown"}
< Content-Length: 38||{"jsonrpc":"2.0","id":1,"result":null}
> Content-Length: 40||{"jsonrpc":"2.0","id":2,"method":"shutdown"}
> Content-Length: 44||{"jsonrpc":"2.0","id":3,"method":"shutdown"}"#,
        says: &[
            "id 3  the server must send it — it follows the broken frame #2, so it may not have been read",
        ],
        omits: &[],
    },
    Session {
        name: "an HTTP response without a message",
        protocol: "mcp",
        script: r#"
> POST /mcp HTTP/1.1|host: a|content-length: 40||{"jsonrpc":"2.0","id":1,"method":"ping"}
< HTTP/1.1 202 Accepted|content-length: 0||"#,
        says: &["its response, #1, has status 202 and no message"],
        omits: &[],
    },
    Session {
        name: "a message that is posted to the older transport",
        protocol: "mcp",
        script: r#"
> POST /messages?sessionId=a HTTP/1.1|host: a|content-length: 40||{"jsonrpc":"2.0","id":1,"method":"ping"}
< HTTP/1.1 202 Accepted|content-length: 0||"#,
        says: &["1 unanswered"],
        omits: &["its response"],
    },
    Session {
        name: "an error without id in the response to a request",
        protocol: "jsonrpc",
        script: r#"
> POST / HTTP/1.1|host: a|content-length: 40||{"jsonrpc":"2.0","id":1,"method":"ping"}
< HTTP/1.1 200 OK|content-length: 75||{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Invalid req"}}"#,
        says: &["in 2 messages"],
        omits: &["unanswered", "no answer"],
    },
    Session {
        name: "a length of an HTTP body that counts characters",
        protocol: "mcp",
        script: r#"
> POST /mcp HTTP/1.1|host: a|content-length: 40||{"jsonrpc":"2.0","id":1,"method":"ping"}
< HTTP/1.1 200 OK|content-type: application/json|content-length: 43||{"jsonrpc":"2.0","id":1,"result":{"a":"ü"}}"#,
        says: &[
            "the body ends after 43 bytes, as Content-Length says: perhaps it is too small, or counts characters instead of bytes",
        ],
        omits: &[],
    },
    Session {
        name: "a process that a signal ends",
        protocol: "mcp",
        script: r#"
> {"jsonrpc":"2.0","id":1,"method":"ping"}$
signal 9"#,
        says: &["the connection is closed (signal 9 has ended the process)"],
        omits: &[],
    },
    Session {
        name: "a process that exits with a status",
        protocol: "acp",
        script: r#"
> {"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/","mcpServers":[]}}$
code 3"#,
        says: &["the connection is closed (the process has exited with status 3)"],
        omits: &[],
    },
    Session {
        name: "an id of another type",
        protocol: "lsp",
        script: r#"
> Content-Length: 44||{"jsonrpc":"2.0","id":1,"method":"shutdown"}
< Content-Length: 40||{"jsonrpc":"2.0","id":"1","result":null}
> end"#,
        says: &[
            "the id is \"1\", but the request has 1",
            "its answer, #1, has its id as another type",
            "1 unanswered",
        ],
        omits: &[],
    },
];

/// Writes the recording of a session; returns what lint says about it.
fn lint(number: usize, session: &Session) -> String {
    let header = json!({"wiretool": 1, "protocol": session.protocol, "started": "2026-01-01T00:00:00.000000000Z",
        "transport": "stdio", "argv": ["peer"]});
    let mut text = format!("{header}\n");
    let mut time = 1_000_000;
    let mut write = |mut line: Value, time: u64| {
        line["t"] = json!(time);
        line["conn"] = json!(1);
        writeln!(text, "{line}").expect("a string takes text");
    };
    write(json!({"event": "open"}), 0);
    for line in session.script.lines().filter(|line| !line.is_empty()) {
        let Some((way, bytes)) = line.split_once(' ') else {
            time += 2_000_000_000;
            continue;
        };
        if let Ok(number) = bytes.parse::<u64>() {
            write(json!({"event": "exit", way: number}), time);
            continue;
        }
        let dir = if way == ">" { "c2s" } else { "s2c" };
        let mut bytes = bytes.replace('|', "\r\n");
        if let Some(whole) = bytes.strip_suffix('$') {
            bytes = format!("{whole}\n");
        }
        match bytes.as_str() {
            "end" => write(json!({"event": "eof", "dir": dir}), time),
            bytes => write(json!({"dir": dir, "text": bytes}), time),
        }
        time += 1_000_000;
    }
    let path = common::temporary().join(format!("unread-{number}.jsonl"));
    std::fs::write(&path, text).expect("the recording is written");
    let mut lint = common::wiretool();
    lint.arg("lint").arg(&path).stdin(Stdio::null());
    let output = lint.output().expect("lint runs");
    let both = [output.stdout, output.stderr].concat();
    String::from_utf8(both).expect("UTF-8")
}

#[test]
fn a_request_whose_answer_is_not_received_has_none() {
    for (number, session) in SESSIONS.iter().enumerate() {
        let said = lint(number, session);
        for part in session.says {
            assert!(said.contains(part), "{}: {part}\n{said}", session.name);
        }
        for part in session.omits {
            assert!(!said.contains(part), "{}: {part}\n{said}", session.name);
        }
    }
}
