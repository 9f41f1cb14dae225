//! The binary under test, which sees no settings of whoever runs the tests.

pub mod help;
pub mod screen;

use std::io::Write as _;
use std::process::{Command, Output, Stdio};

/// Exit code, stdout and stderr.
pub type Told = (i32, String, String);

/// The binary.
pub fn wiretool() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_wiretool"));
    without_settings(&mut command);
    command
}

/// A shell with the binary on its path.
pub fn shell(name: &str) -> Command {
    let folder = std::path::Path::new(env!("CARGO_BIN_EXE_wiretool")).parent();
    let path = std::env::var("PATH").unwrap_or_default();
    let mut command = Command::new(name);
    without_settings(&mut command).env("PATH", format!("{}:{path}", folder.unwrap().display()));
    command
}

/// Runs a command with this on its stdin.
pub fn run(command: &mut Command, input: impl AsRef<[u8]>) -> Told {
    let pipes = command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = pipes.stderr(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.as_ref().to_vec();
    // Written from the side: a child that stops reading, or never reads, must not stop the test.
    let writer = std::thread::spawn(move || drop(stdin.write_all(&input)));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    told(&output)
}

/// How a command ended, and what it said.
pub fn told(output: &Output) -> Told {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let code = output.status.code().unwrap_or(-1);
    (code, text(&output.stdout), text(&output.stderr))
}

/// Whether what tests expect is to be written anew.
pub fn bless() -> bool {
    std::env::var_os("WIRETOOL_BLESS").is_some_and(|value| value == "1")
}

/// Takes the settings of the developer, or of a machine that runs tests, from a command: variables, and the folder where
/// a file of them may be.
fn without_settings(command: &mut Command) -> &mut Command {
    const OTHERS: [&str; 4] = ["CI", "NO_COLOR", "CLICOLOR_FORCE", "COLUMNS"];
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("WIRETOOL_") || OTHERS.contains(&&*text) {
            command.env_remove(name);
        }
    }
    command.env("XDG_CONFIG_HOME", env!("CARGO_TARGET_TMPDIR"))
}

/// Waits for something that comes by itself.
pub fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let start = std::time::Instant::now();
    while !is_so() {
        assert!(
            start.elapsed().as_secs() < 60,
            "not within a minute: {what}"
        );
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}

/// Says that something is not checked on this machine, also where the output of tests that pass is not shown.
pub fn not_checked(what: &str) {
    use std::io::Write as _;
    let _ = writeln!(std::io::stderr(), "NOT CHECKED: {what}");
}
