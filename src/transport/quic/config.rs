//! Configurations of QUIC endpoints: TLS, ALPN, limits and generated certificates.

use super::delivery::Factory;
use super::errors::handshake;
use crate::transport::address::Address;
use crate::transport::tls;
use quinn::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use quinn::{Connection, Dir, Endpoint, EndpointConfig, Incoming, TransportConfig, VarInt};
use std::fmt::Write as _;
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio_rustls::rustls;

use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;

/// The protocol that telequick's SDKs ask for.
pub const ALPN: &str = "h3";
/// Idle timeout that is offered; the smaller one of both sides applies (RFC 9000 section 10.1).
const IDLE_TIMEOUT: Duration = Duration::from_secs(300);

/// Number of streams of each kind that a peer may have open at first.
const FIRST_STREAMS: u32 = 128;

/// Time limit of the handshake, for all addresses of a server.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(5);

/// Limits that a peer of wiretool must keep. They act as back-pressure.
#[derive(Clone, Copy, Debug)]
pub struct QuicLimits {
    /// Streams of each kind that a peer may have open.
    pub streams: u32,
    /// Bytes of a stream that may wait to be forwarded.
    pub stream_bytes: u32,
    /// Bytes of a connection that may wait to be forwarded.
    pub connection_bytes: u32,
}

impl Default for QuicLimits {
    fn default() -> Self {
        Self {
            streams: 4096,
            stream_bytes: 1 << 20,
            connection_bytes: 16 << 20,
        }
    }
}

impl QuicLimits {
    fn transport(self) -> Arc<TransportConfig> {
        let mut config = TransportConfig::default();
        let streams = VarInt::from_u32(self.streams.min(FIRST_STREAMS));
        config
            .max_concurrent_bidi_streams(streams)
            .max_concurrent_uni_streams(streams)
            .stream_receive_window(VarInt::from_u32(self.stream_bytes))
            .receive_window(VarInt::from_u32(self.connection_bytes))
            .send_window(u64::from(self.connection_bytes))
            .max_idle_timeout(IDLE_TIMEOUT.try_into().ok())
            .congestion_controller_factory(Arc::new(Factory::default()));
        Arc::new(config)
    }
}

/// The number of streams of one kind that a peer may have open. It grows with the use, because quinn keeps a place for each
/// stream that may be opened: thousands of places slow down all streams.
pub(super) struct Grant {
    kind: Dir,
    streams: u32,
    max: u32,
}

impl Grant {
    pub(super) fn new(kind: Dir, max: u32) -> Self {
        Self {
            kind,
            streams: max.min(FIRST_STREAMS),
            max,
        }
    }

    /// Allows more streams if many are open.
    pub(super) fn extend(&mut self, peer: &Connection, open: usize) {
        if self.streams < self.max && open > self.streams as usize / 2 {
            self.streams = self.streams.saturating_mul(2).min(self.max);
            let streams = VarInt::from_u32(self.streams);
            match self.kind {
                Dir::Bi => peer.set_max_concurrent_bi_streams(streams),
                Dir::Uni => peer.set_max_concurrent_uni_streams(streams),
            }
        }
    }
}

/// A certificate that was generated for a listener, and its key, both in PEM.
pub struct Certificate {
    /// The certificate.
    pub pem: String,
    /// Its private key.
    pub key: String,
    /// SHA-256 of the certificate, in hex.
    pub fingerprint: String,
}

impl Certificate {
    /// Generates a certificate for `host` and the names of this machine.
    ///
    /// # Errors
    ///
    /// Returns a sentence about the problem.
    pub fn generate(host: &str) -> Result<Self, String> {
        use sha2::Digest as _;
        let mut names = vec!["localhost".to_owned(), "127.0.0.1".into(), "::1".into()];
        if !names.iter().any(|name| name == host) {
            names.insert(0, host.to_owned());
        }
        let made = rcgen::generate_simple_self_signed(names).map_err(|e| e.to_string())?;
        let mut fingerprint = String::new();
        for byte in sha2::Sha256::digest(made.cert.der()) {
            let _ = write!(fingerprint, "{byte:02x}");
        }
        Ok(Self {
            pem: made.cert.pem(),
            key: made.signing_key.serialize_pem(),
            fingerprint,
        })
    }
}

/// The QUIC side of wiretool towards clients.
#[derive(Clone)]
pub struct QuicServer {
    tls: Arc<rustls::ServerConfig>,
    alpn: Vec<String>,
    pub(super) limits: QuicLimits,
}

/// The QUIC side of wiretool towards servers.
#[derive(Clone)]
pub struct QuicClient {
    tls: tls::TlsClient,
    pub(super) limits: QuicLimits,
}

/// A certificate resolver that stores the protocols that a client offers.
#[derive(Debug)]
struct OfferResolver {
    inner: Arc<dyn ResolvesServerCert>,
    offered: Arc<Mutex<Vec<String>>>,
}

impl ResolvesServerCert for OfferResolver {
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        let names = hello.alpn().into_iter().flatten();
        let names = names.map(|name| String::from_utf8_lossy(name).into_owned());
        *self.offered.lock().unwrap_or_else(PoisonError::into_inner) = names.collect();
        self.inner.resolve(hello)
    }
}

fn bytes(alpn: &[String]) -> Vec<Vec<u8>> {
    alpn.iter().map(|name| name.as_bytes().to_vec()).collect()
}

impl QuicServer {
    /// Serves clients with the certificate of `tls` and one of the protocols in `alpn`.
    pub fn new(tls: &tls::TlsServer, alpn: Vec<String>, limits: QuicLimits) -> Self {
        Self {
            tls: tls.config(),
            alpn,
            limits,
        }
    }

