//! Writes envelopes.
//!
//! A writer takes the output of [`parse`](super::parse()) and [`guess`](super::guess()), from JSON
//! or from their own tape. A nested struct that is given as fields only is written with versions 0,
//! which is also the form in which it is read.

use super::{FieldType, LABELS, MAX_DEPTH, Struct, Types};
use crate::encoding::lossless::{ObjectForm, form, quote, text};
use crate::error::Refusal;
use crate::tape::{Node, Scalar, Value};

/// `version` and `compat_version`.
pub type Versions = (u8, u8);

/// Writes an envelope of a struct: `fields` is the map of its fields, `tail` the bytes after the known ones.
///
/// Fields can be absent at the end, as in the output of an older writer, but none can follow an
/// absent one.
pub fn write(
    types: &Types,
    layout: u32,
    versions: Versions,
    fields: Node<'_>,
    tail: Option<Node<'_>>,
    out: &mut Vec<u8>,
) -> Result<(), Refusal> {
    let mut writer = EnvelopeWriter { types, out };
    writer.envelope(layout, versions, fields, tail, MAX_DEPTH)
}

/// Writes an envelope without a schema: `fields` is the array that [`guess`](super::guess())
/// reports. Text gets its length before it, an integer takes four bytes, an array or an object of
/// versions and `fields` is an envelope, and bytes are copied.
pub fn write_guess(
    types: &Types,
    versions: Versions,
    fields: Node<'_>,
    out: &mut Vec<u8>,
) -> Result<(), Refusal> {
    let mut writer = EnvelopeWriter { types, out };
    writer.guess(versions, fields, MAX_DEPTH)
}

/// Reads the value of `{"$bin":"hex"}`.
pub fn bytes(node: Node<'_>) -> Result<Vec<u8>, Refusal> {
    match node.value() {
        Value::Scalar(Scalar::Bin(bytes)) => Ok(bytes.to_vec()),
        Value::Map => match form(node)? {
            ObjectForm::Bin(bytes) => Ok(bytes),
            _ => Err(Refusal::whole("{\"$bin\":\"hex\"}", quote(node))),
        },
        _ => Err(Refusal::whole("{\"$bin\":\"hex\"}", quote(node))),
    }
}

/// Reads an integer from `least` to `most`.
pub fn int(node: Node<'_>, least: i128, most: i128) -> Result<i128, Refusal> {
    let found = match node.value() {
        Value::Scalar(Scalar::Uint(value)) => Some(value.into()),
        Value::Scalar(Scalar::Int(value) | Scalar::Name(value, ..)) => Some(value.into()),
        Value::Scalar(Scalar::Number(_)) => node.number_text().and_then(|n| n.parse().ok()),
        _ => None,
    };
    let in_range = found.filter(|value| (least..=most).contains(value));
    in_range.ok_or_else(|| Refusal::whole(format!("an integer of {least} to {most}"), quote(node)))
}

struct EnvelopeWriter<'t, 'o> {
    types: &'t Types,
    out: &'o mut Vec<u8>,
}

impl EnvelopeWriter<'_, '_> {
    /// Writes a header and the output of `fields`.
    fn header(
        &mut self,
        (version, compat_version): Versions,
        fields: impl FnOnce(&mut Self) -> Result<(), Refusal>,
    ) -> Result<(), Refusal> {
        self.out.extend_from_slice(&[version, compat_version]);
        let size = self.counted(0);
        fields(self)?;
        self.count(size, self.out.len().saturating_sub(size + 4))
    }

    /// Reserves an i32 that [`EnvelopeWriter::count`] sets, and returns its position.
    fn counted(&mut self, value: i32) -> usize {
        let at = self.out.len();
        self.out.extend_from_slice(&value.to_le_bytes());
        at
    }

    fn count(&mut self, at: usize, count: usize) -> Result<(), Refusal> {
        let value = i32::try_from(count).map_err(|_| {
            Refusal::whole("at most 2147483647 bytes or elements", count.to_string())
        })?;
        let place = self
            .out
            .get_mut(at..)
            .and_then(|o| o.first_chunk_mut::<4>());
        if let Some(place) = place {
            *place = value.to_le_bytes();
        }
        Ok(())
    }

