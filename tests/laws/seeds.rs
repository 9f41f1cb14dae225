//! Small streams of each protocol and framing, built byte by byte, and captured streams if there are any.

use crate::common::Setup;
use flate2::{Compress, Compression, FlushCompress};
use rmpv::Value;
use std::path::{Path, PathBuf};
use wiretool::capture::{CaptureInput, Form, Item};
use wiretool::decoder::{Decoded, Decoder, Origin};
use wiretool::encoding::Want;
use wiretool::framing::{Framing, Framing as F};
use wiretool::protocol::registry;

/// A stream with its known properties.
pub struct Seed {
    pub name: String,
    pub protocol: &'static str,
    /// `None` if only detection knows it.
    pub framing: Option<Framing>,
    pub bytes: Vec<u8>,
}

impl Seed {
    fn new(name: &str, protocol: &'static str, framing: Framing, bytes: Vec<u8>) -> Self {
        Self {
            name: name.to_owned(),
            protocol,
            framing: Some(framing),
            bytes,
        }
    }

    /// Nothing known, the protocol known, both known.
    pub fn setups(&self) -> Vec<Setup> {
        let named = Setup::of(self.protocol);
        let forced = Setup {
            framing: self.framing,
            ..named
        };
        match self.framing {
            Some(_) => vec![Setup::default(), named, forced],
            None => vec![Setup::default(), named],
        }
    }
}

pub fn msgpack(value: &Value) -> Vec<u8> {
    let mut bytes = Vec::new();
    rmpv::encode::write_value(&mut bytes, value).expect("writing to memory");
    bytes
}

fn map(members: &[(&str, Value)]) -> Value {
    let members = members.iter().map(|(k, v)| (Value::from(*k), v.clone()));
    Value::Map(members.collect())
}

/// A big-endian length prefix with the bytes that it counts.
pub fn prefixed(body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(body.len()).expect("a short body");
    [&length.to_be_bytes(), body].concat()
}

/// Saikuro messages: a call, its answer, an error with unusual values, a batch.
pub fn saikuro() -> Vec<Vec<u8>> {
    let id: Vec<u8> = (0x10..0x20).collect();
    let call = map(&[
        ("version", 1.into()),
        ("type", "call".into()),
        ("id", Value::Binary(id.clone())),
        ("target", "math.add".into()),
        ("args", Value::Array(vec![2.into(), Value::F64(-0.5)])),
    ]);
    let answer = map(&[
        ("id", Value::Binary(id.clone())),
        ("ok", true.into()),
        (
            "result",
            Value::Map(vec![
                (1.into(), Value::Ext(5, vec![1, 2, 3])),
                ("$k".into(), Value::F32(f32::NAN)),
            ]),
        ),
    ]);
    let error = map(&[
        ("id", "01020304-0506-0708-090a-0b0c0d0e0f10".into()),
        ("ok", false.into()),
        (
            "error",
            map(&[
                ("code", "NotFound".into()),
                ("message", "nö\n\u{202e}".into()),
            ]),
        ),
    ]);
    let cast = map(&[
        ("version", 1.into()),
        ("type", "cast".into()),
        ("id", Value::Binary(id)),
        ("target", "log.put".into()),
        ("args", Value::Array(vec![Value::Nil, u64::MAX.into()])),
    ]);
    [call, answer, error, cast].iter().map(msgpack).collect()
}

/// Messages of any service in JSON-RPC: calls, answers and a batch.
pub const JSONRPC: [&str; 5] = [
    r#"{"jsonrpc":"2.0","id":1,"method":"math.add","params":[1,2.50]}"#,
    r#"{"jsonrpc":"2.0","id":1,"result":null}"#,
    r#"{"jsonrpc":"2.0","method":"log","params":{"text":"n\u00f6"}}"#,
    r#"[{"jsonrpc":"2.0","id":"x","method":"a"},{"jsonrpc":"2.0","method":"b"}]"#,
    r#"{"jsonrpc":"2.0","id":"x","error":{"code":-32601,"message":"no"}}"#,
];

