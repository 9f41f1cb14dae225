//! The command line: exit codes, streams, colour, files.

use crate::common::{self, Ran, file};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};

/// saikuro: `math.add(2, 3)` and its answer, with length prefixes.
const CALL: &str = "0000004185a776657273696f6e01a474797065a463616c6ca26964c410a1b2c3d4e5f67890abcdef1234567890a6746172676574a86d6174682e616464a461726773920203";
const ANSWER: &str = "0000002283a26964c410a1b2c3d4e5f67890abcdef1234567890a26f6bc3a6726573756c7405";

fn bytes(dump: &str) -> Vec<u8> {
    hex::decode(dump).unwrap()
}

fn wiretool(args: &[&str]) -> Command {
    let mut command = common::wiretool();
    command.args(args).stdin(Stdio::null());
    command
}

fn run(args: &[&str], input: &[u8]) -> Ran {
    common::run(&mut wiretool(args), input)
}

#[test]
fn version_help_and_usage_have_exit_codes() {
    let (code, out, err) = run(&["--version"], b"");
    assert_eq!((code, err.as_str()), (0, ""));
    assert_eq!(out, format!("wiretool {}\n", env!("CARGO_PKG_VERSION")));
    for args in [&["--help"][..], &["decode", "--help"]] {
        let (code, out, err) = run(args, b"");
        assert_eq!((code, err.as_str()), (0, ""), "{args:?}");
        let place = |text: &str| {
            out.find(text)
                .unwrap_or_else(|| panic!("{args:?} lacks {text}:\n{out}"))
        };
        assert!(place("Examples:") < place("Usage:") && place("Usage:") < place("Exit codes:"));
    }
    // Without a command stdin is decoded; a terminal is in `conventions`.
    let (code, out, err) = run(&[], b"");
    assert_eq!((code, out.as_str()), (0, ""));
    assert!(err.contains("empty input"), "{err}");
    let (code, out, err) = run(&["decode", "--frmat", "x"], b"");
    assert_eq!((code, out.as_str()), (2, ""));
    assert!(
        err.contains("--format") && err.lines().count() <= 6,
        "{err}"
    );
}

#[test]
fn results_have_exit_codes_and_streams() {
    let call = bytes(CALL);
    let (code, out, err) = run(&["decode"], &call);
    assert_eq!((code, err.as_str()), (0, ""));
    assert!(out.contains("math.add"));
    let (code, out, err) = run(&["decode", "-f", "json"], &call[..40]);
    assert_eq!(code, 1);
    assert!(out.contains("\"code\":\"truncated\""), "{out}");
    assert!(
        err.contains("stdin: offset 0: length: wanted 65 bytes"),
        "{err}"
    );
    let (code, out, err) = run(&["decode", "/none"], b"");
    assert_eq!((code, out.as_str()), (2, ""));
    assert!(err.contains("cannot open /none"));
    let (code, out, err) = run(&["decode"], b"");
    assert_eq!((code, out.as_str()), (0, ""));
    assert!(err.contains("empty input"));
    let (code, _, err) = run(&["decode"], &[0xc1; 64]);
    assert_eq!(code, 1);
    assert!(err.contains("no protocol recognises"), "{err}");
    assert_eq!(run(&["decode", "-q"], &call[..40]).2, "");
}

#[test]
fn every_form_gives_same_output() {
    let call = bytes(CALL);
    let wanted = run(&["decode", "-f", "json"], &call).1;
    let spaced: Vec<String> = call.iter().map(|b| format!("{b:02x}")).collect();
    let base64 = {
        use base64::Engine as _;
        base64::engine::general_purpose::STANDARD.encode(&call)
    };
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gzip.write_all(&call).unwrap();
    for input in [
        CALL.as_bytes().to_vec(),
        spaced.join(" ").into_bytes(),
        base64.into_bytes(),
        gzip.finish().unwrap(),
    ] {
        assert_eq!(
            run(&["decode", "-f", "json"], &input),
            (0, wanted.clone(), String::new())
        );
    }
    let (_, out, err) = run(&["decode", "-v", "-f", "json"], CALL.as_bytes());
    assert_eq!(out, wanted);
    assert!(
        err.contains("read as hex") && err.contains("saikuro (prefix)"),
        "{err}"
    );
}

