//! Checks what depends on two places of a description: that paths name members that messages have, that each kind can
//! match, that marks name kinds.

use super::super::body::{Body, NO_BODY};
use super::super::description::{Description, MessageKind, Word};
use super::super::message::UNKNOWN;
use super::super::text::{TextForm, TextPart};
use super::Reader;
use crate::diff::PathPattern;
use crate::encoding::Encoding;
use crate::own_rules::OwnRule;
use crate::path::{Path, PathStep};
use crate::select::{Expr, Key, KeyTest, Operand};
use crate::toml_text::{Entries, Item, get};
use crate::words::nearest;

impl<'t> Reader<'t> {
    /// Checks a description without other errors.
    pub(super) fn check_members_and_kinds(
        &mut self,
        entries: &Entries<'_, 't>,
        description: &Description,
    ) {
        let items = get(entries, "message").map(|item| self.toml.list("message", item, ""));
        let items = items.and_then(Result::ok).unwrap_or_default();
        let kinds = &description.messages;
        for (n, (item, kind)) in items.iter().zip(kinds).enumerate() {
            self.check_paths(item, kind, &description.body);
            let mut before = kinds.iter().take(n).zip(&items);
            let first =
                before.find(|(before, _)| before.when.is_none() || before.when == kind.when);
            if let Some((_, first)) = first {
                let line = self.toml.line(&first.span());
                self.error(
                    &item.span(),
                    format!(
                        "no message reaches this kind: that of line {line} matches all of them"
                    ),
                );
            }
        }
        if let Some(marks) = get(entries, "marks") {
            self.check_marked_paths(marks, &description.body);
        }
        let rules = get(entries, "rule").map(|item| self.toml.list("rule", item, ""));
        let rules = rules.and_then(Result::ok).unwrap_or_default();
        for (item, rule) in rules.iter().zip(&description.rules) {
            self.check_paths_of_rule(item, rule, &description.body);
        }
        // The kinds of a base are those of its schema, and a path tells any kind.
        let fixed: Option<Vec<&str>> = kinds.iter().map(MessageKind::fixed_kind).collect();
        if let (Some(fixed), None) = (fixed, &description.base) {
            if let Some(marks) = get(entries, "marks") {
                self.check_marked_kinds(marks, &fixed);
            }
            for rule in rules {
                self.check_kinds_of_rule(rule, &fixed);
            }
        }
    }

    /// Checks the paths of a rule against the members that the header and the forms of texts have.
    fn check_paths_of_rule(&mut self, item: &Item<'t>, rule: &OwnRule, body: &Body) {
        let mut wrong: Vec<(&str, String)> = Vec::new();
        rule.each_path(&mut |key, path, what| {
            let error = unknown_member(path, body);
            let error = error.or_else(|| unknown_name(path, what?, body));
            wrong.extend(error.map(|error| (key, error)));
        });
        for (key, error) in wrong {
            self.error_of_key(item, key, &error);
        }
    }

    /// Checks the paths of marks, up to their first wildcard.
    fn check_marked_paths(&mut self, item: &Item<'t>, body: &Body) {
        if let Some(list) = item.get_ref().as_array() {
            list.iter()
                .for_each(|item| self.check_marked_paths(item, body));
        } else if let Some(table) = item.get_ref().as_table() {
            // A secret is the name of a member, and the others in a table are words.
            const PATHS: [&str; 5] = ["volatile", "unordered", "generated", "references", "path"];
            for (key, item) in table {
                if PATHS.contains(&key.get_ref().as_ref()) {
                    self.check_marked_paths(item, body);
                }
            }
        } else if let Some(pattern) = item.get_ref().as_str()
            && let Some(error) = unknown_member(&PathPattern::first_steps(pattern), body)
        {
            self.error(&item.span(), error);
        }
    }

    /// Adds an error about the value of a key.
    fn error_of_key(&mut self, item: &Item<'t>, key: &str, error: &str) {
        let value = item.get_ref().get(key);
        let span = value.map_or(item.span(), toml::Spanned::span);
        self.error(&span, format!("{key}: {error}"));
    }

    /// Checks the kinds that the conditions of a rule compare with.
    fn check_kinds_of_rule(&mut self, rule: &Item<'t>, kinds: &[&str]) {
        for (key, item) in rule.get_ref().as_table().into_iter().flatten() {
            let text = item.get_ref().as_str().filter(|_| key.get_ref() != "text");
            let Some(Ok(condition)) = text.map(str::parse::<Expr>) else {
                continue;
            };
            let mut unknown = None;
            condition.each_test(&mut |test| {
                let KeyTest::Is(list) = &test.what else {
                    return;
                };
                for operand in list.iter().filter(|_| test.key == Key::Kind) {
                    match operand {
                        Operand::Text(kind) | Operand::Word(kind)
                            if !kinds.contains(&kind.as_str()) && kind != UNKNOWN =>
                        {
                            unknown = Some(kind.clone());
                        }
                        _ => {}
                    }
                }
            });
            if let Some(kind) = unknown {
                let hint = one_of(&kind, kinds);
                let error = format!("{}: no message has the kind {kind}{hint}", key.get_ref());
                self.error(&item.span(), error);
            }
        }
    }

    /// Checks the kinds of `KIND:PATH` and `KIND SUBJECT:PATH` in marks.
    fn check_marked_kinds(&mut self, item: &Item<'t>, kinds: &[&str]) {
        if let Some(list) = item.get_ref().as_array() {
            list.iter()
                .for_each(|item| self.check_marked_kinds(item, kinds));
        } else if let Some(table) = item.get_ref().as_table() {
            for (key, item) in table {
                if key.get_ref() != "secret" {
                    self.check_marked_kinds(item, kinds);
                }
            }
        } else if let Some((of, _)) = item
            .get_ref()
            .as_str()
            .and_then(|text| text.split_once(':'))
            && let Some(kind) = of.split(' ').next()
            && kind != "*"
            && !kinds.contains(&kind)
        {
            let hint = one_of(kind, kinds);
            self.error(
                &item.span(),
                format!("no message has the kind {kind}{hint}"),
            );
        }
    }