    fn run(&mut self, bytes: &[u8]) -> Result<(), Refusal> {
        let at = self.counted(0);
        self.out.extend_from_slice(bytes);
        self.count(at, bytes.len())
    }

    fn envelope(
        &mut self,
        layout: u32,
        versions: Versions,
        fields: Node<'_>,
        tail: Option<Node<'_>>,
        depth: u32,
    ) -> Result<(), Refusal> {
        let depth = enter_level(depth)?;
        let types = self.types;
        let described = types
            .layout(layout)
            .ok_or_else(|| Refusal::whole("a struct of the schema", layout.to_string()))?;
        self.header(versions, |writer| {
            let whole = writer
                .fields(described, fields, depth)
                .map_err(|r| r.inside(FIELDS))?;
            let Some(tail) = tail else {
                return Ok(());
            };
            let tail = bytes(tail).map_err(|r| r.inside(TAIL))?;
            if !whole && !tail.is_empty() {
                let wanted = "nothing: without all fields there is no byte after the last";
                return Err(Refusal::new(TAIL, wanted, "bytes"));
            }
            writer.out.extend_from_slice(&tail);
            Ok(())
        })
    }

    /// Writes fields in the schema's order. Returns `true` if all are present.
    fn fields(
        &mut self,
        described: &Struct,
        fields: Node<'_>,
        depth: u32,
    ) -> Result<bool, Refusal> {
        let types = self.types;
        if !fields.is_map() {
            let wanted = format!(
                "an object with the fields of {}",
                types.name(described.name)
            );
            return Err(Refusal::whole(wanted, quote(fields)));
        }
        check_names(types, described, fields)?;
        let mut absent: Option<&str> = None;
        for field in &described.fields {
            let name = types.name(field.name);
            match (fields.get(name), absent) {
                (Some(value), None) => {
                    self.value(&field.kind, value, depth)
                        .map_err(|r| r.inside(name))?;
                }
                (Some(_), Some(absent)) => {
                    let wanted = format!("a value, since {name} follows");
                    return Err(Refusal::new(absent, wanted, "nothing"));
                }
                (None, _) => absent = absent.or(Some(name)),
            }
        }
        Ok(absent.is_none())
    }

    fn value(&mut self, kind: &FieldType, node: Node<'_>, depth: u32) -> Result<(), Refusal> {
        match kind {
            FieldType::Bool => {
                let byte = truth(node)?;
                self.out.push(byte);
            }
            FieldType::Int(width) => {
                let bits = 8 * u32::from(*width);
                let most = (1 << (bits - 1)) - 1;
                self.number(int(node, -most - 1, most)?, *width);
            }
            FieldType::Uint(width) => {
                let most = (1 << (8 * u32::from(*width))) - 1;
                self.number(int(node, 0, most)?, *width);
            }
            FieldType::Double => {
                let bits = double(node)?;
                self.out.extend_from_slice(&bits.to_le_bytes());
            }
            FieldType::Str => {
                let text = string(node)?;
                self.run(&text)?;
            }
            FieldType::Bytes => self.run(&bytes(node)?)?,
            FieldType::Enum(id) => {
                let value = self.constant(*id, node)?;
                self.number(value, 4);
            }
            FieldType::Vector(element) => self.vector(element, node, depth)?,
            FieldType::Struct(id) => self.inner(*id, node, depth)?,
        }
        Ok(())
    }

    fn number(&mut self, value: i128, width: u8) {
        let bytes = value.to_le_bytes();
        self.out
            .extend_from_slice(bytes.get(..width as usize).unwrap_or_default());
    }

    /// Returns the number of an enum's constant, which need not have a name.
    fn constant(&self, id: u32, node: Node<'_>) -> Result<i128, Refusal> {
        let values = || {
            self.types
                .enums
                .get(id as usize)
                .into_iter()
                .flat_map(|e| &e.values)
        };
        let Some(name) = node.text().filter(|_| !is_named(node)) else {
            return int(node, i32::MIN.into(), i32::MAX.into());
        };
        let found = values().find(|(_, n)| self.types.name(*n) == name);
        found.map(|(value, _)| i128::from(*value)).ok_or_else(|| {
            let names: Vec<_> = values().map(|(_, n)| self.types.name(*n)).collect();
            let wanted = format!("one of {}, or a number", names.join(" "));
            Refusal::whole(wanted, quote(node))
        })
    }

