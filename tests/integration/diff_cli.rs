//! `wiretool diff`: two runs of one scenario, ignored differences and learned rules.

use crate::common::{self, Ran};
use serde_json::Value;
use std::path::Path;

/// Three calls. `run-b` has other ids, times and order; `run-c` also has another result and one more call.
const A: &str = "fixtures/cli/run-a.jsonl";
const B: &str = "fixtures/cli/run-b.jsonl";
const C: &str = "fixtures/cli/run-c.jsonl";

/// Exit code, stdout and stderr.
fn diff(args: &[&str]) -> Ran {
    common::outcome(&[&["diff"], args].concat())
}

#[test]
fn calls_are_paired_by_request() {
    let (code, out, err) = diff(&[A, B]);
    assert_eq!(code, 1);
    insta::assert_snapshot!(out, @"
    ~ ← RES math.add  #3 c0 against #4
        result.ts  100 → 200  (bytes 49..52 and 106..109)
    ~ ← RES math.sub  #4 c0 against #5
        result.ts  101 → 201  (bytes 104..107 and 162..165)
    ~ ← RES math.add  #5 c0 against #3
        result.ts  102 → 202  (bytes 159..162 and 50..53)
    ");
    assert_eq!(
        err,
        "wiretool: 3 messages differ, 0 only in A, 0 only in B; of 6 and 6 messages\n"
    );
    let (code, out, err) = diff(&["--ignore", "**.ts", A, B]);
    assert_eq!((code, out.as_str()), (0, ""));
    assert_eq!(err, "wiretool: no difference: 6 and 6 messages\n");
    let (code, _, err) = diff(&["--ignore", "ts", A, B]);
    assert_eq!(code, 1);
    assert!(
        err.ends_with(
            "wiretool: --ignore ts is a whole path, and result.ts differs: --ignore '**.ts' ignores it\n"
        ),
        "{err}"
    );
    let (code, out, err) = diff(&["--ignore", "RES:result.ts", A, C]);
    assert_eq!(code, 1);
    insta::assert_snapshot!(out, @"
    ~ ← RES math.add  #5 c0 against #4
        result.x  3 → 4  (bytes 152..153 and 43..44)
    + → INV math.mul  #2 c0  only in B, with its answer
    ");
    assert_eq!(
        err,
        "wiretool: 1 message differs, 0 only in A, 1 only in B; of 6 and 8 messages\n"
    );
    let (_, out, _) = diff(&["--ignore", "**.ts", C, A]);
    assert!(out.contains("- → INV math.mul  #2 c0  only in A"), "{out}");
}

#[test]
fn a_secret_is_hidden_in_every_part_of_a_difference() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, given: u32, used: u32| {
        let lines = [
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}}"#.to_owned(),
            format!(
                r#"{{"jsonrpc":"2.0","id":1,"result":{{"inputRequests":{{}},"requestState":{given}}}}}"#
            ),
            format!(
                r#"{{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{{"name":"a","requestState":{used}}}}}"#
            ),
        ];
        let path = folder.path().join(name);
        std::fs::write(&path, lines.join("\n") + "\n").unwrap();
        path.to_str().unwrap().to_owned()
    };
    let (a, b) = (write("a", 7001, 7001), write("b", 8001, 9151));
    let shown = |flag: &[&str]| {
        let (code, out, _) = diff(&[flag, &["-p", "mcp", &a, &b]].concat());
        assert_eq!(code, 1);
        out.lines().last().unwrap_or_default().to_owned()
    };
    let hidden = shown(&[]);
    assert!(hidden.contains("(secret) → (secret)  ("), "{hidden}");
    assert!(!hidden.contains("01") && !hidden.contains("wanted"));
    let open = shown(&["--show-secrets"]);
    assert!(open.contains("7001 → 9151 (wanted 8001)"), "{open}");
}

