//! Changes of what a server offers: a client that worked before still works (compatible), or may fail (breaking).
//!
//! ```text
//!   gone                                  breaking         new                          compatible
//!   an argument becomes required          breaking         an optional argument         compatible
//!   a type, an enum or a range narrows    breaking         it widens                    compatible
//!   a result: the other way round                          descriptions and titles      compatible
//! ```

use super::offers::{Members, Offered};
use serde_json::Value;
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

/// The nesting depth at which schemas are compared as wholes.
const MAX_DEPTH: usize = 32;

/// A change of what a server offers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OfferChange {
    pub is_breaking: bool,
    /// `tools/list add: argument n is gone`.
    pub text: String,
}

/// The members of a definition that are for people, or that no client depends on.
const WORDING: [&str; 9] = [
    "$comment",
    "$schema",
    "_meta",
    "annotations",
    "default",
    "description",
    "examples",
    "icons",
    "title",
];

/// Who writes the values of a schema.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    /// The client: the server must still accept everything that it wrote before.
    Arguments,
    /// The server: everything that it writes now must have been possible before.
    Results,
}

/// Returns the changes between what was offered and what is offered now.
pub fn changes(old: &Offered, new: &Offered) -> Vec<OfferChange> {
    let mut found = Changes(Vec::new());
    let groups = [
        (&old.announced, &new.announced, true),
        (&old.lists, &new.lists, false),
    ];
    for (old, new, is_announced) in groups {
        for (of, before) in old {
            let empty = Members::new();
            let now = new.get(of).unwrap_or(&empty);
            found.members(of, before, now, is_announced);
        }
        for (of, now) in new.iter().filter(|(of, _)| !old.contains_key(*of)) {
            for name in now.keys() {
                found.add(false, format!("{of} {name}: new"));
            }
        }
    }
    found.0.sort_by_key(|change| !change.is_breaking);
    found.0
}

struct Changes(Vec<OfferChange>);

impl Changes {
    fn add(&mut self, is_breaking: bool, text: String) {
        self.0.push(OfferChange { is_breaking, text });
    }

    fn members(&mut self, of: &str, old: &Members, new: &Members, is_announced: bool) {
        for (name, before) in old {
            let place = format!("{of} {name}");
            match new.get(name) {
                None => self.add(!is_off(before), format!("{place}: gone")),
                Some(now) if is_announced => self.announced(&place, before, now),
                Some(now) => self.definition(&place, before, now),
            }
        }
        for name in new.keys().filter(|name| !old.contains_key(*name)) {
            self.add(false, format!("{of} {name}: new"));
        }
    }

    /// Compares an announced value: members may be added, and a member that was off may be on.
    fn announced(&mut self, place: &str, old: &Value, new: &Value) {
        match (old, new) {
            _ if old == new => {}
            (Value::Object(before), Value::Object(after)) => {
                for (key, value) in before {
                    let place = format!("{place}.{key}");
                    match after.get(key) {
                        None => self.add(!is_off(value), format!("{place}: gone")),
                        Some(now) => self.announced(&place, value, now),
                    }
                }
                for key in after.keys().filter(|key| !before.contains_key(*key)) {
                    self.add(false, format!("{place}.{key}: new"));
                }
            }
            _ => self.add(!is_off(old), changed(place, old, new)),
        }
    }

    /// Compares a definition: its schemas, its arguments by name, and its other members.
    fn definition(&mut self, place: &str, old: &Value, new: &Value) {
        let (Value::Object(before), Value::Object(after)) = (old, new) else {
            if old != new {
                self.add(true, changed(place, old, new));
            }
            return;
        };
        for (key, now) in after.iter().filter(|(key, _)| !before.contains_key(*key)) {
            match key.as_str() {
                // Without a schema, anything was accepted.
                "inputSchema" | "input_schema" => {
                    self.schema(place, &Value::Bool(true), now, Side::Arguments, 0);
                }
                "arguments" => self.arguments(place, &Value::Null, now),
                key => self.add(false, format!("{place}: {key} is new")),
            }
        }
        for (key, value) in before {
            match (key.as_str(), after.get(key)) {
                (_, Some(now)) if now == value => {}
                (key, _) if WORDING.contains(&key) => {
                    self.add(false, format!("{place}: {key} has changed"));
                }
                (key, None) => self.add(true, format!("{place}: {key} is gone")),
                ("inputSchema" | "input_schema" | "parameters", Some(now)) => {
                    self.schema(place, value, now, Side::Arguments, 0);
                }
                ("outputSchema" | "output_schema" | "returns", Some(now)) => {
                    self.schema(place, value, now, Side::Results, 0);
                }
                ("arguments", Some(now)) => self.arguments(place, value, now),
                (key, Some(now)) => self.add(true, changed(&format!("{place}: {key}"), value, now)),
            }
        }
    }

