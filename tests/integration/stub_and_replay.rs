//! Plays both sides of real sessions: a stub answers from a recording, and a replay of the same recording finds no
//! difference.
//!
//! Reads recordings that `tests/recordings.py` makes of the captures in `WIRETOOL_CAPTURES`. Prints a note if there are
//! none.

use crate::common::{self, recordings};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use std::collections::{BTreeMap, HashMap};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

/// Valid sessions that cannot be played, with the reason.
const SKIPPED: &[(&str, &str)] = &[
    (
        "oracle-real-executor-deep",
        "an answer is nested too deeply to be read",
    ),
    (
        "oracle-sdk-oracle-shutdown_spaces_as_in_doc",
        "nothing was asked",
    ),
    (
        "sael-synthetic-header-text",
        "its WebSocket messages hold another framing",
    ),
    (
        "saikuro-11-doc-shaped.1",
        "a channel is closed by the recording and by the protocol, where all is said at once",
    ),
    (
        "mcp-raw-stdio-memory-7",
        "the opening is refused, then repeated: a stub has one answer to each kind of hello",
    ),
    (
        "jsonrpc-ws-aria2",
        "it has messages over WebSocket and over HTTP, and replay sends all in one way",
    ),
];

/// Sessions that break a rule and are played all the same.
const BROKEN_BUT_PLAYED: &[&str] = &[
    "mcp-http-everything-nodev1",
    "jsonrpc-tcp-jayson",
    "jsonrpc-ws-aria2-calls",
];

/// A stub that listens. It is killed when this value is dropped.
pub struct Stub(Child, pub String);

impl Drop for Stub {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Stub {
    pub fn start(protocol: &str, scheme: &str, recording: &Path) -> Result<Self, String> {
        Self::start_with(protocol, scheme, recording, &[])
    }

    fn start_with(
        protocol: &str,
        scheme: &str,
        recording: &Path,
        flags: &[&str],
    ) -> Result<Self, String> {
        let mut child = common::wiretool()
            .args(["stub", protocol, "-q", "--from-recording"])
            .arg(recording)
            .args(["--listen", &format!("{scheme}://127.0.0.1:0")])
            .args(flags)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary runs");
        let mut stderr = BufReader::new(child.stderr.take().expect("a pipe"));
        // A stub over QUIC first prints its certificate.
        let mut lines = String::new();
        let address = loop {
            let before = lines.len();
            let read = stderr.read_line(&mut lines).expect("stderr is read");
            match lines[before..].trim().split_once("listening on ") {
                Some((_, address)) => break address.to_owned(),
                None if read == 0 => {
                    let _ = child.wait();
                    return Err(lines);
                }
                None => {}
            }
        };
        // The output is read, so that a full pipe does not block the process.
        std::thread::spawn(move || std::io::copy(&mut stderr, &mut std::io::sink()));
        let address = address.split(',').next().unwrap_or_default().to_owned();
        Ok(Self(child, address))
    }
}

/// The outcome of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum SessionOutcome {
    Played,
    /// It breaks rules of the document and some rules of real peers.
    Invalid,
    /// It is known not to be playable, or it holds no request.
    Skipped,
}

/// The minimum number of played sessions of each protocol. A smaller number means that valid sessions are classified as
/// unhealthy.
const MIN_PLAYED: &[(&str, usize)] = &[
    ("acp", 10),
    ("jsonrpc", 4),
    ("lsp", 11),
    ("mcp", 19),
    ("oracle", 51),
    ("sael", 14),
    ("saikuro", 3),
    ("stepflow", 1),
    ("telequick", 1),
];

/// The protocol of a session.
fn protocol_of(path: &Path) -> String {
    let name = path.file_stem().and_then(|name| name.to_str()).unwrap();
    name.split('-').next().unwrap().to_owned()
}

/// Returns the outcome, or a description of the failure.
fn play(path: &Path) -> Result<SessionOutcome, String> {
    let name = path.file_stem().and_then(|name| name.to_str()).unwrap();
    // Sessions that the document allows are played even if a real peer refuses them.
    let is_healthy = BROKEN_BUT_PLAYED.contains(&name)
        || ["both", "document"].iter().any(|dialect| {
            let mut lint = common::wiretool();
            lint.args(["lint", "-q", "--dialect", dialect]).arg(path);
            lint.output().expect("the binary runs").status.success()
        });
    if SKIPPED.iter().any(|(left, _)| *left == name) {
        return Ok(SessionOutcome::Skipped);
    }
    if !is_healthy {
        return Ok(SessionOutcome::Invalid);
    }
    let protocol = &protocol_of(path);
    let text = std::fs::read_to_string(path).unwrap();
    let head: serde_json::Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    let transport = head["transport"].as_str().unwrap();
    let is_stdio = transport == "stdio";
    // A session that ended before the client sent a message.
    if !text.contains(r#""dir":"c2s""#) {
        return Ok(SessionOutcome::Skipped);
    }
    let scheme = match protocol.as_str() {
        "sael" => "ws",
        "saikuro" if text.contains("GET /") => "ws",
        "stepflow" => "http",
        _ => transport,
    };
    let mut replay = common::wiretool();
    replay.arg("replay").arg(path).args(["--timeout", "20s"]);
    let _stub = if is_stdio {
        let binary = env!("CARGO_BIN_EXE_wiretool");
        replay.args(["--", binary, "stub", protocol, "-q", "--from-recording"]);
        replay.arg(path);
        None
    } else {
        let stub = Stub::start(protocol, scheme, path).map_err(|e| format!("{name}: {e}"))?;
        replay.args(["--connect", &stub.1]);
        Some(stub)
    };
    let output = replay.stdin(Stdio::null()).output();
    let output = output.expect("the binary runs");
    if output.status.success() {
        return Ok(SessionOutcome::Played);
    }
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (shown, sent) = (text(&output.stdout), text(&output.stderr));
    Err(format!("{name}: {}\n{shown}{sent}", output.status))
}

