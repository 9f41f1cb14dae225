//! `wiretool lint`: the first finding is the cause; refused requests; open requests; the language of findings.

use crate::common;
use serde_json::Value;
use std::path::{Path, PathBuf};

const PROTOCOLS: [&str; 9] = [
    "acp",
    "jsonrpc",
    "lsp",
    "mcp",
    "oracle",
    "sael",
    "saikuro",
    "stepflow",
    "telequick",
];

fn objects(text: &str) -> Vec<Value> {
    let lines = text.lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// The findings and the summary of a capture.
fn lint(args: &[&str]) -> (Vec<Value>, Value) {
    let (_, out, err) = common::outcome(&[&["lint", "-f", "json"], args].concat());
    let mut all = objects(&out);
    let last = all.pop().unwrap_or_else(|| panic!("{args:?}: {err}"));
    let found = all.iter_mut().map(|one| one["finding"].take()).collect();
    (found, last["summary"].clone())
}

/// The files of a folder of fixtures, with their names.
fn fixtures(folder: &str) -> Vec<(String, PathBuf)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("fixtures")
        .join(folder);
    let mut all: Vec<_> = folder
        .read_dir()
        .unwrap()
        .map(|entry| entry.unwrap())
        .map(|entry| (entry.file_name().into_string().unwrap(), entry.path()))
        .collect();
    all.sort();
    all
}

/// Writes the two directions of a connection; returns their flags.
fn pair(folder: &tempfile::TempDir, c2s: &str, s2c: &str) -> [String; 4] {
    let [c2s, s2c] = [("a.c2s.bin", c2s), ("a.s2c.bin", s2c)].map(|(name, text)| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    });
    ["--c2s".into(), c2s, "--s2c".into(), s2c]
}

#[test]
fn the_hint_of_a_fault_is_in_a_finding_and_the_first_finding_has_the_cause() {
    // The text after this is about the message before.
    let rest = "these bytes end the previous message: ";
    let mut checked = 0;
    for protocol in PROTOCOLS {
        for (name, path) in fixtures(protocol) {
            let is_input = [".hex", ".bin", ".txt"]
                .iter()
                .any(|end| name.ends_with(end));
            if !name.starts_with("fault-") || !is_input {
                continue;
            }
            let path = path.to_str().unwrap();
            let (_, out, _) = common::outcome(&["decode", "-p", protocol, "-f", "json", path]);
            let mut hints = Vec::new();
            // serde_json does not read more than 128 levels, which is the fault of one fixture.
            let lines = out
                .lines()
                .filter_map(|line| serde_json::from_str(line).ok());
            for message in lines.collect::<Vec<Value>>() {
                let more = message["faults"].as_array().cloned().unwrap_or_default();
                for fault in [&message["fault"]].into_iter().chain(&more) {
                    // Missing bytes of the capture are not a fault of a peer.
                    if let Some(hint) = fault["hint"].as_str().filter(|_| fault["code"] != "gap") {
                        hints.push(hint.to_owned());
                    }
                }
            }
            let (found, _) = lint(&["-p", protocol, path]);
            let texts: Vec<&str> = found.iter().map(|f| f["text"].as_str().unwrap()).collect();
            let mut has_cause = false;
            for hint in hints {
                let cause = hint.strip_prefix(rest);
                let wanted = cause.unwrap_or(&hint);
                let in_finding = texts.iter().position(|text| text.contains(wanted));
                // A later fault may follow from the first, or from a message before, and say so.
                let follows = has_cause || hint.contains("an earlier length was wrong");
                assert!(
                    in_finding.is_some() || follows,
                    "{name}: {hint}\n{texts:#?}"
                );
                if cause.is_some() {
                    assert_eq!(in_finding, Some(0), "{name}: {hint}\n{texts:#?}");
                }
                has_cause |= in_finding == Some(0);
                checked += 1;
            }
        }
    }
    assert!(checked > 60, "{checked} hints");
}

