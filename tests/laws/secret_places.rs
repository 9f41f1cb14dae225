//! The places of secrets, and the names of secret values: no output of a command shows one, and `redact` leaves none in.

use crate::secrets::{COMMANDS, http, packed, spellings, websocket, wiretool};
use serde_json::{Value, json};
use std::path::Path;
use std::process::{Command, Stdio};
use wiretool::capture::{ChunkSource, Header, Record, RecordingWriter};

/// Values with a secret, `§`, in JSON.
const VALUES: &[(&str, &str)] = &[
    ("flag in a list", r#"["npx","--token","§","-v"]"#),
    (
        "flag after numbers",
        r#"["serve","--port",80,"--client-secret","§"]"#,
    ),
    ("flag with one hyphen", r#"["-password","§"]"#),
    ("flag and value in one", r#"["--api-key=§"]"#),
    ("variable in a list", r#"["-e","API_KEY=§"]"#),
    ("variable of a flag", r#"["--env=OPENAI_API_KEY=§"]"#),
    ("user and password in a list", r#"["curl","-u","me:§"]"#),
    ("user and password in text", r#""curl -u me:§ host""#),
    ("key after a flag", r#"["--key","Ab3Cd4E§"]"#),
    ("list with the name of secrets", r#"{"tokens":["§"]}"#),
    (
        "field of a head in a list",
        r#"["-H","Authorization: Bearer §"]"#,
    ),
    ("password in a URL", r#""https://me:§@host/path""#),
    (
        "password in a URL in text",
        r#""see https://me:§@host/ for it""#,
    ),
    ("user in a URL", r#""https://§@host/path""#),
    ("URL with escaped slashes", r#""https:\/\/me:§@host\/""#),
    (
        "parameter of a URL",
        r#""GET https://host/cb?x=1&token=§&y=2""#,
    ),
    ("password in a query", r#""https://host/?pw=§""#),
    (
        "parameter of a URL in a URL",
        r#""next=https%3A%2F%2Fhost%2F%3Ftoken%3D§%26x%3D1""#,
    ),
    ("code in a URL", r#""https://host/cb?code=§""#),
    (
        "fragment of a URL",
        r#""https://host/cb#access_token=§&x=1""#,
    ),
    (
        "Bearer in text",
        r#""curl -H 'Authorization: Bearer §' host""#,
    ),
    ("Authorization in text", r#""Authorization: §""#),
    (
        "escaped Authorization in text",
        r#""curl -H \"Authorization: Bearer §\" host""#,
    ),
    (
        "field with hyphens in text",
        r#""GET /\nX-Api-Key: §\nHost: h""#,
    ),
    ("cookie in text", r#""Cookie: a=§; b=c""#),
    ("variable in text", r#""export GITHUB_TOKEN=§ && run""#),
    ("flag in text", r#""run --token § now""#),
    ("quoted name in text", r#""got {'password': '§'} from it""#),
    ("plain name in text", r#""the password: § of bob""#),
    ("token in text", r#""token: §""#),
    (
        "key of GitHub",
        r#""use ghp_16C7e42F292c6912E7710c8383§ for it""#,
    ),
    (
        "fine-grained key of GitHub",
        r#""github_pat_11ABCDEFG0abcdefghijkl_mnopq§""#,
    ),
    ("key of GitLab", r#"{"a":"glpat-abcdef-ghijk§"}"#),
    ("key of Slack", r#""see xoxb-123456789012-abcdef§""#),
    (
        "key of Anthropic",
        r#"["sk-ant-api03-abcd_efghijklmnop-qr§"]"#,
    ),
    ("key of OpenAI", r#""sk-proj-abcdefghijklmnopqrst§""#),
    (
        "key of Google",
        r#""at AIzaSyA0123456789abcdefghijk§ there""#,
    ),
    (
        "token with claims",
        r#""got eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln§""#,
    ),
    (
        "private key",
        r#""-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkq\n§""#,
    ),
    (
        "private key in JSON in text",
        r#""{\"pem\":\"-----BEGIN RSA PRIVATE KEY-----\\nMIIE\\n§\\n-----END RSA PRIVATE KEY-----\\n\"}""#,
    ),
    ("JSON in Markdown", r#""```\n{\"token\": \"§\"}\n```""#),
    ("JSON in text", r#""{\"password\":\"§\"}""#),
    (
        "list in JSON in text",
        r#""{\"args\":[\"--token\",\"§\"]}""#,
    ),
    (
        "URL in JSON in text",
        r#""{\"url\":\"https:\\/\\/me:§@host\"}""#,
    ),
    (
        "pair of a variable",
        r#"[{"name":"DB_PASSWORD","value":"§"}]"#,
    ),
    ("pair of a field", r#"[{"name":"X-Api-Key","value":"§"}]"#),
    ("pair with a key", r#"[{"key":"API_TOKEN","value":"§"}]"#),
];

/// Values that are no secrets, although their names or places are like those of secrets.
const VISIBLE: &[&str] = &[
    r#"{"key":"Zx8181ab"}"#,
    r#"{"keys":["Zx8181ab"]}"#,
    r#"{"tokens":128}"#,
    r#"{"tokens":[128,250000]}"#,
    r#"{"tokens":["def","getUserName","</s>"]}"#,
    r#"{"max_tokens":4096}"#,
    r#"{"token_count":4096}"#,
    r#"{"progressToken":"Zx8181ab"}"#,
    r#"{"workDoneToken":"Zx8181ab"}"#,
    r#"{"pin":true,"auth":false,"password":null}"#,
    r#"{"pinned":"Zx8181ab"}"#,
    r#"{"code":"Zx8181ab"}"#,
    r#"{"postcode":"Zx8181ab"}"#,
    r#"{"connection":"Zx8181ab","encryption":"aes256"}"#,
    r#"{"authentication":"Zx8181ab"}"#,
    r#"{"signature":"Zx8181ab"}"#,
    r#"{"pw":"Zx8181ab"}"#,
    r#"{"key":"colour","value":"Zx8181ab"}"#,
    r#"{"name":"PATH","value":"Zx8181ab"}"#,
    r#"["-u","1000:1000"]"#,
    r#"["--user","www-data:33"]"#,
    r#"["-u","http://host:8080/x1"]"#,
    r#"["--key","/etc/ssl/Zx8181ab.pem"]"#,
    r#"["--key","colour"]"#,
    r#"["--env=MODE=Zx8181ab"]"#,
    r#""https%3A%2F%2Fhost%2F%3Fpage%3DZx8181ab""#,
    r#""https://host/?page=Zx8181ab&keys=Zx8181ab""#,
    r#""docker run -u 1000:1000 --key key.pem a""#,
];

/// Names of values.
const NAMES: &[&str] = &[
    "password",
    "api_key",
    "accessToken",
    "Client-Secret",
    "authorization",
    "signing_key",
    "signingKey",
    "ssh_key",
    "sshKey",
    "password_hash",
    "passwordHash",
    "pin",
    "otp",
    "subscription_key",
    "private_key",
    "auth",
    "otp_code",
    "pinCode",
    "mfa_code",
    "hmac_key",
    "encryption_key",
    "connection_string",
    "xsrf",
];

/// Fields of HTTP heads.
const FIELDS: &[&str] = &[
    "X-Auth",
    "X-Auth-Token",
    "Ocp-Apim-Subscription-Key",
    "DPoP",
    "Acp-Connection-Id",
    "Mcp-Session-Id",
    "X-Api-Key",
    "Authorization: Bearer",
    "Authorization: DPoP",
    "Proxy-Authorization: Basic",
    "X-Signature",
    "X-Hub-Signature-256",
    "X-Otp",
    "X-Auth-Key",
    "X-Functions-Key",
    "Authentication",
    "Cookie: a=b; c=",
];

type Chunks = Vec<(ChunkSource, Vec<u8>)>;

/// A session with secrets in all places, which begin with a number.
struct Session {
    name: &'static str,
    protocol: &'static str,
    chunks: Chunks,
    secrets: Vec<(String, String)>,
}

impl Session {
    fn new(name: &'static str, protocol: &'static str) -> Self {
        Self {
            name,
            protocol,
            chunks: Vec::new(),
            secrets: Vec::new(),
        }
    }

    /// Returns a new secret for a place.
    fn secret(&mut self, first: usize, place: &str) -> String {
        let made = format!("Qz{:05}Kx9", first + self.secrets.len());
        self.secrets.push((made.clone(), place.to_owned()));
        made
    }

    /// Returns each value with a secret of its own.
    fn values(&mut self, first: usize) -> Vec<String> {
        let values = VALUES.iter().map(|(place, value)| {
            let secret = self.secret(first, place);
            value.replace('§', &secret)
        });
        let mut values: Vec<String> = values.collect();
        for name in NAMES {
            let secret = self.secret(first, name);
            values.push(format!("{{\"{name}\":\"{secret}\"}}"));
        }
        values
    }

    /// Returns a message that ends inside the `n`th new secret, or without its last bytes. Only this secret is kept.
    fn cut_off(&mut self, n: usize, is_inside: bool, all: &[u8], last: usize) -> Vec<u8> {
        let added = self.secrets.len() - VALUES.len() - NAMES.len();
        let mut new = self.secrets.split_off(added);
        let (mut secret, place) = new.swap_remove(n);
        let mut end = all.len() - last;
        if is_inside {
            secret.pop();
            let at = memchr::memmem::find(all, secret.as_bytes());
            end = at.expect("a secret") + secret.len();
        }
        self.secrets.push((secret, place));
        all[..end].to_vec()
    }

    fn push(&mut self, source: ChunkSource, bytes: Vec<u8>) {
        self.chunks.push((source, bytes));
    }

    fn recording(&self) -> Vec<u8> {
        let header = Header {
            protocol: Some(self.protocol.into()),
            ..Header::new(1_795_255_200_000_000_000)
        };
        let mut out = Vec::new();
        let mut writer = RecordingWriter::new(&header, &mut out);
        for (t, (source, bytes)) in (0..).zip(&self.chunks) {
            writer.chunk(t * 1000, 1, None, *source, bytes, &mut out);
        }
        writer.end(1_000_000, &mut out);
        out
    }
}

fn sessions(first: usize) -> Vec<Session> {
    let (up, down) = (ChunkSource::C2s, ChunkSource::S2c);
    let mut all = Vec::new();

    let mut lines = Session::new("lines", "jsonrpc");
    for (id, value) in lines.values(first).into_iter().enumerate() {
        let call = format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"m\",\"params\":{{\"v\":{value}}}}}\n"
        );
        lines.push(up, call.into_bytes());
    }
    for (id, value) in lines.values(first).into_iter().enumerate() {
        let answer = if value.starts_with('"') {
            format!("\"error\":{{\"code\":1,\"message\":{value},\"data\":{value}}}")
        } else {
            format!("\"result\":{value}")
        };
        lines.push(
            down,
            format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},{answer}}}\n").into_bytes(),
        );
    }
    let token = lines.secret(first, "the token of aria2");
    let call = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":\"aria2.x\",\"params\":[\"token:{token}\"]}}\n"
    );
    lines.push(up, call.into_bytes());
    all.push(lines);

    let mut mcp = Session::new("tools and resources", "mcp");
    for (id, value) in mcp.values(first).into_iter().enumerate() {
        let call = format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"tools/call\",\"params\":{{\"name\":\"t\",\"arguments\":{{\"v\":{value}}}}}}}\n"
        );
        mcp.push(up, call.into_bytes());
        if value.starts_with('"') {
            let answer = format!(
                "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"content\":[{{\"type\":\"text\",\"text\":{value}}}]}}}}\n"
            );
            mcp.push(down, answer.into_bytes());
        }
    }
    let secret = mcp.secret(first, "the subject");
    let read = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":\"r\",\"method\":\"resources/read\",\"params\":{{\"uri\":\"https://h/a?token={secret}\"}}}}\n"
    );
    mcp.push(up, read.into_bytes());
    all.push(mcp);

    let mut acp = Session::new("servers of a session", "acp");
    let (flag, value, url) = (
        acp.secret(first, "--token"),
        acp.secret(first, "env"),
        acp.secret(first, "url"),
    );
    let new = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"session/new\",\"params\":{{\"cwd\":\"/\",\"mcpServers\":[{{\"name\":\"a\",\"command\":\"npx\",\"args\":[\"--token\",\"{flag}\"],\"env\":[{{\"name\":\"X\",\"value\":\"{value}\"}}]}},{{\"type\":\"http\",\"name\":\"b\",\"url\":\"https://h/?api_key={url}\",\"headers\":[]}}]}}}}\n"
    );
    acp.push(up, new.into_bytes());
    all.push(acp);

    let mut packets = Session::new("MessagePack", "saikuro");
    for value in packets.values(first) {
        let call = format!(
            "{{\"version\":1,\"type\":\"call\",\"id\":\"4dd08780-4146-1567-2ff4-a479a95fbaff\",\"target\":\"math.add\",\"args\":[{value}]}}"
        );
        let body = packed(&call);
        packets.push(up, [&(body.len() as u32).to_be_bytes()[..], &body].concat());
    }
    all.push(packets);

    let mut heads = Session::new("heads and bodies", "stepflow");
    for value in heads.values(first) {
        let body = format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":\"components/execute\",\"params\":{{\"component\":\"/p\",\"input\":{value}}}}}"
        );
        let secrets = FIELDS
            .iter()
            .map(|field| (field, heads.secret(first, field)));
        let fields = secrets.map(|(field, secret)| {
            let colon = if field.contains(':') { "" } else { ":" };
            format!("{field}{colon} {secret}\r\n")
        });
        let head = format!("POST / HTTP/1.1\r\n{}", fields.collect::<String>());
        heads.push(up, http(&head, body.as_bytes()));
    }
    all.push(heads);

    let mut compressed = Session::new("gzip", "jsonrpc");
    for value in compressed.values(first) {
        use std::io::Write as _;
        let body = format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\",\"params\":{{\"v\":{value}}}}}"
        );
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(body.as_bytes()).unwrap();
        let head = "POST / HTTP/1.1\r\nContent-Encoding: gzip\r\n";
        compressed.push(up, http(head, &encoder.finish().unwrap()));
    }
    all.push(compressed);

    // The message ends after the value, or inside the secret.
    for is_inside in [false, true] {
        let mut texts = Session::new("cut off, JSON", "sael");
        let mut packets = Session::new("cut off, MessagePack", "saikuro");
        for n in 0..VALUES.len() + NAMES.len() {
            // Without the rest, it can be the name of a host.
            if is_inside
                && VALUES
                    .get(n)
                    .is_some_and(|(place, _)| *place == "user in a URL")
            {
                continue;
            }
            let value = texts.values(first).swap_remove(n);
            let all = format!(
                "{{\"v\":1,\"kind\":\"INV\",\"seq\":2,\"tool\":\"t\",\"args\":{{\"a\":1,\"v\":{value}}}}}"
            );
            let body = texts.cut_off(n, is_inside, all.as_bytes(), 2);
            texts.push(up, websocket(1, &body, true));

            let value = packets.values(first).swap_remove(n);
            let all = format!(
                "{{\"type\":\"call\",\"target\":\"math.add\",\"id\":\"x\",\"args\":[{value},1]}}"
            );
            let body = packets.cut_off(n, is_inside, &packed(&all), 1);
            packets.push(up, [&(body.len() as u32).to_be_bytes()[..], &body].concat());
        }
        all.extend([texts, packets]);
    }
    all
}

/// Returns what an agent is told by each tool of `mcp serve` about the recordings of a folder.
fn served(folder: &Path) -> Vec<u8> {
    let mut requests = Vec::new();
    let mut ask = |method: &str, params: Value| {
        let id = requests.len();
        requests.push(json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
    };
    let client = json!({"name": "test", "version": "1"});
    let opening =
        json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
    ask("initialize", opening);
    let tools = [
        "messages",
        "operations",
        "findings",
        "waiting",
        "statistics",
    ];
    let mut calls: Vec<_> = tools
        .into_iter()
        .map(|tool| (tool, json!({"recording": "a.jsonl"})))
        .collect();
    for index in [1, 5, 20] {
        for view in ["tree", "hex"] {
            calls.push((
                "message",
                json!({"recording": "a.jsonl", "index": index, "view": view}),
            ));
        }
    }
    calls.push(("differences", json!({"a": "a.jsonl", "b": "b.jsonl"})));
    for (tool, arguments) in calls {
        ask("tools/call", json!({"name": tool, "arguments": arguments}));
    }
    let lines: String = requests.iter().map(|r| r.to_string() + "\n").collect();
    std::fs::write(folder.join("requests"), lines).unwrap();
    let run = Command::new(env!("CARGO_BIN_EXE_wiretool"))
        .args(["mcp", "serve", "."])
        .env_clear()
        .env("HOME", folder)
        .current_dir(folder)
        .stdin(std::fs::File::open(folder.join("requests")).unwrap())
        .stderr(Stdio::piped())
        .output()
        .unwrap();
    let out = String::from_utf8(run.stdout).unwrap();
    let answered = out.lines().filter(|line| line.contains("captured")).count();
    assert!(answered >= tools.len(), "{out}");
    out.into_bytes()
}

/// Returns the outputs in which a secret is left, with the places.
fn shown(session: &Session, other: &Session, folder: &Path) -> Vec<String> {
    let path = |name: &str| folder.join(name);
    std::fs::write(path("a.jsonl"), session.recording()).unwrap();
    std::fs::write(path("b.jsonl"), other.recording()).unwrap();
    let mut found = Vec::new();
    let mut check = |out: &[u8], what: &str| {
        for (secret, place) in session.secrets.iter().chain(&other.secrets) {
            for spelling in spellings(secret) {
                if memchr::memmem::find(out, spelling.as_bytes()).is_some() {
                    found.push(format!("{}: {what} shows {place}", session.name));
                }
            }
            // Bytes with blanks between them.
            let spaced: Vec<String> = secret.bytes().map(|b| format!("{b:02x}")).collect();
            if memchr::memmem::find(out, spaced[..8].join(" ").as_bytes()).is_some() {
                found.push(format!(
                    "{}: {what} shows the bytes of {place}",
                    session.name
                ));
            }
        }
    };
    for command in COMMANDS {
        let words = command.iter().map(|word| match *word {
            "FILE" => "a.jsonl",
            "OTHER" => "b.jsonl",
            "PROTOCOL" => session.protocol,
            word => word,
        });
        let words: Vec<&str> = words.collect();
        check(&wiretool(folder, &words), &words.join(" "));
    }
    check(&served(folder), "mcp serve");
    let reported = wiretool(folder, &["redact", "a.jsonl", "-o", "out.jsonl"]);
    check(&reported, "the report of redact");
    let out = std::fs::read(path("out.jsonl")).unwrap_or_default();
    check(&out, "the redacted recording");
    let mut streams = Vec::new();
    for line in out.split(|b| *b == b'\n').filter(|line| !line.is_empty()) {
        if let Record::Chunk { bytes, .. } = Record::parse(line).unwrap() {
            streams.extend(bytes);
        }
    }
    check(&streams, "the redacted stream");
    let messages = wiretool(folder, &["decode", "-f", "json", "out.jsonl"]);
    check(&messages, "the redacted messages");
    if out.is_empty() {
        let reported = String::from_utf8_lossy(&reported);
        found.push(format!("{}: redact: {reported}", session.name));
    }
    found
}

#[test]
fn no_place_of_a_secret_is_shown_or_left_in() {
    let mut found = Vec::new();
    for (session, other) in sessions(0).iter().zip(&sessions(50_000)) {
        let folder = tempfile::tempdir().unwrap();
        found.extend(shown(session, other, folder.path()));
    }
    assert!(
        found.is_empty(),
        "{} cases:\n{}",
        found.len(),
        found.join("\n")
    );
}

#[test]
fn other_values_stay_visible() {
    let mut session = Session::new("visible", "jsonrpc");
    for (id, value) in VISIBLE.iter().enumerate() {
        let call = format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"m\",\"params\":{{\"v\":{value}}}}}\n"
        );
        session.push(ChunkSource::C2s, call.into_bytes());
    }
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.jsonl"), session.recording()).unwrap();
    let shown = wiretool(folder.path(), &["decode", "-f", "tree", "a.jsonl"]);
    let shown = String::from_utf8_lossy(&shown);
    let masked: Vec<&str> = shown.lines().filter(|l| l.contains("(secret)")).collect();
    assert!(masked.is_empty(), "{masked:#?}");
    let report = wiretool(folder.path(), &["redact", "a.jsonl", "-o", "out.jsonl"]);
    let report = String::from_utf8_lossy(&report);
    assert!(report.contains(": 0 secrets replaced"), "{report}");
}

/// A function, a namespace and a type may have any name: the name of none makes its description secret.
#[test]
fn names_of_functions_are_not_names_of_values() {
    let function = r#"{"args":[{"name":"token","type":{"kind":"list","item":{"kind":"primitive","type":"string"}}}],"returns":{"kind":"list","of":"list"},"visibility":"public"}"#;
    let describe = |name: &&str| format!("\"{name}\":{function}");
    let functions: Vec<String> = NAMES.iter().map(describe).collect();
    let announce = format!(
        "{{\"version\":1,\"type\":\"announce\",\"id\":\"4dd08780-4146-1567-2ff4-a479a95fbaff\",\"target\":\"$saikuro.announce\",\"args\":[{{\"version\":1,\"namespaces\":{{\"secret\":{{\"functions\":{{{}}}}}}},\"types\":{{\"password\":{{\"kind\":\"list\"}}}}}}]}}",
        functions.join(",")
    );
    let body = packed(&announce);
    let mut session = Session::new("functions", "saikuro");
    let bytes = [&(body.len() as u32).to_be_bytes()[..], &body].concat();
    session.push(ChunkSource::C2s, bytes);
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.jsonl"), session.recording()).unwrap();
    for command in [
        ["decode", "-f", "tree", "a.jsonl"],
        ["decode", "-f", "hex", "a.jsonl"],
        ["lint", "--report", "sarif", "a.jsonl"],
    ] {
        let out = wiretool(folder.path(), &command);
        let text = String::from_utf8_lossy(&out);
        assert!(!text.contains("secret)"), "{text}");
        assert!(text.contains("list"), "{text}");
    }
    let report = wiretool(folder.path(), &["redact", "a.jsonl", "-o", "out.jsonl"]);
    let report = String::from_utf8_lossy(&report);
    assert!(report.contains(": 0 secrets replaced"), "{report}");
}
