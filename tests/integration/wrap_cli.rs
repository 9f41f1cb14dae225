//! `wiretool wrap` and `wiretool unwrap`, and the recordings that have a name but no path.

use crate::common::{self, Ran};
use std::fs::Permissions;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::Command;

/// A home folder with configurations of clients.
struct Home(tempfile::TempDir);

/// Configurations as people write them; each has the server `one`, which is `cat`.
const CONFIGS: &[(&str, &str)] = &[
    (
        ".cursor/mcp.json",
        "\u{feff}{\r\n\t// mine\r\n\t\"mcpServers\": {\r\n\t\t\"one\": {\r\n\t\t\t\"command\": \"cat\",\r\n\t\t\t\"args\": [\"-u\",],\r\n\t\t},\r\n\t}\r\n}\r\n",
    ),
    (
        ".claude.json",
        "{\"n\":1e400,\"projects\":{\"/a b\":{\"mcpServers\":{\"one\":{\"type\":\"stdio\",\"command\":\"cat\",\"env\":{\"K\":\"é\"}}}}}}",
    ),
    (
        ".config/zed/settings.json",
        "// Zed\n{\"context_servers\": {\"one\": {\"command\": {\"path\": \"cat\", \"args\": []}}}, \"lsp\": {\"x\": {\"settings\": {}}}}",
    ),
    (
        ".codex/config.toml",
        "model = \"x\" # mine\n[mcp_servers.one]\ncommand = 'cat'\n\n[mcp_servers.one.env]\nK = \"v\"\n",
    ),
    (
        ".config/helix/languages.toml",
        "language-server = { one = { command = \"cat\", args = [\n  \"-u\", # why\n] } }\n",
    ),
    (
        ".gemini/settings.json",
        "{\"mcpServers\":{\"one\":{\"command\":\"cat\",\"args\":[\"-u\"]}}}",
    ),
    (
        ".codeium/windsurf/mcp_config.json",
        "{\"mcpServers\": {\"one\": {\"args\": [\"-u\"], \"command\": \"cat\", \"disabled\": false}}}\n",
    ),
    (
        ".config/Code/User/mcp.json",
        "{ \"servers\": { \"one\": { \"type\": \"stdio\", \"command\": \"cat\" /* x */ , \"args\": [ ] } } }",
    ),
];

impl Home {
    fn new() -> Self {
        Self(tempfile::tempdir_in(common::temporary()).unwrap())
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path().join(name)).unwrap()
    }

    fn command(&self) -> Command {
        let mut command = common::wiretool();
        let command_line = command.current_dir(self.path()).env("HOME", self.path());
        command_line
            .env_remove("XDG_STATE_HOME")
            .env_remove("XDG_CONFIG_HOME")
            .env("COLUMNS", "200");
        command
    }

    fn run(&self, args: &[&str]) -> Ran {
        common::run(self.command().args(args), "")
    }
}

#[test]
fn wrapped_servers_are_recorded_and_restored_byte_for_byte() {
    for (name, text) in CONFIGS {
        let home = Home::new();
        home.write(name, text);
        let (code, out, err) = home.run(&["wrap"]);
        assert_eq!((code, &*err), (0, ""), "{name}");
        assert!(out.contains("one  stdio     cat"), "{name}: {out}");
        assert_eq!(home.read(name), *text, "{name}: a list changes nothing");
        let (code, out, _) = home.run(&["wrap", "--dry-run", "one"]);
        assert_eq!(code, 0, "{name}");
        assert!(
            out.contains("\"record\", \"-p\", ") && out.contains("\"-w\", \"@one\", \"--\""),
            "{name}: {out}"
        );
        assert_eq!(home.read(name), *text, "{name}: --dry-run changes nothing");
        let (code, _, err) = home.run(&["wrap", "one"]);
        assert_eq!(code, 0, "{name}: {err}");
        assert!(
            err.contains("wiretool watch @one; undo: wiretool unwrap one"),
            "{err}"
        );
        assert_ne!(home.read(name), *text, "{name}");
        let out = home.run(&["wrap"]).1;
        assert!(out.contains("one  recorded  cat"), "{name}: {out}");
        let (code, _, err) = home.run(&["wrap", "one"]);
        assert_eq!(
            (code, err.contains("one is recorded already")),
            (0, true),
            "{err}"
        );
        let (code, _, err) = home.run(&["unwrap", "one"]);
        assert_eq!(code, 0, "{name}: {err}");
        assert_eq!(home.read(name), *text, "{name}");
        let (code, _, err) = home.run(&["unwrap", "--all"]);
        assert_eq!(
            (code, &*err),
            (1, "wiretool: no server is recorded\n"),
            "{name}"
        );
    }
}