    /// Compares a list of arguments, each with name and `required`.
    fn arguments(&mut self, place: &str, old: &Value, new: &Value) {
        let by_name = |list: &Value| -> BTreeMap<String, bool> {
            let items = list.as_array().into_iter().flatten();
            let named = items.filter_map(|item| {
                let name = item.get("name")?.as_str()?.to_owned();
                Some((name, item.get("required") == Some(&Value::Bool(true))))
            });
            named.collect()
        };
        let (before, after) = (by_name(old), by_name(new));
        for (name, was_required) in &before {
            match after.get(name) {
                None => self.add(true, format!("{place}: argument {name} is gone")),
                Some(true) if !was_required => {
                    self.add(true, format!("{place}: argument {name} is required now"));
                }
                Some(_) => {}
            }
        }
        for (name, required) in after.iter().filter(|(name, _)| !before.contains_key(*name)) {
            let kind = if *required { "required" } else { "optional" };
            self.add(*required, format!("{place}: {kind} argument {name} is new"));
        }
    }

    /// Compares two JSON Schemas.
    fn schema(&mut self, place: &str, old: &Value, new: &Value, side: Side, depth: usize) {
        if old == new {
            return;
        }
        if depth > MAX_DEPTH {
            return self.add(true, format!("{place}: the schema has changed"));
        }
        // `true` is the schema of any value.
        let empty = serde_json::Map::new();
        let members = |value: &Value| value.as_object().cloned().unwrap_or_else(|| empty.clone());
        let (before, after) = (members(old), members(new));
        if new == &Value::Bool(false) || old == &Value::Bool(false) {
            return self.add(true, changed(place, old, new));
        }
        self.properties(place, &before, &after, side, depth);
        let keys: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
        for key in keys {
            let (was, is) = (before.get(key), after.get(key));
            let is_same =
                was == is || (was.zip(is)).is_some_and(|(was, is)| is_equal(key, was, is));
            if is_same || WORDING.contains(&key.as_str()) {
                if !is_same {
                    self.add(false, format!("{place}: {key} has changed"));
                }
                continue;
            }
            // Conditions on a value: the side that reads it fixes the direction in which they may change.
            let (loose, strict) = match side {
                Side::Arguments => (was, is),
                Side::Results => (is, was),
            };
            match key.as_str() {
                "properties" | "required" => {}
                "items" => {
                    let any = Value::Bool(true);
                    let (was, is) = (was.unwrap_or(&any), is.unwrap_or(&any));
                    self.schema(&format!("{place}[]"), was, is, side, depth + 1);
                }
                // What refers to them is compared where it is.
                "$defs" | "definitions" => {
                    let (was, is) = (members_of(was), members_of(is));
                    for (name, was) in &was {
                        if let Some(is) = is.get(name) {
                            let place = format!("{place}.{key}.{name}");
                            self.schema(&place, was, is, side, depth + 1);
                        }
                    }
                }
                _ => {
                    let is_breaking = !accepts_as_much(key, loose, strict);
                    let null = Value::Null;
                    let text = changed(
                        &format!("{place}: {key}"),
                        was.unwrap_or(&null),
                        is.unwrap_or(&null),
                    );
                    self.add(is_breaking, text);
                }
            }
        }
    }

