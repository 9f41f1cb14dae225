//! Shape findings of lint: schema problems of a message as broken rules.
//!
//! ```text
//!   member missing       the first rule of the member      `tool is not there; it should be a string`
//!   wrong value          the second rule of the member     `seq is 0; it should be an integer of 1 or more`
//!   wrong form           the rule of the form
//! ```
//!
//! A protocol decides with a function which rule a problem breaks; `Problem::rule` returns the one that the schema
//! names.

use super::check::{At, TypeProblem, Wrong, check};
use super::{MessageSchema, Presence, Type, members_of};
use crate::protocol::session::text::quote;
use crate::protocol::session::{Report, RuleId, Seen, broken};
use crate::tape::Node;
use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt::Display;

impl TypeProblem<'_, '_> {
    /// Returns the rule that the schema names for the problem.
    pub fn rule(&self) -> Option<RuleId> {
        match self.wrong {
            Wrong::Missing(member) | Wrong::None(member, _) | Wrong::Beside(_, member) => {
                member.rules[0]
            }
            Wrong::Form(form) => form.rule.or_else(|| self.at.wrong_rule()),
            Wrong::Type(_) => self.at.wrong_rule(),
        }
    }

    /// Describes the actual and the expected value in one sentence. `whole` names the compared value.
    pub fn text(&self, whole: &str) -> String {
        let at = match self.at {
            At::Root => whole.to_owned(),
            at if whole.is_empty() => at.to_string(),
            at => format!("{at} of {whole}"),
        };
        let node = self.node;
        let is_plural = matches!(self.at, At::Root) && whole.starts_with("the params");
        let (is, it) = if is_plural {
            ("are", "they")
        } else {
            ("is", "it")
        };
        match self.wrong {
            Wrong::Missing(member) => format!("{at} is missing; it should be {}", member.ty),
            Wrong::None(_, members) => {
                let one = members.iter().filter(|m| m.presence == Presence::One);
                let names: Vec<_> = one.map(|m| m.name).collect();
                format!("none of {} is there; one should be", names.join(", "))
            }
            Wrong::Beside(other, _) => {
                format!("{at} is there beside {other}; only one of them should be")
            }
            Wrong::Type(Type::Never(why)) => format!("{at} should not be there: {why}"),
            Wrong::Type(ty) => format!("{at} {is} {}; {it} should be {ty}", quote(node)),
            Wrong::Form(form) => {
                format!("{at} {is} {}; {it} should be {}", quote(node), form.wanted)
            }
        }
    }
}

impl At<'_> {
    /// Returns the rule that a wrong value of the innermost member breaks.
    fn wrong_rule(&self) -> Option<RuleId> {
        match self {
            Self::Root => None,
            Self::Member(_, _, member) => member.rules[1],
            Self::Item(outer, _) => outer.wrong_rule(),
        }
    }
}

/// Reports each problem of a message whose member names a rule, which [`Member::rules`](super::Member::rules) holds: the
/// first if it is missing, the second if its value is wrong.
pub fn lint_message(seen: &Seen<'_>, schema: &MessageSchema, report: &mut Report) {
    if let Some(root) = seen.root() {
        let ty = (&schema.ty, "the message");
        lint(seen, root, ty, &|problem| problem.rule(), report);
    }
}

/// Reports each problem of a value that breaks a rule. `whole` names the value in texts; it is formatted only there.
pub(crate) fn lint<'a>(
    seen: &Seen<'a>,
    node: Node<'a>,
    (ty, whole): (&Type, impl Display),
    rule: &dyn Fn(&TypeProblem<'_, 'a>) -> Option<RuleId>,
    report: &mut Report,
) {
    let is_message = |node: Node<'_>| seen.root().is_some_and(|r| r.index() == node.index());
    check(node, ty, &At::Root, &mut |problem| {
        if is_left_out(problem.node) {
            return;
        }
        if let Some(rule) = rule(problem) {
            let place = if is_message(problem.node) {
                seen.whole()
            } else {
                seen.at(problem.node)
            };
            broken!(report, rule, place; "{}", problem.text(&whole.to_string()));
        }
    });
}

/// Returns true for a value that Node left out of a print.
fn is_left_out(node: Node<'_>) -> bool {
    node.is_string() && matches!(node.text().as_deref(), Some("[Object]" | "[Array]"))
}

/// Reports missing members of a message that has none.
pub(crate) fn lint_nothing(seen: &Seen<'_>, (ty, whole): (&Type, &str), report: &mut Report) {
    for member in members_of(ty) {
        if let Some(rule) = member.rules[0].filter(|_| member.presence == Presence::Required) {
            broken!(report, rule, seen.whole();
                "{} of {whole} is missing; it should be {}", member.name, member.ty);
        }
    }
}

/// Returns the first repeated key of an object.
pub(crate) fn repeated_key(object: Node<'_>) -> Option<Node<'_>> {
    if !object.is_map() || object.has_unique_keys() == Some(true) {
        return None;
    }
    let mut known = HashSet::new();
    let mut keys = object.members().map(|(key, _)| key);
    keys.find(|key| !known.insert(content(*key)))
}

/// Returns a key for comparison: `(is_text, bytes)`.
fn content(key: Node<'_>) -> (bool, Cow<'_, [u8]>) {
    if key.is_string() {
        (true, key.key_bytes())
    } else {
        (false, key.span().of(key.bytes()).into())
    }
}
