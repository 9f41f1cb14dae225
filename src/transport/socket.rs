//! TCP, Unix and TLS sockets as one type.

use super::address::Address;
use super::tls::{TlsClient, TlsServer};
use super::unix_socket::{self, UnixListener, UnixStream};
use std::future::poll_fn;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, Interest, ReadBuf, ReadHalf, WriteHalf};
use tokio::net::{TcpListener, TcpStream, tcp};
use tokio_rustls::TlsStream;

/// Time limit for the peer to end its direction after we have ended ours.
pub(super) const CLOSE_TIMEOUT: Duration = Duration::from_millis(250);

/// A connected socket.
pub(super) enum Socket {
    Tcp(TcpStream),
    Unix(UnixStream),
    Tls(Box<TlsStream<TcpStream>>),
}

impl Socket {
    /// Connects. `within` limits the wait for a server that does not answer; otherwise the limit of the system applies.
    pub(super) async fn connect(
        address: &Address,
        tls: Option<&TlsClient>,
        within: Option<Duration>,
    ) -> io::Result<Self> {
        match address {
            Address::Tcp { host, port } | Address::Over { host, port, .. } => {
                let connected = TcpStream::connect((host.as_str(), *port));
                // Boxed, because the future is large and short-lived.
                let stream = Box::pin(with_timeout(within, connected)).await?;
                let _ = stream.set_nodelay(true);
                match tls.filter(|_| address.is_tls()) {
                    Some(tls) => {
                        let secured = Box::pin(tls.connect(host, stream)).await?;
                        Ok(Self::Tls(Box::new(secured)))
                    }
                    None => Ok(Self::Tcp(stream)),
                }
            }
            Address::Unix(path) => {
                let connected = UnixStream::connect(path);
                Ok(Self::Unix(with_timeout(within, connected).await?))
            }
        }
    }

    /// Performs the TLS handshake as the server.
    pub(super) async fn secure(self, tls: &TlsServer) -> io::Result<Self> {
        match self {
            Self::Tcp(stream) => {
                let secured = Box::pin(tls.accept(stream)).await?;
                Ok(Self::Tls(Box::new(secured)))
            }
            other => Ok(other),
        }
    }

    /// Splits the socket into its directions.
    #[cfg_attr(windows, allow(unreachable_code))] // there is no Unix socket
    pub(super) fn split(&mut self) -> (Reader<'_>, Writer<'_>) {
        match self {
            Self::Tcp(stream) => {
                let (reader, writer) = stream.split();
                (Reader::Tcp(reader), Writer::Tcp(writer))
            }
            Self::Unix(stream) => {
                let (reader, writer) = stream.split();
                (Reader::Unix(reader), Writer::Unix(writer))
            }
            Self::Tls(stream) => {
                let (reader, writer) = tokio::io::split(&mut **stream);
                (Reader::Tls(reader, false), Writer::Tls(writer))
            }
        }
    }

    /// Ends our direction and waits briefly for the end of the other one. Without the wait, bytes that are still on
    /// their way cause a reset.
    pub(super) async fn finish(&mut self) {
        let (mut reader, mut writer) = self.split();
        let last = async {
            let _ = poll_fn(|context| Pin::new(&mut writer).poll_shutdown(context)).await;
            let mut buffer = [0; 4096];
            loop {
                let mut space = ReadBuf::new(&mut buffer);
                let read = poll_fn(|context| Pin::new(&mut reader).poll_read(context, &mut space));
                if read.await.is_err() || space.filled().is_empty() {
                    return;
                }
            }
        };
        let _ = tokio::time::timeout(CLOSE_TIMEOUT, last).await;
    }

    /// Closes the socket with a reset, if its type supports that.
    pub(super) fn reset(self) {
        let stream = match &self {
            Self::Tcp(stream) => stream,
            Self::Tls(stream) => stream.get_ref().0,
            Self::Unix(_) => return,
        };
        let _ = stream.set_zero_linger();
    }
}

