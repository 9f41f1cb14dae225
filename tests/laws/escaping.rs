//! Control and bidirectional characters are escaped in the output of every command and format.

use super::secrets::{websocket, wiretool};
use wiretool::capture::RecordingWriter;
use wiretool::capture::{ChunkSource, Header};
use wiretool::render::style::is_active;

/// C0, DEL, C1, bidirectional marks, separators, the byte order mark.
const ACTIVE: &str =
    "\u{1}\u{1b}[31m\u{7f}\u{85}\u{9b}\u{61c}\u{200e}\u{2028}\u{202e}\u{2066}\u{feff}";

/// The required escapes of the same characters in JSON.
fn escaped() -> String {
    ACTIVE
        .replace('\u{1}', "\\u0001")
        .replace('\u{1b}', "\\u001b")
}

fn messages(protocol: &str) -> Vec<(ChunkSource, Vec<u8>)> {
    let (a, up) = (escaped(), |bytes: Vec<u8>| (ChunkSource::C2s, bytes));
    let back = |bytes: Vec<u8>| (ChunkSource::S2c, bytes);
    match protocol {
        "oracle" => vec![
            back(format!("{{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"ready\",\"params\":{{\"{a}\":\"{a}\"}}}}\n").into()),
            up(format!("{{\"jsonrpc\":\"2.0\",\"id\":\"{a}\",\"method\":\"invoke\",\"params\":{{\"selector\":\"{a}\",\"calldata\":[\"{a}\"]}}}}\n").into()),
            back(format!("{{\"jsonrpc\":\"2.0\",\"id\":\"{a}\",\"error\":{{\"code\":\"{a}\",\"message\":\"{a}\"}}}}\n").into()),
            back(format!("{ACTIVE} no json\n").into()),
        ],
        "stepflow" => vec![
            up(format!("POST /{ACTIVE} HTTP/1.1\r\nHost: {ACTIVE}\r\nX-{ACTIVE}: {ACTIVE}\r\n\r\n").into()),
            up(format!("{{\"jsonrpc\":\"2.0\",\"id\":\"{a}\",\"method\":\"{a}\",\"params\":{{\"{a}\":1}}}}\n").into()),
        ],
        "sael" => vec![
            up(websocket(1, format!("{{\"v\":1,\"kind\":\"{a}\",\"seq\":\"{a}\"}}").as_bytes(), true)),
            up(websocket(1, format!("{{\"v\":1,\"kind\":\"INV\",\"seq\":2,\"tool\":\"{a}\",\"args\":{{\"{a}\":\"{a}\"}}}}").as_bytes(), true)),
            back(websocket(1, format!("{{\"v\":1,\"kind\":\"STR\",\"seq\":2,\"delta\":{{\"{a}\":\"{a}\"}}}}").as_bytes(), false)),
            back(websocket(1, format!("{{\"v\":1,\"kind\":\"ERR\",\"seq\":2,\"code\":\"{a}\",\"message\":\"{a}\"}}").as_bytes(), false)),
            back(websocket(8, &[&[3, 0xe9], ACTIVE.as_bytes()].concat(), false)),
        ],
        _ => {
            let text = |text: &str| rmpv::Value::from(text);
            let map = |members: Vec<(&str, rmpv::Value)>| {
                let members = members.into_iter().map(|(key, value)| (text(key), value));
                let mut out = Vec::new();
                rmpv::encode::write_value(&mut out, &rmpv::Value::Map(members.collect())).unwrap();
                [&(out.len() as u32).to_be_bytes()[..], &out].concat()
            };
            vec![
                up(map(vec![("version", 1.into()), ("type", text("call")), ("id", text(ACTIVE)), ("target", text(ACTIVE)), ("args", rmpv::Value::Array(vec![text(ACTIVE)])), (ACTIVE, text(ACTIVE))])),
                up(map(vec![("version", 1.into()), ("type", text(ACTIVE)), ("id", text("b"))])),
                back(map(vec![("id", text(ACTIVE)), ("ok", false.into()), ("error", rmpv::Value::Map(vec![(text("code"), text(ACTIVE)), (text("message"), text(ACTIVE))]))])),
            ]
        }
    }
}

