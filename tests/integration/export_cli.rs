//! `wiretool export`: forms of other programs, selection, masking, hostile texts.

use crate::common::{self, Ran};
use serde_json::json;
use std::fmt::Write as _;
use std::io::Write as _;
use std::process::{Command, Stdio};

fn export(args: &[&str]) -> Command {
    let mut command = common::wiretool();
    command
        .arg("export")
        .args(args)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .stdin(Stdio::null());
    command
}

/// Exit code, stdout and stderr.
fn run(args: &[&str]) -> Ran {
    common::outcome_of(&export(args).output().unwrap())
}

/// Runs with a text for stdin.
fn run_with(args: &[&str], input: &str) -> Ran {
    let mut command = export(args);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_owned();
    let writer = std::thread::spawn(move || stdin.write_all(input.as_bytes()));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    common::outcome_of(&output)
}

/// The first line of a recording, whose first key is that of the format.
const HEADER: &str = r#"{"wiretool":1,"protocol":"mcp","started":"2026-07-01T10:00:00Z","transport":"stdio","host":"box","pid":7}"#;

/// A recording of lines on one connection, a message each millisecond.
fn recording(lines: &[(&str, serde_json::Value)]) -> String {
    let mut text = format!("{HEADER}\n");
    for (n, (dir, message)) in lines.iter().enumerate() {
        let chunk =
            json!({"t": n * 1_000_000, "conn": 1, "dir": dir, "text": format!("{message}\n")});
        writeln!(text, "{chunk}").unwrap();
    }
    writeln!(
        text,
        "{}",
        json!({"t": lines.len() * 1_000_000, "event": "end"})
    )
    .unwrap();
    text
}

/// The request with this id, and its answer.
fn call(id: u64, name: &str) -> [(&'static str, serde_json::Value); 2] {
    let request =
        json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": name}});
    let answer = json!({"jsonrpc": "2.0", "id": id, "result": {"content": []}});
    [("c2s", request), ("s2c", answer)]
}

/// The messages that open a session.
fn opening() -> Vec<(&'static str, serde_json::Value)> {
    let hello = json!({"jsonrpc": "2.0", "id": "hello", "method": "initialize", "params":
        {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}});
    let answer = json!({"jsonrpc": "2.0", "id": "hello", "result":
        {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}, "logging": {}}, "serverInfo": {"name": "s", "version": "1"}}});
    let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    vec![("c2s", hello), ("s2c", answer), ("c2s", ready)]
}