#[test]
fn folders_of_clients_come_from_the_environment() {
    for (variable, name, client) in [
        ("CODEX_HOME", "config.toml", "codex"),
        ("CLAUDE_CONFIG_DIR", ".claude.json", "claude-code"),
        ("GEMINI_CLI_HOME", ".gemini/settings.json", "gemini-cli"),
        ("XDG_CONFIG_HOME", "helix/languages.toml", "helix"),
        ("XDG_CONFIG_HOME", "zed/settings.json", "zed"),
        ("XDG_CONFIG_HOME", "Code/User/mcp.json", "vscode"),
    ] {
        let home = Home::new();
        let text = match client {
            "codex" => "[mcp_servers.one]\ncommand = 'cat'\n",
            "helix" => "[language-server.one]\ncommand = 'cat'\n",
            "zed" => "{\"context_servers\": {\"one\": {\"command\": \"cat\"}}}",
            "vscode" => "{\"servers\": {\"one\": {\"command\": \"cat\"}}}",
            _ => "{\"mcpServers\": {\"one\": {\"command\": \"cat\"}}}",
        };
        home.write(&format!("own/{name}"), text);
        let mut command = home.command();
        command.env(variable, home.path().join("own"));
        let (_, out, err) = common::run(command.args(["wrap", "--client", client]), "");
        assert!(out.contains("one  stdio  "), "{client}: {out}{err}");
    }
}

#[test]
fn servers_can_be_items_of_lists() {
    let text = r#"{"mcpServers":[{"name":"a","command":"cat"},{"command":"tac"}],
"experimental":{"modelContextProtocolServers":[{"transport":{"command":"rev","args":[]}}]},"own":[["sort"]]}"#;
    let home = Home::new();
    home.write("x.json", text);
    let (_, out, _) = home.run(&["wrap", "--in", "x.json"]);
    let rows: Vec<_> = out.lines().skip(1).map(str::trim).collect();
    assert_eq!(
        rows,
        ["a  stdio     cat", "1  stdio     tac", "0  stdio     rev"]
    );
    for args in [
        &["a"][..],
        &["1"],
        &["--entry", "mcpServers[1]"],
        &[
            "--entry",
            "experimental.modelContextProtocolServers[0].transport",
        ],
    ] {
        let (code, _, err) = home.run(&[&["wrap", "--in", "x.json"], args].concat());
        assert_eq!(code, 0, "{args:?}: {err}");
        assert!(home.read("x.json").contains("\"record\""), "{args:?}");
        let (code, _, err) = home.run(&[&["unwrap", "--in", "x.json"], args].concat());
        assert_eq!(
            (code, home.read("x.json").as_str()),
            (0, text),
            "{args:?}: {err}"
        );
    }
    let (code, _, err) = home.run(&["wrap", "--in", "x.json", "--entry", "mcpServers[7]"]);
    assert!(code == 2 && err.contains("there is no [7]"), "{err}");
}

