//! Without `--show-secrets` no secret is shown, and `redact` removes all: under each name, in each type and position,
//! in each protocol and carrier.

use serde_json::{Map, Value, json};
use std::path::Path;
use std::process::Command;
use wiretool::capture::{ChunkSource, Header};
use wiretool::capture::{EventRecord, RecordingWriter};
use wiretool::framing::{SECRET_ENDINGS as ENDINGS, SECRET_NAMES as NAMES};

/// Bytes in order.
type Chunks = Vec<(ChunkSource, Vec<u8>)>;

/// Generates secrets, each of them once.
#[derive(Default)]
struct Secrets(Vec<String>, usize);

impl Secrets {
    fn text(&mut self) -> String {
        let made = format!("Qz{:05}Kx9", self.0.len() + self.1);
        self.0.push(made.clone());
        made
    }

    /// Shorter than the secrets that are searched for inside other text.
    fn short(&mut self) -> String {
        let made = format!("zq{:05}", self.0.len() + self.1);
        self.0.push(made.clone());
        made
    }

    fn number(&mut self) -> Value {
        let made = 918_273_000_000_u64 + (self.0.len() + self.1) as u64;
        self.0.push(made.to_string());
        made.into()
    }
}

/// An HTTP message with a body.
pub fn http(head: &str, body: &[u8]) -> Vec<u8> {
    let length = format!("Content-Length: {}\r\n\r\n", body.len());
    [head.as_bytes(), length.as_bytes(), body].concat()
}

/// One WebSocket message in one frame.
pub fn websocket(opcode: u8, body: &[u8], masked: bool) -> Vec<u8> {
    let mask = if masked { [7, 1, 3, 9] } else { [0; 4] };
    let bit = if masked { 0x80 } else { 0 };
    let mut out = vec![0x80 | opcode, bit | 127];
    out.extend((body.len() as u64).to_be_bytes());
    out.extend(mask.iter().filter(|_| masked));
    out.extend(body.iter().zip(mask.iter().cycle()).map(|(b, m)| b ^ m));
    out
}

fn names() -> impl Iterator<Item = String> {
    let more = [
        "api_key",
        "X-Api-Key",
        "accessToken",
        "Client.Secret",
        "Cookie",
    ];
    let all = NAMES.into_iter().chain(ENDINGS).chain(more);
    all.map(str::to_owned)
}

/// Members with every secret name and with values of every type. JSON text, since a name may be repeated.
fn members(secrets: &mut Secrets, extra: &[&str]) -> String {
    let mut out = Vec::new();
    let all = names().chain(extra.iter().map(|name| (*name).to_owned()));
    for name in all {
        let values = [
            json!({ &name: secrets.text() }),
            json!({ &name: secrets.short() }),
            json!({ &name: secrets.number() }),
            json!({ &name: [secrets.text(), [secrets.short()]] }),
            json!({ &name: { "x": secrets.text(), "y": { "z": secrets.short() } } }),
            json!({ "type": "object", &name: format!("a\"b\\{}\u{e9}", secrets.text()) }),
        ];
        // JSON in text, and JSON in text of JSON in text.
        let text = json!({ &name: secrets.short(), "n": 1 }).to_string();
        let again = json!({ "inner": json!({ &name: secrets.short() }).to_string() }).to_string();
        let twice = format!(
            "{{\"{name}\":\"{}\",\"{name}\":\"{}\"}}",
            secrets.text(),
            secrets.short()
        );
        out.extend(values.map(|value| value.to_string()));
        out.push(json!({ "arguments": text }).to_string());
        out.push(json!({ "arguments": again }).to_string());
        out.push(twice);
    }
    format!("[{}]", out.join(","))
}

/// The same value as `MessagePack`, with bytes instead of every second text.
pub fn packed(json: &str) -> Vec<u8> {
    fn value(json: &Value, bytes: &mut bool) -> rmpv::Value {
        match json {
            Value::String(text) => {
                *bytes = !*bytes;
                if *bytes && text.starts_with("Qz") {
                    rmpv::Value::Binary(text.as_bytes().to_vec())
                } else {
                    text.as_str().into()
                }
            }
            Value::Array(items) => {
                rmpv::Value::Array(items.iter().map(|item| value(item, bytes)).collect())
            }
            Value::Object(members) => {
                let member =
                    |(key, item): (&String, &Value)| (key.as_str().into(), value(item, bytes));
                rmpv::Value::Map(members.iter().map(member).collect())
            }
            Value::Number(n) => n.as_u64().unwrap().into(),
            _ => rmpv::Value::Nil,
        }
    }
    let json: Value = serde_json::from_str(json).unwrap();
    let mut out = Vec::new();
    rmpv::encode::write_value(&mut out, &value(&json, &mut false)).unwrap();
    out
}

