//! A listener, a server behind it, and a pump for each connection between them.

use super::address::Address;
use super::faults::{Cut, Faults};
use super::pump::{Ended, Link, relay};
use super::queue::Queue;
use super::recorder::{Recorder, Say, Seen, Setup};
use super::serve::bound;
use super::signals::Signals;
use super::socket::{Listener, Socket};
use super::tls::{Client, Server};
use crate::capture::What;
use crate::conversation::tap::event;
use std::collections::BTreeSet;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;
use tokio::task::JoinSet;

/// A break after a connection that could not be accepted, most likely for want of file descriptors.
pub(super) const BREATH: Duration = Duration::from_millis(50);

/// What to do, beside what is done with what passes.
pub struct Options {
    /// Where to connect.
    pub connect: Address,
    /// End when the first connection has ended.
    pub once: bool,
    /// End when nothing has passed for so long.
    pub idle: Option<Duration>,
    /// TLS with the server, where that is spoken.
    pub client: Option<Client>,
    /// TLS with clients.
    pub server: Option<Server>,
    /// What goes wrong on purpose.
    pub faults: Option<Faults>,
}

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

/// A proxy that listens and has not begun to pump.
pub struct Proxy {
    runtime: tokio::runtime::Runtime,
    listener: Listener,
    signals: Signals,
    address: Address,
}

impl Proxy {
    /// Listens. Connections that come from now on wait until [`Proxy::run`].
    ///
    /// # Errors
    ///
    /// The address is taken, or not this machine's.
    pub fn bind(listen: &Address) -> io::Result<Self> {
        let (runtime, listener, signals, address) = bound(listen)?;
        Ok(Self {
            runtime,
            listener,
            signals,
            address,
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

    /// Pumps until it is to end.
    ///
    /// # Errors
    ///
    /// There is no thread to be had.
    pub fn run(self, options: Options, setup: Setup) -> io::Result<Outcome> {
        more_files();
        let say = Arc::clone(&setup.say);
        let recorder = Recorder::new(setup);
        recorder.spawn()?;
        let Self {
            runtime,
            listener,
            signals,
            ..
        } = self;
        let mut outcome = runtime.block_on(serve(listener, signals, options, &recorder, &say));
        // Connections that are still open are closed here.
        drop(runtime);
        recorder.queue.close();
        outcome.seen = recorder.join(&say);
        Ok(outcome)
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

/// What every connection shares.
struct Shared {
    recorder: Arc<Recorder>,
    connect: Address,
    pulse: AtomicI64,
    say: Say,
    faults: Option<Faults>,
    client: Option<Client>,
    server: Option<Server>,
}

async fn serve(
    listener: Listener,
    mut signals: Signals,
    options: Options,
    recorder: &Arc<Recorder>,
    say: &Say,
) -> Outcome {
    let shared = Arc::new(Shared {
        recorder: Arc::clone(recorder),
        connect: options.connect,
        faults: options.faults,
        client: options.client,
        server: options.server,
        pulse: AtomicI64::new(recorder.queue.now()),
        say: Arc::clone(say),
    });
    if let Some(faults) = &shared.faults {
        faults.announce(&recorder.queue);
    }
    let mut outcome = Outcome::default();
    let mut open = BTreeSet::new();
    let mut tasks = JoinSet::new();
    let mut conn = 0;
    loop {
        tokio::select! {
            biased;
            signal = signals.next() => {
                outcome.signal = Some(signal.as_raw());
                break;
            }
            Some(ended) = tasks.join_next() => {
                let Ok((conn, refused)) = ended else { continue };
                open.remove(&conn);
                if options.once {
                    outcome.refused = refused;
                    break;
                }
            }
            accepted = listener.accept() => match accepted {
                Ok((client, peer)) => {
                    conn += 1;
                    open.insert(conn);
                    tasks.spawn(connection(client, peer, conn, Arc::clone(&shared)));
                }
                Err(error) => {
                    say(&format!("cannot accept a connection: {error}"));
                    tokio::time::sleep(BREATH).await;
                }
            },
            () = idle(options.idle, &recorder.queue, &shared.pulse) => break,
        }
    }
    tasks.abort_all();
    // Those that had ended by then have said so themselves.
    while let Some(ended) = tasks.join_next().await {
        if let Ok((conn, _)) = ended {
            open.remove(&conn);
        }
    }
    for conn in open {
        let mut event = event(What::Close, recorder.queue.now(), conn);
        event.more.insert("by".into(), "wiretool".into());
        recorder.queue.event(conn, event);
    }
    outcome
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

/// One connection, from its acceptance to its end; says whether the server refused it.
async fn connection(
    client: Socket,
    peer: Option<String>,
    conn: u32,
    shared: Arc<Shared>,
) -> (u32, bool) {
    let queue = &shared.recorder.queue;
    let touch = || {
        let now = queue.now();
        shared.pulse.store(now, Ordering::Relaxed);
        now
    };
    let mut opened = event(What::Open, touch(), conn);
    if let Some(peer) = peer {
        opened.more.insert("peer".into(), peer.into());
    }
    queue.event(conn, opened);
    let client = match &shared.server {
        None => client,
        Some(tls) => match client.secure(tls).await {
            Ok(client) => client,
            Err(error) => {
                (shared.say)(&format!("connection {conn}: {error}"));
                let mut refused = event(What::Close, touch(), conn);
                let text = error.to_string();
                refused.more.insert("error".into(), text.into());
                queue.event(conn, refused);
                return (conn, true);
            }
        },
    };
    let server = match Socket::connect(&shared.connect, shared.client.as_ref(), None).await {
        Ok(server) => server,
        Err(error) => {
            let to = &shared.connect;
            (shared.say)(&format!(
                "connection {conn}: cannot connect to {to}: {error}"
            ));
            let mut refused = event(What::Reset, touch(), conn);
            refused
                .more
                .insert("error".into(), error.to_string().into());
            queue.event(conn, refused);
            client.reset();
            return (conn, true);
        }
    };
    let link = Link {
        recorder: &shared.recorder,
        conn,
        pulse: &shared.pulse,
        faults: shared.faults.as_ref(),
    };
    let ended = match relay(client, server, &link).await {
        Ended::Close => event(What::Close, touch(), conn),
        Ended::Reset(stream) => {
            let mut reset = event(What::Reset, touch(), conn);
            reset.more.insert("dir".into(), stream.name().into());
            reset
        }
        Ended::Fault(cut) => {
            let what = match cut {
                Cut::Close => What::Close,
                Cut::Reset => What::Reset,
            };
            let mut ended = event(what, touch(), conn);
            ended.more.insert("by".into(), "wiretool".into());
            ended
        }
    };
    queue.event(conn, ended);
    (conn, false)
}
