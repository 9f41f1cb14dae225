//! What differs from run to run, and how much of it is compared.
//!
//! A pattern is a path, `result.session_id`, in which `*` stands for any one key or index, and `**` for any number of
//! them; `KIND:PATH` binds it to messages of a kind, in which `*` stands for any run of characters. In quotes a key means
//! itself.
//!
//! ```text
//!   id       params.trace_id       batch_items[*].id       **.timestamp       HEY:session_id       meta["*"]
//! ```

use crate::path::{self, Path, Step, write_step};
use crate::protocol::Protocol;
use crate::protocol::schema::Fresh;
use crate::protocol::schema::marks::Generated;
use crate::select::glob;

/// How much of a value is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counts {
    /// All of it.
    All,
    /// Whether it is there.
    Presence,
    /// What it names: ids of one group correspond one to one.
    Id(&'static str),
    /// The items of a list, in any order.
    Unordered,
    /// Nothing: the user asked for that.
    Nothing,
    /// Nothing: the settings of the project ask for that.
    NothingBySettings,
}

/// Paths of which not all is compared; the first that fits decides.
#[derive(Clone, Debug, Default)]
pub struct Ignore {
    patterns: Vec<(Pattern, Counts)>,
}

/// A path with places left open, of messages of any or of some kind.
#[derive(Clone, Debug)]
pub struct Pattern {
    kind: Option<String>,
    steps: Vec<Open>,
}

/// A step of a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Open {
    /// Any one.
    Any,
    /// Any number of them.
    Deep,
    /// A key without quotes: an index as well, where it is a number.
    Bare(String),
    /// This one.
    Is(Step),
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

    /// Whether a path of a message of some kind is one of those that are meant.
    pub fn fits(&self, kind: &str, path: &[Step]) -> bool {
        self.kind.as_deref().is_none_or(|k| glob(k, kind)) && fits(&self.steps, path)
    }
}

impl Ignore {
    /// Ignores these.
    pub fn new<'p>(patterns: impl IntoIterator<Item = &'p str>) -> Self {
        Self::default().and(patterns, Counts::Nothing)
    }

    /// Compares only so much of these, unless an earlier path fits.
    #[must_use]
    pub fn and<'p>(mut self, patterns: impl IntoIterator<Item = &'p str>, counts: Counts) -> Self {
        let patterns = patterns.into_iter();
        (self.patterns).extend(patterns.map(|path| (Pattern::new(path), counts)));
        self
    }

    /// Compares what every run of a protocol makes anew by what it names, or whether it is there. `given`: whoever plays
    /// is given its own tokens.
    #[must_use]
    pub fn and_anew(mut self, protocol: &dyn Protocol, given: bool) -> Self {
        let marks = protocol.descriptor().marks;
        let is_id = |m: &&Generated| m.fresh == Some(Fresh::Id);
        let ids = || marks.generated.iter().filter(is_id);
        for one in &marks.generated {
            let counts = match one.fresh {
                Some(Fresh::Time) => Counts::Presence,
                Some(Fresh::Given) if given || one.volatile => Counts::Presence,
                Some(Fresh::Id) => Counts::Id(one.group),
                Some(Fresh::Same) if ids().any(|m| m.group == one.group) => Counts::Id(one.group),
                None if one.volatile => Counts::Id(one.group),
                _ => continue,
            };
            self = self.and([one.path.as_ref()], counts);
        }
        let unordered = marks.unordered.iter().map(AsRef::as_ref);
        self.and(unordered, Counts::Unordered)
    }

    /// How much counts of what lies at a path of a message of some kind, and below it.
    pub fn counts(&self, kind: &str, path: &[Step]) -> Counts {
        let mut fit = (self.patterns.iter()).filter(|(pattern, _)| pattern.fits(kind, path));
        match fit.next() {
            Some((_, counts)) if !path.is_empty() => *counts,
            _ => Counts::All,
        }
    }

    /// Whether not all of what lies at a path counts.
    pub fn covers(&self, kind: &str, path: &[Step]) -> bool {
        self.counts(kind, path) != Counts::All
    }
}

/// The steps of a pattern. What is no path is read as far as it goes.
fn steps(pattern: &str) -> Vec<Open> {
    let mut steps = Vec::new();
    let mut rest = pattern;
    while !rest.is_empty() {
        if let Some(after) = rest.strip_prefix('.').unwrap_or(rest).strip_prefix("[*]") {
            steps.push(Open::Any);
            rest = after;
            continue;
        }
        let Ok(Some(taken)) = path::next(rest, true, |c| c != ']') else {
            let mut chars = rest.chars();
            chars.next();
            rest = chars.as_str();
            continue;
        };
        steps.push(match taken.step {
            Step::Member(name) if taken.is_bare => match name.as_str() {
                "*" => Open::Any,
                "**" => Open::Deep,
                _ => Open::Bare(name),
            },
            step => Open::Is(step),
        });
        rest = rest.get(taken.len..).unwrap_or_default();
    }
    steps
}

