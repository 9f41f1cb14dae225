//! The law of `--exact`: the lines of one direction reproduce its stream, byte for byte.
//!
//! Every fixture is read, whole and in small pieces, and damaged; so is every `.bin` file below
//! `WIRETOOL_CAPTURES`, if that is set. `cargo test --test integration exact -- --nocapture` shows
//! the number of verbatim frames.

use crate::capture::{CaptureInput, Form, Item};
use crate::decoder::{DecodeOptions, Decoded, Decoder, Origin};
use crate::encoding::{Want, json};
use crate::framing::{FrameJoiner, Framing, LengthMode, Limits, Wire};
use crate::protocol::described::embedded;
use crate::protocol::telequick::{Schema, Telequick};
use crate::protocol::{self, Direction, Protocol, registry};
use crate::render::{self, DisplayOptions};
use crate::tape::{Node, Tape};
use crate::verify::{FrameVerdict, Verifier, VerifyCounts};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

type Key = (Option<u32>, Option<Direction>);
type Streams = BTreeMap<Key, Vec<u8>>;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// An input, and its options.
#[derive(Default)]
struct Case {
    name: String,
    chunks: Vec<(Origin, Vec<u8>)>,
    protocol: Option<String>,
    framing: Option<Framing>,
    own: Option<Telequick>,
    limits: Limits,
    no_resync: bool,
}

impl Case {
    fn read(name: &str, bytes: &[u8], flags: &[String]) -> Self {
        let mut case = Self {
            name: name.to_owned(),
            ..Self::default()
        };
        let (mut form, mut dir) = (Form::Auto, None);
        for flag in flags.chunks(2) {
            let value = flag.get(1).expect("a value").as_str();
            match flag[0].as_str() {
                "-p" => case.protocol = Some(value.to_owned()),
                "--dir" => dir = Direction::from_name(value),
                "--framing" => case.framing = Framing::from_name(value),
                "--from" => form = Form::from_name(value).expect("a form"),
                "--max-message" => case.limits.message = value.parse().expect("a number"),
                "--struct" => {
                    let own = case.own.take().unwrap_or_default();
                    case.own = Some(own.with_struct(value).expect("a struct"));
                }
                "--schema" => {
                    let text = fs::read_to_string(root().join(value)).expect("a schema");
                    let schema = Schema::builtin().extend(&text).expect("a schema");
                    case.own = Some(Telequick::new(schema));
                }
                flag => panic!("{name}: {flag} is not known here"),
            }
        }
        if case.own.is_some() {
            case.protocol = Some("telequick".to_owned());
        }
        let mut recording = false;
        let mut sink = |item: Item<'_>| match item {
            Item::Header(header) => {
                recording = true;
                let known = case.protocol.take();
                case.protocol = known.or_else(|| header.protocol.clone());
            }
            Item::Chunk(chunk) => {
                let origin = Origin {
                    conn: recording.then_some(chunk.conn),
                    direction: chunk.direction.or(dir),
                    ..Origin::default()
                };
                case.chunks.push((origin, chunk.bytes.to_vec()));
            }
            _ => {}
        };
        let mut input = CaptureInput::new(form);
        input.push(bytes, &mut sink);
        input.finish(&mut sink);
        case
    }

    fn options(&self) -> DecodeOptions<'_> {
        let own = self.own.as_ref().map(|p| p as &dyn Protocol);
        let named = self.protocol.as_deref();
        let all = registry::all()
            .iter()
            .chain(embedded())
            .copied()
            .map(|p| own.filter(|o| o.name() == p.name()).unwrap_or(p));
        DecodeOptions {
            protocols: all
                .filter(|p| named.is_none_or(|n| n == p.name()))
                .collect(),
            framing: self.framing,
            length_mode: LengthMode::Auto,
            limits: self.limits,
            resync: !self.no_resync,
            want: Want::Exact,
            flags: false,
            lookup: None,
        }
    }

    /// Returns the original streams of those directions that can be read.
    fn streams(&self) -> Streams {
        let mut streams = Streams::new();
        for (origin, bytes) in &self.chunks {
            let key = (origin.conn, origin.direction);
            streams.entry(key).or_default().extend_from_slice(bytes);
        }
        streams
    }

    /// Decodes it in pieces of at most `most` bytes.
    fn decode(&self, most: usize) -> Output {
        let mut output = Output::default();
        let mut decoder = Decoder::new(self.options());
        for (origin, bytes) in &self.chunks {
            for piece in bytes.chunks(most) {
                decoder.push(*origin, piece, &mut |decoded| output.frame(decoded));
            }
        }
        decoder.finish(&mut |decoded| output.frame(decoded));
        for (key, weave) in &mut output.weaves {
            weave.finish(output.streams.entry(*key).or_default());
        }
        output.undetected = decoder.undetected();
        output
    }

    /// Decodes it and checks the law.
    fn check(&self, most: usize) -> Output {
        let output = self.decode(most);
        let name = &self.name;
        assert_eq!(output.counts.different, 0, "{name}: {}", output.differences);
        if output.undetected == 0 {
            for (key, want) in self.streams() {
                let got = output.streams.get(&key).map_or(&[][..], Vec::as_slice);
                let same = want.iter().zip(got).take_while(|(a, b)| a == b).count();
                assert!(
                    want == got,
                    "{name}, pieces of {most}: {key:?} differs at {same}: {} bytes became {}\n{}",
                    want.len(),
                    got.len(),
                    output.lines.join("\n"),
                );
            }
        }
        output
    }
}

