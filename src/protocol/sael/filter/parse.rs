//! Parses a filter. The text is split at the operator with the lowest precedence, outside quotes and brackets; the rest
//! is a field or text.

use super::pattern::RegexPattern;
use super::{
    Comparison, DEEPEST, FilterError, FilterExpr, FilterPath, FilterProblem, FilterStep,
    ItemFilter, LONGEST, OPS, Term,
};
use serde_json::Value;

/// The largest number of characters that a problem quotes.
const SHOWN: usize = 60;
/// The largest number of problems.
const PROBLEMS: usize = 100;

pub(super) fn parse(text: &str) -> Result<ItemFilter, FilterError> {
    if text.len() > LONGEST {
        return Err(FilterError::TooLong);
    }
    let mut parser = FilterParser {
        problems: Vec::new(),
    };
    let root = parser.or(text, 0)?;
    Ok(ItemFilter {
        root,
        problems: parser.problems,
    })
}

struct FilterParser {
    problems: Vec<FilterProblem>,
}

/// Scans text and tracks open quotes and brackets.
#[derive(Default)]
struct BracketScan {
    quote: Option<u8>,
    round: i32,
    square: i32,
}

impl BracketScan {
    /// Consumes a byte. Returns true if it is outside quotes and brackets, and is none of these itself.
    fn step(&mut self, byte: u8) -> bool {
        match (self.quote, byte) {
            (Some(open), _) => {
                if byte == open {
                    self.quote = None;
                }
                return false;
            }
            (None, b'\'' | b'"') => {
                self.quote = Some(byte);
                return false;
            }
            (None, b'(') => self.round += 1,
            (None, b')') => self.round -= 1,
            (None, b'[') => self.square += 1,
            (None, b']') => self.square -= 1,
            _ => return self.round <= 0 && self.square <= 0,
        }
        false
    }
}

/// Splits text at an operator outside quotes and brackets.
fn split<'a>(text: &'a str, sign: &str) -> Vec<&'a str> {
    let bytes = text.as_bytes();
    let (mut scan, mut parts, mut start, mut at) = (BracketScan::default(), Vec::new(), 0, 0);
    while let Some(&byte) = bytes.get(at) {
        let outside = scan.step(byte);
        if outside
            && bytes
                .get(at..)
                .is_some_and(|b| b.starts_with(sign.as_bytes()))
        {
            parts.push(text.get(start..at).unwrap_or_default());
            at += sign.len();
            start = at;
        } else {
            at += 1;
        }
    }
    parts.push(text.get(start..).unwrap_or_default());
    parts
}

impl FilterParser {
    fn warn(&mut self, part: &str, text: &'static str) {
        // One mistake is found at several levels.
        let part: String = part.trim().chars().take(SHOWN).collect();
        if self.problems.len() < PROBLEMS
            && !self
                .problems
                .iter()
                .any(|p| p.text == text && p.part == part)
        {
            self.problems.push(FilterProblem { part, text });
        }
    }

    fn or(&mut self, text: &str, depth: u32) -> Result<FilterExpr, FilterError> {
        if depth >= DEEPEST {
            return Err(FilterError::TooDeep);
        }
        if depth == 0 {
            self.balance(text);
        }
        let empty = "one side of `||` is empty; an empty side is true";
        let parts = self.sides(text, "||", empty).into_iter();
        let exprs = parts.map(|part| {
            let empty = "one side of `&&` is empty; an empty side is true";
            let parts = self.sides(part, "&&", empty).into_iter();
            let exprs = parts.map(|part| self.not(part.trim(), depth));
            Ok(one_or(exprs.collect::<Result<_, _>>()?, FilterExpr::And))
        });
        Ok(one_or(exprs.collect::<Result<_, _>>()?, FilterExpr::Or))
    }

    /// Splits text at an operator outside quotes and brackets, and reports empty sides.
    fn sides<'a>(&mut self, text: &'a str, sign: &str, empty: &'static str) -> Vec<&'a str> {
        let parts = split(text, sign);
        if parts.len() > 1 && parts.iter().any(|part| part.trim().is_empty()) {
            self.warn(text, empty);
        }
        parts
    }

    fn not(&mut self, text: &str, depth: u32) -> Result<FilterExpr, FilterError> {
        match text.strip_prefix('!') {
            Some(rest) => {
                let rest = rest.trim_start();
                if rest.starts_with('!') {
                    self.warn(
                        text,
                        "only one `!` is read; the next one is part of the field's name",
                    );
                }
                Ok(FilterExpr::Not(Box::new(self.test(rest, depth)?)))
            }
            None => self.test(text, depth),
        }
    }

