//! Faults through real sockets and children: the bytes that the peer received, and the recording.

use super::common::*;
use std::io::{ErrorKind, Read as _, Write as _};
use std::net::TcpStream;
use std::time::Instant;
use wiretool::capture::{ChunkSource, Record};

const LINES: [&str; 3] = [
    r#"{"jsonrpc":"2.0","id":1,"method":"ready"}"#,
    r#"{"jsonrpc":"2.0","id":2,"method":"ready"}"#,
    r#"{"jsonrpc":"2.0","id":3,"method":"ready"}"#,
];

fn stream() -> Vec<u8> {
    LINES.map(|line| format!("{line}\n")).concat().into_bytes()
}

/// Returns all received bytes and the end.
fn got(mut stream: TcpStream) -> (Vec<u8>, String) {
    let mut bytes = Vec::new();
    let end = match stream.read_to_end(&mut bytes) {
        Ok(_) => "end".to_owned(),
        Err(e) if e.kind() == ErrorKind::ConnectionReset => "reset".to_owned(),
        Err(e) => e.to_string(),
    };
    (bytes, end)
}

/// The `inject` events of a recording, without their times.
fn injected(recording: &Recording) -> Vec<String> {
    let events = recording.0.iter().filter_map(|record| match record {
        Record::Event(event) if event.event == "inject" => {
            Some(serde_json::to_string(&event.more).unwrap())
        }
        _ => None,
    });
    events.collect()
}

/// Sends three lines through faults. Returns the bytes that the server received, the end, and the recording.
fn run_with_faults(faults: &[&str], more: &[&str]) -> (String, String, Recording) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.jsonl");
    let (address, server) = tcp(got);
    let mut args = vec!["--once", "-p", "oracle", "-w", path.to_str().unwrap()];
    for fault in faults {
        args.extend(["--fault", fault]);
    }
    args.extend(more);
    let (run, port) = Run::proxy("record", &address, &args);
    let mut client = connect_to_port(port);
    client.write_all(&stream()).unwrap();
    client.end();
    let _ = receive_some(&mut client);
    let (bytes, end) = server.join().unwrap();
    run.code();
    let mut text = String::from_utf8_lossy(&bytes).into_owned();
    for (n, line) in LINES.iter().enumerate() {
        text = text.replace(&format!("{line}\n"), &n.to_string());
    }
    (text, end, Recording::read(&path))
}

/// Until any end.
fn receive_some(from: &mut TcpStream) -> Vec<u8> {
    let mut bytes = Vec::new();
    let _ = from.read_to_end(&mut bytes);
    bytes
}

