//! The proxy between real programs: real sockets and children; all bytes and ends are compared.
//!
//! No test sleeps: each event is waited for, within [`common::LIMIT`].

use crate::common::programs as common;

mod bounds;
mod captures;
mod children;
mod faults;
mod hostile;
mod hyper;
mod outputs;
mod sockets;
mod streams;
mod tls;
mod websocket;
