//! `wiretool stat`: tables, JSON, selection, signals.

use crate::common::{self, Ran};
use serde_json::Value;
use std::io::Write as _;
use std::process::{Command, Stdio};

const MIXED: &str = "fixtures/cli/mixed.jsonl";
const RUN: &str = "fixtures/cli/run-a.jsonl";

fn stat(args: &[&str]) -> Command {
    let mut command = common::wiretool();
    command
        .arg("stat")
        .args(args)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .stdin(Stdio::null());
    command
}

/// Exit code, stdout and stderr.
fn run(args: &[&str]) -> Ran {
    let output = stat(args).output().unwrap();
    common::outcome_of(&output)
}

#[test]
fn costs_under_two_names_count_once_if_they_are_equal() {
    let folder = tempfile::tempdir().unwrap();
    let mut text = "{\"wiretool\":1,\"protocol\":\"sael\"}\n".to_owned();
    for (dir, body) in [
        ("c2s", r#"{"kind":"INV","seq":1,"tool":"t","input":{}}"#),
        (
            "s2c",
            r#"{"kind":"RES","seq":1,"output":1,"cost":{"usd":1.5},"cost_used":{"usd":1.5,"tokens":7}}"#,
        ),
        ("c2s", r#"{"kind":"INV","seq":2,"tool":"t","input":{}}"#),
        (
            "s2c",
            r#"{"kind":"RES","seq":2,"output":1,"cost_used":{"usd":4},"cost":{"usd":0.5}}"#,
        ),
    ] {
        let line = serde_json::json!({"conn": 1, "dir": dir, "text": format!("{body}\n")});
        text += &format!("{line}\n");
    }
    let file = common::file(folder.path(), "a.jsonl", text);
    let (code, out, err) = run(&["--cost", "-f", "json", &file]);
    assert_eq!(code, 0, "{err}");
    let json: Value = serde_json::from_str(&out).unwrap();
    insta::assert_snapshot!(json["cost"]["stated"], @r#"[{"answers":1,"member":"tokens (cost_used)","sum":7.0,"what":"t"},{"answers":2,"member":"usd","sum":2.0,"what":"t"},{"answers":1,"member":"usd (cost_used)","sum":4.0,"what":"t"}]"#);
}

#[test]
fn statistics_print_as_tables() {
    let (code, out, err) = run(&[MIXED]);
    assert_eq!((code, err.as_str()), (0, ""));
    let out = out.lines().map(str::trim_end).collect::<Vec<_>>();
    insta::assert_snapshot!(out.join("\n"), @"
    fixtures/cli/mixed.jsonl: sael, 7 messages, 328 bytes in 6 ms, 1 unanswered
    over time  ███████  1 message in 1 ms at most

    kinds                            messages        bytes
      → INV                                 3          169
      ← END                                 1           28
      ← ERR                                 1           57
      ← STR                                 2           74

    latency                           count       p50       p90       p99       max
      INV feed.open                       1         -         -         -      1 ms  █
      INV math.add                        1         -         -         -      1 ms  █

    slowest
           1 ms  INV feed.open  #1 ↩ #0
           1 ms  INV math.add  #5 ↩ #4

    streams                           streams     items        bytes      rate
      INV feed.open                         1         2           74  1000.0/s

    errors
             1  INTERNAL

    messages that end in one read     reads
                                1         7
    ");
    assert!(out.iter().all(|line| line.chars().count() <= 95));
}

#[test]
fn statistics_print_as_json() {
    let (code, out, err) = run(&["-f", "json", MIXED, RUN]);
    assert_eq!((code, err.as_str()), (0, ""));
    let all: Vec<Value> = out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let [mixed, other] = &all[..] else {
        panic!("{out}");
    };
    assert_eq!(other["file"], RUN);
    assert_eq!(other["latencies"][0]["count"], 2);
    for (key, want) in [
        ("/v", Value::from(1)),
        ("/file", MIXED.into()),
        ("/protocol", "sael".into()),
        ("/messages", 7.into()),
        ("/bytes", 328.into()),
        ("/unanswered", 1.into()),
        ("/faulty", 0.into()),
        ("/kinds/0/dir", "c2s".into()),
        ("/kinds/0/kind", "INV".into()),
        ("/latencies/0/what", "INV feed.open".into()),
        ("/latencies/0/max_ms", 1.into()),
        ("/slowest/0/reply_to", 0.into()),
        ("/errors/INTERNAL", 1.into()),
        ("/streams/0/items", 2.into()),
        ("/reads/0/messages", 1.into()),
        ("/reads/0/reads", 7.into()),
    ] {
        assert_eq!(mixed.pointer(key), Some(&want), "{key}: {mixed}");
    }
    // Unknown values are omitted: raw bytes have neither directions nor times.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("raw.bin");
    std::fs::write(
        &path,
        "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"ready\"}\n",
    )
    .unwrap();
    let (_, out, _) = run(&["-f", "json", path.to_str().unwrap()]);
    assert!(!out.contains("null") && !out.contains("\"dir\""), "{out}");
}

#[test]
fn slowest_latency_is_exact() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("slow.jsonl");
    let recording = std::fs::read_to_string(RUN).unwrap();
    // The last answer arrives later, by a time of more than two digits.
    let recording = recording.replace("\"t\":6000000,", "\"t\":904123456,");
    std::fs::write(&path, recording).unwrap();
    let (_, out, _) = run(&["-f", "json", path.to_str().unwrap()]);
    let stat: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(stat["latencies"][0]["max_ms"], 901.123_456);
    assert_eq!(stat["slowest"][0]["latency_ms"], 901.123_456);
    assert_eq!(stat["latencies"][0]["p99_ms"], 901.123_456);
}

#[test]
fn selection_limits_counts_and_sets_exit_code() {
    let (code, out, _) = run(&["--where", "kind=INV", MIXED]);
    assert_eq!(code, 0);
    assert!(out.contains("sael, 3 messages, 169 bytes"), "{out}");
    for (args, want) in [
        (&["--where", "kind=HEY", MIXED][..], 1),
        (&["--where", "kid=CALL", MIXED], 2),
        (&["/none"], 2),
        (&["-o", MIXED, MIXED], 2),
        (&["-f", "txt", MIXED], 2),
    ] {
        let (code, _, err) = run(args);
        assert_eq!(code, want, "{args:?}: {err}");
        assert!(!err.is_empty(), "{args:?}");
    }
    let (_, _, err) = run(&["--where", "kind=HEY", MIXED]);
    assert_eq!(
        err,
        "wiretool: none of 7 messages matches; kinds: END, ERR, INV, STR\n"
    );
    let (code, out, err) = run(&[]);
    assert_eq!((code, out.as_str()), (0, ""));
    assert_eq!(err, "wiretool: empty input: there is nothing to count\n");
}

#[test]
fn interrupt_prints_counts() {
    let recording = std::fs::read_to_string(MIXED).unwrap();
    // The input is a pipe that stays open. The command reads, and so handles signals, if it took more than a pipe
    // holds.
    let mut child = stat(&["-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let filler = "{\"t\":6000000,\"conn\":0,\"event\":\"open\"}\n";
    let lines: Vec<&str> = recording.lines().collect();
    let (end, rest) = lines.split_last().unwrap();
    assert!(end.contains("\"end\""));
    stdin
        .write_all((rest.join("\n") + "\n").as_bytes())
        .unwrap();
    stdin
        .write_all(filler.repeat((1 << 20) / filler.len()).as_bytes())
        .unwrap();
    let pid = child.id().to_string();
    let sent = Command::new("kill").args(["-s", "INT", &pid]).status();
    assert!(sent.unwrap().success());
    let output = child.wait_with_output().unwrap();
    drop(stdin);
    assert_eq!(output.status.code(), Some(130));
    let out = String::from_utf8_lossy(&output.stdout);
    assert!(out.contains("sael, 7 messages"), "{out}");
}

#[test]
fn tables_have_no_secrets() {
    const SECRET: &str = "S3CR3T-0123456789abcdefXYZq";
    let folder = tempfile::tempdir().unwrap();
    let link = format!("https://h/a?api_key={SECRET}");
    let call = serde_json::json!({
        "jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": {"uri": link},
    });
    let call = call.to_string();
    let answer = r#"{"jsonrpc":"2.0","id":1,"result":{"contents":[]}}"#;
    let texts = [
        ("c2s", "POST /mcp HTTP/1.1", call.as_str()),
        ("s2c", "HTTP/1.1 200 OK", answer),
        ("c2s", &format!("GET /x?api_key={SECRET} HTTP/1.1"), ""),
        ("s2c", "HTTP/1.1 404 Not Found", ""),
    ];
    let mut t = 0;
    let chunks = texts.map(|(dir, start, body)| {
        t += 1000;
        let fields = format!(
            "Content-Type: application/json\r\nContent-Length: {}",
            body.len()
        );
        let text = format!("{start}\r\n{fields}\r\n\r\n{body}");
        serde_json::json!({"t": t, "conn": 1, "dir": dir, "text": text}).to_string()
    });
    let header =
        r#"{"wiretool":1,"started":"2026-05-05T10:00:00Z","protocol":"mcp","transport":"http"}"#;
    let text = format!("{header}\n{}\n", chunks.join("\n"));
    let file = common::file(folder.path(), "a.jsonl", text);
    for (flags, shown) in [
        (&[][..], "resources/read https://h/a?api_key=(secret)"),
        (&["--ops"], "resources/read https://h/a?ap"),
        (&["--cost"], "GET /x?api_key=(secret)"),
    ] {
        let (code, out, err) = run(&[flags, &[&file]].concat());
        assert_eq!(code, 0, "{flags:?}: {err}");
        assert!(out.contains(shown), "{flags:?}: {out}");
        assert!(!out.contains("S3CR"), "{flags:?}: {out}");
        // JSON is data: exact.
        let (_, out, _) = run(&[flags, &["-f", "json", &file]].concat());
        assert!(out.contains(SECRET), "{flags:?}: {out}");
    }
}

#[test]
fn costs_by_subject_add_up() {
    let folder = tempfile::tempdir().unwrap();
    let texts = ["{\"jsonrpc\":\"2.0\",\"id\":1,\"meth\n", "garbage\n", "\n"];
    let chunks = texts
        .map(|text| serde_json::json!({"conn": 1, "dir": "c2s", "text": text}).to_string())
        .join("\n");
    let text = format!("{{\"wiretool\":1,\"protocol\":\"mcp\"}}\n{chunks}\n");
    let file = common::file(folder.path(), "a.jsonl", text);
    let (_, out, _) = run(&["--cost", &file]);
    insta::assert_snapshot!(out.replace(&file, "a.jsonl"), @"
    a.jsonl: mcp, 3 messages, 36 bytes, 2 with faults

    bytes by subject                       messages    requests      answers        bytes
      -                                           2          36            0           36
      blank-line                                  1           0            0            0
    ");
    let (_, out, _) = run(&["--cost", "-f", "json", &file]);
    let stat: Value = serde_json::from_str(&out).unwrap();
    let rows = stat["cost"]["subjects"].as_array().unwrap().iter();
    let sum = |key: &str| {
        rows.clone()
            .map(|row| row[key].as_u64().unwrap())
            .sum::<u64>()
    };
    assert_eq!(Value::from(sum("messages")), stat["messages"]);
    assert_eq!(
        Value::from(sum("request_bytes") + sum("answer_bytes")),
        stat["bytes"]
    );
}

/// Returns the length of each message, compressed as flate2 does it.
fn compressed(bodies: &[&str], takeover: bool) -> usize {
    let mut context = flate2::Compress::new(flate2::Compression::default(), false);
    let lengths = bodies.iter().map(|body| {
        if !takeover {
            context.reset();
        }
        let mut out = Vec::with_capacity(2 * body.len() + 64);
        let flush = flate2::FlushCompress::Sync;
        context
            .compress_vec(body.as_bytes(), &mut out, flush)
            .unwrap();
        out.strip_suffix(&[0, 0, 0xff, 0xff]).unwrap().len()
    });
    lengths.sum()
}

#[test]
fn costs_are_measured_by_encoding() {
    let states: Vec<String> = (0..40)
        .map(|n| {
            let metrics: Vec<String> = (0..30)
                .map(|m| format!("\"metric_{m}\":{}", if m == n % 30 { n } else { 7 * m }))
                .collect();
            format!(
                "{{\"kind\":\"STR\",\"seq\":2,\"data\":{{{}}}}}",
                metrics.join(",")
            )
        })
        .collect();
    let requests = [
        r#"{"kind":"HEY","seq":1,"agent":{"id":"planner"}}"#,
        r#"{"kind":"LST","seq":7}"#,
        r#"{"kind":"INV","seq":2,"tool":"dashboard","input":{}}"#,
        r#"{"kind":"INV","seq":3,"tool":"find","input":{"x":-1.5,"n":70000,"t":"é","m":"exact-mode"}}"#,
        r#"{"kind":"INV","seq":4,"tool":"sum","input":{"list":[{"name":"one"},{"name":"two"}]}}"#,
        r#"{"kind":"INV","seq":5,"tool":"sum","input":{"list":[],"m":"exact-mode"}}"#,
    ];
    let answers = [
        r#"{"kind":"HEY","seq":1,"session_id":"s","granted_capabilities":[]}"#,
        r#"{"kind":"LST","seq":7,"tools":[{"name":"find","input":{"$schema":"x"}},{"name":"sum"}]}"#,
        r#"{"kind":"END","seq":2,"cost":{"compute_ms":3}}"#,
        r#"{"kind":"RES","seq":3,"output":[{"name":"one"},{"name":"two"}],"cost":{"compute_ms":12,"usd":0.5}}"#,
        r#"{"kind":"RES","seq":4,"output":"exact-mode","cost_used":{"usd":0.25}}"#,
        r#"{"kind":"RES","seq":5,"output":0}"#,
    ];
    let mut text = String::new();
    let mut all = [Vec::new(), Vec::new()];
    for (n, (request, answer)) in requests.iter().zip(answers).enumerate() {
        all[0].push(*request);
        let items = states.iter().filter(|_| n == 2).map(String::as_str);
        all[1].extend(items.clone().chain([answer]));
        for (dir, body) in std::iter::once(("c2s", *request))
            .chain(items.map(|item| ("s2c", item)))
            .chain([("s2c", answer)])
        {
            let line = serde_json::json!({"conn": 1, "dir": dir, "text": format!("{body}\n")});
            text += &format!("{line}\n");
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let header = "{\"wiretool\":1,\"protocol\":\"sael\"}\n";
    let file = common::file(folder.path(), "a.jsonl", header.to_owned() + &text);
    let (code, out, err) = run(&["--cost", "-f", "json", &file]);
    assert_eq!(code, 0, "{err}");
    let json: Value = serde_json::from_str(&out).unwrap();
    let cost = &json["cost"];
    let bodies: Vec<&str> = all.concat();
    let packed = bodies.iter().map(|body| {
        let value: Value = serde_json::from_str(body).unwrap();
        let value = rmpv::ext::to_value(value).unwrap();
        let mut out = Vec::new();
        rmpv::encode::write_value(&mut out, &value).unwrap();
        out.len()
    });
    let forms = &cost["forms"];
    let bytes: usize = bodies.iter().map(|body| body.len()).sum();
    for form in ["msgpack", "deflate", "deflate_no_context_takeover"] {
        assert_eq!(forms[form]["messages"], bodies.len(), "{form}");
        assert_eq!(forms[form]["bytes"], bytes, "{form}");
    }
    assert_eq!(forms["msgpack"]["other_bytes"], packed.sum::<usize>());
    let wanted =
        [true, false].map(|kept| all.iter().map(|one| compressed(one, kept)).sum::<usize>());
    assert_eq!(forms["deflate"]["other_bytes"], wanted[0]);
    assert_eq!(
        forms["deflate_no_context_takeover"]["other_bytes"],
        wanted[1]
    );
    // Each state differs in two members from the one before.
    let items: usize = states[1..].iter().map(String::len).sum();
    let patches = (1..40).map(|n| {
        let member = |m: usize, value: usize| format!("\"metric_{m}\":{value}");
        let mut both = [(n % 30, n), ((n - 1) % 30, 7 * ((n - 1) % 30))];
        both.sort_unstable();
        let both = both.iter().filter(|(m, value)| {
            let before = if *m == (n - 1) % 30 { n - 1 } else { 7 * m };
            before != *value
        });
        let both: Vec<String> = both.map(|(m, value)| member(*m, *value)).collect();
        let frame = states[n].len() - states[n].split_once("data\":").unwrap().1.len() + 1;
        frame + both.join(",").len() + 2
    });
    assert_eq!(
        forms["delta"],
        serde_json::json!({"messages": 39, "bytes": items, "other_bytes": patches.sum::<usize>()})
    );
    assert_eq!(
        (&cost["calls"], &cost["calls_with_previous_output"]),
        (&4.into(), &1.into())
    );
    insta::assert_snapshot!(cost["stated"], @r#"[{"answers":1,"member":"compute_ms","sum":3.0,"what":"planner: dashboard"},{"answers":1,"member":"compute_ms","sum":12.0,"what":"planner: find"},{"answers":1,"member":"usd","sum":0.5,"what":"planner: find"},{"answers":1,"member":"usd","sum":0.25,"what":"planner: sum"}]"#);
    insta::assert_snapshot!(cost["definitions"], @r#"[{"bytes":39,"name":"find","tokens_estimate":10},{"bytes":14,"name":"sum","tokens_estimate":4}]"#);
    for (width, shown) in [(80, "narrow"), (120, "wide")] {
        let out = common::run(
            stat(&["--cost", &file]).env("COLUMNS", width.to_string()),
            "",
        )
        .1;
        for line in out.lines() {
            assert!(line.chars().count() <= width, "{shown}: {line}");
        }
    }
    let (_, out, _) = run(&["--cost", &file]);
    let out = out.replace(&file, "a.jsonl");
    insta::assert_snapshot!(out, @"
    a.jsonl: sael, 52 messages, 20105 bytes

    bytes by subject                       messages    requests      answers        bytes
      dashboard                                  42          52        19385        19437
      sum                                         4         156          102          258
      find                                        2          91           98          189
      HEY                                         2          47           65          112
      LST                                         2          22           87          109

    definitions                               bytes  about tokens
      find                                       39            10
      sum                                        14             4
      all lists: 1, 56 bytes, about 14 tokens (an estimate: 4 bytes each)

    stated costs                            answers          sum
      planner: dashboard                          1            3  compute_ms
      planner: find                               1           12  compute_ms
      planner: find                               1          0.5  usd
      planner: sum                                1         0.25  usd

    other forms                            messages        bytes      instead   saves
      MessagePack for JSON                       52        20105        14706  26.9 %
      permessage-deflate                         52        20105         1224  93.9 %
        without context takeover                 52        20105         7986  60.3 %
      merge patches of states                    39        18855         2302  87.8 %

    round trips: 4, at least 3 with pipelines
      calls that take an output of the call before: at most 1
    ");
}

#[test]
fn errors_in_batches_and_cancelled_calls_are_counted() {
    let batch = r#"[{"jsonrpc":"2.0","id":3,"method":"a"},{"jsonrpc":"2.0","id":4,"method":"b"}]"#;
    let error = r#"{"jsonrpc":"2.0","id":4,"error":{"code":-1,"message":"x"}}"#;
    let failed = r#"{"jsonrpc":"2.0","id":4,"result":{"content":[],"isError":true}}"#;
    let result = r#"{"jsonrpc":"2.0","id":3,"result":1}"#;
    for (protocol, answers, errors) in [
        ("jsonrpc", format!("[{result},{error}]"), 1),
        ("jsonrpc", format!("[{error},{result}]"), 1),
        ("jsonrpc", format!("[{error}]"), 1),
        ("jsonrpc", format!("[{result}]"), 0),
        ("mcp", format!("[{result},{failed}]"), 1),
    ] {
        let header = format!("{{\"wiretool\":1,\"protocol\":\"{protocol}\"}}\n");
        let lines = [("c2s", batch), ("s2c", &answers)].map(|(dir, text)| {
            let line = serde_json::json!({"conn": 1, "dir": dir, "text": format!("{text}\n")});
            format!("{line}\n")
        });
        let folder = tempfile::tempdir().unwrap();
        let file = common::file(folder.path(), "a.jsonl", header + &lines.concat());
        let json = |flags: &[&str]| -> Value {
            let (_, out, err) = run(&[&["-f", "json"], flags, &[&file]].concat());
            serde_json::from_str(&out).unwrap_or_else(|_| panic!("{answers}: {err}"))
        };
        let counts = json(&[])["errors"]
            .as_object()
            .unwrap()
            .values()
            .cloned()
            .collect::<Vec<_>>();
        assert_eq!(counts, vec![Value::from(1); errors], "{answers}");
        let selected = run(&["--where", "role=error or outcome=error", &file]).0;
        assert_eq!(selected, 1 - i32::try_from(errors).unwrap(), "{answers}");
        let out = common::run(common::wiretool().args(["lint", &file]), "").1;
        assert!(!out.contains("call-failed"), "{out}");
        if answers.contains(result) {
            assert_eq!(
                json(&["--ops"])["operations"][0]["failed"],
                errors,
                "{answers}"
            );
        }
    }
    let (_, out, _) = run(&["--ops", "-f", "json", "fixtures/dap/session.jsonl"]);
    let stat: Value = serde_json::from_str(&out).unwrap();
    let mut operations = stat["operations"].as_array().unwrap().iter();
    let variables = operations.find(|one| one["what"] == "variables").unwrap();
    assert_eq!(
        (&variables["cancelled"], &variables["failed"]),
        (&1.into(), &0.into())
    );
}

#[test]
fn pipelines_and_states_are_counted_where_they_are_possible() {
    const CALL: &str =
        r#"{"id":1,"method":"tools/call","params":{"name":"book_flight","arguments":{"n":1}}}"#;
    const NEXT: &str = r#"{"id":2,"method":"tools/call","params":{"name":"pay","arguments":{"order":"order-12345"}}}"#;
    const ORDER: &str = r#"{"id":1,"result":{"order":"order-12345","state":"open"}}"#;
    const PAID: &str = r#"{"id":2,"result":{"order":"order-12345","state":"paid"}}"#;
    const ASK: &str = r#"{"id":7,"method":"elicitation/create","params":{"message":"?"}}"#;
    const YES: &str = r#"{"id":7,"result":{"action":"accept","content":{"really":"certainly"}}}"#;
    const TASK: &str =
        r#"{"id":1,"result":{"task":{"taskId":"task-12345678","status":"working"}}}"#;
    let get = |id: u32| {
        format!(r#"{{"id":{id},"method":"tasks/get","params":{{"taskId":"task-12345678"}}}}"#)
    };
    let status = |id: u32, status: &str| {
        format!(r#"{{"id":{id},"result":{{"taskId":"task-12345678","status":"{status}"}}}}"#)
    };
    let (get_first, get_second) = (get(2), get(3));
    let (working, done) = (status(2, "working"), status(3, "completed"));
    for (case, messages, chained, states) in [
        (
            "an output as argument",
            &[CALL, ORDER, NEXT, PAID][..],
            1,
            0,
        ),
        (
            "a person is asked before",
            &[CALL, ORDER, ASK, YES, NEXT, PAID],
            0,
            0,
        ),
        (
            "the call before failed",
            &[
                CALL,
                r#"{"id":1,"error":{"code":-1,"message":"no","data":{"order":"order-12345"}}}"#,
                NEXT,
                PAID,
            ],
            0,
            0,
        ),
        (
            "the name of a tool",
            &[
                r#"{"id":1,"method":"tools/list"}"#,
                r#"{"id":1,"result":{"tools":[{"name":"book_flight"}]}}"#,
                r#"{"id":2,"method":"tools/call","params":{"name":"book_flight","arguments":{}}}"#,
                PAID,
            ],
            0,
            0,
        ),
        (
            "a task",
            &[
                r#"{"id":1,"method":"tools/call","params":{"name":"pay","arguments":{},"task":{"ttl":1}}}"#,
                TASK,
                &get_first,
                &working,
                &get_second,
                &done,
            ],
            0,
            1,
        ),
        (
            "the requested input",
            &[
                CALL,
                r#"{"id":1,"result":{"resultType":"input_required","requestState":"state-12345678","inputRequests":{}}}"#,
                r#"{"id":2,"method":"tools/call","params":{"name":"book_flight","arguments":{"n":1},"requestState":"state-12345678","inputResponses":{}}}"#,
                PAID,
            ],
            0,
            0,
        ),
        (
            "two questions",
            &[
                ASK,
                YES,
                r#"{"id":8,"method":"elicitation/create","params":{"message":"?"}}"#,
                r#"{"id":8,"result":{"action":"accept","content":{"really":"perhaps"}}}"#,
            ],
            0,
            0,
        ),
        (
            "other members",
            &[
                r#"{"id":1,"method":"tools/list"}"#,
                r#"{"id":1,"result":{"tools":[],"nextCursor":"a"}}"#,
                r#"{"id":2,"method":"tools/list"}"#,
                r#"{"id":2,"result":{"tools":[]}}"#,
                r#"{"id":3,"method":"tools/list"}"#,
                r#"{"id":3,"result":{"tools":[1]}}"#,
            ],
            0,
            1,
        ),
    ] {
        let lines = messages.iter().map(|text| {
            let of_server = text.contains("elicitation/create");
            let is_request = text.contains("\"method\"");
            let of_server = of_server || !is_request && !text.contains("accept");
            let dir = if of_server { "s2c" } else { "c2s" };
            let text = text.replacen('{', "{\"jsonrpc\":\"2.0\",", 1) + "\n";
            serde_json::json!({"conn": 1, "dir": dir, "text": text}).to_string() + "\n"
        });
        let header = "{\"wiretool\":1,\"protocol\":\"mcp\"}\n";
        let folder = tempfile::tempdir().unwrap();
        let text = header.to_owned() + &lines.collect::<String>();
        let file = common::file(folder.path(), "a.jsonl", text);
        let (code, out, err) = run(&["--cost", "-f", "json", &file]);
        assert_eq!(code, 0, "{case}: {err}");
        let stat: Value = serde_json::from_str(&out).unwrap();
        let cost = &stat["cost"];
        assert_eq!(
            cost["calls_with_previous_output"], chained,
            "{case}: {cost}"
        );
        assert_eq!(cost["forms"]["delta"]["messages"], states, "{case}: {cost}");
    }
}
