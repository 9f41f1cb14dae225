//! The interface by which a protocol on JSON-RPC extends the shared session.

use super::Call;
use super::dialect::Dialect;
use crate::protocol::exchange::OpenRequest;
use crate::protocol::exchange::pairs::{Facts, IdSpace, Sent};
use crate::protocol::rule_names::all;
use crate::protocol::schema::MessageSchema;
use crate::protocol::session::text::short;
use crate::protocol::session::{Current, Report, RuleId, broken, http};
use crate::protocol::{Direction, Role};
use crate::tape::Node;
use std::borrow::Cow;
use std::ops::Deref;

/// An open request of a method that the schema may have.
pub(in crate::protocol) type SentRequest<S> = Sent<SentCall<S>>;

/// The method of a request, and the state that only the protocol uses.
#[derive(Debug)]
pub(in crate::protocol) struct SentCall<S> {
    pub(in crate::protocol) method: Option<&'static MessageSchema>,
    pub(in crate::protocol) own: S,
}

/// The field that names the session, and the rule that its absence breaks.
#[derive(Clone, Copy)]
pub(in crate::protocol) struct SessionField {
    pub(in crate::protocol) name: &'static str,
    pub(in crate::protocol) rule: RuleId,
}

/// The methods that are sent during another request.
pub(in crate::protocol) struct Nested(
    /// The methods, with those during which they are sent.
    pub(in crate::protocol) &'static [(&'static str, &'static [&'static str])],
);

impl Nested {
    /// Returns true if a request may be sent during another one.
    pub(super) fn allows(&self, outer: Option<&str>, inner: &str) -> bool {
        let Some(outer) = outer else {
            return false;
        };
        let mut all = self.0.iter();
        all.any(|(name, outers)| *name == inner && outers.contains(&outer))
    }
}

/// The state of one session that only one protocol has. A session is a connection, or what a field of HTTP heads names.
pub(in crate::protocol) trait Extension: Default + Send {
    /// The state of an open request that only the protocol uses.
    type Own: Default + Send;
    /// The schema.
    const DIALECT: &'static Dialect;
    /// The names of the sides.
    const SIDES: [&'static str; 2];
    /// The field of HTTP heads that names the session.
    const SESSION_FIELD: Option<SessionField> = None;
    /// The protocol has the rule `refused`: messages may be posted over HTTP.
    const HAS_HTTP: bool = true;
    /// Each message may be a line.
    const HAS_LINES: bool = true;
    /// Where messages are lines, peers do not read one without a line end.
    const NEEDS_LINE_END: bool = false;
    /// Peers find no request for an answer whose id has another type.
    const COMPARES_ID_TYPES: bool = true;
    /// Messages that cancel a request, and the param that is its id.
    const CANCELS: &'static [(&'static str, &'static str)] = &[];

    /// Requests that wait for a person.
    const PERSON: &'static [&'static str] = &[];
    /// Requests that are sent during one of the other side, if only one is open.
    const NESTED: Nested = Nested(&[]);

    /// The capability that a method needs, by the start of its name: a path such as `tools.listChanged`.
    const NEEDS: &'static [(&'static str, &'static str)] = &[];
    /// The rules that a missing capability of the client, and of the server, breaks.
    const CAPABILITY_RULES: [RuleId; 2] = [all::CAPABILITY_MISSING; 2];

    /// Peers may leave the member `jsonrpc` out of all messages: it is reported once for each side of a connection.
    const MAY_LACK_VERSION: bool = false;
    /// A session may have a version whose methods are not known.
    const HAS_OTHER_VERSIONS: bool = false;

    /// Returns true if the session has such a version: its methods are not checked.
    fn has_other_version(&self) -> bool {
        false
    }

    /// Handles a frame: a message, a batch or a part of the transport.
    fn frame(&mut self, seen: Current<'_, '_>) {
        let _ = seen;
    }

    /// Handles a request or a notification that can be read. Returns the state of the request.
    fn asks(&mut self, message: &RpcMessage<'_, '_>) -> Self::Own {
        let _ = message;
        Self::Own::default()
    }

    /// Handles an answer and its request.
    fn answers(
        &mut self,
        message: &RpcMessage<'_, '_>,
        asked: &OpenRequest,
        request: &SentRequest<Self::Own>,
    ) {
        let _ = (message, asked, request);
    }

