//! The forms in which programs print bytes: `fixtures/inputs/*.txt` show the one frame of `frame.bin`, or are logs.

use crate::common;
use serde_json::json;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use wiretool::capture::{CaptureInput, Form, Item};
use wiretool::protocol::Direction;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The outcome of an input.
#[derive(Default)]
struct Run {
    form: &'static str,
    evidence: String,
    bytes: Vec<u8>,
    missing: u64,
    /// The direction and time of each chunk, and its text.
    chunks: String,
}

fn run(form: Form, text: &[u8], step: usize) -> Run {
    let mut run = Run::default();
    let mut input = CaptureInput::new(form);
    let mut sink = |item: Item<'_>| match item {
        Item::Chunk(chunk) => {
            run.bytes.extend_from_slice(chunk.bytes);
            let direction = chunk.direction.map_or("-", Direction::name);
            let time = chunk
                .time
                // Without a date, only the time of day is known.
                .map(|t| {
                    if t < 0 {
                        t.rem_euclid(86_400_000_000_000)
                    } else {
                        t
                    }
                })
                .map_or("-".into(), |t| (t / 1_000_000).to_string());
            let text = String::from_utf8_lossy(chunk.bytes);
            let _ = write!(run.chunks, "{direction} {time} {text}");
        }
        Item::Gap(gap) => run.missing += gap.to - gap.from,
        Item::Problem(problem) => {
            assert_eq!(problem.to_string(), "the times of the text have no date");
        }
        _ => {}
    };
    for piece in text.chunks(step) {
        input.push(piece, &mut sink);
    }
    input.finish(&mut sink);
    run.form = input.form().name();
    input.evidence().clone_into(&mut run.evidence);
    run
}

fn read(name: &str) -> Vec<u8> {
    fs::read(root().join("fixtures/inputs").join(name)).expect("a fixture")
}

fn is_text(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|end| end == "txt")
}

#[test]
fn every_form_of_a_frame_gives_its_bytes() {
    let frame = read("frame.bin");
    let mut names: Vec<String> = fs::read_dir(root().join("fixtures/inputs"))
        .expect("a folder")
        .map(|file| {
            file.expect("a file")
                .file_name()
                .into_string()
                .expect("UTF-8")
        })
        .filter(|name| is_text(name) && !name.starts_with("log-"))
        .collect();
    names.sort();
    assert!(names.len() > 60, "{} inputs", names.len());
    let mut failures = String::new();
    for name in &names {
        let text = read(name);
        let whole = run(Form::Auto, &text, text.len());
        let split = run(Form::Auto, &text, 7);
        // A text that was cut gives a part, and says how much is missing if it knows.
        let wanted = match name.as_str() {
            "node-buffer-cut.txt" => (50, 19),
            "hex-cut.txt" => (50, 0),
            _ => (frame.len(), 0),
        };
        let same = whole.form == split.form && whole.bytes == split.bytes;
        if (whole.bytes.len(), whole.missing) != wanted || !frame.starts_with(&whole.bytes) || !same
        {
            let _ = writeln!(
                failures,
                "{name}: {} ({}) gives {} bytes, {} missing; in pieces {} bytes",
                whole.form,
                whole.evidence,
                whole.bytes.len(),
                whole.missing,
                split.bytes.len()
            );
        }
    }
    assert!(failures.is_empty(), "{failures}");
}

#[test]
fn forms_can_be_chosen() {
    let frame = read("frame.bin");
    for (name, form) in [
        ("xxd-e.txt", Form::Dump),
        ("od-o2.txt", Form::Dump),
        ("gdb-characters.txt", Form::Dump),
        ("elixir-binary.txt", Form::Literal),
        ("python-bytes.txt", Form::Literal),
        ("base64-sentence.txt", Form::Text),
        ("hex-sentence.txt", Form::Text),
    ] {
        let text = read(name);
        let run = run(form, &text, text.len());
        assert!(run.bytes == frame, "{name} as {}", run.form);
    }
}

