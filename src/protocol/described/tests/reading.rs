//! Messages that are read, written and made by descriptions.

use super::{described, json_lines};
use crate::encode::{EncodeOptions, Encoder};
use crate::protocol::described::{embedded, texts};
use crate::protocol::make::{IdGen, Words};
use crate::protocol::peer::with_json;
use crate::protocol::{Direction, Protocol, registry};
use std::fs;
use std::path::Path;

/// JSON-RPC without batches, as a description.
const JSONRPC: &str = r#"
name = "jsonrpc"
framings = ["lines", "content-length", "http", "websocket"]

[[message]]
when = ".method and (.id or .id=null,false)"
role = "request"
id = ".id"
subject = ".method"
content = ".params"

[[message]]
when = ".method"
role = "notification"
id = ".id"
subject = ".method"
content = ".params"

[[message]]
when = ".error and (.id or .id=null or .jsonrpc)"
role = "error"
kind = "error"
id = ".id"
outcome = ".error.code"
text = ".error.message"
content = ".error"

[[message]]
when = "(.result or .result=null,false) and (.id or .id=null or .jsonrpc)"
role = "response"
id = ".id"
content = ".result"
"#;

/// Calls of saikuro and their answers, as a description.
const SAIKURO: &str = r#"
name = "saikuro"
framings = ["prefix", "http", "websocket"]
encodings = ["msgpack"]
sides = ["client", "runtime"]

[[message]]
when = ".type=call"
kind = "call"
role = "request"
id = ".id"
subject = ".target"
content = ".args"

[[message]]
when = ".ok=false"
kind = "error"
role = "error"
id = ".id"
outcome = ".error.code"
text = ".error.message"

[[message]]
when = ".ok=true"
kind = "response"
role = "response"
id = ".id"
content = ".result"
"#;

/// Decodes the inputs of a folder of fixtures that have a name for which `is_chosen` is true, with a description and with
/// the protocol of this crate. Returns the number of equal lines.
fn compare(text: &str, folder: &str, is_chosen: impl Fn(&str) -> bool) -> usize {
    let own = described(text);
    let built_in = registry::find_built_in(folder).expect(folder);
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("fixtures")
        .join(folder);
    let mut lines = 0;
    for entry in fs::read_dir(folder).expect("fixtures") {
        let path = entry.expect("a file").path();
        let name = path
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or_default();
        let bytes = match path.extension().and_then(|end| end.to_str()) {
            Some("txt" | "bin") => fs::read(&path).expect("a file"),
            Some("hex") => dump(&fs::read_to_string(&path).expect("a file")),
            _ => continue,
        };
        if !is_chosen(name) {
            continue;
        }
        for direction in [Direction::ToServer, Direction::ToClient] {
            let want = json_lines(built_in, &[(direction, &bytes)]);
            let found = json_lines(&own, &[(direction, &bytes)]);
            assert_eq!(found.len(), want.len(), "{name}");
            let pairs = want.iter().zip(&found);
            for (want, found) in pairs.filter(|(want, _)| !want.contains(r#""kind":"batch""#)) {
                assert_eq!(found, want, "{name}");
                lines += 1;
            }
        }
    }
    lines
}

/// Returns the bytes of a dump with comments.
fn dump(text: &str) -> Vec<u8> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let words = lines.flat_map(|line| line.split_whitespace().take_while(|word| *word != "#"));
    let words = words.filter(|word| !matches!(*word, ">" | "<"));
    words
        .map_while(|word| hex::decode(word).ok())
        .flatten()
        .collect()
}

#[test]
fn jsonrpc_is_read_by_a_description() {
    let is_other = |name: &str| {
        [
            "batch",
            "1.0",
            "not-an-object",
            "not-a-message",
            "failed",
            "torn",
            "gap",
            "odd",
        ]
        .iter()
        .any(|part| name.contains(part))
    };
    let lines = compare(JSONRPC, "jsonrpc", |name| !is_other(name));
    assert!(lines > 100, "{lines}");
}

