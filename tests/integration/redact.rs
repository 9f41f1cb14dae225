//! Secrets of a recording do not occur in the redacted one; everything else is unchanged.

mod compressed;

use crate::common;
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use std::path::Path;
use wiretool::capture::RecordingWriter;
use wiretool::capture::{ChunkSource, Header, Record};

/// Bytes in order: direction and chunk.
type Chunks = Vec<(ChunkSource, Vec<u8>)>;

fn record(protocol: &str, argv: &[&str], chunks: &Chunks) -> Vec<u8> {
    let header = Header {
        protocol: Some(protocol.into()),
        argv: (!argv.is_empty()).then(|| argv.iter().map(|w| (*w).to_owned()).collect()),
        ..Header::new(1_795_255_200_000_000_000)
    };
    let mut out = Vec::new();
    let mut writer = RecordingWriter::new(&header, &mut out);
    let mut t = 0;
    for (stream, bytes) in chunks {
        writer.chunk(t, 1, None, *stream, bytes, &mut out);
        t += 1000;
    }
    writer.end(t, &mut out);
    out
}

struct Run {
    code: Option<i32>,
    out: Vec<u8>,
    sent: String,
}

fn redact(recording: &[u8], more: &[&str]) -> Run {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("in"), recording).unwrap();
    let run = common::wiretool()
        .arg("redact")
        .arg(path("in"))
        .arg("-o")
        .arg(path("out"))
        .args(more)
        .output()
        .unwrap();
    Run {
        code: run.status.code(),
        out: std::fs::read(path("out")).unwrap_or_default(),
        sent: String::from_utf8(run.stderr).unwrap(),
    }
}

fn decode(recording: &[u8]) -> Vec<serde_json::Value> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r");
    std::fs::write(&path, recording).unwrap();
    let mut run = common::wiretool();
    let run = run
        .args(["decode", "-f", "json"])
        .arg(&path)
        .output()
        .unwrap();
    let text = String::from_utf8(run.stdout).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// All bytes that a reader of the file can obtain, also unmasked.
fn readable_bytes(recording: &[u8]) -> Vec<Vec<u8>> {
    let mut all = vec![recording.to_vec()];
    let mut streams: std::collections::BTreeMap<ChunkSource, Vec<u8>> =
        std::collections::BTreeMap::default();
    for line in recording.split(|b| *b == b'\n').filter(|l| !l.is_empty()) {
        if let Record::Chunk { dir, bytes, .. } = Record::parse(line).unwrap() {
            streams.entry(dir).or_default().extend(bytes);
        }
    }
    all.extend(streams.into_values());
    all.extend(
        decode(recording)
            .iter()
            .map(|line| line.to_string().into_bytes()),
    );
    all
}

/// All spellings of a secret.
fn spellings(secret: &[u8]) -> Vec<Vec<u8>> {
    let mut all = vec![secret.to_vec(), hex::encode(secret).into_bytes()];
    for shift in 0..3 {
        let shifted = [&[0; 2][..shift], secret].concat();
        let (first, last) = ((shift * 8_usize).div_ceil(6), shifted.len() * 8 / 6);
        for text in [STANDARD.encode(&shifted), URL_SAFE_NO_PAD.encode(&shifted)] {
            all.push(text.as_bytes()[first..last].to_vec());
        }
    }
    all
}

fn contains_secret(recording: &[u8], secret: &[u8]) -> bool {
    let all = readable_bytes(recording);
    spellings(secret).iter().any(|spelling| {
        all.iter()
            .any(|bytes| memchr::memmem::find(bytes, spelling).is_some())
    })
}

