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
    found
        .or_else(|| named_times(after).next())
        .or_else(|| logfmt_time(after))
}

/// Finds the time in fields of logfmt: `level=info timestamp=2026-11-22T09:52:20Z`.
fn logfmt_time(text: &[u8]) -> Option<Time> {
    let mut fields = text.split(u8::is_ascii_whitespace);
    fields.find_map(|field| {
        let at = memchr::memchr(b'=', field)?;
        let (name, value) = field.split_at_checked(at)?;
        let value = value.get(1..)?;
        let value = value
            .strip_prefix(b"\"")
            .or(value.strip_prefix(b"'"))
            .unwrap_or(value);
        NAMES
            .contains(&name)
            .then(|| calendar(value).or_else(|| epoch(value)))?
    })
}

/// The names of members in JSON that are times.
const NAMES: [&[u8]; 10] = [
    b"_time",
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

/// The members in JSON, by the places of their names, and what follows.
fn members(text: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    memchr::memmem::find_iter(text, b"\":").filter_map(|end| {
        let name = text.get(..end)?.rsplit(|&c| c == b'"').next()?;
        Some((name, text.get(end + 2..)?.trim_ascii_start()))
    })
}

/// The times of members in JSON, by their names.
fn named_times(text: &[u8]) -> impl Iterator<Item = Time> {
    members(text).filter_map(|(name, value)| {
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
        // The time itself may be longer than the text in which it begins.
        let rest = before.get(at..)?;
        let found = match next {
            b'-' | b'/' => calendar(rest),
            b'0'..=b'9' if at > 0 && head.get(at - 1) == Some(&b'@') => {
                tai64(rest).or_else(|| epoch(rest))
            }
            b'0'..=b'9' => epoch(rest),
            _ => None,
        };
        if found.is_some() {
            return found;
        }
    }
    named_month(head)
}

/// Finds a time of day without a date: what a line begins with, or a member in JSON.
pub(super) fn find_clock(line: &[u8]) -> Option<Time> {
    /// The bytes in which it begins.
    const MAX_BEFORE: usize = 64;
    let line = line.get(..NEAR).unwrap_or(line);
    if line.trim_ascii_start().starts_with(b"{") {
        return members(line).find_map(|(name, value)| {
            let value = value
                .strip_prefix(b"\"")
                .filter(|_| NAMES.contains(&name))?;
            clock(value, 0)
        });
    }
    let head = line.get(..MAX_BEFORE).unwrap_or(line);
    let mut starts = head.iter().enumerate().filter(|&(at, c)| {
        let before = at.checked_sub(1).and_then(|at| head.get(at));
        let is_part = |c: &u8| c.is_ascii_alphanumeric() || b".:-_".contains(c);
        c.is_ascii_digit() && !before.is_some_and(is_part)
    });
    starts.find_map(|(at, _)| clock(line, at))
}

/// `10:00:00.123`, `9:05:03,5 PM`
fn clock(text: &[u8], at: usize) -> Option<Time> {
    let text = text.get(at..)?;
    let mut numbers = [0; 3];
    let mut rest = text;
    for (n, number) in numbers.iter_mut().enumerate() {
        let digits = rest.iter().take_while(|c| c.is_ascii_digit()).count();
        if digits != 2 && !(n == 0 && digits == 1) {
            return None;
        }
        let (whole, after) = rest.split_at_checked(digits)?;
        *number = std::str::from_utf8(whole).ok()?.parse::<Time>().ok()?;
        rest = match n {
            0 | 1 => after.strip_prefix(b":")?,
            _ => after,
        };
    }
    let mut fraction = 0;
    if let Some(after) = rest.strip_prefix(b".").or(rest.strip_prefix(b",")) {
        let digits = after.iter().take_while(|c| c.is_ascii_digit()).count();
        let mut scale = SECOND;
        for digit in after.iter().take(digits) {
            scale /= 10;
            fraction += Time::from(digit - b'0') * scale;
        }
        rest = after.get(digits..)?;
    }
    let half = rest.trim_ascii_start();
    let [hours, minutes, seconds] = numbers;
    let hours = match half.get(..2) {
        Some(b"AM" | b"am") => hours % 12,
        Some(b"PM" | b"pm") => hours % 12 + 12,
        _ if rest
            .first()
            .is_some_and(|c| *c == b':' || c.is_ascii_alphanumeric() && *c != b'Z') =>
        {
            return None;
        }
        _ => hours,
    };
    let is_time = hours < 24 && minutes < 60 && seconds < 61;
    is_time.then(|| time::of_day((hours * 3600 + minutes * 60 + seconds) * SECOND + fraction))
}

/// A second, in nanoseconds.
const SECOND: Time = 1_000_000_000;
/// The bytes at the beginning of a line in which members can have its time.
const NEAR: usize = 1 << 10;

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
    let is_gap = |c: &u8| is_gap(c) || *c == b',';
    let mut parts = text.split(is_gap).filter(|part| !part.is_empty());
    let (a, b, c) = (
        parts.next()?,
        parts.next()?,
        parts.next().unwrap_or_default(),
    );
    let (day, year, clock, zone) = match a.split_at_checked(4) {
        Some((year, clock)) if clock.starts_with(b":") => (day, year, clock.get(1..)?, b),
        Some((year, b"")) => (day, year, b, c),
        _ if b.len() == 4 && !b.contains(&b':') => (a, b, c, &b""[..]),
        // `Wed Mar 04 10:00:00 UTC 2026`
        _ if c.iter().all(u8::is_ascii_alphabetic) && !c.is_empty() => (a, parts.next()?, b, c),
        _ => (a, c, b, &b""[..]),
    };
    let text = |part: &[u8]| Some(std::str::from_utf8(part).ok()?.to_owned());
    let year = year.get(..4)?;
    let is_number = |part: &[u8]| !part.is_empty() && part.iter().all(u8::is_ascii_digit);
    if !is_number(year) || !is_number(day) || day.len() > 2 {
        return None;
    }
    let zone = match zone.first() {
        Some(b'+' | b'-') => text(zone)?,
        Some(c) if c.is_ascii_alphabetic() => format!(" {}", text(zone)?),
        _ => String::new(),
    };
    let halves = [&b"AM"[..], b"PM"];
    let half = parts.find_map(|part| halves.into_iter().find(|half| part == *half));
    let written = format!(
        "{}-{month:02}-{:0>2} {}{zone} {}",
        text(year)?,
        text(day)?,
        text(clock)?,
        text(half.unwrap_or_default())?
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
    // A colon after the time is a mark of the line.
    let seconds = seconds.strip_suffix(b":").unwrap_or(seconds);
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
    let hour = clock.get(..2).unwrap_or_default();
    let shift = match (rest.trim_ascii_start().get(..2), hour) {
        (Some(b"PM" | b"pm"), b"12") => 0,
        (Some(b"PM" | b"pm"), _) => 12,
        (Some(b"AM" | b"am"), b"12") => -12,
        _ => 0,
    };
    let zone = match zone {
        Some(_) => 0,
        None => named_zone(rest)?,
    };
    Some(time::parse(&written)? + (shift - zone) * 3600 * SECOND)
}

/// A number of seconds, milliseconds, microseconds or nanoseconds since 1970, by its size; with a fraction, seconds.
pub(super) fn epoch(text: &[u8]) -> Option<Time> {
    let digits = text.iter().take_while(|c| c.is_ascii_digit()).count();
    let (whole, rest) = text.split_at_checked(digits)?;
    let number: i128 = std::str::from_utf8(whole).ok()?.parse().ok()?;
    if rest.first().is_some_and(u8::is_ascii_alphanumeric) {
        return None;
    }
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
    // Other numbers are no times of traffic.
    let time = number * unit + fraction;
    is_likely(time).then_some(time)
}

/// Returns true for a time between 2000 and 2100.
fn is_likely(time: Time) -> bool {
    const YEAR_2000: Time = 946_684_800 * SECOND;
    const YEAR_2100: Time = 4_102_444_800 * SECOND;
    (YEAR_2000..YEAR_2100).contains(&time)
}

/// `4000000069a80a6a07548d00`: TAI64N of multilog and svlogd, whose seconds begin with 2^62 in 1970, ten before UTC.
fn tai64(text: &[u8]) -> Option<Time> {
    let number = |from: usize, to: usize| {
        let digits = std::str::from_utf8(text.get(from..to)?).ok()?;
        Time::from_str_radix(digits, 16).ok()
    };
    let (seconds, nanos) = (number(0, 16)?, number(16, 24)?);
    let time = (seconds - (1 << 62) - 10) * SECOND + nanos;
    is_likely(time).then_some(time)
}

/// Names of zones, and their hours after UTC.
const ZONES: [(&[u8], Time); 15] = [
    (b"EST", -5),
    (b"EDT", -4),
    (b"CST", -6),
    (b"CDT", -5),
    (b"MST", -7),
    (b"MDT", -6),
    (b"PST", -8),
    (b"PDT", -7),
    (b"CET", 1),
    (b"CEST", 2),
    (b"EET", 2),
    (b"EEST", 3),
    (b"WEST", 1),
    (b"BST", 1),
    (b"JST", 9),
];

/// The first word of zones such as `Europe/Berlin`, whose hours after UTC depend on the day.
const AREAS: [&[u8]; 8] = [
    b"Africa",
    b"America",
    b"Asia",
    b"Atlantic",
    b"Australia",
    b"Europe",
    b"Indian",
    b"Pacific",
];

/// Returns the hours after UTC of the zone that a text begins with; `None` if they are not known.
fn named_zone(text: &[u8]) -> Option<Time> {
    let text = text.trim_ascii_start();
    let len = text
        .iter()
        .take_while(|c| c.is_ascii_alphanumeric())
        .count();
    let word = text.get(..len).unwrap_or_default();
    if AREAS.contains(&word) {
        return None;
    }
    let zone = ZONES.iter().find(|(name, _)| *name == word);
    Some(zone.map_or(0, |(_, hours)| *hours))
}

/// The time of an entry of journald, in microseconds.
pub(super) fn journald_time(entry: &[u8]) -> Option<Time> {
    #[derive(serde::Deserialize)]
    struct JournalEntry<'a> {
        #[serde(rename = "__REALTIME_TIMESTAMP", borrow)]
        time: &'a str,
    }
    memchr::memmem::find(entry, b"__REALTIME")?;
    let entry: JournalEntry<'_> = serde_json::from_slice(entry).ok()?;
    epoch(entry.time.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_without_a_date_are_those_of_a_day() {
        let second = |n: Time| Some(time::of_day(n * SECOND));
        let morning = 10 * 3600 + 5;
        for (line, want) in [
            ("10:00:05 --> ", second(morning)),
            ("10:00:05.000 [main] DEBUG ", second(morning)),
            ("[Trace - 10:00:05 AM] Sending", second(morning)),
            (":: [10:00:05,000] --> ", second(morning)),
            ("9:00:00 PM x", second(21 * 3600)),
            ("12:00:00 AM x", second(0)),
            ("03-04 10:00:05.000  77  77 D", second(morning)),
            ("{\"time\":\"10:00:05.0\",\"msg\":", second(morning)),
            ("{\"uptime\":\"10:00:05\",\"msg\":", None),
            ("00:1a:2b:3c:4d:5e x", None),
            ("02:42:02:42:02:42 x", None),
            ("25:00:00 x", None),
            ("a.rs:10:00:05 x", None),
            ("10:00 x", None),
        ] {
            assert_eq!(find_clock(line.as_bytes()), want, "{line}");
        }
        assert_eq!(time::parse("10:00:05.0"), second(morning));
    }

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
            ("I Nov 22, 2026 10:13:52.000 AM x", Some(second)),
            (
                "2026-11-21 10:13:52 PM x",
                Some(second - 12 * 3600 * SECOND),
            ),
            ("2026-11-22T10:13:52: --> ", Some(second)),
            ("2026-11-22 05:13:52 EST --> ", Some(second)),
            ("2026-11-22 11:13:52.0 CET x", Some(second)),
            ("2026-11-22 10:13:52 UTC x", Some(second)),
            ("Sun Nov 22 10:13:52 UTC 2026", Some(second)),
            ("Sun Nov 22 02:13:52 PST 2026", Some(second)),
            // The zone shows no time of the day.
            ("[22-Nov-2026 10:13:52 Europe/Berlin] x", None),
            ("2026-11-22 10:13:52 America/New_York x", None),
            ("@400000006b02c06a1dcd6500 x", Some(second + 500_000_000)),
            ("0123456789ABCDEF x", None),
            ("0123456789 x", None),
            ("4000000069a80a6a07548d00 x", None),
            ("Nov 22 09:52:20 host a[77]: ", None),
            ("March 22 people came", None),
            ("", None),
        ] {
            assert_eq!(find_time(before.as_bytes()), want, "{before:?}");
        }
    }
}
