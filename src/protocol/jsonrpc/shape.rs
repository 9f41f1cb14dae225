//! Shape findings of JSON-RPC 2.0: what one message breaks by itself, by the schema of its method.
//!
//! ```text
//!   {jsonrpc, id, method, params}          a known method of this side, an id where it is answered, params of its type
//!   {jsonrpc, id, result | error}          one of the two; an error has code and message
//! ```
//!
//! A protocol says which rule each flaw breaks.

use super::dialect::{Dialect, ERROR, VERSION};
use super::{Call, MEMBERS, is_integer};
use crate::protocol::schema::check::{At, Problem, Wrong, fits};
use crate::protocol::schema::lint::lint;
use crate::protocol::schema::{Message, Type, object};
use crate::protocol::session::text::{quote, short};
use crate::protocol::session::{Place, Report, Seen};
use crate::protocol::{Direction, Role};
use crate::tape::Node;

/// What can be wrong with a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::protocol) enum Flaw {
    RepeatedMember,
    VersionMissing,
    VersionWrong,
    ResultBesideMethod,
    IdMissing,
    IdType,
    IdRange,
    NullId,
    NullIdOfError,
    UnknownMethod,
    UnknownNotification,
    WrongDirection,
    RequestWithoutId,
    NotificationWithId,
    ParamsMissing,
    ParamsType,
    MissingParam,
    ParamType,
    NullBeside,
    ResultAndError,
    NullResult,
    MissingResult,
    ResultType,
    ErrorShape,
    ErrorCode,
    ErrorMessage,
    DuplicateId,
    IdTypeChanged,
    AnsweredTwice,
    Orphan,
}

/// A message, and by what it is judged.
#[derive(Clone, Copy)]
pub(in crate::protocol) struct Shape<'s, 'a> {
    pub(in crate::protocol) dialect: &'static Dialect,
    /// The names of who sends to the server, and to the client.
    pub(in crate::protocol) sides: [&'static str; 2],
    /// The rule that a flaw breaks.
    pub(in crate::protocol) rule: fn(Flaw) -> &'static str,
    pub(in crate::protocol) seen: &'s Seen<'a>,
    pub(in crate::protocol) call: &'s Call<'a>,
}

impl<'a> Shape<'_, 'a> {
    fn tell(&self, flaw: Flaw, place: Place, text: impl Into<String>, report: &mut Report) {
        report.broken((self.rule)(flaw), place, text);
    }

    /// Tells of the id, next to another message.
    pub(super) fn tell_of_id(
        &self,
        flaw: Flaw,
        related: Option<u64>,
        text: impl Fn(&str) -> String,
        report: &mut Report,
    ) {
        if let Some(id) = self.call.id {
            let (rule, place, text) = ((self.rule)(flaw), self.seen.at(id), text(&quote(id)));
            match related {
                Some(related) => report.broken_by(rule, place, related, text),
                None => report.broken(rule, place, text),
            }
        }
    }

