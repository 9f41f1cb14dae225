//! Checks a value against a JSON Schema: the keywords that tool inputs use. Other keywords are ignored.

use super::check::number;
use crate::encoding::lossless;
use crate::protocol::session::text::short;
use crate::tape::{Node, Scalar, Value as Shape};
use serde_json::Value;
use std::cell::Cell;

/// The largest schema that is read, in bytes.
const LONGEST: usize = 64 << 10;
/// The largest size of all schemas of a list, in bytes.
const ALL: usize = 4 << 20;

/// The number of bytes that schemas of a list may still use.
pub(in crate::protocol) struct Budget(usize);

impl Default for Budget {
    fn default() -> Self {
        Self(ALL)
    }
}

impl Budget {
    /// Returns a schema, if there is space for it.
    pub(in crate::protocol) fn take(&mut self, node: Node<'_>) -> Option<Value> {
        let len = node.span().len as usize;
        if len > LONGEST || len > self.0 {
            return None;
        }
        self.0 -= len;
        plain(node)
    }
}

/// Converts a value to plain JSON; `None` if JSON cannot represent it.
fn plain(node: Node<'_>) -> Option<Value> {
    let mut json = Vec::new();
    lossless::write(node, &mut json);
    serde_json::from_slice(&json).ok()
}

/// Describes the first value that a schema forbids, with its path. `name` is that of the value.
pub(in crate::protocol) fn first_mismatch(
    schema: &Value,
    value: Node<'_>,
    name: &str,
) -> Option<String> {
    let root = Root {
        schema,
        steps: Cell::new(0),
        depth: Cell::new(0),
    };
    // A path of nested names may be long.
    let wrong = check(&root, schema, value, name);
    wrong.map(|text| text.chars().take(200).collect())
}

/// The largest number of schemas that are compared, and how deep: references could repeat without end.
const MAX_STEPS: u32 = 1 << 16;
const MAX_DEPTH: u32 = 256;

/// The schema to which references belong.
struct Root<'s> {
    schema: &'s Value,
    steps: Cell<u32>,
    depth: Cell<u32>,
}

impl<'s> Root<'s> {
    /// Returns the schema that a reference names, if it is in the same document.
    fn resolve(&self, reference: &Value) -> Option<&'s Value> {
        self.schema.pointer(reference.as_str()?.strip_prefix('#')?)
    }
}

fn check(root: &Root<'_>, schema: &Value, value: Node<'_>, at: &str) -> Option<String> {
    let (steps, depth) = (root.steps.get() + 1, root.depth.get() + 1);
    if steps > MAX_STEPS || depth > MAX_DEPTH {
        return None;
    }
    root.steps.set(steps);
    root.depth.set(depth);
    let wrong = check_keywords(root, schema, value, at);
    root.depth.set(depth - 1);
    wrong
}

fn check_keywords(root: &Root<'_>, schema: &Value, value: Node<'_>, at: &str) -> Option<String> {
    let Value::Object(schema) = schema else {
        return (schema == &Value::Bool(false)).then(|| format!("{at} must not be there"));
    };
    if let Some(schema) = schema.get("$ref").and_then(|name| root.resolve(name)) {
        return check(root, schema, value, at);
    }
    for schemas in ["anyOf", "oneOf"] {
        if let Some([first, others @ ..]) = schema
            .get(schemas)
            .and_then(|s| s.as_array())
            .map(Vec::as_slice)
            && let Some(wrong) = check(root, first, value, at)
            && others
                .iter()
                .all(|schema| check(root, schema, value, at).is_some())
        {
            return Some(if others.is_empty() {
                wrong
            } else {
                format!("{at} fits none of the schemas of {schemas}")
            });
        }
    }
    if let Some(wanted) = schema.get("type")
        && !is_one_of(wanted, value)
    {
        return Some(format!("{at} is {}; it must be {wanted}", value.describe()));
    }
    if let Some(Value::Array(wanted)) = schema.get("enum")
        && let Some(got) = plain(value)
        && !wanted.contains(&got)
    {
        return Some(format!("{at} is not one of the allowed values"));
    }
    if let Some(wanted) = schema.get("const")
        && let Some(got) = plain(value)
        && *wanted != got
    {
        return Some(format!("{at} is not the only allowed value"));
    }
    for (key, above) in [("minimum", false), ("maximum", true)] {
        if let Some(limit) = schema.get(key).and_then(Value::as_f64)
            && let Some(got) = number(value)
            && (if above { got > limit } else { got < limit })
        {
            return Some(format!("{at} is {got}, but its {key} is {limit}"));
        }
    }
    if value.is_array()
        && let Some(items) = schema.get("items").filter(|items| items.is_object())
    {
        let mut all = value.children().enumerate();
        return all.find_map(|(n, item)| check(root, items, item, &format!("{at}[{n}]")));
    }
    if value.is_map() {
        return members(root, schema, value, at);
    }
    None
}

