//! A handler as a client, as a server on an address, and as a server for whoever started us.
//!
//! ```text
//!   call          handler --dial--> tcp, unix, tls, or a child
//!   Bound::serve  anybody ------> handler
//!   serve_stdio   our stdin ----> handler --> our stdout
//! ```
//!
//! Every byte and every end is recorded as a proxy would: what a client says is c2s, what a server says s2c.

use super::connect::{Incoming, Target};
use super::driver::Driver;
use super::listen::{Bound, Outcome, more_files, runtime};
use super::recorder::Setup;
use super::screen::Screen;
use super::signals::Signals;
use super::tls::Server;
use crate::capture::Stream;
use crate::live::handler::Handler;
use std::fs::File;
use std::io;
use std::time::Duration;

/// How long a server that does not answer at all is usually waited for.
pub const CONNECT: Duration = Duration::from_secs(10);

/// Lets a handler dial, until it stops, or nothing is open and it waits for nothing.
///
/// Whatever `setup` says of its policy, nothing is lost to the recording: it is waited for.
///
/// # Errors
///
/// There are no threads to be had, or no signals. That there is no connection is told to the handler.
pub fn call(
    target: Target,
    handler: &mut dyn Handler,
    screen: Screen,
    setup: Setup,
) -> io::Result<Outcome> {
    more_files();
    let runtime = runtime()?;
    let signals = runtime.block_on(async {
        match &target {
            Target::Address { .. } => Signals::stopping(),
            // No child is to be left alone.
            Target::Child { .. } => Signals::ending(),
        }
    })?;
    let mut driver = Driver::new(handler, Stream::C2s, Some(target), screen, setup)?;
    runtime.block_on(driver.run(signals, None));
    // A name that is still being looked up is of no use to anybody.
    runtime.shutdown_background();
    Ok(driver.outcome())
}

/// What a server does beside answering.
#[derive(Default)]
pub struct Accepting {
    /// End when the first connection has ended.
    pub once: bool,
    /// End when nothing has passed for so long.
    pub idle: Option<Duration>,
    /// TLS with clients.
    pub tls: Option<Server>,
}

impl Bound {
    /// Lets a handler serve whoever connects, until it stops.
    ///
    /// Whatever `setup` says of its policy, nothing is lost to the recording: it is waited for.
    ///
    /// # Errors
    ///
    /// There are no threads to be had.
    pub fn serve(
        self,
        options: Accepting,
        handler: &mut dyn Handler,
        screen: Screen,
        setup: Setup,
    ) -> io::Result<Outcome> {
        more_files();
        let Self {
            runtime,
            listener,
            signals,
            ..
        } = self;
        let mut driver = Driver::new(handler, Stream::S2c, None, screen, setup)?;
        driver.once = options.once;
        driver.idle = options.idle;
        let incoming = Incoming {
            listener,
            tls: options.tls,
        };
        runtime.block_on(driver.run(signals, Some(incoming)));
        Ok(driver.outcome())
    }
}

/// Lets a handler serve whoever started us, as connection 1, until that has ended.
///
/// Nothing but what the handler sends is written to `stdout`, and all of that is in the recording before. The thread that
/// reads `stdin` is left behind where that does not end: it ends with the process.
///
/// # Errors
///
/// There are no threads to be had, or no signals.
pub fn serve_stdio(
    stdin: File,
    stdout: File,
    handler: &mut dyn Handler,
    screen: Screen,
    setup: Setup,
) -> io::Result<Outcome> {
    let runtime = runtime()?;
    let signals = runtime.block_on(async { Signals::stopping() })?;
    let mut driver = Driver::new(handler, Stream::S2c, None, screen, setup)?;
    runtime.block_on(async {
        driver.stdio(stdin, stdout);
        driver.run(signals, None).await;
    });
    Ok(driver.outcome())
}