#[test]
fn valid_sessions_are_played_by_both_sides() {
    let Some(recordings) = recordings() else {
        return;
    };
    let files = std::fs::read_dir(recordings).unwrap();
    let mut files: Vec<PathBuf> = files.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let half = files.len().div_ceil(2).max(1);
    let all: Vec<(String, Result<SessionOutcome, String>)> = std::thread::scope(|scope| {
        let one = |path: &PathBuf| (protocol_of(path), play(path));
        let threads: Vec<_> = files
            .chunks(half)
            .map(|part| scope.spawn(move || part.iter().map(one).collect::<Vec<_>>()))
            .collect();
        threads
            .into_iter()
            .flat_map(|t| t.join().unwrap())
            .collect()
    });
    let mut counts: BTreeMap<(&str, SessionOutcome), usize> = BTreeMap::new();
    let mut wrong = Vec::new();
    for (protocol, came) in &all {
        match came {
            Ok(came) => *counts.entry((protocol, *came)).or_default() += 1,
            Err(why) => wrong.push(why.as_str()),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    for ((protocol, came), count) in &counts {
        println!("{protocol}: {count} {came:?}");
    }
    for (protocol, least) in MIN_PLAYED {
        let played = counts
            .get(&(protocol, SessionOutcome::Played))
            .copied()
            .unwrap_or_default();
        assert!(
            played >= *least,
            "{protocol}: {played} are played, of {counts:?}"
        );
    }
}

/// Makes a recording of lines with their directions.
fn recorded(name: &str, protocol: &str, lines: &[(&str, &str)]) -> PathBuf {
    let mut text = format!(
        "{{\"wiretool\":1,\"protocol\":\"{protocol}\",\"started\":\"2026-01-01T00:00:00Z\",\"transport\":\"stdio\"}}\n"
    );
    for (t, (dir, line)) in (1..).zip(lines) {
        let line = serde_json::to_string(&format!("{line}\n")).unwrap();
        text += &format!("{{\"t\":{t}000,\"conn\":1,\"dir\":\"{dir}\",\"text\":{line}}}\n");
    }
    let chunks = lines.len();
    text += &format!("{{\"t\":9000000,\"event\":\"end\",\"chunks\":{chunks},\"bytes\":{{}}}}\n");
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("both-{name}.jsonl"));
    std::fs::write(&path, text).unwrap();
    path
}

/// Returns the exit code, and stdout with stderr.
fn run(words: &[&str]) -> (i32, String) {
    let mut command = common::wiretool();
    let output = command.args(words).stdin(Stdio::null()).output().unwrap();
    let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
    text += &String::from_utf8_lossy(&output.stderr);
    (output.status.code().unwrap_or(-1), text)
}

const READY: (&str, &str) = (
    "s2c",
    r#"{"jsonrpc":"2.0","id":"first","method":"ready","params":null}"#,
);
const ACK: (&str, &str) = ("c2s", r#"{"jsonrpc":"2.0","id":"first","result":{}}"#);
const ASKED: (&str, &str) = (
    "c2s",
    r#"{"jsonrpc":"2.0","id":0,"method":"invoke","params":{"selector":"f","calldata":["0x1"]}}"#,
);
const NOTIFICATION: (&str, &str) = ("s2c", r#"{"jsonrpc":"2.0","id":0,"result":["0x2"]}"#);
const SECOND_CALL: (&str, &str) = (
    "c2s",
    r#"{"jsonrpc":"2.0","id":1,"method":"invoke","params":{"selector":"f","calldata":["0x3"]}}"#,
);
const THIRD_CALL: (&str, &str) = ("s2c", r#"{"jsonrpc":"2.0","id":1,"result":["0x4"]}"#);
/// A message that answers no request.
const REFUSED: (&str, &str) = (
    "s2c",
    r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"not read"}}"#,
);
const BYE: (&str, &str) = ("c2s", r#"{"jsonrpc":"2.0","method":"shutdown"}"#);

/// The replay adds and omits no message, and an oracle gets one request at a time.
#[test]
fn replayed_session_equals_the_recording() {
    for (name, lines) in [
        (
            "bye",
            &[
                READY,
                ACK,
                ASKED,
                NOTIFICATION,
                SECOND_CALL,
                THIRD_CALL,
                BYE,
            ][..],
        ),
        (
            "eof",
            &[READY, ACK, ASKED, NOTIFICATION, SECOND_CALL, THIRD_CALL],
        ),
        ("hello", &[READY, ACK]),
        ("refused", &[READY, ACK, ASKED, NOTIFICATION, REFUSED, BYE]),
    ] {
        let path = recorded(name, "oracle", lines);
        let path = path.to_str().unwrap();
        let again = path.replace(".jsonl", "-again.jsonl");
        let _ = std::fs::remove_file(&again);
        let binary = env!("CARGO_BIN_EXE_wiretool");
        let stub = [
            "--",
            binary,
            "stub",
            "oracle",
            "-q",
            "--from-recording",
            path,
        ];
        let (code, sent) = run(&[&["replay", path, "-w", &again][..], &stub].concat());
        assert_eq!(code, 0, "{name}: {sent}");
        let (code, sent) = run(&["diff", path, &again]);
        assert_eq!(code, 0, "{name}: {sent}");
        let (_, sent) = run(&["lint", &again]);
        assert!(!sent.contains("overlap"), "{name}: {sent}");
    }
}

/// Reverse calls belong to the request during which they were made, also if two requests are open.
#[test]
fn calls_of_server_are_replayed() {
    let execute = |n: u32| {
        format!(
            r#"{{"jsonrpc":"2.0","id":"5f6e7d8c-0000-4000-8000-00000000000{n}","method":"components/execute","params":{{"component":"/a","input":{{"n":{n}}}}}}}"#
        )
    };
    let put = |id: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":"{id}","method":"blobs/put","params":{{"data":{{"of":"{id}"}},"blob_type":"data"}}}}"#
        )
    };
    let stored = |id: &str, blob: &str| {
        let blob = blob.repeat(64);
        format!(r#"{{"jsonrpc":"2.0","id":"{id}","result":{{"blob_id":"{blob}"}}}}"#)
    };
    let (a, b) = (
        "7a6e7d8c-0000-4000-8000-00000000000a",
        "7b6e7d8c-0000-4000-8000-00000000000b",
    );
    let (one, blobs) = (execute(1), "a".repeat(64) + r#"",""# + &"b".repeat(64));
    let answer = format!(
        r#"{{"jsonrpc":"2.0","id":"5f6e7d8c-0000-4000-8000-000000000001","result":{{"output":{{"blobs":["{blobs}"]}}}}}}"#
    );
    let (put_a, put_b) = (put(a), put(b));
    let (stored_a, stored_b) = (stored(a, "a"), stored(b, "b"));
    let hello = r#"{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"runtime_protocol_version":1}}"#;
    let hi = r#"{"jsonrpc":"2.0","id":"i","result":{"server_protocol_version":1}}"#;
    let open = r#"{"jsonrpc":"2.0","method":"initialized","params":{}}"#;
    let lines = [
        ("c2s", hello),
        ("s2c", hi),
        ("c2s", open),
        ("c2s", &one),
        ("s2c", &put_a),
        ("s2c", &put_b),
        // Answered in the reverse order.
        ("c2s", &stored_b),
        ("c2s", &stored_a),
        ("s2c", &answer),
    ];
    let path = recorded("calls", "stepflow", &lines);
    let path = path.to_str().unwrap();
    let binary = env!("CARGO_BIN_EXE_wiretool");
    let stub = [
        "--",
        binary,
        "stub",
        "stepflow",
        "-q",
        "--from-recording",
        path,
    ];
    let (code, sent) = run(&[&["replay", path, "--timeout", "20s"][..], &stub].concat());
    assert_eq!(code, 0, "{sent}");
    assert!(
        sent.contains("5 sent, 4 answers compared, 0 differ"),
        "{sent}"
    );
}

/// Calls of a server have new ids, also those without parameters.
#[test]
fn calls_of_server_have_ids_of_one_sequence() {
    let initialize = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"roots":{},"sampling":{}},"clientInfo":{"name":"c","version":"1"}}}"#;
    let initialized = r#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}"#;
    let ready = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    let tool = |id| {
        format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"t{id}"}}}}"#
        )
    };
    let roots = r#"{"jsonrpc":"2.0","id":0,"method":"roots/list"}"#;
    let roots_are = r#"{"jsonrpc":"2.0","id":0,"result":{"roots":[]}}"#;
    let sample = r#"{"jsonrpc":"2.0","id":1,"method":"sampling/createMessage","params":{"messages":[],"maxTokens":9}}"#;
    let sampled = r#"{"jsonrpc":"2.0","id":1,"result":{"role":"assistant","content":{"type":"text","text":"a"},"model":"m"}}"#;
    let result = |id| format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[]}}}}"#);
    let (one, two) = (tool(1), tool(2));
    let (first, second) = (result(1), result(2));
    let lines = [
        ("c2s", initialize),
        ("s2c", initialized),
        ("c2s", ready),
        ("c2s", &one),
        ("s2c", roots),
        ("c2s", roots_are),
        ("s2c", &first),
        ("c2s", &two),
        ("s2c", sample),
        ("c2s", sampled),
        ("s2c", &second),
    ];
    plays(
        "calls-without-params",
        "mcp",
        &lines,
        "6 sent, 5 answers compared",
    );
}

