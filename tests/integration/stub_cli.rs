//! `wiretool stub`: the oracle with an executor that follows the real one, and the other protocols with hand-written
//! clients.
//!
//! Rules of the oracle's document, and the tests of them:
//!
//! | rule | what it says | test |
//! |---|---|---|
//! | A1, A2 | `stdio:` and a command, split as a shell would | `connection_string_starts_one_process` |
//! | T1, T2, T4 | stdout and stdin, one message per line | `oracle_answers_line_by_line` |
//! | T3 | the first byte is `{` | `oracle_answers_line_by_line`, `each_misbehaviour_has_its_result` |
//! | T5 | stderr is free for logs | `logs_are_on_stderr` |
//! | E1 | a failing oracle fails the call, not the program | `each_misbehaviour_has_its_result`, `errors_reach_cairo` |
//! | P1, P2 | one process for each connection string | `connection_string_starts_one_process` |
//! | P3 | a failed connection is tried again | `failed_start_is_retried` |
//! | R1, R2, R5 | `ready`, acknowledged with `{}`; nothing is sent before | `oracle_answers_line_by_line` |
//! | R3 | an error in answer to `ready` ends the oracle | `error_answer_to_ready_ends_oracle` |
//! | R4 | any id is valid | `any_id_is_accepted` |
//! | I1, I2, I3, I4 | `invoke`, answered under its id with a result or an error, in felts | `oracle_answers_line_by_line` |
//! | I5 | error codes of JSON-RPC | `errors_reach_cairo` |
//! | I6 | one at a time | `oracle_answers_line_by_line` |
//! | S1 | `shutdown` is a notification, and graceful | `shutdown_ends_immediately` |
//! | G1 | JSON-RPC 2.0, no other methods | `other_methods_are_refused` |

mod batches;
mod connections;
mod executor;
mod protocols;
mod provider;

use crate::common::programs::{Run, read_all};
use crate::common::{self, file};
use executor::Executor;
use serde_json::{Value, json};
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

fn folder() -> tempfile::TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
}

fn run(args: &[&str]) -> (Option<i32>, String, String) {
    let Output {
        status,
        stdout,
        stderr,
    } = common::wiretool()
        .args(args)
        .stdin(std::process::Stdio::null())
        .output()
        .unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (status.code(), text(stdout), text(stderr))
}

/// An oracle with this text as its script.
fn scripted(script: &str) -> (tempfile::TempDir, Result<Executor, String>) {
    let folder = folder();
    let script = file(folder.path(), "my.toml", script);
    let executor = Executor::connect(&["oracle", "--script", &script]);
    (folder, executor)
}

#[test]
fn oracle_answers_line_by_line() {
    let mut oracle = Executor::connect(&["oracle", "--selector", "pow=[\"0x5f5e100\"]"]).unwrap();
    for _ in 0..3 {
        assert_eq!(oracle.invoke("pow", &["0x2710"]).unwrap(), ["0x5f5e100"]);
    }
    // The bytes of an answer: one compact line.
    oracle.send(&json!({"jsonrpc": "2.0", "id": "x", "method": "invoke", "params": {"selector": "pow", "calldata": []}}));
    assert_eq!(
        oracle.line().unwrap(),
        "{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"result\":[\"0x5f5e100\"]}\n"
    );
    assert_eq!(oracle.kill(), None);
}

#[test]
fn oracle_is_ready_immediately() {
    let began = Instant::now();
    let oracle = Executor::connect(&["oracle"]).unwrap();
    assert!(began.elapsed() < Duration::from_secs(5));
    oracle.kill();
}

#[test]
fn connection_string_starts_one_process() {
    let folder = folder();
    let script = file(
        folder.path(),
        "my script.toml",
        "[[on]]\nresult = [\"0x{{count}}\"]\n",
    );
    let connection = format!("stdio:wiretool stub oracle --script \"{script}\"");
    let (_, split, _) = run(&["oracle", "split", &connection]);
    let words: Vec<String> = split
        .lines()
        .map(|word| serde_json::from_str(word).unwrap())
        .collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    assert_eq!(words[..2], ["wiretool", "stub"]);
    // Two processes with the same command share no state.
    let args = &words[2..];
    let mut both = [
        Executor::connect(args).unwrap(),
        Executor::connect(args).unwrap(),
    ];
    for oracle in &mut both {
        assert_eq!(oracle.invoke("f", &[]).unwrap(), ["0x1"]);
        assert_eq!(oracle.invoke("f", &[]).unwrap(), ["0x2"]);
    }
    for oracle in both {
        oracle.kill();
    }
}

