//! `wiretool watch` on a terminal of its own.

#![cfg(target_os = "linux")]

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};
use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

const HANG: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/cli/hang.jsonl");

const ENTER: &str = "\u{1b}[?1049h";
const LEAVE: &str = "\u{1b}[?1049l";
/// The time after which a screen does not show what a test waits for.
const TIMEOUT: Duration = Duration::from_secs(60);

fn watch(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_wiretool"));
    command.arg("watch").args(args);
    command.env("TERM", "xterm").env("LANG", "C.UTF-8");
    command
}

fn open_terminal(name: &str) -> File {
    File::options().read(true).write(true).open(name).unwrap()
}

/// Returns what a terminal shows after it has received a text: only cells that changed are written.
fn cells(text: &str) -> String {
    let mut cells = vec![vec![' '; 80]; 24];
    let (mut row, mut column) = (0, 0);
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        if c != '\u{1b}' {
            if let Some(cell) = cells.get_mut(row).and_then(|row| row.get_mut(column)) {
                *cell = c;
            }
            column += 1;
            continue;
        }
        rest.next();
        let mut numbers = String::new();
        let end = rest.find(|c| {
            numbers.extend(Some(*c).filter(|c| !c.is_ascii_alphabetic()));
            c.is_ascii_alphabetic()
        });
        let mut numbers = numbers.split(';').map(|n| n.parse().unwrap_or(1));
        match end {
            Some('H') => {
                row = numbers.next().unwrap_or(1) - 1;
                column = numbers.next().unwrap_or(1) - 1;
            }
            Some('J') => cells.iter_mut().for_each(|row| row.fill(' ')),
            _ => {}
        }
    }
    let rows = cells.iter().map(|row| row.iter().collect::<String>());
    rows.collect::<Vec<_>>().join("\n")
}

/// A command on a terminal of its own.
struct OnTerminal {
    controller: File,
    /// The name of the terminal that the command has.
    name: String,
    child: Child,
    shown: Vec<u8>,
}

impl OnTerminal {
    fn start(command: &mut Command) -> Self {
        let controller =
            openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&controller).unwrap();
        unlockpt(&controller).unwrap();
        let size = Winsize {
            ws_row: 24,
            ws_col: 80,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        tcsetwinsize(&controller, size).unwrap();
        let name = ptsname(&controller, Vec::new()).unwrap();
        let name = name.to_str().unwrap().to_owned();
        let terminal = || open_terminal(&name);
        let child = command
            .stdin(terminal())
            .stdout(terminal())
            .stderr(terminal())
            .spawn()
            .unwrap();
        Self {
            controller: File::from(controller),
            child,
            name,
            shown: Vec::new(),
        }
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.shown).into_owned()
    }

    /// Reads what is written; returns false after the terminal is closed by all processes.
    fn read(&mut self) -> bool {
        let mut ready = [PollFd::new(&self.controller, PollFlags::IN)];
        let time = Timespec {
            tv_sec: i64::try_from(TIMEOUT.as_secs()).unwrap(),
            tv_nsec: 0,
        };
        if poll(&mut ready, Some(&time)).unwrap() == 0 {
            let _ = self.child.kill();
            return false;
        }
        let mut buffer = [0; 4096];
        let Ok(n @ 1..) = self.controller.read(&mut buffer) else {
            return false;
        };
        self.shown.extend_from_slice(&buffer[..n]);
        true
    }

    /// Waits until the screen shows a text.
    fn wait_for(&mut self, wanted: &str) {
        while !cells(&self.text()).contains(wanted) {
            assert!(
                self.read(),
                "{wanted} is not shown: {}",
                cells(&self.text())
            );
        }
    }

    fn type_keys(&mut self, keys: &str) {
        self.controller.write_all(keys.as_bytes()).unwrap();
    }

    /// Returns true if the terminal reads lines and shows what is typed, as before the screen.
    fn is_restored(&self) -> bool {
        let modes = tcgetattr(open_terminal(&self.name)).unwrap().local_modes;
        modes.contains(LocalModes::ICANON | LocalModes::ECHO)
    }

    /// Waits until the screen was left this many times.
    fn wait_for_end(&mut self, times: usize) {
        while self.text().matches(LEAVE).count() < times {
            assert!(self.read(), "{}", self.text());
        }
    }

    fn send(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Returns the exit code and all that was written.
    fn finish(mut self) -> (i32, String) {
        while self.read() {}
        let code = self.child.wait().unwrap().code().unwrap_or(-1);
        (code, self.text())
    }
}

