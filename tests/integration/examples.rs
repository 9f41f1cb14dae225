//! Every example of every command's `--help` runs, in a folder with the files that examples speak of; and so does every
//! line of the README's `sh` blocks that is a command of `wiretool`.
//!
//! ```text
//!   wiretool --help -> Commands: -> wiretool decode --help -> Examples: -> sh -c, in a sandbox
//!   README.md -> ```sh -> wiretool ...                                  -> the same
//! ```
//!
//! A new command's examples are found by themselves. What they need stands in the tables below: files in [`Sandbox`],
//! words in [`WORDS`], another exit status than 0 in [`ANSWERS`], programs at the other end in [`LIVE`].

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

/// No example takes so long, on any machine.
const LIMIT: Duration = Duration::from_secs(60);

/// Addresses of examples, and what stands for them here: `{tcp}` and `{unix}` are served.
const WORDS: &[(&str, &str)] = &[
    ("tcp://127.0.0.1:7700", "tcp://{tcp}"),
    ("wss://a.example", "ws://{tcp}"),
    ("wss://agents.example", "ws://{tcp}"),
    ("unix:/run/stepflow.sock", "unix:{unix}"),
    ("tcp://127.0.0.1:7799", "tcp://127.0.0.1:0"),
    ("ws://127.0.0.1:8080", "ws://127.0.0.1:0"),
    ("ws://127.0.0.1:9000", "ws://127.0.0.1:0"),
];

/// Addresses that nobody listens at here, whatever else runs on the machine.
const PORTS: [&str; 2] = ["127.0.0.1:7700", "127.0.0.1:8080"];

/// Examples whose answer is no, and why.
const ANSWERS: &[(&str, i32, &str)] = &[
    ("decode fixtures/telequick/barge-as", 1, "it is at fault"),
    ("decode --faults FILE", 1, "what is shown is at fault"),
    ("diff yesterday.jsonl today.jsonl", 1, "they differ"),
    ("snapshot review", 2, "it asks, and only on a terminal"),
    ("replay session.jsonl --connect", 2, "nobody is there"),
    ("replay --speed 2x", 2, "nobody is there"),
    ("send saikuro", 2, "nobody is there"),
    ("send sael", 2, "nobody is there"),
    ("stub saikuro --connect", 2, "nobody is there"),
];

/// Examples with sockets: what is in them, the flags that are added where they are not there, so that they end, and
/// whether they listen: then they are to say so first, and something connects.
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

/// How examples begin; what begins otherwise is most likely the rest of a line that was too long.
const STARTS: &[&str] = &["wiretool ", "xxd ", "echo ", "WIRETOOL_", "CI="];

/// Programs that a machine may lack.
const TOOLS: &[&str] = &["jq", "man", "xxd"];

/// saikuro: `math.add(2, 3)` and its answer, behind their prefixes.
const CALL: &str = "0000004185a776657273696f6e01a474797065a463616c6ca26964c410a1b2c3d4e5f67890abcdef1234567890a6746172676574a86d6174682e616464a461726773920203";
const ANSWER: &str = "0000002283a26964c410a1b2c3d4e5f67890abcdef1234567890a26f6bc3a6726573756c7405";

/// oracle: what either side says in a session.
const TO_ORACLE: [&str; 3] = [
    r#"{"jsonrpc":"2.0","id":0,"result":{}}"#,
    r#"{"jsonrpc":"2.0","id":0,"method":"invoke","params":{"selector":"sqrt","calldata":["0x10"]}}"#,
    r#"{"jsonrpc":"2.0","method":"shutdown"}"#,
];
const FROM_ORACLE: [&str; 2] = [
    r#"{"jsonrpc":"2.0","id":0,"method":"ready"}"#,
    r#"{"jsonrpc":"2.0","id":0,"result":["0x4"]}"#,
];

/// A folder with what examples speak of.
struct Sandbox(tempfile::TempDir);