#[test]
fn logs_are_on_stderr() {
    let mut oracle = Executor::connect(&["oracle", "--selector", "f=[]"]).unwrap();
    oracle.invoke("f", &[]).unwrap();
    oracle.invoke("g", &[]).unwrap_err();
    let (status, stderr) = oracle.eof();
    assert_eq!(status, Some(0));
    assert!(stderr.contains("as --selector f says"), "{stderr}");
    assert!(
        stderr.contains("wiretool: invoke g has no rule\n"),
        "{stderr}"
    );
    let mut quiet = Executor::connect(&["oracle", "-q", "--selector", "f=[]"]).unwrap();
    quiet.invoke("f", &[]).unwrap();
    assert_eq!(quiet.eof(), (Some(0), String::new()));
}

#[test]
fn unread_logs_do_not_block() {
    let mut oracle = Executor::connect(&["oracle", "--selector", "f=[]"]).unwrap();
    // More than a pipe holds.
    for _ in 0..2000 {
        oracle.invoke("f", &[]).unwrap();
    }
    oracle.kill();
}

#[test]
fn answers_use_cairo_types() {
    let (_folder, oracle) = scripted(
        "[[on]]\nmatch = 'subject=pow'\nresult = { type = \"(u256,)\", value = [5] }\n\
         [[on]]\nmatch = 'subject=name'\nresult = { type = \"ByteArray\", value = \"hi {{params.calldata[0]}}\" }\n",
    );
    let mut oracle = oracle.unwrap();
    assert_eq!(oracle.invoke("pow", &[]).unwrap(), ["0x5", "0x0"]);
    assert_eq!(
        oracle.invoke("name", &["0x1"]).unwrap(),
        ["0x0", "0x686920307831", "0x6"]
    );
    oracle.kill();
}

#[test]
fn selector_matches_cairo_types() {
    let answer = "pow={\"type\":\"(u256,)\",\"value\":[5]}";
    let mut oracle = Executor::connect(&["oracle", "--selector", answer]).unwrap();
    assert_eq!(oracle.invoke("pow", &[]).unwrap(), ["0x5", "0x0"]);
    oracle.kill();
}

#[test]
fn errors_reach_cairo() {
    let (_folder, oracle) = scripted(
        "[[on]]\nmatch = 'subject=a'\nerror = \"no such thing: {{params.calldata[0]}}\"\n\
         [[on]]\nmatch = 'subject=b'\nresult = [\"{{params.calldata[3]}}\"]\n",
    );
    let mut oracle = oracle.unwrap();
    assert_eq!(
        oracle.invoke("a", &["0x7"]).unwrap_err(),
        "no such thing: 0x7"
    );
    let missing = oracle.invoke("b", &["0x7"]).unwrap_err();
    assert!(
        missing.ends_with("{{params.calldata[3]}}: the request has no such place"),
        "{missing}"
    );
    // No answer matches: this gives an error code of JSON-RPC, and the next call works.
    oracle.send(&json!({"jsonrpc": "2.0", "id": 9, "method": "invoke", "params": {"selector": "c", "calldata": []}}));
    let answer: Value = serde_json::from_str(&oracle.line().unwrap()).unwrap();
    assert_eq!(answer["error"]["code"], -32603);
    oracle.kill();
}

#[test]
fn any_id_is_accepted() {
    let mut oracle = Executor::connect(&["oracle", "--selector", "f=[]"]).unwrap();
    for id in ["0", "18446744073709551615", "\"\"", "\"0\"", "null"] {
        oracle.write(&format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"invoke\",\"params\":{{\"selector\":\"f\",\"calldata\":[]}}}}\n"
        ));
        assert_eq!(
            oracle.line().unwrap(),
            format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":[]}}\n")
        );
    }
    oracle.kill();
}

#[test]
fn other_methods_are_refused() {
    let mut oracle = Executor::connect(&["oracle", "--selector", "f=[]"]).unwrap();
    oracle.send(&json!({"jsonrpc": "2.0", "id": 1, "method": "describe"}));
    let answer: Value = serde_json::from_str(&oracle.line().unwrap()).unwrap();
    assert_eq!(answer["error"]["code"], -32601);
    // A line that is not a message is skipped, and calls continue.
    oracle.write("no json\n\n");
    assert_eq!(oracle.invoke("f", &[]).unwrap(), [""; 0]);
    oracle.kill();
}

