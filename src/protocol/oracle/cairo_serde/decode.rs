//! Decodes felts to JSON.

use super::super::felt::Felt;
use super::types::{CairoScalar, CairoType, Definition, ScalarSort};
use super::{CairoDialect, LIMB, Result, SerdeError, WORD};
use crate::encoding::json::write_str;
use num_bigint::BigInt;

/// The largest number of values that take no felt, such as those of `Array<()>`: no felt bounds them.
const EMPTY: usize = 1 << 16;

/// Decodes one value to JSON, and returns the number of felts that it took. The caller judges the rest: Cairo ignores it
/// in results, the SDK refuses it in calldata.
pub fn decode(ty: &CairoType, felts: &[Felt], dialect: CairoDialect) -> Result<(String, usize)> {
    let mut decoder = CairoDecoder::new(felts, dialect);
    let value = decoder.value(ty)?;
    Ok((value, decoder.at()))
}

/// Decodes values one after another.
#[derive(Debug)]
pub struct CairoDecoder<'f> {
    felts: &'f [Felt],
    at: usize,
    dialect: CairoDialect,
    empty: usize,
}

impl<'f> CairoDecoder<'f> {
    /// Creates a decoder before the first felt.
    pub fn new(felts: &'f [Felt], dialect: CairoDialect) -> Self {
        Self {
            felts,
            at: 0,
            dialect,
            empty: 0,
        }
    }

    /// Returns the index of the next felt.
    pub fn at(&self) -> usize {
        self.at
    }

    /// Returns the number of remaining felts.
    pub fn left(&self) -> usize {
        self.felts.len() - self.at
    }

    /// Decodes one value to JSON on one line. After an error, the position is inside the value.
    pub fn value(&mut self, ty: &CairoType) -> Result<String> {
        let mut json = Vec::new();
        self.write(ty, &mut json)?;
        Ok(String::from_utf8(json).unwrap_or_default())
    }

    fn write(&mut self, ty: &CairoType, out: &mut Vec<u8>) -> Result<()> {
        let start = self.at;
        match ty {
            CairoType::Scalar(scalar) => self.scalar(ty, scalar, out)?,
            CairoType::Bool => self.bool(ty, out)?,
            CairoType::ShortString => self.short_string(ty, out)?,
            CairoType::Wide(limbs) => self.wide(ty, *limbs, out)?,
            CairoType::ByteArray => self.byte_array(ty, out)?,
            CairoType::NonZero(inner) => {
                self.write(inner, out)?;
                let mut felts = self.felts.iter().take(self.at).skip(start);
                if felts.all(|felt| *felt == Felt::default()) {
                    return Err(SerdeError::new(ty, "anything but 0", "0").at(start));
                }
            }
            CairoType::List(_, item) => {
                let count = self.count(ty, item.least(), 0)?;
                self.items(std::iter::repeat_n(&**item, count), out)?;
            }
            CairoType::Fixed(item, count) => {
                // Cairo writes only the items; the SDK writes their number first.
                if self.dialect == CairoDialect::Sdk {
                    let felt = self.next(ty)?;
                    if felt.as_u128() != Some(*count as u128) {
                        let wanted = format!("the length {count}, as the SDK writes it");
                        return Err(SerdeError::new(ty, wanted, number(felt)).at(start));
                    }
                }
                self.check_room(ty, *count, item.least(), 0)?;
                self.items(std::iter::repeat_n(&**item, *count), out)?;
            }
            CairoType::Tuple(types) => self.items(types.iter(), out)?,
            CairoType::Struct(definition) => {
                out.push(b'{');
                for (i, (name, ty)) in definition.members.iter().enumerate() {
                    if i > 0 {
                        out.push(b',');
                    }
                    self.member(name, ty, out)?;
                }
                out.push(b'}');
            }
            CairoType::Enum(definition) => self.variant(ty, definition, out)?,
        }
        if self.at == start {
            self.empty += 1;
            if self.empty > EMPTY {
                let wanted = format!("at most {EMPTY} values that take no felt");
                return Err(SerdeError::new(ty, wanted, "more").at(start));
            }
        }
        Ok(())
    }

    fn next(&mut self, ty: &CairoType) -> Result<Felt> {
        let Some(felt) = self.felts.get(self.at) else {
            return Err(SerdeError::new(ty, "a felt", "the end of them").at(self.at));
        };
        self.at += 1;
        Ok(*felt)
    }

    /// Decodes a number of items that take `least` felts each, with `after` more felts after them. It must fit the
    /// remaining felts.
    fn count(&mut self, ty: &CairoType, least: usize, after: usize) -> Result<usize> {
        let start = self.at;
        let felt = self.next(ty)?;
        let count = felt.as_u128().and_then(|n| usize::try_from(n).ok());
        let Some(count) = count else {
            let wanted = format!("a length for which {} have room", felts(self.left()));
            return Err(SerdeError::new(ty, wanted, number(felt)).at(start));
        };
        let fits = self.check_room(ty, count, least, after);
        fits.map_err(|e| e.at(start))?;
        Ok(count)
    }

    fn check_room(&self, ty: &CairoType, count: usize, least: usize, after: usize) -> Result<()> {
        let needed = count.saturating_mul(least).saturating_add(after);
        if needed <= self.left() {
            return Ok(());
        }
        let wanted = format!("at least {} for the length {count}", felts(needed));
        Err(SerdeError::new(ty, wanted, felts(self.left())).at(self.at))
    }

