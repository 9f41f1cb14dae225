//! The peers of sael. The client opens a session, keeps it alive and closes it. The server admits clients, lists its
//! tools, and stores sent frames for clients that reconnect.
//!
//! ```text
//!   client   HEY --> HEY: calls are possible       HBT every 30 s      UNS, CAN, BYE at the end
//!            RSM instead, if a session lost its connection
//!   server   HEY <-- HEY, or ERR and close      LST SUB HBT <-- answered here     CAN <-- ERR CANCELLED
//!            RSM <-- the last 64 frames again, HEY     silence of 90 s <-- close     BYE <-- close
//! ```
//!
//! The script answers a pipeline as a whole: its stages are not run here.

mod answers;
mod client;
mod login;
mod server;
mod sessions;
#[cfg(test)]
mod tests;

use super::schema;
use crate::protocol::Direction;
use crate::protocol::make::Object;
use crate::protocol::peer::{Peer, PeerConfig, shorten};
use crate::tape::Node;

/// The features that both sides announce: those of real servers except input checks.
const SUPPORTS: &str =
    r#"["streaming","subscribe","compose","capabilities","resume","tracing","heartbeat"]"#;
/// The default name of a side.
const NAME: &str = "wiretool";
const SECOND: i64 = 1_000_000_000;

/// Creates the peer that sends in direction `side`.
pub(super) fn peer(side: Direction, config: &PeerConfig) -> Box<dyn Peer> {
    match side {
        Direction::ToServer => Box::new(client::SaelClient::new(config)),
        Direction::ToClient => Box::new(server::SaelServer::new(config)),
    }
}

/// Starts a frame.
fn frame(v: u8, kind: &str) -> Object {
    Object::default()
        .json("v", &v.to_string())
        .text("kind", kind)
}

/// Starts a frame that belongs to a call.
fn in_call(v: u8, kind: &str, seq: i128) -> Object {
    frame(v, kind).json("seq", &seq.to_string())
}

/// Builds an ERR; seq 0 belongs to the connection.
fn err(v: u8, seq: i128, code: &str, message: &str) -> String {
    let frame = in_call(v, "ERR", seq).text("code", code);
    frame.text("message", message).finish()
}

/// Returns the number of a call, if it is valid.
fn seq(root: Node<'_>) -> Option<i128> {
    let seq = root.get("seq")?.as_i128()?;
    (1..=schema::MAX_EXACT).contains(&seq).then_some(seq)
}
