//! Handlers over real sockets, children and pipes: all bytes, ends and recordings are compared.
//!
//! No test sleeps: each event is waited for, within [`common::LIMIT`].

mod bounds;
mod children;
mod common;
mod quic;
mod recorder;
mod sockets;
mod stdio;