    fn test(&mut self, text: &str, depth: u32) -> Result<FilterExpr, FilterError> {
        if text.is_empty() {
            return Ok(FilterExpr::All);
        }
        if let Some(inner) = enclosed(text) {
            return self.or(inner, depth + 1);
        }
        let Some((field, op, value)) = operator(text) else {
            self.bare(text);
            return Ok(FilterExpr::Truthy(path(text)));
        };
        if field.is_empty() {
            self.warn(text, "the field before the operator is missing");
        }
        if value.is_empty() {
            self.warn(
                text,
                "the value after the operator is missing; empty text is used",
            );
        }
        if value.starts_with('=') {
            self.warn(text, "the second `=` is part of the value's text");
        }
        if operator(value).is_some() {
            self.warn(value, "a second operator is part of the value's text");
        }
        if field.starts_with(['\'', '"']) {
            self.warn(
                field,
                "the left side is always a field's name, also in quotes",
            );
        }
        let term = self.term(value, depth)?;
        let pattern = match (op, &term) {
            ("matches", Term::Literal(Value::String(text))) => Some(RegexPattern::new(text)),
            _ => None,
        };
        match pattern.as_ref().map(RegexPattern::is_good) {
            Some(false) if pattern.as_ref().is_some_and(RegexPattern::is_foreign) => {
                self.warn(value, "look-around and back-references are not in Go's patterns: nothing matches there");
            }
            Some(false) => self.warn(value, "is not a valid pattern: nothing matches"),
            _ => {}
        }
        Ok(FilterExpr::Compare(Box::new(Comparison {
            text: text.to_owned(),
            field: path(field),
            op,
            value: term,
            pattern,
        })))
    }

    /// Reports a field alone that looks like an unknown operator.
    fn bare(&mut self, text: &str) {
        if text.contains(['=', ' ', '\'', '"', '&', '|', '(', ')']) {
            self.warn(
                text,
                "has no operator of the language, and is read as a field's name",
            );
        }
    }

    fn term(&mut self, text: &str, depth: u32) -> Result<Term, FilterError> {
        if depth >= DEEPEST {
            return Err(FilterError::TooDeep);
        }
        let text = text.trim();
        if let Some(number) = number(text) {
            return Ok(Term::Literal(number));
        }
        if let Some(inner) = quoted(text) {
            if inner.contains(text.chars().next().unwrap_or_default()) {
                self.warn(
                    text,
                    "there are no escapes: quotes inside are part of the text",
                );
            }
            return Ok(Term::Literal(inner.into()));
        }
        match text {
            "true" => return Ok(Term::Literal(true.into())),
            "false" => return Ok(Term::Literal(false.into())),
            "null" => return Ok(Term::Literal(Value::Null)),
            "now()" => return Ok(Term::Now),
            _ => {}
        }
        if let Some(inner) = text.strip_prefix('[').and_then(|t| t.strip_suffix(']')) {
            if inner.trim().is_empty() {
                return Ok(Term::List(Vec::new()));
            }
            let parts = split(inner, ",").into_iter();
            let terms: Result<_, _> = parts.map(|part| self.term(part, depth + 1)).collect();
            return Ok(Term::List(terms?));
        }
        // The order of this list is the only precedence, and the first sign splits: a - b - c is a - (b - c).
        for sign in ['+', '-', '*', '/'] {
            let Some(at) = sign_at(text, sign) else {
                continue;
            };
            let (left, right) = text.split_at_checked(at).unwrap_or((text, ""));
            let right = right.get(1..).unwrap_or_default();
            self.arithmetic(text, sign, left, right);
            let left = self.term(left, depth + 1)?;
            let right = self.term(right, depth + 1)?;
            return Ok(Term::Arithmetic(sign, Box::new(left), Box::new(right)));
        }
        Ok(Term::Word(path(text)))
    }

    fn arithmetic(&mut self, text: &str, sign: char, left: &str, right: &str) {
        if left.trim().is_empty() || right.trim().is_empty() {
            self.warn(text, "one side of the sign is empty, and counts as 0");
        }
        if matches!(sign, '-' | '/') && sign_at(right, sign).is_some() {
            self.warn(text, "is grouped from the right: a - b - c is a - (b - c)");
        }
        if text.replace("now()", "").contains(['(', ')']) {
            self.warn(text, "parentheses mean nothing in a value");
        }
        if sign == '-' && !left.ends_with(' ') && left.contains(|c: char| c.is_alphabetic()) {
            self.warn(text, "is a subtraction; text with a hyphen needs quotes");
        }
    }

