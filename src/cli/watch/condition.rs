//! Conditions that are typed: an expression of `--where`, or plain text.

use super::shared::Shared;
use super::store::StoreReader;
use crate::conversation::Verdict;
use crate::decoder::Decoded;
use crate::encoding::Want;
use crate::render::line::{shown, shown_names};
use crate::select::{Expr, Filter, Key, KeySort, KeyTest, ParseError, Select, is_notation};
use aho_corasick::AhoCorasick;
use std::collections::BTreeSet;

/// The number of messages whose values are suggested.
const MAX_SAMPLED: usize = 2000;

/// A condition for messages.
pub(super) enum Condition {
    Expr(Filter),
    /// The bytes, the kind or the text on the screen contain this text, in any case.
    Text(TextFinder),
}

/// A text that is searched.
pub(super) struct TextFinder {
    finder: AhoCorasick,
    /// The text may be on the screen only.
    is_notation: bool,
}

impl Condition {
    /// Reads a condition. A text without operator that is no expression, and a text in quotes, is plain text.
    ///
    /// # Errors
    ///
    /// Fails if a text with an operator is no expression.
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        let is_quoted = text.starts_with(['"', '\'']);
        let error = match text.parse::<Expr>() {
            Ok(expr) if !is_quoted && !is_bare_path(text, &expr) => {
                let conditions = vec![expr];
                let filter = Select {
                    conditions,
                    ..Select::default()
                };
                return Ok(Self::Expr(filter.filter()));
            }
            Ok(_) => None,
            Err(error) => Some(error),
        };
        let plain = text.trim_matches(['"', '\'']);
        let finder = AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .build([plain]);
        match (finder, error) {
            (_, Some(error))
                if !is_quoted && text.contains(['=', '~', '<', '>', '!', '(', '|']) =>
            {
                Err(error)
            }
            (Ok(finder), _) => Ok(Self::Text(TextFinder {
                finder,
                is_notation: is_notation(plain),
            })),
            (Err(_), error) => Err(error.unwrap_or_else(|| {
                let at = 0..text.len();
                ParseError::new(text, at, "a shorter text")
            })),
        }
    }

    /// Returns the details that it needs of a message.
    pub fn want(&self) -> Want {
        match self {
            Self::Expr(filter) => filter.want(),
            Self::Text(_) => Want::Places,
        }
    }

    /// Returns true if it depends on other messages.
    pub fn needs_session(&self) -> bool {
        matches!(self, Self::Expr(filter) if filter.needs_session())
    }

    pub fn matches(
        &self,
        decoded: &Decoded<'_>,
        verdict: Verdict<'_>,
        scratch: &mut Vec<u8>,
    ) -> bool {
        match self {
            Self::Expr(filter) => filter.matches(decoded, Some(verdict), scratch),
            Self::Text(text) => {
                let finder = &text.finder;
                let bytes = decoded.frame.view.bytes;
                // Screens show escapes and binary values in another way.
                let is_other = || bytes.iter().any(|b| *b == b'\\' || *b < b'\t');
                let (is_notation, verdict) = (text.is_notation, Some(verdict));
                finder.is_match(bytes)
                    || finder.is_match(&shown_names(decoded, verdict))
                    || (is_notation || decoded.message.failed || is_other())
                        && finder.is_match(&shown(decoded, verdict))
            }
        }
    }
}

/// Returns true for a path without a point before it, such as `math.add`: more often it is a name that is searched.
fn is_bare_path(text: &str, expr: &Expr) -> bool {
    let Expr::Test(only) = expr else {
        return false;
    };
    let is_path = matches!(only.key, Key::Message(_)) && only.what == KeyTest::There;
    is_path && !text.starts_with('.') && !text.starts_with("message")
}

/// Returns the completions of the last word of a condition: names of keys, or values of a key that occur.
pub(super) fn complete(text: &str, shared: &Shared, reader: &mut StoreReader) -> Vec<String> {
    let start = text.rfind([' ', '(', '!']).map_or(0, |at| at + 1);
    let (before, word) = text.split_at(start);
    let Some(at) = word.find(['=', '~']) else {
        let names = Key::names().filter(|name| name.starts_with(word));
        return names.map(|name| format!("{before}{name}")).collect();
    };
    let (key, value) = word.split_at(at + 1);
    let name = key.trim_end_matches(['=', '~']);
    let values = occurring(name, shared, reader);
    let fitting = values.iter().filter(|found| found.starts_with(value));
    fitting
        .map(|found| format!("{before}{key}{found}"))
        .collect()
}

/// Returns the values of a key in the latest messages.
fn occurring(name: &str, shared: &Shared, reader: &mut StoreReader) -> BTreeSet<String> {
    let Some(key) = Key::names()
        .find(|known| *known == name)
        .and_then(|name| name.parse::<Expr>().ok())
    else {
        return BTreeSet::new();
    };
    let Expr::Test(test) = key else {
        return BTreeSet::new();
    };
    let store = shared.store();
    let count = store.entries.len();
    reader.parsed.set_want(Want::Head);
    let mut found = BTreeSet::new();
    for index in count.saturating_sub(MAX_SAMPLED)..count {
        let value = store.read(index, reader, |decoded, verdict| {
            value_of(&test.key, decoded, verdict)
        });
        found.extend(value.flatten().filter(|value| !value.is_empty()));
    }
    found
}

/// Returns the value of a key, in the form of a condition; `None` for values that nearly always differ.
fn value_of(key: &Key, decoded: &Decoded<'_>, verdict: Verdict<'_>) -> Option<String> {
    let (message, origin) = (decoded.message, decoded.origin);
    let text = match key {
        Key::Kind => message.kind.to_string(),
        Key::Subject => message.subject.as_ref()?.to_string(),
        Key::Name => message.name.as_ref()?.to_string(),
        Key::Outcome => message.failed.then_some("error")?.to_owned(),
        Key::Role => message.role?.name().to_owned(),
        Key::Dir => origin.direction?.name().to_owned(),
        Key::Conn => origin.conn?.to_string(),
        Key::Stream => origin.stream?.to_string(),
        Key::Protocol => decoded.protocol.name().to_owned(),
        Key::Framing => decoded.frame.framing.name().to_owned(),
        Key::Id => message.id.text().into_owned(),
        Key::Fault | Key::Faults => decoded.faults().next()?.1.code.to_owned(),
        Key::Who => verdict.client?.to_owned(),
        Key::Src => verdict.source?.to_owned(),
        Key::Findings => verdict.findings.first()?.name(),
        _ => return None,
    };
    let is_word = key.sort() != KeySort::Text
        || text
            .chars()
            .all(|c| c.is_alphanumeric() || "._-/:#".contains(c));
    Some(if is_word { text } else { format!("{text:?}") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operators_make_an_expression_and_other_text_is_searched() {
        let read = |text: &str| match Condition::parse(text) {
            Ok(Condition::Expr(_)) => "expression".to_owned(),
            Ok(Condition::Text(_)) => "text".to_owned(),
            Err(error) => error.to_string(),
        };
        for (text, wanted) in [
            ("kind=call", "expression"),
            ("fault", "expression"),
            ("not fault", "expression"),
            (".params.path", "expression"),
            ("\"fault\"", "text"),
            ("math.add", "text"),
            ("no such method", "text"),
        ] {
            assert_eq!(read(text), wanted, "{text}");
        }
        insta::assert_snapshot!(read("knd=call"), @"
        wanted a key, got knd
          knd=call
          ^^^ did you mean kind?
        ");
    }
}