/// Updates belong to the open turn, also if an earlier turn had a tool call with the same id.
#[test]
fn updates_belong_to_the_open_turn() {
    let prompt = |id, text| {
        format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"session/prompt","params":{{"sessionId":"s1","prompt":[{{"type":"text","text":"{text}"}}]}}}}"#
        )
    };
    let update = |title| {
        format!(
            r#"{{"jsonrpc":"2.0","method":"session/update","params":{{"sessionId":"s1","update":{{"sessionUpdate":"tool_call","toolCallId":"call_1","title":"{title}"}}}}}}"#
        )
    };
    let end = |id| format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"stopReason":"end_turn"}}}}"#);
    let (one, two) = (prompt(2, "a"), prompt(3, "b"));
    let (first, second) = (update("first"), update("second"));
    let text = r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"a"}}}}"#;
    let (one_ends, two_ends) = (end(2), end(3));
    let lines = [
        (
            "c2s",
            r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{}}}"#,
        ),
        (
            "s2c",
            r#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1,"agentCapabilities":{}}}"#,
        ),
        (
            "c2s",
            r#"{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/","mcpServers":[]}}"#,
        ),
        (
            "s2c",
            r#"{"jsonrpc":"2.0","id":1,"result":{"sessionId":"s1"}}"#,
        ),
        ("c2s", &one),
        ("s2c", &first),
        ("s2c", &one_ends),
        ("c2s", &two),
        ("s2c", text),
        ("s2c", &second),
        ("s2c", &two_ends),
    ];
    plays("turns", "acp", &lines, "4 sent, 7 answers compared");
}

/// Replays lines against a stub that plays them, over stdio.
fn plays(name: &str, protocol: &str, lines: &[(&str, &str)], counts: &str) {
    let path = recorded(name, protocol, lines);
    let path = path.to_str().unwrap();
    let binary = env!("CARGO_BIN_EXE_wiretool");
    let stub = [
        "--",
        binary,
        "stub",
        protocol,
        "-q",
        "--from-recording",
        path,
    ];
    let (code, sent) = run(&[&["replay", path, "--timeout", "20s"][..], &stub].concat());
    assert_eq!(code, 0, "{sent}");
    assert!(sent.contains(&format!("{counts}, 0 differ")), "{sent}");
}

