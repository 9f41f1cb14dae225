//! A side of a JSON-RPC conversation, for the protocols that take it as the specification has it.
//!
//! ```text
//!   client   opening request --> answer --> notification: calls are possible
//! ```

use super::build::{self, INVALID_REQUEST, METHOD_NOT_FOUND};
use super::dialect::Dialect;
use super::read::is_request;
use super::{Call, spelling};
use crate::error::Refusal;
use crate::protocol::make::{IdGen, array};
use crate::protocol::peer::{
    HandshakeStage, MAX_ENTRIES, Outgoing, Peer, PeerConfig, PeerReply, Readiness, RecentEntries,
    Request, RequestOutcome, as_json, shorten, with_json,
};
use crate::protocol::schema::check::fits;
use crate::protocol::session::Seen;
use crate::protocol::session::text::quote;
use crate::protocol::{Direction, Id, Role};
use crate::tape::Node;

/// The usual code of an error: -32000, the first that the specification leaves to servers.
const SERVER_ERROR: i32 = -32000;

/// The text of an error about a value that is no message.
const NO_CALL: &str = "a call is an object";

/// The opening of a session by a client.
#[derive(Clone, Copy)]
pub(in crate::protocol) struct Opening {
    /// The first request.
    pub(in crate::protocol) method: &'static str,
    /// Its params.
    pub(in crate::protocol) params: fn(&PeerConfig) -> String,
    /// The notification after its answer; empty if none follows.
    pub(in crate::protocol) done: &'static str,
}