/// Messages of an editor and a language server.
pub const LSP: [&str; 4] = [
    r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"processId":null,"rootUri":null,"capabilities":{}}}"#,
    r#"{"jsonrpc":"2.0","id":0,"result":{"capabilities":{"hoverProvider":true}}}"#,
    r#"{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{"textDocument":{"uri":"file:///a","languageId":"c","version":1,"text":"x"}}}"#,
    r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no"}}"#,
];

/// Sael messages as JSON.
pub const SAEL: [&str; 4] = [
    r#"{"v":1,"kind":"HEY","agent":{"id":"a","kind":"llm","name":"A"},"capabilities":[],"token":"sael_secret"}"#,
    r#"{"v":1,"kind":"INV","seq":1,"tool":"math.add","args":{"a":1,"b":[2.50,"\u00e9"]}}"#,
    r#"{"v":1,"kind":"STR","seq":1,"chunk":{"x":null}}"#,
    r#"{"v":1,"kind":"ERR","seq":2,"code":"NOT_FOUND","message":"no"}"#,
];

/// Oracle messages.
pub const ORACLE: [&str; 4] = [
    r#"{"jsonrpc":"2.0","id":0,"method":"ready"}"#,
    r#"{"jsonrpc":"2.0","id":1,"method":"invoke","params":{"selector":"0x1b","calldata":["0x1","0x2"]}}"#,
    r#"{"jsonrpc":"2.0","id":1,"result":["0x7", "0x0"]}"#,
    r#"{"jsonrpc":"2.0","id":"x","error":{"code":-1,"message":"no\ttab"}}"#,
];

/// Stepflow messages.
pub const STEPFLOW: [&str; 4] = [
    r#"{"jsonrpc":"2.0","id":"5c1e","method":"initialize","params":{"runtime_protocol_version":1}}"#,
    r#"{"jsonrpc":"2.0","id":"5c1e","result":{"server_protocol_version":1}}"#,
    r#"{"jsonrpc":"2.0","method":"initialized","params":{}}"#,
    r#"{"jsonrpc":"2.0","id":2,"method":"components/execute","params":{"component":"/x","input":{"n":1e400}}}"#,
];

/// mcp: a handshake, a call with progress, and its result.
pub const MCP: [&str; 5] = [
    r#"{"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}},"jsonrpc":"2.0","id":0}"#,
    r#"{"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}},"jsonrpc":"2.0","id":0}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
    r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add","arguments":{"a":1e400},"_meta":{"progressToken":1}}}"#,
    r#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"\ud83d\ude00"}]}}"#,
];

/// acp: a handshake, and a turn.
pub const ACP: [&str; 4] = [
    r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{}}}"#,
    r#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1,"agentCapabilities":{}}}"#,
    r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"plan","entries":[]}}}"#,
    r#"{"jsonrpc":"2.0","id":2,"result":{"stopReason":"end_turn"}}"#,
];

/// One WebSocket frame; `first` is FIN, RSV and opcode.
pub fn websocket(first: u8, mask: Option<[u8; 4]>, payload: &[u8]) -> Vec<u8> {
    let masked = if mask.is_some() { 0x80 } else { 0 };
    let mut out = vec![first];
    match payload.len() {
        n @ 0..126 => out.push(masked | n as u8),
        n @ 126..=0xffff => {
            out.push(masked | 0x7e);
            out.extend_from_slice(&u16::try_from(n).expect("a short payload").to_be_bytes());
        }
        n => {
            out.push(masked | 0x7f);
            out.extend_from_slice(&(n as u64).to_be_bytes());
        }
    }
    out.extend_from_slice(mask.as_ref().map_or(&[][..], |m| &m[..]));
    let keys = mask.unwrap_or_default();
    out.extend(payload.iter().zip(keys.iter().cycle()).map(|(b, k)| b ^ k));
    out
}

/// Raw deflate up to a sync flush, without its last four bytes (RFC 7692 section 7.2.1).
pub fn deflate(plain: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(plain.len() + 64);
    Compress::new(Compression::default(), false)
        .compress_vec(plain, &mut out, FlushCompress::Sync)
        .expect("room enough");
    out.truncate(out.len() - 4);
    out
}

