//! Values that differ from run to run, and the part of them that is compared.
//!
//! A pattern is a path, `result.session_id`, in which `*` matches any single key or index, and `**`
//! any number of them; `KIND:PATH` limits it to messages of a kind, and `KIND SUBJECT:PATH` to those with a subject. In
//! both, `*` matches any run of characters. A key in quotes is literal.
//!
//! ```text
//!   id       params.trace_id       batch_items[*].id       **.timestamp       HEY:session_id       meta["*"]
//! ```

use crate::path::{self, Path, PathStep, write_step};
use crate::protocol::schema::marks::Generated;
use crate::protocol::schema::{Fresh, Maker};
use crate::protocol::{Message, PartName, Protocol};
use crate::select::glob;

/// An id or another value that a side generated: its group, and for a reference the side that generated it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IdUse {
    /// The number of its group: ids of one group name the same objects.
    pub group: usize,
    /// The side that generated it, if it refers to an earlier id.
    pub maker: Option<Maker>,
    /// Only the side that generated it reads it: it can be a value of any type.
    pub is_opaque: bool,
}

/// The kind and the subject of a message.
#[derive(Clone, Copy, Debug, Default)]
pub struct MessageName<'a> {
    /// The kind.
    pub kind: &'a str,
    /// The subject.
    pub subject: Option<&'a str>,
    /// The names of the messages inside it.
    pub parts: &'a [PartName],
}

impl<'a> MessageName<'a> {
    /// Returns the name of a message.
    pub fn of(message: &'a Message<'_>) -> Self {
        Self {
            kind: &message.kind,
            subject: message.subject.as_deref(),
            parts: &[],
        }
    }

    /// Returns the name of a message, with the subject `asked` of the request that it answers if it has none.
    pub(crate) fn in_pair(message: &'a Message<'_>, asked: Option<&'a str>) -> Self {
        let name = Self::of(message);
        Self {
            subject: name.subject.or(asked),
            ..name
        }
    }

    /// Returns the name of the message inside it that a path leads into, and the path in that message.
    fn part(self, path: &[PathStep]) -> Option<(Self, &[PathStep])> {
        let (PathStep::Element(n), inside) = path.split_first()? else {
            return None;
        };
        let PartName { kind, subject } = self.parts.get(*n)?;
        let name = Self {
            kind,
            subject: subject.as_deref(),
            parts: &[],
        };
        Some((name, inside))
    }
}

/// `call math.add`, `request tools/call`.
impl std::fmt::Display for MessageName<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.kind.is_empty() { "-" } else { self.kind })?;
        match self.subject.unwrap_or_default() {
            "" => Ok(()),
            subject => write!(f, " {subject}"),
        }
    }
}

/// The part of a value that is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompareDepth {
    /// The whole value.
    All,
    /// Its presence.
    Presence,
    /// The object that it names: ids of one group correspond one to one.
    Id(IdUse),
    /// The presence of a value that only one side reads, and that a reference repeats it.
    Opaque(IdUse),
    /// The items of a list, in any order.
    Unordered,
    /// Nothing, by request of the user.
    Nothing,
    /// Nothing, by the project's settings.
    NothingBySettings,
}

/// Paths that are compared only in part; the first match decides.
#[derive(Clone, Debug, Default)]
pub struct Ignore {
    patterns: Vec<(PathPattern, CompareDepth)>,
}

/// A path with wildcards, for messages of any kind or of one kind.
#[derive(Clone, Debug)]
pub struct PathPattern {
    kind: Option<String>,
    subject: Option<String>,
    steps: Vec<PatternStep>,
}

/// A step of a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
enum PatternStep {
    /// Any single key or index.
    Any,
    /// Any number of keys and indices.
    Deep,
    /// A key without quotes; also an index if it is a number.
    Bare(String),
    /// Exactly this key or index.
    Is(PathStep),
}

impl PathPattern {
    /// Parses a pattern.
    pub fn new(pattern: &str) -> Self {
        let (kind, path) = match pattern.split_once(':') {
            Some((kind, path)) if !kind.contains(['.', '[']) => (Some(kind.to_owned()), path),
            _ => (None, pattern),
        };
        let (kind, subject) = match kind.as_deref().and_then(|kind| kind.split_once(' ')) {
            Some((kind, subject)) => (Some(kind.to_owned()), Some(subject.to_owned())),
            None => (kind, None),
        };
        Self {
            kind,
            subject,
            steps: steps(path).0,
        }
    }

