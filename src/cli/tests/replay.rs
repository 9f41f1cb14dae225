//! Tests `wiretool replay` against the peer of the recording, over every transport, and against peers
//! that differ, hang, close, refuse, or do not exist.

// Long: the tests of one command share its peers.

use crate::capture::Header;
use crate::common::{self, Ran};
use crate::framing::Framing;
use crate::live::client::tests::recorded_peer::{RecordedPeer, TestPeer as _, plan};
use crate::live::handler::{Command, Ended, Handler};
use crate::live::plan::Plan;
use crate::protocol::Channel;
use crate::transport::{Accepting, Address, BoundListener, Setup, TlsServer};
use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Returns exit code, stdout and stderr.
fn replay(args: &[&str]) -> Ran {
    common::run(
        common::wiretool()
            .arg("replay")
            .args(args)
            .current_dir(root()),
        "",
    )
}

/// Creates an empty folder for a test.
fn new_folder(name: &str) -> PathBuf {
    let folder = common::temporary().join(format!("replay-{name}"));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// The peer of the recording, over sockets: connections come in the order of the recording.
struct RecordedServer<'p> {
    echo: RecordedPeer<'p>,
    recorded: Vec<u32>,
    conns: BTreeMap<u32, u32>,
    over: usize,
}

impl RecordedServer<'_> {
    fn commands(&self, outgoing: Vec<(u32, Vec<u8>)>, commands: &mut Vec<Command>) {
        for (recorded, bytes) in outgoing {
            let conn = self.conns.iter().find(|(_, r)| **r == recorded);
            if let Some((conn, _)) = conn {
                commands.push(Command::Send((*conn).into(), bytes));
            }
        }
    }
}

impl Handler for RecordedServer<'_> {
    fn opened(&mut self, conn: u32, _: i64, commands: &mut Vec<Command>) {
        let recorded = self.recorded.get(self.conns.len()).copied().unwrap_or(99);
        self.conns.insert(conn, recorded);
        let outgoing = self.echo.opened(recorded);
        self.commands(outgoing, commands);
    }

    fn received(&mut self, channel: Channel, bytes: &[u8], _: i64, commands: &mut Vec<Command>) {
        let recorded = self.conns[&channel.conn];
        let outgoing = self.echo.receive(recorded, bytes);
        self.commands(outgoing, commands);
    }

    fn ended(&mut self, channel: Channel, how: &Ended, _: i64, commands: &mut Vec<Command>) {
        let conn = channel.conn;
        if *how == Ended::Eof {
            commands.push(Command::Close(conn));
            return;
        }
        self.over += 1;
        if self.over == self.recorded.len() {
            commands.push(Command::Stop);
        }
    }
}

/// Returns a self-signed certificate, if the address uses TLS.
fn tls_server(listen: &Address) -> Option<TlsServer> {
    listen.is_tls().then(|| {
        let certificate = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
        let (cert, key) = (
            certificate.cert.pem(),
            certificate.signing_key.serialize_pem(),
        );
        TlsServer::new(cert.as_bytes(), key.as_bytes(), listen.is_http()).unwrap()
    })
}

