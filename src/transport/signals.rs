//! Signals that wiretool receives.

use crate::system::{Signal as Kill, is_in_foreground};
use std::io;
#[cfg(unix)]
use tokio::signal::unix::{Signal, SignalKind, signal};
#[cfg(windows)]
use tokio::signal::windows::{CtrlC, ctrl_c};

/// Signals that end a program by default and can be caught.
#[cfg(unix)]
const ENDING: &[Kill] = &[
    Kill::HUP,
    Kill::INT,
    Kill::QUIT,
    Kill::USR1,
    Kill::USR2,
    Kill::ALARM,
    Kill::TERM,
    Kill::XCPU,
    Kill::VTALARM,
    Kill::PROF,
];

/// Signals that ask a program to stop.
#[cfg(unix)]
const STOPPING: &[Kill] = &[Kill::HUP, Kill::INT, Kill::TERM];
#[cfg(windows)]
const STOPPING: &[Kill] = &[Kill::INT];

/// Signals of keys. The terminal sends them to all processes of its foreground group.
#[cfg(unix)]
const KEYS: &[Kill] = &[Kill::INT, Kill::QUIT];
#[cfg(windows)]
const KEYS: &[Kill] = &[Kill::INT];

/// A stream of signals.
#[cfg(unix)]
pub(super) struct Signals {
    all: Vec<(Kill, Signal)>,
}

#[cfg(unix)]
impl Signals {
    fn of(kinds: &[Kill]) -> io::Result<Self> {
        // SIGXFSZ is caught, so that the file size limit causes a write error instead of an exit.
        drop(signal(SignalKind::from_raw(Kill::XFSZ.as_raw()))?);
        let all = kinds
            .iter()
            .map(|&kind| Ok((kind, signal(SignalKind::from_raw(kind.as_raw()))?)));
        let all = all.collect::<io::Result<Vec<_>>>()?;
        Ok(Self { all })
    }

    /// The signals that ask a program to stop.
    pub(super) fn stopping() -> io::Result<Self> {
        Self::of(STOPPING)
    }

    /// All signals that end a program.
    pub(super) fn ending() -> io::Result<Self> {
        Self::of(ENDING)
    }

    /// The next signal.
    pub(super) async fn next(&mut self) -> Kill {
        std::future::poll_fn(|context| {
            for (kind, signal) in &mut self.all {
                if signal.poll_recv(context).is_ready() {
                    return std::task::Poll::Ready(*kind);
                }
            }
            std::task::Poll::Pending
        })
        .await
    }
}

/// Returns `true` if the signal asks a program to stop.
pub(super) fn is_stop(kind: Kill) -> bool {
    STOPPING.contains(&kind)
}

/// Returns `true` if the signal came from a key, so that the child has received it too.
pub(super) fn from_terminal(kind: Kill) -> bool {
    KEYS.contains(&kind) && is_in_foreground()
}

/// A stream of signals.
#[cfg(windows)]
pub(super) struct Signals(CtrlC);

#[cfg(windows)]
impl Signals {
    /// The signals that ask a program to stop.
    pub(super) fn stopping() -> io::Result<Self> {
        ctrl_c().map(Self)
    }

    /// All signals that end a program.
    pub(super) fn ending() -> io::Result<Self> {
        Self::stopping()
    }

    /// The next signal.
    pub(super) async fn next(&mut self) -> Kill {
        match self.0.recv().await {
            Some(()) => Kill::INT,
            None => std::future::pending().await,
        }
    }
}