    /// Returns `true` if the whole text is a pattern.
    pub(crate) fn is_valid(pattern: &str) -> bool {
        let path = pattern.split_once(':').map_or(pattern, |(_, path)| path);
        steps(pattern).1 || steps(path).1
    }

    /// Returns the steps before the first wildcard.
    pub(crate) fn first_steps(pattern: &str) -> Path {
        let steps = Self::new(pattern).steps.into_iter();
        let steps = steps.map_while(|step| match step {
            PatternStep::Any | PatternStep::Deep => None,
            PatternStep::Bare(name) => Some(PathStep::Member(name)),
            PatternStep::Is(step) => Some(step),
        });
        let mut path = Path::new();
        steps.for_each(|step| path.push(step));
        path
    }

    /// Returns `true` if the pattern matches a path of such a message.
    pub fn fits(&self, name: MessageName<'_>, path: &[PathStep]) -> bool {
        let part = name.part(path);
        self.fits_whole(name, path) || part.is_some_and(|(name, path)| self.fits_whole(name, path))
    }

    fn fits_whole(&self, name: MessageName<'_>, path: &[PathStep]) -> bool {
        let is_kind = self.kind.as_deref().is_none_or(|k| glob(k, name.kind));
        let subject = name.subject.unwrap_or_default();
        let is_subject = self.subject.as_deref().is_none_or(|s| glob(s, subject));
        is_kind && is_subject && fits(&self.steps, path)
    }
}

impl Ignore {
    /// Ignores paths that match these patterns.
    pub fn new<'p>(patterns: impl IntoIterator<Item = &'p str>) -> Self {
        Self::default().and(patterns, CompareDepth::Nothing)
    }

    /// Compares only this part of the matching paths, unless an earlier pattern matches.
    #[must_use]
    pub fn and<'p>(
        mut self,
        patterns: impl IntoIterator<Item = &'p str>,
        counts: CompareDepth,
    ) -> Self {
        let patterns = patterns.into_iter();
        (self.patterns).extend(patterns.map(|path| (PathPattern::new(path), counts)));
        self
    }

    /// Compares values that a protocol generates in every run only by identity or presence.
    /// `given`: tokens that the program receives from outside differ too.
    #[must_use]
    pub(crate) fn and_generated(mut self, protocol: &dyn Protocol, given: bool) -> Self {
        let marks = protocol.marks();
        let is_id = |m: &&Generated| m.fresh == Some(Fresh::Id);
        let ids = || marks.generated.iter().filter(is_id);
        for one in &marks.generated {
            let group = marks.generated.iter().position(|m| m.group == one.group);
            let used = IdUse {
                group: group.unwrap_or_default(),
                maker: one.maker,
                is_opaque: one.opaque,
            };
            let id = CompareDepth::Id(used);
            let counts = match one.fresh {
                None if one.opaque => CompareDepth::Nothing,
                // A replay sends what it has received.
                _ if one.opaque && given => CompareDepth::Presence,
                _ if one.opaque => CompareDepth::Opaque(used),
                Some(Fresh::Time | Fresh::Process) => CompareDepth::Presence,
                Some(Fresh::Given) if given || one.volatile => CompareDepth::Presence,
                Some(Fresh::Id) => id,
                Some(Fresh::Same) if ids().any(|m| m.group == one.group) => id,
                None if one.volatile => id,
                _ => continue,
            };
            self = self.and([one.path.as_ref()], counts);
        }
        let unordered = marks.unordered.iter().map(AsRef::as_ref);
        self.and(unordered, CompareDepth::Unordered)
    }

    /// Returns the part that is compared at a path of such a message, and below it.
    pub fn counts(&self, name: MessageName<'_>, path: &[PathStep]) -> CompareDepth {
        let mut fit = (self.patterns.iter()).filter(|(pattern, _)| pattern.fits(name, path));
        match fit.next() {
            Some((_, counts)) if !path.is_empty() => *counts,
            _ => CompareDepth::All,
        }
    }

    /// Returns `true` if a path is not compared completely.
    pub fn covers(&self, name: MessageName<'_>, path: &[PathStep]) -> bool {
        self.counts(name, path) != CompareDepth::All
    }
}

