//! Dependencies: each with the reason why it is there, and with a licence that binaries may be passed on under.

use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// Licences that ask for no more than their text beside a binary, and MPL, which is about its own files only.
const LICENCES: [&str; 11] = [
    "MIT",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "ISC",
    "MPL-2.0",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
    "0BSD",
];

/// Crates of several versions, with the reason.
const SEVERAL: [&str; 2] = [
    "getrandom", // ring has an older one than tempfile
    "syn",       // derive macros of clap and tokio, and the API listing
];

fn manifest() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
    std::fs::read_to_string(path).unwrap()
}

#[test]
fn each_dependency_has_its_reason() {
    let manifest = manifest();
    let (mut section, mut count) = ("", 0);
    for line in manifest.lines() {
        if line.starts_with('[') {
            section = line;
        } else if section.ends_with("dependencies]") && line.contains(" = ") {
            count += 1;
            let reason = line.rsplit_once(" # ").map_or("", |(_, reason)| reason);
            assert!(reason.len() > 3, "{section} {line}: no comment says why");
        }
    }
    assert!(count > 40, "{count}");
}

/// Returns true if a licence expression has a choice that is all allowed.
fn is_allowed(expression: &str) -> bool {
    let expression = expression.replace('/', " OR ").replace(['(', ')'], "");
    let allowed = |one: &str| LICENCES.contains(&one.trim());
    let parts = expression.split(" AND ");
    parts
        .into_iter()
        .all(|part| part.split(" OR ").any(allowed))
}

fn cargo(args: &[&str]) -> String {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
    let run = Command::new(cargo)
        .args(args)
        .args(["--locked", "--offline"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(
        run.status.success(),
        "{}",
        String::from_utf8_lossy(&run.stderr)
    );
    String::from_utf8(run.stdout).unwrap()
}

const PLATFORM: &str = "x86_64-unknown-linux-gnu";

#[test]
fn licences_are_permissive() {
    let found = [
        "metadata",
        "--format-version",
        "1",
        "--filter-platform",
        PLATFORM,
    ];
    let found: Value = serde_json::from_str(&cargo(&found)).unwrap();
    let packages = found["packages"].as_array().unwrap();
    assert!(packages.len() > 100, "{}", packages.len());
    for package in packages {
        let [name, licence] = ["name", "license"].map(|key| package[key].as_str().unwrap_or(""));
        assert!(is_allowed(licence), "{name}: {licence}");
    }
}

#[test]
fn binaries_have_one_version_of_each_crate() {
    let args = [
        "tree",
        "--duplicates",
        "--depth",
        "0",
        "--edges",
        "normal,build",
    ];
    let text = cargo(&[&args[..], &["--target", PLATFORM]].concat());
    for name in text.lines().filter_map(|line| line.split(' ').next()) {
        assert!(
            name.is_empty() || SEVERAL.contains(&name),
            "{name} has several versions"
        );
    }
}
