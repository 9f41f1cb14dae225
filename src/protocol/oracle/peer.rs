//! The active half: who says ready, who says yes to it, and what comes before the first call.
//!
//! ```text
//!   oracle     ready --> waits --ack--> serves --shutdown--> closes
//!                          '--error, or anything else--> closes
//!   executor   waits --ready--> ack: calls may be made      --> shutdown
//!                '--anything else--> error, code 0: they never will
//! ```

use super::felt::Felt;
use super::message::{self, is_usable_id};
use crate::error::Refusal;
use crate::protocol::jsonrpc::say::{self, INVALID_PARAMS, METHOD_NOT_FOUND};
use crate::protocol::jsonrpc::{Call, spelling};
use crate::protocol::peer::{
    MOST, Offer, Peer, PeerConfig, Phrase, Readiness, Recent, Request, Says,
};
use crate::protocol::session::Seen;
use crate::protocol::{Direction, Role};
use crate::tape::Node;

/// Why nothing more is answered after shutdown.
const ENDED: &str = "the executor has ended the session";
/// The code of an error whose author chose none.
const USUAL: i32 = -32603;

/// Plays the side that speaks in that direction.
pub(super) fn peer(side: Direction, config: &PeerConfig) -> Box<dyn Peer> {
    match side {
        Direction::ToServer => Box::new(Executor {
            no_hello: config.no_hello,
            children: Recent::with_room(MOST),
        }),
        Direction::ToClient => Box::new(Server {
            no_hello: config.no_hello,
            offers: config.offers.clone(),
            executors: Recent::with_room(MOST),
        }),
    }
}

/// A phrase in answer to a request: there are two.
fn phrase(to: &Request, phrase: Phrase<'_>) -> Result<Says, Refusal> {
    match say::answer(to, phrase, USUAL, |_| None)? {
        Some(message) => Ok(Says::new(to.conn, message)),
        None => Err(phrase.refused("result or error: an invoke has one answer")),
    }
}

/// How far an executor is with an oracle.
#[derive(Debug, Default)]
enum Child {
    /// It has said nothing.
    #[default]
    Silent,
    /// It said ready, with this id.
    Announced(String),
    /// It was told that it is welcome.
    Serving,
    /// It was told that this is the end.
    Over,
    /// It began otherwise.
    Refused(String),
}

/// The executor: it dialled, and waits for ready.
struct Executor {
    no_hello: bool,
    children: Recent<u32, Child>,
}

impl Peer for Executor {
    fn opened(&mut self, conn: u32, _: i64, _: &mut Vec<Says>) {
        self.children.put(conn, Child::Silent);
    }

    fn heard(&mut self, seen: &Seen<'_>, _: i64, says: &mut Vec<Says>) {
        let conn = seen.origin.conn.unwrap_or_default();
        let child = self.children.entry(conn);
        if !matches!(child, Child::Silent) {
            return;
        }
        let call = seen.root().map(Call::of).unwrap_or_default();
        let id = call.id.filter(|id| is_usable_id(*id)).map(spelling);
        let is_good = seen.message.faults.is_empty() && seen.frame.fault.is_none();
        let is_request = is_good && seen.message.role == Some(Role::Request);
        // MUST (Initialisation): the oracle announces that it is ready. Params are optional, and then by name.
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
                *child = Child::Announced(id.to_owned());
                if !self.no_hello {
                    says.push(Says::new(conn, say::result(id, "{}")));
                }
            }
            (wrong, id) => {
                let why = wrong.unwrap_or("ready has no id that can be answered");
                *child = Child::Refused(why.to_owned());
                // Real executors say no with code 0.
                if let Some(id) = id.filter(|_| is_request && !self.no_hello) {
                    says.push(Says::new(conn, say::error(id, "0", why, None)));
                }
            }
        }
    }

    fn said(&mut self, seen: &Seen<'_>, _: i64) {
        let conn = seen.origin.conn.unwrap_or_default();
        let child = self.children.entry(conn);
        if seen.message.kind == "shutdown" {
            *child = Child::Over;
            return;
        }
        let Child::Announced(ready) = child else {
            return;
        };
        let call = seen.root().map(Call::of).unwrap_or_default();
        if call.id.map(spelling) != Some(ready.as_str()) || call.method.is_some() {
            return;
        }
        *child = match call.error().map(|error| error.get("message")) {
            None => Child::Serving,
            Some(message) => {
                let why = message.and_then(Node::text).unwrap_or_default();
                Child::Refused(format!("ready was answered with an error: {why}"))
            }
        };
    }

    fn closed(&mut self, conn: u32, _: i64) {
        self.children.take(&conn);
    }

    fn readiness(&self, conn: u32) -> Readiness {
        match self.children.get(&conn) {
            Some(Child::Serving) => Readiness::Ready,
            Some(Child::Refused(why)) => Readiness::Refused(why.clone()),
            Some(Child::Over) => Readiness::Refused("shutdown was said".into()),
            _ => Readiness::Waits("ready of the oracle"),
        }
    }

    fn bye(&mut self, conn: u32, _: bool, _: i64, says: &mut Vec<Says>) -> bool {
        // MUST (Initialisation, rule 4): before ready, nothing is sent.
        if matches!(self.children.get(&conn), Some(Child::Serving)) {
            says.push(Says::new(conn, say::notification("shutdown", None)));
        }
        true
    }

    fn phrase(&mut self, to: &Request, phrase: Phrase<'_>, _: i64) -> Result<Says, Refusal> {
        self::phrase(to, phrase)
    }
}