#[test]
fn diagrams_show_requests_answers_and_who_must_send() {
    let (code, out, err) = run(&["-f", "mermaid", "fixtures/cli/mixed.jsonl"]);
    assert_eq!((code, err.as_str()), (0, ""));
    insta::assert_snapshot!(out, @r#"
    sequenceDiagram
        participant p0 as client
        participant p1 as server
        p0->>+p1: #35;0 INV feed.open (id 1)
        p1-->>p0: #35;1 STR feed.open (id 1, 1 ms, 1)
        p1-->>p0: #35;2 STR feed.open (id 1, 2 ms, 2)
        p1-->>-p0: #35;3 #69;ND feed.open (id 1, 3 ms)
        p0->>+p1: #35;4 INV math.add (id 2)
        p1-->>-p0: #35;5 ERR math.add (id 2, 1 ms, INTERNAL)
        p0->>+p1: #35;6 INV math.add (id 3)
        Note over p1: open: #35;6 INV math.add#59; the server must send it
        deactivate p1
    "#);
    let (code, out, err) = run(&["-f", "mermaid", "--ops", "fixtures/cli/operations.jsonl"]);
    assert_eq!((code, err.as_str()), (0, ""));
    insta::assert_snapshot!(out, @r#"
    sequenceDiagram
        participant p0 as client
        participant p1 as server
        p0->>+p1: #35;0 initialize
        p1-->>-p0: #35;1 answered initialize (2 ms)
        p0->>+p1: #35;3 tools/call book
        p1->>+p0: #35;5 elicitation/create
        p0-->>-p1: #35;6 answered elicitation/create (6 s)
        Note over p0: in #35;3#59; person
        p1-->>-p0: #35;7 failed tools/call book (6 s)
        Note over p1: server 40 ms, person 6 s#59; 1 notifications/progress, ~1 elicitation/create
        p0->>+p1: #35;8 tools/call wait (open for 940 ms)
        Note over p1: open: #35;8 request tools/call wait#59; the server must send it (the connection is closed)
        deactivate p1
    "#);
}

#[test]
fn processes_are_participants() {
    let files =
        ["planner", "search", "index"].map(|name| format!("fixtures/cli/merge/{name}.jsonl"));
    let mut args = vec![
        "-f",
        "mermaid",
        "--merge",
        "--allow",
        "mcp/before-initialize",
    ];
    args.extend(files.iter().map(String::as_str));
    let (code, out, _) = run(&args);
    assert_eq!(code, 0);
    insta::assert_snapshot!(out, @r#"
    sequenceDiagram
        participant p0 as client planner
        participant p1 as server planner
        participant p2 as server search
        participant p3 as server index
        p0->>+p1: #35;0 request tools/call plan (id 1, {goal: "tea"}, _meta: {traceparent: "00-0a…001-01"})
        p1->>+p2: #35;1 request tools/call find (id 1, {what: "kettle"}, _meta: {traceparent: "00-0a…002-01"})
        p2->>+p3: #35;2 request tools/call look (id 1, {key: "kettle"})
        p3-->>-p2: #35;3 response tools/call look (id 1, 800 ms, "7")
        p2-->>-p1: #35;4 response tools/call find (id 1, 820 ms, "shelf")
        p1-->>-p0: #35;5 response tools/call plan (id 1, 890 ms, "done")
        p0->>+p1: #35;6 request ping (id 2)
        p1-->>-p0: #35;7 response ping (id 2, 1 ms, {})
    "#);
}

#[test]
fn repeated_messages_are_a_loop_and_many_are_counted() {
    let mut lines = opening();
    for n in 0..500 {
        lines.extend(call(n, "same"));
    }
    for n in 500..1000 {
        lines.extend(call(n, &format!("other {n}")));
    }
    let input = recording(&lines);
    let (code, out, err) = run_with(&["-f", "mermaid"], &input);
    assert_eq!((code, err.as_str()), (0, ""));
    let arrows = out.lines().filter(|line| line.contains(">>")).count();
    assert_eq!(arrows, 60, "{out}");
    assert!(
        out.contains("    loop 500 times, #35;3 to #35;1002, ids or times differ\n"),
        "{out}"
    );
    assert!(out.contains("Note over p0,p1: 945 more messages"), "{out}");
    let marks = |sign: &str| out.matches(sign).count();
    assert_eq!(marks(">>+"), 30, "{out}");
    assert_eq!(marks(">>+"), marks(">>-") + marks("deactivate"), "{out}");
}

#[test]
fn a_loop_says_what_differs() {
    let note = |text: &str| {
        (
            "s2c",
            json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": text}}),
        )
    };
    let loop_of = |lines: &[(&'static str, serde_json::Value)]| {
        let input = recording(&[&opening(), lines].concat());
        let (code, out, _) = run_with(&["-f", "mermaid"], &input);
        assert_eq!(code, 0);
        let mut lines = out.lines().map(str::trim);
        let heading = lines.find(|line| line.starts_with("loop "))?;
        let step = lines.next().unwrap_or_default();
        Some((heading.to_owned(), step.to_owned()))
    };
    // Two are no loop, equal or not.
    for second in ["a", "b"] {
        assert_eq!(loop_of(&[note("a"), note(second)]), None);
    }
    let (heading, step) = loop_of(&[note("a"), note("a"), note("a")]).expect("a loop");
    assert_eq!(heading, "loop 3 times, #35;3 to #35;5");
    assert!(step.ends_with("({data: \"a\", level: \"info\"})"), "{step}");
    for last in ["b", "c"] {
        let (heading, step) =
            loop_of(&[note("a"), note("a"), note("b"), note(last)]).expect("a loop");
        assert_eq!(heading, "loop 4 times, #35;3 to #35;6, contents differ");
        assert!(!step.contains("data"), "{step}");
    }
    let calls: Vec<_> = (0..3).flat_map(|id| call(id, "same")).collect();
    let (heading, step) = loop_of(&calls).expect("a loop");
    assert_eq!(heading, "loop 3 times, #35;3 to #35;8, ids or times differ");
    assert!(
        step.contains("tools/call same") && !step.contains("id "),
        "{step}"
    );
}

#[test]
fn a_request_whose_answer_is_left_out_ends_there() {
    let mut lines = Vec::from(call(0, "first"));
    let late = lines.pop().unwrap();
    for n in 1..50 {
        lines.extend(call(n, &format!("other {n}")));
    }
    lines.insert(50, late);
    let (_, out, _) = run_with(&["-f", "mermaid"], &recording(&lines));
    let fold = out.find("more messages").expect("a fold");
    let ends = out.get(fold..).expect("the rest").lines().nth(1);
    assert_eq!(ends, Some("    deactivate p1"), "{out}");
    let marks = |sign: &str| out.matches(sign).count();
    assert_eq!(marks(">>+"), marks(">>-") + marks("deactivate"), "{out}");
}

#[test]
fn hostile_texts_do_not_break_a_diagram() {
    let long = "x".repeat(1 << 20);
    let hostile = [
        "end",
        "a\nend\nparticipant evil",
        "; deactivate p1",
        "#35; # %%{init: {}}%%",
        "<script>alert(1)</script> \"quoted\" `code`",
        "\u{202e}reversed\0nul\u{2028}line",
        "style x:#35;",
        "$$\\frac{1}{2}$$ &lt; ﬂ°°60¶ß",
        &long,
    ];
    let mut lines = Vec::new();
    for (n, name) in hostile.into_iter().enumerate() {
        lines.extend(call(n as u64, name));
    }
    let (code, out, err) = run_with(&["-f", "mermaid"], &recording(&lines));
    assert_eq!((code, err.as_str()), (0, ""));
    assert!(out.len() < 50_000, "mermaid refuses longer texts");
    let known = [
        "sequenceDiagram",
        "participant p0 as ",
        "participant p1 as ",
        "p0->>",
        "p1-->>",
        "Note over p",
        "deactivate p",
    ];
    let entity = regex::Regex::new("#[0-9]+;").unwrap();
    let word = regex::Regex::new(r"(?i)\bend\b|style").unwrap();
    for line in out.lines() {
        let line = line.trim_start();
        assert!(known.iter().any(|start| line.starts_with(start)), "{line}");
        let text = line.split_once(": ").map_or("", |(_, text)| text);
        assert!(
            !text.contains([
                '<', '>', '%', '$', '`', '\\', 'ﬂ', '\0', '\u{202e}', '\u{2028}'
            ]),
            "{line}"
        );
        // Each sign of an entity belongs to one.
        let plain = entity.replace_all(text, "");
        assert!(!plain.contains(['#', ';']), "{line}");
        assert!(!word.is_match(text), "{line}");
    }
    assert!(out.contains("more characters)"), "{out}");
    assert!(out.contains("#92;u{202e}reversed#92;u{0}nul"), "{out}");
}

#[test]
fn secrets_are_masked() {
    let request = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": "get https://me:Zx81-geheim@host/", "arguments": {"password": "Zx81-geheim"}}});
    let input = recording(&[("c2s", request)]);
    let (code, out, _) = run_with(&["-f", "mermaid"], &input);
    assert_eq!(code, 0);
    assert!(!out.contains("geheim") && out.contains("secret"), "{out}");
    let (_, out, _) = run_with(&["-f", "mermaid", "--show-secrets"], &input);
    assert!(out.contains("geheim"), "{out}");
}

#[test]
fn a_form_must_be_named_and_a_message_must_match() {
    let (code, _, err) = run(&["fixtures/cli/mixed.jsonl"]);
    assert_eq!(code, 2);
    assert!(err.contains("--format <FORMAT>"), "{err}");
    let (code, _, err) = run(&["-f", "plantuml", "fixtures/cli/mixed.jsonl"]);
    assert_eq!(code, 2);
    assert!(err.contains("mermaid"), "{err}");
    let (code, _, err) = run(&[
        "-f",
        "mermaid",
        "--where",
        "kind=none",
        "fixtures/cli/mixed.jsonl",
    ]);
    assert_eq!(code, 1);
    assert!(err.contains("none of 7 messages matches"), "{err}");
}

/// The lines of decode with these arguments.
fn decode(args: &[&str]) -> Vec<serde_json::Map<String, serde_json::Value>> {
    let (_, out, _) = common::outcome(&[&["decode", "-f", "json"], args].concat());
    let lines = out.lines().map(|line| serde_json::from_str(line).unwrap());
    lines.collect()
}

const CAPTURES: [&str; 7] = [
    "fixtures/cli/mixed.jsonl",
    "fixtures/cli/operations.jsonl",
    "fixtures/cli/nested.jsonl",
    "fixtures/mcp/session.jsonl",
    "fixtures/oracle/crlf.txt",
    "fixtures/sael/fragmented.hex",
    "fixtures/telequick/call.hex",
];

#[test]
fn flat_rows_have_the_same_keys_with_one_type() {
    let mut keys: Option<Vec<String>> = None;
    let mut kinds = std::collections::BTreeMap::<String, &str>::new();
    for capture in CAPTURES {
        let rows = decode(&["--flat", capture]);
        let plain = decode(&["--lint", capture]);
        assert_eq!(rows.len(), plain.len(), "{capture}");
        for (row, plain) in rows.iter().zip(&plain) {
            let own: Vec<String> = row.keys().cloned().collect();
            assert_eq!(keys.get_or_insert_with(|| own.clone()), &own, "{capture}");
            for (key, value) in row {
                let kind = match value {
                    serde_json::Value::Null => continue,
                    serde_json::Value::Bool(_) => "boolean",
                    serde_json::Value::Number(n) if n.is_f64() => "float",
                    serde_json::Value::Number(_) => "integer",
                    serde_json::Value::String(_) => "text",
                    _ => panic!("{key} is nested: {value}"),
                };
                assert_eq!(*kinds.entry(key.clone()).or_insert(kind), kind, "{key}");
            }
            // Values of any type are JSON text.
            for key in ["id", "message", "raw", "findings"] {
                let text = row[key]
                    .as_str()
                    .map(|text| serde_json::from_str::<serde_json::Value>(text).unwrap());
                assert_eq!(text.as_ref(), plain.get(key), "{key} of {capture}");
            }
            for key in [
                "kind", "role", "subject", "of", "op", "parent", "link", "reply_to", "time",
            ] {
                assert_eq!(
                    row.get(key).filter(|value| !value.is_null()),
                    plain.get(key),
                    "{key} of {capture}"
                );
            }
            assert_eq!(row["src"], capture);
        }
    }
}

#[test]
fn flat_rows_name_peer_session_host_and_process() {
    let hello = json!({"jsonrpc": "2.0", "id": "1", "method": "initialize", "params": {"protocolVersion": "2025-11-25",
        "capabilities": {}, "clientInfo": {"name": "editor", "version": "3"}}});
    let answer = json!({"jsonrpc": "2.0", "id": "1", "result": {"protocolVersion": "2025-11-25", "capabilities": {},
        "serverInfo": {"name": "tools", "version": "1.2"}}});
    let mut text = format!("{HEADER}\n");
    for (n, (dir, message)) in [("c2s", hello), ("s2c", answer)].into_iter().enumerate() {
        let chunk =
            json!({"t": n * 1_500_000, "conn": 1, "dir": dir, "text": format!("{message}\n")});
        writeln!(text, "{chunk}").unwrap();
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.jsonl");
    std::fs::write(&path, text).unwrap();
    let rows = decode(&["--flat", path.to_str().unwrap()]);
    let of = |key: &str| rows.iter().map(|row| row[key].clone()).collect::<Vec<_>>();
    assert_eq!(of("peer"), [json!("editor 3"), json!("tools 1.2")]);
    assert_eq!(of("host"), [json!("box"), json!("box")]);
    assert_eq!(of("pid"), [json!(7), json!(7)]);
    assert_eq!(of("id"), [json!("\"1\""), json!("\"1\"")]);
    assert_eq!(of("latency_ms"), [json!(null), json!(1.5)]);
}

#[test]
fn flat_rows_name_both_peers_on_each_connection_of_a_session() {
    let message = |start: &str, more: &str, body: &serde_json::Value| {
        let body = body.to_string();
        let len = body.len();
        format!(
            "{start}\r\nContent-Type: application/json\r\n{more}Content-Length: {len}\r\n\r\n{body}"
        )
    };
    let [hello, answer, _] = &opening()[..] else {
        panic!("three messages")
    };
    let [request, result] = call(1, "get");
    let (post, ok, id) = (
        "POST /mcp HTTP/1.1",
        "HTTP/1.1 200 OK",
        "Mcp-Session-Id: S1\r\n",
    );
    let mut text = format!("{HEADER}\n");
    for (conn, dir, bytes) in [
        (1, "c2s", message(post, "Host: x\r\n", &hello.1)),
        (1, "s2c", message(ok, id, &answer.1)),
        (
            2,
            "c2s",
            message(post, &format!("Host: x\r\n{id}"), &request.1),
        ),
        (2, "s2c", message(ok, "", &result.1)),
    ] {
        let chunk = json!({"t": 0, "conn": conn, "dir": dir, "text": bytes});
        writeln!(text, "{chunk}").unwrap();
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.jsonl");
    std::fs::write(&path, text).unwrap();
    let rows = decode(&["--flat", path.to_str().unwrap()]);
    let peers: Vec<_> = rows.iter().map(|row| row["peer"].clone()).collect();
    assert_eq!(peers, ["c 1", "s 1", "c 1", "s 1"].map(|peer| json!(peer)));
}

#[test]
fn tables_have_each_column_and_seven_statements() {
    let rows = decode(&["--flat", "fixtures/cli/mixed.jsonl"]);
    for (engine, quote) in [("duckdb", '"'), ("clickhouse", '`')] {
        let (code, out, err) = run(&["-f", "sql", "--engine", engine]);
        assert_eq!((code, err.as_str()), (0, ""));
        let table = out.split(';').next().unwrap();
        for key in rows[0].keys() {
            assert!(
                table.contains(&format!("  {quote}{key}{quote} ")),
                "{engine}: {key}"
            );
        }
        let names: Vec<&str> = out
            .lines()
            .filter_map(|line| line.strip_prefix("-- ")?.split_once(':'))
            .map(|(name, _)| name)
            .collect();
        assert_eq!(
            names[1..],
            [
                "slowest",
                "errors",
                "unanswered",
                "owes",
                "findings",
                "definitions",
                "operation"
            ]
        );
        assert!(!out.contains("{{"), "{out}");
        let definitions = out.split("-- definitions:").nth(1).expect("a statement");
        for part in [
            "GROUP BY peer, host, ",
            "'resources/templates/list'",
            "'resourceTemplates'",
        ] {
            assert!(definitions.contains(part), "{engine}: {part}");
        }
    }
    let (code, _, err) = run(&["-f", "sql", "fixtures/cli/mixed.jsonl"]);
    assert_eq!(code, 2);
    assert!(err.contains("-f sql reads no FILE"), "{err}");
}

/// The spans of an export, without its metrics.
fn spans(out: &str) -> Vec<serde_json::Value> {
    let lines = out
        .lines()
        .filter(|line| line.starts_with("{\"resourceSpans\""))
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    lines
        .flat_map(|line| {
            line["resourceSpans"][0]["scopeSpans"][0]["spans"]
                .as_array()
                .unwrap()
                .clone()
        })
        .collect()
}

/// The value of an attribute.
fn attribute<'s>(span: &'s serde_json::Value, name: &str) -> Option<&'s str> {
    let all = span["attributes"].as_array()?;
    let value = &all.iter().find(|one| one["key"] == name)?["value"];
    value["stringValue"]
        .as_str()
        .or_else(|| value["intValue"].as_str())
}

#[test]
fn operations_are_spans() {
    let (code, out, err) = run(&["-f", "otlp", "fixtures/cli/operations.jsonl"]);
    assert_eq!((code, err.as_str()), (0, ""));
    let all = spans(&out);
    let names: Vec<&str> = all
        .iter()
        .map(|span| span["name"].as_str().unwrap())
        .collect();
    assert_eq!(
        names,
        [
            "initialize",
            "elicitation/create",
            "tools/call book",
            "tools/call wait"
        ]
    );
    let [_, asked, call, open] = &all[..] else {
        panic!("{out}")
    };
    assert_eq!(asked["parentSpanId"], call["spanId"]);
    assert_eq!(asked["traceId"], call["traceId"]);
    assert_eq!(call.get("parentSpanId"), None);
    assert_eq!(call["status"]["code"], 2);
    for (span, name, wanted) in [
        (call, "mcp.method.name", Some("tools/call")),
        (call, "gen_ai.tool.name", Some("book")),
        (call, "gen_ai.operation.name", Some("execute_tool")),
        (call, "error.type", Some("tool_error")),
        (call, "rpc.system.name", Some("jsonrpc")),
        (call, "jsonrpc.request.id", Some("1")),
        (call, "wiretool.state", Some("failed")),
        (call, "wiretool.waited_for.person", Some("6000000000")),
        (asked, "wiretool.link", Some("inferred")),
        (asked, "gen_ai.tool.name", None),
        (open, "wiretool.state", Some("open")),
        (open, "error.type", None),
    ] {
        assert_eq!(attribute(span, name), wanted, "{name} of {}", span["name"]);
    }
    let events: Vec<&str> = call["events"]
        .as_array()
        .unwrap()
        .iter()
        .map(|event| event["name"].as_str().unwrap())
        .collect();
    assert_eq!(
        events,
        ["notification notifications/progress", "wiretool.finding"]
    );
    assert_eq!(open["events"][0]["name"], "wiretool.finding");
    // A message in the middle selects its operation.
    let (_, out, _) = run(&[
        "-f",
        "otlp",
        "--where",
        "kind=error or outcome=error",
        "fixtures/cli/operations.jsonl",
    ]);
    assert_eq!(spans(&out)[0]["spanId"], call["spanId"]);
    assert_eq!(spans(&out).len(), 1);
    let (_, again, _) = run(&["-f", "otlp", "fixtures/cli/operations.jsonl"]);
    assert_eq!(spans(&again), all);
}

#[test]
fn spans_of_a_child_have_its_process() {
    let ask = json!({"jsonrpc": "2.0", "id": 9, "method": "roots/list"});
    let mut lines = Vec::from(call(1, "get"));
    lines.insert(1, ("s2c", ask));
    let input = recording(&lines);
    let opened = json!({"t": 0, "conn": 1, "event": "open", "pid": 41}).to_string();
    let pids = |input: &str| {
        let (code, out, _) = run_with(&["-f", "otlp"], input);
        assert_eq!(code, 0);
        let mut found = std::collections::BTreeMap::new();
        let lines = out.lines();
        for line in lines.filter(|line| line.starts_with("{\"resourceSpans\"")) {
            let line: serde_json::Value = serde_json::from_str(line).unwrap();
            let part = &line["resourceSpans"][0];
            let pid = attribute(&part["resource"], "process.pid").map(str::to_owned);
            for span in part["scopeSpans"][0]["spans"].as_array().unwrap() {
                found.insert(span["name"].as_str().unwrap().to_owned(), pid.clone());
            }
        }
        found.into_iter().collect::<Vec<_>>()
    };
    let (ask, call) = ("roots/list".to_owned(), "tools/call get".to_owned());
    // The process of the header is wiretool.
    assert_eq!(pids(&input), [(ask.clone(), None), (call.clone(), None)]);
    let with_child = input.replacen('\n', &format!("\n{opened}\n"), 1);
    assert_eq!(
        pids(&with_child),
        [(ask, Some("41".to_owned())), (call, None)]
    );
}

/// A request with the span of its sender is a span of its receiver.
#[test]
fn spans_belong_to_the_side_whose_work_they_are() {
    const TRACE: &str = "00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01";
    for (trace, service) in [(None, "c"), (Some(TRACE), "s"), (Some("ff-x"), "c")] {
        let say = |dir: &str, message: serde_json::Value| (dir.to_owned(), message);
        let info = |name: &str| json!({"name": name, "version": "1"});
        let mut params = json!({"name": "get"});
        if let Some(trace) = trace {
            params["_meta"] = json!({"traceparent": trace});
        }
        let said = [
            say(
                "c2s",
                json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"clientInfo": info("c")}}),
            ),
            say(
                "s2c",
                json!({"jsonrpc": "2.0", "id": 0, "result": {"serverInfo": info("s")}}),
            ),
            say(
                "c2s",
                json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}),
            ),
            say("s2c", json!({"jsonrpc": "2.0", "id": 1, "result": {}})),
        ];
        let lines: Vec<(&str, serde_json::Value)> = said
            .iter()
            .map(|(dir, message)| (dir.as_str(), message.clone()))
            .collect();
        let (_, out, _) = run_with(&["-f", "otlp"], &recording(&lines));
        let lines = out
            .lines()
            .filter(|line| line.starts_with("{\"resourceSpans\""));
        let of_call = lines.filter_map(|line| {
            let line: serde_json::Value = serde_json::from_str(line).unwrap();
            let part = &line["resourceSpans"][0];
            let spans = part["scopeSpans"][0]["spans"].as_array().unwrap();
            let has_call = spans.iter().any(|span| span["name"] == "tools/call get");
            has_call.then(|| attribute(&part["resource"], "service.name").map(str::to_owned))
        });
        let of_call: Vec<Option<String>> = of_call.collect();
        assert_eq!(of_call, [Some(service.to_owned())], "{trace:?}: {out}");
    }
}