async fn with_timeout<T>(
    within: Option<Duration>,
    connected: impl Future<Output = io::Result<T>>,
) -> io::Result<T> {
    let Some(within) = within else {
        return connected.await;
    };
    let timed_out = |_| {
        let text = format!("no answer within {within:?}");
        io::Error::new(io::ErrorKind::TimedOut, text)
    };
    let connected = tokio::time::timeout(within, connected).await;
    connected.map_err(timed_out)?
}

/// The reading half of a socket.
pub(super) enum Reader<'s> {
    Tcp(tcp::ReadHalf<'s>),
    Unix(unix_socket::ReadHalf<'s>),
    /// `true` if the stream ended without a `close_notify`.
    Tls(ReadHalf<&'s mut TlsStream<TcpStream>>, bool),
}

impl Reader<'_> {
    /// Returns `true` if TLS ended without a `close_notify`: the data may be truncated (RFC 8446 section 6.1).
    pub(super) const fn is_truncated(&self) -> bool {
        matches!(self, Self::Tls(_, true))
    }

    /// Returns when the socket fails, without reading from it. Never returns otherwise.
    pub(super) async fn wait_for_error(&self) {
        let error = match self {
            Self::Tcp(half) => {
                half.ready(Interest::ERROR).await.is_err() || has_pending_error(half.as_ref())
            }
            // Only TCP sockets report a reset here.
            Self::Unix(_) | Self::Tls(..) => false,
        };
        if !error {
            std::future::pending::<()>().await;
        }
    }

    /// Announces that nothing more will be read. Only Unix sockets pass this on to the peer.
    pub(super) fn shut_down_reading(&self) {
        if let Self::Unix(half) = self {
            unix_socket::shut_down_reading(half);
        }
    }
}

/// Returns `true` if an error was pending.
fn has_pending_error(stream: &TcpStream) -> bool {
    stream.take_error().map_or(true, |error| error.is_some())
}

impl AsyncRead for Reader<'_> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        space: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Tcp(half) => Pin::new(half).poll_read(context, space),
            Self::Unix(half) => Pin::new(half).poll_read(context, space),
            Self::Tls(half, truncated) => match Pin::new(half).poll_read(context, space) {
                // Many peers close the connection without a `close_notify`.
                Poll::Ready(Err(e)) if e.kind() == io::ErrorKind::UnexpectedEof => {
                    *truncated = true;
                    Poll::Ready(Ok(()))
                }
                read => read,
            },
        }
    }
}

/// The writing half of a socket.
pub(super) enum Writer<'s> {
    Tcp(tcp::WriteHalf<'s>),
    Unix(unix_socket::WriteHalf<'s>),
    Tls(WriteHalf<&'s mut TlsStream<TcpStream>>),
}

impl Writer<'_> {
    /// Returns `true` if written bytes may stay in a buffer, so that a flush is needed.
    pub(super) const fn needs_flush(&self) -> bool {
        matches!(self, Self::Tls(_))
    }
}

impl AsyncWrite for Writer<'_> {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Tcp(half) => Pin::new(half).poll_write(context, bytes),
            Self::Unix(half) => Pin::new(half).poll_write(context, bytes),
            Self::Tls(half) => Pin::new(half).poll_write(context, bytes),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Tls(half) => Pin::new(half).poll_flush(context),
            Self::Tcp(_) | Self::Unix(_) => Poll::Ready(Ok(())),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Tcp(half) => Pin::new(half).poll_shutdown(context),
            Self::Unix(half) => Pin::new(half).poll_shutdown(context),
            Self::Tls(half) => Pin::new(half).poll_shutdown(context),
        }
    }
}

/// A listening socket. A Unix socket removes its file at the end.
pub(super) enum SocketListener {
    Tcp(TcpListener),
    Unix(UnixListener, PathBuf),
    Quic(quinn::Endpoint),
}

