//! What comes before a run, whatever is run: a runtime, an address that is listened on; and how it went.

use super::address::Address;
use super::queue::Queue;
use super::recorder::Seen;
use super::signals::Signals;
use super::socket::Listener;
use std::io;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;
use tokio::runtime::Runtime;

/// A break after a connection that could not be accepted, most likely for want of file descriptors.
pub(super) const BREATH: Duration = Duration::from_millis(50);

/// How it ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// What was seen.
    pub seen: Seen,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// The one connection that was asked for could not be made.
    pub refused: bool,
    /// Bytes that a handler sent and that never went out, since the other side did not take them, or left in their midst.
    pub untaken: u64,
}

pub(super) fn runtime() -> io::Result<Runtime> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
}

/// An address that is listened on; nothing is accepted yet.
pub struct Bound {
    pub(super) runtime: Runtime,
    pub(super) listener: Listener,
    pub(super) signals: Signals,
    address: Address,
}

impl Bound {
    /// Listens. Connections that come from now on wait until [`Bound::proxy`] or [`Bound::serve`].
    ///
    /// # Errors
    ///
    /// The address is taken, or not this machine's.
    pub fn to(listen: &Address) -> io::Result<Self> {
        let runtime = runtime()?;
        let (listener, signals) = runtime.block_on(async {
            io::Result::Ok((Listener::bind(listen).await?, Signals::stopping()?))
        })?;
        Ok(Self {
            address: listener.address(listen),
            runtime,
            listener,
            signals,
        })
    }

    /// Where it listens, with the port that was chosen.
    pub fn address(&self) -> &Address {
        &self.address
    }

    /// Whether every address of this machine is listened on.
    pub fn is_everywhere(&self) -> bool {
        self.listener.is_everywhere()
    }

    /// Whether who connects there comes back here.
    pub fn is_reached_by(&self, connect: &Address) -> bool {
        self.runtime.block_on(self.listener.is_reached_by(connect))
    }
}

/// As many connections as the system lets this process have.
pub(super) fn more_files() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    let all = Rlimit {
        current: limit.maximum,
        maximum: limit.maximum,
    };
    let _ = setrlimit(Resource::Nofile, all);
}

/// Ends when nothing has passed for so long.
pub(super) async fn idle(time: Option<Duration>, queue: &Queue, pulse: &AtomicI64) {
    let Some(time) = time else {
        return std::future::pending().await;
    };
    loop {
        let since = queue.now() - pulse.load(Ordering::Relaxed);
        let since = Duration::from_nanos(since.max(0).unsigned_abs());
        match time.checked_sub(since) {
            Some(left) if !left.is_zero() => tokio::time::sleep(left).await,
            _ => return,
        }
    }
}
