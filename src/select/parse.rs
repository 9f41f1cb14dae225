//! A condition read from text.
//!
//! ```text
//!   any   := all  (("or" | "||") all)*
//!   all   := not  (["and" | "&&"] not)*
//!   not   := ("not" | "!") not  |  "(" any ")"  |  test
//!   test  := key  [("=" | "!=") value,...  |  ("~" | "!~") pattern,...  |  ("<" | "<=" | ">" | ">=") value]
//!   key   := a name of JSON output  |  "." path  |  "message" path      (see [`crate::path`])
//! ```

use super::error::ParseError;
use super::expr::{Expr, Operand, Order, Pattern, Test, What, is_name, is_word};
use super::key::{Key, Sort};
use super::{literal, number::Decimal};
use crate::path::{self, Flaw, Path};
use crate::words::nearest;
use regex::Regex;
use std::ops::Range;
use std::str::FromStr;

/// Levels of parentheses and negations.
const DEEPEST: usize = 64;

impl FromStr for Expr {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let mut parser = Parser {
            text,
            at: 0,
            depth: 0,
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

type Parsed<T> = Result<T, ParseError>;

struct Parser<'t> {
    text: &'t str,
    at: usize,
    depth: usize,
}

/// Between key and value.
enum Sign {
    Is { not: bool },
    Like { not: bool },
    Order(Order),
}

const SIGNS: [(&str, Sign); 9] = [
    ("!=", Sign::Is { not: true }),
    ("!~", Sign::Like { not: true }),
    ("<=", Sign::Order(Order::AtMost)),
    (">=", Sign::Order(Order::AtLeast)),
    ("==", Sign::Is { not: false }),
    ("=", Sign::Is { not: false }),
    ("~", Sign::Like { not: false }),
    ("<", Sign::Order(Order::Less)),
    (">", Sign::Order(Order::More)),
];

impl<'t> Parser<'t> {
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

    /// Takes a text that comes next.
    fn take(&mut self, text: &str) -> bool {
        let here = self.rest().starts_with(text);
        if here {
            self.at += text.len();
        }
        here
    }

    /// Takes what comes next as long as its characters fit.
    fn run(&mut self, fits: impl Fn(char) -> bool) -> &'t str {
        let rest = self.rest();
        let end = rest.find(|c| !fits(c)).unwrap_or(rest.len());
        self.at += end;
        rest.get(..end).unwrap_or_default()
    }

