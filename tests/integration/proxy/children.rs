//! `wiretool record` between a child and its parent process.

use super::common::*;
use rustix::process::Signal;
use std::io::{Read, Write};
use std::path::Path;
use std::process::Stdio;
use std::thread::spawn;
use wiretool::capture::ChunkSource;

/// `wiretool record -p oracle -w RECORDING -- COMMAND`.
fn wrap(recording: &str, child: &[&str]) -> Run {
    Run::new(
        &[
            &["record", "-q", "-p", "oracle", "-w", recording, "--"],
            child,
        ]
        .concat(),
    )
}

fn sh(script: &str) -> Run {
    wrap("/dev/null", &["sh", "-c", script])
}

#[test]
fn every_byte_passes_in_both_directions() {
    let folder = tempfile::tempdir().unwrap();
    for size in [0, 1, 65_536, 65_537, 16 << 20] {
        let recording = folder.path().join(size.to_string());
        let args = [
            "record",
            "-q",
            "-w",
            recording.to_str().unwrap(),
            "--",
            "cat",
        ];
        let mut run = Run::new(&args);
        let bytes = Noise::new(size as u64).bytes(size);
        let sent = bytes.clone();
        let mut stdin = run.stdin.take().unwrap();
        let writer = spawn(move || send(&mut stdin, &sent, 3));
        let (status, out, result) = run.end();
        writer.join().unwrap();
        assert_eq!((status.code(), result.as_str()), (Some(0), ""));
        assert!(out == bytes, "{size} bytes");
        let recording = Recording::read(&recording);
        assert!(recording.bytes(1, ChunkSource::C2s) == bytes);
        assert!(recording.bytes(1, ChunkSource::S2c) == bytes);
        let mut events = recording.events();
        events.sort();
        assert_eq!(events, ["end", "eof c2s", "eof s2c", "exit", "open"]);
    }
}

#[test]
fn first_byte_is_forwarded_alone() {
    let mut run = sh("printf '{'; read x; printf 'done %s' \"$x\"");
    assert_eq!(run.stdout.recv_timeout(LIMIT).unwrap(), b"{");
    run.stdin.as_mut().unwrap().write_all(b"y\n").unwrap();
    let (status, out, result) = run.end();
    assert_eq!(
        (status.code(), out.as_slice(), result.as_str()),
        (Some(0), &b"done y"[..], "")
    );
}

#[test]
fn stderr_is_forwarded_and_recorded_separately() {
    let folder = tempfile::tempdir().unwrap();
    let recording = folder.path().join("r");
    let script = r"printf 'a\033[31m\377\n' >&2; echo out";
    let run = wrap(recording.to_str().unwrap(), &["sh", "-c", script]);
    let stderr = read_all(&run.stderr);
    let (status, out, _) = run.end();
    assert_eq!((status.code(), out.as_slice()), (Some(0), &b"out\n"[..]));
    // The guard prints a log line to `out` after the output of the child.
    assert!(
        stderr.windows(8).any(|w| w == b"a\x1b[31m\xff\n"),
        "{}",
        stderr.escape_ascii()
    );
    let recording = Recording::read(&recording);
    assert_eq!(recording.bytes(1, ChunkSource::Stderr), b"a\x1b[31m\xff\n");
    assert_eq!(recording.bytes(1, ChunkSource::S2c), b"out\n");
}

#[test]
fn status_of_child_is_returned() {
    for code in [0, 1, 2, 7, 101, 255] {
        assert_eq!(sh(&format!("exit {code}")).code(), Some(code));
    }
    for (signal, code) in [("TERM", 143), ("KILL", 137), ("ABRT", 134), ("HUP", 129)] {
        assert_eq!(sh(&format!("kill -{signal} $$")).code(), Some(code));
    }
}

#[test]
fn arguments_of_child_are_not_parsed() {
    let run = Run::new(&[
        "record",
        "-w",
        "/dev/null",
        "--",
        "sh",
        "-c",
        "echo \"$@\"; exit 7",
        "sh",
        "--version",
        "-w",
        "--",
    ]);
    let (status, out, _) = run.end();
    assert_eq!(
        (status.code(), out.as_slice()),
        (Some(7), &b"--version -w --\n"[..])
    );
}

#[test]
fn end_of_stdin_reaches_child() {
    let mut run = sh("cat >/dev/null; echo bye >&2");
    drop(run.stdin.take());
    read_until(&run.stderr, "bye");
    assert_eq!(run.code(), Some(0));
}

