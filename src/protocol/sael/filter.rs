//! The filter language of pipelines: which items of a list are kept.
//!
//! ```text
//!   or      and || and …                  and     not && not …
//!   not     ! one level, before either    test    ( or )  |  field op value  |  field
//!   op      >= <= == != > <  contains startsWith endsWith matches in notIn
//!   field   a.b[0]
//!   value   7  'text'  "text"  true false null  [value, …]  now()  value + value (- * /)  field  bare text
//! ```
//!
//! One grammar, read once; three references that evaluate it differently in places. Each is a [`Dialect`], modelled on
//! what its reference was measured to keep. The document says nothing where they differ, so wiretool follows Go: it is
//! the server, and pipelines run there. [`Filter::judge`] has all three verdicts and says where they part.
//!
//! Nothing is refused but what is too long or too deep: the references evaluate any text. What looks like a mistake is in
//! [`Filter::problems`].

mod evaluate;
mod parse;
mod pattern;
mod value;

use pattern::Pattern;
use serde_json::Value;
use std::fmt;

/// Longest expression that is read, in bytes.
pub const LONGEST: usize = 64 << 10;
/// Deepest nesting of parentheses and lists that is read.
pub const DEEPEST: u32 = 128;

/// Whose rules decide where the references differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// The reference server.
    #[default]
    Go,
    /// The Python client.
    Python,
    /// The TypeScript client.
    TypeScript,
}

impl Dialect {
    /// Every dialect, the one that is followed first.
    pub const ALL: [Self; 3] = [Self::Go, Self::Python, Self::TypeScript];

    /// The name in output and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Go => "go",
            Self::Python => "python",
            Self::TypeScript => "typescript",
        }
    }

    /// The dialect of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|d| d.name() == name)
    }
}

/// Something that is evaluated all the same, and likely meant otherwise.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Problem {
    /// The part of the expression.
    pub part: String,
    /// What is odd about it, and what becomes of it.
    pub text: &'static str,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`: {}", self.part, self.text)
    }
}

/// An expression that is not read at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refused {
    /// Longer than [`LONGEST`].
    TooLong,
    /// Deeper than [`DEEPEST`].
    TooDeep,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong => write!(f, "the expression is longer than {LONGEST} bytes"),
            Self::TooDeep => write!(f, "the expression nests deeper than {DEEPEST} levels"),
        }
    }
}

impl std::error::Error for Refused {}

/// How a field is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Op {
    AtLeast,
    AtMost,
    Equal,
    NotEqual,
    Above,
    Below,
    Contains,
    StartsWith,
    EndsWith,
    Matches,
    In,
    NotIn,
}

/// As they are written; of two that begin alike, the longer first.
const OPS: [(&str, Op); 12] = [
    (">=", Op::AtLeast),
    ("<=", Op::AtMost),
    ("==", Op::Equal),
    ("!=", Op::NotEqual),
    (">", Op::Above),
    ("<", Op::Below),
    ("contains", Op::Contains),
    ("startsWith", Op::StartsWith),
    ("endsWith", Op::EndsWith),
    ("matches", Op::Matches),
    ("in", Op::In),
    ("notIn", Op::NotIn),
];

impl Op {
    fn name(self) -> &'static str {
        let found = OPS.iter().find(|(_, op)| *op == self);
        found.map_or("", |(name, _)| name)
    }
}

/// A parsed expression.
#[derive(Clone, Debug)]
enum Expr {
    /// Nothing written: true.
    All,
    Or(Vec<Expr>),
    And(Vec<Expr>),
    Not(Box<Expr>),
    Truthy(Path),
    Compare(Box<Compare>),
}

#[derive(Clone, Debug)]
struct Compare {
    /// As it was written.
    text: String,
    field: Path,
    op: Op,
    value: Term,
    /// The value as a pattern, where it is a literal.
    pattern: Option<Pattern>,
}

