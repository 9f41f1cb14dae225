//! Messages as text: read, and built from parts of others.

use crate::encoding::{json, lossless};
use crate::error::{Refusal, Result};
use crate::protocol::make::{Object, is_json};
use crate::tape::{Node, Tape};

/// The deepest nesting that is read.
const DEPTH: u32 = 1000;
/// The largest number of characters that a refusal quotes.
const SHOWN: usize = 60;

/// Parses a message and visits its root; `None` if it is not JSON.
pub fn with_json<T>(text: &str, with: impl FnOnce(Node<'_>) -> T) -> Option<T> {
    let mut tape = Tape::new();
    json::root(text.as_bytes(), DEPTH, &mut tape).ok().map(with)
}

/// Writes a value as text: JSON stays unchanged, other values use the lossless forms.
pub fn json_of(node: Node<'_>) -> String {
    let mut out = Vec::new();
    lossless::write(node, &mut out);
    String::from_utf8(out).unwrap_or_default()
}

/// Returns the text of a reply; fails if it is not JSON.
pub fn as_json<'t>(text: &'t str, place: &'static str) -> Result<&'t str> {
    if is_json(text) {
        return Ok(text);
    }
    Err(Refusal::new(place, "JSON", shown(text)))
}

/// Returns the text of a reply; fails if it is not a JSON object.
pub fn as_object<'t>(text: &'t str, place: &'static str) -> Result<&'t str> {
    match with_json(text, is_map) {
        Some(true) => Ok(text),
        _ => Err(Refusal::new(place, "a JSON object", shown(text))),
    }
}

/// Adds further members to an entry of a list. The entry's own members take precedence.
pub fn with_about(entry: Object, own: &[&str], about: Option<&str>) -> Object {
    let more = with_json(about.unwrap_or("{}"), |about| {
        let members = about.members().filter(|_| about.is_map());
        let named = members.filter_map(|(key, value)| Some((key.text()?.into_owned(), value)));
        let others = named.filter(|(key, _)| !own.contains(&key.as_str()));
        others
            .map(|(key, value)| (key, json_of(value)))
            .collect::<Vec<_>>()
    });
    let more = more.unwrap_or_default();
    more.iter()
        .fold(entry, |entry, (key, value)| entry.json(key, value))
}

/// Returns the start of a text of the other side, for an answer: its size is bounded.
pub fn shorten(text: &str) -> String {
    text.chars().take(80).collect()
}

fn is_map(node: Node<'_>) -> bool {
    node.is_map()
}

fn shown(text: &str) -> String {
    let start: String = text.chars().take(SHOWN).collect();
    format!("`{start}`")
}
