//! Writes `MessagePack`.

use crate::encoding::lossless::{ObjectForm, form, quote, text};
use crate::encoding::packed::{MAX_DEPTH, level};
use crate::error::Refusal;
use crate::tape::{Node, Scalar, Value};

/// Names of the widths that a value can request, and the type byte of each.
const WIDTHS: &[(&str, u8)] = &[
    ("bin8", 0xc4),
    ("bin16", 0xc5),
    ("bin32", 0xc6),
    ("ext8", 0xc7),
    ("ext16", 0xc8),
    ("ext32", 0xc9),
    ("f32", 0xca),
    ("f64", 0xcb),
    ("u8", 0xcc),
    ("u16", 0xcd),
    ("u32", 0xce),
    ("u64", 0xcf),
    ("i8", 0xd0),
    ("i16", 0xd1),
    ("i32", 0xd2),
    ("i64", 0xd3),
    ("str8", 0xd9),
    ("str16", 0xda),
    ("str32", 0xdb),
    ("array16", 0xdc),
    ("array32", 0xdd),
    ("map16", 0xde),
    ("map32", 0xdf),
];

/// Returns the name of the width of a type byte; `None` if the value determines it.
pub(in crate::encoding) fn width_name(marker: u8) -> Option<&'static str> {
    let found = WIDTHS.iter().find(|(_, m)| *m == marker);
    found.map(|(name, _)| *name)
}

/// Returns the type byte of a value in its shortest form.
pub(in crate::encoding) fn shortest(node: Node<'_>) -> Option<u8> {
    Some(match node.value() {
        Value::Scalar(Scalar::Null) => 0xc0,
        Value::Scalar(Scalar::Bool(value)) => 0xc2 + u8::from(value),
        Value::Scalar(Scalar::Uint(value)) => int_marker(value.into())?,
        Value::Scalar(Scalar::Int(value)) => int_marker(value.into())?,
        Value::Scalar(Scalar::F64(_)) => 0xcb,
        Value::Scalar(Scalar::Str(text)) => STR.marker(text.len())?,
        Value::Scalar(Scalar::Bin(bytes)) => BIN.marker(bytes.len())?,
        Value::Scalar(Scalar::Ext(_, bytes)) => ext_marker(bytes.len())?,
        Value::Array => ARRAY.marker(node.children().count())?,
        Value::Map => MAP.marker(node.members().count())?,
        _ => return None,
    })
}

fn int_marker(value: i128) -> Option<u8> {
    let [low, ..] = value.to_le_bytes();
    Some(match value {
        -32..=0x7f => low,
        0x80..=0xff => 0xcc,
        0x100..=0xffff => 0xcd,
        0x1_0000..=0xffff_ffff => 0xce,
        0x1_0000_0000..=0xffff_ffff_ffff_ffff => 0xcf,
        -0x80..=-33 => 0xd0,
        -0x8000..=-0x81 => 0xd1,
        -0x8000_0000..=-0x8001 => 0xd2,
        -0x8000_0000_0000_0000..=-0x8000_0001 => 0xd3,
        _ => return None,
    })
}

fn ext_marker(len: usize) -> Option<u8> {
    match len {
        1 | 2 | 4 | 8 | 16 => Some(0xd4 + len.trailing_zeros() as u8),
        _ => EXT.marker(len),
    }
}

/// A kind of value that starts with a length.
struct Marker {
    noun: &'static str,
    /// The type byte that holds the length itself, and the smallest length that it cannot hold.
    fixed: (u8, usize),
    /// The type byte of the smallest width, and its number of length bytes.
    least: (u8, u32),
}

const STR: Marker = Marker {
    noun: "a string",
    fixed: (0xa0, 32),
    least: (0xd9, 1),
};
const BIN: Marker = Marker {
    noun: "bytes",
    fixed: (0, 0),
    least: (0xc4, 1),
};
const EXT: Marker = Marker {
    noun: "an extension value",
    fixed: (0, 0),
    least: (0xc7, 1),
};
const ARRAY: Marker = Marker {
    noun: "an array",
    fixed: (0x90, 16),
    least: (0xdc, 2),
};
const MAP: Marker = Marker {
    noun: "a map",
    fixed: (0x80, 16),
    least: (0xde, 2),
};

