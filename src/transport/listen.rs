//! The common start of all runs: the runtime and the listening address; and their result.

use super::address::Address;
use super::queue::Queue;
use super::recorder::{MessagePrinter, RecordingSummary};
use super::signals::Signals;
use super::socket::SocketListener;
use std::io;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;

/// Delay after a failed accept, which most likely lacks file descriptors.
pub(super) const ACCEPT_RETRY_DELAY: Duration = Duration::from_millis(50);

/// The shortest time between two messages about failed accepts.
const ACCEPT_ERROR_INTERVAL: Duration = Duration::from_secs(1);

/// Failed accepts, of which few are printed.
#[derive(Default)]
pub(super) struct AcceptErrors {
    printed: Option<Instant>,
    unprinted: u64,
}

impl AcceptErrors {
    /// Prints a failed accept, at most once per second, with the number of those that were not printed.
    pub(super) fn print(&mut self, error: &io::Error, print: &MessagePrinter) {
        self.print_at(Instant::now(), error, print);
    }

    fn print_at(&mut self, now: Instant, error: &io::Error, print: &MessagePrinter) {
        let is_soon = |printed| now.saturating_duration_since(printed) < ACCEPT_ERROR_INTERVAL;
        if self.printed.is_some_and(is_soon) {
            self.unprinted += 1;
            return;
        }
        let before = match std::mem::take(&mut self.unprinted) {
            0 => String::new(),
            n => format!(" (and {n} times since the last message)"),
        };
        print(&format!("cannot accept a connection: {error}{before}"));
        self.printed = Some(now);
    }
}

/// The result of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ListenOutcome {
    /// Statistics of the traffic.
    pub seen: RecordingSummary,
    /// The signal that ended the run.
    pub signal: Option<i32>,
    /// The only requested connection could not be opened.
    pub refused: bool,
    /// Bytes that a handler sent and that the peer did not take.
    pub undelivered: u64,
}

pub(super) fn runtime() -> io::Result<Runtime> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
}

/// An address that is bound; no connection is accepted yet.
pub struct BoundListener {
    pub(super) runtime: Runtime,
    pub(super) listener: SocketListener,
    pub(super) signals: Signals,
    address: Address,
}

impl BoundListener {
    /// Binds an address. Connections wait until [`BoundListener::proxy`] or [`BoundListener::serve`].
    ///
    /// # Errors
    ///
    /// Fails if the address is in use or does not belong to this machine.
    pub fn bind(listen: &Address) -> io::Result<Self> {
        let runtime = runtime()?;
        let (listener, signals) = runtime.block_on(async {
            io::Result::Ok((SocketListener::bind(listen).await?, Signals::stopping()?))
        })?;
        Ok(Self {
            address: listener.address(listen),
            runtime,
            listener,
            signals,
        })
    }

    /// The address with the port that was chosen.
    pub fn address(&self) -> &Address {
        &self.address
    }

    /// Returns `true` if the socket listens on all addresses of this machine.
    pub fn is_on_all_addresses(&self) -> bool {
        self.listener.is_on_all_addresses()
    }

    /// Returns `true` if a connection to this address arrives here.
    pub fn is_destination_of(&self, connect: &Address) -> bool {
        self.runtime
            .block_on(self.listener.is_destination_of(connect))
    }
}

/// Returns after `time` without traffic, or never.
pub(super) async fn wait_for_idle(
    time: Option<Duration>,
    queue: &Queue,
    last_transfer: &AtomicI64,
) {
    let Some(time) = time else {
        return std::future::pending().await;
    };
    loop {
        let since = queue.now() - last_transfer.load(Ordering::Relaxed);
        let since = Duration::from_nanos(since.max(0).unsigned_abs());
        match time.checked_sub(since) {
            Some(left) if !left.is_zero() => tokio::time::sleep(left).await,
            _ => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Arc, Mutex};

    #[test]
    fn failed_accepts_are_printed_once_per_second() {
        let printed = Arc::new(Mutex::new(Vec::new()));
        let lines = Arc::clone(&printed);
        let print: MessagePrinter =
            Arc::new(move |text| lines.lock().unwrap().push(text.to_owned()));
        let (start, error) = (Instant::now(), io::Error::other("too many files"));
        let mut errors = AcceptErrors::default();
        for n in 0..41 {
            errors.print_at(start + ACCEPT_RETRY_DELAY * n, &error, &print);
        }
        let first = "cannot accept a connection: too many files";
        let later = format!("{first} (and 19 times since the last message)");
        assert_eq!(*printed.lock().unwrap(), [first, &later, &later]);
    }
}
