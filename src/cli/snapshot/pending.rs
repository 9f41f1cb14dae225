//! `snapshot accept` and `snapshot reject`: what becomes of a snapshot that waits.

use super::find::Found;
use crate::cli::options::Shared;
use crate::cli::output::Output;
use crate::cli::{Exit, complain};
use crate::snapshot::{MOST, Stored};
use anyhow::{Context as _, Result};
use std::fs::{self, File};
use std::io::Read as _;
use std::path::Path;

/// Longer headers are none.
const HEADER: usize = 64 << 10;

/// What becomes of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// It is the snapshot from now on.
    Accept,
    /// It goes.
    Reject,
}

/// Does it, to one.
pub fn decide(found: &Found, decision: Decision) -> Result<()> {
    let pending = found.pending();
    if decision == Decision::Accept {
        let stored = stored_at(&pending)?
            .map_err(|e| anyhow::anyhow!("{}: it cannot be accepted: {e}", pending.display()))?;
        write(&found.snapshot(), &stored.accepted())?;
    }
    remove(&pending)
}

/// Does it to all of them, and says so; one with which it cannot be done does not keep the others from it.
pub fn decide_all(found: &[Found], decision: Decision, shared: &Shared) -> Exit {
    let done = match decision {
        Decision::Accept => "accepted",
        Decision::Reject => "rejected",
    };
    let mut failed = 0;
    for one in found {
        if let Err(error) = decide(one, decision) {
            failed += 1;
            complain(&format!("{error:#}"));
        } else if !shared.quiet {
            complain(&format!("{done} {}", one.pending().display()));
        }
    }
    if !shared.quiet {
        match found.len() {
            0 => complain("no snapshot waits"),
            all if failed > 0 => complain(&format!("{} {done}, {failed} failed", all - failed)),
            _ => {}
        }
    }
    if failed > 0 {
        Exit::Trouble
    } else {
        Exit::Clean
    }
}

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