/// Text in `n` fragments with a ping between them.
fn fragmented(first: u8, mask: Option<[u8; 4]>, payload: &[u8]) -> Vec<u8> {
    let third = payload.len() / 3;
    [
        websocket(first, mask, &payload[..third]),
        websocket(0x00, mask, &payload[third..2 * third]),
        websocket(0x89, mask, b"ping"),
        websocket(0x80, mask, &payload[2 * third..]),
    ]
    .concat()
}

/// Masked, plain, fragmented, compressed, both; and a close.
fn websockets(mask: Option<[u8; 4]>) -> Vec<u8> {
    [
        websocket(0x81, mask, SAEL[0].as_bytes()),
        fragmented(0x01, mask, SAEL[1].as_bytes()),
        websocket(0xc1, mask, &deflate(SAEL[2].as_bytes())),
        fragmented(0x41, mask, &deflate(SAEL[3].as_bytes())),
        websocket(0x81, mask, b""),
        websocket(0x88, mask, b"\x03\xe8bye"),
    ]
    .concat()
}

const UPGRADE: &str = "GET /sael/ws HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
    Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
const SWITCHING: &str = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
    Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n";

/// A request or response with Content-Length.
fn http(head: &str, body: &str) -> Vec<u8> {
    format!(
        "{head}\r\nContent-Length: {}\r\nContent-Type: application/json\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

/// A request or response in chunks of this size.
fn chunked(body: &str, size: usize) -> Vec<u8> {
    let mut out = Vec::new();
    for chunk in body.as_bytes().chunks(size) {
        out.extend_from_slice(format!("{:x};x=y\r\n", chunk.len()).as_bytes());
        out.extend_from_slice(chunk);
        out.extend_from_slice(b"\r\n");
    }
    out.extend_from_slice(b"0\r\nTrailer: t\r\n\r\n");
    out
}

pub fn requests() -> Vec<u8> {
    let odd = "POST /x HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n";
    [
        http("POST / HTTP/1.1\r\nHost: h", STEPFLOW[0]),
        http("POST / HTTP/1.1\r\nHost: h", STEPFLOW[2]),
        b"GET /health HTTP/1.1\r\nHost: h\r\n\r\n".to_vec(),
        [odd.as_bytes(), &chunked(STEPFLOW[3], 20)].concat(),
    ]
    .concat()
}

fn responses() -> Vec<u8> {
    let events = format!(
        ": hello\n\nevent: message\nid: 1\ndata: {}\n\ndata:{}\r\ndata: \r\n\r\n:ping\n\n",
        STEPFLOW[1], &STEPFLOW[3]
    );
    let head =
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
    [
        http("HTTP/1.1 200 OK", STEPFLOW[1]),
        b"HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n".to_vec(),
        [head.as_bytes(), &chunked(&events, 23)].concat(),
        http("HTTP/1.1 500 Internal Server Error", STEPFLOW[1]),
    ]
    .concat()
}

/// An envelope: two versions, a size, fields.
fn envelope(version: u8, fields: &[u8]) -> Vec<u8> {
    let size = u32::try_from(fields.len()).expect("few fields");
    [&[version, 0], &size.to_le_bytes()[..], fields].concat()
}

fn text(s: &str) -> Vec<u8> {
    let length = u32::try_from(s.len()).expect("a short text");
    [&length.to_le_bytes(), s.as_bytes()].concat()
}

/// Method ids of telequick: `StreamEvents`, `Terminate`, `AudioFrame`, an unknown one.
const METHODS: [u32; 4] = [959_835_745, 0xe5bb_fa12, 2_991_054_320, 9999];

/// Telequick frames; the length includes itself or not.
pub fn telequick(inclusive: bool) -> Vec<u8> {
    let audio = [
        text("call-0001"),
        text("\u{1}\u{2}ab"),
        vec![7, 0, 0, 0, 0, 0, 0, 0],
    ]
    .concat();
    let bodies = [
        envelope(0, &text("client-1")),
        envelope(0, &text("abc")),
        envelope(1, &audio),
        envelope(0, &[text("guess"), vec![5, 0, 0, 0]].concat()),
    ];
    let mut out = Vec::new();
    for (id, body) in METHODS.iter().zip(bodies) {
        let length = 4 + body.len() + if inclusive { 4 } else { 0 };
        let length = u32::try_from(length).expect("a short frame");
        out.extend_from_slice(&length.to_le_bytes());
        out.extend_from_slice(&id.to_le_bytes());
        out.extend_from_slice(&body);
    }
    out
}

fn lines(messages: &[&str], end: &str) -> Vec<u8> {
    messages
        .iter()
        .flat_map(|m| [m.as_bytes(), end.as_bytes()].concat())
        .collect()
}

/// Every protocol in each of its framings.
pub fn built() -> Vec<Seed> {
    let mask = Some([0x37, 0xfa, 0x21, 0x3d]);
    let saikuro_messages = saikuro();
    let sael_packed: Vec<u8> = msgpack(&map(&[
        ("v", 1.into()),
        ("kind", "INV".into()),
        ("seq", 3.into()),
        ("tool", "math.add".into()),
        ("args", map(&[("a", (-7).into())])),
    ]));
    let headers = [
        b"\x01HEY{\"agent\":{\"id\":\"a\",\"kind\":\"llm\",\"name\":\"A\"}}".to_vec(),
        b"\x01HBT".to_vec(),
        b"\x01INV{\"seq\":1,\"tool\":\"t\",\"args\":{}}\x01BYE".to_vec(),
    ];
    let bare = [
        envelope(0, &text("abc")),
        envelope(1, &[text("x"), text("y")].concat()),
    ];
    vec![
        Seed::new(
            "saikuro prefix",
            "saikuro",
            F::Prefix,
            saikuro_messages.iter().flat_map(|m| prefixed(m)).collect(),
        ),
        Seed::new(
            "saikuro websocket",
            "saikuro",
            F::WebSocket,
            saikuro_messages
                .iter()
                .flat_map(|m| websocket(0x82, mask, m))
                .collect(),
        ),
        Seed::new(
            "saikuro values",
            "saikuro",
            F::Values,
            saikuro_messages.concat(),
        ),
        Seed::new(
            "saikuro message",
            "saikuro",
            F::Message,
            saikuro_messages[0].clone(),
        ),
        Seed::new("oracle lines", "oracle", F::Lines, lines(&ORACLE, "\n")),
        Seed::new(
            "oracle lines, CR LF, blank and broken ones",
            "oracle",
            F::Lines,
            lines(
                &[ORACLE[0], "", "{\"jsonrpc\":", ORACLE[2], "{} {}", "\u{1}"],
                "\r\n",
            ),
        ),
        Seed::new("oracle values", "oracle", F::Values, lines(&ORACLE, " \n ")),
        Seed::new(
            "stepflow lines",
            "stepflow",
            F::Lines,
            lines(&STEPFLOW, "\n"),
        ),
        Seed::new("mcp lines", "mcp", F::Lines, lines(&MCP, "\n")),
        Seed::new("mcp values", "mcp", F::Values, lines(&MCP, " \n ")),
        Seed::new("acp lines", "acp", F::Lines, lines(&ACP, "\n")),
        Seed::new("stepflow requests", "stepflow", F::Http, requests()),
        Seed::new("stepflow responses", "stepflow", F::Http, responses()),
        Seed::new(
            "sael upgrade and masked",
            "sael",
            F::Http,
            [UPGRADE.as_bytes(), &websockets(mask)].concat(),
        ),
        Seed::new(
            "sael switched and unmasked",
            "sael",
            F::Http,
            [SWITCHING.as_bytes(), &websockets(None)].concat(),
        ),
        Seed::new("sael masked", "sael", F::WebSocket, websockets(mask)),
        Seed::new("sael unmasked", "sael", F::WebSocket, websockets(None)),
        Seed::new("sael values", "sael", F::Values, lines(&SAEL, "")),
        Seed::new(
            "sael MessagePack values",
            "sael",
            F::Values,
            [&sael_packed[..], &sael_packed].concat(),
        ),
        Seed::new("sael headers", "sael", F::Header, headers.concat()),
        Seed::new(
            "telequick exclusive",
            "telequick",
            F::Method,
            telequick(false),
        ),
        Seed::new(
            "telequick inclusive",
            "telequick",
            F::Method,
            telequick(true),
        ),
        Seed::new(
            "telequick both",
            "telequick",
            F::Method,
            [telequick(false), telequick(true)].concat(),
        ),
        Seed::new(
            "telequick webtransport",
            "telequick",
            F::Http3,
            [b"\x40\x54\x04".to_vec(), telequick(false)].concat(),
        ),
        Seed::new(
            "telequick http3",
            "telequick",
            F::Http3,
            // The control stream: SETTINGS, GOAWAY, and a reserved type.
            b"\0\x04\x04\x01\x50\0\x07\x07\x01\x04\x40\x5f\x03abc".to_vec(),
        ),
        Seed::new("telequick bare", "telequick", F::Bare, bare.concat()),
        Seed::new("jsonrpc lines", "jsonrpc", F::Lines, lines(&JSONRPC, "\n")),
        Seed::new(
            "jsonrpc header blocks",
            "jsonrpc",
            F::ContentLength,
            header_blocks(&JSONRPC),
        ),
        Seed::new(
            "lsp header blocks",
            "lsp",
            F::ContentLength,
            header_blocks(&LSP),
        ),
    ]
}

/// Messages with a header block before each, some of them as only some peers write them.
fn header_blocks(messages: &[&str]) -> Vec<u8> {
    let heads = [
        "Content-Length: ",
        "Content-Type: a/b; charset=utf8\r\nContent-Length: ",
    ];
    let one = |(n, text): (usize, &&str)| {
        let end = if n % 3 == 2 { "\n\n" } else { "\r\n\r\n" };
        format!("{}{}{end}{text}", heads[n % 2], text.len())
    };
    messages
        .iter()
        .enumerate()
        .map(one)
        .collect::<String>()
        .into_bytes()
}

/// The folder that an environment variable names; prints a note if it is not set.
pub fn folder(variable: &str) -> Option<PathBuf> {
    let folder = std::env::var_os(variable).map(PathBuf::from);
    let found = folder.filter(|folder| folder.is_dir());
    if found.is_none() {
        println!(
            "{variable} names no folder: its inputs are absent, and this law was not put to them"
        );
    }
    found
}

/// Captured streams up to a maximum size, in the order of their names.
pub fn captured(most: usize) -> Vec<Seed> {
    let Some(root) = folder("WIRETOOL_CAPTURES") else {
        return Vec::new();
    };
    let mut seeds = Vec::new();
    for protocol in registry::names() {
        let mut files = Vec::new();
        gather(&root.join(protocol), &mut files);
        files.sort();
        for file in files {
            let bytes = std::fs::read(&file).expect("a readable capture");
            if bytes.len() <= most {
                seeds.push(Seed {
                    name: file.display().to_string(),
                    protocol,
                    framing: None,
                    bytes,
                });
            }
        }
    }
    println!("{} captured streams of at most {most} bytes", seeds.len());
    seeds
}

pub fn gather(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            gather(&path, files);
        } else if path.extension().is_some_and(|e| e == "bin") {
            files.push(path);
        }
    }
}