#[test]
fn logs_give_messages_with_direction_and_time() {
    let mut shown = String::new();
    for name in [
        "log-arrows.txt",
        "log-cri.txt",
        "log-docker.txt",
        "log-journal.txt",
        "log-kubectl.txt",
        "log-logfmt.txt",
        "log-python-repr.txt",
        "log-sides.txt",
        "log-structured.txt",
        "log-structured-text.txt",
    ] {
        let text = read(name);
        let run = run(Form::Auto, &text, 5);
        assert_eq!(run.form, "log", "{name}: {}", run.evidence);
        let _ = write!(shown, "{name}\n{}", run.chunks);
    }
    let ready = r#"{"jsonrpc":"2.0","id":0,"method":"ready"}"#;
    let call = r#"{"jsonrpc":"2.0","id":0,"method":"invoke","params":{"selector":"pow","calldata":["0x3"]}}"#;
    let spaced = |text: &str| text.replace(':', ": ").replace(",\"", ", \"");
    let late = format!("s2c 1795341601500 {ready}\n");
    let mut wanted = format!("log-arrows.txt\n{late}c2s 1795341601750 {call}\n");
    // The stdout of a container is that of any program.
    for name in ["cri", "docker"] {
        let _ = write!(wanted, "log-{name}.txt\n- 1795341601500 {ready}\n");
    }
    let _ = write!(wanted, "log-journal.txt\n{late}");
    let _ = write!(wanted, "log-kubectl.txt\n- - {ready}\n");
    for name in ["logfmt", "python-repr"] {
        let _ = write!(wanted, "log-{name}.txt\n{late}");
    }
    let _ = write!(
        wanted,
        "log-sides.txt\ns2c 36001000 {ready}\nc2s 36002000 {call}\n"
    );
    let _ = writeln!(
        wanted,
        "log-structured.txt\ns2c 1795341601500 {}",
        spaced(ready)
    );
    let _ = writeln!(wanted, "c2s 1795341601750 {}", spaced(call));
    let _ = write!(wanted, "log-structured-text.txt\n{late}");
    assert_eq!(shown, wanted);
}

/// Clients print messages in their own way; each is written again as its stream had it.
#[test]
fn logs_of_clients_give_messages() {
    let mut shown = String::new();
    for name in [
        "log-helix.txt",
        "log-host.txt",
        "log-neovim.txt",
        "log-trace.txt",
    ] {
        let text = read(name);
        let [whole, split] = [text.len(), 5].map(|size| run(Form::Auto, &text, size));
        assert_eq!(
            (whole.form, &whole.chunks),
            ("log", &split.chunks),
            "{name}: {}",
            whole.evidence
        );
        let _ = write!(shown, "{name}\n{}", split.chunks.replace("\r\n\r\n", " "));
    }
    let close = r#"{"jsonrpc":"2.0","method":"textDocument/didClose","params":{"textDocument":{"uri":"file:///a"}}}"#;
    let hover = r#"{"jsonrpc":"2.0","id":3,"method":"textDocument/hover","params":{"textDocument": {"uri": "file:///a"},"position": {"line": 0,"character": 1}}}"#;
    let initialize = r#"{"id":1,"jsonrpc":"2.0","method":"initialize","params":{"capabilities":{},"processId":null,"rootUri":null,"workspaceFolders":[{"name":"a \"b\"","uri":"file:///a"}]}}"#;
    let wanted = [
        ("log-helix.txt", "", "", ""),
        ("", "c2s", "1795341601500", close),
        (
            "",
            "s2c",
            "1795341601750",
            r#"{"jsonrpc":"2.0","id":0,"result":null}"#,
        ),
        ("log-host.txt", "", "", ""),
        (
            "-",
            "c2s",
            "1795341601500",
            r#"{"method":"tools/list","params":{},"jsonrpc":"2.0","id":1}"#,
        ),
        (
            "-",
            "s2c",
            "1795341601750",
            r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[]}}"#,
        ),
        ("log-neovim.txt", "", "", ""),
        ("", "c2s", "1795341601000", initialize),
        (
            "",
            "s2c",
            "1795341602000",
            r#"{"id":1,"jsonrpc":"2.0","result":{"capabilities":{"hoverProvider":true}}}"#,
        ),
        (
            "",
            "c2s",
            "1795341603000",
            r#"{"id":2,"jsonrpc":"2.0","method":"shutdown"}"#,
        ),
        (
            "",
            "s2c",
            "1795341604000",
            r#"{"id":2,"jsonrpc":"2.0","result":null}"#,
        ),
        ("log-trace.txt", "", "", ""),
        ("", "c2s", "36001000", hover),
        (
            "",
            "s2c",
            "36001000",
            r#"{"jsonrpc":"2.0","id":3,"result":null}"#,
        ),
        (
            "",
            "c2s",
            "36002000",
            &close
                .replace(":{\"uri\":", ": {\"uri\": ")
                .replace(": {\"textDocument", ":{\"textDocument"),
        ),
        (
            "",
            "s2c",
            "36003000",
            r#"{"jsonrpc":"2.0","id":4,"error":{"code":-32803,"message":"it is busy"}}"#,
        ),
    ];
    let mut text = String::new();
    for (name, direction, time, message) in wanted {
        let _ = match name {
            "" => {
                let len = message.len();
                write!(text, "{direction} {time} Content-Length: {len} {message}")
            }
            "-" => writeln!(text, "{direction} {time} {message}"),
            name => writeln!(text, "{name}"),
        };
    }
    assert_eq!(shown, text);
}

