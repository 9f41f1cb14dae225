//! Schema files of protocols, as definitions of messages.
//!
//! ```text
//!   JSON Schema     definitions, $defs          a message has the definition whose `const` members it has
//!   OpenRPC         methods                     params and results, by method
//!   metaModel.json  requests, notifications     the same, in the types of the Language Server Protocol
//! ```
//!
//! ```
//! use wiretool::protocol::peer::with_json;
//! use wiretool::protocol::schema::files::SchemaFile;
//!
//! let file = SchemaFile::read(
//!     r#"{"$defs": {"Ping": {"properties": {"op": {"const": "ping"}, "n": {"type": "integer"}}}}}"#,
//! )
//! .unwrap();
//! with_json(r#"{"op":"ping","n":"one"}"#, |message| {
//!     let ping = file.choose(message, None).unwrap();
//!     let wrong = file.check(ping, message).wrong.unwrap();
//!     assert_eq!(ping.name(), "Ping");
//!     assert_eq!(wrong.text, "message.n is a string; it must be an integer");
//! })
//! .unwrap();
//! ```

mod foreign;
mod index;
mod meta_model;
mod open_rpc;
#[cfg(test)]
mod tests;

use super::validate::SchemaDocument;
pub use super::validate::{SchemaCheck, SchemaMismatch};
use crate::protocol::Direction;
use crate::tape::Node;
use index::Index;
use serde_json::Value;
use std::cmp::Reverse;
use std::fmt;

/// The longest file, in bytes. A value in memory takes up to sixteen times its text.
const LONGEST: usize = 3 << 20;
/// The largest number of schemas that are searched for `const` members.
const MAX_VISITS: u32 = 1 << 16;
/// How deep references are followed there.
const MAX_DEPTH: u32 = 16;

/// The part of a message that a definition describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Whole,
    Params,
    Result,
}

#[derive(Clone, Debug)]
enum SchemaSource {
    /// A JSON pointer into the file.
    Pointer(String),
    /// A schema whose references belong to the file.
    Own(Value),
}

/// The definition of a message.
#[derive(Clone, Debug)]
pub struct Definition {
    name: String,
    place: SchemaSource,
    part: Part,
    direction: Option<Direction>,
    /// Members with the only value that a message may have there.
    constants: Vec<(String, Value)>,
}

impl Definition {
    /// Returns its name; in `OpenRPC` and metaModel.json the method.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the direction, if the file says it.
    pub fn direction(&self) -> Option<Direction> {
        self.direction
    }

    /// Returns `true` for the definition of an answer.
    pub fn is_answer(&self) -> bool {
        self.part == Part::Result
    }

    fn of_method(method: &str, part: Part, schema: Value, direction: Option<Direction>) -> Self {
        let constant = ("method".to_owned(), Value::String(method.to_owned()));
        Self {
            name: method.to_owned(),
            place: SchemaSource::Own(schema),
            part,
            direction,
            constants: vec![constant],
        }
    }

    fn fits(&self, message: Node<'_>, direction: Option<Direction>) -> bool {
        let sent = self.direction.zip(direction);
        let has = |(name, value): &(String, Value)| {
            let node = message.get(name);
            node.is_some_and(|node| is_constant(node, value))
        };
        sent.is_none_or(|(own, sent)| own == sent) && self.constants.iter().all(has)
    }
}

fn is_constant(node: Node<'_>, value: &Value) -> bool {
    match value {
        Value::String(text) => node.is_text(text),
        Value::Bool(value) => node.as_bool() == Some(*value),
        Value::Number(number) => number.as_i64().map(i128::from) == node.as_i128(),
        Value::Null => node.is_null(),
        _ => false,
    }
}

/// The reason why a file is no schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaFileError {
    /// The line, counted from 1; 0 if the whole file is meant.
    pub line: usize,
    /// The column, counted from 1; 0 if the whole file is meant.
    pub column: usize,
    /// The reason.
    pub text: String,
}