#[test]
fn single_message_is_tree_and_several_are_lines() {
    let (call, both) = (bytes(CALL), bytes(&format!("{CALL}{ANSWER}")));
    insta::assert_snapshot!(run(&["decode"], &call).1, @r#"
    #0 · call math.add  id a1b2c3d4-e5f6-7890-abcd-ef1234567890  (saikuro, prefix, request, 69 bytes at 0)
       0..4   length  65
       4..69  {5}
      13..14    version  1
      19..24    type  "call"
      27..45    id  0xa1b2c3d4e5f67890abcdef1234567890  = a1b2c3d4-e5f6-7890-abcd-ef1234567890
      52..61    target  "math.add"
      66..69    args  [2]
      67..68      [0]  2
      68..69      [1]  3
    "#);
    insta::assert_snapshot!(run(&["decode"], &both).1, @r#"
    #0        0 · call           math.add             a1b2c…567890 [2, 3]
    #1       69 · response       math.add             a1b2c…567890 ok 5
    "#);
}

#[test]
fn selection_flags_choose_messages() {
    let both = bytes(&format!("{CALL}{ANSWER}"));
    let count = |args: &[&str]| {
        let (code, out, _) = run(&[&["decode", "-f", "json"], args].concat(), &both);
        (code, out.lines().count())
    };
    for (args, wanted) in [
        (&["--kind", "call"][..], (0, 1)),
        (&["--kind", "c*,nothing"], (0, 1)),
        (&["--where", "role=response"], (0, 1)),
        (&["--subject", "math.*"], (0, 1)),
        (&["--id", "A1B2C3D4-E5F6-7890-ABCD-EF1234567890"], (0, 2)),
        (&["--grep", "math"], (0, 1)),
        (&["--head", "1"], (0, 1)),
        (&["--skip", "1"], (0, 1)),
        (&["--tail", "1"], (0, 1)),
        (&["--dir", "c2s"], (0, 2)),
        (&["--where", "fault"], (1, 0)),
        (&["--kind", "cast"], (1, 0)),
    ] {
        assert_eq!(count(args), wanted, "{args:?}");
    }
}

#[test]
fn offset_and_path_flags_show_positions() {
    let both = bytes(&format!("{CALL}{ANSWER}"));
    for (args, wanted) in [
        (
            ["--at", "67"],
            "offset 67: args[0] = 2  67..68  in #0 call math.add\n",
        ),
        (
            ["--at", "0x2"],
            "offset 2: length = 65  0..4  in #0 call math.add\n",
        ),
        (
            ["--at", "62"],
            "offset 62: the key of args  61..66  in #0 call math.add\n",
        ),
        (
            ["--path", "result"],
            "result = 5  106..107  in #1 response\n",
        ),
    ] {
        let (code, out, _) = run(&[&["decode"][..], &args].concat(), &both);
        assert_eq!((code, out.as_str()), (0, wanted), "{args:?}");
    }
    assert_eq!(run(&["decode", "--at", "500"], &both).0, 1);
    assert_eq!(run(&["decode", "--path", "nothing"], &both).0, 1);
}

#[test]
fn colour_is_written_to_terminals_only() {
    let call = bytes(CALL);
    let colours = |args: &[&str], set: &[(&str, &str)]| {
        let mut command = wiretool(&[&["decode", "-f", "line"], args].concat());
        let mut child = command
            .envs(set.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(&call).unwrap();
        child.wait_with_output().unwrap().stdout.contains(&0x1b)
    };
    assert!(!colours(&[], &[]));
    assert!(colours(&["--color", "always"], &[]));
    assert!(colours(&["--color", "always"], &[("NO_COLOR", "1")]));
    assert!(colours(&[], &[("CLICOLOR_FORCE", "1")]));
    assert!(!colours(&[], &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]));
    assert!(!colours(&["--color", "never"], &[("CLICOLOR_FORCE", "1")]));
}

#[test]
fn wire_bytes_are_escaped_on_screen() {
    let line = "{\"jsonrpc\":\"2.0\",\"id\":\"\u{202e}\u{9b}31m\",\"method\":\"invoke\",\"params\":{\"selector\":\"a\\u001b[2J\",\"calldata\":[]}}\n";
    for format in ["line", "tree", "hex"] {
        let (_, out, _) = run(&["decode", "-p", "oracle", "-f", format], line.as_bytes());
        assert!(
            !out.contains(['\u{1b}', '\u{9b}', '\u{202e}']),
            "{format}: {out:?}"
        );
    }
}

#[test]
fn an_error_leaves_no_empty_recording() {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name).display().to_string();
    let (empty, kept, pipe) = (place("empty"), place("kept"), place("pipe"));
    let session = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/mcp/session.jsonl");
    let made = Command::new("mkfifo").arg(&pipe).status().unwrap();
    assert!(made.success());
    // A reader that is open before, so that no one waits for it.
    let reader = std::fs::OpenOptions::new()
        .read(true)
        .write(true)
        .open(&pipe)
        .unwrap();
    for (file, inputs, exists) in [
        (&empty, &["/no/such"][..], false),
        (&kept, &[session, "/no/such"], true),
        (&pipe, &["/no/such"], true),
    ] {
        let args = [&["decode", "-w", file][..], inputs].concat();
        let (code, _, err) = run(&args, b"");
        assert_eq!(code, 2, "{args:?}: {err}");
        assert_eq!(Path::new(file).exists(), exists, "{args:?}");
    }
    drop(reader);
    let (_, out, _) = run(&["decode", &kept], b"");
    assert_eq!(out.lines().count(), 10, "{out}");
}

#[test]
fn connections_of_several_inputs_stay_apart_in_a_recording() {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name).display().to_string();
    let session = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/mcp/session.jsonl");
    let (first, both, all) = (place("first"), place("both"), place("all"));
    let count = |args: &[&str]| run(args, b"").1.lines().count();
    let messages = count(&[session]);
    // Lines of JSON without connections, and recordings with one.
    run(&["decode", session, "-w", &first], b"");
    run(&["decode", session, session, "-w", &both], b"");
    run(&["decode", &both, &first, "-w", &all], b"");
    for (file, conns) in [(&both, 2), (&all, 3)] {
        let found: Vec<usize> = (0..5)
            .map(|conn| count(&["decode", file, "--where", &format!("conn={conn}")]))
            .filter(|found| *found > 0)
            .collect();
        assert_eq!(found, vec![messages; conns], "{file}");
    }
    let (code, _, err) = run(&["decode", session, "-w", &place("x.har")], b"");
    assert!(code == 2 && err.contains("no har is written"), "{err}");
}

