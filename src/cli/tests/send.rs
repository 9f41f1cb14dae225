//! `wiretool send` as a user meets it: a question, its answer, over every transport and in every protocol; and peers that
//! say no, hang, or are not there.

// Long: the tests of one command share its peers.

use crate::capture::Header;
use crate::common::{self, Told};
use crate::conversation::Judge;
use crate::framing::{Framing, Limits};
use crate::live::codec::ConnectionConfig;
use crate::live::endpoint::Endpoint;
use crate::live::handler::{Command, Ended, Handler};
use crate::protocol::peer::{Offer, PeerConfig, Phrase, Request};
use crate::protocol::{Direction, Protocol, Role, registry};
use crate::transport::{Accepting, Address, Bound, Setup};
use serde_json::Value;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::process::Stdio;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

/// Exit code, stdout and stderr.
fn send(args: &[&str], stdin: &str) -> Told {
    common::run(common::wiretool().arg("send").args(args), stdin)
}

/// What is said to a request.
#[derive(Clone, Copy)]
enum Says {
    /// This result.
    Result(&'static str),
    /// Items, then the end.
    Items(&'static [&'static str]),
    /// No.
    No,
    /// Nothing.
    Nothing,
}

/// A server that says the same to everything.
struct Server {
    endpoint: Endpoint<'static>,
    says: Says,
    open: usize,
    /// Kinds that were heard.
    heard: Vec<String>,
}

impl Server {
    fn answer(&mut self, requests: Vec<Request>, now: i64, commands: &mut Vec<Command>) {
        for request in requests {
            let phrases: Vec<Phrase<'_>> = match self.says {
                Says::Result(value) => vec![Phrase::Result(value)],
                Says::Items(items) => {
                    let items = items.iter().map(|item| Phrase::Item(item));
                    items.chain([Phrase::End(None)]).collect()
                }
                Says::No => vec![Phrase::Error {
                    code: None,
                    message: "not today",
                    data: None,
                }],
                Says::Nothing => Vec::new(),
            };
            for phrase in phrases {
                let says = self.endpoint.phrase(&request, phrase, now).unwrap();
                self.endpoint.say(&says, None, now, commands).unwrap();
            }
        }
    }
}

impl Handler for Server {
    fn opened(&mut self, conn: u32, now: i64, commands: &mut Vec<Command>) {
        self.open += 1;
        self.endpoint.opened(conn, now, commands);
    }

    fn received(&mut self, conn: u32, bytes: &[u8], now: i64, commands: &mut Vec<Command>) {
        let (mut requests, kinds) = (Vec::new(), &mut self.heard);
        self.endpoint
            .received(conn, bytes, now, commands, &mut |heard| {
                let message = heard.decoded.message;
                if heard.decoded.frame.control.is_none() {
                    kinds.push(message.kind.to_string());
                }
                if message.role == Some(Role::Request) && heard.replies.is_empty() {
                    requests.push(Request::of(&heard.decoded.seen()));
                }
            });
        self.answer(requests, now, commands);
    }

    fn ended(&mut self, conn: u32, how: &Ended, now: i64, commands: &mut Vec<Command>) {
        self.endpoint.ended(conn, how, now, commands, &mut |_| {});
        if *how == Ended::Eof {
            commands.push(Command::Close(conn));
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

/// Serves one run; the address to connect to, and, in the end, the kinds that were heard.
fn serve(
    protocol: &str,
    listen: &str,
    framing: Framing,
    says: Says,
) -> (String, JoinHandle<Vec<String>>) {
    let acceptor = Bound::to(&Address::parse(listen).unwrap()).unwrap();
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
            says,
            open: 0,
            heard: Vec::new(),
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
        server.heard
    });
    (address, thread)
}

/// The messages that were shown.
fn messages(out: &str) -> Vec<Value> {
    out.lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap_or_else(|e| panic!("{e}: {line}")))
        .collect()
}

const TCP: &str = "tcp://127.0.0.1:0";
const WS: &str = "ws://127.0.0.1:0";
const HTTP: &str = "http://127.0.0.1:0";

