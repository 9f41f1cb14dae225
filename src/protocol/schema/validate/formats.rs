//! The keyword `format`.
//!
//! ```text
//!   date-time date time      RFC 3339, section 5.6
//!   uri                      RFC 3986, with a scheme
//!   email                    RFC 5321, section 4.1.2
//!   ipv4 ipv6                RFC 2673, section 3.2; RFC 4291, section 2.2
//!   uuid                     RFC 4122
//!   regex                    ECMA-262: brackets and repetitions only
//! ```

/// Returns the words for a format that a text does not have; `None` if it fits, or if the format is not known.
pub(super) fn mismatch(format: &str, text: &str) -> Option<&'static str> {
    let (fits, words): (fn(&str) -> bool, _) = match format {
        "date-time" => (is_date_time, "a date and time of RFC 3339"),
        "date" => (is_date, "a date such as 2026-01-31"),
        "time" => (is_time, "a time with its offset, such as 12:00:00Z"),
        "uri" => (is_uri, "a URI with a scheme"),
        "email" => (is_email, "an email address"),
        "ipv4" => (is_ipv4, "an IPv4 address"),
        "ipv6" => (is_ipv6, "an IPv6 address"),
        "uuid" => (is_uuid, "a UUID"),
        "regex" => (is_regex, "a regular expression"),
        _ => return None,
    };
    (!fits(text)).then_some(words)
}

/// Reads a number of exactly so many digits.
fn digits(text: &str, count: usize) -> Option<u32> {
    let is_number = text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| is_number)
}

fn is_date_time(text: &str) -> bool {
    let parts = text.split_once(['T', 't']);
    parts.is_some_and(|(date, time)| is_date(date) && is_time(time))
}

fn is_date(text: &str) -> bool {
    let mut parts = text.splitn(3, '-');
    let mut number = |count| digits(parts.next()?, count);
    let (Some(year), Some(month), Some(day)) = (number(4), number(2), number(2)) else {
        return false;
    };
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if is_leap => 29,
        2 => 28,
        _ => 0,
    };
    (1..=days).contains(&day)
}

fn is_time(text: &str) -> bool {
    let Some((time, offset)) = text.find(['Z', 'z', '+', '-']).map(|at| text.split_at(at)) else {
        return false;
    };
    let (time, fraction) = time.split_once('.').unwrap_or((time, "0"));
    let is_fraction = !fraction.is_empty() && fraction.bytes().all(|byte| byte.is_ascii_digit());
    let clock = |text: &str, limits: &[u32]| {
        let parts: Vec<_> = text.split(':').collect();
        let fits =
            |(part, limit): (&&str, &u32)| digits(part, 2).is_some_and(|part| part <= *limit);
        parts.len() == limits.len() && parts.iter().zip(limits).all(fits)
    };
    let is_offset = match offset {
        "Z" | "z" => true,
        _ => clock(offset.get(1..).unwrap_or_default(), &[23, 59]),
    };
    // A minute may have a leap second.
    is_fraction && is_offset && clock(time, &[23, 59, 60])
}

fn is_uri(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once(':') else {
        return false;
    };
    let is_scheme = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && (scheme.bytes()).all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
    let is_allowed =
        |byte: u8| byte.is_ascii_alphanumeric() || b"-._~:/?#[]@!$&'()*+,;=%".contains(&byte);
    let mut escapes = rest.split('%').skip(1);
    let is_escape = |part: &str| {
        let code = part.as_bytes().get(..2);
        code.is_some_and(|code| code.iter().all(u8::is_ascii_hexdigit))
    };
    is_scheme && rest.bytes().all(is_allowed) && escapes.all(is_escape)
}

fn is_email(text: &str) -> bool {
    let Some((name, domain)) = text.rsplit_once('@') else {
        return false;
    };
    let is_quoted = name.len() > 2 && name.starts_with('"') && name.ends_with('"');
    let is_atom = |atom: &str| {
        let is_allowed =
            |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-/=?^_`{|}~".contains(&byte);
        !atom.is_empty() && atom.bytes().all(is_allowed)
    };
    let is_label = |label: &str| {
        let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
        !label.is_empty()
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label.bytes().all(is_allowed)
    };
    let is_literal = domain.starts_with('[') && domain.ends_with(']');
    (is_quoted || name.split('.').all(is_atom)) && (is_literal || domain.split('.').all(is_label))
}

fn is_ipv4(text: &str) -> bool {
    let is_byte = |part: &str| {
        let is_plain = part == "0" || !part.starts_with('0');
        let number = (1..=3).find_map(|count| digits(part, count));
        is_plain && number.is_some_and(|number| number <= 255)
    };
    text.split('.').count() == 4 && text.split('.').all(is_byte)
}

fn is_ipv6(text: &str) -> bool {
    // An IPv4 address can be in the place of the last two groups.
    let groups = |text: &str| -> Option<usize> {
        let parts: Vec<_> = text.split(':').collect();
        let (last, before) = parts.split_last()?;
        let is_group = |part: &str| {
            (1..=4).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_hexdigit())
        };
        let of_last = match *last {
            last if is_group(last) => 1,
            last if is_ipv4(last) => 2,
            _ => return None,
        };
        before
            .iter()
            .all(|part| is_group(part))
            .then_some(before.len() + of_last)
    };
    let side = |text: &str| {
        if text.is_empty() {
            Some(0)
        } else {
            groups(text)
        }
    };
    match text.split_once("::") {
        Some((before, _)) if before.contains('.') => false,
        Some((before, after)) => {
            let both = side(before).zip(side(after));
            both.is_some_and(|(before, after)| before + after <= 7)
        }
        None => groups(text) == Some(8),
    }
}

fn is_uuid(text: &str) -> bool {
    let parts: Vec<_> = text.split('-').collect();
    let lengths = [8, 4, 4, 4, 12];
    let fits = |(part, len): (&&str, usize)| {
        part.len() == len && part.bytes().all(|byte| byte.is_ascii_hexdigit())
    };
    parts.len() == lengths.len() && parts.iter().zip(lengths).all(fits)
}

/// Returns false for brackets that are open or not opened, and for repetitions of nothing.
fn is_regex(text: &str) -> bool {
    let (mut groups, mut in_class) = (0_usize, false);
    // What is before a character can be repeated, or is a repetition, after which `?` takes as little as possible.
    let (mut can_repeat, mut is_repeated) = (false, false);
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        let was_repeated = std::mem::take(&mut is_repeated);
        match c {
            '\\' if chars.next().is_none() => return false,
            '\\' => can_repeat = true,
            ']' if in_class => (in_class, can_repeat) = (false, true),
            _ if in_class => {}
            '[' => in_class = true,
            '(' => {
                groups += 1;
                can_repeat = false;
                // What follows `(?` is no repetition.
                let mut after = chars.clone();
                if after.next() == Some('?') {
                    chars = after;
                }
            }
            ')' => {
                let Some(rest) = groups.checked_sub(1) else {
                    return false;
                };
                (groups, can_repeat) = (rest, true);
            }
            '|' => can_repeat = false,
            '?' if was_repeated => {}
            '*' | '+' | '?' if !can_repeat => return false,
            '*' | '+' | '?' => (can_repeat, is_repeated) = (false, true),
            _ => can_repeat = true,
        }
    }
    groups == 0 && !in_class
}
