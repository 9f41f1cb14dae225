//! Makes messages from a few words: a method or a struct, and `field=value` for fields that are not zero.

use super::{RpcMethod, Schema, fixed, label};
use crate::encoding::lossless::bytes_json;
use crate::encoding::serde_envelope::{COMPAT_VERSION, FIELDS, FieldType, StructField, VERSION};
use crate::error::{Refusal, Result};
use crate::protocol::Direction;
use crate::protocol::make::{IdGen, Made, Object, Recipe, Words, text};
use std::borrow::Cow;

/// Returns the messages that can be made: a request of each method, and each struct of an answer or a push.
pub(in super::super) fn recipes(schema: &Schema) -> Vec<Recipe> {
    let recipe = |name: &str, layout: u32, about: &str| {
        let fields = schema.types.layout(layout).map_or(&[][..], |s| &s.fields);
        let keys: Vec<_> = fields.iter().map(|f| schema.types.name(f.name)).collect();
        Recipe {
            name: name.to_owned().into(),
            words: Cow::Borrowed(""),
            keys: keys.join(" ").into(),
            about: about.to_owned().into(),
        }
    };
    let mut recipes: Vec<Recipe> = Vec::new();
    for method in &schema.methods {
        let layout = method.input.unwrap_or(method.output);
        let about = schema.about_method(method);
        recipes.push(recipe(schema.types.name(method.name), layout, about));
    }
    for layout in schema.methods.iter().map(|method| method.output) {
        let name = schema.struct_name(layout);
        let is_asked = schema.methods.iter().any(|m| m.input == Some(layout));
        if !is_asked && !recipes.iter().any(|recipe| recipe.name == name) {
            recipes.push(recipe(name, layout, schema.about(layout)));
        }
    }
    recipes
}

/// Makes a message from words.
pub(in super::super) fn make(
    schema: &Schema,
    kind: &str,
    words: &mut Words<'_>,
    _: &mut IdGen,
) -> Result<Made> {
    let (method, layout, direction) = find(schema, kind)?;
    let fields = fields(schema, layout, |field, name| {
        words
            .key(name)
            .map(|word| value(schema, field, Some(word)))
            .transpose()
    })?;
    for (key, _) in words.keys() {
        check_field(schema, layout, key)?;
    }
    while let Some(word) = words.optional() {
        let (key, _) = word.split_once('=').ok_or_else(|| words.refuse(word))?;
        check_field(schema, layout, key)?;
    }
    let message = message(schema, method, (method.id, None), layout, &fields);
    Ok(Made { message, direction })
}

/// Returns the method, the struct of its frame, and the direction.
fn find<'s>(schema: &'s Schema, kind: &str) -> Result<(&'s RpcMethod, u32, Direction)> {
    if let Some(method) = schema.method_named(kind) {
        let layout = method.input.unwrap_or(method.output);
        return Ok((method, layout, Direction::ToServer));
    }
    let layout = schema.struct_named(kind);
    let methods = || schema.methods.iter();
    let request = methods().find(|m| layout.is_some() && m.input == layout);
    let response = methods().find(|m| Some(m.output) == layout);
    match (layout, request, response) {
        (Some(layout), Some(method), _) => Ok((method, layout, Direction::ToServer)),
        (Some(layout), None, Some(method)) => Ok((method, layout, Direction::ToClient)),
        _ => {
            let names: Vec<&str> = methods().map(|m| schema.types.name(m.name)).collect();
            let wanted = format!("a struct, or one of {}", names.join(" "));
            Err(Refusal::new("word 1", wanted, format!("`{kind}`")))
        }
    }
}

/// Builds the fields of a struct as JSON: the given value of each, or zero.
pub(in super::super) fn fields(
    schema: &Schema,
    layout: u32,
    mut given: impl FnMut(&StructField, &str) -> Result<Option<String>>,
) -> Result<String> {
    let described = schema.types.layout(layout);
    let mut object = Object::default();
    for field in described.iter().flat_map(|s| &s.fields) {
        let name = schema.types.name(field.name);
        let json = match given(field, name)? {
            Some(json) => json,
            None => value(schema, field, None)?,
        };
        object = object.json(name, &json);
    }
    Ok(object.finish())
}

/// Refuses a name that is not a field of a struct.
pub(in super::super) fn check_field(schema: &Schema, layout: u32, key: &str) -> Result<()> {
    let described = schema.types.layout(layout);
    let fields = described.iter().flat_map(|s| &s.fields);
    let names: Vec<&str> = fields.map(|f| schema.types.name(f.name)).collect();
    if names.contains(&key) {
        return Ok(());
    }
    let names = names.join(" ");
    let wanted = format!("a field of {}: {names}", schema.struct_name(layout));
    Err(Refusal::new(fixed(FIELDS), wanted, format!("`{key}`")))
}

/// Builds a message of a method: its id, length mode, struct and fields.
pub(in super::super) fn message(
    schema: &Schema,
    method: &RpcMethod,
    (id, length_mode): (u32, Option<&str>),
    layout: u32,
    fields: &str,
) -> String {
    let described = schema.types.layout(layout);
    let (version, compat) = described.map_or((0, 0), |s| (s.version, s.compat_version));
    Object::default()
        .text(fixed(label::METHOD), schema.types.name(method.name))
        .json(fixed(label::METHOD_ID), &id.to_string())
        .text(fixed(label::STRUCT), schema.struct_name(layout))
        .json(fixed(VERSION), &version.to_string())
        .json(fixed(COMPAT_VERSION), &compat.to_string())
        .optional(fixed(label::LENGTH_MODE), length_mode.map(text))
        .json(fixed(FIELDS), fields)
        .finish()
}

/// Builds the value of a field as JSON: the given word, read by the type, or zero.
fn value(schema: &Schema, field: &StructField, given: Option<&str>) -> Result<String> {
    let refuse = |wanted: &str, got: &str| {
        Refusal::new(
            format!("fields.{}", schema.types.name(field.name)),
            wanted.to_owned(),
            format!("`{got}`"),
        )
    };
    Ok(match (&field.kind, given) {
        (FieldType::Str, given) => text(given.unwrap_or_default()),
        (FieldType::Bytes, None) => bytes_json(&[]),
        (FieldType::Bytes, Some(given)) => match given.strip_prefix("0x") {
            Some(digits) if hex::decode(digits).is_ok() => format!("{{\"$bin\":\"{digits}\"}}"),
            Some(_) => return Err(refuse("hex digits, two for each byte", given)),
            None => bytes_json(given.as_bytes()),
        },
        (FieldType::Bool, None) => "false".into(),
        (FieldType::Bool, Some(given @ ("true" | "false"))) => given.into(),
        (FieldType::Bool, Some(given)) => return Err(refuse("true or false", given)),
        (FieldType::Double, None) => "0.0".into(),
        (FieldType::Double, Some(given)) => match given.parse::<f64>() {
            Ok(number) if number.is_finite() => format!("{number:?}"),
            _ => return Err(refuse("a number", given)),
        },
        (FieldType::Vector(_), None) => "[]".into(),
        (FieldType::Struct(_), None) => "{}".into(),
        (FieldType::Vector(_) | FieldType::Struct(_), Some(given)) => given.into(),
        (FieldType::Enum(_), Some(given)) if given.parse::<i32>().is_err() => text(given),
        (FieldType::Int(_) | FieldType::Uint(_) | FieldType::Enum(_), given) => {
            match given.unwrap_or("0") {
                given if given.parse::<i128>().is_ok() => given.into(),
                given => return Err(refuse("a whole number", given)),
            }
        }
    })
}
