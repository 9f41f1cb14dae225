//! What `redact` writes decodes to the same messages, apart from the replaced values, for every captured session.

use crate::secrets::{packed, wiretool};
use crate::seeds::{folder, gather};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use wiretool::capture::{ChunkSource, Header, RecordingWriter};
use wiretool::protocol::registry;

/// Larger sessions take too long without optimisation.
const MAX_SESSION: usize = 512 << 10;

/// The ends of the names of one-way files.
const DIRECTIONS: [(&str, ChunkSource); 5] = [
    (".c2s.bin", ChunkSource::C2s),
    (".s2c.bin", ChunkSource::S2c),
    (".to_oracle.bin", ChunkSource::C2s),
    (".from_oracle.bin", ChunkSource::S2c),
    (".bin", ChunkSource::C2s),
];

/// A connection: the bytes of its directions.
type Connection = Vec<(ChunkSource, Vec<u8>)>;

/// The captured connections, with their protocols.
fn connections(root: &Path) -> BTreeMap<(String, &'static str), Connection> {
    let mut all = BTreeMap::<_, Connection>::new();
    for protocol in registry::names() {
        let mut files: Vec<PathBuf> = Vec::new();
        gather(&root.join(protocol), &mut files);
        files.sort();
        for file in files {
            let name = file.display().to_string();
            let found = DIRECTIONS.iter().find(|(end, _)| name.ends_with(end));
            let (end, source) = found.expect("a stream");
            let stem = name[..name.len() - end.len()].to_owned();
            let bytes = std::fs::read(&file).expect("a readable capture");
            all.entry((stem, protocol))
                .or_default()
                .push((*source, bytes));
        }
    }
    all
}

fn recording(protocol: &str, connection: &Connection) -> Vec<u8> {
    let header = Header {
        protocol: Some(protocol.into()),
        ..Header::new(1_795_255_200_000_000_000)
    };
    let mut out = Vec::new();
    let mut writer = RecordingWriter::new(&header, &mut out);
    for (t, (source, bytes)) in (0..).zip(connection) {
        writer.chunk(t * 1000, 1, None, *source, bytes, &mut out);
    }
    writer.end(1_000_000, &mut out);
    out
}

/// Returns the first path at which two values differ in more than letters and digits.
fn difference(path: &str, before: &Value, after: &Value) -> Option<String> {
    match (before, after) {
        (Value::String(a), Value::String(b)) => {
            let punctuation = |c: char| c.is_ascii_punctuation() || c.is_ascii_whitespace();
            let same = a.len() == b.len()
                && (a.chars().filter(|c| punctuation(*c)))
                    .eq(b.chars().filter(|c| punctuation(*c)));
            // Bytes in Base64.
            let same = same || path.ends_with("$bin") && a.len() == b.len();
            (!same).then(|| format!("{path}: {a:?} became {b:?}"))
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            let mut pairs = a.iter().zip(b).enumerate();
            pairs.find_map(|(n, (a, b))| difference(&format!("{path}[{n}]"), a, b))
        }
        (Value::Object(a), Value::Object(b)) if a.keys().eq(b.keys()) => {
            let mut pairs = a.iter().zip(b);
            pairs.find_map(|((key, a), (_, b))| difference(&format!("{path}.{key}"), a, b))
        }
        (Value::Number(a), Value::Number(b)) if a.to_string().len() == b.to_string().len() => None,
        (a, b) => (a != b).then(|| format!("{path}: {a} became {b}")),
    }
}

/// Redacts a recording; returns how its messages differ in more than values.
fn check(recording: &[u8]) -> Vec<String> {
    let temporary = tempfile::tempdir().expect("a folder");
    let at = temporary.path();
    std::fs::write(at.join("in"), recording).expect("a file");
    let note = wiretool(at, &["redact", "in", "-o", "out"]);
    if !at.join("out").exists() {
        return vec![String::from_utf8_lossy(&note).into_owned()];
    }
    let messages = |file: &str| -> Vec<Value> {
        let out = wiretool(at, &["decode", "-f", "json", file]);
        let text = String::from_utf8_lossy(&out).into_owned();
        let lines = text.lines().filter(|line| line.starts_with('{'));
        let lines = lines.map(serde_json::from_str);
        lines.collect::<Result<_, _>>().expect("messages")
    };
    let (before, after) = (messages("in"), messages("out"));
    if before.len() != after.len() {
        return vec![format!("{} messages became {}", before.len(), after.len())];
    }
    let pairs = before.iter().zip(&after);
    pairs
        .filter_map(|(before, after)| {
            // All but the content, which can hold secrets, stays exactly as it is.
            for key in [
                "kind", "role", "conn", "dir", "offset", "len", "framing", "protocol", "subject",
                "of",
            ] {
                if before.get(key) != after.get(key) {
                    return Some(format!("{key}: {before} became {after}"));
                }
            }
            let fault = |value: &Value| value["fault"]["code"].clone();
            if fault(before) != fault(after) {
                return Some(format!("fault: {before} became {after}"));
            }
            difference("message", &before["message"], &after["message"])
        })
        .collect()
}

#[test]
fn redacted_sessions_decode_to_the_same_messages() {
    let Some(root) = folder("WIRETOOL_CAPTURES") else {
        return;
    };
    let mut broken = Vec::new();
    let mut checked = 0;
    for ((name, protocol), connection) in connections(&root) {
        let size: usize = connection.iter().map(|(_, bytes)| bytes.len()).sum();
        if size == 0 || size > MAX_SESSION {
            continue;
        }
        checked += 1;
        let found = check(&recording(protocol, &connection));
        if let Some(first) = found.first() {
            broken.push(format!(
                "{name}: {} differences, first {first}",
                found.len()
            ));
        }
    }
    println!("{checked} captured connections");
    assert!(checked > 100, "{checked} connections");
    assert!(
        broken.is_empty(),
        "{} of {checked}:\n{}",
        broken.len(),
        broken.join("\n")
    );
}

/// Streams of QUIC, a function with the name of a capability, and messages that cannot be read.
#[test]
fn redacted_recordings_decode_to_the_same_messages() {
    let fixture =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/telequick/webtransport.jsonl");
    let streams = std::fs::read(fixture).expect("a fixture");
    let packet = |text: &str| {
        let body = packed(text);
        let len = u32::try_from(body.len()).expect("a short message");
        (ChunkSource::C2s, [&len.to_be_bytes()[..], &body].concat())
    };
    let call = |capability: &str| {
        packet(&format!(
            r#"{{"version":1,"type":"call","id":"4dd08780-4146-1567-2ff4-a479a95fbaff","target":"math.secret","args":[],"capability":"{capability}"}}"#
        ))
    };
    let calls = vec![call("math.secret"), call("Zx81aQ9b7Kd0Lm3")];
    let cut = br#"{"jsonrpc":"2.0","id":1,"method":"workspace/symbol","params":{"query":"a""#;
    let head = format!("Content-Length: {}\r\n\r\n", cut.len());
    let cut = vec![(ChunkSource::C2s, [head.as_bytes(), cut].concat())];
    for recording in [
        streams,
        recording("saikuro", &calls),
        recording("lsp", &cut),
    ] {
        let found = check(&recording);
        assert!(found.is_empty(), "{}", found.join("\n"));
    }
}
