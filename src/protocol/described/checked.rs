//! Compares messages with their types.
//!
//! ```text
//!   a [[message]] with type = "NAME"      the definition with this name
//!   an answer                             that of its request's answer, if the file has one
//!   any other                             the one whose constant members it has
//! ```

use super::Described;
use super::description::is_answer;
use crate::protocol::rule_names::described as rule;
use crate::protocol::schema::files::{Definition, SchemaFile};
use crate::protocol::session::memory::RecentEntries;
use crate::protocol::session::{
    ConnectionChange, Report, Seen, Session, SessionConfig, broken, forward_to_inner,
};
use crate::protocol::{Origin, Role};
use crate::tape::Node;

/// Returns a session that compares messages with their types, too; the session itself if there are none.
pub(super) fn wrap_with_types<'d>(
    inner: Box<dyn Session + 'd>,
    described: &'d Described,
    config: &SessionConfig,
) -> Box<dyn Session + 'd> {
    if !described.description.schemas.is_any() {
        return inner;
    }
    Box::new(Checked {
        inner,
        described,
        asked: RecentEntries::with_capacity(config.max_open),
        is_reported: false,
    })
}

struct Checked<'d> {
    inner: Box<dyn Session + 'd>,
    described: &'d Described,
    /// The definitions of requests, by their index.
    asked: RecentEntries<u64, (&'d SchemaFile, &'d Definition)>,
    /// A part that could not be checked was reported.
    is_reported: bool,
}

impl<'d> Checked<'d> {
    /// Returns the definition of a message, and its file.
    fn definition(
        &self,
        seen: &Seen<'_>,
        root: Node<'_>,
        value: Node<'_>,
        report: &Report,
    ) -> Option<(&'d SchemaFile, &'d Definition)> {
        let (described, schemas) = (self.described, &self.described.description.schemas);
        let kind = described.matcher.read(root, |found| {
            found.kind(&described.description.messages, seen.origin.direction)
        });
        let role = seen.message.role?;
        if let Some(name) = kind.and_then(|kind| kind.ty.as_deref()) {
            return schemas.named(name);
        }
        let of_request = || {
            let is_result = is_answer(role) && role != Role::Error;
            let asked = report.answer.as_ref().filter(|_| is_result)?;
            let (file, asked) = self.asked.get(&asked.to)?;
            Some((*file, file.answer_to(asked)?))
        };
        of_request().or_else(|| schemas.choose(value, seen.origin.direction))
    }

    fn check(&mut self, seen: &Seen<'_>, root: Node<'_>, report: &mut Report) {
        let Some(value) = self.described.description.body.value(root) else {
            return;
        };
        let Some((file, definition)) = self.definition(seen, root, value, report) else {
            return;
        };
        if seen.message.role == Some(Role::Request) {
            self.asked.insert(seen.index, (file, definition));
        }
        let found = file.check(definition, value);
        let name = definition.name();
        if let Some(wrong) = found.wrong {
            let parsed = seen.message.value;
            let node = parsed.and_then(|one| one.tape.node(root.bytes(), wrong.node));
            broken!(report, rule::WRONG_TYPE, seen.place(node); "{name}: {}", wrong.text);
        }
        if let Some(why) = found.unchecked
            && !std::mem::replace(&mut self.is_reported, true)
        {
            broken!(report, rule::NOT_CHECKED, seen.whole(); "{name}: {why}");
        }
    }
}

impl Session for Checked<'_> {
    fn message(&mut self, seen: &Seen<'_>, report: &mut Report) {
        self.inner.message(seen, report);
        let is_whole = seen.message.valid && seen.frame.fault.is_none();
        if let Some(root) = seen.root().filter(|_| is_whole) {
            self.check(seen, root, report);
        }
    }

    fn event(&mut self, origin: Origin, what: ConnectionChange, report: &mut Report) {
        self.inner.event(origin, what, report);
    }

    fn finish(&mut self, report: &mut Report) {
        self.inner.finish(report);
    }

    forward_to_inner!();
}