/// Serves the other side of a recording for one run; returns the address to connect to.
fn serve(
    recording: &[u8],
    listen: &str,
    framing: Option<Framing>,
    twist: impl FnOnce(&mut RecordedPeer<'_>) + Send + 'static,
) -> (String, JoinHandle<Vec<(String, String)>>) {
    let listen = Address::parse(listen).unwrap();
    let acceptor = BoundListener::bind(&listen).unwrap();
    let address = acceptor.address().to_string();
    let mut plan = plan(recording);
    plan.framing = framing.unwrap_or(plan.framing);
    let thread = std::thread::spawn(move || {
        let plan: &'static Plan<'static> = Box::leak(Box::new(plan));
        let mut echo = RecordedPeer::of(plan);
        twist(&mut echo);
        let lines = plan
            .connections
            .iter()
            .filter(|(_, line)| !line.steps.is_empty());
        let mut served = RecordedServer {
            echo,
            recorded: lines.map(|(conn, _)| *conn).collect(),
            conns: BTreeMap::new(),
            over: 0,
        };
        let setup = Setup::recording(Header::default(), None, std::sync::Arc::new(|_| {}));
        let accepting = Accepting {
            idle: Some(Duration::from_secs(10)),
            tls: tls_server(&listen),
            ..Accepting::default()
        };
        let screen = Box::new(|_: &str| Ok(()));
        acceptor
            .serve(accepting, &mut served, screen, setup)
            .unwrap();
        served.echo.wrong
    });
    (address, thread)
}

fn fixture(name: &str) -> (String, Vec<u8>) {
    let path = format!("fixtures/{name}");
    let recording = std::fs::read(root().join(&path)).unwrap();
    (path, recording)
}

#[test]
fn replay_works_over_every_transport_and_records_again() {
    let folder = new_folder("transports");
    let socket = format!("unix:{}", folder.join("s").display());
    let tcp = "tcp://127.0.0.1:0";
    for (n, (name, listen, framing)) in [
        ("oracle/real-oracle.jsonl", tcp, None),
        ("stepflow/real-stdio.jsonl", socket.as_str(), None),
        ("stepflow/real-runtime.jsonl", tcp, None),
        (
            "stepflow/rules/request-in-body.passes.jsonl",
            "http://127.0.0.1:0",
            Some(Framing::Http),
        ),
        (
            "sael/rules/replay-twice.passes.jsonl",
            "ws://127.0.0.1:0",
            Some(Framing::WebSocket),
        ),
        ("saikuro/rules/seq-gap.passes.jsonl", tcp, None),
        (
            "saikuro/rules/seq-gap.passes.jsonl",
            "ws://127.0.0.1:0",
            Some(Framing::WebSocket),
        ),
        ("telequick/rules/dtmf-args.passes.jsonl", tcp, None),
        ("oracle/real-oracle.jsonl", "tls://localhost:0", None),
        (
            "sael/rules/window-exceeded.passes.jsonl",
            "wss://localhost:0",
            Some(Framing::WebSocket),
        ),
        (
            "stepflow/rules/request-in-body.passes.jsonl",
            "https://localhost:0",
            Some(Framing::Http),
        ),
    ]
    .into_iter()
    .enumerate()
    {
        let (path, recording) = fixture(name);
        let (address, served) = serve(&recording, listen, framing, |_| {});
        let again = folder.join(format!("{n}.jsonl"));
        let again = again.to_str().unwrap();
        let mut args = vec![path.as_str(), "--connect", &address, "-w", again];
        let is_tls = ["tls:", "wss:", "https:"]
            .iter()
            .any(|scheme| address.starts_with(scheme));
        args.extend(is_tls.then_some("--insecure"));
        let (code, out, err) = replay(&args);
        assert_eq!((code, out.as_str()), (0, ""), "{name} {listen}: {err}");
        assert!(
            err.contains(" sent, ") && err.ends_with(" 0 differ\n"),
            "{err}"
        );
        let wrong = served.join().unwrap();
        assert!(wrong.is_empty(), "{name} {listen}: {wrong:?}");
        // The new recording is complete and equal.
        let text = std::fs::read_to_string(again).unwrap();
        assert!(
            text.lines().last().unwrap().contains("\"event\":\"end\""),
            "{text}"
        );
        let diff = common::wiretool()
            .args([
                "diff",
                "--ignore",
                "**.ts",
                "--ignore",
                "**.observability.*",
            ])
            .args(["--ignore", "RSM:*", &path, again])
            .current_dir(root())
            .output()
            .unwrap();
        let shown = common::stdout(&diff);
        let same = |line: &&str| line.starts_with('~');
        assert_eq!(shown.lines().filter(same).count(), 0, "{name}: {shown}");
    }
}

#[test]
fn websocket_recording_is_replayed_to_tcp_with_tcp_framing() {
    let folder = new_folder("to-tcp");
    let (path, recording) = fixture("saikuro/rules/seq-gap.passes.jsonl");
    let over = [
        ("ws://127.0.0.1:0", Some(Framing::WebSocket), "websocket"),
        ("tcp://127.0.0.1:0", None, "prefix"),
    ];
    let mut from = path;
    for (listen, framing, name) in over {
        let (address, served) = serve(&recording, listen, framing, |_| {});
        let to = folder.join(format!("{name}.jsonl"));
        let to = to.to_str().unwrap().to_owned();
        let (code, out, err) = replay(&[&from, "--connect", &address, "-w", &to]);
        assert_eq!((code, out.as_str()), (0, ""), "{listen}: {err}");
        let wrong = served.join().unwrap();
        assert!(wrong.is_empty(), "{listen}: {wrong:?}");
        let decoded = common::wiretool()
            .args(["decode", "-f", "json", &to])
            .output()
            .unwrap();
        let text = common::stdout(&decoded);
        let messages = text.lines().filter(|line| line.contains("\"id\":"));
        let framing = format!("\"framing\":\"{name}\"");
        let mut count = 0;
        for line in messages {
            assert!(line.contains(&framing), "{line}");
            count += 1;
        }
        assert!(count >= 4, "{text}");
        from = to;
    }
}

/// An oracle in a shell, with one answer for all invokes; `$1` selects its behavior.
const ORACLE: &str = r#"
printf '{"jsonrpc":"2.0","id":0,"method":"ready"}\n'
while read -r line; do
  case $line in
    *shutdown*) exit 0 ;;
    *invoke*)
      id=${line#*\"id\":}; id=${id%%,*}
      case $1 in
        hang) continue ;;
        die) exit 3 ;;
        other) printf '{"jsonrpc":"2.0","id":%s,"result":["0x3"]}\n' "$id" ;;
        no) printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32000,"message":"no"}}\n' "$id" ;;
        wrong) printf '{"jsonrpc":"2.0","id":99,"result":["0x2"]}\n' ;;
        twice) printf '{"jsonrpc":"2.0","id":%s,"result":["0x2"]}\n{"jsonrpc":"2.0","id":%s,"result":["0x2"]}\n' "$id" "$id" ;;
        more) printf '{"jsonrpc":"2.0","method":"log","params":{}}\n{"jsonrpc":"2.0","id":%s,"result":["0x2"]}\n' "$id" ;;
        *) printf '{"jsonrpc":"2.0","id":%s,"result":["0x2"]}\n' "$id" ;;
      esac ;;
  esac