#[test]
fn traces_of_messages_are_kept() {
    let files =
        ["planner", "search", "index"].map(|name| format!("fixtures/cli/merge/{name}.jsonl"));
    let mut args = vec!["-f", "otlp", "--merge"];
    args.extend(files.iter().map(String::as_str));
    let (code, out, _) = run(&args);
    assert_eq!(code, 0);
    let all = spans(&out);
    let find = |name: &str| {
        all.iter()
            .find(|span| span["name"] == name)
            .expect("a span")
    };
    let (plan, found, look) = (
        find("tools/call plan"),
        find("tools/call find"),
        find("tools/call look"),
    );
    for span in [plan, found] {
        assert_eq!(span["traceId"].as_str().map(str::len), Some(32));
        assert_eq!(span["traceId"], plan["traceId"], "{span}");
        assert_eq!(span["kind"], 2);
    }
    // What the request states is the parent, and the operation that contains it a link.
    assert_eq!(found["links"][0]["spanId"], plan["spanId"]);
    assert_eq!(look["parentSpanId"], found["spanId"]);
    assert_eq!(look["traceId"], found["traceId"]);
}

#[test]
fn spans_have_content_only_if_asked_for_and_secrets_never() {
    let request = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": "get", "arguments": {"password": "Zx81-geheim", "city": "Oslo"}}});
    let answer = json!({"jsonrpc": "2.0", "id": 1, "result": {"content": [{"type": "text", "text": "rain\u{202e}"}]}});
    let input = recording(&[("c2s", request), ("s2c", answer)]);
    let (code, out, _) = run_with(&["-f", "otlp"], &input);
    assert_eq!(code, 0);
    assert!(!out.contains("Oslo") && !out.contains("rain"), "{out}");
    let (_, out, _) = run_with(&["-f", "otlp", "--content"], &input);
    let span = &spans(&out)[0];
    let arguments = attribute(span, "gen_ai.tool.call.arguments").expect("arguments");
    assert!(
        arguments.contains("Oslo") && !arguments.contains("geheim"),
        "{arguments}"
    );
    let result = attribute(span, "gen_ai.tool.call.result").expect("a result");
    assert!(result.contains("rain\\u{202e}"), "{result}");
    let (_, out, _) = run_with(&["-f", "otlp", "--content", "--show-secrets"], &input);
    assert!(out.contains("geheim"), "{out}");
}