/// A stub of a protocol with several framings has that of its recording.
#[test]
fn the_framing_of_a_stub_is_that_of_the_recording() {
    let framed = |text: &str| format!("Content-Length: {}\r\n\r\n{text}", text.len());
    let ask = framed(r#"{"jsonrpc":"2.0","id":1,"method":"add","params":[1,2]}"#);
    let answer = framed(r#"{"jsonrpc":"2.0","id":1,"result":3}"#);
    let lines = [
        serde_json::json!({"wiretool":1,"protocol":"jsonrpc","started":"2026-01-01T00:00:00Z","transport":"stdio"}),
        serde_json::json!({"t":1,"conn":1,"dir":"c2s","text":ask}),
        serde_json::json!({"t":2,"conn":1,"dir":"s2c","text":answer}),
        serde_json::json!({"t":3,"event":"end"}),
    ];
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("framing-of-stub.jsonl");
    let lines: Vec<String> = lines.iter().map(ToString::to_string).collect();
    let text = lines.join("\n") + "\n";
    std::fs::write(&path, text).unwrap();
    let (path, binary) = (path.to_str().unwrap(), env!("CARGO_BIN_EXE_wiretool"));
    let stub = [
        "--",
        binary,
        "stub",
        "jsonrpc",
        "-q",
        "--from-recording",
        path,
    ];
    let (code, sent) = run(&[&["replay", path, "--timeout", "20s"][..], &stub].concat());
    assert_eq!(code, 0, "{sent}");
    assert!(sent.contains("1 answer compared, 0 differ"), "{sent}");
}

/// `--strict` compares generated values of the peer, but the ids of this run are no difference of the peer.
#[test]
fn own_ids_are_no_strict_difference() {
    let ask = |id: u32| format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"echo","params":[{id}]}}"#);
    let answer = |id: u32| format!(r#"{{"jsonrpc":"2.0","id":{id},"result":[{id}]}}"#);
    let all = [ask(3), answer(3), ask(9), answer(9)];
    let lines: Vec<(&str, &str)> = ["c2s", "s2c", "c2s", "s2c"]
        .into_iter()
        .zip(all.iter().map(String::as_str))
        .collect();
    let path = recorded("strict", "jsonrpc", &lines);
    let path = path.to_str().unwrap();
    let binary = env!("CARGO_BIN_EXE_wiretool");
    let stub = [
        "--",
        binary,
        "stub",
        "jsonrpc",
        "-q",
        "--from-recording",
        path,
    ];
    let (code, sent) = run(&[&["replay", path, "--strict"][..], &stub].concat());
    assert_eq!(code, 0, "{sent}");
    assert!(sent.contains("2 answers compared, 0 differ"), "{sent}");
}

/// An error without an id answers the request of its exchange, also that of the opening. An answer to a callback is
/// posted on another connection if the exchange of its own is a stream.
#[test]
fn answers_over_http_belong_to_their_exchanges() {
    let opening = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#;
    let refused = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"Bad Request"}}"#;
    let list = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
    for (name, request) in [("opening", opening), ("request", list)] {
        let messages = [("c2s", 0, request), ("s2c", 400, refused)];
        let path = recorded_http(&format!("refused-{name}"), "mcp", &[(0, &messages)]);
        plays_http("mcp", &path, "1 sent, 1 answer compared");
    }
    let initialize = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{"fs":{"readTextFile":true}}}}"#;
    let initialized =
        r#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1,"agentCapabilities":{}}}"#;
    let new =
        r#"{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/","mcpServers":[]}}"#;
    let is_new = r#"{"jsonrpc":"2.0","id":1,"result":{"sessionId":"s1"}}"#;
    let prompt = r#"{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"s1","prompt":[]}}"#;
    let read = r#"{"jsonrpc":"2.0","id":0,"method":"fs/read_text_file","params":{"sessionId":"s1","path":"/a"}}"#;
    let text = r#"{"jsonrpc":"2.0","id":0,"result":{"content":"a"}}"#;
    let ended = r#"{"jsonrpc":"2.0","id":2,"result":{"stopReason":"end_turn"}}"#;
    let conns: [ExchangePart<'_>; 4] = [
        (
            0,
            &[
                ("c2s", 0, initialize),
                ("s2c", 200, initialized),
                ("c2s", 0, ""),
                ("s2c", 200, ""),
            ],
        ),
        (1, &[("c2s", 0, new), ("s2c", 202, "")]),
        (0, &[("event", 0, is_new)]),
        (1, &[("c2s", 0, prompt), ("s2c", 202, "")]),
    ];
    let rest: [ExchangePart<'_>; 3] = [
        (0, &[("event", 0, read)]),
        (1, &[("c2s", 0, text), ("s2c", 202, "")]),
        (0, &[("event", 0, ended)]),
    ];
    let all = [&conns[..], &rest].concat();
    let path = recorded_http("callback", "acp", &all);
    plays_http("acp", &path, "4 sent, 4 answers compared");
}

/// Some clients take only the status that the recorded server sends after a notification.
#[test]
fn a_notification_gets_the_recorded_status() {
    let tell = r#"{"jsonrpc":"2.0","method":"tell"}"#;
    let (ask, answer) = (
        r#"{"jsonrpc":"2.0","id":1,"method":"ask"}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":5}"#,
    );
    for (status, wanted) in [
        (200, "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n"),
        (202, "HTTP/1.1 202 Accepted\r\n"),
        (204, "HTTP/1.1 204 No Content\r\n\r\n"),
    ] {
        let told = [("c2s", 0, tell), ("s2c", status, " ")];
        let asked = [("c2s", 0, ask), ("s2c", 200, answer)];
        let name = format!("notified-{status}");
        let path = recorded_http(&name, "jsonrpc", &[(0, &told), (1, &asked)]);
        let stub = Stub::start("jsonrpc", "http", &path).unwrap();
        let address = stub.1.trim_start_matches("http://");
        let mut stream = std::net::TcpStream::connect(address).unwrap();
        let len = tell.len();
        let post = format!(
            "POST / HTTP/1.1\r\nhost: a\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: {len}\r\n\r\n{tell}"
        );
        stream.write_all(post.as_bytes()).unwrap();
        let mut response = String::new();
        stream.read_to_string(&mut response).unwrap();
        assert!(
            response
                .replace("connection: close\r\n", "")
                .starts_with(wanted),
            "{response}"
        );
    }
}

/// A status without a message answers a request: a stub sends it, and another status is a difference.
#[test]
fn a_request_that_http_refuses_is_answered_with_its_status() {
    let ask = |method: &str| format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}"}}"#);
    let (good, bad) = (ask("good"), ask("bad"));
    let record = |status: u16, text: &str| {
        let good = [
            ("c2s", 0, &*good),
            ("s2c", 200, r#"{"jsonrpc":"2.0","id":1,"result":5}"#),
        ];
        let bad = [("c2s", 0, &*bad), ("s2c", status, text)];
        let name = format!("status-{status}-{}", text.len());
        recorded_http(&name, "jsonrpc", &[(0, &good), (1, &bad)])
    };
    let texts = ["", "Internal error"];
    for text in texts {
        let (path, other) = (record(500, text), record(503, text));
        plays_http("jsonrpc", &path, "2 sent, 2 answers compared");
        let stub = Stub::start("jsonrpc", "http", &other).unwrap();
        let (path, other) = (path.to_str().unwrap(), other.to_str().unwrap());
        let (code, sent) = run(&["replay", path, "--timeout", "20s", "--connect", &stub.1]);
        assert_eq!(code, 1, "{sent}");
        assert!(sent.contains("(status)  500 → 503"), "{sent}");
        let (code, found) = run(&["diff", path, other]);
        assert_eq!(code, 1, "{found}");
        assert!(found.contains("(status)  500 → 503"), "{found}");
    }
    let [one, other] = ["Internal error", "Another error"].map(|text| record(500, text));
    let (code, found) = run(&["diff", one.to_str().unwrap(), other.to_str().unwrap()]);
    assert_eq!(code, 0, "the body is a text for people: {found}");
}

