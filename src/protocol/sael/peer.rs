//! The active half: the client opens a session, keeps it alive and takes its leave; the server lets in, lists its tools,
//! and keeps what it said for those who come back.
//!
//! ```text
//!   client   HEY --> HEY: calls may be made     HBT every 30 s      UNS, CAN, BYE at the end
//!            RSM instead, where a session lost its connection
//!   server   HEY <-- HEY, or ERR and close      LST SUB HBT <-- answered here     CAN <-- ERR CANCELLED
//!            RSM <-- the last 64 frames again, HEY     silence of 90 s <-- close     BYE <-- close
//! ```
//!
//! A pipeline is for the script to answer as a whole: no stage of it is run here.

mod client;
mod enter;
mod phrase;
mod server;
mod sessions;
#[cfg(test)]
mod tests;

use crate::protocol::Direction;
use crate::protocol::make::Object;
use crate::protocol::peer::{Peer, PeerConfig};
use crate::tape::Node;

/// What both sides say that they can do: of the list of real servers, all but checks of input.
const SUPPORTS: &str =
    r#"["streaming","subscribe","compose","capabilities","resume","tracing","heartbeat"]"#;
/// How a side that was given no name calls itself.
const NAME: &str = "wiretool";
const SECOND: i64 = 1_000_000_000;
/// Numbers beyond 2^53 do not survive the readers.
const MOST_SEQ: i128 = (1 << 53) - 1;

/// Plays the side that speaks in that direction.
pub(super) fn peer(side: Direction, config: &PeerConfig) -> Box<dyn Peer> {
    match side {
        Direction::ToServer => Box::new(client::Client::new(config)),
        Direction::ToClient => Box::new(server::Server::new(config)),
    }
}

/// The beginning of a frame.
fn frame(v: u8, kind: &str) -> Object {
    Object::default()
        .json("v", &v.to_string())
        .text("kind", kind)
}

/// The beginning of a frame that belongs to a call.
fn in_call(v: u8, kind: &str, seq: i128) -> Object {
    frame(v, kind).json("seq", &seq.to_string())
}

/// An ERR; number 0 is the connection's own.
fn err(v: u8, seq: i128, code: &str, message: &str) -> String {
    let frame = in_call(v, "ERR", seq).text("code", code);
    frame.text("message", message).finish()
}

/// The number of a call, where it is one.
fn seq(root: Node<'_>) -> Option<i128> {
    let seq = root.get("seq")?.as_i128()?;
    (1..=MOST_SEQ).contains(&seq).then_some(seq)
}

/// Text of a refusal, which shall not grow with what it is about.
fn short(text: &str) -> String {
    text.chars().take(80).collect()
}