#[test]
fn calls_of_saikuro_are_read_by_a_description() {
    let chosen = ["call", "response", "error"];
    let lines = compare(SAIKURO, "saikuro", |name| {
        chosen.iter().any(|part| name.starts_with(part)) && !name.contains("positional")
    });
    assert!(lines > 4, "{lines}");
}

#[test]
fn embedded_descriptions_are_correct() {
    for ((name, text), protocol) in texts().zip(embedded()) {
        let read = described(text);
        let facts = |protocol: &dyn Protocol| {
            let is = protocol.descriptor();
            let layers = format!("{:?} {:?} {}", is.framings, is.encodings, is.is_sequential);
            (
                is.name.to_owned(),
                is.port,
                layers,
                is.sides.map(str::to_owned),
            )
        };
        assert_eq!(facts(&read), facts(*protocol));
        assert_eq!(read.name(), name);
        assert!(!read.about().is_empty(), "{name}");
        assert!(!protocol.kinds().is_empty(), "{name}");
    }
}

/// Makes a message of a kind, and returns it as JSON.
pub(super) fn make(protocol: &dyn Protocol, words: &[&str]) -> String {
    try_make(protocol, words).unwrap_or_else(|error| panic!("{words:?}: {error}"))
}

/// Returns the message as JSON, or the error.
pub(super) fn try_make(protocol: &dyn Protocol, words: &[&str]) -> Result<String, String> {
    let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    let mut rest = Words::new(&words[1..], |key| key == "id");
    let made = protocol.make(&words[0], &mut rest, &mut IdGen::new(1));
    made.map(|made| made.message)
        .map_err(|error| error.to_string())
}

