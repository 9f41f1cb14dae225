//! Times beside the bytes of a line.
//!
//! ```text
//!   2026-11-22T09:52:20.5Z      2026/11/22 10:13:52,656 +0200     1795341141.250
//!   Wed Nov 25 02:13:10 2026    25/Nov/2026:02:13:10 +0000
//!   {"ts":1795341141000,...     {...,"timestamp":"2026-11-22 10:13:52"}
//! ```

use crate::capture::time::{self, Time};

/// The longest time of a line.
const MAX_TIME: usize = 40;

/// Finds the time beside bytes: in JSON the member that is nearest, otherwise what the line begins with.
pub(super) fn time_beside(start: &[u8], before: &[u8], after: &[u8]) -> Option<Time> {
    let is_json = matches!(start.trim_ascii_start().first(), Some(b'{' | b'['));
    let named = || named_times(before).last();
    let head = || find_time(start);
    let found = if is_json {
        named().or_else(head)
    } else {
        head().or_else(named)
    };
    found.or_else(|| named_times(after).next())
}

/// The times of members in JSON, by their names.
fn named_times(text: &[u8]) -> impl Iterator<Item = Time> {
    const NAMES: [&[u8]; 9] = [
        b"time",
        b"timestamp",
        b"@timestamp",
        b"ts",
        b"@t",
        b"t",
        b"date",
        b"datetime",
        b"timeUnixNano",
    ];
    memchr::memmem::find_iter(text, b"\":").filter_map(|end| {
        let name = text.get(..end)?.rsplit(|&c| c == b'"').next()?;
        let value = text.get(end + 2..)?.trim_ascii_start();
        let value = value.strip_prefix(b"\"").unwrap_or(value);
        NAMES
            .contains(&name)
            .then(|| calendar(value).or_else(|| epoch(value)))?
    })
}

/// Finds the time at the beginning of a line, or within its first 160 bytes.
pub(super) fn find_time(before: &[u8]) -> Option<Time> {
    let head = before.get(..160).unwrap_or(before);
    for (at, pair) in head.windows(5).enumerate() {
        let fresh = at == 0
            || head
                .get(at - 1)
                .is_some_and(|c| !c.is_ascii_alphanumeric() && *c != b'.');
        let [year @ .., next] = pair else { continue };
        if !fresh || !year.iter().all(u8::is_ascii_digit) {
            continue;
        }
        let rest = head.get(at..)?;
        let found = match next {
            b'-' | b'/' => calendar(rest),
            b'0'..=b'9' => epoch(rest),
            _ => None,
        };
        if found.is_some() {
            return found;
        }
    }
    named_month(head)
}

const MONTHS: [&[u8; 3]; 12] = [
    b"Jan", b"Feb", b"Mar", b"Apr", b"May", b"Jun", b"Jul", b"Aug", b"Sep", b"Oct", b"Nov", b"Dec",
];

/// `Wed Nov 25 02:13:10 2026`, `Wed, 25 Nov 2026 02:13:10 +0000`, `25/Nov/2026:02:13:10 +0000`.
fn named_month(head: &[u8]) -> Option<Time> {
    let (at, month) = head.windows(3).enumerate().find_map(|(at, name)| {
        let month = MONTHS.iter().position(|month| month.as_slice() == name)?;
        Some((at, month + 1))
    })?;
    let is_gap = |c: &u8| b" /-".contains(c);
    let day = head
        .get(..at)?
        .rsplit(|c| !c.is_ascii_digit() && !is_gap(c))
        .next()?;
    let day = day.trim_ascii_end();
    let day = day
        .strip_suffix(b"/")
        .or(day.strip_suffix(b"-"))
        .unwrap_or(day);
    let day = day.trim_ascii_start();
    let text = head.get(at + 3..)?;
    let mut parts = text.split(is_gap).filter(|part| !part.is_empty());
    let (a, b, c) = (
        parts.next()?,
        parts.next()?,
        parts.next().unwrap_or_default(),
    );
    let (day, year, clock, zone) = match a.split_at_checked(4) {
        Some((year, clock)) if clock.starts_with(b":") => (day, year, clock.get(1..)?, b),
        Some((year, b"")) => (day, year, b, c),
        _ => (a, c, b, &b""[..]),
    };
    let text = |part: &[u8]| Some(std::str::from_utf8(part).ok()?.to_owned());
    let year = year.get(..4)?;
    let is_number = |part: &[u8]| !part.is_empty() && part.iter().all(u8::is_ascii_digit);
    if !is_number(year) || !is_number(day) || day.len() > 2 {
        return None;
    }
    let zone = if zone.starts_with(b"+") || zone.starts_with(b"-") {
        text(zone)?
    } else {
        String::new()
    };
    let written = format!(
        "{}-{month:02}-{:0>2} {}{zone}",
        text(year)?,
        text(day)?,
        text(clock)?
    );
    calendar(written.as_bytes())
}