/// A GET that asks for no events, as of a health check, opens no event stream: messages before it are sent.
#[test]
fn a_health_check_does_not_end_a_session() {
    let ask = |id: u32| format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"echo","params":[{id}]}}"#);
    let answer = |id: u32| format!(r#"{{"jsonrpc":"2.0","id":{id},"result":[{id}]}}"#);
    let (asks, answers) = ([ask(1), ask(2)], [answer(1), answer(2)]);
    let check = [("health", 0, ""), ("s2c", 404, "")];
    let first = [("c2s", 0, &*asks[0]), ("s2c", 200, &*answers[0])];
    let second = [("c2s", 0, &*asks[1]), ("s2c", 200, &*answers[1])];
    let one = [&first[..], &check, &second].concat();
    let each: [ExchangePart<'_>; 3] = [(0, &first), (1, &check), (2, &second)];
    for (name, parts) in [("health-one", &[(0, &one[..])][..]), ("health-each", &each)] {
        let path = recorded_http(name, "jsonrpc", parts);
        plays_http("jsonrpc", &path, "2 sent, 2 answers compared");
    }
}

/// Many clients of HTTP open a connection for each request: a peer on stdio gets all requests on its only one.
#[test]
fn connections_of_http_are_one_on_stdio() {
    let ask = |id: u32| {
        format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/list","params":{{"cursor":"{id}"}}}}"#
        )
    };
    let answer = |id: u32| {
        format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"tools":[],"nextCursor":"{id}"}}}}"#)
    };
    let opening = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#;
    let opened = r#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}"#;
    let ready = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    let (asks, answers) = ([ask(1), ask(2)], [answer(1), answer(2)]);
    let parts: [ExchangePart<'_>; 4] = [
        (1, &[("c2s", 0, opening), ("s2c", 200, opened)]),
        (2, &[("c2s", 0, ready), ("s2c", 202, "")]),
        (3, &[("c2s", 0, &*asks[0]), ("s2c", 200, &*answers[0])]),
        (4, &[("c2s", 0, &*asks[1]), ("s2c", 200, &*answers[1])]),
    ];
    let path = recorded_http("each-request", "mcp", &parts);
    let path = path.to_str().unwrap();
    let stub = [
        "--",
        env!("CARGO_BIN_EXE_wiretool"),
        "stub",
        "mcp",
        "-q",
        "--from-recording",
        path,
    ];
    let (code, sent) = run(&[&["replay", path, "--timeout", "20s"][..], &stub].concat());
    assert_eq!(code, 0, "{sent}");
    assert!(
        sent.contains("4 sent, 3 answers compared, 0 differ"),
        "{sent}"
    );
}

/// Replays a recording against a stub that plays it, over HTTP.
fn plays_http(protocol: &str, path: &Path, counts: &str) {
    let stub = Stub::start(protocol, "http", path).unwrap();
    let path = path.to_str().unwrap();
    let (code, sent) = run(&["replay", path, "--timeout", "20s", "--connect", &stub.1]);
    assert_eq!(code, 0, "{sent}");
    assert!(sent.contains(&format!("{counts}, 0 differ")), "{sent}");
}

/// A connection, and messages on it with their direction and status.
type ExchangePart<'a> = (u32, &'a [(&'a str, u16, &'a str)]);

/// Makes a recording of HTTP. A request without a message is GET, and the answer to it opens an event stream; `health`
/// is a GET that asks for none.
fn recorded_http(name: &str, protocol: &str, parts: &[ExchangePart<'_>]) -> PathBuf {
    let mut text = format!(
        "{{\"wiretool\":1,\"protocol\":\"{protocol}\",\"started\":\"2026-01-01T00:00:00Z\",\"transport\":\"http\"}}\n"
    );
    let json = "Content-Type: application/json";
    let mut count = 0;
    for (conn, messages) in parts {
        for (dir, status, message) in *messages {
            let len = message.len();
            let (dir, bytes) = match (*dir, *status, len) {
                ("c2s", _, 0) => (
                    "c2s",
                    "GET /m HTTP/1.1\r\nHost: h\r\nAccept: text/event-stream\r\n\r\n".to_owned(),
                ),
                ("health", ..) => ("c2s", "GET /health HTTP/1.1\r\nHost: h\r\n\r\n".to_owned()),
                ("c2s", ..) => (
                    "c2s",
                    format!(
                        "POST /m HTTP/1.1\r\nHost: h\r\n{json}\r\nContent-Length: {len}\r\n\r\n{message}"
                    ),
                ),
                ("event", ..) => ("s2c", format!("data: {message}\n\n")),
                (_, 200, 0) => (
                    "s2c",
                    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n".to_owned(),
                ),
                (_, status, _) => (
                    "s2c",
                    format!(
                        "HTTP/1.1 {status} S\r\n{json}\r\nContent-Length: {len}\r\n\r\n{message}"
                    ),
                ),
            };
            count += 1;
            let bytes = serde_json::to_string(&bytes).unwrap();
            text += &format!(
                "{{\"t\":{count}000,\"conn\":{conn},\"dir\":\"{dir}\",\"text\":{bytes}}}\n"
            );
        }
    }
    text += &format!("{{\"t\":{count}999,\"event\":\"end\",\"chunks\":{count},\"bytes\":{{}}}}\n");
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("both-{name}.jsonl"));
    std::fs::write(&path, text).unwrap();
    path
}

/// An event follows the last request about its call, at the recorded distance, not the request for events.
#[test]
fn events_belong_to_the_request_about_their_call() {
    // Over QUIC each request has a stream, and events are on one that the server opens.
    let messages = [
        ("c2s", 1, 0, "StreamEvents client_id=me"),
        ("c2s", 2, 4, "Originate"),
        ("s2c", 3, 4, "OriginateResponse call_sid=CA01 status=QUEUED"),
        (
            "s2c",
            53,
            3,
            "CallEvent call_sid=CA01 client_id=me status=RINGING",
        ),
        ("c2s", 60, 8, "Terminate call_sid=CA01"),
        ("s2c", 61, 8, "TerminateResponse call_sid=CA01 status=OK"),
        (
            "s2c",
            91,
            3,
            "CallEvent call_sid=CA01 client_id=me status=COMPLETED",
        ),
    ];
    for transport in ["tcp", "quic"] {
        let path = recorded_calls("events", transport, &messages);
        events_keep_their_requests(transport, &path);
    }
}

