//! QUIC (RFC 9000): endpoints, certificates, and the relay of one connection to another.
//!
//! ```text
//!   client --streams, datagrams--> connection --relay--> connection --the same ids--> server
//!                                                |
//!                                              queue --> recorder
//! ```
//!
//! TLS ends here, as with `tls://`. 0-RTT data is refused: the client sends it again after the handshake.

mod config;
mod delivery;
mod errors;
mod faults;
mod proxy;
mod relay;
mod serve;
mod sides;

pub use config::{ALPN, Certificate, QuicClient, QuicLimits, QuicServer};

pub(super) use proxy::{QUIC_CLOSE_TIMEOUT, Quic, connection, listen};
pub(super) use serve::{accept, connect};
