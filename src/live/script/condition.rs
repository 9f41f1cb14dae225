//! What tells recorded requests of one sort from each other, as conditions of rules.
//!
//! ```text
//!   #4 invoke pow [0x2, 0x1]    differ at params.calldata[0]    kind=invoke subject=pow .params.calldata[0]="0x2"
//!   #8 invoke pow [0x3, 0x1]                                    kind=invoke subject=pow .params.calldata[0]="0x3"
//! ```

use super::recorded::{Exchanges, RecordedRequest};
use super::toml::json;
use super::value::with_json;
use crate::diff::Compare;
use crate::live::names::passed_over;
use crate::path::Path;
use crate::protocol::Protocol;
use crate::select::Expr;
use crate::tape::{Node, Scalar, Value};
use std::collections::{HashMap, HashSet};

/// Fields that tell requests of one sort apart: more are not asked for.
const TELLING: usize = 6;
/// Fields of which those are chosen.
const VARYING: usize = 256;

/// Requests of one sort, while they are compared.
pub struct Group<'b> {
    first: &'b RecordedRequest,
    last: &'b RecordedRequest,
    /// Where they differ, in the order in which that was found.
    pub paths: Vec<String>,
    known: HashSet<String>,
}

/// Where requests of each sort differ. Where not all are the same, one differs from the one before it: nothing else need
/// be compared, but for places that are no places in some of them.
pub fn varying<'b>(
    exchanges: &'b Exchanges,
    protocol: &dyn Protocol,
) -> HashMap<&'b str, Group<'b>> {
    let ignore = passed_over(protocol, false, []);
    let mut compare = Compare::new(protocol, &ignore, 128);
    let mut groups: HashMap<&str, Group<'_>> = HashMap::new();
    for entry in &exchanges.entries {
        let group = groups.entry(entry.what.as_str()).or_insert_with(|| Group {
            first: entry,
            last: entry,
            paths: Vec::new(),
            known: HashSet::new(),
        });
        for other in [group.last, group.first] {
            let fields = compare.fields(&entry.kept, &other.kept, &mut |_, _| false);
            for field in fields {
                if group.paths.len() < VARYING && group.known.insert(field.path.clone()) {
                    group.paths.push(field.path);
                }
            }
        }
        group.last = entry;
    }
    groups
}

/// What tells a request from the others of its sort, which differ at these paths.
pub fn condition(entry: &RecordedRequest, paths: &[String]) -> String {
    let mut text = format!("kind={}", word(&entry.kept.kind));
    if let Some(subject) = &entry.kept.subject {
        text.push_str(&format!(" subject={}", word(subject)));
    }
    let values = with_json(&entry.message, |root| {
        let values = paths.iter().filter_map(|path| {
            let node = path.parse::<Path>().ok()?.find(root)?;
            Some((path, operand(node)?))
        });
        values.collect::<Vec<_>>()
    });
    let mut told = 0;
    for (path, value) in values.unwrap_or_default() {
        let longer = format!("{text} .{path}={value}");
        if told < TELLING && longer.parse::<Expr>().is_ok() {
            text = longer;
            told += 1;
        }
    }
    text
}

/// A scalar, as a condition names it.
fn operand(node: Node<'_>) -> Option<String> {
    match node.value() {
        Value::Scalar(Scalar::Json(..)) => {
            let text = node.text()?.replace('\\', "\\\\").replace('"', "\\\"");
            Some(format!("\"{text}\""))
        }
        Value::Scalar(Scalar::Number(_) | Scalar::Bool(_) | Scalar::Null) => Some(json(node)),
        _ => None,
    }
}

/// A word of a condition, in quotes where it needs them.
fn word(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    let is_word = !text.is_empty()
        && text.chars().all(plain)
        && format!("kind={text}").parse::<Expr>().is_ok();
    if is_word {
        return text.to_owned();
    }
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