/// Events of two calls share one stream. Without intervals they keep their order to the requests that were received.
#[test]
fn events_of_overlapping_calls_keep_their_order() {
    let messages = [
        ("c2s", 20, 2, "StreamEvents client_id=me"),
        ("c2s", 40, 0, "Originate call_sid=CA1 to=+491"),
        ("s2c", 60, 0, "OriginateResponse call_sid=CA1 status=OK"),
        ("s2c", 80, 3, "CallEvent call_sid=CA1 status=RINGING"),
        ("c2s", 100, 4, "Originate call_sid=CA2 to=+491"),
        ("s2c", 120, 4, "OriginateResponse call_sid=CA2 status=OK"),
        ("s2c", 140, 3, "CallEvent call_sid=CA2 status=RINGING"),
        ("s2c", 160, 3, "CallEvent call_sid=CA1 status=ANSWERED"),
        ("c2s", 180, 8, "Terminate call_sid=CA1"),
        ("s2c", 200, 8, "TerminateResponse call_sid=CA1 status=OK"),
        ("s2c", 220, 3, "CallEvent call_sid=CA1 status=COMPLETED"),
        ("s2c", 240, 3, "CallEvent call_sid=CA2 status=ANSWERED"),
        ("c2s", 260, 12, "Terminate call_sid=CA2"),
        ("s2c", 280, 12, "TerminateResponse call_sid=CA2 status=OK"),
        ("s2c", 300, 3, "CallEvent call_sid=CA2 status=COMPLETED"),
    ];
    for transport in ["tcp", "quic"] {
        let path = recorded_calls("overlapping", transport, &messages);
        let name = path.to_str().unwrap();
        for speed in ["1", "max"] {
            let own = ["--speed", speed];
            let stub = Stub::start_with("telequick", transport, &path, &own).unwrap();
            let trust = (transport == "quic").then_some("--insecure");
            let replay = ["replay", name, "--timeout", "20s", "--connect", &stub.1];
            let replay = replay.into_iter().chain(own).chain(trust);
            let (code, shown) = run(&replay.collect::<Vec<_>>());
            assert_eq!(code, 0, "{transport} {speed}: {shown}");
            assert!(
                shown.contains("5 sent, 10 answers compared, 0 differ"),
                "{transport} {speed}: {shown}"
            );
        }
    }
}

/// Makes a recording of telequick: the direction, the time in ms, the stream over QUIC and the words of each message.
fn recorded_calls(name: &str, transport: &str, messages: &[(&str, u32, u32, &str)]) -> PathBuf {
    let mut text = format!(
        "{{\"wiretool\":1,\"protocol\":\"telequick\",\"started\":\"2026-01-01T00:00:00Z\",\"transport\":\"{transport}\"}}"
    );
    for (dir, t, stream, words) in messages {
        let mut command = common::wiretool();
        command.args(["make", "telequick", "--to", "raw"]);
        let bytes = command.args(words.split(' ')).output().unwrap().stdout;
        let bytes = BASE64.encode(bytes);
        let stream = match transport {
            "quic" => format!("\"stream\":{stream},"),
            _ => String::new(),
        };
        text += &format!(
            "\n{{\"t\":{t}000000,\"conn\":1,\"dir\":\"{dir}\",{stream}\"b64\":\"{bytes}\"}}"
        );
    }
    let (end, count) = (messages.last().unwrap().1 + 1, messages.len());
    text +=
        &format!("\n{{\"t\":{end}000000,\"event\":\"end\",\"chunks\":{count},\"bytes\":{{}}}}\n");
    let path =
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("both-{name}-{transport}.jsonl"));
    std::fs::write(&path, text).unwrap();
    path
}

fn events_keep_their_requests(transport: &str, path: &Path) {
    let name = path.to_str().unwrap();
    let stub = ["stub", "telequick", "--from-recording", name];
    let (code, script) = run(&[&stub[..], &["--print-script"]].concat());
    assert_eq!(code, 0, "{script}");
    let rules = script.split("[[on]]").skip(1);
    let events = rules.map(|rule| rule.matches("\"struct\":\"CallEvent\"").count());
    assert_eq!(events.collect::<Vec<_>>(), [0, 1, 1], "{script}");
    for speed in ["1", "max"] {
        let stub = Stub::start_with("telequick", transport, path, &["--speed", speed]).unwrap();
        // The call is ended after its first event.
        let trust = (transport == "quic").then_some("--insecure");
        let again = name.replace(".jsonl", "-again.jsonl");
        let _ = std::fs::remove_file(&again);
        let replay = [
            "replay",
            name,
            "--timeout",
            "20s",
            "--order",
            "recorded",
            "-w",
            &again,
            "--connect",
            &stub.1,
        ];
        let (code, shown) = run(&replay.into_iter().chain(trust).collect::<Vec<_>>());
        assert_eq!(code, 0, "{transport} {speed}: {shown}");
        assert!(
            shown.contains("3 sent, 4 answers compared, 0 differ"),
            "{transport} {speed}: {shown}"
        );
        // Each event keeps its distance to the answer before it: 50 ms and 30 ms.
        let took = time_between(&again, "c2s", "s2c");
        assert!(
            speed == "max" || took >= 80_000_000,
            "{transport}: {took} ns"
        );
    }
}

/// Returns the time from the first chunk of one direction to the last of the other, in ns.
fn time_between(recording: &str, first: &str, last: &str) -> u64 {
    let text = std::fs::read_to_string(recording).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
    let chunks: Vec<serde_json::Value> = lines.collect();
    let time = |chunk: &&serde_json::Value| chunk["t"].as_u64().unwrap();
    let of =
        |dir| move |chunk: &&serde_json::Value| chunk["dir"] == dir && chunk["event"].is_null();
    let began = chunks.iter().find(of(first)).as_ref().map(time).unwrap();
    let ended = chunks.iter().rfind(of(last)).as_ref().map(time).unwrap();
    ended - began
}

