//! Tests `wiretool send`: a request and its answer, over every transport and in every protocol; and peers that
//! refuse, hang, or do not exist.

// Long: the tests of one command share its peers.

use crate::capture::Header;
use crate::common::{self, Ran};
use crate::conversation::Judge;
use crate::framing::{Framing, Limits};
use crate::live::codec::ConnectionConfig;
use crate::live::endpoint::Endpoint;
use crate::live::handler::{Command, Ended, Handler};
use crate::protocol::Channel;
use crate::protocol::peer::{Offer, PeerConfig, PeerReply, Request};
use crate::protocol::{Direction, Protocol, Role, registry};
use crate::transport::{Accepting, Address, BoundListener, Setup};
use serde_json::Value;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::process::Stdio;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

/// Returns exit code, stdout and stderr.
fn send(args: &[&str], stdin: &str) -> Ran {
    common::run(common::wiretool().arg("send").args(args), stdin)
}

/// The answer to a request.
#[derive(Clone, Copy)]
enum ServerReply {
    /// This result.
    Result(&'static str),
    /// Items, then the end.
    Items(&'static [&'static str]),
    /// An error.
    No,
    /// No answer.
    Nothing,
}

/// A server that sends the same answer to all requests.
struct Server {
    endpoint: Endpoint<'static>,
    outgoing: ServerReply,
    open: usize,
    /// The kinds of received messages.
    awaited: Vec<String>,
}

impl Server {
    fn answer(&mut self, requests: Vec<Request>, now: i64, commands: &mut Vec<Command>) {
        for request in requests {
            let peer_replies: Vec<PeerReply<'_>> = match self.outgoing {
                ServerReply::Result(value) => vec![PeerReply::Result(value)],
                ServerReply::Items(items) => {
                    let items = items.iter().map(|item| PeerReply::Item(item));
                    items.chain([PeerReply::End(None)]).collect()
                }
                ServerReply::No => vec![PeerReply::Error {
                    code: None,
                    message: "not today",
                    data: None,
                }],
                ServerReply::Nothing => Vec::new(),
            };
            for peer_reply in peer_replies {
                let outgoing = self
                    .endpoint
                    .encode_reply(&request, peer_reply, now)
                    .unwrap();
                self.endpoint
                    .send_message(&outgoing, None, now, commands)
                    .unwrap();
            }
        }
    }
}

impl Handler for Server {
    fn opened(&mut self, conn: u32, now: i64, commands: &mut Vec<Command>) {
        self.open += 1;
        self.endpoint.opened(conn, now, commands);
    }

    fn received(&mut self, channel: Channel, bytes: &[u8], now: i64, commands: &mut Vec<Command>) {
        let (mut requests, kinds) = (Vec::new(), &mut self.awaited);
        self.endpoint
            .received(channel, bytes, now, commands, &mut |awaited| {
                let message = awaited.decoded.message;
                if awaited.decoded.frame.control.is_none() {
                    kinds.push(message.kind.to_string());
                }
                if message.role == Some(Role::Request) && awaited.replies.is_empty() {
                    requests.push(Request::of(&awaited.decoded.seen()));
                }
            });
        self.answer(requests, now, commands);
    }

    fn ended(&mut self, channel: Channel, how: &Ended, now: i64, commands: &mut Vec<Command>) {
        self.endpoint
            .ended(channel, how, now, commands, &mut |_| {});
        if *how == Ended::Eof {
            commands.push(Command::Close(channel.conn));
            return;
        }
        self.open -= 1;
        if self.open == 0 {
            commands.push(Command::Stop);
        }
    }
}

fn find(protocol: &str) -> &'static dyn Protocol {
    registry::find(protocol).unwrap()
}

