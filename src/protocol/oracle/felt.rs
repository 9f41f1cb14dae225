//! Felts: field elements below P = 2^251 + 17 * 2^192 + 1, spelled in hex.
//!
//! What real peers read: a lower-case `0x`, once or twice, then 1 to 64 digits of any case. What they write: no leading
//! zeros, lower case.

/// A felt's 32 bytes, big-endian.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Felt(pub [u8; 32]);

/// P, big-endian.
const PRIME: [u8; 32] = {
    let mut p = [0; 32];
    p[0] = 0x08;
    p[7] = 0x11;
    p[31] = 0x01;
    p
};

/// Why text is no felt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotAFelt {
    /// No lower-case `0x` before it.
    Prefix,
    /// No digit, a character that is none, or more than 64 of them.
    Digits,
    /// P or above; older peers take it modulo P, newer ones refuse it.
    Range,
}

impl Felt {
    /// Reads a felt as real peers do, but refuses what lies outside the field.
    pub fn parse(text: &str) -> Result<Self, NotAFelt> {
        let digits = text.strip_prefix("0x").ok_or(NotAFelt::Prefix)?;
        let digits = digits.strip_prefix("0x").unwrap_or(digits);
        if digits.is_empty() || digits.len() > 64 {
            return Err(NotAFelt::Digits);
        }
        let mut bytes = [0; 32];
        for (i, digit) in digits.bytes().rev().enumerate() {
            let value = (digit as char).to_digit(16).ok_or(NotAFelt::Digits)? as u8;
            if let Some(byte) = bytes.get_mut(31 - i / 2) {
                *byte |= value << (4 * (i % 2));
            }
        }
        if bytes >= PRIME {
            Err(NotAFelt::Range)
        } else {
            Ok(Self(bytes))
        }
    }

    /// Its value, where 128 bits hold it.
    pub fn as_u128(&self) -> Option<u128> {
        let (high, low) = self.0.split_first_chunk::<16>()?;
        let low: [u8; 16] = low.try_into().ok()?;
        high.iter()
            .all(|b| *b == 0)
            .then_some(u128::from_be_bytes(low))
    }

    /// The short string it spells: at most 31 printable ASCII characters.
    pub fn short_string(&self) -> Option<&str> {
        let start = self.0.iter().position(|b| *b != 0)?;
        let text = std::str::from_utf8(self.0.get(start..)?).ok()?;
        (start > 0 && text.bytes().all(|b| b.is_ascii_graphic() || b == b' ')).then_some(text)
    }

    /// P minus it, where that is below 2^128: the number whose negative it stands for.
    pub fn negative(&self) -> Option<u128> {
        let mut difference = [0; 32];
        let mut borrow = 0i16;
        for (out, (p, f)) in difference.iter_mut().zip(PRIME.iter().zip(self.0)).rev() {
            let digit = *p as i16 - f as i16 - borrow;
            borrow = i16::from(digit < 0);
            *out = digit.rem_euclid(256) as u8;
        }
        Self(difference).as_u128().filter(|n| *n > 0)
    }
}

/// What a felt stands for, in a few words: its number, and the text it spells.
pub(super) fn remark(text: &str) -> Option<String> {
    let felt = match Felt::parse(text) {
        Ok(felt) => felt,
        Err(NotAFelt::Prefix) => return Some("no felt: no 0x before it".into()),
        Err(NotAFelt::Digits) => return Some("no felt: 1 to 64 hex digits are wanted".into()),
        Err(NotAFelt::Range) => return Some("no felt: not below P".into()),
    };
    let mut remark = match (felt.as_u128(), felt.negative()) {
        (Some(n), _) => n.to_string(),
        (None, Some(n)) => format!("-{n}"),
        (None, None) => String::new(),
    };
    if let Some(text) = felt.short_string().filter(|t| t.len() > 1) {
        let gap = if remark.is_empty() { "" } else { " " };
        remark = format!("{remark}{gap}'{text}'");
    }
    (!remark.is_empty()).then_some(remark)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings() {
        let top = format!("0x{:0>64}", format!("800000000000011{}", "0".repeat(48)));
        for (text, want) in [
            ("0x0", Ok(Some(0))),
            ("0x0x12", Ok(Some(0x12))),
            ("0xAbC", Ok(Some(0xabc))),
            ("0X1", Err(NotAFelt::Prefix)),
            ("12", Err(NotAFelt::Prefix)),
            ("0x", Err(NotAFelt::Digits)),
            ("0x1_0", Err(NotAFelt::Digits)),
            (&format!("0x{}", "0".repeat(64)), Ok(Some(0))),
            (&format!("0x{}", "0".repeat(65)), Err(NotAFelt::Digits)),
            (&top, Ok(None)),
            (
                &format!("0x800000000000011{}1", "0".repeat(47)),
                Err(NotAFelt::Range),
            ),
        ] {
            assert_eq!(Felt::parse(text).map(|f| f.as_u128()), want, "{text}");
        }
    }

    #[test]
    fn remarks() {
        for (text, want) in [
            ("0x2710", Some("10000")),
            ("0x616263", Some("6382179 'abc'")),
            (&format!("0x800000000000011{}", "0".repeat(48)), Some("-1")),
        ] {
            assert_eq!(remark(text).as_deref(), want, "{text}");
        }
    }
}
