//! The peers of acp. The client opens the connection; the agent answers the handshake and gives sessions.
//!
//! ```text
//!   client   initialize --> answer: calls are possible
//!            session/request_permission <-- "cancelled"
//!   agent    initialize, authenticate, session/new <-- answered here
//! ```

use super::schema::{self, DIALECT};
use crate::protocol::make::Object;
use crate::protocol::peer::{Peer, PeerConfig};
use crate::protocol::rpc::peer::{Opening, RpcPeer, method_not_found};
use crate::protocol::{Direction, Id};

/// The client's part of the handshake.
const OPENING: Opening = Opening {
    method: "initialize",
    params: |_| r#"{"protocolVersion":1,"clientCapabilities":{}}"#.into(),
    done: "",
};

/// Creates the peer that sends in direction `side`.
pub(super) fn peer(side: Direction, config: &PeerConfig) -> Box<dyn Peer> {
    let mut id_gen = config.mint();
    let peer = RpcPeer::new(&DIALECT, side, Some(OPENING), config);
    Box::new(peer.answering(move |method, _| {
        let result = match (side, method) {
            (Direction::ToServer, schema::PERMISSION) => r#"{"outcome":{"outcome":"cancelled"}}"#,
            (Direction::ToServer, _) => return Some(method_not_found(method)),
            (_, "initialize") => r#"{"protocolVersion":1,"agentCapabilities":{}}"#,
            (_, "authenticate" | "logout") => "{}",
            (_, "session/new") => {
                let session = Id::Uuid(id_gen.uuid());
                let result = Object::default().text("sessionId", &session.text());
                return Some(Ok(result.finish()));
            }
            _ => return None,
        };
        Some(Ok(result.into()))
    }))
}
