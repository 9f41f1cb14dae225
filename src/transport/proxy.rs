//! A listener, a server behind it, and a pump for each connection between them.

use super::address::Address;
use super::faults::{Cut, Faults};
use super::listen::{BREATH, Bound, Outcome, idle, more_files};
use super::pump::{Ended, Link, relay};
use super::recorder::{Recorder, Say, Setup};
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

impl Bound {
    /// Pumps until it is to end.
    ///
    /// # Errors
    ///
    /// There is no thread to be had.
    pub fn proxy(self, options: Options, setup: Setup) -> io::Result<Outcome> {
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
