//! `wiretool lint`: findings in every form, rules, exit codes, and the peer that must send next.

use crate::common::{self, Ran};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Read, Write as _};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

const GAP: &str = "fixtures/saikuro/rules/seq-gap.fires.jsonl";
const VALID: &str = "fixtures/saikuro/rules/seq-gap.passes.jsonl";
const INCOMPLETE: &str = "fixtures/cli/hang.jsonl";
const MIXED: &str = "fixtures/cli/mixed.jsonl";
/// The time limit of a wait; only a failing test reaches it.
const TIME_LIMIT: Duration = Duration::from_secs(60);

fn wiretool(args: &[&str]) -> Command {
    let mut command = common::wiretool();
    command.args(args).current_dir(env!("CARGO_MANIFEST_DIR"));
    command
}

fn lint(args: &[&str]) -> Ran {
    common::outcome(&[&["lint"], args].concat())
}

fn objects(text: &str) -> Vec<Value> {
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// A running command with a pipe as its input.
struct RunningLint {
    child: Child,
    out: Receiver<String>,
    err: Receiver<String>,
}

impl RunningLint {
    fn start(args: &[&str]) -> Self {
        fn lines(from: impl Read + Send + 'static) -> Receiver<String> {
            let (reported, received) = channel();
            std::thread::spawn(move || {
                for line in BufReader::new(from).lines().map_while(Result::ok) {
                    let _ = reported.send(line);
                }
            });
            received
        }
        let mut child = wiretool(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let out = lines(child.stdout.take().unwrap());
        let err = lines(child.stderr.take().unwrap());
        Self { child, out, err }
    }

    fn write(&mut self, bytes: &[u8]) {
        let stdin = self.child.stdin.as_mut().unwrap();
        stdin.write_all(bytes).unwrap();
    }

    fn signal(&self, name: &str) {
        let pid = self.child.id().to_string();
        let sent = Command::new("kill").args(["-s", name, &pid]).status();
        assert!(sent.unwrap().success());
    }

    /// Ends the input, unless a signal ended it. Returns the exit code and the unread output.
    fn end(mut self) -> (i32, Vec<String>, Vec<String>) {
        drop(self.child.stdin.take());
        let code = self.child.wait().unwrap().code().unwrap_or(-1);
        (code, self.out.iter().collect(), self.err.iter().collect())
    }
}

fn next(from: &Receiver<String>) -> String {
    from.recv_timeout(TIME_LIMIT).unwrap()
}

#[test]
fn findings_print_as_text() {
    let (code, out, err) = lint(&[GAP]);
    assert_eq!(code, 1);
    insta::assert_snapshot!(out, @"fixtures/saikuro/rules/seq-gap.fires.jsonl:5:1: error saikuro/seq-gap: #2 c0 ← seq is 2; it should be 1, after #1");
    insta::assert_snapshot!(err, @"wiretool: fixtures/saikuro/rules/seq-gap.fires.jsonl: 1 error in 4 messages");
    let (code, out, err) = lint(&[VALID]);
    assert_eq!((code, out.as_str()), (0, ""));
    insta::assert_snapshot!(err, @"wiretool: fixtures/saikuro/rules/seq-gap.passes.jsonl: nothing found in 4 messages");
    assert_eq!(lint(&["-q", GAP]), (1, String::new(), String::new()));
}

#[test]
fn findings_print_as_json() {
    let (code, out, err) = lint(&["-f", "json", GAP, VALID]);
    assert_eq!((code, err.as_str()), (1, ""));
    let lines = objects(&out);
    let [finding, first, second] = &lines[..] else {
        panic!("{out}");
    };
    assert_eq!(finding["v"], 1);
    assert_eq!(finding["file"], GAP);
    insta::assert_snapshot!(out.lines().next().unwrap(), @r#"{"v":1,"file":"fixtures/saikuro/rules/seq-gap.fires.jsonl","finding":{"rule":"saikuro/seq-gap","severity":"error","index":2,"conn":0,"dir":"s2c","offset":87,"len":1,"text":"seq is 2; it should be 1, after #1","related":1}}"#);
    assert_eq!(first["summary"]["errors"], 1);
    assert_eq!(second["file"], VALID);
    assert_eq!(second["summary"]["errors"], 0);
    assert_eq!(second["summary"]["messages"], 4);
    // Unknown values are omitted.
    let (_, out, _) = lint(&["-f", "json", "fixtures/cli/never-ready.jsonl"]);
    let waiting = &objects(&out)[0]["summary"]["waiting"][0];
    insta::assert_snapshot!(waiting.to_string(), @r#"{"conn":0,"for_ms":4000.000001,"owes":"oracle","what":"the executor, for ready","why":"no timeout: the executor waits forever"}"#);
}

#[test]
fn findings_print_as_sarif() {
    let folder = tempfile::tempdir().unwrap();
    let raw = folder.path().join("a b.bin");
    std::fs::write(&raw, hex::decode("0000000000000001c1").unwrap()).unwrap();
    let raw = raw.to_str().unwrap();
    let (code, out, err) = lint(&["--report", "sarif", "-p", "saikuro", GAP, raw]);
    assert_eq!(code, 1);
    assert_eq!(err.lines().count(), 2, "each input is summed up: {err}");
    let report: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(report["version"], "2.1.0");
    assert!(
        report["$schema"]
            .as_str()
            .unwrap()
            .ends_with("sarif-2.1.0.json")
    );
    let run = &report["runs"][0];
    assert_eq!(run["tool"]["driver"]["name"], "wiretool");
    let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
    let results = run["results"].as_array().unwrap();
    assert!(results.len() >= 3, "{out}");
    for result in results {
        let at = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
        assert_eq!(rules[at]["id"], result["ruleId"]);
        assert_eq!(result["level"], "error");
        assert!(!result["message"]["text"].as_str().unwrap().contains("  "));
    }
    // In a recording, offsets are not offsets of the file.
    let place = |at: usize| &results[at]["locations"][0];
    let artifact = |at: usize| {
        let uri = &place(at)["physicalLocation"]["artifactLocation"]["uri"];
        uri.as_str().unwrap()
    };
    assert_eq!(artifact(0), GAP);
    let region = &place(0)["physicalLocation"]["region"];
    assert_eq!(
        *region,
        serde_json::json!({ "startLine": 5, "startColumn": 1 })
    );
    let logical = &place(0)["logicalLocations"][0]["fullyQualifiedName"];
    assert_eq!(logical, "c0 s2c at 87");
    assert!(
        artifact(1).starts_with("file:///") && artifact(1).ends_with("/a%20b.bin"),
        "{out}"
    );
    // The body of the second frame is not MessagePack: `c1` is reserved.
    let region = &place(2)["physicalLocation"]["region"];
    assert_eq!(region["byteOffset"], 8);
    // The report is valid without findings.
    let (code, out, _) = lint(&["--report", "sarif", VALID]);
    let report: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(
        (code, &report["runs"][0]["results"]),
        (0, &Value::from([0; 0].as_slice()))
    );
    assert_eq!(lint(&["--report", "sarif", "-f", "json", GAP]).0, 2);
    assert_eq!(lint(&["--report", "sarif", "--rules"]).0, 2);
}

#[test]
fn rules_are_listed() {
    let (code, all, err) = lint(&["--rules"]);
    assert_eq!((code, err.as_str()), (0, ""));
    for protocol in wiretool::protocol::registry::names() {
        let (_, own, _) = lint(&["--rules", "-p", protocol]);
        assert!(own.lines().count() > 20, "{protocol}");
        assert!(own.lines().all(|line| line.starts_with(protocol)));
        assert!(own.lines().all(|line| all.contains(line)), "{protocol}");
    }
    let (_, json, _) = lint(&["--rules", "-f", "json"]);
    let objects = objects(&json);
    assert_eq!(objects.len(), all.lines().count());
    for object in &objects {
        let text = |key: &str| object[key].as_str().unwrap().to_owned();
        for key in ["rule", "severity", "document", "peers", "clause", "why"] {
            assert!(!text(key).is_empty(), "{object}");
        }
        assert!(object["needs"].is_array() && object["implies"].is_array());
    }
    let severity = |args: &[&str], rule: &str| {
        let (_, out, _) = lint(&[&["--rules"], args].concat());
        let line = out.lines().find(|line| line.starts_with(rule)).unwrap();
        line.split_whitespace().nth(1).unwrap().to_owned()
    };
    assert_eq!(severity(&[], "saikuro/missing-args"), "warning");
    assert_eq!(
        severity(&["--deny", "saikuro/missing-*"], "saikuro/missing-args"),
        "error"
    );
    assert_eq!(
        severity(&["--allow", "saikuro/*"], "saikuro/seq-gap"),
        "off"
    );
    let dialects = ["document", "peers"].map(|d| severity(&["--dialect", d], "saikuro/peers-type"));
    assert_ne!(dialects[0], dialects[1]);
}

#[test]
fn explain_prints_rule() {
    let (code, out, err) = lint(&["--explain", "saikuro/seq-gap"]);
    assert_eq!((code, err.as_str()), (0, ""));
    let (breaks, sound) = out.split_once("\ndoes not:\n").unwrap();
    let (why, breaks) = breaks.split_once("\nbreaks it:\n").unwrap();
    insta::assert_snapshot!(why, @"
    saikuro/seq-gap  error  (document: error, real peers: error)
    follows   Stream Frames: seq is monotonically increasing; real peers: by one

    A number is missing: frames were lost, or the sender counted a frame that it did
    not send. A reader that puts frames in order waits for the missing one. The
    frame that ends a stream has a number of its own.
    ");
    assert!(breaks.contains("✗ saikuro/seq-gap: seq is 2"), "{breaks}");
    assert!(
        sound.lines().count() >= 4 && !sound.contains('✗'),
        "{sound}"
    );
    let (_, out, _) = lint(&["--explain", "saikuro/seq-gap", "-f", "json"]);
    assert_eq!(objects(&out)[0]["rule"], "saikuro/seq-gap");
}

#[test]
fn unknown_rules_are_errors() {
    for flag in ["--explain", "--allow", "--deny"] {
        for (name, hint) in [
            ("saikuro/seq-gp", "did you mean saikuro/seq-gap?"),
            ("seq-gp", "did you mean saikuro/seq-gap?"),
            ("xyzzy", "lint --rules lists them"),
        ] {
            let (code, out, err) = lint(&[flag, name]);
            assert_eq!((code, out.as_str()), (2, ""), "{flag} {name}");
            let want = format!("wiretool: no rule is called {name}; {hint}\n");
            assert_eq!(err, want, "{flag}");
        }
    }
}

#[test]
fn lint_exit_codes() {
    for (args, want) in [
        (&[GAP][..], 1),
        (&[GAP, VALID], 1),
        (&[VALID], 0),
        (&["--fail-on", "never", GAP], 0),
        (&["--allow", "saikuro/seq-*", GAP], 0),
        (&["--allow", "seq-*", GAP], 0),
        (&["--fail-on", "never", "--deny", "seq-gap", GAP], 0),
        // The last flag has precedence; `--deny` is the stronger one.
        (
            &["--allow", "saikuro/*", "--deny", "saikuro/seq-gap", GAP],
            1,
        ),
        (&[MIXED], 0),
        (&["--fail-on", "warning", MIXED], 1),
        (&["--fail-on", "info", VALID], 0),
        (&["--deny", "sael/unanswered", MIXED], 1),
        (&["--where", "kind=item", GAP], 1),
        (&["--where", "kind=end", GAP], 0),
        (&["--where", "kind=cast", GAP], 1),
        (&["--where", "kid=end", GAP], 2),
        (&["--fail-on", "eror", GAP], 2),
        (&["/none"], 2),
        (&[GAP, "/none"], 2),
        (&["src"], 2),
        (&["-o", GAP, GAP], 2),
        (&["--rules", GAP], 2),
    ] {
        let (code, _, err) = lint(args);
        assert_eq!(code, want, "{args:?}: {err}");
    }
    let (code, out, err) = lint(&[]);
    assert_eq!((code, out.as_str()), (2, ""));
    assert_eq!(err, "wiretool: empty input: there is nothing to check\n");
    let mut command = common::wiretool();
    let recording = "{\"wiretool\":1,\"protocol\":\"mcp\"}\n{\"t\":1,\"event\":\"end\",\"chunks\":0,\"bytes\":{\"c2s\":0,\"s2c\":0}}\n";
    let (code, out, err) = common::run(command.arg("lint"), recording);
    assert_eq!((code, out.as_str()), (2, ""), "{err}");
    let said = "wiretool: stdin: the recording has no traffic\nwiretool: stdin: there is nothing to check\n";
    assert_eq!(err, said);
    let (_, _, err) = lint(&["--where", "kind=cast", GAP]);
    assert!(
        err.ends_with("wiretool: none of 4 messages matches; kinds: end, item, stream\n"),
        "{err}"
    );
    let (_, _, err) = lint(&["--where", "kind=end", GAP]);
    assert!(err.contains("nothing found in 1 of 4 messages"), "{err}");
}

#[test]
fn repeated_findings_are_counted() {
    let two = "fixtures/cli/run-a.jsonl";
    let requests = std::fs::read_to_string(two).unwrap();
    let requests = requests.lines().take(4).collect::<Vec<_>>().join("\n");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("open.jsonl");
    std::fs::write(&path, requests + "\n").unwrap();
    let path = path.to_str().unwrap();
    let (_, out, _) = lint(&["--most", "2", path]);
    let out = out.replace(path, "FILE");
    insta::assert_snapshot!(out, @"
    FILE: 3 messages wait for an answer:
      #0 c0 → INV math.add  id 1  for 2 ms  the server must send it
      #1 c0 → INV math.sub  id 2  for 1 ms  the server must send it
      and 1 more
    ");
}

#[test]
fn summary_names_peer_that_must_send_next() {
    let (code, out, err) = lint(&[INCOMPLETE]);
    assert_eq!(code, 0);
    assert!(
        err.contains("nothing found in 3 messages; 1 unanswered"),
        "{err}"
    );
    insta::assert_snapshot!(out, @"
    fixtures/cli/hang.jsonl: 1 message waits for an answer:
      #2 c0 → invoke pow  id 1  for 1 ns  the oracle must send it — no timeout: the executor waits forever
    ");
    let (_, out, _) = lint(&["fixtures/cli/never-ready.jsonl"]);
    insta::assert_snapshot!(out, @"
    fixtures/cli/never-ready.jsonl: 1 message waits for an answer:
      c0 · the executor, for ready  for 4 s  the oracle must send it — no timeout: the executor waits forever
    ");
    // Colours end before the end of the line.
    let (_, out, _) = lint(&["--color", "always", INCOMPLETE]);
    assert!(
        out.contains("an answer:\u{1b}") && !out.contains("\\n"),
        "{out}"
    );
    // decode reports the same on stderr.
    let (_, _, err) = common::outcome(&["decode", "--lint", "-f", "line", INCOMPLETE]);
    insta::assert_snapshot!(err, @"
    wiretool: fixtures/cli/hang.jsonl: 1 message waits for an answer:
    wiretool:   #2 c0 → invoke pow  id 1  for 1 ns  the oracle must send it — no timeout: the executor waits forever
    ");
}

#[test]
fn findings_between_messages_name_their_file() {
    let died = "fixtures/oracle/rules/no-ready.fires.jsonl";
    let (_, _, err) = common::outcome(&["decode", "--lint", "-f", "line", died]);
    let finding = err.lines().find(|line| line.contains("oracle/no-ready"));
    assert!(
        finding.is_some_and(|line| line.starts_with(&format!("wiretool: {died}:"))),
        "{err}"
    );
}

#[test]
fn single_direction_has_no_waiting_peer() {
    let call = "0000004185a776657273696f6e01a474797065a463616c6ca26964c410a1b2c3d4e5f67890abcdef1234567890a6746172676574a86d6174682e616464a461726773920203";
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("calls.bin");
    std::fs::write(&path, hex::decode(call).unwrap()).unwrap();
    let path = path.to_str().unwrap();
    for args in [&["--dir", "c2s", path][..], &[path]] {
        let (code, out, err) = lint(args);
        assert_eq!((code, out.as_str()), (0, ""), "{args:?}: {err}");
        assert!(!err.contains("unanswered"), "{args:?}: {err}");
    }
}

#[test]
fn truncated_capture_reports_missing_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cut.bin");
    std::fs::write(&path, hex::decode("0000004185a77665").unwrap()).unwrap();
    let path = path.to_str().unwrap();
    let (code, out, _) = lint(&["-p", "saikuro", path]);
    assert_eq!(code, 1);
    insta::assert_snapshot!(out.replace(path, "FILE"), @"FILE: offset 0: error saikuro/malformed: #0 · length: wanted 65 bytes after the prefix, got 4 before the end of the stream");
}

/// Only the child writes to its stdout: a line of the executor is not a log line.
#[test]
fn line_of_executor_is_no_log_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("line.txt");
    std::fs::write(&path, "this is not json\n").unwrap();
    let path = path.to_str().unwrap();
    for protocol in ["oracle", "stepflow"] {
        for (dir, wanted) in [("c2s", false), ("s2c", true)] {
            let (code, out, _) = lint(&["-p", protocol, "--dir", dir, path]);
            assert_eq!(code, 1);
            assert_eq!(
                out.contains("a log line on stdout?"),
                wanted,
                "{protocol} {dir}: {out}"
            );
        }
    }
}

/// A wrong length of a `WebSocket` frame, by 3, is reported; the faults that follow from it are counted.
#[test]
fn wrong_length_gives_one_finding() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("wrong.jsonl");
    // Client frames with a mask of zeros; each holds an INV.
    let frame = |n: u32, off: usize| {
        let text =
            format!(r#"{{"kind":"INV","seq":{n},"tool":"echo.upper","input":{{"text":"hi"}}}}"#);
        let mut frame = vec![0x81, 0x80 | (text.len() + off) as u8, 0, 0, 0, 0];
        frame.extend(text.as_bytes());
        frame
    };
    let mut sent = Vec::new();
    for n in 1..30 {
        sent.extend(frame(n, if n == 5 { 3 } else { 0 }));
    }
    let chunk = |dir: &str, bytes: &[u8]| {
        let b64 = STANDARD.encode(bytes);
        format!("{{\"t\":1,\"conn\":1,\"dir\":\"{dir}\",\"b64\":\"{b64}\"}}\n")
    };
    let head =
        r#"{"wiretool":1,"protocol":"sael","started":"2026-01-01T00:00:00Z","transport":"ws"}"#;
    let mut recording = format!("{head}\n{{\"t\":0,\"conn\":1,\"event\":\"open\"}}\n");
    let request = b"GET /sael HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
    let upgraded = b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n";
    recording += &chunk("c2s", request);
    recording += &chunk("s2c", upgraded);
    recording += &chunk("c2s", &sent);
    std::fs::write(&path, recording).unwrap();
    let (code, out, _) = lint(&["-f", "json", path.to_str().unwrap()]);
    assert_eq!(code, 1);
    let lines = objects(&out);
    let (summary, findings) = lines.split_last().unwrap();
    let of_frames = |finding: &&Value| finding["finding"]["rule"] == "sael/malformed";
    let reported = findings.iter().filter(of_frames).count();
    assert!((1..=2).contains(&reported), "{out}");
    let index = &summary["summary"]["follow"][0]["index"];
    assert!(
        summary["summary"]["follow"][0]["count"].as_u64() >= Some(1),
        "{out}"
    );
    assert_eq!(
        index,
        &findings.iter().find(of_frames).unwrap()["finding"]["index"]
    );
    let (_, out, _) = lint(&[path.to_str().unwrap()]);
    assert!(out.contains(&format!("follow from #{index}")), "{out}");
}

#[test]
fn consequences_are_counted_in_every_output() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cut.txt");
    // A line that ends inside its message, the rest of it, and a request.
    let cut = r#"{"jsonrpc":"2.0","id":7,"method":"invoke","params":{"selector":"f","#;
    std::fs::write(&path, format!("{cut}\n\"calldata\":[]}}}}\n")).unwrap();
    let path = path.to_str().unwrap();
    let reported = "1 more finding follows from #0";
    let input = ["-p", "oracle", path];
    let (_, out, _) = lint(&input);
    assert!(out.contains(reported), "{out}");
    let (_, out, _) = lint(&[&["--report", "sarif"], &input[..]].concat());
    let report: Value = serde_json::from_str(&out).unwrap();
    let follow = &report["runs"][0]["properties"]["follow"];
    assert_eq!(
        (&follow[0]["index"], &follow[0]["count"]),
        (&0.into(), &1.into())
    );
    for format in ["tree", "line", "hex", "json"] {
        let (_, _, err) =
            common::outcome(&[&["decode", "--lint", "-f", format], &input[..]].concat());
        assert!(err.contains(reported), "{format}: {err}");
    }
    let (_, out, _) = common::outcome(&[&["stat"], &input[..]].concat());
    assert!(out.contains(reported), "{out}");
    let (_, out, _) = common::outcome(&[&["stat", "-f", "json"], &input[..]].concat());
    let stat: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(
        stat["follow"],
        serde_json::json!([{"index": 0, "count": 1}])
    );
    let recording = folder.path().join("recording");
    let recording = recording.to_str().unwrap();
    let args = ["-p", "oracle", "-w", recording, "--", "cat", path];
    for command in [
        &["record", "--lint"][..],
        &["proxy", "--lint", "--view", "stderr"],
    ] {
        let (_, _, err) = common::outcome(&[command, &args].concat());
        assert!(err.contains(reported), "{command:?}: {err}");
    }
}

/// telequick: a request whose length includes itself, 21 bytes; otherwise its length would be 25.
const INCLUSIVE: &str = "1500000012fabbe500000700000003000000616263";

#[test]
fn stall_reports_partial_frames() {
    let frame = hex::decode(INCLUSIVE).unwrap();
    let stall = ["lint", "-p", "telequick", "--stall", "20ms"];
    // A reader that follows the document waits for four bytes that never arrive.
    let mut live = RunningLint::start(&[&stall[..], &["--length-mode", "exclusive"]].concat());
    live.write(&frame);
    assert_eq!(next(&live.err), "wiretool: stdin: no input for 20 ms");
    insta::assert_snapshot!(next(&live.err), @"wiretool: stdin: offset 0: · 21 bytes of a frame were read, 4 are missing; length: wanted a frame of 25 bytes, got 21 so far — by its envelope, the length counts itself: --length-mode inclusive or auto reads it");
    assert_eq!(live.end().0, 1);
    // A partial frame after a complete one.
    let mut live = RunningLint::start(&stall);
    live.write(&[&frame, &frame[..16]].concat());
    next(&live.err);
    insta::assert_snapshot!(next(&live.err), @"wiretool: stdin: offset 21: · 16 bytes of a frame were read, 5 are missing; length: wanted a frame of 21 bytes, got 16 so far");
    // The rest arrives later.
    live.write(&frame[16..]);
    let (code, _, err) = live.end();
    assert_eq!(code, 0, "{err:?}");
    assert!(
        err.iter().any(|line| line.contains("in 2 messages")),
        "{err:?}"
    );
}

#[test]
fn stall_reports_uncertain_findings() {
    let mut live = RunningLint::start(&["lint", "--stall", "20ms"]);
    live.write(b"{\"id\":0,\"result\":{}}\n");
    next(&live.err);
    insta::assert_snapshot!(next(&live.err), @"wiretool: stdin: offset 0: · 21 bytes wait until protocol and framing are known: name them");
    let (_, _, err) = live.end();
    assert!(
        err[0].contains("no protocol recognises these bytes"),
        "{err:?}"
    );
}

#[test]
fn stall_reports_peer_that_must_send_next() {
    let recording = std::fs::read_to_string(INCOMPLETE).unwrap();
    let mut live = RunningLint::start(&["lint", "--stall", "20ms", "--color", "always"]);
    let open: Vec<&str> = recording.lines().take(4).collect();
    live.write((open.join("\n") + "\n").as_bytes());
    assert_eq!(next(&live.err), "wiretool: stdin: no input for 20 ms");
    assert_eq!(
        next(&live.err),
        "wiretool: stdin: 1 message waits for an answer:"
    );
    // At least as long as the silence.
    insta::assert_snapshot!(next(&live.err), @"wiretool:   #2 c0 → invoke pow  id 1  for 20 ms  the oracle must send it — no timeout: the executor waits forever");
    live.end();
}

/// The head and the messages of a recording without an end.
fn started_recording(path: &str) -> Vec<u8> {
    let recording = std::fs::read_to_string(path).unwrap();
    let lines = recording
        .lines()
        .filter(|line| !line.contains("\"event\":\"end\""));
    let mut text = lines.collect::<Vec<_>>().join("\n") + "\n";
    // A finding, and a text that a reader can wait for.
    text.push_str("{\"t\":9000000,\"conn\":0,\"dir\":\"s2c\",\"text\":\"{\\\"jsonrpc\\\":\\\"2.0\\\",\\\"id\\\":7,\\\"result\\\":[\\\"0x4\\\"]}\\n\"}\n");
    text.push_str("{\"t\":9000001,\"conn\":0,\"dir\":\"c2s\",\"text\":\"{\\\"jsonrpc\\\":\\\"2.0\\\",\\\"id\\\":2,\\\"method\\\":\\\"invoke\\\",\\\"params\\\":{\\\"selector\\\":\\\"sub\\\",\\\"calldata\\\":[]}}\\n\"}\n");
    text.into_bytes()
}

#[test]
fn signal_ends_reading_but_not_report() {
    for (signal, want) in [("INT", 130), ("TERM", 143)] {
        let mut live = RunningLint::start(&["lint"]);
        live.write(&started_recording(INCOMPLETE));
        assert!(next(&live.out).contains("oracle/answer-id"));
        live.signal(signal);
        // Standard input is still open: only the signal ends the command.
        let reported = [next(&live.out), next(&live.out)];
        assert_eq!(reported[0], "stdin: 1 message waits for an answer:");
        assert!(
            reported[1].starts_with("  #4 c0 → invoke sub  id 2"),
            "{reported:?}"
        );
        let code = live.child.wait().unwrap().code();
        assert_eq!(code, Some(want));
        let (_, out, err) = live.end();
        assert!(out.is_empty(), "it is told once: {out:?}");
        assert!(!err.iter().any(|line| line.contains("waits")), "{err:?}");
    }
}

#[test]
fn report_after_signal_is_complete() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("report.sarif");
    let name = path.to_str().unwrap();
    // The silence shows that everything was read.
    let mut live =
        RunningLint::start(&["lint", "--report", "sarif", "--stall", "20ms", "-o", name]);
    live.write(&started_recording(INCOMPLETE));
    next(&live.err);
    live.signal("INT");
    assert_eq!(live.child.wait().unwrap().code(), Some(130));
    let report: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    assert_eq!(
        report["runs"][0]["results"][0]["ruleId"],
        "oracle/answer-id"
    );
}

/// A recording in a file: its protocol, and its lines without times.
fn recorded(folder: &tempfile::TempDir, protocol: &str, lines: &[&str]) -> String {
    let path = folder.path().join("r.jsonl");
    let mut text = format!(
        "{{\"wiretool\":1,\"protocol\":\"{protocol}\",\"started\":\"2026-01-01T00:00:00.000000000Z\",\"transport\":\"tcp\"}}\n"
    );
    for (t, line) in lines.iter().enumerate() {
        text += &format!("{{\"t\":{}000000,\"conn\":1,{line}}}\n", t + 1);
    }
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

const OPEN: &str = r#""event":"open""#;
const CLOSE: &str = r#""event":"close""#;
const CALL: &str = r#""dir":"c2s","b64":"AAAAQYWndmVyc2lvbgGkdHlwZaRjYWxsomlkxBChssPU5fZIkKvNAAAAAAABpnRhcmdldKhtYXRoLmFkZKRhcmdzkgEC""#;
const ANSWER: &str = r#""dir":"s2c","b64":"AAAAIoOiaWTEEKGyw9Tl9kiQq80AAAAAAAGib2vDpnJlc3VsdAM=""#;

/// The findings of a recording as JSON.
fn findings(path: &str) -> Vec<Value> {
    let (_, out, _) = lint(&["-f", "json", path]);
    let all = objects(&out).into_iter();
    all.filter_map(|o| o.get("finding").cloned()).collect()
}

fn rules_of(found: &[Value]) -> Vec<(&str, &str)> {
    found
        .iter()
        .map(|f| (f["rule"].as_str().unwrap(), f["severity"].as_str().unwrap()))
        .collect()
}

#[test]
fn early_close_of_peer_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let eof = |dir: &str| format!("\"event\":\"eof\",\"dir\":\"{dir}\"");
    let (up, down) = (eof("c2s"), eof("s2c"));
    for ends in [vec![down.as_str(), &up, CLOSE], vec![&down], vec![CLOSE]] {
        let path = recorded(&folder, "saikuro", &[&[OPEN, CALL], &ends[..]].concat());
        let (code, out, err) = lint(&[&path]);
        assert_eq!(code, 1, "{ends:?}");
        let text = "error saikuro/unanswered: #0 c1 → call math.add has no answer, and the connection is closed";
        assert!(out.contains(text), "{ends:?}: {out}");
        assert!(!err.contains("both directions"), "{err}");
    }
    // The answer may still arrive.
    let path = recorded(&folder, "saikuro", &[OPEN, CALL]);
    assert_eq!(
        rules_of(&findings(&path)),
        [("saikuro/unanswered", "warning")]
    );
    // The public SDKs do not read answers.
    let fixture =
        std::fs::read_to_string("fixtures/telequick/rules/cut-short.passes.jsonl").unwrap();
    let whole = fixture
        .lines()
        .filter_map(|l| serde_json::from_str::<Value>(l).ok());
    let whole: Vec<String> = whole
        .filter_map(|l| {
            l["b64"]
                .as_str()
                .map(|b| format!("\"dir\":\"c2s\",\"b64\":\"{b}\""))
        })
        .collect();
    let lines: Vec<&str> = whole.iter().map(String::as_str).collect();
    let path = recorded(
        &folder,
        "telequick",
        &[&[OPEN], &lines[..], &[CLOSE]].concat(),
    );
    assert_eq!(
        rules_of(&findings(&path)),
        [("telequick/unanswered", "info")]
    );
}

#[test]
fn failed_upgrade_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let ask = r#""dir":"c2s","text":"GET /ws HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: one, two\r\n\r\n""#;
    let answer = |head: &str| format!("\"dir\":\"s2c\",\"text\":\"HTTP/1.1 {head}\\r\\n\\r\\n\"");
    let refused = answer("401 Unauthorized\\r\\nContent-Length: 0");
    let accepts = "101 Switching Protocols\\r\\nConnection: Upgrade\\r\\nUpgrade: websocket\\r\\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=";
    let other = answer(&format!("{accepts}\\r\\nSec-WebSocket-Protocol: three"));
    let sound = answer(&format!("{accepts}\\r\\nSec-WebSocket-Protocol: two"));
    for (lines, rule) in [
        (vec![refused.as_str(), CLOSE], Some("upgrade-refused")),
        (vec![CLOSE], Some("upgrade-unanswered")),
        (
            vec![r#""event":"eof","dir":"s2c""#],
            Some("upgrade-unanswered"),
        ),
        (vec![&other, CLOSE], Some("subprotocol-not-offered")),
        (vec![&sound, CLOSE], None),
    ] {
        for protocol in ["sael", "saikuro"] {
            let path = recorded(&folder, protocol, &[&[OPEN, ask], &lines[..]].concat());
            let want = rule.map(|rule| (format!("{protocol}/{rule}"), "error".to_owned()));
            let found = findings(&path);
            let got = rules_of(&found).into_iter().next();
            let got = got.map(|(rule, severity)| (rule.to_owned(), severity.to_owned()));
            assert_eq!(got, want, "{lines:?}");
        }
        // The protocol is unknown.
        let path = recorded(&folder, "sael", &[&[OPEN, ask], &lines[..]].concat());
        let recording = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, recording.replace("\"protocol\":\"sael\",", "")).unwrap();
        let (code, out, err) = lint(&[&path]);
        let (_, _, shown) = common::outcome(&["decode", "--lint", &path]);
        assert_eq!(code, 1, "{err}");
        match rule {
            Some(rule) => {
                assert!(out.contains(&format!("error http/{rule}")), "{out}{err}");
                assert!(!err.contains("no protocol"), "{err}");
                assert!(!out.contains('#'), "no message is shown: {out}");
                assert!(shown.contains(&format!("error http/{rule}")), "{shown}");
                assert_eq!(out.contains("401 Unauthorized"), rule == "upgrade-refused");
                let (code, _, _) = lint(&["--allow", "http/upgrade-*", &path]);
                assert_eq!(code, 1, "the input is still not recognised");
            }
            None => assert!(err.contains("no protocol"), "{err}"),
        }
    }
}

#[test]
fn most_severe_finding_is_first() {
    let folder = tempfile::tempdir().unwrap();
    let lines = [
        OPEN,
        r#""dir":"s2c","text":"{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"ready\"}\r\n""#,
        r#""dir":"c2s","text":"{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{}}\n""#,
        r#""dir":"c2s","text":"{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"invoke\",\"params\":{\"selector\":\"f\",\"calldata\":[]}}\n""#,
        CLOSE,
    ];
    let path = recorded(&folder, "oracle", &lines);
    let want = [("oracle/died-in-invoke", "error"), ("oracle/crlf", "info")];
    assert_eq!(rules_of(&findings(&path)), want);
    let (_, out, _) = lint(&[&path]);
    assert!(out.lines().next().unwrap().contains("error"), "{out}");
}

#[test]
fn findings_have_the_numbers_of_decode_and_name_their_file() {
    let folder = tempfile::tempdir().unwrap();
    let mut checked = 0;
    for rule in [
        "seq-gap",
        "seq-repeated",
        "second-answer",
        "ok-with-error",
        "batch-count",
        "answer-id-form",
    ] {
        let recording =
            std::fs::read_to_string(format!("fixtures/saikuro/rules/{rule}.fires.jsonl"));
        let mut streams = [Vec::new(), Vec::new()];
        for line in objects(&recording.unwrap()) {
            if let (Some(dir), Some(bytes)) = (line["dir"].as_str(), line["b64"].as_str()) {
                let bytes = base64(bytes);
                streams[usize::from(dir == "s2c")].extend_from_slice(&bytes);
            }
        }
        let files = ["c2s.bin", "s2c.bin"].map(|name| folder.path().join(name));
        for (file, bytes) in files.iter().zip(&streams) {
            std::fs::write(file, bytes).unwrap();
        }
        let [c2s, s2c] = files.each_ref().map(|file| file.to_str().unwrap());
        let (_, out, _) = lint(&["-f", "json", "-p", "saikuro", "--c2s", c2s, "--s2c", s2c]);
        for reported in objects(&out) {
            let Some(finding) = reported.get("finding") else {
                continue;
            };
            let file = reported["file"].as_str().unwrap();
            assert_eq!(
                file,
                if finding["dir"] == "c2s" { c2s } else { s2c },
                "{reported}"
            );
            let shown = [
                "decode", "-p", "saikuro", "-f", "json", "--c2s", c2s, "--s2c", s2c,
            ];
            let messages = objects(&common::outcome(&shown).1);
            let index = finding["index"].as_u64().unwrap() as usize;
            let message = &messages[index];
            assert_eq!(message["dir"], finding["dir"], "{reported} {message}");
            let number = |v: &Value| v.as_u64().unwrap();
            let (start, len) = (number(&message["offset"]), number(&message["len"]));
            let at = number(&finding["offset"]);
            assert!((start..start + len).contains(&at), "{reported} {message}");
            checked += 1;
        }
        // The conversation has the names of its files.
        let (_, _, err) = lint(&["-p", "saikuro", "--c2s", c2s, "--s2c", s2c]);
        let both = c2s.replace("c2s.bin", "{c2s,s2c}.bin");
        assert!(err.contains(&format!("{both}: ")), "{err}");
    }
    assert!(checked >= 6, "{checked}");
    // Each input counts its own messages.
    let (_, out, _) = lint(&["-f", "json", GAP, GAP]);
    let all: Vec<u64> = objects(&out)
        .iter()
        .filter_map(|o| o["finding"]["index"].as_u64())
        .collect();
    assert_eq!(all, [2, 2]);
}

fn base64(text: &str) -> Vec<u8> {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD
        .decode(text)
        .unwrap()
}

#[test]
fn injected_faults_are_not_findings_of_peers() {
    let folder = tempfile::tempdir().unwrap();
    let fault = |dir: &str, len: u64, does: &str| {
        format!(
            "\"event\":\"inject\",\"dir\":\"{dir}\",\"offset\":0,\"len\":{len},\"fault\":\"nth 1: {does}\""
        )
    };
    // A dropped request gets no answer.
    let dropped = fault("c2s", 69, "drop");
    let path = recorded(&folder, "saikuro", &[OPEN, &dropped, CALL, CLOSE]);
    let found = findings(&path);
    assert_eq!(rules_of(&found), [("saikuro/unanswered", "info")]);
    assert!(
        found[0]["text"]
            .as_str()
            .unwrap()
            .ends_with("(by wiretool: drop)")
    );
    // The same for a request on a closed connection.
    let cut = fault("s2c", 38, "reset");
    let path = recorded(
        &folder,
        "saikuro",
        &[OPEN, CALL, &cut, r#""event":"reset""#],
    );
    assert_eq!(rules_of(&findings(&path)), [("saikuro/unanswered", "info")]);
    // A dropped answer is not shown as ok.
    let dropped = fault("s2c", 38, "drop");
    let path = recorded(&folder, "saikuro", &[OPEN, CALL, &dropped, ANSWER, CLOSE]);
    assert_eq!(lint(&[&path]).0, 0);
    let (_, out, _) = common::outcome(&["decode", "-f", "line", &path]);
    let answer = out.lines().find(|line| line.contains("response")).unwrap();
    assert!(
        answer.contains("by wiretool: drop") && !answer.contains(" ok "),
        "{out}"
    );
    for format in ["tree", "hex"] {
        let (_, out, _) = common::outcome(&["decode", "-f", format, &path]);
        let title = out.lines().find(|line| line.contains("response")).unwrap();
        assert!(
            title.contains("by wiretool: drop") && !title.contains(" ok "),
            "{out}"
        );
    }
    let (_, out, _) = common::outcome(&["stat", "-f", "json", &path]);
    let stat: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(
        (&stat["dropped"], &stat["unanswered"]),
        (&1.into(), &1.into())
    );
    assert_eq!(stat["latencies"], serde_json::json!([]));
    let (_, out, _) = common::outcome(&["stat", &path]);
    assert!(out.contains("1 dropped by wiretool, 1 unanswered"), "{out}");
}

#[test]
fn answer_with_other_id_form_is_not_ok() {
    let path = "fixtures/saikuro/rules/answer-id-form.fires.jsonl";
    for format in ["line", "tree", "hex"] {
        let (_, out, _) = common::outcome(&["decode", "--lint", "-f", format, path]);
        assert!(out.contains("ok, id form differs"), "{format}: {out}");
    }
    let (_, out, _) = common::outcome(&["decode", "--lint", "-f", "json", path]);
    let differs = |message: &&Value| message["id_form_differs"] == true;
    let messages = objects(&out);
    let answers: Vec<&Value> = messages.iter().filter(differs).collect();
    assert!(!answers.is_empty(), "{out}");
    assert!(answers.iter().all(|m| m["reply_to"].is_u64()), "{out}");
    let (_, out, _) = common::outcome(&["stat", "-f", "json", path]);
    let stat: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(stat["id_form_differs"], answers.len());
    let (_, out, _) = common::outcome(&["stat", path]);
    assert!(out.contains("answered in another id form"), "{out}");
    let sound = "fixtures/saikuro/rules/answer-id-form.passes.jsonl";
    let (_, out, _) = common::outcome(&["decode", "--lint", "-f", "json", sound]);
    assert!(!out.contains("id_form_differs"), "{out}");
}

#[test]
fn providers_have_separate_names() {
    let folder = tempfile::tempdir().unwrap();
    let announce =
        std::fs::read_to_string("fixtures/saikuro/rules/namespace-twice.passes.jsonl").unwrap();
    let announce = announce.lines().find(|l| l.contains("c2s")).unwrap();
    let announce: Value = serde_json::from_str(announce).unwrap();
    let announce = announce["b64"].as_str().unwrap();
    let sent = |dir: &str, b64: &str| format!("\"dir\":\"{dir}\",\"b64\":\"{b64}\"");
    let call = CALL.split('"').nth(7).unwrap();
    let waits = |lines: &[&str]| {
        let path = recorded(&folder, "saikuro", lines);
        let (_, out, _) = lint(&["-f", "json", &path]);
        let summary = objects(&out).pop().unwrap()["summary"]["waiting"].clone();
        let all = summary.as_array().unwrap().iter();
        all.map(|w| w["owes"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    // A runtime calls a provider.
    let lines = [sent("c2s", announce), sent("s2c", call)];
    assert_eq!(
        waits(&[OPEN, &lines[0], &lines[1]]),
        ["runtime", "provider"]
    );
    // A client calls a provider without a runtime.
    let lines = [sent("s2c", announce), sent("c2s", call)];
    assert_eq!(waits(&[OPEN, &lines[0], &lines[1]]), ["provider"]);
}

#[test]
fn session_named_by_its_field_was_opened_before_the_capture() {
    let folder = tempfile::tempdir().unwrap();
    // mcp has servers without sessions.
    for (protocol, field, method, without_name) in [
        ("mcp", "mcp-session-id", "tools/list", false),
        ("acp", "acp-connection-id", "session/list", true),
    ] {
        let body = format!(r#"{{"jsonrpc":"2.0","id":7,"method":"{method}","params":{{}}}}"#);
        let findings_of = |named: &str| {
            let head = format!(
                "POST / HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n{named}content-length: {}\r\n\r\n",
                body.len()
            );
            let text = serde_json::to_string(&(head + &body)).unwrap();
            let line = format!(r#""dir":"c2s","text":{text}"#);
            let answer =
                r#""dir":"s2c","text":"HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n""#;
            findings(&recorded(&folder, protocol, &[OPEN, &line, answer]))
        };
        let rule = format!("{protocol}/before-initialize");
        let is_early = |found: Vec<Value>| found.iter().any(|finding| finding["rule"] == rule);
        assert_eq!(is_early(findings_of("")), without_name, "{protocol}");
        let named = format!("{field}: 5f1c\r\n");
        assert!(!is_early(findings_of(&named)), "{protocol}");
    }
}

#[test]
fn a_wait_without_a_later_time_has_no_age() {
    let call = r#"{"t":2000000,"conn":1,"dir":"c2s","text":"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{}}\n"}"#;
    let header = r#"{"wiretool":1,"protocol":"mcp","started":"2026-11-21T10:00:00.000000000Z"}"#;
    let later = r#"{"t":5000000,"conn":1,"dir":"s2c","text":"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\"}\n"}"#;
    for (lines, wanted) in [
        (vec![header, call], "id 1  the server must send it"),
        (
            vec![header, call, later],
            "id 1  for 3 ms  the server must send it",
        ),
    ] {
        let input = lines.join("\n") + "\n";
        let (_, out, _) = common::run(common::wiretool().arg("lint"), &input);
        assert!(out.contains(wanted), "{out}");
    }
}

#[test]
fn the_innermost_open_request_comes_first_and_its_method_names_the_side() {
    let header = r#"{"wiretool":1,"protocol":"mcp","started":"2026-11-21T10:00:00Z"}"#;
    let chunk = |t: u64, dir: &str, id: &str, method: &str| {
        let text = json!({"jsonrpc": "2.0", "id": id, "method": method}).to_string();
        json!({"t": t, "conn": 1, "dir": dir, "text": text + "\n"}).to_string()
    };
    let call = chunk(1, "c2s", "a", "tools/call");
    for (second, wanted) in [
        (
            chunk(2, "s2c", "b", "sampling/createMessage"),
            [("server", Some(1)), ("client", None)],
        ),
        // The answer to a ping completes nothing, and another request of the client blocks no server.
        (
            chunk(2, "s2c", "b", "ping"),
            [("server", None), ("client", None)],
        ),
        (
            chunk(2, "c2s", "b", "tools/list"),
            [("server", None), ("server", None)],
        ),
    ] {
        let input = [header, &call, &second]
            .map(|line| format!("{line}\n"))
            .concat();
        let (_, out, _) = common::run(common::wiretool().args(["lint", "-f", "json"]), &input);
        let summary = objects(&out).pop().unwrap()["summary"].clone();
        let waiting = summary["waiting"].as_array().unwrap();
        let found: Vec<_> = waiting
            .iter()
            .map(|one| (one["owes"].as_str().unwrap(), one["blocked_by"].as_u64()))
            .collect();
        assert_eq!(found, wanted, "{second}");
        let (_, out, _) = common::run(common::wiretool().arg("lint"), &input);
        let is_named = out.contains("the server must send it, and may wait for #1 first");
        assert_eq!(is_named, wanted[0].1.is_some(), "{out}");
    }
    // The directions of plain lines are not known, but only a client sends this method.
    let lines = [
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[]}}"#,
        r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"slow"}}"#,
    ];
    let input = lines.map(|line| format!("{line}\n")).concat();
    let (_, out, _) = common::run(common::wiretool().args(["lint", "-p", "mcp"]), &input);
    assert!(
        out.contains("tools/call slow  id 2  the server must send it"),
        "{out}"
    );
}

/// A reference to another document cannot be followed: lint says so once for each tool.
#[test]
fn a_schema_that_refers_to_another_document_is_said_to_be_unchecked() {
    let path = "fixtures/mcp/rules/tool-arguments.passes.jsonl";
    let session = std::fs::read_to_string(path).unwrap();
    let schema = r#"{\"type\":\"object\","#;
    assert!(session.contains(schema));
    let foreign = r#"{\"allOf\":[{\"$ref\":\"https://example.com/add.json\"}],"#;
    let mut lines: Vec<String> = session
        .lines()
        .map(|l| l.replace(schema, foreign))
        .collect();
    let call = lines
        .iter()
        .rposition(|line| line.contains("tools/call"))
        .unwrap();
    let again = lines[call].replace(r#"\"id\":2"#, r#"\"id\":3"#);
    lines.insert(call + 2, again);
    let session = lines.join("\n") + "\n";
    let (_, out, err) = common::run(&mut wiretool(&["lint", "-f", "json", "-"]), &session);
    let found = objects(&out);
    let found = found.iter().map(|line| &line["finding"]);
    let found = found.filter(|finding| finding["rule"] == "mcp/tool-arguments");
    let found: Vec<_> = found
        .map(|finding| (&finding["severity"], &finding["text"]))
        .collect();
    let text = "the arguments of add could not be checked: the reference \"https://example.com/add.json\" is not in the schema";
    assert_eq!(found, [(&json!("info"), &json!(text))], "{out}{err}");
}

#[test]
fn an_empty_input_among_others_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let good = common::file(
        folder.path(),
        "good.jsonl",
        "{\"jsonrpc\":\"2.0\",\"method\":\"m\"}\n",
    );
    let empty = common::file(folder.path(), "empty.jsonl", "");
    for format in ["text", "json"] {
        let mut command = common::wiretool();
        let (code, _, err) = common::run(command.args(["lint", "-f", format, &good, &empty]), "");
        assert_eq!(code, 2, "{err}");
        assert!(
            err.contains("empty.jsonl: empty input: there is nothing to check"),
            "{err}"
        );
        assert!(!err.contains("good.jsonl: empty"), "{err}");
    }
}