/// Makes a recording of WebSocket messages with their directions, with a connection for each list.
fn recorded_messages(name: &str, protocol: &str, conns: &[&[(&str, &str)]]) -> PathBuf {
    let head = "GET / HTTP/1.1\r\nHost: h\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
                Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
    let answer = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
                  Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n";
    let frame = |dir: &str, message: &str| {
        // The mask of a client is zero.
        let (bit, mask): (u8, &[u8]) = if dir == "c2s" {
            (0x80, &[0; 4])
        } else {
            (0, &[])
        };
        let len = u8::try_from(message.len()).ok().filter(|len| *len < 126);
        let len = bit | len.expect("a short message");
        [&[0x81, len][..], mask, message.as_bytes()].concat()
    };
    let mut text = format!(
        "{{\"wiretool\":1,\"protocol\":\"{protocol}\",\"started\":\"2026-01-01T00:00:00Z\",\"transport\":\"ws\"}}\n"
    );
    let (mut t, mut count) = (0, 0);
    for (conn, messages) in (1..).zip(conns) {
        let mut chunks = vec![("c2s", head.into()), ("s2c", answer.into())];
        chunks.extend(
            messages
                .iter()
                .map(|(dir, message)| (*dir, frame(dir, message))),
        );
        for (dir, bytes) in chunks {
            (t, count) = (t + 1, count + 1);
            let bytes = BASE64.encode(&bytes);
            text += &format!(
                "{{\"t\":{t}000,\"conn\":{conn},\"dir\":\"{dir}\",\"b64\":\"{bytes}\"}}\n"
            );
        }
        t += 1;
        text += &format!("{{\"t\":{t}000,\"conn\":{conn},\"event\":\"close\"}}\n");
    }
    text += &format!("{{\"t\":{t}999,\"event\":\"end\",\"chunks\":{count},\"bytes\":{{}}}}\n");
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("both-{name}.jsonl"));
    std::fs::write(&path, text).unwrap();
    path
}

