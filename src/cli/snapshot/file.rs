//! Reads, writes and removes the file of a snapshot.

use crate::cli::output::Output;
use crate::snapshot::{MOST, Stored};
use anyhow::{Context as _, Result};
use std::fs::{self, File};
use std::io::Read as _;
use std::path::Path;

/// Longer headers are none.
const HEADER: usize = 64 << 10;

/// A snapshot's file; inside, what is wrong with its header.
pub fn stored_at(path: &Path) -> Result<Result<Stored, String>> {
    let context = || format!("cannot read {}", path.display());
    let mut bytes = Vec::new();
    let most = MOST + HEADER;
    let file = File::open(path).with_context(context)?;
    file.take(most as u64 + 1)
        .read_to_end(&mut bytes)
        .with_context(context)?;
    // What is cut off here would be lost once it is accepted.
    if bytes.len() > most {
        return Ok(Err(format!("it is longer than {} MiB", MOST >> 20)));
    }
    Ok(match String::from_utf8(bytes) {
        Ok(text) => Stored::parse(&text),
        Err(e) => Err(format!("byte {} is no UTF-8", e.utf8_error().valid_up_to())),
    })
}

/// Writes a snapshot's file, whole or not at all.
pub fn write(path: &Path, stored: &Stored) -> Result<()> {
    let mut output = Output::open(Some(path), &[])?;
    output.room().extend_from_slice(stored.text().as_bytes());
    output.finish()
}

/// Removes a file, if it is there.
pub fn remove(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
            Err(e).with_context(|| format!("cannot remove {}", path.display()))
        }
        _ => Ok(()),
    }
}