#[test]
fn end_of_stdout_is_passed_on_before_exit() {
    let mut run = sh("echo last; exec >&-; read x; exit 3");
    // Ends only because stdout is closed.
    assert_eq!(read_all(&run.stdout), b"last\n");
    run.stdin.as_mut().unwrap().write_all(b"\n").unwrap();
    assert_eq!(run.code(), Some(3));
}

#[test]
fn closed_stdout_reaches_child() {
    let mut command = command(&[
        "record",
        "-w",
        "/dev/null",
        "--",
        "sh",
        "-c",
        "trap '' PIPE; while echo y; do :; done 2>/dev/null; exit 9",
    ]);
    let (reader, writer) = std::io::pipe().unwrap();
    let mut child = command
        .stdin(Stdio::null())
        .stdout(writer)
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    // The process that holds the writing end here ends with the command.
    drop(command);
    let mut reader = reader;
    reader.read_exact(&mut [0; 2]).unwrap();
    drop(reader);
    assert_eq!(child.wait().unwrap().code(), Some(9));
}

#[test]
fn closed_stdin_of_child_reaches_parent() {
    let mut run = sh("exec <&-; echo closed; read x <&1; sleep 60");
    read_until(&run.stdout, "closed");
    let mut stdin = run.stdin.take().unwrap();
    let block = [b'x'; 4096];
    let error = loop {
        if let Err(error) = stdin.write_all(&block) {
            break error;
        }
    };
    assert_eq!(error.kind(), std::io::ErrorKind::BrokenPipe);
    run.signal(Signal::TERM);
    assert_eq!(run.code(), Some(143));
}

#[test]
fn signals_are_forwarded() {
    for (signal, name, code) in [
        (Signal::INT, "INT", 41),
        (Signal::TERM, "TERM", 42),
        (Signal::HUP, "HUP", 43),
        (Signal::USR1, "USR1", 44),
        (Signal::QUIT, "QUIT", 45),
    ] {
        let script = format!(
            "trap 'exit {code}' {name}; echo ready; while :; do read x || sleep 0.05; done"
        );
        let run = sh(&script);
        read_until(&run.stdout, "ready");
        run.signal(signal);
        assert_eq!(run.code(), Some(code), "{name}");
    }
}

#[test]
fn signal_leaves_no_orphan_and_complete_recording() {
    let folder = tempfile::tempdir().unwrap();
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143), (Signal::HUP, 129)] {
        let recording = folder.path().join(code.to_string());
        let run = wrap(
            recording.to_str().unwrap(),
            &["sh", "-c", "echo ready; exec sleep 600"],
        );
        read_until(&run.stdout, "ready");
        let started = children(run.pid());
        assert_eq!(started.len(), 1);
        run.signal(signal);
        assert_eq!(run.code(), Some(code));
        assert!(!is_alive(started[0]), "an orphan");
        assert_eq!(Recording::read(&recording).events().last().unwrap(), "end");
    }
}

#[test]
fn kill_of_wiretool_closes_pipes_of_child() {
    let folder = tempfile::tempdir().unwrap();
    let gone = folder.path().join("gone");
    let script = format!("echo ready; cat >/dev/null; echo over >{}", gone.display());
    let run = sh(&script);
    read_until(&run.stdout, "ready");
    let started = children(run.pid())[0];
    run.signal(Signal::KILL);
    // Its stdin has ended, so it ends; until then its pipe for stderr stays open.
    let pidfd = rustix::process::pidfd_open(
        rustix::process::Pid::from_raw(started.cast_signed()).unwrap(),
        rustix::process::PidfdFlags::empty(),
    );
    if let Ok(pidfd) = pidfd {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};
        let time = Timespec {
            tv_sec: 60,
            tv_nsec: 0,
        };
        poll(&mut [PollFd::new(&pidfd, PollFlags::IN)], Some(&time)).unwrap();
    }
    assert!(!is_alive(started));
    assert_eq!(std::fs::read(&gone).unwrap(), b"over\n");
}

/// An oracle that answers one call.
const ORACLE: &str = r#"echo '{"jsonrpc":"2.0","id":0,"method":"ready"}'; read ack; read call; echo '{"jsonrpc":"2.0","id":0,"result":["0x1"]}'; cat >/dev/null"#;

