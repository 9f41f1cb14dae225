//! Reads `[[rule]]`. Every error has its place and names what was expected.

use super::template::{Template, key_of};
use super::{Form, OwnRule, Scope};
use crate::path::Path;
use crate::protocol::rule_names::RuleId;
use crate::protocol::session::{Rule, Severity};
use crate::select::{Expr, Key, KeyTest, ParseError, TextPattern, duration};
use crate::toml_text::{Entries, Item, Key as TomlKey, TomlError, TomlText, get, in_order};
use crate::words::nearest;
use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

/// The maximum number of rules of a file.
const MAX_RULES: usize = 256;
/// The maximum number of regular expressions of a file: each may take memory of its own.
const MAX_PATTERNS: usize = 32;
/// The maximum number of messages of `at-most`.
const MAX_COUNT: usize = 10_000;
/// The maximum length of a name.
const MAX_NAME: usize = 48;

const FORMS: [&str; 8] = [
    "must",
    "never",
    "once",
    "after",
    "not-after",
    "then",
    "increases",
    "at-most",
];
const KEYS: [&str; 17] = [
    "name",
    "severity",
    "text",
    "protocol",
    "when",
    "must",
    "never",
    "once",
    "after",
    "not-after",
    "then",
    "within",
    "increases",
    "at-most",
    "per",
    "same",
    "scope",
];

/// Reads the rules of a settings file: those below `[[rule]]` there. `protocols`: the names that they can use.
pub(crate) fn read(toml: TomlText<'_>, protocols: &[&str]) -> Result<Vec<OwnRule>, Vec<TomlError>> {
    let table = toml.parse().map_err(|error| vec![error])?;
    let entry = in_order(&table)
        .into_iter()
        .find(|(key, _)| key.get_ref() == "rule");
    entry.map_or(Ok(Vec::new()), |(_, item)| {
        read_rules(toml, item, Some(protocols), RuleId::of_project)
    })
}

/// Reads the rules below `[[rule]]`. `protocols`: the names that they can use; `None` in a description. `id`: the numbers
/// of the rules.
pub(crate) fn read_rules(
    toml: TomlText<'_>,
    item: &Item<'_>,
    protocols: Option<&[&str]>,
    id: fn(u16) -> RuleId,
) -> Result<Vec<OwnRule>, Vec<TomlError>> {
    let wanted = "tables, each below [[rule]]";
    let items = toml
        .list("rule", item, wanted)
        .map_err(|error| vec![error])?;
    if items.len() > MAX_RULES {
        let wanted = format!("at most {MAX_RULES} rules");
        return Err(vec![toml.wrong_value("rule", item, &wanted)]);
    }
    let mut reader = Reader {
        toml,
        protocols,
        errors: Vec::new(),
        patterns: 0,
    };
    let (mut rules, mut names) = (Vec::new(), HashSet::new());
    for (item, number) in items.into_iter().zip(0..) {
        let Some(rule) = reader.rule(item, id(number)) else {
            continue;
        };
        if !names.insert(rule.rule.name.clone()) {
            let name = item.get_ref().get("name").unwrap_or(item);
            reader.wrong::<()>("name", name, "a name that no rule before has");
        }
        rules.push(rule);
    }
    if reader.errors.is_empty() {
        Ok(rules)
    } else {
        Err(reader.errors)
    }
}

fn is_known(key: &TomlKey<'_>) -> bool {
    KEYS.contains(&key.get_ref().as_ref())
}

struct Reader<'r> {
    toml: TomlText<'r>,
    protocols: Option<&'r [&'r str]>,
    errors: Vec<TomlError>,
    patterns: usize,
}

