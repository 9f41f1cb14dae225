//! Signals that reach us.

use rustix::process::Signal as Kill;
use std::io;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// What ends a program that does not care, and can be caught.
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

/// What asks a program to stop.
const STOPPING: &[Kill] = &[Kill::HUP, Kill::INT, Kill::TERM];

/// What keys bring: every process of the terminal's foreground group has it from the terminal itself.
const KEYS: &[Kill] = &[Kill::INT, Kill::QUIT];

/// Signals that are waited for.
pub(super) struct Signals {
    all: Vec<(Kill, Signal)>,
}

impl Signals {
    fn of(kinds: &[Kill]) -> io::Result<Self> {
        // Once it is caught, a file that may grow no further is an error of the write, and not our end.
        drop(signal(SignalKind::from_raw(Kill::XFSZ.as_raw()))?);
        let all = kinds
            .iter()
            .map(|&kind| Ok((kind, signal(SignalKind::from_raw(kind.as_raw()))?)));
        let all = all.collect::<io::Result<Vec<_>>>()?;
        Ok(Self { all })
    }

    /// Those that ask it to stop.
    pub(super) fn stopping() -> io::Result<Self> {
        Self::of(STOPPING)
    }

    /// All that would end it.
    pub(super) fn ending() -> io::Result<Self> {
        Self::of(ENDING)
    }

    /// The next one.
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

/// Whether a signal asks a program to stop.
pub(super) fn is_stop(kind: Kill) -> bool {
    STOPPING.contains(&kind)
}

/// Whether a key of the terminal brought this signal, so that the child has it already.
pub(super) fn from_terminal(kind: Kill) -> bool {
    let foreground = || {
        let terminal = std::fs::File::open("/dev/tty").ok()?;
        let group = rustix::termios::tcgetpgrp(&terminal).ok()?;
        Some(group == rustix::process::getpgrp())
    };
    KEYS.contains(&kind) && foreground() == Some(true)
}
