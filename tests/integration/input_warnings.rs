//! Flags that contradict the bytes of an input.

use crate::common;
use std::io::Write as _;
use std::path::PathBuf;

/// A file of this name with these bytes, gone with the folder.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn file(&self, name: &str, bytes: &str) -> PathBuf {
        let path = self.0.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    }
}

/// The stderr of a command, and its exit status.
fn warning_of(args: &[&str], stdin: &[u8]) -> (i32, String) {
    let mut child = common::wiretool()
        .args(args)
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(stdin).unwrap();
    let output = child.wait_with_output().unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    (output.status.code().unwrap(), text)
}

const READY: &str = r#"{"jsonrpc":"2.0","id":0,"method":"ready"}"#;
const ACK: &str = r#"{"jsonrpc":"2.0","id":0,"result":{}}"#;
const INVOKE: &str =
    r#"{"jsonrpc":"2.0","id":0,"method":"invoke","params":{"selector":"f","calldata":[]}}"#;
const RESULT: &str = r#"{"jsonrpc":"2.0","id":0,"result":["0x1"]}"#;
const SHUTDOWN: &str = r#"{"jsonrpc":"2.0","method":"shutdown"}"#;

fn lines(all: &[&str]) -> String {
    all.join("\n") + "\n"
}

#[test]
fn protocol_without_messages_gives_warning() {
    let saikuro = std::fs::read("fixtures/saikuro/call.hex").unwrap();
    let oracle = lines(&[READY, RESULT]);
    let cases: &[(&str, &[u8], Option<&str>)] = &[
        (
            "oracle",
            &saikuro,
            Some("these bytes look like saikuro (prefix): -p saikuro reads them"),
        ),
        (
            "telequick",
            oracle.as_bytes(),
            Some("these bytes look like oracle (lines): -p oracle reads them"),
        ),
        ("saikuro", &saikuro, None),
        ("oracle", oracle.as_bytes(), None),
        // It reads as nothing else either.
        ("oracle", b"warming up\n", None),
    ];
    for (protocol, bytes, wanted) in cases {
        for command in ["decode", "lint"] {
            let (_, reported) = warning_of(&[command, "-p", protocol], bytes);
            let found = reported.lines().find(|line| line.contains("look like"));
            assert_eq!(
                found.map(|l| l.trim_start_matches("wiretool: stdin: ")),
                *wanted,
                "{command} -p {protocol}: {reported}"
            );
        }
    }
}

#[test]
fn swapped_files_give_warning() {
    let folder = Folder::new();
    let to = folder.file("to", &lines(&[ACK, INVOKE, SHUTDOWN]));
    let from = folder.file("from", &lines(&[READY, RESULT]));
    let (to, from) = (to.to_str().unwrap(), from.to_str().unwrap());
    for command in ["decode", "lint"] {
        let (code, reported) = warning_of(&[command, "--c2s", from, "--s2c", to], b"");
        let wanted = format!("the two files seem to be swapped: use --c2s {to} --s2c {from}");
        assert!(reported.contains(&wanted), "{command}: {reported}");
        assert_eq!(code, i32::from(command == "lint"));
        let (_, reported) = warning_of(&[command, "--c2s", to, "--s2c", from], b"");
        assert!(!reported.contains("wrong way"), "{command}: {reported}");
        let (_, reported) = warning_of(&[command, "--dir", "s2c", to], b"");
        assert!(
            reported.contains("--dir seems to be the wrong direction"),
            "{command}: {reported}"
        );
        let (_, reported) = warning_of(&[command, "--dir", "c2s", to], b"");
        assert!(!reported.contains("wrong way"), "{command}: {reported}");
    }
    // One message is not enough, and one that goes the right way speaks against it.
    for all in [&[SHUTDOWN][..], &[INVOKE, SHUTDOWN, READY]] {
        let (_, reported) = warning_of(
            &["decode", "-p", "oracle", "--dir", "s2c"],
            lines(all).as_bytes(),
        );
        assert!(!reported.contains("wrong way"), "{reported}");
    }
}

#[test]
fn surplus_answers_are_found_without_order() {
    let folder = Folder::new();
    let to = folder.file("to", &lines(&[ACK, INVOKE, SHUTDOWN]));
    let once = folder.file("once", &lines(&[READY, RESULT]));
    let twice = folder.file("twice", &lines(&[READY, RESULT, RESULT]));
    for (from, found) in [(&once, false), (&twice, true)] {
        let output = common::wiretool()
            .args(["lint", "--c2s"])
            .args([&to, &PathBuf::from("--s2c"), from])
            .output()
            .unwrap();
        let reported = String::from_utf8(output.stdout).unwrap();
        // The number is that of the conversation, the offset that of the file.
        let wanted =
            "/twice:3:23: error oracle/extra-line: #4 ← id 0 has 2 answers and 1 request (see #3)";
        assert_eq!(reported.contains(wanted), found, "{reported}");
        assert_eq!(output.status.code(), Some(i32::from(found)));
    }
}