    fn items<'t>(
        &mut self,
        types: impl Iterator<Item = &'t CairoType>,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        out.push(b'[');
        for (i, ty) in types.enumerate() {
            if i > 0 {
                out.push(b',');
            }
            let item = self.write(ty, out);
            item.map_err(|e| e.under(&format!("[{i}]")))?;
        }
        out.push(b']');
        Ok(())
    }

    /// Decodes the value of a member or a variant, with its name.
    fn member(&mut self, name: &str, ty: &CairoType, out: &mut Vec<u8>) -> Result<()> {
        write_str(name, out);
        out.push(b':');
        self.write(ty, out).map_err(|e| e.under(name))
    }

    fn scalar(&mut self, ty: &CairoType, scalar: &CairoScalar, out: &mut Vec<u8>) -> Result<()> {
        let start = self.at;
        let felt = self.next(ty)?;
        let number = match scalar.sort {
            ScalarSort::Signed => felt.signed(),
            ScalarSort::Felt | ScalarSort::Unsigned => felt.number().into(),
        };
        if !scalar.holds(&number) {
            return Err(SerdeError::new(ty, scalar.range(), self::number(felt)).at(start));
        }
        match scalar.sort {
            ScalarSort::Felt => write_str(&felt.to_hex(), out),
            _ => out.extend_from_slice(number.to_string().as_bytes()),
        }
        Ok(())
    }

    fn bool(&mut self, ty: &CairoType, out: &mut Vec<u8>) -> Result<()> {
        let start = self.at;
        let felt = self.next(ty)?;
        out.extend_from_slice(match (felt.as_u128(), self.dialect) {
            (Some(0), _) => b"false",
            (Some(1), _) | (_, CairoDialect::Cairo) => b"true",
            _ => return Err(SerdeError::new(ty, "0 or 1", number(felt)).at(start)),
        });
        Ok(())
    }

    fn short_string(&mut self, ty: &CairoType, out: &mut Vec<u8>) -> Result<()> {
        let start = self.at;
        let felt = self.next(ty)?;
        let first = felt.0.iter().position(|b| *b != 0);
        let bytes = felt.0.get(first.unwrap_or(felt.0.len())..);
        match std::str::from_utf8(bytes.unwrap_or_default()) {
            Ok(text) if text.is_ascii() && text.len() <= WORD => write_str(text, out),
            _ => {
                let wanted = "at most 31 ASCII characters";
                return Err(SerdeError::new(ty, wanted, felt.to_hex()).at(start));
            }
        }
        Ok(())
    }

    fn wide(&mut self, ty: &CairoType, limbs: u8, out: &mut Vec<u8>) -> Result<()> {
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
        out.extend_from_slice(sum.to_string().as_bytes());
        Ok(())
    }

    fn byte_array(&mut self, ty: &CairoType, out: &mut Vec<u8>) -> Result<()> {
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
            CairoDialect::Cairo => WORD - 1,
            CairoDialect::Sdk => WORD + 1,
        };
        let short = len.as_u128().and_then(|n| usize::try_from(n).ok());
        let Some(short) = short.filter(|n| *n <= most) else {
            let wanted = format!("a pending length of 0 to {most}");
            return Err(SerdeError::new(ty, wanted, number(len)).at(start + 1));
        };
        let (above, word) = pending.0.split_at(pending.0.len() - short);
        if self.dialect == CairoDialect::Cairo && above.iter().any(|b| *b != 0) {
            let wanted = format!("a pending word within its length, {short}");
            return Err(SerdeError::new(ty, wanted, pending.to_hex()).at(start));
        }
        bytes.extend_from_slice(word);
        if let Ok(text) = std::str::from_utf8(&bytes) {
            write_str(text, out);
        } else {
            let text = format!("{{\"$str\":\"{}\"}}", hex::encode(bytes));
            out.extend_from_slice(text.as_bytes());
        }
        Ok(())
    }

    fn variant(
        &mut self,
        ty: &CairoType,
        definition: &Definition,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        let start = self.at;
        let felt = self.next(ty)?;
        let index = felt.as_u128().and_then(|n| usize::try_from(n).ok());
        let Some((name, ty)) = index.and_then(|n| definition.members.get(n)) else {
            let names = definition.members.iter().enumerate();
            let names: Vec<String> = names.map(|(i, (n, _))| format!("{i} {n}")).collect();
            let wanted = format!("a variant: {}", names.join(", "));
            return Err(SerdeError::new(ty, wanted, number(felt)).at(start));
        };
        if ty.is_unit() {
            write_str(name, out);
            return Ok(());
        }
        out.push(b'{');
        self.member(name, ty, out)?;
        out.push(b'}');
        Ok(())
    }
}

fn felts(n: usize) -> String {
    format!("{n} felt{}", if n == 1 { "" } else { "s" })
}

/// Formats a felt for an error.
fn number(felt: Felt) -> String {
    match (felt.as_u128(), felt.negative()) {
        (None, Some(n)) => format!("{felt} (-{n})"),
        (Some(n), _) if n < 10 => n.to_string(),
        (Some(n), _) => format!("{felt} ({n})"),
        (None, None) => felt.to_hex(),
    }
}
