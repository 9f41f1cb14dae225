//! Checks the rules of the code base: imports between layers, access to the outside world, a fixture for each kind of
//! message and each fault, and the parts of a protocol.
//!
//! ```text
//!   escape, span, words <- error <- tape <- path <- encoding <- framing <- protocol/mod <- protocol/* <- registry
//!        <- decoder <- capture, conversation, render, select, ...  <- protocol/described <- transport <- cli
//! ```
//!
//! Comments and tests are exempt. A file of more than 600 lines gives the reason in a comment `// Long: ...` in its
//! first 15 lines.

mod cycles;
mod dependencies;

use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use wiretool::encoding;
use wiretool::encoding::Encoding;
use wiretool::framing::{self, Framing};
use wiretool::protocol::{Protocol, registry};

/// Layers, the lowest first. The modules of a row may use each other, but not mutually.
const LAYERS: &[&[&str]] = &[
    &["escape", "span", "system", "words"],
    &["toml_text"],
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
        "export",
        "inject",
        "live",
        "own_rules",
        "redact",
        "relay",
        "render",
        "select",
        "settings",
        "shrink",
        "snapshot",
        "stat",
        "verify",
    ],
    &["described"],
    &["transport"],
    &["cli"],
];

/// Words that only some files may contain: the words, and the files or folders, below `src`.
const RESTRICTED: &[(&[&str], &[&str])] = &[
    (&["colored"], &["render/style.rs"]),
    (
        &["crossterm", "ratatui"],
        &["cli/watch", "cli/review", "cli/terminal_input"],
    ),
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
        &["cli", "main.rs", "system"],
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

/// Folders that must not name a protocol.
const PROTOCOL_FREE: &[&str] = &[
    "conversation",
    "decoder",
    "diff",
    "encode",
    "encoding",
    "error.rs",
    "escape",
    "export",
    "framing",
    "inject",
    "live",
    "own_rules",
    "path",
    "redact",
    "relay",
    "render",
    "select",
    "shrink",
    "snapshot",
    "span.rs",
    "stat",
    "system",
    "tape.rs",
    "toml_text",
    "transport",
    "verify",
    "words",
];

/// The maximum number of lines of a function.
const MAX_FUNCTION_LINES: usize = 80;

/// The maximum number of lines of a file without a reason.
const MAX_LINES: usize = 600;

/// The common files of all protocol folders.
const COMMON_FILES: &[&str] = &[
    "message.rs",
    "mod.rs",
    "peer.rs",
    "rules.md",
    "schema.rs",
    "session.rs",
];

/// The files to change for a new protocol; CONTRIBUTING.md lists the same files.
const CHANGED_FILES: &[&str] = &[
    "src/protocol/NAME/",
    "src/protocol/mod.rs",
    "src/protocol/registry.rs",
    "fixtures/NAME/",
    "tests/laws/seeds.rs",
    "tests/fuzz/targets/NAME.rs",
    "tests/fuzz/Cargo.toml",
    "tests/fuzz/lib.rs",
    "completions/",
    "README.md",
    "src/cli/topics/protocols.md",
];

/// Kinds of the transport, which every protocol may have.
const CONTROL_KINDS: &[&str] = &[
    "close",
    "gap",
    "http-request",
    "http-response",
    "http3-cancel-push",
    "http3-control",
    "http3-data",
    "http3-goaway",
    "http3-headers",
    "http3-max-push-id",
    "http3-priority-update",
    "http3-push",
    "http3-push-promise",
    "http3-settings",
    "http3-unknown",
    "ping",
    "pong",
    "qpack-decoder",
    "qpack-encoder",
    "skipped",
    "webtransport",
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// One source file.
struct Source {
    /// The path below `src`, with `/`.
    path: String,
    /// The full text.
    text: String,
    /// The text without comments and tests, with all lines.
    code: String,
    /// The same without quoted text.
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

/// The text without comments, and without comments and quoted text, with all lines.
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

/// The length of the string that starts here.
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

/// The length of the raw or byte string that starts here.
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

/// The length of the character literal that starts here; 0 for a lifetime.
fn character(text: &str) -> Option<usize> {
    let inside = text.strip_prefix('\'')?;
    let len = match inside.strip_prefix('\\') {
        Some(escape) => 1 + escape.chars().next()?.len_utf8() + escape.get(1..)?.find('\'')?,
        None => inside.chars().next()?.len_utf8(),
    };
    inside.get(len..)?.starts_with('\'').then_some(len + 2)
}

/// The lines, counted from 0, of modules that exist only in tests.
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

/// Returns `true` if the text contains a word. A word that ends in a symbol may be a prefix.
fn contains_word(line: &str, word: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(word).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + word.len()..].chars().next();
        !(before.is_some_and(is_word) || (word.ends_with(is_word) && after.is_some_and(is_word)))
    })
}

