//! The binary under test, which sees none of the developer's own settings.

#[allow(dead_code)] // some tests walk no help
pub mod help;

use std::process::Command;

/// The binary.
#[allow(dead_code)] // some tests run it through a shell
pub fn wiretool() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_wiretool"));
    without_settings(&mut command);
    command
}

/// Takes the developer's settings from a command: variables, and the folder where a file of them may be.
pub fn without_settings(command: &mut Command) -> &mut Command {
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("WIRETOOL_") {
            command.env_remove(name);
        }
    }
    command.env("XDG_CONFIG_HOME", env!("CARGO_TARGET_TMPDIR"))
}