#[derive(Default)]
struct Output {
    lines: Vec<String>,
    streams: Streams,
    weaves: BTreeMap<Key, FrameJoiner>,
    verify: Verifier,
    counts: VerifyCounts,
    differences: String,
    undetected: usize,
}

impl Output {
    /// Prints a frame as JSON, and writes it again from that.
    fn frame(&mut self, decoded: &Decoded<'_>) {
        let verdict = self.verify.frame(decoded).expect("its own bytes");
        if let FrameVerdict::Different { .. } = verdict {
            self.differences += &format!("#{} {verdict}\n", decoded.index);
        }
        self.counts.add(&verdict);
        let mut line = Vec::new();
        render::json::write(decoded, None, DisplayOptions::default(), &mut line);
        let mut tape = Tape::new();
        tape.clear(u32::MAX);
        let node = json::root(&line, u32::MAX, &mut tape).expect("an object");
        let mut wire = node
            .get("wire")
            .map_or_else(Wire::default, |wire| Wire::read(wire).expect("wire"));
        let message = node.get("message");
        let id = message.and_then(|m| m.get("method_id"));
        if let Some(id) = id.filter(|_| wire.header.is_empty()) {
            let mode = message.and_then(|m| m.get("length_mode"));
            let mode = mode.and_then(Node::text).unwrap_or_default();
            let id = id.as_i128().and_then(|id| u32::try_from(id).ok());
            let reported = (
                id.expect("a u32"),
                LengthMode::from_name(&mode).unwrap_or_default(),
            );
            wire.method.get_or_insert(reported);
        }
        let form = protocol::MessageForm::of(wire.encoding);
        let encode = |message| render::json::encode_body(decoded, message, form);
        let (header, body) = message.and_then(encode).unwrap_or_default();
        if wire.header.is_empty() && matches!(decoded.frame.framing, Framing::Custom(_)) {
            wire.header = header;
        }
        let body = match node.get("raw") {
            Some(raw) => match raw.get("$bin").and_then(Node::text) {
                Some(digits) => hex::decode(digits.as_bytes()).expect("hex"),
                None => raw.text().expect("text").as_bytes().to_vec(),
            },
            None => body,
        };
        let key = (decoded.origin.conn, decoded.origin.direction);
        let stream = self.streams.entry(key).or_default();
        self.weaves.entry(key).or_default().push(
            decoded.protocol.frame_writer(decoded.frame.framing),
            &body,
            &wire,
            stream,
        );
        self.lines.push(
            String::from_utf8(line)
                .expect("UTF-8")
                .trim_end()
                .to_owned(),
        );
    }
}

