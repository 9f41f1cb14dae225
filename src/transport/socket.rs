//! Sockets of both kinds as one.

use super::address::Address;
use std::io;
use std::path::PathBuf;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, Interest, ReadBuf};
use tokio::net::{TcpListener, TcpStream, UnixListener, UnixStream, tcp, unix};

/// A connected socket.
pub(super) enum Socket {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl Socket {
    pub(super) async fn connect(address: &Address) -> io::Result<Self> {
        match address {
            Address::Tcp { host, port } => {
                let stream = TcpStream::connect((host.as_str(), *port)).await?;
                let _ = stream.set_nodelay(true);
                Ok(Self::Tcp(stream))
            }
            Address::Unix(path) => Ok(Self::Unix(UnixStream::connect(path).await?)),
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
        }
    }

    /// Closes it so that the other side sees a reset, where its kind has that.
    pub(super) fn reset(self) {
        if let Self::Tcp(stream) = &self {
            let _ = stream.set_zero_linger();
        }
    }
}

/// What is read from a socket.
pub(super) enum Reader<'s> {
    Tcp(tcp::ReadHalf<'s>),
    Unix(unix::ReadHalf<'s>),
}

impl Reader<'_> {
    /// Ends when the socket breaks, though nothing is being read from it; never where it does not.
    pub(super) async fn broken(&self) {
        let error = match self {
            Self::Tcp(half) => half.ready(Interest::ERROR).await.is_err() || taken(half.as_ref()),
            // Without a reset there is nothing to watch for.
            Self::Unix(_) => false,
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
        }
    }
}

/// What is written to a socket.
pub(super) enum Writer<'s> {
    Tcp(tcp::WriteHalf<'s>),
    Unix(unix::WriteHalf<'s>),
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
        }
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Tcp(half) => Pin::new(half).poll_shutdown(context),
            Self::Unix(half) => Pin::new(half).poll_shutdown(context),
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
            Address::Tcp { host, port } => {
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
            _ => asked.clone(),
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