#[test]
fn kill_after_shutdown_loses_at_most_one_read() {
    let folder = tempfile::tempdir().unwrap();
    for n in 0..20 {
        let recording = folder.path().join(n.to_string());
        let mut run = wrap(recording.to_str().unwrap(), &["sh", "-c", ORACLE]);
        let mut stdin = run.stdin.take().unwrap();
        read_until(&run.stdout, "ready");
        stdin
            .write_all(b"{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{}}\n")
            .unwrap();
        stdin.write_all(b"{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"invoke\",\"params\":{\"selector\":\"f\",\"calldata\":[]}}\n").unwrap();
        read_until(&run.stdout, "0x1");
        stdin
            .write_all(b"{\"jsonrpc\":\"2.0\",\"method\":\"shutdown\"}\n")
            .unwrap();
        run.signal(Signal::KILL);
        assert_eq!(run.code(), None);
        let text = std::fs::read_to_string(&recording).unwrap();
        let whole = text
            .lines()
            .filter(|l| l.ends_with('}'))
            .collect::<Vec<_>>();
        let result = |words: &str| whole.iter().any(|line| line.contains(words));
        assert!(result("invoke") && result("ready"), "{text}");
        // Of the last two reads, the second may not be decoded yet, or may not have happened.
        assert!(result("0x1") || !result("shutdown"), "{text}");
        let decoded = command(&["decode", "-f", "json"])
            .arg(&recording)
            .output()
            .unwrap();
        let notes = String::from_utf8(decoded.stderr).unwrap();
        assert!(notes.contains("has no end line"), "{notes}");
        assert_eq!(decoded.status.code(), Some(0), "{notes}");
    }
}

#[test]
fn unread_stderr_blocks_child_unless_drained() {
    // More than the capacity of all pipes on the path.
    let script = "head -c 400000 /dev/zero >&2; echo done";
    for drain in [false, true] {
        let mut command = command(&["record", "-q", "-w", "/dev/null"]);
        if drain {
            command.arg("--drain-stderr");
        }
        let (mut reader, writer) = std::io::pipe().unwrap();
        command.args(["--", "sh", "-c", script]).stderr(writer);
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        drop(command);
        let mut stdout = child.stdout.take().unwrap();
        if drain {
            assert_eq!(receive(&mut stdout), b"done\n");
            assert_eq!(child.wait().unwrap().code(), Some(0));
            assert!(receive(&mut reader).len() < 400_000);
        } else {
            let out = spawn(move || receive(&mut stdout));
            // It cannot be finished before this is read.
            assert_eq!(receive(&mut reader).len(), 400_000);
            assert_eq!(out.join().unwrap(), b"done\n");
            assert_eq!(child.wait().unwrap().code(), Some(0));
        }
    }
}

#[test]
fn foreign_line_on_stdout_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let script =
        "echo 'warning: deprecated' >&2; sleep 0.2; echo '   Compiling x v0.1.0'; echo more";
    let mut run = Run::new(&["proxy", "-p", "oracle", "--", "sh", "-c", script]);
    drop(run.stdin.take());
    let (status, out, result) = run.end();
    assert_eq!(status.code(), Some(0));
    assert_eq!(out, b"   Compiling x v0.1.0\nmore\n", "nothing is changed");
    assert!(result.contains("offset 0, after 0."), "{result}");
    assert!(
        result.contains(
            "not a message of oracle:    Compiling x v0.1.0; on stderr at that time: warning: deprecated"
        ),
        "{result}"
    );
    assert_eq!(
        result.matches("not a message of oracle").count(),
        1,
        "{result}"
    );
    drop(folder);
}

#[test]
fn quarantine_moves_foreign_lines_to_stderr() {
    let folder = tempfile::tempdir().unwrap();
    let recording = folder.path().join("r");
    let ready = r#"{"jsonrpc":"2.0","id":0,"method":"ready"}"#;
    let script = format!("echo noise; printf '%s' '{ready}'; printf '\\nno end'");
    let args = [
        "proxy",
        "-p",
        "oracle",
        "--quarantine",
        "-w",
        recording.to_str().unwrap(),
        "--",
        "sh",
        "-c",
        &script,
    ];
    let (status, out, result) = Run::new(&args).end();
    assert_eq!(status.code(), Some(0));
    assert_eq!(String::from_utf8(out).unwrap(), format!("{ready}\n"));
    assert!(
        result.contains("noise\n") && result.contains("no end"),
        "{result}"
    );
    let recording = Recording::read(&recording);
    let result = format!("noise\n{ready}\nno end");
    assert_eq!(
        recording.bytes(1, ChunkSource::S2c),
        result.as_bytes(),
        "as the child said it"
    );
    let events = recording.events();
    assert_eq!(
        events.iter().filter(|e| *e == "quarantine s2c").count(),
        2,
        "{events:?}"
    );
}

