//! Notes on the values of a message, and the values that are secret.

use crate::framing::fields::{HeaderSecret, without};
use crate::tape::Node;
use std::borrow::Cow;
use std::ops::Range;

/// The text that is shown instead of a secret.
pub(crate) const HIDDEN: &str = "(secret)";

/// A remark on a value, which output shows beside it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Remark {
    /// Text: the name of a number, the text in a felt.
    Text(Cow<'static, str>),
    /// The value is a time: milliseconds since 1970.
    Time(i64),
}

/// Notes on the values of one message. Reuse one object for a whole run.
#[derive(Debug, Default)]
pub struct Notes {
    /// Remarks by the index of their value in the tape.
    remarks: Vec<(usize, Remark)>,
    /// Index ranges of secret values and of all values below them. After [`annotate()`] they are sorted and do not
    /// overlap.
    secrets: Vec<Range<usize>>,
    /// Indexes of text that holds JSON with a secret.
    pub(super) texts: Vec<usize>,
    /// Indexes of text with secret parts, and these parts.
    pub(super) parts: Vec<(usize, Vec<HeaderSecret>)>,
    /// Nobody reads the remarks.
    only_secrets: bool,
}

impl Notes {
    /// Notes on which values are secret, without remarks.
    pub(crate) fn of_secrets() -> Self {
        Self {
            only_secrets: true,
            ..Self::default()
        }
    }

    /// Returns `false` if remarks are not read, so that they need not be written.
    pub(crate) fn has_remarks(&self) -> bool {
        !self.only_secrets
    }

    /// Removes all notes.
    pub fn clear(&mut self) {
        self.remarks.clear();
        self.secrets.clear();
        self.texts.clear();
        self.parts.clear();
    }

    /// Adds text on a value.
    pub fn remark(&mut self, node: Node<'_>, text: impl Into<Cow<'static, str>>) {
        self.add(node, Remark::Text(text.into()));
    }

    /// Notes that a value is a time, in milliseconds since 1970.
    pub fn remark_time(&mut self, node: Node<'_>, ms: i64) {
        self.add(node, Remark::Time(ms));
    }

    fn add(&mut self, node: Node<'_>, remark: Remark) {
        if self.only_secrets {
            return;
        }
        let index = node.index();
        let at = self.remarks.partition_point(|(i, _)| *i <= index);
        self.remarks.insert(at, (index, remark));
    }

    /// Marks a value of any type as secret, with all values below it.
    pub fn secret(&mut self, node: Node<'_>) {
        let empty = || node.raw_content().is_some_and(<[u8]>::is_empty);
        if !node.is_null() && node.as_bool().is_none() && !empty() {
            self.secrets.push(node.index()..node.end());
        }
    }

    pub(super) fn sort_and_merge(&mut self) {
        self.secrets.sort_unstable_by_key(|s| s.start);
        self.secrets.dedup_by(|next, before| {
            let joins = next.start < before.end;
            if joins {
                before.end = before.end.max(next.end);
            }
            joins
        });
        self.parts.sort_by_key(|(index, _)| *index);
    }

    /// Returns the remarks on a value.
    pub fn remarks(&self, node: Node<'_>) -> impl Iterator<Item = &Remark> {
        let index = node.index();
        let first = self.remarks.partition_point(|(i, _)| *i < index);
        let remarks = self.remarks.get(first..).unwrap_or_default().iter();
        remarks
            .take_while(move |(i, _)| *i == index)
            .map(|(_, remark)| remark)
    }

    /// Returns true if a value must not be shown: it is secret, or it is text that holds JSON with a secret.
    pub fn is_secret(&self, node: Node<'_>) -> bool {
        self.is_wholly_secret(node) || self.texts.binary_search(&node.index()).is_ok()
    }

    /// Returns true if a value must not be shown, or a part of it.
    pub(crate) fn hides(&self, node: Node<'_>) -> bool {
        self.is_secret(node) || !self.secret_parts(node).is_empty()
    }

    /// Returns true if a value is wholly secret, or part of a secret value.
    pub(crate) fn is_wholly_secret(&self, node: Node<'_>) -> bool {
        let index = node.index();
        let next = self.secrets.partition_point(|s| s.start <= index);
        let last = next.checked_sub(1).and_then(|at| self.secrets.get(at));
        last.is_some_and(|s| s.contains(&index))
    }

    /// Returns the secret parts of a text that may be shown otherwise.
    pub(crate) fn secret_parts(&self, node: Node<'_>) -> &[HeaderSecret] {
        let index = node.index();
        let at = self.parts.binary_search_by_key(&index, |(i, _)| *i);
        let found = at.ok().and_then(|at| self.parts.get(at));
        found.map_or(&[], |(_, parts)| parts)
    }

    /// Returns a text without its secret parts; `None` if it has none.
    pub(crate) fn masked(&self, node: Node<'_>) -> Option<String> {
        let parts = Some(self.secret_parts(node)).filter(|parts| !parts.is_empty())?;
        Some(match node.text() {
            Some(text) => without(&text, parts).into_owned(),
            None => HIDDEN.into(),
        })
    }

    /// Returns the number of values that are not shown, as a whole or in part. A container counts once.
    pub(crate) fn hidden_values(&self) -> usize {
        self.secrets.len() + self.texts.len() + self.parts.len()
    }
}

/// Replaces a secret in a text about a message, even if the text holds only its start. A secret that is a word is
/// replaced only in quotes, where values of the message are: the same word outside belongs to the sentence.
pub fn hide(secret: &str, text: &mut String) {
    let cut = secret.char_indices().nth(16);
    let end = cut.map_or(secret.len(), |(at, _)| at);
    let Some(first) = secret.get(..end).filter(|first| first.len() >= 4) else {
        return;
    };
    let is_word = secret.bytes().all(|b| b.is_ascii_lowercase());
    let mut from = 0;
    while let Some(found) = text.get(from..).and_then(|rest| rest.find(first)) {
        let at = from + found;
        let before = text.get(..at).unwrap_or_default();
        let in_quotes = |quote: char| before.matches(quote).count() % 2 == 1;
        if is_word && !in_quotes('"') && !in_quotes('`') {
            from = at + first.len();
            continue;
        }
        let rest = text.get(at..).unwrap_or_default();
        let same = rest.char_indices().zip(secret.chars());
        let same = same.take_while(|((_, a), b)| a == b);
        let len = same.last().map_or(0, |((at, c), _)| at + c.len_utf8());
        text.replace_range(at..at + len, HIDDEN);
        from = at + HIDDEN.len();
    }
}

#[cfg(test)]
mod tests {
    use super::hide;

    #[test]
    fn only_values_are_hidden_in_a_sentence() {
        for (secret, text, want) in [
            (
                "Zx81abcd",
                "wanted a list, got Zx81abcd",
                "wanted a list, got (secret)",
            ),
            (
                "list",
                "wanted a list, got \"list\"",
                "wanted a list, got \"(secret)\"",
            ),
            (
                "list",
                "wanted a list, got `my list`, a list",
                "wanted a list, got `my (secret)`, a list",
            ),
            ("secret", "the secret \"secret\"", "the secret \"(secret)\""),
            (
                "Zx81Zx81Zx81Zx81Zx81",
                "it is Zx81Zx81Zx81Zx81…",
                "it is (secret)…",
            ),
            ("abc", "abc", "abc"),
        ] {
            let mut shown = text.to_owned();
            hide(secret, &mut shown);
            assert_eq!(shown, want, "{secret}");
        }
    }
}