/// Frames that are sent once more come before HEY, which counts them.
#[test]
fn resumed_session_is_answered_and_replayed() {
    resume("result", r#"{"v":1,"kind":"RES","seq":2,"result":2}"#);
    resume(
        "refused",
        r#"{"v":1,"kind":"ERR","seq":2,"code":"INTERNAL","message":"x"}"#,
    );
}

fn resume(name: &str, second_answer: &str) {
    let first = [
        (
            "c2s",
            r#"{"v":1,"kind":"HEY","agent":{"id":"a","kind":"agent"}}"#,
        ),
        (
            "s2c",
            r#"{"v":1,"kind":"HEY","session_id":"ses_0123456789abcdef","session_ttl":3600}"#,
        ),
        (
            "c2s",
            r#"{"v":1,"kind":"INV","seq":1,"tool":"t","args":{}}"#,
        ),
        ("s2c", r#"{"v":1,"kind":"RES","seq":1,"result":1}"#),
        (
            "c2s",
            r#"{"v":1,"kind":"INV","seq":2,"tool":"t","args":{"n":2}}"#,
        ),
        ("s2c", second_answer),
    ];
    let second = [
        (
            "c2s",
            r#"{"v":1,"kind":"RSM","session_id":"ses_0123456789abcdef","last_seq_received":1}"#,
        ),
        ("s2c", second_answer),
        (
            "s2c",
            r#"{"v":1,"kind":"HEY","resumed":true,"session_id":"ses_0123456789abcdef","replayed":1}"#,
        ),
        (
            "c2s",
            r#"{"v":1,"kind":"INV","seq":3,"tool":"t","args":{"n":3}}"#,
        ),
        ("s2c", r#"{"v":1,"kind":"RES","seq":3,"result":3}"#),
    ];
    let path = recorded_messages(&format!("resumed-{name}"), "sael", &[&first, &second]);
    let stub = Stub::start("sael", "ws", &path).unwrap();
    let path = path.to_str().unwrap();
    let again = path.replace(".jsonl", "-again.jsonl");
    let _ = std::fs::remove_file(&again);
    let (code, sent) = run(&["replay", path, "--connect", &stub.1, "-w", &again]);
    assert_eq!(code, 0, "{sent}");
    let (_, shown) = run(&["decode", "-f", "json", "--dir", "s2c", &again]);
    let after = shown.split_once("\"resumed\":true").expect("HEY").0;
    let answers = ["RES", "ERR"].map(|kind| {
        let kind = format!("\"kind\":\"{kind}\",\"role\"");
        after.matches(&kind).count()
    });
    assert_eq!(answers.iter().sum::<usize>(), 3, "{shown}");
    assert!(shown.contains("\"replayed\":1"), "{shown}");
    let (_, found) = run(&["lint", &again]);
    assert!(!found.contains("error"), "{found}");
}

/// What the first connection did is not captured, or the server refuses to resume although the stub could.
#[test]
fn resume_is_answered_as_recorded() {
    const HEY: (&str, &str) = (
        "c2s",
        r#"{"v":1,"kind":"HEY","agent":{"id":"a","kind":"agent"}}"#,
    );
    const SESSION: (&str, &str) = (
        "s2c",
        r#"{"v":1,"kind":"HEY","session_id":"ses_0123456789abcdef","session_ttl":3600}"#,
    );
    const RESUME: (&str, &str) = (
        "c2s",
        r#"{"v":1,"kind":"RSM","session_id":"ses_0123456789abcdef","last_seq_received":1}"#,
    );
    const OTHER: (&str, &str) = (
        "s2c",
        r#"{"v":1,"kind":"HEY","session_id":"ses_fedcba9876543210","session_ttl":3600}"#,
    );
    const RESUMED: (&str, &str) = (
        "s2c",
        r#"{"v":1,"kind":"HEY","resumed":true,"session_id":"ses_0123456789abcdef","replayed":2}"#,
    );
    const EXPIRED: (&str, &str) = (
        "s2c",
        r#"{"v":1,"kind":"ERR","seq":0,"code":"SESSION_EXPIRED","message":"gone"}"#,
    );
    let asks = r#"{"v":1,"kind":"INV","seq":4,"tool":"t","args":{}}"#;
    let asked = [
        ("c2s", asks),
        ("s2c", r#"{"v":1,"kind":"RES","seq":4,"result":1}"#),
    ];
    let missed = [
        ("s2c", r#"{"v":1,"kind":"RES","seq":2,"result":2}"#),
        (
            "s2c",
            r#"{"v":1,"kind":"ERR","seq":3,"code":"INTERNAL","message":"x"}"#,
        ),
    ];
    let alone = [&[RESUME][..], &missed, &[RESUMED], &asked].concat();
    let refused = [&[HEY, SESSION][..], &asked].concat();
    let other = [&[HEY, OTHER][..], &asked].concat();
    let ask =
        |seq: u32| format!(r#"{{"v":1,"kind":"INV","seq":{seq},"tool":"t","args":{{"n":{seq}}}}}"#);
    let open: Vec<String> = (1..=3).map(ask).collect();
    let answer = r#"{"v":1,"kind":"RES","seq":1,"result":1}"#;
    let left = [
        HEY,
        SESSION,
        ("c2s", &open[0]),
        ("s2c", answer),
        ("c2s", &open[1]),
        ("c2s", &open[2]),
    ];
    for (name, conns) in [
        ("resumed-answers", &[&left[..], &alone][..]),
        ("resumed-alone", &[&alone]),
        ("resume-refused", &[&refused, &[RESUME, EXPIRED]]),
        ("resume-refused-alone", &[&[RESUME, EXPIRED], &other]),
    ] {
        let path = recorded_messages(name, "sael", conns);
        let stub = Stub::start("sael", "ws", &path).unwrap();
        let path = path.to_str().unwrap();
        let again = path.replace(".jsonl", "-again.jsonl");
        let _ = std::fs::remove_file(&again);
        let (code, sent) = run(&["replay", path, "--connect", &stub.1, "-w", &again]);
        assert_eq!(code, 0, "{name}: {sent}");
        assert!(sent.contains(" 0 differ"), "{name}: {sent}");
        let (_, shown) = run(&["decode", "-f", "line", "--dir", "s2c", &again]);
        let answers = ["← RES", "← ERR", "← HEY"].map(|kind| shown.matches(kind).count());
        let wanted = conns.iter().flat_map(|conn| conn.iter());
        assert_eq!(
            answers.iter().sum::<usize>(),
            wanted.filter(|(dir, _)| *dir == "s2c").count(),
            "{name}: {shown}"
        );
        let (_, found) = run(&["lint", &again]);
        assert!(!found.contains("error"), "{name}: {found}");
    }
}

/// A server can crash that sends to a client which is gone.
#[test]
fn replay_ends_open_calls_and_subscriptions() {
    let messages = [
        (
            "c2s",
            r#"{"v":1,"kind":"HEY","agent":{"id":"a","kind":"agent"},"supports":{"streaming":true,"pipelines":true,"delta":true}}"#,
        ),
        (
            "s2c",
            r#"{"v":1,"kind":"HEY","session_id":"s-1","agent":{"id":"srv","kind":"server"}}"#,
        ),
        ("c2s", r#"{"v":1,"kind":"SUB","seq":1,"topic":"t"}"#),
        (
            "s2c",
            r#"{"v":1,"kind":"RES","seq":1,"subscriptionId":"sub-1"}"#,
        ),
        ("s2c", r#"{"v":1,"kind":"EVT","seq":1,"event":1}"#),
        (
            "c2s",
            r#"{"v":1,"kind":"INV","seq":2,"tool":"slow","args":{}}"#,
        ),
    ];
    let path = recorded_messages("open-calls", "sael", &[&messages]);
    let stub = Stub::start("sael", "ws", &path).unwrap();
    let path = path.to_str().unwrap();
    let again = path.replace(".jsonl", "-again.jsonl");
    let _ = std::fs::remove_file(&again);
    let (code, sent) = run(&["replay", path, "--connect", &stub.1, "-w", &again]);
    assert_eq!(code, 0, "{sent}");
    let (_, shown) = run(&["decode", "-f", "json", "--dir", "c2s", &again]);
    for kind in ["UNS", "BYE"] {
        assert!(shown.contains(&format!("\"kind\":\"{kind}\"")), "{shown}");
    }
}

/// A late answer shortens no pause after it.
#[test]
fn pauses_are_kept_after_a_late_answer() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: String| common::file(folder.path(), name, text);
    let line = |ms: u64, dir: &str, message: &str| {
        format!(
            "{{\"t\":{},\"conn\":1,\"dir\":\"{dir}\",\"text\":{}}}\n",
            ms * 1_000_000,
            serde_json::json!(format!("{message}\n"))
        )
    };
    let note = |name: &str| format!(r#"{{"jsonrpc":"2.0","method":"{name}"}}"#);
    let recording = [
        "{\"wiretool\":1,\"protocol\":\"jsonrpc\",\"started\":\"2026-01-01T00:00:00Z\",\"transport\":\"stdio\"}\n".to_owned(),
        line(0, "c2s", r#"{"jsonrpc":"2.0","id":1,"method":"a"}"#),
        line(1, "s2c", r#"{"jsonrpc":"2.0","id":1,"result":1}"#),
        line(2, "c2s", &note("first")),
        line(82, "c2s", &note("second")),
    ];
    let recording = file("session.jsonl", recording.concat());
    let script = file(
        "slow.toml",
        "[[on]]\nmatch = 'subject=a'\ndelay = \"150ms\"\nresult = 1\n".to_owned(),
    );
    let again = folder
        .path()
        .join("again.jsonl")
        .to_str()
        .unwrap()
        .to_owned();
    let mut replay = common::wiretool();
    replay.args(["replay", "--speed", "1", "-w", &again, &recording, "--"]);
    replay.arg(env!("CARGO_BIN_EXE_wiretool"));
    replay.args(["stub", "jsonrpc", "-q", "--script", &script]);
    let (code, out, err) = common::run(&mut replay, "");
    assert_eq!(code, 0, "{out}{err}");
    let mut times = HashMap::new();
    for line in std::fs::read_to_string(&again).unwrap().lines() {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        for name in ["first", "second"] {
            if line["text"]
                .as_str()
                .is_some_and(|text| text.contains(name))
            {
                times.insert(name, line["t"].as_u64().unwrap());
            }
        }
    }
    let pause = times["second"] - times["first"];
    // A recorded time is that at which the bytes were seen, so the pause between two of them can be shorter than that
    // between the writes. Without the pause they are microseconds apart.
    assert!(pause >= 40_000_000, "{pause} ns");
}

/// An agent over HTTP accepts requests, and answers them on the event stream that GET opens.
#[test]
fn answers_of_agents_over_http_are_events_of_a_stream() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/acp/http.jsonl");
    let stub = Stub::start("acp", "http", &path).unwrap_or_else(|error| panic!("{error}"));
    let folder = tempfile::tempdir().unwrap();
    let again = folder.path().join("again.jsonl");
    let mut replay = common::wiretool();
    replay
        .arg("replay")
        .arg(&path)
        .args(["--connect", &stub.1, "-w"]);
    let (code, out, err) = common::run(replay.arg(&again), "");
    assert_eq!(code, 0, "{out}{err}");
    assert!(
        err.contains("3 answers compared") || err.contains("4 answers compared"),
        "{err}"
    );
    let again = std::fs::read_to_string(again).unwrap();
    assert!(!again.contains("405 Method"), "{again}");
    assert_eq!(again.matches("HTTP/1.1 202 Accepted").count(), 2, "{again}");
}
