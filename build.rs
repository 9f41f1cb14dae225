//! Writes the names of rules as constants, and packs their examples, the recordings in `fixtures/PROTOCOL/rules`, into one
//! compressed file; so is the schema of the Debug Adapter Protocol. `wiretool --version --verbose` prints what it knows of the build.
//!
//! ```text
//!   ## seq-gap in src/protocol/saikuro/rules.md     saikuro::SEQ_GAP, the number of the name among all names in order
//!
//!   saikuro/seq-gap.fires.jsonl 1234 LF, then that number of bytes, and so on
//! ```
//!
//! The published package has the packed file instead of the recordings, and no tests that read fixtures.

use flate2::Compression;
use flate2::write::ZlibEncoder;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, io};

/// The packed file of the published package. A test writes it, and compares it.
const PACKED: &str = "fixtures/examples.z";

fn main() -> io::Result<()> {
    println!("cargo::rustc-check-cfg=cfg(is_package)");
    println!("cargo::rerun-if-changed=build.rs");
    describe_build();
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    fs::write(out.join("rules.rs"), rules(&root.join("src/protocol"))?)?;
    let schema = root.join("src/protocol/described/dap.schema.json");
    println!("cargo::rerun-if-changed={}", schema.display());
    let mut packed = ZlibEncoder::new(Vec::new(), Compression::best());
    packed.write_all(&fs::read(schema)?)?;
    fs::write(out.join("dap.schema.z"), packed.finish()?)?;
    let out = out.join("examples.z");
    let mut files = Vec::new();
    for protocol in entries(&root.join("fixtures"))? {
        let folder = protocol.join("rules");
        if folder.is_dir() {
            println!("cargo::rerun-if-changed={}", folder.display());
            files.extend(entries(&folder)?);
        }
    }
    if files.is_empty() {
        println!("cargo::rustc-cfg=is_package");
        println!("cargo::rerun-if-changed={PACKED}");
        println!(
            "cargo::warning=unit tests are left out: they read fixtures, which only the repository has"
        );
        fs::copy(root.join(PACKED), out)?;
        return Ok(());
    }
    let mut packed = ZlibEncoder::new(Vec::new(), Compression::best());
    for file in files {
        let text = fs::read(&file)?;
        let name = name_of(&file);
        writeln!(packed, "{name} {}", text.len())?;
        packed.write_all(&text)?;
    }
    fs::write(out, packed.finish()?)
}

/// Passes the facts about this build on to the program.
fn describe_build() {
    let value = |name: &str| env::var(name).unwrap_or_default();
    let features = env::vars().filter_map(|(name, _)| {
        let name = name.strip_prefix("CARGO_FEATURE_")?.to_lowercase();
        Some(name.replace('_', "-"))
    });
    let mut features: Vec<String> = features.collect();
    features.sort();
    let rustc = Command::new(value("RUSTC")).arg("--version").output();
    let rustc = rustc.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    let profile = format!("{}, opt-level {}", value("PROFILE"), value("OPT_LEVEL"));
    for (name, text) in [
        ("FEATURES", features.join(" ")),
        ("TARGET", value("TARGET")),
        ("PROFILE", profile),
        ("RUSTC", rustc.unwrap_or_default()),
    ] {
        println!("cargo::rustc-env=WIRETOOL_{name}={text}");
    }
}

/// Returns a list of all names; a module with the names in the rules files of each folder, and one with all.
fn rules(protocols: &Path) -> io::Result<String> {
    let mut all = BTreeSet::new();
    let mut modules: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for folder in entries(protocols)?.into_iter().chain([protocols.into()]) {
        if !folder.is_dir() {
            continue;
        }
        println!("cargo::rerun-if-changed={}", folder.display());
        let module = match folder.file_name() {
            Some(name) if folder != protocols => name.to_string_lossy().into_owned(),
            _ => "common".to_owned(),
        };
        let is_rules = |file: &PathBuf| file.extension().is_some_and(|end| end == "md");
        for file in entries(&folder)?.into_iter().filter(is_rules) {
            println!("cargo::rerun-if-changed={}", file.display());
            let text = fs::read_to_string(&file)?;
            let names = text.lines().filter_map(|line| line.strip_prefix("## "));
            let names: Vec<String> = names.map(str::to_owned).collect();
            all.extend(names.iter().cloned());
            modules.entry(module.clone()).or_default().extend(names);
        }
    }
    let list: Vec<&String> = all.iter().collect();
    let mut text = format!("const NAMES: [&str; {}] = {list:?};\n", list.len());
    modules.insert("all".to_owned(), all.clone());
    for (module, names) in &modules {
        text += &format!("pub(crate) mod {module} {{\nuse super::RuleId;\n");
        for name in names {
            let number = all.range::<String, _>(..name).count();
            let constant = name.to_uppercase().replace('-', "_");
            text += &format!("pub(crate) const {constant}: RuleId = RuleId({number});\n");
        }
        text += "}\n";
    }
    Ok(text)
}

/// Returns the entries of a folder, in order.
fn entries(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder)?.map(|entry| Ok(entry?.path()));
    let mut entries = entries.collect::<io::Result<Vec<_>>>()?;
    entries.sort();
    Ok(entries)
}

/// Returns `PROTOCOL/FILE` of `fixtures/PROTOCOL/rules/FILE`.
fn name_of(file: &Path) -> String {
    let mut parts = file.iter().rev().map(|part| part.to_string_lossy());
    let (name, protocol) = (parts.next(), parts.nth(1));
    format!(
        "{}/{}",
        protocol.unwrap_or_default(),
        name.unwrap_or_default()
    )
}
