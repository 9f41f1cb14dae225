//! The keywords of schemas.

use super::super::check::number;
use super::{At, Validation, Wrong, formats, plain, wrong};
use crate::protocol::session::text::short;
use crate::tape::{Node, Scalar, Value as Shape};
use serde_json::{Map, Value};
use std::collections::BTreeSet;

type Schema = Map<String, Value>;

/// Returns the number of a keyword that counts something.
fn count(schema: &Schema, keyword: &str) -> Option<f64> {
    schema.get(keyword).and_then(Value::as_f64)
}

/// Returns the schemas of a keyword with a list.
fn list<'s>(schema: &'s Schema, keyword: &str) -> &'s [Value] {
    let found = schema.get(keyword).and_then(Value::as_array);
    found.map_or(&[], Vec::as_slice)
}

impl<'s> Validation<'s> {
    pub(super) fn keywords(&self, schema: &'s Schema, value: Node<'_>, at: &At<'_>) -> Wrong {
        for keyword in ["$ref", "$dynamicRef", "$recursiveRef"] {
            let Some(reference) = schema.get(keyword) else {
                continue;
            };
            let found = self.resolve(reference);
            let wrong = found.and_then(|schema| self.check(schema, value, at));
            if wrong.is_some() || self.document.names.is_ref_alone && found.is_some() {
                return wrong;
            }
        }
        self.note_unevaluated(schema, value);
        self.combined(schema, value, at)
            .or_else(|| self.own(schema, value, at))
            .or_else(|| self.numbers(schema, value, at))
            .or_else(|| match value.value() {
                Shape::Array => self.items(schema, value, at),
                Shape::Map => self.members(schema, value, at),
                _ => None,
            })
    }

    /// States that members or elements that no other keyword covers are not checked.
    fn note_unevaluated(&self, schema: &'s Schema, value: Node<'_>) {
        let keyword = match value.value() {
            Shape::Array => "unevaluatedItems",
            Shape::Map => "unevaluatedProperties",
            _ => return,
        };
        let rest = schema.get(keyword);
        if rest.is_some_and(|rest| *rest != Value::Bool(true)) {
            self.give_up(&format!("`{keyword}` is not supported"));
        }
    }

    /// Checks the schemas that apply to the same value.
    fn combined(&self, schema: &'s Schema, value: Node<'_>, at: &At<'_>) -> Wrong {
        let all = list(schema, "allOf").iter();
        if let Some(wrong) = all.into_iter().find_map(|s| self.check(s, value, at)) {
            return Some(wrong);
        }
        for keyword in ["anyOf", "oneOf"] {
            let schemas = list(schema, keyword);
            let Some((first, others)) = schemas.split_first() else {
                continue;
            };
            let Some(reason) = self.check(first, value, at) else {
                let is_second = |s: &'s Value| self.fits(s, value, at) && !self.is_unchecked();
                if keyword == "oneOf" && others.iter().any(is_second) {
                    return wrong(
                        value,
                        format_args!("{at} fits more than one of the schemas of oneOf"),
                    );
                }
                continue;
            };
            let mut fitting = others.iter().filter(|s| self.fits(s, value, at));
            match (fitting.next(), fitting.next()) {
                (None, _) if others.is_empty() => return Some(reason),
                (None, _) => {
                    return wrong(
                        value,
                        format_args!("{at} fits none of the schemas of {keyword}"),
                    );
                }
                (Some(_), Some(_)) if keyword == "oneOf" && !self.is_unchecked() => {
                    return wrong(
                        value,
                        format_args!("{at} fits more than one of the schemas of oneOf"),
                    );
                }
                _ => {}
            }
        }
        if let Some(forbidden) = schema.get("not")
            && self.fits(forbidden, value, at)
            && !self.is_unchecked()
        {
            return wrong(
                value,
                format_args!("{at} fits a schema that it must not fit"),
            );
        }
        let condition = schema.get("if")?;
        let branch = if self.fits(condition, value, at) {
            "then"
        } else {
            "else"
        };
        self.check(schema.get(branch)?, value, at)
    }