/// Returns the fixtures with their flags, as `tests/integration/fixtures.rs` describes.
fn fixtures() -> Vec<Case> {
    let folder = root().join("fixtures");
    let sidecar = fs::read_to_string(folder.join("flags.txt")).expect("fixtures/flags.txt");
    let mut cases = Vec::new();
    let mut files = Vec::new();
    below(&folder, &mut files);
    for path in files {
        let name = path.strip_prefix(&folder).expect("below fixtures");
        let name = name.to_str().expect("a name").replace('\\', "/");
        let extension = path.extension().and_then(|e| e.to_str());
        if name.starts_with("cli/") || !name.contains('/') {
            continue;
        }
        let bytes = fs::read(&path).expect("a fixture");
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect();
        let flags: Vec<String> = match extension {
            Some("hex") => String::from_utf8_lossy(&bytes)
                .lines()
                .find_map(|line| line.strip_prefix("# wiretool:").map(words))
                .unwrap_or_default(),
            Some("txt" | "bin" | "jsonl") => sidecar
                .lines()
                .find_map(|line| line.strip_prefix(&format!("{name} ")).map(words))
                .unwrap_or_default(),
            _ => continue,
        };
        cases.push(Case::read(&name, &bytes, &flags));
    }
    assert!(cases.len() > 100, "{} fixtures", cases.len());
    cases
}

fn below(folder: &Path, files: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> = fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            below(&path, files);
        } else {
            files.push(path);
        }
    }
}

fn sum(total: &mut VerifyCounts, counts: &VerifyCounts) {
    total.identical += counts.identical;
    for (name, n) in &counts.choices {
        *total.choices.entry(name).or_default() += n;
    }
    for (why, n) in &counts.verbatim {
        *total.verbatim.entry(why).or_default() += n;
    }
}

/// Returns the number of frames without fault that only their bytes reproduce.
fn unstructured(counts: &VerifyCounts) -> u64 {
    let known = ["between frames", "compressed", "fault"];
    let sound = counts
        .verbatim
        .iter()
        .filter(|(why, _)| !known.contains(why));
    sound.map(|(_, n)| n).sum()
}

#[test]
fn every_fixture_is_reproduced() {
    let mut total = VerifyCounts::default();
    for case in fixtures() {
        let whole = case.check(usize::MAX);
        assert_eq!(whole.undetected, 0, "{}", case.name);
        sum(&mut total, &whole.counts);
        for most in [1, 7] {
            let pieces = case.check(most);
            assert_eq!(whole.lines, pieces.lines, "{} by {most}", case.name);
        }
    }
    println!("fixtures: {total}");
    // An event that chunks split, and other frames without simple form: few, so that the law is
    // significant.
    assert!(unstructured(&total) <= 3, "{total}");
    assert!(total.verbatims() * 8 < total.identical, "{total}");
}

#[test]
fn every_capture_is_reproduced() {
    let Some(folder) = std::env::var_os("WIRETOOL_CAPTURES") else {
        return;
    };
    let mut files = Vec::new();
    below(Path::new(&folder), &mut files);
    files.retain(|path| path.extension().is_some_and(|e| e == "bin"));
    let mut total = VerifyCounts::default();
    let (mut count, mut unread) = (0, 0);
    for path in files {
        let below = path.strip_prefix(&folder).expect("below it");
        let protocol = below.iter().next().and_then(|p| p.to_str()).unwrap_or("");
        if !registry::all().iter().any(|p| p.name() == protocol) {
            continue;
        }
        let bytes = fs::read(&path).expect("a capture");
        let flags = ["-p", protocol, "--from", "raw"].map(str::to_owned);
        let mut case = Case::read(&below.display().to_string(), &bytes, &flags);
        if below.iter().any(|part| part == "bare_response") {
            case.framing = Some(Framing::Bare);
        }
        let whole = case.check(usize::MAX);
        let pieces = case.check(61);
        assert_eq!(whole.lines, pieces.lines, "{}", case.name);
        sum(&mut total, &whole.counts);
        count += 1;
        unread += usize::from(whole.undetected > 0);
    }
    println!("{count} captures, {unread} not read: {total}");
    assert!(
        count == 0 || total.identical > 50 * total.verbatims(),
        "{total}"
    );
    assert_eq!(unstructured(&total), 0, "{total}");
}