#[test]
fn unknown_names_lead_to_the_right_place() {
    for (args, wanted) in [
        (&["help", "filter"][..], "wiretool help where"),
        (&["help", "latency"], "wiretool stat FILE"),
        (&["help", "lsp"], "wiretool help protocols"),
        (&["help", "hang"], "wiretool lint FILE"),
        (&["help", "examples"], "wiretool --help"),
        (&["help", "statt"], "did you mean stat?"),
        (&["lint", "--deny", "warnings"], "--fail-on warning"),
    ] {
        let (code, _, err) = run(args, b"");
        assert!(code == 2 && err.contains(wanted), "{args:?}: {err}");
        assert_eq!(err.lines().count(), 1, "{err}");
    }
}

/// A parser alone reads `-where` as `-w here`.
#[test]
fn long_flag_with_one_dash_writes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    for (flag, tip) in [
        ("-where", "tip: a long name has two dashes: --where"),
        ("-write", "tip: a long name has two dashes: --write"),
        ("-watch", "tip: watch is a command"),
        ("-with", "tip: --pair"),
    ] {
        for words in [&[flag, "kind=call"][..], &["decode", flag], &["-q", flag]] {
            let mut command = wiretool(words);
            let (code, out, err) = common::run(command.current_dir(folder.path()), bytes(CALL));
            assert_eq!((code, out.as_str()), (2, ""), "{words:?}: {err}");
            assert!(err.contains(tip), "{words:?}: {err}");
        }
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn tokens_of_progress_are_no_secrets() {
    let input = concat!(
        r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"initializationOptions":{"token":"Zx81"},"capabilities":{}}}"#,
        "\n",
        r#"{"jsonrpc":"2.0","id":1,"method":"window/workDoneProgress/create","params":{"token":"w1"}}"#,
        "\n",
        r#"{"jsonrpc":"2.0","method":"$/progress","params":{"token":"w2","value":{"token":"Zx82"}}}"#,
        "\n",
        r#"{"jsonrpc":"2.0","method":"window/workDoneProgress/cancel","params":{"token":3}}"#,
        "\n",
        r#"{"jsonrpc":"2.0","method":"$/progress","params":{"token":{"value":"Zx83"}}}"#,
        "\n",
    );
    for format in ["line", "tree"] {
        let args = ["decode", "-p", "lsp", "--framing", "lines", "-f", format];
        let (_, out, _) = run(&args, input.as_bytes());
        for token in ["\"w1\"", "\"w2\"", "3"] {
            let is_shown = |line: &str| line.contains("token") && line.contains(token);
            assert!(out.lines().any(is_shown), "{token}: {out}");
        }
        assert!(!out.contains("Zx8") && out.contains("(secret"), "{out}");
    }
}

#[test]
fn secrets_are_masked_without_flag() {
    let hey = br#"{"v":1,"kind":"HEY","agent":{"id":"a"},"auth":{"type":"bearer","token":"qct.v1.eyJzdWIiOiJtZSJ9.c2lnbmF0dXJl"}}"#;
    for format in ["tree", "hex"] {
        let args = ["decode", "-p", "sael", "--framing", "lines", "-f", format];
        let (_, out, _) = run(&args, hey);
        assert!(
            !out.contains("eyJzdWIi") && !out.contains("65 79 4a 7a") && out.contains("secret"),
            "{out}"
        );
        let (_, out, _) = run(&[&args[..], &["--show-secrets"]].concat(), hey);
        assert!(out.contains("eyJzdWIi"), "{out}");
    }
    let (_, out, _) = run(
        &["decode", "-p", "sael", "--framing", "lines", "--at", "90"],
        hey,
    );
    assert!(out.contains("auth.token = (secret)"), "{out}");
}

