//! The values of a configuration in JSON or TOML, with their places in its text.
//!
//! JSON may have comments and commas after the last element, as many clients allow. The parser of JSON reads a copy in which
//! these are spaces, so that places are those of the text.

use crate::protocol::peer::with_json;
use crate::span::Span;
use crate::tape::Node;
use crate::toml_text::{Item, TomlText, in_order};
use anyhow::{Context as _, Result, anyhow, bail};
use std::ops::Range;
use toml::de::DeValue;

/// The syntax of a configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Syntax {
    Json,
    Toml,
}

/// A value and its place: the range of its bytes.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Placed {
    pub place: Range<usize>,
    pub value: Value,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    Text(String),
    List(Vec<Placed>),
    Table(Vec<Member>),
    Other,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Member {
    pub key: String,
    pub key_place: Range<usize>,
    pub value: Placed,
}

impl Placed {
    pub fn members(&self) -> &[Member] {
        match &self.value {
            Value::Table(members) => members,
            _ => &[],
        }
    }

    pub fn items(&self) -> Option<&[Placed]> {
        match &self.value {
            Value::List(items) => Some(items),
            _ => None,
        }
    }

    pub fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the member of a key.
    ///
    /// # Errors
    ///
    /// Fails if the key stands there twice: clients do not agree about which one counts.
    pub fn member(&self, key: &str) -> Result<Option<&Member>> {
        let mut found = self.members().iter().filter(|member| member.key == key);
        let first = found.next();
        anyhow::ensure!(found.next().is_none(), "the key {key} is there twice");
        Ok(first)
    }
}

impl Syntax {
    /// Returns the syntax that the name of a file promises.
    pub fn of_name(name: &str) -> Self {
        if name.to_ascii_lowercase().ends_with(".toml") {
            Self::Toml
        } else {
            Self::Json
        }
    }

    /// Reads a configuration of this name. A byte order mark before it is allowed.
    ///
    /// # Errors
    ///
    /// Fails if the text does not have this syntax.
    pub fn read(self, name: &str, text: &str) -> Result<Placed> {
        match self {
            Self::Json => read_json(text).with_context(|| name.to_owned()),
            Self::Toml => {
                let table = TomlText { name, text }.parse();
                let table = table.map_err(|error| anyhow!(error.one_line()))?;
                let mut members = Vec::new();
                for (key, item) in in_order(&table) {
                    members.push(toml_member(key.get_ref(), key.span(), item));
                }
                Ok(Placed {
                    place: 0..text.len(),
                    value: Value::Table(members),
                })
            }
        }
    }
}

fn read_json(text: &str) -> Result<Placed> {
    let plain = without_comments(text);
    if plain.trim().is_empty() {
        return Ok(Placed {
            place: 0..text.len(),
            value: Value::Other,
        });
    }
    match with_json(&plain, json_value) {
        Some(value) => Ok(value),
        None => match serde_json::from_str::<serde::de::IgnoredAny>(&plain) {
            Err(error) => bail!("it is not JSON: {error}"),
            Ok(_) => bail!("it is not JSON that wiretool reads"),
        },
    }
}

fn range(span: Span) -> Range<usize> {
    span.at()..span.end()
}

fn json_value(node: Node<'_>) -> Placed {
    let member = |(key, value): (Node<'_>, Node<'_>)| Member {
        key: key.text().unwrap_or_default().into_owned(),
        key_place: range(key.span()),
        value: json_value(value),
    };
    let value = if node.is_map() {
        Value::Table(node.members().map(member).collect())
    } else if node.is_array() {
        Value::List(node.children().map(json_value).collect())
    } else {
        let text = node.is_string().then(|| node.text()).flatten();
        text.map_or(Value::Other, |text| Value::Text(text.into_owned()))
    };
    Placed {
        place: range(node.span()),
        value,
    }
}

fn toml_member(key: &str, key_place: Range<usize>, item: &Item<'_>) -> Member {
    Member {
        key: key.to_owned(),
        key_place,
        value: toml_value(item),
    }
}

