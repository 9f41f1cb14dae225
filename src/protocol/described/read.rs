//! Reads the TOML of a description, once. Every error has its place and names what was expected.

use super::description::{Description, MessageKind, Opening, OwnAnswer, Pairing, Word, is_answer};
use super::matching::{MAX_FIRST_MEMBERS, Matcher};
use crate::diff::PathPattern;
use crate::encoding::Encoding;
use crate::framing::Framing;
use crate::path::{Path, PathStep};
use crate::protocol::peer::with_json;
use crate::protocol::schema::marks::{Generated, Marks};
use crate::protocol::schema::{Fresh, Maker};
use crate::protocol::{Direction, Protocol, Role, registry};
use crate::select::{Expr, Key, KeyTest, TextPattern};
use crate::toml_text::{Item, TomlError, TomlText, in_order};
use std::ops::Range;

/// The maximum length of a description, in bytes.
const MAX_TEXT: usize = 256 << 10;
/// The maximum number of kinds of messages.
const MAX_KINDS: usize = 128;
/// The maximum number of regular expressions: each may take memory of its own.
const MAX_PATTERNS: usize = 16;
/// The maximum number of steps of a path.
const MAX_STEPS: usize = 16;
/// The maximum number of elements before one that a path names: messages are made with all of them.
const MAX_ELEMENT: usize = 255;
/// The maximum number of errors that are reported.
const MAX_ERRORS: usize = 100;

const KEYS: [&str; 13] = [
    "name",
    "about",
    "sides",
    "port",
    "framings",
    "encodings",
    "pair",
    "across-connections",
    "certain",
    "base",
    "message",
    "marks",
    "opening",
];
/// The keys beside `base`; the base has the others.
const KEYS_WITH_BASE: [&str; 7] = [
    "name", "about", "sides", "port", "framings", "base", "marks",
];
const MESSAGE_KEYS: [&str; 15] = [
    "when",
    "kind",
    "role",
    "id",
    "reply-to",
    "subject",
    "name",
    "content",
    "error",
    "outcome",
    "text",
    "direction",
    "cancels",
    "last",
    "certain",
];
const MARK_KEYS: [&str; 5] = ["volatile", "unordered", "secret", "generated", "references"];
const OPENING_KEYS: [&str; 2] = ["client", "answers"];
const ANSWER_KEYS: [&str; 3] = ["when", "result", "then"];

/// The framings that a description can name.
const FRAMINGS: [Framing; 7] = [
    Framing::Lines,
    Framing::Prefix,
    Framing::ContentLength,
    Framing::WebSocket,
    Framing::Http,
    Framing::Values,
    Framing::Message,
];
const ENCODINGS: [(&str, Encoding); 2] =
    [("json", Encoding::Json), ("msgpack", Encoding::MessagePack)];

/// Reads a description; `name` names the text in errors.
pub(super) fn read(name: &str, text: &str) -> Result<Description, Vec<TomlError>> {
    let toml = TomlText { name, text };
    if text.len() > MAX_TEXT {
        let error = format!("wanted a description of at most {} KiB", MAX_TEXT >> 10);
        return Err(vec![toml.error(&(0..0), error)]);
    }
    let table = toml.parse().map_err(|error| vec![error])?;
    let mut reader = Reader {
        toml,
        errors: Vec::new(),
        patterns: 0,
    };
    let description = reader.description(&table);
    match description {
        Some(description) if reader.errors.is_empty() => Ok(description),
        _ => Err(reader.errors),
    }
}

struct Reader<'t> {
    toml: TomlText<'t>,
    errors: Vec<TomlError>,
    /// The number of regular expressions so far.
    patterns: usize,
}

type Entries<'i, 't> = Vec<(&'i crate::toml_text::Key<'t>, &'i Item<'t>)>;

/// Returns the value of a key.
fn get<'i, 't>(entries: &Entries<'i, 't>, key: &str) -> Option<&'i Item<'t>> {
    let found = entries.iter().find(|(name, _)| name.get_ref() == key);
    found.map(|(_, item)| *item)
}

