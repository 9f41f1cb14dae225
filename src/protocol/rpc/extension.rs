//! The interface by which a protocol on JSON-RPC extends the shared session.

use super::Call;
use super::dialect::Dialect;
use super::pairing::{IdSpace, SentRequest};
use super::shape::{ShapeViolation, usual_rule};
use crate::protocol::correlation::OpenRequest;
use crate::protocol::schema::MessageSchema;
use crate::protocol::session::{ConnectionChange, Report, Seen};
use crate::protocol::{Direction, Origin, Role};
use crate::tape::Node;

/// The part of a session that only one protocol has.
pub(in crate::protocol) trait Extension: Send {
    /// The state of an open request that only the protocol uses.
    type Own: Default + Send;
    /// The schema.
    const DIALECT: &'static Dialect;
    /// The names of the sides.
    const SIDES: [&'static str; 2];
    /// The field of HTTP heads that names the session. Protocols with one also have the rule `refused`.
    const SESSION_FIELD: Option<&'static str> = None;
    /// Each message may be a line.
    const HAS_LINES: bool = true;
    /// Messages that cancel a request, and the param that is its id.
    const CANCELS: &'static [(&'static str, &'static str)] = &[];

    /// Returns the rule that an error of a message breaks; empty if none does.
    fn rule(violation: ShapeViolation) -> &'static str {
        usual_rule(violation)
    }

    /// Handles a frame: a message, a batch or a part of the transport.
    fn frame(&mut self, seen: &Seen<'_>, report: &mut Report) {
        let _ = (seen, report);
    }

    /// Handles a request or a notification that can be read. Returns the state of the request.
    fn asks(&mut self, message: &RpcMessage<'_, '_>, report: &mut Report) -> Self::Own {
        let _ = (message, report);
        Self::Own::default()
    }

    /// Handles an answer and its request.
    fn answers(
        &mut self,
        message: &RpcMessage<'_, '_>,
        asked: &OpenRequest,
        request: &SentRequest<Self::Own>,
        report: &mut Report,
    ) {
        let _ = (message, asked, request, report);
    }

    /// Handles an event of a connection.
    fn event(&mut self, origin: Origin, what: ConnectionChange, report: &mut Report) {
        let _ = (origin, what, report);
    }

    /// Handles the end of the input.
    fn finish(&mut self, report: &mut Report) {
        let _ = report;
    }

    /// Returns true if a missing answer to an open request breaks the rule `unanswered`.
    fn needs_answer(request: &SentRequest<Self::Own>) -> bool {
        let _ = request;
        true
    }

    /// Returns the reason why a request waits.
    fn waits(&self, request: &SentRequest<Self::Own>) -> Option<String> {
        let _ = request;
        None
    }
}

/// A message, or a member of a batch, with what the rules need.
#[derive(Clone, Copy)]
pub(in crate::protocol) struct RpcMessage<'t, 'a> {
    pub(in crate::protocol) seen: &'t Seen<'a>,
    pub(in crate::protocol) call: Call<'a>,
    pub(in crate::protocol) role: Role,
    /// The method, if the schema has it.
    pub(in crate::protocol) method: Option<&'static MessageSchema>,
    pub(in crate::protocol) direction: Option<Direction>,
    pub(in crate::protocol) id_space: IdSpace,
    /// It breaks a rule by itself.
    pub(in crate::protocol) breaks_rule: bool,
    pub(super) in_batch: bool,
}

impl<'a> RpcMessage<'_, 'a> {
    /// The direction of the request, the most likely one if it is not known.
    pub(in crate::protocol) fn requester(&self) -> Direction {
        let known = self.direction.or(self.method.map(|m| m.direction));
        known.unwrap_or(Direction::ToServer)
    }

    /// Returns a param.
    pub(in crate::protocol) fn param(&self, name: &str) -> Option<Node<'a>> {
        self.call.params.and_then(|params| params.get(name))
    }

    /// Returns true if the method has this name.
    pub(in crate::protocol) fn is(&self, name: &str) -> bool {
        self.call.method.is_some_and(|method| method.is_text(name))
    }
}