/// Returns the steps of a pattern, and `true` if it is valid. Invalid text is read as far as possible.
fn steps(pattern: &str) -> (Vec<PatternStep>, bool) {
    let (mut steps, mut is_valid) = (Vec::new(), true);
    let mut rest = pattern;
    while !rest.is_empty() {
        if let Some(after) = rest.strip_prefix('.').unwrap_or(rest).strip_prefix("[*]") {
            steps.push(PatternStep::Any);
            rest = after;
            continue;
        }
        let Ok(Some(taken)) = path::next(rest, true, |c| c != ']') else {
            let mut chars = rest.chars();
            chars.next();
            rest = chars.as_str();
            is_valid = false;
            continue;
        };
        steps.push(match taken.step {
            PathStep::Member(name) if taken.is_bare => match name.as_str() {
                "*" => PatternStep::Any,
                "**" => PatternStep::Deep,
                _ => PatternStep::Bare(name),
            },
            step => PatternStep::Is(step),
        });
        rest = rest.get(taken.len..).unwrap_or_default();
    }
    (steps, is_valid)
}

/// Returns `true` if a pattern matches a whole path.
fn fits(pattern: &[PatternStep], path: &[PathStep]) -> bool {
    match pattern.split_first() {
        None => path.is_empty(),
        Some((PatternStep::Deep, rest)) => {
            (0..=path.len()).any(|n| fits(rest, path.get(n..).unwrap_or_default()))
        }
        Some((step, rest)) => path
            .split_first()
            .is_some_and(|(first, others)| step.is(first) && fits(rest, others)),
    }
}

impl PatternStep {
    fn is(&self, step: &PathStep) -> bool {
        match (self, step) {
            (Self::Any | Self::Deep, _) => true,
            (Self::Bare(name), PathStep::Member(key)) => name == key,
            (Self::Bare(name), PathStep::Element(n)) => name.parse() == Ok(*n),
            (Self::Is(this), step) => this == step,
        }
    }
}

/// Returns a path as a pattern without its indices, as `learn` writes it.
pub fn generalized(path: &str) -> String {
    let Ok(path) = path.parse::<Path>() else {
        return path.to_owned();
    };
    let mut out = String::new();
    for (n, step) in path.iter().enumerate() {
        // Writing to a string cannot fail.
        let _ = match step {
            PathStep::Element(_) => {
                out.push_str("[*]");
                Ok(())
            }
            PathStep::Member(_) => write_step(step, n == 0, &mut out),
        };
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{Ignore, MessageName, generalized};
    use crate::path::{Path, PathStep};
    use proptest::prelude::*;

    fn name(text: &str) -> MessageName<'_> {
        let (kind, subject) = match text.split_once(' ') {
            Some((kind, subject)) => (kind, Some(subject)),
            None => (text, None),
        };
        MessageName {
            kind,
            subject,
            parts: &[],
        }
    }

    #[test]
    fn patterns_match_paths() {
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
            ("call add:a", "call add", "a", true),
            ("call a*:a", "call add", "a", true),
            ("call sub:a", "call add", "a", false),
            ("call add:a", "call", "a", false),
            ("call:a", "call add", "a", true),
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
            let covers = ignore.covers(name(kind), &path);
            assert_eq!(covers, want, "{pattern} {kind} {path}");
        }
    }

    #[test]
    fn generalized_paths_have_wildcards() {
        for (path, want) in [
            ("a[0].b[12]", "a[*].b[*]"),
            ("[0]", "[*]"),
            ("meta[\"a b\"].c", "meta[\"a b\"].c"),
            ("meta[\"*\"][\"a[0]\"].0", "meta[\"*\"][\"a[0]\"].0"),
        ] {
            assert_eq!(generalized(path), want);
        }
    }

    proptest! {
        #[test]
        fn generalized_path_matches_itself(names in prop::collection::vec("[\"\\\\\\[\\].*: \n0ab]{0,4}", 1..4)) {
            let path = Path::from(names.into_iter().map(PathStep::Member).collect::<Vec<_>>());
            let ignore = Ignore::new([format!("k:{}", generalized(&path.to_string())).as_str()]);
            prop_assert!(ignore.covers(name("k"), &path), "{path}");
            let other = [path.to_vec(), vec![PathStep::Element(0)]].concat();
            prop_assert!(!ignore.covers(name("k"), &other), "{path}");
        }
    }
}
