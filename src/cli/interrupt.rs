//! Ctrl-C ends the reading, not the telling.

use anyhow::{Context as _, Result};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Set once the user interrupts; a second time ends the program at once.
pub fn flag() -> Result<Arc<AtomicBool>> {
    use signal_hook::consts::SIGINT;
    let flag = Arc::new(AtomicBool::new(false));
    // In this order: the first signal finds the flag unset, and sets it.
    signal_hook::flag::register_conditional_shutdown(SIGINT, 130, flag.clone())
        .and_then(|_| signal_hook::flag::register(SIGINT, flag.clone()))
        .context("cannot listen for signals")?;
    Ok(flag)
}
