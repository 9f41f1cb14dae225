//! `wiretool export -f har`: the same messages as the capture, secrets, selection, captures without HTTP.

use crate::common;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::Path;

/// What must be equal in the messages of an archive: all but their numbers, times and offsets. Heads are written anew.
fn comparable(path: &str) -> Vec<String> {
    let (_, out, _) = common::outcome(&["decode", "-q", "-f", "json", path]);
    let keys = ["dir", "protocol", "kind", "role", "id", "message", "fault"];
    let rows = out.lines().map(|line| {
        let row: Value = serde_json::from_str(line).unwrap();
        keys.map(|key| row.get(key).map_or(String::new(), ToString::to_string))
            .join(" ")
    });
    let mut rows: Vec<String> = rows.collect();
    // Entries are read one after the other.
    rows.sort();
    rows
}

fn recording(folder: &Path, chunks: &[(u32, &str, &str)]) -> String {
    let mut text = String::from(
        "{\"wiretool\":1,\"protocol\":\"mcp\",\"started\":\"2026-07-01T10:00:00Z\",\"connect\":\"https://a.example:8443\"}\n",
    );
    for (n, (conn, dir, chunk)) in chunks.iter().enumerate() {
        let line = json!({"t": n * 1_000_000, "conn": conn, "dir": dir, "text": chunk});
        writeln!(text, "{line}").unwrap();
    }
    writeln!(text, "{}", json!({"t": 1_000_000_000, "event": "end"})).unwrap();
    let path = folder.join("session.jsonl");
    std::fs::write(&path, text).unwrap();
    path.display().to_string()
}

#[test]
fn archives_have_the_same_messages() {
    let folder = tempfile::tempdir().unwrap();
    let archive = folder.path().join("session.har");
    let archive = archive.to_str().unwrap();
    for capture in [
        "fixtures/acp/http.jsonl",
        "fixtures/captures/websocket.har",
        "fixtures/cdp/session.jsonl",
        "fixtures/mcp/http.jsonl",
        "fixtures/stepflow/http-sse.jsonl",
    ] {
        let args = [
            "export",
            "-f",
            "har",
            "--show-secrets",
            "-o",
            archive,
            capture,
        ];
        let (code, _, err) = common::outcome(&args);
        assert_eq!((code, err.as_str()), (0, ""), "{capture}");
        let (found, wanted) = (comparable(archive), comparable(capture));
        assert!(!found.is_empty());
        assert_eq!(found, wanted, "{capture}");
    }
}

#[test]
fn an_exchange_and_a_stream_of_events_are_entries() {
    let folder = tempfile::tempdir().unwrap();
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": "get", "arguments": {"password": "geheim-1"}}})
    .to_string();
    let post = format!(
        "POST /mcp?token=geheim-2&x=a%20b HTTP/1.1\r\nHost: b.example\r\nAuthorization: Bearer geheim-3\r\n\
         Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n{:x}\r\n{body}\r\n0\r\n\r\n",
        body.len()
    );
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nMcp-Session-Id: geheim-4\r\nTransfer-Encoding: chunked\r\n\r\n";
    let event = "id: 7\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"content\":[]}}\n\n";
    let event = format!("{:x}\r\n{event}\r\n0\r\n\r\n", event.len());
    let chunks = [
        (1, "c2s", post.as_str()),
        (1, "s2c", head),
        (1, "s2c", &event),
    ];
    let path = recording(folder.path(), &chunks);
    let (code, out, err) = common::outcome(&["export", "-f", "har", &path]);
    assert_eq!((code, err.as_str()), (0, ""));
    assert!(!out.contains("geheim"), "{out}");
    let archive: Value = serde_json::from_str(&out).unwrap();
    let entries = archive["log"]["entries"].as_array().unwrap();
    assert_eq!(entries.len(), 1);
    let [request, response] = ["request", "response"].map(|key| &entries[0][key]);
    assert_eq!(
        request["url"],
        "https://b.example/mcp?token=********&x=a%20b"
    );
    assert_eq!(
        request["queryString"][1],
        json!({"name": "x", "value": "a b"})
    );
    assert!(
        request["postData"]["text"]
            .as_str()
            .unwrap()
            .contains("\"password\":\"********\"")
    );
    assert_eq!(request["headers"][1]["value"], "*".repeat(15));
    assert_eq!(response["content"]["mimeType"], "text/event-stream");
    let text = response["content"]["text"].as_str().unwrap();
    assert!(text.starts_with("id: 7\ndata: {"), "{text}");
    assert_eq!(entries[0]["time"], 2.0);
    let (_, out, _) = common::outcome(&["export", "-f", "har", "--show-secrets", &path]);
    assert_eq!(out.matches("geheim").count(), 5, "{out}");
}

