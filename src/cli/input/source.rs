//! Opens a file or stdin.

use crate::cli::output::as_file;
use anyhow::{Context as _, Result};
use std::fs::File;
use std::path::Path;

/// The source of bytes.
pub(super) struct Source {
    pub name: String,
    pub file: File,
    /// A plain file: a read never blocks.
    pub plain: bool,
    /// The length of a plain file.
    pub len: u64,
}

pub(super) fn open(path: &Path) -> Result<Source> {
    if path == Path::new("-") {
        return stdin();
    }
    let name = path.display().to_string();
    let file = File::open(path).with_context(|| format!("cannot open {name}"))?;
    let meta = file.metadata();
    let meta = meta.with_context(|| format!("cannot read {name}"))?;
    anyhow::ensure!(!meta.is_dir(), "cannot read {name}: it is a folder");
    Ok(Source {
        name,
        file,
        plain: meta.is_file(),
        len: meta.len(),
    })
}

fn stdin() -> Result<Source> {
    let file = as_file(std::io::stdin()).context("cannot read stdin")?;
    let meta = file.metadata().ok().filter(std::fs::Metadata::is_file);
    Ok(Source {
        name: "stdin".into(),
        file,
        plain: meta.is_some(),
        len: meta.map_or(0, |meta| meta.len()),
    })
}
