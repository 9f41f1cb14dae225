//! Reads, writes and removes the file of a snapshot.

use crate::cli::output::CommandOutput;
use crate::snapshot::{MAX_RENDERING, Stored};
use anyhow::{Context as _, Result};
use std::fs::{self, File};
use std::io::Read as _;
use std::path::Path;

/// The maximum size of a header, in bytes.
const MAX_HEADER: usize = 64 << 10;

/// Reads the file of a snapshot; the inner error describes its header.
pub fn read_stored(path: &Path) -> Result<Result<Stored, String>> {
    let context = || format!("cannot read {}", path.display());
    let mut bytes = Vec::new();
    let most = MAX_RENDERING + MAX_HEADER;
    let file = File::open(path).with_context(context)?;
    file.take(most as u64 + 1)
        .read_to_end(&mut bytes)
        .with_context(context)?;
    // Truncated text would be lost when the snapshot is accepted.
    if bytes.len() > most {
        return Ok(Err(format!(
            "it is longer than {} MiB",
            MAX_RENDERING >> 20
        )));
    }
    Ok(match String::from_utf8(bytes) {
        Ok(text) => Stored::parse(&text),
        Err(e) => Err(format!(
            "byte {} is not UTF-8",
            e.utf8_error().valid_up_to()
        )),
    })
}

/// Writes the file of a snapshot, completely or not at all.
pub fn write(path: &Path, stored: &Stored) -> Result<()> {
    let mut output = CommandOutput::create(path, &[])?;
    output.push(stored.text());
    output.finish()
}

/// Removes a file, if it exists.
pub fn remove(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
            Err(e).with_context(|| format!("cannot remove {}", path.display()))
        }
        _ => Ok(()),
    }
}
