//! The binary under test, which sees no settings of whoever runs the tests.

#[allow(dead_code)] // some tests walk no help
pub mod help;
#[allow(dead_code)] // one test draws
pub mod screen;

use std::process::Command;

/// The binary.
#[allow(dead_code)] // some tests run it through a shell only
pub fn wiretool() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_wiretool"));
    without_settings(&mut command);
    command
}

/// A shell with the binary on its path.
#[allow(dead_code)] // some tests need none
pub fn shell(name: &str) -> Command {
    let folder = std::path::Path::new(env!("CARGO_BIN_EXE_wiretool")).parent();
    let path = std::env::var("PATH").unwrap_or_default();
    let mut command = Command::new(name);
    without_settings(&mut command).env("PATH", format!("{}:{path}", folder.unwrap().display()));
    command
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
#[allow(dead_code)] // most tests wait for nothing
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
#[allow(dead_code)] // most tests check everything everywhere
pub fn not_checked(what: &str) {
    use std::io::Write as _;
    let _ = writeln!(std::io::stderr(), "NOT CHECKED: {what}");
}