fn members(
    root: &Root<'_>,
    schema: &serde_json::Map<String, Value>,
    value: Node<'_>,
    at: &str,
) -> Option<String> {
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
                if let Some(wrong) = check(root, schema, member, &path) {
                    return Some(wrong);
                }
            }
            None if closed && schema.get("patternProperties").is_none() => {
                return Some(format!("it has no property {path}"));
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
    // JSON Schema has no type for MessagePack's bytes and extensions.
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
    use super::first_mismatch;
    use crate::encoding::json;
    use crate::span::Span;
    use crate::tape::Tape;

    #[test]
    fn the_first_mismatch_is_reported_with_its_path() {
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
                "shared": {"$ref": "#/$defs/shared"},
                "loop": {"$ref": "#/properties/loop"},
                "either": {"anyOf": [{"type": "string"}, {"type": "null"}]},
            },
            "$defs": {"shared": {"type": "boolean"}},
        });
        for (input, wanted) in [
            (r#"{"text":"a"}"#, None),
            (
                r#"{"text":"a","count":2.0,"any":[],"later":7,"mode":1}"#,
                None,
            ),
            (r#"{"text":"a","count":null,"tags":[{"id":1}]}"#, None),
            ("[]", Some("input is an array; it must be \"object\"")),
            ("{}", Some("input has no `text`, which is required")),
            (
                r#"{"text":1}"#,
                Some("input.text is an integer; it must be \"string\""),
            ),
            (
                r#"{"text":"c"}"#,
                Some("input.text is not one of the allowed values"),
            ),
            (
                r#"{"text":"a","count":0}"#,
                Some("input.count is 0, but its minimum is 1"),
            ),
            (
                r#"{"text":"a","count":10}"#,
                Some("input.count is 10, but its maximum is 9"),
            ),
            (
                r#"{"text":"a","count":1.5}"#,
                Some("input.count is a fraction; it must be [\"integer\",\"null\"]"),
            ),
            (
                r#"{"text":"a","tags":[{"id":1},{}]}"#,
                Some("input.tags[1] has no `id`, which is required"),
            ),
            (
                r#"{"text":"a","mode":2}"#,
                Some("input.mode is not the only allowed value"),
            ),
            (
                r#"{"text":"a","never":2}"#,
                Some("input.never must not be there"),
            ),
            (
                r#"{"text":"a","shared":2}"#,
                Some("input.shared is an integer; it must be \"boolean\""),
            ),
            (r#"{"text":"a","either":null,"loop":1}"#, None),
            (
                r#"{"text":"a","either":2}"#,
                Some("input.either fits none of the schemas of anyOf"),
            ),
            (
                r#"{"text":"a","txet":2}"#,
                Some("it has no property input.txet"),
            ),
        ] {
            let mut tape = Tape::new();
            let span = Span::new(0, input.len());
            json::parse(input.as_bytes(), span, 9, &mut tape).expect("JSON");
            let root = tape.root(input.as_bytes()).expect("a value");
            assert_eq!(
                first_mismatch(&schema, root, "input").as_deref(),
                wanted,
                "{input}"
            );
        }
    }
}