/// Serves one run; returns the address to connect to, and at the end the kinds of received messages.
fn serve(
    protocol: &str,
    listen: &str,
    framing: Framing,
    outgoing: ServerReply,
) -> (String, JoinHandle<Vec<String>>) {
    let acceptor = BoundListener::bind(&Address::parse(listen).unwrap()).unwrap();
    let address = acceptor.address().to_string();
    let protocol = find(protocol);
    let thread = std::thread::spawn(move || {
        let config = ConnectionConfig::new(protocol, framing, Direction::ToClient);
        let offer = |name: &str, streams| Offer {
            name: name.into(),
            streams,
            ..Offer::default()
        };
        let peer_config = PeerConfig {
            seed: 3,
            offers: vec![
                offer("f", false),
                offer("/f", false),
                offer("math.add", false),
                offer("ticks", true),
            ],
            ..PeerConfig::default()
        };
        let endpoint = Endpoint::new(config, &peer_config, Limits::default(), &Judge::default());
        let mut server = Server {
            endpoint,
            outgoing,
            open: 0,
            awaited: Vec::new(),
        };
        let setup = Setup::recording(Header::default(), None, Arc::new(|_| {}));
        let accepting = Accepting {
            idle: Some(Duration::from_secs(10)),
            ..Accepting::default()
        };
        let screen = Box::new(|_: &str| Ok(()));
        acceptor
            .serve(accepting, &mut server, screen, setup)
            .unwrap();
        server.awaited
    });
    (address, thread)
}

/// Returns the messages in the output.
fn messages(out: &str) -> Vec<Value> {
    out.lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap_or_else(|e| panic!("{e}: {line}")))
        .collect()
}

const TCP: &str = "tcp://127.0.0.1:0";
const WS: &str = "ws://127.0.0.1:0";
const HTTP: &str = "http://127.0.0.1:0";

#[test]
fn every_protocol_gets_an_answer() {
    let socket = format!("unix:{}/send.sock", common::temporary().display());
    let _ = std::fs::remove_file(&socket["unix:".len()..]);
    let three = ServerReply::Result("3");
    for (protocol, words, listen, framing, outgoing, kinds) in [
        (
            "saikuro",
            &["call", "math.add", "1", "2"][..],
            TCP,
            Framing::Prefix,
            three,
            &["response"][..],
        ),
        (
            "saikuro",
            &["call", "math.add", "1", "2"],
            socket.as_str(),
            Framing::Prefix,
            three,
            &["response"],
        ),
        (
            "saikuro",
            &["call", "math.add", "1", "2"],
            WS,
            Framing::WebSocket,
            three,
            &["response"],
        ),
        (
            "saikuro",
            &["stream", "ticks"],
            TCP,
            Framing::Prefix,
            ServerReply::Items(&["1", "2"]),
            &["item", "item", "end"],
        ),
        (
            "oracle",
            &["invoke", "f", "1"],
            TCP,
            Framing::Lines,
            ServerReply::Result("[\"0x3\"]"),
            &["result"],
        ),
        (
            "sael",
            &["INV", "math.add", "{}"],
            WS,
            Framing::WebSocket,
            three,
            &["RES"],
        ),
        (
            "sael",
            &["INV", "ticks", "{}"],
            WS,
            Framing::WebSocket,
            ServerReply::Items(&["1", "2"]),
            &["STR", "STR", "END"],
        ),
        (
            "stepflow",
            &["components/execute", "/f", "{}"],
            TCP,
            Framing::Lines,
            three,
            &["response"],
        ),
        (
            "stepflow",
            &["components/execute", "/f", "{}"],
            HTTP,
            Framing::Http,
            three,
            &["response"],
        ),
    ] {
        let what = format!("{protocol} {words:?} over {listen}");
        let (address, served) = serve(protocol, listen, framing, outgoing);
        let (code, out, err) = send(
            &[
                &[protocol],
                words,
                &["--connect", &address, "-f", "json", "--timeout", "3s"],
            ]
            .concat(),
            "",
        );
        assert_eq!(code, 0, "{what}: {out}{err}");
        assert_eq!(err, "", "{what}");
        let messages = messages(&out);
        let shown: Vec<&str> = messages.iter().filter_map(|m| m["kind"].as_str()).collect();
        assert_eq!(shown, kinds, "{what}");
        assert!(
            messages.iter().all(|m| m["reply_to"].is_u64()),
            "{what}: {out}"
        );
        let awaited = served.join().unwrap();
        assert!(!awaited.is_empty(), "{what}");
    }
}

