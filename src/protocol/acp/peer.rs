//! The peers of acp. The client opens the connection; the agent answers the handshake and gives sessions.
//!
//! ```text
//!   client   initialize --> answer: calls are possible
//!            session/request_permission <-- "cancelled"
//!   agent    initialize, authenticate, session/new <-- answered here
//! ```

use super::schema;
use crate::error::Refusal;
use crate::protocol::Direction;
use crate::protocol::Id;
use crate::protocol::Role;
use crate::protocol::make::{IdGen, Object, text};
use crate::protocol::peer::{Outgoing, Peer, PeerConfig, PeerReply, Readiness, Request};
use crate::protocol::rpc::build::{self, METHOD_NOT_FOUND};
use crate::protocol::rpc::peer::{Opening, RpcPeer};
use crate::protocol::rpc::{Call, spelling};
use crate::protocol::session::Seen;
use crate::tape::Node;

/// The client's part of the handshake.
const OPENING: Opening = Opening {
    method: "initialize",
    params: |_| r#"{"protocolVersion":1,"clientCapabilities":{}}"#.into(),
    done: "",
};

/// Creates the peer that sends in direction `side`.
pub(super) fn peer(side: Direction, config: &PeerConfig) -> Box<dyn Peer> {
    Box::new(AcpPeer {
        side,
        inner: RpcPeer::new(side, Some(OPENING), config),
        id_gen: config.mint(),
    })
}

struct AcpPeer {
    side: Direction,
    inner: RpcPeer,
    id_gen: IdGen,
}

impl AcpPeer {
    /// Returns the answer to a request; `None` if the script must answer.
    fn answer(&mut self, id: &str, method: &str) -> Option<String> {
        let result = match (self.side, method) {
            (Direction::ToServer, schema::PERMISSION) => {
                r#"{"outcome":{"outcome":"cancelled"}}"#.into()
            }
            (Direction::ToServer, _) => {
                let short: String = method.chars().take(80).collect();
                let why = format!("Method not found: {short}");
                return Some(build::error(id, &METHOD_NOT_FOUND.to_string(), &why, None));
            }
            (_, "initialize") => {
                let result = Object::default().json("protocolVersion", "1");
                result.json("agentCapabilities", "{}").finish()
            }
            (_, "authenticate" | "logout") => "{}".into(),
            (_, "session/new") => {
                let session = Id::Uuid(self.id_gen.uuid());
                Object::default()
                    .json("sessionId", &text(&session.text()))
                    .finish()
            }
            _ => return None,
        };
        Some(build::result(id, &result))
    }
}

impl Peer for AcpPeer {
    fn opened(&mut self, conn: u32, now: i64, outgoing: &mut Vec<Outgoing>) {
        self.inner.opened(conn, now, outgoing);
    }

    fn received(&mut self, seen: &Seen<'_>, now: i64, outgoing: &mut Vec<Outgoing>) {
        self.inner.received(seen, now, outgoing);
        let call = seen.root().map(Call::of).unwrap_or_default();
        let id = call.id.map(spelling);
        let Some(id) = id.filter(|_| seen.message.role == Some(Role::Request)) else {
            return;
        };
        let method = call.method.and_then(Node::text).unwrap_or_default();
        if let Some(message) = self.answer(id, &method) {
            outgoing.push(Outgoing::new(seen.origin.conn.unwrap_or_default(), message));
        }
    }

    fn sent(&mut self, seen: &Seen<'_>, now: i64) {
        self.inner.sent(seen, now);
    }

    fn closed(&mut self, conn: u32, now: i64) {
        self.inner.closed(conn, now);
    }

    fn readiness(&self, conn: u32) -> Readiness {
        self.inner.readiness(conn)
    }

    fn encode_reply(
        &mut self,
        to: &Request,
        reply: PeerReply<'_>,
        now: i64,
    ) -> Result<Outgoing, Refusal> {
        self.inner.encode_reply(to, reply, now)
    }
}