    /// Compares the properties of two schemas, and which of them are required.
    fn properties(
        &mut self,
        place: &str,
        before: &serde_json::Map<String, Value>,
        after: &serde_json::Map<String, Value>,
        side: Side,
        depth: usize,
    ) {
        let names = |schema: &serde_json::Map<String, Value>| -> BTreeSet<String> {
            let required = schema.get("required").and_then(Value::as_array);
            let names = required.into_iter().flatten().filter_map(Value::as_str);
            names.map(str::to_owned).collect()
        };
        let properties = |schema: &serde_json::Map<String, Value>| -> Members {
            let properties = schema.get("properties").and_then(Value::as_object).cloned();
            properties.into_iter().flatten().collect()
        };
        let what = match side {
            Side::Arguments => "argument",
            Side::Results => "result",
        };
        let (were_required, are_required) = (names(before), names(after));
        let (was, is) = (properties(before), properties(after));
        for (name, old) in &was {
            match is.get(name) {
                None => self.add(true, format!("{place}: {what} {name} is gone")),
                Some(new) => self.schema(&format!("{place}.{name}"), old, new, side, depth + 1),
            }
        }
        for name in is.keys().filter(|name| !was.contains_key(*name)) {
            let is_required = side == Side::Arguments && are_required.contains(name);
            let kind = if is_required { "required " } else { "" };
            self.add(is_required, format!("{place}: {kind}{what} {name} is new"));
        }
        let both = |name: &&String| {
            was.contains_key(*name) && is.contains_key(*name)
                || !was.contains_key(*name) && !is.contains_key(*name)
        };
        for name in are_required.difference(&were_required).filter(both) {
            let text = format!("{place}: {what} {name} is required now");
            self.add(side == Side::Arguments, text);
        }
        for name in were_required.difference(&are_required).filter(both) {
            let text = format!("{place}: {what} {name} is optional now");
            self.add(side == Side::Results, text);
        }
    }
}

/// Returns the members of an object.
fn members_of(value: Option<&Value>) -> Members {
    let members = value.and_then(Value::as_object).cloned();
    members.into_iter().flatten().collect()
}

/// Returns the elements of a list, or the only value.
fn list(value: &Value) -> Vec<Value> {
    match value {
        Value::Array(items) => items.clone(),
        one => vec![one.clone()],
    }
}

/// Compares two numbers exactly.
fn compare(a: &Value, b: &Value) -> Option<Ordering> {
    let whole = |value: &Value| {
        let signed = value.as_i64().map(i128::from);
        signed.or_else(|| value.as_u64().map(i128::from))
    };
    match (whole(a), whole(b)) {
        (Some(a), Some(b)) => Some(a.cmp(&b)),
        _ => a.as_f64()?.partial_cmp(&b.as_f64()?),
    }
}

/// Returns true if two values of a keyword mean the same: lists of types and values have no order.
fn is_equal(key: &str, a: &Value, b: &Value) -> bool {
    match key {
        "type" | "enum" | "required" => {
            let (a, b) = (list(a), list(b));
            a.iter().all(|one| b.contains(one)) && b.iter().all(|one| a.contains(one))
        }
        _ => compare(a, b) == Some(Ordering::Equal),
    }
}

/// Returns a schema without the parts that are for people.
fn without_wording(schema: &Value) -> Value {
    match schema {
        Value::Object(members) => {
            let members = members.iter();
            let members = members.filter(|(key, _)| !WORDING.contains(&key.as_str()));
            Value::Object(
                members
                    .map(|(key, value)| (key.clone(), value.clone()))
                    .collect(),
            )
        }
        other => other.clone(),
    }
}

/// Returns true if an announced value says that something is not there.
fn is_off(value: &Value) -> bool {
    matches!(value, Value::Null | Value::Bool(false))
}

