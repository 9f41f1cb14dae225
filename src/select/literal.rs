//! Values of conditions: `64K`, `10ms`, `2026-01-31T12:00:00Z`.

/// Parses a whole number, in decimal or hex.
pub fn count(text: &str) -> Option<i128> {
    let digits = |text: &str, radix| {
        let plain = text.chars().all(|c| c.is_digit(radix));
        plain.then(|| i128::from_str_radix(text, radix).ok())?
    };
    match text.strip_prefix("0x") {
        Some(hex) => digits(hex, 16),
        None => digits(text, 10),
    }
}

/// Parses a number of bytes, with K, M or G for powers of 1024.
pub fn bytes(text: &str) -> Option<i128> {
    if let Some(n) = count(text) {
        return Some(n);
    }
    let text = text.trim_end_matches(['b', 'B']).trim_end_matches('i');
    let mut chars = text.chars();
    let shift = match chars.next_back()?.to_ascii_lowercase() {
        'k' => 10,
        'm' => 20,
        'g' => 30,
        _ => return None,
    };
    count(chars.as_str())?.checked_mul(1 << shift)
}

/// Parses a duration in ns; the default unit is milliseconds. No value is rounded.
pub fn duration(text: &str) -> Option<i128> {
    let at = text.find(|c: char| c.is_alphabetic()).unwrap_or(text.len());
    let (number, unit) = (text.get(..at)?, text.get(at..)?);
    let unit: i128 = match unit {
        "ns" => 1,
        "us" | "µs" | "μs" => 1_000,
        "" | "ms" => 1_000_000,
        "s" => 1_000_000_000,
        "m" | "min" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        _ => return None,
    };
    let (negative, number) = match number.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, number),
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let fraction = fraction.trim_end_matches('0');
    let scale = 10i128.checked_pow(u32::try_from(fraction.len()).ok()?)?;
    let digits = count(&format!("{whole}{fraction}")).filter(|_| !whole.starts_with("0x"))?;
    let scaled = digits.checked_mul(unit)?;
    let ns = (scaled % scale == 0).then_some(scaled / scale)?;
    Some(if negative { -ns } else { ns })
}

/// Parses a time, RFC 3339, in ns since 1970.
pub fn time(text: &str) -> Option<i128> {
    let time: jiff::Timestamp = text.parse().ok()?;
    Some(time.as_nanosecond())
}

/// Parses a time of day, such as `10:04`, `10:04:24` or `10:04:24.5`, in ns since midnight.
pub fn time_of_day(text: &str) -> Option<i128> {
    let is_short = text.len() == "10:04".len();
    let seconds = if is_short { ":00" } else { "" };
    let midnight = time("2000-01-01T00:00:00Z")?;
    // Without a date, the text itself has neither a day nor a zone.
    let is_clock = text
        .bytes()
        .all(|b| b.is_ascii_digit() || b":.".contains(&b));
    let at = time(&format!("2000-01-01T{text}{seconds}Z")).filter(|_| is_clock)?;
    Some(at - midnight)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_with_units_are_parsed() {
        for (text, want) in [
            ("10ms", Some(10_000_000)),
            ("2s", Some(2_000_000_000)),
            ("1.5us", Some(1_500)),
            ("1.50µs", Some(1_500)),
            ("0.25", Some(250_000)),
            ("7", Some(7_000_000)),
            ("1m", Some(60_000_000_000)),
            ("-1ms", Some(-1_000_000)),
            ("0.1ns", None),
            ("1.5", Some(1_500_000)),
            ("ms", None),
            ("0x10ms", None),
            ("1e3ms", None),
            ("1kg", None),
            ("99999999999999999999999999999999999999999s", None),
        ] {
            assert_eq!(duration(text), want, "{text}");
        }
        for (text, want) in [
            ("64", Some(64)),
            ("0x42", Some(66)),
            ("64K", Some(65_536)),
            ("1MiB", Some(1 << 20)),
            ("2g", Some(2 << 30)),
            ("K", None),
            ("-1", None),
            ("+1", None),
            ("1.5K", None),
            ("", None),
            ("é", None),
        ] {
            assert_eq!(bytes(text), want, "{text}");
        }
        assert_eq!(
            time("2026-01-31T12:00:00.000000001Z"),
            Some(1_769_860_800_000_000_001)
        );
        assert_eq!(
            time("2026-01-31T13:00:00+01:00"),
            time("2026-01-31T12:00:00Z")
        );
        assert_eq!(time("2026-01-31"), None);
    }
}