#[test]
fn error_answer_exits_with_1() {
    for (protocol, words, listen, framing) in [
        (
            "saikuro",
            &["call", "math.add", "1"][..],
            TCP,
            Framing::Prefix,
        ),
        ("oracle", &["invoke", "f"], TCP, Framing::Lines),
        ("sael", &["INV", "math.add"], WS, Framing::WebSocket),
        (
            "stepflow",
            &["components/execute", "/f", "{}"],
            HTTP,
            Framing::Http,
        ),
    ] {
        let (address, served) = serve(protocol, listen, framing, ServerReply::No);
        let (code, out, err) = send(&[&[protocol], words, &["--connect", &address]].concat(), "");
        assert_eq!((code, err.as_str()), (1, ""), "{protocol}: {out}");
        assert!(out.contains("not today"), "{protocol}: {out}");
        served.join().unwrap();
    }
}

#[test]
fn missing_answer_is_reported_as_a_hang() {
    let (address, served) = serve("saikuro", TCP, Framing::Prefix, ServerReply::Nothing);
    let args = [
        "saikuro",
        "call",
        "math.add",
        "1",
        "--connect",
        &address,
        "--timeout",
        "300ms",
    ];
    let (code, out, err) = send(&args, "");
    assert_eq!(code, 1, "{err}");
    assert!(out.starts_with("✗ hangs: no message for "), "{out}");
    assert!(
        out.contains("call math.add") && out.contains("must send it"),
        "{out}"
    );
    served.join().unwrap();

    // The JSON output has one line per message, and this is not one.
    let (address, served) = serve("saikuro", TCP, Framing::Prefix, ServerReply::Nothing);
    let args = [
        "saikuro",
        "call",
        "math.add",
        "-f",
        "json",
        "--connect",
        &address,
    ];
    let (code, out, err) = send(&[&args[..], &["--timeout", "300ms"]].concat(), "");
    assert_eq!((code, out.as_str()), (1, ""));
    assert!(err.starts_with("wiretool: ✗ hangs: "), "{err}");
    served.join().unwrap();

    // A handshake that does not finish.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("tcp://{}", listener.local_addr().unwrap());
    let args = [
        "oracle",
        "invoke",
        "f",
        "--connect",
        &address,
        "--timeout",
        "300ms",
    ];
    let (code, out, _) = send(&args, "");
    assert_eq!(code, 1);
    assert!(
        out.contains("the next message") && out.contains("ready"),
        "{out}"
    );
    drop(listener);
    let (code, out, err) = send(&args, "");
    assert_eq!((code, out.as_str()), (2, ""));
    assert!(err.contains("cannot connect to tcp://"), "{err}");
}

#[test]
fn messages_wait_for_answers_unless_typed() {
    let folder = common::temporary();
    let file = folder.join("send-words.txt");
    std::fs::write(&file, "# two calls\ncall math.add 1 2\n\ncall math.add 'a b' 3\n{\"version\":1,\"type\":\"call\",\"id\":\"x\",\"target\":\"f\",\"args\":[]}\n").unwrap();
    let json = folder.join("send.json");
    std::fs::write(
        &json,
        "[{\"version\":1,\"type\":\"call\",\"id\":\"y\",\"target\":\"f\",\"args\":[]}]",
    )
    .unwrap();
    let recording = folder.join("send-recording.jsonl");
    let _ = std::fs::remove_file(&recording);
    let (address, served) = serve("saikuro", TCP, Framing::Prefix, ServerReply::Result("3"));
    let [file, json, recording] = [&file, &json, &recording].map(|p| p.to_str().unwrap());
    let args = [
        "saikuro",
        "--file",
        file,
        "--json",
        json,
        "--connect",
        &address,
        "-f",
        "json",
        "-q",
        "-w",
        recording,
    ];
    let (code, out, err) = send(&args, "");
    assert_eq!((code, err.as_str()), (0, ""));
    assert_eq!(messages(&out).len(), 4, "{out}");
    served.join().unwrap();
    // The recording can be read and replayed.
    let text = std::fs::read_to_string(recording).unwrap();
    let directions: Vec<&str> = text
        .lines()
        .filter(|line| line.contains("\"b64\""))
        .filter_map(|line| line.split("\"dir\":\"").nth(1)?.get(..3))
        .collect();
    assert_eq!(
        directions,
        ["c2s", "s2c"].repeat(4),
        "each waits for the answer before it: {text}"
    );

    let (address, served) = serve("saikuro", TCP, Framing::Prefix, ServerReply::Result("3"));
    let args = ["saikuro", "-", "--connect", &address];
    let (code, out, err) = send(&args, "call math.add 1\nnonsense\ncall math.add 2\n");
    assert_eq!(code, 1, "one line was no message");
    assert!(
        err.contains("wanted one of call") && err.contains("`nonsense`"),
        "{err}"
    );
    assert_eq!(
        out.lines().filter(|line| line.contains("response")).count(),
        2,
        "{out}"
    );
    served.join().unwrap();
}

