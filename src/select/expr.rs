//! A condition as a tree, and its text.

use super::key::{Key, KeySort};
use crate::encoding::Want;
use crate::path::write_quoted;
use crate::protocol::Direction;
use regex::Regex;
use std::fmt::{self, Display, Formatter, Write as _};

/// A condition on a message.
///
/// Its text, from [`Display`], reads back as the same condition.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Expr {
    /// All of them are true; an empty list is true.
    All(Vec<Expr>),
    /// One of them is true.
    Any(Vec<Expr>),
    /// It is false.
    Not(Box<Expr>),
    /// A key and the expected value.
    Test(Test),
}

/// A key and the expected value.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Test {
    /// The key.
    pub key: Key,
    /// The expected value.
    pub what: KeyTest,
}

/// The expected value of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum KeyTest {
    /// Present, and neither null nor false.
    There,
    /// One of these.
    Is(Vec<Operand>),
    /// Matches one of these.
    Like(Vec<TextPattern>),
    /// Less or greater than this.
    Order(Order, Operand),
}

/// The order of two values.
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

/// A value to compare with.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Operand {
    /// Exactly this text.
    Text(String),
    /// A token without quotes, for keys with any value: text, a number, `true`, `false` or `null`.
    Word(String),
    /// A number; for times and durations, in ns.
    Number(i128),
    /// A time in ns after the first message. [`Expr::since`] makes it a number; until then nothing is equal, earlier or later.
    SinceStart(i128),
    /// A time in ns after midnight, on the day of the first message. [`Expr::since`] makes it a number, too.
    OfDay(i128),
}

/// A pattern for text.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum TextPattern {
    /// With `*`, which matches any run of characters, the pattern covers the whole text; without, the text contains it.
    Glob(String),
    /// A regular expression; it can match any part of the text.
    Regex(Regex),
}

impl PartialEq for TextPattern {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Glob(a), Self::Glob(b)) => a == b,
            (Self::Regex(a), Self::Regex(b)) => a.as_str() == b.as_str(),
            _ => false,
        }
    }
}

impl Eq for TextPattern {}

impl Expr {
    /// All parts are true; nested conjunctions are flattened.
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

    /// One part is true; nested disjunctions are flattened.
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

    /// Creates a test of a key.
    pub fn test(key: Key, what: KeyTest) -> Self {
        Self::Test(Test { key, what })
    }

    /// Returns true if it compares with times that depend on that of the first message.
    pub(crate) fn is_relative(&self) -> bool {
        match self {
            Self::All(parts) | Self::Any(parts) => parts.iter().any(Self::is_relative),
            Self::Not(part) => part.is_relative(),
            Self::Test(test) => {
                let operands = match &test.what {
                    KeyTest::Is(operands) => operands.as_slice(),
                    KeyTest::Order(_, operand) => std::slice::from_ref(operand),
                    KeyTest::There | KeyTest::Like(_) => &[],
                };
                let mut operands = operands.iter();
                operands.any(|one| matches!(one, Operand::SinceStart(_) | Operand::OfDay(_)))
            }
        }
    }

    /// Returns it with times that are those of a day, or after the first message, as numbers. `first` is the time of that
    /// message, in ns since 1970.
    #[must_use]
    pub fn since(&self, first: i128) -> Self {
        const DAY: i128 = 86_400_000_000_000;
        let of = |operand: &Operand| match operand {
            Operand::SinceStart(ns) => Operand::Number(first + ns),
            Operand::OfDay(ns) => Operand::Number(first - first.rem_euclid(DAY) + ns),
            other => other.clone(),
        };
        let all = |parts: &[Self]| parts.iter().map(|part| part.since(first)).collect();
        match self {
            Self::All(parts) => Self::All(all(parts)),
            Self::Any(parts) => Self::Any(all(parts)),
            Self::Not(part) => Self::Not(Box::new(part.since(first))),
            Self::Test(Test { key, what }) => {
                let what = match what {
                    KeyTest::Is(operands) => KeyTest::Is(operands.iter().map(of).collect()),
                    KeyTest::Order(order, operand) => KeyTest::Order(*order, of(operand)),
                    KeyTest::There | KeyTest::Like(_) => what.clone(),
                };
                Self::test(key.clone(), what)
            }
        }
    }

