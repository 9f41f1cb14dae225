//! The peers of stepflow. The runtime opens the session and stores blobs; the server lists its components.
//!
//! ```text
//!   runtime   initialize --> answer --> initialized: calls are possible     blobs/put, blobs/get <-- answered here
//!   server    initialize <-- answer     components/list, components/info <-- answered here
//! ```
//!
//! Over lines every child has its own session; over HTTP all connections share one, and the answer to `initialize` may
//! come on any of them. The dialects ([`PeerConfig::dialect`]) are `A`, `B` (the default) and `C`, as
//! [`super::message`] distinguishes them; a server answers in that of the request.

mod blobs;
mod runtime;
mod server;
#[cfg(test)]
mod tests;

use super::schema::DIALECT;
use crate::error::Result;
use crate::framing::Framing;
use crate::protocol::Direction;
use crate::protocol::make::IdGen;
use crate::protocol::peer::{Outgoing, Peer, PeerConfig, PeerReply, Request, as_json, as_object};
use crate::protocol::rpc::build;
use crate::protocol::session::Seen;

/// The protocol version of every release.
const VERSION: &str = "1";
/// The default code of an error: a server error in every release.
const DEFAULT_CODE: i32 = -32000;

/// Creates the peer that sends in direction `side`.
pub(super) fn peer(side: Direction, config: &PeerConfig) -> Box<dyn Peer> {
    match side {
        Direction::ToServer => Box::new(runtime::Runtime::new(config)),
        Direction::ToClient => Box::new(server::StepflowServer::new(config)),
    }
}

/// Returns true for a message over HTTP, where a connection is not a session.
fn is_http(seen: &Seen<'_>) -> bool {
    seen.frame.framing == Framing::Http
}

/// Returns a code by its name; the codes mean the same in every release.
fn code(name: &str) -> Option<i32> {
    Some(match name {
        "server-error" => DEFAULT_CODE,
        "component-not-found" => COMPONENT_NOT_FOUND,
        "not-initialized" => -32002,
        _ => return None,
    })
}

/// The component does not exist.
const COMPONENT_NOT_FOUND: i32 = -32001;

/// Builds the message for a reply. The result of a `components/execute` is its output; the result of any other method
/// is unchanged.
fn encode_reply(to: &Request, reply: PeerReply<'_>, id_gen: &mut IdGen) -> Result<Outgoing> {
    let message = match reply {
        PeerReply::Result(value) if to.subject.as_deref() == Some("components/execute") => {
            let output = format!("{{\"output\":{}}}", as_json(value, "result")?);
            build::result(&build::id(to)?, &output)
        }
        PeerReply::Ask(method, params) => {
            let params = as_object(params, "params")?;
            build::request(&(DIALECT.new_id)(id_gen), method, Some(params))
        }
        PeerReply::Tell(method, params) => {
            build::notification(method, Some(as_object(params, "params")?))
        }
        _ => match build::answer(to, reply, DEFAULT_CODE, code)? {
            Some(message) => message,
            None => {
                return Err(reply.refused("result, error, ask or tell: a request has one answer"));
            }
        },
    };
    Ok(Outgoing::new(to.conn, message))
}
