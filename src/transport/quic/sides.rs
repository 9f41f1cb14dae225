//! Both sides of a proxied QUIC connection.

use crate::capture::ChunkSource;
use crate::transport::recorder::Proxied;
use quinn::{Connection, VarInt};
use std::sync::OnceLock;

/// Both sides of a proxied connection.
pub(in crate::transport) struct Sides {
    pub(in crate::transport) client: Connection,
    pub(in crate::transport) server: Connection,
    pub(in crate::transport) proxied: Proxied,
    /// Streams of each kind that a peer may have open.
    pub(in crate::transport) max_streams: u32,
    /// The code with which a fault has closed the connection. The first code counts.
    pub(in crate::transport) fault: OnceLock<VarInt>,
}

impl Sides {
    /// The connection from which bytes of this direction come, and the one to which they go.
    pub(super) fn of(&self, dir: ChunkSource) -> (&Connection, &Connection) {
        match dir {
            ChunkSource::S2c => (&self.server, &self.client),
            ChunkSource::C2s | ChunkSource::Stderr => (&self.client, &self.server),
        }
    }

    /// Waits until both connections have ended. Stream handles that are dropped earlier send a FIN or `STOP_SENDING`.
    pub(super) async fn closed(&self) {
        tokio::join!(self.client.closed(), self.server.closed());
    }
}