    /// Checks type and equality.
    fn own(&self, schema: &'s Schema, value: Node<'_>, at: &At<'_>) -> Wrong {
        // OpenAPI 3.0 says nullable instead of a type.
        let nullable = schema.get("nullable") == Some(&Value::Bool(true)) && value.is_null();
        if let Some(wanted) = schema.get("type")
            && !nullable
            && !is_one_of(wanted, value)
        {
            let got = value.describe();
            let wanted = type_words(wanted);
            return wrong(value, format_args!("{at} is {got}; it must be {wanted}"));
        }
        let (allowed, only) = (schema.get("enum"), schema.get("const"));
        if allowed.is_none() && only.is_none() || nullable {
            return None;
        }
        let allowed = allowed.and_then(Value::as_array);
        let work = allowed.map_or(0, Vec::len) / 8 + value.span().len as usize / 64;
        if !self.spend(work) {
            return None;
        }
        let got = plain(value)?;
        if allowed.is_some_and(|allowed| !allowed.iter().any(|v| is_equal(v, &got))) {
            return wrong(value, format_args!("{at} is not one of the allowed values"));
        }
        if only.is_some_and(|only| !is_equal(only, &got)) {
            return wrong(value, format_args!("{at} is not the only allowed value"));
        }
        None
    }

    /// Checks numbers, and the length of texts.
    fn numbers(&self, schema: &'s Schema, value: Node<'_>, at: &At<'_>) -> Wrong {
        if value.is_string() {
            return self.text(schema, value, at);
        }
        let got = number(value)?;
        for (key, above) in [("minimum", false), ("maximum", true)] {
            let Some(limit) = count(schema, key) else {
                continue;
            };
            if if above { got > limit } else { got < limit } {
                return wrong(
                    value,
                    format_args!("{at} is {got}, but its {key} is {limit}"),
                );
            }
        }
        for (key, base, above) in [
            ("exclusiveMinimum", "minimum", false),
            ("exclusiveMaximum", "maximum", true),
        ] {
            // Draft 4 has a flag beside the limit.
            let limit = match schema.get(key) {
                Some(Value::Bool(true)) => count(schema, base),
                _ => count(schema, key),
            };
            let Some(limit) = limit else {
                continue;
            };
            if if above { got >= limit } else { got <= limit } {
                let side = if above { "below" } else { "above" };
                return wrong(
                    value,
                    format_args!("{at} is {got}; it must be {side} {limit}"),
                );
            }
        }
        let factor = count(schema, "multipleOf").filter(|factor| *factor > 0.0)?;
        let parts = got / factor;
        // A factor such as 0.01 is no exact float.
        let is_multiple = (parts - parts.round()).abs() <= parts.abs() * 1e-12;
        if is_multiple || !parts.is_finite() {
            return None;
        }
        wrong(
            value,
            format_args!("{at} is {got}; it must be a multiple of {factor}"),
        )
    }

    fn text(&self, schema: &'s Schema, value: Node<'_>, at: &At<'_>) -> Wrong {
        let (least, most) = (count(schema, "minLength"), count(schema, "maxLength"));
        let pattern = schema.get("pattern").and_then(Value::as_str);
        let format = schema.get("format").and_then(Value::as_str);
        let format = format.filter(|_| self.document.names.asserts_formats);
        if least.is_none() && most.is_none() && pattern.is_none() && format.is_none() {
            return None;
        }
        let text = value.text()?;
        if let Some(format) = format
            && self.spend(text.len() / 64)
            && let Some(wanted) = formats::mismatch(format, &text)
        {
            return wrong(
                value,
                format_args!(
                    "{at} is not {wanted}, as its format {} demands",
                    short(format)
                ),
            );
        }
        if let Some(text) = out_of(text.chars().count(), "character", least, most) {
            return wrong(value, format_args!("{at} has {text}"));
        }
        if let Some(text) = pattern.filter(|_| self.spend(text.len() / 64))
            && let Some(pattern) = self.pattern(text)
            && !pattern.is_match(&value.text()?)
        {
            return wrong(
                value,
                format_args!("{at} does not match the pattern {}", short(text)),
            );
        }
        None
    }