/// `2026-11-22 10:13:52,656`, with `T` or a blank, and with or without a zone; without one it is read as UTC.
fn calendar(text: &[u8]) -> Option<Time> {
    let text = text.get(..MAX_TIME).unwrap_or(text);
    let day = text.get(..10)?;
    let rest = text.get(10..)?;
    let clock = rest.strip_prefix(b"T").or(rest.strip_prefix(b" "))?;
    let end = clock
        .iter()
        .position(|c| !c.is_ascii_digit() && *c != b':')
        .unwrap_or(clock.len());
    let (seconds, mut rest) = clock.split_at_checked(end)?;
    let mut written = String::with_capacity(MAX_TIME);
    written.push_str(&std::str::from_utf8(day).ok()?.replace('/', "-"));
    written.push('T');
    written.push_str(std::str::from_utf8(seconds).ok()?);
    if let Some(fraction) = rest.strip_prefix(b".").or(rest.strip_prefix(b",")) {
        let digits = fraction.iter().take_while(|c| c.is_ascii_digit()).count();
        written.push('.');
        written.push_str(std::str::from_utf8(fraction.get(..digits.min(9))?).ok()?);
        rest = fraction.get(digits..)?;
    }
    // The zone may stand after a blank.
    let apart = rest.strip_prefix(b" ").filter(|rest| {
        let digits = rest.get(1..5).unwrap_or_default();
        digits.len() == 4 && digits.iter().all(|c| c.is_ascii_digit() || *c == b':')
    });
    let rest = apart.unwrap_or(rest);
    let zone = rest.first().filter(|c| matches!(c, b'+' | b'-'));
    let len = 1 + rest
        .iter()
        .skip(1)
        .take_while(|c| c.is_ascii_digit() || **c == b':')
        .count();
    match zone {
        Some(_) if len >= 5 => written.push_str(std::str::from_utf8(rest.get(..len)?).ok()?),
        _ => written.push('Z'),
    }
    time::parse(&written)
}

/// A number of seconds, milliseconds, microseconds or nanoseconds since 1970, by its size; with a fraction, seconds.
pub(super) fn epoch(text: &[u8]) -> Option<Time> {
    let digits = text.iter().take_while(|c| c.is_ascii_digit()).count();
    let (whole, rest) = text.split_at_checked(digits)?;
    let number: i128 = std::str::from_utf8(whole).ok()?.parse().ok()?;
    let unit = match whole.len() {
        10 => 1_000_000_000,
        13 => 1_000_000,
        16 => 1000,
        19 => 1,
        _ => return None,
    };
    let fraction = rest.strip_prefix(b".").map_or(0, |fraction| {
        let digits = fraction.iter().take_while(|c| c.is_ascii_digit());
        let mut scale = unit;
        digits.fold(0, |sum, digit| {
            scale /= 10;
            sum + i128::from(digit - b'0') * scale
        })
    });
    Some(number * unit + fraction)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_found_at_the_beginning() {
        let second = 1_795_342_432_000_000_000;
        for (before, want) in [
            ("2026-11-22T10:13:52Z x", Some(second)),
            ("2026-11-22 10:13:52,656 DEBUG", Some(second + 656_000_000)),
            ("[2026/11/22 10:13:52] ", Some(second)),
            ("2026-11-22T12:13:52.5+02:00 x", Some(second + 500_000_000)),
            ("{\"ts\":1795342432.25,\"a\":", Some(second + 250_000_000)),
            ("{\"ts\":1795342432001,", Some(second + 1_000_000)),
            ("Sun Nov 22 10:13:52 2026: x", Some(second)),
            ("Sun, 22 Nov 2026 12:13:52 +0200", Some(second)),
            ("h - [22/Nov/2026:10:13:52 +0000] x", Some(second)),
            ("Nov 22 09:52:20 host a[77]: ", None),
            ("March 22 people came", None),
            ("", None),
        ] {
            assert_eq!(find_time(before.as_bytes()), want, "{before:?}");
        }
    }
}
