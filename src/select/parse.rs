//! Parses a condition.
//!
//! ```text
//!   any   := all  (("or" | "||") all)*
//!   all   := not  (["and" | "&&"] not)*
//!   not   := ("not" | "!") not  |  "(" any ")"  |  test
//!   test  := key  [("=" | "!=") value,...  |  ("~" | "=~" | "!~") pattern,...  |  ("<" | "<=" | ">" | ">=") value]
//!   key   := a name of JSON output  |  "." path  |  "message" path      (see [`crate::path`])
//! ```

use super::error::ParseError;
use super::expr::{Expr, KeyTest, Operand, Order, Test, TextPattern, is_name_char, is_token_char};
use super::key::{Key, KeySort};
use super::{literal, number::Decimal};
use crate::path::{self, Path, PathError};
use crate::protocol::Role;
use crate::words::nearest;
use regex::Regex;
use std::ops::Range;
use std::str::FromStr;

/// The maximum depth of parentheses and negations.
const MAX_DEPTH: usize = 64;

impl FromStr for Expr {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let mut parser = SelectParser {
            text,
            at: 0,
            depth: 0,
            has_unit: false,
        };
        let expr = parser.any()?;
        parser.blanks();
        if parser.at < text.len() {
            let here = parser.at..parser.at + parser.next().map_or(0, char::len_utf8);
            return Err(parser.error(here, "the end of the condition"));
        }
        Ok(expr)
    }
}

type ParseResult<T> = Result<T, ParseError>;

struct SelectParser<'t> {
    text: &'t str,
    at: usize,
    depth: usize,
    /// The unit is in the name of the key.
    has_unit: bool,
}

/// The operator between key and value.
enum Operator {
    Is { not: bool },
    Like { not: bool },
    Order(Order),
}

const OPERATORS: [(&str, Operator); 10] = [
    ("=~", Operator::Like { not: false }),
    ("!=", Operator::Is { not: true }),
    ("!~", Operator::Like { not: true }),
    ("<=", Operator::Order(Order::AtMost)),
    (">=", Operator::Order(Order::AtLeast)),
    ("==", Operator::Is { not: false }),
    ("=", Operator::Is { not: false }),
    ("~", Operator::Like { not: false }),
    ("<", Operator::Order(Order::Less)),
    (">", Operator::Order(Order::More)),
];

impl<'t> SelectParser<'t> {
    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn next(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn blanks(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
    }

    /// Consumes `text` if it comes next.
    fn take(&mut self, text: &str) -> bool {
        let here = self.rest().starts_with(text);
        if here {
            self.at += text.len();
        }
        here
    }

    /// Consumes characters while they fit.
    fn run(&mut self, fits: impl Fn(char) -> bool) -> &'t str {
        let rest = self.rest();
        let end = rest.find(|c| !fits(c)).unwrap_or(rest.len());
        self.at += end;
        rest.get(..end).unwrap_or_default()
    }

    /// Consumes a keyword.
    fn word(&mut self, word: &str) -> bool {
        let start = self.at;
        let here = self.run(is_token_char).eq_ignore_ascii_case(word);
        if !here {
            self.at = start;
        }
        here
    }

    fn error(&self, at: Range<usize>, wanted: impl Into<String>) -> ParseError {
        ParseError {
            text: self.text.to_owned(),
            at,
            wanted: wanted.into(),
            hint: None,
        }
    }

    /// Creates an error at the next token or character.
    fn here(&self, wanted: impl Into<String>) -> ParseError {
        let rest = self.rest();
        let word = rest.find(|c| !is_token_char(c)).unwrap_or(rest.len());
        let one = rest.chars().next().map_or(0, char::len_utf8);
        self.error(self.at..self.at + word.max(one), wanted)
    }

    fn any(&mut self) -> ParseResult<Expr> {
        let mut parts = vec![self.all()?];
        loop {
            self.blanks();
            if !(self.take("||") || self.word("or")) {
                return Ok(Expr::any(parts));
            }
            parts.push(self.all()?);
        }
    }

