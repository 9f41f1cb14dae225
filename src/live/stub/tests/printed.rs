//! The script of a recording prints as text that reads back as the same script, and answers the same.

use super::limits::{HEADER, chunk};
use super::*;
use crate::live::script::value::with_json;
use crate::live::speed::Speed;
use crate::render::style::is_active;
use std::path::{Path, PathBuf};

/// A recording of a request and its answer.
fn recorded(protocol: &str, pairs: &[(String, String)]) -> String {
    let mut lines = vec![HEADER.replace("stepflow", protocol)];
    for (n, (request, answer)) in (0u32..).zip(pairs) {
        lines.push(chunk(2 * n + 1, "c2s", request));
        lines.push(chunk(2 * n + 2, "s2c", answer));
    }
    lines.join("\n")
}

fn printed(protocol: &str, recording: &str) -> String {
    let protocol = known(protocol);
    let (side, limits) = (Direction::ToClient, Limits::default());
    let compiled = compile(
        recording.as_bytes(),
        protocol,
        side,
        limits,
        Speed::default(),
    );
    let text = script(&compiled.unwrap(), protocol);
    let active = text.contains(|c| is_active(c) && c != '\n');
    assert!(!active, "{text:?}");
    text
}

fn invoke(id: u32, selector: &str) -> String {
    let selector = serde_json::json!(selector);
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"invoke","params":{{"selector":{selector},"calldata":[]}}}}"#
    )
}

/// A client that compares ids by type does not find an answer with another one.
#[test]
fn ids_and_tokens_have_the_form_of_the_request() {
    const UUID: &str = r#""0198c1c0-0000-7000-8000-00000000abcd""#;
    let ids = ["7", r#""7""#, r#""req-1""#, "-3", UUID];
    for recorded_id in ids {
        for id in ids {
            let request = |id: &str| {
                format!(
                    r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"t","_meta":{{"progressToken":{id}}}}}}}"#
                )
            };
            let progress = |id: &str| {
                format!(
                    r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{id},"progress":1}}}}"#
                )
            };
            let call = |id: &str| format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"a"}}"#);
            let answer = |id: &str| format!(r#"{{"jsonrpc":"2.0","id":{id},"result":1}}"#);
            for (protocol, pair, request, want) in [
                (
                    "jsonrpc",
                    (call(recorded_id), answer(recorded_id)),
                    call(id),
                    answer(id),
                ),
                (
                    "mcp",
                    (request(recorded_id), progress(recorded_id)),
                    request(id),
                    progress(id),
                ),
            ] {
                let recording = recorded(protocol, &[pair]);
                let (side, limits) = (Direction::ToClient, Limits::default());
                let compiled = compile(
                    recording.as_bytes(),
                    known(protocol),
                    side,
                    limits,
                    Speed::default(),
                );
                let compiled = compiled.unwrap();
                let text = script(&compiled, known(protocol));
                let read = Script::read("my.toml", &text, known(protocol)).unwrap();
                for script in [compiled, read] {
                    let mut stub_test =
                        StubTest::made(known(protocol), script, OnMiss::Error, false);
                    stub_test.open();
                    let output = stub_test.receive(&format!("{request}\n"));
                    assert!(output.contains(&want), "{request}: {output}\n{text}");
                }
            }
        }
    }
}