    /// Checks a message; gives back its method, where it is a known one.
    pub(in crate::protocol) fn check(
        &self,
        root: Node<'a>,
        way: Option<Direction>,
        report: &mut Report,
    ) -> Option<&'static Message> {
        let mut had = [false; MEMBERS.len()];
        for (key, _) in root.members() {
            let at = MEMBERS.iter().position(|name| key.is_text(name));
            let had = at.and_then(|at| had.get_mut(at));
            if had.is_some_and(|had| std::mem::replace(had, true)) {
                let text = format!("{} is there twice; it should be there once", quote(key));
                self.tell(Flaw::RepeatedMember, self.seen.at(key), text, report);
            }
        }
        let version = object![VERSION];
        let flaw = |problem: &Problem<'_, 'a>| match problem.wrong {
            Wrong::Missing(_) => Some(Flaw::VersionMissing),
            _ => Some(Flaw::VersionWrong),
        };
        self.lint(root, (&version, ""), &flaw, report);
        match self.seen.message.role {
            Some(Role::Request | Role::Notification) => self.asks(way, report),
            Some(Role::Response | Role::Error) => {
                self.answers(root, report);
                None
            }
            _ => None,
        }
    }

    fn lint(
        &self,
        node: Node<'a>,
        what: (&Type, &str),
        flaw: &dyn Fn(&Problem<'_, 'a>) -> Option<Flaw>,
        report: &mut Report,
    ) {
        let rule = |problem: &Problem<'_, 'a>| match problem.rule() {
            None => flaw(problem).map(self.rule),
            rule => rule,
        };
        lint(self.seen, node, what, &rule, report);
    }

    /// A request or a notification.
    fn asks(&self, way: Option<Direction>, report: &mut Report) -> Option<&'static Message> {
        let Call { id, method, .. } = *self.call;
        let at = |node| self.seen.at(node);
        for (name, node) in [("result", self.call.result), ("error", self.call.error)] {
            if let Some(node) = node {
                let text =
                    format!("a message with a method has no {name}; that belongs to the answer");
                self.tell(Flaw::ResultBesideMethod, at(node), text, report);
            }
        }
        self.id(report);
        if let Some(id) = id.filter(|id| id.is_null()) {
            let text = "the id is null: peers take this for a notification and answer nothing";
            self.tell(Flaw::NullId, at(id), text, report);
            return None;
        }
        let node = method?;
        let name = node.text()?;
        let found = self.dialect.find(&name);
        let Some(method) = found.filter(|method| !method.releases.is_empty()) else {
            let (flaw, what) = match id {
                Some(_) => (Flaw::UnknownMethod, "method"),
                None => (Flaw::UnknownNotification, "notification"),
            };
            let text = format!("no release has a {what} {}", short(&name));
            self.tell(flaw, at(node), text, report);
            return None;
        };
        if let Some(way) = way.filter(|way| *way != method.direction) {
            let [mut sends, mut other] = self.sides;
            if way == Direction::ToClient {
                std::mem::swap(&mut sends, &mut other);
            }
            let text = format!("the {sends} sends {name}, which only the {other} sends");
            self.tell(Flaw::WrongDirection, at(node), text, report);
            return None;
        }
        match (method.answered, id) {
            (true, None) => {
                let text = format!("{name} is a request: without an id it is never answered");
                self.tell(Flaw::RequestWithoutId, self.seen.whole(), text, report);
            }
            (false, Some(id)) => {
                let text = format!("{name} is a notification: it should have no id");
                self.tell(Flaw::NotificationWithId, at(id), text, report);
            }
            _ => self.params(method, report),
        }
        Some(method)
    }

    /// An id of another type than the protocol's.
    fn id(&self, report: &mut Report) {
        let wrong = |id: &Node<'_>| !id.is_null() && !fits(*id, &self.dialect.id);
        if let Some(id) = self.call.id.filter(wrong) {
            let flaw = if is_integer(id) {
                Flaw::IdRange
            } else {
                Flaw::IdType
            };
            let text = format!("the id is {}; it should be {}", quote(id), self.dialect.id);
            self.tell(flaw, self.seen.at(id), text, report);
        }
    }

    fn params(&self, method: &Message, report: &mut Report) {
        let whole = format!("the params of {}", method.name);
        let Some(params) = self.call.params.filter(|params| !params.is_null()) else {
            let text = format!("{whole} are missing; at least {{}} should be there");
            let params = self.call.params;
            let place = params.map_or(self.seen.whole(), |params| self.seen.at(params));
            return self.tell(Flaw::ParamsMissing, place, text, report);
        };
        let flaws = [Flaw::ParamsType, Flaw::MissingParam, Flaw::ParamType];
        self.members(params, (&method.ty, &whole), flaws, report);
    }

    /// The result of a known method.
    pub(in crate::protocol) fn result(&self, method: &Message, report: &mut Report) {
        let result = self.call.result.filter(|result| !result.is_null());
        if let Some(result) = result.filter(|_| self.call.error().is_none()) {
            // No peer reads a result that is no object.
            let ty = if fits(result, &Type::Object(&[])) {
                method.result
            } else {
                Type::Object(&[])
            };
            let whole = format!("the result of {}", method.name);
            let flaws = [Flaw::ResultType, Flaw::MissingResult, Flaw::ResultType];
            self.members(result, (&ty, &whole), flaws, report);
        }
    }

    /// Flaws of the whole, of a missing member, of a wrong one.
    fn members(&self, node: Node<'a>, what: (&Type, &str), flaws: [Flaw; 3], report: &mut Report) {
        let [whole, missing, wrong] = flaws;
        let flaw = |problem: &Problem<'_, 'a>| match (problem.at, problem.wrong) {
            (At::Root, _) => Some(whole),
            (_, Wrong::Missing(_)) => Some(missing),
            (_, Wrong::Type(_)) => Some(wrong),
            _ => None,
        };
        self.lint(node, what, &flaw, report);
    }

    /// A response or an error.
    fn answers(&self, root: Node<'a>, report: &mut Report) {
        let Call { result, error, .. } = *self.call;
        let at = |node| self.seen.at(node);
        self.id(report);
        let flaw = match self.call.id {
            None => Some((
                Flaw::IdMissing,
                root,
                "an answer without an id: which request it answers cannot be told",
            )),
            Some(id) if !id.is_null() => None,
            Some(id) if self.call.error().is_none() => Some((
                Flaw::NullId,
                id,
                "the id of a result is null; it should be the request's",
            )),
            Some(id) => Some((
                Flaw::NullIdOfError,
                id,
                "the id of an error is null: peers refuse to read it",
            )),
        };
        let content = match (result, error) {
            (Some(node), Some(error)) if node.is_null() || error.is_null() => {
                let node = if error.is_null() { error } else { node };
                Some((
                    Flaw::NullBeside,
                    node,
                    "one of result and error is null; it should not be there at all",
                ))
            }
            (Some(_), Some(error)) => Some((
                Flaw::ResultAndError,
                error,
                "result and error are both there; an answer has one of them",
            )),
            (Some(result), None) if result.is_null() => Some((
                Flaw::NullResult,
                result,
                "result is null: peers take it for absent and refuse the message",
            )),
            _ => None,
        };
        for (flaw, node, text) in flaw.into_iter().chain(content) {
            self.tell(flaw, at(node), text, report);
        }
        if let Some(error) = self.call.error() {
            let flaw = |problem: &Problem<'_, 'a>| match problem.at {
                At::Member(_, "code", _) => Some(Flaw::ErrorCode),
                At::Member(_, "message", _) => Some(Flaw::ErrorMessage),
                _ => Some(Flaw::ErrorShape),
            };
            self.lint(error, (&ERROR, "error"), &flaw, report);
        }
    }
}
