//! Messages as text: looked at, and put together from parts of others.

use crate::encoding::{json, lossless};
use crate::error::Refusal;
use crate::protocol::make::{Object, is_json};
use crate::span::Span;
use crate::tape::{Node, Tape};

/// Deepest message that is looked at.
const DEPTH: u32 = 1000;
/// Longest text that a refusal repeats.
const SHOWN: usize = 60;

/// Looks at a message that is text; `None` where it is no JSON.
pub fn look<T>(text: &str, with: impl FnOnce(Node<'_>) -> T) -> Option<T> {
    let mut tape = Tape::new();
    let whole = Span::new(0, text.len());
    json::parse(text.as_bytes(), whole, DEPTH, &mut tape).ok()?;
    tape.root(text.as_bytes()).map(with)
}

/// A value as text: as it stands where it came as JSON, in the lossless forms else.
pub fn json_of(node: Node<'_>) -> String {
    let mut out = Vec::new();
    lossless::write(node, &mut out);
    String::from_utf8(out).unwrap_or_default()
}

/// The text of a phrase, which must be JSON.
pub fn as_json<'t>(text: &'t str, place: &'static str) -> Result<&'t str, Refusal> {
    if is_json(text) {
        return Ok(text);
    }
    Err(Refusal::new(place, "JSON", shown(text)))
}

/// The text of a phrase, which must be a JSON object.
pub fn as_object<'t>(text: &'t str, place: &'static str) -> Result<&'t str, Refusal> {
    match look(text, is_map) {
        Some(true) => Ok(text),
        _ => Err(Refusal::new(place, "a JSON object", shown(text))),
    }
}

/// An entry of a list, with what else is said of it; its own members go before those of the same name.
pub fn with_about(entry: Object, own: &[&str], about: Option<&str>) -> Object {
    let more = look(about.unwrap_or("{}"), |about| {
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

fn is_map(node: Node<'_>) -> bool {
    node.is_map()
}

fn shown(text: &str) -> String {
    let start: String = text.chars().take(SHOWN).collect();
    format!("`{start}`")
}