#[test]
fn message_is_shown_before_end_of_input() {
    let mut child = wiretool(&["decode"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(&bytes(CALL)).unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap());
    let mut first = String::new();
    // Without the output this blocks until the timeout.
    lines.read_line(&mut first).unwrap();
    assert!(first.contains("math.add"), "{first}");
    stdin.write_all(&bytes(ANSWER)).unwrap();
    drop(stdin);
    let mut rest = String::new();
    lines.read_to_string(&mut rest).unwrap();
    assert!(rest.contains("response"));
    assert!(child.wait().unwrap().success());
}

#[test]
fn closed_reader_is_no_error() {
    let many = bytes(CALL).repeat(20_000);
    let mut child = wiretool(&["decode", "-f", "json"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || drop(stdin.write_all(&many)));
    let mut first = String::new();
    BufReader::with_capacity(64, child.stdout.take().unwrap())
        .read_line(&mut first)
        .unwrap();
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    assert_eq!(
        (output.status.code(), output.stderr.as_slice()),
        (Some(0), &b""[..])
    );
}

#[test]
fn full_disk_is_an_error() {
    if !Path::new("/dev/full").exists() {
        return;
    }
    let full = std::fs::File::options()
        .write(true)
        .open("/dev/full")
        .unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = file(folder.path(), "a.bin", bytes(CALL));
    let output = wiretool(&["decode", &path])
        .stdout(full)
        .stderr(Stdio::piped())
        .output()
        .unwrap();
    let (code, _, err) = common::outcome_of(&output);
    assert_eq!(code, 2);
    assert!(err.contains("cannot write to stdout"), "{err}");
}

/// Every command that writes to stdout, with a closed stdout and with `/dev/null`.
#[test]
fn closed_stdout_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let input = file(folder.path(), "a.bin", bytes(CALL));
    let target = folder.path().join("out.json");
    let to_file = format!("decode -f json -o {} {input}", target.display());
    let shell = |args: &str, redirect: &str| {
        let script = format!("exec \"$0\" {args} {redirect}");
        let mut sh = common::shell("sh");
        let output = sh.args(["-c", &script, "wiretool"]);
        common::outcome_of(&output.stdin(Stdio::null()).output().unwrap())
    };
    let complaint = "wiretool: cannot write to stdout: it is closed\n".to_owned();
    let nothing = (0, String::new(), String::new());
    for args in [
        &format!("decode {input}"),
        &format!("decode --verify {input}"),
        "decode --print-schema",
        "decode --help",
        "--version",
        "make oracle ready",
        "oracle felt 0x68",
    ] {
        let closed = (2, String::new(), complaint.clone());
        assert_eq!(shell(args, ">&-"), closed, "{args}");
        assert_eq!(shell(args, "<&- >&-"), closed, "{args}");
        assert_eq!(shell(args, ">/dev/null"), nothing, "{args}");
        assert_eq!(shell(args, "1<>/dev/null"), nothing, "{args}");
    }
    assert_eq!(shell(&to_file, ">&-"), nothing);
    assert!(target.exists());
}

#[test]
fn output_file_is_complete_or_absent() {
    let folder = tempfile::tempdir().unwrap();
    let input = file(folder.path(), "in.bin", bytes(CALL));
    let target = folder.path().join("out.json");
    let out = target.to_str().unwrap();
    assert_eq!(
        run(&["decode", "-f", "json", "-o", out, &input], b""),
        (0, String::new(), String::new())
    );
    assert_eq!(
        std::fs::read_to_string(&target).unwrap(),
        run(&["decode", "-f", "json", &input], b"").1
    );
    let (code, _, err) = run(&["decode", "-o", &input, &input], b"");
    assert_eq!(code, 2);
    assert!(err.contains("is an input as well"));
    assert_eq!(std::fs::read(&input).unwrap(), bytes(CALL));
    std::fs::remove_file(&target).unwrap();
    assert_eq!(run(&["decode", "-f", "json", "-o", out, "/none"], b"").0, 2);
    assert!(!target.exists());
    assert_eq!(
        std::fs::read_dir(folder.path()).unwrap().count(),
        1,
        "something was left behind"
    );
}

/// The new file has the permissions and the location of the old one.
#[test]
fn output_replaces_a_file() {
    use std::fs::Permissions;
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let folder = tempfile::tempdir().unwrap();
    let input = file(folder.path(), "in.bin", bytes(CALL));
    let shown = run(&["decode", "-f", "json", &input], b"").1;
    let text = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    let mode = |name: &str| {
        let meta = std::fs::metadata(folder.path().join(name)).unwrap();
        meta.permissions().mode() & 0o7777
    };
    let write = |name: &str| {
        let path = folder.path().join(name);
        let args = ["decode", "-f", "json", "-o", path.to_str().unwrap(), &input];
        assert_eq!(run(&args, b""), (0, String::new(), String::new()), "{name}");
        assert_eq!(text(name), shown, "{name}");
    };
    for want in [0o600, 0o640, 0o666, 0o755] {
        let path = file(folder.path(), "old", b"old");
        std::fs::set_permissions(&path, Permissions::from_mode(want)).unwrap();
        write("old");
        assert_eq!(mode("old"), want);
    }
    std::fs::create_dir(folder.path().join("deep")).unwrap();
    file(&folder.path().join("deep"), "target", b"old");
    for (link, to) in [
        ("link", "deep/target"),
        ("again", "link"),
        ("dangles", "deep/none"),
    ] {
        symlink(to, folder.path().join(link)).unwrap();
        write(link);
        assert_eq!(
            std::fs::read_link(folder.path().join(link)).unwrap(),
            Path::new(to)
        );
    }
    assert_eq!(
        (text("deep/target"), text("deep/none")),
        (shown.clone(), shown)
    );
    symlink("loop", folder.path().join("loop")).unwrap();
    let path = folder.path().join("loop").display().to_string();
    assert_eq!(run(&["decode", "-o", &path, &input], b"").0, 2);
}

#[test]
fn output_equal_to_input_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let input = file(folder.path(), "in.bin", bytes(CALL));
    std::os::unix::fs::symlink("in.bin", folder.path().join("link")).unwrap();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let recorded = std::fs::read(root.join("fixtures/cli/run-a.jsonl")).unwrap();
    let recording = file(folder.path(), "in.jsonl", &recorded);
    for args in [
        "decode -f json -o in.bin < in.bin",
        "decode -f json -o in.bin - < in.bin",
        "decode -f json -o link < in.bin",
        "lint -o ./in.bin < link",
        "stat -o in.bin link",
        "redact -o in.jsonl - < in.jsonl",
    ] {
        let output = common::shell("sh")
            .args(["-c", &format!("wiretool {args}")])
            .current_dir(folder.path())
            .output()
            .unwrap();
        let (code, _, err) = common::outcome_of(&output);
        assert_eq!(code, 2, "{args}");
        assert!(err.contains("is an input as well"), "{args}: {err}");
        assert_eq!(std::fs::read(&input).unwrap(), bytes(CALL), "{args}");
    }
    assert_eq!(std::fs::read(&recording).unwrap(), recorded);
    // The output may be a file other than the input.
    let (code, _, err) = common::outcome_of(
        &common::shell("sh")
            .args(["-c", "wiretool decode -f json -o out < in.bin"])
            .current_dir(folder.path())
            .output()
            .unwrap(),
    );
    assert_eq!((code, err.as_str()), (0, ""));
}

