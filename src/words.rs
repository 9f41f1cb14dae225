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
    let letters: Vec<char> = word.to_lowercase().chars().take(LONGEST + 1).collect();
    if letters.is_empty() || letters.len() > LONGEST {
        return None;
    }
    let most = (letters.len() / 3).max(1);
    candidates
        .into_iter()
        .map(|candidate| (distance(&letters, candidate), candidate))
        .filter(|(distance, _)| *distance <= most)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// How many letters have to be put in, left out, changed, or swapped with their neighbour.
fn distance(word: &[char], other: &str) -> usize {
    let width = word.len() + 1;
    let mut before: Vec<usize> = vec![0; width];
    let mut above: Vec<usize> = (0..width).collect();
    let mut last = None;
    for (row, letter) in other.chars().flat_map(char::to_lowercase).enumerate() {
        let mut here = Vec::with_capacity(width);
        here.push(row + 1);
        let (mut left, mut previous) = (row + 1, None);
        for ((&mine, pair), swapped) in word
            .iter()
            .zip(above.windows(2))
            .zip(std::iter::once(&usize::MAX).chain(&before))
        {
            let &[corner, up] = pair else { continue };
            let mut best = (corner + usize::from(mine != letter))
                .min(up + 1)
                .min(left + 1);
            if last == Some(mine) && previous == Some(letter) {
                best = best.min(swapped.saturating_add(1));
            }
            here.push(best);
            (left, previous) = (best, Some(mine));
        }
        (before, above, last) = (above, here, Some(letter));
    }
    above.last().copied().unwrap_or_default()
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
