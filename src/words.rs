//! Words that people write: patterns with `*`, and what a misspelt word was meant to be.

/// Whether text is what a pattern says; `*` stands for any run of characters.
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

/// The candidate that a word is likely meant to be; `None` where none is close.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    /// Nobody misspells more than this.
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
    use super::{glob, nearest};

    #[test]
    fn patterns() {
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
    fn misspellings() {
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
}