#[test]
fn servers_with_one_name_have_recordings_of_their_own() {
    let home = Home::new();
    home.write(
        ".gemini/settings.json",
        "{\"mcpServers\":{\"s\":{\"command\":\"cat\"}}}",
    );
    home.write(
        ".cursor/mcp.json",
        "{\"mcpServers\":{\"s\":{\"command\":\"cat\"},\"a b\":{\"command\":\"cat\"},\"a/b\":{\"command\":\"cat\"}}}",
    );
    for (client, server, start) in [
        ("gemini-cli", "s", "\"@s-gemini-cli\""),
        ("cursor", "s", "\"@s-cursor\""),
        ("cursor", "a b", "\"@a-b-806c5cd3\""),
        ("cursor", "a/b", "\"@a-b-07f4401c\""),
    ] {
        let (_, out, _) = home.run(&["wrap", "--dry-run", "--client", client, server]);
        assert!(out.contains(start), "{client} {server}: {out}");
    }
}

#[test]
fn what_is_not_understood_is_not_changed() {
    let home = Home::new();
    for (text, wanted) in [
        (
            "{\"mcpServers\":{\"one\":{\"command\":\"a\",\"command\":\"b\"}}}",
            "the key command is there twice",
        ),
        (
            "{\"mcpServers\":{\"one\":{\"command\":\"a\",\"args\":\"b\"}}}",
            "args is not a list of texts",
        ),
        ("{\"mcpServers\":", "x.json: it is not JSON"),
        (
            "{\"mcpServers\":[\"one\",{\"name\":\"one\"}]}",
            "x.json has no table of servers that is known; --entry names",
        ),
        (
            "{\"mcpServers\":{\"two\":{\"command\":\"a\"}}}",
            "no server has the name one: there are two",
        ),
        (
            "{\"servers\":{\"one\":{\"command\":\"a\"}},\"mcpServers\":{\"one\":{\"command\":\"a\"}}}",
            "one is there 2 times",
        ),
    ] {
        home.write("x.json", text);
        let (code, out, err) = home.run(&["wrap", "--in", "x.json", "one"]);
        assert_eq!((code, &*out), (2, ""), "{err}");
        assert!(err.contains(wanted), "{err}");
        assert_eq!(home.read("x.json"), text);
    }
    home.write(
        "x.json",
        "{\"mcpServers\":{\"one\":{\"url\":\"https://h.example/mcp\"}}}",
    );
    let (code, _, err) = home.run(&["wrap", "--in", "x.json", "one"]);
    assert_eq!(code, 1);
    assert!(
        err.contains("--connect https://h.example/mcp --rewrite-host"),
        "{err}"
    );
    assert!(err.contains("/mcp\n"), "{err}");
}

#[test]
fn errors_of_toml_are_one_line_with_one_name() {
    let home = Home::new();
    for (text, wanted) in [
        (
            "[mcp_servers.one\n",
            "x.toml:1: unclosed table, expected `]`",
        ),
        (
            "[mcp_servers.one]\ncommand = \"a\n",
            "x.toml:2: invalid basic string, expected `\"`",
        ),
        (
            "[mcp_servers.one]\ncommand = 5\n",
            "x.toml: mcp_servers.one: command is neither text nor a list that begins with text",
        ),
    ] {
        home.write("x.toml", text);
        let (code, out, err) = home.run(&["wrap", "--in", "x.toml", "one"]);
        assert_eq!(
            (code, &*out, &*err),
            (2, "", &*format!("wiretool: {wanted}\n"))
        );
    }
    // The list has the name above.
    let (_, out, _) = home.run(&["wrap", "--in", "x.toml"]);
    let wanted =
        "x.toml\n  one  unreadable  command is neither text nor a list that begins with text\n";
    assert_eq!(out, wanted);
    // --config names the settings of wiretool.
    home.write(".mcp.json", "{\"mcpServers\":{}}");
    let (code, _, err) = home.run(&["wrap", "--config", ".mcp.json"]);
    assert_eq!(code, 2);
    assert!(err.contains("wiretool wrap --in .mcp.json"), "{err}");
}

