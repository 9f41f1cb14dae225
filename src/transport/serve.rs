//! Runs a handler as a client, as a server on an address, or as a server for the parent process.
//!
//! ```text
//!   call                  handler --connect--> tcp, unix, tls, or a child
//!   BoundListener::serve  clients ---------> handler
//!   serve_stdio           our stdin ----> handler --> our stdout
//! ```
//!
//! All bytes and ends are recorded as by a proxy: c2s from the client, s2c from the server.

use super::connect::{Incoming, Target};
use super::driver::Driver;
use super::listen::{BoundListener, ListenOutcome, runtime};
use super::quic::{self, QuicServer};
use super::recorder::Setup;
use super::screen::TextScreen;
use super::signals::Signals;
use super::socket::SocketListener;
use super::tls::TlsServer;
use crate::capture::ChunkSource;
use crate::live::handler::Handler;
use std::fs::File;
use std::io;
use std::time::Duration;

/// Default time limit for a server that does not answer.
pub const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Runs a handler that opens connections, until it stops or has neither a connection nor a timer.
///
/// The recording is complete: the run waits for the recorder, whatever the policy of `setup` is.
///
/// # Errors
///
/// Fails if threads or signals are not available. The handler receives the errors of connections.
pub fn call(
    target: Target,
    handler: &mut dyn Handler,
    screen: TextScreen,
    setup: Setup,
) -> io::Result<ListenOutcome> {
    crate::system::raise_file_limit();
    let runtime = runtime()?;
    let signals = runtime.block_on(async {
        match &target {
            Target::Address { .. } | Target::Quic { .. } => Signals::stopping(),
            // Children must be waited for.
            Target::Child { .. } => Signals::ending(),
        }
    })?;
    let mut driver = Driver::new(handler, ChunkSource::C2s, Some(target), screen, setup)?;
    runtime.block_on(driver.run(signals, None));
    // A pending name lookup is of no use any more.
    runtime.shutdown_background();
    Ok(driver.outcome())
}

/// Options of a server.
#[derive(Default)]
pub struct Accepting {
    /// End with the first connection.
    pub once: bool,
    /// End after this time without traffic.
    pub idle: Option<Duration>,
    /// TLS with clients.
    pub tls: Option<TlsServer>,
    /// QUIC with clients, for a QUIC address.
    pub quic: Option<QuicServer>,
}

impl BoundListener {
    /// Runs a handler that serves clients, until it stops.
    ///
    /// The recording is complete: the run waits for the recorder, whatever the policy of `setup` is.
    ///
    /// # Errors
    ///
    /// Fails if no thread can be started.
    pub fn serve(
        self,
        options: Accepting,
        handler: &mut dyn Handler,
        screen: TextScreen,
        setup: Setup,
    ) -> io::Result<ListenOutcome> {
        crate::system::raise_file_limit();
        let Self {
            runtime,
            listener,
            signals,
            ..
        } = self;
        let mut driver = Driver::new(handler, ChunkSource::S2c, None, screen, setup)?;
        driver.once = options.once;
        driver.idle = options.idle;
        let endpoint = match (&listener, &options.quic) {
            (SocketListener::Quic(endpoint), Some(quic)) => {
                quic.listen(endpoint)?;
                Some(endpoint.clone())
            }
            _ => None,
        };
        let incoming = Incoming {
            listener,
            tls: options.tls,
            quic: options.quic,
        };
        runtime.block_on(async {
            driver.run(signals, Some(incoming)).await;
            if let Some(endpoint) = endpoint {
                let _ = tokio::time::timeout(quic::QUIC_CLOSE_TIMEOUT, endpoint.wait_idle()).await;
            }
        });
        Ok(driver.outcome())
    }
}

/// Runs a handler that serves the parent process as connection 1, until that connection ends.
///
/// Only bytes of the handler are written to `stdout`, and they are recorded before. If `stdin` does not end, the thread that
/// reads it stays until the process exits.
///
/// # Errors
///
/// Fails if threads or signals are not available.
pub fn serve_stdio(
    stdin: File,
    stdout: File,
    handler: &mut dyn Handler,
    screen: TextScreen,
    setup: Setup,
) -> io::Result<ListenOutcome> {
    let runtime = runtime()?;
    let signals = runtime.block_on(async { Signals::stopping() })?;
    let mut driver = Driver::new(handler, ChunkSource::S2c, None, screen, setup)?;
    runtime.block_on(async {
        driver.stdio(stdin, stdout);
        driver.run(signals, None).await;
    });
    Ok(driver.outcome())
}
