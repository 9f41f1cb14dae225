//! Reads the kinds of messages.

use super::super::description::{MessageKind, Pairing, Word, is_answer};
use super::Reader;
use crate::protocol::{Direction, Role};
use crate::select::{Expr, Key, KeyTest};
use crate::toml_text::{Entries, Item, get};

/// The maximum number of kinds of messages.
const MAX_KINDS: usize = 128;
const MESSAGE_KEYS: [&str; 18] = [
    "when",
    "kind",
    "role",
    "id",
    "reply-to",
    "answers",
    "subject",
    "name",
    "content",
    "error",
    "outcome",
    "text",
    "direction",
    "cancels",
    "ends",
    "last",
    "type",
    "certain",
];

impl<'t> Reader<'t> {
    pub(super) fn messages(
        &mut self,
        item: &Item<'t>,
        certain: bool,
        pairing: Pairing,
    ) -> Vec<MessageKind> {
        let items = self.toml.list("message", item, "[[message]] for each kind");
        let items = self.keep(items).unwrap_or_default();
        if items.len() > MAX_KINDS {
            self.wrong::<()>("message", item, &format!("at most {MAX_KINDS} kinds"));
            return Vec::new();
        }
        let kinds = items
            .into_iter()
            .filter_map(|item| self.message(item, certain, pairing));
        kinds.collect()
    }

    fn message(&mut self, item: &Item<'t>, certain: bool, pairing: Pairing) -> Option<MessageKind> {
        let entries = self.toml.entries("message", item);
        let entries = self.keep(entries)?;
        self.check_keys(&entries, &MESSAGE_KEYS);
        let known_role = if let Some(item) = get(&entries, "role") {
            self.role(item)
        } else {
            let roles = Role::ALL.map(Role::name).join(", ");
            self.error(&item.span(), format!("wanted a role: one of {roles}"));
            None
        };
        // Without a role, the other values are still checked.
        let role = known_role.unwrap_or(Role::Control);
        let (when, error) = (
            self.condition(&entries, "when"),
            self.condition(&entries, "error"),
        );
        let kind = self.word(&entries, "kind");
        let message = MessageKind {
            certain: match get(&entries, "certain") {
                Some(item) => self.flag("certain", item),
                None => certain || when.as_ref().is_some_and(|when| constants(when) >= 2),
            },
            when,
            kind: kind.unwrap_or_else(|| Word::Text(role.name().to_owned())),
            role,
            id: self.path(&entries, "id"),
            reply_to: self.path(&entries, "reply-to"),
            answers: self.condition(&entries, "answers"),
            subject: self.word(&entries, "subject"),
            name: self.word(&entries, "name"),
            content: self.path(&entries, "content"),
            error,
            outcome: self.path(&entries, "outcome"),
            text: self.path(&entries, "text"),
            direction: get(&entries, "direction").and_then(|item| self.direction(item)),
            cancels: self.path(&entries, "cancels"),
            ends: self.condition(&entries, "ends"),
            last: self.condition(&entries, "last"),
            ty: get(&entries, "type").map(|_| self.text_of(&entries, "type")),
        };
        known_role?;
        self.check_role(&message, &entries, item, pairing);
        Some(message)
    }

    /// Checks that the facts fit the role.
    fn check_role(
        &mut self,
        message: &MessageKind,
        entries: &Entries<'_, 't>,
        item: &Item<'t>,
        pairing: Pairing,
    ) {
        let role = message.role.name();
        let of_answers = is_answer(message.role);
        let fits = [
            ("reply-to", of_answers, "an answer"),
            ("answers", of_answers, "an answer"),
            ("error", message.role == Role::Response, "a response"),
            ("last", message.role == Role::Item, "an item"),
            ("cancels", !of_answers, "a message that is no answer"),
            ("ends", message.role == Role::Request, "a request"),
            ("outcome", of_answers, "an answer"),
            ("text", of_answers, "an answer"),
        ];
        for (key, fits, of) in fits {
            let found = entries.iter().find(|(name, _)| name.get_ref() == key);
            if let Some((name, _)) = found.filter(|_| !fits) {
                self.error(
                    &name.span(),
                    format!("{key} is of {of}, but the role is {role}"),
                );
            }
        }
        let has_pair = of_answers || message.role == Role::Request;
        if pairing == Pairing::Subject && has_pair && message.subject.is_none() {
            let wanted = format!("wanted subject: the path of the value that pairs the {role}");
            self.error(&item.span(), wanted);
        }
        let is_given = ["id", "reply-to"]
            .iter()
            .any(|key| get(entries, key).is_some());
        if pairing == Pairing::Id && has_pair && !is_given {
            let key = if of_answers { "reply-to or id" } else { "id" };
            let wanted = format!(
                "wanted {key}: the path of the id that pairs the {role}, or pair = \"order\" at the top"
            );
            self.error(&item.span(), wanted);
        }
    }

    fn role(&mut self, item: &Item<'t>) -> Option<Role> {
        let role = item.get_ref().as_str().and_then(Role::from_name);
        match role {
            None => {
                let roles = Role::ALL.map(Role::name).join(", ");
                self.wrong("role", item, &format!("one of {roles}"))
            }
            role => role,
        }
    }

    pub(super) fn direction(&mut self, item: &Item<'t>) -> Option<Direction> {
        match item.get_ref().as_str().and_then(Direction::from_name) {
            None => self.wrong("direction", item, "c2s or s2c"),
            direction => direction,
        }
    }
}

/// Returns the number of tests of constants that hold together for every message that matches.
fn constants(when: &Expr) -> usize {
    match when {
        Expr::All(parts) => parts.iter().map(constants).sum(),
        Expr::Test(test) => {
            usize::from(matches!(test.key, Key::Message(_)) && matches!(test.what, KeyTest::Is(_)))
        }
        _ => 0,
    }
}