    /// Takes a word of the language itself.
    fn word(&mut self, word: &str) -> bool {
        let start = self.at;
        let here = self.run(is_word).eq_ignore_ascii_case(word);
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

    /// Something else was wanted than the word, or character, that comes next.
    fn here(&self, wanted: impl Into<String>) -> ParseError {
        let rest = self.rest();
        let word = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
        let one = rest.chars().next().map_or(0, char::len_utf8);
        self.error(self.at..self.at + word.max(one), wanted)
    }

    fn any(&mut self) -> Parsed<Expr> {
        let mut parts = vec![self.all()?];
        loop {
            self.blanks();
            if !(self.take("||") || self.word("or")) {
                return Ok(Expr::any(parts));
            }
            parts.push(self.all()?);
        }
    }

    fn all(&mut self) -> Parsed<Expr> {
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

    fn not(&mut self) -> Parsed<Expr> {
        self.blanks();
        let start = self.at;
        let not = self.take("!") || self.word("not");
        let group = !not && self.take("(");
        if !not && !group {
            return self.test();
        }
        if self.depth >= DEEPEST {
            let wanted = format!("at most {DEEPEST} levels of parentheses and negations");
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

    fn test(&mut self) -> Parsed<Expr> {
        let start = self.at;
        let key = self.key()?;
        let name = start..self.at;
        self.blanks();
        let at = self.at;
        let Some((_, sign)) = SIGNS.iter().find(|(text, _)| self.take(text)) else {
            return Ok(Expr::test(key, What::There));
        };
        let sign_at = at..self.at;
        let fits = match sign {
            Sign::Is { .. } => true,
            Sign::Like { .. } => matches!(key.sort(), Sort::Text | Sort::Id | Sort::Any),
            Sign::Order(_) => key.sort() != Sort::Text,
        };
        if !fits {
            let wanted = match key.sort() {
                Sort::Text => "=, !=, ~ or !~ behind text",
                _ => "=, !=, <, <=, > or >= behind a number",
            };
            let mut error = self.error(sign_at, wanted);
            let name = self.text.get(name).unwrap_or_default();
            error.hint = (key.sort() == Sort::Text).then(|| format!("{name} has no order"));
            return Err(error);
        }
        let (what, not) = match sign {
            Sign::Is { not } => (What::Is(self.list(|p| p.value(&key, false))?), *not),
            Sign::Like { not } => (What::Like(self.list(Self::pattern)?), *not),
            Sign::Order(order) => (What::Order(*order, self.value(&key, true)?), false),
        };
        let test = Expr::Test(Test { key, what });
        Ok(if not { Expr::Not(Box::new(test)) } else { test })
    }

    fn list<T>(&mut self, one: impl Fn(&mut Self) -> Parsed<T>) -> Parsed<Vec<T>> {
        let mut list = vec![one(self)?];
        loop {
            self.blanks();
            if !self.take(",") {
                return Ok(list);
            }
            list.push(one(self)?);
        }
    }

    fn key(&mut self) -> Parsed<Key> {
        if self.next() == Some('.') {
            return self.path(false);
        }
        let start = self.at;
        let word = self.run(|c| is_word(c) && !"[]".contains(c));
        if word.is_empty() {
            return Err(self.here("a key, such as kind, subject, fault or .params.selector"));
        }
        if word == "message" && self.next() == Some('[') || word.starts_with("message.") {
            self.at = start + "message".len();
            return self.path(false);
        }
        let is_path = self.next() == Some('[') || word.contains('.');
        let first = word.split('.').next().unwrap_or_default();
        if is_path && word.starts_with(is_name) && Key::from_name(first).is_none() {
            self.at = start;
            return self.path(true);
        }
        Key::from_name(word).ok_or_else(|| {
            let mut error = self.error(start..self.at, "a key");
            error.hint = Some(match nearest(word, Key::names()) {
                Some(near) => format!("did you mean {near}?"),
                None if word.starts_with(is_name)
                    && word.chars().all(|c| is_name(c) || c == '.') =>
                {
                    format!("fields of the message begin with a point: .{word}")
                }
                None => format!("keys are {}", Key::names().collect::<Vec<_>>().join(" ")),
            });
            error
        })
    }

    fn path(&mut self, is_bare: bool) -> Parsed<Key> {
        let mut path = Path::new();
        loop {
            match path::next(self.rest(), is_bare && path.is_empty(), is_name) {
                Ok(Some(taken)) => {
                    self.at += taken.len;
                    path.push(taken.step);
                }
                Ok(None) => return Ok(Key::Message(path)),
                Err(flaw) => return Err(self.flaw(&flaw)),
            }
        }
    }

    /// Text in quotes, where it comes next.
    fn quoted(&mut self) -> Parsed<Option<String>> {
        match path::quoted(self.rest()) {
            Ok(Some((text, len))) => {
                self.at += len;
                Ok(Some(text))
            }
            Ok(None) => Ok(None),
            Err(flaw) => Err(self.flaw(&flaw)),
        }
    }

    /// What is wrong with what comes next.
    fn flaw(&mut self, flaw: &Flaw) -> ParseError {
        let at = self.at + flaw.at.start..self.at + flaw.at.end;
        match flaw.open {
            None if at.is_empty() => {
                self.at = at.start;
                self.here(flaw.wanted)
            }
            open => {
                let mut error = self.error(at, flaw.wanted);
                error.hint = open.map(|open| {
                    let column = self.column(self.at + open);
                    format!("the one at column {column} is open")
                });
                error
            }
        }
    }

    fn value(&mut self, key: &Key, ordered: bool) -> Parsed<Operand> {
        self.blanks();
        let start = self.at;
        let quoted = self.quoted()?;
        let word = if quoted.is_none() {
            self.run(is_word)
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
        let number = match sort {
            Sort::Count => literal::count(text),
            Sort::Bytes => literal::bytes(text),
            Sort::Time => literal::time(text),
            Sort::Duration => literal::duration(text),
            Sort::Text => {
                return match key.check(text, quoted.is_some()) {
                    Ok(()) => Ok(Operand::Text(text.to_owned())),
                    Err(unknown) => {
                        let mut error = self.error(whole, unknown.wanted);
                        error.hint = unknown.hint;
                        Err(error)
                    }
                };
            }
            Sort::Any | Sort::Id if ordered => {
                return if quoted.is_none() && Decimal::parse(text).is_some() {
                    Ok(Operand::Word(text.to_owned()))
                } else {
                    Err(self.error(whole, wanted(sort, ordered)))
                };
            }
            Sort::Any if quoted.is_none() => return Ok(Operand::Word(text.to_owned())),
            Sort::Any | Sort::Id => return Ok(Operand::Text(text.to_owned())),
        };
        let number = number.map(Operand::Number);
        number.ok_or_else(|| self.error(whole, wanted(sort, ordered)))
    }

    fn pattern(&mut self) -> Parsed<Pattern> {
        self.blanks();
        if let Some(text) = self.quoted()? {
            return Ok(Pattern::Glob(text));
        }
        if self.next() == Some('/') {
            return self.regex();
        }
        match self.run(is_word) {
            "" => Err(self.here("a pattern, such as \"math.*\" or /^math/")),
            word => Ok(Pattern::Glob(word.to_owned())),
        }
    }

    /// An expression between slashes; a backslash keeps a slash.
    fn regex(&mut self) -> Parsed<Pattern> {
        let start = self.at;
        self.at += 1;
        let mut text = String::new();
        let mut chars = self.rest().char_indices();
        while let Some((at, c)) = chars.next() {
            match c {
                '/' => {
                    self.at += at + 1;
                    return Regex::new(&text).map(Pattern::Regex).map_err(|error| {
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

/// What a value of this sort looks like.
fn wanted(sort: Sort, ordered: bool) -> &'static str {
    match sort {
        Sort::Count => "a whole number",
        Sort::Bytes => "a number of bytes, such as 64, 0x40 or 64K",
        Sort::Time => "a time, such as 2026-01-31T12:00:00Z",
        Sort::Duration => "a span of time, such as 10ms, 2s or 1.5us",
        Sort::Any | Sort::Id if ordered => "a number",
        Sort::Text | Sort::Id | Sort::Any => "a value",
    }
}
