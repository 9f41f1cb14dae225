//! Actors over real sockets, real children and real pipes: every byte, every end and every recording compared.
//!
//! Nothing here waits for time to pass: what must have happened is waited for, within [`common::LIMIT`].

mod bounds;
mod children;
mod common;
mod sockets;
mod stdio;