#[test]
fn hanging_disk_does_not_block_traffic() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("fifo");
    let made = std::process::Command::new("mkfifo")
        .arg(&path)
        .status()
        .unwrap();
    assert!(made.success());
    // Opened for reading, and not read: a write blocks when the pipe is full.
    let opened = path.clone();
    let hung = spawn(move || std::fs::File::open(opened).unwrap());
    let mut run = wrap(path.to_str().unwrap(), &["cat"]);
    let mut stdin = run.stdin.take().unwrap();
    let mut hung = hung.join().unwrap();
    let line = [b'x'; 1000];
    let mut back = 0;
    for _ in 0..20_000 {
        stdin.write_all(&line).unwrap();
        while let Ok(bytes) = run.stdout.try_recv() {
            back += bytes.len();
        }
    }
    drop(stdin);
    back += read_all(&run.stdout).len();
    assert_eq!(back, 20_000_000);
    let (status, _, result) = run.end();
    assert_eq!(status.code(), Some(2), "{result}");
    assert!(
        result.contains("unseen") || result.contains("in time"),
        "{result}"
    );
    assert!(receive(&mut hung).starts_with(b"{\"wiretool\":1"));
}

#[test]
fn failed_start_gives_complete_recording_or_none() {
    let folder = tempfile::tempdir().unwrap();
    let recording = folder.path().join("none.jsonl");
    let name = recording.to_str().unwrap();
    let (status, _, result) = wrap(name, &["/nonexistent/x"]).end();
    assert_eq!(status.code(), Some(2));
    assert!(
        result.contains("cannot run /nonexistent/x: No such file"),
        "{result}"
    );
    let whole = Recording::read(&recording);
    assert_eq!(whole.events(), ["open", "close", "end"]);
    let text = std::fs::read_to_string(&recording).unwrap();
    assert!(
        text.contains("\"error\":\"No such file or directory"),
        "{text}"
    );
    // A wrong usage creates no file.
    let other = folder.path().join("other.jsonl");
    let name = other.to_str().unwrap();
    for wrong in [
        &["--quarantine", "--fault", "any: drop"][..],
        &["--quarantine", "-p", "saikuro"],
        &["--fault-file", "/nonexistent/faults.toml"],
    ] {
        let args = [
            &["record", "-p", "oracle", "-w", name],
            wrong,
            &["--", "cat"],
        ]
        .concat();
        let (status, _, result) = Run::new(&args).end();
        assert_eq!(status.code(), Some(2), "{result}");
        assert!(!other.exists(), "{wrong:?}: {result}");
    }
}

#[test]
fn view_of_child_is_written_to_requested_file() {
    let folder = tempfile::tempdir().unwrap();
    let view = folder.path().join("view");
    let mut run = Run::new(&[
        "proxy",
        "-p",
        "oracle",
        "--view",
        view.to_str().unwrap(),
        "--",
        "sh",
        "-c",
        ORACLE,
    ]);
    let mut stdin = run.stdin.take().unwrap();
    read_until(&run.stdout, "ready");
    stdin.write_all(b"{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{}}\n{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"invoke\",\"params\":{\"selector\":\"f\",\"calldata\":[]}}\n").unwrap();
    read_until(&run.stdout, "0x1");
    drop(stdin);
    assert_eq!(run.code(), Some(0));
    let shown = std::fs::read_to_string(Path::new(&view)).unwrap();
    let messages = shown
        .lines()
        .filter(|line| line.contains(" c1 ") && line.contains('#'));
    assert_eq!(messages.count(), 4, "{shown}");
    // The executor closed its end without a message.
    assert!(shown.contains("oracle/no-shutdown"), "{shown}");
    for kind in ["ready", "ack", "invoke", "result"] {
        assert!(shown.contains(kind), "{shown}");
    }
}

