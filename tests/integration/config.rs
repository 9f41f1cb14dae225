//! Settings: their order of precedence, their files, and the errors of invalid ones.

use crate::common;
use std::fs;
use std::process::Stdio;
use tempfile::TempDir;

/// An oracle message that also fits stepflow.
const ANSWER: &str = "{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{}}\n";
const HELLO: &str = "{\"v\":1,\"kind\":\"HEY\",\"agent\":{\"id\":\"a\",\"kind\":\"llm\",\"name\":\"A\"},\"capabilities\":[],\"auth\":{\"token\":\"sael_secret\"}}\n";

/// A repository with a folder in it, and the settings of a user.
struct TestProject {
    root: TempDir,
}

impl TestProject {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        for folder in ["project/.git", "project/deep/er", "user/wiretool"] {
            fs::create_dir_all(root.path().join(folder)).unwrap();
        }
        let place = Self { root };
        place.file("project/deep/answer.txt", ANSWER);
        place.file("project/hello.txt", HELLO);
        place
    }

    fn path(&self, path: &str) -> std::path::PathBuf {
        self.root.path().join(path)
    }

    fn file(&self, path: &str, text: &str) {
        fs::write(self.path(path), text).unwrap();
    }

    fn project(&self, text: &str) {
        self.file("project/wiretool.toml", text);
    }

    fn user(&self, text: &str) {
        self.file("user/wiretool/config.toml", text);
    }

    /// Exit code, stdout and stderr of a command in `project/deep`; words with `=` before the command are variables.
    fn run(&self, words: &[&str]) -> (i32, String, String) {
        self.run_in("project/deep", words)
    }

    fn run_in(&self, folder: &str, words: &[&str]) -> (i32, String, String) {
        let mut command = common::wiretool();
        let mut words = words.iter().peekable();
        command.env("XDG_CONFIG_HOME", self.path("user"));
        while let Some((name, value)) = words.peek().and_then(|word| word.split_once('=')) {
            command.env(name, value);
            words.next();
        }
        let output = command
            .args(words)
            .current_dir(self.path(folder))
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let text = |bytes: &[u8]| {
            let text = String::from_utf8_lossy(bytes).into_owned();
            let root = self.root.path().canonicalize().unwrap();
            text.replace(&root.display().to_string(), "")
                .replace(&self.root.path().display().to_string(), "")
        };
        let code = output.status.code().unwrap_or(-1);
        (code, text(&output.stdout), text(&output.stderr))
    }

    /// The line of `config show --origin` for a setting.
    fn config_line(&self, words: &[&str], key: &str) -> String {
        let words = [words, &["config", "show", "--origin", "-f", "text"]].concat();
        let (code, out, err) = self.run(&words);
        assert_eq!(code, 0, "{err}");
        let line = out
            .lines()
            .find(|line| line.split_whitespace().next() == Some(key));
        let words: Vec<&str> = line
            .unwrap_or_default()
            .split_whitespace()
            .skip(1)
            .collect();
        words.join(" ")
    }
}

#[test]
fn precedence_is_flag_variable_project_user_default() {
    let place = TestProject::new();
    assert_eq!(place.config_line(&[], "color"), "auto default");
    place.user("# mine\ncolor = \"always\"\n");
    assert_eq!(
        place.config_line(&[], "color"),
        "always /user/wiretool/config.toml:2"
    );
    place.project("\n\ncolor = \"never\"\n");
    assert_eq!(
        place.config_line(&[], "color"),
        "never /project/wiretool.toml:3"
    );
    assert_eq!(
        place.config_line(&["WIRETOOL_COLOR=auto"], "color"),
        "auto WIRETOOL_COLOR"
    );
    assert_eq!(
        place.config_line(&["WIRETOOL_COLOR=auto", "--color", "always"], "color"),
        "always --color"
    );
    assert_eq!(
        place.config_line(&["WIRETOOL_COLOR="], "color"),
        "never /project/wiretool.toml:3"
    );
    assert_eq!(
        place.config_line(&["WIRETOOL_FORMAT=json"], "format"),
        "json WIRETOOL_FORMAT"
    );
}