#[test]
fn text_without_bytes_of_its_form_is_an_error() {
    for text in ["0102zz", "zz zz\n"] {
        let (code, out, err) = run(
            &["decode", "--from", "hex", "-p", "saikuro"],
            text.as_bytes(),
        );
        let wanted = "wiretool: stdin: 1 line without bytes in the form hex\n";
        assert_eq!(
            (code, out.as_str(), err.as_str()),
            (1, "", wanted),
            "{text}"
        );
    }
    // Bytes that are no message have their own error.
    let (code, _, err) = run(&["decode", "--from", "hex"], b"no hex\n00 11 22 33\n");
    assert_eq!(code, 1);
    assert!(!err.contains("without bytes"), "{err}");
}

#[test]
fn redact_reads_stdin_like_other_commands() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let recorded = std::fs::read(root.join("fixtures/cli/run-a.jsonl")).unwrap();
    let (code, out, err) = run(&["redact"], &recorded);
    assert_eq!(code, 0);
    let (count, searched) = err.split_once('\n').unwrap();
    assert_eq!(count, "wiretool: stdin: 0 secrets replaced");
    assert!(searched.contains("no other text was searched"), "{err}");
    assert_eq!(searched.lines().count(), 1, "{err}");
    assert!(out.starts_with("{\"wiretool\":1,"), "{out}");
    assert_eq!(run(&["redact", "-"], &recorded), (code, out, err));
    let (code, _, err) = run(&["redact"], b"hello\n");
    assert_eq!(code, 2);
    assert_eq!(
        err,
        "wiretool: stdin: not a recording: the first line must be {\"wiretool\":1,…}; wiretool decode -w NEW.jsonl FILE makes one\n"
    );
}

/// A closed reader of stdout is not an error; a closed reader of a named pipe is one.
#[test]
fn named_pipe_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let many = bytes(CALL).repeat(20_000);
    file(folder.path(), "in.bin", &many);
    let script = "mkfifo pipe; head -c 1 pipe > /dev/null & wiretool decode -f json -o pipe in.bin";
    let output = common::shell("sh")
        .args(["-c", script])
        .current_dir(folder.path())
        .output()
        .unwrap();
    let (code, _, err) = common::outcome_of(&output);
    assert_eq!(code, 2, "{err}");
    assert!(err.contains("cannot write to pipe: Broken pipe"), "{err}");
}

#[test]
#[cfg(target_os = "linux")]
fn unusual_file_names_work() {
    use std::os::unix::ffi::OsStrExt as _;
    let folder = tempfile::tempdir().unwrap();
    for name in [&b"-x.bin"[..], b"\xff.bin", b"a b\n.bin"] {
        let name = std::ffi::OsStr::from_bytes(name);
        std::fs::write(folder.path().join(name), bytes(CALL)).unwrap();
        let mut command = wiretool(&["decode", "-f", "json", "--"]);
        let output = command
            .arg(name)
            .current_dir(folder.path())
            .output()
            .unwrap();
        assert_eq!(common::outcome_of(&output).0, 0, "{name:?}");
    }
}

#[test]
fn each_file_is_one_connection() {
    let folder = tempfile::tempdir().unwrap();
    let (a, b) = (
        file(folder.path(), "a", bytes(CALL)),
        file(folder.path(), "b", bytes(ANSWER)),
    );
    let (code, out, _) = run(&["decode", "-f", "json", &a, &b], b"");
    let lines: Vec<serde_json::Value> = out
        .lines()
        .map(|l| serde_json::from_str(l).unwrap())
        .collect();
    let heads: Vec<_> = lines
        .iter()
        .map(|l| {
            (
                l["index"].as_u64(),
                l["conn"].as_u64(),
                l["offset"].as_u64(),
            )
        })
        .collect();
    assert_eq!(
        (code, heads),
        (
            0,
            vec![(Some(0), Some(0), Some(0)), (Some(1), Some(1), Some(0))]
        )
    );
    let (code, out, err) = run(&["decode", "-f", "json", &a, "/none", &b], b"");
    assert_eq!((code, out.lines().count()), (2, 2));
    assert!(err.contains("/none"));
}

