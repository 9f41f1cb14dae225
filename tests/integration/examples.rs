//! Runs every example of `--help` of every command, in a folder with the files that the examples name, and every
//! `wiretool` command in the `sh` blocks of the README and of the topics of `wiretool help`.
//!
//! ```text
//!   wiretool --help -> Commands: -> wiretool decode --help -> Examples: -> sh -c, in a sandbox
//!   README.md, src/cli/topics/*.md -> ```sh -> wiretool ...             -> the same
//! ```
//!
//! The examples of a new command are found automatically. The tables below hold the rest: files in [`Sandbox`],
//! arguments in [`WORDS`], exit codes other than 0 in [`ANSWERS`], peers in [`LIVE`].

use crate::common::{self, help::pages};
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::net::{Ipv4Addr, SocketAddrV4, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixListener;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The time limit of an example.
const LIMIT: Duration = Duration::from_secs(60);

/// Addresses of examples and their replacements: `{tcp}` and `{unix}` have a server.
const WORDS: &[(&str, &str)] = &[
    ("tcp://127.0.0.1:7700", "tcp://{tcp}"),
    ("wss://a.example", "ws://{tcp}"),
    ("wss://agents.example", "ws://{tcp}"),
    ("unix:/run/stepflow.sock", "unix:{unix}"),
    ("tcp://127.0.0.1:7799", "tcp://127.0.0.1:0"),
    ("ws://127.0.0.1:8080", "ws://127.0.0.1:0"),
    ("ws://127.0.0.1:9000", "ws://127.0.0.1:0"),
];

/// Addresses without a server in this test, whatever else runs on the machine.
const PORTS: [&str; 2] = ["127.0.0.1:7700", "127.0.0.1:8080"];

/// Examples with exit code 1, and the reason.
const ANSWERS: &[(&str, i32, &str)] = &[
    ("decode --where fault FILE", 1, "what is shown is at fault"),
    ("decode --where outcome=error", 1, "no call fails"),
    ("decode --grep timeout", 1, "no message has it"),
    ("decode a.pcap", 1, "packets are missing"),
    ("diff yesterday.jsonl today.jsonl", 1, "they differ"),
    (
        "shrink calls.jsonl -o small.jsonl -- ./check.sh",
        2,
        "the script is not there",
    ),
    (
        "shrink calls.jsonl -o small.jsonl --match",
        1,
        "lint finds nothing",
    ),
    (
        "shrink calls.jsonl -o small.jsonl --replay",
        1,
        "no answer differs",
    ),
    ("snapshot review", 2, "it asks, and only on a terminal"),
    ("wiretool watch ", 2, "it needs a terminal"),
    ("replay session.jsonl --connect", 2, "nobody is there"),
    ("export -f har session.jsonl", 2, "the session has no HTTP"),
    ("export -f otlp --otlp", 2, "nobody is there"),
    ("replay --speed 2x", 2, "nobody is there"),
    ("send saikuro", 2, "nobody is there"),
    ("send sael", 2, "nobody is there"),
    ("stub saikuro --connect", 2, "nobody is there"),
];

/// Examples with sockets: a part of the command, the flags that are added so that they end, and `true` if they listen:
/// then they must print that first, and a client connects.
const LIVE: &[(&str, &str, bool)] = &[
    ("wiretool proxy ", "--connect tcp://{tcp} --once", true),
    ("wiretool record -w", "--once", true),
    (
        "wiretool stub saikuro --script",
        "--listen tcp://127.0.0.1:0 --once",
        true,
    ),
    (
        "wiretool stub sael",
        "--listen tcp://127.0.0.1:0 --once",
        true,
    ),
];

/// The first words of examples. Another first word is most likely the rest of a line that was wrapped.
const FIRST_WORDS: &[&str] = &["wiretool ", "xxd ", "echo ", "WIRETOOL_", "CI="];

/// Programs that may be missing on a machine.
const TOOLS: &[&str] = &["jq", "man", "xxd"];

/// saikuro: `math.add(2, 3)` and its answer, with length prefixes.
const CALL: &str = "0000004185a776657273696f6e01a474797065a463616c6ca26964c410a1b2c3d4e5f67890abcdef1234567890a6746172676574a86d6174682e616464a461726773920203";
const ANSWER: &str = "0000002283a26964c410a1b2c3d4e5f67890abcdef1234567890a26f6bc3a6726573756c7405";

/// oracle: the messages of both sides in a session.
const TO_ORACLE: [&str; 3] = [
    r#"{"jsonrpc":"2.0","id":0,"result":{}}"#,
    r#"{"jsonrpc":"2.0","id":0,"method":"invoke","params":{"selector":"sqrt","calldata":["0x10"]}}"#,
    r#"{"jsonrpc":"2.0","method":"shutdown"}"#,
];
const FROM_ORACLE: [&str; 2] = [
    r#"{"jsonrpc":"2.0","id":0,"method":"ready"}"#,
    r#"{"jsonrpc":"2.0","id":0,"result":["0x4"]}"#,
];

/// mcp: a server with no tools.
const SERVER: &str = r#"#!/bin/sh
while read -r line; do case $line in
*'"initialize"'*) echo '{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"x","version":"1"}}}' ;;
*tools/list*) echo '{"jsonrpc":"2.0","id":1,"result":{"tools":[]}}' ;;
esac; done
"#;