impl Reader<'_> {
    fn error(&mut self, span: &Range<usize>, text: impl Into<String>) {
        self.errors.push(self.toml.error(span, text));
    }

    fn wrong<T>(&mut self, key: &str, item: &Item<'_>, wanted: &str) -> Option<T> {
        self.errors.push(self.toml.wrong_value(key, item, wanted));
        None
    }

    fn rule(&mut self, item: &Item<'_>, id: RuleId) -> Option<OwnRule> {
        let entries = match self.toml.entries("rule", item) {
            Ok(entries) => entries,
            Err(error) => {
                self.errors.push(error);
                return None;
            }
        };
        for (key, _) in &entries {
            if !is_known(key) {
                self.errors.push(self.toml.unknown_key(key, &KEYS));
            } else if key.get_ref() == "protocol" && self.protocols.is_none() {
                let text = "protocol: the rules of a description are of its protocol";
                self.error(&key.span(), text);
            }
        }
        let name = self.name(&entries, item);
        let severity = self.word(&entries, "severity", &Severity::ALL, Severity::name);
        let severity = severity.unwrap_or(Severity::Error);
        let scope = self.word(&entries, "scope", &Scope::ALL, Scope::name);
        let when = self.condition(&entries, "when");
        let protocol = self.protocol(&entries);
        let same = get(&entries, "same").and_then(|item| self.key("same", item));
        let text = get(&entries, "text").and_then(|item| self.template(item));
        let form = self.form(&entries, item)?;
        let clause = format!("{}:{}", self.toml.name, self.toml.line(&item.span()));
        Some(OwnRule {
            rule: Arc::new(Rule {
                name: name?.into(),
                id,
                document: severity,
                peers: severity,
                clause: clause.into(),
                why: why(when.as_ref(), &form, &entries).into(),
                needs: form.needs(when.as_ref()),
                ..Rule::PLAIN
            }),
            protocol,
            when,
            form,
            same,
            scope: scope.unwrap_or(Scope::Connection),
            text,
        })
    }

    fn name(&mut self, entries: &Entries<'_, '_>, rule: &Item<'_>) -> Option<String> {
        let Some(item) = get(entries, "name") else {
            self.error(&rule.span(), "wanted a name: name = \"my-rule\"");
            return None;
        };
        let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        let is_name = |name: &&str| {
            (1..=MAX_NAME).contains(&name.len())
                && name.starts_with(|c: char| c.is_ascii_lowercase())
                && name.chars().all(fits)
        };
        if let Some(name) = item.get_ref().as_str().filter(is_name) {
            return Some(name.to_owned());
        }
        let wanted =
            format!("at most {MAX_NAME} lower-case letters, digits and hyphens, a letter first");
        self.wrong("name", item, &wanted)
    }

    fn word<T: Copy>(
        &mut self,
        entries: &Entries<'_, '_>,
        key: &str,
        all: &[T],
        name: fn(T) -> &'static str,
    ) -> Option<T> {
        let item = get(entries, key)?;
        let word = item.get_ref().as_str();
        let found = all.iter().copied().find(|one| word == Some(name(*one)));
        if found.is_none() {
            let names: Vec<_> = all.iter().copied().map(name).collect();
            self.wrong::<()>(key, item, &format!("one of {}", names.join(", ")));
        }
        found
    }

    fn protocol(&mut self, entries: &Entries<'_, '_>) -> Option<String> {
        let (item, protocols) = (get(entries, "protocol")?, self.protocols?);
        let word = item.get_ref().as_str().unwrap_or_default();
        if protocols.contains(&word) {
            return Some(word.to_owned());
        }
        let near = nearest(word, protocols.iter().copied());
        let near = near.map_or(String::new(), |near| format!(" (did you mean {near}?)"));
        let wanted = format!("one of {}{near}", protocols.join(", "));
        self.wrong("protocol", item, &wanted)
    }

    fn form(&mut self, entries: &Entries<'_, '_>, rule: &Item<'_>) -> Option<Form> {
        let given = entries
            .iter()
            .filter(|(key, _)| FORMS.contains(&key.get_ref().as_ref()));
        let given: Vec<_> = given.collect();
        let [(form, item)] = given.as_slice() else {
            if given.is_empty() && entries.iter().any(|(key, _)| !is_known(key)) {
                return None;
            }
            let at = given.get(1).map_or(rule.span(), |(key, _)| key.span());
            let forms = FORMS.join(", ");
            self.error(
                &at,
                format!("wanted one of {forms} in each rule, got {}", given.len()),
            );
            return None;
        };
        let form: &str = form.get_ref();
        for (key, of) in [("within", "then"), ("per", "at-most")] {
            if let Some((key, _)) = entries.iter().find(|(name, _)| name.get_ref() == key)
                && form != of
            {
                let text = format!("{} is of {of}, but the rule has {form}", key.get_ref());
                self.error(&key.span(), text);
            }
        }
        Some(match form {
            "increases" => Form::Increases(self.path(form, item)?),
            "at-most" => Form::AtMost(self.count(item)?, self.time(entries, "per")),
            _ => {
                let condition = self.condition(entries, form)?;
                match form {
                    "must" => Form::Must(condition),
                    "never" => Form::Never(condition),
                    "once" => Form::Once(condition),
                    "after" => Form::After(condition),
                    "not-after" => Form::NotAfter(condition),
                    _ => Form::Then(condition, self.time(entries, "within")),
                }
            }
        })
    }

    /// Returns the time of a key, if there is one.
    fn time(&mut self, entries: &Entries<'_, '_>, key: &str) -> Option<i64> {
        let item = get(entries, key)?;
        let time = item.get_ref().as_str().and_then(duration);
        let time = time.and_then(|time| i64::try_from(time).ok());
        match time.filter(|time| *time > 0) {
            None => self.wrong(key, item, "a time such as \"2s\", \"500ms\" or \"1m\""),
            time => time,
        }
    }

    fn count(&mut self, item: &Item<'_>) -> Option<usize> {
        let number = item.get_ref().as_integer();
        let count = number.and_then(|number| number.as_str().parse().ok());
        let wanted = format!("a number from 1 to {MAX_COUNT}");
        match count.filter(|count| (1..=MAX_COUNT).contains(count)) {
            None => self.wrong("at-most", item, &wanted),
            count => count,
        }
    }

    fn key(&mut self, name: &str, item: &Item<'_>) -> Option<Key> {
        match key_of(item.get_ref().as_str().unwrap_or_default()) {
            Ok(key) => Some(key),
            Err(wanted) => self.wrong(name, item, &wanted),
        }
    }

    fn path(&mut self, name: &str, item: &Item<'_>) -> Option<Path> {
        match self.key(name, item)? {
            Key::Message(path) => Some(path),
            _ => self.wrong(name, item, "a path such as .params.seq"),
        }
    }

    fn template(&mut self, item: &Item<'_>) -> Option<Template> {
        let Some(text) = item.get_ref().as_str() else {
            return self.wrong(
                "text",
                item,
                "a text with values in braces, such as \"{name} failed\"",
            );
        };
        match Template::parse(text) {
            Ok(template) => Some(template),
            Err((part, wanted)) => {
                let at = self.part(item, part);
                self.error(&at, format!("text: wanted {wanted}, got {part}"));
                None
            }
        }
    }

    /// Returns the place of a part of a text, if it is written without escapes.
    fn part(&self, item: &Item<'_>, part: &str) -> Range<usize> {
        let span = item.span();
        let written = self.toml.text.get(span.clone()).unwrap_or_default();
        match written.find(part).filter(|_| !part.is_empty()) {
            Some(at) => span.start + at..span.start + at + part.len(),
            None => span,
        }
    }

    fn condition(&mut self, entries: &Entries<'_, '_>, key: &str) -> Option<Expr> {
        let item = get(entries, key)?;
        let Some(text) = item.get_ref().as_str() else {
            return self.wrong(key, item, "a condition such as \"subject=login\"");
        };
        let expr: Expr = match text.parse() {
            Ok(expr) => expr,
            Err(error) => {
                let error: ParseError = error;
                let part = text.get(error.at.clone()).unwrap_or_default();
                let at = self.part(item, part);
                let hint = error
                    .hint
                    .map_or(String::new(), |hint| format!(" ({hint})"));
                let got = if part.is_empty() { "nothing" } else { part };
                self.error(
                    &at,
                    format!("{key}: wanted {}, got {got}{hint}", error.wanted),
                );
                return None;
            }
        };
        expr.each_test(&mut |test| {
            if let KeyTest::Like(list) = &test.what {
                let is_regex = |one: &&TextPattern| matches!(one, TextPattern::Regex(_));
                self.patterns += list.iter().filter(is_regex).count();
            }
        });
        if self.patterns > MAX_PATTERNS {
            let wanted = format!("at most {MAX_PATTERNS} regular expressions in all rules");
            return self.wrong(key, item, &wanted);
        }
        if expr.uses(&Key::Findings) {
            return self.wrong(key, item, "a condition without findings");
        }
        Some(expr)
    }
}