/// A client that gives no token gets no progress.
#[test]
fn progress_without_a_token_is_not_sent() {
    let call = |meta: &str| {
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"t"{meta}}}}}"#)
    };
    let progress = r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"a","progress":1}}"#;
    let answer = r#"{"jsonrpc":"2.0","id":1,"result":{"content":[]}}"#;
    let with_token = call(r#","_meta":{"progressToken":"a"}"#);
    let recording = recorded("mcp", &[(with_token, format!("{progress}\n{answer}"))]);
    let (side, limits) = (Direction::ToClient, Limits::default());
    for (meta, count) in [("", 0), (r#","_meta":{"progressToken":"b"}"#, 1)] {
        let compiled = compile(
            recording.as_bytes(),
            known("mcp"),
            side,
            limits,
            Speed::default(),
        );
        let mut stub_test = StubTest::made(known("mcp"), compiled.unwrap(), OnMiss::Error, false);
        stub_test.open();
        let output = stub_test.receive(&format!("{}\n", call(meta))) + &stub_test.wait(1);
        assert_eq!(
            output.matches("notifications/progress").count(),
            count,
            "{output}"
        );
        assert!(output.contains("\"result\""), "{output}");
    }
}

#[test]
fn values_read_back_as_they_were() {
    for value in [
        r#""\u0001params.component""#,
        r#""{{params.component}}""#,
        r#""{{""#,
        r#""{  }""#,
        r#""a\u202e\u001b[31m\u0085\ufeff\n'\"\\""#,
        r#""a\"b\u200f""#,
        "-0",
        "[-0,-0.0,0.10,1e5,1E+05,1e-7,1e400]",
        "[9223372036854775807,-9223372036854775808,-9223372036854775809,123456789012345678901234567890]",
        "true",
        "null",
        "[[],{},null,true]",
        r#"{"a":{"b":[{}]},"":1,"c d":{"json":"1"},"é\u2066":"{{count}}"}"#,
        r#"{"a":1,"a":-0}"#,
        r#"{"type":"u8","value":[5]}"#,
    ] {
        let request =
            r#"{"jsonrpc":"2.0","id":"ab","method":"components/info","params":{"component":"/a"}}"#;
        let answer = format!(r#"{{"jsonrpc":"2.0","id":"ab","result":{value}}}"#);
        let error = format!(
            r#"{{"jsonrpc":"2.0","id":"ab","error":{{"code":-5,"message":"{{{{id}}}} \u202e","data":{value}}}}}"#
        );
        // A message with an unknown member.
        let whole = format!(r#"{{"jsonrpc":"2.0","id":"ab","more":{value},"result":1}}"#);
        for answer in [answer, error, whole] {
            let pairs = [(request.to_owned(), answer.clone())];
            let script = printed("stepflow", &recorded("stepflow", &pairs));
            let mut stub_test = StubTest::new(known("stepflow"), &script);
            stub_test.open();
            let output = stub_test.receive(&format!("{}\n", request.replace("\"ab\"", "\"cd\"")));
            let output = output.trim_end().replace("\"cd\"", "\"ab\"");
            assert_eq!(unescaped(&output), unescaped(&answer), "{script}");
        }
    }
}

/// JSON in which strings are spelled in one way.
fn unescaped(json: &str) -> String {
    with_json(json, spelled).unwrap()
}

fn spelled(node: crate::tape::Node<'_>) -> String {
    if node.is_map() {
        let members = node.members();
        let members = members.map(|(key, value)| format!("{:?}:{}", key.text(), spelled(value)));
        format!("{{{}}}", members.collect::<Vec<_>>().join(","))
    } else if node.is_array() {
        let items = node.children().map(spelled);
        format!("[{}]", items.collect::<Vec<_>>().join(","))
    } else {
        let text = node.text().map(|text| format!("{text:?}"));
        text.unwrap_or_else(|| {
            let bytes = node.span().of(node.bytes());
            String::from_utf8_lossy(bytes).into_owned()
        })
    }
}

#[test]
fn recorded_text_is_never_a_rule() {
    let name = "x\n[[on]]\nmatch='kind=invoke'\nexit = 3\n\u{1b}[31m\u{202e}";
    let answer = r#"{"jsonrpc":"2.0","id":0,"result":["0x1"]}"#;
    let script = printed(
        "oracle",
        &recorded("oracle", &[(invoke(0, name), answer.to_owned())]),
    );
    assert!(
        script.contains("# #0 invoke x\\n[[on]]\\nmatch='kind=invoke'\\nexit = 3\\n\\u{1b}"),
        "{script}"
    );
    let mut stub_test = StubTest::<'static>::serving(&script);
    assert_eq!(stub_test.stub.report().recorded.len(), 1, "{script}");
    assert_eq!(
        stub_test.receive(&format!("{}\n", invoke(0, name))),
        format!("{answer}\n")
    );
}

#[test]
fn values_of_the_request_replace_recorded_ones() {
    let request = |sid: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":"{sid}-id","method":"components/info","params":{{"component":"/a"}}}}"#
        )
    };
    let whole = |sid: &str| format!(r#"{{"jsonrpc":"2.0","id":"{sid}-id","more":1,"result":2}}"#);
    let pairs = [(request("recorded"), whole("recorded"))];
    let script = printed("stepflow", &recorded("stepflow", &pairs));
    assert!(
        script.contains(r#"fill = [{ at = "id", from = "id" }]"#),
        "{script}"
    );
    let mut stub_test = StubTest::new(known("stepflow"), &script);
    stub_test.open();
    let output = stub_test.receive(&format!("{}\n", request("this")));
    assert_eq!(output, format!("{}\n", whole("this")));
}

#[test]
fn recorded_callbacks_read_back_as_they_were() {
    let ask = |id: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":"{id}","method":"{{{{id}}}}","params":{{"x":"{{{{id}}}}"}}}}"#
        )
    };
    let call =
        r#"{"jsonrpc":"2.0","id":"ab","method":"components/info","params":{"component":"/a"}}"#;
    let recording = [
        HEADER.to_owned(),
        chunk(1, "c2s", call),
        chunk(2, "s2c", &ask("q")),
        chunk(3, "c2s", r#"{"jsonrpc":"2.0","id":"q","result":1}"#),
        chunk(4, "s2c", r#"{"jsonrpc":"2.0","id":"ab","result":2}"#),
    ];
    let script = printed("stepflow", &recording.join("\n"));
    let mut stub_test = StubTest::new(known("stepflow"), &script);
    stub_test.open();
    let asked = stub_test.receive(&format!("{call}\n"));
    let asked = asked.trim_end();
    let id = serde_json::from_str::<serde_json::Value>(asked).unwrap()["id"].clone();
    assert_eq!(asked, ask(id.as_str().unwrap()));
    // It waits for the answer, as in the recording.
    let answer = stub_test.receive(&format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":1}}\n"
    ));
    assert_eq!(answer, "{\"jsonrpc\":\"2.0\",\"id\":\"ab\",\"result\":2}\n");
}

#[test]
fn each_recorded_request_has_its_own_answer() {
    let felt = |n: u32| format!("0x{n:x}");
    let call = |n: u32| {
        let (a, b) = (felt(n % 3), felt(n));
        format!(
            r#"{{"jsonrpc":"2.0","id":{n},"method":"invoke","params":{{"selector":"f","calldata":["{a}","0x0","{b}"]}}}}"#
        )
    };
    let answer = |n: u32| {
        format!(
            r#"{{"jsonrpc":"2.0","id":{n},"result":["{}"]}}"#,
            felt(n * 2)
        )
    };
    let pairs: Vec<_> = (0..400).map(|n| (call(n), answer(n))).collect();
    let script = printed("oracle", &recorded("oracle", &pairs));
    let mut stub_test = StubTest::<'static>::serving(&script);
    for n in [0, 1, 300, 399] {
        assert_eq!(
            stub_test.receive(&format!("{}\n", call(n))),
            format!("{}\n", answer(n))
        );
    }
}

/// The recordings in a folder and in the folders in it.
fn recordings(folder: &Path, found: &mut Vec<PathBuf>) {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            recordings(&path, found);
        } else if path.extension().is_some_and(|ext| ext == "jsonl") {
            found.push(path);
        }
    }
}

