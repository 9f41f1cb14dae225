//! Compares the output of `decode` for every fixture with the expected output.
//!
//! `fixtures/<protocol>/NAME.<ext>` is an input, made by hand from the documents and from traffic of real peers:
//!
//! - `.hex`: bytes with a comment for each field, `>` and `<` before the data for its direction. The first line says
//!   what it shows; if detection is not enough, a line `# wiretool: FLAGS` holds flags.
//! - `.txt`, `.bin`: the bytes. `fixtures/flags.txt` holds their flags: path, then flags, one per line.
//! - `.jsonl`: a recording.
//! - `.tq`: not an input, but a file that flags name.
//! - `.snap`: snapshots of some inputs, checked by `tests/integration/snapshot_fixtures.rs`.
//!
//! For each input, `NAME.json` and `NAME.tree` hold the stdout of `decode -f json` and `-f tree` without colours, and a
//! last line `exit N`. Some inputs also have `NAME.line` and `NAME.hexview`, which are compared if they exist. Two
//! inputs of a folder must have different names.
//!
//! `WIRETOOL_BLESS=1 cargo test --test integration fixtures` rewrites them, and removes those without an input. Read
//! the changes before you commit them.

use crate::common;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

/// The name of the format on the command line, and the extension of its expected output.
const FORMATS: [(&str, &str); 4] = [
    ("json", "json"),
    ("line", "line"),
    ("tree", "tree"),
    ("hex", "hexview"),
];
/// The formats that every input has; the others are compared if their file exists.
const REQUIRED: [&str; 2] = ["json", "tree"];
const INPUTS: [&str; 5] = ["hex", "txt", "bin", "jsonl", "har"];
/// Files that belong to no input.
const NOT_INPUTS: [&str; 2] = ["tq", "snap"];
/// Folders with separate tests.
const SEPARATE: [&str; 3] = ["cli", "inputs", "snapshots"];
/// The number of lines of a difference that are shown.
const MAX_DIFF_LINES: usize = 6;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn extension(path: &Path) -> &str {
    path.extension()
        .and_then(|e| e.to_str())
        .unwrap_or_default()
}

fn shown(path: &Path) -> String {
    path.strip_prefix(root())
        .unwrap_or(path)
        .display()
        .to_string()
}

/// Every file of the folders of all protocols, in order.
fn files() -> Vec<PathBuf> {
    let mut files = Vec::new();
    for folder in fs::read_dir(root().join("fixtures")).expect("fixtures") {
        let folder = folder.expect("a folder").path();
        let name = folder.file_name().and_then(|n| n.to_str());
        if folder.is_dir() && name.is_some_and(|name| !SEPARATE.contains(&name)) {
            let inside = fs::read_dir(folder).expect("a folder");
            // Its subfolders hold examples of rules, which have a separate test.
            let inside = inside.map(|file| file.expect("a file").path());
            files.extend(inside.filter(|path| path.is_file()));
        }
    }
    files.sort();
    files
}

/// The flags of inputs that cannot hold a comment, by path below `fixtures`.
fn expected_file() -> BTreeMap<String, Vec<String>> {
    let text = fs::read_to_string(root().join("fixtures/flags.txt")).expect("fixtures/flags.txt");
    let lines = text
        .lines()
        .filter(|line| !line.starts_with('#') && !line.is_empty());
    lines
        .map(|line| {
            let mut words = line.split_whitespace().map(str::to_owned);
            (words.next().unwrap_or_default(), words.collect())
        })
        .collect()
}

/// The flags in a `.hex` input.
fn flags_in_input(path: &Path) -> Vec<String> {
    let text = fs::read_to_string(path).unwrap_or_default();
    let sent = text
        .lines()
        .find_map(|line| line.strip_prefix("# wiretool:"));
    sent.unwrap_or_default()
        .split_whitespace()
        .map(str::to_owned)
        .collect()
}

fn decode(path: &Path, flags: &[String], format: &str) -> Vec<u8> {
    let output = common::wiretool()
        .current_dir(root())
        .args(["decode", "--color", "never", "--format", format])
        .args(flags)
        .arg(path)
        .stdin(Stdio::null())
        .output()
        .expect("the binary runs");
    let mut stdout = output.stdout;
    let code = output
        .status
        .code()
        .map_or("none".into(), |c| c.to_string());
    stdout.extend_from_slice(format!("exit {code}\n").as_bytes());
    stdout
}

/// The first different lines.
fn difference(want: &[u8], got: &[u8]) -> String {
    let (want, got) = (String::from_utf8_lossy(want), String::from_utf8_lossy(got));
    let (mut wants, mut gots) = (want.lines(), got.lines());
    let (mut text, mut left) = (String::new(), MAX_DIFF_LINES);
    for number in 1.. {
        let (a, b) = (wants.next(), gots.next());
        if a.is_none() && b.is_none() {
            break;
        }
        if a == b {
            continue;
        }
        if left == 0 {
            text.push_str("      ...\n");
            break;
        }
        left -= 1;
        for (mark, line) in [('-', a), ('+', b)] {
            if let Some(line) = line {
                let _ = writeln!(text, "    {mark} {number:3}  {line}");
            }
        }
    }
    text
}

#[test]
fn every_fixture_gives_expected_output() {
    let bless = common::bless();
    let files = files();
    let mut flags = expected_file();
    let mut expected = BTreeSet::new();
    let mut names = BTreeSet::new();
    let mut failures = String::new();
    let mut count = 0;
    for path in files
        .iter()
        .filter(|path| INPUTS.contains(&extension(path)))
    {
        count += 1;
        if !names.insert(path.with_extension("")) {
            let _ = writeln!(failures, "{}: another input has this name", shown(path));
        }
        let below = shown(path).replace('\\', "/");
        let below = below.strip_prefix("fixtures/").unwrap_or(&below);
        let flags = match flags.remove(below) {
            Some(flags) => flags,
            None if extension(path) == "hex" => flags_in_input(path),
            None => Vec::new(),
        };
        for (format, extension) in FORMATS {
            let beside = path.with_extension(extension);
            if !REQUIRED.contains(&format) && !beside.exists() {
                continue;
            }
            let got = decode(Path::new(&shown(path)), &flags, format);
            match fs::read(&beside) {
                Ok(want) if want == got => {}
                _ if bless => fs::write(&beside, &got).expect("an expected file"),
                Ok(want) => {
                    let how = flags.join(" ");
                    let _ = writeln!(failures, "{} ({how})", shown(&beside));
                    failures.push_str(&difference(&want, &got));
                }
                Err(_) => {
                    let _ = writeln!(failures, "{}: is missing", shown(&beside));
                }
            }
            expected.insert(beside);
        }
    }
    for path in &files {
        let known = |list: &[&str]| list.contains(&extension(path));
        if expected.contains(path) || known(&INPUTS) || known(&NOT_INPUTS) {
            continue;
        }
        if bless && known(&FORMATS.map(|(_, extension)| extension)) {
            fs::remove_file(path).expect("a file that is expected of nothing");
        } else {
            let _ = writeln!(failures, "{}: belongs to no input", shown(path));
        }
    }
    for path in flags.keys() {
        let _ = writeln!(failures, "fixtures/flags.txt: there is no {path}");
    }
    assert!(count > 0, "there are no fixtures");
    assert!(
        failures.is_empty(),
        "- is what should be, + is what is; WIRETOOL_BLESS=1 takes it over\n{failures}"
    );
}
