//! Felts to values.

use super::super::felt::Felt;
use super::types::{Definition, Scalar, Sort, Type};
use super::{Dialect, LIMB, SerdeError, Value, WORD};
use num_bigint::BigInt;

/// Values that take no felt are bounded by this alone, since no felt bounds them: `Array<()>`.
const EMPTY: usize = 1 << 16;

/// Reads one value; tells how many felts it took. What follows is the caller's to judge: Cairo ignores it in results,
/// the SDK refuses it in calldata.
pub fn decode(ty: &Type, felts: &[Felt], dialect: Dialect) -> Result<(Value, usize), SerdeError> {
    let mut decoder = Decoder::new(felts, dialect);
    let value = decoder.value(ty)?;
    Ok((value, decoder.at()))
}

/// Reads value after value.
pub struct Decoder<'f> {
    felts: &'f [Felt],
    at: usize,
    dialect: Dialect,
    empty: usize,
}

impl<'f> Decoder<'f> {
    /// Before the first felt.
    pub fn new(felts: &'f [Felt], dialect: Dialect) -> Self {
        Self {
            felts,
            at: 0,
            dialect,
            empty: 0,
        }
    }

    /// Which felt comes next.
    pub fn at(&self) -> usize {
        self.at
    }

    /// How many felts there are still.
    pub fn left(&self) -> usize {
        self.felts.len() - self.at
    }

    /// Reads one value. After an error, it stands somewhere in it.
    pub fn value(&mut self, ty: &Type) -> Result<Value, SerdeError> {
        let start = self.at;
        let value = match ty {
            Type::Scalar(scalar) => self.scalar(ty, scalar)?,
            Type::Bool => self.bool(ty)?,
            Type::ShortString => self.short_string(ty)?,
            Type::Wide(limbs) => self.wide(ty, *limbs)?,
            Type::ByteArray => self.byte_array(ty)?,
            Type::NonZero(inner) => {
                let value = self.value(inner)?;
                if value.is_zero() {
                    return Err(SerdeError::new(ty, "anything but 0", "0").at(start));
                }
                value
            }
            Type::List(_, item) => {
                let count = self.count(ty, item.least(), 0)?;
                self.items(item, count)?
            }
            Type::Fixed(item, count) => {
                // Cairo writes the items alone; the SDK writes their number before them.
                if self.dialect == Dialect::Sdk {
                    let felt = self.next(ty)?;
                    if felt.as_u128() != Some(*count as u128) {
                        let wanted = format!("the length {count}, as the SDK writes it");
                        return Err(SerdeError::new(ty, wanted, number(felt)).at(start));
                    }
                }
                self.room(ty, *count, item.least(), 0)?;
                self.items(item, *count)?
            }
            Type::Tuple(types) => {
                let mut items = Vec::new();
                for (i, ty) in types.iter().enumerate() {
                    items.push(self.value(ty).map_err(|e| e.under(&format!("[{i}]")))?);
                }
                Value::List(items)
            }
            Type::Struct(definition) => {
                let mut members = Vec::new();
                for (name, ty) in &definition.members {
                    let value = self.value(ty).map_err(|e| e.under(name))?;
                    members.push((name.clone(), value));
                }
                Value::Struct(members)
            }
            Type::Enum(definition) => self.variant(ty, definition)?,
        };
        if self.at == start {
            self.empty += 1;
            if self.empty > EMPTY {
                let wanted = format!("at most {EMPTY} values that take no felt");
                return Err(SerdeError::new(ty, wanted, "more").at(start));
            }
        }
        Ok(value)
    }

    fn next(&mut self, ty: &Type) -> Result<Felt, SerdeError> {
        let Some(felt) = self.felts.get(self.at) else {
            return Err(SerdeError::new(ty, "a felt", "the end of them").at(self.at));
        };
        self.at += 1;
        Ok(*felt)
    }

    /// A number of items that take `least` felts each, `after` more behind them: no more than there is room for.
    fn count(&mut self, ty: &Type, least: usize, after: usize) -> Result<usize, SerdeError> {
        let start = self.at;
        let felt = self.next(ty)?;
        let count = felt.as_u128().and_then(|n| usize::try_from(n).ok());
        let Some(count) = count else {
            let wanted = format!("a length for which {} have room", felts(self.left()));
            return Err(SerdeError::new(ty, wanted, number(felt)).at(start));
        };
        let room = self.room(ty, count, least, after);
        room.map_err(|e| e.at(start))?;
        Ok(count)
    }

    fn room(&self, ty: &Type, count: usize, least: usize, after: usize) -> Result<(), SerdeError> {
        let needed = count.saturating_mul(least).saturating_add(after);
        if needed <= self.left() {
            return Ok(());
        }
        let wanted = format!("at least {} for the length {count}", felts(needed));
        Err(SerdeError::new(ty, wanted, felts(self.left())).at(self.at))
    }

    fn items(&mut self, item: &Type, count: usize) -> Result<Value, SerdeError> {
        let mut items = Vec::new();
        for i in 0..count {
            let value = self.value(item);
            items.push(value.map_err(|e| e.under(&format!("[{i}]")))?);
        }
        Ok(Value::List(items))
    }

