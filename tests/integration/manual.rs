//! The manual: one page per command, without warnings of the typesetter, with the complete text of `--help`.

use crate::common;
use crate::common::help::{Page, guide_pages, pages};
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

/// Joins all lines, so that the line breaks of the typesetter do not matter.
fn in_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The page as text, and the warnings of the typesetter.
fn typeset(path: &Path) -> Option<(String, String)> {
    let output = Command::new("man")
        .args(["--warnings", "-l"])
        .arg(path)
        .env("MANWIDTH", "100")
        .env("LC_ALL", "C.UTF-8")
        .env_remove("MANROFFOPT")
        .output()
        .ok()?;
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Some((text(output.stdout), text(output.stderr)))
}

/// The flags that `--help` lists.
fn flags(page: &Page) -> BTreeSet<&str> {
    let lines = page.help.lines().filter_map(|line| {
        let line = line.strip_prefix("  ")?;
        let line = line.strip_prefix("    ").unwrap_or(line);
        line.starts_with('-').then_some(line)
    });
    let words = lines.flat_map(|line| line.split([' ', ',']).take(3));
    words.filter(|word| word.starts_with("--")).collect()
}

#[test]
fn every_command_has_page_with_its_help() {
    let folder = tempfile::tempdir().unwrap();
    let made = folder.path().join("not/yet/there");
    let output = common::wiretool()
        .args(["man", "--out"])
        .arg(&made)
        .output()
        .unwrap();
    assert!(output.status.success() && output.stdout.is_empty() && output.stderr.is_empty());
    let pages = pages();
    let mut unread = 0;
    for page in &pages {
        let name = page.name().replace(' ', "-");
        let path = made.join(format!("{name}.1"));
        let source = std::fs::read_to_string(&path)
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        for section in ["NAME", "SYNOPSIS", "EXAMPLES", "EXIT STATUS"] {
            let line = if section.contains(' ') {
                format!(".SH \"{section}\"\n")
            } else {
                format!(".SH {section}\n")
            };
            assert!(source.contains(&line), "{name} has no {section}");
        }
        // A line that starts with a dot is a request; the manual uses only these.
        for line in source.lines().filter(|l| l.starts_with(['.', '\''])) {
            let request = line.split(' ').next().unwrap();
            let known = [
                ".ie", ".el", ".TH", ".nh", ".ad", ".SH", ".TP", ".PP", ".RS", ".RE", ".br",
            ];
            assert!(known.contains(&request), "{name}: {line}");
        }
        // The typeset form of these characters differs.
        assert!(!source.contains(['~', '^', '`']), "{name}");
        let Some((text, complaints)) = typeset(&path) else {
            unread += 1;
            continue;
        };
        assert_eq!(complaints, "", "{name}");
        let text = in_one_line(&text);
        let head = format!("NAME {name} - ");
        assert!(text.contains(&head), "{name}: {text}");
        for example in page.examples() {
            assert!(
                text.contains(&in_one_line(example)),
                "{name} lacks {example}:\n{text}"
            );
        }
        let flags = flags(page);
        assert!(flags.contains("--help"), "{name}: {flags:?}");
        for flag in flags {
            assert!(
                text.contains(&format!("{flag} ")),
                "{name} lacks {flag}:\n{text}"
            );
        }
    }
    let topics = guide_pages().len() - 1;
    let written = std::fs::read_dir(&made).unwrap().count();
    assert_eq!(written, pages.len() + topics, "pages of nothing");
    for (name, text) in [
        ("json", "fixtures/mcp/session.jsonl"),
        ("faults", "`first\\-byte`"),
    ] {
        let path = made.join(format!("wiretool-help-{name}.1"));
        let source = std::fs::read_to_string(&path).unwrap();
        assert!(
            source.contains(".SH NAME\n") && !source.contains('^'),
            "{name}"
        );
        if let Some((shown, complaints)) = typeset(&path) {
            assert_eq!(complaints, "", "{name}");
            assert!(
                shown.contains(&text.replace(['`', '\\'], "")),
                "{name}: {shown}"
            );
        }
    }
    if unread > 0 {
        eprintln!("{unread} pages were not typeset, since there is no man here");
    }
}

#[test]
fn main_page_is_written_to_stdout() {
    let output = common::wiretool().arg("man").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success() && output.stderr.is_empty());
    let title = concat!(
        ".TH wiretool 1 \"\" \"wiretool ",
        env!("CARGO_PKG_VERSION"),
        "\""
    );
    assert!(text.contains(title), "{text}");
    assert!(text.contains("wiretool\\-decode") && text.contains(".SH COMMANDS"));
}

#[test]
fn unusable_folder_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "kept").unwrap();
    let output = common::wiretool()
        .args(["man", "--out"])
        .arg(&file)
        .output()
        .unwrap();
    let sent = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(sent.contains("cannot make the folder"), "{sent}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "kept");
}