fn head(secrets: &mut Secrets, start: &str) -> String {
    format!(
        "{start}?access_token={}&code={} HTTP/1.1\r\nHost: me:{}@h\r\nAuthorization: Bearer {}\r\nCookie: a={}; b={}\r\nX-Api-Key: {}\r\nMcp-Session-Id: {}\r\nReferer: http://me:{}@h/\r\n",
        secrets.text(),
        secrets.text(),
        secrets.text(),
        secrets.text(),
        secrets.text(),
        secrets.text(),
        secrets.text(),
        secrets.text(),
        secrets.text()
    )
}

/// A recording with secrets in all positions.
struct Case {
    name: &'static str,
    protocol: &'static str,
    chunks: Chunks,
    secrets: Secrets,
}

/// Cases whose secrets are numbered from `first`.
fn cases(first: usize) -> Vec<Case> {
    let case = |name, protocol, make: &dyn Fn(&mut Secrets) -> Chunks| {
        let mut secrets = Secrets(Vec::new(), first);
        let chunks = make(&mut secrets);
        Case {
            name,
            protocol,
            chunks,
            secrets,
        }
    };
    let up = |bytes: Vec<u8>| (ChunkSource::C2s, bytes);
    let upgrade = |secrets: &mut Secrets| {
        let head = head(secrets, "GET /sael/ws");
        let more = "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n";
        let answer = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n";
        [
            (ChunkSource::C2s, (head + more).into_bytes()),
            (ChunkSource::S2c, answer.into()),
        ]
    };
    let hey = |secrets: &mut Secrets| {
        let greetings = [
            json!({"v":1,"kind":"HEY","auth":secrets.text()}),
            json!({"v":1,"kind":"HEY","auth":{"type":"bearer","token":[secrets.text()]}}),
            json!([{"v":1,"kind":"HEY","auth":{"type":"bearer","token":secrets.text()}}]),
            json!({"v":1,"kind":"RSM","session_id":secrets.number(),"last_seq_received":0}),
        ];
        greetings.map(|value| value.to_string())
    };
    vec![
        case("oracle, lines", "oracle", &|secrets| {
            let all = members(secrets, &[]);
            let line = format!(
                "{{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"invoke\",\"params\":{{\"selector\":\"f\",\"calldata\":[],\"more\":{all}}}}}\n"
            );
            vec![up(line.into_bytes())]
        }),
        case("stepflow, lines", "stepflow", &|secrets| {
            let all = members(secrets, &[]);
            let line = format!(
                "{{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":\"components/execute\",\"params\":{{\"component\":\"/p\",\"input\":{all}}}}}\n"
            );
            vec![up(line.into_bytes())]
        }),
        case("stepflow, http", "stepflow", &|secrets| {
            let all = members(secrets, &[]);
            let body = format!(
                "{{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":\"components/execute\",\"params\":{{\"component\":\"/p\",\"input\":{all}}}}}"
            );
            vec![up(http(&head(secrets, "POST /v1"), body.as_bytes()))]
        }),
        case("sael, json", "sael", &|secrets| {
            let all = members(secrets, &["session_id"]);
            let mut chunks = upgrade(secrets).to_vec();
            for text in hey(secrets) {
                chunks.push(up(websocket(1, text.as_bytes(), true)));
            }
            let text =
                format!("{{\"v\":1,\"kind\":\"INV\",\"seq\":2,\"tool\":\"t\",\"args\":{all}}}");
            chunks.push(up(websocket(1, text.as_bytes(), true)));
            let delta = format!("{{\"v\":1,\"kind\":\"STR\",\"seq\":2,\"delta\":{{\"a\":{all}}}}}");
            chunks.push((ChunkSource::S2c, websocket(1, delta.as_bytes(), false)));
            chunks
        }),
        case("sael, msgpack", "sael", &|secrets| {
            let all = members(secrets, &["session_id"]);
            let mut chunks = upgrade(secrets).to_vec();
            let text =
                format!("{{\"v\":1,\"kind\":\"INV\",\"seq\":2,\"tool\":\"t\",\"args\":{all}}}");
            // serde_json stores the last value of a repeated key.
            let kept = packed(&text);
            secrets
                .0
                .retain(|secret| memchr::memmem::find(&kept, secret.as_bytes()).is_some());
            chunks.push(up(websocket(2, &kept, true)));
            chunks
        }),
        case("saikuro, prefix", "saikuro", &|secrets| {
            let all = members(secrets, &["capability", "cap"]);
            let capability = |secrets: &mut Secrets| {
                [
                    json!(secrets.number()),
                    json!([secrets.text()]),
                    json!({"x": secrets.text()}),
                ]
            };
            let mut chunks = Vec::new();
            for capability in capability(secrets) {
                let text = json!({"version":1,"type":"call","id":"4dd08780-4146-1567-2ff4-a479a95fbaff","target":"math.add","capability":capability,"args":[serde_json::from_str::<Value>(&all).unwrap()]});
                let body = packed(&text.to_string());
                chunks.push([&(body.len() as u32).to_be_bytes()[..], &body].concat());
            }
            let kept = chunks.concat();
            let is_number = |secret: &String| secret.bytes().all(|b| b.is_ascii_digit());
            secrets.0.retain(|secret| {
                is_number(secret) || memchr::memmem::find(&kept, secret.as_bytes()).is_some()
            });
            chunks.into_iter().map(up).collect()
        }),
        case("telequick, method", "telequick", &|secrets| {
            let token = secrets.text();
            let text =
                |text: &str| [&(text.len() as u32).to_le_bytes()[..], text.as_bytes()].concat();
            let fields = [text(""), text(""), text(""), vec![3], text(&token)].concat();
            let body = [&[0, 0][..], &(fields.len() as u32).to_le_bytes(), &fields].concat();
            let id = 0x195a_b9c8_u32.to_le_bytes();
            vec![up(
                [&(body.len() as u32 + 4).to_le_bytes()[..], &id, &body].concat()
            )]
        }),
        // The secret is in bytes that are not decoded.
        case("sael, broken", "sael", &|secrets| {
            let mut chunks = upgrade(secrets).to_vec();
            let text = format!(
                "{{\"v\":1,\"kind\":\"HEY\",\"auth\":{{\"type\":\"bearer\",\"token\":\"{}\", \"password\":\"{}",
                secrets.text(),
                secrets.short()
            );
            chunks.push(up(websocket(1, text.as_bytes(), true)));
            chunks
        }),
        case("saikuro, broken", "saikuro", &|secrets| {
            let text = json!({"version":1,"type":"call","id":"x","target":"a.b","args":[{"password":secrets.short(),"token":secrets.text()}],"z":0});
            let mut body = packed(&text.to_string());
            body[1] = 0xc1;
            vec![up([&(body.len() as u32).to_be_bytes()[..], &body].concat())]
        }),
    ]
}