/// The protocol that a recording names, and the messages that its client sent.
fn content(recording: &str) -> Option<(&'static dyn Protocol, Vec<u8>)> {
    let mut lines = recording.lines();
    let header: serde_json::Value = serde_json::from_str(lines.next()?).ok()?;
    let protocol = registry::find(header["protocol"].as_str()?)?;
    let mut sent = Vec::new();
    for line in lines {
        let chunk: serde_json::Value = serde_json::from_str(line).ok()?;
        if chunk["dir"] == "c2s" {
            sent.extend(chunk["text"].as_str().unwrap_or_default().bytes());
        }
    }
    Some((protocol, sent))
}

/// Prints the script of every recorded fixture for both sides, reads it, and compares the scripts and their answers.
#[test]
fn printed_scripts_read_back_as_equal_and_answer_the_same() {
    let mut paths = Vec::new();
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    recordings(&fixtures, &mut paths);
    let (mut scripts, mut hellos, mut waits, mut steps, mut answers) = (0, 0, 0, 0, 0);
    for path in paths {
        let recording = std::fs::read_to_string(&path).unwrap();
        let Some((protocol, sent)) = content(&recording) else {
            continue;
        };
        for side in [Direction::ToClient, Direction::ToServer] {
            for speed in ["1", "max"] {
                let speed = speed.parse().unwrap();
                let limits = Limits::default();
                let compiled = compile(recording.as_bytes(), protocol, side, limits, speed);
                let compiled = match compiled {
                    Ok(compiled) => compiled,
                    Err(why) => {
                        assert!(
                            !why.contains("cannot be a rule"),
                            "{}: {why}",
                            path.display()
                        );
                        continue;
                    }
                };
                let text = script(&compiled, protocol);
                let read = Script::read("my.toml", &text, protocol);
                let read = read.unwrap_or_else(|e| panic!("{}: {e}", path.display()));
                assert_eq!(read, compiled, "{}\n{text}", path.display());
                scripts += 1;
                hellos += compiled.hellos.len();
                waits += text.matches("{ wait = ").count();
                steps += text.matches("steps = ").count();
                if side == Direction::ToServer || sent.is_empty() {
                    continue;
                }
                let output = [compiled, read].map(|script| {
                    let mut stub_test = StubTest::made(protocol, script, OnMiss::Error, false);
                    let opened = stub_test.open();
                    let sent = std::str::from_utf8(&sent).unwrap();
                    let received = stub_test.receive(sent);
                    (opened, received, stub_test.wait(3_600_000))
                });
                assert_eq!(output[0], output[1], "{}\n{text}", path.display());
                answers += usize::from(!output[0].1.is_empty());
            }
        }
    }
    // Each part of the law applies to many recordings.
    let counts = [scripts, hellos, waits, steps, answers];
    assert!(counts.iter().all(|n| *n >= 20), "{counts:?}");
}