    fn scalar(&mut self, ty: &Type, scalar: &Scalar) -> Result<Value, SerdeError> {
        let start = self.at;
        let felt = self.next(ty)?;
        let fail = || Err(SerdeError::new(ty, scalar.range(), self::number(felt)).at(start));
        match scalar.sort {
            Sort::Felt if scalar.holds(&felt.number().into()) => Ok(Value::Felt(felt)),
            Sort::Felt => fail(),
            Sort::Unsigned | Sort::Signed => {
                let number = if scalar.sort == Sort::Signed {
                    felt.signed()
                } else {
                    felt.number().into()
                };
                if scalar.holds(&number) {
                    Ok(Value::Number(number))
                } else {
                    fail()
                }
            }
        }
    }

    fn bool(&mut self, ty: &Type) -> Result<Value, SerdeError> {
        let start = self.at;
        let felt = self.next(ty)?;
        match (felt.as_u128(), self.dialect) {
            (Some(0), _) => Ok(Value::Bool(false)),
            (Some(1), _) | (_, Dialect::Cairo) => Ok(Value::Bool(true)),
            (_, Dialect::Sdk) => Err(SerdeError::new(ty, "0 or 1", number(felt)).at(start)),
        }
    }

    fn short_string(&mut self, ty: &Type) -> Result<Value, SerdeError> {
        let start = self.at;
        let felt = self.next(ty)?;
        let first = felt.0.iter().position(|b| *b != 0);
        let bytes = felt.0.get(first.unwrap_or(felt.0.len())..);
        let bytes = bytes.unwrap_or_default();
        match std::str::from_utf8(bytes) {
            Ok(text) if text.is_ascii() && bytes.len() <= WORD => Ok(Value::Text(text.to_owned())),
            _ => {
                let wanted = "at most 31 ASCII characters";
                Err(SerdeError::new(ty, wanted, felt.to_hex()).at(start))
            }
        }
    }

    fn wide(&mut self, ty: &Type, limbs: u8) -> Result<Value, SerdeError> {
        let mut sum = BigInt::ZERO;
        for i in 0..u32::from(limbs) {
            let start = self.at;
            let felt = self.next(ty)?;
            let Some(limb) = felt.as_u128() else {
                let wanted = format!("limb {i} below 2^{LIMB}");
                return Err(SerdeError::new(ty, wanted, number(felt)).at(start));
            };
            sum += BigInt::from(limb) << (i * LIMB);
        }
        Ok(Value::Number(sum))
    }

    fn byte_array(&mut self, ty: &Type) -> Result<Value, SerdeError> {
        let count = self.count(ty, 1, 2)?;
        let mut bytes = Vec::new();
        for _ in 0..count {
            let start = self.at;
            let felt = self.next(ty)?;
            let Some((0, word)) = felt.0.split_first() else {
                let wanted = "a word of 31 bytes";
                return Err(SerdeError::new(ty, wanted, felt.to_hex()).at(start));
            };
            bytes.extend_from_slice(word);
        }
        let start = self.at;
        let (pending, len) = (self.next(ty)?, self.next(ty)?);
        let most = match self.dialect {
            Dialect::Cairo => WORD - 1,
            Dialect::Sdk => WORD + 1,
        };
        let short = len.as_u128().and_then(|n| usize::try_from(n).ok());
        let Some(short) = short.filter(|n| *n <= most) else {
            let wanted = format!("a pending length of 0 to {most}");
            return Err(SerdeError::new(ty, wanted, number(len)).at(start + 1));
        };
        let (above, word) = pending.0.split_at(pending.0.len() - short);
        if self.dialect == Dialect::Cairo && above.iter().any(|b| *b != 0) {
            let wanted = format!("a pending word within its length, {short}");
            return Err(SerdeError::new(ty, wanted, pending.to_hex()).at(start));
        }
        bytes.extend_from_slice(word);
        Ok(Value::Bytes(bytes))
    }

    fn variant(&mut self, ty: &Type, definition: &Definition) -> Result<Value, SerdeError> {
        let start = self.at;
        let felt = self.next(ty)?;
        let index = felt.as_u128().and_then(|n| usize::try_from(n).ok());
        let Some((name, ty)) = index.and_then(|n| definition.members.get(n)) else {
            let names = definition.members.iter().enumerate();
            let names: Vec<String> = names.map(|(i, (n, _))| format!("{i} {n}")).collect();
            let wanted = format!("a variant: {}", names.join(", "));
            return Err(SerdeError::new(ty, wanted, number(felt)).at(start));
        };
        let value = self.value(ty).map_err(|e| e.under(name))?;
        let held = (!ty.is_unit()).then(|| Box::new(value));
        Ok(Value::Variant(name.clone(), held))
    }
}

fn felts(n: usize) -> String {
    format!("{n} felt{}", if n == 1 { "" } else { "s" })
}

/// A felt as an error shows it.
fn number(felt: Felt) -> String {
    match (felt.as_u128(), felt.negative()) {
        (None, Some(n)) => format!("{felt} (-{n})"),
        (Some(n), _) if n < 10 => n.to_string(),
        (Some(n), _) => format!("{felt} ({n})"),
        (None, None) => felt.to_hex(),
    }
}