#[test]
fn a_capture_without_times_has_no_spans() {
    let (code, out, err) = run(&["-f", "otlp", "fixtures/oracle/crlf.txt"]);
    assert_eq!((code, out.as_str()), (2, ""));
    assert!(err.contains("spans need times"), "{err}");
}

/// What must be equal in a packet capture: all but numbers of messages and connections.
fn comparable(args: &[&str]) -> Vec<String> {
    let keys = [
        "dir", "time", "offset", "len", "framing", "protocol", "kind", "role", "id", "message",
        "fault",
    ];
    let rows = decode(args).into_iter().map(|row| {
        let parts = keys.map(|key| row.get(key).map_or(String::new(), ToString::to_string));
        parts.join(" ")
    });
    let mut rows: Vec<String> = rows.collect();
    // Each connection of a packet capture waits for its own protocol.
    rows.sort();
    rows
}

#[test]
fn packet_captures_have_the_same_messages() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("session.pcapng");
    let path = path.to_str().unwrap();
    for capture in [
        "fixtures/cli/mixed.jsonl",
        "fixtures/mcp/session.jsonl",
        "fixtures/acp/http.jsonl",
        "fixtures/acp/terminal.jsonl",
        "fixtures/stepflow/http-sse.jsonl",
        "fixtures/stepflow/real-runtime.jsonl",
        "fixtures/cli/broken/lsp-length.jsonl",
    ] {
        if !std::path::Path::new(capture).exists() {
            continue;
        }
        let args = ["-f", "pcapng", "--show-secrets", "-o", path, capture];
        let (code, _, err) = run(&args);
        assert_eq!((code, err.as_str()), (0, ""), "{capture}");
        assert_eq!(comparable(&[path]), comparable(&[capture]), "{capture}");
    }
}