    fn vector(&mut self, element: &FieldType, node: Node<'_>, depth: u32) -> Result<(), Refusal> {
        if !node.is_array() {
            return Err(Refusal::whole("an array", quote(node)));
        }
        let count = node.children().count();
        if let Some(most) = self.types.max_elements
            && count > most as usize
        {
            let wanted = format!("at most {most} elements, the schema's limit");
            return Err(Refusal::whole(wanted, count.to_string()));
        }
        let at = self.counted(0);
        self.count(at, count)?;
        for (n, item) in node.children().enumerate() {
            self.value(element, item, depth).map_err(|r| r.at(n))?;
        }
        Ok(())
    }

    /// Writes a nested struct: its fields, or versions, fields and tail.
    fn inner(&mut self, id: u32, node: Node<'_>, depth: u32) -> Result<(), Refusal> {
        let types = self.types;
        let own = |label: &str| {
            let fields = types.layout(id).into_iter().flat_map(|s| &s.fields);
            fields.into_iter().any(|f| types.name(f.name) == label)
        };
        let wrapped = node.get(FIELDS).is_some_and(Node::is_map) && !own(FIELDS);
        if wrapped {
            check_wrapper(node)?;
            let versions = versions(node, (0, 0))?;
            let fields = node.get(FIELDS).unwrap_or(node);
            return self.envelope(id, versions, fields, node.get(TAIL), depth);
        }
        // Only the wrapper is a level of the path; errors inside name fields.
        let depth = enter_level(depth)?;
        let Some(described) = types.layout(id) else {
            return Err(Refusal::whole("a struct of the schema", id.to_string()));
        };
        self.header((0, 0), |writer| {
            writer.fields(described, node, depth).map(|_| ())
        })
    }

    fn guess(&mut self, versions: Versions, node: Node<'_>, depth: u32) -> Result<(), Refusal> {
        if !node.is_array() {
            let wanted = "an array, since no schema names the fields";
            return Err(Refusal::whole(wanted, quote(node)));
        }
        let depth = enter_level(depth)?;
        self.header(versions, |writer| {
            for (n, item) in node.children().enumerate() {
                writer.guessed(item, depth).map_err(|r| r.at(n))?;
            }
            Ok(())
        })
    }

    fn guessed(&mut self, node: Node<'_>, depth: u32) -> Result<(), Refusal> {
        let fields = node.get(FIELDS);
        match (node.value(), fields) {
            (Value::Array, _) => self.guess((0, 0), node, depth),
            (Value::Map, Some(fields)) => {
                check_wrapper(node)?;
                self.guess(versions(node, (0, 0))?, fields, depth)
                    .map_err(|r| r.inside(FIELDS))
            }
            (Value::Map, None) if node.get("$str").is_some() => self.run(&string(node)?),
            (Value::Map | Value::Scalar(Scalar::Bin(_)), _) => {
                let run = bytes(node)?;
                self.out.extend_from_slice(&run);
                Ok(())
            }
            (Value::Scalar(Scalar::Json(..) | Scalar::Str(_)), _) => self.run(&string(node)?),
            _ => {
                self.number(int(node, i32::MIN.into(), i32::MAX.into())?, 4);
                Ok(())
            }
        }
    }
}

const TAIL: &str = LABELS[super::TAIL as usize];
const FIELDS: &str = LABELS[super::FIELDS as usize];

/// Returns the versions of a message or a wrapper, or `declared`.
pub fn versions(node: Node<'_>, declared: Versions) -> Result<Versions, Refusal> {
    let byte = |label: u32, declared: u8| {
        let name = LABELS.get(label as usize).copied().unwrap_or_default();
        let Some(value) = node.get(name) else {
            return Ok(declared);
        };
        let value = int(value, 0, u8::MAX.into()).map_err(|r| r.inside(name))?;
        Ok(value.to_le_bytes()[0])
    };
    Ok((
        byte(super::VERSION, declared.0)?,
        byte(super::COMPAT_VERSION, declared.1)?,
    ))
}

