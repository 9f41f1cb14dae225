//! A condition as a tree, and as text again.

use super::key::{Key, Sort};
use crate::encoding::Want;
use crate::path::write_quoted;
use crate::protocol::Direction;
use regex::Regex;
use std::fmt::{self, Display, Formatter, Write as _};

/// A condition on a message.
///
/// Its text, as [`Display`] gives it, reads back as the same condition.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Expr {
    /// Every one holds; none at all holds always.
    All(Vec<Expr>),
    /// One of them holds.
    Any(Vec<Expr>),
    /// It does not hold.
    Not(Box<Expr>),
    /// A key and what it should be.
    Test(Test),
}

/// A key and what it should be.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Test {
    /// What is asked about.
    pub key: Key,
    /// What it should be.
    pub what: What,
}

/// What a key should be.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum What {
    /// There, and neither null nor false.
    There,
    /// One of these.
    Is(Vec<Operand>),
    /// Like one of these.
    Like(Vec<Pattern>),
    /// Before or behind this.
    Order(Order, Operand),
}

/// How two values lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Order {
    /// `<`
    Less,
    /// `<=`
    AtMost,
    /// `>`
    More,
    /// `>=`
    AtLeast,
}

impl Order {
    const fn sign(self) -> &'static str {
        match self {
            Self::Less => "<",
            Self::AtMost => "<=",
            Self::More => ">",
            Self::AtLeast => ">=",
        }
    }
}

/// What a key is compared with.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Operand {
    /// Exactly this text.
    Text(String),
    /// A word without quotes, where a value may be anything: text, a number, `true`, `false` or `null`.
    Word(String),
    /// A count; for moments and spans of time, in ns.
    Number(i128),
}

/// What text should look like.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Pattern {
    /// `*` stands for any run of characters; the whole text is meant.
    Glob(String),
    /// A regular expression; any part of the text will do.
    Regex(Regex),
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Glob(a), Self::Glob(b)) => a == b,
            (Self::Regex(a), Self::Regex(b)) => a.as_str() == b.as_str(),
            _ => false,
        }
    }
}

impl Eq for Pattern {}

impl Expr {
    /// Every one holds; those that are such themselves are taken apart.
    pub fn all(parts: impl IntoIterator<Item = Self>) -> Self {
        let mut flat = Vec::new();
        for part in parts {
            match part {
                Self::All(inner) => flat.extend(inner),
                other => flat.push(other),
            }
        }
        single(flat).unwrap_or_else(Self::All)
    }

    /// One of them holds; those that are such themselves are taken apart.
    pub fn any(parts: impl IntoIterator<Item = Self>) -> Self {
        let mut flat = Vec::new();
        for part in parts {
            match part {
                Self::Any(inner) => flat.extend(inner),
                other => flat.push(other),
            }
        }
        single(flat).unwrap_or_else(Self::Any)
    }

    /// A key and what it should be.
    pub fn test(key: Key, what: What) -> Self {
        Self::Test(Test { key, what })
    }

    /// What it needs of a message: places where it asks for the message's content or what was said over time, else its
    /// head.
    pub fn want(&self) -> Want {
        let places = |key: &Key| matches!(key, Key::Message(_)) || is_said(key);
        if self.some_key(&places) {
            Want::Places
        } else {
            Want::Head
        }
    }

    /// Whether it asks what only a conversation knows: findings, what answers what, and how long that took.
    pub fn needs_session(&self) -> bool {
        self.some_key(&is_said)
    }

    /// Whether messages that go this way may be meant, whatever else they are.
    pub fn allows(&self, direction: Direction) -> bool {
        let is = |what: &What| match what {
            What::Is(list) => list
                .iter()
                .any(|operand| matches!(operand, Operand::Text(name) if name == direction.name())),
            _ => true,
        };
        match self {
            Self::All(parts) => parts.iter().all(|part| part.allows(direction)),
            Self::Any(parts) => parts.is_empty() || parts.iter().any(|part| part.allows(direction)),
            Self::Not(part) => match &**part {
                Self::Test(Test {
                    key: Key::Dir,
                    what: what @ What::Is(_),
                }) => !is(what),
                _ => true,
            },
            Self::Test(test) => test.key != Key::Dir || is(&test.what),
        }
    }

    fn some_key(&self, is: &dyn Fn(&Key) -> bool) -> bool {
        match self {
            Self::All(parts) | Self::Any(parts) => parts.iter().any(|part| part.some_key(is)),
            Self::Not(part) => part.some_key(is),
            Self::Test(test) => is(&test.key),
        }
    }
}

fn is_said(key: &Key) -> bool {
    matches!(key, Key::Findings | Key::ReplyTo | Key::Latency)
}

