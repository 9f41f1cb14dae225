//! The peers of oracle: ready, its acknowledgement, and the checks before the first call.
//!
//! ```text
//!   oracle     ready --> waits --ack--> serves --shutdown--> closes
//!                          '--error, or any other message--> closes
//!   executor   waits --ready--> ack: calls are possible     --> shutdown
//!                '--any other message--> error, code 0: calls are refused
//! ```

use super::message::is_usable_id;
use super::schema::INVOKE_PARAMS;
use crate::error::Result;
use crate::protocol::peer::{
    HandshakeStage, MAX_ENTRIES, Offer, Outgoing, Peer, PeerConfig, PeerReply, Readiness,
    RecentEntries, Request,
};
use crate::protocol::rpc::build::{self, INVALID_PARAMS, METHOD_NOT_FOUND};
use crate::protocol::rpc::{Call, spelling};
use crate::protocol::schema::check::{refuse, refuse_nothing};
use crate::protocol::session::Seen;
use crate::protocol::{Direction, Role};
use crate::tape::Node;

/// The reason why no request is answered after shutdown.
const ENDED: &str = "the executor has ended the session";
/// The default code of an error.
const DEFAULT_CODE: i32 = -32603;

/// Creates the peer that sends in direction `side`.
pub(super) fn peer(side: Direction, config: &PeerConfig) -> Box<dyn Peer> {
    match side {
        Direction::ToServer => Box::new(Executor {
            no_hello: config.no_hello,
            children: RecentEntries::with_capacity(MAX_ENTRIES),
        }),
        Direction::ToClient => Box::new(OracleServer {
            no_hello: config.no_hello,
            offers: config.offers.clone(),
            executors: RecentEntries::with_capacity(MAX_ENTRIES),
        }),
    }
}

/// Builds the message for a reply that answers a request: a result or an error.
fn encode_reply(to: &Request, reply: PeerReply<'_>) -> Result<Outgoing> {
    match build::answer(to, reply, DEFAULT_CODE, |_| None)? {
        Some(message) => Ok(Outgoing::new(to.conn, message)),
        None => Err(reply.refused("result or error: an invoke has one answer")),
    }
}

/// The executor: it spawned the oracle, and waits for ready.
struct Executor {
    no_hello: bool,
    children: RecentEntries<u32, HandshakeStage>,
}

impl Peer for Executor {
    fn opened(&mut self, conn: u32, _: i64, _: &mut Vec<Outgoing>) {
        self.children.insert(conn, HandshakeStage::New);
    }

    fn received(&mut self, seen: &Seen<'_>, _: i64, outgoing: &mut Vec<Outgoing>) {
        let conn = seen.origin.conn.unwrap_or_default();
        let child = self.children.entry(conn);
        if !matches!(child, HandshakeStage::New) {
            return;
        }
        let call = seen.root().map(Call::of).unwrap_or_default();
        let id = call.id.filter(|id| is_usable_id(*id)).map(spelling);
        let is_good = seen.message.faults.is_empty() && seen.frame.fault.is_none();
        let is_request = is_good && seen.message.role == Some(Role::Request);
        // MUST (Initialisation): the oracle announces that it is ready. Params are optional, and by name.
        let wrong = if !is_request {
            Some("expected a ready request, got something else")
        } else if seen.message.kind != "ready" {
            Some("expected ready request from oracle")
        } else if call.params.is_some_and(|p| !p.is_map() && !p.is_null()) {
            Some("expected the params of ready to be an object")
        } else {
            None
        };
        match (wrong, id) {
            (None, Some(id)) => {
                *child = HandshakeStage::Requested(id.to_owned());
                if !self.no_hello {
                    outgoing.push(Outgoing::new(conn, build::result(id, "{}")));
                }
            }
            (wrong, id) => {
                let why = wrong.unwrap_or("ready has no id that can be answered");
                *child = HandshakeStage::Over(why.to_owned());
                // Real executors refuse with code 0.
                if let Some(id) = id.filter(|_| is_request && !self.no_hello) {
                    outgoing.push(Outgoing::new(conn, build::error(id, "0", why, None)));
                }
            }
        }
    }

    fn sent(&mut self, seen: &Seen<'_>, _: i64) {
        let conn = seen.origin.conn.unwrap_or_default();
        let child = self.children.entry(conn);
        if seen.message.kind == "shutdown" {
            *child = HandshakeStage::Over("shutdown was said".into());
            return;
        }
        let HandshakeStage::Requested(ready) = child else {
            return;
        };
        let call = seen.root().map(Call::of).unwrap_or_default();
        if call.id.map(spelling) != Some(ready.as_str()) || call.method.is_some() {
            return;
        }
        *child = match call.error().map(|error| error.get("message")) {
            None => HandshakeStage::Open,
            Some(message) => {
                let why = message.and_then(Node::text).unwrap_or_default();
                HandshakeStage::Over(format!("ready was answered with an error: {why}"))
            }
        };
    }

    fn closed(&mut self, conn: u32, _: i64) {
        self.children.remove(&conn);
    }

