//! `MessagePack` and CBOR as JSON that reproduces the same bytes.

use super::{write_scalar, write_str};
use crate::encoding::json::write_text;
use crate::encoding::msgpack::{shortest, width_name};
use crate::encoding::{Encoding, cbor};
use crate::tape::{Node, Scalar, Value};

/// Writes a value that arrived as `MessagePack` or CBOR, and its children, like
/// [`write()`](super::write()), with `{"$as":["width",value]}` around values that are not in their
/// shortest form, and around 32-bit floats of `MessagePack`.
pub fn write_exact(node: Node<'_>, encoding: Encoding, out: &mut Vec<u8>) {
    match encoding {
        Encoding::Cbor => write_with(node, cbor::width, out),
        _ => write_with(node, packed_width, out),
    }
}

/// Writes an object with a header, and after it a value that arrived in an encoding. The text of JSON is copied.
pub fn write_parts(node: Node<'_>, encoding: Encoding, is_exact: bool, out: &mut Vec<u8>) {
    for (n, (key, value)) in node.members().enumerate() {
        out.push(if n == 0 { b'{' } else { b',' });
        super::write(key, out);
        out.push(b':');
        match encoding {
            _ if n == 0 => super::write(value, out),
            Encoding::Json => write_text(value.span().of(value.bytes()), true, out),
            _ if is_exact => write_exact(value, encoding, out),
            _ => super::write(value, out),
        }
    }
    out.push(b'}');
}

/// Returns the name of a value's width, if the value does not determine it.
type Width = fn(Node<'_>) -> Option<&'static str>;

fn write_with(node: Node<'_>, width: Width, out: &mut Vec<u8>) {
    let name = width(node);
    if let Some(name) = name {
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
                write_with(item, width, out);
            }
            out.push(b']');
        }
        Value::Map => write_map(node, width, out),
    }
    if name.is_some() {
        out.extend_from_slice(b"]}");
    }
}

fn write_map(node: Node<'_>, width: Width, out: &mut Vec<u8>) {
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
        write_with(key, width, out);
        out.extend_from_slice(colon);
        write_with(value, width, out);
        out.extend_from_slice(close);
    }
    out.extend_from_slice(end);
}

/// Returns the name of the width of a value of `MessagePack`, if the value does not determine it.
fn packed_width(node: Node<'_>) -> Option<&'static str> {
    let marker = *node.bytes().get(node.span().at())?;
    match node.value() {
        // The number of hex digits already determines the width.
        Value::Scalar(Scalar::F32(bits)) if !f32::from_bits(bits).is_finite() => None,
        _ if shortest(node) == Some(marker) => None,
        _ => width_name(marker),
    }
}
