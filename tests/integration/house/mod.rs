//! The rules of the house that a reader would otherwise have to check: who may use whom, who may touch what, that every
//! kind of message and every fault has a fixture, and that a protocol is a folder and a line.
//!
//! ```text
//!   escape, span, words <- error <- tape <- path <- encoding <- framing <- protocol/mod <- protocol/* <- registry
//!        <- decoder <- capture, conversation, render, select, ...  <- transport <- cli
//! ```
//!
//! Comments and tests are free. A file of more than 450 lines says why in a comment `// Long: ...` among its first 15
//! lines.

mod cycles;

use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use wiretool::encoding;
use wiretool::framing::{self, Framing};
use wiretool::protocol::{Protocol, registry};

/// Layers, the lowest first. Those in one row may use each other, but no two of them mutually.
const LAYERS: &[&[&str]] = &[
    &["escape", "span", "words"],
    &["error"],
    &["tape"],
    &["path"],
    &["encoding"],
    &["framing"],
    &["protocol"],
    &["protocol/*"],
    &["registry"],
    &["decoder"],
    &[
        "capture",
        "conversation",
        "diff",
        "encode",
        "inject",
        "live",
        "redact",
        "render",
        "select",
        "snapshot",
        "stat",
        "verify",
    ],
    &["transport"],
    &["cli"],
];

/// What only some may touch: the words, and the files or folders that may, below `src`.
const ONLY: &[(&[&str], &[&str])] = &[
    (&["colored"], &["render/style.rs"]),
    (&["crossterm", "ratatui"], &["cli/watch", "cli/review"]),
    (
        &[
            "clap",
            "std::env",
            "env::args",
            "env::var",
            "ExitCode",
            "process::exit",
            "println!",
            "eprintln!",
            "print!",
            "eprint!",
            "stdout()",
            "stderr()",
            "IsTerminal",
            "anyhow",
        ],
        &["cli", "main.rs"],
    ),
    (
        &[
            "tokio",
            "std::net",
            "TcpStream",
            "TcpListener",
            "UdpSocket",
            "UnixStream",
            "UnixListener",
            "SystemTime",
            "Instant",
        ],
        &["transport"],
    ),
];

/// Where no protocol may be named.
const NAMELESS: &[&str] = &[
    "conversation",
    "decoder",
    "diff",
    "encoding",
    "error.rs",
    "framing",
    "inject",
    "live",
    "render",
    "select",
    "snapshot",
    "span.rs",
    "tape.rs",
    "transport",
];

/// Lines of a file that needs no excuse.
const LONG: usize = 450;

/// What each protocol's messages are written in. A new protocol gets a line here.
const ENCODINGS: &[(&str, &[&str])] = &[
    ("saikuro", &["msgpack"]),
    ("oracle", &["json"]),
    ("sael", &["json", "msgpack"]),
    ("stepflow", &["json"]),
    ("telequick", &["serde"]),
];

/// What every protocol's folder has, beside what only it has.
const SIBLINGS: &[&str] = &[
    "behavior.rs",
    "message.rs",
    "mod.rs",
    "peer.rs",
    "rules.md",
    "schema.rs",
    "session.rs",
];

/// What adding a protocol touches; CONTRIBUTING.md lists the same.
const TOUCHED: &[&str] = &[
    "src/protocol/NAME/",
    "src/protocol/mod.rs",
    "src/protocol/registry.rs",
    "fixtures/NAME/",
    "tests/integration/house/mod.rs",
    "tests/laws/seeds.rs",
    "tests/fuzz/targets/NAME.rs",
    "tests/fuzz/Cargo.toml",
    "completions/",
    "README.md",
];

