//! In the middle of a conversation between two programs: forward first, look afterwards.
//!
//! ```text
//!   client <--socket--> pump <--socket--> server          executor <--stdio--> pumps <--pipes--> child
//!                        |                                                       |
//!                      queue --> recorder: tap --> recording, view             queue --> recorder
//! ```
//!
//! [`Bound::proxy`] stands between sockets, [`wrap`] between a child and whoever started it. Neither changes a byte, and
//! neither waits for who looks on: what is between the pump and the tap is bounded, and what finds no room there is lost to the
//! recording, never to the other side; unless [`Policy::Wait`] was asked for.

mod address;
mod connect;
mod connection;
mod driver;
mod faults;
mod listen;
mod pipes;
mod proxy;
mod pump;
mod queue;
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

pub use address::Address;
pub use connect::Target;
pub use faults::Faults;
pub use listen::{Bound, Outcome};
pub use proxy::Options;
pub use queue::Policy;
pub use recorder::{Render, Say, Seen, Setup, Sink, View};
pub use serve::{Accepting, CONNECT, call, serve_stdio};
pub use stdio::{Child, Wrap, wrap};
pub use tls::{Client, Server, Trust};

/// Nanoseconds since 1970-01-01T00:00:00Z, now.
pub fn now() -> crate::capture::Time {
    let since = std::time::SystemTime::now().duration_since(std::time::SystemTime::UNIX_EPOCH);
    since.map_or(0, |since| since.as_nanos().try_into().unwrap_or_default())
}