#[test]
fn differences_print_as_json() {
    let (code, out, _) = diff(&["-f", "json", "--ignore", "**.ts", A, C]);
    assert_eq!(code, 1);
    let all: Vec<Value> = out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let [changed, extra] = &all[..] else {
        panic!("{out}");
    };
    assert_eq!(changed["v"], 1);
    assert_eq!(changed["a"]["index"], 5);
    assert_eq!(changed["b"]["index"], 4);
    let field = &changed["fields"][0];
    assert_eq!(field["path"], "result.x");
    assert_eq!(field["a"]["value"], "3");
    assert_eq!(field["b"]["offset"], 43);
    assert_eq!(extra.get("a"), None);
    assert_eq!(extra["b"]["what"], "INV math.mul");
    assert_eq!(extra["answers"], 1);
}

#[test]
fn strict_compares_ids() {
    let (_, loose, _) = diff(&["--ignore", "**.ts", A, B]);
    let (code, strict, _) = diff(&["--strict", "--ignore", "**.ts", A, B]);
    assert_eq!((code, loose.as_str()), (1, ""));
    assert_eq!(strict.matches("    seq  ").count(), 6, "{strict}");
    assert_eq!(diff(&["--strict", A, A]).0, 0);
}

#[test]
fn answer_with_wrong_id_is_a_difference() {
    let (sound, wrong) = ("fixtures/cli/named.jsonl", "fixtures/cli/misnamed.jsonl");
    let (code, out, _) = diff(&[sound, wrong]);
    assert_eq!(code, 1);
    insta::assert_snapshot!(out, @"
    ~ ← result  #3 c0 against #3
        id  1 → 7 (wanted 1)  (bytes 64..65 and 64..65)
    ");
    assert_eq!(diff(&[wrong, wrong]).0, 0);
}

/// Makes a recording of lines with `>` or `<`.
fn recorded(folder: &Path, name: &str, protocol: &str, lines: &[&str]) -> String {
    let mut text = format!(
        "{{\"wiretool\":1,\"protocol\":\"{protocol}\",\"started\":\"2026-01-01T00:00:00Z\",\"transport\":\"stdio\"}}\n"
    );
    for line in lines {
        let (way, line) = line.split_once(' ').unwrap();
        let way = if way == ">" { "c2s" } else { "s2c" };
        let line = serde_json::to_string(&format!("{line}\n")).unwrap();
        text += &format!("{{\"t\":1,\"conn\":1,\"dir\":\"{way}\",\"text\":{line}}}\n");
    }
    let path = folder.join(name);
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

/// Two subscriptions, one of which is ended, and a call.
const SUBSCRIBED: [&str; 8] = [
    r#"> {"v":1,"kind":"SUB","seq":1,"topic":"a"}"#,
    r#"< {"v":1,"kind":"RES","seq":1,"subscriptionId":1}"#,
    r#"> {"v":1,"kind":"SUB","seq":2,"topic":"b"}"#,
    r#"< {"v":1,"kind":"RES","seq":2,"subscriptionId":2}"#,
    r#"> {"v":1,"kind":"INV","seq":3,"tool":"t","input":{},"trace_id":"0123456789abcdef0123456789abcdef"}"#,
    r#"< {"v":1,"kind":"RES","seq":3,"output":1,"trace_id":"0123456789abcdef0123456789abcdef"}"#,
    r#"> {"v":1,"kind":"UNS","seq":1}"#,
    r#"< {"v":1,"kind":"EVT","seq":2,"data":{"a":1,"a":2}}"#,
];

#[test]
fn ids_correspond_one_to_one() {
    let folder = tempfile::tempdir().unwrap();
    let a = recorded(folder.path(), "a.jsonl", "sael", &SUBSCRIBED);
    for (n, (changes, same)) in [
        // Other numbers and another trace id.
        (
            &[
                ("\"seq\":1", "\"seq\":7"),
                ("Id\":1", "Id\":7"),
                ("0123", "4567"),
            ][..],
            true,
        ),
        (
            &[
                ("\"seq\":1", "\"seq\":3"),
                ("\"seq\":3", "\"seq\":1"),
                ("Id\":1", "Id\":3"),
            ],
            false,
        ),
        // The referenced id differs, is missing, or has an extra occurrence.
        (&[("UNS\",\"seq\":1", "UNS\",\"seq\":2")], false),
        (&[("\"subscriptionId\":1", "\"subscriptionId\":2")], false),
        (
            &[(",\"trace_id\":\"0123456789abcdef0123456789abcdef\"}", "}")],
            false,
        ),
        (
            &[("UNS\",\"seq\":1", "UNS\",\"trace_id\":\"0123\",\"seq\":1")],
            false,
        ),
        (
            &[(
                "\"output\":1,\"trace_id\":\"0123",
                "\"output\":1,\"trace_id\":\"4567",
            )],
            false,
        ),
        // A repeated key has several values.
        (&[("\"a\":1,", "\"a\":3,")], false),
    ]
    .into_iter()
    .enumerate()
    {
        let lines = SUBSCRIBED.map(|line| {
            changes
                .iter()
                .fold(line.to_owned(), |line, (from, to)| line.replace(from, to))
        });
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let b = recorded(folder.path(), &format!("{n}.jsonl"), "sael", &lines);
        for [a, b] in [[&a, &b], [&b, &a]] {
            let (code, out, err) = diff(&["--where", "kind!=X", a, b]);
            assert_eq!(code, i32::from(!same), "{changes:?}: {out}{err}");
        }
    }
}

#[test]
fn unreadable_messages_are_never_equal() {
    let folder = tempfile::tempdir().unwrap();
    let path = recorded(folder.path(), "a.jsonl", "sael", &SUBSCRIBED);
    let sound = std::fs::read_to_string(&path).unwrap();
    let bad = |text: &str| {
        let path = folder.path().join("bad.jsonl");
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    for text in [
        sound
            .replace("\"dir\":\"c2s\"", "\"dir\":\"up\"")
            .replace("\"dir\":\"s2c\"", "\"dir\":\"down\""),
        format!("{sound}{{\"t\":1,\"conn\":1,\"dir\":\"c2s\",\"b64\":\"!\"}}\n"),
    ] {
        let path = bad(&text);
        let (code, _, err) = diff(&[&path, &path]);
        assert_eq!(code, 2, "{err}");
        assert!(!err.contains("no difference"), "{err}");
    }
}

#[test]
fn ignored_differences_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    std::fs::write(
        folder.path().join("wiretool.toml"),
        "[ignore]\npaths = [\"**.ts\"]\n",
    )
    .unwrap();
    let run = |more: &[&str]| {
        let mut command = common::wiretool();
        command.arg("diff").args(more).current_dir(folder.path());
        common::run(command.arg(root.join(A)).arg(root.join(B)), "")
    };
    let (code, _, err) = run(&[]);
    assert_eq!(code, 0, "{err}");
    assert!(
        err.starts_with(
            "wiretool: no difference: 6 and 6 messages; 3 fields are ignored: [ignore] of "
        ),
        "{err}"
    );
    // Differences that a flag ignores are not reported.
    let (_, _, err) = run(&["--ignore", "**.ts"]);
    assert_eq!(err, "wiretool: no difference: 6 and 6 messages\n");
}

fn learn(folder: &Path, args: &[&str]) -> (String, String) {
    let path = folder.join("ignore.toml");
    let name = path.to_str().unwrap();
    let (code, out, err) = diff(&[&["--learn", name], args].concat());
    assert_eq!((code, out.as_str()), (0, ""), "{err}");
    (name.to_owned(), err.replace(name, "FILE"))
}

#[test]
fn learned_differences_are_ignored() {
    let folder = tempfile::tempdir().unwrap();
    let (file, err) = learn(folder.path(), &[A, B]);
    assert_eq!(err, "wiretool: FILE: 1 path differs\n");
    let learnt = std::fs::read_to_string(&file).unwrap();
    insta::assert_snapshot!(learnt, @r#"
    [ignore]
    paths = ["RES:result.ts"]
    "#);
    assert_eq!(diff(&["--ignore-file", &file, A, B]).0, 0);
    assert_eq!(diff(&["--ignore-file", &file, A, C]).0, 1);
    // Learning extends the known rules.
    let (file, err) = learn(folder.path(), &["--ignore-file", &file, A, C]);
    assert_eq!(
        err,
        "wiretool: FILE: 1 path differs\n\
         wiretool: 1 message is only in one run: a list of paths cannot ignore this\n"
    );
    let learnt = std::fs::read_to_string(&file).unwrap();
    insta::assert_snapshot!(learnt, @r#"
    [ignore]
    paths = [
        "RES:result.ts",
        "RES:result.x",
    ]
    "#);
    let (code, out, _) = diff(&["--ignore-file", &file, A, C]);
    assert_eq!((code, out.lines().count()), (1, 1), "{out}");
    // A difference without a path is reported.
    let pair = ["fixtures/cli/named.jsonl", "fixtures/cli/misnamed.jsonl"];
    let (_, err) = learn(folder.path(), &pair);
    assert!(err.contains("1 path differs"), "{err}");
}

#[test]
fn diff_exit_codes() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let copy = path("copy.jsonl", &std::fs::read_to_string(A).unwrap());
    let bad = path("bad.toml", "[ignore\n");
    let empty = path("empty", "");
    let [new, other] = ["new.toml", "other"].map(|name| {
        let path = folder.path().join(name);
        path.to_str().unwrap().to_owned()
    });
    for (args, want) in [
        (&[A, A][..], 0),
        (&[A, &empty], 1),
        (&[&empty, &empty], 0),
        (&["--where", "kind=INV", A, B], 0),
        (&["--where", "kind=HEY", A, B], 1),
        (&["--where", "kid=CALL", A, B], 2),
        (&[A], 2),
        (&[A, "/none"], 2),
        (&["-", "-"], 2),
        (&[A, "fixtures/cli/hang.jsonl"], 2),
        (&["--ignore-file", "/none", A, B], 2),
        (&["--ignore", "[", A, B], 2),
        (&["--ignore", "a[0].**.ts", A, A], 0),
        (&["--ignore-file", &bad, A, B], 2),
        // The learned rules do not overwrite their inputs.
        (&["--learn", &copy, &copy, B], 2),
        (&["-o", &copy, &copy, B], 2),
        // Only the learned rules are written.
        (&["--learn", &new, "-o", &other, A, B], 2),
        (&["--learn", &new, "-f", "json", A, B], 2),
        (&["--learn", &new, "--ignore", "a.b", &empty, &empty], 0),
    ] {
        let (code, _, err) = diff(args);
        assert_eq!(code, want, "{args:?}: {err}");
        assert!(!err.is_empty(), "{args:?}");
    }
    assert_eq!(
        std::fs::read_to_string(&copy).unwrap(),
        std::fs::read_to_string(A).unwrap()
    );
    let learnt = std::fs::read_to_string(&new).unwrap();
    assert!(learnt.contains("\"a.b\""), "{learnt}");
    assert!(!Path::new(&other).exists());
    let (_, _, err) = diff(&["--where", "kind=HEY", A, B]);
    assert_eq!(err, "wiretool: none of 12 messages matches\n");
    assert_eq!(diff(&["-q", A, A]), (0, String::new(), String::new()));
}

/// Concurrent messages may pass in any order, on both connections of a relay.
#[test]
fn order_of_concurrent_calls_is_no_difference() {
    let recording = |name: &str, order: &[u32]| {
        let head = r#"{"wiretool":1,"protocol":"stepflow","started":"2026-01-01T00:00:00Z","transport":"stdio"}"#;
        let mut text = format!("{head}\n");
        for (way, back) in [("c2s", "s2c"), ("s2c", "c2s")] {
            for n in order {
                let call = format!(
                    "{{\\\"jsonrpc\\\":\\\"2.0\\\",\\\"id\\\":{n},\\\"method\\\":\\\"m\\\",\\\"params\\\":{{\\\"n\\\":{n}}}}}\\n"
                );
                // The answer differs in only one direction.
                let answer = format!(
                    "{{\\\"jsonrpc\\\":\\\"2.0\\\",\\\"id\\\":{n},\\\"result\\\":\\\"{way}\\\"}}\\n"
                );
                text += &format!("{{\"t\":1,\"conn\":1,\"dir\":\"{way}\",\"text\":\"{call}\"}}\n");
                text +=
                    &format!("{{\"t\":1,\"conn\":1,\"dir\":\"{back}\",\"text\":\"{answer}\"}}\n");
            }
        }
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let a = recording("order-a.jsonl", &[1, 2, 3, 4, 5]);
    let b = recording("order-b.jsonl", &[5, 3, 1, 2, 4]);
    let c = recording("order-c.jsonl", &[5, 3, 6, 2, 4]);
    let (code, out, _) = diff(&["-q", &a, &b]);
    assert_eq!((code, out.as_str()), (0, ""));
    let (code, out, _) = diff(&["-q", &a, &c]);
    assert_eq!((code, out.as_str()), (1, ""));
    let (code, out, _) = diff(&[&a, &c]);
    assert_eq!(
        (code, out.matches("params.n  1 → 6").count()),
        (1, 2),
        "{out}"
    );
}

/// One call of an oracle in a separate file.
fn oracle_call(folder: &Path, name: &str, params: &str) -> String {
    let path = folder.join(name);
    let call =
        format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"invoke\",\"params\":{params}}}\n");
    std::fs::write(&path, call).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn integers_are_compared_exactly() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, params: &str| oracle_call(folder.path(), name, params);
    let a = file(
        "a",
        r#"{"a":1.00000000000000000001,"b":12345678901234567890123.5,"c":9007199254740993.0,"d":1.0}"#,
    );
    let b = file(
        "b",
        r#"{"a":1.00000000000000000002,"b":12345678901234567890124.5,"c":9007199254740992.0,"d":10e-1}"#,
    );
    let (code, out, _) = diff(&["-p", "oracle", &a, &b]);
    assert_eq!(code, 1);
    insta::assert_snapshot!(out, @"
    ~ · invoke  #0 against #0
        params.a  1.00000000000000000001 → 1.00000000000000000002  (bytes 56..78 and 56..78)
        params.b  12345678901234567890123.5 → 12345678901234567890124.5  (bytes 83..108 and 83..108)
        params.c  9007199254740993.0 → 9007199254740992.0  (bytes 113..131 and 113..131)
    ");
}

#[test]
fn learned_key_is_not_a_pattern() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, params: &str| oracle_call(folder.path(), name, params);
    let a = file("a", r#"{"*":1,"k":1}"#);
    let b = file("b", r#"{"*":2,"k":1}"#);
    let c = file("c", r#"{"*":2,"k":2}"#);
    let (learnt, _) = learn(folder.path(), &["-p", "oracle", &a, &b]);
    assert_eq!(
        diff(&["-p", "oracle", "--ignore-file", &learnt, &a, &b]).0,
        0
    );
    let (code, out, _) = diff(&["-p", "oracle", "--ignore-file", &learnt, &a, &c]);
    assert_eq!(code, 1);
    assert!(out.contains("params.k") && !out.contains('*'), "{out}");
}

/// As decode, lint and stat report it.
#[test]
fn unrecognised_lines_are_compared_as_text() {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("hello.txt");
    std::fs::write(&path, "hello world\n").unwrap();
    let name = path.to_str().unwrap();
    let wanted = format!(
        "wiretool: {name}: no protocol recognises these bytes: name it with -p, and the framing with --framing; wiretool protocol draft FILE proposes a description of an unknown protocol (wiretool help describe)\n"
    );
    for (args, times) in [([name, name], 2), ([name, A], 1), ([A, name], 1)] {
        let reported = (1, String::new(), wanted.repeat(times));
        assert_eq!(diff(&args), reported, "{args:?}");
    }
}