/// A test of that server.
const TESTS: &str = "protocol = \"mcp\"\ncommand = \"./server\"\n[[case]]\nname = \"adds no tool\"\nsend = [\"tools/list\"]\n";

/// A folder with the files of the examples.
struct Sandbox(tempfile::TempDir);

impl Sandbox {
    fn new(command: &str) -> Self {
        let sandbox = Self(tempfile::tempdir().unwrap());
        if command.contains("snapshot ") {
            fs::create_dir(sandbox.path("captures")).unwrap();
            sandbox.write("captures/session.jsonl", session());
            let prepare = "wiretool snapshot test; wiretool snapshot accept";
            let ready = sandbox.shell(prepare).status().unwrap();
            assert!(ready.success(), "the sandbox cannot be made");
            return sandbox;
        }
        let (call, answer) = (hex::decode(CALL).unwrap(), hex::decode(ANSWER).unwrap());
        let both = [call.clone(), answer.clone()].concat();
        for name in ["capture.bin", "client.bin", "provider.bin"] {
            sandbox.write(name, &both);
        }
        sandbox.write("a.bin", &call);
        sandbox.write("b.bin", &answer);
        for name in ["session.jsonl", "calls.jsonl", "mcp-1234.jsonl"] {
            sandbox.write(name, session());
        }
        sandbox.write("FILE", session());
        let fixture = |name| fs::read(Path::new("fixtures").join(name)).unwrap();
        sandbox.write("my.toml", fixture("cli/greet.toml"));
        sandbox.write("server.toml", TESTS);
        sandbox.write("a.jsonl", fixture("cli/merge/planner.jsonl"));
        sandbox.write("b.jsonl", fixture("cli/merge/search.jsonl"));
        sandbox.write(
            "call.jsonl",
            fixture("telequick/rules/audio-order.passes.jsonl"),
        );
        match command {
            c if c.contains("-p my.toml") => sandbox.write("FILE", fixture("cli/greet.txt")),
            c if c.contains("--where fault FILE") => sandbox.write("FILE", &both[..100]),
            c if c.contains("a.pcap") => {
                let capture = crate::packet_captures::capture("example.pcap");
                sandbox.write("a.pcap", fs::read(capture).unwrap());
            }
            c if c.contains("mcp serve") => fs::create_dir(sandbox.path("captures")).unwrap(),
            c if c.contains("sael filter") => sandbox.write("FILE", ITEMS),
            _ => {}
        }
        sandbox.write("in", TO_ORACLE.map(|line| format!("{line}\n")).concat());
        for name in ["out", "out.log"] {
            sandbox.write(name, FROM_ORACLE.map(|line| format!("{line}\n")).concat());
        }
        // For rules, the end of stdin comes first on every machine.
        let first = if command.contains("--lint ") {
            "cat > /dev/null\n"
        } else {
            ""
        };
        sandbox.write(
            "oracle",
            format!(
                "#!/bin/sh\n{first}echo '{}'\nwhile read -r line; do case $line in\n*invoke*) echo '{}' ;;\n*shutdown*) exit ;;\nesac; done\n",
                FROM_ORACLE[0], FROM_ORACLE[1]
            ),
        );
        // The session that replay sends is one of oracle.
        let server = if command.contains("replay ") {
            fs::read_to_string(sandbox.path("oracle")).unwrap()
        } else {
            SERVER.to_owned()
        };
        sandbox.write("server", server);
        for script in ["oracle", "server"].map(|name| sandbox.path(name)) {
            let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
            fs::set_permissions(script, mode).unwrap();
        }
        let fixture = |name: &str| {
            let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
            fs::read_to_string(root.join(name)).unwrap()
        };
        for (name, run) in [
            ("yesterday.jsonl", "cli/run-a.jsonl"),
            ("today.jsonl", "cli/run-b.jsonl"),
        ] {
            sandbox.write(name, fixture(run));
        }
        for (name, run) in [("A", "cli/run-a.jsonl"), ("B", "cli/run-b.jsonl")] {
            sandbox.write(
                name,
                fixture(run).replace("\\\"ts\\\"", "\\\"timestamp\\\""),
            );
        }
        for (name, script) in [
            ("oracle.toml", "result = [\"0x1\"]"),
            ("calls.toml", "result = 5"),
            ("tools.toml", "result = {}"),
        ] {
            let offers = "offers = [\"math.add\"]\n";
            let offers = if name == "calls.toml" { offers } else { "" };
            sandbox.write(name, format!("{offers}[[on]]\n{script}\n"));
        }
        sandbox.write("ignore.toml", "[ignore]\npaths = [\"**.timestamp\"]\n");
        sandbox.write("calls.txt", "invoke f 0x2710\n");
        sandbox.write("ci.toml", "protocol = \"oracle\"\n");
        sandbox.write(
            "a",
            "{\"v\":1,\"kind\":\"INV\",\"seq\":1,\"tool\":\"t\",\"args\":{}}\n",
        );
        sandbox.write("b", "{\"v\":1,\"kind\":\"RES\",\"seq\":1,\"result\":1}\n");
        sandbox.write("items.jsonl", ITEMS);
        let items: Vec<&str> = ITEMS.lines().collect();
        sandbox.write("items.json", format!("[{}]", items.join(",")));
        sandbox.write("FELTS", "0x68656c6c6f\n10000\n");
        sandbox.write(
            "my.tq",
            "struct Bell { int32 times; }\nmethod Chime = 7 : Bell -> Empty;\n",
        );
        sandbox.write("KEY", "a secret that is longer than thirty-two bytes");
        sandbox.write(
            "claims.json",
            r#"{"iss":"x","sub":"a@b.c","exp":4000000000,"iat":1700000000,"scope":["github:read"]}"#,
        );
        let prepare = "wiretool decode -f json a.bin > call.json
            mint() { wiretool sael token mint --secret-file KEY --sub a@b.c --scope github:read \"$@\"; }
            mint > token
            mint --iat 1699999000 --exp 4000000000 --client-id agent-7 > token.txt";
        let ready = sandbox.shell(prepare).status().unwrap();
        assert!(ready.success(), "the sandbox cannot be made");
        sandbox.add_client();
        if command.contains("unwrap ") {
            let ready = sandbox.shell("wiretool wrap -q github").status().unwrap();
            assert!(ready.success(), "the sandbox cannot be made");
        }
        // The files of the README.
        for folder in [
            ".local/share/bash-completion/completions",
            ".local/share/man/man1",
            ".config/fish/completions",
            ".config/elvish",
            "fpath",
        ] {
            fs::create_dir_all(sandbox.path(folder)).unwrap();
        }
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        std::os::unix::fs::symlink(root.join("fixtures"), sandbox.path("fixtures")).unwrap();
        sandbox
    }

    /// Adds the configuration of a client, and a recording of the server that it starts.
    fn add_client(&self) {
        let recordings = ".local/state/wiretool/recordings/github";
        for folder in [recordings, ".cursor"] {
            fs::create_dir_all(self.path(folder)).unwrap();
        }
        self.write(&format!("{recordings}/1.jsonl"), session());
        let server = r#"{"github":{"command":"npx","args":["server"]}}"#;
        self.write(".cursor/mcp.json", format!("{{\"mcpServers\":{server}}}"));
        self.write("my.json", format!("{{\"servers\":{server}}}"));
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.path(name), content).unwrap();
    }