    fn items(&self, schema: &'s Schema, value: Node<'_>, at: &At<'_>) -> Wrong {
        let (least, most) = (count(schema, "minItems"), count(schema, "maxItems"));
        if (least.is_some() || most.is_some())
            && let Some(text) = out_of(value.count(), "element", least, most)
        {
            return wrong(value, format_args!("{at} has {text}"));
        }
        // In draft 7, `items` is a list of schemas or one for all, and `additionalItems` is for the rest.
        let (first, rest) = match (schema.get("prefixItems"), schema.get("items")) {
            (None, Some(Value::Array(first))) => (first.as_slice(), schema.get("additionalItems")),
            (_, items) => (list(schema, "prefixItems"), items),
        };
        if !first.is_empty() || rest.is_some() {
            for (n, item) in value.children().enumerate() {
                let Some(schema) = first.get(n).or(rest) else {
                    break;
                };
                let wrong = self.check(schema, item, &At::Element(at, n));
                if wrong.is_some() {
                    return wrong;
                }
            }
        }
        if let Some(contained) = schema.get("contains") {
            let items = value.children().enumerate();
            let fitting =
                items.filter(|(n, item)| self.fits(contained, *item, &At::Element(at, *n)));
            let fitting = fitting.count();
            let least = count(schema, "minContains").unwrap_or(1.0);
            let most = count(schema, "maxContains");
            if let Some(text) = out_of(fitting, "element", Some(least), most)
                && !self.is_unchecked()
            {
                return wrong(
                    value,
                    format_args!("of those that fit `contains`, {at} has {text}"),
                );
            }
        }
        if schema.get("uniqueItems") == Some(&Value::Bool(true)) {
            if !self.spend(value.span().len as usize / 64) {
                return None;
            }
            let mut seen = BTreeSet::new();
            for (n, item) in value.children().enumerate() {
                let Some(plain) = plain(item) else { continue };
                if !seen.insert(plain.to_string()) {
                    return wrong(item, format_args!("{at}[{n}] is there twice"));
                }
            }
        }
        None
    }

    fn members(&self, schema: &'s Schema, value: Node<'_>, at: &At<'_>) -> Wrong {
        for name in list(schema, "required").iter().filter_map(Value::as_str) {
            if value.get(name).is_none() {
                let name = short(name);
                return wrong(
                    value,
                    format_args!("{at} has no `{name}`, which is required"),
                );
            }
        }
        let (least, most) = (
            count(schema, "minProperties"),
            count(schema, "maxProperties"),
        );
        if (least.is_some() || most.is_some())
            && let Some(text) = out_of(value.count(), "member", least, most)
        {
            return wrong(value, format_args!("{at} has {text}"));
        }
        self.dependencies(schema, value, at)
            .or_else(|| self.properties(schema, value, at))
    }

    fn properties(&self, schema: &'s Schema, value: Node<'_>, at: &At<'_>) -> Wrong {
        let properties = schema.get("properties").and_then(Value::as_object);
        let patterns = schema.get("patternProperties").and_then(Value::as_object);
        let (others, names) = (
            schema.get("additionalProperties"),
            schema.get("propertyNames"),
        );
        if properties.is_none() && patterns.is_none() && others.is_none() && names.is_none() {
            return None;
        }
        for (node, member) in value.members() {
            let key = node.text().unwrap_or_default();
            let place = At::Member(at, &key);
            if let Some(wrong) = names.and_then(|names| self.check(names, node, &place)) {
                return Some(wrong);
            }
            let known = properties.and_then(|properties| properties.get(key.as_ref()));
            if let Some(wrong) = known.and_then(|schema| self.check(schema, member, &place)) {
                return Some(wrong);
            }
            let mut is_known = known.is_some();
            for (pattern, schema) in patterns.into_iter().flatten() {
                if !self.spend(1) {
                    return None;
                }
                // A pattern that cannot be matched may be that of this member.
                let found = self.pattern(pattern);
                if found.is_none_or(|pattern| pattern.is_match(&key)) {
                    is_known = true;
                }
                if found.is_some_and(|pattern| pattern.is_match(&key))
                    && let Some(wrong) = self.check(schema, member, &place)
                {
                    return Some(wrong);
                }
            }
            match others {
                _ if is_known => {}
                Some(Value::Bool(false)) => {
                    return wrong(member, format_args!("it has no property {place}"));
                }
                Some(others) => {
                    let wrong = self.check(others, member, &place);
                    if wrong.is_some() {
                        return wrong;
                    }
                }
                None => {}
            }
        }
        None
    }