impl<'t> Reader<'t> {
    fn error(&mut self, span: &Range<usize>, text: impl Into<String>) {
        let error = self.toml.error(span, text);
        self.add(error);
    }

    fn add(&mut self, error: TomlError) {
        if self.errors.len() < MAX_ERRORS {
            self.errors.push(error);
        }
    }

    /// Returns a value, or keeps its error.
    fn keep<T>(&mut self, result: Result<T, TomlError>) -> Option<T> {
        result.map_err(|error| self.add(error)).ok()
    }

    fn check_keys(&mut self, entries: &Entries<'_, 't>, known: &[&str]) {
        for (key, _) in entries {
            if !known.contains(&key.get_ref().as_ref()) {
                let error = self.toml.unknown_key(key, known);
                self.add(error);
            }
        }
    }

    fn description(&mut self, table: &toml::de::DeTable<'t>) -> Option<Description> {
        let entries = in_order(table);
        self.check_keys(&entries, &KEYS);
        let base = get(&entries, "base").and_then(|item| self.base(item));
        if base.is_some() {
            for (key, _) in &entries {
                let key_text: &str = key.get_ref();
                if KEYS.contains(&key_text) && !KEYS_WITH_BASE.contains(&key_text) {
                    self.error(&key.span(), format!("{key_text}: the base has its own"));
                }
            }
        }
        let of_base = base.as_deref().and_then(registry::find_built_in);
        let of_base = of_base.map(Protocol::descriptor);
        let certain = get(&entries, "certain").is_some_and(|item| self.flag("certain", item));
        let pairing = self.pairing(get(&entries, "pair"));
        let name = match get(&entries, "name") {
            Some(item) => self.name(item),
            None => {
                self.error(&(0..0), "wanted a name: name = \"my-protocol\"");
                None
            }
        };
        let framings = match get(&entries, "framings") {
            Some(item) => self.framings(item),
            None if of_base.is_some() => of_base.map_or(&[][..], |base| base.framings).to_vec(),
            None => {
                let names = FRAMINGS.map(|framing| framing.name().to_owned()).join(", ");
                self.error(&(0..0), format!("wanted framings: a list of {names}"));
                Vec::new()
            }
        };
        let encodings = match get(&entries, "encodings") {
            Some(item) => self.encodings(item),
            None => vec![Encoding::Json],
        };
        let messages = match get(&entries, "message") {
            Some(item) => self.messages(item, certain, pairing),
            None if base.is_some() => Vec::new(),
            None => {
                self.error(&(0..0), "wanted messages: a [[message]] for each kind");
                Vec::new()
            }
        };
        let sides = get(&entries, "sides").and_then(|item| self.sides(item));
        let default_sides = || of_base.map_or(["client", "server"], |base| base.sides);
        let description = Description {
            name: name.unwrap_or_default(),
            about: self.text_of(&entries, "about"),
            sides: sides.unwrap_or_else(|| default_sides().map(str::to_owned)),
            port: match get(&entries, "port") {
                Some(item) => self.port(item),
                None => of_base.and_then(|base| base.port),
            },
            framings,
            encodings,
            pairing,
            across_connections: get(&entries, "across-connections")
                .is_some_and(|item| self.flag("across-connections", item)),
            base,
            marks: get(&entries, "marks").map_or_else(Marks::default, |item| self.marks(item)),
            opening: get(&entries, "opening")
                .map_or_else(Opening::default, |item| self.opening(item, &messages)),
            messages,
        };
        self.check_members(&description);
        Some(description)
    }

    fn check_members(&mut self, description: &Description) {
        if Matcher::new(description).first_members() > MAX_FIRST_MEMBERS {
            let wanted =
                format!("wanted paths with at most {MAX_FIRST_MEMBERS} different first members");
            self.error(&(0..0), wanted);
        }
    }

    fn flag(&mut self, key: &str, item: &Item<'t>) -> bool {
        let flag = self.toml.bool(key, item);
        self.keep(flag).unwrap_or_default()
    }

