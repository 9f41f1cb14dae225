//! What is found in a schema once: names of its parts, and patterns.

use regex::{Regex, RegexBuilder};
use serde_json::Value;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// The largest number of names, and of patterns.
const MAX_NAMES: usize = 1 << 14;
const MAX_PATTERNS: usize = 128;
/// The largest size of all names and their pointers, in bytes.
const MAX_NAMES_SIZE: usize = 4 << 20;
/// The largest compiled pattern, in bytes.
const MAX_REGEX: usize = 128 << 10;

/// Names and patterns of a schema.
#[derive(Clone, Debug, Default)]
pub(super) struct Names {
    /// The JSON pointers of parts with `$id`, `$anchor` and `$dynamicAnchor` (with `#` in front).
    parts: BTreeMap<String, String>,
    /// Patterns, compiled when they are first used; `None` if that fails.
    patterns: BTreeMap<String, OnceLock<Option<Regex>>>,
    /// The size of all names and their pointers.
    size: usize,
    /// In draft 7 and before, keywords beside `$ref` are ignored.
    pub(super) is_ref_alone: bool,
    /// A value must have its `format`: in draft 7 and before, and where the vocabulary of format assertions is used. In
    /// later drafts a format is only a note.
    pub(super) asserts_formats: bool,
}

impl Names {
    pub(super) fn of(root: &Value) -> Self {
        let version = root.get("$schema").and_then(Value::as_str);
        let old = ["draft-04", "draft-06", "draft-07"];
        let is_old = version.is_some_and(|v| old.iter().any(|old| v.contains(old)));
        let vocabularies = root.get("$vocabulary").and_then(Value::as_object);
        let mut vocabularies = vocabularies.into_iter().flat_map(|all| all.keys());
        let mut names = Self {
            is_ref_alone: is_old,
            asserts_formats: is_old || vocabularies.any(|one| one.ends_with("/format-assertion")),
            ..Self::default()
        };
        names.visit(root, &mut String::new());
        names
    }

    /// Visits a value. The parser of JSON limits the depth.
    fn visit(&mut self, value: &Value, pointer: &mut String) {
        let len = pointer.len();
        match value {
            Value::Object(members) => {
                let text = |key: &str| members.get(key).and_then(Value::as_str);
                let ids = [text("$id"), text("id")].map(|id| id.map(Cow::Borrowed));
                let anchors = [text("$anchor"), text("$dynamicAnchor")];
                let anchors = anchors.map(|name| name.map(|name| Cow::Owned(format!("#{name}"))));
                for name in ids.into_iter().chain(anchors).flatten() {
                    self.size = self.size.saturating_add(name.len() + len);
                    if self.parts.len() < MAX_NAMES && self.size < MAX_NAMES_SIZE {
                        let name = name.strip_suffix('#').unwrap_or(&name).to_owned();
                        self.parts.entry(name).or_insert_with(|| pointer.clone());
                    }
                }
                if let Some(pattern) = text("pattern") {
                    self.add_pattern(pattern);
                }
                let names = members.get("patternProperties").and_then(Value::as_object);
                for pattern in names.into_iter().flat_map(|patterns| patterns.keys()) {
                    self.add_pattern(pattern);
                }
                for (key, member) in members {
                    pointer.push('/');
                    pointer.push_str(&key.replace('~', "~0").replace('/', "~1"));
                    self.visit(member, pointer);
                    pointer.truncate(len);
                }
            }
            Value::Array(items) => {
                for (n, item) in items.iter().enumerate() {
                    pointer.push_str(&format!("/{n}"));
                    self.visit(item, pointer);
                    pointer.truncate(len);
                }
            }
            _ => {}
        }
    }

    fn add_pattern(&mut self, pattern: &str) {
        if self.patterns.len() < MAX_PATTERNS && !self.patterns.contains_key(pattern) {
            self.patterns.insert(pattern.to_owned(), OnceLock::new());
        }
    }

    /// Returns a pattern; `None` if it cannot be compiled, or there are too many.
    pub(super) fn pattern(&self, text: &str) -> Option<&Regex> {
        let regex = self.patterns.get(text)?.get_or_init(|| {
            let mut builder = RegexBuilder::new(text);
            builder.size_limit(MAX_REGEX).dfa_size_limit(MAX_REGEX);
            builder.build().ok()
        });
        regex.as_ref()
    }

    /// Returns the part of a document that a reference names.
    pub(super) fn resolve<'s>(&self, root: &'s Value, reference: &str) -> Option<&'s Value> {
        let (document, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let base = if document.is_empty() {
            root
        } else {
            root.pointer(self.id(document)?)?
        };
        let fragment = unescape(fragment)?;
        match fragment.as_ref() {
            "" => Some(base),
            pointer if pointer.starts_with('/') => base.pointer(pointer),
            anchor => root.pointer(self.parts.get(&format!("#{anchor}"))?),
        }
    }

    /// Returns the pointer of the part with this `$id`, absolute or relative.
    fn id(&self, name: &str) -> Option<&str> {
        let whole = self.parts.get(name).map(String::as_str);
        whole.or_else(|| {
            let tail = format!("/{}", name.trim_start_matches("./"));
            let mut parts = self.parts.iter();
            parts
                .find(|(id, _)| id.ends_with(&tail))
                .map(|(_, pointer)| pointer.as_str())
        })
    }
}

/// Resolves the percent escapes of a fragment (RFC 3986 section 2.1).
fn unescape(text: &str) -> Option<Cow<'_, str>> {
    if !text.contains('%') {
        return Some(Cow::Borrowed(text));
    }
    let (mut out, mut rest) = (Vec::new(), text);
    while let Some((before, after)) = rest.split_once('%') {
        out.extend_from_slice(before.as_bytes());
        out.push(u8::from_str_radix(after.get(..2)?, 16).ok()?);
        rest = after.get(2..)?;
    }
    out.extend_from_slice(rest.as_bytes());
    String::from_utf8(out).ok().map(Cow::Owned)
}
