//! The peers of the Language Server Protocol. The client opens the session; the script has all other answers of a server.

use super::schema::DIALECT;
use crate::protocol::Direction;
use crate::protocol::peer::{Peer, PeerConfig};
use crate::protocol::rpc::peer::{Opening, RpcPeer};

/// A client without capabilities: servers then send nothing by themselves.
const OPENING: Opening = Opening {
    method: "initialize",
    params: |_| r#"{"processId":null,"rootUri":null,"capabilities":{}}"#.into(),
    done: "initialized",
};

/// Creates the peer that sends in direction `side`.
pub(super) fn peer(side: Direction, config: &PeerConfig) -> Box<dyn Peer> {
    let peer = RpcPeer::new(&DIALECT, side, Some(OPENING), config);
    let peer = peer.answering(|method, _| {
        (method == "initialize").then(|| Ok(r#"{"capabilities":{}}"#.into()))
    });
    // "A notification to ask the server to exit its process."
    Box::new(peer.ending(side, "exit"))
}