    fn text_of(&mut self, entries: &Entries<'_, 't>, key: &str) -> String {
        let text = get(entries, key).map(|item| self.toml.string(key, item).map(str::to_owned));
        text.and_then(|text| self.keep(text)).unwrap_or_default()
    }

    fn wrong<T>(&mut self, key: &str, item: &Item<'t>, wanted: &str) -> Option<T> {
        let error = self.toml.wrong_value(key, item, wanted);
        self.add(error);
        None
    }

    fn name(&mut self, item: &Item<'t>) -> Option<String> {
        const LONGEST: usize = 32;
        let name = item.get_ref().as_str();
        let is_name = |name: &&str| {
            let mut chars = name.chars();
            let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
            chars.next().is_some_and(|c| c.is_ascii_lowercase())
                && chars.all(fits)
                && name.len() <= LONGEST
        };
        match name.filter(is_name) {
            Some(name) => Some(name.to_owned()),
            None => {
                let wanted = "at most 32 lower-case letters, digits and hyphens, a letter first";
                self.wrong("name", item, wanted)
            }
        }
    }

    fn base(&mut self, item: &Item<'t>) -> Option<String> {
        let name = item.get_ref().as_str();
        if let Some(name) = name.filter(|name| registry::find_built_in(name).is_some()) {
            return Some(name.to_owned());
        }
        let names: Vec<_> = registry::built_in().iter().map(|one| one.name()).collect();
        let wanted = format!("the name of a built-in protocol ({})", names.join(", "));
        self.wrong("base", item, &wanted)
    }

    fn sides(&mut self, item: &Item<'t>) -> Option<[String; 2]> {
        const WANTED: &str = "two names: first the side that opens the connection";
        let names = self.toml.strings("sides", item, WANTED);
        match <[String; 2]>::try_from(self.keep(names)?) {
            Ok(sides) if sides[0] != sides[1] && sides.iter().all(|side| !side.is_empty()) => {
                Some(sides)
            }
            _ => self.wrong("sides", item, WANTED),
        }
    }

    fn port(&mut self, item: &Item<'t>) -> Option<u16> {
        let number = item.get_ref().as_integer().map(toml::de::DeInteger::as_str);
        let port = number.and_then(|number| number.parse().ok());
        match port.filter(|port| *port > 0) {
            None => self.wrong("port", item, "a number from 1 to 65535"),
            port => port,
        }
    }

    fn framings(&mut self, item: &Item<'t>) -> Vec<Framing> {
        let names = FRAMINGS.map(|framing| framing.name().to_owned());
        let wanted = format!("a list of {}", names.join(", "));
        let find = |text: &str| FRAMINGS.into_iter().find(|framing| framing.name() == text);
        self.list("framings", item, &wanted, find)
    }

    fn encodings(&mut self, item: &Item<'t>) -> Vec<Encoding> {
        let names = ENCODINGS.map(|(name, _)| name).join(", ");
        let find = |text: &str| {
            let mut known = ENCODINGS.into_iter();
            known.find(|(name, _)| *name == text).map(|(_, one)| one)
        };
        self.list("encodings", item, &format!("a list of {names}"), find)
    }

    /// Reads a list of different names.
    fn list<T: PartialEq>(
        &mut self,
        key: &str,
        item: &Item<'t>,
        wanted: &str,
        find: impl Fn(&str) -> Option<T>,
    ) -> Vec<T> {
        let items = self.toml.list(key, item, wanted);
        let items = self.keep(items).unwrap_or_default();
        if items.is_empty() && item.get_ref().as_array().is_some() {
            self.wrong::<()>(key, item, wanted);
        }
        let mut found = Vec::new();
        for item in items {
            match item.get_ref().as_str().and_then(&find) {
                Some(one) if found.contains(&one) => {
                    self.wrong::<()>(key, item, "each name once");
                }
                Some(one) => found.push(one),
                None => {
                    self.wrong::<()>(key, item, wanted);
                }
            }
        }
        found
    }

