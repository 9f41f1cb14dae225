//! The proxy between real programs: real sockets, real children, every byte and every end compared.
//!
//! Nothing here waits for time to pass: what must have happened is waited for, within [`common::LIMIT`].

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
