//! Shape findings of JSON-RPC 2.0: the rules that one message breaks, by the schema of its method.
//!
//! ```text
//!   {jsonrpc, id, method, params}          a known method of this side, an id if it is answered, params of its type
//!   {jsonrpc, id, result | error}          one of the two; an error has code and message
//! ```
//!
//! A protocol maps each error to its rule.

use super::dialect::{Dialect, ERROR, VERSION};
use super::{Call, MEMBERS, is_integer, spelling};
use crate::protocol::exchange::OpenRequest;
use crate::protocol::rule_names::all as rule;
use crate::protocol::schema::check::{At, TypeProblem, Wrong, fits, refuse_nothing};
use crate::protocol::schema::lint::lint;
use crate::protocol::schema::{MessageSchema, Presence, Type, members_of, object};
use crate::protocol::session::text::{quote, short};
use crate::protocol::session::{Current, Place, RuleId, broken};
use crate::protocol::{Direction, Role};
use crate::tape::Node;
use std::fmt;

/// Readers with 64-bit floats round larger integers.
const MAX_EXACT: u64 = 1 << 53;

/// Returns the rule that most protocols have for one of these: similar errors share one, and some break none.
pub(super) fn usual_rule(rule: RuleId) -> Option<RuleId> {
    Some(match rule {
        rule::VERSION_MISSING | rule::VERSION_WRONG => rule::VERSION,
        rule::PARAMS_MISSING => rule::MISSING_PARAM,
        rule::PARAMS_TYPE => rule::PARAM_TYPE,
        rule::MISSING_RESULT => rule::RESULT_TYPE,
        rule::ERROR_CODE | rule::ERROR_MESSAGE => rule::ERROR_SHAPE,
        rule::UNKNOWN_NOTIFICATION => rule::UNKNOWN_METHOD,
        rule::NULL_ID_ERROR | rule::NULL_RESULT | rule::ID_RANGE => return None,
        own => own,
    })
}

/// A message, and the facts for its check.
#[derive(Clone, Copy)]
pub(in crate::protocol) struct CallShape<'s, 'a> {
    pub(in crate::protocol) dialect: &'static Dialect,
    /// The names of the sides that send to the server and to the client.
    pub(in crate::protocol) sides: [&'static str; 2],
    /// Returns the rule of the protocol for one of these: [`usual_rule`], or `Some` if it has them all.
    pub(in crate::protocol) rule: fn(RuleId) -> Option<RuleId>,
    /// A missing version is not reported: it was before.
    pub(in crate::protocol) may_lack_version: bool,
    /// The role of the message, or of the member of a batch.
    pub(in crate::protocol) role: Option<Role>,
    pub(in crate::protocol) seen: Current<'s, 'a>,
    pub(in crate::protocol) call: &'s Call<'a>,
}

impl<'a> CallShape<'_, 'a> {
    /// Adds the rule that an error breaks, if it breaks one: see [`broken!`].
    #[cold]
    pub(super) fn add(
        &self,
        violation: RuleId,
        place: Place,
        related: Option<u64>,
        text: &dyn Fn() -> String,
    ) {
        if let Some(rule) = (self.rule)(violation) {
            self.seen.add(rule, place, related, text);
        }
    }

    /// Returns what is stored of a request. A member of a batch has its own method and id.
    pub(super) fn asked(&self) -> OpenRequest {
        if self.seen.message.kind != "batch" {
            return self.seen.stored_request();
        }
        let method = self.call.method.and_then(Node::text);
        let id = self.call.id();
        let id = id.text();
        let own = (method.as_deref(), &*id);
        OpenRequest::member(&self.seen, &mut self.seen.report().texts, own)
    }