    fn pairing(&mut self, item: Option<&Item<'t>>) -> Pairing {
        match item.map(|item| (item, item.get_ref().as_str())) {
            None | Some((_, Some("id"))) => Pairing::Id,
            Some((_, Some("order"))) => Pairing::Order,
            Some((item, _)) => {
                self.wrong::<()>("pair", item, "id or order");
                Pairing::Id
            }
        }
    }

    fn messages(&mut self, item: &Item<'t>, certain: bool, pairing: Pairing) -> Vec<MessageKind> {
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
        let known_role = match get(&entries, "role") {
            Some(item) => self.role(item),
            None => {
                let roles = Role::ALL.map(Role::name).join(", ");
                self.error(&item.span(), format!("wanted a role: one of {roles}"));
                None
            }
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
            subject: self.word(&entries, "subject"),
            name: self.word(&entries, "name"),
            content: self.path(&entries, "content"),
            error,
            outcome: self.path(&entries, "outcome"),
            text: self.path(&entries, "text"),
            direction: get(&entries, "direction").and_then(|item| self.direction(item)),
            cancels: self.path(&entries, "cancels"),
            last: self.condition(&entries, "last"),
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
            ("error", message.role == Role::Response, "a response"),
            ("last", message.role == Role::Item, "an item"),
            ("cancels", !of_answers, "a message that is no answer"),
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
        if pairing == Pairing::Id && has_pair && message.pair_id().is_none() {
            let key = if of_answers { "reply-to or id" } else { "id" };
            let wanted = format!("wanted {key}: the path of the id that pairs the {role}");
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

    fn direction(&mut self, item: &Item<'t>) -> Option<Direction> {
        match item.get_ref().as_str().and_then(Direction::from_name) {
            None => self.wrong("direction", item, "c2s or s2c"),
            direction => direction,
        }
    }

    /// Returns the place of a part of a text: exact if the text is written without escapes.
    fn part(&self, item: &Item<'t>, text: &str, at: &Range<usize>) -> Range<usize> {
        let span = item.span();
        let written = self.toml.text.get(span.clone()).unwrap_or_default();
        let start = written.find(text).filter(|_| !text.is_empty());
        start.map_or(span.clone(), |start| {
            let start = span.start + start;
            start + at.start..start + at.end.max(at.start)
        })
    }

    fn condition(&mut self, entries: &Entries<'_, 't>, key: &str) -> Option<Expr> {
        let item = get(entries, key)?;
        let text = self.toml.string(key, item).map(str::to_owned);
        let text = self.keep(text)?;
        let expr: Expr = match text.parse() {
            Ok(expr) => expr,
            Err(error) => {
                let error: crate::select::ParseError = error;
                let at = self.part(item, &text, &error.at);
                let hint = error
                    .hint
                    .map(|hint| format!(" ({hint})"))
                    .unwrap_or_default();
                self.error(&at, format!("{key}: wanted {}{hint}", error.wanted));
                return None;
            }
        };
        let mut wrong = None;
        let mut patterns = 0;
        expr.each_test(&mut |test| {
            match &test.key {
                Key::Dir => {}
                Key::Message(path) if is_short(path) => {}
                key => wrong = Some(key.to_string()),
            }
            if let KeyTest::Like(list) = &test.what {
                let is_regex = |one: &&TextPattern| matches!(one, TextPattern::Regex(_));
                patterns += list.iter().filter(is_regex).count();
            }
        });
        self.patterns += patterns;
        if self.patterns > MAX_PATTERNS && patterns > 0 {
            let wanted = format!("{key}: wanted at most {MAX_PATTERNS} regular expressions in all");
            self.error(&item.span(), wanted);
        }
        if let Some(wrong) = wrong {
            let at = text.find(&wrong).unwrap_or_default();
            let at = self.part(item, &text, &(at..at + wrong.len()));
            let wanted = "paths of the message, such as .type, of at most 16 steps, or dir";
            self.error(&at, format!("{key}: wanted {wanted}, got {wrong}"));
            return None;
        }
        Some(expr)
    }

    /// Reads a text, or a path that starts with a dot.
    fn word(&mut self, entries: &Entries<'_, 't>, key: &str) -> Option<Word> {
        let item = get(entries, key)?;
        let text = self.toml.string(key, item).map(str::to_owned);
        let text = self.keep(text)?;
        if text.starts_with('.') {
            return self.path_of(key, item, &text).map(Word::At);
        }
        if text.is_empty() || text.chars().any(char::is_control) {
            return self.wrong(key, item, "a text, or a path such as .type");
        }
        Some(Word::Text(text))
    }

    fn path(&mut self, entries: &Entries<'_, 't>, key: &str) -> Option<Path> {
        let item = get(entries, key)?;
        match item.get_ref().as_str().map(str::to_owned) {
            Some(text) if text.starts_with('.') => self.path_of(key, item, &text),
            _ => self.wrong(
                key,
                item,
                "a path that starts with a dot, such as .id or .[1]",
            ),
        }
    }

    fn path_of(&mut self, key: &str, item: &Item<'t>, text: &str) -> Option<Path> {
        match text.parse::<Path>() {
            Ok(path) if is_short(&path) => Some(path),
            Ok(_) => {
                let wanted = format!(
                    "a path of at most {MAX_STEPS} steps and elements up to [{MAX_ELEMENT}]"
                );
                self.wrong(key, item, &wanted)
            }
            Err(error) => {
                let at = self.part(item, text, &error.at);
                self.error(&at, format!("{key}: wanted {}", error.wanted));
                None
            }
        }
    }

    fn marks(&mut self, item: &Item<'t>) -> Marks {
        let mut marks = Marks::default();
        let entries = self.toml.entries("marks", item);
        let Some(entries) = self.keep(entries) else {
            return marks;
        };
        self.check_keys(&entries, &MARK_KEYS);
        for (key, item) in &entries {
            let key: &str = key.get_ref();
            match key {
                "volatile" => {
                    let paths = self.patterns(key, item).into_iter();
                    marks
                        .generated
                        .extend(paths.map(|path| Generated::ignored(path.clone(), path)));
                }
                "unordered" => {
                    let paths = self.patterns(key, item).into_iter();
                    marks.unordered.extend(paths.map(Into::into));
                }
                "secret" => {
                    let names = self.toml.strings(key, item, "a list of names of members");
                    let names = self.keep(names).unwrap_or_default().into_iter();
                    marks
                        .secrets
                        .extend(names.map(|name| name.to_lowercase().into()));
                }
                "generated" | "references" => {
                    let items = self.toml.list(key, item, "a list of tables");
                    for item in self.keep(items).unwrap_or_default() {
                        let mark = self.generated(key, item);
                        marks.generated.extend(mark);
                    }
                }
                _ => {}
            }
        }
        marks
    }

    fn patterns(&mut self, key: &str, item: &Item<'t>) -> Vec<String> {
        const WANTED: &str = "a list of paths, such as seq, **.ts or KIND:PATH";
        let items = self.toml.list(key, item, WANTED);
        let mut found = Vec::new();
        for item in self.keep(items).unwrap_or_default() {
            match item
                .get_ref()
                .as_str()
                .filter(|text| PathPattern::is_valid(text))
            {
                Some(text) => found.push(text.to_owned()),
                None => {
                    self.wrong::<()>(key, item, WANTED);
                }
            }
        }
        found
    }

    /// Reads `{ path = "seq", group = "seq", fresh = "id" }`, or a reference with `maker`.
    fn generated(&mut self, key: &str, item: &Item<'t>) -> Option<Generated> {
        let is_reference = key == "references";
        let entries = self.toml.entries(key, item);
        let entries = self.keep(entries)?;
        let last = if is_reference { "maker" } else { "fresh" };
        self.check_keys(&entries, &["path", "group", last]);
        let path = match get(&entries, "path") {
            Some(item) => match item.get_ref().as_str() {
                Some(path) if PathPattern::is_valid(path) => path.to_owned(),
                _ => self.wrong("path", item, "a path, such as seq or KIND:PATH")?,
            },
            None => {
                self.error(&item.span(), format!("{key}: wanted a path"));
                return None;
            }
        };
        let group = self.text_of(&entries, "group");
        let group = if group.is_empty() {
            path.clone()
        } else {
            group
        };
        let word = get(&entries, last).map(|item| (item, item.get_ref().as_str()));
        let (fresh, maker) = match (is_reference, word) {
            (true, None) => (Fresh::Same, None),
            (true, Some((_, Some("sender")))) => (Fresh::Same, Some(Maker::Sender)),
            (true, Some((_, Some("receiver")))) => (Fresh::Same, Some(Maker::Receiver)),
            (true, Some((item, _))) => self.wrong(last, item, "sender or receiver")?,
            (false, None | Some((_, Some("id")))) => (Fresh::Id, None),
            (false, Some((_, Some("time")))) => (Fresh::Time, None),
            (false, Some((_, Some("given")))) => (Fresh::Given, None),
            (false, Some((_, Some("same")))) => (Fresh::Same, None),
            (false, Some((item, _))) => self.wrong(last, item, "id, time, given or same")?,
        };
        Some(Generated {
            maker,
            ..Generated::new(path, group, fresh)
        })
    }

    fn opening(&mut self, item: &Item<'t>, messages: &[MessageKind]) -> Opening {
        let mut opening = Opening::default();
        let entries = self.toml.entries("opening", item);
        let Some(entries) = self.keep(entries) else {
            return opening;
        };
        self.check_keys(&entries, &OPENING_KEYS);
        if let Some(item) = get(&entries, "client") {
            opening.client = self.json_messages("client", item, messages);
        }
        let answers = get(&entries, "answers")
            .map(|item| self.toml.list("answers", item, "a list of tables"));
        for item in answers
            .and_then(|answers| self.keep(answers))
            .unwrap_or_default()
        {
            let entries = self.toml.entries("answers", item);
            let Some(entries) = self.keep(entries) else {
                continue;
            };
            self.check_keys(&entries, &ANSWER_KEYS);
            let when = self.condition(&entries, "when");
            let result = get(&entries, "result").and_then(|item| self.json("result", item));
            if when.is_none() || result.is_none() {
                self.error(&item.span(), "answers: wanted when and result");
            }
            let then = get(&entries, "then").map(|item| self.json_messages("then", item, messages));
            if let (Some(when), Some(result)) = (when, result) {
                opening.answers.push(OwnAnswer {
                    when,
                    result,
                    then: then.unwrap_or_default(),
                });
            }
        }
        opening
    }

    /// Reads a list of messages as JSON, each of which a kind of message matches.
    fn json_messages(
        &mut self,
        key: &str,
        item: &Item<'t>,
        messages: &[MessageKind],
    ) -> Vec<String> {
        let items = self.toml.list(key, item, "a list of messages as JSON");
        let mut found = Vec::new();
        for item in self.keep(items).unwrap_or_default() {
            let Some(text) = self.json(key, item) else {
                continue;
            };
            let matcher = Matcher::of(messages);
            let matches = with_json(&text, |root| matcher.find(messages, root, None).is_some());
            if matches == Some(true) {
                found.push(text);
            } else {
                self.wrong::<()>(key, item, "a message that a [[message]] matches");
            }
        }
        found
    }

    fn json(&mut self, key: &str, item: &Item<'t>) -> Option<String> {
        let text = item.get_ref().as_str();
        match text.filter(|text| with_json(text, |_| ()).is_some()) {
            Some(text) => Some(text.to_owned()),
            None => self.wrong(key, item, "JSON as text"),
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

fn is_short(path: &Path) -> bool {
    let is_near = |step: &PathStep| match step {
        PathStep::Element(n) => *n <= MAX_ELEMENT,
        PathStep::Member(_) => true,
    };
    path.len() <= MAX_STEPS && path.iter().all(is_near)
}