impl Marker {
    /// Returns every width: the type byte and the number of length bytes.
    fn widths(&self) -> impl Iterator<Item = (u8, u32)> {
        let (marker, least) = self.least;
        [1, 2, 4]
            .into_iter()
            .filter(move |bytes| *bytes >= least)
            .zip(marker..)
            .map(|(bytes, marker)| (marker, bytes))
    }

    fn marker(&self, len: usize) -> Option<u8> {
        let (fixed, end) = self.fixed;
        if len < end {
            return Some(fixed | len as u8);
        }
        let mut widths = self.widths();
        let found = widths.find(|(_, bytes)| len as u64 >> (8 * bytes) == 0);
        found.map(|(marker, _)| marker)
    }

    /// Writes the type byte and the length.
    fn write(&self, len: usize, asked: Width<'_>, out: &mut Vec<u8>) -> Result<(), Refusal> {
        let too_long = |most: u64| {
            let wanted = format!("{} of length {most} or less", self.noun);
            Refusal::whole(wanted, format!("length {len}"))
        };
        let marker = match asked {
            Some((_, marker)) => marker,
            None => self.marker(len).ok_or_else(|| too_long(u32::MAX.into()))?,
        };
        out.push(marker);
        if let Some((_, bytes)) = self.widths().find(|(m, _)| *m == marker) {
            let most = u64::MAX >> (64 - 8 * bytes);
            if len as u64 > most {
                return Err(too_long(most));
            }
            push_be(len as i128, bytes, out);
        }
        Ok(())
    }

    /// Refuses a requested width of another kind of value.
    fn expects(&self, asked: Width<'_>, node: Node<'_>) -> Result<(), Refusal> {
        match asked {
            Some((name, marker)) if !self.widths().any(|(m, _)| m == marker) => {
                Err(misfit(name, marker, node))
            }
            _ => Ok(()),
        }
    }
}

/// Appends the last `bytes` bytes of a number.
fn push_be(value: i128, bytes: u32, out: &mut Vec<u8>) {
    let all = value.to_be_bytes();
    out.extend_from_slice(all.get(all.len() - bytes as usize..).unwrap_or_default());
}

/// The name of a width, and its type byte.
type Width<'a> = Option<(&'a str, u8)>;

#[cold]
fn misfit(name: &str, marker: u8, node: Node<'_>) -> Refusal {
    let runs = [STR, BIN, EXT, ARRAY, MAP];
    let run = runs
        .into_iter()
        .find(|run| run.widths().any(|(m, _)| m == marker));
    let noun = match (run, marker) {
        (Some(run), _) => run.noun,
        (None, 0xca | 0xcb) => "a number",
        _ => "an integer",
    };
    Refusal::whole(format!("{noun}, as {name} asks for"), quote(node))
}

/// Writes one value: JSON with the forms of [`lossless`](crate::encoding::lossless), or what came as `MessagePack`.
pub fn write(node: Node<'_>, out: &mut Vec<u8>) -> Result<(), Refusal> {
    write_value(node, None, MAX_DEPTH, out)
}

/// Writes a value of JSON as it is: keys such as `$schema` have no meaning.
pub(crate) fn write_plain(node: Node<'_>, out: &mut Vec<u8>) -> Result<(), Refusal> {
    write_plain_value(node, MAX_DEPTH, out)
}

fn write_plain_value(node: Node<'_>, depth: u32, out: &mut Vec<u8>) -> Result<(), Refusal> {
    let (marker, len) = match node.value() {
        Value::Map => (MAP, node.members().count()),
        Value::Array => (ARRAY, node.children().count()),
        _ => return write_value(node, None, depth, out),
    };
    marker.write(len, None, out)?;
    let depth = level(depth)?;
    let mut children = node.children();
    children.try_for_each(|child| write_plain_value(child, depth, out))
}

