//! Whether there is a stdout at all.
//!
//! Before `main`, Rust's runtime opens `/dev/null` in place of a standard stream that is closed, and from then on output
//! vanishes as if it had been wanted so. Hence the question is asked before that.

use anyhow::{Result, ensure};
use rustix::{io, stdio};
use std::sync::atomic::{AtomicBool, Ordering};

static CLOSED: AtomicBool = AtomicBool::new(false);

/// Runs before the runtime is set up, so it asks the kernel and uses nothing of the runtime's.
#[ctor::ctor]
fn look() {
    let closed = io::fcntl_getfd(stdio::stdout()) == Err(io::Errno::BADF);
    CLOSED.store(closed, Ordering::Relaxed);
}

/// An error where nothing can be written to stdout.
pub fn ensure_open() -> Result<()> {
    ensure!(
        !CLOSED.load(Ordering::Relaxed),
        "cannot write to stdout: it is closed"
    );
    Ok(())
}
