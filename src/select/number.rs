//! Compares numbers as they are written, of any size, without conversion to floats.

use crate::tape::{Node, Scalar, Value};
use std::cmp::Ordering;

/// A decimal number as written: `-12.50e3`.
#[derive(Clone, Copy, Debug)]
pub struct Decimal<'a> {
    negative: bool,
    whole: &'a [u8],
    fraction: &'a [u8],
    exponent: i64,
}

impl<'a> Decimal<'a> {
    /// Parses a number as in JSON; a plus sign, leading zeros and a missing digit before or after
    /// the point are allowed.
    pub fn parse(text: &'a str) -> Option<Self> {
        let bytes = text.as_bytes();
        let (negative, rest) = match bytes {
            [b'-', rest @ ..] => (true, rest),
            [b'+', rest @ ..] => (false, rest),
            rest => (false, rest),
        };
        let (digits, exponent) = match rest.iter().position(|b| matches!(b, b'e' | b'E')) {
            None => (rest, 0),
            Some(at) => {
                let (digits, exponent) = (rest.get(..at)?, rest.get(at + 1..)?);
                (digits, read_exponent(exponent)?)
            }
        };
        let (whole, fraction) = match digits.iter().position(|b| *b == b'.') {
            None => (digits, &[][..]),
            Some(at) => (digits.get(..at)?, digits.get(at + 1..)?),
        };
        let all = |part: &[u8]| part.iter().all(u8::is_ascii_digit);
        let some = !whole.is_empty() || !fraction.is_empty();
        (some && all(whole) && all(fraction)).then_some(Self {
            negative,
            whole,
            fraction,
            exponent,
        })
    }

    fn digits(self) -> impl Iterator<Item = u8> {
        let digits = self.whole.iter().chain(self.fraction).copied();
        digits.skip_while(|d| *d == b'0')
    }

    /// Returns the number of digits before the point without leading zeros; `None` for zero.
    fn point(self) -> Option<i128> {
        let length = self.whole.len() + self.fraction.len();
        let zeros = length - self.digits().count();
        (zeros < length).then(|| self.whole.len() as i128 - zeros as i128 + self.exponent as i128)
    }

    /// Returns a text that is equal exactly for numbers of the same value: sign, digits without
    /// surrounding zeros, and the number of digits before the point. `None` if the exponent exceeds
    /// 64 bits.
    pub fn canonical(self) -> Option<String> {
        let Some(point) = self.point() else {
            return Some("0".to_owned());
        };
        if self.exponent.unsigned_abs() >= i64::MAX.unsigned_abs() {
            return None;
        }
        let sign = if self.negative { "-" } else { "" };
        let digits: String = self.digits().map(char::from).collect();
        Some(format!("{sign}{}e{point}", digits.trim_end_matches('0')))
    }

    /// Compares two numbers.
    pub fn compare(self, other: Self) -> Ordering {
        let sign = |number: Self| match number.point() {
            None => 0,
            Some(_) if number.negative => -1,
            Some(_) => 1,
        };
        let signs = sign(self).cmp(&sign(other));
        if signs != Ordering::Equal {
            return signs;
        }
        let magnitudes = self.point().cmp(&other.point()).then_with(|| {
            let (mut mine, mut theirs) = (self.digits(), other.digits());
            loop {
                match (mine.next(), theirs.next()) {
                    (None, None) => return Ordering::Equal,
                    (a, b) => match a.unwrap_or(b'0').cmp(&b.unwrap_or(b'0')) {
                        Ordering::Equal => {}
                        differ => return differ,
                    },
                }
            }
        });
        if self.negative {
            magnitudes.reverse()
        } else {
            magnitudes
        }
    }
}

/// Parses an exponent. Values beyond 64 bits saturate.
fn read_exponent(text: &[u8]) -> Option<i64> {
    let (negative, digits) = match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        rest => (false, rest),
    };
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let value = digits.iter().fold(0i64, |n, d| {
        n.saturating_mul(10).saturating_add(i64::from(d - b'0'))
    });
    Some(if negative { -value } else { value })
}

/// Calls `then` with the text of a number; `None` if the value is not a number, or not finite. A
/// float has the shortest text that reads back as it, as in output.
pub fn with_number<T>(node: Node<'_>, then: impl FnOnce(&str) -> T) -> Option<T> {
    let Value::Scalar(scalar) = node.value() else {
        return None;
    };
    let (mut whole, mut float) = (itoa::Buffer::new(), ryu::Buffer::new());
    let text = match scalar {
        Scalar::Uint(v) => whole.format(v),
        Scalar::Int(v) | Scalar::Name(v, ..) => whole.format(v),
        Scalar::Negative(v) => whole.format(-1 - i128::from(v)),
        Scalar::F32(bits) if f32::from_bits(bits).is_finite() => float.format(f32::from_bits(bits)),
        Scalar::F64(bits) if f64::from_bits(bits).is_finite() => float.format(f64::from_bits(bits)),
        Scalar::Number(text) => std::str::from_utf8(text).ok()?,
        _ => return None,
    };
    Some(then(text))
}

#[cfg(test)]
mod tests {
    use super::Decimal;
    use std::cmp::Ordering::{Equal, Greater, Less};

    #[test]
    fn numbers_compare_exactly() {
        for (a, b, want) in [
            ("1", "1.0", Equal),
            ("10", "1e1", Equal),
            ("0.001", "1e-3", Equal),
            ("0", "-0.0", Equal),
            ("00012", "12", Equal),
            ("2", "10", Less),
            ("-2", "-10", Greater),
            ("-1", "1", Less),
            ("0", "1e-400", Less),
            ("1e400", "2e399", Greater),
            ("18446744073709551615", "18446744073709551616", Less),
            ("9007199254740993", "9007199254740992", Greater),
            ("1.10", "1.1", Equal),
            ("1.1", "1.09", Greater),
            ("1e99999999999999999999", "1e88888888888888888888888", Equal),
        ] {
            let (x, y) = (Decimal::parse(a).unwrap(), Decimal::parse(b).unwrap());
            assert_eq!(x.compare(y), want, "{a} {b}");
            assert_eq!(y.compare(x), want.reverse(), "{b} {a}");
        }
    }

    #[test]
    fn malformed_numbers_are_refused() {
        for text in [
            "", ".", "-", "e5", "1e", "0x1", "1.2.3", "1_000", "nan", "ten",
        ] {
            assert!(Decimal::parse(text).is_none(), "{text}");
        }
    }
}