/// Lines about the transport, which every protocol may have.
const CONTROLS: &[&str] = &[
    "close",
    "gap",
    "http-request",
    "http-response",
    "ping",
    "pong",
    "skipped",
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// One source file, read for its code alone.
struct Source {
    /// Below `src`, with `/`.
    path: String,
    /// As it is.
    text: String,
    /// Without comments and tests; every line where it was.
    code: String,
    /// Without what stands in quotes, too.
    bare: String,
}

fn rust_files(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder of sources") {
        let path = entry.expect("a file").path();
        if path.is_dir() {
            rust_files(&path, files);
        } else if path.extension().is_some_and(|e| e == "rs") {
            files.push(path);
        }
    }
}

fn sources() -> Vec<Source> {
    let src = root().join("src");
    let mut files = Vec::new();
    rust_files(&src, &mut files);
    files.sort();
    files
        .into_iter()
        .map(|file| {
            let text = fs::read_to_string(&file).expect("a source");
            let path = file.strip_prefix(&src).expect("below src");
            let path = path.to_string_lossy().replace('\\', "/");
            let is_test = path.ends_with("tests.rs") || path.contains("tests/");
            let (code, bare) = if is_test {
                (String::new(), String::new())
            } else {
                let (code, bare) = strip(&text);
                let tests = test_lines(&bare);
                (without(&code, &tests), without(&bare, &tests))
            };
            Source {
                path,
                text,
                code,
                bare,
            }
        })
        .collect()
}

/// The text without comments, and without comments and quoted text, lines kept.
fn strip(text: &str) -> (String, String) {
    let (mut code, mut bare) = (String::new(), String::new());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let (taken, quoted) = if rest.starts_with("//") {
            let end = rest.find('\n').unwrap_or(rest.len());
            rest = &rest[end..];
            continue;
        } else if rest.starts_with("/*") {
            let end = rest.find("*/").map_or(rest.len(), |at| at + 2);
            newlines(&rest[..end], &mut [&mut code, &mut bare]);
            rest = &rest[end..];
            continue;
        } else if first == '"' {
            (string(rest), true)
        } else if let Some(len) = raw_string(rest).filter(|_| !ends_in_word(&bare)) {
            (len, true)
        } else if let Some(len) = character(rest) {
            (len, true)
        } else {
            (first.len_utf8(), false)
        };
        code.push_str(&rest[..taken]);
        if quoted {
            bare.push_str("\"\"");
            newlines(&rest[..taken], &mut [&mut bare]);
        } else {
            bare.push_str(&rest[..taken]);
        }
        rest = &rest[taken..];
    }
    (code, bare)
}

fn newlines(text: &str, outs: &mut [&mut String]) {
    for out in outs {
        out.extend(text.chars().filter(|c| *c == '\n'));
    }
}

fn ends_in_word(text: &str) -> bool {
    text.ends_with(|c: char| c.is_alphanumeric() || c == '_')
}

/// Bytes of the string that begins here.
fn string(text: &str) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// Bytes of the raw or byte string that begins here.
fn raw_string(text: &str) -> Option<usize> {
    let prefix = text.find(|c| c != 'b' && c != 'r')?;
    let hashes = text[prefix..].find(|c| c != '#')?;
    let start = prefix + hashes;
    if prefix == 0 || prefix > 2 || !text[start..].starts_with('"') {
        return None;
    }
    if !text[..prefix].contains('r') {
        return Some(start + string(&text[start..]));
    }
    let end = format!("\"{}", "#".repeat(hashes));
    let len = text[start + 1..].find(&end)?;
    Some(start + 1 + len + end.len())
}

/// Bytes of the character that begins here; lifetimes are none.
fn character(text: &str) -> Option<usize> {
    let inside = text.strip_prefix('\'')?;
    let len = match inside.strip_prefix('\\') {
        Some(escape) => 1 + escape.chars().next()?.len_utf8() + escape.get(1..)?.find('\'')?,
        None => inside.chars().next()?.len_utf8(),
    };
    inside.get(len..)?.starts_with('\'').then_some(len + 2)
}

