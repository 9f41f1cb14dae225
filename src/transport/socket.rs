//! Sockets of both kinds as one.

use super::address::Address;
use super::tls::{Client, Server};
use std::future::poll_fn;
use std::io;
use std::net::IpAddr;
use std::path::PathBuf;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, Interest, ReadBuf, ReadHalf, WriteHalf};
use tokio::net::{TcpListener, TcpStream, UnixListener, UnixStream, tcp, unix};
use tokio_rustls::TlsStream;

/// How long who has said all waits for the other side to say the same.
pub(super) const MOMENT: Duration = Duration::from_millis(250);

/// A connected socket.
pub(super) enum Socket {
    Tcp(TcpStream),
    Unix(UnixStream),
    Tls(Box<TlsStream<TcpStream>>),
}

impl Socket {
    /// Connects; a server that does not answer at all is waited for `within` so long, or as long as the system does.
    pub(super) async fn connect(
        address: &Address,
        tls: Option<&Client>,
        within: Option<Duration>,
    ) -> io::Result<Self> {
        match address {
            Address::Tcp { host, port } | Address::Over { host, port, .. } => {
                let connected = TcpStream::connect((host.as_str(), *port));
                // Apart: it is large, and soon over.
                let stream = Box::pin(in_time(within, connected)).await?;
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
                Ok(Self::Unix(in_time(within, connected).await?))
            }
        }
    }

    /// The same with TLS, as who was dialled.
    pub(super) async fn secure(self, tls: &Server) -> io::Result<Self> {
        match self {
            Self::Tcp(stream) => {
                let secured = Box::pin(tls.accept(stream)).await?;
                Ok(Self::Tls(Box::new(secured)))
            }
            other => Ok(other),
        }
    }

    /// Its two directions.
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

    /// Says that all was said, and gives the other side a moment to say the same: what it had on its way would
    /// otherwise come back to it as a reset.
    pub(super) async fn finish(&mut self) {
        let (mut reader, mut writer) = self.split();
        let last = async {
            let _ = poll_fn(|context| Pin::new(&mut writer).poll_shutdown(context)).await;
            let mut buffer = [0; 4096];
            loop {
                let mut room = ReadBuf::new(&mut buffer);
                let read = poll_fn(|context| Pin::new(&mut reader).poll_read(context, &mut room));
                if read.await.is_err() || room.filled().is_empty() {
                    return;
                }
            }
        };
        let _ = tokio::time::timeout(MOMENT, last).await;
    }

    /// Closes it so that the other side sees a reset, where its kind has that.
    pub(super) fn reset(self) {
        let stream = match &self {
            Self::Tcp(stream) => stream,
            Self::Tls(stream) => stream.get_ref().0,
            Self::Unix(_) => return,
        };
        let _ = stream.set_zero_linger();
    }
}

async fn in_time<T>(
    within: Option<Duration>,
    connected: impl Future<Output = io::Result<T>>,
) -> io::Result<T> {
    let Some(within) = within else {
        return connected.await;
    };
    let late = |_| {
        let text = format!("no answer within {within:?}");
        io::Error::new(io::ErrorKind::TimedOut, text)
    };
    let connected = tokio::time::timeout(within, connected).await;
    connected.map_err(late)?
}

/// What is read from a socket.
pub(super) enum Reader<'s> {
    Tcp(tcp::ReadHalf<'s>),
    Unix(unix::ReadHalf<'s>),
    /// With whether it ended without the word that TLS has for it.
    Tls(ReadHalf<&'s mut TlsStream<TcpStream>>, bool),
}

impl Reader<'_> {
    /// Whether it ended without TLS's word for it: then nobody knows whether all has come (RFC 8446 section 6.1).
    pub(super) const fn is_torn(&self) -> bool {
        matches!(self, Self::Tls(_, true))
    }

    /// Ends when the socket breaks, though nothing is being read from it; never where it does not.
    pub(super) async fn broken(&self) {
        let error = match self {
            Self::Tcp(half) => half.ready(Interest::ERROR).await.is_err() || taken(half.as_ref()),
            // Without a reset there is nothing to watch for.
            Self::Unix(_) | Self::Tls(..) => false,
        };
        if !error {
            std::future::pending::<()>().await;
        }
    }

    /// Nobody will read any more: where its kind has that, the other side sees it.
    pub(super) fn refuse(&self) {
        if let Self::Unix(half) = self {
            let _ = rustix::net::shutdown(half.as_ref(), rustix::net::Shutdown::Read);
        }
    }
}

/// Whether an error was pending.
fn taken(stream: &TcpStream) -> bool {
    stream.take_error().map_or(true, |error| error.is_some())
}

impl AsyncRead for Reader<'_> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        room: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Tcp(half) => Pin::new(half).poll_read(context, room),
            Self::Unix(half) => Pin::new(half).poll_read(context, room),
            Self::Tls(half, torn) => match Pin::new(half).poll_read(context, room) {
                // Many peers just hang up, without saying in TLS that they do.
                Poll::Ready(Err(e)) if e.kind() == io::ErrorKind::UnexpectedEof => {
                    *torn = true;
                    Poll::Ready(Ok(()))
                }
                read => read,
            },
        }
    }
}

