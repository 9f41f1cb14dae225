//! Reads a script from TOML.

mod recorded;
mod rule;

use super::value::{OpenValue, PLACEHOLDER};
use super::{BytesTemplate, Script, is_plain};
use crate::framing::Framing;
use crate::protocol::Protocol;
use crate::protocol::peer::Offer;
use crate::select::literal;
use crate::toml_text::{Item, Key, TomlError, TomlText, in_order};
use recorded::TEMPLATE;
use toml::de::DeValue;

/// The keys of a script.
const SCRIPT: [&str; 16] = [
    "protocol",
    "name",
    "role",
    "dialect",
    "before",
    "ready",
    "opening",
    "hello",
    "first",
    "unreadable",
    "events",
    "framing",
    "sessions",
    "exit",
    "offers",
    "on",
];
/// The keys of an offer.
const OFFER: [&str; 3] = ["name", "about", "streams"];
type Read<T> = Result<T, TomlError>;

impl Script {
    /// Reads a script for a protocol. `name` is the file name in errors.
    pub fn read(name: &str, text: &str, protocol: &dyn Protocol) -> Result<Self, TomlError> {
        let toml = TomlText { name, text };
        ScriptReader { toml, protocol }.script()
    }
}

struct ScriptReader<'t> {
    toml: TomlText<'t>,
    protocol: &'t dyn Protocol,
}

