//! Outputs of the proxy: recordings and views.

use super::common::*;
use rustix::process::Signal;
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt as _;
use wiretool::capture::{ChunkSource, Record};

const CALL: &str = "0000004185a776657273696f6e01a474797065a463616c6ca26964c410a1b2c3d4e5f67890abcdef1234567890a6746172676574a86d6174682e616464a461726773920203";
const ANSWER: &str = "0000002283a26964c410a1b2c3d4e5f67890abcdef1234567890a26f6bc3a6726573756c7405";

/// A call and its answer through a proxy with these flags. Returns exit code, stdout, stderr.
fn call(command: &str, more: &[&str]) -> (Option<i32>, String, String) {
    let (address, server) = tcp(|mut stream| {
        let mut call = vec![0; CALL.len() / 2];
        stream.read_exact(&mut call).unwrap();
        stream.write_all(&hex::decode(ANSWER).unwrap()).unwrap();
    });
    let more: Vec<&str> = [&["-p", "saikuro", "--once"], more].concat();
    let (run, port) = Run::proxy(command, &address, &more);
    let mut client = connect_to_port(port);
    client.write_all(&hex::decode(CALL).unwrap()).unwrap();
    client.end();
    assert_eq!(receive(&mut client), hex::decode(ANSWER).unwrap());
    server.join().unwrap();
    let (status, out, sent) = run.end();
    (status.code(), String::from_utf8(out).unwrap(), sent)
}

#[test]
fn recording_equals_the_traffic() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.jsonl");
    let name = path.to_str().unwrap();
    let (code, out, sent) = call("record", &["-w", name]);
    assert_eq!((code, out.as_str()), (Some(0), ""));
    assert!(sent.contains("1 connection\n"), "{sent}");
    let mode = path.metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let recording = Recording::read(&path);
    assert_eq!(
        recording.bytes(1, ChunkSource::C2s),
        hex::decode(CALL).unwrap()
    );
    assert_eq!(
        recording.bytes(1, ChunkSource::S2c),
        hex::decode(ANSWER).unwrap()
    );
    assert_eq!(
        recording.events(),
        ["open", "eof c2s", "eof s2c", "close", "end"]
    );
    let Record::Header(header) = &recording.0[0] else {
        panic!("{:?}", recording.0[0])
    };
    assert_eq!(header.protocol.as_deref(), Some("saikuro"));
    assert_eq!(header.transport.as_deref(), Some("tcp"));
    assert!(header.listen.is_some() && header.connect.is_some());
    let mut last = 0;
    for record in &recording.0[1..] {
        let t = match record {
            Record::Chunk { t, .. } => *t,
            Record::Event(event) => event.t,
            Record::Header(_) => panic!("a second header"),
        };
        assert!(t >= last, "time goes on");
        last = t;
    }
    let decoded = command(&["decode", "-f", "json", name]).output().unwrap();
    let text = String::from_utf8(decoded.stdout).unwrap();
    assert_eq!((decoded.status.code(), text.lines().count()), (Some(0), 2));
    assert!(
        decoded.stderr.is_empty(),
        "it ended in order: nothing to note"
    );
}

#[test]
fn recording_is_never_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let record = |name: &str| {
        let name = folder.path().join(name);
        let (code, _, sent) = call("record", &["-w", name.to_str().unwrap()]);
        assert_eq!(code, Some(0), "{sent}");
    };
    std::fs::write(folder.path().join("r"), "mine").unwrap();
    for name in ["r", "r", "n-{n}.jsonl", "n-{n}.jsonl", "p-{pid}"] {
        record(name);
    }
    assert_eq!(std::fs::read(folder.path().join("r")).unwrap(), b"mine");
    let entries = std::fs::read_dir(folder.path()).unwrap();
    let names = entries.map(|e| e.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.filter(|n| !n.starts_with("p-")).collect();
    names.sort();
    assert_eq!(names, ["n-1.jsonl", "n-2.jsonl", "r", "r.1", "r.2"]);
}

