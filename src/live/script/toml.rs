//! JSON as values of TOML, each on one line, that read back as the same.

use super::value::Value as Template;
use crate::render::style::is_active;
use crate::span::Span;
use crate::tape::{Node, Scalar, Value};
use std::collections::HashMap;

/// Values of a text that are left open, and the places of the request that they are then filled in from.
pub type Holes = HashMap<Span, String>;

pub fn json(node: Node<'_>) -> String {
    String::from_utf8(node.span().of(node.bytes()).to_vec()).unwrap_or_default()
}

/// JSON as a value of TOML, on one line.
pub fn toml(node: Node<'_>) -> String {
    open(node, &Holes::new())
}

/// The same, with holes.
pub fn open(node: Node<'_>, holes: &Holes) -> String {
    if let Some(path) = holes.get(&node.span()) {
        return quote(&format!("{{{{{path}}}}}"));
    }
    match node.value() {
        Value::Map => {
            let members: Vec<(String, Node<'_>)> = node
                .members()
                .map(|(key, value)| (key.text().unwrap_or_default().into_owned(), value))
                .collect();
            let names: Vec<&str> = members.iter().map(|(key, _)| key.as_str()).collect();
            let mut sorted = names.clone();
            sorted.sort_unstable();
            sorted.dedup();
            let special = matches!(
                names.as_slice(),
                ["json"] | ["type", "value"] | ["value", "type"]
            );
            if special || sorted.len() != names.len() {
                return verbatim(&json(node));
            }
            if names.is_empty() {
                return "{}".into();
            }
            let members = members
                .iter()
                .map(|(key, value)| format!("{} = {}", key_text(key), open(*value, holes)));
            format!("{{ {} }}", members.collect::<Vec<_>>().join(", "))
        }
        Value::Array => {
            let items: Vec<String> = node.children().map(|item| open(item, holes)).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Scalar(Scalar::Json(..)) => literal(&node.text().unwrap_or_default()),
        Value::Scalar(Scalar::Bool(yes)) => yes.to_string(),
        Value::Scalar(Scalar::Number(_)) => {
            let text = json(node);
            if is_integer(&text) || text.contains(['.', 'e', 'E']) {
                text
            } else {
                verbatim(&text)
            }
        }
        _ => verbatim(&json(node)),
    }
}

/// JSON, as it is.
pub fn verbatim(json: &str) -> String {
    format!("{{ json = {} }}", literal_quote(json))
}

/// Whether it is an integer of TOML that reads back as this text: `-0` does not.
pub fn is_integer(text: &str) -> bool {
    text.parse::<i64>().is_ok_and(|n| n.to_string() == text)
}

fn key_text(key: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    if !key.is_empty() && key.chars().all(plain) {
        key.to_owned()
    } else {
        quote(key)
    }
}

/// Text that is taken as it is.
pub fn literal(text: &str) -> String {
    match Template::text(text) {
        Ok(Template::Json(_)) => quote(text),
        _ => verbatim(&serde_json::to_string(text).unwrap_or_default()),
    }
}

/// In single quotes, where that can be.
fn literal_quote(text: &str) -> String {
    if text.contains('\'') || text.contains(is_active) {
        quote(text)
    } else {
        format!("'{text}'")
    }
}

/// Text of TOML in which nothing can do anything to a screen.
pub fn quote(text: &str) -> String {
    if text.contains(['"', '\\']) && !text.contains('\'') && !text.contains(is_active) {
        return format!("'{text}'");
    }
    let mut out = String::from('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            c if is_active(c) => out.push_str(&format!("\\u{:04X}", c as u32)),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
