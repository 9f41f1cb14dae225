//! Splits a `.tq` text into tokens with positions.

use super::SchemaError;
use crate::escape::is_active;
use std::collections::HashSet;

/// A position in the text, from 1; 0 if the definition is from another text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct TextPlace {
    pub line: u32,
    pub col: u32,
}

impl TextPlace {
    pub fn error(self, wanted: impl Into<String>, got: impl Into<String>) -> SchemaError {
        SchemaError {
            line: self.line,
            col: self.col,
            wanted: wanted.into(),
            got: got.into(),
        }
    }
}

/// A name and its position.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct NameToken {
    pub text: String,
    pub place: TextPlace,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum SchemaToken {
    Word(String),
    /// The text between quotes.
    Text(String),
    Number(i64),
    Sign(&'static str),
    End,
}

impl SchemaToken {
    fn show(&self) -> String {
        match self {
            Self::Word(word) => format!("`{word}`"),
            Self::Text(text) => format!("{text:?}"),
            Self::Number(n) => n.to_string(),
            Self::Sign(sign) => format!("`{sign}`"),
            Self::End => "the end of the text".into(),
        }
    }
}

/// The signs; longer ones come first.
const SIGNS: [&str; 12] = ["->", "::", "{", "}", ";", "=", ":", "<", ">", "@", ",", "."];

/// A reader that is one token ahead.
pub(super) struct TokenReader<'a> {
    rest: &'a str,
    here: TextPlace,
    pub token: SchemaToken,
    pub place: TextPlace,
    /// The `///` comments before the token.
    pub about: String,
    /// The definitions so far, to find repeated names.
    pub types: HashSet<String>,
    pub methods: HashSet<String>,
    pub ids: HashSet<u32>,
}

impl<'a> TokenReader<'a> {
    pub fn new(text: &'a str) -> Result<Self, SchemaError> {
        let start = TextPlace { line: 1, col: 1 };
        let mut reader = Self {
            rest: text.strip_prefix('\u{feff}').unwrap_or(text),
            here: start,
            token: SchemaToken::End,
            place: start,
            about: String::new(),
            types: HashSet::new(),
            methods: HashSet::new(),
            ids: HashSet::new(),
        };
        reader.advance()?;
        Ok(reader)
    }

    /// Skips `len` bytes, which end on a character boundary.
    fn skip(&mut self, len: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at_checked(len).unwrap_or((self.rest, ""));
        for c in taken.chars() {
            if c == '\n' {
                self.here = TextPlace {
                    line: self.here.line + 1,
                    col: 1,
                };
            } else {
                self.here.col += 1;
            }
        }
        self.rest = rest;
        taken
    }

    fn space(&mut self) -> Result<(), SchemaError> {
        loop {
            let blank = self.rest.len() - self.rest.trim_start().len();
            self.skip(blank);
            if self.rest.starts_with("//") {
                let place = self.here;
                let end = self.rest.find('\n').unwrap_or(self.rest.len());
                let comment = self.skip(end);
                if let Some(about) = comment.strip_prefix("///") {
                    let about = shown(about.trim_end_matches('\r'), place)?;
                    let gap = if self.about.is_empty() { "" } else { " " };
                    self.about.extend([gap, about.trim()]);
                }
            } else if self.rest.starts_with("/*") {
                let place = self.here;
                let Some(end) = self.rest.find("*/") else {
                    return Err(place.error("`*/` after `/*`", "the end of the text"));
                };
                self.skip(end + 2);
            } else {
                return Ok(());
            }
        }
    }

    /// Reads the next token. Returns the one before it.
    pub fn advance(&mut self) -> Result<(SchemaToken, TextPlace), SchemaError> {
        self.about.clear();
        self.space()?;
        let place = self.here;
        let run = |text: &str| {
            text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_')
                .unwrap_or(text.len())
        };
        let digits = self.rest.strip_prefix('-').unwrap_or(self.rest);
        let token = if digits.starts_with(|c: char| c.is_ascii_digit()) {
            let len = self.rest.len() - digits.len() + run(digits);
            let spelled = self.skip(len);
            SchemaToken::Number(number(spelled).ok_or_else(|| {
                place.error("a number, decimal or 0x and hex", format!("`{spelled}`"))
            })?)
        } else if run(self.rest) > 0 {
            SchemaToken::Word(self.skip(run(self.rest)).to_owned())
        } else if let Some(quoted) = self.rest.strip_prefix('"') {
            let len = quoted.find(['"', '\n']);
            let len = len.filter(|len| quoted.get(*len..).is_some_and(|q| q.starts_with('"')));
            let len =
                len.ok_or_else(|| place.error("`\"` at the end of the text in quotes", "none"))?;
            let text = self.skip(len + 2).trim_matches('"');
            SchemaToken::Text(shown(text, place)?.to_owned())
        } else if let Some(mark) = SIGNS.into_iter().find(|m| self.rest.starts_with(m)) {
            self.skip(mark.len());
            SchemaToken::Sign(mark)
        } else if let Some(c) = self.rest.chars().next() {
            return Err(place.error("a name, a number or punctuation", format!("{c:?}")));
        } else {
            SchemaToken::End
        };
        let before = std::mem::replace(&mut self.token, token);
        Ok((before, std::mem::replace(&mut self.place, place)))
    }

    pub fn unexpected(&self, wanted: impl Into<String>) -> SchemaError {
        self.place.error(wanted, self.token.show())
    }

    pub fn word(&mut self, wanted: &str) -> Result<NameToken, SchemaError> {
        if !matches!(self.token, SchemaToken::Word(_)) {
            return Err(self.unexpected(wanted));
        }
        match self.advance()? {
            (SchemaToken::Word(text), place) => Ok(NameToken { text, place }),
            (_, place) => Err(place.error(wanted, "something else")),
        }
    }

    /// Reads an integer that fits in `T`.
    pub fn int<T: TryFrom<i64>>(&mut self, wanted: &str) -> Result<T, SchemaError> {
        let SchemaToken::Number(n) = self.token else {
            return Err(self.unexpected(wanted));
        };
        let value = T::try_from(n).map_err(|_| self.unexpected(wanted))?;
        self.advance()?;
        Ok(value)
    }

    pub fn is(&self, mark: &str) -> bool {
        self.token == SchemaToken::Sign(SIGNS.into_iter().find(|m| *m == mark).unwrap_or(""))
    }

    pub fn take(&mut self, mark: &str) -> Result<bool, SchemaError> {
        let there = self.is(mark);
        if there {
            self.advance()?;
        }
        Ok(there)
    }

    pub fn expect(&mut self, mark: &str) -> Result<(), SchemaError> {
        if self.take(mark)? {
            return Ok(());
        }
        Err(self.unexpected(format!("`{mark}`")))
    }
}

/// Refuses text for output that could affect a terminal.
fn shown(text: &str, place: TextPlace) -> Result<&str, SchemaError> {
    match text.chars().find(|c| is_active(*c) && *c != '\t') {
        Some(c) => Err(place.error("text without control characters", format!("{c:?}"))),
        None => Ok(text),
    }
}

fn number(spelled: &str) -> Option<i64> {
    match spelled.strip_prefix("0x").or(spelled.strip_prefix("0X")) {
        Some(hex) => i64::from_str_radix(hex, 16).ok(),
        None => spelled.parse().ok(),
    }
}
