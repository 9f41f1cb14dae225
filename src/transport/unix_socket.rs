//! Unix sockets. On Windows there are none: to bind or connect one fails with a sentence.

#[cfg(unix)]
pub(super) use tokio::net::{UnixListener, UnixStream, unix::ReadHalf, unix::WriteHalf};
#[cfg(windows)]
pub(super) use windows::{ReadHalf, UnixListener, UnixStream, WriteHalf};

/// Announces that nothing more will be read.
#[cfg(unix)]
pub(super) fn shut_down_reading(half: &ReadHalf<'_>) {
    let _ = rustix::net::shutdown(half.as_ref(), rustix::net::Shutdown::Read);
}

/// Announces that nothing more will be read.
#[cfg(windows)]
pub(super) fn shut_down_reading(half: &ReadHalf<'_>) {
    match half.0 {}
}

/// Types without values.
#[cfg(windows)]
mod windows {
    use crate::system::unsupported;
    use std::convert::Infallible;
    use std::io;
    use std::marker::PhantomData;
    use std::path::Path;
    use std::pin::Pin;
    use std::task::{Context, Poll};
    use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

    const WHAT: &str = "has no Unix sockets";

    pub(in crate::transport) struct UnixListener(Infallible);
    pub(in crate::transport) struct UnixStream(Infallible);
    pub(in crate::transport) struct ReadHalf<'s>(pub Infallible, PhantomData<&'s ()>);
    pub(in crate::transport) struct WriteHalf<'s>(Infallible, PhantomData<&'s ()>);

    impl UnixListener {
        pub(in crate::transport) fn bind(_path: &Path) -> io::Result<Self> {
            unsupported(WHAT)
        }

        pub(in crate::transport) async fn accept(&self) -> io::Result<(UnixStream, ())> {
            match self.0 {}
        }
    }

    impl UnixStream {
        pub(in crate::transport) async fn connect(_path: &Path) -> io::Result<Self> {
            unsupported(WHAT)
        }

        pub(in crate::transport) fn split(&mut self) -> (ReadHalf<'_>, WriteHalf<'_>) {
            match self.0 {}
        }
    }

    impl AsyncRead for ReadHalf<'_> {
        fn poll_read(
            self: Pin<&mut Self>,
            _context: &mut Context<'_>,
            _space: &mut ReadBuf<'_>,
        ) -> Poll<io::Result<()>> {
            match self.0 {}
        }
    }

    impl AsyncWrite for WriteHalf<'_> {
        fn poll_write(
            self: Pin<&mut Self>,
            _context: &mut Context<'_>,
            _bytes: &[u8],
        ) -> Poll<io::Result<usize>> {
            match self.0 {}
        }

        fn poll_flush(self: Pin<&mut Self>, _context: &mut Context<'_>) -> Poll<io::Result<()>> {
            match self.0 {}
        }

        fn poll_shutdown(self: Pin<&mut Self>, _context: &mut Context<'_>) -> Poll<io::Result<()>> {
            match self.0 {}
        }
    }
}