fn toml_value(item: &Item<'_>) -> Placed {
    let value = match item.get_ref() {
        DeValue::String(text) => Value::Text(text.to_string()),
        DeValue::Array(items) => Value::List(items.iter().map(toml_value).collect()),
        DeValue::Table(table) => {
            let members = in_order(table).into_iter();
            let members = members.map(|(key, item)| toml_member(key.get_ref(), key.span(), item));
            Value::Table(members.collect())
        }
        _ => Value::Other,
    };
    Placed {
        place: item.span(),
        value,
    }
}

/// Replaces the byte order mark, comments, and commas after the last element by spaces: places stay the same.
fn without_comments(text: &str) -> String {
    let mut out = text.as_bytes().to_vec();
    let blank = |out: &mut Vec<u8>, range: Range<usize>| {
        for byte in out.get_mut(range).into_iter().flatten() {
            if !matches!(byte, b'\n' | b'\r') {
                *byte = b' ';
            }
        }
    };
    if text.starts_with('\u{feff}') {
        blank(&mut out, 0..3);
    }
    let bytes = text.as_bytes();
    let (mut at, mut comma) = (0, None);
    while let Some(byte) = bytes.get(at) {
        let rest = bytes.get(at..).unwrap_or_default();
        let len = if rest.starts_with(b"//") {
            let len = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
            blank(&mut out, at..at + len);
            len
        } else if rest.starts_with(b"/*") {
            let end = memchr::memmem::find(rest.get(2..).unwrap_or_default(), b"*/");
            let len = end.map_or(rest.len(), |end| end + 4);
            blank(&mut out, at..at + len);
            len
        } else {
            match byte {
                b'"' => {
                    comma = None;
                    string_len(rest)
                }
                b',' => {
                    comma = Some(at);
                    1
                }
                b']' | b'}' => {
                    if let Some(at) = comma.take() {
                        blank(&mut out, at..at + 1);
                    }
                    1
                }
                byte => {
                    if !byte.is_ascii_whitespace() {
                        comma = None;
                    }
                    1
                }
            }
        };
        at += len;
    }
    // Only whole characters were replaced.
    String::from_utf8(out).unwrap_or_default()
}

/// Returns the length of a JSON string with its quotes.
fn string_len(bytes: &[u8]) -> usize {
    let mut at = 1;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_last_commas_become_spaces() {
        for (text, wanted) in [
            ("{\"a\":1}", "{\"a\":1}"),
            ("{\"a\":1,}", "{\"a\":1 }"),
            ("[1, // one\n 2,\n]", "[1,       \n 2 \n]"),
            ("{/* \"a\":[ */\"b\":\"//\"}", "{           \"b\":\"//\"}"),
            ("{\"a\":\"x\\\",}\",}", "{\"a\":\"x\\\",}\" }"),
            ("\u{feff}[1]", "   [1]"),
            ("{} // é", "{}      "),
            ("/* open", "       "),
        ] {
            assert_eq!(without_comments(text), wanted, "{text}");
        }
    }

    #[test]
    fn places_are_those_of_the_text() {
        for (syntax, text) in [
            (
                Syntax::Json,
                "\u{feff}// é\n{ \"a\": { \"command\": \"np\\u0078\", }, }\n",
            ),
            (Syntax::Toml, "# é\n[a]\ncommand = \"npx\"\n"),
        ] {
            let root = syntax.read("x", text).unwrap();
            let entry = &root.member("a").unwrap().unwrap().value;
            let command = entry.member("command").unwrap().unwrap();
            assert_eq!(command.value.text(), Some("npx"), "{text}");
            let spelled = text.get(command.value.place.clone()).unwrap();
            assert!(["\"np\\u0078\"", "\"npx\""].contains(&spelled), "{spelled}");
            assert!(text[command.key_place.clone()].contains("command"));
        }
    }

    #[test]
    fn other_text_is_refused() {
        for (syntax, text, wanted) in [
            (Syntax::Json, "{\"a\":", "it is not JSON: EOF"),
            (Syntax::Json, "a = 1", "it is not JSON: expected value"),
            (Syntax::Toml, "{\"a\":1}", "x:1: "),
        ] {
            let error = syntax.read("x", text).unwrap_err();
            assert!(format!("{error:#}").contains(wanted), "{error:#}");
        }
        let twice = Syntax::Json.read("x", "{\"a\":1,\"a\":2}").unwrap();
        assert!(twice.member("a").is_err());
    }
}
