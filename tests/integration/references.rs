//! Ids, tokens and references to them: another run has other ones, and each reference names the right one.
//!
//! `fixtures/NAME/references.jsonl` has every member of a protocol that one peer generates and both then use. Its ids are
//! `x-123` with any letter, or numbers from 9000 to 9999; each is in at least two messages. `x` is data of an item, which
//! only the server reads, and which the client returns as it is.

use crate::common;
use crate::stub_and_replay::Stub;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Runs the program. Returns its exit code and its output.
fn run(arguments: &[&str]) -> (i32, String) {
    let (code, out, err) = common::outcome(arguments);
    (code, out + &err)
}

fn file(name: &str, text: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("references-{name}.jsonl"));
    std::fs::write(&path, text).unwrap();
    path
}

/// Replays a recording against a stub of another one. The seed is fixed: by chance, a new token could be the broken one.
fn replay(protocol: &str, recording: &Path, stub: &Path, timeout: &str) -> (i32, String) {
    let [recording, stub] = [recording, stub].map(|path| path.to_str().unwrap());
    let binary = env!("CARGO_BIN_EXE_wiretool");
    let replay = [
        "replay",
        recording,
        "--seed",
        "7",
        "--timeout",
        timeout,
        "--",
        binary,
    ];
    run(&[
        &replay[..],
        &["stub", protocol, "-q", "--from-recording", stub],
    ]
    .concat())
}

/// Returns the places of the ids in a recording.
fn ids(text: &str) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let is_part = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_alphanumeric);
    let id = |at: usize| {
        let end = match bytes.get(at..at + 2)? {
            [b'a'..=b'z', b'-'] => at + 5,
            [b'9', _] => at + 4,
            _ => return None,
        };
        let digits = bytes.get(end - 3..end)?.iter().all(u8::is_ascii_digit);
        let is_whole = !is_part(end) && !at.checked_sub(1).is_some_and(is_part);
        (digits && is_whole).then_some(at..end)
    };
    (0..bytes.len()).filter_map(id).collect()
}

/// Replaces the last three digits of an id.
fn changed(id: &str, change: impl Fn(u32) -> u32) -> String {
    let (start, digits) = id.split_at(id.len() - 3);
    format!("{start}{:03}", change(digits.parse().unwrap()))
}

fn check(protocol: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    check_file(protocol, &path.join(protocol).join("references.jsonl"));
}

fn check_file(protocol: &str, path: &Path) {
    let text = std::fs::read_to_string(path).unwrap();
    // Tests run at the same time.
    let name = path
        .strip_prefix(env!("CARGO_MANIFEST_DIR"))
        .unwrap_or(path);
    let name = name.with_extension("").to_string_lossy().replace('/', "-");
    let mut shifted = text.clone();
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for range in ids(&text) {
        let id = &text[range.clone()];
        *counts.entry(id).or_default() += 1;
        shifted.replace_range(range, &changed(id, |n| n + 50));
    }
    let shifted = file(&format!("{name}-shifted"), &shifted);
    let (code, shown) = run(&["diff", path.to_str().unwrap(), shifted.to_str().unwrap()]);
    assert_eq!(code, 0, "{protocol}: {shown}");
    for stub in [path, &shifted] {
        let (code, shown) = replay(protocol, path, stub, "20s");
        assert_eq!(code, 0, "{protocol}: {shown}");
        assert!(shown.contains(", 0 differ"), "{protocol}: {shown}");
    }
    let mut known = HashSet::new();
    for range in ids(&text) {
        let id = &text[range.clone()];
        let is_first = known.insert(id);
        let line = text[..range.start].rfind('\n').unwrap();
        let of_server = text[line..range.start].contains("\"s2c\"");
        if id.starts_with('x') && (of_server || is_first) {
            continue;
        }
        assert!(counts[id] > 1, "{protocol}: nothing refers to {id}");
        let mut broken = text.clone();
        broken.replace_range(range.clone(), &changed(id, |_| 999));
        let broken = file(&format!("{name}-broken"), &broken);
        let context = &text[range.start.saturating_sub(40)..range.end];
        let (code, shown) = run(&["diff", path.to_str().unwrap(), broken.to_str().unwrap()]);
        assert_eq!(code, 1, "{protocol}: {context}: {shown}");
        // A server generates its own ids as it likes.
        if of_server && !is_first {
            let (code, shown) = replay(protocol, path, &broken, "1s");
            assert_eq!(code, 1, "{protocol}: {context}: {shown}");
        }
    }
}

