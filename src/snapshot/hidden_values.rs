//! Finds hidden values in other places: in titles, and in the texts of findings.
//!
//! ```text
//!   "id":"01a1fb66-…", hidden    ->  the request with the id [volatile] was answered before, by #4
//! ```

use super::VOLATILE;
use crate::path::{Path, PathStep};
use crate::protocol::uuid_text;
use crate::render::fields::brief;
use crate::tape::{Node, Scalar, Value};
use std::collections::BTreeSet;

/// The minimum length in characters of a value that is unique; a shorter one is searched only in
/// texts about its message.
const MIN_UNIQUE: usize = 8;
/// Longer values, in bytes, occur in no text.
const MAX_VALUE: usize = 256;
/// The maximum number of bytes of stored values; a readable rendering hides far fewer.
const MAX_BYTES: usize = 64 << 20;

/// The hidden values of the messages so far.
#[derive(Default)]
pub(super) struct HiddenValues {
    long: BTreeSet<String>,
    short: BTreeSet<(u64, String)>,
    bytes: usize,
}

impl HiddenValues {
    /// Stores a message's hidden values.
    pub fn store(&mut self, index: u64, values: Vec<String>) {
        for value in values {
            if value.is_empty() || value.len() > MAX_VALUE || self.bytes > MAX_BYTES {
                continue;
            }
            self.bytes += value.len();
            if value.chars().nth(MIN_UNIQUE - 1).is_some() {
                self.long.insert(value);
            } else {
                self.short.insert((index, value));
            }
        }
    }

    /// Returns a text about some messages, and those that it mentions as `#3`, with their hidden
    /// values replaced.
    pub fn mask(&self, text: &str, about: &[u64]) -> String {
        let mut about = about.to_vec();
        let mentioned = text.split('#').skip(1).filter_map(|rest| {
            let end = rest.find(|c: char| !c.is_ascii_digit());
            rest.get(..end.unwrap_or(rest.len()))?.parse::<u64>().ok()
        });
        about.extend(mentioned);
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            let quoted = rest.strip_prefix('"').and_then(|inner| inner.find('"'));
            let inner = quoted.and_then(|end| rest.get(1..=end));
            if let (Some(inner), Some(end)) = (inner, quoted)
                && self.contains(inner, &about)
            {
                out.push_str(VOLATILE);
                rest = rest.get(end + 2..).unwrap_or_default();
                continue;
            }
            let end = rest.find(|c| !is_of_word(c)).unwrap_or(rest.len());
            let word = rest.get(..end).unwrap_or_default();
            // Punctuation of the text can follow it.
            let word = word.trim_end_matches(['.', ':', '/', '-']);
            // A long value is cut off.
            let after = rest.get(word.len()..).unwrap_or_default();
            let cut = if after.starts_with('…') {
                '…'.len_utf8()
            } else {
                0
            };
            let whole = rest.get(..word.len() + cut).unwrap_or_default();
            if word.is_empty() {
                out.push(first);
                rest = rest.get(first.len_utf8()..).unwrap_or_default();
                continue;
            }
            let is_index = out.ends_with('#');
            out.push_str(if !is_index && self.contains(whole, &about) {
                VOLATILE
            } else {
                whole
            });
            rest = rest.get(whole.len()..).unwrap_or_default();
        }
        out
    }

    /// Returns `true` for a hidden value, or the start of one.
    fn contains(&self, text: &str, about: &[u64]) -> bool {
        if let Some(start) = text.strip_suffix('…') {
            let mut from = self.long.range(start.to_owned()..);
            return !start.is_empty() && from.next().is_some_and(|value| value.starts_with(start));
        }
        let near = |index: &u64| self.short.contains(&(*index, text.to_owned()));
        self.long.contains(text) || about.iter().any(near)
    }
}

fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | ':' | '/')
}

/// Returns the texts of all hidden values of a message.
pub(super) fn values_of(root: Node<'_>, hidden: &dyn Fn(&Path) -> bool) -> Vec<String> {
    let mut values = Vec::new();
    each_hidden(root, &mut Path::new(), hidden, &mut |node| {
        // Keys are not values.
        let mut waiting = vec![node];
        while let Some(node) = waiting.pop() {
            match node.value() {
                Value::Map => waiting.extend(node.members().map(|(_, value)| value)),
                Value::Array => waiting.extend(node.children()),
                Value::Scalar(Scalar::Bin(bytes)) => {
                    if let Ok(uuid) = bytes.try_into() {
                        let text = uuid_text(uuid);
                        values.push(String::from_utf8_lossy(&text).into_owned());
                    }
                    values.push(::hex::encode(bytes.get(..MAX_VALUE).unwrap_or(bytes)));
                }
                _ => values.push(node.text().map_or_else(|| brief(node), String::from)),
            }
        }
    });
    values
}

/// Visits the outermost hidden values.
pub(super) fn each_hidden<'a>(
    node: Node<'a>,
    path: &mut Path,
    hidden: &dyn Fn(&Path) -> bool,
    visit: &mut dyn FnMut(Node<'a>),
) {
    if hidden(path) {
        visit(node);
        return;
    }
    if node.is_map() {
        for (key, value) in node.members() {
            let name = key.text().unwrap_or_default().into_owned();
            path.push(PathStep::Member(name));
            each_hidden(value, path, hidden, visit);
            path.pop();
        }
    } else if node.is_array() {
        for (n, item) in node.children().enumerate() {
            path.push(PathStep::Element(n));
            each_hidden(item, path, hidden, visit);
            path.pop();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_values_are_masked_in_texts() {
        let mut values = HiddenValues::default();
        let texts = |texts: &[&str]| texts.iter().map(|&t| t.to_owned()).collect();
        let id = "01a1fb66-cde3-7e01-933b-059544e00002";
        values.store(3, texts(&[id, "7", "math.add", ""]));
        values.store(4, texts(&["8", "a"]));
        for (text, want) in [
            (
                "request f (\"01a1fb66-cde3-7e01-933b-059544e00002\") is never answered",
                "request f ([volatile]) is never answered",
            ),
            (
                "01a1fb66-cde3-7e01-933b-059544e00002: it, and \"01a1fb66-cde…\" 01a1fb66-c….",
                "[volatile]: it, and [volatile] [volatile].",
            ),
            ("math.add, not math.add.two", "[volatile], not math.add.two"),
            // For other messages, a short value is not replaced.
            ("id is 7, 8 felts", "id is [volatile], 8 felts"),
            ("id 8 after #4: \"a\"", "id [volatile] after #4: [volatile]"),
            ("id 7 took 7.5 ms, #7", "id [volatile] took 7.5 ms, #7"),
            ("\"open and … ü", "\"open and … ü"),
            ("", ""),
        ] {
            assert_eq!(values.mask(text, &[3]), want);
        }
        assert_eq!(values.mask("7 and 8", &[]), "7 and 8");
    }
}