/// Redacts. No secret may be left, and decoding must give the same output except for the secrets.
#[track_caller]
fn check(recording: &[u8], secrets: &[&str], more: &[&str]) -> Vec<u8> {
    for secret in secrets {
        assert!(
            contains_secret(recording, secret.as_bytes()),
            "{secret} is not even in the original"
        );
    }
    let run = redact(recording, more);
    assert_eq!(run.code, Some(0), "{}", run.sent);
    for secret in secrets {
        assert!(
            !contains_secret(&run.out, secret.as_bytes()),
            "{secret} is left in\n{}",
            String::from_utf8_lossy(&run.out)
        );
    }
    let keys = [
        "index",
        "conn",
        "dir",
        "time",
        "offset",
        "len",
        "body_offset",
        "body_len",
        "framing",
        "protocol",
        "kind",
        "role",
        "id",
    ];
    let (before, after) = (decode(recording), decode(&run.out));
    assert_eq!(before.len(), after.len());
    for (before, after) in before.iter().zip(&after) {
        for key in keys {
            assert_eq!(
                before.get(key),
                after.get(key),
                "{key} of {before}\n{after}"
            );
        }
        assert_eq!(
            before.get("fault").map(|f| &f["code"]),
            after.get("fault").map(|f| &f["code"])
        );
    }
    let shape = |recording: &[u8]| {
        let lines = recording.split(|b| *b == b'\n').filter(|l| !l.is_empty());
        let lines = lines.map(|line| match Record::parse(line).unwrap() {
            Record::Chunk {
                t,
                conn,
                stream,
                dir,
                bytes,
                ..
            } => format!("{t} {conn} {stream:?} {dir:?} {}", bytes.len()),
            Record::Event(event) => format!("{event:?}"),
            Record::Header(_) => String::new(),
        });
        lines.collect::<Vec<_>>()
    };
    assert_eq!(
        shape(recording),
        shape(&run.out),
        "chunks, times and events are as they were"
    );
    run.out
}

/// One WebSocket message in frames of these lengths, masked or not.
fn websocket(body: &[u8], lengths: &[usize], mask: Option<[u8; 4]>) -> Vec<u8> {
    let (mut out, mut rest) = (Vec::new(), body);
    for (n, len) in lengths.iter().enumerate() {
        let last = n + 1 == lengths.len();
        let (piece, after) = rest.split_at(if last { rest.len() } else { *len });
        rest = after;
        out.push(u8::from(n == 0) | if last { 0x80 } else { 0 });
        let bit = if mask.is_some() { 0x80 } else { 0 };
        assert!(piece.len() < 65536);
        if piece.len() < 126 {
            out.push(bit | piece.len() as u8);
        } else {
            out.push(bit | 0x7e);
            out.extend((piece.len() as u16).to_be_bytes());
        }
        out.extend(mask.iter().flatten());
        let mask = mask.unwrap_or_default();
        out.extend(piece.iter().enumerate().map(|(i, b)| b ^ mask[i % 4]));
    }
    out
}

fn token() -> String {
    let claims = r#"{"iss":"sael-issuer","sub":"agent-seven","client_id":"agent-seven","exp":1795299999,"scope":["tools:search","tools:*"]}"#;
    format!(
        "qct.v1.{}.jMSua7H16b0secretsignature",
        URL_SAFE_NO_PAD.encode(claims)
    )
}

/// A byte order mark before a recording makes no difference.
#[test]
fn byte_order_mark_is_skipped() {
    let line = b"{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"ready\"}\n".to_vec();
    let recording = record("oracle", &[], &vec![(ChunkSource::S2c, line)]);
    let marked = [b"\xef\xbb\xbf", &recording[..]].concat();
    let (plain, marked) = (redact(&recording, &[]), redact(&marked, &[]));
    assert_eq!((plain.code, marked.code), (Some(0), Some(0)));
    assert_eq!(marked.out, plain.out);
}

#[test]
fn sael_secrets_are_replaced_in_fragments_and_masks() {
    let token = token();
    let hello = format!(
        r#"{{"v":1,"kind":"HEY","agent":{{"id":"agent-seven"}},"auth":{{"type":"bearer","token":"{token}"}}}}"#
    );
    let upgrade = format!(
        "GET /sael/ws?token={token} HTTP/1.1\r\nHost: h\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nAuthorization: Bearer {token}\r\nCookie: sid=cookievalue42; theme=darkish\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
    );
    let mut up = upgrade.into_bytes();
    up.extend(websocket(
        hello.as_bytes(),
        &[40, 77, 60, 0],
        Some([0x37, 0xfa, 0x21, 0x3d]),
    ));
    let mut down = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSet-Cookie: sid=cookievalue42; Path=/\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n".to_vec();
    let granted = r#"{"v":1,"kind":"HEY","server":{"id":"srv"},"granted_capabilities":["tools:search","tools:*"]}"#;
    down.extend(websocket(granted.as_bytes(), &[5, 0], None));
    // All splits, also in the middle of a secret.
    for size in [7, 64, 4096] {
        let mut chunks: Chunks = up
            .chunks(size)
            .map(|c| (ChunkSource::C2s, c.to_vec()))
            .collect();
        chunks.extend(down.chunks(size).map(|c| (ChunkSource::S2c, c.to_vec())));
        let recording = record("sael", &[], &chunks);
        let secrets = [
            token.as_str(),
            "jMSua7H16b0secretsignature",
            "agent-seven",
            "sael-issuer",
            "cookievalue42",
            "tools:search",
        ];
        let out = check(&recording, &secrets, &[]);
        let lines = decode(&out);
        let of = |kind: &str, dir: &str| {
            let line = lines.iter().find(|l| l["kind"] == kind && l["dir"] == dir);
            line.unwrap_or_else(|| panic!("{lines:?}"))["message"].clone()
        };
        let hello = of("HEY", "c2s");
        let made = hello["auth"]["token"].as_str().unwrap();
        assert!(made.starts_with("qct.v1.") && made.len() == token.len());
        let claims = URL_SAFE_NO_PAD
            .decode(made.split('.').nth(2).unwrap())
            .unwrap();
        let claims: serde_json::Value = serde_json::from_slice(&claims).unwrap();
        // Equal values stay equal: the claim is still the id of the agent, and the scope is still the granted one.
        assert_eq!(claims["client_id"], hello["agent"]["id"]);
        assert_eq!(claims["sub"], claims["client_id"]);
        assert_eq!(claims["exp"], 1_795_299_999);
        assert_eq!(claims["scope"], of("HEY", "s2c")["granted_capabilities"]);
    }
}