/// Returns true if each value that the keyword `loose` accepts is accepted with `strict`, too; `None`: it is absent.
fn accepts_as_much(key: &str, loose: Option<&Value>, strict: Option<&Value>) -> bool {
    let Some(strict) = strict else {
        return true;
    };
    let limits = |at_least: bool| {
        let found = loose.and_then(|loose| compare(strict, loose));
        let wrong = if at_least {
            Ordering::Greater
        } else {
            Ordering::Less
        };
        found.is_some_and(|found| found != wrong)
    };
    match key {
        "type" => loose.is_some_and(|loose| {
            let types = list(strict);
            let fits = |one: &Value| {
                types.contains(one) || one == "integer" && types.contains(&Value::from("number"))
            };
            list(loose).iter().all(fits)
        }),
        "enum" => {
            loose.is_some_and(|loose| list(loose).iter().all(|one| list(strict).contains(one)))
        }
        "minimum" | "exclusiveMinimum" | "minLength" | "minItems" | "minProperties" => limits(true),
        "maximum" | "exclusiveMaximum" | "maxLength" | "maxItems" | "maxProperties" => {
            limits(false)
        }
        "anyOf" | "oneOf" => loose.is_some_and(|loose| {
            let strict: Vec<Value> = list(strict).iter().map(without_wording).collect();
            let mut all = list(loose).into_iter();
            all.all(|one| strict.contains(&without_wording(&one)))
        }),
        "additionalProperties" => *strict == Value::Bool(true),
        _ => false,
    }
}

