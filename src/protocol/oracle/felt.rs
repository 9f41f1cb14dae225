//! Felts: field elements below P = 2^251 + 17 * 2^192 + 1, spelled in hex.
//!
//! ```text
//!   "0x2710"                     10000
//!   "0x68656c6c6f"               448378203247, the short string 'hello': its bytes, big-endian
//!   "0x800000000000011000…000"   P - 1, which stands for -1
//! ```
//!
//! What real peers read: a lower-case `0x`, once or twice, then 1 to 64 digits of any case. What they write: no leading
//! zeros, lower case.

use num_bigint::{BigInt, BigUint};
use std::fmt;

/// A felt's 32 bytes, big-endian.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Felt(pub [u8; 32]);

/// P, big-endian.
const PRIME: [u8; 32] = {
    let mut p = [0; 32];
    p[0] = 0x08;
    p[7] = 0x11;
    p[31] = 0x01;
    p
};

/// Digits of the longest decimal number that is looked at; P has 76.
const DIGITS: usize = 160;

/// Why text is no felt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NotAFelt {
    /// No lower-case `0x` before it.
    Prefix,
    /// No digit, a character that is none, or more than 64 of them.
    Digits,
    /// P or above; older peers take it modulo P, newer ones refuse it. Also -P and below.
    Range,
    /// No decimal number.
    Decimal,
    /// More than 31 characters, or one that is not ASCII.
    ShortString,
    /// In none of the spellings that people use.
    Spelling,
}

impl fmt::Display for NotAFelt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Prefix => "no 0x before it",
            Self::Digits => "1 to 64 hex digits are wanted",
            Self::Range => "not below P",
            Self::Decimal => "no decimal number",
            Self::ShortString => "a short string is at most 31 ASCII characters",
            Self::Spelling => {
                "wanted 0x and hex digits, a decimal number, or a short string in quotes: 'abc'"
            }
        })
    }
}

impl std::error::Error for NotAFelt {}

impl Felt {
    /// Reads a felt as real peers do, but refuses what lies outside the field.
    pub fn parse(text: &str) -> Result<Self, NotAFelt> {
        let bytes = Self::spelled(text)?;
        if bytes >= PRIME {
            Err(NotAFelt::Range)
        } else {
            Ok(Self(bytes))
        }
    }

    /// Reads a felt as older peers do: what lies outside the field is taken modulo P.
    pub fn parse_modulo(text: &str) -> Result<Self, NotAFelt> {
        let number = BigUint::from_bytes_be(&Self::spelled(text)?);
        Self::from_biguint(&(number % prime())).ok_or(NotAFelt::Range)
    }

    /// The bytes of a number in hex, P and above included.
    fn spelled(text: &str) -> Result<[u8; 32], NotAFelt> {
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
        Ok(bytes)
    }

    /// Reads a felt as people spell one: hex, decimal, below zero, or a short string in single quotes.
    pub fn read(text: &str) -> Result<Self, NotAFelt> {
        let quoted = text.strip_prefix('\'').and_then(|t| t.strip_suffix('\''));
        if let Some(text) = quoted {
            Self::from_short_string(text)
        } else if text.starts_with("0x") {
            Self::parse(text)
        } else if text.starts_with(|c: char| c == '-' || c.is_ascii_digit()) {
            Self::from_decimal(text).map_err(|why| match why {
                NotAFelt::Decimal => NotAFelt::Spelling,
                why => why,
            })
        } else {
            Err(NotAFelt::Spelling)
        }
    }

    /// The felt of a decimal number; -x is P - x.
    pub fn from_decimal(text: &str) -> Result<Self, NotAFelt> {
        let number = integer(text).ok_or(NotAFelt::Decimal)?;
        Self::from_number(&number).ok_or(NotAFelt::Range)
    }

    /// The felt of a whole number above -P and below P; -x is P - x.
    pub fn from_number(number: &BigInt) -> Option<Self> {
        if let Some(number) = number.to_biguint() {
            return Self::from_biguint(&number);
        }
        let number = (BigInt::from(prime()) + number).to_biguint()?;
        Self::from_biguint(&number).filter(|f| *f != Self::default())
    }

    fn from_biguint(number: &BigUint) -> Option<Self> {
        let digits = number.to_bytes_be();
        let mut bytes = [0; 32];
        let start = bytes.len().checked_sub(digits.len())?;
        bytes.get_mut(start..)?.copy_from_slice(&digits);
        (bytes < PRIME).then_some(Self(bytes))
    }