#[test]
fn file_pairs_become_conversations() {
    let folder = tempfile::tempdir().unwrap();
    let to_executor = "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"ready\"}\n{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":[\"0x1\"]}\n";
    let to_oracle = "{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{}}\n{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"invoke\",\"params\":{\"selector\":\"f\",\"calldata\":[]}}\n{\"jsonrpc\":\"2.0\",\"method\":\"shutdown\"}\n";
    let c2s = file(folder.path(), "c2s", to_oracle.as_bytes());
    let s2c = file(folder.path(), "s2c", to_executor.as_bytes());
    let (code, out, err) = run(&["decode", "--c2s", &c2s, "--s2c", &s2c], b"");
    assert_eq!((code, err.as_str()), (0, ""));
    let kinds: Vec<&str> = out
        .lines()
        .map(|l| l.split_whitespace().nth(3).unwrap())
        .collect();
    assert_eq!(kinds, ["ready", "ack", "invoke", "result", "shutdown"]);
    assert_eq!(run(&["decode", "--c2s", &c2s], b"").0, 2);
}

/// A dump without one of its lines has the same messages in a pair as alone.
#[test]
fn gaps_of_dumps_are_gaps_in_pairs() {
    let folder = tempfile::tempdir().unwrap();
    let lines = |rest: &str| {
        let all = (1..4).map(|id| format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},{rest}}}\n"));
        all.collect::<String>()
    };
    let asks = lines("\"method\":\"echo\",\"params\":{\"text\":\"aaaaaaaaaaaaaaaa\"}");
    let s2c = file(folder.path(), "s2c", lines("\"result\":1").as_bytes());
    let dump = |without: usize| {
        let rows = asks.as_bytes().chunks(16).enumerate();
        let rows = rows.filter(|(n, _)| *n != without);
        rows.fold(String::new(), |all, (n, row)| {
            let groups = row.chunks(2).map(|group| {
                let bytes = group.iter().map(|byte| format!("{byte:02x}"));
                bytes.collect::<String>() + " "
            });
            let text = String::from_utf8_lossy(row).replace('\n', ".");
            let groups = groups.collect::<String>();
            format!("{all}{:08x}: {groups:<40} {text}\n", n * 16)
        })
    };
    let places = |args: &[&str]| {
        let (_, out, err) = run(
            &[&["decode", "-f", "json", "-p", "jsonrpc"], args].concat(),
            b"",
        );
        let all = out.lines().map(|line| serde_json::from_str(line).unwrap());
        let own = all.filter(|one: &serde_json::Value| one["dir"] == "c2s");
        let own = own.map(|one| {
            (
                one["offset"].clone(),
                one["len"].clone(),
                one["faults"].clone(),
            )
        });
        (own.collect::<Vec<_>>(), err)
    };
    // Without the second line, the offsets may be octal.
    for without in 2..asks.len().div_ceil(16) - 1 {
        let c2s = file(folder.path(), "c2s.xxd", dump(without).as_bytes());
        let (pair, reported) = places(&["--c2s", &c2s, "--s2c", &s2c]);
        let (alone, _) = places(&["--dir", "c2s", &c2s]);
        assert_eq!(pair, alone, "{without}");
        let (from, to) = (without * 16, without * 16 + 16);
        let note = format!("bytes {from} to {to} of the dump are missing");
        assert!(reported.contains(&note), "{reported}");
        assert!(reported.contains("got a gap of 16 bytes"), "{reported}");
    }
}

#[test]
fn unknown_messages_have_no_protocol() {
    let (code, out, err) = run(&["decode", "-f", "json"], b"{\"id\":0,\"result\":{}}\n");
    assert_eq!((code, out.as_str()), (1, ""));
    assert!(err.contains("no protocol recognises these bytes"), "{err}");
}