#[test]
fn packet_captures_mask_secrets_and_stay_readable() {
    let request = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": "get", "arguments": {"password": "Zx81\"geheim", "url": "https://me:geheim@host/"}}});
    let input = recording(&[("c2s", request.clone())]);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("session.pcapng");
    let path = path.to_str().unwrap();
    let (code, _, err) = run_with(&["-f", "pcapng", "-o", path], &input);
    assert_eq!((code, err.as_str()), (0, ""));
    let bytes = std::fs::read(path).unwrap();
    let has = |bytes: &[u8], text: &[u8]| bytes.windows(text.len()).any(|part| part == text);
    assert!(!has(&bytes, b"geheim") && has(&bytes, b"tools/call get"));
    let rows = decode(&[path]);
    let arguments = &rows[0]["message"]["params"]["arguments"];
    assert_eq!(arguments["password"], "*".repeat(12));
    assert_eq!(arguments["url"], "https://me:******@host/");
    run_with(&["-f", "pcapng", "--show-secrets", "-o", path], &input);
    assert_eq!(decode(&[path])[0]["message"], request);
}

#[test]
fn packet_captures_mask_only_values_of_heads() {
    let body =
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "get"}})
            .to_string();
    let post = format!(
        "POST /mcp?token=geheim-1&x=1 HTTP/1.1\r\nHost: me:geheim-2@x\r\nAuthorization: Bearer geheim-3\r\n\
         Cookie: sid=geheim-4\r\nX-Api-Key:geheim-6\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let get = "GET /mcp HTTP/1.1\r\nHost: x\r\nMcp-Session-Id: geheim-7\r\nAuthorization: Basic geheim-8\r\n\r\n";
    let mut input = format!("{HEADER}\n");
    let of_two_lines = "HTTP/1.1 202 Accepted\r\nSet-Cookie: sid=geheim-5;\r\n  max-age=9\r\nContent-Length: 0\r\n\r\n";
    for (dir, text) in [("c2s", post.as_str()), ("s2c", of_two_lines), ("c2s", get)] {
        writeln!(
            input,
            "{}",
            json!({"t": 0, "conn": 1, "dir": dir, "text": text})
        )
        .unwrap();
    }
    writeln!(input, "{}", json!({"t": 0, "event": "end"})).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("session.pcapng");
    let path = path.to_str().unwrap();
    let (code, _, err) = run_with(&["-f", "pcapng", "-o", path], &input);
    assert_eq!((code, err.as_str()), (0, ""));
    let bytes = std::fs::read(path).unwrap();
    let has = |text: &str| {
        bytes
            .windows(text.len())
            .any(|part| part == text.as_bytes())
    };
    assert!(!has("geheim"));
    for lines in [
        "POST /mcp?token=********&x=1 HTTP/1.1\r\nHost: ",
        "\r\nAuthorization: ***************\r\nCookie: ************\r\nX-Api-Key:********\r\nContent-Type: ",
        "\r\nSet-Cookie: *************\r\n  *********\r\nContent-Length: 0\r\n\r\n",
        "\r\nMcp-Session-Id: ********\r\nAuthorization: **************\r\n\r\n",
    ] {
        assert!(has(lines), "{lines:?} is not in {}", bytes.escape_ascii());
    }
    // wiretool reads no of_two_lines field, masked or not.
    let record = folder.path().join("session.jsonl");
    std::fs::write(&record, &input).unwrap();
    let faults = |path: &str| -> Vec<_> {
        let rows = decode(&[path]);
        rows.iter().map(|row| row.get("fault").cloned()).collect()
    };
    let read = faults(path);
    assert_eq!(read, faults(record.to_str().unwrap()));
    let is_bad: Vec<bool> = read.iter().map(Option::is_some).collect();
    assert_eq!(is_bad, [false, true, false]);
}

