//! `wiretool watch` on a terminal of its own.

#![cfg(target_os = "linux")]

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use std::fs::File;
use std::io::{Read as _, Write as _};
use std::process::{Command, Stdio};

const HANG: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/cli/hang.jsonl");

fn watch(args: &[&str]) -> Command {
    // A screen that never shows what a test waits for must not block it.
    let mut command = Command::new("timeout");
    command.args([
        "--foreground",
        "60",
        env!("CARGO_BIN_EXE_wiretool"),
        "watch",
    ]);
    command.args(args);
    command.env("TERM", "xterm").env("LANG", "C.UTF-8");
    command
}

/// Types keys after the screen shows a text; returns the exit code and all that was written.
fn type_keys(args: &[&str], wanted: &str, keys: &str) -> (i32, String) {
    let controller = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
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
    let name = name.to_str().unwrap();
    let terminal = || File::options().read(true).write(true).open(name).unwrap();
    let mut child = watch(args)
        .stdin(terminal())
        .stdout(terminal())
        .stderr(terminal())
        .spawn()
        .unwrap();
    let mut controller = File::from(controller);
    let (mut shown, mut typed) = (Vec::new(), false);
    let mut buffer = [0; 4096];
    // Reading fails after the terminal is closed by all processes.
    while let Ok(n @ 1..) = controller.read(&mut buffer) {
        shown.extend_from_slice(&buffer[..n]);
        if !typed && String::from_utf8_lossy(&shown).contains(wanted) {
            typed = true;
            controller.write_all(keys.as_bytes()).unwrap();
        }
    }
    let code = child.wait().unwrap().code().unwrap_or(-1);
    (code, String::from_utf8_lossy(&shown).into_owned())
}

#[test]
fn the_terminal_is_taken_over_and_given_back() {
    let (code, shown) = type_keys(&[HANG], "must send next", "q");
    assert_eq!(code, 0, "{shown}");
    let (enter, leave) = ("\u{1b}[?1049h", "\u{1b}[?1049l");
    assert_eq!(shown.matches(enter).count(), 1, "{shown}");
    let after = shown.split(leave).nth(1).expect("the screen is left");
    assert!(!after.contains("messages"), "{after}");
}

#[test]
fn a_missing_file_is_an_error_before_the_screen() {
    let (code, shown) = type_keys(&["no-such-file"], "never", "");
    assert_eq!(code, 2);
    assert!(shown.contains("cannot open no-such-file"), "{shown}");
    assert!(!shown.contains('\u{1b}'), "{shown}");
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
