//! `snapshot accept` and `snapshot reject`: what becomes of a snapshot that waits.

use super::file::{remove, stored_at, write};
use super::find::Found;
use crate::cli::options::Shared;
use crate::cli::{Exit, complain};
use anyhow::Result;

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