/// The lines, from 0, of modules that only tests have.
fn test_lines(bare: &str) -> BTreeSet<usize> {
    let lines: Vec<&str> = bare.lines().collect();
    let mut found = BTreeSet::new();
    for (at, line) in lines.iter().enumerate() {
        if line.trim() != "#[cfg(test)]" {
            continue;
        }
        let indent = line.len() - line.trim_start().len();
        let closing = format!("{}}}", " ".repeat(indent));
        let opens = lines.get(at + 1).is_some_and(|next| next.ends_with('{'));
        let after = lines.iter().skip(at + 1);
        let len = if opens {
            after.take_while(|line| **line != closing).count() + 1
        } else {
            1
        };
        found.extend(at..=at + len);
    }
    found
}

fn without(text: &str, lines: &BTreeSet<usize>) -> String {
    let kept = text
        .lines()
        .enumerate()
        .map(|(at, line)| if lines.contains(&at) { "" } else { line });
    kept.collect::<Vec<_>>().join("\n")
}

/// Whether a word stands somewhere by itself; words that end in a sign may go on after it.
fn names(line: &str, word: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(word).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + word.len()..].chars().next();
        !(before.is_some_and(is_word) || (word.ends_with(is_word) && after.is_some_and(is_word)))
    })
}

fn below(path: &str, folder: &str) -> bool {
    path == folder || path.starts_with(&format!("{folder}/")) || path == format!("{folder}.rs")
}

/// The module that a file is.
fn module(path: &str) -> Vec<String> {
    let mut names: Vec<String> = path.split('/').map(str::to_owned).collect();
    let last = names.pop().unwrap_or_default();
    let last = last.trim_end_matches(".rs");
    if !matches!(last, "mod" | "lib" | "main") {
        names.push(last.to_owned());
    }
    names
}

/// Every module path that a file's code names from its root, with its line.
fn uses(source: &Source) -> Vec<(usize, Vec<String>)> {
    let here = module(&source.path);
    let mut found = Vec::new();
    for word in ["crate::", "super::", "wiretool::"] {
        for (at, _) in source.bare.match_indices(word) {
            let before = &source.bare[..at];
            if ends_in_word(before) || before.ends_with("::") {
                continue;
            }
            let line = before.matches('\n').count() + 1;
            let mut rest = &source.bare[at..];
            let mut base = here.clone();
            if word != "super::" {
                base.clear();
                rest = &rest[word.len()..];
            }
            while let Some(up) = rest.strip_prefix("super::") {
                base.pop();
                rest = up;
            }
            let mut paths = Vec::new();
            tree(&mut rest, &base, &mut paths);
            found.extend(paths.into_iter().map(|path| (line, path)));
        }
    }
    found
}

/// Reads `a::b`, `a::{b, c::d}` or `a::*` and what they stand for.
fn tree(rest: &mut &str, base: &[String], paths: &mut Vec<Vec<String>>) {
    let mut path = base.to_vec();
    loop {
        *rest = rest.trim_start();
        if let Some(mut group) = rest.strip_prefix('{') {
            loop {
                group = group.trim_start_matches(|c: char| c.is_whitespace() || c == ',');
                if let Some(after) = group.strip_prefix('}') {
                    *rest = after;
                    return;
                }
                let before = group.len();
                tree(&mut group, &path, paths);
                // `as name`, or anything else that is no path.
                let skip = group.find([',', '}']).unwrap_or(group.len());
                group = &group[skip..];
                if group.len() == before || group.is_empty() {
                    return;
                }
            }
        }
        let end = rest
            .find(|c: char| !c.is_alphanumeric() && c != '_')
            .unwrap_or(rest.len());
        let (name, after) = rest.split_at(end);
        if !name.is_empty() && name != "self" {
            path.push(name.to_owned());
        }
        *rest = after;
        match rest.strip_prefix("::") {
            Some(after) if !name.is_empty() => *rest = after,
            _ => break,
        }
    }
    paths.push(path);
}

