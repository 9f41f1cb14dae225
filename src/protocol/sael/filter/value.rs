//! Values as the references see them: what is a number, what is equal.

use super::{Dialect, Path, Step};
use serde_json::Value;

/// A field of an item; `None` where it is absent.
pub(super) fn field<'v>(item: &'v Value, path: &Path) -> Option<&'v Value> {
    path.steps.iter().try_fold(item, |value, step| match step {
        Step::Key(key) => value.as_object()?.get(key),
        Step::Index(index) => value.as_array()?.get(*index),
    })
}

/// Whether a field alone keeps its item.
pub(super) fn is_truthy(value: Option<&Value>) -> bool {
    match value {
        None | Some(Value::Null) => false,
        Some(Value::Bool(yes)) => *yes,
        Some(Value::Number(number)) => number.as_f64() != Some(0.0),
        Some(Value::String(text)) => !matches!(text.as_str(), "" | "false" | "0"),
        Some(Value::Array(_) | Value::Object(_)) => true,
    }
}

/// What a value counts where a number is wanted. What is no number counts 0.
pub(super) fn number(value: Option<&Value>, dialect: Dialect) -> f64 {
    match value {
        Some(Value::Bool(true)) => 1.0,
        Some(Value::Number(number)) => number.as_f64().unwrap_or_default(),
        Some(Value::String(text)) => {
            let text = text.trim();
            let start = match dialect {
                Dialect::Python => text,
                Dialect::Go | Dialect::TypeScript => leading_number(text),
            };
            // Rust also reads `inf` and `nan`, which no item means.
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

/// The number that text begins with.
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

/// Whether two values are equal to a reference. `left` is what the field holds.
pub(super) fn equal(left: Option<&Value>, right: Option<&Value>, dialect: Dialect) -> bool {
    let is_number = |value: Option<&Value>| value.is_some_and(Value::is_number);
    let numeric = match dialect {
        Dialect::Go => is_number(left),
        Dialect::Python | Dialect::TypeScript => is_number(left) || is_number(right),
    };
    if numeric {
        #[allow(clippy::float_cmp)] // the references compare doubles
        return number(left, dialect) == number(right, dialect);
    }
    if dialect == Dialect::TypeScript {
        return left == right;
    }
    match (left, right) {
        (None | Some(Value::Null), None | Some(Value::Null)) => true,
        (None | Some(Value::Null), _) | (_, None | Some(Value::Null)) => false,
        (Some(left), Some(right)) => text(left) == text(right),
    }
}

/// A value as it is compared with others: text as it is, the rest as JSON spells it.
fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
