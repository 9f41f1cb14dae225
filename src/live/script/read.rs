//! Reads a script that is written in TOML.

mod rule;

use super::value::Value;
use super::{Bytes, Script, ScriptError};
use crate::protocol::Protocol;
use crate::protocol::peer::Offer;
use crate::select::literal;
use crate::words::nearest;
use std::borrow::Cow;
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// What a script has.
const SCRIPT: [&str; 10] = [
    "protocol", "name", "role", "dialect", "before", "ready", "first", "exit", "offers", "on",
];
/// What an offer has.
const OFFER: [&str; 3] = ["name", "about", "streams"];
type Key<'t> = Spanned<Cow<'t, str>>;
type Item<'t> = Spanned<DeValue<'t>>;
type Read<T> = Result<T, ScriptError>;

impl Script {
    /// Reads the script in a file of that name, for a protocol.
    pub fn read(name: &str, text: &str, protocol: &dyn Protocol) -> Result<Self, ScriptError> {
        Reader {
            name,
            text,
            protocol,
        }
        .script()
    }
}

struct Reader<'t> {
    name: &'t str,
    text: &'t str,
    protocol: &'t dyn Protocol,
}

impl Reader<'_> {
    fn fail(&self, span: &Range<usize>, text: impl Into<String>) -> ScriptError {
        /// Longer lines are cut.
        const SHOWN: usize = 100;
        let before = self.text.get(..span.start).unwrap_or_default();
        let start = before.rfind('\n').map_or(0, |at| at + 1);
        let line = self.text.get(start..).unwrap_or_default();
        let line = line.lines().next().unwrap_or_default();
        let part = self.text.get(span.clone()).unwrap_or_default();
        let part = part.lines().next().unwrap_or_default();
        ScriptError {
            name: self.name.to_owned(),
            line: before.matches('\n').count() + 1,
            column: before.get(start..).unwrap_or_default().chars().count() + 1,
            shown: (line.chars().take(SHOWN).collect(), part.chars().count()),
            text: text.into(),
        }
    }

    /// `delay: wanted a time such as 100ms, got true`.
    fn bad(&self, key: &str, item: &Item<'_>, wanted: &str) -> ScriptError {
        let got = self.text.get(item.span()).unwrap_or_default();
        let got: String = got.chars().take(60).collect();
        let got = got.lines().next().unwrap_or_default().to_owned();
        self.fail(&item.span(), format!("{key}: wanted {wanted}, got {got}"))
    }

    fn unknown(&self, key: &Key<'_>, names: &[&str]) -> ScriptError {
        let word: &str = key.get_ref();
        let hint = match nearest(word, names.iter().copied()) {
            Some(near) => format!("did you mean {near}?"),
            None => format!("there are {}", names.join(", ")),
        };
        self.fail(&key.span(), format!("unknown key {word}: {hint}"))
    }

    fn script(&self) -> Read<Script> {
        let table = DeTable::parse(self.text).map_err(|error| {
            let span = error.span().unwrap_or_default();
            self.fail(&span, error.message())
        })?;
        let mut script = Script::default();
        for (key, item) in in_order(table.get_ref()) {
            let word: &str = key.get_ref();
            match word {
                "protocol" => {
                    let name = self.string(word, item)?;
                    if name != self.protocol.name() {
                        let text = format!(
                            "this script is for {name}, not for {}",
                            self.protocol.name()
                        );
                        return Err(self.fail(&item.span(), text));
                    }
                }
                "name" => script.name = Some(self.string(word, item)?.to_owned()),
                "dialect" => script.dialect = Some(self.dialect(word, item)?),
                "role" => script.announces = self.role(item)?,
                "first" => script.first = self.messages(word, item)?,
                "before" => script.before = Some(self.bytes(word, item)?),
                "ready" => script.silent = !self.bool(word, item)?,
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
                _ => return Err(self.unknown(key, &SCRIPT)),
            }
        }
        Ok(script)
    }

    /// Whether it is the role of a peer that is dialled though it usually dials.
    fn role(&self, item: &Item<'_>) -> Read<bool> {
        let name = self.string("role", item)?;
        let own = self.protocol.descriptor().sides[1];
        let provider = self.protocol.descriptor().provider;
        match provider {
            _ if name == own => Ok(false),
            Some(provider) if name == provider => Ok(true),
            Some(provider) => Err(self.bad("role", item, &format!("{own} or {provider}"))),
            None => Err(self.bad("role", item, own)),
        }
    }

    /// A whole message or several.
    fn messages(&self, word: &str, item: &Item<'_>) -> Read<Vec<Value>> {
        let items = match item.get_ref().as_array() {
            Some(items) => items.iter().collect(),
            None => vec![item],
        };
        let message = |item: &Item<'_>| match item.get_ref().as_table() {
            Some(_) => self.value(item),
            None => Err(self.bad(
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
        for (key, item) in self.table("offers", item)? {
            let word: &str = key.get_ref();
            match word {
                "name" => self.string(word, item)?.clone_into(&mut offer.name),
                "streams" => offer.streams = self.bool(word, item)?,
                "about" => {
                    let about = self.value(item)?;
                    let Value::Map(_) = about else {
                        return Err(self.bad(
                            word,
                            item,
                            "a table, merged into the entry of lists",
                        ));
                    };
                    offer.about = about.fill(&super::value::Fill::default()).ok();
                }
                _ => return Err(self.unknown(key, &OFFER)),
            }
        }
        if offer.name.is_empty() {
            return Err(self.bad("offers", item, "a name, or a table with one"));
        }
        Ok(offer)
    }

    /// Any value. `{ json = '…' }` is JSON, `{ type = "…", value = … }` a value of a type that
    /// only the protocol has.
    fn value(&self, item: &Item<'_>) -> Read<Value> {
        let told =
            |result: Result<Value, String>| result.map_err(|text| self.fail(&item.span(), text));
        match item.get_ref() {
            DeValue::String(text) => told(Value::text(text)),
            DeValue::Boolean(yes) => Ok(Value::Json(yes.to_string())),
            DeValue::Integer(number) => {
                let number =
                    i128::from_str_radix(&number.as_str().replace('_', ""), number.radix());
                let number = number.map_err(|_| self.bad("number", item, "one below 2^127"))?;
                Ok(Value::Json(number.to_string()))
            }
            DeValue::Float(number) => {
                let text = number.as_str().replace('_', "");
                let text = text.strip_prefix('+').unwrap_or(&text);
                told(Value::json(text))
            }
            DeValue::Datetime(time) => told(Value::text(&time.to_string())),
            DeValue::Array(items) => {
                let items = items.iter().map(|item| self.value(item));
                Ok(Value::List(items.collect::<Read<_>>()?))
            }
            DeValue::Table(table) => {
                let entries = in_order(table);
                match entries.as_slice() {
                    [(key, text)] if key.get_ref() == "json" => {
                        if let Some(text) = text.get_ref().as_str() {
                            return told(Value::json(text));
                        }
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
                            let name = self.string("type", name)?.to_owned();
                            return told(Value::typed(types, name, self.value(value)?));
                        }
                    }
                    _ => {}
                }
                self.map(&entries)
            }
        }
    }

    fn map(&self, entries: &[(&Key<'_>, &Item<'_>)]) -> Read<Value> {
        let members = entries
            .iter()
            .map(|(key, item)| Ok((key.get_ref().to_string(), self.value(item)?)));
        Ok(Value::Map(members.collect::<Read<_>>()?))
    }

    /// Text, or `{ hex = "…" }`.
    fn bytes(&self, word: &str, item: &Item<'_>) -> Read<Bytes> {
        let wanted = "text, or { hex = \"…\" }";
        if item.get_ref().as_str().is_some() {
            return Ok(Bytes::Text(self.value(item)?));
        }
        let table = item
            .get_ref()
            .as_table()
            .ok_or_else(|| self.bad(word, item, wanted))?;
        let digits = table.get("hex").and_then(|item| item.get_ref().as_str());
        let digits: Option<String> = digits.map(|d| d.split_whitespace().collect());
        let bytes = digits.and_then(|digits| hex::decode(digits).ok());
        bytes
            .map(Bytes::Plain)
            .ok_or_else(|| self.bad(word, item, wanted))
    }

    /// Bytes that end a line.
    fn line(&self, word: &str, item: &Item<'_>) -> Read<Bytes> {
        match item.get_ref() {
            DeValue::Boolean(true) => Ok(Bytes::Plain(b"this is no message\n".to_vec())),
            DeValue::String(text) if !text.ends_with('\n') => {
                let value = Value::text(&format!("{text}\n"));
                value
                    .map(Bytes::Text)
                    .map_err(|text| self.fail(&item.span(), text))
            }
            _ => self.bytes(word, item),
        }
    }

    fn dialect(&self, word: &str, item: &Item<'_>) -> Read<String> {
        let name = self.string(word, item)?;
        let known = self.protocol.descriptor().dialects;
        if known.contains(&name) {
            return Ok(name.to_owned());
        }
        let text = match known {
            [] => format!("{} has no dialects to choose from", self.protocol.name()),
            known => format!("dialect is one of {}, not {name}", known.join(", ")),
        };
        Err(self.fail(&item.span(), text))
    }

    fn string<'i>(&self, word: &str, item: &'i Item<'_>) -> Read<&'i str> {
        item.get_ref()
            .as_str()
            .ok_or_else(|| self.bad(word, item, "text"))
    }

    fn bool(&self, word: &str, item: &Item<'_>) -> Read<bool> {
        item.get_ref()
            .as_bool()
            .ok_or_else(|| self.bad(word, item, "true or false"))
    }

    fn number(&self, word: &str, item: &Item<'_>) -> Read<u64> {
        let number = item
            .get_ref()
            .as_integer()
            .and_then(|n| n.as_str().parse().ok());
        number
            .filter(|n| *n > 0)
            .ok_or_else(|| self.bad(word, item, "a number from 1 on"))
    }

    fn status(&self, word: &str, item: &Item<'_>) -> Read<u8> {
        let number = item
            .get_ref()
            .as_integer()
            .and_then(|n| n.as_str().parse().ok());
        number.ok_or_else(|| self.bad(word, item, "an exit status, 0 to 255"))
    }

    fn time(&self, word: &str, item: &Item<'_>) -> Read<i64> {
        let text = item
            .get_ref()
            .as_str()
            .filter(|t| t.ends_with(|c: char| c.is_alphabetic()));
        let time = text
            .and_then(literal::duration)
            .and_then(|t| i64::try_from(t).ok());
        time.filter(|t| *t >= 0)
            .ok_or_else(|| self.bad(word, item, "a time such as \"100ms\" or \"2s\""))
    }

    fn list<'i, 't>(&self, word: &str, item: &'i Item<'t>) -> Read<Vec<&'i Item<'t>>> {
        let wanted = if word == "on" {
            "tables, each below [[on]]"
        } else {
            "a list"
        };
        let list = item
            .get_ref()
            .as_array()
            .ok_or_else(|| self.bad(word, item, wanted))?;
        Ok(list.iter().collect())
    }

    fn table<'i, 't>(
        &self,
        word: &str,
        item: &'i Item<'t>,
    ) -> Read<Vec<(&'i Key<'t>, &'i Item<'t>)>> {
        let table = item
            .get_ref()
            .as_table()
            .ok_or_else(|| self.bad(word, item, "a table"))?;
        Ok(in_order(table))
    }
}

/// Entries in the order in which they are written.
fn in_order<'i, 't>(table: &'i DeTable<'t>) -> Vec<(&'i Key<'t>, &'i Item<'t>)> {
    let mut entries: Vec<_> = table.iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    entries
}