fn write_value(
    node: Node<'_>,
    asked: Width<'_>,
    depth: u32,
    out: &mut Vec<u8>,
) -> Result<(), Refusal> {
    match node.value() {
        Value::Scalar(Scalar::Number(_)) => write_number(node, asked, out),
        Value::Scalar(Scalar::Uint(value)) => write_int(value.into(), asked, node, out),
        Value::Scalar(Scalar::Int(value) | Scalar::Name(value, ..)) => {
            write_int(value.into(), asked, node, out)
        }
        Value::Scalar(Scalar::Json(..)) | Value::Label(_) => {
            STR.expects(asked, node)?;
            let text = text(node)?;
            write_run(&STR, text.as_bytes(), asked, out)
        }
        Value::Scalar(Scalar::Str(text)) => {
            STR.expects(asked, node)?;
            write_run(&STR, text, asked, out)
        }
        Value::Scalar(Scalar::Bin(bytes)) => {
            BIN.expects(asked, node)?;
            write_run(&BIN, bytes, asked, out)
        }
        Value::Scalar(Scalar::Ext(kind, bytes)) => {
            EXT.expects(asked, node)?;
            write_ext(kind, bytes, asked, out)
        }
        Value::Scalar(Scalar::F32(bits)) => write_f32(bits, asked, node, out),
        Value::Scalar(Scalar::F64(bits)) => write_f64(bits, asked, node, out),
        Value::Scalar(Scalar::Negative(_)) => Err(no_int(node)),
        Value::Scalar(Scalar::BoolByte(_)) => Err(no_bool_byte()),
        Value::Scalar(scalar @ (Scalar::Null | Scalar::Bool(_))) => {
            if let Some((name, marker)) = asked {
                return Err(misfit(name, marker, node));
            }
            out.push(match scalar {
                Scalar::Bool(false) => 0xc2,
                Scalar::Bool(true) => 0xc3,
                _ => 0xc0,
            });
            Ok(())
        }
        Value::Array => {
            ARRAY.expects(asked, node)?;
            ARRAY.write(node.children().count(), asked, out)?;
            let depth = level(depth)?;
            for (n, item) in node.children().enumerate() {
                write_value(item, None, depth, out).map_err(|r| r.at(n))?;
            }
            Ok(())
        }
        Value::Map => write_object(node, asked, depth, out),
    }
}

/// Writes a map, or the value that an object represents.
fn write_object(
    node: Node<'_>,
    asked: Width<'_>,
    depth: u32,
    out: &mut Vec<u8>,
) -> Result<(), Refusal> {
    let is_json = |key: Node<'_>| matches!(key.value(), Value::Scalar(Scalar::Json(..)));
    let found = match node.members().next() {
        Some((key, _)) if is_json(key) => form(node)?,
        _ => ObjectForm::Object,
    };
    match found {
        ObjectForm::Object => {
            MAP.expects(asked, node)?;
            MAP.write(node.members().count(), asked, out)?;
            let depth = level(depth)?;
            for (key, value) in node.members() {
                let place = |r: Refusal| r.inside(&String::from_utf8_lossy(&key.key_bytes()));
                write_value(key, None, depth, out).map_err(place)?;
                write_value(value, None, depth, out).map_err(place)?;
            }
            Ok(())
        }
        ObjectForm::Map(pairs) => {
            MAP.expects(asked, node)?;
            let place = |r: Refusal| r.inside("$map");
            MAP.write(pairs.len(), asked, out).map_err(place)?;
            let depth = level(depth)?;
            for (n, (key, value)) in pairs.into_iter().enumerate() {
                let both = [key, value].into_iter().enumerate();
                for (side, value) in both {
                    let place = |r: Refusal| place(r.at(side).at(n));
                    write_value(value, None, depth, out).map_err(place)?;
                }
            }
            Ok(())
        }
        ObjectForm::As(name, value) => {
            let place = |r: Refusal| r.inside("$as");
            let known = WIDTHS.iter().find(|(n, _)| *n == name);
            let Some(&(name, marker)) = known.filter(|_| asked.is_none()) else {
                let names: Vec<_> = WIDTHS.iter().map(|(name, _)| *name).collect();
                let wanted = format!("one width, of {}", names.join(" "));
                return Err(place(Refusal::whole(wanted, format!("\"{name}\"")).at(0)));
            };
            write_value(value, Some((name, marker)), depth, out).map_err(|r| place(r.at(1)))
        }
        ObjectForm::Bin(bytes) => {
            BIN.expects(asked, node)?;
            write_run(&BIN, &bytes, asked, out)
        }
        ObjectForm::Str(text) => {
            STR.expects(asked, node)?;
            write_run(&STR, &text, asked, out)
        }
        ObjectForm::Ext(kind, bytes) => {
            EXT.expects(asked, node)?;
            write_ext(kind, &bytes, asked, out)
        }
        ObjectForm::F32(bits) => write_f32(bits, asked, node, out),
        ObjectForm::F64(bits) => write_f64(bits, asked, node, out),
        ObjectForm::Bool(_) => Err(no_bool_byte()),
        ObjectForm::Tag(..)
        | ObjectForm::Simple(_)
        | ObjectForm::StrChunks(_)
        | ObjectForm::BinChunks(_) => Err(Refusal::whole(
            "a value that MessagePack has",
            "a value of CBOR",
        )),
    }
}