/// What is written to a socket.
pub(super) enum Writer<'s> {
    Tcp(tcp::WriteHalf<'s>),
    Unix(unix::WriteHalf<'s>),
    Tls(WriteHalf<&'s mut TlsStream<TcpStream>>),
}

impl Writer<'_> {
    /// Whether what was written may still wait here, and must be flushed.
    pub(super) const fn keeps(&self) -> bool {
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

/// A listening socket. One of kind unix leaves no file behind.
pub(super) enum Listener {
    Tcp(TcpListener),
    Unix(UnixListener, PathBuf),
}

impl Listener {
    pub(super) async fn bind(address: &Address) -> io::Result<Self> {
        match address {
            Address::Tcp { host, port } | Address::Over { host, port, .. } => {
                let listener = TcpListener::bind((host.as_str(), *port)).await?;
                Ok(Self::Tcp(listener))
            }
            Address::Unix(path) => {
                let bound = UnixListener::bind(path);
                let bound = match bound {
                    // What a program left behind that was killed is in nobody's use.
                    Err(e) if e.kind() == io::ErrorKind::AddrInUse && is_dead(path).await => {
                        std::fs::remove_file(path)?;
                        UnixListener::bind(path)
                    }
                    bound => bound,
                };
                Ok(Self::Unix(bound?, path.clone()))
            }
        }
    }

    /// Where it listens, with the port that was chosen.
    pub(super) fn address(&self, asked: &Address) -> Address {
        match (self, asked) {
            (Self::Tcp(listener), Address::Tcp { host, port }) => Address::Tcp {
                host: host.clone(),
                port: listener.local_addr().map_or(*port, |a| a.port()),
            },
            (Self::Tcp(listener), Address::Over { scheme, host, port }) => Address::Over {
                scheme: *scheme,
                host: host.clone(),
                port: listener.local_addr().map_or(*port, |a| a.port()),
            },
            _ => asked.clone(),
        }
    }

    /// Whether every address of this machine is listened on.
    pub(super) fn is_everywhere(&self) -> bool {
        let Self::Tcp(listener) = self else {
            return false;
        };
        listener
            .local_addr()
            .is_ok_and(|at| at.ip().is_unspecified())
    }

    /// Whether who connects there comes back here.
    pub(super) async fn is_reached_by(&self, connect: &Address) -> bool {
        match (self, connect) {
            (
                Self::Tcp(listener),
                Address::Tcp { host, port } | Address::Over { host, port, .. },
            ) => {
                let Ok(here) = listener.local_addr() else {
                    return false;
                };
                if here.port() != *port {
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
            (Self::Unix(_, here), Address::Unix(to)) => {
                let real = |path: &PathBuf| path.canonicalize().ok();
                real(here).is_some() && real(here) == real(to)
            }
            _ => false,
        }
    }

    /// The next connection, and who it is.
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
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        if let Self::Unix(_, path) = self {
            let _ = std::fs::remove_file(path);
        }
    }
}

/// Whether a path is a socket that nobody listens on.
async fn is_dead(path: &PathBuf) -> bool {
    use std::os::unix::fs::FileTypeExt as _;
    let is_socket = std::fs::symlink_metadata(path).is_ok_and(|m| m.file_type().is_socket());
    let refused = UnixStream::connect(path).await;
    is_socket && refused.is_err_and(|e| e.kind() == io::ErrorKind::ConnectionRefused)
}