/// Whether a pattern fits a path as a whole.
fn fits(pattern: &[Open], path: &[Step]) -> bool {
    match pattern.split_first() {
        None => path.is_empty(),
        Some((Open::Deep, rest)) => {
            (0..=path.len()).any(|n| fits(rest, path.get(n..).unwrap_or_default()))
        }
        Some((step, rest)) => path
            .split_first()
            .is_some_and(|(first, others)| step.is(first) && fits(rest, others)),
    }
}

impl Open {
    fn is(&self, step: &Step) -> bool {
        match (self, step) {
            (Self::Any | Self::Deep, _) => true,
            (Self::Bare(name), Step::Member(key)) => name == key,
            (Self::Bare(name), Step::Element(n)) => name.parse() == Ok(*n),
            (Self::Is(this), step) => this == step,
        }
    }
}

/// A path with its indices open, as a pattern: what `learn` writes.
pub fn general(path: &str) -> String {
    let Ok(path) = path.parse::<Path>() else {
        return path.to_owned();
    };
    let mut out = String::new();
    for (n, step) in path.iter().enumerate() {
        // Writing to a string cannot fail.
        let _ = match step {
            Step::Element(_) => {
                out.push_str("[*]");
                Ok(())
            }
            Step::Member(_) => write_step(step, n == 0, &mut out),
        };
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{Ignore, general};
    use crate::path::{Path, Step};
    use proptest::prelude::*;

    #[test]
    fn patterns() {
        for (pattern, kind, path, want) in [
            ("id", "call", "id", true),
            ("id", "call", "params.id", false),
            ("**.id", "call", "params.id", true),
            ("**.id", "call", "id", true),
            ("batch_items[*].id", "batch", "batch_items[12].id", true),
            ("batch_items.*.id", "batch", "batch_items[12].id", true),
            ("batch_items.12.id", "batch", "batch_items[12].id", true),
            ("batch_items[0].id", "batch", "batch_items[12].id", false),
            ("a.*.c", "x", "a.b.c", true),
            ("a.*.c", "x", "a.b.b.c", false),
            ("HEY:session_id", "HEY", "session_id", true),
            ("HEY:session_id", "RSM", "session_id", false),
            ("H*:session_id", "HEY", "session_id", true),
            ("meta[\"a.b\"]", "x", "meta[\"a.b\"]", true),
            ("meta.\"a.b\"", "x", "meta[\"a.b\"]", true),
            ("meta[\"a:b\"]", "x", "meta[\"a:b\"]", true),
            ("meta[\"*\"]", "x", "meta.a", false),
            ("meta[\"*\"]", "x", "meta[\"*\"]", true),
            ("meta[\"**\"].c", "x", "meta.a.b.c", false),
            ("meta[\"0\"]", "x", "meta[0]", false),
            ("meta[name]", "x", "meta.name", true),
            ("a b", "x", "[\"a b\"]", true),
            ("meta", "x", "meta.deeper", false),
            ("", "x", "a", false),
        ] {
            let ignore = Ignore::new([pattern]);
            let path: Path = path.parse().unwrap();
            assert_eq!(ignore.covers(kind, &path), want, "{pattern} {kind} {path}");
        }
    }

    #[test]
    fn learnt_paths_are_open() {
        for (path, want) in [
            ("a[0].b[12]", "a[*].b[*]"),
            ("[0]", "[*]"),
            ("meta[\"a b\"].c", "meta[\"a b\"].c"),
            ("meta[\"*\"][\"a[0]\"].0", "meta[\"*\"][\"a[0]\"].0"),
        ] {
            assert_eq!(general(path), want);
        }
    }

    proptest! {
        #[test]
        fn a_learnt_path_fits_itself(names in prop::collection::vec("[\"\\\\\\[\\].*: \n0ab]{0,4}", 1..4)) {
            let path = Path::from(names.into_iter().map(Step::Member).collect::<Vec<_>>());
            let ignore = Ignore::new([format!("k:{}", general(&path.to_string())).as_str()]);
            prop_assert!(ignore.covers("k", &path), "{path}");
            let other = [path.to_vec(), vec![Step::Element(0)]].concat();
            prop_assert!(!ignore.covers("k", &other), "{path}");
        }
    }
}
