//! Secrets in compressed bodies of HTTP, and in their events.

use super::{check, decode, record};
use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};
use std::io::Write as _;
use wiretool::capture::ChunkSource;

/// A way to compress a body.
type Pack = fn(&[u8]) -> Vec<u8>;

/// Names of content codings, and what peers send with them.
const CODINGS: [(&str, Pack); 3] = [("gzip", gzip), ("deflate", zlib), ("deflate", deflate)];

fn gzip(body: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(body).unwrap();
    encoder.finish().unwrap()
}

fn zlib(body: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(body).unwrap();
    encoder.finish().unwrap()
}

fn deflate(body: &[u8]) -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(body).unwrap();
    encoder.finish().unwrap()
}

fn sized(head: &str, body: &[u8]) -> Vec<u8> {
    let head = format!("{head}Content-Length: {}\r\n\r\n", body.len());
    [head.as_bytes(), body].concat()
}

fn chunked(head: &str, body: &[u8]) -> Vec<u8> {
    let mut all = format!("{head}Transfer-Encoding: chunked\r\n\r\n").into_bytes();
    for piece in body.chunks(7) {
        all.extend(format!("{:x}\r\n", piece.len()).as_bytes());
        all.extend(piece);
        all.extend(b"\r\n");
    }
    all.extend(b"0\r\n\r\n");
    all
}

/// A compressed body is inflated, changed, and compressed again to the same length, in chunks or not.
#[test]
fn secrets_in_compressed_bodies_are_replaced() {
    let random = "Zx81aQ9b7Kd0Lm3Np5Rt7Vw9Yb2Ce4Fg6Hj8";
    for (secret, (coding, pack)) in ["hunter2hunter2", random]
        .into_iter()
        .flat_map(|secret| CODINGS.map(|coding| (secret, coding)))
    {
        let call = |more: &str| {
            format!(
                "{{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":\"components/execute\",\"params\":{{\"component\":\"/p\",\"input\":{{{more}}}}}}}"
            )
        };
        let plain = pack(call("\"n\":1").as_bytes());
        let body = call(&format!("\"password\":\"{secret}\",\"n\":\"{secret}\""));
        let body = pack(body.as_bytes());
        let head = format!(
            "POST / HTTP/1.1\r\nAuthorization: Bearer HEADSECRET1\r\nContent-Encoding: {coding}\r\n"
        );
        let all = [
            sized(&head, &plain),
            sized(&head, &body),
            chunked(&head, &body),
        ];
        let chunks = all.map(|bytes| (ChunkSource::C2s, bytes)).to_vec();
        let recording = record("stepflow", &[], &chunks);
        let out = check(&recording, &[secret, "HEADSECRET1"], &[]);
        let lines = decode(&out);
        let input = |n: usize| lines[n]["message"]["params"]["input"].clone();
        assert_eq!(input(0)["n"], 1);
        for n in [1, 2] {
            assert_eq!(input(n)["password"], input(n)["n"]);
            assert_eq!(input(n)["n"].as_str().unwrap().len(), secret.len());
        }
    }
}

/// Secrets in the events of a compressed stream are replaced where they are: other events and fields stay.
#[test]
fn secrets_in_compressed_events_are_replaced() {
    let secret = "Zx81aQ9b7Kd0Lm3Np5Rt7Vw9Yb2Ce4Fg6Hj8";
    let post = "POST / HTTP/1.1\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n";
    let ask = sized(
        post,
        br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t"}}"#,
    );
    let log = format!(
        "{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{{\"level\":\"info\",\ndata: \"data\":{{\"token\":\"{secret}\"}}}}}}"
    );
    let events = format!(
        "event: message\ndata: {log}\n\n: {{}}\n\ndata:{log}\nid: 7\n\ndata: {{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{{\"content\":[{{\"type\":\"text\",\"text\":\"the token: {secret}, ok\"}}]}}}}\n\n"
    );
    for (coding, pack) in CODINGS {
        let head = format!(
            "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Encoding: {coding}\r\n"
        );
        let body = pack(events.as_bytes());
        for answer in [sized(&head, &body), chunked(&head, &body)] {
            let chunks = [
                (ChunkSource::C2s, ask.clone()),
                (ChunkSource::S2c, answer.clone()),
                (ChunkSource::C2s, ask.clone()),
                (ChunkSource::S2c, answer),
            ];
            let recording = record("mcp", &[], &chunks.to_vec());
            let out = check(&recording, &[secret], &[]);
            let lines = decode(&out);
            let of = |kind: &str| {
                let lines = lines.iter().filter(|line| line["kind"] == kind);
                lines
                    .map(|line| line["message"].clone())
                    .collect::<Vec<_>>()
            };
            let (logs, answers) = (of("notification"), of("response"));
            assert_eq!((logs.len(), answers.len()), (4, 2), "{lines:?}");
            for log in &logs {
                let token = log["params"]["data"]["token"].as_str().unwrap();
                assert_eq!(token.len(), secret.len());
                let text = answers[0]["result"]["content"][0]["text"].as_str();
                assert_eq!(text.unwrap(), format!("the token: {token}, ok"));
            }
        }
    }
}
