//! `record --rotate`: the files, their names, the set as one recording, a later file alone.

use crate::common::{self, Ran};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;

/// Runs a command in a folder, with this input.
fn run(folder: &Path, args: &[&str], input: &str) -> Ran {
    let mut command = common::wiretool();
    command
        .args(args)
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // Separate reads are separate batches of the recorder.
    for line in input.split_inclusive('\n') {
        let _ = stdin.write_all(line.as_bytes());
        std::thread::sleep(std::time::Duration::from_millis(8));
    }
    drop(stdin);
    common::outcome_of(&child.wait_with_output().unwrap())
}

/// Requests whose answers the child writes: that of the second one after all others.
const CHILD: &str = r#"
late=
while read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  [ -z "$id" ] && continue
  answer="{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":{}}"
  if [ "$id" = 2 ]; then late=$answer; else printf '%s\n' "$answer"; fi
done
printf '%s\n' "$late"
"#;

fn requests(count: u64) -> String {
    let mut text = String::new();
    for id in 1..=count {
        let request = json!({"jsonrpc": "2.0", "id": id, "method": "work", "params": {"n": id}});
        writeln!(text, "{request}").unwrap();
    }
    text
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

fn rows(folder: &Path, files: &[&str]) -> Vec<Value> {
    let args = [&["decode", "-q", "-f", "json", "--lint"], files].concat();
    let (_, out, err) = run(folder, &args, "");
    assert_eq!(err, "");
    out.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn a_recording_goes_on_in_other_files() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let args = [
        "record",
        "-q",
        "-p",
        "jsonrpc",
        "-w",
        "calls.jsonl",
        "--rotate",
        "1K",
        "--",
        "sh",
        "-c",
        CHILD,
    ];
    let (code, _, err) = run(folder, &args, &requests(30));
    assert_eq!(code, 0, "{err}");
    let paths = files(folder);
    assert!(paths.len() > 3, "{paths:?}");
    let names: Vec<_> = paths
        .iter()
        .map(|path| path.file_name().unwrap().to_str().unwrap())
        .collect();
    for (n, (path, name)) in paths.iter().zip(&names).enumerate() {
        assert_eq!(*name, format!("calls-{:06}.jsonl", n + 1));
        let text = std::fs::read_to_string(path).unwrap();
        let lines: Vec<Value> = text
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        assert_eq!(lines[0]["part"], n + 1);
        assert_eq!(lines[1]["event"] == "continued", n > 0);
        let last = lines.last().unwrap();
        assert_eq!(last["event"], "end");
        assert_eq!(last.get("continued").is_some(), n + 1 < paths.len());
    }

    let all = rows(folder, &names);
    assert_eq!(all.len(), 60);
    let indexes: Vec<_> = all
        .iter()
        .map(|row| row["index"].as_u64().unwrap())
        .collect();
    assert!(indexes.iter().copied().eq(0..60));
    let late = &all[59];
    assert_eq!(late["id"], 2);
    let request = all.iter().find(|row| row["id"] == 2).unwrap();
    assert_eq!(late["reply_to"], request["index"]);
    let (code, out, _) = run(
        folder,
        &[&["lint", "--fail-on", "warning"], names.as_slice()].concat(),
        "",
    );
    assert_eq!(code, 0, "{out}");

    // The last file with messages alone: the answer finds its request, and no message has another number.
    let alone = |name: &&str| run(folder, &["decode", "-f", "json", "--lint", *name], "");
    let mut from_last = names.iter().rev().map(alone);
    let alone = from_last.find(|(_, out, _)| !out.is_empty()).unwrap();
    assert_eq!(alone.0, 0);
    assert!(alone.2.contains("earlier files"), "{}", alone.2);
    let last: Value = serde_json::from_str(alone.1.lines().last().unwrap()).unwrap();
    for key in ["index", "offset", "reply_to", "of", "time", "latency_ms"] {
        assert_eq!(last[key], late[key], "{key}");
    }
    assert!(
        !alone.1.contains("\"fault\"") && !alone.1.contains("unasked"),
        "{}",
        alone.1
    );
    // Files whose names do not sort in order, because the clock was set back, are read in the order of their numbers.
    let mut reversed = names.clone();
    reversed.reverse();
    assert_eq!(rows(folder, &reversed), all);
    // A set that lacks a file is two recordings.
    let without_second = [names[0], names[2]];
    let (_, out, _) = run(
        folder,
        &[&["decode", "-q", "-f", "json"], &without_second[..]].concat(),
        "",
    );
    assert!(!out.contains("\"fault\""), "{out}");
}

#[test]
fn names_have_host_and_time() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let args = [
        "record",
        "-p",
        "jsonrpc",
        "-w",
        "c-{host}-{time}.jsonl",
        "--rotate",
        "1K",
        "--",
        "sh",
        "-c",
        CHILD,
    ];
    let (code, ..) = run(folder, &args, &requests(20));
    assert_eq!(code, 0);
    let paths = files(folder);
    assert!(paths.len() > 2);
    for (n, path) in paths.iter().enumerate() {
        let name = path.file_name().unwrap().to_str().unwrap();
        let text = std::fs::read_to_string(path).unwrap();
        let header: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
        let start = format!("c-{}-2", header["host"].as_str().unwrap());
        assert!(
            name.starts_with(&start) && name.ends_with("Z.jsonl"),
            "{name}"
        );
        assert_eq!(header["part"], n + 1, "names sort in order");
    }
}

#[test]
fn wrong_limits_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    for (limit, wanted) in [
        ("0M", "a size or a time"),
        ("x", "a size or a time"),
        ("1ms", "at least 1s"),
    ] {
        let (code, _, err) = run(
            folder.path(),
            &["record", "--rotate", limit, "--", "true"],
            "",
        );
        assert_eq!(code, 2);
        assert!(err.contains(wanted), "{err}");
    }
    let args = ["proxy", "--rotate", "1M", "--", "true"];
    let (code, _, err) = run(folder.path(), &args, "");
    assert_eq!(code, 2);
    assert!(err.contains("-w FILE"), "{err}");
}

/// The next file has a message that is cut at the end of a file.
#[test]
fn a_cut_message_is_in_the_next_file_only() {
    let folder = tempfile::tempdir().unwrap();
    for (end, code, count) in [(r#","continued":true"#, 0, 1), ("", 1, 2)] {
        let text = format!(
            "{}\n{}\n{{\"t\":2,\"event\":\"end\",\"chunks\":1,\"bytes\":{{\"c2s\":68,\"s2c\":0}}{end}}}\n",
            r#"{"wiretool":1,"protocol":"jsonrpc","started":"2026-01-01T00:00:00Z","part":1}"#,
            r#"{"t":1,"conn":1,"dir":"c2s","text":"{\"jsonrpc\":\"2.0\",\"method\":\"a\"}\n{\"jsonrpc\":\"2.0\",\"met"}"#,
        );
        std::fs::write(folder.path().join("calls.jsonl"), text).unwrap();
        let (got, out, err) = run(folder.path(), &["decode", "-f", "json", "calls.jsonl"], "");
        assert_eq!((got, out.lines().count()), (code, count), "{out}{err}");
    }
}
