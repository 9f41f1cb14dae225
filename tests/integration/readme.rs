//! The README shows what the tool really prints: every command in a `console` block is run and compared, and so is the
//! picture of a screen. The commands of `sh` blocks run in tests/integration/examples.rs, in a sandbox and with peers to talk to.
//!
//! `WIRETOOL_BLESS=1 cargo test --test integration readme` writes the output into the README, and draws the picture anew.

use crate::common;
use std::path::Path;
use wiretool::protocol::registry;

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
    if common::bless() {
        std::fs::write(&path, &shown).unwrap();
    } else {
        assert!(
            shown == text,
            "the README shows other output than this:\n{shown}"
        );
    }
}

/// What is on the screen of the picture.
const SCREEN: &[&str] = &[
    "wiretool decode fixtures/telequick/barge-as-printed.hex 2>/dev/null",
    "wiretool decode --lint fixtures/oracle/rules/desync.fires.jsonl",
];

#[test]
fn the_picture_shows_what_is_on_the_screen() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut screen = String::new();
    for command in SCREEN {
        screen += &format!("\x1b[2m$\x1b[0m \x1b[1m{command}\x1b[0m\n");
        screen += &run(root, &format!("CLICOLOR_FORCE=1 {command}"));
    }
    let drawn = common::screen::svg(&screen);
    let path = root.join("fixtures/cli/screen.svg");
    if common::bless() {
        std::fs::write(&path, &drawn).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        kept == drawn,
        "the screen of today is not that of fixtures/cli/screen.svg"
    );
}

/// What a command prints, on stdout and stderr, with the built binary on the path.
fn run(root: &Path, command: &str) -> String {
    let output = common::shell("sh")
        .args(["-c", &format!("exec 2>&1; {command}")])
        .current_dir(root)
        .output()
        .unwrap();
    String::from_utf8(output.stdout).unwrap()
}

/// The kinds and the faults of each protocol, as the README lists them.
fn lists() -> [(&'static str, &'static str, String); 2] {
    let (mut kinds, mut faults) = (String::new(), String::new());
    for protocol in registry::all() {
        let (name, facts) = (protocol.name(), protocol.descriptor());
        let mut line = format!("- **{name}**:");
        for (n, kind) in facts.kinds.iter().enumerate() {
            let comma = if n + 1 < facts.kinds.len() { "," } else { "." };
            if line.len() + kind.name.len() > WIDTH {
                kinds.push_str(&line);
                kinds.push('\n');
                line.clear();
                line.push(' ');
            }
            line += &format!(" {}{comma}", kind.name);
        }
        kinds.push_str(&line);
        kinds.push('\n');
        let codes: Vec<&str> = facts.faults.iter().map(|(code, _)| *code).collect();
        faults += &format!("| {name} | {} |\n", codes.join(", "));
    }
    [
        ("the structs of it.\n\n", "\n### Faults", kinds),
        ("too-deep |\n", "\n## Settings", faults),
    ]
}

/// Columns of the README.
const WIDTH: usize = 120;

#[test]
fn kinds_and_faults_are_those_of_the_protocols() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md");
    let text = std::fs::read_to_string(&path).unwrap();
    let mut shown = text.clone();
    for (before, after, list) in lists() {
        let start = shown.find(before).expect(before) + before.len();
        let end = start + shown[start..].find(after).expect(after);
        shown.replace_range(start..end, &list);
    }
    if common::bless() {
        std::fs::write(&path, &shown).unwrap();
    } else {
        assert!(
            shown == text,
            "the README lists other kinds or faults than these:\n{shown}"
        );
    }
}