#[test]
fn packet_captures_show_commands_without_values() {
    let argv = [
        "./server",
        "-m",
        "serve",
        "--api-key",
        "geheim-1",
        "--any",
        "geheim-2",
        "--verbose",
        "--port=geheim-3",
        "PIN=geheim-4",
        "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
        "last",
    ];
    let header = json!({"wiretool": 1, "protocol": "mcp", "started": "2026-01-01T00:00:00.000000000Z", "transport": "stdio", "argv": argv});
    let line = json!({"t": 0, "conn": 1, "dir": "c2s", "text": "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"ping\"}\n"});
    let input = format!("{header}\n{line}\n{{\"t\":1,\"event\":\"end\"}}\n");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("session.pcapng");
    let path = path.to_str().unwrap();
    let has = |text: &str| {
        let bytes = std::fs::read(path).unwrap();
        bytes
            .windows(text.len())
            .any(|part| part == text.as_bytes())
    };
    let (code, _, err) = run_with(&["-f", "pcapng", "-o", path], &input);
    assert_eq!((code, err.as_str()), (0, ""));
    assert!(!has("geheim") && !has("ghp_"));
    let shown =
        "command ./server -m serve --api-key … --any … --verbose --port=… PIN=… (secret) last";
    assert!(has(shown));
    let (code, _, _) = run_with(&["-f", "pcapng", "--show-secrets", "-o", path], &input);
    assert_eq!(code, 0);
    assert!(has("--api-key geheim-1 --any geheim-2"));
}

