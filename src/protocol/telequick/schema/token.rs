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
    /// Reads a token from its spelling.
    fn of(text: &str, place: TextPlace) -> Result<Self, SchemaError> {
        let is_number = |text: &str| text.starts_with(|c: char| c.is_ascii_digit());
        if let Some(quoted) = text.strip_prefix('"') {
            let quoted = quoted.strip_suffix('"');
            let quoted = quoted
                .ok_or_else(|| place.error("`\"` at the end of the text in quotes", "none"))?;
            Ok(Self::Text(shown(quoted, place)?.to_owned()))
        } else if let Some(sign) = SIGNS.into_iter().find(|sign| *sign == text) {
            Ok(Self::Sign(sign))
        } else if is_number(text.strip_prefix('-').unwrap_or(text)) {
            let wanted = "a number, decimal or 0x and hex";
            let number = number(text).ok_or_else(|| place.error(wanted, format!("`{text}`")));
            Ok(Self::Number(number?))
        } else if text.starts_with(is_word) {
            Ok(Self::Word(text.to_owned()))
        } else {
            let got = text.chars().next().unwrap_or_default();
            Err(place.error("a name, a number or punctuation", format!("{got:?}")))
        }
    }

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

/// A piece of the text whose spelling is preserved.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum TextPiece<'a> {
    /// A word, a number, a text in quotes, or a sign.
    Token(&'a str),
    /// A comment, `//` or `/* */`, without its line end.
    Comment(&'a str),
    /// White space.
    Space(&'a str),
}

/// Returns the next piece and the rest.
pub(super) fn next_piece(text: &str) -> Option<(TextPiece<'_>, &str)> {
    let first = text.chars().next()?;
    let run = |text: &str, is: fn(char) -> bool| text.find(|c| !is(c)).unwrap_or(text.len());
    let (piece, end): (fn(_) -> _, usize) = if first.is_whitespace() {
        (TextPiece::Space, run(text, char::is_whitespace))
    } else if text.starts_with("//") {
        (TextPiece::Comment, run(text, |c| c != '\n'))
    } else if text.starts_with("/*") {
        let end = text.find("*/").map_or(text.len(), |at| at + 2);
        (TextPiece::Comment, end)
    } else if text.starts_with("->") || text.starts_with("::") {
        (TextPiece::Token, 2)
    } else if let Some(quoted) = text.strip_prefix('"') {
        let end = quoted.find(['"', '\n']).map_or(text.len(), |at| at + 2);
        (TextPiece::Token, end)
    } else {
        let digits = text.strip_prefix('-').unwrap_or_default();
        let sign = usize::from(digits.starts_with(|c: char| c.is_ascii_digit()));
        let word = run(text.get(sign..).unwrap_or_default(), is_word);
        (TextPiece::Token, (sign + word).max(first.len_utf8()))
    };
    let (text, rest) = text.split_at_checked(end)?;
    Some((piece(text), rest))
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
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
    fn skip(&mut self, len: usize) {
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
    }

    /// Reads the next token. Returns the one before it.
    pub fn advance(&mut self) -> Result<(SchemaToken, TextPlace), SchemaError> {
        self.about.clear();
        let (token, place) = loop {
            let place = self.here;
            let Some((piece, rest)) = next_piece(self.rest) else {
                break (SchemaToken::End, place);
            };
            self.skip(self.rest.len() - rest.len());
            match piece {
                TextPiece::Space(_) => {}
                TextPiece::Comment(text) => self.comment(text, place)?,
                TextPiece::Token(text) => break (SchemaToken::of(text, place)?, place),
            }
        };
        let before = std::mem::replace(&mut self.token, token);
        Ok((before, std::mem::replace(&mut self.place, place)))
    }

    /// Keeps a description.
    fn comment(&mut self, text: &str, place: TextPlace) -> Result<(), SchemaError> {
        if text.starts_with("/*") && !text.contains("*/") {
            return Err(place.error("`*/` after `/*`", "the end of the text"));
        }
        if let Some(about) = text.strip_prefix("///") {
            let about = shown(about.trim_end_matches('\r'), place)?;
            let gap = if self.about.is_empty() { "" } else { " " };
            self.about.extend([gap, about.trim()]);
        }
        Ok(())
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