/// Returns `PLACE: "a", before "b"`, or that it has changed if the values are long.
fn changed(place: &str, old: &Value, new: &Value) -> String {
    /// Longer values are not shown.
    const SHOWN: usize = 60;
    let (was, is) = (old.to_string(), new.to_string());
    match (old, new) {
        _ if was.len() > SHOWN || is.len() > SHOWN => format!("{place} has changed"),
        (Value::Null, _) => format!("{place} is {is} now"),
        (_, Value::Null) => format!("{place} was {was}, and is gone"),
        _ => format!("{place} was {was}, and is {is} now"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn offered(tool: Value) -> Offered {
        let mut offered = Offered::default();
        let list = offered.lists.entry("tools/list".into()).or_default();
        list.insert("add".into(), tool);
        offered
    }

    /// Returns `! text` for a breaking change, and `+ text` for a compatible one.
    fn between(old: Value, new: Value) -> String {
        let lines = changes(&offered(old), &offered(new)).into_iter();
        let lines =
            lines.map(|one| format!("{} {}", if one.is_breaking { '!' } else { '+' }, one.text));
        lines.collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn arguments_may_be_widened_and_results_narrowed() {
        let input = |schema: Value| json!({ "inputSchema": schema });
        let output = |schema: Value| json!({ "outputSchema": schema });
        let object = |properties: Value, required: Value| json!({"type": "object", "properties": properties, "required": required});
        let table: &[(Value, Value, &str)] = &[
            (
                input(object(json!({"a": {}}), json!([]))),
                input(object(json!({"a": {}, "b": {}}), json!([]))),
                "+ tools/list add: argument b is new",
            ),
            (
                input(object(json!({"a": {}}), json!([]))),
                input(object(json!({"a": {}, "b": {}}), json!(["b"]))),
                "! tools/list add: required argument b is new",
            ),
            (
                input(object(json!({"a": {}}), json!([]))),
                input(object(json!({"a": {}}), json!(["a"]))),
                "! tools/list add: argument a is required now",
            ),
            (
                input(object(json!({"a": {}}), json!(["a"]))),
                input(object(json!({"a": {}}), json!([]))),
                "+ tools/list add: argument a is optional now",
            ),
            (
                input(object(json!({"a": {}}), json!([]))),
                input(object(json!({}), json!([]))),
                "! tools/list add: argument a is gone",
            ),
            (
                input(json!({"type": "integer"})),
                input(json!({"type": "number"})),
                "+ tools/list add: type was \"integer\", and is \"number\" now",
            ),
            (
                input(json!({"type": "number"})),
                input(json!({"type": "integer"})),
                "! tools/list add: type was \"number\", and is \"integer\" now",
            ),
            (
                output(json!({"type": "number"})),
                output(json!({"type": "integer"})),
                "+ tools/list add: type was \"number\", and is \"integer\" now",
            ),
            (
                output(json!({"type": "integer"})),
                output(json!({"type": "number"})),
                "! tools/list add: type was \"integer\", and is \"number\" now",
            ),
            (
                input(json!({"enum": ["a"]})),
                input(json!({"enum": ["a", "b"]})),
                "+ tools/list add: enum was [\"a\"], and is [\"a\",\"b\"] now",
            ),
            (
                output(json!({"enum": ["a"]})),
                output(json!({"enum": ["a", "b"]})),
                "! tools/list add: enum was [\"a\"], and is [\"a\",\"b\"] now",
            ),
            (
                input(json!({"anyOf": [{"type": "string", "title": "A"}]})),
                input(json!({"anyOf": [{"type": "null"}, {"type": "string"}]})),
                "+ tools/list add: anyOf was [{\"title\":\"A\",\"type\":\"string\"}], and is [{\"type\":\"null\"},{\"type\":\"string\"}] now",
            ),
            (
                input(json!({"anyOf": [{"type": "null"}, {"type": "string"}]})),
                input(json!({"anyOf": [{"type": "string"}]})),
                "! tools/list add: anyOf was [{\"type\":\"null\"},{\"type\":\"string\"}], and is [{\"type\":\"string\"}] now",
            ),
            (
                input(json!({"$defs": {"A": {"type": "integer", "description": "x"}}})),
                input(json!({"$defs": {"A": {"type": "number", "description": "y"}, "B": {}}})),
                "+ tools/list add.$defs.A: description has changed\n+ tools/list add.$defs.A: type was \"integer\", and is \"number\" now",
            ),
            (
                output(json!({"$defs": {"A": {"type": "integer"}}})),
                output(json!({"$defs": {"A": {"type": "number"}}})),
                "! tools/list add.$defs.A: type was \"integer\", and is \"number\" now",
            ),
            (
                input(json!({"type": "string", "enum": ["a", "b"], "minimum": 1})),
                input(json!({"type": ["string"], "enum": ["b", "a"], "minimum": 1.0})),
                "",
            ),
            (
                input(json!({"maximum": 9_007_199_254_740_993_u64})),
                input(json!({"maximum": 9_007_199_254_740_992_u64})),
                "! tools/list add: maximum was 9007199254740993, and is 9007199254740992 now",
            ),
            (
                input(json!({"maximum": 5})),
                input(json!({"maximum": 4})),
                "! tools/list add: maximum was 5, and is 4 now",
            ),
            (
                input(json!({})),
                input(json!({"additionalProperties": false})),
                "! tools/list add: additionalProperties is false now",
            ),
            (
                input(json!({"pattern": "a"})),
                input(json!({})),
                "+ tools/list add: pattern was \"a\", and is gone",
            ),
            (
                input(json!({"items": {"type": "string"}})),
                input(json!({"items": {}})),
                "+ tools/list add[]: type was \"string\", and is gone",
            ),
            (
                json!({"description": "a"}),
                json!({"description": "b"}),
                "+ tools/list add: description has changed",
            ),
            (
                json!({"arguments": [{"name": "x"}]}),
                json!({"arguments": [{"name": "x", "required": true}]}),
                "! tools/list add: argument x is required now",
            ),
        ];
        for (old, new, wanted) in table {
            assert_eq!(between(old.clone(), new.clone()), *wanted, "{old} {new}");
            assert_eq!(between(old.clone(), old.clone()), "");
        }
    }

    #[test]
    fn capabilities_may_be_added() {
        let announced = |value: Value| {
            let mut offered = Offered::default();
            let members = value.as_object().cloned().unwrap().into_iter().collect();
            offered.announced.insert("initialize".into(), members);
            offered
        };
        let old = announced(json!({"tools": {"listChanged": true}, "logging": {}, "x": false}));
        let new = announced(json!({"tools": {"listChanged": false}, "x": true, "prompts": {}}));
        let found: Vec<_> = changes(&old, &new)
            .into_iter()
            .map(|one| (one.is_breaking, one.text))
            .collect();
        assert_eq!(
            found,
            [
                (true, "initialize logging: gone".to_owned()),
                (
                    true,
                    "initialize tools.listChanged was true, and is false now".to_owned()
                ),
                (false, "initialize x was false, and is true now".to_owned()),
                (false, "initialize prompts: new".to_owned()),
            ]
        );
    }
}