    /// Returns it for whole calls if only answers can satisfy it: requests have no latency, and answers no subject.
    #[must_use]
    pub(crate) fn of_answers(self) -> Self {
        if self.wants_answers() {
            self.of_calls()
        } else {
            self
        }
    }

    fn wants_answers(&self) -> bool {
        match self {
            Self::All(parts) => parts.iter().any(Self::wants_answers),
            Self::Test(test) => matches!(test.key, Key::Latency | Key::ReplyTo),
            Self::Any(_) | Self::Not(_) => false,
        }
    }

    /// Returns it for whole calls: an answer also has the subject of its request.
    #[must_use]
    pub(crate) fn of_calls(&self) -> Self {
        let all = |parts: &[Self]| parts.iter().map(Self::of_calls).collect();
        match self {
            Self::All(parts) => Self::All(all(parts)),
            Self::Any(parts) => Self::Any(all(parts)),
            Self::Not(part) => Self::Not(Box::new(part.of_calls())),
            Self::Test(Test {
                key: Key::Subject,
                what,
            }) => Self::Any(vec![self.clone(), Self::test(Key::Of, what.clone())]),
            Self::Test(_) => self.clone(),
        }
    }

    /// Returns the details that it needs of a message: positions for the message's content or keys
    /// of the conversation, otherwise its head.
    pub fn want(&self) -> Want {
        let needs_positions = |key: &Key| matches!(key, Key::Message(_)) || needs_conversation(key);
        if self.has_key(&needs_positions) {
            Want::Places
        } else {
            Want::Head
        }
    }

    /// Returns `true` if it depends on the conversation: findings, the request of a response, and
    /// latency.
    pub fn needs_session(&self) -> bool {
        self.has_key(&needs_conversation)
    }

    /// Returns `true` if it depends on operations.
    pub fn needs_operations(&self) -> bool {
        self.has_key(&is_of_operations)
    }

    /// Returns `true` if it uses a key.
    #[cfg(feature = "described")]
    pub(crate) fn uses(&self, key: &Key) -> bool {
        self.has_key(&|used| used == key)
    }

    /// Returns `true` if messages in this direction can match.
    pub fn allows(&self, direction: Direction) -> bool {
        let is = |what: &KeyTest| match what {
            KeyTest::Is(list) => list
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
                    what: what @ KeyTest::Is(_),
                }) => !is(what),
                _ => true,
            },
            Self::Test(test) => test.key != Key::Dir || is(&test.what),
        }
    }

    /// Adds the keys and the words that a message must have.
    #[cfg(feature = "cli")]
    pub(crate) fn wanted(&self, add: &mut dyn FnMut(&Key, &str)) {
        match self {
            Self::All(parts) | Self::Any(parts) => parts.iter().for_each(|part| part.wanted(add)),
            Self::Not(_) => {}
            Self::Test(Test { key, what }) => match what {
                KeyTest::There | KeyTest::Order(..) => add(key, ""),
                KeyTest::Is(operands) => operands.iter().for_each(|operand| match operand {
                    Operand::Text(word) | Operand::Word(word) => add(key, word),
                    Operand::Number(number) => add(key, &number.to_string()),
                    Operand::SinceStart(_) | Operand::OfDay(_) => add(key, ""),
                }),
                KeyTest::Like(patterns) => patterns.iter().for_each(|pattern| match pattern {
                    TextPattern::Glob(word) => add(key, word),
                    TextPattern::Regex(regex) => add(key, regex.as_str()),
                }),
            },
        }
    }

    /// Visits every test.
    #[cfg(feature = "described")]
    pub(crate) fn each_test<'e>(&'e self, visit: &mut dyn FnMut(&'e Test)) {
        match self {
            Self::All(parts) | Self::Any(parts) => {
                for part in parts {
                    part.each_test(visit);
                }
            }
            Self::Not(part) => part.each_test(visit),
            Self::Test(test) => visit(test),
        }
    }

    fn has_key(&self, is: &dyn Fn(&Key) -> bool) -> bool {
        match self {
            Self::All(parts) | Self::Any(parts) => parts.iter().any(|part| part.has_key(is)),
            Self::Not(part) => part.has_key(is),
            Self::Test(test) => is(&test.key),
        }
    }
}

