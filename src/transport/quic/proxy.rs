//! One QUIC connection of the proxy, from its handshake to its end.

use super::config::{QuicClient, QuicServer, dialer};
use super::relay::relay;
use super::sides::Sides;
use crate::capture::{EventKind, EventRecord};
use crate::transport::address::Address;
use crate::transport::recorder::Proxied;
use quinn::{Endpoint, Incoming, VarInt};
use std::io;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// Time limit for the connections to close at the end of a run.
pub(in crate::transport) const QUIC_CLOSE_TIMEOUT: Duration = Duration::from_millis(500);

/// Both sides of a QUIC proxy.
pub(in crate::transport) struct Quic {
    pub(in crate::transport) server: QuicServer,
    client: QuicClient,
    /// The socket from which connections to the server are opened.
    dialer: Endpoint,
}

impl Quic {
    pub(in crate::transport) fn new(
        (server, client): (QuicServer, QuicClient),
    ) -> io::Result<Self> {
        Ok(Self {
            server,
            client,
            dialer: dialer()?,
        })
    }

    /// Closes all connections, of both sides at once, so that neither is seen as closed by the other.
    pub(in crate::transport) fn close(&self, listener: &Endpoint) {
        for endpoint in [listener, &self.dialer] {
            endpoint.close(VarInt::from_u32(0), b"");
        }
    }

    /// Waits until the last packets were sent.
    pub(in crate::transport) async fn finish(&self, listener: &Endpoint) {
        for endpoint in [listener, &self.dialer] {
            let _ = tokio::time::timeout(QUIC_CLOSE_TIMEOUT, endpoint.wait_idle()).await;
        }
    }
}

/// Serves one connection. Returns `true` if it could not be opened.
pub(in crate::transport) async fn connection(
    incoming: Incoming,
    to: &Address,
    quic: &Quic,
    proxied: Proxied,
) -> bool {
    let mut opened = EventRecord::new(EventKind::Open, proxied.now(), proxied.conn);
    let peer = incoming.remote_address().to_string();
    opened.more.insert("peer".into(), peer.into());
    proxied.record(opened);
    let refused = |text: String| {
        (proxied.print)(&format!("connection {}: {text}", proxied.conn));
        let mut refused = EventRecord::new(EventKind::Close, proxied.now(), proxied.conn);
        refused.more.insert("error".into(), text.into());
        proxied.record(refused);
        true
    };
    let (client, selected) = match quic.server.accept(incoming).await {
        Ok(accepted) => accepted,
        Err(text) => return refused(text),
    };
    // The server is offered what the client has selected, so that both sides speak the same protocol.
    let alpn: Vec<String> = selected.into_iter().collect();
    // Also after the client has closed: its earlier bytes are still delivered.
    let server = match quic.client.connect(&quic.dialer, to, &alpn).await {
        Ok(server) => server,
        Err(error) => {
            client.close(VarInt::from_u32(0), error.as_bytes());
            return refused(format!("cannot connect to {to}: {error}"));
        }
    };
    let sides = Arc::new(Sides {
        client,
        server,
        proxied,
        max_streams: quic.server.limits.streams,
        fault: OnceLock::new(),
    });
    let ended = relay(Arc::clone(&sides)).await;
    let proxied = &sides.proxied;
    if let Some(faults) = &proxied.faults {
        faults.close(proxied.conn);
    }
    proxied.record(ended);
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
