//! Live traffic: sockets, pipes, TLS, and the proxy between two programs. It forwards first and inspects afterwards.
//!
//! ```text
//!   client <--socket--> pump <--socket--> server          executor <--stdio--> pumps <--pipes--> child
//!                        |                                                       |
//!                      queue --> recorder: tap --> recording, view             queue --> recorder
//! ```
//!
//! [`BoundListener::proxy`] works between sockets, [`wrap`] between a child and its parent process. They change bytes only on
//! request (faults, `--rewrite-host`, quarantine), and do not wait for the recorder: the queue is bounded, and bytes that find no
//! space in it are missing from the recording, but reach the peer. [`Policy::Wait`] waits instead.

mod address;
mod collector;
mod connect;
mod connection;
mod driver;
mod faults;
mod inserts;
mod listen;
mod pipes;
mod proxy;
mod pump;
mod queue;
mod quic;
mod recorder;
mod screen;
mod serve;
mod signals;
mod socket;
mod socket_io;
mod stdio;
mod stdio_pump;
#[cfg(test)]
mod tests;
mod tls;
mod unix_socket;

pub use crate::relay::Policy;
pub use address::Address;
pub use collector::{Collector, CollectorAddress, CollectorReport};
pub use connect::Target;
pub use driver::Clock;
pub use faults::Faults;
pub use inserts::Inserts;
pub use listen::{BoundListener, ListenOutcome};
pub use proxy::ProxyOptions;
pub use quic::{ALPN, Certificate, QuicClient, QuicLimits, QuicServer};
pub use recorder::{
    FileLimit, MessagePrinter, RecorderObserver, RecorderScreen, RecordingFile, RecordingSummary,
    Render, Rotation, Setup,
};
pub use screen::TextScreen;
pub use serve::{Accepting, CONNECT_TIMEOUT, call, serve_stdio};
pub use stdio::{ChildCommand, Program, Wrap, wrap};
pub use tls::{TlsClient, TlsServer, Trust};

/// The current time in nanoseconds since 1970-01-01T00:00:00Z.
pub fn now() -> crate::capture::Time {
    let since = std::time::SystemTime::now().duration_since(std::time::SystemTime::UNIX_EPOCH);
    since.map_or(0, |since| since.as_nanos().try_into().unwrap_or_default())
}
