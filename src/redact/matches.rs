//! Finds what the patterns of the user match, and replaces it where it stands.

use super::Redactor;
use super::nested::Nested;
use crate::tape::Node;
use std::ops::Range;

impl Redactor<'_, '_> {
    /// Stores the matches of the patterns of the user in a text.
    pub(super) fn search(&mut self, text: &str) {
        let config = self.config;
        for pattern in &config.values {
            for found in pattern.find_iter(text) {
                self.add_text(found.as_str());
                self.open_names.chosen.insert(found.as_str().to_owned());
            }
        }
    }

    /// Stores the matches in the texts between other bytes. Returns them: offset, old bytes, and replacement.
    pub(super) fn search_bytes(&mut self, bytes: &[u8]) -> Vec<(usize, Vec<u8>, Vec<u8>)> {
        let (mut found, mut start) = (Vec::new(), 0);
        for chunk in bytes.utf8_chunks() {
            let text = chunk.valid();
            self.search(text);
            for range in self.matches(text) {
                let old = text.get(range.clone()).unwrap_or_default();
                let new = self.replacer.replace_text(old).into_bytes();
                found.push((start + range.start, old.as_bytes().to_vec(), new));
            }
            start += text.len() + chunk.invalid().len();
        }
        found
    }

    /// Returns the ranges of a text that match the patterns of the user.
    fn matches(&self, text: &str) -> Vec<Range<usize>> {
        let patterns = self.config.values.iter();
        let found = patterns.flat_map(|pattern| pattern.find_iter(text).map(|found| found.range()));
        found.filter(|range| !range.is_empty()).collect()
    }

    /// Also replaces what the patterns of the user match in a text, however short it is.
    pub(super) fn with_matches(&self, node: Node<'_>, nested: Option<Nested>) -> Option<Nested> {
        if self.config.values.is_empty() {
            return nested;
        }
        let Some(text) = node.text() else {
            return nested;
        };
        let ranges = self.matches(&text);
        if ranges.is_empty() {
            return nested;
        }
        let mut nested = nested.unwrap_or_else(|| Nested {
            text: text.clone().into_owned(),
            texts: Vec::new(),
            escaped: Vec::new(),
        });
        for range in ranges {
            let old = text.get(range.clone()).unwrap_or_default();
            // Lengths stay, so the ranges are those of the original text.
            if nested.text.is_char_boundary(range.start) && nested.text.is_char_boundary(range.end)
            {
                let new = self.replacer.replace_text(old);
                nested.text.replace_range(range, &new);
            }
        }
        Some(nested)
    }
}
