//! Runs every command in a `console` block of the README and of the topics of `wiretool help`, and compares its output
//! and the picture of a screen. The commands of `sh` blocks run in tests/integration/examples.rs, in a sandbox and with
//! peers.
//!
//! `WIRETOOL_BLESS=1 cargo test --test integration readme` writes the output into the pages, and redraws the picture.

use crate::common;
use std::path::Path;

#[test]
fn every_command_prints_documented_output() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut wrong = Vec::new();
    for path in common::help::guide_pages() {
        let text = std::fs::read_to_string(&path).unwrap();
        let shown = with_output(root, &text);
        if common::bless() {
            std::fs::write(&path, &shown).unwrap();
        } else if shown != text {
            wrong.push(format!("{} should be:\n{shown}", path.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A page with the output of its commands.
fn with_output(root: &Path, text: &str) -> String {
    let mut shown = String::new();
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
            shown.push_str(line);
            shown.push_str(&run(root, command));
        }
    }
    shown
}

#[test]
fn readme_is_short_and_links_resolve() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(root.join("README.md")).unwrap();
    assert!(text.lines().count() <= 250, "{}", text.lines().count());
    let links = text
        .split("](")
        .skip(1)
        .filter_map(|rest| rest.split(')').next());
    let mut count = 0;
    for link in links.filter(|link| !link.starts_with("http")) {
        let (path, place) = link.split_once('#').unwrap_or((link, ""));
        let path = root.join(path);
        assert!(path.exists(), "{link}");
        if !place.is_empty() {
            let page = std::fs::read_to_string(path).unwrap();
            assert!(page.contains(&format!("\n## {place}\n")), "{link}");
        }
        count += 1;
    }
    assert!(count > 15, "{count}");
}

#[test]
fn picture_shows_the_demo() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = tempfile::tempdir_in(common::temporary()).unwrap();
    let drawn = folder.path().join("demo.svg");
    let mut demo = common::wiretool();
    let ran = common::run(demo.args(["demo", "--svg"]).arg(&drawn), "");
    assert_eq!(ran, (0, String::new(), String::new()));
    let drawn = std::fs::read_to_string(drawn).unwrap();
    let path = root.join("fixtures/cli/demo.svg");
    if common::bless() {
        std::fs::write(&path, &drawn).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        kept == drawn,
        "the demo of today is not that of fixtures/cli/demo.svg"
    );
}

/// The output of a command, stdout and stderr, with the built binary on the path.
fn run(root: &Path, command: &str) -> String {
    let output = common::shell("sh")
        .args(["-c", &format!("exec 2>&1; {command}")])
        .current_dir(root)
        .output()
        .unwrap();
    String::from_utf8(output.stdout).unwrap()
}