/// The layer of a module path, and the name by which it stands there.
fn layer(path: &[String], protocols: &[&str]) -> Option<(usize, String)> {
    let first = path.first()?.as_str();
    let (row, name) = match (first, path.get(1).map(String::as_str)) {
        ("protocol", Some("registry")) => ("registry", "registry".to_owned()),
        ("protocol", Some(name)) if protocols.contains(&name) => {
            ("protocol/*", format!("protocol/{name}"))
        }
        _ => (first, first.to_owned()),
    };
    let at = LAYERS.iter().position(|names| names.contains(&row))?;
    Some((at, name))
}

fn protocols() -> Vec<&'static str> {
    registry::names().collect()
}

/// All breaches at once, each with its file, its line, and the rule.
fn report(breaches: &str) {
    assert!(breaches.is_empty(), "\n{breaches}");
}

#[test]
fn modules_use_only_what_is_below_them() {
    let protocols = protocols();
    let mut breaches = String::new();
    let mut peers: BTreeMap<(String, String), String> = BTreeMap::new();
    for source in sources() {
        let here = module(&source.path);
        // The roots name everything; that is what they are for.
        if here.is_empty() {
            continue;
        }
        let place = |line| format!("src/{}:{line}", source.path);
        let Some((mine, my_name)) = layer(&here, &protocols) else {
            let _ = writeln!(
                breaches,
                "{}: the import law does not know {}: give it a layer in tests/integration/house/mod.rs",
                place(1),
                here.join("::")
            );
            continue;
        };
        for (line, path) in uses(&source) {
            let Some((theirs, name)) = layer(&path, &protocols) else {
                continue;
            };
            if name == my_name || theirs < mine {
                continue;
            }
            // The parts of `protocol` hold the folders' names and hand them out.
            let path = path.join("::");
            if theirs > mine || name.starts_with("protocol/") {
                let _ = writeln!(
                    breaches,
                    "{}: {my_name} uses {path}, which is not below it (import law)",
                    place(line)
                );
                continue;
            }
            if let Some(other) = peers.get(&(name.clone(), my_name.clone())) {
                let _ = writeln!(
                    breaches,
                    "{}: {my_name} uses {path}, and {name} uses {my_name} ({other}): one of them (import law)",
                    place(line)
                );
            }
            peers
                .entry((my_name.clone(), name))
                .or_insert_with(|| place(line));
        }
    }
    report(&breaches);
}

#[test]
fn only_some_touch_the_world() {
    let mut breaches = String::new();
    for source in sources() {
        for (number, line) in source.bare.lines().enumerate() {
            for (words, places) in ONLY {
                if places.iter().any(|place| below(&source.path, place)) {
                    continue;
                }
                for word in words.iter().filter(|word| names(line, word)) {
                    let _ = writeln!(
                        breaches,
                        "src/{}:{}: only {} may touch {word}",
                        source.path,
                        number + 1,
                        places.join(", ")
                    );
                }
            }
            if names(line, "unsafe") {
                let _ = writeln!(
                    breaches,
                    "src/{}:{}: no unsafe code",
                    source.path,
                    number + 1
                );
            }
        }
    }
    let manifest = fs::read_to_string(root().join("Cargo.toml")).expect("Cargo.toml");
    let library = fs::read_to_string(root().join("src/lib.rs")).expect("src/lib.rs");
    if !manifest.contains("unsafe_code = \"forbid\"")
        && !library.contains("#![forbid(unsafe_code)]")
    {
        breaches.push_str("Cargo.toml, src/lib.rs:1: one of them forbids unsafe code\n");
    }
    report(&breaches);
}