    fn config(&self) -> io::Result<(quinn::ServerConfig, Arc<Mutex<Vec<String>>>)> {
        let offered = Arc::default();
        let mut tls = rustls::ServerConfig::clone(&self.tls);
        tls.alpn_protocols = bytes(&self.alpn);
        // 0-RTT data is refused.
        tls.max_early_data_size = 0;
        tls.cert_resolver = Arc::new(OfferResolver {
            inner: Arc::clone(&tls.cert_resolver),
            offered: Arc::clone(&offered),
        });
        let tls = QuicServerConfig::try_from(tls).map_err(io::Error::other)?;
        let mut config = quinn::ServerConfig::with_crypto(Arc::new(tls));
        config.transport_config(self.limits.transport());
        Ok((config, offered))
    }

    /// Makes an endpoint accept connections.
    pub(in crate::transport) fn listen(&self, endpoint: &Endpoint) -> io::Result<()> {
        endpoint.set_server_config(Some(self.config()?.0));
        Ok(())
    }

    /// Performs the handshake. Returns the connection and the protocol that was selected; an error is a sentence.
    pub(in crate::transport) async fn accept(
        &self,
        incoming: Incoming,
    ) -> Result<(Connection, Option<String>), String> {
        let (config, offered) = self.config().map_err(|e| e.to_string())?;
        let connecting = incoming.accept_with(Arc::new(config));
        let connected = match connecting {
            Ok(connecting) => limited(connecting, HANDSHAKE_TIMEOUT).await,
            Err(error) => Err(error),
        };
        let connection = connected.map_err(|error| {
            let offered = offered.lock().unwrap_or_else(PoisonError::into_inner);
            if is_no_protocol(&error) {
                return format!(
                    "the client offers {}, and wiretool accepts {}: use --alpn to accept one of the client's",
                    list(&offered),
                    list(&self.alpn)
                );
            }
            handshake(&error, "the client", &self.alpn)
        })?;
        let selected = connection
            .handshake_data()
            .and_then(|data| data.downcast::<quinn::crypto::rustls::HandshakeData>().ok())
            .and_then(|data| data.protocol);
        let selected = selected.map(|name| String::from_utf8_lossy(&name).into_owned());
        Ok((connection, selected))
    }
}

/// A handshake with a time limit.
async fn limited(
    connecting: quinn::Connecting,
    limit: Duration,
) -> Result<Connection, quinn::ConnectionError> {
    let done = tokio::time::timeout(limit, connecting).await;
    done.unwrap_or(Err(quinn::ConnectionError::TimedOut))
}

fn is_no_protocol(error: &quinn::ConnectionError) -> bool {
    matches!(error, quinn::ConnectionError::TransportError(e) if u64::from(e.code) == super::errors::NO_PROTOCOL)
}

fn list(names: &[String]) -> String {
    if names.is_empty() {
        "no protocol".to_owned()
    } else {
        names.join(", ")
    }
}

impl QuicClient {
    /// Connects with the trust of `tls`.
    pub fn new(tls: &tls::TlsClient, limits: QuicLimits) -> Self {
        Self {
            tls: tls.clone(),
            limits,
        }
    }

    /// Connects and performs the handshake, with the protocols in `alpn`. An error is a sentence.
    pub(in crate::transport) async fn connect(
        &self,
        endpoint: &Endpoint,
        to: &Address,
        alpn: &[String],
    ) -> Result<Connection, String> {
        let (Address::Tcp { host, port } | Address::Over { host, port, .. }) = to else {
            return Err("it is not a QUIC address".to_owned());
        };
        let mut tls = rustls::ClientConfig::clone(&self.tls.config());
        tls.alpn_protocols = bytes(alpn);
        tls.enable_early_data = false;
        let tls = QuicClientConfig::try_from(tls).map_err(|e| e.to_string())?;
        let mut config = quinn::ClientConfig::new(Arc::new(tls));
        config.transport_config(self.limits.transport());
        let found = tokio::net::lookup_host((host.as_str(), *port)).await;
        let mut last = "the name has no address".to_owned();
        let found: Vec<SocketAddr> = found.map_err(|e| e.to_string())?.collect();
        let limit = HANDSHAKE_TIMEOUT / u32::try_from(found.len()).unwrap_or(u32::MAX).max(1);
        for address in found {
            match endpoint.connect_with(config.clone(), address, host) {
                Err(error) => last = error.to_string(),
                Ok(connecting) => match limited(connecting, limit).await {
                    Ok(connection) => return Ok(connection),
                    Err(error) => {
                        let refusal = self.tls.refusal();
                        last = refusal.unwrap_or_else(|| handshake(&error, "the server", alpn));
                        // A server that refuses does so on all its addresses.
                        if !matches!(error, quinn::ConnectionError::TimedOut) {
                            break;
                        }
                    }
                },
            }
        }
        Err(last)
    }
}

/// Binds a UDP socket from which connections are opened, to IPv4 and, if this machine has it, IPv6.
pub(in crate::transport) fn dialer() -> io::Result<Endpoint> {
    Endpoint::client((Ipv6Addr::UNSPECIFIED, 0).into())
        .or_else(|_| Endpoint::client((Ipv4Addr::UNSPECIFIED, 0).into()))
}

/// Binds a UDP socket. It accepts no connection until [`QuicServer::listen`].
pub(in crate::transport) fn bind(address: SocketAddr) -> io::Result<Endpoint> {
    let socket = std::net::UdpSocket::bind(address)?;
    let runtime = Arc::new(quinn::TokioRuntime);
    Endpoint::new(EndpointConfig::default(), None, socket, runtime)
}
