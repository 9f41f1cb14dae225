//! The peers of JSON-RPC: neither side sends anything by itself.

use super::schema::DIALECT;
use crate::protocol::Direction;
use crate::protocol::peer::{Peer, PeerConfig};
use crate::protocol::rpc::peer::RpcPeer;

/// Creates the peer that sends in direction `side`.
pub(super) fn peer(side: Direction, config: &PeerConfig) -> Box<dyn Peer> {
    Box::new(RpcPeer::new(&DIALECT, side, None, config))
}
