//! On Ctrl-C and SIGTERM, reading ends, and the output is completed.

use super::Exit;
use anyhow::{Context as _, Result};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A flag that signals set.
#[derive(Clone, Default)]
pub struct Stop {
    set: Arc<AtomicBool>,
    /// Set by SIGTERM.
    terminated: Arc<AtomicBool>,
}

impl Stop {
    /// Installs the signal handlers; a second signal ends the program at once.
    pub fn on_signals() -> Result<Self> {
        use signal_hook::consts::{SIGINT, SIGTERM};
        use signal_hook::flag::{register, register_conditional_shutdown};
        let stop = Self {
            set: Arc::default(),
            terminated: Arc::default(),
        };
        register(SIGTERM, stop.terminated.clone()).context("cannot listen for signals")?;
        for signal in [SIGINT, SIGTERM] {
            // In this order: the first signal finds the flag unset, and sets it.
            register_conditional_shutdown(signal, 128 + signal, stop.set.clone())
                .and_then(|_| register(signal, stop.set.clone()))
                .context("cannot listen for signals")?;
        }
        Ok(stop)
    }

    /// Returns true after a signal.
    pub fn is_set(&self) -> bool {
        self.set.load(Ordering::Relaxed)
    }

    /// Ends reading as a signal does.
    pub fn set(&self) {
        self.set.store(true, Ordering::Relaxed);
    }

    /// Returns the exit status after a signal.
    pub fn exit(&self) -> Option<Exit> {
        let terminated = self.terminated.load(Ordering::Relaxed);
        self.is_set().then_some(if terminated {
            Exit::Status(143)
        } else {
            Exit::Status(130)
        })
    }
}
