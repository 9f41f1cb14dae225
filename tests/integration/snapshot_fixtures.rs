//! Tests the project's fixtures with its own command; a Rust test shares its snapshot files through `insta`.
//!
//! After an intended change: `wiretool snapshot test` with the fixtures that differ, `wiretool snapshot review`.

use crate::common;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use wiretool::protocol::registry;
use wiretool::snapshot::{render, snapshot_beside};

const SESSION: &str = "fixtures/oracle/session.jsonl";
/// Names the fixture that this test program compares with its snapshot, as a test of another project does.
const FIXTURE_VARIABLE: &str = "SNAPSHOT_OF_FIXTURE";

fn snapshot(args: &[&str], ci: bool) -> Output {
    let mut command = common::wiretool();
    if ci {
        command.env("CI", "true");
    }
    command
        .arg("snapshot")
        .args(args)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

fn assert_equal(output: &Output) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(0), "{out}{err}");
    assert_eq!(out, "");
    assert!(err.contains(" equal"), "{err}");
}

#[test]
fn fixture_folder_matches_snapshots() {
    let args = ["test", "--unreferenced", "reject", "fixtures/snapshots"];
    let output = snapshot(&args, true);
    assert_equal(&output);
    let err = String::from_utf8(output.stderr).unwrap();
    assert_eq!(
        err,
        "wiretool: 2 fixtures: 2 equal; 9 values are not shown\n"
    );
}

/// Every recording in the folder of a protocol, and every other file with a snapshot.
#[test]
fn every_protocol_matches_snapshots() {
    let mut paths = Vec::new();
    let mut protocols = 0;
    for folder in wiretool::protocol::registry::all() {
        let folder = Path::new("fixtures").join(folder.name());
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let before = paths.len();
        for entry in fs::read_dir(root.join(&folder)).unwrap() {
            let path = folder.join(entry.unwrap().file_name());
            let extension = path.extension().and_then(|e| e.to_str());
            if matches!(extension, Some("jsonl" | "snap")) {
                paths.push(path.to_str().unwrap().to_owned());
            }
        }
        protocols += usize::from(paths.len() > before);
    }
    assert_eq!(
        protocols,
        registry::all().len(),
        "every protocol has a fixture with a snapshot"
    );
    let mut args = vec!["test", "--unreferenced", "reject"];
    args.extend(paths.iter().map(String::as_str));
    assert_equal(&snapshot(&args, true));
}

/// The output of the fixture, compared with the snapshot next to it.
fn compare_with_snapshot(fixture: &Path) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(fixture.parent().unwrap());
    settings.set_prepend_module_to_snapshot(false);
    let name = fixture.file_name().unwrap().to_str().unwrap();
    settings.bind(|| insta::assert_snapshot!(name, render(fixture).unwrap()));
}

/// Runs this test as a test of another project, with that update mode. Returns `true` if it passed.
fn passes_under_insta(fixture: &Path, update: &str) -> bool {
    let output = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "snapshot_fixtures::insta_and_wiretool_share_files",
        ])
        .env(FIXTURE_VARIABLE, fixture)
        .env("INSTA_UPDATE", update)
        .env_remove("INSTA_FORCE_PASS")
        .env_remove("CI")
        .output()
        .unwrap();
    output.status.success()
}

#[test]
fn insta_and_wiretool_share_files() {
    if let Some(fixture) = std::env::var_os(FIXTURE_VARIABLE) {
        compare_with_snapshot(Path::new(&fixture));
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().canonicalize().unwrap();
    let fixture: PathBuf = folder.join("session.jsonl");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(SESSION);
    fs::copy(source, &fixture).unwrap();
    let path = fixture.to_str().unwrap();
    let stored = snapshot_beside(&fixture);
    let waits = || {
        let pending = wiretool::snapshot::pending_beside(&fixture);
        fs::read_to_string(pending).ok()
    };

    // insta compares a program with a snapshot that wiretool accepted.
    assert!(
        !passes_under_insta(&fixture, "no"),
        "there is no snapshot yet"
    );
    assert_eq!(snapshot(&["test", path], false).status.code(), Some(1));
    assert_eq!(snapshot(&["accept", path], false).status.code(), Some(0));
    let ours = fs::read_to_string(&stored).unwrap();
    compare_with_snapshot(&fixture);
    assert!(passes_under_insta(&fixture, "no"));

    // wiretool compares fixtures with a snapshot that insta wrote.
    fs::remove_file(&stored).unwrap();
    passes_under_insta(&fixture, "always");
    let theirs = fs::read_to_string(&stored).unwrap();
    assert_ne!(theirs, ours, "its header names the test");
    assert_equal(&snapshot(&["test", path], true));

    // Each finds the pending snapshot of the other one.
    let text = fs::read_to_string(&fixture).unwrap();
    fs::write(&fixture, text.replace("sqrt", "cbrt")).unwrap();
    assert!(!passes_under_insta(&fixture, "no"));
    assert!(!passes_under_insta(&fixture, "new"));
    let pending = waits().expect("insta writes what is new");
    assert!(pending.contains("assertion_line: "), "{pending}");
    assert_eq!(snapshot(&["accept", path], false).status.code(), Some(0));
    assert_eq!(waits(), None);
    let accepted = fs::read_to_string(&stored).unwrap();
    assert!(!accepted.contains("assertion_line: "), "{accepted}");
    assert!(passes_under_insta(&fixture, "no"));
    assert_equal(&snapshot(&["test", path], true));

    // insta removes a pending snapshot of wiretool when the text is equal.
    fs::write(&fixture, &text).unwrap();
    assert_eq!(snapshot(&["test", path], false).status.code(), Some(1));
    assert!(waits().is_some());
    fs::write(&fixture, text.replace("sqrt", "cbrt")).unwrap();
    assert!(passes_under_insta(&fixture, "no"));
    assert_eq!(waits(), None);
}