    /// Checks the paths of a kind against the members that the header and the forms of texts have.
    fn check_paths(&mut self, item: &Item<'t>, kind: &MessageKind, body: &Body) {
        let word = |word: Option<&'_ Word>| match word {
            Some(Word::At(path)) => Some(path.clone()),
            _ => None,
        };
        let paths = [
            ("id", kind.id.clone()),
            ("reply-to", kind.reply_to.clone()),
            ("kind", word(Some(&kind.kind))),
            ("subject", word(kind.subject.as_ref())),
            ("name", word(kind.name.as_ref())),
            ("content", kind.content.clone()),
            ("outcome", kind.outcome.clone()),
            ("text", kind.text.clone()),
            ("cancels", kind.cancels.clone()),
        ];
        let mut wrong: Vec<(&str, String)> = Vec::new();
        for (key, path) in &paths {
            let error = path.as_ref().and_then(|path| unknown_member(path, body));
            wrong.extend(error.map(|error| (*key, error)));
        }
        let conditions = [
            ("when", &kind.when),
            ("error", &kind.error),
            ("last", &kind.last),
            ("answers", &kind.answers),
            ("ends", &kind.ends),
        ];
        for (key, condition) in conditions {
            let error = condition.as_ref().and_then(|when| unknown_in(when, body));
            wrong.extend(error.map(|error| (key, error)));
        }
        for (key, error) in wrong {
            self.error_of_key(item, key, &error);
        }
    }
}

/// Returns the first error of the paths and the named values of a condition.
fn unknown_in(condition: &Expr, body: &Body) -> Option<String> {
    let mut error = None;
    condition.each_test(&mut |test| {
        let Key::Message(path) = &test.key else {
            return;
        };
        let found = unknown_member(path, body).or_else(|| unknown_name(path, &test.what, body));
        error = error.take().or(found);
    });
    error
}

/// Returns the error of a path that names a member that no message has.
fn unknown_member(path: &Path, body: &Body) -> Option<String> {
    let mut steps = path.iter().map(|step| match step {
        PathStep::Member(name) => Some(name.as_str()),
        PathStep::Element(_) => None,
    });
    if let Some(header) = &body.header {
        match steps.next() {
            Some(Some("body")) if !header.has_body() => {
                return Some(format!("no message has a body: {NO_BODY}"));
            }
            None | Some(Some("body")) => {}
            Some(Some("header")) => {
                let shown = header.fields.iter().filter(|field| field.label.is_some());
                let fields: Vec<_> = shown.map(|field| field.name.as_str()).collect();
                let name = steps.next().flatten()?;
                let is_known = fields.contains(&name);
                return (!is_known)
                    .then(|| format!("the header has no field {name}{}", one_of(name, &fields)));
            }
            Some(other) => {
                let name = other.unwrap_or("[…]");
                return Some(format!(
                    "wanted .header or .body first, such as .body.{name}, got .{name}"
                ));
            }
        }
    }
    if body.encodings != [Encoding::Text] {
        return None;
    }
    let name = steps.next()??;
    if body.texts.is_empty() {
        return Some(format!(
            "a text has no member {name} without its forms: text = [\"{{{name}}} {{rest...}}\"]"
        ));
    }
    let members = text_members(body);
    (!members.contains(&name))
        .then(|| format!("no text has a member {name}{}", one_of(name, &members)))
}

/// Returns the members of all forms of texts.
fn text_members(body: &Body) -> Vec<&str> {
    let mut members = Vec::new();
    for form in &body.texts {
        let labels: Vec<u32> = match form {
            TextForm::Template(parts) => parts
                .iter()
                .filter_map(|part| match part {
                    TextPart::Member(member) => Some(member.label),
                    TextPart::Literal(_) => None,
                })
                .collect(),
            TextForm::Pattern(_, groups) => groups.iter().flatten().copied().collect(),
        };
        members.extend(
            labels
                .into_iter()
                .map(|label| body.names.get(label).as_str()),
        );
    }
    members
}

/// Returns the error of a word that no value of a field has as its name.
fn unknown_name(path: &Path, what: &KeyTest, body: &Body) -> Option<String> {
    let header = body.header.as_ref()?;
    let ([PathStep::Member(first), PathStep::Member(name)], KeyTest::Is(list)) = (&path[..], what)
    else {
        return None;
    };
    let mut fields = header.fields.iter().filter(|_| first == "header");
    let field = fields.find(|field| field.name == *name && !field.values.is_empty())?;
    let names: Vec<_> = field
        .values
        .iter()
        .map(|(_, name)| body.names.get(*name).as_str())
        .collect();
    list.iter().find_map(|operand| match operand {
        Operand::Text(word) | Operand::Word(word)
            if !names.contains(&word.as_str()) && word.parse::<i128>().is_err() =>
        {
            let hint = one_of(word, &names);
            Some(format!("no value of {name} has the name {word}{hint}"))
        }
        _ => None,
    })
}

/// Returns `: did you mean get?`, or the names that there are.
fn one_of(word: &str, names: &[&str]) -> String {
    match nearest(word, names.iter().copied()) {
        Some(near) => format!(": did you mean {near}?"),
        None => format!(": there are {}", names.join(", ")),
    }
}
