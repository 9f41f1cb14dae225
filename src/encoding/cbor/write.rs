//! Writes CBOR.

use super::float::{half, single};
use super::head::Head;
use crate::encoding::lossless::{ObjectForm, form, quote, text};
use crate::encoding::packed::{MAX_DEPTH, level};
use crate::error::Refusal;
use crate::tape::{Node, Scalar, Value};

/// The encoding indicators of RFC 8949 section 8.1 for arguments of 1, 2, 4 and 8 bytes.
const WIDTHS: [&str; 4] = ["_0", "_1", "_2", "_3"];
/// The encoding indicator of an array or a map without a length.
const OPEN: &str = "_";

/// Additional information of arguments of 1, 2, 4 and 8 bytes, and of values without a length.
const FIRST_WIDTH: u8 = 24;
const NO_LENGTH: u8 = 31;

/// Returns the encoding indicator of a value that came as CBOR, if it is not in its shortest form.
pub(in crate::encoding) fn width(node: Node<'_>) -> Option<&'static str> {
    let rest = node.bytes().get(node.span().at()..)?;
    let (head, _) = Head::read(rest)?;
    let shortest = match (node.value(), head.major) {
        (Value::Scalar(Scalar::F64(bits)), 7) => shortest_float(bits),
        // A tag and its number start with the same byte, as do a string and the list of its chunks.
        (Value::Scalar(Scalar::Uint(_)), 0)
        | (Value::Scalar(Scalar::Int(_) | Scalar::Negative(_)), 1)
        | (Value::Scalar(Scalar::Bin(_)), 2)
        | (Value::Scalar(Scalar::Str(_)), 3)
        | (Value::Array, 4)
        | (Value::Map, 5 | 6) => match head.argument {
            Some(argument) => Head::shortest(argument),
            None => return Some(OPEN),
        },
        _ => return None,
    };
    let written = WIDTHS.get(usize::from(head.info.checked_sub(FIRST_WIDTH)?))?;
    (head.info != shortest).then_some(written)
}

fn shortest_float(bits: u64) -> u8 {
    match (half(bits), single(bits)) {
        (Some(_), _) => 25,
        (_, Some(_)) => 26,
        _ => 27,
    }
}

/// The additional information that the encoding indicator of a value requests (RFC 8949 section 8.1).
type Indicator = Option<u8>;

fn indicator_named(name: &str) -> Indicator {
    let width = WIDTHS.iter().zip(FIRST_WIDTH..).find(|(w, _)| **w == name);
    let width = width.map(|(_, info)| info);
    width.or_else(|| (name == OPEN).then_some(NO_LENGTH))
}

/// Writes one value: JSON with the forms of [`lossless`](crate::encoding::lossless), or what came as CBOR or
/// `MessagePack`.
pub fn write(node: Node<'_>, out: &mut Vec<u8>) -> Result<(), Refusal> {
    write_value(node, None, MAX_DEPTH, out)
}

fn write_value(
    node: Node<'_>,
    indicator: Indicator,
    depth: u32,
    out: &mut Vec<u8>,
) -> Result<(), Refusal> {
    match node.value() {
        Value::Scalar(Scalar::Number(_)) => write_number(node, indicator, out),
        Value::Scalar(Scalar::Uint(n)) => write_int(n.into(), indicator, node, out),
        Value::Scalar(Scalar::Int(n) | Scalar::Name(n, ..)) => {
            write_int(n.into(), indicator, node, out)
        }
        Value::Scalar(Scalar::Negative(n)) => write_int(-1 - i128::from(n), indicator, node, out),
        Value::Scalar(Scalar::Json(..)) | Value::Label(_) => {
            write_run(3, text(node)?.as_bytes(), indicator, out)
        }
        Value::Scalar(Scalar::Str(text)) => write_run(3, text, indicator, out),
        Value::Scalar(Scalar::Bin(bytes)) => write_run(2, bytes, indicator, out),
        Value::Scalar(Scalar::Ext(..)) => Err(no_ext()),
        Value::Scalar(Scalar::F32(bits)) => {
            write_float(super::float::of_single(bits), indicator, node, out)
        }
        Value::Scalar(Scalar::F64(bits)) => write_float(bits, indicator, node, out),
        Value::Scalar(Scalar::BoolByte(_)) => Err(no_bool_byte()),
        Value::Scalar(Scalar::Null) => write_simple(22, indicator, node, out),
        Value::Scalar(Scalar::Bool(value)) => {
            write_simple(20 + u8::from(value), indicator, node, out)
        }
        Value::Array => {
            write_count(4, node.children().count(), indicator, out)?;
            let depth = level(depth)?;
            for (n, item) in node.children().enumerate() {
                write_value(item, None, depth, out).map_err(|r| r.at(n))?;
            }
            end(indicator, out);
            Ok(())
        }
        Value::Map => write_object(node, indicator, depth, out),
    }
}

/// Writes a map, or the value that an object represents.
fn write_object(
    node: Node<'_>,
    indicator: Indicator,
    depth: u32,
    out: &mut Vec<u8>,
) -> Result<(), Refusal> {
    let is_form = |key: Node<'_>| {
        let key = key.value();
        matches!(key, Value::Scalar(Scalar::Json(..)) | Value::Label(_))
    };
    let found = match node.members().next() {
        Some((key, _)) if is_form(key) => form(node)?,
        _ => ObjectForm::Object,
    };
    match found {
        ObjectForm::Object => {
            write_count(5, node.members().count(), indicator, out)?;
            let depth = level(depth)?;
            for (key, value) in node.members() {
                let place = |r: Refusal| r.inside(&String::from_utf8_lossy(&key.key_bytes()));
                write_value(key, None, depth, out).map_err(place)?;
                write_value(value, None, depth, out).map_err(place)?;
            }
            end(indicator, out);
            Ok(())
        }
        ObjectForm::Map(pairs) => {
            let place = |r: Refusal| r.inside("$map");
            write_count(5, pairs.len(), indicator, out).map_err(place)?;
            let depth = level(depth)?;
            for (n, (key, value)) in pairs.into_iter().enumerate() {
                for (side, value) in [key, value].into_iter().enumerate() {
                    let place = |r: Refusal| place(r.at(side).at(n));
                    write_value(value, None, depth, out).map_err(place)?;
                }
            }
            end(indicator, out);
            Ok(())
        }
        ObjectForm::As(name, value) => {
            let place = |r: Refusal| r.inside("$as");
            let known = indicator_named(&name).filter(|_| indicator.is_none());
            let Some(info) = known else {
                let wanted = format!("one of {OPEN} {}", WIDTHS.join(" "));
                return Err(place(Refusal::whole(wanted, format!("\"{name}\"")).at(0)));
            };
            write_value(value, Some(info), depth, out).map_err(|r| place(r.at(1)))
        }
        ObjectForm::Tag(number, value) => {
            let place = |r: Refusal| r.inside("$tag");
            write_head(6, number, indicator, out).map_err(place)?;
            let depth = level(depth)?;
            write_value(value, None, depth, out).map_err(|r| place(r.at(1)))
        }
        ObjectForm::Simple(number) => write_simple(number, indicator, node, out),
        ObjectForm::StrChunks(chunks) => write_chunks(3, chunks, indicator, out),
        ObjectForm::BinChunks(chunks) => write_chunks(2, chunks, indicator, out),
        ObjectForm::Bin(bytes) => write_run(2, &bytes, indicator, out),
        ObjectForm::Str(text) => write_run(3, &text, indicator, out),
        ObjectForm::Ext(..) => Err(no_ext()),
        ObjectForm::F32(bits) => write_float(super::float::of_single(bits), indicator, node, out),
        ObjectForm::F64(bits) => write_float(bits, indicator, node, out),
        ObjectForm::Bool(_) => Err(no_bool_byte()),
    }
}