fn no_bool_byte() -> Refusal {
    Refusal::whole("true or false: MessagePack has no other bools", "$bool")
}

fn write_number(node: Node<'_>, asked: Width<'_>, out: &mut Vec<u8>) -> Result<(), Refusal> {
    let spelled = node.number_text().unwrap_or_default();
    let fraction = spelled.contains(['.', 'e', 'E']);
    match asked {
        Some((_, 0xca)) => {
            let value = spelled.parse().unwrap_or(f32::INFINITY);
            finite(value.is_finite(), node)?;
            write_f32(value.to_bits(), asked, node, out)
        }
        Some((_, 0xcb)) | None if fraction || asked.is_some() => {
            let value = spelled.parse().unwrap_or(f64::INFINITY);
            finite(value.is_finite(), node)?;
            write_f64(value.to_bits(), asked, node, out)
        }
        Some((name, marker)) if fraction => Err(misfit(name, marker, node)),
        _ => match spelled.parse() {
            Ok(value) => write_int(value, asked, node, out),
            Err(_) => Err(no_int(node)),
        },
    }
}

fn finite(is: bool, node: Node<'_>) -> Result<(), Refusal> {
    let wanted = "a number that a float can hold, or {\"$float\":\"hex bits\"}";
    is.then_some(())
        .ok_or_else(|| Refusal::whole(wanted, quote(node)))
}

fn no_int(node: Node<'_>) -> Refusal {
    Refusal::whole("an integer of -2^63 to 2^64-1", quote(node))
}

fn write_int(
    value: i128,
    asked: Width<'_>,
    node: Node<'_>,
    out: &mut Vec<u8>,
) -> Result<(), Refusal> {
    let marker = int_marker(value).ok_or_else(|| no_int(node))?;
    let (name, marker) = asked.unwrap_or(("", marker));
    let bytes = match marker {
        0xcc..=0xcf => 1 << (marker - 0xcc),
        0xd0..=0xd3 => 1 << (marker - 0xd0),
        _ if asked.is_some() => return Err(misfit(name, marker, node)),
        _ => {
            out.push(marker);
            return Ok(());
        }
    };
    let bits = 8 * bytes;
    let (least, most) = if marker < 0xd0 {
        (0, u64::MAX as i128 >> (64 - bits))
    } else {
        (-1 << (bits - 1), (1 << (bits - 1)) - 1)
    };
    if !(least..=most).contains(&value) {
        let wanted = format!("an integer of {least} to {most}, as {name} asks for");
        return Err(Refusal::whole(wanted, quote(node)));
    }
    out.push(marker);
    push_be(value, bytes, out);
    Ok(())
}

fn write_f32(
    bits: u32,
    asked: Width<'_>,
    node: Node<'_>,
    out: &mut Vec<u8>,
) -> Result<(), Refusal> {
    match asked {
        Some((name, marker)) if marker != 0xca => Err(misfit(name, marker, node)),
        _ => {
            out.push(0xca);
            out.extend_from_slice(&bits.to_be_bytes());
            Ok(())
        }
    }
}

fn write_f64(
    bits: u64,
    asked: Width<'_>,
    node: Node<'_>,
    out: &mut Vec<u8>,
) -> Result<(), Refusal> {
    match asked {
        Some((name, marker)) if marker != 0xcb => Err(misfit(name, marker, node)),
        _ => {
            out.push(0xcb);
            out.extend_from_slice(&bits.to_be_bytes());
            Ok(())
        }
    }
}

fn write_run(
    run: &Marker,
    bytes: &[u8],
    asked: Width<'_>,
    out: &mut Vec<u8>,
) -> Result<(), Refusal> {
    run.write(bytes.len(), asked, out)?;
    out.extend_from_slice(bytes);
    Ok(())
}

fn write_ext(kind: i8, bytes: &[u8], asked: Width<'_>, out: &mut Vec<u8>) -> Result<(), Refusal> {
    match ext_marker(bytes.len()) {
        Some(marker @ 0xd4..=0xd8) if asked.is_none() => out.push(marker),
        _ => EXT.write(bytes.len(), asked, out)?,
    }
    out.push(kind.cast_unsigned());
    out.extend_from_slice(bytes);
    Ok(())
}
