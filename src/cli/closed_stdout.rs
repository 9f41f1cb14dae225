//! Detects a closed stdout.
//!
//! Before `main`, Rust's runtime opens `/dev/null` in place of a closed standard stream; after that, output
//! is lost without an error. This check runs before that.

use anyhow::{Result, ensure};
use rustix::{io, stdio};
use std::sync::atomic::{AtomicBool, Ordering};

static CLOSED: AtomicBool = AtomicBool::new(false);

/// Runs before the runtime is set up, so it uses only system calls.
#[ctor::ctor]
fn check() {
    let closed = io::fcntl_getfd(stdio::stdout()) == Err(io::Errno::BADF);
    CLOSED.store(closed, Ordering::Relaxed);
}

/// Returns an error if stdout is closed.
pub fn ensure_open() -> Result<()> {
    ensure!(
        !CLOSED.load(Ordering::Relaxed),
        "cannot write to stdout: it is closed"
    );
    Ok(())
}