#[test]
fn every_protocol_is_greeted_asked_and_heard() {
    let socket = format!("unix:{}/send.sock", common::temporary().display());
    let _ = std::fs::remove_file(&socket["unix:".len()..]);
    let three = Says::Result("3");
    for (protocol, words, listen, framing, says, kinds) in [
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
            Says::Items(&["1", "2"]),
            &["item", "item", "end"],
        ),
        (
            "oracle",
            &["invoke", "f", "1"],
            TCP,
            Framing::Lines,
            Says::Result("[\"0x3\"]"),
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
            Says::Items(&["1", "2"]),
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
        let (address, served) = serve(protocol, listen, framing, says);
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
        let heard = served.join().unwrap();
        assert!(!heard.is_empty(), "{what}");
    }
}

#[test]
fn no_is_an_answer_and_ends_with_1() {
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
        let (address, served) = serve(protocol, listen, framing, Says::No);
        let (code, out, err) = send(&[&[protocol], words, &["--connect", &address]].concat(), "");
        assert_eq!((code, err.as_str()), (1, ""), "{protocol}: {out}");
        assert!(out.contains("not today"), "{protocol}: {out}");
        served.join().unwrap();
    }
}

#[test]
fn an_answer_that_does_not_come_is_a_hang() {
    let (address, served) = serve("saikuro", TCP, Framing::Prefix, Says::Nothing);
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
    assert!(out.starts_with("✗ hangs: nothing came for "), "{out}");
    assert!(
        out.contains("call math.add") && out.contains("owes it"),
        "{out}"
    );
    served.join().unwrap();

    // JSON is a line a message, and this is none.
    let (address, served) = serve("saikuro", TCP, Framing::Prefix, Says::Nothing);
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

    // A handshake that does not come to its end.
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
fn several_messages_take_turns_and_a_session_by_hand_does_not_wait() {
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
    let (address, served) = serve("saikuro", TCP, Framing::Prefix, Says::Result("3"));
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
    // What was recorded can be read, and replayed.
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

    let (address, served) = serve("saikuro", TCP, Framing::Prefix, Says::Result("3"));
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
fn a_child_is_asked_over_its_pipes() {
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
fn what_is_asked_wrongly_is_told_before_anything_is_dialled() {
    for (args, status, wanted) in [
        (
            &["oracle", "invok", "--connect", TCP][..],
            1,
            "wanted one of ready",
        ),
        (&["oracle", "invoke", "f"], 2, "nobody to call"),
        (&["oracle", "--connect", TCP], 2, "required"),
        (
            &["saikuro", "call", "a", "--connect", "ftp://x"],
            2,
            "ftp:// is no address",
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
            2,
            "--cacert and --insecure are for TLS",
        ),
    ] {
        let (code, out, err) = send(args, "");
        assert_eq!((code, out.as_str()), (status, ""), "{args:?}: {err}");
        assert!(err.contains(wanted), "{args:?}: {err}");
    }
}

#[test]
fn nothing_but_fields_and_paths_goes_into_a_request() {
    for (flag, value, wanted) in [
        ("--connect", "ws://h/a\r\nX-Evil: 1", "stands in a path"),
        ("--connect", "http://h/a b", "stands in a path"),
        ("--connect", "http://h\r\nx: 1/a", "stands in a host"),
        ("--header", "x: a\u{1b}[31m", "in the value of a field"),
        ("--header", "x y: a", "NAME: VALUE is wanted"),
        (
            "--header",
            "Content-Length: 5",
            "Content-Length follows from what is sent",
        ),
        ("--header", "sec-websocket-key: 1", "it is made anew"),
    ] {
        let (code, out, err) = send(&["stepflow", "initialize", flag, value], "");
        assert_eq!((code, out.as_str()), (2, ""), "{value:?}: {err}");
        assert!(err.contains(wanted), "{value:?}: {err}");
    }
}

/// One message of HTTP: its head and its body.
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
fn what_http_refuses_is_told() {
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

/// What the server asks, while it answers, is answered on a connection of its own.
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

/// In neither flavour of lengths is a request left before its answer is there.
#[test]
fn an_answer_that_nobody_could_demand_is_waited_for() {
    for (mode, size) in [("exclusive", 20), ("inclusive", 20)] {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let to = format!("tcp://{}", listener.local_addr().unwrap());
        let server = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut request = vec![0; size];
            stream.read_exact(&mut request).unwrap();
            let told = "2a0000005d108ae400002000000002000000633906000000515545554544000000000000000000\
                        7aa4fca1010000";
            stream.write_all(&hex::decode(told).unwrap()).unwrap();
            // Until the client leaves.
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

/// A server that answers nothing; what it does with the first connection.
fn raw(does: impl FnOnce(std::net::TcpStream) + Send + 'static) -> (String, JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("tcp://{}", listener.local_addr().unwrap());
    let server = std::thread::spawn(move || does(listener.accept().unwrap().0));
    (address, server)
}

/// What was said and never arrived was not said.
#[test]
fn what_the_other_side_does_not_take_is_told() {
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
    // One that never reads, and one that leaves in the midst of it.
    let (over, held) = std::sync::mpsc::channel::<()>();
    let (address, server) = raw(move |_stream| {
        let _ = held.recv();
    });
    let (code, out, err) = send(&[&args[..], &[&address]].concat(), "");
    drop(over);
    server.join().unwrap();
    assert_eq!((code, out.as_str()), (1, ""), "{err}");
    assert!(
        err.contains("the other side does not take what it was sent: cut"),
        "{err}"
    );
    let told = |err: &str| {
        let last = err.lines().last().unwrap_or_default();
        let bytes = last
            .strip_prefix("wiretool: bytes of what was sent that the other side did not take: ");
        bytes.map(|bytes| bytes.parse::<u64>().unwrap())
    };
    assert!(told(&err).is_some_and(|bytes| bytes > 1_000_000), "{err}");
    let (address, server) = raw(|mut stream| {
        let mut some = [0; 4096];
        stream.read_exact(&mut some).unwrap();
    });
    let (code, out, err) = send(&[&args[..], &[&address]].concat(), "");
    server.join().unwrap();
    assert_eq!((code, out.as_str()), (1, ""), "{err}");
    assert!(told(&err).is_some_and(|bytes| bytes > 1_000_000), "{err}");
}

/// An oracle in a shell, which answers every invoke alike.
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

/// A line of decode is sent as the message that it tells of, wherever it stands.
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
    // There is nothing in it that could be sent.
    std::fs::write(&file, line("")).unwrap();
    for flag in ["--json", "--file"] {
        let args = ["oracle", flag, file.to_str().unwrap()];
        let (code, out, err) = send(&[&args[..], &CHILD].concat(), "");
        assert_eq!((code, out.as_str()), (2, ""));
        assert!(
            err.ends_with(": a line of decode that holds no message\n"),
            "{err}"
        );
    }
    // What is no message is sent, and told of.
    std::fs::write(&file, "{\"x\":1}").unwrap();
    let args = ["oracle", "--json", file.to_str().unwrap()];
    let (code, _, err) = send(&[&args[..], &CHILD].concat(), "");
    assert_eq!(
        (code, err.as_str()),
        (
            0,
            "wiretool: {\"x\":1}: no message of oracle, and sent all the same\n"
        )
    );
}

#[test]
fn a_line_that_is_no_text_is_told_and_the_rest_is_done() {
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
        common::told(&output)
    };
    let (code, out, err) = child(
        Stdio::piped(),
        b"invoke f 0x2\ninvoke \xff\xfe\ninvoke f 0x4\n",
    );
    assert_eq!((code, messages(&out).len()), (1, 2), "{err}");
    assert_eq!(err, "wiretool: stdin, line 2: not UTF-8 at byte 7\n");
    // A folder can be opened, and not read.
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
            (2, "wiretool: -: stdin can be read but once\n")
        );
    }
}

/// A server that takes the connection and never finishes the handshake of TLS.
#[test]
fn a_silent_tls_server_is_told_and_signals_end_the_wait() {
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
        // Its first message has come: it waits for an answer.
        let (mut stream, _) = listener.accept().unwrap();
        let mut first = [0];
        std::io::Read::read_exact(&mut stream, &mut first).unwrap();
        let pid = rustix::process::Pid::from_child(&child);
        rustix::process::kill_process(pid, signal).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(status));
    }
}