#[test]
fn view_shows_each_message_with_time() {
    let (code, out, sent) = call("proxy", &[]);
    assert_eq!(code, Some(0));
    assert!(sent.contains("1 connection, 2 messages\n"), "{sent}");
    let lines: Vec<&str> = out.lines().collect();
    let [opened, asked, answered, closed] = lines[..] else {
        panic!("{out}")
    };
    assert!(asked.contains(" → ") && asked.contains("math.add"), "{out}");
    assert!(
        answered.contains(" ← ") && answered.contains("response"),
        "{out}"
    );
    assert!(opened.contains(" c1 opened"), "{out}");
    assert!(closed.ends_with(" c1 closed"), "{out}");
    let time = asked.split_whitespace().find(|word| word.contains(':'));
    let time = time.unwrap().as_bytes();
    assert!(
        time[2] == b':' && time[5] == b':' && time[8] == b'.',
        "{out}"
    );
    assert!(
        [" ns ", " µs ", " ms ", " s "]
            .iter()
            .any(|unit| answered.contains(unit)),
        "{out}"
    );
    // In JSON, and to another file.
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("view");
    let (code, out, _) = call("proxy", &["-f", "json", "--view", file.to_str().unwrap()]);
    assert_eq!((code, out.as_str()), (Some(0), ""));
    let text = std::fs::read_to_string(&file).unwrap();
    let lines = text
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let lines: Vec<_> = lines.collect();
    assert_eq!(lines[0]["subject"], "math.add");
    assert!(lines[0]["time"].is_string() && lines[0].get("latency_ms").is_none());
    assert!(lines[1]["latency_ms"].is_f64());
    let (code, out, sent) = call("proxy", &["--view", "stderr"]);
    assert_eq!((code, out.as_str()), (Some(0), ""));
    assert!(sent.contains("math.add"), "{sent}");
    let (_, out, sent) = call("proxy", &["-q"]);
    assert_eq!((out.as_str(), sent.as_str()), ("", ""));
}

#[test]
fn view_is_shown_immediately() {
    let (run, port) = Run::proxy("proxy", &echo_server(), &["-p", "saikuro"]);
    let mut client = connect_to_port(port);
    client.write_all(&hex::decode(CALL).unwrap()).unwrap();
    // The connection is still open.
    read_until(&run.stdout, "math.add");
    run.signal(Signal::INT);
    assert_eq!(run.code(), Some(130));
}

#[test]
fn faults_are_counted_and_change_no_bytes() {
    let (run, port) = Run::proxy("proxy", &echo_server(), &["-p", "oracle", "--once"]);
    let mut client = connect_to_port(port);
    client.write_all(b"no message\n").unwrap();
    client.end();
    assert_eq!(receive(&mut client), b"no message\n");
    let (status, out, sent) = run.end();
    assert_eq!(status.code(), Some(0));
    assert!(sent.contains("2 messages, 2 with faults"), "{sent}");
    assert!(String::from_utf8(out).unwrap().contains("oracle/not-json"));
}

