//! `snapshot accept` and `snapshot reject`: decide about pending snapshots.

use super::file::{read_stored, remove, write};
use super::find::FoundFixture;
use crate::cli::options::SharedArgs;
use crate::cli::{Exit, print_message};
use anyhow::Result;

/// The decision about a pending snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReviewDecision {
    /// Replace the stored snapshot.
    Accept,
    /// Remove the pending snapshot.
    Reject,
}

/// Carries out a decision for one snapshot.
pub fn decide(found: &FoundFixture, decision: ReviewDecision) -> Result<()> {
    let pending = found.pending();
    if decision == ReviewDecision::Accept {
        let stored = read_stored(&pending)?
            .map_err(|e| anyhow::anyhow!("{}: it cannot be accepted: {e}", pending.display()))?;
        write(&found.snapshot(), &stored.accepted())?;
    }
    remove(&pending)
}

/// Carries out a decision for all snapshots, and prints each; after an error it continues with the next.
pub fn decide_all(found: &[FoundFixture], decision: ReviewDecision, shared: &SharedArgs) -> Exit {
    let done = match decision {
        ReviewDecision::Accept => "accepted",
        ReviewDecision::Reject => "rejected",
    };
    let mut failed = 0;
    for one in found {
        if let Err(error) = decide(one, decision) {
            failed += 1;
            print_message(&format!("{error:#}"));
        } else {
            shared.note(&format!("{done} {}", one.pending().display()));
        }
    }
    match found.len() {
        0 => shared.note("no new snapshots"),
        all if failed > 0 => shared.note(&format!("{} {done}, {failed} failed", all - failed)),
        _ => {}
    }
    if failed > 0 { Exit::Error } else { Exit::Clean }
}
