//! `--where` on the command line.

use crate::common::{self, Ran};

const SESSION: &str = "\
{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"ready\"}
{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{}}
{ \"jsonrpc\":\"2.0\", \"id\":1, \"method\":\"invoke\", \"params\":{\"selector\":\"pow\",\"calldata\":[\"0x2\"]} }
{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":[\"0x4\"]}
";

/// Exit code, stdout and stderr of `decode -p oracle` with more arguments.
fn decode(args: &[&str]) -> Ran {
    common::run(
        common::wiretool()
            .args(["decode", "-p", "oracle"])
            .args(args),
        SESSION,
    )
}

/// Two requests on two streams of one connection; one is split around the other.
const STREAMS: &str = r#"{"wiretool":1,"protocol":"oracle","started":"2026-11-21T10:00:00.000000000Z","transport":"quic"}
{"t":0,"conn":1,"event":"open"}
{"t":1,"conn":1,"stream":0,"dir":"c2s","text":"{\"jsonrpc\":\"2.0\",\"id\":1,"}
{"t":2,"conn":1,"stream":4,"dir":"c2s","text":"{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"invoke\",\"params\":{\"selector\":\"f\",\"calldata\":[]}}\n"}
{"t":3,"conn":1,"stream":4,"event":"eof","dir":"c2s"}
{"t":4,"conn":1,"stream":0,"dir":"c2s","text":"\"method\":\"invoke\",\"params\":{\"selector\":\"g\",\"calldata\":[]}}\n"}
{"t":5,"conn":1,"event":"close"}
{"t":6,"event":"end","chunks":3,"bytes":{"c2s":168,"s2c":0}}
"#;

#[test]
fn words_that_exist_are_listed_without_secrets() {
    let input = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x://u:hunter2@h/?token=SEKRET123\"}\n";
    for command in ["decode", "lint", "stat"] {
        let mut wiretool = common::wiretool();
        wiretool.args([command, "-p", "jsonrpc", "--where", "subject=other"]);
        let (_, _, err) = common::run(&mut wiretool, input);
        assert!(err.contains("subjects: x://"), "{err}");
        assert!(
            !err.contains("hunter2") && !err.contains("SEKRET123"),
            "{err}"
        );
    }
}

#[test]
fn streams_of_connection_are_decoded_separately() {
    for (condition, want) in [
        (
            "stream=0",
            &[r#""index":1,"conn":1,"stream":0,"dir":"c2s","#][..],
        ),
        (
            "stream>0",
            &[r#""index":0,"conn":1,"stream":4,"dir":"c2s","#],
        ),
        ("not stream", &[]),
    ] {
        let args = ["decode", "-f", "json", "--where", condition];
        let (code, out, err) = common::run(common::wiretool().args(args), STREAMS);
        let lines: Vec<_> = out.lines().collect();
        assert_eq!(lines.len(), want.len(), "{condition}: {out}{err}");
        for (line, want) in lines.iter().zip(want) {
            assert!(line.contains(want) && !line.contains("fault"), "{line}");
        }
        assert_eq!(code, i32::from(want.is_empty()), "{err}");
    }
}

/// Two calls whose answers arrive in the other order, and a note between.
const CALLS: &str = "\
{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\"}
{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"b\"}
{\"jsonrpc\":\"2.0\",\"method\":\"note\"}
{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":22}
{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":11}
{\"jsonrpc\":\"2.0\",\"method\":\"end\"}
";

#[test]
fn messages_near_a_match_and_of_its_pair_are_shown() {
    for (args, want) in [
        (&["--grep", "22", "-A", "1"][..], "#3 -#4"),
        (&["--grep", "22", "-B2"], "-#1 -#2 #3"),
        (&["--grep", "22", "-C", "1"], "-#2 #3 -#4"),
        (&["--grep", "22", "-C", "1", "-A", "0"], "-#2 #3"),
        (&["--subject", "a,end", "-C", "1"], "#0 -#1 -- -#4 #5"),
        (&["--subject", "note,end", "-C", "1"], "-#1 #2 -#3 -#4 #5"),
        (&["--subject", "a,end", "-A", "0"], "#0 #5"),
        (&["--head", "1", "-A", "1"], "#0 -#1"),
        (&["--skip", "5", "-B", "1"], "-#4 #5"),
        (&["--grep", "22", "--pair"], "-#1 #3"),
        (&["--grep", "11", "--pair", "-B", "1"], "-#0 -- -#3 #4"),
        (&["--subject", "a", "--pair"], "#0 -#4"),
        (&["--where", "id=1", "--pair"], "#0 #4"),
        (&["--head", "1", "--pair"], "#0 -#4"),
        (&["--where", "role=response", "--pair"], "-#1 #3 -#0 #4"),
        (&["--subject", "note", "--pair"], "#2"),
    ] {
        for format in ["line", "tree"] {
            let (code, out, err) = common::run(
                common::wiretool().args(["decode", "-f", format]).args(args),
                CALLS,
            );
            let lines = out.lines().filter(|line| !line.starts_with("     "));
            let shown: Vec<&str> = lines
                .filter_map(|line| line.split_whitespace().next())
                .filter(|word| word.contains(['#', '-']))
                .collect();
            assert_eq!(shown.join(" "), want, "{args:?}: {out}{err}");
            assert_eq!(code, 0, "{args:?}: {err}");
        }
    }
    let args = ["decode", "-f", "json", "--grep", "22", "--pair", "-A", "1"];
    let (_, out, _) = common::run(common::wiretool().args(args), CALLS);
    let marks: Vec<bool> = out
        .lines()
        .map(|line| line.contains(r#","context":true}"#))
        .collect();
    assert_eq!(marks, [true, false, true], "{out}");
}

#[test]
fn conditions_select_messages() {
    for (args, want) in [
        (&["--where", "kind=invoke"][..], &["#2"][..]),
        (
            &["--where", ".params.calldata[0]=0x2 or index<1"],
            &["#0", "#2"],
        ),
        (&["--where", "role=response", "--where", "id=1"], &["#3"]),
        (&["--where", "role=response", "--id", "0"], &["#1"]),
        (&["--where", "role=response", "--grep", "0x4"], &["#3"]),
        (&["--where", "latency>1000h or kind=ready"], &["#0"]),
        (
            &["--where", "not .params", "--skip", "1", "--head", "1"],
            &["#1"],
        ),
    ] {
        let (code, out, err) = decode(&[args, &["-f", "line"]].concat());
        let shown: Vec<&str> = out
            .lines()
            .filter_map(|line| line.split_whitespace().next())
            .collect();
        assert_eq!(shown, want, "{args:?}: {err}");
        assert_eq!(code, 0, "{args:?}: {err}");
    }
}

#[test]
fn no_match_exits_1() {
    let (code, out, err) = decode(&["--where", "fault"]);
    assert_eq!((code, out.as_str()), (1, ""));
    assert!(err.contains("none of 4 messages matches"), "{err}");
}

#[test]
fn condition_changes_no_line() {
    let all = decode(&["-f", "json"]).1;
    let line = all.lines().nth(2).unwrap();
    assert!(line.contains("{ \"jsonrpc\""), "as it was spelled: {line}");
    for condition in [
        "kind=invoke",
        ".params.selector=pow",
        "kind=invoke not latency",
    ] {
        let (_, out, _) = decode(&["-f", "json", "--where", condition]);
        assert_eq!(out.trim_end(), line, "{condition}");
    }
    let exact = decode(&["-f", "json", "--exact"]).1;
    let (_, out, _) = decode(&["-f", "json", "--exact", "--where", ".params.selector=pow"]);
    assert_eq!(Some(out.trim_end()), exact.lines().nth(2));
}

#[test]
fn bad_condition_is_marked_with_caret() {
    let (code, out, err) = decode(&["--where", "kind=invoke and subjcet~p*"]);
    assert_eq!((code, out.as_str()), (2, ""));
    insta::assert_snapshot!(err, @"
    error: invalid value 'kind=invoke and subjcet~p*' for '--where <EXPR>': wanted a key, got subjcet
      kind=invoke and subjcet~p*
                      ^^^^^^^ did you mean subject?
    For more information, try '--help'.
    ");
    assert!(decode(&["--help"]).1.contains("wiretool help where"));
}

#[test]
fn answers_are_selected_by_latency() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("talk.jsonl");
    let mut recording = "{\"wiretool\":1,\"protocol\":\"sael\",\"started\":\"2026-01-31T12:00:00Z\",\"transport\":\"ws\"}\n".to_owned();
    for (time, dir, text) in [
        (
            0,
            "c2s",
            r#"{"v":1,"kind":"INV","seq":1,"tool":"math.add","args":{}}"#,
        ),
        (
            20_000_000,
            "s2c",
            r#"{"v":1,"kind":"RES","seq":1,"result":5}"#,
        ),
        (
            30_000_000,
            "c2s",
            r#"{"v":1,"kind":"INV","seq":2,"tool":"math.sub","args":{}}"#,
        ),
        (
            30_500_000,
            "s2c",
            r#"{"v":1,"kind":"RES","seq":2,"result":5}"#,
        ),
    ] {
        let text = serde_json::Value::from(format!("{text}\n"));
        recording += &format!("{{\"t\":{time},\"conn\":1,\"dir\":\"{dir}\",\"text\":{text}}}\n");
    }
    recording += "{\"t\":40000000,\"event\":\"end\",\"chunks\":4,\"bytes\":{}}\n";
    std::fs::write(&path, recording).unwrap();
    for (condition, want) in [
        ("latency>10ms", &["#1"][..]),
        ("latency<=500us", &["#3"]),
        ("latency", &["#1", "#3"]),
        ("of=math.sub", &["#3"]),
        ("reply_to=2 or kind=INV", &["#0", "#2", "#3"]),
        ("time>=2026-01-31T12:00:00.03Z", &["#2", "#3"]),
    ] {
        let output = common::wiretool()
            .args(["decode", "-f", "line", "--where", condition])
            .arg(&path)
            .output()
            .unwrap();
        let out = String::from_utf8_lossy(&output.stdout).into_owned();
        let shown = out
            .lines()
            .filter_map(|line| line.split_whitespace().next());
        assert_eq!(shown.collect::<Vec<_>>(), want, "{condition}");
        let has_latency = out.contains(" 20 ms") || out.contains(" 500 µs");
        let answers = want.iter().any(|index| ["#1", "#3"].contains(index));
        assert_eq!(has_latency, answers, "{condition}: {out}");
        // Beside a latency there is no other time with a unit.
        assert!(
            !condition.contains("latency") || !out.contains('+'),
            "{out}"
        );
    }
    for (args, want) in [
        (["--where", "latency>10ms"], Some("\"latency_ms\":20")),
        (["--where", "id=1"], None),
    ] {
        let output = common::wiretool()
            .args(["decode", "-f", "json"])
            .args(args)
            .arg(&path)
            .output()
            .unwrap();
        let out = String::from_utf8_lossy(&output.stdout).into_owned();
        let shown = want.unwrap_or("\"kind\"");
        assert!(out.contains(shown), "{out}");
        assert_eq!(out.contains("latency_ms"), want.is_some(), "{out}");
    }
}

/// A condition, `--path` and all outputs name a position in the same way.
#[test]
fn quoted_names_are_selected() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("odd");
    let line = r#"{"jsonrpc":"2.0","id":1,"method":"invoke","params":{"a b":{"c.d":[5]}}}"#;
    std::fs::write(&file, format!("{line}\n")).unwrap();
    let file = file.to_str().unwrap();
    for path in [
        r#"params["a b"]["c.d"][0]"#,
        r#".params."a b"."c.d"[0]"#,
        r"params['a b']['c.d'][0]",
    ] {
        let (code, out, err) = decode(&["--path", path, file]);
        assert_eq!((code, err.as_str()), (0, ""), "{path}");
        assert!(out.contains(" = 5  "), "{path}: {out}");
        let condition = format!(".{}=5", path.trim_start_matches('.'));
        let (code, _, err) = decode(&["--where", &condition, file]);
        assert_eq!(code, 0, "{condition}: {err}");
    }
    let at = line.find("5]").unwrap().to_string();
    let (_, out, _) = decode(&["--at", &at, file]);
    assert!(out.contains(r#"params["a b"]["c.d"][0] = 5"#), "{out}");
}

/// A path starts with its first name, with or without a dot before it, in every condition.
#[test]
fn leading_dot_of_path_is_optional() {
    const CALLS: &str = "fixtures/saikuro/rules/args-unfit.fires.jsonl";
    let decode = |args: &[&str]| {
        let mut command = common::wiretool();
        command.args(["decode", "-f", "json", CALLS]).args(args);
        common::outcome_of(
            &command
                .current_dir(env!("CARGO_MANIFEST_DIR"))
                .output()
                .unwrap(),
        )
    };
    let all = decode(&[]).1;
    assert!(all.contains("\"args\":["), "{all}");
    let mut chosen = Vec::new();
    for condition in ["args[0]", ".args[0]"] {
        let (code, out, err) = decode(&["--where", condition]);
        assert_eq!((code, err.as_str()), (0, ""), "{condition}");
        chosen.push(out);
    }
    assert_eq!(chosen[0], chosen[1]);
    let folder = tempfile::tempdir().unwrap();
    let recording = folder.path().join("r").display().to_string();
    for fault in ["args[0]=2: drop", ".args[0]=2: drop"] {
        let args = [
            "record", "-p", "saikuro", "-w", &recording, "--fault", fault, "--", "true",
        ];
        let output = common::wiretool().args(args).output().unwrap();
        let (code, _, err) = common::outcome_of(&output);
        assert_eq!(code, 0, "{fault}: {err}");
    }
}

#[test]
fn failed_results_are_named_if_no_message_is_an_error() {
    let input = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}}
{"jsonrpc":"2.0","id":1,"result":{"content":[],"isError":true}}
"#;
    for command in ["decode", "lint", "stat"] {
        for (condition, there) in [
            ("role=error", "; 1 with outcome=error"),
            ("not role=request role=error", "; 1 with outcome=error"),
            ("role=end", ""),
        ] {
            let args = [command, "-p", "mcp", "--where", condition];
            let (code, _, err) = common::run(common::wiretool().args(args), input);
            let wanted = format!("none of 2 messages matches{there}\n");
            assert!(code == 1 && err.ends_with(&wanted), "{args:?}: {err}");
        }
    }
}

/// A request has no latency, and an answer has the subject of its request.
#[test]
fn a_subject_and_a_latency_select_answers() {
    let file = "fixtures/mcp/session.jsonl";
    let tests = [
        (&["subject=tools/call latency>=2ms"][..], 1),
        (&["method=tools/call", "latency>0ms"], 2),
        (&["subject=tools/list reply_to"], 1),
        (&["subject=tools/call or latency>1h"], 2),
        (&["subject=tools/call latency>1h"], 0),
    ];
    for (conditions, count) in tests {
        let flags = conditions.iter().flat_map(|one| ["--where", *one]);
        let command = ["decode", "-f", "line", file];
        let (_, out, err) = common::run(common::wiretool().args(command).args(flags), "");
        assert_eq!(out.lines().count(), count, "{conditions:?}: {out}{err}");
    }
}

#[test]
fn refusals_of_http_are_named_if_no_message_is_an_error() {
    let input = "HTTP/1.1 500 Internal Server Error\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nno";
    for condition in ["role=error", "outcome=error"] {
        let args = ["decode", "-p", "mcp", "--where", condition];
        let (code, _, err) = common::run(common::wiretool().args(args), input);
        let wanted = "; 1 with a status of HTTP that refuses a request: --where finding~refused\n";
        assert!(code == 1 && err.ends_with(wanted), "{args:?}: {err}");
    }
}

#[test]
fn a_line_with_context_is_the_line_without() {
    let line = |more: &[&str]| {
        let args = ["decode", "--grep", "sub", "fixtures/mcp/session.jsonl"];
        let mut command = common::wiretool();
        command
            .args(args)
            .args(more)
            .current_dir(env!("CARGO_MANIFEST_DIR"));
        let (_, out, _) = common::run(&mut command, "");
        let call = out.lines().find(|line| line.contains("tools/call sub"));
        let call = call.unwrap_or_else(|| panic!("{out}"));
        call.split(" → ").last().unwrap_or_default().to_owned()
    };
    let alone = line(&[]);
    assert!(alone.ends_with("{a: 1, b: 2}"), "{alone}");
    for more in [&["-C", "1"][..], &["-f", "line"]] {
        assert_eq!(line(more), alone, "{more:?}");
    }
}

/// As with grep, a condition and `-q` print nothing.
#[test]
fn quiet_conditions_only_set_the_exit_code() {
    for (args, wanted) in [
        // One match, which is a tree otherwise, and two, which are lines.
        (&["-q", "--where", "kind=invoke"][..], (0, false)),
        (&["-q", "--where", "id=0"], (0, false)),
        (&["-q", "--tail", "1", "--where", "id=0"], (0, false)),
        (&["-q", "--grep", "nosuch"], (1, false)),
        (&["-q", "--where", "kind=invoke", "-f", "line"], (0, true)),
        (&["-q", "--where", "kind=invoke", "-o", "-"], (0, true)),
        (&["-q", "--path", "method"], (0, true)),
        (&["-q"], (0, true)),
    ] {
        let (code, out, err) = decode(args);
        assert_eq!((code, !out.is_empty()), wanted, "{args:?}: {out}{err}");
        assert_eq!(err, "", "{args:?}");
    }
}

/// A difference between answers is found by the method that they answer.
#[test]
fn commands_on_calls_take_the_method_of_an_answer() {
    let folder = tempfile::tempdir().unwrap();
    let files = ["4", "5"].map(|result| {
        let path = folder.path().join(result);
        let text = SESSION.replace("\"0x4\"", &format!("\"0x{result}\""));
        std::fs::write(&path, text).unwrap();
        path
    });
    let run = |command: &str, condition: &str, files: &[std::path::PathBuf]| {
        let mut wiretool = common::wiretool();
        wiretool.args([command, "-p", "oracle", "--where", condition]);
        common::run(wiretool.args(files), "")
    };
    for (condition, differs) in [
        ("subject=pow", true),
        ("method~po", true),
        ("not subject=pow", false),
        ("subject=pow role=request", false),
    ] {
        let (code, out, err) = run("diff", condition, &files);
        assert_eq!(code, i32::from(differs), "{condition}: {out}{err}");
    }
    let (_, out, _) = run("stat", "subject=pow", &files[..1]);
    assert!(out.contains("oracle, 2 messages"), "{out}");
}

#[test]
fn words_that_exist_are_listed_if_none_matches() {
    let lists = [
        (
            &["--kind", "invok"][..],
            "; kinds: invoke, ack, ready, result",
        ),
        (&["--subject", "pwo"], "; subjects: pow"),
        (
            &["--where", ".metod=x"],
            "; members: .method, .id, .result, .params, .jsonrpc, .params.selector, .params.calldata",
        ),
        (
            &["--where", ".selector=pow"],
            "; members: .params.selector, .method, .result, .id, .jsonrpc, .params, .params.calldata",
        ),
        (&["--where", ".params.calldata[0]=0x9"], ""),
        (
            &["--where", "subject=w kind=x"],
            "; subjects: pow; kinds: ack, ready, invoke, result",
        ),
        (&["--where", "subject=pwo"], "; subjects: pow"),
        (
            &["--grep", "a|b"],
            "; --grep takes plain text, a pattern is --where 'message~/a|b/'",
        ),
        (&["--where", "kind=invoke id=9"], ""),
        (&["--where", "id=9"], ""),
    ];
    for (args, there) in lists {
        let (code, out, err) = decode(args);
        assert_eq!((code, out.as_str()), (1, ""), "{args:?}");
        let wanted = format!("wiretool: none of 4 messages matches{there}\n");
        assert_eq!(err, wanted, "{args:?}");
        let [flag, value] = args else { continue };
        if *flag == "--where" {
            for command in ["lint", "stat"] {
                let args = [command, "-p", "oracle", flag, value];
                let (code, _, err) = common::run(common::wiretool().args(args), SESSION);
                assert_eq!(code, 1, "{args:?}: {err}");
                assert!(err.ends_with(&wanted), "{args:?}: {err}");
            }
        }
    }
}
