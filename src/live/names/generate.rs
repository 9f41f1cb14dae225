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
        (Val::Int(_) | Val::Number(_), _) => {
            let digits = val.number_text().unwrap_or_default();
            match form {
                SpellingForm::Text => json_text(&digits),
                _ if old.contains(['.', 'e', 'E']) && matches!(val, Val::Int(_)) => {
                    format!("{digits}.0")
                }
                _ => digits.into_owned(),
            }
        }
    }
}

/// Returns the current time in the unit and form of a recorded time.
pub(super) fn current_time(val: &Val, old: &str, now: i64) -> Option<String> {
    match val {
        Val::Int(_) | Val::Number(_) => current_number(old, now),
        Val::Text(old) if old.parse::<jiff::Timestamp>().is_ok() => current_timestamp(old, now),
        _ => None,
    }
}

/// Returns the current time as a number since 1970, in the unit of a recorded number.
fn current_number(old: &str, now: i64) -> Option<String> {
    const SECOND: i64 = 1_000_000_000;
    /// The first number in each unit that counts as a time since 1970, and the unit in nanoseconds.
    const UNITS: [(u64, i64); 4] = [
        (100_000_000_000_000_000, 1),
        (100_000_000_000_000, 1000),
        (100_000_000_000, 1_000_000),
        (100_000_000, SECOND),
    ];
    let whole = old.split(['.', 'e', 'E']).next()?.parse::<i64>().ok()?;
    let is_in = |(first, _): &&(u64, i64)| whole.unsigned_abs() >= *first;
    let &(_, unit) = UNITS.iter().find(is_in)?;
    let nanoseconds = now.rem_euclid(unit) * (SECOND / unit);
    let fraction = fraction_as_in(old, nanoseconds);
    Some(format!("{}{fraction}", now.div_euclid(unit)))
}

/// Returns the current time as a JSON string, in the form of a recorded timestamp.
fn current_timestamp(old: &str, now: i64) -> Option<String> {
    let stamp = jiff::Timestamp::from_nanosecond(now.into()).ok()?;
    let whole = stamp.strftime("%Y-%m-%dT%H:%M:%S");
    let fraction = fraction_as_in(old, stamp.subsec_nanosecond().into());
    let zone = if old.ends_with('Z') { "Z" } else { "+00:00" };
    Some(json_text(&format!("{whole}{fraction}{zone}")))
}

/// Returns a fraction of a unit, with its point, with as many digits as a recorded time has.
fn fraction_as_in(old: &str, billionths: i64) -> String {
    let fraction = old.split_once('.').map_or("", |(_, rest)| rest);
    let count = fraction.bytes().take_while(u8::is_ascii_digit).count();
    let digits = format!("{billionths:09}");
    let digits = digits.get(..count.min(9)).unwrap_or_default();
    let point = if digits.is_empty() { "" } else { "." };
    format!("{point}{digits}")
}
