//! Text that people write: patterns with `*`, sizes, and suggestions for misspelt words.

/// Returns `true` if text matches a pattern; `*` matches any run of characters.
pub fn glob(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else {
        return false;
    };
    let mut parts = parts.peekable();
    if parts.peek().is_none() {
        return rest.is_empty();
    }
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return rest.ends_with(part);
        }
        match rest.find(part) {
            Some(at) => rest = rest.get(at + part.len()..).unwrap_or_default(),
            None => return false,
        }
    }
    true
}

/// Parses a number of bytes: `4096`, `64K`, `16M`, `1G`; below 4 GiB, because positions in a
/// message have 32 bits.
pub fn size(text: &str) -> Result<u32, String> {
    let text = text.trim_end_matches(['b', 'B', 'i']);
    let units = [('k', 1u64 << 10), ('m', 1 << 20), ('g', 1 << 30)];
    let with = |(letter, unit): (char, u64)| {
        let digits = text.strip_suffix([letter, letter.to_ascii_uppercase()])?;
        Some((digits, unit))
    };
    let (digits, unit) = units.into_iter().find_map(with).unwrap_or((text, 1));
    let number: u64 = digits
        .parse()
        .map_err(|_| "wanted a number of bytes, such as 4096, 64K or 16M".to_owned())?;
    match number.checked_mul(unit).and_then(|n| u32::try_from(n).ok()) {
        Some(n) if n > 0 && n < u32::MAX - (1 << 20) => Ok(n),
        _ => Err("wanted at least 1 byte and less than 4G".into()),
    }
}

/// Returns the candidate that a word probably means; `None` if none is close.
#[cfg(feature = "select")]
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    /// Longer words get no suggestion.
    const LONGEST: usize = 64;
    let letters = word.chars().take(LONGEST + 1).count();
    if letters == 0 || letters > LONGEST {
        return None;
    }
    let word = word.to_lowercase();
    let most = (letters / 3).max(1);
    candidates
        .into_iter()
        .map(|candidate| {
            let distance = strsim::damerau_levenshtein(&word, &candidate.to_lowercase());
            (distance, candidate)
        })
        .filter(|(distance, _)| *distance <= most)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::{glob, nearest, size};

    #[test]
    fn star_matches_any_run() {
        for (pattern, text, want) in [
            ("math.add", "math.add", true),
            ("math.*", "math.add", true),
            ("*.add", "math.add", true),
            ("m*a*d", "math.add", true),
            ("*", "", true),
            ("a*a", "a", false),
            ("math", "math.add", false),
            ("", "x", false),
        ] {
            assert_eq!(glob(pattern, text), want, "{pattern} {text}");
        }
    }

    #[test]
    fn misspelt_words_get_a_suggestion() {
        let names = ["kind", "role", "subject", "findings", "id", "c2s", "s2c"];
        for (word, want) in [
            ("knd", Some("kind")),
            ("KIND", Some("kind")),
            ("subjcet", Some("subject")),
            ("finding", Some("findings")),
            ("idd", Some("id")),
            ("c2c", Some("c2s")),
            ("params", None),
            ("", None),
        ] {
            assert_eq!(nearest(word, names), want, "{word}");
        }
        assert_eq!(nearest("ab", ["ba", "xb"]), Some("ba"));
        assert_eq!(nearest(&"k".repeat(1000), names), None);
    }

    #[test]
    fn sizes_are_parsed() {
        for (text, want) in [
            ("1", Some(1)),
            ("4096", Some(4096)),
            ("64K", Some(64 << 10)),
            ("64kB", Some(64 << 10)),
            ("16MiB", Some(16 << 20)),
            ("1g", Some(1 << 30)),
            ("0", None),
            ("4G", None),
            ("K", None),
            ("-1", None),
            ("99999999999999999999G", None),
        ] {
            assert_eq!(size(text).ok(), want, "{text}");
        }
    }
}
