//! `decode --ops` and `stat --ops`: lines, objects, selection, widths.

use crate::common;
use serde_json::Value;
use std::fmt::Write as _;

const CALLS: &str = "fixtures/cli/operations.jsonl";

fn stdout(args: &[&str]) -> String {
    let (code, out, err) = common::outcome_at_width(args, None);
    assert_eq!(code, 0, "{err}");
    out
}

/// Returns a line without color codes.
fn without_colors(line: &str) -> String {
    let mut parts = line.split('\x1b');
    let first = parts.next().unwrap_or_default().to_owned();
    let rest = parts.filter_map(|part| Some(part.split_once('m')?.1));
    first + &rest.collect::<String>()
}

#[test]
fn each_operation_has_a_line() {
    insta::assert_snapshot!(stdout(&["decode", "--ops", CALLS]), @"
    #0 c1 00:00:00.001 initialize                       answered       2 ms server; 2 messages, 296 bytes
    #3 c1 00:00:00.010 tools/call book                  failed          6 s server 40 ms, person 6 s; 1 notifications/progress, ~1 elicitation/create; 5 messages, 480 bytes
    #8 c1 00:00:06.060 tools/call wait                  open         940 ms server; 1 message, 86 bytes
    ");
    insta::assert_snapshot!(stdout(&["decode", "--ops", "-v", "--where", "op=3", CALLS]), @r#"
    #3 c1 00:00:00.010 tools/call book                  failed          6 s server 40 ms, person 6 s; 1 notifications/progress, ~1 elicitation/create; 5 messages, 480 bytes
       #3      218 c1 00:00:00.010 → request       tools/call book      1             {}, _meta: {progressToken: "p"}
       #4      135 c1 00:00:00.020 ← notification  notifications/progress             {progressToken: "p", progress: 1}
       ~#5 c1 00:00:00.030 elicitation/create               answered        6 s person; 2 messages, 206 bytes
           #5      231 c1 00:00:00.030 ← request       elicitation/create   7             {message: "Which day?", requestedSchema…
           #6      335 c1 00:00:06.030 → response      elicitation/create   7         6 s {action: "accept", content: {}}
       #7      372 c1 00:00:06.050 ← response      tools/call book      1         6 s ✗ isError: true: {content: [], isError: true}
    "#);
    // What is inside has a line of its own if it alone is selected.
    insta::assert_snapshot!(stdout(&["decode", "--ops", "--where", "parent=3", CALLS]), @"   ~#5 c1 00:00:00.030 elicitation/create               answered        6 s in #3; person; 2 messages, 206 bytes");
    // A part stands below the whole, also if only the whole is selected, and only at its end.
    insta::assert_snapshot!(stdout(&["decode", "--ops", "-v", "--where", "outcome=error", CALLS]), @r#"
    #3 c1 00:00:00.010 tools/call book                  failed          6 s server 40 ms, person 6 s; 1 notifications/progress, ~1 elicitation/create; 5 messages, 480 bytes
       #3      218 c1 00:00:00.010 → request       tools/call book      1             {}, _meta: {progressToken: "p"}
       #4      135 c1 00:00:00.020 ← notification  notifications/progress             {progressToken: "p", progress: 1}
       ~#5 c1 00:00:00.030 elicitation/create               answered        6 s person; 2 messages, 206 bytes
           #5      231 c1 00:00:00.030 ← request       elicitation/create   7             {message: "Which day?", requestedSchema…
           #6      335 c1 00:00:06.030 → response      elicitation/create   7         6 s {action: "accept", content: {}}
       #7      372 c1 00:00:06.050 ← response      tools/call book      1         6 s ✗ isError: true: {content: [], isError: true}
    "#);
    insta::assert_snapshot!(stdout(&["decode", "--ops", "--skip", "1", "--head", "1", CALLS]), @"    #3 c1 00:00:00.010 tools/call book                  failed          6 s server 40 ms, person 6 s; 1 notifications/progress, ~1 elicitation/create; 5 messages, 480 bytes");
}

#[test]
fn lines_of_stderr_are_below_the_operation_during_which_they_come() {
    let folder = tempfile::tempdir().unwrap();
    let lines = [
        r#"{"wiretool":1,"protocol":"mcp","started":"2026-01-01T00:00:00Z"}"#,
        r#"{"t":1000000,"conn":1,"dir":"stderr","text":"starts\n"}"#,
        r#"{"t":2000000,"conn":1,"dir":"c2s","text":"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n"}"#,
        r#"{"t":3000000,"conn":1,"dir":"stderr","text":"works\n"}"#,
        r#"{"t":4000000,"conn":1,"dir":"s2c","text":"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n"}"#,
        r#"{"t":5000000,"conn":1,"dir":"stderr","text":"ends\n"}"#,
    ];
    let file = common::file(folder.path(), "a.jsonl", lines.join("\n") + "\n");
    insta::assert_snapshot!(stdout(&["decode", "--ops", "--stderr", "-v", &file]), @r"
        00:00:00.001 c1 stderr: starts
    #0 c1 00:00:00.002 ping                             answered       2 ms server; 2 messages, 76 bytes
       #0        0 c1 00:00:00.002 → request       ping                 1
            00:00:00.003 c1 stderr: works
       #1        0 c1 00:00:00.004 ← response      ping                 1        2 ms {}
        00:00:00.005 c1 stderr: ends
    ");
    insta::assert_snapshot!(stdout(&["decode", "--ops", "--stderr", &file]), @r"
        00:00:00.001 c1 stderr: starts
        00:00:00.003 c1 stderr: works
    #0 c1 00:00:00.002 ping                             answered       2 ms server; 2 messages, 76 bytes
        00:00:00.005 c1 stderr: ends
    ");
}

#[test]
fn each_operation_is_an_object() {
    let out = stdout(&["decode", "--ops", "-f", "json", CALLS]);
    insta::assert_snapshot!(out, @r#"
    {"v":1,"conn":1,"dir":"c2s","protocol":"mcp","kind":"operation","role":"control","subject":"initialize","op":0,"state":"answered","start":"2026-01-01T00:00:00.001000000Z","duration_ms":2,"shares":{"server":2},"messages":2,"bytes":296}
    {"v":1,"conn":1,"dir":"s2c","protocol":"mcp","kind":"operation","role":"control","subject":"elicitation/create","op":5,"parent":3,"link":"inferred","state":"answered","start":"2026-01-01T00:00:00.030000000Z","duration_ms":6000,"shares":{"person":6000},"messages":2,"bytes":206}
    {"v":1,"conn":1,"dir":"c2s","protocol":"mcp","kind":"operation","role":"control","subject":"tools/call","name":"book","op":3,"link":"recorded","state":"failed","start":"2026-01-01T00:00:00.010000000Z","duration_ms":6040,"shares":{"server":40,"person":6000},"messages":5,"bytes":480,"parts":{"notifications/progress":1,"elicitation/create":1}}
    {"v":1,"conn":1,"dir":"c2s","protocol":"mcp","kind":"operation","role":"control","subject":"tools/call","name":"wait","op":8,"state":"open","start":"2026-01-01T00:00:06.060000000Z","duration_ms":940,"shares":{"server":940},"messages":1,"bytes":86}
    "#);
    for line in out.lines() {
        let one: Value = serde_json::from_str(line).unwrap();
        let shares = one["shares"].as_object().unwrap().values();
        let sum: f64 = shares.map(|share| share.as_f64().unwrap()).sum();
        assert!(
            (sum - one["duration_ms"].as_f64().unwrap()).abs() < 1e-6,
            "{line}"
        );
    }
}

#[test]
fn operations_are_counted_by_subject() {
    let (code, out, _) = common::outcome_at_width(&["stat", "--ops", CALLS], Some(80));
    assert_eq!(code, 0);
    insta::assert_snapshot!(out, @"
    fixtures/cli/operations.jsonl: mcp, 9 messages, 916 bytes in 6.1 s, 1 unanswered

    operations              count       p50       p90       p99  waits for
      tools/call book           1       6 s         -         -  person 99 %, server 1 %; 1 failed
      elicitation/create        1       6 s         -         -  person 100 %
      tools/call wait           1    940 ms         -         -  server 100 %; 1 open
      initialize                1      2 ms         -         -  server 100 %
    ");
    insta::assert_snapshot!(stdout(&["stat", "--ops", "--where", "name=book", CALLS]), @"
    fixtures/cli/operations.jsonl: mcp, 2 messages, 179 bytes in 6 s, 1 unanswered

    operations                        count       p50       p90       p99 errors  messages        bytes  waits for
      tools/call book                     1       6 s         -         -      1         5          480  person 99 %, server 1 %
    ");
    let json: Value =
        serde_json::from_str(&stdout(&["stat", "--ops", "-f", "json", CALLS])).unwrap();
    insta::assert_snapshot!(json["operations"][2], @r#"
    {"bytes":480,"cancelled":0,"count":1,"failed":1,"messages":5,"open":0,"p50_ms":6040,"p90_ms":6040,"p99_ms":6040,"shares_ms":{"person":6000,"server":40},"what":"tools/call book"}
    "#);
}

#[test]
fn operations_fit_the_width() {
    for width in [40, 80, 100, 120, 200] {
        for args in [
            &["decode", "--ops", CALLS][..],
            &["decode", "--ops", "-v", CALLS],
            &[
                "decode",
                "--ops",
                "--color",
                "always",
                "fixtures/mcp/tasks.jsonl",
            ],
        ] {
            let (code, out, err) = common::outcome_at_width(args, Some(width));
            assert_eq!(code, 0, "{err}");
            assert!(out.lines().count() >= 3, "{out}");
            for line in out.lines() {
                let plain = without_colors(line);
                assert!(plain.chars().count() <= width, "{width}: {line}");
            }
        }
    }
}

#[test]
fn operations_are_lines_or_objects() {
    for (args, wanted) in [
        (
            &["decode", "--ops", "-f", "tree", CALLS][..],
            "--ops shows lines, or objects with -f json",
        ),
        (
            &["decode", "--ops", "--lint", CALLS],
            "cannot be used with '--lint'",
        ),
        (
            &["decode", "--ops", "--pair", CALLS],
            "cannot be used with '--pair'",
        ),
    ] {
        let (code, _, err) = common::outcome_at_width(args, None);
        assert_eq!(code, 2);
        assert!(err.contains(wanted), "{err}");
    }
    let (code, out, err) =
        common::outcome_at_width(&["decode", "--ops", "--where", "name=none", CALLS], None);
    assert_eq!((code, out.as_str()), (1, ""));
    assert!(err.contains("none of 9 messages matches"), "{err}");
}

#[test]
fn pairs_have_the_keys_of_operations() {
    let out = stdout(&[
        "decode",
        "-f",
        "json",
        "--pair",
        "--where",
        "outcome=error",
        CALLS,
    ]);
    let lines = out.lines().map(|line| serde_json::from_str(line).unwrap());
    let lines: Vec<Value> = lines.collect();
    let found = lines.iter().map(|line| (&line["index"], &line["op"]));
    let found: Vec<String> = found.map(|(index, op)| format!("{index} {op}")).collect();
    assert_eq!(found, ["3 3", "7 3"]);
    assert!(lines.iter().all(|line| line["findings"].is_null()));
}

/// The next attempt is sent to a new process.
#[test]
fn an_attempt_whose_process_ended_is_one_operation_with_the_next() {
    let execute = |id: u32, attempt: u32| {
        let ids = serde_json::json!({"run_id": "r", "step_id": "s"});
        serde_json::json!({"jsonrpc": "2.0", "id": id, "method": "components/execute",
            "params": {"component": "/c", "input": {}, "attempt": attempt, "observability": ids}})
    };
    let answer = serde_json::json!({"jsonrpc": "2.0", "id": 2, "result": {"output": 1}});
    for end in ["close", "exit"] {
        let header = serde_json::json!({"wiretool": 1, "protocol": "stepflow", "started": "2026-01-01T00:00:00.000000000Z"});
        let mut text = format!("{header}\n");
        for (ms, conn, dir, message) in [
            (10, 1, "c2s", &execute(1, 1)),
            (500, 1, end, &Value::Null),
            (1500, 2, "c2s", &execute(2, 2)),
            (1600, 2, "s2c", &answer),
        ] {
            let t = ms * 1_000_000;
            let line = match message {
                Value::Null => serde_json::json!({"t": t, "conn": conn, "event": dir}),
                message => {
                    serde_json::json!({"t": t, "conn": conn, "dir": dir, "text": format!("{message}\n")})
                }
            };
            text += &format!("{line}\n");
        }
        let folder = tempfile::tempdir().unwrap();
        let file = common::file(folder.path(), "a.jsonl", text);
        insta::allow_duplicates! {
            insta::assert_snapshot!(stdout(&["decode", "--ops", &file]), @"
                #0 c1 00:00:00.010 components/execute /c            answered      1.6 s server 590 ms, retry 1 s; 1 retry; 3 messages, 346 bytes
            ");
        }
    }
}

/// Over HTTP without a session, a client cancels a request by closing its connection. A question comes in the stream of a
/// call, and its answer on another connection.
#[test]
fn operations_over_http_use_several_connections() {
    let meta = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}"#;
    let post = |body: &str| {
        let len = body.len();
        format!(
            "POST / HTTP/1.1\r\nmcp-session-id: s\r\ncontent-type: application/json\r\ncontent-length: {len}\r\n\r\n{body}"
        )
    };
    let events = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";
    let call = |more: &str| {
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"a"{more}}}}}"#)
    };
    let question = r#"{"jsonrpc":"2.0","id":7,"method":"elicitation/create","params":{"message":"m","requestedSchema":{}}}"#;
    let rows = [
        (1, "c2s", post(&call(&format!(",{meta}")))),
        (1, "s2c", events.to_owned()),
        (2, "c2s", post(&call(""))),
        (2, "s2c", format!("{events}data: {question}\n\n")),
        (
            3,
            "c2s",
            post(r#"{"jsonrpc":"2.0","id":7,"result":{"action":"decline"}}"#),
        ),
        (
            2,
            "s2c",
            "data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"content\":[]}}\n\n".to_owned(),
        ),
    ];
    let mut recording =
        r#"{"wiretool":1,"protocol":"mcp","started":"2026-01-01T00:00:00Z"}"#.to_owned();
    for (t, (conn, dir, text)) in (1..).zip(rows) {
        let line = serde_json::json!({"t": t * 1_000_000, "conn": conn, "dir": dir, "text": text});
        write!(recording, "\n{line}").unwrap();
    }
    for event in [r#""event":"eof","dir":"c2s""#, r#""event":"close""#] {
        write!(recording, "\n{{\"t\":9000000,\"conn\":1,{event}}}").unwrap();
    }
    write!(recording, "\n{{\"t\":20000000,\"event\":\"end\"}}\n").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("calls.jsonl");
    std::fs::write(&path, recording).unwrap();
    let path = path.to_str().unwrap();
    insta::assert_snapshot!(stdout(&["decode", "--ops", path]), @r#"
    #2 c2 00:00:00.003 tools/call a                     answered       3 ms server 2 ms, person 1 ms; 1 elicitation/create; 4 messages, 466 bytes
    #0 c1 00:00:00.001 tools/call a                     cancelled      8 ms server; 1 message, 224 bytes
    "#);
    let lines = stdout(&["decode", path]);
    let answer = lines.lines().find(|line| line.contains("decline")).unwrap();
    assert!(answer.contains("c3"), "{answer}");
    assert!(answer.contains("elicitation/create"), "{answer}");
}

#[test]
fn messages_whose_protocol_is_found_late_have_their_own_times() {
    let header = r#"{"wiretool":1,"started":"2026-05-05T10:00:00.000000000Z"}"#;
    let chunk = |t: u64, dir: &str, text: &str| {
        let value = serde_json::json!({"t": t, "conn": 1, "dir": dir, "text": format!("{text}\n")});
        value.to_string()
    };
    let lines = [
        header.to_owned(),
        chunk(0, "c2s", r#"{"jsonrpc":"2.0","id":0,"method":"m"}"#),
        chunk(
            100_000_000,
            "s2c",
            r#"{"jsonrpc":"2.0","id":0,"result":[]}"#,
        ),
        r#"{"t":3000000000,"conn":1,"event":"close"}"#.to_owned(),
    ];
    let mut command = common::wiretool();
    let (code, out, err) = common::run(command.args(["decode", "--ops"]), lines.join("\n"));
    assert_eq!(code, 0, "{err}");
    assert!(out.contains("answered     100 ms server"), "{out}");
}

/// A callback is of the execute whose run it names; a trace can have several runs.
#[test]
fn callbacks_of_another_run_are_not_of_an_execute() {
    for (run_id, wanted) in [("r1", "1"), ("r2", "null")] {
        let params = |run_id: &str| {
            format!(
                r#""observability":{{"trace_id":"{}","span_id":"bbbbbbbbbbbbbbbb","run_id":"{run_id}"}}"#,
                "a".repeat(32)
            )
        };
        let execute = format!(
            r#"{{"jsonrpc":"2.0","id":"e","method":"components/execute","params":{{"component":"/up","input":{{}},"attempt":1,{}}}}}"#,
            params("r1")
        );
        let callback = format!(
            r#"{{"jsonrpc":"2.0","id":"c","method":"blobs/put","params":{{"data":{{}},"blob_type":"data",{}}}}}"#,
            params(run_id)
        );
        let note = r#"{"jsonrpc":"2.0","method":"initialized","params":{}}"#;
        let mut text = String::from(
            "{\"wiretool\":1,\"started\":\"2026-01-01T00:00:00Z\",\"protocol\":\"stepflow\"}\n",
        );
        for (dir, line) in [("c2s", note), ("c2s", &execute), ("s2c", &callback)] {
            let line = serde_json::to_string(&format!("{line}\n")).unwrap();
            text += &format!("{{\"t\":1,\"conn\":1,\"dir\":\"{dir}\",\"text\":{line}}}\n");
        }
        let folder = tempfile::tempdir().unwrap();
        let path = crate::common::file(folder.path(), "run.jsonl", text);
        let (_, out, err) =
            common::outcome_at_width(&["decode", "-f", "json", "--pair", &path], None);
        let last: serde_json::Value =
            serde_json::from_str(out.lines().last().unwrap_or("{}")).unwrap();
        assert_eq!(last["parent"].to_string(), wanted, "{out}{err}");
    }
}

/// After a cancellation of mcp, no answer follows: the operation ends with it, and late progress does not reopen it. The
/// call is no candidate for what surrounds a later question.
#[test]
fn a_cancelled_call_ends_at_once() {
    let rows = [
        (
            0,
            "c2s",
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"slow","_meta":{"progressToken":"p"}}}"#,
        ),
        (
            4,
            "c2s",
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#,
        ),
        (
            5,
            "s2c",
            r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"p","progress":1}}"#,
        ),
        (
            10,
            "c2s",
            r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"asks"}}"#,
        ),
        (
            11,
            "s2c",
            r#"{"jsonrpc":"2.0","id":7,"method":"elicitation/create","params":{"message":"m","requestedSchema":{}}}"#,
        ),
        (
            14,
            "c2s",
            r#"{"jsonrpc":"2.0","id":7,"result":{"action":"decline"}}"#,
        ),
        (
            15,
            "s2c",
            r#"{"jsonrpc":"2.0","id":2,"result":{"content":[]}}"#,
        ),
    ];
    let mut recording =
        r#"{"wiretool":1,"protocol":"mcp","started":"2026-01-01T00:00:00Z"}"#.to_owned();
    for (t, dir, text) in rows {
        let line = serde_json::json!({"t": t * 1_000_000, "dir": dir, "text": format!("{text}\n")});
        write!(recording, "\n{line}").unwrap();
    }
    recording += "\n{\"t\":20000000,\"event\":\"end\"}\n";
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cancelled.jsonl");
    std::fs::write(&path, recording).unwrap();
    insta::assert_snapshot!(stdout(&["decode", "--ops", path.to_str().unwrap()]), @"
    #0 c0 00:00:00.000 tools/call slow                  cancelled      4 ms server; 1 notifications/cancelled; 2 messages, 178 bytes
    #3 c0 00:00:00.010 tools/call asks                  answered       5 ms server 2 ms, person 3 ms; ~1 elicitation/create; 4 messages, 273 bytes
    ");
}