#[test]
fn child_is_asked_over_its_pipes() {
    let oracle = r#"
printf '{"jsonrpc":"2.0","id":0,"method":"ready"}\n'
read -r ack; read -r line; printf '{"jsonrpc":"2.0","id":0,"result":["0x2"]}\n'; echo "$ack" >&2; read -r bye; echo "$bye" >&2"#;
    let (code, out, err) = send(
        &["oracle", "invoke", "f", "1", "--", "sh", "-c", oracle],
        "",
    );
    assert_eq!(code, 0, "{err}");
    assert!(
        out.contains("result  [1]") && out.contains("\"0x2\""),
        "{out}"
    );
    assert_eq!(
        err.lines().collect::<Vec<_>>(),
        [
            r#"{"jsonrpc":"2.0","id":0,"result":{}}"#,
            r#"{"jsonrpc":"2.0","method":"shutdown"}"#
        ]
    );
    let args = ["oracle", "invoke", "f", "1", "--", "sh", "-c", "exit 4"];
    let (code, out, err) = send(&args, "");
    assert_eq!((code, out.as_str()), (1, ""));
    assert_eq!(
        err,
        "wiretool: the child ended with status 4 before ready of the oracle came\n"
    );
    let (code, _, err) = send(&["oracle", "invoke", "f", "--", "/none/such"], "");
    assert_eq!(code, 2);
    assert!(err.contains("cannot run /none/such"), "{err}");
}

#[test]
fn invalid_requests_are_refused_before_connecting() {
    for (args, wanted) in [
        (
            &["oracle", "invok", "--connect", TCP][..],
            "wanted invoke, got `invok`",
        ),
        (&["oracle", "invoke", "f"], "no peer"),
        (
            &["mcp", "tools/list", "sh", "x"],
            "the command stands after --: wiretool send mcp tools/list -- sh x",
        ),
        (
            &["mcp", "tools/list", "sh"],
            "the command stands after --: wiretool send mcp tools/list -- sh",
        ),
        (&["mcp", "tools/call", "sh"], "no peer: use --connect"),
        (&["oracle", "--connect", TCP], "required"),
        (
            &["saikuro", "call", "a", "--connect", "ftp://x"],
            "ftp:// is not an address",
        ),
        (
            &[
                "saikuro",
                "call",
                "a",
                "--insecure",
                "--connect",
                "tcp://127.0.0.1:1",
            ],
            "--cacert and --insecure need TLS",
        ),
    ] {
        let (code, out, err) = send(args, "");
        assert_eq!((code, out.as_str()), (2, ""), "{args:?}: {err}");
        assert!(err.contains(wanted), "{args:?}: {err}");
    }
}

#[test]
fn header_flags_cannot_inject_lines() {
    for (flag, value, wanted) in [
        (
            "--connect",
            "ws://h/a\r\nX-Evil: 1",
            "a path cannot contain",
        ),
        ("--connect", "http://h/a b", "a path cannot contain"),
        ("--connect", "http://h\r\nx: 1/a", "a host cannot contain"),
        ("--header", "x: a\u{1b}[31m", "a field value cannot contain"),
        ("--header", "x y: a", "wanted NAME: VALUE"),
        (
            "--header",
            "Content-Length: 5",
            "Content-Length cannot be set",
        ),
        (
            "--header",
            "sec-websocket-key: 1",
            "wiretool generates it for each message",
        ),
    ] {
        let (code, out, err) = send(&["stepflow", "initialize", flag, value], "");
        assert_eq!((code, out.as_str()), (2, ""), "{value:?}: {err}");
        assert!(err.contains(wanted), "{value:?}: {err}");
    }
}

