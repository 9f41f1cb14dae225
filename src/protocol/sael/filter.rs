//! The filter language of pipelines, which selects items of a list.
//!
//! ```text
//!   or      and || and …                  and     not && not …
//!   not     ! one level, before either    test    ( or )  |  field op value  |  field
//!   op      >= <= == != > <  contains startsWith endsWith matches in notIn
//!   field   a.b[0]
//!   value   7  'text'  "text"  true false null  [value, …]  now()  value + value (- * /)  field  bare text
//! ```
//!
//! There is one grammar, and three references that evaluate it differently in places. Each is a [`FilterDialect`], modelled
//! on the measured results of its reference. The document does not define these cases, so wiretool follows Go: that is
//! the server, and pipelines run there. [`ItemFilter::judge`] returns all three results and the reasons for differences.
//!
//! Only a text that is too long or too deep is refused: the references evaluate any text. Likely mistakes are in
//! [`ItemFilter::problems`].

mod evaluate;
mod parse;
mod pattern;
mod value;

use pattern::RegexPattern;
use serde_json::Value;
use std::fmt;

/// The longest expression, in bytes.
pub(crate) const LONGEST: usize = 64 << 10;
/// The deepest nesting of parentheses and lists.
pub(crate) const DEEPEST: u32 = 128;

/// The reference whose rules decide.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum FilterDialect {
    /// The reference server.
    #[default]
    Go,
    /// The Python client.
    Python,
    /// The TypeScript client.
    TypeScript,
}

impl FilterDialect {
    /// All dialects; the default one is first.
    pub const ALL: [Self; 3] = [Self::Go, Self::Python, Self::TypeScript];

    /// The name in output and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Go => "go",
            Self::Python => "python",
            Self::TypeScript => "typescript",
        }
    }

    /// Returns the dialect with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|d| d.name() == name)
    }
}

/// A likely mistake in a valid expression.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FilterProblem {
    /// The part of the expression.
    pub part: String,
    /// The mistake, and its effect.
    pub text: &'static str,
}

impl fmt::Display for FilterProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`: {}", self.part, self.text)
    }
}

/// The reason why an expression is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FilterError {
    /// Longer than 64 KiB.
    TooLong,
    /// Deeper than 128 levels.
    TooDeep,
}

impl fmt::Display for FilterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong => write!(f, "the expression is longer than {LONGEST} bytes"),
            Self::TooDeep => write!(f, "the expression nests deeper than {DEEPEST} levels"),
        }
    }
}

impl std::error::Error for FilterError {}

/// The operators. Of two with the same start, the longer comes first.
const OPS: [&str; 12] = [
    ">=",
    "<=",
    "==",
    "!=",
    ">",
    "<",
    "contains",
    "startsWith",
    "endsWith",
    "matches",
    "in",
    "notIn",
];

/// A parsed expression.
#[derive(Clone, Debug)]
enum FilterExpr {
    /// Empty text: true.
    All,
    Or(Vec<FilterExpr>),
    And(Vec<FilterExpr>),
    Not(Box<FilterExpr>),
    Truthy(FilterPath),
    Compare(Box<Comparison>),
}

#[derive(Clone, Debug)]
struct Comparison {
    /// The source text.
    text: String,
    field: FilterPath,
    /// One of [`OPS`].
    op: &'static str,
    value: Term,
    /// The compiled pattern, if the value is a literal.
    pattern: Option<RegexPattern>,
}

/// The right side of a comparison.
#[derive(Clone, Debug)]
enum Term {
    Literal(Value),
    List(Vec<Term>),
    Now,
    Arithmetic(char, Box<Term>, Box<Term>),
    /// The value of a field if the item has it, otherwise its own text.
    Word(FilterPath),
}

/// `a.b[0]`.
#[derive(Clone, Debug)]
struct FilterPath {
    text: String,
    steps: Vec<FilterStep>,
}

#[derive(Clone, Debug)]
enum FilterStep {
    Key(String),
    Index(usize),
}

/// A parsed filter.
#[derive(Clone, Debug)]
pub struct ItemFilter {
    root: FilterExpr,
    problems: Vec<FilterProblem>,
}

/// The results of the three references for one item.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Judgement {
    /// True if the item is kept, in the order of [`FilterDialect::ALL`]; `None` if only that reference can decide.
    pub kept: [Option<bool>; 3],
    /// The differences and their reasons: one line for each comparison.
    pub differences: Vec<String>,
}

impl Judgement {
    /// Returns the result of one reference.
    pub fn by(&self, dialect: FilterDialect) -> Option<bool> {
        let mut all = FilterDialect::ALL.into_iter().zip(self.kept);
        all.find(|(d, _)| *d == dialect).and_then(|(_, kept)| kept)
    }

    /// Returns true if all references give the same result.
    pub fn agree(&self) -> bool {
        self.kept.iter().all(|k| k.is_some() && *k == self.kept[0])
    }
}

impl ItemFilter {
    /// Parses an expression.
    pub fn parse(text: &str) -> Result<Self, FilterError> {
        parse::parse(text)
    }

    /// Returns the likely mistakes.
    pub fn problems(&self) -> &[FilterProblem] {
        &self.problems
    }

    /// Returns true if an item is kept. `now` is in seconds since 1970. Numbers are doubles, as in every reference.
    pub fn keeps(&self, item: &Value, now: i64, dialect: FilterDialect) -> bool {
        evaluate::evaluate(&self.root, &evaluate::EvalContext { item, now, dialect }) == Some(true)
    }

    /// Returns the results of the three references for an item.
    pub fn judge(&self, item: &Value, now: i64) -> Judgement {
        evaluate::judge(&self.root, item, now)
    }

    /// Applies the filter as a stage of a pipeline: of an array, the objects that match; any other value unchanged.
    pub fn apply(&self, input: &Value, now: i64, dialect: FilterDialect) -> Value {
        let Value::Array(items) = input else {
            return input.clone();
        };
        let kept = items
            .iter()
            .filter(|item| item.is_object() && self.keeps(item, now, dialect));
        Value::Array(kept.cloned().collect())
    }
}

/// Writes the parse tree, one line for each node.
impl fmt::Display for ItemFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        show(&self.root, 0, f)
    }
}

fn show(expr: &FilterExpr, depth: usize, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let indent = "  ".repeat(depth);
    match expr {
        FilterExpr::All => writeln!(f, "{indent}everything"),
        FilterExpr::Truthy(path) => writeln!(f, "{indent}truthy  field {}", path.text),
        FilterExpr::Compare(c) => {
            let name = c.op;
            writeln!(f, "{indent}{name}  field {}  {}", c.field.text, c.value)
        }
        FilterExpr::Not(inner) => {
            writeln!(f, "{indent}not")?;
            show(inner, depth + 1, f)
        }
        FilterExpr::Or(parts) | FilterExpr::And(parts) => {
            let name = if matches!(expr, FilterExpr::Or(_)) {
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