#[test]
fn an_input_without_bytes_has_one_reason() {
    let har = r#"{"log":{"version":"1.2","creator":{"name":"x","version":"1"},"entries":[]}}"#;
    let (code, text) = warning_of(&["decode"], har.as_bytes());
    assert_eq!(code, 1);
    assert_eq!(
        text,
        "wiretool: stdin: byte 75: the HAR file has no entries (record while the traffic flows, and export with content)\n"
    );
}

/// Without a protocol, a framing that does not fit shows its faults, and the framing that reads the bytes is named.
#[test]
fn a_framing_that_does_not_fit_names_the_right_one() {
    let messages = [
        r#"{"jsonrpc":"2.0","id":1,"method":"a.b","params":[1]}"#,
        r#"{"jsonrpc":"2.0","id":2,"method":"c","params":{"x":1}}"#,
    ];
    let header = |body: &str| format!("Content-Length: {}\r\n\r\n{body}", body.len());
    let post = |body: &str| format!("POST / HTTP/1.1\r\nHost: h\r\n{}", header(body));
    let lines = messages.join("\n") + "\n";
    let joined = messages.concat();
    let blocks = messages.map(header).concat();
    let http = messages.map(post).concat();
    for (framing, bytes, want) in [
        (
            "lines",
            &joined,
            "two messages on one line: each needs its own line; --framing values reads both",
        ),
        (
            "lines",
            &blocks,
            "no protocol recognises these bytes as lines: they are jsonrpc with --framing content-length",
        ),
        (
            "lines",
            &http,
            "no protocol recognises these bytes as lines: they are jsonrpc with --framing http",
        ),
        (
            "content-length",
            &lines,
            "the messages have no header: --framing lines reads them",
        ),
        (
            "content-length",
            &joined,
            "the messages have no header: --framing values reads them",
        ),
        ("http", &joined, "they are jsonrpc with --framing values"),
    ] {
        let (code, text) = warning_of(&["decode", "--framing", framing], bytes.as_bytes());
        assert_eq!(code, 1, "{framing}: {text}");
        assert!(text.contains(want), "{framing}: {text}");
    }
    let with_protocol = ["decode", "-p", "lsp", "--framing", "lines"];
    let (_, text) = warning_of(&with_protocol, blocks.as_bytes());
    let want = "this is a Content-Length header";
    assert!(
        text.contains(want) && !text.contains("do not use it"),
        "{text}"
    );
    for bytes in [&lines, &joined] {
        let (code, text) = warning_of(&["decode", "--framing", "values"], bytes.as_bytes());
        assert_eq!((code, text.as_str()), (0, ""));
    }
}

/// A word that is neither a protocol nor a file leads to what was meant.
#[test]
fn recordings_and_methods_in_other_places_have_tips() {
    let recording = "fixtures/mcp/session.jsonl";
    for (args, want) in [
        (
            &["stub", recording][..],
            "a stub answers from a recording with --from-recording fixtures/mcp/session.jsonl",
        ),
        (
            &["decode", recording, "tools/call"],
            "a method is --where 'subject=tools/call'",
        ),
    ] {
        let (code, _, err) = common::run(common::wiretool().args(args), "");
        assert_eq!(code, 2, "{args:?}: {err}");
        assert!(err.contains(want), "{args:?}: {err}");
    }
}

/// A server logs what it receives: the structs of telequick show the sides.
#[test]
fn a_log_of_a_server_of_telequick_is_turned_round() {
    let request = "650000008369465501005b000000000000000e0000002b353531313939393939303030300d0000002b35353131333333333434343400000000000000000000000000000000030000004341310000000000000000000000000000000000000000000000000000000000";
    let answer = "2b00000083694655000021000000030000004341310600000071756575656400000000000000000000000000000000";
    let log = format!(
        "2026-11-27 18:02:00 DEBUG quic recv {request}\n2026-11-27 18:02:01 DEBUG quic send {answer}\n"
    );
    let mut command = common::wiretool();
    let (code, out, err) = common::run(command.args(["decode", "-f", "json"]), &log);
    assert_eq!(code, 0, "{err}");
    assert!(err.contains("all are turned round"), "{err}");
    let rows = out.lines().map(|line| {
        let row: serde_json::Value = serde_json::from_str(line).unwrap();
        format!(
            "{} {}",
            row["dir"].as_str().unwrap(),
            row["kind"].as_str().unwrap()
        )
    });
    let rows: Vec<_> = rows.collect();
    assert_eq!(rows, ["c2s OriginateRequest", "s2c OriginateResponse"]);
}