/// Types keys after the screen shows a text; returns the exit code and all that was written.
fn type_keys(args: &[&str], wanted: &str, keys: &str) -> (i32, String) {
    let mut terminal = OnTerminal::start(&mut watch(args));
    if !keys.is_empty() {
        terminal.wait_for(wanted);
        terminal.type_keys(keys);
    }
    terminal.finish()
}

#[test]
fn the_terminal_is_taken_over_and_given_back() {
    let (code, shown) = type_keys(&[HANG], "must send next", "q");
    assert_eq!(code, 0, "{shown}");
    assert_eq!(shown.matches(ENTER).count(), 1, "{shown}");
    let after = shown.split(LEAVE).nth(1).expect("the screen is left");
    assert!(!after.contains("messages"), "{after}");
}

#[test]
fn signals_give_the_terminal_back() {
    for (signal, wanted) in [(Signal::TERM, 143), (Signal::INT, 130)] {
        let mut terminal = OnTerminal::start(&mut watch(&[HANG]));
        terminal.wait_for("must send next");
        assert!(!terminal.is_restored());
        terminal.send(signal);
        terminal.wait_for_end(1);
        let code = terminal.child.wait().unwrap().code();
        assert_eq!(code, Some(wanted));
        assert!(terminal.is_restored());
    }
}

#[test]
fn the_screen_ends_with_its_terminal() {
    let mut terminal = OnTerminal::start(&mut watch(&["--follow", HANG]));
    terminal.wait_for("must send next");
    let OnTerminal {
        controller,
        mut child,
        ..
    } = terminal;
    drop(controller);
    let (ended, wait) = channel::<()>();
    let pid = Pid::from_child(&child);
    let guard = std::thread::spawn(move || {
        if wait.recv_timeout(TIMEOUT) == Err(RecvTimeoutError::Timeout) {
            kill_process(pid, Signal::KILL).unwrap();
        }
    });
    let code = child.wait().unwrap().code();
    drop(ended);
    guard.join().unwrap();
    assert_eq!(code, Some(2));
}

#[test]
fn a_suspended_screen_comes_back() {
    let mut terminal = OnTerminal::start(&mut watch(&[HANG]));
    terminal.wait_for("must send next");
    terminal.send(Signal::TSTP);
    terminal.wait_for_end(1);
    let pid = Pid::from_child(&terminal.child);
    let (_, status) = waitpid(Some(pid), WaitOptions::UNTRACED).unwrap().unwrap();
    assert!(status.stopped());
    assert!(terminal.is_restored());
    terminal.send(Signal::CONT);
    while terminal.text().matches(ENTER).count() < 2 {
        assert!(terminal.read());
    }
    terminal.type_keys("q");
    let (code, shown) = terminal.finish();
    assert_eq!(code, 0, "{shown}");
}

#[test]
fn a_missing_file_is_an_error_before_the_screen() {
    let (code, shown) = type_keys(&["no-such-file"], "never", "");
    assert_eq!(code, 2);
    assert!(shown.contains("cannot open no-such-file"), "{shown}");
    assert!(!shown.contains('\u{1b}'), "{shown}");
}

#[test]
fn lint_of_proxy_is_accepted() {
    let (code, _, err) = crate::common::run(&mut watch(&["--lint", HANG]), "");
    assert_eq!(code, 2, "{err}");
    assert!(err.contains("watch needs a terminal"), "{err}");
}

