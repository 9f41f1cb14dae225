//! `wiretool send` to MCP servers that have no sessions.

use crate::common::{self, Ran};
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

/// Answers as a server of version 2026-07-28 alone does.
fn answer(message: &Value) -> Value {
    let meta = &message["params"]["_meta"];
    let id = &message["id"];
    if meta[VERSION] == "2026-07-28" && meta[CAPABILITIES].is_object() {
        return json!({"jsonrpc": "2.0", "id": id, "result": {"resultType": "complete", "content":
            [{"type": "text", "text": message["params"]["arguments"]["a"]}]}});
    }
    let data =
        json!({"supported": ["2026-07-28"], "requested": message["params"]["protocolVersion"]});
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32022, "message": "unsupported", "data": data}})
}

/// Reads a request over HTTP: its head in lower case, and its message.
fn posted(reader: &mut BufReader<TcpStream>) -> Option<(String, Value)> {
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head).ok()? == 0 {
            return None;
        }
    }
    let head = head.to_lowercase();
    let length = head.split("content-length: ").nth(1)?.lines().next()?;
    let mut body = vec![0; length.parse().ok()?];
    reader.read_exact(&mut body).ok()?;
    Some((head, serde_json::from_slice(&body).ok()?))
}

/// A server over HTTP. It refuses requests whose fields do not repeat the message.
fn serve() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/mcp", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            std::thread::spawn(move || {
                let limit = Some(Duration::from_secs(10));
                stream.set_read_timeout(limit).unwrap();
                let mut reader = BufReader::new(stream.try_clone().unwrap());
                while let Some((head, message)) = posted(&mut reader) {
                    let answer = answer(&message);
                    let is_refused = answer["error"].is_object();
                    let repeats = ["mcp-protocol-version: 2026-07-28", "mcp-method: tools/call"]
                        .iter()
                        .chain(&["mcp-name: =?base64?zrE=?="])
                        .all(|field| head.contains(&field.to_lowercase()));
                    let status = match () {
                        () if is_refused => "400 Bad Request",
                        () if !repeats => "500 Internal Server Error",
                        () => "200 OK",
                    };
                    let body = answer.to_string();
                    let len = body.len();
                    let head = format!(
                        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {len}\r\n\r\n"
                    );
                    stream.write_all((head + &body).as_bytes()).unwrap();
                }
            });
        }
    });
    address
}

#[test]
fn a_call_needs_no_session() {
    let address = serve();
    let call = [
        "send",
        "mcp",
        "tools/call",
        "α",
        r#"{"a":"b"}"#,
        "-f",
        "json",
    ];
    let (code, out, err): Ran =
        common::outcome(&[&call[..], &["--connect", &address, "--lint"]].concat());
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    let answer: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(answer["message"]["result"]["content"][0]["text"], "b");
}

#[cfg(unix)]
#[test]
fn a_call_to_a_child_needs_no_session() {
    let folder = tempfile::tempdir().unwrap();
    let message =
        json!({"id": "ID", "params": {"_meta": {VERSION: "2026-07-28", CAPABILITIES: {}}}});
    let [result, error] = [message, json!({"id": "ID"})].map(|message| {
        let text = answer(&message).to_string();
        text.replace("\"ID\"", "%s")
            .replace('%', "%%")
            .replace("%%s", "%s")
    });
    let script = format!(
        r#"while read -r line; do
id=$(printf '%s' "$line" | sed 's/.*"id":\([0-9]*\).*/\1/')
case $line in
*{VERSION}*) printf '{result}\n' "$id" ;;
*) printf '{error}\n' "$id" ;;
esac
done"#
    );
    let server = common::file(folder.path(), "server.sh", script);
    for message in ["tools/list", "ping"] {
        let (code, out, err) = common::outcome(&["send", "mcp", message, "--", "sh", &server]);
        assert_eq!((code, err.as_str()), (0, ""), "{message}: {out}");
    }
}
