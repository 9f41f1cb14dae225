//! Detects a closed stdout.
//!
//! Before `main`, Rust's runtime opens `/dev/null` in place of a closed standard stream; after that, output
//! is lost without an error. This check runs before that.

use anyhow::{Result, ensure};
use std::sync::atomic::{AtomicBool, Ordering};

static CLOSED: AtomicBool = AtomicBool::new(false);

/// Runs before the runtime is set up, so it uses only system calls.
#[ctor::ctor]
fn check() {
    CLOSED.store(crate::system::is_stdout_closed(), Ordering::Relaxed);
}

/// Returns an error if stdout is closed.
pub fn ensure_open() -> Result<()> {
    ensure!(
        !CLOSED.load(Ordering::Relaxed),
        "cannot write to stdout: it is closed"
    );
    Ok(())
}
