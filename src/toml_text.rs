//! TOML that people write: its values with their places, and errors that show them.

use crate::words::nearest;
use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The key of an entry.
pub(crate) type Key<'t> = Spanned<Cow<'t, str>>;
/// The value of an entry, or an item of a list.
pub(crate) type Item<'t> = Spanned<DeValue<'t>>;

/// A text in TOML, with the name of its file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TomlText<'t> {
    pub name: &'t str,
    pub text: &'t str,
}

/// The maximum length of the shown line, in characters.
const MAX_SHOWN: usize = 100;

/// An error in a text, with its place.
#[derive(Clone, Debug)]
pub(crate) struct TomlError {
    pub name: String,
    /// The line and the column of the wrong part, counted from 1; columns are characters.
    pub line: usize,
    pub column: usize,
    /// The line, and the number of characters of the wrong part.
    shown: (String, usize),
    pub text: String,
}

impl fmt::Display for TomlError {
    /// `my.toml:3:1: unknown key resutl: did you mean result?`, the line, and a caret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (line, wide) = &self.shown;
        writeln!(
            f,
            "{}:{}:{}: {}",
            self.name, self.line, self.column, self.text
        )?;
        writeln!(f, "  {line}")?;
        let before = self.column.saturating_sub(1).min(MAX_SHOWN);
        let wide = (*wide).min(MAX_SHOWN - before).max(1);
        write!(f, "  {}{}", " ".repeat(before), "^".repeat(wide))
    }
}

impl std::error::Error for TomlError {}

impl TomlError {
    /// Returns the error in one line, with the file and the line: `wiretool.toml:3: unknown key resutl`.
    pub fn one_line(&self) -> String {
        format!("{}:{}: {}", self.name, self.line, self.text)
    }
}

/// Entries in the order of the text.
pub(crate) type Entries<'i, 't> = Vec<(&'i Key<'t>, &'i Item<'t>)>;

/// Returns the value of a key.
pub(crate) fn get<'i, 't>(entries: &Entries<'i, 't>, key: &str) -> Option<&'i Item<'t>> {
    let found = entries.iter().find(|(name, _)| name.get_ref() == key);
    found.map(|(_, item)| *item)
}

/// Returns the entries in the order of the text.
pub(crate) fn in_order<'i, 't>(table: &'i DeTable<'t>) -> Entries<'i, 't> {
    let mut entries: Vec<_> = table.iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    entries
}

impl<'t> TomlText<'t> {
    /// Parses the text.
    pub fn parse(&self) -> Result<DeTable<'t>, TomlError> {
        match DeTable::parse(self.text) {
            Ok(table) => Ok(table.into_inner()),
            Err(error) => {
                let span = error.span().unwrap_or_default();
                Err(self.error(&span, error.message()))
            }
        }
    }

    /// Returns the line of a part of the text, counted from 1.
    pub fn line(&self, span: &Range<usize>) -> usize {
        let before = self.text.get(..span.start).unwrap_or_default();
        before.matches('\n').count() + 1
    }

    /// Returns an error about a part of the text.
    pub fn error(&self, span: &Range<usize>, text: impl Into<String>) -> TomlError {
        let before = self.text.get(..span.start).unwrap_or_default();
        let start = before.rfind('\n').map_or(0, |at| at + 1);
        let line = self.text.get(start..).unwrap_or_default();
        let line = line.lines().next().unwrap_or_default();
        let part = self.text.get(span.clone()).unwrap_or_default();
        let part = part.lines().next().unwrap_or_default();
        TomlError {
            name: self.name.to_owned(),
            line: self.line(span),
            column: before.get(start..).unwrap_or_default().chars().count() + 1,
            shown: (line.chars().take(MAX_SHOWN).collect(), part.chars().count()),
            text: text.into(),
        }
    }

    /// Returns the error `delay: wanted a time such as 100ms, got true`.
    pub fn wrong_value(&self, key: &str, item: &Item<'_>, wanted: &str) -> TomlError {
        /// Longer values are cut.
        const SHOWN: usize = 60;
        let got = self.text.get(item.span()).unwrap_or_default();
        let got: String = got.chars().take(SHOWN).collect();
        let got = got.lines().next().unwrap_or_default();
        self.error(&item.span(), format!("{key}: wanted {wanted}, got {got}"))
    }

    /// Returns the error `unknown key resutl: did you mean result?`.
    pub fn unknown_key(&self, key: &Key<'_>, names: &[&str]) -> TomlError {
        let word: &str = key.get_ref();
        let hint = match nearest(word, names.iter().copied()) {
            Some(near) => format!("did you mean {near}?"),
            None => format!("there are {}", names.join(", ")),
        };
        self.error(&key.span(), format!("unknown key {word}: {hint}"))
    }

    pub fn string<'i>(&self, key: &str, item: &'i Item<'_>) -> Result<&'i str, TomlError> {
        let text = item.get_ref().as_str();
        text.ok_or_else(|| self.wrong_value(key, item, "text"))
    }

    pub fn bool(&self, key: &str, item: &Item<'_>) -> Result<bool, TomlError> {
        let value = item.get_ref().as_bool();
        value.ok_or_else(|| self.wrong_value(key, item, "true or false"))
    }

    /// Returns the items of a list; `wanted` describes it.
    pub fn list<'i, 'v>(
        &self,
        key: &str,
        item: &'i Item<'v>,
        wanted: &str,
    ) -> Result<Vec<&'i Item<'v>>, TomlError> {
        let list = item.get_ref().as_array();
        let list = list.ok_or_else(|| self.wrong_value(key, item, wanted))?;
        Ok(list.iter().collect())
    }

    /// Returns the texts of a list; `wanted` describes it.
    pub fn strings(
        &self,
        key: &str,
        item: &Item<'_>,
        wanted: &str,
    ) -> Result<Vec<String>, TomlError> {
        let items = self.list(key, item, wanted)?.into_iter();
        let text = |item: &Item<'_>| match item.get_ref().as_str() {
            Some(text) => Ok(text.to_owned()),
            None => Err(self.wrong_value(key, item, wanted)),
        };
        items.map(text).collect()
    }

    /// Returns the entries of a table, in the order of the text.
    pub fn entries<'i, 'v>(
        &self,
        key: &str,
        item: &'i Item<'v>,
    ) -> Result<Entries<'i, 'v>, TomlError> {
        let table = item.get_ref().as_table();
        let table = table.ok_or_else(|| self.wrong_value(key, item, "a table"))?;
        Ok(in_order(table))
    }
}