/// Returns `true` if a word of the text, or a part of one in camel case, begins with a name.
fn begins_word(line: &str, name: &str) -> bool {
    let lower = line.to_ascii_lowercase();
    lower.match_indices(name).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let is_upper = line[at..].starts_with(char::is_uppercase);
        is_upper || !before.is_some_and(char::is_alphanumeric)
    })
}

fn is_below(path: &str, folder: &str) -> bool {
    path == folder || path.starts_with(&format!("{folder}/")) || path == format!("{folder}.rs")
}

/// The module of a file.
fn module(path: &str) -> Vec<String> {
    let mut names: Vec<String> = path.split('/').map(str::to_owned).collect();
    let last = names.pop().unwrap_or_default();
    let last = last.trim_end_matches(".rs");
    if !matches!(last, "mod" | "lib" | "main") {
        names.push(last.to_owned());
    }
    names
}

/// Every module path that the code of a file names from its root, with its line.
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

/// Reads `a::b`, `a::{b, c::d}` or `a::*` and returns the paths.
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
                // `as name`, or other text that is not a path.
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

/// The layer of a module path, and its name there.
fn layer(path: &[String], protocols: &[&str]) -> Option<(usize, String)> {
    let first = path.first()?.as_str();
    let (row, name) = match (first, path.get(1).map(String::as_str)) {
        ("protocol", Some("described")) => ("described", "described".to_owned()),
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

/// Reports all violations at once, each with its file, its line, and the rule.
fn report_violations(breaches: &str) {
    assert!(breaches.is_empty(), "\n{breaches}");
}

#[test]
fn modules_import_lower_layers_only() {
    let protocols = protocols();
    let mut breaches = String::new();
    let mut peers: BTreeMap<(String, String), String> = BTreeMap::new();
    for source in sources() {
        let here = module(&source.path);
        // The roots may name everything.
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
            // The files of `protocol` hold the names of the folders and export them.
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
    report_violations(&breaches);
}

/// The public library, and a file in it that only the proxy uses. Flags of other programs stand in `capture`.
const WITHOUT_FLAGS: &[&str] = &[
    "conversation",
    "decoder",
    "diff",
    "encode",
    "encoding",
    "error",
    "framing",
    "protocol",
    "render",
    "select",
];
const WITH_FLAGS: &[&str] = &[
    "conversation/tap.rs",
    "framing/fields/flags.rs",
    "protocol/examples.rs",
];

#[test]
fn library_names_no_flags() {
    let mut breaches = String::new();
    for source in sources() {
        let part = source.path.split(['/', '.']).next().unwrap_or_default();
        if !WITHOUT_FLAGS.contains(&part) || WITH_FLAGS.contains(&source.path.as_str()) {
            continue;
        }
        for (number, line) in source.code.lines().enumerate() {
            let after = line.split("--").skip(1);
            if after
                .into_iter()
                .any(|word| word.starts_with(|c: char| c.is_ascii_lowercase()))
            {
                let place = format!("src/{}:{}", source.path, number + 1);
                let _ = writeln!(
                    breaches,
                    "{place}: a flag of the command line: {}",
                    line.trim()
                );
            }
        }
    }
    report_violations(&breaches);
}

#[test]
fn restricted_words_are_in_allowed_files() {
    let mut breaches = String::new();
    for source in sources() {
        for (number, line) in source.bare.lines().enumerate() {
            for (words, places) in RESTRICTED {
                if places.iter().any(|place| is_below(&source.path, place)) {
                    continue;
                }
                for word in words.iter().filter(|word| contains_word(line, word)) {
                    let _ = writeln!(
                        breaches,
                        "src/{}:{}: only {} may touch {word}",
                        source.path,
                        number + 1,
                        places.join(", ")
                    );
                }
            }
            if contains_word(line, "unsafe") {
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
    report_violations(&breaches);
}

#[test]
fn generic_modules_name_no_protocol() {
    let protocols = protocols();
    let mut breaches = String::new();
    for source in sources() {
        let own = protocols
            .iter()
            .find(|name| is_below(&source.path, &format!("protocol/{name}")));
        let nameless = PROTOCOL_FREE
            .iter()
            .any(|place| is_below(&source.path, place));
        if own.is_none() && !nameless {
            continue;
        }
        for (number, line) in source.code.lines().enumerate() {
            // Members and methods that have the name of another protocol.
            let line = line
                .replace("\"jsonrpc", "")
                .replace("`jsonrpc`", "")
                .replace("\"mcp", "")
                .replace("[mcpServers]", "");
            for name in protocols.iter().filter(|name| own != Some(*name)) {
                if begins_word(&line, name) {
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
    report_violations(&breaches);
}

#[test]
fn long_files_give_a_reason() {
    let mut breaches = String::new();
    for source in sources() {
        let lines = source.text.lines().count();
        let excused = source
            .text
            .lines()
            .take(15)
            .any(|line| line.starts_with("// Long: "));
        if lines > MAX_LINES && !excused {
            let _ = writeln!(
                breaches,
                "src/{}:1: {lines} lines, more than {MAX_LINES}: split it, or say why in `// Long: ...` among the first 15",
                source.path
            );
        }
        if excused && lines <= MAX_LINES {
            let _ = writeln!(
                breaches,
                "src/{}:1: {lines} lines need no `// Long: ...`",
                source.path
            );
        }
    }
    report_violations(&breaches);
}

/// The name of the function that a line begins, if it does.
fn function_name(line: &str) -> Option<&str> {
    let mut rest = line.trim_start();
    while let Some((word, after)) = rest.split_once(' ') {
        match word {
            "fn" => return after.split(['(', '<']).next(),
            "pub" | "const" | "async" => {}
            _ if word.starts_with("pub(") => {}
            _ => return None,
        }
        rest = after;
    }
    None
}

/// The tests in a file that no `mod` line names do not run.
#[test]
fn every_file_is_compiled() {
    let sources = sources();
    let mut breaches = String::new();
    for Source { path, .. } in &sources {
        let module = path.trim_end_matches(".rs").trim_end_matches("/mod");
        let (parents, name) = match module.rsplit_once('/') {
            Some((folder, name)) => ([format!("{folder}.rs"), format!("{folder}/mod.rs")], name),
            None if matches!(module, "lib" | "main") => continue,
            None => (["lib.rs".to_owned(), String::new()], module),
        };
        let line = format!("mod {name};");
        let declares = |parent: &Source| {
            parents.contains(&parent.path) && parent.text.lines().any(|l| l.ends_with(&line))
        };
        if !sources.iter().any(declares) {
            let _ = writeln!(breaches, "src/{path}: no `{line}` names it");
        }
    }
    report_violations(&breaches);
}

#[test]
fn functions_are_short() {
    let mut breaches = String::new();
    for source in sources() {
        let lines: Vec<&str> = source.bare.lines().collect();
        for (at, line) in lines.iter().enumerate() {
            let Some(name) = function_name(line) else {
                continue;
            };
            let indent = &line[..line.len() - line.trim_start().len()];
            let closing = format!("{indent}}}");
            let after = lines.iter().skip(at + 1);
            let len = if line.ends_with(['}', ';']) {
                1
            } else {
                after.take_while(|line| !line.starts_with(&closing)).count() + 2
            };
            if len > MAX_FUNCTION_LINES {
                let _ = writeln!(
                    breaches,
                    "src/{}:{}: {name} has {len} lines, more than {MAX_FUNCTION_LINES}: split it where a concept ends",
                    source.path,
                    at + 1
                );
            }
        }
    }
    report_violations(&breaches);
}

/// A line of the output of `decode -f json` for a fixture.
#[derive(Deserialize)]
struct DecodedLine {
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

impl DecodedLine {
    fn codes(&self) -> impl Iterator<Item = &str> {
        let all = self.faults.iter().chain(&self.fault);
        all.map(|fault| fault.code.as_str())
    }
}

/// All expected outputs of `tests/integration/fixtures.rs`.
fn decoded_lines() -> Vec<DecodedLine> {
    let mut reported = Vec::new();
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
                let mut line: DecodedLine =
                    serde_json::from_str(line).unwrap_or_else(|e| panic!("{place}: {e}"));
                line.place = place;
                reported.push(line);
            }
        }
    }
    reported
}

/// The fault codes of the framings and encodings that a protocol's messages can have.
fn possible_faults(protocol: &dyn Protocol) -> BTreeSet<&'static str> {
    let mut codes = BTreeSet::new();
    let mut bodies = false;
    for framing in protocol.descriptor().framings {
        let more: &[&str] = match framing {
            Framing::Custom(_) => &[],
            Framing::Lines => &["over-limit", "gap"],
            Framing::Prefix | Framing::Header | Framing::Values | Framing::Message => {
                &["truncated", "over-limit"]
            }
            Framing::ContentLength => &["truncated", "over-limit", "bad-length", "missing-header"],
            Framing::Method | Framing::Bare => &["truncated", "over-limit", "bad-length"],
            Framing::Http3 => &["truncated", "over-limit", "bad-length"],
            Framing::WebSocket => &["truncated", "over-limit", "bad-websocket", "bad-deflate"],
            Framing::Http => &[
                "truncated",
                "over-limit",
                "bad-http",
                "compressed",
                "bad-deflate",
            ],
            other => panic!("say here which faults {other:?} has"),
        };
        codes.extend(more);
        // An empty line has another fault.
        bodies |= *framing != Framing::Lines;
    }
    for encoding in protocol.descriptor().encodings {
        let more: &[&str] = match encoding {
            Encoding::Json => &[
                "bad-json",
                "bad-utf8",
                "ends-early",
                "trailing-bytes",
                "too-deep",
            ],
            Encoding::MessagePack => &["bad-msgpack", "ends-early", "trailing-bytes", "too-deep"],
            Encoding::Cbor => &["bad-cbor", "ends-early", "trailing-bytes", "too-deep"],
            // The protocol's codes; trailing bytes are not a fault.
            _ => &["too-deep"],
        };
        codes.extend(more);
        if bodies && *encoding != Encoding::SerdeEnvelope {
            codes.insert("empty");
        }
    }
    codes
}

#[test]
fn every_kind_and_fault_has_a_fixture() {
    let reported = decoded_lines();
    let mut breaches = String::new();
    for protocol in registry::all().iter().copied() {
        let name = protocol.name();
        let mine = || reported.iter().filter(|t| t.protocol == name);
        for kind in protocol.kinds() {
            if !mine().any(|t| t.kind.as_deref() == Some(&*kind.name)) {
                let _ = writeln!(
                    breaches,
                    "fixtures/{name}:1: no fixture has the kind {}",
                    kind.name
                );
            }
        }
        let own = protocol.descriptor().faults.iter().map(|(code, _)| *code);
        for code in own.chain(possible_faults(protocol)) {
            if !mine().any(|t| t.codes().any(|c| c == code)) {
                let _ = writeln!(
                    breaches,
                    "fixtures/{name}:1: no fixture has the fault {code}"
                );
            }
        }
    }
    for kind in CONTROL_KINDS {
        if !reported.iter().any(|t| t.kind.as_deref() == Some(kind)) {
            let _ = writeln!(breaches, "fixtures:1: no fixture has a line of kind {kind}");
        }
    }
    let covered: BTreeSet<&str> = registry::all()
        .iter()
        .copied()
        .flat_map(possible_faults)
        .collect();
    for (code, _) in framing::FAULTS.iter().chain(encoding::FAULTS) {
        if !covered.contains(code) && !OUTSIDE.contains(code) {
            let _ = writeln!(
                breaches,
                "tests/integration/house/mod.rs:1: which protocol can have the fault {code}? Say so in `possible_faults`"
            );
        }
    }
    report_violations(&breaches);
}

/// The faults that only protocols from outside of this crate can have.
const OUTSIDE: &[&str] = &["bad-cbor", "bad-checksum", "bad-magic"];

/// The definitions that some fixtures of a protocol contain.
fn schemas_in_fixtures(protocol: &str) -> String {
    let folder = fs::read_dir(root().join("fixtures").join(protocol)).expect("a folder");
    let files = folder.map(|entry| entry.expect("a file").path());
    files
        .filter(|path| path.extension().is_some_and(|e| e == "tq"))
        .map(|path| fs::read_to_string(path).expect("a schema"))
        .collect()
}

#[test]
fn decoded_kinds_and_faults_are_listed() {
    let mut breaches = String::new();
    for reported in decoded_lines() {
        let Some(protocol) = registry::find(&reported.protocol) else {
            let _ = writeln!(
                breaches,
                "{}: there is no protocol {:?}",
                reported.place, reported.protocol
            );
            continue;
        };
        let lists = [
            protocol.descriptor().faults,
            framing::FAULTS,
            encoding::FAULTS,
        ];
        let known: Vec<&str> = lists.into_iter().flatten().map(|(code, _)| *code).collect();
        for fault in reported.codes() {
            if !known.contains(&fault) {
                let _ = writeln!(
                    breaches,
                    "{}: the fault {fault} is in no list of faults",
                    reported.place
                );
            }
        }
        // The role of a kind that the message names itself is unknown.
        if let (Some(kind), Some(role)) = (&reported.kind, &reported.role) {
            let listed = protocol.kinds().iter().find(|k| k.name == *kind);
            let right = (role == "control" && CONTROL_KINDS.contains(&kind.as_str()))
                || listed.is_some_and(|l| l.role.is_none_or(|r| r.name() == role))
                || schemas_in_fixtures(&reported.protocol).contains(&format!("struct {kind} "));
            if !right {
                let _ = writeln!(
                    breaches,
                    "{}: the kind {kind} with the role {role} is in no list of kinds",
                    reported.place
                );
            }
        }
    }
    report_violations(&breaches);
}

#[test]
fn protocol_consists_of_common_files() {
    let mut breaches = String::new();
    let guide = contributing();
    for place in CHANGED_FILES {
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
        for file in COMMON_FILES {
            let path = format!("src/protocol/{protocol}/{file}");
            if !root().join(&path).exists() {
                let _ = writeln!(breaches, "{path}: every other protocol has this file");
            }
        }
    }
    // A list of all protocols would have to be changed for each new one.
    for source in sources() {
        let lists = protocols().iter().all(|p| contains_word(&source.bare, p));
        if lists && !CHANGED_FILES.contains(&format!("src/{}", source.path).as_str()) {
            let _ = writeln!(
                breaches,
                "src/{}:1: every protocol is named: ask the registry",
                source.path
            );
        }
    }
    report_violations(&breaches);
}

#[test]
fn crate_docs_name_every_module() {
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
    report_violations(&breaches);
}

fn contributing() -> String {
    fs::read_to_string(root().join("CONTRIBUTING.md")).expect("CONTRIBUTING.md")
}

#[test]
fn code_map_names_every_part() {
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
    let mut highest = 0;
    for row in rows {
        let places = row.split('|').nth(1).unwrap_or_default().split(", ");
        for place in places.map(|place| place.trim().trim_matches('`')) {
            if !parts.contains(place) {
                let _ = writeln!(breaches, "CONTRIBUTING.md:1: src has no {place}");
            }
            let layer = LAYERS.iter().position(|names| names.contains(&place));
            if layer.is_some_and(|layer| layer < highest) {
                let _ = writeln!(breaches, "CONTRIBUTING.md:1: {place} is in a lower layer");
            }
            highest = layer.unwrap_or(highest);
        }
    }
    report_violations(&breaches);
}

/// Folders that paths of the guide begin at, below the root.
const GUIDE_FOLDERS: [&str; 3] = ["", "src", "src/protocol"];

#[test]
fn paths_of_the_guide_exist() {
    let mut breaches = String::new();
    let mut paths = 0;
    for (number, line) in contributing().lines().enumerate() {
        for path in line.split('`').skip(1).step_by(2) {
            let is_path = path.contains('/') && !path.contains([' ', ':', '*']);
            if !is_path || path.contains("NAME") || path.contains("RULE") {
                continue;
            }
            paths += 1;
            let exists = |folder: &&str| root().join(folder).join(path).exists();
            if !GUIDE_FOLDERS.iter().any(exists) {
                let _ = writeln!(
                    breaches,
                    "CONTRIBUTING.md:{}: there is no {path}",
                    number + 1
                );
            }
        }
    }
    assert!(paths > 80, "{paths} paths");
    report_violations(&breaches);
}