#[test]
fn error_answer_to_ready_ends_oracle() {
    let mut oracle = Executor::spawn(&["oracle"]);
    assert!(oracle.line().unwrap().contains("\"ready\""));
    oracle.send(&json!({"jsonrpc": "2.0", "id": 0, "error": {"code": 0, "message": "no"}}));
    // The executor refused it.
    assert_eq!(oracle.status(), Some(1));
}

#[test]
fn shutdown_ends_immediately() {
    let (_folder, oracle) = scripted("[[on]]\ndelay = \"1h\"\nresult = []\n");
    let mut oracle = oracle.unwrap();
    oracle.send(&json!({"jsonrpc": "2.0", "id": 0, "method": "invoke", "params": {"selector": "f", "calldata": []}}));
    let began = Instant::now();
    let (status, stderr, rest) = oracle.shutdown();
    assert!(began.elapsed() < Duration::from_secs(5));
    assert_eq!((status, rest.len()), (Some(0), 0), "{stderr}");
}

#[test]
fn no_answer_follows_end_of_stdin() {
    let (_folder, oracle) = scripted("[[on]]\ndelay = \"300ms\"\nresult = []\n");
    let mut oracle = oracle.unwrap();
    oracle.send(&json!({"jsonrpc": "2.0", "id": 0, "method": "invoke", "params": {"selector": "f", "calldata": []}}));
    let (status, _) = oracle.eof();
    assert_eq!(status, Some(0));
}

#[test]
fn failed_start_is_retried() {
    let folder = folder();
    let script = file(folder.path(), "my.toml", "before = \"Compiling\"\n");
    let args = ["oracle", "--script", script.as_str()];
    assert_eq!(
        Executor::connect(&args).err().unwrap(),
        "unexpected first byte 0x43"
    );
    std::fs::write(&script, "[[on]]\nresult = []\n").unwrap();
    let mut oracle = Executor::connect(&args).unwrap();
    assert_eq!(oracle.invoke("f", &[]).unwrap(), [""; 0]);
    oracle.kill();
}

/// The result of two calls for each form of misbehaviour.
#[test]
fn each_misbehaviour_has_its_result() {
    let again = |id: u64| format!("response ID mismatch: expected {id}, got {}", id - 1);
    for (script, first, second) in [
        ("twice = true\nresult = []", Ok(()), Err(again(1))),
        (
            "id = 7\nresult = []",
            Err("response ID mismatch: expected 0, got 7".into()),
            Err("response ID mismatch: expected 1, got 7".into()),
        ),
        (
            "garbage = \"log: hello\"\nresult = []",
            Err("bad line: expected value at line 1 column 1".into()),
            Err(again(1)),
        ),
        (
            "pretty = true\nresult = []",
            Err("bad line: EOF while parsing an object at line 1 column 1".into()),
            Err("bad line: trailing characters at line 1".into()),
        ),
        (
            "exit = 3",
            Err("oracle process terminated".into()),
            Err("oracle process terminated".into()),
        ),
        (
            "close = true",
            Err("oracle process terminated".into()),
            Err("oracle process terminated".into()),
        ),
        (
            "raw = \"{}\\n\"",
            Err("expected response, got {}\n".into()),
            Err("expected response, got {}\n".into()),
        ),
        (
            "hang = true",
            Err("waits forever".into()),
            Err("waits forever".into()),
        ),
    ] {
        let (_folder, oracle) = scripted(&format!("[[on]]\n{script}\n"));
        let mut oracle = oracle.unwrap();
        if script.starts_with("hang") {
            oracle.patience = Duration::from_millis(300);
        }
        for want in [first, second] {
            let got = oracle.invoke("f", &[]).map(|_| ());
            match (&got, &want) {
                (Err(got), Err(want)) => assert!(got.starts_with(want.as_str()), "{script}: {got}"),
                _ => assert_eq!(got, want, "{script}"),
            }
        }
        oracle.kill();
    }
}

