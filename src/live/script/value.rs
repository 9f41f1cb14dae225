//! A value of a script: JSON in which places of the request stand open.
//!
//! ```text
//!   { text = "{{params.name}} has {{count}}", felt = "{{params.calldata[0]}}" }
//!             '- filled in as text              '- alone: as the value that it is
//! ```

pub use super::fill::{Fill, call, with_json};
use super::template::Template;
use crate::encoding::json;
use crate::path::{self, Path, Step};
use crate::protocol::ValueTypes;
use std::sync::Arc;

/// A value with open places.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// JSON, as it is.
    Json(String),
    /// Text with open places in it.
    Text(Vec<Part>),
    /// The value at a place of the request.
    Hole(Hole),
    /// Values in order.
    List(Vec<Value>),
    /// Values under keys, in order.
    Map(Vec<(String, Value)>),
    /// A message of a recording.
    Recorded(Arc<Template>),
    /// A value of a type that only the protocol has.
    Typed(&'static dyn ValueTypes, String, Box<Value>),
}

/// A part of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// As it is.
    Text(String),
    /// A place of the request.
    Hole(Hole),
}

/// A place that is filled in when an answer is said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hole {
    text: String,
    root: Root,
    path: Path,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Root {
    Request,
    /// What the other side answered when it was asked last.
    Answer,
    /// How often the rule has been used, from 1.
    Count,
}

impl Value {
    /// Text, which may have open places.
    pub fn text(text: &str) -> Result<Self, String> {
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once("{{") {
            let (inside, after) = close(after).ok_or("{{ without }}")?;
            if !before.is_empty() {
                parts.push(Part::Text(before.to_owned()));
            }
            parts.push(Part::Hole(Hole::parse(inside.trim())?));
            rest = after;
        }
        if parts.is_empty() {
            return Ok(Self::plain(text));
        }
        if !rest.is_empty() {
            parts.push(Part::Text(rest.to_owned()));
        }
        match parts.as_slice() {
            [Part::Hole(hole)] => Ok(Self::Hole(hole.clone())),
            _ => Ok(Self::Text(parts)),
        }
    }

    /// Text as it stands.
    pub fn plain(text: &str) -> Self {
        let mut out = Vec::new();
        json::write_str(text, &mut out);
        Self::Json(utf8(out))
    }

    /// JSON as it stands, nothing in it left open.
    pub fn json(text: &str) -> Result<Self, String> {
        with_json(text, |_| ()).map_err(|error| format!("no JSON: {error}"))?;
        Ok(Self::Json(text.trim().to_owned()))
    }

    /// JSON as it is, or `{"type": "(u256,)", "value": [5]}`.
    pub fn given(text: &str, types: Option<&'static dyn ValueTypes>) -> Result<Self, String> {
        let given = with_json(text, |root| {
            let (ty, value) = (root.get("type")?.text()?, root.get("value")?);
            let value = utf8(value.span().of(value.bytes()).to_vec());
            Some((ty.into_owned(), value))
        })?;
        match (given, types) {
            (Some((ty, value)), Some(types)) => Self::typed(types, ty, Self::Json(value)),
            _ => Self::json(text),
        }
    }

    /// A value of a type that only the protocol has. Without open places it is checked at once.
    pub fn typed(
        types: &'static dyn ValueTypes,
        name: String,
        value: Self,
    ) -> Result<Self, String> {
        types.check(&name)?;
        let value = Self::Typed(types, name, Box::new(value));
        if value.is_open() {
            return Ok(value);
        }
        value.fill(&Fill::default()).map(Self::Json)
    }

    /// Whether something in it is left open.
    pub fn is_open(&self) -> bool {
        match self {
            Self::Json(_) => false,
            Self::Text(_) | Self::Hole(_) | Self::Recorded(_) => true,
            Self::List(items) => items.iter().any(Self::is_open),
            Self::Map(members) => members.iter().any(|(_, value)| value.is_open()),
            Self::Typed(.., value) => value.is_open(),
        }
    }

