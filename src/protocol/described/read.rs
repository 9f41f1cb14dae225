//! Reads the TOML of a description, once. Every error has its place and names what was expected.

mod body;
mod marks;
mod members;
mod messages;
mod types;
mod values;

use super::description::{Description, Opening, Pairing};
use super::matching::{MAX_FIRST_MEMBERS, Matcher};
use crate::framing::Framing;
use crate::own_rules::{OwnRule, read_rules};
use crate::protocol::rule_names::RuleId;
use crate::protocol::schema::marks::Marks;
use crate::protocol::{Protocol, registry};
use crate::toml_text::{Entries, Item, TomlError, TomlText, get, in_order};
use crate::words::nearest;
pub(super) use body::FIELDS;
use std::ops::Range;

/// The maximum length of a description, in bytes.
const MAX_TEXT: usize = 256 << 10;
/// The maximum number of errors that are reported.
const MAX_ERRORS: usize = 100;

const KEYS: [&str; 21] = [
    "name",
    "about",
    "sides",
    "port",
    "framings",
    "line-end",
    "encodings",
    "header",
    "text",
    "pair",
    "across-connections",
    "certain",
    "base",
    "message",
    "marks",
    "opening",
    "heartbeat",
    "rule",
    "types",
    "schema",
    "schema-dir",
];
/// The keys beside `base`; the base has the others.
const KEYS_WITH_BASE: [&str; 11] = [
    "name",
    "about",
    "sides",
    "port",
    "framings",
    "base",
    "marks",
    "rule",
    "types",
    "schema",
    "schema-dir",
];

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

/// Returns the text of a file beside the description, or the reason why there is none.
pub(super) type Files<'f> = &'f dyn Fn(&str) -> Result<String, String>;

/// Reads a description; `name` names the text in errors.
pub(super) fn read(
    name: &str,
    text: &str,
    files: Files<'_>,
) -> Result<Description, Vec<TomlError>> {
    let toml = TomlText { name, text };
    if text.len() > MAX_TEXT {
        let error = format!("wanted a description of at most {} KiB", MAX_TEXT >> 10);
        return Err(vec![toml.error(&(0..0), error)]);
    }
    let table = toml.parse().map_err(|error| vec![error])?;
    let mut reader = Reader {
        toml,
        files,
        errors: Vec::new(),
        patterns: 0,
    };
    let description = reader.description(&table);
    if reader.errors.is_empty() {
        Ok(description)
    } else {
        Err(reader.errors)
    }
}

struct Reader<'t> {
    toml: TomlText<'t>,
    files: Files<'t>,
    errors: Vec<TomlError>,
    /// The number of regular expressions so far.
    patterns: usize,
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

    /// Reports a key that is not there, unless another key is like it: then that error is the cause.
    fn missing(&mut self, entries: &Entries<'_, 't>, key: &str, wanted: &str) {
        let is_like = |name: &str| !KEYS.contains(&name) && nearest(name, KEYS) == Some(key);
        if !entries.iter().any(|(name, _)| is_like(name.get_ref())) {
            self.error(&(0..0), wanted);
        }
    }

    fn description(&mut self, table: &toml::de::DeTable<'t>) -> Description {
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
        let base_protocol = base.as_deref().and_then(registry::find_built_in);
        let of_base = base_protocol.map(Protocol::descriptor);
        let certain = get(&entries, "certain").is_some_and(|item| self.flag("certain", item));
        let pairing = self.pairing(get(&entries, "pair"));
        let name = if let Some(item) = get(&entries, "name") {
            self.name(item)
        } else {
            self.missing(&entries, "name", "wanted a name: name = \"my-protocol\"");
            None
        };
        let framings = self.framings_of(&entries, of_base.map(|base| base.framings));
        let body = self.body(&entries);
        self.check_framings(&entries, &framings, &body);
        // Bytes that look like a header by chance do not start with so many of it.
        let certain = certain
            || body
                .header
                .as_ref()
                .is_some_and(|header| header.magic() >= 4);
        let messages = match get(&entries, "message") {
            _ if get(&entries, "base").is_some() => Vec::new(),
            Some(item) => self.messages(item, certain, pairing),
            None => {
                let wanted = "wanted messages: a [[message]] for each kind";
                self.missing(&entries, "message", wanted);
                Vec::new()
            }
        };
        let schemas = self.schemas(&entries);
        self.check_types(&entries, &messages, &schemas);
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
            line_end: get(&entries, "line-end")
                .map_or_else(String::new, |item| self.line_end(item)),
            body,
            pairing,
            across_connections: get(&entries, "across-connections")
                .is_some_and(|item| self.flag("across-connections", item)),
            base,
            schemas,
            marks: get(&entries, "marks").map_or_else(Marks::default, |item| self.marks(item)),
            opening: get(&entries, "opening")
                .map_or_else(Opening::default, |item| self.opening(item, &messages)),
            heartbeat: get(&entries, "heartbeat").and_then(|item| self.heartbeat(item, &messages)),
            messages,
            rules: get(&entries, "rule")
                .map_or_else(Vec::new, |item| self.rules(item, base_protocol)),
        };
        self.check_member_count(&description);
        // Errors of single places would cause others.
        if self.errors.is_empty() {
            self.check_members_and_kinds(&entries, &description);
        }
        description
    }

    /// Returns the framings of the description, or those of its base.
    fn framings_of(&mut self, entries: &Entries<'_, 't>, base: Option<&[Framing]>) -> Vec<Framing> {
        match get(entries, "framings") {
            Some(item) => self.framings(item),
            None if get(entries, "header").is_some() => vec![Framing::Custom(FIELDS)],
            None if get(entries, "base").is_some() => base.unwrap_or_default().to_vec(),
            None => {
                let names = FRAMINGS.map(|framing| framing.name().to_owned()).join(", ");
                let wanted = format!("wanted framings: a list of {names}");
                self.missing(entries, "framings", &wanted);
                Vec::new()
            }
        }
    }

    fn rules(&mut self, item: &Item<'t>, base: Option<&'static dyn Protocol>) -> Vec<OwnRule> {
        let rules = match read_rules(self.toml, item, None, RuleId::own) {
            Ok(rules) => rules,
            Err(errors) => {
                for error in errors {
                    self.add(error);
                }
                return Vec::new();
            }
        };
        let known = super::rules_without_own(base);
        for own in &rules {
            let name = &own.rule.name;
            if known.iter().any(|rule| rule.name == *name) {
                let text = format!("name: the protocol has a rule {name} already");
                self.error(&item.span(), text);
            }
        }
        rules
    }

    fn check_member_count(&mut self, description: &Description) {
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
        if let Some(name) = name.filter(is_name) {
            return Some(name.to_owned());
        }
        let wanted = "at most 32 lower-case letters, digits and hyphens, a letter first";
        self.wrong("name", item, wanted)
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
            Some((_, Some("subject"))) => Pairing::Subject,
            Some((item, _)) => {
                self.wrong::<()>("pair", item, "id, order or subject");
                Pairing::Id
            }
        }
    }
}
