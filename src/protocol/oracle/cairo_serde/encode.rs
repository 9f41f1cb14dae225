//! Encodes values as felts.

use super::super::felt::Felt;
use super::types::{CairoType, ScalarSort};
use super::{CairoDialect, CairoValue, LIMB, SerdeError, WORD};
use num_bigint::BigInt;

/// Encodes a value of a type. It must have the form of the type, as [`CairoValue::read`] and [`super::decode`] return it.
pub fn encode(
    ty: &CairoType,
    value: &CairoValue,
    dialect: CairoDialect,
) -> Result<Vec<Felt>, SerdeError> {
    let mut felts = Vec::new();
    write(ty, value, dialect, &mut felts)?;
    Ok(felts)
}

fn write(
    ty: &CairoType,
    value: &CairoValue,
    dialect: CairoDialect,
    out: &mut Vec<Felt>,
) -> Result<(), SerdeError> {
    match (ty, value) {
        (CairoType::Scalar(scalar), CairoValue::Felt(felt)) if scalar.sort == ScalarSort::Felt => {
            if !scalar.holds(&felt.number().into()) {
                return Err(SerdeError::new(ty, scalar.range(), felt.to_hex()));
            }
            out.push(*felt);
        }
        (CairoType::Scalar(scalar), CairoValue::Number(number))
            if scalar.sort != ScalarSort::Felt =>
        {
            let felt = scalar.holds(number).then(|| Felt::from_number(number));
            let fail = || SerdeError::new(ty, scalar.range(), number.to_string());
            out.push(felt.flatten().ok_or_else(fail)?);
        }
        (CairoType::Bool, CairoValue::Bool(value)) => out.push(small(usize::from(*value))),
        (CairoType::ShortString, CairoValue::Text(text)) => {
            let felt = Felt::from_short_string(text);
            out.push(felt.map_err(|e| SerdeError::new(ty, e.to_string(), format!("{text:?}")))?);
        }
        (CairoType::Wide(limbs), CairoValue::Number(number)) => wide(ty, *limbs, number, out)?,
        (CairoType::ByteArray, CairoValue::Bytes(bytes)) => {
            let words = bytes.chunks_exact(WORD);
            let pending = words.remainder();
            out.push(small(bytes.len() / WORD));
            out.extend(words.map(word));
            out.extend([word(pending), small(pending.len())]);
        }
        (CairoType::NonZero(inner), value) => {
            if value.is_zero() {
                return Err(SerdeError::new(ty, "anything but 0", "0"));
            }
            write(inner, value, dialect, out)?;
        }
        (CairoType::List(_, item), CairoValue::List(items)) => {
            out.push(small(items.len()));
            list(items.iter().map(|value| (&**item, value)), dialect, out)?;
        }
        (CairoType::Fixed(item, count), CairoValue::List(items)) if items.len() == *count => {
            if dialect == CairoDialect::Sdk {
                out.push(small(*count));
            }
            list(items.iter().map(|value| (&**item, value)), dialect, out)?;
        }
        (CairoType::Tuple(types), CairoValue::List(items)) if items.len() == types.len() => {
            list(types.iter().zip(items), dialect, out)?;
        }
        (CairoType::Struct(definition), CairoValue::Struct(members))
            if members.len() == definition.members.len() =>
        {
            for ((name, ty), (given, value)) in definition.members.iter().zip(members) {
                if name != given {
                    return Err(SerdeError::new(ty, format!("the member {name}"), &**given));
                }
                write(ty, value, dialect, out).map_err(|e| e.under(name))?;
            }
        }
        (CairoType::Enum(definition), CairoValue::Variant(name, value)) => {
            let Some((index, (_, held))) = definition.find(name) else {
                return Err(SerdeError::new(ty, "one of its variants", &**name));
            };
            out.push(small(index));
            match value {
                Some(value) => {
                    write(held, value, dialect, out).map_err(|e| e.under(name))?;
                }
                None if held.is_unit() => {}
                None => return Err(SerdeError::new(held, "a value", "nothing").under(name)),
            }
        }
        _ => return Err(SerdeError::new(ty, "a value of its shape", value.to_json())),
    }
    Ok(())
}

fn list<'v>(
    pairs: impl Iterator<Item = (&'v CairoType, &'v CairoValue)>,
    dialect: CairoDialect,
    out: &mut Vec<Felt>,
) -> Result<(), SerdeError> {
    for (i, (ty, value)) in pairs.enumerate() {
        write(ty, value, dialect, out).map_err(|e| e.under(&format!("[{i}]")))?;
    }
    Ok(())
}

fn wide(ty: &CairoType, limbs: u8, number: &BigInt, out: &mut Vec<Felt>) -> Result<(), SerdeError> {
    let bits = u32::from(limbs) * LIMB;
    if *number < BigInt::ZERO || number.bits() > u64::from(bits) {
        let wanted = format!("0 to 2^{bits} - 1");
        return Err(SerdeError::new(ty, wanted, number.to_string()));
    }
    let mask = (BigInt::from(1) << LIMB) - 1;
    for i in 0..u32::from(limbs) {
        let limb = (number >> (i * LIMB)) & &mask;
        out.extend(Felt::from_number(&limb));
    }
    Ok(())
}

/// At most 31 bytes, big-endian.
fn word(bytes: &[u8]) -> Felt {
    let mut felt = Felt::default();
    for (to, from) in felt.0.iter_mut().rev().zip(bytes.iter().rev()) {
        *to = *from;
    }
    felt
}

fn small(n: usize) -> Felt {
    word(&(n as u64).to_be_bytes())
}