#[test]
fn damaged_streams_are_reproduced() {
    let mut frames = 0;
    for case in fixtures() {
        let clean = case.decode(usize::MAX);
        let Some(protocol) = clean.lines.first().and_then(|line| {
            let name = line.split("\"protocol\":\"").nth(1)?;
            Some(name.split('"').next()?.to_owned())
        }) else {
            continue;
        };
        let total: usize = case.chunks.iter().map(|(_, bytes)| bytes.len()).sum();
        let step = (total / 24).max(1);
        for at in (0..total).step_by(step) {
            for how in 0..4 {
                let mut damaged = Case {
                    name: format!("{} damaged at {at} ({how})", case.name),
                    chunks: case.chunks.clone(),
                    protocol: Some(protocol.clone()),
                    framing: case.framing,
                    own: case.own.clone(),
                    limits: Limits {
                        message: if how == 3 { 64 } else { case.limits.message },
                        ..case.limits
                    },
                    no_resync: how == 2,
                };
                let mut left = at;
                for (_, bytes) in &mut damaged.chunks {
                    if left >= bytes.len() {
                        left -= bytes.len();
                        continue;
                    }
                    match how {
                        0 => bytes[left] ^= 0x80,
                        1 => bytes.truncate(left),
                        _ => bytes[left] = 0xff,
                    }
                    break;
                }
                frames += damaged.check(usize::MAX).lines.len();
            }
        }
    }
    assert!(frames > 1000, "{frames}");
}

/// A stream of WebSocket frames with JSON.
fn websocket(bytes: &[u8], message: u32) -> Case {
    let origin = Origin {
        direction: Some(Direction::ToServer),
        ..Origin::default()
    };
    Case {
        name: "websocket".to_owned(),
        chunks: vec![(origin, bytes.to_vec())],
        protocol: Some("sael".to_owned()),
        framing: Some(Framing::WebSocket),
        limits: Limits {
            message,
            ..Limits::default()
        },
        ..Case::default()
    }
}

#[test]
fn inner_frames_are_reported_once() {
    // {"kind": in one frame, two pings, "BYE"} in the next; then one whole.
    let mut bytes = b"\x01\x08{\"kind\":\x89\x00\x89\x01a\x80\x06\"BYE\"}".to_vec();
    bytes.extend_from_slice(b"\x81\x0e{\"kind\":\"BYE\"}");
    let case = websocket(&bytes, 1000);
    let output = case.check(usize::MAX);
    let wire = |n: usize| {
        let line: &str = &output.lines[n];
        line.split_once("\"wire\":").map_or("", |(_, wire)| wire)
    };
    assert_eq!(wire(0), r#"{"inside":true,"opcode":9,"mask":null}}"#);
    assert_eq!(wire(1), r#"{"inside":true,"opcode":9,"mask":null}}"#);
    let message = r#"{"opcode":1,"mask":null,"fragments":[8,6],"between":[1,1]}}"#;
    assert_eq!(wire(2), message);
    assert_eq!(wire(3), r#"{"opcode":1,"mask":null}}"#);
    for most in 1..bytes.len() {
        assert_eq!(case.check(most).lines, output.lines, "{most}");
    }
}

#[test]
fn skipped_bytes_are_reported_in_runs() {
    // A payload over the limit, of 200000 bytes, then a message.
    let mut bytes = b"\x81\x7f\0\0\0\0\0\x03\x0d\x40".to_vec();
    bytes.resize(bytes.len() + 200_000, b'x');
    bytes.extend_from_slice(b"\x81\x0e{\"kind\":\"BYE\"}");
    // And a message that never ends, with a ping over the limit.
    bytes.extend_from_slice(b"\x01\x08{\"kind\":\x89\x7e\x08\x00");
    bytes.resize(bytes.len() + 2048, b'y');
    bytes.extend_from_slice(b"\x00\x01\"");
    let case = websocket(&bytes, 1000);
    let output = case.check(usize::MAX);
    let skipped = output.lines.iter().filter(|l| l.contains("\"skipped\""));
    let positions: Vec<&str> = skipped
        .filter_map(|l| Some(&l[..l.find(",\"framing")?]))
        .collect();
    // The header of the skipped payload, and all except the last run of that.
    assert_eq!(positions.len(), 4, "{positions:#?}");
    assert!(positions[1].ends_with("\"offset\":10,\"len\":65536"));
    assert!(output.lines.iter().all(|line| line.len() < 400_000));
    for most in [1000, 4096, 65536] {
        assert_eq!(case.check(most).lines, output.lines, "{most}");
    }
}

#[test]
fn flood_of_inner_pings_is_bounded() {
    let mut bytes = b"\x01\x01{".to_vec();
    for _ in 0..70_000 {
        bytes.extend_from_slice(b"\x89\x00");
    }
    bytes.extend_from_slice(b"\x80\x0d\"kind\":\"BYE\"}");
    let case = websocket(&bytes, 1000);
    let output = case.check(usize::MAX);
    assert!(output.lines.iter().any(|l| l.contains("\"skipped\"")));
}