#[test]
fn packet_captures_mask_heads_of_bodies_in_chunks() {
    let chunks = "10\r\n{\"jsonrpc\":\"2.0\"\r\n19\r\n,\"id\":1,\"method\":\"ping\"}\r\n0\r\n\r\n";
    let post = format!(
        "POST / HTTP/1.1\r\nHost: x\r\nAuthorization: geheim-3\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n{chunks}"
    );
    let line = json!({"t": 0, "conn": 1, "dir": "c2s", "text": post});
    let input = format!("{HEADER}\n{line}\n{{\"t\":1,\"event\":\"end\"}}\n");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("session.pcapng");
    let path = path.to_str().unwrap();
    let (code, _, err) = run_with(&["-f", "pcapng", "-o", path], &input);
    assert_eq!((code, err.as_str()), (0, ""));
    let bytes = std::fs::read(path).unwrap();
    assert!(!bytes.windows(6).any(|part| part == b"geheim"));
    assert_eq!(decode(&[path])[0]["message"]["method"], "ping");
}

#[test]
fn packet_captures_have_holes_where_bytes_were_lost() {
    let answer = json!({"jsonrpc": "2.0", "id": 1, "result": {}}).to_string();
    let frame = format!("Content-Length: {}\r\n\r\n{answer}", answer.len());
    let (cut, _) = frame.split_at(frame.len() - 5);
    let text = |text: &str| json!({"t": 1000, "conn": 1, "dir": "s2c", "text": text});
    let lost = |len: u64| json!({"t": 1000, "conn": 1, "event": "lost", "dir": "s2c", "len": len});
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("session.pcapng");
    let path = path.to_str().unwrap();
    let record = folder.path().join("session.jsonl");
    let record = record.to_str().unwrap();
    for lines in [
        vec![lost(77), text(&frame)],
        vec![text(&frame), lost(10), text(&frame)],
        vec![
            text(cut),
            lost(5),
            text(&frame),
            lost(1),
            text(cut),
            lost(200),
            text(&frame),
        ],
    ] {
        let mut input = String::from(
            "{\"wiretool\":1,\"protocol\":\"lsp\",\"started\":\"2026-07-01T10:00:00Z\"}\n",
        );
        for line in &lines {
            writeln!(input, "{line}").unwrap();
        }
        std::fs::write(record, input).unwrap();
        let (code, _, _) = run(&["-f", "pcapng", "--show-secrets", "-o", path, record]);
        assert_eq!(code, 0);
        assert_eq!(
            comparable(&["-p", "lsp", path]),
            comparable(&[record]),
            "{lines:?}"
        );
    }
}

