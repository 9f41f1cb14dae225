//! Which messages belong together: what ids, event streams and batches say, and the order of requests.
//!
//! ```text
//!   POST request -> 200 text/event-stream   event: a request       inside of the posted one (recorded)
//!                                           event: a notification  part of it (recorded)
//!   GET with Last-Event-ID, HTTP+SSE        event: a request; one request of the session is open: inside of it (inferred)
//!   pipe: one open request                  a request of the other side that comes inside of such: inside of it (inferred)
//!   a batch                                 what its members say, if they do not differ
//! ```

use super::super::extension::{Extension, RpcMessage};
use super::RpcSession;
use crate::framing::Head;
use crate::protocol::exchange::OpenRequest;
use crate::protocol::exchange::pairs::{IdSpace, PairKey};
use crate::protocol::session::{Link, OperationFacts, Owner, Seen};
use crate::protocol::{Direction, Role};

/// The number of open requests over HTTP that are compared with a request of an event stream.
const MAX_POSTED: usize = 64;

impl<E: Extension> RpcSession<E> {
    /// Links a request or a notification to the request of the other side during which it is sent.
    pub(super) fn link(&self, message: &RpcMessage<'_, '_>) {
        let is_request = message.role == Role::Request;
        if is_request && E::PERSON.iter().any(|name| message.is(name)) {
            message.operation().owner = Some(Owner::Person);
        }
        match message.frame.head {
            Head::Http { event: true, .. } => {
                let connection = self.connections.get(message.origin.conn);
                match connection.and_then(|connection| connection.streamed) {
                    Some(posted) if is_request => message.inside(posted, Link::Recorded),
                    Some(posted) => message.part_of(posted, Link::Recorded),
                    None if is_request => {
                        if let Some(outer) = self.only_posted(message) {
                            message.inside(outer.index(), Link::Inferred);
                        }
                    }
                    None => {}
                }
            }
            Head::Http { .. } => {}
            _ if is_request => {
                if let Some(outer) = self.surrounding(message) {
                    message.inside(outer.index(), Link::Inferred);
                }
            }
            _ => {}
        }
    }

    /// Returns the only open request of the other side, if nothing is missing and the message may be sent during it.
    fn surrounding(&self, message: &RpcMessage<'_, '_>) -> Option<&OpenRequest> {
        let asker = message.direction.filter(|_| message.order)?.other();
        let counts = |sent: &_| !E::is_cancelled(sent);
        let open = &self.pairs.open;
        let (outer, sent) = open.only_of(message.id_space, asker, counts)?;
        let inner = message.call.method?.text()?;
        let is_certain = !sent.may_be_missed && !self.pairs.may_lack(message.id_space, Some(asker));
        (is_certain && E::NESTED.allows(outer.subject(), &inner)).then_some(outer)
    }

    /// Returns the only open request of the session of an event stream that other requests share, if nothing is missing and
    /// the message may be sent during it.
    fn only_posted(&self, message: &RpcMessage<'_, '_>) -> Option<&OpenRequest> {
        let conn = message.origin.conn;
        let is_shared = self.connections.get(conn)?.is_shared && message.order;
        if !is_shared || self.elsewhere.len() > MAX_POSTED {
            return None;
        }
        let asker = message.direction.map(Direction::other);
        let all = self
            .elsewhere
            .iter()
            .filter(|(key, _)| key.requester == asker);
        let all = all.flat_map(|(key, conns)| conns.iter().map(move |conn| (key, *conn)));
        let shared = all.filter(|(_, other)| self.may_share(conn, *other));
        let keys = shared.map(|(key, other)| key.at(IdSpace::One(other)));
        let open = keys.filter_map(|key| self.pairs.open.get(&key));
        let mut open = open.filter(|(_, sent)| !E::is_cancelled(sent));
        let ((outer, sent), None) = (open.next()?, open.next()) else {
            return None;
        };
        let space = outer
            .origin()
            .conn
            .map_or(IdSpace::All, |conn| IdSpace::One(Some(conn)));
        let is_certain = !sent.may_be_missed && !self.pairs.may_lack(space, asker);
        let inner = message.call.method?.text()?;
        (is_certain && E::NESTED.allows(outer.subject(), &inner)).then_some(outer)
    }

    /// Returns true if a key of another connection over HTTP may mean several open requests.
    pub(super) fn is_ambiguous(&self, key: &PairKey, seen: &Seen<'_>) -> bool {
        let conns = self.elsewhere.get(&key.at(IdSpace::All));
        let conns = conns.into_iter().flatten();
        let shared = conns.filter(|conn| self.may_share(seen.origin.conn, **conn));
        key.scope != IdSpace::One(seen.origin.conn) && shared.count() > 1
    }
}

/// The facts of the members of a batch.
#[derive(Default)]
pub(super) struct BatchFacts {
    common: Option<OperationFacts>,
    differ: bool,
}

impl BatchFacts {
    /// Adds the facts of a member.
    pub(super) fn add(&mut self, facts: OperationFacts) {
        if facts != OperationFacts::default() {
            self.differ |= *self.common.get_or_insert(facts) != facts;
        }
    }

    /// Returns the facts that all members with facts share.
    pub(super) fn common(&self) -> OperationFacts {
        let common = self.common.filter(|_| !self.differ);
        common.unwrap_or_default()
    }
}
