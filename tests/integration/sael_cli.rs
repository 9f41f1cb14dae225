//! `wiretool sael` and `decode --state`.

use crate::common::{self, Ran};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::Value;
use std::io::Write as _;

const SECRET: &str = "a secret of some length";

fn run(args: &[&str], input: &str) -> Ran {
    common::run(
        common::wiretool()
            .args(args)
            .current_dir(env!("CARGO_MANIFEST_DIR")),
        input,
    )
}

struct Key(tempfile::NamedTempFile);

impl Key {
    fn new(content: &str) -> Self {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(content.as_bytes()).unwrap();
        Self(file)
    }

    fn path(&self) -> &str {
        self.0.path().to_str().unwrap()
    }
}

fn make_token(key: &Key, more: &[&str]) -> String {
    let mut args = vec!["sael", "token", "mint", "--secret-file", key.path()];
    args.extend(more);
    let (code, out, err) = run(&args, "");
    assert_eq!(code, 0, "{err}");
    out.trim_end().to_owned()
}

const FLAGS: [&str; 8] = [
    "--sub",
    "u@x.y",
    "--scope",
    "a:read:*,b",
    "--iat",
    "1000",
    "--ttl",
    "1m",
];

#[test]
fn help_begins_with_examples() {
    for args in [
        &["sael", "--help"][..],
        &["sael", "token", "--help"],
        &["sael", "token", "inspect", "--help"],
        &["sael", "token", "verify", "--help"],
        &["sael", "token", "mint", "--help"],
        &["sael", "token", "allows", "--help"],
        &["sael", "filter", "--help"],
    ] {
        let (code, out, err) = run(args, "");
        assert_eq!((code, err.as_str()), (0, ""), "{args:?}");
        let place = |text: &str| out.find(text).unwrap_or_else(|| panic!("{text}: {out}"));
        assert!(place("Examples:") < place("Usage:") && place("Usage:") < place("Exit codes:"));
    }
    for args in [
        &["sael"][..],
        &["sael", "token"],
        &["sael", "token", "verify", "x"],
        &["sael", "token", "mint", "--secret-file", "k"],
        &["sael", "token", "allows", "x"],
        &["sael", "filter"],
        &["sael", "token", "inspect", "x", "--now", "yesterday"],
    ] {
        let (code, out, err) = run(args, "");
        assert_eq!((code, out.as_str()), (2, ""), "{args:?}");
        assert!(
            err.contains("Usage") || err.contains("--help"),
            "{args:?}: {err}"
        );
    }
}

