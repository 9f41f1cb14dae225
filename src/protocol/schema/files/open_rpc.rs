//! `OpenRPC`: methods with params and a result.

use super::{Definition, Part};
use serde_json::{Map, Value, json};

/// Returns the definitions of all methods.
pub(super) fn definitions(root: &Value) -> Vec<Definition> {
    let mut found = Vec::new();
    let methods = root.get("methods").and_then(Value::as_array);
    for method in methods.into_iter().flatten() {
        let method = local(root, method);
        let Some(name) = method.get("name").and_then(Value::as_str) else {
            continue;
        };
        let params = params(root, method);
        found.push(Definition::of_method(name, Part::Params, params, None));
        let result = method.get("result").map(|result| local(root, result));
        if let Some(schema) = result.and_then(|result| result.get("schema")) {
            found.push(Definition::of_method(
                name,
                Part::Result,
                schema.clone(),
                None,
            ));
        }
    }
    found
}

/// Follows a reference to another part of the file, once.
fn local<'v>(root: &'v Value, value: &'v Value) -> &'v Value {
    let name = value.get("$ref").and_then(Value::as_str);
    let found = name.and_then(|name| root.pointer(name.strip_prefix('#')?));
    found.unwrap_or(value)
}

/// Returns the schema of the params of a method: by position or by name.
fn params(root: &Value, method: &Value) -> Value {
    let (mut items, mut members, mut required, mut least) = (Vec::new(), Map::new(), Vec::new(), 0);
    let all = method.get("params").and_then(Value::as_array);
    for param in all.into_iter().flatten() {
        let param = local(root, param);
        let schema = param.get("schema").cloned().unwrap_or(Value::Bool(true));
        let name = param
            .get("name")
            .and_then(Value::as_str)
            .unwrap_or_default();
        items.push(schema.clone());
        members.insert(name.to_owned(), schema);
        if param.get("required") == Some(&Value::Bool(true)) {
            required.push(name.to_owned());
            least = items.len();
        }
    }
    let by_position =
        json!({"type": "array", "maxItems": items.len(), "prefixItems": items, "minItems": least});
    let by_name = json!({"type": "object", "properties": members, "required": required});
    let structure = method.get("paramStructure").and_then(Value::as_str);
    match structure {
        Some("by-position") => by_position,
        Some("by-name") => by_name,
        _ => json!({"if": {"type": "array"}, "then": by_position, "else": by_name}),
    }
}