    fn all(&mut self) -> ParseResult<Expr> {
        let mut parts = vec![self.not()?];
        loop {
            self.blanks();
            let more = self.take("&&") || self.word("and");
            let start = self.at;
            let ends = self.rest().is_empty()
                || self.next() == Some(')')
                || self.rest().starts_with("||")
                || self.word("or");
            self.at = start;
            if ends && !more {
                return Ok(Expr::all(parts));
            }
            parts.push(self.not()?);
        }
    }

    fn not(&mut self) -> ParseResult<Expr> {
        self.blanks();
        let start = self.at;
        let not = self.take("!") || self.word("not");
        let group = !not && self.take("(");
        if !not && !group {
            return self.test();
        }
        if self.depth >= MAX_DEPTH {
            let wanted = format!("at most {MAX_DEPTH} levels of parentheses and negations");
            return Err(self.error(start..self.at, wanted));
        }
        self.depth += 1;
        let inner = if not { self.not()? } else { self.any()? };
        self.depth -= 1;
        if not {
            return Ok(Expr::Not(Box::new(inner)));
        }
        self.blanks();
        if self.take(")") {
            return Ok(inner);
        }
        let mut error = self.here("a closing parenthesis");
        error.hint = Some(format!("the one at column {} is open", self.column(start)));
        Err(error)
    }

    fn column(&self, at: usize) -> usize {
        let before = self.text.get(..at).unwrap_or_default();
        before.chars().count() + 1
    }

    fn test(&mut self) -> ParseResult<Expr> {
        let start = self.at;
        let key = self.key()?;
        let name = start..self.at;
        self.blanks();
        let at = self.at;
        let Some((_, sign)) = OPERATORS.iter().find(|(text, _)| self.take(text)) else {
            return Ok(Expr::test(key, KeyTest::There));
        };
        let sign_at = at..self.at;
        let fits = match sign {
            Operator::Is { .. } => true,
            Operator::Like { .. } => {
                matches!(key.sort(), KeySort::Text | KeySort::Id | KeySort::Any)
            }
            Operator::Order(_) => key.sort() != KeySort::Text,
        };
        if !fits {
            let wanted = match key.sort() {
                KeySort::Text => "=, !=, ~ or !~ after text",
                _ => "=, !=, <, <=, > or >= after a number",
            };
            let mut error = self.error(sign_at, wanted);
            let name = self.text.get(name).unwrap_or_default();
            error.hint = (key.sort() == KeySort::Text).then(|| format!("{name} has no order"));
            return Err(error);
        }
        let (what, not) = match sign {
            Operator::Is { not } => (KeyTest::Is(self.list(|p| p.value(&key, false))?), *not),
            Operator::Like { not } => (KeyTest::Like(self.list(Self::pattern)?), *not),
            Operator::Order(order) => (KeyTest::Order(*order, self.value(&key, true)?), false),
        };
        let test = Expr::Test(Test { key, what });
        Ok(if not { Expr::Not(Box::new(test)) } else { test })
    }

    fn list<T>(&mut self, one: impl Fn(&mut Self) -> ParseResult<T>) -> ParseResult<Vec<T>> {
        let mut list = vec![one(self)?];
        loop {
            self.blanks();
            if !self.take(",") {
                return Ok(list);
            }
            list.push(one(self)?);
        }
    }

