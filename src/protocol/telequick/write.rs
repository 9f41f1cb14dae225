//! One message, checked by the schema and written as an envelope.
//!
//! The method id and the way the length counts stand before the body; framing writes them. Which struct is written
//! follows from `struct`, else from the method and the way the message goes.

use super::Telequick;
use super::schema::{Method, Schema};
use crate::encoding::lossless::{quote, text};
use crate::encoding::serde_envelope::{self as envelope, Versions};
use crate::error::Refusal;
use crate::framing::LengthMode;
use crate::protocol::check::{self, OBJECT};
use crate::protocol::{Direction, MessageHead, WriteOptions, Written};
use crate::tape::Node;

/// Writes a message.
pub(super) fn write(
    protocol: &Telequick,
    message: Node<'_>,
    options: &WriteOptions,
    out: &mut Vec<u8>,
) -> Result<Written, Refusal> {
    let schema = protocol.schema();
    check::be(message, OBJECT)?;
    if !options.force {
        check_keys(message)?;
    }
    let head = MessageHead {
        method_id: method_id(schema, message, options.force)?,
        length_mode: length_mode(message)?,
    };
    let fields = message
        .get("fields")
        .ok_or_else(|| Refusal::new("fields", "an object", "nothing"))?;
    let after = match message.get("after") {
        Some(after) => envelope::bytes(after).map_err(|r| r.inside("after"))?,
        None => Vec::new(),
    };
    let method = head.method_id.and_then(|id| schema.method(id));
    let start = out.len();
    let result = match layout(protocol, message, method, options)? {
        Some(layout) => {
            let declared = schema.types.layout(layout);
            let declared = declared.map_or((0, 0), |s| (s.version, s.compat_version));
            let versions = envelope::versions(message, declared)?;
            let tail = message.get("tail");
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

/// The keys of a message.
const KEYS: [&str; 10] = [
    "method",
    "method_id",
    "struct",
    "guess",
    "version",
    "compat_version",
    "length_mode",
    "fields",
    "tail",
    "after",
];

fn check_keys(message: Node<'_>) -> Result<(), Refusal> {
    let odd = |key: &Node<'_>| !KEYS.iter().any(|name| key.is_text(name));
    match message.members().map(|(key, _)| key).find(odd) {
        Some(key) => {
            let name = String::from_utf8_lossy(&key.key_bytes()).into_owned();
            let wanted = format!("one of {}", KEYS.join(" "));
            Err(Refusal::new(name, wanted, "another name"))
        }
        None => Ok(()),
    }
}

/// The id, else the id of the method; neither where the envelope stands alone.
fn method_id(schema: &Schema, message: Node<'_>, force: bool) -> Result<Option<u32>, Refusal> {
    let given = match message.get("method_id") {
        Some(node) => {
            let id = envelope::int(node, 0, u32::MAX.into()).map_err(|r| r.inside("method_id"))?;
            u32::try_from(id).ok()
        }
        None => None,
    };
    let Some(node) = message.get("method") else {
        return Ok(given);
    };
    let name = text(node).map_err(|r| r.inside("method"))?;
    let refuse = |wanted: String| Err(Refusal::new("method", wanted, quote(node)));
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

fn length_mode(message: Node<'_>) -> Result<Option<LengthMode>, Refusal> {
    let Some(node) = message.get("length_mode") else {
        return Ok(None);
    };
    let modes = [
        ("exclusive", LengthMode::Exclusive),
        ("inclusive", LengthMode::Inclusive),
    ];
    let found = modes.into_iter().find(|(name, _)| node.is_text(name));
    let wanted = "exclusive or inclusive";
    found
        .map(|(_, mode)| Some(mode))
        .ok_or_else(|| Refusal::new("length_mode", wanted, quote(node)))
}

/// The struct: as given, else as the method and the direction say; `None` where nothing does, and fields are guessed.
fn layout(
    protocol: &Telequick,
    message: Node<'_>,
    method: Option<&Method>,
    options: &WriteOptions,
) -> Result<Option<u32>, Refusal> {
    let schema = protocol.schema();
    let Some(node) = message.get("struct") else {
        let by_method = method.map(|method| match (method.input, options.direction) {
            (Some(input), None | Some(Direction::ToServer)) => input,
            _ => method.output,
        });
        return Ok(protocol.forced.or(by_method));
    };
    let name = text(node).map_err(|r| r.inside("struct"))?;
    let refuse = |wanted: String| Err(Refusal::new("struct", wanted, quote(node)));
    let Some(layout) = schema.struct_named(&name) else {
        return refuse("a struct of the schema".into());
    };
    let Some(method) = method.filter(|_| protocol.forced.is_none() && !options.force) else {
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

/// An envelope of which only the bytes are known: its guessed values say what they were.
fn guess(
    schema: &Schema,
    message: Node<'_>,
    fields: Node<'_>,
    out: &mut Vec<u8>,
) -> Result<(), Refusal> {
    if !fields.is_array() {
        let wanted = "a name: no schema says which struct the fields are of";
        return Err(Refusal::new("struct", wanted, "nothing"));
    }
    if let Some(tail) = message.get("tail") {
        let wanted = "nothing: guessed fields are all there is";
        return Err(Refusal::new("tail", wanted, quote(tail)));
    }
    let versions: Versions = envelope::versions(message, (0, 0))?;
    envelope::write_guess(&schema.types, versions, fields, out).map_err(|r| r.inside("fields"))
}
