//! A value of a script: JSON with values that come from the request.
//!
//! ```text
//!   { text = "{{params.name}} has {{count}}", felt = "{{params.calldata[0]}}" }
//!             '- inserted as text               '- alone: keeps its type
//! ```

pub use super::fill::{Fill, MadeCall, call, with_json};
use super::template::Template;
use crate::encoding::json;
use crate::path::{self, Path, PathStep};
use crate::protocol::ValueTypes;
use std::sync::Arc;

/// The start of an open value in a text.
pub const PLACEHOLDER: &str = "{{";

/// A value, parts of which may be open until it is sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OpenValue {
    /// JSON text.
    Json(String),
    /// Text with open values in it.
    Text(Vec<TextPart>),
    /// The value at a path of the request.
    Placeholder(Placeholder),
    /// Values in order.
    List(Vec<OpenValue>),
    /// Values under keys, in order.
    Map(Vec<(String, OpenValue)>),
    /// A recorded message of which some values are replaced.
    Recorded(Arc<Template>),
    /// A value of a type that only the protocol has.
    Typed(Arc<dyn ValueTypes>, String, Box<OpenValue>),
}

/// A part of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TextPart {
    /// Text.
    Text(String),
    /// An open value.
    Placeholder(Placeholder),
}

/// An open value: `{{params.id}}`. It is filled when the message is sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placeholder {
    text: String,
    root: Root,
    path: Path,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Root {
    Request,
    /// The answer to the last request of the rule.
    Answer,
    /// The number of uses of the rule, from 1.
    Count,
}

impl OpenValue {
    /// Parses text, which may have open values.
    pub fn text(text: &str) -> Result<Self, String> {
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once(PLACEHOLDER) {
            let (inside, after) = close(after).ok_or("{{ without }}")?;
            if !before.is_empty() {
                parts.push(TextPart::Text(before.to_owned()));
            }
            parts.push(TextPart::Placeholder(Placeholder::parse(inside.trim())?));
            rest = after;
        }
        if parts.is_empty() {
            return Ok(Self::plain(text));
        }
        if !rest.is_empty() {
            parts.push(TextPart::Text(rest.to_owned()));
        }
        match parts.as_slice() {
            [TextPart::Placeholder(hole)] => Ok(Self::Placeholder(hole.clone())),
            _ => Ok(Self::Text(parts)),
        }
    }

    /// Makes a value from literal text.
    pub fn plain(text: &str) -> Self {
        let mut out = Vec::new();
        json::write_str(text, &mut out);
        Self::Json(utf8(out))
    }

    /// Checks JSON text. It has no open values.
    pub fn json(text: &str) -> Result<Self, String> {
        with_json(text, |_| ()).map_err(|error| format!("not JSON: {error}"))?;
        Ok(Self::Json(text.trim().to_owned()))
    }

