//! The proxy: a listener, a server, and a pump for each connection between them.

use super::address::Address;
use super::faults::Faults;
use super::listen::{
    ACCEPT_RETRY_DELAY, AcceptErrors, BoundListener, ListenOutcome, wait_for_idle,
};
use super::pump::relay;
use super::quic::{self, Quic, QuicClient, QuicServer};
use super::recorder::{MessagePrinter, Proxied, Recorder, Setup};
use super::signals::Signals;
use super::socket::{Socket, SocketListener, incoming};
use super::tls::{TlsClient, TlsServer};
use crate::capture::{EventKind, EventRecord};
use std::collections::BTreeSet;
use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicI64;
use std::time::Duration;
use tokio::task::JoinSet;

pub struct ProxyOptions {
    /// The address of the server.
    pub connect: Address,
    /// End with the first connection.
    pub once: bool,
    /// End after this time without traffic.
    pub idle: Option<Duration>,
    /// TLS with the server, if its address uses TLS.
    pub client: Option<TlsClient>,
    /// TLS with clients.
    pub server: Option<TlsServer>,
    /// QUIC with clients and the server, if both addresses are QUIC addresses.
    pub quic: Option<(QuicServer, QuicClient)>,
    /// The faults to inject.
    pub faults: Option<Faults>,
}

impl BoundListener {
    /// Runs the proxy until its end.
    ///
    /// # Errors
    ///
    /// Fails if no thread can be started.
    pub fn proxy(self, options: ProxyOptions, setup: Setup) -> io::Result<ListenOutcome> {
        crate::system::raise_file_limit();
        let print = Arc::clone(&setup.print);
        let recorder = Recorder::new(setup);
        recorder.spawn()?;
        let Self {
            runtime,
            listener,
            signals,
            ..
        } = self;
        let mut outcome = runtime.block_on(serve(listener, signals, options, &recorder, &print));
        // Closes the connections that are still open.
        drop(runtime);
        recorder.queue.close();
        outcome.seen = recorder.join(&print);
        Ok(outcome)
    }
}

/// State that all connections share.
struct ProxyState {
    recorder: Arc<Recorder>,
    connect: Address,
    last_transfer: Arc<AtomicI64>,
    print: MessagePrinter,
    faults: Option<Arc<Faults>>,
    client: Option<TlsClient>,
    server: Option<TlsServer>,
    quic: Option<Quic>,
}

impl ProxyState {
    fn new(options: ProxyOptions, recorder: &Arc<Recorder>, print: &MessagePrinter) -> Self {
        let quic = options.quic.map(Quic::new).transpose();
        let quic = quic.unwrap_or_else(|error| {
            print(&format!("cannot open a UDP socket: {error}"));
            None
        });
        Self {
            recorder: Arc::clone(recorder),
            connect: options.connect,
            faults: options.faults.map(Arc::new),
            client: options.client,
            server: options.server,
            last_transfer: Arc::new(AtomicI64::new(recorder.queue.now())),
            quic,
            print: Arc::clone(print),
        }
    }

    fn proxied(&self, conn: u32) -> Proxied {
        Proxied {
            recorder: Arc::clone(&self.recorder),
            conn,
            last_transfer: Arc::clone(&self.last_transfer),
            print: Arc::clone(&self.print),
            faults: self.faults.clone(),
        }
    }
}

async fn serve(
    listener: SocketListener,
    mut signals: Signals,
    options: ProxyOptions,
    recorder: &Arc<Recorder>,
    print: &MessagePrinter,
) -> ListenOutcome {
    let (once, idle) = (options.once, options.idle);
    let shared = Arc::new(ProxyState::new(options, recorder, print));
    if let (SocketListener::Quic(endpoint), Some(quic)) = (&listener, &shared.quic)
        && let Err(error) = quic.server.listen(endpoint)
    {
        print(&format!("cannot accept QUIC connections: {error}"));
    }
    if let Some(faults) = &shared.faults {
        faults.announce(&recorder.queue);
    }
    let mut outcome = ListenOutcome::default();
    let mut accept_errors = AcceptErrors::default();
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
                if once {
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
                    accept_errors.print(&error, print);
                    tokio::time::sleep(ACCEPT_RETRY_DELAY).await;
                }
            },
            incoming = incoming(&listener) => {
                conn += 1;
                open.insert(conn);
                tasks.spawn(quic_connection(incoming, conn, Arc::clone(&shared)));
            }
            () = wait_for_idle(idle, &recorder.queue, &shared.last_transfer) => break,
        }
    }
    if let (SocketListener::Quic(endpoint), Some(quic)) = (&listener, &shared.quic) {
        quic.close(endpoint);
        let ended = remove_ended(&mut tasks, &mut open);
        let _ = tokio::time::timeout(quic::QUIC_CLOSE_TIMEOUT, ended).await;
        quic.finish(endpoint).await;
    }
    tasks.abort_all();
    remove_ended(&mut tasks, &mut open).await;
    for conn in open {
        let mut event = EventRecord::new(EventKind::Close, recorder.queue.now(), conn);
        event.more.insert("by".into(), "wiretool".into());
        recorder.queue.event(conn, event);
    }
    outcome
}

/// Waits until all tasks have ended. A connection that has ended has recorded its end.
async fn remove_ended(tasks: &mut JoinSet<(u32, bool)>, open: &mut BTreeSet<u32>) {
    while let Some(ended) = tasks.join_next().await {
        if let Ok((conn, _)) = ended {
            open.remove(&conn);
        }
    }
}

/// Serves one QUIC connection. Returns its number, and `true` if it could not be opened.
async fn quic_connection(
    incoming: quinn::Incoming,
    conn: u32,
    shared: Arc<ProxyState>,
) -> (u32, bool) {
    let Some(quic) = &shared.quic else {
        return (conn, true);
    };
    let refused = quic::connection(incoming, &shared.connect, quic, shared.proxied(conn)).await;
    (conn, refused)
}

/// Serves one connection. Returns its number, and `true` if it could not be opened.
async fn connection(
    client: Socket,
    peer: Option<String>,
    conn: u32,
    shared: Arc<ProxyState>,
) -> (u32, bool) {
    let proxied = shared.proxied(conn);
    let mut opened = EventRecord::new(EventKind::Open, proxied.now(), conn);
    if let Some(peer) = peer {
        opened.more.insert("peer".into(), peer.into());
    }
    proxied.record(opened);
    let client = match &shared.server {
        None => client,
        Some(tls) => match client.secure(tls).await {
            Ok(client) => client,
            Err(error) => {
                (shared.print)(&format!("connection {conn}: {error}"));
                let mut refused = EventRecord::new(EventKind::Close, proxied.now(), conn);
                let text = error.to_string();
                refused.more.insert("error".into(), text.into());
                proxied.record(refused);
                return (conn, true);
            }
        },
    };
    let server = match Socket::connect(&shared.connect, shared.client.as_ref(), None).await {
        Ok(server) => server,
        Err(error) => {
            let to = &shared.connect;
            (shared.print)(&format!(
                "connection {conn}: cannot connect to {to}: {error}"
            ));
            let mut refused = EventRecord::new(EventKind::Reset, proxied.now(), conn);
            refused
                .more
                .insert("error".into(), error.to_string().into());
            proxied.record(refused);
            client.reset();
            return (conn, true);
        }
    };
    let ended = relay(client, server, &proxied)
        .await
        .event(proxied.now(), conn);
    proxied.record(ended);
    (conn, false)
}