#[test]
fn packet_captures_have_only_selected_messages() {
    let mut lines = Vec::new();
    for n in 0..3 {
        lines.extend(call(n, "get"));
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("session.pcapng");
    let path = path.to_str().unwrap();
    let (code, _, _) = run_with(
        &["-f", "pcapng", "--where", "id=1", "-o", path],
        &recording(&lines),
    );
    assert_eq!(code, 0);
    let ids: Vec<_> = decode(&[path])
        .iter()
        .map(|row| row["id"].clone())
        .collect();
    assert_eq!(ids, [json!(1), json!(1)]);
    // Bytes whose direction is not known have no sender.
    let (code, _, err) = run(&["-f", "pcapng", "-o", path, "fixtures/oracle/crlf.txt"]);
    assert_eq!(code, 2);
    assert!(err.contains("--dir"), "{err}");
}

#[test]
fn a_description_has_the_names_of_spans_of_its_base() {
    let folder = tempfile::tempdir().unwrap();
    let own = common::file(
        folder.path(),
        "mine.toml",
        "name = \"mine\"\nbase = \"mcp\"\n",
    );
    let (code, out, err) = run(&["-f", "otlp", "-p", &own, "fixtures/mcp/session.jsonl"]);
    assert_eq!(code, 0, "{err}");
    assert!(
        out.contains("\"mcp.method.name\"") && out.contains("\"gen_ai.tool.name\""),
        "{out}"
    );
}

#[test]
fn spans_of_captures_with_equal_ids_differ() {
    let folder = tempfile::tempdir().unwrap();
    let header = r#"{"wiretool":1,"protocol":"sael","started":"2026-01-01T00:00:0N.000000000Z"}"#;
    let ids = r#""trace_id":"0af7651916cd43dd8448eb211c80319c","span_id":"00f067aa0ba902b7""#;
    let write = |name: &str, second: char, ids: &str| {
        let mut text = header.replace('N', &second.to_string()) + "\n";
        for (t, dir, message) in [
            (
                1,
                "c2s",
                format!(r#"{{"kind":"INV","seq":1,"tool":"t","input":{{}}{ids}}}"#),
            ),
            (2, "s2c", r#"{"kind":"RES","seq":1,"output":1}"#.to_owned()),
        ] {
            let line = json!({"t": t, "conn": 1, "dir": dir, "text": message + "\n"});
            text += &format!("{line}\n");
        }
        common::file(folder.path(), name, text)
    };
    let ids = format!(",{ids}");
    let (a, b) = (write("a.jsonl", '1', &ids), write("b.jsonl", '2', &ids));
    let spans_of = |args: &[&str]| {
        let (code, out, err) = run(&[&["-f", "otlp"], args].concat());
        assert_eq!(code, 0, "{err}");
        spans(&out)
    };
    // Two captures of one request: one trace, two spans.
    for args in [vec![a.as_str(), b.as_str()], vec!["--merge", &a, &b]] {
        let all = spans_of(&args);
        assert_eq!(all.len(), 2);
        assert_eq!(all[0]["traceId"], all[1]["traceId"]);
        assert_eq!(all[0]["spanId"], "00f067aa0ba902b7");
        assert_ne!(all[0]["spanId"], all[1]["spanId"]);
    }
    // Two recordings that had the same name.
    let path = write("c.jsonl", '1', "");
    let first = spans_of(&[&path]);
    std::fs::remove_file(&path).unwrap();
    write("c.jsonl", '2', "");
    let second = spans_of(&[&path]);
    assert_ne!(first[0]["traceId"], second[0]["traceId"]);
    assert_ne!(first[0]["spanId"], second[0]["spanId"]);
}

/// A page and a diagram name what could not be read of the recording.
#[test]
fn unreadable_parts_of_a_recording_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("session.jsonl");
    let [request, answer] = call(1, "add").map(|(dir, message)| {
        let text = format!("{message}\n");
        json!({"t": 1, "conn": 1, "dir": dir, "text": text}).to_string()
    });
    let header = r#"{"wiretool":1,"protocol":"mcp"}"#;
    std::fs::write(&path, format!("{header}\n{request}\nnot JSON\n{answer}\n")).unwrap();
    let path = path.to_str().unwrap();
    for (form, wanted) in [("html", "\"line 3: "), ("mermaid", "not read: line 3: ")] {
        let (code, out, err) = run(&["-f", form, path]);
        assert_eq!(code, 1, "{err}");
        assert!(err.contains("line 3: "), "{err}");
        assert!(out.contains(wanted), "{out}");
    }
}