#[test]
fn a_message_that_several_dialects_have_is_jsonrpc() {
    let (code, out, err) = run(
        &["decode", "-f", "json"],
        b"{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{}}\n",
    );
    assert_eq!((code, err.as_str()), (0, ""));
    assert!(out.contains(r#""protocol":"jsonrpc""#), "{out}");
}

#[test]
fn common_mistakes_get_a_hint() {
    for (words, wanted) in [
        ("make sael", "wiretool make sael --list"),
        (
            "record -p oracle ./oracle",
            "give a command to run after --: wiretool record -p oracle -- ./oracle",
        ),
        ("proxy --connect 7700", "tcp://127.0.0.1:7700"),
        ("proxy --listen :7700", "use --connect tcp://HOST:PORT"),
        (
            "proxy --listen tcp://127.0.0.1:0 --connect quic://127.0.0.1:1",
            "both addresses must be quic://",
        ),
        (
            "proxy --rewrite-host --connect quic://127.0.0.1:1",
            "not supported over QUIC",
        ),
        ("lint --explain seq-gab", "did you mean saikuro/seq-gap?"),
        ("decod", "tip: wiretool decode"),
    ] {
        let words: Vec<&str> = words.split(' ').collect();
        let (code, out, err) = run(&words, b"");
        assert_eq!((code, out.as_str()), (2, ""), "{words:?}");
        assert!(err.contains(wanted), "{words:?}: {err}");
    }
    let help = run(&["decode", "--help"], b"");
    assert_eq!(run(&["help", "decode"], b""), help);
    let (_, _, err) = run(&["record", "-p"], b"");
    assert!(!err.contains("run after --"), "{err}");
}

#[test]
fn bytes_after_head_are_not_reported() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/cli/pow.jsonl");
    for head in ["1", "4"] {
        let (code, out, err) = run(
            &["decode", "--lint", "-f", "line", "--head", head, path],
            b"",
        );
        assert_eq!((code, err.as_str()), (0, ""));
        assert_eq!(out.lines().count().to_string(), head);
    }
}

#[test]
fn recordings_are_decoded() {
    let line = r#"{"wiretool":1,"protocol":"saikuro","started":"2026-11-21T10:00:00.000000000Z","transport":"tcp"}"#;
    let chunk = |conn: u32, dir: &str, dump: &str| {
        use base64::Engine as _;
        let b64 = base64::engine::general_purpose::STANDARD.encode(bytes(dump));
        format!("{{\"t\":1000000,\"conn\":{conn},\"dir\":\"{dir}\",\"b64\":\"{b64}\"}}")
    };
    let torn = [
        line.to_owned(),
        chunk(3, "c2s", CALL),
        chunk(3, "s2c", ANSWER),
    ]
    .join("\n");
    let (code, out, err) = run(&["decode", "-f", "json"], torn.as_bytes());
    assert_eq!(code, 0, "{err}");
    let lines: Vec<serde_json::Value> = out
        .lines()
        .map(|l| serde_json::from_str(l).unwrap())
        .collect();
    assert_eq!(lines.len(), 2);
    assert_eq!(
        (&lines[1]["conn"], &lines[1]["dir"]),
        (&3.into(), &"s2c".into())
    );
    assert_eq!(lines[1]["time"], "2026-11-21T10:00:00.001000000Z");
    assert!(!err.is_empty(), "a missing end line is worth a note");
    let (code, out, _) = run(&["decode", "-f", "json", "--dir", "s2c"], torn.as_bytes());
    assert_eq!((code, out.lines().count()), (0, 1));
}

#[test]
fn growing_file_is_followed() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(folder.path(), "grows", bytes(CALL));
    let mut child = wiretool(&["decode", "-f", "line", "--follow", &path])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    lines.read_line(&mut line).unwrap();
    assert!(line.contains("call"));
    let mut grown = std::fs::File::options().append(true).open(&path).unwrap();
    grown.write_all(&bytes(ANSWER)).unwrap();
    line.clear();
    lines.read_line(&mut line).unwrap();
    assert!(line.contains("response"));
    // It ends when its output is closed.
    drop(lines);
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

/// After the end line of a recording no message can decide between protocols any more.
#[test]
fn a_complete_recording_that_is_followed_shows_its_messages() {
    let folder = tempfile::tempdir().unwrap();
    let recording = concat!(
        "{\"wiretool\":1,\"started\":\"2026-01-01T00:00:00Z\"}\n",
        "{\"t\":1,\"conn\":1,\"dir\":\"c2s\",\"text\":\"{\\\"jsonrpc\\\":\\\"2.0\\\",\\\"id\\\":1,\\\"method\\\":\\\"ping\\\"}\\n\"}\n",
        "{\"t\":2,\"event\":\"end\"}\n",
    );
    let path = file(folder.path(), "complete", recording);
    let mut child = wiretool(&["decode", "-f", "line", "--follow", &path])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    lines.read_line(&mut line).unwrap();
    assert!(line.contains("ping"), "{line}");
    drop(lines);
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

/// The position of a program in a file.
#[cfg(target_os = "linux")]
fn reads_at(pid: &str, path: &str) -> Option<u64> {
    let path = std::fs::canonicalize(path).ok()?;
    let open = std::fs::read_dir(format!("/proc/{pid}/fd")).ok()?;
    let fd = open
        .flatten()
        .find(|fd| std::fs::read_link(fd.path()).is_ok_and(|to| to == path))?;
    let number = fd.file_name().into_string().ok()?;
    let info = std::fs::read_to_string(format!("/proc/{pid}/fdinfo/{number}")).ok()?;
    info.lines()
        .find_map(|line| line.strip_prefix("pos:"))?
        .trim()
        .parse()
        .ok()
}

/// After an interrupt the summary covers what was read by then.
#[cfg(target_os = "linux")]
#[test]
fn signal_ends_reading_but_not_writing() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(folder.path(), "grows", bytes(CALL));
    // The last message is not complete yet, which is not a fault.
    let mut grown = std::fs::File::options().append(true).open(&path).unwrap();
    grown.write_all(&bytes(ANSWER)[..9]).unwrap();
    let len = grown.metadata().unwrap().len();
    let out = folder.path().join("out").display().to_string();
    for (signal, want) in [("INT", 130), ("TERM", 143)] {
        for args in [
            &["-f", "json", "-o", &out, &path][..],
            &["--tail", "1", "-f", "json", &path],
        ] {
            let mut child = wiretool(&["decode", "--follow", "-p", "saikuro"])
                .args(args)
                .stdout(Stdio::piped())
                .spawn()
                .unwrap();
            let pid = child.id().to_string();
            // No line before its end says that everything was read.
            common::wait_until("it has read all", || reads_at(&pid, &path) == Some(len));
            let sent = Command::new("kill").args(["-s", signal, &pid]).status();
            assert!(sent.unwrap().success());
            let mut shown = String::new();
            let mut stdout = child.stdout.take().unwrap();
            stdout.read_to_string(&mut shown).unwrap();
            assert_eq!(child.wait().unwrap().code(), Some(want), "{args:?}");
            shown += &std::fs::read_to_string(&out).unwrap_or_default();
            assert!(shown.contains("\"kind\":\"call\""), "{args:?}: {shown:?}");
            assert_eq!(shown.lines().count(), 1, "{args:?}: {shown:?}");
            let _ = std::fs::remove_file(&out);
        }
    }
    let left = std::fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(left, 1, "something is left beside the capture");
}

#[test]
fn each_limit_has_flag_and_error() {
    let call = bytes(CALL);
    for (args, flag) in [
        (["--max-message", "16"], "--max-message"),
        (["--max-depth", "1"], "--max-depth"),
    ] {
        let (code, out, _) = run(
            &[&["decode", "-p", "saikuro", "-f", "line"][..], &args].concat(),
            &call,
        );
        assert_eq!(code, 1);
        assert!(out.contains(flag), "{out}");
    }
    for bad in ["0", "5G", "x", "-1"] {
        assert_eq!(run(&["decode", "--max-message", bad], &call).0, 2, "{bad}");
    }
}

#[test]
fn bad_frames_are_skipped_or_end_the_run() {
    let broken = bytes(&format!("{CALL}ffffffff0102030405060708{ANSWER}{CALL}"));
    let (code, out, _) = run(&["decode", "-p", "saikuro", "-f", "json"], &broken);
    assert_eq!((code, out.lines().count()), (1, 4));
    let (code, out, _) = run(
        &["decode", "-p", "saikuro", "-f", "json", "--no-resync"],
        &broken,
    );
    assert_eq!((code, out.lines().count()), (1, 2));
}

#[test]
fn schema_names_equal_output_keys() {
    let (code, out, err) = run(&["decode", "--print-schema"], b"");
    assert_eq!((code, err.as_str()), (0, ""));
    let schema: serde_json::Value = serde_json::from_str(&out).unwrap();
    let known: Vec<&String> = schema["properties"].as_object().unwrap().keys().collect();
    let broken = bytes(&format!("{CALL}{ANSWER}00000001c1"));
    let (_, mut out, _) = run(&["decode", "-f", "json"], &broken);
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures");
    for name in [
        "sael/fragmented.hex",
        "sael/header-tcp.hex",
        "stepflow/http-sse.jsonl",
    ] {
        let exact = [
            "decode",
            "-f",
            "json",
            "--exact",
            &format!("{folder}/{name}"),
        ];
        out += &run(&exact, b"").1;
    }
    let wires: Vec<&String> = schema["$defs"]["wire"]["properties"]
        .as_object()
        .unwrap()
        .keys()
        .collect();
    for line in out.lines() {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        let line = line.as_object().unwrap();
        assert!(line.keys().all(|key| known.contains(&key)), "{line:?}");
        if let Some(wire) = line.get("wire") {
            let wire = wire.as_object().unwrap();
            assert!(wire.keys().all(|key| wires.contains(&key)), "{line:?}");
        }
        for key in schema["required"].as_array().unwrap() {
            assert!(line.contains_key(key.as_str().unwrap()), "{line:?}");
        }
    }
}

#[test]
fn exact_adds_keys_and_verify_compares() {
    let (code, _, err) = run(&["decode", "--exact"], &bytes(CALL));
    assert_eq!(code, 2);
    assert!(err.contains("-f json"), "{err}");
    let lines = b"{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":[1] }\r\n{\"jsonrpc\":";
    let args = ["decode", "-p", "oracle", "--dir", "s2c"];
    let plain = run(&[&args[..], &["-f", "json"]].concat(), lines).1;
    let exact = run(&[&args[..], &["-f", "json", "--exact"]].concat(), lines).1;
    assert!(
        !plain.contains("\"wire\"") && exact.contains(r#""wire":{"eol":"\r\n"}"#),
        "{exact}"
    );
    // This test checks the round trip, not the validity.
    let (code, out, _) = run(&[&args[..], &["--verify"]].concat(), lines);
    assert_eq!(code, 0);
    let last = "2 frames: 2 identical (1 line end), 0 by their bytes alone, 0 different";
    assert_eq!(out.lines().last(), Some(last), "{out}");
    let (code, _, _) = run(&["decode", "--verify", "-f", "json"], lines);
    assert_eq!(code, 2);
}

#[test]
fn output_is_independent_of_environment() {
    let fixture = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/telequick/events.hex");
    let plain = wiretool(&["decode", fixture]).output().unwrap();
    let other = wiretool(&["decode", fixture])
        .envs([("TZ", "Asia/Tokyo"), ("LC_ALL", "C")])
        .output()
        .unwrap();
    assert!(!plain.stdout.is_empty());
    assert_eq!(plain.stdout, other.stdout);
}