#[test]
fn references_of_mcp_follow_their_ids() {
    check("mcp");
}

#[test]
fn references_of_lsp_follow_their_ids() {
    check("lsp");
}

/// Data that a server gives, by the request whose answer has it, and the request that returns it. `@D` is its place.
const DATA: &[(&str, &str, &str, &str)] = &[
    (
        "textDocument/completion",
        r#"[{"label":"a","data":@D}]"#,
        "completionItem/resolve",
        r#"{"label":"a","data":@D}"#,
    ),
    (
        "textDocument/codeAction",
        r#"[{"title":"a","data":@D}]"#,
        "codeAction/resolve",
        r#"{"title":"a","data":@D}"#,
    ),
    (
        "textDocument/codeLens",
        r#"[{"range":@R,"data":@D}]"#,
        "codeLens/resolve",
        r#"{"range":@R,"data":@D}"#,
    ),
    (
        "textDocument/documentLink",
        r#"[{"range":@R,"data":@D}]"#,
        "documentLink/resolve",
        r#"{"range":@R,"data":@D}"#,
    ),
    (
        "textDocument/inlayHint",
        r#"[{"position":@P,"label":"a","data":@D}]"#,
        "inlayHint/resolve",
        r#"{"position":@P,"label":"a","data":@D}"#,
    ),
    (
        "workspace/symbol",
        r#"[{"name":"a","kind":1,"location":{"uri":"file:///a"},"data":@D}]"#,
        "workspaceSymbol/resolve",
        r#"{"name":"a","kind":1,"location":{"uri":"file:///a"},"data":@D}"#,
    ),
    (
        "textDocument/prepareCallHierarchy",
        r#"[{"name":"a","kind":1,"uri":"file:///a","range":@R,"selectionRange":@R,"data":@D}]"#,
        "callHierarchy/incomingCalls",
        r#"{"item":{"name":"a","kind":1,"uri":"file:///a","range":@R,"selectionRange":@R,"data":@D}}"#,
    ),
    (
        "textDocument/prepareCallHierarchy",
        r#"[{"name":"a","kind":1,"uri":"file:///a","range":@R,"selectionRange":@R,"data":@D}]"#,
        "callHierarchy/outgoingCalls",
        r#"{"item":{"name":"a","kind":1,"uri":"file:///a","range":@R,"selectionRange":@R,"data":@D}}"#,
    ),
    (
        "textDocument/prepareTypeHierarchy",
        r#"[{"name":"a","kind":1,"uri":"file:///a","range":@R,"selectionRange":@R,"data":@D}]"#,
        "typeHierarchy/supertypes",
        r#"{"item":{"name":"a","kind":1,"uri":"file:///a","range":@R,"selectionRange":@R,"data":@D}}"#,
    ),
    (
        "textDocument/prepareTypeHierarchy",
        r#"[{"name":"a","kind":1,"uri":"file:///a","range":@R,"selectionRange":@R,"data":@D}]"#,
        "typeHierarchy/subtypes",
        r#"{"item":{"name":"a","kind":1,"uri":"file:///a","range":@R,"selectionRange":@R,"data":@D}}"#,
    ),
];