    fn key(&mut self) -> ParseResult<Key> {
        if self.next() == Some('.') {
            return self.path(false);
        }
        let start = self.at;
        let word = self.run(|c| is_token_char(c) && !"[]".contains(c));
        if word.is_empty() {
            return Err(self.here("a key, such as kind, subject, fault or .params.selector"));
        }
        if word == "message" && self.next() == Some('[') || word.starts_with("message.") {
            self.at = start + "message".len();
            return self.path(false);
        }
        let is_path = self.next() == Some('[') || word.contains('.');
        let first = word.split('.').next().unwrap_or_default();
        let is_path = is_path && Key::instead_of(word).is_none();
        if is_path && word.starts_with(is_name_char) && Key::from_name(first).is_none() {
            self.at = start;
            return self.path(true);
        }
        self.has_unit = word.ends_with("_ms");
        Key::from_name(word).ok_or_else(|| {
            let mut error = self.error(start..self.at, "a key");
            let before = self.text.get(..start).unwrap_or_default();
            let listed = before.split_whitespace().last().filter(|_| word == "in");
            let operand = before
                .split_whitespace()
                .last()
                .filter(|_| ["contains", "matches", "like"].contains(&word));
            let instead = match listed {
                Some(key) => Some(format!("a list has commas: {key}=2,3")),
                None if operand.is_some() => operand
                    .map(|key| format!("a part of a text is {key}~TEXT, a pattern {key}~/^a/")),
                None => instead_of(word),
            };
            let near = || nearest(word, Key::names()).map(|near| format!("did you mean {near}?"));
            let is_field =
                word.starts_with(is_name_char) && word.chars().all(|c| is_name_char(c) || c == '.');
            let is_alone = !self
                .rest()
                .trim_start()
                .starts_with(['=', '!', '~', '<', '>']);
            error.hint = Some(match instead.or_else(near) {
                Some(hint) => hint,
                None if is_field && is_alone && word.contains('/') => {
                    format!("did you mean subject={word}?")
                }
                None if is_field && is_alone => {
                    format!("a field of the message is .{word}, a method subject={word}")
                }
                None if is_field => format!("fields of the message begin with a dot: .{word}"),
                None => format!("keys are {}", Key::names().collect::<Vec<_>>().join(" ")),
            });
            error
        })
    }

    fn path(&mut self, is_bare: bool) -> ParseResult<Key> {
        let mut path = Path::new();
        loop {
            match path::next(self.rest(), is_bare && path.is_empty(), is_name_char) {
                Ok(Some(taken)) => {
                    self.at += taken.len;
                    path.push(taken.step);
                }
                Ok(None) => return Ok(Key::Message(path)),
                Err(violation) => return Err(self.violation(&violation)),
            }
        }
    }

    /// Consumes quoted text, if it comes next.
    fn quoted(&mut self) -> ParseResult<Option<String>> {
        match path::quoted(self.rest()) {
            Ok(Some((text, len))) => {
                self.at += len;
                Ok(Some(text))
            }
            Ok(None) => Ok(None),
            Err(violation) => Err(self.violation(&violation)),
        }
    }

    /// Converts an error of the path at the current position.
    fn violation(&mut self, violation: &PathError) -> ParseError {
        let at = self.at + violation.at.start..self.at + violation.at.end;
        match violation.open {
            None if at.is_empty() => {
                self.at = at.start;
                self.here(violation.wanted)
            }
            open => {
                let mut error = self.error(at, violation.wanted);
                error.hint = open.map(|open| {
                    let column = self.column(self.at + open);
                    format!("the one at column {column} is open")
                });
                error
            }
        }
    }

    fn value(&mut self, key: &Key, ordered: bool) -> ParseResult<Operand> {
        self.blanks();
        let start = self.at;
        let quoted = self.quoted()?;
        let word = if quoted.is_none() {
            self.run(is_token_char)
        } else {
            ""
        };
        let sort = key.sort();
        let text = match &quoted {
            Some(text) => text.as_str(),
            None if word.is_empty() => return Err(self.here(wanted(sort, ordered))),
            None => word,
        };
        let whole = start..self.at;
        if sort == KeySort::Time && !lacks_unit(text) {
            let after = literal::duration(text).map(Operand::SinceStart);
            let relative = after.or_else(|| literal::time_of_day(text).map(Operand::OfDay));
            if let Some(operand) = relative {
                return Ok(operand);
            }
        }
        let number = match sort {
            KeySort::Count => literal::count(text),
            KeySort::Bytes => literal::bytes(text),
            KeySort::Time | KeySort::Duration if !self.has_unit && lacks_unit(text) => {
                let mut error = self.error(whole, wanted(sort, ordered));
                error.hint = Some(format!("did you mean {text}ms or {text}s?"));
                return Err(error);
            }
            KeySort::Time => literal::time(text),
            KeySort::Duration => literal::duration(text),
            KeySort::Text => {
                return match key.check(text, quoted.is_some()) {
                    Ok(()) => Ok(Operand::Text(text.to_owned())),
                    Err(unknown) => {
                        let mut error = self.error(whole, unknown.wanted);
                        error.hint = unknown.hint;
                        Err(error)
                    }
                };
            }
            KeySort::Any | KeySort::Id if ordered => {
                return if quoted.is_none() && Decimal::parse(text).is_some() {
                    Ok(Operand::Word(text.to_owned()))
                } else {
                    Err(self.error(whole, wanted(sort, ordered)))
                };
            }
            KeySort::Any if quoted.is_none() => return Ok(Operand::Word(text.to_owned())),
            KeySort::Any | KeySort::Id => return Ok(Operand::Text(text.to_owned())),
        };
        let number = number.map(Operand::Number);
        number.ok_or_else(|| {
            let mut error = self.error(whole, wanted(sort, ordered));
            if let Some((first, last)) = text.split_once("..") {
                let last = last.trim_start_matches('=');
                let key = key.name();
                error.hint = Some(format!("a range is {key}>={first} {key}<={last}"));
            }
            error
        })
    }