/// Reads one HTTP message: its head and its body.
fn posted(stream: &mut std::net::TcpStream) -> String {
    let (mut text, mut byte) = (Vec::new(), [0]);
    loop {
        let head = String::from_utf8_lossy(&text).into_owned();
        if let Some((head, body)) = head.split_once("\r\n\r\n") {
            let length = head
                .lines()
                .find_map(|l| l.strip_prefix("content-length: "));
            if body.len() == length.map_or(0, |l| l.parse().unwrap()) {
                return body.to_owned();
            }
        }
        if stream.read(&mut byte).unwrap() == 0 {
            return String::new();
        }
        text.push(byte[0]);
    }
}

fn answer(stream: &mut std::net::TcpStream, status: &str, body: &str) {
    let length = body.len();
    write!(stream, "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}")
        .unwrap();
}

/// A request that HTTP refuses has no other answer.
#[test]
fn http_error_status_is_reported() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let to = format!("http://{}", listener.local_addr().unwrap());
    let server = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        posted(&mut stream);
        answer(
            &mut stream,
            "400 Bad Request",
            r#"{"error":{"code":-32600,"message":"no attempt"}}"#,
        );
        posted(&mut stream);
    });
    let (code, out, err) = send(
        &["stepflow", "initialize", "-f", "json", "--connect", &to],
        "",
    );
    assert_eq!(code, 1, "{out}{err}");
    assert!(out.contains("no attempt"), "{out}");
    server.join().unwrap();
}

/// Requests of the server during an answer are answered on a separate connection.
#[test]
fn callbacks_over_http_are_answered() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let to = format!("http://{}", listener.local_addr().unwrap());
    let server = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let id = |body: &str| serde_json::from_str::<Value>(body).unwrap()["id"].clone();
        let hello = id(&posted(&mut stream));
        let text =
            format!(r#"{{"jsonrpc":"2.0","id":{hello},"result":{{"server_protocol_version":1}}}}"#);
        answer(&mut stream, "200 OK", &text);
        posted(&mut stream);
        answer(&mut stream, "202 Accepted", "");
        let asked = id(&posted(&mut stream));
        write!(
            stream,
            "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n"
        )
        .unwrap();
        write!(stream, "data: {{\"jsonrpc\":\"2.0\",\"id\":\"cb\",\"method\":\"blobs/put\",\"params\":{{\"data\":1,\"blob_type\":\"data\"}}}}\n\n").unwrap();
        let (mut other, _) = listener.accept().unwrap();
        let reply: Value = serde_json::from_str(&posted(&mut other)).unwrap();
        answer(&mut other, "202 Accepted", "");
        assert_eq!(reply["id"], "cb");
        let blob = &reply["result"]["blob_id"];
        write!(
            stream,
            "data: {{\"jsonrpc\":\"2.0\",\"id\":{asked},\"result\":{{\"output\":{blob}}}}}\n\n"
        )
        .unwrap();
        stream.shutdown(std::net::Shutdown::Write).unwrap();
    });
    let words = [
        "stepflow",
        "components/execute",
        "/a",
        "1",
        "-f",
        "json",
        "--timeout",
        "20s",
        "--connect",
        &to,
    ];
    let (code, out, err) = send(&words, "");
    assert_eq!(code, 0, "{out}{err}");
    assert!(
        messages(&out)[0]["message"]["result"]["output"].is_string(),
        "{out}"
    );
    server.join().unwrap();
}

/// In both length modes, the client waits for the answer before it closes.
#[test]
fn answer_in_both_length_modes_is_awaited() {
    for (mode, size) in [("exclusive", 20), ("inclusive", 20)] {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let to = format!("tcp://{}", listener.local_addr().unwrap());
        let server = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut request = vec![0; size];
            stream.read_exact(&mut request).unwrap();
            let reported = "2a0000005d108ae400002000000002000000633906000000515545554544000000000000000000\
                        7aa4fca1010000";
            stream.write_all(&hex::decode(reported).unwrap()).unwrap();
            // Until the client closes.
            let _ = stream.read(&mut [0]);
        });
        let words = [
            "telequick",
            "Terminate",
            "call_sid=c9",
            "-f",
            "json",
            "--length-mode",
            mode,
        ];
        let (code, out, err) = send(&[&words[..], &["--connect", &to]].concat(), "");
        assert_eq!((code, messages(&out).len()), (0, 1), "{mode}: {out}{err}");
        server.join().unwrap();
    }
}

