//! The words of a `.tq` text, each with its place.

use super::SchemaError;
use crate::escape::is_active;
use std::collections::HashSet;

/// A place in the text, both from 1; 0 where the definition came with another text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Place {
    pub line: u32,
    pub col: u32,
}

impl Place {
    pub fn error(self, wanted: impl Into<String>, got: impl Into<String>) -> SchemaError {
        SchemaError {
            line: self.line,
            col: self.col,
            wanted: wanted.into(),
            got: got.into(),
        }
    }
}

/// A name and where it stands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Name {
    pub text: String,
    pub place: Place,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    Word(String),
    /// What stands between quotes.
    Text(String),
    Number(i64),
    Sign(&'static str),
    End,
}

impl Token {
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

/// What separates and joins; longer ones first.
const SIGNS: [&str; 12] = ["->", "::", "{", "}", ";", "=", ":", "<", ">", "@", ",", "."];

/// One token ahead of the text.
pub(super) struct Reader<'a> {
    rest: &'a str,
    here: Place,
    pub token: Token,
    pub place: Place,
    /// The comments `///` before the token.
    pub about: String,
    /// What is defined so far, to find a name that comes twice.
    pub types: HashSet<String>,
    pub methods: HashSet<String>,
    pub ids: HashSet<u32>,
}

impl<'a> Reader<'a> {
    pub fn new(text: &'a str) -> Result<Self, SchemaError> {
        let start = Place { line: 1, col: 1 };
        let mut reader = Self {
            rest: text.strip_prefix('\u{feff}').unwrap_or(text),
            here: start,
            token: Token::End,
            place: start,
            about: String::new(),
            types: HashSet::new(),
            methods: HashSet::new(),
            ids: HashSet::new(),
        };
        reader.advance()?;
        Ok(reader)
    }

    /// Passes over `len` bytes, which end on a character.
    fn pass(&mut self, len: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at_checked(len).unwrap_or((self.rest, ""));
        for c in taken.chars() {
            if c == '\n' {
                self.here = Place {
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
            self.pass(blank);
            if self.rest.starts_with("//") {
                let place = self.here;
                let end = self.rest.find('\n').unwrap_or(self.rest.len());
                let comment = self.pass(end);
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
                self.pass(end + 2);
            } else {
                return Ok(());
            }
        }
    }

    /// Reads the next token and gives the one that was ahead.
    pub fn advance(&mut self) -> Result<(Token, Place), SchemaError> {
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
            let spelled = self.pass(len);
            Token::Number(number(spelled).ok_or_else(|| {
                place.error("a number, decimal or 0x and hex", format!("`{spelled}`"))
            })?)
        } else if run(self.rest) > 0 {
            Token::Word(self.pass(run(self.rest)).to_owned())
        } else if let Some(quoted) = self.rest.strip_prefix('"') {
            let len = quoted.find(['"', '\n']);
            let len = len.filter(|len| quoted.get(*len..).is_some_and(|q| q.starts_with('"')));
            let len =
                len.ok_or_else(|| place.error("`\"` at the end of the text in quotes", "none"))?;
            let text = self.pass(len + 2).trim_matches('"');
            Token::Text(shown(text, place)?.to_owned())
        } else if let Some(mark) = SIGNS.into_iter().find(|m| self.rest.starts_with(m)) {
            self.pass(mark.len());
            Token::Sign(mark)
        } else if let Some(c) = self.rest.chars().next() {
            return Err(place.error("a name, a number or punctuation", format!("{c:?}")));
        } else {
            Token::End
        };
        let before = std::mem::replace(&mut self.token, token);
        Ok((before, std::mem::replace(&mut self.place, place)))
    }

    pub fn unexpected(&self, wanted: impl Into<String>) -> SchemaError {
        self.place.error(wanted, self.token.show())
    }

    pub fn word(&mut self, wanted: &str) -> Result<Name, SchemaError> {
        if !matches!(self.token, Token::Word(_)) {
            return Err(self.unexpected(wanted));
        }
        match self.advance()? {
            (Token::Word(text), place) => Ok(Name { text, place }),
            (_, place) => Err(place.error(wanted, "something else")),
        }
    }

    /// A whole number that `T` can hold.
    pub fn int<T: TryFrom<i64>>(&mut self, wanted: &str) -> Result<T, SchemaError> {
        let Token::Number(n) = self.token else {
            return Err(self.unexpected(wanted));
        };
        let value = T::try_from(n).map_err(|_| self.unexpected(wanted))?;
        self.advance()?;
        Ok(value)
    }

    pub fn is(&self, mark: &str) -> bool {
        self.token == Token::Sign(SIGNS.into_iter().find(|m| *m == mark).unwrap_or(""))
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

/// Text that is shown to people: refused where it could do something to their terminal.
fn shown(text: &str, place: Place) -> Result<&str, SchemaError> {
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