    /// A shell with the binary on its path, in a separate process group.
    fn shell(&self, script: &str) -> Command {
        let mut command = common::shell("bash");
        command
            .args(["-o", "pipefail", "-c", script])
            .current_dir(self.0.path())
            .env("HOME", self.0.path())
            .env("PROFILE", "profile.ps1")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0);
        command
    }
}

const ITEMS: &str = r#"{"stars":200,"owner":"x","lang":"go","n":null,"zero":0}
{"stars":1,"owner":"y","lang":"c","n":1,"zero":1}
"#;

/// An oracle session whose answer takes 20 ms.
fn session() -> String {
    let chunk = |ms: u32, dir: &str, text: &str| {
        let text = serde_json::json!(format!("{text}\n"));
        format!("{{\"t\":{ms}000000,\"conn\":0,\"dir\":\"{dir}\",\"text\":{text}}}\n")
    };
    [
        r#"{"wiretool":1,"protocol":"oracle","started":"2026-01-01T00:00:00.000000000Z","transport":"stdio"}"#,
        "\n{\"t\":0,\"conn\":0,\"event\":\"open\"}\n",
        &chunk(2, "s2c", FROM_ORACLE[0]),
        &chunk(3, "c2s", TO_ORACLE[0]),
        &chunk(4, "c2s", TO_ORACLE[1]),
        &chunk(24, "s2c", FROM_ORACLE[1]),
        &chunk(30, "c2s", TO_ORACLE[2]),
        "{\"t\":40000000,\"conn\":0,\"event\":\"exit\",\"code\":0}\n",
    ]
    .concat()
}