#[test]
fn token_is_made_inspected_and_verified() {
    let key = Key::new(SECRET);
    let token = make_token(&key, &FLAGS);
    let (code, out, err) = run(&["sael", "token", "inspect", "--now", "1030", &token], "");
    assert_eq!((code, err.as_str()), (0, ""));
    let signature = token.rsplit('.').next().unwrap();
    assert!(!out.contains(signature));
    insta::assert_snapshot!(out, @r"
    prefix        qct
    version       v1
    iss           wiretool
    sub           u@x.y
    iat           1000  1970-01-01T00:16:40Z, 30 seconds ago
    exp           1060  1970-01-01T00:17:40Z, in 30 seconds
    scope         a:read:*
                  b
    signature     (secret, 43 characters)
    ");
    let (code, out, _) = run(
        &["sael", "token", "inspect", "--show-secrets", "-"],
        &format!("{token}\n"),
    );
    assert_eq!(code, 0);
    assert!(out.contains(signature));

    let verify = |now: &str, token: &str, more: &[&str]| {
        let mut args = vec!["sael", "token", "verify", "--secret-file", key.path()];
        args.extend(["--now", now]);
        args.extend(more);
        args.push(token);
        let (code, out, err) = run(&args, "");
        for text in [&out, &err] {
            assert!(
                !text.contains(signature) && !text.contains(SECRET),
                "{text}"
            );
        }
        (code, out)
    };
    let (code, out) = verify("1030", &token, &["--client-id", "x"]);
    assert_eq!(code, 0);
    insta::assert_snapshot!(out, @r"
    ✓ split         four parts
    ✓ prefix        `qct`
    ✓ version       `v1`
    ✓ alphabet      base64url without padding
    ✓ signature     HMAC-SHA256 of `v1.<payload>`
    ✓ claims        an object of 5
    ✓ iss           is there
    ✓ sub           is there
    ✓ exp           is there
    ✓ scope         is there
    ✓ iat <= now    1000, now 1030  1970-01-01T00:16:40Z, 30 seconds ago
    · nbf <= now    is not there
    ✓ exp > now     1060, now 1030  1970-01-01T00:17:40Z, in 30 seconds
    · client_id     is not there: any agent may use it
    valid
    ");
    let (code, out) = verify("1970-01-01T00:17:40Z", &token, &[]);
    assert_eq!(code, 1);
    assert!(out.ends_with("not valid: 1 check failed\n"), "{out}");
    assert_eq!(verify("1030", "garbage", &[]).0, 1);
    let (code, out, _) = run(&["sael", "token", "inspect", "garbage\u{1b}[31m"], "");
    assert_eq!(code, 1);
    assert!(
        !out.contains('\u{1b}') && out.contains("prefix: is not `qct`"),
        "{out}"
    );
}

#[test]
fn newline_is_not_part_of_secret() {
    let (with, without) = (Key::new(&format!("{SECRET}\r\n")), Key::new(SECRET));
    let token = make_token(&without, &FLAGS);
    let verify = |key: &Key, more: &[&str], token: &str| {
        let mut args = vec!["sael", "token", "verify", "--now", "1030"];
        args.extend(["--secret-file", key.path(), token]);
        args.extend(more);
        run(&args, "")
    };
    let (code, _, err) = verify(&with, &[], &token);
    assert_eq!(code, 0);
    assert!(
        err.contains("its final newline is not part of the secret"),
        "{err}"
    );
    assert_eq!(verify(&with, &["-q"], &token).2, "");
    assert_eq!(verify(&without, &[], &token).2, "");
    // Signed with the newline as part of the secret.
    let doubled = Key::new(&format!("{SECRET}\r\n\n"));
    let theirs = make_token(&doubled, &FLAGS);
    let (code, _, err) = verify(&with, &["-q"], &theirs);
    assert_eq!(code, 1);
    assert!(
        err.contains("the final newline of the file is part of the secret"),
        "{err}"
    );

    let (code, out, err) = verify(&Key::new("\n"), &[], &token);
    assert_eq!((code, out.as_str()), (2, ""));
    assert!(err.contains("there is no secret"));
    let args = ["sael", "token", "verify", "--secret-file", "-", "-"];
    assert_eq!(run(&args, "x").0, 2);
    let args = ["sael", "token", "verify", "--secret-file", "/none", "x"];
    assert_eq!(run(&args, "").0, 2);
}

#[test]
fn wrong_claims_are_signed_with_force_only() {
    let key = Key::new(SECRET);
    let args = [
        "sael",
        "token",
        "mint",
        "--secret-file",
        key.path(),
        "--claims",
        "{}",
    ];
    let (code, out, err) = run(&args, "");
    assert_eq!((code, out.as_str()), (1, ""));
    assert!(
        err.contains("exp: is required") && err.contains("--force"),
        "{err}"
    );
    let token = make_token(&key, &["--claims", "[1]", "--force"]);
    let (code, out, _) = run(&["sael", "token", "inspect", &token], "");
    assert_eq!(code, 1);
    assert!(out.contains("payload: is a list, not an object"), "{out}");
}

#[test]
fn capabilities_are_matched() {
    let allows = |args: &[&str]| {
        let mut all = vec!["sael", "token", "allows"];
        all.extend(args);
        run(&all, "")
    };
    let (code, out, _) = allows(&["a:b:c", "--scope", "x,a:b:*"]);
    assert_eq!(code, 0);
    insta::assert_snapshot!(out, @r"
    document      yes   a:b:*
    server        yes   a:b:*
    ");
    let (code, out, _) = allows(&["a:b", "--scope", "a:b:*"]);
    assert_eq!(code, 1);
    insta::assert_snapshot!(out, @r"
    document      yes   a:b:*
    server        no    no granted capability includes it
    they differ: the reference server supports only exact names, `*`, and `x:*` for everything below x
    ");
    let token = make_token(&Key::new(SECRET), &FLAGS);
    assert_eq!(allows(&["b", &token]).0, 0);
    assert_eq!(allows(&["c", &token]).0, 1);
    assert_eq!(allows(&["c", "garbage"]).0, 2);
}

const ITEMS: &str = "{\"n\":1}\n{\"n\":null}\n\n[{\"n\": 2,\n \"s\":\"x\"}, 7]\n{\"m\":1}\n";

#[test]
fn filters_are_matched() {
    let (code, out, err) = run(&["sael", "filter", "n > 0"], ITEMS);
    assert_eq!((code, err.as_str()), (0, ""));
    assert_eq!(out, "{\"n\":1}\n{\"n\": 2,  \"s\":\"x\"}\n");
    let (code, out, err) = run(&["sael", "filter", "n > 9"], ITEMS);
    assert_eq!((code, out.as_str(), err.as_str()), (1, "", ""));
    let (code, out, err) = run(&["sael", "filter", "n == null"], ITEMS);
    assert_eq!((code, out.as_str()), (0, "{\"n\":null}\n{\"m\":1}\n"));
    assert!(
        err.contains("differ for 1 of 5 items; this is the result of go"),
        "{err}"
    );
    let args = [
        "sael",
        "filter",
        "--dialect",
        "typescript",
        "-q",
        "n == null",
    ];
    assert_eq!(
        run(&args, ITEMS),
        (0, "{\"n\":null}\n".into(), String::new())
    );
    let (code, out, err) = run(
        &["sael", "filter", "--explain", "!(n == null) || m == 2)"],
        ITEMS,
    );
    assert_eq!((code, err.as_str()), (0, ""));
    insta::assert_snapshot!(out, @r#"
    or
      not
        ==  field n  null
      ==  field m  field or text 2)
    ! `!(n == null) || m == 2)`: a `)` closes nothing, and is part of the text beside it
    keep  {"n":1}
    drop  {"n":null}
    keep  {"n": 2,  "s":"x"}
    drop  7
          not an object: pipelines drop it
    drop  {"m":1}
          go drops it, python drops it, typescript keeps it
          n == null: true to go, python; false to typescript: for go and python an absent field is null, for typescript it is not
    "#);
    let (_, _, err) = run(&["sael", "filter", "n = 2"], ITEMS);
    assert!(err.contains("`n = 2`: has no operator"), "{err}");
    let args = [
        "sael",
        "filter",
        "t < now()",
        "--now",
        "1970-01-01T00:00:10Z",
    ];
    assert_eq!(run(&args, "{\"t\":9}{\"t\":10}").1, "{\"t\":9}\n");
    assert_eq!(run(&["sael", "filter", "--explain", "a"], "").0, 0);
    for input in ["{", "{\"a\":1}\n}", "\u{1}", "[1,]"] {
        let (code, _, err) = run(&["sael", "filter", "a"], input);
        assert_eq!(code, 2, "{input}");
        assert!(err.contains("stdin: not JSON"), "{err}");
    }
    let deep = format!("{}{}", "[".repeat(9000), "]".repeat(9000));
    assert_eq!(run(&["sael", "filter", "a"], &deep).0, 2);
    let deep = format!("{}a", "(".repeat(9000));
    let long = "a&&".repeat(30000);
    assert_eq!(run(&["sael", "filter", &long], "{}").0, 2);
    assert_ne!(run(&["sael", "filter", &deep], "{}").0, -1);
}

#[test]
fn stream_states_are_shown() {
    let file = "fixtures/sael/delta.hex";
    let (code, out, err) = run(&["decode", "--state", file], "");
    assert_eq!((code, err.as_str()), (0, ""));
    insta::assert_snapshot!(out, @r#"
    #0        0 → INV           demo.dashboard       4
    #1        0 ← STR           demo.dashboard       4    {metric_0: 0, metric_1: 10}
       = state {"metric_0":0,"metric_1":10}
    #2       61 ← STR           demo.dashboard       4    {metric_1: 42, metric_0: null}
       = state {"metric_1":42}
    #3      125 ← END           demo.dashboard       4
    "#);
    // Hidden messages also change the state.
    let (_, out, _) = run(
        &[
            "decode", "--state", "-f", "tree", "--skip", "2", "--head", "1", file,
        ],
        "",
    );
    assert!(
        out.ends_with("  state {\n    \"metric_1\": 42\n  }\n"),
        "{out}"
    );
    let json = |more: &[&str]| {
        let mut args = vec!["decode", "-f", "json", file];
        args.extend(more);
        run(&args, "")
    };
    assert_eq!(json(&["--state"]), json(&[]));
    let token = "{\"kind\":\"STR\",\"seq\":1,\"delta\":{\"t\":\"qct.v1.eyJhIjoxfQ.c2ln\"}}\n";
    let lines = token.repeat(2);
    let args = ["decode", "-p", "sael", "--framing", "lines", "--state"];
    let (_, out, _) = run(&args, &lines);
    assert!(!out.contains("qct.") && out.contains("(secret)"), "{out}");
}

/// Messages of a connection have the client, also after a resume.
#[test]
fn messages_say_who_the_client_is() {
    let mut text = "{\"wiretool\":1,\"protocol\":\"sael\"}\n".to_owned();
    let payload = |sub: &str| {
        let claims = format!("{{\"iss\":\"i\",\"sub\":\"{sub}\",\"exp\":9,\"scope\":[]}}");
        format!("qct.v1.{}.AA", URL_SAFE_NO_PAD.encode(claims))
    };
    let hey = |agent: &str, sub: &str| {
        let token = payload(sub);
        serde_json::json!({"kind": "HEY", "seq": 1, "agent": {"id": agent}, "auth": {"type": "bearer", "token": token}}).to_string()
    };
    let greet = |session: &str| {
        serde_json::json!({"kind": "HEY", "seq": 1, "session_id": session, "granted_capabilities": []}).to_string()
    };
    let resume = r#"{"kind":"RSM","session_id":"s1","last_seq_received":1}"#;
    let resumed = r#"{"kind":"HEY","resumed":true,"session_id":"s1","replayed":0}"#;
    for (conn, dir, message) in [
        (1, "c2s", hey("planner", "alice").as_str()),
        (1, "s2c", &greet("s1")),
        (2, "c2s", &hey("bot", "bot")),
        (2, "s2c", &greet("s2")),
        (2, "c2s", r#"{"kind":"INV","seq":2,"tool":"t","input":{}}"#),
        (3, "c2s", resume),
        (3, "s2c", resumed),
        (3, "c2s", r#"{"kind":"INV","seq":5,"tool":"t","input":{}}"#),
    ] {
        let line = serde_json::json!({"conn": conn, "dir": dir, "text": format!("{message}\n")});
        text += &format!("{line}\n");
    }
    let folder = tempfile::tempdir().unwrap();
    let file = common::file(folder.path(), "a.jsonl", text);
    let who = |args: &[&str]| {
        let mut command = common::wiretool();
        command
            .args(["decode", "-f", "json", "--lint"])
            .args(args)
            .arg(&file);
        let (_, out, _) = common::run(&mut command, "");
        let lines = out
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap());
        let shown = lines.map(|line| line["who"].as_str().unwrap_or("-").to_owned());
        shown.collect::<Vec<_>>()
    };
    let (planner, bot) = ("planner (alice)", "bot");
    assert_eq!(
        who(&[]),
        [planner, planner, bot, bot, bot, planner, planner, planner]
    );
    assert_eq!(who(&["--where", "who=bot"]), [bot; 3]);
    // Lines have it, too, if rules are checked.
    let lines = |args: &[&str]| {
        let mut command = common::wiretool();
        command.args(["decode", "-f", "line"]).args(args).arg(&file);
        let (_, out, _) = common::run(&mut command, "");
        out.lines()
            .filter(|line| line.contains(" planner (alice) "))
            .count()
    };
    assert_eq!((lines(&[]), lines(&["--lint"])), (0, 5));
}
