//! `MessagePack` as JSON that reproduces the same bytes.

use super::{write_scalar, write_str};
use crate::encoding::msgpack::{shortest, width_name};
use crate::tape::{Node, Scalar, Value};

/// Writes a value that arrived as `MessagePack`, and its children, like
/// [`write()`](super::write()), with `{"$as":["width",value]}` around values that are not in their
/// shortest form, and around 32-bit floats.
pub fn write_exact(node: Node<'_>, out: &mut Vec<u8>) {
    let width = width(node);
    if let Some(name) = width {
        out.extend_from_slice(b"{\"$as\":[\"");
        out.extend_from_slice(name.as_bytes());
        out.extend_from_slice(b"\",");
    }
    match node.value() {
        Value::Scalar(scalar) => write_scalar(scalar, out),
        Value::Label(name) => write_str(name, out),
        Value::Array => {
            out.push(b'[');
            for (i, item) in node.children().enumerate() {
                if i > 0 {
                    out.push(b',');
                }
                write_exact(item, out);
            }
            out.push(b']');
        }
        Value::Map => write_map(node, out),
    }
    if width.is_some() {
        out.extend_from_slice(b"]}");
    }
}

fn write_map(node: Node<'_>, out: &mut Vec<u8>) {
    let plain = super::is_plain_map(node) && node.members().all(|(key, _)| width(key).is_none());
    let [open, colon, close, end]: [&[u8]; 4] = if plain {
        [b"", b":", b"", b"}"]
    } else {
        [b"[", b",", b"]", b"]}"]
    };
    out.extend_from_slice(if plain { b"{" } else { b"{\"$map\":[" });
    for (i, (key, value)) in node.members().enumerate() {
        if i > 0 {
            out.push(b',');
        }
        out.extend_from_slice(open);
        write_exact(key, out);
        out.extend_from_slice(colon);
        write_exact(value, out);
        out.extend_from_slice(close);
    }
    out.extend_from_slice(end);
}

/// Returns the name of a value's width, if the value does not determine it.
fn width(node: Node<'_>) -> Option<&'static str> {
    let marker = *node.bytes().get(node.span().at())?;
    match node.value() {
        // The number of hex digits already determines the width.
        Value::Scalar(Scalar::F32(bits)) if !f32::from_bits(bits).is_finite() => None,
        _ if shortest(node) == Some(marker) => None,
        _ => width_name(marker),
    }
}