    fn readiness(&self, conn: u32) -> Readiness {
        HandshakeStage::readiness(self.children.get(&conn), "ready of the oracle")
    }

    fn prepare_close(&mut self, conn: u32, _: bool, _: i64, outgoing: &mut Vec<Outgoing>) -> bool {
        // MUST (Initialisation, rule 4): before ready, nothing is sent.
        if matches!(self.children.get(&conn), Some(HandshakeStage::Open)) {
            outgoing.push(Outgoing::new(conn, build::notification("shutdown", None)));
        }
        true
    }

    fn encode_reply(&mut self, to: &Request, reply: PeerReply<'_>, _: i64) -> Result<Outgoing> {
        self::encode_reply(to, reply)
    }
}

/// The oracle: it was spawned, and sends first.
struct OracleServer {
    no_hello: bool,
    offers: Vec<Offer>,
    executors: RecentEntries<u32, HandshakeStage>,
}

impl Peer for OracleServer {
    fn opened(&mut self, conn: u32, _: i64, outgoing: &mut Vec<Outgoing>) {
        self.executors.insert(conn, HandshakeStage::New);
        if !self.no_hello {
            outgoing.push(Outgoing::new(conn, build::request("0", "ready", None)));
        }
    }

    fn received(&mut self, seen: &Seen<'_>, _: i64, outgoing: &mut Vec<Outgoing>) {
        let conn = seen.origin.conn.unwrap_or_default();
        let parent = self.executors.entry(conn);
        let call = seen.root().map(Call::of).unwrap_or_default();
        let is_good = seen.message.faults.is_empty() && seen.frame.fault.is_none();
        match parent {
            HandshakeStage::Requested(ready) => {
                let answers = is_good && seen.message.role == Some(Role::Response);
                let same = call.id.map(spelling) == Some(ready.as_str());
                // MUST (Initialisation, rule 2): after an error the oracle terminates. It cannot interpret any other
                // message either.
                *parent = if answers && same {
                    HandshakeStage::Open
                } else {
                    let is_no = same && seen.message.role == Some(Role::Error);
                    let why = match seen.message.kind.as_ref() {
                        "shutdown" => None,
                        _ if is_no => Some("ready was answered with an error"),
                        _ => Some("the first message is not the answer to ready"),
                    };
                    outgoing.push(Outgoing {
                        why: why.map(Into::into),
                        ..Outgoing::close(conn)
                    });
                    HandshakeStage::Over(why.unwrap_or(ENDED).into())
                };
            }
            HandshakeStage::Open if seen.message.kind == "shutdown" => {
                *parent = HandshakeStage::Over(ENDED.into());
                outgoing.push(Outgoing::close(conn));
            }
            HandshakeStage::Open if is_good && seen.message.role == Some(Role::Request) => {
                if let Some((code, why)) = find_refusal(&call, &self.offers) {
                    let id = call.id.map_or("null", spelling);
                    let refusal = build::error(id, &code.to_string(), &why, None);
                    outgoing.push(Outgoing::new(conn, refusal));
                }
            }
            _ => {}
        }
    }

    fn sent(&mut self, seen: &Seen<'_>, _: i64) {
        let conn = seen.origin.conn.unwrap_or_default();
        let parent = self.executors.entry(conn);
        if seen.message.kind == "ready"
            && let Some(id) = seen.root().and_then(|root| Call::of(root).id)
            && matches!(parent, HandshakeStage::New)
        {
            *parent = HandshakeStage::Requested(spelling(id).to_owned());
        }
    }

    fn closed(&mut self, conn: u32, _: i64) {
        self.executors.remove(&conn);
    }

    fn readiness(&self, conn: u32) -> Readiness {
        HandshakeStage::readiness(self.executors.get(&conn), "the executor's answer to ready")
    }

    fn encode_reply(&mut self, to: &Request, reply: PeerReply<'_>, _: i64) -> Result<Outgoing> {
        self::encode_reply(to, reply)
    }
}

/// Returns the reason why a request is refused: code and text.
fn find_refusal(call: &Call<'_>, offers: &[Offer]) -> Option<(i32, String)> {
    let method = call.method.and_then(Node::text).unwrap_or_default();
    if method != "invoke" {
        return Some((METHOD_NOT_FOUND, format!("method not found: {method}")));
    }
    let fits = match call.params {
        Some(params) => refuse(params, &INVOKE_PARAMS),
        None => refuse_nothing(&INVOKE_PARAMS),
    };
    if let Err(why) = fits {
        return Some((INVALID_PARAMS, format!("invalid params: {why}")));
    }
    let selector = call.params.and_then(|p| p.get("selector").or(p.at(0)));
    let selector = selector.and_then(Node::text).unwrap_or_default();
    let known = |offer: &Offer| offer.name == selector;
    if offers.is_empty() || offers.iter().any(known) {
        return None;
    }
    let names: Vec<&str> = offers.iter().map(|offer| offer.name.as_str()).collect();
    let why = format!(
        "unknown selector: {:?}, known are {}",
        selector,
        names.join(", ")
    );
    Some((INVALID_PARAMS, why))
}

#[cfg(test)]
mod tests;