/// The only one, or all of them back.
fn single(mut parts: Vec<Expr>) -> Result<Expr, Vec<Expr>> {
    if parts.len() == 1
        && let Some(only) = parts.pop()
    {
        return Ok(only);
    }
    Err(parts)
}

impl Display for Expr {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let join = |f: &mut Formatter<'_>, parts: &[Self], glue: &str| {
            for (i, part) in parts.iter().enumerate() {
                f.write_str(if i > 0 { glue } else { "" })?;
                part.inner(f)?;
            }
            Ok(())
        };
        match self {
            Self::All(parts) => join(f, parts, " and "),
            Self::Any(parts) => join(f, parts, " or "),
            Self::Not(part) => match &**part {
                Self::Test(test) if test.write(f, true)? => Ok(()),
                part => {
                    f.write_str("not ")?;
                    part.inner(f)
                }
            },
            Self::Test(test) => test.write(f, false).map(drop),
        }
    }
}

impl Expr {
    /// As a part of another.
    fn inner(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if matches!(self, Self::All(_) | Self::Any(_)) {
            write!(f, "({self})")
        } else {
            write!(f, "{self}")
        }
    }
}

impl Test {
    /// Writes it, or where there is an operator for that, its contrary; says whether it did.
    fn write(&self, f: &mut Formatter<'_>, not: bool) -> Result<bool, fmt::Error> {
        let Self { key, what } = self;
        match what {
            What::There | What::Order(..) if not => return Ok(false),
            What::There => write!(f, "{key}")?,
            What::Order(order, operand) => {
                write!(f, "{key}{}", order.sign())?;
                operand.write(key, f)?;
            }
            What::Is(operands) => {
                write!(f, "{key}{}", if not { "!=" } else { "=" })?;
                for (i, operand) in operands.iter().enumerate() {
                    f.write_str(if i > 0 { "," } else { "" })?;
                    operand.write(key, f)?;
                }
            }
            What::Like(patterns) => {
                write!(f, "{key}{}", if not { "!~" } else { "~" })?;
                for (i, pattern) in patterns.iter().enumerate() {
                    f.write_str(if i > 0 { "," } else { "" })?;
                    pattern.fmt(f)?;
                }
            }
        }
        Ok(true)
    }
}

impl Display for Key {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Message(path) if !path.is_empty() => {
                let path = path.to_string();
                let lead = if path.starts_with('[') {
                    "message"
                } else {
                    "."
                };
                write!(f, "{lead}{path}")
            }
            other => f.write_str(other.name()),
        }
    }
}

impl Operand {
    fn write(&self, key: &Key, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Word(word) => f.write_str(word),
            Self::Text(text) if key.sort() != Sort::Any && is_bare(text) => {
                if key.check(text, false).is_ok() {
                    f.write_str(text)
                } else {
                    write_quoted(text, f)
                }
            }
            Self::Text(text) => write_quoted(text, f),
            Self::Number(n) => match key.sort() {
                Sort::Time => {
                    let time = jiff::Timestamp::from_nanosecond(*n).unwrap_or_default();
                    write!(f, "{time}")
                }
                Sort::Duration => {
                    let units = [("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1_000)];
                    let unit = units.into_iter().find(|(_, ns)| n % ns == 0);
                    let (unit, ns) = unit.unwrap_or(("ns", 1));
                    write!(f, "{}{unit}", n / ns)
                }
                _ => write!(f, "{n}"),
            },
        }
    }
}

impl Display for Pattern {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Glob(glob) if is_bare(glob) && !glob.starts_with('/') => f.write_str(glob),
            Self::Glob(glob) => write_quoted(glob, f),
            Self::Regex(regex) => {
                f.write_char('/')?;
                let mut chars = regex.as_str().chars();
                while let Some(c) = chars.next() {
                    match c {
                        '\\' => {
                            f.write_char('\\')?;
                            chars.next().map_or(Ok(()), |next| f.write_char(next))?;
                        }
                        '/' => f.write_str("\\/")?,
                        c => f.write_char(c)?,
                    }
                }
                f.write_char('/')
            }
        }
    }
}

/// Whether a character can stand in a word without quotes.
pub(super) fn is_word(c: char) -> bool {
    !c.is_whitespace() && !c.is_control() && !"()\"',=!<>~&|".contains(c)
}

/// Whether a character can stand in the name of a member without quotes.
pub(super) fn is_name(c: char) -> bool {
    is_word(c) && !".[]".contains(c)
}

fn is_bare(text: &str) -> bool {
    !text.is_empty() && text.chars().all(is_word)
}