    /// Parses JSON, or `{"type": "(u256,)", "value": [5]}`.
    pub fn given(text: &str, types: Option<&dyn ValueTypes>) -> Result<Self, String> {
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

    /// Makes a value of a type that only the protocol has. A value without open parts is checked immediately.
    pub fn typed(types: &dyn ValueTypes, name: String, value: Self) -> Result<Self, String> {
        types.check(&name).map_err(|error| error.to_string())?;
        let value = Self::Typed(types.share(), name, Box::new(value));
        if value.is_open() {
            return Ok(value);
        }
        value.fill(&Fill::default()).map(Self::Json)
    }

    /// Returns a message as an event of the stream that the client has opened over HTTP.
    pub fn into_event(self) -> Self {
        let template = match self {
            Self::Json(text) => Template {
                text,
                slots: Vec::new(),
                is_event: true,
            },
            Self::Recorded(template) => Template {
                is_event: true,
                ..Arc::unwrap_or_clone(template)
            },
            other => return other,
        };
        Self::Recorded(Arc::new(template))
    }

    /// Returns `true` if it is an event of the stream that the client has opened over HTTP.
    pub fn is_event(&self) -> bool {
        matches!(self, Self::Recorded(template) if template.is_event)
    }

    /// Returns `true` if a part of it is open.
    pub fn is_open(&self) -> bool {
        match self {
            Self::Json(_) => false,
            Self::Text(_) | Self::Placeholder(_) | Self::Recorded(_) => true,
            Self::List(items) => items.iter().any(Self::is_open),
            Self::Map(members) => members.iter().any(|(_, value)| value.is_open()),
            Self::Typed(.., value) => value.is_open(),
        }
    }

    /// Returns the JSON with all open values filled.
    pub fn fill(&self, from: &Fill<'_>) -> Result<String, String> {
        let mut out = Vec::new();
        self.write(from, &mut out)?;
        Ok(utf8(out))
    }

    /// Returns the text with all open values filled. A string has no quotes.
    pub fn fill_text(&self, from: &Fill<'_>) -> Result<String, String> {
        let json = self.fill(from)?;
        let text = with_json(&json, |node| node.text().map(std::borrow::Cow::into_owned));
        Ok(text.ok().flatten().unwrap_or(json))
    }

    fn write(&self, from: &Fill<'_>, out: &mut Vec<u8>) -> Result<(), String> {
        match self {
            Self::Json(text) => out.extend_from_slice(text.as_bytes()),
            Self::Recorded(template) => out.extend_from_slice(template.fill(from).as_bytes()),
            Self::Placeholder(hole) => out.extend_from_slice(hole.fill(from)?.as_bytes()),
            Self::Text(parts) => {
                let mut text = String::new();
                for part in parts {
                    match part {
                        TextPart::Text(part) => text.push_str(part),
                        TextPart::Placeholder(hole) => {
                            text.push_str(&Self::Placeholder(hole.clone()).fill_text(from)?);
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
                let written = with_json(&text, |node| {
                    types.write(name, node).map_err(|error| error.to_string())
                })?;
                let written = written.map_err(|e| format!("{text} is not {name}: {e}"))?;
                out.extend_from_slice(written.as_bytes());
            }
        }
        Ok(())
    }
}

impl Placeholder {
    /// Parses `params.calldata[0]`, `answer.result` or `count`. After a leading point every name is a key of the request.
    fn parse(text: &str) -> Result<Self, String> {
        let path = text.parse::<Path>().ok().filter(|path| !path.is_empty());
        let path = path.ok_or_else(|| {
            format!("{{{{{text}}}}} is not a field: write for example {{{{params.calldata[0]}}}}, with unusual names in quotes")
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

    fn fill(&self, from: &Fill<'_>) -> Result<String, String> {
        let text = match self.root {
            Root::Count => return Ok(from.count.to_string()),
            Root::Request => from.request,
            Root::Answer => from
                .answer
                .ok_or_else(|| format!("{{{{{}}}}}: there is no request yet", self.text))?,
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
    /// Returns the root of a path without a leading point.
    fn of(path: &Path) -> Self {
        match &**path {
            [PathStep::Member(name), ..] if name == "answer" => Self::Answer,
            [PathStep::Member(name)] if name == "count" => Self::Count,
            _ => Self::Request,
        }
    }
}

/// Splits text at the closing braces of an open value. Braces in a quoted name do not close it.
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
    use super::{Fill, OpenValue};
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
            let value = OpenValue::text(text).unwrap();
            assert_eq!(value.fill(&from).unwrap(), want, "{text}");
        }
    }

    #[test]
    fn missing_values_are_errors() {
        for (text, want) in [
            (
                "{{params.calldata[2]}}",
                "{{params.calldata[2]}}: the request has no such place",
            ),
            ("{{answer.x}}", "{{answer.x}}: there is no request yet"),
        ] {
            let from = Fill {
                request: REQUEST,
                ..Fill::default()
            };
            assert_eq!(
                OpenValue::text(text).unwrap().fill(&from).unwrap_err(),
                want
            );
        }
        for text in ["{{", "{{}}", "{{a..b}}", "{{a[x]}}", "{{a]}}b{{"] {
            assert!(OpenValue::text(text).is_err(), "{text}");
        }
    }

    #[test]
    fn values_of_types_of_the_protocol_are_written_as_it_writes_them() {
        let types = registry::find("oracle")
            .unwrap()
            .descriptor()
            .value_types
            .unwrap();
        let make = |name: &str, value| OpenValue::typed(types, name.to_owned(), value);
        let from = Fill {
            request: r#"{"id":"0x7"}"#,
            ..Fill::default()
        };
        let five = OpenValue::List(vec![OpenValue::json("5").unwrap()]);
        let felts = make("(u256,)", five).unwrap();
        assert_eq!(felts.fill(&from).unwrap(), r#"["0x5","0x0"]"#);
        let open = OpenValue::List(vec![OpenValue::text("{{.id}}").unwrap()]);
        let open = make("(felt252,)", open).unwrap();
        assert_eq!(open.fill(&from).unwrap(), r#"["0x7"]"#);
        let wrong = make("(u8,)", OpenValue::json("[256]").unwrap());
        assert!(wrong.unwrap_err().contains("256"));
    }
}