impl Sandbox {
    fn new(command: &str) -> Self {
        let sandbox = Self(tempfile::tempdir().unwrap());
        if command.contains("snapshot ") {
            fs::create_dir(sandbox.path("captures")).unwrap();
            sandbox.put("captures/session.jsonl", session());
            let prepare = "wiretool snapshot test; wiretool snapshot accept";
            let ready = sandbox.shell(prepare).status().unwrap();
            assert!(ready.success(), "the sandbox cannot be made");
            return sandbox;
        }
        let (call, answer) = (hex::decode(CALL).unwrap(), hex::decode(ANSWER).unwrap());
        let both = [call.clone(), answer.clone()].concat();
        for name in ["capture.bin", "client.bin", "provider.bin"] {
            sandbox.put(name, &both);
        }
        sandbox.put("a.bin", &call);
        sandbox.put("b.bin", &answer);
        for name in ["session.jsonl", "calls.jsonl", "oracle-1234.jsonl"] {
            sandbox.put(name, session());
        }
        sandbox.put("FILE", session());
        match command {
            c if c.contains("-p saikuro -f json FILE") => sandbox.put("FILE", &both),
            c if c.contains("--faults FILE") => sandbox.put("FILE", &both[..100]),
            c if c.contains("sael filter") => sandbox.put("FILE", ITEMS),
            _ => {}
        }
        sandbox.put("in", TO_ORACLE.map(|line| format!("{line}\n")).concat());
        for name in ["out", "out.log"] {
            sandbox.put(name, FROM_ORACLE.map(|line| format!("{line}\n")).concat());
        }
        // Where rules are judged, the end of stdin comes first on every machine.
        let first = if command.contains("--lint ") {
            "cat > /dev/null\n"
        } else {
            ""
        };
        sandbox.put(
            "oracle",
            format!(
                "#!/bin/sh\n{first}echo '{}'\nwhile read -r line; do case $line in\n*invoke*) echo '{}' ;;\n*shutdown*) exit ;;\nesac; done\n",
                FROM_ORACLE[0], FROM_ORACLE[1]
            ),
        );
        let script = sandbox.path("oracle");
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        fs::set_permissions(script, mode).unwrap();
        let fixture = |name: &str| {
            let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
            fs::read_to_string(root.join(name)).unwrap()
        };
        for (name, run) in [
            ("yesterday.jsonl", "cli/run-a.jsonl"),
            ("today.jsonl", "cli/run-b.jsonl"),
        ] {
            sandbox.put(name, fixture(run));
        }
        for (name, run) in [("A", "cli/run-a.jsonl"), ("B", "cli/run-b.jsonl")] {
            sandbox.put(
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
            sandbox.put(name, format!("{offers}[[on]]\n{script}\n"));
        }
        sandbox.put("ignore.toml", "[ignore]\npaths = [\"**.timestamp\"]\n");
        sandbox.put("calls.txt", "invoke f 0x2710\n");
        sandbox.put("ci.toml", "protocol = \"oracle\"\n");
        sandbox.put(
            "a",
            "{\"v\":1,\"kind\":\"INV\",\"seq\":1,\"tool\":\"t\",\"args\":{}}\n",
        );
        sandbox.put("b", "{\"v\":1,\"kind\":\"RES\",\"seq\":1,\"result\":1}\n");
        sandbox.put("items.jsonl", ITEMS);
        let items: Vec<&str> = ITEMS.lines().collect();
        sandbox.put("items.json", format!("[{}]", items.join(",")));
        sandbox.put("FELTS", "0x68656c6c6f\n10000\n");
        sandbox.put(
            "my.tq",
            "struct Bell { int32 times; }\nmethod Chime = 7 : Bell -> Empty;\n",
        );
        sandbox.put("KEY", "a secret that is longer than thirty-two bytes");
        sandbox.put(
            "claims.json",
            r#"{"iss":"x","sub":"a@b.c","exp":4000000000,"iat":1700000000,"scope":["github:read"]}"#,
        );
        let prepare = "wiretool decode -f json a.bin > call.json
            mint() { wiretool sael token mint --secret-file KEY --sub a@b.c --scope github:read \"$@\"; }
            mint > token
            mint --iat 1699999000 --exp 4000000000 --client-id agent-7 > token.txt";
        let ready = sandbox.shell(prepare).status().unwrap();
        assert!(ready.success(), "the sandbox cannot be made");
        // What the README writes to and reads.
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

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn put(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.path(name), content).unwrap();
    }

    /// A shell with the binary on its path, in a group of its own.
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

/// An oracle's session, whose answer takes 20 ms.
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
fn every_command_has_examples_that_run() {
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
            // Many stand on several pages.
            if ran.insert(example.to_owned())
                && let Err(error) = check(example)
            {
                wrong.push(format!("{}: {example}\n    {error}", page.name()));
            }
        }
    }
    let shown = readme();
    assert!(shown.len() > 10, "the README shows only {shown:?}");
    for line in &shown {
        if ran.insert(line.clone())
            && let Err(error) = check(line)
        {
            wrong.push(format!("README.md: {line}\n    {error}"));
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

/// The commands of the README's `sh` blocks, less what is said of them.
fn readme() -> Vec<String> {
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")).unwrap();
    let mut commands = Vec::new();
    let mut in_block = false;
    for line in text.lines() {
        if line.starts_with("```") {
            in_block = !in_block && line == "```sh";
        } else if in_block && line.starts_with("wiretool ") {
            let command = line.split(" # ").next().unwrap_or(line).trim_end();
            // zsh's array; to the shell that runs this it is an empty one, and then the file would stand in `/`.
            commands.push(command.replace("${fpath[1]}", "fpath"));
        }
    }
    commands
}

/// A port of loopback that refuses connections as long as the socket lives: it is bound, and does not listen.
fn refusing_port() -> (OwnedFd, u16) {
    use rustix::net::{AddressFamily, SocketType, bind, getsockname, socket};
    let socket = socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
    bind(&socket, &SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0)).unwrap();
    let name = SocketAddrV4::try_from(getsockname(&socket).unwrap()).unwrap();
    (socket, name.port())
}

fn check(example: &str) -> Result<(), String> {
    if !STARTS.iter().any(|start| example.starts_with(start)) {
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
        return ended(child, first_line, example);
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
    // What connects is let in, and read until it ends.
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
        return ended(child, false, example);
    }
    let mut told = BufReader::new(child.stderr.take().unwrap());
    let mut first = String::new();
    told.read_line(&mut first).unwrap();
    let address = first.split("://").nth(1).unwrap_or_default();
    let address = address.split([',', ' ', '\n']).next().unwrap_or_default();
    if TcpStream::connect(address).is_err() {
        kill(&mut child);
        return Err(format!(
            "is one of LIVE, and should say first where it listens; it was run as\n    {script}\n    and said {first:?}"
        ));
    }
    std::thread::spawn(move || drop(told.read_to_end(&mut Vec::new())));
    ended(child, false, example)
}

/// Waits for the end, and compares it with what should be; `first_line`: stops reading after that.
fn ended(mut child: Child, first_line: bool, example: &str) -> Result<(), String> {
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
    let said = child.stderr.take().map(|mut err| {
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
    let said = said.map(|said| said.join().unwrap()).unwrap_or_default();
    let row = ANSWERS.iter().find(|row| example.contains(row.0));
    let wanted = row.map_or(0, |row| row.1);
    if status.code() != Some(wanted) {
        return Err(format!(
            "ends with {status}, not {wanted}: files it needs belong into Sandbox, another status into ANSWERS\n    {printed} bytes on stdout; stderr: {}",
            said.trim()
        ));
    }
    Ok(())
}

/// Ends the shell and what it started.
fn kill(child: &mut Child) {
    use rustix::process::{Pid, Signal, kill_process_group};
    let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    if let Some(group) = group {
        kill_process_group(group, Signal::KILL).unwrap();
    }
    drop(child.wait());
}
