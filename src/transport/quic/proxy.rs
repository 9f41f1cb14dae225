//! One QUIC connection of the proxy, from its handshake to its end.

use super::config::{Endpoints, QuicClient, QuicServer};
use super::link::Link;
use super::relay::relay;
use crate::capture::EventKind;
use crate::conversation::tap::event;
use crate::transport::address::Address;
use quinn::{Incoming, VarInt};
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

/// Time limit for the connections to close at the end of a run.
pub(in crate::transport) const CLOSE_TIMEOUT: Duration = Duration::from_millis(500);

/// Both sides of a QUIC proxy.
pub(in crate::transport) struct Quic {
    pub(in crate::transport) server: QuicServer,
    pub(in crate::transport) client: QuicClient,
    pub(in crate::transport) endpoints: Endpoints,
    /// `true` after the end of the run.
    pub(in crate::transport) stop: watch::Sender<bool>,
}

impl Quic {
    pub(in crate::transport) fn new(server: QuicServer, client: QuicClient) -> Self {
        Self {
            server,
            client,
            endpoints: Endpoints::default(),
            stop: watch::Sender::new(false),
        }
    }

    /// Waits until the last packets were sent.
    pub(in crate::transport) async fn finish(&self, listener: &quinn::Endpoint) {
        self.endpoints.finish(CLOSE_TIMEOUT).await;
        let _ = tokio::time::timeout(CLOSE_TIMEOUT, listener.wait_idle()).await;
    }
}

/// Serves one connection. Returns `true` if it could not be opened.
pub(in crate::transport) async fn connection(
    incoming: Incoming,
    to: &Address,
    quic: &Quic,
    link: Arc<Link>,
) -> bool {
    let queue = &link.recorder.queue;
    let mut opened = event(EventKind::Open, link.now(), link.conn);
    let peer = incoming.remote_address().to_string();
    opened.more.insert("peer".into(), peer.into());
    queue.event(link.conn, opened);
    let refused = |what: EventKind<'_>, text: String| {
        (link.print)(&format!("connection {}: {text}", link.conn));
        let mut refused = event(what, link.now(), link.conn);
        refused.more.insert("error".into(), text.into());
        queue.event(link.conn, refused);
        true
    };
    let (client, selected) = match quic.server.accept(incoming).await {
        Ok(accepted) => accepted,
        Err(text) => return refused(EventKind::Close, text),
    };
    let address = match to {
        Address::Over { host, port, .. } => (host.as_str(), *port),
        _ => return refused(EventKind::Close, format!("{to} is not a QUIC address")),
    };
    // The server is offered what the client has selected, so that both sides speak the same protocol.
    let alpn: Vec<String> = selected.into_iter().collect();
    // Also after the client has closed: what it sent before is still delivered.
    let connected = quic.client.connect(&quic.endpoints, address, &alpn).await;
    let server = match connected {
        Ok(server) => server,
        Err(error) => {
            client.close(VarInt::from_u32(0), error.as_bytes());
            return refused(EventKind::Close, format!("cannot connect to {to}: {error}"));
        }
    };
    let mut stop = quic.stop.subscribe();
    let stop = async move {
        let _ = stop.wait_for(|stop| *stop).await;
    };
    let ended = relay(client, server, Arc::clone(&link), stop).await;
    if let Some(faults) = &link.faults {
        faults.close(link.conn);
    }
    queue.event(link.conn, ended);
    false
}

/// Binds the UDP socket of a listener.
///
/// # Errors
///
/// Fails if the name has no address, or if no address can be bound.
pub(in crate::transport) async fn listen(host: &str, port: u16) -> io::Result<quinn::Endpoint> {
    let mut last = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
    for address in tokio::net::lookup_host((host, port)).await? {
        match super::config::bind(address) {
            Ok(endpoint) => return Ok(endpoint),
            Err(error) => last = error,
        }
    }
    Err(last)
}