#[test]
fn websocket_and_http_on_tcp_are_decoded() {
    let request = b"POST / HTTP/1.1\r\ncontent-length: 54\r\n\r\n{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":\"components/list\"}\n";
    let event = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\ndata: {\"jsonrpc\":\"2.0\",\"id\":\"a\",\"result\":{}}\n\n";
    let (address, server) = tcp(|mut stream| {
        stream.read_exact(&mut vec![0; request.len()]).unwrap();
        stream.write_all(event).unwrap();
        stream
    });
    let (run, port) = Run::proxy("proxy", &address, &["-p", "stepflow"]);
    let mut client = connect_to_port(port);
    client.write_all(request).unwrap();
    // The event stream is open, and the event is shown.
    let mut got = vec![0; event.len()];
    client.read_exact(&mut got).unwrap();
    assert_eq!(got, event);
    let shown = read_until(&run.stdout, " response ");
    assert!(
        shown.contains("components/list") && shown.contains("http-response"),
        "{shown}"
    );
    drop(server.join().unwrap());
    run.signal(Signal::TERM);
    assert_eq!(run.code(), Some(143));
}

#[test]
fn full_disk_is_reported_once_and_traffic_continues() {
    let folder = tempfile::tempdir().unwrap();
    let limited = folder.path().join("r.jsonl").display().to_string();
    // A full device, and a file with a size limit.
    for (limit, path) in [("", "/dev/full"), ("ulimit -f 4; ", limited.as_str())] {
        let script = format!("{limit}exec \"$@\"");
        let mut shell = crate::common::shell("sh");
        shell.args([
            "-c", &script, "sh", "wiretool", "record", "--once", "-w", path,
        ]);
        shell.args(["--listen", "tcp://127.0.0.1:0", "--connect", &echo_server()]);
        let run = Run::from_command(shell);
        let first = read_until(&run.stderr, "recording to");
        let (_, port) = first.split_once("tcp://127.0.0.1:").unwrap();
        let mut client = connect_to_port(port.split(',').next().unwrap().parse().unwrap());
        for n in 0..100 {
            client.write_all(&[n]).unwrap();
            let mut back = [0];
            client.read_exact(&mut back).unwrap();
            assert_eq!(back, [n]);
        }
        drop(client);
        let (status, _, rest) = run.end();
        let sent = first + &rest;
        assert_eq!(status.code(), Some(2), "{sent}");
        let reported = format!("cannot write the recording {path}");
        assert_eq!(sent.matches(&reported).count(), 1, "{sent}");
    }
    let decoded = command(&["decode", "-p", "oracle", &limited])
        .output()
        .unwrap();
    let sent = String::from_utf8(decoded.stderr).unwrap();
    assert!(sent.contains("has no end line"), "{sent}");
}

#[test]
fn closed_view_is_no_error() {
    let (address, server) = tcp(|mut stream| receive(&mut stream));
    let (mut run, port) = Run::proxy("proxy", &address, &["-p", "saikuro", "--once"]);
    // Its stdout is closed by the reader.
    let (_, nobody) = std::sync::mpsc::channel();
    let stdout = std::mem::replace(&mut run.stdout, nobody);
    let mut client = connect_to_port(port);
    client.write_all(&hex::decode(CALL).unwrap()).unwrap();
    read_until(&stdout, "math.add");
    drop(stdout);
    for _ in 0..100 {
        client.write_all(&hex::decode(CALL).unwrap()).unwrap();
    }
    client.end();
    assert_eq!(receive(&mut client), b"");
    assert_eq!(server.join().unwrap().len(), 101 * CALL.len() / 2);
    assert_eq!(run.code(), Some(0));
}

#[test]
fn killed_proxy_leaves_incomplete_recording() {
    let folder = tempfile::tempdir().unwrap();
    let server = echo_server();
    for n in 0..20 {
        let path = folder.path().join(n.to_string());
        let (run, port) = Run::proxy(
            "record",
            &server,
            &["-p", "saikuro", "-w", path.to_str().unwrap()],
        );
        let mut client = connect_to_port(port);
        let call = hex::decode(CALL).unwrap();
        for _ in 0..=n * 20 {
            client.write_all(&call).unwrap();
            client.read_exact(&mut vec![0; call.len()]).unwrap();
        }
        client.write_all(&call.repeat(1000)).unwrap();
        run.signal(Signal::KILL);
        assert_eq!(run.code(), None);
        let decoded = command(&["decode", "-f", "json"])
            .arg(&path)
            .output()
            .unwrap();
        let sent = String::from_utf8(decoded.stderr).unwrap();
        assert!(sent.contains("has no end line"), "{sent}");
        // Only the truncated message has a fault.
        let text = String::from_utf8(decoded.stdout).unwrap();
        let faults = text
            .lines()
            .filter(|line| line.contains("\"fault\""))
            .count();
        assert!(faults <= 2 && !sent.contains("error"), "{sent}");
    }
}

#[test]
fn broken_rule_is_the_exit_code_with_lint() {
    let noise = ["-p", "oracle", "--once", "--lint"];
    for (more, code) in [
        (&[][..], 1),
        (&["--fail-on", "error"][..], 1),
        (&["--fail-on", "never"][..], 0),
    ] {
        let args = [&noise[..], more].concat();
        let (run, port) = Run::proxy("proxy", &echo_server(), &args);
        let mut client = connect_to_port(port);
        client.write_all(b"no message\n").unwrap();
        client.end();
        assert_eq!(receive(&mut client), b"no message\n");
        let (status, _, sent) = run.end();
        assert_eq!(status.code(), Some(code), "{sent}");
        assert!(sent.contains("findings"), "{sent}");
    }
    // The verdict takes precedence over the exit code of the child.
    let ready = r#"printf '{"jsonrpc":"2.0","id":0,"method":"reddy"}\n'; exit 7"#;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.jsonl").display().to_string();
    let args = ["record", "-w", &path, "-p", "oracle", "--lint"];
    for (more, code) in [(&[][..], 1), (&["--fail-on", "never"][..], 7)] {
        let child = ["--", "sh", "-c", ready];
        let args = [&args[..], more, &child[..]].concat();
        let (status, _, sent) = Run::new(&args).end();
        assert_eq!(status.code(), Some(code), "{sent}");
        assert!(sent.contains("oracle/first-not-ready"), "{sent}");
    }
}

/// Every kind of output path with every command that writes: it works, or one sentence gives the reason and the exit
/// code is 2.
#[test]
fn every_output_path_works_or_gives_one_error() {
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("input.hex");
    std::fs::write(&input, format!("> {CALL}\n")).unwrap();
    let input = input.to_str().unwrap();
    let proxy = ["--connect", "tcp://127.0.0.1:1", "--idle", "1ms"];
    let listen = ["--listen", "tcp://127.0.0.1:0", "--idle", "1ms"];
    let reads = ["-p", "saikuro", "--from", "hex", input];
    let commands: [(&str, &[&str], &str); 8] = [
        ("decode", &reads, "-o"),
        ("lint", &reads, "-o"),
        ("stat", &reads, "-o"),
        ("diff", &[&reads[..], &[input]].concat(), "-o"),
        ("record", &proxy, "-w"),
        ("proxy", &[&proxy[..], &["-p", "saikuro"]].concat(), "-w"),
        (
            "proxy",
            &[&proxy[..], &["-p", "saikuro"]].concat(),
            "--view",
        ),
        ("stub", &[&["saikuro"], &listen[..]].concat(), "-w"),
    ];
    for (n, (name, more, flag)) in commands.iter().enumerate() {
        let place = folder.path().join(n.to_string());
        std::fs::create_dir_all(place.join("folder")).unwrap();
        std::fs::write(place.join("old"), "old").unwrap();
        let made = std::process::Command::new("mkfifo")
            .arg(place.join("fifo"))
            .status();
        assert!(made.unwrap().success());
        for (path, good) in [
            ("new", Some(true)),
            ("old", Some(true)),
            ("/dev/null", Some(true)),
            ("folder", Some(false)),
            ("missing/file", Some(false)),
            // Nobody reads it.
            ("fifo", Some(false)),
            // A recording is refused if stdout shows other output.
            ("-", None),
            // Without findings, traffic or differences, no output is required.
            (
                "/dev/full",
                matches!(*name, "decode" | "stat").then_some(false),
            ),
        ] {
            let mut command = command(&[&[*name][..], more, &[flag, path]].concat());
            let output = command
                .current_dir(&place)
                .stdin(std::process::Stdio::null())
                .output();
            let output = output.unwrap();
            let sent = String::from_utf8(output.stderr).unwrap();
            let code = output.status.code();
            let what = format!("{name} {flag} {path}: {code:?} {sent}");
            assert!(matches!(code, Some(0..=2)), "{what}");
            assert_eq!(good.unwrap_or(code != Some(2)), code != Some(2), "{what}");
            let refusals = sent
                .lines()
                .filter(|line| line.contains("cannot write"))
                .count();
            assert_eq!(refusals, usize::from(code == Some(2)), "{what}");
        }
        let entries = std::fs::read_dir(&place).unwrap();
        let names = entries.map(|e| e.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = names.filter(|n| n != "old.1").collect();
        names.sort();
        assert_eq!(names, ["fifo", "folder", "new", "old"], "{name}");
        assert_eq!(std::fs::read_dir(place.join("folder")).unwrap().count(), 0);
    }
}

#[test]
fn recording_goes_to_stdout_if_it_is_free() {
    let args = ["record", "--connect", "tcp://127.0.0.1:1", "--idle", "1ms"];
    let output = command(&[&args[..], &["-w", "-"]].concat())
        .output()
        .unwrap();
    let lines: Vec<&[u8]> = output.stdout.split_inclusive(|b| *b == b'\n').collect();
    assert_eq!((output.status.code(), lines.len()), (Some(0), 2));
    assert!(lines.iter().all(|line| Record::parse(line).is_ok()));
}

/// Returns `true` if a process has handlers for SIGTERM and SIGINT.
fn handles_signals(pid: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    let mask = caught.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    let is_caught =
        |signal: Signal| mask.is_some_and(|mask| mask & 1 << (signal.as_raw() - 1) != 0);
    [Signal::TERM, Signal::INT].into_iter().all(is_caught)
}

#[test]
fn interrupt_keeps_old_output_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out");
    for name in ["decode", "lint", "stat"] {
        for signal in [Signal::TERM, Signal::INT] {
            std::fs::write(&path, "old").unwrap();
            // Its stdin stays open.
            let run = Run::new(&[name, "-p", "oracle", "-o", path.to_str().unwrap()]);
            crate::common::wait_until("a handler", || handles_signals(run.pid()));
            run.signal(signal);
            let sent = read_until(&run.stderr, "interrupted: ");
            assert!(sent.contains("is left as it was"), "{name}: {sent}");
            assert_eq!(run.code(), Some(128 + signal.as_raw()), "{name}");
            assert_eq!(std::fs::read_to_string(&path).unwrap(), "old", "{name}");
            assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
            // A new file has what was written, and a line says that this is not all.
            std::fs::remove_file(&path).unwrap();
            let run = Run::new(&[name, "-p", "oracle", "-o", path.to_str().unwrap()]);
            crate::common::wait_until("a handler", || handles_signals(run.pid()));
            run.signal(signal);
            let sent = read_until(&run.stderr, "interrupted: ");
            assert!(
                sent.contains("out has only a part of the output"),
                "{name}: {sent}"
            );
            assert_eq!(run.code(), Some(128 + signal.as_raw()), "{name}");
        }
    }
}

#[test]
fn followed_file_may_be_truncated() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    let line = |id: u32| {
        format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"invoke\",\"params\":{{\"selector\":\"f\",\"calldata\":[]}}}}\n"
        )
    };
    std::fs::write(&path, line(1).repeat(3)).unwrap();
    let name = path.to_str().unwrap();
    let run = Run::new(&["decode", "-p", "oracle", "-f", "line", "--follow", name]);
    let mut seen = String::new();
    while seen.matches("invoke").count() < 3 {
        seen += &String::from_utf8(run.stdout.recv_timeout(LIMIT).unwrap()).unwrap();
    }
    std::fs::write(&path, line(42)).unwrap();
    read_until(&run.stderr, "the file was truncated");
    read_until(&run.stdout, "42");
    run.signal(Signal::INT);
    assert_eq!(run.code(), Some(130));
}