#[test]
fn saikuro_capabilities_are_replaced_in_messagepack() {
    let call = |id: u8, capability: &str| {
        let mut body = vec![0x85];
        let mut text = |text: &str| {
            body.push(0xd9);
            body.push(text.len() as u8);
            body.extend(text.as_bytes());
        };
        text("type");
        text("call");
        text("capability");
        text(capability);
        text("target");
        text("math.add");
        text("args");
        body.push(0x90);
        body.extend(b"\xa2id\xc4\x10");
        body.extend([id; 16]);
        [&(body.len() as u32).to_be_bytes(), body.as_slice()].concat()
    };
    let chunks = vec![
        (ChunkSource::C2s, call(1, "cap_4f9aSecret")),
        (ChunkSource::C2s, call(2, "cap_4f9aSecret")),
        (ChunkSource::C2s, call(3, "cap_another00")),
    ];
    let out = check(
        &record("saikuro", &[], &chunks),
        &["cap_4f9aSecret", "cap_another00"],
        &[],
    );
    let lines = decode(&out);
    let capability = |n: usize| lines[n]["message"]["capability"].as_str().unwrap();
    assert_eq!(capability(0), capability(1));
    assert_ne!(capability(0), capability(2));
    assert_eq!(capability(0).len(), "cap_4f9aSecret".len());
    assert_eq!(lines[0]["message"]["target"], "math.add");
    // Another key gives other replacements.
    let again = redact(&record("saikuro", &[], &chunks), &[]).out;
    assert_ne!(out, again);
}