#[test]
fn every_example_runs() {
    let pages = pages();
    assert!(pages.len() > 20, "only {} commands are found", pages.len());
    let mut wrong = Vec::new();
    let mut ran = std::collections::BTreeSet::new();
    for page in &pages {
        let examples = page.examples();
        if examples.is_empty() {
            wrong.push(format!("{} --help has no examples", page.name()));
        }
        for example in examples {
            // Many examples are on several pages.
            if ran.insert(example.to_owned())
                && let Err(error) = check(example)
            {
                wrong.push(format!("{}: {example}\n    {error}", page.name()));
            }
        }
    }
    let shown = guide_commands();
    assert!(
        shown.len() > 10,
        "the README and the topics show only {shown:?}"
    );
    for line in &shown {
        if ran.insert(line.clone())
            && let Err(error) = check(line)
        {
            wrong.push(format!("README.md or a topic: {line}\n    {error}"));
        }
    }
    for (rows, table) in [
        (LIVE.iter().map(|row| row.0).collect::<Vec<_>>(), "LIVE"),
        (ANSWERS.iter().map(|row| row.0).collect(), "ANSWERS"),
    ] {
        for row in rows {
            if !ran.iter().any(|example| example.contains(row)) {
                wrong.push(format!("{table}: no example has {row:?} any more"));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {} examples are not as they should be (the tables are at the top of tests/integration/examples.rs):\n{}",
        wrong.len(),
        ran.len(),
        wrong.join("\n")
    );
}

/// The commands in the `sh` blocks of the README and the topics, without their comments.
fn guide_commands() -> Vec<String> {
    let texts = common::help::guide_pages()
        .into_iter()
        .map(|path| fs::read_to_string(path).unwrap());
    let text = texts.collect::<Vec<_>>().join("\n");
    let mut commands = Vec::new();
    let mut in_block = false;
    for line in text.lines() {
        if line.starts_with("```") {
            in_block = !in_block && line == "```sh";
        } else if in_block && line.starts_with("wiretool ") {
            let command = line.split(" # ").next().unwrap_or(line).trim_end();
            // An array of zsh. In this shell it is empty, and the file would be written to `/`.
            commands.push(command.replace("${fpath[1]}", "fpath"));
        }
    }
    commands
}

/// A port of loopback that refuses connections while the socket exists: it is bound but does not listen.
fn refusing_port() -> (OwnedFd, u16) {
    use rustix::net::{AddressFamily, SocketType, bind, getsockname, socket};
    let socket = socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
    bind(&socket, &SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0)).unwrap();
    let name = SocketAddrV4::try_from(getsockname(&socket).unwrap()).unwrap();
    (socket, name.port())
}

fn check(example: &str) -> Result<(), String> {
    if !FIRST_WORDS.iter().any(|start| example.starts_with(start)) {
        return Err("is no command: the end of a line too long for 100 columns, or one of its own kind (STARTS)".into());
    }
    for tool in TOOLS {
        let used = example.split(' ').any(|word| word == *tool);
        if used && Command::new(tool).arg("--version").output().is_err() {
            common::not_checked(&format!("{example}, since there is no {tool} here"));
            return Ok(());
        }
    }
    let sandbox = Sandbox::new(example);
    let token = fs::read_to_string(sandbox.path("token")).unwrap_or_default();
    let mut script = example.replace("TOKEN", token.trim());
    let live = LIVE.iter().find(|row| example.contains(row.0));
    let live = live.filter(|_| !example.contains(" -- "));
    let Some((_, more, listens)) = live else {
        let (_socket, port) = refusing_port();
        for usual in PORTS {
            script = script.replace(usual, &format!("127.0.0.1:{port}"));
        }
        let child = sandbox.shell(&script).spawn().unwrap();
        let first_line = example.contains("--follow");
        return check_end(child, first_line, example);
    };
    for word in more.split("--").filter(|word| !word.is_empty()) {
        let flag = word.split(' ').next().unwrap_or_default();
        if !example.contains(&format!("--{flag}")) {
            script = format!("{script} --{word}");
        }
    }
    for (from, to) in WORDS {
        script = script.replace(from, to);
    }
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    let unix = sandbox.path("peer.sock");
    let unix_peer = UnixListener::bind(&unix).unwrap();
    script = script
        .replace("{tcp}", &tcp.local_addr().unwrap().to_string())
        .replace("{unix}", &unix.display().to_string());
    // The server accepts a connection and reads it until its end.
    std::thread::spawn(move || {
        while let Ok((mut peer, _)) = tcp.accept() {
            drop(peer.read_to_end(&mut Vec::new()));
        }
    });
    std::thread::spawn(move || {
        while let Ok((mut peer, _)) = unix_peer.accept() {
            drop(peer.read_to_end(&mut Vec::new()));
        }
    });
    let mut child = sandbox.shell(&script).spawn().unwrap();
    if !listens {
        return check_end(child, false, example);
    }
    let mut reported = BufReader::new(child.stderr.take().unwrap());
    let mut first = String::new();
    reported.read_line(&mut first).unwrap();
    let address = first.split("://").nth(1).unwrap_or_default();
    let address = address.split([',', ' ', '\n']).next().unwrap_or_default();
    if TcpStream::connect(address).is_err() {
        kill(&mut child);
        return Err(format!(
            "is one of LIVE, and should say first where it listens; it was run as\n    {script}\n    and said {first:?}"
        ));
    }
    std::thread::spawn(move || drop(reported.read_to_end(&mut Vec::new())));
    check_end(child, false, example)
}

/// Waits for the end and compares it with the expected one; `first_line`: stops reading after the first line.
fn check_end(mut child: Child, first_line: bool, example: &str) -> Result<(), String> {
    let out = child.stdout.take().unwrap();
    let printed = std::thread::spawn(move || {
        let mut out = BufReader::new(out);
        let mut text = Vec::new();
        if first_line {
            drop(out.read_until(b'\n', &mut text));
        } else {
            drop(out.read_to_end(&mut text));
        }
        text.len()
    });
    let sent = child.stderr.take().map(|mut err| {
        std::thread::spawn(move || {
            let mut text = String::new();
            drop(err.read_to_string(&mut text));
            text
        })
    });
    let start = Instant::now();
    let status = loop {
        match child.try_wait().unwrap() {
            Some(status) => break status,
            None if start.elapsed() > LIMIT => {
                kill(&mut child);
                return Err(format!(
                    "does not end within {LIMIT:?}: what runs until it is stopped belongs into LIVE"
                ));
            }
            None => std::thread::sleep(Duration::from_millis(5)),
        }
    };
    let printed = printed.join().unwrap();
    let sent = sent.map(|sent| sent.join().unwrap()).unwrap_or_default();
    let row = ANSWERS.iter().find(|row| example.contains(row.0));
    let wanted = row.map_or(0, |row| row.1);
    if status.code() != Some(wanted) {
        return Err(format!(
            "ends with {status}, not {wanted}: files it needs belong into Sandbox, another status into ANSWERS\n    {printed} bytes on stdout; stderr: {}",
            sent.trim()
        ));
    }
    Ok(())
}

/// Ends the shell and its processes.
fn kill(child: &mut Child) {
    use rustix::process::{Pid, Signal, kill_process_group};
    let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    if let Some(group) = group {
        kill_process_group(group, Signal::KILL).unwrap();
    }
    drop(child.wait());
}