    /// As JSON, with everything filled in.
    pub fn fill(&self, from: &Fill<'_>) -> Result<String, String> {
        let mut out = Vec::new();
        self.write(from, &mut out)?;
        Ok(utf8(out))
    }

    /// As text, with everything filled in: text without its quotes.
    pub fn fill_text(&self, from: &Fill<'_>) -> Result<String, String> {
        let json = self.fill(from)?;
        let text = with_json(&json, |node| node.text().map(std::borrow::Cow::into_owned));
        Ok(text.ok().flatten().unwrap_or(json))
    }

    fn write(&self, from: &Fill<'_>, out: &mut Vec<u8>) -> Result<(), String> {
        match self {
            Self::Json(text) => out.extend_from_slice(text.as_bytes()),
            Self::Recorded(template) => out.extend_from_slice(template.fill(from).as_bytes()),
            Self::Hole(hole) => out.extend_from_slice(hole.fill(from)?.as_bytes()),
            Self::Text(parts) => {
                let mut text = String::new();
                for part in parts {
                    match part {
                        Part::Text(part) => text.push_str(part),
                        Part::Hole(hole) => {
                            text.push_str(&Self::Hole(hole.clone()).fill_text(from)?);
                        }
                    }
                }
                json::write_str(&text, out);
            }
            Self::List(items) => {
                out.push(b'[');
                for (n, item) in items.iter().enumerate() {
                    if n > 0 {
                        out.push(b',');
                    }
                    item.write(from, out)?;
                }
                out.push(b']');
            }
            Self::Map(members) => {
                out.push(b'{');
                for (n, (key, value)) in members.iter().enumerate() {
                    if n > 0 {
                        out.push(b',');
                    }
                    json::write_str(key, out);
                    out.push(b':');
                    value.write(from, out)?;
                }
                out.push(b'}');
            }
            Self::Typed(types, name, value) => {
                let text = value.fill(from)?;
                let written = with_json(&text, |node| types.write(name, node))?;
                let written = written.map_err(|e| format!("{text} is no {name}: {e}"))?;
                out.extend_from_slice(written.as_bytes());
            }
        }
        Ok(())
    }
}

impl Hole {
    /// `params.calldata[0]`, `answer.result`, `count`; with a point before it, a key of the request whatever its name.
    fn parse(text: &str) -> Result<Self, String> {
        let path = text.parse::<Path>().ok().filter(|path| !path.is_empty());
        let path = path.ok_or_else(|| {
            format!("{{{{{text}}}}} names no place: {{{{params.calldata[0]}}}} is one, odd names stand in quotes")
        })?;
        let root = if text.starts_with('.') {
            Root::Request
        } else {
            Root::of(&path)
        };
        let own = usize::from(root != Root::Request);
        Ok(Self {
            text: text.to_owned(),
            root,
            path: path.get(own..).unwrap_or_default().to_vec().into(),
        })
    }

    /// What stands between the braces for a place of the request.
    pub fn text(path: &Path) -> String {
        let point = if Root::of(path) == Root::Request {
            ""
        } else {
            "."
        };
        format!("{point}{path}")
    }

    fn fill(&self, from: &Fill<'_>) -> Result<String, String> {
        let text = match self.root {
            Root::Count => return Ok(from.count.to_string()),
            Root::Request => from.request,
            Root::Answer => from
                .answer
                .ok_or_else(|| format!("{{{{{}}}}}: nothing was asked yet", self.text))?,
        };
        let found = with_json(text, |root| {
            let node = self.path.find(root);
            node.map(|node| utf8(node.span().of(node.bytes()).to_vec()))
        });
        let what = match self.root {
            Root::Answer => "answer",
            _ => "request",
        };
        found
            .ok()
            .flatten()
            .ok_or_else(|| format!("{{{{{}}}}}: the {what} has no such place", self.text))
    }
}