impl SchemaFileError {
    fn whole(text: String) -> Self {
        Self {
            line: 0,
            column: 0,
            text,
        }
    }
}

impl fmt::Display for SchemaFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => f.write_str(&self.text),
            line => write!(f, "line {line}, column {}: {}", self.column, self.text),
        }
    }
}

impl std::error::Error for SchemaFileError {}

/// A schema file.
#[derive(Clone, Debug)]
pub struct SchemaFile {
    document: SchemaDocument,
    definitions: Vec<Definition>,
    index: Index,
}

impl SchemaFile {
    /// Reads a file: JSON Schema (draft 7 or 2020-12), `OpenRPC`, or the metaModel.json of the Language Server Protocol. A
    /// file has at most 3 MiB.
    pub fn read(text: &str) -> Result<Self, SchemaFileError> {
        Self::read_with(text, &mut |_| None)
    }

    /// Reads a file; `foreign` returns the text of another document that a reference names, for example
    /// `https://example.org/types.json`. All together have at most 3 MiB; others are left out.
    pub fn read_with(
        text: &str,
        foreign: &mut dyn FnMut(&str) -> Option<String>,
    ) -> Result<Self, SchemaFileError> {
        if text.len() > LONGEST {
            let got = text.len();
            let text = format!("wanted at most {LONGEST} bytes, got {got}");
            return Err(SchemaFileError::whole(text));
        }
        let mut root: Value = serde_json::from_str(text).map_err(|error| {
            let reason = error.to_string();
            let reason = reason
                .split_once(" at line ")
                .map_or(&*reason, |(reason, _)| reason);
            SchemaFileError {
                line: error.line(),
                column: error.column(),
                text: format!("wanted JSON: {reason}"),
            }
        })?;
        foreign::add(&mut root, LONGEST - text.len(), foreign);
        Self::of(root)
    }

    /// Reads a file that is a value already.
    pub(crate) fn of(root: Value) -> Result<Self, SchemaFileError> {
        let (document, definitions) = if root.get("methods").is_some_and(Value::is_array) {
            let definitions = open_rpc::definitions(&root);
            (SchemaDocument::new(root), definitions)
        } else if root.get("metaData").is_some() && root.get("structures").is_some() {
            meta_model::read(&root)
        } else {
            let document = SchemaDocument::new(root);
            let definitions = of_json_schema(&document);
            (document, definitions)
        };
        if definitions.is_empty() {
            let wanted = "wanted definitions of messages: `$defs` or `definitions` of JSON Schema, `methods` of \
                          OpenRPC, or `requests` of metaModel.json";
            return Err(SchemaFileError::whole(format!("{wanted}; got none")));
        }
        Ok(Self {
            document,
            index: Index::of(&definitions),
            definitions,
        })
    }

    /// Returns the definitions.
    pub fn definitions(&self) -> &[Definition] {
        &self.definitions
    }

    /// Returns the definition with this name.
    pub fn named(&self, name: &str) -> Option<&Definition> {
        self.definitions.iter().find(|d| d.name == name)
    }

    /// Returns the definition of a message: that with the most `const` members, all of which the message has. A
    /// definition without any is never chosen.
    pub fn choose(&self, message: Node<'_>, direction: Option<Direction>) -> Option<&Definition> {
        let mut best: Option<(usize, &Definition)> = None;
        self.index.each(message, &mut |at| {
            let Some(definition) = self.definitions.get(at) else {
                return;
            };
            let rank = |at: usize, one: &Definition| (one.constants.len(), Reverse(at));
            let is_better =
                best.is_none_or(|(known, best)| rank(at, definition) > rank(known, best));
            if is_better && definition.fits(message, direction) {
                best = Some((at, definition));
            }
        });
        best.map(|(_, definition)| definition)
    }