#[test]
fn links_and_modes_stay() {
    let home = Home::new();
    home.write(
        "real.json",
        "{\"mcpServers\":{\"one\":{\"command\":\"cat\"}}}",
    );
    let (real, link) = (home.path().join("real.json"), home.path().join("link.json"));
    symlink(&real, &link).unwrap();
    let mode = |mode| std::fs::set_permissions(&real, Permissions::from_mode(mode)).unwrap();
    mode(0o640);
    let at = ["--in", "link.json", "--entry", "mcpServers.one"];
    let (code, _, err) = home.run(&[&["wrap"], &at[..]].concat());
    assert_eq!(code, 0, "{err}");
    assert!(
        err.contains("undo: wiretool unwrap --in link.json --entry mcpServers.one"),
        "{err}"
    );
    assert!(link.is_symlink() && home.read("real.json").contains("@one"));
    assert_eq!(real.metadata().unwrap().permissions().mode() & 0o777, 0o640);
    mode(0o440);
    let (code, _, err) = home.run(&[&["unwrap"], &at[..]].concat());
    assert_eq!((code, err.contains("it is read-only")), (2, true), "{err}");
}

#[test]
fn named_recordings_are_found_by_every_command() {
    let home = Home::new();
    let message = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n";
    for name in ["one", "two"] {
        let mut command = home.command();
        command.args(["record", "-w", &format!("@{name}"), "--", "cat"]);
        let (code, out, err) = common::run(&mut command, message);
        assert_eq!((code, &*out), (0, message), "{err}");
        let folder = home
            .path()
            .join(".local/state/wiretool/recordings")
            .join(name);
        assert!(err.contains(folder.to_str().unwrap()), "{err}");
        let file = folder.read_dir().unwrap().next().unwrap().unwrap();
        // A long recording goes on in other files.
        let part = file
            .file_name()
            .to_string_lossy()
            .ends_with("-000001.jsonl");
        assert!(part, "{file:?}");
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(
            folder.metadata().unwrap().permissions().mode() & 0o777,
            0o700
        );
    }
    for (args, wanted) in [
        (&["decode", "@one"][..], "ping"),
        (&["@last"], "ping"),
        (&["stat", "@two"], "2 messages"),
        (&["diff", "@one", "@last"], "no difference"),
        (&["redact", "@one"], "{\"wiretool\":1"),
        (
            &[
                "stub",
                "jsonrpc",
                "--from-recording",
                "@one",
                "--print-script",
            ],
            "ping",
        ),
    ] {
        let (_, out, err) = home.run(args);
        assert!(
            format!("{out}{err}").contains(wanted),
            "{args:?}: {out}{err}"
        );
    }
    let (code, _, err) = home.run(&["decode", "@three"]);
    assert_eq!(code, 2);
    assert!(
        err.contains("no recording has the name three: there are @last, @one, @two"),
        "{err}"
    );
}

#[test]
fn a_launcher_records_a_command() {
    let home = Home::new();
    let (code, _, err) = home.run(&[
        "wrap",
        "--launcher",
        "rec",
        "--",
        "sh",
        "-c",
        "cat; echo \"$0 $1\"",
        "a b",
    ]);
    assert_eq!(code, 0, "{err}");
    let mut command = Command::new(home.path().join("rec"));
    let command = command
        .arg("c d")
        .env("HOME", home.path())
        .env_remove("XDG_STATE_HOME");
    let (code, out, err) = common::run(command, "in\n");
    assert_eq!((code, &*out), (0, "in\na b c d\n"), "{err}");
    let folder = home.path().join(".local/state/wiretool/recordings/rec");
    let file = folder.read_dir().unwrap().next().unwrap().unwrap();
    let text = std::fs::read_to_string(file.path()).unwrap();
    assert!(text.contains("a b c d"), "{text}");
    let (code, _, err) = home.run(&["wrap", "--launcher", "rec", "--", "cat"]);
    assert_eq!((code, err.contains("File exists")), (2, true), "{err}");
}