#[test]
fn protocols_are_named_only_by_themselves() {
    let protocols = protocols();
    let mut breaches = String::new();
    for source in sources() {
        let own = protocols
            .iter()
            .find(|name| below(&source.path, &format!("protocol/{name}")));
        let nameless = NAMELESS.iter().any(|place| below(&source.path, place));
        if own.is_none() && !nameless {
            continue;
        }
        for (number, line) in source.code.lines().enumerate() {
            let lower = line.to_lowercase();
            for name in protocols.iter().filter(|name| own != Some(*name)) {
                if lower.contains(name) {
                    let _ = writeln!(
                        breaches,
                        "src/{}:{}: {name} is named: {}",
                        source.path,
                        number + 1,
                        match own {
                            Some(_) => "a protocol names no other",
                            None => "this layer names no protocol",
                        }
                    );
                }
            }
        }
    }
    report(&breaches);
}

#[test]
fn long_files_say_why() {
    let mut breaches = String::new();
    for source in sources() {
        let lines = source.text.lines().count();
        let excused = source
            .text
            .lines()
            .take(15)
            .any(|line| line.starts_with("// Long: "));
        if lines > LONG && !excused {
            let _ = writeln!(
                breaches,
                "src/{}:1: {lines} lines, more than {LONG}: split it, or say why in `// Long: ...` among the first 15",
                source.path
            );
        }
        if excused && lines <= LONG {
            let _ = writeln!(
                breaches,
                "src/{}:1: {lines} lines need no `// Long: ...`",
                source.path
            );
        }
    }
    report(&breaches);
}

/// A line of what `decode -f json` says of a fixture.
#[derive(Deserialize)]
struct Told {
    #[serde(skip)]
    place: String,
    protocol: String,
    kind: Option<String>,
    role: Option<String>,
    fault: Option<Fault>,
    #[serde(default)]
    faults: Vec<Fault>,
}

#[derive(Deserialize)]
struct Fault {
    code: String,
}

impl Told {
    fn codes(&self) -> impl Iterator<Item = &str> {
        let all = self.faults.iter().chain(&self.fault);
        all.map(|fault| fault.code.as_str())
    }
}

/// All that is expected of fixtures, as `tests/integration/fixtures.rs` keeps it.
fn told() -> Vec<Told> {
    let mut told = Vec::new();
    for protocol in protocols() {
        let folder = root().join("fixtures").join(protocol);
        let mut files: Vec<PathBuf> = fs::read_dir(&folder)
            .expect("a folder of fixtures")
            .map(|entry| entry.expect("a file").path())
            .filter(|path| path.extension().is_some_and(|e| e == "json"))
            .collect();
        files.sort();
        for file in files {
            let text = fs::read_to_string(&file).expect("an expected file");
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            for (at, line) in text.lines().enumerate() {
                if line.starts_with("exit ") {
                    continue;
                }
                let place = format!("fixtures/{protocol}/{name}:{}", at + 1);
                let mut line: Told =
                    serde_json::from_str(line).unwrap_or_else(|e| panic!("{place}: {e}"));
                line.place = place;
                told.push(line);
            }
        }
    }
    told
}

/// The fault codes of framings and encodings that a protocol's messages can have.
fn possible(protocol: &dyn Protocol) -> BTreeSet<&'static str> {
    let name = protocol.name();
    let mut codes = BTreeSet::new();
    let mut bodies = false;
    for framing in protocol.descriptor().framings {
        let more: &[&str] = match framing {
            Framing::Custom(_) => &[],
            Framing::Lines => &["over-limit", "gap"],
            Framing::Prefix | Framing::Header | Framing::Values | Framing::Message => {
                &["truncated", "over-limit"]
            }
            Framing::Method | Framing::Bare => &["truncated", "over-limit", "bad-length"],
            Framing::WebSocket => &["truncated", "over-limit", "bad-websocket", "bad-deflate"],
            Framing::Http => &["truncated", "over-limit", "bad-http", "compressed"],
            other => panic!("say here which faults {other:?} has"),
        };
        codes.extend(more);
        // A line without anything is another fault.
        bodies |= *framing != Framing::Lines;
    }
    let encodings = ENCODINGS.iter().find(|(n, _)| *n == name);
    let (_, encodings) = encodings.unwrap_or_else(|| {
        panic!(
            "tests/integration/house/mod.rs: say in ENCODINGS what {name}'s messages are written in"
        )
    });
    for encoding in *encodings {
        let more: &[&str] = match *encoding {
            "json" => &[
                "bad-json",
                "bad-utf8",
                "ends-early",
                "trailing-bytes",
                "too-deep",
            ],
            "msgpack" => &["bad-msgpack", "ends-early", "trailing-bytes", "too-deep"],
            // Its own codes are the protocol's; bytes that are left over are no fault.
            _ => &["too-deep"],
        };
        codes.extend(more);
        if bodies && *encoding != "serde" {
            codes.insert("empty");
        }
    }
    codes
}

