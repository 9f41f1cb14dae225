//! Protocols that files describe, on the command line: those of this crate, and those of a user.

use crate::common::{self, Ran, file, run, wiretool};
use crate::stub_and_replay::Stub;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::Digest as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The protocols of this crate that files describe.
const EMBEDDED: [&str; 4] = ["dap", "cdp", "nvim", "i3"];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The recording of a protocol among the fixtures.
fn session(protocol: &str) -> String {
    format!("fixtures/{protocol}/session.jsonl")
}

fn ran(args: &[&str]) -> Ran {
    run(wiretool().current_dir(root()).args(args), "")
}

/// A new folder for a test.
fn folder(name: &str) -> PathBuf {
    let folder = common::temporary().join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

#[test]
fn described_protocols_are_detected_and_have_no_finding() {
    for protocol in EMBEDDED {
        let (code, out, err) = ran(&["lint", &session(protocol)]);
        assert_eq!((code, out.as_str()), (0, ""), "{protocol}: {err}");
        let (code, out, _) = ran(&["decode", "-f", "json", &session(protocol)]);
        let mine = format!(r#""protocol":"{protocol}""#);
        let all = out.lines().all(|line| line.contains(&mine));
        assert!(code == 0 && all, "{out}");
    }
}

#[test]
fn described_messages_are_encoded_as_they_were() {
    for protocol in EMBEDDED {
        let (code, _, err) = ran(&["decode", "--verify", &session(protocol)]);
        assert_eq!(code, 0, "{protocol}: {err}");
    }
}

#[test]
fn described_recordings_are_counted_compared_and_stored() {
    for protocol in EMBEDDED {
        let path = session(protocol);
        let (code, out, err) = ran(&["stat", &path]);
        assert!(
            code == 0 && out.contains("request"),
            "{protocol}: {out}{err}"
        );
        let (code, out, err) = ran(&["diff", &path, &path]);
        assert_eq!((code, out.as_str()), (0, ""), "{protocol}: {err}");
        let folder = folder(&format!("described-snapshot-{protocol}"));
        let copy = file(
            &folder,
            "session.jsonl",
            std::fs::read(root().join(&path)).unwrap(),
        );
        let (code, _, err) = ran(&["snapshot", "test", &copy]);
        assert_eq!(code, 1, "{protocol}: {err}");
        let (code, _, err) = ran(&["snapshot", "accept", &copy]);
        assert_eq!(code, 0, "{protocol}: {err}");
        let (code, out, err) = ran(&["snapshot", "test", &copy]);
        assert_eq!(code, 0, "{protocol}: {out}{err}");
    }
}

/// A stub that answers from the recording of a fixture satisfies a replay of it.
fn play(protocol: &str, scheme: &str) {
    let path = root().join(session(protocol));
    let stub = Stub::start(protocol, scheme, &path).unwrap_or_else(|error| panic!("{error}"));
    let connect = ["--connect", stub.1.as_str()];
    let mut command = wiretool();
    command.arg("replay").arg(&path).args(connect);
    let (code, out, err) = run(&mut command, "");
    assert_eq!(code, 0, "{protocol}: {out}{err}");
}

#[test]
fn recordings_of_dap_are_played() {
    play("dap", "tcp");
}

#[test]
fn recordings_of_cdp_are_played() {
    play("cdp", "ws");
}

#[test]
fn recordings_of_nvim_are_played() {
    play("nvim", "tcp");
}

#[test]
fn recordings_of_i3_are_played() {
    play("i3", "tcp");
}

#[test]
fn texts_of_regular_expressions_are_only_read() {
    let folder = folder("described-read-only");
    let text = "name = \"log\"\nframings = [\"lines\"]\nencodings = [\"text\"]\ntext = [{ regex = '^(?<level>\\w+) (?<text>.*)$' }]\n[[message]]\nwhen = \".level\"\nrole = \"notification\"\nsubject = \".level\"\n";
    let log = file(&folder, "log.toml", text);
    let input = file(&folder, "log.txt", "INFO up\n");
    let (code, out, err) = ran(&["decode", "-p", &log, "-f", "json", &input]);
    let message = r#""message":{"level":"INFO","text":"up"}"#;
    assert!(code == 0 && out.contains(message), "{out}{err}");
    for args in [
        &["encode", "-p", &log, &input][..],
        &["make", &log, "notification", "INFO"],
        &[
            "send",
            &log,
            "notification",
            "INFO",
            "--connect",
            "tcp://127.0.0.1:1",
        ],
        &["stub", &log, "--listen", "tcp://127.0.0.1:0"],
        &[
            "replay",
            "-p",
            &log,
            &input,
            "--connect",
            "tcp://127.0.0.1:1",
        ],
    ] {
        let want =
            "wiretool: log is only read: regular expressions describe its texts, no template\n";
        assert_eq!(ran(args), (2, String::new(), want.to_owned()), "{args:?}");
    }
}

#[test]
fn a_request_is_sent_to_a_stub_and_recorded() {
    let stub = Stub::start("dap", "tcp", &root().join(session("dap")));
    let stub = stub.unwrap_or_else(|error| panic!("{error}"));
    let recording = folder("described-send").join("session.jsonl");
    let mut command = wiretool();
    command.args([
        "send",
        "dap",
        "request",
        "threads",
        "--connect",
        &stub.1,
        "-f",
        "json",
        "-w",
    ]);
    let (code, out, err) = run(command.arg(&recording), "");
    assert_eq!(code, 0, "{out}{err}");
    let answer = r#""command":"threads","body":{"threads":[{"id":1,"name":"MainThread"}]}"#;
    assert!(out.contains(answer), "{out}{err}");
    let recording = recording.to_str().unwrap();
    let (code, out, err) = ran(&["lint", recording]);
    assert_eq!((code, out.as_str()), (0, ""), "{err}");
    assert!(!err.contains("description"), "{err}");
    // Another description of that name gives one note.
    let own = std::fs::read_to_string(root().join("src/protocol/described/dap.toml")).unwrap();
    let path = file(
        &folder("described-changed"),
        "dap.toml",
        format!("{own}\n# mine\n"),
    );
    let header = std::fs::read_to_string(recording).unwrap();
    let hash = hex::encode(sha2::Sha256::digest(&own));
    let first = header.lines().next().unwrap();
    assert!(
        first.contains(&format!(
            r#""description":{{"name":"dap","sha256":"{hash}"}}"#
        )),
        "{first}"
    );
    let (code, _, err) = ran(&["lint", "-p", &path, recording]);
    let note = format!("it was recorded with another description of dap: SHA-256 {hash}");
    assert!(code == 0 && err.matches(&note).count() == 1, "{err}");
}

/// Runs in a folder, with a folder of settings.
fn within(folder: &Path, config: &Path, args: &[&str]) -> Ran {
    let mut command: Command = wiretool();
    command.current_dir(folder).env("XDG_CONFIG_HOME", config);
    run(command.args(args), "")
}

/// A protocol of a user, with a name.
fn quiz(name: &str) -> String {
    format!(
        "name = \"{name}\"\nframings = [\"lines\"]\n[[message]]\nwhen = \".ask and .of={name}\"\nrole = \"request\"\nid = \".ask\"\nsubject = \".of\"\ncertain = true\n"
    )
}

#[test]
fn descriptions_are_found_in_the_project_and_the_folder_of_the_user() {
    let folder = folder("described-project");
    let config = folder.join("config");
    std::fs::create_dir_all(config.join("wiretool/protocols")).unwrap();
    file(
        &config.join("wiretool/protocols"),
        "mine.toml",
        quiz("mine"),
    );
    file(&folder, "ours.toml", quiz("ours"));
    file(&folder, "wiretool.toml", "protocols = [\"ours.toml\"]\n");
    file(
        &folder,
        "input.txt",
        "{\"ask\":1,\"of\":\"ours\"}\n{\"ask\":2,\"of\":\"mine\"}\n",
    );
    for (name, index) in [("ours", 0), ("mine", 1)] {
        let args = [
            "decode",
            "-f",
            "json",
            "-p",
            name,
            "--where",
            "kind=request",
            "input.txt",
        ];
        let (code, out, err) = within(&folder, &config, &args);
        let start = format!(r#"{{"v":1,"index":{index},"#);
        assert!(
            code == 0 && out.lines().count() == 1 && out.starts_with(&start),
            "{out}{err}"
        );
    }
    let (_, out, _) = within(&folder, &config, &["decode", "-f", "json", "input.txt"]);
    assert!(out.contains(r#""protocol":"ours""#), "{out}");
    let (code, out, _) = within(&folder, &config, &["--help"]);
    assert!(
        code == 0 && out.contains("ours") && out.contains("mine"),
        "{out}"
    );
}

/// A recording is read with the description that it names, from its folder or the working folder.
#[test]
fn descriptions_are_found_beside_recordings() {
    let above = folder("described-beside");
    let folder = above.join("captures");
    std::fs::create_dir_all(&folder).unwrap();
    let config = above.join("config");
    let text = quiz("beside");
    file(&folder, "mine.toml", &text);
    file(&folder, "wiretool.toml", "protocols = [\"same.toml\"]\n");
    file(&folder, "same.toml", &text);
    file(&folder, "input.txt", "{\"ask\":1,\"of\":\"beside\"}\n");
    // The same text twice is one description.
    let args = ["decode", "-p", "mine.toml", "-w", "s.jsonl", "input.txt"];
    let (code, _, err) = within(&folder, &config, &args);
    assert_eq!(code, 0, "{err}");
    let header = std::fs::read_to_string(folder.join("s.jsonl")).unwrap();
    let hash = hex::encode(sha2::Sha256::digest(&text));
    let named =
        format!(r#""description":{{"file":"same.toml","name":"beside","sha256":"{hash}"}}"#);
    assert!(header.contains(&named), "{header}");
    std::fs::remove_file(folder.join("wiretool.toml")).unwrap();
    let known = |command: &str, folder: &Path, file: &str| {
        let (code, out, err) = within(folder, &config, &[command, file]);
        assert!(code == 0 && out.contains("beside"), "{out}{err}");
        assert!(!err.contains("description"), "{err}");
    };
    known("decode", &folder, "s.jsonl");
    known("stat", &above, "captures/s.jsonl");
    // The name of the protocol is enough, also in the working folder.
    std::fs::rename(folder.join("same.toml"), above.join("beside.toml")).unwrap();
    std::fs::remove_file(folder.join("mine.toml")).unwrap();
    known("decode", &above, "captures/s.jsonl");
    // A recording names no file of another folder.
    std::fs::create_dir_all(above.join("other")).unwrap();
    std::fs::rename(above.join("beside.toml"), above.join("other/same.toml")).unwrap();
    let moved = header.replace("same.toml", "../other/same.toml");
    file(&folder, "s.jsonl", moved);
    for command in ["decode", "replay"] {
        let connect = ["--connect", "unix:none.sock"];
        let more = if command == "replay" {
            &connect[..]
        } else {
            &[]
        };
        let args = [&[command, "s.jsonl"], more].concat();
        let (code, _, err) = within(&folder, &config, &args);
        let text = "it is a recording of beside, which is not known here: name its description with -p FILE.toml";
        assert!(code > 0 && err.contains(text), "{err}");
    }
}

/// Logs of described messages in JSON are read as those of built-in protocols, also inside of objects with numbers.
#[test]
fn logs_of_described_messages_are_read() {
    let folder = folder("described-logs");
    let config = folder.join("config");
    let player = "name = \"player\"\nframings = [\"lines\"]\n\
        [[message]]\nwhen = \".command\"\nrole = \"request\"\nid = \".request_id\"\nsubject = \".command[0]\"\n\
        [[message]]\nwhen = \".error\"\nrole = \"response\"\nid = \".request_id\"\n";
    file(&folder, "player.toml", player);
    let dap = [
        r#"{"seq":1,"type":"request","command":"initialize","arguments":{"adapterID":"x"}}"#,
        r#"{"seq":1,"type":"response","request_seq":1,"success":true,"command":"initialize","body":{}}"#,
    ];
    let cdp = [
        r#"{"id":1,"method":"Browser.getVersion"}"#,
        r#"{"id":1,"result":{"protocolVersion":"1.3"}}"#,
    ];
    let own = [
        r#"{"command":["get_version"],"request_id":1}"#,
        r#"{"error":"success","data":1,"request_id":1}"#,
    ];
    let arrows = |[asks, says]: [&str; 2]| format!("--> {asks}\n<-- {says}\n");
    let wrapped = |[asks, says]: [&str; 2]| {
        format!(
            "{{\"id\":1,\"dir\":\"out\",\"payload\":{asks}}}\n{{\"id\":2,\"dir\":\"in\",\"payload\":{says}}}\n"
        )
    };
    let lines = |[asks, says]: [&str; 2]| format!("{asks}\n{says}\n");
    let (to, from) = (r#""dir":"c2s""#, r#""dir":"s2c""#);
    for (protocols, messages) in [
        (&["", "dap"][..], dap),
        (&["", "cdp"], cdp),
        (&["player.toml"], own),
    ] {
        for (text, first, second) in [
            (arrows(messages), to, from),
            (wrapped(messages), to, from),
            (lines(messages), "", ""),
        ] {
            for protocol in protocols {
                let input = file(&folder, "input.log", &text);
                let mut args = vec!["decode", "-f", "json", "--lint", &input];
                if !protocol.is_empty() {
                    args.extend(["-p", protocol]);
                }
                let (code, out, err) = within(&folder, &config, &args);
                let lines: Vec<_> = out.lines().collect();
                let [asks, says] = &lines[..] else {
                    panic!("{text}{out}{err}");
                };
                assert!(asks.contains(first) && says.contains(second), "{out}");
                let pair = asks.contains(r#""role":"request""#) && says.contains(r#""reply_to":0"#);
                assert!(code == 0 && pair, "{text}{out}{err}");
            }
        }
    }
}

#[test]
fn flags_of_a_child_are_its_own() {
    let folder = folder("described-child");
    let config = folder.join("config");
    file(&folder, "server.json", "{\"port\":1}\n");
    let args = [
        "record",
        "-q",
        "-w",
        "out.jsonl",
        "--",
        "true",
        "--config",
        "server.json",
    ];
    let (code, _, err) = within(&folder, &config, &args);
    assert_eq!((code, err.as_str()), (0, ""));
}

#[test]
fn descriptions_that_cannot_be_used_are_reported() {
    let folder = folder("described-errors");
    let config = folder.join("config");
    file(&folder, "wrong.toml", quiz("quiz").replace("role", "rol"));
    file(&folder, "taken.toml", quiz("jsonrpc"));
    file(&folder, "better.toml", quiz("dap"));
    file(&folder, "input.txt", "{\"ask\":1,\"of\":\"dap\"}\n");
    let (code, _, err) = within(
        &folder,
        &config,
        &["decode", "-p", "wrong.toml", "input.txt"],
    );
    assert!(
        code == 2 && err.contains("wrong.toml:5:1: unknown key rol: did you mean role?"),
        "{err}"
    );
    let (code, _, err) = within(
        &folder,
        &config,
        &["decode", "-p", "taken.toml", "input.txt"],
    );
    assert!(
        code == 2 && err.contains("there is a protocol with the name jsonrpc already"),
        "{err}"
    );
    let (code, _, err) = within(
        &folder,
        &config,
        &["decode", "-p", "none.toml", "input.txt"],
    );
    assert!(code == 2 && err.contains("cannot read none.toml"), "{err}");
    // A description replaces one of this program.
    let (code, out, err) = within(
        &folder,
        &config,
        &["decode", "-f", "json", "-p", "better.toml", "input.txt"],
    );
    assert!(
        code == 0 && out.contains(r#""protocol":"dap","kind":"request""#),
        "{out}{err}"
    );
    // The project ends here.
    std::fs::create_dir_all(folder.join(".git")).unwrap();
    let outside = "protocols = [\"../outside.toml\"]\n";
    file(&folder, "wiretool.toml", outside);
    file(common::temporary(), "outside.toml", quiz("outside"));
    let (code, _, err) = within(&folder, &config, &["decode", "input.txt"]);
    assert!(
        code == 2 && err.contains("wanted the path of a file of this project"),
        "{err}"
    );
    file(&folder, "wiretool.toml", "protocols = [\"wrong.toml\"]\n");
    let (code, _, err) = within(&folder, &config, &["decode", "input.txt"]);
    assert!(code == 2 && err.contains("unknown key rol"), "{err}");
    // Its name cannot be known.
    let args = ["decode", "-p", "wrong", "input.txt"];
    let (code, _, err) = within(&folder, &config, &args);
    assert!(code == 2 && err.contains("unknown key rol"), "{err}");
}

#[cfg(unix)]
#[test]
fn schemas_are_beside_their_description() {
    let folder = folder("described-schema");
    let inside = folder.join("inside");
    std::fs::create_dir_all(inside.join("types")).unwrap();
    let schema = r#"{"$defs": {"ask": {"properties": {"of": {"const": "quiz"}, "ask": {"$ref": "number.json"}}}}}"#;
    file(&inside, "quiz.json", schema);
    file(
        &inside.join("types"),
        "number.json",
        "{\"type\": \"integer\"}",
    );
    file(&folder, "outside.json", schema);
    std::os::unix::fs::symlink("../outside.json", inside.join("link.json")).unwrap();
    let text = |name: &str| {
        format!(
            "schema = \"{name}\"\nschema-dir = \"types\"\n{}",
            quiz("quiz")
        )
    };
    let right = file(&inside, "quiz.toml", text("quiz.json"));
    let input = file(&folder, "input.txt", "{\"ask\":\"1\",\"of\":\"quiz\"}\n");
    let (code, out, err) = ran(&["lint", "--fail-on", "error", "-p", &right, &input]);
    let want = "quiz/wrong-type: #0 · ask: message.ask is a string; it must be an integer";
    assert!(out.contains(want), "{code} {out}{err}");
    for (name, want) in [
        (
            "link.json",
            "wanted a file in the folder of the description, got link.json",
        ),
        (
            "types",
            "wanted a file in the folder of the description, got types",
        ),
        ("none.json", "cannot read"),
        (
            "../outside.json",
            "wanted a path in the folder of the description",
        ),
    ] {
        let path = file(&inside, "wrong.toml", text(name));
        let (code, out, err) = ran(&["protocol", "check", &path]);
        assert_eq!(
            (
                code,
                out.contains("wrong.toml:1:10: schema: "),
                out.contains(want)
            ),
            (1, true, true),
            "{out}{err}"
        );
    }
    // A link to a file of the same folder is no way out.
    let other = inside.join("types/number.json");
    std::fs::remove_file(&other).unwrap();
    std::os::unix::fs::symlink("/etc/hostname", &other).unwrap();
    let (_, out, err) = ran(&["lint", "--fail-on", "never", "-p", &right, &input]);
    assert!(out.contains("quiz/not-checked: #0"), "{out}{err}");
}

#[test]
fn descriptions_are_checked() {
    let folder = folder("described-check");
    let right = file(&folder, "right.toml", quiz("quiz"));
    let wrong = file(
        &folder,
        "wrong.toml",
        quiz("quiz").replace("role", "rol").replace("id =", "di ="),
    );
    let (code, out, _) = ran(&["protocol", "check", &right]);
    assert_eq!(
        (code, out.ends_with("quiz is correct, with 2 kinds\n")),
        (0, true),
        "{out}"
    );
    let (code, out, _) = ran(&["protocol", "check", &right, &wrong]);
    assert_eq!((code, out.matches("unknown key").count()), (1, 2), "{out}");
    let taken = file(&folder, "taken.toml", quiz("lsp"));
    let (code, out, _) = ran(&["protocol", "check", &taken]);
    let wanted = "taken.toml:1:8: name: there is a protocol with the name lsp already\n";
    assert_eq!((code, out.contains(wanted)), (1, true), "{out}");
    let (code, _, err) = ran(&["protocol", "check", "none.toml"]);
    assert_eq!((code, err.contains("cannot read")), (2, true), "{err}");
}

#[test]
fn protocols_are_shown() {
    for name in ["dap", "cdp", "nvim", "i3", "saikuro", "telequick", "lsp"] {
        let (code, out, err) = ran(&["protocol", "show", name]);
        assert_eq!(code, 0, "{err}");
        for part in [name, "sides", "framings", "Kinds:", "Rules"] {
            assert!(out.contains(part), "{name}: {part}: {out}");
        }
    }
    let folder = folder("described-show");
    let path = file(&folder, "quiz.toml", quiz("quiz"));
    assert!(ran(&["protocol", "show", &path]).1.starts_with("quiz\n"));
    let (_, text, _) = ran(&["protocol", "show", "dap", "--toml"]);
    let own = file(&folder, "own.toml", text.replace("\"dap\"", "\"own\""));
    let (code, out, _) = ran(&["lint", "-p", &own, &session("dap")]);
    assert_eq!((code, out.as_str()), (0, ""));
    let (code, _, err) = ran(&["protocol", "show", "quiz"]);
    assert!(code == 2 && err.contains("wanted a protocol"), "{err}");
    let wrong = file(&folder, "wrong.toml", "name = \"a\"\nname = 1\n");
    let (code, _, err) = ran(&["protocol", "show", &wrong]);
    assert!(
        code == 2 && err.lines().count() > 1 && !err.contains("\\n"),
        "{err}"
    );
}

/// Values that are marked as volatile are not compared, whatever they are.
#[test]
fn volatile_values_of_every_type_are_not_compared() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let description = "name = \"quiz\"\nframings = [\"lines\"]\n[[message]]\nwhen = \".ask\"\nkind = \"ask\"\nrole = \"notification\"\n[marks]\nvolatile = [\"at\"]\n";
    std::fs::write(path("quiz.toml"), description).unwrap();
    let values = ["1", "null", "true", "\"x\"", "[1]", "{\"a\":1}"];
    for (n, value) in values.iter().enumerate() {
        std::fs::write(
            path(&n.to_string()),
            format!("{{\"ask\":1,\"at\":{value}}}\n"),
        )
        .unwrap();
        let arguments = [
            "diff",
            "-p",
            &path("quiz.toml"),
            &path("0"),
            &path(&n.to_string()),
        ];
        let output = common::wiretool().args(arguments).output().unwrap();
        let shown = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(output.status.code(), Some(0), "{value}: {shown}");
    }
    std::fs::write(path("other"), "{\"ask\":2,\"at\":1}\n").unwrap();
    let arguments = ["diff", "-p", &path("quiz.toml"), &path("0"), &path("other")];
    let output = common::wiretool().args(arguments).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
}

/// What a named protocol writes is shown, although others could have written it.
#[test]
fn written_messages_are_shown_as_the_named_protocol() {
    let arguments = [
        "make",
        "fixtures/cli/greet.toml",
        "say",
        "hello",
        "--to",
        "json",
    ];
    let output = common::wiretool().args(arguments).output().unwrap();
    let line: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        (&line["protocol"], &line["kind"]),
        (&"greet".into(), &"say".into())
    );
}

/// A stub answers in the encoding of each request, and a replay sends each request in its recorded encoding.
#[test]
fn each_message_keeps_its_encoding() {
    use base64::Engine as _;
    let folder = folder("described-encodings");
    let text = "name = \"quiz\"\nframings = [\"prefix\"]\nencodings = [\"json\", \"msgpack\"]\n\
        [[message]]\nwhen = \".ask\"\nkind = \"ask\"\nrole = \"request\"\nid = \".n\"\n\
        [[message]]\nwhen = \".say\"\nkind = \"say\"\nrole = \"response\"\nid = \".n\"\n";
    let description = file(&folder, "quiz.toml", text);
    let mut recording = String::from(
        "{\"wiretool\":1,\"protocol\":\"quiz\",\"transport\":\"tcp\"}\n{\"t\":0,\"conn\":1,\"event\":\"open\"}\n",
    );
    for (n, packed) in [false, true, true, false].into_iter().enumerate() {
        for (direction, key) in [("c2s", "ask"), ("s2c", "say")] {
            let value = serde_json::json!({"n": n, key: "x"});
            let body = if packed {
                rmp_serde::to_vec(&value).unwrap()
            } else {
                value.to_string().into_bytes()
            };
            let bytes = [&(body.len() as u32).to_be_bytes()[..], &body].concat();
            let bytes = base64::engine::general_purpose::STANDARD.encode(bytes);
            recording +=
                &format!("{{\"t\":{n},\"conn\":1,\"dir\":\"{direction}\",\"b64\":\"{bytes}\"}}\n");
        }
    }
    let recording = file(&folder, "quiz.jsonl", recording);
    let stub = Stub::start(&description, "tcp", Path::new(&recording)).unwrap();
    let again = folder.join("again.jsonl").to_str().unwrap().to_owned();
    let arguments = [
        "replay",
        "-p",
        &description,
        &recording,
        "--connect",
        &stub.1,
        "-w",
        &again,
    ];
    let (code, out, err) = ran(&arguments);
    assert_eq!(code, 0, "{out}{err}");
    let exact = |path: &str| {
        let (code, out, err) = ran(&["decode", "-f", "json", "--exact", "-p", &description, path]);
        assert_eq!(code, 0, "{err}");
        let lines = out
            .lines()
            .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
        lines
            .map(|line| (line["dir"].clone(), line["wire"].clone()))
            .collect::<Vec<_>>()
    };
    assert_eq!(exact(&recording), exact(&again));
}

/// A stub names what it does not answer: a message that nothing in the description matches.
#[test]
fn a_stub_names_messages_that_nothing_matches() {
    let folder = folder("described-unmatched");
    let text = "name = \"kv\"\nframings = [\"lines\"]\nencodings = [\"text\"]\ntext = [\"GET {key}\", \"VALUE {text...}\", \"{other...}\"]\npair = \"order\"\n\
        [[message]]\nwhen = \".key\"\nrole = \"request\"\nsubject = \".key\"\n\
        [[message]]\nwhen = \".text\"\nrole = \"response\"\ncontent = \".text\"\n";
    let description = file(&folder, "kv.toml", text);
    let input = file(&folder, "in.txt", "NOPE x y\n");
    let mut stub = wiretool();
    stub.args(["stub", &description]);
    let output = stub
        .stdin(std::fs::File::open(input).unwrap())
        .output()
        .unwrap();
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(
        err.contains("NOPE x y") && err.contains("no answer"),
        "{err}"
    );
}

/// The matches of a pattern are replaced in opaque bytes, too, and a checksum is that of the new bytes.
#[test]
fn a_redacted_frame_has_its_checksum() {
    let folder = folder("described-redact");
    let text = r#"
name = "boxes"
encodings = ["bytes"]
[header]
fields = [
  { name = "magic", magic = [0xaa, 0x55] },
  { name = "length", type = "u8", length = "body" },
]
checksum = { name = "sum", checksum = "crc32" }
[[message]]
role = "notification"
content = ".body"
"#;
    let description = file(&folder, "boxes.toml", text);
    let mut frame = [&[0xaa, 0x55, 18][..], b"\xfftoken=hush-hush1"].concat();
    frame[2] = frame.len() as u8 - 3;
    frame.extend(crc32fast::hash(&frame).to_be_bytes());
    let chunk = STANDARD.encode(&frame);
    let recording =
        format!("{{\"wiretool\":1}}\n{{\"t\":1,\"conn\":1,\"dir\":\"c2s\",\"b64\":\"{chunk}\"}}\n");
    let recording = file(&folder, "in.jsonl", recording);
    let shown = folder.join("out.jsonl");
    let shown = shown.to_str().unwrap();
    let (code, _, err) = ran(&[
        "redact",
        "-p",
        &description,
        "--value",
        "hush-[a-z0-9]+",
        &recording,
        "-o",
        shown,
    ]);
    assert_eq!(code, 0, "{err}");
    let (code, out, err) = ran(&["decode", "-p", &description, "-f", "json", shown]);
    assert_eq!(
        (code, out.contains("bad-checksum")),
        (0, false),
        "{out}{err}"
    );
    let part = |text: &str| hex::encode(text);
    assert!(
        out.contains(&part("token=")) && !out.contains(&part("hush-hush1")),
        "{out}"
    );
}

const KINDS_OF_ANSWERS: &str = r#"
name = "kv"
framings = ["lines"]
[[message]]
when = ".hello"
role = "hello"
[[message]]
when = ".do"
role = "request"
id = ".n"
subject = ".do"
content = ".with"
[[message]]
when = ".re=got"
role = "response"
id = ".n"
answers = ".do=get"
content = ".value"
error = ".code>=400"
outcome = ".code"
text = ".why"
[[message]]
when = ".re=done"
role = "response"
id = ".n"
content = ".with"
[opening]
server = ['{"hello":"kv"}']
"#;

/// A stub begins with the greeting of a description, and chooses the kind of an answer by its request.
#[test]
fn answers_have_the_kind_of_their_request() {
    let folder = folder("described-answers");
    let description = file(&folder, "kv.toml", KINDS_OF_ANSWERS);
    let script = "[[on]]\nmatch = 'subject=get .with=a'\nresult = 5\n[[on]]\nmatch = 'subject=put'\nresult = {}\n\
        [[on]]\nmatch = 'subject=get'\nerror = \"no such key\"\n";
    let script = file(&folder, "script.toml", script);
    let input = "{\"do\":\"get\",\"n\":1,\"with\":\"a\"}\n{\"do\":\"put\",\"n\":2}\n{\"do\":\"get\",\"n\":3,\"with\":\"b\"}\n";
    let input = file(&folder, "in.jsonl", input);
    let mut stub = wiretool();
    stub.args(["stub", &description, "--script", &script]);
    let output = stub
        .stdin(std::fs::File::open(input).unwrap())
        .output()
        .unwrap();
    let lines = [
        r#"{"hello":"kv"}"#,
        r#"{"re":"got","n":1,"value":5}"#,
        r#"{"re":"done","n":2,"with":{}}"#,
        r#"{"re":"got","code":400,"n":3,"why":"no such key"}"#,
    ];
    let err = String::from_utf8_lossy(&output.stderr);
    let out = String::from_utf8_lossy(&output.stdout);
    assert_eq!(out, lines.join("\n") + "\n", "{err}");
    // A whole message of other values is made with paths.
    for (words, want) in [
        (
            &["request", "get", ".with.key=a", ".x[1]=2", "id=7"][..],
            Ok(r#"{"n":7,"do":"get","with":{"key":"a"},"x":[null,2]}"#),
        ),
        (
            &["error", "7", "no", ".code=404"],
            Ok(r#"{"re":"got","code":404,"n":7,"why":"no"}"#),
        ),
        (
            &["error", "7", "no", ".code=4"],
            Err("wanted values with which .code>=400 holds"),
        ),
        (
            &["request", "get", ".do.x=1"],
            Err("wanted a member of an object"),
        ),
    ] {
        let words: Vec<_> = ["make", &description]
            .iter()
            .chain(words)
            .chain(&["--to", "raw"])
            .copied()
            .collect();
        let (code, out, err) = ran(&words);
        match want {
            Ok(want) => assert_eq!((code, out.trim_end()), (0, want), "{words:?}: {err}"),
            Err(want) => assert!(code == 2 && err.contains(want), "{words:?}: {err}"),
        }
    }
}

/// Of several encodings, the first one is written where nothing else decides; `encode --msgpack` writes the other.
#[test]
fn the_first_encoding_is_written() {
    let folder = folder("described-first-encoding");
    for (encodings, is_json) in [
        (r#""json", "msgpack""#, true),
        (r#""msgpack", "json""#, false),
        (r#""json", "cbor""#, true),
    ] {
        let text = format!(
            "name = \"quiz\"\nframings = [\"prefix\"]\nencodings = [{encodings}]\n[[message]]\nwhen = \".ask\"\nrole = \"notification\"\nsubject = \".ask\"\n"
        );
        let description = file(&folder, "quiz.toml", text);
        let made = common::wiretool()
            .args(["make", &description, "notification", "x", "--to", "raw"])
            .output()
            .unwrap();
        let err = String::from_utf8_lossy(&made.stderr);
        assert_eq!(
            made.stdout.get(4) == Some(&b'{'),
            is_json,
            "{encodings}: {:?} {err}",
            made.stdout
        );
    }
}

/// Lines show the requests of answers that repeat nothing of them.
#[test]
fn lines_pair_answers_in_order() {
    let folder = folder("described-order");
    let text = "name = \"quiz\"\nframings = [\"lines\"]\npair = \"order\"\n\
        [[message]]\nwhen = \".ask\"\nrole = \"request\"\nsubject = \".ask\"\ndirection = \"c2s\"\n\
        [[message]]\nrole = \"response\"\ndirection = \"s2c\"\n";
    let description = file(&folder, "quiz.toml", text);
    let asked = file(&folder, "quiz.c2s", "{\"ask\":\"a\"}\n{\"ask\":\"b\"}\n");
    let answered = file(&folder, "quiz.s2c", "{\"say\":1}\n{\"say\":2}\n");
    let files = ["--c2s", &asked, "--s2c", &answered];
    let arguments = [&["decode", "-f", "line", "-p", &description], &files[..]].concat();
    let (code, out, err) = ran(&arguments);
    assert_eq!(code, 0, "{err}");
    let subjects = out
        .lines()
        .map(|line| line.split_whitespace().nth(4).unwrap_or_default());
    assert_eq!(subjects.collect::<Vec<_>>(), ["a", "b", "a", "b"], "{out}");
}

/// An adapter of dap numbers events and answers in the order in which it sends them.
#[test]
fn diff_does_not_take_numbers_of_answers_for_those_of_requests() {
    let folder = folder("dap-numbers");
    let event = |seq: u8| {
        format!(r#"{{"seq":{seq},"type":"event","event":"output","body":{{"output":"x"}}}}"#)
    };
    let answer = |seq: u8, to: u8| {
        format!(
            r#"{{"seq":{seq},"type":"response","request_seq":{to},"command":"threads","success":true,"body":{{"threads":[]}}}}"#
        )
    };
    let request = |seq: u8| format!(r#"{{"seq":{seq},"type":"request","command":"threads"}}"#);
    let asked = [request(1), request(2)];
    let paths = [
        ("a", [event(1), answer(2, 1), answer(3, 2)]),
        ("b", [answer(1, 1), event(2), answer(3, 2)]),
    ]
    .map(|(name, got)| {
        let frame = |text: &String| format!("Content-Length: {}\r\n\r\n{text}", text.len());
        let text = |messages: &[String]| {
            let frames: String = messages.iter().map(frame).collect();
            serde_json::to_string(&frames).unwrap()
        };
        let (c2s, s2c) = (text(&asked), text(&got));
        let path = folder.join(format!("{name}.jsonl"));
        let lines = format!(
            "{{\"wiretool\":1,\"protocol\":\"dap\",\"started\":\"2026-01-01T00:00:00Z\"}}\n\
             {{\"t\":0,\"conn\":1,\"dir\":\"c2s\",\"text\":{c2s}}}\n\
             {{\"t\":1,\"conn\":1,\"dir\":\"s2c\",\"text\":{s2c}}}\n"
        );
        std::fs::write(&path, lines).unwrap();
        path.to_string_lossy().into_owned()
    });
    let (code, out, err) = ran(&["diff", &paths[0], &paths[1]]);
    assert_eq!((code, out.as_str()), (0, ""), "{err}");
}

/// Over HTTP, bodies in any encoding are messages: read, written, answered by a stub and replayed.
#[test]
fn messages_in_each_encoding_pass_http() {
    let folder = folder("described-http");
    let forms = [
        ("json", "application/json", ""),
        ("cbor", "application/cbor", ""),
        ("msgpack", "application/msgpack", ""),
        (
            "text",
            "text/plain; charset=utf-8",
            "text = [\"{op} {id} {more...}\"]\n",
        ),
    ];
    for (encoding, kind, more) in forms {
        let text = format!(
            "name = \"kv\"\nframings = [\"http\"]\nencodings = [\"{encoding}\"]\n{more}\
             [[message]]\nwhen = \".op=get\"\nrole = \"request\"\nid = \".id\"\nsubject = \".op\"\n\
             [[message]]\nwhen = \".op=got,bad\"\nrole = \"response\"\nid = \".id\"\nerror = \".op=bad\"\n"
        );
        let description = file(&folder, &format!("{encoding}.toml"), text);
        let mut recording = String::from(
            "{\"wiretool\":1,\"protocol\":\"kv\",\"transport\":\"tcp\"}\n{\"t\":0,\"conn\":1,\"event\":\"open\"}\n",
        );
        for (dir, op, n) in [
            ("c2s", "get", 1),
            ("s2c", "got", 1),
            ("c2s", "get", 2),
            ("s2c", "bad", 2),
        ] {
            let value = serde_json::json!({"op": op, "id": n, "more": "\u{e9}"});
            let body = match encoding {
                "cbor" => {
                    let mut out = Vec::new();
                    ciborium::into_writer(&value, &mut out).unwrap();
                    out
                }
                "msgpack" => rmp_serde::to_vec(&value).unwrap(),
                "text" => format!("{op} {n} \u{e9}").into_bytes(),
                _ => value.to_string().into_bytes(),
            };
            let start = if dir == "c2s" {
                "POST / HTTP/1.1\r\nhost: h"
            } else {
                "HTTP/1.1 200 OK"
            };
            // Peers often do not know a type for their encoding.
            let head = format!(
                "{start}\r\ncontent-type: application/octet-stream\r\ncontent-length: {}\r\n\r\n",
                body.len()
            );
            let head = if encoding == "json" {
                head.replace("octet-stream", "json")
            } else {
                head
            };
            let bytes = STANDARD.encode([head.as_bytes(), &body].concat());
            recording +=
                &format!("{{\"t\":{n},\"conn\":1,\"dir\":\"{dir}\",\"b64\":\"{bytes}\"}}\n");
        }
        let recording = file(&folder, &format!("{encoding}.jsonl"), recording);
        let (code, out, err) = ran(&[
            "decode",
            "-f",
            "json",
            "--pair",
            "-p",
            &description,
            &recording,
        ]);
        let field = |line: &str, key: &str| {
            serde_json::from_str::<serde_json::Value>(line).unwrap()[key].to_string()
        };
        let roles: Vec<String> = out
            .lines()
            .map(|line| field(line, "role") + &field(line, "reply_to"))
            .collect();
        let want = [
            "\"request\"null",
            "\"response\"0",
            "\"request\"null",
            "\"error\"2",
        ];
        assert!(code == 0 && roles == want, "{encoding}: {roles:?} {err}");
        // A replay against a stub: both write heads of their own.
        let stub = Stub::start(&description, "http", Path::new(&recording)).unwrap();
        let again = folder
            .join(format!("{encoding}-again.jsonl"))
            .to_str()
            .unwrap()
            .to_owned();
        let replay = [
            "replay",
            "-p",
            &description,
            &recording,
            "--connect",
            &stub.1,
            "-w",
            &again,
        ];
        let (code, out, err) = ran(&replay);
        assert_eq!(code, 0, "{encoding}: {out}{err}");
        let (_, out, _) = ran(&[
            "decode",
            "-f",
            "json",
            "--exact",
            "-p",
            &description,
            &again,
        ]);
        let typed = out
            .lines()
            .filter(|line| line.contains(&format!("ontent-type: {kind}\\r\\n")));
        assert_eq!(typed.count(), 4, "{encoding}: {out}");
    }
}

/// A message that cancels a request belongs to its operation.
#[test]
fn cancelled_requests_of_described_protocols_are_cancelled_operations() {
    let folder = folder("described-cancel");
    let text = "name = \"rt\"\nframings = [\"lines\"]\n\
        [[message]]\nwhen = \".q\"\nrole = \"request\"\nid = \".id\"\nsubject = \".q\"\n\
        [[message]]\nwhen = \".stop\"\nkind = \"stop\"\nrole = \"notification\"\ncancels = \".stop\"\n\
        [[message]]\nrole = \"response\"\nid = \".id\"\n";
    let description = file(&folder, "rt.toml", text);
    let mut recording =
        String::from("{\"wiretool\":1,\"protocol\":\"rt\",\"started\":\"2026-01-01T00:00:00Z\"}\n");
    for line in [r#"{"q":"slow","id":3}"#, r#"{"stop":3}"#] {
        let line = serde_json::to_string(&format!("{line}\n")).unwrap();
        recording += &format!("{{\"t\":1,\"conn\":1,\"dir\":\"c2s\",\"text\":{line}}}\n");
    }
    recording += "{\"t\":2,\"event\":\"end\",\"chunks\":2,\"bytes\":{}}\n";
    let recording = file(&folder, "rt.jsonl", recording);
    let (code, out, err) = ran(&["decode", "--ops", "-p", &description, &recording]);
    assert!(code == 0 && out.contains("cancelled"), "{out}{err}");
    assert!(out.contains("1 stop; 2 messages"), "{out}");
}

/// Neovim numbers its clients: the number in the first answer differs from run to run.
#[test]
fn the_channel_of_a_neovim_client_is_no_difference() {
    let recorded = std::fs::read_to_string(root().join(session("nvim"))).unwrap();
    let lines = recorded.lines().map(|line| {
        let mut line: serde_json::Value = serde_json::from_str(line).unwrap();
        if let Some(bytes) = line["b64"].as_str() {
            let mut bytes = STANDARD.decode(bytes).unwrap();
            let info = [1, 0, 0xc0, 0x92, 3];
            if let Some(at) = bytes.windows(5).position(|part| part == info) {
                bytes[at + 4] = 7;
            }
            line["b64"] = STANDARD.encode(bytes).into();
        }
        format!("{line}\n")
    });
    let other: String = lines.collect();
    let folder = folder("described-channel");
    let other = file(&folder, "other.jsonl", other);
    assert_ne!(
        ran(&["decode", &session("nvim")]).1,
        ran(&["decode", &other]).1
    );
    let (code, out, err) = ran(&["diff", &session("nvim"), &other]);
    assert_eq!((code, out.as_str()), (0, ""), "{err}");
    let stub = Stub::start("nvim", "tcp", Path::new(&other)).unwrap();
    let (code, out, err) = ran(&["replay", &session("nvim"), "--connect", &stub.1]);
    assert_eq!(code, 0, "{out}{err}");
}

/// Lines show the pairs that JSON with --pair has: by subject, and on other connections.
#[test]
fn lines_show_the_pairs_of_described_protocols() {
    let folder = folder("described-lines");
    for (name, top, members) in [
        ("subject", "pair = \"subject\"\n", ""),
        ("across", "across-connections = true\n", "id = \".id\"\n"),
        ("order", "pair = \"order\"\nacross-connections = true\n", ""),
    ] {
        let text = format!(
            "name = \"kv\"\nframings = [\"lines\"]\n{top}\
             [[message]]\nwhen = \".q\"\nrole = \"request\"\nsubject = \".q\"\n{members}\
             [[message]]\nrole = \"response\"\nsubject = \".of\"\n{members}"
        );
        let description = file(&folder, &format!("{name}.toml"), text);
        let answers_on = if name == "subject" { 1 } else { 2 };
        let mut recording = String::from(
            "{\"wiretool\":1,\"protocol\":\"kv\",\"started\":\"2026-01-01T00:00:00Z\"}\n{\"t\":0,\"conn\":2,\"event\":\"open\"}\n",
        );
        // By subject, the second request is answered first.
        let order = if name == "order" {
            ["a", "b"]
        } else {
            ["b", "a"]
        };
        let id = |of: &str| u32::from(of == "b");
        let asked = ["a", "b"].map(|of| (1, "c2s", serde_json::json!({"q": of, "id": id(of)})));
        let answered = order.map(|of| {
            (
                answers_on,
                "s2c",
                serde_json::json!({"of": of, "id": id(of)}),
            )
        });
        for (n, (conn, dir, message)) in asked.into_iter().chain(answered).enumerate() {
            let t = n * n * 1_000_000;
            let text = serde_json::to_string(&format!("{message}\n")).unwrap();
            recording +=
                &format!("{{\"t\":{t},\"conn\":{conn},\"dir\":\"{dir}\",\"text\":{text}}}\n");
        }
        let recording = file(&folder, &format!("{name}.jsonl"), recording);
        let (_, json, _) = ran(&[
            "decode",
            "-f",
            "json",
            "--pair",
            "-p",
            &description,
            &recording,
        ]);
        let latencies = json.lines().filter_map(|line| {
            let line: serde_json::Value = serde_json::from_str(line).unwrap();
            Some(format!(" {} ms", line["latency_ms"].as_f64()?))
        });
        let latencies: Vec<String> = latencies.collect();
        assert_eq!(latencies.len(), 2, "{name}: {json}");
        let (_, lines, err) = ran(&["decode", "-f", "line", "-p", &description, &recording]);
        for (line, latency) in lines.lines().skip(2).zip(&latencies) {
            assert!(
                line.contains(latency.as_str()),
                "{name}:{latency} {lines}{err}"
            );
        }
    }
}
