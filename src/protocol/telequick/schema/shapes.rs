//! Converts structs to JSON Schema, as `decode -f json` shows them.

use super::{MEMBERS, Schema, fixed, label};
use crate::encoding::serde_envelope::{FIELDS, FieldType, TAIL};
use crate::protocol::Kind;
use crate::protocol::make::{Object, array, text};
use crate::protocol::schema::Presence;
use crate::protocol::schema::json_schema::{
    MessageJsonSchema, any_of, integer, of, of_type, one_of, shared,
};

/// The depth of nested structs that are described; deeper values may be anything.
const DEPTH: u32 = 8;

/// Returns the JSON Schema of every kind of message.
pub(in super::super) fn shapes(schema: &Schema, kinds: &[Kind]) -> Vec<MessageJsonSchema> {
    let kinds = kinds.iter().map(|kind| &kind.name);
    let known = kinds.filter_map(|name| Some((name, schema.struct_named(name)?)));
    known
        .map(|(name, layout)| (name.clone(), message(schema, name, layout)))
        .collect()
}

fn message(schema: &Schema, name: &str, layout: u32) -> String {
    let mut properties = Object::default();
    for member in MEMBERS {
        let own = if member.name == fixed(label::STRUCT) {
            one_of(&[name])
        } else if member.name == fixed(FIELDS) {
            fields(schema, layout, DEPTH)
        } else if [fixed(TAIL), fixed(label::AFTER)].contains(&member.name) {
            shared("bin")
        } else {
            of(&member.ty)
        };
        properties = properties.json(member.name, &own);
    }
    let required = MEMBERS.iter().filter(|m| m.presence == Presence::Required);
    let required: Vec<String> = required.map(|m| text(m.name)).collect();
    of_type("object")
        .json("required", &array(&required))
        .json("properties", &properties.finish())
        .json("additionalProperties", "false")
        .finish()
}

/// Fields may be absent at the end, because an older writer omits them.
fn fields(schema: &Schema, layout: u32, depth: u32) -> String {
    let described = schema.types.layout(layout);
    let mut properties = Object::default();
    for field in described.iter().flat_map(|s| &s.fields) {
        let own = value(schema, &field.kind, depth);
        properties = properties.json(schema.types.name(field.name), &own);
    }
    of_type("object")
        .json("properties", &properties.finish())
        .json("additionalProperties", "false")
        .finish()
}

fn value(schema: &Schema, kind: &FieldType, depth: u32) -> String {
    let or = |name: &str, form: &str| any_of(&[of_type(name).finish(), shared(form)]);
    match kind {
        FieldType::Bool => or("boolean", "bool"),
        FieldType::Int(width) => {
            let most = 1_i128 << (8 * u32::from(*width) - 1);
            integer(-most, most - 1)
        }
        FieldType::Uint(width) => integer(0, (1_i128 << (8 * u32::from(*width))) - 1),
        FieldType::Double => or("number", "float"),
        FieldType::Str => or("string", "str"),
        FieldType::Bytes => shared("bin"),
        FieldType::Enum(id) => {
            let values = schema.types.enums.get(*id as usize);
            let names = values.iter().flat_map(|e| &e.values);
            let names: Vec<&str> = names.map(|(_, name)| schema.types.name(*name)).collect();
            any_of(&[one_of(&names), integer(i32::MIN.into(), i32::MAX.into())])
        }
        FieldType::Vector(item) => {
            let item = value(schema, item, depth);
            of_type("array").json("items", &item).finish()
        }
        FieldType::Struct(_) if depth == 0 => "true".into(),
        FieldType::Struct(id) => {
            let fields = fields(schema, *id, depth - 1);
            let wrapped = Object::default().json(fixed(FIELDS), &fields).finish();
            let wrapped = of_type("object").json("properties", &wrapped);
            let names = [text(fixed(FIELDS))];
            let wrapped = wrapped.json("required", &array(&names));
            any_of(&[fields, wrapped.finish()])
        }
    }
}