/// Each action: the bytes that the peer received, the end of its connection, and the recording.
#[test]
fn each_fault_has_documented_effect() {
    let mut table = String::new();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("f");
    std::fs::write(&file, "#file#").unwrap();
    for action in [
        "delay 30ms",
        "drop",
        "dup",
        "corrupt .method",
        "corrupt byte",
        "truncate 7",
        "length +1",
        "close",
        "reset",
        "inject FILE",
    ] {
        let does = action.replace("FILE", file.to_str().unwrap());
        let fault = format!("id=2: {does}");
        let (text, end, recording) = run_with_faults(&[&fault], &["--seed", "5"]);
        assert_eq!(
            recording.bytes(1, ChunkSource::C2s),
            stream(),
            "as it was read"
        );
        let events = injected(&recording);
        assert_eq!(events.len(), 2, "{events:?}");
        let last = recording.events();
        let last = &last[last.len() - 2];
        let event = events[1].replace(file.to_str().unwrap(), "FILE");
        table += &format!("{action:16} {text} [{end}, {last}]\n    {event}\n");
    }
    insta::assert_snapshot!(table, @r#"
    delay 30ms       012 [end, close]
        {"dir":"c2s","fault":"id=2: delay 30ms","id":"2","kind":"ready","len":41,"ns":30000000,"offset":42}
    drop             02 [end, close]
        {"dir":"c2s","fault":"id=2: drop","id":"2","kind":"ready","len":41,"offset":42}
    dup              0112 [end, close]
        {"bytes":42,"dir":"c2s","fault":"id=2: dup","id":"2","kind":"ready","len":41,"offset":42}
    corrupt .method  0{"jsonrpc":"2.0","id":2,"method":"ryady"}
    2 [end, close]
        {"at":77,"dir":"c2s","fault":"id=2: corrupt .method","id":"2","is":"79","kind":"ready","len":41,"offset":42,"was":"65"}
    corrupt byte     0{"jsonrpc":"2.�","id":2,"method":"ready"}
    2 [end, close]
        {"at":56,"dir":"c2s","fault":"id=2: corrupt byte","id":"2","is":"eb","kind":"ready","len":41,"offset":42,"was":"30"}
    truncate 7       0{"jsonr2 [end, close]
        {"cut":35,"dir":"c2s","fault":"id=2: truncate 7","id":"2","kind":"ready","len":41,"offset":42}
    length +1        012 [end, close]
        {"dir":"c2s","fault":"id=2: length +1","id":"2","kind":"ready","len":41,"offset":42,"undone":"its frame has no length"}
    close            0 [end, close]
        {"dir":"c2s","fault":"id=2: close","id":"2","kind":"ready","len":41,"offset":42}
    reset            0 [reset, reset]
        {"dir":"c2s","fault":"id=2: reset","id":"2","kind":"ready","len":41,"offset":42}
    inject FILE      0#file#12 [end, close]
        {"bytes":6,"dir":"c2s","fault":"id=2: inject FILE","id":"2","kind":"ready","len":41,"offset":42}
    "#);
}

#[test]
fn stalled_direction_is_silent_and_other_continues() {
    let (address, server) = tcp(|mut stream| {
        let mut first = [0; 42];
        stream.read_exact(&mut first).unwrap();
        stream.write_all(&first).unwrap();
        let timeout = std::time::Duration::from_millis(300);
        stream.set_read_timeout(Some(timeout)).unwrap();
        stream.read(&mut first).unwrap_err().kind()
    });
    let faults = [
        "--once",
        "-p",
        "oracle",
        "-w",
        "/dev/null",
        "--fault",
        "dir=c2s nth 2: stall",
    ];
    let (run, port) = Run::proxy("record", &address, &faults);
    let mut client = connect_to_port(port);
    client.write_all(&stream()).unwrap();
    client.end();
    let back = receive_some(&mut client);
    assert_eq!(back, stream()[..42]);
    assert_eq!(server.join().unwrap(), ErrorKind::WouldBlock);
    run.code();
}

#[test]
fn delay_forwards_earlier_bytes_first() {
    let (address, server) = tcp(|mut stream| {
        let mut first = [0; 42];
        stream.read_exact(&mut first).unwrap();
        let begun = Instant::now();
        stream.read_exact(&mut first).unwrap();
        begun.elapsed()
    });
    let faults = [
        "--once",
        "-p",
        "oracle",
        "-w",
        "/dev/null",
        "--fault",
        "id=2: delay 200ms",
    ];
    let (run, port) = Run::proxy("record", &address, &faults);
    let mut client = connect_to_port(port);
    client.write_all(&stream()).unwrap();
    client.end();
    let took = server.join().unwrap();
    assert!(took.as_millis() >= 190, "{took:?}");
    assert_eq!(run.code(), Some(0));
}

#[test]
fn same_seed_gives_same_faults() {
    let faults = ["chance 50%: corrupt byte", "chance 0.3: dup"];
    let run = |seed| {
        let (text, _, recording) = run_with_faults(&faults, &["--seed", seed]);
        (text, injected(&recording))
    };
    let (a, b) = (run("3"), run("3"));
    assert_eq!(a, b);
    let others = ["4", "5", "6"].map(run);
    assert!(others.iter().any(|other| other.0 != a.0), "{a:?}");
}

#[test]
fn faults_are_read_from_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("f.toml");
    std::fs::write(folder.path().join("x"), "x").unwrap();
    let text = "seed = 9\n[[fault]]\nwhere = 'kind=ready'\nnth = 2\ndo = 'drop'\n[[fault]]\nwhere='id=1'\ndo='inject x'\n";
    std::fs::write(&path, text).unwrap();
    let file = ["--fault-file", path.to_str().unwrap()];
    let (text, _, recording) = run_with_faults(&[], &file);
    assert_eq!(text, "x02");
    let events = injected(&recording);
    assert_eq!(events[0], r#"{"fault":"kind=ready nth 2: drop","seed":9}"#);
    for (text, want) in [
        (
            "[[fault]]\ndo = 'drpo'",
            "fault 1: wanted an action, got drpo",
        ),
        (
            "[[fault]]\nwhere = 'knd=1'\ndo = 'drop'",
            "did you mean kind?",
        ),
        ("[[fault]]\ndo = 'drop'\nhow = 1", "how"),
        ("[[fault]]\ndo = 'inject none'", "none"),
        ("[[fault]]\ndo = 'drop'\nnth = 0", "must be at least 1"),
    ] {
        std::fs::write(&path, text).unwrap();
        let args = [
            "record",
            "-p",
            "oracle",
            "--connect",
            "tcp://127.0.0.1:1",
            "-w",
            "/dev/null",
        ];
        let (status, _, output) = Run::new(&[&args[..], &file].concat()).end();
        assert_eq!(status.code(), Some(2), "{output}");
        assert!(output.contains(want), "{output}");
    }
}

#[test]
fn faults_apply_to_children() {
    let args = [
        "record",
        "-p",
        "oracle",
        "-w",
        "/dev/null",
        "--fault",
        "dir=c2s id=2: drop",
        "--fault",
        "dir=s2c id=3: dup",
        "--",
        "cat",
    ];
    let mut run = Run::new(&args);
    run.stdin.as_mut().unwrap().write_all(&stream()).unwrap();
    let (status, out, _) = run.end();
    let [one, _, three] = LINES;
    assert_eq!(
        String::from_utf8(out).unwrap(),
        format!("{one}\n{three}\n{three}\n")
    );
    assert!(status.success());
}

#[test]
fn host_is_rewritten_and_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.jsonl");
    let (address, server) = tcp(got);
    let args = ["--once", "--rewrite-host", "-w", path.to_str().unwrap()];
    let (run, port) = Run::proxy("record", &address.replace("tcp", "http"), &args);
    let mut client = connect_to_port(port);
    let request = "GET /x HTTP/1.1\r\nHost: example.org\r\nAccept: */*\r\n\r\n";
    client.write_all(request.repeat(2).as_bytes()).unwrap();
    client.end();
    let (bytes, _) = server.join().unwrap();
    assert_eq!(run.code(), Some(0));
    let host = address.trim_start_matches("tcp://");
    let want = request.replace("example.org", host).repeat(2);
    assert_eq!(String::from_utf8(bytes).unwrap(), want);
    let recording = Recording::read(&path);
    assert_eq!(
        recording.bytes(1, ChunkSource::C2s),
        request.repeat(2).into_bytes()
    );
    let events = injected(&recording);
    assert_eq!(events.len(), 3, "{events:?}");
    assert!(events[1].contains(r#""was":"example.org""#) && events[1].contains(host));
}

/// A dropped answer of a child and of a server: the recording marks it, since the fault is before its bytes.
#[test]
fn a_dropped_answer_is_marked_in_the_recording() {
    const ASK: &str = r#"{"jsonrpc":"2.0","id":1,"method":"add"}"#;
    const ANSWER: &str = r#"{"jsonrpc":"2.0","id":1,"result":3}"#;
    let folder = tempfile::tempdir().unwrap();
    for transport in ["stdio", "tcp"] {
        let path = folder.path().join(transport);
        let path = path.to_str().unwrap();
        let record = [
            "-p",
            "jsonrpc",
            "-w",
            path,
            "--fault",
            "role=response: drop",
        ];
        if transport == "stdio" {
            let script = format!("read line; echo '{ANSWER}'; cat >/dev/null");
            let child = ["--", "sh", "-c", &script];
            let mut run = Run::new(&[&["record"], &record[..], &child].concat());
            let stdin = run.stdin.as_mut().unwrap();
            stdin.write_all(format!("{ASK}\n").as_bytes()).unwrap();
            let (status, stdout, _) = run.end();
            assert_eq!((status.code(), stdout), (Some(0), Vec::new()));
        } else {
            let (address, server) = tcp(|mut stream| {
                stream.read_exact(&mut [0; ASK.len() + 1]).unwrap();
                stream.write_all(format!("{ANSWER}\n").as_bytes()).unwrap();
                receive_some(&mut stream);
            });
            let (run, port) = Run::proxy("record", &address, &[&["--once"], &record[..]].concat());
            let mut client = connect_to_port(port);
            client.write_all(format!("{ASK}\n").as_bytes()).unwrap();
            client.end();
            assert_eq!(receive_some(&mut client), b"");
            server.join().unwrap();
            run.code();
        }
        let show = |args: &[&str]| {
            let output = command(args).arg(path).output().unwrap();
            String::from_utf8(output.stdout).unwrap()
        };
        let line = show(&["decode", "-f", "line", "--where", "role=response"]);
        assert!(line.contains("by wiretool: drop"), "{transport}: {line}");
        let open = show(&["lint"]);
        assert!(
            open.contains("request add") && open.contains("wiretool dropped its answer, #1"),
            "{transport}: {open}"
        );
    }
}