    /// Returns the definition of the answer to a request: that of the same method, or that with the same name and
    /// `Response` or `Result` instead of `Request`.
    pub fn answer_to(&self, request: &Definition) -> Option<&Definition> {
        let is_method = |(name, _): &&(String, Value)| name == "method";
        let method = request.constants.iter().find(is_method);
        let mut answers = self.definitions.iter().filter(|d| d.is_answer());
        if let Some(method) = method
            && let Some(answer) = answers.find(|d| d.constants.contains(method))
        {
            return Some(answer);
        }
        let stem = request.name.strip_suffix("Request")?;
        let names = [format!("{stem}Response"), format!("{stem}Result")];
        names.iter().find_map(|name| self.named(name))
    }

    /// Checks a message against its definition: the whole message, its `params`, or, for an answer, its `result`.
    pub fn check(&self, definition: &Definition, message: Node<'_>) -> SchemaCheck {
        let (value, name) = match definition.part {
            Part::Whole => (Some(message), "message"),
            Part::Params => (message.get("params"), "params"),
            Part::Result => (message.get("result"), "result"),
        };
        let schema = match &definition.place {
            SchemaSource::Pointer(pointer) => self.document.root().pointer(pointer),
            SchemaSource::Own(schema) => Some(schema),
        };
        match (value, schema) {
            (Some(value), Some(schema)) => self.document.check_definition(schema, value, name),
            _ => SchemaCheck::default(),
        }
    }
}

/// Returns the definitions of a JSON Schema.
fn of_json_schema(document: &SchemaDocument) -> Vec<Definition> {
    let (mut found, mut visits) = (Vec::new(), 0);
    for group in ["definitions", "$defs"] {
        let all = document.root().get(group).and_then(Value::as_object);
        for (name, schema) in all.into_iter().flatten() {
            let escaped = name.replace('~', "~0").replace('/', "~1");
            let mut definition = Definition {
                name: name.clone(),
                place: SchemaSource::Pointer(format!("/{group}/{escaped}")),
                part: Part::Whole,
                direction: None,
                constants: Vec::new(),
            };
            let text = |key: &str| schema.get(key).and_then(Value::as_str);
            // The schema of ACP defines params and results, and names method and receiver beside them.
            if let Some(method) = text("x-method") {
                let constant = ("method".to_owned(), Value::String(method.to_owned()));
                definition.constants.push(constant);
                definition.part = if name.ends_with("Response") {
                    Part::Result
                } else {
                    Part::Params
                };
                definition.direction = match text("x-side") {
                    Some("agent") => Some(Direction::ToServer),
                    Some("client") => Some(Direction::ToClient),
                    _ => None,
                };
            } else {
                constants(
                    document,
                    schema,
                    MAX_DEPTH,
                    &mut visits,
                    &mut definition.constants,
                );
            }
            found.push(definition);
        }
    }
    found
}

/// Collects the members that have only one value.
fn constants(
    document: &SchemaDocument,
    schema: &Value,
    depth: u32,
    visits: &mut u32,
    found: &mut Vec<(String, Value)>,
) {
    *visits += 1;
    if depth == 0 || *visits > MAX_VISITS {
        return;
    }
    let parts = schema.get("allOf").and_then(Value::as_array);
    let reference = schema.get("$ref").and_then(Value::as_str);
    let referred = reference.and_then(|name| document.resolve(name));
    for part in referred.into_iter().chain(parts.into_iter().flatten()) {
        constants(document, part, depth - 1, visits, found);
    }
    let members = schema.get("properties").and_then(Value::as_object);
    for (name, member) in members.into_iter().flatten() {
        let only = member.get("const").or_else(|| {
            let values = member.get("enum").and_then(Value::as_array);
            values.filter(|values| values.len() == 1)?.first()
        });
        // An object or an array is checked, but chooses no definition.
        if let Some(only) = only.filter(|only| !only.is_object() && !only.is_array()) {
            found.retain(|(known, _)| known != name);
            found.push((name.clone(), only.clone()));
        }
    }
}