#[test]
fn wrong_keys_of_recorded_rules_are_refused() {
    let request = r#"{"jsonrpc":"2.0","id":1,"method":"f"}"#;
    for (rule, want) in [
        ("request = '{'".to_owned(), "my.toml:2:11: request: "),
        (
            format!("request = '{request}'\nmatch = 'subject=f'"),
            "my.toml:3:1: match and request: a rule has one of them",
        ),
        (
            format!("request = '{request}'\ntimes = 2"),
            "my.toml:1:1: times: rules with equal requests are used in order",
        ),
        (
            format!("request = {{ json = '{request}', generatde = [] }}"),
            "my.toml:2:61: unknown key generatde: did you mean generated?",
        ),
        (
            "steps = [{ wiat = \"1s\" }]".to_owned(),
            "my.toml:2:12: unknown key wiat: did you mean wait?",
        ),
        (
            "steps = [{ wait = \"1s\", answer = 0 }]".to_owned(),
            "my.toml:2:10: steps: wanted a table with one of wait, message, call, answer, until",
        ),
        (
            "message = { json = '{\"id\":1}', fill = [{ at = \"ids\", from = \"id\" }] }"
                .to_owned(),
            "my.toml:2:39: the message has no value to replace at ids",
        ),
    ] {
        let script = format!("[[on]]\n{rule}");
        let error = Script::read("my.toml", &script, oracle()).unwrap_err();
        assert!(error.to_string().starts_with(want), "{script}\n{error}");
    }
}

/// A request that is written by hand matches by its values, in any order and spelling.
#[test]
fn request_matches_by_structure() {
    let request = invoke(1, "f");
    let script = format!("[[on]]\nrequest = '{request}'\nresult = [\"0x7\"]\n");
    let mut stub_test = StubTest::<'static>::serving(&script);
    let other = r#"{ "id": 5, "params": {"calldata": [], "selector": "\u0066"}, "method": "invoke", "jsonrpc": "2.0" }"#;
    let answer = r#"{"jsonrpc":"2.0","id":5,"result":["0x7"]}"#;
    assert_eq!(
        stub_test.receive(&format!("{other}\n")),
        format!("{answer}\n")
    );
    let miss = stub_test.receive(&format!("{}\n", invoke(6, "g")));
    assert!(miss.contains("invoke g was not recorded"), "{miss}");
}
