//! Tree and item to verdicts.

use super::pattern::Pattern;
use super::value::{equal, field, is_truthy, number};
use super::{Compare, Dialect, Expr, Judgement, Op, Term};
use serde_json::Value;
use std::borrow::Cow;

/// What an expression is evaluated over.
#[derive(Clone, Copy)]
pub(super) struct Scene<'a> {
    pub(super) item: &'a Value,
    pub(super) now: i64,
    pub(super) dialect: Dialect,
}

/// True, false, or not to be known here.
pub(super) fn evaluate(expr: &Expr, scene: &Scene<'_>) -> Option<bool> {
    match expr {
        Expr::All => Some(true),
        Expr::Truthy(path) => Some(is_truthy(field(scene.item, path))),
        Expr::Compare(compare) => self::compare(compare, scene),
        Expr::Not(inner) => evaluate(inner, scene).map(|yes| !yes),
        Expr::Or(parts) => any(parts, scene, true),
        Expr::And(parts) => any(parts, scene, false),
    }
}

/// One part that is `wanted` decides; otherwise one that is not known leaves all unknown.
fn any(parts: &[Expr], scene: &Scene<'_>, wanted: bool) -> Option<bool> {
    let mut all = Some(!wanted);
    for part in parts {
        match evaluate(part, scene) {
            Some(yes) if yes == wanted => return Some(wanted),
            Some(_) => {}
            None => all = None,
        }
    }
    all
}

/// All three, and where they part.
pub(super) fn judge(expr: &Expr, item: &Value, now: i64) -> Judgement {
    let scene = |dialect| Scene { item, now, dialect };
    let kept = Dialect::ALL.map(|dialect| evaluate(expr, &scene(dialect)));
    let mut differences = Vec::new();
    each(expr, &mut |compare| {
        let results = Dialect::ALL.map(|dialect| self::compare(compare, &scene(dialect)));
        if results.iter().any(|r| *r != results[0]) {
            let why = reason(compare, &scene(Dialect::Go));
            differences.push(format!("{}: {}: {why}", compare.text, sides(results)));
        }
    });
    Judgement { kept, differences }
}

fn each(expr: &Expr, visit: &mut dyn FnMut(&Compare)) {
    match expr {
        Expr::Compare(compare) => visit(compare),
        Expr::Not(inner) => each(inner, visit),
        Expr::Or(parts) | Expr::And(parts) => parts.iter().for_each(|part| each(part, visit)),
        Expr::All | Expr::Truthy(_) => {}
    }
}

/// `true to go, python; false to typescript`.
fn sides(results: [Option<bool>; 3]) -> String {
    let mut sides = Vec::new();
    for (result, word) in [
        (Some(true), "true to"),
        (Some(false), "false to"),
        (None, "not known here for"),
    ] {
        let pairs = Dialect::ALL.into_iter().zip(results);
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

/// Why the references differ over a comparison.
fn reason(compare: &Compare, scene: &Scene<'_>) -> &'static str {
    let left = field(scene.item, &compare.field);
    let right = resolve(&compare.value, scene);
    let right = Some(&*right);
    let is_null = |v: Option<&Value>| v.is_none_or(Value::is_null);
    let is_number = |v: Option<&Value>| v.is_some_and(Value::is_number);
    match compare.op {
        Op::Matches => "patterns differ: Unicode classes, look-around, back-references",
        Op::In | Op::NotIn if !right.is_some_and(Value::is_array) => {
            "nothing is in what is no list; go keeps such an item for notIn, the others do not"
        }
        Op::Equal | Op::NotEqual | Op::In | Op::NotIn
            if is_number(left) != is_number(right) && !is_number(left) =>
        {
            "beside a number, go compares what is none as text, the others as a number"
        }
        Op::Equal | Op::NotEqual if is_null(left) && is_null(right) => {
            "absent is null to go and python, to typescript it is not"
        }
        Op::Equal | Op::NotEqual | Op::In | Op::NotIn if !is_number(left) => {
            "text is equal to what spells the same to go and python, to typescript only to text"
        }
        _ => "text that begins with a number is that number to go and typescript, 0 to python",
    }
}

/// The value of a term. A word that is no field is its own text.
fn resolve<'v>(term: &'v Term, scene: &Scene<'v>) -> Cow<'v, Value> {
    match term {
        Term::Literal(value) => Cow::Borrowed(value),
        Term::Now => Cow::Owned(scene.now.into()),
        Term::List(terms) => {
            let values = terms.iter().map(|term| resolve(term, scene));
            Cow::Owned(Value::Array(values.map(Cow::into_owned).collect()))
        }
        Term::Word(path) => match field(scene.item, path) {
            Some(value) => Cow::Borrowed(value),
            None => Cow::Owned(Value::String(path.text.clone())),
        },
        Term::Arithmetic(sign, left, right) => {
            let left = amount(left, scene);
            let right = amount(right, scene);
            let result = match sign {
                '+' => left + right,
                '-' => left - right,
                '*' => left * right,
                _ if right == 0.0 => 0.0,
                _ => left / right,
            };
            // JSON has no infinity; what overflows counts as nothing.
            Cow::Owned(serde_json::Number::from_f64(result).map_or(0.into(), Value::Number))
        }
    }
}

/// A term as a side of a sign: a word that is no field is no number.
fn amount(term: &Term, scene: &Scene<'_>) -> f64 {
    number(Some(&*resolve(term, scene)), scene.dialect)
}

fn compare(compare: &Compare, scene: &Scene<'_>) -> Option<bool> {
    let dialect = scene.dialect;
    let left = field(scene.item, &compare.field);
    let right = resolve(&compare.value, scene);
    let right = Some(&*right);
    let numbers = || (number(left, dialect), number(right, dialect));
    let texts = || Some((left?.as_str()?, right?.as_str()?));
    let list = right.and_then(Value::as_array);
    let is_in = || list.is_some_and(|l| l.iter().any(|v| equal(left, Some(v), dialect)));
    Some(match compare.op {
        Op::AtLeast => numbers().0 >= numbers().1,
        Op::AtMost => numbers().0 <= numbers().1,
        Op::Above => numbers().0 > numbers().1,
        Op::Below => numbers().0 < numbers().1,
        Op::Equal => equal(left, right, dialect),
        Op::NotEqual => !equal(left, right, dialect),
        Op::Contains => texts().is_some_and(|(l, r)| l.contains(r)),
        Op::StartsWith => texts().is_some_and(|(l, r)| l.starts_with(r)),
        Op::EndsWith => texts().is_some_and(|(l, r)| l.ends_with(r)),
        Op::In => is_in(),
        Op::NotIn if list.is_none() => dialect == Dialect::Go,
        Op::NotIn => !is_in(),
        Op::Matches => {
            let Some((text, pattern)) = texts() else {
                return Some(false);
            };
            let made;
            let pattern = if let Some(pattern) = &compare.pattern {
                pattern
            } else {
                made = Pattern::new(pattern);
                &made
            };
            return pattern.is_match(text, dialect == Dialect::Python, dialect != Dialect::Go);
        }
    })
}