fn no_bool_byte() -> Refusal {
    Refusal::whole("true or false: CBOR has no other bools", "$bool")
}

fn no_ext() -> Refusal {
    let wanted = "{\"$tag\":[number,value]}: CBOR has no extension values";
    Refusal::whole(wanted, "$ext")
}

/// Writes a head with the requested width.
fn write_head(
    major: u8,
    argument: u64,
    indicator: Indicator,
    out: &mut Vec<u8>,
) -> Result<(), Refusal> {
    let shortest = Head::shortest(argument);
    let info = indicator.unwrap_or(shortest);
    if info == NO_LENGTH {
        let wanted = "an array or a map, as `_` asks for ({\"$str\":[…]} and {\"$bin\":[…]} are strings in chunks)";
        return Err(Refusal::whole(wanted, "another value"));
    }
    if info < shortest {
        let bits = 8_u32 << (info - FIRST_WIDTH);
        let wanted = format!("an argument of at most {bits} bits, as `$as` asks for");
        return Err(Refusal::whole(wanted, argument.to_string()));
    }
    Head::write(major, info, argument, out);
    Ok(())
}

/// Writes the head of an array or a map.
fn write_count(
    major: u8,
    count: usize,
    indicator: Indicator,
    out: &mut Vec<u8>,
) -> Result<(), Refusal> {
    if indicator == Some(NO_LENGTH) {
        Head::write(major, NO_LENGTH, 0, out);
        return Ok(());
    }
    write_head(major, count as u64, indicator, out)
}

