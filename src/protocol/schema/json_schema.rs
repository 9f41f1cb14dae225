//! Converts types to JSON Schema (draft 2020-12), for messages as `decode -f json` shows them.
//!
//! A type that only code can check allows any value. The JSON Schema allows every value that [`check`](super::check)
//! accepts.

use super::{Member, MessageSchema, Presence, Type};
use crate::protocol::make::{Object, array, text};
use std::borrow::Cow;

/// A kind of message, and the JSON Schema of its messages.
pub type MessageJsonSchema = (Cow<'static, str>, String);

/// Returns the kinds of messages, each with the types of all its forms.
pub fn shapes<'m>(messages: impl IntoIterator<Item = &'m MessageSchema>) -> Vec<MessageJsonSchema> {
    let mut forms: Vec<(&'static str, Vec<String>)> = Vec::new();
    for message in messages {
        let schema = of(&message.ty);
        match forms.iter_mut().find(|(name, _)| *name == message.name) {
            Some((_, forms)) => forms.push(schema),
            None => forms.push((message.name, vec![schema])),
        }
    }
    let shape = |(name, forms): (&'static str, Vec<String>)| (name.into(), any_of(&forms));
    forms.into_iter().map(shape).collect()
}

/// Returns the JSON Schema of a type.
pub fn of(ty: &Type) -> String {
    within(ty, &mut Vec::new())
}

/// A schema that allows any of these.
pub(crate) fn any_of(schemas: &[String]) -> String {
    match schemas {
        [only] => only.clone(),
        _ => Object::default().json("anyOf", &array(schemas)).finish(),
    }
}

/// The schema of a JSON type.
pub(crate) fn of_type(name: &str) -> Object {
    Object::default().text("type", name)
}

/// A schema that allows one of these texts.
pub(crate) fn one_of(words: &[&str]) -> String {
    let words: Vec<String> = words.iter().map(|word| text(word)).collect();
    Object::default().json("enum", &array(&words)).finish()
}

/// A schema of an integer from the first to the last value, inclusive.
pub(crate) fn integer(first: i128, last: i128) -> String {
    let bound = |bound: i128| {
        let is_open = bound == i128::MIN || bound == i128::MAX;
        (!is_open).then(|| bound.to_string())
    };
    let integer = of_type("integer").optional("minimum", bound(first));
    integer.optional("maximum", bound(last)).finish()
}

/// A definition that all protocols share.
pub(crate) fn shared(name: &str) -> String {
    let path = format!("#/$defs/{name}");
    Object::default().text("$ref", &path).finish()
}

fn within(ty: &Type, around: &mut Vec<*const Member>) -> String {
    match ty {
        Type::Any => "true".into(),
        Type::Never(_) => "false".into(),
        Type::Null => of_type("null").finish(),
        Type::Bool => of_type("boolean").finish(),
        Type::Text => of_type("string").finish(),
        Type::Number => any_of(&[of_type("number").finish(), shared("float")]),
        Type::Integer(first, last) | Type::Whole(first, last) => integer(*first, *last),
        Type::OneOf(words) => one_of(words),
        Type::Array(item) => {
            let item = Some(within(item, around)).filter(|item| item != "true");
            of_type("array").optional("items", item).finish()
        }
        Type::Code(code) => Object::default().text("description", code.name).finish(),
        Type::Form(ty, form) => {
            let schema = within(ty, around);
            match schema.strip_prefix('{').filter(|_| !form.wanted.is_empty()) {
                Some(rest) => format!("{{\"description\":{},{rest}", text(form.wanted)),
                None => Object::default().text("description", form.wanted).finish(),
            }
        }
        Type::Either(types) => {
            let types: Vec<String> = types.iter().map(|ty| within(ty, around)).collect();
            any_of(&types)
        }
        Type::Object(members) | Type::Tuple(members) | Type::Record(members) => {
            // A recursive type is expanded once.
            if around.contains(&members.as_ptr()) && !members.is_empty() {
                return "true".into();
            }
            around.push(members.as_ptr());
            let schema = match ty {
                Type::Tuple(_) => positions(members, false, around),
                Type::Record(_) => {
                    any_of(&[object(members, around), positions(members, true, around)])
                }
                _ => object(members, around),
            };
            around.pop();
            schema
        }
    }
}

fn object(members: &[Member], around: &mut Vec<*const Member>) -> String {
    let mut properties = Object::default();
    let mut required: Vec<String> = Vec::new();
    let mut several: Vec<String> = Vec::new();
    for member in members {
        let names = [Some(member.name), member.spelled.map(|(name, _)| name)];
        let schema = value(member, around);
        for name in names.into_iter().flatten() {
            properties = properties.json(name, &schema);
        }
        match (member.presence, member.spelled) {
            (Presence::Required, None) => required.push(text(member.name)),
            (Presence::Required, Some((other, _))) => {
                several.push(any_of(&[has(member.name), has(other)]));
            }
            _ => {}
        }
    }
    let one: Vec<String> = members
        .iter()
        .filter(|member| member.presence == Presence::One)
        .map(|member| has(member.name))
        .collect();
    if !one.is_empty() {
        several.push(Object::default().json("oneOf", &array(&one)).finish());
    }
    let mut schema = of_type("object");
    if !members.is_empty() {
        schema = schema.json("properties", &properties.finish());
    }
    let some = |list: &[String]| (!list.is_empty()).then(|| array(list));
    let schema = schema.optional("required", some(&required));
    schema.optional("allOf", some(&several)).finish()
}

/// A schema that requires a member.
fn has(name: &str) -> String {
    let names = array(&[text(name)]);
    Object::default().json("required", &names).finish()
}

fn value(member: &Member, around: &mut Vec<*const Member>) -> String {
    let schema = within(&member.ty, around);
    match member.presence {
        Presence::Nullable if schema != "true" => any_of(&[schema, of_type("null").finish()]),
        _ => schema,
    }
}

/// A schema of members at fixed positions. `holes`: null means absent.
fn positions(members: &[Member], holes: bool, around: &mut Vec<*const Member>) -> String {
    let place = |(n, member): (usize, &Member)| member.position.unwrap_or(n);
    // A position that no member has is beyond the end of the array.
    let at = |wanted: usize| {
        let mut all = members.iter().enumerate();
        all.find(|member| place(*member) == wanted)
    };
    let mut items = Vec::new();
    let mut least = 0;
    while let Some((_, member)) = at(items.len()) {
        let is_required = member.presence == Presence::Required;
        let schema = value(member, around);
        let may_be_null = holes && !is_required && schema != "true";
        items.push(if may_be_null {
            any_of(&[schema, of_type("null").finish()])
        } else {
            schema
        });
        if is_required {
            least = items.len();
        }
    }
    let least = (least > 0).then(|| least.to_string());
    let schema = of_type("array").json("prefixItems", &array(&items));
    schema.optional("minItems", least).finish()
}