/// Returns a session in which the server gives data and the client returns it, and the answers of `resolve` repeat it.
fn session_with_data(data: [&str; 3]) -> String {
    let mut text = r#"{"wiretool":1,"protocol":"lsp","started":"2026-01-01T00:00:00Z","transport":"stdio","argv":["server"]}"#.to_owned();
    let (mut id, mut t) = (0, 0);
    let mut push = |dir: &str, message: String| {
        t += 1;
        let body = message.replace("@R", r#"{"start":@P,"end":@P}"#);
        let body = body.replace("@P", r#"{"line":0,"character":0}"#);
        let body = format!("Content-Length: {}\r\n\r\n{body}", body.len());
        let body = serde_json::Value::from(body);
        text += &format!("\n{{\"t\":{t}000000,\"conn\":1,\"dir\":\"{dir}\",\"text\":{body}}}");
    };
    let mut exchange = |method: &str, params: &str, result: &str| {
        id += 1;
        push(
            "c2s",
            format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#),
        );
        push(
            "s2c",
            format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#),
        );
    };
    let at = r#"{"textDocument":{"uri":"file:///a"},"position":@P}"#;
    exchange(
        "initialize",
        r#"{"processId":null,"rootUri":null,"capabilities":{}}"#,
        r#"{"capabilities":{}}"#,
    );
    for (n, (giver, given, method, returned)) in DATA.iter().enumerate() {
        let [given_is, returned_is, repeated_is] =
            data.map(|data| data.replace('N', &n.to_string()));
        exchange(giver, at, &given.replace("@D", &given_is));
        let answer = if method.ends_with("/resolve") {
            returned.replace("@D", &repeated_is)
        } else {
            "[]".to_owned()
        };
        exchange(method, &returned.replace("@D", &returned_is), &answer);
    }
    text + "\n"
}

/// The data of an item differs in each run. The client returns that which the server gave.
#[test]
fn data_of_items_is_returned_as_it_was_given() {
    for [one, other] in [
        [r#""one N""#, r#""other N""#],
        [r#"{"k":["one N",1]}"#, r#"{"k":["other N",2]}"#],
    ] {
        let diff = |name: &str, [given, returned, repeated]: [&str; 3]| {
            let paths = [
                file("data", &session_with_data([one; 3])),
                file(name, &session_with_data([given, returned, repeated])),
            ];
            let [a, b] = [0, 1].map(|n| paths[n].to_str().unwrap());
            run(&["diff", a, b])
        };
        let (code, shown) = diff("data-other", [other; 3]);
        assert_eq!(code, 0, "{shown}");
        let (code, shown) = diff("data-repeated", [other, other, one]);
        assert_eq!(code, 0, "a server may change it: {shown}");
        let (code, shown) = diff("data-broken", [other, "\"wrong\"", other]);
        assert_eq!(code, 1, "{shown}");
        for (_, _, method, _) in DATA {
            assert!(shown.contains(method), "{method}: {shown}");
        }
        let count = format!("{} messages differ", DATA.len());
        assert!(shown.contains(&count), "{shown}");
    }
}

#[test]
fn references_of_acp_follow_their_ids() {
    check("acp");
}

#[test]
fn references_of_jsonrpc_follow_their_ids() {
    check("jsonrpc");
}

/// The members of a batch refer to ids and tokens as messages of their own do.
#[test]
fn references_in_batches_follow_their_ids() {
    let messages = [
        (
            "c2s",
            r#"{"jsonrpc":"2.0","id":9001,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"a","version":"1"}}}"#,
        ),
        (
            "s2c",
            r#"{"jsonrpc":"2.0","id":9001,"result":{"protocolVersion":"2025-03-26","capabilities":{"tools":{}},"serverInfo":{"name":"a","version":"1"}}}"#,
        ),
        (
            "c2s",
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        ),
        (
            "c2s",
            r#"[{"jsonrpc":"2.0","id":9003,"method":"tools/call","params":{"name":"t","_meta":{"progressToken":9103}}},{"jsonrpc":"2.0","id":9007,"method":"tools/call","params":{"name":"u","_meta":{"progressToken":"p-104"}}}]"#,
        ),
        (
            "s2c",
            r#"[{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":9103,"progress":1}},{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"p-104","progress":1}}]"#,
        ),
        (
            "s2c",
            r#"[{"jsonrpc":"2.0","id":9003,"result":{"content":[]}},{"jsonrpc":"2.0","id":9007,"result":{"content":[]}}]"#,
        ),
        (
            "c2s",
            r#"{"jsonrpc":"2.0","id":9011,"method":"tools/call","params":{"name":"slow"}}"#,
        ),
        (
            "c2s",
            r#"[{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":9011}},{"jsonrpc":"2.0","id":9015,"method":"tools/call","params":{"name":"v"}}]"#,
        ),
        (
            "s2c",
            r#"[{"jsonrpc":"2.0","id":9015,"result":{"content":[]}}]"#,
        ),
    ];
    let mut text = r#"{"wiretool":1,"protocol":"mcp","started":"2026-01-01T00:00:00Z","transport":"stdio","argv":["server"]}"#.to_owned();
    for (t, (dir, message)) in (1..).zip(&messages) {
        let line = message.replace('"', "\\\"");
        text +=
            &format!("\n{{\"t\":{t}000000,\"conn\":1,\"dir\":\"{dir}\",\"text\":\"{line}\\n\"}}");
    }
    text += &format!(
        "\n{{\"t\":10000000,\"event\":\"end\",\"chunks\":{},\"bytes\":{{}}}}\n",
        messages.len()
    );
    check_file("mcp", &file("batch", &text));
}

/// Makes a recording of a call of saikuro and its answer. `true`: an id as text.
fn call(name: &str, is_text: [bool; 2]) -> PathBuf {
    use rmpv::Value;
    let uuid = "0198c1c0-0000-7000-8000-00000000abcd";
    let id = |is_text: bool| {
        if is_text {
            Value::from(uuid)
        } else {
            Value::Binary(hex::decode(uuid.replace('-', "")).unwrap())
        }
    };
    let map = |members: Vec<(&str, Value)>| {
        let members = members.into_iter();
        Value::Map(members.map(|(key, value)| (key.into(), value)).collect())
    };
    let messages = [
        map(vec![
            ("version", 1.into()),
            ("type", "call".into()),
            ("id", id(is_text[0])),
            ("target", "math.add".into()),
            ("args", Value::Array(vec![1.into()])),
        ]),
        map(vec![
            ("id", id(is_text[1])),
            ("ok", true.into()),
            ("result", 2.into()),
        ]),
    ];
    let mut text =
        r#"{"wiretool":1,"protocol":"saikuro","started":"2026-01-01T00:00:00Z","transport":"tcp"}"#
            .to_owned();
    for (t, (dir, message)) in (1..).zip(["c2s", "s2c"].into_iter().zip(messages)) {
        let mut body = Vec::new();
        rmpv::encode::write_value(&mut body, &message).unwrap();
        let frame = [&(body.len() as u32).to_be_bytes()[..], &body].concat();
        let frame = BASE64.encode(frame);
        text += &format!("\n{{\"t\":{t}000,\"conn\":1,\"dir\":\"{dir}\",\"b64\":\"{frame}\"}}");
    }
    text += "\n{\"t\":3000,\"event\":\"end\",\"chunks\":2,\"bytes\":{}}\n";
    file(name, &text)
}

/// A client that compares ids byte by byte does not find the answer.
#[test]
fn an_answer_whose_id_has_another_form_is_a_difference() {
    for (a, b, code) in [
        ([false, false], [false, false], 0),
        // Both sides of the other conversation use text.
        ([false, false], [true, true], 0),
        ([false, false], [false, true], 1),
        ([true, true], [true, false], 1),
        // The answers have another form in both conversations.
        ([false, true], [true, false], 0),
    ] {
        let [one, other] = [call("form-a", a), call("form-b", b)];
        let (found, shown) = run(&["diff", one.to_str().unwrap(), other.to_str().unwrap()]);
        assert_eq!(found, code, "{a:?} {b:?}: {shown}");
    }
    let [plain, other] = [
        call("form-plain", [false, false]),
        call("form-other", [false, true]),
    ];
    for (stub, code) in [(&plain, 0), (&other, 1)] {
        let stub = Stub::start("saikuro", "tcp", stub).unwrap();
        let plain = plain.to_str().unwrap();
        let (found, shown) = run(&["replay", plain, "--timeout", "20s", "--connect", &stub.1]);
        assert_eq!(found, code, "{shown}");
    }
}

/// A client must read such a line too.
#[test]
fn a_line_that_is_no_message_is_a_difference() {
    let lines = [
        ("c2s", r#"{"jsonrpc":"2.0","id":1,"method":"f"}"#),
        ("s2c", r#"{"jsonrpc":"2.0","id":1,"result":2}"#),
    ];
    let head = r#"{"wiretool":1,"protocol":"jsonrpc","started":"2026-01-01T00:00:00Z","transport":"stdio"}"#;
    let mut text = format!("{head}\n");
    for (t, (dir, line)) in (1..).zip(lines) {
        let line = serde_json::to_string(&format!("{line}\n")).unwrap();
        text += &format!("{{\"t\":{t}000,\"conn\":1,\"dir\":\"{dir}\",\"text\":{line}}}\n");
    }
    text += "{\"t\":3000,\"event\":\"end\",\"chunks\":2,\"bytes\":{}}\n";
    let recording = file("noise", &text);
    let recording = recording.to_str().unwrap();
    let answer = r#"{"jsonrpc":"2.0","id":1,"result":2}"#;
    for (noise, code) in [("", 0), ("Listening on stdio", 1), ("[\"a\"", 1), ("{}", 1)] {
        let noise = match noise {
            "" => String::new(),
            noise => format!("echo '{noise}'; "),
        };
        let peer = format!("read line; {noise}echo '{answer}'; read line");
        for flags in [&[][..], &["--strict"], &["--keep-going"]] {
            let replay = ["replay", recording, "--timeout", "20s"];
            let (found, shown) = run(&[&replay[..], flags, &["--", "sh", "-c", &peer]].concat());
            assert_eq!(found, code, "{peer} {flags:?}: {shown}");
        }
    }
}
