//! JSON as values of TOML, each on one line.

use crate::tape::{Node, Scalar, Value};

/// Stands before a place of the request that is left open; no text of a message has it.
pub(super) const OPEN: char = '\u{1}';

pub(super) fn json(node: Node<'_>) -> String {
    String::from_utf8(node.span().of(node.bytes()).to_vec()).unwrap_or_default()
}

/// JSON as a value of TOML, on one line.
pub(super) fn toml(node: Node<'_>) -> String {
    let verbatim = || format!("{{ json = {} }}", literal_quote(&json(node)));
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
                return verbatim();
            }
            let members = members
                .iter()
                .map(|(key, value)| format!("{} = {}", key_text(key), toml(*value)));
            format!("{{ {} }}", members.collect::<Vec<_>>().join(", ")).replace("{  }", "{}")
        }
        Value::Array => {
            let items: Vec<String> = node.children().map(|item| toml(item)).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Scalar(Scalar::Json(..)) => literal(&node.text().unwrap_or_default()),
        Value::Scalar(Scalar::Bool(yes)) => yes.to_string(),
        Value::Scalar(Scalar::Number(_)) => {
            let text = json(node);
            let is_whole = text.parse::<i64>().is_ok();
            if is_whole || text.contains(['.', 'e', 'E']) {
                text
            } else {
                verbatim()
            }
        }
        _ => verbatim(),
    }
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
pub(super) fn literal(text: &str) -> String {
    match text.strip_prefix(OPEN) {
        Some(path) => quote(&format!("{{{{{path}}}}}")),
        None if text.contains("{{") => {
            let json = serde_json::to_string(text).unwrap_or_default();
            format!("{{ json = {} }}", literal_quote(&json))
        }
        None => quote(text),
    }
}

/// In single quotes, where that can be.
pub(super) fn literal_quote(text: &str) -> String {
    if text.contains('\'') || text.chars().any(char::is_control) {
        quote(text)
    } else {
        format!("'{text}'")
    }
}

pub(super) fn quote(text: &str) -> String {
    if text.contains(['"', '\\']) && !text.contains('\'') && !text.chars().any(char::is_control) {
        return format!("'{text}'");
    }
    let mut out = String::from('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            c if c.is_control() => out.push_str(&format!("\\u{:04X}", c as u32)),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
