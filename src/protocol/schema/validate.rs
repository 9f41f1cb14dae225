//! Checks a value against a JSON Schema (draft 7 or 2020-12).
//!
//! ```text
//!   SchemaDocument   the schema, its names ($id, $anchor) and patterns
//!   check            the first value that it forbids, and what could not be checked
//! ```
//!
//! All keywords of the applicator and validation vocabularies are checked, apart from `unevaluatedItems` and
//! `unevaluatedProperties`; the content keywords are annotations, and `format` is one where its draft says so.
//! References inside the document are followed.
//! The work of a check is bounded: a value that is not fully checked is one that fits, and
//! [`SchemaCheck::unchecked`] says so.

mod formats;
mod keywords;
mod names;

use crate::encoding::lossless;
use crate::tape::Node;
use names::Names;
use regex::Regex;
use serde_json::Value;
use std::cell::{Cell, RefCell};
use std::fmt::{self, Display, Write as _};

/// The largest schema of a list that is read, in bytes.
const LONGEST: usize = 64 << 10;
/// The largest size of all schemas of a list, in bytes.
const ALL: usize = 4 << 20;

/// The number of bytes that schemas of a list may still use.
pub(in crate::protocol) struct Budget(usize);

impl Default for Budget {
    fn default() -> Self {
        Self(ALL)
    }
}

impl Budget {
    /// Returns a schema, if there is space for it.
    pub(in crate::protocol) fn take(&mut self, node: Node<'_>) -> Option<Value> {
        let len = node.span().len as usize;
        if len > LONGEST || len > self.0 {
            return None;
        }
        self.0 -= len;
        plain(node)
    }
}

/// Converts a value to plain JSON; `None` if JSON cannot represent it.
fn plain(node: Node<'_>) -> Option<Value> {
    let mut json = Vec::new();
    lossless::write(node, &mut json);
    serde_json::from_slice(&json).ok()
}

/// A schema, with what is found in it once.
#[derive(Clone, Debug)]
pub struct SchemaDocument {
    root: Value,
    names: Names,
}

/// The result of a check.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SchemaCheck {
    /// The first value that the schema forbids.
    pub wrong: Option<SchemaMismatch>,
    /// The reason why a part of the value was not checked.
    pub unchecked: Option<String>,
}

/// A value that a schema forbids.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaMismatch {
    /// The index of its node in the tape.
    pub node: usize,
    /// The value, with its path, and the reason.
    pub text: String,
}

impl SchemaDocument {
    /// Reads the names and patterns of a schema.
    pub fn new(root: Value) -> Self {
        let names = Names::of(&root);
        Self { root, names }
    }

    /// Returns the schema.
    pub fn root(&self) -> &Value {
        &self.root
    }

    /// Returns the schema that a reference names.
    pub fn resolve(&self, reference: &str) -> Option<&Value> {
        self.names.resolve(&self.root, reference)
    }

    /// Checks a value. `name` is its name in texts.
    pub fn check(&self, value: Node<'_>, name: &str) -> SchemaCheck {
        self.check_definition(&self.root, value, name)
    }

    /// Checks a value: the text of the first mismatch, and the reason why a part was not checked.
    pub fn texts(&self, value: Node<'_>, name: &str) -> (Option<String>, Option<String>) {
        let found = self.check(value, name);
        (found.wrong.map(|wrong| wrong.text), found.unchecked)
    }

    /// Checks a value against a schema inside of this one, to which its references belong.
    pub fn check_definition(&self, schema: &Value, value: Node<'_>, name: &str) -> SchemaCheck {
        let run = Validation {
            document: self,
            steps: Cell::new(0),
            depth: Cell::new(0),
            unchecked: RefCell::default(),
        };
        let wrong = run.check(schema, value, &At::Root(name));
        SchemaCheck {
            wrong,
            unchecked: run.unchecked.into_inner(),
        }
    }
}

/// The largest number of schemas that are compared, and how deep: references could repeat without end.
const MAX_STEPS: u32 = 1 << 16;
const MAX_DEPTH: u32 = 256;

/// One check.
struct Validation<'s> {
    document: &'s SchemaDocument,
    steps: Cell<u32>,
    depth: Cell<u32>,
    unchecked: RefCell<Option<String>>,
}

/// The path of a value, written only if it is wrong.
enum At<'a> {
    Root(&'a str),
    Member(&'a At<'a>, &'a str),
    Element(&'a At<'a>, usize),
}

impl Display for At<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root(name) => f.write_str(name),
            Self::Member(parent, name) => {
                let name = crate::protocol::session::text::short(name);
                write!(f, "{parent}.{name}")
            }
            Self::Element(parent, n) => write!(f, "{parent}[{n}]"),
        }
    }
}

type Wrong = Option<SchemaMismatch>;

/// Returns a mismatch. A path of nested names may be long.
#[cold]
#[allow(clippy::unnecessary_wraps)] // callers return it as it is
fn wrong(node: Node<'_>, text: fmt::Arguments<'_>) -> Wrong {
    let mut all = String::new();
    let _ = all.write_fmt(text);
    let node = node.index();
    let text = all.chars().take(200).collect();
    Some(SchemaMismatch { node, text })
}

impl<'s> Validation<'s> {
    /// Counts work. Returns `false` if there was too much.
    fn spend(&self, steps: usize) -> bool {
        let steps = self.steps.get().saturating_add(steps as u32);
        self.steps.set(steps);
        if steps > MAX_STEPS {
            self.give_up("it takes too many comparisons");
        }
        steps <= MAX_STEPS
    }

    /// Stores why a part is not checked.
    #[cold]
    fn give_up(&self, why: &str) {
        let mut unchecked = self.unchecked.borrow_mut();
        unchecked.get_or_insert_with(|| why.chars().take(200).collect());
    }

    fn is_unchecked(&self) -> bool {
        self.unchecked.borrow().is_some()
    }

    /// Returns the schema that a reference names.
    fn resolve(&self, reference: &Value) -> Option<&'s Value> {
        let name = reference.as_str().unwrap_or_default();
        let found = self.document.resolve(name);
        if found.is_none() {
            self.give_up(&format!("the reference \"{name}\" is not in the schema"));
        }
        found
    }

    fn pattern(&self, text: &str) -> Option<&'s Regex> {
        let found = self.document.names.pattern(text);
        if found.is_none() {
            let text: String = text.chars().take(60).collect();
            self.give_up(&format!("the pattern \"{text}\" cannot be matched"));
        }
        found
    }

    fn check(&self, schema: &'s Value, value: Node<'_>, at: &At<'_>) -> Wrong {
        let depth = self.depth.get() + 1;
        if depth > MAX_DEPTH {
            self.give_up("it is nested too deep");
            return None;
        }
        if !self.spend(1) {
            return None;
        }
        let Value::Object(schema) = schema else {
            let forbidden = *schema == Value::Bool(false);
            return if forbidden {
                wrong(value, format_args!("{at} must not be there"))
            } else {
                None
            };
        };
        self.depth.set(depth);
        let wrong = self.keywords(schema, value, at);
        self.depth.set(depth - 1);
        wrong
    }

    /// Returns `true` if a value fits.
    fn fits(&self, schema: &'s Value, value: Node<'_>, at: &At<'_>) -> bool {
        self.check(schema, value, at).is_none()
    }
}

#[cfg(test)]
mod tests;