/// Text without bytes or messages stays what it is.
#[test]
fn prose_and_source_code_are_raw() {
    let mut files = vec![
        root().join("CHANGELOG.md"),
        root().join("CONTRIBUTING.md"),
        root().join("LICENSE-MIT"),
        root().join("LICENSE-APACHE"),
        root().join("Cargo.toml"),
        root().join("Cargo.lock"),
    ];
    for folder in ["src/cli", "src/capture", "completions", ".ci"] {
        let inside = fs::read_dir(root().join(folder)).expect("a folder");
        files.extend(inside.map(|file| file.expect("a file").path()));
    }
    for path in files.iter().filter(|path| path.is_file()) {
        let text = fs::read(path).expect("a file");
        let run = run(Form::Auto, &text, text.len().max(1));
        assert_eq!(run.form, "raw", "{}: {}", path.display(), run.evidence);
    }
}

/// JSON and recordings have times of RFC 3339 only; screens show a time without a date as it is.
#[test]
fn times_without_a_date_are_on_screens_only() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = "10:00:00.123 --> {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n\
        10:00:00.200 <-- {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n";
    let shown = |arguments: &[&str]| {
        let mut decode = crate::common::wiretool();
        let (code, out, err) = crate::common::run(decode.arg("decode").args(arguments), text);
        assert_eq!(code, 0, "{err}");
        assert!(err.contains("have no date"), "{err}");
        out
    };
    let lines = shown(&["-f", "line"]);
    assert!(
        lines.contains("10:00:00.123") && lines.contains("77 ms"),
        "{lines}"
    );
    let json = shown(&["-f", "json"]);
    assert!(!json.contains("\"time\""), "{json}");
    let path = folder.path().join("a.jsonl").display().to_string();
    shown(&["-w", &path]);
    let recording = fs::read_to_string(&path).expect("a recording");
    let header = recording.lines().next().unwrap_or_default();
    assert!(!header.contains("started"), "{header}");
    assert!(recording.contains("\"t\":77000000"), "{recording}");
}

/// Some servers of JSON-RPC write one text after another, without line ends.
#[test]
fn values_without_line_ends_are_messages_of_a_connection() {
    let folder = tempfile::tempdir().unwrap();
    let call = |id: u32| format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"echo"}}"#);
    let answer = |id: u32| format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#);
    let messages = |one: &dyn Fn(u32) -> String| (1..=4).map(one).collect::<String>();
    let head = json!({"wiretool": 1, "started": "2026-01-01T00:00:00Z", "transport": "tcp"});
    let mut lines = vec![head];
    for (dir, text) in [("c2s", messages(&call)), ("s2c", messages(&answer))] {
        // A read may end inside a value.
        for part in text.as_bytes().chunks(25) {
            let text = std::str::from_utf8(part).unwrap();
            lines.push(json!({"t": 1, "conn": 1, "dir": dir, "text": text}));
        }
    }
    let text = lines.iter().map(|line| format!("{line}\n"));
    let path = common::file(folder.path(), "a.jsonl", text.collect::<String>());
    let (code, out, err) = common::outcome(&["decode", "-f", "json", &path]);
    assert_eq!(code, 0, "{out}{err}");
    assert_eq!(out.matches(r#""framing":"values""#).count(), 8, "{out}");
    let (code, _, err) = common::outcome(&["lint", &path]);
    assert_eq!(
        (code, err.contains("nothing found in 8")),
        (0, true),
        "{err}"
    );
}
