//! A binary with one more protocol, and the commands that it has then.
//!
//! This program is both: with `WIRETOOL_QUIZ` in its environment it is that binary, otherwise the test, which runs itself.

#[path = "sixth/quiz.rs"]
mod quiz;

use quiz::Quiz;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

fn main() -> ExitCode {
    if std::env::var_os(SWITCH).is_some() {
        return wiretool::cli::run(std::env::args_os(), &[Box::leak(Box::new(Quiz::default()))]);
    }
    let wanted: Vec<String> = std::env::args()
        .skip(1)
        .filter(|a| !a.starts_with('-'))
        .collect();
    for (name, test) in TESTS {
        if wanted.is_empty() || wanted.iter().any(|part| name.contains(part.as_str())) {
            test();
            println!("test {name} ... ok");
        }
    }
    ExitCode::SUCCESS
}

const SWITCH: &str = "WIRETOOL_QUIZ";
const TESTS: [(&str, fn()); 6] = [
    ("quiz_framing_is_chosen", quiz_framing_is_chosen),
    ("quiz_is_listed_and_detected", quiz_is_listed_and_detected),
    ("quiz_recordings_are_linted", quiz_recordings_are_linted),
    ("quiz_messages_are_made", quiz_messages_are_made),
    ("quiz_stubs_answer_replays", quiz_stubs_answer_replays),
    (
        "quiz_traffic_is_recorded_by_proxy",
        quiz_traffic_is_recorded_by_proxy,
    ),
];

/// A command of the binary: its exit status, and what it printed to stdout and stderr.
fn run(args: &[&str], input: &str) -> (Option<i32>, String, String) {
    let mut command = Command::new(own_path());
    command.args(args).env(SWITCH, "1").env("NO_COLOR", "1");
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().expect("this program runs");
    let mut stdin = child.stdin.take().expect("a pipe");
    // A program that reads no input may have ended already.
    let _ = stdin.write_all(input.as_bytes());
    drop(stdin);
    let output = child.wait_with_output().expect("it ends");
    let text = |bytes| String::from_utf8(bytes).expect("text");
    (
        output.status.code(),
        text(output.stdout),
        text(output.stderr),
    )
}

fn own_path() -> PathBuf {
    std::env::current_exe().expect("the path of this program")
}

/// Writes a recording of questions and answers.
fn recording(folder: &Path, lines: &[(&str, &str)]) -> String {
    let mut text = String::from(
        r#"{"wiretool":1,"protocol":"quiz","started":"2026-01-01T00:00:00Z","transport":"stdio"}"#,
    );
    for (n, (direction, line)) in lines.iter().enumerate() {
        let line = line.replace('"', "\\\"");
        text +=
            &format!("\n{{\"t\":{n},\"conn\":1,\"dir\":\"{direction}\",\"text\":\"{line}\\n\"}}");
    }
    text += "\n";
    let path = folder.join("quiz.jsonl");
    std::fs::write(&path, text).expect("a recording");
    path.to_str().expect("text").to_owned()
}

const ASK: (&str, &str) = ("c2s", r#"{"ask":1,"about":"time"}"#);
const NOON: (&str, &str) = ("s2c", r#"{"answer":1,"is":"noon"}"#);
const UNASKED: (&str, &str) = ("s2c", r#"{"answer":2,"is":"blue"}"#);

fn quiz_is_listed_and_detected() {
    let (code, shown, _) = run(
        &["decode", "-f", "line", "--color", "never"],
        "{\"ask\":1,\"about\":\"time\"}\n",
    );
    assert_eq!(code, Some(0), "{shown}");
    assert!(shown.contains("ask") && shown.contains("time"), "{shown}");
    let (_, _, text) = run(&["decode", "-p", "quizz"], "");
    assert!(text.contains("quiz"), "{text}");
}

fn quiz_framing_is_chosen() {
    let args = [
        "decode",
        "-p",
        "quiz",
        "--framing",
        "quiz-length",
        "-f",
        "json",
    ];
    let stream = "Q\0\0\x18{\"ask\":1,\"about\":\"time\"}";
    let (code, shown, text) = run(&args, stream);
    assert_eq!(code, Some(0), "{shown}{text}");
    assert!(shown.contains(r#""framing":"quiz-length""#), "{shown}");
    let (code, written, text) = run(&["encode"], &shown);
    assert_eq!((code, written.as_str()), (Some(0), stream), "{text}");
    let (_, shown, _) = run(
        &["decode", "-p", "quiz", "--where", "framing=quiz-length"],
        stream,
    );
    assert!(shown.contains("time"), "{shown}");
    let (_, _, text) = run(&["decode", "--framing", "quiz-len"], stream);
    assert!(text.contains("quiz-length"), "{text}");
}

fn quiz_recordings_are_linted() {
    let folder = tempfile::tempdir().expect("a folder");
    let (code, shown, text) = run(
        &["lint", &recording(folder.path(), &[ASK, NOON, UNASKED])],
        "",
    );
    assert_eq!(code, Some(1), "{shown}{text}");
    assert!(
        shown.contains("quiz/unasked") && shown.contains("2 was not asked"),
        "{shown}"
    );
    let (code, shown, text) = run(&["lint", &recording(folder.path(), &[ASK, NOON])], "");
    assert_eq!(code, Some(0), "{shown}{text}");
}

fn quiz_messages_are_made() {
    let (code, made, text) = run(&["make", "quiz", "ask", "time", "--to", "raw"], "");
    assert_eq!(
        (code, made.as_str()),
        (Some(0), "{\"ask\":0,\"about\":\"time\"}\n"),
        "{text}"
    );
}

fn quiz_stubs_answer_replays() {
    let folder = tempfile::tempdir().expect("a folder");
    let recording = &recording(folder.path(), &[ASK, NOON]);
    let own = own_path();
    let own = own.to_str().expect("text");
    let stub = ["--", own, "stub", "quiz", "--from-recording", recording];
    let (code, shown, text) = run(&[&["replay", recording], &stub[..]].concat(), "");
    assert_eq!(code, Some(0), "{shown}{text}");
    assert!(
        text.contains("1 answer compared, 0 differ"),
        "{shown}{text}"
    );
    let (code, shown, text) = run(&[&["send", "quiz", "ask", "time"], &stub[..]].concat(), "");
    assert_eq!(code, Some(0), "{shown}{text}");
    assert!(shown.contains("noon"), "{shown}{text}");
}

fn quiz_traffic_is_recorded_by_proxy() {
    let folder = tempfile::tempdir().expect("a folder");
    let recording = &recording(folder.path(), &[ASK, NOON]);
    let copy = folder.path().join("copy.jsonl");
    let copy = copy.to_str().expect("text");
    let own = own_path();
    let own = own.to_str().expect("text");
    let args = [
        "proxy",
        "-p",
        "quiz",
        "-w",
        copy,
        "--",
        own,
        "stub",
        "quiz",
        "--from-recording",
        recording,
    ];
    let (code, passed, text) = run(&args, "{\"ask\":7,\"about\":\"time\"}\n");
    assert_eq!(
        (code, passed.as_str()),
        (Some(0), "{\"answer\":7,\"is\":\"noon\"}\n"),
        "{text}"
    );
    let (code, shown, text) = run(&["lint", copy], "");
    assert_eq!(code, Some(0), "{shown}{text}");
}
