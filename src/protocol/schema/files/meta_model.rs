//! metaModel.json of the Language Server Protocol: its types as JSON Schema.

use super::{Definition, Part};
use crate::protocol::Direction;
use crate::protocol::schema::validate::SchemaDocument;
use serde_json::{Map, Value, json};

/// Reads requests and notifications, and the types that they name.
pub(super) fn read(root: &Value) -> (SchemaDocument, Vec<Definition>) {
    let mut types = Map::new();
    for structure in list(root, "structures") {
        types.insert(text(structure, "name").to_owned(), object(structure));
    }
    for alias in list(root, "typeAliases") {
        types.insert(text(alias, "name").to_owned(), member_type(alias, "type"));
    }
    for names in list(root, "enumerations") {
        let open = names.get("supportsCustomValues") == Some(&Value::Bool(true));
        let values = list(names, "values");
        let values: Vec<_> = values.filter_map(|value| value.get("value")).collect();
        let schema = if open {
            member_type(names, "type")
        } else {
            json!({"enum": values})
        };
        types.insert(text(names, "name").to_owned(), schema);
    }
    let mut found = Vec::new();
    for message in list(root, "requests").chain(list(root, "notifications")) {
        let direction = match text(message, "messageDirection") {
            "clientToServer" => Some(Direction::ToServer),
            "serverToClient" => Some(Direction::ToClient),
            _ => None,
        };
        let method = text(message, "method");
        let params = match message.get("params") {
            Some(Value::Array(params)) => tuple(params),
            Some(params) => schema(params),
            None => Value::Bool(true),
        };
        found.push(Definition::of_method(
            method,
            Part::Params,
            params,
            direction,
        ));
        if message.get("result").is_some() {
            let result = member_type(message, "result");
            let back = direction.map(Direction::other);
            found.push(Definition::of_method(method, Part::Result, result, back));
        }
    }
    (SchemaDocument::new(json!({"$defs": types})), found)
}

fn list<'v>(value: &'v Value, key: &str) -> impl Iterator<Item = &'v Value> {
    let found = value.get(key).and_then(Value::as_array);
    found.into_iter().flatten()
}

fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// Returns the schema of a type that is a member.
fn member_type(value: &Value, key: &str) -> Value {
    value.get(key).map_or(Value::Bool(true), schema)
}

/// Returns the schema of a type.
fn schema(ty: &Value) -> Value {
    let all = |key: &str| list(ty, key).map(schema).collect::<Vec<_>>();
    match text(ty, "kind") {
        "base" => match text(ty, "name") {
            "integer" => json!({"type": "integer", "minimum": i32::MIN, "maximum": i32::MAX}),
            "uinteger" => json!({"type": "integer", "minimum": 0, "maximum": i32::MAX}),
            "decimal" => json!({"type": "number"}),
            "boolean" => json!({"type": "boolean"}),
            "null" => json!({"type": "null"}),
            // URI, DocumentUri, RegExp, string
            _ => json!({"type": "string"}),
        },
        "reference" => {
            let name = text(ty, "name").replace('~', "~0").replace('/', "~1");
            json!({"$ref": format!("#/$defs/{name}")})
        }
        "array" => json!({"type": "array", "items": member_type(ty, "element")}),
        "map" => json!({"type": "object", "additionalProperties": member_type(ty, "value")}),
        "and" => json!({"allOf": all("items")}),
        "or" => json!({"anyOf": all("items")}),
        "tuple" => tuple(
            ty.get("items")
                .and_then(Value::as_array)
                .map_or(&[], Vec::as_slice),
        ),
        "literal" => ty.get("value").map_or(Value::Bool(true), object),
        "stringLiteral" | "integerLiteral" | "booleanLiteral" => json!({"const": ty.get("value")}),
        _ => Value::Bool(true),
    }
}

fn tuple(items: &[Value]) -> Value {
    let types: Vec<_> = items.iter().map(schema).collect();
    let count = types.len();
    json!({"type": "array", "prefixItems": types, "minItems": count, "maxItems": count})
}

/// Returns the schema of a structure, or of the value of a literal.
fn object(structure: &Value) -> Value {
    let (mut members, mut required) = (Map::new(), Vec::new());
    for property in list(structure, "properties") {
        let name = text(property, "name");
        members.insert(name.to_owned(), member_type(property, "type"));
        if property.get("optional") != Some(&Value::Bool(true)) {
            required.push(name);
        }
    }
    let bases = list(structure, "extends").chain(list(structure, "mixins"));
    let bases: Vec<_> = bases.map(schema).collect();
    json!({"type": "object", "allOf": bases, "properties": members, "required": required})
}
