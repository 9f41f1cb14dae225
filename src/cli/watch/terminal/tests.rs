//! A panic on the full screen.

use super::*;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, tcgetattr};
use std::io::Read as _;
use std::process::Command;

/// Set for the process that panics.
const PANICS: &str = "WIRETOOL_TEST_PANIC";

#[test]
fn the_process_that_panics() {
    if std::env::var_os(PANICS).is_some() {
        let out = File::options().write(true).open("/dev/stdout").unwrap();
        let _screen = FullScreen::begin(out).unwrap();
        panic!("a deliberate panic");
    }
}

#[test]
fn a_panic_gives_the_terminal_back_before_it_prints() {
    let controller = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&controller).unwrap();
    unlockpt(&controller).unwrap();
    let name = ptsname(&controller, Vec::new()).unwrap();
    let name = name.to_str().unwrap().to_owned();
    let terminal = || File::options().read(true).write(true).open(&name).unwrap();
    let kept = terminal();
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "--nocapture"])
        .arg("cli::watch::terminal::tests::the_process_that_panics")
        .env(PANICS, "1")
        .stdin(terminal())
        .stdout(terminal())
        .stderr(terminal())
        .spawn()
        .unwrap();
    // Its output fits into the buffer of the terminal.
    assert!(!child.wait().unwrap().success());
    let modes = tcgetattr(&kept).unwrap().local_modes;
    assert!(modes.contains(LocalModes::ICANON | LocalModes::ECHO));
    drop(kept);
    let (mut shown, mut buffer) = (Vec::new(), [0; 4096]);
    while let Ok(n @ 1..) = (&File::from(controller.try_clone().unwrap())).read(&mut buffer) {
        shown.extend_from_slice(&buffer[..n]);
    }
    let shown = String::from_utf8_lossy(&shown);
    let (screen, after) = shown
        .split_once("\u{1b}[?1049l")
        .expect("the screen is left");
    assert!(screen.contains("\u{1b}[?1049h"), "{shown}");
    assert!(after.contains("a deliberate panic"), "{shown}");
    assert!(!screen.contains("a deliberate panic"), "{shown}");
}