#[test]
fn a_refused_upgrade_is_the_only_finding_whatever_its_body_is() {
    let folder = tempfile::tempdir().unwrap();
    let ask = "GET /ws HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
        Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
    for protocol in ["sael", "saikuro", "mcp", "acp", "jsonrpc"] {
        for status in [
            "200 OK",
            "401 Unauthorized",
            "403 Forbidden",
            "404 Not Found",
        ] {
            let body = "no such page here";
            let answer = format!(
                "HTTP/1.1 {status}\r\nContent-Length: {}\r\n\r\n{body}",
                body.len()
            );
            let files = pair(&folder, ask, &answer);
            let files = files.each_ref().map(String::as_str);
            let (found, summary) = lint(&[&["-p", protocol], &files[..]].concat());
            let rules: Vec<_> = found.iter().map(|f| f["rule"].as_str().unwrap()).collect();
            assert_eq!(rules, [format!("{protocol}/upgrade-refused")], "{status}");
            assert_eq!(summary["follow"], serde_json::json!([]));
            // The text of a refusal is no message that cannot be decoded.
            let decoded = common::outcome(&[&["decode", "-p", protocol], &files[..]].concat());
            assert_eq!(decoded.0, 0, "{protocol} {status}: {}", decoded.1);
        }
    }
}