#[test]
fn effective_setting_is_used() {
    let place = TestProject::new();
    let colored = |words: &[&str]| {
        place
            .run(&[words, &["decode", "-q", "-p", "oracle", "answer.txt"]].concat())
            .1
            .contains('\u{1b}')
    };
    assert!(!colored(&[]));
    place.user("color = \"always\"");
    assert!(colored(&[]));
    place.project("color = \"never\"");
    assert!(!colored(&[]));
    assert!(colored(&["WIRETOOL_COLOR=always"]));
    assert!(!colored(&["WIRETOOL_COLOR=always", "--color", "never"]));

    place.project("format = \"json\"\nprotocol = \"stepflow\"");
    let out = place.run(&["decode", "answer.txt"]).1;
    assert!(
        out.starts_with('{') && out.contains("\"protocol\":\"stepflow\""),
        "{out}"
    );
    let out = place
        .run(&["WIRETOOL_PROTOCOL=oracle", "decode", "answer.txt"])
        .1;
    assert!(out.contains("\"protocol\":\"oracle\""), "{out}");
    let out = place
        .run(&[
            "WIRETOOL_PROTOCOL=stepflow",
            "decode",
            "-p",
            "oracle",
            "-f",
            "line",
            "answer.txt",
        ])
        .1;
    assert!(!out.starts_with('{') && out.contains("ack"), "{out}");
    // A format that a command does not have is ignored; help shows the default.
    place.project("format = \"hex\"");
    assert_eq!(place.run(&["lint", "-p", "oracle", "answer.txt"]).0, 0);
    assert!(
        place
            .run(&["decode", "--help"])
            .1
            .contains("[default: 128]")
    );
}

#[test]
fn limits_and_secrets_are_settings() {
    let place = TestProject::new();
    place.project("max-depth = 2\nmax-message = 40");
    let (code, out, _) = place.run(&["decode", "-f", "json", "../hello.txt"]);
    assert_eq!(code, 1, "{out}");
    let (code, ..) = place.run(&[
        "decode",
        "-f",
        "json",
        "--max-message",
        "1K",
        "--max-depth",
        "9",
        "../hello.txt",
    ]);
    assert_eq!(code, 0);
    place.project("");
    let tells = |words: &[&str]| {
        place
            .run(&[words, &["decode", "-f", "tree", "../hello.txt"]].concat())
            .1
            .contains("sael_secret")
    };
    assert!(!tells(&[]));
    assert!(tells(&["WIRETOOL_SHOW_SECRETS=true"]));
    place.user("show-secrets = true");
    assert!(tells(&[]));
    assert!(!tells(&["WIRETOOL_SHOW_SECRETS=false"]));
}

#[test]
fn project_cannot_set_private_keys() {
    let place = TestProject::new();
    for (text, key) in [
        ("show-secrets = true", "show-secrets"),
        ("show-secrets = false", "show-secrets"),
        ("listen = \"tcp://0.0.0.0:1\"", "listen"),
        ("command = \"sh\"", "command"),
    ] {
        place.project(&format!("color = \"never\"\n{text}"));
        let (code, out, err) = place.run(&["decode", "answer.txt"]);
        assert_eq!((code, out.as_str()), (2, ""));
        assert_eq!(
            err,
            format!(
                "wiretool: /project/wiretool.toml:2: a project's file cannot set {key}: only the user's file, a variable or a flag can\n"
            )
        );
    }
    // A named file is not trusted more.
    place.file("project/other.toml", "show-secrets = true");
    place.project("");
    assert_eq!(
        place
            .run(&["--config", "../other.toml", "decode", "answer.txt"])
            .0,
        2
    );
}

