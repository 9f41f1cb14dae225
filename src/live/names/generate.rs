//! Generates values of the form of recorded ones: ids with other digits, the current time.

use crate::diff::{SpellingForm, Val, uuid_like};
use crate::encoding::json::write_str;
use crate::encoding::lossless::bytes_json;

/// Returns the text with other digits. A part between separators that is hexadecimal gets hexadecimal digits.
pub(super) fn replace_digits(old: &str, random: &mut impl Iterator<Item = u8>) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut out = String::with_capacity(old.len());
    for part in old.split_inclusive(|c: char| !c.is_ascii_alphanumeric()) {
        let token = part.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
        let is_hex = token.len() >= 8 && token.bytes().all(|b| b.is_ascii_hexdigit());
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
            let digit = usize::from(random.next().unwrap_or_default()) % base;
            out.push(DIGITS.get(digit).copied().map_or(c, char::from));
        }
    }
    out
}

/// Returns the text as a JSON string.
pub(super) fn json_text(text: &str) -> String {
    let mut out = Vec::new();
    write_str(text, &mut out);
    String::from_utf8(out).unwrap_or_default()
}

/// Writes a value in the form of the recorded one.
pub fn write(val: &Val, form: SpellingForm, old: &str) -> String {
    match (val, form) {
        (Val::Uuid(uuid), SpellingForm::Text) => {
            let was = old.trim_matches('"');
            let was = match Val::text(was) {
                Val::Uuid(_) => was,
                _ => "00000000-0000-0000-0000-000000000000",
            };
            json_text(&uuid_like(was, uuid))
        }
        (Val::Uuid(uuid), _) => bytes_json(uuid),
        (Val::Bin(bytes), _) => bytes_json(bytes),
        (Val::Text(plain), _) => json_text(plain),
        (Val::Number(digits), SpellingForm::Text) => json_text(digits),
        (Val::Number(digits), _) => digits.clone(),
    }
}

/// Returns the current time in the unit and form of a recorded time.
pub(super) fn current_time(val: &Val, old: &str, now: i64) -> Option<String> {
    match val {
        Val::Number(_) => {
            let whole = old.split(['.', 'e', 'E']).next()?.parse::<i64>().ok()?;
            let unit = match whole.unsigned_abs() {
                // The number is too small for a time since 1970.
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
            Some(json_text(&format!("{whole}{dot}{below}{zone}")))
        }
        _ => None,
    }
}
