//! What differs from run to run and means nothing: ids, times, tokens.
//!
//! A pattern is a path, `result.session_id`, in which `*` stands for any one key or index, and `**` for any number of
//! them; `KIND:PATH` binds it to messages of a kind, in which `*` stands for any run of characters.
//!
//! ```text
//!   id            params.trace_id      batch_items[*].id      **.timestamp      HEY:session_id
//! ```

use crate::select::glob;

/// Paths that are passed over.
#[derive(Clone, Debug, Default)]
pub struct Ignore {
    patterns: Vec<Pattern>,
}

/// A path with places left open, of messages of any or of some kind.
#[derive(Clone, Debug)]
pub struct Pattern {
    kind: Option<String>,
    steps: Vec<String>,
}

impl Pattern {
    /// The pattern that is written so.
    pub fn new(pattern: &str) -> Self {
        let (kind, path) = match pattern.split_once(':') {
            Some((kind, path)) if !kind.contains(['.', '[']) => (Some(kind.to_owned()), path),
            _ => (None, pattern),
        };
        Self {
            kind,
            steps: steps(path),
        }
    }

    /// Whether a path, in its steps, of a message of some kind is one of those that are meant.
    pub fn fits(&self, kind: &str, path: &[String]) -> bool {
        self.kind.as_deref().is_none_or(|k| glob(k, kind)) && fits(&self.steps, path)
    }
}

impl Ignore {
    /// Passes over these.
    pub fn new<'p>(patterns: impl IntoIterator<Item = &'p str>) -> Self {
        Self {
            patterns: patterns.into_iter().map(Pattern::new).collect(),
        }
    }

    /// Whether what lies at a path of a message of some kind, and below it, is passed over.
    pub fn covers(&self, kind: &str, path: &str) -> bool {
        if self.patterns.is_empty() || path.is_empty() {
            return false;
        }
        let path = steps(path);
        self.patterns
            .iter()
            .any(|pattern| pattern.fits(kind, &path))
    }
}

/// A path in its steps; indices count as steps.
fn steps(path: &str) -> Vec<String> {
    let mut steps = Vec::new();
    let mut rest = path;
    while !rest.is_empty() {
        rest = rest.strip_prefix('.').unwrap_or(rest);
        if let Some(inside) = rest.strip_prefix('[') {
            let quoted = inside.starts_with('"');
            let end = if quoted { "\"]" } else { "]" };
            let from = usize::from(quoted);
            let found = inside.get(from..).and_then(|text| text.find(end));
            let (step, after) = match found {
                Some(at) => (
                    inside.get(from..from + at).unwrap_or_default(),
                    inside.get(from + at + end.len()..).unwrap_or_default(),
                ),
                None => (inside, ""),
            };
            steps.push(step.to_owned());
            rest = after;
        } else {
            let end = rest.find(['.', '[']).unwrap_or(rest.len());
            let (step, after) = rest.split_at(end);
            if !step.is_empty() {
                steps.push(step.to_owned());
            }
            rest = after;
        }
    }
    steps
}

/// Whether a pattern fits a path as a whole.
fn fits(pattern: &[String], path: &[String]) -> bool {
    match pattern.split_first() {
        None => path.is_empty(),
        Some((step, rest)) if step == "**" => {
            (0..=path.len()).any(|n| fits(rest, path.get(n..).unwrap_or_default()))
        }
        Some((step, rest)) => path
            .split_first()
            .is_some_and(|(first, others)| (step == "*" || step == first) && fits(rest, others)),
    }
}

/// A path with its indices open: what `learn` writes.
pub fn general(path: &str) -> String {
    let mut out = String::new();
    let mut rest = path;
    while let Some(at) = rest.find('[') {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        let end = from.find(']').map_or(from.len(), |end| end + 1);
        let (step, after) = from.split_at(end);
        let digits = step.trim_matches(['[', ']']);
        if !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()) {
            out.push_str("[*]");
        } else {
            out.push_str(step);
        }
        rest = after;
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::{Ignore, general};

    #[test]
    fn patterns() {
        for (pattern, kind, path, want) in [
            ("id", "call", "id", true),
            ("id", "call", "params.id", false),
            ("**.id", "call", "params.id", true),
            ("**.id", "call", "id", true),
            ("batch_items[*].id", "batch", "batch_items[12].id", true),
            ("batch_items[0].id", "batch", "batch_items[12].id", false),
            ("a.*.c", "x", "a.b.c", true),
            ("a.*.c", "x", "a.b.b.c", false),
            ("HEY:session_id", "HEY", "session_id", true),
            ("HEY:session_id", "RSM", "session_id", false),
            ("H*:session_id", "HEY", "session_id", true),
            ("meta[\"a.b\"]", "x", "meta[\"a.b\"]", true),
            ("meta", "x", "meta.deeper", false),
            ("", "x", "a", false),
        ] {
            let ignore = Ignore::new([pattern]);
            assert_eq!(ignore.covers(kind, path), want, "{pattern} {kind} {path}");
        }
    }

    #[test]
    fn learnt_paths_are_open() {
        assert_eq!(general("a[0].b[12]"), "a[*].b[*]");
        assert_eq!(general("meta[\"a b\"].c"), "meta[\"a b\"].c");
    }
}