fn recording(case: &mut Case) -> Vec<u8> {
    let secrets = &mut case.secrets;
    let mut more = Map::new();
    more.insert("token".into(), secrets.text().into());
    more.insert("labels".into(), json!({ "password": [secrets.short()] }));
    let header = Header {
        protocol: Some(case.protocol.into()),
        listen: Some(format!("ws://me:{}@h:1", secrets.text())),
        connect: Some(format!(
            "ws://me:{}@h:2/?token={}",
            secrets.text(),
            secrets.text()
        )),
        argv: Some(vec!["peer".into(), format!("--key={}", secrets.text())]),
        more,
        ..Header::new(1_795_255_200_000_000_000)
    };
    let mut out = Vec::new();
    let mut writer = RecordingWriter::new(&header, &mut out);
    for (t, (stream, bytes)) in (0..).zip(&case.chunks) {
        writer.chunk(t * 1000, 1, None, *stream, bytes, &mut out);
    }
    let mut more = Map::new();
    more.insert("password".into(), secrets.text().into());
    more.insert(
        "reason".into(),
        format!("no access, api_key={}", secrets.text()).into(),
    );
    let event = EventRecord {
        t: 900_000,
        conn: Some(1),
        stream: None,
        event: "close".into(),
        more,
    };
    writer.event(&event, &mut out);
    writer.end(1_000_000, &mut out);
    out
}

pub fn wiretool(folder: &Path, args: &[&str]) -> Vec<u8> {
    let run = Command::new(env!("CARGO_BIN_EXE_wiretool"))
        .args(args)
        .env_clear()
        .env("HOME", folder)
        .current_dir(folder)
        .stdin(std::process::Stdio::null())
        .output()
        .unwrap();
    [run.stdout, b"\n".to_vec(), run.stderr].concat()
}

/// Returns a secret as it is, in hex, and in Base64 at each of three offsets.
pub fn spellings(secret: &str) -> Vec<String> {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD_NO_PAD;
    let mut all = vec![secret.to_owned(), hex::encode(secret)];
    for shift in 0..3_usize {
        let text = STANDARD_NO_PAD.encode(["\0".repeat(shift).as_str(), secret].concat());
        let bits = 8 * (shift + secret.len());
        all.push(text[(8 * shift).div_ceil(6)..bits / 6].to_owned());
    }
    all
}

