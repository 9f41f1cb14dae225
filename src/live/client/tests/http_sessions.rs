//! Sessions over HTTP: the fields that requests repeat, and the event streams that GET opens.

use super::recorded_peer::{FinishedRun, TestPeer, plan, play, settings};
use std::collections::BTreeMap;

const RESULT: &str =
    r#"{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}}"#;
const HELLO: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"roots":{}},"clientInfo":{"name":"c","version":"1"}}}"#;
const ROOTS: &str = r#"{"jsonrpc":"2.0","id":7,"method":"roots/list"}"#;
const EVENTS: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n";

/// A server that names its sessions. Requests without the name, or of another version, are refused.
#[allow(clippy::struct_excessive_bools)] // independent facts
struct Server {
    name: &'static str,
    /// All answers are events, and messages have another path.
    is_older: bool,
    streams: bool,
    stream: Option<u32>,
    /// A request waits for the stream.
    is_waiting: bool,
    /// The response to a call ends after its first event; the answer follows on the stream that continues it.
    polls: bool,
    /// The answer, and the id of the event before it.
    held: Option<(String, u32)>,
    heads: BTreeMap<u32, Vec<String>>,
}

impl Server {
    fn new(name: &'static str, is_older: bool, streams: bool) -> Self {
        Self {
            name,
            is_older,
            streams,
            stream: None,
            is_waiting: false,
            polls: false,
            held: None,
            heads: BTreeMap::new(),
        }
    }

    fn response(status: &str, fields: &str, body: &str) -> String {
        let len = body.len();
        format!("HTTP/1.1 {status}\r\n{fields}content-length: {len}\r\n\r\n{body}")
    }