/// Starts a server that sends no answer and handles the first connection with `does`.
fn raw(does: impl FnOnce(std::net::TcpStream) + Send + 'static) -> (String, JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("tcp://{}", listener.local_addr().unwrap());
    let server = std::thread::spawn(move || does(listener.accept().unwrap().0));
    (address, server)
}

/// A message that did not arrive was not sent.
#[test]
fn bytes_that_the_peer_does_not_take_are_reported() {
    let folder = common::temporary();
    let casts = folder.join("send-casts.jsonl");
    let cast = |n: usize| {
        let text = "x".repeat(1_000_000);
        format!(
            "{{\"version\":1,\"type\":\"cast\",\"id\":\"{n:032x}\",\"target\":\"f\",\"args\":[\"{text}\"]}}\n"
        )
    };
    std::fs::write(&casts, (0..20).map(cast).collect::<String>()).unwrap();
    let casts = casts.to_str().unwrap();
    let args = ["saikuro", "--json", casts, "-q", "--connect"];
    // A server that never reads, and one that closes during the transfer.
    let (over, held) = std::sync::mpsc::channel::<()>();
    let (address, server) = raw(move |_stream| {
        let _ = held.recv();
    });
    let (code, out, err) = send(&[&args[..], &[&address]].concat(), "");
    drop(over);
    server.join().unwrap();
    assert_eq!((code, out.as_str()), (1, ""), "{err}");
    assert!(
        err.contains("the other side does not read its data: closed"),
        "{err}"
    );
    let reported = |err: &str| {
        let last = err.lines().last().unwrap_or_default();
        let bytes = last.strip_prefix("wiretool: bytes that the other side did not receive: ");
        bytes.map(|bytes| bytes.parse::<u64>().unwrap())
    };
    assert!(
        reported(&err).is_some_and(|bytes| bytes > 1_000_000),
        "{err}"
    );
    let (address, server) = raw(|mut stream| {
        let mut some = [0; 4096];
        stream.read_exact(&mut some).unwrap();
    });
    let (code, out, err) = send(&[&args[..], &[&address]].concat(), "");
    server.join().unwrap();
    assert_eq!((code, out.as_str()), (1, ""), "{err}");
    assert!(
        reported(&err).is_some_and(|bytes| bytes > 1_000_000),
        "{err}"
    );
}

/// An oracle in a shell, with one answer for all invokes.
const ORACLE: &str = r#"
printf '{"jsonrpc":"2.0","id":0,"method":"ready"}\n'
while read -r line; do
  case $line in
    *shutdown*) exit 0 ;;
    *invoke*)
      id=${line#*\"id\":}; id=${id%%,*}
      printf '{"jsonrpc":"2.0","id":%s,"result":["0x2"]}\n' "$id" ;;
    *) ;;
  esac
done
"#;

const CHILD: [&str; 4] = ["--", "sh", "-c", ORACLE];