#[test]
fn live_traffic_of_a_child_shows_and_its_stdout_is_passed_on() {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/cli/oracle.sh");
    let folder = tempfile::tempdir().unwrap();
    let recording = folder.path().join("live.jsonl");
    let recording = recording.to_str().unwrap();
    let args = ["-p", "oracle", "-w", recording, "--", "sh", script];
    let (code, shown) = type_keys(&args, "ready", "q");
    assert_eq!(code, 0, "{shown}");
    let recorded = std::fs::read_to_string(recording).unwrap();
    assert!(recorded.contains(r#""method\":\"ready\""#), "{recorded}");
    assert!(recorded.contains(r#""event":"end""#), "{recorded}");
}

#[test]
fn without_a_terminal_the_error_names_decode() {
    for (args, term, wanted) in [
        (&[HANG][..], "xterm", "stdout is not one: decode writes"),
        (&[HANG], "dumb", "TERM says otherwise"),
        (
            &[HANG, "--connect", "tcp://127.0.0.1:1"],
            "xterm",
            "give one of FILE",
        ),
        (&["-w", "x", HANG], "xterm", "the key w saves"),
    ] {
        let command = &mut watch(args);
        let output = command
            .env("TERM", term)
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{stderr}");
        assert!(stderr.contains(wanted), "{stderr}");
        assert!(output.stdout.is_empty());
    }
}

/// A server that answers each request with its parameters; returns the lines that it receives.
fn echo_server(path: &Path) -> Receiver<String> {
    let (sender, lines) = channel();
    let listener = UnixListener::bind(path).unwrap();
    std::thread::spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        for line in BufReader::new(stream.try_clone().unwrap()).lines() {
            let line = line.unwrap();
            let (id, params) = (
                r#"{"jsonrpc":"2.0","id":1,"result":"#,
                line.rsplit_once("\"params\":"),
            );
            let answer = format!("{id}{}\n", params.unwrap().1);
            (&stream).write_all(answer.as_bytes()).unwrap();
            sender.send(line).unwrap();
        }
    });
    lines
}

/// An editor that breaks the JSON of a message with a zebra, and repairs it when it is opened again.
const EDITOR: &str = r#"#!/bin/sh
if grep -q zebra "$1"; then
    sed -i 's/"zebra"/"okapi/' "$1"
else
    sed -i 's/"okapi/"okapi"/' "$1"
fi
echo edited >> "$0.log"
"#;

#[test]
fn an_edited_message_is_sent_once_more_and_marked() {
    let wait = TIMEOUT;
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let editor = path("editor");
    std::fs::write(&editor, EDITOR).unwrap();
    std::fs::set_permissions(&editor, PermissionsExt::from_mode(0o700)).unwrap();
    let log = path("editor.log");
    let received = echo_server(&path("server"));
    let (listen, connect) = (path("proxy"), path("server"));
    let address = |path: &Path| format!("unix:{}", path.display());
    let recording = path("live.jsonl");
    let mut terminal = OnTerminal::start(
        watch(&["-p", "jsonrpc", "--allow-edit"])
            .args([
                "--listen",
                &address(&listen),
                "--connect",
                &address(&connect),
            ])
            .arg("-w")
            .arg(&recording)
            .env("VISUAL", "")
            .env("EDITOR", &editor),
    );
    terminal.wait_for("listening");
    let client = UnixStream::connect(&listen).unwrap();
    client.set_read_timeout(Some(wait)).unwrap();
    let mut answers = BufReader::new(client.try_clone().unwrap()).lines();
    let request = r#"{"jsonrpc":"2.0","id":1,"method":"find","params":["zebra"]}"#;
    (&client)
        .write_all(format!("{request}\n").as_bytes())
        .unwrap();
    assert_eq!(received.recv_timeout(wait).unwrap(), request);
    assert!(answers.next().unwrap().unwrap().contains("zebra"));
    terminal.wait_for("zebra");
    terminal.type_keys("ge");
    let is_edited = |times: usize| {
        let text = std::fs::read_to_string(&log).unwrap_or_default();
        text.lines().count() >= times
    };
    // The screen comes back with the position of the error.
    while !is_edited(1) {
        assert!(terminal.read());
    }
    terminal.wait_for("column");
    terminal.type_keys("e");
    let edited = request.replace("zebra", "okapi");
    while !is_edited(2) {
        assert!(terminal.read());
    }
    assert_eq!(received.recv_timeout(wait).unwrap(), edited);
    assert!(answers.next().unwrap().unwrap().contains("okapi"));
    terminal.wait_for("sent");
    terminal.type_keys("q");
    let (code, shown) = terminal.finish();
    assert_eq!(code, 0, "{shown}");
    // Recording, decode, lint and stat name the sender.
    let recorded = std::fs::read_to_string(&recording).unwrap();
    let event = r#""event":"inject","dir":"c2s","fault":"sent","len":60,"offset":60"#;
    assert!(recorded.contains(event), "{recorded}");
    for (command, wanted) in [
        ("decode", "by wiretool: sent"),
        ("stat", "sent by wiretool"),
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_wiretool"))
            .arg(command)
            .arg(&recording)
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(text.contains(wanted), "{text}");
    }
    let lint = Command::new(env!("CARGO_BIN_EXE_wiretool"))
        .arg("lint")
        .arg(&recording)
        .output()
        .unwrap();
    assert_eq!(
        lint.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&lint.stdout)
    );
}

#[test]
fn without_the_flag_no_message_is_edited() {
    let mut terminal = OnTerminal::start(watch(&[HANG]).env("EDITOR", "false"));
    terminal.wait_for("must send next");
    terminal.type_keys("e");
    terminal.wait_for("--allow-edit");
    terminal.type_keys("q");
    let (code, shown) = terminal.finish();
    assert_eq!(code, 0, "{shown}");
}

/// The lines of `decode` for a fixture, on a terminal of 80 columns.
fn lines_on_terminal(fixture: &str, args: &[&str]) -> Vec<String> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/");
    let mut command = Command::new(env!("CARGO_BIN_EXE_wiretool"));
    command
        .args(["decode", "-q", "--color", "never"])
        .args(args)
        .arg([path, fixture].concat());
    let terminal = OnTerminal::start(&mut command);
    // The command holds the terminal open.
    drop(command);
    let (code, text) = terminal.finish();
    assert_eq!(code, 0, "{text}");
    text.lines()
        .map(|line| line.trim_end().to_owned())
        .collect()
}