/// FILE has active characters everywhere, OTHER is another such file.
const COMMANDS: &[&[&str]] = &[
    &["decode", "-v", "-f", "tree", "FILE"],
    &["decode", "-v", "-f", "line", "--lint", "FILE"],
    &["decode", "-f", "hex", "FILE"],
    &["decode", "-f", "tree", "--state", "FILE"],
    &["decode", "--at", "40", "FILE"],
    &["decode", "--path", "params", "FILE"],
    &["lint", "-v", "FILE"],
    &["lint", "-f", "json", "FILE"],
    &["lint", "--report", "sarif", "FILE"],
    &["stat", "FILE"],
    &["stat", "-f", "json", "FILE"],
    &["diff", "FILE", "OTHER"],
    &["diff", "--strict", "-f", "json", "FILE", "OTHER"],
    &["redact", "FILE"],
    &["redact", "FILE", "--key", "x"],
    &["snapshot", "test", "-f", "json", "."],
    &["snapshot", "test", "."],
    &["snapshot", "list", "-f", "json", "."],
    &["snapshot", "list", "."],
    &["stub", "PROTOCOL", "--from", "FILE", "--print-script"],
    // Errors of the argument parser, and other arguments.
    &["decode", "ACTIVE"],
    &["decode", "--ACTIVE"],
    &["ACTIVE"],
    &["decode", "-p", "ACTIVE", "FILE"],
    &["decode", "--where", "kind=ACTIVE", "FILE"],
    &["decode", "--path", "ACTIVE", "FILE"],
    &["lint", "--allow", "ACTIVE", "FILE"],
    &["lint", "--explain", "ACTIVE"],
    &["diff", "ACTIVE", "FILE"],
    &["diff", "--ignore-file", "ACTIVE", "FILE", "OTHER"],
    &["redact", "--value", "(ACTIVE", "FILE"],
    &["proxy", "--connect", "ws://ACTIVE"],
    &[
        "proxy",
        "-p",
        "oracle",
        "--connect",
        "tcp://127.0.0.1:1",
        "--fault",
        "kind=x: ACTIVE",
    ],
    &["send", "oracle", "ACTIVE", "--", "ACTIVE"],
    &["make", "oracle", "ACTIVE"],
    &["make", "oracle", "invoke", "ACTIVE", "--to", "json"],
    &["make", "sael", "INV", "ACTIVE", "{}", "--to", "json"],
    &[
        "make",
        "stepflow",
        "components/execute",
        "ACTIVE",
        "{\"a\":\"ACTIVE\"}",
        "--to",
        "json",
    ],
    &["make", "saikuro", "call", "ACTIVE", "--to", "json"],
    &["sael", "token", "inspect", "ACTIVE"],
    &["sael", "filter", "ACTIVE"],
    &["oracle", "felt", "ACTIVE"],
    &["config", "-f", "json", "--config", "ACTIVE"],
    &["completions", "ACTIVE"],
];

#[test]
fn active_characters_are_escaped_in_every_output() {
    for protocol in ["oracle", "stepflow", "sael", "saikuro"] {
        let folder = tempfile::tempdir().unwrap();
        for (name, drop) in [("a", 0), ("b", 1)] {
            let header = Header {
                protocol: Some(protocol.into()),
                argv: Some(vec![ACTIVE.into()]),
                connect: Some(format!("ws://{ACTIVE}")),
                ..Header::new(1_795_255_200_000_000_000)
            };
            let mut out = Vec::new();
            let mut writer = RecordingWriter::new(&header, &mut out);
            for (stream, bytes) in messages(protocol).into_iter().skip(drop) {
                writer.chunk(0, 1, None, stream, &bytes, &mut out);
            }
            writer.end(1, &mut out);
            let name = folder.path().join(format!("{name}\u{9b}\u{202e}.jsonl"));
            std::fs::write(name, out).unwrap();
        }
        for command in COMMANDS {
            let word = |word: &&str| match *word {
                "FILE" => "a\u{9b}\u{202e}.jsonl".to_owned(),
                "OTHER" => "b\u{9b}\u{202e}.jsonl".to_owned(),
                "PROTOCOL" => protocol.to_owned(),
                word => word.replace("ACTIVE", ACTIVE),
            };
            let args: Vec<String> = command.iter().map(word).collect();
            let args: Vec<&str> = args.iter().map(String::as_str).collect();
            let shown = String::from_utf8(wiretool(folder.path(), &args)).unwrap();
            let active = shown.find(|c| is_active(c) && c != '\n');
            let line = |at: usize| {
                shown
                    .lines()
                    .find(|l| l.contains(shown[at..].chars().next().unwrap()))
            };
            assert_eq!(active.and_then(line), None, "{protocol}: {command:?}");
            assert!(shown.len() > 1, "{protocol}: {command:?} says nothing");
        }
    }
}