    /// Handles an HTTP response that refuses a request.
    fn refused(&mut self, asked: &OpenRequest) {
        let _ = asked;
    }

    /// Handles a message that cancels an open request.
    fn cancelled(&mut self, message: &RpcMessage<'_, '_>, asked: &OpenRequest) {
        let _ = (message, asked);
    }

    /// Messages of the session may be missing in the capture.
    fn missed(&mut self) {}

    /// Handles the end of the session or of the input.
    fn end(&self, report: &mut Report) {
        let _ = report;
    }

    /// Returns true if nothing needs to follow, because the request is cancelled.
    fn is_cancelled(request: &SentRequest<Self::Own>) -> bool {
        let _ = request;
        false
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
#[allow(clippy::struct_excessive_bools)] // each is a fact of its own
pub(in crate::protocol) struct RpcMessage<'t, 'a> {
    pub(in crate::protocol) seen: Current<'t, 'a>,
    pub(in crate::protocol) call: Call<'a>,
    pub(in crate::protocol) role: Role,
    /// The method, if the schema has it.
    pub(in crate::protocol) method: Option<&'static MessageSchema>,
    pub(in crate::protocol) direction: Option<Direction>,
    pub(in crate::protocol) id_space: IdSpace,
    /// It breaks a rule by itself.
    pub(in crate::protocol) breaks_rule: bool,
    /// The order of the two directions is known.
    pub(in crate::protocol) order: bool,
    /// It is sent over HTTP, and names no session.
    pub(in crate::protocol) unnamed: bool,
    /// The field that it lacks, because an earlier answer named the session in it.
    pub(super) lacks: Option<SessionField>,
    pub(super) in_batch: bool,
    /// The message that the server sent before, if a resumed event stream repeats it.
    pub(in crate::protocol) repeats: Option<u64>,
}

impl<'t, 'a> Deref for RpcMessage<'t, 'a> {
    type Target = Current<'t, 'a>;

    fn deref(&self) -> &Current<'t, 'a> {
        &self.seen
    }
}

impl<'a> RpcMessage<'_, 'a> {
    /// The direction of the request, the most likely one if it is not known.
    pub(in crate::protocol) fn requester(&self) -> Direction {
        let known = self.direction.or(self.method.map(|m| m.direction));
        known.unwrap_or(Direction::ToServer)
    }

    /// Returns the facts for its pairing.
    pub(super) fn facts(&self) -> Facts<'_, 'a> {
        Facts {
            seen: self.seen,
            id: self.call.id,
            space: self.id_space,
            direction: self.direction,
        }
    }

    /// Returns true if the client sends it, most likely.
    pub(in crate::protocol) fn is_from_client(&self) -> bool {
        self.requester() == Direction::ToServer
    }

    /// Returns the name of the method; empty if there is none.
    pub(in crate::protocol) fn name(&self) -> Cow<'a, str> {
        let name = self.call.method.and_then(Node::text);
        name.unwrap_or_default()
    }

    /// Returns the name of the method for a text.
    pub(in crate::protocol) fn short_name(&self) -> String {
        short(&self.name())
    }

    /// Returns a param.
    pub(in crate::protocol) fn param(&self, name: &str) -> Option<Node<'a>> {
        self.call.params.and_then(|params| params.get(name))
    }

    /// Returns the result, if there is no error.
    pub(in crate::protocol) fn result(&self) -> Option<Node<'a>> {
        self.call.result.filter(|_| self.call.error().is_none())
    }

    /// Returns true if the method has this name.
    pub(in crate::protocol) fn is(&self, name: &str) -> bool {
        self.call.method.is_some_and(|method| method.is_text(name))
    }

    /// Reports that the head of the message does not name the session, although an earlier answer does. Returns true if
    /// so.
    pub(in crate::protocol) fn check_session_field(&self) -> bool {
        let missing = self.lacks.zip(http::head(&self.seen));
        if let Some((field, head)) = missing {
            let (_, place) = http::field(head, field.name);
            broken!(self, field.rule, self.seen.span(place);
                "{} is missing, but an earlier answer has it", field.name);
        }
        missing.is_some()
    }
}
