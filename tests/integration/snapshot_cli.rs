//! `wiretool snapshot`: every way in which a test can fail, and the handling of pending snapshots.

use crate::common::{self, Ran};
use insta::assert_snapshot;
use serde_json::Value;
use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

const READY: &str = "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"ready\"}\n";
const INVOKE: &str = "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"invoke\",\"params\":{\"selector\":\"f\",\"calldata\":[\"0x1\"]}}\n";

/// A separate repository.
struct TestRepository {
    root: tempfile::TempDir,
}

impl TestRepository {
    /// With a fixture that has no snapshot yet.
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join(".git")).unwrap();
        let place = Self { root };
        place.file("ready.txt", READY);
        place
    }

    /// With a fixture and its snapshot.
    fn stored() -> Self {
        let place = Self::new();
        assert_eq!(place.run(&["test"]).0, 1);
        assert_eq!(place.run(&["accept"]).0, 0);
        place
    }

    fn path(&self, path: &str) -> PathBuf {
        self.root.path().join(path)
    }

    fn file(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn text(&self, path: &str) -> String {
        fs::read_to_string(self.path(path)).unwrap()
    }

    /// All files except hidden ones.
    fn files(&self) -> String {
        let mut names: Vec<String> = fs::read_dir(self.root.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|name| !name.starts_with('.'))
            .collect();
        names.sort();
        names.join(" ")
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = common::wiretool();
        command
            .arg("snapshot")
            .args(args)
            .current_dir(self.root.path())
            .stdin(Stdio::null());
        command
    }

    fn run(&self, args: &[&str]) -> Ran {
        Self::output(&mut self.command(args))
    }

    fn output(command: &mut Command) -> Ran {
        let output = command.output().unwrap();
        common::outcome_of(&output)
    }

    /// The complete output of a run and its exit code.
    fn screen(&self, args: &[&str]) -> String {
        let (code, out, err) = self.run(args);
        format!("{out}{err}exit {code}")
    }

    fn ci(&self, args: &[&str]) -> String {
        let (code, out, err) = Self::output(self.command(args).env("CI", "true"));
        format!("{out}{err}exit {code}")
    }
}

