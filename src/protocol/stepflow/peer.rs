//! The active half: the runtime, which opens the session and keeps blobs; the server, which says what components it has.
//!
//! ```text
//!   runtime   initialize --> answer --> initialized: calls may be made      blobs/put, blobs/get <-- answered here
//!   server    initialize <-- answer     components/list, components/info <-- answered here
//! ```
//!
//! Over lines every child is a session of its own; over HTTP all connections are one, and the answer to `initialize` may
//! open the way on any of them. Dialects (of [`PeerConfig::dialect`]): `A`, `B` (the default) and `C`, as
//! [`super::message`] tells them apart; a server answers in that of the request.

mod blobs;
mod runtime;
mod server;
#[cfg(test)]
mod tests;

use crate::error::Refusal;
use crate::framing::Framing;
use crate::protocol::jsonrpc::say;
use crate::protocol::make::{Mint, text};
use crate::protocol::peer::{Peer, PeerConfig, Phrase, Request, Says, as_json, as_object};
use crate::protocol::session::Seen;
use crate::protocol::{Direction, Id};

/// The version that is spoken, in every release.
const VERSION: &str = "1";
/// The code of an error whose author chose none: a server's error in every release.
const USUAL: i32 = -32000;

/// Plays the side that speaks in that direction.
pub(super) fn peer(side: Direction, config: &PeerConfig) -> Box<dyn Peer> {
    match side {
        Direction::ToServer => Box::new(runtime::Runtime::new(config)),
        Direction::ToClient => Box::new(server::Server::new(config)),
    }
}

/// Whether a message came or went over HTTP, where connections are no sessions.
fn is_http(seen: &Seen<'_>) -> bool {
    seen.frame.framing == Framing::Http
}

/// A fresh id of a request, as it is spelled.
fn fresh_id(mint: &mut Mint) -> String {
    text(&Id::Uuid(mint.uuid()).text())
}

/// Codes that mean the same in every release, by name.
fn code(name: &str) -> Option<i32> {
    Some(match name {
        "server-error" => USUAL,
        "component-not-found" => COMPONENT_NOT_FOUND,
        "not-initialized" => -32002,
        _ => return None,
    })
}

/// There is no such component.
const COMPONENT_NOT_FOUND: i32 = -32001;

/// What phrases become. The result of a `components/execute` is its output; that of any other method is as it is given.
fn phrase(to: &Request, phrase: Phrase<'_>, mint: &mut Mint) -> Result<Says, Refusal> {
    let message = match phrase {
        Phrase::Result(value) if to.subject.as_deref() == Some("components/execute") => {
            let output = format!("{{\"output\":{}}}", as_json(value, "result")?);
            say::result(&say::id(to)?, &output)
        }
        Phrase::Ask(method, params) => {
            let params = as_object(params, "params")?;
            say::request(&fresh_id(mint), method, Some(params))
        }
        Phrase::Tell(method, params) => {
            say::notification(method, Some(as_object(params, "params")?))
        }
        _ => match say::answer(to, phrase, USUAL, code)? {
            Some(message) => message,
            None => {
                return Err(phrase.refused("result, error, ask or tell: a request has one answer"));
            }
        },
    };
    Ok(Says::new(to.conn, message))
}