    /// Checks a message; returns its method if it is known.
    pub(in crate::protocol) fn check(
        &self,
        root: Node<'a>,
        direction: Option<Direction>,
    ) -> Option<&'static MessageSchema> {
        let mut had = [false; MEMBERS.len()];
        for (key, _) in root.members().filter(|_| self.call.repeats) {
            let at = MEMBERS.iter().position(|name| key.is_text(name));
            let had = at.and_then(|at| had.get_mut(at));
            if had.is_some_and(|had| std::mem::replace(had, true)) {
                broken!(self, rule::DUPLICATE_KEY, self.seen.at(key);
                    "{} is repeated; it should be there once", quote(key));
            }
        }
        let version = object![VERSION];
        let violation = |problem: &TypeProblem<'_, 'a>| match problem.wrong {
            Wrong::Missing(_) if self.may_lack_version => None,
            Wrong::Missing(_) => Some(rule::VERSION_MISSING),
            _ => Some(rule::VERSION_WRONG),
        };
        self.lint(root, (&version, format_args!("")), &violation);
        match self.role {
            Some(Role::Request | Role::Notification) => self.request(direction),
            Some(Role::Response | Role::Error) => {
                self.response(root);
                None
            }
            _ => None,
        }
    }

    fn lint(
        &self,
        node: Node<'a>,
        what: (&Type, fmt::Arguments<'_>),
        violation: &dyn Fn(&TypeProblem<'_, 'a>) -> Option<RuleId>,
    ) {
        let rule = |problem: &TypeProblem<'_, 'a>| match problem.rule() {
            None => violation(problem).and_then(self.rule),
            rule => rule,
        };
        lint(&self.seen, node, what, &rule, &mut self.seen.report());
    }

    /// Checks a request or a notification.
    fn request(&self, direction: Option<Direction>) -> Option<&'static MessageSchema> {
        let Call { id, method, .. } = *self.call;
        let at = |node| self.seen.at(node);
        for (name, node) in [("result", self.call.result), ("error", self.call.error)] {
            if let Some(node) = node {
                broken!(self, rule::RESULT_BESIDE_METHOD, at(node);
                    "a message with a method has no {name}; only an answer has it");
            }
        }
        self.id();
        if let Some(id) = id.filter(|id| id.is_null()) {
            broken!(self, rule::NULL_ID, at(id);
                "the id is null: peers read this as a notification and do not answer");
            return None;
        }
        let node = method?;
        let name = node.text()?;
        let found = self.dialect.find(&name);
        let Some(method) = found.filter(|method| !method.releases.is_empty()) else {
            let (violation, what) = match id {
                Some(_) => (rule::UNKNOWN_METHOD, "method"),
                None => (rule::UNKNOWN_NOTIFICATION, "notification"),
            };
            let mut others = self.dialect.others.iter();
            if !others.any(|start| name.starts_with(start)) {
                broken!(self, violation, at(node); "no release has a {what} {}", short(&name));
            }
            return None;
        };
        let wrong = |direction: &Direction| *direction != method.direction && !method.both_ways;
        if let Some(direction) = direction.filter(wrong) {
            let [mut sends, mut other] = self.sides;
            if direction == Direction::ToClient {
                std::mem::swap(&mut sends, &mut other);
            }
            broken!(self, rule::WRONG_DIRECTION, at(node);
                "the {sends} sends {name}, but only the {other} may send it");
            return None;
        }
        match (method.answered, id) {
            (true, None) if !method.may_notify => {
                broken!(self, rule::REQUEST_WITHOUT_ID, self.seen.whole();
                    "{name} is a request: without an id it is never answered");
            }
            (false, Some(id)) => {
                broken!(self, rule::NOTIFICATION_WITH_ID, at(id);
                    "{name} is a notification: it should have no id");
            }
            _ => self.params(method),
        }
        Some(method)
    }

    /// Checks the type of the id.
    fn id(&self) {
        let wrong = |id: &Node<'_>| !id.is_null() && !fits(*id, &self.dialect.id);
        if let Some(id) = self.call.id.filter(wrong) {
            let rules = [rule::ID_TYPE, rule::ID_RANGE];
            broken!(self, rules[usize::from(is_integer(id))], self.seen.at(id);
                "the id is {}; it should be {}", quote(id), self.dialect.id);
        }
    }

    fn params(&self, method: &MessageSchema) {
        let Some(params) = self.call.params.filter(|params| !params.is_null()) else {
            if !self.dialect.empty_params && refuse_nothing(&method.ty).is_ok() {
                return;
            }
            let params = self.call.params;
            let place = params.map_or(self.seen.whole(), |params| self.seen.at(params));
            return broken!(self, rule::PARAMS_MISSING, place;
                "the params of {} are missing; at least {{}} should be there", method.name);
        };
        let violations = [rule::PARAMS_TYPE, rule::MISSING_PARAM, rule::PARAM_TYPE];
        let name = method.name;
        self.members(
            params,
            (&method.ty, format_args!("the params of {name}")),
            violations,
        );
    }

    /// Returns true if a result has members, and none of those that every result of a method has: where directions are
    /// not known, it may answer a request of the other side that is not in the capture.
    pub(super) fn is_of_another(&self, method: &MessageSchema) -> bool {
        let Some(result) = self.call.result.filter(|result| result.is_map()) else {
            return false;
        };
        let all = members_of(&method.result).iter();
        let mut needed = all
            .filter(|member| member.presence == Presence::Required)
            .peekable();
        needed.peek().is_some()
            && result.members().next().is_some()
            && needed.all(|member| result.get(member.name).is_none())
    }

    /// Checks the result of a known method.
    pub(in crate::protocol) fn result(&self, method: &MessageSchema) {
        // Where null is no result, it may have a rule of its own.
        let result = self.call.result;
        let is_needed = || match &method.result {
            ty @ Type::Object(_) => refuse_nothing(ty).is_err(),
            ty => result.is_some_and(|result| !fits(result, ty)),
        };
        let is_refused = (self.rule)(rule::NULL_RESULT).is_none()
            && (self.dialect.object_results || is_needed());
        let result = result.filter(|result| is_refused || !result.is_null());
        if let Some(result) = result.filter(|_| self.call.error().is_none()) {
            // No peer reads a result that is not an object.
            let ty = if !self.dialect.object_results || fits(result, &Type::Object(&[])) {
                method.result
            } else {
                Type::Object(&[])
            };
            let violations = [rule::RESULT_TYPE, rule::MISSING_RESULT, rule::RESULT_TYPE];
            let name = method.name;
            self.members(
                result,
                (&ty, format_args!("the result of {name}")),
                violations,
            );
        }
    }

    /// Checks members. `violations` are the errors of the whole, of a missing member and of a wrong one.
    fn members(&self, node: Node<'a>, what: (&Type, fmt::Arguments<'_>), violations: [RuleId; 3]) {
        let [whole, missing, wrong] = violations;
        let violation = |problem: &TypeProblem<'_, 'a>| match (problem.at, problem.wrong) {
            (At::Root, _) => Some(whole),
            (_, Wrong::Missing(_)) => Some(missing),
            (_, Wrong::Type(_)) => Some(wrong),
            _ => None,
        };
        self.lint(node, what, &violation);
    }

    /// Checks a response or an error.
    fn response(&self, root: Node<'a>) {
        let Call { result, error, .. } = *self.call;
        let at = |node| self.seen.at(node);
        self.id();
        match self.call.id {
            None => broken!(self, rule::MISSING_ID, at(root);
                "the answer has no id: its request is unknown"),
            Some(id) if !id.is_null() => {}
            Some(id) if self.call.error().is_none() => broken!(self, rule::NULL_ID, at(id);
                "the id of a result is null; it should be the request's"),
            Some(id) => broken!(self, rule::NULL_ID_ERROR, at(id);
                "the id of an error is null: peers refuse to read it"),
        }
        match (result, error) {
            (Some(node), Some(error)) if node.is_null() || error.is_null() => {
                let node = if error.is_null() { error } else { node };
                broken!(self, rule::NULL_BESIDE, at(node);
                    "one of result and error is null; it should not be there at all");
            }
            (Some(_), Some(error)) => broken!(self, rule::RESULT_AND_ERROR, at(error);
                "result and error are both there; an answer has one of them"),
            (Some(result), None) if result.is_null() => {
                broken!(self, rule::NULL_RESULT, at(result);
                    "result is null: peers take it for absent and refuse the message");
            }
            _ => {}
        }
        if let Some(error) = self.call.error() {
            let violation = |problem: &TypeProblem<'_, 'a>| match problem.at {
                At::Member(_, "code", _) => Some(rule::ERROR_CODE),
                At::Member(_, "message", _) => Some(rule::ERROR_MESSAGE),
                _ => Some(rule::ERROR_SHAPE),
            };
            self.lint(error, (&ERROR, format_args!("error")), &violation);
        }
    }

    /// Checks the form of the message, which is the same in all protocols.
    pub(super) fn check_form(&self) {
        let (seen, call) = (self.seen, self.call);
        if let Some(id) = call.id {
            let digits = spelling(id);
            let number = digits.trim_start_matches('-').parse::<u128>();
            if digits.contains(['.', 'e', 'E']) && id.number_text().is_some() {
                broken!(self.seen, rule::ID_FRACTION, seen.at(id);
                    "the id is {digits}; a fraction may come back as another number");
            } else if number.is_ok_and(|number| number > u128::from(MAX_EXACT)) {
                broken!(self.seen, rule::ID_RANGE, seen.at(id);
                    "the id is {digits}; readers in JavaScript round it");
            }
        }
        if let Some(method) = call.method {
            if !method.is_string() {
                broken!(self.seen, rule::METHOD_TYPE, seen.at(method);
                    "the method is {}; it should be a string", quote(method));
            }
            let params = call.params.filter(|p| !p.is_map() && !p.is_array());
            if let Some(params) = params {
                broken!(self.seen, rule::PARAMS_SHAPE, seen.at(params);
                    "params are {}; they should be an object or an array", quote(params));
            }
        }
    }
}