/// Enters one level of envelopes.
fn enter_level(depth: u32) -> Result<u32, Refusal> {
    depth.checked_sub(1).ok_or_else(|| {
        let wanted = format!("at most {MAX_DEPTH} levels of envelopes");
        Refusal::whole(wanted, format!("level {}", MAX_DEPTH + 1))
    })
}

/// Checks that every key is a field, once.
fn check_names(types: &Types, described: &Struct, fields: Node<'_>) -> Result<(), Refusal> {
    let mut seen = vec![false; described.fields.len()];
    for (key, _) in fields.members() {
        let name = String::from_utf8_lossy(&key.key_bytes()).into_owned();
        let mut all = described.fields.iter();
        let place = all.position(|f| types.name(f.name) == name);
        let wanted = match place.and_then(|n| seen.get_mut(n)) {
            Some(seen) if *seen => "the field once".to_owned(),
            Some(seen) => {
                *seen = true;
                continue;
            }
            None => {
                let names = described.fields.iter().map(|f| types.name(f.name));
                let names: Vec<_> = names.collect();
                let owner = types.name(described.name);
                match names.as_slice() {
                    [] => format!("nothing: {owner} has no fields"),
                    _ => format!("a field of {owner}: {}", names.join(" ")),
                }
            }
        };
        let got = if place.is_some() {
            "it again"
        } else {
            "another name"
        };
        return Err(Refusal::new(name, wanted, got));
    }
    Ok(())
}

/// Checks that a wrapper has only the keys of the encoding.
fn check_wrapper(node: Node<'_>) -> Result<(), Refusal> {
    let is_unknown_key = |key: &Node<'_>| !LABELS.iter().any(|label| key.is_text(label));
    match node.members().map(|(key, _)| key).find(is_unknown_key) {
        Some(key) => {
            let name = String::from_utf8_lossy(&key.key_bytes()).into_owned();
            let wanted = format!("one of {}", LABELS.join(" "));
            Err(Refusal::new(name, wanted, "another name"))
        }
        None => Ok(()),
    }
}

fn is_named(node: Node<'_>) -> bool {
    matches!(node.value(), Value::Scalar(Scalar::Name(..)))
}

fn truth(node: Node<'_>) -> Result<u8, Refusal> {
    match node.value() {
        Value::Scalar(Scalar::Bool(value)) => Ok(value.into()),
        Value::Scalar(Scalar::BoolByte(byte)) => Ok(byte),
        Value::Map => match form(node)? {
            ObjectForm::Bool(byte) => Ok(byte),
            _ => Err(Refusal::whole("true or false", quote(node))),
        },
        _ => Err(Refusal::whole("true or false", quote(node))),
    }
}

fn double(node: Node<'_>) -> Result<u64, Refusal> {
    let spelled = || node.number_text().and_then(|n| n.parse::<f64>().ok());
    let found = match node.value() {
        Value::Scalar(Scalar::F64(bits)) => Some(bits),
        Value::Scalar(Scalar::Number(_)) => spelled().filter(|f| f.is_finite()).map(f64::to_bits),
        Value::Map => match form(node)? {
            ObjectForm::F64(bits) => Some(bits),
            _ => None,
        },
        _ => None,
    };
    let wanted = "a number, or {\"$float\":\"16 hex digits\"}";
    found.ok_or_else(|| Refusal::whole(wanted, quote(node)))
}

/// Returns text, valid or not.
fn string(node: Node<'_>) -> Result<Vec<u8>, Refusal> {
    match node.value() {
        Value::Scalar(Scalar::Str(text)) => Ok(text.to_vec()),
        Value::Map => match form(node)? {
            ObjectForm::Str(text) => Ok(text),
            _ => Err(Refusal::whole("a string", quote(node))),
        },
        _ => text(node).map(|text| text.into_owned().into_bytes()),
    }
}