/// An entry of a HAR file: its start and duration in milliseconds, its message, and the body of its response.
fn entry(start: u64, time: u64, message: &Value, (kind, body): (&str, &str)) -> Value {
    let method = if message.is_null() { "GET" } else { "POST" };
    let data = (!message.is_null())
        .then(|| json!({"mimeType": "application/json", "text": message.to_string()}));
    json!({"startedDateTime": format!("2026-01-01T00:00:00.{start:03}Z"), "time": time,
        "request": {"method": method, "url": "http://a/mcp", "headers": [], "postData": data},
        "response": {"status": 200, "headers": [], "content": {"mimeType": kind, "text": body}}})
}

#[test]
fn order_is_not_judged_beside_a_stream_of_events_that_has_one_time() {
    let folder = tempfile::tempdir().unwrap();
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": "a", "_meta": {"progressToken": "p"}}});
    let answer = r#"{"jsonrpc":"2.0","id":1,"result":{"content":[]}}"#;
    let progress = |n: u32| {
        let params = json!({"progressToken": "p", "progress": n});
        let message =
            json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": params});
        format!("data: {message}\n\n")
    };
    let events = |count: u32| (1..=count).map(progress).collect::<String>();
    let is_ordered = |count: u32, start: u64, time: u64| {
        let entries = [
            entry(
                start,
                time,
                &Value::Null,
                ("text/event-stream", &events(count)),
            ),
            entry(30, 20, &call, ("application/json", answer)),
        ];
        let mut entries = entries.to_vec();
        entries.sort_by_key(|entry| entry["startedDateTime"].to_string());
        let archive = json!({"log": {"version": "1.2", "entries": entries}}).to_string();
        let path = common::file(folder.path(), "a.har", archive);
        let (_, out, err) = common::outcome(&["lint", "-p", "mcp", "--from", "har", &path]);
        let has_order = !err.contains("need the order");
        assert!(has_order || !out.contains("progress-after"), "{out}{err}");
        has_order
    };
    // The events may have come before the answer.
    assert!(!is_ordered(2, 20, 80));
    // The file was written before the stream ended.
    assert!(!is_ordered(2, 20, 0));
    // A stream that begins later, and a single event, which came at the end of its stream.
    assert!(is_ordered(2, 60, 20));
    assert!(is_ordered(1, 20, 80));
}

#[test]
fn only_selected_messages_are_entries() {
    let folder = tempfile::tempdir().unwrap();
    let archive = folder.path().join("session.har");
    let archive = archive.to_str().unwrap();
    let capture = "fixtures/cdp/session.jsonl";
    let (code, ..) = common::outcome(&[
        "export", "-f", "har", "--where", "id=1", "-o", archive, capture,
    ]);
    assert_eq!(code, 0);
    let text = std::fs::read_to_string(archive).unwrap();
    let log: Value = serde_json::from_str(&text).unwrap();
    let messages = log["log"]["entries"][0]["_webSocketMessages"].as_array();
    let types: Vec<_> = messages
        .unwrap()
        .iter()
        .map(|one| one["type"].as_str().unwrap())
        .collect();
    assert_eq!(types, ["send", "receive"]);
}

#[test]
fn captures_without_http_are_refused() {
    let (code, out, err) = common::outcome(&["export", "-f", "har", "fixtures/mcp/session.jsonl"]);
    assert_eq!((code, out.as_str()), (2, ""));
    assert!(err.contains("HTTP and WebSocket"), "{err}");
}

#[test]
fn bytes_that_are_not_http_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    let request = "POST / HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: 38\r\n\r\n{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}";
    let path = recording(
        folder.path(),
        &[
            (1, "c2s", request),
            (1, "s2c", "HTTP/1.1 2x0 Bad\r\nX: 1\r\n\r\n"),
            (1, "s2c", "HTTP/1.1 204 No Content\r\n\r\n"),
        ],
    );
    let (code, out, err) = common::outcome(&["export", "-f", "har", &path]);
    assert_eq!(code, 0, "{err}");
    assert!(out.contains("204"), "{out}");
    let said = " bytes are left out: they are not valid HTTP\n";
    assert!(err.contains(said), "{err}");
}
