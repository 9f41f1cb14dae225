//! `wiretool encode` and `wiretool make`.

use crate::common;
use std::io::Write as _;
use std::process::Stdio;

fn run(args: &[&str], input: &[u8]) -> (i32, Vec<u8>, String) {
    let mut child = common::wiretool()
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    let writer = std::thread::spawn(move || drop(stdin.write_all(&input)));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    (output.status.code().unwrap(), output.stdout, err)
}

fn text(args: &[&str], input: &[u8]) -> String {
    let (code, out, err) = run(args, input);
    assert_eq!((code, err.as_str()), (0, ""), "{args:?}");
    String::from_utf8(out).unwrap()
}

const BARGE: &str = r#"{"method":"Barge","struct":"BargeRequest","fields":{"call_sid":"abc"}}"#;

#[test]
fn arguments_become_bytes() {
    let hex = |words: &[&str]| {
        text(
            &[&["make"], words, &["--seed", "1", "--to", "hex"]].concat(),
            b"",
        )
    };
    insta::assert_snapshot!(hex(&["telequick", "Barge", "call_sid=abc"]), @"> 1100000012fabbe500000700000003000000616263");
    insta::assert_snapshot!(hex(&["saikuro", "response", "a1b2c3d4-e5f6-7890-abcd-ef1234567890", "-3"]), @"< 0000002283a26964c410a1b2c3d4e5f67890abcdef1234567890a26f6bc3a6726573756c74fd");
    let raw = |words: &[&str]| {
        text(
            &[&["make"], words, &["--seed", "1", "--to", "raw"]].concat(),
            b"",
        )
    };
    insta::assert_snapshot!(raw(&["oracle", "invoke", "f", "0x2710", "7"]), @r#"{"jsonrpc":"2.0","id":0,"method":"invoke","params":{"selector":"f","calldata":["0x2710","0x7"]}}"#);
    insta::assert_snapshot!(raw(&["stepflow", "components/execute", "/upper", r#"{"text":"a"}"#]), @r#"{"jsonrpc":"2.0","id":"9a45cd88-8d59-40d6-8144-5b6a189663f5","method":"components/execute","params":{"component":"/upper","input":{"text":"a"},"attempt":1,"observability":{}}}"#);
}

#[test]
fn made_messages_decode() {
    for (words, kind) in [
        (&["saikuro", "call", "math.add", "2", "3"][..], "call"),
        (&["saikuro", "batch", "a.b 1", "a.c 2"], "batch"),
        (&["oracle", "ready"], "ready"),
        (&["oracle", "error", "0", "-32603", "no"], "error"),
        (&["sael", "HEY", "me", "token=qct.v1.e30.e30"], "HEY"),
        (
            &["sael", "INV", "github.list_repos", r#"{"owner":"x"}"#],
            "INV",
        ),
        (&["stepflow", "initialize"], "request"),
        (&["stepflow", "error", "1", "-32001", "none"], "error"),
        (
            &["telequick", "Originate", "to=+1", "max_duration_ms=9"],
            "OriginateRequest",
        ),
        (
            &[
                "telequick",
                "AudioFrame",
                "payload=0x00ff",
                "end_of_stream=true",
            ],
            "AudioFrame",
        ),
    ] {
        let (code, bytes, err) = run(&[&["make"], words, &["--seed", "3"]].concat(), b"");
        assert_eq!((code, err.as_str()), (0, ""), "{words:?}");
        let line = text(
            &["decode", "-p", words[0], "--from", "raw", "-f", "json"],
            &bytes,
        );
        assert!(
            line.contains(&format!("\"kind\":\"{kind}\"")),
            "{words:?}: {line}"
        );
        let again = run(&[&["make"], words, &["--seed", "3"]].concat(), b"").1;
        assert_eq!(bytes, again, "the same seed, other bytes");
    }
}

#[test]
fn every_kind_is_listed() {
    for protocol in wiretool::protocol::registry::names() {
        assert!(text(&["make", protocol, "--list"], b"").lines().count() > 1);
    }
}

#[test]
fn encode_takes_a_message_in_the_place_of_a_file() {
    let message = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    let out = text(&["encode", "-p", "mcp", "--to", "raw", message], b"");
    assert_eq!(out.trim_end(), message);
    let (_, _, err) = run(&["encode", "-p", "mcp", "{\"a\":"], b"");
    assert!(err.contains("the message"), "{err}");
}

#[test]
fn encode_reads_lines_arrays_and_single_messages() {
    let alone = run(&["encode", "-p", "telequick"], BARGE.as_bytes()).1;
    let array = run(
        &["encode", "-p", "telequick"],
        format!("[{BARGE},{BARGE}]").as_bytes(),
    )
    .1;
    assert_eq!(array, alone.repeat(2));
    let spread = BARGE.replace(',', ",\n");
    assert_eq!(
        run(&["encode", "-p", "telequick"], spread.as_bytes()).1,
        alone
    );
    let line = text(&["decode", "-f", "json"], &alone);
    assert_eq!(run(&["encode"], line.as_bytes()).1, alone);
    assert!(
        text(
            &["encode", "-p", "telequick", "--to", "json"],
            BARGE.as_bytes()
        )
        .contains("\"call_sid\":\"abc\"")
    );
    assert_eq!(
        text(
            &["encode", "-p", "telequick", "--to", "base64"],
            BARGE.as_bytes()
        )
        .trim()
        .len(),
        28
    );
}

#[test]
fn deliberate_damage_is_encoded() {
    let encode = |flags: &[&str]| {
        run(
            &[&["encode", "-p", "telequick"], flags].concat(),
            BARGE.as_bytes(),
        )
        .1
    };
    assert_eq!(encode(&["--set", "fields.call_sid=xyz"])[18..], *b"xyz");
    assert_eq!(encode(&["--length", "14"])[..4], [14, 0, 0, 0]);
    assert_eq!(encode(&["--length-mode", "inclusive"])[..4], [21, 0, 0, 0]);
    assert_eq!(encode(&["--truncate", "5"]).len(), 5);
    assert_eq!(
        encode(&["--patch", "4=1264b0e5"])[4..8],
        [0x12, 0x64, 0xb0, 0xe5]
    );
}

/// The bytes of `raw` are what encode writes.
#[test]
fn values_of_a_line_with_raw_are_changed() {
    let body = br#"{"jsonrpc":"2.0","id":1,"method":"a\ud800"}"#;
    let (_, line, _) = run(&["decode", "-p", "jsonrpc", "-f", "json"], body);
    assert!(line.windows(6).any(|part| part == b"\"raw\":"));
    let (code, bytes, _) = run(&["encode", "--set", "id=7"], &line);
    let changed = br#"{"jsonrpc":"2.0","id":7,"method":"a\ud800"}"#;
    assert_eq!((code, bytes.trim_ascii_end()), (0, &changed[..]));
    let (_, line, _) = run(
        &[
            "decode",
            "-p",
            "saikuro",
            "--framing",
            "prefix",
            "-f",
            "json",
        ],
        b"\0\0\0\x02\xc1\xc1",
    );
    let (code, bytes, err) = run(&["encode", "--set", "id=7"], &line);
    assert_eq!((code, bytes.len()), (1, 0), "{err}");
    assert!(
        err.contains("id: wanted a message that can be read, got bytes alone"),
        "{err}"
    );
}

#[test]
fn invalid_message_is_refused() {
    let wrong =
        br#"{"jsonrpc":"2.0","id":-1,"method":"invoke","params":{"selector":"f","calldata":[]}}"#;
    let (code, out, err) = run(&["encode", "-p", "oracle"], wrong);
    assert_eq!((code, out.len()), (1, 0));
    insta::assert_snapshot!(err, @"wiretool: stdin, line 1: id: wanted null, a string, or an integer of 0 to 2^64-1, got -1");
    assert_eq!(run(&["encode", "-p", "oracle", "--force"], wrong).0, 0);
    assert_eq!(run(&["encode", "-p", "oracle"], b"{\"jsonrpc\"").0, 2);
    assert_eq!(run(&["encode"], wrong).0, 1);
    insta::assert_snapshot!(run(&["make", "oracle", "invoke"], b"").2, @"wiretool: word 1: wanted selector, a string, got nothing (wiretool make oracle --list)");
    insta::assert_snapshot!(run(&["encode", "-p", "oracle", "--set", "params.nothing=1"], wrong).2, @"wiretool: stdin, line 1: params.nothing: wanted a value to change, got nothing");
}

#[test]
fn exact_output_encodes_to_same_bytes() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures");
    let mut files = 0;
    for protocol in wiretool::protocol::registry::names() {
        for entry in std::fs::read_dir(format!("{folder}/{protocol}")).unwrap() {
            let path = entry.unwrap().path();
            let ending = path.extension().unwrap_or_default();
            if ending != "txt" && ending != "bin" {
                continue;
            }
            let bytes = std::fs::read(&path).unwrap();
            let lines = run(
                &[
                    "decode", "-q", "-p", protocol, "--from", "raw", "-f", "json", "--exact",
                ],
                &bytes,
            )
            .1;
            let (code, again, err) = run(&["encode", "--to", "raw"], &lines);
            assert_eq!((code, err.as_str()), (0, ""), "{}", path.display());
            assert!(again == bytes, "{}", path.display());
            files += 1;
        }
    }
    assert!(files > 40, "{files} fixtures");
}

/// A lone surrogate fits the grammar of JSON but is not valid text: strict readers refuse it.
#[test]
fn lone_surrogate_survives_round_trip() {
    let messages = [
        r#"{"jsonrpc":"2.0","id":1,"method":"invoke","params":{"selector":"a\ud800b","calldata":[]}}"#,
        r#"{"jsonrpc":"2.0","id":"\ud800","method":"invoke","params":{"selector":"f","calldata":[]}}"#,
        r#"{"jsonrpc":"2.0","id":"\ud801","method":"invoke","params":{"\udc00":"f","x":"\ud83d\ude00"}}"#,
        r#"{"jsonrpc":"2.0","id":"\ud801\ud83d\ude00","error":{"code":1,"message":"\udfff\ud800\ud800"}}"#,
        // Incomplete, and so not valid.
        r#"{"jsonrpc":"2.0","id":"\ud801","method":"\ud800","params":["\ud800"#,
    ];
    for protocol in ["oracle", "stepflow"] {
        let wire = messages.map(|m| format!("{m}\n")).concat();
        let decode = ["decode", "-p", protocol, "--framing", "lines", "-f", "json"];
        for more in [&[][..], &["--exact"]] {
            let (_, lines, _) = run(&[&decode, more].concat(), wire.as_bytes());
            for (line, message) in String::from_utf8(lines.clone())
                .unwrap()
                .lines()
                .zip(messages)
            {
                let value: serde_json::Value = serde_json::from_str(line).unwrap();
                assert_eq!(value["raw"], message, "{line}");
                assert!(
                    !line.contains("\"message\":{\"jsonrpc\":\"2.0\",\"id\":\"\\ud8"),
                    "{line}"
                );
            }
            let (code, again, err) = run(&["encode"], &lines);
            assert_eq!(
                (
                    code,
                    String::from_utf8(again).unwrap().trim_end(),
                    err.as_str()
                ),
                (0, wire.trim_end(), "")
            );
        }
        // The decoded text is compared with the sent bytes.
        for (condition, count) in [
            (r#"id == "\\ud800""#, 1),
            (r#"id == "\\ud801""#, 2),
            ("raw", 5),
        ] {
            let (_, lines, err) = run(
                &[&decode[..], &["--where", condition]].concat(),
                wire.as_bytes(),
            );
            assert_eq!(
                memchr::memchr_iter(b'\n', &lines).count(),
                count,
                "{condition}: {err}"
            );
        }
    }
}

/// Bytes of a frame after its body are also shown together with findings.
#[test]
fn exact_lines_with_findings_keep_exact_keys() {
    let file = "fixtures/saikuro/rules/seq-gap.fires.jsonl";
    let exact = ["decode", "-q", "-f", "json", "--exact", file];
    let alone = text(&exact, b"");
    let (_, judged, _) = run(&[&exact[..], &["--lint"]].concat(), b"");
    let judged = String::from_utf8(judged).unwrap();
    assert_eq!(alone.lines().count(), judged.lines().count());
    assert!(judged.contains("\"findings\":["), "{judged}");
    for (alone, judged) in alone.lines().zip(judged.lines()) {
        let beginning = alone.trim_end_matches('}');
        assert!(judged.starts_with(beginning), "{alone}\n{judged}");
    }
}

#[test]
fn refused_words_have_an_example_that_works() {
    let (tool, prompt) = (["sael", "INV", "t"], ["acp", "session/prompt", "s"]);
    for (words, word, wanted) in [
        (
            tool,
            "text=it's",
            r#"wanted an object, such as '{"text":"it'\''s"}', got `text=it's`"#,
        ),
        (
            tool,
            "x",
            r#"wanted an object, such as '{"key":"value"}', got `x`"#,
        ),
        (
            prompt,
            "hi",
            r#"such as '[{"type":"text","text":"hi"}]', got `hi`"#,
        ),
    ] {
        let make = |word: &str| {
            let words = words.iter().chain([&word]);
            common::run(common::wiretool().arg("make").args(words), "")
        };
        let (code, _, err) = make(word);
        assert_eq!(code, 2, "{err}");
        assert!(err.contains(wanted), "{err}");
        let example = err
            .split_once("such as '")
            .and_then(|(_, rest)| rest.split_once("', got"));
        let example = example.unwrap().0.replace("'\\''", "'");
        assert_eq!(make(&example).0, 0, "{example}");
    }
}

/// A word can have the name of its place, so that it may stand anywhere. A name that the kind does not have is no text.
#[test]
fn words_may_have_the_names_of_their_places() {
    let make = |words: &[&str]| {
        let args = [&["make"], words].concat();
        common::run(common::wiretool().args(args), "")
    };
    for (named, plain) in [
        (
            &["mcp", "tools/call", "arguments={\"a\":1}", "name=add"][..],
            &["mcp", "tools/call", "add", "{\"a\":1}"][..],
        ),
        (
            &["mcp", "tools/call", "id=7", "{\"a\":1}", "name=add"],
            &["mcp", "tools/call", "add", "{\"a\":1}", "id=7"],
        ),
        (
            &["jsonrpc", "error", "-32601", "Method not found", "id=7"],
            &["jsonrpc", "error", "7", "-32601", "Method not found"],
        ),
        (
            &[
                "lsp",
                "textDocument/hover",
                "uri=file:///a",
                "line=3",
                "character=5",
            ],
            &["lsp", "textDocument/hover", "file:///a", "3", "5"],
        ),
        (&["oracle", "ack", "id=3"], &["oracle", "ack", "3"]),
    ] {
        let (code, out, err) = make(named);
        assert_eq!((code, out), (0, make(plain).1), "{named:?}: {err}");
    }
    for (words, wanted) in [
        (
            &["mcp", "initialize", "pretty=true"][..],
            "word 2: wanted [VERSION] id=… capabilities=…, got `pretty=true`",
        ),
        (
            &["mcp", "notifications/cancelled", "3", "because=late"],
            "word 3: wanted [REASON]",
        ),
        (
            &["mcp", "tools/call", "arguments={}"],
            "word 2: wanted NAME, as in tools/call NAME [ARGUMENTS], got nothing",
        ),
    ] {
        let (code, out, err) = make(words);
        assert_eq!((code, out.as_str()), (2, ""), "{err}");
        assert!(err.contains(wanted), "{err}");
    }
    for words in [
        &["mcp", "tools/call", "a=b"][..],
        &["mcp", "tools/call", "name"],
        &["mcp", "tools/list", "cursor=="],
        &["mcp", "notifications/cancelled", "3", "a=b is wrong"],
    ] {
        assert_eq!(make(words).0, 0, "{words:?}");
    }
}

/// The parameters of a method in one word, as documents and traces show them.
#[test]
fn one_object_can_be_all_parameters() {
    let hover = r#"{"textDocument":{"uri":"file:///a"},"position":{"line":1,"character":4}}"#;
    for (words, wanted) in [
        (&["lsp", "textDocument/hover", hover][..], hover),
        (&["lsp", "textDocument/hover", "file:///a", "1", "4"], hover),
        (
            &["mcp", "tools/call", r#"{"name":"add","arguments":{"a":1}}"#],
            r#"{"name":"add","arguments":{"a":1}}"#,
        ),
        (
            &["mcp", "tools/call", "add", r#"{"a":1}"#],
            r#"{"name":"add","arguments":{"a":1}}"#,
        ),
        // The object is the value of the first word if it has members that the parameters do not have.
        (
            &["lsp", "initialize", r#"{"textDocument":{}}"#],
            r#"{"capabilities":{"textDocument":{}}}"#,
        ),
        (
            &["lsp", "workspace/didChangeConfiguration", r#"{"a":1}"#],
            r#"{"settings":{"a":1}}"#,
        ),
    ] {
        let args = [&["make"], words, &["--to", "json"]].concat();
        let (code, out, err) = common::run(common::wiretool().args(args), "");
        assert_eq!(code, 0, "{err}");
        assert!(out.contains(&format!("\"params\":{wanted}")), "{out}");
    }
    // A member is missing.
    let hover = r#"{"textDocument":{"uri":"file:///a"}}"#;
    let args = ["make", "lsp", "textDocument/hover", hover];
    let (code, _, err) = common::run(common::wiretool().args(args), "");
    assert_eq!(code, 2);
    assert!(err.contains("word 2: wanted line"), "{err}");
}

#[test]
fn a_capture_is_named_in_one_sentence() {
    let folder = tempfile::tempdir().unwrap();
    let root = env!("CARGO_MANIFEST_DIR");
    let recording = format!("{root}/fixtures/mcp/session.jsonl");
    let raw = folder.path().join("raw.bin");
    std::fs::write(&raw, "\0\0\0\x01{").unwrap();
    let raw = raw.to_str().unwrap();
    let input = std::fs::read(&recording).unwrap();
    for (args, input, wanted) in [
        (
            &["encode", &recording][..],
            &b""[..],
            format!("is a recording, not messages: wiretool decode -f json {recording} | wiretool encode\n"),
        ),
        (
            &["encode"],
            &input,
            "wiretool: stdin is a recording, not messages: wiretool decode -f json FILE | wiretool encode\n".into(),
        ),
        (
            &["encode", raw],
            b"",
            format!("; for a capture: wiretool decode -f json {raw} | wiretool encode\n"),
        ),
    ] {
        let (code, out, err) = run(args, input);
        assert_eq!((code, out.as_slice()), (2, &b""[..]), "{args:?}");
        assert!(err.ends_with(&wanted) && err.lines().count() == 1, "{err}");
    }
    let lines = text(&["decode", "-f", "json", &recording], b"");
    assert_eq!(run(&["encode"], lines.as_bytes()).0, 0);
}