    /// The felt of a short string: at most 31 ASCII characters, their bytes big-endian.
    pub fn from_short_string(text: &str) -> Result<Self, NotAFelt> {
        if !text.is_ascii() || text.len() > 31 {
            return Err(NotAFelt::ShortString);
        }
        Self::from_biguint(&BigUint::from_bytes_be(text.as_bytes())).ok_or(NotAFelt::Range)
    }

    /// Its value, 0 to P - 1.
    pub fn number(&self) -> BigUint {
        BigUint::from_bytes_be(&self.0)
    }

    /// The number nearest to zero that it stands for: x, or x - P.
    pub fn signed(&self) -> BigInt {
        let number = self.number();
        if number > prime() >> 1 {
            BigInt::from(number) - BigInt::from(prime())
        } else {
            number.into()
        }
    }

    /// As peers write it: `0x`, no leading zeros, lower case.
    pub fn to_hex(&self) -> String {
        let digits = hex::encode(self.0);
        match digits.trim_start_matches('0') {
            "" => "0x0".into(),
            digits => format!("0x{digits}"),
        }
    }

    /// In decimal, 0 to P - 1.
    pub fn to_decimal(&self) -> String {
        self.number().to_string()
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

/// As peers write it.
impl fmt::Display for Felt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_hex())
    }
}

fn prime() -> BigUint {
    BigUint::from_bytes_be(&PRIME)
}

/// A whole number in decimal; no plus sign, no underscores, at most 160 digits.
pub(super) fn integer(text: &str) -> Option<BigInt> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let plain = (1..=DIGITS).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_digit());
    plain.then(|| text.parse().ok()).flatten()
}

/// What a felt stands for, in a few words: its number, and the text it spells.
pub(super) fn remark(text: &str) -> Option<String> {
    let felt = match Felt::parse(text) {
        Ok(felt) => felt,
        Err(why) => return Some(format!("no felt: {why}")),
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

    #[test]
    fn people_and_peers_agree() {
        let minus = |digits: &str| format!("0x80000000000001{digits:0>49}");
        for (text, hex, decimal, signed) in [
            ("0", "0x0", "0", "0"),
            ("10000", "0x2710", "10000", "10000"),
            ("0x0x00AB", "0xab", "171", "171"),
            (
                "-1",
                &format!("0x800000000000011{}", "0".repeat(48)),
                "3618502788666131213697322783095070105623107215331596699973092056135872020480",
                "-1",
            ),
            (
                "-5",
                &minus("0fffffffffffffffffffffffffffffffffffffffffffffffc"),
                "3618502788666131213697322783095070105623107215331596699973092056135872020476",
                "-5",
            ),
            ("'hello'", "0x68656c6c6f", "448378203247", "448378203247"),
            ("''", "0x0", "0", "0"),
        ] {
            let felt = Felt::read(text).unwrap();
            assert_eq!(felt.to_hex(), hex, "{text}");
            assert_eq!(felt.to_decimal(), decimal, "{text}");
            assert_eq!(felt.signed().to_string(), signed, "{text}");
            for again in [hex, decimal, signed] {
                assert_eq!(Felt::read(again), Ok(felt), "{text}: {again}");
            }
        }
        assert_eq!(Felt::read("-0"), Ok(Felt::default()));
    }

    #[test]
    fn what_is_none() {
        let prime = prime().to_string();
        for (text, want) in [
            ("", NotAFelt::Spelling),
            ("abc", NotAFelt::Spelling),
            ("0X1", NotAFelt::Spelling),
            ("1_0", NotAFelt::Spelling),
            ("-", NotAFelt::Spelling),
            ("--1", NotAFelt::Spelling),
            ("-0x1", NotAFelt::Spelling),
            ("0x", NotAFelt::Digits),
            (&prime, NotAFelt::Range),
            (&format!("-{prime}"), NotAFelt::Range),
            (&"9".repeat(160), NotAFelt::Range),
            (&"9".repeat(161), NotAFelt::Spelling),
            ("'żółw'", NotAFelt::ShortString),
            (&format!("'{}'", "a".repeat(32)), NotAFelt::ShortString),
        ] {
            assert_eq!(Felt::read(text), Err(want), "{text}");
        }
        let beyond = format!("0x800000000000011{}5", "0".repeat(47));
        assert_eq!(
            Felt::parse_modulo(&beyond).map(|f| f.to_hex()),
            Ok("0x4".into())
        );
        let most = format!("0x{}", "f".repeat(64));
        assert!(Felt::parse_modulo(&most).is_ok_and(|f| f.0 < PRIME));
    }
}
