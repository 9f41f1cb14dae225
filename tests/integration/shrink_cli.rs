//! `wiretool shrink`: the smallest recording for which a command still fails.

use crate::common::{file, run, stdout, temporary, wiretool};
use std::path::Path;

/// A session of six requests on two connections; the answer to `three` has an error.
fn session(folder: &Path) -> String {
    let mut lines = vec![r#"{"wiretool":1,"protocol":"jsonrpc"}"#.to_owned()];
    for (n, method) in ["one", "two", "three", "four", "five", "six"]
        .into_iter()
        .enumerate()
    {
        let conn = 1 + n / 3;
        let text = format!(r#"{{\"jsonrpc\":\"2.0\",\"id\":{n},\"method\":\"{method}\"}}\n"#);
        lines.push(format!(
            r#"{{"t":{},"conn":{conn},"dir":"c2s","text":"{text}"}}"#,
            10 * n
        ));
        let result = if method == "three" {
            r#"\"error\":{\"code\":-32000,\"message\":\"broken pump\"}"#
        } else {
            r#"\"result\":true"#
        };
        let text = format!(r#"{{\"jsonrpc\":\"2.0\",\"id\":{n},{result}}}\n"#);
        lines.push(format!(
            r#"{{"t":{},"conn":{conn},"dir":"s2c","text":"{text}"}}"#,
            10 * n + 5
        ));
    }
    file(folder, "session.jsonl", lines.join("\n") + "\n")
}

fn methods(recording: &str) -> String {
    let decoded = wiretool()
        .args(["decode", "-f", "json", recording])
        .output()
        .unwrap();
    let lines = stdout(&decoded);
    let lines = lines.lines().map(|line| {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        format!("{} {}", line["kind"].as_str().unwrap(), line["id"])
    });
    lines.collect::<Vec<_>>().join(", ")
}

#[test]
fn a_command_gets_smaller_recordings_until_it_does_not_fail() {
    let folder = tempfile::tempdir_in(temporary()).unwrap();
    let session = session(folder.path());
    let own = env!("CARGO_BIN_EXE_wiretool");
    let small = folder.path().join("small.jsonl").display().to_string();
    let rows: [(&[&str], &str, &str); 4] = [
        // The text of the output.
        (
            &["--match", "broken pump", "--", own, "decode", "{}"],
            "error 2",
            "the output has \"broken pump\"",
        ),
        // The exit code; without {}, the file is the last argument.
        (
            &["--", "sh", "-c", "! grep -q four $0"],
            "request 3",
            "the command exits with 1",
        ),
        // A signal.
        (
            &["--", "sh", "-c", "grep -q five {} && kill -9 $$"],
            "request 4",
            "signal 9 ends the command",
        ),
        // The time.
        (
            &[
                "--max-time",
                "200ms",
                "--",
                "sh",
                "-c",
                "grep -q six {} && sleep 60",
            ],
            "request 5",
            "the command does not end in time",
        ),
    ];
    for (args, wanted, said) in rows {
        let mut command = wiretool();
        command.args(["shrink", &session, "-o", &small]).args(args);
        let (code, out, err) = run(&mut command, b"");
        assert_eq!((code, out.as_str()), (0, ""), "{err}");
        assert!(err.contains(said), "{err}");
        assert!(
            err.contains("1 of 12 messages, 1 of 2 connections"),
            "{err}"
        );
        assert_eq!(methods(&small), wanted);
    }
}

/// `lint` of a recording without traffic is an error of its own, so it is no smaller failure.
#[test]
fn a_finding_of_lint_is_a_failure() {
    let folder = tempfile::tempdir_in(temporary()).unwrap();
    let session = session(folder.path());
    let orphan =
        r#"{"t":99,"conn":1,"dir":"s2c","text":"{\"jsonrpc\":\"2.0\",\"id\":77,\"result\":1}\n"}"#;
    let text = std::fs::read_to_string(&session).unwrap() + orphan + "\n";
    let session = file(folder.path(), "orphan.jsonl", text);
    let small = folder.path().join("small.jsonl").display().to_string();
    let own = env!("CARGO_BIN_EXE_wiretool");
    let mut command = wiretool();
    command.args(["shrink", &session, "-o", &small, "--", own, "lint"]);
    let (code, _, err) = run(command.args(["--fail-on", "warning", "{}"]), b"");
    assert_eq!(code, 0, "{err}");
    // Without any request, the capture could begin after it.
    assert_eq!(methods(&small), "request 2, response 77");
}

#[test]
fn a_command_that_does_not_fail_is_an_answer() {
    let folder = tempfile::tempdir_in(temporary()).unwrap();
    let session = session(folder.path());
    let rows: [(&[&str], i32, &str); 6] = [
        (
            &["--", "true"],
            1,
            "the command does not fail: it exits with 0",
        ),
        (
            &["--match", "no such text", "--", "cat"],
            1,
            "its output never has \"no such text\"",
        ),
        (&["--", "false"], 1, "it does not depend on the recording"),
        (&["--", "/none/such"], 2, "cannot start /none/such"),
        (&[], 2, "COMMAND"),
        (&["--replay", "--", "server", "{}"], 2, "which gets no file"),
    ];
    for (args, wanted, said) in rows {
        let (code, out, err) = run(wiretool().args(["shrink", &session]).args(args), b"");
        assert_eq!((code, out.as_str()), (wanted, ""), "{err}");
        assert!(err.contains(said), "{err}");
    }
}

#[test]
fn a_recording_is_replayed_against_a_peer_that_answers_differently() {
    let folder = tempfile::tempdir_in(temporary()).unwrap();
    let session = session(folder.path());
    let small = folder.path().join("small.jsonl").display().to_string();
    // The peer has the same answers, apart from that to `two`.
    let rules = "[[on]]\nmatch = 'subject=two'\nresult = false\n\
                 [[on]]\nmatch = 'subject=three'\nerror = { code = -32000, message = \"broken pump\" }\n\
                 [[on]]\nmatch = 'role=request'\nresult = true\n";
    let script = file(folder.path(), "peer.toml", rules);
    let own = env!("CARGO_BIN_EXE_wiretool");
    let mut command = wiretool();
    command.args(["shrink", &session, "-o", &small, "--replay", "--runs", "2"]);
    command.args(["--", own, "stub", "jsonrpc", "--script", &script]);
    let (code, _, err) = run(&mut command, b"");
    assert_eq!(code, 0, "{err}");
    assert!(
        err.contains("the command exits with 1, 2 of 2 times"),
        "{err}"
    );
    assert_eq!(methods(&small), "request 1, response 1");
}