/// Every input of the fixtures with its protocol.
pub fn fixtures() -> Vec<(&'static str, PathBuf)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let mut found = Vec::new();
    for protocol in registry::all() {
        let folder = std::fs::read_dir(root.join(protocol.name())).expect("a folder");
        for file in folder.map(|file| file.expect("a file").path()) {
            let extension = file.extension().and_then(|e| e.to_str());
            if extension.is_some_and(|e| ["hex", "txt", "bin", "jsonl"].contains(&e)) {
                found.push((protocol.name(), file));
            }
        }
    }
    found.sort();
    found
}

/// Calls `each` with every message of a fixture.
pub fn each(protocol: &'static str, file: &Path, want: Want, tell: &mut dyn FnMut(&Decoded<'_>)) {
    let bytes = std::fs::read(file).expect("a fixture");
    let mut decoder = Decoder::new(Setup::of(protocol).options(want));
    let mut input = CaptureInput::new(Form::Auto);
    let mut item = |item: Item<'_>| {
        if let Item::Chunk(chunk) = item {
            let origin = Origin {
                conn: Some(chunk.conn),
                direction: chunk.direction,
                time: chunk.time.and_then(|t| i64::try_from(t).ok()),
                ..Origin::default()
            };
            decoder.push(origin, chunk.bytes, tell);
        }
    };
    input.push(&bytes, &mut item);
    input.finish(&mut item);
    decoder.finish(tell);
}