/// The right side of a comparison.
#[derive(Clone, Debug)]
enum Term {
    Literal(Value),
    List(Vec<Term>),
    Now,
    Arithmetic(char, Box<Term>, Box<Term>),
    /// A field where the item has it, else its own text.
    Word(Path),
}

/// `a.b[0]`.
#[derive(Clone, Debug)]
struct Path {
    text: String,
    steps: Vec<Step>,
}

#[derive(Clone, Debug)]
enum Step {
    Key(String),
    Index(usize),
}

/// A filter, ready to be evaluated.
#[derive(Clone, Debug)]
pub struct Filter {
    root: Expr,
    problems: Vec<Problem>,
}

/// What the three references do with one item.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Judgement {
    /// Kept or not, by [`Dialect::ALL`]; `None` where that cannot be known here.
    pub kept: [Option<bool>; 3],
    /// Where they differ, and why: one line a comparison.
    pub differences: Vec<String>,
}

impl Judgement {
    /// What one of them does.
    pub fn by(&self, dialect: Dialect) -> Option<bool> {
        let mut all = Dialect::ALL.into_iter().zip(self.kept);
        all.find(|(d, _)| *d == dialect).and_then(|(_, kept)| kept)
    }

    /// Whether all do the same.
    pub fn agree(&self) -> bool {
        self.kept.iter().all(|k| k.is_some() && *k == self.kept[0])
    }
}

impl Filter {
    /// Reads an expression.
    pub fn parse(text: &str) -> Result<Self, Refused> {
        parse::parse(text)
    }

    /// What is likely not meant as it will be evaluated.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// Whether an item is kept. `now` is in seconds since 1970. Numbers are doubles, as in every reference.
    pub fn keeps(&self, item: &Value, now: i64, dialect: Dialect) -> bool {
        evaluate::evaluate(&self.root, &evaluate::Scene { item, now, dialect }) == Some(true)
    }

    /// What the three references do with an item.
    pub fn judge(&self, item: &Value, now: i64) -> Judgement {
        evaluate::judge(&self.root, item, now)
    }

    /// A filter stage of a pipeline: of a list, the objects that are kept; anything else as it is.
    pub fn apply(&self, input: &Value, now: i64, dialect: Dialect) -> Value {
        let Value::Array(items) = input else {
            return input.clone();
        };
        let kept = items
            .iter()
            .filter(|item| item.is_object() && self.keeps(item, now, dialect));
        Value::Array(kept.cloned().collect())
    }
}

/// The parse tree, one line a node.
impl fmt::Display for Filter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        show(&self.root, 0, f)
    }
}

fn show(expr: &Expr, depth: usize, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let indent = "  ".repeat(depth);
    match expr {
        Expr::All => writeln!(f, "{indent}everything"),
        Expr::Truthy(path) => writeln!(f, "{indent}truthy  field {}", path.text),
        Expr::Compare(c) => {
            let name = c.op.name();
            writeln!(f, "{indent}{name}  field {}  {}", c.field.text, c.value)
        }
        Expr::Not(inner) => {
            writeln!(f, "{indent}not")?;
            show(inner, depth + 1, f)
        }
        Expr::Or(parts) | Expr::And(parts) => {
            let name = if matches!(expr, Expr::Or(_)) {
                "or"
            } else {
                "and"
            };
            writeln!(f, "{indent}{name}")?;
            parts.iter().try_for_each(|part| show(part, depth + 1, f))
        }
    }
}

impl fmt::Display for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Literal(value @ Value::String(_)) => write!(f, "text {value}"),
            Self::Literal(value) => write!(f, "{value}"),
            Self::Now => f.write_str("now()"),
            Self::Arithmetic(sign, left, right) => write!(f, "({left} {sign} {right})"),
            Self::Word(path) => write!(f, "field or text {}", path.text),
            Self::List(terms) => {
                f.write_str("[")?;
                for (i, term) in terms.iter().enumerate() {
                    let comma = if i > 0 { ", " } else { "" };
                    write!(f, "{comma}{term}")?;
                }
                f.write_str("]")
            }
        }
    }
}

#[cfg(test)]
mod tests;
