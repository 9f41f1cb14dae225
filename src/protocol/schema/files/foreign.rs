//! References to other documents: each document becomes a part of the file.

use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// The member of the file that holds other documents.
const FOREIGN: &str = "$foreign";
/// The maximum number of other documents.
const MAX_DOCUMENTS: usize = 64;

/// Adds the documents that references name, as far as `text_of` returns them, and those that they name. All have at most
/// `space` bytes.
pub(super) fn add(
    root: &mut Value,
    mut space: usize,
    text_of: &mut dyn FnMut(&str) -> Option<String>,
) {
    let (mut known, mut wanted) = (BTreeSet::new(), BTreeSet::new());
    names(root, &mut wanted);
    let mut found = Map::new();
    while let Some(name) = wanted.pop_first() {
        if known.len() >= MAX_DOCUMENTS || !known.insert(name.clone()) {
            continue;
        }
        let Some(text) = text_of(&name).filter(|text| text.len() <= space) else {
            continue;
        };
        space -= text.len();
        let Ok(mut document) = serde_json::from_str::<Value>(&text) else {
            continue;
        };
        names(&document, &mut wanted);
        qualify(&mut document, &name);
        if let Some(members) = document.as_object_mut() {
            members.insert("$id".to_owned(), Value::String(name.clone()));
            found.insert(name, document);
        }
    }
    if let Some(members) = root.as_object_mut().filter(|_| !found.is_empty()) {
        members.insert(FOREIGN.to_owned(), Value::Object(found));
    }
}

/// Collects the documents that references name. The parser of JSON limits the depth.
fn names(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(members) => {
            let reference = members.get("$ref").and_then(Value::as_str);
            let document = reference.map(|name| name.split_once('#').map_or(name, |(one, _)| one));
            if let Some(document) = document.filter(|document| !document.is_empty()) {
                found.insert(document.to_owned());
            }
            members.values().for_each(|member| names(member, found));
        }
        Value::Array(items) => items.iter().for_each(|item| names(item, found)),
        _ => {}
    }
}

/// Adds the name of its document to each reference inside of it.
fn qualify(value: &mut Value, document: &str) {
    match value {
        Value::Object(members) => {
            if let Some(Value::String(reference)) = members.get_mut("$ref")
                && reference.starts_with('#')
            {
                reference.insert_str(0, document);
            }
            members
                .values_mut()
                .for_each(|member| qualify(member, document));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| qualify(item, document)),
        _ => {}
    }
}