#[test]
fn every_kind_and_every_fault_has_a_fixture() {
    let told = told();
    let mut breaches = String::new();
    for protocol in registry::all().iter().copied() {
        let name = protocol.name();
        let mine = || told.iter().filter(|t| t.protocol == name);
        for kind in protocol.descriptor().kinds.iter() {
            if !mine().any(|t| t.kind.as_deref() == Some(kind.name)) {
                let _ = writeln!(
                    breaches,
                    "fixtures/{name}:1: no fixture has the kind {}",
                    kind.name
                );
            }
        }
        let own = protocol.descriptor().faults.iter().map(|(code, _)| *code);
        for code in own.chain(possible(protocol)) {
            if !mine().any(|t| t.codes().any(|c| c == code)) {
                let _ = writeln!(
                    breaches,
                    "fixtures/{name}:1: no fixture has the fault {code}"
                );
            }
        }
    }
    for kind in CONTROLS {
        if !told.iter().any(|t| t.kind.as_deref() == Some(kind)) {
            let _ = writeln!(breaches, "fixtures:1: no fixture has a line of kind {kind}");
        }
    }
    let covered: BTreeSet<&str> = registry::all().iter().copied().flat_map(possible).collect();
    for (code, _) in framing::FAULTS.iter().chain(encoding::FAULTS) {
        if !covered.contains(code) {
            let _ = writeln!(
                breaches,
                "tests/integration/house/mod.rs:1: which protocol can have the fault {code}? Say so in `possible`"
            );
        }
    }
    report(&breaches);
}

/// The definitions that some of a protocol's fixtures bring along.
fn own_schemas(protocol: &str) -> String {
    let folder = fs::read_dir(root().join("fixtures").join(protocol)).expect("a folder");
    let files = folder.map(|entry| entry.expect("a file").path());
    files
        .filter(|path| path.extension().is_some_and(|e| e == "tq"))
        .map(|path| fs::read_to_string(path).expect("a schema"))
        .collect()
}

#[test]
fn nothing_is_told_that_is_not_listed() {
    let mut breaches = String::new();
    for told in told() {
        let Some(protocol) = registry::find(&told.protocol) else {
            let _ = writeln!(
                breaches,
                "{}: there is no protocol {:?}",
                told.place, told.protocol
            );
            continue;
        };
        let lists = [
            protocol.descriptor().faults,
            framing::FAULTS,
            encoding::FAULTS,
        ];
        let known: Vec<&str> = lists.into_iter().flatten().map(|(code, _)| *code).collect();
        for fault in told.codes() {
            if !known.contains(&fault) {
                let _ = writeln!(
                    breaches,
                    "{}: the fault {fault} is in no list of faults",
                    told.place
                );
            }
        }
        // A kind that the message names itself has no role.
        if let (Some(kind), Some(role)) = (&told.kind, &told.role) {
            let listed = protocol.descriptor().kinds.iter().find(|k| k.name == kind);
            let right = (role == "control" && CONTROLS.contains(&kind.as_str()))
                || listed.is_some_and(|l| l.role.is_none_or(|r| r.name() == role))
                || own_schemas(&told.protocol).contains(&format!("struct {kind} "));
            if !right {
                let _ = writeln!(
                    breaches,
                    "{}: the kind {kind} with the role {role} is in no list of kinds",
                    told.place
                );
            }
        }
    }
    report(&breaches);
}

