//! Whether a value fits a JSON Schema: the keywords that tool inputs are described with. Others are let pass.

use super::check::number;
use crate::encoding::lossless;
use crate::protocol::session::text::short;
use crate::tape::{Node, Scalar, Value as Shape};
use serde_json::Value;

/// Bytes of one schema that is read.
const LONGEST: usize = 64 << 10;
/// Bytes of all schemas of a list that are read.
const ALL: usize = 4 << 20;

/// What of the schemas of a list may still be kept.
pub(in crate::protocol) struct Budget(usize);

impl Default for Budget {
    fn default() -> Self {
        Self(ALL)
    }
}

impl Budget {
    /// A schema, where there is room for it.
    pub(in crate::protocol) fn take(&mut self, node: Node<'_>) -> Option<Value> {
        let len = node.span().len as usize;
        if len > LONGEST || len > self.0 {
            return None;
        }
        self.0 -= len;
        plain(node)
    }
}

/// A value as others read it; `None` where JSON cannot say it.
fn plain(node: Node<'_>) -> Option<Value> {
    let mut json = Vec::new();
    lossless::write(node, &mut json);
    serde_json::from_slice(&json).ok()
}

/// The first thing in a value that a schema forbids, with where it is.
pub(in crate::protocol) fn unfit(schema: &Value, value: Node<'_>) -> Option<String> {
    // Paths of names in names may be long.
    check(schema, value, "input").map(|text| text.chars().take(200).collect())
}

fn check(schema: &Value, value: Node<'_>, at: &str) -> Option<String> {
    let Value::Object(schema) = schema else {
        return (schema == &Value::Bool(false)).then(|| format!("{at} must not be there"));
    };
    if let Some(wanted) = schema.get("type")
        && !is_one_of(wanted, value)
    {
        return Some(format!(
            "{at} is {}, and must be {wanted}",
            value.describe()
        ));
    }
    if let Some(Value::Array(wanted)) = schema.get("enum")
        && let Some(got) = plain(value)
        && !wanted.contains(&got)
    {
        return Some(format!("{at} is none of the values that are allowed"));
    }
    if let Some(wanted) = schema.get("const")
        && let Some(got) = plain(value)
        && *wanted != got
    {
        return Some(format!("{at} is not the one value that is allowed"));
    }
    for (key, above) in [("minimum", false), ("maximum", true)] {
        if let Some(limit) = schema.get(key).and_then(Value::as_f64)
            && let Some(got) = number(value)
            && (if above { got > limit } else { got < limit })
        {
            return Some(format!("{at} is {got}, and its {key} is {limit}"));
        }
    }
    if value.is_array()
        && let Some(items) = schema.get("items").filter(|items| items.is_object())
    {
        let mut all = value.children().enumerate();
        return all.find_map(|(n, item)| check(items, item, &format!("{at}[{n}]")));
    }
    if value.is_map() {
        return members(schema, value, at);
    }
    None
}

fn members(schema: &serde_json::Map<String, Value>, value: Node<'_>, at: &str) -> Option<String> {
    let required = schema.get("required").and_then(Value::as_array);
    for name in required.into_iter().flatten().filter_map(Value::as_str) {
        if value.get(name).is_none() {
            return Some(format!("{at} has no `{}`, which is required", short(name)));
        }
    }
    let properties = schema.get("properties").and_then(Value::as_object);
    let closed = schema.get("additionalProperties") == Some(&Value::Bool(false));
    for (key, member) in value.members() {
        let key = key.text().unwrap_or_default();
        let known = properties.and_then(|properties| properties.get(key.as_ref()));
        let path = format!("{at}.{}", short(&key));
        match known {
            Some(schema) => {
                if let Some(wrong) = check(schema, member, &path) {
                    return Some(wrong);
                }
            }
            None if closed && schema.get("patternProperties").is_none() => {
                return Some(format!("{path} is no property of it"));
            }
            None => {}
        }
    }
    None
}

fn is_one_of(wanted: &Value, value: Node<'_>) -> bool {
    match wanted {
        Value::String(name) => is(name, value),
        Value::Array(names) => names.iter().filter_map(Value::as_str).any(|n| is(n, value)),
        _ => true,
    }
}

fn is(name: &str, value: Node<'_>) -> bool {
    // MessagePack's bytes and extensions have no place in JSON Schema.
    if matches!(
        value.value(),
        Shape::Scalar(Scalar::Bin(_) | Scalar::Ext(..))
    ) {
        return true;
    }
    match name {
        "object" => value.is_map(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.as_bool().is_some(),
        "null" => value.is_null(),
        "number" => number(value).is_some(),
        "integer" => number(value).is_some_and(|n| n.fract() == 0.0),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::unfit;
    use crate::encoding::json;
    use crate::span::Span;
    use crate::tape::Tape;

    #[test]
    fn the_first_misfit_is_told_with_its_place() {
        let schema = serde_json::json!({
            "type": "object",
            "required": ["text"],
            "additionalProperties": false,
            "properties": {
                "text": {"type": "string", "enum": ["a", "b"]},
                "count": {"type": ["integer", "null"], "minimum": 1, "maximum": 9},
                "tags": {"type": "array", "items": {"type": "object", "required": ["id"]}},
                "mode": {"const": 1},
                "never": false,
                "any": true,
                "later": {"$ref": "#/elsewhere"},
            },
        });
        for (input, wanted) in [
            (r#"{"text":"a"}"#, None),
            (
                r#"{"text":"a","count":2.0,"any":[],"later":7,"mode":1}"#,
                None,
            ),
            (r#"{"text":"a","count":null,"tags":[{"id":1}]}"#, None),
            ("[]", Some("input is an array, and must be \"object\"")),
            ("{}", Some("input has no `text`, which is required")),
            (
                r#"{"text":1}"#,
                Some("input.text is an integer, and must be \"string\""),
            ),
            (
                r#"{"text":"c"}"#,
                Some("input.text is none of the values that are allowed"),
            ),
            (
                r#"{"text":"a","count":0}"#,
                Some("input.count is 0, and its minimum is 1"),
            ),
            (
                r#"{"text":"a","count":10}"#,
                Some("input.count is 10, and its maximum is 9"),
            ),
            (
                r#"{"text":"a","count":1.5}"#,
                Some("input.count is a fraction, and must be [\"integer\",\"null\"]"),
            ),
            (
                r#"{"text":"a","tags":[{"id":1},{}]}"#,
                Some("input.tags[1] has no `id`, which is required"),
            ),
            (
                r#"{"text":"a","mode":2}"#,
                Some("input.mode is not the one value that is allowed"),
            ),
            (
                r#"{"text":"a","never":2}"#,
                Some("input.never must not be there"),
            ),
            (
                r#"{"text":"a","txet":2}"#,
                Some("input.txet is no property of it"),
            ),
        ] {
            let mut tape = Tape::new();
            let span = Span::new(0, input.len());
            json::parse(input.as_bytes(), span, 9, &mut tape).expect("JSON");
            let root = tape.root(input.as_bytes()).expect("a value");
            assert_eq!(unfit(&schema, root).as_deref(), wanted, "{input}");
        }
    }
}