#[test]
fn lines_of_decode_are_as_wide_as_the_first_screen_needs() {
    for (fixture, conn) in [
        ("mcp/session.jsonl", "c1"),
        ("lsp/session.jsonl", "c0"),
        ("oracle/session.jsonl", "c1"),
        ("saikuro/rules/seq-gap.fires.jsonl", "c0"),
    ] {
        let lines = lines_on_terminal(fixture, &[]);
        assert!(lines.len() > 3, "{lines:#?}");
        let kind = |line: &str| line.chars().position(|c| c == '→' || c == '←');
        for (index, line) in lines.iter().enumerate() {
            let start = format!("#{index} {conn} ");
            assert!(line.trim_start().starts_with(&start), "{lines:#?}");
            assert!(line.chars().count() <= 80, "{lines:#?}");
            assert_eq!(kind(line), kind(&lines[0]), "{lines:#?}");
        }
        // No two columns beside each other are blank in all lines.
        let is_blank = |at: usize| {
            let mut cells = lines.iter().map(|line| line.chars().nth(at));
            cells.all(|cell| cell.is_none_or(|c| c == ' '))
        };
        let end = lines.iter().map(|line| line.chars().count()).max();
        let wasted = (0..end.unwrap()).find(|at| is_blank(*at) && is_blank(at + 1));
        assert_eq!(wasted, None, "{lines:#?}");
    }
    let lines = lines_on_terminal("mcp/session.jsonl", &["--head", "3"]);
    let last = "#2 c1 → notification notifications/initialized";
    assert_eq!(lines.last().map(|line| line.trim()), Some(last));
}
