//! Values of the same form as others: other digits, the time that it is now.

use crate::diff::{Form, Val, uuid_like};
use crate::encoding::json::write_str;

/// The same text with other digits, hexadecimal ones where it has no other letters between its separators.
pub(super) fn other_digits(old: &str, fresh: &mut impl Iterator<Item = u8>) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut out = String::with_capacity(old.len());
    for part in old.split_inclusive(|c: char| !c.is_ascii_alphanumeric()) {
        let word = part.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
        let is_hex = word.len() >= 8 && word.bytes().all(|b| b.is_ascii_hexdigit());
        for c in part.chars() {
            let base = match c {
                '0'..='9' if is_hex => 16,
                '0'..='9' => 10,
                'a'..='f' if is_hex => 16,
                _ => {
                    out.push(c);
                    continue;
                }
            };
            let digit = usize::from(fresh.next().unwrap_or_default()) % base;
            out.push(DIGITS.get(digit).copied().map_or(c, char::from));
        }
    }
    out
}

/// Text as JSON has it.
pub(super) fn text(text: &str) -> String {
    let mut out = Vec::new();
    write_str(text, &mut out);
    String::from_utf8(out).unwrap_or_default()
}

/// A value in the form that its place has.
pub fn write(val: &Val, form: Form, old: &str) -> String {
    match (val, form) {
        (Val::Uuid(uuid), Form::Text) => {
            let was = old.trim_matches('"');
            let was = match Val::text(was) {
                Val::Uuid(_) => was,
                _ => "00000000-0000-0000-0000-000000000000",
            };
            text(&uuid_like(was, uuid))
        }
        (Val::Uuid(uuid), _) => format!("{{\"$bin\":\"{}\"}}", hex::encode(uuid)),
        (Val::Bin(bytes), _) => format!("{{\"$bin\":\"{}\"}}", hex::encode(bytes)),
        (Val::Text(plain), _) => text(plain),
        (Val::Number(digits), Form::Text) => text(digits),
        (Val::Number(digits), _) => digits.clone(),
    }
}

/// Now, in the unit and form of a recorded time.
pub(super) fn time(val: &Val, old: &str, now: i64) -> Option<String> {
    match val {
        Val::Number(_) => {
            let whole = old.split(['.', 'e', 'E']).next()?.parse::<i64>().ok()?;
            let unit = match whole.unsigned_abs() {
                // No time since 1970.
                0..100_000_000 => return None,
                100_000_000..100_000_000_000 => 1_000_000_000,
                100_000_000_000..100_000_000_000_000 => 1_000_000,
                100_000_000_000_000..100_000_000_000_000_000 => 1000,
                _ => 1,
            };
            let fraction = old.split_once('.').map_or("", |(_, rest)| rest);
            let digits = fraction.bytes().take_while(u8::is_ascii_digit).count();
            let below = format!("{:09}", now.rem_euclid(unit) * (1_000_000_000 / unit));
            let below = below.get(..digits.min(9)).unwrap_or_default();
            let dot = if below.is_empty() { "" } else { "." };
            Some(format!("{}{dot}{below}", now.div_euclid(unit)))
        }
        Val::Text(old) if old.parse::<jiff::Timestamp>().is_ok() => {
            let fraction = old.split_once('.').map_or("", |(_, rest)| rest);
            let digits = fraction
                .bytes()
                .take_while(u8::is_ascii_digit)
                .count()
                .min(9);
            let stamp = jiff::Timestamp::from_nanosecond(now.into()).ok()?;
            let whole = stamp.strftime("%Y-%m-%dT%H:%M:%S");
            let below = format!("{:09}", stamp.subsec_nanosecond());
            let below = below.get(..digits).unwrap_or_default();
            let dot = if below.is_empty() { "" } else { "." };
            let zone = if old.ends_with('Z') { "Z" } else { "+00:00" };
            Some(text(&format!("{whole}{dot}{below}{zone}")))
        }
        _ => None,
    }
}
