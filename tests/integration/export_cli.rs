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

/// A recording of lines on one connection, a message each millisecond.
fn recording(lines: &[(&str, serde_json::Value)]) -> String {
    let header = json!({"wiretool": 1, "protocol": "mcp", "started": "2026-07-01T10:00:00Z", "transport": "stdio"});
    let mut text = format!("{header}\n");
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

#[test]
fn diagrams_show_requests_answers_and_who_must_send() {
    let (code, out, err) = run(&["-f", "mermaid", "fixtures/cli/mixed.jsonl"]);
    assert_eq!((code, err.as_str()), (0, ""));
    insta::assert_snapshot!(out, @r#"
    sequenceDiagram
        participant p0 as client
        participant p1 as server
        p0->>+p1: #35;0 INV feed.open (id 1)
        loop 2 times, #35;1 to #35;2
        p1-->>p0: STR feed.open
        end
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
        p0->>+p1: #35;8 tools/call wait
        p1->>p0: #35;8 open tools/call wait (940 ms)
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
    let hello = json!({"jsonrpc": "2.0", "id": "hello", "method": "initialize", "params": {}});
    let answer = json!({"jsonrpc": "2.0", "id": "hello", "result": {}});
    let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    let mut lines = vec![("c2s", hello), ("s2c", answer), ("c2s", ready)];
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
        out.contains("    loop 500 times, #35;3 to #35;1002\n"),
        "{out}"
    );
    assert!(out.contains("Note over p0,p1: 945 more messages"), "{out}");
    let marks = |sign: &str| out.matches(sign).count();
    assert_eq!(marks(">>+"), 30, "{out}");
    assert_eq!(marks(">>+"), marks(">>-") + marks("deactivate"), "{out}");
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
        let plain = regex::Regex::new("#[0-9]+;").unwrap().replace_all(text, "");
        assert!(!plain.contains(['#', ';']), "{line}");
        assert!(
            !regex::Regex::new(r"(?i)\bend\b|style")
                .unwrap()
                .is_match(text),
            "{line}"
        );
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
    assert!(err.contains("--format <FORM>"), "{err}");
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
