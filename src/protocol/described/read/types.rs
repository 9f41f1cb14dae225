//! Reads the types of messages: a schema file, and the short form of types.
//!
//! ```text
//!   ask = { ask = "int", about = "text", "tags?" = "[text]", level = "'low' | 'high'" }
//! ```

use super::super::description::MessageKind;
use super::super::schema::Schemas;
use super::Reader;
use crate::protocol::schema::files::SchemaFile;
use crate::toml_text::{Entries, Item, get};
use serde_json::{Map, Value, json};
use std::path::{Component, Path};

/// How deep types are nested in one another.
const MAX_DEPTH: usize = 16;

impl<'t> Reader<'t> {
    /// Reads `types`, `schema` and `schema-dir`.
    pub(super) fn schemas(&mut self, entries: &Entries<'_, 't>) -> Schemas {
        let types = get(entries, "types").and_then(|item| self.types(item));
        let folder = get(entries, "schema-dir").and_then(|item| self.file_name("schema-dir", item));
        let schema = get(entries, "schema");
        if let (Some(item), None) = (get(entries, "schema-dir"), schema) {
            self.wrong::<()>("schema-dir", item, "schema beside it");
        }
        let file = schema.and_then(|item| self.schema(item, folder.as_deref()));
        Schemas {
            types,
            file,
            own: None,
        }
    }

    /// Reads the name of a file or a folder beside the description.
    fn file_name(&mut self, key: &str, item: &Item<'t>) -> Option<String> {
        let is_inside = |name: &&str| {
            let mut parts = Path::new(name).components();
            !name.is_empty() && parts.all(|part| matches!(part, Component::Normal(_)))
        };
        match item.get_ref().as_str().filter(is_inside) {
            Some(name) => Some(name.to_owned()),
            None => self.wrong(key, item, "a path in the folder of the description"),
        }
    }

    fn schema(&mut self, item: &Item<'t>, folder: Option<&str>) -> Option<SchemaFile> {
        let name = self.file_name("schema", item)?;
        let files = self.files;
        let text = match files(&name) {
            Ok(text) => text,
            Err(error) => {
                self.error(&item.span(), format!("schema: {error}"));
                return None;
            }
        };
        let mut foreign = |document: &str| {
            let name = document
                .rsplit('/')
                .next()
                .filter(|name| !name.is_empty())?;
            let path = |end| format!("{}/{name}{end}", folder.unwrap_or_default());
            folder?;
            files(&path("")).or_else(|_| files(&path(".json"))).ok()
        };
        match SchemaFile::read_with(&text, &mut foreign) {
            Ok(file) => Some(file),
            Err(error) => {
                self.error(&item.span(), format!("schema: {name}: {error}"));
                None
            }
        }
    }

    fn types(&mut self, item: &Item<'t>) -> Option<SchemaFile> {
        let entries = self.toml.entries("types", item);
        let entries = self.keep(entries)?;
        let names: Vec<&str> = entries
            .iter()
            .map(|(key, _)| key.get_ref().as_ref())
            .collect();
        let mut found = Map::new();
        for (key, item) in &entries {
            let schema = self.members(item, &names, MAX_DEPTH);
            found.insert(key.get_ref().to_string(), schema);
        }
        match SchemaFile::of(json!({"$defs": found})) {
            Ok(file) => Some(file),
            Err(_) => self.wrong("types", item, "a table for each type"),
        }
    }

    /// Reads the members of an object.
    fn members(&mut self, item: &Item<'t>, names: &[&str], depth: usize) -> Value {
        let entries = self.toml.entries("types", item);
        let (mut members, mut required) = (Map::new(), Vec::new());
        for (key, item) in self.keep(entries).unwrap_or_default() {
            let key: &str = key.get_ref();
            let name = key.strip_suffix('?').unwrap_or(key);
            if name == key {
                required.push(name);
            }
            let ty = match item.get_ref().as_str() {
                None if item.get_ref().is_table() && depth > 0 => {
                    Some(self.members(item, names, depth - 1))
                }
                text => text.and_then(|text| type_of(text, names, depth)),
            };
            if ty.is_none() {
                let wanted = "text, int, number, bool, null, any, object, a name of [types], [text], 'on' | 'off', or a table";
                self.wrong::<()>(name, item, wanted);
            }
            members.insert(name.to_owned(), ty.unwrap_or(Value::Bool(true)));
        }
        json!({"type": "object", "properties": members, "required": required})
    }

    /// Checks that the types of messages exist.
    pub(super) fn check_types(
        &mut self,
        entries: &Entries<'_, 't>,
        messages: &[MessageKind],
        schemas: &Schemas,
    ) {
        let items = get(entries, "message").and_then(|item| item.get_ref().as_array());
        for item in items.into_iter().flatten() {
            let ty = item.get_ref().get("type");
            let name = ty.and_then(|ty| ty.get_ref().as_str()).unwrap_or_default();
            let is_read = messages.iter().any(|one| one.ty.as_deref() == Some(name));
            if let (Some(ty), None, true) = (ty, schemas.named(name), is_read) {
                self.wrong::<()>("type", ty, "the name of a definition in types or schema");
            }
        }
    }
}

/// Returns the schema of a type; `None` if it is none.
fn type_of(text: &str, names: &[&str], depth: usize) -> Option<Value> {
    let inner = depth.checked_sub(1)?;
    let parts = alternatives(text);
    if let [only] = parts.as_slice() {
        if let Some(item) = only
            .strip_prefix('[')
            .and_then(|rest| rest.strip_suffix(']'))
        {
            return Some(json!({"type": "array", "items": type_of(item, names, inner)?}));
        }
        if let Some(word) = only
            .strip_prefix('\'')
            .and_then(|rest| rest.strip_suffix('\''))
        {
            return Some(json!({"const": word}));
        }
        return Some(match *only {
            "text" => json!({"type": "string"}),
            "int" => json!({"type": "integer"}),
            "number" => json!({"type": "number"}),
            "bool" => json!({"type": "boolean"}),
            "null" => json!({"type": "null"}),
            "object" => json!({"type": "object"}),
            "any" => Value::Bool(true),
            "true" | "false" => json!({"const": *only == "true"}),
            name if names.contains(&name) => {
                let name = name.replace('~', "~0").replace('/', "~1");
                json!({"$ref": format!("#/$defs/{name}")})
            }
            number => json!({"const": number.parse::<i64>().ok()?}),
        });
    }
    let all: Option<Vec<_>> = parts
        .iter()
        .map(|part| type_of(part, names, inner))
        .collect();
    Some(json!({"anyOf": all?}))
}

/// Splits a type at the bars outside of brackets and quotes.
fn alternatives(text: &str) -> Vec<&str> {
    let (mut parts, mut start, mut depth, mut quoted) = (Vec::new(), 0, 0_usize, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'\'' => quoted = !quoted,
            b'[' if !quoted => depth += 1,
            b']' if !quoted => depth = depth.saturating_sub(1),
            b'|' if !quoted && depth == 0 => {
                parts.push(text.get(start..at).unwrap_or_default().trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(text.get(start..).unwrap_or_default().trim());
    parts
}
