//! Live sessions without sockets: one engine that sends, replays and answers.
//!
//! ```text
//!   transport --opened, received, ended, tick--> Handler --Command--> transport
//!                                                   |
//!                client (send, replay), stub  --> Endpoint --> Codec --> bytes
//!                    |                 |
//!                   plan             script
//! ```
//!
//! An [`endpoint::Endpoint`] is one side of a session: connections, handshake, heartbeats, pending answers. The
//! [`client`] sends a recorded or typed plan through it; the [`stub`] answers from a [`script`], written or compiled
//! from a recording. This layer uses no socket and no clock: times are arguments, in nanoseconds since 1970.

pub mod client;
pub mod codec;
pub mod endpoint;
pub mod handler;
pub mod names;
pub mod plan;
pub mod script;
pub mod speed;
pub mod stub;
