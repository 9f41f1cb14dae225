//! Writes one message as an envelope, checked against the schema.
//!
//! Framing writes the method id and the length before the body. The struct is that of the member `struct`, otherwise it
//! follows from the method and the direction.

use super::{MEMBERS, RpcMethod, Schema, fixed, label};
use crate::encoding::lossless::{quote, text};
use crate::encoding::serde_envelope::{self as envelope, FIELDS, TAIL, Versions};
use crate::error::{Refusal, Result};
use crate::framing::LengthMode;
use crate::protocol::schema::OBJECT;
use crate::protocol::schema::check::refuse;
use crate::protocol::{Direction, MessageHead, WriteOptions, Written};
use crate::tape::Node;

/// Writes a message. `forced` is the struct of every body.
pub(in super::super) fn write(
    schema: &Schema,
    forced: Option<u32>,
    message: Node<'_>,
    options: &WriteOptions,
    out: &mut Vec<u8>,
) -> Result<Written> {
    refuse(message, &OBJECT)?;
    if !options.force {
        check_keys(message)?;
    }
    let head = MessageHead {
        header_len: 0,
        method_id: method_id(schema, message, options.force)?,
        length_mode: length_mode(message)?,
    };
    let fields = message
        .get(fixed(FIELDS))
        .ok_or_else(|| Refusal::new(fixed(FIELDS), "an object", "nothing"))?;
    let after = match message.get(fixed(label::AFTER)) {
        Some(after) => envelope::bytes(after).map_err(|r| r.inside(fixed(label::AFTER)))?,
        None => Vec::new(),
    };
    let method = head.method_id.and_then(|id| schema.method(id));
    let start = out.len();
    let result = match layout(schema, forced, message, method, options)? {
        Some(layout) => {
            let declared = schema.types.layout(layout);
            let declared = declared.map_or((0, 0), |s| (s.version, s.compat_version));
            let versions = envelope::versions(message, declared)?;
            let tail = message.get(fixed(TAIL));
            envelope::write(&schema.types, layout, versions, fields, tail, out)
        }
        None => guess(schema, message, fields, out),
    };
    if let Err(refusal) = result {
        out.truncate(start);
        return Err(refusal);
    }
    out.extend_from_slice(&after);
    Ok(Written { head })
}

fn check_keys(message: Node<'_>) -> Result<()> {
    let odd = |key: &Node<'_>| !MEMBERS.iter().any(|member| key.is_text(member.name));
    match message.members().map(|(key, _)| key).find(odd) {
        Some(key) => {
            let name = String::from_utf8_lossy(&key.key_bytes()).into_owned();
            let names: Vec<&str> = MEMBERS.iter().map(|member| member.name).collect();
            let wanted = format!("one of {}", names.join(" "));
            Err(Refusal::new(name, wanted, "another name"))
        }
        None => Ok(()),
    }
}

/// Returns the id, otherwise the id of the method; `None` for a bare envelope.
fn method_id(schema: &Schema, message: Node<'_>, force: bool) -> Result<Option<u32>> {
    let given = match message.get(fixed(label::METHOD_ID)) {
        Some(node) => {
            let id = envelope::int(node, 0, u32::MAX.into())
                .map_err(|r| r.inside(fixed(label::METHOD_ID)))?;
            u32::try_from(id).ok()
        }
        None => None,
    };
    let Some(node) = message.get(fixed(label::METHOD)) else {
        return Ok(given);
    };
    let name = text(node).map_err(|r| r.inside(fixed(label::METHOD)))?;
    let refuse = |wanted: String| Err(Refusal::new(fixed(label::METHOD), wanted, quote(node)));
    match (schema.method_named(&name), given) {
        (_, Some(_)) if force => Ok(given),
        (Some(method), None) => Ok(Some(method.id)),
        (Some(method), Some(id)) if schema.method(id) == Some(method) => Ok(given),
        (Some(_), Some(id)) => refuse(match schema.method(id) {
            Some(method) => format!("{}, as method_id says", schema.types.name(method.name)),
            None => format!("nothing: method_id {id} has no name"),
        }),
        (None, _) => refuse("a method of the schema, or method_id alone".into()),
    }
}

fn length_mode(message: Node<'_>) -> Result<Option<LengthMode>> {
    let Some(node) = message.get(fixed(label::LENGTH_MODE)) else {
        return Ok(None);
    };
    let modes = [LengthMode::Exclusive, LengthMode::Inclusive];
    let found = modes.into_iter().find(|mode| node.is_text(mode.name()));
    let wanted = "exclusive or inclusive";
    found
        .map(Some)
        .ok_or_else(|| Refusal::new(fixed(label::LENGTH_MODE), wanted, quote(node)))
}

/// Returns the struct: the given one, otherwise that of method and direction; `None` if nothing decides it and the
/// fields are guessed.
fn layout(
    schema: &Schema,
    forced: Option<u32>,
    message: Node<'_>,
    method: Option<&RpcMethod>,
    options: &WriteOptions,
) -> Result<Option<u32>> {
    let Some(node) = message.get(fixed(label::STRUCT)) else {
        let by_method = method.map(|method| match (method.input, options.direction) {
            (Some(input), None | Some(Direction::ToServer)) => input,
            _ => method.output,
        });
        return Ok(forced.or(by_method));
    };
    let name = text(node).map_err(|r| r.inside(fixed(label::STRUCT)))?;
    let refuse = |wanted: String| Err(Refusal::new(fixed(label::STRUCT), wanted, quote(node)));
    let Some(layout) = schema.struct_named(&name) else {
        return refuse("a struct of the schema".into());
    };
    let Some(method) = method.filter(|_| forced.is_none() && !options.force) else {
        return Ok(Some(layout));
    };
    if method.output == layout || method.input == Some(layout) {
        return Ok(Some(layout));
    }
    let owner = schema.types.name(method.name);
    let output = schema.struct_name(method.output);
    refuse(match method.input {
        Some(input) => format!("{} or {output}, as {owner} has", schema.struct_name(input)),
        None => format!("{output}, as {owner} has"),
    })
}

/// Writes an envelope of which only the bytes are known: its guessed values state what they were.
fn guess(schema: &Schema, message: Node<'_>, fields: Node<'_>, out: &mut Vec<u8>) -> Result<()> {
    if !fields.is_array() {
        let wanted = "a name: no schema says which struct the fields are of";
        return Err(Refusal::new(fixed(label::STRUCT), wanted, "nothing"));
    }
    if let Some(tail) = message.get(fixed(TAIL)) {
        let wanted = "nothing: guessed fields are all there is";
        return Err(Refusal::new(fixed(TAIL), wanted, quote(tail)));
    }
    let versions: Versions = envelope::versions(message, (0, 0))?;
    envelope::write_guess(&schema.types, versions, fields, out).map_err(|r| r.inside(fixed(FIELDS)))
}

#[cfg(test)]
mod tests;