#[test]
fn a_protocol_is_a_folder_and_a_line() {
    let mut breaches = String::new();
    let readme = fs::read_to_string(root().join("README.md")).expect("README.md");
    let guide = contributing();
    for place in TOUCHED {
        if !guide.contains(&format!("`{place}`")) {
            let _ = writeln!(
                breaches,
                "CONTRIBUTING.md:1: adding a protocol touches {place}"
            );
        }
        for protocol in protocols() {
            let path = place.replace("NAME", protocol);
            if !root().join(&path).exists() {
                let _ = writeln!(breaches, "{path}: is missing");
            }
        }
        let list = fs::read_to_string(root().join(place)).unwrap_or_default();
        for protocol in protocols() {
            if !list.is_empty() && !list.contains(protocol) {
                let _ = writeln!(breaches, "{place}:1: {protocol} is not named here");
            }
        }
    }
    for protocol in protocols() {
        for file in SIBLINGS {
            let path = format!("src/protocol/{protocol}/{file}");
            if !root().join(&path).exists() {
                let _ = writeln!(breaches, "{path}: every other protocol has this file");
            }
        }
    }
    let words = readme.split_whitespace().collect::<Vec<_>>().join(" ");
    for protocol in registry::all() {
        let rules = format!(
            "{} for {}",
            protocol.behavior().rules().len(),
            protocol.name()
        );
        if !words.contains(&rules) {
            let _ = writeln!(breaches, "README.md:1: there are {rules}");
        }
    }
    // Who knows them all would have to learn of one more.
    for source in sources() {
        let lists = protocols().iter().all(|p| names(&source.bare, p));
        if lists && !TOUCHED.contains(&format!("src/{}", source.path).as_str()) {
            let _ = writeln!(
                breaches,
                "src/{}:1: every protocol is named: ask the registry",
                source.path
            );
        }
    }
    let lists = registry::all().iter().map(|p| p.descriptor().faults);
    let lists = lists.chain([framing::FAULTS, encoding::FAULTS]);
    for (code, _) in lists.flatten() {
        if !names(&readme, code) {
            let _ = writeln!(breaches, "README.md:1: the fault {code} is not told");
        }
    }
    report(&breaches);
}

#[test]
fn the_first_page_names_every_module() {
    let library = fs::read_to_string(root().join("src/lib.rs")).expect("src/lib.rs");
    let modules = library
        .lines()
        .filter_map(|line| line.strip_prefix("pub mod "));
    let mut breaches = String::new();
    for module in modules.map(|line| line.trim_end_matches(';')) {
        if !library.contains(&format!("[`{module}`]")) {
            let _ = writeln!(breaches, "src/lib.rs:1: nothing is said of {module}");
        }
    }
    report(&breaches);
}

fn contributing() -> String {
    fs::read_to_string(root().join("CONTRIBUTING.md")).expect("CONTRIBUTING.md")
}

#[test]
fn the_map_of_the_code_names_every_part() {
    let guide = contributing();
    let parts: BTreeSet<String> = sources()
        .iter()
        .filter_map(|source| module(&source.path).into_iter().next())
        .collect();
    let mut breaches = String::new();
    for part in &parts {
        if !guide.contains(&format!("`{part}`")) {
            let _ = writeln!(breaches, "CONTRIBUTING.md:1: the map lacks {part}");
        }
    }
    let rows = guide
        .lines()
        .skip_while(|line| !line.contains("place in `src`"));
    let rows = rows.skip(2).take_while(|line| line.starts_with('|'));
    for row in rows {
        let places = row.split('|').nth(1).unwrap_or_default().split(", ");
        for place in places.map(|place| place.trim().trim_matches('`')) {
            if !parts.contains(place) {
                let _ = writeln!(breaches, "CONTRIBUTING.md:1: src has no {place}");
            }
        }
    }
    report(&breaches);
}