fn needs_conversation(key: &Key) -> bool {
    let is_own = matches!(key, Key::Findings | Key::ReplyTo | Key::Latency | Key::Of);
    is_own || matches!(key, Key::Who | Key::Src) || is_of_operations(key)
}

fn is_of_operations(key: &Key) -> bool {
    matches!(key, Key::Op | Key::Parent | Key::Link)
}

/// Returns the only part, or all of them.
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
    /// Writes it as a part of another condition.
    fn inner(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if matches!(self, Self::All(_) | Self::Any(_)) {
            write!(f, "({self})")
        } else {
            write!(f, "{self}")
        }
    }
}

impl Test {
    /// Writes the test, or with `not` its negation if there is an operator for it. Returns `true`
    /// if it was written.
    fn write(&self, f: &mut Formatter<'_>, not: bool) -> Result<bool, fmt::Error> {
        let Self { key, what } = self;
        match what {
            KeyTest::There | KeyTest::Order(..) if not => return Ok(false),
            KeyTest::There => write!(f, "{key}")?,
            KeyTest::Order(order, operand) => {
                write!(f, "{key}{}", order.sign())?;
                operand.write(key, f)?;
            }
            KeyTest::Is(operands) => {
                write!(f, "{key}{}", if not { "!=" } else { "=" })?;
                for (i, operand) in operands.iter().enumerate() {
                    f.write_str(if i > 0 { "," } else { "" })?;
                    operand.write(key, f)?;
                }
            }
            KeyTest::Like(patterns) => {
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
            Self::Text(text) if key.sort() != KeySort::Any && is_bare(text) => {
                if key.check(text, false).is_ok() {
                    f.write_str(text)
                } else {
                    write_quoted(text, f)
                }
            }
            Self::Text(text) => write_quoted(text, f),
            Self::Number(n) => match key.sort() {
                KeySort::Time => {
                    let time = jiff::Timestamp::from_nanosecond(*n).unwrap_or_default();
                    write!(f, "{time}")
                }
                KeySort::Duration => write_duration(*n, f),
                _ => write!(f, "{n}"),
            },
            Self::SinceStart(ns) => write_duration(*ns, f),
            Self::OfDay(ns) => {
                let (seconds, fraction) = (ns / 1_000_000_000, ns % 1_000_000_000);
                let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
                write!(
                    f,
                    "{hours:02}:{minutes:02}:{:02}.{fraction:09}",
                    seconds % 60
                )
            }
        }
    }
}

fn write_duration(ns: i128, f: &mut Formatter<'_>) -> fmt::Result {
    let units = [("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1_000)];
    let unit = units.into_iter().find(|(_, of)| ns % of == 0);
    let (unit, of) = unit.unwrap_or(("ns", 1));
    write!(f, "{}{unit}", ns / of)
}

impl Display for TextPattern {
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

/// Returns `true` for a character of a token without quotes.
pub(super) fn is_token_char(c: char) -> bool {
    !c.is_whitespace() && !c.is_control() && !"()\"',=!<>~&|".contains(c)
}

/// Returns `true` for a character of a member's name without quotes.
pub(super) fn is_name_char(c: char) -> bool {
    is_token_char(c) && !".[]".contains(c)
}

fn is_bare(text: &str) -> bool {
    !text.is_empty() && text.chars().all(is_token_char)
}
