//! `--where` as a user meets it.

use crate::common::{self, Told};

const TALK: &str = "\
{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"ready\"}
{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{}}
{ \"jsonrpc\":\"2.0\", \"id\":1, \"method\":\"invoke\", \"params\":{\"selector\":\"pow\",\"calldata\":[\"0x2\"]} }
{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":[\"0x4\"]}
";

/// Exit code, stdout and stderr of `decode -p oracle` with more arguments.
fn decode(args: &[&str]) -> Told {
    common::run(
        common::wiretool()
            .args(["decode", "-p", "oracle"])
            .args(args),
        TALK,
    )
}

#[test]
fn conditions_choose() {
    for (args, want) in [
        (&["--where", "kind=invoke"][..], &["2"][..]),
        (
            &["--where", ".params.calldata[0]=0x2 or index<1"],
            &["0", "2"],
        ),
        (&["--where", "role=response", "--where", "id=1"], &["3"]),
        (&["--where", "role=response", "--id", "0"], &["1"]),
        (&["--where", "role=response", "--grep", "0x4"], &["3"]),
        (&["--where", "latency>1000h or kind=ready"], &["0"]),
        (
            &["--where", "not .params", "--skip", "1", "--head", "1"],
            &["1"],
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
fn nothing_that_matches_is_no() {
    let (code, out, err) = decode(&["--where", "fault"]);
    assert_eq!((code, out.as_str()), (1, ""));
    assert!(err.contains("none of 4 messages matches"), "{err}");
}

#[test]
fn a_condition_changes_no_line() {
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
fn a_bad_condition_is_shown_with_a_caret() {
    let (code, out, err) = decode(&["--where", "kind=invoke and subjcet~p*"]);
    assert_eq!((code, out.as_str()), (2, ""));
    insta::assert_snapshot!(err, @"
    error: invalid value 'kind=invoke and subjcet~p*' for '--where <EXPR>': wanted a key, got subjcet
      kind=invoke and subjcet~p*
                      ^^^^^^^ did you mean subject?
    For more information, try '--help'.
    ");
    let help = decode(&["--help"]).1;
    assert!(help.contains("latency>10ms or fault"), "{help}");
}

#[test]
fn answers_are_chosen_by_how_long_they_took() {
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
        ("latency>10ms", &["1"][..]),
        ("latency<=500us", &["3"]),
        ("latency", &["1", "3"]),
        ("reply_to=2 or kind=INV", &["0", "2", "3"]),
        ("time>=2026-01-31T12:00:00.03Z", &["2", "3"]),
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
    }
}

/// A place is named alike by a condition, by `--path`, and by whatever shows it.
#[test]
fn odd_names() {
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

/// A path begins with its first name, with a dot before it or without, wherever conditions are given.
#[test]
fn a_path_needs_no_dot() {
    const CALLS: &str = "fixtures/saikuro/rules/args-unfit.fires.jsonl";
    let decode = |args: &[&str]| {
        let mut command = common::wiretool();
        command.args(["decode", "-f", "json", CALLS]).args(args);
        common::told(
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
        let (code, _, err) = common::told(&output);
        assert_eq!(code, 0, "{fault}: {err}");
    }
}