/// The calls of a client without a session.
#[derive(Clone, Copy)]
pub(in crate::protocol) struct Sessionless {
    /// Returns `true` for an error that says that the server has no sessions.
    pub(in crate::protocol) is_meant: fn(Node<'_>) -> bool,
    /// Adds to a request what the opening of a session says otherwise.
    pub(in crate::protocol) complete: fn(&str) -> Option<String>,
    /// Returns the HTTP fields that repeat parts of a request.
    pub(in crate::protocol) fields: fn(Node<'_>) -> Vec<(&'static str, String)>,
}

/// An answer that a side gives by itself: a result, or a code and a text.
pub(in crate::protocol) type PeerAnswer = Result<String, (i32, String)>;
/// Returns the answer to a request by its method and params; `None` if the script must answer.
pub(in crate::protocol) type Answerer =
    Box<dyn FnMut(&str, Option<Node<'_>>) -> Option<PeerAnswer> + Send>;

/// Builds the result of a request from a value of the script.
type ResultBuilder = fn(&Request, &str) -> String;

/// A side of a conversation.
pub(in crate::protocol) struct RpcPeer {
    dialect: &'static Dialect,
    config: PeerConfig,
    opening: Option<Opening>,
    sessionless: Option<Sessionless>,
    /// The server has refused the opening, and has no sessions.
    is_without_session: bool,
    answer: Answerer,
    /// Builds results from values of the script.
    builder: Option<ResultBuilder>,
    /// A method whose errors have a code of their own.
    failing: Option<(&'static str, i32)>,
    /// The beginnings of methods that need a capability which this side does not announce.
    absent: &'static [&'static str],
    /// A notification after which this side ends the connection.
    end: Option<&'static str>,
    id_gen: IdGen,
    stages: RecentEntries<u32, HandshakeStage>,
}

impl RpcPeer {
    /// Creates the side that sends in direction `side`. Only a client sends the opening.
    pub(in crate::protocol) fn new(
        dialect: &'static Dialect,
        side: Direction,
        opening: Option<Opening>,
        config: &PeerConfig,
    ) -> Self {
        Self {
            dialect,
            config: config.clone(),
            opening: opening.filter(|_| side == Direction::ToServer),
            sessionless: None,
            is_without_session: false,
            answer: Box::new(|_, _| None),
            builder: None,
            failing: None,
            absent: &[],
            end: None,
            id_gen: config.mint(),
            stages: RecentEntries::with_capacity(MAX_ENTRIES),
        }
    }

    /// The side answers some requests by itself; a recorded answer replaces this one.
    pub(in crate::protocol) fn answering(
        self,
        answer: impl FnMut(&str, Option<Node<'_>>) -> Option<PeerAnswer> + Send + 'static,
    ) -> Self {
        let answer = Box::new(answer);
        Self { answer, ..self }
    }

    /// A client calls servers without sessions in this way.
    pub(in crate::protocol) fn or_without_session(self, calls: Sessionless) -> Self {
        let sessionless = self.opening.map(|_| calls);
        Self {
            sessionless,
            ..self
        }
    }

    /// The side builds results from values of the script.
    pub(in crate::protocol) fn building(self, builder: ResultBuilder) -> Self {
        let builder = Some(builder);
        Self { builder, ..self }
    }

    /// A server ends the connection after this notification.
    pub(in crate::protocol) fn ending(self, side: Direction, method: &'static str) -> Self {
        let end = Some(method).filter(|_| side == Direction::ToClient);
        Self { end, ..self }
    }

    /// A method whose errors have a code of their own.
    pub(in crate::protocol) fn failing(self, method: &'static str, code: i32) -> Self {
        let failing = Some((method, code));
        Self { failing, ..self }
    }

    /// Methods that begin like these need a capability which the side does not announce.
    pub(in crate::protocol) fn without(self, absent: &'static [&'static str]) -> Self {
        Self { absent, ..self }
    }

    /// Returns the code of an error that the script gives none: a method that no release has is not found, nor is one that
    /// nothing knows if the protocol has no methods of its own, or the side does not announce it.
    fn usual_code(&self, method: Option<&str>, is_unknown: bool) -> i32 {
        let has_methods = !self.dialect.methods.is_empty();
        let is_missing = |method: &str| {
            let is_absent = self.absent.iter().any(|start| method.starts_with(start));
            if has_methods {
                self.dialect.find(method).is_none() || is_unknown && is_absent
            } else {
                is_unknown
            }
        };
        match (method, self.failing) {
            (Some(method), Some((failing, code))) if method == failing => code,
            (Some(method), _) if is_missing(method) => METHOD_NOT_FOUND,
            _ => SERVER_ERROR,
        }
    }

    /// Returns the answer to a batch without a call (JSON-RPC 2.0 section 6): an error if it is empty, otherwise one for
    /// each value that is no message.
    fn answer_no_calls(&self, root: Node<'_>) -> Option<String> {
        if !root.is_array() || !self.dialect.batches || root.children().any(is_request) {
            return None;
        }
        let code = INVALID_REQUEST.to_string();
        if root.children().next().is_none() {
            return Some(build::error("null", &code, "the batch is empty", None));
        }
        let wrong = root.children().filter(|part| !part.is_map());
        let errors = wrong.map(|_| build::error("null", &code, NO_CALL, None));
        let errors: Vec<String> = errors.collect();
        (!errors.is_empty()).then(|| array(&errors))
    }

    /// Answers the requests of a batch in one array (JSON-RPC 2.0 section 6).
    fn answer_batch(&self, to: &Request, outcomes: &[RequestOutcome]) -> Result<String, Refusal> {
        let mut outcomes = outcomes.iter();
        let answers = with_json(&to.message, |root| {
            let mut answers = Vec::new();
            for part in root.children() {
                if !part.is_map() {
                    let code = INVALID_REQUEST.to_string();
                    answers.push(build::error("null", &code, NO_CALL, None));
                } else if is_request(part) {
                    let outcome = outcomes.next().unwrap_or(&RequestOutcome::Nothing);
                    answers.extend(self.answer_call(&Call::of(part), outcome)?);
                }
            }
            Ok(answers)
        });
        Ok(array(&answers.unwrap_or_else(|| Ok(Vec::new()))?))
    }

    /// Returns the answer to a request of a batch.
    fn answer_call(
        &self,
        call: &Call<'_>,
        outcome: &RequestOutcome,
    ) -> Result<Option<String>, Refusal> {
        let id = call.id.map_or("null", spelling);
        let method = call.method.and_then(Node::text).unwrap_or_default();
        Ok(match outcome {
            RequestOutcome::Result(value) => Some(build::result(id, as_json(value, "result")?)),
            RequestOutcome::Error {
                code,
                message,
                data,
                is_unknown,
            } => {
                let code = match code {
                    Some(code) => build::code(code, |_| None)?,
                    None => self.usual_code(Some(&method), *is_unknown).into(),
                };
                Some(build::error(
                    id,
                    &code.to_string(),
                    message,
                    data.as_deref(),
                ))
            }
            RequestOutcome::Message(answer) => Some(answer.clone()),
            RequestOutcome::Nothing => None,
        })
    }

    fn new_id(&mut self) -> String {
        Id::Number(self.id_gen.number().into()).text().into_owned()
    }
}

impl Peer for RpcPeer {
    fn opened(&mut self, conn: u32, _: i64, outgoing: &mut Vec<Outgoing>) {
        let Some(opening) = self.opening.filter(|_| !self.config.no_hello) else {
            return;
        };
        let id = self.new_id();
        let params = (opening.params)(&self.config);
        let message = build::request(&id, opening.method, Some(&params));
        outgoing.push(Outgoing::new(conn, message));
    }

    fn received(&mut self, seen: &Seen<'_>, _: i64, outgoing: &mut Vec<Outgoing>) {
        let conn = seen.origin.conn.unwrap_or_default();
        let call = seen.root().map(Call::of).unwrap_or_default();
        if let Some(answer) = self.own_answer(seen) {
            outgoing.push(Outgoing::new(conn, answer));
            return;
        }
        if let Some(errors) = seen.root().and_then(|root| self.answer_no_calls(root)) {
            outgoing.push(Outgoing::new(conn, errors));
            return;
        }
        let answers = matches!(seen.message.role, Some(Role::Response | Role::Error));
        let ends = (self.end).is_some_and(|end| call.method.is_some_and(|name| name.is_text(end)));
        if ends && call.id.is_none() {
            outgoing.push(Outgoing::close(conn));
            return;
        }
        let Some((opening, id)) = self.opening.zip(call.id.map(spelling)) else {
            return;
        };
        let is_opening =
            matches!(self.stages.get(&conn), Some(HandshakeStage::Requested(asked)) if asked == id);
        if !answers || !is_opening {
            return;
        }
        if let Some(error) = call.error() {
            if self
                .sessionless
                .is_some_and(|calls| (calls.is_meant)(error))
            {
                self.is_without_session = true;
                self.stages.insert(conn, HandshakeStage::Open);
                return;
            }
            let text = error.get("message").and_then(Node::text);
            // mcp: the versions of a server that has no handshake.
            let supported = error.get("data").and_then(|data| data.get("supported"));
            let supported = supported.map(|all| format!(" (supported: {})", quote(all)));
            let text = format!(
                "{} was answered with an error: {}{}",
                opening.method,
                text.unwrap_or_default(),
                supported.unwrap_or_default()
            );
            self.stages.insert(conn, HandshakeStage::Over(text));
            return;
        }
        if self.config.no_hello || opening.done.is_empty() {
            self.stages.insert(conn, HandshakeStage::Open);
            return;
        }
        let message = build::notification(opening.done, Some("{}"));
        outgoing.push(Outgoing::new(conn, message));
    }

    fn own_answer(&mut self, seen: &Seen<'_>) -> Option<String> {
        let call = seen.root().map(Call::of).unwrap_or_default();
        let id = call
            .id
            .filter(|id| !id.is_null() || fits(*id, &self.dialect.id))?;
        let is_answer = matches!(seen.message.role, Some(Role::Response | Role::Error));
        let method = call.method.filter(|_| !is_answer)?.text();
        let answer = (self.answer)(&method.unwrap_or_default(), call.params)?;
        let id = spelling(id);
        Some(match answer {
            Ok(result) => build::result(id, &result),
            Err((code, why)) => build::error(id, &code.to_string(), &why, None),
        })
    }

    fn sent(&mut self, seen: &Seen<'_>, _: i64) {
        let Some(opening) = self.opening else {
            return;
        };
        let conn = seen.origin.conn.unwrap_or_default();
        let call = seen.root().map(Call::of).unwrap_or_default();
        let is = |name: &str| call.method.is_some_and(|method| method.is_text(name));
        match call.id {
            Some(id) if is(opening.method) => {
                let stage = HandshakeStage::Requested(spelling(id).to_owned());
                self.stages.insert(conn, stage);
            }
            None if is(opening.done) => {
                self.stages.insert(conn, HandshakeStage::Open);
            }
            _ => {}
        }
    }

    fn closed(&mut self, conn: u32, _: i64) {
        self.stages.remove(&conn);
    }

    fn readiness(&self, conn: u32) -> Readiness {
        if self.opening.is_none() {
            return Readiness::Ready;
        }
        HandshakeStage::readiness(self.stages.get(&conn), "the answer to the opening request")
    }

    fn is_without_session(&self) -> bool {
        self.is_without_session
    }

    fn complete(&self, message: String) -> String {
        let calls = self.sessionless.filter(|_| self.is_without_session);
        let completed = calls.and_then(|calls| (calls.complete)(&message));
        completed.unwrap_or(message)
    }

    fn repeated_fields(&self, message: Node<'_>) -> Vec<(&'static str, String)> {
        self.sessionless
            .map_or_else(Vec::new, |calls| (calls.fields)(message))
    }

    fn encode_reply(
        &mut self,
        to: &Request,
        reply: PeerReply<'_>,
        _: i64,
    ) -> Result<Outgoing, Refusal> {
        let built;
        let reply = match (reply, self.builder) {
            (PeerReply::Result(value), Some(result)) => {
                built = result(to, as_json(value, "result")?);
                PeerReply::Result(&built)
            }
            _ => reply,
        };
        let message = match reply {
            PeerReply::Ask(method, params) => {
                let id = self.new_id();
                build::request(&id, method, Some(as_json(params, "params")?))
            }
            PeerReply::Tell(method, params) => {
                build::notification(method, Some(as_json(params, "params")?))
            }
            PeerReply::Results(outcomes) => self.answer_batch(to, outcomes)?,
            _ => {
                let usual = self.usual_code(to.subject.as_deref(), to.is_unknown);
                build::answer(to, reply, usual, |_| None)?.ok_or_else(|| {
                    reply.refused("result, error, ask or tell: a request has one answer")
                })?
            }
        };
        Ok(Outgoing::new(to.conn, message))
    }
}

/// Returns the answer to a request of a method that a side does not have.
pub(in crate::protocol) fn method_not_found(method: &str) -> PeerAnswer {
    let why = format!("Method not found: {}", shorten(method));
    Err((METHOD_NOT_FOUND, why))
}