/// A line of decode is sent as its message, in any file.
#[test]
fn lines_of_decode_are_unwrapped() {
    let folder = common::temporary();
    let line = |message: &str| {
        format!(
            "{{\"v\":1,\"index\":0,\"framing\":\"lines\",\"protocol\":\"oracle\",\"kind\":\"invoke\"{message}}}"
        )
    };
    let asked =
        r#"{"jsonrpc":"2.0","id":7,"method":"invoke","params":{"selector":"f","calldata":[]}}"#;
    let whole = line(&format!(",\"message\":{asked}"));
    let recording = folder.join("send-unwrapped.jsonl");
    let file = folder.join("send-unwrapped.json");
    for (flag, text) in [
        ("--json", whole.clone()),
        ("--json", format!("[{whole}]")),
        ("--json", format!("[{asked}]")),
        ("--file", whole.clone()),
        ("--file", asked.to_owned()),
    ] {
        let _ = std::fs::remove_file(&recording);
        std::fs::write(&file, &text).unwrap();
        let [file, recording] = [&file, &recording].map(|p| p.to_str().unwrap());
        let args = ["oracle", flag, file, "-q", "-w", recording];
        let (code, _, err) = send(&[&args[..], &CHILD].concat(), "");
        assert_eq!((code, err.as_str()), (0, ""), "{text}");
        let sent = std::fs::read_to_string(recording).unwrap();
        let wanted = serde_json::to_string(&format!("{asked}\n")).unwrap();
        assert!(sent.contains(&wanted), "{text}: {sent}");
    }
    // The line contains no message.
    std::fs::write(&file, line("")).unwrap();
    for flag in ["--json", "--file"] {
        let args = ["oracle", flag, file.to_str().unwrap()];
        let (code, out, err) = send(&[&args[..], &CHILD].concat(), "");
        assert_eq!((code, out.as_str()), (2, ""));
        assert!(
            err.ends_with(": this line of decode contains no message\n"),
            "{err}"
        );
    }
    // A message of no protocol is sent, with a warning.
    std::fs::write(&file, "{\"x\":1}").unwrap();
    let args = ["oracle", "--json", file.to_str().unwrap()];
    let (code, _, err) = send(&[&args[..], &CHILD].concat(), "");
    assert_eq!(
        (code, err.as_str()),
        (
            0,
            "wiretool: {\"x\":1}: not a message of oracle, sent anyway\n"
        )
    );
}

#[test]
fn non_utf8_line_is_reported_and_skipped() {
    let child = |stdin: Stdio, input: &[u8]| {
        let mut child = common::wiretool()
            .args(["send", "oracle", "-", "-f", "json"])
            .args(CHILD)
            .stdin(stdin)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        if let Some(mut stdin) = child.stdin.take() {
            stdin.write_all(input).unwrap();
        }
        let output = child.wait_with_output().unwrap();
        common::outcome_of(&output)
    };
    let (code, out, err) = child(
        Stdio::piped(),
        b"invoke f 0x2\ninvoke \xff\xfe\ninvoke f 0x4\n",
    );
    assert_eq!((code, messages(&out).len()), (1, 2), "{err}");
    assert_eq!(err, "wiretool: stdin, line 2: not UTF-8 at byte 7\n");
    // A folder can be opened, but not read.
    let folder = std::fs::File::open(common::temporary()).unwrap();
    let (code, out, err) = child(folder.into(), b"");
    assert_eq!((code, out.as_str()), (2, ""));
    assert!(
        err.starts_with("wiretool: stdin, line 1: cannot be read: "),
        "{err}"
    );
    for args in [
        ["--file", "-", "--json", "-"],
        ["--json", "-", "--json", "-"],
    ] {
        let (code, _, err) = send(&[&["oracle"], &args[..], &CHILD].concat(), "");
        assert_eq!(
            (code, err.as_str()),
            (2, "wiretool: -: stdin can be read only once\n")
        );
    }
}

/// A server that accepts the connection and never finishes the TLS handshake.
#[test]
fn silent_tls_server_is_reported_and_signals_end_the_wait() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("tls://{}", listener.local_addr().unwrap());
    let args = ["saikuro", "call", "math.add", "1", "--connect", &address];
    let (code, out, err) = send(&[&args[..], &["--timeout", "300ms"]].concat(), "");
    assert_eq!(code, 1, "{err}");
    assert!(
        out.contains("the connection is not open") && out.contains("TLS"),
        "{out}{err}"
    );
    drop(listener.accept().unwrap());
    for (signal, status) in [
        (rustix::process::Signal::INT, 130),
        (rustix::process::Signal::TERM, 143),
    ] {
        let mut command = common::wiretool();
        command
            .arg("send")
            .args(args)
            .stdin(std::process::Stdio::null());
        let mut child = command.stderr(std::process::Stdio::null()).spawn().unwrap();
        // Its first message has arrived: it waits for an answer.
        let (mut stream, _) = listener.accept().unwrap();
        let mut first = [0];
        std::io::Read::read_exact(&mut stream, &mut first).unwrap();
        let pid = rustix::process::Pid::from_child(&child);
        rustix::process::kill_process(pid, signal).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(status));
    }
}
