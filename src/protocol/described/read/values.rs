//! Reads conditions, paths and words.

use super::super::description::Word;
use super::Reader;
use crate::path::{Path, PathStep};
use crate::select::{Expr, Key, KeyTest, ParseError, TextPattern};
use crate::toml_text::{Entries, Item, get};
use std::ops::Range;

/// The maximum number of regular expressions: each may take memory of its own.
pub(super) const MAX_PATTERNS: usize = 16;
/// The maximum number of steps of a path.
const MAX_STEPS: usize = 16;
/// The maximum number of elements before one that a path names: messages are made with all of them.
const MAX_ELEMENT: usize = 255;

impl<'t> Reader<'t> {
    /// Returns the place of a part of a text: exact if the text is written without escapes.
    fn part(&self, item: &Item<'t>, text: &str, at: &Range<usize>) -> Range<usize> {
        let span = item.span();
        let written = self.toml.text.get(span.clone()).unwrap_or_default();
        let start = written.find(text).filter(|_| !text.is_empty());
        start.map_or(span.clone(), |start| {
            let start = span.start + start;
            start + at.start..start + at.end.max(at.start)
        })
    }

    pub(super) fn condition(&mut self, entries: &Entries<'_, 't>, key: &str) -> Option<Expr> {
        let item = get(entries, key)?;
        let text = self.toml.string(key, item).map(str::to_owned);
        let text = self.keep(text)?;
        let expr: Expr = match text.parse() {
            Ok(expr) => expr,
            Err(error) => {
                let error: ParseError = error;
                let at = self.part(item, &text, &error.at);
                let hint = error
                    .hint
                    .map(|hint| format!(" ({hint})"))
                    .unwrap_or_default();
                self.error(&at, format!("{key}: wanted {}{hint}", error.wanted));
                return None;
            }
        };
        let mut wrong = None;
        let mut patterns = 0;
        expr.each_test(&mut |test| {
            match &test.key {
                Key::Dir => {}
                Key::Message(path) if is_short(path) => {}
                key => wrong = Some(key.to_string()),
            }
            if let KeyTest::Like(list) = &test.what {
                let is_regex = |one: &&TextPattern| matches!(one, TextPattern::Regex(_));
                patterns += list.iter().filter(is_regex).count();
            }
        });
        self.patterns += patterns;
        if self.patterns > MAX_PATTERNS && patterns > 0 {
            let wanted = format!("{key}: wanted at most {MAX_PATTERNS} regular expressions in all");
            self.error(&item.span(), wanted);
        }
        if let Some(wrong) = wrong {
            let at = text.find(&wrong).unwrap_or_default();
            let at = self.part(item, &text, &(at..at + wrong.len()));
            let wanted = "paths of the message, such as .type, of at most 16 steps, or dir";
            let got: String = wrong.chars().take(60).collect();
            self.error(&at, format!("{key}: wanted {wanted}, got {got}"));
            return None;
        }
        Some(expr)
    }

    /// Reads a text, or a path that starts with a dot.
    pub(super) fn word(&mut self, entries: &Entries<'_, 't>, key: &str) -> Option<Word> {
        let item = get(entries, key)?;
        let text = self.toml.string(key, item).map(str::to_owned);
        let text = self.keep(text)?;
        if text.starts_with('.') {
            return self.path_of(key, item, &text).map(Word::At);
        }
        if text.is_empty() || text.chars().any(char::is_control) {
            return self.wrong(key, item, "a text, or a path such as .type");
        }
        Some(Word::Text(text))
    }

    pub(super) fn path(&mut self, entries: &Entries<'_, 't>, key: &str) -> Option<Path> {
        let item = get(entries, key)?;
        match item.get_ref().as_str().map(str::to_owned) {
            Some(text) if text.starts_with('.') => self.path_of(key, item, &text),
            _ => self.wrong(
                key,
                item,
                "a path that starts with a dot, such as .id or .[1]",
            ),
        }
    }

    fn path_of(&mut self, key: &str, item: &Item<'t>, text: &str) -> Option<Path> {
        match text.parse::<Path>() {
            Ok(path) if is_short(&path) => Some(path),
            Ok(_) => {
                let wanted = format!(
                    "a path of at most {MAX_STEPS} steps and elements up to [{MAX_ELEMENT}]"
                );
                self.wrong(key, item, &wanted)
            }
            Err(error) => {
                let at = self.part(item, text, &error.at);
                self.error(&at, format!("{key}: wanted {}", error.wanted));
                None
            }
        }
    }
}

fn is_short(path: &Path) -> bool {
    let is_near = |step: &PathStep| match step {
        PathStep::Element(n) => *n <= MAX_ELEMENT,
        PathStep::Member(_) => true,
    };
    path.len() <= MAX_STEPS && path.iter().all(is_near)
}
