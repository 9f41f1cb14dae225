//! Values as the references read them: numbers and equality.

use super::{FilterDialect, FilterPath, FilterStep};
use serde_json::Value;

/// Returns a field of an item; `None` if it is absent.
pub(super) fn field<'v>(item: &'v Value, path: &FilterPath) -> Option<&'v Value> {
    path.steps.iter().try_fold(item, |value, step| match step {
        FilterStep::Key(key) => value.as_object()?.get(key),
        FilterStep::Index(index) => value.as_array()?.get(*index),
    })
}

/// Returns true if a field alone keeps its item.
pub(super) fn is_truthy(value: Option<&Value>) -> bool {
    match value {
        None | Some(Value::Null) => false,
        Some(Value::Bool(yes)) => *yes,
        Some(Value::Number(number)) => number.as_f64() != Some(0.0),
        Some(Value::String(text)) => !matches!(text.as_str(), "" | "false" | "0"),
        Some(Value::Array(_) | Value::Object(_)) => true,
    }
}

/// Returns the numeric value. A value that is not a number counts as 0.
pub(super) fn number(value: Option<&Value>, dialect: FilterDialect) -> f64 {
    match value {
        Some(Value::Bool(true)) => 1.0,
        Some(Value::Number(number)) => number.as_f64().unwrap_or_default(),
        Some(Value::String(text)) => {
            let text = text.trim();
            let start = match dialect {
                FilterDialect::Python => text,
                FilterDialect::Go | FilterDialect::TypeScript => leading_number(text),
            };
            // Rust also parses `inf` and `nan`, which the references do not.
            let plain = start.ends_with(|c: char| c.is_ascii_digit() || c == '.');
            start
                .parse()
                .ok()
                .filter(|n: &f64| plain && n.is_finite())
                .unwrap_or_default()
        }
        _ => 0.0,
    }
}

/// Returns the number at the start of a text.
fn leading_number(text: &str) -> &str {
    let bytes = text.as_bytes();
    let digits = |at: usize| {
        let rest = bytes.get(at..).unwrap_or_default();
        rest.iter().take_while(|b| b.is_ascii_digit()).count()
    };
    let is = |at: usize, wanted: &[u8]| bytes.get(at).is_some_and(|b| wanted.contains(b));
    let mut at = usize::from(is(0, b"+-"));
    at += digits(at);
    if is(at, b".") {
        at += 1 + digits(at + 1);
    }
    if is(at, b"eE") {
        let sign = usize::from(is(at + 1, b"+-"));
        let exponent = digits(at + 1 + sign);
        if exponent > 0 {
            at += 1 + sign + exponent;
        }
    }
    text.get(..at).unwrap_or_default()
}

/// Returns true if two values are equal in a dialect. `left` is the value of the field.
pub(super) fn equal(left: Option<&Value>, right: Option<&Value>, dialect: FilterDialect) -> bool {
    let is_number = |value: Option<&Value>| value.is_some_and(Value::is_number);
    let numeric = match dialect {
        FilterDialect::Go => is_number(left),
        FilterDialect::Python | FilterDialect::TypeScript => is_number(left) || is_number(right),
    };
    if numeric {
        #[allow(clippy::float_cmp)] // the references compare doubles
        return number(left, dialect) == number(right, dialect);
    }
    if dialect == FilterDialect::TypeScript {
        return left == right;
    }
    match (left, right) {
        (None | Some(Value::Null), None | Some(Value::Null)) => true,
        (None | Some(Value::Null), _) | (_, None | Some(Value::Null)) => false,
        (Some(left), Some(right)) => text(left) == text(right),
    }
}

/// Formats a value for comparison: text unchanged, other values as JSON.
fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