done
"#;

/// Records a session with that oracle.
fn session(folder: &Path) -> String {
    let lines = [
        ("s2c", r#"{"jsonrpc":"2.0","id":0,"method":"ready"}"#),
        ("c2s", r#"{"jsonrpc":"2.0","id":0,"result":{}}"#),
        (
            "c2s",
            r#"{"jsonrpc":"2.0","id":0,"method":"invoke","params":{"selector":"f","calldata":["0x1"]}}"#,
        ),
        ("s2c", r#"{"jsonrpc":"2.0","id":0,"result":["0x2"]}"#),
        ("c2s", r#"{"jsonrpc":"2.0","method":"shutdown"}"#),
    ];
    let mut text = "{\"wiretool\":1,\"protocol\":\"oracle\",\"started\":\"2026-01-01T00:00:00Z\",\"transport\":\"stdio\"}\n".to_owned();
    for (t, (dir, line)) in lines.iter().enumerate() {
        let line = serde_json::to_string(&format!("{line}\n")).unwrap();
        text += &format!("{{\"t\":{t},\"conn\":1,\"dir\":\"{dir}\",\"text\":{line}}}\n");
    }
    text += "{\"t\":9,\"event\":\"end\",\"chunks\":5,\"bytes\":{}}\n";
    let path = folder.join("session.jsonl");
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

/// Replays that session against that oracle.
fn against(peer_config: &str, more: &[&str]) -> Ran {
    let folder = new_folder(&format!("oracle-{peer_config}{}", more.len()));
    let session = session(&folder);
    let command = ["--", "sh", "-c", ORACLE, "oracle", peer_config];
    replay(&[&[session.as_str()], more, &command[..]].concat())
}

#[test]
fn child_with_equal_answers_passes() {
    let (code, out, err) = against("same", &[]);
    assert_eq!((code, out.as_str()), (0, ""), "{err}");
    assert_eq!(err, "wiretool: 3 sent, 2 answers compared, 0 differ\n");
    let (code, _, err) = against("same", &["--repeat", "3", "-q"]);
    assert_eq!((code, err.as_str()), (0, ""));
    let (code, _, err) = against("same", &["--repeat", "3"]);
    assert_eq!(code, 0);
    assert_eq!(
        err,
        "wiretool: 3 sessions: 9 sent, 6 answers compared, 0 differ\n"
    );
    // Unexpected messages only cause a note.
    let (code, out, err) = against("more", &[]);
    assert_eq!((code, out.as_str()), (0, ""));
    assert!(
        err.starts_with("wiretool: notification log came, but is not in the recording\n"),
        "{err}"
    );
}

#[test]
fn different_field_fails() {
    let (code, out, err) = against("other", &[]);
    assert_eq!(code, 1, "{err}");
    insta::assert_snapshot!(out, @r#"
    ✗ → invoke f  #2
      ← result  #3 of the recording, #3 now
        result[0]  "0x2" → "0x3"  (bytes 76..81: 2230783222 and 76..81: 2230783322)
        to ignore it: --ignore 'result:result[*]'
    "#);
    let summary = "wiretool: 2 sent, 2 answers compared, 1 differs; stopped at the first difference, 1 not sent (--keep-going sends all)\n";
    assert_eq!(err, summary);
    // The printed flag can be used.
    let (code, out, _) = against("other", &["--ignore", "result:result[*]"]);
    assert_eq!((code, out.as_str()), (0, ""));
    // Without --keep-going, it was the last run as well.
    let (code, _, err) = against("other", &["--repeat", "3"]);
    assert_eq!((code, err.as_str()), (1, summary));
    let (code, _, err) = against("other", &["--repeat", "3", "--keep-going"]);
    assert_eq!(code, 1);
    assert_eq!(
        err,
        "wiretool: 3 sessions: 9 sent, 6 answers compared, 3 differ\n"
    );
}

#[test]
fn answer_of_another_kind_fails() {
    let (code, out, _) = against("no", &[]);
    assert_eq!(code, 1);
    insta::assert_snapshot!(out, @r"
    ✗ → invoke f  #2
      ← result  #3 of the recording, error #3 now
        (kind)  result → error  (bytes 42..83 and 42..105)
        error  absent → {2}  (bytes - and 74..104: 7b22636f6465223a2d33323030302c22…)
        result  [1] → absent  (bytes 75..82: 5b22307832225d and -)
    ");
}

#[test]
fn additional_answer_fails() {
    let (code, out, err) = against("twice", &[]);
    assert_eq!(code, 1, "{err}");
    assert_eq!(out, "✗ ← result  #4 came, but is not in the recording\n");
}

#[test]
fn given_token_replaces_the_recorded_one() {
    let folder = new_folder("token");
    let token = folder.join("token");
    std::fs::write(&token, "another-token\n").unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("tcp://{}", listener.local_addr().unwrap());
    let server = std::thread::spawn(move || {
        let (mut socket, _) = listener.accept().unwrap();
        let mut first = [0; 4096];
        let read = socket.read(&mut first).unwrap();
        String::from_utf8_lossy(&first[..read]).into_owned()
    });
    let path = "fixtures/sael/rules/anonymous-resume.passes.jsonl";
    let token = token.to_str().unwrap();
    let (code, _, _) = replay(&[path, "--connect", &address, "--token-file", token]);
    assert_eq!(code, 1, "the server closes");
    let hello = server.join().unwrap();
    assert!(hello.contains(r#""token":"another-token""#), "{hello}");
}

#[test]
fn interrupted_run_leaves_a_complete_recording() {
    let folder = new_folder("interrupted");
    let session = session(&folder);
    let again = folder.join("again.jsonl");
    let mut child = common::wiretool()
        .args(["replay", &session, "-w"])
        .arg(&again)
        .args(["--", "sh", "-c", ORACLE, "oracle", "hang"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let has = |what: &str| std::fs::read_to_string(&again).is_ok_and(|text| text.contains(what));
    let patience = Instant::now() + Duration::from_secs(60);
    while !has("invoke") {
        assert!(Instant::now() < patience, "nothing is recorded");
        std::thread::sleep(Duration::from_millis(10));
    }
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(has("\"event\":\"end\""));
}

#[test]
fn peer_that_hangs_or_exits_is_reported() {
    let (code, out, err) = against("hang", &["--timeout", "300ms"]);
    assert_eq!(code, 1, "{err}");
    let lines: Vec<&str> = out.lines().map(str::trim).collect();
    assert!(lines[0].starts_with("✗ hangs: no message for "), "{out}");
    assert!(
        lines
            .iter()
            .any(|l| l.contains("next → shutdown  #4, waits for the answer to invoke f")),
        "{out}"
    );
    assert!(
        lines
            .iter()
            .any(|l| l.contains("invoke f  id 0") && l.contains("the oracle must send it")),
        "{out}"
    );
    assert!(
        err.ends_with("2 sent, 1 answer compared, 0 differ, then a timeout\n"),
        "{err}"
    );
    let (code, out, _) = against("die", &[]);
    assert_eq!(code, 1);
    insta::assert_snapshot!(out, @r"
    ✗ connection 1 ended: its child exited with status 3, and 1 message was not sent
      → invoke f  #2 of the recording is not answered
    ");
}

#[test]
fn server_that_refuses_hangs_or_closes_is_reported() {
    let folder = new_folder("servers");
    let session = session(&folder);
    let free = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("tcp://{}", free.local_addr().unwrap());
    drop(free);
    let again = folder.join("again.jsonl");
    let (code, out, err) = replay(&[
        &session,
        "--connect",
        &address,
        "-w",
        again.to_str().unwrap(),
    ]);
    assert_eq!((code, out.as_str()), (2, ""));
    assert!(
        err.contains(&format!("cannot connect to {address}: ")),
        "{err}"
    );
    assert!(
        std::fs::read_to_string(&again)
            .unwrap()
            .contains("\"event\":\"end\"")
    );

    // A server that accepts and sends nothing, one that closes, and one that is not a WebSocket server.
    for (scheme, outgoing, status, wanted) in [
        ("tcp", None, 1, "✗ hangs: no message for"),
        (
            "tcp",
            Some(""),
            1,
            "connection 1 was closed before ready of the oracle came, and 3 messages were not sent",
        ),
        (
            "ws",
            Some("HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n"),
            2,
            "404",
        ),
    ] {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("{scheme}://{}", listener.local_addr().unwrap());
        let server = std::thread::spawn(move || {
            let (mut socket, _) = listener.accept().unwrap();
            if let Some(outgoing) = outgoing {
                if !outgoing.is_empty() {
                    let _ = socket.read(&mut [0; 4096]);
                }
                let _ = socket.write_all(outgoing.as_bytes());
            } else {
                let mut rest = Vec::new();
                let _ = socket.read_to_end(&mut rest);
            }
        });
        let (code, out, err) = replay(&[&session, "--connect", &address, "--timeout", "400ms"]);
        assert_eq!(code, status, "{wanted}: {out}{err}");
        assert!(
            format!("{out}{err}").contains(wanted),
            "{wanted}: {out}{err}"
        );
        server.join().unwrap();
    }
}

#[test]
fn different_field_over_a_socket_is_reported_with_its_offset() {
    let (path, recording) = fixture("stepflow/real-runtime.jsonl");
    let (address, served) = serve(&recording, "tcp://127.0.0.1:0", None, |echo| {
        echo.last = Some(("\"n\":0", "\"n\":8"));
    });
    let (code, out, err) = replay(&[&path, "--connect", &address]);
    served.join().unwrap();
    assert_eq!(code, 1, "{err}");
    assert!(
        out.starts_with("✗ → request components/execute /store  #6\n"),
        "{out}"
    );
    assert!(out.contains("    result.output.n  0 → 8  (bytes "), "{out}");
    assert!(
        out.contains(": 30 and ") && out.contains(": 38)\n"),
        "{out}"
    );
}

#[test]
fn unusable_recordings_are_refused() {
    let folder = new_folder("unfit");
    let session = session(&folder);
    let text = std::fs::read_to_string(&session).unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let without = |dir: &str| -> String {
        let lines = text.lines().filter(|line| !line.contains(dir));
        lines.flat_map(|line| [line, "\n"]).collect()
    };
    let theirs = write("theirs.jsonl", &without("c2s"));
    let raw = write("raw.bin", "{\"jsonrpc\":\"2.0\"}\n");
    let child = ["--", "sh", "-c", ORACLE];
    for (args, wanted) in [
        (
            vec!["-p", "sael", session.as_str()],
            "it is a recording of oracle, not of sael",
        ),
        (vec![theirs.as_str()], "it has only answers"),
        (vec![raw.as_str()], "not a recording"),
        (vec!["/none.jsonl"], "cannot read /none.jsonl"),
    ] {
        let (code, out, err) = replay(&[&args[..], &child[..]].concat());
        assert_eq!((code, out.as_str()), (2, ""), "{wanted}");
        assert!(err.contains(wanted), "{wanted}: {err}");
        assert_eq!(err.lines().count(), 1, "{err}");
    }
    let (code, _, err) = replay(&[&session]);
    assert_eq!(code, 2);
    assert!(err.contains("no peer: use --connect"), "{err}");

    // A recording without answers, and a truncated one, are played as far as possible.
    let ours = write("ours.jsonl", &without("s2c"));
    let (code, _, err) = replay(&[&[ours.as_str()], &child[..]].concat());
    assert_eq!(code, 0, "{err}");
    assert!(
        err.contains("it has only requests, and no answer to compare"),
        "{err}"
    );
    let at = text.rfind("{\"t\":4").unwrap() + 20;
    let torn = write("torn.jsonl", &text[..at]);
    let (code, _, err) = replay(&[&[torn.as_str()], &child[..]].concat());
    assert_eq!(code, 0, "{err}");
    assert!(
        err.contains("it has no end line: its messages are replayed"),
        "{err}"
    );
    assert!(
        err.ends_with("2 sent, 2 answers compared, 0 differ\n"),
        "{err}"
    );
}

/// If no selected message exists, the command fails.
#[test]
fn selected_messages_must_exist() {
    let folder = new_folder("chosen");
    let session = session(&folder);
    let child = ["--", "sh", "-c", ORACLE, "oracle", "same"];
    for (choice, status, wanted) in [
        (
            &["--where", "index>=9"][..],
            1,
            ": none of 5 messages matches\n",
        ),
        (
            &["--where", "kind=nonsense"],
            1,
            ": none of 5 messages matches\n",
        ),
        (
            &["--where", "kind=result"],
            1,
            ": no matching message can be sent: the other side sends it, or it is incomplete\n",
        ),
        (
            &["--where", "index=2"],
            0,
            "wiretool: 2 sent, 2 answers compared, 0 differ\n",
        ),
    ] {
        let (code, out, err) = replay(&[&[session.as_str()], choice, &child[..]].concat());
        assert_eq!((code, out.as_str()), (status, ""), "{choice:?}: {err}");
        assert!(err.ends_with(wanted), "{choice:?}: {err}");
        assert_eq!(err.lines().count(), 1, "{err}");
    }
    let (code, _, err) =
        replay(&[&[session.as_str(), "-q", "--where", "index>=9"], &child[..]].concat());
    assert_eq!((code, err.as_str()), (1, ""));
}

/// Flags without an effect are refused.
#[test]
fn useless_flags_are_refused() {
    let folder = new_folder("flags");
    let session = session(&folder);
    let child = &["--", "sh", "-c", ORACLE, "oracle", "same"][..];
    let ws = &["--connect", "ws://127.0.0.1:1"][..];
    for (flags, to, wanted) in [
        (
            &["--header", "a: b"][..],
            child,
            "--header is for HTTP and WebSocket; these messages use lines",
        ),
        (
            &["--msgpack"],
            child,
            "--msgpack is for sael, but the protocol is oracle",
        ),
        (
            &["--name", "x"],
            child,
            "--name is for sael, but the protocol is oracle",
        ),
        (
            &["--length-mode", "inclusive"],
            child,
            "--length-mode is for telequick, but the protocol is oracle",
        ),
        (
            &["--token-file", "x"],
            child,
            "--token-file is for sael, but the protocol is oracle",
        ),
        (
            &["--framing", "lines"],
            ws,
            "--framing lines is for addresses such as tcp://HOST:PORT; ws:// uses websocket",
        ),
    ] {
        let (code, out, err) = replay(&[&[session.as_str()], flags, to].concat());
        assert_eq!((code, out.as_str()), (2, ""), "{flags:?}: {err}");
        assert_eq!(err, format!("wiretool: {wanted}\n"));
    }
}

#[test]
fn answer_with_another_id_fails() {
    let (code, out, err) = against("wrong", &[]);
    assert_eq!(code, 1, "{err}");
    assert!(out.contains("id  0 → 99 (wanted 0)"), "{out}");
    // A wrong id is a difference unless `--ignore id` is given.
    assert_eq!(against("wrong", &["--ignore", "id"]).0, 0);
}