/// Writes the end of an array or a map without a length.
fn end(indicator: Indicator, out: &mut Vec<u8>) {
    if indicator == Some(NO_LENGTH) {
        out.push(super::BREAK);
    }
}

fn write_run(
    major: u8,
    bytes: &[u8],
    indicator: Indicator,
    out: &mut Vec<u8>,
) -> Result<(), Refusal> {
    write_head(major, bytes.len() as u64, indicator, out)?;
    out.extend_from_slice(bytes);
    Ok(())
}

fn write_chunks(
    major: u8,
    chunks: Node<'_>,
    indicator: Indicator,
    out: &mut Vec<u8>,
) -> Result<(), Refusal> {
    let (key, wanted) = match major {
        3 => ("$str", "text"),
        _ => ("$bin", "bytes"),
    };
    if indicator.is_some() {
        let wanted = "a value other than chunks, whose form is clear";
        return Err(Refusal::whole(wanted, key));
    }
    Head::write(major, NO_LENGTH, 0, out);
    for (n, chunk) in chunks.children().enumerate() {
        let start = out.len();
        write_value(chunk, None, 2, out).map_err(|r| r.at(n).inside(key))?;
        let head = out.get(start..).and_then(Head::read);
        if !head.is_some_and(|(head, _)| head.major == major && head.argument.is_some()) {
            return Err(Refusal::whole(wanted, quote(chunk)).at(n).inside(key));
        }
    }
    out.push(super::BREAK);
    Ok(())
}

fn write_simple(
    number: u8,
    indicator: Indicator,
    node: Node<'_>,
    out: &mut Vec<u8>,
) -> Result<(), Refusal> {
    if indicator.is_some() {
        let wanted = "a value with more than one form, as `$as` asks for";
        return Err(Refusal::whole(wanted, quote(node)));
    }
    if (24..32).contains(&number) {
        let wanted = "a simple value of 0 to 23 or 32 to 255";
        return Err(Refusal::whole(wanted, number.to_string()).inside("$simple"));
    }
    Head::write(7, Head::shortest(number.into()), number.into(), out);
    Ok(())
}

fn write_number(node: Node<'_>, indicator: Indicator, out: &mut Vec<u8>) -> Result<(), Refusal> {
    let spelled = node.number_text().unwrap_or_default();
    if !spelled.contains(['.', 'e', 'E']) {
        return match spelled.parse() {
            Ok(value) => write_int(value, indicator, node, out),
            Err(_) => Err(no_int(node)),
        };
    }
    let value: f64 = spelled.parse().unwrap_or(f64::INFINITY);
    if !value.is_finite() {
        let wanted = "a number that a float can hold, or {\"$float\":\"hex bits\"}";
        return Err(Refusal::whole(wanted, quote(node)));
    }
    write_float(value.to_bits(), indicator, node, out)
}

fn no_int(node: Node<'_>) -> Refusal {
    let wanted = "an integer of -2^64 to 2^64-1, or {\"$tag\":[2,{\"$bin\":\"hex\"}]}";
    Refusal::whole(wanted, quote(node))
}

fn write_int(
    value: i128,
    indicator: Indicator,
    node: Node<'_>,
    out: &mut Vec<u8>,
) -> Result<(), Refusal> {
    let (major, argument) = if value < 0 {
        (1, -1 - value)
    } else {
        (0, value)
    };
    let argument = u64::try_from(argument).map_err(|_| no_int(node))?;
    write_head(major, argument, indicator, out)
}

fn write_float(
    bits: u64,
    indicator: Indicator,
    node: Node<'_>,
    out: &mut Vec<u8>,
) -> Result<(), Refusal> {
    let info = indicator.unwrap_or_else(|| shortest_float(bits));
    let written = match info {
        25 => half(bits).map(u64::from),
        26 => single(bits).map(u64::from),
        27 => Some(bits),
        _ => None,
    };
    let Some(argument) = written else {
        let wanted = match info {
            25 => "a number that a float of 16 bits holds, as `_1` asks for",
            26 => "a number that a float of 32 bits holds, as `_2` asks for",
            _ => "`_1`, `_2` or `_3` for a float",
        };
        return Err(Refusal::whole(wanted, quote(node)));
    };
    Head::write(7, info, argument, out);
    Ok(())
}