#[test]
fn messages_are_made_of_the_facts_of_their_kind() {
    for (name, words, want) in [
        (
            "dap",
            &["request", "next", r#"{"threadId":1}"#][..],
            r#"{"type":"request","seq":2,"command":"next","arguments":{"threadId":1}}"#,
        ),
        (
            "dap",
            &["response", "7", "next"],
            r#"{"type":"response","success":true,"seq":2,"request_seq":7,"command":"next"}"#,
        ),
        (
            "dap",
            &["error", "7", "next", "notStopped"],
            r#"{"type":"response","success":false,"seq":2,"request_seq":7,"command":"next","message":"notStopped"}"#,
        ),
        (
            "dap",
            &["event", "stopped", "{}"],
            r#"{"type":"event","seq":2,"event":"stopped","body":{}}"#,
        ),
        (
            "cdp",
            &["request", "Page.enable", "id=5"],
            r#"{"id":5,"method":"Page.enable"}"#,
        ),
        ("cdp", &["response", "5", "{}"], r#"{"id":5,"result":{}}"#),
        (
            "cdp",
            &["error", "5", "not found"],
            r#"{"id":5,"error":{"code":0,"message":"not found"}}"#,
        ),
        (
            "cdp",
            &["event", "Page.loadEventFired"],
            r#"{"method":"Page.loadEventFired"}"#,
        ),
        (
            "nvim",
            &["request", "nvim_eval", "[\"1\"]"],
            r#"[0,1,"nvim_eval",["1"]]"#,
        ),
        (
            "nvim",
            &["request", "nvim_get_mode"],
            r#"[0,1,"nvim_get_mode",[]]"#,
        ),
        ("nvim", &["notification", "redraw"], r#"[2,"redraw",[]]"#),
        ("nvim", &["response", "3", "null"], "[1,3,null,null]"),
        (
            "nvim",
            &["error", "3", "no such buffer"],
            r#"[1,3,[0,"no such buffer"],null]"#,
        ),
    ] {
        let protocol = embedded().iter().copied().find(|one| one.name() == name);
        let protocol = protocol.expect(name);
        let made = make(protocol, words);
        assert_eq!(made, want, "{name} {words:?}");
        // The message is written, read, and the same again.
        let mut encoder = Encoder::new(EncodeOptions::new(protocol), IdGen::new(1));
        let written = with_json(&made, |message| encoder.encode(message)).expect("JSON");
        let bytes = written
            .unwrap_or_else(|error| panic!("{made}: {error}"))
            .bytes;
        let direction = match words[0] {
            "request" => Direction::ToServer,
            _ => Direction::ToClient,
        };
        let lines = json_lines(protocol, &[(direction, &bytes)]);
        let [line] = lines.as_slice() else {
            panic!("{made}: {lines:?}");
        };
        let is_kind = match words[0] {
            "error" => line.contains(r#""role":"error""#),
            kind => line.contains(&format!(r#""kind":"{kind}""#)),
        };
        assert!(is_kind && line.contains(&made), "{made}: {line}");
    }
}

#[test]
fn a_message_that_does_not_match_is_refused() {
    let dap = embedded()[0];
    let mut encoder = Encoder::new(EncodeOptions::new(dap), IdGen::new(1));
    let refused = with_json(r#"{"type":"question"}"#, |message| encoder.encode(message));
    insta::assert_snapshot!(
        refused.unwrap().unwrap_err().to_string(),
        @r#"message: wanted a message of dap, got {"type":"question"}"#
    );
}

#[test]
fn heads_are_read_as_deep_as_paths_are() {
    let protocol = described(
        "name = \"deep\"\nframings = [\"lines\"]\n[[message]]\nrole = \"notification\"\nsubject = \".a.b.c.d.e\"\n",
    );
    let line = br#"{"a":{"b":{"c":{"d":{"e":"found"}}}}}"#;
    let found = json_lines(&protocol, &[(Direction::ToServer, line)]).join("");
    assert!(found.contains(r#""subject":"found""#), "{found}");
}

#[test]
fn direction_decides_where_messages_look_alike() {
    let protocol = described(
        "name = \"lines\"\nframings = [\"lines\"]\npair = \"order\"\n[[message]]\nwhen = \"dir=c2s\"\nrole = \"request\"\nsubject = \".do\"\n[[message]]\nrole = \"response\"\n",
    );
    let input: [(Direction, &[u8]); 2] = [
        (Direction::ToServer, b"{\"do\":\"x\"}\n"),
        (Direction::ToClient, b"{\"do\":\"x\"}\n"),
    ];
    let lines = json_lines(&protocol, &input).join("\n");
    assert!(
        lines.contains(r#""role":"request","subject":"x""#),
        "{lines}"
    );
    assert!(lines.contains(r#""role":"response","message""#), "{lines}");
}

#[test]
fn a_base_reads_and_writes_the_messages() {
    let node = described(
        "name = \"eth\"\nbase = \"jsonrpc\"\nport = 8545\nsides = [\"wallet\", \"node\"]\n",
    );
    let line = br#"{"jsonrpc":"2.0","id":1,"method":"eth_chainId","params":[]}"#;
    let lines = json_lines(&node, &[(Direction::ToServer, line)]).join("");
    assert!(
        lines.contains(r#""protocol":"eth","kind":"request""#),
        "{lines}"
    );
    assert_eq!(node.descriptor().sides, ["wallet", "node"]);
    assert_eq!(node.descriptor().port, Some(8545));
    let made = make(&node, &["request", "eth_chainId", "[]"]);
    assert_eq!(
        made,
        r#"{"jsonrpc":"2.0","id":0,"method":"eth_chainId","params":[]}"#
    );
}

#[test]
fn cbor_is_read_and_written() {
    let text = "name = \"c\"\nframings = [\"values\"]\nencodings = [\"cbor\"]\n[[message]]\nwhen = \".do\"\nrole = \"request\"\nid = \".n\"\nsubject = \".do\"\n";
    let protocol = described(text);
    let made = make(&protocol, &["request", "go"]);
    assert_eq!(made, r#"{"n":1,"do":"go"}"#);
    let mut encoder = Encoder::new(EncodeOptions::new(&protocol), IdGen::new(1));
    let bytes = with_json(&made, |message| encoder.encode(message));
    let bytes = bytes.unwrap().unwrap().bytes;
    assert_eq!(bytes, b"\xa2\x61n\x01\x62do\x62go");
    let lines = json_lines(&protocol, &[(Direction::ToServer, &bytes)]).join("");
    assert!(
        lines.contains(
            r#""kind":"request","role":"request","id":1,"subject":"go","message":{"n":1,"do":"go"}"#
        ),
        "{lines}"
    );
}