    fn answer(&mut self, conn: u32, head: &str, body: &str) -> Vec<(u32, String)> {
        let event = |text: &str| format!("id: 1\nevent: message\ndata: {text}\n\n");
        let message: serde_json::Value = serde_json::from_str(body).unwrap_or_default();
        let result = |result: &str| {
            let id = &message["id"];
            format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#)
        };
        let name = format!("mcp-session-id: {}\r\n", self.name);
        let posted = format!("POST /messages?sessionId={} ", self.name);
        let continued = self
            .held
            .take_if(|(_, id)| head.contains(&format!("last-event-id: {id}\r\n")));
        if let Some((text, _)) = continued {
            assert!(
                head.starts_with("GET /mcp ") && head.contains(&name),
                "{head}"
            );
            return vec![(conn, format!("{EVENTS}\r\n{}", event(&text)))];
        }
        if head.starts_with("GET /mcp ") {
            if !self.streams {
                return vec![(conn, Self::response("405 Method Not Allowed", "", ""))];
            }
            assert!(self.is_older || head.contains(&name), "{head}");
            self.stream = Some(conn);
            let mut text = format!("{EVENTS}\r\n");
            if self.is_older {
                text += &format!(
                    "event: endpoint\ndata: /messages?sessionId={}\n\n",
                    self.name
                );
            }
            if std::mem::take(&mut self.is_waiting) {
                text += &event(ROOTS);
            }
            return vec![(conn, text)];
        }
        if self.is_older && !head.starts_with(&posted) {
            return vec![(conn, Self::response("404 Not Found", "", "no"))];
        }
        if message["method"] == "server/discover" {
            let error = r#"{"jsonrpc":"2.0","id":9,"error":{"code":-32000,"message":"no"}}"#;
            let fields = "content-type: application/json\r\nmcp-session-id: refused\r\n";
            return vec![(conn, Self::response("400 Bad Request", fields, error))];
        }
        let version = "mcp-protocol-version: 2025-11-25\r\n";
        let is_first = message["method"] == "initialize";
        let is_known = self.is_older || head.contains(&name) && head.contains(version);
        if !is_first && !is_known {
            return vec![(conn, Self::response("400 Bad Request", "", "no"))];
        }
        let accepted = || (conn, Self::response("202 Accepted", "", ""));
        let answered = |text: &str| match self.stream {
            Some(stream) if self.is_older => vec![accepted(), (stream, event(text))],
            _ => {
                // The first event has no message.
                let body = format!("id: 0\ndata: \n\n{}", event(text));
                let len = body.len();
                let head = format!("{EVENTS}{name}content-length: {len}\r\n\r\n");
                vec![(conn, head + &body)]
            }
        };
        match message["method"].as_str() {
            Some("initialize") => answered(&result(RESULT)),
            Some("tools/call") if self.polls => {
                self.held = Some((result(r#"{"content":[]}"#), 5));
                let body = "id: 5\r\nretry: 10\r\ndata:\r\n\r\n";
                let len = body.len();
                vec![(conn, format!("{EVENTS}content-length: {len}\r\n\r\n{body}"))]
            }
            Some("tools/call") => answered(&result(r#"{"content":[]}"#)),
            Some(_) => {
                self.is_waiting = self.stream.is_none();
                let on_stream = self.stream.map(|stream| (stream, event(ROOTS)));
                [accepted()].into_iter().chain(on_stream).collect()
            }
            None => vec![accepted()],
        }
    }
}

impl TestPeer for Server {
    fn receive(&mut self, conn: u32, bytes: &[u8]) -> Vec<(u32, Vec<u8>)> {
        let text = String::from_utf8(bytes.to_vec()).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        let head = format!("{head}\r\n");
        let sent = self.answer(conn, &head, body);
        self.heads.entry(conn).or_default().push(head);
        let bytes = |(conn, text): (u32, String)| (conn, text.into_bytes());
        sent.into_iter().map(bytes).collect()
    }
}

/// Returns the recording of a session in which the server was called `old`.
fn recording(is_older: bool, refused_first: bool) -> Vec<u8> {
    let mut server = Server::new("old", is_older, true);
    let mut out = String::from(
        "{\"wiretool\":1,\"protocol\":\"mcp\",\"started\":\"2026-01-01T00:00:00Z\",\"transport\":\"tcp\"}\n",
    );
    let mut say = |conn: u32, start: &str, body: &str| {
        let fields = if is_older {
            ""
        } else {
            "Mcp-Session-Id: old\r\nMCP-Protocol-Version: 2025-11-25\r\n"
        };
        let accept = match start {
            "GET /mcp" => "accept: text/event-stream\r\n",
            _ => "",
        };
        let head = format!("{start} HTTP/1.1\r\nhost: h\r\nx-own: {conn}\r\n{accept}{fields}");
        let len = body.len();
        let sent = format!("{head}content-length: {len}\r\n\r\n{body}");
        let answers = server.answer(
            conn,
            &head
                .to_ascii_lowercase()
                .replace("post /", "POST /")
                .replace("get /", "GET /")
                .replace("sessionid", "sessionId"),
            body,
        );
        let mut all = vec![(conn, "c2s", sent)];
        all.extend(answers.into_iter().map(|(conn, text)| (conn, "s2c", text)));
        for (conn, dir, text) in all {
            let text = serde_json::to_string(&text).unwrap();
            out += &format!("{{\"t\":1,\"conn\":{conn},\"dir\":\"{dir}\",\"text\":{text}}}\n");
        }
    };
    let post = if is_older {
        "POST /messages?sessionId=old"
    } else {
        "POST /mcp"
    };
    if refused_first {
        say(1, "POST /mcp", HELLO);
    }
    if is_older {
        say(9, "GET /mcp", "");
    }
    say(1, post, HELLO);
    if !is_older {
        say(9, "GET /mcp", "");
    }
    say(
        1,
        post,
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
    );
    say(2, post, r#"{"jsonrpc":"2.0","id":7,"result":{"roots":[]}}"#);
    say(
        2,
        post,
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}"#,
    );
    out += "{\"t\":2,\"event\":\"end\",\"chunks\":1,\"bytes\":{}}\n";
    out.into_bytes()
}

/// A client that tries a version without sessions first.
#[test]
fn a_response_that_refuses_names_no_session() {
    let recorded = String::from_utf8(recording(false, false)).unwrap();
    let (header, rest) = recorded.split_once('\n').unwrap();
    let message = r#"{"jsonrpc":"2.0","id":9,"method":"server/discover","params":{}}"#;
    let head = "POST /mcp HTTP/1.1\r\nhost: h\r\nmcp-method: server/discover\r\n";
    let len = message.len();
    let sent = format!("{head}content-length: {len}\r\n\r\n{message}");
    let (_, answer) = Server::new("old", false, true)
        .answer(5, "POST /mcp ", message)
        .remove(0);
    let line = |dir: &str, text: &str| {
        let text = serde_json::to_string(text).unwrap();
        format!("{{\"t\":1,\"conn\":5,\"dir\":\"{dir}\",\"text\":{text}}}\n")
    };
    let recorded = format!(
        "{header}\n{}{}{rest}",
        line("c2s", &sent),
        line("s2c", &answer)
    );
    let mut server = Server::new("new", false, true);
    let run = replayed(recorded.as_bytes(), &mut server);
    assert!(run.outcome.is_clean(), "{:?}", run.reported);
    let mut heads: Vec<&String> = server.heads.values().flatten().collect();
    assert!(heads.iter().all(|head| !head.contains("refused")));
    heads.retain(|head| head.starts_with("GET "));
    let [get] = heads.as_slice() else {
        panic!("{heads:?}");
    };
    assert!(
        get.contains("session-id: new") && !get.contains("mcp-method"),
        "{get}"
    );
}

fn replayed(recording: &[u8], server: &mut Server) -> FinishedRun {
    let plan = plan(recording);
    let mut plan = plan;
    plan.path = Some("/mcp".into());
    let run = play(&plan, &settings(plan.protocol), server);
    assert_eq!(run.outcome.failure, None);
    run
}

#[test]
fn later_requests_repeat_the_name_and_the_version_of_the_session() {
    let mut server = Server::new("new", false, true);
    let run = replayed(&recording(false, false), &mut server);
    assert!(run.outcome.is_clean(), "{:?}", run.reported);
    assert_eq!((run.outcome.sent, run.outcome.compared), (4, 3));
    let heads: Vec<&String> = server.heads.values().flatten().collect();
    let has = |head: &str, text: &str| head.to_ascii_lowercase().contains(text);
    assert_eq!(heads.len(), 5);
    // The first message of a recording may have a name; the server then gives another one.
    assert_eq!(
        heads
            .iter()
            .filter(|head| has(head, "session-id: old"))
            .count(),
        1
    );
    assert_eq!(
        heads
            .iter()
            .filter(|head| has(head, "session-id: new"))
            .count(),
        4
    );
    // Each message has the fields of its own recorded head.
    assert_eq!(heads.iter().filter(|head| has(head, "x-own: 2")).count(), 2);
}

#[test]
fn a_server_without_event_stream_refuses_get_and_the_rest_goes_on() {
    let mut server = Server::new("new", false, false);
    let run = replayed(&recording(false, false), &mut server);
    // Only the request of the server is missing, with what answers it.
    assert!(!run.outcome.is_clean());
    assert!(run.reported[0].contains("roots/list"), "{:?}", run.reported);
}

#[test]
fn older_http_transport_posts_to_the_endpoint_event() {
    for refused_first in [false, true] {
        let mut server = Server::new("new", true, true);
        let run = replayed(&recording(true, refused_first), &mut server);
        assert!(run.outcome.is_clean(), "{:?}", run.reported);
        assert_eq!((run.outcome.sent, run.outcome.compared), (4, 3));
        let posts = server.heads.values().flatten();
        let posts = posts.filter(|head| head.starts_with("POST /messages?sessionId=new "));
        assert_eq!(posts.count(), 4);
    }
}

#[test]
fn a_response_that_ends_before_the_answer_is_continued_after_its_last_event() {
    let mut server = Server::new("new", false, true);
    server.polls = true;
    let run = replayed(&recording(false, false), &mut server);
    assert!(run.outcome.is_clean(), "{:?}", run.reported);
    assert_eq!((run.outcome.sent, run.outcome.compared), (4, 3));
    let heads = server.heads.values().flatten();
    let continued = heads.filter(|head| head.contains("last-event-id: 5\r\n"));
    assert_eq!(continued.count(), 1);
}

/// A server that names each session anew. A message without a name begins one.
#[derive(Default)]
struct Names {
    sessions: usize,
    /// The names of sessions that DELETE has ended.
    deleted: Vec<String>,
    /// The methods, with the names of their requests.
    seen: Vec<(String, String)>,
}

impl TestPeer for Names {
    fn receive(&mut self, conn: u32, bytes: &[u8]) -> Vec<(u32, Vec<u8>)> {
        let text = String::from_utf8(bytes.to_vec()).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        let name = head
            .lines()
            .find_map(|line| line.strip_prefix("mcp-session-id: "));
        let name = name.unwrap_or_default().to_owned();
        if head.starts_with("DELETE ") {
            self.seen.push(("DELETE".to_owned(), name.clone()));
            self.deleted.push(name);
            return vec![(conn, Server::response("200 OK", "", "").into_bytes())];
        }
        if head.starts_with("GET ") {
            self.seen.push(("GET".to_owned(), name));
            let text = Server::response("405 Method Not Allowed", "", "");
            return vec![(conn, text.into_bytes())];
        }
        let message: serde_json::Value = serde_json::from_str(body).unwrap();
        let method = message["method"].as_str().unwrap().to_owned();
        let result = |result: &str| {
            let id = &message["id"];
            format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#)
        };
        let json = "content-type: application/json\r\n";
        let text = match method.as_str() {
            "initialize" => {
                self.sessions += 1;
                let fields = format!("{json}mcp-session-id: new-{}\r\n", self.sessions);
                Server::response("200 OK", &fields, &result(RESULT))
            }
            "tools/list" if !name.starts_with("new-") || self.deleted.contains(&name) => {
                let error = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"no"}}"#;
                Server::response("404 Not Found", json, error)
            }
            "tools/list" => Server::response("200 OK", json, &result(r#"{"tools":[]}"#)),
            _ => Server::response("202 Accepted", "", ""),
        };
        self.seen.push((method, name));
        vec![(conn, text.into_bytes())]
    }
}

#[test]
fn each_recorded_session_is_one_session_of_the_run() {
    let mut recording = String::from(
        "{\"wiretool\":1,\"protocol\":\"mcp\",\"started\":\"2026-01-01T00:00:00Z\",\"transport\":\"tcp\"}\n",
    );
    let mut say = |conn: u32, name: &str, body: &str, answer: &str| {
        let method = if body.is_empty() { "DELETE" } else { "POST" };
        let field = match name {
            "" => String::new(),
            name => format!("Mcp-Session-Id: {name}\r\nMCP-Protocol-Version: 2025-11-25\r\n"),
        };
        let len = body.len();
        let sent = format!(
            "{method} /mcp HTTP/1.1\r\nhost: h\r\n{field}content-length: {len}\r\n\r\n{body}"
        );
        for (dir, text) in [("c2s", sent.as_str()), ("s2c", answer)] {
            let text = serde_json::to_string(text).unwrap();
            recording +=
                &format!("{{\"t\":1,\"conn\":{conn},\"dir\":\"{dir}\",\"text\":{text}}}\n");
        }
    };
    let json = "content-type: application/json\r\n";
    let answered = |fields: &str, id: u32, result: &str| {
        let body = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#);
        Server::response("200 OK", &format!("{json}{fields}"), &body)
    };
    let begun = |name: &str| answered(&format!("mcp-session-id: {name}\r\n"), 0, RESULT);
    let initialized = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    let accepted = Server::response("202 Accepted", "", "");
    let list = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
    let listed = answered("", 1, r#"{"tools":[]}"#);
    say(1, "", HELLO, &begun("old-1"));
    say(1, "old-1", initialized, &accepted);
    say(2, "", HELLO, &begun("old-2"));
    say(2, "old-2", initialized, &accepted);
    say(1, "old-1", list, &listed);
    say(2, "old-2", list, &listed);
    // Requests with a wrong name, and without one, are such requests again.
    let refused = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"no"}}"#;
    let refused = Server::response("404 Not Found", json, refused);
    say(1, "wrong", list, &refused);
    say(2, "", list, &refused);
    // The first session ends while the other goes on.
    say(2, "old-1", "", &Server::response("200 OK", "", ""));
    say(1, "old-1", list, &refused);
    say(1, "old-2", list, &listed);
    recording += "{\"t\":2,\"event\":\"end\",\"chunks\":1,\"bytes\":{}}\n";
    let plan = plan(recording.as_bytes());
    let mut server = Names::default();
    let run = play(&plan, &settings(plan.protocol), &mut server);
    assert!(run.outcome.is_clean(), "{:?}", run.reported);
    assert_eq!(server.deleted, ["new-1"]);
    assert_eq!((run.outcome.sent, run.outcome.compared), (10, 8));
    let at = |method: &str| server.seen.iter().position(|(seen, _)| seen == method);
    assert_eq!(at("DELETE"), Some(8));
    // Connections keep their own order only.
    server.seen.sort();
    let seen: Vec<(&str, &str)> = server.seen.iter().map(|(a, b)| (&**a, &**b)).collect();
    let wanted = [
        ("DELETE", "new-1"),
        ("initialize", ""),
        ("initialize", ""),
        ("notifications/initialized", "new-1"),
        ("notifications/initialized", "new-2"),
        ("tools/list", ""),
        ("tools/list", "new-1"),
        ("tools/list", "new-1"),
        ("tools/list", "new-2"),
        ("tools/list", "new-2"),
        ("tools/list", "wrong"),
    ];
    assert_eq!(seen, wanted);
}

/// The recorded client resumed the event stream, and the server sent a notification and the answer again; a run without
/// the interruption has them once.
#[test]
fn messages_that_a_resumed_stream_repeats_are_not_awaited() {
    let recorded = String::from_utf8(recording(false, false)).unwrap();
    let (recorded, end) = recorded.split_at(recorded.find("{\"t\":2,").unwrap());
    let call = r#"{"jsonrpc":"2.0","id":1,"result":{"content":[]}}"#;
    let events = format!(
        "{EVENTS}\r\nid: 1\nevent: message\ndata: {ROOTS}\n\nid: 1\nevent: message\ndata: {call}\n\n"
    );
    let get = "GET /mcp HTTP/1.1\r\nhost: h\r\naccept: text/event-stream\r\nmcp-session-id: old\r\nlast-event-id: 0\r\n\r\n";
    let line = |dir: &str, text: &str| {
        let text = serde_json::to_string(text).unwrap();
        format!("{{\"t\":1,\"conn\":10,\"dir\":\"{dir}\",\"text\":{text}}}\n")
    };
    let recorded = format!(
        "{recorded}{}{}{end}",
        line("c2s", get),
        line("s2c", &events)
    );
    let mut server = Server::new("new", false, true);
    let run = replayed(recorded.as_bytes(), &mut server);
    assert!(run.outcome.is_clean(), "{:?}", run.reported);
    assert_eq!((run.outcome.sent, run.outcome.compared), (4, 3));
}
