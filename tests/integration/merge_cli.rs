//! `--merge`: several captures as one conversation, and the operations that are joined.

use crate::common;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

const CHAIN: [&str; 3] = [
    "fixtures/cli/merge/planner.jsonl",
    "fixtures/cli/merge/search.jsonl",
    "fixtures/cli/merge/index.jsonl",
];

fn merged(args: &[&str], files: &[&str]) -> String {
    let (code, out, err) = common::outcome_at_width(&[args, &["--merge"], files].concat(), None);
    assert_eq!(code, 0, "{err}");
    out
}

#[test]
fn messages_are_in_the_order_of_their_times() {
    insta::assert_snapshot!(merged(&["decode", "--stderr"], &CHAIN), @r#"
    #0        0 planner c1 10:00:00.010 → request       tools/call plan      1             {goal: "tea"}, _meta: {traceparent: "00…
    #1        0 search  c2       +30 ms → request       tools/call find      1             {what: "kettle"}, _meta: {traceparent: …
    #2        0 index   c3       +10 ms → request       tools/call look      1             {key: "kettle"}
         10:00:00.400 index c3 stderr: disk is slow
    #3        0 index   c3      +800 ms ← response      tools/call look      1      800 ms "7"
    #4        0 search  c2       +10 ms ← response      tools/call find      1      820 ms "shelf"
    #5        0 planner c1       +40 ms ← response      tools/call plan      1      890 ms "done"
    #6      181 planner c1      +100 ms → request       ping                 2
    #7       78 planner c1        +1 ms ← response      ping                 2        1 ms {}
    "#);
    let out = merged(&["decode", "-f", "json", "--lint"], &CHAIN);
    let keys = ["index", "conn", "src", "op", "parent", "link"];
    let mut shown = String::new();
    for line in out.lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        let keys = keys.iter().map(|key| line[key].to_string());
        writeln!(shown, "{}", keys.collect::<Vec<_>>().join(" ")).unwrap();
    }
    insta::assert_snapshot!(shown, @r#"
    0 1 "planner" 0 null null
    1 2 "search" 1 0 "recorded"
    2 3 "index" 2 1 "inferred"
    3 3 "index" 2 1 "inferred"
    4 2 "search" 1 0 "recorded"
    5 1 "planner" 0 null null
    6 1 "planner" 6 null null
    7 1 "planner" 6 null null
    "#);
    for (condition, wanted) in [
        ("src=index", 2),
        ("src!=index", 6),
        ("src~an", 4),
        ("src=x", 0),
    ] {
        let args = ["decode", "--merge", "-f", "json", "--where", condition];
        let (_, out, err) = common::outcome_at_width(&[&args[..], &CHAIN].concat(), None);
        assert_eq!(out.lines().count(), wanted, "{condition}: {err}");
    }
    // Without the flag, files stay separate.
    let (_, apart, _) =
        common::outcome_at_width(&[&["decode", "-f", "json"][..], &CHAIN].concat(), None);
    let conns = |text: &str| text.matches("\"conn\":1,").count();
    assert_eq!((conns(&apart), conns(&out)), (8, 4));
}

#[test]
fn one_command_says_who_made_the_user_wait() {
    insta::assert_snapshot!(merged(&["decode", "--ops"], &CHAIN), @"
    #0 planner c1 10:00:00.010 tools/call plan                  answered     890 ms index server 800 ms, planner server 70 ms, search server 20 ms; 1 tools/call; 6 messages, 692 bytes
    #6 planner c1 10:00:01.000 ping                             answered       1 ms planner server; 2 messages, 76 bytes
    ");
    insta::assert_snapshot!(merged(&["stat", "--ops"], &CHAIN), @"
    planner + search + index: mcp, 8 messages, 768 bytes in 991 ms

    operations                        count       p50       p90       p99 errors  messages        bytes  waits for
      tools/call plan                     1    890 ms         -         -      0         6          692  index server 90 %, planner server 8 %, search server 2 %
      tools/call find                     1    820 ms         -         -      0         4          435  index server 98 %, search server 2 %
      tools/call look                     1    800 ms         -         -      0         2          174  index server 100 %
      ping                                1      1 ms         -         -      0         2           76  planner server 100 %
    ");
    let out = merged(&["decode", "--ops", "-f", "json"], &CHAIN);
    for line in out.lines() {
        let one: Value = serde_json::from_str(line).unwrap();
        let shares = one["shares"].as_object().unwrap().values();
        let sum: f64 = shares.map(|share| share.as_f64().unwrap()).sum();
        let lasted = one["duration_ms"].as_f64().unwrap();
        assert!((sum - lasted).abs() < 1e-6, "{line}");
    }
    for width in [40, 60, 80, 100, 120, 200] {
        for args in [&["decode", "--merge", "--ops"][..], &["decode", "--merge"]] {
            let (_, out, _) = common::outcome_at_width(&[args, &CHAIN].concat(), Some(width));
            for line in out.lines() {
                assert!(line.chars().count() <= width, "{width}: {line}");
            }
        }
    }
}

#[test]
fn lint_names_the_file_of_each_finding() {
    let folder = tempfile::tempdir().unwrap();
    let twice = [
        (1, "c2s", call(1, &json!({}))),
        (2, "c2s", call(1, &json!({}))),
        (3, "s2c", answer(1, "x")),
        (4, "s2c", answer(1, "x")),
    ];
    let paths: Vec<String> = ["a", "b"]
        .iter()
        .map(|name| recording(folder.path(), name, &json!({}), &twice))
        .collect();
    let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
    let args = ["lint", "--merge", "--fail-on", "warning"];
    let (code, out, err) = common::outcome_at_width(&[&args[..], &paths].concat(), None);
    assert_eq!(code, 1, "{err}");
    let files = out.lines().filter_map(|line| line.split(':').next());
    let files: Vec<&str> = files.collect();
    assert_eq!(files, [paths[0], paths[1], paths[0], paths[1]], "{out}");
    assert!(err.contains("a + b: 4 warnings in 8 messages"), "{err}");
}

/// Rules are checked as if each capture were alone.
#[test]
fn findings_are_those_of_separate_captures() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    for protocol in ["mcp", "acp", "saikuro", "stepflow"] {
        let mut files = Vec::new();
        for entry in root.join(protocol).join("rules").read_dir().unwrap() {
            let path = entry.unwrap().path();
            let text = std::fs::read_to_string(&path).unwrap();
            let has_times = text
                .lines()
                .next()
                .is_some_and(|l| l.contains("\"started\""));
            if has_times && text.contains("\"dir\"") {
                files.push(path.to_str().unwrap().to_owned());
            }
        }
        files.sort();
        assert!(files.len() > 10, "{protocol}: {}", files.len());
        let found = |flags: &[&str]| {
            let files: Vec<&str> = files.iter().map(String::as_str).collect();
            let (_, out, err) = common::outcome_at_width(&[flags, &files].concat(), None);
            let lines = out.lines().map(|line| serde_json::from_str(line).unwrap());
            let lines: Vec<Value> = lines.collect();
            let mut all: Vec<String> = lines
                .iter()
                .filter(|line| line["finding"].is_object())
                .map(|line| {
                    format!(
                        "{} {} {}",
                        line["file"], line["finding"]["rule"], line["finding"]["severity"]
                    )
                })
                .collect();
            all.sort();
            assert!(all.len() > 5, "{protocol}: {err}");
            all
        };
        assert_eq!(
            found(&["lint", "-f", "json", "-p", protocol, "--merge"]),
            found(&["lint", "-f", "json", "-p", protocol]),
            "{protocol}"
        );
    }
}

#[test]
fn clocks_of_other_hosts_are_estimated_or_given() {
    let folder = tempfile::tempdir().unwrap();
    let near =
        json!({"host": "box", "listen": "http://127.0.0.1:1", "connect": "http://far:80/mcp"});
    let far =
        |connect: &str| json!({"host": "far", "listen": "http://0.0.0.0:80", "connect": connect});
    let late = [
        lasting(1, 60_030, 60_070, &json!({})),
        lasting(2, 61_005, 61_011, &json!({})),
    ]
    .concat();
    let own = [
        lasting(1, 10, 90, &json!({})),
        lasting(2, 1000, 1014, &json!({})),
    ]
    .concat();
    let to_other =
        json!({"host": "box", "listen": "http://127.0.0.1:1", "connect": "http://one:80"});
    let file = |name: &str, header: &Value, messages: &[_]| {
        recording(folder.path(), name, header, messages)
    };
    let near = file("near", &near, &own);
    let other = file("other", &to_other, &own);
    let far = file("far", &far("http://127.0.0.1:81"), &late);
    let first = |args: &[&str], files: [&str; 2]| {
        let (code, out, err) = common::outcome_at_width(&[args, &files].concat(), None);
        assert_eq!(code, 0, "{err}");
        let line = out.lines().next().unwrap_or_default();
        format!("{line}\n{err}").replace(folder.path().to_str().unwrap(), "")
    };
    let args = ["decode", "-p", "mcp", "--merge", "--ops"];
    insta::assert_snapshot!(first(&args, [&near, &far]), @"
        #0 near c2 10:00:00.010 tools/call find                  answered      80 ms near server 40 ms, far server 40 ms; ~1 tools/call; 4 messages, 320 bytes
    wiretool: /far.jsonl: its clock is 60.001 s ahead of that of near (±4 ms, from 2 calls in both); --clock far=-60.001s sets it
    wiretool: /far.jsonl: at the end: the recording has no end line: its writer was stopped, or still runs
    wiretool: /near.jsonl: at the end: the recording has no end line: its writer was stopped, or still runs
    ");
    insta::assert_snapshot!(first(&[&args[..], &["--clock", "far=-60.001s"]].concat(), [&near, &far]), @"
        #0 near c2 10:00:00.010 tools/call find                  answered      80 ms near server 40 ms, far server 40 ms; ~1 tools/call; 4 messages, 320 bytes
    wiretool: /far.jsonl: at the end: the recording has no end line: its writer was stopped, or still runs
    wiretool: /near.jsonl: at the end: the recording has no end line: its writer was stopped, or still runs
    ");
    let plain = file("plain", &json!({}), &own);
    let note = first(&args, [&near, &plain]);
    let wanted = "plain.jsonl: its host is not known, and no call shows the offset of its clock";
    assert!(note.contains(wanted), "{note}");
    // These are calls of one program to two servers.
    insta::assert_snapshot!(first(&args, [&other, &far]), @"
        #0 other c1 10:00:00.010 tools/call find                  answered      80 ms other server; 2 messages, 160 bytes
    wiretool: /far.jsonl: it is of another host, and no call shows the offset of its clock: --clock far=TIME sets it
    wiretool: /other.jsonl: at the end: the recording has no end line: its writer was stopped, or still runs
    wiretool: /far.jsonl: at the end: the recording has no end line: its writer was stopped, or still runs
    ");
}

/// Times that step back are those that are recorded.
#[test]
fn times_are_those_of_the_captures() {
    let folder = tempfile::tempdir().unwrap();
    let back = [
        (50, "c2s", call(1, &json!({}))),
        (90, "s2c", answer(1, "x")),
        (20, "c2s", call(2, &json!({}))),
        (30, "s2c", answer(2, "x")),
    ];
    let a = recording(folder.path(), "a", &json!({}), &back);
    let b = recording(
        folder.path(),
        "b",
        &json!({}),
        &lasting(1, 40, 95, &json!({})),
    );
    let told = |args: &[&str]| {
        let (code, out, err) = common::outcome_at_width(
            &[&["decode", "-f", "json", "-p", "mcp"], args].concat(),
            None,
        );
        assert_eq!(code, 0, "{err}");
        let lines = out.lines().map(|line| serde_json::from_str(line).unwrap());
        let lines: Vec<Value> = lines.collect();
        let of_a = lines.iter().filter(|line| line["src"] != "b");
        let keys = |line: &Value| format!("{} {} {}", line["id"], line["time"], line["latency_ms"]);
        let shown: Vec<String> = of_a.map(keys).collect();
        shown
    };
    let alone = told(&[&a]);
    assert_eq!(alone.len(), 4, "{alone:?}");
    assert_eq!(told(&["--merge", &a, &b]), alone);
}

#[test]
fn what_cannot_be_merged_is_refused() {
    let hex = "fixtures/saikuro/announce-document.hex";
    for (args, wanted) in [
        (
            &["decode", "--merge", CHAIN[0], hex][..],
            "wiretool: fixtures/saikuro/announce-document.hex has no times: --merge puts messages in the order of their times; the files of the two directions of a connection are --c2s FILE --s2c FILE\n",
        ),
        (
            &["stat", "--merge", "--clock", "x=1s", CHAIN[0], CHAIN[1]],
            "wiretool: --clock: no capture is called x: there are planner, search\n",
        ),
        (
            &["decode", "--clock", "planner=1s", CHAIN[0]],
            "wiretool: --clock adds to the times of a merged capture: give --merge too\n",
        ),
        (
            &["decode", "--merge", "-w", "x.jsonl", CHAIN[0], CHAIN[1]],
            "wiretool: -w records one capture: leave out --merge\n",
        ),
        (
            &["lint", "--merge", CHAIN[0], "fixtures/none.jsonl"],
            "wiretool: cannot open fixtures/none.jsonl: No such file or directory (os error 2)\n",
        ),
    ] {
        let (code, out, err) = common::outcome_at_width(args, None);
        assert_eq!(
            (code, out.as_str(), err.as_str()),
            (2, "", wanted),
            "{args:?}"
        );
    }
}

fn call(id: u32, more: &Value) -> Value {
    let mut params = json!({"name": "find", "arguments": {}});
    if let Some(trace) = more.get("trace") {
        params["_meta"] = json!({"traceparent": trace});
    }
    let name = more.get("name").cloned();
    params["name"] = name.unwrap_or_else(|| "find".into());
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})
}

fn answer(id: u32, text: &str) -> Value {
    let content = json!([{"type": "text", "text": text}]);
    json!({"jsonrpc": "2.0", "id": id, "result": {"content": content}})
}

/// Writes a recording; times are in milliseconds.
fn recording(folder: &Path, name: &str, header: &Value, messages: &[(u32, &str, Value)]) -> String {
    let mut first = json!({"wiretool": 1, "started": "2026-01-01T10:00:00.000000000Z"});
    let keys = first.as_object_mut().unwrap();
    keys.extend(header.as_object().unwrap().clone());
    let child = keys.remove("child");
    let mut text = format!("{first}\n");
    let open = json!({"t": 0, "conn": 1, "event": "open", "pid": child});
    writeln!(text, "{open}").unwrap();
    for (ms, dir, message) in messages {
        let t = u64::from(*ms) * 1_000_000;
        let line = json!({"t": t, "conn": 1, "dir": dir, "text": format!("{message}\n")});
        writeln!(text, "{line}").unwrap();
    }
    common::file(folder, &format!("{name}.jsonl"), text)
}

/// A header of a recording of a child.
fn child(pid: u32, parent: u32) -> Value {
    json!({"host": "h", "argv": ["x"], "pid": pid - 1, "child": pid, "ppid": parent})
}

/// A header of a proxy.
fn proxy(listen: u32, connect: u32) -> Value {
    let address = |port| format!("tcp://127.0.0.1:{port}");
    json!({"host": "h", "listen": address(listen), "connect": address(connect)})
}

/// A header of a proxy on an unknown host.
fn hostless(listen: u32, connect: u32) -> Value {
    let mut header = proxy(listen, connect);
    header.as_object_mut().unwrap().remove("host");
    header
}

type Messages = Vec<(u32, &'static str, Value)>;

/// The requests of merged recordings that belong to an operation of another one.
fn links(recordings: &[(Value, Messages)]) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let paths: Vec<String> = recordings
        .iter()
        .zip(["a", "b", "c"])
        .map(|((header, messages), name)| recording(folder.path(), name, header, messages))
        .collect();
    let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
    let args = ["decode", "-f", "json", "--lint", "-p", "mcp", "--merge"];
    let (_, out, err) = common::outcome_at_width(&[&args[..], &paths].concat(), None);
    let lines = out.lines().map(|line| serde_json::from_str(line).unwrap());
    let lines: Vec<Value> = lines.collect();
    assert!(!lines.is_empty(), "{err}");
    let place = |index: &Value| {
        let line = lines.iter().find(|line| line["index"] == *index).unwrap();
        format!("{}{}", line["src"].as_str().unwrap(), line["id"])
    };
    let inside = lines
        .iter()
        .filter(|line| line["role"] == "request" && line["parent"].is_u64());
    inside
        .map(|line| {
            let link = line["link"].as_str().unwrap();
            format!(
                "{} in {} {link}",
                place(&line["index"]),
                place(&line["parent"])
            )
        })
        .collect()
}

/// A call from one time to another.
fn lasting(id: u32, from: u32, to: u32, more: &Value) -> Messages {
    let text = more.get("text").and_then(Value::as_str).unwrap_or("x");
    vec![(from, "c2s", call(id, more)), (to, "s2c", answer(id, text))]
}

/// Calls in the order of their times.
fn together(calls: &[Messages]) -> Messages {
    let mut all = calls.concat();
    all.sort_by_key(|(time, ..)| *time);
    all
}

const TRACE: &str = "00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01";
/// The same trace, another span.
const SPAN: &str = "00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b8-01";
const OTHER: &str = "00-1af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01";
const ZEROS: &str = "00-00000000000000000000000000000000-00f067aa0ba902b7-01";

#[test]
#[allow(clippy::too_many_lines)] // a table
fn operations_are_joined_if_one_fits() {
    let plain = json!({});
    let traced = |trace: &str, name: &str| json!({"trace": trace, "name": name});
    let named = |name: &str| json!({"name": name});
    let long = |more: &Value| lasting(1, 10, 90, more);
    let short = |more: &Value| lasting(2, 20, 80, more);
    let two = together(&[
        lasting(1, 10, 90, &named("one")),
        lasting(5, 11, 91, &named("two")),
    ]);
    let two_traces = together(&[
        lasting(1, 10, 90, &traced(TRACE, "one")),
        lasting(5, 11, 91, &traced(OTHER, "two")),
    ]);
    let one_trace = together(&[
        lasting(1, 10, 90, &traced(TRACE, "one")),
        lasting(5, 11, 91, &traced(SPAN, "two")),
    ]);
    let none = json!({});
    for (what, recordings, wanted) in [
        (
            "the process of the only open call",
            vec![(child(11, 1), long(&plain)), (child(21, 11), short(&plain))],
            &["b2 in a1 inferred"][..],
        ),
        (
            "a process of another host",
            vec![
                (child(11, 1), long(&plain)),
                (
                    json!({"host": "other", "ppid": 11, "argv": ["x"]}),
                    short(&named("y")),
                ),
            ],
            &[],
        ),
        (
            "two open calls of the process",
            vec![
                (child(11, 1), two.clone()),
                (child(21, 11), short(&named("y"))),
            ],
            &[],
        ),
        (
            "no open call of the process",
            vec![
                (child(11, 1), lasting(1, 1, 2, &plain)),
                (child(21, 11), short(&plain)),
            ],
            &[],
        ),
        (
            "another trace than that of the only open call",
            vec![
                (child(11, 1), lasting(1, 10, 90, &traced(TRACE, "one"))),
                (child(21, 11), short(&traced(OTHER, "y"))),
            ],
            &[],
        ),
        (
            "the trace of one of two open calls",
            vec![
                (child(11, 1), two_traces.clone()),
                (child(21, 11), short(&traced(SPAN, "y"))),
            ],
            &["b2 in a1 recorded"],
        ),
        (
            "a trace of none of them",
            vec![
                (child(11, 1), two_traces.clone()),
                (child(21, 11), short(&traced(ZEROS, "y"))),
            ],
            &[],
        ),
        (
            "the trace of both",
            vec![
                (child(11, 1), one_trace),
                (child(21, 11), short(&traced(SPAN, "y"))),
            ],
            &[],
        ),
        (
            "two children of one process in one trace",
            vec![
                (child(11, 1), long(&traced(TRACE, "one"))),
                (child(21, 1), short(&traced(SPAN, "y"))),
            ],
            &[],
        ),
        (
            "a trace, and headers that say nothing",
            vec![
                (none.clone(), long(&traced(TRACE, "one"))),
                (none.clone(), short(&traced(SPAN, "y"))),
            ],
            &[],
        ),
        (
            "a trace and its span, which one program sends to two servers",
            vec![
                (none.clone(), long(&traced(TRACE, "one"))),
                (none.clone(), short(&traced(TRACE, "y"))),
            ],
            &[],
        ),
        (
            "a chain of processes in one trace",
            vec![
                (child(11, 1), long(&traced(TRACE, "one"))),
                (child(21, 11), short(&traced(SPAN, "y"))),
                (child(31, 21), lasting(3, 30, 70, &traced(SPAN, "z"))),
            ],
            &["b2 in a1 recorded", "c3 in b2 recorded"],
        ),
        (
            "two calls of one process, one after the other",
            vec![
                (child(11, 1), long(&traced(TRACE, "one"))),
                (child(21, 11), short(&traced(SPAN, "y"))),
                (child(31, 11), lasting(3, 30, 70, &traced(SPAN, "z"))),
            ],
            &["b2 in a1 recorded", "c3 in a1 recorded"],
        ),
        (
            "the legs of a relay",
            vec![
                (proxy(1, 2), lasting(1, 10, 90, &plain)),
                (proxy(2, 3), lasting(1, 20, 80, &plain)),
            ],
            &["b1 in a1 inferred"],
        ),
        (
            "two calls that both fit",
            vec![
                (proxy(1, 2), lasting(1, 10, 90, &plain)),
                (proxy(1, 2), lasting(1, 11, 91, &plain)),
                (proxy(2, 3), lasting(1, 20, 80, &plain)),
            ],
            &[],
        ),
        (
            "proxies that are not connected",
            vec![
                (proxy(1, 2), lasting(1, 10, 90, &plain)),
                (proxy(5, 3), lasting(1, 20, 80, &plain)),
            ],
            &[],
        ),
        (
            "proxies of unknown hosts that are not connected",
            vec![
                (hostless(1, 2), lasting(1, 10, 90, &plain)),
                (hostless(5, 3), lasting(1, 20, 80, &plain)),
            ],
            &[],
        ),
        (
            "a child, and a proxy to another server",
            vec![
                (child(11, 1), lasting(1, 10, 90, &plain)),
                (proxy(5, 3), lasting(1, 20, 80, &plain)),
            ],
            &[],
        ),
        (
            "equal bytes and equal answers to two servers",
            vec![
                (
                    none.clone(),
                    [lasting(1, 1, 4, &plain), lasting(7, 10, 90, &plain)].concat(),
                ),
                (
                    none,
                    [lasting(1, 2, 3, &plain), lasting(7, 20, 80, &plain)].concat(),
                ),
            ],
            &[],
        ),
    ] {
        assert_eq!(links(&recordings), wanted, "{what}");
    }
}

/// Messages as bytes: the time, the direction, the bytes.
type Raw = Vec<(u32, &'static str, Vec<u8>)>;

/// The requests that belong to an operation of another recording, each by its capture and its number in it.
fn links_of(protocol: &str, recordings: &[(Value, Raw)]) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let names = ["a", "b", "c"];
    let paths: Vec<String> = recordings
        .iter()
        .zip(names)
        .map(|((header, messages), name)| {
            let path = recording(folder.path(), name, header, &[]);
            let mut text = std::fs::read_to_string(&path).unwrap();
            for (ms, dir, bytes) in messages {
                let t = u64::from(*ms) * 1_000_000;
                let line = json!({"t": t, "conn": 1, "dir": dir, "b64": BASE64.encode(bytes)});
                writeln!(text, "{line}").unwrap();
            }
            std::fs::write(&path, text).unwrap();
            path
        })
        .collect();
    let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
    let args = ["decode", "-f", "json", "--lint", "-p", protocol, "--merge"];
    let (_, out, err) = common::outcome_at_width(&[&args[..], &paths].concat(), None);
    let lines = out.lines().map(|line| serde_json::from_str(line).unwrap());
    let lines: Vec<Value> = lines
        .filter(|line: &Value| line["role"] == "request")
        .collect();
    assert!(!lines.is_empty(), "{err}");
    let place = |index: &Value| {
        let at = lines
            .iter()
            .position(|line| line["index"] == *index)
            .unwrap();
        let src = &lines[at]["src"];
        let number = lines[..at]
            .iter()
            .filter(|line| line["src"] == *src)
            .count();
        format!("{}{}", src.as_str().unwrap(), number + 1)
    };
    let inside = lines.iter().filter(|line| line["parent"].is_u64());
    inside
        .map(|line| {
            let link = line["link"].as_str().unwrap();
            format!(
                "{} in {} {link}",
                place(&line["index"]),
                place(&line["parent"])
            )
        })
        .collect()
}

const T: &str = "0af7651916cd43dd8448eb211c80319c";
const U: &str = "1af7651916cd43dd8448eb211c80319c";

/// A call of sael with members that say to which trace it belongs.
fn sael(from: u32, seq: u32, ids: &Value) -> Raw {
    let mut message = json!({"kind": "INV", "seq": seq, "tool": "t", "input": {"n": seq}});
    let members = message.as_object_mut().unwrap();
    members.extend(ids.as_object().unwrap().clone());
    let answer = json!({"kind": "RES", "seq": seq, "output": 1});
    vec![
        (from, "c2s", format!("{message}\n").into_bytes()),
        (100 - from, "s2c", format!("{answer}\n").into_bytes()),
    ]
}

/// An execute of stepflow.
fn stepflow(from: u32, id: u32, ids: &Value) -> Raw {
    let params = json!({"component": "/c", "input": {"n": id}, "attempt": 1, "observability": ids});
    let ask = json!({"jsonrpc": "2.0", "id": id, "method": "components/execute", "params": params});
    let answer = json!({"jsonrpc": "2.0", "id": id, "result": {"output": 1}});
    vec![
        (from, "c2s", format!("{ask}\n").into_bytes()),
        (100 - from, "s2c", format!("{answer}\n").into_bytes()),
    ]
}

/// An execute of stepflow that starts a run of a flow.
fn submitting(from: u32, id: u32, flow: &Value) -> Raw {
    let mut all = stepflow(from, id, &json!({}));
    let params = json!({"flowId": flow, "inputs": []});
    let ask = json!({"jsonrpc": "2.0", "id": id, "method": "runs/submit", "params": params});
    let result = json!({"runId": "s", "flowId": flow, "status": "completed"});
    let answer = json!({"jsonrpc": "2.0", "id": id, "result": result});
    all.push((from + 1, "s2c", format!("{ask}\n").into_bytes()));
    all.push((90 - from, "c2s", format!("{answer}\n").into_bytes()));
    all.sort_by_key(|(time, ..)| *time);
    all
}

/// A call of saikuro.
fn saikuro(from: u32, id: u32, ids: &Value) -> Raw {
    let id = format!("a1b2c3d4-e5f6-4890-abcd-00000000000{id}");
    let ask =
        json!({"version": 1, "type": "call", "id": id, "target": "m.c", "args": [id], "meta": ids});
    let answer = json!({"id": id, "ok": true, "result": 1});
    let packed = |message: &Value| {
        let body = rmp_serde::to_vec(message).unwrap();
        [&(body.len() as u32).to_be_bytes()[..], &body].concat()
    };
    vec![
        (from, "c2s", packed(&ask)),
        (100 - from, "s2c", packed(&answer)),
    ]
}

/// A runtime forwards a call with its UUID, to the side that opened the connection.
#[test]
fn calls_that_a_runtime_forwards_are_joined_by_their_uuid() {
    let plain = json!({});
    let forwarded = |id: u32| {
        let mut messages = saikuro(20, id, &plain);
        for (_, dir, _) in &mut messages {
            *dir = if *dir == "c2s" { "s2c" } else { "c2s" };
        }
        messages
    };
    for (id, wanted) in [(1, &["b1 in a1 recorded"][..]), (2, &[])] {
        let recordings = [
            (plain.clone(), saikuro(10, 1, &plain)),
            (plain.clone(), forwarded(id)),
        ];
        assert_eq!(links_of("saikuro", &recordings), wanted, "{id}");
    }
}

#[test]
fn the_names_of_captures_align_all_lines() {
    let folder = tempfile::tempdir().unwrap();
    let messages = [(1, "c2s", call(1, &json!({}))), (2, "s2c", answer(1, "x"))];
    let paths = ["a", "longer"].map(|name| recording(folder.path(), name, &json!({}), &messages));
    let out = merged(&["decode"], &[&paths[0], &paths[1]]);
    let columns: Vec<_> = out.lines().map(|line| line.find(" c")).collect();
    assert!(columns.windows(2).all(|two| two[0] == two[1]), "{out}");
}

/// A call of mcp over HTTP with fields of its head.
fn posted(from: u32, id: u32, fields: &Value) -> Raw {
    let body = call(id, &json!({"name": format!("t{id}")})).to_string();
    let trace = fields["traceparent"]
        .as_str()
        .map(|trace| format!("traceparent: {trace}\r\n"));
    let head = |first: &str, more: &str, body: &str| {
        let len = body.len();
        format!(
            "{first}\r\n{more}content-type: application/json\r\ncontent-length: {len}\r\n\r\n{body}"
        )
    };
    let ask = head("POST /mcp HTTP/1.1", &trace.unwrap_or_default(), &body);
    let answer = head("HTTP/1.1 200 OK", "", &answer(id, "x").to_string());
    vec![
        (from, "c2s", ask.into_bytes()),
        (100 - from, "s2c", answer.into_bytes()),
    ]
}

#[test]
fn a_flow_that_one_worker_starts_joins_the_execute_of_another() {
    let (f, g) = (json!("f".repeat(64)), json!("g".repeat(64)));
    let inner = |flow: &Value, from| stepflow(from, 3, &json!({"flow_id": flow}));
    let joined = |all: &[Raw]| {
        let all: Vec<_> = all.iter().map(|raw| (json!({}), raw.clone())).collect();
        links_of("stepflow", &all)
    };
    let one = [submitting(10, 1, &f), inner(&f, 30)];
    assert_eq!(joined(&one), ["a2 in a1 inferred", "b1 in a2 inferred"]);
    let other = [submitting(10, 1, &f), inner(&g, 30)];
    assert_eq!(joined(&other), ["a2 in a1 inferred"]);
    let two = [submitting(10, 1, &f), submitting(20, 1, &f), inner(&f, 30)];
    assert_eq!(joined(&two), ["a2 in a1 inferred", "b2 in b1 inferred"]);
    let late = [submitting(10, 1, &f), inner(&f, 85)];
    assert_eq!(joined(&late), ["a2 in a1 inferred"]);
}

#[test]
fn servers_that_pass_on_a_session_and_the_bytes_are_legs_of_a_call() {
    let leg = |from: u32, session: &str| {
        let ask = call(1, &json!({"name": "t"})).to_string();
        let head = |first: &str, body: &str| {
            let fields = "content-type: application/json\r\ncontent-length";
            format!("{first}\r\n{fields}: {}\r\n\r\n{body}", body.len())
        };
        let first = format!("POST /mcp HTTP/1.1\r\nMcp-Session-Id: {session}");
        let answer = head("HTTP/1.1 200 OK", &answer(1, "x").to_string());
        let raw = vec![
            (from, "c2s", head(&first, &ask).into_bytes()),
            (100 - from, "s2c", answer.into_bytes()),
        ];
        (json!({}), raw)
    };
    let joined = |all: &[(Value, Raw)]| links_of("mcp", all);
    let three = [leg(10, "s"), leg(20, "s"), leg(30, "s")];
    assert_eq!(joined(&three), ["b1 in a1 inferred", "c1 in b1 inferred"]);
    let other = [leg(10, "s"), leg(20, "t"), leg(30, "s")];
    assert_eq!(joined(&other), ["c1 in a1 inferred"]);
}

/// A protocol with its calls: from a time to the same time before 100 ms, with a number and ids.
type Calls = (&'static str, fn(u32, u32, &Value) -> Raw);

#[test]
fn ids_of_traces_join_captures_of_each_protocol() {
    let none = json!({});
    let both = |one: Raw, other: Raw| {
        let mut all = [one, other].concat();
        all.sort_by_key(|(time, ..)| *time);
        all
    };
    let id = |id: &str| json!({"trace_id": id});
    let field = |id: &str| json!({"traceparent": format!("00-{id}-00f067aa0ba902b7-01")});
    let with_headers: [(Calls, [Value; 2], [Value; 2]); 4] = [
        (
            ("sael", sael),
            [child(11, 1), child(21, 11)],
            [id(T), id(U)],
        ),
        (
            ("stepflow", stepflow),
            [child(11, 1), child(21, 11)],
            [id(T), id(U)],
        ),
        (
            ("saikuro", saikuro),
            [child(11, 1), child(21, 11)],
            [id(T), id(U)],
        ),
        (
            ("mcp", posted),
            [proxy(1, 2), proxy(2, 3)],
            [field(T), field(U)],
        ),
    ];
    for ((protocol, made), [first, second], [t, u]) in with_headers {
        let two = |one: &Value, other: &Value| both(made(10, 1, one), made(11, 2, other));
        let joined = |outer: Raw, ids: &Value| {
            links_of(
                protocol,
                &[(first.clone(), outer), (second.clone(), made(20, 3, ids))],
            )
        };
        assert_eq!(joined(two(&t, &u), &t), ["b1 in a1 recorded"], "{protocol}");
        assert_eq!(joined(two(&t, &u), &u), ["b1 in a2 recorded"], "{protocol}");
        let nothing: [&str; 0] = [];
        assert_eq!(
            joined(two(&t, &t), &t),
            nothing,
            "{protocol}: two candidates"
        );
        assert_eq!(joined(two(&t, &u), &none), nothing, "{protocol}: no id");
        // Without headers, one trace is that of one program.
        let plain = [
            (none.clone(), made(10, 1, &t)),
            (none.clone(), made(20, 3, &t)),
        ];
        assert_eq!(links_of(protocol, &plain), nothing, "{protocol}: no header");
        // Another id says that it is another operation, although the process suggests this one.
        assert_eq!(
            joined(made(10, 1, &t), &u),
            nothing,
            "{protocol}: another id"
        );
    }
}

#[test]
fn a_parent_span_joins_captures_without_headers() {
    let none = json!({});
    let span = |span: &str| json!({"trace_id": T, "span_id": span});
    let outer = |one: &str, other: &str| {
        let mut all = [sael(10, 1, &span(one)), sael(11, 2, &span(other))].concat();
        all.sort_by_key(|(time, ..)| *time);
        all
    };
    let (a, b, c) = ("00000000000000a1", "00000000000000a2", "00000000000000a3");
    for (what, spans, ids, wanted) in [
        (
            "of the second",
            (a, b),
            json!({"trace_id": T, "parent_span_id": b}),
            &["b1 in a2 recorded"][..],
        ),
        (
            "two candidates",
            (a, a),
            json!({"trace_id": T, "parent_span_id": a}),
            &[],
        ),
        (
            "of none",
            (a, b),
            json!({"trace_id": T, "parent_span_id": c}),
            &[],
        ),
        (
            "another trace",
            (a, b),
            json!({"trace_id": U, "parent_span_id": a}),
            &[],
        ),
        ("no trace", (a, b), json!({"parent_span_id": a}), &[]),
    ] {
        let recordings = [
            (none.clone(), outer(spans.0, spans.1)),
            (none.clone(), sael(20, 3, &ids)),
        ];
        assert_eq!(links_of("sael", &recordings), wanted, "{what}");
    }
    // Equal spans of two captures: in one trace either may be meant, in two only one is.
    for (other, wanted) in [(T, &[][..]), (U, &["c1 in a1 recorded"])] {
        let recordings = [
            (none.clone(), sael(10, 1, &span(a))),
            (
                none.clone(),
                sael(11, 2, &json!({"trace_id": other, "span_id": a})),
            ),
            (
                none.clone(),
                sael(20, 3, &json!({"trace_id": T, "parent_span_id": a})),
            ),
        ];
        assert_eq!(links_of("sael", &recordings), wanted, "{other}");
    }
}

/// Each line of several files names its file, also without `--merge`; a line of one file does not.
#[test]
fn lines_of_several_files_name_their_file() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/cli/merge");
    let [one, other] = ["planner.jsonl", "search.jsonl"].map(|name| folder.join(name));
    let sources = |paths: &[&PathBuf], more: &[&str]| -> Vec<Option<String>> {
        let mut command = common::wiretool();
        command
            .args(["decode", "-f", "json"])
            .args(more)
            .args(paths);
        let ran = common::run(&mut command, "");
        let lines = ran.1.lines().map(|line| {
            let line: serde_json::Value = serde_json::from_str(line).expect("JSON");
            Some(line["src"].as_str()?.to_owned())
        });
        lines.collect()
    };
    for jobs in ["1", "4"] {
        let both = sources(&[&one, &other], &["--jobs", jobs]);
        for path in [&one, &other] {
            let name = path.display().to_string();
            assert!(both.contains(&Some(name)), "{both:?}");
        }
        assert!(both.iter().all(Option::is_some), "{both:?}");
    }
    let alone = sources(&[&one], &[]);
    assert!(!alone.is_empty() && alone.iter().all(Option::is_none));
}

/// A batch has its kind in each protocol on JSON-RPC, also if its peers refuse it.
#[test]
fn batches_have_a_kind_in_each_protocol() {
    let batch = "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\"}]\n";
    for (protocol, is_refused) in [
        ("oracle", true),
        ("stepflow", true),
        ("mcp", false),
        ("jsonrpc", false),
    ] {
        let mut command = common::wiretool();
        command.args(["decode", "-p", protocol, "-f", "json"]);
        let ran = common::run(&mut command, batch);
        let line: serde_json::Value = serde_json::from_str(&ran.1).expect("JSON");
        assert_eq!(line["kind"], "batch", "{protocol}");
        assert!(line["id"].is_null() && line["subject"].is_null(), "{line}");
        assert_eq!(line["fault"].is_object(), is_refused, "{line}");
    }
}
