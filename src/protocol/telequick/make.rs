//! Messages from a few words: a method or a struct, and `field=value` for what is not zero.

use super::schema::Schema;
use crate::encoding::serde_envelope::{Field, Type};
use crate::error::Refusal;
use crate::protocol::Direction;
use crate::protocol::make::{Made, Mint, Object, Recipe, Words, text};
use std::borrow::Cow;

pub(super) const RECIPES: &[Recipe] = &[
    Recipe {
        name: "METHOD",
        words: Cow::Borrowed("[FIELD=VALUE…]"),
        keys: Cow::Borrowed(""),
        about: "a request; fields not named are zero",
    },
    Recipe {
        name: "STRUCT",
        words: Cow::Borrowed("[FIELD=VALUE…]"),
        keys: Cow::Borrowed(""),
        about: "a response of the method that has it",
    },
];

pub(super) fn make(
    schema: &Schema,
    kind: &str,
    words: &mut Words<'_>,
    _: &mut Mint,
) -> Result<Made, Refusal> {
    let (method, layout, direction) = find(schema, kind)?;
    let Some(definition) = schema.types.layout(layout) else {
        return Err(Refusal::new(
            "word 1",
            "a method or struct of the schema",
            kind.to_owned(),
        ));
    };
    let mut fields = Object::default();
    for field in &definition.fields {
        let name = schema.types.name(field.name);
        let given = words
            .keys()
            .iter()
            .rev()
            .find(|(key, _)| *key == name)
            .map(|(_, value)| *value);
        fields = fields.json(name, &value(schema, field, given)?);
    }
    let known = |key: &str| {
        definition
            .fields
            .iter()
            .any(|f| schema.types.name(f.name) == key)
    };
    if let Some((key, _)) = words.keys().iter().find(|(key, _)| !known(key)) {
        let names: Vec<&str> = definition
            .fields
            .iter()
            .map(|f| schema.types.name(f.name))
            .collect();
        let wanted = format!(
            "a field of {}: {}",
            schema.struct_name(layout),
            names.join(" ")
        );
        return Err(Refusal::new("fields", wanted, format!("`{key}`")));
    }
    words.end()?;
    let message = Object::default()
        .text("method", method.1)
        .json("method_id", &method.0.to_string());
    let message = message.text("struct", schema.struct_name(layout));
    let message = message.json("version", &definition.version.to_string());
    let message = message.json("compat_version", &definition.compat_version.to_string());
    let message = message.json("fields", &fields.finish()).finish();
    Ok(Made { message, direction })
}

/// The method that is meant, the struct its frame holds, and which way it goes.
fn find<'s>(schema: &'s Schema, kind: &str) -> Result<((u32, &'s str), u32, Direction), Refusal> {
    let named = |method: &super::Method| (method.id, schema.types.name(method.name));
    if let Some(method) = schema.method_named(kind) {
        let layout = method.input.unwrap_or(method.output);
        return Ok((named(method), layout, Direction::ToServer));
    }
    let layout = schema.struct_named(kind);
    let request = schema
        .methods
        .iter()
        .find(|m| layout.is_some() && m.input == layout);
    let response = schema.methods.iter().find(|m| Some(m.output) == layout);
    match (layout, request, response) {
        (Some(layout), Some(method), _) => Ok((named(method), layout, Direction::ToServer)),
        (Some(layout), None, Some(method)) => Ok((named(method), layout, Direction::ToClient)),
        _ => {
            let methods: Vec<&str> = schema
                .methods
                .iter()
                .map(|m| schema.types.name(m.name))
                .collect();
            Err(Refusal::new(
                "word 1",
                format!("a struct, or one of {}", methods.join(" ")),
                format!("`{kind}`"),
            ))
        }
    }
}

/// A field's value as JSON: what was given, as its type reads it, or zero.
pub(super) fn value(
    schema: &Schema,
    field: &Field,
    given: Option<&str>,
) -> Result<String, Refusal> {
    let refuse = |wanted: &str, got: &str| {
        Refusal::new(
            format!("fields.{}", schema.types.name(field.name)),
            wanted.to_owned(),
            format!("`{got}`"),
        )
    };
    Ok(match (&field.kind, given) {
        (Type::Str, given) => text(given.unwrap_or_default()),
        (Type::Bytes, None) => "{\"$bin\":\"\"}".into(),
        (Type::Bytes, Some(given)) => match given.strip_prefix("0x") {
            Some(digits) if hex::decode(digits).is_ok() => format!("{{\"$bin\":\"{digits}\"}}"),
            Some(_) => return Err(refuse("hex digits, two a byte", given)),
            None => format!("{{\"$bin\":\"{}\"}}", hex::encode(given)),
        },
        (Type::Bool, None) => "false".into(),
        (Type::Bool, Some(given @ ("true" | "false"))) => given.into(),
        (Type::Bool, Some(given)) => return Err(refuse("true or false", given)),
        (Type::Double, None) => "0.0".into(),
        (Type::Double, Some(given)) => match given.parse::<f64>() {
            Ok(number) if number.is_finite() => format!("{number:?}"),
            _ => return Err(refuse("a number", given)),
        },
        (Type::Vector(_), None) => "[]".into(),
        (Type::Struct(_), None) => "{}".into(),
        (Type::Vector(_) | Type::Struct(_), Some(given)) => given.into(),
        (Type::Enum(_), Some(given)) if given.parse::<i32>().is_err() => text(given),
        (Type::Int(_) | Type::Uint(_) | Type::Enum(_), given) => match given.unwrap_or("0") {
            given if given.parse::<i128>().is_ok() => given.into(),
            given => return Err(refuse("a whole number", given)),
        },
    })
}