/// Every command that shows messages. JSON of messages is data, and exact.
pub const COMMANDS: &[&[&str]] = &[
    &["decode", "-f", "tree", "FILE"],
    &["decode", "-f", "line", "FILE"],
    &["decode", "-f", "hex", "FILE"],
    &["decode", "-f", "tree", "--lint", "FILE"],
    &["decode", "-f", "tree", "--state", "FILE"],
    &["decode", "-f", "line", "--state", "FILE"],
    &["decode", "--path", "params", "FILE"],
    &["decode", "--path", "args[0].token", "FILE"],
    &["decode", "--at", "700", "FILE"],
    &["lint", "FILE"],
    &["lint", "-v", "-f", "json", "FILE"],
    &["decode", "-v", "--ops", "FILE"],
    &["lint", "--report", "sarif", "FILE"],
    &["lint", "--report", "junit", "FILE"],
    &["lint", "--report", "tap", "FILE"],
    &["lint", "--report", "github", "FILE"],
    &["lint", "--report", "html", "FILE"],
    &["stat", "FILE"],
    &["stat", "-f", "json", "FILE"],
    &["stat", "--ops", "FILE"],
    &["export", "-f", "mermaid", "FILE"],
    &["export", "-f", "mermaid", "--ops", "FILE"],
    &["export", "-f", "html", "FILE"],
    &["export", "-f", "otlp", "--content", "FILE"],
    &["export", "-f", "pcapng", "FILE"],
    &["export", "-f", "har", "FILE"],
    &["diff", "FILE", "OTHER"],
    &["diff", "OTHER", "FILE"],
    &["diff", "--strict", "FILE", "OTHER"],
    &["snapshot", "test", "."],
    &["snapshot", "test", "--redact-volatile", "."],
    &["stub", "PROTOCOL", "--from", "FILE", "--print-script"],
];

#[test]
fn secrets_are_hidden_and_redacted() {
    for (mut case, mut other) in cases(0).into_iter().zip(cases(50_000)) {
        let name = case.name;
        let folder = tempfile::tempdir().unwrap();
        let (bytes, second) = (recording(&mut case), recording(&mut other));
        let path = |name: &str| folder.path().join(name);
        std::fs::write(path("a.jsonl"), &bytes).unwrap();
        std::fs::write(path("b.jsonl"), second).unwrap();
        let mut secrets: Vec<Vec<u8>> = Vec::new();
        for secret in case.secrets.0.iter().chain(&other.secrets.0) {
            secrets.extend(spellings(secret).into_iter().map(String::into_bytes));
        }
        let check = |out: &[u8], what: &str| {
            for secret in &secrets {
                let text = String::from_utf8_lossy(out);
                let at = memchr::memmem::find(out, secret);
                let around = at.and_then(|at| text.get(at.saturating_sub(200)..at + 40));
                assert!(
                    at.is_none(),
                    "{name}: {what} shows {}\n{}",
                    String::from_utf8_lossy(secret),
                    around.unwrap_or(&text)
                );
            }
        };
        for command in COMMANDS {
            let args: Vec<&str> = command
                .iter()
                .map(|word| match *word {
                    "FILE" => "a.jsonl",
                    "OTHER" => "b.jsonl",
                    "PROTOCOL" => case.protocol,
                    word => word,
                })
                .collect();
            check(&wiretool(folder.path(), &args), &args.join(" "));
        }
        let shown = wiretool(folder.path(), &["decode", "-f", "json", "a.jsonl"]);
        let secret = case
            .secrets
            .0
            .iter()
            .find(|s| !s.bytes().all(|b| b.is_ascii_digit()))
            .unwrap();
        let exact = memchr::memmem::find(&shown, secret.as_bytes()).is_some();
        let is_hex = memchr::memmem::find(&shown, hex::encode(secret).as_bytes()).is_some();
        assert!(exact || is_hex, "{name}: JSON is exact");
        // The redacted file contains no secret in any encoding of the recording.
        let reported = wiretool(folder.path(), &["redact", "a.jsonl", "-o", "out.jsonl"]);
        check(&reported, "redact");
        let out = std::fs::read(path("out.jsonl")).unwrap_or_default();
        assert!(
            !out.is_empty(),
            "{name}: {}",
            String::from_utf8_lossy(&reported)
        );
        check(&out, "the redacted recording");
        let mut streams = Vec::new();
        for line in out.split(|b| *b == b'\n').filter(|line| !line.is_empty()) {
            let record = wiretool::capture::Record::parse(line).unwrap();
            if let wiretool::capture::Record::Chunk { bytes, .. } = record {
                streams.extend(bytes);
            }
        }
        check(&streams, "the redacted stream");
        check(
            &wiretool(folder.path(), &["decode", "-f", "json", "out.jsonl"]),
            "the redacted messages",
        );
    }
}
