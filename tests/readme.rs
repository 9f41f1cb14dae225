//! The README shows what the tool really prints: every command in a `console` block is run and compared.
//!
//! `WIRETOOL_BLESS=1 cargo test --test readme` writes the output into the README.

mod common;

use std::path::Path;
use std::process::Command;

#[test]
fn every_command_prints_what_the_readme_shows() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let path = root.join("README.md");
    let text = std::fs::read_to_string(&path).unwrap();
    let mut shown = String::new();
    let mut commands = 0;
    let mut in_block = false;
    for line in text.split_inclusive('\n') {
        let fence = line.starts_with("```");
        in_block = if fence {
            !in_block && line.starts_with("```console")
        } else {
            in_block
        };
        if !in_block || fence {
            shown.push_str(line);
        } else if let Some(command) = line.strip_prefix("$ ") {
            commands += 1;
            shown.push_str(line);
            shown.push_str(&run(root, command));
        }
    }
    assert!(commands > 0, "the README has no commands");
    if std::env::var_os("WIRETOOL_BLESS").is_some() {
        std::fs::write(&path, &shown).unwrap();
    } else {
        assert!(
            shown == text,
            "the README shows other output than this:\n{shown}"
        );
    }
}

/// What a command prints, on stdout and stderr, with the built binary on the path.
fn run(root: &Path, command: &str) -> String {
    let folder = Path::new(env!("CARGO_BIN_EXE_wiretool")).parent().unwrap();
    let path = std::env::var("PATH").unwrap_or_default();
    let output = common::without_settings(&mut Command::new("sh"))
        .args(["-c", &format!("exec 2>&1; {command}")])
        .current_dir(root)
        .env("PATH", format!("{}:{path}", folder.display()))
        .env_remove("CLICOLOR_FORCE")
        .output()
        .unwrap();
    String::from_utf8(output.stdout).unwrap()
}