impl ScriptReader<'_> {
    fn script(&self) -> Read<Script> {
        let table = self.toml.parse()?;
        let mut script = Script::default();
        for (key, item) in in_order(&table) {
            let word: &str = key.get_ref();
            match word {
                "protocol" => {
                    let name = self.toml.string(word, item)?;
                    if name != self.protocol.name() {
                        let text = format!(
                            "this script is for {name}, not for {}",
                            self.protocol.name()
                        );
                        return Err(self.toml.error(&item.span(), text));
                    }
                }
                "name" => script.name = Some(self.toml.string(word, item)?.to_owned()),
                "dialect" => script.dialect = Some(self.dialect(word, item)?),
                "role" => script.announces = self.role(item)?,
                "first" => script.first = self.messages(word, item)?,
                "before" => script.before = Some(self.bytes(word, item)?),
                "opening" => script.opening = self.messages(word, item)?,
                "events" => script.older_path = Some(self.toml.string(word, item)?.to_owned()),
                "framing" => script.framing = self.framing(word, item)?,
                "sessions" => script.sessions = self.sessions(item)?,
                "unreadable" => script.unreadable = self.messages(word, item)?,
                "hello" => {
                    for item in self.list(word, item)? {
                        script.hellos.push(self.hello(item)?);
                    }
                }
                "ready" => script.silent = !self.toml.bool(word, item)?,
                "exit" => script.exit = Some(self.status(word, item)?),
                "offers" => {
                    for item in self.list(word, item)? {
                        script.offers.push(self.offer(item)?);
                    }
                }
                "on" => {
                    for item in self.list(word, item)? {
                        script.rules.push(self.rule(item)?);
                    }
                }
                _ => return Err(self.toml.unknown_key(key, &SCRIPT)),
            }
        }
        Ok(script)
    }

    /// Returns the framing, if it is not the first one of the protocol.
    fn framing(&self, word: &str, item: &Item<'_>) -> Read<Option<Framing>> {
        let all = self.protocol.descriptor().framings;
        let plain = || all.iter().filter(|framing| is_plain(framing));
        let name = self.toml.string(word, item)?;
        let found = plain().copied().find(|framing| framing.name() == name);
        let framing = found.ok_or_else(|| {
            let names: Vec<_> = plain().map(Framing::name).collect();
            self.toml.wrong_value(word, item, &names.join(" or "))
        })?;
        Ok(Some(framing).filter(|framing| all.first() != Some(framing)))
    }

    /// Returns `true` for the role of a peer that usually connects.
    fn role(&self, item: &Item<'_>) -> Read<bool> {
        let name = self.toml.string("role", item)?;
        let own = self.protocol.descriptor().sides[1];
        let provider = self.protocol.descriptor().provider;
        match provider {
            _ if name == own => Ok(false),
            Some(provider) if name == provider => Ok(true),
            Some(provider) => {
                Err(self
                    .toml
                    .wrong_value("role", item, &format!("{own} or {provider}")))
            }
            None => Err(self.toml.wrong_value("role", item, own)),
        }
    }

    /// Reads one or several whole messages.
    fn messages(&self, word: &str, item: &Item<'_>) -> Read<Vec<OpenValue>> {
        let items = match item.get_ref().as_array() {
            Some(items) => items.iter().collect(),
            None => vec![item],
        };
        let message = |item: &Item<'_>| match item.get_ref().as_table() {
            Some(_) => self.value(item),
            None => Err(self.toml.wrong_value(
                word,
                item,
                "a whole message, as -f json shows it, or several",
            )),
        };
        items.into_iter().map(message).collect()
    }

    fn offer(&self, item: &Item<'_>) -> Read<Offer> {
        if let Some(name) = item.get_ref().as_str() {
            return Ok(Offer {
                name: name.to_owned(),
                ..Offer::default()
            });
        }
        let mut offer = Offer::default();
        for (key, item) in self.toml.entries("offers", item)? {
            let word: &str = key.get_ref();
            match word {
                "name" => self.toml.string(word, item)?.clone_into(&mut offer.name),
                "streams" => offer.streams = self.toml.bool(word, item)?,
                "about" => {
                    let about = self.value(item)?;
                    let OpenValue::Map(_) = about else {
                        return Err(self.toml.wrong_value(
                            word,
                            item,
                            "a table, merged into the entry of lists",
                        ));
                    };
                    offer.about = about.fill(&super::value::Fill::default()).ok();
                }
                _ => return Err(self.toml.unknown_key(key, &OFFER)),
            }
        }
        if offer.name.is_empty() {
            return Err(self
                .toml
                .wrong_value("offers", item, "a name, or a table with one"));
        }
        Ok(offer)
    }

    /// Reads a value. `{ json = '…' }` is JSON, also with `fill`; `{ type = "…", value = … }` is a value of a type that
    /// only the protocol has.
    fn value(&self, item: &Item<'_>) -> Read<OpenValue> {
        let open_value = |result: Result<OpenValue, String>| {
            result.map_err(|text| self.toml.error(&item.span(), text))
        };
        match item.get_ref() {
            DeValue::String(text) => open_value(OpenValue::text(text)),
            DeValue::Boolean(yes) => Ok(OpenValue::Json(yes.to_string())),
            DeValue::Integer(number) => {
                let number =
                    i128::from_str_radix(&number.as_str().replace('_', ""), number.radix());
                let number =
                    number.map_err(|_| self.toml.wrong_value("number", item, "one below 2^127"))?;
                Ok(OpenValue::Json(number.to_string()))
            }
            DeValue::Float(number) => {
                let text = number.as_str().replace('_', "");
                let text = text.strip_prefix('+').unwrap_or(&text);
                open_value(OpenValue::json(text))
            }
            DeValue::Datetime(time) => open_value(OpenValue::text(&time.to_string())),
            DeValue::Array(items) => {
                let items = items.iter().map(|item| self.value(item));
                Ok(OpenValue::List(items.collect::<Read<_>>()?))
            }
            DeValue::Table(table) => {
                let entries = in_order(table);
                match entries.as_slice() {
                    [(key, text)] if key.get_ref() == "json" => {
                        if let Some(text) = text.get_ref().as_str() {
                            return open_value(OpenValue::json(text));
                        }
                    }
                    [(one, json), rest @ ..]
                        if one.get_ref() == "json"
                            && rest
                                .iter()
                                .all(|(key, _)| TEMPLATE.contains(&key.get_ref().as_ref())) =>
                    {
                        return self.template(json, rest);
                    }
                    [(one, first), (two, second)] => {
                        let typed = match (one.get_ref().as_ref(), two.get_ref().as_ref()) {
                            ("type", "value") => Some((first, second)),
                            ("value", "type") => Some((second, first)),
                            _ => None,
                        };
                        if let (Some((name, value)), Some(types)) =
                            (typed, self.protocol.descriptor().value_types)
                        {
                            let name = self.toml.string("type", name)?.to_owned();
                            return open_value(OpenValue::typed(types, name, self.value(value)?));
                        }
                    }
                    _ => {}
                }
                self.map(&entries)
            }
        }
    }

    fn map(&self, entries: &[(&Key<'_>, &Item<'_>)]) -> Read<OpenValue> {
        let members = entries
            .iter()
            .map(|(key, item)| Ok((key.get_ref().to_string(), self.value(item)?)));
        Ok(OpenValue::Map(members.collect::<Read<_>>()?))
    }

    /// Reads text, or `{ hex = "…" }`.
    fn bytes(&self, word: &str, item: &Item<'_>) -> Read<BytesTemplate> {
        let wanted = "text, or { hex = \"…\" }";
        match item.get_ref().as_str() {
            Some(text) if !text.contains(PLACEHOLDER) => {
                return Ok(BytesTemplate::Plain(text.as_bytes().to_vec()));
            }
            Some(_) => return Ok(BytesTemplate::Text(self.value(item)?)),
            None => {}
        }
        let table = item
            .get_ref()
            .as_table()
            .ok_or_else(|| self.toml.wrong_value(word, item, wanted))?;
        let digits = table.get("hex").and_then(|item| item.get_ref().as_str());
        let digits: Option<String> = digits.map(|d| d.split_whitespace().collect());
        let bytes = digits.and_then(|digits| hex::decode(digits).ok());
        bytes
            .map(BytesTemplate::Plain)
            .ok_or_else(|| self.toml.wrong_value(word, item, wanted))
    }

    /// Reads bytes and completes the line.
    fn line(&self, word: &str, item: &Item<'_>) -> Read<BytesTemplate> {
        match item.get_ref() {
            DeValue::Boolean(true) => Ok(BytesTemplate::Plain(b"this is no message\n".to_vec())),
            DeValue::String(text) if !text.ends_with('\n') => {
                let value = OpenValue::text(&format!("{text}\n"));
                value
                    .map(BytesTemplate::Text)
                    .map_err(|text| self.toml.error(&item.span(), text))
            }
            _ => self.bytes(word, item),
        }
    }

    fn dialect(&self, word: &str, item: &Item<'_>) -> Read<String> {
        let name = self.toml.string(word, item)?;
        let known = self.protocol.descriptor().dialects;
        if known.contains(&name) {
            return Ok(name.to_owned());
        }
        let text = match known {
            [] => format!("{} has no dialects to choose from", self.protocol.name()),
            known => format!("dialect is one of {}, not {name}", known.join(", ")),
        };
        Err(self.toml.error(&item.span(), text))
    }

    fn number(&self, word: &str, item: &Item<'_>) -> Read<u64> {
        let number = item
            .get_ref()
            .as_integer()
            .and_then(|n| n.as_str().parse().ok());
        number
            .filter(|n| *n > 0)
            .ok_or_else(|| self.toml.wrong_value(word, item, "a number from 1 on"))
    }

    fn status(&self, word: &str, item: &Item<'_>) -> Read<u8> {
        let number = item
            .get_ref()
            .as_integer()
            .and_then(|n| n.as_str().parse().ok());
        number.ok_or_else(|| {
            self.toml
                .wrong_value(word, item, "an exit status, 0 to 255")
        })
    }

    fn time(&self, word: &str, item: &Item<'_>) -> Read<i64> {
        let text = item
            .get_ref()
            .as_str()
            .filter(|t| t.ends_with(|c: char| c.is_alphabetic()));
        let time = text
            .and_then(literal::duration)
            .and_then(|t| i64::try_from(t).ok());
        time.filter(|t| *t >= 0).ok_or_else(|| {
            self.toml
                .wrong_value(word, item, "a time such as \"100ms\" or \"2s\"")
        })
    }

    fn list<'i, 't>(&self, word: &str, item: &'i Item<'t>) -> Read<Vec<&'i Item<'t>>> {
        let wanted = match word {
            "on" => "tables, each below [[on]]",
            "hello" => "tables, each below [[hello]]",
            _ => "a list",
        };
        self.toml.list(word, item, wanted)
    }
}
