//! Writes SARIF 2.1.0 for code review tools.

use super::{FilePlace, ReportedProblem, without_nulls};
use crate::conversation::{Consequences, Finding};
use crate::protocol::Direction;
use crate::protocol::session::{Place, Severity};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// A report with one result per finding.
#[derive(Default)]
pub struct Sarif {
    rules: BTreeMap<String, Value>,
    results: Vec<(String, Value)>,
    follow: Vec<Value>,
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "note",
        Severity::Off => "none",
    }
}

impl Sarif {
    pub fn add_finding(&mut self, finding: &Finding, at: FilePlace<'_>) {
        let name = finding.name();
        let rule = &finding.rule;
        self.rules.entry(name.clone()).or_insert_with(|| {
            json!({
                "id": name,
                "shortDescription": { "text": format!("{name}: {}", rule.clause) },
                "fullDescription": { "text": rule.why },
                "defaultConfiguration": { "level": level(rule.both()) },
            })
        });
        let place = finding.place;
        let direction = place.origin.direction.map(Direction::name);
        let way = direction.map(|d| format!(" {d}")).unwrap_or_default();
        let index = (place.index != Place::NO_MESSAGE).then_some(place.index);
        let message = match index {
            Some(index) => format!("message #{index}{way}: {}", finding.text),
            None => finding.text.clone(),
        };
        let mut location =
            json!({ "physicalLocation": { "artifactLocation": { "uri": uri(at.file) } } });
        let mut region = Map::new();
        if let Some(at) = at.line {
            region.insert("startLine".into(), at.line.into());
            region.insert("startColumn".into(), at.column.into());
        }
        if at.is_recording {
            let conn = place.origin.conn.unwrap_or_default();
            let name = format!("c{conn}{way} at {}", place.offset);
            location["logicalLocations"] = json!([{ "fullyQualifiedName": name }]);
        } else {
            region.insert("byteOffset".into(), place.offset.into());
            region.insert("byteLength".into(), place.len.into());
        }
        if !region.is_empty() {
            location["physicalLocation"]["region"] = region.into();
        }
        let properties = without_nulls(
            json!({ "index": index, "conn": place.origin.conn, "direction": direction }),
        );
        let result = json!({
            "ruleId": name,
            "level": level(finding.severity),
            "message": { "text": message },
            "locations": [location],
            "properties": properties,
        });
        self.results.push((name, result));
    }

    pub fn add_problem(&mut self, problem: &ReportedProblem<'_>, at: FilePlace<'_>) {
        let name = problem.rule.to_owned();
        self.rules.entry(name.clone()).or_insert_with(|| {
            json!({
                "id": name,
                "shortDescription": { "text": problem.about },
                "defaultConfiguration": { "level": "error" },
            })
        });
        let mut place = json!({ "artifactLocation": { "uri": uri(at.file) } });
        if let Some(at) = at.line {
            place["region"] = json!({ "startLine": at.line, "startColumn": at.column });
        }
        let result = json!({
            "ruleId": name,
            "level": "error",
            "message": { "text": problem.text },
            "locations": [{ "physicalLocation": place }],
        });
        self.results.push((name, result));
    }

    /// Adds the number of findings that only follow from a message of a file.
    pub fn add_consequences(&mut self, one: Consequences, file: &str) {
        self.follow.push(without_nulls(json!({
            "file": uri(file),
            "index": one.index,
            "conn": one.origin.conn,
            "count": one.count,
        })));
    }

    /// Returns the whole report.
    pub fn report(self) -> Value {
        let names: Vec<&String> = self.rules.keys().collect();
        let results: Vec<Value> = self
            .results
            .iter()
            .map(|(name, result)| {
                let mut result = result.clone();
                if let (Ok(index), Value::Object(result)) =
                    (names.binary_search(&name), &mut result)
                {
                    result.insert("ruleIndex".into(), index.into());
                }
                result
            })
            .collect();
        let rules: Vec<&Value> = self.rules.values().collect();
        json!({
            "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
            "version": "2.1.0",
            "runs": [{
                "tool": { "driver": {
                    "name": "wiretool",
                    "semanticVersion": env!("CARGO_PKG_VERSION"),
                    "rules": rules,
                }},
                "results": results,
                // The number of suppressed findings, by the message that they follow from.
                "properties": { "follow": self.follow },
            }],
        })
    }
}

/// Returns the name of a file as a URI; a relative name as a relative reference.
fn uri(file: &str) -> String {
    let mut uri = String::new();
    if file.starts_with('/') {
        uri.push_str("file://");
    }
    for byte in file.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' | b'~' => {
                uri.push(byte as char);
            }
            _ => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}