impl Root {
    /// Where a path begins that has no point before it.
    fn of(path: &Path) -> Self {
        match &**path {
            [Step::Member(name), ..] if name == "answer" => Self::Answer,
            [Step::Member(name)] if name == "count" => Self::Count,
            _ => Self::Request,
        }
    }
}

/// What comes before the braces that close a hole, and what comes behind them. Those in a quoted name close nothing.
fn close(text: &str) -> Option<(&str, &str)> {
    let (mut at, mut rest) = (0, text);
    while !rest.starts_with("}}") {
        let before = text.get(..at)?.trim_start();
        let name = if before.is_empty() || before.ends_with(['.', '[']) {
            path::quoted(rest).ok().flatten()
        } else {
            None
        };
        let len = name.map(|(_, len)| len);
        at += len.or_else(|| rest.chars().next().map(char::len_utf8))?;
        rest = text.get(at..)?;
    }
    Some((text.get(..at)?, rest.get(2..)?))
}

fn utf8(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{Fill, Value};
    use crate::protocol::registry;

    const REQUEST: &str =
        r#"{"id":7,"params":{"calldata":["0x1","a\"b"],"a b":null,"}} \"":8},"count":3,"it's":9}"#;

    #[test]
    fn places_of_the_request_are_filled_in() {
        let from = Fill {
            request: REQUEST,
            answer: Some(r#"{"result":[1.50]}"#),
            count: 2,
            ..Fill::default()
        };
        for (text, want) in [
            ("plain", r#""plain""#),
            ("{{params.calldata[0]}}", r#""0x1""#),
            ("{{ params.calldata }}", r#"["0x1","a\"b"]"#),
            ("{{params.\"a b\"}}", "null"),
            ("{{params[\"a b\"]}}", "null"),
            ("{{params['}} \"']}} it's", r#""8 it's""#),
            ("{{it's}} it's", r#""9 it's""#),
            ("{{id}} and {{params.calldata[1]}}", r#""7 and a\"b""#),
            ("{{count}}", "2"),
            ("{{.count}}", "3"),
            ("{{answer.result[0]}}", "1.50"),
            ("{{answer}}", r#"{"result":[1.50]}"#),
        ] {
            let value = Value::text(text).unwrap();
            assert_eq!(value.fill(&from).unwrap(), want, "{text}");
        }
    }

    #[test]
    fn what_is_not_there_is_said() {
        for (text, want) in [
            (
                "{{params.calldata[2]}}",
                "{{params.calldata[2]}}: the request has no such place",
            ),
            ("{{answer.x}}", "{{answer.x}}: nothing was asked yet"),
        ] {
            let from = Fill {
                request: REQUEST,
                ..Fill::default()
            };
            assert_eq!(Value::text(text).unwrap().fill(&from).unwrap_err(), want);
        }
        for text in ["{{", "{{}}", "{{a..b}}", "{{a[x]}}", "{{a]}}b{{"] {
            assert!(Value::text(text).is_err(), "{text}");
        }
    }

    #[test]
    fn values_of_types_of_the_protocol_are_written_as_it_writes_them() {
        let types = registry::find("oracle")
            .unwrap()
            .descriptor()
            .value_types
            .unwrap();
        let make = |name: &str, value| Value::typed(types, name.to_owned(), value);
        let from = Fill {
            request: r#"{"id":"0x7"}"#,
            ..Fill::default()
        };
        let five = Value::List(vec![Value::json("5").unwrap()]);
        let felts = make("(u256,)", five).unwrap();
        assert_eq!(felts.fill(&from).unwrap(), r#"["0x5","0x0"]"#);
        let open = Value::List(vec![Value::text("{{.id}}").unwrap()]);
        let open = make("(felt252,)", open).unwrap();
        assert_eq!(open.fill(&from).unwrap(), r#"["0x7"]"#);
        let wrong = make("(u8,)", Value::json("[256]").unwrap());
        assert!(wrong.unwrap_err().contains("256"));
    }
}
