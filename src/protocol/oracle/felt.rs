//! Felts: field elements below P = 2^251 + 17 * 2^192 + 1, spelled in hex.
//!
//! ```text
//!   "0x2710"                     10000
//!   "0x68656c6c6f"               448378203247, the short string 'hello': its bytes, big-endian
//!   "0x800000000000011000…000"   P - 1, which means -1
//! ```
//!
//! Real peers read a lower-case `0x`, once or twice, then 1 to 64 digits of any case. They write no leading zeros, in
//! lower case.

use num_bigint::{BigInt, BigUint};
use std::fmt;

/// The 32 bytes of a felt, big-endian.
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

/// The number of hex digits of P, which begins with 8.
const PRIME_DIGITS: usize = 63;

/// The largest number of decimal digits; P has 76.
const DIGITS: usize = 160;

/// The reason why a text is not a felt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NotAFelt {
    /// There is no lower-case `0x` prefix.
    Prefix,
    /// There is no digit, another character, or more than 64 digits.
    Digits,
    /// It is P or above; older peers reduce it modulo P, newer ones refuse it. Also -P and below.
    Range,
    /// It is not a decimal number.
    Decimal,
    /// It has more than 31 characters, or one that is not ASCII.
    ShortString,
    /// It has none of the spellings that people use.
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
    /// Parses a felt as real peers do, but refuses values outside the field.
    pub fn parse(text: &str) -> Result<Self, NotAFelt> {
        let bytes = Self::parse_hex(text)?;
        if bytes >= PRIME {
            Err(NotAFelt::Range)
        } else {
            Ok(Self(bytes))
        }
    }

    /// Returns true for a felt in the usual spelling: `0x`, lower-case digits, no leading zeros, a number below P.
    pub(super) fn is_usual(text: &[u8]) -> bool {
        let digits = text.strip_prefix(b"0x").unwrap_or_default();
        let is_below = match digits {
            [b'0'] => true,
            [b'1'..=b'7', ..] => digits.len() <= PRIME_DIGITS,
            [b'8' | b'9' | b'a'..=b'f', ..] => digits.len() < PRIME_DIGITS,
            _ => false,
        };
        // Without an early end, the compiler compares several bytes in one step.
        let is_digit = |byte: &u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        is_below && digits.iter().fold(true, |all, byte| all & is_digit(byte))
    }

    /// Parses a felt as older peers do: values outside the field are reduced modulo P.
    pub fn parse_modulo(text: &str) -> Result<Self, NotAFelt> {
        let number = BigUint::from_bytes_be(&Self::parse_hex(text)?);
        Self::from_biguint(&(number % prime())).ok_or(NotAFelt::Range)
    }

    /// Returns the bytes of a number in hex, also of P and above.
    fn parse_hex(text: &str) -> Result<[u8; 32], NotAFelt> {
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

    /// Parses a felt as people spell it: hex, decimal, negative, or a short string in single quotes.
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

    /// Returns the felt of a decimal number; -x is P - x.
    pub fn from_decimal(text: &str) -> Result<Self, NotAFelt> {
        let number = integer(text).ok_or(NotAFelt::Decimal)?;
        Self::from_number(&number).ok_or(NotAFelt::Range)
    }

    /// Returns the felt of an integer above -P and below P; -x is P - x.
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

    /// Returns the felt of a short string: at most 31 ASCII characters, their bytes big-endian.
    pub fn from_short_string(text: &str) -> Result<Self, NotAFelt> {
        if !text.is_ascii() || text.len() > 31 {
            return Err(NotAFelt::ShortString);
        }
        Self::from_biguint(&BigUint::from_bytes_be(text.as_bytes())).ok_or(NotAFelt::Range)
    }

    /// Returns the value, 0 to P - 1.
    pub fn number(&self) -> BigUint {
        BigUint::from_bytes_be(&self.0)
    }

    /// Returns the signed value nearest to zero: x, or x - P.
    pub fn signed(&self) -> BigInt {
        let number = self.number();
        if number > prime() >> 1 {
            BigInt::from(number) - BigInt::from(prime())
        } else {
            number.into()
        }
    }

    /// Formats the felt as peers do: `0x`, no leading zeros, lower case.
    pub fn to_hex(&self) -> String {
        let digits = hex::encode(self.0);
        match digits.trim_start_matches('0') {
            "" => "0x0".into(),
            digits => format!("0x{digits}"),
        }
    }

    /// Formats the felt in decimal, 0 to P - 1.
    pub fn to_decimal(&self) -> String {
        self.number().to_string()
    }

    /// Returns the value if it fits in 128 bits.
    pub fn as_u128(&self) -> Option<u128> {
        let (high, low) = self.0.split_first_chunk::<16>()?;
        let low: [u8; 16] = low.try_into().ok()?;
        high.iter()
            .all(|b| *b == 0)
            .then_some(u128::from_be_bytes(low))
    }

    /// Returns the short string: at most 31 printable ASCII characters.
    pub fn short_string(&self) -> Option<&str> {
        let start = self.0.iter().position(|b| *b != 0)?;
        let text = std::str::from_utf8(self.0.get(start..)?).ok()?;
        (start > 0 && text.bytes().all(|b| b.is_ascii_graphic() || b == b' ')).then_some(text)
    }

    /// Returns P minus the value if that is below 2^128: the absolute value of a negative number.
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

/// Formats the felt as peers do.
impl fmt::Display for Felt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_hex())
    }
}

fn prime() -> BigUint {
    BigUint::from_bytes_be(&PRIME)
}

/// Parses a decimal integer without plus sign and underscores, of at most 160 digits.
pub(super) fn integer(text: &str) -> Option<BigInt> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let plain = (1..=DIGITS).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_digit());
    plain.then(|| text.parse().ok()).flatten()
}

/// Describes a felt: its number and its text.
pub(super) fn remark(text: &str) -> Option<String> {
    let felt = match Felt::parse(text) {
        Ok(felt) => felt,
        Err(why) => return Some(format!("not a felt: {why}")),
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
    fn spellings_are_parsed() {
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
    fn remarks_have_number_and_text() {
        for (text, want) in [
            ("0x2710", Some("10000")),
            ("0x616263", Some("6382179 'abc'")),
            (&format!("0x800000000000011{}", "0".repeat(48)), Some("-1")),
        ] {
            assert_eq!(remark(text).as_deref(), want, "{text}");
        }
    }

    #[test]
    fn both_parsers_agree() {
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
    fn text_that_is_not_a_felt_is_refused() {
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