#[test]
fn new_snapshot_is_accepted_then_equal() {
    let place = TestRepository::new();
    assert_snapshot!(place.screen(&["test"]), @"
    + ready.txt: has no snapshot yet
    wiretool: 1 fixture: 0 equal, 1 new
    wiretool: compare them with `wiretool snapshot review`, or accept them with `wiretool snapshot accept`
    exit 1
    ");
    assert_eq!(place.files(), "ready.txt ready.txt.snap.new");
    assert_snapshot!(place.screen(&["accept"]), @"
    wiretool: accepted ready.txt.snap.new
    exit 0
    ");
    assert_eq!(place.files(), "ready.txt ready.txt.snap");
    assert_snapshot!(place.text("ready.txt.snap"), @r#"
    ---
    source: ready.txt
    expression: wiretool snapshot ready.txt
    ---
    #0 · ready  id 0  (oracle, lines, request, 41 bytes at 0)
       0..41  {3}
      11..16    jsonrpc  "2.0"
      22..23    id  0
      33..40    method  "ready"
    "#);
    assert_snapshot!(place.screen(&["test"]), @"
    wiretool: 1 fixture: 1 equal
    exit 0
    ");
    assert_snapshot!(place.screen(&["accept"]), @"
    wiretool: no new snapshots
    exit 0
    ");
    assert_eq!(
        place.run(&["test", "-q"]),
        (0, String::new(), String::new())
    );
}

#[test]
fn changed_output_fails() {
    let place = TestRepository::stored();
    place.file("ready.txt", READY.replace("\"id\":0", "\"id\":12"));
    assert_snapshot!(place.screen(&["test"]), @r#"
    ~ ready.txt: differs from its snapshot
        1 message changed
        - #0 · ready  id 0  (oracle, lines, request, 41 bytes at 0)
        + #0 · ready  id 12  (oracle, lines, request, 42 bytes at 0)
             0..42  {3}
            11..16    jsonrpc  "2.0"
        -   22..23    id  0
        +   22..24    id  12
            34..41    method  "ready"
    wiretool: 1 fixture: 0 equal, 1 differs
    wiretool: compare them with `wiretool snapshot review`, or accept them with `wiretool snapshot accept`
    exit 1
    "#);
    assert_eq!(place.files(), "ready.txt ready.txt.snap ready.txt.snap.new");
    // The exit code shows it.
    assert_eq!(
        place.run(&["test", "-q"]),
        (1, String::new(), String::new())
    );
    let (_, out, _) = place.run(&["test", "--color", "always"]);
    assert!(
        out.contains("\u{1b}[1;31m    -   22..23    id  0"),
        "{out:?}"
    );
    // Pending snapshots are removed when everything is equal again.
    place.file("ready.txt", READY);
    assert_eq!(place.run(&["test"]).0, 0);
    assert_eq!(place.files(), "ready.txt ready.txt.snap");
}

#[test]
fn rejected_change_is_removed() {
    let place = TestRepository::stored();
    let before = place.text("ready.txt.snap");
    place.file("ready.txt", READY.repeat(2));
    assert_eq!(place.run(&["test"]).0, 1);
    assert_snapshot!(place.screen(&["reject", "ready.txt"]), @"
    wiretool: rejected ready.txt.snap.new
    exit 0
    ");
    assert_eq!(place.files(), "ready.txt ready.txt.snap");
    assert_eq!(place.text("ready.txt.snap"), before);
    assert_eq!(place.run(&["test"]).0, 1);
}

#[test]
fn missing_fixture_is_reported() {
    let place = TestRepository::stored();
    fs::remove_file(place.path("ready.txt")).unwrap();
    // Pending snapshots of another program are not ours.
    let others = "---\nsource: tests/a.rs\nexpression: text\n---\nx\n";
    place.file("snapshots/a__b.snap", others);
    assert_snapshot!(place.screen(&["test"]), @"
    ? ready.txt.snap: its fixture is gone
    wiretool: 0 fixtures: 0 equal; 1 snapshot without a fixture
    exit 0
    ");
    assert_snapshot!(place.screen(&["test", "ready.txt", "--unreferenced", "reject"]), @"
    ? ready.txt.snap: its fixture is gone
    wiretool: 0 fixtures: 0 equal; 1 snapshot without a fixture
    exit 1
    ");
    assert_snapshot!(place.screen(&["test", "--unreferenced", "ignore"]), @"
    wiretool: 0 fixtures: 0 equal
    exit 0
    ");
    assert!(
        place
            .ci(&["test", "--unreferenced", "auto"])
            .ends_with("exit 1")
    );
    assert!(
        place
            .ci(&["test", "--unreferenced", "delete"])
            .ends_with("exit 1")
    );
    assert_eq!(place.files(), "ready.txt.snap snapshots");
    assert_snapshot!(place.screen(&["test", "--unreferenced", "delete"]), @"
    ? ready.txt.snap: its fixture is gone: removed
    wiretool: 0 fixtures: 0 equal; 1 snapshot without a fixture
    exit 0
    ");
    assert_eq!(place.files(), "snapshots");
    assert!(place.path("snapshots/a__b.snap").exists());
    // They do not become ours when they are named.
    assert_snapshot!(place.screen(&["test", "snapshots/a__b.snap", "--unreferenced", "delete"]), @"
    ? snapshots/a__b.snap: its fixture is gone; wiretool did not write it, and leaves it
    wiretool: 0 fixtures: 0 equal; 1 snapshot without a fixture
    exit 0
    ");
    assert_eq!(place.text("snapshots/a__b.snap"), others);
    // Each of the two files belongs to another program.
    let ours = others.replace("expression: text", "expression: wiretool snapshot a__b");
    for named in ["snapshots", "snapshots/a__b.snap"] {
        place.file("snapshots/a__b.snap.new", &ours);
        place.run(&["test", named, "--unreferenced", "delete"]);
        assert_eq!(place.text("snapshots/a__b.snap"), others);
        assert!(!place.path("snapshots/a__b.snap.new").exists());
    }
}

/// An unreadable fixture does not prevent the processing of the others.
#[test]
fn error_in_one_fixture_does_not_stop_others() {
    let place = TestRepository::new();
    for name in ["a1.txt", "a2.txt", "b1.txt"] {
        place.file(name, READY);
    }
    place.run(&["test"]);
    place.file("a2.txt.snap.new", "x\n");
    assert_snapshot!(place.screen(&["accept", "a1.txt", "a2.txt", "b1.txt"]), @r#"
    wiretool: accepted a1.txt.snap.new
    wiretool: a2.txt.snap.new: it cannot be accepted: line 1: wanted ---, got "x"
    wiretool: accepted b1.txt.snap.new
    wiretool: 2 accepted, 1 failed
    exit 2
    "#);
    fs::remove_file(place.path("a2.txt.snap.new")).unwrap();
    fs::create_dir(place.path("a2.txt.snap.new")).unwrap();
    let (code, out, err) = place.run(&["test", "a1.txt", "a2.txt", "b1.txt"]);
    assert_eq!(code, 2, "{out}{err}");
    assert_snapshot!(out + &err, @"
    ✗ a2.txt: cannot write a2.txt.snap.new: is a directory
    wiretool: 3 fixtures: 2 equal, 1 failed
    ");
}

/// Pending snapshots are complete, also long ones.
#[test]
fn snapshot_over_limit_is_refused() {
    const MAX_LENGTH: usize = (16 << 20) + (64 << 10);
    let place = TestRepository::stored();
    let stored = place.text("ready.txt.snap");
    let header = "---\nsource: ready.txt\nexpression: wiretool snapshot ready.txt\n---\n";
    let of = |len: usize| format!("{header}{}\n", "x".repeat(len - header.len() - 1));
    place.file("ready.txt.snap.new", of(MAX_LENGTH + 1));
    assert_snapshot!(place.screen(&["accept"]), @"
    wiretool: ready.txt.snap.new: it cannot be accepted: it is longer than 16 MiB
    wiretool: 0 accepted, 1 failed
    exit 2
    ");
    assert_eq!(place.text("ready.txt.snap"), stored);
    assert_eq!(place.text("ready.txt.snap.new").len(), MAX_LENGTH + 1);
    place.file("ready.txt.snap.new", of(MAX_LENGTH));
    assert_eq!(place.run(&["accept"]).0, 0);
    assert_eq!(place.text("ready.txt.snap").len(), MAX_LENGTH);
}

#[test]
fn file_named_twice_is_tested_once() {
    let place = TestRepository::stored();
    let whole = place.path("ready.txt");
    let whole = whole.to_str().unwrap();
    let (code, out, _) = place.run(&["list", ".", "./ready.txt", whole, "ready.txt.snap"]);
    assert_eq!((code, out.as_str()), (0, "stored        ready.txt\n"));
    let (code, out, _) = place.run(&["list", whole, "."]);
    assert_eq!(code, 0);
    assert_eq!(out, format!("stored        {whole}\n"));
}

#[cfg(target_os = "linux")]
#[test]
fn names_that_are_not_utf8_are_refused() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;
    let place = TestRepository::new();
    let name = |end: &str| OsStr::from_bytes(&[b"\xff.txt", end.as_bytes()].concat()).to_owned();
    fs::rename(place.path("ready.txt"), place.root.path().join(name(""))).unwrap();
    for (end, want) in [("", 1), (".snap.new", 1), (".snap", 0)] {
        let (code, out, err) = TestRepository::output(place.command(&["test"]).arg(name(end)));
        assert_eq!(code, want, "{end}: {out}{err}");
        assert!(err.contains("wiretool: 1 fixture: "), "{end}: {out}{err}");
        if end == ".snap.new" {
            assert_eq!(place.run(&["accept"]).0, 0);
        }
    }
}

#[test]
fn damaged_header_is_reported() {
    let place = TestRepository::stored();
    let text = place.text("ready.txt.snap");
    place.file("ready.txt.snap", text.replace("source:", "<<<<<<< ours"));
    assert_snapshot!(place.screen(&["test"]), @r#"
    ~ ready.txt: its snapshot cannot be read: line 2: wanted `key: value`, got "<<<<<<< ours ready.txt"
        + #0 · ready  id 0  (oracle, lines, request, 41 bytes at 0)
        +    0..41  {3}
        +   11..16    jsonrpc  "2.0"
        +   22..23    id  0
        +   33..40    method  "ready"
    wiretool: 1 fixture: 0 equal, 1 differs
    wiretool: compare them with `wiretool snapshot review`, or accept them with `wiretool snapshot accept`
    exit 1
    "#);
    assert_eq!(place.run(&["accept"]).0, 0);
    assert_eq!(place.text("ready.txt.snap"), text);
    // A damaged pending snapshot is not accepted.
    place.file("ready.txt.snap.new", "x\n");
    assert_snapshot!(place.screen(&["accept"]), @r#"
    wiretool: ready.txt.snap.new: it cannot be accepted: line 1: wanted ---, got "x"
    wiretool: 0 accepted, 1 failed
    exit 2
    "#);
    assert_eq!(place.text("ready.txt.snap"), text);
    place.file("ready.txt.snap", b"---\nsource: a\n---\n\xff\n");
    let (code, out, _) = place.run(&["test"]);
    assert_eq!(code, 1);
    assert!(
        out.contains("its snapshot cannot be read: byte 18 is not UTF-8"),
        "{out}"
    );
}

#[test]
fn fixtures_without_messages_are_errors() {
    let place = TestRepository::stored();
    place.file("notes.txt", "Some words that are no message.\n");
    place.file("odd.hex", "# wiretool: --frmat line\n7b 7d\n");
    let (code, out, err) = place.run(&["test"]);
    assert_eq!(code, 2, "{out}{err}");
    assert_snapshot!(out + &err, @"
    ✗ odd.hex: # wiretool: --frmat is not a flag for fixtures: did you mean --format?
    wiretool: 2 fixtures: 1 equal, 1 failed
    ");
    fs::remove_file(place.path("odd.hex")).unwrap();
    // A named fixture is always examined.
    assert_snapshot!(place.screen(&["test", "notes.txt"]), @"
    ✗ notes.txt: no protocol recognises these bytes: name it in wiretool.toml, under [[files]]
    wiretool: 1 fixture: 0 equal, 1 failed
    exit 1
    ");
    assert_eq!(place.run(&["test"]).0, 0);
    assert_eq!(place.files(), "notes.txt ready.txt ready.txt.snap");
    place.file("wiretool.toml", "[snapshot]\nskip = [\"no*.txt\"]\n");
    assert_eq!(place.run(&["test"]).0, 0);
    // Formats with comments report it.
    place.file("odd.hex", "68656c6c6f\n");
    assert_snapshot!(place.screen(&["test", "odd.hex"]), @"
    ✗ odd.hex: no protocol recognises these bytes: name it in a comment, `# wiretool: -p NAME`, or in wiretool.toml, under [[files]]
    wiretool: 1 fixture: 0 equal, 1 failed
    exit 1
    ");
}

/// A comment in a dump is data elsewhere.
#[test]
fn header_like_data_is_not_a_header() {
    let place = TestRepository::new();
    let dump = "00000000: 7b22 6a73 6f6e 7270 6322 3a22 322e 3022  .\n\
                00000010: 2c22 6964 223a 302c 2272 6573 756c 7422  .\n\
                00000020: 3a7b 7d7d 0a                             .\n";
    for (name, text, want) in [
        ("a.txt", format!("# wiretool: -p oracle\n{READY}"), 2),
        ("b.jsonl", format!("#wiretool: -p oracle\n{READY}"), 2),
        (
            "c.hex",
            format!("\u{feff}// wiretool: -p stepflow\n{}\n", hex::encode(READY)),
            1,
        ),
        ("d.xxd", format!("; wiretool: -p oracle\n{dump}"), 1),
    ] {
        place.file(name, text);
        let (code, out, _) = place.run(&["test", "--show-new", name]);
        assert_eq!(code, want, "{name}: {out}");
        let data = "`# wiretool:` is a comment only in hex dumps: set the flags in wiretool.toml";
        assert_eq!(out.contains(data), want == 2, "{name}: {out}");
        assert_eq!(out.contains("stepflow"), name == "c.hex", "{name}: {out}");
    }
}

/// A value of another length moves all that follow: only its message differs, and the annotation has its line.
#[test]
fn moved_messages_are_no_difference() {
    let place = TestRepository::new();
    let call = |id: u32, data: &str| {
        let method = INVOKE.replace("\"id\":7", &format!("\"id\":{id}"));
        method.replace("0x1", data)
    };
    let text = |data: &str| call(1, "0x1") + &call(2, data) + &call(3, "0x1") + &call(4, "0x1");
    let (old, same_length, longer) = (text("0x1"), text("0x2"), text("0x12345"));
    for file in ["ready.txt", "b.jsonl"] {
        place.file(file, &old);
    }
    place.run(&["test"]);
    assert_eq!(place.run(&["accept"]).0, 0);
    for (new, header) in [(same_length, "  #1 · "), (longer, "+ #1 · ")] {
        place.file("ready.txt", &new);
        let (code, out, _) = place.run(&["test", "ready.txt"]);
        assert_eq!(code, 1);
        assert!(out.contains("    1 message changed\n"), "{out}");
        assert!(out.contains(header), "{out}");
        let signs = ["- ", "+ "].map(|sign| format!("    {sign}"));
        let is_change = |line: &&str| signs.iter().any(|sign| line.starts_with(sign));
        for line in out.lines().filter(is_change) {
            assert!(
                line.contains("#1 ") || line.contains("0x"),
                "{line} in {out}"
            );
        }
        let report = ["test", "--report", "github", "ready.txt"];
        assert_eq!(
            place.run(&report).1,
            "::error file=ready.txt,line=2,col=1,title=snapshot/changed::differs from its snapshot: 1 message changed; the first is #1\n"
        );
    }
}

#[test]
fn long_differences_are_shortened() {
    let place = TestRepository::new();
    let many = "1,".repeat(1 << 20);
    let long = format!("{{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":[{many}1]}}\n");
    place.file("long.txt", READY.to_owned() + &long);
    assert_snapshot!(place.screen(&["test", "long.txt"]), @"
    ✗ long.txt: its decoded text is longer than 16 MiB: use a smaller capture, or the format line
    wiretool: 1 fixture: 0 equal, 1 failed
    exit 2
    ");
    assert_eq!(place.files(), "long.txt ready.txt");
    place.file("wiretool.toml", "[snapshot]\nflags = \"-f line\"\n");
    assert_eq!(place.run(&["test", "-q", "long.txt"]).0, 1);
}

#[test]
fn ci_mode_writes_nothing() {
    let place = TestRepository::stored();
    place.file("ready.txt", INVOKE);
    place.file("new.txt", READY);
    let before = place.files();
    assert_snapshot!(place.ci(&["test", "--show-new"]), @r#"
    + new.txt: has no snapshot yet
        + #0 · ready  id 0  (oracle, lines, request, 41 bytes at 0)
        +    0..41  {3}
        +   11..16    jsonrpc  "2.0"
        +   22..23    id  0
        +   33..40    method  "ready"
    ~ ready.txt: differs from its snapshot
        1 message changed
        - #0 · ready  id 0  (oracle, lines, request, 41 bytes at 0)
        -    0..41  {3}
        + #0 · invoke f  id 7  (oracle, lines, request, 87 bytes at 0)
        +    0..87  {4}
            11..16    jsonrpc  "2.0"
        -   22..23    id  0
        -   33..40    method  "ready"
        +   22..23    id  7
        +   33..41    method  "invoke"
        +   51..86    params  {2}
        +   63..66      selector  "f"
        +   78..85      calldata  [1]
        +   79..84        [0]  "0x1"  = 1
    wiretool: 2 fixtures: 0 equal, 1 differs, 1 new
    wiretool: no file is written in CI: run `wiretool snapshot test` locally, then `wiretool snapshot review`
    exit 1
    "#);
    assert_eq!(place.files(), before);
    let no = TestRepository::output(place.command(&["test"]).env("CI", "false"));
    assert_eq!(no.0, 1);
    assert_ne!(place.files(), before);
    // Pending snapshots stay even if everything is equal.
    place.file("ready.txt", READY);
    fs::remove_file(place.path("new.txt")).unwrap();
    let before = place.files();
    assert!(place.ci(&["test"]).ends_with("exit 0"));
    assert_eq!(place.files(), before);
}

#[test]
fn usage_errors_exit_2() {
    let place = TestRepository::stored();
    for args in [
        &["test", "absent.hex"][..],
        &["test", "-"],
        &["test", "--unreferenced", "perhaps"],
        &["accept", "absent.hex"],
        &["sing"],
        &[],
    ] {
        let (code, out, err) = place.run(args);
        assert_eq!((code, out.as_str()), (2, ""), "{args:?}");
        assert!(!err.is_empty());
    }
    fs::create_dir(place.path("empty")).unwrap();
    assert_snapshot!(place.screen(&["test", "empty"]), @"
    wiretool: no fixture was found (wiretool snapshot --help lists the file types)
    exit 1
    ");
}

#[test]
fn review_without_terminal_is_refused() {
    let place = TestRepository::new();
    place.run(&["test"]);
    assert_snapshot!(place.screen(&["review"]), @"
    wiretool: review needs a terminal; without one, use: `wiretool snapshot list`, `wiretool snapshot accept`, `wiretool snapshot reject`
    exit 2
    ");
    let (code, _, err) = place.run(&["review", "a b", "c"]);
    assert_eq!(code, 2);
    assert!(err.contains("`wiretool snapshot accept 'a b' c`"), "{err}");
    assert_eq!(place.files(), "ready.txt ready.txt.snap.new");
}

#[test]
fn pending_snapshots_are_listed() {
    let place = TestRepository::stored();
    place.file("changed.txt", READY);
    place.file("gone.txt", READY);
    place.run(&["test", "-q"]);
    place.run(&["accept"]);
    place.file("changed.txt", INVOKE);
    place.file("new.txt", READY);
    place.run(&["test", "-q"]);
    place.file("deep/missing.hex", format!("{}\n", hex::encode(READY)));
    fs::remove_file(place.path("gone.txt")).unwrap();
    for no_fixture in ["node_modules/a.hex", ".hidden/a.hex", ".a.hex", "a.json"] {
        place.file(no_fixture, "00\n");
    }
    place.file("cache/CACHEDIR.TAG", "");
    place.file("cache/a.hex", "00\n");
    assert_snapshot!(place.screen(&["list"]), @"
    changed       changed.txt
    no snapshot   deep/missing.hex
    no fixture    gone.txt
    new           new.txt
    stored        ready.txt
    exit 0
    ");
    assert_snapshot!(place.screen(&["list", "-f", "json"]), @r#"
    {"fixture":"changed.txt","pending":"changed.txt.snap.new","snapshot":"changed.txt.snap","state":"changed","v":1}
    {"fixture":"deep/missing.hex","state":"missing","v":1}
    {"fixture":"gone.txt","snapshot":"gone.txt.snap","state":"unreferenced","v":1}
    {"fixture":"new.txt","pending":"new.txt.snap.new","state":"new","v":1}
    {"fixture":"ready.txt","snapshot":"ready.txt.snap","state":"stored","v":1}
    exit 0
    "#);
    assert_eq!(
        place.run(&["list", "-f", "json"]),
        place.run(&["list", "-f", "json"])
    );
    assert_snapshot!(place.screen(&["list", "deep", "new.txt.snap.new"]), @"
    no snapshot   deep/missing.hex
    new           new.txt
    exit 0
    ");
    let (code, out, _) = place.run(&["test", "-f", "json"]);
    assert_eq!(code, 1);
    let states: Vec<String> = out
        .lines()
        .map(|line| {
            let line: Value = serde_json::from_str(line).unwrap();
            format!("{} {}", line["fixture"], line["state"])
        })
        .collect();
    assert_snapshot!(states.join("\n"), @r#"
    "changed.txt" "changed"
    "deep/missing.hex" "new"
    "gone.txt" "unreferenced"
    "new.txt" "new"
    "ready.txt" "equal"
    "#);
}

/// The protocol and settings that a recording of one request and its answer is decoded with.
fn recorded(place: &TestRepository, settings: &str) -> String {
    let lines = [
        "{\"wiretool\":1,\"protocol\":\"oracle\",\"started\":\"2026-01-01T00:00:00.000000000Z\"}".to_owned(),
        "{\"t\":1000000,\"conn\":0,\"dir\":\"c2s\",\"text\":\"{\\\"jsonrpc\\\":\\\"2.0\\\",\\\"id\\\":7,\\\"method\\\":\\\"invoke\\\",\\\"params\\\":{\\\"selector\\\":\\\"f\\\",\\\"calldata\\\":[]}}\\n\"}".to_owned(),
        "{\"t\":3000000,\"conn\":0,\"dir\":\"s2c\",\"text\":\"{\\\"jsonrpc\\\":\\\"2.0\\\",\\\"id\\\":7,\\\"result\\\":[\\\"0x1\\\"]}\\n\"}".to_owned(),
        "{\"t\":3000001,\"event\":\"end\",\"chunks\":2,\"bytes\":{\"c2s\":84,\"s2c\":42}}\n".to_owned(),
    ];
    place.file("wiretool.toml", settings);
    place.file("calls.jsonl", lines.join("\n"));
    let (code, out, err) = place.run(&["test", "--show-new", "calls.jsonl"]);
    assert_eq!(code, 1, "{out}{err}");
    assert_eq!(place.run(&["reject", "calls.jsonl"]).0, 0);
    out
}

#[test]
fn times_are_shown_on_request_only() {
    let place = TestRepository::new();
    let flags = |flags: &str| format!("[snapshot]\nflags = \"{flags}\"\n");
    assert_snapshot!(recorded(&place, &flags("-f line --lint")), @r#"
    + calls.jsonl: has no snapshot yet
        +    #0        0 c0 → invoke       f                    7    []
        +    #1        0 c0 ← result       f                    7    ["0x1"]
        +       ✗ oracle/first-not-ready: the oracle starts with result; it should start with the request ready
        +       ! oracle/speaks-before-ready: #0: the executor sends invoke first; it should wait for ready
    "#);
    assert_snapshot!(recorded(&place, &flags("-f line --lint --times")), @r#"
    + calls.jsonl: has no snapshot yet
        +    #0        0 c0 00:00:00.001 → invoke       f                    7             []
        +    #1        0 c0        +2 ms ← result       f                    7        2 ms ["0x1"]
        +       ✗ oracle/first-not-ready: the oracle starts with result; it should start with the request ready
        +       ! oracle/speaks-before-ready: #0: the executor sends invoke first; it should wait for ready
    "#);
    let json = recorded(&place, &flags("-f json --lint"));
    assert!(
        !json.contains("2026") && !json.contains("latency"),
        "{json}"
    );
    let json = recorded(&place, &flags("-f json --lint --times"));
    assert!(
        json.contains("\"time\":\"2026-01-01T00:00:00.001000000Z\""),
        "{json}"
    );
    assert!(json.contains("\"latency_ms\":2"), "{json}");
}

#[test]
fn volatile_values_are_hidden() {
    let place = TestRepository::new();
    let flags = |flags: &str| format!("[snapshot]\nflags = \"{flags}\"\n");
    assert_snapshot!(recorded(&place, &flags("--redact-volatile")), @r#"
    + calls.jsonl: has no snapshot yet
        + #0 c0 → invoke f  id [volatile]  (oracle, lines, request)
        +   {4}
        +     jsonrpc  "2.0"
        +     id  [volatile]
        +     method  "invoke"
        +     params  {2}
        +       selector  "f"
        +       calldata  [0]
        + #1 c0 ← result  id [volatile]  (oracle, lines, response)
        +   {3}
        +     jsonrpc  "2.0"
        +     id  [volatile]
        +     result  [1]
        +       [0]  "0x1"  = 1
    "#);
    assert_snapshot!(recorded(&place, &flags("-f line --redact-volatile --lint")), @r#"
    + calls.jsonl: has no snapshot yet
        +    #0 c0 → invoke       f                    [volatile]
        +    #1 c0 ← result                            [volatile]
        +       ✗ oracle/first-not-ready: the oracle starts with result; it should start with the request ready
        +       ! oracle/speaks-before-ready: #0: the executor sends invoke first; it should wait for ready
    "#);
    let ignored =
        "[snapshot]\nflags = \"-f json\"\n[ignore]\npaths = [\"params\", \"result[*]\"]\n";
    assert_snapshot!(recorded(&place, ignored), @r#"
    + calls.jsonl: has no snapshot yet
        + {"v":1,"index":0,"conn":0,"dir":"c2s","framing":"lines","protocol":"oracle","kind":"invoke","role":"request","id":7,"subject":"[volatile]","message":{"jsonrpc":"2.0","id":7,"method":"invoke","params":"[volatile]"}}
        + {"v":1,"index":1,"conn":0,"dir":"s2c","framing":"lines","protocol":"oracle","kind":"result","role":"response","id":7,"message":{"jsonrpc":"2.0","id":7,"result":["[volatile]"]}}
    "#);
    assert_eq!(
        recorded(&place, &flags("-f json --redact-volatile"))
            .matches("\"[volatile]\"")
            .count(),
        4,
        "each message has its id twice"
    );
    place.file("wiretool.toml", flags("-f hex --redact-volatile"));
    assert_snapshot!(place.screen(&["test", "calls.jsonl"]), @"
    ✗ calls.jsonl: -f hex shows every byte: nothing can be left out of it
    wiretool: 1 fixture: 0 equal, 1 failed
    exit 2
    ");
    // As a flag, for all fixtures.
    fs::remove_file(place.path("wiretool.toml")).unwrap();
    let (_, out, _) = place.run(&["test", "--show-new", "--redact-volatile", "ready.txt"]);
    assert!(out.contains("id  [volatile]"), "{out}");
}

/// The snapshot of a fixture of this repository with some flags.
fn of_fixture(place: &TestRepository, fixture: &str, flags: &str) -> String {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let name = fixture.rsplit('/').next().unwrap();
    fs::copy(root.join("fixtures").join(fixture), place.path(name)).unwrap();
    place.file(
        "wiretool.toml",
        format!("[snapshot]\nflags = \"{flags}\"\n"),
    );
    let shown = place.ci(&["test", "--show-new", name]);
    assert!(shown.ends_with("exit 1"), "{fixture}: {shown}");
    shown
}

/// In every position: in messages, in heads, in findings.
#[test]
fn no_volatile_value_is_left() {
    let place = TestRepository::new();
    for (fixture, ids) in [
        ("stepflow/rules/unanswered.fires.jsonl", "01a1fb66"),
        ("stepflow/rules/answered-twice.fires.jsonl", "01a1fb66"),
        ("stepflow/rules/trace-id.fires.jsonl", "01a1fb66"),
        ("saikuro/rules/unknown-id.fires.jsonl", "a1b2c3d4"),
        ("saikuro/rules/batch-order.fires.jsonl", "a1b2c3d4"),
    ] {
        for format in ["tree", "line", "json"] {
            let flags = format!("--redact-volatile --lint -f {format}");
            let shown = of_fixture(&place, fixture, &flags);
            assert!(!shown.contains(ids), "{fixture}: {shown}");
            assert!(shown.contains("[volatile]"), "{fixture}: {shown}");
            let clear = of_fixture(&place, fixture, &format!("--lint -f {format}"));
            assert!(clear.contains(ids), "{fixture}: {clear}");
        }
    }
    let shown = of_fixture(&place, "saikuro/websocket.hex", "--redact-volatile");
    for field in ["key", "accept"] {
        let field = format!("sec-websocket-{field}  [volatile]");
        assert!(shown.to_lowercase().contains(&field), "{shown}");
    }
    let shown = of_fixture(
        &place,
        "stepflow/rules/unanswered.fires.jsonl",
        "--redact-volatile --lint -f line",
    );
    assert!(
        shown.contains(
            "stepflow/unanswered: #4: request components/execute /upper ([volatile]) has no answer, and the connection is closed"
        ),
        "{shown}"
    );
}

/// The part of a title that repeats a value is hidden too.
#[test]
fn titles_contain_no_hidden_values() {
    let place = TestRepository::new();
    for format in ["tree", "line", "json"] {
        let flags = |more: &str| format!("-f {format} {more}");
        let fixture = "snapshots/calls.jsonl";
        let clear = of_fixture(&place, fixture, &flags(""));
        assert!(clear.contains("math.sub"), "{clear}");
        let shown = of_fixture(&place, fixture, &flags("--ignore tool"));
        assert!(!shown.contains("math."), "{shown}");
        assert!(shown.contains("[volatile]"), "{shown}");
    }
}

#[test]
fn flags_and_settings_select_the_protocol() {
    let place = TestRepository::new();
    fs::remove_file(place.path("ready.txt")).unwrap();
    // An answer fits several dialects of JSON-RPC, and it has no direction.
    let answer = hex::encode("{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{}}\n");
    let reported =
        format!("# Says it itself.\n\n# wiretool: -p stepflow --dir s2c -f line\n{answer}\n");
    place.file("a/told.hex", &reported);
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(reported.as_bytes()).unwrap();
    place.file("a/told.hex.gz", gzip.finish().unwrap());
    place.file("a/untold.hex", format!("{answer}\n"));
    place.file("a/late.hex", format!("{answer}\n# wiretool: -p stepflow\n"));
    assert_snapshot!(place.screen(&["test", "-v", "--show-new"]), @r#"
    + a/late.hex: has no snapshot yet
        + #0 · response  id 0  (jsonrpc, lines, dialect 2.0, response, 36 bytes at 0)
        +    0..36  {3}
        +   11..16    jsonrpc  "2.0"
        +   22..23    id  0
        +   33..35    result  {0}
    + a/told.hex: has no snapshot yet
        +    #0        0 ← response                           0    {}
    + a/told.hex.gz: has no snapshot yet
        +    #0        0 ← response                           0    {}
    + a/untold.hex: has no snapshot yet
        + #0 · response  id 0  (jsonrpc, lines, dialect 2.0, response, 36 bytes at 0)
        +    0..36  {3}
        +   11..16    jsonrpc  "2.0"
        +   22..23    id  0
        +   33..35    result  {0}
    wiretool: 4 fixtures: 0 equal, 4 new
    wiretool: compare them with `wiretool snapshot review`, or accept them with `wiretool snapshot accept`
    exit 1
    "#);
    place.file(
        "a/wiretool.toml",
        "protocol = \"oracle\"\n[snapshot]\nflags = \"-f line\"\n[[files]]\nmatch = \"un*\"\ndir = \"c2s\"\n",
    );
    assert_snapshot!(place.screen(&["test", "-v", "--show-new"]), @"
    + a/late.hex: has no snapshot yet
        +    #0        0 · ack                               0    {}
    + a/told.hex: has no snapshot yet
        +    #0        0 ← response                           0    {}
    + a/told.hex.gz: has no snapshot yet
        +    #0        0 ← response                           0    {}
    + a/untold.hex: has no snapshot yet
        +    #0        0 → ack                               0    {}
    wiretool: 4 fixtures: 0 equal, 4 new
    wiretool: compare them with `wiretool snapshot review`, or accept them with `wiretool snapshot accept`
    exit 1
    ");
    // Settings of the user are ignored.
    let mut command = place.command(&["test", "--show-new", "-f", "text", "a/untold.hex"]);
    command
        .env("WIRETOOL_PROTOCOL", "stepflow")
        .env("WIRETOOL_FORMAT", "json");
    let (_, out, _) = TestRepository::output(&mut command);
    assert!(out.contains("ack"), "{out}");
}

#[test]
fn wrong_settings_are_errors() {
    let place = TestRepository::new();
    for (text, want) in [
        (
            "[snapshot]\nflags = \"--show-secrets\"\n",
            "2: snapshot.flags: wanted flags as decode has them, such as \"-p oracle --lint\" (--show-secrets is not a flag for fixtures), got \"--show-secrets\"",
        ),
        (
            "[snapshot]\nskip = \"a\"\n",
            "2: snapshot.skip: wanted a list of patterns, got \"a\"",
        ),
        (
            "[[files]]\nmatch = \"x\"\nlength-mode = \"odd\"\n",
            "3: files.length-mode: wanted one of auto, exclusive, inclusive, got \"odd\"",
        ),
    ] {
        place.file("wiretool.toml", text);
        let (code, _, err) = place.run(&["test"]);
        assert_eq!(code, 2);
        assert!(
            err.trim_end().ends_with(&format!("wiretool.toml:{want}")),
            "{err}"
        );
    }
    place.file("wiretool.toml", "[snapshot]\nskp = []\n");
    let (code, _, err) = place.run(&["test"]);
    assert_eq!(code, 1);
    assert_eq!(
        err.matches("unknown key snapshot.skp: did you mean skip?")
            .count(),
        1,
        "{err}"
    );
    // The settings of a subfolder apply to its fixtures.
    place.file("wiretool.toml", "");
    place.file("deep/wiretool.toml", "[snapshot]\nskp = []\n");
    place.file("deep/ready.txt", READY);
    let (_, _, err) = place.run(&["test"]);
    assert_eq!(
        err.matches("deep/wiretool.toml:2: unknown key snapshot.skp")
            .count(),
        1,
        "{err}"
    );
}

/// The tree shortens long values; a change after the cut is still a change.
#[test]
fn every_change_is_reported() {
    let place = TestRepository::new();
    let message = |last: char| {
        let long = format!("{}{last}", "a".repeat(200));
        format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":0,\"error\":{{\"code\":1,\"message\":\"{long}\"}}}}\n"
        )
    };
    place.file("wiretool.toml", "protocol = \"oracle\"\n");
    place.file("ready.txt", message('b'));
    place.run(&["test"]);
    place.run(&["accept"]);
    assert_eq!(place.run(&["test"]).0, 0);
    place.file("ready.txt", message('c'));
    let (code, out, _) = place.run(&["test"]);
    assert_eq!(code, 1, "{out}");
    assert!(out.contains("… (203 bytes) crc32 "), "{out}");
}

/// A program on a separate terminal, and its screen.
#[cfg(target_os = "linux")]
mod terminal {
    use super::*;
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    use std::fs::File;
    use std::io::Read as _;

    /// Types each key after its prompt; returns the exit code and the screen.
    fn type_keys(place: &TestRepository, args: &[&str], keys: &str) -> (i32, String) {
        let controller = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&controller).unwrap();
        unlockpt(&controller).unwrap();
        let name = ptsname(&controller, Vec::new()).unwrap();
        let name = name.to_str().unwrap();
        let terminal = || File::options().read(true).write(true).open(name).unwrap();
        let mut child = place
            .command(args)
            .env("TERM", "dumb")
            .stdin(terminal())
            .stdout(terminal())
            .stderr(terminal())
            .spawn()
            .unwrap();
        let mut controller = File::from(controller);
        let (mut shown, mut keys) = (Vec::new(), keys.chars());
        let mut asked = 0;
        let mut buffer = [0; 4096];
        // Reading fails after the terminal is closed by all processes.
        while let Ok(n @ 1..) = controller.read(&mut buffer) {
            shown.extend_from_slice(&buffer[..n]);
            let questions = String::from_utf8_lossy(&shown)
                .matches("q quit   ? ")
                .count();
            while asked < questions {
                asked += 1;
                if let Some(key) = keys.next() {
                    controller.write_all(key.to_string().as_bytes()).unwrap();
                }
            }
        }
        let code = child.wait().unwrap().code().unwrap_or(-1);
        let shown = String::from_utf8_lossy(&shown).replace("\r\n", "\n");
        (code, shown)
    }

    #[test]
    fn review_accepts_and_rejects() {
        let place = TestRepository::stored();
        place.file("ready.txt", INVOKE);
        for name in ["b.txt", "c.txt", "d.txt"] {
            place.file(name, READY);
        }
        place.run(&["test"]);
        let (code, screen) = type_keys(&place, &["review"], "ardsq");
        assert_eq!(code, 0, "{screen}");
        assert_snapshot!(screen, @r#"
        1 of 4  b.txt  new
            + #0 · ready  id 0  (oracle, lines, request, 41 bytes at 0)
            +    0..41  {3}
            +   11..16    jsonrpc  "2.0"
            +   22..23    id  0
            +   33..40    method  "ready"
        a accept   A all   r reject   s skip   b back   d whole   q quit   ? help   > accept

        2 of 4  c.txt  new
            + #0 · ready  id 0  (oracle, lines, request, 41 bytes at 0)
            +    0..41  {3}
            +   11..16    jsonrpc  "2.0"
            +   22..23    id  0
            +   33..40    method  "ready"
        a accept   A all   r reject   s skip   b back   d whole   q quit   ? help   > reject

        3 of 4  d.txt  new
            + #0 · ready  id 0  (oracle, lines, request, 41 bytes at 0)
            +    0..41  {3}
            +   11..16    jsonrpc  "2.0"
            +   22..23    id  0
            +   33..40    method  "ready"
        a accept   A all   r reject   s skip   b back   d whole   q quit   ? help   > 

        3 of 4  d.txt  new
              #0 · ready  id 0  (oracle, lines, request, 41 bytes at 0)
                 0..41  {3}
                11..16    jsonrpc  "2.0"
                22..23    id  0
                33..40    method  "ready"
        a accept   A all   r reject   s skip   b back   d difference   q quit   ? help   > skip

        4 of 4  ready.txt  changed
              #0 · invoke f  id 7  (oracle, lines, request, 87 bytes at 0)
                 0..87  {4}
                11..16    jsonrpc  "2.0"
                22..23    id  7
                33..41    method  "invoke"
                51..86    params  {2}
                63..66      selector  "f"
                78..85      calldata  [1]
                79..84        [0]  "0x1"  = 1
        a accept   A all   r reject   s skip   b back   d difference   q quit   ? help   > quit
        wiretool: 1 accepted, 1 rejected, 2 skipped
        "#);
        assert_eq!(
            place.files(),
            "b.txt b.txt.snap c.txt d.txt d.txt.snap.new ready.txt ready.txt.snap ready.txt.snap.new"
        );
        let (code, screen) = type_keys(&place, &["review", "ready.txt"], "a");
        assert_eq!(code, 0, "{screen}");
        assert_eq!(place.run(&["test", "ready.txt"]).0, 0);
        let (code, screen) = type_keys(&place, &["review", "ready.txt"], "");
        assert_eq!((code, screen.as_str()), (0, "wiretool: no new snapshots\n"));
    }

    #[test]
    fn review_shows_unreadable_fixtures() {
        let place = TestRepository::new();
        place.file("b.txt", READY);
        place.run(&["test"]);
        place.file("b.txt.snap.new", "x\n");
        let (code, screen) = type_keys(&place, &["review"], "aa");
        assert_eq!(code, 2, "{screen}");
        assert_snapshot!(screen, @r#"
        1 of 2  b.txt  new
            it cannot be read: line 1: wanted ---, got "x"
        a accept   A all   r reject   s skip   b back   d whole   q quit   ? help   > accept

        b.txt.snap.new: it cannot be accepted: line 1: wanted ---, got "x"

        2 of 2  ready.txt  new
            + #0 · ready  id 0  (oracle, lines, request, 41 bytes at 0)
            +    0..41  {3}
            +   11..16    jsonrpc  "2.0"
            +   22..23    id  0
            +   33..40    method  "ready"
        a accept   A all   r reject   s skip   b back   d whole   q quit   ? help   > accept

        wiretool: 1 accepted, 0 rejected, 0 skipped, 1 failed
        "#);
        assert_eq!(
            place.files(),
            "b.txt b.txt.snap.new ready.txt ready.txt.snap"
        );
    }

    #[test]
    fn interrupted_review_keeps_pending_snapshots() {
        let place = TestRepository::new();
        place.run(&["test"]);
        let (code, screen) = type_keys(&place, &["review"], "\u{3}");
        assert_eq!(code, 130, "{screen}");
        assert_eq!(place.files(), "ready.txt ready.txt.snap.new");
    }
}

/// One chunk of a recording.
fn chunk(dir: &str, bytes: &[u8]) -> String {
    use base64::Engine as _;
    let b64 = base64::engine::general_purpose::STANDARD.encode(bytes);
    format!("{{\"t\":1,\"conn\":1,\"dir\":\"{dir}\",\"b64\":\"{b64}\"}}\n")
}

/// The same session with other generated values: the ids are given.
fn session_of(protocol: &str, ids: [&str; 3]) -> String {
    let [one, two, run] = ids;
    let lines = |all: &[(&str, String)]| -> String {
        all.iter()
            .map(|(dir, line)| chunk(dir, format!("{line}\n").as_bytes()))
            .collect()
    };
    // An unmasked text frame of a server.
    let frame = |text: String| {
        let len = u8::try_from(text.len()).unwrap();
        assert!(len < 126);
        [&[0x81, len][..], text.as_bytes()].concat()
    };
    let packed = |message: rmpv::Value| {
        let mut body = Vec::new();
        rmpv::encode::write_value(&mut body, &message).unwrap();
        let len = u32::try_from(body.len()).unwrap().to_be_bytes();
        [&len[..], &body].concat()
    };
    // The runtime answers with bytes in every case.
    let id = |text: &str, as_text: bool| {
        if as_text {
            rmpv::Value::from(text)
        } else {
            rmpv::Value::Binary(hex::decode(text.replace('-', "")).unwrap())
        }
    };
    let chunks = match protocol {
        "oracle" => lines(&[
            (
                "s2c",
                format!(r#"{{"jsonrpc":"2.0","id":{run},"method":"ready"}}"#),
            ),
            (
                "c2s",
                format!(r#"{{"jsonrpc":"2.0","id":{run},"result":{{}}}}"#),
            ),
            (
                "c2s",
                format!(
                    r#"{{"jsonrpc":"2.0","id":{one},"method":"invoke","params":{{"selector":"f","calldata":["0x1"]}}}}"#
                ),
            ),
            (
                "s2c",
                format!(r#"{{"jsonrpc":"2.0","id":{one},"result":["0x2"]}}"#),
            ),
            (
                "c2s",
                format!(
                    r#"{{"jsonrpc":"2.0","id":{two},"method":"invoke","params":{{"selector":"f","calldata":["0X1"]}}}}"#
                ),
            ),
        ]),
        "stepflow" => lines(&[
            (
                "c2s",
                format!(
                    r#"{{"jsonrpc":"2.0","id":"{one}","method":"initialize","params":{{"runtime_protocol_version":1}}}}"#
                ),
            ),
            (
                "s2c",
                format!(
                    r#"{{"jsonrpc":"2.0","id":"{one}","result":{{"server_protocol_version":1}}}}"#
                ),
            ),
            (
                "c2s",
                r#"{"jsonrpc":"2.0","method":"initialized","params":{}}"#.to_owned(),
            ),
            (
                "c2s",
                format!(
                    r#"{{"jsonrpc":"2.0","id":"{two}","method":"components/execute","params":{{"component":"/a","input":{{"n":1}},"run_id":"{run}"}}}}"#
                ),
            ),
            (
                "s2c",
                format!(r#"{{"jsonrpc":"2.0","id":"{two}","result":{{"output":1}}}}"#),
            ),
        ]),
        "sael" => [
            format!(r#"{{"v":1,"kind":"RES","seq":{one},"output":[1]}}"#),
            format!(r#"{{"v":1,"kind":"HEY","session_id":"{run}","server":{{"id":"s"}}}}"#),
            format!(r#"{{"v":1,"kind":"ERR","seq":{two},"code":"TIMEOUT","message":"late"}}"#),
        ]
        .map(|text| chunk("s2c", &frame(text)))
        .concat(),
        _ => {
            let text = run == "text";
            let map = |members: Vec<(&str, rmpv::Value)>| {
                let members = members.into_iter().map(|(key, value)| (key.into(), value));
                rmpv::Value::Map(members.collect())
            };
            let call = |own: &str| {
                packed(map(vec![
                    ("version", 1.into()),
                    ("type", "call".into()),
                    ("id", id(own, text)),
                    ("target", "math.add".into()),
                    ("args", rmpv::Value::Array(vec![1.into()])),
                ]))
            };
            let answer = packed(map(vec![
                ("id", id(one, text)),
                ("ok", true.into()),
                ("result", 1.into()),
            ]));
            [
                chunk("c2s", &call(one)),
                chunk("s2c", &answer),
                chunk("c2s", &call(two)),
            ]
            .concat()
        }
    };
    let head = format!(
        "{{\"wiretool\":1,\"protocol\":\"{protocol}\",\"started\":\"2026-01-01T00:00:00.000000000Z\"}}\n"
    );
    format!("{head}{chunks}")
}

/// A hidden value may have any length: everything else is the same, in every format.
#[test]
fn sessions_with_other_generated_values_have_same_snapshot() {
    let uuids = [
        "01a1fb66-cde3-7e01-933b-059544e00002",
        "01a1fb66-cde3-7e01-933b-059544e00003",
        "11a1fb66-cde3-7e01-933b-059544e00004",
        "01a1fb66-cde3-4e01-933b-059544e00005",
    ];
    let [a, b, c, d] = uuids;
    let place = TestRepository::new();
    for (protocol, first, second, flags) in [
        (
            "oracle",
            ["8", "9", "0"],
            ["12345", "\"a\"", "4294967296"],
            "",
        ),
        ("stepflow", ["1", "2", a], ["a-longer-id", b, c], ""),
        (
            "sael",
            ["9", "10", "ses_abcdefghijklmnop"],
            ["99", "1000", "ses_0123456789abcdef"],
            " --framing websocket",
        ),
        ("saikuro", [a, b, "text"], [c, d, "bytes"], ""),
    ] {
        for format in ["tree", "line", "json"] {
            for lint in ["", " --lint"] {
                let flags = format!("-p {protocol}{flags} -f {format}{lint} --redact-volatile");
                place.file(
                    "wiretool.toml",
                    format!("[snapshot]\nflags = \"{flags}\"\n"),
                );
                let text = |ids: [&str; 3]| {
                    place.file("s.jsonl", session_of(protocol, ids));
                    let (code, out, err) = place.run(&["test", "s.jsonl"]);
                    assert_eq!(code, 1, "{flags}: {out}{err}");
                    assert!(err.contains(" values are not shown"), "{flags}: {err}");
                    let text = place.text("s.jsonl.snap.new");
                    assert!(
                        !ids.iter().any(|id| id.len() > 4 && text.contains(id)),
                        "{text}"
                    );
                    text
                };
                let (one, other) = (text(first), text(second));
                assert_eq!(one, other, "{flags}");
            }
        }
    }
}

/// A Rust test and the command compare the same text, whatever the project settings are.
#[test]
fn library_reads_project_settings() {
    let place = TestRepository::new();
    place.file("one/s.jsonl", session_of("oracle", ["8", "9", "0"]));
    let answer = "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n";
    place.file("odd.bin", READY.to_owned() + answer);
    for settings in [
        "",
        "[snapshot]\nflags = \"-f line --redact-volatile\"\n",
        "signature = [\"f(u8) -> u8\"]\nmax-depth = 3\n[ignore]\npaths = [\"id\"]\n",
        "dialect = \"document\"\n[rules]\n\"oracle/*\" = \"error\"\n[snapshot]\nflags = \"--lint\"\n",
        "[[files]]\nmatch = \"*.bin\"\nprotocol = \"stepflow\"\ndir = \"s2c\"\n",
    ] {
        place.file("wiretool.toml", format!("{settings}# \n"));
        for fixture in ["one/s.jsonl", "odd.bin"] {
            place.run(&["test", fixture]);
            let stored = place.text(&format!("{fixture}.snap.new"));
            let contents = stored.splitn(3, "---\n").nth(2).unwrap();
            let text = wiretool::snapshot::render(place.path(fixture)).unwrap();
            assert_eq!(text, contents, "{settings}");
        }
    }
    place.file("wiretool.toml", "max-depth = \"deep\"\n");
    let error = wiretool::snapshot::render(place.path("odd.bin")).unwrap_err();
    assert!(
        error.to_string().contains("max-depth: wanted a number"),
        "{error}"
    );
}

#[test]
fn only_captures_are_fixtures() {
    let place = TestRepository::stored();
    for other in ["requirements.txt", "CMakeLists.txt", "robots.txt"] {
        place.file(other, "project(x)\nserde==1.0\nUser-agent: *\n");
    }
    place.file("train.jsonl", "{\"text\":\"a\"}\n{\"text\":\"b\"}\n");
    place.file("empty.bin", "");
    place.file(".gitignore", "ignored.txt\nout/\n");
    place.file("ignored.txt", READY);
    place.file("out/a.txt", READY);
    assert_snapshot!(place.screen(&["test"]), @"
    wiretool: 1 fixture: 1 equal
    exit 0
    ");
    place.file("X.BIN", READY);
    let (code, out, err) = place.run(&["test", "-v"]);
    assert_eq!((code, out.as_str()), (1, "+ X.BIN: has no snapshot yet\n"));
    assert!(err.contains("train.jsonl: not a capture, skipped"), "{err}");
    // A named file is always examined.
    let (code, out, _) = place.run(&["test", "robots.txt"]);
    assert!(code == 1 && out.contains("no protocol recognises"), "{out}");
}

#[test]
fn renamed_fixture_is_recognised() {
    let place = TestRepository::stored();
    fs::rename(place.path("ready.txt"), place.path("other.txt")).unwrap();
    let (code, out, _) = place.run(&["test"]);
    assert_eq!(code, 1);
    let want = "? other.txt is what ready.txt.snap holds; if it was renamed: mv ready.txt.snap other.txt.snap\n";
    assert!(out.ends_with(want), "{out}");
}

/// For any number of new fixtures: one line each, and their text on request; the difference of one is in JSON.
#[test]
fn new_fixtures_are_one_line_each() {
    let place = TestRepository::stored();
    for n in 0..50 {
        place.file(&format!("new-{n}.txt"), INVOKE.repeat(20));
    }
    place.file("ready.txt", format!("{INVOKE}{READY}"));
    let (_, out, _) = place.run(&["test"]);
    let new = out.lines().filter(|line| line.starts_with("+ ")).count();
    assert_eq!(new, 50);
    assert!(
        out.contains("differs from its snapshot\n    1 message added\n"),
        "{out}"
    );
    assert!(out.lines().count() < 50 + 30, "{out}");
    let (_, out, _) = place.run(&["test", "--show-new"]);
    assert!(out.lines().count() > 50 * 20, "{out}");
    let (_, out, _) = place.run(&["test", "-f", "json", "ready.txt"]);
    let line: Value = serde_json::from_str(&out).unwrap();
    let difference = line["difference"].as_str().unwrap();
    assert!(
        difference.contains("1 message added") && difference.contains("+ #0"),
        "{difference}"
    );
}

/// A snapshot does not hold secrets, so it says how many values it did not compare.
#[test]
fn secrets_are_counted_as_not_compared() {
    let place = TestRepository::new();
    let line = |token: &str, more: &str| {
        format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\",\"params\":{{\"token\":\"{token}\"{more}}}}}\n"
        )
    };
    place.file("one.jsonl", line("Zx81", ""));
    place.run(&["test", "one.jsonl"]);
    let (code, _, err) = place.run(&["accept", "one.jsonl"]);
    assert_eq!(code, 0, "{err}");
    let summary = "wiretool: 1 fixture: 1 equal; 1 secret is not compared\n";
    assert_eq!(place.run(&["test", "one.jsonl"]).2, summary);
    place.file("one.jsonl", line("Qy92", ""));
    assert_eq!(place.run(&["test", "one.jsonl"]).2, summary);
    let (_, out, _) = place.run(&["test", "-f", "json", "one.jsonl"]);
    assert!(out.contains("\"secrets\":1"), "{out}");
    let more = ",\"url\":\"https://me:Zx81@host\",\"args\":[\"--otp\",\"Zx82\"]";
    place.file("one.jsonl", line("Zx81", more));
    let (_, _, err) = place.run(&["test", "one.jsonl"]);
    assert!(err.contains("; 3 secrets are not compared"), "{err}");
}
