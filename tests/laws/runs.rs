//! A capture of any form gives the same messages through [`Run`] as by `wiretool decode`, also with a break after each
//! output.

use crate::common::assert_same;
use std::io::Write as _;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use wiretool::capture::{CaptureInput, Form, Item};
use wiretool::conversation::{Output, RuleSettings, Run};
use wiretool::decoder::DecodeOptions;
use wiretool::encoding::Want;
use wiretool::protocol::described::embedded;
use wiretool::protocol::{Protocol, registry};
use wiretool::render::{DisplayOptions, json};

/// Adds the captures of a folder and its subfolders.
fn add_captures(folder: &Path, found: &mut Vec<PathBuf>) {
    /// Files with other content, such as expected output.
    const OTHERS: [&str; 8] = ["tree", "line", "hexview", "snap", "svg", "toml", "sh", "md"];
    let entries = std::fs::read_dir(folder).expect("a folder");
    for path in entries.map(|entry| entry.expect("an entry").path()) {
        let end = path.extension().and_then(|end| end.to_str());
        if path.is_dir() {
            add_captures(&path, found);
        } else if !end.is_some_and(|end| OTHERS.contains(&end)) {
            found.push(path);
        }
    }
}

fn new_run() -> Run<'static> {
    let mut options = DecodeOptions::new(protocols());
    options.flags = true;
    options.want = Want::Text;
    Run::new(CaptureInput::new(Form::Auto), options, None)
}

fn write(output: &Output<'_>, lines: &mut Vec<u8>) {
    if let Output::Message(decoded, _) = output {
        json::write(decoded, None, DisplayOptions::default(), lines);
    }
}

/// The JSON lines of a capture, read in one go.
fn read_at_once(bytes: &[u8]) -> String {
    let mut lines = Vec::new();
    let mut run = new_run();
    let mut sink = |output: Output<'_>| -> ControlFlow<()> {
        write(&output, &mut lines);
        ControlFlow::Continue(())
    };
    assert!(run.read_all(bytes, &mut sink).is_continue());
    String::from_utf8(lines).expect("JSON output is UTF-8")
}

/// The JSON lines of a capture in pieces, with a break after each output.
fn read_with_breaks(bytes: &[u8], size: usize) -> String {
    let mut lines = Vec::new();
    let mut run = new_run();
    let mut sink = |output: Output<'_>| -> ControlFlow<()> {
        write(&output, &mut lines);
        ControlFlow::Break(())
    };
    for mut piece in bytes.chunks(size) {
        while run.read(&mut piece, &mut sink).is_break() {}
    }
    while run.finish(&mut sink).is_break() {}
    String::from_utf8(lines).expect("JSON output is UTF-8")
}

fn decode(path: &Path) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_wiretool"));
    command.args(["decode", "-q", "-f", "json"]);
    // The beginning of a packet capture in a file is read twice, and one in a pipe once, as here.
    let is_packets = path
        .extension()
        .is_some_and(|end| end == "pcap" || end == "pcapng");
    let output = if is_packets {
        let bytes = std::fs::read(path).expect("a capture");
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("wiretool runs");
        let mut stdin = child.stdin.take().expect("a pipe");
        let writer = std::thread::spawn(move || stdin.write_all(&bytes));
        let output = child.wait_with_output();
        let _ = writer.join();
        output
    } else {
        command.arg(path).output()
    };
    let output = output.expect("wiretool runs");
    String::from_utf8(output.stdout).expect("JSON output is UTF-8")
}

/// The protocols of the command line.
fn protocols() -> Vec<&'static dyn Protocol> {
    let all = registry::all().iter().chain(embedded());
    all.copied().collect()
}

#[test]
fn runs_give_the_messages_of_decode() {
    let mut paths = Vec::new();
    add_captures(
        &Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures"),
        &mut paths,
    );
    assert!(paths.len() > 1000, "{} fixtures", paths.len());
    if let Some(folder) = std::env::var_os("WIRETOOL_CAPTURES") {
        add_captures(Path::new(&folder), &mut paths);
    }
    let paths = Mutex::new(paths);
    let messages = Mutex::new(0);
    let read_all = || {
        loop {
            let Some(path) = paths.lock().expect("no panic").pop() else {
                return;
            };
            let want = decode(&path);
            let bytes = std::fs::read(&path).expect("a file");
            let name = || path.display().to_string();
            assert_same(&want, &read_at_once(&bytes), name);
            assert_same(&want, &read_with_breaks(&bytes, 1000), name);
            *messages.lock().expect("no panic") += want.lines().count();
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(read_all);
        }
    });
    let messages = *messages.lock().expect("no panic");
    assert!(messages > 3000, "{messages} messages");
}

/// Findings, events and notes are the same, too.
#[test]
fn breaks_change_no_output() {
    let mut paths = Vec::new();
    for folder in ["captures", "telequick/rules", "sael/rules", "inputs"] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("fixtures")
            .join(folder);
        add_captures(&folder, &mut paths);
    }
    let mut findings = 0;
    for path in paths {
        let bytes = std::fs::read(&path).expect("a file");
        let read = |breaks: bool, size: usize| {
            let mut options = DecodeOptions::new(protocols());
            options.flags = true;
            let rules = Some(RuleSettings::default());
            let mut run = Run::new(CaptureInput::new(Form::Auto), options, rules);
            let mut shown = String::new();
            let mut sink = |output: Output<'_>| {
                // The pieces of the input may be those of the test.
                if !matches!(output, Output::Item(Item::Chunk(_), _)) {
                    shown += &format!("{output:?}\n");
                }
                if breaks {
                    ControlFlow::Break(())
                } else {
                    ControlFlow::Continue(())
                }
            };
            for mut piece in bytes.chunks(size) {
                while run.read(&mut piece, &mut sink).is_break() {}
            }
            while run.finish(&mut sink).is_break() {}
            shown
        };
        let whole = read(false, bytes.len().max(1));
        findings += whole.matches("Finding {").count();
        for size in [bytes.len().max(1), 50] {
            assert_same(&whole, &read(true, size), || {
                format!("{} in pieces of {size}", path.display())
            });
        }
    }
    assert!(findings > 50, "{findings} findings");
}