    fn pattern(&mut self) -> ParseResult<TextPattern> {
        self.blanks();
        if let Some(text) = self.quoted()? {
            return Ok(TextPattern::Glob(text));
        }
        if self.next() == Some('/') {
            return self.regex();
        }
        match self.run(is_token_char) {
            "" => Err(self.here("a pattern, such as \"math.*\" or /^math/")),
            word => Ok(TextPattern::Glob(word.to_owned())),
        }
    }

    /// Parses a regular expression between slashes; a backslash escapes a slash.
    fn regex(&mut self) -> ParseResult<TextPattern> {
        let start = self.at;
        self.at += 1;
        let mut text = String::new();
        let mut chars = self.rest().char_indices();
        while let Some((at, c)) = chars.next() {
            match c {
                '/' => {
                    self.at += at + 1;
                    return Regex::new(&text).map(TextPattern::Regex).map_err(|error| {
                        let error = error.to_string();
                        let why = error.lines().last().unwrap_or_default();
                        let why = why.trim_start_matches("error: ").to_owned();
                        let mut error = self.error(start..self.at, "a regular expression");
                        error.hint = Some(why);
                        error
                    });
                }
                '\\' => match chars.next() {
                    Some((_, '/')) => text.push('/'),
                    Some((_, next)) => text.extend(['\\', next]),
                    None => {}
                },
                c => text.push(c),
            }
        }
        let mut error = self.error(self.text.len()..self.text.len(), "a closing slash");
        error.hint = Some(format!("the one at column {} is open", self.column(start)));
        Err(error)
    }
}

/// Returns true for a number without a unit, other than zero.
fn lacks_unit(text: &str) -> bool {
    let is_number = text.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    is_number && text.bytes().any(|b| matches!(b, b'1'..=b'9'))
}

/// Describes a value of this type.
/// Returns the condition that a word in place of a key probably means.
fn instead_of(word: &str) -> Option<String> {
    if let Some(instead) = Key::instead_of(word) {
        return Some(instead.to_owned());
    }
    let is_role = Role::ALL.iter().any(|role| role.name() == word);
    if is_role {
        return Some(format!("did you mean role={word}?"));
    }
    let (key, value) = word.split_once(':')?;
    Key::from_name(key)?;
    Some(format!("did you mean {key}={value}?"))
}

fn wanted(sort: KeySort, ordered: bool) -> &'static str {
    match sort {
        KeySort::Count => "a whole number",
        KeySort::Bytes => "a number of bytes, such as 64, 0x40 or 64K",
        KeySort::Time => {
            "a time, such as 2026-01-31T12:00:00Z, 12:00:00 or 0.5s after the first message"
        }
        KeySort::Duration => "a time, such as 10ms, 2s or 1.5us",
        KeySort::Any | KeySort::Id if ordered => "a number",
        KeySort::Text | KeySort::Id | KeySort::Any => "a value",
    }
}