/// How far an oracle is with an executor.
#[derive(Debug, Default)]
enum Parent {
    /// Nothing was said.
    #[default]
    Silent,
    /// Ready was said, with this id.
    Asked(String),
    /// It was acknowledged.
    Serving,
    /// The session has ended: why.
    Over(&'static str),
}

/// The oracle: it was spawned, and speaks first.
struct Server {
    no_hello: bool,
    offers: Vec<Offer>,
    executors: Recent<u32, Parent>,
}

impl Peer for Server {
    fn opened(&mut self, conn: u32, _: i64, says: &mut Vec<Says>) {
        self.executors.put(conn, Parent::Silent);
        if !self.no_hello {
            says.push(Says::new(conn, say::request("0", "ready", None)));
        }
    }

    fn heard(&mut self, seen: &Seen<'_>, _: i64, says: &mut Vec<Says>) {
        let conn = seen.origin.conn.unwrap_or_default();
        let parent = self.executors.entry(conn);
        let call = seen.root().map(Call::of).unwrap_or_default();
        let is_good = seen.message.faults.is_empty() && seen.frame.fault.is_none();
        match parent {
            Parent::Asked(ready) => {
                let answers = is_good && seen.message.role == Some(Role::Response);
                let same = call.id.map(spelling) == Some(ready.as_str());
                // MUST (Initialisation, rule 2): after an error the oracle terminates. It can as little make sense of
                // anything else.
                *parent = if answers && same {
                    Parent::Serving
                } else {
                    let is_no = same && seen.message.role == Some(Role::Error);
                    let why = match seen.message.kind.as_ref() {
                        "shutdown" => None,
                        _ if is_no => Some("ready was answered with an error"),
                        _ => Some("the first message is not the answer to ready"),
                    };
                    says.push(Says {
                        why,
                        ..Says::close(conn)
                    });
                    Parent::Over(why.unwrap_or(ENDED))
                };
            }
            Parent::Serving if seen.message.kind == "shutdown" => {
                *parent = Parent::Over(ENDED);
                says.push(Says::close(conn));
            }
            Parent::Serving if is_good && seen.message.role == Some(Role::Request) => {
                if let Some((code, why)) = objection(&call, seen.root(), &self.offers) {
                    let id = call.id.map_or("null", spelling);
                    let no = say::error(id, &code.to_string(), &why, None);
                    says.push(Says::new(conn, no));
                }
            }
            _ => {}
        }
    }

    fn said(&mut self, seen: &Seen<'_>, _: i64) {
        let conn = seen.origin.conn.unwrap_or_default();
        let parent = self.executors.entry(conn);
        if seen.message.kind == "ready"
            && let Some(id) = seen.root().and_then(|root| Call::of(root).id)
            && matches!(parent, Parent::Silent)
        {
            *parent = Parent::Asked(spelling(id).to_owned());
        }
    }

    fn closed(&mut self, conn: u32, _: i64) {
        self.executors.take(&conn);
    }

    fn readiness(&self, conn: u32) -> Readiness {
        match self.executors.get(&conn) {
            Some(Parent::Serving) => Readiness::Ready,
            Some(Parent::Over(why)) => Readiness::Refused((*why).into()),
            _ => Readiness::Waits("the executor's answer to ready"),
        }
    }

    fn phrase(&mut self, to: &Request, phrase: Phrase<'_>, _: i64) -> Result<Says, Refusal> {
        self::phrase(to, phrase)
    }
}

/// Why a request cannot be served, if so: code and words.
fn objection(call: &Call<'_>, root: Option<Node<'_>>, offers: &[Offer]) -> Option<(i32, String)> {
    let method = call.method.and_then(Node::text).unwrap_or_default();
    if method != "invoke" {
        return Some((METHOD_NOT_FOUND, format!("method not found: {method}")));
    }
    let whole = call.params.and_then(|params| {
        let calldata = params.get("calldata").or_else(|| params.at(1))?;
        calldata.is_array().then(|| calldata.children().count())
    });
    let Some((invoke, whole)) = root.and_then(message::invoke).zip(whole) else {
        let why = "invalid params: invoke takes a selector and an array of calldata";
        return Some((INVALID_PARAMS, why.into()));
    };
    let bad = invoke.calldata.iter().find(|f| Felt::parse(f).is_err());
    if let Some(felt) = bad {
        let short: String = felt.chars().take(80).collect();
        return Some((
            INVALID_PARAMS,
            format!("invalid params: {short:?} is no felt"),
        ));
    }
    if invoke.calldata.len() != whole {
        let why = "invalid params: a felt is a string";
        return Some((INVALID_PARAMS, why.into()));
    }
    let known = |offer: &Offer| offer.name == *invoke.selector;
    if offers.is_empty() || offers.iter().any(known) {
        return None;
    }
    let names: Vec<&str> = offers.iter().map(|offer| offer.name.as_str()).collect();
    let why = format!(
        "unknown selector: {:?}, known are {}",
        &*invoke.selector,
        names.join(", ")
    );
    Some((INVALID_PARAMS, why))
}

#[cfg(test)]
mod tests;