    /// Reports quotes and brackets without a partner.
    fn balance(&mut self, text: &str) {
        let mut scan = BracketScan::default();
        for byte in text.bytes() {
            scan.step(byte);
            if scan.round < 0 {
                self.warn(
                    text,
                    "a `)` closes nothing, and is part of the text beside it",
                );
                break;
            }
        }
        if scan.round > 0 {
            self.warn(text, "a `(` is not closed, and is part of the field's name");
        }
        if scan.square != 0 {
            self.warn(text, "a square bracket has no partner");
        }
        if scan.quote.is_some() {
            self.warn(text, "a quote is not closed");
        }
    }
}

fn one_or(mut exprs: Vec<FilterExpr>, several: fn(Vec<FilterExpr>) -> FilterExpr) -> FilterExpr {
    match exprs.len() {
        1 => exprs.pop().unwrap_or(FilterExpr::All),
        _ => several(exprs),
    }
}

/// Returns the content of parentheses around the whole text.
fn enclosed(text: &str) -> Option<&str> {
    let inner = text.strip_prefix('(')?.strip_suffix(')')?;
    let mut scan = BracketScan::default();
    for byte in inner.bytes() {
        scan.step(byte);
        if scan.round < 0 {
            return None;
        }
    }
    (scan.round == 0 && scan.quote.is_none()).then_some(inner)
}

/// Finds the first operator outside quotes. Returns it with its two sides. Word operators need white space around them.
fn operator(text: &str) -> Option<(&str, &'static str, &str)> {
    let bytes = text.as_bytes();
    let mut scan = BracketScan::default();
    for (at, &byte) in bytes.iter().enumerate() {
        // Parentheses do not hide an operator: an unclosed one is part of the field name.
        scan.step(byte);
        if scan.quote.is_some() || matches!(byte, b'\'' | b'"') {
            continue;
        }
        let rest = bytes.get(at..).unwrap_or_default();
        let space = |at: Option<usize>| {
            let byte = at.and_then(|at| bytes.get(at));
            byte.is_some_and(u8::is_ascii_whitespace)
        };
        for name in OPS {
            let is_word = name.starts_with(|c: char| c.is_alphabetic());
            if rest.starts_with(name.as_bytes())
                && (!is_word || (space(at.checked_sub(1)) && space(Some(at + name.len()))))
            {
                let field = text.get(..at).unwrap_or_default();
                let value = text.get(at + name.len()..).unwrap_or_default();
                return Some((field.trim(), name, value.trim()));
            }
        }
    }
    None
}

/// Returns the position of a sign outside quotes and lists, but not at the start.
fn sign_at(text: &str, sign: char) -> Option<usize> {
    let mut scan = BracketScan::default();
    for (at, c) in text.char_indices() {
        let mut bytes = [0; 4];
        for byte in c.encode_utf8(&mut bytes).bytes() {
            scan.step(byte);
        }
        if at > 0 && c == sign && scan.quote.is_none() && scan.square <= 0 {
            return Some(at);
        }
    }
    None
}

fn quoted(text: &str) -> Option<&str> {
    let inside = |quote| text.strip_prefix(quote)?.strip_suffix(quote);
    inside('\'').or_else(|| inside('"'))
}

/// Parses the whole text as a decimal number.
fn number(text: &str) -> Option<Value> {
    let starts = text.trim_start_matches(['-', '+']);
    if !starts.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        return None;
    }
    if let Ok(whole) = text.parse::<i64>() {
        return Some(whole.into());
    }
    let number: f64 = text.parse().ok()?;
    serde_json::Number::from_f64(number).map(Value::Number)
}

/// Parses `a.b[0]`. Text that does not fit is part of a key.
fn path(text: &str) -> FilterPath {
    let mut steps = Vec::new();
    for part in text.split('.') {
        let (key, mut indexes) = match part.find('[') {
            Some(at) => part.split_at_checked(at).unwrap_or((part, "")),
            None => (part, ""),
        };
        let from = steps.len();
        if !key.is_empty() || indexes.is_empty() {
            steps.push(FilterStep::Key(key.to_owned()));
        }
        while let Some((index, rest)) = indexes
            .strip_prefix('[')
            .and_then(|rest| rest.split_once(']'))
        {
            let Ok(index) = index.parse() else { break };
            steps.push(FilterStep::Index(index));
            indexes = rest;
        }
        if !indexes.is_empty() {
            steps.truncate(from);
            steps.push(FilterStep::Key(part.to_owned()));
        }
    }
    FilterPath {
        text: text.to_owned(),
        steps,
    }
}