#[test]
fn each_bad_start_has_its_error() {
    for (script, want) in [
        ("before = \"Compiling\\n\"", "unexpected first byte 0x43"),
        ("before = \"\\uFEFF\"", "unexpected first byte 0xef"),
        ("before = { hex = \"20\" }", "unexpected first byte 0x20"),
        (
            "ready = false\nbefore = \"[]\\n\"",
            "unexpected first byte 0x5b",
        ),
        ("ready = false\nexit = 4", "no bytes received"),
        (
            "ready = false\nbefore = '''{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":[]}\n'''",
            "expected",
        ),
        ("ready = false\nbefore = \"{ \"", "waits forever"),
    ] {
        let folder = folder();
        let path = file(folder.path(), "my.toml", script);
        let mut oracle = Executor::spawn(&["oracle", "--script", &path]);
        oracle.patience = Duration::from_millis(700);
        let got = oracle.handshake().unwrap_err();
        assert!(got.starts_with(want), "{script}: {got}");
    }
    let folder = folder();
    let path = file(folder.path(), "my.toml", "exit = 4\n");
    let oracle = Executor::spawn(&["oracle", "--script", &path]);
    assert_eq!(oracle.status(), Some(4));
}

#[test]
fn requests_are_reported() {
    let folder = folder();
    let report = folder.path().join("asked.json");
    let name = report.to_str().unwrap();
    let args = [
        "oracle",
        "--report",
        name,
        "--require-all",
        "--selector",
        "f=[]",
        "--selector",
        "g=[]",
    ];
    let read = || -> Value { serde_json::from_slice(&std::fs::read(&report).unwrap()).unwrap() };
    let mut oracle = Executor::connect(&args).unwrap();
    assert_eq!(read()["never"], 2);
    oracle.invoke("f", &[]).unwrap();
    oracle.invoke("h", &[]).unwrap_err();
    let (status, stderr) = oracle.eof();
    assert_eq!(status, Some(1));
    assert!(
        stderr.ends_with("wiretool: not requested: --selector g (subject=g)\n"),
        "{stderr}"
    );
    let now = read();
    assert_eq!(
        (&now["requests"], &now["answered"], &now["missed"]),
        (&json!(2), &json!(1), &json!(1))
    );
    assert_eq!(now["misses"][0]["why"], "invoke h has no rule");
    let mut oracle = Executor::connect(&args).unwrap();
    oracle.invoke("f", &[]).unwrap();
    oracle.invoke("g", &[]).unwrap();
    assert_eq!(oracle.eof().0, Some(0));
}

#[test]
fn unmatched_request_gives_error() {
    let folder = folder();
    let felts = file(folder.path(), "felts.json", "[\"0x9\"]\n");
    let mut oracle = Executor::connect(&["oracle", "--on-miss", &felts]).unwrap();
    assert_eq!(oracle.invoke("f", &[]).unwrap(), ["0x9"]);
    oracle.kill();
    let mut oracle = Executor::connect(&["oracle", "--on-miss", "close"]).unwrap();
    assert_eq!(
        oracle.invoke("f", &[]).unwrap_err(),
        "oracle process terminated"
    );
    assert_eq!(oracle.status(), Some(0));
    let mut oracle = Executor::connect(&["oracle", "--on-miss", "hang"]).unwrap();
    oracle.patience = Duration::from_millis(300);
    assert_eq!(oracle.invoke("f", &[]).unwrap_err(), "waits forever");
    oracle.kill();
}

#[test]
fn invalid_lines_are_skipped() {
    let folder = folder();
    let script = file(
        folder.path(),
        "my.toml",
        "[[on]]\nmatch = 'subject=f'\nresutl = []\n",
    );
    let recording = recording(folder.path());
    let whole = std::fs::read_to_string(&recording).unwrap();
    let (head, rest) = whole.split_once('\n').unwrap();
    let torn = format!("{head}\nno line of a recording\n{rest}");
    let torn = file(folder.path(), "torn.jsonl", &torn);
    for (args, want) in [
        (
            vec!["oracle", "--script", &script],
            "my.toml:3:1: unknown key resutl: did you mean result?\n",
        ),
        (
            vec!["oracle", "--script", "/none.toml"],
            "cannot read /none.toml",
        ),
        (vec!["oracle", "--selector", "f"], "wanted NAME=JSON"),
        (
            vec!["oracle", "--selector", "f=[0x1]"],
            "the answer of f is not JSON",
        ),
        (
            vec!["sael", "--selector", "f=[]"],
            "--selector is for oracle",
        ),
        (
            vec!["oracle", "--from-recording", &script],
            "not a recording",
        ),
        (vec!["oracle", "--print-script"], "--from-recording"),
        (
            vec![
                "oracle",
                "--print-script",
                "--from-recording",
                "a",
                "--selector",
                "f=[]",
            ],
            "cannot be used with",
        ),
        (vec!["oracle", "--on-miss", "eror"], "cannot read eror"),
        (vec!["saikuro", "--listen", "tcp:7700"], "tcp://HOST:PORT"),
        (vec!["oracle", "--once"], "--once needs a socket"),
        (vec!["oracle", "--idle", "2s"], "--idle needs a socket"),
        (
            vec!["oracle", "--cert", &script, "--key", &script],
            "--cert needs a socket",
        ),
        (
            vec!["saikuro", "--cert", &script, "--key", &script],
            "--cert and --key need TLS",
        ),
        (
            vec!["oracle", "--length-mode", "inclusive"],
            "--length-mode is for telequick, not for oracle",
        ),
        (
            vec!["oracle", "--schema", &script],
            "--schema is for telequick",
        ),
        (
            vec!["oracle", "--secret-file", &script],
            "--secret-file is for sael",
        ),
        (
            vec!["oracle", "--framing", "prefix"],
            "oracle does not use the framing prefix, only lines",
        ),
        (
            vec!["saikuro", "--framing", "lines"],
            "saikuro does not use the framing lines",
        ),
        (
            vec![
                "saikuro",
                "--framing",
                "prefix",
                "--listen",
                "ws://127.0.0.1:0",
            ],
            "--framing prefix does not fit ws://127.0.0.1:0",
        ),
        (
            vec!["oracle", "--from-recording", "-"],
            "the recording must be a file",
        ),
        (
            vec!["sael", "--from-recording", &recording],
            "it is a recording of oracle, not of sael",
        ),
        (vec!["oracle", "--from-recording", &torn], "line 2"),
    ] {
        let (status, stdout, stderr) = run(&[&["stub"], args.as_slice()].concat());
        assert_eq!(
            (status, stdout.as_str()),
            (Some(2), ""),
            "{args:?}: {stderr}"
        );
        assert!(stderr.contains(want), "{args:?}: {stderr}");
    }
}

/// A recording of three calls; the second and third are equal.
fn recording(folder: &Path) -> String {
    let chunk = |t: u64, dir: &str, text: &Value| {
        json!({"t": t, "conn": 1, "dir": dir, "text": format!("{text}\n")}).to_string()
    };
    let call = |id: u64, felt: &str| json!({"jsonrpc": "2.0", "id": id, "method": "invoke", "params": {"selector": "pow", "calldata": [felt]}});
    let answer = |id: u64, felt: &str| json!({"jsonrpc": "2.0", "id": id, "result": [felt]});
    let lines = [
        json!({"wiretool": 1, "protocol": "oracle", "started": "2026-01-01T00:00:00.000000000Z", "transport": "stdio"}).to_string(),
        chunk(1, "s2c", &json!({"jsonrpc": "2.0", "id": 0, "method": "ready"})),
        chunk(2, "c2s", &json!({"jsonrpc": "2.0", "id": 0, "result": {}})),
        chunk(3, "c2s", &call(0, "0x2")),
        chunk(4, "s2c", &answer(0, "0x4")),
        chunk(5, "c2s", &call(1, "0x3")),
        chunk(6, "s2c", &answer(1, "0x9")),
        chunk(7, "c2s", &call(2, "0x3")),
        chunk(8, "s2c", &answer(2, "0xa")),
        chunk(9, "c2s", &call(3, "0x5")),
    ];
    file(folder, "calls.jsonl", &(lines.join("\n") + "\n"))
}

#[test]
fn recording_is_read_from_stdin() {
    let folder = folder();
    let recording = recording(folder.path());
    let (status, of_file, _) = run(&[
        "stub",
        "oracle",
        "--print-script",
        "--from-recording",
        &recording,
    ]);
    let mut child = common::wiretool();
    let child = child.args(["stub", "oracle", "--print-script", "--from-recording", "-"]);
    let stdin = std::fs::File::open(&recording).unwrap();
    let output = child.stdin(stdin).output().unwrap();
    assert_eq!((status, output.status.code()), (Some(0), Some(0)));
    assert_eq!(String::from_utf8(output.stdout).unwrap(), of_file);
}

#[test]
fn answers_come_from_recording() {
    let folder = folder();
    let recording = recording(folder.path());
    let mut oracle =
        Executor::connect(&["oracle", "--from-recording", &recording, "--require-all"]).unwrap();
    // Other ids and another order; a repeated request gets its answers in order, then the last one.
    for (felt, want) in [
        ("0x3", "0x9"),
        ("0x2", "0x4"),
        ("0x3", "0xa"),
        ("0x3", "0xa"),
        ("0x2", "0x4"),
    ] {
        assert_eq!(oracle.invoke("pow", &[felt]).unwrap(), [want], "{felt}");
    }
    assert_eq!(
        oracle.invoke("pow", &["0x4"]).unwrap_err(),
        "invoke pow was not recorded in this form; the nearest is #2: params.calldata[0] is \"0x4\", recorded \"0x2\""
    );
    assert_eq!(
        oracle.invoke("pwo", &["0x2"]).unwrap_err(),
        "invoke pwo was not recorded; did it mean invoke pow?"
    );
    assert_eq!(
        oracle.invoke("pow", &["0x5"]).unwrap_err(),
        "invoke pow was recorded, as #8, but never answered there"
    );
    let (status, stderr) = oracle.eof();
    assert_eq!(status, Some(1));
    assert!(stderr.contains("as recorded in #2"), "{stderr}");
    assert!(
        stderr.ends_with("wiretool: not requested: #8 (invoke pow)\n"),
        "{stderr}"
    );
}

#[test]
fn unrecorded_request_fails_the_run_if_asked_and_shows_no_secret() {
    let folder = folder();
    let lines = [
        json!({"wiretool": 1, "protocol": "mcp", "started": "2026-01-01T00:00:00Z", "transport": "stdio"}),
        json!({"t": 1, "conn": 1, "dir": "c2s", "text": format!("{}\n", call(1, "add", &json!({"a": 1})))}),
        json!({"t": 2, "conn": 1, "dir": "s2c", "text": "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"content\":[]}}\n"}),
        json!({"t": 3, "event": "end", "chunks": 2}),
    ];
    let recording = file(
        folder.path(),
        "calls.jsonl",
        lines.map(|line| format!("{line}\n")).concat(),
    );
    let report = folder.path().join("report.json");
    for (flags, status) in [
        (&["--fail-on-miss"][..], Some(1)),
        (&["--fail-on-miss", "--on-miss", "close"], Some(1)),
        (&[], Some(0)),
    ] {
        for (tool, wanted) in [
            (
                "add",
                "the nearest is #0: params.arguments.token is (secret), recorded absent",
            ),
            (
                "fail",
                "tools/call fail was not recorded; recorded are request tools/call add",
            ),
        ] {
            let request = call(2, tool, &json!({"a": 1, "token": "sk-abcdef1234567890"}));
            let mut child = common::wiretool()
                .args(["stub", "mcp", "--from-recording", &recording, "--report"])
                .arg(&report)
                .args(flags)
                .stdin(std::process::Stdio::piped())
                .stdout(std::process::Stdio::piped())
                .stderr(std::process::Stdio::piped())
                .spawn()
                .unwrap();
            let mut stdin = child.stdin.take().unwrap();
            writeln!(stdin, "{request}").unwrap();
            drop(stdin);
            let output = child.wait_with_output().unwrap();
            let [stdout, stderr] =
                [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
            let report = std::fs::read_to_string(&report).unwrap();
            assert_eq!(output.status.code(), status, "{flags:?}: {stderr}");
            for text in [&stderr, &report] {
                assert!(text.contains(wanted), "{flags:?} {tool}: {text}");
            }
            let answered = stdout.contains("\"error\"") && stdout.contains(wanted);
            assert!(answered != flags.contains(&"close"), "{stdout}");
            let all = format!("{stdout}{stderr}{report}");
            assert!(!all.contains("sk-abc"), "{flags:?} {tool}: {all}");
        }
    }
}

fn call(id: u64, tool: &str, arguments: &Value) -> Value {
    json!({
        "jsonrpc": "2.0", "id": id, "method": "tools/call",
        "params": {"name": tool, "arguments": arguments},
    })
}

#[test]
fn answers_come_from_gzipped_recording() {
    let folder = folder();
    let recording = recording(folder.path());
    let packed = folder.path().join("calls.jsonl.gz");
    let bytes = std::fs::read(recording).unwrap();
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gzip.write_all(&bytes).unwrap();
    std::fs::write(&packed, gzip.finish().unwrap()).unwrap();
    let packed = packed.to_str().unwrap();
    let mut oracle = Executor::connect(&["oracle", "--from-recording", packed]).unwrap();
    assert_eq!(oracle.invoke("pow", &["0x2"]).unwrap(), ["0x4"]);
    oracle.kill();
    let whole = std::fs::read(packed).unwrap();
    std::fs::write(packed, &whole[..whole.len() - 9]).unwrap();
    let (status, _, stderr) = run(&["stub", "oracle", "--from-recording", packed]);
    assert_eq!(status, Some(2));
    assert!(stderr.contains("cannot read"), "{stderr}");
}

/// A server over HTTP sends nothing before a request: an answer without a message as its request is no opening.
#[test]
fn refusals_of_http_are_no_opening() {
    let folder = folder();
    let chunk = |t: u64, dir: &str, text: &str| {
        json!({"t": t, "conn": 1, "dir": dir, "text": text}).to_string()
    };
    let post = |body: &str| {
        format!(
            "POST /mcp HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        )
    };
    let answer = |status: &str, body: &str| {
        format!(
            "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        )
    };
    let refused = r#"{"jsonrpc":"2.0","error":{"code":-32000,"message":"No session"},"id":null}"#;
    let lines = [
        json!({"wiretool": 1, "protocol": "jsonrpc", "started": "2026-01-01T00:00:00Z", "transport": "tcp"}).to_string(),
        json!({"t": 0, "conn": 1, "event": "open"}).to_string(),
        chunk(1, "c2s", "GET /mcp HTTP/1.1\r\nhost: x\r\n\r\n"),
        chunk(2, "s2c", &answer("400 Bad Request", refused)),
        chunk(3, "c2s", &post(r#"{"jsonrpc":"2.0","id":1,"method":"f"}"#)),
        chunk(4, "s2c", &answer("200 OK", r#"{"jsonrpc":"2.0","id":1,"result":5}"#)),
    ];
    let recording = file(folder.path(), "http.jsonl", &(lines.join("\n") + "\n"));
    let (status, script, err) = run(&[
        "stub",
        "jsonrpc",
        "--print-script",
        "--from-recording",
        &recording,
    ]);
    assert_eq!(status, Some(0), "{err}");
    assert!(
        !script.contains("No session") && script.contains("# #2 request f"),
        "{script}"
    );
}

/// A recording states the index of its first message: memory does not depend on it.
#[test]
fn a_large_first_index_needs_no_memory() {
    let folder = folder();
    let lines = [
        json!({"wiretool": 1, "protocol": "mcp", "started": "2026-01-01T00:00:00Z", "transport": "stdio"}),
        json!({"t": 0, "event": "continued", "index": 1_000_000_000_000_u64, "streams": [], "messages": []}),
        json!({"t": 1, "conn": 1, "dir": "c2s", "text": "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n"}),
        json!({"t": 2, "conn": 1, "dir": "s2c", "text": "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n"}),
    ];
    let text = lines.map(|line| line.to_string()).join("\n") + "\n";
    let recording = file(folder.path(), "late.jsonl", &text);
    let args = [
        "stub",
        "mcp",
        "--print-script",
        "--from-recording",
        &recording,
    ];
    let (status, script, err) = run(&args);
    assert_eq!(status, Some(0), "{err}");
    assert!(script.contains("# #1000000000000 request ping"), "{script}");
}

/// A server that sends something after the message that ends the session ends after it.
#[test]
fn a_session_ends_after_its_recorded_messages() {
    let folder = folder();
    let framed = |body: Value| {
        let body = body.to_string();
        format!("Content-Length: {}\r\n\r\n{body}", body.len())
    };
    let chunk = |t: u64, dir: &str, text: &str| {
        json!({"t": t, "conn": 1, "dir": dir, "text": text}).to_string()
    };
    let initialize = framed(
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"processId": null, "rootUri": null, "capabilities": {}}}),
    );
    let exit = framed(json!({"jsonrpc": "2.0", "method": "exit"}));
    let bye = framed(json!({"jsonrpc": "2.0", "method": "eslint/exitCalled"}));
    let lines = [
        json!({"wiretool": 1, "protocol": "lsp", "started": "2026-01-01T00:00:00Z", "transport": "stdio"}).to_string(),
        chunk(1, "c2s", &initialize),
        chunk(2, "s2c", &framed(json!({"jsonrpc": "2.0", "id": 1, "result": {"capabilities": {}}}))),
        chunk(3, "c2s", &exit),
        chunk(4, "s2c", &bye),
    ];
    let recording = file(folder.path(), "exit.jsonl", &(lines.join("\n") + "\n"));
    let arguments = ["stub", "lsp", "-q", "--from-recording", &recording];
    let mut stub = Run::new(&arguments);
    let stdin = stub.stdin.as_mut().unwrap();
    stdin.write_all((initialize + &exit).as_bytes()).unwrap();
    // Its stdin is open, so only the message ends it.
    let out = read_all(&stub.stdout);
    let out = String::from_utf8_lossy(&out);
    assert!(out.ends_with(&bye), "{out}");
    assert_eq!(stub.code(), Some(0));
}

#[test]
fn script_has_precedence_over_recording() {
    let folder = folder();
    let recording = recording(folder.path());
    let script = file(
        folder.path(),
        "my.toml",
        "[[on]]\nmatch = '.params.calldata[0]=0x3'\ntimes = 1\nresult = []\n",
    );
    let mut oracle = Executor::connect(&[
        "oracle",
        "--script",
        &script,
        "--from-recording",
        &recording,
    ])
    .unwrap();
    assert_eq!(oracle.invoke("pow", &["0x3"]).unwrap(), [""; 0]);
    assert_eq!(oracle.invoke("pow", &["0x3"]).unwrap(), ["0x9"]);
    oracle.kill();
}

#[test]
fn recording_prints_as_script() {
    let folder = folder();
    let recording = recording(folder.path());
    let (status, script, stderr) = run(&[
        "stub",
        "oracle",
        "--from-recording",
        &recording,
        "--print-script",
    ]);
    assert_eq!((status, stderr.as_str()), (Some(0), ""));
    insta::assert_snapshot!(script, @r#"
    # Requests and answers of a recording; wiretool help scripts explains the keys.
    protocol = "oracle"
    opening = { json = '{"id":0,"jsonrpc":"2.0","method":"ready"}' }

    # #2 invoke pow
    [[on]]
    request = { index = 2, json = '{"id":0,"jsonrpc":"2.0","method":"invoke","params":{"calldata":["0x2"],"selector":"pow"}}', generated = ["id"] }
    message = { json = '{"id":0,"jsonrpc":"2.0","result":["0x4"]}', fill = [{ at = "id", from = "id" }] }

    # #4 invoke pow
    [[on]]
    request = { index = 4, json = '{"id":1,"jsonrpc":"2.0","method":"invoke","params":{"calldata":["0x3"],"selector":"pow"}}', generated = ["id"] }
    message = { json = '{"id":1,"jsonrpc":"2.0","result":["0x9"]}', fill = [{ at = "id", from = "id" }] }

    # #6 invoke pow
    [[on]]
    request = { index = 6, json = '{"id":2,"jsonrpc":"2.0","method":"invoke","params":{"calldata":["0x3"],"selector":"pow"}}', generated = ["id"] }
    message = { json = '{"id":2,"jsonrpc":"2.0","result":["0xa"]}', fill = [{ at = "id", from = "id" }] }

    # #8 invoke pow
    [[on]]
    request = { index = 8, json = '{"id":3,"jsonrpc":"2.0","method":"invoke","params":{"calldata":["0x5"],"selector":"pow"}}', generated = ["id"] }
    "#);
    let script = file(folder.path(), "my.toml", &script);
    let mut oracle = Executor::connect(&["oracle", "--script", &script]).unwrap();
    for (felt, want) in [
        ("0x3", "0x9"),
        ("0x2", "0x4"),
        ("0x3", "0xa"),
        ("0x3", "0xa"),
    ] {
        assert_eq!(oracle.invoke("pow", &[felt]).unwrap(), [want], "{felt}");
    }
    oracle.kill();
}

#[test]
fn traffic_is_recorded() {
    let folder = folder();
    let out = folder.path().join("out.jsonl");
    let mut oracle =
        Executor::connect(&["oracle", "--selector", "f=[]", "-w", out.to_str().unwrap()]).unwrap();
    oracle.invoke("f", &[]).unwrap();
    oracle.eof();
    let (status, shown, _) = run(&["decode", "-f", "json", out.to_str().unwrap()]);
    let kinds: Vec<String> = shown
        .lines()
        .map(|line| {
            let line: Value = serde_json::from_str(line).unwrap();
            format!(
                "{} {}",
                line["dir"].as_str().unwrap(),
                line["kind"].as_str().unwrap()
            )
        })
        .collect();
    assert_eq!(
        (status, kinds.join(", ").as_str()),
        (Some(0), "s2c ready, c2s ack, c2s invoke, s2c result")
    );
}

/// Sends a signal.
fn signal(pid: u32, name: &str) {
    let sent = Command::new("kill")
        .args(["-s", name, &pid.to_string()])
        .status();
    assert!(sent.unwrap().success());
}
