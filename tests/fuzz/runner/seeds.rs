//! The inputs from which mutation begins: all fixtures.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use wiretool::capture::{CaptureInput, Form, Item};
use wiretool::conversation::{Output, Run};
use wiretool::decoder::DecodeOptions;
use wiretool::protocol::described::embedded;
use wiretool::protocol::registry;
use wiretool_fuzz::{Encoding, Seeds, Target};

/// The largest input, in bytes.
pub const MAX_INPUT: usize = 16 << 10;
/// Folders below the root of the repository.
const FOLDERS: [&str; 4] = ["fixtures", "src/protocol", "tests/fuzz/seeds", "src/render"];

/// Returns the seeds of a target, each once, the same on every machine.
pub fn of(target: &Target) -> Vec<Vec<u8>> {
    let files = files();
    let all: Vec<Vec<u8>> = match target.seeds {
        Seeds::Texts(texts) => texts.iter().map(|text| text.as_bytes().to_vec()).collect(),
        Seeds::Files(parts) => {
            let chosen = files.iter().filter(|file| {
                let path = file.to_string_lossy().replace('\\', "/");
                parts.iter().any(|part| match part.strip_prefix('/') {
                    Some(_) => path.contains(part),
                    None => path.ends_with(part),
                })
            });
            chosen.filter_map(|file| std::fs::read(file).ok()).collect()
        }
        Seeds::Recordings => {
            let all = files.iter().filter(|file| has_extension(file, &["jsonl"]));
            all.filter_map(|file| std::fs::read(file).ok()).collect()
        }
        Seeds::Stream(protocol) => files
            .iter()
            .filter(|file| {
                file.to_string_lossy()
                    .replace('\\', "/")
                    .contains(&format!("/{protocol}/"))
            })
            .filter(|file| has_extension(file, &["hex", "txt", "bin", "jsonl"]))
            .flat_map(|file| streams(file))
            .collect(),
        Seeds::Bodies(encoding) => bodies(&files, encoding),
    };
    let mut seen = BTreeSet::new();
    let mut kept = Vec::new();
    for seed in all {
        let whole = [&seed, target.suffix].concat();
        if whole.len() <= MAX_INPUT && seen.insert(whole.clone()) {
            kept.push(whole);
        }
    }
    if kept.is_empty() {
        kept.push(target.suffix.to_vec());
    }
    kept
}

fn has_extension(file: &Path, all: &[&str]) -> bool {
    let extension = file.extension().and_then(|end| end.to_str());
    extension.is_some_and(|end| all.contains(&end))
}

/// Returns all files, in order.
fn files() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut open: Vec<PathBuf> = FOLDERS.iter().map(|folder| root.join(folder)).collect();
    let mut files = Vec::new();
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                open.push(path);
            } else {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}

/// Returns the bytes of a fixture by connection and direction.
fn streams(file: &Path) -> Vec<Vec<u8>> {
    let Ok(bytes) = std::fs::read(file) else {
        return Vec::new();
    };
    let mut streams: BTreeMap<_, Vec<u8>> = BTreeMap::new();
    let mut take = |item: Item<'_>| {
        if let Item::Chunk(chunk) = item {
            let direction = chunk.direction.map(|direction| direction.name());
            let stream = streams.entry((chunk.conn, direction));
            stream.or_default().extend_from_slice(chunk.bytes);
        }
    };
    let mut input = CaptureInput::new(Form::Auto);
    input.push(&bytes, &mut take);
    input.finish(&mut take);
    streams.into_values().collect()
}

/// Returns the bodies of the messages of all fixtures, at most a hundred for each protocol.
fn bodies(files: &[PathBuf], encoding: Encoding) -> Vec<Vec<u8>> {
    let protocols: Vec<_> = registry::all().iter().chain(embedded()).copied().collect();
    let mut found: BTreeMap<String, Vec<Vec<u8>>> = BTreeMap::new();
    for file in files {
        if !has_extension(file, &["hex", "txt", "bin", "jsonl"]) {
            continue;
        }
        let Ok(bytes) = std::fs::read(file) else {
            continue;
        };
        let options = DecodeOptions::new(protocols.clone());
        let mut run = Run::new(CaptureInput::new(Form::Auto), options, None);
        let _ = run.read_all(&bytes, &mut |output: Output<'_>| -> ControlFlow<()> {
            if let Output::Message(decoded, _) = output {
                let body = decoded.message.body.of(decoded.frame.view.bytes);
                let is_json = matches!(body.first(), Some(b'{' | b'['));
                let bodies = found.entry(decoded.protocol.name().to_owned()).or_default();
                if is_json == (encoding == Encoding::Json)
                    && bodies.len() < 100
                    && body.len() < 2048
                {
                    bodies.push(body.to_vec());
                }
            }
            ControlFlow::Continue(())
        });
    }
    found.into_values().flatten().collect()
}