/// Returns the meaning of a rule in one sentence.
fn why(when: Option<&Expr>, form: &Form, entries: &Entries<'_, '_>) -> String {
    let text = |key: &str| {
        let item = get(entries, key);
        item.and_then(|item| item.get_ref().as_str())
            .map(str::to_owned)
    };
    let about = when.map_or(String::new(), |when| format!(" with `{when}`"));
    let time = |key: &str| {
        text(key)
            .map(|time| format!(" within {time}"))
            .unwrap_or_default()
    };
    let meaning = match form {
        Form::Must(must) => format!("Each message{about} must match `{must}`."),
        Form::Never(never) => format!("No message{about} may match `{never}`."),
        Form::Once(once) => format!("At most one message{about} may match `{once}`."),
        Form::After(after) => format!("Before each message{about}, one must match `{after}`."),
        Form::NotAfter(one) => format!("No message{about} may follow one that matches `{one}`."),
        Form::Then(then, _) => format!(
            "After each message{about}, one must match `{then}`{}.",
            time("within")
        ),
        Form::Increases(path) => format!(".{path} must increase from message to message{about}."),
        Form::AtMost(most, _) => {
            format!(
                "There may be at most {most} messages{about}{}.",
                time("per")
            )
        }
    };
    let same =
        text("same").map(|same| format!(" Only messages with the same {same} count together."));
    let scope = text("scope").unwrap_or_else(|| Scope::Connection.name().to_owned());
    match form {
        Form::Must(_) | Form::Never(_) => meaning,
        _ => format!("{meaning}{} Scope: {scope}.", same.unwrap_or_default()),
    }
}
