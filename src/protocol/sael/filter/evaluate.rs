//! Evaluates a parsed filter for an item.

use super::pattern::RegexPattern;
use super::value::{equal, field, is_truthy, number};
use super::{Comparison, FilterDialect, FilterExpr, Judgement, Term};
use serde_json::Value;
use std::borrow::Cow;

/// The input of an evaluation.
#[derive(Clone, Copy)]
pub(super) struct EvalContext<'a> {
    pub(super) item: &'a Value,
    pub(super) now: i64,
    pub(super) dialect: FilterDialect,
}

/// Returns true, false, or `None` if only the reference can decide.
pub(super) fn evaluate(expr: &FilterExpr, context: &EvalContext<'_>) -> Option<bool> {
    match expr {
        FilterExpr::All => Some(true),
        FilterExpr::Truthy(path) => Some(is_truthy(field(context.item, path))),
        FilterExpr::Compare(compare) => self::compare(compare, context),
        FilterExpr::Not(inner) => evaluate(inner, context).map(|yes| !yes),
        FilterExpr::Or(parts) => any(parts, context, true),
        FilterExpr::And(parts) => any(parts, context, false),
    }
}

/// Returns `wanted` if one part has that result; otherwise one unknown part makes the whole unknown.
fn any(parts: &[FilterExpr], context: &EvalContext<'_>, wanted: bool) -> Option<bool> {
    let mut all = Some(!wanted);
    for part in parts {
        match evaluate(part, context) {
            Some(yes) if yes == wanted => return Some(wanted),
            Some(_) => {}
            None => all = None,
        }
    }
    all
}

/// Evaluates all three dialects and lists the differences.
pub(super) fn judge(expr: &FilterExpr, item: &Value, now: i64) -> Judgement {
    let context = |dialect| EvalContext { item, now, dialect };
    let kept = FilterDialect::ALL.map(|dialect| evaluate(expr, &context(dialect)));
    let mut differences = Vec::new();
    each(expr, &mut |compare| {
        let results = FilterDialect::ALL.map(|dialect| self::compare(compare, &context(dialect)));
        if results.iter().any(|r| *r != results[0]) {
            let why = reason(compare, &context(FilterDialect::Go));
            differences.push(format!("{}: {}: {why}", compare.text, sides(results)));
        }
    });
    Judgement { kept, differences }
}

fn each(expr: &FilterExpr, visit: &mut dyn FnMut(&Comparison)) {
    match expr {
        FilterExpr::Compare(compare) => visit(compare),
        FilterExpr::Not(inner) => each(inner, visit),
        FilterExpr::Or(parts) | FilterExpr::And(parts) => {
            for part in parts {
                each(part, visit);
            }
        }
        FilterExpr::All | FilterExpr::Truthy(_) => {}
    }
}

/// Formats `true to go, python; false to typescript`.
fn sides(results: [Option<bool>; 3]) -> String {
    let mut sides = Vec::new();
    for (result, word) in [
        (Some(true), "true to"),
        (Some(false), "false to"),
        (None, "not known here for"),
    ] {
        let pairs = FilterDialect::ALL.into_iter().zip(results);
        let names: Vec<&str> = pairs
            .filter(|(_, r)| *r == result)
            .map(|(d, _)| d.name())
            .collect();
        if !names.is_empty() {
            sides.push(format!("{word} {}", names.join(", ")));
        }
    }
    sides.join("; ")
}

/// Returns the reason why the references differ in a comparison.
fn reason(compare: &Comparison, context: &EvalContext<'_>) -> &'static str {
    let left = field(context.item, &compare.field);
    let right = resolve(&compare.value, context);
    let right = Some(&*right);
    let is_null = |v: Option<&Value>| v.is_none_or(Value::is_null);
    let is_number = |v: Option<&Value>| v.is_some_and(Value::is_number);
    match compare.op {
        "matches" => "patterns differ: Unicode classes, look-around, back-references",
        "in" | "notIn" if !right.is_some_and(Value::is_array) => {
            "this is not a list; go keeps such an item for notIn, the others do not"
        }
        "==" | "!=" | "in" | "notIn" if is_number(left) != is_number(right) && !is_number(left) => {
            "go compares a number and another value as text, the others as numbers"
        }
        "==" | "!=" if is_null(left) && is_null(right) => {
            "for go and python an absent field is null, for typescript it is not"
        }
        "==" | "!=" | "in" | "notIn" if !is_number(left) => {
            "for go and python text equals any value with the same spelling, for typescript only text"
        }
        _ => "text that starts with a number is this number for go and typescript, 0 for python",
    }
}

/// Returns the value of a term. A word that is not a field is its own text.
fn resolve<'v>(term: &'v Term, context: &EvalContext<'v>) -> Cow<'v, Value> {
    match term {
        Term::Literal(value) => Cow::Borrowed(value),
        Term::Now => Cow::Owned(context.now.into()),
        Term::List(terms) => {
            let values = terms.iter().map(|term| resolve(term, context));
            Cow::Owned(Value::Array(values.map(Cow::into_owned).collect()))
        }
        Term::Word(path) => match field(context.item, path) {
            Some(value) => Cow::Borrowed(value),
            None => Cow::Owned(Value::String(path.text.clone())),
        },
        Term::Arithmetic(sign, left, right) => {
            let left = amount(left, context);
            let right = amount(right, context);
            let result = match sign {
                '+' => left + right,
                '-' => left - right,
                '*' => left * right,
                _ if right == 0.0 => 0.0,
                _ => left / right,
            };
            // JSON has no infinity: a result that overflows counts as 0.
            Cow::Owned(serde_json::Number::from_f64(result).map_or(0.into(), Value::Number))
        }
    }
}

/// Returns the numeric value of an operand. A word that is neither a field nor a number is 0.
fn amount(term: &Term, context: &EvalContext<'_>) -> f64 {
    number(Some(&*resolve(term, context)), context.dialect)
}

fn compare(compare: &Comparison, context: &EvalContext<'_>) -> Option<bool> {
    let dialect = context.dialect;
    let left = field(context.item, &compare.field);
    let right = resolve(&compare.value, context);
    let right = Some(&*right);
    let numbers = || (number(left, dialect), number(right, dialect));
    let texts = || Some((left?.as_str()?, right?.as_str()?));
    let list = right.and_then(Value::as_array);
    let is_in = || list.is_some_and(|l| l.iter().any(|v| equal(left, Some(v), dialect)));
    Some(match compare.op {
        ">=" => numbers().0 >= numbers().1,
        "<=" => numbers().0 <= numbers().1,
        ">" => numbers().0 > numbers().1,
        "<" => numbers().0 < numbers().1,
        "==" => equal(left, right, dialect),
        "!=" => !equal(left, right, dialect),
        "contains" => texts().is_some_and(|(l, r)| l.contains(r)),
        "startsWith" => texts().is_some_and(|(l, r)| l.starts_with(r)),
        "endsWith" => texts().is_some_and(|(l, r)| l.ends_with(r)),
        "in" => is_in(),
        "notIn" if list.is_none() => dialect == FilterDialect::Go,
        "notIn" => !is_in(),
        _ => {
            let Some((text, pattern)) = texts() else {
                return Some(false);
            };
            let made;
            let pattern = if let Some(pattern) = &compare.pattern {
                pattern
            } else {
                made = RegexPattern::new(pattern);
                &made
            };
            return pattern.is_match(
                text,
                dialect == FilterDialect::Python,
                dialect != FilterDialect::Go,
            );
        }
    })
}