impl SocketListener {
    pub(super) async fn bind(address: &Address) -> io::Result<Self> {
        match address {
            Address::Over { host, port, .. } if address.is_quic() => {
                Ok(Self::Quic(super::quic::listen(host, *port).await?))
            }
            Address::Tcp { host, port } | Address::Over { host, port, .. } => {
                let listener = TcpListener::bind((host.as_str(), *port)).await?;
                Ok(Self::Tcp(listener))
            }
            Address::Unix(path) => {
                let bound = UnixListener::bind(path);
                let bound = match bound {
                    // Removes the file of a program that was killed.
                    Err(e) if e.kind() == io::ErrorKind::AddrInUse && is_stale(path).await => {
                        std::fs::remove_file(path)?;
                        UnixListener::bind(path)
                    }
                    bound => bound,
                };
                Ok(Self::Unix(bound?, path.clone()))
            }
        }
    }

    /// The bound address; `None` for a Unix socket.
    fn local(&self) -> Option<SocketAddr> {
        match self {
            Self::Tcp(listener) => listener.local_addr().ok(),
            Self::Quic(endpoint) => endpoint.local_addr().ok(),
            Self::Unix(..) => None,
        }
    }

    /// The address with the port that was chosen.
    pub(super) fn address(&self, given: &Address) -> Address {
        let mut address = given.clone();
        if let (Some(local), Address::Tcp { port, .. } | Address::Over { port, .. }) =
            (self.local(), &mut address)
        {
            *port = local.port();
        }
        address
    }

    /// Returns `true` if the socket listens on all addresses of this machine.
    pub(super) fn is_on_all_addresses(&self) -> bool {
        self.local().is_some_and(|at| at.ip().is_unspecified())
    }

    /// Returns `true` if a connection to this address arrives here.
    pub(super) async fn is_destination_of(&self, connect: &Address) -> bool {
        match (self.local(), connect) {
            (Some(here), Address::Tcp { host, port } | Address::Over { host, port, .. }) => {
                let is_quic = matches!(self, Self::Quic(_));
                if here.port() != *port || connect.is_quic() != is_quic {
                    return false;
                }
                let found = tokio::net::lookup_host((host.as_str(), *port)).await;
                let ours = |ip: IpAddr| {
                    ip == here.ip()
                        || ip.is_unspecified()
                        || here.ip().is_unspecified()
                            && (ip.is_loopback() || std::net::UdpSocket::bind((ip, 0)).is_ok())
                };
                found.is_ok_and(|mut found| found.any(|to| ours(to.ip())))
            }
            (None, Address::Unix(to)) => {
                let Self::Unix(_, here) = self else {
                    return false;
                };
                let real = |path: &PathBuf| path.canonicalize().ok();
                real(here).is_some() && real(here) == real(to)
            }
            _ => false,
        }
    }

    /// Accepts the next connection over a socket. Returns it with the address of the peer. Never returns for QUIC.
    pub(super) async fn accept(&self) -> io::Result<(Socket, Option<String>)> {
        match self {
            Self::Tcp(listener) => {
                let (stream, peer) = listener.accept().await?;
                let _ = stream.set_nodelay(true);
                Ok((Socket::Tcp(stream), Some(peer.to_string())))
            }
            Self::Unix(listener, _) => {
                let (stream, _) = listener.accept().await?;
                Ok((Socket::Unix(stream), None))
            }
            Self::Quic(_) => std::future::pending().await,
        }
    }
}

/// The next QUIC client. Never returns for another listener.
pub(super) async fn incoming(listener: &SocketListener) -> quinn::Incoming {
    if let SocketListener::Quic(endpoint) = listener
        && let Some(incoming) = endpoint.accept().await
    {
        return incoming;
    }
    std::future::pending().await
}

impl Drop for SocketListener {
    fn drop(&mut self) {
        if let Self::Unix(_, path) = self {
            let _ = std::fs::remove_file(path);
        }
    }
}

/// Returns `true` if the path is a socket without a listener.
async fn is_stale(path: &PathBuf) -> bool {
    let is_socket =
        std::fs::symlink_metadata(path).is_ok_and(|m| crate::system::is_socket(m.file_type()));
    let refused = UnixStream::connect(path).await;
    is_socket && refused.is_err_and(|e| e.kind() == io::ErrorKind::ConnectionRefused)
}