#[test]
fn stepflow_secrets_are_replaced_in_chunks_and_events() {
    let head = "POST / HTTP/1.1\r\nAuthorization: Basic dXNlcjpwYXNzd29yZA==\r\nTransfer-Encoding: chunked\r\n\r\n";
    let body = r#"{"jsonrpc":"2.0","id":"a","method":"components/execute","params":{"component":"/p","input":{"password":"hunter2hunter2","plan":12345678}}}"#;
    let mut up = head.as_bytes().to_vec();
    for piece in body.as_bytes().chunks(11) {
        up.extend(format!("{:x}\r\n", piece.len()).as_bytes());
        up.extend(piece);
        up.extend(b"\r\n");
    }
    up.extend(b"0\r\n\r\n");
    let answer = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: {\"jsonrpc\":\"2.0\",\"id\":\"a\",\"result\":\ndata: {\"echo\":\"p\\u0061ss is hunter2hunter2!\"}}\n\n";
    let chunks = vec![(ChunkSource::C2s, up), (ChunkSource::S2c, answer.into())];
    let recording = record("stepflow", &[], &chunks);
    let out = check(
        &recording,
        &["dXNlcjpwYXNzd29yZA==", "hunter2hunter2", "12345678"],
        &["--key", "pass*", "--key", "plan"],
    );
    let lines = decode(&out);
    let password = lines[0]["message"]["params"]["input"]["password"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(
        lines
            .iter()
            .any(|line| line["message"]["result"]["echo"] == format!("pass is {password}!"))
    );
    assert_eq!(lines[0]["subject"], "components/execute");
    assert!(String::from_utf8_lossy(&out).contains("Authorization: Basic "));
    // Recognised by its form.
    let out = check(
        &recording,
        &["hunter2hunter2"],
        &["--value", "hunter\\d\\w+"],
    );
    assert_eq!(
        decode(&out)[0]["message"]["params"]["input"]["plan"],
        12_345_678
    );
}

/// A match of --value is replaced where it stands, also if it is shorter than the secrets whose copies are searched.
#[test]
fn short_matches_of_a_pattern_are_replaced() {
    let line = |text: &str| {
        format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\",\"params\":{text}}}\n")
    };
    let saikuro = |name: &str, value: rmpv::Value| {
        let mut body = Vec::new();
        let members = vec![
            ("version".into(), 1.into()),
            ("type".into(), "call".into()),
            ("id".into(), "a".into()),
            ("target".into(), "x.y".into()),
            ("args".into(), rmpv::Value::Array(vec![name.into(), value])),
        ];
        rmpv::encode::write_value(&mut body, &rmpv::Value::Map(members)).unwrap();
        let length = u32::try_from(body.len()).unwrap();
        [&length.to_be_bytes()[..], &body].concat()
    };
    let http = "POST /Maria/x HTTP/1.1\r\nX-Owner: Maria\r\nContent-Length: 0\r\n\r\n";
    for (protocol, bytes, count) in [
        (
            "jsonrpc",
            line(r#"{"t":"I am Maria S.","u":"Maria","Maria":1}"#).into_bytes(),
            1,
        ),
        (
            "jsonrpc",
            line(r#"{"t":"I am \u004daria.","password":"Maria"}"#).into_bytes(),
            1,
        ),
        (
            "jsonrpc",
            line(r#"{"t":"{\"token\":\"x9y8z7w6v5\",\"n\":\"to Maria\"}"}"#).into_bytes(),
            2,
        ),
        (
            "saikuro",
            saikuro(
                "for Maria",
                rmpv::Value::Binary(b"\xff of Maria \xfe".to_vec()),
            ),
            1,
        ),
        ("jsonrpc", format!("{http}{http}").into_bytes(), 1),
        (
            "jsonrpc",
            b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\"to Maria".to_vec(),
            1,
        ),
    ] {
        let shown = String::from_utf8_lossy(&bytes).into_owned();
        let recording = record(protocol, &[], &vec![(ChunkSource::C2s, bytes)]);
        let run = redact(&recording, &["--value", "Maria|Jo\u{e3}o"]);
        assert_eq!(run.code, Some(0), "{}", run.sent);
        for text in readable_bytes(&run.out) {
            let text = String::from_utf8_lossy(&text);
            // Only the name of a member stays.
            assert!(
                !text
                    .replace("\"Maria\\\":", "")
                    .replace("\"Maria\":", "")
                    .contains("Maria"),
                "{shown}: {text}"
            );
        }
        let said = format!("{count} secret");
        assert!(run.sent.contains(&said), "{shown}: {}", run.sent);
    }
}

#[test]
fn arguments_and_stderr_of_child_are_redacted() {
    let chunks = vec![
        (ChunkSource::Stderr, b"token=abcdef".to_vec()),
        (ChunkSource::Stderr, b"ghijkl\nZo\xc3".to_vec()),
        (ChunkSource::Stderr, b"\xab \xff!\n".to_vec()),
        (
            ChunkSource::S2c,
            b"{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"ready\"}\n".to_vec(),
        ),
    ];
    let recording = record("oracle", &["./oracle", "--key=s3cr3tvalue"], &chunks);
    let out = check(&recording, &["abcdefghijkl", "s3cr3tvalue", "Zoë"], &[]);
    let text = String::from_utf8(out).unwrap();
    assert!(text.contains("--") && text.contains("ready"), "{text}");
}

#[test]
fn telequick_tokens_are_replaced_in_envelopes() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/telequick");
    let message = r#"{"method":"AllocateWt","struct":"AllocateWtResponse","fields":{"host":"h","port":1,"node_id":"n","media_token":"mt_9f8e7d6c5b","status":"ok","error_message":"","error_code":0,"timestamp_ms":0}}"#;
    assert!(folder.exists());
    let mut encode = common::wiretool();
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("m");
    std::fs::write(&input, message).unwrap();
    let made = encode
        .args(["encode", "-p", "telequick", "--to", "raw"])
        .arg(&input)
        .output()
        .unwrap();
    assert!(
        made.status.success(),
        "{}",
        String::from_utf8_lossy(&made.stderr)
    );
    let chunks = vec![(ChunkSource::S2c, made.stdout)];
    check(&record("telequick", &[], &chunks), &["mt_9f8e7d6c5b"], &[]);
}

#[test]
fn unreadable_bytes_contain_no_token() {
    let token = token();
    // Truncated in the middle of it.
    let line = format!(
        r#"{{"v":1,"kind":"HEY","auth":{{"type":"bearer","token":"{}"#,
        &token[..60]
    );
    let stream = websocket(line.as_bytes(), &[0], Some([1, 2, 3, 4]));
    let chunks = vec![(ChunkSource::C2s, stream)];
    check(&record("sael", &[], &chunks), &[&token[7..60]], &[]);
}

#[test]
fn compressed_bodies_are_refused() {
    let body = b"\x1f\x8b\x08\0\0\0\0\0\0\x03";
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    let chunks = vec![
        (ChunkSource::C2s, b"POST / HTTP/1.1\r\nContent-Length: 47\r\n\r\n{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":\"initialize\"}".to_vec()),
        (ChunkSource::S2c, [head.as_bytes(), body].concat()),
    ];
    let run = redact(&record("stepflow", &[], &chunks), &[]);
    assert_eq!((run.code, run.out.len()), (Some(1), 0), "{}", run.sent);
    assert!(
        run.sent
            .contains("connection 1 s2c, offset 0: the body is compressed"),
        "{}",
        run.sent
    );
    // Separate WebSocket messages: with a secret they are refused, without one they stay.
    for (message, code) in [
        (
            format!(
                r#"{{"v":1,"kind":"HEY","auth":{{"type":"bearer","token":"{}"}}}}"#,
                token()
            ),
            1,
        ),
        (r#"{"v":1,"kind":"PNG","ts":1}"#.to_owned(), 0),
    ] {
        let mut deflate = flate2::Compress::new(flate2::Compression::fast(), false);
        let mut packed = Vec::with_capacity(1000);
        deflate
            .compress_vec(message.as_bytes(), &mut packed, flate2::FlushCompress::Sync)
            .unwrap();
        packed.truncate(packed.len() - 4);
        let mut frame = websocket(&packed, &[0], None);
        frame[0] |= 0x40;
        let run = redact(
            &record("sael", &[], &vec![(ChunkSource::C2s, frame)]),
            &["--framing", "websocket"],
        );
        assert_eq!(run.code, Some(code), "{}", run.sent);
    }
}

#[test]
fn non_recording_is_refused() {
    for (text, wanted) in [
        ("", "not a recording"),
        ("{}\n", "not a recording"),
        ("# a hex dump\n00 00\n", "not a recording"),
        ("{\"wiretool\":1,\"protocol\":\"oracle\"}\n{}\n", "line 2"),
        ("{\"wiretool\":9}\n", "version 9"),
        ("{\"t\":0,\"event\":\"open\"}\n", "not a recording"),
    ] {
        let run = redact(text.as_bytes(), &[]);
        assert_eq!((run.code, run.out.len()), (Some(2), 0), "{text}");
        assert!(run.sent.contains(wanted), "{text}: {}", run.sent);
    }
    let torn = "{\"wiretool\":1,\"protocol\":\"oracle\"}\n{\"t\":0,\"conn\":1,\"di";
    let run = redact(torn.as_bytes(), &[]);
    assert_eq!(run.code, Some(0), "{}", run.sent);
    assert!(
        run.sent.contains("the last line is incomplete"),
        "{}",
        run.sent
    );
}

/// An upgrade of a client with these fields, and its answer.
fn upgrade(target: &str, fields: &[u8]) -> Chunks {
    let head = format!(
        "GET {target} HTTP/1.1\r\nHost: h\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
    );
    let up = [head.as_bytes(), fields, b"\r\n"].concat();
    let down = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n";
    vec![(ChunkSource::C2s, up), (ChunkSource::S2c, down.to_vec())]
}

#[test]
fn secrets_in_heads_are_replaced_in_every_spelling() {
    let fields = b"Sec-WebSocket-Protocol: sael, bearer.PROTOSECRET999\r\n\
        X-API-Key: APIKEYSECRET77\r\n\
        Authorization: Bearer LATINSECRET\xff9\r\n\
        X-Session-Token: short1\r\n\
        referer: http://u:URLPASS99@h/?access_token=REF%53ECRET1&b=c\r\n\
        X-Mine: MINESECRET1\r\n";
    let mut chunks = upgrade("/v1?token=QUERYSECRET1234&pin=PIN%2F1&x=1", fields);
    let hello = r#"{"v":1,"kind":"HEY","agent":{"id":"REFSECRET1"}}"#;
    chunks.push((
        ChunkSource::C2s,
        websocket(hello.as_bytes(), &[0], Some([9; 4])),
    ));
    let secrets = [
        "PROTOSECRET999",
        "APIKEYSECRET77",
        "LATINSECRET",
        "short1",
        "URLPASS99",
        "REF%53ECRET1",
        "REFSECRET1",
        "QUERYSECRET1234",
        "MINESECRET1",
        "PIN%2F1",
    ];
    let recording = record("sael", &[], &chunks);
    let out = check(&recording, &secrets, &["--key", "X-mine", "--key", "PIN"]);
    let lines = decode(&out);
    let subject = lines[0]["subject"].as_str().unwrap();
    assert!(subject.starts_with("GET /v1?token=") && subject.ends_with("&x=1"));
    let texts: Vec<Vec<u8>> = readable_bytes(&out);
    let all = texts.concat();
    let has = |text: &str| memchr::memmem::find(&all, text.as_bytes()).is_some();
    assert!(has("Sec-WebSocket-Protocol: sael, bearer.") && has("Authorization: Bearer "));
    // Escaped values stay escaped, and equal to unescaped ones.
    let reported = &all[memchr::memmem::find(&all, b"access_token=").unwrap() + 13..][..12];
    assert_eq!(reported[3], b'%');
    let agent = lines[2]["message"]["agent"]["id"].as_str().unwrap();
    assert_eq!(
        (&reported[..3], &reported[6..]),
        (&agent.as_bytes()[..3], &agent.as_bytes()[4..])
    );
}

#[test]
fn secrets_in_damaged_heads_are_replaced() {
    let many = "x: y\r\n".repeat(200);
    for fields in [
        "Authorization:\r\n Bearer FOLDSECRET9\r\n",
        "Authorization: Bearer\r\n\tFOLDSECRET9\r\n",
        "authorization : Bearer FOLDSECRET9\r\n",
        "Host: h\r\n x-api-key: FOLDSECRET9\r\n",
        "authorization: Bearer FOLDSECRET9\r\nbad\0: 1\r\n",
        &format!("authorization: Bearer FOLDSECRET9\r\n{many}"),
    ] {
        let chunks = upgrade("/v1", fields.as_bytes());
        let recording = record("sael", &[], &chunks);
        check(&recording, &["FOLDSECRET9"], &["--framing", "http"]);
        check(&recording, &["FOLDSECRET9"], &[]);
        let run = redact(&recording, &[]);
        assert!(run.sent.contains(": 1 secret replaced"), "{}", run.sent);
    }
    // Skipped in runs: the secret is in two of them.
    let mut lost = b"GET / HTTP/1.1\r\n\0: 1\r\n".to_vec();
    lost.resize((64 << 10) - 30, b' ');
    lost.extend(b"\r\nauthorization: Bearer RUNSECRET1 \r\nx: y\r\n\r\n");
    let chunks = vec![(ChunkSource::C2s, lost)];
    let recording = record("sael", &[], &chunks);
    check(&recording, &["RUNSECRET1", "RET1 "], &["--framing", "http"]);
}

#[test]
fn secrets_in_trailers_are_replaced() {
    let body = r#"{"jsonrpc":"2.0","id":"a","method":"initialize","params":{"runtime_protocol_version":1}}"#;
    let trailer = "0\r\nX-Trace: 1\r\nAuthorization: Bearer\r\n TRAILER1\r\n\r\n";
    for size in [body.len(), 9] {
        let mut up = b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec();
        for piece in body.as_bytes().chunks(size) {
            up.extend(format!("{:x};token=EXTENDED1\r\n", piece.len()).as_bytes());
            up.extend(piece);
            up.extend(b"\r\n");
        }
        up.extend(trailer.as_bytes());
        let event = r#"data: {"jsonrpc":"2.0","id":"a","result":{}}"#;
        let answer = format!(
            "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n{:x}\r\n{event}\n\n\r\n{trailer}",
            event.len() + 2
        );
        let chunks = vec![
            (ChunkSource::C2s, up),
            (ChunkSource::S2c, answer.into_bytes()),
        ];
        let out = check(
            &record("stepflow", &[], &chunks),
            &["TRAILER1", "EXTENDED1"],
            &[],
        );
        assert_eq!(decode(&out)[0]["subject"], "initialize");
    }
}

#[test]
fn session_resume_ids_are_replaced() {
    let mut chunks = upgrade("/v1", b"");
    let hey = r#"{"v":1,"kind":"HEY","server":{"id":"s"},"session_id":"ses_a7b3c9d1Zq8"}"#;
    chunks.push((ChunkSource::S2c, websocket(hey.as_bytes(), &[0], None)));
    let resume = r#"{"v":1,"kind":"RSM","session_id":"ses_a7b3c9d1Zq8","last_seq_received":0}"#;
    chunks.push((
        ChunkSource::C2s,
        websocket(resume.as_bytes(), &[0], Some([1, 2, 3, 4])),
    ));
    let out = check(&record("sael", &[], &chunks), &["ses_a7b3c9d1Zq8"], &[]);
    let lines = decode(&out);
    let ids: Vec<_> = lines
        .iter()
        .filter_map(|line| line["message"]["session_id"].as_str())
        .collect();
    assert_eq!(ids.len(), 2);
    assert_eq!(ids[0], ids[1]);
}

#[test]
fn many_and_long_secrets_need_linear_time() {
    // Distinct tokens in separate messages; a search for each token in each message took half a minute.
    let mut chunks = upgrade("/v1", b"");
    for n in 0..3000_u64 {
        let token = n.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let hey = format!(
            r#"{{"v":1,"kind":"HEY","auth":{{"type":"bearer","token":"tok_{token:016x}{n:08}"}}}}"#
        );
        chunks.push((ChunkSource::C2s, websocket(hey.as_bytes(), &[0], None)));
    }
    // And one of 60 KB in frames of one byte.
    let token = "abcdefgh".repeat(7500);
    let hey = format!(r#"{{"v":1,"kind":"HEY","auth":{{"type":"bearer","token":"{token}"}}}}"#);
    let lengths = vec![1; hey.len()];
    chunks.push((ChunkSource::C2s, websocket(hey.as_bytes(), &lengths, None)));
    let recording = record("sael", &[], &chunks);
    let started = std::time::Instant::now();
    let run = redact(&recording, &[]);
    assert!(run.sent.contains(": 3001 secrets replaced"), "{}", run.sent);
    let took = started.elapsed();
    assert!(took.as_secs() < 60, "{took:?}");
    assert!(!contains_secret(&run.out, &token.as_bytes()[..64]));
}

#[test]
fn general_secret_names_apply_to_every_protocol() {
    let line = r#"{"jsonrpc":"2.0","id":0,"method":"invoke","params":{"selector":"f","calldata":[],"password":"hunter2","token":"abcd99","arguments":"{\"api_key\":\"kk77\",\"n\":1}"}}"#;
    let chunks = vec![(ChunkSource::C2s, format!("{line}\n").into_bytes())];
    let out = check(
        &record("oracle", &[], &chunks),
        &["hunter2", "abcd99", "kk77"],
        &[],
    );
    let lines = decode(&out);
    let inner = lines[0]["message"]["params"]["arguments"].as_str().unwrap();
    let inner: serde_json::Value = serde_json::from_str(inner).unwrap();
    assert_eq!(inner["n"], 1);
    assert_eq!(inner["api_key"].as_str().unwrap().len(), 4);
}

/// A copy in text whose characters are escaped is replaced; where it cannot be, nothing is written.
#[test]
fn copies_in_other_spellings_are_replaced_or_refused() {
    let call = |text: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":0,"method":"invoke","params":{{"selector":"f","calldata":[],"text":{text}}}}}"#
        )
    };
    let secret = r#"{"password":"k/7 \"quoted\" Zx81"}"#;
    for (copy, is_replaced) in [
        (r#""said k\/7 \u0022quoted\" Zx81 to all""#, true),
        (r#"{"inner":"said k\/7 \"\u0071uoted\" Zx81"}"#, true),
        (r#""GET /?q=k%2F7%20%22quoted%22%20Zx81""#, false),
        (r#""\"said k/7 \\\"quoted\\\" Zx81 to all\"""#, false),
    ] {
        let lines = format!("{}\n{}\n", call(secret), call(copy));
        let chunks = vec![(ChunkSource::C2s, lines.into_bytes())];
        let recording = record("oracle", &[], &chunks);
        let run = redact(&recording, &[]);
        assert_eq!(
            run.code,
            Some(i32::from(!is_replaced)),
            "{copy}: {}",
            run.sent
        );
        let text = String::from_utf8_lossy(&run.out);
        assert!(!text.contains("Zx81"), "{text}");
        assert_eq!(run.out.is_empty(), !is_replaced, "{text}");
        let reason = "connection 1 c2s, offset 125: a secret is left, with the escapes of";
        assert_eq!(run.sent.contains(reason), !is_replaced, "{}", run.sent);
        if !is_replaced {
            let run = redact(&recording, &["--value", "said.*|GET.*"]);
            assert_eq!(run.code, Some(0), "{copy}: {}", run.sent);
        }
    }
}

#[test]
fn short_secrets_are_counted() {
    let line = r#"{"jsonrpc":"2.0","id":0,"method":"invoke","params":{"selector":"f","calldata":[],"pin":"4711","text":"x47110"}}"#;
    let chunks = vec![(ChunkSource::C2s, format!("{line}\n").into_bytes())];
    let run = redact(&record("oracle", &[], &chunks), &[]);
    let counted = "secrets shorter than 8 bytes: 1;";
    assert!(run.sent.contains(counted), "{}", run.sent);
}

#[test]
fn summary_counts_replacements_and_unexamined_bytes() {
    let chunks = vec![
        (ChunkSource::Stderr, b"a warning\n".to_vec()),
        (
            ChunkSource::S2c,
            b"{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"ready\"}\nnot a message\n".to_vec(),
        ),
    ];
    let run = redact(&record("oracle", &["./oracle", "--x"], &chunks), &[]);
    for want in [
        "0 secrets replaced, and 2 arguments of the command, and 10 bytes of stderr",
        "not examined: 13 bytes that are not a message, first on connection 1 s2c",
    ] {
        assert!(run.sent.contains(want), "{}", run.sent);
    }
}

#[test]
fn lines_over_the_limit_are_refused() {
    let chunks = vec![(ChunkSource::C2s, vec![b'x'; (64 << 20) + 1])];
    let run = redact(&record("oracle", &[], &chunks), &[]);
    assert_eq!(run.code, Some(2));
    assert!(run.sent.contains("longer than the limit"), "{}", run.sent);
}

#[test]
fn compressed_fields_of_http3_are_removed() {
    let recording = std::fs::read("fixtures/telequick/webtransport.jsonl").unwrap();
    let run = redact(&recording, &[]);
    assert_eq!(run.code, Some(0), "{}", run.sent);
    let text = String::from_utf8(run.out).unwrap();
    // The length, the method and the scheme stay.
    let removed = STANDARD.encode([&b"\x01\x20\0\0\xcf\xd7"[..], &[0; 28]].concat());
    assert!(text.contains(&removed), "{text}");
    assert!(text.contains("QEEAFQAAAGHuNTkAAAcAAAADAAAAd2Vi"), "{text}");
}

/// The head of a message is read, even if its body is not a message.
#[test]
fn names_of_fields_stay() {
    let body = "Internal Server Error: a_word_of_16_letters";
    let answer = format!(
        "HTTP/1.1 500 Internal Server Error\r\nTransfer-Encoding: chunked\r\nStrict-Transport-Security: max-age=0\r\n\r\n{:x}\r\n{body}\r\n0\r\n\r\n",
        body.len()
    );
    let chunks = vec![
        (ChunkSource::C2s, b"POST / HTTP/1.1\r\nContent-Length: 47\r\n\r\n{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":\"initialize\"}".to_vec()),
        (ChunkSource::S2c, answer.into_bytes()),
    ];
    let out = check(
        &record("stepflow", &[], &chunks),
        &["a_word_of_16_letters"],
        &[],
    );
    let text = String::from_utf8(out).unwrap();
    for kept in [
        "Transfer-Encoding: chunked",
        "Strict-Transport-Security: max-age=0",
    ] {
        assert!(text.contains(kept), "{text}");
    }
    // Nor is a name changed in a head that is refused.
    let refused = b"HTTP/1.1 200 OK\r\n\0: 1\r\nAccess-Control-Allow-Origin: *\r\n\r\n".to_vec();
    let chunks = vec![(ChunkSource::S2c, refused)];
    let out = check(
        &record("stepflow", &[], &chunks),
        &[],
        &["--framing", "http"],
    );
    assert!(String::from_utf8_lossy(&out).contains("Access-Control-Allow-Origin: *"));
}
