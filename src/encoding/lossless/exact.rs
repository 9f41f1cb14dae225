//! `MessagePack` and CBOR as JSON that reproduces the same bytes.

use super::write_with;
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
