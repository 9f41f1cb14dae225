//! The binary under test. It sees no settings of the user.

pub mod help;
pub mod programs;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

/// Exit code, stdout and stderr.
pub type Ran = (i32, String, String);

/// Set if a unit test starts its own program as the binary.
pub const AS_BINARY: &str = "WIRETOOL_TEST_AS_BINARY";
/// The output of the binary starts after this line.
pub const READY: &str = "<<ready>>\n";

/// The binary. Unit tests have none: they start their own program, which runs the command line.
pub fn wiretool() -> Command {
    if let Some(path) = option_env!("CARGO_BIN_EXE_wiretool") {
        let mut command = Command::new(path);
        without_settings(&mut command);
        return command;
    }
    let mut command = Command::new(std::env::current_exe().unwrap());
    without_settings(&mut command);
    command
        .env(AS_BINARY, "1")
        .args(["--exact", "cli::tests::as_the_binary", "--nocapture", "--"]);
    command
}

/// A folder for temporary files of tests.
pub fn temporary() -> &'static Path {
    let folder = Path::new(
        option_env!("CARGO_TARGET_TMPDIR")
            .unwrap_or(concat!(env!("CARGO_MANIFEST_DIR"), "/target/tmp")),
    );
    std::fs::create_dir_all(folder).unwrap();
    folder
}

/// Writes a file and returns its path.
pub fn file(folder: &Path, name: &str, content: impl AsRef<[u8]>) -> String {
    let path = folder.join(name);
    std::fs::write(&path, content).unwrap();
    path.to_str().unwrap().to_owned()
}

/// The text that a program wrote to stdout.
pub fn stdout(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stdout);
    let own = text.split_once(READY).map(|(_, own)| own);
    own.unwrap_or(&text).to_owned()
}

/// A shell with the binary on its path.
pub fn shell(name: &str) -> Command {
    let Some(binary) = option_env!("CARGO_BIN_EXE_wiretool") else {
        panic!("only integration tests have a binary");
    };
    let folder = Path::new(binary).parent();
    let path = std::env::var("PATH").unwrap_or_default();
    let mut command = Command::new(name);
    without_settings(&mut command).env("PATH", format!("{}:{path}", folder.unwrap().display()));
    command
}

/// Runs the binary in the folder of the crate, with nothing on its stdin.
pub fn outcome(args: &[&str]) -> Ran {
    outcome_at_width(args, None)
}

/// Runs the binary as [`outcome`] does, for a terminal of this width.
pub fn outcome_at_width(args: &[&str], width: Option<usize>) -> Ran {
    let mut command = wiretool();
    command.args(args).current_dir(env!("CARGO_MANIFEST_DIR"));
    if let Some(width) = width {
        command.env("COLUMNS", width.to_string());
    }
    outcome_of(&command.stdin(Stdio::null()).output().unwrap())
}

/// Runs a command with this text on its stdin.
pub fn run(command: &mut Command, input: impl AsRef<[u8]>) -> Ran {
    let pipes = command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = pipes.stderr(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.as_ref().to_vec();
    // Written by a separate thread: a child that does not read must not block the test.
    let writer = std::thread::spawn(move || drop(stdin.write_all(&input)));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    outcome_of(&output)
}

/// The exit code and the output of a command.
pub fn outcome_of(output: &Output) -> Ran {
    let code = output.status.code().unwrap_or(-1);
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    (code, stdout(output), stderr)
}

/// Returns `true` if expected files are to be rewritten.
pub fn bless() -> bool {
    std::env::var_os("WIRETOOL_BLESS").is_some_and(|value| value == "1")
}

/// Removes the settings of the developer and of the test machine from a command: variables and the folder of the
/// settings file.
fn without_settings(command: &mut Command) -> &mut Command {
    const SETTINGS: [&str; 4] = ["CI", "NO_COLOR", "CLICOLOR_FORCE", "COLUMNS"];
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("WIRETOOL_") || SETTINGS.contains(&&*text) {
            command.env_remove(name);
        }
    }
    command.env("XDG_CONFIG_HOME", temporary())
}

/// Waits until a condition becomes true.
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

/// The folder of captures on this machine.
pub fn captures() -> Option<PathBuf> {
    let folder = std::env::var_os("WIRETOOL_CAPTURES").map(PathBuf::from)?;
    // Tests run in the folder of the crate, and the variable may be relative to it.
    Some(folder).filter(|folder| folder.is_dir())
}

/// The folder of recordings made of the captures; made once.
pub fn recordings() -> Option<&'static Path> {
    static RECORDINGS: OnceLock<Option<PathBuf>> = OnceLock::new();
    RECORDINGS
        .get_or_init(|| {
            let Some(captures) = captures() else {
                println!("WIRETOOL_CAPTURES names no folder: real sessions are not looked at");
                return None;
            };
            let out = temporary().join("recordings");
            let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recordings.py");
            let made = Command::new("python3")
                .arg(script)
                .arg(captures)
                .arg(&out)
                .status();
            assert!(made.is_ok_and(|status| status.success()), "no recordings");
            Some(out)
        })
        .as_deref()
}

/// Reports that a check is skipped on this machine, even if the output of passing tests is hidden.
pub fn not_checked(what: &str) {
    use std::io::Write as _;
    let _ = writeln!(std::io::stderr(), "NOT CHECKED: {what}");
}