    /// Checks what the presence of a member requires.
    fn dependencies(&self, schema: &'s Schema, value: Node<'_>, at: &At<'_>) -> Wrong {
        for keyword in ["dependentRequired", "dependentSchemas", "dependencies"] {
            let all = schema.get(keyword).and_then(Value::as_object);
            for (name, needs) in all.into_iter().flatten() {
                if value.get(name).is_none() {
                    continue;
                }
                let Value::Array(needs) = needs else {
                    let wrong = self.check(needs, value, at);
                    if wrong.is_some() {
                        return wrong;
                    }
                    continue;
                };
                let mut needs = needs.iter().filter_map(Value::as_str);
                if let Some(missing) = needs.find(|need| value.get(need).is_none()) {
                    let [missing, name] = [missing, name].map(short);
                    return wrong(
                        value,
                        format_args!("{at} has no `{missing}`, which `{name}` requires"),
                    );
                }
            }
        }
        None
    }
}

/// Describes a count outside of its limits: `2 elements; at least 3 are wanted`.
fn out_of(got: usize, what: &str, least: Option<f64>, most: Option<f64>) -> Option<String> {
    #[allow(clippy::cast_precision_loss)] // no message has so many values
    let count = got as f64;
    let limit = match (least, most) {
        (Some(least), _) if count < least => format!("at least {least}"),
        (_, Some(most)) if count > most => format!("at most {most}"),
        _ => return None,
    };
    let plural = if got == 1 { "" } else { "s" };
    Some(format!("{got} {what}{plural}; {limit} are wanted"))
}

/// Returns the words for a type, or for one of several: `an integer or null`.
fn type_words(wanted: &Value) -> String {
    let word = |name: &Value| match name.as_str() {
        Some("string") => "a string".to_owned(),
        Some("integer") => "an integer".to_owned(),
        Some("number") => "a number".to_owned(),
        Some("boolean") => "a bool".to_owned(),
        Some("object") => "an object".to_owned(),
        Some("array") => "an array".to_owned(),
        Some("null") => "null".to_owned(),
        _ => name.to_string(),
    };
    let words: Vec<String> = match wanted {
        Value::Array(names) => names.iter().map(word).collect(),
        name => vec![word(name)],
    };
    words.join(" or ")
}

/// Compares values; `1` and `1.0` are equal.
fn is_equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(x), Value::Number(y)) => {
            x == y || x.as_f64() == y.as_f64() && !(is_whole(x) && is_whole(y))
        }
        (Value::Array(x), Value::Array(y)) => {
            x.len() == y.len() && x.iter().zip(y).all(|(x, y)| is_equal(x, y))
        }
        (Value::Object(x), Value::Object(y)) => {
            let is_same = |(key, x): (&String, &Value)| y.get(key).is_some_and(|y| is_equal(x, y));
            x.len() == y.len() && x.iter().all(is_same)
        }
        _ => a == b,
    }
}

fn is_whole(number: &serde_json::Number) -> bool {
    number.is_u64() || number.is_i64()
}

fn is_one_of(wanted: &Value, value: Node<'_>) -> bool {
    match wanted {
        Value::String(name) => is(name, value),
        Value::Array(names) => names.iter().filter_map(Value::as_str).any(|n| is(n, value)),
        _ => true,
    }
}

fn is(name: &str, value: Node<'_>) -> bool {
    // JSON Schema has no type for bytes and extensions of other encodings.
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