#[test]
fn a_failed_server_is_an_error_and_a_refusal_an_info() {
    let folder = tempfile::tempdir().unwrap();
    for (protocol, body) in [
        (
            "stepflow",
            r#"{"jsonrpc":"2.0","id":"1","method":"components/list","params":{}}"#,
        ),
        ("mcp", r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#),
        (
            "acp",
            r#"{"jsonrpc":"2.0","id":1,"method":"session/list","params":{}}"#,
        ),
        ("jsonrpc", r#"{"jsonrpc":"2.0","id":1,"method":"add"}"#),
    ] {
        let ask = format!(
            "POST / HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n\
            Accept: application/json, text/event-stream\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        let page = ("text/html", "<html>no server</html>");
        let refusal = ("application/json", r#"{"error":{"code":1,"message":"no"}}"#);
        // A request that breaks a rule itself may be refused, but a proxy and a page do not read it.
        let read = Some("info").filter(|_| protocol != "stepflow");
        for (status, (kind, text), wanted) in [
            ("502 Bad Gateway", page, Some("error")),
            ("503 Service Unavailable", page, Some("error")),
            ("404 Not Found", page, Some("info")),
            ("404 Not Found", refusal, read),
        ] {
            let answer = format!(
                "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n\r\n{text}",
                text.len()
            );
            let files = pair(&folder, &ask, &answer);
            let files = files.each_ref().map(String::as_str);
            let (found, _) = lint(&[&["-p", protocol], &files[..]].concat());
            let rule = format!("{protocol}/refused");
            let refused = found.iter().find(|f| f["rule"] == rule.as_str());
            let got = refused.map(|f| f["severity"].as_str().unwrap());
            assert_eq!(got, wanted, "{protocol} {status} {kind}");
        }
    }
}

#[test]
fn another_protocol_on_the_connection_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.bin");
    for (bytes, cause) in [
        (
            &b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0"[..],
            "this is HTTP/2",
        ),
        (b"\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03", "this is TLS"),
    ] {
        std::fs::write(&path, bytes).unwrap();
        for protocol in ["stepflow", "mcp", "lsp"] {
            let (found, _) = lint(&["-p", protocol, path.to_str().unwrap()]);
            let first = found[0]["text"].as_str().unwrap();
            assert!(first.contains(cause), "{protocol}: {found:?}");
        }
    }
}

#[test]
fn a_request_that_was_not_read_can_be_cancelled() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.jsonl");
    for (protocol, conn) in [("mcp", 1), ("lsp", 0)] {
        let path_of = format!("fixtures/{protocol}/rules/cancel-unknown.fires.jsonl");
        let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path_of));
        let text = text.unwrap();
        let (head, rest) = text.split_once('\n').unwrap();
        let lost = format!(r#"{{"t":1,"conn":{conn},"event":"lost","dir":"c2s","len":40}}"#);
        for (text, args, fires) in [
            (text.clone(), &[][..], true),
            (format!("{head}\n{lost}\n{rest}"), &[], false),
            (text.clone(), &["--max-open", "0"], false),
        ] {
            std::fs::write(&path, text).unwrap();
            let (found, _) = lint(&[&[path.to_str().unwrap()], args].concat());
            let rule = format!("{protocol}/cancel-unknown");
            let has_fired = found.iter().any(|f| f["rule"] == rule.as_str());
            assert_eq!(has_fired, fires, "{protocol} {args:?}: {found:?}");
        }
    }
}

#[test]
fn a_runtime_that_calls_a_provider_keeps_to_its_schema() {
    let folder = tempfile::tempdir().unwrap();
    let path = "fixtures/saikuro/rules/args-unfit.fires.jsonl";
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap();
    // The same call, but the runtime sends it to the provider.
    let mut lines: Vec<&str> = text.lines().collect();
    let call = lines
        .iter()
        .position(|line| line.contains(r#""t":4000000"#))
        .unwrap();
    let sent = lines[call].replace(r#""conn":1,"dir":"c2s""#, r#""conn":0,"dir":"s2c""#);
    assert_ne!(sent, lines[call]);
    lines.splice(call - 1..call + 3, [sent.as_str()]);
    let path = folder.path().join("r.jsonl");
    std::fs::write(&path, lines.join("\n") + "\n").unwrap();
    let (found, _) = lint(&[path.to_str().unwrap()]);
    let rules: Vec<_> = found.iter().map(|f| f["rule"].as_str().unwrap()).collect();
    assert!(rules.contains(&"saikuro/args-unfit"), "{rules:?}");
}

/// The end of a connection does not change which requests have no answer.
#[test]
fn requests_without_an_answer_are_listed_after_their_connection_has_ended() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.jsonl");
    let path = path.to_str().unwrap();
    for protocol in PROTOCOLS {
        let rule = match protocol {
            "oracle" => "died-in-invoke",
            _ => "unanswered",
        };
        let name = format!("fixtures/{protocol}/rules/{rule}.fires.jsonl");
        let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(name));
        let text = text.unwrap();
        // The traffic, without the ends of connections.
        let is_traffic = |line: &&str| !line.contains("\"event\"") || line.contains("\"open\"");
        let open: Vec<&str> = text.lines().filter(is_traffic).collect();
        let conn = text.split_once("\"conn\":").unwrap().1;
        let conn = conn.split_once(',').unwrap().0;
        for event in ["close", "exit", "reset"] {
            let end = format!(r#"{{"t":200000000,"conn":{conn},"event":"{event}"}}"#);
            let [open, ended] = [&open[..], &[&open[..], &[&end]].concat()].map(|lines| {
                std::fs::write(path, lines.join("\n") + "\n").unwrap();
                let (_, summary) = lint(&[path]);
                let (_, out, _) = common::outcome(&["stat", "-f", "json", path]);
                let waiting = summary["waiting"].as_array().map_or(&[][..], Vec::as_slice);
                let stat = objects(&out).pop().unwrap();
                assert_eq!(stat["unanswered"], waiting.len(), "{protocol} {event}");
                let index = waiting.iter().map(|one| one["index"].clone());
                index.collect::<Vec<_>>()
            });
            assert_eq!((open.len(), &ended), (1, &open), "{protocol} {event}");
        }
    }
}

/// The law: lint and stat count the same open requests. The library test of watch compares its count with theirs.
#[test]
fn lint_and_stat_count_the_same_open_requests() {
    let (mut checked, mut open) = (0, 0);
    for protocol in PROTOCOLS {
        for (name, path) in fixtures(&format!("{protocol}/rules")) {
            let words = ["answer", "still", "event", "order", "closed"];
            if !words.iter().any(|word| name.contains(word)) {
                continue;
            }
            let path = path.to_str().unwrap();
            let (_, summary) = lint(&[path]);
            let (_, out, err) = common::outcome(&["stat", "-f", "json", path]);
            let stat = objects(&out)
                .pop()
                .unwrap_or_else(|| panic!("{name}: {err}"));
            let waiting = summary["waiting"].as_array().map_or(0, Vec::len);
            assert_eq!(stat["unanswered"], waiting, "{name}");
            checked += 1;
            open += waiting;
        }
    }
    assert!(
        checked > 40 && open > 5,
        "{checked} recordings, {open} open requests"
    );
}