#[test]
fn unknown_keys_and_bad_values_are_errors() {
    let place = TestProject::new();
    place.project("[ignore]\npath = []\n[rules]\n\"oracle/malformd\" = \"off\"\n[[files]]\nmatch = \"x\"\nframin = \"lines\"\n[colour]\n");
    let (code, out, err) = place.run(&["decode", "-q", "-p", "oracle", "answer.txt"]);
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    let (code, _, err) = place.run(&["decode", "-p", "oracle", "answer.txt"]);
    assert_eq!(code, 0);
    insta::assert_snapshot!(err, @"
    wiretool: /project/wiretool.toml:2: unknown key ignore.path: did you mean paths?
    wiretool: /project/wiretool.toml:4: unknown rule oracle/malformd: did you mean oracle/malformed?
    wiretool: /project/wiretool.toml:7: unknown key files.framin: did you mean framing?
    wiretool: /project/wiretool.toml:8: unknown key colour: did you mean color?
    ");
    for (text, want) in [
        (
            "format = \"jsn\"",
            "1: format: wanted one of tree, line, json, hex, got \"jsn\"",
        ),
        (
            "\nmax-depth = 5000",
            "2: max-depth: wanted a number from 1 to 1000, got 5000",
        ),
        (
            "max-message = \"lots\"",
            "1: max-message: wanted a number of bytes below 4G, such as 65536 or \"16M\", got \"lots\"",
        ),
        (
            "color = [1]",
            "1: color: wanted one of auto, always, never, got [1]",
        ),
        ("rules = 7", "1: rules: wanted a table, got 7"),
        (
            "[rules]\n\"oracle/*\" = \"bad\"",
            "2: rules.\"oracle/*\": wanted one of off, info, warning, error, got \"bad\"",
        ),
        (
            "[ignore]\npaths = \"x\"",
            "2: ignore.paths: wanted a list of paths, got \"x\"",
        ),
        (
            "[[files]]\nmatch = \"x\"\ndir = \"up\"",
            "3: files.dir: wanted one of c2s, s2c, got \"up\"",
        ),
    ] {
        place.project(text);
        let (code, out, err) = place.run(&["decode", "answer.txt"]);
        assert_eq!((code, out.as_str()), (2, ""), "{text}");
        assert_eq!(err, format!("wiretool: /project/wiretool.toml:{want}\n"));
    }
    place.project("signature = [\"pow(\"]");
    let (code, _, err) = place.run(&["decode", "answer.txt"]);
    assert!(
        code == 2 && err.contains("wiretool.toml:1: signature: wanted a signature"),
        "{err}"
    );
    place.project("format = = 1");
    let (code, _, err) = place.run(&["decode", "answer.txt"]);
    assert!(
        code == 2 && err.contains("/project/wiretool.toml:1: "),
        "{err}"
    );
    place.project("");
    let (code, _, err) = place.run(&["WIRETOOL_MAX_DEPTH=deep", "decode", "answer.txt"]);
    assert_eq!(code, 2);
    assert_eq!(
        err,
        "wiretool: WIRETOOL_MAX_DEPTH: wanted a number from 1 to 1000, got \"deep\"\n"
    );
    let (code, _, err) = place.run(&["--config", "none.toml", "decode", "answer.txt"]);
    assert!(code == 2 && err.contains("cannot read none.toml"), "{err}");
}

#[test]
fn nearest_project_file_is_used() {
    let place = TestProject::new();
    place.project("max-depth = 3");
    for folder in ["project", "project/deep", "project/deep/er"] {
        let (_, out, _) = place.run_in(folder, &["config", "show"]);
        assert!(out.contains("max-depth     3"), "{folder}: {out}");
    }
    // Files above the root of the repository are ignored.
    fs::remove_file(place.path("project/wiretool.toml")).unwrap();
    place.file("wiretool.toml", "max-depth = 4");
    assert_eq!(place.config_line(&[], "max-depth"), "128 default");
    place.file("project/ci.toml", "max-depth = 5");
    assert_eq!(
        place.config_line(&["--config", "../ci.toml"], "max-depth"),
        "5 ../ci.toml:1"
    );
    assert_eq!(
        place.config_line(&["WIRETOOL_CONFIG=../ci.toml"], "max-depth"),
        "5 ../ci.toml:1"
    );
}

#[test]
fn path_selects_the_protocol() {
    let place = TestProject::new();
    let rules = "[[files]]\nmatch = \"deep/*.txt\"\nprotocol = \"stepflow\"\ndir = \"s2c\"\n[[files]]\nmatch = \"*\"\nprotocol = \"oracle\"\n";
    place.project(rules);
    let reads = |folder: &str, words: &[&str]| {
        let (_, out, err) = place.run_in(folder, &[words, &["-q", "-f", "json"]].concat());
        let line: serde_json::Value =
            serde_json::from_str(out.lines().next().unwrap_or("null")).unwrap();
        let text = |key: &str| line[key].as_str().unwrap_or("-").to_owned();
        assert!(!line.is_null(), "{err}");
        (text("protocol"), text("dir"))
    };
    let is = |protocol: &str, dir: &str| (protocol.to_owned(), dir.to_owned());
    assert_eq!(
        reads("project", &["decode", "deep/answer.txt"]),
        is("stepflow", "s2c")
    );
    assert_eq!(
        reads("project/deep", &["decode", "answer.txt"]),
        is("stepflow", "s2c")
    );
    assert_eq!(
        reads("project/deep/er", &["decode", "../answer.txt"]),
        is("stepflow", "s2c")
    );
    assert_eq!(
        reads("project/deep", &["decode", "--dir", "c2s", "answer.txt"]),
        is("stepflow", "c2s")
    );
    assert_eq!(
        reads("project/deep", &["decode", "-p", "oracle", "answer.txt"]),
        is("oracle", "s2c")
    );
    assert_eq!(
        reads(
            "project/deep",
            &["WIRETOOL_PROTOCOL=oracle", "decode", "answer.txt"]
        ),
        is("oracle", "s2c")
    );
    place.project(&format!("protocol = \"oracle\"\n{rules}"));
    assert_eq!(
        reads("project/deep", &["decode", "answer.txt"]),
        is("stepflow", "s2c")
    );
    fs::copy(
        place.path("project/deep/answer.txt"),
        place.path("project/other.txt"),
    )
    .unwrap();
    assert_eq!(
        reads("project/deep", &["decode", "../other.txt"]),
        is("oracle", "-")
    );
}

#[test]
fn settings_of_one_protocol_apply_to_it_only() {
    let place = TestProject::new();
    place.file("project/own.tq", "struct Extra { 1: u8 x }\n");
    place.project("signature = [\"pow(u256) -> u256\"]\n");
    // The flag would select oracle; the setting does not.
    let (code, out, err) = place.run(&["decode", "-f", "json", "../hello.txt"]);
    assert!(
        code == 0 && out.contains("\"protocol\":\"sael\""),
        "{out}{err}"
    );
    let call = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"invoke\",\"params\":{\"selector\":\"pow\",\"calldata\":[\"0x2\",\"0x0\"]}}\n";
    place.file("project/call.txt", call);
    let with = place.run(&["decode", "-f", "tree", "../call.txt"]).1;
    place.project("");
    let without = place.run(&["decode", "-f", "tree", "../call.txt"]).1;
    let flag = place
        .run(&[
            "decode",
            "-f",
            "tree",
            "--signature",
            "pow(u256) -> u256",
            "../call.txt",
        ])
        .1;
    assert_ne!(with, without);
    assert_eq!(with, flag);
    // Paths are relative to the folder of the file.
    place.project("schema = \"own.tq\"");
    assert_eq!(
        place.config_line(&[], "schema"),
        "/project/own.tq /project/wiretool.toml:1"
    );
    place.project("schema = \"none.tq\"");
    let (code, _, err) = place.run(&["decode", "answer.txt"]);
    assert!(code == 2 && err.contains("/project/none.tq"), "{err}");
}

#[test]
fn rule_settings_change_the_exit_code() {
    let place = TestProject::new();
    place.file("project/bad.txt", "{\"jsonrpc\"\n");
    let lint = |words: &[&str]| {
        place
            .run(&[words, &["lint", "-q", "-p", "oracle", "../bad.txt"]].concat())
            .0
    };
    assert_eq!(lint(&[]), 1);
    place.user("[rules]\n\"oracle/*\" = \"off\"\n");
    assert_eq!(lint(&[]), 0);
    place.project("[rules]\n\"*\" = \"warning\"\n");
    assert_eq!(lint(&[]), 0, "a warning");
    assert_eq!(lint(&["WIRETOOL_FAIL_ON=warning"]), 1);
    let denied = place
        .run(&[
            "lint",
            "-q",
            "-p",
            "oracle",
            "--deny",
            "oracle/*",
            "../bad.txt",
        ])
        .0;
    assert_eq!(denied, 1, "a flag outweighs files");
}

#[test]
fn ignored_differences_are_settings() {
    let place = TestProject::new();
    for (name, value) in [("a", 1), ("b", 2)] {
        place.file(
            &format!("project/{name}.txt"),
            &ANSWER.replace("{}", &format!("{{\"at\":{value}}}")),
        );
    }
    let diff = ["diff", "-q", "-p", "stepflow", "../a.txt", "../b.txt"];
    assert_eq!(place.run(&diff).0, 1);
    place.project("[ignore]\npaths = [\"**.at\"]\n");
    assert_eq!(place.run(&diff).0, 0, "{:?}", place.run(&diff));
}

#[test]
fn settings_print_as_json() {
    let place = TestProject::new();
    place.project("signature = [\"pow(u256) -> u256\"]\nmax-depth = 64\n[[files]]\nmatch = \"*.bin\"\nframing = \"lines\"\n");
    let (code, out, _) = place.run(&["config", "show", "-f", "json"]);
    assert_eq!(code, 0);
    insta::assert_snapshot!(out, @r#"
    {"key":"protocol","value":null,"origin":"default"}
    {"key":"format","value":null,"origin":"default"}
    {"key":"color","value":"auto","origin":"default"}
    {"key":"max-message","value":"16M","origin":"default"}
    {"key":"max-depth","value":64,"origin":"/project/wiretool.toml:2","file":"/project/wiretool.toml","line":2}
    {"key":"jobs","value":"auto","origin":"default"}
    {"key":"dialect","value":"both","origin":"default"}
    {"key":"fail-on","value":"error","origin":"default"}
    {"key":"show-secrets","value":false,"origin":"default"}
    {"key":"schema","value":null,"origin":"default"}
    {"key":"signature","value":["pow(u256) -> u256"],"origin":"/project/wiretool.toml:1","file":"/project/wiretool.toml","line":1}
    {"key":"ignore.paths","value":[],"origin":"default"}
    {"key":"files[0]","value":{"framing":"lines","match":"/project/*.bin"},"origin":"/project/wiretool.toml:3","file":"/project/wiretool.toml","line":3}
    "#);
}

#[test]
fn project_paths_are_files_inside_the_project() {
    let place = TestProject::new();
    place.file("outside.idl", "limit depth = 9;\n");
    place.file("project/inside.idl", "limit depth = 9;\n");
    let fifo = place.path("project/fifo.idl");
    assert!(
        std::process::Command::new("mkfifo")
            .arg(&fifo)
            .status()
            .unwrap()
            .success()
    );
    std::os::unix::fs::symlink(place.path("outside.idl"), place.path("project/link.idl")).unwrap();
    for (schema, good) in [
        ("inside.idl", true),
        ("deep/../inside.idl", true),
        ("../outside.idl", false),
        ("link.idl", false),
        ("fifo.idl", false),
        ("deep", false),
        ("/dev/zero", false),
        ("/etc/passwd", false),
    ] {
        place.project(&format!("schema = {schema:?}\n"));
        let (code, _, sent) = place.run(&["decode", "answer.txt", "-p", "oracle"]);
        assert_eq!(code != 2, good, "{schema}: {sent}");
        assert_eq!(
            sent.contains("the path of a file of this project"),
            !good,
            "{sent}"
        );
    }
    // A user who names the settings file may also name other files.
    let named = place.path("project/wiretool.toml").display().to_string();
    place.project("schema = \"../outside.idl\"\n");
    let (code, _, sent) = place.run(&["--config", &named, "decode", "answer.txt", "-p", "oracle"]);
    assert_eq!(code, 0, "{sent}");
}

#[test]
fn settings_and_schemas_have_size_limits() {
    let place = TestProject::new();
    place.project(&format!("#{}\n", "x".repeat(1 << 20)));
    let (code, _, sent) = place.run(&["decode", "answer.txt"]);
    assert_eq!(code, 2);
    assert!(
        sent.contains("wiretool.toml is larger than 1024 KiB"),
        "{sent}"
    );
    place.project("");
    let args = ["decode", "answer.txt", "--schema", "/dev/zero"];
    let (code, _, sent) = place.run(&args);
    assert_eq!(code, 2);
    assert!(
        sent.contains("/dev/zero is larger than 16384 KiB"),
        "{sent}"
    );
}
