//! Texts with values of a message: `{name} is called without approval`.

use crate::decoder::Decoded;
use crate::protocol::session::Answer;
use crate::select::{Expr, Key, KeyTest, Test};
use crate::words::nearest;

/// The maximum number of characters of a value.
const MAX_VALUE: usize = 80;

/// A text with values of a message.
#[derive(Debug)]
pub(super) struct Template(Vec<Part>);

#[derive(Debug)]
enum Part {
    Text(String),
    Value(Key),
}

impl Template {
    /// Reads a text; fails with what was wanted instead of a part.
    pub fn parse(text: &str) -> Result<Self, (&str, String)> {
        let (mut parts, mut rest) = (Vec::new(), text);
        while let Some((before, after)) = rest.split_once('{') {
            parts.push(Part::Text(before.to_owned()));
            if let Some(after) = after.strip_prefix('{') {
                parts.push(Part::Text("{".to_owned()));
                rest = after;
                continue;
            }
            let from_brace = rest.get(before.len()..).unwrap_or(rest);
            let end = || (from_brace, "a } after it, or {{ for a brace".to_owned());
            let (name, after) = after.split_once('}').ok_or_else(end)?;
            let key = key_of(name).map_err(|wanted| (name, wanted))?;
            parts.push(Part::Value(key));
            rest = after;
        }
        parts.push(Part::Text(rest.replace("}}", "}")));
        Ok(Self(parts))
    }

    /// Returns the keys of its values.
    pub fn keys(&self) -> impl Iterator<Item = &Key> {
        self.0.iter().filter_map(|part| match part {
            Part::Text(_) => None,
            Part::Value(key) => Some(key),
        })
    }

    /// Returns the text about a message.
    pub fn fill(&self, decoded: &Decoded<'_>, answer: Option<&Answer>) -> String {
        let part = |part: &Part| match part {
            Part::Text(text) => text.clone(),
            Part::Value(key) => shown(key, decoded, answer),
        };
        self.0.iter().map(part).collect()
    }
}

/// Returns a value of a message, cut to a length that is readable.
pub(super) fn shown(key: &Key, decoded: &Decoded<'_>, answer: Option<&Answer>) -> String {
    let text = key.text(decoded, answer).unwrap_or_else(|| "-".to_owned());
    match text.char_indices().nth(MAX_VALUE) {
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or_default()),
        None => text,
    }
}

/// Returns the key of a message with this name, or the path; fails with what was wanted.
pub(super) fn key_of(text: &str) -> Result<Key, String> {
    let wanted = || {
        let near = nearest(text.trim(), Key::names());
        let near = near.map_or(String::new(), |near| format!(" (did you mean {near}?)"));
        format!("a path such as .params.id, or a key such as name{near}")
    };
    match text.parse::<Expr>() {
        Ok(Expr::Test(Test {
            key,
            what: KeyTest::There,
        })) if key != Key::Findings => Ok(key),
        _ => Err(wanted()),
    }
}