/// Output of a process that the child started, after the end of the child, is forwarded, or the exit says that it is not.
#[test]
fn output_of_other_processes_after_exit_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let gate = folder.path().join("gate");
    let made = std::process::Command::new("mkfifo").arg(&gate).status();
    assert!(made.unwrap().success());
    let script = format!("(read x <{}; echo late) & echo now", gate.display());
    for limit in [None, Some("50ms")] {
        let recording = folder.path().join(format!("{limit:?}"));
        let mut args = vec!["record", "-w", recording.to_str().unwrap()];
        args.extend(limit.into_iter().flat_map(|limit| ["--keep-open", limit]));
        args.extend(["--", "sh", "-c", &script]);
        let run = Run::new(&args);
        read_until(&run.stdout, "now");
        let open = || std::fs::File::options().write(true).open(&gate).unwrap();
        if limit.is_none() {
            crate::common::wait_until("its end", || children(run.pid()).is_empty());
            open().write_all(b"x\n").unwrap();
            read_until(&run.stdout, "late");
            assert_eq!(run.code(), Some(0));
        } else {
            let (status, out, result) = run.end();
            assert_eq!((status.code(), out.as_slice()), (Some(0), &b""[..]));
            assert!(result.contains("keeps its stdout open"), "{result}");
            open().write_all(b"x\n").unwrap();
        }
        let text = std::fs::read_to_string(&recording).unwrap();
        let is_said = text.contains(r#""open":["stdout","stderr"]"#);
        assert_eq!(is_said, limit.is_some(), "{text}");
        // Nothing is known to be lost.
        assert!(!text.contains(r#""event":"lost""#), "{text}");
    }
}

/// A launcher that dies of the signal leaves its child a moment to end: no bytes are missing.
#[test]
fn child_of_a_stopped_launcher_may_end() {
    let folder = tempfile::tempdir().unwrap();
    let recording = folder.path().join("r.jsonl");
    let script = "(while kill -0 $$ 2>/dev/null; do sleep 0.05; done; echo last) & \
                  trap 'exit 143' TERM; echo ready; wait";
    let name = recording.to_str().unwrap();
    let run = Run::new(&["record", "-w", name, "--", "sh", "-c", script]);
    read_until(&run.stdout, "ready");
    run.signal(Signal::TERM);
    read_until(&run.stdout, "last");
    assert_eq!(run.code(), Some(143));
    let text = std::fs::read_to_string(&recording).unwrap();
    assert!(text.contains("last\\n"), "{text}");
    assert!(
        !text.contains(r#""open":["#) && !text.contains(r#""event":"lost""#),
        "{text}"
    );
}

#[test]
fn operations_of_live_traffic_show_when_they_end() {
    let folder = tempfile::tempdir().unwrap();
    let recording = folder.path().join("r");
    let recording = recording.to_str().unwrap();
    let script =
        r#"read a; echo '{"jsonrpc":"2.0","id":1,"result":{"content":[]}}'; read b; read c"#;
    let child = ["--", "sh", "-c", script];
    let args = [
        "record", "-q", "-p", "mcp", "--ops", "-f", "json", "-w", recording,
    ];
    let mut run = Run::new(&[&args[..], &child].concat());
    let mut stdin = run.stdin.take().unwrap();
    let call = |id: u32, name: &str| {
        let params = format!(r#"{{"name":"{name}","arguments":{{}}}}"#);
        format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{params}}}"#) + "\n"
    };
    stdin.write_all(call(1, "find").as_bytes()).unwrap();
    // The first operation shows before the second one begins.
    let first = run.stderr.recv_timeout(LIMIT).unwrap();
    stdin.write_all(call(2, "look").as_bytes()).unwrap();
    drop(stdin);
    let stderr = [first, read_all(&run.stderr)].concat();
    run.end();
    let lines = String::from_utf8(stderr).unwrap();
    let ended: Vec<String> = lines
        .lines()
        .map(|line| {
            let one: serde_json::Value = serde_json::from_str(line).unwrap();
            format!(
                "{} {} {} {}",
                one["op"], one["name"], one["state"], one["messages"]
            )
        })
        .collect();
    assert_eq!(ended, [r#"0 "find" "answered" 2"#, r#"2 "look" "open" 1"#]);
    // Other formats have no operations.
    let (status, _, result) = Run::new(&[&args[..5], &["-f", "tree"], &child[..]].concat()).end();
    assert_eq!(status.code(), Some(2));
    let wanted = "wiretool: --ops shows lines, or objects with -f json\n";
    assert_eq!(result, wanted);
}
